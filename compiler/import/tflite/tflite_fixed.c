/* Layers that round as TFLite's kernels do, in fixed point (--rounding tflite): products of
 * integers, then a tensor expression that scales them. docs/formats.md says which operation rounds
 * in which way. */
#include "compiler/import/tflite/tflite_fixed.h"

#include <math.h>
#include <string.h>

enum { SUM_LEFT = 20, SUM_LEFT_16 = 15 };

bool hd_tfl_factor_of(double scale, struct hd_tfl_factor *out) {
    double part = frexp(scale, &out->shift);
    out->multiplier = (int64_t)round(ldexp(part, 31));
    if (out->multiplier == 1LL << 31) out->multiplier /= 2, out->shift++;
    if (out->shift < -31) out->multiplier = 0, out->shift = 0; /* as TFLite: all is 0 */
    return scale > 0 && out->shift < 31;
}

static bool one_scale(const struct hd_tfl_tensor *t) {
    return t && hd_tfl_quantised(t) && t->n_scales == 1;
}

static bool is_byte(const struct hd_tfl_tensor *t) {
    return t->ir == HD_I8 || t->ir == HD_U8;
}

bool hd_tfl_is_fixed(struct hd_tfl *m, const struct hd_tfl_tensor *x, const struct hd_tfl_tensor *w,
                     int64_t activation) {
    const struct hd_tfl_tensor *y = hd_tfl_out(m, 0);
    return m->from->bind && m->from->bind->tflite_rounding && one_scale(x) && one_scale(y) &&
           (!w || (hd_tfl_quantised(w) && is_byte(w))) && x->ir == y->ir && activation < 4;
}

enum hd_tfl_rounds hd_tfl_rounds_of(const struct hd_tfl_tensor *x, bool depthwise) {
    if (x->ir == HD_I16) return HD_TFL_REDUCED;
    return depthwise || x->ir == HD_U8 ? HD_TFL_TWICE : HD_TFL_ONCE;
}

/* ---- results ---- */

/* The range of the type, and of a fused activation. */
static void range_of(const struct hd_tfl_tensor *y, int64_t activation, int64_t *lo, int64_t *hi) {
    enum { NONE, RELU, RELU_N1_TO_1, RELU6 };
    double scale = (double)y->scale[0], zero = (double)y->zero[0],
           low = activation == RELU_N1_TO_1 ? -1 : 0, high = activation == RELU6 ? 6 : 1;
    *lo = y->ir == HD_I8 ? -128 : y->ir == HD_U8 ? 0 : -32768;
    *hi = y->ir == HD_I8 ? 127 : y->ir == HD_U8 ? 255 : 32767;
    if (activation != NONE) *lo = (int64_t)fmax((double)*lo, zero + round(low / scale));
    if (activation == RELU6 || activation == RELU_N1_TO_1)
        *hi = (int64_t)fmin((double)*hi, zero + round(high / scale));
}

hd_status hd_tfl_fixed_expression(struct hd_tfl *m, const char *text, int64_t activation, int n_in,
                                  const int *in, int *node, int *out) {
    const struct hd_tfl_tensor *y = hd_tfl_out(m, 0);
    int64_t lo, hi;
    range_of(y, activation, &lo, &hi);
    *node = hd_tfl_node(m, HD_IR_expression, n_in, in, out);
    const char *type = hd_dtype_name((hd_dtype)y->ir);
    hd_attr_set_string(m->g, *node, "expression", hd_sprintf(m->arena, text, type));
    hd_attr_set_string(m->g, *node, "rounding", "tflite"); /* the reason why it stays on the host */
    hd_attr_set_int(m->g, *node, "zp", y->zero[0]);
    hd_attr_set_int(m->g, *node, "lo", lo);
    hd_attr_set_int(m->g, *node, "hi", hi);
    return HD_OK;
}

/* (p * m + half) >> s, once. The factors of sums of 64 bits have 15 bits. */
static const char once[] = "(x: [...,C], b: i64[C], m: i64[C], r: i64[C], s: i64[C], "
                           "zp: int, lo: int, hi: int) -> y\n"
                           "y[...,c] = %s(clamp((((i64(x[...,c]) + b[c])*m[c] + r[c]) >> s[c]) + "
                           "zp, lo, hi))";

/* The high half of the doubled product, halves away from zero; then a shift, the same again. */
static const char twice[] =
    "(x: [...,C], b: i64[C], m: i64[C], l: i64[C], s: i64[C], zp: int, lo: int, hi: int) -> y\n"
    "p[...,c] = (i64(i32((i64(x[...,c]) + b[c]) << l[c])))*m[c]\n"
    "h[...,c] = (p[...,c] + select(p[...,c] >= 0, 1073741824, -1073741823))/2147483648\n"
    "k[c] = (1 << s[c]) - 1\n"
    "y[...,c] = %s(clamp((h[...,c] >> s[c]) + select((h[...,c] & k[c]) > (k[c] >> 1) + "
    "select(h[...,c] < 0, 1, 0), 1, 0) + zp, lo, hi))";

struct columns { /* of the expression, a value for each channel */
    int64_t *bias, *multiplier, *third, *shift;
    int64_t n;
};

/* How kernels of this operation round: constants of channel c. */
static bool column(struct columns *k, int64_t c, double scale, enum hd_tfl_rounds rounds) {
    struct hd_tfl_factor f;
    if (!hd_tfl_factor_of(scale, &f)) return false;
    int64_t shift = 31 - f.shift;
    if (rounds == HD_TFL_TWICE) {
        k->multiplier[c] = f.multiplier;
        k->third[c] = f.shift > 0 ? f.shift : 0;
        k->shift[c] = f.shift > 0 ? 0 : -f.shift;
        return true;
    }
    if (rounds == HD_TFL_REDUCED) {
        f.multiplier = f.multiplier < 0x7fff0000 ? (f.multiplier + (1 << 15)) >> 16 : 0x7fff;
        shift = 15 - f.shift;
    }
    if (shift < 1) return false;
    k->multiplier[c] = f.multiplier;
    k->third[c] = 1LL << (shift - 1);
    k->shift[c] = shift;
    return true;
}

static hd_status biases(struct hd_tfl *m, struct hd_tfl_tensor *b, int64_t n, int64_t *out) {
    int raw;
    if (!b) return HD_OK;
    TRY(hd_tfl_raw(m, b, &raw));
    const struct hd_tensor *t = &m->g->tensors[raw];
    if (!t->data || hd_tensor_elems(t) != n || (t->dtype != HD_I32 && t->dtype != HD_I64))
        return hd_tfl_bad(m, HD_UNSUPPORTED, "bias '%s' is no constant of %lld integers", b->name,
                          (long long)n);
    for (int64_t i = 0; i < n; i++)
        out[i] = t->dtype == HD_I32 ? ((const int32_t *)t->data)[i] : ((const int64_t *)t->data)[i];
    return HD_OK;
}

hd_status hd_tfl_scaled(struct hd_tfl *m, const struct hd_tfl_sums *s, int x) {
    struct hd_tfl_tensor *y = hd_tfl_out(m, 0);
    struct columns k = {.n = s->n};
    int64_t **column_of[] = {&k.bias, &k.multiplier, &k.third, &k.shift};
    int in[5] = {x}, node, out;
    for (int i = 0; i < 4; i++) *column_of[i] = hd_new_array(m->arena, int64_t, (size_t)s->n + 1);
    TRY(biases(m, s->bias, s->n, k.bias));
    if (s->w->n_scales > 1 && s->w->n_scales != s->n)
        return hd_tfl_bad(m, HD_INVALID, "%u scales for %lld channels", s->w->n_scales,
                          (long long)s->n);
    for (int64_t c = 0; c < s->n; c++) {
        double w = (double)s->w->scale[s->w->n_scales > 1 ? c : 0];
        if (!column(&k, c, (double)s->x->scale[0] * w / (double)y->scale[0], s->rounds))
            return hd_tfl_bad(m, HD_UNSUPPORTED, "a scale that no kernel of TFLite has");
    }
    for (int i = 0; i < 4; i++) in[1 + i] = hd_tfl_const(m, HD_I64, 1, &k.n, *column_of[i]);
    const char *text = s->rounds == HD_TFL_TWICE ? twice : once;
    TRY(hd_tfl_fixed_expression(m, text, s->activation, 5, in, &node, &out));
    TRY(hd_tfl_done(m, node));
    hd_tfl_set_raw(m, y, out);
    return HD_OK;
}

/* ---- sums of two tensors ---- */

/* Both in steps of a common scale, twice rounded; then their sum, the same. */
/* clang-format off */
static const char sum[] =
    "(a: [...], b: [...], za: int, zb: int, left: int, ma: int, mb: int, my: int, sa: int, sb: "
    "int, sy: int, ka: int, kb: int, ky: int, sign: int, zp: int, lo: int, hi: int) -> y\n"
    "pa[...] = ((i64(a[...]) - za) << left)*ma\n"
    "pb[...] = ((i64(b[...]) - zb) << left)*mb\n"
    "ha[...] = " HD_TFL_HIGH("pa[...]")
    "hb[...] = " HD_TFL_HIGH("pb[...]")
    "ra[...] = " HD_TFL_SHIFTED("ha[...]", "sa", "ka") "\n"
    "rb[...] = " HD_TFL_SHIFTED("hb[...]", "sb", "kb") "\n"
    "p[...] = (ra[...] + sign*rb[...])*my\n"
    "h[...] = " HD_TFL_HIGH("p[...]")
    "y[...] = %s(clamp(" HD_TFL_SHIFTED("h[...]", "sy", "ky") " + zp, lo, hi))";
/* clang-format on */

hd_status hd_tfl_fixed_sum(struct hd_tfl *m, bool minus, int64_t activation) {
    struct hd_tfl_tensor *t[2] = {hd_tfl_in(m, 0), hd_tfl_in(m, 1)}, *y = hd_tfl_out(m, 0);
    static const char *const names[3][3] = {
        {"ma", "sa", "ka"}, {"mb", "sb", "kb"}, {"my", "sy", "ky"}};
    double a = (double)t[0]->scale[0], b = (double)t[1]->scale[0], most = 2 * fmax(a, b);
    int left = y->ir == HD_I16 ? SUM_LEFT_16 : SUM_LEFT, in[2], node, out;
    double scale[3] = {a / most, b / most, most / ldexp((double)y->scale[0], left)};
    TRY(hd_tfl_raw(m, t[0], &in[0]));
    TRY(hd_tfl_raw(m, t[1], &in[1]));
    TRY(hd_tfl_fixed_expression(m, sum, activation, 2, in, &node, &out));
    hd_attr_set_int(m->g, node, "sign", minus ? -1 : 1);
    hd_attr_set_int(m->g, node, "za", t[0]->zero[0]);
    hd_attr_set_int(m->g, node, "zb", t[1]->zero[0]);
    hd_attr_set_int(m->g, node, "left", left);
    for (int i = 0; i < 3; i++) {
        struct hd_tfl_factor f;
        if (!hd_tfl_factor_of(scale[i], &f) || f.shift > 0)
            return hd_tfl_bad(m, HD_UNSUPPORTED, "a scale that no kernel of TFLite has");
        hd_attr_set_int(m->g, node, names[i][0], f.multiplier);
        hd_attr_set_int(m->g, node, names[i][1], -f.shift);
        hd_attr_set_int(m->g, node, names[i][2], (1LL << -f.shift) - 1);
    }
    TRY(hd_tfl_done(m, node));
    hd_tfl_set_raw(m, y, out);
    return HD_OK;
}

/* ---- averages ---- */

/* Halves away from zero; k: how many values a window has inside the image. */
static const char average[] =
    "(x: [N,H,W,C], k: i64[O,P], sy: int, sx: int, py: int, px: int, kh: int, kw: int, zp: int, "
    "lo: int, hi: int) -> y\n"
    "a[n,i,j,c] += i64(pad(x[n,sy*i + p - py,sx*j + q - px,c], 0)) where i < O, j < P, p < kh, q < "
    "kw\n"
    "y[n,i,j,c] = %s(clamp((a[n,i,j,c] + select(a[n,i,j,c] > 0, k[i,j]/2, -(k[i,j]/2)))/k[i,j] + "
    "0*zp, lo, hi))";

struct axis { /* a window along one dimension */
    int64_t size, kernel, stride, before, out;
};

static struct axis axis_of(int64_t size, int64_t kernel, int64_t stride, bool same) {
    struct axis a = {size, kernel, stride, 0, (size - kernel) / stride + 1};
    if (!same) return a;
    a.out = (size + stride - 1) / stride;
    int64_t more = (a.out - 1) * stride + kernel - size;
    a.before = more > 0 ? more / 2 : 0;
    return a;
}

static int64_t inside(const struct axis *a, int64_t i) {
    int64_t from = i * a->stride - a->before, to = from + a->kernel;
    return (to < a->size ? to : a->size) - (from > 0 ? from : 0);
}

hd_status hd_tfl_fixed_average(struct hd_tfl *m, int64_t activation) {
    struct hd_tfl_tensor *y = hd_tfl_out(m, 0);
    int in[2], node, out;
    int64_t kernel[2] = {hd_tfl_option(m, 4, 4, 0), hd_tfl_option(m, 3, 4, 0)},
            stride[2] = {hd_tfl_option(m, 2, 4, 0), hd_tfl_option(m, 1, 4, 0)};
    struct axis a[2];
    TRY(hd_tfl_raw(m, hd_tfl_in(m, 0), &in[0]));
    const struct hd_tensor x = m->g->tensors[in[0]];
    for (int i = 0; i < 2; i++) {
        int64_t size = x.dim[1 + i];
        bool same = hd_tfl_option(m, 0, 1, 0) == 0;
        if (kernel[i] < 1 || stride[i] < 1 || size < 1 || kernel[i] > INT16_MAX ||
            stride[i] > INT16_MAX || (!same && kernel[i] > size))
            return hd_tfl_bad(m, HD_INVALID, "a window of %lld by %lld", (long long)kernel[i],
                              (long long)stride[i]);
        a[i] = axis_of(size, kernel[i], stride[i], same);
    }
    int64_t dim[2] = {a[0].out, a[1].out};
    int64_t *count = hd_new_array(m->arena, int64_t, (size_t)(dim[0] * dim[1]) + 1);
    for (int64_t i = 0; i < dim[0] * dim[1]; i++)
        count[i] = inside(&a[0], i / dim[1]) * inside(&a[1], i % dim[1]);
    in[1] = hd_tfl_const(m, HD_I64, 2, dim, count);
    TRY(hd_tfl_fixed_expression(m, average, activation, 2, in, &node, &out));
    hd_attr_set_int(m->g, node, "sy", stride[0]);
    hd_attr_set_int(m->g, node, "sx", stride[1]);
    hd_attr_set_int(m->g, node, "py", a[0].before);
    hd_attr_set_int(m->g, node, "px", a[1].before);
    hd_attr_set_int(m->g, node, "kh", kernel[0]);
    hd_attr_set_int(m->g, node, "kw", kernel[1]);
    TRY(hd_tfl_done(m, node));
    hd_tfl_set_raw(m, y, out);
    return HD_OK;
}

/* ---- products ---- */

static int zero_point(struct hd_tfl *m, const struct hd_tfl_tensor *t) {
    int8_t v = (int8_t)t->zero[0]; /* the bits of either type */
    return hd_tfl_const(m, (hd_dtype)t->ir, 0, NULL, &v);
}

/* x - zero point in binary64, which holds the sums of 16 bits. */
static hd_status centred(struct hd_tfl *m, const struct hd_tfl_tensor *t, int raw, int *out) {
    double zero = (double)t->zero[0];
    TRY(hd_tfl_cast_to(m, raw, HD_F64, out));
    return zero == 0
               ? HD_OK
               : hd_tfl_binary(m, HD_IR_sub, *out, hd_tfl_const(m, HD_F64, 0, NULL, &zero), out);
}

hd_status hd_tfl_integer_product(struct hd_tfl *m, enum hd_ir_op bytes, enum hd_ir_op wide, int x,
                                 int w, const struct hd_tfl_sums *s, int *node, int *out) {
    if (is_byte(s->x) && bytes != HD_IR_OPS) {
        int in[4] = {x, w, zero_point(m, s->x), zero_point(m, s->w)};
        *node = hd_tfl_node(m, bytes, 4, in, out);
        hd_attr_set_string(m->g, *node, "rounding", "tflite");
        return HD_OK;
    }
    int in[2];
    TRY(centred(m, s->x, x, &in[0]));
    TRY(centred(m, s->w, w, &in[1]));
    *node = hd_tfl_node(m, wide, 2, in, out);
    return HD_OK;
}
