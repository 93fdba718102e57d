/* Constant folding and dead code.
 *
 * needs: shapes
 * gives: no identity, no cast to the same type, no pad by nothing, no node whose inputs are all
 * constant and whose result is small; dequantize stays, because qdq looks for it destroys: nothing;
 * killed nodes stay in the array
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/pass/pass.h"
#include "cpu_ref/golden.h"
#include "runtime/base/memory.h"

/* Results that are larger, and larger than their operands, would bloat the model file. */
enum { FOLD_BYTES = 1 << 20 };

/* y has the value of x: readers of y read x. A graph output keeps its name when x can take it over.
 */
static void bypass(hd_graph *g, int node) {
    int x = g->nodes[node].in[0], y = g->nodes[node].out[0];
    if (!hd_graph_is_output(g, y)) {
        hd_graph_kill(g, node);
        hd_graph_replace(g, y, x);
        return;
    }
    int maker = g->tensors[x].producer;
    if (maker < 0 || hd_graph_is_output(g, x))
        return; /* an input or constant goes straight out: keep the node */
    hd_graph_kill(g, node);
    hd_graph_replace(g, x, y);
    for (int i = 0; i < g->nodes[maker].n_out; i++)
        if (g->nodes[maker].out[i] == x) g->nodes[maker].out[i] = y;
    g->tensors[y].producer = maker;
    g->tensors[x].producer = -1;
}

/* Nothing on any side; a negative pad, which crops, beside one is something. */
static bool pads_nothing(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *pads = n->n_in > 1 && n->in[1] >= 0 ? &g->tensors[n->in[1]] : NULL;
    if (!pads || !pads->data || pads->dtype != HD_I64) return false;
    for (int64_t i = 0; i < hd_tensor_elems(pads); i++)
        if (((const int64_t *)pads->data)[i]) return false;
    return true;
}

static bool is_nothing(const hd_graph *g, const struct hd_node *n) {
    bool may = n->op == HD_IR_identity || n->op == HD_IR_cast || n->op == HD_IR_reshape ||
               (n->op == HD_IR_concat && n->n_in == 1) ||
               (n->op == HD_IR_pad && pads_nothing(g, n));
    if (!may || n->out[0] < 0) return false;
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    if (n->n_after || x->initial) return false; /* when it reads matters */
    if (n->op == HD_IR_identity || n->op == HD_IR_pad || n->op == HD_IR_concat) return true;
    if (!x->known || !y->known) return false;
    if (n->op == HD_IR_cast) return x->dtype == y->dtype;
    /* by a list that the run computes, it may be something in the next one */
    if (g->specialised && n->n_in > 1 && n->in[1] >= 0 && !g->tensors[n->in[1]].data) return false;
    return x->rank == y->rank && !memcmp(x->dim, y->dim, (size_t)x->rank * sizeof *x->dim);
}

/* What an output needs, and what changes a variable; nodes that those run after, too. */
void hd_pass_dce(hd_graph *g) {
    int *order = malloc((g->n_nodes + 1) * sizeof *order);
    bool *used = calloc(g->n_tensors + 1, sizeof *used), *before = calloc(g->n_nodes + 1, 1);
    HD_ASSERT(order && used && before);
    size_t n = hd_graph_order(g, order);
    for (size_t i = 0; i < g->n_outputs; i++) used[g->outputs[i]] = true;
    while (n--) {
        struct hd_node *nd = &g->nodes[order[n]];
        bool keep = nd->op == HD_IR_assign || before[order[n]];
        for (int k = 0; k < nd->n_out; k++) keep = keep || (nd->out[k] >= 0 && used[nd->out[k]]);
        for (int k = 0; keep && k < nd->n_in; k++)
            if (nd->in[k] >= 0) used[nd->in[k]] = true;
        for (int k = 0; keep && k < nd->n_after; k++) before[nd->after[k]] = true;
        if (!keep) hd_graph_kill(g, order[n]);
    }
    free(order);
    free(used);
    free(before);
}

static size_t bytes_of(const hd_graph *g, int t) {
    return t < 0 || !g->tensors[t].known ? 0 : hd_tensor_bytes(&g->tensors[t]);
}

/* Its results are small, or no larger than a constant that it reads, as quantised weights are. */
static bool is_worth_it(const hd_graph *g, const struct hd_node *n) {
    size_t from = FOLD_BYTES;
    for (int k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0 && g->tensors[n->in[k]].data && bytes_of(g, n->in[k]) > from)
            from = bytes_of(g, n->in[k]);
    for (int k = 0; k < n->n_out; k++)
        if (bytes_of(g, n->out[k]) > from) return false;
    return true;
}

static hd_status sweep(hd_ctx *ctx, hd_graph *g) {
    int *order = malloc((g->n_nodes + 1) * sizeof *order);
    HD_MEMORY(order);
    size_t n = hd_graph_order(g, order);
    hd_status s = HD_OK;
    for (size_t i = 0; i < n && s == HD_OK; i++) {
        const struct hd_node *nd = &g->nodes[order[i]];
        if (is_worth_it(g, nd) && nd->op != HD_IR_dequantize) s = hd_fold_node(ctx, g, order[i]);
        if (s == HD_UNSUPPORTED) { /* a type without a kernel: it stays, and fails when it is run */
            hd_clear(ctx);
            s = HD_OK;
        }
        if (!nd->dead && is_nothing(g, nd)) bypass(g, order[i]);
    }
    free(order);
    return s;
}

hd_status hd_pass_fold(hd_ctx *ctx, hd_graph *g) {
    for (bool again = true; again;) { /* a branch in place has more to fold */
        TRY(sweep(ctx, g));
        TRY(hd_fold_flow(ctx, g, &again));
    }
    hd_pass_dce(g);
    return HD_OK;
}
