/* heddle bench train: steps of training on device cpu with one thread, in processor time, which
 * other programs do not inflate. scripts/torch_speed.py runs the same steps in PyTorch beside them.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/bench/bench.h"
#include "runtime/train/losses.h"
#include "runtime/train/train.h"

enum { CLASSES = 10, STEPS = 9 };

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

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median seconds of a step. */
static hd_status measure(hd_ctx *ctx, hd_trainer *t, double *out) {
    hd_arena *a = hd_arena_create();
    float *x = hd_alloc(a, hd_trainer_input_bytes(t, 0));
    int64_t *k = hd_alloc(a, hd_trainer_input_bytes(t, 1));
    size_t n = hd_trainer_input_bytes(t, 0) / sizeof *x;
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((int)(hd_random_hash((uint32_t)i) % 2001) - 1000) / 500;
    for (size_t i = 0; i < hd_trainer_input_bytes(t, 1) / sizeof *k; i++)
        k[i] = (int64_t)i % CLASSES;
    double seconds[STEPS] = {0};
    struct hd_train_result r;
    hd_status s = HD_OK;
    for (int i = -2; i < STEPS && s == HD_OK; i++) {
        double start = cpu_seconds();
        s = hd_trainer_step(ctx, t, x, k, &r);
        seconds[i < 0 ? 0 : i] = cpu_seconds() - start;
    }
    qsort(seconds, STEPS, sizeof *seconds, by_value);
    *out = seconds[STEPS / 2];
    hd_arena_destroy(a);
    return s;
}

static hd_status one(struct hd_cmd *c, int i, const struct hd_memory_limit *memory) {
    struct hd_train_options o = {.device = "cpu", .threads = 1, .memory = *memory};
    struct hd_layers l;
    hd_graph *g = NULL;
    hd_trainer *t = NULL;
    double seconds = 0;
    o.optimizer = hd_optimizer_default(HD_OPTIMIZER_momentum);
    hd_layers_init(&l, c->ctx, networks[i].name, 1);
    l.training = true;
    int y = networks[i].build(&l, networks[i].batch);
    int k = hd_layer_integers(&l, "classes", 1, &networks[i].batch, NULL);
    int out[2] = {hd_loss_classes(&l, y, k), hd_metric_right(&l, y, k)};
    TRY(hd_layers_finish_all(&l, 2, out, &g));
    hd_status s = hd_trainer_open(c->ctx, g, &o, &t);
    if (s == HD_OK) s = measure(c->ctx, t, &seconds);
    const struct hd_recomputed *r = s == HD_OK ? hd_trainer_recomputed(t) : NULL;
    if (s == HD_OK)
        printf("%-9s batch %4lld  %8.2f ms", networks[i].name, (long long)networks[i].batch,
               1e3 * seconds);
    if (r) printf("  %zu of %zu bytes of temporaries", r->bytes, r->alone_bytes);
    if (s == HD_OK) printf("\n");
    hd_trainer_close(t);
    hd_graph_destroy(g);
    return s;
}

int hd_bench_train(struct hd_cmd *c) {
    hd_status s = HD_OK;
    struct hd_memory_limit none = {0}, memory = {0};
    if (c->opt.run.memory) s = hd_memory_limit_parse(c->ctx, c->opt.run.memory, &memory);
    for (int i = 0; i < (int)(sizeof networks / sizeof *networks) && s == HD_OK; i++) {
        s = one(c, i, &none);
        if (s != HD_OK || !c->opt.run.memory || one(c, i, &memory) == HD_OK) continue;
        printf("%s\n", hd_message(c->ctx)); /* the limit is not reached */
        hd_clear(c->ctx);
    }
    return s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
}
