/* Matrix products: conv, gemm, matmul in float; qconv, qgemm in integers. */
#include <string.h>

#include "cpu_ref/kernels.h"
#include "runtime/base/num.h"

/* Convolution, float.
 *   x [N,C,H,W]  w [M,C/group,kh,kw]  b [M]?  y [N,M,P,Q]; sums in double.  Source: ONNX Conv-11.
 */
hd_status k_conv(const struct hd_kernel *k) {
    const float *x = k->in[0], *w = k->in[1], *b = k->n->n_in > 2 ? k->in[2] : NULL;
    float *y = k->out;
    struct hd_window v;
    TRY(hd_window_get(k->ctx, k->n, hd_k_in(k, 0), hd_k_in(k, 1)->dim + 2, &v));
    int64_t group = hd_attr_int(k->n, "group", 1), m_all = hd_k_in(k, 1)->dim[0];
    int64_t cg = v.c / group, mg = m_all / group;
    for (int64_t n = 0; n < v.n; n++)
        for (int64_t m = 0; m < m_all; m++)
            for (int64_t oy = 0; oy < v.oh; oy++)
                for (int64_t ox = 0; ox < v.ow; ox++) {
                    double sum = b ? (double)b[m] : 0;
                    for (int64_t c = 0; c < cg; c++)
                        for (int64_t ky = 0; ky < v.kh; ky++)
                            for (int64_t kx = 0; kx < v.kw; kx++) {
                                int64_t iy = oy * v.sy + ky * v.dy - v.pt,
                                        ix = ox * v.sx + kx * v.dx - v.pl;
                                if (iy < 0 || iy >= v.h || ix < 0 || ix >= v.w) continue;
                                sum +=
                                    (double)x[((n * v.c + m / mg * cg + c) * v.h + iy) * v.w + ix] *
                                    (double)w[((m * cg + c) * v.kh + ky) * v.kw + kx];
                            }
                    y[((n * m_all + m) * v.oh + oy) * v.ow + ox] = (float)sum;
                }
    return HD_OK;
}

/* y [M,N] = alpha * op(a) op(b) + beta * c, c broadcast to [M,N].  Source: ONNX Gemm-13. */
hd_status k_gemm(const struct hd_kernel *k) {
    const float *a = k->in[0], *b = k->in[1], *c = k->n->n_in > 2 ? k->in[2] : NULL;
    float *y = k->out;
    bool ta = hd_attr_int(k->n, "transA", 0) != 0, tb = hd_attr_int(k->n, "transB", 0) != 0;
    double alpha = (double)hd_attr_float(k->n, "alpha", 1),
           beta = (double)hd_attr_float(k->n, "beta", 1);
    const struct hd_tensor *sa = hd_k_in(k, 0);
    int64_t m = hd_k_out(k)->dim[0], n = hd_k_out(k)->dim[1], depth = sa->dim[ta ? 0 : 1];
    int64_t c_rows = 1, c_cols = 1;
    if (c) {
        const struct hd_tensor *sc = hd_k_in(k, 2);
        c_cols = sc->rank ? sc->dim[sc->rank - 1] : 1;
        c_rows = sc->rank == 2 ? sc->dim[0] : 1;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t d = 0; d < depth; d++)
                sum += (double)a[ta ? d * m + i : i * depth + d] *
                       (double)b[tb ? j * depth + d : d * n + j];
            sum *= alpha;
            if (c) sum += beta * (double)c[(c_rows > 1 ? i : 0) * c_cols + (c_cols > 1 ? j : 0)];
            y[i * n + j] = (float)sum;
        }
    return HD_OK;
}

/* Offset of batch `i` of the result in an operand with `rank` batch dims that broadcasts to `out`.
 */
static int64_t batch_offset(int64_t i, const int64_t *out, int out_rank, const int64_t *dim,
                            int rank) {
    int64_t offset = 0, step = 1;
    for (int d = 0; d < out_rank; d++) {
        int64_t index = i % out[out_rank - 1 - d];
        i /= out[out_rank - 1 - d];
        if (d >= rank) continue;
        int64_t size = dim[rank - 1 - d];
        offset += (size == 1 ? 0 : index) * step;
        step *= size;
    }
    return offset;
}

/* Batched product by numpy's rules; a 1-D operand is a row (left) or a column (right).
 * Source: ONNX MatMul-13. */
hd_status k_matmul(const struct hd_kernel *k) {
    const struct hd_tensor *sa = hd_k_in(k, 0), *sb = hd_k_in(k, 1), *sy = hd_k_out(k);
    const float *a = k->in[0], *b = k->in[1];
    float *y = k->out;
    int64_t m = sa->rank > 1 ? sa->dim[sa->rank - 2] : 1, depth = sa->dim[sa->rank - 1];
    int64_t n = sb->rank > 1 ? sb->dim[sb->rank - 1] : 1;
    int ba = sa->rank > 1 ? sa->rank - 2 : 0, bb = sb->rank > 1 ? sb->rank - 2 : 0;
    int by = ba > bb ? ba : bb;
    int64_t batches = m * n > 0 ? hd_tensor_elems(sy) / (m * n) : 0;
    for (int64_t q = 0; q < batches; q++) {
        const float *pa = a + batch_offset(q, sy->dim, by, sa->dim, ba) * m * depth;
        const float *pb = b + batch_offset(q, sy->dim, by, sb->dim, bb) * depth * n;
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0;
                for (int64_t d = 0; d < depth; d++)
                    sum += (double)pa[i * depth + d] * (double)pb[d * n + j];
                y[(q * m + i) * n + j] = (float)sum;
            }
    }
    return HD_OK;
}

/* ---- integers ---- */

/* Widens a byte or int16 tensor to int32 and subtracts `zero`. */
static int32_t *widen(const struct hd_kernel *k, int i, int32_t zero) {
    const struct hd_tensor *t = hd_k_in(k, i);
    int64_t n = hd_tensor_elems(t);
    int32_t *w = hd_new_array(k->arena, int32_t, (size_t)n);
    for (int64_t j = 0; j < n; j++)
        w[j] = (t->dtype == HD_U8   ? ((const uint8_t *)k->in[i])[j]
                : t->dtype == HD_I8 ? ((const int8_t *)k->in[i])[j]
                                    : ((const int16_t *)k->in[i])[j]) -
               zero;
    return w;
}

static void store_byte(void *y, int64_t i, int32_t v) {
    ((uint8_t *)y)[i] = (uint8_t)v;
}

struct requant {
    const float *scale;
    int64_t n_scale;
    int32_t zp, lo, hi;
};

static struct requant requant_of(const struct hd_kernel *k) {
    bool u8 = hd_k_out(k)->dtype == HD_U8;
    return (struct requant){k->in[3], hd_tensor_elems(hd_k_in(k, 3)),
                            (int32_t)hd_attr_int(k->n, "y_zp", 0),
                            (int32_t)hd_attr_int(k->n, "lo", u8 ? 0 : -128),
                            (int32_t)hd_attr_int(k->n, "hi", u8 ? 255 : 127)};
}

static int32_t requant(const struct requant *r, uint32_t acc, int64_t m) {
    return hd_requant((float)(int32_t)acc * r->scale[r->n_scale == 1 ? 0 : m], r->zp, r->lo, r->hi);
}

/* Adds one tap of one input channel to a plane of sums; the inner loop runs along the row. */
static void add_tap(const struct hd_window *v, const int32_t *x, int32_t w, int64_t ky, int64_t kx,
                    uint32_t *acc) {
    for (int64_t oy = 0; oy < v->oh; oy++) {
        int64_t iy = oy * v->sy + ky * v->dy - v->pt, first = 0, last = v->ow;
        if (iy < 0 || iy >= v->h) continue;
        int64_t shift = kx * v->dx - v->pl;
        while (first < last && first * v->sx + shift < 0) first++;
        while (last > first && (last - 1) * v->sx + shift >= v->w) last--;
        const int32_t *row = x + iy * v->w + shift;
        uint32_t *out = acc + oy * v->ow;
        if (v->sx == 1)
            for (int64_t ox = first; ox < last; ox++) out[ox] += (uint32_t)(row[ox] * w);
        else
            for (int64_t ox = first; ox < last; ox++) out[ox] += (uint32_t)(row[ox * v->sx] * w);
    }
}

/* Quantised convolution; the numeric reference for every device.
 *   acc = sum (x - x_zp) * w + bias, int32 wrapping; y = requant(acc * scale[m]).  docs/numerics.md
 */
hd_status k_qconv(const struct hd_kernel *k) {
    struct hd_window v;
    TRY(hd_window_get(k->ctx, k->n, hd_k_in(k, 0), hd_k_in(k, 1)->dim + 2, &v));
    int32_t *x = widen(k, 0, (int32_t)hd_attr_int(k->n, "x_zp", 0)), *w = widen(k, 1, 0);
    const int32_t *bias = k->in[2];
    struct requant r = requant_of(k);
    int64_t group = hd_attr_int(k->n, "group", 1), m_all = hd_k_in(k, 1)->dim[0];
    int64_t cg = v.c / group, mg = m_all / group, plane = v.oh * v.ow;
    uint32_t *acc = hd_new_array(k->arena, uint32_t, (size_t)plane);
    for (int64_t n = 0; n < v.n; n++)
        for (int64_t m = 0; m < m_all; m++) {
            for (int64_t i = 0; i < plane; i++) acc[i] = (uint32_t)bias[m];
            for (int64_t c = 0; c < cg; c++)
                for (int64_t ky = 0; ky < v.kh; ky++)
                    for (int64_t kx = 0; kx < v.kw; kx++)
                        add_tap(&v, x + (n * v.c + m / mg * cg + c) * v.h * v.w,
                                w[((m * cg + c) * v.kh + ky) * v.kw + kx], ky, kx, acc);
            for (int64_t i = 0; i < plane; i++)
                store_byte(k->out, (n * m_all + m) * plane + i, requant(&r, acc[i], m));
        }
    return HD_OK;
}

/* Quantised dense layer: y [M,N] from x [M,K] and w [N,K]; as qconv.  docs/numerics.md */
hd_status k_qgemm(const struct hd_kernel *k) {
    int32_t *x = widen(k, 0, (int32_t)hd_attr_int(k->n, "x_zp", 0)), *w = widen(k, 1, 0);
    const int32_t *bias = k->in[2];
    struct requant r = requant_of(k);
    int64_t rows = hd_k_out(k)->dim[0], n = hd_k_out(k)->dim[1], depth = hd_k_in(k, 0)->dim[1];
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < n; j++) {
            uint32_t acc = (uint32_t)bias[j];
            for (int64_t d = 0; d < depth; d++)
                acc += (uint32_t)(x[i * depth + d] * w[j * depth + d]);
            store_byte(k->out, i * n + j, requant(&r, acc, j));
        }
    return HD_OK;
}
