/* Layers: see layers.h. */
#include "runtime/train/layers.h"

#include <math.h>
#include <string.h>

#include "compiler/grad/optimizer.h"

void hd_layers_init(struct hd_layers *l, hd_ctx *ctx, const char *name, uint32_t seed) {
    *l = (struct hd_layers){.b = {.ctx = ctx, .g = hd_graph_create(), .arena = hd_arena_create()},
                            .seed = seed};
    l->b.prefix = name;
    l->b.g->name = hd_strdup(l->b.g->arena, name);
}

hd_status hd_layers_finish(struct hd_layers *l, int x, hd_graph **out) {
    return hd_layers_finish_all(l, 1, &x, out);
}

hd_status hd_layers_finish_all(struct hd_layers *l, int n, const int *x, hd_graph **out) {
    hd_status s = l->b.status;
    if (s == HD_OK) {
        for (int i = 0; i < n; i++) hd_graph_output(l->b.g, x[i]);
        s = hd_graph_verify(l->b.ctx, l->b.g);
    }
    *out = s == HD_OK ? l->b.g : NULL;
    if (s != HD_OK) hd_graph_destroy(l->b.g);
    hd_arena_destroy(l->b.arena);
    return s;
}

void hd_layers_again(struct hd_layers *l, int n, bool frozen) {
    l->n = n, l->again = true, l->frozen = frozen;
}

void hd_layers_go_on(struct hd_layers *l) {
    l->again = l->frozen = false;
}

static int input(struct hd_layers *l, const char *name, hd_dtype type, int rank, const int64_t *dim,
                 const char *const *axes) {
    int x = hd_graph_tensor(l->b.g, name, type, rank, dim);
    for (int d = 0; d < rank && axes; d++)
        if (axes[d]) hd_tensor_set_axis(l->b.g, x, d, hd_graph_axis(l->b.g, axes[d], dim[d]));
    hd_graph_input(l->b.g, x);
    return x;
}

int hd_layer_input(struct hd_layers *l, const char *name, int rank, const int64_t *dim,
                   const char *const *axes) {
    return input(l, name, HD_F32, rank, dim, axes);
}

int hd_layer_integers(struct hd_layers *l, const char *name, int rank, const int64_t *dim,
                      const char *const *axes) {
    return input(l, name, HD_I64, rank, dim, axes);
}

int hd_layer_gradient(struct hd_layers *l, int x, double factor) {
    int node = hd_b_start(&l->b, HD_IR_identity, 1, &x, 1);
    hd_b_float(&l->b, node, "gradient", factor);
    return hd_b_end(&l->b, node);
}

/* Two hashes to a normal number (Box and Muller). */
static double normal(uint32_t seed, uint32_t i) {
    uint32_t a = hd_random_hash(seed ^ hd_random_hash(2 * i));
    uint32_t b = hd_random_hash(seed ^ hd_random_hash(2 * i + 1));
    double u = ((double)a + 1) / 4294967296.0, v = (double)b / 4294967296.0;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* The weights of a layer that is there once more. */
static int known_weights(struct hd_layers *l, const char *name) {
    int t = hd_tensor_by_name(l->b.g, name);
    if (t < 0) {
        l->b.status = hd_fail(l->b.ctx, HD_INVALID, "%s: there is no layer with weights '%s' yet",
                              l->b.g->name, name);
        return -1;
    }
    return l->frozen ? hd_layer_gradient(l, t, 0) : t;
}

static int constant(struct hd_layers *l, const char *name, int rank, const int64_t *dim,
                    const float *v) {
    if (l->b.status != HD_OK) return -1;
    return l->again ? known_weights(l, name) : hd_graph_const(l->b.g, name, HD_F32, rank, dim, v);
}

int hd_layer_weights(struct hd_layers *l, const char *name, int rank, const int64_t *dim,
                     double deviation) {
    struct hd_tensor t = {.dtype = HD_F32, .rank = rank};
    if (l->b.status != HD_OK) return -1;
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    int64_t n = hd_tensor_elems(&t);
    float *v = hd_new_array(l->b.arena, float, (size_t)n + 1);
    uint32_t seed = hd_random_hash(l->seed + hd_random_hash((uint32_t)l->b.g->n_tensors));
    for (int64_t i = 0; i < n && deviation > 0; i++)
        v[i] = (float)(deviation * normal(seed, (uint32_t)i));
    return constant(l, name, rank, dim, v);
}

int hd_layer_filled(struct hd_layers *l, const char *name, int64_t n, float value) {
    float *v = hd_new_array(l->b.arena, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = value;
    return constant(l, name, 1, &n, v);
}

const char *hd_layer_name(struct hd_layers *l, const char *kind) {
    l->b.prefix = hd_sprintf(l->b.arena, "%s%d", kind, ++l->n);
    return l->b.prefix;
}

static int conv(struct hd_layers *l, int x, int64_t channels, int64_t size, int64_t stride,
                int64_t group) {
    const char *name = hd_layer_name(l, group > 1 ? "depthwise" : "conv");
    if (l->b.status != HD_OK) return -1;
    int64_t in = hd_b_shape(&l->b, x).dim[1] / group, pad = (size - 1) / 2;
    int64_t dim[4] = {channels, in, size, size};
    double deviation = sqrt(2.0 / (double)(in * size * size));
    int w = hd_layer_weights(l, hd_sprintf(l->b.arena, "%s.w", name), 4, dim, deviation);
    int bias = hd_layer_weights(l, hd_sprintf(l->b.arena, "%s.b", name), 1, &channels, 0);
    int node = hd_b_start(&l->b, HD_IR_conv, 3, (int[]){x, w, bias}, 1);
    hd_b_ints(&l->b, node, "strides", 2, (int64_t[]){stride, stride});
    hd_b_ints(&l->b, node, "pads", 4, (int64_t[]){pad, pad, pad, pad});
    hd_b_ints(&l->b, node, "kernel_shape", 2, (int64_t[]){size, size});
    hd_b_int(&l->b, node, "group", group);
    return hd_b_end(&l->b, node);
}

int hd_layer_conv(struct hd_layers *l, int x, int64_t channels, int64_t size, int64_t stride) {
    return conv(l, x, channels, size, stride, 1);
}

int hd_layer_depthwise(struct hd_layers *l, int x, int64_t size, int64_t stride) {
    int64_t channels = hd_b_shape(&l->b, x).dim[1];
    return conv(l, x, channels, size, stride, channels);
}

int hd_layer_transposed(struct hd_layers *l, int x, int64_t channels, int64_t size,
                        int64_t stride) {
    const char *name = hd_layer_name(l, "transposed");
    if (l->b.status != HD_OK) return -1;
    int64_t in = hd_b_shape(&l->b, x).dim[1], pad = (size - 1) / 2, more = stride - 1;
    int64_t dim[4] = {in, channels, size, size};
    double deviation = sqrt(2.0 * (double)(stride * stride) / (double)(in * size * size));
    int w = hd_layer_weights(l, hd_sprintf(l->b.arena, "%s.w", name), 4, dim, deviation);
    int bias = hd_layer_weights(l, hd_sprintf(l->b.arena, "%s.b", name), 1, &channels, 0);
    int node = hd_b_start(&l->b, HD_IR_convtranspose, 3, (int[]){x, w, bias}, 1);
    hd_b_ints(&l->b, node, "strides", 2, (int64_t[]){stride, stride});
    hd_b_ints(&l->b, node, "pads", 4, (int64_t[]){pad, pad, pad, pad});
    hd_b_ints(&l->b, node, "output_padding", 2, (int64_t[]){more, more});
    hd_b_ints(&l->b, node, "kernel_shape", 2, (int64_t[]){size, size});
    return hd_b_end(&l->b, node);
}

int hd_layer_dense(struct hd_layers *l, int x, int64_t n) {
    const char *name = hd_layer_name(l, "dense");
    if (l->b.status != HD_OK) return -1;
    struct hd_tensor t = hd_b_shape(&l->b, x);
    int64_t in = t.dim[0] ? hd_tensor_elems(&t) / t.dim[0] : 0, dim[2] = {n, in};
    int w =
        hd_layer_weights(l, hd_sprintf(l->b.arena, "%s.w", name), 2, dim, sqrt(2.0 / (double)in));
    int bias = hd_layer_weights(l, hd_sprintf(l->b.arena, "%s.b", name), 1, &n, 0);
    x = hd_b_reshape(&l->b, x, 2, (int64_t[]){t.dim[0], in});
    int node = hd_b_start(&l->b, HD_IR_gemm, 3, (int[]){x, w, bias}, 1);
    hd_b_int(&l->b, node, "transB", 1);
    return hd_b_end(&l->b, node);
}

int hd_layer_linear(struct hd_layers *l, int x, int64_t n) {
    struct hd_tensor t = hd_b_shape(&l->b, x);
    int64_t in = t.rank ? t.dim[t.rank - 1] : 0, rows = in ? hd_tensor_elems(&t) / in : 0;
    x = hd_layer_dense(l, hd_b_reshape(&l->b, x, 2, (int64_t[]){rows, in}), n);
    t.dim[t.rank > 0 ? t.rank - 1 : 0] = n;
    return hd_b_reshape(&l->b, x, t.rank, t.dim);
}

int hd_layer_relu(struct hd_layers *l, int x) {
    hd_layer_name(l, "relu");
    return hd_b(&l->b, relu, x);
}

int hd_layer_tanh(struct hd_layers *l, int x) {
    hd_layer_name(l, "tanh");
    return hd_b(&l->b, tanh, x);
}

int hd_layer_sigmoid(struct hd_layers *l, int x) {
    hd_layer_name(l, "sigmoid");
    return hd_b(&l->b, sigmoid, x);
}

int hd_layer_gelu(struct hd_layers *l, int x) {
    hd_layer_name(l, "gelu");
    return hd_b(&l->b, gelu, x);
}

int hd_layer_add(struct hd_layers *l, int x, int y) {
    hd_layer_name(l, "add");
    return hd_b(&l->b, add, x, y);
}

int hd_layer_scale(struct hd_layers *l, int x, double factor) {
    hd_layer_name(l, "scale");
    return hd_b(&l->b, mul, x, hd_b_number(&l->b, HD_F32, factor));
}

int hd_layer_norm(struct hd_layers *l, int x) {
    const char *name = hd_layer_name(l, "norm");
    if (l->b.status != HD_OK) return -1;
    struct hd_tensor t = hd_b_shape(&l->b, x);
    int64_t n = t.dim[t.rank - 1];
    int scale = hd_layer_filled(l, hd_sprintf(l->b.arena, "%s.scale", name), n, 1);
    int bias = hd_layer_filled(l, hd_sprintf(l->b.arena, "%s.bias", name), n, 0);
    return hd_b(&l->b, layernorm, x, scale, bias);
}

int hd_layer_max(struct hd_layers *l, int x) {
    hd_layer_name(l, "max");
    int node = hd_b_start(&l->b, HD_IR_maxpool, 1, &x, 1);
    hd_b_ints(&l->b, node, "kernel_shape", 2, (int64_t[]){2, 2});
    hd_b_ints(&l->b, node, "strides", 2, (int64_t[]){2, 2});
    return hd_b_end(&l->b, node);
}

int hd_layer_pool(struct hd_layers *l, int x) {
    hd_layer_name(l, "pool");
    int node = hd_b_start(&l->b, HD_IR_avgpool, 1, &x, 1);
    hd_b_int(&l->b, node, "global", 1);
    x = hd_b_end(&l->b, node);
    struct hd_tensor t = hd_b_shape(&l->b, x);
    return hd_b_reshape(&l->b, x, 2, t.dim);
}

int hd_layer_conv_norm(struct hd_layers *l, int x, int64_t channels, int64_t size, int64_t stride) {
    return hd_layer_batchnorm(l, hd_layer_conv(l, x, channels, size, stride));
}

int hd_layer_residual(struct hd_layers *l, int x, int64_t channels, int64_t stride) {
    int y = hd_layer_relu(l, hd_layer_conv_norm(l, x, channels, 3, stride));
    y = hd_layer_conv_norm(l, y, channels, 3, 1);
    if (stride > 1) x = hd_layer_conv_norm(l, x, channels, 1, stride);
    return hd_layer_relu(l, hd_layer_add(l, x, y));
}
