/* Ranges of tensors that have no scale in the file, from what is around them, without data.
 *
 * Forward: the values that operands can make. Products by weights reach their sum of magnitudes
 * only when every operand conspires, so DEVIATIONS of a sum of independent operands bound them, too
 * (as Nagel et al., Data-free quantization through weight equalization and bias correction, 2019,
 * do with the statistics of batch normalisation).
 *
 * Backward: the values that readers tell apart. quantize saturates, so what lies beyond its range,
 * or beyond what a function or the other operand of a sum can bring back into it, need not be held.
 *
 * The range is where both meet. What only such a sum bounds has none: its values may be much
 * smaller than the range, and integers would hold few of their bits. */
#include "compiler/quantize/bounds.h"

#include <math.h>
#include <string.h>

#include "compiler/pass/cone.h"
#include "compiler/pass/qdq.h"

enum {
    DEVIATIONS = 5,  /* of a sum of independent operands */
    SAMPLES = 1025,  /* of a function at once */
    ROUNDS = 4,      /* of samples, each where the one before saw changes */
    LARGEST = 10000, /* operand of a function without a bound */
    OUTLIER = 8      /* times a mean, or a deviation of what is normalised */
};

struct interval {
    float lo, hi; /* lo > hi: nothing */
    bool loose;   /* a guess at what a product makes: most values may be much smaller */
};

struct bounds {
    hd_ctx *ctx;
    const hd_graph *g;
    const struct hd_quant_plan *p;
    bool *made;                  /* per tensor: where the search for the root of a function ends */
    struct interval *can, *need; /* per tensor */
};

static const struct interval WHOLE = {-INFINITY, INFINITY, false},
                             NOTHING = {INFINITY, -INFINITY, false};

static struct interval from(float lo, float hi) {
    return (struct interval){lo, hi, false};
}

static bool is_nothing(struct interval a) {
    return !(a.lo <= a.hi);
}

static struct interval hull(struct interval a, struct interval b) {
    return (struct interval){fminf(a.lo, b.lo), fmaxf(a.hi, b.hi), a.loose || b.loose};
}

static struct interval intersect(struct interval a, struct interval b) {
    return (struct interval){fmaxf(a.lo, b.lo), fminf(a.hi, b.hi), a.loose || b.loose};
}

static struct interval plus(struct interval a, struct interval b) {
    return (struct interval){a.lo + b.lo, a.hi + b.hi, a.loose || b.loose};
}

static struct interval negated(struct interval a) {
    return (struct interval){-a.hi, -a.lo, a.loose};
}

static float magnitude(struct interval a) {
    return fmaxf(fabsf(a.lo), fabsf(a.hi));
}

static bool is_finite(struct interval a) {
    return isfinite(a.lo) && isfinite(a.hi);
}

static struct interval times(struct interval a, struct interval b) {
    if (!is_finite(a) || !is_finite(b)) return WHOLE;
    float p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
    return (struct interval){fminf(fminf(p, q), fminf(r, s)), fmaxf(fmaxf(p, q), fmaxf(r, s)),
                             a.loose || b.loose};
}

static struct interval representable(const struct hd_qparam *p, int64_t lo, int64_t hi) {
    return from((float)(lo - p->zp) * p->scale, (float)(hi - p->zp) * p->scale);
}

static int64_t least(hd_dtype t) {
    return t == HD_I8 ? -128 : 0;
}

/* ---- forward ---- */

static struct interval of_constant(const struct hd_tensor *t) {
    struct interval r = NOTHING;
    const float *v = t->data;
    for (int64_t i = 0; t->dtype == HD_F32 && i < hd_tensor_elems(t); i++)
        if (isfinite(v[i])) r = hull(r, from(v[i], v[i]));
    return is_nothing(r) ? WHOLE : r;
}

/* What the integers can be: activations of their maker are in lo..hi. */
static struct interval of_integers(const hd_graph *g, const struct hd_node *d) {
    struct hd_qparam p;
    if (!hd_qdq_param(g, d, &p)) return WHOLE;
    int64_t lo = least(p.type), hi = lo + 255;
    const struct hd_node *maker = hd_qdq_maker(g, d->in[0]);
    if (maker) lo = hd_attr_int(maker, "lo", lo), hi = hd_attr_int(maker, "hi", hi);
    return representable(&p, lo, hi);
}

/* Of the independent operands x: their sum weighted by values with this sum, sum of squares, and of
 * positive and negative ones. */
static struct interval weighted_sum(struct interval x, double sum, double squares, double positive,
                                    double negative) {
    double lo = (double)x.lo, hi = (double)x.hi, mean = (lo + hi) / 2 * sum;
    double spread = DEVIATIONS * (hi - lo) * sqrt(squares / 12);
    struct interval all = from((float)(positive * lo + negative * hi),
                               (float)(positive * hi + negative * lo)),
                    most = from((float)(fmin(mean, 0) - spread), (float)(fmax(mean, 0) + spread));
    double terms = (positive - negative) * (positive - negative); /* times squares: how many */
    all.loose = x.loose || terms > 1.5 * squares;
    return intersect(all, most);
}

static float at(const hd_graph *g, int t, int64_t i) {
    return ((const float *)g->tensors[t].data)[hd_tensor_elems(&g->tensors[t]) == 1 ? 0 : i];
}

static int byte_at(const struct hd_tensor *t, int64_t i) {
    if (hd_tensor_elems(t) == 1) i = 0;
    return t->dtype == HD_I8 ? ((const int8_t *)t->data)[i] : ((const uint8_t *)t->data)[i];
}

/* Weight i of channel c: a constant, or what d dequantises. */
static float weight(const hd_graph *g, int w, const struct hd_node *d, int64_t i, int64_t c) {
    if (!d) return at(g, w, i);
    int q = byte_at(&g->tensors[d->in[0]], i) - byte_at(&g->tensors[d->in[2]], c);
    return (float)q * at(g, d->in[1], c);
}

static struct interval of_bias(const hd_graph *g, int t) {
    if (t < 0) return from(0, 0);
    if (g->tensors[t].data) return of_constant(&g->tensors[t]);
    const struct hd_node *d = hd_qdq_maker(g, t);
    struct interval r = NOTHING;
    for (int64_t i = 0; i < hd_tensor_elems(&g->tensors[t]); i++) {
        float v = (float)((const int32_t *)g->tensors[d->in[0]].data)[i] * at(g, d->in[1], i);
        r = hull(r, from(v, v));
    }
    return r;
}

/* A layer: the largest of its channels. */
static struct interval of_layer(const struct bounds *b, const struct hd_node *n, int axis) {
    const hd_graph *g = b->g;
    const struct hd_node *d = hd_qdq_maker(g, n->in[1]);
    const struct hd_tensor *w = &g->tensors[n->in[1]];
    int64_t channels = w->dim[axis], inner = 1, elems = hd_tensor_elems(w);
    struct interval x = b->can[n->in[0]], r = NOTHING;
    if (!is_finite(x)) return WHOLE;
    for (int i = axis + 1; i < w->rank; i++) inner *= w->dim[i];
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0, squares = 0, positive = 0;
        for (int64_t from = c * inner; from < elems; from += channels * inner)
            for (int64_t i = from; i < from + inner; i++) {
                double v = (double)weight(g, n->in[1], d, i, c);
                sum += v, squares += v * v, positive += fmax(v, 0);
            }
        r = hull(r, weighted_sum(x, sum, squares, positive, sum - positive));
    }
    return plus(r, of_bias(g, n->n_in > 2 ? n->in[2] : -1));
}

static bool is_probability(const hd_graph *g, int t) {
    const struct hd_node *n = hd_qdq_maker(g, hd_qdq_behind_moves(g, t));
    if (n && n->op == HD_IR_dequantize) n = hd_qdq_maker(g, hd_qdq_behind_moves(g, n->in[0]));
    return n && (n->op == HD_IR_softmax || n->op == HD_IR_qsoftmax);
}

/* A product of two activations. Probabilities make means. */
static struct interval of_product(const struct bounds *b, const struct hd_node *n) {
    const struct hd_tensor *x = &b->g->tensors[n->in[0]];
    struct interval v[2] = {b->can[n->in[0]], b->can[n->in[1]]};
    if (is_probability(b->g, n->in[0])) return v[1];
    if (!is_finite(v[0]) || !is_finite(v[1]) || x->rank < 2) return WHOLE;
    double k = (double)x->dim[x->rank - 1], squares = k;
    for (int i = 0; i < 2; i++) {
        double lo = (double)v[i].lo, hi = (double)v[i].hi;
        squares *= (lo * lo + lo * hi + hi * hi) / 3; /* of an even distribution */
    }
    double most =
        fmin(k * (double)magnitude(v[0]) * (double)magnitude(v[1]), DEVIATIONS * sqrt(squares));
    return (struct interval){(float)-most, (float)most, true};
}

static struct interval of_layernorm(const struct bounds *b, const struct hd_node *n) {
    const struct hd_tensor *x = &b->g->tensors[n->in[0]];
    float most = fminf(sqrtf((float)x->dim[x->rank - 1]), OUTLIER);
    struct interval scale = b->can[n->in[1]], r = from(-most, most);
    r = times(r, from(-magnitude(scale), magnitude(scale)));
    return n->n_in > 2 && n->in[2] >= 0 ? plus(r, b->can[n->in[2]]) : r;
}

/* x[0..SAMPLES-1] over r, ends included; where 0 is inside, closest about it, where functions bend.
 */
static void spread(struct interval r, float *x) {
    for (int i = 0; i < SAMPLES; i++) {
        float u = (float)i / (float)(SAMPLES - 1), v = 2 * u - 1;
        bool inside = r.lo < 0 && r.hi > 0;
        x[i] = inside ? v * v * v * (v < 0 ? -r.lo : r.hi) : r.lo + (r.hi - r.lo) * u;
    }
}

static struct interval bounded(struct interval r) {
    return intersect(r, from(-LARGEST, LARGEST));
}

static struct interval image(const struct bounds *b, int t, int root, struct interval of) {
    float x[SAMPLES], y[SAMPLES];
    struct interval r = NOTHING;
    spread(of, x);
    if (hd_cone_eval(b->ctx, b->g, t, root, x, SAMPLES, y) != HD_OK) {
        hd_clear(b->ctx);
        return WHOLE;
    }
    for (int i = 0; i < SAMPLES; i++) {
        if (!isfinite(y[i])) return WHOLE;
        r = hull(r, from(y[i], y[i]));
    }
    return r;
}

/* Of a root that is loose, the function is, too, unless a quarter of the root's range makes half as
 * much. */
static struct interval of_function(const struct bounds *b, int t, int root) {
    struct interval x = bounded(b->can[root]), r = image(b, t, root, x);
    struct interval part = image(b, t, root, from(x.lo / 4, x.hi / 4));
    r.loose = x.loose && !(part.hi - part.lo > 0.5f * (r.hi - r.lo));
    return r;
}

static struct interval of_moved(const struct bounds *b, const struct hd_node *n, int moved) {
    struct interval r = NOTHING, zero = from(0, 0);
    for (int i = 0; i < moved; i++) r = hull(r, b->can[n->in[i]]);
    if (n->op == HD_IR_pad) r = hull(r, n->n_in > 2 && n->in[2] >= 0 ? b->can[n->in[2]] : zero);
    return r;
}

/* What t is a function of; t itself when it is none. */
static int root_of(const struct bounds *b, int t) {
    bool made = b->made[t];
    b->made[t] = false;
    int root = hd_cone_root(b->g, t, b->made);
    b->made[t] = made;
    return root;
}

static struct interval forward(const struct bounds *b, const struct hd_node *n, int t) {
    int node = b->g->tensors[t].producer, axis = hd_quant_ready(b->g, node);
    int moved = hd_qdq_moved_operands(n), root = root_of(b, t);
    if (axis < 0) axis = hd_quant_weights(b->g, node);
    if (root != t) return of_function(b, t, root);
    if (axis >= 0) return of_layer(b, n, axis);
    if (moved) return of_moved(b, n, moved);
    struct interval zero = from(0, 0);
    switch (n->op) {
    case HD_IR_dequantize:
        return of_integers(b->g, n);
    case HD_IR_matmul:
    case HD_IR_gemm:
        return of_product(b, n);
    case HD_IR_softmax:
        return from(0, 1);
    case HD_IR_layernorm:
        return of_layernorm(b, n);
    case HD_IR_avgpool:
    case HD_IR_resize:
        return hull(b->can[n->in[0]], zero);
    case HD_IR_add:
        return plus(b->can[n->in[0]], b->can[n->in[1]]);
    case HD_IR_sub:
        return plus(b->can[n->in[0]], negated(b->can[n->in[1]]));
    case HD_IR_mul:
        return times(b->can[n->in[0]], b->can[n->in[1]]);
    default:
        return WHOLE;
    }
}

/* A tensor that takes the scale of a quantize has the range of that. */
static struct interval as_quantised(const struct bounds *b, int t, struct interval r) {
    int like = b->p->made[t] && !b->p->given[t] ? b->p->like[b->p->group[t]] : -1;
    struct hd_qparam p;
    if (like < 0 || !hd_qdq_param(b->g, &b->g->nodes[like], &p)) return r;
    int64_t lo = least(p.type);
    struct interval q = representable(&p, lo, lo + 255), both = intersect(r, q);
    both.loose = false;
    return is_nothing(both) ? q : both;
}

/* ---- backward ---- */

static void asks(struct bounds *b, int t, struct interval r) {
    if (t >= 0) b->need[t] = hull(b->need[t], r);
}

/* The part of root's values beyond which the function changes by less than half a step of 8 bits,
 * once it is held to what its readers tell apart. */
static struct interval through_function(const struct bounds *b, int t, int root,
                                        struct interval y) {
    struct interval r = bounded(b->can[root]);
    float x[SAMPLES], v[SAMPLES], half = (y.hi - y.lo) / 510, low = 0, high = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int first = 0, last = SAMPLES - 1;
        spread(r, x);
        if (hd_cone_eval(b->ctx, b->g, t, root, x, SAMPLES, v) != HD_OK) {
            hd_clear(b->ctx);
            return WHOLE;
        }
        for (int i = 0; i < SAMPLES; i++) v[i] = fmaxf(y.lo, fminf(y.hi, v[i]));
        if (!round) low = v[0], high = v[SAMPLES - 1];
        while (first < SAMPLES - 1 && fabsf(v[first + 1] - low) <= half) first++;
        while (last > first && fabsf(v[last - 1] - high) <= half) last--;
        r = from(x[first], x[last]);
    }
    return r;
}

/* The operand of a layer with one weight for each channel, which makes y: by the smallest of them,
 * or half of the largest, since what much smaller ones leave out changes y little. */
static struct interval scaled(const struct bounds *b, const struct hd_node *n, struct interval y) {
    const struct hd_tensor *w = &b->g->tensors[n->in[1]];
    bool one = n->op == HD_IR_conv && hd_tensor_elems(w) == w->dim[0] && w->data &&
               w->dtype == HD_F32 && hd_attr_int(n, "group", 1) == w->dim[0];
    float largest = 0, least = INFINITY;
    for (int64_t c = 0; one && c < w->dim[0]; c++) {
        float v = fabsf(((const float *)w->data)[c]);
        largest = fmaxf(largest, v), least = fminf(least, v);
    }
    float most = one ? magnitude(y) / fmaxf(least, largest / 2) : INFINITY;
    return is_finite(y) && isfinite(most) ? from(-most, most) : WHOLE;
}

/* One operand of a sum, so that the sum is in y; `other` is what is added. Where that can be more
 * than the sum is ever asked for, neither is expected to be larger than the sum. */
static struct interval summand(struct interval y, struct interval other) {
    float most = magnitude(y);
    if (!is_finite(y)) return WHOLE;
    if (!(other.hi - other.lo <= 4 * most)) return from(-most, most);
    return from(y.lo - other.hi, y.hi - other.lo);
}

static void backward(struct bounds *b, const struct hd_node *n, int t) {
    struct hd_qparam p;
    int moved = hd_qdq_moved_operands(n), root = root_of(b, t);
    struct interval y = b->need[t], less = intersect(y, b->can[t]);
    if (n->op == HD_IR_quantize && hd_qdq_param(b->g, n, &p)) {
        int64_t lo = least(p.type);
        asks(b, n->in[0], representable(&p, lo, lo + 255));
        return;
    }
    if (is_nothing(y)) return;
    if (!b->can[t].loose && !is_nothing(less)) y = less; /* it has no other values */
    if (root != t) {
        asks(b, root, is_finite(y) ? through_function(b, t, root, y) : WHOLE);
        return;
    }
    for (int i = 0; i < n->n_in; i++) {
        int x = n->in[i];
        if (x < 0) continue;
        struct interval other = n->n_in == 2 && n->in[1 - i] >= 0 ? b->can[n->in[1 - i]] : WHOLE;
        if (i < moved)
            asks(b, x, y);
        else if (n->op == HD_IR_add && x != n->in[1 - i])
            asks(b, x, summand(y, other));
        else if (n->op == HD_IR_sub && x != n->in[1 - i])
            asks(b, x, i ? negated(summand(y, negated(other))) : summand(y, negated(other)));
        else if (n->op == HD_IR_resize && !i)
            asks(b, x, y);
        else if (n->op == HD_IR_avgpool)
            asks(b, x, times(y, from(-OUTLIER, OUTLIER)));
        else
            asks(b, x, i ? WHOLE : scaled(b, n, y));
    }
}

void hd_quant_bounds(hd_ctx *ctx, const hd_graph *g, const struct hd_quant_plan *plan,
                     struct hd_quant_stats *stats) {
    hd_arena *a = hd_arena_create();
    size_t n_tensors = g->n_tensors + 1;
    struct bounds b = {ctx,
                       g,
                       plan,
                       hd_new_array(a, bool, n_tensors),
                       hd_new_array(a, struct interval, n_tensors),
                       hd_new_array(a, struct interval, n_tensors)};
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    memcpy(b.made, plan->made, g->n_tensors);
    for (size_t t = 0; t < g->n_tensors; t++) {
        b.can[t] = WHOLE;
        b.need[t] = hd_graph_is_output(g, (int)t) ? WHOLE : NOTHING;
    }
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < g->nodes[order[i]].n_in; k++) {
            int t = g->nodes[order[i]].in[k];
            bool weights = k == 1 && hd_quant_weights(g, order[i]) >= 0;
            if (t >= 0 && g->tensors[t].data && !weights) b.can[t] = of_constant(&g->tensors[t]);
        }
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < g->nodes[order[i]].n_out; k++) {
            int t = g->nodes[order[i]].out[k];
            if (t >= 0 && g->tensors[t].known && g->tensors[t].dtype == HD_F32)
                b.can[t] = as_quantised(&b, t, forward(&b, &g->nodes[order[i]], t));
        }
    while (n--)
        for (int k = 0; k < g->nodes[order[n]].n_out; k++)
            if (g->nodes[order[n]].out[k] >= 0)
                backward(&b, &g->nodes[order[n]], g->nodes[order[n]].out[k]);
    for (size_t t = 0; t < g->n_tensors; t++) {
        struct interval r = intersect(b.can[t], b.need[t]);
        if (is_nothing(r)) r = b.can[t];
        stats[t] = (struct hd_quant_stats){.lo = fminf(r.lo, 0), .hi = fmaxf(r.hi, 0), .n = 1};
        if (is_finite(r) && !(b.can[t].loose && !is_finite(b.need[t]))) continue;
        stats[t].not_finite = 1;
        stats[t].lo = stats[t].hi = 0;
    }
    hd_arena_destroy(a);
}
