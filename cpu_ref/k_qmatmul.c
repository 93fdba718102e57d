/* Convolutions and matrix products of integers: int32 sums that wrap.  docs/numerics.md */
#include <string.h>

#include "cpu_ref/k_matmul.h"
#include "cpu_ref/k_spans.h"
#include "runtime/base/num.h"

/* Operand i as int32. */
static int32_t *widen(const struct hd_kernel *k, int i) {
    const struct hd_tensor *t = hd_k_in(k, i);
    int64_t n = hd_tensor_elems(t);
    int32_t *w = hd_new_array(k->arena, int32_t, (size_t)n + 1);
    for (int64_t j = 0; j < n; j++) w[j] = (int32_t)hd_k_i64(k->in[i], t->dtype, j);
    return w;
}

/* Zero points of operand i: one for all, or one per row; left out = 0. */
static int32_t zero_at(const struct hd_kernel *k, int i, int64_t row) {
    const struct hd_tensor *t = hd_k_in(k, i);
    if (!t) return 0;
    return (int32_t)hd_k_i64(k->in[i], t->dtype, hd_tensor_elems(t) == 1 ? 0 : row);
}

/* Subtracts zeros from `rows` rows of `n` values. */
static void subtract(int32_t *v, int64_t rows, int64_t n, const struct hd_kernel *k, int zeros) {
    for (int64_t r = 0; r < rows; r++) {
        int32_t zero = zero_at(k, zeros, r);
        for (int64_t i = 0; i < n; i++) v[r * n + i] -= zero;
    }
}

/* Adds one tap of one input channel to a plane of sums. */
static void add_tap(const struct hd_spans *s, int64_t t, const int32_t *x, int32_t w,
                    uint32_t *acc) {
    for (int64_t j = s->first[t]; j < s->first[t + 1]; j++) {
        const int32_t *row = x + s->span[j].big;
        uint32_t *out = acc + s->span[j].small;
        int64_t n = s->span[j].n;
        if (s->stride == 1)
            for (int64_t i = 0; i < n; i++) out[i] += (uint32_t)row[i] * (uint32_t)w;
        else
            for (int64_t i = 0; i < n; i++) out[i] += (uint32_t)row[i * s->stride] * (uint32_t)w;
    }
}

struct int_conv {
    struct hd_window_nd v;
    struct hd_spans s;
    const int32_t *x, *w; /* zero points are subtracted */
    int64_t m_all, cg, mg;
};

/* Everything but x and w. */
static hd_status open_conv(const struct hd_kernel *k, struct int_conv *c) {
    const struct hd_tensor *w = hd_k_in(k, 1);
    int64_t group = hd_attr_int(k->n, "group", 1);
    TRY(hd_window_nd_get(k->ctx, k->n, hd_k_in(k, 0), w->dim + 2, &c->v));
    hd_spans_make(&c->v, false, k->arena, &c->s);
    c->m_all = w->dim[0];
    c->cg = c->v.c / group;
    c->mg = c->m_all / group;
    return HD_OK;
}

/* acc += the plane of output channel m of image n. */
static void conv_plane(const struct int_conv *c, int64_t n, int64_t m, uint32_t *acc) {
    for (int64_t i = 0; i < c->cg; i++)
        for (int64_t t = 0; t < c->s.n_taps; t++)
            add_tap(&c->s, t, c->x + (n * c->v.c + m / c->mg * c->cg + i) * c->s.n_big,
                    c->w[(m * c->cg + i) * c->s.n_taps + t], acc);
}

struct requant {
    const float *scale;
    int64_t n_scale;
    int32_t zp, lo, hi;
};

static struct requant requant_of(const struct hd_kernel *k) {
    hd_dtype t = hd_k_out(k)->dtype;
    return (struct requant){hd_k_in_data(k, 3), hd_k_in(k, 3) ? hd_tensor_elems(hd_k_in(k, 3)) : 0,
                            (int32_t)hd_attr_int(k->n, "y_zp", 0),
                            (int32_t)hd_attr_int(k->n, "lo", hd_dtype_least(t)),
                            (int32_t)hd_attr_int(k->n, "hi", hd_dtype_most(t))};
}

static void store(const struct hd_kernel *k, const struct requant *r, int64_t at, uint32_t acc,
                  int64_t m) {
    float v = (float)(int32_t)acc * r->scale[r->n_scale == 1 ? 0 : m];
    hd_k_put_q(k->out, hd_k_out(k)->dtype, at, hd_requant(v, r->zp, r->lo, r->hi));
}

/* Quantised convolution; the numeric reference for every device.
 *   acc = sum (x - x_zp) * w + bias, int32 wrapping; y = requant(acc * scale[m]).  docs/numerics.md
 */
hd_status k_qconv(const struct hd_kernel *k) {
    struct int_conv c;
    TRY(open_conv(k, &c));
    int32_t *x = widen(k, 0), zero = (int32_t)hd_attr_int(k->n, "x_zp", 0);
    for (int64_t i = 0; i < hd_tensor_elems(hd_k_in(k, 0)); i++) x[i] -= zero;
    c.x = x;
    c.w = widen(k, 1);
    const int32_t *bias = k->in[2];
    struct requant r = requant_of(k);
    uint32_t *acc = hd_new_array(k->arena, uint32_t, (size_t)c.s.n_small + 1);
    for (int64_t n = 0, at = 0; n < c.v.n; n++)
        for (int64_t m = 0; m < c.m_all; m++) {
            TRY(hd_continue(k->ctx));
            for (int64_t i = 0; i < c.s.n_small; i++) acc[i] = (uint32_t)bias[m];
            conv_plane(&c, n, m, acc);
            for (int64_t i = 0; i < c.s.n_small; i++) store(k, &r, at++, acc[i], m);
        }
    return HD_OK;
}

/* Adds one tap of one plane of inputs to the outputs that it meets. */
static void scatter_tap(const struct hd_spans *s, int64_t t, const int32_t *x, int32_t w,
                        uint32_t *acc) {
    for (int64_t j = s->first[t]; j < s->first[t + 1]; j++) {
        const int32_t *from = x + s->span[j].small;
        uint32_t *out = acc + s->span[j].big;
        for (int64_t i = 0; i < s->span[j].n; i++)
            out[i * s->stride] += (uint32_t)from[i] * (uint32_t)w;
    }
}

/* Quantised transposed convolution: x [N,C,in..]  w [M,C/group,k..]  y [N,M,out..]
 *   acc[i * stride + k * dilation - pad] = bias + sum (x[i] - x_zp) * w[k]; then as qconv.
 *   docs/numerics.md */
hd_status k_qconvtranspose(const struct hd_kernel *k) {
    const struct hd_tensor *w = hd_k_in(k, 1);
    struct int_conv c;
    TRY(hd_window_transposed_get(k->ctx, k->n, hd_k_in(k, 0), w->dim + 2, &c.v));
    hd_spans_make(&c.v, true, k->arena, &c.s);
    int64_t group = hd_attr_int(k->n, "group", 1), m_all = w->dim[0], mg = m_all / group;
    int64_t cg = c.v.c / group;
    int32_t *x = widen(k, 0), *weights = widen(k, 1), zero = (int32_t)hd_attr_int(k->n, "x_zp", 0);
    for (int64_t i = 0; i < hd_tensor_elems(hd_k_in(k, 0)); i++) x[i] -= zero;
    const int32_t *bias = k->in[2];
    struct requant r = requant_of(k);
    uint32_t *acc = hd_new_array(k->arena, uint32_t, (size_t)c.s.n_big + 1);
    for (int64_t n = 0, at = 0; n < c.v.n; n++)
        for (int64_t m = 0; m < m_all; m++) {
            TRY(hd_continue(k->ctx));
            for (int64_t i = 0; i < c.s.n_big; i++) acc[i] = (uint32_t)bias[m];
            for (int64_t j = 0; j < cg; j++)
                for (int64_t t = 0; t < c.s.n_taps; t++)
                    scatter_tap(&c.s, t, x + (n * c.v.c + m / mg * cg + j) * c.s.n_small,
                                weights[(m * cg + j) * c.s.n_taps + t], acc);
            for (int64_t i = 0; i < c.s.n_big; i++) store(k, &r, at++, acc[i], m);
        }
    return HD_OK;
}

/* y i32 = sum (x - x_zp) * (w - w_zp[m]).  Source: ONNX ConvInteger-10. */
hd_status k_convinteger(const struct hd_kernel *k) {
    struct int_conv c;
    TRY(open_conv(k, &c));
    int32_t *x = widen(k, 0), *w = widen(k, 1);
    subtract(x, 1, hd_tensor_elems(hd_k_in(k, 0)), k, 2);
    subtract(w, c.m_all, c.cg * c.s.n_taps, k, 3);
    c.x = x;
    c.w = w;
    uint32_t *y = k->out;
    memset(y, 0, hd_tensor_bytes(hd_k_out(k)));
    for (int64_t n = 0; n < c.v.n; n++)
        for (int64_t m = 0; m < c.m_all; m++)
            conv_plane(&c, n, m, y + (n * c.m_all + m) * c.s.n_small);
    return HD_OK;
}

/* Quantised dense layer: y [M,N] from x [M,K] and w [N,K]; as qconv.  docs/numerics.md */
hd_status k_qgemm(const struct hd_kernel *k) {
    int32_t *x = widen(k, 0), *w = widen(k, 1), zero = (int32_t)hd_attr_int(k->n, "x_zp", 0);
    const int32_t *bias = k->in[2];
    struct requant r = requant_of(k);
    int64_t rows = hd_k_out(k)->dim[0], n = hd_k_out(k)->dim[1], depth = hd_k_in(k, 0)->dim[1];
    for (int64_t i = 0; i < rows * depth; i++) x[i] -= zero;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < n; j++) {
            uint32_t acc = (uint32_t)bias[j];
            for (int64_t d = 0; d < depth; d++)
                acc += (uint32_t)x[i * depth + d] * (uint32_t)w[j * depth + d];
            store(k, &r, i * n + j, acc, j);
        }
    return HD_OK;
}

/* Zero points of operand i of matmulinteger for batch q of the result: one for all, one per row
 * (column of b), or batches of such vectors, which broadcast like the operand. */
static void batch_zeros(const struct hd_kernel *k, int i, const struct hd_matmul *s, int64_t q,
                        int64_t n, int32_t *out) {
    const struct hd_tensor *z = hd_k_in(k, i);
    int batch = z && z->rank > 2 ? z->rank - 2 : 0;
    int64_t per_batch = z ? hd_tensor_elems(z) : 1;
    for (int d = 0; d < batch; d++) per_batch /= z->dim[d];
    int64_t at = batch ? hd_batch_offset(q, hd_k_out(k)->dim, s->batch_y, z->dim, batch) : 0;
    for (int64_t j = 0; j < n; j++)
        out[j] = z ? zero_at(k, i, at * per_batch + (per_batch == 1 ? 0 : j)) : 0;
}

/* acc [m,n] += (a [m,depth] - za) (b [depth,n] - zb). */
static void product(const struct hd_matmul *s, const int32_t *a, const int32_t *b,
                    const int32_t *za, const int32_t *zb, uint32_t *acc) {
    for (int64_t i = 0; i < s->m; i++, acc += s->n)
        for (int64_t d = 0; d < s->depth; d++) {
            uint32_t v = (uint32_t)(a[i * s->depth + d] - za[i]);
            for (int64_t j = 0; j < s->n; j++) acc[j] += v * (uint32_t)(b[d * s->n + j] - zb[j]);
        }
}

/* Where batch q of the result has its operands. */
static void batch_at(const struct hd_kernel *k, const struct hd_matmul *s, int64_t q,
                     const int32_t *a, const int32_t *b, const int32_t **pa, const int32_t **pb) {
    const struct hd_tensor *sa = hd_k_in(k, 0), *sb = hd_k_in(k, 1), *y = hd_k_out(k);
    *pa = a + hd_batch_offset(q, y->dim, s->batch_y, sa->dim, s->batch_a) * s->m * s->depth;
    *pb = b + hd_batch_offset(q, y->dim, s->batch_y, sb->dim, s->batch_b) * s->depth * s->n;
}

/* y i32 = (a - a_zp)(b - b_zp), batched by numpy's rules.  Source: ONNX MatMulInteger-10. */
hd_status k_matmulinteger(const struct hd_kernel *k) {
    struct hd_matmul s;
    hd_matmul_shape(k, &s);
    const int32_t *a = widen(k, 0), *b = widen(k, 1), *pa, *pb;
    memset(k->out, 0, hd_tensor_bytes(hd_k_out(k)));
    int32_t *za = hd_new_array(k->arena, int32_t, (size_t)s.m + 1);
    int32_t *zb = hd_new_array(k->arena, int32_t, (size_t)s.n + 1);
    for (int64_t q = 0; q < s.batches; q++) {
        batch_at(k, &s, q, a, b, &pa, &pb);
        batch_zeros(k, 2, &s, q, s.m, za);
        batch_zeros(k, 3, &s, q, s.n, zb);
        product(&s, pa, pb, za, zb, (uint32_t *)k->out + q * s.m * s.n);
    }
    return HD_OK;
}

static int32_t *filled(const struct hd_kernel *k, const char *attr, int64_t n) {
    int32_t *v = hd_new_array(k->arena, int32_t, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = (int32_t)hd_attr_int(k->n, attr, 0);
    return v;
}

/* Product of two quantised tensors, batched by numpy's rules; the numeric reference.
 *   acc = sum (a - a_zp) * (b - b_zp), int32 wrapping; y = requant(acc * scale).  docs/numerics.md
 */
hd_status k_qmatmul(const struct hd_kernel *k) {
    struct hd_matmul s;
    hd_matmul_shape(k, &s);
    const int32_t *a = widen(k, 0), *b = widen(k, 1), *pa, *pb;
    const int32_t *za = filled(k, "a_zp", s.m), *zb = filled(k, "b_zp", s.n);
    float scale = hd_attr_float(k->n, "scale", 1);
    struct requant r = requant_of(k);
    r.scale = &scale, r.n_scale = 1;
    uint32_t *acc = hd_new_array(k->arena, uint32_t, (size_t)(s.m * s.n) + 1);
    for (int64_t q = 0; q < s.batches; q++) {
        batch_at(k, &s, q, a, b, &pa, &pb);
        memset(acc, 0, (size_t)(s.m * s.n) * sizeof *acc);
        product(&s, pa, pb, za, zb, acc);
        for (int64_t i = 0; i < s.m * s.n; i++) store(k, &r, q * s.m * s.n + i, acc[i], 0);
    }
    return HD_OK;
}
