/* Depthwise windows larger than vx.dw takes (tile/depthwise.c): the parts are the window, results
 * are golden's where rows are wider than accumulators hold, and it pays. */
#include "compiler/tile/layer.h"
#include "test/unit/tile/golden_iss.h"

enum { MOST = 1 << 17, TAPS = 13 };

/* Every tap in one part, parts that vx.dw takes, PM words of their own. */
static void parts(void **state) {
    (void)state;
    for (int kh = 1; kh <= TAPS; kh++)
        for (int kw = 1; kw <= TAPS; kw++)
            for (int sx = 1; sx <= 3; sx++) {
                struct hd_layer l = {.kh = kh, .kw = kw, .sx = sx};
                int seen[TAPS][TAPS] = {{0}}, pm = 0;
                int64_t vectors = 0;
                for (int i = 0; i < hd_layer_dw_parts(&l); i++) {
                    struct hd_dw_part q = hd_layer_dw_part(&l, i);
                    assert_in_range(q.kh, 1, 4);
                    assert_in_range(q.kw, 1, 3);
                    assert_true(q.pm == pm && sx % q.step == 0);
                    pm += (q.kh * q.kw + 7) / 8;
                    vectors += q.kh * (sx / q.step);
                    for (int t = 0; t < q.kh * q.kw; t++)
                        seen[q.row + t / q.kw][q.col + t % q.kw * q.step]++;
                }
                for (int t = 0; t < TAPS * TAPS; t++)
                    assert_int_equal(seen[t / TAPS][t % TAPS], t / TAPS < kh && t % TAPS < kw);
                if (hd_layer_dw_parts(&l) > 1) vectors += hd_layer_dw_parts(&l);
                assert_int_equal(hd_dw_pixel_vectors(&l), vectors);
            }
}

struct shape {
    int64_t c, h, w, kernel[2], stride[2], pad;
};

static hd_graph *convolution(hd_ctx *ctx, const struct shape *s) {
    static int8_t w[MOST];
    static int32_t bias[256];
    hd_graph *g = hd_graph_create();
    int64_t xd[4] = {1, s->c, s->h, s->w}, wd[4] = {s->c, 1, s->kernel[0], s->kernel[1]}, one = 1;
    int64_t pads[4] = {s->pad, s->pad, s->pad, s->pad}, dilations[2] = {1, 1};
    float scale = 1.0f / (float)(16 * s->kernel[0] * s->kernel[1]);
    for (int i = 0; i < s->c * wd[2] * wd[3]; i++) w[i] = (int8_t)(i * 37 + i / 7);
    for (int i = 0; i < s->c; i++) bias[i] = i * 11 - 300;
    int in[4], y = hd_graph_tensor(g, "y", HD_I8, 0, NULL);
    in[0] = hd_graph_tensor(g, "x", HD_I8, 4, xd);
    in[1] = hd_graph_const(g, "w", HD_I8, 4, wd, w);
    in[2] = hd_graph_const(g, "bias", HD_I32, 1, &s->c, bias);
    in[3] = hd_graph_const(g, "scale", HD_F32, 1, &one, &scale);
    int node = hd_graph_node(g, HD_IR_qconv, "layer", 4, in, 1, &y);
    hd_attr_set_ints(g, node, "kernel_shape", 2, s->kernel);
    hd_attr_set_ints(g, node, "strides", 2, s->stride);
    hd_attr_set_ints(g, node, "dilations", 2, dilations);
    hd_attr_set_ints(g, node, "pads", 4, pads);
    hd_attr_set_int(g, node, "group", s->c);
    hd_attr_set_int(g, node, "x_zp", 5);
    hd_graph_input(g, in[0]);
    hd_graph_output(g, y);
    if (hd_graph_infer(ctx, g) != HD_OK) fail_msg("%s", hd_message(ctx));
    return g;
}

/* Cycles that the compiler estimates. */
static int64_t run(hd_ctx *ctx, const char *machine, const struct shape *s) {
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
    static const struct shape shape[] = {
        {40, 14, 14, {7, 7}, {1, 1}, 3},   {24, 15, 17, {5, 5}, {2, 2}, 2},
        {19, 9, 400, {7, 7}, {1, 1}, 3}, /* more columns than accumulators hold the parts of */
        {64, 20, 20, {9, 9}, {3, 3}, 0},   {16, 5, 700, {1, 9}, {1, 2}, 0},
        {130, 12, 11, {11, 3}, {1, 1}, 4}, {20, 30, 30, {13, 13}, {1, 3}, 6}};
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) run(ctx, machine[i], &shape[k]);
    hd_ctx_destroy(ctx);
}

/* On MX a vector of the result takes 49 cycles (25 for 5x5), here 27 (14): the rest is loading. */
static void pays(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const struct shape seven = {64, 28, 28, {7, 7}, {1, 1}, 3},
                              five = {64, 28, 28, {5, 5}, {2, 2}, 2};
    assert_true(run(ctx, "base", &seven) < 28 * 28 * 4 * 32);
    assert_true(run(ctx, "base", &five) < 14 * 14 * 4 * 25);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts), cmocka_unit_test(results),
                                       cmocka_unit_test(pays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
