/* The price of layers: of their operations, with the program's beginning where it is theirs; what
 * does not fit has none. */
#include "test/unit/plan/layers.h"

enum { VECTORS = 700 };

/* One operation a tile, of as many vectors as the layer has channels. */
static hd_status one_op(struct hd_lowerer *w, struct hd_tile *t) {
    static const enum hd_field ones[] = {HD_F_vx_n0, HD_F_vx_n1, HD_F_vx_n2};
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    for (int i = 0; i < 3; i++) hd_lower_set(w, ones[i], 1);
    hd_lower_set(w, HD_F_vx_n3, w->l->oc), hd_lower_set(w, HD_F_vx_d, t->y);
    hd_ops_touch(&w->s, HD_SPACE_XM, 0, w->l->own ? INT32_MAX : 64, true);
    return hd_ops_end(&w->s);
}

static const struct hd_kind kind = {.name = "one_op", .lower = one_op};

static void begin(struct row *r) {
    make_row(r);
    r->opt.latency_hiding = true, r->opt.mem_latency = 64;
    for (int i = 0; i < ROW; i++)
        r->layers[i].kind = &kind, r->layers[i].oc = VECTORS, r->plan.tilings[i].th = SIDE;
}

static void layers_add_up(void **state) {
    (void)state;
    struct row r;
    begin(&r);
    int64_t one = hd_estimate_layers(&r.lo, 0, 1), two = hd_estimate_layers(&r.lo, 0, 2);
    assert_true(one > VECTORS);
    assert_in_range(two - one, VECTORS, VECTORS + 32);
    assert_int_equal(r.lo.most_ops, 2);
    r.plan.tilings[0].th = SIDE / 4; /* four tiles */
    assert_in_range(hd_estimate_layers(&r.lo, 0, 1) - one, 3 * VECTORS, 3 * (VECTORS + 32));
    assert_int_equal(r.lo.most_ops, 4);
    hd_estimate_layers(&r.lo, 1, 2);
    assert_int_equal(r.lo.most_ops, 4); /* the most, not the last */
    drop_row(&r);
}

/* Short operations come no faster than their words are fetched, which is felt where they are a
 * program from its beginning: the first layer of a step. */
static void a_program_begins(void **state) {
    (void)state;
    struct row r;
    begin(&r);
    for (int i = 0; i < ROW; i++)
        r.layers[i].oc = 1, r.layers[i].oh = 4096, r.plan.tilings[i].th = 1;
    int64_t next = hd_estimate_layers(&r.lo, 1, 2);
    for (int i = 1; i < ROW; i++) r.layers[i].step = 1;
    assert_true(hd_estimate_layers(&r.lo, 1, 2) > next);
    assert_int_equal(hd_estimate_layers(&r.lo, 2, 3), next);
    drop_row(&r);
}

static void no_room_has_no_price(void **state) {
    (void)state;
    struct row r;
    begin(&r);
    r.opt.plan.text = "plan"; /* only one that was read may want too much */
    r.layers[1].own = &kind;
    assert_true(hd_estimate_layers(&r.lo, 0, 1) < INT64_MAX);
    assert_true(hd_estimate_layers(&r.lo, 0, 2) == INT64_MAX);
    drop_row(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_add_up),
                                       cmocka_unit_test(a_program_begins),
                                       cmocka_unit_test(no_room_has_no_price)};
    return cmocka_run_group_tests_name("price", tests, NULL, NULL);
}
