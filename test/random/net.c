/* What layers of random networks are made of. */
#include "test/random/net.h"

#include "runtime/base/num.h"

#include <stdlib.h>
#include <string.h>

const struct hd_tensor *net_shape(const struct net *x, int t) {
    return &x->g->tensors[t];
}

int net_add(struct net *x, enum hd_ir_op op, int n_in, const int *in, hd_dtype t, int rank,
            const int64_t *dim, int *out_node) {
    int y = hd_graph_tensor(x->g, "t", t, rank, dim);
    *out_node = hd_graph_node(x->g, op, hd_ir_ops[op].name, n_in, in, 1, &y);
    return x->made[x->n_made++] = y;
}

void net_requant(struct net *x, int node, hd_dtype t) {
    int lo = t == HD_U8 ? 0 : -128, hi = lo + 255, zp = rng_range(&x->r, lo, hi);
    hd_attr_set_string(x->g, node, "to", hd_dtype_name(t));
    hd_attr_set_int(x->g, node, "y_zp", zp);
    hd_attr_set_int(x->g, node, "lo", rng_next(&x->r) % 3 ? lo : zp); /* fused relu now and then */
    hd_attr_set_int(x->g, node, "hi", hi);
}

void net_zero_point(struct net *x, int node, const char *name, int tensor) {
    int lo = net_shape(x, tensor)->dtype == HD_U8 ? 0 : -128;
    hd_attr_set_int(x->g, node, name, rng_range(&x->r, lo, lo + 255));
}

hd_dtype net_byte_type(struct net *x) {
    return rng_next(&x->r) % 3 ? HD_I8 : HD_U8;
}

/* One in five has a zero point, so that weights take 9 bits: many, or few as in most networks. */
int net_weights_less_zero(struct net *x, int rank, const int64_t *dim) {
    if (rng_next(&x->r) % 5) return net_weights(x, rank, dim);
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dim[i];
    int16_t *w = malloc((size_t)n * sizeof *w);
    int least = -rng_range(&x->r, 0, 255), few = rng_range(&x->r, 0, 1);
    for (int64_t i = 0; i < n; i++) {
        int v = rng_range(&x->r, least, least + 255);
        w[i] = (int16_t)(few && rng_range(&x->r, 0, 199) ? hd_max(-128, hd_min(v, 127)) : v);
    }
    int t = hd_graph_const(x->g, "w", HD_I16, rank, dim, w);
    free(w);
    return t;
}

int net_weights(struct net *x, int rank, const int64_t *dim) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dim[i];
    int8_t *w = malloc((size_t)n);
    for (int64_t i = 0; i < n; i++) w[i] = (int8_t)rng_range(&x->r, -128, 127);
    int t = hd_graph_const(x->g, "w", HD_I8, rank, dim, w);
    free(w);
    return t;
}

void net_bias_and_scale(struct net *x, int oc, int64_t fan_in, int out[2]) {
    int32_t *b = malloc(sizeof *b * (size_t)oc);
    float *s = malloc(sizeof *s * (size_t)oc);
    for (int i = 0; i < oc; i++) {
        b[i] = rng_range(&x->r, -20000, 20000);
        s[i] = rng_float(&x->r, 0.2f, 1.5f) / (float)(fan_in * 64);
    }
    out[0] = hd_graph_const_i32(x->g, "b", oc, b);
    out[1] = hd_graph_const_f32(x->g, "s", oc, s);
    free(b);
    free(s);
}

void net_set_shape(struct net *x, int t, const int64_t dim[4]) {
    struct hd_tensor *y = &x->g->tensors[t];
    memcpy(y->dim, dim, 4 * sizeof *dim);
}

int net_bytes(struct net *x, hd_dtype type, int rank, const int64_t *dim) {
    int w = net_weights(x, rank, dim);
    x->g->tensors[w].dtype = type;
    return w;
}
