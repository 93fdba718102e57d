/* StableHLO triangular_solve, row after row, of real and of complex numbers. */
#include <string.h>

#include "compiler/import/stablehlo/stablehlo.h"

static hd_status rows_of(struct hd_shlo *m, int x, int axis, int64_t from, int64_t to, int *out) {
    const struct hd_tensor t = hd_shlo_shape(m, x);
    int64_t a[HD_MAX_RANK] = {0}, b[HD_MAX_RANK], step[HD_MAX_RANK];
    memcpy(b, t.dim, sizeof b);
    for (int i = 0; i < t.rank; i++) step[i] = 1;
    a[axis] = from, b[axis] = to;
    return hd_shlo_slice(m, x, t.rank, a, b, step, out);
}

static hd_status rows(struct hd_shlo *m, struct hd_shlo_pair x, int axis, int64_t from, int64_t to,
                      struct hd_shlo_pair *out) {
    out->im = -1;
    TRY(rows_of(m, x.re, axis, from, to, &out->re));
    return x.im < 0 ? HD_OK : rows_of(m, x.im, axis, from, to, &out->im);
}

static hd_status swapped(struct hd_shlo *m, struct hd_shlo_pair *x) {
    int rank = hd_shlo_shape(m, x->re).rank;
    int64_t perm[HD_MAX_RANK];
    for (int i = 0; i < rank; i++) perm[i] = i;
    perm[rank - 1] = rank - 2, perm[rank - 2] = rank - 1;
    TRY(hd_shlo_transpose(m, x->re, rank, perm, &x->re));
    return x->im < 0 ? HD_OK : hd_shlo_transpose(m, x->im, rank, perm, &x->im);
}

static hd_status joined(struct hd_shlo *m, int a, int b, int axis, int *out) {
    int id = hd_shlo_node(m, HD_IR_concat, 2, (int[]){a, b}, out);
    hd_attr_set_int(m->g, id, "axis", axis);
    return hd_shlo_done(m, id);
}

static hd_status minus(struct hd_shlo *m, struct hd_shlo_pair a, struct hd_shlo_pair b,
                       struct hd_shlo_pair *out) {
    out->im = -1;
    TRY(hd_shlo_binary(m, HD_IR_sub, a.re, b.re, &out->re));
    return a.im < 0 ? HD_OK : hd_shlo_binary(m, HD_IR_sub, a.im, b.im, &out->im);
}

/* a y = b; lower: a has nothing above its diagonal. */
static hd_status substitute(struct hd_shlo *m, struct hd_shlo_pair a, struct hd_shlo_pair b,
                            bool lower, bool unit, struct hd_shlo_pair *out) {
    const struct hd_tensor t = hd_shlo_shape(m, a.re);
    int axis = t.rank - 2;
    struct hd_shlo_pair y = b, row, one, sum, diagonal;
    int64_t n = t.dim[t.rank - 1];
    for (int64_t k = 0; k < n; k++) {
        int64_t i = lower ? k : n - 1 - k;
        TRY(rows(m, b, axis, i, i + 1, &one));
        TRY(rows(m, a, axis, i, i + 1, &row));
        if (k) {
            TRY(rows(m, row, axis + 1, lower ? 0 : i + 1, lower ? i : n, &sum));
            TRY(hd_shlo_multiply(m, HD_IR_matmul, sum, y, &sum));
            TRY(minus(m, one, sum, &one));
        }
        TRY(rows(m, row, axis + 1, i, i + 1, &diagonal));
        if (!unit) TRY(hd_shlo_divide(m, one, diagonal, &one));
        if (!k) {
            y = one;
            continue;
        }
        const struct hd_shlo_pair up = lower ? y : one, down = lower ? one : y;
        TRY(joined(m, up.re, down.re, axis, &y.re));
        if (y.im >= 0) TRY(joined(m, up.im, down.im, axis, &y.im));
    }
    *out = y;
    return HD_OK;
}

static bool is_true(struct hd_shlo *m, const char *name) {
    const char *text = hd_mlir_attr(m->op, name);
    return text && !strncmp(text, "true", 4);
}

hd_status hd_shlo_op_triangular_solve(struct hd_shlo *m) {
    const char *turned = hd_mlir_attr(m->op, "transpose_a");
    bool lower = is_true(m, "lower"), on_left = is_true(m, "left_side"),
         adjoint = turned && strstr(turned, "ADJOINT");
    struct hd_shlo_value v;
    struct hd_shlo_pair a, b;
    hd_dtype type;
    TRY(hd_shlo_operand(m, 0, &v));
    TRY(hd_shlo_get(m, 0, &a, &type));
    TRY(hd_shlo_get(m, 1, &b, &type));
    if (!v.type.complex) a.im = b.im = -1;
    const struct hd_tensor t = hd_shlo_shape(m, a.re);
    if (t.rank < 2 || t.dim[t.rank - 1] != t.dim[t.rank - 2] || t.dim[t.rank - 1] > 256)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "a matrix that is not square, or above 256");
    bool transpose = turned && !strstr(turned, "NO_TRANSPOSE") && strstr(turned, "TRANSPOSE");
    if (adjoint && a.im >= 0) TRY(hd_shlo_emit(m, HD_IR_neg, 1, &a.im, &a.im));
    if ((transpose || adjoint) == on_left) { /* y a = b is a' y' = b' */
        TRY(swapped(m, &a));
        lower = !lower;
    }
    if (!on_left) TRY(swapped(m, &b));
    TRY(substitute(m, a, b, lower, is_true(m, "unit_diagonal"), &b));
    if (!on_left) TRY(swapped(m, &b));
    TRY(hd_shlo_cast(m, b.re, type, &b.re));
    if (b.im >= 0) TRY(hd_shlo_cast(m, b.im, type, &b.im));
    return hd_shlo_give(m, 0, b, type);
}
