/* Sampling and regions of interest: GridSample, RoiAlign, MaxRoiPool, NonMaxSuppression, and
 * TensorFlow Lite's choice of detections. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_ref/k_rows.h"
#include "cpu_ref/k_spans.h"
#include "runtime/base/num.h"

/* ---- GridSample ---- */

enum padding { ZEROS, BORDER, REFLECTION };

struct axis { /* one spatial dimension */
    int64_t size;
    double low, high; /* reflection happens here */
};

static double reflect(double x, const struct axis *a) {
    double range = a->high - a->low;
    if (range <= 0) return a->low < 0 ? 0 : a->low;
    double over = x < a->low ? a->low - x : x > a->high ? x - a->high : 0;
    if (over == 0) return x;
    double turns = floor(over / range), rest = over - turns * range;
    bool from_low = (x < a->low) == (fmod(turns, 2) == 0);
    return from_low ? a->low + rest : a->high - rest;
}

/* Index that a tap at `at` reads; -1 = none, its value is 0. */
static int64_t tap_index(int64_t at, const struct axis *a, enum padding pad) {
    if (at >= 0 && at < a->size) return at;
    if (pad == ZEROS) return -1;
    if (pad == REFLECTION) at = (int64_t)reflect((double)at, a);
    return hd_min(hd_max(at, 0), a->size - 1);
}

struct axis_taps {
    int64_t n, index[4];
    double weight[4];
};

static void cubic_weights(double t, double *w) {
    const double a = -0.75;
    w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
    w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    w[2] = ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1;
    w[3] = ((a * (2 - t) - 5 * a) * (2 - t) + 8 * a) * (2 - t) - 4 * a;
}

static struct axis_taps place(double grid, const struct axis *a, bool align, enum padding pad,
                              const char *mode) {
    struct axis_taps t = {.n = 1, .weight = {1}};
    bool nearest = !strcmp(mode, "nearest"), linear = !strcmp(mode, "linear");
    double x =
        align ? (grid + 1) / 2 * (double)(a->size - 1) : ((grid + 1) * (double)a->size - 1) / 2;
    if (!(fabs(x) < 0x1p40)) x = -0x1p40; /* NaN and infinity: far outside */
    if (nearest) x = rint(x);
    if (x < a->low || x > a->high) {
        if (pad == BORDER) x = fmin(fmax(x, 0), (double)(a->size - 1));
        if (pad == REFLECTION) x = reflect(x, a);
    }
    int64_t base = (int64_t)floor(x);
    double part = x - (double)base;
    if (linear) {
        t.n = 2;
        t.weight[0] = 1 - part;
        t.weight[1] = part;
    } else if (!nearest) {
        t.n = 4;
        base--;
        cubic_weights(part, t.weight);
    }
    for (int i = 0; i < t.n; i++) t.index[i] = tap_index(base + i, a, pad);
    return t;
}

/* x [N,C,in..]  grid [N,out..,sp], last index first (x, y, ..), -1..1 over the image
 * y [N,C,out..].  Source: ONNX GridSample-20. */
hd_status k_gridsample(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *gt = hd_k_in(k, 1), *y = hd_k_out(k);
    const char *mode = hd_attr_string(k->n, "mode", "linear");
    const char *padding = hd_attr_string(k->n, "padding_mode", "zeros");
    bool align = hd_attr_int(k->n, "align_corners", 0) != 0;
    enum padding pad = !strcmp(padding, "border")       ? BORDER
                       : !strcmp(padding, "reflection") ? REFLECTION
                                                        : ZEROS;
    const double *v = hd_k_doubles(k, 0), *grid = hd_k_doubles(k, 1);
    int sp = x->rank - 2;
    struct axis axes[HD_MAX_SPATIAL];
    struct axis_taps taps[HD_MAX_SPATIAL];
    int64_t plane = 1, places = 1, counts[HD_MAX_SPATIAL];
    for (int d = 0; d < sp; d++) {
        double n = (double)x->dim[d + 2];
        axes[d] = (struct axis){x->dim[d + 2], align ? 0 : -0.5, align ? n - 1 : n - 0.5};
        plane *= x->dim[d + 2];
        places *= y->dim[d + 2];
    }
    for (int64_t n = 0; n < x->dim[0]; n++)
        for (int64_t p = 0; p < places; p++) {
            for (int d = 0; d < sp; d++) {
                double g = grid[(n * places + p) * gt->dim[gt->rank - 1] + sp - 1 - d];
                taps[d] = place(g, &axes[d], align, pad, mode);
                counts[d] = taps[d].n;
            }
            for (int64_t c = 0; c < x->dim[1]; c++) {
                int64_t at[HD_MAX_SPATIAL] = {0};
                double sum = 0;
                do {
                    double w = 1;
                    int64_t from = 0;
                    bool inside = true;
                    for (int d = 0; d < sp; d++) {
                        w *= taps[d].weight[at[d]];
                        inside = inside && taps[d].index[at[d]] >= 0;
                        from = from * axes[d].size + taps[d].index[at[d]];
                    }
                    if (inside) sum += w * v[(n * x->dim[1] + c) * plane + from];
                } while (hd_next_index(at, counts, sp));
                hd_k_put_f64(k->out, y->dtype, (n * x->dim[1] + c) * places + p, sum);
            }
        }
    return HD_OK;
}

/* ---- RoiAlign ---- */

struct samples { /* along one dimension of one bin: start + (i + 0.5) * step, 0 <= i < n */
    double start, step;
    int64_t n, first, last; /* those in first .. last - 1 may touch the image */
};

static struct samples samples_of(double start, double bin, int64_t n, int64_t size) {
    struct samples s = {start, n ? bin / (double)n : 0, n, 0, n};
    if (s.step <= 0) return s;
    double from = floor((-1 - start) / s.step - 1.5),
           to = ceil(((double)size - start) / s.step + 1.5);
    s.first = (int64_t)fmin(fmax(from, 0), (double)n);
    s.last = (int64_t)fmin(fmax(to, 0), (double)n);
    return s;
}

struct between { /* two indexes and the weight of the second */
    int64_t low, high;
    double part;
};

static bool between(double x, int64_t size, struct between *out) {
    if (!(x >= -1 && x <= (double)size)) return false;
    x = fmax(x, 0);
    int64_t low = (int64_t)x;
    if (low >= size - 1) {
        *out = (struct between){size - 1, size - 1, 0};
        return true;
    }
    *out = (struct between){low, low + 1, x - (double)low};
    return true;
}

/* One bin of one channel. As in ONNX's own reference, `max` is over the weighted corners. */
static double sample_bin(const double *x, int64_t h, int64_t w, const struct samples *sy,
                         const struct samples *sx, bool max) {
    double sum = 0, most = 0;
    int64_t seen = 0;
    struct between a, b;
    for (int64_t i = sy->first; i < sy->last; i++) {
        if (!between(sy->start + ((double)i + 0.5) * sy->step, h, &a)) continue;
        for (int64_t j = sx->first; j < sx->last; j++) {
            if (!between(sx->start + ((double)j + 0.5) * sx->step, w, &b)) continue;
            double v[4] = {(1 - a.part) * (1 - b.part) * x[a.low * w + b.low],
                           (1 - a.part) * b.part * x[a.low * w + b.high],
                           a.part * (1 - b.part) * x[a.high * w + b.low],
                           a.part * b.part * x[a.high * w + b.high]};
            double top = fmax(fmax(v[0], v[1]), fmax(v[2], v[3]));
            sum += v[0] + v[1] + v[2] + v[3];
            most = seen++ ? fmax(most, top) : top;
        }
    }
    double all = (double)sy->n * (double)sx->n;
    if (max) return (double)seen < all ? fmax(most, 0) : most; /* samples outside are 0 */
    return sum / fmax(all, 1);
}

/* x [N,C,H,W]  rois [R,4] (x1, y1, x2, y2)  batch_indices i64 [R]  y [R,C,PH,PW].
 * Source: ONNX RoiAlign-16. */
hd_status k_roialign(const struct hd_kernel *k) {
    const struct hd_tensor *xt = hd_k_in(k, 0), *y = hd_k_out(k);
    const double *x = hd_k_doubles(k, 0), *rois = hd_k_doubles(k, 1);
    int64_t c_all = xt->dim[1], h = xt->dim[2], w = xt->dim[3], ph = y->dim[2], pw = y->dim[3];
    int64_t ratio = hd_attr_int(k->n, "sampling_ratio", 0), at = 0;
    double scale = (double)hd_attr_float(k->n, "spatial_scale", 1);
    bool max = !strcmp(hd_attr_string(k->n, "mode", "avg"), "max");
    bool half =
        !strcmp(hd_attr_string(k->n, "coordinate_transformation_mode", "half_pixel"), "half_pixel");
    for (int64_t r = 0; r < y->dim[0]; r++) {
        int64_t image = hd_k_i64(k->in[2], hd_k_in(k, 2)->dtype, r);
        if (image < 0 || image >= xt->dim[0])
            return hd_fail(k->ctx, HD_INVALID, "batch_indices[%lld] is %lld, allowed 0..%lld",
                           (long long)r, (long long)image, (long long)xt->dim[0] - 1);
        double from[2], size[2]; /* y, x */
        for (int d = 0; d < 2; d++) {
            from[d] = rois[r * 4 + 1 - d] * scale - (half ? 0.5 : 0);
            size[d] = rois[r * 4 + 3 - d] * scale - (half ? 0.5 : 0) - from[d];
            if (!half) size[d] = fmax(size[d], 1);
            if (!(fabs(from[d]) < 0x1p40 && fabs(size[d]) < 0x1p40))
                return hd_fail(k->ctx, HD_INVALID, "rois[%lld] is not finite, or far too large",
                               (long long)r);
        }
        double bin[2] = {size[0] / (double)ph, size[1] / (double)pw};
        int64_t n[2];
        for (int d = 0; d < 2; d++) n[d] = ratio > 0 ? ratio : hd_max((int64_t)ceil(bin[d]), 0);
        for (int64_t c = 0; c < c_all; c++)
            for (int64_t i = 0; i < ph; i++)
                for (int64_t j = 0; j < pw; j++) {
                    struct samples sy = samples_of(from[0] + (double)i * bin[0], bin[0], n[0], h);
                    struct samples sx = samples_of(from[1] + (double)j * bin[1], bin[1], n[1], w);
                    double v = sample_bin(x + (image * c_all + c) * h * w, h, w, &sy, &sx, max);
                    hd_k_put_f64(k->out, y->dtype, at++, v);
                }
    }
    return HD_OK;
}

/* ---- MaxRoiPool ---- */

/* First and last value (exclusive) of bin i. */
static void bin_range(double start, double bin, int64_t i, int64_t size, int64_t *from,
                      int64_t *to) {
    *from = (int64_t)fmin(fmax(floor((double)i * bin) + start, 0), (double)size);
    *to = (int64_t)fmin(fmax(ceil((double)(i + 1) * bin) + start, 0), (double)size);
}

/* x [N,C,H,W]  rois [R,5] (image, x1, y1, x2, y2)  y [R,C,PH,PW]; an empty bin is 0.
 * Source: ONNX MaxRoiPool-1. */
hd_status k_maxroipool(const struct hd_kernel *k) {
    const struct hd_tensor *xt = hd_k_in(k, 0), *y = hd_k_out(k);
    const double *x = hd_k_doubles(k, 0), *rois = hd_k_doubles(k, 1);
    int64_t c_all = xt->dim[1], h = xt->dim[2], w = xt->dim[3], at = 0;
    double scale = (double)hd_attr_float(k->n, "spatial_scale", 1);
    for (int64_t r = 0; r < y->dim[0]; r++) {
        const double *roi = rois + r * 5;
        if (!(roi[0] >= 0 && roi[0] < (double)xt->dim[0]))
            return hd_fail(k->ctx, HD_INVALID, "rois[%lld] is of image %g, allowed 0..%lld",
                           (long long)r, roi[0], (long long)xt->dim[0] - 1);
        double x1 = round(roi[1] * scale), y1 = round(roi[2] * scale);
        double bin_h = fmax(round(roi[4] * scale) - y1 + 1, 1) / (double)y->dim[2];
        double bin_w = fmax(round(roi[3] * scale) - x1 + 1, 1) / (double)y->dim[3];
        for (int64_t c = 0; c < c_all; c++)
            for (int64_t i = 0; i < y->dim[2]; i++)
                for (int64_t j = 0; j < y->dim[3]; j++) {
                    const double *plane = x + ((int64_t)roi[0] * c_all + c) * h * w;
                    int64_t top, bottom, left, right;
                    double most = -INFINITY;
                    bin_range(y1, bin_h, i, h, &top, &bottom);
                    bin_range(x1, bin_w, j, w, &left, &right);
                    for (int64_t q = top; q < bottom; q++)
                        for (int64_t p = left; p < right; p++) most = fmax(most, plane[q * w + p]);
                    bool empty = bottom <= top || right <= left;
                    hd_k_put_f64(k->out, y->dtype, at++, empty ? 0 : most);
                }
    }
    return HD_OK;
}

/* ---- NonMaxSuppression ---- */

struct box {
    float x1, y1, x2, y2; /* ordered */
};

struct scored {
    float score;
    int64_t index;
};

static int by_score(const void *pa, const void *pb) {
    const struct scored *a = pa, *b = pb;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static struct box box_of(const float *v, bool center) {
    if (center) /* x, y, width, height */
        return (struct box){v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2};
    return (struct box){fminf(v[1], v[3]), fminf(v[0], v[2]), fmaxf(v[1], v[3]), fmaxf(v[0], v[2])};
}

/* Intersection over union above the limit, in binary32 as ONNX Runtime has it. */
static bool overlap(const struct box *a, const struct box *b, float limit) {
    float w = fminf(a->x2, b->x2) - fmaxf(a->x1, b->x1);
    float h = fminf(a->y2, b->y2) - fmaxf(a->y1, b->y1);
    if (!(w > 0 && h > 0)) return false;
    float area_a = (a->x2 - a->x1) * (a->y2 - a->y1), area_b = (b->x2 - b->x1) * (b->y2 - b->y1);
    float both = w * h, either = area_a + area_b - both;
    return area_a > 0 && area_b > 0 && either > 0 && both / either > limit;
}

struct nms {
    bool center, has_limit; /* has_limit: there is a score threshold */
    float iou, score;
    int64_t most;
};

/* Indexes of the boxes that stay, best first; returns how many. */
static int64_t suppress(const struct nms *p, const float *boxes, const float *scores, int64_t n,
                        struct scored *order, int64_t *kept) {
    int64_t n_order = 0, n_kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (scores[i] == scores[i] && (!p->has_limit || scores[i] > p->score))
            order[n_order++] = (struct scored){scores[i], i};
    qsort(order, (size_t)n_order, sizeof *order, by_score);
    for (int64_t i = 0; i < n_order && n_kept < p->most; i++) {
        struct box a = box_of(boxes + 4 * order[i].index, p->center);
        bool free_of = true;
        for (int64_t j = 0; free_of && j < n_kept; j++) {
            struct box b = box_of(boxes + 4 * kept[j], p->center);
            free_of = !overlap(&a, &b, p->iou);
        }
        if (free_of) kept[n_kept++] = order[i].index;
    }
    return n_kept;
}

/* boxes [B,N,4], scores [B,C,N] -> i64 [K,3]: batch, class, box.
 * Source: ONNX NonMaxSuppression-11. */
hd_status k_nonmaxsuppression(const struct hd_kernel *k) {
    const struct hd_tensor *s = hd_k_in(k, 1);
    const float *boxes = k->in[0], *scores = k->in[1];
    const int64_t *most = hd_k_in_data(k, 2);
    const float *iou = hd_k_in_data(k, 3), *limit = hd_k_in_data(k, 4);
    struct nms p = {hd_attr_int(k->n, "center_point_box", 0) != 0, limit != NULL, iou ? iou[0] : 0,
                    limit ? limit[0] : 0, most ? most[0] : 0};
    int64_t b_all = s->dim[0], c_all = s->dim[1], n = s->dim[2], n_found = 0;
    struct scored *order = hd_new_array(k->arena, struct scored, (size_t)n + 1);
    int64_t *kept = hd_new_array(k->arena, int64_t, (size_t)n + 1), *found = NULL;
    size_t cap = 0;
    for (int64_t q = 0; q < b_all * c_all; q++) {
        int64_t got = suppress(&p, boxes + q / c_all * n * 4, scores + q * n, n, order, kept);
        for (int64_t i = 0; i < got; i++) {
            found = hd_grow(k->arena, found, &cap, (size_t)(n_found + 1) * 3, sizeof *found);
            found[n_found * 3] = q / c_all;
            found[n_found * 3 + 1] = q % c_all;
            found[n_found++ * 3 + 2] = kept[i];
        }
    }
    void *out = NULL;
    TRY(hd_k_result(k, 0, HD_I64, 2, (int64_t[]){n_found, 3}, &out));
    if (out && n_found) memcpy(out, found, (size_t)n_found * 3 * sizeof *found);
    return HD_OK;
}

/* ---- detections ---- */

struct detections {
    const struct hd_kernel *k;
    struct nms nms;
    int64_t n, columns, classes, background; /* boxes; scores of each; the first is no class */
    float *box;                              /* [N,4]: corners */
    struct scored *order;                    /* room for suppress() */
    int64_t *kept;
};

/* Corners y, x, y, x, from centers and sizes relative to anchors; steps in binary64, as TensorFlow
 * Lite has them. */
static void decode(struct detections *d) {
    const float *anchor = d->k->in[2];
    static const char *const name[4] = {"y_scale", "x_scale", "h_scale", "w_scale"};
    int64_t wide = hd_k_in(d->k, 0)->dim[2];
    double scale[4];
    for (int c = 0; c < 4; c++) scale[c] = (double)hd_attr_float(d->k->n, name[c], 1);
    for (int64_t i = 0; i < d->n; i++) {
        const float *e = (const float *)d->k->in[0] + i * wide, *a = anchor + 4 * i;
        for (int c = 0; c < 2; c++) {
            float center = (float)((double)e[c] / scale[c] * (double)a[2 + c] + (double)a[c]),
                  half = (float)(0.5 * exp((double)e[2 + c] / scale[2 + c]) * (double)a[2 + c]);
            d->box[4 * i + c] = center - half, d->box[4 * i + 2 + c] = center + half;
        }
    }
}

static float score_of(const struct detections *d, int64_t box, int64_t class) {
    return ((const float *)d->k->in[1])[box * d->columns + d->background + class];
}

/* NULL: nobody wants it. */
static float *result(const struct hd_kernel *k, int i) {
    return i < k->n->n_out ? k->outs[i] : NULL;
}

static void put_detection(const struct detections *d, int64_t at, int64_t box, int64_t class) {
    float *boxes = result(d->k, 0), *classes = result(d->k, 1), *scores = result(d->k, 2);
    if (boxes) memcpy(boxes + 4 * at, d->box + 4 * box, 4 * sizeof *boxes);
    if (classes) classes[at] = (float)class;
    if (scores) scores[at] = score_of(d, box, class);
}

/* Each box by its best class, and then its `each` best classes. */
static int64_t detect_fast(struct detections *d, int64_t each) {
    float *best = hd_new_array(d->k->arena, float, (size_t)d->n + 1);
    struct scored *class = hd_new_array(d->k->arena, struct scored, (size_t)d->classes + 1);
    for (int64_t i = 0; i < d->n; i++) {
        best[i] = score_of(d, i, 0);
        for (int64_t c = 1; c < d->classes; c++) best[i] = fmaxf(best[i], score_of(d, i, c));
    }
    int64_t got = suppress(&d->nms, d->box, best, d->n, d->order, d->kept);
    for (int64_t i = 0; i < got; i++) {
        for (int64_t c = 0; c < d->classes; c++)
            class[c] = (struct scored){score_of(d, d->kept[i], c), c};
        qsort(class, (size_t)d->classes, sizeof *class, by_score);
        for (int64_t c = 0; c < each && c < d->classes; c++)
            put_detection(d, i * each + c, d->kept[i], class[c].index);
    }
    return got;
}

/* Each class by itself, and the best of all. */
static int64_t detect_by_class(struct detections *d, int64_t most) {
    float *one = hd_new_array(d->k->arena, float, (size_t)d->n + 1);
    struct scored *all = NULL;
    size_t cap = 0, n = 0;
    for (int64_t c = 0; c < d->classes; c++) {
        for (int64_t i = 0; i < d->n; i++) one[i] = score_of(d, i, c);
        int64_t got = suppress(&d->nms, d->box, one, d->n, d->order, d->kept);
        all = hd_grow(d->k->arena, all, &cap, n + (size_t)got + 1, sizeof *all);
        for (int64_t i = 0; i < got; i++)
            all[n++] = (struct scored){one[d->kept[i]], c * d->n + d->kept[i]};
    }
    if (n) qsort(all, n, sizeof *all, by_score);
    if ((int64_t)n > most) n = (size_t)most;
    for (size_t i = 0; i < n; i++)
        put_detection(d, (int64_t)i, all[i].index % d->n, all[i].index / d->n);
    return (int64_t)n;
}

/* Places behind the last detection are 0.
 * Source: TensorFlow Lite, custom operation TFLite_Detection_PostProcess. */
hd_status k_detections(const struct hd_kernel *k) {
    const struct hd_node *node = k->n;
    const struct hd_tensor *s = hd_k_in(k, 1);
    int64_t most = hd_attr_int(node, "max_detections", 1), n = s->dim[1],
            each = hd_attr_int(node, "max_classes_per_detection", 1);
    bool regular = hd_attr_int(node, "use_regular_nms", 0) != 0;
    struct detections d = {
        .k = k,
        .nms = {.has_limit = true,
                .iou = hd_attr_float(node, "nms_iou_threshold", 1),
                .most = regular ? hd_attr_int(node, "detections_per_class", 100) : most},
        .n = n,
        .columns = s->dim[2],
        .classes = hd_attr_int(node, "num_classes", s->dim[2])};
    d.nms.score = nextafterf(hd_attr_float(node, "nms_score_threshold", 0), -INFINITY);
    d.background = d.columns - d.classes;
    d.box = hd_new_array(k->arena, float, (size_t)n * 4 + 1);
    d.order = hd_new_array(k->arena, struct scored, (size_t)n + 1);
    d.kept = hd_new_array(k->arena, int64_t, (size_t)n + 1);
    decode(&d);
    for (int o = 0; o < 3; o++)
        if (result(k, o)) memset(result(k, o), 0, hd_tensor_bytes(hd_k_out_n(k, o)));
    int64_t found = regular ? detect_by_class(&d, most) : detect_fast(&d, each);
    if (result(k, 3)) *result(k, 3) = (float)found;
    return HD_OK;
}
