/* Short products begin with a part of their reduction (sched/head.c): results are golden's on
 * shapes that no number of rows or chunk divides, and it pays. */
#include "test/unit/tile/golden_iss.h"

enum { MOST = 160 * 160 };

/* y[m,n] = x[m,k] times constant weights. */
static hd_graph *product(hd_ctx *ctx, int64_t m, int64_t k, int64_t n) {
    static int8_t w[MOST];
    static int32_t bias[160];
    hd_graph *g = hd_graph_create();
    int64_t xd[2] = {m, k}, wd[2] = {n, k}, one = 1;
    float scale = 1.0f / (float)(64 * k);
    for (int i = 0; i < n * k; i++) w[i] = (int8_t)(i * 37 + i / 7);
    for (int i = 0; i < n; i++) bias[i] = i * 11 - 300;
    int in[4], y = hd_graph_tensor(g, "y", HD_I8, 0, NULL);
    in[0] = hd_graph_tensor(g, "x", HD_I8, 2, xd);
    in[1] = hd_graph_const(g, "w", HD_I8, 2, wd, w);
    in[2] = hd_graph_const(g, "bias", HD_I32, 1, &n, bias);
    in[3] = hd_graph_const(g, "scale", HD_F32, 1, &one, &scale);
    hd_graph_node(g, HD_IR_qgemm, "layer", 4, in, 1, &y);
    hd_graph_input(g, in[0]);
    hd_graph_output(g, y);
    if (hd_graph_infer(ctx, g) != HD_OK) fail_msg("%s", hd_message(ctx));
    return g;
}

/* Cycles that the compiler estimates. */
static int64_t run(hd_ctx *ctx, const char *machine, int64_t m, int64_t k, int64_t n, int latency) {
    hd_model *model = golden_is_iss(ctx, product(ctx, m, k, n), machine, (uint32_t)latency);
    int64_t cycles = model->steps[0].estimate;
    hd_model_destroy(model);
    return cycles;
}

static void results(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const char *const machine[] = {"tiny", "base", "big"};
    static const int64_t shape[][3] = {{64, 64, 64}, {61, 72, 40}, {48, 100, 96}, {128, 64, 80}};
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < sizeof shape / sizeof *shape; k++)
            run(ctx, machine[i], shape[k][0], shape[k][1], shape[k][2], k % 2 ? 30 : 100);
    hd_ctx_destroy(ctx);
}

/* Without a head 64^3 is 1,357 cycles at latency 30 and 1,566 at 100. */
static void pays(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    assert_true(run(ctx, "base", 64, 64, 64, 30) < 1300);
    assert_true(run(ctx, "base", 64, 64, 64, 100) < 1510);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(results), cmocka_unit_test(pays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
