/* Refinement finds the tiles of least price, asks for nothing where nothing is gained, and leaves
 * what it found in the plan; by a kind whose price a reader can count. */
#include <stdlib.h>

#include "test/unit/plan/layers.h"

static int64_t cycles(const struct hd_layer *l) {
    (void)l;
    return 1;
}

static int lowered; /* tiles */

static void vector_op(struct hd_lowerer *w, int64_t vectors) {
    lowered++;
    static const enum hd_field ones[] = {HD_F_vx_n0, HD_F_vx_n1, HD_F_vx_n2};
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    for (int i = 0; i < 3; i++) hd_lower_set(w, ones[i], 1);
    hd_lower_set(w, HD_F_vx_n3, vectors);
    hd_ops_touch(&w->s, HD_SPACE_XM, 0, 64, true);
}

/* As long as tiles are, and longer by 500 for each row above 2. */
static hd_status low_tiles(struct hd_lowerer *w, struct hd_tile *t) {
    vector_op(w, t->th + (t->th > 2 ? 500 * (t->th - 2) : 0));
    return hd_ops_end(&w->s);
}

/* Each tile costs the same, however high it is. */
static hd_status few_tiles(struct hd_lowerer *w, struct hd_tile *t) {
    (void)t;
    vector_op(w, 300);
    return hd_ops_end(&w->s);
}

static const struct hd_kind low = {.name = "low", .pixel_cycles = cycles, .lower = low_tiles};
static const struct hd_kind few = {.name = "few", .pixel_cycles = cycles, .lower = few_tiles};

/* A row of such layers, whose tiles are there; all tensors are on chip. */
static void begin(struct row *r, const struct hd_kind *kind, int bands) {
    make_row(r);
    r->opt.latency_hiding = true, r->opt.mem_latency = 64;
    for (int i = 0; i <= ROW; i++) r->plan.places[i].resident = true;
    for (int i = 0; i < ROW; i++) {
        struct hd_tiling *lt = &r->plan.tilings[i];
        r->layers[i].kind = kind;
        lt->ask_tiles = bands;
        assert_int_equal(hd_choose_tiles(&r->lo, lt).why, HD_FITS);
        assert_int_equal(hd_layer_bands(lt), bands);
    }
}

static void finds_the_least_price(void **state) {
    (void)state;
    for (int bands = 1; bands <= SIDE; bands *= 2)
        for (int way = 0; way < 2; way++) {
            struct row r;
            begin(&r, way ? &low : &few, bands);
            int64_t before = hd_estimate_layers(&r.lo, 0, ROW, INT64_MAX);
            assert_int_equal(hd_refine_tiles(&r.lo), HD_OK);
            int64_t after = hd_estimate_layers(&r.lo, 0, ROW, INT64_MAX);
            /* tiles of two rows; of all */
            for (int i = 0; i < ROW; i++) assert_int_equal(r.plan.tilings[i].th, way ? 2 : SIDE);
            bool best = bands == (way ? SIDE / 2 : 1);
            assert_true(best ? after == before : after < before);
            if (best) /* nothing is gained: what was asked stays */
                for (int i = 0; i < ROW; i++) assert_int_equal(r.plan.tilings[i].ask_tiles, bands);
            drop_row(&r);
        }
}

/* In a long program chains that are alike are searched once, whatever stands around them. */
static void long_programs_look_at_chains_alone(void **state) {
    (void)state;
    int tiles[2];
    for (int is_long = 0; is_long < 2; is_long++) {
        struct row r;
        struct hd_knobs knobs = hd_knobs;
        begin(&r, &low, 4);
        knobs.refine_one = is_long ? 1 : 1000000, r.opt.knobs = &knobs;
        lowered = 0;
        assert_int_equal(hd_refine_tiles(&r.lo), HD_OK);
        tiles[is_long] = lowered;
        for (int i = 0; i < ROW; i++) assert_int_equal(r.plan.tilings[i].th, 2);
        drop_row(&r);
    }
    assert_true(tiles[1] < tiles[0]); /* the first and the last have one neighbour */
}

/* Layers whose tiles come in turn are asked for tiles together. */
static void chains_are_asked_together(void **state) {
    (void)state;
    struct row r;
    begin(&r, &few, SIDE);
    for (int i = 1; i < ROW; i++)
        r.plan.tilings[i].chain_first = 1, r.plan.tilings[i].chain_last = ROW - 1;
    assert_int_equal(hd_refine_tiles(&r.lo), HD_OK);
    for (int i = 0; i < ROW; i++) {
        assert_int_equal(r.plan.tilings[i].ask_tiles, 1);
        assert_int_equal(r.plan.tilings[i].th, SIDE);
    }
    drop_row(&r);
}

/* Requests that differ in what only a recurrent layer has are tried apart. */
static struct hd_refusal choose_ahead(const struct hd_lowering *lo, struct hd_tiling *lt) {
    (void)lo;
    lt->th = SIDE, lt->tw = SIDE, lt->nb = lt->cwb = 1;
    lt->rnn.ahead = lt->ask_tiles;
    return (struct hd_refusal){.why = HD_FITS};
}

static hd_status low_ahead(struct hd_lowerer *w, struct hd_tile *t) {
    (void)t;
    vector_op(w, 5000 + 100 * abs(w->lt->rnn.ahead - 3));
    return hd_ops_end(&w->s);
}

static void recurrent_requests_are_told_apart(void **state) {
    (void)state;
    static const struct hd_kind recurrent = {
        .name = "ahead", .pixel_cycles = cycles, .lower = low_ahead, .choose_tiles = choose_ahead};
    struct row r;
    make_row(&r);
    r.opt.latency_hiding = true, r.opt.mem_latency = 64;
    for (int i = 0; i <= ROW; i++) r.plan.places[i].resident = true;
    for (int i = 0; i < ROW; i++) {
        r.layers[i].kind = &recurrent, r.plan.tilings[i].ask_tiles = 8;
        assert_int_equal(hd_choose_tiles(&r.lo, &r.plan.tilings[i]).why, HD_FITS);
    }
    assert_int_equal(hd_refine_tiles(&r.lo), HD_OK);
    for (int i = 0; i < ROW; i++) assert_int_equal(r.plan.tilings[i].rnn.ahead, 3);
    drop_row(&r);
}

/* As long as tiles are high, at most 2 rows; the last layer takes longer for each row of the first
 * that is gone. */
static hd_status far_away(struct hd_lowerer *w, struct hd_tile *t) {
    int gone = w->l->tag == ROW - 1 && !t->y ? SIDE - w->lo->plan->tilings[0].th : 0;
    vector_op(w, t->th + (t->th > 2 ? 500 * (t->th - 2) : 0) + 3000 * gone);
    return hd_ops_end(&w->s);
}

/* Layer 0 alone would have lower tiles, and the whole would be slower; judged alone, or together
 * with the others. */
static void whole_gets_no_slower(void **state) {
    (void)state;
    static const struct hd_kind far = {.name = "far", .pixel_cycles = cycles, .lower = far_away};
    for (int settle = 1; settle < 1000000; settle += 900000) {
        struct row r;
        begin(&r, &far, 1);
        struct hd_knobs knobs = hd_knobs;
        knobs.settle = settle, r.opt.knobs = &knobs;
        int64_t before = hd_estimate_layers(&r.lo, 0, ROW, INT64_MAX);
        assert_int_equal(hd_refine_tiles(&r.lo), HD_OK);
        assert_true(hd_estimate_layers(&r.lo, 0, ROW, INT64_MAX) < before);
        for (int i = 0; i < ROW; i++) assert_int_equal(r.plan.tilings[i].th, i ? 2 : SIDE);
        drop_row(&r);
    }
}

/* Windows are alike unless something differs that a price depends on. */
static void windows_are_alike(void **state) {
    (void)state;
    struct row r;
    begin(&r, &low, 4);
    const uint64_t one = hd_window_key(&r.lo, 1, 1, 2);
    struct hd_layer *l = &r.layers[2];
    struct hd_tiling *lt = &r.plan.tilings[2];
    struct hd_placement *p = &r.plan.places[3];
    lt->chain_first = lt->chain_last = 2, r.plan.tilings[1].chain_first = 1;
    l->a_imm = 7, l->y.table_at = 4096, p->arena = 512, r.tensors[3].image_at = 64;
    assert_true(hd_window_key(&r.lo, 2, 2, 3) == one);
    int *const differs[] = {&l->oh, &l->kh, &lt->th, &lt->nb, &p->roll, &r.tensors[3].cp};
    for (size_t i = 0; i < sizeof differs / sizeof *differs; i++) {
        ++*differs[i];
        assert_true(hd_window_key(&r.lo, 2, 2, 3) != one);
        --*differs[i];
    }
    p->xm += 64;
    assert_true(hd_window_key(&r.lo, 2, 2, 3) != one);
    drop_row(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_gets_no_slower),
                                       cmocka_unit_test(windows_are_alike),
                                       cmocka_unit_test(finds_the_least_price),
                                       cmocka_unit_test(chains_are_asked_together),
                                       cmocka_unit_test(long_programs_look_at_chains_alone),
                                       cmocka_unit_test(recurrent_requests_are_told_apart)};
    return cmocka_run_group_tests_name("refine", tests, NULL, NULL);
}
