/* Factors and summands per channel, between the files that make a float graph ready. */
#ifndef HD_QUANTIZE_AFFINE_H
#define HD_QUANTIZE_AFFINE_H

#include "compiler/quantize/quantize.h"

struct hd_affine { /* y = a[c] * x + b[c], for n channels */
    double *a, *b;
    int64_t n;
};

struct hd_affine hd_affine_new(hd_arena *a, int64_t n);

/* What node n does with x, a tensor with f->n channels on `axis`, by constants. False: not that. */
bool hd_affine_of(const hd_graph *g, const struct hd_node *n, int x, int axis, struct hd_affine *f);

/* The values of constant t for each of n channels on `axis` of a tensor of this rank. */
bool hd_quant_per_channel(const hd_graph *g, int t, int rank, int axis, int64_t n, double *out);

/* canonical.c: per tensor, a convolution or product of weights is in front of it; the arena's.
 * order: the n nodes of g as they run. */
bool *hd_quant_behind_layers(const hd_graph *g, hd_arena *a, const int *order, size_t n);

/* canonical.c: the same of what is behind it: a convolution, product or recurrent layer. */
bool *hd_quant_ahead_of_layers(const hd_graph *g, hd_arena *a, const int *order, size_t n);

/* canonical.c: forms that have integers, of operations that have none. wanted: of these nodes; NULL
 * = of those behind layers. True: something changed. */
bool hd_quant_canonical(hd_graph *g, hd_arena *a, const bool *wanted);

/* entry.c: tensor t is an input of the network, x, in float or bytes, with a factor > 0 and a
 * summand for each channel on `axis`, or for all (f.n = 1, axis -1). The arena's. False: it is not
 * that, or x itself. */
struct hd_entry {
    int x, axis;
    struct hd_affine f;
};
bool hd_quant_entry(const hd_graph *g, hd_arena *a, int t, struct hd_entry *out);

/* entry.c: casts, factors and summands of an input in front of what moves it, channels in another
 * order as weights. False: nothing changed. */
bool hd_quant_entry_moves(hd_graph *g, hd_arena *a, int node);

/* ready.c: a factor and summand per channel, node `next`, into the scales and bias of a layer of
 * integer weights in front of it. False: it stays. */
bool hd_quant_ready_absorb(hd_graph *g, hd_arena *a, int node, int next);

#endif
