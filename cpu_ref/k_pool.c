/* Pooling over any number of dimensions: maximum, average, p-norm; integer forms; unpooling. */
#include <math.h>
#include <string.h>

#include "cpu_ref/k_rows.h"
#include "cpu_ref/k_spans.h"
#include "runtime/base/num.h"

struct plane { /* of results */
    double *value;
    int64_t *at;     /* maximum: where in the plane of x */
    int64_t *inside; /* taps inside the image; 0 = the window is all padding */
    int64_t *padded; /* taps inside image or padding: fewer than the kernel with ceil_mode */
};

enum pool { MAX, SUM, POWER };

/* value: the maximum, the sum, or the sum of |x|^p, over the window of each position. */
static void pool_plane(const struct hd_spans *s, const double *x, enum pool kind, double p,
                       struct plane *y) {
    for (int64_t i = 0; i < s->n_small; i++) {
        y->value[i] = kind == MAX ? -INFINITY : 0;
        y->at[i] = y->inside[i] = 0;
    }
    for (int64_t j = 0; j < s->first[s->n_taps]; j++)
        for (int64_t i = 0; i < s->span[j].n; i++) {
            int64_t o = s->span[j].small + i, at = s->span[j].big + i * s->stride;
            double v = x[at], old = y->value[o];
            if (kind == MAX && (v > old || !y->inside[o])) {
                y->value[o] = v;
                y->at[o] = at;
            } else if (kind != MAX) {
                y->value[o] = old + (kind == SUM ? v : pow(fabs(v), p));
            }
            y->inside[o]++;
        }
}

/* Taps per position that do not lie behind the padding. */
static void count_padded(const struct hd_window_nd *v, int64_t *count) {
    int64_t at[HD_MAX_SPATIAL] = {0}, i = 0;
    do {
        count[i] = 1;
        for (int d = 0; d < v->sp; d++) {
            int64_t room = v->before[d] + v->in[d] + v->after[d] - at[d] * v->stride[d];
            count[i] *= hd_min(hd_ceil_div(room, v->dilation[d]), v->kernel[d]);
        }
        i++;
    } while (hd_next_index(at, v->out, v->sp));
}

struct pooling {
    struct hd_window_nd v;
    struct hd_spans s;
    struct plane y;
    double *x;
};

static hd_status open_pool(const struct hd_kernel *k, struct pooling *p) {
    TRY(hd_window_nd_get(k->ctx, k->n, hd_k_in(k, 0), NULL, &p->v));
    hd_spans_make(&p->v, false, k->arena, &p->s);
    size_t n = (size_t)p->s.n_small + 1;
    p->y = (struct plane){hd_new_array(k->arena, double, n), hd_new_array(k->arena, int64_t, n),
                          hd_new_array(k->arena, int64_t, n), hd_new_array(k->arena, int64_t, n)};
    count_padded(&p->v, p->y.padded);
    p->x = hd_new_array(k->arena, double, (size_t)p->s.n_big + 1);
    return HD_OK;
}

static void run_plane(const struct hd_kernel *k, struct pooling *p, int64_t plane, enum pool kind,
                      double power) {
    hd_k_widen(k->in[0], hd_k_in(k, 0)->dtype, plane * p->s.n_big, p->s.n_big, p->x);
    pool_plane(&p->s, p->x, kind, power, &p->y);
}

/* Row-major place in a plane -> the same counted with the first dimension innermost. */
static int64_t column_major(int64_t at, const struct hd_window_nd *v) {
    int64_t index[HD_MAX_SPATIAL] = {0}, out = 0;
    for (int d = v->sp - 1; d >= 0; d--) {
        index[d] = at % v->in[d];
        at /= v->in[d];
    }
    for (int d = v->sp - 1; d >= 0; d--) out = out * v->in[d] + index[d];
    return out;
}

/* x [N,C,in..] -> y [N,C,out..], and where each maximum lies in x, flattened, i64. Padding never
 * wins; the first of equal values does.  Source: ONNX MaxPool-12. */
hd_status k_maxpool(const struct hd_kernel *k) {
    struct pooling p;
    TRY(open_pool(k, &p));
    bool columns = hd_attr_int(k->n, "storage_order", 0) != 0;
    int64_t *where = hd_k_out_data(k, 1);
    for (int64_t plane = 0; plane < p.v.n * p.v.c; plane++) {
        run_plane(k, &p, plane, MAX, 0);
        if (k->out)
            hd_k_narrow(k->out, hd_k_in(k, 0)->dtype, plane * p.s.n_small, p.s.n_small, p.y.value);
        for (int64_t i = 0; where && i < p.s.n_small; i++)
            where[plane * p.s.n_small + i] =
                plane * p.s.n_big + (columns ? column_major(p.y.at[i], &p.v) : p.y.at[i]);
    }
    return HD_OK;
}

/* Mean of the taps inside the image, or with count_include_pad inside image and padding.
 * Source: ONNX AveragePool-19. */
hd_status k_avgpool(const struct hd_kernel *k) {
    struct pooling p;
    TRY(open_pool(k, &p));
    bool with_pads = hd_attr_int(k->n, "count_include_pad", 0) != 0;
    for (int64_t plane = 0; plane < p.v.n * p.v.c; plane++) {
        run_plane(k, &p, plane, SUM, 0);
        for (int64_t i = 0; i < p.s.n_small; i++)
            p.y.value[i] /= (double)(with_pads ? p.y.padded[i] : p.y.inside[i]);
        hd_k_narrow(k->out, hd_k_out(k)->dtype, plane * p.s.n_small, p.s.n_small, p.y.value);
    }
    return HD_OK;
}

/* (sum |x|^p)^(1/p).  Source: ONNX LpPool-18. */
hd_status k_lppool(const struct hd_kernel *k) {
    struct pooling p;
    TRY(open_pool(k, &p));
    double power = (double)hd_attr_int(k->n, "p", 2);
    for (int64_t plane = 0; plane < p.v.n * p.v.c; plane++) {
        run_plane(k, &p, plane, POWER, power);
        for (int64_t i = 0; i < p.s.n_small; i++) p.y.value[i] = pow(p.y.value[i], 1 / power);
        hd_k_narrow(k->out, hd_k_out(k)->dtype, plane * p.s.n_small, p.s.n_small, p.y.value);
    }
    return HD_OK;
}

/* y is zero but for y[indices[i]] = x[i]. Indices count in the flattened tensor that was pooled,
 * which is smaller than y when output_shape asks for more.  Source: ONNX MaxUnpool-11. */
hd_status k_maxunpool(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    const int64_t *at = k->in[1];
    size_t bytes = hd_dtype_bytes(y->dtype);
    int64_t n = hd_tensor_elems(x), n_y = hd_tensor_elems(y), index[HD_MAX_RANK];
    struct hd_window_nd v; /* its result is what was pooled */
    TRY(hd_window_transposed_get(k->ctx, k->n, x, NULL, &v));
    memset(k->out, 0, hd_tensor_bytes(y));
    for (int64_t i = 0; i < n; i++) {
        int64_t from = at[i], to = 0;
        for (int d = x->rank - 1; d >= 2; d--) {
            index[d] = from % v.out[d - 2];
            from /= v.out[d - 2];
        }
        index[1] = x->dim[1] ? from % x->dim[1] : 0;
        index[0] = x->dim[1] ? from / x->dim[1] : 0;
        bool inside = at[i] >= 0;
        for (int d = 0; d < y->rank; d++) {
            inside = inside && index[d] < y->dim[d];
            to = to * y->dim[d] + index[d];
        }
        if (!inside || to >= n_y)
            return hd_fail(k->ctx, HD_INVALID, "indices[%lld] is %lld, the result has %lld values",
                           (long long)i, (long long)at[i], (long long)n_y);
        memcpy((char *)k->out + (size_t)to * bytes, (const char *)k->in[0] + (size_t)i * bytes,
               bytes);
    }
    return HD_OK;
}

struct requant {
    int32_t x_zp, y_zp, lo, hi;
    float scale;
};

static struct requant requant_of(const struct hd_kernel *k) {
    hd_dtype t = hd_k_out(k)->dtype;
    return (struct requant){
        (int32_t)hd_attr_int(k->n, "x_zp", 0), (int32_t)hd_attr_int(k->n, "y_zp", 0),
        (int32_t)hd_attr_int(k->n, "lo", hd_dtype_least(t)),
        (int32_t)hd_attr_int(k->n, "hi", hd_dtype_most(t)), hd_attr_float(k->n, "scale", 1)};
}

/* The maximum is exact; a window that is all padding gives 0.  docs/numerics.md */
hd_status k_qmaxpool(const struct hd_kernel *k) {
    struct pooling p;
    TRY(open_pool(k, &p));
    for (int64_t plane = 0; plane < p.v.n * p.v.c; plane++) {
        run_plane(k, &p, plane, MAX, 0);
        for (int64_t i = 0; i < p.s.n_small; i++)
            if (!p.y.inside[i]) p.y.value[i] = 0;
        hd_k_narrow(k->out, hd_k_out(k)->dtype, plane * p.s.n_small, p.s.n_small, p.y.value);
    }
    return HD_OK;
}

/* y = requant(sum (x - x_zp) * scale), where fewer taps count, the scale grows as many times; sums
 * of bytes are exact in double.  docs/numerics.md */
hd_status k_qavgpool(const struct hd_kernel *k) {
    struct pooling p;
    TRY(open_pool(k, &p));
    struct requant r = requant_of(k);
    bool with_pads = hd_attr_int(k->n, "count_include_pad", 0) != 0;
    int64_t taps = 1;
    for (int d = 0; d < p.v.sp; d++) taps *= p.v.kernel[d];
    for (int64_t plane = 0; plane < p.v.n * p.v.c; plane++) {
        run_plane(k, &p, plane, SUM, 0);
        for (int64_t i = 0; i < p.s.n_small; i++) {
            int32_t sum = (int32_t)((int64_t)p.y.value[i] - r.x_zp * p.y.inside[i]);
            int64_t count = with_pads ? p.y.padded[i] : p.y.inside[i];
            float scale = hd_pool_scale(r.scale, taps, count);
            hd_k_put_q(k->out, hd_k_out(k)->dtype, plane * p.s.n_small + i,
                       hd_requant((float)sum * scale, r.y_zp, r.lo, r.hi));
        }
    }
    return HD_OK;
}

/* Mean of a whole image, in binary32 as ONNX Runtime sums it, since a mean of integers is often a
 * tie that the last bit decides: v = (x - x_zp) * x_scale; four partial sums over elements i, i+4,
 * ..; (P0 + P2) + (P1 + P3); then what is left over, one by one; y = requant(sum * scale).
 * docs/numerics.md */
hd_status k_qmean(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    int64_t count = t->dim[2] * t->dim[3], main_count = count / 4 * 4;
    struct requant r = requant_of(k);
    float x_scale = hd_attr_float(k->n, "x_scale", 1);
    for (int64_t plane = 0; plane < t->dim[0] * t->dim[1]; plane++) {
        float p[4] = {0, 0, 0, 0}, sum;
        int64_t at = plane * count;
        for (int64_t i = 0; i < main_count; i++)
            p[i % 4] += (float)((int32_t)hd_k_i64(k->in[0], t->dtype, at + i) - r.x_zp) * x_scale;
        sum = (p[0] + p[2]) + (p[1] + p[3]);
        for (int64_t i = main_count; i < count; i++)
            sum += (float)((int32_t)hd_k_i64(k->in[0], t->dtype, at + i) - r.x_zp) * x_scale;
        hd_k_put_q(k->out, hd_k_out(k)->dtype, plane,
                   hd_requant(sum * r.scale, r.y_zp, r.lo, r.hi));
    }
    return HD_OK;
}
