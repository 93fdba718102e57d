/* Nodes of the backward graph, one by one: see build.h. */
#include "compiler/grad/build.h"

#include <string.h>

#include "runtime/base/element.h"

static bool usable(const struct hd_back *b, int n, const int *in) {
    if (b->status != HD_OK) return false;
    for (int i = 0; i < n; i++) HD_ASSERT(in[i] != -1);
    return true;
}

int hd_b_start(struct hd_back *b, enum hd_ir_op op, int n, const int *in, int n_out) {
    if (!usable(b, n, in)) return -1;
    int *ids = hd_new_array(b->arena, int, (size_t)n + 1);
    int *out = hd_new_array(b->arena, int, (size_t)n_out);
    for (int i = 0; i < n; i++) ids[i] = in[i] == HD_B_NONE ? -1 : in[i];
    const char *name = hd_sprintf(b->arena, "%s/%s", b->prefix, hd_ir_ops[op].name);
    for (int i = 0; i < n_out; i++) out[i] = hd_graph_tensor(b->g, name, HD_F32, 0, NULL);
    return hd_graph_node(b->g, op, name, n, ids, n_out, out);
}

void hd_b_int(struct hd_back *b, int node, const char *name, int64_t v) {
    if (node >= 0) hd_attr_set_int(b->g, node, name, v);
}

void hd_b_float(struct hd_back *b, int node, const char *name, double v) {
    if (node >= 0) hd_attr_set_float(b->g, node, name, (float)v);
}

void hd_b_ints(struct hd_back *b, int node, const char *name, int n, const int64_t *v) {
    if (node >= 0) hd_attr_set_ints(b->g, node, name, n, v);
}

void hd_b_string(struct hd_back *b, int node, const char *name, const char *v) {
    if (node >= 0) hd_attr_set_string(b->g, node, name, v);
}

void hd_b_copy(struct hd_back *b, int node, const struct hd_node *from) {
    for (int i = 0; i < from->n_attrs && node >= 0; i++) {
        const struct hd_attr *a = &from->attrs[i];
        switch (a->kind) {
        case HD_ATTR_INT:
            hd_attr_set_int(b->g, node, a->name, a->i);
            break;
        case HD_ATTR_FLOAT:
            hd_attr_set_float(b->g, node, a->name, a->f);
            break;
        case HD_ATTR_INTS:
            hd_attr_set_ints(b->g, node, a->name, a->n, a->ints);
            break;
        case HD_ATTR_FLOATS:
            hd_attr_set_floats(b->g, node, a->name, a->n, a->floats);
            break;
        case HD_ATTR_STRING:
            hd_attr_set_string(b->g, node, a->name, a->s);
            break;
        default:
            break;
        }
    }
}

int hd_b_end(struct hd_back *b, int node) {
    if (node < 0) return -1;
    b->status = hd_graph_infer_node(b->ctx, b->g, node);
    return b->status == HD_OK ? b->g->nodes[node].out[0] : -1;
}

int hd_b_op(struct hd_back *b, enum hd_ir_op op, int n, const int *in) {
    return hd_b_end(b, hd_b_start(b, op, n, in, 1));
}

struct hd_tensor hd_b_shape(const struct hd_back *b, int t) {
    return t < 0 ? (struct hd_tensor){.name = "", .rank = 0} : b->g->tensors[t];
}

int hd_b_number(struct hd_back *b, hd_dtype t, double v) {
    char data[8] = {0};
    if (b->status != HD_OK) return -1;
    hd_k_put_f64(data, t, 0, v);
    return hd_graph_const(b->g, hd_sprintf(b->arena, "%s/number", b->prefix), t, 0, NULL, data);
}

int hd_b_vector(struct hd_back *b, int n, const int64_t *v) {
    int64_t dim = n;
    if (b->status != HD_OK) return -1;
    return hd_graph_const(b->g, hd_sprintf(b->arena, "%s/list", b->prefix), HD_I64, 1, &dim, v);
}

int hd_b_filled(struct hd_back *b, const struct hd_tensor *like, double v) {
    int number = hd_b_number(b, like->dtype, v);
    return like->rank ? hd_b_expand(b, number, like->rank, like->dim) : number;
}

int hd_b_reshape(struct hd_back *b, int x, int rank, const int64_t *dim) {
    if (b->status != HD_OK) return -1;
    struct hd_tensor t = hd_b_shape(b, x);
    if (t.rank == rank && !memcmp(t.dim, dim, (size_t)rank * sizeof *dim)) return x;
    int node = hd_b_start(b, HD_IR_reshape, 1, &x, 1);
    hd_b_ints(b, node, "shape", rank, dim);
    return hd_b_end(b, node);
}

int hd_b_like(struct hd_back *b, int x, int t) {
    struct hd_tensor s = hd_b_shape(b, t);
    return hd_b_reshape(b, x, s.rank, s.dim);
}

int hd_b_transpose(struct hd_back *b, int x, const int64_t *perm) {
    int node = hd_b_start(b, HD_IR_transpose, 1, &x, 1);
    hd_b_ints(b, node, "perm", hd_b_shape(b, x).rank, perm);
    return hd_b_end(b, node);
}

int hd_b_expand(struct hd_back *b, int x, int rank, const int64_t *dim) {
    struct hd_tensor t = hd_b_shape(b, x);
    if (t.rank == rank && !memcmp(t.dim, dim, (size_t)rank * sizeof *dim)) return x;
    return hd_b(b, expand, x, hd_b_vector(b, rank, dim));
}

int hd_b_cast(struct hd_back *b, int x, hd_dtype to) {
    if (b->status != HD_OK || hd_b_shape(b, x).dtype == to) return b->status == HD_OK ? x : -1;
    int node = hd_b_start(b, HD_IR_cast, 1, &x, 1);
    hd_b_string(b, node, "to", hd_dtype_name(to));
    return hd_b_end(b, node);
}

int hd_b_reduce(struct hd_back *b, enum hd_ir_op op, int x, int n, const int64_t *axes, bool keep) {
    int in[2] = {x, n ? hd_b_vector(b, n, axes) : -1};
    int node = hd_b_start(b, op, n ? 2 : 1, in, 1);
    hd_b_int(b, node, "keepdims", keep);
    return hd_b_end(b, node);
}

int hd_b_slice(struct hd_back *b, int x, int axis, int64_t from, int64_t to) {
    int64_t along = axis;
    if (b->status == HD_OK && from == 0 && to == hd_b_shape(b, x).dim[axis]) return x;
    return hd_b(b, slice, x, hd_b_vector(b, 1, &from), hd_b_vector(b, 1, &to),
                hd_b_vector(b, 1, &along));
}

int hd_b_pad(struct hd_back *b, int x, int axis, int64_t before, int64_t after) {
    int rank = hd_b_shape(b, x).rank;
    int64_t pads[2 * HD_MAX_RANK] = {0};
    if (!before && !after) return x;
    pads[axis] = before, pads[axis + rank] = after;
    return hd_b(b, pad, x, hd_b_vector(b, 2 * rank, pads));
}

int hd_b_concat(struct hd_back *b, int n, const int *x, int64_t axis) {
    int node = hd_b_start(b, HD_IR_concat, n, x, 1);
    hd_b_int(b, node, "axis", axis);
    return hd_b_end(b, node);
}

int hd_b_softmax(struct hd_back *b, int x, int64_t axis) {
    int node = hd_b_start(b, HD_IR_softmax, 1, &x, 1);
    hd_b_int(b, node, "axis", axis);
    return hd_b_end(b, node);
}

int hd_b_unbroadcast(struct hd_back *b, int x, const struct hd_tensor *t) {
    struct hd_tensor s = hd_b_shape(b, x);
    int64_t axes[HD_MAX_RANK];
    int n = 0, more = s.rank - t->rank;
    for (int d = 0; d < s.rank; d++)
        if (d < more || (t->dim[d - more] == 1 && s.dim[d] != 1)) axes[n++] = d;
    if (n) x = hd_b_reduce(b, HD_IR_reducesum, x, n, axes, true);
    return hd_b_reshape(b, x, t->rank, t->dim);
}

int hd_b_scatter(struct hd_back *b, int g, int index, const struct hd_tensor *x, int64_t axis) {
    struct hd_tensor at = hd_b_shape(b, index);
    int64_t dim[HD_MAX_RANK], ones[HD_MAX_RANK], n = hd_tensor_elems(&at);
    for (int d = 0; d < x->rank; d++) dim[d] = d == axis ? n : x->dim[d], ones[d] = 1;
    ones[axis] = n;
    g = hd_b_reshape(b, g, x->rank, dim);
    index = hd_b_expand(b, hd_b_reshape(b, index, x->rank, ones), x->rank, dim);
    int in[3] = {hd_b_filled(b, x, 0), index, g};
    int node = hd_b_start(b, HD_IR_scatterelements, 3, in, 1);
    hd_b_int(b, node, "axis", axis);
    hd_b_string(b, node, "reduction", "add");
    return hd_b_end(b, node);
}

int hd_b_fail(struct hd_back *b, const struct hd_node *n, const char *why) {
    if (b->status == HD_OK)
        b->status = hd_fail(b->ctx, HD_UNSUPPORTED, "node '%s' (%s): no gradient here: %s", n->name,
                            hd_ir_ops[n->op].name, why);
    return -1;
}
