/* Operations of domain com.microsoft, as ONNX Runtime's quantisers and optimisers write them. The
 * quantised ones become dequantize, float operation, quantize, as QLinearConv does.
 * Source: ONNX Runtime, docs/ContribOperators.md. */
#include <string.h>

#include "compiler/import/onnx/onnx_ops.h"

/* ---- helpers ---- */

/* An IR node without attributes; *out is its result. */
static hd_status inner(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op,
                       const char *suffix, int n_in, const int *in, int *out) {
    return hd_onnx_done(m, hd_onnx_emit_inner(m, n, op, suffix, n_in, in, out));
}

static hd_dtype type_of(const struct hd_importer *m, int tensor) {
    return m->g->tensors[tensor].dtype;
}

static hd_status refuse_nhwc(struct hd_importer *m, const struct hd_onnx_node *n) {
    if (!hd_onnx_int(n, "channels_last", 0)) return HD_OK;
    return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                       "channels_last=1; export without ONNX Runtime's layout optimisation");
}

/* ---- quantised elementwise ---- */

static hd_status q_binary(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op) {
    int in[2], value;
    TRY(hd_onnx_dequantized(m, n, "a", 0, 1, 2, 1, &in[0]));
    TRY(hd_onnx_dequantized(m, n, "b", 3, 4, 5, 1, &in[1]));
    TRY(inner(m, n, op, "value", 2, in, &value));
    return hd_onnx_quantized(m, n, value, 6, 7, type_of(m, hd_onnx_in(m, n, 0)));
}

hd_status import_ms_QLinearAdd(struct hd_importer *m, const struct hd_onnx_node *n) {
    return q_binary(m, n, HD_IR_add);
}
hd_status import_ms_QLinearMul(struct hd_importer *m, const struct hd_onnx_node *n) {
    return q_binary(m, n, HD_IR_mul);
}

/* One quantised operand (inputs 0 to 2), `op` with the attributes `names`, one result (3, 4). */
static hd_status q_unary(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op,
                         const char *const *names) {
    int x, value;
    TRY(hd_onnx_dequantized(m, n, "x", 0, 1, 2, 1, &x));
    int id = hd_onnx_emit_inner(m, n, op, "value", 1, &x, &value);
    hd_onnx_copy_attrs(m, n, id, names);
    if (op == HD_IR_softmax && !hd_onnx_attr(n, "axis")) hd_attr_set_int(m->g, id, "axis", -1);
    TRY(hd_onnx_done(m, id));
    return hd_onnx_quantized(m, n, value, 3, 4, type_of(m, hd_onnx_in(m, n, 0)));
}

hd_status import_ms_QLinearSigmoid(struct hd_importer *m, const struct hd_onnx_node *n) {
    return q_unary(m, n, HD_IR_sigmoid, (const char *const[]){NULL});
}
hd_status import_ms_QLinearLeakyRelu(struct hd_importer *m, const struct hd_onnx_node *n) {
    return q_unary(m, n, HD_IR_leakyrelu, (const char *const[]){"alpha", NULL});
}

/* `opset` says which Softmax is meant: below 13 it goes over all dimensions from axis on. */
hd_status import_ms_QLinearSoftmax(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_tensor *x = hd_onnx_tensor(m, n, 0);
    int64_t axis = 0;
    TRY(hd_onnx_axis(m, n, hd_onnx_int(n, "axis", -1), x->rank, &axis));
    if (hd_onnx_int(n, "opset", 13) < 13 && axis != x->rank - 1)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "opset %lld with axis %lld, allowed the last axis",
                           (long long)hd_onnx_int(n, "opset", 13), (long long)axis);
    return q_unary(m, n, HD_IR_softmax, (const char *const[]){"axis", NULL});
}

hd_status import_ms_QuantizeLinear(struct hd_importer *m, const struct hd_onnx_node *n) {
    return import_QuantizeLinear(m, n);
}
hd_status import_ms_DequantizeLinear(struct hd_importer *m, const struct hd_onnx_node *n) {
    return import_DequantizeLinear(m, n);
}

/* condition, x with scale and zero point, y likewise, then those of the result */
hd_status import_ms_QLinearWhere(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[3] = {hd_onnx_in(m, n, 0), -1, -1}, value;
    TRY(hd_onnx_dequantized(m, n, "x", 1, 2, 3, 1, &in[1]));
    TRY(hd_onnx_dequantized(m, n, "y", 4, 5, 6, 1, &in[2]));
    TRY(inner(m, n, HD_IR_where, "value", 3, in, &value));
    return hd_onnx_quantized(m, n, value, 7, 8, type_of(m, hd_onnx_in(m, n, 1)));
}

/* ---- quantised pools, reductions, concatenation ---- */

hd_status import_ms_QLinearAveragePool(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const char *const names[] = {"kernel_shape", "strides",           "pads", "auto_pad",
                                        "ceil_mode",    "count_include_pad", NULL};
    TRY(refuse_nhwc(m, n));
    return q_unary(m, n, HD_IR_avgpool, names);
}

hd_status import_ms_QLinearGlobalAveragePool(struct hd_importer *m, const struct hd_onnx_node *n) {
    int x, value;
    TRY(refuse_nhwc(m, n));
    TRY(hd_onnx_dequantized(m, n, "x", 0, 1, 2, 1, &x));
    int id = hd_onnx_emit_inner(m, n, HD_IR_avgpool, "value", 1, &x, &value);
    hd_attr_set_int(m->g, id, "global", 1);
    TRY(hd_onnx_done(m, id));
    return hd_onnx_quantized(m, n, value, 3, 4, type_of(m, hd_onnx_in(m, n, 0)));
}

hd_status import_ms_QLinearReduceMean(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[2] = {-1, hd_onnx_ints_in(m, n, 5, "axes")}, value;
    TRY(hd_onnx_dequantized(m, n, "x", 0, 1, 2, 1, &in[0]));
    int id = hd_onnx_emit_inner(m, n, HD_IR_reducemean, "value", 2, in, &value);
    hd_attr_set_int(m->g, id, "keepdims", hd_onnx_int(n, "keepdims", 1));
    TRY(hd_onnx_done(m, id));
    return hd_onnx_quantized(m, n, value, 3, 4, type_of(m, hd_onnx_in(m, n, 0)));
}

/* scale and zero point of the result, then tensor, scale and zero point of each operand */
hd_status import_ms_QLinearConcat(struct hd_importer *m, const struct hd_onnx_node *n) {
    if (n->n_in < 5 || (n->n_in - 2) % 3)
        return hd_onnx_bad(m, n, HD_INVALID, "%zu inputs, want 2 and 3 for each operand", n->n_in);
    size_t count = (n->n_in - 2) / 3;
    int value, *in = hd_new_array(m->arena, int, count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t at = 2 + 3 * i;
        TRY(hd_onnx_dequantized(m, n, hd_sprintf(m->arena, "x%zu", i), at, at + 1, at + 2, 1,
                                &in[i]));
    }
    int id = hd_onnx_emit_inner(m, n, HD_IR_concat, "value", (int)count, in, &value);
    hd_attr_set_int(m->g, id, "axis", hd_onnx_int(n, "axis", 1));
    TRY(hd_onnx_done(m, id));
    return hd_onnx_quantized(m, n, value, 0, 1, type_of(m, hd_onnx_in(m, n, 2)));
}

/* ---- quantised products ---- */

/* a, b, c? i32 of scale a_scale * b_scale; y = alpha * (a b + c), float when there is no scale for
 * it
 */
hd_status import_ms_QGemm(struct hd_importer *m, const struct hd_onnx_node *n) {
    bool tb = hd_onnx_int(n, "transB", 0) != 0, quantised = hd_onnx_in(m, n, 7) >= 0;
    int in[3] = {-1, -1, -1}, value;
    TRY(hd_onnx_dequantized(m, n, "a", 0, 1, 2, 0, &in[0]));
    TRY(hd_onnx_dequantized(m, n, "b", 3, 4, 5, tb ? 0 : 1, &in[1]));
    if (hd_onnx_in(m, n, 6) >= 0) TRY(hd_onnx_quantized_bias(m, n, 1, 4, 6, &in[2]));
    int id = quantised ? hd_onnx_emit_inner(m, n, HD_IR_gemm, "gemm", 3, in, &value)
                       : hd_onnx_emit(m, n, HD_IR_gemm, 3, in);
    float alpha = hd_onnx_float(n, "alpha", 1);
    hd_attr_set_float(m->g, id, "alpha", alpha);
    hd_attr_set_float(m->g, id, "beta", alpha);
    hd_attr_set_int(m->g, id, "transA", hd_onnx_int(n, "transA", 0) != 0);
    hd_attr_set_int(m->g, id, "transB", tb);
    TRY(hd_onnx_done(m, id));
    if (!quantised) return HD_OK;
    return hd_onnx_quantized(m, n, value, 7, 8, type_of(m, hd_onnx_in(m, n, 0)));
}

/* y = sum * (a_scale * b_scale) + bias?, from a product of integers */
static hd_status scaled_product(struct hd_importer *m, const struct hd_onnx_node *n, int sum,
                                int a_scale, int b_scale, int bias) {
    int as_float, scale, scaled, in[2] = {a_scale, b_scale};
    int id = hd_onnx_emit_inner(m, n, HD_IR_cast, "float", 1, &sum, &as_float);
    hd_attr_set_string(m->g, id, "to", "f32");
    TRY(hd_onnx_done(m, id));
    TRY(inner(m, n, HD_IR_mul, "scale", 2, in, &scale));
    in[0] = as_float, in[1] = scale;
    if (bias < 0) return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_mul, 2, in));
    TRY(inner(m, n, HD_IR_mul, "scaled", 2, in, &scaled));
    in[0] = scaled, in[1] = bias;
    return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_add, 2, in));
}

/* a, b, a_scale, b_scale, a_zero_point?, b_zero_point?, bias? */
hd_status import_ms_MatMulIntegerToFloat(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[4] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1), hd_onnx_in(m, n, 4),
                 hd_onnx_in(m, n, 5)};
    int sum;
    TRY(inner(m, n, HD_IR_matmulinteger, "sum", 4, in, &sum));
    return scaled_product(m, n, sum, hd_onnx_in(m, n, 2), hd_onnx_in(m, n, 3), hd_onnx_in(m, n, 6));
}

/* a f32, b, b_scale, b_zero_point?, bias? */
hd_status import_ms_DynamicQuantizeMatMul(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const char *const parts[] = {"a", "a_scale", "a_zero_point"};
    int a = hd_onnx_in(m, n, 0), q[3], sum;
    for (int i = 0; i < 3; i++)
        q[i] = hd_graph_tensor(m->g, hd_sprintf(m->arena, "%s.%s", n->name, parts[i]), HD_F32, 0,
                               NULL);
    TRY(hd_onnx_done(m, hd_graph_node(m->g, HD_IR_dynamicquantize,
                                      hd_sprintf(m->arena, "%s.quantize", n->name), 1, &a, 3, q)));
    int in[4] = {q[0], hd_onnx_in(m, n, 1), q[2], hd_onnx_in(m, n, 3)};
    TRY(inner(m, n, HD_IR_matmulinteger, "sum", 4, in, &sum));
    return scaled_product(m, n, sum, q[1], hd_onnx_in(m, n, 2), hd_onnx_in(m, n, 4));
}

/* ---- float operations with others fused in ---- */

/* Swaps the last two dimensions. */
static hd_status transposed(struct hd_importer *m, const struct hd_onnx_node *n, const char *suffix,
                            int *x) {
    int64_t perm[HD_MAX_RANK];
    int rank = m->g->tensors[*x].rank, out;
    if (rank < 2) return HD_OK; /* a vector has no other form */
    for (int i = 0; i < rank; i++) perm[i] = i;
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    int id = hd_onnx_emit_inner(m, n, HD_IR_transpose, suffix, 1, x, &out);
    hd_attr_set_ints(m->g, id, "perm", rank, perm);
    *x = out;
    return hd_onnx_done(m, id);
}

hd_status import_ms_FusedMatMul(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[2] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1)}, product, scale = -1;
    float alpha = hd_onnx_float(n, "alpha", 1);
    if (hd_onnx_int(n, "transBatchA", 0) || hd_onnx_int(n, "transBatchB", 0))
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "transBatchA and transBatchB, allowed 0");
    if (hd_onnx_int(n, "transA", 0)) TRY(transposed(m, n, "a", &in[0]));
    if (hd_onnx_int(n, "transB", 0)) TRY(transposed(m, n, "b", &in[1]));
    if (alpha == 1) return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_matmul, 2, in));
    TRY(inner(m, n, HD_IR_matmul, "matmul", 2, in, &product));
    TRY(hd_onnx_const_like(m, n, "alpha", (double)alpha, product, &scale));
    return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_mul, 2, (int[]){product, scale}));
}

/* Output 0 of n is act(x); the parameters are attribute `params`, or one attribute each. */
static hd_status activation(struct hd_importer *m, const struct hd_onnx_node *n, int x) {
    static const struct {
        const char *name;
        enum hd_ir_op op;
        const char *param[2];
    } acts[] = {{"Relu", HD_IR_relu, {NULL}},
                {"Tanh", HD_IR_tanh, {NULL}},
                {"Sigmoid", HD_IR_sigmoid, {NULL}},
                {"LeakyRelu", HD_IR_leakyrelu, {"alpha"}},
                {"HardSigmoid", HD_IR_hardsigmoid, {"alpha", "beta"}},
                {"Clip", HD_IR_clip, {"min", "max"}}};
    const char *name = hd_onnx_string(n, "activation", "");
    const struct hd_onnx_attr *list = hd_onnx_attr(n, "activation_params");
    int a = 0, in[3] = {x, -1, -1};
    while (a < 6 && strcmp(acts[a].name, name)) a++;
    if (a == 6)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "activation '%s', allowed Relu, Tanh, Sigmoid, LeakyRelu, HardSigmoid, "
                           "Clip",
                           name);
    float value[2] = {0, 0};
    bool given[2] = {false, false};
    for (int i = 0; i < 2 && acts[a].param[i]; i++) {
        const char *own = hd_sprintf(m->arena, "activation_%s", acts[a].param[i]);
        given[i] = (list && (size_t)i < list->n_floats) || hd_onnx_attr(n, own);
        value[i] = list && (size_t)i < list->n_floats ? list->floats[i] : hd_onnx_float(n, own, 0);
        if (given[i] && acts[a].op == HD_IR_clip)
            TRY(hd_onnx_const_like(m, n, acts[a].param[i], (double)value[i], x, &in[1 + i]));
    }
    int id = hd_onnx_emit(m, n, acts[a].op, acts[a].op == HD_IR_clip ? 3 : 1, in);
    for (int i = 0; i < 2 && acts[a].op != HD_IR_clip; i++)
        if (given[i]) hd_attr_set_float(m->g, id, acts[a].param[i], value[i]);
    return hd_onnx_done(m, id);
}

/* x, w, b?, z?: act(conv + z) */
hd_status import_ms_FusedConv(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[3] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1), hd_onnx_in(m, n, 2)}, value;
    int z = hd_onnx_in(m, n, 3);
    int id = hd_onnx_emit_inner(m, n, HD_IR_conv, "conv", 3, in, &value);
    TRY(hd_onnx_conv_attrs(m, n, id));
    if (z >= 0) TRY(inner(m, n, HD_IR_add, "sum", 2, (int[]){value, z}, &value));
    return activation(m, n, value);
}

hd_status import_ms_FusedGemm(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[3] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1), hd_onnx_in(m, n, 2)}, value;
    int id = hd_onnx_emit_inner(m, n, HD_IR_gemm, "gemm", 3, in, &value);
    hd_onnx_copy_attrs(m, n, id, (const char *const[]){"alpha", "beta", "transA", "transB", NULL});
    TRY(hd_onnx_done(m, id));
    return activation(m, n, value);
}

/* input, skip, gamma, beta?, bias?: layer norm of their sum, which is output 3 */
hd_status import_ms_SkipLayerNormalization(struct hd_importer *m, const struct hd_onnx_node *n) {
    int bias = hd_onnx_in(m, n, 4), wanted = hd_onnx_out(m, n, 3), sum;
    int in[3] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1), hd_onnx_in(m, n, 3)};
    TRY(inner(m, n, HD_IR_add, "sum", 2, in, &sum));
    if (bias >= 0) TRY(inner(m, n, HD_IR_add, "biased", 2, (int[]){sum, bias}, &sum));
    if (wanted >= 0)
        TRY(hd_onnx_done(m, hd_graph_node(m->g, HD_IR_identity,
                                          hd_sprintf(m->arena, "%s.kept", n->name), 1, &sum, 1,
                                          &wanted)));
    in[0] = sum, in[1] = hd_onnx_in(m, n, 2);
    int id = hd_onnx_emit(m, n, HD_IR_layernorm, 3, in);
    hd_attr_set_int(m->g, id, "axis", -1);
    hd_attr_set_float(m->g, id, "epsilon", hd_onnx_float(n, "epsilon", 1e-12f));
    return hd_onnx_done(m, id);
}
