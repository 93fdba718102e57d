/* Streamed tiles: rows that the tile above has loaded come from there while the ring goes on; a
 * ring that begins anew loads all of them. */
#include "test/unit/machine_ops/lowerer.h"

enum { PITCH = SIDE * CHANNELS };

static void begin(struct row *r, struct hd_lowerer *w, int rows) {
    make_lowerer(r, w);
    w->xm_in[HD_RING_MX] =
        (struct hd_ring){.first = 1024, .size = rows * PITCH, .space = HD_SPACE_XM};
}

static struct hd_view tile(struct hd_lowerer *w, int y, int rows, int cols) {
    struct hd_view v = {
        .pitch = cols * CHANNELS, .cp = CHANNELS, .rows = rows, .cols = cols, .y = y};
    assert_int_equal(hd_lower_stream(w, 0, 0, 0, &v), HD_OK);
    return v;
}

/* Bytes that the last operation loads, and where they go to. */
static void loaded(const struct hd_lowerer *w, int64_t rows, int64_t dst) {
    size_t i = w->s.n_ops - 1;
    assert_int_equal(w->s.ops[i].unit, HD_UNIT_lx);
    assert_int_equal(field(w, i, HD_F_lx_run) * field(w, i, HD_F_lx_n2), rows * PITCH);
    assert_int_equal(field(w, i, HD_F_lx_dst), dst);
}

static void rows_are_shared(void **state) {
    (void)state;
    struct row r;
    struct hd_lowerer w;
    begin(&r, &w, 12);
    assert_int_equal(tile(&w, 0, 6, SIDE).at, 1024);
    loaded(&w, 6, 1024);
    assert_int_equal(tile(&w, 4, 4, SIDE).at, 1024 + 4 * PITCH); /* rows 4 and 5 are there */
    loaded(&w, 2, 1024 + 6 * PITCH);
    assert_int_equal(w.xm_in[HD_RING_MX].next, 8 * PITCH);
    drop_row(&r);
}

/* Only of the tile that was there last, of as many columns, and of one that lies lower. */
static void others_are_not(void **state) {
    (void)state;
    struct row r;
    struct hd_lowerer w;
    begin(&r, &w, 16);
    tile(&w, 2, 3, SIDE);
    assert_int_equal(tile(&w, 1, 5, SIDE).at, 1024 + 3 * PITCH);
    loaded(&w, 5, 1024 + 3 * PITCH);
    assert_int_equal(tile(&w, 6, 2, SIDE).at, 1024 + 8 * PITCH); /* nothing in common */
    loaded(&w, 2, 1024 + 8 * PITCH);
    assert_int_equal(tile(&w, 7, 4, SIDE / 2).at, 1024 + 10 * PITCH);
    loaded(&w, 2, 1024 + 10 * PITCH); /* half as wide */
    w.l = &r.layers[1];
    tile(&w, 8, 4, SIDE / 2);
    loaded(&w, 2, 1024 + 12 * PITCH); /* another layer */
    drop_row(&r);
}

/* Where the rest does not fit behind them, rows are loaded again, at the beginning. */
static void a_new_round_loads_all(void **state) {
    (void)state;
    struct row r;
    struct hd_lowerer w;
    begin(&r, &w, 12);
    tile(&w, 0, 5, SIDE), tile(&w, 0, 5, SIDE);
    loaded(&w, 5, 1024 + 5 * PITCH);
    assert_int_equal(tile(&w, 2, 6, SIDE).at, 1024); /* 3 shared, 3 more, room for 2 */
    loaded(&w, 6, 1024);
    drop_row(&r);
}

/* Of 4 windows with stride 2 the first view has the last column of each and every second before it;
   of windows of odd width that is a column more. */
static void columns_of_pairs(void **state) {
    (void)state;
    for (int kw = 2; kw <= 5; kw++) {
        struct hd_layer l = {.kw = kw};
        int first[2], cols[2];
        for (int i = 0; i < 2; i++) cols[i] = hd_lower_pair_columns(&l, 4, i, &first[i]);
        assert_int_equal(first[0] + first[1], 1); /* columns in turn */
        assert_int_equal(first[0], kw % 2 == 0);  /* its last column is the first view's */
        assert_int_equal(cols[0], kw % 2 ? 5 : 4);
        assert_int_equal(cols[1], 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_shared), cmocka_unit_test(others_are_not),
        cmocka_unit_test(a_new_round_loads_all), cmocka_unit_test(columns_of_pairs)};
    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
