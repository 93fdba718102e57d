/* Bytes that a network turns from one type into the other as they come in.
 *
 *   dequantize(move(quantize(dequantize(x))))  ->  dequantize(move(x)),   x an input
 *
 * where both scales are one and the zero points are 128 apart, as the types are: no value is
 * rounded or clipped. Converters write it where a network of i8 has an input of u8.
 */
#include "compiler/pass/qdq.h"

static bool same_values(const struct hd_qparam *a, const struct hd_qparam *b) {
    const struct hd_qparam *u = a->type == HD_U8 ? a : b, *i = a->type == HD_U8 ? b : a;
    return a->scale == b->scale && u->type == HD_U8 && i->type == HD_I8 && u->zp - i->zp == 128;
}

/* A move whose other operands are no values. */
static bool only_moves(const struct hd_node *n) {
    return n && n->n_out == 1 && hd_qdq_moved_operands(n) == 1 && n->op != HD_IR_pad &&
           n->op != HD_IR_maxpool;
}

/* The dequantize node of the input that t, with parameters p, is by another type; NULL = none. */
static const struct hd_node *entry(const hd_graph *g, int t, const struct hd_qparam *p) {
    const struct hd_node *n;
    struct hd_qparam x, y;
    int in;
    while (only_moves(n = hd_qdq_maker(g, t))) t = n->in[0];
    if (!n || n->op != HD_IR_quantize || !hd_qdq_param(g, n, &y) || y.scale != p->scale ||
        y.zp != p->zp || y.type != p->type || !hd_qdq_dequantized(g, n->in[0], &in, &x) ||
        !same_values(&x, &y) || g->tensors[in].producer >= 0 || g->tensors[in].data)
        return NULL;
    return hd_qdq_maker(g, n->in[0]);
}

/* What t is of the bytes x. */
static int of_bytes(hd_graph *g, int t, int x) {
    int maker = g->tensors[t].producer, in[HD_MAX_OPERANDS];
    const struct hd_node n = g->nodes[maker];
    if (!only_moves(&n)) return x;
    for (int i = 0; i < n.n_in; i++) in[i] = n.in[i];
    in[0] = of_bytes(g, n.in[0], x);
    int y = hd_qdq_tensor_like(g, t, g->tensors[x].dtype, "bytes");
    hd_qdq_copy_attrs(g, hd_graph_node(g, n.op, n.name, n.n_in, in, 1, &y), maker, false);
    return y;
}

void hd_qdq_same_bytes(hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++) {
        struct hd_qparam p;
        if (g->nodes[i].dead || g->nodes[i].op != HD_IR_dequantize ||
            !hd_qdq_param(g, &g->nodes[i], &p))
            continue;
        const struct hd_node *d = entry(g, g->nodes[i].in[0], &p);
        if (!d) continue;
        int scale = d->in[1], zp = d->in[2], x = of_bytes(g, g->nodes[i].in[0], d->in[0]);
        g->nodes[i].in[0] = x, g->nodes[i].in[1] = scale, g->nodes[i].in[2] = zp;
    }
}
