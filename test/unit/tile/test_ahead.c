/* Weights of several layers come with one load (sched/ahead.c): results are golden's, and a network
 * has fewer loads than layers with weights. */
#include "test/unit/tile/convolution.h"

/* Convolutions of `c` channels, dense and by windows in turn where `windows` says so. */
static int run(hd_ctx *ctx, const char *machine, int layers, int64_t c, int64_t size,
               bool windows) {
    hd_graph *g = hd_graph_create();
    int y = add_input(g, c, size, size);
    for (int i = 0; i < layers; i++) {
        struct conv_shape s = {c, 0, 0, {3, 3}, {1, 1}, {1, 1}, .oc = windows && i % 2 ? 0 : c};
        char name[8] = {(char)('a' + i)};
        y = add_convolution(g, y, &s, name);
    }
    hd_model *m = golden_is_iss(ctx, ends_with(ctx, g, y), machine, 64);
    int loads = operations(ctx, m, "lw.load");
    hd_model_destroy(m);
    return loads;
}

static void together(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    /* words of the first layers, of the rest; bias and scale of the first, of all: not 16 loads */
    assert_true(run(ctx, "base", 8, 32, 24, false) <= 7);
    assert_true(run(ctx, "base", 8, 32, 24, true) < 2 * 8 - 4);
    static const char *const machine[] = {"tiny", "base", "big"};
    for (int m = 0; m < 3; m++)
        for (int layers = 2; layers < 7; layers += 4)
            for (int64_t c = 24; c < 200; c *= 4)
                for (int w = 0; w < 2; w++) run(ctx, machine[m], layers, c, 5 + 40 / layers, w);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
