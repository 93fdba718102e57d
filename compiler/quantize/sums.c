/* Sums of a few parts of one tensor, as sums of two tensors: they need no change of layout, as a
 * product by ones does.
 *
 *   reducesum(x) over a dimension of 2 to PARTS  ->  slice(x, 0) + slice(x, 1) + .. */
#include "compiler/ir/move.h"
#include "compiler/quantize/quantize.h"

enum { PARTS = 4 };

/* The one dimension that is reduced; -1: none, or several. */
static int reduced(const hd_graph *g, const struct hd_node *n, const struct hd_tensor *x) {
    const struct hd_tensor *axes = n->n_in > 1 && n->in[1] >= 0 ? &g->tensors[n->in[1]] : NULL;
    if (!axes || !axes->data || axes->dtype != HD_I64) return -1;
    unsigned set = hd_axes_set(x->rank, (int)hd_tensor_elems(axes), axes->data);
    int found = -1;
    for (int d = 0; d < x->rank; d++) {
        if (!(set >> d & 1) || x->dim[d] == 1) continue;
        if (found >= 0) return -1;
        found = d;
    }
    return found;
}

static int number(hd_graph *g, const char *name, int64_t v) {
    int64_t one = 1;
    return hd_graph_const(g, name, HD_I64, 1, &one, &v);
}

bool hd_quant_short_sum(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor x = g->tensors[n.in[0]], y = g->tensors[n.out[0]];
    if (n.op != HD_IR_reducesum || !x.known || !y.known || x.data || x.dtype != HD_F32)
        return false;
    int axis = reduced(g, &n, &x), sum = -1, out = n.out[0];
    int64_t parts = axis < 0 ? 0 : x.dim[axis], dim[HD_MAX_RANK];
    if (parts < 2 || parts > PARTS || hd_tensor_elems(&x) < 1) return false;
    for (int d = 0; d < x.rank; d++) dim[d] = d == axis ? 1 : x.dim[d];
    hd_graph_kill(g, node);
    int at = number(g, "sum.axis", axis);
    for (int64_t i = 0; i < parts; i++) {
        const char *name = hd_sprintf(g->arena, "%s.part%d", y.name, (int)i);
        int part = hd_graph_tensor(g, name, HD_F32, x.rank, dim);
        int in[4] = {n.in[0], number(g, "sum.from", i), number(g, "sum.to", i + 1), at};
        hd_graph_node(g, HD_IR_slice, name, 4, in, 1, &part);
        if (!i) {
            sum = part;
            continue;
        }
        bool last = i == parts - 1;
        name = last ? n.name : hd_sprintf(g->arena, "%s.sum%d", y.name, (int)i);
        int to = last && x.rank == y.rank ? out : hd_graph_tensor(g, name, HD_F32, x.rank, dim);
        int id = hd_graph_node(g, HD_IR_add, name, 2, (int[]){sum, part}, 1, &to);
        if (last) hd_graph_swap_names(g, id, node);
        sum = to;
    }
    if (sum == out) return true;
    int id = hd_graph_node(g, HD_IR_reshape, y.name, 1, &sum, 1, &out);
    hd_attr_set_ints(g, id, "shape", y.rank, y.dim);
    return true;
}
