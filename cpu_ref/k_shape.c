/* Identity, reshape and its kin, shapes as values. Any type, copied byte by byte. */
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

/* The runner changes the variable (golden.c). */
hd_status k_assign(const struct hd_kernel *k) {
    if (hd_tensor_bytes(hd_k_out(k))) memcpy(k->out, k->in[1], hd_tensor_bytes(hd_k_out(k)));
    return HD_OK;
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
