/* Data movement by strides: elements of any type, copied as they are. */
#include <string.h>

#include "compiler/ir/move.h"
#include "cpu_ref/kernels.h"
#include "cpu_ref/walk.h"

/* dst[i] = src[i * stride] for n elements. */
static void copy_row(char *dst, const char *src, int64_t n, int64_t stride, size_t bytes) {
    if (stride == 1) {
        memcpy(dst, src, (size_t)n * bytes);
        return;
    }
    /* the size is a constant in each, so that no call is made for an element */
    if (bytes == 1)
        for (int64_t i = 0; i < n; i++) hd_copy_element(dst, i, src, i * stride, 1);
    else if (bytes == 4)
        for (int64_t i = 0; i < n; i++) hd_copy_element(dst, i, src, i * stride, 4);
    else
        for (int64_t i = 0; i < n; i++) hd_copy_element(dst, i, src, i * stride, bytes);
}

/* y[i] = x[w.index[0]] for all elements of y, a row of the last dimension at a time. */
static hd_status copy_all(const struct hd_kernel *k, struct hd_walk *w) {
    size_t bytes = hd_dtype_bytes(hd_k_out(k)->dtype);
    int64_t n = hd_tensor_elems(hd_k_out(k)), row = 1, stride = 1;
    if (w->rank) {
        w->rank--;
        row = w->dim[w->rank];
        stride = w->stride[0][w->rank];
    }
    for (int64_t i = 0; i < n; i += row, hd_walk_next(w))
        copy_row((char *)k->out + (size_t)i * bytes,
                 (const char *)k->in[0] + w->index[0] * (int64_t)bytes, row, stride, bytes);
    return HD_OK;
}

/* cond ? x : y; all three broadcast.  Source: ONNX Where-16. */
hd_status k_where(const struct hd_kernel *k) {
    const struct hd_tensor *y = hd_k_out(k);
    int64_t n = hd_tensor_elems(y);
    struct hd_walk w;
    hd_walk_init(&w, y->rank, y->dim);
    for (int i = 0; i < 3; i++) hd_walk_broadcast(&w, i, hd_k_in(k, i));
    for (int64_t i = 0; i < n; i++, hd_walk_next(&w)) {
        int from = ((const uint8_t *)k->in[0])[w.index[0]] ? 1 : 2;
        hd_copy_element(k->out, i, k->in[from], w.index[from], hd_dtype_bytes(y->dtype));
    }
    return HD_OK;
}

/* y[i] = x[j] with j[perm[d]] = i[d]; without perm the order is reversed.
 * Source: ONNX Transpose-13. */
hd_status k_transpose(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    int64_t perm[HD_MAX_RANK], dense[HD_MAX_RANK], stride[HD_MAX_RANK];
    int given = hd_attr_ints(k->n, "perm", perm, HD_MAX_RANK, 0);
    hd_walk_dense(x->rank, x->dim, dense);
    for (int d = 0; d < x->rank; d++) stride[d] = dense[given ? perm[d] : x->rank - 1 - d];
    struct hd_walk w;
    hd_walk_init(&w, y->rank, y->dim);
    hd_walk_strides(&w, 0, 0, stride);
    return copy_all(k, &w);
}

/* Source: ONNX Expand-13. */
hd_status k_expand(const struct hd_kernel *k) {
    struct hd_walk w;
    hd_walk_init(&w, hd_k_out(k)->rank, hd_k_out(k)->dim);
    hd_walk_broadcast(&w, 0, hd_k_in(k, 0));
    return copy_all(k, &w);
}

/* y is x, repeated: a walk of (repeat, dimension) pairs.  Source: ONNX Tile-13. */
hd_status k_tile(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    int64_t dim[2 * HD_MAX_RANK], dense[HD_MAX_RANK], stride[2 * HD_MAX_RANK];
    hd_walk_dense(x->rank, x->dim, dense);
    for (int d = 0; d < x->rank; d++) {
        dim[2 * d] = x->dim[d] ? y->dim[d] / x->dim[d] : 0;
        dim[2 * d + 1] = x->dim[d];
        stride[2 * d] = 0;
        stride[2 * d + 1] = dense[d];
    }
    struct hd_walk w;
    hd_walk_init(&w, 2 * x->rank, dim);
    hd_walk_strides(&w, 0, 0, stride);
    return copy_all(k, &w);
}

/* y[i] = x[start + i * step] along the axes.  Source: ONNX Slice-13. */
hd_status k_slice(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    int64_t starts[HD_MAX_RANK], axes[HD_MAX_RANK], steps[HD_MAX_RANK], stride[HD_MAX_RANK];
    int64_t base = 0;
    int n = hd_k_ints(k, 1, starts, HD_MAX_RANK), n_axes = hd_k_ints(k, 3, axes, HD_MAX_RANK),
        n_steps = hd_k_ints(k, 4, steps, HD_MAX_RANK);
    hd_walk_dense(x->rank, x->dim, stride);
    for (int i = 0; i < n; i++) {
        int64_t d = n_axes ? axes[i] : i, step = n_steps ? steps[i] : 1;
        if (d < 0) d += x->rank;
        base += hd_slice_start(starts[i], step, x->dim[d]) * stride[d];
        stride[d] *= step;
    }
    struct hd_walk w;
    hd_walk_init(&w, hd_k_out(k)->rank, hd_k_out(k)->dim);
    hd_walk_strides(&w, 0, base, stride);
    return copy_all(k, &w);
}

/* Operands one after the other along `axis`.  Source: ONNX Concat-13. */
hd_status k_concat(const struct hd_kernel *k) {
    const struct hd_tensor *y = hd_k_out(k);
    int64_t axis = hd_k_axis(k, "axis", 0, y->rank), outer = 1,
            inner = (int64_t)hd_dtype_bytes(y->dtype);
    for (int64_t d = 0; d < axis; d++) outer *= y->dim[d];
    for (int64_t d = axis + 1; d < y->rank; d++) inner *= y->dim[d];
    char *out = k->out;
    for (int64_t o = 0; o < outer; o++)
        for (int i = 0; i < k->n->n_in; i++) {
            size_t bytes = (size_t)(hd_k_in(k, i)->dim[axis] * inner);
            if (bytes) memcpy(out, (const char *)k->in[i] + (size_t)o * bytes, bytes);
            out += bytes;
        }
    return HD_OK;
}

/* The inverse of concat.  Source: ONNX Split-18. */
hd_status k_split(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    int64_t axis = hd_k_axis(k, "axis", 0, x->rank), outer = 1,
            inner = (int64_t)hd_dtype_bytes(x->dtype), at = 0;
    int64_t parts[HD_MAX_OPERANDS];
    if (!hd_k_ints(k, 1, parts, HD_MAX_OPERANDS)) hd_split_even(x->dim[axis], k->n->n_out, parts);
    for (int64_t d = 0; d < axis; d++) outer *= x->dim[d];
    for (int64_t d = axis + 1; d < x->rank; d++) inner *= x->dim[d];
    for (int i = 0; i < k->n->n_out; at += parts[i++]) {
        size_t bytes = (size_t)(parts[i] * inner), row = (size_t)(x->dim[axis] * inner);
        for (int64_t o = 0; k->outs[i] && bytes && o < outer; o++)
            memcpy((char *)k->outs[i] + (size_t)o * bytes,
                   (const char *)k->in[0] + (size_t)o * row + (size_t)(at * inner), bytes);
    }
    return HD_OK;
}

/* y is x seen as `from` with its dimensions in another order. */
static hd_status reorder(const struct hd_kernel *k, const int64_t *from, const int *order) {
    int64_t dense[6], dim[6], stride[6];
    hd_walk_dense(6, from, dense);
    for (int d = 0; d < 6; d++) {
        dim[d] = from[order[d]];
        stride[d] = dense[order[d]];
    }
    struct hd_walk w;
    hd_walk_init(&w, 6, dim);
    hd_walk_strides(&w, 0, 0, stride);
    return copy_all(k, &w);
}

/* [N,C*b*b,H,W] -> [N,C,H*b,W*b]; the block is the slower part of the channel (DCR) or the faster
 * (CRD).  Source: ONNX DepthToSpace-13. */
hd_status k_depthtospace(const struct hd_kernel *k) {
    const int64_t *x = hd_k_in(k, 0)->dim, b = hd_attr_int(k->n, "blocksize", 1), c = x[1] / b / b;
    if (!strcmp(hd_attr_string(k->n, "mode", "DCR"), "CRD"))
        return reorder(k, (int64_t[]){x[0], c, b, b, x[2], x[3]}, (int[]){0, 1, 4, 2, 5, 3});
    return reorder(k, (int64_t[]){x[0], b, b, c, x[2], x[3]}, (int[]){0, 3, 4, 1, 5, 2});
}

/* [N,C,H*b,W*b] -> [N,b*b*C,H,W].  Source: ONNX SpaceToDepth-13. */
hd_status k_spacetodepth(const struct hd_kernel *k) {
    const int64_t *x = hd_k_in(k, 0)->dim, b = hd_attr_int(k->n, "blocksize", 1);
    return reorder(k, (int64_t[]){x[0], x[1], x[2] / b, b, x[3] / b, b}, (int[]){0, 3, 5, 1, 2, 4});
}
