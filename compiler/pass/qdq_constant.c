/* Weights that the file moves after it dequantises them, as exporters do that transpose the weights
 * of every dense layer: move(dequantize(constant)) -> dequantize(constant), moved.
 *
 * With a scale per channel, along an axis, the channels must stay together: transposes, and
 * reshapes that keep the axis whole. */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "cpu_ref/golden.h"

/* The axis of y that is `axis` of x; -1: none. */
static int axis_behind(const hd_graph *g, const struct hd_node *n, const struct hd_tensor *x,
                       int axis) {
    const struct hd_tensor *y = &g->tensors[n->out[0]];
    int64_t perm[HD_MAX_RANK], before = 1, after = 1;
    if (n->op == HD_IR_transpose) {
        if (!hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0)) return x->rank - 1 - axis;
        for (int d = 0; d < x->rank; d++)
            if (perm[d] == axis) return d;
        return -1;
    }
    bool views = n->op == HD_IR_reshape || n->op == HD_IR_flatten || n->op == HD_IR_squeeze ||
                 n->op == HD_IR_unsqueeze;
    for (int d = 0; d < axis; d++) before *= x->dim[d];
    for (int d = 0; views && d < y->rank; after *= y->dim[d++])
        if (after == before && y->dim[d] == x->dim[axis]) return d;
    return -1;
}

/* The other operands say where to; they are constant. */
static bool is_settled(const hd_graph *g, const struct hd_node *n) {
    for (int i = 1; i < n->n_in; i++)
        if (n->in[i] >= 0 && !g->tensors[n->in[i]].data) return false;
    return n->n_out == 1 && g->tensors[n->out[0]].known;
}

static hd_status move_constant(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node], *maker = n.n_in ? hd_qdq_constant(g, n.in[0]) : NULL;
    if (!maker || n.op == HD_IR_pad || n.op == HD_IR_maxpool || hd_qdq_moved_operands(&n) != 1 ||
        !is_settled(g, &n))
        return HD_OK;
    const struct hd_node d = *maker;
    const struct hd_tensor x = g->tensors[d.in[0]];
    int axis = 0;
    if (hd_tensor_elems(&g->tensors[d.in[1]]) > 1) {
        int64_t from = hd_attr_int(&d, "axis", 1);
        axis = axis_behind(g, &n, &x, (int)(from < 0 ? from + x.rank : from));
        if (axis < 0) return HD_OK;
    }
    int y = n.out[0], moved = hd_qdq_tensor_like(g, y, x.dtype, "moved"), source = n.in[0];
    int *in = hd_new_array(g->arena, int, (size_t)n.n_in + 1);
    memcpy(in, n.in, (size_t)n.n_in * sizeof *in);
    in[0] = d.in[0];
    int id = hd_graph_node(g, n.op, g->tensors[moved].name, n.n_in, in, 1, &moved);
    hd_qdq_copy_attrs(g, id, node, false);
    hd_status s = hd_fold_node(ctx, g, id);
    if (s != HD_OK || !g->tensors[moved].data) { /* no kernel for its type: it stays */
        hd_clear(ctx);
        hd_graph_kill(g, id);
        return s == HD_UNSUPPORTED ? HD_OK : s;
    }
    int back[3] = {moved, d.in[1], d.in[2]};
    hd_graph_kill(g, node);
    int as = hd_graph_node(g, HD_IR_dequantize, g->tensors[source].name, 3, back, 1, &y);
    hd_attr_set_int(g, as, "axis", axis);
    return HD_OK;
}

hd_status hd_qdq_move_constants(hd_ctx *ctx, hd_graph *g) {
    int *order = hd_new_array(g->arena, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    for (size_t i = 0; i < n; i++)
        if (!g->nodes[order[i]].dead) TRY(move_constant(ctx, g, order[i]));
    return HD_OK;
}
