/* Quantise, dequantise, and the elementwise quantised operations. */
#include <math.h>

#include "cpu_ref/kernels.h"
#include "runtime/base/num.h"

static int32_t integer(hd_dtype t, const void *p, int64_t i) {
    switch (t) {
    case HD_U8:
        return ((const uint8_t *)p)[i];
    case HD_I8:
        return ((const int8_t *)p)[i];
    case HD_U16:
        return ((const uint16_t *)p)[i];
    case HD_I16:
        return ((const int16_t *)p)[i];
    default:
        return ((const int32_t *)p)[i];
    }
}

/* Index of the scale that element i uses: one for all, or one per index of `axis`. */
static int64_t scale_index(const struct hd_kernel *k, int64_t i) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    if (hd_tensor_elems(hd_k_in(k, 1)) == 1) return 0;
    int64_t axis = hd_attr_int(k->n, "axis", 1), inner = 1;
    for (int64_t d = axis + 1; d < x->rank; d++) inner *= x->dim[d];
    return i / inner % x->dim[axis];
}

/* y = saturate(rint(x / scale) + zero_point); NaN quantises to the zero point.
 * Source: ONNX QuantizeLinear-13. */
hd_status k_quantize(const struct hd_kernel *k) {
    const float *x = k->in[0], *scale = k->in[1];
    hd_dtype t = hd_k_out(k)->dtype;
    int64_t n = hd_tensor_elems(hd_k_out(k));
    int32_t lo = t == HD_I8 ? -128 : t == HD_I16 ? -32768 : 0;
    int32_t hi = t == HD_I8 ? 127 : t == HD_U8 ? 255 : t == HD_I16 ? 32767 : 65535;
    for (int64_t i = 0; i < n; i++) {
        int64_t s = scale_index(k, i);
        int32_t q = hd_requant(x[i] / scale[s], integer(t, k->in[2], s), lo, hi);
        if (t == HD_I8 || t == HD_U8)
            ((uint8_t *)k->out)[i] = (uint8_t)q;
        else
            ((uint16_t *)k->out)[i] = (uint16_t)q;
    }
    return HD_OK;
}

/* y = (x - zero_point) * scale.  Source: ONNX DequantizeLinear-13. */
hd_status k_dequantize(const struct hd_kernel *k) {
    const float *scale = k->in[1];
    hd_dtype t = hd_k_in(k, 0)->dtype;
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++) {
        int64_t s = scale_index(k, i);
        int32_t d =
            (int32_t)((uint32_t)integer(t, k->in[0], i) - (uint32_t)integer(t, k->in[2], s));
        ((float *)k->out)[i] = (float)d * scale[s];
    }
    return HD_OK;
}

struct clamp {
    int32_t zp, lo, hi;
};

static struct clamp clamp_of(const struct hd_kernel *k) {
    bool u8 = hd_k_out(k)->dtype == HD_U8;
    return (struct clamp){(int32_t)hd_attr_int(k->n, "y_zp", 0),
                          (int32_t)hd_attr_int(k->n, "lo", u8 ? 0 : -128),
                          (int32_t)hd_attr_int(k->n, "hi", u8 ? 255 : 127)};
}

/* y = requant((a - a_zp) * a_scale + (b - b_zp) * b_scale), each step rounded to binary32.
 * docs/numerics.md */
hd_status k_qadd(const struct hd_kernel *k) {
    int32_t a_zp = (int32_t)hd_attr_int(k->n, "a_zp", 0),
            b_zp = (int32_t)hd_attr_int(k->n, "b_zp", 0);
    float a_scale = hd_attr_float(k->n, "a_scale", 1), b_scale = hd_attr_float(k->n, "b_scale", 1);
    struct clamp c = clamp_of(k);
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++) {
        float a = (float)(integer(hd_k_in(k, 0)->dtype, k->in[0], i) - a_zp) * a_scale;
        float b = (float)(integer(hd_k_in(k, 1)->dtype, k->in[1], i) - b_zp) * b_scale;
        ((uint8_t *)k->out)[i] = (uint8_t)hd_requant(a + b, c.zp, c.lo, c.hi);
    }
    return HD_OK;
}

/* y = requant((x - x_zp) * scale).  docs/numerics.md */
hd_status k_qrescale(const struct hd_kernel *k) {
    int32_t x_zp = (int32_t)hd_attr_int(k->n, "x_zp", 0);
    float scale = hd_attr_float(k->n, "scale", 1);
    struct clamp c = clamp_of(k);
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++) {
        float v = (float)(integer(hd_k_in(k, 0)->dtype, k->in[0], i) - x_zp) * scale;
        ((uint8_t *)k->out)[i] = (uint8_t)hd_requant(v, c.zp, c.lo, c.hi);
    }
    return HD_OK;
}
