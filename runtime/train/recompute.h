/* Private to runtime/train: a step that fits into less memory, because values are computed again
 * where they are read, instead of being kept until then.
 *
 * needs: a legal graph; no pass that joins equal nodes comes behind
 * gives: the same outputs, bit for bit; copies of nodes, named *.again, in front of far readers
 * destroys: nothing */
#ifndef HD_TRAIN_RECOMPUTE_H
#define HD_TRAIN_RECOMPUTE_H

#include "runtime/train/train.h"

/* Until the temporaries of g, as compiler/ir/memory.h plans them, fit the limit. Errors:
 * HD_UNSUPPORTED, they do not; the message has what is reached. */
hd_status hd_recompute(hd_ctx *ctx, hd_graph *g, const struct hd_memory_limit *limit,
                       struct hd_recomputed *out);

#endif
