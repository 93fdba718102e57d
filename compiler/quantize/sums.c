/* Sums and products of a few parts of one tensor, as those of two tensors: they need no change of
 * layout, as a product by ones does.
 *
 *   reducesum(x) over a dimension of 2 to PARTS  ->  slice(x, 0) + slice(x, 1) + ..
 *   where x is joined of branches, or a product of what is:  x0*f0 + x1*f1 + ..
 *   mean, maximum and minimum of branches  ->  (x0 + x1 + ..) / n, max(max(x0, x1), ..), .. */
#include <string.h>

#include "compiler/ir/move.h"
#include "compiler/quantize/quantize.h"

enum { PARTS = 4 };

/* The one dimension that is reduced; -1: none, or several. */
static int reduced(const hd_graph *g, const struct hd_node *n, const struct hd_tensor *x) {
    const struct hd_tensor *axes = n->n_in > 1 && n->in[1] >= 0 ? &g->tensors[n->in[1]] : NULL;
    if (!axes || !axes->data || axes->dtype != HD_I64) return -1;
    unsigned set = hd_axes_set(x->rank, (int)hd_tensor_elems(axes), axes->data);
    int found = -1;
    for (int d = 0; d < x->rank; d++) {
        if (!(set >> d & 1) || x->dim[d] == 1) continue;
        if (found >= 0) return -1;
        found = d;
    }
    return found;
}

static int number(hd_graph *g, const char *name, int64_t v) {
    int64_t one = 1;
    return hd_graph_const(g, name, HD_I64, 1, &one, &v);
}

/* t in another shape, all of it. */
static int reshaped(hd_graph *g, int t, int rank, const int64_t *dim) {
    const struct hd_tensor x = g->tensors[t];
    if (x.rank == rank && !memcmp(x.dim, dim, (size_t)rank * sizeof *dim)) return t;
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.branch", x.name), HD_F32, rank, dim);
    int id = hd_graph_node(g, HD_IR_reshape, g->tensors[y].name, 1, &t, 1, &y);
    hd_attr_set_ints(g, id, "shape", rank, dim);
    return y;
}

/* The dimensions of t without `axis`. */
static int without(const struct hd_tensor *t, int axis, int64_t *out) {
    memcpy(out, t->dim, (size_t)axis * sizeof *out);
    memcpy(out + axis, t->dim + axis + 1, (size_t)(t->rank - axis - 1) * sizeof *out);
    return t->rank - 1;
}

/* Elements [from, to) of t along `axis`. */
static int cut(hd_graph *g, int t, int axis, int64_t from, int64_t to) {
    const struct hd_tensor x = g->tensors[t];
    int64_t dim[HD_MAX_RANK];
    memcpy(dim, x.dim, sizeof dim), dim[axis] = to - from;
    const char *name = hd_sprintf(g->arena, "%s.part%d", x.name, (int)from);
    int part = hd_graph_tensor(g, name, HD_F32, x.rank, dim);
    int in[4] = {t, number(g, "sum.from", from), number(g, "sum.to", to),
                 number(g, "sum.axis", axis)};
    hd_graph_node(g, HD_IR_slice, name, 4, in, 1, &part);
    return part;
}

static const struct hd_node *maker(const hd_graph *g, int t) {
    return g->tensors[t].producer < 0 ? NULL : &g->nodes[g->tensors[t].producer];
}

/* Operand i of the concat along `axis` that makes t of so many parts, all alike; else -1. */
static int joined(const hd_graph *g, int t, int axis, int64_t parts, int i) {
    const struct hd_node *n = maker(g, t);
    const struct hd_tensor *x = &g->tensors[t];
    if (!n || n->op != HD_IR_concat || n->n_in != parts) return -1;
    int64_t at = hd_attr_int(n, "axis", 0);
    if ((at < 0 ? at + x->rank : at) != axis) return -1;
    for (int k = 0; k < n->n_in; k++) {
        const struct hd_tensor *part = &g->tensors[n->in[k]];
        if (!part->known || part->dim[axis] * parts != x->dim[axis]) return -1;
    }
    return n->in[i];
}

/* The tensor whose dimension `axis` a reshape splits in two, the first of which is t's; else -1. */
static int unsplit(const hd_graph *g, int t, int axis) {
    const struct hd_node *n = maker(g, t);
    if (!n || n->op != HD_IR_reshape) return -1;
    const struct hd_tensor *y = &g->tensors[t], *x = &g->tensors[n->in[0]];
    int64_t rest[HD_MAX_RANK];
    if (!x->known || x->rank != y->rank - 1 || axis >= x->rank) return -1;
    without(y, axis, rest);
    rest[axis] *= y->dim[axis];
    return memcmp(rest, x->dim, (size_t)x->rank * sizeof *rest) ? -1 : n->in[0];
}

/* Part i of t along `axis`, without that dimension, by what t is joined of; -1: it is not. What has
 * at most so many elements is cut, and what has one part is the same in all. */
static int branch(hd_graph *g, int t, int axis, int i, int64_t most, bool make) {
    const struct hd_tensor x = g->tensors[t];
    const struct hd_node *n = maker(g, t);
    int64_t rest[HD_MAX_RANK];
    if (!x.known || x.dtype != HD_F32) return -1;
    if (axis < 0) return t;
    const int64_t parts = x.dim[axis];
    int rank = without(&x, axis, rest), all = unsplit(g, t, axis), in[2];
    int from = parts == 1 ? t : joined(g, all < 0 ? t : all, axis, parts, i);
    if (from >= 0) return make ? reshaped(g, from, rank, rest) : from;
    if (all >= 0) return make ? cut(g, all, axis, i * rest[axis], (i + 1) * rest[axis]) : all;
    if (x.data || hd_tensor_elems(&x) <= most)
        return make ? reshaped(g, cut(g, t, axis, i, i + 1), rank, rest) : t;
    if (!n || (n->op != HD_IR_mul && n->op != HD_IR_add) || hd_graph_only_user(g, t) < 0) return -1;
    const struct hd_node pair = *n;
    for (int k = 0; k < 2; k++) {
        const int of = pair.in[k], at = axis + g->tensors[of].rank - x.rank;
        in[k] = branch(g, of, at, i, most, make);
        if (in[k] < 0) return -1;
    }
    if (!make) return t;
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.part%d", x.name, i), HD_F32, rank, rest);
    hd_graph_node(g, pair.op, g->tensors[y].name, 2, in, 1, &y);
    return y;
}

/* What joins two parts; HD_IR_identity: no such reduction. */
static enum hd_ir_op joins(enum hd_ir_op op) {
    switch (op) {
    case HD_IR_reducesum:
    case HD_IR_reducemean:
        return HD_IR_add;
    case HD_IR_reduceprod:
        return HD_IR_mul;
    case HD_IR_reducemax:
        return HD_IR_max;
    case HD_IR_reducemin:
        return HD_IR_min;
    default:
        return HD_IR_identity;
    }
}

/* The last of two tensors like these, joined, or more. */
static int all_joined(hd_graph *g, const struct hd_node *n, int parts, const int *part) {
    const enum hd_ir_op op = joins(n->op);
    const char *name = g->tensors[n->out[0]].name;
    int sum = part[0];
    for (int i = 1; i < parts; i++) {
        const struct hd_tensor p = g->tensors[part[i]];
        int to =
            hd_graph_tensor(g, hd_sprintf(g->arena, "%s.sum%d", name, i), HD_F32, p.rank, p.dim);
        hd_graph_node(g, op, g->tensors[to].name, 2, (int[]){sum, part[i]}, 1, &to);
        sum = to;
    }
    if (n->op != HD_IR_reducemean) return sum;
    float by = 1.0f / (float)parts;
    const struct hd_tensor t = g->tensors[sum];
    int mean = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.mean", name), HD_F32, t.rank, t.dim);
    int in[2] = {sum, hd_graph_const(g, "mean.by", HD_F32, 0, NULL, &by)};
    hd_graph_node(g, HD_IR_mul, g->tensors[mean].name, 2, in, 1, &mean);
    return mean;
}

bool hd_quant_short_sum(hd_graph *g, int node) {
    enum { LITTLE = 8 };
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor x = g->tensors[n.in[0]], y = g->tensors[n.out[0]];
    bool sums = n.op == HD_IR_reducesum || n.op == HD_IR_reduceprod;
    if (joins(n.op) == HD_IR_identity || !x.known || !y.known || x.data || x.dtype != HD_F32)
        return false;
    int axis = reduced(g, &n, &x), out = n.out[0];
    int64_t parts = axis < 0 ? 0 : x.dim[axis], most = sums ? hd_tensor_elems(&x) / LITTLE : 0;
    if (parts < 2 || parts > PARTS || hd_tensor_elems(&x) < 1) return false;
    int part[PARTS];
    bool branches = true;
    for (int i = 0; i < parts; i++)
        branches = branches && branch(g, n.in[0], axis, i, most, false) >= 0;
    if (!branches && !sums) return false; /* a pool of x is better */
    for (int i = 0; i < parts; i++)
        part[i] =
            branches ? branch(g, n.in[0], axis, i, most, true) : cut(g, n.in[0], axis, i, i + 1);
    hd_graph_kill(g, node);
    int sum = all_joined(g, &n, (int)parts, part), last = g->tensors[sum].producer;
    if (g->tensors[sum].rank == y.rank) {
        hd_graph_replace(g, out, sum);
        hd_graph_swap_tensor_names(g, out, sum);
        hd_graph_swap_names(g, last, node);
        return true;
    }
    hd_graph_swap_names(g, last, node);
    int id = hd_graph_node(g, HD_IR_reshape, y.name, 1, &sum, 1, &out);
    hd_attr_set_ints(g, id, "shape", y.rank, y.dim);
    return true;
}
