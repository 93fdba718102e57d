/* Elementwise TFLite operations. Quantised operands are computed as floats between dequantize and
 * quantize, of which legalisation makes operations of integers. */
#include <math.h>
#include <string.h>

#include "compiler/import/tflite/tflite_fixed.h"
#include "compiler/import/tflite/tflite_ops.h"

enum { RELU_N1_TO_1 = 20, RELU6 = 21, DEQUANTIZE = 6 };

hd_status hd_tfl_unary(struct hd_tfl *m, enum hd_ir_op op) {
    int x, y;
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    TRY(hd_tfl_emit(m, op, 1, &x, &y));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

static hd_status two(struct hd_tfl *m, int *a, int *b) {
    if (!hd_tfl_in(m, 0) || !hd_tfl_in(m, 1))
        return hd_tfl_bad(m, HD_INVALID, "an operand is left out");
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), a));
    return hd_tfl_real(m, hd_tfl_in(m, 1), b);
}

static bool has_activation(enum hd_ir_op op) {
    return op == HD_IR_add || op == HD_IR_sub || op == HD_IR_mul || op == HD_IR_div;
}

hd_status hd_tfl_pair(struct hd_tfl *m, enum hd_ir_op op) {
    int a, b, y;
    int64_t activation = has_activation(op) ? hd_tfl_option(m, 0, 1, 0) : 0;
    const struct hd_tfl_tensor *x = hd_tfl_in(m, 0), *other = hd_tfl_in(m, 1);
    if ((op == HD_IR_add || op == HD_IR_sub) && x && other && x->ir == other->ir &&
        hd_tfl_is_fixed(m, x, NULL, activation) && hd_tfl_is_fixed(m, other, NULL, activation))
        return hd_tfl_fixed_sum(m, op == HD_IR_sub, activation);
    if (op == HD_IR_mul && x && other && x->ir == other->ir &&
        hd_tfl_is_fixed(m, x, NULL, activation) && hd_tfl_is_fixed(m, other, NULL, activation))
        return hd_tfl_fixed_product(m, activation);
    TRY(two(m, &a, &b));
    TRY(hd_tfl_binary(m, op, a, b, &y));
    return hd_tfl_set_activated(m, hd_tfl_out(m, 0), y, activation);
}

hd_status hd_tfl_add_n(struct hd_tfl *m) {
    int y, x;
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &y));
    for (uint32_t i = 1; i < m->op->n_in; i++) {
        if (!hd_tfl_in(m, i)) return hd_tfl_bad(m, HD_INVALID, "an operand is left out");
        TRY(hd_tfl_real(m, hd_tfl_in(m, i), &x));
        TRY(hd_tfl_binary(m, HD_IR_add, y, x, &y));
    }
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

hd_status hd_tfl_relu_range(struct hd_tfl *m) {
    int x, y;
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    int code = m->op->code;
    TRY(hd_tfl_clip(m, x, code == RELU_N1_TO_1 ? -1 : 0, code == RELU6 ? 6 : 1, &y));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

hd_status hd_tfl_rsqrt(struct hd_tfl *m) {
    int x, y;
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    TRY(hd_tfl_emit(m, HD_IR_sqrt, 1, &x, &y));
    TRY(hd_tfl_emit(m, HD_IR_reciprocal, 1, &y, &y));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

hd_status hd_tfl_square(struct hd_tfl *m) {
    int x, y;
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    TRY(hd_tfl_binary(m, HD_IR_mul, x, x, &y));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

hd_status hd_tfl_leaky_relu(struct hd_tfl *m) {
    int x, y;
    float alpha = hd_fb_float(&m->fb, &m->op->options, 0, 0);
    if (hd_tfl_in(m, 0) && alpha > 0 && hd_tfl_is_fixed(m, hd_tfl_in(m, 0), NULL, 0))
        return hd_tfl_fixed_leaky(m, alpha);
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    int id = hd_tfl_node(m, HD_IR_leakyrelu, 1, &x, &y);
    hd_attr_set_float(m->g, id, "alpha", alpha);
    TRY(hd_tfl_done(m, id));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

hd_status hd_tfl_gelu(struct hd_tfl *m) {
    int x, y;
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    int id = hd_tfl_node(m, HD_IR_gelu, 1, &x, &y);
    hd_attr_set_string(m->g, id, "approximate", hd_tfl_option(m, 0, 1, 0) ? "tanh" : "none");
    TRY(hd_tfl_done(m, id));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

hd_status hd_tfl_not_equal(struct hd_tfl *m) {
    int a, b, y;
    TRY(two(m, &a, &b));
    TRY(hd_tfl_binary(m, HD_IR_equal, a, b, &y));
    TRY(hd_tfl_emit(m, HD_IR_not, 1, &y, &y));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

hd_status hd_tfl_squared_difference(struct hd_tfl *m) {
    int a, b, y;
    TRY(two(m, &a, &b));
    TRY(hd_tfl_binary(m, HD_IR_sub, a, b, &y));
    TRY(hd_tfl_binary(m, HD_IR_mul, y, y, &y));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

/* floor(a / b); of integers (a - mod(a, b)) / b, where mod has the sign of b. */
static hd_status floor_div(struct hd_tfl *m, int a, int b, int *out) {
    int q, rest;
    hd_dtype t = m->g->tensors[a].dtype;
    if (t == HD_F32 || t == HD_F64 || t == HD_F16) {
        TRY(hd_tfl_binary(m, HD_IR_div, a, b, &q));
        return hd_tfl_emit(m, HD_IR_floor, 1, &q, out);
    }
    TRY(hd_tfl_binary(m, HD_IR_mod, a, b, &rest));
    TRY(hd_tfl_binary(m, HD_IR_sub, a, rest, &q));
    return hd_tfl_binary(m, HD_IR_div, q, b, out);
}

hd_status hd_tfl_floor_div(struct hd_tfl *m) {
    int a, b, y;
    TRY(two(m, &a, &b));
    TRY(floor_div(m, a, b, &y));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

hd_status hd_tfl_floor_mod(struct hd_tfl *m) {
    int a, b, y;
    TRY(two(m, &a, &b));
    hd_dtype t = m->g->tensors[a].dtype;
    if (t != HD_F32 && t != HD_F64 && t != HD_F16) {
        TRY(hd_tfl_binary(m, HD_IR_mod, a, b, &y));
        return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
    }
    TRY(floor_div(m, a, b, &y));
    TRY(hd_tfl_binary(m, HD_IR_mul, y, b, &y));
    TRY(hd_tfl_binary(m, HD_IR_sub, a, y, &y));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

/* SELECT takes a condition of the first dimension alone, too. */
hd_status hd_tfl_select(struct hd_tfl *m) {
    struct hd_tfl_tensor *t[3];
    int in[3], y;
    for (uint32_t i = 0; i < 3; i++) {
        t[i] = hd_tfl_in(m, i);
        if (!t[i]) return hd_tfl_bad(m, HD_INVALID, "an operand is left out");
        TRY(hd_tfl_real(m, t[i], &in[i]));
    }
    const struct hd_tensor c = m->g->tensors[in[0]], x = m->g->tensors[in[1]];
    if (m->op->code == 64 && c.known && x.known && c.rank == 1 && x.rank > 1) {
        int64_t dim[HD_MAX_RANK] = {c.dim[0]};
        for (int i = 1; i < x.rank; i++) dim[i] = 1;
        TRY(hd_tfl_reshape(m, in[0], x.rank, dim, &in[0]));
    }
    TRY(hd_tfl_emit(m, HD_IR_where, 3, in, &y));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

hd_status hd_tfl_cast(struct hd_tfl *m) {
    struct hd_tfl_tensor *y = hd_tfl_out(m, 0);
    int x;
    TRY(hd_tfl_raw(m, hd_tfl_in(m, 0), &x));
    if (!y || y->ir < 0) return hd_tfl_bad(m, HD_UNSUPPORTED, "to type %d", y ? y->type : -1);
    TRY(hd_tfl_cast_to(m, x, (hd_dtype)y->ir, &x));
    hd_tfl_set_raw(m, y, x);
    return HD_OK;
}

/* Between integers that no quantize reaches: in binary64, which holds products of 16 bits. */
static hd_status rescale(struct hd_tfl *m, const struct hd_tfl_tensor *x,
                         const struct hd_tfl_tensor *y, int in, int *out) {
    static const double limit[2][2] = {{INT16_MIN, INT16_MAX}, {INT32_MIN, INT32_MAX}};
    const double *lim = limit[y->ir == HD_I32];
    int power;
    double part = frexp((double)x->scale[0] / (double)y->scale[0], &power),
           ratio = ldexp(rint(ldexp(part, 31)), power - 31), /* as in TFLite: 31 bits of it */
        shift = (double)y->zero[0] - ratio * (double)x->zero[0];
    int v;
    if (x->n_scales != 1 || y->n_scales != 1 || (y->ir != HD_I32 && y->ir != HD_I16))
        return hd_tfl_bad(m, HD_UNSUPPORTED, "from %d to %d of the schema's types with %u scales",
                          x->type, y->type, x->n_scales);
    TRY(hd_tfl_cast_to(m, in, HD_F64, &v));
    TRY(hd_tfl_binary(m, HD_IR_mul, v, hd_tfl_const(m, HD_F64, 0, NULL, &ratio), &v));
    TRY(hd_tfl_binary(m, HD_IR_add, v, hd_tfl_const(m, HD_F64, 0, NULL, &shift), &v));
    TRY(hd_tfl_emit(m, HD_IR_round, 1, &v, &v));
    TRY(hd_tfl_binary(m, HD_IR_max, v, hd_tfl_const(m, HD_F64, 0, NULL, &lim[0]), &v));
    TRY(hd_tfl_binary(m, HD_IR_min, v, hd_tfl_const(m, HD_F64, 0, NULL, &lim[1]), &v));
    return hd_tfl_cast_to(m, v, (hd_dtype)y->ir, out);
}

hd_status hd_tfl_convert(struct hd_tfl *m) {
    struct hd_tfl_tensor *x = hd_tfl_in(m, 0), *y = hd_tfl_out(m, 0);
    int v;
    if (!x || !y) return hd_tfl_bad(m, HD_INVALID, "an operand is left out");
    if ((x->ir == HD_I32 || y->ir == HD_I32) && x->n_scales && y->n_scales) {
        TRY(hd_tfl_raw(m, x, &v));
        TRY(rescale(m, x, y, v, &v));
        hd_tfl_set_raw(m, y, v);
        return HD_OK;
    }
    TRY(hd_tfl_real(m, x, &v));
    if (m->op->code == DEQUANTIZE) TRY(hd_tfl_cast_to(m, v, HD_F32, &v)); /* from f16 */
    return hd_tfl_set_real(m, y, v);
}
