/* Networks made of layers: tensors with named axes, weights with initial values.
 *
 *   struct hd_layers l;
 *   hd_layers_init(&l, ctx, "tiny", seed);
 *   int x = hd_layer_input(&l, "x", 4, dims, axes);
 *   x = hd_layer_relu(&l, hd_layer_conv(&l, x, 16, 3, 1));
 *   x = hd_layer_dense(&l, hd_layer_pool(&l, x), 10);
 *   TRY(hd_layers_finish(&l, x, &g));
 *
 * A network that ends in a loss (losses.h) is for the trainer. The one that runs is made by the
 * same calls, without the loss and without `training`: its weights have the same names. The first
 * dimension of every input is the batch. After an error, which finish gives, layers do nothing.
 * Same seed, same weights. */
#ifndef HD_TRAIN_LAYERS_H
#define HD_TRAIN_LAYERS_H

#include "compiler/grad/build.h"

struct hd_layers {
    struct hd_back b;
    uint32_t seed;
    int n; /* layers so far: names, and streams of random numbers */
    /* dropout drops; batch norm takes the batch's statistics, and follows them */
    bool training;
    bool again, frozen; /* hd_layers_again */
    int step;           /* tensor + 1: the number of the step */
};

void hd_layers_init(struct hd_layers *l, hd_ctx *ctx, const char *name, uint32_t seed);
/* x is the only result. *out is the caller's; NULL after an error. Ends l either way. */
hd_status hd_layers_finish(struct hd_layers *l, int x, hd_graph **out);

/* The same with n results. */
hd_status hd_layers_finish_all(struct hd_layers *l, int n, const int *x, hd_graph **out);
/* The layers that follow are those behind layer n once more: the calls are the same, and so are
 * the weights. frozen: no gradient goes to them. */
void hd_layers_again(struct hd_layers *l, int n, bool frozen);
void hd_layers_go_on(struct hd_layers *l); /* layers have weights of their own again */

int hd_layer_input(struct hd_layers *l, const char *name, int rank, const int64_t *dim,
                   const char *const *axes);
int hd_layer_integers(struct hd_layers *l, const char *name, int rank, const int64_t *dim,
                      const char *const *axes); /* an input of i64: classes, characters */
/* x, whose gradient is multiplied on the way back; 0: none comes through. */
int hd_layer_gradient(struct hd_layers *l, int x, double factor);
/* A constant with normal values of this deviation (0: zeros); one of n equal values. */
int hd_layer_weights(struct hd_layers *l, const char *name, int rank, const int64_t *dim,
                     double deviation);
int hd_layer_filled(struct hd_layers *l, const char *name, int64_t n, float value);
/* The next layer begins: its name. */
const char *hd_layer_name(struct hd_layers *l, const char *kind);
/* size x size, padded so that stride 1 keeps the image; He initialisation; with bias. */
int hd_layer_conv(struct hd_layers *l, int x, int64_t channels, int64_t size, int64_t stride);
/* The same, channel by channel. */
int hd_layer_depthwise(struct hd_layers *l, int x, int64_t size, int64_t stride);
/* Transposed: the image becomes stride times as large. size is odd. */
int hd_layer_transposed(struct hd_layers *l, int x, int64_t channels, int64_t size, int64_t stride);
/* [N, everything else] times weights, with bias. */
int hd_layer_dense(struct hd_layers *l, int x, int64_t n);
/* The last axis times weights, with bias: [.., in] -> [.., n]. */
int hd_layer_linear(struct hd_layers *l, int x, int64_t n);
int hd_layer_relu(struct hd_layers *l, int x);
int hd_layer_tanh(struct hd_layers *l, int x);
int hd_layer_sigmoid(struct hd_layers *l, int x);
int hd_layer_gelu(struct hd_layers *l, int x);
int hd_layer_add(struct hd_layers *l, int x, int y);
int hd_layer_scale(struct hd_layers *l, int x, double factor);
int hd_layer_norm(struct hd_layers *l, int x);      /* of the last axis, with scale and bias */
int hd_layer_batchnorm(struct hd_layers *l, int x); /* of each channel, [N,C,..] */
/* Convolution and batch norm, without an activation. */
int hd_layer_conv_norm(struct hd_layers *l, int x, int64_t channels, int64_t size, int64_t stride);
/* A block of ResNet: two of them, 3x3, beside x, which takes one of 1x1 where the stride is not 1.
 * x has `channels` channels where it is. He and others, arXiv:1512.03385. */
int hd_layer_residual(struct hd_layers *l, int x, int64_t channels, int64_t stride);
/* Each element stays with probability keep, and is divided by it. */
int hd_layer_dropout(struct hd_layers *l, int x, double keep);
/* Integers below n, of any shape, become rows of weights: [..] -> [.., width]. */
int hd_layer_embedding(struct hd_layers *l, int x, int64_t n, int64_t width);
int hd_layer_position(struct hd_layers *l, int x); /* [N,T,W] + weights [T,W] */
/* [N,T,C] -> [N,T,hidden], or twice that where it runs in both directions. op: HD_IR_rnn,
 * HD_IR_lstm or HD_IR_gru. */
int hd_layer_recurrent(struct hd_layers *l, enum hd_ir_op op, int x, int64_t hidden, bool both);
/* x [N,T,W] asks memory [N,S,W], which is x itself for self-attention. W is a multiple of heads.
 * causal: position t sees positions up to t. */
int hd_layer_attention(struct hd_layers *l, int x, int memory, int heads, bool causal);
int hd_layer_max(struct hd_layers *l, int x);  /* 2x2 by 2 */
int hd_layer_pool(struct hd_layers *l, int x); /* mean of the image: [N,C,H,W] -> [N,C] */

/* The zoo: networks [batch, 1, 8, 8], pixels of 0 to 16, to 10 classes. NULL behind the last. */
const char *hd_zoo_name(int i);
/* Which one this names, perhaps with widths; -1 = none. */
int hd_zoo_find(const char *name);
/* name: of the zoo, or with the widths of its layers, cnn:16:16:32. Errors: there is none such. */
hd_status hd_zoo_build(hd_ctx *ctx, const char *name, int64_t batch, uint32_t seed, hd_graph **out);

#endif
