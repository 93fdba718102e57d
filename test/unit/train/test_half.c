/* Steps in half precision against float steps. The factor of the loss: test_scale.c. */
#include "runtime/train/losses.h"
#include "test/unit/train/steps.h"

/* A network that ends in its loss. */
static hd_graph *with_loss(hd_ctx *ctx) {
    struct hd_layers l;
    hd_graph *g = NULL;
    int64_t n = BATCH;
    hd_layers_init(&l, ctx, "loss", 3);
    int x = hd_layer_dense(&l, hd_layer_input(&l, "x", 2, (int64_t[]){n, PIXELS}, NULL), 10);
    int k = hd_layer_integers(&l, "classes", 1, &n, NULL);
    int y[2] = {hd_loss_classes(&l, x, k), hd_metric_right(&l, x, k)};
    want_ok(ctx, hd_layers_finish_all(&l, 2, y, &g));
    return g;
}

/* Steps in 16 bits: float weights beside those of golden and cpu, not far from a float step. */
static void half_precision(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const char *const type[] = {"f16", "bf16"};
    for (int i = 0; i < 2; i++) {
        struct hd_train_options exact = options("golden", "sgd"), golden = exact;
        golden.precision = type[i], golden.loss_scale = 64;
        struct hd_train_options cpu = golden, over = golden;
        cpu.device = "cpu";
        hd_graph *a = trained(ctx, "mlp", &exact, 2), *b = trained(ctx, "mlp", &golden, 2);
        hd_graph *c = trained(ctx, "mlp", &cpu, 2);
        compare(type[i], a, b, i ? 0.05 : 0.005);
        compare(type[i], a, c, i ? 0.05 : 0.005);
        /* Gradients that are not finite change nothing. */
        hd_graph *first = NULL;
        want_ok(ctx, hd_zoo_build(ctx, "mlp", BATCH, 3, &first));
        over.loss_scale = 1e39;
        hd_graph *d = trained(ctx, "mlp", &over, 2);
        compare("not finite", first, d, 0);
        hd_graph_destroy(a), hd_graph_destroy(b), hd_graph_destroy(c), hd_graph_destroy(d);
        hd_graph_destroy(first);
    }
    hd_graph *g = with_loss(ctx);
    hd_trainer *t = NULL;
    struct hd_train_options o = options("cpu", "sgd");
    o.precision = "bf16";
    assert_int_equal(hd_trainer_open(ctx, g, &o, &t), HD_UNSUPPORTED);
    o.precision = NULL, o.scale_steps = 100;
    assert_int_equal(hd_trainer_open(ctx, g, &o, &t), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "scale_steps is 100"));
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(half_precision)};
    return cmocka_run_group_tests_name("half", tests, NULL, NULL);
}
