/* One element: the arithmetic of tensor expressions, from the rows of expr.def. */
#include "compiler/expr/scalar.h"

#include <math.h>

#include "runtime/base/element.h"
#include "runtime/base/fn.h"

#define WRAP(a, op, b)  ((int64_t)((uint64_t)(a)op(uint64_t)(b)))
#define SHIFT(a, op, b) ((uint64_t)(b) > 63 ? 0 : (uint64_t)(a)op(b))

bool hd_scalar_is_float(int type) {
    return hd_k_is_float((hd_dtype)type);
}

union hd_scalar hd_scalar_load(const void *data, int type, int64_t i) {
    union hd_scalar v;
    if (hd_scalar_is_float(type))
        v.f = hd_k_f64(data, (hd_dtype)type, i);
    else
        v.i = hd_k_i64(data, (hd_dtype)type, i);
    return v;
}

void hd_scalar_store(void *data, int type, int64_t i, union hd_scalar v) {
    if (hd_scalar_is_float(type))
        hd_k_put_f64(data, (hd_dtype)type, i, v.f);
    else
        hd_k_put_i64(data, (hd_dtype)type, i, v.i);
}

/* Rounds to the type, or wraps. */
static union hd_scalar fit(union hd_scalar v, int type) {
    uint64_t room[1];
    if (type == HD_F64 || type == HD_I64 || type == HD_U64) return v;
    hd_scalar_store(room, type, 0, v);
    return hd_scalar_load(room, type, 0);
}

static double floats(enum hd_expr_op op, double a, double b) {
    double x = a;
    switch (op) {
#define PREFIX(name, text, types, float_y, int_y)                                                  \
    case HD_EXPR_##name:                                                                           \
        return (double)(float_y);
#define FUNCTION(name, types, float_y, int_y) PREFIX(name, 0, 0, float_y, 0)
#define INFIX(name, text, level, types, result, float_y, int_y, uint_y)                            \
    PREFIX(name, 0, 0, float_y, 0)
#define FUNCTION2(name, types, float_y, int_y, uint_y) PREFIX(name, 0, 0, float_y, 0)
#include "compiler/expr/expr.def"
    default:
        return a;
    }
}

static int64_t integers(enum hd_expr_op op, int64_t a, int64_t b) {
    int64_t x = a;
    switch (op) {
#define PREFIX(name, text, types, float_y, int_y)                                                  \
    case HD_EXPR_##name:                                                                           \
        return (int64_t)(int_y);
#define FUNCTION(name, types, float_y, int_y)                           PREFIX(name, 0, 0, 0, int_y)
#define INFIX(name, text, level, types, result, float_y, int_y, uint_y) PREFIX(name, 0, 0, 0, int_y)
#define FUNCTION2(name, types, float_y, int_y, uint_y)                  PREFIX(name, 0, 0, 0, int_y)
#include "compiler/expr/expr.def"
    default:
        return a;
    }
}

/* Where it differs from int64: u64 alone, since smaller types fit. */
static int64_t unsigned_integers(enum hd_expr_op op, uint64_t a, uint64_t b) {
    switch (op) {
#define INFIX(name, text, level, types, result, float_y, int_y, uint_y)                            \
    case HD_EXPR_##name:                                                                           \
        return (int64_t)(uint_y);
#define FUNCTION2(name, types, float_y, int_y, uint_y) INFIX(name, 0, 0, 0, 0, 0, 0, uint_y)
#include "compiler/expr/expr.def"
    case HD_EXPR_abs:
        return (int64_t)a;
    default:
        return integers(op, (int64_t)a, (int64_t)b);
    }
}

static bool compares(enum hd_expr_op op) {
    return op == HD_EXPR_eq || op == HD_EXPR_ne || op == HD_EXPR_lt || op == HD_EXPR_le ||
           op == HD_EXPR_gt || op == HD_EXPR_ge;
}

union hd_scalar hd_scalar_apply(enum hd_expr_op op, int type, union hd_scalar a,
                                union hd_scalar b) {
    union hd_scalar y;
    if (hd_scalar_is_float(type)) {
        double v = floats(op, a.f, b.f);
        if (compares(op)) return (union hd_scalar){.i = v != 0};
        y.f = v;
    } else {
        y.i = type == HD_U64 ? unsigned_integers(op, (uint64_t)a.i, (uint64_t)b.i)
                             : integers(op, a.i, b.i);
        if (compares(op)) return y;
    }
    return fit(y, type);
}

void hd_scalar_limits(int type, int64_t *lo, int64_t *hi) {
    int bits = hd_dtype_bits((hd_dtype)type);
    bool is_unsigned = type == HD_U8 || type == HD_U16 || type == HD_U32 || type == HD_U64;
    if (type == HD_BOOL) {
        *lo = 0;
        *hi = 1;
    } else if (is_unsigned) {
        *lo = 0;
        *hi = bits == 64 ? -1 : (INT64_C(1) << bits) - 1;
    } else {
        *hi = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
        *lo = -*hi - 1;
    }
}

static double rounded(double v, enum hd_expr_round how) {
    switch (how) {
    case HD_ROUND_EVEN:
        return rint(v);
    case HD_ROUND_AWAY:
        return round(v);
    case HD_ROUND_FLOOR:
        return floor(v);
    case HD_ROUND_CEIL:
        return ceil(v);
    default:
        return trunc(v);
    }
}

static int64_t saturated(int64_t v, int from, int to) {
    int64_t lo, hi;
    hd_scalar_limits(to, &lo, &hi);
    if (from == HD_U64 && v < 0) return to == HD_U64 ? v : hi; /* above int64 */
    if (to == HD_U64) return v < 0 ? 0 : v;
    return v < lo ? lo : v > hi ? hi : v;
}

union hd_scalar hd_scalar_cast(union hd_scalar v, int from, int to, enum hd_expr_round how,
                               bool saturate) {
    bool from_float = hd_scalar_is_float(from), to_float = hd_scalar_is_float(to);
    union hd_scalar y = v;
    if (to == HD_BOOL)
        y.i = from_float ? v.f != 0 : v.i != 0;
    else if (from_float && !to_float) {
        uint64_t room[1];
        hd_k_put_f64(room, (hd_dtype)to, 0, rounded(v.f, how)); /* saturates */
        return hd_scalar_load(room, to, 0);
    } else if (!from_float && to_float)
        y.f = from == HD_U64 ? (double)(uint64_t)v.i : (double)v.i;
    else if (!from_float && saturate)
        y.i = saturated(v.i, from, to);
    return fit(y, to);
}

union hd_scalar hd_scalar_initial(enum hd_expr_reduce r, int type) {
    union hd_scalar v;
    int64_t lo = 0, hi = 0;
    bool is_float = hd_scalar_is_float(type);
    if (!is_float) hd_scalar_limits(type, &lo, &hi);
    switch (r) {
    case HD_REDUCE_PRODUCT:
        if (is_float)
            v.f = 1;
        else
            v.i = 1;
        return v;
    case HD_REDUCE_MAX:
        if (is_float)
            v.f = -HUGE_VAL;
        else
            v.i = lo;
        return v;
    case HD_REDUCE_MIN:
        if (is_float)
            v.f = HUGE_VAL;
        else
            v.i = hi;
        return v;
    default:
        v.i = 0;
        if (is_float) v.f = 0;
        return v;
    }
}

union hd_scalar hd_scalar_reduce(enum hd_expr_reduce r, int type, union hd_scalar acc,
                                 union hd_scalar v) {
    static const enum hd_expr_op op[HD_REDUCES] = {[HD_REDUCE_SUM] = HD_EXPR_add,
                                                   [HD_REDUCE_PRODUCT] = HD_EXPR_mul,
                                                   [HD_REDUCE_MAX] = HD_EXPR_max,
                                                   [HD_REDUCE_MIN] = HD_EXPR_min};
    return hd_scalar_apply(op[r], type, acc, v);
}

bool hd_scalar_better(enum hd_expr_reduce r, int type, union hd_scalar v, union hd_scalar best) {
    if (hd_scalar_is_float(type)) {
        if (best.f != best.f) return false;
        return v.f != v.f || (r == HD_REDUCE_ARGMAX ? v.f > best.f : v.f < best.f);
    }
    if (type == HD_U64)
        return r == HD_REDUCE_ARGMAX ? (uint64_t)v.i > (uint64_t)best.i
                                     : (uint64_t)v.i < (uint64_t)best.i;
    return r == HD_REDUCE_ARGMAX ? v.i > best.i : v.i < best.i;
}
