/* ONNX elementwise operations whose import takes more than a row of the table. */
#include <string.h>

#include "compiler/import/onnx/onnx_ops.h"

/* ---- opset 6: broadcast=1, axis=.. ---- */

/* Below opset 7 the second operand is aligned at `axis`, not at the end: dimensions of 1 behind it
 * make both the same. */
static hd_status align(struct hd_importer *m, const struct hd_onnx_node *n, int *b) {
    const struct hd_tensor *x = hd_onnx_tensor(m, n, 0), *y = hd_onnx_tensor(m, n, 1);
    const struct hd_onnx_attr *a = hd_onnx_attr(n, "axis");
    if (m->opset >= 7 || !hd_onnx_int(n, "broadcast", 0) || !a) return HD_OK;
    if (!x->known || !y->known)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "broadcast with axis needs known shapes");
    int64_t axis = 0, dim[HD_MAX_RANK];
    TRY(hd_onnx_axis(m, n, a->i, x->rank, &axis));
    if (axis + y->rank > x->rank)
        return hd_onnx_bad(m, n, HD_INVALID, "axis %lld, and operands of rank %d and %d",
                           (long long)axis, x->rank, y->rank);
    int rank = x->rank - (int)axis;
    for (int d = 0; d < rank; d++) dim[d] = d < y->rank ? y->dim[d] : 1;
    int id = hd_onnx_emit_inner(m, n, HD_IR_reshape, "aligned", 1, b, b);
    hd_attr_set_ints(m->g, id, "shape", rank, dim);
    return hd_onnx_done(m, id);
}

static hd_status binary(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op) {
    int in[2] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1)};
    TRY(align(m, n, &in[1]));
    return hd_onnx_done(m, hd_onnx_emit(m, n, op, 2, in));
}

#define BINARY(onnx, op)                                                                           \
    hd_status import_##onnx(struct hd_importer *m, const struct hd_onnx_node *n) {                 \
        return binary(m, n, HD_IR_##op);                                                           \
    }
BINARY(Add, add)
BINARY(Sub, sub)
BINARY(Mul, mul)
BINARY(Div, div)
BINARY(Pow, pow)
BINARY(And, and)
BINARY(Or, or)
BINARY(Xor, xor)
BINARY(Equal, equal)
BINARY(Less, less)
BINARY(Greater, greater)

/* Below opset 7 a slope of rank 1 is one value for each channel. */
hd_status import_PRelu(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_tensor *x = hd_onnx_tensor(m, n, 0), *slope = hd_onnx_tensor(m, n, 1);
    int in[2] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1)};
    if (m->opset < 7 && x->known && slope->known && x->rank > 2 && slope->rank == 1) {
        int64_t dim[HD_MAX_RANK];
        for (int d = 0; d < x->rank - 1; d++) dim[d] = d ? 1 : slope->dim[0];
        int id = hd_onnx_emit_inner(m, n, HD_IR_reshape, "slope", 1, &in[1], &in[1]);
        hd_attr_set_ints(m->g, id, "shape", x->rank - 1, dim);
        TRY(hd_onnx_done(m, id));
    }
    return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_prelu, 2, in));
}

/* ---- any number of operands ---- */

/* Operand i, as f32 when `half` is set: an f16 sum is rounded once, not at every step. */
static hd_status wide(struct hd_importer *m, const struct hd_onnx_node *n, bool half, size_t i,
                      int *out) {
    *out = hd_onnx_in(m, n, i);
    if (*out < 0) return hd_onnx_bad(m, n, HD_INVALID, "input %zu is left out", i);
    if (!half) return HD_OK;
    int id = hd_onnx_emit_inner(m, n, HD_IR_cast, "wide", 1, out, out);
    hd_attr_set_string(m->g, id, "to", "f32");
    return hd_onnx_done(m, id);
}

/* op(op(op(a, b), c), ..), and then divided by their number. */
static hd_status chain(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op,
                       bool mean) {
    const struct hd_tensor *first = hd_onnx_tensor(m, n, 0);
    bool half =
        op == HD_IR_add && first->known && (first->dtype == HD_F16 || first->dtype == HD_BF16);
    int in[2] = {-1, -1};
    TRY(wide(m, n, half, 0, &in[0]));
    for (size_t i = 1; i < n->n_in; i++) {
        TRY(wide(m, n, half, i, &in[1]));
        if (i + 1 == n->n_in && !mean && !half)
            return hd_onnx_done(m, hd_onnx_emit(m, n, op, 2, in));
        TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, op, "part", 2, in, &in[0])));
    }
    if (mean) {
        TRY(hd_onnx_const_like(m, n, "count", (double)n->n_in, in[0], &in[1]));
        if (!half) return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_div, 2, in));
        TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_div, "mean", 2, in, &in[0])));
    }
    int id = hd_onnx_emit(m, n, half ? HD_IR_cast : HD_IR_identity, 1, in);
    if (half) hd_attr_set_string(m->g, id, "to", "f16");
    return hd_onnx_done(m, id);
}

hd_status import_Sum(struct hd_importer *m, const struct hd_onnx_node *n) {
    return chain(m, n, HD_IR_add, false);
}
hd_status import_Max(struct hd_importer *m, const struct hd_onnx_node *n) {
    return chain(m, n, HD_IR_max, false);
}
hd_status import_Min(struct hd_importer *m, const struct hd_onnx_node *n) {
    return chain(m, n, HD_IR_min, false);
}
hd_status import_Mean(struct hd_importer *m, const struct hd_onnx_node *n) {
    return chain(m, n, HD_IR_add, true);
}

/* ---- the rest ---- */

hd_status import_Clip(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[3] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1), hd_onnx_in(m, n, 2)};
    const char *const names[3] = {NULL, "min", "max"};
    for (int i = 1; i < 3 && m->opset < 11; i++) {
        const struct hd_onnx_attr *a = hd_onnx_attr(n, names[i]);
        if (a && a->has_f) TRY(hd_onnx_const_like(m, n, names[i], (double)a->f, in[0], &in[i]));
    }
    return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_clip, 3, in));
}

/* All zeros, as far as the import knows. */
static hd_status is_zero(struct hd_importer *m, int tensor, bool *out) {
    const void *data;
    TRY(hd_onnx_value(m, tensor, &data));
    const char *p = data;
    *out = p != NULL;
    for (size_t i = 0; *out && i < hd_tensor_bytes(&m->g->tensors[tensor]); i++) *out = p[i] == 0;
    return HD_OK;
}

/* The mask that training would have used is all true (below opset 10: all one). */
hd_status import_Dropout(struct hd_importer *m, const struct hd_onnx_node *n) {
    int x = hd_onnx_in(m, n, 0), mask = hd_onnx_out(m, n, 1), shape = -1, one = -1;
    int train = hd_onnx_in(m, n, 2), ratio = hd_onnx_in(m, n, 1);
    bool idle = train < 0;
    if (!idle) TRY(is_zero(m, train, &idle));
    if (!idle && ratio >= 0) TRY(is_zero(m, ratio, &idle));
    if (!idle)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "training mode drops at random; export for inference");
    TRY(hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_identity, 1, &x)));
    if (mask < 0) return HD_OK;
    TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_shape, "shape", 1, &x, &shape)));
    if (m->opset < 10)
        TRY(hd_onnx_const_like(m, n, "one", 1, x, &one));
    else
        one = hd_onnx_const(m, n, "true", HD_BOOL, 0, NULL, (uint8_t[]){1});
    int in[2] = {one, shape};
    return hd_onnx_done(m,
                        hd_graph_node(m->g, HD_IR_expand, hd_sprintf(m->arena, "%s.mask", n->name),
                                      2, in, 1, &mask));
}

/* ---- com.microsoft ---- */

static hd_status gelu(struct hd_importer *m, const struct hd_onnx_node *n, bool fast) {
    int in[2] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1)};
    if (in[1] >= 0)
        TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_add, "biased", 2, in, &in[0])));
    int id = hd_onnx_emit(m, n, HD_IR_gelu, 1, in);
    hd_attr_set_string(m->g, id, "approximate", fast ? "tanh" : "none");
    return hd_onnx_done(m, id);
}

hd_status import_ms_Gelu(struct hd_importer *m, const struct hd_onnx_node *n) {
    return gelu(m, n, false);
}
hd_status import_ms_BiasGelu(struct hd_importer *m, const struct hd_onnx_node *n) {
    return gelu(m, n, false);
}
hd_status import_ms_FastGelu(struct hd_importer *m, const struct hd_onnx_node *n) {
    return gelu(m, n, true);
}

/* x * sigmoid(alpha * x) */
hd_status import_ms_QuickGelu(struct hd_importer *m, const struct hd_onnx_node *n) {
    int x = hd_onnx_in(m, n, 0), in[2] = {x, -1}, gate = -1;
    TRY(hd_onnx_const_like(m, n, "alpha", (double)hd_onnx_float(n, "alpha", 1.702f), x, &in[1]));
    TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_mul, "scaled", 2, in, &gate)));
    TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_sigmoid, "gate", 1, &gate, &in[1])));
    return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_mul, 2, in));
}
