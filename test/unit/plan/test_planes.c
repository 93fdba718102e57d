/* Weights of 9 bits: planes of bytes add up to them (layer/planes.c), layers of every kind with
 * such weights are on the machine and compute what golden does. */
#include "compiler/search/search.h"
#include "test/unit/plan/convolution.h"

static void add_up(void **state) {
    (void)state;
    static const int16_t most[][3] = {{-128, 127, 1}, {-1, 128, 2}, {-129, 0, 2}, {-255, 254, 2},
                                      {-1, 255, 3},   {-256, 1, 2}, {-257, 1, 3}, {0, 382, 4},
                                      {0, 0, 1},      {-385, 5, 4}};
    struct hd_lowering lo = {.arena = hd_arena_create()};
    for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
        int16_t v[640];
        int n = 0;
        for (int16_t i = most[k][0]; i <= most[k][1]; i++) v[n++] = i;
        struct hd_tensor w = {.dtype = HD_I16, .rank = 1, .dim = {n}, .data = v};
        int planes = hd_weight_planes(&w);
        assert_int_equal(planes, most[k][2]);
        const int8_t *bytes = hd_weight_bytes(&lo, &w, planes);
        for (int i = 0; i < n; i++) {
            int sum = 0;
            for (int p = 0; p < planes; p++) sum += bytes[p * n + i];
            assert_int_equal(sum, v[i]);
        }
    }
    struct hd_tensor plain = {.dtype = HD_I8, .data = most}, wide = {.dtype = HD_F32};
    assert_int_equal(hd_weight_planes(&plain), 1);
    assert_ptr_equal(hd_weight_bytes(&lo, &plain, 1), most);
    assert_true(hd_weight_planes(&wide) > HD_PLANES);
    hd_arena_destroy(lo.arena);
}

static void results(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const char *const machine[] = {"tiny", "base", "big", "base k=32 n=8",
                                          "base wm_bytes=16384"};
    static const struct conv_shape shape[] = {
        {40, 14, 14, {3, 3}, {1, 1}, {1, 1}, .oc = 50, .zero = 117},
        {64, 7, 9, {1, 1}, {1, 1}, {0, 0}, .oc = 33, .zero = 1},     /* up to 254 */
        {16, 12, 10, {3, 3}, {2, 2}, {1, 1}, .oc = 20, .zero = 255}, /* all below 1 */
        {3, 40, 40, {3, 3}, {2, 2}, {1, 1}, .oc = 32, .zero = 140},  /* packed pixels */
        {3, 37, 32, {7, 7}, {2, 2}, {3, 3}, .oc = 24, .zero = 110},  /* gathered or packed */
        {300, 8, 8, {3, 3}, {1, 1}, {1, 1}, .oc = 40, .zero = 120},  /* parts of the reduction */
        {256, 1, 1, {1, 1}, {1, 1}, {0, 0}, .oc = 200, .zero = 120}, /* a product that waits for
                                                                        memory */
        {20, 9, 9, {4, 4}, {2, 2}, {1, 1}, .oc = 24, .zero = 130, .ups = 1},
        {12, 6, 7, {2, 2}, {3, 3}, {0, 0}, .oc = 9, .zero = 100, .ups = 1}, /* pixels without taps
                                                                             */
        {40, 14, 14, {3, 3}, {1, 1}, {1, 1}, .zero = 117},                  /* depthwise */
        {24, 15, 17, {3, 3}, {2, 2}, {1, 1}, .zero = 5},
        {32, 20, 20, {5, 5}, {1, 1}, {2, 2}, .zero = 150},
        {40, 14, 14, {3, 3}, {1, 1}, {2, 2}, .dilation = {2, 2}, .zero = 117}};
    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
        for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
            hd_model *m = golden_is_iss(ctx, convolution(ctx, &shape[k]), machine[i], 64);
            assert_int_equal(m->n_host_ops, 0);
            hd_model_destroy(m);
        }
    hd_ctx_destroy(ctx);
}

static int64_t estimate(hd_ctx *ctx, const struct conv_shape *s, const char *machine) {
    hd_model *m = golden_is_iss(ctx, convolution(ctx, s), machine, 64);
    int64_t cycles = 0;
    for (int i = 0; i < m->n_steps; i++) cycles += m->steps[i].estimate;
    assert_int_equal(m->n_host_ops, 0);
    hd_model_destroy(m);
    return cycles;
}

/* Few weights are more than a byte: what they add is small beside the layer of bytes. */
static void few_words(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const char *const machine[] = {"tiny", "base", "base k=32 n=8", "base wm_bytes=16384"};
    static const struct conv_shape shape[] = {
        {40, 28, 28, {3, 3}, {1, 1}, {1, 1}, .oc = 50, .zero = 117, .few = 401},
        {64, 27, 29, {1, 1}, {1, 1}, {0, 0}, .oc = 33, .zero = 1, .few = 301},
        {3, 40, 40, {3, 3}, {2, 2}, {1, 1}, .oc = 32, .zero = 140, .few = 101}, /* packed pixels */
        {300, 16, 16, {3, 3}, {1, 1}, {1, 1}, .oc = 40, .zero = 120, .few = 2003},
        {20, 19, 19, {4, 4}, {2, 2}, {1, 1}, .oc = 24, .zero = 130, .few = 301, .ups = 1},
        {512, 1, 1, {1, 1}, {1, 1}, {0, 0}, .oc = 500, .zero = 60, .few = 1999}, /* waits for
                                                                                     memory */
        {128, 14, 14, {3, 3}, {1, 1}, {1, 1}, .zero = 117, .few = 101},          /* depthwise */
        {96, 20, 20, {5, 5}, {1, 1}, {2, 2}, .zero = 150, .few = 501}};
    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
        for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
            struct conv_shape bytes = shape[k];
            bytes.zero = 0;
            int64_t wide = estimate(ctx, &shape[k], machine[i]),
                    plain = estimate(ctx, &bytes, machine[i]);
            assert_true(wide < plain * 3 / 2);
        }
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(add_up), cmocka_unit_test(results),
                                       cmocka_unit_test(few_words)};
    return cmocka_run_group_tests_name("planes", tests, NULL, NULL);
}
