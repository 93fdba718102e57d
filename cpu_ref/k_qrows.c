/* Softmax and layer normalisation of bytes: binary32 steps in a fixed order, sums in int32, so that
 * every device gives the same bits.  docs/numerics.md */
#include "cpu_ref/kernels.h"
#include "cpu_ref/walk.h"
#include "runtime/base/fn.h"
#include "runtime/base/num.h"

struct out {
    int32_t zp, lo, hi;
};

static struct out out_of(const struct hd_kernel *k) {
    bool u8 = hd_k_out(k)->dtype == HD_U8;
    return (struct out){(int32_t)hd_attr_int(k->n, "y_zp", 0),
                        (int32_t)hd_attr_int(k->n, "lo", u8 ? 0 : -128),
                        (int32_t)hd_attr_int(k->n, "hi", u8 ? 255 : 127)};
}

/* One row of length n whose elements lie `step` apart, as int32. */
static void row(const struct hd_kernel *k, int64_t first, int64_t step, int64_t n, int32_t *out) {
    for (int64_t i = 0; i < n; i++)
        out[i] = (int32_t)hd_k_i64(k->in[0], hd_k_in(k, 0)->dtype, first + i * step);
}

/* e = exp(x * x_scale - max) in steps of 2^-bits; y = requant(1 / (sum e) * e * scale).
 * x [.., n, ..], n = dimension `axis`. */
hd_status k_qsoftmax(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    int64_t axis = hd_attr_int(k->n, "axis", -1);
    if (axis < 0) axis += t->rank;
    int64_t n = t->dim[axis], inner = hd_elems_of(t->dim, axis + 1, t->rank);
    int bits = hd_softmax_bits(n);
    float x_scale = hd_attr_float(k->n, "x_scale", 1), step = ldexpf(1, -bits);
    float e_scale = step * hd_attr_float(k->n, "scale", 1);
    struct out o = out_of(k);
    int32_t *x = hd_new_array(k->arena, int32_t, (size_t)n + 1);
    for (int64_t r = 0; r < hd_tensor_elems(t) / (n ? n : 1); r++) {
        int64_t first = r / inner * inner * n + r % inner;
        row(k, first, inner, n, x);
        int32_t max = INT32_MIN;
        uint32_t sum = 0;
        for (int64_t i = 0; i < n; i++) max = x[i] > max ? x[i] : max;
        float top = (float)max * x_scale;
        for (int64_t i = 0; i < n; i++) {
            float v = (float)x[i] * x_scale;
            x[i] = hd_round_scaled(hd_fn(HD_FN_EXP, v - top), bits);
            sum += (uint32_t)x[i];
        }
        float over = hd_fn(HD_FN_RCP, (float)(int32_t)sum * step);
        for (int64_t i = 0; i < n; i++) {
            float e = (float)x[i] * e_scale;
            ((uint8_t *)k->out)[first + i * inner] =
                (uint8_t)hd_requant(over * e, o.zp, o.lo, o.hi);
        }
    }
    return HD_OK;
}

/* y = requant((x - mean) / sqrt(var + epsilon) * scale + bias) over the last dimension, n numbers;
 * squares in steps of 2^-bits. centred=0: x - x_zp instead of x - mean. */
hd_status k_qlayernorm(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    const float *scale = k->in[1], *bias = k->in[2];
    int64_t n = t->dim[t->rank - 1];
    int bits = hd_norm_bits(n);
    float per = 1.0f / (float)n, per_square = ldexpf(per, -bits);
    float eps = hd_attr_float(k->n, "epsilon", 0);
    bool centred = hd_attr_int(k->n, "centred", 1) != 0;
    int32_t x_zp = centred ? 0 : (int32_t)hd_attr_int(k->n, "x_zp", 0);
    struct out o = out_of(k);
    int32_t *x = hd_new_array(k->arena, int32_t, (size_t)n + 1);
    float *d = hd_new_array(k->arena, float, (size_t)n + 1);
    for (int64_t first = 0; first < hd_tensor_elems(t); first += n) {
        uint32_t sum = 0, squares = 0;
        row(k, first, 1, n, x);
        for (int64_t i = 0; i < n; i++) sum += (uint32_t)x[i];
        float mean = (float)(int32_t)sum * per;
        for (int64_t i = 0; i < n; i++) {
            d[i] = centred ? (float)x[i] - mean : (float)(x[i] - x_zp);
            squares += (uint32_t)hd_round_scaled(d[i] * d[i], bits);
        }
        float var = (float)(int32_t)squares * per_square;
        float over = hd_fn(HD_FN_RSQRT, var + eps);
        for (int64_t i = 0; i < n; i++) {
            float v = d[i] * scale[i], s = v * over;
            ((uint8_t *)k->out)[first + i] = (uint8_t)hd_requant(s + bias[i], o.zp, o.lo, o.hi);
        }
    }
    return HD_OK;
}
