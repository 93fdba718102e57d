/* Lists of machine operations made by hand. */
#ifndef HD_TEST_UNIT_SCHED_OPERATIONS_H
#define HD_TEST_UNIT_SCHED_OPERATIONS_H

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/search/search.h"

struct list {
    hd_ctx *ctx;
    struct hd_machine m;
    struct hd_compile_options opt;
    struct hd_lowering lo;
    struct hd_plan plan;
    struct hd_ops s;
};

static inline void make_list(struct list *l, const char *machine, uint32_t latency) {
    memset(l, 0, sizeof *l);
    l->ctx = hd_ctx_create();
    if (hd_machine_load(l->ctx, machine, &l->m) != HD_OK) fail_msg("%s", hd_message(l->ctx));
    l->opt = (struct hd_compile_options){
        .machine = l->m, .mem_latency = latency, .latency_hiding = true};
    l->lo =
        (struct hd_lowering){.ctx = l->ctx, .arena = hd_arena_create(), .opt = &l->opt, .m = &l->m};
    l->lo.plan = &l->plan, l->plan.arena_bytes = 1 << 20;
    hd_ops_init(&l->s, &l->lo, l->lo.arena);
}

static inline void drop_list(struct list *l) {
    hd_arena_destroy(l->lo.arena);
    hd_ctx_destroy(l->ctx);
}

static inline struct hd_slot_op *begin(struct list *l, enum hd_opcode op) {
    hd_ops_begin(&l->s, hd_isa_ops[op].unit, hd_isa_ops[op].code, 0);
    return &l->s.ops[l->s.n_ops - 1];
}

static inline void end(struct list *l) {
    assert_int_equal(hd_ops_end(&l->s), HD_OK);
}

/* lx.load of n runs, `step` bytes apart in the arena, side by side at byte `to` of XM. */
static inline const struct hd_slot_op *load(struct list *l, int64_t from, int64_t to, int64_t run,
                                            int64_t n, int64_t step) {
    size_t at = l->s.n_ops;
    begin(l, HD_OP_lx_load);
    hd_ops_set(&l->s, HD_F_lx_seg, 1);
    hd_ops_set(&l->s, HD_F_lx_src, from), hd_ops_set(&l->s, HD_F_lx_dst, to);
    hd_ops_set(&l->s, HD_F_lx_run, run), hd_ops_set(&l->s, HD_F_lx_n1, n);
    hd_ops_set(&l->s, HD_F_lx_s1, step), hd_ops_set(&l->s, HD_F_lx_d1, run);
    hd_ops_set(&l->s, HD_F_lx_n2, 1), hd_ops_set(&l->s, HD_F_lx_n3, 1);
    hd_ops_touch(&l->s, HD_SPACE_ARENA, from, from + n * step, false);
    hd_ops_touch(&l->s, HD_SPACE_XM, to, to + n * run, true);
    end(l);
    return &l->s.ops[at];
}

/* mx.gemm of so many iterations, on words from byte `x` of XM on, into the bank of AM at `a`. */
static inline void gemm(struct list *l, int64_t x, int64_t iterations, int64_t a) {
    begin(l, HD_OP_mx_gemm);
    static const enum hd_field ones[] = {HD_F_mx_n0, HD_F_mx_n1, HD_F_mx_n2, HD_F_mx_n4,
                                         HD_F_mx_n5};
    for (int i = 0; i < 5; i++) hd_ops_set(&l->s, ones[i], 1);
    hd_ops_set(&l->s, HD_F_mx_nred, 3), hd_ops_set(&l->s, HD_F_mx_n3, iterations);
    hd_ops_set(&l->s, HD_F_mx_x, x / (int64_t)l->m.k), hd_ops_set(&l->s, HD_F_mx_a, a);
    hd_ops_touch(&l->s, HD_SPACE_XM, x, x + l->m.k, false);
    hd_ops_touch(&l->s, HD_SPACE_AM, a, a + 1, true);
    end(l);
}

static inline int64_t cycles(const struct list *l) {
    return hd_ops_estimate(&l->s, true, INT64_MAX, NULL);
}

#endif
