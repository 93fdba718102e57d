/* Functions of binary32 against the host's in double: the error bounds that fn.h states, over
 * random operands of every exponent, all neighbours of the tables' borders, and the special values.
 * HD_FN_COUNT=10000000 runs that many operands of each function. */
#include "runtime/base/fn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state = 1;
static uint32_t next(void) { /* splitmix64 */
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 16);
}
static float of_bits(uint32_t b) {
    float f;
    memcpy(&f, &b, sizeof f);
    return f;
}
static uint32_t to_bits(float f) {
    uint32_t b;
    memcpy(&b, &f, sizeof b);
    return b;
}

static double exact(enum hd_fn fn, double x) {
    switch (fn) {
    case HD_FN_EXP:
        return exp(x);
    case HD_FN_RCP:
        return 1 / x;
    case HD_FN_RSQRT:
        return 1 / sqrt(x);
    case HD_FN_TANH:
        return tanh(x);
    case HD_FN_SIGMOID:
        return 1 / (1 + exp(-x));
    default:
        return NAN;
    }
}

static bool relative(enum hd_fn fn) {
    return fn == HD_FN_EXP || fn == HD_FN_RCP || fn == HD_FN_RSQRT;
}

/* Error in units of the stated bound. */
static double error(enum hd_fn fn, uint32_t bits) {
    double x = of_bits(bits), want = exact(fn, x), got = hd_fn(fn, (float)x);
    if (isnan(want)) return isnan(got) ? 0 : INFINITY;
    if (fabs(want) >= 0x1p128 * (1 - 0x1p-23)) return fabs(got) >= 0x1.fffffcp127 ? 0 : INFINITY;
    if (fabs(want) < 0x1p-126) return fabs(got) <= 0x1p-126 ? 0 : INFINITY;
    return fabs(got - want) / (relative(fn) ? fabs(want) : 1) * 0x1p22;
}

static bool counts_as_zero(uint32_t bits) { /* tested apart */
    return (bits & 0x7f800000) == 0;
}

static uint32_t operand(uint64_t i) {
    if (i % 4 == 0) return next();
    /* every exponent in which the function is not constant, borders of segments and beside them */
    uint32_t b = (next() & 0x80000000) | (100 + next() % 36) << 23 | (next() & 0x7fffff);
    if (i % 4 == 1) b = (b & 0xffff0000) + (next() % 5 - 2);
    return b;
}

static void test_bounds(void **unused) {
    (void)unused;
    const char *env = getenv("HD_FN_COUNT");
    uint64_t count = env ? strtoull(env, NULL, 0) : 100000;
    for (enum hd_fn fn = HD_FN_EXP; fn <= HD_FN_SIGMOID; fn++) {
        double worst = 0;
        uint32_t at = 0;
        for (uint64_t i = 0; i < count; i++) {
            uint32_t b = operand(i);
            if (counts_as_zero(b)) continue;
            double e = error(fn, b);
            if (e > worst) worst = e, at = b;
        }
        print_message("fn %d: worst error %.3f of the bound, at 0x%08x (%g)\n", (int)fn, worst, at,
                      (double)of_bits(at));
        assert_true(worst < 1);
    }
}

static void test_special(void **unused) {
    (void)unused;
    enum { NAN_ = 0x7fc00000, INF_ = 0x7f800000, ONE = 0x3f800000, HALF = 0x3f000000 };
    const uint32_t minus = 0x80000000;
    const struct {
        enum hd_fn fn;
        uint32_t x, y;
    } cases[] = {
        {HD_FN_EXP, 0, ONE},
        {HD_FN_EXP, minus, ONE},
        {HD_FN_EXP, INF_, INF_},
        {HD_FN_EXP, minus | INF_, 0},
        {HD_FN_EXP, 0x7fffffff, NAN_},
        {HD_FN_EXP, 1, ONE},
        {HD_FN_EXP, 0x42d00000, INF_},
        {HD_FN_EXP, 0xc2d00000, 0},
        {HD_FN_RCP, 0, INF_},
        {HD_FN_RCP, minus, minus | INF_},
        {HD_FN_RCP, INF_, 0},
        {HD_FN_RCP, minus | INF_, minus},
        {HD_FN_RCP, 0x7fffff, INF_},
        {HD_FN_RCP, 0x40000000, HALF},
        {HD_FN_RCP, minus | HALF, 0xc0000000},
        {HD_FN_RCP, 0xffc00001, NAN_},
        {HD_FN_RSQRT, 0, INF_},
        {HD_FN_RSQRT, minus, INF_},
        {HD_FN_RSQRT, minus | ONE, NAN_},
        {HD_FN_RSQRT, INF_, 0},
        {HD_FN_RSQRT, minus | INF_, NAN_},
        {HD_FN_RSQRT, 0x40800000, HALF},
        {HD_FN_RSQRT, 0x3e800000, 0x40000000},
        {HD_FN_TANH, minus, minus},
        {HD_FN_TANH, INF_, ONE},
        {HD_FN_TANH, minus | INF_, minus | ONE},
        {HD_FN_TANH, NAN_, NAN_},
        {HD_FN_SIGMOID, 0, HALF},
        {HD_FN_SIGMOID, INF_, ONE},
        {HD_FN_SIGMOID, minus | INF_, 0},
        {HD_FN_NONE, 0x7f800001, 0x7f800001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(hd_fn_bits(cases[i].fn, cases[i].x), cases[i].y);
    for (int k = -100; k <= 100; k++) {
        assert_int_equal(to_bits(hd_fn(HD_FN_RCP, ldexpf(1, k))), to_bits(ldexpf(1, -k)));
        if (k % 2 == 0)
            assert_int_equal(to_bits(hd_fn(HD_FN_RSQRT, ldexpf(1, k))), to_bits(ldexpf(1, -k / 2)));
    }
}

/* Every value of every row: at most 1, of exp below 2, never below 0. pack() and hd_vx_fn, which
 * clamps nothing, count on it. */
static void test_range(void **st) {
    (void)st;
    static const struct {
        int32_t c0, c1, c2;
    } rows[] = {
#define ROW(c0, c1, c2) {c0, c1, c2},
#include "runtime/base/fn.def"
    };
    enum { ONE_Y = 1 << 27, N_EXP = 64 }; /* exp is the first table */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int32_t low = INT32_MAX, high = INT32_MIN;
        for (int64_t t = 0; t < 1 << 18; t++) {
            int64_t slope = rows[i].c1 + ((rows[i].c2 * t) >> 18);
            int32_t y = rows[i].c0 + (int32_t)((slope * t + (1 << 17)) >> 18);
            low = y < low ? y : low;
            high = y > high ? y : high;
        }
        assert_true(low >= (i < N_EXP ? ONE_Y : 0));
        assert_true(high <= (i < N_EXP ? 2 * ONE_Y - 1 : ONE_Y));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
