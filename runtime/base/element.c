/* Elements of any type. */
#include "runtime/base/element.h"

#include <math.h>

#include "runtime/base/half.h"
#include "runtime/base/small.h"

int hd_k_small(hd_dtype t) {
    switch (t) {
    case HD_F8E4M3FN:
        return HD_SMALL_E4M3FN;
    case HD_F8E4M3FNUZ:
        return HD_SMALL_E4M3FNUZ;
    case HD_F8E5M2:
        return HD_SMALL_E5M2;
    case HD_F8E5M2FNUZ:
        return HD_SMALL_E5M2FNUZ;
    case HD_F4E2M1:
        return HD_SMALL_E2M1;
    case HD_F8E8M0:
        return HD_SMALL_E8M0;
    default:
        return -1;
    }
}

bool hd_k_is_float(hd_dtype t) {
    return t == HD_F32 || t == HD_F64 || t == HD_F16 || t == HD_BF16 || hd_k_small(t) >= 0;
}

double hd_k_f64(const void *p, hd_dtype t, int64_t i) {
    switch (t) {
    case HD_F32:
        return (double)((const float *)p)[i];
    case HD_F64:
        return ((const double *)p)[i];
    case HD_F16:
        return (double)hd_f16_to_f32(((const uint16_t *)p)[i]);
    case HD_BF16:
        return (double)hd_bf16_to_f32(((const uint16_t *)p)[i]);
    case HD_U64:
        return (double)((const uint64_t *)p)[i];
    default:
        if (hd_k_small(t) >= 0)
            return hd_small_value((enum hd_small)hd_k_small(t), ((const uint8_t *)p)[i]);
        return (double)hd_k_i64(p, t, i);
    }
}

/* Truncates and saturates; NaN gives 0. */
static int64_t to_i64(double v) {
    if (!(v == v)) return 0;
    if (v >= 0x1p63) return INT64_MAX;
    if (v < -0x1p63) return INT64_MIN;
    return (int64_t)v;
}

int64_t hd_k_i64(const void *p, hd_dtype t, int64_t i) {
    switch (t) {
    case HD_U8:
    case HD_U4:
    case HD_U2:
    case HD_BOOL:
        return ((const uint8_t *)p)[i];
    case HD_I8:
    case HD_I4:
    case HD_I2:
        return ((const int8_t *)p)[i];
    case HD_U16:
        return ((const uint16_t *)p)[i];
    case HD_I16:
        return ((const int16_t *)p)[i];
    case HD_I32:
        return ((const int32_t *)p)[i];
    case HD_U32:
        return ((const uint32_t *)p)[i];
    case HD_I64:
    case HD_U64:
        return ((const int64_t *)p)[i];
    default:
        return to_i64(hd_k_f64(p, t, i));
    }
}

/* Float to integer truncates and saturates; NaN gives 0. ONNX leaves both open. */
static double clamp_to(double v, double lo, double hi) {
    return !(v == v) ? 0 : v < lo ? lo : v > hi ? hi : trunc(v);
}

/* Floats of a byte; integers below one wrap. */
static void put_small(uint8_t *p, hd_dtype t, int64_t i, double v) {
    if (hd_k_small(t) >= 0)
        p[i] = hd_small_bits((enum hd_small)hd_k_small(t), v, true);
    else
        hd_k_put_i64(p, t, i, to_i64(v));
}

void hd_k_put_f64(void *p, hd_dtype t, int64_t i, double v) {
    switch (t) {
    case HD_F32:
        ((float *)p)[i] = (float)v;
        break;
    case HD_F64:
        ((double *)p)[i] = v;
        break;
    case HD_F16:
        ((uint16_t *)p)[i] = hd_f32_to_f16((float)v);
        break;
    case HD_BF16:
        ((uint16_t *)p)[i] = hd_f32_to_bf16((float)v);
        break;
    case HD_BOOL:
        ((uint8_t *)p)[i] = v != 0;
        break;
    case HD_U8:
        ((uint8_t *)p)[i] = (uint8_t)clamp_to(v, 0, 255);
        break;
    case HD_I8:
        ((int8_t *)p)[i] = (int8_t)clamp_to(v, -128, 127);
        break;
    case HD_U16:
        ((uint16_t *)p)[i] = (uint16_t)clamp_to(v, 0, 65535);
        break;
    case HD_I16:
        ((int16_t *)p)[i] = (int16_t)clamp_to(v, -32768, 32767);
        break;
    case HD_I32:
        ((int32_t *)p)[i] = (int32_t)clamp_to(v, -2147483648.0, 2147483647.0);
        break;
    case HD_U32:
        ((uint32_t *)p)[i] = (uint32_t)clamp_to(v, 0, 4294967295.0);
        break;
    case HD_U64:
        ((uint64_t *)p)[i] = v >= 0x1p64 ? UINT64_MAX : (uint64_t)clamp_to(v, 0, 0x1p64);
        break;
    case HD_I64:
        ((int64_t *)p)[i] = to_i64(v);
        break;
    default:
        put_small(p, t, i, v);
    }
}

void hd_k_put_i64(void *p, hd_dtype t, int64_t i, int64_t v) {
    switch (t) {
    case HD_BOOL:
        ((uint8_t *)p)[i] = v != 0;
        break;
    case HD_U8:
    case HD_I8:
        ((uint8_t *)p)[i] = (uint8_t)v;
        break;
    case HD_U16:
    case HD_I16:
        ((uint16_t *)p)[i] = (uint16_t)v;
        break;
    case HD_I32:
    case HD_U32:
        ((uint32_t *)p)[i] = (uint32_t)v;
        break;
    case HD_I64:
    case HD_U64:
        ((int64_t *)p)[i] = v;
        break;
    case HD_U4:
    case HD_U2:
        ((uint8_t *)p)[i] = (uint8_t)(v & ((1 << hd_dtype_bits(t)) - 1));
        break;
    case HD_I4:
    case HD_I2: { /* the low bits, the highest of them as the sign */
        int64_t half = 1 << (hd_dtype_bits(t) - 1);
        ((int8_t *)p)[i] = (int8_t)(((v + half) & (2 * half - 1)) - half);
        break;
    }
    default:
        hd_k_put_f64(p, t, i, (double)v);
    }
}
