/* Lengths of operations in program words: counted by hand, of operations written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/cost/cost.h"

enum { N = 6 };

static void words_are_counted(void **state) {
    (void)state;
    hd_arena *a = hd_arena_create();
    struct hd_slot_op ops[N] = {
        {.unit = HD_UNIT_lx, .words = {[2] = 7, [3] = 8}},
        {.unit = HD_UNIT_mx, .words = {[1] = 1}, .wait = 1},
        {.unit = HD_UNIT_lx, .words = {[2] = 7, [3] = 9}, .signal = 6}, /* LX is behind MX */
        {.unit = HD_UNIT_st, .wait = 1, .signal = 1},
        {.unit = HD_UNIT_st}, /* of one unit twice */
        {.unit = HD_UNIT_mx, .words = {[1] = 1}},
    };
    /* a head each, its masks, the words that its unit does not hold yet */
    static const int own[N] = {1 + 2, 1 + 1 + 1, 1 + 1 + 1, 1 + 2, 1, 1};
    static const int begins[N] = {1, 0, 1, 0, 1, 1};
    const struct hd_ops s = {.ops = ops, .n_ops = N};
    const struct hd_op_lengths l = hd_ops_lengths(&s, a);
    int64_t sum = 0;
    for (int i = 0; i < N; i++) {
        assert_int_equal(l.own[i], own[i]);
        assert_int_equal(l.of[i], own[i] + begins[i]);
        sum += own[i] + begins[i];
    }
    assert_int_equal(l.words, sum);
    hd_arena_destroy(a);
}

/* Units hold zeros at first, so what is zero is not in the program. */
static void nothing_is_nothing(void **state) {
    (void)state;
    hd_arena *a = hd_arena_create();
    struct hd_slot_op op = {.unit = HD_UNIT_vx};
    struct hd_ops s = {.ops = &op, .n_ops = 0};
    assert_int_equal(hd_ops_lengths(&s, a).words, 0);
    s.n_ops = 1;
    assert_int_equal(hd_ops_lengths(&s, a).words, 2); /* the bundle's and its own */
    hd_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_are_counted),
                                       cmocka_unit_test(nothing_is_nothing)};
    return cmocka_run_group_tests_name("lengths", tests, NULL, NULL);
}
