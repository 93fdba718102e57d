/* Random networks: legal graphs of quantised operations, compiled and run on a machine device,
 * every layer boundary compared with golden, bit for bit. A failure shrinks to the fewest layers
 * that still fail.
 *
 *   random_net [--seed S] [--count N] [--device iss|rtl] [--machine NAME] [--set k=v] [--jitter]
 * [--print]
 *
 * The generator knows the operations' rules from docs/numerics.md, not the compiler's limits:
 * whatever the compiler leaves to the host must come out right, too.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"
#include "runtime/base/num.h"
#include "runtime/runtime.h"

struct rng {
    uint64_t s;
};

static uint32_t next(struct rng *r) { /* splitmix64 */
    uint64_t z = (r->s += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 16);
}

static int range(struct rng *r, int lo, int hi) {
    return lo + (int)(next(r) % (uint32_t)(hi - lo + 1));
}
static float scale(struct rng *r, float lo, float hi) {
    return lo + (hi - lo) * ((float)(next(r) & 0xffff) / 65536.0f);
}

struct gen {
    struct rng r;
    hd_graph *g;
    int *made; /* tensors made so far, graph input first */
    int n_made;
};

static const struct hd_tensor *shape(const struct gen *x, int t) {
    return &x->g->tensors[t];
}

static int add(struct gen *x, enum hd_ir_op op, int n_in, const int *in, hd_dtype t, int rank,
               const int64_t *dim, int *out_node) {
    int y = hd_graph_tensor(x->g, "t", t, rank, dim);
    *out_node = hd_graph_node(x->g, op, hd_ir_ops[op].name, n_in, in, 1, &y);
    return x->made[x->n_made++] = y;
}

static void requant(struct gen *x, int node, hd_dtype t) {
    int lo = t == HD_U8 ? 0 : -128, hi = lo + 255, zp = range(&x->r, lo, hi);
    hd_attr_set_string(x->g, node, "to", hd_dtype_name(t));
    hd_attr_set_int(x->g, node, "y_zp", zp);
    hd_attr_set_int(x->g, node, "lo", next(&x->r) % 3 ? lo : zp); /* fused relu now and then */
    hd_attr_set_int(x->g, node, "hi", hi);
}

static void zero_point(struct gen *x, int node, const char *name, int tensor) {
    int lo = shape(x, tensor)->dtype == HD_U8 ? 0 : -128;
    hd_attr_set_int(x->g, node, name, range(&x->r, lo, lo + 255));
}

static hd_dtype byte_type(struct gen *x) {
    return next(&x->r) % 3 ? HD_I8 : HD_U8;
}

static int weights(struct gen *x, int rank, const int64_t *dim) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dim[i];
    int8_t *w = malloc((size_t)n);
    for (int64_t i = 0; i < n; i++) w[i] = (int8_t)range(&x->r, -128, 127);
    int t = hd_graph_const(x->g, "w", HD_I8, rank, dim, w);
    free(w);
    return t;
}

static void bias_and_scale(struct gen *x, int oc, int64_t fan_in, int out[2]) {
    int32_t *b = malloc(sizeof *b * (size_t)oc);
    float *s = malloc(sizeof *s * (size_t)oc);
    for (int i = 0; i < oc; i++) {
        b[i] = range(&x->r, -20000, 20000);
        s[i] = scale(&x->r, 0.2f, 1.5f) / (float)(fan_in * 64);
    }
    out[0] = hd_graph_const_i32(x->g, "b", oc, b);
    out[1] = hd_graph_const_f32(x->g, "s", oc, s);
    free(b);
    free(s);
}

/* Window that leaves at least one output pixel: kernel, stride, dilation, pads; of one dimension or
 * two. */
static void window(struct gen *x, int node, const struct hd_tensor *t, bool pads, int64_t out[2],
                   int64_t kernel[2]) {
    int64_t stride[2], dilation[2], pad[4] = {0};
    int dims = t->rank - 2;
    kernel[1] = 1;
    for (int i = 0; i < dims; i++) {
        int size = (int)t->dim[2 + i];
        kernel[i] = range(&x->r, 1, (int)hd_min(size, 5));
        stride[i] = range(&x->r, 1, 3);
        dilation[i] = kernel[i] > 1 && (kernel[i] - 1) * 2 < size ? range(&x->r, 1, 2) : 1;
        if (pads && next(&x->r) % 2) {
            pad[i] = range(&x->r, 0, (int)kernel[i] - 1);
            pad[dims + i] = range(&x->r, 0, (int)kernel[i] - 1);
        }
        out[i] =
            (size + pad[i] + pad[dims + i] - (kernel[i] - 1) * dilation[i] - 1) / stride[i] + 1;
    }
    hd_attr_set_ints(x->g, node, "kernel_shape", dims, kernel);
    hd_attr_set_ints(x->g, node, "strides", dims, stride);
    hd_attr_set_ints(x->g, node, "dilations", dims, dilation);
    hd_attr_set_ints(x->g, node, "pads", 2 * dims, pad);
}

/* 1x1 without stride, or a larger one with stride 1 or 2 and pads of up to half. */
static void square_window(struct gen *x, int node, const struct hd_tensor *t, int size,
                          int64_t out[2], int64_t kernel[2]) {
    int64_t s = size > 1 ? range(&x->r, 1, 2) : 1, pad[4], stride[2] = {s, s}, one[2] = {1, 1};
    for (int i = 0; i < 4; i++) pad[i] = range(&x->r, 0, size / 2);
    for (int i = 0; i < 2; i++) {
        kernel[i] = size;
        out[i] = (t->dim[2 + i] + pad[i] + pad[2 + i] - size) / s + 1;
    }
    hd_attr_set_ints(x->g, node, "kernel_shape", 2, kernel);
    hd_attr_set_ints(x->g, node, "strides", 2, stride);
    hd_attr_set_ints(x->g, node, "dilations", 2, one);
    hd_attr_set_ints(x->g, node, "pads", 4, pad);
}

static void set_shape(struct gen *x, int t, const int64_t dim[4]) {
    struct hd_tensor *y = &x->g->tensors[t];
    memcpy(y->dim, dim, 4 * sizeof *dim);
}

/* fixed: the kernel is square, of that size, and not dilated; 0 = any. */
static void conv_of(struct gen *x, int in, int oc, int groups, int fixed) {
    const struct hd_tensor *t = shape(x, in);
    int64_t c = t->dim[1], kernel[2], out[2] = {1, 1}, dim[4] = {t->dim[0], 1, 1, 1};
    int params[4] = {in, -1, -1, -1}, node;
    hd_dtype type = byte_type(x);
    dim[1] = oc;
    int rank = t->rank, y = add(x, HD_IR_qconv, 4, params, type, rank, dim, &node);
    if (fixed)
        square_window(x, node, shape(x, in), fixed, out, kernel);
    else
        window(x, node, shape(x, in), true, out, kernel);
    dim[2] = out[0], dim[3] = out[1];
    set_shape(x, y, dim);
    int64_t wdim[4] = {oc, c / groups, kernel[0], kernel[1]};
    int w = weights(x, rank, wdim), bs[2];
    bias_and_scale(x, oc, wdim[1] * wdim[2] * wdim[3], bs);
    x->g->nodes[node].in[1] = w;
    x->g->nodes[node].in[2] = bs[0];
    x->g->nodes[node].in[3] = bs[1];
    hd_attr_set_int(x->g, node, "group", groups);
    zero_point(x, node, "x_zp", in);
    requant(x, node, type);
}

static void conv(struct gen *x, int in) {
    int c = (int)shape(x, in)->dim[1], groups = 1, oc = range(&x->r, 1, 70);
    if (next(&x->r) % 3 == 0)
        groups = c, oc = c * (next(&x->r) % 4 ? 1 : 2);
    else if (c % 2 == 0 && next(&x->r) % 5 == 0)
        groups = 2, oc = 2 * range(&x->r, 1, 30);
    conv_of(x, in, oc, groups, 0);
}

/* Kernel, stride, dilation, pads, output padding of a transposed convolution; at least one pixel.
 */
static void transposed_window(struct gen *x, int node, const struct hd_tensor *t, int64_t out[2],
                              int64_t kernel[2]) {
    int64_t stride[2], dilation[2], pad[4] = {0}, extra[2];
    int dims = t->rank - 2;
    kernel[1] = 1;
    for (int i = 0; i < dims; i++) {
        kernel[i] = range(&x->r, 1, 5);
        stride[i] = range(&x->r, 1, 4);
        dilation[i] = next(&x->r) % 3 ? 1 : range(&x->r, 1, 4);
        extra[i] = next(&x->r) % 3 ? 0 : range(&x->r, 0, (int)stride[i] - 1);
        int64_t full = (t->dim[2 + i] - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1;
        for (int side = 0; side < 2; side++)
            if (next(&x->r) % 2)
                pad[i + side * dims] = range(&x->r, 0, (int)hd_min((full - 1) / 2, 4));
        out[i] = full + extra[i] - pad[i] - pad[i + dims];
    }
    hd_attr_set_ints(x->g, node, "kernel_shape", dims, kernel);
    hd_attr_set_ints(x->g, node, "strides", dims, stride);
    hd_attr_set_ints(x->g, node, "dilations", dims, dilation);
    hd_attr_set_ints(x->g, node, "pads", 2 * dims, pad);
    hd_attr_set_ints(x->g, node, "output_padding", dims, extra);
}

static void conv_transposed(struct gen *x, int in) {
    const struct hd_tensor t = *shape(x, in);
    int c = (int)t.dim[1], groups = 1, oc = range(&x->r, 1, 40), node;
    if (next(&x->r) % 4 == 0)
        groups = c, oc = c * (next(&x->r) % 4 ? 1 : 2);
    else if (c % 2 == 0 && next(&x->r) % 4 == 0)
        groups = 2, oc = 2 * range(&x->r, 1, 20);
    int params[4] = {in, -1, -1, -1}, bs[2];
    int64_t kernel[2], out[2] = {1, 1}, dim[4] = {t.dim[0], oc, 1, 1};
    hd_dtype type = byte_type(x);
    int y = add(x, HD_IR_qconvtranspose, 4, params, type, t.rank, dim, &node);
    transposed_window(x, node, &t, out, kernel);
    dim[2] = out[0], dim[3] = out[1];
    set_shape(x, y, dim);
    int64_t wdim[4] = {oc, c / groups, kernel[0], kernel[1]};
    int w = weights(x, t.rank, wdim);
    bias_and_scale(x, oc, wdim[1] * wdim[2] * wdim[3], bs);
    x->g->nodes[node].in[1] = w;
    x->g->nodes[node].in[2] = bs[0];
    x->g->nodes[node].in[3] = bs[1];
    hd_attr_set_int(x->g, node, "group", groups);
    zero_point(x, node, "x_zp", in);
    requant(x, node, type);
}

/* Expand, depthwise, project, as in MobileNetV2: large enough that little of it fits on chip. */
static void block(struct gen *x, int in) {
    int wide = range(&x->r, 20, 120), last;
    conv_of(x, in, wide, 1, 1);
    last = x->made[x->n_made - 1];
    if (shape(x, last)->dim[2] < 3 || shape(x, last)->dim[3] < 3) return;
    conv_of(x, last, wide, wide, 3);
    conv_of(x, x->made[x->n_made - 1], range(&x->r, 1, 40), 1, 1);
}

static void rescale(struct gen *x, int in);
static void table(struct gen *x, int in);
static void mean(struct gen *x, int in);

/* Branches that meet in a concat, and part again now and then: most of them fill words, so that
 * the machine can write and read them in place. */
static void branches(struct gen *x, int in) {
    bool small = shape(x, in)->rank != 4 || shape(x, in)->dim[2] < 3 || shape(x, in)->dim[3] < 3;
    int size = small || next(&x->r) % 2 ? 1 : 3, parts[4], n = 0, node, ways = range(&x->r, 2, 4);
    if (shape(x, in)->rank != 4 || hd_tensor_elems(shape(x, in)) > 20000) return;
    conv_of(x, in, next(&x->r) % 4 ? 32 * range(&x->r, 1, 2) : range(&x->r, 1, 50), 1, 1);
    int from = x->made[x->n_made - 1], axis = next(&x->r) % 3 ? 1 : range(&x->r, 0, 2);
    hd_dtype type = shape(x, from)->dtype;
    int64_t dim[4];
    memcpy(dim, shape(x, from)->dim, sizeof dim);
    for (int i = 0; i < ways; i++) { /* stride 1 and as many pads as the kernel wants */
        if (next(&x->r) % 3) {
            conv_of(x, from, axis == 1 && next(&x->r) % 4 ? 32 : (int)dim[1], 1, size);
            node = x->g->tensors[x->made[x->n_made - 1]].producer;
            int64_t one[2] = {1, 1}, pads[4] = {size / 2, size / 2, size / 2, size / 2};
            hd_attr_set_ints(x->g, node, "strides", 2, one);
            hd_attr_set_ints(x->g, node, "pads", 4, pads);
            int64_t to[4] = {dim[0], shape(x, x->made[x->n_made - 1])->dim[1], dim[2], dim[3]};
            set_shape(x, x->made[x->n_made - 1], to);
        } else if (next(&x->r) % 2) {
            rescale(x, from);
        } else {
            table(x, from);
        }
        if (shape(x, x->made[x->n_made - 1])->dtype == type) parts[n++] = x->made[x->n_made - 1];
    }
    if (n < 2) return;
    dim[axis] = 0;
    for (int i = 0; i < n; i++) dim[axis] += shape(x, parts[i])->dim[axis];
    int y = add(x, HD_IR_concat, n, parts, type, 4, dim, &node);
    hd_attr_set_int(x->g, node, "axis", axis);
    if (next(&x->r) % 2 || dim[1] <= 32) return;
    int64_t sizes[2] = {32, dim[1] - 32};
    int ins[2] = {y, hd_graph_const(x->g, "i", HD_I64, 1, (int64_t[]){2}, sizes)}, out[2];
    for (int i = 0; i < 2; i++) {
        dim[1] = sizes[i];
        out[i] = hd_graph_tensor(x->g, "t", type, 4, dim);
    }
    node = hd_graph_node(x->g, HD_IR_split, "split", 2, ins, 2, out);
    hd_attr_set_int(x->g, node, "axis", 1);
    x->made[x->n_made++] = out[0], x->made[x->n_made++] = out[1];
    next(&x->r) % 2 ? conv_of(x, out[1], range(&x->r, 1, 40), 1, size) : mean(x, out[0]);
}

static void dense(struct gen *x, int in) {
    const struct hd_tensor *t = shape(x, in);
    int64_t rows = t->dim[0], depth = t->dim[1];
    int node, oc = range(&x->r, 1, 150);
    if (t->rank > 2) { /* an image as one row, or each row along the last dimension */
        int64_t all = hd_tensor_elems(t);
        depth = next(&x->r) % 2 ? all / rows : t->dim[t->rank - 1];
        rows = all / depth;
        int64_t flat[2] = {rows, depth};
        in = add(x, HD_IR_reshape, 1, &in, t->dtype, 2, flat, &node);
        hd_attr_set_ints(x->g, node, "shape", 2, flat);
    }
    int64_t wdim[2] = {oc, depth}, dim[2] = {rows, oc};
    hd_dtype type = byte_type(x);
    int bs[2], w = weights(x, 2, wdim);
    bias_and_scale(x, oc, depth, bs);
    int ins[4] = {in, w, bs[0], bs[1]};
    add(x, HD_IR_qgemm, 4, ins, type, 2, dim, &node);
    zero_point(x, node, "x_zp", in);
    requant(x, node, type);
}

/* The last dimension as a sequence of rows, one after the other; random_rnn has more of them. */
static void recurrent(struct gen *x, int in) {
    static const enum hd_ir_op ops[] = {HD_IR_qlstm, HD_IR_qgru, HD_IR_qrnn};
    const struct hd_tensor *t = shape(x, in);
    int64_t depth = t->dim[t->rank - 1], steps = hd_tensor_elems(t) / depth;
    if (steps > 80) return;
    int kind = range(&x->r, 0, 2), gates = 4 - kind - kind / 2, h = range(&x->r, 1, 50), node;
    int64_t gh = gates * h, three[3] = {steps, 1, depth}, wd[3] = {1, gh, depth},
            rd[3] = {1, gh, h};
    int64_t pd[3] = {1, 2, gh}, dim[4] = {steps, 1, 1, h};
    in = add(x, HD_IR_reshape, 1, &in, t->dtype, 3, three, &node);
    hd_attr_set_ints(x->g, node, "shape", 3, three);
    int32_t *bias = malloc(sizeof *bias * (size_t)(2 * gh));
    float *scales = malloc(sizeof *scales * (size_t)(2 * gh));
    for (int64_t i = 0; i < 2 * gh; i++) {
        bias[i] = range(&x->r, -3000, 3000);
        scales[i] = scale(&x->r, 0.2f, 3.0f) / (float)(60 * (i < gh ? depth : h) + 200);
    }
    int ins[5] = {in, weights(x, 3, wd), weights(x, 3, rd),
                  hd_graph_const(x->g, "b", HD_I32, 3, pd, bias),
                  hd_graph_const(x->g, "s", HD_F32, 3, pd, scales)};
    free(bias);
    free(scales);
    hd_dtype type = byte_type(x);
    add(x, ops[kind], 5, ins, type, 4, dim, &node);
    zero_point(x, node, "x_zp", in);
    requant(x, node, type);
    hd_attr_set_float(x->g, node, "scale", scale(&x->r, 80, 200));
    hd_attr_set_int(x->g, node, "linear_before_reset", next(&x->r) % 2);
    if (next(&x->r) % 2) hd_attr_set_string(x->g, node, "direction", "reverse");
}

/* a + b or a * b with the same shape; b may be a itself. */
static void residual(struct gen *x, int a) {
    int b = a, node;
    for (int i = 0; i < x->n_made; i++) {
        const struct hd_tensor *t = shape(x, x->made[i]), *s = shape(x, a);
        if (t->rank == s->rank && !memcmp(t->dim, s->dim, sizeof *t->dim * (size_t)t->rank) &&
            next(&x->r) % 2)
            b = x->made[i];
    }
    if (shape(x, a)->rank == 4 && next(&x->r) % 3 == 0) { /* [N,C,1,1] meets [N,C,H,W] */
        mean(x, a);
        b = x->made[x->n_made - 1];
    }
    int in[2] = {a, b};
    if (b != a && next(&x->r) % 2) in[0] = b, in[1] = a;
    hd_dtype type = byte_type(x);
    int64_t dim[HD_MAX_RANK];
    memcpy(dim, shape(x, a)->dim, sizeof dim);
    a = in[0], b = in[1];
    int rank = shape(x, a)->rank;
    bool product = next(&x->r) % 2;
    add(x, product ? HD_IR_qmul : HD_IR_qadd, 2, in, type, rank, dim, &node);
    hd_attr_set_float(x->g, node, "scale", scale(&x->r, 0.002f, 0.03f));
    zero_point(x, node, "a_zp", a);
    zero_point(x, node, "b_zp", b);
    hd_attr_set_float(x->g, node, "a_scale", scale(&x->r, 0.1f, 1.3f));
    hd_attr_set_float(x->g, node, "b_scale", scale(&x->r, 0.1f, 1.3f));
    requant(x, node, type);
}

static void pool(struct gen *x, int in, bool max) {
    int64_t dim[HD_MAX_RANK], out[2] = {1, 1}, kernel[2];
    int node;
    memcpy(dim, shape(x, in)->dim, sizeof dim);
    hd_dtype type = max ? shape(x, in)->dtype : byte_type(x);
    int y =
        add(x, max ? HD_IR_qmaxpool : HD_IR_qavgpool, 1, &in, type, shape(x, in)->rank, dim, &node);
    window(x, node, shape(x, in), true, out, kernel);
    dim[2] = out[0], dim[3] = out[1];
    set_shape(x, y, dim);
    if (max) return;
    hd_attr_set_int(x->g, node, "count_include_pad", next(&x->r) % 2);
    zero_point(x, node, "x_zp", in);
    hd_attr_set_float(x->g, node, "scale",
                      scale(&x->r, 0.5f, 2.0f) / (float)(kernel[0] * kernel[1]));
    requant(x, node, type);
}

static void mean(struct gen *x, int in) {
    int64_t dim[4] = {shape(x, in)->dim[0], shape(x, in)->dim[1], 1, 1};
    float count = (float)(shape(x, in)->dim[2] * shape(x, in)->dim[3]);
    int node;
    hd_dtype type = byte_type(x);
    add(x, HD_IR_qmean, 1, &in, type, 4, dim, &node);
    zero_point(x, node, "x_zp", in);
    hd_attr_set_float(x->g, node, "x_scale", scale(&x->r, 0.01f, 0.3f));
    hd_attr_set_float(x->g, node, "scale", 1 / (count * scale(&x->r, 0.01f, 0.2f)));
    requant(x, node, type);
}

static void rescale(struct gen *x, int in) {
    int node;
    int64_t dim[HD_MAX_RANK];
    hd_dtype type = byte_type(x);
    memcpy(dim, shape(x, in)->dim, sizeof dim);
    add(x, HD_IR_qrescale, 1, &in, type, shape(x, in)->rank, dim, &node);
    zero_point(x, node, "x_zp", in);
    hd_attr_set_float(x->g, node, "scale", scale(&x->r, 0.3f, 2.0f));
    requant(x, node, type);
}

static void table(struct gen *x, int in) {
    uint8_t bytes[256];
    const struct hd_tensor *t = shape(x, in);
    int64_t dim[HD_MAX_RANK];
    int node, rank = t->rank;
    memcpy(dim, t->dim, sizeof dim);
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)next(&x->r);
    hd_dtype type = byte_type(x);
    int ins[2] = {in, hd_graph_const(x->g, "table", type, 1, (int64_t[]){256}, bytes)};
    add(x, HD_IR_qtable, 2, ins, type, rank, dim, &node);
}

/* ---- attention ---- */

static void softmax(struct gen *x, int in) {
    const struct hd_tensor *t = shape(x, in);
    int64_t dim[HD_MAX_RANK];
    int node, rank = t->rank, axis = next(&x->r) % 4 ? rank - 1 : range(&x->r, 0, rank - 1);
    memcpy(dim, t->dim, sizeof dim);
    hd_dtype type = byte_type(x);
    add(x, HD_IR_qsoftmax, 1, &in, type, rank, dim, &node);
    hd_attr_set_int(x->g, node, "axis", axis);
    hd_attr_set_float(x->g, node, "x_scale", scale(&x->r, 0.001f, 0.3f));
    hd_attr_set_float(x->g, node, "scale", scale(&x->r, 64, 4000));
    requant(x, node, type);
}

static void layer_norm(struct gen *x, int in) {
    const struct hd_tensor *t = shape(x, in);
    int64_t dim[HD_MAX_RANK];
    int node, rank = t->rank, n = (int)t->dim[rank - 1], ins[3] = {in, -1, -1};
    memcpy(dim, t->dim, sizeof dim);
    float *v = malloc(sizeof *v * (size_t)n);
    for (int k = 1; k < 3; k++) {
        for (int i = 0; i < n; i++) v[i] = scale(&x->r, -60, 60);
        ins[k] = hd_graph_const_f32(x->g, "v", n, v);
    }
    free(v);
    hd_dtype type = byte_type(x);
    add(x, HD_IR_qlayernorm, 3, ins, type, rank, dim, &node);
    hd_attr_set_float(x->g, node, "epsilon", scale(&x->r, 0, 2));
    requant(x, node, type);
}

static int permuted(struct gen *x, int in, int rank, const int64_t *perm) {
    int64_t dim[HD_MAX_RANK];
    int node;
    for (int i = 0; i < rank; i++) dim[i] = shape(x, in)->dim[perm[i]];
    int y = add(x, HD_IR_transpose, 1, &in, shape(x, in)->dtype, rank, dim, &node);
    hd_attr_set_ints(x->g, node, "perm", rank, perm);
    return y;
}

static int shaped(struct gen *x, int in, int rank, const int64_t *dim) {
    int node, y = add(x, HD_IR_reshape, 1, &in, shape(x, in)->dtype, rank, dim, &node);
    hd_attr_set_ints(x->g, node, "shape", rank, dim);
    return y;
}

/* a [.., M, K] by b [.., K, N]; batches are a's. */
static int product(struct gen *x, int a, int b) {
    int64_t dim[HD_MAX_RANK];
    int node, rank = shape(x, a)->rank, in[2] = {a, b};
    memcpy(dim, shape(x, a)->dim, sizeof dim);
    dim[rank - 1] = shape(x, b)->dim[shape(x, b)->rank - 1];
    hd_dtype type = byte_type(x);
    float depth = (float)shape(x, a)->dim[rank - 1];
    int y = add(x, HD_IR_qmatmul, 2, in, type, rank, dim, &node);
    zero_point(x, node, "a_zp", a);
    zero_point(x, node, "b_zp", b);
    if (next(&x->r) % 2) hd_attr_set_int(x->g, node, "a_zp", 0);
    if (next(&x->r) % 2) hd_attr_set_int(x->g, node, "b_zp", 0);
    hd_attr_set_float(x->g, node, "scale", scale(&x->r, 0.2f, 1.5f) / (depth * 64));
    requant(x, node, type);
    return y;
}

/* x x^T, now and then its softmax, and that by x again. */
static void products(struct gen *x, int in) {
    int rank = shape(x, in)->rank;
    int64_t perm[HD_MAX_RANK];
    for (int i = 0; i < rank; i++) perm[i] = i;
    perm[rank - 1] = rank - 2, perm[rank - 2] = rank - 1;
    int s = product(x, in, permuted(x, in, rank, perm));
    if (next(&x->r) % 2) softmax(x, s);
    if (next(&x->r) % 2) product(x, x->made[x->n_made - 1], in);
}

/* Rows of int8 by weights: what heads are cut from. */
static int projection(struct gen *x, int in, int width) {
    int64_t depth = shape(x, in)->dim[1], wdim[2] = {width, depth},
            dim[2] = {shape(x, in)->dim[0], width};
    int bs[2], node, w = weights(x, 2, wdim);
    bias_and_scale(x, width, depth, bs);
    int ins[4] = {in, w, bs[0], bs[1]}, y = add(x, HD_IR_qgemm, 4, ins, HD_I8, 2, dim, &node);
    zero_point(x, node, "x_zp", in);
    requant(x, node, HD_I8);
    return y;
}

/* Attention of several heads over all rows of the operand, as exporters write it. */
static void attention(struct gen *x, int in) {
    const struct hd_tensor *t = shape(x, in);
    static const int widths[] = {8, 16, 16, 32, 32, 5, 64};
    int64_t c = t->dim[t->rank - 1], rows = hd_tensor_elems(t) / c, flat[2] = {rows, c};
    int heads = range(&x->r, 1, 4), d = widths[range(&x->r, 0, 6)], head[3], wide = heads * d;
    int batch = rows % 2 == 0 && next(&x->r) % 3 == 0 ? 2 : 1;
    int from = t->rank == 2 ? in : shaped(x, in, 2, flat);
    int64_t split[4] = {batch, rows / batch, heads, d}, perm[4] = {0, 2, 1, 3},
            back[2] = {rows, wide};
    for (int i = 0; i < 3; i++) {
        int64_t turned[4] = {0, 2, i == 1 ? 3 : 1, i == 1 ? 1 : 3};
        head[i] = permuted(x, shaped(x, projection(x, from, wide), 4, split), 4, turned);
    }
    softmax(x, product(x, head[0], head[1]));
    int y = product(x, x->made[x->n_made - 1], head[2]);
    projection(x, shaped(x, permuted(x, y, 4, perm), 2, back), range(&x->r, 1, 40));
}

/* ---- movement of data ---- */

static int ints(struct gen *x, int n, const int64_t *v) {
    return hd_graph_const(x->g, "i", HD_I64, 1, (int64_t[]){n}, v);
}

static void transpose(struct gen *x, int in) {
    int64_t dim[HD_MAX_RANK], perm[HD_MAX_RANK];
    int node, rank = shape(x, in)->rank;
    for (int i = 0; i < rank; i++) perm[i] = i;
    for (int i = rank - 1; i > 0; i--) {
        int k = range(&x->r, 0, i);
        int64_t p = perm[i];
        perm[i] = perm[k], perm[k] = p;
    }
    for (int i = 0; i < rank; i++) dim[i] = shape(x, in)->dim[perm[i]];
    add(x, HD_IR_transpose, 1, &in, shape(x, in)->dtype, rank, dim, &node);
    hd_attr_set_ints(x->g, node, "perm", rank, perm);
}

/* The same elements in another shape: two neighbouring dimensions become one, or one becomes two.
 */
static void reshape(struct gen *x, int in) {
    int64_t dim[HD_MAX_RANK + 1];
    int node, rank = shape(x, in)->rank, at = range(&x->r, 0, rank - 1);
    memcpy(dim, shape(x, in)->dim, sizeof(int64_t) * HD_MAX_RANK);
    if (rank > 2 && (rank > 4 || next(&x->r) % 2)) {
        if (at == rank - 1) at--;
        dim[at] *= dim[at + 1];
        memmove(dim + at + 1, dim + at + 2, sizeof *dim * (size_t)(rank-- - at - 2));
    } else {
        int64_t part = 1, size = dim[at];
        for (int64_t f = 2; f <= 8; f++)
            if (size % f == 0) part = f;
        memmove(dim + at + 1, dim + at, sizeof *dim * (size_t)(rank++ - at));
        dim[at] = size / part, dim[at + 1] = part;
    }
    add(x, HD_IR_reshape, 1, &in, shape(x, in)->dtype, rank, dim, &node);
    hd_attr_set_ints(x->g, node, "shape", rank, dim);
}

static void concat(struct gen *x, int in) {
    int64_t dim[HD_MAX_RANK];
    int node, rank = shape(x, in)->rank, axis = range(&x->r, 0, rank - 1), parts[4] = {in}, n = 1;
    memcpy(dim, shape(x, in)->dim, sizeof dim);
    for (int i = 0; i < x->n_made && n < 4; i++) { /* others of that shape but for the axis */
        const struct hd_tensor *t = shape(x, x->made[i]);
        bool fits = t->rank == rank && t->dtype == shape(x, in)->dtype && next(&x->r) % 3;
        for (int d = 0; d < rank && fits; d++) fits = d == axis || t->dim[d] == dim[d];
        if (!fits || dim[axis] + t->dim[axis] > 200) continue;
        dim[axis] += t->dim[axis];
        parts[n++] = x->made[i];
    }
    add(x, HD_IR_concat, n, parts, shape(x, in)->dtype, rank, dim, &node);
    hd_attr_set_int(x->g, node, "axis", axis);
}

static void split(struct gen *x, int in) {
    struct hd_tensor t = *shape(x, in);
    int axis = range(&x->r, 0, t.rank - 1), out[2];
    if (t.dim[axis] < 2) return;
    int64_t size[2] = {range(&x->r, 1, (int)t.dim[axis] - 1), 0};
    size[1] = t.dim[axis] - size[0];
    int ins[2] = {in, ints(x, 2, size)};
    for (int i = 0; i < 2; i++) {
        t.dim[axis] = size[i];
        out[i] = hd_graph_tensor(x->g, "t", t.dtype, t.rank, t.dim);
    }
    int node = hd_graph_node(x->g, HD_IR_split, "split", 2, ins, 2, out);
    hd_attr_set_int(x->g, node, "axis", axis);
    x->made[x->n_made++] = out[0], x->made[x->n_made++] = out[1];
}

static void slice(struct gen *x, int in) {
    struct hd_tensor t = *shape(x, in);
    int axis = range(&x->r, 0, t.rank - 1), node;
    int64_t size = t.dim[axis], start = range(&x->r, 0, (int)size - 1),
            end = range(&x->r, (int)start + 1, (int)size), step = range(&x->r, 1, 2);
    if (next(&x->r) % 4 == 0) { /* backwards */
        int64_t first = start;
        start = end - 1, end = first - 1 - size, step = -step;
    }
    int ins[5] = {in, ints(x, 1, &start), ints(x, 1, &end), ints(x, 1, (int64_t[]){axis}),
                  ints(x, 1, &step)};
    int64_t way = step > 0 ? end - start : start - (end + size);
    t.dim[axis] = (way - 1) / (step > 0 ? step : -step) + 1;
    add(x, HD_IR_slice, 5, ins, t.dtype, t.rank, t.dim, &node);
}

static void pad(struct gen *x, int in) {
    static const char *const modes[] = {"constant", "edge", "reflect", "constant"};
    struct hd_tensor t = *shape(x, in);
    int64_t pads[2 * HD_MAX_RANK] = {0};
    int mode = range(&x->r, 0, 3), node;
    int8_t value = (int8_t)range(&x->r, -128, 127);
    for (int d = 0; d < t.rank; d++)
        for (int side = 0; side < 2; side++) {
            int most = mode == 2 ? (int)hd_min(t.dim[d] - 1, 3) : 3;
            if (next(&x->r) % 2) pads[d + side * t.rank] = range(&x->r, 0, most);
        }
    for (int d = 0; d < t.rank; d++) t.dim[d] += pads[d] + pads[d + t.rank];
    int ins[3] = {in, ints(x, 2 * t.rank, pads),
                  hd_graph_const(x->g, "v", t.dtype, 0, NULL, &value)};
    add(x, HD_IR_pad, mode == 3 ? 2 : 3, ins, t.dtype, t.rank, t.dim, &node);
    hd_attr_set_string(x->g, node, "mode", modes[mode]);
}

static void resize(struct gen *x, int in) {
    struct hd_tensor t = *shape(x, in);
    float scales[HD_MAX_RANK];
    int node, none = hd_graph_const_f32(x->g, "roi", 0, NULL);
    for (int d = 0; d < t.rank; d++) {
        scales[d] = d < 2 ? 1 : (float)range(&x->r, 1, 3);
        t.dim[d] *= (int64_t)scales[d];
    }
    int ins[3] = {in, none, hd_graph_const_f32(x->g, "scales", t.rank, scales)};
    add(x, HD_IR_resize, 3, ins, t.dtype, t.rank, t.dim, &node);
    hd_attr_set_string(x->g, node, "mode", "nearest");
    if (next(&x->r) % 2)
        hd_attr_set_string(x->g, node, "coordinate_transformation_mode", "asymmetric");
}

static void blocks(struct gen *x, int in) {
    struct hd_tensor t = *shape(x, in);
    bool to_depth = t.dim[2] % 2 == 0 && t.dim[3] % 2 == 0;
    int node;
    if (!to_depth && t.dim[1] % 4) return;
    t.dim[1] = to_depth ? t.dim[1] * 4 : t.dim[1] / 4;
    for (int d = 2; d < 4; d++) t.dim[d] = to_depth ? t.dim[d] / 2 : t.dim[d] * 2;
    add(x, to_depth ? HD_IR_spacetodepth : HD_IR_depthtospace, 1, &in, t.dtype, 4, t.dim, &node);
    hd_attr_set_int(x->g, node, "blocksize", 2);
    if (!to_depth && next(&x->r) % 2) hd_attr_set_string(x->g, node, "mode", "CRD");
}

static void move(struct gen *x, int in) {
    static void (*const kind[])(struct gen *, int) = {transpose, reshape, concat, split,
                                                      slice,     pad,     resize, blocks};
    int64_t elems = hd_tensor_elems(shape(x, in));
    int pick = range(&x->r, 0, elems > 20000 ? 4 : shape(x, in)->rank == 4 ? 7 : 6);
    kind[pick](x, in);
}

static hd_graph *generate(uint64_t seed, int n_layers) {
    struct gen x = {.r = {seed * 7919 + 1}, .g = hd_graph_create()};
    int64_t dim[4] = {next(&x.r) % 8 ? 1 : 2, range(&x.r, 1, seed % 3 ? 40 : 4), range(&x.r, 1, 30),
                      range(&x.r, 1, 30)};
    int all[256];
    bool flat = next(&x.r) % 5 == 0, chains = seed % 5 == 1; /* flat: one-dimensional */
    if (flat) dim[2] = range(&x.r, 1, 60);
    if (chains) dim[0] = 1, dim[2] = range(&x.r, 8, 60), dim[3] = range(&x.r, 8, 60);
    x.made = all;
    int in = hd_graph_tensor(x.g, "x", byte_type(&x), 4 - flat, dim);
    hd_graph_input(x.g, in);
    x.made[x.n_made++] = in;
    for (int i = 0; i < n_layers; i++) {
        int from = x.made[x.n_made - 1];
        if (next(&x.r) % 5 == 0) from = x.made[range(&x.r, 0, x.n_made - 1)];
        int rank = shape(&x, from)->rank;
        bool image = rank == 4 || rank == 3;
        if (i > 0 && next(&x.r) % 3 == 0) {
            move(&x, from);
            continue;
        }
        int pick = seed % 3 == 0 && i == 0
                       ? 7
                       : (int)(next(&x.r) % 8); /* few channels: first a convolution */
        if (seed % 4 == 2 && rank == 4 && i % 3 == 1) {
            branches(&x, from);
        } else if (chains && rank == 4 && i % 3 == 0) {
            block(&x, from);
            i += 2;
        } else if (pick == 0)
            residual(&x, from);
        else if (pick == 1)
            next(&x.r) % 2 ? rescale(&x, from) : table(&x, from);
        else if (next(&x.r) % 10 == 0)
            recurrent(&x, from);
        else if (next(&x.r) % 6 == 0)
            next(&x.r) % 2 ? softmax(&x, from) : layer_norm(&x, from);
        else if (next(&x.r) % 8 == 0 && hd_tensor_elems(shape(&x, from)) < 20000)
            next(&x.r) % 2 ? products(&x, from) : attention(&x, from);
        else if (!image || (rank == 4 && pick == 2 && i + 1 == n_layers))
            rank <= 4 ? dense(&x, from) : rescale(&x, from);
        else if (pick == 2 && rank == 4)
            mean(&x, from);
        else if (pick == 3 || pick == 4)
            pool(&x, from, pick == 4);
        else if (next(&x.r) % 4 == 0 && hd_tensor_elems(shape(&x, from)) < 8000)
            conv_transposed(&x, from);
        else
            conv(&x, from);
    }
    hd_graph_output(x.g, x.made[x.n_made - 1]);
    if (next(&x.r) % 3 == 0 && x.n_made > 2) hd_graph_output(x.g, x.made[x.n_made - 2]);
    return x.g;
}

struct options {
    uint64_t seed;
    int count;
    const char *device;
    struct hd_device_options dev;
    bool print, latency_hiding;
};

static hd_status run_one(hd_ctx *ctx, const hd_model *m, const char *device,
                         const struct hd_device_options *opt, const void *const *in,
                         void *const *out, hd_session **s) {
    TRY(hd_session_open(ctx, m, device, opt, s));
    return hd_session_run(ctx, *s, in, out);
}

/* Compares every value that left the machine; *out_same says whether all agree. */
static hd_status compare(hd_ctx *ctx, const hd_model *m, hd_session *a, hd_session *b,
                         bool *out_same) {
    *out_same = true;
    for (int v = 0; v < m->n_values && *out_same; v++) {
        size_t bytes = hd_value_dense_bytes(&m->values[v]);
        unsigned char *x = malloc(bytes), *y = malloc(bytes);
        hd_status s = hd_session_value(ctx, a, v, x);
        if (s == HD_OK) s = hd_session_value(ctx, b, v, y);
        size_t i = 0;
        while (s == HD_OK && i < bytes && x[i] == y[i]) i++;
        if (s == HD_OK && i < bytes) {
            *out_same = false;
            printf("  first difference: %s byte %zu: golden %d, device %d\n", m->values[v].name, i,
                   x[i], y[i]);
        }
        free(x);
        free(y);
        TRY(s);
    }
    return HD_OK;
}

static hd_status run_graph(hd_ctx *ctx, hd_graph *g, const struct options *o, uint64_t seed,
                           bool *out_same) {
    struct hd_compile_options c = {.machine = o->dev.machine,
                                   .latency_hiding = o->latency_hiding && seed % 4 != 3,
                                   .keep_all = seed % 2 == 0,
                                   .place_all = seed % 8 != 5};
    TRY(hd_graph_verify(ctx, g));
    if (o->print) TRY(hd_graph_print(ctx, g, false, stdout));
    hd_model *m;
    TRY(hd_lower(ctx, g, &c, &m));
    struct rng r = {seed ^ 0x5555};
    size_t bytes = hd_value_dense_bytes(&m->values[m->inputs[0]]);
    unsigned char *x = malloc(bytes);
    for (size_t i = 0; i < bytes; i++) x[i] = (unsigned char)next(&r);
    void *out[2] = {NULL, NULL};
    for (int i = 0; i < m->n_outputs; i++)
        out[i] = malloc(hd_value_dense_bytes(&m->values[m->outputs[i]]));
    hd_session *a = NULL, *b = NULL;
    const void *in[1] = {x};
    hd_status s = run_one(ctx, m, "golden", &o->dev, in, out, &a);
    if (s == HD_OK) s = run_one(ctx, m, o->device, &o->dev, in, out, &b);
    if (s == HD_OK) s = compare(ctx, m, a, b, out_same);
    if (a) hd_session_close(a);
    if (b) hd_session_close(b);
    for (int i = 0; i < 2; i++) free(out[i]);
    free(x);
    hd_model_destroy(m);
    return s;
}

static bool passes(hd_ctx *ctx, const struct options *o, uint64_t seed, int layers) {
    bool same = false;
    hd_graph *g = generate(seed, layers);
    hd_clear(ctx);
    hd_status s = run_graph(ctx, g, o, seed, &same);
    hd_graph_destroy(g);
    if (s != HD_OK) printf("  %s\n", hd_message(ctx));
    return s == HD_OK && same;
}

static int usage(const char *why) {
    fprintf(stderr,
            "random_net: %s\nusage: random_net [--seed S] [--count N] [--device iss|rtl] "
            "[--machine NAME] "
            "[--set k=v] [--jitter] [--print] [--serial]\n",
            why);
    return 2;
}

int main(int argc, char **argv) {
    static const struct option longs[] = {
        {"seed", 1, 0, 's'},    {"count", 1, 0, 'n'},  {"device", 1, 0, 'd'},
        {"machine", 1, 0, 'm'}, {"set", 1, 0, 'e'},    {"jitter", 0, 0, 'j'},
        {"print", 0, 0, 'p'},   {"serial", 0, 0, 'l'}, {0, 0, 0, 0}};
    struct options o = {.seed = 1, .count = 1, .device = "iss", .latency_hiding = true};
    hd_ctx *ctx = hd_ctx_create();
    hd_status s = hd_machine_load(ctx, "base", &o.dev.machine);
    bool jitter = false;
    for (int c; s == HD_OK && (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) switch (c) {
        case 's':
            o.seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            o.count = atoi(optarg);
            break;
        case 'd':
            o.device = optarg;
            break;
        case 'm':
            s = hd_machine_load(ctx, optarg, &o.dev.machine);
            break;
        case 'e':
            s = hd_machine_set(ctx, &o.dev.machine, optarg);
            break;
        case 'j':
            jitter = true;
            break;
        case 'p':
            o.print = true;
            break;
        case 'l':
            o.latency_hiding = false;
            break;
        default:
            return usage("unknown option");
        }
    if (s == HD_OK) s = hd_machine_check(ctx, &o.dev.machine);
    if (s != HD_OK) return usage(hd_message(ctx));
    int bad = 0;
    for (uint64_t seed = o.seed; seed < o.seed + (uint64_t)o.count; seed++) {
        struct rng r = {seed};
        int layers = range(&r, 1, 9);
        o.dev.mem.jitter = jitter;
        o.dev.mem.jitter_seed = seed;
        if (passes(ctx, &o, seed, layers)) continue;
        bad++;
        int least = 1;
        while (least < layers && passes(ctx, &o, seed, least)) least++;
        printf("FAIL seed %llu: %d layers, fails with %d\n", (unsigned long long)seed, layers,
               least);
    }
    printf("random_net %s %s: %d passed, %d failed\n", o.device, o.dev.machine.name, o.count - bad,
           bad);
    hd_ctx_destroy(ctx);
    return bad != 0;
}
