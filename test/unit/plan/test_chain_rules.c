/* Which neighbours are a chain, which tensors between them roll, and in how many slots: of layers
 * of kinds that differ in what the rules ask for. */
#include "test/unit/plan/layers.h"

static int64_t cycles(const struct hd_layer *l) {
    return l->oc; /* 16 for each pixel, 128 for each row */
}

static void one_chunk(const struct hd_lowering *lo, struct hd_tiling *lt) {
    (void)lo;
    lt->nb = lt->l->nts, lt->weights_stay = true;
}

static const struct hd_kind product = {.name = "product",
                                       .product = true,
                                       .weights = true,
                                       .chains = true,
                                       .pixel_cycles = cycles,
                                       .choose_chunks = one_chunk};
static const struct hd_kind window = {.name = "window", .chains = true, .pixel_cycles = cycles};
static const struct hd_kind sum = {.name = "sum", .chains = true, .pixel_cycles = cycles};
static const struct hd_kind vector = {.name = "vector", .only_vx = true, .pixel_cycles = cycles};

/* Product, window of 3 x 3, product, and a layer that takes no part in chains; `h` rows. */
static void begin(struct row *r, int h) {
    static const struct hd_kind *const kinds[ROW] = {&product, &window, &product, &vector};
    make_row(r);
    for (int i = 0; i <= ROW; i++) r->tensors[i].h = h;
    for (int i = 0; i < ROW; i++) {
        struct hd_layer *l = &r->layers[i];
        l->kind = kinds[i], l->oh = h, l->red = 2, l->pm_words = 1;
    }
    r->layers[1].kh = r->layers[1].kw = 3, r->layers[1].pt = r->layers[1].pl = 1;
}

static void is_chain(const struct row *r, int layer, int first, int last) {
    assert_int_equal(r->plan.tilings[layer].chain_first, first);
    assert_int_equal(r->plan.tilings[layer].chain_last, last);
}

static void neighbours_are_chains(void **state) {
    (void)state;
    struct row r;
    begin(&r, SIDE);
    hd_choose_chains(&r.lo, HD_CHAINS_WHOLE);
    for (int i = 0; i < 3; i++) is_chain(&r, i, 0, 2), assert_int_equal(r.plan.places[i].roll, 0);
    is_chain(&r, 3, 3, 3);
    hd_choose_chains(&r.lo, HD_CHAINS_NONE);
    for (int i = 0; i < ROW; i++) is_chain(&r, i, i, i);
    r.tensors[2].n = 2; /* another number of images */
    hd_choose_chains(&r.lo, HD_CHAINS_WHOLE);
    is_chain(&r, 0, 0, 0), is_chain(&r, 1, 1, 1);
    for (int i = 0; i <= ROW; i++) r.tensors[i].n = 2;
    hd_choose_chains(&r.lo, HD_CHAINS_WHOLE);
    is_chain(&r, 1, 0, 2);
    r.layers[2].step = r.layers[3].step = 1; /* of programs of their own */
    hd_choose_chains(&r.lo, HD_CHAINS_WHOLE);
    is_chain(&r, 0, 0, 1), is_chain(&r, 2, 2, 2);
    r.layers[1].kind = &product; /* of two alike one would wait for the other */
    hd_choose_chains(&r.lo, HD_CHAINS_WHOLE);
    is_chain(&r, 0, 0, 0);
    drop_row(&r);
}

/* Weights of a chain stay on chip together: seven eighths of WM, no word more. */
static void weights_fit_together(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct row r;
        begin(&r, SIDE);
        r.layers[0].nts = r.layers[2].nts = 1;
        r.layers[0].red = (int)hd_wm_words(&r.m) / 8 * 7 - 10, r.layers[2].red = 10 + more;
        hd_choose_chains(&r.lo, HD_CHAINS_WHOLE);
        is_chain(&r, 0, 0, more ? 1 : 2);
        drop_row(&r);
    }
}

/* Neighbours for two units that read nothing of each other take turns. */
static void one_beside_the_other(void **state) {
    (void)state;
    for (int reads = 0; reads < 2; reads++) {
        struct row r;
        begin(&r, SIDE);
        r.layers[0].kind = &vector, r.layers[1].kind = &product;
        r.layers[2].kind = r.layers[3].kind = &vector;
        r.layers[1].in[0] = reads ? 1 : 0;
        hd_choose_chains(&r.lo, HD_CHAINS_WHOLE);
        is_chain(&r, 0, 0, reads ? 0 : 1);
        assert_int_equal(r.plan.tilings[0].beside, !reads);
        assert_false(r.plan.tilings[3].beside);
        drop_row(&r);
    }
}

/* Tiles of two rows take 256 cycles. A window of 3 rows and 2 results reads 4 rows, one of them
 * padding; a tile behind it: 3 + 2 rows, in tiles 6, and padding: 7, in tiles 8. */
static void few_rows_roll(void **state) {
    (void)state;
    struct row r;
    begin(&r, 32);
    hd_choose_chains(&r.lo, HD_CHAINS_ROLLING);
    for (int i = 0; i < 3; i++) assert_int_equal(r.plan.tilings[i].roll_th, 2);
    assert_int_equal(r.plan.tilings[3].roll_th, 0);
    assert_int_equal(r.plan.places[1].roll, 8);
    assert_int_equal(r.plan.places[1].mirror, 2);
    assert_int_equal(r.plan.places[2].roll, 4); /* a tile that is read, one that is written */
    assert_int_equal(r.plan.places[2].mirror, 0);
    assert_int_equal(r.plan.places[0].roll + r.plan.places[3].roll, 0);
    drop_row(&r);
    begin(&r, 32);
    r.plan.tilings[0].finer = 1, r.plan.tilings[0].more_slots = 3;
    hd_choose_chains(&r.lo, HD_CHAINS_ROLLING);
    assert_int_equal(r.plan.tilings[0].roll_th, 1);
    assert_int_equal(r.plan.places[1].roll, 2 + 1 + 1 + 3); /* rows of the image; more slots */
    r.tensors[1].goes_out = true;                           /* then all of it has to be somewhere */
    hd_choose_chains(&r.lo, HD_CHAINS_ROLLING);
    assert_int_equal(r.plan.places[1].roll, 0);
    assert_int_not_equal(r.plan.places[2].roll, 0);
    drop_row(&r);
    begin(&r, 8); /* 8 slots are all rows */
    hd_choose_chains(&r.lo, HD_CHAINS_ROLLING);
    assert_int_equal(r.plan.places[1].roll, 0);
    drop_row(&r);
}

/* A product, a window of 1 x 1, their sum with operand `first` at either place, a product. */
static void begin_sum(struct row *r, int first, bool swapped) {
    begin(r, SIDE);
    r->layers[1].kh = r->layers[1].kw = 1, r->layers[1].pt = r->layers[1].pl = 0;
    r->layers[2].kind = &sum, r->layers[3].kind = &product;
    r->layers[2].in[swapped] = 2, r->layers[2].in[!swapped] = first;
    for (int i = 0; i < 2; i++) r->tensors[i].last = i == first ? 2 : i;
}

/* A sum goes behind one of its branches, when the other is there before; its chain ends there. */
static void branches_meet(void **state) {
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        struct row r;
        begin_sum(&r, 0, swapped);
        hd_choose_chains(&r.lo, HD_CHAINS_ROLLING);
        is_chain(&r, 2, 0, 2), is_chain(&r, 3, 3, 3);
        r.tensors[2].rows = true; /* rows of tokens do not roll */
        hd_choose_chains(&r.lo, HD_CHAINS_ROLLING);
        is_chain(&r, 2, 0, 2), assert_int_equal(r.plan.places[2].roll, 0);
        r.plan.tilings[2].alone = true;
        hd_choose_chains(&r.lo, HD_CHAINS_ROLLING);
        is_chain(&r, 1, 0, 1), is_chain(&r, 2, 2, 2);
        drop_row(&r);
        begin_sum(&r, 1, swapped); /* the chain itself makes the other branch */
        hd_choose_chains(&r.lo, HD_CHAINS_WHOLE);
        is_chain(&r, 1, 0, 1), is_chain(&r, 2, 2, 2);
        drop_row(&r);
        begin_sum(&r, 0, swapped); /* one row for all */
        r.tensors[2].h = 1, r.layers[1].oh = 1;
        hd_choose_chains(&r.lo, HD_CHAINS_WHOLE);
        is_chain(&r, 2, 2, 2);
        drop_row(&r);
    }
}

/* Products behind products, windows of rows and sums within: a deep chain. A product reads windows
 * from a ring of slots, none of which is written twice. Tiles of one row: a product's take 128
 * cycles, and the whole is no shorter than that. */
static void chains_go_deep(void **state) {
    (void)state;
    struct row r;
    begin(&r, 32);
    r.m.xm_bytes = 65536;
    r.layers[0].kind = r.layers[1].kind = &product;
    hd_choose_chains(&r.lo, HD_CHAINS_ROLLING);
    is_chain(&r, 0, 0, 0);
    hd_choose_chains(&r.lo, HD_CHAINS_DEEP);
    for (int i = 0; i < 3; i++) is_chain(&r, i, 0, 2), assert_true(r.plan.tilings[i].deep);
    assert_false(r.plan.tilings[3].deep);
    assert_int_equal(r.plan.places[1].roll, 8); /* as for a window of VX, see above */
    assert_int_equal(r.plan.places[1].mirror, 0);
    assert_int_equal(r.plan.places[2].roll, 4);
    r.plan.tilings[1].alone = true;
    hd_choose_chains(&r.lo, HD_CHAINS_DEEP);
    is_chain(&r, 0, 0, 0), is_chain(&r, 1, 1, 2);
    r.tensors[2].rows = true; /* of tokens */
    hd_choose_chains(&r.lo, HD_CHAINS_DEEP);
    is_chain(&r, 1, 1, 1), is_chain(&r, 2, 2, 2);
    drop_row(&r);
    begin(&r, 32); /* what ROLLING does as well */
    r.m.xm_bytes = 65536;
    hd_choose_chains(&r.lo, HD_CHAINS_DEEP);
    is_chain(&r, 1, 0, 2), assert_false(r.plan.tilings[1].deep);
    drop_row(&r);
}

/* A tensor that the sum at the end reads once more keeps its rows until then: tiles of its own, of
 * the layer between and of the sum. */
static void rows_are_kept(void **state) {
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        struct row r;
        begin_sum(&r, 1, swapped);
        r.m.xm_bytes = 65536;
        for (int i = 0; i <= ROW; i++) r.tensors[i].h = 32;
        for (int i = 0; i < ROW; i++) r.layers[i].oh = 32;
        hd_choose_chains(&r.lo, HD_CHAINS_DEEP);
        const int th = r.plan.tilings[0].roll_th;
        is_chain(&r, 2, 0, 3), assert_true(r.plan.tilings[2].deep);
        assert_int_equal(r.plan.places[1].roll, 3 * th);
        assert_int_equal(r.plan.places[2].roll, 2 * th);
        assert_int_equal(r.plan.places[3].roll, 2 * th);
        r.tensors[1].w++; /* another image */
        hd_choose_chains(&r.lo, HD_CHAINS_DEEP);
        is_chain(&r, 1, 0, 1);
        drop_row(&r);
    }
}

/* XM has room for fewer layers; or for finer tiles. Each time that there was none after all, less
 * is tried. */
static void chains_fit_in_xm(void **state) {
    (void)state;
    struct row r;
    begin(&r, 32);
    r.layers[0].kind = r.layers[1].kind = &product;
    int last = 3, th = 99;
    for (uint32_t bytes = 65536; bytes >= 512; bytes -= 256) {
        r.m.xm_bytes = bytes;
        hd_choose_chains(&r.lo, HD_CHAINS_DEEP);
        int to = r.plan.tilings[0].chain_last, now = r.plan.tilings[0].roll_th;
        assert_true(to < last || (to == last && now <= th));
        last = to, th = now;
    }
    assert_int_equal(last, 0);
    r.m.xm_bytes = 65536;
    int tries = 0;
    for (last = 2; last; tries += 2) {
        r.plan.tilings[0].no_room = tries;
        hd_choose_chains(&r.lo, HD_CHAINS_DEEP);
        assert_in_range(last - r.plan.tilings[0].chain_last, 0, 1);
        last = r.plan.tilings[0].chain_last;
        assert_true(tries < 20);
    }
    drop_row(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_chains), cmocka_unit_test(weights_fit_together),
        cmocka_unit_test(one_beside_the_other),  cmocka_unit_test(few_rows_roll),
        cmocka_unit_test(branches_meet),         cmocka_unit_test(chains_go_deep),
        cmocka_unit_test(rows_are_kept),         cmocka_unit_test(chains_fit_in_xm)};
    return cmocka_run_group_tests_name("chain_rules", tests, NULL, NULL);
}
