/* Random networks that quantise some of their tensors only: float operations between dequantize and
 * quantize, as files for TensorRT and others have them, legalised (compiler/quantize/complete.c),
 * compiled and run on a machine device (random.h). What becomes of the values against those of the
 * float operations is the business of test/unit/quantize/test_complete.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/random/net.h"
#include "test/random/random.h"

static int small_range(struct net *x, int lo, int hi) {
    return (int)rng_range(&x->r, lo, hi);
}

static bool one_in(struct net *x, int n) {
    return rng_next(&x->r) % (unsigned)n == 0;
}

/* A float operation; its shape is inferred. Its result. */
static int op(struct net *x, enum hd_ir_op o, int n_in, const int *in, int *out_node) {
    int y = hd_graph_tensor(x->g, "t", HD_F32, 0, NULL);
    *out_node = hd_graph_node(x->g, o, hd_ir_ops[o].name, n_in, in, 1, &y);
    return y;
}

static bool infer(struct net *x) {
    hd_ctx *ctx = hd_ctx_create();
    bool ok = hd_graph_infer(ctx, x->g) == HD_OK;
    hd_ctx_destroy(ctx);
    return ok;
}

static int plain(struct net *x, enum hd_ir_op o, int a, int b) {
    int node;
    return op(x, o, b < 0 ? 1 : 2, (int[]){a, b}, &node);
}

static int scalar(struct net *x, float v) {
    return hd_graph_const(x->g, "c", HD_F32, 0, NULL, &v);
}

static int byte(struct net *x, hd_dtype t, int v) {
    int8_t b = (int8_t)v;
    return hd_graph_const(x->g, "z", t, 0, NULL, &b);
}

/* dequantize(quantize(t)), now and then of fewer bits. */
static int quantised(struct net *x, int t) {
    hd_dtype type = net_byte_type(x);
    int lo = type == HD_U8 ? 0 : -128, node;
    int scale = scalar(x, rng_float(&x->r, 0.01f, 0.06f)),
        zero = byte(x, type, lo + small_range(x, 0, 255));
    int q = op(x, HD_IR_quantize, 3, (int[]){t, scale, zero}, &node);
    x->g->tensors[q].dtype = type;
    if (one_in(x, 6)) {
        q = op(x, HD_IR_clip, 3, (int[]){q, byte(x, type, lo + 16), byte(x, type, lo + 200)},
               &node);
        x->g->tensors[q].dtype = type;
    }
    return op(x, HD_IR_dequantize, 3, (int[]){q, scale, zero}, &node);
}

/* Dequantised weights [..] with channels on `axis`. */
static int weights(struct net *x, int rank, const int64_t *dim, int axis, int64_t fan_in) {
    bool each = one_in(x, 2);
    int64_t n = each ? dim[axis] : 1;
    float *s = malloc(sizeof *s * (size_t)n);
    int8_t *z = calloc((size_t)n, 1);
    for (int64_t i = 0; i < n; i++)
        s[i] = rng_float(&x->r, 0.5f, 1.5f) / (74 * sqrtf((float)fan_in));
    int in[3] = {net_weights(x, rank, dim), hd_graph_const(x->g, "s", HD_F32, each, &n, s),
                 hd_graph_const(x->g, "z", HD_I8, each, &n, z)};
    free(s);
    free(z);
    int id, w = op(x, HD_IR_dequantize, 3, in, &id);
    hd_attr_set_int(x->g, id, "axis", axis);
    return w;
}

/* Floats, one for each of n channels, of this rank with the channels in `axis`. */
static int channels(struct net *x, int64_t n, int rank, int axis, float lo, float hi) {
    int64_t dim[HD_MAX_RANK] = {0};
    float *v = malloc(sizeof *v * (size_t)n);
    for (int i = 0; i < rank; i++) dim[i] = i == axis ? n : 1;
    for (int64_t i = 0; i < n; i++) v[i] = rng_float(&x->r, lo, hi);
    int t = hd_graph_const(x->g, "v", HD_F32, rank, dim, v);
    free(v);
    return t;
}

static int convolution(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    bool deep = one_in(x, 3), up = one_in(x, 6);
    int64_t k = one_in(x, 2) ? 1 : 3, oc = deep ? t.dim[1] : small_range(x, 1, 40);
    int64_t dim[4] = {oc, deep ? 1 : t.dim[1], k, k}, pads[4] = {k / 2, k / 2, k / 2, k / 2},
            stride = one_in(x, 3) && t.dim[2] > 3 ? 2 : 1;
    if (up) dim[0] = t.dim[1], dim[1] = deep ? 1 : oc;
    int w = weights(x, 4, dim, up, (deep ? 1 : t.dim[1]) * k * k), node;
    int ins[3] = {in, w, one_in(x, 2) ? channels(x, oc, 1, 0, -0.5f, 0.5f) : -1};
    int y = op(x, up ? HD_IR_convtranspose : HD_IR_conv, ins[2] < 0 ? 2 : 3, ins, &node);
    hd_attr_set_ints(x->g, node, "kernel_shape", 2, (int64_t[]){k, k});
    hd_attr_set_ints(x->g, node, "strides", 2, (int64_t[]){stride, stride});
    hd_attr_set_ints(x->g, node, "pads", 4, pads);
    if (deep) hd_attr_set_int(x->g, node, "group", t.dim[1]);
    return y;
}

/* By weights that the file may transpose, with a bias or not. */
static int dense(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    int64_t k = t.dim[t.rank - 1], n = small_range(x, 1, 40), dim[2] = {k, n};
    bool turned = one_in(x, 2);
    if (turned) dim[0] = n, dim[1] = k;
    int w = weights(x, 2, dim, !turned, k), node;
    if (turned) w = plain(x, HD_IR_transpose, w, -1);
    int y = op(x, HD_IR_matmul, 2, (int[]){in, w}, &node);
    return one_in(x, 2) ? plain(x, HD_IR_add, y, channels(x, n, 1, 0, -0.5f, 0.5f)) : y;
}

static int function(struct net *x, int in) {
    static const enum hd_ir_op one[] = {HD_IR_relu,     HD_IR_sigmoid,   HD_IR_tanh,
                                        HD_IR_softplus, HD_IR_hardswish, HD_IR_leakyrelu,
                                        HD_IR_abs,      HD_IR_neg,       HD_IR_elu};
    switch (small_range(x, 0, 4)) {
    case 0: /* silu */
        return plain(x, HD_IR_mul, in, plain(x, HD_IR_sigmoid, in, -1));
    case 1:
        return plain(x, HD_IR_add, plain(x, HD_IR_mul, in, scalar(x, 0.7f)), scalar(x, 0.3f));
    case 2: {
        int node, high = plain(x, HD_IR_greater, in, scalar(x, 0.4f));
        x->g->tensors[high].dtype = HD_BOOL;
        return op(x, HD_IR_where, 3, (int[]){high, in, scalar(x, 0.1f)}, &node);
    }
    default:
        return plain(x, one[small_range(x, 0, 8)], in, -1);
    }
}

static int per_channel(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    int64_t c = t.dim[1];
    int node;
    if (one_in(x, 3)) return plain(x, HD_IR_prelu, in, channels(x, c, t.rank - 1, 0, 0, 0.4f));
    if (one_in(x, 2))
        return plain(x, one_in(x, 2) ? HD_IR_mul : HD_IR_add, in,
                     channels(x, c, t.rank - 1, 0, -1, 1));
    int of[5] = {in, channels(x, c, 1, 0, -1, 1), channels(x, c, 1, 0, -1, 1),
                 channels(x, c, 1, 0, -1, 1), channels(x, c, 1, 0, 0.5f, 2)};
    return op(x, HD_IR_batchnorm, 5, of, &node);
}

static int window(struct net *x, int in) {
    int node, y;
    if (one_in(x, 3)) {
        y = op(x, HD_IR_avgpool, 1, &in, &node); /* all of it, and as a factor */
        struct hd_tensor t = *net_shape(x, in);
        hd_attr_set_ints(x->g, node, "kernel_shape", 2, &t.dim[2]);
        if (one_in(x, 2)) y = quantised(x, y);
        return plain(x, HD_IR_mul, in, plain(x, HD_IR_sigmoid, y, -1));
    }
    y = op(x, one_in(x, 2) ? HD_IR_maxpool : HD_IR_avgpool, 1, &in, &node);
    hd_attr_set_ints(x->g, node, "kernel_shape", 2, (int64_t[]){3, 3});
    hd_attr_set_ints(x->g, node, "pads", 4, (int64_t[]){1, 1, 1, 1});
    return y;
}

static int rows(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    int node, y;
    int64_t len = t.dim[t.rank - 1], last = t.rank - 1;
    switch (small_range(x, 0, 3)) {
    case 0:
        y = op(x, HD_IR_softmax, 1, &in, &node);
        hd_attr_set_int(x->g, node, "axis", -1);
        return y;
    case 1:
        return op(x, HD_IR_layernorm, 3,
                  (int[]){in, channels(x, len, 1, 0, 0.5f, 1.5f), channels(x, len, 1, 0, -1, 1)},
                  &node);
    case 2: {
        int axes = hd_graph_const(x->g, "axes", HD_I64, 1, (int64_t[]){1}, &last);
        return op(x, one_in(x, 2) ? HD_IR_reducemax : HD_IR_reducemean, 2, (int[]){in, axes},
                  &node);
    }
    default: { /* x (x^T x), by an einsum or not */
        int64_t perm[HD_MAX_RANK];
        for (int d = 0; d < t.rank; d++) perm[d] = d;
        perm[last] = last - 1, perm[last - 1] = last;
        int turned = op(x, HD_IR_transpose, 1, &in, &node);
        hd_attr_set_ints(x->g, node, "perm", t.rank, perm);
        int s = plain(x, HD_IR_mul, plain(x, HD_IR_matmul, turned, in), scalar(x, 0.1f));
        if (one_in(x, 2)) s = quantised(x, s);
        return plain(x, HD_IR_matmul, in, s);
    }
    }
}

static int pair(struct net *x, int in) {
    static const enum hd_ir_op two[] = {HD_IR_add, HD_IR_sub, HD_IR_mul, HD_IR_max, HD_IR_min};
    struct hd_tensor t = *net_shape(x, in);
    for (int i = x->n_made; i-- > 0;) { /* another tensor of the same shape */
        const struct hd_tensor *o = net_shape(x, x->made[i]);
        if (x->made[i] == in || o->rank != t.rank ||
            memcmp(o->dim, t.dim, (size_t)t.rank * sizeof *t.dim))
            continue;
        if (one_in(x, 4)) {
            int node, y = op(x, HD_IR_concat, 2, (int[]){in, x->made[i]}, &node);
            hd_attr_set_int(x->g, node, "axis", 1);
            return y;
        }
        return plain(x, two[small_range(x, 0, 4)], in, x->made[i]);
    }
    return function(x, in);
}

/* A convolution of three dimensions, or the largest of windows of a volume. */
static int deep_window(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    bool pool = one_in(x, 4);
    int64_t c = t.dim[1], group = one_in(x, 3) ? (c % 2 || one_in(x, 2) ? c : 2) : 1,
            oc = group * small_range(x, 1, group > 2 ? 2 : 20), window[3], strides[3], pads[6];
    for (int i = 0; i < 3; i++) {
        window[i] = one_in(x, 2) || t.dim[2 + i] < 3 ? 1 : small_range(x, 2, 3);
        strides[i] = one_in(x, 4) ? 2 : 1;
        pads[i] = pads[3 + i] = window[i] / 2;
    }
    int64_t dim[5] = {oc, c / group, window[0], window[1], window[2]}, one[3] = {1, 1, 1};
    int node, ins[2] = {in, pool ? -1 : weights(x, 5, dim, 0, dim[1] * 9)};
    int y = op(x, pool ? HD_IR_maxpool : HD_IR_conv, pool ? 1 : 2, ins, &node);
    hd_attr_set_ints(x->g, node, "kernel_shape", 3, window);
    hd_attr_set_ints(x->g, node, "strides", 3, strides);
    hd_attr_set_ints(x->g, node, "dilations", 3, one);
    hd_attr_set_ints(x->g, node, "pads", 6, pads);
    if (!pool) hd_attr_set_int(x->g, node, "group", group);
    return y;
}

static int deep_mean(struct net *x, int in) {
    int node, y = op(x, HD_IR_avgpool, 1, &in, &node);
    hd_attr_set_ints(x->g, node, "kernel_shape", 3, &net_shape(x, in)->dim[2]);
    return y;
}

static int deep_layer(struct net *x, int in) {
    int pick = small_range(x, 0, 9);
    if (pick < 5) return deep_window(x, in);
    if (pick == 5) return plain(x, HD_IR_mul, in, plain(x, HD_IR_sigmoid, deep_mean(x, in), -1));
    return pick < 8 ? pair(x, in) : function(x, in);
}

static int layer(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    if (t.rank == 5) return deep_layer(x, in);
    int pick = small_range(x, 0, 9), node;
    bool image = t.rank == 4, big = hd_tensor_elems(&t) > 8000;
    if (pick < 3) return image ? convolution(x, in) : dense(x, in);
    if (pick < 5) return pair(x, in);
    if (pick == 5) return function(x, in);
    if (pick == 6 && t.rank >= 3) return per_channel(x, in);
    if (pick == 7 && image) return window(x, in);
    if (pick == 8 && !big) return rows(x, in);
    if (image && one_in(x, 3)) {
        int64_t dim[3] = {t.dim[0], t.dim[1], t.dim[2] * t.dim[3]};
        int y = op(x, HD_IR_reshape, 1, &in, &node);
        hd_attr_set_ints(x->g, node, "shape", 3, dim);
        return y;
    }
    if (image && one_in(x, 2))
        return op(x, HD_IR_instancenorm, 3,
                  (int[]){in, channels(x, t.dim[1], 1, 0, 0.5f, 1.5f),
                          channels(x, t.dim[1], 1, 0, -1, 1)},
                  &node);
    return function(x, in);
}

static hd_graph *generate(uint64_t seed, int n_layers, bool small) {
    struct net x = {.r = {seed * 7919 + 5}, .g = hd_graph_create()};
    int all[256], most = small ? 8 : 16, node;
    bool image = !one_in(&x, 4);
    int64_t dim[5] = {one_in(&x, 8) ? 2 : 1, small_range(&x, 1, 33), small_range(&x, 2, most),
                      small_range(&x, 2, most), small_range(&x, 2, 6)};
    bool volume = image && dim[2] < 9 && one_in(&x, 3);
    x.made = all;
    int in = hd_graph_tensor(x.g, "x", HD_I8, volume ? 5 : image ? 4 : 3, dim);
    hd_graph_input(x.g, in);
    int t = op(&x, HD_IR_dequantize, 3, (int[]){in, scalar(&x, 0.02f), byte(&x, HD_I8, 3)}, &node);
    infer(&x);
    x.made[x.n_made++] = t;
    for (int i = 0; i < n_layers; i++) {
        int from = x.made[x.n_made - (x.n_made > 1 && one_in(&x, 5) ? 2 : 1)];
        t = layer(&x, from);
        if (one_in(&x, 2)) t = quantised(&x, t);
        infer(&x);
        x.made[x.n_made++] = t;
    }
    int scale = scalar(&x, 0.03f), zero = byte(&x, HD_I8, -5);
    t = op(&x, HD_IR_quantize, 3, (int[]){t, scale, zero}, &node);
    x.g->tensors[t].dtype = HD_I8;
    hd_graph_output(x.g, t);
    return x.g;
}

int main(int argc, char **argv) {
    static const struct random_kind kind = {
        .name = "random_float", .most_layers = 12, .generate = generate, .legalize = true};
    return random_main(argc, argv, &kind);
}
