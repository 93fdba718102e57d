/* Private to runtime/train: values and gradients of 16 bits. Weights stay floats, which a step
 * rounds, and so do gradients of weights, loss and optimiser.
 * Source: Micikevicius et al., arXiv:1710.03740. */
#ifndef HD_TRAIN_HALF_H
#define HD_TRAIN_HALF_H

#include "runtime/train/graph.h"

/* b->g, a network of logits, computes in `type` (HD_F16, HD_BF16); its inputs and result stay f32.
 * Errors: an operation that has no such type. */
hd_status hd_train_half(struct hd_back *b, hd_dtype type, const struct hd_trained *t);

#endif
