/* Steps in half precision: against float steps, and the rule of the factor of the loss. */
#include <stdlib.h>
#include <unistd.h>

#include "runtime/train/losses.h"
#include "test/unit/train/steps.h"

static bool differ(const hd_graph *a, const hd_graph *b) {
    for (size_t t = 0; t < a->n_tensors; t++) {
        const struct hd_tensor *x = &a->tensors[t], *y = &b->tensors[t];
        if (x->data && memcmp(x->data, y->data, hd_tensor_bytes(x)) != 0) return true;
    }
    return false;
}

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
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

enum { SCALE_SHARDS = 2, SCALE_RUN = 24, SCALE_GROWS = 3 };

struct scaled { /* a trainer whose loss scale adapts, and its samples */
    hd_trainer *t;
    struct rng rng;
};

static void scaled_open(hd_ctx *ctx, hd_graph *g, const char *device, int shards,
                        struct scaled *s) {
    struct hd_train_options o = options(device, "momentum");
    o.precision = "f16", o.loss_scale = 1 << 24, o.scale_steps = SCALE_GROWS, o.shards = shards;
    *s = (struct scaled){.rng = {7}};
    want_ok(ctx, hd_trainer_open(ctx, g, &o, &s->t));
}

static void scaled_step(hd_ctx *ctx, struct scaled *s) {
    float x[SCALE_SHARDS * BATCH * PIXELS];
    int64_t k[SCALE_SHARDS * BATCH];
    struct hd_train_result out;
    for (int i = 0; i < SCALE_SHARDS; i++)
        random_batch(&s->rng, x + (ptrdiff_t)i * BATCH * PIXELS, k + (ptrdiff_t)i * BATCH);
    want_ok(ctx, hd_trainer_step(ctx, s->t, x, k, &out));
}

/* The factor of the loss follows its rule: what tells a bad step is that no weight moves. */
static void loss_scale_adapts(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    char path[] = "/tmp/heddle_scale_XXXXXX";
    close(mkstemp(path));
    for (int i = 0; i < 4; i++) {
        struct scaled s, again;
        hd_graph *now = NULL, *was = NULL;
        double scale = 1 << 24;
        int good = 0, bad = 0, grown = 0;
        want_ok(ctx, hd_zoo_build(ctx, "mlp:16:16", BATCH, 3, &now));
        want_ok(ctx, hd_graph_copy(ctx, now, &was));
        scaled_open(ctx, now, i % 2 ? "cpu" : "golden", i / 2 ? SCALE_SHARDS : 1, &s);
        for (int k = 0; k < SCALE_RUN; k++) {
            assert_true(hd_trainer_loss_scale(s.t) == scale);
            scaled_step(ctx, &s);
            want_ok(ctx, hd_trainer_weights(ctx, s.t, now));
            bool moved = differ(now, was);
            want_ok(ctx, hd_trainer_weights(ctx, s.t, was));
            good = moved ? good + 1 : 0, bad += !moved;
            if (!moved) scale /= 2;
            if (good < SCALE_GROWS) continue;
            scale *= 2, good = 0, grown++;
        }
        assert_true(bad > 3 && grown > 2);
        want_ok(ctx, hd_trainer_save(ctx, s.t, path));
        scaled_open(ctx, now, i % 2 ? "cpu" : "golden", i / 2 ? SCALE_SHARDS : 1, &again);
        want_ok(ctx, hd_trainer_load(ctx, again.t, path));
        again.rng = s.rng;
        for (int k = 0; k < 2 * SCALE_GROWS; k++) {
            scaled_step(ctx, &s), scaled_step(ctx, &again);
            assert_true(hd_trainer_loss_scale(s.t) == hd_trainer_loss_scale(again.t));
        }
        want_ok(ctx, hd_trainer_weights(ctx, s.t, now));
        want_ok(ctx, hd_trainer_weights(ctx, again.t, was));
        assert_false(differ(now, was));
        hd_trainer_close(s.t), hd_trainer_close(again.t);
        hd_graph_destroy(now), hd_graph_destroy(was);
    }
    unlink(path);
    hd_graph *g = NULL;
    hd_trainer *t = NULL;
    struct hd_train_options o = options("cpu", "sgd");
    o.scale_steps = 100;
    want_ok(ctx, hd_zoo_build(ctx, "mlp", BATCH, 3, &g));
    assert_int_equal(hd_trainer_open(ctx, g, &o, &t), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "scale_steps is 100"));
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(half_precision),
                                       cmocka_unit_test(loss_scale_adapts)};
    return cmocka_run_group_tests_name("half", tests, NULL, NULL);
}
