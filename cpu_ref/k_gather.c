/* Data movement by indexes: gather, scatter, one-hot, compress, nonzero. Indexes may be negative
 * (they count from the end); those out of range are errors. */
#include <string.h>

#include "compiler/ir/move.h"
#include "cpu_ref/kernels.h"
#include "cpu_ref/walk.h"

/* Element i of index operand `op`, in 0..size-1. */
static hd_status index_at(const struct hd_kernel *k, int op, int64_t i, int64_t size,
                          int64_t *out) {
    int64_t v = hd_k_i64(k->in[op], hd_k_in(k, op)->dtype, i);
    *out = v < 0 ? v + size : v;
    if (v >= -size && v < size) return HD_OK;
    return hd_fail(k->ctx, HD_INVALID, "index %lld (element %lld of '%s'), allowed %lld..%lld",
                   (long long)v, (long long)i, hd_k_in(k, op)->name, (long long)-size,
                   (long long)size - 1);
}

/* y [a.., index.., b..] from x [a.., axis, b..].  Source: ONNX Gather-13. */
hd_status k_gather(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    int64_t axis = hd_k_axis(k, "axis", 0, x->rank), outer = hd_elems_of(x->dim, 0, axis),
            n = hd_tensor_elems(hd_k_in(k, 1)), at = 0;
    size_t bytes = (size_t)hd_elems_of(x->dim, axis + 1, x->rank) * hd_dtype_bytes(x->dtype);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < n; i++) {
            TRY(index_at(k, 1, i, x->dim[axis], &at));
            if (bytes) hd_copy_element(k->out, o * n + i, k->in[0], o * x->dim[axis] + at, bytes);
        }
    return HD_OK;
}

/* y[i][j] = x[index[i][j]][j] for axis 0.  Source: ONNX GatherElements-13. */
hd_status k_gatherelements(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    int64_t axis = hd_k_axis(k, "axis", 0, x->rank), dense[HD_MAX_RANK], n = hd_tensor_elems(y),
            at = 0;
    struct hd_walk w;
    hd_walk_dense(x->rank, x->dim, dense);
    int64_t along = dense[axis];
    dense[axis] = 0;
    hd_walk_init(&w, y->rank, y->dim);
    hd_walk_strides(&w, 0, 0, dense);
    for (int64_t i = 0; i < n; i++, hd_walk_next(&w)) {
        TRY(index_at(k, 1, i, x->dim[axis], &at));
        hd_copy_element(k->out, i, k->in[0], w.index[0] + at * along, hd_dtype_bytes(y->dtype));
    }
    return HD_OK;
}

/* Offset, in slices, that tuple i of `width` indexes names in x behind `batch` dimensions. */
static hd_status tuple_at(const struct hd_kernel *k, int64_t i, int64_t width, const int64_t *dim,
                          int64_t *out) {
    int64_t offset = 0, at = 0;
    for (int64_t d = 0; d < width; d++) {
        TRY(index_at(k, 1, i * width + d, dim[d], &at));
        offset = offset * dim[d] + at;
    }
    *out = offset;
    return HD_OK;
}

/* Each tuple of the last dimension of the indexes names a slice of x, within its batch.
 * Source: ONNX GatherND-13. */
hd_status k_gathernd(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *t = hd_k_in(k, 1);
    int64_t batch = hd_attr_int(k->n, "batch_dims", 0), width = t->dim[t->rank - 1], at = 0;
    int64_t batches = hd_elems_of(x->dim, 0, batch), n = hd_elems_of(t->dim, batch, t->rank - 1),
            slices = hd_elems_of(x->dim, batch, batch + width);
    size_t bytes = (size_t)hd_elems_of(x->dim, batch + width, x->rank) * hd_dtype_bytes(x->dtype);
    for (int64_t i = 0; i < batches * n; i++) {
        TRY(tuple_at(k, i, width, x->dim + batch, &at));
        if (bytes) hd_copy_element(k->out, i, k->in[0], i / n * slices + at, bytes);
    }
    return HD_OK;
}

enum how { NONE, ADD, MUL, MAX, MIN };

static enum how reduction(const struct hd_kernel *k) {
    static const char *const names[] = {"none", "add", "mul", "max", "min"};
    const char *s = hd_attr_string(k->n, "reduction", "none");
    int i = MIN;
    while (i > NONE && strcmp(s, names[i])) i--;
    return (enum how)i;
}

/* y[at] = y[at] how v[i] */
static void combine(enum how how, hd_dtype t, void *y, int64_t at, const void *v, int64_t i) {
    if (how == ADD || how == MUL) {
        if (hd_k_is_float(t)) {
            double a = hd_k_f64(y, t, at), b = hd_k_f64(v, t, i);
            hd_k_put_f64(y, t, at, how == MUL ? a * b : a + b);
        } else {
            uint64_t a = (uint64_t)hd_k_i64(y, t, at), b = (uint64_t)hd_k_i64(v, t, i);
            hd_k_put_i64(y, t, at, (int64_t)(how == MUL ? a * b : a + b));
        }
        return;
    }
    int64_t old = hd_k_key(y, t, at), new = hd_k_key(v, t, i);
    if (how == NONE || (how == MAX ? new > old : new < old))
        hd_copy_element(y, at, v, i, hd_dtype_bytes(t));
}

/* cache, update, first place per batch?: y = cache, its places from there on along the axis taken
 * by the update; circular: behind the last is the first.  Source: ONNX TensorScatter-24. */
hd_status k_tensorscatter(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *u = hd_k_in(k, 1), *f = hd_k_in(k, 2);
    int64_t axis = hd_k_axis(k, "axis", -2, x->rank), size = x->dim[axis], n = u->dim[axis];
    int64_t outer = hd_elems_of(x->dim, 0, axis), each = x->dim[0] ? outer / x->dim[0] : 0;
    size_t bytes = (size_t)hd_elems_of(x->dim, axis + 1, x->rank) * hd_dtype_bytes(x->dtype);
    bool circular = !strcmp(hd_attr_string(k->n, "mode", "linear"), "circular");
    if (hd_tensor_bytes(x)) memcpy(k->out, k->in[0], hd_tensor_bytes(x));
    for (int64_t o = 0; o < outer; o++) {
        int64_t first = f ? hd_k_i64(k->in[2], f->dtype, o / each) : 0;
        if (first < 0 || first > size || (!circular && first > size - n))
            return hd_fail(k->ctx, HD_INVALID, "place %lld of batch %lld, allowed 0..%lld",
                           (long long)first, (long long)(o / each),
                           (long long)(circular ? size : size - n));
        for (int64_t i = 0; i < n && bytes; i++)
            hd_copy_element(k->out, o * size + (first + i) % size, k->in[1], o * n + i, bytes);
    }
    return HD_OK;
}

/* x, index, updates; y = x, then y[index[i][j]][j] takes updates[i][j] for axis 0, in order.
 * Source: ONNX ScatterElements-18. */
hd_status k_scatterelements(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *u = hd_k_in(k, 2);
    enum how how = reduction(k);
    int64_t axis = hd_k_axis(k, "axis", 0, x->rank), dense[HD_MAX_RANK], n = hd_tensor_elems(u),
            at = 0;
    if (hd_tensor_bytes(x)) memcpy(k->out, k->in[0], hd_tensor_bytes(x));
    struct hd_walk w;
    hd_walk_dense(x->rank, x->dim, dense);
    int64_t along = dense[axis];
    dense[axis] = 0;
    hd_walk_init(&w, u->rank, u->dim);
    hd_walk_strides(&w, 0, 0, dense);
    for (int64_t i = 0; i < n; i++, hd_walk_next(&w)) {
        TRY(index_at(k, 1, i, x->dim[axis], &at));
        combine(how, x->dtype, k->out, w.index[0] + at * along, k->in[2], i);
    }
    return HD_OK;
}

/* x, index, updates; y = x, then the slice that tuple i names takes slice i of the updates.
 * Source: ONNX ScatterND-18. */
hd_status k_scatternd(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *t = hd_k_in(k, 1);
    enum how how = reduction(k);
    int64_t width = t->dim[t->rank - 1], n = hd_elems_of(t->dim, 0, t->rank - 1), at = 0,
            size = hd_elems_of(x->dim, width, x->rank);
    if (hd_tensor_bytes(x)) memcpy(k->out, k->in[0], hd_tensor_bytes(x));
    for (int64_t i = 0; i < n; i++) {
        TRY(tuple_at(k, i, width, x->dim, &at));
        for (int64_t j = 0; j < size; j++)
            combine(how, x->dtype, k->out, at * size + j, k->in[2], i * size + j);
    }
    return HD_OK;
}

/* index, depth, values [off, on]: a new dimension of size depth at `axis`, on at the index; an
 * index out of range gives no on.  Source: ONNX OneHot-11. */
hd_status k_onehot(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    int64_t axis = hd_k_axis(k, "axis", -1, y->rank), depth = y->dim[axis],
            inner = hd_elems_of(y->dim, axis + 1, y->rank), n = hd_tensor_elems(y);
    for (int64_t i = 0; i < n; i++) {
        int64_t from = i / inner / depth * inner + i % inner, at = i / inner % depth;
        int64_t v = hd_k_i64(k->in[0], x->dtype, from);
        hd_copy_element(k->out, i, k->in[2], v == at || v + depth == at, hd_dtype_bytes(y->dtype));
    }
    return HD_OK;
}

/* y [rank, n]: positions of the elements that are not zero, in order; a scalar counts as [1].
 * Source: ONNX NonZero-13. */
hd_status k_nonzero(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    int64_t n = hd_tensor_elems(x), found = 0, j = 0, rank = hd_max(x->rank, 1);
    void *out = NULL;
    for (int64_t i = 0; i < n; i++) found += hd_k_f64(k->in[0], x->dtype, i) != 0;
    TRY(hd_k_result(k, 0, HD_I64, 2, (int64_t[]){rank, found}, &out));
    struct hd_walk w;
    hd_walk_init(&w, x->rank, x->dim);
    for (int64_t i = 0; out && i < n; i++, hd_walk_next(&w)) {
        if (hd_k_f64(k->in[0], x->dtype, i) == 0) continue;
        for (int64_t d = 0; d < rank; d++) ((int64_t *)out)[d * found + j] = w.at[d];
        j++;
    }
    return HD_OK;
}

/* x, condition: the slices along `axis` (without it: the elements) whose condition is true.
 * Source: ONNX Compress-11. */
hd_status k_compress(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    const uint8_t *keep = k->in[1];
    bool flat = !hd_attr_get(k->n, "axis");
    int64_t axis = flat ? 0 : hd_k_axis(k, "axis", 0, x->rank), kept = 0, j = 0, dim[HD_MAX_RANK];
    int64_t size = flat ? hd_tensor_elems(x) : x->dim[axis],
            outer = flat ? 1 : hd_elems_of(x->dim, 0, axis),
            inner = flat ? 1 : hd_elems_of(x->dim, axis + 1, x->rank);
    int64_t n = hd_min(size, hd_tensor_elems(hd_k_in(k, 1)));
    for (int64_t i = 0; i < n; i++) kept += keep[i];
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = kept;
    void *out = NULL;
    TRY(hd_k_result(k, 0, x->dtype, flat ? 1 : x->rank, dim, &out));
    size_t bytes = (size_t)inner * hd_dtype_bytes(x->dtype);
    for (int64_t o = 0; out && bytes && o < outer; o++)
        for (int64_t i = 0; i < n; i++)
            if (keep[i]) hd_copy_element(out, j++, k->in[0], o * size + i, bytes);
    return HD_OK;
}
