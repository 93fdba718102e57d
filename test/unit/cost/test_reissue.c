/* The order of issue: what queues would hold up comes first, and nothing else changes. */
#include "test/unit/cost/operations.h"

enum { LONG = 1 << 14, SUMS = 60 };

/* Many products and a load that none of them reads; a product of what it loads. */
static void products_and_a_load(struct list *l) {
    make_list(l, "tiny", 64);
    for (int i = 0; i < SUMS; i++) gemm(l, 0, 100, 0);
    load(l, 0, 1 << 14, LONG, 1, LONG);
    gemm(l, 1 << 14, 10, 0);
}

/* LX works beside MX, though the queue of MX is full when its operation comes. */
static void loads_come_sooner(void **state) {
    (void)state;
    struct list l;
    products_and_a_load(&l);
    int64_t before = cycles(&l);
    hd_ops_reissue(&l.s, HD_ORDERS);
    assert_in_range(before, (SUMS - 18) * 100 + LONG / 8, SUMS * 100 + LONG / 8);
    assert_in_range(cycles(&l), SUMS * 100, SUMS * 100 + 300);
    drop_list(&l);
}

/* Each unit has its operations in their order, and each stands behind those that it waits for. */
static void order_is_legal(void **state) {
    (void)state;
    struct list l;
    products_and_a_load(&l);
    hd_ops_reissue(&l.s, HD_ORDERS);
    int seen[HD_UNITS] = {0}, waits = 0;
    assert_int_equal(l.s.n_ops, SUMS + 2);
    for (size_t i = 0; i < l.s.n_ops; i++) {
        const struct hd_slot_op *op = &l.s.ops[i];
        for (int u = 0; u < HD_UNITS; u++) {
            assert_true(op->after[u] <= seen[u]);
            waits += op->after[u] > 0;
        }
        assert_int_equal(op->number, ++seen[op->unit]);
        assert_int_equal(l.s.by_number[op->unit][op->number - 1], i);
    }
    assert_int_equal(waits, 1);
    drop_list(&l);
}

/* Nothing is to be won, or nothing may overlap: the order stays. */
static void order_stays(void **state) {
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        struct list l;
        if (alone) {
            products_and_a_load(&l);
            l.opt.latency_hiding = false;
        } else {
            make_list(&l, "tiny", 64);
            load(&l, 0, 0, 64, 1, 64);
            gemm(&l, 0, 10, 0);
        }
        const struct hd_slot_op *ops = l.s.ops;
        hd_ops_reissue(&l.s, HD_ORDERS);
        assert_ptr_equal(l.s.ops, ops);
        drop_list(&l);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads_come_sooner),
                                       cmocka_unit_test(order_is_legal),
                                       cmocka_unit_test(order_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
