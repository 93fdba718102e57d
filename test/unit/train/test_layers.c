/* Layers, losses, and the loop: against formulas and against their own other form. */
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
#include "cpu_ref/golden.h"
#include "runtime/base/io.h"
#include "runtime/train/eval.h"
#include "runtime/train/fit.h"
#include "runtime/train/losses.h"
#include "runtime/train/task.h"
#include "test/rng.h"

static void want_ok(hd_ctx *ctx, hd_status s) {
    if (s != HD_OK) fail_msg("%s", hd_message(ctx));
}

static float between(struct rng *r, double lo, double hi) {
    return (float)(lo + (hi - lo) * ((double)rng_next(r) / 4294967296.0));
}

/* A graph with f32 inputs, run on golden. */
static struct hd_tensor *eval(hd_ctx *ctx, const hd_graph *g, const void *const *in, hd_arena *a) {
    struct hd_tensor *t = hd_golden_tensors(g, a);
    for (size_t i = 0; i < g->n_inputs; i++) t[g->inputs[i]].data = in[i];
    want_ok(ctx, hd_golden_eval(ctx, g, NULL, 0, t, a));
    return t;
}

static double first(hd_ctx *ctx, const hd_graph *g, const void *const *in) {
    hd_arena *a = hd_arena_create();
    double v = (double)*(const float *)eval(ctx, g, in, a)[g->outputs[0]].data;
    hd_arena_destroy(a);
    return v;
}

static void near(const char *what, double got, double want) {
    if (!(fabs(got - want) <= 2e-5 * (1 + fabs(want))))
        fail_msg("%s: %.8g, want %.8g", what, got, want);
}

/* ---- losses --------------------------------------------------------------------------------- */

enum { N = 3, T = 5, C = 4, L = 2 };

static double log_softmax(const float *x, int64_t k) {
    double sum = 0;
    for (int i = 0; i < C; i++) sum += exp((double)x[i]);
    return (double)x[k] - log(sum);
}

/* All paths of T labels that collapse to the word, one by one. */
static double ctc_by_paths(const float *x, const int64_t *word) {
    double p = 0;
    int64_t n = 0, most = 1;
    while (n < L && word[n]) n++;
    for (int t = 0; t < T; t++) most *= C;
    for (int64_t path = 0; path < most; path++) {
        int64_t rest = path, at = 0, last = 0;
        double log_p = 0;
        bool good = true;
        for (int t = 0; t < T; t++, rest /= C) {
            int64_t k = rest % C;
            log_p += log_softmax(x + t * C, k);
            if (k && k != last) good = good && at < n && word[at] == k, at++;
            last = k;
        }
        if (good && at == n) p += exp(log_p);
    }
    return -log(p);
}

typedef int loss_fn(struct hd_layers *, int, int);

static double loss_of(hd_ctx *ctx, loss_fn *f, int rank, const int64_t *dim, int rank_k,
                      const int64_t *dim_k, bool floats, const float *x, const void *k) {
    struct hd_layers l;
    hd_graph *g = NULL;
    hd_layers_init(&l, ctx, "loss", 1);
    int in = hd_layer_input(&l, "x", rank, dim, NULL);
    int want = floats ? hd_layer_input(&l, "k", rank_k, dim_k, NULL)
                      : hd_layer_integers(&l, "k", rank_k, dim_k, NULL);
    want_ok(ctx, hd_layers_finish(&l, f(&l, in, want), &g));
    double v = first(ctx, g, (const void *[]){x, k});
    hd_graph_destroy(g);
    return v;
}

static void losses(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct rng r = {5};
    float x[N * T * C];
    for (int i = 0; i < N * T * C; i++) x[i] = between(&r, -2, 2);
    static const int64_t words[N * L] = {1, 3, 2, 2, 0, 0}, classes[N] = {2, -1, 0};
    static const int64_t frames[3] = {N, T, C}, word[2] = {N, L}, rows[2] = {N, C}, n = N;
    double want = 0;
    for (int i = 0; i < N; i++) want += ctc_by_paths(x + i * T * C, words + i * L) / N;
    near("ctc", loss_of(ctx, hd_loss_ctc, 3, frames, 2, word, false, x, words), want);

    want = -(log_softmax(x, 2) + log_softmax(x + 2 * C, 0)) / 2;
    near("classes", loss_of(ctx, hd_loss_classes, 2, rows, 1, &n, false, x, classes), want);

    static const int64_t some[N] = {1, 3, 0};
    want = 0;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < C; k++)
            if (k != some[i])
                want += fmax(0, (double)x[i * C + k] - (double)x[i * C + some[i]] + 1) / N;
    near("hinge", loss_of(ctx, hd_loss_hinge, 2, rows, 1, &n, false, x, some), want);

    want = 0;
    double off = 0, right = 0;
    for (int i = 0; i < N * C; i++) {
        double d = (double)x[i] - (double)x[i + N * C];
        want += d * d / (N * C), off += fabs(d);
    }
    near("square", loss_of(ctx, hd_loss_square, 2, rows, 2, rows, true, x, x + N * C), want);
    near("off", loss_of(ctx, hd_metric_off, 2, rows, 2, rows, true, x, x + N * C), off);
    for (int i = 0; i < N; i++) {
        int best = 0;
        for (int k = 1; k < C; k++)
            if (x[i * C + k] > x[i * C + best]) best = k;
        right += best == some[i];
    }
    near("right", loss_of(ctx, hd_metric_right, 2, rows, 1, &n, false, x, some), right);
    hd_ctx_destroy(ctx);
}

static int game(struct hd_layers *l, int x, int y) {
    return hd_loss_game(l, x, y, hd_layer_scale(l, y, 2));
}

static double soft(double x) {
    return log1p(exp(x));
}

static void game_loss(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const float x[2] = {0.3f, -1}, y[2] = {0.7f, 0.2f};
    int64_t two = 2;
    double want = 0;
    for (int i = 0; i < 2; i++)
        want += (soft(-(double)x[i]) + soft((double)y[i]) + soft(-2 * (double)y[i])) / 2;
    near("game", loss_of(ctx, game, 1, &two, 1, &two, true, x, y), want);
    hd_ctx_destroy(ctx);
}

/* ---- layers --------------------------------------------------------------------------------- */

/* Every layer, once: images, then sequences. */
static int all_layers(struct hd_layers *l, int64_t batch, int *x, int *k) {
    *x = hd_layer_input(l, "x", 4, (int64_t[]){batch, 2, 4, 4}, NULL);
    *k = hd_layer_integers(l, "k", 2, (int64_t[]){batch, 4}, NULL);
    int y = hd_layer_tanh(l, hd_layer_batchnorm(l, hd_layer_conv(l, *x, 4, 3, 2)));
    y = hd_layer_sigmoid(l, hd_layer_depthwise(l, hd_layer_transposed(l, y, 3, 3, 2), 3, 1));
    y = hd_layer_gelu(l, hd_layer_batchnorm(l, y));
    y = hd_b_reshape(&l->b, hd_layer_dense(l, y, 24), 3, (int64_t[]){batch, 4, 6});
    y = hd_layer_add(l, y, hd_layer_position(l, hd_layer_embedding(l, *k, 5, 6)));
    y = hd_layer_recurrent(l, HD_IR_rnn, y, 6, false);
    int m = hd_layer_recurrent(l, HD_IR_gru, y, 3, true);
    y = hd_layer_norm(l, hd_layer_recurrent(l, HD_IR_lstm, y, 6, false));
    y = hd_layer_attention(l, y, hd_layer_add(l, m, y), 2, true);
    return hd_layer_linear(l, hd_layer_dropout(l, y, 0.8), 3);
}

static hd_graph *network(hd_ctx *ctx, int64_t batch, bool training) {
    struct hd_layers l;
    hd_graph *g = NULL;
    int x, k;
    hd_layers_init(&l, ctx, "all", 9);
    l.training = training;
    int y = all_layers(&l, batch, &x, &k);
    if (!training) {
        want_ok(ctx, hd_layers_finish(&l, y, &g));
        return g;
    }
    int want = hd_layer_input(&l, "want", 3, (int64_t[]){batch, 4, 3}, NULL);
    want_ok(ctx, hd_layers_finish(&l, hd_loss_square(&l, y, want), &g));
    return g;
}

enum { BATCH = 8, X = BATCH * 32, K = BATCH * 4, W = BATCH * 12 };

struct data {
    float x[X], want[W];
    int64_t k[K];
};

static void fill(struct data *d, uint64_t seed) {
    struct rng r = {seed};
    for (int i = 0; i < X; i++) d->x[i] = between(&r, -1, 1);
    for (int i = 0; i < W; i++) d->want[i] = between(&r, -1, 1);
    for (int i = 0; i < K; i++) d->k[i] = rng_next(&r) % 5;
}

static struct hd_train_options options(const char *device, int shards) {
    struct hd_train_options o = {.device = device, .threads = 1, .shards = shards};
    o.optimizer = hd_optimizer_default(HD_OPTIMIZER_adam);
    return o;
}

/* Weights of the network after some steps. Inputs of the trainer come in the order of its layers,
 * without the step that dropout reads. */
static hd_graph *trained(hd_ctx *ctx, const char *device, int shards, int steps, float *loss) {
    hd_graph *g = network(ctx, BATCH / shards, true), *runs = network(ctx, 1, false);
    hd_trainer *t = NULL;
    struct hd_train_options o = options(device, shards);
    struct data d;
    fill(&d, 3);
    want_ok(ctx, hd_trainer_open(ctx, g, &o, &t));
    assert_int_equal(hd_trainer_n_inputs(t), 3);
    for (int i = 0; i < steps; i++)
        want_ok(ctx, hd_trainer_run(ctx, t, (const void *[]){d.x, d.k, d.want}, &loss[i]));
    want_ok(ctx, hd_trainer_weights(ctx, t, runs));
    hd_trainer_close(t);
    hd_graph_destroy(g);
    return runs;
}

static double difference(const hd_graph *a, const hd_graph *b, bool moved) {
    double most = 0;
    for (size_t t = 0; t < a->n_tensors; t++) {
        const struct hd_tensor *x = &a->tensors[t], *y = &b->tensors[t];
        if (!x->data || x->dtype != HD_F32 || x->rank < 1) continue;
        double here = 0;
        for (int64_t i = 0; i < hd_tensor_elems(x); i++)
            here = fmax(here, fabs((double)((const float *)x->data)[i] -
                                   (double)((const float *)y->data)[i]));
        if (moved && !(here > 0)) fail_msg("%s: training does not change it", x->name);
        most = fmax(most, here);
    }
    return most;
}

/* All weights and statistics change, the loss falls; golden and cpu agree. */
static void layers_train(void **state) {
    (void)state;
    enum { STEPS = 12 };
    hd_ctx *ctx = hd_ctx_create();
    float golden[STEPS], cpu[STEPS];
    hd_graph *old = network(ctx, 1, false), *a = trained(ctx, "golden", 1, 2, golden);
    hd_graph *b = trained(ctx, "cpu", 1, 2, cpu);
    difference(old, a, true);
    assert_true(fabs((double)golden[1] - (double)cpu[1]) < 1e-5);
    hd_graph_destroy(b);
    b = trained(ctx, "cpu", 1, STEPS, cpu);
    assert_true((double)cpu[STEPS - 1] < 0.9 * (double)cpu[0]);
    for (int i = 0; i < 2; i++) hd_graph_destroy(i ? a : b);
    hd_graph_destroy(old);
    hd_ctx_destroy(ctx);
}

/* Shards have masks and statistics of their own: the same bits however they are shared out, and
 * other ones than those of another number of shards. */
static void shards_of_layers(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    float loss[2][2];
    hd_graph *a = trained(ctx, "cpu", 2, 2, loss[0]), *b = trained(ctx, "cpu", 2, 2, loss[1]);
    assert_memory_equal(loss[0], loss[1], sizeof loss[0]);
    assert_true(difference(a, b, false) == 0);
    hd_graph_destroy(b);
    b = trained(ctx, "cpu", 4, 2, loss[1]);
    assert_true(difference(a, b, false) > 0);
    for (int i = 0; i < 2; i++) hd_graph_destroy(i ? a : b);
    hd_ctx_destroy(ctx);
}

/* Gradients of weights through all layers, by differences. f32, so the bound is wide. */
static void gradients(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = network(ctx, BATCH, true);
    struct data d;
    struct rng r = {4};
    float step = 7;
    int weights[128], dw[128], n = 0;
    fill(&d, 8);
    const void *in[4];
    for (size_t i = 0; i < g->n_inputs; i++) {
        const char *name = g->tensors[g->inputs[i]].name;
        in[i] = !strcmp(name, "x") ? (void *)d.x : !strcmp(name, "k") ? (void *)d.k : d.want;
        if (!strcmp(name, "step")) in[i] = &step;
    }
    for (size_t t = 0; t < g->n_tensors; t++) {
        const struct hd_tensor *w = &g->tensors[t];
        if (!w->data || w->dtype != HD_F32 || w->rank < 1 || strstr(w->name, "places")) continue;
        if (strstr(w->name, ".mean") || strstr(w->name, ".var")) continue;
        weights[n++] = (int)t;
    }
    assert_true(n > 30);
    want_ok(ctx, hd_grad(ctx, g, g->outputs[0], weights, n, dw));
    struct hd_tensor *v = eval(ctx, g, in, a);
    for (int i = 0; i < n; i++) {
        struct hd_tensor *w = &g->tensors[weights[i]];
        float *data = (float *)(uintptr_t)w->data, old;
        int64_t k = rng_next(&r) % (uint64_t)hd_tensor_elems(w);
        double got = (double)((const float *)v[dw[i]].data)[k];
        old = data[k];
        data[k] = old + 0.004f;
        double up = first(ctx, g, in);
        data[k] = old - 0.004f;
        double want = (up - first(ctx, g, in)) / 0.008;
        data[k] = old;
        if (!(fabs(got - want) <= 2e-4 + 0.03 * fabs(want)))
            fail_msg("%s, element %lld: %g, want %g", w->name, (long long)k, got, want);
    }
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

/* ---- weights that are shared, gradients that are stopped ------------------------------------ */

static void again_and_frozen(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_layers l;
    hd_graph *g = NULL;
    int64_t dim[2] = {1, 2};
    hd_layers_init(&l, ctx, "again", 1);
    int x = hd_layer_input(&l, "x", 2, dim, NULL), y = hd_layer_dense(&l, x, 2);
    hd_layers_again(&l, 0, true);
    y = hd_layer_add(&l, y, hd_layer_dense(&l, hd_layer_gradient(&l, x, -3), 2));
    hd_layers_go_on(&l);
    want_ok(ctx, hd_layers_finish(&l, y, &g));
    int w = hd_tensor_by_name(g, "dense1.w"), wrt[2] = {w, x}, d[2];
    want_ok(ctx, hd_grad(ctx, g, g->outputs[0], wrt, 2, d));
    static const float in[2] = {3, 5};
    struct hd_tensor *t = eval(ctx, g, (const void *[]){in}, a);
    const float *v = t[w].data, *one = t[d[0]].data, *two = t[d[1]].data;
    for (int i = 0; i < 4; i++) near("of one of two", (double)one[i], (double)in[i % 2]);
    for (int i = 0; i < 2; i++)
        near("times -3", (double)two[i], -2 * ((double)v[i] + (double)v[2 + i]));
    hd_graph_destroy(g);
    hd_layers_init(&l, ctx, "again", 1);
    x = hd_layer_input(&l, "x", 2, dim, NULL);
    hd_layers_again(&l, 0, false);
    assert_int_equal(hd_layers_finish(&l, hd_layer_dense(&l, x, 2), &g), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "there is no layer with weights 'dense1.w' yet"));
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

/* ---- the loop ------------------------------------------------------------------------------- */

enum { POINTS = 4 };
struct seen {
    int64_t steps, epochs;
    double mean;
    int64_t last;
    bool stops;
};

static void make(void *user, int64_t step, void *const *in) {
    (void)user;
    float *x = in[0], *y = in[1];
    for (int i = 0; i < POINTS; i++) x[i] = (float)(step + i), y[i] = 2 * x[i];
}

static hd_status see(hd_ctx *ctx, void *user, const struct hd_fit_event *e) {
    struct seen *s = user;
    (void)ctx;
    assert_int_equal(e->step, ++s->steps);
    assert_int_equal(e->n, 1);
    assert_string_equal(hd_trainer_result(e->t, 0), "loss");
    s->epochs += e->epoch_ends;
    s->mean = e->results[0];
    if (s->stops && e->step == s->last) *e->stop = true;
    return HD_OK;
}

/* Loss of a line: golden, rate 0, so every batch has its own value. */
static double line_loss(int64_t step) {
    double sum = 0;
    for (int64_t i = step; i < step + POINTS; i++) sum += 4.0 * (double)(i * i) / POINTS;
    return sum;
}

static void loop(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    char folder[] = "/tmp/heddle_events_XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct hd_layers l;
    hd_graph *g = NULL;
    hd_trainer *t = NULL;
    hd_events *events = NULL;
    int64_t dim[2] = {POINTS, 1};
    hd_layers_init(&l, ctx, "line", 1);
    int x = hd_layer_input(&l, "x", 2, dim, NULL), y = hd_layer_input(&l, "y", 2, dim, NULL);
    int w = hd_layer_weights(&l, "w", 2, (int64_t[]){1, 1}, 0);
    x = hd_b(&l.b, matmul, x, w);
    want_ok(ctx, hd_layers_finish(&l, hd_loss_square(&l, x, y), &g));
    struct hd_train_options o = options("golden", 1);
    o.optimizer = hd_optimizer_default(HD_OPTIMIZER_sgd);
    o.optimizer.rate = 0;
    want_ok(ctx, hd_trainer_open(ctx, g, &o, &t));
    size_t bytes[2] = {hd_trainer_input_bytes(t, 0), hd_trainer_input_bytes(t, 1)};
    assert_int_equal(bytes[1], POINTS * sizeof(float));
    struct seen s = {0};
    want_ok(ctx, hd_events_open(ctx, folder, &events));
    struct hd_fit f = {.source = {make, NULL, 2, bytes}, .steps = 6, .epoch = 3};
    f.call[f.n_calls++] = (struct hd_fit_call){see, &s};
    f.call[f.n_calls++] = (struct hd_fit_call){hd_events_add, events};
    want_ok(ctx, hd_fit(ctx, t, &f));
    want_ok(ctx, hd_events_close(ctx, events));
    assert_int_equal(s.epochs, 2);
    near("mean of an epoch", s.mean, (line_loss(3) + line_loss(4) + line_loss(5)) / 3);
    s = (struct seen){.steps = 6};
    f.steps = 9, f.n_calls = 1;
    want_ok(ctx, hd_fit(ctx, t, &f)); /* goes on where the trainer stands */
    assert_int_equal(s.steps, 9);
    s.stops = true;
    f.steps = 20, s.last = 12;
    want_ok(ctx, hd_fit(ctx, t, &f));
    assert_int_equal(s.steps, 12);
    /* 24 bytes and their check as TensorFlow writes them, then seven records */
    static const unsigned char head[12] = {24, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22};
    hd_arena *a = hd_arena_create();
    char *path = hd_sprintf(a, "%s/events.out.tfevents.heddle", folder);
    void *file = NULL;
    size_t n = 0, at = 0;
    int records = 0;
    want_ok(ctx, hd_file_read(ctx, path, &file, &n));
    assert_true(n > sizeof head);
    assert_memory_equal(file, head, sizeof head);
    for (; at < n; records++) at += 16 + ((unsigned char *)file)[at];
    assert_true(at == n && records == 7);
    free(file);
    unlink(path);
    rmdir(folder);
    hd_arena_destroy(a);
    hd_trainer_close(t);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses),
        cmocka_unit_test(game_loss),
        cmocka_unit_test(gradients),
        cmocka_unit_test(layers_train),
        cmocka_unit_test(shards_of_layers),
        cmocka_unit_test(again_and_frozen),
        cmocka_unit_test(loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
