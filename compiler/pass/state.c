/* States stay integers between runs.
 *
 *   quantize(state) ... next state = dequantize(q), by one scale   ->   the state is q's integers
 *
 * needs: shapes. gives: the same values: what is quantised by the scale that it was dequantised by
 * is what it was. destroys: the quantize nodes of the state. Input and output keep their names, and
 * get the type of the integers.
 */
#include <string.h>

#include "compiler/pass/pass.h"
#include "cpu_ref/golden.h"

static bool same_const(const hd_graph *g, int a, int b) {
    if (a < 0 || b < 0) return a == b;
    const struct hd_tensor *x = &g->tensors[a], *y = &g->tensors[b];
    return x->data && y->data && x->dtype == y->dtype && hd_tensor_elems(x) == 1 &&
           hd_tensor_elems(y) == 1 && !memcmp(x->data, y->data, hd_tensor_bytes(x));
}

/* Scale and zero point of two quantize or dequantize nodes. */
static bool same_scale(const hd_graph *g, const struct hd_node *a, const struct hd_node *b) {
    return a->n_in > 2 && b->n_in > 2 && same_const(g, a->in[1], b->in[1]) &&
           same_const(g, a->in[2], b->in[2]);
}

/* The node that quantises the state, when all that read it do so alike; -1 = they do not. */
static int quantiser(const hd_graph *g, int x) {
    size_t n = hd_graph_users(g, x, NULL, 0);
    int first = -1;
    if (!n || hd_graph_is_output(g, x)) return -1;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *u = &g->nodes[i];
        bool reads = false;
        for (int k = 0; k < u->n_in && !u->dead; k++) reads = reads || u->in[k] == x;
        if (!reads) continue;
        if (u->op != HD_IR_quantize || u->in[0] != x) return -1;
        if (first < 0) first = (int)i;
        const struct hd_node *f = &g->nodes[first];
        if (!same_scale(g, f, u) || g->tensors[f->out[0]].dtype != g->tensors[u->out[0]].dtype)
            return -1;
    }
    return first;
}

static hd_status narrow(hd_ctx *ctx, hd_graph *g, size_t in, size_t out, int by, int q) {
    int x = g->inputs[in], y = g->outputs[out], of = g->nodes[by].out[0];
    struct hd_tensor was = g->tensors[x], like = g->tensors[of];
    int from = hd_graph_const(g, was.name, was.dtype, was.rank, was.dim, was.initial);
    int begin = hd_graph_tensor(g, was.name, like.dtype, like.rank, like.dim);
    int fold = hd_graph_node(g, HD_IR_quantize, was.name, 3,
                             (int[]){from, g->nodes[by].in[1], g->nodes[by].in[2]}, 1, &begin);
    const struct hd_node *n = &g->nodes[by];
    for (int i = 0; i < n->n_attrs; i++)
        if (n->attrs[i].kind == HD_ATTR_INT)
            hd_attr_set_int(g, fold, n->attrs[i].name, n->attrs[i].i);
    TRY(hd_graph_infer_node(ctx, g, fold));
    TRY(hd_fold_node(ctx, g, fold));
    for (size_t i = 0; i < g->n_nodes; i++) {
        struct hd_node *u = &g->nodes[i];
        if (u->dead || u->op != HD_IR_quantize || u->in[0] != x) continue;
        hd_graph_replace(g, u->out[0], begin);
        hd_graph_kill(g, (int)i);
    }
    struct hd_tensor *state = &g->tensors[begin];
    state->initial = state->data;
    state->data = NULL;
    state->producer = -1;
    g->tensors[x].initial = NULL;
    g->inputs[in] = begin;
    g->outputs[out] = q;
    hd_graph_swap_tensor_names(g, x, begin);
    hd_graph_swap_tensor_names(g, y, q);
    return HD_OK;
}

hd_status hd_pass_state(hd_ctx *ctx, hd_graph *g) {
    size_t n = hd_graph_n_states(g);
    bool changed = false;
    for (size_t i = 0; i < n && g->n_outputs >= n; i++) {
        size_t in = g->n_inputs - n + i, out = g->n_outputs - n + i;
        const struct hd_tensor *y = &g->tensors[g->outputs[out]];
        int by = quantiser(g, g->inputs[in]), to = y->producer;
        if (by < 0 || to < 0 || g->nodes[to].op != HD_IR_dequantize) continue;
        int q = g->nodes[to].in[0];
        const struct hd_tensor *z = &g->tensors[q];
        if (z->dtype != g->tensors[g->nodes[by].out[0]].dtype || z->producer < 0 ||
            hd_graph_is_output(g, q) || !same_scale(g, &g->nodes[by], &g->nodes[to]))
            continue;
        TRY(narrow(ctx, g, in, out, by, q));
        changed = true;
    }
    if (changed) hd_pass_dce(g);
    return HD_OK;
}
