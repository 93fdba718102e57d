/* Resize: one dimension after the other, each by a table that says which values make a result.
 *
 * Coordinates are computed in binary32, as ONNX Runtime does, since a tie of the nearest modes is
 * decided by their last bit; values are summed in double. */
#include <math.h>
#include <string.h>

#include "compiler/ir/resize.h"
#include "cpu_ref/k_rows.h"
#include "runtime/base/num.h"

struct taps { /* result o of a dimension is sum of weight[i] * x[index[i]], first[o] <= i < first[o
                 + 1] */
    int64_t *first, *index;
    double *weight;
    bool *outside; /* tf_crop_and_resize: o lies outside the image */
    size_t n, cap_index, cap_weight;
    bool identity;
};

struct rules { /* attributes */
    const char *coordinates, *mode, *nearest;
    double cubic_a;
    bool exclude_outside, antialias;
};

struct dimension {
    int64_t in, out;
    float scale, length, roi_from, roi_to;
};

static bool same(const char *a, const char *b) {
    return !strcmp(a, b);
}

/* Where result o lies in the input. */
static float source_of(const struct rules *r, const struct dimension *d, int64_t o) {
    float x = (float)o, in = (float)d->in, out = d->length;
    if (same(r->coordinates, "asymmetric")) return x / d->scale;
    if (same(r->coordinates, "align_corners")) return d->out > 1 ? x * (in - 1) / (out - 1) : 0;
    if (same(r->coordinates, "pytorch_half_pixel"))
        return d->out > 1 ? (x + 0.5f) / d->scale - 0.5f : 0;
    if (same(r->coordinates, "tf_half_pixel_for_nn")) return (x + 0.5f) / d->scale;
    if (same(r->coordinates, "half_pixel_symmetric")) {
        float adjustment = (float)d->out / out, center = in / 2;
        return center * (1 - adjustment) + (x + 0.5f) / d->scale - 0.5f;
    }
    if (same(r->coordinates, "tf_crop_and_resize"))
        return d->out > 1
                   ? d->roi_from * (in - 1) + x * (d->roi_to - d->roi_from) * (in - 1) / (out - 1)
                   : 0.5f * (d->roi_from + d->roi_to) * (in - 1);
    return (x + 0.5f) / d->scale - 0.5f; /* half_pixel */
}

static int64_t nearest_of(const struct rules *r, float x) {
    if (same(r->nearest, "floor")) return (int64_t)floorf(x);
    if (same(r->nearest, "ceil")) return (int64_t)ceilf(x);
    if (same(r->nearest, "round_prefer_ceil")) return (int64_t)floorf(x + 0.5f);
    return (int64_t)ceilf(x - 0.5f); /* round_prefer_floor */
}

/* Weight of a value at distance x. */
static double kernel_at(const struct rules *r, double x) {
    double a = r->cubic_a;
    x = fabs(x);
    if (same(r->mode, "linear")) return x < 1 ? 1 - x : 0;
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static void add_tap(struct taps *t, hd_arena *a, int64_t index, double weight) {
    size_t n = t->n++;
    *hd_push(a, t->index, n, t->cap_index) = index;
    n = t->n - 1;
    *hd_push(a, t->weight, n, t->cap_weight) = weight;
}

/* Taps of one result of modes linear and cubic at place x. */
static void weigh(const struct rules *r, const struct dimension *d, float x, struct taps *t,
                  hd_arena *a) {
    double shrink = r->antialias && d->scale < 1 ? (double)d->scale : 1; /* widens the kernel */
    double reach = (same(r->mode, "linear") ? 1 : 2) / shrink, sum = 0;
    size_t begin = t->n;
    for (int64_t i = (int64_t)ceil((double)x - reach); i <= (int64_t)floor((double)x + reach);
         i++) {
        double w = kernel_at(r, ((double)i - (double)x) * shrink);
        bool inside = i >= 0 && i < d->in;
        if (w == 0 || (r->exclude_outside && !inside)) continue;
        add_tap(t, a, hd_min(hd_max(i, 0), d->in - 1), w);
        sum += w;
    }
    if (r->exclude_outside || shrink < 1)
        for (size_t i = begin; i < t->n; i++) t->weight[i] /= sum;
}

static struct taps make_taps(const struct rules *r, const struct dimension *d, hd_arena *a) {
    struct taps t = {.first = hd_new_array(a, int64_t, (size_t)d->out + 1),
                     .outside = hd_new_array(a, bool, (size_t)d->out + 1),
                     .identity = d->in == d->out};
    bool crop = same(r->coordinates, "tf_crop_and_resize");
    for (int64_t o = 0; o < d->out; o++) {
        /* the limit keeps a far region of interest from overflowing; all beyond the edge is alike
         */
        float x = fminf(fmaxf(source_of(r, d, o), -0x1p30f), 0x1p30f);
        t.first[o] = (int64_t)t.n;
        t.outside[o] = crop && (x < 0 || x > (float)(d->in - 1));
        if (same(r->mode, "nearest"))
            add_tap(&t, a, hd_min(hd_max(nearest_of(r, x), 0), d->in - 1), 1);
        else
            weigh(r, d, x, &t, a);
        bool kept = (int64_t)t.n == t.first[o] + 1 && t.index[t.n - 1] == o;
        t.identity = t.identity && kept && !t.outside[o];
    }
    t.first[d->out] = (int64_t)t.n;
    return t;
}

/* x [outer,in,inner] -> y [outer,out,inner] */
static void apply(const struct taps *t, const double *x, int64_t outer, int64_t in, int64_t out,
                  int64_t inner, double *y) {
    memset(y, 0, (size_t)(outer * out * inner) * sizeof *y);
    for (int64_t b = 0; b < outer; b++)
        for (int64_t o = 0; o < out; o++)
            for (int64_t i = t->first[o]; i < t->first[o + 1]; i++) {
                const double *from = x + (b * in + t->index[i]) * inner;
                double *to = y + (b * out + o) * inner;
                for (int64_t j = 0; j < inner; j++) to[j] += t->weight[i] * from[j];
            }
}

static struct rules rules_of(const struct hd_node *n) {
    return (struct rules){hd_attr_string(n, "coordinate_transformation_mode", "half_pixel"),
                          hd_attr_string(n, "mode", "nearest"),
                          hd_attr_string(n, "nearest_mode", "round_prefer_floor"),
                          (double)hd_attr_float(n, "cubic_coeff_a", -0.75f),
                          hd_attr_int(n, "exclude_outside", 0) != 0,
                          hd_attr_int(n, "antialias", 0) != 0};
}

/* Every mode takes whole values from one place: any type, copied. */
static void copy_nearest(const struct hd_kernel *k, const struct taps *t) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    size_t bytes = hd_dtype_bytes(y->dtype);
    int64_t at[HD_MAX_RANK];
    for (int64_t i = 0, n = hd_tensor_elems(y); i < n; i++) {
        int64_t from = 0;
        hd_k_unravel(i, y, at);
        for (int d = 0; d < y->rank; d++) from = from * x->dim[d] + t[d].index[at[d]];
        memcpy((char *)k->out + (size_t)i * bytes, (const char *)k->in[0] + (size_t)from * bytes,
               bytes);
    }
}

static void interpolate(const struct hd_kernel *k, const struct hd_resize *g,
                        const struct taps *t) {
    double *x = hd_k_doubles(k, 0);
    int64_t dim[HD_MAX_RANK];
    memcpy(dim, g->in, sizeof dim);
    for (int d = 0; d < g->rank; d++) {
        if (t[d].identity) continue;
        int64_t outer = 1, inner = 1;
        for (int i = 0; i < d; i++) outer *= dim[i];
        for (int i = d + 1; i < g->rank; i++) inner *= dim[i];
        double *y = hd_new_array(k->arena, double, (size_t)(outer * g->out[d] * inner) + 1);
        apply(&t[d], x, outer, g->in[d], g->out[d], inner, y);
        dim[d] = g->out[d];
        x = y;
    }
    hd_k_store(k, 0, x);
}

/* Results outside the image become extrapolation_value. */
static void extrapolate(const struct hd_kernel *k, const struct taps *t) {
    const struct hd_tensor *y = hd_k_out(k);
    double value = (double)hd_attr_float(k->n, "extrapolation_value", 0);
    int64_t at[HD_MAX_RANK];
    for (int64_t i = 0, n = hd_tensor_elems(y); i < n; i++) {
        bool outside = false;
        hd_k_unravel(i, y, at);
        for (int d = 0; d < y->rank; d++) outside = outside || t[d].outside[at[d]];
        if (outside) hd_k_put_f64(k->out, y->dtype, i, value);
    }
}

hd_status hd_resize_places(hd_ctx *ctx, hd_arena *a, const struct hd_node *n,
                           const struct hd_tensor *x, const float *scales, int64_t n_scales,
                           const int64_t *sizes, int64_t n_sizes, const int64_t **out) {
    struct rules r = rules_of(n);
    struct hd_resize g;
    TRY(hd_resize_get(ctx, n, x, scales, n_scales, sizes, n_sizes, &g));
    for (int d = 0; d < g.rank; d++) {
        struct dimension dim = {g.in[d], g.out[d], g.scale[d], g.length[d], 0, 1};
        out[d] = make_taps(&r, &dim, a).index;
    }
    return HD_OK;
}

/* x, roi?, scales?, sizes?.  Source: ONNX Resize-19. */
hd_status k_resize(const struct hd_kernel *k) {
    const struct hd_tensor *roi = hd_k_in(k, 1), *scales = hd_k_in(k, 2), *sizes = hd_k_in(k, 3);
    struct rules r = rules_of(k->n);
    struct hd_resize g;
    struct taps t[HD_MAX_RANK];
    float from[HD_MAX_RANK], to[HD_MAX_RANK];
    TRY(hd_resize_get(k->ctx, k->n, hd_k_in(k, 0), hd_k_in_data(k, 2),
                      scales ? hd_tensor_elems(scales) : 0, hd_k_in_data(k, 3),
                      sizes ? hd_tensor_elems(sizes) : 0, &g));
    bool crop = same(r.coordinates, "tf_crop_and_resize");
    for (int d = 0; d < g.rank; d++) from[d] = 0, to[d] = 1;
    for (int i = 0; crop && i < g.n_axes; i++) {
        from[g.axes[i]] = (float)hd_k_f64(k->in[1], roi->dtype, i);
        to[g.axes[i]] = (float)hd_k_f64(k->in[1], roi->dtype, i + g.n_axes);
    }
    for (int d = 0; d < g.rank; d++) {
        struct dimension dim = {g.in[d], g.out[d], g.scale[d], g.length[d], from[d], to[d]};
        t[d] = make_taps(&r, &dim, k->arena);
    }
    if (same(r.mode, "nearest"))
        copy_nearest(k, t);
    else
        interpolate(k, &g, t);
    if (crop) extrapolate(k, t);
    return HD_OK;
}

/* Linear, rows first: v = (x[p] - x_zp) * a0 + (x[p'] - x_zp) * a1, y = requant(v[q] * b0 + v[q'] *
 * b1), each step in binary32; p' = p + 1, but the last row has none behind it.  docs/numerics.md */
hd_status k_qresize(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    const int32_t *row = k->in[1], *col = k->in[3];
    const float *a = k->in[2], *b = k->in[4];
    bool flat = x->rank == 3, u8 = y->dtype == HD_U8;
    int64_t h = flat ? 1 : x->dim[2], w = x->dim[x->rank - 1], oh = flat ? 1 : y->dim[2],
            ow = y->dim[y->rank - 1];
    int32_t x_zp = (int32_t)hd_attr_int(k->n, "x_zp", 0),
            zp = (int32_t)hd_attr_int(k->n, "y_zp", 0);
    int32_t lo = (int32_t)hd_attr_int(k->n, "lo", u8 ? 0 : -128),
            hi = (int32_t)hd_attr_int(k->n, "hi", u8 ? 255 : 127);
    float *v = hd_new_array(k->arena, float, (size_t)w + 1);
    uint8_t *out = k->out;
    for (int64_t i = 0; i < oh + ow; i++) { /* operands of a run have not been looked at */
        int32_t at = i < oh ? row[i] : col[i - oh];
        if (at < 0 || at >= (i < oh ? h : w))
            return hd_fail(k->ctx, HD_INVALID, "node '%s' (qresize): place %d, there are %lld",
                           k->n->name, at, (long long)(i < oh ? h : w));
    }
    for (int64_t plane = 0; plane < x->dim[0] * x->dim[1]; plane++)
        for (int64_t i = 0; i < oh; i++) {
            int64_t p = (plane * h + row[i]) * w, q = (plane * h + hd_min(row[i] + 1, h - 1)) * w;
            for (int64_t c = 0; c < w; c++) {
                float f = (float)((int32_t)hd_k_i64(k->in[0], x->dtype, p + c) - x_zp) * a[2 * i];
                float g =
                    (float)((int32_t)hd_k_i64(k->in[0], x->dtype, q + c) - x_zp) * a[2 * i + 1];
                v[c] = f + g;
            }
            for (int64_t j = 0; j < ow; j++) {
                float f = v[col[j]] * b[2 * j], g = v[hd_min(col[j] + 1, w - 1)] * b[2 * j + 1];
                out[(plane * oh + i) * ow + j] = (uint8_t)hd_requant(f + g, zp, lo, hi);
            }
        }
    return HD_OK;
}
