/* Depthwise windows larger than vx.dw takes (layer/depthwise.c): the parts are the window, results
 * are golden's where rows are wider than accumulators hold, and it pays. */
#include "compiler/search/search.h"
#include "test/unit/plan/convolution.h"

enum { TAPS = 13 };

/* Every tap of a plane in one part, parts that vx.dw takes, PM words of their own. */
static void parts_of(int planes) {
    for (int kh = 1; kh <= TAPS; kh++)
        for (int kw = 1; kw <= TAPS; kw++)
            for (int sx = 1; sx <= 3; sx++) {
                struct hd_layer l = {.kh = kh, .kw = kw, .sx = sx, .planes = planes};
                int seen[HD_PLANES][TAPS][TAPS] = {{{0}}}, pm = 0;
                int64_t vectors = 0;
                for (int i = 0; i < hd_layer_dw_parts(&l); i++) {
                    struct hd_dw_part q = hd_layer_dw_part(&l, i);
                    assert_in_range(q.kh, 1, 4);
                    assert_in_range(q.kw, 1, 3);
                    assert_true(q.pm == pm && sx % q.step == 0);
                    pm += (q.kh * q.kw + 7) / 8;
                    vectors += q.kh * (sx / q.step);
                    for (int t = 0; t < q.kh * q.kw; t++)
                        seen[q.plane][q.row + t / q.kw][q.col + t % q.kw * q.step]++;
                }
                for (int p = 0; p < HD_PLANES; p++)
                    for (int t = 0; t < TAPS * TAPS; t++)
                        assert_int_equal(seen[p][t / TAPS][t % TAPS],
                                         p < planes && t / TAPS < kh && t % TAPS < kw);
                assert_int_equal(hd_dw_pixel_vectors(&l), vectors);
            }
}

/* Windows of one column have the parts of those of one row. */
static void down(void **state) {
    (void)state;
    for (int k = 1; k <= TAPS; k++)
        for (int step = 1; step <= 3; step++) {
            struct hd_layer row = {.kh = 1, .kw = k, .sy = 1, .sx = step, .dx = 1, .planes = 2},
                            column = {.kh = k, .kw = 1, .sy = step, .sx = 1, .dy = 1, .planes = 2};
            column.down = true;
            assert_int_equal(hd_layer_dw_parts(&column), hd_layer_dw_parts(&row));
            for (int i = 0; i < hd_layer_dw_parts(&row); i++) {
                struct hd_dw_part a = hd_layer_dw_part(&row, i), b = hd_layer_dw_part(&column, i);
                assert_memory_equal(&a, &b, sizeof a);
            }
            assert_int_equal(hd_dw_vectors(&column, 20, 3), hd_dw_vectors(&row, 3, 20));
            assert_int_equal(hd_dw_pixel_vectors(&column), hd_dw_pixel_vectors(&row));
        }
}

static void parts(void **state) {
    (void)state;
    for (int planes = 1; planes <= HD_PLANES; planes++) parts_of(planes);
}

/* Cycles that the compiler estimates. */
static int64_t run(hd_ctx *ctx, const char *machine, const struct conv_shape *s) {
    hd_model *model = golden_is_iss(ctx, convolution(ctx, s), machine, 64);
    assert_string_equal(model->layers[0].op, "qconv");
    int64_t cycles = model->steps[0].estimate;
    hd_model_destroy(model);
    return cycles;
}

static void results(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const char *const machine[] = {"tiny", "base", "big"};
    static const struct conv_shape shape[] = {
        {40, 14, 14, {7, 7}, {1, 1}, {3, 3}, .dilation = {1, 1}},
        {24, 15, 17, {5, 5}, {2, 2}, {2, 2}, .dilation = {1, 1}},
        {19, 9, 400, {7, 7}, {1, 1}, {3, 3}, .dilation = {1, 1}}, /* a row fills half of tiny's AM
                                                                   */
        {64, 20, 20, {9, 9}, {3, 3}, {0, 0}, .dilation = {1, 1}},
        {16, 5, 700, {1, 9}, {1, 2}, {0, 0}, .dilation = {1, 1}},
        {130, 12, 11, {11, 3}, {1, 1}, {4, 4}, .dilation = {1, 1}},
        {20, 30, 30, {13, 13}, {1, 3}, {6, 6}, .dilation = {1, 1}},
        /* taps that are not neighbours: every second, third, .. column by itself */
        {40, 14, 14, {3, 3}, {1, 1}, {2, 2}, .dilation = {2, 2}},
        {24, 11, 19, {5, 5}, {1, 1}, {6, 6}, .dilation = {3, 3}},
        {70, 1, 150, {1, 3}, {1, 1}, {0, 4}, .dilation = {1, 4}},
        {16, 30, 5, {3, 2}, {2, 1}, {1, 9}, .dilation = {1, 18}},
        /* one column: windows slide down */
        {40, 98, 1, {9, 1}, {2, 1}, {3, 0}, .dilation = {1, 1}},
        {24, 31, 17, {11, 1}, {1, 1}, {5, 0}, .dilation = {1, 1}},
        {19, 2600, 1, {9, 1}, {1, 1}, {4, 0}, .dilation = {1, 1}}, /* more than tiny's AM holds */
        {16, 60, 7, {5, 1}, {1, 1}, {6, 0}, .dilation = {3, 1}},
        {24, 40, 9, {7, 1}, {3, 2}, {0, 0}, .dilation = {1, 1}},
        {130, 40, 5, {7, 1}, {1, 2}, {3, 0}, .dilation = {1, 1}}, /* fewer columns than vectors */
        {24, 33, 5, {7, 1}, {1, 1}, {3, 0}, .dilation = {1, 1}, .zero = 100}};
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) run(ctx, machine[i], &shape[k]);
    /* XM does not hold the window of a pixel twice: fewer channels at a time */
    static const struct conv_shape wide = {240, 12, 12, {7, 7}, {2, 2}, {3, 3}, .dilation = {1, 1}};
    run(ctx, "base xm_bytes=16384", &wide);
    hd_ctx_destroy(ctx);
}

/* On MX a vector of the result takes 49 cycles (25 for 5x5), here 21 (10): the rest is loading, and
 * what begins and ends rows. */
static void pays(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const struct conv_shape seven = {64, 28, 28, {7, 7}, {1, 1}, {3, 3}, .dilation = {1, 1}},
                                   five = {64, 28, 28, {5, 5}, {2, 2}, {2, 2}, .dilation = {1, 1}};
    assert_true(run(ctx, "base", &seven) < 28 * 28 * 4 * 25);
    assert_true(run(ctx, "base", &five) < 14 * 14 * 4 * 15);
    /* 9 on MX, here 3 and what begins and ends rows */
    static const struct conv_shape dilated = {
        64, 28, 28, {3, 3}, {1, 1}, {2, 2}, .dilation = {2, 2}};
    assert_true(run(ctx, "base", &dilated) < 28 * 28 * 4 * 5);
    /* 9 on MX, here 4 */
    static const struct conv_shape column = {64, 98, 8, {9, 1}, {2, 1}, {3, 0}, .dilation = {1, 1}};
    assert_true(run(ctx, "base", &column) < 49 * 8 * 4 * 7);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts), cmocka_unit_test(down),
                                       cmocka_unit_test(results), cmocka_unit_test(pays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
