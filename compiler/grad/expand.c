/* Norms and losses, made of operations that have adjoints. */
#include <string.h>

#include "compiler/grad/adjoint.h"

static double epsilon(const struct hd_adjoint *a, float def) {
    return (double)hd_attr_float(&a->n, "epsilon", def);
}

/* Operand i, [C], at the rank of x with the channels at dimension 1. */
static int per_channel(struct hd_adjoint *a, int i, const struct hd_tensor *x) {
    struct hd_tensor t = hd_b_shape(a->b, a->n.in[i]);
    int64_t dim[HD_MAX_RANK] = {0};
    for (int d = 0; d < x->rank; d++) dim[d] = 1;
    dim[x->rank > 1 ? 1 : 0] = hd_tensor_elems(&t);
    return hd_b_reshape(a->b, hd_b_cast(a->b, a->n.in[i], x->dtype), x->rank, dim);
}

static int plus(struct hd_back *b, int x, double v) {
    return hd_b(b, add, x, hd_b_number(b, hd_b_shape(b, x).dtype, v));
}

/* scale x + bias; bias may be left out (HD_B_NONE). */
static int scaled(struct hd_back *b, int x, int scale, int bias) {
    int y = hd_b(b, mul, x, scale);
    return bias == HD_B_NONE ? y : hd_b(b, add, y, bias);
}

struct moments {
    int mean, off, var; /* off: x - mean; mean -1: none is taken off */
};

static struct moments moments(struct hd_back *b, int x, int n, const int64_t *axes, bool centred) {
    struct moments m = {.mean = -1, .off = x};
    if (centred) {
        m.mean = hd_b_reduce(b, HD_IR_reducemean, x, n, axes, true);
        m.off = hd_b(b, sub, x, m.mean);
    }
    m.var = hd_b_reduce(b, HD_IR_reducemean, hd_b(b, mul, m.off, m.off), n, axes, true);
    return m;
}

/* Axes from .. rank - 1. */
static int axes_from(int from, int rank, int64_t *axes) {
    int n = 0;
    for (int d = from; d < rank; d++) axes[n++] = d;
    return n;
}

void hd_expand_batchnorm(struct hd_adjoint *a, int *y) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]);
    int root = hd_b(b, sqrt, plus(b, per_channel(a, 4, &x), epsilon(a, 1e-5f)));
    int off = hd_b(b, sub, a->n.in[0], per_channel(a, 3, &x));
    int by = hd_b(b, div, per_channel(a, 1, &x), root);
    y[0] = scaled(b, off, by, per_channel(a, 2, &x));
}

void hd_expand_instancenorm(struct hd_adjoint *a, int *y) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]);
    int64_t axes[HD_MAX_RANK];
    struct moments m = moments(b, a->n.in[0], axes_from(2, x.rank, axes), axes, true);
    int norm = hd_b(b, div, m.off, hd_b(b, sqrt, plus(b, m.var, epsilon(a, 1e-5f))));
    y[0] = scaled(b, norm, per_channel(a, 1, &x), per_channel(a, 2, &x));
}

void hd_expand_layernorm(struct hd_adjoint *a, int *y) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]);
    int64_t axes[HD_MAX_RANK];
    int n = axes_from((int)hd_a_axis(a, "axis", -1, x.rank), x.rank, axes);
    struct moments m = moments(b, a->n.in[0], n, axes, hd_attr_int(&a->n, "centred", 1) != 0);
    int inv = hd_b(b, reciprocal, hd_b(b, sqrt, plus(b, m.var, epsilon(a, 1e-5f))));
    y[0] = scaled(b, hd_b(b, mul, m.off, inv), a->n.in[1], hd_a_in(a, 2));
    if (a->n.n_out > 1) y[1] = m.mean;
    if (a->n.n_out > 2) y[2] = inv;
}

/* Operand i, a value for each group or each channel, as one for each channel. */
static int grouped(struct hd_adjoint *a, int i, const struct hd_tensor *x, int64_t groups) {
    struct hd_tensor t = hd_b_shape(a->b, a->n.in[i]);
    if (t.dim[0] == x->dim[1]) return per_channel(a, i, x);
    int v = hd_b_reshape(a->b, a->n.in[i], 2, (int64_t[]){groups, 1});
    v = hd_b_expand(a->b, v, 2, (int64_t[]){groups, x->dim[1] / groups});
    int64_t dim[HD_MAX_RANK];
    for (int d = 0; d < x->rank; d++) dim[d] = d == 1 ? x->dim[1] : 1;
    return hd_b_reshape(a->b, v, x->rank, dim);
}

void hd_expand_groupnorm(struct hd_adjoint *a, int *y) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]);
    int64_t groups = hd_attr_int(&a->n, "num_groups", 1), two = 2;
    int64_t all = hd_tensor_elems(&x), each = x.dim[0] ? all / x.dim[0] / groups : 0;
    int rows = hd_b_reshape(b, a->n.in[0], 3, (int64_t[]){x.dim[0], groups, each});
    struct moments m = moments(b, rows, 1, &two, true);
    int norm = hd_b(b, div, m.off, hd_b(b, sqrt, plus(b, m.var, epsilon(a, 1e-5f))));
    norm = hd_b_reshape(b, norm, x.rank, x.dim);
    y[0] = scaled(b, norm, grouped(a, 1, &x, groups), grouped(a, 2, &x, groups));
}

void hd_expand_lpnorm(struct hd_adjoint *a, int *y) {
    struct hd_back *b = a->b;
    int x = a->n.in[0];
    int64_t axis = hd_a_axis(a, "axis", -1, hd_b_shape(b, x).rank);
    enum hd_ir_op op = hd_attr_int(&a->n, "p", 2) == 1 ? HD_IR_reducel1 : HD_IR_reducel2;
    y[0] = hd_b(b, div, x, hd_b_reduce(b, op, x, 1, &axis, true));
}

void hd_expand_mvn(struct hd_adjoint *a, int *y) {
    struct hd_back *b = a->b;
    int64_t axes[HD_MAX_RANK];
    int rank = hd_b_shape(b, a->n.in[0]).rank;
    int n = hd_attr_ints(&a->n, "axes", axes, HD_MAX_RANK, 0);
    for (int i = 0; i < n; i++) axes[i] += axes[i] < 0 ? rank : 0;
    struct moments m = moments(b, a->n.in[0], n, axes, true);
    y[0] = hd_b(b, div, m.off, plus(b, hd_b(b, sqrt, m.var), 1e-9));
}

/* 1 where channel j counts for channel i. */
static int band(struct hd_back *b, int64_t channels, int64_t size, hd_dtype t) {
    int64_t *v = hd_new_array(b->arena, int64_t, (size_t)(channels * channels) + 1);
    for (int64_t i = 0; i < channels; i++)
        for (int64_t j = 0; j < channels; j++)
            v[i * channels + j] = j >= i - (size - 1) / 2 && j <= i + size / 2;
    int flat = hd_b_cast(b, hd_b_vector(b, (int)(channels * channels), v), t);
    return hd_b_reshape(b, flat, 2, (int64_t[]){channels, channels});
}

void hd_expand_lrn(struct hd_adjoint *a, int *y) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]);
    int64_t size = hd_attr_int(&a->n, "size", 1), c = x.dim[1];
    int64_t pixels = x.dim[0] && c ? hd_tensor_elems(&x) / x.dim[0] / c : 0;
    double alpha = (double)hd_attr_float(&a->n, "alpha", 1e-4f) / (double)size;
    int squares = hd_b(b, mul, a->n.in[0], a->n.in[0]);
    squares = hd_b_reshape(b, squares, 3, (int64_t[]){x.dim[0], c, pixels});
    int sum = hd_b(b, matmul, band(b, c, size, x.dtype), squares);
    int s = hd_b(b, mul, hd_b_reshape(b, sum, x.rank, x.dim), hd_b_number(b, x.dtype, alpha));
    s = plus(b, s, (double)hd_attr_float(&a->n, "bias", 1));
    double beta = (double)hd_attr_float(&a->n, "beta", 0.75f);
    y[0] = hd_b(b, mul, a->n.in[0], hd_b(b, pow, s, hd_b_number(b, x.dtype, -beta)));
}

/* -w[target] x[target], each, summed, or as the mean by weights. */
void hd_expand_nllloss(struct hd_adjoint *a, int *y) {
    struct hd_back *b = a->b;
    const char *how = hd_attr_string(&a->n, "reduction", "mean");
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]), t = hd_b_shape(b, a->n.in[1]), at = x;
    int target = a->n.in[1], kept = -1, weight = -1;
    at.dim[1] = 1;
    if (hd_attr_get(&a->n, "ignore_index")) {
        int ignored = hd_b_number(b, t.dtype, (double)hd_attr_int(&a->n, "ignore_index", 0));
        kept = hd_b(b, equal, target, ignored);
        target = hd_b(b, where, kept, hd_b_number(b, t.dtype, 0), target);
        kept = hd_b_cast(b, hd_b(b, not, kept), x.dtype);
        weight = kept;
    }
    if (hd_a_has(a, 2)) {
        weight = hd_b(b, gather, a->n.in[2], target);
        if (kept >= 0) weight = hd_b(b, mul, weight, kept);
    }
    int index = hd_b_reshape(b, target, x.rank, at.dim);
    int node = hd_b_start(b, HD_IR_gatherelements, 2, (int[]){a->n.in[0], index}, 1);
    hd_b_int(b, node, "axis", 1);
    int v = hd_b(b, neg, hd_b_reshape(b, hd_b_end(b, node), t.rank, t.dim));
    if (weight >= 0) v = hd_b(b, mul, v, weight);
    bool mean = !strcmp(how, "mean");
    if (!strcmp(how, "none")) {
        y[0] = v;
    } else if (mean && weight < 0) {
        y[0] = hd_b_reduce(b, HD_IR_reducemean, v, 0, NULL, false);
    } else {
        y[0] = hd_b_reduce(b, HD_IR_reducesum, v, 0, NULL, false);
        if (mean)
            y[0] = hd_b(b, div, y[0], hd_b_reduce(b, HD_IR_reducesum, weight, 0, NULL, false));
    }
}
