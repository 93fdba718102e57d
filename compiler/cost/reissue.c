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

/* s in the order in which operations start. */
static struct hd_ops sorted(const struct hd_ops *s, const double *start) {
    struct hd_ops to = *s;
    struct at *order = hd_new_array(s->arena, struct at, s->n_ops + 1);
    to.ops = hd_new_array(s->arena, struct hd_slot_op, s->n_ops + 1);
    for (int u = 0; u < HD_UNITS; u++)
        to.by_number[u] = hd_new_array(s->arena, int, (size_t)s->count[u] + 1);
    for (size_t i = 0; i < s->n_ops; i++) order[i] = (struct at){start[i], i};
    qsort(order, s->n_ops, sizeof *order, by_start);
    for (size_t i = 0; i < s->n_ops; i++) {
        to.ops[i] = s->ops[order[i].i];
        to.by_number[to.ops[i].unit][to.ops[i].number - 1] = (int)i;
    }
    to.cap_ops = to.n_ops;
    return to;
}

int64_t hd_ops_reissue(struct hd_ops *s, int orders) {
    static const int longer[HD_ORDERS] = {64, 4, 2}; /* times the queues of the machine */
    const struct hd_ops first = *s;
    int64_t best = hd_ops_estimate(s, true, INT64_MAX, NULL);
    double *start = hd_new_array(s->arena, double, s->n_ops + 1);
    for (int k = 0; k < orders && s->lo->opt->latency_hiding; k++) {
        hd_ops_starts(&first, longer[k] * (int)s->lo->m->queue_ops, start);
        struct hd_ops other = sorted(&first, start);
        int64_t cycles = hd_ops_estimate(&other, true, best, NULL);
        if (cycles < best) best = cycles, *s = other;
    }
    return best;
}
