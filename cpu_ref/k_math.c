/* Elementwise mathematics: the rows of elem.def, and those that need more than a formula. */
#include <math.h>
#include <string.h>

#include "cpu_ref/kernels.h"
#include "cpu_ref/walk.h"

#define WRAP(a, op, b) ((int64_t)((uint64_t)(a)op(uint64_t)(b)))

/* ---- the table ---- */

typedef double unary_f(double x, double a, double b);
typedef int64_t unary_i(int64_t x);

static hd_status unary(const struct hd_kernel *k, unary_f *f, unary_i *g, double a, double b) {
    hd_dtype t = hd_k_in(k, 0)->dtype;
    int64_t n = hd_tensor_elems(hd_k_out(k));
    const float *x = k->in[0];
    float *y = k->out;
    for (int64_t i = 0; i < n; i++)
        if (t == HD_F32)
            y[i] = (float)f((double)x[i], a, b);
        else if (hd_k_is_float(t))
            hd_k_put_f64(k->out, t, i, f(hd_k_f64(k->in[0], t, i), a, b));
        else
            hd_k_put_i64(k->out, t, i, g(hd_k_i64(k->in[0], t, i)));
    return HD_OK;
}

typedef double binary_f(double a, double b);
typedef int64_t binary_i(int64_t a, int64_t b);
typedef uint64_t binary_u(uint64_t a, uint64_t b);

static int64_t integer(hd_dtype t, binary_i *g, binary_u *h, int64_t a, int64_t b) {
    return t == HD_U64 ? (int64_t)h((uint64_t)a, (uint64_t)b) : g(a, b);
}

/* Rows of the last dimension, in which an operand moves on or stays. */
static void binary_f32(const struct hd_kernel *k, struct hd_walk *w, int64_t n, binary_f *f) {
    int last = w->rank - 1;
    int64_t row = last < 0 ? 1 : w->dim[last], step[2] = {0, 0};
    for (int i = 0; i < 2 && last >= 0; i++) step[i] = w->stride[i][last];
    if (last >= 0) w->rank = last;
    for (int64_t at = 0; at < n; at += row, hd_walk_next(w)) {
        const float *a = (const float *)k->in[0] + w->index[0],
                    *b = (const float *)k->in[1] + w->index[1];
        float *y = (float *)k->out + at;
        for (int64_t i = 0; i < row; i++)
            y[i] = (float)f((double)a[i * step[0]], (double)b[i * step[1]]);
    }
}

static hd_status binary(const struct hd_kernel *k, bool truth, binary_f *f, binary_i *g,
                        binary_u *h) {
    const struct hd_tensor *y = hd_k_out(k);
    hd_dtype t = hd_k_in(k, 0)->dtype;
    int64_t n = hd_tensor_elems(y);
    struct hd_walk w;
    hd_walk_init(&w, y->rank, y->dim);
    for (int i = 0; i < 2; i++) hd_walk_broadcast(&w, i, hd_k_in(k, i));
    if (t == HD_F32 && !truth) {
        binary_f32(k, &w, n, f);
        return HD_OK;
    }
    for (int64_t i = 0; i < n; i++, hd_walk_next(&w)) {
        if (hd_k_is_float(t)) {
            double v = f(hd_k_f64(k->in[0], t, w.index[0]), hd_k_f64(k->in[1], t, w.index[1]));
            if (truth)
                ((uint8_t *)k->out)[i] = v != 0;
            else
                hd_k_put_f64(k->out, t, i, v);
            continue;
        }
        int64_t a = hd_k_i64(k->in[0], t, w.index[0]), b = hd_k_i64(k->in[1], t, w.index[1]);
        hd_k_put_i64(k->out, y->dtype, i, integer(t, g, h, a, b));
    }
    return HD_OK;
}

enum { SAME, TRUTH };

#define ACTIVATION(name, attr_a, default_a, attr_b, default_b, float_y)                            \
    static double name##_f(double x, double a, double b) {                                         \
        (void)a, (void)b;                                                                          \
        return float_y;                                                                            \
    }                                                                                              \
    hd_status k_##name(const struct hd_kernel *k) {                                                \
        return unary(k, name##_f, NULL, (double)hd_attr_float(k->n, attr_a, default_a),            \
                     (double)hd_attr_float(k->n, attr_b, default_b));                              \
    }
#define NUMBER(name, float_y, int_y, uint_y)                                                       \
    static double name##_f(double x, double a, double b) {                                         \
        (void)a, (void)b;                                                                          \
        return float_y;                                                                            \
    }                                                                                              \
    static int64_t name##_i(int64_t x) {                                                           \
        return int_y;                                                                              \
    }                                                                                              \
    static int64_t name##_u(int64_t bits) {                                                        \
        uint64_t x = (uint64_t)bits;                                                               \
        return (int64_t)(uint_y);                                                                  \
    }                                                                                              \
    hd_status k_##name(const struct hd_kernel *k) {                                                \
        bool u64 = hd_k_in(k, 0)->dtype == HD_U64;                                                 \
        return unary(k, name##_f, u64 ? name##_u : name##_i, 0, 0);                                \
    }
#define INTEGER(name, types, int_y)                                                                \
    static int64_t name##_i(int64_t x) {                                                           \
        return int_y;                                                                              \
    }                                                                                              \
    hd_status k_##name(const struct hd_kernel *k) {                                                \
        return unary(k, NULL, name##_i, 0, 0);                                                     \
    }
#define BINARY(name, types, result, float_y, int_y, uint_y)                                        \
    static double name##_f(double a, double b) {                                                   \
        return float_y;                                                                            \
    }                                                                                              \
    static int64_t name##_i(int64_t a, int64_t b) {                                                \
        return int_y;                                                                              \
    }                                                                                              \
    static uint64_t name##_u(uint64_t a, uint64_t b) {                                             \
        (void)b;                                                                                   \
        return uint_y;                                                                             \
    }                                                                                              \
    hd_status k_##name(const struct hd_kernel *k) {                                                \
        return binary(k, result == TRUTH, name##_f, name##_i, name##_u);                           \
    }
#define BINARY_INTEGER(name, types, int_y)                                                         \
    static int64_t name##_i(int64_t a, int64_t b) {                                                \
        return int_y;                                                                              \
    }                                                                                              \
    static uint64_t name##_u(uint64_t a, uint64_t b) {                                             \
        return int_y;                                                                              \
    }                                                                                              \
    hd_status k_##name(const struct hd_kernel *k) {                                                \
        return binary(k, false, NULL, name##_i, name##_u);                                         \
    }
#include "compiler/ir/elem.def"

/* ---- more than a formula ---- */

static double gelu_exact(double x, double a, double b) {
    (void)a, (void)b;
    return 0.5 * x * (1 + erf(x * M_SQRT1_2));
}
static double gelu_tanh(double x, double a, double b) {
    (void)a, (void)b;
    return 0.5 * x * (1 + tanh(sqrt(M_2_PI) * (x + 0.044715 * x * x * x)));
}

/* y = x/2 (1 + erf(x / sqrt 2)), or its approximation by tanh.  Source: ONNX Gelu-20. */
hd_status k_gelu(const struct hd_kernel *k) {
    bool fast = !strcmp(hd_attr_string(k->n, "approximate", "none"), "tanh");
    return unary(k, fast ? gelu_tanh : gelu_exact, NULL, 0, 0);
}

/* Source: ONNX IsNaN-13. */
hd_status k_isnan(const struct hd_kernel *k) {
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)k->out)[i] = isnan(hd_k_f64(k->in[0], hd_k_in(k, 0)->dtype, i)) != 0;
    return HD_OK;
}

/* Source: ONNX IsInf-10. */
hd_status k_isinf(const struct hd_kernel *k) {
    bool pos = hd_attr_int(k->n, "detect_positive", 1) != 0,
         neg = hd_attr_int(k->n, "detect_negative", 1) != 0;
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++) {
        double x = hd_k_f64(k->in[0], hd_k_in(k, 0)->dtype, i);
        ((uint8_t *)k->out)[i] = isinf(x) && (x > 0 ? pos : neg);
    }
    return HD_OK;
}

/* Integer base to an integer power, wrapping; a negative power is computed in double, towards zero.
 */
static int64_t power(int64_t base, int64_t exponent) {
    uint64_t y = 1, b = (uint64_t)base;
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    for (; exponent; exponent /= 2, b *= b)
        if (exponent % 2) y *= b;
    return (int64_t)y;
}

/* The type of the result is that of the base.  Source: ONNX Pow-15. */
hd_status k_pow(const struct hd_kernel *k) {
    const struct hd_tensor *y = hd_k_out(k);
    hd_dtype ta = hd_k_in(k, 0)->dtype, tb = hd_k_in(k, 1)->dtype;
    int64_t n = hd_tensor_elems(y);
    struct hd_walk w;
    hd_walk_init(&w, y->rank, y->dim);
    for (int i = 0; i < 2; i++) hd_walk_broadcast(&w, i, hd_k_in(k, i));
    for (int64_t i = 0; i < n; i++, hd_walk_next(&w)) {
        if (!hd_k_is_float(ta) && !hd_k_is_float(tb))
            hd_k_put_i64(
                k->out, ta, i,
                power(hd_k_i64(k->in[0], ta, w.index[0]), hd_k_i64(k->in[1], tb, w.index[1])));
        else
            hd_k_put_f64(
                k->out, ta, i,
                pow(hd_k_f64(k->in[0], ta, w.index[0]), hd_k_f64(k->in[1], tb, w.index[1])));
    }
    return HD_OK;
}

static double mod_f(double a, double b) {
    return fmod(a, b);
}
/* Integer remainders: by zero gives 0. */
static int64_t rem_i(int64_t a, int64_t b) {
    return b == 0 || b == -1 ? 0 : a % b;
}
static int64_t mod_i(int64_t a, int64_t b) {
    int64_t r = rem_i(a, b);
    return r && (r < 0) != (b < 0) ? r + b : r;
}
static uint64_t mod_u(uint64_t a, uint64_t b) {
    return b ? a % b : 0;
}

/* The sign is that of the divisor, with fmod=1 that of the dividend.  Source: ONNX Mod-13. */
hd_status k_mod(const struct hd_kernel *k) {
    return binary(k, false, mod_f, hd_attr_int(k->n, "fmod", 0) ? rem_i : mod_i, mod_u);
}

static int64_t left_i(int64_t a, int64_t b) {
    return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
}
static int64_t right_i(int64_t a, int64_t b) {
    return b < 0 || b > 63 ? 0 : a >> b;
}
static uint64_t left_u(uint64_t a, uint64_t b) {
    return b > 63 ? 0 : a << b;
}
static uint64_t right_u(uint64_t a, uint64_t b) {
    return b > 63 ? 0 : a >> b;
}

/* Unsigned operands; bits that leave the type are lost.  Source: ONNX BitShift-11. */
hd_status k_bitshift(const struct hd_kernel *k) {
    bool left = !strcmp(hd_attr_string(k->n, "direction", ""), "LEFT");
    return binary(k, false, NULL, left ? left_i : right_i, left ? left_u : right_u);
}

static void clip_f32(const float *x, const float *lo, const float *hi, int64_t n, float *y) {
    float least = lo ? *lo : -INFINITY, most = hi ? *hi : INFINITY;
    if (least != least) least = -INFINITY; /* nothing is below it, or above */
    if (most != most) most = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        float v = x[i] < least ? least : x[i];
        y[i] = v > most ? most : v;
    }
}

/* x, min?, max?; min above max gives max; NaN stays.  Source: ONNX Clip-13. */
hd_status k_clip(const struct hd_kernel *k) {
    hd_dtype t = hd_k_in(k, 0)->dtype;
    const void *lo = hd_k_in(k, 1) ? k->in[1] : NULL, *hi = hd_k_in(k, 2) ? k->in[2] : NULL;
    int64_t n = hd_tensor_elems(hd_k_out(k));
    if (t == HD_F32) {
        clip_f32(k->in[0], lo, hi, n, k->out);
        return HD_OK;
    }
    for (int64_t i = 0; i < n; i++) {
        if (hd_k_is_float(t)) {
            double v = hd_k_f64(k->in[0], t, i);
            if (lo && v < hd_k_f64(lo, t, 0)) v = hd_k_f64(lo, t, 0);
            if (hi && v > hd_k_f64(hi, t, 0)) v = hd_k_f64(hi, t, 0);
            hd_k_put_f64(k->out, t, i, v);
        } else {
            int64_t v = hd_k_i64(k->in[0], t, i);
            if (lo) v = integer(t, max_i, max_u, v, hd_k_i64(lo, t, 0));
            if (hi) v = integer(t, min_i, min_u, v, hd_k_i64(hi, t, 0));
            hd_k_put_i64(k->out, t, i, v);
        }
    }
    return HD_OK;
}
