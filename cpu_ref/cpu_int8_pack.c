/* Packs weights for the byte kernels of device cpu: see cpu_int8_pack.h. */
#include "cpu_ref/cpu_int8_pack.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

enum {
    LIMIT = 128,
    SUMS = 4 * HD_Q_WIDTH_MAX, /* of a block: two lanes a channel, positive and negative */
    PIECES = 4,                /* of a quad at most: a pair reaches 2 * 255 */
    LOOK = 96                  /* partners that are tried, or planning takes long */
};

/* A quad, or several that are added in int16. */
struct group {
    uint8_t sum[SUMS]; /* [channel][lane][positive, negative]: weights, as magnitudes */
    int32_t quad[4], n, load;
};

struct piece {
    int32_t at;
    int8_t w[HD_Q_WIDTH_MAX][4];
};

struct key { /* a group, to sort by */
    int32_t value, group;
};

struct work { /* of one block */
    struct piece *piece;
    struct group *g; /* of one piece each, then joined */
    struct key *key, *sorted;
    int64_t n; /* pieces */
    int n_sums;
};

/* Moves what fits from the channel's weight that byte s meets. */
static void move(int16_t *left, int8_t *w, uint8_t sum[2]) {
    int v = *left, sign = v < 0, size = sign ? -v : v;
    size = (int)hd_min(size, hd_min(127 + sign, LIMIT - sum[sign]));
    *w = (int8_t)(sign ? -size : size);
    *left = (int16_t)(v - *w);
    sum[sign] = (uint8_t)(sum[sign] + size);
}

/* The most frequent case, all at once: every byte meets a weight of its own, all fit. */
static bool whole(const struct hd_q_quad *q, int width, struct piece *p, struct group *g) {
    static const uint8_t own[4] = {0, 1, 2, 3};
    const int16_t *left = q->left[0];
    int over = memcmp(q->rows, own, sizeof own);
    for (int i = 0; i < 2 * width; i++) { /* lanes */
        int a = left[2 * i], b = left[2 * i + 1];
        int most = (a > 0 ? a : 0) + (b > 0 ? b : 0), least = (a < 0 ? -a : 0) + (b < 0 ? -b : 0);
        over |= most > LIMIT || least > LIMIT || a > INT8_MAX || b > INT8_MAX;
        g->sum[2 * i] = (uint8_t)most;
        g->sum[2 * i + 1] = (uint8_t)least;
        p->w[i / 2][i % 2 * 2] = (int8_t)a;
        p->w[i / 2][i % 2 * 2 + 1] = (int8_t)b;
        g->load += most + least;
    }
    return !over;
}

/* The next piece counts unless it is empty. */
static void take(struct work *k, int32_t at) {
    struct group *g = &k->g[k->n];
    if (!g->load) return;
    k->piece[k->n].at = at;
    g->n = 1;
    g->quad[0] = (int32_t)k->n++;
}

/* Pieces of a quad, until nothing is left. Weights that only one byte meets go first: the others
 * have a choice. */
static void cut(struct hd_q_quad *q, int width, struct work *k) {
    int order[4] = {0}, n = 0;
    memset(&k->g[k->n], 0, sizeof *k->g);
    if (whole(q, width, &k->piece[k->n], &k->g[k->n])) {
        take(k, q->at);
        return;
    }
    for (int several = 0; several < 2; several++)
        for (int s = 0; s < 4; s++) {
            int same = 0;
            for (int i = 0; i < 4; i++) same += q->rows[i] == q->rows[s];
            if ((same > 1) == several) order[n++] = s;
        }
    for (int left = 1; left;) {
        struct piece *p = &k->piece[k->n];
        struct group *g = &k->g[k->n];
        memset(g, 0, sizeof *g);
        left = 0;
        for (int ch = 0; ch < width; ch++)
            for (int i = 0; i < 4; i++) {
                int s = order[i];
                p->w[ch][s] = 0;
                int16_t *from = &q->left[ch][q->rows[s]];
                if (*from) move(from, &p->w[ch][s], &g->sum[ch * 4 + s / 2 * 2]);
                left |= *from;
            }
        for (int i = 0; i < k->n_sums; i++) g->load += g->sum[i];
        take(k, q->at);
    }
}

static bool fit(const struct group *a, const struct group *b, int n_sums) {
    uint8_t over = 0;
    for (int i = 0; i < n_sums; i += 32) { /* a width of 8 is 32 sums: one vector */
        uint8_t part = 0;
        for (int k = i; k < i + 32; k++) part |= a->sum[k] > (uint8_t)(LIMIT - b->sum[k]);
        over |= part;
    }
    return !over;
}

static void join(struct group *a, struct group *b, int n_sums) {
    for (int i = 0; i < n_sums; i++) a->sum[i] = (uint8_t)(a->sum[i] + b->sum[i]);
    for (int i = 0; i < b->n; i++) a->quad[a->n++] = b->quad[i];
    a->load += b->load;
    b->n = 0;
}

static int by_value(const void *a, const void *b) {
    const struct key *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : x->group - y->group;
}

/* Joins groups two by two: the heaviest first, which have the fewest partners, each with the
 * heaviest of the next LOOK that fits. Joined ones come first in `key` then; their number. */
static int64_t match(struct work *k, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        k->sorted[i] = k->key[i];
        k->sorted[i].value = -k->g[k->key[i].group].load;
    }
    qsort(k->sorted, (size_t)n, sizeof *k->sorted, by_value);
    int64_t n_joined = 0, n_alone = 0;
    for (int64_t i = 0; i < n; i++) {
        struct group *g = &k->g[k->sorted[i].group];
        if (!g->n) continue; /* joined to one before it */
        bool found = false;
        for (int64_t j = i + 1, tried = 0; j < n && tried < LOOK && !found; j++) {
            struct group *other = &k->g[k->sorted[j].group];
            if (!other->n) continue;
            tried++;
            found = fit(g, other, k->n_sums);
            if (found) join(g, other, k->n_sums);
        }
        if (found)
            k->key[n_joined++] = k->sorted[i];
        else
            k->key[n - ++n_alone] = k->sorted[i];
    }
    memmove(k->key + n_joined, k->key + n - n_alone, (size_t)n_alone * sizeof *k->key);
    return n_joined;
}

static bool grow(struct hd_q_pack *p, int64_t n_quads) {
    int64_t need = p->n_quads + n_quads;
    if (need > p->room) {
        int64_t room = hd_round_up(need + need / 2, 16), had = p->n_quads * p->width * 4;
        int32_t *at = realloc(p->at, (size_t)room * sizeof *at);
        if (at) p->at = at;
        int8_t *w = aligned_alloc(64, (size_t)(room * p->width * 4));
        if (w && had) memcpy(w, p->w, (size_t)had);
        if (w) free(p->w), p->w = w;
        if (!at || !w) return false;
        p->room = room;
    }
    if ((p->n_lists & (p->n_lists - 1)) == 0) { /* room for a power of two of them */
        size_t room = p->n_lists ? (size_t)p->n_lists * 2 : 1;
        struct hd_q_list *list = realloc(p->list, room * sizeof *list);
        if (!list) return false;
        p->list = list;
    }
    return true;
}

/* Groups in the order of their activations, so that these are read in order, roughly. */
static void append(struct hd_q_pack *p, struct work *k, struct key *key, int64_t n) {
    for (int64_t i = 0; i < n; i++) key[i].value = k->g[key[i].group].quad[0];
    qsort(key, (size_t)n, sizeof *key, by_value);
    for (int64_t i = 0; i < n; i++) {
        const struct group *g = &k->g[key[i].group];
        for (int j = 0; j < g->n; j++) {
            const struct piece *from = &k->piece[g->quad[j]];
            p->at[p->n_quads] = from->at;
            memcpy(p->w + p->n_quads++ * p->width * 4, from->w, (size_t)p->width * 4);
        }
        p->cost += (2 * g->n + 1) * (p->width / 8); /* products, sums in int16, widening, sum */
    }
}

bool hd_q_pack_block(struct hd_q_pack *p, struct hd_q_quad *quads, int64_t n, bool group) {
    size_t most = (size_t)(n * PIECES + 1); /* the last one may stay empty */
    struct work k = {.piece = malloc(most * sizeof *k.piece),
                     .g = malloc(most * sizeof *k.g),
                     .key = malloc(most * sizeof *k.key),
                     .sorted = malloc(most * sizeof *k.sorted),
                     .n_sums = 4 * p->width};
    bool ok = k.piece && k.g && k.key && k.sorted;
    if (ok) {
        for (int64_t i = 0; i < n; i++) cut(&quads[i], p->width, &k);
        for (int64_t i = 0; i < k.n; i++) k.key[i].group = (int32_t)i;
        ok = grow(p, k.n);
    }
    if (ok) {
        int64_t twos = group ? match(&k, k.n) : 0, fours = match(&k, twos);
        twos -= 2 * fours;
        int64_t ones = k.n - 4 * fours - 2 * twos;
        p->list[p->n_lists++] =
            (struct hd_q_list){p->n_quads, {(int32_t)fours, (int32_t)twos, (int32_t)ones}};
        append(p, &k, k.key, fours);
        append(p, &k, k.key + fours, twos);
        append(p, &k, k.key + 2 * fours + twos, ones);
    }
    free(k.piece);
    free(k.g);
    free(k.key);
    free(k.sorted);
    return ok;
}

void hd_q_pack_free(struct hd_q_pack *p) {
    free(p->list);
    free(p->at);
    free(p->w);
}
