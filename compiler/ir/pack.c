/* Blocks into one memory: one after the other at the lowest place that nothing living at the same
 * time has. What decides is the order; several are tried, then blocks that stick out on top come
 * earlier.
 *
 * Source of the idea: greedy by size, Pisarchyk and Lee, "Efficient memory management for deep
 * neural net inference", 2020; squeaky wheel: Joslin and Clements, 1999. */
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/memory.h"
#include "runtime/base/memory.h"
#include "runtime/base/num.h"

enum { ALIGN = 64, ORDERS = 4, WORK = 20000000 }; /* WORK: pairs of blocks that may be looked at */

static size_t align_of(size_t bytes) {
    size_t a = 1;
    while (a < bytes && a < ALIGN) a *= 2;
    return a;
}

static size_t round_to(size_t at, size_t align) {
    return (at + align - 1) / align * align;
}

static bool together(const struct hd_mem_block *a, const struct hd_mem_block *b) {
    return a->first <= b->last && b->first <= a->last;
}

struct ranked {
    const struct hd_mem_block *b;
    int way;
};

static int compare(const struct ranked *x, const struct ranked *y) {
    const struct hd_mem_block *a = x->b, *b = y->b;
    int64_t d = 0;
    int64_t life_a = a->last - a->first, life_b = b->last - b->first;
    if (x->way == 1) d = life_b - life_a;
    if (x->way == 2) d = a->first - b->first;
    if (x->way == 3 && a->bytes * (size_t)(life_a + 1) != b->bytes * (size_t)(life_b + 1))
        d = a->bytes * (size_t)(life_a + 1) < b->bytes * (size_t)(life_b + 1) ? 1 : -1;
    if (!d && a->bytes != b->bytes) d = a->bytes < b->bytes ? 1 : -1;
    if (!d) d = a < b ? -1 : a > b;
    return d < 0 ? -1 : d > 0;
}

static int by_rank(const void *x, const void *y) {
    return compare(x, y);
}

/* Offsets in the order of list; `placed` has room for n. Returns the top; *out_high: the place in
 * the list of the block that reaches it. */
static size_t place(struct hd_mem_block *b, const int *list, size_t n, int *placed,
                    size_t *out_high) {
    size_t top = 0;
    for (size_t i = 0; i < n; i++) {
        struct hd_mem_block *x = &b[list[i]];
        size_t at = 0, align = align_of(x->bytes), k = i;
        for (size_t j = 0; j < i; j++) { /* placed[] is in order of offsets */
            const struct hd_mem_block *o = &b[placed[j]];
            if (!together(x, o)) continue;
            if (at + x->bytes <= o->offset) break;
            if (o->offset + o->bytes > at) at = round_to(o->offset + o->bytes, align);
        }
        x->offset = at;
        for (; k > 0 && b[placed[k - 1]].offset > at; k--) placed[k] = placed[k - 1];
        placed[k] = list[i];
        if (at + x->bytes > top) top = at + x->bytes, *out_high = i;
    }
    return top;
}

size_t hd_mem_bound(const struct hd_mem_block *b, size_t n) {
    int steps = 0;
    for (size_t i = 0; i < n; i++) steps = (int)hd_max(steps, b[i].last + 1);
    size_t *change = calloc((size_t)steps + 1, sizeof *change), bound = 0, live = 0;
    HD_MEMORY(change);
    for (size_t i = 0; i < n; i++) { /* sums wrap and come back */
        change[b[i].first] += b[i].bytes;
        change[b[i].last + 1] -= b[i].bytes;
    }
    for (int i = 0; i < steps; i++) {
        live += change[i];
        if (live > bound) bound = live;
    }
    free(change);
    return bound;
}

struct search {
    struct hd_mem_block *b;
    size_t n, best;
    int *list, *placed;
    size_t *offset; /* of the best so far */
};

static size_t try_list(struct search *s, size_t *out_high) {
    size_t top = place(s->b, s->list, s->n, s->placed, out_high);
    if (top < s->best) {
        s->best = top;
        for (size_t i = 0; i < s->n; i++) s->offset[i] = s->b[i].offset;
    }
    return top;
}

size_t hd_mem_pack(struct hd_mem_block *b, size_t n) {
    size_t bound = hd_mem_bound(b, n), high = 0;
    struct search s = {b,
                       n,
                       SIZE_MAX,
                       calloc(n + 1, sizeof(int)),
                       calloc(n + 1, sizeof(int)),
                       calloc(n + 1, sizeof(size_t))};
    struct ranked *rank = calloc(n + 1, sizeof *rank);
    HD_ASSERT(s.list && s.placed && s.offset && rank);
    int64_t tries = hd_min(400, WORK / ((int64_t)n * (int64_t)n + 1));
    for (int way = 0; way < ORDERS && s.best > bound; way++) {
        for (size_t i = 0; i < n; i++) rank[i] = (struct ranked){&b[i], way};
        qsort(rank, n, sizeof *rank, by_rank);
        for (size_t i = 0; i < n; i++) s.list[i] = (int)(rank[i].b - b);
        try_list(&s, &high);
        for (int64_t k = 0; k < tries && s.best > bound && high;
             k++) { /* one order after another */
            int wheel = s.list[high];
            size_t to = k % 2 ? 0 : high / 2;
            memmove(&s.list[to + 1], &s.list[to], (high - to) * sizeof *s.list);
            s.list[to] = wheel;
            try_list(&s, &high);
        }
    }
    for (size_t i = 0; i < n; i++) b[i].offset = s.offset[i];
    free(s.list);
    free(s.placed);
    free(s.offset);
    free(rank);
    return n ? s.best : 0;
}
