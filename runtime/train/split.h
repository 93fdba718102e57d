/* Private to runtime/train: ranks of one computer share the update. All state but the number of the
 * step lies in a window (runtime/ranks/window.h), once for all ranks. Each updates as many elements
 * as the others, of flat tensors, and reads weights where others wrote them. An optimiser that
 * takes each element for itself has the same bits that way. */
#ifndef HD_TRAIN_SPLIT_H
#define HD_TRAIN_SPLIT_H

#include "runtime/train/graph.h"
#include "runtime/train/shards.h"
#include "runtime/train/train.h"

struct hd_train_split;

struct hd_train_states { /* borrowed; step, weights, slots: all ranks' */
    int n;
    const size_t *bytes;
    float **now, **next;
};

/* Whether an element's update reads nothing but that element: no norm of a tensor or of all, no
 * check of all gradients. */
bool hd_train_splits(const struct hd_train_options *o);
/* All ranks call. step: the first half. States move into a window, and the rest is the arena's.
 * shards, which have a window, form the gradients that this rank wants. *out: NULL, there is no
 * window for states. */
hd_status hd_train_split_open(hd_ctx *ctx, hd_arena *a, const hd_graph *step,
                              const struct hd_train_options *o, const struct hd_trained *t,
                              const struct hd_train_states *s, struct hd_shards *shards,
                              struct hd_train_split **out);
/* The next states of all ranks, of these gradients. */
hd_status hd_train_split_run(hd_ctx *ctx, struct hd_train_split *p, const struct hd_train_states *s,
                             const float *const *gradients);
/* States are replaced: by one rank, which gets true, between two of these. NULL is fine: alone. */
bool hd_train_split_meet(struct hd_train_split *p);
void hd_train_split_close(struct hd_train_split *p); /* NULL is fine */

#endif
