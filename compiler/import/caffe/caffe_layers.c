/* Caffe layers that compute. */
#include <string.h>

#include "compiler/import/caffe/caffe.h"

static const struct {
    const char *v2, *v1;
    hd_status (*read)(struct hd_caffe *m);
} table[] = {
#define LAYER(v2, v1, function) {v2, v1, hd_caffe_##function},
#include "compiler/import/caffe/layers.def"
};

hd_status hd_caffe_layer(struct hd_caffe *m) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].v2, m->type) || (m->type[0] && !strcmp(table[i].v1, m->type)))
            return table[i].read(m);
    return hd_caffe_bad(m, HD_UNSUPPORTED,
                        "layers of this type are not supported; docs/formats.md lists those that "
                        "are");
}

/* ---- windows ---- */

struct window {
    int64_t kernel[2], stride[2], pads[4], dilation[2];
};

/* "name" (one or two values), or "name_h" and "name_w". */
static hd_status pair(struct hd_caffe *m, const struct hd_txt *p, const char *name,
                      const char *stem, int64_t def, int64_t *out) {
    int64_t v[2] = {def, def};
    int n = hd_txt_ints(p, name, v, 2);
    if (n > 2) return hd_caffe_bad(m, HD_UNSUPPORTED, "%d values of %s, at most 2", n, name);
    if (n == 1) v[1] = v[0];
    out[0] = hd_txt_int(p, hd_sprintf(m->arena, "%s_h", stem), v[0]);
    out[1] = hd_txt_int(p, hd_sprintf(m->arena, "%s_w", stem), v[1]);
    return HD_OK;
}

static hd_status get_window(struct hd_caffe *m, const struct hd_txt *p, struct window *w) {
    TRY(pair(m, p, "kernel_size", "kernel", 0, w->kernel));
    TRY(pair(m, p, "stride", "stride", 1, w->stride));
    TRY(pair(m, p, "pad", "pad", 0, w->pads));
    TRY(pair(m, p, "dilation", "dilation", 1, w->dilation));
    w->pads[2] = w->pads[0];
    w->pads[3] = w->pads[1];
    return HD_OK;
}

static void set_window(struct hd_caffe *m, int id, const struct window *w) {
    hd_attr_set_ints(m->g, id, "kernel_shape", 2, w->kernel);
    hd_attr_set_ints(m->g, id, "strides", 2, w->stride);
    hd_attr_set_ints(m->g, id, "pads", 4, w->pads);
}

static hd_status image(struct hd_caffe *m, int *out, struct hd_tensor *shape) {
    TRY(hd_caffe_bottom(m, 0, out));
    *shape = m->g->tensors[*out];
    return shape->rank == 4 ? HD_OK
                            : hd_caffe_bad(m, HD_UNSUPPORTED,
                                           "its bottom has %d dimensions, want 4", shape->rank);
}

hd_status hd_caffe_convolution(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "convolution_param");
    bool transposed = !strcmp(m->type, "Deconvolution") || !strcmp(m->type, "DECONVOLUTION"),
         depthwise = strstr(m->type, "epthwise") != NULL;
    struct hd_tensor x;
    struct window w;
    int in[3];
    TRY(image(m, &in[0], &x));
    TRY(get_window(m, p, &w));
    int64_t outputs = hd_txt_int(p, "num_output", 0),
            group = depthwise ? x.dim[1] : hd_txt_int(p, "group", 1);
    if (group < 1 || outputs < 1 || outputs % group || x.dim[1] % group || w.kernel[0] < 1 ||
        w.kernel[1] < 1)
        return hd_caffe_bad(m, HD_INVALID,
                            "%lld outputs in %lld groups, of %lld channels, window %lldx%lld",
                            (long long)outputs, (long long)group, (long long)x.dim[1],
                            (long long)w.kernel[0], (long long)w.kernel[1]);
    int64_t first = transposed ? x.dim[1] : outputs, second = transposed ? outputs : x.dim[1];
    TRY(hd_caffe_weight(m, 0, 4, (int64_t[]){first, second / group, w.kernel[0], w.kernel[1]},
                        &in[1]));
    bool bias = hd_txt_bool(p, "bias_term", true);
    if (bias) TRY(hd_caffe_weight(m, 1, 1, &outputs, &in[2]));
    int id =
        hd_caffe_node(m, transposed ? HD_IR_convtranspose : HD_IR_conv, bias ? 3 : 2, in, &in[0]);
    set_window(m, id, &w);
    hd_attr_set_ints(m->g, id, "dilations", 2, w.dilation);
    hd_attr_set_int(m->g, id, "group", group);
    TRY(hd_caffe_done(m, id));
    return hd_caffe_top(m, 0, in[0]);
}

/* Windows at the end may be cut off, which is ONNX's ceil_mode; an average counts the padding. */
hd_status hd_caffe_pooling(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "pooling_param");
    const char *kind = hd_txt_string(p, "pool", "MAX");
    bool max = !strcmp(kind, "MAX") || !strcmp(kind, "0"),
         average = !strcmp(kind, "AVE") || !strcmp(kind, "1");
    struct hd_tensor t;
    struct window w;
    int x;
    TRY(image(m, &x, &t));
    TRY(get_window(m, p, &w));
    if (!max && !average) return hd_caffe_bad(m, HD_UNSUPPORTED, "pool %s", kind);
    if (hd_txt_bool(p, "global_pooling", false))
        w = (struct window){.kernel = {t.dim[2], t.dim[3]}, .stride = {1, 1}};
    int id = hd_caffe_node(m, max ? HD_IR_maxpool : HD_IR_avgpool, 1, &x, &x);
    set_window(m, id, &w);
    const char *round = hd_txt_string(p, "round_mode", "CEIL");
    hd_attr_set_int(m->g, id, "ceil_mode",
                    hd_txt_bool(p, "ceil_mode", strcmp(round, "FLOOR") && strcmp(round, "1")));
    if (average) hd_attr_set_int(m->g, id, "count_include_pad", 1);
    TRY(hd_caffe_done(m, id));
    return hd_caffe_top(m, 0, x);
}

/* ---- products ---- */

hd_status hd_caffe_inner_product(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "inner_product_param");
    int in[3], y;
    int64_t axis, rows = 1, inner = 1, outputs = hd_txt_int(p, "num_output", 0);
    TRY(hd_caffe_bottom(m, 0, &in[0]));
    struct hd_tensor t = m->g->tensors[in[0]];
    TRY(hd_caffe_axis(m, hd_txt_int(p, "axis", 1), t.rank, &axis));
    for (int64_t i = 0; i < axis; i++) rows *= t.dim[i];
    for (int64_t i = axis; i < t.rank; i++) inner *= t.dim[i];
    bool transposed = hd_txt_bool(p, "transpose", false), bias = hd_txt_bool(p, "bias_term", true);
    TRY(hd_caffe_weight(
        m, 0, 2, transposed ? (int64_t[]){inner, outputs} : (int64_t[]){outputs, inner}, &in[1]));
    if (bias) TRY(hd_caffe_weight(m, 1, 1, &outputs, &in[2]));
    if (t.rank != 2) TRY(hd_caffe_reshape(m, in[0], 2, (int64_t[]){rows, inner}, &in[0]));
    int id = hd_caffe_node(m, HD_IR_gemm, bias ? 3 : 2, in, &y);
    hd_attr_set_int(m->g, id, "transB", !transposed);
    TRY(hd_caffe_done(m, id));
    t.dim[axis] = outputs;
    if (axis != 1) TRY(hd_caffe_reshape(m, y, (int)axis + 1, t.dim, &y));
    return hd_caffe_top(m, 0, y);
}

/* ---- norms ---- */

hd_status hd_caffe_lrn(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "lrn_param");
    const char *region = hd_txt_string(p, "norm_region", "ACROSS_CHANNELS");
    int x, id;
    if (strcmp(region, "ACROSS_CHANNELS") && strcmp(region, "0"))
        return hd_caffe_bad(m, HD_UNSUPPORTED, "norm_region %s; allowed: ACROSS_CHANNELS", region);
    TRY(hd_caffe_bottom(m, 0, &x));
    id = hd_caffe_node(m, HD_IR_lrn, 1, &x, &x);
    hd_attr_set_int(m->g, id, "size", hd_txt_int(p, "local_size", 5));
    hd_attr_set_float(m->g, id, "alpha", hd_txt_float(p, "alpha", 1));
    hd_attr_set_float(m->g, id, "beta", hd_txt_float(p, "beta", 0.75f));
    hd_attr_set_float(m->g, id, "bias", hd_txt_float(p, "k", 1));
    TRY(hd_caffe_done(m, id));
    return hd_caffe_top(m, 0, x);
}

static int filled(struct hd_caffe *m, int64_t n, float v) {
    float *data = hd_new_array(m->arena, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) data[i] = v;
    return hd_graph_const_f32(m->g, hd_sprintf(m->arena, "%s.c", m->name), (int)n, data);
}

/* Blobs: sums of means and of variances, and how many. */
hd_status hd_caffe_batch_norm(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "batch_norm_param");
    int x, in[5], count;
    TRY(hd_caffe_bottom(m, 0, &x));
    const struct hd_tensor t = m->g->tensors[x];
    if (t.rank < 2) return hd_caffe_bad(m, HD_INVALID, "its bottom has %d dimensions", t.rank);
    int64_t c = t.dim[1], one = 1;
    in[0] = x, in[1] = filled(m, c, 1), in[2] = filled(m, c, 0);
    TRY(hd_caffe_weight(m, 0, 1, &c, &in[3]));
    TRY(hd_caffe_weight(m, 1, 1, &c, &in[4]));
    TRY(hd_caffe_weight(m, 2, 1, &one, &count));
    float scale = *(const float *)m->g->tensors[count].data;
    scale = scale == 0 ? 0 : 1 / scale;
    for (int k = 3; k < 5; k++) { /* weights from hd_caffe_weight are the graph's own */
        float *v = hd_dup(m->g->arena, m->g->tensors[in[k]].data, (size_t)c * sizeof *v);
        for (int64_t i = 0; i < c; i++) v[i] = m->trained ? v[i] * scale : k == 3 ? 0 : 1;
        m->g->tensors[in[k]].data = v;
    }
    int id = hd_caffe_node(m, HD_IR_batchnorm, 5, in, &x);
    hd_attr_set_float(m->g, id, "epsilon", hd_txt_float(p, "eps", 1e-5f));
    TRY(hd_caffe_done(m, id));
    return hd_caffe_top(m, 0, x);
}

/* Weights of a few dimensions from `axis` on, as an operand that broadcasts. */
static hd_status along(struct hd_caffe *m, const struct hd_txt *p, size_t blob, int x, int *out) {
    int64_t axis, n = hd_txt_int(p, "num_axes", 1), dim[HD_MAX_RANK];
    const struct hd_tensor t = m->g->tensors[x];
    TRY(hd_caffe_axis(m, hd_txt_int(p, "axis", 1), t.rank, &axis));
    if (n == -1) n = t.rank - axis;
    if (n < 0 || n > t.rank - axis)
        return hd_caffe_bad(m, HD_INVALID, "num_axes %lld", (long long)n);
    for (int i = 0; i < t.rank; i++) dim[i] = i >= axis && i < axis + n ? t.dim[i] : 1;
    return hd_caffe_weight(m, blob, t.rank, dim, out);
}

/* An operand of a second bottom, aligned at `axis`. */
static hd_status second(struct hd_caffe *m, const struct hd_txt *p, int x, int *out) {
    int64_t axis, dim[HD_MAX_RANK];
    TRY(hd_caffe_bottom(m, 1, out));
    const struct hd_tensor t = m->g->tensors[x], v = m->g->tensors[*out];
    TRY(hd_caffe_axis(m, hd_txt_int(p, "axis", 1), t.rank, &axis));
    if (v.rank > t.rank - axis) return hd_caffe_bad(m, HD_INVALID, "its bottoms do not fit");
    for (int i = 0; i < t.rank; i++) dim[i] = i >= axis && i < axis + v.rank ? v.dim[i - axis] : 1;
    return hd_caffe_reshape(m, *out, t.rank, dim, out);
}

hd_status hd_caffe_scale(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "scale_param");
    bool given = hd_caffe_bottoms(m) > 1;
    int x, s;
    TRY(hd_caffe_bottom(m, 0, &x));
    TRY(given ? second(m, p, x, &s) : along(m, p, 0, x, &s));
    TRY(hd_caffe_emit(m, HD_IR_mul, 2, (int[]){x, s}, &x));
    if (hd_txt_bool(p, "bias_term", false)) {
        TRY(along(m, p, given ? 0 : 1, x, &s));
        TRY(hd_caffe_emit(m, HD_IR_add, 2, (int[]){x, s}, &x));
    }
    return hd_caffe_top(m, 0, x);
}

hd_status hd_caffe_bias(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "bias_param");
    int x, b;
    TRY(hd_caffe_bottom(m, 0, &x));
    TRY(hd_caffe_bottoms(m) > 1 ? second(m, p, x, &b) : along(m, p, 0, x, &b));
    TRY(hd_caffe_emit(m, HD_IR_add, 2, (int[]){x, b}, &x));
    return hd_caffe_top(m, 0, x);
}

/* ---- elementwise ---- */

static hd_status unary(struct hd_caffe *m, enum hd_ir_op op, const char *attr, float v) {
    int x;
    TRY(hd_caffe_bottom(m, 0, &x));
    int id = hd_caffe_node(m, op, 1, &x, &x);
    if (attr) hd_attr_set_float(m->g, id, attr, v);
    TRY(hd_caffe_done(m, id));
    return hd_caffe_top(m, 0, x);
}

hd_status hd_caffe_relu(struct hd_caffe *m) {
    float slope = hd_txt_float(hd_txt_message(m->layer, "relu_param"), "negative_slope", 0);
    return slope == 0 ? unary(m, HD_IR_relu, NULL, 0) : unary(m, HD_IR_leakyrelu, "alpha", slope);
}

hd_status hd_caffe_relu6(struct hd_caffe *m) {
    int in[3];
    TRY(hd_caffe_bottom(m, 0, &in[0]));
    in[1] = hd_caffe_float(m, 0), in[2] = hd_caffe_float(m, 6);
    TRY(hd_caffe_emit(m, HD_IR_clip, 3, in, &in[0]));
    return hd_caffe_top(m, 0, in[0]);
}

hd_status hd_caffe_prelu(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "prelu_param");
    int x, s;
    TRY(hd_caffe_bottom(m, 0, &x));
    const struct hd_tensor t = m->g->tensors[x];
    int64_t dim[HD_MAX_RANK];
    for (int i = 0; i < t.rank; i++) dim[i] = 1;
    if (t.rank > 1 && !hd_txt_bool(p, "channel_shared", false)) dim[1] = t.dim[1];
    TRY(hd_caffe_weight(m, 0, t.rank, dim, &s));
    TRY(hd_caffe_emit(m, HD_IR_prelu, 2, (int[]){x, s}, &x));
    return hd_caffe_top(m, 0, x);
}

hd_status hd_caffe_elu(struct hd_caffe *m) {
    return unary(m, HD_IR_elu, "alpha",
                 hd_txt_float(hd_txt_message(m->layer, "elu_param"), "alpha", 1));
}

hd_status hd_caffe_sigmoid(struct hd_caffe *m) {
    return unary(m, HD_IR_sigmoid, NULL, 0);
}

hd_status hd_caffe_tanh(struct hd_caffe *m) {
    return unary(m, HD_IR_tanh, NULL, 0);
}

hd_status hd_caffe_absval(struct hd_caffe *m) {
    return unary(m, HD_IR_abs, NULL, 0);
}

hd_status hd_caffe_bnll(struct hd_caffe *m) {
    return unary(m, HD_IR_softplus, NULL, 0);
}

static hd_status affine(struct hd_caffe *m, int x, float scale, float shift, int *out) {
    *out = x;
    if (scale != 1)
        TRY(hd_caffe_emit(m, HD_IR_mul, 2, (int[]){*out, hd_caffe_float(m, scale)}, out));
    if (shift != 0)
        TRY(hd_caffe_emit(m, HD_IR_add, 2, (int[]){*out, hd_caffe_float(m, shift)}, out));
    return HD_OK;
}

/* (shift + scale x) ^ power */
hd_status hd_caffe_power(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "power_param");
    float power = hd_txt_float(p, "power", 1);
    int x;
    TRY(hd_caffe_bottom(m, 0, &x));
    TRY(affine(m, x, hd_txt_float(p, "scale", 1), hd_txt_float(p, "shift", 0), &x));
    if (power != 1) TRY(hd_caffe_emit(m, HD_IR_pow, 2, (int[]){x, hd_caffe_float(m, power)}, &x));
    return hd_caffe_top(m, 0, x);
}

/* base ^ (shift + scale x); base -1 is e. */
hd_status hd_caffe_exp(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "exp_param");
    float base = hd_txt_float(p, "base", -1);
    int x;
    TRY(hd_caffe_bottom(m, 0, &x));
    TRY(affine(m, x, hd_txt_float(p, "scale", 1), hd_txt_float(p, "shift", 0), &x));
    TRY(base < 0 ? hd_caffe_emit(m, HD_IR_exp, 1, &x, &x)
                 : hd_caffe_emit(m, HD_IR_pow, 2, (int[]){hd_caffe_float(m, base), x}, &x));
    return hd_caffe_top(m, 0, x);
}

hd_status hd_caffe_log(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "log_param");
    int x;
    if (hd_txt_float(p, "base", -1) > 0) return hd_caffe_bad(m, HD_UNSUPPORTED, "a base but e");
    TRY(hd_caffe_bottom(m, 0, &x));
    TRY(affine(m, x, hd_txt_float(p, "scale", 1), hd_txt_float(p, "shift", 0), &x));
    TRY(hd_caffe_emit(m, HD_IR_log, 1, &x, &x));
    return hd_caffe_top(m, 0, x);
}

hd_status hd_caffe_softmax(struct hd_caffe *m) {
    int64_t axis;
    int x;
    TRY(hd_caffe_bottom(m, 0, &x));
    TRY(hd_caffe_axis(m, hd_txt_int(hd_txt_message(m->layer, "softmax_param"), "axis", 1),
                      m->g->tensors[x].rank, &axis));
    int id = hd_caffe_node(m, HD_IR_softmax, 1, &x, &x);
    hd_attr_set_int(m->g, id, "axis", axis);
    TRY(hd_caffe_done(m, id));
    return hd_caffe_top(m, 0, x);
}

hd_status hd_caffe_eltwise(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "eltwise_param"), *coeff = NULL;
    const char *kind = hd_txt_string(p, "operation", "SUM");
    enum hd_ir_op op = !strcmp(kind, "PROD") || !strcmp(kind, "0")  ? HD_IR_mul
                       : !strcmp(kind, "MAX") || !strcmp(kind, "2") ? HD_IR_max
                                                                    : HD_IR_add;
    int y = -1, x;
    for (int i = 0; i < hd_caffe_bottoms(m); i++) {
        TRY(hd_caffe_bottom(m, i, &x));
        coeff = !i || coeff ? hd_txt_next(p, coeff, "coeff") : NULL;
        if (coeff && op == HD_IR_add) {
            struct hd_txt one = *coeff, list = {.first = &one};
            one.next = NULL;
            TRY(affine(m, x, hd_txt_float(&list, "coeff", 1), 0, &x));
        }
        if (i) TRY(hd_caffe_emit(m, op, 2, (int[]){y, x}, &x));
        y = x;
    }
    return y < 0 ? hd_caffe_bad(m, HD_INVALID, "it has no bottom") : hd_caffe_top(m, 0, y);
}
