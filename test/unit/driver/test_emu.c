/* The emulated device without XRT: messages in, answers out; a program run by registers; damaged
 * messages; the stream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/emu_dev.h"
#include "driver/xclbin.h"

#define IMAGE (HD_EMU_DRAM_BASE + 0x10000)
#define ARENA (HD_EMU_DRAM_BASE + 0x20000)

struct world {
    hd_ctx *ctx;
    hd_emu *e;
    struct hd_buf out;
};

static int setup(void **state) {
    struct world *w = calloc(1, sizeof *w);
    struct hd_device_options opt = {.machine = hd_machines[0]};
    w->ctx = hd_ctx_create();
    *state = w;
    return hd_emu_create(w->ctx, "iss", &opt, &w->e) != HD_OK;
}

static int teardown(void **state) {
    struct world *w = *state;
    hd_emu_destroy(w->e);
    hd_buf_free(&w->out);
    hd_ctx_destroy(w->ctx);
    free(w);
    return 0;
}

/* The answer to `message`, which is freed. */
static void call(struct world *w, uint32_t api, struct hd_buf *message,
                 struct hd_emu_field out[HD_EMU_FIELDS]) {
    struct hd_emu_call c = {api, message->n, message->data, message->n};
    assert_int_equal(hd_emu_answer(w->e, &c, &w->out), api != HD_EMU_CLOSE);
    assert_true(hd_emu_fields(w->out.data, w->out.n, out));
    hd_buf_free(message);
}

static void to_device(struct world *w, uint64_t address, uint64_t offset, const void *data,
                      size_t bytes, size_t want) {
    struct hd_emu_field f[HD_EMU_FIELDS];
    struct hd_buf m = {0};
    hd_emu_put(&m, 3, address);
    memcpy(hd_emu_put_room(&m, 4, bytes), data, bytes);
    hd_emu_put(&m, 5, bytes);
    hd_emu_put(&m, 6, offset);
    call(w, HD_EMU_TO_DEVICE, &m, f);
    assert_int_equal(f[1].v, want);
}

static void from_device(struct world *w, uint64_t address, uint64_t offset, void *out,
                        size_t bytes) {
    struct hd_emu_field f[HD_EMU_FIELDS];
    struct hd_buf m = {0};
    hd_emu_put(&m, 4, address);
    hd_emu_put(&m, 5, bytes);
    hd_emu_put(&m, 6, offset);
    call(w, HD_EMU_FROM_DEVICE, &m, f);
    assert_int_equal(f[2].n, bytes);
    memcpy(out, f[2].data, bytes);
}

static void reg_write(struct world *w, uint32_t offset, uint32_t v) {
    struct hd_emu_field f[HD_EMU_FIELDS];
    struct hd_buf m = {0};
    hd_emu_put(&m, 2, HD_EMU_CU_BASE + offset);
    hd_emu_put(&m, 3, 4);
    memcpy(hd_emu_put_room(&m, 4, 4), &v, 4);
    call(w, HD_EMU_WRITE_REG, &m, f);
    assert_int_equal(f[1].v, 1);
}

static uint32_t reg_read(struct world *w, uint32_t offset) {
    struct hd_emu_field f[HD_EMU_FIELDS];
    struct hd_buf m = {0};
    uint32_t v;
    hd_emu_put(&m, 2, HD_EMU_CU_BASE + offset);
    hd_emu_put(&m, 3, 4);
    call(w, HD_EMU_READ_REG, &m, f);
    assert_int_equal(f[2].n, 4);
    memcpy(&v, f[2].data, 4);
    return v;
}

static void memory(void **state) {
    struct world *w = *state;
    char text[8] = "";
    to_device(w, ARENA, 0, "heddle!", 8, 8);
    from_device(w, ARENA, 0, text, 8);
    assert_string_equal(text, "heddle!");
    to_device(w, ARENA, 2, "DD", 2, 2); /* the device adds the offset */
    from_device(w, ARENA - 8, 8, text, 8);
    assert_string_equal(text, "heDDle!");
    to_device(w, HD_EMU_DRAM_BASE - 1, 0, "x", 1, 0); /* outside: nothing moved */
    to_device(w, HD_EMU_DRAM_BASE + HD_EMU_DRAM_BYTES - 1, 0, "xy", 2, 0);
    to_device(w, UINT64_MAX, UINT64_MAX, "xy", 2, 0);
}

static void runs_a_program(void **state) {
    struct world *w = *state;
    static const char source[] =
        "lx.load sig=1 seg=1 src=0 dst=0 run=8 n1=1 n2=1 n3=1\n"
        "st.store wait=1 seg=1 dst=0x100 src=0 run=8 n1=1 n2=1 n3=1\nseq.barrier\nseq.halt\n";
    uint32_t *words;
    size_t n;
    char text[8] = "";
    assert_int_equal(hd_asm(w->ctx, &hd_machines[0], source, "test", &words, &n), HD_OK);
    assert_int_equal(reg_read(w, HD_REG_isa_hash), hd_isa_hash());
    assert_int_equal(reg_read(w, HD_REG_machine_hash), hd_machine_hash(&hd_machines[0]));
    to_device(w, IMAGE, 0, words, 4 * n, 4 * n);
    for (int i = 0; i < 3; i++) {
        to_device(w, ARENA, 0, i ? "threads" : "weaving", 8, 8);
        reg_write(w, HD_REG_image_ptr, (uint32_t)IMAGE);
        reg_write(w, HD_REG_image_ptr + 4, (uint32_t)(IMAGE >> 32));
        reg_write(w, HD_REG_arena_ptr, (uint32_t)ARENA);
        reg_write(w, HD_REG_arena_ptr + 4, (uint32_t)(ARENA >> 32));
        reg_write(w, HD_REG_image_bytes, (uint32_t)(4 * n));
        reg_write(w, HD_REG_arena_bytes, 0x200);
        reg_write(w, HD_REG_code_offset, 0);
        reg_write(w, HD_REG_watchdog, 10000);
        reg_write(w, HD_REG_ap_ctrl, 1);
        assert_int_equal(reg_read(w, HD_REG_ap_ctrl) & 6, 6); /* held until done */
        assert_int_equal(reg_read(w, HD_REG_error), HD_ERR_none);
        from_device(w, ARENA, 0x100, text, 8);
        assert_string_equal(text, i ? "threads" : "weaving");
    }
    free(words);
}

/* Any bytes as any call: an answer, and no access outside (asan). */
static void damaged(void **state) {
    struct world *w = *state;
    uint32_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        unsigned char data[24];
        for (size_t k = 0; k < sizeof data; k++) {
            seed = seed * 1664525 + 1013904223;
            data[k] = (unsigned char)(seed >> 24 & (k % 2 ? 0x7f : 0x3a));
        }
        struct hd_emu_call c = {(uint32_t)i % 24, (size_t)(seed >> 8) % sizeof data, data, 0};
        if (c.api == HD_EMU_WRITE_REG) continue; /* would start runs */
        hd_emu_answer(w->e, &c, &w->out);
        hd_emu_answer_dead(&c, &w->out);
    }
}

static void stream(void **state) {
    struct world *w = *state;
    int pair[2];
    struct hd_emu_call c = {.api = 20}, got = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(hd_emu_get_call(pair[1], &got, 10), HD_EMU_TIMEOUT);
    assert_int_equal(hd_emu_put_call(pair[0], &c, 100), HD_EMU_OK);
    c.api = HD_EMU_CLOSE;
    assert_int_equal(hd_emu_put_call(pair[0], &c, 100), HD_EMU_OK);
    assert_int_equal(hd_emu_serve(w->ctx, w->e, pair[1], -1), HD_OK);
    assert_int_equal(hd_emu_get_answer(pair[0], &w->out, 100), HD_EMU_OK);
    assert_int_equal(hd_emu_get_answer(pair[0], &w->out, 100), HD_EMU_OK);
    assert_int_equal(hd_emu_write(pair[0], "this is no call", 15, 100), HD_EMU_OK);
    assert_int_equal(hd_emu_serve(w->ctx, w->e, pair[1], -1), HD_DEVICE);
    close(pair[0]);
    assert_int_equal(hd_emu_serve(w->ctx, w->e, pair[1], -1), HD_OK); /* the host is gone */
    assert_int_equal(hd_emu_put_call(pair[1], &c, 100), HD_EMU_END);
    close(pair[1]);
    hd_emu_call_free(&got);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_a_program, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(stream, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
