/* Private to compiler/tune: candidates, works and trials. */
#ifndef HD_TUNE_TUNE_INT_H
#define HD_TUNE_TUNE_INT_H

#include "compiler/loop/tunable.h"
#include "compiler/tune/tune.h"

struct hd_candidate {
    struct hd_tile tile;
    const char *schedule;
    double cycles; /* by the model, on one processor */
};
/* Every tile that fits the work, the cheapest by the model first; of lanes f32 in a register. */
int hd_tune_space(hd_arena *a, const struct hd_tunable *w, int lanes, struct hd_candidate **out);

/* "128x768x768": rows, columns and inner size of a product. False = it is none. */
bool hd_tune_product(const char *text, struct hd_tunable *out);

struct hd_tune_work { /* one that a network has */
    struct hd_tunable w;
    const char *name;
    int times;
};
/* Works of a network, each once; appended to list. */
hd_status hd_tune_network(struct hd_cmd *c, hd_arena *a, const char *path,
                          struct hd_tune_work **list, size_t *n, size_t *cap);

struct hd_trial; /* one work with operands, and golden's results */
/* Compares cpu's own way with golden's, too. */
hd_status hd_trial_open(struct hd_cmd *c, const struct hd_tunable *w, int threads,
                        struct hd_trial **out);
void hd_trial_close(struct hd_trial *t);
/* Seconds of what cpu does by itself, and its name; *out_key: the device in a database. */
hd_status hd_trial_other(struct hd_trial *t, double *out_seconds, const char **out_how);
/* Seconds of oneDNN at a work of bytes, where its sums need not be exact; 0 = it is not here, or
 * has no good implementation. */
hd_status hd_trial_onednn(struct hd_trial *t, double *out_seconds);
const char *hd_trial_key(const struct hd_trial *t);
int hd_trial_lanes(const struct hd_trial *t);
/* Seconds of a schedule; 0: it does not fit, or differs from golden by more than the bounds. */
hd_status hd_trial_schedule(struct hd_trial *t, const char *schedule, double *out_seconds);

#endif
