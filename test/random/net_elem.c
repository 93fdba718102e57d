/* Random layers that work on one element at a time, or on means. */
#include "test/random/net.h"

#include <stdlib.h>
#include <string.h>

/* Something that broadcasts to the shape of a: a constant, or a slice of a. */
static int partner(struct net *x, int a) {
    struct hd_tensor t = *net_shape(x, a);
    int64_t zero[HD_MAX_RANK] = {0}, n = t.rank;
    int node;
    for (int d = 0; d < t.rank; d++)
        if (rng_next(&x->r) % 3 == 0) t.dim[d] = 1;
    if (rng_next(&x->r) % 2) return net_bytes(x, net_byte_type(x), t.rank, t.dim);
    int in[3] = {a, hd_graph_const(x->g, "i", HD_I64, 1, &n, zero),
                 hd_graph_const(x->g, "i", HD_I64, 1, &n, t.dim)};
    return net_add(x, HD_IR_slice, 3, in, t.dtype, t.rank, t.dim, &node);
}

/* a + b, a * b or a / b with the same shape, or what broadcasts to it; b may be a itself. */
void net_residual(struct net *x, int a) {
    int b = a, node;
    for (int i = 0; i < x->n_made; i++) {
        const struct hd_tensor *t = net_shape(x, x->made[i]), *s = net_shape(x, a);
        if (t->rank == s->rank && !memcmp(t->dim, s->dim, sizeof *t->dim * (size_t)t->rank) &&
            rng_next(&x->r) % 2)
            b = x->made[i];
    }
    if (net_shape(x, a)->rank == 4 && rng_next(&x->r) % 3 == 0) { /* [N,C,1,1] meets [N,C,H,W] */
        net_mean(x, a);
        b = x->made[x->n_made - 1];
    }
    if (rng_next(&x->r) % 3 == 0) b = partner(x, a);
    int in[2] = {a, b};
    if (b != a && rng_next(&x->r) % 2) in[0] = b, in[1] = a;
    hd_dtype type = net_byte_type(x);
    int64_t dim[HD_MAX_RANK];
    memcpy(dim, net_shape(x, a)->dim, sizeof dim);
    a = in[0], b = in[1];
    int rank = net_shape(x, a)->rank;
    static const enum hd_ir_op ops[] = {
#define QPAIR(name, ...) HD_IR_##name,
#include "compiler/ir/qpair.def"
    };
    enum hd_ir_op op = ops[rng_next(&x->r) % (sizeof ops / sizeof *ops)];
    net_add(x, op, 2, in, type, rank, dim, &node);
    hd_attr_set_float(x->g, node, "scale", rng_float(&x->r, 0.002f, 0.03f));
    net_zero_point(x, node, "a_zp", a);
    net_zero_point(x, node, "b_zp", b);
    hd_attr_set_float(x->g, node, "a_scale", rng_float(&x->r, 0.1f, 1.3f));
    hd_attr_set_float(x->g, node, "b_scale", rng_float(&x->r, 0.1f, 1.3f));
    net_requant(x, node, type);
}

/* n places of `size`, and what of each and of the one behind it results take: as resizing gives
 * them, or anything that ascends. */
static void places(struct net *x, int size, int n, float by, int out[2]) {
    int32_t *at = calloc((size_t)n, sizeof *at);
    float *w = calloc(2 * (size_t)n, sizeof *w);
    bool even = rng_next(&x->r) % 3;
    for (int i = 0; i < n; i++) {
        float f = ((float)i + 0.5f) * (float)size / (float)n - 0.5f;
        if (f < 0) f = 0;
        at[i] = (int32_t)(f < (float)(size - 1) ? f : (float)(size - 1));
        f = even ? f - (float)at[i] : rng_float(&x->r, -0.5f, 1.5f);
        if (!even && rng_next(&x->r) % 4 == 0 && i) at[i] = at[i - 1];
        if (!even && i && at[i] < at[i - 1]) at[i] = at[i - 1];
        w[2 * i] = (1 - f) * by, w[2 * i + 1] = f * by;
    }
    out[0] = hd_graph_const_i32(x->g, "at", n, at);
    out[1] = hd_graph_const(x->g, "by", HD_F32, 2, (int64_t[]){n, 2}, w);
    free(at);
    free(w);
}

void net_linear(struct net *x, int in) {
    int64_t dim[HD_MAX_RANK];
    int node, rank = net_shape(x, in)->rank, ins[5] = {in}, size[2] = {1, 1}, n[2] = {1, 1};
    memcpy(dim, net_shape(x, in)->dim, sizeof dim);
    for (int i = rank == 3; i < 2; i++) {
        size[i] = (int)dim[i + rank - 2];
        n[i] = rng_next(&x->r) % 2 ? size[i] * 2 : (int)rng_range(&x->r, 1, 2 * size[i] + 1);
        dim[i + rank - 2] = n[i];
    }
    for (int i = 0; i < 2; i++)
        places(x, size[i], n[i], i ? rng_float(&x->r, 0.3f, 2) : 1, ins + 1 + 2 * i);
    hd_dtype type = net_byte_type(x);
    net_add(x, HD_IR_qresize, 5, ins, type, rank, dim, &node);
    net_zero_point(x, node, "x_zp", in);
    net_requant(x, node, type);
}

void net_mean(struct net *x, int in) {
    int64_t dim[4] = {net_shape(x, in)->dim[0], net_shape(x, in)->dim[1], 1, 1};
    float count = (float)(net_shape(x, in)->dim[2] * net_shape(x, in)->dim[3]);
    int node;
    hd_dtype type = net_byte_type(x);
    net_add(x, HD_IR_qmean, 1, &in, type, 4, dim, &node);
    net_zero_point(x, node, "x_zp", in);
    bool exact = rng_range(&x->r, 0, 1); /* sums of integers */
    hd_attr_set_float(x->g, node, "x_scale", exact ? 1 : rng_float(&x->r, 0.01f, 0.3f));
    hd_attr_set_float(x->g, node, "scale",
                      (exact ? 0.1f : 1) / (count * rng_float(&x->r, 0.01f, 0.2f)));
    net_requant(x, node, type);
}

void net_rescale(struct net *x, int in) {
    int node;
    int64_t dim[HD_MAX_RANK];
    hd_dtype type = net_byte_type(x);
    memcpy(dim, net_shape(x, in)->dim, sizeof dim);
    net_add(x, HD_IR_qrescale, 1, &in, type, net_shape(x, in)->rank, dim, &node);
    net_zero_point(x, node, "x_zp", in);
    hd_attr_set_float(x->g, node, "scale", rng_float(&x->r, 0.3f, 2.0f));
    net_requant(x, node, type);
}

void net_table(struct net *x, int in) {
    uint8_t bytes[256];
    const struct hd_tensor *t = net_shape(x, in);
    int64_t dim[HD_MAX_RANK];
    int node, rank = t->rank;
    memcpy(dim, t->dim, sizeof dim);
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)rng_next(&x->r);
    hd_dtype type = net_byte_type(x);
    int ins[2] = {in, hd_graph_const(x->g, "table", type, 1, (int64_t[]){256}, bytes)};
    net_add(x, HD_IR_qtable, 2, ins, type, rank, dim, &node);
}
