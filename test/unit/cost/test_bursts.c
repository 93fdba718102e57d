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

/* Rows of 24 bytes with 8 of padding on the left and `right` on the right: only data come from
 * DRAM, but LX writes all of each row. */
static void padded_rows(void **state) {
    (void)state;
    for (int right = 8; right < 32; right += 8) {
        struct list l;
        make_list(&l, "tiny", 64);
        begin(&l, HD_OP_lx_load);
        const struct {
            enum hd_field f;
            int64_t v;
        } set[] = {{HD_F_lx_edge, 1},        {HD_F_lx_rows, 3},         {HD_F_lx_ys, 1},
                   {HD_F_lx_x0, -8},         {HD_F_lx_row_bytes, 24},   {HD_F_lx_n1, 1},
                   {HD_F_lx_n2, 4},          {HD_F_lx_n3, 1},           {HD_F_lx_s2, 24},
                   {HD_F_lx_d2, 32 + right}, {HD_F_lx_run, 32 + right}, {HD_F_lx_src, 8}};
        for (size_t i = 0; i < sizeof set / sizeof *set; i++) hd_ops_set(&l.s, set[i].f, set[i].v);
        end(&l);
        struct hd_bursts b = hd_bursts_of(&l.m, &l.s.ops[0]);
        assert_int_equal(b.runs, 3);
        assert_int_equal(b.beats, 3 * 3);
        assert_int_equal(b.padding, 1); /* the fourth row */
        assert_int_equal(b.tail, right / 8);
        assert_int_equal(b.held, 3 * 3);
        assert_int_equal(b.gap, 1 + right / 8); /* on both sides */
        drop_list(&l);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads), cmocka_unit_test(padded_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
