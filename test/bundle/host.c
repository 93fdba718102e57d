/* A bundle (heddle compile --emit c) on a board that is the ISS: outputs and cycles are those of a
 * session with the runtime. Usage: host MODEL.hdl; linked with net.c, one input, one output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"
#include "runtime/runtime.h"
#include "sim/mach_dev.h"

enum { RUNS = 4, REGIONS = 2 };

struct iss_board {
    hd_axi_mem *mem;
    void *iss, *region[REGIONS];
    int n_regions, waits;
    bool running;
};

static uint32_t board_read(void *user, uint32_t offset) {
    struct iss_board *b = user;
    return hd_mach_iss.reg_read(b->iss, offset);
}

static void board_write(void *user, uint32_t offset, uint32_t v) {
    struct iss_board *b = user;
    hd_mach_iss.reg_write(b->iss, offset, v);
    if (offset == HD_REG_ap_ctrl) b->running = true;
}

static void *board_memory(void *user, size_t bytes, uint64_t *out_address) {
    struct iss_board *b = user;
    if (b->n_regions == REGIONS) return NULL;
    void *p = calloc(1, bytes);
    *out_address = (uint64_t)(b->n_regions + 1) << 36;
    hd_axi_mem_region(b->mem, b->n_regions, *out_address, p, bytes);
    return b->region[b->n_regions++] = p;
}

static void board_sync(void *user, void *p, size_t bytes) { /* the memory is the same */
    (void)user;
    (void)p;
    (void)bytes;
}

static int board_wait(void *user) {
    struct iss_board *b = user;
    if (b->running) b->running = !hd_mach_iss.run(b->iss, 1u << 30);
    return ++b->waits > 1000000;
}

static int fail(const char *what, const char *text) {
    printf("%s: %s\n", what, text);
    return 1;
}

int main(int argc, char **argv) {
    static struct net net;
    struct iss_board board = {0};
    struct heddle_board calls = {&board,     board_read, board_write, board_memory,
                                 board_sync, board_sync, board_wait};
    hd_ctx *ctx = hd_ctx_create();
    hd_model *m = NULL;
    hd_session *s = NULL;
    struct hd_io_info in, out;
    if (argc != 2 || hd_model_load(ctx, argv[1], &m) || hd_session_open(ctx, m, "iss", NULL, &s))
        return fail("model", hd_message(ctx));
    struct hd_device_options opt = {.machine = m->machine};
    struct hd_mem_config cfg;
    if (hd_mach_mem_config(ctx, "iss", &opt, &cfg)) return fail("memory", hd_message(ctx));
    board.mem = hd_axi_mem_create(hd_axi_bytes(&m->machine), &cfg);
    if (hd_mach_iss.create(ctx, &opt, board.mem, &board.iss)) return fail("iss", hd_message(ctx));
    const char *error = net_open(&net, &calls);
    if (error) return fail("open", error);
    hd_model_input(m, 0, &in);
    hd_model_output(m, 0, &out);
    unsigned char *x = calloc(1, in.bytes), *y = calloc(1, out.bytes), *want = calloc(1, out.bytes);
    for (int run = 0; run < RUNS; run++) {
        for (size_t i = 0; i < in.bytes / 4 && in.dtype == 1; i++)
            ((float *)(void *)x)[i] = (float)((i * 7 + (size_t)run * 13) % 17) - 3;
        for (size_t i = 0; i < in.bytes && in.dtype != 1; i++)
            x[i] = (unsigned char)(i * 7 + (size_t)run);
        error = net_run(&net, (const void *)x, (void *)y);
        if (error) return fail("run", error);
        if (hd_session_run(ctx, s, (const void *[]){x}, (void *[]){want}))
            return fail("session", hd_message(ctx));
        if (memcmp(y, want, out.bytes)) return fail("outputs", "differ from those of the runtime");
        if (net.cycles != hd_session_cycles(s) || !net.cycles) return fail("cycles", "differ");
    }
    /* a board that never answers is an error, not a hang */
    board.waits = 1000000;
    error = net_run(&net, (const void *)x, (void *)y);
    if (!error || !strstr(error, "not done in time")) return fail("give up", "no error");
    printf("%d runs equal to those of the runtime, %llu cycles each\n", RUNS,
           (unsigned long long)hd_session_cycles(s));
    hd_session_close(s);
    hd_mach_iss.destroy(board.iss);
    hd_axi_mem_destroy(board.mem);
    for (int i = 0; i < board.n_regions; i++) free(board.region[i]);
    free(x);
    free(y);
    free(want);
    hd_model_destroy(m);
    hd_ctx_destroy(ctx);
    return 0;
}
