/* TFLite layers: windows, products, pools, norms, images. */
#include <math.h>
#include <string.h>

#include "compiler/import/tflite/tflite_fixed.h"
#include "compiler/import/tflite/tflite_nn.h"
#include "compiler/import/tflite/tflite_ops.h"

enum { SAME, VALID };

hd_status hd_tfl_want(struct hd_tfl *m, uint32_t operand, int rank) {
    struct hd_tfl_tensor *t = hd_tfl_in(m, operand);
    if (!t) return hd_tfl_bad(m, HD_INVALID, "operand %u is left out", operand);
    if (t->raw < 0 && t->real < 0 && t->rank == rank) return HD_OK; /* a constant */
    if (t->raw < 0 && t->real < 0)
        return hd_tfl_bad(m, HD_INVALID, "operand %u ('%s') has rank %d, want %d", operand, t->name,
                          t->rank, rank);
    const struct hd_tensor *x = hd_tfl_shape(m, t);
    if (!x->known || x->rank != rank)
        return hd_tfl_bad(m, x->known ? HD_INVALID : HD_UNSUPPORTED,
                          "operand %u ('%s') has rank %d, want %d and a known shape", operand,
                          t->name, x->rank, rank);
    return HD_OK;
}

static void set_window(struct hd_tfl *m, int node, int64_t padding, int64_t sy, int64_t sx) {
    hd_attr_set_ints(m->g, node, "strides", 2, (int64_t[]){sy, sx});
    if (padding == SAME) hd_attr_set_string(m->g, node, "auto_pad", "SAME_UPPER");
}

/* ---- weights and biases ---- */

hd_status hd_tfl_weights(struct hd_tfl *m, uint32_t operand, int rank, const int64_t *perm,
                         int axis, int *out) {
    struct hd_tfl_tensor *w = hd_tfl_in(m, operand);
    int raw;
    if (!hd_tfl_quantised(w)) {
        TRY(hd_tfl_real(m, w, &raw));
        return perm ? hd_tfl_transpose(m, raw, rank, perm, out) : (*out = raw, HD_OK);
    }
    TRY(hd_tfl_raw(m, w, &raw));
    if (perm) TRY(hd_tfl_transpose(m, raw, rank, perm, &raw));
    if (w->n_scales > 1 && perm && perm[axis] != w->axis)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "weights '%s' have scales along axis %d", w->name,
                          w->axis);
    return hd_tfl_dequantize(m, w, raw, axis, out);
}

/* Integers whose scale is that of x times that of w. */
hd_status hd_tfl_bias(struct hd_tfl *m, uint32_t operand, const struct hd_tfl_tensor *x,
                      const struct hd_tfl_tensor *w, int *out) {
    struct hd_tfl_tensor *b = hd_tfl_in(m, operand);
    *out = -1;
    if (!b) return HD_OK;
    int raw;
    TRY(hd_tfl_raw(m, b, &raw));
    const struct hd_tensor v = m->g->tensors[raw];
    int64_t n = hd_tensor_elems(&v), scales = w->n_scales;
    if (v.dtype == HD_F32) return *out = raw, HD_OK;
    if (!hd_tfl_quantised(x) || !hd_tfl_quantised(w) || (scales > 1 && scales != n) || !v.data ||
        (v.dtype != HD_I32 && v.dtype != HD_I64))
        return hd_tfl_bad(m, HD_UNSUPPORTED, "bias '%s' does not fit its operand and weights",
                          b->name);
    struct hd_tfl_tensor t = *b;
    t.scale = hd_new_array(m->arena, float, (size_t)scales + 1);
    t.zero = hd_new_array(m->arena, int64_t, (size_t)scales + 1);
    t.n_scales = (uint32_t)scales;
    for (int64_t i = 0; i < scales; i++) t.scale[i] = x->scale[0] * w->scale[i];
    if (v.dtype == HD_I32) return hd_tfl_dequantize(m, &t, raw, 0, out);
    float *real = hd_new_array(m->arena, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++)
        real[i] = (float)((double)((const int64_t *)v.data)[i] * (double)x->scale[0] *
                          (double)w->scale[scales > 1 ? i : 0]);
    *out = hd_tfl_const(m, HD_F32, v.rank, v.dim, real);
    return HD_OK;
}

bool hd_tfl_hybrid(const struct hd_tfl_tensor *x, const struct hd_tfl_tensor *w) {
    return !hd_tfl_quantised(x) && hd_tfl_quantised(w);
}

/* Activations of a network with integer weights alone are rounded to int8 in the run: by the
 * largest of their row. *out: the integers, as floats; *out_scale: of each row. */
hd_status hd_tfl_rounded_rows(struct hd_tfl *m, int x, int n_axes, const int64_t *axes, int *out,
                              int *out_scale) {
    static const float top = 127, tiny = 1e-30f;
    int most, inverse, id;
    TRY(hd_tfl_emit(m, HD_IR_abs, 1, &x, &most));
    id = hd_tfl_node(m, HD_IR_reducemax, 2, (int[]){most, hd_tfl_ints(m, n_axes, axes)}, &most);
    TRY(hd_tfl_done(m, id));
    TRY(hd_tfl_binary(m, HD_IR_max, most, hd_tfl_float_const(m, tiny), &most));
    TRY(hd_tfl_binary(m, HD_IR_div, hd_tfl_float_const(m, top), most, &inverse));
    TRY(hd_tfl_binary(m, HD_IR_mul, x, inverse, out));
    TRY(hd_tfl_emit(m, HD_IR_round, 1, out, out));
    return hd_tfl_binary(m, HD_IR_div, most, hd_tfl_float_const(m, top), out_scale);
}

/* ---- convolutions ---- */

/* y = conv(x, w, b) of NCHW operands with attributes set by the caller. */
static hd_status finish_conv(struct hd_tfl *m, int node, int y, int scale, int bias,
                             int64_t activation) {
    TRY(hd_tfl_done(m, node));
    if (scale >= 0) { /* hybrid */
        TRY(hd_tfl_binary(m, HD_IR_mul, y, scale, &y));
        int64_t n = bias >= 0 ? hd_tensor_elems(&m->g->tensors[bias]) : 0;
        if (bias >= 0) TRY(hd_tfl_reshape(m, bias, 4, (int64_t[]){1, n, 1, 1}, &bias));
        if (bias >= 0) TRY(hd_tfl_binary(m, HD_IR_add, y, bias, &y));
    }
    TRY(hd_tfl_activate(m, y, activation, &y));
    TRY(hd_tfl_channels_last(m, y, &y));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

static void set_conv(struct hd_tfl *m, int id, int64_t group, int dilation) {
    set_window(m, id, hd_tfl_option(m, 0, 1, 0), hd_tfl_option(m, 2, 4, 0),
               hd_tfl_option(m, 1, 4, 0));
    hd_attr_set_int(m->g, id, "group", group);
    hd_attr_set_ints(m->g, id, "kernel_shape", 2, hd_tfl_in(m, 1)->dim + 1);
    hd_attr_set_ints(
        m->g, id, "dilations", 2,
        (int64_t[]){hd_tfl_option(m, dilation + 1, 4, 1), hd_tfl_option(m, dilation, 4, 1)});
}

/* The sums of integers, and what fixed point makes of them. */
static hd_status fixed_conv(struct hd_tfl *m, const int64_t *perm, int64_t group,
                            int64_t activation, int dilation) {
    struct hd_tfl_tensor *x = hd_tfl_in(m, 0), *w = hd_tfl_in(m, 1);
    struct hd_tfl_sums s = {.x = x,
                            .w = w,
                            .bias = hd_tfl_in(m, 2),
                            .n = w->dim[perm[0]],
                            .activation = activation,
                            .rounds = hd_tfl_rounds_of(x, perm[0] == 3)};
    int raw[2], id, y;
    if (w->n_scales > 1 && perm[0] != w->axis)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "weights '%s' have scales along axis %d", w->name,
                          w->axis);
    TRY(hd_tfl_raw(m, x, &raw[0]));
    TRY(hd_tfl_raw(m, w, &raw[1]));
    TRY(hd_tfl_channels_first(m, raw[0], &raw[0]));
    TRY(hd_tfl_transpose(m, raw[1], 4, perm, &raw[1]));
    TRY(hd_tfl_integer_product(m, HD_IR_convinteger, HD_IR_conv, raw[0], raw[1], &s, &id, &y));
    set_conv(m, id, group, dilation);
    TRY(hd_tfl_done(m, id));
    TRY(hd_tfl_channels_last(m, y, &y));
    return hd_tfl_scaled(m, &s, y);
}

static hd_status conv_2d(struct hd_tfl *m, const int64_t *perm, int64_t group, int activation,
                         int dilation) {
    struct hd_tfl_tensor *x = hd_tfl_in(m, 0), *w = hd_tfl_in(m, 1);
    int in[3] = {-1, -1, -1}, y, scale = -1, bias = -1;
    int64_t fused = hd_tfl_option(m, activation, 1, 0);
    if (hd_tfl_is_fixed(m, x, w, fused)) return fixed_conv(m, perm, group, fused, dilation);
    TRY(hd_tfl_real(m, x, &in[0]));
    TRY(hd_tfl_channels_first(m, in[0], &in[0]));
    if (hd_tfl_hybrid(x, w))
        TRY(hd_tfl_rounded_rows(m, in[0], 3, (int64_t[]){1, 2, 3}, &in[0], &scale));
    TRY(hd_tfl_weights(m, 1, 4, perm, 0, &in[1]));
    TRY(hd_tfl_bias(m, 2, x, w, scale >= 0 ? &bias : &in[2]));
    int id = hd_tfl_node(m, HD_IR_conv, in[2] >= 0 ? 3 : 2, in, &y);
    set_conv(m, id, group, dilation);
    return finish_conv(m, id, y, scale, bias, fused);
}

hd_status hd_tfl_conv(struct hd_tfl *m) {
    TRY(hd_tfl_want(m, 0, 4));
    TRY(hd_tfl_want(m, 1, 4));
    int raw;
    TRY(hd_tfl_raw(m, hd_tfl_in(m, 0), &raw));
    int64_t channels = m->g->tensors[raw].dim[3], per_group = hd_tfl_in(m, 1)->dim[3];
    if (per_group < 1 || channels % per_group)
        return hd_tfl_bad(m, HD_INVALID, "%lld input channels do not fit weights of %lld",
                          (long long)channels, (long long)per_group);
    return conv_2d(m, (int64_t[]){0, 3, 1, 2}, channels / per_group, 3, 4);
}

hd_status hd_tfl_depthwise(struct hd_tfl *m) {
    TRY(hd_tfl_want(m, 0, 4));
    TRY(hd_tfl_want(m, 1, 4));
    int raw;
    TRY(hd_tfl_raw(m, hd_tfl_in(m, 0), &raw));
    return conv_2d(m, (int64_t[]){3, 0, 1, 2}, m->g->tensors[raw].dim[3], 4, 5);
}

/* Weights [d,h,w,C,M]. */
hd_status hd_tfl_conv3d(struct hd_tfl *m) {
    int in[3], y;
    TRY(hd_tfl_want(m, 0, 5));
    TRY(hd_tfl_want(m, 1, 5));
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &in[0]));
    TRY(hd_tfl_channels_first(m, in[0], &in[0]));
    TRY(hd_tfl_weights(m, 1, 5, (int64_t[]){4, 3, 0, 1, 2}, 0, &in[1]));
    TRY(hd_tfl_bias(m, 2, hd_tfl_in(m, 0), hd_tfl_in(m, 1), &in[2]));
    int id = hd_tfl_node(m, HD_IR_conv, in[2] >= 0 ? 3 : 2, in, &y);
    hd_attr_set_ints(m->g, id, "kernel_shape", 3, hd_tfl_in(m, 1)->dim);
    hd_attr_set_ints(m->g, id, "strides", 3,
                     (int64_t[]){hd_tfl_option(m, 1, 4, 0), hd_tfl_option(m, 3, 4, 0),
                                 hd_tfl_option(m, 2, 4, 0)});
    hd_attr_set_ints(m->g, id, "dilations", 3,
                     (int64_t[]){hd_tfl_option(m, 5, 4, 1), hd_tfl_option(m, 7, 4, 1),
                                 hd_tfl_option(m, 6, 4, 1)});
    if (hd_tfl_option(m, 0, 1, 0) == SAME) hd_attr_set_string(m->g, id, "auto_pad", "SAME_UPPER");
    return finish_conv(m, id, y, -1, -1, hd_tfl_option(m, 4, 1, 0));
}

/* A transposed convolution: its operands, and what its options say. */
struct transposed {
    uint32_t x, bias; /* which operand; weights [M,h,w,C] are the second */
    int64_t stride[2], activation, shape[4];
    bool same;
};

/* Where it ends: padding, and what the result has more. */
struct spread {
    int64_t pads[4], more[2];
};

static hd_status spread_of(struct hd_tfl *m, const struct transposed *t, const struct hd_tensor *x,
                           const int64_t *kernel, struct spread *out) {
    *out = (struct spread){0};
    for (int i = 0; i < 2; i++) { /* what the result lacks or has more of is padding */
        int64_t stride = t->stride[i], full = (x->dim[2 + i] - 1) * stride + kernel[i],
                over = full - t->shape[1 + i];
        if (stride < 1 || full > INT32_MAX || over > kernel[i] || -over >= stride + kernel[i])
            return hd_tfl_bad(m, HD_INVALID, "a result of %lld does not fit a full one of %lld",
                              (long long)t->shape[1 + i], (long long)full);
        out->pads[i] = over > 0 && t->same ? over / 2 : 0;
        out->pads[2 + i] = over > 0 ? over - out->pads[i] : 0;
        out->more[i] = over < 0 ? -over : 0;
    }
    return HD_OK;
}

static void set_spread(struct hd_tfl *m, int id, const int64_t *kernel, const struct transposed *t,
                       const struct spread *s) {
    hd_attr_set_ints(m->g, id, "kernel_shape", 2, kernel);
    hd_attr_set_ints(m->g, id, "strides", 2, t->stride);
    hd_attr_set_ints(m->g, id, "pads", 4, s->pads);
    hd_attr_set_ints(m->g, id, "output_padding", 2, s->more);
}

/* The sums of integers are exact in binary64. */
static hd_status fixed_transpose_conv(struct hd_tfl *m, const struct transposed *t) {
    struct hd_tfl_tensor *x = hd_tfl_in(m, t->x), *w = hd_tfl_in(m, 1);
    struct hd_tfl_sums sums = {.x = x,
                               .w = w,
                               .bias = hd_tfl_in(m, t->bias),
                               .n = w->dim[0],
                               .activation = t->activation,
                               .rounds = x->ir == HD_I16 ? HD_TFL_REDUCED : HD_TFL_TWICE};
    struct spread s;
    int raw[2], id, y;
    TRY(hd_tfl_raw(m, x, &raw[0]));
    TRY(hd_tfl_raw(m, w, &raw[1]));
    TRY(hd_tfl_channels_first(m, raw[0], &raw[0]));
    TRY(hd_tfl_transpose(m, raw[1], 4, (int64_t[]){3, 0, 1, 2}, &raw[1]));
    TRY(spread_of(m, t, &m->g->tensors[raw[0]], w->dim + 1, &s));
    TRY(hd_tfl_integer_product(m, HD_IR_OPS, HD_IR_convtranspose, raw[0], raw[1], &sums, &id, &y));
    set_spread(m, id, w->dim + 1, t, &s);
    TRY(hd_tfl_done(m, id));
    TRY(hd_tfl_channels_last(m, y, &y));
    return hd_tfl_scaled(m, &sums, y);
}

static hd_status transposed(struct hd_tfl *m, const struct transposed *t) {
    struct hd_tfl_tensor *x = hd_tfl_in(m, t->x), *w = hd_tfl_in(m, 1);
    struct spread s;
    int in[3] = {-1, -1, -1}, v;
    if (w->n_scales > 1 && w->axis != 0)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "weights with scales along axis %d", w->axis);
    if (hd_tfl_is_fixed(m, x, w, t->activation)) return fixed_transpose_conv(m, t);
    TRY(hd_tfl_real(m, x, &in[0]));
    TRY(hd_tfl_channels_first(m, in[0], &in[0]));
    TRY(hd_tfl_weights(m, 1, 4, (int64_t[]){3, 0, 1, 2}, 1, &in[1]));
    TRY(hd_tfl_bias(m, t->bias, x, w, &in[2]));
    TRY(spread_of(m, t, &m->g->tensors[in[0]], w->dim + 1, &s));
    int id = hd_tfl_node(m, HD_IR_convtranspose, in[2] >= 0 ? 3 : 2, in, &v);
    set_spread(m, id, w->dim + 1, t, &s);
    return finish_conv(m, id, v, -1, -1, t->activation);
}

/* Operands: shape of the result, weights, x, bias. */
hd_status hd_tfl_transpose_conv(struct hd_tfl *m) {
    struct hd_tfl_tensor *y = hd_tfl_out(m, 0);
    struct transposed t = {.x = 2,
                           .bias = 3,
                           .stride = {hd_tfl_option(m, 2, 4, 0), hd_tfl_option(m, 1, 4, 0)},
                           .activation = hd_tfl_option(m, 3, 1, 0),
                           .same = hd_tfl_option(m, 0, 1, 0) == SAME};
    int n;
    TRY(hd_tfl_want(m, 1, 4));
    TRY(hd_tfl_want(m, 2, 4));
    if (hd_tfl_in(m, 0) && hd_tfl_in(m, 0)->data)
        TRY(hd_tfl_int_list(m, 0, t.shape, 4, &n));
    else if (y && y->rank == 4) /* as the file says; the run may not say otherwise */
        memcpy(t.shape, y->dim, sizeof t.shape);
    else
        return hd_tfl_bad(m, HD_UNSUPPORTED, "the shape of its result depends on the run");
    return transposed(m, &t);
}

/* Operands: x, weights, bias. Options are a struct of TFLite's C API, int32 each: padding (1 =
 * same, 2 = valid), stride along the width, along the height. Source: MediaPipe,
 * util/tflite/operations/transpose_conv_bias.cc. */
hd_status hd_tfl_transpose_conv_bias(struct hd_tfl *m) {
    const struct hd_fb_vector *v = &m->op->custom;
    int32_t option[3]; /* little-endian, as the file */
    TRY(hd_tfl_want(m, 0, 4));
    TRY(hd_tfl_want(m, 1, 4));
    if (v->n < sizeof option)
        return hd_tfl_bad(m, HD_INVALID, "options of %u bytes, allowed at least 12", v->n);
    memcpy(option, v->data, sizeof option);
    if (option[0] != 1 && option[0] != 2)
        return hd_tfl_bad(m, HD_INVALID, "padding %d, allowed 1 (same) and 2 (valid)", option[0]);
    const struct hd_tfl_tensor *x = hd_tfl_in(m, 0), *w = hd_tfl_in(m, 1);
    struct transposed t = {
        .x = 0, .bias = 2, .stride = {option[2], option[1]}, .same = option[0] == 1};
    t.shape[0] = x->dim[0], t.shape[3] = w->dim[0];
    for (int i = 0; i < 2; i++) {
        int64_t in = x->dim[1 + i], k = w->dim[1 + i];
        if (t.stride[i] < 1 || in < 1 || k < 1)
            return hd_tfl_bad(m, HD_INVALID, "stride %lld, allowed at least 1",
                              (long long)t.stride[i]);
        t.shape[1 + i] = t.same ? in * t.stride[i] : (in - 1) * t.stride[i] + k;
    }
    return transposed(m, &t);
}

/* ---- pools ---- */

static hd_status max_of_bytes(struct hd_tfl *m, const struct hd_tfl_tensor *x, int v, int *node,
                              int *out) {
    bool bytes = hd_tfl_quantised(x) && x->ir != HD_I16;
    *node = hd_tfl_node(m, bytes ? HD_IR_qmaxpool : HD_IR_maxpool, 1, &v, out);
    return HD_OK;
}

hd_status hd_tfl_pool(struct hd_tfl *m) {
    enum { AVERAGE = 1, L2 = 12, MAX = 17 };
    struct hd_tfl_tensor *x = hd_tfl_in(m, 0), *y = hd_tfl_out(m, 0);
    int v, id, code = m->op->code;
    int64_t activation = hd_tfl_option(m, 5, 1, 0);
    TRY(hd_tfl_want(m, 0, 4));
    bool stored = code == MAX && !activation && y && hd_tfl_same_scale(x, y) && x->ir != HD_I16;
    if (code == AVERAGE && hd_tfl_is_fixed(m, x, NULL, activation) && hd_tfl_same_scale(x, y))
        return hd_tfl_fixed_average(m, activation);
    TRY(stored ? hd_tfl_raw(m, x, &v) : hd_tfl_real(m, x, &v));
    TRY(hd_tfl_channels_first(m, v, &v));
    if (code == L2) TRY(hd_tfl_binary(m, HD_IR_mul, v, v, &v));
    if (stored)
        TRY(max_of_bytes(m, x, v, &id, &v));
    else
        id = hd_tfl_node(m, code == MAX ? HD_IR_maxpool : HD_IR_avgpool, 1, &v, &v);
    hd_attr_set_ints(m->g, id, "kernel_shape", 2,
                     (int64_t[]){hd_tfl_option(m, 4, 4, 0), hd_tfl_option(m, 3, 4, 0)});
    set_window(m, id, hd_tfl_option(m, 0, 1, 0), hd_tfl_option(m, 2, 4, 0),
               hd_tfl_option(m, 1, 4, 0));
    TRY(hd_tfl_done(m, id));
    if (code == L2) TRY(hd_tfl_emit(m, HD_IR_sqrt, 1, &v, &v));
    TRY(hd_tfl_activate(m, v, activation, &v));
    TRY(hd_tfl_channels_last(m, v, &v));
    if (!stored) return hd_tfl_set_real(m, y, v);
    hd_tfl_set_raw(m, y, v);
    return HD_OK;
}
