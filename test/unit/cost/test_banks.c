/* How long VX waits for banks, counted by hand. */
#include <math.h>

#include "compiler/cost/banks.h"
#include "test/rng.h"
#include "test/unit/cost/operations.h"

/* VX at 100 iterations: A from bank a, B from bank b, in this part of them. */
static struct hd_vx_reads reads(int a, int b, double b_part) {
    struct hd_vx_reads v = {
        .b_part = b_part, .each = 1, .banks = UINT64_C(1) << a | UINT64_C(1) << b};
    v.operand[0] = (struct hd_bank_runs){1, {{100, UINT64_C(1) << a}}};
    v.operand[1] = (struct hd_bank_runs){1, {{100, UINT64_C(1) << b}}};
    return v;
}

/* Until the last iteration, beside MX in cycles [10, 60) of bank 2. */
static double takes(struct hd_vx_reads v, bool mx) {
    struct hd_bank_user m = {.any = mx, .start = 10, .end = 60, .part = 1};
    m.xm = (struct hd_bank_runs){1, {{50, 1 << 2}}};
    struct hd_vx_place p = {.at = 10, .left = 100};
    hd_vx_go_on(&v, &p, &m, NULL, 1e9);
    assert_true(p.left == 0);
    return p.at - 10;
}

static void by_hand(void **state) {
    (void)state;
    assert_true(fabs(takes(reads(0, 1, 0), false) - 100) < 1e-6);
    assert_true(fabs(takes(reads(0, 0, 1), false) - 200) < 1e-6); /* both from one bank */
    assert_true(fabs(takes(reads(0, 0, 0.25), false) - 125) < 1e-6);
    assert_true(fabs(takes(reads(0, 1, 1), true) - 100) < 1e-6);   /* MX reads another */
    assert_true(fabs(takes(reads(2, 1, 1), true) - 150) < 1e-6);   /* none until MX is done */
    assert_true(fabs(takes(reads(0, 2, 0.5), true) - 125) < 1e-6); /* half of 50 cycles */
}

/* A reads words of banks 1 and 2 in turn: it comes to one of bank 2 soon, and waits there. */
static void waits_among_banks(void **state) {
    (void)state;
    struct hd_vx_reads v = reads(1, 0, 0);
    v.banks |= 1 << 2, v.operand[0].run[0].banks |= 1 << 2;
    assert_true(fabs(takes(v, false) - 100) < 1e-6);
    assert_true(fabs(takes(v, true) - 150) < 1e-6);
}

/* Results wait while MX writes their bank of AM; when there is no room for more, iterations do. */
static void results_wait_for_mx(void **state) {
    (void)state;
    struct hd_vx_reads v = reads(0, 1, 0);
    v.writes = UINT64_C(1) << HD_BANK_AM, v.results = 1, v.late = 20, v.room = 64;
    for (int bank = 0; bank < 2; bank++) {
        struct hd_am_writers w = {.op[0] = {10, 110, 1, UINT64_C(1) << (HD_BANK_AM + bank)}};
        struct hd_bank_user none = {0};
        struct hd_vx_place p = {.at = 10, .left = 100};
        hd_vx_go_on(&v, &p, &none, &w, 1e9);
        /* 64 iterations, then one for each result that is written from cycle 110 on */
        assert_true(fabs(p.at - (bank ? 110 : 110 + 1 + 36)) < 1e-6);
        hd_vx_drain(&v, &p, &w, 1e9);
        assert_true(fabs(p.at - (bank ? 110 + 20 : 110 + 100)) < 1e-6);
    }
}

/* Until the last iteration and the last result, in one go or cycle by cycle, which passes over
 * nothing. */
static struct hd_vx_place to_the_end(const struct hd_vx_reads *v, const struct hd_am_writers *w,
                                     bool by_cycle) {
    struct hd_bank_user none = {0};
    struct hd_vx_place p = {.at = 10, .left = v->operand[0].run[0].n};
    do hd_vx_go_on(v, &p, &none, w, by_cycle ? p.at + 1 : 1e9);
    while (p.left > 0);
    hd_vx_drain(v, &p, w, 1e9);
    return p;
}

/* Cycles that are like the one before are passed over; what comes out is the same to the bit. */
static void passes_over_cycles(void **state) {
    (void)state;
    struct rng rng = {7};
    for (int i = 0; i < 2000; i++) {
        struct hd_vx_reads v = reads(0, 1, 0);
        struct hd_am_writers w = {0};
        v.writes = UINT64_C(1) << HD_BANK_AM, v.late = (int)rng_range(&rng, 1, 63), v.room = 64;
        v.each = (double)(1 << rng_range(&rng, 0, 2));
        v.results = 1.0 / (double)(1 << rng_range(&rng, 0, 3));
        v.operand[0].run[0].n = v.operand[1].run[0].n = (double)rng_range(&rng, 1, 2000);
        for (int k = 0; k < HD_N_ops_in_flight; k++) {
            double from = (double)rng_range(&rng, 0, 3000),
                   to = from + (double)rng_range(&rng, 0, 300);
            w.op[k].from = from, w.op[k].to = to,
            w.op[k].part = 1.0 / (double)rng_range(&rng, 1, 8);
            w.op[k].banks = UINT64_C(1) << (HD_BANK_AM + rng_range(&rng, 0, 1));
        }
        const struct hd_vx_place a = to_the_end(&v, &w, false), b = to_the_end(&v, &w, true);
        assert_true(a.at == b.at && a.waiting == b.waiting && a.on_their_way == b.on_their_way);
        assert_memory_equal(a.ready, b.ready, sizeof a.ready);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand), cmocka_unit_test(results_wait_for_mx),
        cmocka_unit_test(waits_among_banks), cmocka_unit_test(passes_over_cycles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
