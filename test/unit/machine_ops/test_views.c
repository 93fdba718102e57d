/* Views of tensors: where a rectangle lies in XM, what loads, stores and padding of it write. */
#include "test/unit/machine_ops/lowerer.h"

static void a_ring_comes_round(void **state) {
    (void)state;
    struct row r;
    struct hd_lowerer w;
    make_lowerer(&r, &w);
    struct hd_ring ring = {.first = 1000, .size = 100, .space = HD_SPACE_XM};
    assert_int_equal(hd_ring_take(&w, &ring, 40), 1000);
    assert_int_equal(hd_ring_take(&w, &ring, 40), 1040);
    assert_int_equal(hd_ring_take(&w, &ring, 40), 1000); /* 20 are left: not enough */
    assert_int_equal(hd_ring_take(&w, &ring, 60), 1040); /* just enough */
    assert_int_equal(hd_ring_take(&w, &ring, 1), 1000);
    assert_false(w.s.misfit.any);
    r.opt.plan.text = "plan"; /* only one that was read may want too much */
    hd_ring_take(&w, &ring, 101);
    assert_true(w.s.misfit.any);
    assert_int_equal(w.s.misfit.needs, 101);
    assert_int_equal(w.s.misfit.has, 100);
    drop_row(&r);
}

/* Images with their padding follow each other; of a rolling tensor rows take slots in turn. */
static void residents_have_addresses(void **state) {
    (void)state;
    struct row r;
    struct hd_lowerer w;
    make_lowerer(&r, &w);
    struct hd_mtensor *t = &r.tensors[1];
    struct hd_placement *p = &r.plan.places[1];
    t->n = 2, t->pt = t->pb = t->pl = t->pr = 1, p->xm = 640;
    int pitch = (SIDE + 2) * CHANNELS;
    struct hd_view v = hd_lower_resident(p, 1, 3, 2, 4, 5);
    assert_int_equal(v.at, 640 + (SIDE + 2 + 3 + 1) * pitch + (2 + 1) * CHANNELS);
    assert_int_equal(v.pitch, pitch);
    assert_int_equal(v.other, 0);
    p->roll = 4; /* rows end at multiples of 64 bytes */
    pitch = (pitch + 63) / 64 * 64;
    assert_int_equal(hd_lower_resident(p, 0, 6, -1, 1, 1).at, 640 + 2 * pitch);
    assert_int_equal(hd_lower_resident(p, 0, -1, -1, 1, 1).at, 640 + 3 * pitch);
    drop_row(&r);
}

/* Columns 3 .. 7 of a tensor whose even and odd columns are apart. */
static void columns_apart_are_two_views(void **state) {
    (void)state;
    struct row r;
    struct hd_lowerer w;
    make_lowerer(&r, &w);
    struct hd_placement *p = &r.plan.places[1];
    struct hd_view part[2];
    p->apart = 4096;
    struct hd_view v = hd_lower_resident(p, 0, 0, 3, 2, 5);
    assert_int_equal(hd_lower_parts(&v, part), 2);
    assert_int_equal(part[0].at, 4096 + 1 * CHANNELS); /* 3: the second of the odd ones */
    assert_int_equal(part[0].cols, 3);
    assert_int_equal(part[1].at, 2 * CHANNELS); /* 4: the third of the even ones */
    assert_int_equal(part[1].cols, 2);
    assert_int_equal(part[1].x, 4);
    v = hd_lower_resident(p, 0, 0, 3, 2, 1);
    assert_int_equal(hd_lower_parts(&v, part), 1);
    p->apart = 0, v = hd_lower_resident(p, 0, 0, 3, 2, 5);
    assert_int_equal(hd_lower_parts(&v, part), 1);
    assert_int_equal(part[0].cols, 5);
    drop_row(&r);
}

static void load(struct hd_lowerer *w, struct hd_view v) {
    v.at = 2048, v.cp = CHANNELS;
    if (!v.pitch) v.pitch = v.cols * CHANNELS;
    assert_int_equal(hd_lower_load_view(w, hd_lower_place(w, 0), 0, &v), HD_OK);
}

/* Whole rows are one run; a part of them a run for each; what reaches over the border is cut. */
static void loads_have_runs(void **state) {
    (void)state;
    struct row r;
    struct hd_lowerer w;
    make_lowerer(&r, &w);
    r.plan.places[0].arena = 8192, r.layers[0].pad_value = -3;
    int row = SIDE * CHANNELS;
    load(&w, (struct hd_view){.rows = 3, .cols = SIDE, .y = 2});
    load(&w, (struct hd_view){.rows = 3, .cols = 4, .y = 2, .x = 1});
    load(&w, (struct hd_view){.rows = 3, .cols = SIDE + 1, .y = -1, .x = -1});
    const int64_t want[3][4] = {{8192 + 2 * row, 3 * row, 1, 0},
                                {8192 + 2 * row + CHANNELS, 4 * CHANNELS, 3, 0},
                                {8192 - row - CHANNELS, (SIDE + 1) * CHANNELS, 3, 1}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(field(&w, i, HD_F_lx_src), want[i][0]);
        assert_int_equal(field(&w, i, HD_F_lx_run), want[i][1]);
        assert_int_equal(field(&w, i, HD_F_lx_n2), want[i][2]);
        assert_int_equal(field(&w, i, HD_F_lx_edge), want[i][3]);
        assert_int_equal(field(&w, i, HD_F_lx_dst), 2048);
    }
    assert_int_equal(field(&w, 2, HD_F_lx_y0), -1);
    assert_int_equal(field(&w, 2, HD_F_lx_x0), -CHANNELS);
    assert_int_equal(field(&w, 2, HD_F_lx_rows), SIDE);
    assert_int_equal(field(&w, 2, HD_F_lx_pad), 256 - 3);
    drop_row(&r);
}

/* Every byte of padding around an image is filled once, no byte of the image is. */
static void padding_is_around_images(void **state) {
    (void)state;
    static const int pads[][4] = {{1, 1, 1, 1}, {2, 0, 0, 1}, {0, 3, 2, 2}, {0, 0, 1, 0}};
    for (int i = 0; i < 4; i++) {
        struct row r;
        struct hd_lowerer w;
        make_lowerer(&r, &w);
        struct hd_mtensor *t = &r.tensors[1];
        t->pt = pads[i][0], t->pb = pads[i][1], t->pl = pads[i][2], t->pr = pads[i][3], t->n = 2;
        t->pad_value = 7;
        int cols = SIDE + t->pl + t->pr, rows = SIDE + t->pt + t->pb;
        size_t bytes = (size_t)(2 * rows * cols) * CHANNELS;
        int *filled = hd_new_array(r.lo.arena, int, bytes);
        assert_int_equal(hd_lower_fill_padding(&w, &r.plan.places[1]), HD_OK);
        for (size_t k = 0; k < w.s.n_ops; k++) {
            assert_int_equal(field(&w, k, HD_F_lx_pad), 7);
            for (int64_t n = 0; n < field(&w, k, HD_F_lx_n1); n++)
                for (int64_t b = 0; b < field(&w, k, HD_F_lx_run); b++) {
                    int64_t at = field(&w, k, HD_F_lx_dst) + n * field(&w, k, HD_F_lx_d1) + b;
                    assert_in_range(at, 0, bytes - 1);
                    filled[at]++;
                }
        }
        for (int at = 0; at < (int)bytes; at++) {
            int y = at / CHANNELS / cols % rows - t->pt, x = at / CHANNELS % cols - t->pl;
            bool inside = y >= 0 && y < SIDE && x >= 0 && x < SIDE;
            assert_int_equal(filled[at], !inside);
        }
        drop_row(&r);
    }
}

/* A result with no place in DRAM is not stored; channels of one that has one are runs. */
static void stores_have_runs(void **state) {
    (void)state;
    struct row r;
    struct hd_lowerer w;
    make_lowerer(&r, &w);
    struct hd_view v = {
        .at = 256, .pitch = 4 * CHANNELS, .cp = CHANNELS, .rows = 2, .cols = 4, .y = 1, .x = 3};
    assert_int_equal(hd_lower_store(&w, 0, &v, 0, CHANNELS), HD_OK);
    assert_int_equal(w.s.n_ops, 0);
    r.plan.places[1].in_arena = true, r.plan.places[1].arena = 1024;
    r.plan.places[1].resident = true;
    assert_int_equal(hd_lower_store(&w, 0, &v, 0, CHANNELS), HD_OK);
    assert_int_equal(hd_lower_store(&w, 0, &v, 8, 8), HD_OK);
    int64_t at = 1024 + (1 * SIDE + 3) * CHANNELS;
    assert_int_equal(field(&w, 0, HD_F_st_dst), at);
    assert_int_equal(field(&w, 0, HD_F_st_src), 256);
    assert_int_equal(field(&w, 0, HD_F_st_run), 4 * CHANNELS);
    assert_int_equal(field(&w, 0, HD_F_st_n1), 1);
    assert_int_equal(field(&w, 0, HD_F_st_n2), 2);
    assert_int_equal(field(&w, 1, HD_F_st_dst), at + 8);
    assert_int_equal(field(&w, 1, HD_F_st_src), 256 + 8);
    assert_int_equal(field(&w, 1, HD_F_st_run), 8);
    assert_int_equal(field(&w, 1, HD_F_st_n1), 4);
    v = hd_lower_resident(&r.plan.places[1], 0, 2, 0, 3, SIDE); /* whole rows are one run */
    assert_int_equal(hd_lower_store(&w, 0, &v, 0, CHANNELS), HD_OK);
    assert_int_equal(field(&w, 2, HD_F_st_run), 3 * SIDE * CHANNELS);
    assert_int_equal(field(&w, 2, HD_F_st_n2), 1);
    drop_row(&r);
}

/* Tiles take the banks of AM in turn, and begin anew where a bank ends. */
static void banks_of_accumulators_take_turns(void **state) {
    (void)state;
    struct row r;
    struct hd_lowerer w;
    make_lowerer(&r, &w);
    w.am = (struct hd_ring){.size = 200, .space = HD_SPACE_AM}, w.am_next[1] = 100;
    static const int want[] = {100, 0, 160, 60, 100, 0};
    for (int i = 0; i < 6; i++)
        assert_int_equal(hd_lower_accumulators(&w, i < 2 ? 60 : 40), want[i]);
    drop_row(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_ring_comes_round),
                                       cmocka_unit_test(residents_have_addresses),
                                       cmocka_unit_test(columns_apart_are_two_views),
                                       cmocka_unit_test(loads_have_runs),
                                       cmocka_unit_test(padding_is_around_images),
                                       cmocka_unit_test(stores_have_runs),
                                       cmocka_unit_test(banks_of_accumulators_take_turns)};
    return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
