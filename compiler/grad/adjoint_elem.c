/* Adjoints of clip, gelu and cast, of reductions, and of what works along one axis. */
#include <string.h>

#include "compiler/grad/adjoint.h"
#include "compiler/ir/move.h"

int hd_a_ints(struct hd_adjoint *a, int i, int64_t *out, int max) {
    if (!hd_a_has(a, i)) return 0;
    struct hd_tensor t = hd_b_shape(a->b, a->n.in[i]);
    int64_t n = hd_tensor_elems(&t);
    if (!t.data || n > max || (t.dtype != HD_I64 && t.dtype != HD_I32))
        return hd_b_fail(a->b, &a->n, "an operand that gives shapes is no constant");
    for (int64_t k = 0; k < n; k++)
        out[k] = t.dtype == HD_I64 ? ((const int64_t *)t.data)[k] : ((const int32_t *)t.data)[k];
    return (int)n;
}

int64_t hd_a_axis(const struct hd_adjoint *a, const char *name, int64_t def, int rank) {
    int64_t axis = hd_attr_int(&a->n, name, def);
    return axis < 0 ? axis + rank : axis;
}

/* Attribute gradient: what it is multiplied by on the way back; 0 stops it. */
void hd_adjoint_identity(struct hd_adjoint *a) {
    double by = (double)hd_attr_float(&a->n, "gradient", 1);
    int g = a->dy[0];
    if (by == 0) return;
    a->dx[0] = by == 1 ? g : hd_b(a->b, mul, g, hd_b_number(a->b, hd_b_shape(a->b, g).dtype, by));
}

/* y = min(max(x, lo), hi), each of lo and hi may be left out. */
void hd_adjoint_clip(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    int x = hd_a_in(a, 0), lo = hd_a_in(a, 1), hi = hd_a_in(a, 2), g = a->dy[0];
    struct hd_tensor s = hd_b_shape(b, g);
    int zero = hd_b_number(b, s.dtype, 0);
    int below = lo >= 0 ? hd_b(b, less, x, lo) : -1, above = hi >= 0 ? hd_b(b, greater, x, hi) : -1;
    if (a->want[0]) {
        int d = g;
        if (below >= 0) d = hd_b(b, where, below, zero, d);
        if (above >= 0) d = hd_b(b, where, above, zero, d);
        a->dx[0] = d;
    }
    for (int i = 1; i < a->n.n_in; i++) {
        int side = i == 1 ? below : above;
        if (!a->want[i] || side < 0) continue;
        struct hd_tensor t = hd_b_shape(b, a->n.in[i]);
        int d = hd_b_reduce(b, HD_IR_reducesum, hd_b(b, where, side, g, zero), 0, NULL, false);
        a->dx[i] = hd_b_reshape(b, d, t.rank, t.dim);
    }
}

/* None: x/2 (1 + erf(x / sqrt 2)). Tanh: x/2 (1 + tanh u), u = c (x + 0.044715 x^3). */
void hd_adjoint_gelu(struct hd_adjoint *a) {
    static const char by_erf[] = "mul(g, add(mul(0.5, add(1, erf(mul(a, 0.7071067811865476)))), "
                                 "mul(mul(a, 0.3989422804014327), exp(mul(-0.5, mul(a, a))))))";
#define U "tanh(mul(0.7978845608028654, add(a, mul(0.044715, mul(a, mul(a, a))))))"
    static const char by_tanh[] =
        "mul(g, add(mul(0.5, add(1, " U ")), mul(mul(mul(0.5, a), sub(1, mul(" U ", " U "))), "
        "mul(0.7978845608028654, add(1, mul(0.134145, mul(a, a)))))))";
    bool tanh = !strcmp(hd_attr_string(&a->n, "approximate", "none"), "tanh");
    a->dx[0] = hd_a_text(a, tanh ? by_tanh : by_erf, a->n.out[0], a->dy[0], 0);
}

void hd_adjoint_cast(struct hd_adjoint *a) {
    a->dx[0] = hd_b_cast(a->b, a->dy[0], hd_b_shape(a->b, a->n.in[0]).dtype);
}

/* ---- reductions ----------------------------------------------------------------------------- */

/* Axes of a reduction as a list; the shape of x with 1 along them; how many elements they have. */
static int reduced_axes(struct hd_adjoint *a, int64_t *axes, int64_t *keep, double *count) {
    struct hd_tensor x = hd_b_shape(a->b, a->n.in[0]);
    int64_t given[HD_MAX_RANK];
    int n = hd_a_ints(a, 1, given, HD_MAX_RANK), n_axes = 0;
    if (n < 0) return -1;
    unsigned set = n                                               ? hd_axes_set(x.rank, n, given)
                   : hd_attr_int(&a->n, "noop_with_empty_axes", 0) ? 0
                                                                   : ~0u;
    *count = 1;
    for (int d = 0; d < x.rank; d++) {
        bool over = set >> d & 1;
        keep[d] = over ? 1 : x.dim[d];
        if (!over) continue;
        axes[n_axes++] = d;
        *count *= (double)x.dim[d];
    }
    return n_axes;
}

/* Of equal largest or smallest elements, each gets its share. */
void hd_adjoint_reduced(struct hd_adjoint *a, const char *text) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]);
    int64_t axes[HD_MAX_RANK], keep[HD_MAX_RANK];
    double count = 1;
    int n = reduced_axes(a, axes, keep, &count);
    if (n < 0) return;
    int g = hd_b_reshape(b, a->dy[0], x.rank, keep);
    int y = hd_b_reshape(b, a->n.out[0], x.rank, keep);
    if (n && (a->n.op == HD_IR_reducemax || a->n.op == HD_IR_reducemin)) {
        int same = hd_b_cast(b, hd_b(b, equal, a->n.in[0], y), x.dtype);
        g = hd_b(b, div, g, hd_b_reduce(b, HD_IR_reducesum, same, n, axes, true));
    }
    a->dx[0] = hd_b_expand(b, hd_a_text(a, text, y, g, count), x.rank, x.dim);
}

/* ---- along one axis ------------------------------------------------------------------------- */

/* dx = y (g - sum(g y)) */
void hd_adjoint_softmax(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    int y = a->n.out[0], g = a->dy[0];
    int64_t axis = hd_a_axis(a, "axis", -1, hd_b_shape(b, y).rank);
    int sum = hd_b_reduce(b, HD_IR_reducesum, hd_b(b, mul, g, y), 1, &axis, true);
    a->dx[0] = hd_b(b, mul, y, hd_b(b, sub, g, sum));
}

/* dx = g - exp(y) sum(g) */
void hd_adjoint_logsoftmax(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    int y = a->n.out[0], g = a->dy[0];
    int64_t axis = hd_a_axis(a, "axis", -1, hd_b_shape(b, y).rank);
    int sum = hd_b_reduce(b, HD_IR_reducesum, g, 1, &axis, true);
    a->dx[0] = hd_b(b, sub, g, hd_b(b, mul, hd_b(b, exp, y), sum));
}

/* Sums from the other end. */
static int summed_back(struct hd_adjoint *a, int g) {
    int node = hd_b_start(a->b, HD_IR_cumsum, 2, (int[]){g, a->n.in[1]}, 1);
    hd_b_int(a->b, node, "exclusive", hd_attr_int(&a->n, "exclusive", 0));
    hd_b_int(a->b, node, "reverse", !hd_attr_int(&a->n, "reverse", 0));
    return hd_b_end(a->b, node);
}

void hd_adjoint_cumsum(struct hd_adjoint *a) {
    a->dx[0] = summed_back(a, a->dy[0]);
}

/* For operands without zeros. */
void hd_adjoint_cumprod(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    a->dx[0] = hd_b(b, div, summed_back(a, hd_b(b, mul, a->dy[0], a->n.out[0])), a->n.in[0]);
}

void hd_adjoint_topk(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]);
    int at = a->n.n_out > 1 ? a->n.out[1] : -1;
    if (at < 0) { /* nobody wanted the places: once more, with them */
        int node = hd_b_start(b, HD_IR_topk, 2, a->n.in, 2);
        if (node >= 0) hd_b_copy(b, node, &a->n);
        if (hd_b_end(b, node) < 0) return;
        at = b->g->nodes[node].out[1];
    }
    int in[3] = {hd_b_filled(b, &x, 0), at, a->dy[0]};
    int node = hd_b_start(b, HD_IR_scatterelements, 3, in, 1);
    hd_b_int(b, node, "axis", hd_a_axis(a, "axis", -1, x.rank));
    hd_b_string(b, node, "reduction", "add");
    a->dx[0] = hd_b_end(b, node);
}
