/* Convolutions of one tap over rows as products, for the machine: the channels of a gated MLP's
 * convolution are its tokens, and what makes them works along the other dimension.
 *
 *   qconv(x), x [N,C,L] of a layer norm or dense layer   ->   transpose, qgemm, transpose
 *
 * needs: shapes, integers of 8 bits. gives: the same values. destroys: nothing
 *
 * The machine keeps results of such operations as rows of the last dimension, and images as pixels
 * of channels; only a node that moves data can stand between them (compiler/partition/layout.c).
 */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"

static bool is_bytes(const struct hd_tensor *t) {
    return t->known && (t->dtype == HD_I8 || t->dtype == HD_U8);
}

static int64_t last(const hd_graph *g, int t) {
    const struct hd_tensor *x = &g->tensors[t];
    return x->rank ? x->dim[x->rank - 1] : 1;
}

bool hd_made_as_rows(const hd_graph *g, int t) {
    for (int depth = 0; depth < 16; depth++) {
        int maker = g->tensors[t].producer;
        const struct hd_node *n = maker < 0 ? NULL : &g->nodes[maker];
        if (!n || n->in[0] < 0) return false;
        switch (n->op) {
        case HD_IR_qgemm:
        case HD_IR_qmatmul:
        case HD_IR_qlayernorm:
        case HD_IR_qlstm:
        case HD_IR_qgru:
        case HD_IR_qrnn:
            return true;
        case HD_IR_reshape: /* of whole rows */
            if (last(g, t) != last(g, n->in[0])) return false;
            t = n->in[0];
            break;
        case HD_IR_split:
        case HD_IR_slice:
        case HD_IR_qadd:
        case HD_IR_qmul:
        case HD_IR_qdiv:
        case HD_IR_qtable:
        case HD_IR_qrescale:
            t = n->in[0];
            break;
        default:
            return false;
        }
    }
    return false;
}

/* Where dimension `at` is behind a transpose. */
static int moved(const struct hd_node *n, int at) {
    const struct hd_attr *perm = hd_attr_get(n, "perm");
    for (int i = 0; perm && i < perm->n; i++)
        if (perm->ints[i] == at) return i;
    return -1;
}

/* A reshape leaves channels that lie side by side in the last dimension, or in dimension 1. */
static int reshaped(const struct hd_tensor *x, const struct hd_tensor *y, int at) {
    if (at == x->rank - 1 && y->rank && y->dim[y->rank - 1] == x->dim[at]) return y->rank - 1;
    bool image = at == 1 && x->rank > 1 && y->rank > 1;
    return image && x->dim[0] == y->dim[0] && x->dim[1] == y->dim[1] ? 1 : -1;
}

static int channels_of(const hd_graph *g, int t, int depth) {
    int maker = g->tensors[t].producer;
    const struct hd_node *n = maker < 0 ? NULL : &g->nodes[maker];
    if (hd_made_as_rows(g, t)) return g->tensors[t].rank - 1;
    if (!n || n->in[0] < 0 || depth == 0) return -1;
    switch (n->op) {
    case HD_IR_qconv:
    case HD_IR_qconvtranspose:
    case HD_IR_qavgpool:
    case HD_IR_qmaxpool:
    case HD_IR_qresize:
        return 1;
    case HD_IR_transpose:
        return moved(n, channels_of(g, n->in[0], depth - 1));
    case HD_IR_reshape:
        return reshaped(&g->tensors[n->in[0]], &g->tensors[t], channels_of(g, n->in[0], depth - 1));
    case HD_IR_qadd:
    case HD_IR_qmul:
    case HD_IR_qtable:
    case HD_IR_qrescale:
    case HD_IR_slice:
    case HD_IR_split:
    case HD_IR_concat:
    case HD_IR_pad:
        return channels_of(g, n->in[0], depth - 1);
    default:
        return -1;
    }
}

int hd_channels_of(const hd_graph *g, int t) {
    enum { DEPTH = 16 };
    return channels_of(g, t, DEPTH);
}

static bool is_one_tap(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *w = &g->tensors[n->in[1]];
    const struct hd_tensor *y = &g->tensors[n->out[0]];
    return n->n_in == 4 && x->rank == 3 && is_bytes(x) && !x->data && is_bytes(y) && w->data &&
           w->dtype == HD_I8 && w->rank == 3 && w->dim[1] == x->dim[1] && w->dim[2] == 1 &&
           x->dim[2] == y->dim[2] && !hd_attr_int(n, "moves", 0);
}

static int node(hd_graph *g, enum hd_ir_op op, const char *name, int x, int y, const char *attr,
                int n, const int64_t *v) {
    hd_attr_set_ints(g, hd_graph_node(g, op, name, 1, &x, 1, &y), attr, n, v);
    return y;
}

/* Tensor t, named after tensor y. */
static int tensor(hd_graph *g, int y, const char *suffix, hd_dtype t, int rank,
                  const int64_t *dim) {
    return hd_graph_tensor(g, hd_sprintf(g->arena, "%s.%s", g->tensors[y].name, suffix), t, rank,
                           dim);
}

static void as_product(hd_graph *g, int conv) {
    static const char *const kept[] = {"x_zp", "y_zp", "lo", "hi"};
    const struct hd_node n = g->nodes[conv];
    const struct hd_tensor x = g->tensors[n.in[0]], w = g->tensors[n.in[1]];
    const struct hd_tensor t = g->tensors[n.out[0]];
    int64_t perm[3] = {0, 2, 1}, N = x.dim[0], C = x.dim[1], L = x.dim[2], M = t.dim[1];
    int64_t turned[3] = {N, L, C}, rows[2] = {N * L, C}, made[2] = {N * L, M}, back[3] = {N, L, M};
    int y = n.out[0];
    hd_graph_kill(g, conv);
    int a = tensor(g, y, "turned", x.dtype, 3, turned), b = tensor(g, y, "rows", x.dtype, 2, rows);
    int c = tensor(g, y, "product", t.dtype, 2, made), d = tensor(g, y, "back", t.dtype, 3, back);
    node(g, HD_IR_transpose, g->tensors[a].name, n.in[0], a, "perm", 3, perm);
    node(g, HD_IR_reshape, g->tensors[b].name, a, b, "shape", 2, rows);
    int64_t wdim[2] = {M, C};
    int in[4] = {b,
                 hd_graph_const(g, hd_sprintf(g->arena, "%s.rows", w.name), HD_I8, 2, wdim, w.data),
                 n.in[2], n.in[3]};
    int id = hd_graph_node(g, HD_IR_qgemm, n.name, 4, in, 1, &c);
    hd_attr_set_string(g, id, "to", hd_dtype_name(t.dtype));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const struct hd_attr *v = hd_attr_get(&n, kept[i]);
        if (v) hd_attr_set_int(g, id, kept[i], v->i);
    }
    hd_graph_swap_names(g, id, conv);
    node(g, HD_IR_reshape, g->tensors[d].name, c, d, "shape", 3, back);
    node(g, HD_IR_transpose, t.name, d, y, "perm", 3, perm);
}

hd_status hd_pass_rows(hd_ctx *ctx, hd_graph *g) {
    bool any = false;
    for (size_t i = 0, n = g->n_nodes; i < n; i++) {
        const struct hd_node *nd = &g->nodes[i];
        if (nd->dead || nd->op != HD_IR_qconv || !is_one_tap(g, nd) ||
            !hd_made_as_rows(g, nd->in[0]))
            continue;
        as_product(g, (int)i);
        any = true;
    }
    return any ? hd_graph_infer(ctx, g) : HD_OK;
}
