/* Runs that do not end by themselves, and what a run is told: watchdog, a memory that is silent,
 * the limit of cycles, writes in mid-run. */
#include <stdio.h>
#include <string.h>

#include "test/chip/chip.h"

static const char copy[] = "lx.load sig=0 seg=1 src=0 dst=0 run=2048 n1=1 n2=1 n3=1\n"
                           "st.store wait=0 seg=1 dst=0x4000 src=0 run=2048 n1=1 n2=1 n3=1\n"
                           "seq.halt\n";

/* Runs `copy` and looks at what it wrote; returns its cycles. */
static int64_t run_copy(struct chip *c) {
    for (int i = 0; i < 2048; i++) c->arena[i] = (uint8_t)(i % 251);
    memset(c->arena + 0x4000, 0, 2048);
    chip_program(c, copy);
    chip_equal("error", chip_run(c), HD_ERR_none);
    chip_equal("bytes differ", memcmp(c->arena, c->arena + 0x4000, 2048) != 0, 0);
    return (int64_t)chip_reg64(c, HD_REG_cycles);
}

/* Work that needs neither DRAM nor XM is progress, too. */
static void busy_watchdog(struct chip *c) {
    char text[400];
    chip_test = "watchdog while LX fills AM";
    snprintf(text, sizeof text,
             "lx.load mem=1 seg=1 edge=1 rows=0 row_bytes=64 pad=7 dst=0 run=%d n1=40 n2=1 n3=1\n"
             "seq.halt\n",
             (int)hd_axi_bytes(&c->m) * 64);
    chip_program(c, text);
    chip_set(c, HD_REG_watchdog, 500);
    chip_equal("error", chip_run(c), HD_ERR_none);
    chip_within("cycles", (int64_t)chip_reg64(c, HD_REG_cycles), 2560, 2700);
}

/* A memory that takes requests and never answers: done and an interrupt all the same. */
static void silent(struct chip *c, int64_t cycles) {
    chip_test = "memory that never answers";
    chip_set(c, HD_REG_gie, 1);
    chip_set(c, HD_REG_ier, 1);
    for (uint64_t answers = 0; answers < 10; answers += answers ? 2 : 1) {
        chip_program(c, copy);
        hd_axi_mem_answer(c->mem, answers);
        chip_equal("code", chip_run(c), HD_ERR_watchdog);
        if (!answers) chip_equal("word, none has come", chip_reg(c, HD_REG_error_pc), 0);
        chip_equal("done, idle, ready", chip_reg(c, HD_REG_ap_ctrl), 14);
        chip_equal("interrupt", chip_reg(c, HD_REG_isr), 1);
        chip_set(c, HD_REG_isr, 1);
        chip_equal("code of a start while it still owes", chip_run(c), HD_ERR_watchdog);
        chip_equal("done, idle, ready", chip_reg(c, HD_REG_ap_ctrl), 14);
        chip_set(c, HD_REG_isr, 1);
        hd_axi_mem_answer(c->mem, UINT64_MAX);
        chip_equal("cycles once it answers", run_copy(c), cycles);
        chip_set(c, HD_REG_isr, 1);
    }
    chip_set(c, HD_REG_gie, 0);
    chip_set(c, HD_REG_ier, 0);

    chip_test = "soft reset ends a wait for memory, watchdog off";
    chip_program(c, copy);
    chip_set(c, HD_REG_watchdog, 0);
    chip_set(c, HD_REG_cycle_limit, 64);
    hd_axi_mem_answer(c->mem, 6);
    chip_set(c, HD_REG_ap_ctrl, 1);
    c->b->run(c->self, 2000);
    chip_set(c, HD_REG_soft_reset, 1);
    c->b->run(c->self, 4000);
    chip_set(c, HD_REG_soft_reset, 1);
    chip_expect(c->b->run(c->self, 6000), "it is idle", 0, 1, 1);
    chip_equal("not done", chip_reg(c, HD_REG_ap_ctrl) & 6, 4);
    hd_axi_mem_answer(c->mem, UINT64_MAX);
    chip_equal("cycles once it answers", run_copy(c), cycles);
}

/* Legal operations that take for ever end at the limit; a program that takes as long does not. */
static void limit(struct chip *c) {
    static const char *const endless[] = {
        "mx.gemm n0=65535 n1=65535 n2=65535 n3=65535 n4=1 n5=1 nred=4\nseq.halt\n",
        "vx.map a_kind=2 b_kind=4 n0=65535 n1=65535 n2=65535 n3=1 a_scale=1\nseq.halt\n",
        "lx.load seg=1 edge=1 rows=0 row_bytes=64 run=64 n1=65535 n2=65535 n3=65535\nseq.halt\n",
        "lx.load seg=1 src=0 dst=0 run=64 n1=65535 n2=65535 n3=65535\nseq.halt\n",
        "lw.load seg=1 src=0 dst=0 count=1 n1=65535\nlw.load\nlw.load\nseq.halt\n",
        "st.store seg=1 dst=0 src=0 run=64 n1=65535 n2=65535 n3=65535\nseq.halt\n",
    };
    chip_test = "endless loops";
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        chip_program(c, endless[i]);
        chip_set(c, HD_REG_cycle_limit, 12);
        chip_equal("code", chip_run(c), HD_ERR_limit);
        chip_within("cycles", (int64_t)chip_reg64(c, HD_REG_cycles), 12 * HD_N_limit_unit,
                    12 * HD_N_limit_unit + 200);
        chip_equal("done, idle, ready", chip_reg(c, HD_REG_ap_ctrl), 14);
    }
    static const char mx[] = "mx.gemm n0=%d n1=1 n2=1 n3=1 n4=1 n5=1 nred=1\nseq.halt\n";
    int64_t last = 8 * HD_N_limit_unit + HD_T_limit;
    int n = 1000;
    char text[200];
    chip_test = "the last cycle of the limit";
    for (int i = 0; i < 3; i++) { /* measured; as long as may be; a cycle more */
        snprintf(text, sizeof text, mx, n);
        chip_program(c, text);
        chip_set(c, HD_REG_cycle_limit, i ? 8 : 0);
        chip_equal("code", chip_run(c), i == 2 ? HD_ERR_limit : HD_ERR_none);
        int64_t cycles = (int64_t)chip_reg64(c, HD_REG_cycles);
        if (i == 1) chip_equal("cycles", cycles, last);
        n += i ? 1 : (int)(last - cycles);
    }
}

/* What a run is told stays as it was at the start. */
static void told(struct chip *c, int64_t cycles) {
    static const uint32_t args[] = {HD_REG_image_ptr,     HD_REG_image_ptr + 4, HD_REG_arena_ptr,
                                    HD_REG_arena_ptr + 4, HD_REG_image_bytes,   HD_REG_arena_bytes,
                                    HD_REG_code_offset,   HD_REG_watchdog,      HD_REG_cycle_limit};
    enum { N = sizeof args / sizeof *args };
    uint32_t was[N];
    chip_test = "writes in mid-run";
    for (int i = 0; i < 2048; i++) c->arena[i] = (uint8_t)(i % 251);
    memset(c->arena + 0x4000, 0, 2048);
    chip_program(c, copy);
    for (int i = 0; i < N; i++) was[i] = chip_reg(c, args[i]);
    chip_set(c, HD_REG_ap_ctrl, 1);
    chip_equal("refused at first", chip_reg(c, HD_REG_refused), 0);
    chip_expect(!c->b->run(c->self, 60), "it runs", 0, 0, 0);
    for (int i = 0; i < N; i++) chip_set(c, args[i], 0x1000 + 64 * (uint32_t)i);
    chip_set(c, HD_REG_ap_ctrl, 1);
    chip_set(c, HD_REG_ap_ctrl, 0);
    chip_equal("refused", chip_reg(c, HD_REG_refused), N + 1);
    chip_expect(c->b->run(c->self, 100000), "it ends", 0, 1, 1);
    chip_equal("error", chip_reg(c, HD_REG_error), HD_ERR_none);
    chip_equal("bytes differ", memcmp(c->arena, c->arena + 0x4000, 2048) != 0, 0);
    for (int i = 0; i < N; i++) chip_equal("register", chip_reg(c, args[i]), was[i]);
    chip_equal("cycles", (int64_t)chip_reg64(c, HD_REG_cycles), cycles);
    chip_set(c, args[5], 0x2000);
    chip_equal("taken when idle", chip_reg(c, args[5]), 0x2000);
    chip_equal("refused", chip_reg(c, HD_REG_refused), N + 1);
    chip_equal("cycles of the next run", run_copy(c), cycles);
    chip_equal("refused in it", chip_reg(c, HD_REG_refused), 0);
}

void chip_ends(struct chip *c) {
    chip_test = "copy";
    int64_t cycles = run_copy(c);
    busy_watchdog(c);
    silent(c, cycles);
    limit(c);
    told(c, cycles);
}
