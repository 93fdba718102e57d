/* Random layers of rows: dense, recurrent, softmax, norm, attention. */
#include "test/random/net.h"

#include <stdlib.h>
#include <string.h>

void net_dense(struct net *x, int in) {
    const struct hd_tensor *t = net_shape(x, in);
    int64_t rows = t->dim[0], depth = t->dim[1];
    int node, oc = rng_range(&x->r, 1, 150);
    if (t->rank > 2) { /* an image as one row, or each row along the last dimension */
        int64_t all = hd_tensor_elems(t);
        depth = rng_next(&x->r) % 2 ? all / rows : t->dim[t->rank - 1];
        rows = all / depth;
        int64_t flat[2] = {rows, depth};
        in = net_add(x, HD_IR_reshape, 1, &in, t->dtype, 2, flat, &node);
        hd_attr_set_ints(x->g, node, "shape", 2, flat);
    }
    int64_t wdim[2] = {oc, depth}, dim[2] = {rows, oc};
    hd_dtype type = net_byte_type(x);
    int bs[2], w = net_weights_less_zero(x, 2, wdim);
    net_bias_and_scale(x, oc, depth, bs);
    int ins[4] = {in, w, bs[0], bs[1]};
    net_add(x, HD_IR_qgemm, 4, ins, type, 2, dim, &node);
    net_zero_point(x, node, "x_zp", in);
    net_requant(x, node, type);
}

/* The last dimension as a sequence of rows, one after the other; random_rnn has more of them. */
void net_recurrent(struct net *x, int in) {
    static const enum hd_ir_op ops[] = {HD_IR_qlstm, HD_IR_qgru, HD_IR_qrnn};
    const struct hd_tensor *t = net_shape(x, in);
    int64_t depth = t->dim[t->rank - 1], steps = hd_tensor_elems(t) / depth;
    if (steps > 80) return;
    int kind = rng_range(&x->r, 0, 2), gates = 4 - kind - kind / 2, h = rng_range(&x->r, 1, 50),
        node;
    int64_t gh = gates * h, three[3] = {steps, 1, depth}, wd[3] = {1, gh, depth},
            rd[3] = {1, gh, h};
    int64_t pd[3] = {1, 2, gh}, dim[4] = {steps, 1, 1, h};
    in = net_add(x, HD_IR_reshape, 1, &in, t->dtype, 3, three, &node);
    hd_attr_set_ints(x->g, node, "shape", 3, three);
    int32_t *bias = malloc(sizeof *bias * (size_t)(2 * gh));
    float *scales = malloc(sizeof *scales * (size_t)(2 * gh));
    for (int64_t i = 0; i < 2 * gh; i++) {
        bias[i] = rng_range(&x->r, -3000, 3000);
        scales[i] = rng_float(&x->r, 0.2f, 3.0f) / (float)(60 * (i < gh ? depth : h) + 200);
    }
    int ins[5] = {in, net_weights(x, 3, wd), net_weights(x, 3, rd),
                  hd_graph_const(x->g, "b", HD_I32, 3, pd, bias),
                  hd_graph_const(x->g, "s", HD_F32, 3, pd, scales)};
    free(bias);
    free(scales);
    hd_dtype type = net_byte_type(x);
    net_add(x, ops[kind], 5, ins, type, 4, dim, &node);
    net_zero_point(x, node, "x_zp", in);
    net_requant(x, node, type);
    hd_attr_set_float(x->g, node, "scale", rng_float(&x->r, 80, 200));
    hd_attr_set_int(x->g, node, "linear_before_reset", rng_next(&x->r) % 2);
    if (rng_next(&x->r) % 2) hd_attr_set_string(x->g, node, "direction", "reverse");
}

/* ---- attention ---- */

void net_softmax(struct net *x, int in) {
    const struct hd_tensor *t = net_shape(x, in);
    int64_t dim[HD_MAX_RANK];
    int node, rank = t->rank, axis = rng_next(&x->r) % 4 ? rank - 1 : rng_range(&x->r, 0, rank - 1);
    memcpy(dim, t->dim, sizeof dim);
    hd_dtype type = net_byte_type(x);
    net_add(x, HD_IR_qsoftmax, 1, &in, type, rank, dim, &node);
    hd_attr_set_int(x->g, node, "axis", axis);
    hd_attr_set_float(x->g, node, "x_scale", rng_float(&x->r, 0.001f, 0.3f));
    hd_attr_set_float(x->g, node, "scale", rng_float(&x->r, 64, 4000));
    net_requant(x, node, type);
}

void net_layer_norm(struct net *x, int in) {
    const struct hd_tensor *t = net_shape(x, in);
    int64_t dim[HD_MAX_RANK];
    int node, rank = t->rank, n = (int)t->dim[rank - 1], ins[3] = {in, -1, -1};
    memcpy(dim, t->dim, sizeof dim);
    float *v = malloc(sizeof *v * (size_t)n);
    for (int k = 1; k < 3; k++) {
        float most = k == 2 && rng_next(&x->r) % 3 == 0 ? 0 : 60; /* many norms have no bias */
        for (int i = 0; i < n; i++) v[i] = rng_float(&x->r, -most, most);
        ins[k] = hd_graph_const_f32(x->g, "v", n, v);
    }
    free(v);
    hd_dtype type = net_byte_type(x);
    net_add(x, HD_IR_qlayernorm, 3, ins, type, rank, dim, &node);
    hd_attr_set_float(x->g, node, "epsilon", rng_float(&x->r, 0, 2));
    if (rng_next(&x->r) % 3 == 0) {
        hd_attr_set_int(x->g, node, "centred", 0);
        net_zero_point(x, node, "x_zp", in);
    }
    net_requant(x, node, type);
}

static int permuted(struct net *x, int in, int rank, const int64_t *perm) {
    int64_t dim[HD_MAX_RANK];
    int node;
    for (int i = 0; i < rank; i++) dim[i] = net_shape(x, in)->dim[perm[i]];
    int y = net_add(x, HD_IR_transpose, 1, &in, net_shape(x, in)->dtype, rank, dim, &node);
    hd_attr_set_ints(x->g, node, "perm", rank, perm);
    return y;
}

static int shaped(struct net *x, int in, int rank, const int64_t *dim) {
    int node, y = net_add(x, HD_IR_reshape, 1, &in, net_shape(x, in)->dtype, rank, dim, &node);
    hd_attr_set_ints(x->g, node, "shape", rank, dim);
    return y;
}

/* What computed the values of a tensor; NULL: an input. */
static const struct hd_node *made_by(const struct net *x, int t) {
    for (int maker; (maker = net_shape(x, t)->producer) >= 0; t = x->g->nodes[maker].in[0]) {
        enum hd_ir_op op = x->g->nodes[maker].op;
        if (op != HD_IR_transpose && op != HD_IR_reshape) return &x->g->nodes[maker];
    }
    return NULL;
}

/* a [.., M, K] by b [.., K, N]; batches are a's. */
static int product(struct net *x, int a, int b) {
    int64_t dim[HD_MAX_RANK];
    int node, rank = net_shape(x, a)->rank, in[2] = {a, b};
    memcpy(dim, net_shape(x, a)->dim, sizeof dim);
    dim[rank - 1] = net_shape(x, b)->dim[net_shape(x, b)->rank - 1];
    hd_dtype type = net_byte_type(x);
    float depth = (float)net_shape(x, a)->dim[rank - 1];
    int y = net_add(x, HD_IR_qmatmul, 2, in, type, rank, dim, &node);
    net_zero_point(x, node, "a_zp", a);
    net_zero_point(x, node, "b_zp", b);
    const struct hd_node *maker = made_by(x, a);
    int pick = (int)(rng_next(&x->r) % 4);
    if (pick == 0 && maker) /* as in a network */
        hd_attr_set_int(x->g, node, "a_zp", hd_attr_int(maker, "y_zp", 0));
    if (pick > 1) hd_attr_set_int(x->g, node, "a_zp", 0);
    if (rng_next(&x->r) % 2) hd_attr_set_int(x->g, node, "b_zp", 0);
    hd_attr_set_float(x->g, node, "scale", rng_float(&x->r, 0.2f, 1.5f) / (depth * 64));
    net_requant(x, node, type);
    return y;
}

/* x x^T, now and then its softmax, and that by x again. */
void net_products(struct net *x, int in) {
    int rank = net_shape(x, in)->rank;
    int64_t perm[HD_MAX_RANK];
    for (int i = 0; i < rank; i++) perm[i] = i;
    perm[rank - 1] = rank - 2, perm[rank - 2] = rank - 1;
    int s = product(x, in, permuted(x, in, rank, perm));
    if (rng_next(&x->r) % 2) net_softmax(x, s);
    if (rng_next(&x->r) % 2) product(x, x->made[x->n_made - 1], in);
}

/* Rows of int8 by weights: what heads are cut from. */
static int projection(struct net *x, int in, int width) {
    int64_t depth = net_shape(x, in)->dim[1], wdim[2] = {width, depth},
            dim[2] = {net_shape(x, in)->dim[0], width};
    int bs[2], node, w = net_weights_less_zero(x, 2, wdim);
    net_bias_and_scale(x, width, depth, bs);
    int ins[4] = {in, w, bs[0], bs[1]}, y = net_add(x, HD_IR_qgemm, 4, ins, HD_I8, 2, dim, &node);
    net_zero_point(x, node, "x_zp", in);
    net_requant(x, node, HD_I8);
    return y;
}

/* Attention of several heads over all rows of the operand, as exporters write it. */
void net_attention(struct net *x, int in) {
    const struct hd_tensor *t = net_shape(x, in);
    static const int widths[] = {8, 16, 16, 32, 32, 5, 64};
    int64_t c = t->dim[t->rank - 1], rows = hd_tensor_elems(t) / c, flat[2] = {rows, c};
    int heads = rng_range(&x->r, 1, 4), d = widths[rng_range(&x->r, 0, 6)], head[3],
        wide = heads * d;
    if (rows > 1024) return; /* their products are as many as a large network has */
    int batch = rows % 2 == 0 && rng_next(&x->r) % 3 == 0 ? 2 : 1;
    int from = t->rank == 2 ? in : shaped(x, in, 2, flat);
    int64_t split[4] = {batch, rows / batch, heads, d}, perm[4] = {0, 2, 1, 3},
            back[2] = {rows, wide};
    for (int i = 0; i < 3; i++) {
        int64_t turned[4] = {0, 2, i == 1 ? 3 : 1, i == 1 ? 1 : 3};
        head[i] = permuted(x, shaped(x, projection(x, from, wide), 4, split), 4, turned);
    }
    net_softmax(x, product(x, head[0], head[1]));
    int y = product(x, x->made[x->n_made - 1], head[2]);
    projection(x, shaped(x, permuted(x, y, 4, perm), 2, back), rng_range(&x->r, 1, 40));
}
