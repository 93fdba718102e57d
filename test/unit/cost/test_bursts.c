/* Runs and beats of loads, counted by hand. */
#include "compiler/cost/bursts.h"
#include "runtime/base/num.h"
#include "test/unit/cost/operations.h"

static struct hd_bursts of(int64_t from, int64_t to, int64_t run, int64_t n, int64_t step) {
    struct list l;
    make_list(&l, "tiny", 64);
    struct hd_bursts b = hd_bursts_of(&l.m, load(&l, from, to, run, n, step));
    drop_list(&l);
    return b;
}

static void loads(void **state) {
    (void)state;
    static const struct {
        int64_t from, to, run, n, step, runs, beats; /* on a bus of 8 bytes */
    } by_hand[] = {
        {0, 0, 128, 1, 128, 1, 16},
        {0, 0, 32, 4, 32, 1, 16}, /* goes on in DRAM and on chip: one run */
        {0, 0, 32, 4, 64, 4, 16}, /* does not */
        {4, 0, 16, 1, 16, 1, 3},  /* begins in the middle of a beat */
        {0, 0, 12, 1, 12, 1, 2},  /* ends there */
        {4, 0, 16, 4, 64, 4, 12}, /* the same, four times */
    };
    struct hd_machine m;
    hd_ctx *ctx = hd_ctx_create();
    assert_int_equal(hd_machine_load(ctx, "tiny", &m), HD_OK);
    assert_int_equal(hd_axi_bytes(&m), 8);
    hd_ctx_destroy(ctx);
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        struct hd_bursts b =
            of(by_hand[i].from, by_hand[i].to, by_hand[i].run, by_hand[i].n, by_hand[i].step);
        if (b.runs != by_hand[i].runs || b.beats != by_hand[i].beats)
            fail_msg("load %zu: %d runs, %d beats, want %d, %d", i, (int)b.runs, (int)b.beats,
                     (int)by_hand[i].runs, (int)by_hand[i].beats);
        assert_true(b.held >= (double)b.beats && b.padding == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
