/* Complex numbers of StableHLO: two tensors, of real and of imaginary parts. */
#include <string.h>

#include "compiler/import/stablehlo/stablehlo.h"

enum lift { PARTS, SUM, PRODUCT, FUNCTION };
typedef hd_status function(struct hd_shlo *m, struct hd_shlo_pair a, struct hd_shlo_pair b,
                           struct hd_shlo_pair *out);

/* ---- arithmetic, of f64 ---- */

static hd_status one(struct hd_shlo *m, enum hd_ir_op op, int x, int *out) {
    return hd_shlo_emit(m, op, 1, &x, out);
}

static hd_status with(struct hd_shlo *m, enum hd_ir_op op, int x, double v, int *out) {
    int c;
    TRY(hd_shlo_scalar(m, v, x, &c));
    return hd_shlo_binary(m, op, x, c, out);
}

static hd_status add(struct hd_shlo *m, struct hd_shlo_pair a, struct hd_shlo_pair b,
                     struct hd_shlo_pair *out) {
    TRY(hd_shlo_binary(m, HD_IR_add, a.re, b.re, &out->re));
    return hd_shlo_binary(m, HD_IR_add, a.im, b.im, &out->im);
}

/* a b + c d, or a b - c d */
static hd_status products(struct hd_shlo *m, enum hd_ir_op times, enum hd_ir_op op, const int v[4],
                          int *out) {
    int x, y;
    TRY(hd_shlo_binary(m, times, v[0], v[1], &x));
    TRY(hd_shlo_binary(m, times, v[2], v[3], &y));
    return hd_shlo_binary(m, op, x, y, out);
}

hd_status hd_shlo_multiply(struct hd_shlo *m, enum hd_ir_op times, struct hd_shlo_pair a,
                           struct hd_shlo_pair b, struct hd_shlo_pair *out) {
    out->im = -1;
    if (a.im < 0) return hd_shlo_binary(m, times, a.re, b.re, &out->re);
    TRY(products(m, times, HD_IR_sub, (int[]){a.re, b.re, a.im, b.im}, &out->re));
    return products(m, times, HD_IR_add, (int[]){a.re, b.im, a.im, b.re}, &out->im);
}

static hd_status multiply(struct hd_shlo *m, struct hd_shlo_pair a, struct hd_shlo_pair b,
                          struct hd_shlo_pair *out) {
    return hd_shlo_multiply(m, HD_IR_mul, a, b, out);
}

hd_status hd_shlo_divide(struct hd_shlo *m, struct hd_shlo_pair a, struct hd_shlo_pair b,
                         struct hd_shlo_pair *out) {
    struct hd_shlo_pair y;
    int size;
    out->im = -1;
    if (a.im < 0) return hd_shlo_binary(m, HD_IR_div, a.re, b.re, &out->re);
    TRY(products(m, HD_IR_mul, HD_IR_add, (int[]){b.re, b.re, b.im, b.im}, &size));
    TRY(products(m, HD_IR_mul, HD_IR_add, (int[]){a.re, b.re, a.im, b.im}, &y.re));
    TRY(products(m, HD_IR_mul, HD_IR_sub, (int[]){a.im, b.re, a.re, b.im}, &y.im));
    TRY(hd_shlo_binary(m, HD_IR_div, y.re, size, &out->re));
    return hd_shlo_binary(m, HD_IR_div, y.im, size, &out->im);
}

static hd_status size_of(struct hd_shlo *m, struct hd_shlo_pair a, int *out) {
    TRY(products(m, HD_IR_mul, HD_IR_add, (int[]){a.re, a.re, a.im, a.im}, out));
    return one(m, HD_IR_sqrt, *out, out);
}

/* size * (cos angle, sin angle) */
static hd_status polar(struct hd_shlo *m, int size, int angle, struct hd_shlo_pair *out) {
    TRY(one(m, HD_IR_cos, angle, &out->re));
    TRY(one(m, HD_IR_sin, angle, &out->im));
    TRY(hd_shlo_binary(m, HD_IR_mul, out->re, size, &out->re));
    return hd_shlo_binary(m, HD_IR_mul, out->im, size, &out->im);
}

static hd_status constant(struct hd_shlo *m, struct hd_shlo_pair like, double re, double im,
                          struct hd_shlo_pair *out) {
    TRY(hd_shlo_scalar(m, re, like.re, &out->re));
    return hd_shlo_scalar(m, im, like.re, &out->im);
}

static hd_status plus(struct hd_shlo *m, struct hd_shlo_pair a, double v,
                      struct hd_shlo_pair *out) {
    out->im = a.im;
    return with(m, HD_IR_add, a.re, v, &out->re);
}

/* ---- functions of the table ---- */

#define FUNCTION(name)                                                                             \
    static hd_status f_##name(struct hd_shlo *m, struct hd_shlo_pair a, struct hd_shlo_pair b,     \
                              struct hd_shlo_pair *out)
#define UNARY(name)                                                                                \
    static hd_status f_##name(struct hd_shlo *m, struct hd_shlo_pair a,                            \
                              __attribute__((unused)) struct hd_shlo_pair b,                       \
                              struct hd_shlo_pair *out)

UNARY(same) {
    (void)m;
    *out = a;
    return HD_OK;
}

FUNCTION(divide) {
    return hd_shlo_divide(m, a, b, out);
}

UNARY(exp) {
    int size;
    TRY(one(m, HD_IR_exp, a.re, &size));
    return polar(m, size, a.im, out);
}

UNARY(expm1) {
    TRY(f_exp(m, a, a, out));
    return plus(m, *out, -1, out);
}

UNARY(log) {
    TRY(size_of(m, a, &out->re));
    TRY(one(m, HD_IR_log, out->re, &out->re));
    return hd_shlo_angle(m, a.im, a.re, &out->im);
}

UNARY(log1p) {
    TRY(plus(m, a, 1, &a));
    return f_log(m, a, a, out);
}

UNARY(sqrt) {
    int size, angle;
    TRY(size_of(m, a, &size));
    TRY(one(m, HD_IR_sqrt, size, &size));
    TRY(hd_shlo_angle(m, a.im, a.re, &angle));
    TRY(with(m, HD_IR_mul, angle, 0.5, &angle));
    return polar(m, size, angle, out);
}

UNARY(rsqrt) {
    struct hd_shlo_pair unit;
    TRY(f_sqrt(m, a, a, &a));
    TRY(constant(m, a, 1, 0, &unit));
    return hd_shlo_divide(m, unit, a, out);
}

UNARY(sine) { /* sin x cosh y, cos x sinh y */
    int s, c, sh, ch;
    TRY(one(m, HD_IR_sin, a.re, &s));
    TRY(one(m, HD_IR_cos, a.re, &c));
    TRY(one(m, HD_IR_sinh, a.im, &sh));
    TRY(one(m, HD_IR_cosh, a.im, &ch));
    TRY(hd_shlo_binary(m, HD_IR_mul, s, ch, &out->re));
    return hd_shlo_binary(m, HD_IR_mul, c, sh, &out->im);
}

UNARY(cosine) { /* sin(z + pi / 2) */
    TRY(plus(m, a, 1.57079632679489661923, &a));
    return f_sine(m, a, a, out);
}

UNARY(tangent) {
    struct hd_shlo_pair c;
    TRY(f_cosine(m, a, a, &c));
    TRY(f_sine(m, a, a, &a));
    return hd_shlo_divide(m, a, c, out);
}

/* 1 / (1 + e^-z) */
UNARY(logistic) {
    struct hd_shlo_pair unit;
    TRY(one(m, HD_IR_neg, a.re, &a.re));
    TRY(one(m, HD_IR_neg, a.im, &a.im));
    TRY(f_exp(m, a, a, &a));
    TRY(plus(m, a, 1, &a));
    TRY(constant(m, a, 1, 0, &unit));
    return hd_shlo_divide(m, unit, a, out);
}

UNARY(tanh) { /* 2 logistic(2 z) - 1 */
    TRY(add(m, a, a, &a));
    TRY(f_logistic(m, a, a, &a));
    TRY(add(m, a, a, &a));
    return plus(m, a, -1, out);
}

UNARY(sign) { /* z / |z|, and 0 of 0 */
    int size, none;
    TRY(size_of(m, a, &size));
    TRY(with(m, HD_IR_equal, size, 0, &none));
    TRY(hd_shlo_cast(m, none, HD_F64, &none));
    TRY(hd_shlo_binary(m, HD_IR_add, size, none, &size));
    TRY(hd_shlo_binary(m, HD_IR_div, a.re, size, &out->re));
    return hd_shlo_binary(m, HD_IR_div, a.im, size, &out->im);
}

FUNCTION(power) {
    TRY(f_log(m, a, a, &a));
    TRY(multiply(m, a, b, &a));
    return f_exp(m, a, a, out);
}

FUNCTION(atan2) { /* -i log((x + i y) / sqrt(x x + y y)) */
    struct hd_shlo_pair size, square, y = a, x = b;
    TRY(multiply(m, x, x, &size));
    TRY(multiply(m, y, y, &square));
    TRY(add(m, size, square, &size));
    TRY(f_sqrt(m, size, size, &size));
    TRY(hd_shlo_binary(m, HD_IR_sub, x.re, y.im, &x.re));
    TRY(hd_shlo_binary(m, HD_IR_add, x.im, y.re, &x.im));
    TRY(hd_shlo_divide(m, x, size, &x));
    TRY(f_log(m, x, x, &x));
    out->re = x.im;
    return one(m, HD_IR_neg, x.re, &out->im);
}

UNARY(abs) {
    out->im = -1;
    return size_of(m, a, &out->re);
}

/* Real parts decide, then imaginary ones. */
static hd_status before(struct hd_shlo *m, struct hd_shlo_pair a, struct hd_shlo_pair b, int *out) {
    int first, same, second;
    TRY(hd_shlo_binary(m, HD_IR_less, a.re, b.re, &first));
    TRY(hd_shlo_binary(m, HD_IR_equal, a.re, b.re, &same));
    TRY(hd_shlo_binary(m, HD_IR_less, a.im, b.im, &second));
    TRY(hd_shlo_binary(m, HD_IR_and, same, second, &second));
    return hd_shlo_binary(m, HD_IR_or, first, second, out);
}

static hd_status choose(struct hd_shlo *m, int which, struct hd_shlo_pair a, struct hd_shlo_pair b,
                        struct hd_shlo_pair *out) {
    TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){which, a.re, b.re}, &out->re));
    return hd_shlo_emit(m, HD_IR_where, 3, (int[]){which, a.im, b.im}, &out->im);
}

FUNCTION(minimum) {
    int which;
    TRY(before(m, a, b, &which));
    return choose(m, which, a, b, out);
}

FUNCTION(maximum) {
    int which;
    TRY(before(m, a, b, &which));
    return choose(m, which, b, a, out);
}

FUNCTION(compare) {
    const char *attr = hd_mlir_attr(m->op, "comparison_direction");
    bool equal = hd_mlir_has_word(m->op, "EQ") || (attr && strstr(attr, "EQ"));
    if (!equal && !hd_mlir_has_word(m->op, "NE") && !(attr && strstr(attr, "NE")))
        return hd_shlo_bad(m, HD_UNSUPPORTED, "the order of complex numbers");
    TRY(hd_shlo_binary(m, HD_IR_equal, a.re, b.re, &out->re));
    TRY(hd_shlo_binary(m, HD_IR_equal, a.im, b.im, &out->im));
    TRY(hd_shlo_binary(m, HD_IR_and, out->re, out->im, &out->re));
    out->im = -1;
    return equal ? HD_OK : one(m, HD_IR_not, out->re, &out->re);
}

/* ---- the table ---- */

static const struct row {
    const char *name;
    enum lift lift;
    function *f;
} table[] = {
#define SHLO_PARTS(name)      {name, PARTS, NULL},
#define SHLO_SUM(name)        {name, SUM, NULL},
#define SHLO_PRODUCT(name)    {name, PRODUCT, NULL},
#define SHLO_COMPLEX(name, f) {name, FUNCTION, f_##f},
#include "compiler/import/stablehlo/complex_ops.def"
};

static const struct row *row_of(const char *name) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].name, name)) return &table[i];
    return NULL;
}

bool hd_shlo_is_complex(struct hd_shlo *m) {
    const struct hd_mlir_op *op = m->op;
    bool yes = false;
    for (size_t i = 0; i < op->n_operands && !yes; i++) {
        const struct hd_shlo_value *v = hd_shlo_find(m->scope, op->operands[i]);
        yes = v && v->type.complex;
    }
    for (size_t i = 0; i < op->n_result_types && !yes; i++)
        yes = strstr(op->result_types[i], "complex<");
    for (size_t i = 0; i < op->n_types && !yes; i++) yes = strstr(op->types[i], "complex<");
    return yes && row_of(op->name);
}

/* One reading of the operation by its plain reader; its results. */
static hd_status reading(struct hd_shlo *m, enum hd_shlo_part first, enum hd_shlo_part others,
                         int *out) {
    int *saved = m->capture;
    m->part[0] = first, m->part[1] = others;
    m->capture = out;
    hd_status s = hd_shlo_run_plain(m);
    m->capture = saved;
    m->part[0] = m->part[1] = HD_SHLO_WHOLE;
    return s;
}

hd_status hd_shlo_give(struct hd_shlo *m, size_t i, struct hd_shlo_pair y, hd_dtype type) {
    struct hd_shlo_value v = {.tensor = y.re, .imag = y.im};
    v.type.complex = y.im >= 0;
    v.type.dtype = type;
    return hd_shlo_out_value(m, i, &v);
}

static hd_status run_product(struct hd_shlo *m, hd_dtype type) {
    const enum hd_shlo_part re = HD_SHLO_REAL, im = HD_SHLO_IMAG;
    struct hd_shlo_value a, b;
    struct hd_shlo_pair y;
    int v[4];
    TRY(hd_shlo_operand(m, 0, &a));
    TRY(hd_shlo_operand(m, 1, &b));
    TRY(reading(m, re, re, &v[0]));
    if (!a.type.complex || !b.type.complex) {
        TRY(reading(m, im, im, &v[1]));
        return hd_shlo_give(m, 0, (struct hd_shlo_pair){v[0], v[1]}, type);
    }
    TRY(reading(m, im, im, &v[1]));
    TRY(reading(m, re, im, &v[2]));
    TRY(reading(m, im, re, &v[3]));
    TRY(hd_shlo_binary(m, HD_IR_sub, v[0], v[1], &y.re));
    TRY(hd_shlo_binary(m, HD_IR_add, v[2], v[3], &y.im));
    return hd_shlo_give(m, 0, y, type);
}

hd_status hd_shlo_get(struct hd_shlo *m, size_t i, struct hd_shlo_pair *out, hd_dtype *type) {
    struct hd_shlo_value v;
    TRY(hd_shlo_operand(m, i, &v));
    *type = hd_shlo_shape(m, v.tensor).dtype;
    TRY(hd_shlo_cast(m, v.tensor, HD_F64, &out->re));
    if (v.type.complex) return hd_shlo_cast(m, v.imag, HD_F64, &out->im);
    return hd_shlo_binary(m, HD_IR_sub, out->re, out->re, &out->im);
}

static hd_status run_function(struct hd_shlo *m, function *f) {
    struct hd_shlo_type t;
    struct hd_shlo_pair a, b, y;
    hd_dtype type;
    TRY(hd_shlo_get(m, 0, &a, &type));
    b = a;
    if (m->op->n_operands > 1) TRY(hd_shlo_get(m, 1, &b, &type));
    TRY(f(m, a, b, &y));
    TRY(hd_shlo_result_type(m, 0, &t));
    TRY(hd_shlo_cast(m, y.re, t.dtype, &y.re));
    if (!t.complex) y.im = -1;
    if (y.im >= 0) TRY(hd_shlo_cast(m, y.im, t.dtype, &y.im));
    return hd_shlo_give(m, 0, y, t.dtype);
}

hd_status hd_shlo_run_complex(struct hd_shlo *m) {
    const struct row *r = row_of(m->op->name);
    size_t n = (size_t)m->op->n_results;
    int *re = hd_new_array(m->arena, int, n + 1), *im = hd_new_array(m->arena, int, n + 1);
    struct hd_shlo_type t = {0};
    if (r->lift == FUNCTION) return run_function(m, r->f);
    if (n) TRY(hd_shlo_result_type(m, 0, &t));
    if (r->lift == PRODUCT) return run_product(m, t.dtype);
    if (r->lift == SUM && hd_shlo_body_op(m->op) != HD_IR_add)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "of complex numbers, but for sums");
    TRY(reading(m, HD_SHLO_REAL, HD_SHLO_REAL, re));
    TRY(reading(m, HD_SHLO_IMAG, HD_SHLO_IMAG, im));
    for (size_t i = 0; i < n; i++)
        TRY(hd_shlo_give(m, i, (struct hd_shlo_pair){re[i], im[i]}, t.dtype));
    return HD_OK;
}

/* ---- parts, and transforms ---- */

hd_status hd_shlo_op_real(struct hd_shlo *m) {
    struct hd_shlo_value v;
    TRY(hd_shlo_operand(m, 0, &v));
    return hd_shlo_out_stored(m, 0, v.tensor, NULL);
}

hd_status hd_shlo_op_imag(struct hd_shlo *m) {
    struct hd_shlo_value v;
    TRY(hd_shlo_operand(m, 0, &v));
    if (!v.type.complex) TRY(hd_shlo_binary(m, HD_IR_sub, v.tensor, v.tensor, &v.imag));
    return hd_shlo_out_stored(m, 0, v.imag, NULL);
}

hd_status hd_shlo_op_complex(struct hd_shlo *m) {
    struct hd_shlo_pair y;
    TRY(hd_shlo_in(m, 0, &y.re));
    TRY(hd_shlo_in(m, 1, &y.im));
    return hd_shlo_give(m, 0, y, hd_shlo_shape(m, y.re).dtype);
}

/* x [.., 2] along an axis. */
static hd_status transform(struct hd_shlo *m, int x, int64_t axis, int64_t length, bool inverse,
                           bool onesided, int *out) {
    int id = hd_shlo_node(m, HD_IR_dft, 2, (int[]){x, hd_shlo_ints(m, 1, &length)}, out);
    hd_attr_set_int(m->g, id, "axis", axis);
    hd_attr_set_int(m->g, id, "inverse", inverse);
    hd_attr_set_int(m->g, id, "onesided", onesided);
    return hd_shlo_done(m, id);
}

static hd_status part_of(struct hd_shlo *m, int x, int which, int *out) {
    struct hd_tensor t = hd_shlo_shape(m, x);
    int64_t from[HD_MAX_RANK] = {0}, step[HD_MAX_RANK], to[HD_MAX_RANK];
    memcpy(to, t.dim, sizeof to);
    for (int i = 0; i < t.rank; i++) step[i] = 1;
    from[t.rank - 1] = which, to[t.rank - 1] = which + 1;
    TRY(hd_shlo_slice(m, x, t.rank, from, to, step, &x));
    return hd_shlo_reshape(m, x, t.rank - 1, t.dim, out);
}

/* [..] real, or [..] and [..], as one tensor [.., 1 or 2]. */
static hd_status joined(struct hd_shlo *m, const struct hd_shlo_value *v, int *out) {
    struct hd_tensor t = hd_shlo_shape(m, v->tensor);
    int in[2] = {v->tensor, v->imag};
    if (t.rank == HD_MAX_RANK) return hd_shlo_bad(m, HD_UNSUPPORTED, "rank %d", t.rank);
    t.dim[t.rank] = 1;
    for (int i = 0; i < 1 + v->type.complex; i++)
        TRY(hd_shlo_reshape(m, in[i], t.rank + 1, t.dim, &in[i]));
    *out = in[0];
    if (!v->type.complex) return HD_OK;
    int id = hd_shlo_node(m, HD_IR_concat, 2, in, out);
    hd_attr_set_int(m->g, id, "axis", t.rank);
    return hd_shlo_done(m, id);
}

/* FFT, IFFT, RFFT, IRFFT over the last dimensions; half of the last one is stored by the R ones. */
hd_status hd_shlo_op_fft(struct hd_shlo *m) {
    const char *type = hd_mlir_attr(m->op, "type"), *len = hd_mlir_attr(m->op, "length");
    if (!type) type = hd_mlir_attr(m->op, "fft_type");
    int64_t length[HD_MAX_RANK];
    int n = hd_mlir_ints(len ? len : hd_mlir_attr(m->op, "fft_length"), length, HD_MAX_RANK), x;
    struct hd_shlo_value v;
    TRY(hd_shlo_operand(m, 0, &v));
    const struct hd_tensor t = hd_shlo_shape(m, v.tensor);
    if (!type || n < 1 || n > t.rank || n > HD_MAX_RANK)
        return hd_shlo_bad(m, HD_INVALID, "its type or length");
    bool inverse = strstr(type, "IFFT") || strstr(type, "IRFFT"), half = strstr(type, "RFFT");
    struct hd_shlo_pair y = {.im = -1};
    TRY(joined(m, &v, &x));
    if (half && !inverse) TRY(transform(m, x, t.rank - 1, length[n - 1], false, true, &x));
    for (int i = 0; i < n - half; i++) /* whole dimensions */
        TRY(transform(m, x, t.rank - n + i, length[i], inverse, false, &x));
    if (half && inverse) TRY(transform(m, x, t.rank - 1, length[n - 1], true, true, &x));
    TRY(part_of(m, x, 0, &y.re));
    if (!half || !inverse) TRY(part_of(m, x, 1, &y.im));
    return hd_shlo_give(m, 0, y, t.dtype);
}
