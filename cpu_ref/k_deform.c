/* Convolution whose taps are moved by offsets. */
#include <math.h>

#include "cpu_ref/k_rows.h"

struct deform {
    struct hd_window v;
    int64_t groups, taps, out; /* groups of channels that share offsets; pixels of the result */
    const double *offset, *mask;
};

/* Between the four pixels around (y, x); what lies outside is 0. */
static double between(const double *plane, int64_t h, int64_t w, double y, double x) {
    double sum = 0, y0 = floor(y), x0 = floor(x);
    if (!(y > -1 && y < (double)h && x > -1 && x < (double)w)) return 0;
    for (int i = 0; i < 4; i++) {
        int64_t r = (int64_t)y0 + i / 2, c = (int64_t)x0 + i % 2;
        double a = 1 - fabs(y - (double)r), b = 1 - fabs(x - (double)c);
        if (r >= 0 && r < h && c >= 0 && c < w) sum += plane[r * w + c] * a * b;
    }
    return sum;
}

/* What tap t of channel c contributes to pixel o of image n, before its weight. */
static double tap(const struct deform *d, const double *image, int64_t n, int64_t c, int64_t t,
                  int64_t o) {
    const struct hd_window *v = &d->v;
    int64_t group = c / (v->c / d->groups), at = (n * d->groups + group) * d->taps + t;
    const double *offset = d->offset + at * 2 * d->out + o;
    double y = (double)(o / v->ow * v->sy - v->pt + t / v->kw * v->dy) + offset[0];
    double x = (double)(o % v->ow * v->sx - v->pl + t % v->kw * v->dx) + offset[d->out];
    double value = between(image + c * v->h * v->w, v->h, v->w, y, x);
    return d->mask ? value * d->mask[at * d->out + o] : value;
}

/* x [N,C,H,W], w [M,C/group,kh,kw], offsets [N, groups * taps * 2, OH, OW] as y then x, b [M]?,
 * mask [N, groups * taps, OH, OW]?  Source: ONNX DeformConv-22. */
hd_status k_deformconv(const struct hd_kernel *k) {
    const struct hd_tensor *xt = hd_k_in(k, 0), *wt = hd_k_in(k, 1), *yt = hd_k_out(k);
    struct deform d = {.groups = hd_attr_int(k->n, "offset_group", 1)};
    TRY(hd_window_get(k->ctx, k->n, xt, wt->dim + 2, &d.v));
    const double *x = hd_k_doubles(k, 0), *w = hd_k_doubles(k, 1), *b = hd_k_doubles(k, 3);
    d.offset = hd_k_doubles(k, 2), d.mask = hd_k_doubles(k, 4);
    d.taps = d.v.kh * d.v.kw, d.out = d.v.oh * d.v.ow;
    int64_t m_all = wt->dim[0], cg = wt->dim[1], mg = m_all / hd_attr_int(k->n, "group", 1);
    double *sum = hd_new_array(k->arena, double, (size_t)(m_all * d.out) + 1);
    for (int64_t n = 0; n < d.v.n; n++) {
        const double *image = x + n * d.v.c * d.v.h * d.v.w;
        for (int64_t i = 0; i < m_all * d.out; i++) sum[i] = b ? b[i / d.out] : 0;
        for (int64_t i = 0; i < d.v.c * d.taps * d.out; i++) {
            int64_t c = i / d.out / d.taps, t = i / d.out % d.taps, o = i % d.out,
                    first = c / cg * mg;
            double value = tap(&d, image, n, c, t, o);
            for (int64_t m = first; m < first + mg; m++)
                sum[m * d.out + o] += value * w[(m * cg + c % cg) * d.taps + t];
        }
        hd_k_narrow(k->out, yt->dtype, n * m_all * d.out, m_all * d.out, sum);
    }
    return HD_OK;
}
