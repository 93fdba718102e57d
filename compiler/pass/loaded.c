/* Constant operands of products of two tensors.
 *
 *   qmatmul(constant, x)   ->   qmatmul(concat(constant's first rows, its other rows), x)
 *
 * needs: integers, shapes
 * gives: the same values; products whose operands are made in the run, as the machine wants them
 * (learned queries of attention, say).
 * destroys: nothing. Folding would undo it, so it comes behind all passes that fold.
 */
#include <string.h>

#include "compiler/pass/pass.h"

/* Tensor t in two parts along `axis`, joined again. */
static int joined(hd_graph *g, int t, int axis) {
    const struct hd_tensor x = g->tensors[t];
    int64_t outer = 1, inner = (int64_t)hd_dtype_bytes(x.dtype), dim[HD_MAX_RANK];
    int part[2],
        y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.loaded", x.name), x.dtype, x.rank, x.dim);
    memcpy(dim, x.dim, sizeof dim);
    for (int d = 0; d < axis; d++) outer *= x.dim[d];
    for (int d = axis + 1; d < x.rank; d++) inner *= x.dim[d];
    for (int i = 0; i < 2; i++) {
        int64_t first = i ? x.dim[axis] / 2 : 0, n = i ? x.dim[axis] - first : x.dim[axis] / 2;
        size_t run = (size_t)(n * inner);
        uint8_t *v = hd_alloc(g->arena, (size_t)outer * run + 1);
        for (int64_t o = 0; o < outer; o++)
            memcpy(v + (size_t)o * run, (const uint8_t *)x.data + (o * x.dim[axis] + first) * inner,
                   run);
        dim[axis] = n;
        part[i] = hd_graph_const(g, hd_sprintf(g->arena, "%s.part%d", x.name, i), x.dtype, x.rank,
                                 dim, v);
    }
    int id = hd_graph_node(g, HD_IR_concat, g->tensors[y].name, 2, part, 1, &y);
    hd_attr_set_int(g, id, "axis", axis);
    return y;
}

/* One row or column: the host is done before the machine has the operand. */
static bool is_vector(const struct hd_tensor *y) {
    return y->rank < 2 || y->dim[y->rank - 1] == 1 || y->dim[y->rank - 2] == 1;
}

hd_status hd_pass_loaded(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++) {
        struct hd_node *nd = &g->nodes[i];
        if (nd->dead || nd->op != HD_IR_qmatmul || is_vector(&g->tensors[nd->out[0]])) continue;
        for (int k = 0; k < 2; k++) {
            const struct hd_tensor t = g->tensors[g->nodes[i].in[k]];
            if (!t.data || t.rank < 2) continue;
            int axis = t.dim[t.rank - 2] > 1 ? t.rank - 2 : -1;
            for (int d = 0; axis < 0 && d < t.rank - 2; d++)
                if (t.dim[d] > 1) axis = d;
            if (axis < 0) continue;
            int y = joined(g, g->nodes[i].in[k], axis);
            g->nodes[i].in[k] = y;
        }
    }
    return hd_graph_infer(ctx, g);
}
