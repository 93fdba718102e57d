/* Layers of random networks: each adds operations behind a tensor of the graph, legal by the rules
 * of docs/numerics.md. The last tensor that a layer made is made[n_made - 1]; a layer that does not
 * fit its operand may add nothing. */
#ifndef HD_TEST_RANDOM_NET_H
#define HD_TEST_RANDOM_NET_H

#include "compiler/ir/ir.h"
#include "test/rng.h"

struct net {
    struct rng r;
    hd_graph *g;
    int *made; /* tensors made so far, graph input first */
    int n_made;
};

/* ---- net.c: what layers are made of ---- */
const struct hd_tensor *net_shape(const struct net *x, int t);
/* An operation with one result, noted in made. */
int net_add(struct net *x, enum hd_ir_op op, int n_in, const int *in, hd_dtype t, int rank,
            const int64_t *dim, int *out_node);
void net_set_shape(struct net *x, int t, const int64_t dim[4]);
/* A constant of bytes. */
int net_bytes(struct net *x, hd_dtype t, int rank, const int64_t *dim);
/* Result type, zero point and clamp; zero point of an operand. */
void net_requant(struct net *x, int node, hd_dtype t);
void net_zero_point(struct net *x, int node, const char *name, int tensor);
hd_dtype net_byte_type(struct net *x);
/* Constants: int8 weights, bias and scale of oc channels that sum up fan_in products. */
int net_weights(struct net *x, int rank, const int64_t *dim);
int net_weights_less_zero(struct net *x, int rank, const int64_t *dim); /* i8, or i16 of 9 bits */
void net_bias_and_scale(struct net *x, int oc, int64_t fan_in, int out[2]);

/* ---- net_window.c: layers with windows ---- */
/* fixed: the kernel is square, of that size, and not dilated; 0 = any. */
void net_conv_of(struct net *x, int in, int oc, int groups, int fixed);
void net_conv(struct net *x, int in);
void net_conv_transposed(struct net *x, int in);
void net_pool(struct net *x, int in, bool max);
void net_block(struct net *x, int in);
void net_branches(struct net *x, int in);
void net_dense_block(struct net *x, int in);

/* ---- net_rows.c: layers of rows, and of attention ---- */
void net_dense(struct net *x, int in);
void net_recurrent(struct net *x, int in);
void net_softmax(struct net *x, int in);
void net_layer_norm(struct net *x, int in);
void net_products(struct net *x, int in);
void net_attention(struct net *x, int in);

/* ---- net_elem.c: one element at a time ---- */
void net_residual(struct net *x, int in);
void net_mean(struct net *x, int in);
void net_linear(struct net *x, int in); /* resize; in: an image of one or two dimensions */
void net_rescale(struct net *x, int in);
void net_table(struct net *x, int in);

/* ---- net_move.c: movement of data ---- */
void net_move(struct net *x, int in);

#endif
