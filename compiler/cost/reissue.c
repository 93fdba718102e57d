/* Order of issue: operations as units come to need them.
 *
 * needs: operations with what they wait for, of a whole step
 * gives: the same in the order in which they would start if queues were longer
 * destroys: nothing
 *
 * Words issue one after the other, and a queue that is full holds up all words behind. So a layer
 * of many operations keeps those of the next, which may be for other units, from being issued. The
 * estimate says when each operation would start with longer queues, and that is the order here. It
 * stays what it was where the estimate is not better.
 *
 * Each unit keeps the order of its own operations. So what waits for what is the same, and the n-th
 * wait of a semaphore still meets its n-th signal. An operation starts behind those that it waits
 * for, so these issue before it, as they must.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/cost/cost.h"

struct at {
    double start;
    size_t i;
};

static int by_start(const void *a, const void *b) {
    const struct at *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* *to: s in the order in which operations start. Its arrays are there. */
static void sorted(const struct hd_ops *s, const double *start, struct at *order,
                   struct hd_ops *to) {
    for (size_t i = 0; i < s->n_ops; i++) order[i] = (struct at){start[i], i};
    qsort(order, s->n_ops, sizeof *order, by_start);
    for (size_t i = 0; i < s->n_ops; i++) {
        const struct hd_slot_op *op = &s->ops[order[i].i];
        to->ops[i] = *op, to->by_number[op->unit][op->number - 1] = (int)i;
    }
}

int64_t hd_ops_reissue(struct hd_ops *s, int orders) {
    static const int longer[HD_ORDERS] = {64, 4, 2}; /* times the queues of the machine */
    const struct hd_ops first = *s;
    struct hd_ops other = first;
    hd_arena *a = hd_arena_create();
    int64_t best = hd_ops_estimate(s, true, INT64_MAX, NULL);
    double *start = hd_new_array(a, double, 2 * s->n_ops + 1), *best_start = start + s->n_ops;
    struct at *order = hd_new_array(a, struct at, s->n_ops + 1);
    int k = 0, won = -1;
    other.ops = hd_alloc(s->arena, s->n_ops * sizeof *s->ops), other.cap_ops = s->n_ops;
    for (int u = 0; u < HD_UNITS; u++)
        other.by_number[u] = hd_new_array(s->arena, int, (size_t)s->count[u] + 1);
    for (; k < orders && s->lo->opt->latency_hiding; k++) {
        if (hd_ops_starts(&first, longer[k] * (int)s->lo->m->queue_ops, start) >= best) continue;
        sorted(&first, start, order, &other);
        int64_t cycles = hd_ops_estimate(&other, true, best, NULL);
        if (cycles < best) best = cycles, won = k, memcpy(best_start, start, s->n_ops * 8);
    }
    if (won >= 0 && won < k - 1) sorted(&first, best_start, order, &other);
    if (won >= 0) *s = other;
    hd_arena_destroy(a);
    return best;
}
