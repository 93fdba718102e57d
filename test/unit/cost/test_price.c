/* The price of layers: of their operations, with the program's beginning where it is theirs; what
 * does not fit has none. */
#include <unistd.h>

#include "compiler/explore/shared.h"
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
    int64_t one = hd_estimate_layers(&r.lo, 0, 1, INT64_MAX),
            two = hd_estimate_layers(&r.lo, 0, 2, INT64_MAX);
    assert_true(one > VECTORS);
    assert_in_range(two - one, VECTORS, VECTORS + 32);
    assert_int_equal(r.lo.most_ops, 2);
    r.plan.tilings[0].th = SIDE / 4; /* four tiles */
    assert_in_range(hd_estimate_layers(&r.lo, 0, 1, INT64_MAX) - one, 3 * VECTORS,
                    3 * (VECTORS + 32));
    assert_int_equal(r.lo.most_ops, 4);
    hd_estimate_layers(&r.lo, 1, 2, INT64_MAX);
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
    int64_t next = hd_estimate_layers(&r.lo, 1, 2, INT64_MAX);
    for (int i = 1; i < ROW; i++) r.layers[i].step = 1;
    assert_true(hd_estimate_layers(&r.lo, 1, 2, INT64_MAX) > next);
    assert_int_equal(hd_estimate_layers(&r.lo, 2, 3, INT64_MAX), next);
    drop_row(&r);
}

static void no_room_has_no_price(void **state) {
    (void)state;
    struct row r;
    begin(&r);
    r.opt.plan.text = "plan"; /* only one that was read may want too much */
    r.layers[1].own = &kind;
    assert_true(hd_estimate_layers(&r.lo, 0, 1, INT64_MAX) < INT64_MAX);
    assert_true(hd_estimate_layers(&r.lo, 0, 2, INT64_MAX) == INT64_MAX);
    drop_row(&r);
}

/* Beats of the port weigh a little: as many as knob traffic says are a cycle. What fills padding
 * moves none. */
enum { BEATS = 256 };
static bool pads;
static hd_status with_load(struct hd_lowerer *w, struct hd_tile *t) {
    hd_lower_begin_load(w, HD_V_seg_arena, 0, 0, BEATS * hd_axi_bytes(w->m));
    if (pads) hd_lower_set(w, HD_F_lx_edge, 1), hd_lower_set(w, HD_F_lx_rows, 0);
    hd_ops_touch(&w->s, HD_SPACE_XM, 0, BEATS * hd_axi_bytes(w->m), true);
    TRY(hd_ops_end(&w->s));
    return one_op(w, t);
}

static int64_t with_traffic(struct row *r, int beats, bool fill) {
    struct hd_knobs knobs = hd_knobs;
    knobs.traffic = beats;
    r->opt.knobs = &knobs, pads = fill;
    int64_t price = hd_estimate_layers(&r->lo, 0, 1, INT64_MAX);
    r->opt.knobs = NULL;
    return price;
}

static void traffic_weighs(void **state) {
    static const struct hd_kind load = {.name = "load", .lower = with_load};
    struct row r;
    (void)state;
    begin(&r);
    r.layers[0].kind = &load;
    int64_t none = with_traffic(&r, 1000000, false), fill = with_traffic(&r, 1000000, true);
    assert_int_equal(with_traffic(&r, 32, false) - none, BEATS / 32);
    assert_int_equal(with_traffic(&r, 1, false) - none, BEATS);
    assert_int_equal(with_traffic(&r, 1, true), fill);
    assert_true(hd_estimate_layers(&r.lo, 0, 1, fill - 1) == INT64_MAX);
    drop_row(&r);
}

enum { TAKEN = 64 };
static int lowered;

/* A tile's words of WM are loaded, then VX works for long while it counts as their reader. */
static hd_status with_words(struct hd_lowerer *w, struct hd_tile *t) {
    int64_t at = hd_ring_take(w, &w->wm, TAKEN);
    lowered++;
    hd_lower_begin(w, HD_UNIT_lw, HD_OP_lw_load);
    hd_lower_set(w, HD_F_lw_mem, HD_V_lw_mem_wm), hd_lower_set(w, HD_F_lw_dst, at);
    hd_lower_set(w, HD_F_lw_count, TAKEN), hd_lower_set(w, HD_F_lw_n1, 1);
    hd_ops_touch(&w->s, HD_SPACE_WM, at, at + TAKEN, true);
    TRY(hd_ops_end(&w->s));
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set(w, HD_F_vx_n0, 1), hd_lower_set(w, HD_F_vx_n1, 1), hd_lower_set(w, HD_F_vx_n2, 1);
    hd_lower_set(w, HD_F_vx_n3, VECTORS), hd_lower_set(w, HD_F_vx_d, t->y);
    hd_ops_touch(&w->s, HD_SPACE_WM, at, at + TAKEN, false);
    return hd_ops_end(&w->s);
}

/* The price with so many words of WM; a kept one where *prices has it. */
static int64_t price_with(struct row *r, int tiles, struct hd_price_memo *prices) {
    r->m.wm_bytes = (uint32_t)tiles * TAKEN * r->m.k * r->m.n;
    r->lo.prices = prices;
    return hd_estimate_layers(&r->lo, 0, 1, INT64_MAX);
}

/* A kept price is of all memories in which no ring comes round, else of those of one size. */
static void kept_where_it_holds(void **state) {
    static const struct hd_kind words = {.name = "words", .lower = with_words};
    struct hd_price_memo *prices = hd_price_memo_create(1024, -1);
    struct row r;
    (void)state;
    begin(&r);
    r.layers[0].kind = &words, r.layers[0].oh = SIDE, r.plan.tilings[0].th = SIDE / 8;
    int64_t one = price_with(&r, 1, NULL), all = price_with(&r, 16, NULL);
    assert_true(one > all); /* loads wait for VX */
    static const struct {
        int tiles;
        bool small, kept;
    } cases[] = {{1, true, false},  {16, false, false}, {8, false, true}, {1, true, true},
                 {32, false, true}, {4, false, false},  {4, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int before = lowered;
        int64_t got = price_with(&r, cases[i].tiles, prices);
        assert_int_equal(lowered == before, cases[i].kept);
        if (cases[i].tiles != 4) assert_int_equal(got, cases[i].small ? one : all);
    }
    drop_row(&r);
    hd_price_memo_destroy(prices);
}

/* What takes more than is asked for has no price. That it takes more is kept, and answers those who
 * ask for as little; others find out how many. The number of operations is told in any case: a plan
 * of a search that knows prices is that of one that does not. */
static void at_most(void **state) {
    static const struct hd_kind words = {.name = "words", .lower = with_words};
    struct row r;
    (void)state;
    begin(&r);
    r.layers[0].kind = &words;
    const int64_t all = hd_estimate_layers(&r.lo, 0, 1, INT64_MAX);
    const size_t ops = r.lo.most_ops;
    assert_true(ops > 0);
    r.lo.prices = hd_price_memo_create(1024, -1);
    const struct {
        int64_t most;
        bool kept;
    } cases[] = {{all / 2, false}, {all / 3, true},   {all / 2, true}, {all - 1, false},
                 {all, false},     {INT64_MAX, true}, {all - 1, true}, {1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int before = lowered;
        r.lo.most_ops = 0;
        int64_t got = hd_estimate_layers(&r.lo, 0, 1, cases[i].most);
        assert_int_equal(got, cases[i].most < all ? INT64_MAX : all);
        assert_int_equal(r.lo.most_ops, ops);
        assert_int_equal(lowered == before, cases[i].kept);
    }
    hd_price_memo_destroy(r.lo.prices);
    drop_row(&r);
}

/* A plan of more operations than are worth a price has none, whether its price is kept or not. */
static void too_many_operations(void **state) {
    struct row r;
    (void)state;
    begin(&r);
    for (int known = 0; known < 2; known++) {
        if (known) r.lo.prices = hd_price_memo_create(1024, -1);
        r.lo.limit_ops = 0;
        const int64_t all = hd_estimate_layers(&r.lo, 0, ROW, INT64_MAX);
        for (size_t limit = 1; limit <= ROW; limit++) {
            r.lo.limit_ops = limit, r.lo.most_ops = 0;
            assert_int_equal(hd_estimate_layers(&r.lo, 0, ROW, INT64_MAX),
                             limit < ROW ? INT64_MAX : all);
        }
    }
    struct hd_lowerer *w;
    hd_arena *a = hd_arena_create();
    r.lo.limit_ops = 1; /* lowering ends at the next layer, so that no more are in memory */
    assert_int_equal(hd_lower_layers(&r.lo, a, r.layers[0].step, 0, ROW, &w), HD_UNSUPPORTED);
    assert_int_equal(w->s.n_ops, 2);
    hd_arena_destroy(a);
    hd_price_memo_destroy(r.lo.prices);
    drop_row(&r);
}

static uint64_t key_of(uint64_t i) {
    return i * UINT64_C(0x9E3779B97F4A7C15);
}

/* What does not fit into the table any more takes the place of others. */
static void a_full_table_forgets(void **state) {
    struct hd_price_memo *prices = hd_price_memo_create(8, -1);
    const struct hd_machine *m = &hd_machines[0];
    struct hd_price got;
    int found = 0;
    (void)state;
    for (uint64_t i = 1; i < 100; i++) {
        const struct hd_price p = {.cycles = (int64_t)(1000 + i)};
        hd_price_memo_put(prices, key_of(i), m, p);
        assert_true(hd_price_memo_get(prices, key_of(i), m, INT64_MAX, &got));
        assert_int_equal(got.cycles, 1000 + i);
    }
    for (uint64_t i = 1; i < 100; i++) {
        if (!hd_price_memo_get(prices, key_of(i), m, INT64_MAX, &got)) continue;
        assert_int_equal(got.cycles, 1000 + i);
        found++;
    }
    assert_in_range(found, 1, 8);
    hd_price_memo_destroy(prices);
}

/* The largest memories, and more operations than an entry can tell. */
static void all_of_it_is_kept(void **state) {
    struct hd_price_memo *prices = hd_price_memo_create(8, -1);
    struct hd_machine m = hd_machines[0];
    (void)state;
    m.k = m.n = 8, m.wm_bytes = 16u << 20, m.pm_bytes = 1u << 20;
    struct hd_price p = {INT64_C(1) << 40, hd_wm_words(&m), hd_pm_words(&m), 1u << 30, true, false},
                    got;
    hd_price_memo_put(prices, key_of(3), &m, p);
    assert_true(hd_price_memo_get(prices, key_of(3), &m, INT64_MAX, &got));
    assert_int_equal(got.cycles, p.cycles);
    assert_int_equal(got.wm, p.wm);
    assert_int_equal(got.pm, p.pm);
    assert_int_equal(got.ops, (1u << 28) - 1);
    hd_price_memo_destroy(prices);
}

/* Ranks of one computer have one table; a file that is another process's is not taken for it. */
static void ranks_share(void **state) {
    struct hd_prices_file file, other;
    const struct hd_machine *m = &hd_machines[0];
    const struct hd_price p = {.cycles = 77};
    struct hd_price got;
    (void)state;
    struct hd_price_memo *one = hd_prices_make(&file), *same = hd_prices_share(&file);
    assert_true(file.fd >= 0);
    other = file;
    other.label++;
    struct hd_price_memo *apart = hd_prices_share(&other);
    hd_price_memo_put(one, key_of(5), m, p);
    assert_true(hd_price_memo_get(same, key_of(5), m, INT64_MAX, &got));
    assert_int_equal(got.cycles, 77);
    assert_false(hd_price_memo_get(apart, key_of(5), m, INT64_MAX, &got));
    close((int)file.fd);
    hd_price_memo_destroy(one), hd_price_memo_destroy(same), hd_price_memo_destroy(apart);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_add_up),        cmocka_unit_test(a_program_begins),
        cmocka_unit_test(no_room_has_no_price), cmocka_unit_test(traffic_weighs),
        cmocka_unit_test(kept_where_it_holds),  cmocka_unit_test(at_most),
        cmocka_unit_test(too_many_operations),  cmocka_unit_test(a_full_table_forgets),
        cmocka_unit_test(all_of_it_is_kept),    cmocka_unit_test(ranks_share)};
    return cmocka_run_group_tests_name("price", tests, NULL, NULL);
}
