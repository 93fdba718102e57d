/* xclbin files: what is written is read back; damaged files are refused with words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/xclbin.h"

static void round_trip(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    for (int m = 0; m < hd_n_machines; m++) {
        struct hd_buf b = {0}, again = {0};
        struct hd_xclbin x;
        hd_xclbin_emulation(&hd_machines[m], "payload", 7, &b);
        hd_xclbin_emulation(&hd_machines[m], "payload", 7, &again);
        assert_int_equal(b.n, again.n);
        assert_memory_equal(b.data, again.data, b.n);
        assert_int_equal(hd_xclbin_parse(ctx, a, b.data, b.n, "test", &x), HD_OK);
        assert_int_equal(x.bytes, b.n);
        assert_int_equal(x.mode, 4);
        assert_int_equal(x.n_sections, 6);
        assert_int_equal(x.sections[0].bytes, 7);
        assert_memory_equal(b.data + x.sections[0].offset, "payload", 7);
        assert_int_equal(x.n_banks, 1);
        assert_int_equal(x.banks[0].base, HD_EMU_DRAM_BASE);
        assert_int_equal(x.banks[0].bytes, HD_EMU_DRAM_BYTES);
        assert_int_equal(x.n_ips, 1);
        assert_string_equal(x.ips[0].name, "hd_kernel:hd_kernel_1");
        assert_int_equal(x.ips[0].base, HD_EMU_CU_BASE);
        assert_int_equal(x.n_links, 2); /* image, arena */
        assert_int_equal(x.links[1].arg, 1);
        assert_int_equal(x.n_clocks, 1);
        assert_int_equal(x.clocks[0].mhz, hd_machines[m].clock_mhz);
        hd_buf_free(&b);
        hd_buf_free(&again);
    }
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

/* A compute unit for each core: registers of its own, the same bank. */
static void cores(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_machine m = hd_machines[0];
    struct hd_buf b = {0};
    struct hd_xclbin x;
    m.cores = 3;
    hd_xclbin_emulation(&m, NULL, 0, &b);
    assert_int_equal(hd_xclbin_parse(ctx, a, b.data, b.n, "test", &x), HD_OK);
    assert_int_equal(x.n_ips, 3);
    assert_string_equal(x.ips[2].name, "hd_kernel:hd_kernel_3");
    assert_int_equal(x.ips[2].base, HD_EMU_CU_BASE + 2 * HD_EMU_CU_STRIDE);
    assert_int_equal(x.ips[2].properties, 1 | 2 << 1); /* interrupt 2, ap_ctrl_hs */
    assert_int_equal(x.n_links, 6);
    assert_int_equal(x.links[5].ip, 2);
    assert_int_equal(x.links[5].arg, 1);
    hd_buf_free(&b);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

/* No prefix and no changed byte of the headers reads outside the file (asan) or is taken whole. */
static void damaged(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_buf b = {0};
    struct hd_xclbin x;
    hd_xclbin_emulation(&hd_machines[0], NULL, 0, &b);
    for (size_t n = 0; n < b.n; n += 7) {
        unsigned char *part = malloc(n ? n : 1);
        memcpy(part, b.data, n);
        assert_int_equal(hd_xclbin_parse(ctx, a, part, n, "test", &x), HD_INVALID);
        assert_non_null(strstr(hd_message(ctx), "test: "));
        hd_clear(ctx);
        free(part);
    }
    for (size_t i = 304; i < b.n; i++) {
        unsigned char was = b.data[i];
        b.data[i] ^= 0xff;
        (void)hd_xclbin_parse(ctx, a, b.data, b.n, "test", &x);
        hd_clear(ctx);
        b.data[i] = was;
    }
    hd_buf_free(&b);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(cores),
                                       cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
