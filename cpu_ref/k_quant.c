/* Quantise, dequantise, and the elementwise quantised operations. */
#include <math.h>

#include "cpu_ref/kernels.h"
#include "cpu_ref/walk.h"
#include "runtime/base/fn.h"
#include "runtime/base/num.h"

/* Neighbours that share a scale: all of them, or those behind `axis`. Run r uses scale r %
 * n_scales. */
static int64_t run_length(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    int64_t inner = 1;
    if (hd_tensor_elems(hd_k_in(k, 1)) == 1) return hd_max(hd_tensor_elems(x), 1);
    for (int64_t d = hd_attr_int(k->n, "axis", 1) + 1; d < x->rank; d++) inner *= x->dim[d];
    return hd_max(inner, 1);
}

/* The loops that the host's quantize and dequantize spend their time in: floats and bytes.
 * hd_requant() written as choices, so that compilers can make vectors of it. */
static inline int32_t requant(float v, int32_t zp, int32_t lo, int32_t hi) {
    const float most = 1073741824.0f;
    v = v == v ? v : 0.0f;
    v = v < -most ? -most : v;
    v = v > most ? most : v;
    int32_t q = (int32_t)rintf(v) + zp;
    q = q < lo ? lo : q;
    return q > hi ? hi : q;
}

static void bytes_of_floats(uint8_t *y, const float *x, int64_t n, float scale, int32_t zp,
                            int32_t lo, int32_t hi) {
    for (int64_t i = 0; i < n; i++) y[i] = (uint8_t)requant(x[i] / scale, zp, lo, hi);
}

/* A scale and zero point for each element of a tile, which repeats: short runs, such as channels
 * last. */
enum { TILE = 768 };

static void tiles_of_floats(const struct hd_kernel *k, int64_t n, int64_t run, int32_t lo,
                            int32_t hi) {
    float scale[TILE] = {0};
    int32_t zp[TILE] = {0};
    int64_t n_scales = hd_tensor_elems(hd_k_in(k, 1)), period = run * n_scales;
    int64_t tile = TILE / period * period;
    for (int64_t i = 0; i < tile; i++) {
        scale[i] = ((const float *)k->in[1])[i / run % n_scales];
        zp[i] = (int32_t)hd_k_i64(k->in[2], hd_k_out(k)->dtype, i / run % n_scales);
    }
    for (int64_t first = 0; first < n; first += tile) {
        const float *x = (const float *)k->in[0] + first;
        uint8_t *y = (uint8_t *)k->out + first;
        int64_t m = hd_min(tile, n - first);
        for (int64_t i = 0; i < m; i++) y[i] = (uint8_t)requant(x[i] / scale[i], zp[i], lo, hi);
    }
}

static void floats_of_bytes(float *y, const void *x, bool has_sign, int64_t n, float scale,
                            int32_t zp) {
    const uint8_t *u = x;
    const int8_t *s = x;
    if (has_sign)
        for (int64_t i = 0; i < n; i++) y[i] = (float)(s[i] - zp) * scale;
    else
        for (int64_t i = 0; i < n; i++) y[i] = (float)(u[i] - zp) * scale;
}

/* y = saturate(rint(x / scale) + zero_point); NaN quantises to the zero point.
 * Source: ONNX QuantizeLinear-13. */
hd_status k_quantize(const struct hd_kernel *k) {
    const float *scale = k->in[1];
    hd_dtype t = hd_k_out(k)->dtype, from = hd_k_in(k, 0)->dtype;
    int64_t n = hd_tensor_elems(hd_k_out(k));
    int32_t lo = hd_dtype_least(t), hi = hd_dtype_most(t);
    int64_t run = run_length(k), n_scales = hd_tensor_elems(hd_k_in(k, 1));
    bool bytes = t == HD_I8 || t == HD_U8;
    if (n && bytes && from == HD_F32 && run < 16 && run * n_scales <= TILE) {
        tiles_of_floats(k, n, run, lo, hi);
        return HD_OK;
    }
    for (int64_t first = 0, r = 0; first < n; first += run, r++) {
        int64_t s = r % n_scales;
        int32_t zp = (int32_t)hd_k_i64(k->in[2], t, s);
        if (bytes && from == HD_F32) {
            bytes_of_floats((uint8_t *)k->out + first, (const float *)k->in[0] + first, run,
                            scale[s], zp, lo, hi);
            continue;
        }
        for (int64_t i = first; i < first + run; i++) {
            int32_t q = hd_requant((float)hd_k_f64(k->in[0], from, i) / scale[s], zp, lo, hi);
            hd_k_put_q(k->out, t, i, q);
        }
    }
    return HD_OK;
}

/* y = (x - zero_point) * scale.  Source: ONNX DequantizeLinear-13. */
hd_status k_dequantize(const struct hd_kernel *k) {
    const float *scale = k->in[1];
    hd_dtype t = hd_k_in(k, 0)->dtype;
    int64_t n = hd_tensor_elems(hd_k_out(k)), run = run_length(k);
    int64_t n_scales = hd_tensor_elems(hd_k_in(k, 1));
    for (int64_t first = 0, r = 0; first < n; first += run, r++) {
        int64_t s = r % n_scales, zp = hd_k_i64(k->in[2], t, s);
        float *y = (float *)k->out + first;
        if (t == HD_I8 || t == HD_U8) {
            floats_of_bytes(y, (const uint8_t *)k->in[0] + first, t == HD_I8, run, scale[s],
                            (int32_t)zp);
            continue;
        }
        for (int64_t i = 0; i < run; i++) {
            uint32_t d = (uint32_t)hd_k_i64(k->in[0], t, first + i) - (uint32_t)zp;
            y[i] = (float)(int32_t)d * scale[s];
        }
    }
    return HD_OK;
}

/* y u8 = quantised x f32 with scale and zero point from its range, which includes 0; all in
 * binary32. scale = (max - min) / 255, or 1 when x is all 0; zero point = clamp(rint(0 - min /
 * scale), 0, 255) Outputs: y, scale f32 [], zero_point u8 [].  Source: ONNX
 * DynamicQuantizeLinear-11.  docs/numerics.md */
hd_status k_dynamicquantize(const struct hd_kernel *k) {
    const float *x = k->in[0];
    int64_t n = hd_tensor_elems(hd_k_in(k, 0));
    float min = 0, max = 0;
    for (int64_t i = 0; i < n; i++) {
        min = x[i] < min ? x[i] : min;
        max = x[i] > max ? x[i] : max;
    }
    float scale = max == min ? 1.0f : (max - min) / 255.0f;
    int32_t zero = hd_requant(0.0f - min / scale, 0, 0, 255);
    uint8_t *y = hd_k_out_data(k, 0), *zero_out = hd_k_out_data(k, 2);
    float *scale_out = hd_k_out_data(k, 1);
    for (int64_t i = 0; y && i < n; i++) y[i] = (uint8_t)hd_requant(x[i] / scale, zero, 0, 255);
    if (scale_out) *scale_out = scale;
    if (zero_out) *zero_out = (uint8_t)zero;
    return HD_OK;
}

struct clamp {
    int32_t zp, lo, hi;
};

static struct clamp clamp_of(const struct hd_kernel *k) {
    hd_dtype t = hd_k_out(k)->dtype;
    return (struct clamp){(int32_t)hd_attr_int(k->n, "y_zp", 0),
                          (int32_t)hd_attr_int(k->n, "lo", hd_dtype_least(t)),
                          (int32_t)hd_attr_int(k->n, "hi", hd_dtype_most(t))};
}

/* Both operands as the result's elements meet them. */
static void walk_pair(const struct hd_kernel *k, struct hd_walk *w) {
    hd_walk_init(w, hd_k_out(k)->rank, hd_k_out(k)->dim);
    for (int i = 0; i < 2; i++) hd_walk_broadcast(w, i, hd_k_in(k, i));
}

/* An operand as a real number: (a - zero point) * scale, each step rounded to binary32. */
struct affine {
    int32_t zp;
    float scale;
};

static struct affine affine_of(const struct hd_kernel *k, const char *zp, const char *scale) {
    return (struct affine){(int32_t)hd_attr_int(k->n, zp, 0),
                           *scale ? hd_flush(hd_attr_float(k->n, scale, 1)) : 1};
}

static float real(const struct hd_kernel *k, int i, const struct hd_walk *w, struct affine by) {
    int64_t v = hd_k_i64(k->in[i], hd_k_in(k, i)->dtype, w->index[i]);
    return hd_flush((float)((int32_t)v - by.zp) * by.scale);
}

/* The rows of qpair.def, each step rounded to binary32.  docs/numerics.md */
#define QPAIR(name, attributes, a_scale, b_scale, y, stream, alu, fn)                              \
    hd_status k_##name(const struct hd_kernel *k) {                                                \
        struct affine by_a = affine_of(k, "a_zp", a_scale), by_b = affine_of(k, "b_zp", b_scale);  \
        struct clamp c = clamp_of(k);                                                              \
        int64_t n = hd_tensor_elems(hd_k_out(k));                                                  \
        struct hd_walk w;                                                                          \
        walk_pair(k, &w);                                                                          \
        for (int64_t i = 0; i < n; i++, hd_walk_next(&w)) {                                        \
            float fa = real(k, 0, &w, by_a), fb = real(k, 1, &w, by_b);                            \
            hd_k_put_q(k->out, hd_k_out(k)->dtype, i, hd_requant(y, c.zp, c.lo, c.hi));            \
        }                                                                                          \
        return HD_OK;                                                                              \
    }
#include "compiler/ir/qpair.def"

/* y = requant((x - x_zp) * scale).  docs/numerics.md */
hd_status k_qrescale(const struct hd_kernel *k) {
    int32_t x_zp = (int32_t)hd_attr_int(k->n, "x_zp", 0);
    float scale = hd_attr_float(k->n, "scale", 1);
    struct clamp c = clamp_of(k);
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++) {
        float v = (float)((int32_t)hd_k_i64(k->in[0], hd_k_in(k, 0)->dtype, i) - x_zp) * scale;
        hd_k_put_q(k->out, hd_k_out(k)->dtype, i, hd_requant(v, c.zp, c.lo, c.hi));
    }
    return HD_OK;
}

/* y = table[x], x taken as the unsigned number that its byte is.  docs/numerics.md */
hd_status k_qtable(const struct hd_kernel *k) {
    const uint8_t *x = k->in[0], *table = k->in[1];
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++) ((uint8_t *)k->out)[i] = table[x[i]];
    return HD_OK;
}
