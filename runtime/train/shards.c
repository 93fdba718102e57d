/* Sums over shards: see shards.h. */
#include "runtime/train/shards.h"

#include <pthread.h>
#include <string.h>

#include "runtime/ranks/window.h"

/* BUCKET: elements, at least. One exchange costs some 100 us of waiting; 256 KiB are added and sent
 * in about as long. LINE: elements of a cache line. */
enum { LEVELS = 31, BUCKET = 1 << 16, PART = 1 << 12, LINE = 16 };

struct bucket {
    size_t at, elems;     /* of the buffers */
    int first, n_outputs; /* in the order in which they are made */
    int missing;          /* of the last shard: outputs that are not made yet; under the lock */
};

struct hd_shards {
    hd_ranks *ranks;
    int shards, me, n_ranks, n, results; /* n: results, gradients */
    int mine, left;     /* shards of this rank; that did not begin yet in this step */
    size_t *at, elems;  /* of a buffer: where an output begins */
    const size_t *size; /* of an output */
    const int *order;
    int *bucket_of;
    struct bucket *bucket;
    int n_buckets;
    float *level[LEVELS]; /* sums of 2^i shards */
    bool full[LEVELS];
    /* Of the shard that runs; of the last shard, then of this rank, then of all; of another rank.
     */
    float *fresh, *sum, *other;
    float *mean;                      /* of all shards: the sum, or the window's */
    hd_window *window;                /* NULL = ranks send messages */
    size_t of_rank;                   /* its elements of one rank */
    float *spare;                     /* PART for each level of ranks */
    const struct hd_shard_part *part; /* that this rank forms in it */
    int n_parts;
    bool own;   /* ... and alone reads */
    bool *told; /* outputs of the last shard that are made */
    const float **gradients;

    bool threaded;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop;
    int next;    /* the first bucket that is not summed */
    hd_ctx *ctx; /* the thread's */
    hd_status status;
};

static hd_status check(hd_ctx *ctx, int shards, int ranks) {
    if (shards < 1 || shards & (shards - 1))
        return hd_fail(ctx, HD_INVALID, "%d shards: want 1, 2, 4, 8, ..", shards);
    if (shards % ranks)
        return hd_fail(ctx, HD_INVALID, "%d shards on %d ranks: want 1, 2, 4, .. up to %d ranks",
                       shards, ranks, shards);
    return HD_OK;
}

/* ---- buckets ----------------------------------------------------------------------------------
 */

static void make_buckets(struct hd_shards *s) {
    struct bucket *b = NULL;
    for (int i = 0; i < s->n; i++) {
        int output = s->order[i];
        if (!b || b->elems >= BUCKET) {
            b = &s->bucket[s->n_buckets++];
            *b = (struct bucket){.at = s->elems, .first = i};
        }
        s->at[output] = s->elems;
        s->bucket_of[output] = s->n_buckets - 1;
        s->elems += s->size[output];
        b->elems += s->size[output];
        b->n_outputs++;
        if (b->elems < BUCKET && i + 1 < s->n) continue;
        size_t odd = b->elems % (size_t)s->n_ranks; /* ranks get parts of one size */
        if (odd) s->elems += (size_t)s->n_ranks - odd, b->elems += (size_t)s->n_ranks - odd;
    }
}

/* left + right, into left. */
static void add(float *left, const float *right, size_t n) {
    for (size_t i = 0; i < n; i++) left[i] += right[i];
}

/* Sums become means, but for results that are counts. */
static void divide(struct hd_shards *s, const struct bucket *b, size_t from, size_t to) {
    const float factor = 1 / (float)s->shards;
    for (int i = 0; i < b->n_outputs; i++) {
        int output = s->order[b->first + i];
        size_t at = s->at[output], end = at + s->size[output];
        if (output > 0 && output < s->results) continue;
        for (size_t k = at > from ? at : from; k < end && k < to; k++) s->sum[k] *= factor;
    }
}

/* The other shards of this rank: so many values of the last shard that they stay in the cache. */
static void add_levels(struct hd_shards *s, const struct bucket *b, size_t at, size_t n) {
    for (int i = 0; 1 << i < s->mine; i++) add(s->sum + at, s->level[i] + at, n);
    if (s->n_ranks == 1) divide(s, b, at, at + n);
}

/* The values of another rank; last: there are no more to come. */
static void add_other(struct hd_shards *s, const struct bucket *b, size_t at, size_t n, bool last) {
    for (size_t k = at; k < at + n; k += PART) {
        size_t left = at + n - k, part = left < PART ? left : PART;
        add(s->sum + k, s->other + k, part);
        if (last) divide(s, b, k, k + part);
    }
}

/* The sum of the last shard's outputs, of this rank's other shards, of other ranks. Ranks halve the
 * bucket until each has a part of it, whose sums it forms; then they collect the parts (Thakur and
 * others, 2005: recursive halving and doubling). Ranks 2^i apart are added in step i. */
static hd_status reduce(hd_ctx *ctx, struct hd_shards *s, const struct bucket *b) {
    size_t at = b->at, n = b->elems;
    int with = 1;
    for (size_t k = at, end = at + n; k < end; k += PART)
        add_levels(s, b, k, end - k < PART ? end - k : PART);
    for (; with < s->n_ranks; with *= 2) {
        n /= 2;
        size_t theirs = s->me & with ? at : at + n;
        at = s->me & with ? at + n : at;
        TRY(hd_ranks_exchange(ctx, s->ranks, s->me ^ with, s->sum + theirs, s->other + at,
                              n * sizeof *s->sum));
        add_other(s, b, at, n, 2 * with == s->n_ranks);
    }
    for (; with > 1; n *= 2) {
        with /= 2;
        size_t theirs = s->me & with ? at - n : at + n;
        TRY(hd_ranks_exchange(ctx, s->ranks, s->me ^ with, s->sum + at, s->sum + theirs,
                              n * sizeof *s->sum));
        at = at < theirs ? at : theirs;
    }
    return HD_OK;
}

/* ---- in a window ------------------------------------------------------------------------------
 */

/* Where rank r has what this one has at `mine`. */
static const float *of_rank(const struct hd_shards *s, const float *mine, int r) {
    return mine + (ptrdiff_t)s->of_rank * (r - s->me);
}

/* n values of the shards of so many ranks. */
static void sum_of_ranks(const struct hd_shards *s, int first, int ranks, size_t at, size_t n,
                         float *to, float *spare) {
    if (ranks > 1) {
        sum_of_ranks(s, first, ranks / 2, at, n, to, spare);
        sum_of_ranks(s, first + ranks / 2, ranks / 2, at, n, spare, spare + PART);
        add(to, spare, n);
        return;
    }
    memcpy(to, of_rank(s, s->sum, first) + at, n * sizeof *to);
    for (int i = 0; 1 << i < s->mine; i++) add(to, of_rank(s, s->level[i], first) + at, n);
}

/* Results are few: every rank forms them. */
static void reduce_window(struct hd_shards *s, float *r) {
    const float factor = 1 / (float)s->shards;
    hd_window_meet(s->window); /* all have run their shards */
    for (int i = 0; i < s->results; i++)
        sum_of_ranks(s, 0, s->n_ranks, s->at[i], 1, r + i, s->spare);
    if (s->results) r[0] *= factor;
    for (const struct hd_shard_part *p = s->part; p < s->part + s->n_parts; p++) {
        size_t from = s->at[s->results + p->gradient] + p->from, to = from + p->n;
        for (size_t k = from; k < to; k += PART) {
            size_t n = to - k < PART ? to - k : PART;
            sum_of_ranks(s, 0, s->n_ranks, k, n, s->mean + k, s->spare);
            for (size_t i = k; i < k + n; i++) s->mean[i] *= factor;
        }
    }
    if (!s->own) hd_window_meet(s->window); /* all sums are there, and buffers are free */
}

/* An equal share of each gradient. */
static void share_parts(struct hd_shards *s, hd_arena *a) {
    s->n_parts = s->n - s->results;
    struct hd_shard_part *p = hd_new_array(a, struct hd_shard_part, (size_t)s->n_parts + 1);
    for (int i = 0; i < s->n_parts; i++) {
        size_t elems = s->size[s->results + i], one = elems / (size_t)s->n_ranks;
        bool last = s->me + 1 == s->n_ranks;
        p[i] = (struct hd_shard_part){i, one * (size_t)s->me, one};
        if (last) p[i].n = elems - p[i].from;
    }
    s->part = p;
}

/* ---- the thread -------------------------------------------------------------------------------
 */

static bool ready(const struct hd_shards *s) {
    return s->next < s->n_buckets && !s->bucket[s->next].missing;
}

static void *work(void *user) {
    struct hd_shards *s = user;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        if (!ready(s)) {
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        const struct bucket *b = &s->bucket[s->next];
        hd_status status = s->status;
        pthread_mutex_unlock(&s->lock);
        if (status == HD_OK) status = reduce(s->ctx, s, b);
        pthread_mutex_lock(&s->lock);
        s->status = status;
        if (++s->next == s->n_buckets) pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static hd_status start(hd_ctx *ctx, struct hd_shards *s) {
    s->ctx = hd_ctx_create();
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->threaded = !pthread_create(&s->thread, NULL, work, s);
    if (s->threaded) return HD_OK;
    hd_ctx_destroy(s->ctx);
    return hd_fail(ctx, HD_NOMEM, "no thread to exchange gradients");
}

void hd_shards_close(struct hd_shards *s) {
    if (!s) return;
    hd_window_close(s->window);
    if (!s->threaded) return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    hd_ctx_destroy(s->ctx);
}

/* ---- for the trainer --------------------------------------------------------------------------
 */

/* Sums of levels, of the last shard, and of all: where all ranks see them, if they can. */
static hd_status make_room(hd_ctx *ctx, struct hd_shards *s, hd_arena *a, bool share) {
    int n = 1;
    while (1 << (n - 1) < s->mine) n++;
    s->of_rank = (size_t)n * s->elems;
    size_t all = s->of_rank * (size_t)s->n_ranks + s->elems;
    if (share) TRY(hd_window_open(ctx, s->ranks, all * sizeof(float), &s->window));
    float *of_all = s->window ? hd_window_data(s->window) : NULL;
    float *mine = of_all ? of_all + s->of_rank * (size_t)s->me : hd_new_array(a, float, s->of_rank);
    for (int i = 0; i < n - 1; i++) s->level[i] = mine + (size_t)i * s->elems;
    s->sum = mine + (size_t)(n - 1) * s->elems;
    s->mean = of_all ? of_all + s->of_rank * (size_t)s->n_ranks : s->sum;
    s->fresh = hd_new_array(a, float, s->elems);
    if (!of_all) s->other = hd_new_array(a, float, s->elems);
    if (of_all) s->spare = hd_new_array(a, float, (size_t)s->n_ranks *PART);
    if (of_all) share_parts(s, a);
    return HD_OK;
}

hd_status hd_shards_open(hd_ctx *ctx, hd_arena *a, int shards, hd_ranks *ranks,
                         const struct hd_shard_outputs *outputs, struct hd_shards **out) {
    struct hd_shards *s = hd_new(a, struct hd_shards);
    s->n_ranks = ranks ? hd_ranks_n(ranks) : 1, s->me = ranks ? hd_ranks_me(ranks) : 0;
    s->shards = shards < 1 ? s->n_ranks : shards, s->ranks = ranks;
    TRY(check(ctx, s->shards, s->n_ranks));
    s->mine = s->left = s->shards / s->n_ranks;
    s->results = outputs->results, s->n = outputs->results + outputs->gradients;
    size_t n = (size_t)s->n + 1;
    s->order = hd_dup(a, outputs->order, (size_t)s->n * sizeof *s->order);
    s->size = hd_dup(a, outputs->elems, (size_t)s->n * sizeof *s->size);
    s->at = hd_new_array(a, size_t, n);
    s->bucket_of = hd_new_array(a, int, n);
    s->bucket = hd_new_array(a, struct bucket, n);
    s->told = hd_new_array(a, bool, n);
    s->gradients = hd_new_array(a, const float *, n);
    make_buckets(s);
    s->elems = (s->elems + LINE - 1) / LINE * LINE;
    *out = s;
    TRY(make_room(ctx, s, a, s->n_ranks > 1 && outputs->gradients > 0));
    s->next = s->n_buckets;
    return s->n_ranks > 1 && !s->window ? start(ctx, s) : HD_OK;
}

int hd_shards_n(const struct hd_shards *s) {
    return s->shards;
}

bool hd_shards_window(const struct hd_shards *s) {
    return s->window;
}

void hd_shards_own(struct hd_shards *s, const struct hd_shard_part *parts, int n) {
    s->part = parts, s->n_parts = n, s->own = true;
}

int hd_shards_begin(struct hd_shards *s, int *first) {
    memset(s->full, 0, sizeof s->full);
    s->left = s->mine;
    *first = s->me * s->mine;
    return s->mine;
}

void hd_shards_room(struct hd_shards *s, void **out) {
    float *to = s->full[0] ? s->fresh : s->level[0];
    if (!--s->left) to = s->sum;
    for (int i = 0; i < s->n; i++) out[i] = to + s->at[i];
    if (s->left) return;
    memset(s->told, 0, (size_t)s->n * sizeof *s->told);
    if (s->threaded) pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->n_buckets; i++) s->bucket[i].missing = s->bucket[i].n_outputs;
    s->next = 0;
    if (s->threaded) pthread_mutex_unlock(&s->lock);
}

void hd_shards_made(struct hd_shards *s, int output, const float *data) {
    if (s->left || s->window || s->told[output] || data != s->sum + s->at[output]) return;
    struct bucket *b = &s->bucket[s->bucket_of[output]];
    s->told[output] = true;
    if (s->threaded) pthread_mutex_lock(&s->lock);
    if (!--b->missing && s->threaded) pthread_cond_broadcast(&s->changed);
    if (s->threaded) pthread_mutex_unlock(&s->lock);
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
    if (!s->left) { /* what the run did not tell of */
        for (int i = 0; i < s->n; i++) hd_shards_made(s, i, s->sum + s->at[i]);
    } else if (!s->full[0]) {
        s->full[0] = true;
    } else {
        add(s->level[0], s->fresh, s->elems);
        carry(s, 0);
    }
}

static hd_status sum_of_buckets(hd_ctx *ctx, struct hd_shards *s, float *r) {
    if (s->threaded) pthread_mutex_lock(&s->lock);
    while (s->threaded && s->next < s->n_buckets) pthread_cond_wait(&s->changed, &s->lock);
    for (; s->next < s->n_buckets && s->status == HD_OK; s->next++)
        s->status = reduce(ctx, s, &s->bucket[s->next]);
    hd_status status = s->status;
    if (s->threaded) pthread_mutex_unlock(&s->lock);
    if (status != HD_OK) return hd_fail(ctx, status, "%s", hd_message(s->ctx));
    for (int i = 0; i < s->results; i++) r[i] = s->sum[s->at[i]];
    return HD_OK;
}

hd_status hd_shards_sum(hd_ctx *ctx, struct hd_shards *s, float *r, const float *const **out) {
    if (s->window)
        reduce_window(s, r);
    else
        TRY(sum_of_buckets(ctx, s, r));
    for (int i = s->results; i < s->n; i++) s->gradients[i - s->results] = s->mean + s->at[i];
    *out = s->gradients;
    return HD_OK;
}
