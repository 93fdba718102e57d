/* From values to ranges: extremes, percentiles, and the range of least relative entropy. */
#include <math.h>
#include <string.h>

#include "compiler/quantize/quantize.h"

enum { LEVELS = 128 }; /* of one sign */

void hd_quant_observe(struct hd_quant_stats *s, const struct hd_tensor *t, int channel_axis,
                      const float *x) {
    int64_t n = hd_tensor_elems(t), inner = 1;
    for (int d = channel_axis + 1; d < t->rank; d++) inner *= t->dim[d];
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            s->not_finite++;
            continue;
        }
        if (x[i] < s->lo) s->lo = x[i];
        if (x[i] > s->hi) s->hi = x[i];
        if (s->peak)
            s->peak[i / inner % s->channels] = fmaxf(s->peak[i / inner % s->channels], fabsf(x[i]));
    }
    s->n += (uint64_t)n;
}

void hd_quant_count(struct hd_quant_stats *s, const float *x, int64_t n) {
    float width = s->hi - s->lo, to_bin = width > 0 ? (float)HD_QUANT_BINS / width : 0;
    for (int64_t i = 0; i < n; i++) {
        float at = (x[i] - s->lo) * to_bin;
        int bin = at >= (float)HD_QUANT_BINS ? HD_QUANT_BINS - 1 : at > 0 ? (int)at : 0;
        s->bins[bin]++;
    }
}

/* Drops the fewest values such that `share` of them is left: the same number on either side. */
static void percentile(const struct hd_quant_stats *s, double share, float *lo, float *hi) {
    double drop = (double)s->n * (1 - share) / 2, width = (double)s->hi - (double)s->lo, seen = 0;
    int from = 0, to = HD_QUANT_BINS;
    for (; from < to - 1 && seen + (double)s->bins[from] <= drop; from++)
        seen += (double)s->bins[from];
    for (seen = 0; to > from + 1 && seen + (double)s->bins[to - 1] <= drop; to--)
        seen += (double)s->bins[to - 1];
    *lo = (float)((double)s->lo + width * from / HD_QUANT_BINS);
    *hi = (float)((double)s->lo + width * to / HD_QUANT_BINS);
}

/* Relative entropy of what is left of the counts p[0..n-1] after rounding to LEVELS steps; beyond:
 * the count of larger values, which saturate. */
static double divergence(const double *p, int n, double beyond, double total) {
    double d = 0;
    for (int level = 0; level < LEVELS; level++) {
        int a = (int)((int64_t)level * n / LEVELS), b = (int)((int64_t)(level + 1) * n / LEVELS);
        double sum = 0;
        int filled = 0;
        for (int i = a; i < b; i++) sum += p[i], filled += p[i] > 0;
        for (int i = a; i < b; i++) {
            double ref = p[i] + (i == n - 1 ? beyond : 0), got = filled ? sum / filled : 0;
            if (ref > 0) d += ref / total * log(ref / (got > 0 ? got : 1e-3));
        }
    }
    return d;
}

/* The largest magnitude that is kept, chosen so that the distribution of magnitudes loses least
 * (Migacz, 8-bit inference with TensorRT, GTC 2017). */
static float entropy(const struct hd_quant_stats *s) {
    double most = fmax(-(double)s->lo, (double)s->hi), width = (double)s->hi - (double)s->lo;
    double p[HD_QUANT_BINS] = {0}, total = 0, best = INFINITY;
    int keep = HD_QUANT_BINS;
    for (int i = 0; i < HD_QUANT_BINS; i++) {
        double at = fabs((double)s->lo + width * (i + 0.5) / HD_QUANT_BINS) / most;
        int bin = (int)(at * HD_QUANT_BINS);
        p[bin < HD_QUANT_BINS ? bin : HD_QUANT_BINS - 1] += (double)s->bins[i];
    }
    p[0] = fmin(p[0], p[1]); /* zeros of a relu say nothing about the range */
    for (int i = 0; i < HD_QUANT_BINS; i++) total += p[i];
    double inside = 0;
    for (int n = 1; n <= HD_QUANT_BINS && total > 0; n++) {
        inside += p[n - 1];
        if (n < LEVELS || n % 8) continue;
        double d = divergence(p, n, total - inside, total);
        if (d < best) best = d, keep = n;
    }
    return (float)(most * keep / HD_QUANT_BINS);
}

void hd_quant_clip(const struct hd_quant_stats *s, const struct hd_quant_options *o, float *lo,
                   float *hi) {
    *lo = s->lo, *hi = s->hi;
    if (!s->bins || !(s->hi > s->lo)) return;
    if (o->range == HD_RANGE_PERCENTILE) percentile(s, o->percentile / 100, lo, hi);
    if (o->range == HD_RANGE_ENTROPY) {
        float most = entropy(s);
        *lo = fmaxf(s->lo, -most), *hi = fminf(s->hi, most);
    }
    *lo = fminf(*lo, 0), *hi = fmaxf(*hi, 0);
}

void hd_quant_params(float lo, float hi, const struct hd_quant_options *o, float *scale,
                     int32_t *zero) {
    int min = hd_dtype_least(o->type), steps = hd_dtype_most(o->type) - min;
    float most = fmaxf(-lo, hi);
    *scale = o->symmetric ? most / (float)(steps / 2) : hi / (float)steps - lo / (float)steps;
    if (!(*scale >= 1e-30f)) *scale = 1; /* all zeros */
    double at = rint(-(double)lo / (double)*scale);
    *zero = min + (o->symmetric ? steps / 2 + 1 : (int32_t)fmin(fmax(at, 0), steps));
}
