/* Running sums as products.
 *
 *   cumsum(x) along an axis of T   ->   x u, u[i][j] = 1 where x[i] is part of sum j
 *
 * The axis is the last one of x, or a transpose makes it so; along the channels of an image the
 * product is a 1x1 convolution. */
#include "compiler/ir/move.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "compiler/quantize/quantize.h"

enum { LONGEST = 512 }; /* T weights a sum: more cost more than the host takes */

/* x with dimension `from` at place `to`. */
static int turned(hd_graph *g, int x, int from, int to) {
    const struct hd_tensor t = g->tensors[x];
    int64_t dim[HD_MAX_RANK], perm[HD_MAX_RANK];
    if (from == to) return x;
    for (int d = 0; d < t.rank; d++) perm[d] = hd_moved_dim(from, to, d), dim[d] = t.dim[perm[d]];
    return hd_moved(g, HD_IR_transpose, x, t.rank, dim, "perm", perm, -1);
}

/* Of sums i to those before them, or behind them: [T,T], of a convolution [T,T,1,..], sums first.
 */
static int ones(hd_graph *g, const struct hd_node *n, int64_t t, int rank) {
    bool exclusive = hd_attr_int(n, "exclusive", 0), reverse = hd_attr_int(n, "reverse", 0);
    bool flip = (rank > 2) != reverse; /* which of the two is in front */
    int64_t dim[HD_MAX_RANK] = {t, t, 1, 1};
    float *u = hd_new_array(g->arena, float, (size_t)(t * t) + 1);
    for (int64_t i = 0; i < t; i++)
        for (int64_t j = 0; j < t; j++)
            u[i * t + j] = (flip ? i > j : i < j) || (i == j && !exclusive);
    const char *name = hd_sprintf(g->arena, "%s.ones", g->tensors[n->out[0]].name);
    return hd_graph_const(g, name, HD_F32, rank, dim, u);
}

bool hd_quant_running_sum(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    int64_t axis = 0;
    if (n.op != HD_IR_cumsum || hd_graph_is_output(g, n.out[0])) return false;
    const struct hd_tensor x = g->tensors[n.in[0]];
    if (!x.known || x.data || x.dtype != HD_F32 || x.rank < 2 ||
        hd_const_list(&g->tensors[n.in[1]], &axis, 1) != 1)
        return false;
    if (axis < 0) axis += x.rank;
    bool channels = axis == 1 && (x.rank == 3 || x.rank == 4) && hd_made_as_image(g, n.in[0]);
    int64_t t = x.dim[axis];
    if (t < 1 || t > LONGEST) return false;
    const char *name = g->tensors[n.out[0]].name;
    const int from = channels ? 0 : (int)axis, to = channels ? 0 : x.rank - 1;
    int in[2] = {turned(g, n.in[0], from, to), ones(g, &n, t, channels ? x.rank : 2)};
    const struct hd_tensor of = g->tensors[in[0]];
    int sums = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.sums", name), HD_F32, of.rank, of.dim);
    hd_graph_kill(g, node);
    int id = hd_graph_node(g, channels ? HD_IR_conv : HD_IR_matmul, n.name, 2, in, 1, &sums);
    hd_graph_swap_names(g, id, node);
    int y = turned(g, sums, to, from);
    hd_graph_replace(g, n.out[0], y);
    hd_graph_swap_tensor_names(g, n.out[0], y);
    return true;
}
