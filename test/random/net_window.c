/* Random layers with windows: convolutions of all kinds, pooling, and groups of them. */
#include "test/random/net.h"

#include <string.h>

#include "runtime/base/num.h"

/* Window that leaves at least one output pixel: kernel of up to `most`, stride, dilation, pads; of
 * one dimension or two. far: taps may lie far apart, and some in the padding alone. */
static void window(struct net *x, int node, const struct hd_tensor *t, int most, bool far,
                   int64_t out[2], int64_t kernel[2]) {
    int64_t stride[2], dilation[2], pad[4] = {0};
    int dims = t->rank - 2;
    kernel[1] = 1;
    for (int i = 0; i < dims; i++) {
        int size = (int)t->dim[2 + i];
        kernel[i] = rng_range(&x->r, 1, (int)hd_min(size, most));
        stride[i] = rng_range(&x->r, 1, 3);
        dilation[i] = kernel[i] > 1 && (kernel[i] - 1) * 2 < size ? rng_range(&x->r, 1, 2) : 1;
        if (rng_next(&x->r) % 2) {
            pad[i] = rng_range(&x->r, 0, (int)kernel[i] - 1);
            pad[dims + i] = rng_range(&x->r, 0, (int)kernel[i] - 1);
        }
        if (far && rng_next(&x->r) % 8 == 0) {
            dilation[i] = rng_range(&x->r, 1, 12);
            int span = (int)((kernel[i] - 1) * dilation[i]);
            pad[i] = rng_range(&x->r, 0, span), pad[dims + i] = rng_range(&x->r, 0, span);
            if (size + pad[i] + pad[dims + i] <= span) pad[i] = span;
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
static void square_window(struct net *x, int node, const struct hd_tensor *t, int size,
                          int64_t out[2], int64_t kernel[2]) {
    int64_t s = size > 1 ? rng_range(&x->r, 1, 2) : 1, pad[4], stride[2] = {s, s}, one[2] = {1, 1};
    for (int i = 0; i < 4; i++) pad[i] = rng_range(&x->r, 0, size / 2);
    for (int i = 0; i < 2; i++) {
        kernel[i] = size;
        out[i] = (t->dim[2 + i] + pad[i] + pad[2 + i] - size) / s + 1;
    }
    hd_attr_set_ints(x->g, node, "kernel_shape", 2, kernel);
    hd_attr_set_ints(x->g, node, "strides", 2, stride);
    hd_attr_set_ints(x->g, node, "dilations", 2, one);
    hd_attr_set_ints(x->g, node, "pads", 4, pad);
}

void net_conv_of(struct net *x, int in, int oc, int groups, int fixed) {
    const struct hd_tensor *t = net_shape(x, in);
    int64_t c = t->dim[1], kernel[2], out[2] = {1, 1}, dim[4] = {t->dim[0], 1, 1, 1};
    int params[4] = {in, -1, -1, -1}, node;
    hd_dtype type = net_byte_type(x);
    dim[1] = oc;
    int rank = t->rank, y = net_add(x, HD_IR_qconv, 4, params, type, rank, dim, &node);
    if (fixed)
        square_window(x, node, net_shape(x, in), fixed, out, kernel);
    else
        window(x, node, net_shape(x, in), groups > 2 ? 9 : 5, true, out, kernel);
    dim[2] = out[0], dim[3] = out[1];
    net_set_shape(x, y, dim);
    int64_t wdim[4] = {oc, c / groups, kernel[0], kernel[1]};
    int w = net_weights_less_zero(x, rank, wdim), bs[2];
    net_bias_and_scale(x, oc, wdim[1] * wdim[2] * wdim[3], bs);
    x->g->nodes[node].in[1] = w;
    x->g->nodes[node].in[2] = bs[0];
    x->g->nodes[node].in[3] = bs[1];
    hd_attr_set_int(x->g, node, "group", groups);
    net_zero_point(x, node, "x_zp", in);
    net_requant(x, node, type);
}

void net_conv(struct net *x, int in) {
    int c = (int)net_shape(x, in)->dim[1], groups = 1, oc = rng_range(&x->r, 1, 70);
    if (rng_next(&x->r) % 3 == 0)
        groups = c, oc = c * (rng_next(&x->r) % 4 ? 1 : 2);
    else if (c % 2 == 0 && rng_next(&x->r) % 5 == 0)
        groups = 2, oc = 2 * rng_range(&x->r, 1, 30);
    net_conv_of(x, in, oc, groups, 0);
}

/* Kernel, stride, dilation, pads, output padding of a transposed convolution; at least one pixel.
 */
static void transposed_window(struct net *x, int node, const struct hd_tensor *t, int64_t out[2],
                              int64_t kernel[2]) {
    int64_t stride[2], dilation[2], pad[4] = {0}, extra[2];
    int dims = t->rank - 2;
    kernel[1] = 1;
    for (int i = 0; i < dims; i++) {
        kernel[i] = rng_range(&x->r, 1, 5);
        stride[i] = rng_range(&x->r, 1, 4);
        dilation[i] = rng_next(&x->r) % 3 ? 1 : rng_range(&x->r, 1, 4);
        extra[i] = rng_next(&x->r) % 3 ? 0 : rng_range(&x->r, 0, (int)stride[i] - 1);
        int64_t full = (t->dim[2 + i] - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1;
        for (int side = 0; side < 2; side++)
            if (rng_next(&x->r) % 2)
                pad[i + side * dims] = rng_range(&x->r, 0, (int)hd_min((full - 1) / 2, 4));
        out[i] = full + extra[i] - pad[i] - pad[i + dims];
    }
    hd_attr_set_ints(x->g, node, "kernel_shape", dims, kernel);
    hd_attr_set_ints(x->g, node, "strides", dims, stride);
    hd_attr_set_ints(x->g, node, "dilations", dims, dilation);
    hd_attr_set_ints(x->g, node, "pads", 2 * dims, pad);
    hd_attr_set_ints(x->g, node, "output_padding", dims, extra);
}

void net_conv_transposed(struct net *x, int in) {
    const struct hd_tensor t = *net_shape(x, in);
    int c = (int)t.dim[1], groups = 1, oc = rng_range(&x->r, 1, 40), node;
    if (rng_next(&x->r) % 4 == 0)
        groups = c, oc = c * (rng_next(&x->r) % 4 ? 1 : 2);
    else if (c % 2 == 0 && rng_next(&x->r) % 4 == 0)
        groups = 2, oc = 2 * rng_range(&x->r, 1, 20);
    int params[4] = {in, -1, -1, -1}, bs[2];
    int64_t kernel[2], out[2] = {1, 1}, dim[4] = {t.dim[0], oc, 1, 1};
    hd_dtype type = net_byte_type(x);
    int y = net_add(x, HD_IR_qconvtranspose, 4, params, type, t.rank, dim, &node);
    transposed_window(x, node, &t, out, kernel);
    dim[2] = out[0], dim[3] = out[1];
    net_set_shape(x, y, dim);
    int64_t wdim[4] = {oc, c / groups, kernel[0], kernel[1]};
    int w = net_weights_less_zero(x, t.rank, wdim);
    net_bias_and_scale(x, oc, wdim[1] * wdim[2] * wdim[3], bs);
    x->g->nodes[node].in[1] = w;
    x->g->nodes[node].in[2] = bs[0];
    x->g->nodes[node].in[3] = bs[1];
    hd_attr_set_int(x->g, node, "group", groups);
    net_zero_point(x, node, "x_zp", in);
    net_requant(x, node, type);
}

/* Convolution, pool, convolution. */
static void pooled_block(struct net *x, int in, int wide) {
    net_conv_of(x, in, wide, 1, rng_next(&x->r) % 2 ? 3 : 1);
    net_pool(x, x->made[x->n_made - 1], rng_next(&x->r) % 3);
    net_conv_of(x, x->made[x->n_made - 1], rng_range(&x->r, 1, 40), 1, 1);
}

/* Expand, depthwise, project, as in MobileNetV2, or with a pool: large enough that little of it
 * fits on chip. */
void net_block(struct net *x, int in) {
    int wide = rng_range(&x->r, 20, 120), last;
    if (rng_next(&x->r) % 3 == 0) {
        const int64_t *dim = net_shape(x, in)->dim;
        if (dim[2] >= 3 && dim[3] >= 3) pooled_block(x, in, wide);
        return;
    }
    net_conv_of(x, in, wide, 1, 1);
    last = x->made[x->n_made - 1];
    if (net_shape(x, last)->dim[2] < 3 || net_shape(x, last)->dim[3] < 3) return;
    int most = (int)hd_min(net_shape(x, last)->dim[2], net_shape(x, last)->dim[3]);
    int size = (int)hd_min(3 + 2 * rng_range(&x->r, 0, 2), most); /* 3, 5 or 7 */
    net_conv_of(x, last, wide, wide, size);
    net_conv_of(x, x->made[x->n_made - 1], rng_range(&x->r, 1, 40), 1, 1);
}

void net_pool(struct net *x, int in, bool max) {
    int64_t dim[HD_MAX_RANK], out[2] = {1, 1}, kernel[2];
    int node;
    memcpy(dim, net_shape(x, in)->dim, sizeof dim);
    hd_dtype type = max ? net_shape(x, in)->dtype : net_byte_type(x);
    int y = net_add(x, max ? HD_IR_qmaxpool : HD_IR_qavgpool, 1, &in, type, net_shape(x, in)->rank,
                    dim, &node);
    window(x, node, net_shape(x, in), 5, false, out, kernel);
    dim[2] = out[0], dim[3] = out[1];
    net_set_shape(x, y, dim);
    if (max) return;
    hd_attr_set_int(x->g, node, "count_include_pad", rng_next(&x->r) % 2);
    net_zero_point(x, node, "x_zp", in);
    hd_attr_set_float(x->g, node, "scale",
                      rng_float(&x->r, 0.5f, 2.0f) / (float)(kernel[0] * kernel[1]));
    net_requant(x, node, type);
}

/* A convolution of stride 1 that pads as much as its kernel wants. Returns its result. */
static int same_size(struct net *x, int from, int oc, int groups, int size) {
    net_conv_of(x, from, oc, groups, size);
    int y = x->made[x->n_made - 1], node = x->g->tensors[y].producer;
    int64_t dim[4], one[2] = {1, 1}, pads[4] = {size / 2, size / 2, size / 2, size / 2};
    memcpy(dim, net_shape(x, from)->dim, sizeof dim);
    hd_attr_set_ints(x->g, node, "strides", 2, one);
    hd_attr_set_ints(x->g, node, "pads", 4, pads);
    dim[1] = oc;
    net_set_shape(x, y, dim);
    return y;
}

/* Layers that read concats of all that was made before them, by windows of each channel now and
 * then. */
void net_dense_block(struct net *x, int in) {
    const struct hd_tensor *t = net_shape(x, in);
    if (t->rank != 4 || hd_tensor_elems(t) > 20000 || t->dim[2] < 3 || t->dim[3] < 3) return;
    int all = same_size(x, in, 32 * rng_range(&x->r, 1, 2), 1, 1), node;
    bool first = rng_next(&x->r) % 3 == 0; /* new channels come first */
    hd_dtype type = net_shape(x, all)->dtype;
    for (int i = rng_range(&x->r, 2, 4); i > 0; i--) {
        int c = (int)net_shape(x, all)->dim[1], from = all;
        if (rng_next(&x->r) % 2) from = same_size(x, all, c, c, rng_next(&x->r) % 2 ? 1 : 3);
        int more = rng_next(&x->r) % 5 ? 32 : 24, part = same_size(x, from, more, 1, 3);
        if (net_shape(x, part)->dtype != type) return;
        int64_t dim[4];
        memcpy(dim, net_shape(x, all)->dim, sizeof dim);
        dim[1] += more;
        all = net_add(x, HD_IR_concat, 2, (int[]){first ? part : all, first ? all : part}, type, 4,
                      dim, &node);
        hd_attr_set_int(x->g, node, "axis", 1);
    }
}

/* Branches that meet in a concat, and part again now and then: most of them fill words, so that
 * the machine can write and read them in place. */
void net_branches(struct net *x, int in) {
    bool small =
        net_shape(x, in)->rank != 4 || net_shape(x, in)->dim[2] < 3 || net_shape(x, in)->dim[3] < 3;
    int size = small || rng_next(&x->r) % 2 ? 1 : 3, parts[4], n = 0, node,
        ways = rng_range(&x->r, 2, 4);
    if (net_shape(x, in)->rank != 4 || hd_tensor_elems(net_shape(x, in)) > 20000) return;
    net_conv_of(x, in, rng_next(&x->r) % 4 ? 32 * rng_range(&x->r, 1, 2) : rng_range(&x->r, 1, 50),
                1, 1);
    int from = x->made[x->n_made - 1], axis = rng_next(&x->r) % 3 ? 1 : rng_range(&x->r, 0, 2);
    hd_dtype type = net_shape(x, from)->dtype;
    int64_t dim[4];
    memcpy(dim, net_shape(x, from)->dim, sizeof dim);
    for (int i = 0; i < ways; i++) { /* stride 1 and as many pads as the kernel wants */
        if (rng_next(&x->r) % 3) {
            same_size(x, from, axis == 1 && rng_next(&x->r) % 4 ? 32 : (int)dim[1], 1, size);
        } else if (rng_next(&x->r) % 2) {
            net_rescale(x, from);
        } else {
            net_table(x, from);
        }
        if (net_shape(x, x->made[x->n_made - 1])->dtype == type)
            parts[n++] = x->made[x->n_made - 1];
    }
    if (n < 2) return;
    dim[axis] = 0;
    for (int i = 0; i < n; i++) dim[axis] += net_shape(x, parts[i])->dim[axis];
    int y = net_add(x, HD_IR_concat, n, parts, type, 4, dim, &node);
    hd_attr_set_int(x->g, node, "axis", axis);
    if (rng_next(&x->r) % 2 || dim[1] <= 32) return;
    int64_t sizes[2] = {32, dim[1] - 32};
    int ins[2] = {y, hd_graph_const(x->g, "i", HD_I64, 1, (int64_t[]){2}, sizes)}, out[2];
    for (int i = 0; i < 2; i++) {
        dim[1] = sizes[i];
        out[i] = hd_graph_tensor(x->g, "t", type, 4, dim);
    }
    node = hd_graph_node(x->g, HD_IR_split, "split", 2, ins, 2, out);
    hd_attr_set_int(x->g, node, "axis", 1);
    x->made[x->n_made++] = out[0], x->made[x->n_made++] = out[1];
    rng_next(&x->r) % 2 ? net_conv_of(x, out[1], rng_range(&x->r, 1, 40), 1, size)
                        : net_mean(x, out[0]);
}
