/* Sums over shards: see shards.h. */
#include "runtime/train/shards.h"

enum { LEVELS = 31 };

struct hd_shards {
    hd_ranks *ranks;
    int shards, me, n_ranks, n, results; /* n: gradients */
    size_t *at, elems;    /* of a buffer: where a gradient begins, behind the results */
    float *level[LEVELS]; /* sums of 2^i shards */
    bool full[LEVELS];
    float *fresh, *other; /* of the shard that runs; of another rank */
    const float **gradients;
};

static hd_status check(hd_ctx *ctx, int shards, int ranks) {
    if (shards < 1 || shards & (shards - 1))
        return hd_fail(ctx, HD_INVALID, "%d shards: want 1, 2, 4, 8, ..", shards);
    if (shards % ranks)
        return hd_fail(ctx, HD_INVALID, "%d shards on %d ranks: want 1, 2, 4, .. up to %d ranks",
                       shards, ranks, shards);
    return HD_OK;
}

hd_status hd_shards_open(hd_ctx *ctx, hd_arena *a, int shards, hd_ranks *ranks, const size_t *bytes,
                         int n, int results, struct hd_shards **out) {
    struct hd_shards *s = hd_new(a, struct hd_shards);
    s->ranks = ranks, s->n = n, s->results = results, s->n_ranks = ranks ? hd_ranks_n(ranks) : 1;
    s->shards = shards < 1 ? s->n_ranks : shards, s->me = ranks ? hd_ranks_me(ranks) : 0;
    TRY(check(ctx, s->shards, s->n_ranks));
    s->at = hd_new_array(a, size_t, (size_t)n + 1);
    s->elems = (size_t)results;
    for (int i = 0; i < n; i++) {
        s->at[i] = s->elems;
        s->elems += bytes[i] / sizeof(float);
    }
    s->gradients = hd_new_array(a, const float *, (size_t)n + 1);
    for (int i = 0; i < LEVELS && 1 << i <= s->shards / s->n_ranks; i++)
        s->level[i] = hd_new_array(a, float, s->elems);
    s->other = hd_new_array(a, float, s->elems);
    *out = s;
    return HD_OK;
}

int hd_shards_n(const struct hd_shards *s) {
    return s->shards;
}

int hd_shards_mine(const struct hd_shards *s, int *first) {
    int n = s->shards / s->n_ranks;
    *first = s->me * n;
    return n;
}

void hd_shards_room(struct hd_shards *s, void **out) {
    s->fresh = s->full[0] ? s->other : s->level[0];
    for (int i = 0; i < s->results; i++) out[i] = s->fresh + i;
    for (int i = 0; i < s->n; i++) out[s->results + i] = s->fresh + s->at[i];
}

/* left + right, into left. */
static void add(float *left, const float *right, size_t n) {
    for (size_t i = 0; i < n; i++) left[i] += right[i];
}

/* The sum of two full levels goes to the next: buffers change places, nothing is copied. */
static void carry(struct hd_shards *s, int i) {
    float *sum = s->level[i];
    s->full[i] = false;
    if (!s->full[i + 1]) {
        s->level[i] = s->level[i + 1];
        s->level[i + 1] = sum;
        s->full[i + 1] = true;
        return;
    }
    add(s->level[i + 1], sum, s->elems);
    carry(s, i + 1);
}

void hd_shards_add(struct hd_shards *s) {
    if (!s->full[0]) {
        s->full[0] = true;
        return;
    }
    add(s->level[0], s->fresh, s->elems);
    carry(s, 0);
}

hd_status hd_shards_sum(hd_ctx *ctx, struct hd_shards *s, float *r, const float *const **out) {
    int top = 0;
    while (!s->full[top]) top++;
    float *sum = s->level[top], factor = 1 / (float)s->shards;
    for (int with = 1; with < s->n_ranks; with *= 2) {
        TRY(hd_ranks_exchange(ctx, s->ranks, s->me ^ with, sum, s->other, s->elems * sizeof *sum));
        add(sum, s->other, s->elems);
    }
    for (int i = 0; i < s->results; i++) r[i] = i ? sum[i] : sum[i] * factor;
    for (size_t i = (size_t)s->results; i < s->elems; i++) sum[i] *= factor;
    for (int i = 0; i < s->n; i++) s->gradients[i] = sum + s->at[i];
    s->full[top] = false;
    *out = s->gradients;
    return HD_OK;
}
