/* Weighted sums as products of two tensors: sums of 32 bits, and no tensor of all the products.
 *
 *   reducesum(v * x) over K, x [B,K..,N..] or [B,N..,K..], v the same for all N   ->
 *   v [B,1,K] times x [B,K,N]
 *
 * So pools attention over time or over an image, and a state space reads its state. */
#include "compiler/ir/move.h"
#include "compiler/pass/qdq.h"
#include "compiler/quantize/quantize.h"

struct dot {
    hd_graph *g;
    int v, x;
    int64_t batch, k, n;
    bool last; /* K is behind N */
};

static bool is_float(const struct hd_tensor *t) {
    return t->known && t->dtype == HD_F32 && !t->data;
}

/* Dimension d of y is one of v, or v is the same along it; leading ones that it lacks are 1. */
static int64_t size_at(const struct hd_tensor *v, const struct hd_tensor *y, int d) {
    int at = d - (y->rank - v->rank);
    return at < 0 ? 1 : v->dim[at];
}

/* v and x have these roles: all of K in both, all of N in x alone. */
static bool fits(struct dot *p, const struct hd_tensor *y, unsigned set) {
    const struct hd_tensor *v = &p->g->tensors[p->v], *x = &p->g->tensors[p->x];
    int turns = 0, before = -1;
    p->batch = y->dim[0], p->k = p->n = 1;
    if (!hd_same_shape(x, y) || size_at(v, y, 0) != p->batch || (set & 1)) return false;
    for (int d = 1; d < y->rank; d++) {
        const int summed = set >> d & 1;
        if (y->dim[d] == 1) continue;
        if (size_at(v, y, d) != (summed ? y->dim[d] : 1)) return false;
        if (before >= 0 && before != summed) turns++;
        before = summed;
        *(summed ? &p->k : &p->n) *= y->dim[d];
    }
    p->last = before == 1;
    return turns == 1;
}

bool hd_quant_dot(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    if (n.op != HD_IR_reducesum || n.n_in < 2 || n.in[1] < 0) return false;
    const struct hd_tensor *axes = &g->tensors[n.in[1]], *y = &g->tensors[n.in[0]];
    if (y->producer < 0 || !is_float(y) || y->rank < 3 || !axes->data || axes->dtype != HD_I64 ||
        g->nodes[y->producer].op != HD_IR_mul || hd_graph_only_user(g, n.in[0]) != node)
        return false;
    const struct hd_node mul = g->nodes[y->producer];
    unsigned set = hd_axes_set(y->rank, (int)hd_tensor_elems(axes), axes->data);
    struct dot p = {.g = g, .v = mul.in[0], .x = mul.in[1]};
    if (!is_float(&g->tensors[p.v]) || !is_float(&g->tensors[p.x])) return false;
    if (!fits(&p, y, set)) {
        p.v = mul.in[1], p.x = mul.in[0];
        if (!fits(&p, y, set)) return false;
    }
    const struct hd_tensor out = g->tensors[n.out[0]];
    int64_t vector[3] = {p.batch, 1, p.k}, matrix[3] = {p.batch, p.k, p.n},
            across[3] = {p.batch, p.n, p.k}, *shape = p.last ? across : matrix;
    int in[2] = {hd_moved(g, HD_IR_reshape, p.v, 3, vector, "shape", vector, -1),
                 hd_moved(g, HD_IR_reshape, p.x, 3, shape, "shape", shape, -1)};
    if (p.last)
        in[1] = hd_moved(g, HD_IR_transpose, in[1], 3, matrix, "perm", (int64_t[]){0, 2, 1}, -1);
    int64_t dim[3] = {p.batch, 1, p.n};
    int row = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.row", out.name), HD_F32, 3, dim);
    hd_graph_kill(g, node);
    hd_graph_kill(g, g->tensors[n.in[0]].producer);
    hd_graph_swap_names(g, hd_graph_node(g, HD_IR_matmul, n.name, 2, in, 1, &row), node);
    hd_moved(g, HD_IR_reshape, row, out.rank, out.dim, "shape", out.dim, n.out[0]);
    return true;
}
