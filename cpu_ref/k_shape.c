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

/* Splits index i of a dense tensor into one index per dimension. */
static void unravel(int64_t i, const struct hd_tensor *t, int64_t *at) {
    for (int d = t->rank - 1; d >= 0; d--) {
        at[d] = i % t->dim[d];
        i /= t->dim[d];
    }
}

/* y[i] = x[j] with j[perm[d]] = i[d].  Source: ONNX Transpose-13. */
hd_status k_transpose(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    int64_t perm[HD_MAX_RANK], at[HD_MAX_RANK], n = hd_tensor_elems(y);
    size_t bytes = hd_dtype_bytes(y->dtype);
    hd_attr_ints(k->n, "perm", perm, HD_MAX_RANK, 0);
    for (int64_t i = 0; i < n; i++) {
        int64_t from[HD_MAX_RANK] = {0}, j = 0;
        unravel(i, y, at);
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
        unravel(i, y, at);
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
