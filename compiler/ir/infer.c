/* Shape and type inference: one infer_<op> per row of ops.def.
 *
 * Each function checks its operands' types and shapes and fills c->out. The caller checks that the
 * result is within the limits, so products of dimensions below may not be formed unchecked. */
#include "compiler/ir/infer.h"

#include <string.h>

#include "compiler/ir/window.h"
#include "runtime/base/num.h"

struct infer {
    hd_ctx *ctx;
    const hd_graph *g;
    const struct hd_node *n;
    struct hd_tensor out; /* dtype, rank, dim are filled in */
};

#define BAD(c, fmt, ...)                                                                           \
    hd_fail((c)->ctx, HD_INVALID, "node '%s' (%s): " fmt, (c)->n->name,                            \
            hd_ir_ops[(c)->n->op].name, __VA_ARGS__)

static const struct hd_tensor *in(const struct infer *c, int i) {
    return i < c->n->n_in && c->n->in[i] >= 0 ? &c->g->tensors[c->n->in[i]] : NULL;
}

static void shape_text(const struct hd_tensor *t, char *out, size_t bytes) {
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < t->rank && n < bytes; i++)
        n += (size_t)snprintf(out + n, bytes - n, "%s%lld", i ? "," : "", (long long)t->dim[i]);
}

static void out_like(struct infer *c, const struct hd_tensor *t) {
    c->out.dtype = t->dtype;
    c->out.rank = t->rank;
    memcpy(c->out.dim, t->dim, sizeof t->dim);
}

static void out_set(struct infer *c, hd_dtype t, int rank, const int64_t *dim) {
    c->out.dtype = t;
    c->out.rank = rank;
    memcpy(c->out.dim, dim, (size_t)rank * sizeof *dim);
}

static hd_status want_type(struct infer *c, int i, hd_dtype t) {
    const struct hd_tensor *x = in(c, i);
    if (!x || x->dtype == t) return HD_OK;
    return BAD(c, "operand %d ('%s') is %s, allowed %s", i, x->name, hd_dtype_name(x->dtype),
               hd_dtype_name(t));
}

static hd_status want_byte(struct infer *c, int i) {
    const struct hd_tensor *x = in(c, i);
    if (x->dtype == HD_I8 || x->dtype == HD_U8) return HD_OK;
    return BAD(c, "operand %d ('%s') is %s, allowed i8 and u8", i, x->name,
               hd_dtype_name(x->dtype));
}

static hd_status want_rank(struct infer *c, int i, int rank) {
    const struct hd_tensor *x = in(c, i);
    if (!x || x->rank == rank) return HD_OK;
    return BAD(c, "operand %d ('%s') has rank %d, want %d", i, x->name, x->rank, rank);
}

static hd_status want_vector(struct infer *c, int i, int64_t n) {
    const struct hd_tensor *x = in(c, i);
    if (!x || (x->rank == 1 && x->dim[0] == n)) return HD_OK;
    char s[128];
    shape_text(x, s, sizeof s);
    return BAD(c, "operand %d ('%s') is [%s], want [%lld]", i, x->name, s, (long long)n);
}

/* Output type of a q operation: attribute "to", else the operand's. */
static hd_status q_out_type(struct infer *c) {
    const struct hd_attr *a = hd_attr_get(c->n, "to");
    int t = a && a->kind == HD_ATTR_STRING ? hd_dtype_by_name(a->s) : (int)in(c, 0)->dtype;
    if (t != HD_I8 && t != HD_U8)
        return BAD(c, "attribute to is '%s', allowed i8 and u8", a ? a->s : "?");
    int64_t min = t == HD_I8 ? -128 : 0, max = t == HD_I8 ? 127 : 255;
    int64_t lo = hd_attr_int(c->n, "lo", min), hi = hd_attr_int(c->n, "hi", max);
    if (lo < min || hi > max || lo > hi)
        return BAD(c, "lo %lld, hi %lld: want %lld <= lo <= hi <= %lld", (long long)lo,
                   (long long)hi, (long long)min, (long long)max);
    static const char *const zps[] = {"x_zp", "y_zp", "a_zp", "b_zp"};
    for (int i = 0; i < 4; i++) {
        int64_t zp = hd_attr_int(c->n, zps[i], 0);
        if (zp < -128 || zp > 255)
            return BAD(c, "%s is %lld, allowed -128..255", zps[i], (long long)zp);
    }
    c->out.dtype = (hd_dtype)t;
    return HD_OK;
}

/* ---- convolution and matrix products ---- */

static hd_status conv_shape(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *w = in(c, 1);
    struct hd_window v;
    if (w->rank != x->rank)
        return BAD(c, "weights '%s' have rank %d, operand '%s' has %d", w->name, w->rank, x->name,
                   x->rank);
    if (w->rank < 3) return BAD(c, "rank %d, want 3 or 4", w->rank);
    TRY(hd_window_get(c->ctx, c->n, x, w->dim + 2, &v));
    int64_t group = hd_attr_int(c->n, "group", 1);
    if (group < 1 || group > v.c || v.c % group || w->dim[0] % group || w->dim[1] != v.c / group)
        return BAD(c,
                   "%lld input channels, %lld output channels and group %lld do not fit weights "
                   "[%lld,%lld,..]",
                   (long long)v.c, (long long)w->dim[0], (long long)group, (long long)w->dim[0],
                   (long long)w->dim[1]);
    c->out.rank = x->rank;
    c->out.dim[0] = v.n;
    c->out.dim[1] = w->dim[0];
    c->out.dim[2] = x->rank == 4 ? v.oh : v.ow;
    if (x->rank == 4) c->out.dim[3] = v.ow;
    return HD_OK;
}

static hd_status infer_conv(struct infer *c) {
    for (int i = 0; i < 3; i++) TRY(want_type(c, i, HD_F32));
    TRY(conv_shape(c));
    c->out.dtype = HD_F32;
    return want_vector(c, 2, in(c, 1)->dim[0]);
}

static hd_status infer_qconv(struct infer *c) {
    const struct hd_tensor *w = in(c, 1), *s = in(c, 3);
    TRY(want_byte(c, 0));
    if (w->dtype != HD_I16) TRY(want_type(c, 1, HD_I8));
    TRY(want_type(c, 2, HD_I32));
    TRY(want_type(c, 3, HD_F32));
    TRY(conv_shape(c));
    TRY(want_vector(c, 2, w->dim[0]));
    TRY(want_vector(c, 3, s->rank == 1 && s->dim[0] == 1 ? 1 : w->dim[0]));
    return q_out_type(c);
}

static hd_status infer_gemm(struct infer *c) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1), *bias = in(c, 2);
    for (int i = 0; i < 3; i++) TRY(want_type(c, i, HD_F32));
    TRY(want_rank(c, 0, 2));
    TRY(want_rank(c, 1, 2));
    bool ta = hd_attr_int(c->n, "transA", 0) != 0, tb = hd_attr_int(c->n, "transB", 0) != 0;
    int64_t m = a->dim[ta], k = a->dim[!ta], k2 = b->dim[tb], n = b->dim[!tb];
    if (k != k2)
        return BAD(c, "inner sizes are %lld and %lld, want equal", (long long)k, (long long)k2);
    if (bias) {
        char s[128];
        shape_text(bias, s, sizeof s);
        bool ok = bias->rank <= 2;
        for (int i = 0; ok && i < bias->rank; i++) {
            int64_t full = i == bias->rank - 1 ? n : m;
            ok = bias->dim[i] == 1 || bias->dim[i] == full;
        }
        if (!ok)
            return BAD(c, "operand c ('%s') is [%s], which does not broadcast to [%lld,%lld]",
                       bias->name, s, (long long)m, (long long)n);
    }
    out_set(c, HD_F32, 2, (int64_t[]){m, n});
    return HD_OK;
}

static hd_status infer_qgemm(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *w = in(c, 1), *s = in(c, 3);
    TRY(want_byte(c, 0));
    if (w->dtype != HD_I16) TRY(want_type(c, 1, HD_I8));
    TRY(want_type(c, 2, HD_I32));
    TRY(want_type(c, 3, HD_F32));
    TRY(want_rank(c, 0, 2));
    TRY(want_rank(c, 1, 2));
    if (x->dim[1] != w->dim[1])
        return BAD(c, "inner sizes are %lld and %lld, want equal", (long long)x->dim[1],
                   (long long)w->dim[1]);
    TRY(want_vector(c, 2, w->dim[0]));
    TRY(want_vector(c, 3, s->rank == 1 && s->dim[0] == 1 ? 1 : w->dim[0]));
    out_set(c, HD_I8, 2, (int64_t[]){x->dim[0], w->dim[0]});
    return q_out_type(c);
}

/* Dims [0, na) and [0, nb) broadcast, aligned at the end, into c->out. */
static hd_status broadcast(struct infer *c, const int64_t *a, int na, const int64_t *b, int nb) {
    int rank = na > nb ? na : nb;
    for (int i = 0; i < rank; i++) {
        int64_t da = i < rank - na ? 1 : a[i - (rank - na)],
                db = i < rank - nb ? 1 : b[i - (rank - nb)];
        if (da != db && da != 1 && db != 1)
            return BAD(c,
                       "operands '%s' and '%s' do not broadcast: %lld against %lld in dimension %d",
                       in(c, 0)->name, in(c, 1)->name, (long long)da, (long long)db, i);
        c->out.dim[i] = da == 1 ? db : da;
    }
    c->out.rank = rank;
    return HD_OK;
}

static hd_status infer_matmul(struct infer *c) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1);
    TRY(want_type(c, 0, HD_F32));
    TRY(want_type(c, 1, HD_F32));
    if (!a->rank || !b->rank)
        return BAD(c, "operand '%s' is a scalar", a->rank ? b->name : a->name);
    int64_t k = a->dim[a->rank - 1], k2 = b->dim[b->rank > 1 ? b->rank - 2 : 0];
    if (k != k2)
        return BAD(c, "inner sizes are %lld and %lld, want equal", (long long)k, (long long)k2);
    TRY(broadcast(c, a->dim, a->rank > 1 ? a->rank - 2 : 0, b->dim, b->rank > 1 ? b->rank - 2 : 0));
    if (a->rank > 1) c->out.dim[c->out.rank++] = a->dim[a->rank - 2];
    if (b->rank > 1) c->out.dim[c->out.rank++] = b->dim[b->rank - 1];
    c->out.dtype = HD_F32;
    return HD_OK;
}

/* ---- elementwise ---- */

static hd_status binary(struct infer *c) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1);
    if (a->dtype != HD_F32 && a->dtype != HD_I32 && a->dtype != HD_I64)
        return BAD(c, "operand '%s' is %s, allowed f32, i32 and i64", a->name,
                   hd_dtype_name(a->dtype));
    TRY(want_type(c, 1, a->dtype));
    c->out.dtype = a->dtype;
    return broadcast(c, a->dim, a->rank, b->dim, b->rank);
}
static hd_status infer_add(struct infer *c) {
    return binary(c);
}
static hd_status infer_sub(struct infer *c) {
    return binary(c);
}
static hd_status infer_mul(struct infer *c) {
    return binary(c);
}
static hd_status infer_div(struct infer *c) {
    return binary(c);
}

static hd_status unary_f32(struct infer *c) {
    TRY(want_type(c, 0, HD_F32));
    out_like(c, in(c, 0));
    return HD_OK;
}
static hd_status infer_relu(struct infer *c) {
    return unary_f32(c);
}
static hd_status infer_sigmoid(struct infer *c) {
    return unary_f32(c);
}
static hd_status infer_tanh(struct infer *c) {
    return unary_f32(c);
}

static hd_status infer_clip(struct infer *c) {
    for (int i = 1; i < 3; i++) {
        const struct hd_tensor *t = in(c, i);
        TRY(want_type(c, i, HD_F32));
        if (t && hd_tensor_elems(t) != 1)
            return BAD(c, "bound '%s' has %lld values, want 1", t->name,
                       (long long)hd_tensor_elems(t));
    }
    return unary_f32(c);
}

static hd_status want_axis(struct infer *c, int rank) {
    int64_t axis = hd_attr_int(c->n, "axis", 0);
    if (axis >= 0 && axis < rank) return HD_OK;
    return BAD(c, "axis %lld, allowed 0..%d", (long long)axis, rank - 1);
}

static hd_status infer_softmax(struct infer *c) {
    TRY(want_axis(c, in(c, 0)->rank));
    return unary_f32(c);
}

static hd_status infer_batchnorm(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    if (x->rank < 2) return BAD(c, "operand '%s' has rank %d, want at least 2", x->name, x->rank);
    for (int i = 1; i < 5; i++) {
        TRY(want_type(c, i, HD_F32));
        TRY(want_vector(c, i, x->dim[1]));
    }
    return unary_f32(c);
}

/* ---- windows ---- */

static hd_status pool(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    struct hd_window v;
    TRY(hd_window_get(c->ctx, c->n, x, NULL, &v));
    if (v.pt >= (v.kh - 1) * v.dy + 1 || v.pb >= (v.kh - 1) * v.dy + 1 ||
        v.pl >= (v.kw - 1) * v.dx + 1 || v.pr >= (v.kw - 1) * v.dx + 1)
        return BAD(c, "pads [%lld,%lld,%lld,%lld] reach the size of the window (%lldx%lld)",
                   (long long)v.pt, (long long)v.pl, (long long)v.pb, (long long)v.pr,
                   (long long)v.kh, (long long)v.kw);
    out_like(c, x);
    c->out.dim[x->rank - 1] = v.ow;
    if (x->rank == 4) c->out.dim[2] = v.oh;
    return HD_OK;
}

static hd_status infer_maxpool(struct infer *c) {
    TRY(want_type(c, 0, HD_F32));
    return pool(c);
}

static hd_status infer_avgpool(struct infer *c) {
    TRY(want_type(c, 0, HD_F32));
    return pool(c);
}

static hd_status infer_qmaxpool(struct infer *c) {
    TRY(want_byte(c, 0));
    return pool(c);
}

static hd_status infer_qavgpool(struct infer *c) {
    int64_t pads[4];
    TRY(want_byte(c, 0));
    hd_attr_ints(c->n, "pads", pads, 4, 0);
    if (pads[0] || pads[1] || pads[2] || pads[3]) return BAD(c, "%s", "pads must be 0");
    TRY(pool(c));
    return q_out_type(c);
}

static hd_status infer_qmean(struct infer *c) {
    TRY(want_byte(c, 0));
    TRY(want_rank(c, 0, 4));
    out_like(c, in(c, 0));
    c->out.dim[2] = c->out.dim[3] = 1;
    return q_out_type(c);
}

/* ---- data movement ---- */

static hd_status infer_identity(struct infer *c) {
    out_like(c, in(c, 0));
    return HD_OK;
}

static hd_status infer_cast(struct infer *c) {
    const struct hd_attr *a = hd_attr_get(c->n, "to");
    int t = a && a->kind == HD_ATTR_STRING ? hd_dtype_by_name(a->s) : -1;
    if (t < 0)
        return BAD(c, "attribute to is '%s', want the name of a type", a && a->s ? a->s : "absent");
    out_like(c, in(c, 0));
    c->out.dtype = (hd_dtype)t;
    return HD_OK;
}

static hd_status infer_reshape(struct infer *c) {
    int64_t dim[HD_MAX_RANK];
    const struct hd_tensor *x = in(c, 0);
    int rank = hd_attr_ints(c->n, "shape", dim, HD_MAX_RANK, 0);
    if (rank > HD_MAX_RANK) return BAD(c, "shape has rank %d, at most %d", rank, HD_MAX_RANK);
    TRY(hd_shape_check(c->ctx, c->n->name, x->dtype, rank, dim));
    out_set(c, x->dtype, rank, dim);
    if (hd_tensor_elems(&c->out) == hd_tensor_elems(x)) return HD_OK;
    char from[128], to[128];
    shape_text(x, from, sizeof from);
    shape_text(&c->out, to, sizeof to);
    return BAD(c, "cannot reshape '%s' [%s] (%lld values) to [%s] (%lld values)", x->name, from,
               (long long)hd_tensor_elems(x), to, (long long)hd_tensor_elems(&c->out));
}

static hd_status infer_transpose(struct infer *c) {
    int64_t perm[HD_MAX_RANK];
    const struct hd_tensor *x = in(c, 0);
    int n = hd_attr_ints(c->n, "perm", perm, HD_MAX_RANK, 0);
    unsigned seen = 0;
    if (n != x->rank)
        return BAD(c, "perm has %d values, operand '%s' has rank %d", n, x->name, x->rank);
    out_like(c, x);
    for (int i = 0; i < n; i++) {
        if (perm[i] < 0 || perm[i] >= n || seen >> perm[i] & 1)
            return BAD(c, "perm[%d] is %lld: want each of 0..%d once", i, (long long)perm[i],
                       n - 1);
        seen |= 1u << perm[i];
        c->out.dim[i] = x->dim[perm[i]];
    }
    return HD_OK;
}

static hd_status infer_concat(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t axis = hd_attr_int(c->n, "axis", 0);
    TRY(want_axis(c, x->rank));
    out_like(c, x);
    for (int i = 1; i < c->n->n_in; i++) {
        const struct hd_tensor *t = in(c, i);
        TRY(want_type(c, i, x->dtype));
        TRY(want_rank(c, i, x->rank));
        for (int d = 0; d < x->rank; d++)
            if (d != axis && t->dim[d] != x->dim[d])
                return BAD(c, "operands '%s' and '%s' differ in dimension %d: %lld and %lld",
                           x->name, t->name, d, (long long)x->dim[d], (long long)t->dim[d]);
        if (__builtin_add_overflow(c->out.dim[axis], t->dim[axis], &c->out.dim[axis]))
            return BAD(c, "dimension %lld overflows", (long long)axis);
    }
    return HD_OK;
}

static hd_status infer_pad(struct infer *c) {
    int64_t pads[2 * HD_MAX_RANK];
    const struct hd_tensor *x = in(c, 0);
    int n = hd_attr_ints(c->n, "pads", pads, 2 * HD_MAX_RANK, 0);
    if (n != 2 * x->rank) return BAD(c, "pads has %d values, want %d", n, 2 * x->rank);
    out_like(c, x);
    for (int i = 0; i < x->rank; i++) {
        int64_t before = pads[i], after = pads[i + x->rank];
        if (before < -x->dim[i] || after < -x->dim[i] || before > INT32_MAX || after > INT32_MAX ||
            x->dim[i] + before + after < 0)
            return BAD(c, "pads %lld and %lld in dimension %d of size %lld", (long long)before,
                       (long long)after, i, (long long)x->dim[i]);
        c->out.dim[i] = x->dim[i] + before + after;
    }
    return HD_OK;
}

/* ---- quantisation ---- */

/* scale and zero point: one value, or one per index of the axis. */
static hd_status qparams(struct infer *c, hd_dtype zp_type) {
    const struct hd_tensor *x = in(c, 0), *s = in(c, 1), *z = in(c, 2);
    TRY(want_type(c, 1, HD_F32));
    TRY(want_type(c, 2, zp_type));
    int64_t n = hd_tensor_elems(s);
    if (hd_tensor_elems(z) != n)
        return BAD(c, "%lld scales and %lld zero points, want equal", (long long)n,
                   (long long)hd_tensor_elems(z));
    if (n == 1 && s->rank <= 1) return HD_OK;
    int64_t axis = hd_attr_int(c->n, "axis", 1);
    if (s->rank != 1 || axis < 0 || axis >= x->rank || x->dim[axis] != n)
        return BAD(c, "%lld scales do not fit axis %lld of '%s'", (long long)n, (long long)axis,
                   x->name);
    return HD_OK;
}

static hd_status infer_quantize(struct infer *c) {
    const struct hd_tensor *z = in(c, 2);
    TRY(want_type(c, 0, HD_F32));
    if (z->dtype != HD_I8 && z->dtype != HD_U8 && z->dtype != HD_I16 && z->dtype != HD_U16)
        return BAD(c, "zero point '%s' is %s, allowed i8, u8, i16 and u16", z->name,
                   hd_dtype_name(z->dtype));
    TRY(qparams(c, z->dtype));
    out_like(c, in(c, 0));
    c->out.dtype = z->dtype;
    return HD_OK;
}

static hd_status infer_dequantize(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    if (x->dtype != HD_I8 && x->dtype != HD_U8 && x->dtype != HD_I16 && x->dtype != HD_U16 &&
        x->dtype != HD_I32)
        return BAD(c, "operand '%s' is %s, allowed i8, u8, i16, u16 and i32", x->name,
                   hd_dtype_name(x->dtype));
    TRY(qparams(c, x->dtype));
    out_like(c, x);
    c->out.dtype = HD_F32;
    return HD_OK;
}

static hd_status infer_qadd(struct infer *c) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1);
    TRY(want_byte(c, 0));
    TRY(want_byte(c, 1));
    out_like(c, a);
    TRY(q_out_type(c));
    if (a->rank == b->rank && !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim))
        return HD_OK;
    return BAD(c, "operands '%s' and '%s' have different shapes", a->name, b->name);
}

static hd_status infer_qrescale(struct infer *c) {
    TRY(want_byte(c, 0));
    out_like(c, in(c, 0));
    return q_out_type(c);
}

/* ---- driver ---- */

typedef hd_status infer_fn(struct infer *c);
static infer_fn *const table[HD_IR_OPS] = {
#define OP(name, ...) [HD_IR_##name] = infer_##name,
#include "compiler/ir/ops.def"
};

hd_status hd_shape_check(hd_ctx *ctx, const char *what, hd_dtype t, int rank, const int64_t *dim) {
    int64_t bytes = (int64_t)hd_dtype_bytes(t);
    if (rank < 0 || rank > HD_MAX_RANK)
        return hd_fail(ctx, HD_UNSUPPORTED, "'%s': rank %d, at most %d", what, rank, HD_MAX_RANK);
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 0)
            return hd_fail(ctx, HD_INVALID, "'%s': dimension %d is %lld, want 0 or more", what, i,
                           (long long)dim[i]);
        if (dim[i] > HD_MAX_TENSOR_BYTES || __builtin_mul_overflow(bytes, dim[i], &bytes) ||
            bytes > HD_MAX_TENSOR_BYTES)
            return hd_fail(
                ctx, HD_UNSUPPORTED,
                "'%s': dimension %d is %lld, which makes the tensor larger than the limit of "
                "%lld bytes",
                what, i, (long long)dim[i], (long long)HD_MAX_TENSOR_BYTES);
    }
    return HD_OK;
}

hd_status hd_infer_output(hd_ctx *ctx, const hd_graph *g, const struct hd_node *n,
                          struct hd_tensor *out) {
    struct infer c = {.ctx = ctx, .g = g, .n = n};
    const struct hd_ir_op_info *op = &hd_ir_ops[n->op];
    if (n->n_in < op->min_in || n->n_in > op->max_in || n->n_out != op->n_out)
        return BAD(&c, "%d inputs and %d outputs, want %d..%d and %d", n->n_in, n->n_out,
                   op->min_in, op->max_in, op->n_out);
    for (int i = 0; i < n->n_in; i++) {
        if (!in(&c, i) && i < op->min_in) return BAD(&c, "input %d is left out, but required", i);
        if (in(&c, i) && !in(&c, i)->known)
            return BAD(&c, "the shape of input %d ('%s') is not known", i, in(&c, i)->name);
    }
    TRY(table[n->op](&c));
    TRY(hd_note(ctx,
                hd_shape_check(ctx, g->tensors[n->out[0]].name, c.out.dtype, c.out.rank, c.out.dim),
                "output of node '%s' (%s)", n->name, op->name));
    *out = c.out;
    return HD_OK;
}

hd_status hd_graph_infer_node(hd_ctx *ctx, hd_graph *g, int node) {
    struct hd_tensor out, *y = &g->tensors[g->nodes[node].out[0]];
    TRY(hd_infer_output(ctx, g, &g->nodes[node], &out));
    y->dtype = out.dtype;
    y->rank = out.rank;
    memcpy(y->dim, out.dim, sizeof y->dim);
    y->known = true;
    return HD_OK;
}

hd_status hd_graph_infer(hd_ctx *ctx, hd_graph *g) {
    hd_arena *a = hd_arena_create();
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    hd_status s = HD_OK;
    for (size_t i = 0; i < n && s == HD_OK; i++) s = hd_graph_infer_node(ctx, g, order[i]);
    hd_arena_destroy(a);
    return s;
}
