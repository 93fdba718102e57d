/* Shapes of convolutions, matrix products and pools. */
#include <math.h>
#include <string.h>

#include "compiler/ir/infer_int.h"
#include "compiler/ir/window.h"

/* ---- convolution ---- */

/* Weights of the rank of x, 3 or more. */
static hd_status want_weights(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *w = in(c, 1);
    if (w->rank != x->rank)
        return BAD(c, "weights '%s' have rank %d, operand '%s' has %d", w->name, w->rank, x->name,
                   x->rank);
    if (w->rank < 3) return BAD(c, "rank %d, want 3 ([N,C,W]) or more", w->rank);
    return HD_OK;
}

static void set_window(struct infer *c, const struct hd_window_nd *v, int64_t channels) {
    c->out->rank = v->sp + 2;
    c->out->dim[0] = v->n;
    c->out->dim[1] = channels;
    memcpy(c->out->dim + 2, v->out, (size_t)v->sp * sizeof *v->out);
}

/* Weights [M,C/group,..] for C input channels. */
static hd_status want_groups(struct infer *c, int64_t channels) {
    const struct hd_tensor *w = in(c, 1);
    int64_t group = hd_attr_int(c->n, "group", 1);
    if (group >= 1 && group <= channels && channels % group == 0 && w->dim[0] % group == 0 &&
        w->dim[1] == channels / group)
        return HD_OK;
    return BAD(c,
               "%lld input channels, %lld output channels and group %lld do not fit weights "
               "[%lld,%lld,..]",
               (long long)channels, (long long)w->dim[0], (long long)group, (long long)w->dim[0],
               (long long)w->dim[1]);
}

static hd_status conv_shape(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *w = in(c, 1);
    struct hd_window_nd v;
    TRY(want_weights(c));
    TRY(hd_window_nd_get(c->ctx, c->n, x, w->dim + 2, &v));
    TRY(want_groups(c, v.c));
    set_window(c, &v, w->dim[0]);
    return HD_OK;
}

/* Operand 0 is of a float type, the others up to `last` are of the same. */
static hd_status want_float(struct infer *c, int last) {
    TRY(hd_infer_want_types(c, 0, HD_T_FLOAT));
    for (int i = 1; i <= last; i++) TRY(hd_infer_want_type(c, i, in(c, 0)->dtype));
    return HD_OK;
}

hd_status hd_infer_conv(struct infer *c) {
    TRY(want_float(c, 2));
    TRY(conv_shape(c));
    c->out->dtype = in(c, 0)->dtype;
    return hd_infer_want_vector(c, 2, in(c, 1)->dim[0]);
}

hd_status hd_infer_deformconv(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *w = in(c, 1);
    int64_t groups = hd_attr_int(c->n, "offset_group", 1);
    TRY(want_float(c, 4));
    TRY(hd_infer_want_rank(c, 0, 4));
    TRY(conv_shape(c));
    int64_t taps = w->dim[2] * w->dim[3];
    if (groups < 1 || groups > x->dim[1] || x->dim[1] % groups)
        return BAD(c, "offset_group %lld does not divide %lld channels", (long long)groups,
                   (long long)x->dim[1]);
    for (int i = 2; i < 5; i += 2) { /* offsets, mask */
        const struct hd_tensor *t = in(c, i);
        int64_t want[4] = {x->dim[0], groups * taps * (i == 2 ? 2 : 1), c->out->dim[2],
                           c->out->dim[3]};
        if (t && (t->rank != 4 || memcmp(t->dim, want, sizeof want)))
            return BAD(c, "operand '%s' does not fit, want [%lld,%lld,%lld,%lld]", t->name,
                       (long long)want[0], (long long)want[1], (long long)want[2],
                       (long long)want[3]);
    }
    c->out->dtype = x->dtype;
    return hd_infer_want_vector(c, 3, w->dim[0]);
}

hd_status hd_infer_convtranspose(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *w = in(c, 1);
    struct hd_window_nd v;
    int64_t channels = 0;
    TRY(want_float(c, 2));
    TRY(want_weights(c));
    TRY(hd_window_transposed_get(c->ctx, c->n, x, w->dim + 2, &v));
    int64_t group = hd_attr_int(c->n, "group", 1);
    if (group < 1 || group > v.c || v.c % group || w->dim[0] != v.c ||
        __builtin_mul_overflow(w->dim[1], group, &channels))
        return BAD(c, "%lld input channels and group %lld do not fit weights [%lld,%lld,..]",
                   (long long)v.c, (long long)group, (long long)w->dim[0], (long long)w->dim[1]);
    set_window(c, &v, channels);
    c->out->dtype = x->dtype;
    return hd_infer_want_vector(c, 2, channels);
}

static hd_status want_weight_bytes(struct infer *c) {
    if (in(c, 1)->dtype != HD_I16) TRY(hd_infer_want_type(c, 1, HD_I8));
    TRY(hd_infer_want_type(c, 2, HD_I32));
    return hd_infer_want_type(c, 3, HD_F32);
}

hd_status hd_infer_qconv(struct infer *c) {
    const struct hd_tensor *w = in(c, 1), *s = in(c, 3);
    TRY(hd_infer_want_byte(c, 0));
    TRY(want_weight_bytes(c));
    TRY(conv_shape(c));
    TRY(hd_infer_want_vector(c, 2, w->dim[0]));
    TRY(hd_infer_want_vector(c, 3, s->rank == 1 && s->dim[0] == 1 ? 1 : w->dim[0]));
    return hd_infer_q_type(c);
}

hd_status hd_infer_qconvtranspose(struct infer *c) {
    const struct hd_tensor *w = in(c, 1), *s = in(c, 3);
    struct hd_window_nd v;
    TRY(hd_infer_want_byte(c, 0));
    TRY(want_weight_bytes(c));
    TRY(want_weights(c));
    TRY(hd_window_transposed_get(c->ctx, c->n, in(c, 0), w->dim + 2, &v));
    TRY(want_groups(c, v.c));
    set_window(c, &v, w->dim[0]);
    TRY(hd_infer_want_vector(c, 2, w->dim[0]));
    TRY(hd_infer_want_vector(c, 3, s->rank == 1 && s->dim[0] == 1 ? 1 : w->dim[0]));
    return hd_infer_q_type(c);
}

/* Zero points of operands 0 and 1: operands 2 and 3, of their types. */
static hd_status want_zeros(struct infer *c) {
    for (int i = 0; i < 2; i++) {
        TRY(hd_infer_want_byte(c, i));
        TRY(hd_infer_want_type(c, i + 2, in(c, i)->dtype));
    }
    return HD_OK;
}

hd_status hd_infer_convinteger(struct infer *c) {
    const struct hd_tensor *xz = in(c, 2), *wz = in(c, 3);
    TRY(want_zeros(c));
    TRY(conv_shape(c));
    c->out->dtype = HD_I32;
    if (xz && hd_tensor_elems(xz) != 1)
        return BAD(c, "zero point '%s' has %lld values, want 1", xz->name,
                   (long long)hd_tensor_elems(xz));
    if (wz && hd_tensor_elems(wz) != 1) return hd_infer_want_vector(c, 3, in(c, 1)->dim[0]);
    return HD_OK;
}

/* ---- matrix products ---- */

enum { PRODUCTS = HD_T_FLOAT | 1u << HD_I32 | 1u << HD_I64 | 1u << HD_U32 | 1u << HD_U64 };

static hd_status want_product(struct infer *c, int last) {
    TRY(hd_infer_want_types(c, 0, PRODUCTS));
    for (int i = 1; i <= last; i++) TRY(hd_infer_want_type(c, i, in(c, 0)->dtype));
    return HD_OK;
}

hd_status hd_infer_gemm(struct infer *c) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1), *bias = in(c, 2);
    TRY(want_product(c, 2));
    TRY(hd_infer_want_rank(c, 0, 2));
    TRY(hd_infer_want_rank(c, 1, 2));
    bool ta = hd_attr_int(c->n, "transA", 0) != 0, tb = hd_attr_int(c->n, "transB", 0) != 0;
    float alpha = hd_attr_float(c->n, "alpha", 1), beta = hd_attr_float(c->n, "beta", 1);
    bool is_float = HD_T_FLOAT >> a->dtype & 1;
    if (!is_float && (alpha != rintf(alpha) || beta != rintf(beta) || fabsf(alpha) > 0x1p31f ||
                      fabsf(beta) > 0x1p31f))
        return BAD(c, "alpha %g and beta %g, want whole numbers for %s", (double)alpha,
                   (double)beta, hd_dtype_name(a->dtype));
    int64_t m = a->dim[ta], k = a->dim[!ta], k2 = b->dim[tb], n = b->dim[!tb];
    if (k != k2)
        return BAD(c, "inner sizes are %lld and %lld, want equal", (long long)k, (long long)k2);
    if (bias) {
        char s[128];
        hd_infer_shape_text(bias, s, sizeof s);
        bool ok = bias->rank <= 2;
        for (int i = 0; ok && i < bias->rank; i++) {
            int64_t full = i == bias->rank - 1 ? n : m;
            ok = bias->dim[i] == 1 || bias->dim[i] == full;
        }
        if (!ok)
            return BAD(c, "operand c ('%s') is [%s], which does not broadcast to [%lld,%lld]",
                       bias->name, s, (long long)m, (long long)n);
    }
    hd_infer_set(c, 0, a->dtype, 2, (int64_t[]){m, n});
    return HD_OK;
}

hd_status hd_infer_qgemm(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *w = in(c, 1), *s = in(c, 3);
    TRY(hd_infer_want_byte(c, 0));
    TRY(want_weight_bytes(c));
    TRY(hd_infer_want_rank(c, 0, 2));
    TRY(hd_infer_want_rank(c, 1, 2));
    if (x->dim[1] != w->dim[1])
        return BAD(c, "inner sizes are %lld and %lld, want equal", (long long)x->dim[1],
                   (long long)w->dim[1]);
    TRY(hd_infer_want_vector(c, 2, w->dim[0]));
    TRY(hd_infer_want_vector(c, 3, s->rank == 1 && s->dim[0] == 1 ? 1 : w->dim[0]));
    hd_infer_set(c, 0, HD_I8, 2, (int64_t[]){x->dim[0], w->dim[0]});
    return hd_infer_q_type(c);
}

static hd_status matmul_shape(struct infer *c, hd_dtype type) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1);
    if (!a->rank || !b->rank)
        return BAD(c, "operand '%s' is a scalar", a->rank ? b->name : a->name);
    int64_t k = a->dim[a->rank - 1], k2 = b->dim[b->rank > 1 ? b->rank - 2 : 0];
    if (k != k2)
        return BAD(c, "inner sizes are %lld and %lld, want equal", (long long)k, (long long)k2);
    TRY(hd_infer_broadcast(c, a->dim, a->rank > 1 ? a->rank - 2 : 0, b->dim,
                           b->rank > 1 ? b->rank - 2 : 0));
    if (a->rank > 1) c->out->dim[c->out->rank++] = a->dim[a->rank - 2];
    if (b->rank > 1) c->out->dim[c->out->rank++] = b->dim[b->rank - 1];
    c->out->dtype = type;
    return HD_OK;
}

hd_status hd_infer_matmul(struct infer *c) {
    TRY(want_product(c, 1));
    return matmul_shape(c, in(c, 0)->dtype);
}

/* Zero points of a matrix: one; one per row (column of b); or batches of those, [..,n,1]
 * ([..,1,n]), whose batch dims broadcast to the result's. */
static hd_status want_matrix_zeros(struct infer *c, int i, bool columns) {
    const struct hd_tensor *z = in(c, i), *x = in(c, i - 2), *y = c->out;
    if (!z || hd_tensor_elems(z) == 1) return HD_OK;
    int64_t n = x->rank < 2 ? 1 : x->dim[columns ? x->rank - 1 : x->rank - 2];
    bool ok = z->rank == 1 && z->dim[0] == n;
    if (z->rank > 1) {
        int64_t rows = z->dim[z->rank - 2], cols = z->dim[z->rank - 1];
        ok = (columns ? rows : cols) == 1 && ((columns ? cols : rows) == n || rows * cols == 1) &&
             z->rank <= y->rank;
        for (int d = 0; ok && d < z->rank - 2; d++)
            ok = z->dim[d] == 1 || z->dim[d] == y->dim[y->rank - z->rank + d];
    }
    if (ok) return HD_OK;
    char s[128];
    hd_infer_shape_text(z, s, sizeof s);
    return BAD(c, "zero point '%s' is [%s], want one value, or one for each of the %lld %s of '%s'",
               z->name, s, (long long)n, columns ? "columns" : "rows", x->name);
}

hd_status hd_infer_qmatmul(struct infer *c) {
    TRY(hd_infer_want_byte(c, 0));
    TRY(hd_infer_want_byte(c, 1));
    TRY(matmul_shape(c, HD_I8));
    return hd_infer_q_type(c);
}

hd_status hd_infer_matmulinteger(struct infer *c) {
    TRY(want_zeros(c));
    TRY(matmul_shape(c, HD_I32));
    TRY(want_matrix_zeros(c, 2, false));
    return want_matrix_zeros(c, 3, true);
}

/* ---- pools ---- */

static hd_status pool(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    struct hd_window_nd v;
    TRY(hd_window_nd_get(c->ctx, c->n, x, NULL, &v));
    for (int i = 0; i < v.sp; i++) {
        int64_t size = (v.kernel[i] - 1) * v.dilation[i] + 1;
        if (v.before[i] >= size || v.after[i] >= size)
            return BAD(c, "pads %lld and %lld of dimension %d reach the size of the window (%lld)",
                       (long long)v.before[i], (long long)v.after[i], i + 2, (long long)size);
    }
    c->out->dtype = x->dtype;
    set_window(c, &v, v.c);
    return HD_OK;
}

hd_status hd_infer_maxpool(struct infer *c) {
    TRY(hd_infer_want_types(c, 0, HD_T_FLOAT | 1u << HD_I8 | 1u << HD_U8));
    TRY(pool(c));
    hd_infer_set(c, 1, HD_I64, c->out->rank, c->out->dim);
    return HD_OK;
}

hd_status hd_infer_avgpool(struct infer *c) {
    TRY(want_float(c, 0));
    return pool(c);
}

hd_status hd_infer_lppool(struct infer *c) {
    TRY(want_float(c, 0));
    if (hd_attr_int(c->n, "p", 2) < 1)
        return BAD(c, "p is %lld, want 1 or more", (long long)hd_attr_int(c->n, "p", 2));
    return pool(c);
}

hd_status hd_infer_qmaxpool(struct infer *c) {
    TRY(hd_infer_want_byte(c, 0));
    return pool(c);
}

hd_status hd_infer_qavgpool(struct infer *c) {
    TRY(hd_infer_want_byte(c, 0));
    TRY(pool(c));
    return hd_infer_q_type(c);
}

hd_status hd_infer_qmean(struct infer *c) {
    TRY(hd_infer_want_byte(c, 0));
    TRY(hd_infer_want_rank(c, 0, 4));
    hd_infer_like(c, 0, in(c, 0));
    c->out->dim[2] = c->out->dim[3] = 1;
    return hd_infer_q_type(c);
}

hd_status hd_infer_maxunpool(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *at = in(c, 1);
    struct hd_window_nd v;
    int64_t shape[HD_MAX_RANK];
    int n = 0;
    TRY(hd_infer_want_type(c, 1, HD_I64));
    if (at->rank != x->rank || memcmp(at->dim, x->dim, (size_t)x->rank * sizeof *x->dim))
        return BAD(c, "operands '%s' and '%s' have different shapes", x->name, at->name);
    TRY(hd_window_transposed_get(c->ctx, c->n, x, NULL, &v));
    c->out->dtype = x->dtype;
    set_window(c, &v, v.c);
    if (!in(c, 2)) return HD_OK;
    TRY(hd_infer_int_list(c, 2, shape, HD_MAX_RANK, &n));
    if (n < 0) return hd_infer_later(c);
    if (n != x->rank) return BAD(c, "output_shape has %d values, want %d", n, x->rank);
    for (int i = 0; i < n; i++)
        if (shape[i] < c->out->dim[i])
            return BAD(c, "output_shape[%d] is %lld, want %lld or more", i, (long long)shape[i],
                       (long long)c->out->dim[i]);
    memcpy(c->out->dim, shape, (size_t)n * sizeof *shape);
    return HD_OK;
}
