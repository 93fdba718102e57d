/* heddle bench train: steps of training on device cpu with one thread, in processor time, which
 * other programs do not inflate. scripts/torch_speed.py runs the same steps in PyTorch beside them.
 * Under mpirun: steps of all ranks together beside those of as many jobs of one rank each. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/bench/bench.h"
#include "runtime/train/losses.h"
#include "runtime/train/train.h"

/* SHARDS: of each rank, whose batch is that of the network. */
enum { CLASSES = 10, STEPS = 9, ROUNDS = 5, TURN = 5, SHARDS = 4 };

static int resnet20(struct hd_layers *l, int64_t n) {
    int x = hd_layer_input(l, "x", 4, (int64_t[]){n, 3, 32, 32}, NULL);
    x = hd_layer_relu(l, hd_layer_conv_norm(l, x, 16, 3, 1));
    for (int stage = 0; stage < 3; stage++)
        for (int i = 0; i < 3; i++)
            x = hd_layer_residual(l, x, (int64_t)16 << stage, stage && !i ? 2 : 1);
    return hd_layer_dense(l, hd_layer_pool(l, x), CLASSES);
}

static int lstm(struct hd_layers *l, int64_t n) {
    int x = hd_layer_input(l, "x", 3, (int64_t[]){n, 32, 256}, NULL);
    for (int i = 0; i < 2; i++) x = hd_layer_recurrent(l, HD_IR_lstm, x, 256, false);
    return hd_layer_dense(l, hd_b_slice(&l->b, x, 1, 31, 32), CLASSES);
}

static int perceptron(struct hd_layers *l, int64_t n) {
    int x = hd_layer_input(l, "x", 2, (int64_t[]){n, 784}, NULL);
    for (int i = 0; i < 2; i++) x = hd_layer_relu(l, hd_layer_dense(l, x, 1024));
    return hd_layer_dense(l, x, CLASSES);
}

static const struct {
    const char *name;
    int64_t batch;
    int (*build)(struct hd_layers *, int64_t);
} networks[] = {{"mlp", 128, perceptron}, {"resnet20", 32, resnet20}, {"lstm", 32, lstm}};
enum { N_NETWORKS = sizeof networks / sizeof *networks };

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct batch {
    float *x;
    int64_t *classes;
};

static struct batch make_batch(hd_arena *a, const hd_trainer *t) {
    size_t n = hd_trainer_input_bytes(t, 0) / sizeof(float);
    size_t n_classes = hd_trainer_input_bytes(t, 1) / sizeof(int64_t);
    struct batch b = {hd_new_array(a, float, n), hd_new_array(a, int64_t, n_classes)};
    for (size_t i = 0; i < n; i++)
        b.x[i] = (float)((int)(hd_random_hash((uint32_t)i) % 2001) - 1000) / 500;
    for (size_t i = 0; i < n_classes; i++) b.classes[i] = (int64_t)i % CLASSES;
    return b;
}

/* Median seconds of a step. */
static hd_status measure(hd_ctx *ctx, hd_trainer *t, double *out) {
    hd_arena *a = hd_arena_create();
    struct batch b = make_batch(a, t);
    double seconds[STEPS] = {0};
    struct hd_train_result r;
    hd_status s = HD_OK;
    for (int i = -2; i < STEPS && s == HD_OK; i++) {
        double start = cpu_seconds();
        s = hd_trainer_step(ctx, t, b.x, b.classes, &r);
        seconds[i < 0 ? 0 : i] = cpu_seconds() - start;
    }
    qsort(seconds, STEPS, sizeof *seconds, by_value);
    *out = seconds[STEPS / 2];
    hd_arena_destroy(a);
    return s;
}

static hd_status open_one(hd_ctx *ctx, int i, int64_t batch, struct hd_train_options *o,
                          hd_trainer **out) {
    struct hd_layers l;
    hd_graph *g = NULL;
    o->device = "cpu", o->threads = 1;
    o->optimizer = hd_optimizer_default(HD_OPTIMIZER_momentum);
    hd_layers_init(&l, ctx, networks[i].name, 1);
    l.training = true;
    int y = networks[i].build(&l, batch);
    int k = hd_layer_integers(&l, "classes", 1, &batch, NULL);
    int results[2] = {hd_loss_classes(&l, y, k), hd_metric_right(&l, y, k)};
    TRY(hd_layers_finish_all(&l, 2, results, &g));
    hd_status s = hd_trainer_open(ctx, g, o, out);
    hd_graph_destroy(g);
    return s;
}

static hd_status one(struct hd_cmd *c, int i, const struct hd_memory_limit *memory) {
    struct hd_train_options o = {.memory = *memory};
    hd_trainer *t = NULL;
    double seconds = 0;
    hd_status s = open_one(c->ctx, i, networks[i].batch, &o, &t);
    if (s == HD_OK) s = measure(c->ctx, t, &seconds);
    const struct hd_recomputed *r = s == HD_OK ? hd_trainer_recomputed(t) : NULL;
    if (s == HD_OK)
        printf("%-9s batch %4lld  %8.2f ms", networks[i].name, (long long)networks[i].batch,
               1e3 * seconds);
    if (r) printf("  %zu of %zu bytes of temporaries", r->bytes, r->alone_bytes);
    if (s == HD_OK) printf("\n");
    hd_trainer_close(t);
    return s;
}

/* ---- ranks ---------------------------------------------------------------------------------- */

/* The sum over all ranks, which wait for each other. */
static hd_status sum_of_ranks(hd_ctx *ctx, hd_ranks *r, double *v) {
    for (int with = 1; with < hd_ranks_n(r); with *= 2) {
        double other = 0;
        TRY(hd_ranks_exchange(ctx, r, hd_ranks_me(r) ^ with, v, &other, sizeof other));
        *v += other;
    }
    return HD_OK;
}

enum clocks { WALL, PROCESSOR, CLOCKS };

/* Steps a second, summed over the ranks: by the wall clock, since waiting counts; and by processor
 * time, which other programs do not take. */
static hd_status rate(hd_ctx *ctx, hd_ranks *r, hd_trainer *t, const struct batch *b,
                      double out[CLOCKS]) {
    struct hd_train_result result;
    double start = 0;
    TRY(sum_of_ranks(ctx, r, &start)); /* all begin together */
    start = hd_seconds();
    double work = cpu_seconds();
    for (int i = 0; i < TURN; i++) TRY(hd_trainer_step(ctx, t, b->x, b->classes, &result));
    out[WALL] = TURN / (hd_seconds() - start), out[PROCESSOR] = TURN / (cpu_seconds() - work);
    TRY(sum_of_ranks(ctx, r, &out[WALL]));
    return sum_of_ranks(ctx, r, &out[PROCESSOR]);
}

/* Every rank alone, then all together, in turns: medians. A step of all has as many samples for
 * each rank as one of a rank alone. */
static hd_status take_turns(hd_ctx *ctx, hd_ranks *r, hd_trainer *const t[2], double alone[ROUNDS],
                            double share[CLOCKS][ROUNDS]) {
    hd_arena *a = hd_arena_create();
    struct batch b[2] = {make_batch(a, t[0]), make_batch(a, t[1])};
    hd_status s = HD_OK;
    double v[2][CLOCKS] = {{0}};
    for (int i = -1; i < ROUNDS && s == HD_OK; i++) { /* the first is not counted */
        for (int k = 0; k < 2 && s == HD_OK; k++) s = rate(ctx, r, t[k], &b[k], v[k]);
        alone[i < 0 ? 0 : i] = v[0][WALL];
        for (int k = 0; k < CLOCKS; k++) share[k][i < 0 ? 0 : i] = v[1][k] / v[0][k];
    }
    qsort(alone, ROUNDS, sizeof *alone, by_value);
    for (int k = 0; k < CLOCKS; k++) qsort(share[k], ROUNDS, sizeof *share[k], by_value);
    hd_arena_destroy(a);
    return s;
}

static hd_status together(hd_ctx *ctx, hd_ranks *r, int i) {
    int n = hd_ranks_n(r);
    int64_t batch = networks[i].batch / SHARDS;
    hd_trainer *t[2] = {NULL, NULL};
    struct hd_train_options o[2] = {{.shards = SHARDS}, {.shards = SHARDS * n, .ranks = r}};
    double alone[ROUNDS], share[CLOCKS][ROUNDS];
    hd_status s = open_one(ctx, i, batch, &o[0], &t[0]);
    if (s == HD_OK) s = open_one(ctx, i, batch, &o[1], &t[1]);
    if (s == HD_OK) s = take_turns(ctx, r, t, alone, share);
    if (s == HD_OK && !hd_ranks_me(r))
        printf("%-9s batch %4lld a rank  %7.2f steps/s of %d jobs of one rank; %d ranks reach %.3f "
               "(%.3f to %.3f), by processor time %.3f\n",
               networks[i].name, (long long)networks[i].batch, alone[ROUNDS / 2], n, n,
               share[WALL][ROUNDS / 2], share[WALL][0], share[WALL][ROUNDS - 1],
               share[PROCESSOR][ROUNDS / 2]);
    fflush(stdout);
    for (int k = 0; k < 2; k++) hd_trainer_close(t[k]);
    return s;
}

static int on_ranks(struct hd_cmd *c, hd_ranks *r) {
    hd_status s = HD_OK;
    if (c->opt.train.memory)
        s = hd_fail(c->ctx, HD_UNSUPPORTED, "--memory is for one process, without mpirun");
    for (int i = 0; i < N_NETWORKS && s == HD_OK; i++) s = together(c->ctx, r, i);
    int status = s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    if (s != HD_OK) hd_ranks_abort(r);
    hd_ranks_close(r);
    return status;
}

int hd_bench_train(struct hd_cmd *c) {
    hd_ranks *ranks = NULL;
    hd_status s = hd_ranks_open(c->ctx, &ranks);
    if (s != HD_OK) return hd_cmd_fail(c);
    if (hd_ranks_n(ranks) > 1) return on_ranks(c, ranks);
    hd_ranks_close(ranks);
    struct hd_memory_limit none = {0}, memory = {0};
    if (c->opt.train.memory) s = hd_memory_limit_parse(c->ctx, c->opt.train.memory, &memory);
    for (int i = 0; i < N_NETWORKS && s == HD_OK; i++) {
        s = one(c, i, &none);
        if (s != HD_OK || !c->opt.train.memory || one(c, i, &memory) == HD_OK) continue;
        printf("%s\n", hd_message(c->ctx)); /* the limit is not reached */
        hd_clear(c->ctx);
    }
    return s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
}
