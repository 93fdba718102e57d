/* Order of tiles: of a layer, of layers in turn, of weight chunks; by a kind that writes down the
 * tiles that it is asked for. */
#include "test/unit/machine_ops/lowerer.h"

enum { MOST = 256 };

static struct {
    struct hd_tile tile[MOST];
    int layer[MOST], n;
} asked;

static hd_status write_down(struct hd_lowerer *w, struct hd_tile *t) {
    assert_true(asked.n < MOST);
    asked.layer[asked.n] = w->l->tag;
    asked.tile[asked.n++] = *t;
    return HD_OK;
}

static int64_t a_cycle(const struct hd_layer *l) {
    (void)l;
    return 1;
}

static const struct hd_kind writes_down = {
    .name = "writes_down", .lower = write_down, .pixel_cycles = a_cycle};

/* A row of layers of that kind, of tiles of 4 x 8 results. */
static void begin(struct row *r) {
    make_row(r);
    asked.n = 0;
    for (int i = 0; i < ROW; i++) r->layers[i].kind = &writes_down, r->plan.tilings[i].th = 4;
}

static void lower(struct row *r, size_t end) {
    struct hd_lowerer *w;
    assert_int_equal(hd_lower_layers(&r->lo, r->lo.arena, 0, 0, end, &w), HD_OK);
}

/* Images, then bands, then columns; the last ones are what is left. */
static void tiles_of_a_layer(void **state) {
    (void)state;
    struct row r;
    begin(&r);
    r.tensors[1].n = 2;
    r.plan.tilings[0].th = 5, r.plan.tilings[0].tw = 6;
    lower(&r, 1);
    assert_int_equal(asked.n, 2 * 2 * 2);
    for (int i = 0; i < asked.n; i++) {
        const struct hd_tile *t = &asked.tile[i];
        assert_int_equal(t->img, i / 4);
        assert_int_equal(t->y, i / 2 % 2 ? 5 : 0), assert_int_equal(t->x, i % 2 ? 6 : 0);
        assert_int_equal(t->th, i / 2 % 2 ? SIDE - 5 : 5);
        assert_int_equal(t->tw, i % 2 ? SIDE - 6 : 6);
        assert_int_equal(t->only_nt, -1);
    }
    drop_row(&r);
}

/* With chunks outside, all tiles come for each of them. */
static void chunks_outside(void **state) {
    (void)state;
    struct row r;
    begin(&r);
    r.layers[0].nts = 5, r.plan.tilings[0].nb = 2, r.plan.tilings[0].chunk_outer = true;
    lower(&r, 1);
    assert_int_equal(asked.n, 3 * 2);
    for (int i = 0; i < asked.n; i++) {
        assert_int_equal(asked.tile[i].only_nt, i / 2 * 2);
        assert_int_equal(asked.tile[i].y, i % 2 * 4);
    }
    drop_row(&r);
}

/* A wave takes each tile with each chunk once, the first tile with the first chunk at the
 * beginning, and never one beyond what has grown so far. Of tiles that a layer before makes both
 * sides grow alike. */
static void wave(bool made) {
    struct row r;
    begin(&r);
    r.layers[0].nts = 6, r.plan.tilings[0].wave = true, r.plan.tilings[0].th = 2;
    if (made) r.tensors[0].def = 0;
    lower(&r, 1);
    int took[4][6] = {{0}}, tiles = 0, chunks = 0;
    assert_int_equal(asked.n, 4 * 6);
    for (int i = 0; i < asked.n; i++) {
        int t = asked.tile[i].y / 2, c = asked.tile[i].only_nt;
        assert_int_equal(asked.tile[i].y % 2, 0);
        assert_true(t <= tiles && c <= chunks);
        tiles = t == tiles ? t + 1 : tiles, chunks = c == chunks ? c + 1 : chunks;
        if (made && tiles < 4) assert_in_range(chunks, tiles - (tiles > 1), tiles + 1);
        assert_int_equal(took[t][c]++, 0);
    }
    drop_row(&r);
}

static void a_wave_grows(void **state) {
    (void)state;
    wave(false);
    wave(true);
}

static void chain(struct row *r, int n) {
    for (int i = 0; i < n; i++)
        r->plan.tilings[i].chain_first = 0, r->plan.tilings[i].chain_last = n - 1;
}

/* Before each tile come the rows that its windows of 3 rows read, and a tile more; not the whole
 * layer before. */
static void layers_in_turn(void **state) {
    (void)state;
    struct row r;
    begin(&r);
    chain(&r, 2);
    r.layers[1].kh = 3, r.layers[1].pt = 1, r.tensors[1].pt = r.tensors[1].pb = 1;
    for (int i = 0; i < 2; i++) r.plan.tilings[i].th = 1;
    lower(&r, 2);
    int rows[2] = {0};
    assert_int_equal(asked.n, 2 * SIDE);
    for (int i = 0; i < asked.n; i++) {
        int k = asked.layer[i], y = asked.tile[i].y;
        assert_int_equal(y, rows[k]++);
        int need = y + 2 < SIDE ? y + 2 : SIDE; /* y - 1 .. y + 1 */
        if (k == 1) assert_in_range(rows[0], need, need + 1);
    }
    drop_row(&r);
}

/* Two layers beside each other: of 2 and 4 tiles one and two at a time. */
static void layers_beside(void **state) {
    (void)state;
    struct row r;
    begin(&r);
    chain(&r, 2);
    r.plan.tilings[0].beside = r.plan.tilings[1].beside = true, r.plan.tilings[1].th = 2;
    lower(&r, 2);
    static const int layer[] = {0, 1, 1, 0, 1, 1};
    assert_int_equal(asked.n, 6);
    for (int i = 0; i < 6; i++) assert_int_equal(asked.layer[i], layer[i]);
    drop_row(&r);
}

/* Only layers of the step that is asked for. */
static void steps_are_apart(void **state) {
    (void)state;
    struct row r;
    begin(&r);
    r.layers[1].step = 1;
    lower(&r, 3);
    assert_int_equal(asked.n, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(asked.layer[i], i / 2 * 2);
    drop_row(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_a_layer), cmocka_unit_test(chunks_outside),
        cmocka_unit_test(a_wave_grows),     cmocka_unit_test(layers_in_turn),
        cmocka_unit_test(layers_beside),    cmocka_unit_test(steps_are_apart)};
    return cmocka_run_group_tests_name("lower", tests, NULL, NULL);
}
