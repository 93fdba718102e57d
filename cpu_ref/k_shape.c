/* Data movement: identity, reshape, transpose, concat, pad. Any type, copied byte by byte. */
#include <string.h>

#include "cpu_ref/kernels.h"

static hd_status copy(const struct hd_kernel *k) {
    memcpy(k->out, k->in[0], hd_tensor_bytes(hd_k_out(k)));
    return HD_OK;
}

hd_status k_identity(const struct hd_kernel *k) {
    return copy(k);
}
hd_status k_reshape(const struct hd_kernel *k) {
    return copy(k);
}

hd_status k_squeeze(const struct hd_kernel *k) {
    return copy(k);
}
hd_status k_unsqueeze(const struct hd_kernel *k) {
    return copy(k);
}
hd_status k_flatten(const struct hd_kernel *k) {
    return copy(k);
}

/* ---- shapes as values ---- */

/* Source: ONNX Shape-15. */
hd_status k_shape(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    int64_t from = hd_attr_int(k->n, "start", 0), n = hd_k_out(k)->dim[0];
    from = from < 0 ? from + x->rank : from;
    if (n) memcpy(k->out, x->dim + (from < 0 ? 0 : from), (size_t)n * sizeof *x->dim);
    return HD_OK;
}

hd_status k_size(const struct hd_kernel *k) {
    *(int64_t *)k->out = hd_tensor_elems(hd_k_in(k, 0));
    return HD_OK;
}

/* Source: ONNX ConstantOfShape-9. */
hd_status k_fill(const struct hd_kernel *k) {
    const struct hd_tensor *y = hd_k_out(k);
    size_t bytes = hd_dtype_bytes(y->dtype), n = (size_t)hd_tensor_elems(y);
    for (size_t i = 0; i < n; i++) memcpy((char *)k->out + i * bytes, k->in[1], bytes);
    return HD_OK;
}

/* y[i] = start + i * delta.  Source: ONNX Range-11. */
hd_status k_range(const struct hd_kernel *k) {
    hd_dtype t = hd_k_out(k)->dtype;
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++)
        if (hd_k_is_float(t))
            hd_k_put_f64(k->out, t, i,
                         hd_k_f64(k->in[0], t, 0) + (double)i * hd_k_f64(k->in[2], t, 0));
        else
            hd_k_put_i64(k->out, t, i, hd_k_i64(k->in[0], t, 0) + i * hd_k_i64(k->in[2], t, 0));
    return HD_OK;
}

/* ---- moving ---- */

/* y[i] = x[j] with j[perm[d]] = i[d].  Source: ONNX Transpose-13. */
hd_status k_transpose(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    int64_t perm[HD_MAX_RANK], at[HD_MAX_RANK], n = hd_tensor_elems(y);
    size_t bytes = hd_dtype_bytes(y->dtype);
    hd_attr_ints(k->n, "perm", perm, HD_MAX_RANK, 0);
    for (int64_t i = 0; i < n; i++) {
        int64_t from[HD_MAX_RANK] = {0}, j = 0;
        hd_k_unravel(i, y, at);
        for (int d = 0; d < y->rank; d++) from[perm[d]] = at[d];
        for (int d = 0; d < x->rank; d++) j = j * x->dim[d] + from[d];
        memcpy((char *)k->out + (size_t)i * bytes, (const char *)k->in[0] + (size_t)j * bytes,
               bytes);
    }
    return HD_OK;
}

/* Operands one after the other along `axis`.  Source: ONNX Concat-13. */
hd_status k_concat(const struct hd_kernel *k) {
    const struct hd_tensor *y = hd_k_out(k);
    int64_t axis = hd_attr_int(k->n, "axis", 0), outer = 1,
            inner = (int64_t)hd_dtype_bytes(y->dtype);
    if (axis < 0) axis += y->rank;
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

/* Constant padding; negative pads crop.  Source: ONNX Pad-13, mode constant. */
hd_status k_pad(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    int64_t pads[2 * HD_MAX_RANK], at[HD_MAX_RANK], n = hd_tensor_elems(y);
    size_t bytes = hd_dtype_bytes(y->dtype);
    float value = hd_attr_float(k->n, "value", 0);
    hd_attr_ints(k->n, "pads", pads, 2 * HD_MAX_RANK, 0);
    bool byte = (y->dtype == HD_I8 && value >= -128 && value <= 127) ||
                (y->dtype == HD_U8 && value >= 0 && value <= 255);
    if (value != 0 && y->dtype != HD_F32 && !byte)
        return hd_fail(k->ctx, HD_UNSUPPORTED,
                       "pad value %g of type %s, allowed: f32, a value of i8 or u8, or 0",
                       (double)value, hd_dtype_name(y->dtype));
    for (int64_t i = 0; i < n; i++) {
        int64_t j = 0;
        bool inside = true;
        hd_k_unravel(i, y, at);
        for (int d = 0; d < x->rank; d++) {
            int64_t p = at[d] - pads[d];
            inside = inside && p >= 0 && p < x->dim[d];
            j = j * x->dim[d] + p;
        }
        char *out = (char *)k->out + (size_t)i * bytes;
        if (inside)
            memcpy(out, (const char *)k->in[0] + (size_t)j * bytes, bytes);
        else if (y->dtype == HD_F32)
            memcpy(out, &value, 4);
        else
            memset(out, byte ? (int)value & 255 : 0, bytes);
    }
    return HD_OK;
}
