/* ONNX quantisation. QLinear forms become dequantize, float operation, quantize, so that
 * legalisation has one kind of pattern to find and gives the same q operations for both forms. */
#include <string.h>

#include "compiler/import/onnx/onnx_quant.h"

/* A scale or zero point with n values where the file has one; only constants need it. */
static int spread(struct hd_importer *m, int tensor, int64_t n) {
    const struct hd_tensor t = m->g->tensors[tensor];
    if (!t.data || hd_tensor_elems(&t) != 1 || n == 1) return tensor;
    size_t bytes = hd_dtype_bytes(t.dtype);
    char *v = hd_alloc(m->g->arena, (size_t)n * bytes);
    for (int64_t i = 0; i < n; i++) memcpy(v + (size_t)i * bytes, t.data, bytes);
    return hd_graph_const(m->g, t.name, t.dtype, 1, &n, v);
}

/* Zero point that the file leaves out. */
static int zeros(struct hd_importer *m, const struct hd_onnx_node *n, hd_dtype t, int like) {
    const struct hd_tensor *s = &m->g->tensors[like];
    int64_t dim[HD_MAX_RANK];
    memcpy(dim, s->dim, sizeof dim);
    void *data = hd_alloc(m->arena, (size_t)hd_tensor_elems(s) * hd_dtype_bytes(t) + 1);
    return hd_graph_const(m->g, hd_sprintf(m->arena, "%s.zero_point", n->name), t, s->rank, dim,
                          data);
}

/* axis matters only when there are several scales. */
static void set_axis(struct hd_importer *m, int node, int64_t axis) {
    const struct hd_node *nd = &m->g->nodes[node];
    const struct hd_tensor *x = &m->g->tensors[nd->in[0]], *s = &m->g->tensors[nd->in[1]];
    if (hd_tensor_elems(s) != 1 || s->rank > 1)
        hd_attr_set_int(m->g, node, "axis", axis < 0 ? axis + x->rank : axis);
}

/* Types for which the IR has quantize and dequantize. */
static bool is_plain(hd_dtype t) {
    return t == HD_I8 || t == HD_U8 || t == HD_I16 || t == HD_U16;
}

/* The type that attribute output_dtype names, else def. */
static hd_status named_type(struct hd_importer *m, const struct hd_onnx_node *n, hd_dtype def,
                            hd_dtype *out) {
    int64_t given = hd_onnx_int(n, "output_dtype", 0);
    int t = given ? hd_dtype_from_onnx((int)given) : (int)def;
    if (t < 0)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "output_dtype is ONNX data type %lld, allowed 1..7, 9..13 and 16..26",
                           (long long)given);
    *out = (hd_dtype)t;
    return HD_OK;
}

hd_status import_QuantizeLinear(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct hd_onnx_build b = {m, n, HD_OK};
    int in[3] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1), hd_onnx_in(m, n, 2)};
    hd_dtype t = HD_U8;
    TRY(named_type(m, n, in[2] < 0 ? HD_U8 : m->g->tensors[in[2]].dtype, &t));
    if (!is_plain(t) || hd_onnx_int(n, "block_size", 0)) return hd_onnx_quantize_wide(m, n, t);
    in[1] = hd_build_f32(&b, "scale", in[1]);
    TRY(b.s);
    if (in[2] < 0) in[2] = zeros(m, n, t, in[1]);
    int id = hd_onnx_emit(m, n, HD_IR_quantize, 3, in);
    set_axis(m, id, hd_onnx_int(n, "axis", 1));
    return hd_onnx_done(m, id);
}

hd_status import_DequantizeLinear(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct hd_onnx_build b = {m, n, HD_OK};
    int in[3] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1), hd_onnx_in(m, n, 2)}, y;
    hd_dtype t = m->g->tensors[in[1]].dtype;
    TRY(named_type(m, n, t == HD_F8E8M0 ? HD_F32 : t, &t));
    in[0] = hd_onnx_whole_bytes(&b, "x", in[0]);
    TRY(b.s);
    hd_dtype from = m->g->tensors[in[0]].dtype;
    if ((!is_plain(from) && from != HD_I32) || hd_onnx_int(n, "block_size", 0))
        return hd_onnx_dequantize_wide(m, n, t);
    in[1] = hd_build_f32(&b, "scale", in[1]);
    in[2] = hd_onnx_whole_bytes(&b, "zero", in[2]);
    TRY(b.s);
    if (in[2] < 0) in[2] = zeros(m, n, from, in[1]);
    int id = t == HD_F32 ? hd_onnx_emit(m, n, HD_IR_dequantize, 3, in)
                         : hd_onnx_emit_inner(m, n, HD_IR_dequantize, "wide", 3, in, &y);
    set_axis(m, id, hd_onnx_int(n, "axis", 1));
    TRY(hd_onnx_done(m, id));
    return t == HD_F32 ? HD_OK : hd_build_end(&b, 0, hd_build_cast(&b, "typed", y, t));
}

static hd_status left_out(struct hd_importer *m, const struct hd_onnx_node *n, size_t i) {
    return hd_onnx_bad(m, n, HD_INVALID, "input %zu is left out, but required", i);
}

hd_status hd_onnx_dequantized(struct hd_importer *m, const struct hd_onnx_node *n,
                              const char *suffix, size_t x, size_t scale, size_t zero, int64_t axis,
                              int *out) {
    struct hd_onnx_build b = {m, n, HD_OK};
    int in[3] = {hd_onnx_in(m, n, x), hd_onnx_in(m, n, scale), hd_onnx_in(m, n, zero)};
    if (in[0] < 0 || in[1] < 0) return left_out(m, n, in[0] < 0 ? x : scale);
    in[1] = hd_build_f32(&b, suffix, in[1]);
    TRY(b.s);
    if (in[2] < 0) in[2] = zeros(m, n, m->g->tensors[in[0]].dtype, in[1]);
    int64_t ns = hd_tensor_elems(&m->g->tensors[in[1]]),
            nz = hd_tensor_elems(&m->g->tensors[in[2]]);
    if (nz > ns) in[1] = spread(m, in[1], nz);
    if (ns > nz) in[2] = spread(m, in[2], ns);
    int id = hd_onnx_emit_inner(m, n, HD_IR_dequantize, suffix, 3, in, out);
    set_axis(m, id, axis);
    return hd_onnx_done(m, id);
}

hd_status hd_onnx_quantized(struct hd_importer *m, const struct hd_onnx_node *n, int value,
                            size_t scale, size_t zero, hd_dtype type) {
    struct hd_onnx_build b = {m, n, HD_OK};
    int in[3] = {value, hd_onnx_in(m, n, scale), hd_onnx_in(m, n, zero)};
    if (in[1] < 0) return left_out(m, n, scale);
    in[1] = hd_build_f32(&b, "y_scale", in[1]);
    TRY(b.s);
    if (in[2] < 0) in[2] = zeros(m, n, type, in[1]);
    int id = hd_onnx_emit(m, n, HD_IR_quantize, 3, in);
    set_axis(m, id, 1);
    return hd_onnx_done(m, id);
}

hd_status hd_onnx_quantized_bias(struct hd_importer *m, const struct hd_onnx_node *n,
                                 size_t x_scale, size_t w_scale, size_t bias, int *out) {
    const struct hd_tensor *xs = hd_onnx_tensor(m, n, x_scale), *ws = hd_onnx_tensor(m, n, w_scale),
                           *b = hd_onnx_tensor(m, n, bias);
    if (!xs->data || !ws->data || xs->dtype != HD_F32 || ws->dtype != HD_F32 ||
        hd_tensor_elems(xs) != 1 || ws->rank > 1)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "the scales of x and w must be f32 constants when there is a bias");
    if (b->dtype != HD_I32)
        return hd_onnx_bad(m, n, HD_INVALID, "the bias is %s, want i32", hd_dtype_name(b->dtype));
    int64_t count = hd_tensor_elems(ws);
    float *s = hd_new_array(m->arena, float, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++)
        s[i] = ((const float *)xs->data)[0] * ((const float *)ws->data)[i];
    int64_t dim[1] = {count}, axis = b->rank - 1;
    int scale = hd_onnx_const(m, n, "bias_scale", HD_F32, ws->rank, dim, s);
    int in[3] = {hd_onnx_in(m, n, bias), scale, zeros(m, n, HD_I32, scale)};
    int id = hd_onnx_emit_inner(m, n, HD_IR_dequantize, "bias", 3, in, out);
    set_axis(m, id, axis);
    return hd_onnx_done(m, id);
}

hd_status import_QLinearConv(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[3] = {-1, -1, -1}, value;
    TRY(hd_onnx_dequantized(m, n, "x", 0, 1, 2, 1, &in[0]));
    TRY(hd_onnx_dequantized(m, n, "w", 3, 4, 5, 0, &in[1]));
    if (hd_onnx_in(m, n, 8) >= 0) TRY(hd_onnx_quantized_bias(m, n, 1, 4, 8, &in[2]));
    int id = hd_onnx_emit_inner(m, n, HD_IR_conv, "conv", 3, in, &value);
    TRY(hd_onnx_conv_attrs(m, n, id));
    return hd_onnx_quantized(m, n, value, 6, 7, HD_U8);
}

hd_status import_QLinearMatMul(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[2], value;
    int64_t rank_a = hd_onnx_tensor(m, n, 0)->rank, rank_b = hd_onnx_tensor(m, n, 3)->rank;
    TRY(hd_onnx_dequantized(m, n, "a", 0, 1, 2, rank_a - 2, &in[0]));
    TRY(hd_onnx_dequantized(m, n, "b", 3, 4, 5, rank_b - 1, &in[1]));
    int id = hd_onnx_emit_inner(m, n, HD_IR_matmul, "matmul", 2, in, &value);
    TRY(hd_onnx_done(m, id));
    return hd_onnx_quantized(m, n, value, 6, 7, HD_U8);
}
