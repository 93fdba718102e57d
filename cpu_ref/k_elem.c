/* Conversions between types. */
#include <string.h>

#include "cpu_ref/kernels.h"
#include "runtime/base/small.h"

/* To a float of one byte or less, as the attributes say: saturate, and for e8m0 round_mode. */
static void cast_small(const struct hd_kernel *k, enum hd_small small) {
    bool saturate = hd_attr_int(k->n, "saturate", 1) != 0;
    const char *mode = hd_attr_string(k->n, "round_mode", "up");
    int dir = !strcmp(mode, "up") ? 1 : !strcmp(mode, "down") ? -1 : 0;
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++) {
        double v = hd_k_f64(k->in[0], hd_k_in(k, 0)->dtype, i);
        ((uint8_t *)k->out)[i] = small == HD_SMALL_E8M0 ? hd_small_power(v, dir, saturate)
                                                        : hd_small_bits(small, v, saturate);
    }
}

/* Float to integer truncates and saturates, NaN gives 0 (ONNX leaves both open); integers wrap.
 * Source: ONNX Cast-25. */
hd_status k_cast(const struct hd_kernel *k) {
    hd_dtype from = hd_k_in(k, 0)->dtype, to = hd_k_out(k)->dtype;
    int64_t n = hd_tensor_elems(hd_k_out(k));
    if (hd_k_small(to) >= 0) {
        cast_small(k, (enum hd_small)hd_k_small(to));
        return HD_OK;
    }
    for (int64_t i = 0; i < n; i++)
        if (hd_k_is_float(from) || hd_k_is_float(to))
            hd_k_put_f64(k->out, to, i, hd_k_f64(k->in[0], from, i));
        else
            hd_k_put_i64(k->out, to, i, hd_k_i64(k->in[0], from, i));
    return HD_OK;
}

/* The same bits; a bool is 1 for any but 0.  Source: ONNX BitCast-26. */
hd_status k_bitcast(const struct hd_kernel *k) {
    const struct hd_tensor *y = hd_k_out(k);
    size_t n = hd_tensor_bytes(y);
    uint8_t *to = k->out;
    if (n) memcpy(to, k->in[0], n);
    for (size_t i = 0; y->dtype == HD_BOOL && i < n; i++) to[i] = to[i] != 0;
    if (hd_dtype_bits(y->dtype) >= 8) return HD_OK;
    for (size_t i = 0; i < n; i++) /* the sign of i4 and i2 fills the byte, that of u4 does not */
        hd_k_put_i64(to, y->dtype, (int64_t)i, to[i]);
    return HD_OK;
}
