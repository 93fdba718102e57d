/* Languages that loops are printed in: what differs between C11, OpenCL C and CUDA C++. A further
 * one is a table in dialects.c. */
#ifndef HD_LOOP_DIALECT_H
#define HD_LOOP_DIALECT_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/base/dtype.h"

struct hd_dialect {
    const char *name;
    const char *prologue;        /* once in front of a source */
    const char *type[HD_DTYPES]; /* NULL: the language lacks it */
    const char *helper;          /* qualifiers of helper functions */
    /* What the code of hd_fn needs (runtime/base/fn_code.def); HD_ROWS: qualifiers of its tables;
     * FN_BITS, FN_FLOAT: an f32 as its bits, and back. */
    const char *fn_names;
    /* Functions of floats are overloaded: f32 is computed in f32, not rounded from f64 once. */
    bool overloads;
    bool intrinsics;  /* the prologue has hd_dp4a_* and hd_mma_* */
    bool int_indexes; /* indexes are int, which is what GPUs multiply fast */
    /* of kernels; NULL: the language has none */
    const char *kernel, *global, *local, *barrier;
    const char *alone;  /* of a pointer to what no other pointer of the kernel writes */
    const char *bounds; /* what tells the most threads of a block; NULL: nothing does */
    const char *block[3], *thread[3]; /* the index of this block, and of this thread in it */
};

/* The code of hd_fn (runtime/base/fn.h) in a language, for in front of what calls it. */
void hd_dialect_print_fn(const struct hd_dialect *d, FILE *out);

extern const struct hd_dialect hd_dialect_c;
extern const struct hd_dialect hd_dialect_opencl;
extern const struct hd_dialect hd_dialect_cuda;

#endif
