/* Pooling: float and integer, maximum and average. */
#include <math.h>

#include "cpu_ref/kernels.h"
#include "runtime/base/num.h"

struct pooled {
    double sum, max;
    int64_t isum, imax;
    int64_t count, padded; /* taps inside the image; taps inside image or padding */
};

static double value(const struct hd_kernel *k, int64_t i) {
    switch (hd_k_in(k, 0)->dtype) {
    case HD_U8:
        return ((const uint8_t *)k->in[0])[i];
    case HD_I8:
        return ((const int8_t *)k->in[0])[i];
    default:
        return (double)((const float *)k->in[0])[i];
    }
}

static struct pooled window_at(const struct hd_kernel *k, const struct hd_window *v, int64_t plane,
                               int64_t oy, int64_t ox) {
    struct pooled p = {.max = -INFINITY};
    for (int64_t ky = 0; ky < v->kh; ky++)
        for (int64_t kx = 0; kx < v->kw; kx++) {
            int64_t iy = oy * v->sy + ky * v->dy - v->pt, ix = ox * v->sx + kx * v->dx - v->pl;
            if (iy < v->h + v->pb && ix < v->w + v->pr) p.padded++;
            if (iy < 0 || iy >= v->h || ix < 0 || ix >= v->w) continue;
            double x = value(k, plane + iy * v->w + ix);
            p.count++;
            p.sum += x;
            p.max = x > p.max ? x : p.max;
        }
    p.isum = (int64_t)p.sum; /* exact for bytes */
    p.imax = p.count && isfinite(p.max) ? (int64_t)p.max : 0;
    return p;
}

enum pool { MAX, AVG, QMAX, QAVG };

static hd_status pool(const struct hd_kernel *k, enum pool kind) {
    struct hd_window v;
    TRY(hd_window_get(k->ctx, k->n, hd_k_in(k, 0), NULL, &v));
    bool u8 = hd_k_out(k)->dtype == HD_U8;
    bool with_pads = hd_attr_int(k->n, "count_include_pad", 0) != 0;
    int32_t x_zp = (int32_t)hd_attr_int(k->n, "x_zp", 0),
            y_zp = (int32_t)hd_attr_int(k->n, "y_zp", 0);
    int32_t lo = (int32_t)hd_attr_int(k->n, "lo", u8 ? 0 : -128),
            hi = (int32_t)hd_attr_int(k->n, "hi", u8 ? 255 : 127);
    float scale = hd_attr_float(k->n, "scale", 1);
    for (int64_t q = 0, i = 0; q < v.n * v.c; q++)
        for (int64_t oy = 0; oy < v.oh; oy++)
            for (int64_t ox = 0; ox < v.ow; ox++, i++) {
                struct pooled p = window_at(k, &v, q * v.h * v.w, oy, ox);
                int32_t s = (int32_t)(p.isum - x_zp * p.count);
                if (kind == MAX)
                    ((float *)k->out)[i] = (float)p.max;
                else if (kind == AVG)
                    ((float *)k->out)[i] =
                        (float)(p.sum / (double)(with_pads ? p.padded : p.count));
                else if (kind == QMAX)
                    ((uint8_t *)k->out)[i] = (uint8_t)p.imax;
                else
                    ((uint8_t *)k->out)[i] = (uint8_t)hd_requant((float)s * scale, y_zp, lo, hi);
            }
    return HD_OK;
}

/* x [N,C,H,W] -> y [N,C,P,Q]; padding never wins a maximum.  Source: ONNX MaxPool-12,
 * AveragePool-11. */
hd_status k_maxpool(const struct hd_kernel *k) {
    return pool(k, MAX);
}
hd_status k_avgpool(const struct hd_kernel *k) {
    return pool(k, AVG);
}

/* Mean of a whole image, in binary32 as ONNX Runtime sums it, since a mean of integers is often a
 * tie that the last bit decides: v = (x - x_zp) * x_scale; four partial sums over elements i, i+4,
 * ..; (P0 + P2) + (P1 + P3); then what is left over, one by one; y = requant(sum * scale).
 * docs/numerics.md */
hd_status k_qmean(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    int64_t count = t->dim[2] * t->dim[3], main_count = count / 4 * 4;
    bool u8 = hd_k_out(k)->dtype == HD_U8;
    int32_t x_zp = (int32_t)hd_attr_int(k->n, "x_zp", 0),
            y_zp = (int32_t)hd_attr_int(k->n, "y_zp", 0);
    int32_t lo = (int32_t)hd_attr_int(k->n, "lo", u8 ? 0 : -128),
            hi = (int32_t)hd_attr_int(k->n, "hi", u8 ? 255 : 127);
    float x_scale = hd_attr_float(k->n, "x_scale", 1), scale = hd_attr_float(k->n, "scale", 1);
    for (int64_t plane = 0; plane < t->dim[0] * t->dim[1]; plane++) {
        float p[4] = {0, 0, 0, 0}, sum;
        for (int64_t i = 0; i < main_count; i++)
            p[i % 4] += (float)((int32_t)value(k, plane * count + i) - x_zp) * x_scale;
        sum = (p[0] + p[2]) + (p[1] + p[3]);
        for (int64_t i = main_count; i < count; i++)
            sum += (float)((int32_t)value(k, plane * count + i) - x_zp) * x_scale;
        ((uint8_t *)k->out)[plane] = (uint8_t)hd_requant(sum * scale, y_zp, lo, hi);
    }
    return HD_OK;
}

/* Integer pooling.  docs/numerics.md: y = requant(sum (x - x_zp) * scale); the maximum is exact. */
hd_status k_qmaxpool(const struct hd_kernel *k) {
    return pool(k, QMAX);
}
hd_status k_qavgpool(const struct hd_kernel *k) {
    return pool(k, QAVG);
}
