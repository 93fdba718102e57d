/* Padding of several tensors is filled at once (mem/padding.c): results are golden's, and layers
 * that have room bring no loads of their own. */
#include "test/unit/tile/convolution.h"

/* 3x3 convolutions of c channels, of every third with stride 2, as many as sizes go. */
static int run(hd_ctx *ctx, const char *machine, int layers, int64_t c, int64_t size,
               bool smaller) {
    hd_graph *g = hd_graph_create();
    int y = add_input(g, c, size, size);
    for (int i = 0; i < layers; i++) {
        int64_t stride = smaller && i % 3 == 2 ? 2 : 1;
        struct conv_shape s = {c, 0, 0, {3, 3}, {stride, stride}, {1, 1}, .oc = c};
        char name[8] = {(char)('a' + i)};
        y = add_convolution(g, y, &s, name);
    }
    hd_model *m = golden_is_iss(ctx, ends_with(ctx, g, y), machine, 64);
    int loads = operations(ctx, m, "lx.load");
    hd_model_destroy(m);
    return loads;
}

static void at_once(void **state) {
    (void)state;
    static const char *const machine[] = {"tiny", "base", "big"};
    hd_ctx *ctx = hd_ctx_create();
    assert_true(run(ctx, "base", 7, 16, 16, false) <= run(ctx, "base", 3, 16, 16, false) + 1);
    assert_true(run(ctx, "base", 8, 16, 24, true) <= run(ctx, "base", 3, 16, 24, true) + 1);
    for (int m = 0; m < 3; m++)
        for (int layers = 2; layers < 9; layers += 3)
            for (int64_t size = 7; size < 40; size += 23)
                for (int smaller = 0; smaller < 2; smaller++)
                    run(ctx, machine[m], layers, 8 + 8 * m * size % 50, size, smaller);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
