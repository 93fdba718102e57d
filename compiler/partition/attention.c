/* Attention: values before scores.
 *
 * needs: a graph with shapes, an order of its nodes
 * gives: an order in which scores, softmax and the product with values follow one another, so that
 *        they can be a chain (plan/chain.c)
 * destroys: nothing
 *
 * By depth first, what makes the values stands between softmax and their product.
 */
#include <string.h>

#include "compiler/partition/partition.h"

enum { FAR = 8 }; /* nodes between the two products */

/* The product that makes the scores of which product n takes the softmax; -1: there is none. */
static int scores_of(const hd_graph *g, const struct hd_node *n) {
    bool softmax = false;
    int t = n->in[0];
    for (int i = 0; i < FAR && t >= 0 && g->tensors[t].producer >= 0; i++) {
        int p = g->tensors[t].producer;
        const struct hd_node *from = &g->nodes[p];
        const struct hd_kind *kind = hd_kind_of(g, from);
        if (kind && kind->rows) return softmax ? p : -1;
        softmax = softmax || (kind && kind->only_vx);
        t = from->in[from->n_in > 1 && from->in[0] >= 0 && g->tensors[from->in[0]].producer < 0];
    }
    return -1;
}

/* Of nodes order[first .. end) those that need node order[first] come last. needs, last: room for
 * all nodes; needs is false. */
static void come_last(const hd_graph *g, int *order, size_t first, size_t end, bool *needs,
                      int *last) {
    size_t n_last = 0, at = first;
    needs[order[first]] = true;
    for (size_t i = first; i < end; i++) {
        const struct hd_node *n = &g->nodes[order[i]];
        bool any = needs[order[i]];
        for (int k = 0; k < n->n_in; k++)
            any = any || (n->in[k] >= 0 && g->tensors[n->in[k]].producer >= 0 &&
                          needs[g->tensors[n->in[k]].producer]);
        for (int k = 0; k < n->n_after; k++) any = any || needs[n->after[k]];
        needs[order[i]] = any;
        if (any)
            last[n_last++] = order[i];
        else
            order[at++] = order[i];
    }
    memcpy(&order[at], last, n_last * sizeof *last);
}

/* needs / gives / destroys: see the head of this file. */
void hd_values_first(const struct hd_lowering *lo, int *order, size_t n_order) {
    const hd_graph *g = lo->g;
    bool *needs = hd_new_array(lo->arena, bool, g->n_nodes + 1);
    int *last = hd_new_array(lo->arena, int, g->n_nodes + 1);
    for (size_t end = 0; end < n_order; end++) {
        const struct hd_node *n = &g->nodes[order[end]];
        const struct hd_kind *kind = hd_kind_of(g, n);
        int scores = kind && kind->rows ? scores_of(g, n) : -1;
        size_t first = end;
        while (scores >= 0 && order[first] != scores) first--;
        if (first == end) continue;
        memset(needs, 0, g->n_nodes * sizeof *needs);
        come_last(g, order, first, end, needs, last);
    }
}
