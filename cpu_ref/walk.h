/* Walks the elements of a dense tensor in order and keeps the index of the matching element in
 * operands that are read with strides of their own. Broadcasting, transposing, slicing and
 * expanding are all this, with other strides.
 *
 *   struct hd_walk w;
 *   hd_walk_init(&w, y->rank, y->dim);
 *   hd_walk_broadcast(&w, 0, x);
 *   for (int64_t i = 0; i < hd_tensor_elems(y); i++, hd_walk_next(&w)) y[i] = x[w.index[0]];
 */
#ifndef HD_CPU_REF_WALK_H
#define HD_CPU_REF_WALK_H

#include <string.h>

#include "cpu_ref/kernels.h"

enum { HD_WALK_OPERANDS = 8, HD_WALK_RANK = 16 };

struct hd_walk {
    int rank, n;                                    /* n: operands set so far */
    int64_t dim[HD_WALK_RANK];                      /* of the tensor that is walked */
    int64_t at[HD_WALK_RANK];                       /* position in it */
    int64_t stride[HD_WALK_OPERANDS][HD_WALK_RANK]; /* in elements */
    int64_t index[HD_WALK_OPERANDS];
};

void hd_walk_init(struct hd_walk *w, int rank, const int64_t *dim);
/* Operand i starts at `base` and moves by stride[d] along dimension d. */
void hd_walk_strides(struct hd_walk *w, int i, int64_t base, const int64_t *stride);
/* Operand i has the shape of x and is broadcast as in numpy. */
void hd_walk_broadcast(struct hd_walk *w, int i, const struct hd_tensor *x);
/* Distance between neighbours along each dimension of a dense tensor. */
void hd_walk_dense(int rank, const int64_t *dim, int64_t *stride);

static inline void hd_walk_next(struct hd_walk *w) {
    for (int d = w->rank - 1; d >= 0; d--) {
        for (int i = 0; i < w->n; i++) w->index[i] += w->stride[i][d];
        if (++w->at[d] < w->dim[d]) return;
        for (int i = 0; i < w->n; i++) w->index[i] -= w->stride[i][d] * w->dim[d];
        w->at[d] = 0;
    }
}

/* Elements of dimensions from..to-1; 1 where there are none. */
static inline int64_t hd_elems_of(const int64_t *dim, int64_t from, int64_t to) {
    int64_t n = 1;
    for (int64_t d = from; d < to; d++) n *= dim[d];
    return n;
}

/* dst[i] = src[j], of elements of any type. */
static inline void hd_copy_element(void *dst, int64_t i, const void *src, int64_t j, size_t bytes) {
    memcpy((char *)dst + (size_t)i * bytes, (const char *)src + (size_t)j * bytes, bytes);
}

/* Operand i, of integers that shape inference has checked: copied to out, which has room for max.
 * The count; 0 when the operand is left out. */
int hd_k_ints(const struct hd_kernel *k, int i, int64_t *out, int max);
/* Attribute `name`, an axis that shape inference has checked, as 0..rank-1. */
int64_t hd_k_axis(const struct hd_kernel *k, const char *name, int64_t def, int rank);
/* A number that orders elements of type t as their values do: -0 equals 0, NaN is above infinity.
 */
int64_t hd_k_key(const void *p, hd_dtype t, int64_t i);

#endif
