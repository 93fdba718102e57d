/* Ranks on device cuda whose gradients go from GPU to GPU: on a driver and an NCCL that stand in,
 * networks train to the same bits as on one rank and as by MPI; a rank without NCCL, errors. Ranks
 * are processes, and NCCL's link is a socket of its own. */
#include <math.h>
#include <string.h>

#include "runtime/train/layers.h"
#include "runtime/train/peers.h"
#include "test/gpu/nccl_stand_in.h"
#include "test/rng.h"
#include "test/unit/train/on_ranks.h"

enum { SHARDS = 4, BATCH = 2, PIXELS = 64, STEPS = 3, WEIGHTS = 6 };

static struct {
    bool none, rank_1_none, adapts; /* no NCCL: on all ranks, on one; in 16 bits with an overflow */
    int fail_at;                    /* the call of NCCL, as rank 0 counts; 0 = none */
} how;

static int swap(int with, const void *out, void *in, size_t bytes) {
    return net_swap(LINK_OTHER, with, out, in, bytes);
}

static void batch(struct rng *r, bool overflow, float *x, int64_t *k) {
    for (int i = 0; i < SHARDS * BATCH * PIXELS; i++) x[i] = (float)(rng_next(r) % 17) - 5;
    for (int i = 0; i < SHARDS * BATCH; i++) k[i] = rng_next(r) % 10;
    if (overflow) x[3 * BATCH * PIXELS + 1] = INFINITY;
}

/* Steps, and what they come to. */
static void steps(hd_ctx *ctx, const hd_graph *g, hd_trainer *t, char *out) {
    struct rng r = {5};
    float x[SHARDS * BATCH * PIXELS];
    int64_t k[SHARDS * BATCH];
    struct hd_train_result result[STEPS];
    for (int step = 0; step < STEPS; step++) {
        batch(&r, how.adapts && step == 1, x, k);
        check_ok(ctx, hd_trainer_step(ctx, t, x, k, &result[step]));
        if (how.adapts && step == 1) continue; /* not a number */
        memcpy(out, &result[step], sizeof *result);
        out += sizeof *result;
    }
    for (size_t i = 0; i < g->n_tensors; i++) {
        size_t bytes = 0;
        const float *w = hd_trainer_weight(t, g->tensors[i].name, &bytes);
        if (w) memcpy(out, w, bytes);
        out += bytes;
    }
}

/* That gradients went the way they should: each weight's of each shard, in a group for a shard. */
static void check_way(const hd_trainer *t, int n) {
    bool peers = n > 1 && !how.none && !how.rank_1_none;
    const char *why = hd_trainer_no_peers(t);
    int mine = SHARDS / n;
    if (n > 1 && peers != !why) exit(10);
    if (why && how.rank_1_none && net.me != 1 && !strstr(why, "another rank")) exit(11);
    if (nccl_seen.groups != (peers ? STEPS * mine : 0)) exit(12);
    if (nccl_seen.gathers != (peers ? STEPS * mine * WEIGHTS : 0)) exit(13);
    if (hd_trainer_skipped(t) != how.adapts) exit(14);
}

static void check_end(void) {
    if (emu.wrong) fprintf(stderr, "a driver would refuse: %s\n", emu.wrong);
    if (emu.wrong || emu.live || nccl_seen.live) exit(15);
    emu_clean();
}

static void train(hd_ctx *ctx, hd_ranks *ranks, char *out) {
    struct hd_train_options o = {.device = "cuda", .shards = SHARDS, .ranks = ranks};
    hd_graph *g = NULL;
    hd_trainer *t = NULL;
    o.optimizer = hd_optimizer_default(HD_OPTIMIZER_adam);
    if (how.adapts) o.precision = "bf16", o.scale_steps = 100;
    if (how.none || (how.rank_1_none && net.me == 1)) setenv("HEDDLE_CUDA_LIBRARIES", "none", 1);
    nccl_seen.swap = swap;
    check_ok(ctx, hd_zoo_build(ctx, "mlp:16:16", BATCH, 3, &g));
    check_ok(ctx, hd_trainer_open(ctx, g, &o, &t));
    steps(ctx, g, t, out);
    check_way(t, hd_ranks_n(ranks));
    hd_trainer_close(t);
    hd_graph_destroy(g);
    check_end();
}

static void same_bits(void **state) {
    char *alone = shared();
    (void)state;
    on_ranks(1, train, alone);
    assert_true(((const float *)alone)[0] > 0);
    for (int i = 0; i < 4; i++) { /* two and four ranks; without NCCL; one without it */
        char *out = shared();
        how.none = i == 2, how.rank_1_none = i == 3;
        on_ranks(i == 1 ? 4 : 2, train, out);
        if (memcmp(out, alone, SHARED) != 0) fail_msg("case %d trains other bits than one rank", i);
        munmap(out, SHARED);
    }
    how.none = how.rank_1_none = false;
    munmap(alone, SHARED);
}

static void overflow(void **state) {
    char *alone = shared(), *out = shared();
    (void)state;
    memset(&how, 0, sizeof how);
    how.adapts = true;
    on_ranks(1, train, alone);
    on_ranks(2, train, out);
    how.adapts = false;
    assert_memory_equal(out, alone, SHARED);
    munmap(out, SHARED);
    munmap(alone, SHARED);
}

/* Every rank sees the same call fail: while it joins, in a step. */
static void fails(hd_ctx *ctx, hd_ranks *ranks, char *out) {
    struct hd_train_options o = {.device = "cuda", .shards = SHARDS, .ranks = ranks};
    hd_graph *g = NULL;
    hd_trainer *t = NULL;
    struct rng r = {5};
    struct hd_train_result result;
    float x[SHARDS * BATCH * PIXELS];
    int64_t k[SHARDS * BATCH];
    (void)out;
    nccl_seen.swap = swap;
    nccl_seen.fail_at = how.fail_at - net.me; /* rank 0 alone makes the group's name */
    batch(&r, false, x, k);
    check_ok(ctx, hd_zoo_build(ctx, "mlp:16:16", BATCH, 3, &g));
    hd_status s = hd_trainer_open(ctx, g, &o, &t);
    if ((s == HD_OK) != (how.fail_at > 2)) exit(16);
    if (s == HD_OK) s = hd_trainer_step(ctx, t, x, k, &result);
    if (s != HD_DEVICE || !strstr(hd_message(ctx), "cuda: nccl")) exit(17);
    hd_trainer_close(t);
    hd_graph_destroy(g);
    check_end();
}

static void errors(void **state) {
    static const int at[] = {2, 3, 5, 3 + WEIGHTS + 1}; /* join, begin, move, end */
    char *out = shared();
    (void)state;
    memset(&how, 0, sizeof how);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        how.fail_at = at[i];
        on_ranks(2, fails, out);
    }
    how.fail_at = 0;
    munmap(out, SHARED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits),
        cmocka_unit_test(overflow),
        cmocka_unit_test(errors),
    };
    char cache[] = "/tmp/hd_peers_XXXXXX", command[64];
    if (!mkdtemp(cache)) return 1;
    setenv("XDG_CACHE_HOME", cache, 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -r %s", cache);
    return failed || system(command) != 0;
}
