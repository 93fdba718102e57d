/* A work (compiler/loop/tunable.h) under a schedule as machine code, by the LLVM plugin. */
#ifndef HD_CPU_REF_CPU_KERNEL_H
#define HD_CPU_REF_CPU_KERNEL_H

#include "compiler/loop/tunable.h"
#include "cpu_ref/jit_api.h"

struct hd_cpu_kernel;

struct hd_cpu_constants {       /* as the graph has them; floats stay where they are */
    const void *weights, *bias; /* f32, or int8 and i32; NULL = none */
    const float *scale;         /* of bytes; it stays, too */
};

/* This processor has what schedules of bytes are made of. */
bool hd_cpu_kernel_bytes(void);
/* Errors: HD_UNSUPPORTED when the schedule does not fit, is made of what this processor lacks, or
 * LLVM refuses. */
hd_status hd_cpu_kernel_create(hd_ctx *ctx, const struct hd_jit_api *jit, void *engine,
                               const struct hd_tunable *w, const char *schedule,
                               const struct hd_cpu_constants *k, struct hd_cpu_kernel **out);
void hd_cpu_kernel_destroy(struct hd_cpu_kernel *k); /* NULL is fine */
/* One run at a time. */
void hd_cpu_kernel_run(struct hd_cpu_kernel *k, const void *x, void *y, int threads);

#endif
