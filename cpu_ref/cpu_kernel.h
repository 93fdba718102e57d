/* A work (compiler/loop/tunable.h) under a schedule as machine code, by the LLVM plugin. */
#ifndef HD_CPU_REF_CPU_KERNEL_H
#define HD_CPU_REF_CPU_KERNEL_H

#include "compiler/loop/tunable.h"
#include "cpu_ref/jit_api.h"

struct hd_cpu_kernel;

/* weights, bias (NULL = none): they stay where they are. Errors: HD_UNSUPPORTED when the schedule
 * does not fit, or LLVM refuses. */
hd_status hd_cpu_kernel_create(hd_ctx *ctx, const struct hd_jit_api *jit, void *engine,
                               const struct hd_tunable *w, const char *schedule,
                               const float *weights, const float *bias, struct hd_cpu_kernel **out);
void hd_cpu_kernel_destroy(struct hd_cpu_kernel *k); /* NULL is fine */
/* One run at a time. */
void hd_cpu_kernel_run(struct hd_cpu_kernel *k, const float *x, float *y, int threads);

#endif
