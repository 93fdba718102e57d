/* Reductions over axes, positions of extremes, running sums, softmax and its kin. */
#include <math.h>
#include <string.h>

#include "compiler/ir/move.h"
#include "cpu_ref/kernels.h"
#include "cpu_ref/walk.h"

enum kind { SUM, MEAN, MAX, MIN, PROD, L1, L2, LOGSUM, LOGSUMEXP, SUMSQUARE };

/* A walk over the elements that one result is made of. */
struct group {
    const void *x;
    hd_dtype t;
    int64_t base, n; /* index of the first element, number of elements */
    struct hd_walk w;
};

static double fold_f64(struct group *g, enum kind kind) {
    double max = 0, acc = kind == PROD ? 1 : kind == MAX ? -INFINITY : kind == MIN ? INFINITY : 0;
    if (kind == LOGSUMEXP) max = fold_f64(g, MAX); /* so that exp does not overflow */
    if (kind == LOGSUMEXP && isinf(max)) return max;
    for (int64_t i = 0; i < g->n; i++, hd_walk_next(&g->w)) {
        double v = hd_k_f64(g->x, g->t, g->base + g->w.index[0]);
        switch (kind) {
        case PROD:
            acc *= v;
            break;
        case MAX:
            if (v > acc || v != v) acc = v;
            break;
        case MIN:
            if (v < acc || v != v) acc = v;
            break;
        case L1:
            acc += fabs(v);
            break;
        case L2:
        case SUMSQUARE:
            acc += v * v;
            break;
        case LOGSUMEXP:
            acc += exp(v - max);
            break;
        default:
            acc += v;
        }
    }
    if (kind == MEAN) return acc / (double)g->n;
    if (kind == L2) return sqrt(acc);
    if (kind == LOGSUM) return log(acc);
    return kind == LOGSUMEXP ? max + log(acc) : acc;
}

/* Integers: sums and products wrap; a mean is cut off towards zero. */
static int64_t fold_i64(struct group *g, enum kind kind) {
    uint64_t acc = kind == PROD;
    int64_t best = 0, key = 0;
    for (int64_t i = 0; i < g->n; i++, hd_walk_next(&g->w)) {
        int64_t at = g->base + g->w.index[0], v = hd_k_i64(g->x, g->t, at);
        if (kind == MAX || kind == MIN) {
            int64_t mine = hd_k_key(g->x, g->t, at);
            if (i == 0 || (kind == MAX ? mine > key : mine < key)) best = v, key = mine;
        } else if (kind == PROD) {
            acc *= (uint64_t)v;
        } else if (kind == SUMSQUARE) {
            acc += (uint64_t)v * (uint64_t)v;
        } else {
            acc += kind == L1 && v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
        }
    }
    if (kind == MAX || kind == MIN) return best;
    if (kind != MEAN || g->n == 0) return (int64_t)acc;
    return g->t == HD_U64 ? (int64_t)(acc / (uint64_t)g->n) : (int64_t)acc / g->n;
}

static hd_status reduce(const struct hd_kernel *k, enum kind kind) {
    const struct hd_tensor *x = hd_k_in(k, 0), *y = hd_k_out(k);
    int64_t axes[HD_MAX_RANK], dense[HD_MAX_RANK], kept[HD_MAX_RANK], over[HD_MAX_RANK];
    int64_t kept_stride[HD_MAX_RANK], over_stride[HD_MAX_RANK], n = hd_tensor_elems(y);
    int n_kept = 0, n_over = 0, n_axes = hd_k_ints(k, 1, axes, HD_MAX_RANK);
    bool none = !n_axes && hd_attr_int(k->n, "noop_with_empty_axes", 0);
    unsigned set = none ? 0 : n_axes ? hd_axes_set(x->rank, n_axes, axes) : ~0u;
    hd_walk_dense(x->rank, x->dim, dense);
    for (int d = 0; d < x->rank; d++)
        if (set >> d & 1) {
            over[n_over] = x->dim[d], over_stride[n_over++] = dense[d];
        } else {
            kept[n_kept] = x->dim[d], kept_stride[n_kept++] = dense[d];
        }
    struct group g = {.x = k->in[0], .t = x->dtype, .n = 1};
    for (int d = 0; d < n_over; d++) g.n *= over[d];
    struct hd_walk w;
    hd_walk_init(&w, n_kept, kept);
    hd_walk_strides(&w, 0, 0, kept_stride);
    hd_walk_init(&g.w, n_over, over);
    hd_walk_strides(&g.w, 0, 0, over_stride);
    bool whole = x->dtype != HD_F32 && x->dtype != HD_F64 && kind != L2 && kind != LOGSUM &&
                 kind != LOGSUMEXP;
    for (int64_t i = 0; i < n; i++, hd_walk_next(&w)) {
        g.base = w.index[0];
        if (whole)
            hd_k_put_i64(k->out, y->dtype, i, fold_i64(&g, kind));
        else
            hd_k_put_f64(k->out, y->dtype, i, fold_f64(&g, kind));
    }
    return HD_OK;
}

/* x, axes?; no axes: all of them, or with noop_with_empty_axes none of them, so that each element
 * is reduced by itself. Source: ONNX ReduceSum-13, ReduceMean-18 ..; accumulated in double. */
#define REDUCE(name, kind)                                                                         \
    hd_status k_##name(const struct hd_kernel *k) {                                                \
        return reduce(k, kind);                                                                    \
    }
REDUCE(reducesum, SUM)
REDUCE(reducemean, MEAN)
REDUCE(reducemax, MAX)
REDUCE(reducemin, MIN)
REDUCE(reduceprod, PROD)
REDUCE(reducel1, L1)
REDUCE(reducel2, L2)
REDUCE(reducelogsum, LOGSUM)
REDUCE(reducelogsumexp, LOGSUMEXP)
REDUCE(reducesumsquare, SUMSQUARE)

/* ---- along one axis ---- */

/* A tensor as [outer, size, inner]; lane l starts at hd_lane(l) and steps by inner. */
struct lanes {
    int64_t size, inner, n;
};

static struct lanes lanes_of(const struct hd_tensor *t, int64_t axis) {
    struct lanes l = {t->dim[axis], 1, 1};
    for (int64_t d = 0; d < t->rank; d++) {
        if (d > axis) l.inner *= t->dim[d];
        if (d != axis) l.n *= t->dim[d];
    }
    return l;
}

static int64_t lane_start(const struct lanes *l, int64_t i) {
    return i / l->inner * l->size * l->inner + i % l->inner;
}

/* Position of the largest (sign 1) or smallest (-1) element: the first, or the last of equal ones.
 */
static hd_status arg(const struct hd_kernel *k, int sign) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    struct lanes l = lanes_of(x, hd_k_axis(k, "axis", 0, x->rank));
    bool last = hd_attr_int(k->n, "select_last_index", 0) != 0;
    for (int64_t i = 0; i < l.n; i++) {
        int64_t best = 0, most = 0, start = lane_start(&l, i);
        for (int64_t j = 0; j < l.size; j++) {
            int64_t key = hd_k_key(k->in[0], x->dtype, start + j * l.inner);
            if (sign < 0) key = ~key;
            if (j == 0 || key > most || (last && key == most)) best = j, most = key;
        }
        ((int64_t *)k->out)[i] = best;
    }
    return HD_OK;
}

/* The same of bytes, BLOCK neighbours at once: images have their channels far apart. flip turns a
 * byte into one without a sign, the largest of which is asked for. */
static void arg_bytes(const struct hd_kernel *k, const struct lanes *l, uint8_t flip) {
    enum { BLOCK = 1024 };
    const uint8_t *x = k->in[0];
    int64_t *out = k->out;
    uint8_t most[BLOCK];
    int32_t best[BLOCK];
    bool last = hd_attr_int(k->n, "select_last_index", 0) != 0;
    for (int64_t i = 0; i < l->n; i += l->inner)
        for (int64_t from = 0; from < l->inner; from += BLOCK) {
            int64_t n = l->inner - from < BLOCK ? l->inner - from : BLOCK;
            const uint8_t *row = x + lane_start(l, i) + from;
            memset(best, 0, sizeof best);
            for (int64_t b = 0; b < n; b++) most[b] = row[b] ^ flip;
            for (int64_t j = 1; j < l->size; j++) {
                row += l->inner;
                for (int64_t b = 0; b < n; b++) {
                    uint8_t v = row[b] ^ flip;
                    bool more = last ? v >= most[b] : v > most[b];
                    best[b] = more ? (int32_t)j : best[b];
                    most[b] = more ? v : most[b];
                }
            }
            for (int64_t b = 0; b < n; b++) out[i + from + b] = best[b];
        }
}

static hd_status position(const struct hd_kernel *k, int sign) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    if ((x->dtype != HD_I8 && x->dtype != HD_U8) || hd_tensor_elems(x) < 1) return arg(k, sign);
    struct lanes l = lanes_of(x, hd_k_axis(k, "axis", 0, x->rank));
    arg_bytes(k, &l, (uint8_t)((x->dtype == HD_I8 ? 0x80 : 0) ^ (sign < 0 ? 0xff : 0)));
    return HD_OK;
}

/* Source: ONNX ArgMax-13, ArgMin-13. */
hd_status k_argmax(const struct hd_kernel *k) {
    return position(k, 1);
}
hd_status k_argmin(const struct hd_kernel *k) {
    return position(k, -1);
}

/* Along an axis, from the other end with reverse: what stands before each element and (unless
 * exclusive) itself, as a sum or a product. */
static hd_status cumulate(const struct hd_kernel *k, bool product) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    int64_t axis = 0;
    hd_k_ints(k, 1, &axis, 1);
    struct lanes l = lanes_of(x, axis < 0 ? axis + x->rank : axis);
    bool exclusive = hd_attr_int(k->n, "exclusive", 0) != 0,
         reverse = hd_attr_int(k->n, "reverse", 0) != 0,
         real = x->dtype == HD_F32 || x->dtype == HD_F64;
    for (int64_t i = 0; i < l.n; i++) {
        double acc = product;
        uint64_t whole = product;
        for (int64_t s = 0; s < l.size; s++) {
            int64_t j = lane_start(&l, i) + (reverse ? l.size - 1 - s : s) * l.inner;
            double v = real ? hd_k_f64(k->in[0], x->dtype, j) : 0, before = acc;
            uint64_t n = real ? 0 : (uint64_t)hd_k_i64(k->in[0], x->dtype, j), old = whole;
            acc = product ? acc * v : acc + v;
            whole = product ? whole * n : whole + n;
            if (real)
                hd_k_put_f64(k->out, x->dtype, j, exclusive ? before : acc);
            else
                hd_k_put_i64(k->out, x->dtype, j, (int64_t)(exclusive ? old : whole));
        }
    }
    return HD_OK;
}

/* Source: ONNX CumSum-14, CumProd-26. */
hd_status k_cumsum(const struct hd_kernel *k) {
    return cumulate(k, false);
}
hd_status k_cumprod(const struct hd_kernel *k) {
    return cumulate(k, true);
}

enum soft { SOFT, LOGSOFT, HARD };

static hd_status soft(const struct hd_kernel *k, enum soft kind) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    hd_dtype t = x->dtype;
    struct lanes l = lanes_of(x, hd_k_axis(k, "axis", -1, x->rank));
    for (int64_t i = 0; i < l.n; i++) {
        int64_t start = lane_start(&l, i), first = 0;
        double max = -INFINITY, sum = 0;
        for (int64_t j = 0; j < l.size; j++) {
            double v = hd_k_f64(k->in[0], t, start + j * l.inner);
            if (v > max) max = v, first = j;
        }
        for (int64_t j = 0; j < l.size; j++)
            sum += exp(hd_k_f64(k->in[0], t, start + j * l.inner) - max);
        for (int64_t j = 0; j < l.size; j++) {
            double v = hd_k_f64(k->in[0], t, start + j * l.inner) - max;
            double y = kind == HARD ? j == first : kind == SOFT ? exp(v) / sum : v - log(sum);
            hd_k_put_f64(k->out, t, start + j * l.inner, y);
        }
    }
    return HD_OK;
}

/* y = exp(x - max) / sum along `axis`, in double.  Source: ONNX Softmax-13. */
hd_status k_softmax(const struct hd_kernel *k) {
    return soft(k, SOFT);
}
/* y = x - max - log(sum of exp(x - max)).  Source: ONNX LogSoftmax-13. */
hd_status k_logsoftmax(const struct hd_kernel *k) {
    return soft(k, LOGSOFT);
}
/* 1 at the first largest element, else 0.  Source: ONNX Hardmax-13. */
hd_status k_hardmax(const struct hd_kernel *k) {
    return soft(k, HARD);
}
