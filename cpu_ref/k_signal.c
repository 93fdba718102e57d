/* Signals: windows, Fourier transforms by their definition, mel filters. All in double. */
#include <math.h>
#include <string.h>

#include "cpu_ref/k_rows.h"
#include "runtime/base/num.h"

static const double PI = 3.14159265358979323846;

/* a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n); n = size, and size - 1 for the symmetric form.
 * Source: ONNX HannWindow-17, HammingWindow-17, BlackmanWindow-17. */
hd_status k_window(const struct hd_kernel *k) {
    const struct hd_tensor *y = hd_k_out(k);
    const char *kind = hd_attr_string(k->n, "kind", "hann");
    double a[3] = {0.5, 0.5, 0};
    if (!strcmp(kind, "hamming")) a[0] = 25.0 / 46, a[1] = 21.0 / 46;
    if (!strcmp(kind, "blackman")) a[0] = 0.42, a[2] = 0.08;
    bool periodic = hd_attr_int(k->n, "periodic", 1) != 0;
    double n = (double)hd_max(y->dim[0] - (periodic ? 0 : 1), 1);
    for (int64_t i = 0; i < y->dim[0]; i++) {
        double x = 2 * PI * (double)i / n;
        hd_k_put_f64(k->out, y->dtype, i, a[0] - a[1] * cos(x) + a[2] * cos(2 * x));
    }
    return HD_OK;
}

struct transform {
    int64_t n, bins; /* values in; bins = n, or n / 2 + 1 of them when the rest mirrors them */
    bool inverse;
    double *cosine, *sine; /* of 2 pi i / n */
};

static struct transform transform_of(hd_arena *a, int64_t n, int64_t bins, bool inverse) {
    struct transform t = {n, bins, inverse, hd_new_array(a, double, (size_t)n + 1),
                          hd_new_array(a, double, (size_t)n + 1)};
    for (int64_t i = 0; i < n; i++) {
        t.cosine[i] = cos(2 * PI * (double)i / (double)n);
        t.sine[i] = (inverse ? 1 : -1) * sin(2 * PI * (double)i / (double)n);
    }
    return t;
}

/* x [n] pairs, y [bins] pairs */
static void run_transform(const struct transform *t, const double *x, double *y) {
    double scale = t->inverse ? 1 / (double)t->n : 1;
    for (int64_t b = 0; b < t->bins; b++) {
        double re = 0, im = 0;
        for (int64_t i = 0, turn = 0; i < t->n; i++, turn = (turn + b) % t->n) {
            re += x[2 * i] * t->cosine[turn] - x[2 * i + 1] * t->sine[turn];
            im += x[2 * i] * t->sine[turn] + x[2 * i + 1] * t->cosine[turn];
        }
        y[2 * b] = re * scale;
        y[2 * b + 1] = im * scale;
    }
}

/* The upper half of a spectrum of n bins, which mirrors the lower half of a real signal. */
static void mirror(double *x, int64_t n, int64_t given) {
    for (int64_t i = n / 2 + 1; i < n; i++) {
        bool there = n - i < given;
        x[2 * i] = there ? x[2 * (n - i)] : 0;
        x[2 * i + 1] = there ? -x[2 * (n - i) + 1] : 0;
    }
}

/* x [.., n at axis, .., 1 or 2] cut or filled with zeros to `length`, y [.., bins, .., 2];
 * inverse and onesided: x [.., n / 2 + 1, .., 2] and y [.., n, .., 1].  Source: ONNX DFT-20. */
hd_status k_dft(const struct hd_kernel *k) {
    const struct hd_tensor *xt = hd_k_in(k, 0), *lt = hd_k_in(k, 1), *yt = hd_k_out(k);
    int64_t axis = hd_attr_int(k->n, "axis", 1), outer = 1, inner = 1,
            parts = xt->dim[xt->rank - 1];
    axis = axis < 0 ? axis + xt->rank : axis;
    bool real = hd_attr_int(k->n, "inverse", 0) && hd_attr_int(k->n, "onesided", 0);
    int64_t given = xt->dim[axis], n = real ? yt->dim[axis] : given, step = real ? 1 : 2;
    if (lt) n = hd_k_i64(k->in[1], lt->dtype, 0);
    for (int64_t d = 0; d < axis; d++) outer *= xt->dim[d];
    for (int64_t d = axis + 1; d < xt->rank - 1; d++) inner *= xt->dim[d];
    struct transform t =
        transform_of(k->arena, n, yt->dim[axis], hd_attr_int(k->n, "inverse", 0) != 0);
    const double *x = hd_k_doubles(k, 0);
    double *from = hd_new_array(k->arena, double, (size_t)n * 2 + 2);
    double *to = hd_new_array(k->arena, double, (size_t)t.bins * 2 + 2);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t j = 0; j < inner; j++) {
            for (int64_t i = 0; i < hd_min(n, given); i++)
                for (int64_t p = 0; p < parts; p++)
                    from[2 * i + p] = x[((o * given + i) * inner + j) * parts + p];
            if (real) mirror(from, n, given);
            run_transform(&t, from, to);
            for (int64_t b = 0; b < t.bins; b++)
                hd_k_narrow(k->out, yt->dtype, ((o * t.bins + b) * inner + j) * step, step,
                            &to[2 * b]);
        }
    return HD_OK;
}

/* signal [B,L], [B,L,1] or [B,L,2], a step, window [frame]?, frame length? -> [B,frames,bins,2].
 * Source: ONNX STFT-17. */
hd_status k_stft(const struct hd_kernel *k) {
    const struct hd_tensor *xt = hd_k_in(k, 0), *yt = hd_k_out(k), *wt = hd_k_in(k, 2),
                           *ft = hd_k_in(k, 3);
    int64_t parts = xt->rank == 3 ? xt->dim[2] : 1,
            step = hd_k_i64(k->in[1], hd_k_in(k, 1)->dtype, 0);
    int64_t frame = wt ? wt->dim[0] : hd_k_i64(k->in[3], ft->dtype, 0);
    struct transform t = transform_of(k->arena, frame, yt->dim[2], false);
    const double *x = hd_k_doubles(k, 0), *window = hd_k_doubles(k, 2);
    double *from = hd_new_array(k->arena, double, (size_t)frame * 2 + 2);
    double *to = hd_new_array(k->arena, double, (size_t)t.bins * 2 + 2);
    for (int64_t b = 0; b < yt->dim[0]; b++)
        for (int64_t f = 0; f < yt->dim[1]; f++) {
            const double *at = x + (b * xt->dim[1] + f * step) * parts;
            for (int64_t i = 0; i < frame; i++)
                for (int64_t p = 0; p < parts; p++)
                    from[2 * i + p] = at[i * parts + p] * (window ? window[i] : 1);
            run_transform(&t, from, to);
            hd_k_narrow(k->out, yt->dtype, (b * yt->dim[1] + f) * t.bins * 2, t.bins * 2, to);
        }
    return HD_OK;
}

/* Triangles over the bins of a transform, [dft_length / 2 + 1, mel bins]; their corners are evenly
 * spaced in mel = 2595 log10(1 + f / 700).  Source: ONNX MelWeightMatrix-17. */
hd_status k_melweights(const struct hd_kernel *k) {
    const struct hd_tensor *y = hd_k_out(k);
    double v[5], *corner = hd_new_array(k->arena, double, (size_t)y->dim[1] + 2);
    for (int i = 0; i < 5; i++) v[i] = hd_k_f64(k->in[i], hd_k_in(k, i)->dtype, 0);
    double low = 2595 * log10(1 + v[3] / 700), high = 2595 * log10(1 + v[4] / 700);
    double step = (high - low) / (double)(y->dim[1] + 2);
    for (int64_t i = 0; i < y->dim[1] + 2; i++) {
        double f = 700 * (pow(10, ((double)i * step + low) / 2595) - 1);
        corner[i] = floor((v[1] + 1) * f / v[2]);
        if (!(corner[i] >= 0 && corner[i] < (double)y->dim[0]))
            return hd_fail(k->ctx, HD_INVALID,
                           "edge %lld of the mel bins is bin %g of the transform, allowed 0..%lld",
                           (long long)i, corner[i], (long long)y->dim[0] - 1);
    }
    for (int64_t i = 0; i < y->dim[1]; i++)
        for (int64_t j = 0; j < y->dim[0]; j++) {
            double x = (double)j, a = corner[i], b = corner[i + 1], c = corner[i + 2], w = 0;
            if (x >= b && x < c)
                w = (c - x) / (c - b);
            else if (x >= a && x <= b)
                w = a == b ? 1 : (x - a) / (b - a);
            hd_k_put_f64(k->out, y->dtype, j * y->dim[1] + i, w);
        }
    return HD_OK;
}
