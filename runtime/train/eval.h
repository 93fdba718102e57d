/* A network that runs with the weights of a trainer, as they are at the moment, or as they were.
 *
 *   TRY(hd_eval_open(ctx, g, &options, t, &e));
 *   TRY(hd_eval_run(ctx, e, in, out));       // the weights that the trainer has now
 *   hd_eval_keep(e);                         // from here on those of this moment
 */
#ifndef HD_TRAIN_EVAL_H
#define HD_TRAIN_EVAL_H

#include "runtime/train/train.h"

typedef struct hd_eval hd_eval;

/* g is only read; its constants with names of weights of t are those weights. t outlives it.
 * Errors: those of compiling; HD_INVALID, no such constant. */
hd_status hd_eval_open(hd_ctx *ctx, const hd_graph *g, const struct hd_train_options *o,
                       const hd_trainer *t, hd_eval **out);
/* in, out: inputs and outputs of g. */
hd_status hd_eval_run(hd_ctx *ctx, hd_eval *e, const void *const *in, void *const *out);
void hd_eval_keep(hd_eval *e);
void hd_eval_close(hd_eval *e); /* NULL is fine */

#endif
