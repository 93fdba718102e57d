/* Operations of QONNX, which Brevitas, QKeras and FINN write: numbers of few bits as floats.
 * Source: github.com/fastmachinelearning/qonnx, docs/qonnx-custom-ops. */
#include <math.h>
#include <string.h>

#include "compiler/import/onnx/build.h"

enum { BITS_MOST = 32 };

/* The least and the largest integer of a Quant node, and whether they are constants at all. */
struct range {
    double lo, hi;
    bool is_signed;
    int bits;
};

static double value_at(const struct hd_tensor *t, int64_t i) {
    return t->dtype == HD_I64 ? (double)((const int64_t *)t->data)[i]
                              : (double)((const float *)t->data)[i];
}

static bool is_number(const struct hd_tensor *t) {
    return t->data && (t->dtype == HD_F32 || t->dtype == HD_I64) && hd_tensor_elems(t) == 1;
}

static hd_status bits_of(struct hd_importer *m, const struct hd_onnx_node *n, size_t i, int *out) {
    const struct hd_tensor *t = hd_onnx_tensor(m, n, i);
    double v = is_number(t) ? value_at(t, 0) : -1;
    if (v != floor(v) || v < 1 || v > BITS_MOST)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "input %zu ('%s') is no constant of 1 to %d whole bits", i, t->name,
                           BITS_MOST);
    *out = (int)v;
    return HD_OK;
}

static hd_status range_of(struct hd_importer *m, const struct hd_onnx_node *n, struct range *r) {
    bool narrow = hd_onnx_int(n, "narrow", 0) != 0;
    r->is_signed = hd_onnx_int(n, "signed", 1) != 0;
    TRY(bits_of(m, n, 3, &r->bits));
    double all = ldexp(1, r->bits);
    r->lo = r->is_signed ? -all / 2 + narrow : 0;
    r->hi = r->is_signed ? all / 2 - 1 : all - 1 - narrow;
    return HD_OK;
}

/* ---- as integers ---- */

/* Scales along one axis, or one; false: along several. */
static bool scales_of(struct hd_onnx_build *b, int x, int scale, int64_t *axis, int64_t *n) {
    const struct hd_tensor *s = &b->m->g->tensors[scale], *t = &b->m->g->tensors[x];
    int along = 0;
    *axis = -1, *n = 1;
    for (int d = 0; d < s->rank; d++) {
        if (s->dim[d] == 1) continue;
        *axis = d + t->rank - s->rank, *n = s->dim[d], along++;
    }
    for (int64_t i = 0; i < *n && along < 2; i++)
        if (!(value_at(s, i) > 0)) return false;
    return along == 0 || (along == 1 && *axis >= 0 && t->dim[*axis] == *n);
}

/* Quantised to bytes and back; *out -1: what bytes do not hold. Halves go to even numbers before
 * the zero point is added, so that must be even. */
static void as_bytes(struct hd_onnx_build *b, int x, const struct range *r, int *out) {
    struct hd_importer *m = b->m;
    const struct hd_onnx_node *n = b->n;
    int scale = hd_build_f32(b, "scale", hd_onnx_in(m, n, 1));
    const struct hd_tensor *z = hd_onnx_tensor(m, n, 2);
    hd_dtype type = r->is_signed ? HD_I8 : HD_U8;
    int64_t axis, count;
    *out = -1;
    if (b->s != HD_OK || r->bits > 8 || !is_number(z) || !m->g->tensors[scale].data ||
        !scales_of(b, x, scale, &axis, &count))
        return;
    double zero = value_at(z, 0);
    if (fmod(zero, 2) != 0 || zero < r->lo || zero > r->hi) return;
    uint8_t *zeros = hd_alloc(m->arena, (size_t)count + 1);
    memset(zeros, (int)zero, (size_t)count);
    int rank = axis >= 0, in[3] = {x};
    in[1] = hd_onnx_const(m, n, "scales", HD_F32, rank, &count, m->g->tensors[scale].data);
    in[2] = hd_onnx_const(m, n, "zeros", type, rank, &count, zeros);
    int q, y, id = hd_onnx_emit_inner(m, n, HD_IR_quantize, "q", 3, in, &q);
    if (rank) hd_attr_set_int(m->g, id, "axis", axis);
    b->s = hd_onnx_done(m, id);
    if (b->s != HD_OK) return;
    if (r->lo > hd_dtype_least(type) || r->hi < hd_dtype_most(type))
        q = hd_build(b, HD_IR_clip, "few", 3,
                     (int[]){q, hd_build_scalar(b, "lo", type, r->lo),
                             hd_build_scalar(b, "hi", type, r->hi)});
    if (b->s != HD_OK) return;
    in[0] = q;
    id = hd_onnx_emit_inner(m, n, HD_IR_dequantize, "y", 3, in, &y);
    if (rank) hd_attr_set_int(m->g, id, "axis", axis);
    b->s = hd_onnx_done(m, id);
    *out = y;
}

/* ---- as floats ---- */

/* By size: sign(v) * f(|v| + add). */
static int by_size(struct hd_onnx_build *b, int v, double add, enum hd_ir_op f) {
    int size = hd_build(b, HD_IR_abs, "size", 1, &v), sign = hd_build(b, HD_IR_sign, "sign", 1, &v);
    size = hd_build_two(b, HD_IR_add, "nearer", size, hd_build_scalar(b, "half", HD_F32, add));
    return hd_build_two(b, HD_IR_mul, "whole", sign, hd_build(b, f, "steps", 1, &size));
}

static int rounded(struct hd_onnx_build *b, int v, const char *mode) {
    if (!strcmp(mode, "ROUND") || !strcmp(mode, "HALF_EVEN"))
        return hd_build(b, HD_IR_round, "whole", 1, &v);
    if (!strcmp(mode, "FLOOR")) return hd_build(b, HD_IR_floor, "whole", 1, &v);
    if (!strcmp(mode, "CEIL")) return hd_build(b, HD_IR_ceil, "whole", 1, &v);
    if (!strcmp(mode, "UP")) return by_size(b, v, 0, HD_IR_ceil);
    if (!strcmp(mode, "DOWN") || !strcmp(mode, "ROUND_TO_ZERO"))
        return by_size(b, v, 0, HD_IR_floor);
    if (!strcmp(mode, "HALF_UP")) return by_size(b, v, 0.5, HD_IR_floor);
    if (!strcmp(mode, "HALF_DOWN")) return by_size(b, v, -0.5, HD_IR_ceil);
    b->s = hd_onnx_bad(b->m, b->n, HD_UNSUPPORTED,
                       "rounding_mode '%s', allowed ROUND, HALF_EVEN, FLOOR, CEIL, UP, DOWN, "
                       "ROUND_TO_ZERO, HALF_UP, HALF_DOWN",
                       mode);
    return -1;
}

/* x / scale + zero point, and back. */
static int to_steps(struct hd_onnx_build *b, int x) {
    int v = hd_build_two(b, HD_IR_div, "in_steps", x, hd_onnx_in(b->m, b->n, 1));
    return hd_build_two(b, HD_IR_add, "shifted", v, hd_onnx_in(b->m, b->n, 2));
}

static int from_steps(struct hd_onnx_build *b, int v) {
    v = hd_build_two(b, HD_IR_sub, "centred", v, hd_onnx_in(b->m, b->n, 2));
    return hd_build_two(b, HD_IR_mul, "y", v, hd_onnx_in(b->m, b->n, 1));
}

/* x, scale, zero point, bits */
hd_status import_qonnx_Quant(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct hd_onnx_build b = {m, n, HD_OK};
    const char *mode = hd_onnx_string(n, "rounding_mode", "ROUND");
    struct range r;
    int x = hd_onnx_in(m, n, 0), y = -1;
    TRY(range_of(m, n, &r));
    if (!strcmp(mode, "ROUND") || !strcmp(mode, "HALF_EVEN")) as_bytes(&b, x, &r, &y);
    if (y >= 0) return hd_build_end(&b, 0, y);
    int v = rounded(&b, to_steps(&b, x), mode);
    v = hd_build(&b, HD_IR_clip, "held", 3,
                 (int[]){v, hd_build_scalar(&b, "lo", HD_F32, r.lo),
                         hd_build_scalar(&b, "hi", HD_F32, r.hi)});
    return hd_build_end(&b, 0, from_steps(&b, v));
}

/* x, scale: scale where x >= 0, else -scale. Weights become integers 1 and -1. */
hd_status import_qonnx_BipolarQuant(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct hd_onnx_build b = {m, n, HD_OK};
    int x = hd_onnx_in(m, n, 0), scale = hd_build_f32(&b, "scale", hd_onnx_in(m, n, 1));
    const struct hd_tensor t = m->g->tensors[x];
    int64_t axis, count;
    TRY(b.s);
    if (t.data && t.dtype == HD_F32 && m->g->tensors[scale].data &&
        scales_of(&b, x, scale, &axis, &count) && axis < 0) {
        int8_t *v = hd_alloc(m->arena, (size_t)hd_tensor_elems(&t) + 1), zero = 0;
        for (int64_t i = 0; i < hd_tensor_elems(&t); i++)
            v[i] = ((const float *)t.data)[i] >= 0 ? 1 : -1;
        int in[3] = {hd_onnx_const(m, n, "signs", HD_I8, t.rank, t.dim, v)}, y;
        in[1] = hd_onnx_const(m, n, "scales", HD_F32, 0, NULL, m->g->tensors[scale].data);
        in[2] = hd_onnx_const(m, n, "zeros", HD_I8, 0, NULL, &zero);
        TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_dequantize, "y", 3, in, &y)));
        return hd_build_end(&b, 0, y);
    }
    int is = hd_build_two(&b, HD_IR_greaterorequal, "is_positive", x,
                          hd_build_scalar(&b, "zero", HD_F32, 0));
    int minus = hd_build(&b, HD_IR_neg, "minus", 1, &scale);
    return hd_build_end(&b, 0, hd_build(&b, HD_IR_where, "y", 3, (int[]){is, scale, minus}));
}

/* x, scale, zero point, bits before and behind: the lower bits go. */
hd_status import_qonnx_Trunc(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct hd_onnx_build b = {m, n, HD_OK};
    int from, to, x = hd_onnx_in(m, n, 0);
    TRY(bits_of(m, n, 3, &from));
    TRY(bits_of(m, n, 4, &to));
    int v = rounded(&b, to_steps(&b, x), "ROUND");
    v = hd_build_two(&b, HD_IR_div, "upper", v,
                     hd_build_scalar(&b, "lower", HD_F32, ldexp(1, from - to)));
    v = rounded(&b, v, hd_onnx_string(n, "rounding_mode", "FLOOR"));
    return hd_build_end(&b, 0, from_steps(&b, v));
}
