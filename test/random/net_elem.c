/* Random layers that work on one element at a time, or on means. */
#include "test/random/net.h"

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

/* a + b or a * b with the same shape, or what broadcasts to it; b may be a itself. */
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
    bool product = rng_next(&x->r) % 2;
    net_add(x, product ? HD_IR_qmul : HD_IR_qadd, 2, in, type, rank, dim, &node);
    hd_attr_set_float(x->g, node, "scale", rng_float(&x->r, 0.002f, 0.03f));
    net_zero_point(x, node, "a_zp", a);
    net_zero_point(x, node, "b_zp", b);
    hd_attr_set_float(x->g, node, "a_scale", rng_float(&x->r, 0.1f, 1.3f));
    hd_attr_set_float(x->g, node, "b_scale", rng_float(&x->r, 0.1f, 1.3f));
    net_requant(x, node, type);
}

void net_mean(struct net *x, int in) {
    int64_t dim[4] = {net_shape(x, in)->dim[0], net_shape(x, in)->dim[1], 1, 1};
    float count = (float)(net_shape(x, in)->dim[2] * net_shape(x, in)->dim[3]);
    int node;
    hd_dtype type = net_byte_type(x);
    net_add(x, HD_IR_qmean, 1, &in, type, 4, dim, &node);
    net_zero_point(x, node, "x_zp", in);
    hd_attr_set_float(x->g, node, "x_scale", rng_float(&x->r, 0.01f, 0.3f));
    hd_attr_set_float(x->g, node, "scale", 1 / (count * rng_float(&x->r, 0.01f, 0.2f)));
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
