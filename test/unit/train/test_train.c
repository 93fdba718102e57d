/* Steps of training: golden against cpu, optimisers against their formulas, checkpoints, random
 * numbers, batches. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler/grad/grad.h"
#include "compiler/options/options.h"
#include "cpu_ref/golden.h"
#include "runtime/train/layers.h"
#include "runtime/train/losses.h"
#include "test/unit/train/steps.h"

enum { BLOCK_BATCH = 8, BLOCK_IN = 3 * 16 * 16, BLOCK_STEPS = 3 };

/* Residual blocks with batch norm, whose activations are most of the memory. */
static hd_graph *block(hd_ctx *ctx) {
    struct hd_layers l;
    hd_graph *g = NULL;
    int64_t n = BLOCK_BATCH;
    hd_layers_init(&l, ctx, "block", 3);
    l.training = true;
    int x = hd_layer_input(&l, "x", 4, (int64_t[]){n, 3, 16, 16}, NULL);
    x = hd_layer_relu(&l, hd_layer_conv_norm(&l, x, 8, 3, 1));
    for (int i = 0; i < 4; i++) x = hd_layer_residual(&l, x, 8, 1);
    x = hd_layer_dense(&l, hd_layer_pool(&l, x), 10);
    int k = hd_layer_integers(&l, "classes", 1, &n, NULL);
    int y[2] = {hd_loss_classes(&l, x, k), hd_metric_right(&l, x, k)};
    want_ok(ctx, hd_layers_finish_all(&l, 2, y, &g));
    return g;
}

/* g gets the weights after some steps. */
static struct hd_recomputed steps_of_block(hd_ctx *ctx, hd_graph *g,
                                           const struct hd_train_options *o) {
    struct hd_recomputed r = {0};
    hd_trainer *t = NULL;
    struct rng rng = {11};
    float x[BLOCK_BATCH * BLOCK_IN];
    int64_t k[BLOCK_BATCH];
    struct hd_train_result out;
    want_ok(ctx, hd_trainer_open(ctx, g, o, &t));
    for (int i = 0; i < BLOCK_STEPS; i++) {
        for (int j = 0; j < BLOCK_BATCH * BLOCK_IN; j++)
            x[j] = (float)(int)(rng_next(&rng) % 401 - 200) * 0.01f;
        for (int j = 0; j < BLOCK_BATCH; j++) k[j] = rng_next(&rng) % 10;
        want_ok(ctx, hd_trainer_step(ctx, t, x, k, &out));
    }
    want_ok(ctx, hd_trainer_weights(ctx, t, g));
    if (hd_trainer_recomputed(t)) r = *hd_trainer_recomputed(t);
    hd_trainer_close(t);
    return r;
}

static void devices_agree(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (int i = 0; hd_zoo_name(i); i++) {
        struct hd_train_options golden = options("golden", "sgd"), cpu = options("cpu", "sgd");
        hd_graph *a = trained(ctx, hd_zoo_name(i), &golden, 1);
        hd_graph *b = trained(ctx, hd_zoo_name(i), &cpu, 1);
        compare(hd_zoo_name(i), a, b, 1e-5);
        hd_graph_destroy(a);
        hd_graph_destroy(b);
    }
    hd_ctx_destroy(ctx);
}

/* The weights of a residual network after some steps of 4 shards. */
static hd_graph *sharded(hd_ctx *ctx, struct hd_train_options o) {
    hd_graph *g = block(ctx);
    hd_trainer *t = NULL;
    struct rng rng = {11};
    enum { N = 4 * BLOCK_BATCH };
    static float x[N * BLOCK_IN];
    int64_t k[N];
    struct hd_train_result out;
    o.shards = 4;
    want_ok(ctx, hd_trainer_open(ctx, g, &o, &t));
    for (int i = 0; i < BLOCK_STEPS; i++) {
        for (int j = 0; j < N * BLOCK_IN; j++)
            x[j] = (float)(int)(rng_next(&rng) % 401 - 200) * 0.01f;
        for (int j = 0; j < N; j++) k[j] = rng_next(&rng) % 10;
        want_ok(ctx, hd_trainer_step(ctx, t, x, k, &out));
    }
    want_ok(ctx, hd_trainer_weights(ctx, t, g));
    hd_trainer_close(t);
    return g;
}

/* A step over two devices: shards that follow each other give the bits of one behind the other, and
 * parts of a step on golden and cpu what each gives alone. */
static void several_devices(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const char *const name[] = {"cpu", "golden"};
    enum { NODES = 20000 }; /* more than a step has */
    static int on[NODES];
    struct hd_device_list list = {.name = name, .n = 2, .machine = -1, .on = on};
    struct hd_train_options one = options("cpu", "momentum"), both = one;
    both.device = "cpu,golden", both.devices = &list;
    hd_graph *alone = sharded(ctx, one), *follow = sharded(ctx, both);
    compare("all on cpu, in a pipeline", alone, follow, 0);
    for (int i = 0; i < NODES; i++) on[i] = i / 40 % 2;
    hd_graph *mixed = sharded(ctx, both);
    compare("cpu and golden", alone, mixed, 1e-4);
    for (int i = 0; i < NODES; i++) on[i] = 1;
    hd_graph *golden = sharded(ctx, both);
    compare("all on golden", golden, mixed, 1e-4);
    hd_graph_destroy(alone), hd_graph_destroy(follow);
    hd_graph_destroy(mixed), hd_graph_destroy(golden);
    hd_ctx_destroy(ctx);
}

/* Half of the memory, and the same bits of weights. */
static void recomputes(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const char *const device[] = {"golden", "cpu"};
    for (int i = 0; i < 2; i++) {
        struct hd_train_options o = options(device[i], "momentum"), less = o;
        less.memory.share = 0.5;
        hd_graph *a = block(ctx), *b = block(ctx);
        struct hd_recomputed r = steps_of_block(ctx, a, &less);
        steps_of_block(ctx, b, &o);
        assert_true(r.bytes <= r.alone_bytes / 2 && r.again > 0 && r.again < r.cost / 2);
        assert_true(r.op[HD_IR_relu].nodes > 0);
        compare(device[i], a, b, 0);
        hd_graph_destroy(a);
        hd_graph_destroy(b);
    }
    hd_graph *g = block(ctx);
    hd_trainer *t = NULL;
    struct hd_train_options o = options("cpu", "sgd");
    o.memory.bytes = 1000;
    assert_int_equal(hd_trainer_open(ctx, g, &o, &t), HD_UNSUPPORTED);
    assert_non_null(strstr(hd_message(ctx), "the limit is 1000"));
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

static void reads_limits(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_memory_limit m;
    want_ok(ctx, hd_memory_limit_parse(ctx, "25%", &m));
    assert_true(m.share == 0.25 && m.bytes == 0);
    want_ok(ctx, hd_memory_limit_parse(ctx, "4096", &m));
    assert_true(m.share == 0 && m.bytes == 4096);
    static const char *const bad[] = {"", "x", "0", "-3", "50%%", "101%", "nan", "5 MB"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(hd_memory_limit_parse(ctx, bad[i], &m), HD_INVALID);
    hd_ctx_destroy(ctx);
}

/* A step on a GPU's plan, where there is an OpenCL driver. */
static void opencl_agrees(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    hd_trainer *t = NULL;
    struct hd_train_options golden = options("golden", "sgd"), opencl = options("opencl", "sgd");
    want_ok(ctx, hd_zoo_build(ctx, "mlp:16:16", BATCH, 3, &g));
    bool here = hd_trainer_open(ctx, g, &opencl, &t) == HD_OK;
    hd_trainer_close(t);
    hd_graph_destroy(g);
    if (!here) print_message("no OpenCL here: %s\n", hd_message(ctx));
    if (here) {
        hd_graph *a = trained(ctx, "mlp:16:16", &golden, 1);
        hd_graph *b = trained(ctx, "mlp:16:16", &opencl, 1);
        compare("opencl", a, b, 1e-5);
        hd_graph_destroy(a);
        hd_graph_destroy(b);
    }
    hd_ctx_destroy(ctx);
    if (!here) skip();
}

/* ---- optimisers ----------------------------------------------------------------------------- */

enum { STEPS = 4 };

struct slots {
    double w, s0, s1;
};

/* What optimizer.c says in graph, in scalars. t: 1 in the first step. */
static void formula(const struct hd_optimizer_options *o, struct slots *s, double g, double rate,
                    int t) {
    double b = o->momentum, b2 = o->decay2, e = o->epsilon, m = 0;
    bool adam = o->kind >= HD_OPTIMIZER_adam;
    if (o->kind != HD_OPTIMIZER_adamw && o->kind != HD_OPTIMIZER_lamb) g += o->weight_decay * s->w;
    if (adam) {
        s->s0 = b * s->s0 + (1 - b) * g;
        s->s1 = b2 * s->s1 + (1 - b2) * g * g;
        m = s->s0 / (1 - pow(b, t)) / (sqrt(s->s1 / (1 - pow(b2, t))) + e);
    }
    switch (o->kind) {
    case HD_OPTIMIZER_sgd:
        m = g;
        break;
    case HD_OPTIMIZER_momentum:
    case HD_OPTIMIZER_nesterov:
        s->s0 = b * s->s0 + g;
        m = o->kind == HD_OPTIMIZER_nesterov ? g + b * s->s0 : s->s0;
        break;
    case HD_OPTIMIZER_rmsprop:
        s->s0 = b2 * s->s0 + (1 - b2) * g * g;
        m = g / (sqrt(s->s0) + e);
        break;
    case HD_OPTIMIZER_adagrad:
        s->s0 += g * g;
        m = g / (sqrt(s->s0) + e);
        break;
    case HD_OPTIMIZER_adadelta:
        s->s0 = b2 * s->s0 + (1 - b2) * g * g;
        m = g * sqrt(s->s1 + e) / sqrt(s->s0 + e);
        s->s1 = b2 * s->s1 + (1 - b2) * m * m;
        break;
    default:
        if (o->kind != HD_OPTIMIZER_adam) m += o->weight_decay * s->w;
    }
    if (o->kind == HD_OPTIMIZER_lamb) m *= fabs(s->w) / fabs(m); /* a tensor of one element */
    s->w -= rate * m;
}

/* w [1], loss = (w - 3)^2 / 2, by the graph, and by the formula. */
static void follow(hd_ctx *ctx, const struct hd_optimizer_options *o) {
    struct slots want = {.w = 0.5};
    float w = 0.5f, state[HD_OPTIMIZER_STATE] = {0}, step = 0;
    int64_t one = 1;
    for (int t = 1; t <= STEPS; t++) {
        hd_arena *a = hd_arena_create();
        struct hd_back b = {.ctx = ctx, .g = hd_graph_create(), .arena = a, .prefix = "o"};
        int x = hd_graph_const(b.g, "w", HD_F32, 1, &one, &w), s[HD_OPTIMIZER_STATE];
        for (int i = 0; i < HD_OPTIMIZER_STATE; i++)
            s[i] = hd_graph_const(b.g, "s", HD_F32, 1, &one, &state[i]);
        int at = hd_graph_const(b.g, "step", HD_F32, 0, NULL, &step);
        int g = hd_b(&b, sub, x, hd_b_number(&b, HD_F32, 3));
        int rate = hd_schedule(&b, o, at), y = hd_optimizer_update(&b, o, x, g, s, rate, at);
        want_ok(ctx, b.status);
        struct hd_tensor *v = hd_golden_tensors(b.g, a);
        want_ok(ctx, hd_golden_eval(ctx, b.g, NULL, 0, v, a));
        formula(o, &want, want.w - 3, (double)*(const float *)v[rate].data, t);
        w = *(const float *)v[y].data;
        for (int i = 0; i < HD_OPTIMIZER_STATE; i++) state[i] = *(const float *)v[s[i]].data;
        step += 1;
        if (!(fabs((double)w - want.w) <= 2e-5))
            fail_msg("%s, step %d: %.7g, want %.7g", hd_optimizers[o->kind].name, t, (double)w,
                     want.w);
        hd_graph_destroy(b.g);
        hd_arena_destroy(a);
    }
}

static void optimisers(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (int i = 0; i < HD_OPTIMIZERS; i++) {
        struct hd_optimizer_options o = hd_optimizer_default((enum hd_optimizer)i);
        follow(ctx, &o);
        o.weight_decay = 0.1;
        o.rate = 0.05;
        follow(ctx, &o);
    }
    hd_ctx_destroy(ctx);
}

/* Rates of the first steps. */
static void rates(hd_ctx *ctx, struct hd_optimizer_options o, const double *want, int n) {
    for (int i = 0; i < n; i++) {
        hd_arena *a = hd_arena_create();
        struct hd_back b = {.ctx = ctx, .g = hd_graph_create(), .arena = a, .prefix = "s"};
        int rate = hd_schedule(&b, &o, hd_b_number(&b, HD_F32, i));
        struct hd_tensor *t = hd_golden_tensors(b.g, a);
        want_ok(ctx, hd_golden_eval(ctx, b.g, NULL, 0, t, a));
        assert_true(fabs((double)*(const float *)t[rate].data - want[i]) < 1e-6);
        hd_graph_destroy(b.g);
        hd_arena_destroy(a);
    }
}

static void schedules(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_optimizer_options o = hd_optimizer_default(HD_OPTIMIZER_sgd);
    o.rate = 1, o.steps = 4, o.every = 2, o.factor = 0.5;
    rates(ctx, o, (double[]){1, 1, 1}, 3);
    o.schedule = HD_SCHEDULE_step;
    rates(ctx, o, (double[]){1, 1, 0.5, 0.5, 0.25}, 5);
    o.schedule = HD_SCHEDULE_exponential;
    rates(ctx, o, (double[]){1, sqrt(0.5), 0.5}, 3);
    o.schedule = HD_SCHEDULE_power;
    rates(ctx, o, (double[]){1, 1 / sqrt(1.5), 1 / sqrt(2)}, 3);
    o.schedule = HD_SCHEDULE_polynomial;
    rates(ctx, o, (double[]){1, sqrt(0.75), sqrt(0.5), 0.5, 0, 0}, 6);
    o.schedule = HD_SCHEDULE_cosine;
    rates(ctx, o, (double[]){1, 0.5 + sqrt(0.125), 0.5, 0.5 - sqrt(0.125), 0, 0}, 6);
    o.warm_up = 2;
    rates(ctx, o, (double[]){0.5, 0.5 + sqrt(0.125), 0.5}, 3);
    hd_ctx_destroy(ctx);
}

/* Two gradients, (3) and (4), to norm 1; and to -2 .. 2. */
static void clipping(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_back b = {.ctx = ctx, .g = hd_graph_create(), .arena = a, .prefix = "c"};
    struct hd_optimizer_options o = {.clip_norm = 1}, v = {.clip_value = 2};
    float x[2] = {3, -4};
    int64_t one = 1;
    int g[2] = {hd_graph_const(b.g, "x", HD_F32, 1, &one, &x[0]),
                hd_graph_const(b.g, "y", HD_F32, 1, &one, &x[1])};
    int h[2] = {g[0], g[1]};
    hd_clip_gradients(&b, &o, 2, g);
    hd_clip_gradients(&b, &v, 2, h);
    want_ok(ctx, b.status);
    struct hd_tensor *t = hd_golden_tensors(b.g, a);
    want_ok(ctx, hd_golden_eval(ctx, b.g, NULL, 0, t, a));
    assert_true(fabs((double)*(const float *)t[g[0]].data - 0.6) < 1e-6);
    assert_true(fabs((double)*(const float *)t[g[1]].data + 0.8) < 1e-6);
    assert_true(*(const float *)t[h[0]].data == 2 && *(const float *)t[h[1]].data == -2);
    hd_graph_destroy(b.g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

/* ---- random numbers, batches, checkpoints --------------------------------------------------- */

static void random_numbers(void **state) {
    (void)state;
    enum { COUNT = 4096 };
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_back b = {.ctx = ctx, .g = hd_graph_create(), .arena = a, .prefix = "r"};
    struct hd_tensor like = {.dtype = HD_F32, .rank = 1, .dim = {COUNT}};
    int u[3];
    for (int i = 0; i < 3; i++)
        u[i] = hd_random_uniform(&b, &like, 1, i == 2 ? 8 : 7, hd_b_number(&b, HD_F32, i % 2));
    int kept = hd_dropout(&b, hd_b_filled(&b, &like, 1), 0.25, 1, 9, hd_b_number(&b, HD_F32, 5));
    want_ok(ctx, b.status);
    struct hd_tensor *t = hd_golden_tensors(b.g, a);
    want_ok(ctx, hd_golden_eval(ctx, b.g, NULL, 0, t, a));
    for (int i = 0; i < 3; i++) {
        const float *v = t[u[i]].data, *w = t[u[(i + 1) % 3]].data;
        double mean = 0, square = 0, product = 0;
        for (int k = 0; k < COUNT; k++) {
            assert_true(v[k] >= 0 && v[k] < 1);
            mean += (double)v[k] / COUNT;
            square += (double)v[k] * (double)v[k] / COUNT;
            product += ((double)v[k] - 0.5) * ((double)w[k] - 0.5) / COUNT;
        }
        assert_true(fabs(mean - 0.5) < 0.02 && fabs(square - 1.0 / 3) < 0.02);
        assert_true(fabs(product) < 0.005); /* steps and streams do not go together */
    }
    const float *d = t[kept].data;
    int n = 0;
    for (int k = 0; k < COUNT; k++) {
        assert_true(d[k] == 0 || d[k] == 4);
        n += d[k] != 0;
    }
    assert_true(abs(n - COUNT / 4) < 120);
    /* the bits are part of the interface: devices and releases agree */
    assert_int_equal(hd_random_hash(1), 0x688990c0);
    hd_graph_destroy(b.g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

/* An epoch sees every sample once; images move by whole pixels. */
static void batches(void **state) {
    (void)state;
    hd_arena *a = hd_arena_create();
    float pixels[6 * 4], x[3 * 4];
    int64_t classes[6], k[3], seen = 0;
    for (int i = 0; i < 24; i++) pixels[i] = (float)(i + 1);
    for (int i = 0; i < 6; i++) classes[i] = i;
    struct hd_samples s = {6, 4, 2, 2, pixels, classes}, train, test;
    struct hd_batches b = {.s = &s, .batch = 3, .seed = 1, .order = hd_new_array(a, int64_t, 6)};
    assert_int_equal(hd_batches_n(&b), 2);
    for (int i = 0; i < 2; i++) {
        hd_batches_get(&b, 4, i, x, k);
        for (int j = 0; j < 3; j++) {
            seen |= 1 << k[j];
            assert_true(x[4 * j] == (float)(4 * k[j] + 1));
        }
    }
    assert_int_equal(seen, 63);
    b.shift = 1;
    for (int e = 0; e < 50; e++) {
        hd_batches_get(&b, e, 0, x, k);
        for (int i = 0; i < 12; i++) { /* what is not 0 stands where one move puts it */
            int64_t from = (int64_t)x[i] - 1;
            assert_true(x[i] == 0 || from / 4 == k[i / 4]);
        }
    }
    hd_samples_split(a, &s, 2, 9, &train, &test);
    seen = 0;
    for (int i = 0; i < 4; i++) seen |= 1 << train.classes[i];
    for (int i = 0; i < 2; i++) seen |= 1 << test.classes[i];
    assert_true(train.n == 4 && test.n == 2 && seen == 63);
    hd_arena_destroy(a);
}

/* Two steps, saved, loaded by another: the third gives the same bits. */
static void resume(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    char path[] = "/tmp/heddle_train_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct hd_train_options o = options("cpu", "adam");
    hd_graph *g = NULL, *other = NULL;
    hd_trainer *t[2] = {NULL, NULL};
    struct rng r = {3};
    float x[BATCH * PIXELS];
    int64_t k[BATCH];
    struct hd_train_result out[2];
    want_ok(ctx, hd_zoo_build(ctx, "mlp", BATCH, 3, &g));
    want_ok(ctx, hd_zoo_build(ctx, "cnn", BATCH, 3, &other));
    for (int i = 0; i < 2; i++) want_ok(ctx, hd_trainer_open(ctx, g, &o, &t[i]));
    for (int i = 0; i < 2; i++) {
        random_batch(&r, x, k);
        want_ok(ctx, hd_trainer_step(ctx, t[0], x, k, &out[0]));
    }
    want_ok(ctx, hd_trainer_save(ctx, t[0], path));
    want_ok(ctx, hd_trainer_load(ctx, t[1], path));
    assert_int_equal(hd_trainer_steps(t[1]), 2);
    random_batch(&r, x, k);
    for (int i = 0; i < 2; i++) want_ok(ctx, hd_trainer_step(ctx, t[i], x, k, &out[i]));
    assert_memory_equal(&out[0], &out[1], sizeof out[0]);
    hd_trainer_close(t[1]);
    want_ok(ctx, hd_trainer_open(ctx, other, &o, &t[1]));
    assert_int_equal(hd_trainer_load(ctx, t[1], path), HD_INVALID);
    unlink(path);
    for (int i = 0; i < 2; i++) hd_trainer_close(t[i]);
    hd_graph_destroy(g);
    hd_graph_destroy(other);
    hd_ctx_destroy(ctx);
}

/* A network that is not one image in, one row of classes out. */
static void refusals(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    hd_trainer *t = NULL;
    struct hd_train_options o = options("golden", "sgd");
    assert_int_equal(hd_zoo_build(ctx, "vgg", BATCH, 3, &g), HD_INVALID);
    want_ok(ctx, hd_graph_parse(ctx, "graph t {\n input x f32[2,3]\n y ? = relu(x)\n output y\n}\n",
                                "t", &g));
    want_ok(ctx, hd_graph_infer(ctx, g));
    assert_int_equal(hd_trainer_open(ctx, g, &o, &t), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "no weights to train"));
    hd_graph_output(g, g->inputs[0]);
    assert_int_equal(hd_trainer_open(ctx, g, &o, &t), HD_UNSUPPORTED);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_devices), cmocka_unit_test(devices_agree),
        cmocka_unit_test(recomputes),

        cmocka_unit_test(opencl_agrees),   cmocka_unit_test(reads_limits),
        cmocka_unit_test(optimisers),      cmocka_unit_test(schedules),
        cmocka_unit_test(clipping),        cmocka_unit_test(random_numbers),
        cmocka_unit_test(batches),         cmocka_unit_test(resume),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
