/* Choices that heddle tune measures and that a file keeps: their text, candidates for an
 * expression, and what a file calls devices and works. */
#ifndef HD_GPU_REF_GPU_CHOICE_H
#define HD_GPU_REF_GPU_CHOICE_H

#include "gpu_ref/gpu_schedule.h"

/* "tile 16x32, threads 1x1, depth 16, unrolled", "flat, 64 threads, 1 each", "warps 4, columns
 * 32x2", "gemm, warps 1x8, rows 16, columns 8x2, stages 0". */
const char *hd_gpu_choice_text(hd_arena *a, const struct hd_gpu_choice *c);
/* False: it is none, or beyond what any device has. */
bool hd_gpu_choice_read(const char *text, struct hd_gpu_choice *out);

/* Name and driver of the device, and whether it is taken for a processor or a GPU. */
const char *hd_gpu_device_key(hd_arena *a, const struct hd_gpu_api *api,
                              const struct hd_gpu_limits *l);
/* Of an expression as for hd_gpu_schedule: type and shape of its first result, and a fingerprint of
 * its text without the numbers that change no speed. */
const char *hd_gpu_work_name(hd_arena *a, const struct hd_expr *f);

struct hd_gpu_candidate {
    struct hd_gpu_choice choice;
    const char *text; /* of it */
    double cycles;    /* by a model: for an order, no more */
};
/* Choices for an expression as for hd_gpu_schedule, the cheapest by the model first. Lowering may
 * refuse some. */
int hd_gpu_space(hd_arena *a, const struct hd_expr *f, const struct hd_gpu_limits *l,
                 struct hd_gpu_candidate **out);

#endif
