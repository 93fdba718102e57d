/* Layers whose tiles are issued in turn, and first layers whose pixels come twice: results are
 * golden's, and both pay. */
#include "test/unit/plan/convolution.h"

static int64_t run(hd_ctx *ctx, const char *machine, hd_graph *g) {
    hd_model *model = golden_is_iss(ctx, g, machine, 64);
    assert_int_equal(model->n_host_ops, 0);
    int64_t cycles = model->steps[0].estimate;
    hd_model_destroy(model);
    return cycles;
}

/* A convolution of 32 channels, 1x1 to oc of h x h; a pool of it, another one of that; the
 * first one's result goes out, too. */
static hd_graph *pooled(hd_ctx *ctx, int64_t h, int64_t oc, int64_t kernel, int64_t stride,
                        bool pools, bool two) {
    hd_graph *g = hd_graph_create();
    struct conv_shape first = {32, h, h, {3, 3}, {1, 1}, {1, 1}, .oc = oc},
                      last = {oc, 0, 0, {1, 1}, {1, 1}, {0, 0}, .oc = 16};
    int y = add_convolution(g, add_input(g, 32, h, h), &first, "first");
    if (!pools) return ends_with(ctx, g, y);
    if (two) hd_graph_output(g, y);
    y = add_pool(g, y, (int64_t[]){kernel, kernel}, (int64_t[]){stride, stride}, kernel / 2);
    return ends_with(ctx, g, add_convolution(g, y, &last, "last"));
}

/* VX takes the maxima while MX works on the next rows: 56x56x64, 9 vectors for each of 28x28x4 of
 * a result, cost little more than the convolution alone. On tiny the tensor between goes to DRAM
 * and back. Strides that leave rows out, windows that end in the middle. */
static void pools_beside_products(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    int64_t alone = run(ctx, "base", pooled(ctx, 56, 64, 3, 2, false, false));
    int64_t maxima = 28 * 28 * 4 * 9, last = 28 * 28 * 4;
    int64_t both = run(ctx, "base", pooled(ctx, 56, 64, 3, 2, true, false));
    assert_true(both < alone + last + maxima / 4);
    static const char *const machines[] = {"tiny", "base", "big"};
    for (int m = 0; m < 3; m++)
        for (int64_t kernel = 1; kernel <= 4; kernel++)
            for (int64_t stride = 1; stride <= 8; stride *= 2)
                for (int two = 0; two < 2; two++)
                    run(ctx, machines[m], pooled(ctx, 38, 72, kernel, stride, true, two));
    hd_ctx_destroy(ctx);
}

/* Rows of padding below a rolling tensor take the place of rows that nothing reads any more. */
static void padding_below(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const struct conv_shape wide = {2, 20, 33, {1, 1}, {1, 1}, {0, 0}, .oc = 48},
                                   window = {48, 0, 0, {7, 7}, {1, 1}, {3, 3}, .oc = 0},
                                   last = {48, 0, 0, {1, 1}, {1, 1}, {0, 0}, .oc = 19};
    hd_graph *g = hd_graph_create();
    int y = add_convolution(g, add_input(g, 2, 20, 33), &wide, "wide");
    y = add_convolution(g, add_convolution(g, y, &window, "window"), &last, "last");
    run(ctx, "tiny", ends_with(ctx, g, y));
    hd_ctx_destroy(ctx);
}

/* 1x1 to six times the channels, windows of stride 2, 1x1 to few. */
static hd_graph *narrowed(hd_ctx *ctx, int64_t h, int64_t w, int64_t c, const int64_t kernel[2],
                          int64_t pad) {
    struct conv_shape wide = {c, h, w, {1, 1}, {1, 1}, {0, 0}, .oc = 6 * c},
                      window = {6 * c, 0, 0, {kernel[0], kernel[1]}, {2, 2}, {pad, pad}, .oc = 0},
                      last = {6 * c, 0, 0, {1, 1}, {1, 1}, {0, 0}, .oc = c};
    hd_graph *g = hd_graph_create();
    int y = add_convolution(g, add_input(g, c, h, w), &wide, "wide");
    y = add_convolution(g, add_convolution(g, y, &window, "window"), &last, "last");
    return ends_with(ctx, g, y);
}

/* Even and odd columns of a rolling tensor lie in banks of their own, so that windows of stride 2
 * take a cycle for two. Rows of an odd number of columns have one more of the even ones. */
static void two_columns_a_cycle(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    int64_t cycles = run(ctx, "base", narrowed(ctx, 112, 112, 16, (int64_t[]){3, 3}, 1));
    /* bytes of the first layer, windows at a column a cycle, bytes of the last: what VX would do */
    assert_true(cycles < 112 * 112 * 6 + 56 * 56 * 6 * 6 + 56 * 56);
    static const struct {
        const char *machine;
        int64_t h, w, c;
    } sizes[] = {{"tiny", 31, 43, 4}, {"base", 63, 60, 8}, {"big", 95, 71, 16}};
    for (int m = 0; m < 3; m++)
        for (int64_t kernel = 1; kernel <= 4; kernel++)
            for (int64_t more = 0; more < 4; more++) {
                int64_t window[2] = {kernel, 2 + kernel % 2};
                hd_model *model = golden_is_iss(
                    ctx, narrowed(ctx, sizes[m].h, sizes[m].w + more, sizes[m].c, window, more / 2),
                    sizes[m].machine, 64);
                bool apart = false;
                for (int i = 0; i < model->n_places; i++) apart = apart || model->places[i].apart;
                assert_true(apart || kernel != 3);
                hd_model_destroy(model);
            }
    hd_ctx_destroy(ctx);
}

/* Of 4 pixels a word every second window of 3, with stride 1 or 2, is in two words; of words that
 * begin 2 pixels later it is in one. */
static void pixels_come_twice(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (int64_t stride = 1; stride <= 2; stride++) {
        struct conv_shape s = {3, 96, 96, {3, 3}, {stride, stride}, {1, 1}, .oc = 32};
        int64_t pixels = 96 / stride * (96 / stride), products = pixels * 2 * 3;
        assert_true(run(ctx, "base", convolution(ctx, &s)) < products * 11 / 10 + 1000);
    }
    static const char *const machines[] = {"tiny", "base", "big"};
    for (int m = 0; m < 3; m++)
        for (int64_t c = 1; c <= 4; c++)
            for (int64_t kw = 2; kw <= 7; kw++) {
                struct conv_shape s = {c, 21, 43, {3, kw}, {2, 1 + kw % 2}, {1, kw / 2}, .oc = 40};
                run(ctx, machines[m], convolution(ctx, &s));
                s.dilation[1] = 2;
                run(ctx, machines[m], convolution(ctx, &s));
            }
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_beside_products), cmocka_unit_test(padding_below),
        cmocka_unit_test(two_columns_a_cycle), cmocka_unit_test(pixels_come_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
