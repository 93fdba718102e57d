/* Private to runtime/train: scales of activations that are learned with the weights.
 *
 * Scales that have to stay alike are one range: a scale that several nodes read, and scales of the
 * same value around one node, as of a reshape or a pool. Ranges of inputs, of weights, and of
 * results whose scale an operation gives (softmax, ..) stay as they are.
 * The state of range i is v[i]: its scales are those of the file times exp(rate v[i]). */
#ifndef HD_TRAIN_RANGES_H
#define HD_TRAIN_RANGES_H

#include "runtime/train/graph.h"

struct hd_ranges {
    int *of; /* per tensor of the graph: the range whose scale it is; -1 = none that is learned */
    int n;
};

struct hd_ranges hd_ranges_find(const hd_graph *g, hd_arena *a);
/* Scales of g, a graph of the file, and of the biases that are in steps of them: from those of the
 * file as it was opened, so that a second call changes nothing. Errors: HD_INVALID, g lacks one. */
hd_status hd_ranges_apply(hd_ctx *ctx, hd_graph *g, const hd_graph *file, const float *v,
                          double rate);

#endif
