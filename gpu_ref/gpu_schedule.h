/* Schedules for kernels: which loops of an expression are blocks and threads. */
#ifndef HD_GPU_REF_GPU_SCHEDULE_H
#define HD_GPU_REF_GPU_SCHEDULE_H

#include "compiler/expr/expr.h"
#include "gpu_ref/gpu.h"

/* Text for hd_schedule_parse, for a bound expression after hd_expr_split_sums. tiles: sums of
 * products are tiled; an expression may lie outside of what tiles allow, then lowering refuses the
 * schedule, and the one without them fits. */
const char *hd_gpu_schedule(hd_arena *a, const struct hd_expr *f, const struct hd_gpu_limits *l,
                            bool tiles);

#endif
