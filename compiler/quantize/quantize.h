/* Post-training quantisation: float graph in, the same graph with QuantizeLinear and
 * DequantizeLinear pairs out, placed so that legalisation (compiler/pass/qdq.c) makes integer
 * operations of it.
 *
 *   TRY(hd_quant_prepare(ctx, g));                      batch normalisation into convolutions, ...
 *   hd_quant_choose(a, g, keep, &plan);                 what becomes integers, what stays and why
 *   ... run g on data; hd_quant_observe() each tensor with plan.observe set, once or twice
 *   TRY(hd_quant_apply(ctx, g, &plan, ranges, &options, &result));
 *
 * docs/quantize.md says what is chosen and why. */
#ifndef HD_QUANTIZE_QUANTIZE_H
#define HD_QUANTIZE_QUANTIZE_H

#include "compiler/ir/ir.h"

enum hd_quant_range { HD_RANGE_MINMAX, HD_RANGE_PERCENTILE, HD_RANGE_ENTROPY };

struct hd_quant_options {
    enum hd_quant_range range;
    bool margin;       /* ranges of few values are wider than these: others are larger */
    double percentile; /* of the values that the range covers, such as 99.99 */
    bool symmetric;    /* activations: zero point in the middle */
    hd_dtype type;     /* of activations: HD_I8 or HD_U8 */
    float *part;       /* per group of the plan: of its range, 0 < part <= 1; NULL = all of it */
    bool *wide;        /* per group of the plan: int16 about 0, where may_be_wide; NULL = none is */
    double **shift;    /* per node: what is taken off its bias, per channel; NULL = nothing */
};

/* ---- what ---- */

struct hd_quant_plan {
    size_t n_nodes, n_tensors; /* of the graph that was planned */
    const char **why;          /* per node: why it stays float; NULL = integers, or part of such */
    const char **doubt;        /* per node: integers, but why 8 bits may not do; NULL = they do */
    bool *layer;               /* per node: an integer operation of its own (not fused or moved) */
    int *result;               /* per layer: the tensor where its integers come out */
    bool *made;                /* per tensor: comes as integers from the node that makes it */
    bool *side;                /* per tensor: float, and integers for those nodes that want them */
    int *group;                /* per tensor: one of those that share scale and zero point */
    bool *given;               /* per tensor: dequantised by the file: made, with its own scale */
    bool *entry;               /* per tensor: made by the quantisation of an input (entry.c) */
    int *like;                 /* per group: a quantize whose scale it takes; -1 = none */
    bool *centred;             /* per tensor: zero point 0 where the range has two sides */
    bool *may_be_wide;         /* per group: all that makes or reads it as integers takes int16 */
    bool *observe;             /* per tensor: made or side, or in the range of such; no constants */
    int *mask; /* per node: a sum that only softmax reads, of integers and this tensor; else -1 */
};

/* Folds constants of any size, batch normalisation and constant factors and summands per channel
 * into the convolution or product before them, factors of gemm into its operands; means over the
 * image become average pools; lrn becomes
 * a convolution and elementwise operations. Values are formed in binary64 and rounded once.
 * Convolutions and gemms without a bias get one of zeros, which can be shifted. */
hd_status hd_quant_prepare(hd_ctx *ctx, hd_graph *g);

/* float16 and bfloat16 as float32 in all but inputs and outputs (widen.c): part of preparing. */
hd_status hd_quant_widen(hd_ctx *ctx, hd_graph *g);
/* A local response normalisation as a convolution and elementwise operations (lrn.c); false: it
 * stays. */
bool hd_quant_lrn(hd_graph *g, int node);
/* An instance or group normalisation as a layer norm of rows (instance.c); false: it stays. */
bool hd_quant_instance(hd_graph *g, int node);
/* Batch normalisation of rows, behind a layer, as a product and a sum by constants, in front of the
 * reshape that made the rows (rows.c); false: it stays. */
bool hd_quant_rows_batchnorm(hd_graph *g, hd_arena *a, int node);
/* Other reductions as means and maxima with functions around them (reductions.c); false: it stays.
 */
bool hd_quant_reduction(hd_graph *g, int node);
/* A norm of an image that is too long for a layer norm of rows, by means (moments.c); false: it
 * stays. */
bool hd_quant_moments(hd_graph *g, int node);
/* A sum or product over a short dimension as those of its parts (sums.c); false: it stays. */
bool hd_quant_short_sum(hd_graph *g, int node);
/* A layer norm of several dimensions as one of rows of all of them; false: it stays. */
bool hd_quant_volume_norm(hd_graph *g, int node);
/* A linear resize of a volume as one of its depth and one of its images (volume.c); false: it is
 * none of both. */
bool hd_quant_volume_resize(hd_graph *g, int node);

/* The summand of a layer norm in the biases of the products that read it (norms.c); false: it
 * stays. */
bool hd_quant_norm(hd_graph *g, int node);
/* An average over a large window as two (pools.c); false: it stays. */
bool hd_quant_large_pool(hd_graph *g, int node);
/* A weighted sum as a product of two tensors (dots.c); false: it stays. */
bool hd_quant_dot(hd_graph *g, int node);
/* A running sum as a product (running.c); false: it stays. */
bool hd_quant_running_sum(hd_graph *g, int node);
/* The larger or smaller of two tensors as a max pool (extremes.c); false: it stays. */
bool hd_quant_extreme(hd_graph *g, int node);
/* Scores that a condition hides as a sum with a mask, in front of softmax; false: it stays. */
bool hd_quant_mask_as_sum(hd_graph *g, int node);

/* keep: per node, why it is to stay float, NULL = it is not; keep NULL = none is. Everything in
 * *out is the arena's. */
void hd_quant_choose(hd_arena *a, const hd_graph *g, const char *const *keep,
                     struct hd_quant_plan *out);

/* wide.c: may_be_wide of a plan that has all else. Not groups whose scale the file gives. */
void hd_quant_find_wide(const hd_graph *g, struct hd_quant_plan *p);

/* ---- ranges ---- */

enum { HD_QUANT_BINS = 2048 };
struct hd_quant_stats { /* of one tensor; zeroed to begin */
    float lo, hi;       /* of all values, and 0 */
    uint64_t n, not_finite;
    uint64_t *bins;   /* HD_QUANT_BINS of lo..hi, second round; NULL = none */
    float *peak;      /* largest magnitude per channel, NULL = not wanted */
    int64_t channels; /* of peak */
};

/* First round: extremes, and peaks per channel when peak is there. */
void hd_quant_observe(struct hd_quant_stats *s, const struct hd_tensor *t, int channel_axis,
                      const float *x);
/* Second round, for percentile and entropy: counts into bins. */
void hd_quant_count(struct hd_quant_stats *s, const float *x, int64_t n);
/* The range that the options choose: lo <= 0 <= hi. */
void hd_quant_clip(const struct hd_quant_stats *s, const struct hd_quant_options *o, float *lo,
                   float *hi);
/* Scale and zero point for a range. */
void hd_quant_params(float lo, float hi, const struct hd_quant_options *o, float *scale,
                     int32_t *zero);

/* Evens out the peaks of the channels of layers (equalise.c): changes weights of g so that it
 * computes the same up to rounding. stats with peaks, of axis 1, for the results of layers. Returns
 * how many layers were changed. */
int hd_quant_equalise(hd_graph *g, const struct hd_quant_plan *p,
                      const struct hd_quant_stats *stats);

/* ---- the rewrite ---- */

/* stats: per tensor, of those with plan->observe set. Names of tensors stay: what had the name t
 * has it still, as float behind DequantizeLinear. Errors: HD_INVALID where values are not finite.
 */
hd_status hd_quant_apply(hd_ctx *ctx, hd_graph *g, const struct hd_quant_plan *plan,
                         const struct hd_quant_stats *stats, const struct hd_quant_options *o);

/* What is around a tensor (around.c). A softmax reads t behind at most depth other operations: what
 * is added to t may hide scores by a value so low that 8 bits hold nothing beside it, and only
 * directly in front of a softmax that is known. */
bool hd_quant_meets_softmax(const hd_graph *g, int t, int depth);
/* A constant with such values. */
bool hd_quant_is_far(const hd_graph *g, int t);
/* Rows of a table, t, are worth to have as integers: a norm, layer or product reads them, moved or
 * with those of other tables. */
bool hd_quant_is_embedding(const hd_graph *g, int t);
/* A conv, gemm or matmul with constant float weights: the axis of its output channels in them; -1
 * = it is none. */
int hd_quant_weights(const hd_graph *g, int node);
/* The same of a layer whose weights are dequantised integers (ready.c). */
int hd_quant_ready(const hd_graph *g, int node);
/* The add of a constant vector that is the only reader of a gemm or matmul without bias; -1 = none.
 * *out_bias = the constant. */
int hd_quant_bias_add(const hd_graph *g, int node, int *out_bias);
/* Channels of a layer whose bias has a value for each; 0 = it has no such bias. *out_sum = the
 * tensor of its sums, bias included. */
int64_t hd_quant_bias_channels(const hd_graph *g, const struct hd_quant_plan *plan, int node,
                               int *out_sum);

/* Integers between the integers of a network that gives scales to some tensors only (complete.c).
 * *out_changed: qdq has more to do. g->scales_found counts tensors that got a range. Errors: those
 * of kernels that fold constants. */
hd_status hd_quant_complete(hd_ctx *ctx, hd_graph *g, bool *out_changed);

#endif
