/* Private to the makers of schedules: gpu_schedule.c, gpu_schedule_mma.c. */
#ifndef HD_GPU_REF_GPU_SCHEDULE_INT_H
#define HD_GPU_REF_GPU_SCHEDULE_INT_H

#include <stdio.h>

#include "compiler/expr/expr.h"
#include "gpu_ref/gpu_schedule.h"

struct maker {
    const struct hd_expr *f;
    const struct hd_gpu_limits *limits;
    const struct hd_gpu_choice *choice; /* NULL = by rules of thumb */
    FILE *out;
};

struct product {     /* sum += a * b */
    int sum, reader; /* statements */
    int a, b;        /* accesses */
    int i, j;        /* variables of the sum: i moves a alone, j moves b alone */
    int di, dj;      /* the reader's dimensions of them */
    int k;           /* the first reduced variable that moves both; loops from the one of it */
};

struct hd_gpu_tile {
    int threads[2], each[2]; /* of i and j: threads of a block, elements of a thread */
    int depth;               /* of the reduced range that goes through local memory; 0 = none */
    bool unroll;
    const char *dot; /* an instruction for four of them; NULL = none */
    int k[2];        /* then: the dimension of each operand that they lie along */
};

/* Statement s reads one sum alone, of products that can be tiled. */
bool hd_gpu_find_product(const struct maker *m, int s, struct product *out);
/* Elements of an access that a tile reads at a time: of the whole reduced range but for the depth
 * of variable k. */
int64_t hd_gpu_elements(const struct maker *m, const struct product *p, int access,
                        const struct hd_gpu_tile *t);
const char *hd_gpu_name_of(const struct maker *m, int s);
/* Loops list[0 .. n - 1] of the statement become one, of the name that is returned. */
const char *hd_gpu_fuse(const struct maker *m, const char *t, int n, const char *const *list,
                        char name[static 32]);
/* Loops rest[0 .. n - 1], then those that `inside` names; rest become block.z. */
void hd_gpu_reorder_reader(const struct maker *m, const char *name, int n, const char *const *rest,
                           const char *inside);
/* The dimension of the reader that is variable v of the sum. */
int hd_gpu_dimension_of(const struct maker *m, const struct product *p, int v);
/* How far an index moves when variable v moves by one. */
int64_t hd_gpu_step_of(const struct hd_expr *f, int node, int v);
int hd_gpu_least(int64_t a, int64_t b);
/* The dimension of an access that alone moves with variable v; -1 = none, or several. */
int hd_gpu_dimension_with(const struct hd_expr *f, int access, int v);
/* The sum is one of products of bytes, nothing else. */
bool hd_gpu_is_bytes(const struct maker *m, const struct product *p);

enum { HD_GPU_MMA_ROWS = 16, HD_GPU_MMA_COLUMNS = 8, HD_GPU_WARP = 32 };
/* A schedule for the instruction m16n8k32 of a warp. False: it does not fit, nothing is written. */
bool hd_gpu_schedule_mma(const struct maker *m, const struct product *p);

/* A sum of products of bytes whose factors have the reduced range k last in memory. */
struct hd_gpu_gemm {
    int sum, reader; /* statements; variable d of both is dimension d of their results */
    int w, x;        /* accesses: of what moves with the last dimension, and of the other factor */
    int k;           /* variable of the sum */
    int column[2];   /* dimensions of the result that x moves with; [1] -1 = there is one alone */
};
bool hd_gpu_find_gemm(const struct maker *m, int reader, struct hd_gpu_gemm *out);
/* m->choice NULL: the cheapest by a model of its time. False: it does not fit, nothing is written.
 */
bool hd_gpu_schedule_gemm(const struct maker *m, const struct hd_gpu_gemm *g);
/* The reader's kernel is such a product, and sum is another one that it reads: that of the weights,
 * say, where the product has one row. It has a kernel of its own. */
bool hd_gpu_beside_gemm(const struct maker *m, int sum, int reader);
struct hd_gpu_gemm_candidate {
    struct hd_gpu_choice choice;
    double cycles;
};
/* Choices that fit, the arena's, in no order. */
int hd_gpu_gemm_space(hd_arena *a, const struct maker *m, const struct hd_gpu_gemm *g,
                      struct hd_gpu_gemm_candidate **out);

#endif
