/* Named axes: what operations make of them. The rules stand in axes.h. */
#include "compiler/ir/axes.h"

#include <string.h>

int hd_graph_axis(hd_graph *g, const char *name, int64_t length) {
    for (size_t i = 0; i < g->n_axes; i++)
        if (!strcmp(g->axes[i].name, name)) return g->axes[i].length == length ? (int)i : -1;
    *hd_push(g->arena, g->axes, g->n_axes, g->cap_axes) =
        (struct hd_axis){hd_strdup(g->arena, name), length};
    return (int)g->n_axes - 1;
}

void hd_tensor_set_axis(hd_graph *g, int tensor, int dim, int axis) {
    g->tensors[tensor].axis[dim] = axis + 1;
}

hd_status hd_axes_check(hd_ctx *ctx, const hd_graph *g, const struct hd_tensor *t) {
    for (int i = 0; i < t->rank; i++) {
        if (!t->axis[i]) continue;
        if (t->axis[i] < 0 || t->axis[i] > (int)g->n_axes)
            return hd_fail(ctx, HD_INVALID, "tensor '%s': axis id %d, the graph has %zu", t->name,
                           t->axis[i] - 1, g->n_axes);
        const struct hd_axis *a = &g->axes[t->axis[i] - 1];
        if (a->length != t->dim[i])
            return hd_fail(ctx, HD_INVALID,
                           "tensor '%s': axis %s has length %lld, dimension %d has %lld", t->name,
                           a->name, (long long)a->length, i, (long long)t->dim[i]);
        for (int k = 0; k < i; k++)
            if (t->axis[k] == t->axis[i])
                return hd_fail(ctx, HD_INVALID, "tensor '%s': axis %s is in dimensions %d and %d",
                               t->name, a->name, k, i);
    }
    return HD_OK;
}

static const char *axis_name(const struct infer *c, int axis) {
    return c->g->axes[axis - 1].name;
}

/* ---- by position ---- */

/* Dimension d of output 0 has this axis; 0 says nothing. */
static hd_status put(struct infer *c, int d, int axis) {
    if (!axis || d < 0 || d >= c->out->rank || c->g->axes[axis - 1].length != c->out->dim[d])
        return HD_OK;
    if (c->out->axis[d] && c->out->axis[d] != axis)
        return BAD(c, "axes %s and %s meet in dimension %d", axis_name(c, c->out->axis[d]),
                   axis_name(c, axis), d);
    c->out->axis[d] = axis;
    return HD_OK;
}

/* Operand i keeps its dimensions, aligned at the end. */
static hd_status keep(struct infer *c, int i) {
    const struct hd_tensor *x = in(c, i);
    for (int d = 0; x && d < x->rank; d++) TRY(put(c, c->out->rank - x->rank + d, x->axis[d]));
    return HD_OK;
}

static hd_status same_axis(struct infer *c, int a, int b) {
    if (!a || !b || a == b) return HD_OK;
    return BAD(c, "sums over axis %s of one operand and %s of the other", axis_name(c, a),
               axis_name(c, b));
}

static hd_status of_matmul(struct infer *c) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1);
    int ra = a->rank, rb = b->rank, y = c->out->rank;
    TRY(same_axis(c, a->axis[ra - 1], b->axis[rb > 1 ? rb - 2 : 0]));
    if (rb > 1) TRY(put(c, --y, b->axis[rb - 1]));
    if (ra > 1) TRY(put(c, --y, a->axis[ra - 2]));
    for (int d = 0; d < ra - 2; d++) TRY(put(c, y - (ra - 2) + d, a->axis[d]));
    for (int d = 0; d < rb - 2; d++) TRY(put(c, y - (rb - 2) + d, b->axis[d]));
    return HD_OK;
}

static hd_status of_gemm(struct infer *c) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1);
    bool ta = hd_attr_int(c->n, "transA", 0) != 0;
    bool tb = c->n->op == HD_IR_qgemm || hd_attr_int(c->n, "transB", 0) != 0;
    TRY(same_axis(c, a->axis[!ta], b->axis[tb]));
    TRY(put(c, 0, a->axis[ta]));
    return put(c, 1, b->axis[!tb]);
}

/* Images and channels stay; windows make new positions. */
static hd_status of_conv(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *w = in(c, 1);
    if (hd_attr_int(c->n, "group", 1) == 1) TRY(same_axis(c, x->axis[1], w->axis[1]));
    TRY(put(c, 0, x->axis[0]));
    return put(c, 1, w->axis[0]);
}

static hd_status of_pool(struct infer *c) {
    TRY(put(c, 0, in(c, 0)->axis[0]));
    return put(c, 1, in(c, 0)->axis[1]);
}

static hd_status of_transpose(struct infer *c) {
    int64_t perm[HD_MAX_RANK];
    int n = hd_attr_ints(c->n, "perm", perm, HD_MAX_RANK, 0);
    for (int d = 0; d < n; d++) TRY(put(c, d, in(c, 0)->axis[perm[d]]));
    return HD_OK;
}

/* Dimensions in front and behind that stay as they are keep their axes. */
static hd_status of_reshape(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *y = c->out;
    int front = 0, back = 0, least = x->rank < y->rank ? x->rank : y->rank;
    while (front < least && x->dim[front] == y->dim[front]) front++;
    while (back < least - front && x->dim[x->rank - 1 - back] == y->dim[y->rank - 1 - back]) back++;
    for (int d = 0; d < front; d++) TRY(put(c, d, x->axis[d]));
    for (int d = 1; d <= back; d++) TRY(put(c, y->rank - d, x->axis[x->rank - d]));
    return HD_OK;
}

static hd_status of_concat(struct infer *c) {
    int64_t axis;
    TRY(hd_infer_axis(c, "axis", 0, c->out->rank, &axis));
    for (int i = 0; i < c->n->n_in; i++)
        for (int d = 0; d < c->out->rank; d++)
            if (d != axis) TRY(put(c, d, in(c, i)->axis[d]));
    return HD_OK;
}

static bool elementwise(enum hd_ir_op op) {
    switch (op) {
    case HD_IR_add:
    case HD_IR_sub:
    case HD_IR_mul:
    case HD_IR_div:
    case HD_IR_pow:
    case HD_IR_mod:
    case HD_IR_max:
    case HD_IR_min:
    case HD_IR_equal:
    case HD_IR_less:
    case HD_IR_greater:
    case HD_IR_and:
    case HD_IR_or:
    case HD_IR_xor:
#define QPAIR(name, ...) case HD_IR_##name:
#include "compiler/ir/qpair.def"
        return true;
    default:
        return false;
    }
}

/* One operand, one result of its shape, element by element or along a line: names stay. */
static bool keeps_shape(const struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    switch (c->n->op) {
    case HD_IR_resize: /* these may keep a size by chance, but not the positions */
    case HD_IR_slice:
    case HD_IR_pad:
    case HD_IR_gather:
    case HD_IR_gatherelements:
    case HD_IR_gathernd:
    case HD_IR_topk:
    case HD_IR_tile:
    case HD_IR_if:
    case HD_IR_loop:
    case HD_IR_scan:
        return false;
    default:
        return x && x->rank == c->out->rank &&
               !memcmp(x->dim, c->out->dim, (size_t)x->rank * sizeof *x->dim);
    }
}

hd_status hd_axes_outputs(struct infer *c) {
    if (!c->g->n_axes || c->later || c->out->rank < 0) return HD_OK;
    switch (c->n->op) {
    case HD_IR_matmul:
        return of_matmul(c);
    case HD_IR_gemm:
    case HD_IR_qgemm:
        return of_gemm(c);
    case HD_IR_conv:
    case HD_IR_qconv:
        return of_conv(c);
    case HD_IR_maxpool:
    case HD_IR_avgpool:
    case HD_IR_qmaxpool:
    case HD_IR_qavgpool:
    case HD_IR_qmean:
        return of_pool(c);
    case HD_IR_transpose:
        return of_transpose(c);
    case HD_IR_reshape:
        return of_reshape(c);
    case HD_IR_concat:
        return of_concat(c);
    case HD_IR_expression:
        return hd_axes_of_expression(c);
    case HD_IR_where:
        for (int i = 0; i < 3; i++) TRY(keep(c, i));
        return HD_OK;
    default:
        if (elementwise(c->n->op)) {
            TRY(keep(c, 0));
            return keep(c, 1);
        }
        return keeps_shape(c) ? keep(c, 0) : HD_OK;
    }
}

/* ---- by name ---- */

static int find_axis(const struct hd_tensor *t, int axis) {
    for (int d = 0; d < t->rank; d++)
        if (t->axis[d] == axis) return d;
    return -1;
}

static hd_status append(struct infer *c, int axis) {
    if (c->out->rank == HD_MAX_RANK) return BAD(c, "the result has more than %d axes", HD_MAX_RANK);
    c->out->axis[c->out->rank] = axis;
    c->out->dim[c->out->rank++] = c->g->axes[axis - 1].length;
    return HD_OK;
}

hd_status hd_axes_by_name(struct infer *c) {
    bool product = c->n->op == HD_IR_matmul;
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1);
    const char *by = hd_attr_string(c->n, "by", "");
    if (strcmp(by, "name") || (!product && !elementwise(c->n->op)))
        return BAD(c,
                   "by=\"%s\": allowed is \"name\", on elementwise operations of two operands and "
                   "matmul",
                   by);
    for (int i = 0; i < 2; i++)
        for (int d = 0; d < in(c, i)->rank; d++)
            if (!in(c, i)->axis[d])
                return BAD(c, "operand '%s': dimension %d has no name", in(c, i)->name, d);
    TRY(hd_infer_want_type(c, 1, a->dtype));
    bool test = c->n->op == HD_IR_equal || c->n->op == HD_IR_less || c->n->op == HD_IR_greater;
    c->out->dtype = test ? HD_BOOL : a->dtype;
    for (int d = 0; d < a->rank; d++)
        if (!product || find_axis(b, a->axis[d]) < 0) TRY(append(c, a->axis[d]));
    for (int d = 0; d < b->rank; d++)
        if (find_axis(a, b->axis[d]) < 0) TRY(append(c, b->axis[d]));
    return HD_OK;
}

/* ---- lowering ---- */

static int like(hd_graph *g, const char *name, hd_dtype t, int rank, const int64_t *dim,
                const int *axis) {
    static const int64_t none[1];
    int id = hd_graph_tensor(g, name, t, rank, rank ? dim : none);
    for (int d = 0; axis && d < rank; d++) g->tensors[id].axis[d] = axis[d];
    return id;
}

/* x with its dimensions in the order of `axis` (all of x's own). */
static int ordered(hd_graph *g, int x, const int *axis) {
    const struct hd_tensor t = g->tensors[x];
    int64_t perm[HD_MAX_RANK], dim[HD_MAX_RANK];
    bool moves = false;
    for (int d = 0; d < t.rank; d++) {
        perm[d] = find_axis(&t, axis[d]);
        dim[d] = t.dim[perm[d]];
        moves = moves || perm[d] != d;
    }
    if (!moves) return x;
    int y = like(g, hd_sprintf(g->arena, "%s.t", t.name), t.dtype, t.rank, dim, axis);
    int id = hd_graph_node(g, HD_IR_transpose, g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_ints(g, id, "perm", t.rank, perm);
    return y;
}

static int reshaped(hd_graph *g, int x, int rank, const int64_t *dim, const int *axis) {
    const struct hd_tensor t = g->tensors[x];
    if (t.rank == rank && !memcmp(t.dim, dim, (size_t)rank * sizeof *dim)) return x;
    int y = like(g, hd_sprintf(g->arena, "%s.r", t.name), t.dtype, rank, dim, axis);
    int id = hd_graph_node(g, HD_IR_reshape, g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_ints(g, id, "shape", rank, dim);
    return y;
}

/* x in the order of y's axes, with 1 for those that it lacks. */
static int aligned(hd_graph *g, int x, const struct hd_tensor *y) {
    const struct hd_tensor t = g->tensors[x];
    int axis[HD_MAX_RANK], named[HD_MAX_RANK], n = 0;
    int64_t dim[HD_MAX_RANK];
    for (int d = 0; d < y->rank; d++) {
        bool has = find_axis(&t, y->axis[d]) >= 0;
        if (has) axis[n++] = y->axis[d];
        named[d] = has ? y->axis[d] : 0;
        dim[d] = has ? y->dim[d] : 1;
    }
    return reshaped(g, ordered(g, x, axis), y->rank, dim, named);
}

/* x as a matrix: axes that `other` lacks and those that it has, these last or (first) in front. */
static int matrix(hd_graph *g, int x, const struct hd_tensor *other, const int *shared,
                  int n_shared, bool first) {
    const struct hd_tensor t = g->tensors[x];
    int axis[HD_MAX_RANK], n = 0;
    int64_t dim[2] = {1, 1};
    for (int k = 0; first && k < n_shared; k++) axis[n++] = shared[k];
    for (int d = 0; d < t.rank; d++)
        if (find_axis(other, t.axis[d]) < 0) axis[n++] = t.axis[d];
    for (int k = 0; !first && k < n_shared; k++) axis[n++] = shared[k];
    for (int d = 0; d < t.rank; d++) dim[(find_axis(other, t.axis[d]) >= 0) != first] *= t.dim[d];
    return reshaped(g, ordered(g, x, axis), 2, dim, NULL);
}

static void lower_product(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor a = g->tensors[n.in[0]], b = g->tensors[n.in[1]];
    const struct hd_tensor y = g->tensors[n.out[0]];
    int shared[HD_MAX_RANK], k = 0, in[2];
    for (int d = 0; d < a.rank; d++)
        if (find_axis(&b, a.axis[d]) >= 0) shared[k++] = a.axis[d];
    in[0] = matrix(g, n.in[0], &b, shared, k, false);
    in[1] = matrix(g, n.in[1], &a, shared, k, true);
    int64_t dim[2] = {g->tensors[in[0]].dim[0], g->tensors[in[1]].dim[1]};
    hd_graph_kill(g, node);
    bool plain = y.rank == 2 && y.dim[0] == dim[0] && y.dim[1] == dim[1];
    int m = plain ? n.out[0] : like(g, hd_sprintf(g->arena, "%s.m", y.name), y.dtype, 2, dim, NULL);
    int id = hd_graph_node(g, HD_IR_matmul, n.name, 2, in, 1, &m);
    hd_graph_swap_names(g, id, node);
    if (plain) return;
    id = hd_graph_node(g, HD_IR_reshape, y.name, 1, &m, 1, &n.out[0]);
    hd_attr_set_ints(g, id, "shape", y.rank, y.dim);
}

hd_status hd_axes_lower(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node n = g->nodes[i];
        if (n.dead || !hd_axes_is_by_name(&n)) continue;
        const struct hd_tensor y = g->tensors[n.out[0]];
        if (!y.known)
            return hd_fail(ctx, HD_UNSUPPORTED,
                           "node '%s' (%s): the axes of its operands are not known", n.name,
                           hd_ir_ops[n.op].name);
        if (n.op == HD_IR_matmul) {
            lower_product(g, (int)i);
            continue;
        }
        int in[2] = {aligned(g, n.in[0], &y), aligned(g, n.in[1], &y)};
        hd_graph_kill(g, (int)i);
        int id = hd_graph_node(g, n.op, n.name, 2, in, 1, n.out);
        hd_graph_swap_names(g, id, (int)i);
    }
    return HD_OK;
}
