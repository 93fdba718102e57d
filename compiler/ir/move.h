/* What the operands of data movement mean: read by shape inference and by whoever moves the data.
 * The values have been checked by shape inference. */
#ifndef HD_IR_MOVE_H
#define HD_IR_MOVE_H

#include <string.h>

#include "compiler/ir/ir.h"
#include "runtime/base/element.h"
#include "runtime/base/num.h"

/* Slice-13: first index, clamped to the dimension. */
static inline int64_t hd_slice_start(int64_t start, int64_t step, int64_t dim) {
    if (start < 0) start += dim;
    return hd_max(0, hd_min(start, step > 0 ? dim : dim - 1));
}

/* Number of indexes from a clamped start; step is not 0 and not INT64_MIN. */
static inline int64_t hd_slice_count(int64_t start, int64_t end, int64_t step, int64_t dim) {
    if (end < 0) end += dim;
    end = step > 0 ? hd_max(0, hd_min(end, dim)) : hd_max(-1, hd_min(end, dim - 1));
    int64_t way = step > 0 ? end - start : start - end;
    return way <= 0 || dim == 0 ? 0 : 1 + (way - 1) / (step > 0 ? step : -step);
}

/* Axes as a bit set; negative ones count from the end. */
static inline unsigned hd_axes_set(int rank, int n, const int64_t *axes) {
    unsigned set = 0;
    for (int i = 0; i < n; i++) set |= 1u << (axes[i] < 0 ? axes[i] + rank : axes[i]);
    return set;
}

/* The numbers of a constant list (i64 or i32, rank 0 or 1); -1 = it is none, or has more than max.
 */
static inline int hd_const_list(const struct hd_tensor *t, int64_t *out, int max) {
    int64_t n = t->data && t->rank <= 1 ? hd_tensor_elems(t) : max + 1;
    if (n > max || (t->dtype != HD_I64 && t->dtype != HD_I32)) return -1;
    for (int64_t k = 0; k < n; k++) out[k] = hd_k_i64(t->data, t->dtype, k);
    return (int)n;
}

/* Dimension d of what a move of dimension `from` to place `to` makes is this one of its operand. */
static inline int hd_moved_dim(int from, int to, int d) {
    if (d == to) return from;
    int other = d - (d > to); /* its place among those that stay */
    return other + (other >= from);
}

/* Shape y is shape x with dimension `from`, which is 1, at place `to`: a reshape that is a
 * transpose. */
static inline bool hd_reshape_moves(const struct hd_tensor *x, const struct hd_tensor *y, int from,
                                    int to) {
    bool same = x->known && y->known && x->rank == y->rank && x->dim[from] == 1;
    for (int d = 0; same && d < x->rank; d++) same = y->dim[d] == x->dim[hd_moved_dim(from, to, d)];
    return same;
}

/* Pads [before.., after..] of the listed axes (all of them when n_axes is 0), spread to all. */
static inline void hd_pads_spread(int rank, const int64_t *pads, int n_axes, const int64_t *axes,
                                  int64_t *out) {
    int n = n_axes ? n_axes : rank;
    memset(out, 0, 2 * (size_t)rank * sizeof *out);
    for (int i = 0; i < n; i++) {
        int64_t d = n_axes ? axes[i] : i;
        if (d < 0) d += rank;
        out[d] = pads[i];
        out[d + rank] = pads[i + n];
    }
}

/* Split-18 without sizes: equal parts, the last ones smaller when they do not come out even. */
static inline void hd_split_even(int64_t size, int n, int64_t *out) {
    int64_t part = hd_ceil_div(size, n);
    for (int i = 0; i < n; i++) {
        out[i] = hd_min(part, size);
        size -= out[i];
    }
}

/* Col2Im-18: blocks along one dimension of the image. */
static inline int64_t hd_col2im_steps(int64_t size, int64_t block, int64_t stride, int64_t dilation,
                                      int64_t before, int64_t after) {
    return (size + before + after - dilation * (block - 1) - 1) / stride + 1;
}

#endif
