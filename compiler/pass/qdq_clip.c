/* Clips of integers, with which files say that a tensor has fewer bits than its type (the QCDQ
 * form: quantize, clip, dequantize). */
#include "compiler/pass/qdq.h"

static bool is_bytes(hd_dtype t) {
    return t == HD_I8 || t == HD_U8;
}

static bool is_bound(enum hd_ir_op op) {
    return op == HD_IR_clip || op == HD_IR_relu || op == HD_IR_max || op == HD_IR_min;
}

/* The bounds of an integer clip, relu, max or min, within those of the type; false unless constant.
 */
static bool bounds(const hd_graph *g, const struct hd_node *n, int *lo, int *hi) {
    hd_dtype type = g->tensors[n->out[0]].dtype;
    *lo = type == HD_I8 ? -128 : 0, *hi = *lo + 255;
    if (n->op == HD_IR_relu && *lo < 0) *lo = 0;
    if (n->op == HD_IR_max || n->op == HD_IR_min) { /* with a constant on the right */
        const struct hd_tensor *t = n->n_in == 2 ? &g->tensors[n->in[1]] : NULL;
        if (!t || !t->data || hd_tensor_elems(t) != 1) return false;
        *(n->op == HD_IR_max ? lo : hi) =
            type == HD_I8 ? *(const int8_t *)t->data : *(const uint8_t *)t->data;
    }
    for (int i = 1; n->op == HD_IR_clip && i < n->n_in; i++) {
        if (n->in[i] < 0) continue;
        const struct hd_tensor *t = &g->tensors[n->in[i]];
        if (!t->data || t->dtype != type) return false;
        *(i == 1 ? lo : hi) = type == HD_I8 ? *(const int8_t *)t->data : *(const uint8_t *)t->data;
    }
    if (*lo > *hi) *lo = *hi; /* min(max(x, lo), hi) */
    return true;
}

static int bound(hd_graph *g, const struct hd_qparam *p, int v) {
    float f = (float)(v - p->zp) * p->scale;
    return hd_graph_const(g, "bound", HD_F32, 0, NULL, &f);
}

/* clip(quantize(x)) -> quantize(clip(x)), which becomes part of what makes x. */
static bool in_front(hd_graph *g, int node, int lo, int hi) {
    const struct hd_node n = g->nodes[node];
    const struct hd_node *maker = hd_qdq_maker(g, n.in[0]);
    struct hd_qparam p;
    if (!maker || maker->op != HD_IR_quantize || !hd_qdq_param(g, maker, &p) ||
        hd_graph_only_user(g, n.in[0]) < 0)
        return false;
    const struct hd_node q = *maker;
    int quantize = g->tensors[n.in[0]].producer;
    int y = n.out[0], x = q.in[0], clipped = hd_qdq_tensor_like(g, x, HD_F32, "clipped");
    int in[3] = {x, bound(g, &p, lo), bound(g, &p, hi)}, back[3] = {clipped, q.in[1], q.in[2]};
    hd_graph_kill(g, node);
    hd_graph_kill(g, quantize);
    hd_graph_swap_names(g, hd_graph_node(g, HD_IR_clip, n.name, 3, in, 1, &clipped), node);
    hd_graph_swap_names(g, hd_graph_node(g, HD_IR_quantize, q.name, 3, back, 1, &y), quantize);
    return true;
}

bool hd_qdq_clip(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    int lo, hi;
    bool may = !n.dead && is_bound(n.op) && g->tensors[n.out[0]].known &&
               is_bytes(g->tensors[n.out[0]].dtype);
    if (!may || g->tensors[n.in[0]].data || !bounds(g, &n, &lo, &hi)) return false;
    if (in_front(g, node, lo, hi)) return true;
    int y = n.out[0];
    hd_graph_kill(g, node);
    int id = hd_graph_node(g, HD_IR_qrescale, n.name, 1, n.in, 1, &y);
    hd_graph_swap_names(g, id, node);
    hd_attr_set_string(g, id, "to", hd_dtype_name(g->tensors[y].dtype));
    hd_attr_set_int(g, id, "x_zp", 0);
    hd_attr_set_int(g, id, "y_zp", 0);
    hd_attr_set_int(g, id, "lo", lo);
    hd_attr_set_int(g, id, "hi", hi);
    hd_attr_set_float(g, id, "scale", 1);
    return true;
}
