/* Private to runtime/train: the parts that make the graph of a step. */
#ifndef HD_TRAIN_GRAPH_H
#define HD_TRAIN_GRAPH_H

#include "compiler/grad/build.h"
#include "compiler/grad/grad.h"
#include "runtime/runtime.h"
#include "runtime/train/train.h"

struct hd_trained { /* constants of the graph that are trained; w has room for all tensors */
    int *w, n;
    int frozen; /* integer weights that are not (integer.c) */
    /* The last ones follow a statistic: w - by[i] what[i], no gradient and no optimiser. */
    int n_follow, *what;
    float *by;
    int ranges, ranges_now; /* place in w of the states of ranges; what their gradient is of */
    int n_ranges;           /* 0 = none are learned */
    int n_data, n_results;  /* inputs and outputs that are no state */
    bool steps;             /* the first half has the number of the step as an input, too */
    bool adapts;            /* ... and, behind the weights, the factor of the loss */
};

struct hd_through_list {
    hd_arena *a;
    struct hd_grad_through *of;
    size_t n, cap;
};

static inline void hd_through_add(struct hd_through_list *l, int value, int shadow) {
    *hd_push(l->a, l->of, l->n, l->cap) = (struct hd_grad_through){value, shadow};
}

/* Operand k of the node is weights, where it is constant. */
bool hd_takes_weights(const struct hd_node *n, int k);

/* The last states of a step whose loss scale adapts, in this order. */
enum { HD_SCALE_FACTOR, HD_SCALE_GOOD, HD_SCALE_SKIPPED, HD_SCALE_STATES };

/* g, which is empty, becomes the second half of a step whose first is step: states, gradients ->
 * the next states. part: NULL, or of each weight how many elements of it are updated, as flat
 * tensors.
 */
hd_status hd_train_update(hd_ctx *ctx, const hd_graph *step, const struct hd_train_options *o,
                          const struct hd_trained *t, const int64_t *part, hd_graph *g);
/* A session on the device of the options. */
hd_status hd_train_compile(hd_ctx *ctx, const hd_graph *g, const struct hd_train_options *o,
                           hd_model **out_m, hd_session **out_s);

/* The states of integer weights have the names of these and this. */
#define HD_STATE_SUFFIX ".state"
/* The state of all ranges. */
#define HD_RANGES_STATE "ranges.state"
/* b->g, a network with quantize and dequantize nodes, gets its integers beside it: its dequantize
 * nodes give what the legal network computes. *through: where gradients go straight. Errors:
 * HD_INVALID, no integer weights; HD_UNSUPPORTED; those of legalisation. */
hd_status hd_integer_twins(struct hd_back *b, const struct hd_train_options *o,
                           struct hd_trained *out, struct hd_through_list *through);
/* The integers that the n values of a state stand for, to the constant of g that it is of. */
hd_status hd_integer_store(hd_ctx *ctx, hd_graph *g, const char *state, const float *v, int64_t n);

#endif
