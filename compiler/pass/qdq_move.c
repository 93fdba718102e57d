/* Data movement on integers: dequantize goes down through it and quantize up, until they meet. */
#include <math.h>
#include <string.h>

#include "compiler/pass/qdq.h"
#include "runtime/base/num.h"

bool hd_qdq_dequantized_any(const hd_graph *g, int t, int *x, struct hd_qparam *p) {
    const struct hd_node *d = hd_qdq_maker(g, t);
    if (!d || d->op != HD_IR_dequantize || !hd_qdq_param_any(g, d, p)) return false;
    *x = d->in[0];
    return true;
}

bool hd_qdq_dequantized(const hd_graph *g, int t, int *x, struct hd_qparam *p) {
    return hd_qdq_dequantized_any(g, t, x, p) && p->type != HD_I16;
}

const struct hd_node *hd_qdq_constant(const hd_graph *g, int t) {
    const struct hd_node *d = hd_qdq_maker(g, t);
    bool is = d && d->op == HD_IR_dequantize;
    for (int i = 0; is && i < d->n_in; i++) is = g->tensors[d->in[i]].data != NULL;
    return is ? d : NULL;
}

int hd_qdq_tensor_like(hd_graph *g, int like, hd_dtype type, const char *suffix) {
    struct hd_tensor t = g->tensors[like];
    return hd_graph_tensor(g, hd_sprintf(g->arena, "%s.%s", t.name, suffix), type, t.rank, t.dim);
}

void hd_qdq_copy_attrs(hd_graph *g, int to, int from, bool window_only) {
    const struct hd_node *n = &g->nodes[from];
    for (int i = 0; i < n->n_attrs; i++) {
        const struct hd_attr *a = &n->attrs[i];
        bool window = !strcmp(a->name, "kernel_shape") || !strcmp(a->name, "strides") ||
                      !strcmp(a->name, "pads") || !strcmp(a->name, "dilations") ||
                      !strcmp(a->name, "group") || !strcmp(a->name, "ceil_mode") ||
                      !strcmp(a->name, "macs");
        if (window_only && !window) continue;
        if (a->kind == HD_ATTR_INTS)
            hd_attr_set_ints(g, to, a->name, a->n, a->ints);
        else if (a->kind == HD_ATTR_INT)
            hd_attr_set_int(g, to, a->name, a->i);
        else if (a->kind == HD_ATTR_FLOAT)
            hd_attr_set_float(g, to, a->name, a->f);
        else if (a->kind == HD_ATTR_STRING)
            hd_attr_set_string(g, to, a->name, a->s);
    }
}

int hd_qdq_instead(hd_graph *g, int node, enum hd_ir_op op, int n_in, const int *in, int made) {
    const char *name = g->nodes[node].name;
    hd_graph_kill(g, node);
    int id = hd_graph_node(g, op, name, n_in, in, 1, &made);
    hd_qdq_copy_attrs(g, id, node, false);
    hd_graph_swap_names(g, id, node);
    return id;
}

int hd_qdq_moved_operands(const struct hd_node *n) {
    const char *mode = hd_attr_string(n, "mode", "");
    switch (n->op) {
    case HD_IR_concat:
        return n->n_in;
    case HD_IR_maxpool: /* one result: no indices */
        return n->n_out == 1;
    case HD_IR_resize:
        return !strcmp(mode, "nearest") &&
               strcmp(hd_attr_string(n, "coordinate_transformation_mode", ""),
                      "tf_crop_and_resize");
    case HD_IR_reshape:
    case HD_IR_flatten:
    case HD_IR_squeeze:
    case HD_IR_unsqueeze:
    case HD_IR_transpose:
    case HD_IR_slice:
    case HD_IR_split:
    case HD_IR_expand:
    case HD_IR_tile:
    case HD_IR_pad:
    case HD_IR_depthtospace:
    case HD_IR_spacetodepth:
    case HD_IR_gather:
        return 1;
    default:
        return 0;
    }
}

int hd_qdq_behind_moves(const hd_graph *g, int t) {
    for (const struct hd_node *n; (n = hd_qdq_maker(g, t)) && hd_qdq_moved_operands(n) == 1;)
        t = n->in[0];
    return t;
}

static enum hd_ir_op move_on_integers(enum hd_ir_op op) {
    return op == HD_IR_maxpool ? HD_IR_qmaxpool : op;
}

/* The border of a constant pad is a value, too: its integer, as a new constant. False when it is
 * none of p's (exact), or not constant. */
static bool border(hd_graph *g, const struct hd_node *n, const struct hd_qparam *p, bool exact,
                   int *out) {
    const struct hd_tensor *v = n->n_in > 2 && n->in[2] >= 0 ? &g->tensors[n->in[2]] : NULL;
    if (v && (!v->data || v->dtype != HD_F32)) return false;
    float f = v ? *(const float *)v->data : 0.0f;
    int32_t q = hd_requant(f / p->scale, p->zp, hd_dtype_least(p->type), hd_dtype_most(p->type));
    if (exact && (float)(q - p->zp) * p->scale != f) return false;
    int16_t value = (int16_t)q; /* little-endian: of bytes the first */
    *out = hd_graph_const(g, hd_sprintf(g->arena, "%s.border", n->name), p->type, 0, NULL, &value);
    return true;
}

/* Operands of the node on integers: n_moved of them are in[]; a pad gets its border. */
static int all_operands(const struct hd_node *n, int n_moved, int *in, int pad_value) {
    int count = n->n_in;
    for (int i = n_moved; i < n->n_in; i++) in[i] = n->in[i];
    if (pad_value >= 0) in[2] = pad_value;
    if (pad_value >= 0 && count < 3) count = 3;
    return count;
}

static bool fills(const struct hd_node *n) {
    return n->op == HD_IR_pad && !strcmp(hd_attr_string(n, "mode", "constant"), "constant");
}

/* move(dequantize(x)..) -> dequantize(move(x)..); several operands have one scale and zero point.
 */
bool hd_qdq_push_down(hd_graph *g, int node) {
    struct hd_node n = g->nodes[node];
    struct hd_qparam p = {0}, q;
    int n_moved = hd_qdq_moved_operands(&n), value = -1;
    if (!n_moved) return false;
    int *in = hd_new_array(g->arena, int, (size_t)n.n_in + 3);
    int *out = hd_new_array(g->arena, int, (size_t)n.n_out + 1);
    for (int i = 0; i < n_moved; i++) {
        if (!hd_qdq_dequantized_any(g, n.in[i], &in[i], &q)) return false;
        if (i && (q.type != p.type || q.scale != p.scale || q.zp != p.zp)) return false;
        p = q;
    }
    if (fills(&n) && !border(g, &n, &p, true, &value)) return false;
    const struct hd_node *d = hd_qdq_maker(g, n.in[0]);
    int back[3] = {-1, d->in[1], d->in[2]};
    const char *name = d->name;
    for (int i = 0; i < n.n_out; i++)
        out[i] = n.out[i] < 0 ? -1 : hd_qdq_tensor_like(g, n.out[i], p.type, "q");
    int count = all_operands(&n, n_moved, in, value);
    hd_graph_kill(g, node);
    int moved = hd_graph_node(g, move_on_integers(n.op), n.name, count, in, n.n_out, out);
    hd_graph_swap_names(g, moved, node);
    hd_qdq_copy_attrs(g, moved, node, false);
    for (int i = 0; i < n.n_out; i++) {
        back[0] = out[i];
        if (out[i] >= 0) hd_graph_node(g, HD_IR_dequantize, name, 3, back, 1, &n.out[i]);
    }
    return true;
}

/* argmax(dequantize(x)) -> argmax(x): a scale is positive, and its products are as far apart. */
bool hd_qdq_position(hd_graph *g, int node) {
    struct hd_qparam p;
    int x;
    enum hd_ir_op op = g->nodes[node].op;
    if (op != HD_IR_argmax && op != HD_IR_argmin) return false;
    if (!hd_qdq_dequantized_any(g, g->nodes[node].in[0], &x, &p)) return false;
    if (!(p.scale > 1e-30f && p.scale < 1e30f)) return false;
    g->nodes[node].in[0] = x;
    return true;
}

/* quantize(move(v..)) -> move(quantize(v)..). Only when nothing else reads the moved value. */
bool hd_qdq_pull_up(hd_graph *g, int q) {
    struct hd_qparam p;
    int moved = g->nodes[q].in[0], maker = g->tensors[moved].producer, y = g->nodes[q].out[0];
    if (maker < 0 || !hd_qdq_param_any(g, &g->nodes[q], &p)) return false;
    const struct hd_node n = g->nodes[maker];
    int n_moved = hd_qdq_moved_operands(&n), value = -1;
    if (!n_moved || n.n_out != 1 || hd_graph_is_output(g, moved)) return false;
    if (hd_graph_users(g, moved, NULL, 0) != 1) return false;
    if (fills(&n) && !border(g, &n, &p, false, &value)) return false;
    int scale = g->nodes[q].in[1], zero = g->nodes[q].in[2];
    int *in = hd_new_array(g->arena, int, (size_t)n.n_in + 3);
    hd_graph_kill(g, q);
    hd_graph_kill(g, maker);
    for (int i = 0; i < n_moved; i++) {
        int from[3] = {n.in[i], scale, zero};
        in[i] = hd_qdq_tensor_like(g, from[0], p.type, "q");
        hd_graph_node(g, HD_IR_quantize, g->tensors[in[i]].name, 3, from, 1, &in[i]);
    }
    int count = all_operands(&n, n_moved, in, value);
    int id = hd_graph_node(g, move_on_integers(n.op), n.name, count, in, 1, &y);
    hd_graph_swap_names(g, id, maker);
    hd_qdq_copy_attrs(g, id, maker, false);
    return true;
}
