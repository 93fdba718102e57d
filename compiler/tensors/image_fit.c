/* Images in the size and type of an input. Resizing is bilinear with half-pixel centres; where it
 * makes smaller, the triangle widens with the step, so that every pixel counts. */
#include <math.h>
#include <string.h>

#include "compiler/tensors/image.h"
#include "compiler/tensors/tensors.h"
#include "cpu_ref/kernels.h"
#include "runtime/base/num.h"

enum { CHANNELS = 3 };

/* Input pixels [*first, *first + n) and their weights for pixel i of `to`, of `from` pixels. */
static int taps(int from, int to, int i, int *first, float *weight) {
    double step = (double)from / to, reach = step > 1 ? step : 1, centre = (i + 0.5) * step,
           sum = 0;
    int lo = (int)hd_max(0, (int64_t)floor(centre - reach)),
        hi = (int)hd_min(from, (int64_t)ceil(centre + reach));
    for (int k = lo; k < hi; k++) {
        double w = 1 - fabs(k + 0.5 - centre) / reach;
        weight[k - lo] = w > 0 ? (float)w : 0;
        sum += (double)weight[k - lo];
    }
    for (int k = lo; k < hi; k++) weight[k - lo] = (float)((double)weight[k - lo] / sum);
    *first = lo;
    return hi - lo;
}

/* [h][w][3] bytes -> [th][tw][3]. */
static float *resized(hd_arena *a, const struct hd_image *x, int tw, int th) {
    float *wide = hd_new_array(a, float, (size_t)x->height *(size_t)tw *CHANNELS),
          *out = hd_new_array(a, float, (size_t)th *(size_t)tw *CHANNELS),
          *weight = hd_new_array(a, float, (size_t)hd_max(x->width, x->height) + 4);
    int first;
    for (int i = 0; i < tw; i++) {
        int n = taps(x->width, tw, i, &first, weight);
        for (int y = 0; y < x->height; y++)
            for (int c = 0; c < CHANNELS; c++) {
                float sum = 0;
                for (int k = 0; k < n; k++)
                    sum +=
                        weight[k] *
                        (float)
                            x->rgb[((size_t)y * (size_t)x->width + (size_t)(first + k)) * CHANNELS +
                                   (size_t)c];
                wide[((size_t)y * (size_t)tw + (size_t)i) * CHANNELS + (size_t)c] = sum;
            }
    }
    size_t row = (size_t)tw * CHANNELS;
    for (int i = 0; i < th; i++) {
        int n = taps(x->height, th, i, &first, weight);
        for (int k = 0; k < n; k++)
            for (size_t c = 0; c < row; c++)
                out[(size_t)i * row + c] += weight[k] * wide[(size_t)(first + k) * row + c];
    }
    return out;
}

struct frame { /* of an input: its image in the order of memory */
    int64_t n, c, h, w;
    size_t of_c, of_y, of_x; /* elements between channels, rows, columns */
};

static bool frame_of(const struct hd_value_info *v, struct frame *out) {
    const int64_t *d = v->dim;
    int r = v->rank;
    if (r < 2 || r > 4) return false;
    bool first = r > 2 && (d[r - 3] == 1 || d[r - 3] == CHANNELS),
         last = r > 2 && !first && (d[r - 1] == 1 || d[r - 1] == CHANNELS);
    if (r == 2 || first)
        *out = (struct frame){r == 4 ? d[0] : 1,
                              r == 2 ? 1 : d[r - 3],
                              d[r - 2],
                              d[r - 1],
                              (size_t)(d[r - 2] * d[r - 1]),
                              (size_t)d[r - 1],
                              1};
    else if (last)
        *out = (struct frame){r == 4 ? d[0] : 1, d[r - 1], d[r - 3],
                              d[r - 2],          1,        (size_t)(d[r - 2] * d[r - 1]),
                              (size_t)d[r - 1]};
    return (r == 2 || first || last) && out->n > 0 && out->h > 0 && out->w > 0;
}

/* A value of the input's type; bytes are rounded and saturate. */
static void put(void *data, const struct hd_value_info *v, size_t at, double value) {
    int t = hd_dtype_from_onnx(v->dtype);
    if (t == HD_U8 || t == HD_I8)
        value = fmin(fmax(rint(value), t == HD_U8 ? 0 : -128), t == HD_U8 ? 255 : 127);
    hd_k_put_f64(data, (hd_dtype)t, (int64_t)at, value);
}

static float grey(const float *p) {
    return 0.299f * p[0] + 0.587f * p[1] + 0.114f * p[2];
}

/* Size of the whole picture of which the frame is the middle. */
static void size_of(const struct hd_image *x, const struct hd_image_options *o,
                    const struct frame *f, int *out_w, int *out_h) {
    *out_w = (int)f->w, *out_h = (int)f->h;
    if (!o->resize) return;
    int shorter = x->width < x->height ? x->width : x->height;
    *out_w = (int)hd_max(1, llround((double)x->width * o->resize / shorter));
    *out_h = (int)hd_max(1, llround((double)x->height * o->resize / shorter));
}

hd_status hd_image_put(hd_ctx *ctx, const struct hd_image *x, const struct hd_image_options *o,
                       const struct hd_value_info *v, int64_t i, void *data) {
    struct frame f = {0};
    int w = 0, h = 0, type = hd_dtype_from_onnx(v->dtype);
    hd_arena *a = hd_arena_create();
    const char *dims = hd_dims_text(a, v->dim, v->rank);
    hd_status s = HD_OK;
    if (!frame_of(v, &f) || type < 0 || i >= f.n)
        s = hd_fail(
            ctx, HD_INVALID,
            "input %s takes %s%s; an image wants [N,C,H,W] or [N,H,W,C] with 1 or 3 channels",
            v->name, hd_onnx_dtype_name(v->dtype), dims);
    if (s == HD_OK) size_of(x, o, &f, &w, &h);
    if (s == HD_OK && (w < f.w || h < f.h))
        s = hd_fail(ctx, HD_INVALID,
                    "--resize %d: gives %d x %d pixels, input %s takes %lld x %lld; want more",
                    o->resize, w, h, v->name, (long long)f.w, (long long)f.h);
    float *p = s == HD_OK ? resized(a, x, w, h) : NULL;
    size_t base = (size_t)i * (size_t)(f.c * f.h * f.w);
    for (int64_t y = 0; p && y < f.h; y++)
        for (int64_t at = 0; at < f.w; at++) {
            const float *pixel = p + ((y + (h - f.h) / 2) * w + at + (w - f.w) / 2) * CHANNELS;
            for (int64_t c = 0; c < f.c; c++) {
                float value = f.c == 1 ? grey(pixel) : pixel[o->bgr ? CHANNELS - 1 - c : c];
                put(data, v, base + (size_t)c * f.of_c + (size_t)y * f.of_y + (size_t)at * f.of_x,
                    ((double)value - (double)o->mean[c]) * (double)o->scale[c]);
            }
        }
    hd_arena_destroy(a);
    return s;
}
