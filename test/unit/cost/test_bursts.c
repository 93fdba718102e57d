/* Runs and beats of loads, counted by hand. */
#include "compiler/cost/bursts.h"
#include "runtime/base/num.h"
#include "test/unit/cost/operations.h"

static const struct hd_slot_op *load_of(struct list *l, int64_t from, int64_t to, int64_t run,
                                        int64_t n, int64_t step) {
    make_list(l, "tiny", 64);
    return load(l, from, to, run, n, step);
}

static void loads(void **state) {
    (void)state;
    static const struct {
        int64_t from, to, run, n, step, runs, beats, more; /* on a bus of 8 bytes */
    } by_hand[] = {
        {0, 0, 128, 1, 128, 1, 16, 0},
        {0, 0, 32, 4, 32, 1, 16, 0}, /* goes on in DRAM and on chip: one run */
        {0, 0, 32, 4, 64, 4, 16, 0}, /* does not */
        {4, 0, 16, 1, 16, 1, 3, 0},  /* begins in the middle of a beat, and is 2 chunks */
        {0, 4, 16, 1, 16, 1, 2, 1},  /* in the middle of a chunk: 3 of these */
        {0, 0, 12, 1, 12, 1, 2, 0},  /* ends there */
        {4, 0, 16, 4, 64, 4, 12, 0}, /* the same, four times */
        {4, 0, 8, 3, 12, 3, 5, 0},   /* bytes 4, 16 and 28: two beats, one, two */
    };
    struct hd_machine m;
    hd_ctx *ctx = hd_ctx_create();
    assert_int_equal(hd_machine_load(ctx, "tiny", &m), HD_OK);
    assert_int_equal(hd_axi_bytes(&m), 8);
    hd_ctx_destroy(ctx);
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        struct list l;
        struct hd_walk w;
        int64_t runs = 0, beats = 0, more = 0;
        hd_walk_begin(&m,
                      load_of(&l, by_hand[i].from, by_hand[i].to, by_hand[i].run, by_hand[i].n,
                              by_hand[i].step),
                      &w);
        for (; w.left; hd_walk_next(&w)) {
            runs++, beats += w.beats, more += w.more;
            assert_int_equal(w.pads, 0);
        }
        if (runs != by_hand[i].runs || beats != by_hand[i].beats || more != by_hand[i].more)
            fail_msg("load %zu: %d runs, %d beats, %d more, want %d, %d, %d", i, (int)runs,
                     (int)beats, (int)more, (int)by_hand[i].runs, (int)by_hand[i].beats,
                     (int)by_hand[i].more);
        drop_list(&l);
    }
}

/* 1,120 bytes of which 40 lie in front of a page's end: bursts end there, and have 64 beats at
 * most. */
static void bursts_end_at_pages(void **state) {
    (void)state;
    static const int64_t by_hand[] = {5, 64, 64, 7};
    struct list l;
    struct hd_walk w;
    const struct hd_slot_op *op = load_of(&l, 4096 - 40, 0, 1120, 1, 1120);
    hd_walk_begin(&l.m, op, &w);
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        int64_t n = hd_walk_burst(&w);
        assert_int_equal(n, by_hand[i]);
        w.beat += n, w.beats -= n;
    }
    assert_int_equal(w.beats, 0);
    drop_list(&l);
}

/* Rows of 24 bytes with 8 of padding on the left and `right` on the right: only data come from
 * DRAM, but LX writes all of each row. */
static void padded_rows(void **state) {
    (void)state;
    for (int right = 8; right < 32; right += 8) {
        struct list l;
        struct hd_walk w;
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
        hd_walk_begin(&l.m, &l.s.ops[0], &w);
        for (int row = 0; row < 4; row++, hd_walk_next(&w)) {
            assert_int_equal(w.left, 4 - row);
            assert_int_equal(w.beats, row < 3 ? 3 : 0); /* the fourth row is none of the tensor */
            assert_int_equal(w.more, 0);
            assert_int_equal(w.pads, row < 3 ? 1 + right / 8 : 4 + right / 8);
        }
        assert_int_equal(w.left, 0);
        drop_list(&l);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads),
                                       cmocka_unit_test(bursts_end_at_pages),
                                       cmocka_unit_test(padded_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
