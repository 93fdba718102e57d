/* Networks made of layers: tensors with named axes, weights with initial values.
 *
 *   struct hd_layers l;
 *   hd_layers_init(&l, ctx, "tiny", seed);
 *   int x = hd_layer_input(&l, "x", 4, (int64_t[]){32, 1, 8, 8}, (const char *[]){"N", "C", "H",
 * "W"}); x = hd_layer_relu(&l, hd_layer_conv(&l, x, 16, 3, 1)); x = hd_layer_dense(&l,
 * hd_layer_pool(&l, x), 10); TRY(hd_layers_finish(&l, x, &g));
 *
 * After an error, which finish gives, layers do nothing. Same seed, same weights. */
#ifndef HD_TRAIN_LAYERS_H
#define HD_TRAIN_LAYERS_H

#include "compiler/grad/build.h"

struct hd_layers {
    struct hd_back b;
    uint32_t seed;
    int n; /* layers so far: names, and streams of random numbers */
};

void hd_layers_init(struct hd_layers *l, hd_ctx *ctx, const char *name, uint32_t seed);
/* x is the only result. *out is the caller's; NULL after an error. Ends l either way. */
hd_status hd_layers_finish(struct hd_layers *l, int x, hd_graph **out);

int hd_layer_input(struct hd_layers *l, const char *name, int rank, const int64_t *dim,
                   const char *const *axes);
/* A constant with normal values of this deviation (0: zeros). */
int hd_layer_weights(struct hd_layers *l, const char *name, int rank, const int64_t *dim,
                     double deviation);
/* size x size, padded so that stride 1 keeps the image; He initialisation; with bias. */
int hd_layer_conv(struct hd_layers *l, int x, int64_t channels, int64_t size, int64_t stride);
/* The same, channel by channel. */
int hd_layer_depthwise(struct hd_layers *l, int x, int64_t size, int64_t stride);
/* [N, everything else] times weights, with bias. */
int hd_layer_dense(struct hd_layers *l, int x, int64_t n);
int hd_layer_relu(struct hd_layers *l, int x);
int hd_layer_tanh(struct hd_layers *l, int x);
int hd_layer_add(struct hd_layers *l, int x, int y);
int hd_layer_scale(struct hd_layers *l, int x, double factor);
int hd_layer_norm(struct hd_layers *l, int x); /* of the last axis, with scale and bias */
int hd_layer_max(struct hd_layers *l, int x);  /* 2x2 by 2 */
int hd_layer_pool(struct hd_layers *l, int x); /* mean of the image: [N,C,H,W] -> [N,C] */

/* The zoo: networks [batch, 1, 8, 8], pixels of 0 to 16, to 10 classes. NULL behind the last. */
const char *hd_zoo_name(int i);
/* Errors: a name that is not in the zoo. */
hd_status hd_zoo_build(hd_ctx *ctx, const char *name, int64_t batch, uint32_t seed, hd_graph **out);

#endif
