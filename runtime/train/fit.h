/* The loop of training: a source of batches, a trainer, and what is called after each step.
 *
 *   struct hd_fit f = {.source = source, .steps = 1000, .epoch = 50};
 *   f.call[f.n_calls++] = (struct hd_fit_call){my_function, my_data};
 *   TRY(hd_fit(ctx, t, &f));            // from the step of the trainer, which may be a
 * checkpoint's
 */
#ifndef HD_TRAIN_FIT_H
#define HD_TRAIN_FIT_H

#include "runtime/train/prefetch.h"
#include "runtime/train/train.h"

struct hd_fit_event {
    const hd_trainer *t;
    int64_t step, steps; /* that were taken, of so many */
    bool epoch_ends;
    int64_t epoch; /* that goes on, or ends: 1, 2, .. */
    const float *step_results;
    const double *results; /* means over the steps of the epoch that were taken in this run */
    int n;
    double seconds, left; /* since the loop began; until it ends, about */
    bool *stop;           /* set: the loop ends here */
};

struct hd_fit_call {
    hd_status (*call)(hd_ctx *ctx, void *user, const struct hd_fit_event *e);
    void *user;
};

enum { HD_FIT_CALLS = 8 };

struct hd_fit {
    struct hd_source source;
    int64_t steps, epoch; /* in all; of an epoch, 0 = there is one */
    struct hd_fit_call call[HD_FIT_CALLS];
    int n_calls;
};

hd_status hd_fit(hd_ctx *ctx, hd_trainer *t, const struct hd_fit *f);

/* TensorBoard's event file with the results of each step, under their names. It has no time of the
 * clock: the same training writes the same bytes. The file is events.out.tfevents.heddle in a
 * folder, which is made. A call of hd_fit, whose user is the file. */
typedef struct hd_events hd_events;
hd_status hd_events_open(hd_ctx *ctx, const char *folder, hd_events **out);
hd_status hd_events_add(hd_ctx *ctx, void *events, const struct hd_fit_event *e);
hd_status hd_events_close(hd_ctx *ctx, hd_events *e); /* NULL is fine */

#endif
