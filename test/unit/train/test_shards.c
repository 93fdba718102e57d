/* Gradients of several ranks: sums by the fixed tree, buckets while a run goes on, networks that
 * train to the same bits on 1, 2, 4 and 8 ranks, by messages and in a window. Ranks are processes
 * with a transport over sockets, so ThreadSanitizer sees all that a rank does: make test-race. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "runtime/ranks/window.h"
#include "runtime/train/layers.h"
#include "runtime/train/losses.h"
#include "runtime/train/shards.h"
#include "test/rng.h"
#include "test/unit/train/on_ranks.h"

static void nap(uint32_t us) {
    nanosleep(&(struct timespec){0, (long)us * 1000}, NULL);
}

/* How ranks get to each other's gradients. */
static bool windows;

static int by_messages(void **state) {
    (void)state;
    windows = false;
    return setenv("HEDDLE_WINDOW", "none", 1);
}

static int in_window(void **state) {
    (void)state;
    windows = true;
    return unsetenv("HEDDLE_WINDOW");
}

/* All ranks are here, also where they have no window. */
static void meet(hd_ctx *ctx, hd_ranks *ranks) {
    char c = 0, other;
    for (int with = 1; with < hd_ranks_n(ranks); with *= 2)
        check_ok(ctx, hd_ranks_exchange(ctx, ranks, hd_ranks_me(ranks) ^ with, &c, &other, 1));
}

/* ---- windows ----------------------------------------------------------------------------------
 */

/* Each rank sees what the others write, in every round, wherever they dally. */
static void window_of_rank(hd_ctx *ctx, hd_ranks *ranks, char *out) {
    enum { ROUNDS = 40, LINE = 16 };
    int me = hd_ranks_me(ranks), n = hd_ranks_n(ranks);
    struct rng r = {(uint32_t)me + 3};
    hd_window *w = NULL, *other = NULL;
    check_ok(ctx, hd_window_open(ctx, ranks, sizeof(int) * MOST * LINE, &w));
    check_ok(ctx, hd_window_open(ctx, ranks, 1, &other)); /* two do not meet each other */
    *out = w != NULL;
    if (w && (!other || n < 2 || n & (n - 1))) exit(10);
    int *v = w ? hd_window_data(w) : NULL;
    for (int i = 0; w && i < MOST * LINE; i++)
        if (v[i]) exit(11);
    for (int round = 1; w && round <= ROUNDS; round++) {
        hd_window_meet(w);
        if (rng_next(&r) % 8 == 0) nap(rng_next(&r) % 200);
        v[me * LINE] = round * (me + 1);
        hd_window_meet(w);
        for (int i = 0; i < n; i++)
            if (v[i * LINE] != round * (i + 1)) exit(12);
    }
    hd_window_close(other);
    hd_window_close(w);
}

static void memory_of_ranks(void **state) {
    (void)state;
    char *out = shared();
    for (int n = 1; n <= MOST; n++) {
        on_ranks(n, window_of_rank, out);
        assert_int_equal(out[0], windows && n > 1 && !(n & (n - 1)));
    }
    munmap(out, SHARED);
}

/* ---- sums -------------------------------------------------------------------------------------
 */

/* More outputs than a bucket has, large ones, small ones, none. */
enum { RESULTS = 2, GRADIENTS = 9, OUTPUTS = RESULTS + GRADIENTS, SHARDS = 8, STEPS = 3 };
static const size_t elems[OUTPUTS] = {1, 1, 70000, 3, 0, 40000, 40000, 1, 90000, 17, 65536};
static const int order[OUTPUTS] = {10, 0, 9, 8, 1, 7, 5, 6, 3, 4, 2};

/* Values whose sums depend on the order. */
static float value(int step, int shard, int output, size_t i) {
    uint32_t h = (uint32_t)(step * 977 + shard * 131 + output * 17) * 2654435761u + (uint32_t)i;
    h = (h ^ h >> 15) * 2246822519u;
    return (float)(int)(h >> 8 & 0xffff) * ((h & 7) ? 1e-3f : 1e3f) - 7;
}

static float tree(int step, int first, int n, int output, size_t i) {
    if (n == 1) return value(step, first, output, i);
    float left = tree(step, first, n / 2, output, i);
    return left + tree(step, first + n / 2, n / 2, output, i);
}

/* A run: makes its outputs one by one, most of them where it was asked to, the others elsewhere
 * until its end; tells of most. */
static void run_of(struct hd_shards *s, struct rng *r, int step, int shard, float *const *kept,
                   void *const *out) {
    bool elsewhere[OUTPUTS];
    for (int i = 0; i < OUTPUTS; i++) {
        int k = order[i];
        elsewhere[k] = rng_next(r) % 4 == 0;
        float *to = elsewhere[k] ? kept[k] : out[k];
        for (size_t e = 0; e < elems[k]; e++) to[e] = value(step, shard, k, e);
        if (rng_next(r) % 4) hd_shards_made(s, k, to);
        if (rng_next(r) % 4 == 0) nap(rng_next(r) % 300);
    }
    for (int k = 0; k < OUTPUTS; k++)
        if (elsewhere[k]) memcpy(out[k], kept[k], elems[k] * sizeof(float));
}

/* A part of each gradient, with ends that are none of a cache line. */
static void own_part(int me, int n, int k, struct hd_shard_part *out) {
    size_t e = elems[RESULTS + k], m = (size_t)me, all = (size_t)n;
    *out = (struct hd_shard_part){k, e * m / all, e * (m + 1) / all - e * m / all};
}

/* Sums of parts that are a rank's own. */
static void parts_of_rank(hd_ctx *ctx, hd_ranks *ranks, char *out) {
    hd_arena *a = hd_arena_create();
    int me = hd_ranks_me(ranks), n = hd_ranks_n(ranks);
    struct rng r = {(uint32_t)me + 1};
    struct hd_shard_outputs o = {RESULTS, GRADIENTS, elems, order};
    struct hd_shards *s = NULL;
    struct hd_shard_part part[GRADIENTS];
    float *kept[OUTPUTS], results[RESULTS];
    void *to[OUTPUTS];
    (void)out;
    for (int k = 0; k < OUTPUTS; k++) kept[k] = hd_new_array(a, float, elems[k] + 1);
    check_ok(ctx, hd_shards_open(ctx, a, SHARDS, ranks, &o, &s));
    for (int k = 0; k < GRADIENTS; k++) own_part(me, n, k, &part[k]);
    hd_shards_own(s, part, GRADIENTS);
    for (int step = 0; step < STEPS; step++) {
        const float *const *g = NULL;
        int first = 0, mine = hd_shards_begin(s, &first);
        for (int k = first; k < first + mine; k++) {
            hd_shards_room(s, to);
            run_of(s, &r, step, k, kept, to);
            hd_shards_add(s);
        }
        check_ok(ctx, hd_shards_sum(ctx, s, results, &g));
        if (results[0] != tree(step, 0, SHARDS, 0, 0) / SHARDS) exit(13);
        if (results[1] != tree(step, 0, SHARDS, 1, 0)) exit(14);
        for (int k = 0; k < GRADIENTS; k++)
            for (size_t e = part[k].from; e < part[k].from + part[k].n; e++)
                if (g[k][e] != tree(step, 0, SHARDS, RESULTS + k, e) / SHARDS) exit(15);
        meet(ctx, ranks);
    }
    hd_shards_close(s);
    hd_arena_destroy(a);
}

static void parts(void **state) {
    (void)state;
    char *out = shared();
    for (int n = 2; n <= MOST; n *= 2) on_ranks(n, parts_of_rank, out);
    munmap(out, SHARED);
}

static void sums_of_rank(hd_ctx *ctx, hd_ranks *ranks, char *out) {
    hd_arena *a = hd_arena_create();
    struct rng r = {(uint32_t)hd_ranks_me(ranks) + 1};
    struct hd_shard_outputs o = {RESULTS, GRADIENTS, elems, order};
    struct hd_shards *s = NULL;
    float *kept[OUTPUTS], results[RESULTS];
    void *to[OUTPUTS];
    for (int k = 0; k < OUTPUTS; k++) kept[k] = hd_new_array(a, float, elems[k] + 1);
    check_ok(ctx, hd_shards_open(ctx, a, SHARDS, ranks, &o, &s));
    if (hd_shards_window(s) != (windows && hd_ranks_n(ranks) > 1)) exit(8);
    for (int step = 0; step < STEPS; step++) {
        const float *const *g = NULL;
        int first = 0, n = hd_shards_begin(s, &first);
        for (int k = first; k < first + n; k++) {
            hd_shards_room(s, to);
            run_of(s, &r, step, k, kept, to);
            hd_shards_add(s);
        }
        check_ok(ctx, hd_shards_sum(ctx, s, results, &g));
        for (int k = 0; k < OUTPUTS; k++) {
            size_t bytes = elems[k] * sizeof(float);
            memcpy(out, k < RESULTS ? &results[k] : g[k - RESULTS], bytes);
            out += bytes;
        }
    }
    hd_shards_close(s);
    hd_arena_destroy(a);
}

static void sums(void **state) {
    (void)state;
    for (int n = 1; n <= MOST; n *= 2) {
        char *out = shared();
        on_ranks(n, sums_of_rank, out);
        const float *got = (const float *)out;
        for (int step = 0; step < STEPS; step++)
            for (int k = 0; k < OUTPUTS; k++)
                for (size_t e = 0; e < elems[k]; e++, got++) {
                    float want = tree(step, 0, SHARDS, k, e) * (k == 1 ? 1 : 1.0f / SHARDS);
                    if (memcmp(got, &want, sizeof want) != 0)
                        fail_msg("%d ranks, step %d, output %d [%zu]: %.9g, want %.9g", n, step, k,
                                 e, (double)*got, (double)want);
                }
        munmap(out, SHARED);
    }
}

/* ---- networks ---------------------------------------------------------------------------------
 */

enum { BATCH = 2, IN = 3 * 8 * 8 };

static hd_graph *network(hd_ctx *ctx) {
    struct hd_layers l;
    hd_graph *g = NULL;
    int64_t n = BATCH;
    hd_layers_init(&l, ctx, "block", 3);
    l.training = true;
    int x = hd_layer_input(&l, "x", 4, (int64_t[]){n, 3, 8, 8}, NULL);
    x = hd_layer_relu(&l, hd_layer_conv_norm(&l, x, 8, 3, 1));
    x = hd_layer_residual(&l, x, 16, 2);
    x = hd_layer_relu(&l, hd_layer_dense(&l, hd_layer_pool(&l, x), 300));
    x = hd_layer_dense(&l, hd_layer_relu(&l, hd_layer_dense(&l, x, 300)), 10);
    int k = hd_layer_integers(&l, "classes", 1, &n, NULL);
    int y[2] = {hd_loss_classes(&l, x, k), hd_metric_right(&l, x, k)};
    check_ok(ctx, hd_layers_finish_all(&l, 2, y, &g));
    return g;
}

/* How networks are trained. */
static struct hd_optimizer_options optimizer;

/* Whether p is in memory that ranks share. */
static bool is_shared(const void *p) {
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long from, to;
    bool is = false;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && (unsigned long)p >= from &&
            (unsigned long)p < to)
            is = strstr(line, "memfd:heddle");
    if (f) fclose(f);
    return is;
}

/* An update by elements lies in the window, as its states. */
static void check_place(const hd_trainer *t, const hd_graph *g, hd_ranks *ranks) {
    size_t bytes = 0;
    const float *w = NULL;
    for (size_t i = 0; i < g->n_tensors && !w; i++)
        w = hd_trainer_weight(t, g->tensors[i].name, &bytes);
    bool splits = optimizer.kind != HD_OPTIMIZER_lamb && !(optimizer.clip_norm > 0);
    if (!w || is_shared(w) != (windows && splits && hd_ranks_n(ranks) > 1)) exit(9);
}

/* Goes on from a checkpoint, as another job would. */
static void go_on(hd_ctx *ctx, hd_ranks *ranks, const hd_graph *g, const struct hd_train_options *o,
                  hd_trainer **t) {
    char path[] = "/tmp/heddle-shards-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) exit(16);
    close(fd);
    check_ok(ctx, hd_trainer_save(ctx, *t, path));
    meet(ctx, ranks);
    hd_trainer_close(*t);
    check_ok(ctx, hd_trainer_open(ctx, g, o, t));
    check_ok(ctx, hd_trainer_load(ctx, *t, path));
    unlink(path);
    check_place(*t, g, ranks);
}

static void steps_of_rank(hd_ctx *ctx, hd_ranks *ranks, char *out) {
    struct hd_train_options o = {.device = "cpu", .threads = 1, .shards = SHARDS, .ranks = ranks};
    hd_graph *g = network(ctx);
    hd_trainer *t = NULL;
    struct rng r = {5};
    float x[SHARDS * BATCH * IN], results[2];
    int64_t k[SHARDS * BATCH];
    o.optimizer = optimizer;
    check_ok(ctx, hd_trainer_open(ctx, g, &o, &t));
    check_place(t, g, ranks);
    for (int step = 0; step < STEPS; step++) {
        if (step == STEPS - 1 && hd_ranks_n(ranks) <= 2) go_on(ctx, ranks, g, &o, &t);
        for (int i = 0; i < SHARDS * BATCH * IN; i++)
            x[i] = (float)(int)(rng_next(&r) % 401 - 200) * 0.01f;
        for (int i = 0; i < SHARDS * BATCH; i++) k[i] = rng_next(&r) % 10;
        nap(rng_next(&r) % 7 * (uint32_t)hd_ranks_me(ranks) * 100);
        check_ok(ctx, hd_trainer_run(ctx, t, (const void *[]){x, k}, results));
        memcpy(out, results, sizeof results);
        out += sizeof results;
    }
    check_ok(ctx, hd_trainer_weights(ctx, t, g));
    for (size_t i = 0; i < g->n_tensors; i++) {
        const struct hd_tensor *w = &g->tensors[i];
        if (!w->data || w->dtype != HD_F32) continue;
        memcpy(out, w->data, hd_tensor_bytes(w));
        out += hd_tensor_bytes(w);
    }
    hd_trainer_close(t);
    hd_graph_destroy(g);
}

/* Of a network of logits whose loss scale adapts. In step 1 one shard has an overflow: all ranks
 * leave the step out, and its results are none. */
static void overflow_of_rank(hd_ctx *ctx, hd_ranks *ranks, char *out) {
    struct hd_train_options o = {.device = "cpu", .threads = 1, .shards = SHARDS, .ranks = ranks};
    enum { PIXELS = 64 };
    hd_graph *g = NULL;
    hd_trainer *t = NULL;
    struct rng r = {5};
    float x[SHARDS * BATCH * PIXELS];
    int64_t k[SHARDS * BATCH];
    struct hd_train_result results[STEPS];
    o.optimizer = hd_optimizer_default(HD_OPTIMIZER_adam);
    o.precision = "bf16", o.scale_steps = 100;
    check_ok(ctx, hd_zoo_build(ctx, "mlp", BATCH, 3, &g));
    check_ok(ctx, hd_trainer_open(ctx, g, &o, &t));
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < SHARDS * BATCH * PIXELS; i++) x[i] = (float)(rng_next(&r) % 17);
        for (int i = 0; i < SHARDS * BATCH; i++) k[i] = rng_next(&r) % 10;
        if (step == 1) x[5 * BATCH * PIXELS + 3] = INFINITY;
        check_ok(ctx, hd_trainer_step(ctx, t, x, k, &results[step]));
    }
    if (hd_trainer_loss_scale(t) != 32768 || hd_trainer_skipped(t) != 1) exit(7);
    memcpy(out, &results[0], sizeof *results);
    memcpy(out + sizeof *results, &results[2], sizeof *results);
    out += 2 * sizeof *results;
    for (size_t i = 0; i < g->n_tensors; i++) {
        size_t bytes = 0;
        const float *w = hd_trainer_weight(t, g->tensors[i].name, &bytes);
        if (w) memcpy(out, w, bytes);
        out += bytes;
    }
    hd_trainer_close(t);
    hd_graph_destroy(g);
}

static void same_on_all(int most, void (*fn)(hd_ctx *, hd_ranks *, char *)) {
    char *alone = shared();
    on_ranks(1, fn, alone);
    assert_true(((const float *)alone)[0] > 0);
    for (int n = 2; n <= most; n *= 2) {
        char *out = shared();
        on_ranks(n, fn, out);
        if (memcmp(out, alone, SHARED) != 0) fail_msg("%d ranks train other bits than one", n);
        munmap(out, SHARED);
    }
    munmap(alone, SHARED);
}

static void networks(void **state) {
    (void)state;
    optimizer = hd_optimizer_default(HD_OPTIMIZER_adam);
    same_on_all(MOST, steps_of_rank);
}

/* One slot and none; those that take a norm, which no rank can have by itself. */
static void optimizers(void **state) {
    (void)state;
    optimizer = hd_optimizer_default(HD_OPTIMIZER_momentum);
    optimizer.weight_decay = 0.01, optimizer.clip_value = 0.05;
    same_on_all(2, steps_of_rank);
    optimizer = hd_optimizer_default(HD_OPTIMIZER_sgd);
    optimizer.clip_norm = 0.1;
    same_on_all(2, steps_of_rank);
    optimizer = hd_optimizer_default(HD_OPTIMIZER_lamb);
    same_on_all(2, steps_of_rank);
}

static void overflows(void **state) {
    (void)state;
    same_on_all(windows ? 2 : MOST, overflow_of_rank);
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

static void exchange_fails(hd_ctx *ctx, hd_ranks *ranks, char *out) {
    hd_arena *a = hd_arena_create();
    struct rng r = {1};
    struct hd_shard_outputs o = {RESULTS, GRADIENTS, elems, order};
    struct hd_shards *s = NULL;
    float *kept[OUTPUTS], results[RESULTS];
    void *to[OUTPUTS];
    const float *const *g = NULL;
    int first = 0;
    for (int k = 0; k < OUTPUTS; k++) kept[k] = hd_new_array(a, float, elems[k] + 1);
    check_ok(ctx, hd_shards_open(ctx, a, 2, ranks, &o, &s));
    meet(ctx, ranks);
    net.broken = true;
    hd_shards_begin(s, &first);
    hd_shards_room(s, to);
    run_of(s, &r, 0, first, kept, to);
    hd_shards_add(s);
    if (hd_shards_sum(ctx, s, results, &g) != HD_IO) exit(4);
    strcpy(out, hd_message(ctx));
    hd_shards_close(s);
    s = NULL;
    if (hd_shards_open(ctx, a, SHARDS, ranks, &o, &s) != HD_IO) exit(17);
    hd_shards_close(s);
    net.broken = false;
    check_ok(ctx, hd_shards_open(ctx, a, SHARDS, ranks, &o, &s)); /* closed before it is used */
    hd_shards_close(s);
    if (hd_shards_open(ctx, a, 6, ranks, &o, &s) != HD_INVALID) exit(5);
    if (hd_shards_open(ctx, a, 1, ranks, &o, &s) != HD_INVALID) exit(6);
    hd_arena_destroy(a);
}

static void refusals(void **state) {
    (void)state;
    char *out = shared();
    on_ranks(2, exchange_fails, out);
    assert_non_null(strstr(out, "exchanging with rank 1: MPI error 42"));
    munmap(out, SHARED);
}

#define BOTH_WAYS(test)                                                                            \
    cmocka_unit_test_setup(test, by_messages), cmocka_unit_test_setup(test, in_window)

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH_WAYS(memory_of_ranks),
        BOTH_WAYS(sums),
        cmocka_unit_test_setup(parts, in_window),
        BOTH_WAYS(networks),
        cmocka_unit_test_setup(optimizers, in_window),
        BOTH_WAYS(overflows),
        cmocka_unit_test_setup(refusals, by_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
