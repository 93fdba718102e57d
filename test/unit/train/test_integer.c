/* Training through integers: values of a step are those of the file that it would write, bit for
 * bit; gradients go straight through rounding and stop outside of the range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "cpu_ref/golden.h"
#include "runtime/train/graph.h"
#include "runtime/train/train.h"
#include "test/rng.h"

/* A convolution with relu, a sum, a mean, a matmul (which legalisation transposes), a dense layer:
 * scales that are no powers of two, so that float sums round elsewhere than integers. */
static const char network[] =
    "graph t {\n"
    "  input x f32[1,2,4,4]\n"
    "  const s f32[] = {0.0173}\n"
    "  const z i8[] = {-7}\n"
    "  const w i8[2,2,2,2] = {10, -20, 30, 40, -50, 60, 70, -80, 9, 8, 7, -6, 5, 4, -127, 127}\n"
    "  const ws f32[2] = {0.011, 0.0037}\n"
    "  const wz i8[2] = {0, 0}\n"
    "  const b i32[2] = {40, -9}\n"
    "  const bs f32[2] = {0.0001903, 0.00006401}\n"
    "  const bz i32[2] = {0, 0}\n"
    "  const s2 f32[] = {0.0091}\n"
    "  const z2 i8[] = {-128}\n"
    "  const m i8[2,3] = {100, -90, 80, 70, 60, -50}\n"
    "  const ms f32[] = {0.0123}\n"
    "  const z0 i8[] = {0}\n"
    "  const s3 f32[] = {0.0301}\n"
    "  xq ? = quantize(x, s, z)\n"
    "  xd ? = dequantize(xq, s, z)\n"
    "  wd ? = dequantize(w, ws, wz) axis=0\n"
    "  bd ? = dequantize(b, bs, bz) axis=0\n"
    "  c ? = conv(xd, wd, bd) kernel_shape=[2,2] strides=[1,1] pads=[0,0,1,1]\n"
    "  r ? = relu(c)\n"
    "  rq ? = quantize(r, s2, z2)\n"
    "  rd ? = dequantize(rq, s2, z2)\n"
    "  a ? = add(rd, xd)\n"
    "  aq ? = quantize(a, s3, z0)\n"
    "  ad ? = dequantize(aq, s3, z0)\n"
    "  p ? = avgpool(ad) global=1\n"
    "  pq ? = quantize(p, s3, z0)\n"
    "  pd ? = dequantize(pq, s3, z0)\n"
    "  f ? = reshape(pd) shape=[1,2]\n"
    "  md ? = dequantize(m, ms, z0)\n"
    "  y ? = matmul(f, md)\n"
    "  yq ? = quantize(y, s3, z)\n"
    "  yd ? = dequantize(yq, s3, z)\n"
    "  output yd\n"
    "}\n";
static const struct hd_train_options plain = {.integers = true},
                                     learned = {.integers = true, .ranges = 1};
enum { BATCH = 5, IN = 32, CLASSES = 3 };

static void want_ok(hd_ctx *ctx, hd_status s) {
    if (s != HD_OK) fail_msg("%s", hd_message(ctx));
}

static hd_graph *parsed(hd_ctx *ctx, int64_t batch) {
    hd_graph *g = NULL;
    want_ok(ctx, hd_graph_parse(ctx, network, "t", &g));
    want_ok(ctx, hd_graph_infer(ctx, g));
    if (batch > 1) want_ok(ctx, hd_graph_batch(ctx, g, batch));
    return g;
}

static const struct hd_tensor *value(const hd_graph *g, const struct hd_tensor *t,
                                     const char *name) {
    int id = hd_tensor_by_name(g, name);
    if (id < 0 || !t[id].data) fail_msg("no value of '%s'", name);
    return &t[id];
}

struct step { /* the graph of a step, and a run of it */
    hd_graph *g;
    hd_arena *a;
    struct hd_trained w;
    struct hd_tensor *t;
    int logits;
};

static struct step made(hd_ctx *ctx) {
    struct step s = {.g = parsed(ctx, BATCH), .a = hd_arena_create()};
    struct hd_train_options o = {.device = "golden", .integers = true};
    o.optimizer = hd_optimizer_default(HD_OPTIMIZER_sgd);
    s.logits = s.g->outputs[0];
    want_ok(ctx, hd_train_graph(ctx, s.g, &o, NULL, s.a, &s.w));
    s.t = hd_golden_tensors(s.g, s.a);
    for (size_t i = 0; i < s.g->n_inputs; i++)
        s.t[s.g->inputs[i]].data = s.g->tensors[s.g->inputs[i]].initial;
    return s;
}

static void run(hd_ctx *ctx, struct step *s, const float *x, const int64_t *classes) {
    s->t[s->g->inputs[0]].data = x;
    s->t[s->g->inputs[1]].data = classes;
    want_ok(ctx, hd_golden_eval(ctx, s->g, NULL, 0, s->t, s->a));
}

/* Values of weights move, are written into the file, and the legal network of that computes what
 * the step computes. */
static void bit_equal(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct rng r = {5};
    int64_t classes[BATCH] = {0, 1, 2, 1, 0};
    for (int round = 0; round < 20; round++) {
        struct step s = made(ctx);
        hd_graph *file = parsed(ctx, BATCH);
        float x[BATCH * IN];
        for (int i = 0; i < BATCH * IN; i++) x[i] = (float)(int)(rng_next(&r) % 401 - 200) * 0.013f;
        assert_int_equal(s.w.n, 3);
        assert_int_equal(s.w.frozen, 0);
        for (int i = 0; i < s.w.n && round; i++) {
            const struct hd_tensor *w = &s.g->tensors[s.w.w[i]];
            float *v = hd_dup(s.a, w->initial, hd_tensor_bytes(w));
            for (int64_t k = 0; k < hd_tensor_elems(w); k++)
                v[k] *= 1 + (float)(int)(rng_next(&r) % 201 - 100) * 0.003f;
            s.t[s.w.w[i]].data = v;
            want_ok(ctx, hd_integer_store(ctx, file, w->name, v, hd_tensor_elems(w)));
        }
        run(ctx, &s, x, classes);
        want_ok(ctx, hd_legalize(ctx, file));
        struct hd_tensor *t = hd_golden_tensors(file, s.a);
        t[file->inputs[0]].data = x;
        want_ok(ctx, hd_golden_eval(ctx, file, NULL, 0, t, s.a));
        const struct hd_tensor *want = &t[file->outputs[0]], *got = &s.t[s.logits];
        assert_int_equal(hd_tensor_elems(got), BATCH * CLASSES);
        assert_memory_equal(got->data, want->data, BATCH * CLASSES * sizeof(float));
        hd_graph_destroy(file);
        hd_graph_destroy(s.g);
        hd_arena_destroy(s.a);
    }
    hd_ctx_destroy(ctx);
}

/* The loss falls, and what the trainer writes is a file of the same scales. */
static void learns(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = parsed(ctx, BATCH), *one = parsed(ctx, 1);
    struct hd_train_options o = {.device = "golden", .integers = true};
    o.optimizer = hd_optimizer_default(HD_OPTIMIZER_adam);
    o.optimizer.rate = 0.02;
    hd_trainer *t = NULL;
    struct rng r = {9};
    float x[BATCH * IN];
    int64_t classes[BATCH] = {0, 1, 2, 1, 0};
    struct hd_train_result first, last;
    for (int i = 0; i < BATCH * IN; i++)
        x[i] = (float)(int)(rng_next(&r) % 200) * 0.01f * (float)(classes[i / IN] - 1);
    want_ok(ctx, hd_trainer_open(ctx, g, &o, &t));
    want_ok(ctx, hd_trainer_step(ctx, t, x, classes, &first));
    for (int i = 0; i < 60; i++) want_ok(ctx, hd_trainer_step(ctx, t, x, classes, &last));
    assert_true(last.loss < 0.7f * first.loss);
    const struct hd_tensor *w = &one->tensors[hd_tensor_by_name(one, "w")];
    const void *before = w->data;
    want_ok(ctx, hd_trainer_weights(ctx, t, one));
    assert_memory_not_equal(w->data, before, hd_tensor_bytes(w));
    hd_trainer_close(t);
    hd_graph_destroy(g);
    hd_graph_destroy(one);
    hd_ctx_destroy(ctx);
}

/* A pixel beyond the range of every scale: nothing that it goes into has a gradient by the value
 * that saturated. */
static void saturates(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = parsed(ctx, 1);
    hd_arena *a = hd_arena_create();
    struct hd_back b = {.ctx = ctx, .g = g, .arena = a, .prefix = "t"};
    struct hd_through_list through = {.a = a};
    struct hd_trained w = {.w = hd_new_array(a, int, g->n_tensors + 1)};
    int y = g->outputs[0], dx = -1;
    want_ok(ctx, hd_integer_twins(&b, &plain, &w, &through));
    want_ok(ctx, hd_grad_straight(ctx, g, y, &g->inputs[0], 1, through.of, (int)through.n, &dx));
    float x[IN] = {[4] = 100, [5] = 0.1f};
    struct hd_tensor *t = hd_golden_tensors(g, a);
    for (int i = 0; i < w.n; i++) t[w.w[i]].data = g->tensors[w.w[i]].data;
    t[g->inputs[0]].data = x;
    want_ok(ctx, hd_golden_eval(ctx, g, NULL, 0, t, a));
    const float *d = t[dx].data;
    assert_true(d[4] == 0.0f);
    assert_true(d[5] != 0.0f);
    assert_true(value(g, t, "xd")->dtype == HD_F32);
    hd_arena_destroy(a);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* One product: a value that is too large, one that is too small, two that round. */
static const char product[] = "graph p {\n"
                              "  input x f32[1,2]\n"
                              "  const s f32[] = {0.5}\n"
                              "  const z i8[] = {0}\n"
                              "  const w i8[2,4] = {127, -127, 10, 3, 5, -5, 7, 11}\n"
                              "  const ws f32[] = {0.013}\n"
                              "  const sy f32[] = {0.021}\n"
                              "  xq ? = quantize(x, s, z)\n"
                              "  xd ? = dequantize(xq, s, z)\n"
                              "  wd ? = dequantize(w, ws, z)\n"
                              "  y ? = matmul(xd, wd)\n"
                              "  yq ? = quantize(y, sy, z)\n"
                              "  yd ? = dequantize(yq, sy, z)\n"
                              "  output yd\n"
                              "}\n";

/* The derivative by the factor of a scale: the error of rounding, or the end of the range. */
static void range_gradient(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    hd_arena *a = hd_arena_create();
    want_ok(ctx, hd_graph_parse(ctx, product, "p", &g));
    want_ok(ctx, hd_graph_infer(ctx, g));
    struct hd_back b = {.ctx = ctx, .g = g, .arena = a, .prefix = "t"};
    struct hd_through_list through = {.a = a};
    struct hd_trained w = {.w = hd_new_array(a, int, g->n_tensors + 1)};
    int y = g->outputs[0], d = -1;
    want_ok(ctx, hd_integer_twins(&b, &learned, &w, &through));
    assert_int_equal(w.n_ranges, 1); /* that of the input stays */
    want_ok(ctx, hd_grad_straight(ctx, g, y, &w.ranges_now, 1, through.of, (int)through.n, &d));
    float x[2] = {2.5f, 1}, want = 0;
    struct hd_tensor *t = hd_golden_tensors(g, a);
    t[g->inputs[0]].data = x;
    want_ok(ctx, hd_golden_eval(ctx, g, NULL, 0, t, a));
    const float *v = value(g, t, "yd")->data, *u = value(g, t, "y")->data;
    for (int i = 0; i < 4; i++) {
        bool in = u[i] > -128 * 0.021f && u[i] < 127 * 0.021f;
        assert_true(in == (i > 1));
        want += in ? v[i] - u[i] : v[i];
    }
    const float *got = t[d].data;
    assert_true(want != 0.0f && got[0] > want - 1e-5f && got[0] < want + 1e-5f);
    hd_arena_destroy(a);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* The network with ranges a fifth of what they should be. */
static hd_graph *narrow(hd_ctx *ctx) {
    static const float small = 0.0301f / 5;
    hd_graph *g = parsed(ctx, BATCH);
    g->tensors[hd_tensor_by_name(g, "s3")].data = &small;
    return g;
}

/* The loss of the last of some steps; one gets weights and scales. */
static float steps_of(hd_ctx *ctx, double ranges, hd_graph *one, struct hd_train_result *out_last) {
    hd_graph *g = narrow(ctx);
    struct hd_train_options o = {.device = "golden", .integers = true, .ranges = ranges};
    o.optimizer = hd_optimizer_default(HD_OPTIMIZER_adam);
    hd_trainer *t = NULL;
    struct rng r = {9};
    float x[BATCH * IN];
    int64_t classes[BATCH] = {0, 1, 2, 1, 0};
    struct hd_train_result last;
    for (int i = 0; i < BATCH * IN; i++)
        x[i] = (float)(int)(rng_next(&r) % 200) * 0.01f * (float)(classes[i / IN] - 1);
    want_ok(ctx, hd_trainer_open(ctx, g, &o, &t));
    for (int i = 0; i < 60; i++) {
        want_ok(ctx, hd_trainer_step(ctx, t, x, classes, &last));
        if (i % 10 == 9) want_ok(ctx, hd_trainer_ranges(ctx, t));
    }
    for (int i = 0; i < 2; i++) /* twice: the same as once */
        want_ok(ctx, hd_trainer_weights(ctx, t, one));
    want_ok(ctx, hd_trainer_step(ctx, t, x, classes, out_last));
    hd_trainer_close(t);
    hd_graph_destroy(g);
    /* The file, as it was written in front of the last step, has the loss of that step. */
    struct hd_train_options file = o;
    file.ranges = 0;
    struct hd_train_result again;
    want_ok(ctx, hd_trainer_open(ctx, one, &file, &t));
    want_ok(ctx, hd_trainer_step(ctx, t, x, classes, &again));
    assert_true(again.loss == out_last->loss);
    hd_trainer_close(t);
    return again.loss;
}

static void learns_ranges(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *stay = narrow(ctx), *move = narrow(ctx), *file = narrow(ctx);
    struct hd_train_result a, b;
    assert_true(steps_of(ctx, 80, move, &a) < 0.9f * steps_of(ctx, 0, stay, &b));
    static const char *const name[] = {"s", "s2", "s3", "bs"};
    for (int i = 0; i < 4; i++) {
        int id = hd_tensor_by_name(file, name[i]);
        float was = *(const float *)file->tensors[id].data;
        assert_true(*(const float *)stay->tensors[id].data == was);
        bool moved = *(const float *)move->tensors[id].data != was;
        assert_true(moved == (i == 1 || i == 2)); /* the input's stays, and its bias */
    }
    hd_graph_destroy(stay);
    hd_graph_destroy(move);
    hd_graph_destroy(file);
    hd_ctx_destroy(ctx);
}

static void refusals(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    hd_trainer *t = NULL;
    struct hd_train_options o = {.device = "golden", .integers = true};
    o.optimizer = hd_optimizer_default(HD_OPTIMIZER_sgd);
    want_ok(ctx, hd_graph_parse(ctx,
                                "graph t {\n input x f32[2,3]\n const w f32[3,2] = {1,2,3,4,5,6}\n"
                                " y ? = matmul(x, w)\n output y\n}\n",
                                "t", &g));
    want_ok(ctx, hd_graph_infer(ctx, g));
    assert_int_equal(hd_trainer_open(ctx, g, &o, &t), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "no integer weights to train"));
    hd_graph_destroy(g);
    g = parsed(ctx, 1);
    float v[16] = {0};
    assert_int_equal(hd_integer_store(ctx, g, "other" HD_STATE_SUFFIX, v, 16), HD_INVALID);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bit_equal),     cmocka_unit_test(learns),
        cmocka_unit_test(saturates),     cmocka_unit_test(range_gradient),
        cmocka_unit_test(learns_ranges), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
