/* Losses and metrics: ends of networks that are trained. Losses are means over samples, metrics
 * sums.
 *
 *   int out[2] = {hd_loss_classes(&l, logits, classes), hd_metric_right(&l, logits, classes)};
 *   TRY(hd_layers_finish_all(&l, 2, out, &g));
 */
#ifndef HD_TRAIN_LOSSES_H
#define HD_TRAIN_LOSSES_H

#include "runtime/train/layers.h"

/* Cross entropy of softmax: logits [.., C], classes i64 [..]. Class -1: the place does not count.
 */
int hd_loss_classes(struct hd_layers *l, int logits, int classes);
int hd_loss_square(struct hd_layers *l, int x, int want); /* mean square of the difference */
/* Of several classes: scores [N,C], classes i64 [N]; every other score has to stay 1 below. */
int hd_loss_hinge(struct hd_layers *l, int scores, int classes);
/* Connectionist temporal classification: logits [N,T,C], labels i64 [N,L], 1 to C - 1, behind the
 * last one 0, which is the blank as well. T is at least the labels and the equal pairs of
 * neighbours among them. Source: Graves et al., ICML 2006, section 4. */
int hd_loss_ctc(struct hd_layers *l, int logits, int labels);
/* Of both sides of a game, in one step. Logits that something is real: of what is, of what the
 * generator made without a way back to it, and of the same with a way back and frozen weights.
 * Source: Goodfellow et al., arXiv:1406.2661, section 3, the form that does not saturate. */
int hd_loss_game(struct hd_layers *l, int real, int made, int judged);

/* Places whose largest logit is their class; of class -1 none is. */
int hd_metric_right(struct hd_layers *l, int logits, int classes);
/* Sum of |x - want|. */
int hd_metric_off(struct hd_layers *l, int x, int want);

#endif
