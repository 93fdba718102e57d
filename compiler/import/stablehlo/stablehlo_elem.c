/* Elementwise operations of StableHLO that are no operation of the graph by themselves. */
#include <string.h>

#include "compiler/import/stablehlo/stablehlo.h"

static hd_status two(struct hd_shlo *m, int *a, int *b) {
    TRY(hd_shlo_in(m, 0, a));
    return hd_shlo_in(m, 1, b);
}

/* x in binary64, so that what cancels keeps its digits; *type: what it was. */
static hd_status wide(struct hd_shlo *m, int *x, hd_dtype *type) {
    TRY(hd_shlo_in(m, 0, x));
    *type = hd_shlo_shape(m, *x).dtype;
    return hd_shlo_cast(m, *x, HD_F64, x);
}

static hd_status narrow(struct hd_shlo *m, int x, hd_dtype type) {
    TRY(hd_shlo_cast(m, x, type, &x));
    return hd_shlo_out(m, 0, x);
}

static hd_status with(struct hd_shlo *m, enum hd_ir_op op, int x, double v, int *out) {
    int c;
    TRY(hd_shlo_scalar(m, v, x, &c));
    return hd_shlo_binary(m, op, x, c, out);
}

hd_status hd_shlo_op_not(struct hd_shlo *m) {
    int x;
    TRY(hd_shlo_in(m, 0, &x));
    TRY(hd_shlo_emit(m, hd_shlo_shape(m, x).dtype == HD_BOOL ? HD_IR_not : HD_IR_bitwisenot, 1, &x,
                     &x));
    return hd_shlo_out(m, 0, x);
}

/* Of integers by 0: -1, all bits. */
hd_status hd_shlo_op_divide(struct hd_shlo *m) {
    int a, b, y, zero, ones, is;
    TRY(two(m, &a, &b));
    TRY(hd_shlo_binary(m, HD_IR_div, a, b, &y));
    if (!hd_shlo_is_float(hd_shlo_shape(m, a).dtype)) {
        TRY(hd_shlo_scalar(m, 0, b, &zero));
        TRY(hd_shlo_emit(m, HD_IR_bitwisenot, 1, &zero, &ones));
        TRY(hd_shlo_binary(m, HD_IR_equal, b, zero, &is));
        TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){is, ones, y}, &y));
    }
    return hd_shlo_out(m, 0, y);
}

hd_status hd_shlo_op_remainder(struct hd_shlo *m) {
    int a, b, y;
    TRY(two(m, &a, &b));
    int id = hd_shlo_node(m, HD_IR_mod, 2, (int[]){a, b}, &y);
    hd_attr_set_int(m->g, id, "fmod", 1);
    TRY(hd_shlo_done(m, id));
    return hd_shlo_out(m, 0, y);
}

hd_status hd_shlo_op_power(struct hd_shlo *m) {
    int a, b;
    TRY(two(m, &a, &b));
    TRY(hd_shlo_binary(m, HD_IR_pow, a, b, &a));
    return hd_shlo_out(m, 0, a);
}

hd_status hd_shlo_op_rsqrt(struct hd_shlo *m) {
    hd_dtype type;
    int x;
    TRY(wide(m, &x, &type));
    TRY(hd_shlo_emit(m, HD_IR_sqrt, 1, &x, &x));
    TRY(hd_shlo_emit(m, HD_IR_reciprocal, 1, &x, &x));
    return narrow(m, x, type);
}

hd_status hd_shlo_op_cbrt(struct hd_shlo *m) {
    hd_dtype type;
    int x, y, sign;
    TRY(wide(m, &x, &type));
    TRY(hd_shlo_emit(m, HD_IR_sign, 1, &x, &sign));
    TRY(hd_shlo_emit(m, HD_IR_abs, 1, &x, &y));
    TRY(with(m, HD_IR_pow, y, 1.0 / 3, &y));
    TRY(hd_shlo_binary(m, HD_IR_mul, y, sign, &y));
    return narrow(m, y, type);
}

/* e^x - 1 = 2 sinh(x/2) e^(x/2), which loses nothing near 0; elu is it below 0. */
hd_status hd_shlo_op_expm1(struct hd_shlo *m) {
    hd_dtype type;
    int x, h, e;
    TRY(wide(m, &x, &type));
    TRY(with(m, HD_IR_mul, x, 0.5, &h));
    TRY(hd_shlo_emit(m, HD_IR_exp, 1, &h, &e));
    TRY(hd_shlo_emit(m, HD_IR_elu, 1, &x, &x)); /* expm1(x) for x < 0, x otherwise */
    int s, zero, below, y;
    TRY(hd_shlo_emit(m, HD_IR_sinh, 1, &h, &s));
    TRY(hd_shlo_binary(m, HD_IR_mul, s, e, &s));
    TRY(with(m, HD_IR_mul, s, 2, &s));
    TRY(hd_shlo_scalar(m, 0, h, &zero));
    TRY(hd_shlo_binary(m, HD_IR_less, h, zero, &below));
    TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){below, x, s}, &y));
    return narrow(m, y, type);
}

/* log(1 + x) = 2 atanh(x / (2 + x)), which loses nothing near 0. */
hd_status hd_shlo_op_log1p(struct hd_shlo *m) {
    hd_dtype type;
    int x, d, y, far, a, size, half, near;
    TRY(wide(m, &x, &type));
    TRY(with(m, HD_IR_add, x, 2, &d));
    TRY(hd_shlo_binary(m, HD_IR_div, x, d, &d));
    TRY(hd_shlo_emit(m, HD_IR_atanh, 1, &d, &d));
    TRY(with(m, HD_IR_mul, d, 2, &near));
    TRY(with(m, HD_IR_add, x, 1, &a));
    TRY(hd_shlo_emit(m, HD_IR_log, 1, &a, &far));
    TRY(hd_shlo_emit(m, HD_IR_abs, 1, &x, &size));
    TRY(hd_shlo_scalar(m, 0.5, x, &half));
    TRY(hd_shlo_binary(m, HD_IR_less, size, half, &half));
    TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){half, near, far}, &y));
    return narrow(m, y, type);
}

/* Halves away from zero. */
hd_status hd_shlo_op_round_away(struct hd_shlo *m) {
    hd_dtype type;
    int x, y, sign;
    TRY(wide(m, &x, &type));
    TRY(hd_shlo_emit(m, HD_IR_sign, 1, &x, &sign));
    TRY(hd_shlo_emit(m, HD_IR_abs, 1, &x, &y));
    TRY(with(m, HD_IR_add, y, 0.5, &y));
    TRY(hd_shlo_emit(m, HD_IR_floor, 1, &y, &y));
    TRY(hd_shlo_binary(m, HD_IR_mul, y, sign, &y));
    return narrow(m, y, type);
}

/* x - x is 0 for those that are. */
hd_status hd_shlo_op_is_finite(struct hd_shlo *m) {
    int x, zero;
    TRY(hd_shlo_in(m, 0, &x));
    TRY(hd_shlo_binary(m, HD_IR_sub, x, x, &x));
    TRY(hd_shlo_scalar(m, 0, x, &zero));
    TRY(hd_shlo_binary(m, HD_IR_equal, x, zero, &x));
    return hd_shlo_out(m, 0, x);
}

hd_status hd_shlo_op_erfc(struct hd_shlo *m) {
    hd_dtype type;
    int x, one;
    TRY(wide(m, &x, &type));
    TRY(hd_shlo_emit(m, HD_IR_erf, 1, &x, &x));
    TRY(hd_shlo_scalar(m, 1, x, &one));
    TRY(hd_shlo_binary(m, HD_IR_sub, one, x, &x));
    return narrow(m, x, type);
}

/* atan(y / x), and pi with the sign of y more where x is below 0 (or -0). */
hd_status hd_shlo_angle(struct hd_shlo *m, int y, int x, int *out) {
    int q, inv, zero, below, up, pi, nopi, same, neg, both, yzero;
    TRY(hd_shlo_scalar(m, 0, x, &zero));
    TRY(hd_shlo_binary(m, HD_IR_div, y, x, &q));
    TRY(hd_shlo_emit(m, HD_IR_atan, 1, &q, &q));
    TRY(hd_shlo_emit(m, HD_IR_reciprocal, 1, &x, &inv)); /* which has the sign of a zero */
    TRY(hd_shlo_binary(m, HD_IR_add, x, inv, &inv));
    TRY(hd_shlo_binary(m, HD_IR_less, inv, zero, &below));
    TRY(hd_shlo_emit(m, HD_IR_reciprocal, 1, &y, &up));
    TRY(hd_shlo_binary(m, HD_IR_add, y, up, &up));
    TRY(hd_shlo_binary(m, HD_IR_less, up, zero, &up));
    TRY(hd_shlo_scalar(m, 3.14159265358979323846, x, &pi));
    TRY(hd_shlo_emit(m, HD_IR_neg, 1, &pi, &neg));
    TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){up, neg, pi}, &pi));
    TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){below, pi, zero}, &nopi));
    TRY(hd_shlo_binary(m, HD_IR_equal, y, zero, &yzero)); /* 0 / 0 is no angle, +-0 is one */
    TRY(hd_shlo_binary(m, HD_IR_equal, x, zero, &both));
    TRY(hd_shlo_binary(m, HD_IR_and, yzero, both, &both));
    TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){both, y, q}, &same));
    return hd_shlo_binary(m, HD_IR_add, same, nopi, out);
}

hd_status hd_shlo_op_atan2(struct hd_shlo *m) {
    hd_dtype type;
    int y, x;
    TRY(wide(m, &y, &type));
    TRY(hd_shlo_in(m, 1, &x));
    TRY(hd_shlo_cast(m, x, HD_F64, &x));
    TRY(hd_shlo_angle(m, y, x, &y));
    return narrow(m, y, type);
}

/* ---- bits ---- */

static hd_dtype unsigned_of(hd_dtype t) {
    return t == HD_I8    ? HD_U8
           : t == HD_I16 ? HD_U16
           : t == HD_I32 ? HD_U32
           : t == HD_I64 ? HD_U64
                         : t;
}

/* Shifts by the width or more give 0, or all sign bits. Arithmetic ones are of ~x where x < 0. */
hd_status hd_shlo_op_shift(struct hd_shlo *m) {
    bool left = strstr(m->op->name, "left"), arithmetic = strstr(m->op->name, "arithmetic");
    int a, b, x, y, inverse, zero, below, width, far, none;
    TRY(two(m, &a, &b));
    hd_dtype type = hd_shlo_shape(m, a).dtype, u = unsigned_of(type);
    x = a;
    TRY(hd_shlo_scalar(m, 0, a, &zero));
    TRY(hd_shlo_binary(m, HD_IR_less, a, zero, &below));
    if (arithmetic) {
        TRY(hd_shlo_emit(m, HD_IR_bitwisenot, 1, &a, &inverse));
        TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){below, inverse, a}, &x));
    }
    TRY(hd_shlo_cast(m, x, u, &x));
    TRY(hd_shlo_cast(m, b, u, &b));
    TRY(hd_shlo_scalar(m, (double)hd_dtype_bytes(type) * 8, b, &width));
    TRY(hd_shlo_binary(m, HD_IR_greaterorequal, b, width, &far));
    TRY(hd_shlo_scalar(m, 0, b, &none));
    TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){far, none, b}, &b));
    int id = hd_shlo_node(m, HD_IR_bitshift, 2, (int[]){x, b}, &y);
    hd_attr_set_string(m->g, id, "direction", left ? "LEFT" : "RIGHT");
    TRY(hd_shlo_done(m, id));
    TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){far, none, y}, &y));
    TRY(hd_shlo_cast(m, y, type, &y));
    if (arithmetic) {
        TRY(hd_shlo_emit(m, HD_IR_bitwisenot, 1, &y, &inverse));
        TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){below, inverse, y}, &y));
    }
    return hd_shlo_out(m, 0, y);
}

/* The bits of x, one after another from the lowest: *out = f(*out, bit). */
static hd_status count_bits(struct hd_shlo *m, bool leading) {
    int x, n, bit, one, shifted, run, id;
    TRY(hd_shlo_in(m, 0, &x));
    hd_dtype type = hd_shlo_shape(m, x).dtype, u = unsigned_of(type);
    int width = (int)hd_dtype_bytes(type) * 8;
    TRY(hd_shlo_cast(m, x, u, &x));
    TRY(hd_shlo_scalar(m, 1, x, &one));
    TRY(hd_shlo_binary(m, HD_IR_sub, x, x, &n));
    TRY(with(m, HD_IR_add, n, 1, &run));
    for (int i = width - 1; i >= 0; i--) {
        TRY(hd_shlo_scalar(m, i, x, &shifted));
        id = hd_shlo_node(m, HD_IR_bitshift, 2, (int[]){x, shifted}, &bit);
        hd_attr_set_string(m->g, id, "direction", "RIGHT");
        TRY(hd_shlo_done(m, id));
        TRY(hd_shlo_binary(m, HD_IR_bitwiseand, bit, one, &bit));
        if (leading) { /* run: no bit so far */
            TRY(hd_shlo_binary(m, HD_IR_bitwisexor, bit, one, &bit));
            TRY(hd_shlo_binary(m, HD_IR_mul, run, bit, &run));
            bit = run;
        }
        TRY(hd_shlo_binary(m, HD_IR_add, n, bit, &n));
    }
    TRY(hd_shlo_cast(m, n, type, &n));
    return hd_shlo_out(m, 0, n);
}

hd_status hd_shlo_op_popcnt(struct hd_shlo *m) {
    return count_bits(m, false);
}

hd_status hd_shlo_op_clz(struct hd_shlo *m) {
    return count_bits(m, true);
}

/* ---- comparing and choosing ---- */

static const char *direction(const struct hd_mlir_op *op) {
    static const char *const all[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
    const char *attr = hd_mlir_attr(op, "comparison_direction");
    for (size_t i = 0; i < 6; i++)
        if (hd_mlir_has_word(op, all[i]) || (attr && strstr(attr, all[i]))) return all[i];
    return "";
}

hd_status hd_shlo_op_compare(struct hd_shlo *m) {
    static const struct {
        const char *name;
        enum hd_ir_op op;
    } table[] = {{"EQ", HD_IR_equal},       {"NE", HD_IR_equal},   {"LT", HD_IR_less},
                 {"LE", HD_IR_lessorequal}, {"GT", HD_IR_greater}, {"GE", HD_IR_greaterorequal}};
    const char *d = direction(m->op);
    int a, b;
    TRY(two(m, &a, &b));
    if (hd_mlir_has_word(m->op, "TOTALORDER"))
        return hd_shlo_bad(m, HD_UNSUPPORTED, "the total order of floats");
    if (hd_shlo_shape(m, a).dtype == HD_BOOL && d[0] != 'E' && d[0] != 'N') {
        TRY(hd_shlo_cast(m, a, HD_U8, &a));
        TRY(hd_shlo_cast(m, b, HD_U8, &b));
    }
    for (size_t i = 0; i < 6; i++) {
        if (strcmp(table[i].name, d)) continue;
        TRY(hd_shlo_binary(m, table[i].op, a, b, &a));
        if (*d == 'N') TRY(hd_shlo_emit(m, HD_IR_not, 1, &a, &a));
        return hd_shlo_out(m, 0, a);
    }
    return hd_shlo_bad(m, HD_INVALID, "no direction");
}

hd_status hd_shlo_op_select(struct hd_shlo *m) {
    int in[3], y;
    for (size_t i = 0; i < 3; i++) TRY(hd_shlo_in(m, i, &in[i]));
    TRY(hd_shlo_emit(m, HD_IR_where, 3, in, &y));
    return hd_shlo_out(m, 0, y);
}

hd_status hd_shlo_op_clamp(struct hd_shlo *m) {
    int in[3], y;
    for (size_t i = 0; i < 3; i++) TRY(hd_shlo_in(m, i, &in[i]));
    TRY(hd_shlo_binary(m, HD_IR_max, in[1], in[0], &y));
    TRY(hd_shlo_binary(m, HD_IR_min, y, in[2], &y));
    return hd_shlo_out(m, 0, y);
}

/* ---- types ---- */

hd_status hd_shlo_op_convert(struct hd_shlo *m) {
    struct hd_shlo_type t;
    int x;
    TRY(hd_shlo_in(m, 0, &x));
    TRY(hd_shlo_result_type(m, 0, &t));
    TRY(hd_shlo_cast(m, x, t.dtype, &x));
    return hd_shlo_out(m, 0, x);
}

/* The bits of one type taken as another of the same width. */
hd_status hd_shlo_op_bitcast(struct hd_shlo *m) {
    struct hd_shlo_type t;
    int x;
    TRY(hd_shlo_in(m, 0, &x));
    TRY(hd_shlo_result_type(m, 0, &t));
    int id = hd_shlo_node(m, HD_IR_bitcast, 1, &x, &x);
    hd_attr_set_string(m->g, id, "to", hd_dtype_name(t.dtype));
    TRY(hd_shlo_done(m, id));
    return hd_shlo_out(m, 0, x);
}

hd_status hd_shlo_op_reduce_precision(struct hd_shlo *m) {
    int64_t e = hd_shlo_int(m, "exponent_bits", 0), f = hd_shlo_int(m, "mantissa_bits", 0);
    const char *text = hd_mlir_attr(m->op, "format");
    hd_dtype to;
    int x, v[2];
    if (text && sscanf(text, "e%dm%d", &v[0], &v[1]) == 2) e = v[0], f = v[1];
    for (size_t i = 0; i < m->op->n_words; i++)
        if (sscanf(m->op->words[i], "e%dm%d", &v[0], &v[1]) == 2) e = v[0], f = v[1];
    TRY(hd_shlo_in(m, 0, &x));
    hd_dtype type = hd_shlo_shape(m, x).dtype;
    if (e == 5 && f == 10)
        to = HD_F16;
    else if (e == 8 && f == 7)
        to = HD_BF16;
    else if (e >= 8 && f >= 23 && type != HD_F64)
        to = type;
    else
        return hd_shlo_bad(m, HD_UNSUPPORTED, "format e%ldm%ld", (long)e, (long)f);
    TRY(hd_shlo_cast(m, x, to, &x));
    TRY(hd_shlo_cast(m, x, type, &x));
    return hd_shlo_out(m, 0, x);
}

/* Operands come dequantised, and results are quantised by their types. */
hd_status hd_shlo_op_requantize(struct hd_shlo *m) {
    struct hd_shlo_type t;
    int x;
    TRY(hd_shlo_in(m, 0, &x));
    TRY(hd_shlo_result_type(m, 0, &t));
    if (!t.quantised) TRY(hd_shlo_cast(m, x, t.dtype, &x));
    return hd_shlo_out(m, 0, x);
}

hd_status hd_shlo_op_constant(struct hd_shlo *m) {
    struct hd_shlo_type t;
    const char *text = hd_mlir_attr(m->op, "value");
    void *data;
    if (!text) return hd_shlo_bad(m, HD_INVALID, "it has no value");
    if (m->op->n_types && m->op->n_result_types) /* value : its type -> an open one */
        TRY(hd_shlo_type(m, m->op->types[0], &t));
    else
        TRY(hd_shlo_result_type(m, 0, &t));
    TRY(hd_shlo_dense(m, text, &t, &data));
    int x = hd_graph_tensor(m->g, "c", t.dtype, t.rank, t.rank ? t.dim : (int64_t[]){0});
    m->g->tensors[x].data = data;
    return hd_shlo_out_stored(m, 0, x, &t);
}

/* Constants of tests that are to be computed with in the run: inputs that have a value. */
hd_status hd_shlo_op_unfoldable_constant(struct hd_shlo *m) {
    struct hd_shlo_type t;
    const char *text = hd_mlir_attr(m->op, "value");
    void *data;
    if (!m->from->bind || !m->from->bind->check) return hd_shlo_op_constant(m);
    if (!text) return hd_shlo_bad(m, HD_INVALID, "it has no value");
    TRY(hd_shlo_result_type(m, 0, &t));
    TRY(hd_shlo_dense(m, text, &t, &data));
    int x = hd_graph_tensor(m->g, "x", t.dtype, t.rank, t.rank ? t.dim : (int64_t[]){0});
    m->g->tensors[x].initial = data;
    hd_graph_input(m->g, x);
    return hd_shlo_out_stored(m, 0, x, &t);
}
