/* Private to the trials of compiler/tune. */
#ifndef HD_TUNE_TRIAL_INT_H
#define HD_TUNE_TRIAL_INT_H

#include "compiler/compiler.h"
#include "compiler/tune/tune_int.h"
#include "cpu_ref/cpu_bounds.h"
#include "cpu_ref/cpu_kernel.h"

enum { HD_TRIAL_LEAST = 3, HD_TRIAL_MOST = 200 }; /* runs */
#define HD_TRIAL_LONG 0.06                        /* seconds of runs for one figure */

struct hd_trial {
    struct hd_cmd *c;
    hd_arena *a;
    struct hd_tunable w;
    int threads;
    hd_graph *g;
    hd_model *m;
    const struct hd_jit_api *jit;
    void *engine;
    void *x, *weights, *bias, *y, *want; /* as the graph has them */
    float *scale;                        /* of bytes */
    void *laid, *laid_y;                 /* x, y as the kernel has them */
    size_t n_x, n_w, n_y;
    struct hd_cpu_bound bound;
};

/* Seconds; with one thread those of its processor, which other programs do not inflate. */
double hd_trial_now(int threads);
/* The work as a graph and a model, and operands for it. */
hd_status hd_trial_graph(struct hd_trial *t);
/* Within `bound` of what golden has; integers, to the bit. */
bool hd_trial_same(hd_dtype type, const void *y, const void *want, size_t n,
                   struct hd_cpu_bound bound);
/* Seconds of oneDNN (hd_tune_device). */
hd_status hd_trial_onednn(void *trial, double *out_seconds);
struct hd_gpu_api;
/* The state of hd_tune_opencl and hd_tune_cuda over a driver. */
hd_status hd_trial_gpu_start(struct hd_cmd *c, const struct hd_gpu_api *api, void **out_state);
/* y of what the kernel left in laid_y. */
void hd_trial_turn_result(struct hd_trial *t);

#endif
