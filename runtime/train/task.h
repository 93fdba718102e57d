/* Tasks: networks with data that is made as it is needed, trained to a stated result. The table is
 * task.def. */
#ifndef HD_TRAIN_TASK_H
#define HD_TRAIN_TASK_H

#include "runtime/train/fit.h"
#include "runtime/train/losses.h"

enum { HD_TASK_RESULTS = 3, HD_TASK_INPUTS = 3 };

/* Numbers for the inputs of a step. */
struct hd_dice {
    uint32_t key, n;
};
uint32_t hd_dice_below(struct hd_dice *d, uint32_t n);
float hd_dice_normal(struct hd_dice *d);

struct hd_task_options;
struct hd_task_row {
    const char *name, *doc;
    bool quick;
    const char *result; /* what the score is */
    double want;        /* the score is at least this (best: at most) after `steps` */
    bool least;
    int64_t batch, steps;
    double rate;
    /* results: the loss, then what score reads. Gives how many. */
    int (*build)(struct hd_layers *l, int64_t batch, int *out);
    void (*make)(struct hd_dice *d, int64_t batch, void *const *in);
    /* Of one batch that nobody trained on; the mean over batches is the score. */
    double (*score)(int64_t batch, const void *const *in, const void *const *out);
    /* A game has this alone. */
    hd_status (*play)(hd_ctx *ctx, const struct hd_task_options *o, double *out_score);
};

const struct hd_task_row *hd_task(int i);                    /* NULL behind the last */
const struct hd_task_row *hd_task_by_name(const char *name); /* NULL: there is none */

struct hd_task_options {
    struct hd_train_options train; /* its optimiser is the task's */
    uint32_t seed;
    hd_status (*call)(hd_ctx *ctx, void *user, const struct hd_fit_event *e); /* NULL = none */
    void *user;
};

/* Trains, and gives the score. Whether that is good enough. */
hd_status hd_task_run(hd_ctx *ctx, const struct hd_task_row *task, const struct hd_task_options *o,
                      double *out_score);
bool hd_task_reached(const struct hd_task_row *task, double score);

#endif
