/* Batch normalisation whose channels are the columns of rows, [N,C], as a product and a sum by
 * constants, which go into the layer in front where there is one.
 *
 * Exporters flatten what is normalised: [B,L,C] to [B*L,C] and back, or [B,L,C] to [B,L*C] for a
 * factor per element. There the product and the sum stand in front of that reshape. */
#include <math.h>
#include <string.h>

#include "compiler/quantize/affine.h"

/* A constant of the last dimensions of x that have n elements; -1: none have. */
static int trailing(hd_graph *g, int x, const char *name, const double *of, int64_t n) {
    const struct hd_tensor t = g->tensors[x];
    int rank = 0;
    int64_t elems = 1;
    while (rank < t.rank && elems < n) elems *= t.dim[t.rank - 1 - rank++];
    if (elems != n) return -1;
    float *v = hd_new_array(g->arena, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        v[i] = (float)of[i];
        if (!isfinite(v[i])) return -1;
    }
    return hd_graph_const(g, name, HD_F32, rank, t.dim + t.rank - rank, v);
}

/* The tensor that a reshape makes rows of, if nothing else reads these rows; else x. */
static int in_front(const hd_graph *g, int x, int64_t channels) {
    int p = g->tensors[x].producer;
    const struct hd_node *n = p < 0 ? NULL : &g->nodes[p];
    bool views = n && (n->op == HD_IR_reshape || n->op == HD_IR_flatten || n->op == HD_IR_squeeze ||
                       n->op == HD_IR_unsqueeze);
    if (!views || hd_graph_only_user(g, x) < 0) return x;
    const struct hd_tensor *from = &g->tensors[n->in[0]];
    int64_t elems = 1;
    for (int d = from->rank - 1; from->known && d >= 0 && elems < channels; d--)
        elems *= from->dim[d];
    return from->known && from->dtype == HD_F32 && elems == channels ? n->in[0] : x;
}

bool hd_quant_rows_batchnorm(hd_graph *g, hd_arena *a, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor t = g->tensors[n.in[0]];
    if (!t.known || t.rank != 2 || t.dtype != HD_F32 || n.n_out != 1 || t.dim[1] < 1) return false;
    struct hd_affine f = hd_affine_new(a, t.dim[1]);
    if (!hd_affine_of(g, &n, n.in[0], 1, &f)) return false;
    int x = in_front(g, n.in[0], f.n), y = n.out[0];
    const char *name = g->tensors[y].name;
    int scale = trailing(g, x, hd_sprintf(g->arena, "%s.scale", name), f.a, f.n);
    int bias = trailing(g, x, hd_sprintf(g->arena, "%s.shift", name), f.b, f.n);
    if (scale < 0 || bias < 0) return false;
    struct hd_tensor like = g->tensors[x];
    int made[2];
    for (int i = 0; i < 2; i++)
        made[i] = hd_graph_tensor(g, hd_sprintf(g->arena, i ? "%s.rows" : "%s.scaled", name),
                                  HD_F32, like.rank, like.dim);
    if (x == n.in[0])
        made[1] = y;
    else
        hd_graph_kill(g, t.producer);
    hd_graph_kill(g, node);
    hd_graph_node(g, HD_IR_mul, g->tensors[made[0]].name, 2, (int[]){x, scale}, 1, &made[0]);
    int id = hd_graph_node(g, HD_IR_add, n.name, 2, (int[]){made[0], bias}, 1, &made[1]);
    hd_graph_swap_names(g, id, node);
    if (made[1] == y) return true;
    id = hd_graph_node(g, HD_IR_reshape, name, 1, &made[1], 1, &y);
    hd_attr_set_ints(g, id, "shape", 2, t.dim);
    return true;
}
