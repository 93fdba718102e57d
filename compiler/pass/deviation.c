/* Division by a deviation, in whatever order exporters write it, as one layer norm:
 *
 *   [c] (x - mean x) / ([k] ((x - mean x)^2's mean or sum [+ e])^0.5 [+ e])     over the same
 * dimensions [c] x / ([k] (x^2's mean or sum [+ e])^0.5 [+ e])                           without
 * the mean
 *
 * or the product by its reciprocal; with k and e one number each, c any constant. What is added
 * behind the root has to be so small that it only keeps a row of zeros from being divided by 0. */
#include <math.h>
#include <string.h>

#include "compiler/ir/move.h"
#include "compiler/pass/rewrite.h"

enum { LONGEST = 4096, DEPTH = 4 }; /* of a norm of several dimensions: the machine's rows */

static const double SMALL = 1e-5, LEAST = 1e-30;

struct deviation {
    const hd_graph *g;
    int of;         /* the tensor that is squared */
    unsigned set;   /* dimensions */
    double power;   /* of the mean of squares: 0.5 or -0.5 */
    double factor;  /* of all of it */
    double epsilon; /* beside the mean of squares */
    int by;         /* a constant that it is multiplied by, too; -1 = none */
};

static const struct hd_node *maker(const hd_graph *g, int t) {
    return t < 0 || g->tensors[t].producer < 0 ? NULL : &g->nodes[g->tensors[t].producer];
}

/* A number above 0. */
static bool number(const hd_graph *g, int t, double *out) {
    const struct hd_tensor *x = t < 0 ? NULL : &g->tensors[t];
    if (!x || !x->data || x->dtype != HD_F32 || hd_tensor_elems(x) != 1) return false;
    *out = (double)*(const float *)x->data;
    return *out > 0;
}

/* Made alike of the same tensors. */
static bool alike(const hd_graph *g, int a, int b, int depth) {
    const struct hd_node *n = maker(g, a), *m = maker(g, b);
    if (a == b) return true;
    if (!depth || !n || !m || n->op != m->op || n->n_in != m->n_in) return false;
    if (n->op != HD_IR_sub && n->op != HD_IR_reducemean) return false;
    for (int i = 0; i < n->n_in; i++) {
        const struct hd_tensor *x = &g->tensors[n->in[i]], *y = &g->tensors[m->in[i]];
        bool same = x->data && y->data && x->dtype == y->dtype && x->rank == y->rank &&
                    hd_tensor_bytes(x) == hd_tensor_bytes(y) &&
                    !memcmp(x->data, y->data, hd_tensor_bytes(x));
        if (!same && !alike(g, n->in[i], m->in[i], depth - 1)) return false;
    }
    return hd_attr_int(n, "keepdims", 1) == hd_attr_int(m, "keepdims", 1);
}

/* The dimensions of a reduction that keeps them as 1, and how many elements they have. */
static bool reduces(const hd_graph *g, const struct hd_node *n, unsigned *set, double *count) {
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    const struct hd_tensor *axes = n->n_in > 1 && n->in[1] >= 0 ? &g->tensors[n->in[1]] : NULL;
    if (!axes || !axes->data || axes->dtype != HD_I64 || !x->known || x->dtype != HD_F32 ||
        hd_tensor_elems(axes) < 1 || !hd_attr_int(n, "keepdims", 1))
        return false;
    *set = hd_axes_set(x->rank, (int)hd_tensor_elems(axes), axes->data);
    *count = 1;
    for (int d = 0; d < x->rank; d++)
        if (*set >> d & 1) *count *= (double)x->dim[d];
    return *count > 0;
}

/* What tensor t squares; -1 = it does not. */
static int squared(const hd_graph *g, int t) {
    const struct hd_node *n = maker(g, t);
    double two;
    if (!n) return -1;
    if (n->op == HD_IR_mul && n->in[0] == n->in[1]) return n->in[0];
    return n->op == HD_IR_pow && number(g, n->in[1], &two) && two == 2 ? n->in[0] : -1;
}

/* The reduction at the end of it. */
static bool ends(struct deviation *d, const struct hd_node *n) {
    bool root = n->op == HD_IR_reducel2, squares = root || n->op == HD_IR_reducesumsquare;
    double count;
    if (!squares && n->op != HD_IR_reducemean && n->op != HD_IR_reducesum) return false;
    if (!reduces(d->g, n, &d->set, &count)) return false;
    if (root) d->power /= 2, d->epsilon *= d->epsilon;
    d->of = squares ? n->in[0] : squared(d->g, n->in[0]);
    if (n->op != HD_IR_reducemean) d->factor *= pow(count, d->power), d->epsilon /= count;
    return d->of >= 0 && fabs(d->power) == 0.5;
}

static bool scales(struct deviation *d, double by) {
    d->factor *= pow(by, d->power);
    d->epsilon /= by;
    return true;
}

static bool raises(struct deviation *d, double power) {
    d->power *= power;
    if (d->epsilon > 0) d->epsilon = pow(d->epsilon, 1 / power);
    return true;
}

/* What is added, or the least value; behind the root only a little. */
static bool keeps_apart(struct deviation *d, double e) {
    d->epsilon += e;
    return fabs(d->power) < 1 || e <= SMALL;
}

/* One operation of it; *out_t is its operand, the tensor to go on with. */
static bool step(struct deviation *d, const struct hd_node *n, int *out_t) {
    const hd_graph *g = d->g;
    double v = 0;
    bool pair = n->n_in == 2 && n->in[1] >= 0;
    int side = pair && g->tensors[n->in[0]].data ? 1 : 0, other = pair ? n->in[1 - side] : -1;
    bool one = number(g, other, &v);
    *out_t = n->in[side];
    switch (n->op) {
    case HD_IR_identity:
    case HD_IR_expand:
        return g->tensors[n->in[0]].rank == g->tensors[n->out[0]].rank && !(*out_t = n->in[0], 0);
    case HD_IR_reciprocal:
        return raises(d, -1) && d->epsilon == 0;
    case HD_IR_sqrt:
        return raises(d, 0.5);
    case HD_IR_pow:
        return !side && number(g, n->in[1], &v) ? raises(d, v)
                                                : !side && hd_const_is(g, n->in[1], -0.5, false) &&
                                                      d->epsilon == 0 && raises(d, -0.5);
    case HD_IR_mul:
        if (one) return scales(d, v);
        if (!pair || d->by >= 0 || !g->tensors[other].data || fabs(d->power) != 1 || d->epsilon > 0)
            return false;
        d->by = other;
        return d->power == 1;
    case HD_IR_div:
        if (one && side) return raises(d, -1) && d->epsilon == 0 && scales(d, 1 / v);
        return one && scales(d, 1 / v);
    case HD_IR_add:
    case HD_IR_max:
        return one && keeps_apart(d, v);
    case HD_IR_clip:
        if (n->n_in > 2 && n->in[2] >= 0) return false;
        return number(g, n->in[1], &v) && keeps_apart(d, v);
    default:
        return false;
    }
}

static bool open_deviation(struct deviation *d, int t) {
    for (int depth = 0; depth < 3 * DEPTH; depth++) {
        const struct hd_node *n = maker(d->g, t);
        if (!n || n->in[0] < 0) return false;
        if (ends(d, n)) return true;
        if (n->op == HD_IR_reducel2 || n->op == HD_IR_reducesumsquare ||
            n->op == HD_IR_reducemean || n->op == HD_IR_reducesum || !step(d, n, &t))
            return false;
    }
    return false;
}

/* x where t = x - mean of x over the dimensions; t itself when it is no such. */
static int centred(const struct deviation *d, int t) {
    const struct hd_node *n = maker(d->g, t), *m = n ? maker(d->g, n->in[1]) : NULL;
    unsigned set;
    double count;
    if (!n || n->op != HD_IR_sub || !m || m->op != HD_IR_reducemean || m->in[0] != n->in[0])
        return t;
    return reduces(d->g, m, &set, &count) && set == d->set ? n->in[0] : t;
}

/* The norm of x over d->set, between transposes where those are not the last dimensions. */
static int norm(hd_ctx *ctx, struct hd_match *m, const struct deviation *d, int x,
                bool is_centred) {
    hd_graph *g = m->g;
    const struct hd_tensor t = g->tensors[x];
    int64_t perm[HD_MAX_RANK], back[HD_MAX_RANK], dim[HD_MAX_RANK], count = 1;
    int k = 0, first = 0, in[2] = {x, -1};
    bool moves = false, several = (d->set & (d->set - 1)) != 0;
    for (int part = 0; part < 2; part++) {
        if (part) first = k;
        for (int i = 0; i < t.rank; i++)
            if ((int)(d->set >> i & 1) == part) {
                moves = moves || i != k;
                if (part) dim[k - first] = t.dim[i], count *= t.dim[i];
                perm[k++] = i;
            }
    }
    if (moves && (several || d->set & 1)) return -1; /* means cost less than to move all of it */
    for (int i = 0; i < t.rank; i++) back[perm[i]] = i;
    float *scale = hd_new_array(g->arena, float, (size_t)count + 1);
    float factor = (float)(d->power > 0 ? 1 / d->factor : d->factor);
    if (!isfinite(factor)) return -1;
    for (int64_t i = 0; i < count; i++) scale[i] = factor;
    in[1] = hd_graph_const(g, "norm.scale", HD_F32, t.rank - first, dim, scale);
    if (moves) in[0] = hd_match_emit(ctx, m, HD_IR_transpose, 1, &x, "perm", t.rank, perm);
    if (in[0] < 0) return -1;
    int y = hd_match_emit(ctx, m, HD_IR_layernorm, 2, in, NULL, 0, NULL);
    if (y < 0) return -1;
    hd_attr_set_int(g, m->made, "axis", first);
    if (!is_centred) hd_attr_set_int(g, m->made, "centred", 0);
    hd_attr_set_float(g, m->made, "epsilon", (float)fmax(LEAST, d->epsilon));
    if (hd_graph_infer_node(ctx, g, m->made) != HD_OK) return -1;
    return moves ? hd_match_emit(ctx, m, HD_IR_transpose, 1, &y, "perm", t.rank, back) : y;
}

/* Root is div(above, below) or mul(above, below). */
static int divided(hd_ctx *ctx, struct hd_match *m, int above, int below) {
    hd_graph *g = m->g;
    const struct hd_node root = g->nodes[m->root];
    struct deviation d = {.g = g, .power = 1, .factor = 1, .by = -1};
    if (!open_deviation(&d, below) || d.power != (root.op == HD_IR_div ? 0.5 : -0.5)) return -1;
    if (d.by >= 0 && root.op == HD_IR_div) return -1;
    const struct hd_node *n = maker(g, above);
    int by = -1; /* a constant factor of what is divided */
    for (int i = 0; !alike(g, above, d.of, DEPTH) && n && n->op == HD_IR_mul && i < 2; i++)
        if (g->tensors[n->in[i]].data && !g->tensors[n->in[1 - i]].data)
            by = n->in[i], above = n->in[1 - i];
    const struct hd_tensor *x = &g->tensors[above], *y = &g->tensors[root.out[0]];
    int64_t count = 1;
    if (!alike(g, above, d.of, DEPTH) || !x->known || x->dtype != HD_F32 || !y->known ||
        x->rank != y->rank || memcmp(x->dim, y->dim, (size_t)x->rank * sizeof *x->dim))
        return -1;
    for (int i = 0; i < x->rank; i++)
        if (d.set >> i & 1) count *= x->dim[i];
    if (count > LONGEST && d.set != 1u << (x->rank - 1)) return -1;
    int of = centred(&d, above), made = norm(ctx, m, &d, of, of != above);
    int factor[2] = {by, d.by};
    for (int i = 0; made >= 0 && i < 2; i++)
        if (factor[i] >= 0)
            made = hd_match_emit(ctx, m, HD_IR_mul, 2, (int[]){made, factor[i]}, NULL, 0, NULL);
    return made;
}

int hd_rw_deviation(hd_ctx *ctx, struct hd_match *m) {
    int a = hd_match_get(m, "x"), b = hd_match_get(m, "y");
    if (m->g->specialised) return -1;
    int y = divided(ctx, m, a, b);
    return y < 0 && m->g->nodes[m->root].op == HD_IR_mul ? divided(ctx, m, b, a) : y;
}

/* As TensorFlow writes its norms out. */
int hd_rw_apart(hd_ctx *ctx, struct hd_match *m) {
    int x = hd_match_get(m, "x"), f = hd_match_get(m, "f"), b = hd_match_get(m, "b");
    const struct hd_node *mean = maker(m->g, hd_match_get(m, "m"));
    if (!mean || mean->op != HD_IR_reducemean || mean->in[0] != x) return -1;
    int y = hd_match_emit(ctx, m, HD_IR_sub, 2, (int[]){x, mean->out[0]}, NULL, 0, NULL);
    if (y >= 0) y = hd_match_emit(ctx, m, HD_IR_mul, 2, (int[]){y, f}, NULL, 0, NULL);
    if (y < 0 || b < 0) return y;
    return hd_match_emit(ctx, m, HD_IR_add, 2, (int[]){y, b}, NULL, 0, NULL);
}

/* norm(x) s * f, norm(x) s + b, with f and b of the dimensions that are normalised. */
int hd_rw_norm_affine(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    int t = hd_match_get(m, "n"), by = hd_match_get(m, "f");
    const struct hd_node norm = g->nodes[g->tensors[t].producer];
    const struct hd_tensor x = g->tensors[norm.in[0]], f = g->tensors[by];
    const struct hd_tensor s = g->tensors[norm.in[1]];
    bool sum = g->nodes[m->root].op == HD_IR_add;
    int64_t axis = hd_attr_int(&norm, "axis", -1), count = hd_tensor_elems(&s);
    if (axis < 0) axis += x.rank;
    if (norm.n_out != 1 || !s.data || s.dtype != HD_F32 || f.dtype != HD_F32 || f.rank > x.rank ||
        (sum && norm.n_in > 2 && norm.in[2] >= 0) || (!sum && norm.n_in > 2))
        return -1;
    int64_t elems = hd_tensor_elems(&f), tail = 1;
    for (int i = 0; i < f.rank; i++) {
        int64_t d = x.rank - f.rank + i;
        if (f.dim[i] != (d < axis ? 1 : x.dim[d]) && elems != 1) return -1;
        tail *= f.dim[i];
    }
    if (tail != count && elems != 1) return -1;
    float *v = hd_new_array(g->arena, float, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++) {
        float by_one = ((const float *)f.data)[elems == 1 ? 0 : i];
        v[i] = sum ? by_one : ((const float *)s.data)[i] * by_one;
    }
    int made = hd_graph_const(g, f.name, HD_F32, s.rank, s.dim, v);
    int in[3] = {norm.in[0], sum ? norm.in[1] : made, sum ? made : -1};
    int y = hd_match_emit(ctx, m, HD_IR_layernorm, sum ? 3 : 2, in, NULL, 0, NULL);
    if (y < 0) return -1;
    hd_pass_copy_attrs(g, m->made, g->tensors[t].producer);
    return hd_graph_infer_node(ctx, g, m->made) == HD_OK ? y : -1;
}

int hd_rw_log_softmax(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    int x = hd_match_get(m, "x");
    const struct hd_node *n = &g->nodes[g->tensors[hd_match_get(m, "p")].producer];
    int64_t axis = hd_attr_int(n, "axis", -1);
    int y = hd_match_emit(ctx, m, HD_IR_logsoftmax, 1, &x, NULL, 0, NULL);
    if (y >= 0) hd_attr_set_int(g, m->made, "axis", axis);
    return y;
}
