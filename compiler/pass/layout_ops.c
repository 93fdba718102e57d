/* What operations say of axes, when their operands are permuted: see layout_ops.h. */
#include "compiler/pass/layout_ops.h"

#include <string.h>

#include "compiler/ir/memory.h"
#include "compiler/ir/move.h"

struct remap {
    const hd_graph *g;
    const struct hd_node *n;
    const struct hd_perm *p;
    struct hd_remap *out;
    int64_t axis; /* when the node does not say */
};

/* The constant list of integers that is operand i: how many; 0 when it is left out, -1 when it is
 * not constant or longer than max. */
static int read_list(const struct remap *r, int i, int64_t *out, int max) {
    if (i >= r->n->n_in || r->n->in[i] < 0) return 0;
    return hd_const_list(&r->g->tensors[r->n->in[i]], out, max);
}

static int64_t moved_axis(const struct remap *r, int64_t axis) {
    return r->p->perm[axis < 0 ? axis + r->p->rank : axis];
}

/* A new list as operand `at`. */
static bool give_list(const struct remap *r, int at, int n) {
    r->out->at = at;
    r->out->n = n;
    return true;
}

/* The listed dimensions (a bit set) follow each other as before; ones: those of 1, too. */
static bool same_order(const struct remap *r, unsigned set, bool ones) {
    const struct hd_tensor *x = &r->g->tensors[r->n->in[0]];
    int64_t last = -1;
    for (int d = 0; d < x->rank; d++) {
        if (!(set >> d & 1) || (x->dim[d] == 1 && !ones)) continue;
        if (r->p->perm[d] < last) return false;
        last = r->p->perm[d];
    }
    return true;
}

static bool remap_nothing(const struct remap *r) {
    (void)r;
    return true;
}

static bool remap_axis(const struct remap *r) {
    r->out->has_axis = true;
    r->out->axis = moved_axis(r, hd_attr_int(r->n, "axis", r->axis));
    return true;
}

static bool remap_per_axis(const struct remap *r) {
    return hd_tensor_elems(&r->g->tensors[r->n->in[1]]) == 1 || remap_axis(r);
}

/* Dimensions `set` go: without keepdims, those that stay must be in the order that they had. */
static bool goes(const struct remap *r, unsigned set) {
    r->out->keeps = !hd_attr_int(r->n, "keepdims", 1);
    return !r->out->keeps || same_order(r, ~set, true);
}

static bool remap_arg(const struct remap *r) {
    int64_t axis = hd_attr_int(r->n, "axis", r->axis);
    return remap_axis(r) && goes(r, 1u << (axis < 0 ? axis + r->p->rank : axis));
}

static bool remap_cumsum(const struct remap *r) {
    if (read_list(r, 1, r->out->list, 1) != 1) return false;
    r->out->list[0] = moved_axis(r, r->out->list[0]);
    return give_list(r, 1, 1);
}

static bool remap_reduce(const struct remap *r) {
    int64_t axes[HD_MAX_RANK];
    int n = read_list(r, 1, axes, HD_MAX_RANK);
    if (n <= 0) return false;
    unsigned set = hd_axes_set(r->p->rank, n, axes);
    for (int i = 0; i < n; i++) r->out->list[i] = moved_axis(r, axes[i]);
    return same_order(r, set, false) && goes(r, set) && give_list(r, 1, n);
}

static bool remap_slice(const struct remap *r) {
    int64_t starts[HD_MAX_RANK], axes[HD_MAX_RANK];
    int n = read_list(r, 1, starts, HD_MAX_RANK), n_axes = read_list(r, 3, axes, HD_MAX_RANK);
    if (n <= 0 || n_axes < 0) return false;
    for (int i = 0; i < n; i++) r->out->list[i] = moved_axis(r, n_axes ? axes[i] : i);
    return give_list(r, 3, n);
}

static bool remap_pad(const struct remap *r) {
    int64_t list[2 * HD_MAX_RANK], axes[HD_MAX_RANK], pads[2 * HD_MAX_RANK];
    int rank = r->p->rank, n = read_list(r, 1, list, 2 * HD_MAX_RANK);
    int n_axes = read_list(r, 3, axes, HD_MAX_RANK);
    if (n <= 0 || n_axes < 0) return false;
    hd_pads_spread(rank, list, n_axes, axes, pads);
    for (int d = 0; d < rank; d++) {
        r->out->list[r->p->perm[d]] = pads[d];
        r->out->list[r->p->perm[d] + rank] = pads[d + rank];
    }
    r->out->n_in = 3; /* of all axes */
    return give_list(r, 1, 2 * rank);
}

/* One number for each dimension. */
static bool remap_list(const struct remap *r) {
    int64_t list[HD_MAX_RANK];
    if (read_list(r, 1, list, HD_MAX_RANK) != r->p->rank) return false;
    for (int d = 0; d < r->p->rank; d++) r->out->list[r->p->perm[d]] = list[d];
    return give_list(r, 1, r->p->rank);
}

bool hd_layout_remap(const hd_graph *g, const struct hd_node *n, const struct hd_perm *p,
                     struct hd_remap *out) {
    struct remap r = {g, n, p, out, 0};
    *out = (struct hd_remap){.data = n->n_in, .n_in = n->n_in};
    if (hd_attr_get(n, "by")) return false; /* axes by name are not lowered yet */
    switch (n->op) {
#define AGNOSTIC(name, operands, what, def)                                                        \
    case HD_IR_##name:                                                                             \
        out->data = operands < n->n_in ? operands : n->n_in;                                       \
        r.axis = def;                                                                              \
        return remap_##what(&r);
#include "compiler/pass/layout.def"
    default:
        return hd_is_elementwise(n->op);
    }
}
