/* Private to the makers of schedules: gpu_schedule.c, gpu_schedule_mma.c. */
#ifndef HD_GPU_REF_GPU_SCHEDULE_INT_H
#define HD_GPU_REF_GPU_SCHEDULE_INT_H

#include <stdio.h>

#include "compiler/expr/expr.h"
#include "gpu_ref/gpu.h"

struct maker {
    const struct hd_expr *f;
    const struct hd_gpu_limits *limits;
    FILE *out;
};

struct product {     /* sum += a * b */
    int sum, reader; /* statements */
    int a, b;        /* accesses */
    int i, j;        /* variables of the sum: i moves a alone, j moves b alone */
    int di, dj;      /* the reader's dimensions of them */
    int k;           /* the first reduced variable that moves both; loops from the one of it */
};

const char *hd_gpu_name_of(const struct maker *m, int s);
/* Loops list[0 .. n - 1] of the statement become one, of the name that is returned. */
const char *hd_gpu_fuse(const struct maker *m, const char *t, int n, const char *const *list,
                        char name[static 32]);
bool hd_gpu_moves_with(const struct hd_expr *f, int node, int var);
/* The dimension of the reader that is variable v of the sum. */
int hd_gpu_dimension_of(const struct maker *m, const struct product *p, int v);
/* How far an index moves when variable v moves by one. */
int64_t hd_gpu_step_of(const struct hd_expr *f, int node, int v);
int hd_gpu_least(int64_t a, int64_t b);
/* The dimension of an access that alone moves with variable v; -1 = none, or several. */
int hd_gpu_dimension_with(const struct hd_expr *f, int access, int v);
/* The sum is one of products of bytes, nothing else. */
bool hd_gpu_is_bytes(const struct maker *m, const struct product *p);

/* A schedule for the instruction m16n8k32 of a warp. False: it does not fit, nothing is written. */
bool hd_gpu_schedule_mma(const struct maker *m, const struct product *p);

#endif
