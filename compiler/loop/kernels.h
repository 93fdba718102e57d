/* Loops as kernels of a GPU: each statement that is computed on its own is a kernel, bound to
 * blocks and threads as its schedule says.
 *
 *   struct hd_kernels *k = hd_kernels_create(arena, &hd_dialect_opencl);
 *   TRY(hd_kernels_add(ctx, k, nest, &call, &n_calls));   // any number of times
 *   const char *source = hd_kernels_text(k);
 *
 * Kernels of the same text are one. */
#ifndef HD_LOOP_KERNELS_H
#define HD_LOOP_KERNELS_H

#include "compiler/loop/dialect.h"
#include "compiler/loop/loop.h"

struct hd_kernel_call { /* in the order in which they run */
    int kernel;         /* its name is hd_kernel_name */
    int n_tensors;
    int *tensor;  /* of the nest: the arguments, pointers, in order */
    int made;     /* tensor of the nest that it fills; -1 = several */
    bool gathers; /* one more argument: an int, which becomes 1 when an index is outside */
    int64_t grid[3];
    int block[3];
    size_t local_bytes;
};

struct hd_kernels;
struct hd_kernels *hd_kernels_create(hd_arena *a, const struct hd_dialect *d);
/* Errors: HD_UNSUPPORTED for types that the language lacks, and for tensors of 2^31 elements. */
hd_status hd_kernels_add(hd_ctx *ctx, struct hd_kernels *k, const struct hd_nest *n,
                         struct hd_kernel_call **out, int *out_n);
/* A kernel that is written by hand: text behind its name, from "(" on. The same text gives the same
 * kernel. prologue: what it calls, once in a source; NULL = nothing. Returns its number. */
int hd_kernels_template(struct hd_kernels *k, const char *prologue, const char *text);
int hd_kernels_count(const struct hd_kernels *k);
/* Drops kernels from number n on: those that were added last, and that nobody calls. */
void hd_kernels_cut(struct hd_kernels *k, int n);
const char *hd_kernel_name(const struct hd_kernels *k, int kernel);
const char *hd_kernels_text(struct hd_kernels *k);

#endif
