/* Convolution and its transpose in float: any number of dimensions, sums in double. */
#include "cpu_ref/k_rows.h"
#include "cpu_ref/k_spans.h"

/* small[i] += big[i * stride] * w over the spans of tap t. */
static void gather_tap(const struct hd_spans *s, int64_t t, const double *big, double w,
                       double *small) {
    for (int64_t j = s->first[t]; j < s->first[t + 1]; j++) {
        const double *x = big + s->span[j].big;
        double *y = small + s->span[j].small;
        int64_t n = s->span[j].n;
        if (s->stride == 1)
            for (int64_t i = 0; i < n; i++) y[i] += x[i] * w;
        else
            for (int64_t i = 0; i < n; i++) y[i] += x[i * s->stride] * w;
    }
}

/* big[i * stride] += small[i] * w over the spans of tap t. */
static void scatter_tap(const struct hd_spans *s, int64_t t, const double *small, double w,
                        double *big) {
    for (int64_t j = s->first[t]; j < s->first[t + 1]; j++) {
        const double *x = small + s->span[j].small;
        double *y = big + s->span[j].big;
        for (int64_t i = 0; i < s->span[j].n; i++) y[i * s->stride] += x[i] * w;
    }
}

/* x [N,C,in..]  w [M,C/group,k..]  b [M]?  y [N,M,out..].  Source: ONNX Conv-11. */
hd_status k_conv(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *w = hd_k_in(k, 1), *y = hd_k_out(k);
    struct hd_window_nd v;
    struct hd_spans s;
    TRY(hd_window_nd_get(k->ctx, k->n, x, w->dim + 2, &v));
    hd_spans_make(&v, false, k->arena, &s);
    int64_t group = hd_attr_int(k->n, "group", 1), m_all = w->dim[0];
    int64_t cg = v.c / group, mg = m_all / group;
    const double *b = hd_k_doubles(k, 2);
    double *image = hd_new_array(k->arena, double, (size_t)(v.c * s.n_big));
    double *filter = hd_new_array(k->arena, double, (size_t)(cg * s.n_taps) + 1);
    double *sum = hd_new_array(k->arena, double, (size_t)s.n_small + 1);
    for (int64_t n = 0; n < v.n; n++) {
        hd_k_widen(k->in[0], x->dtype, n * v.c * s.n_big, v.c * s.n_big, image);
        for (int64_t m = 0; m < m_all; m++) {
            TRY(hd_continue(k->ctx));
            hd_k_widen(k->in[1], w->dtype, m * cg * s.n_taps, cg * s.n_taps, filter);
            for (int64_t i = 0; i < s.n_small; i++) sum[i] = b ? b[m] : 0;
            for (int64_t c = 0; c < cg; c++)
                for (int64_t t = 0; t < s.n_taps; t++)
                    gather_tap(&s, t, image + (m / mg * cg + c) * s.n_big, filter[c * s.n_taps + t],
                               sum);
            hd_k_narrow(k->out, y->dtype, (n * m_all + m) * s.n_small, s.n_small, sum);
        }
    }
    return HD_OK;
}

/* x [N,C,in..]  w [C,M/group,k..]  b [M]?  y [N,M,out..].  Source: ONNX ConvTranspose-11. */
hd_status k_convtranspose(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *w = hd_k_in(k, 1), *y = hd_k_out(k);
    struct hd_window_nd v;
    struct hd_spans s;
    TRY(hd_window_transposed_get(k->ctx, k->n, x, w->dim + 2, &v));
    hd_spans_make(&v, true, k->arena, &s);
    int64_t group = hd_attr_int(k->n, "group", 1), mg = w->dim[1], m_all = mg * group;
    int64_t cg = v.c / group;
    const double *b = hd_k_doubles(k, 2), *filter = hd_k_doubles(k, 1);
    double *image = hd_new_array(k->arena, double, (size_t)(v.c * s.n_small) + 1);
    double *sum = hd_new_array(k->arena, double, (size_t)s.n_big);
    for (int64_t n = 0; n < v.n; n++) {
        hd_k_widen(k->in[0], x->dtype, n * v.c * s.n_small, v.c * s.n_small, image);
        for (int64_t m = 0; m < m_all; m++) {
            TRY(hd_continue(k->ctx));
            for (int64_t i = 0; i < s.n_big; i++) sum[i] = b ? b[m] : 0;
            for (int64_t j = 0; j < cg; j++) {
                int64_t c = m / mg * cg + j;
                for (int64_t t = 0; t < s.n_taps; t++)
                    scatter_tap(&s, t, image + c * s.n_small,
                                filter[(c * mg + m % mg) * s.n_taps + t], sum);
            }
            hd_k_narrow(k->out, y->dtype, (n * m_all + m) * s.n_big, s.n_big, sum);
        }
    }
    return HD_OK;
}
