/* Kernels of tensor expressions for step makers: expression, schedule, loops, kernels. */
#ifndef HD_GPU_REF_GPU_EXPRESS_H
#define HD_GPU_REF_GPU_EXPRESS_H

#include "gpu_ref/gpu_plan.h"

struct hd_gpu_nest { /* one expression's kernels */
    struct hd_nest *nest;
    struct hd_kernel_call *call;
    int n_calls;
};

/* Of an expression of the node's first n_in operands; sums of products are formed in f32. */
hd_status hd_gpu_nest_make(struct hd_gpu_plan *p, const struct hd_node *n, const char *text,
                           int n_in, struct hd_gpu_nest *out);
/* Its launches, behind those of the last step. results: views of the first n_results results; -1
 * becomes a temporary of the step. */
hd_status hd_gpu_nest_call(struct hd_gpu_plan *p, const struct hd_node *n,
                           const struct hd_gpu_nest *k, int n_results, int *results);

#endif
