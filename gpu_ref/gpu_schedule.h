/* Schedules for kernels: which loops of an expression are blocks and threads. */
#ifndef HD_GPU_REF_GPU_SCHEDULE_H
#define HD_GPU_REF_GPU_SCHEDULE_H

#include "compiler/expr/expr.h"
#include "gpu_ref/gpu.h"

enum hd_gpu_form {
    HD_GPU_FLAT,  /* an element, or a few, for each thread */
    HD_GPU_TILE,  /* a sum of products: each block a tile of the result */
    HD_GPU_WARPS, /* the same, of bytes, on m16n8k32 */
    HD_GPU_GEMM   /* the same, of bytes that have the reduced range last in memory */
};

/* What a device can be asked for. Whatever is asked, results of integers stay as they are. */
struct hd_gpu_choice {
    enum hd_gpu_form form;
    int threads[2]; /* of a block, in rows and columns of the tile. FLAT: [1] alone; WARPS: [0];
                     * GEMM: warps that share the rows, and the reduced range */
    int each[2];    /* elements of a thread, in both. FLAT: [1] alone; WARPS, GEMM: columns of a
                     * block, and rows of the image that they come from */
    int depth;      /* TILE: of the reduced range that lies in local memory; 0 = none does. GEMM:
                     * rows of a warp */
    bool unroll;    /* TILE: the elements of a thread are copies, else loops */
    int stages;     /* GEMM: of copies in local memory; 0 = none, operands come from memory */
};

extern const struct hd_gpu_choice hd_gpu_flat; /* fits every expression */

/* Text for hd_schedule_parse, for a bound expression after hd_expr_split_sums. choice NULL: by
 * rules of thumb, sums of products tiled; an expression may lie outside of what tiles allow, then
 * lowering refuses the schedule, and that of hd_gpu_flat fits. Returns NULL when the choice does
 * not fit: nothing to tile, or no such instruction. */
const char *hd_gpu_schedule(hd_arena *a, const struct hd_expr *f, const struct hd_gpu_limits *l,
                            const struct hd_gpu_choice *choice);

#endif
