/* Stores as words of WM: every byte of a tensor comes to the lane and word that the product reads
 * it from, whatever part of the tensor is stored at a time. */
#include "test/unit/machine_ops/lowerer.h"

enum { WORDS_AT = 4096, ROWS = 44, PIXEL = 24, GROUP = 20 };

/* What the stores would write: where each byte of the source goes. */
static void run(const struct hd_lowerer *w, int32_t *arena, int64_t n) {
    for (size_t i = 0; i < w->s.n_ops; i++) {
        assert_int_equal(w->s.ops[i].unit, HD_UNIT_st);
        for (int a = 0; a < field(w, i, HD_F_st_n3); a++)
            for (int b = 0; b < field(w, i, HD_F_st_n2); b++)
                for (int c = 0; c < field(w, i, HD_F_st_n1); c++)
                    for (int d = 0; d < field(w, i, HD_F_st_run); d++) {
                        int64_t to = field(w, i, HD_F_st_dst) + a * field(w, i, HD_F_st_d3) +
                                     b * field(w, i, HD_F_st_d2) + c * field(w, i, HD_F_st_d1) + d;
                        int64_t from = field(w, i, HD_F_st_src) + a * field(w, i, HD_F_st_s3) +
                                       b * field(w, i, HD_F_st_s2) + c * field(w, i, HD_F_st_s1) +
                                       d;
                        assert_in_range(to, WORDS_AT, WORDS_AT + n - 1);
                        assert_int_equal(arena[to - WORDS_AT], -1); /* once */
                        arena[to - WORDS_AT] = (int32_t)from;
                    }
    }
}

/* Row y of a group is lane y mod N of its blocks, of K channels a word. */
static int64_t place_of(const struct row *r, int y, int c) {
    int n = (int)r->m.n, k = (int)r->m.k, blocks = (GROUP + n - 1) / n;
    int block = y / GROUP * blocks + y % GROUP / n, lane = y % GROUP % n;
    return ((int64_t)block * (PIXEL / k) + c / k) * n * k + lane * k + c % k;
}

static void every_byte_has_its_place(void **state) {
    (void)state;
    static const struct {
        int y, rows, c, bytes;
    } parts[] = {{0, ROWS, 0, PIXEL}, {3, 30, 0, PIXEL}, {7, 1, 8, 8},
                 {19, 2, 0, 16},      {0, 8, 4, 12},     {20, 24, 2, 3}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct row r;
        struct hd_lowerer w;
        make_lowerer(&r, &w);
        r.tensors[1].cp = PIXEL, r.tensors[1].word_rows = GROUP;
        r.plan.places[1].words = WORDS_AT;
        int64_t n = 3 * 3 * PIXEL * (int64_t)r.m.n; /* groups, blocks of each */
        int32_t *arena = hd_new_array(r.lo.arena, int32_t, (size_t)n);
        for (int64_t k = 0; k < n; k++) arena[k] = -1;
        assert_int_equal(hd_lower_store_words(&w, &r.plan.places[1], 512, 2 * PIXEL, parts[i].y,
                                              parts[i].rows, parts[i].c, parts[i].bytes),
                         HD_OK);
        run(&w, arena, n);
        int64_t written = 0;
        for (int64_t k = 0; k < n; k++) written += arena[k] >= 0;
        assert_int_equal(written, parts[i].rows * parts[i].bytes);
        for (int y = 0; y < parts[i].rows; y++)
            for (int c = 0; c < parts[i].bytes; c++)
                assert_int_equal(arena[place_of(&r, parts[i].y + y, parts[i].c + c)],
                                 512 + y * 2 * PIXEL + c);
        drop_row(&r);
    }
}

/* Blocks of whole lanes are one operation, not one each. */
static void whole_blocks_go_together(void **state) {
    (void)state;
    struct row r;
    struct hd_lowerer w;
    make_lowerer(&r, &w);
    r.tensors[1].word_rows = 64;
    assert_int_equal(hd_lower_store_words(&w, &r.plan.places[1], 0, CHANNELS, 0, 64, 0, CHANNELS),
                     HD_OK);
    assert_int_equal(w.s.n_ops, 1);
    assert_int_equal(field(&w, 0, HD_F_st_n1), r.m.n);
    assert_int_equal(field(&w, 0, HD_F_st_n2), CHANNELS / r.m.k);
    assert_int_equal(field(&w, 0, HD_F_st_n3), 64 / r.m.n);
    drop_row(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_byte_has_its_place),
                                       cmocka_unit_test(whole_blocks_go_together)};
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
