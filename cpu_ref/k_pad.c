/* Data movement in which the element read depends on the position: padding, cropping, triangles,
 * reversed sequences, columns to image. */
#include <string.h>

#include "compiler/ir/move.h"
#include "cpu_ref/kernels.h"
#include "cpu_ref/walk.h"

/* Index in 0..size-1 that position p, perhaps outside, reads; -1 = the padding value. */
static int64_t source(int64_t p, int64_t size, char mode) {
    if (p >= 0 && p < size) return p;
    if (mode == 'c' || size <= 0) return -1;
    if (mode == 'e') return p < 0 ? 0 : size - 1;
    if (mode == 'w') return (p % size + size) % size;
    int64_t period = hd_max(1, 2 * (size - 1)), q = (p % period + period) % period; /* reflect */
    return q < size ? q : period - q;
}

/* y is x at `before`, which is negative where x is cropped; what is outside follows mode, by what
 * is left of x. */
static hd_status place(const struct hd_kernel *k, const int64_t *before, char mode,
                       const void *value) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    size_t bytes = hd_dtype_bytes(y->dtype);
    int last = y->rank - 1;
    int64_t n = hd_tensor_elems(y), row = last < 0 ? 1 : y->dim[last], dense[HD_MAX_RANK];
    int64_t first[HD_MAX_RANK] = {0}, size[HD_MAX_RANK] = {0};
    hd_walk_dense(x->rank, x->dim, dense);
    for (int d = 0; d <= last; d++) { /* what is left of x */
        first[d] = hd_max(0, -before[d]);
        size[d] = x->dim[d] + hd_min(0, y->dim[d] - x->dim[d] - before[d]) - first[d];
    }
    struct hd_walk w; /* over rows */
    hd_walk_init(&w, last < 0 ? 0 : last, y->dim);
    for (int64_t i = 0; i < n; i += row, hd_walk_next(&w)) {
        int64_t j = 0;
        bool inside = true;
        for (int d = 0; d < last; d++) {
            int64_t s = source(w.at[d] - before[d] - first[d], size[d], mode);
            inside = inside && s >= 0;
            j += (first[d] + s) * dense[d];
        }
        int64_t skipped = last < 0 ? 0 : first[last];
        int64_t from = last < 0 ? 0 : before[last] + first[last], len = last < 0 ? 1 : size[last];
        int64_t left = hd_min(row, hd_max(0, from)), right = hd_max(left, hd_min(row, from + len));
        if (!inside) left = right = 0;
        if (right > left)
            memcpy((char *)k->out + (size_t)(i + left) * bytes,
                   (const char *)k->in[0] + (size_t)(j + skipped + left - from) * bytes,
                   (size_t)(right - left) * bytes);
        for (int64_t c = 0; c < row; c++) {
            if (c == left && right > left) c = right; /* copied */
            if (c == row) break;
            int64_t s = source(c - from, len, mode);
            bool in = inside && s >= 0;
            hd_copy_element(k->out, i + c, in ? k->in[0] : value, in ? j + skipped + s : 0, bytes);
        }
    }
    return HD_OK;
}

/* x, pads, value?, axes?; negative pads crop.  Source: ONNX Pad-19. */
hd_status k_pad(const struct hd_kernel *k) {
    static const uint64_t zero;
    const struct hd_tensor *x = hd_k_in(k, 0);
    int64_t list[2 * HD_MAX_RANK], axes[HD_MAX_RANK], pads[2 * HD_MAX_RANK];
    hd_k_ints(k, 1, list, 2 * HD_MAX_RANK);
    hd_pads_spread(x->rank, list, hd_k_ints(k, 3, axes, HD_MAX_RANK), axes, pads);
    return place(k, pads, hd_attr_string(k->n, "mode", "constant")[0],
                 hd_k_in(k, 2) ? k->in[2] : &zero);
}

/* x, shape: the middle of x, or x in the middle of zeros, along the axes.
 * Source: ONNX CenterCropPad-18. */
hd_status k_centercroppad(const struct hd_kernel *k) {
    static const uint64_t zero;
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    int64_t before[HD_MAX_RANK];
    for (int d = 0; d < x->rank; d++) {
        int64_t grow = y->dim[d] - x->dim[d];
        before[d] = grow < 0 ? -(-grow / 2) : grow / 2;
    }
    return place(k, before, 'c', &zero);
}

/* The part of each matrix on one side of diagonal k, that included; else 0.
 * Source: ONNX Trilu-14. */
hd_status k_trilu(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    size_t bytes = hd_dtype_bytes(x->dtype);
    bool upper = hd_attr_int(k->n, "upper", 1) != 0;
    int64_t diagonal = 0, rows = x->dim[x->rank - 2], cols = x->dim[x->rank - 1];
    hd_k_ints(k, 1, &diagonal, 1);
    for (int64_t i = 0; i < hd_tensor_elems(x); i++) {
        int64_t row = i / cols % rows, col = i % cols;
        if (upper ? diagonal <= col - row : diagonal >= col - row)
            hd_copy_element(k->out, i, k->in[0], i, bytes);
    }
    return HD_OK;
}

/* Ones on diagonal k.  Source: ONNX EyeLike-9. */
hd_status k_eyelike(const struct hd_kernel *k) {
    const struct hd_tensor *y = hd_k_out(k);
    int64_t rows = y->dim[0], cols = y->dim[1], diagonal = hd_attr_int(k->n, "k", 0);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < cols; col++)
            hd_k_put_f64(k->out, y->dtype, row * cols + col, col - row == diagonal);
    return HD_OK;
}

/* x, lengths: the first lengths[b] steps of batch b backwards, the rest as they are.
 * Source: ONNX ReverseSequence-10. */
hd_status k_reversesequence(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    size_t bytes = hd_dtype_bytes(x->dtype);
    int64_t time = hd_k_axis(k, "time_axis", 0, x->rank),
            batch = hd_k_axis(k, "batch_axis", 1, x->rank), n = hd_tensor_elems(x);
    int64_t dense[HD_MAX_RANK];
    hd_walk_dense(x->rank, x->dim, dense);
    for (int64_t b = 0; b < x->dim[batch]; b++) {
        int64_t len = hd_k_i64(k->in[1], hd_k_in(k, 1)->dtype, b);
        if (len < 0 || len > x->dim[time])
            return hd_fail(k->ctx, HD_INVALID, "length %lld of sequence %lld, allowed 0..%lld",
                           (long long)len, (long long)b, (long long)x->dim[time]);
    }
    struct hd_walk w;
    hd_walk_init(&w, x->rank, x->dim);
    for (int64_t i = 0; i < n; i++, hd_walk_next(&w)) {
        int64_t at = w.at[time], len = hd_k_i64(k->in[1], hd_k_in(k, 1)->dtype, w.at[batch]);
        int64_t from = at < len ? len - 1 - at : at;
        hd_copy_element(k->out, i, k->in[0], i + (from - at) * dense[time], bytes);
    }
    return HD_OK;
}

/* [N, C * block, L] -> [N, C, image..]: columns added up where their blocks overlap.
 * Source: ONNX Col2Im-18. */
hd_status k_col2im(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    int r = y->rank - 2;
    int64_t block[HD_MAX_RANK], stride[HD_MAX_RANK], dilation[HD_MAX_RANK], pads[2 * HD_MAX_RANK];
    int64_t steps[HD_MAX_RANK], dim[HD_WALK_RANK] = {y->dim[0], y->dim[1]}, dense[HD_MAX_RANK];
    hd_k_ints(k, 2, block, HD_MAX_RANK);
    hd_attr_ints(k->n, "strides", stride, r, 1);
    hd_attr_ints(k->n, "dilations", dilation, r, 1);
    hd_attr_ints(k->n, "pads", pads, 2 * r, 0);
    for (int d = 0; d < r; d++) {
        steps[d] =
            hd_col2im_steps(y->dim[d + 2], block[d], stride[d], dilation[d], pads[d], pads[d + r]);
        dim[2 + d] = block[d];
        dim[2 + r + d] = steps[d];
    }
    hd_walk_dense(y->rank, y->dim, dense);
    struct hd_walk w; /* over x, seen as [N, C, block.., steps..] */
    hd_walk_init(&w, 2 + 2 * r, dim);
    for (int64_t i = 0; i < hd_tensor_elems(x); i++, hd_walk_next(&w)) {
        int64_t j = w.at[0] * dense[0] + w.at[1] * dense[1];
        bool inside = true;
        for (int d = 0; d < r; d++) {
            int64_t p = w.at[2 + r + d] * stride[d] + w.at[2 + d] * dilation[d] - pads[d];
            inside = inside && p >= 0 && p < y->dim[d + 2];
            j += p * dense[d + 2];
        }
        if (inside)
            hd_k_put_f64(k->out, y->dtype, j,
                         hd_k_f64(k->out, y->dtype, j) + hd_k_f64(k->in[0], x->dtype, i));
    }
    return HD_OK;
}
