/* Step maker for operations that only move elements: views that share memory, else strided copies.
 */
#include <string.h>

#include "compiler/ir/move.h"
#include "cpu_ref/cpu_copy.h"
#include "cpu_ref/cpu_plan.h"
#include "cpu_ref/kernels.h"

static const struct hd_tensor *tensor(const struct hd_cpu_plan *p, int id) {
    return &p->g->tensors[id];
}

/* Operands behind the first are constant, so that the shape in the graph is that of every run. */
static bool fixed(const struct hd_cpu_plan *p, const struct hd_node *n) {
    for (int i = 1; i < n->n_in; i++)
        if (n->in[i] >= 0 && !hd_cpu_const(p, n->in[i])) return false;
    return true;
}

static hd_status plan_alias(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    if (!fixed(p, n)) return HD_OK;
    int in = p->view_of[n->in[0]];
    struct hd_cpu_form form = hd_cpu_dense;
    if (n->op == HD_IR_identity && in >= 0)
        form = p->views[in].form; /* whatever it is */
    else
        TRY(hd_cpu_need(p, n->in[0], form, &in));
    int out = hd_cpu_alias(p, n->out[0], form, in, 0);
    p->views[out].bytes = p->views[in].bytes;
    *out_taken = true;
    return HD_OK;
}

static void row_major(const struct hd_tensor *t, int64_t *stride) {
    int64_t step = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        stride[d] = step;
        step *= t->dim[d];
    }
}

struct copies { /* one per operand; rank 0 = it lies there already */
    int n;
    struct hd_copy *copy;
    size_t *at; /* byte in the result */
};

static hd_status run_copies(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct copies *c = s->state;
    for (int i = 0; i < c->n; i++)
        if (c->copy[i].rank)
            hd_copy_run(&c->copy[i], (char *)r->at[s->out[0]] + c->at[i], r->at[s->in[i]]);
    return HD_OK;
}

static struct copies *new_copies(struct hd_cpu_plan *p, int n) {
    struct copies *c = hd_new(p->arena, struct copies);
    c->n = n;
    c->copy = hd_new_array(p->arena, struct hd_copy, (size_t)n);
    c->at = hd_new_array(p->arena, size_t, (size_t)n);
    return c;
}

static hd_status plan_transpose(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = tensor(p, n->in[0]), *y = tensor(p, n->out[0]);
    int64_t perm[HD_MAX_RANK], stride[HD_MAX_RANK];
    if (hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0) != x->rank)
        for (int d = 0; d < x->rank; d++) perm[d] = x->rank - 1 - d;
    int in;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in));
    struct copies *c = new_copies(p, 1);
    struct hd_copy *k = c->copy;
    k->rank = x->rank;
    k->size = (int)hd_dtype_bytes(x->dtype);
    row_major(x, stride);
    row_major(y, k->dst);
    for (int d = 0; d < x->rank; d++) k->dim[d] = y->dim[d], k->src[d] = stride[perm[d]];
    hd_copy_simplify(k);
    *out_taken = true;
    if (k->rank == 1 && k->src[0] == 1) { /* only ones moved */
        hd_cpu_alias(p, n->out[0], hd_cpu_dense, in, 0);
        return HD_OK;
    }
    int out = hd_cpu_make(p, n->out[0], hd_cpu_dense, 0);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "copy", 1, &in, 1, &out);
    s->run = run_copies;
    s->state = c;
    return HD_OK;
}

/* True when a view can be made a part of another one: it has memory of its own, in the plan. */
static bool can_move(const struct hd_cpu_plan *p, int view) {
    const struct hd_cpu_view *v = &p->views[view];
    return v->root < 0 && !v->constant && v->io < 0;
}

static hd_status plan_concat(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *y = tensor(p, n->out[0]);
    int64_t axis = hd_attr_int(n, "axis", 0), outer = 1, inner = 1, at = 0;
    if (axis < 0) axis += y->rank;
    int *in = hd_new_array(p->arena, int, (size_t)n->n_in);
    bool last = y->rank >= 3 && axis == 1 && y->dim[0] > 0;
    for (int i = 0; i < n->n_in; i++) last = last && hd_cpu_has(p, n->in[i], HD_CPU_LAST);
    struct hd_cpu_form form = last ? hd_cpu_last : hd_cpu_dense;
    for (int i = 0; i < n->n_in; i++) TRY(hd_cpu_need(p, n->in[i], form, &in[i]));
    for (int d = 0; d < y->rank; d++)
        if (d < axis || (last && d > axis))
            outer *= y->dim[d];
        else if (d > axis)
            inner *= y->dim[d];
    int out = hd_cpu_make(p, n->out[0], form, 0);
    struct copies *c = new_copies(p, n->n_in);
    int64_t size = (int64_t)hd_dtype_bytes(y->dtype);
    bool any = false;
    for (int i = 0; i < n->n_in; i++) {
        int64_t len = tensor(p, n->in[i])->dim[axis] * inner;
        c->at[i] = (size_t)(at * size);
        at += len;
        if (outer == 1 && can_move(p, in[i])) { /* whoever makes it writes it to its place */
            p->views[in[i]].root = out;
            p->views[in[i]].at = c->at[i];
            continue;
        }
        any = true;
        c->copy[i] = (struct hd_copy){.rank = 2,
                                      .size = (int)size,
                                      .dim = {outer, len},
                                      .dst = {y->dim[axis] * inner, 1},
                                      .src = {len, 1}};
        if (len) hd_copy_simplify(&c->copy[i]);
    }
    *out_taken = true;
    if (!any) return HD_OK;
    struct hd_cpu_step *s = hd_cpu_step(p, node, "copy", n->n_in, in, 1, &out);
    s->run = run_copies;
    s->state = c;
    return HD_OK;
}

/* One strided copy of the operand from byte `at` of it into a tensor of its own; a view of the
 * operand's memory when nothing has to move. */
static void plan_copy(struct hd_cpu_plan *p, int node, int in, int t, struct hd_copy *k,
                      size_t at) {
    hd_copy_simplify(k);
    if (k->rank == 1 && k->src[0] == 1) {
        hd_cpu_alias(p, t, hd_cpu_dense, in, at);
        return;
    }
    int from = at ? hd_cpu_alias(p, -1, hd_cpu_dense, in, at) : in;
    int out = hd_cpu_make(p, t, hd_cpu_dense, 0);
    struct copies *c = new_copies(p, 1);
    c->copy[0] = *k;
    struct hd_cpu_step *s = hd_cpu_step(p, node, "copy", 1, &from, 1, &out);
    s->run = run_copies;
    s->state = c;
}

/* A copy of the shape of y, dense; the caller sets src. */
static struct hd_copy copy_to(const struct hd_tensor *y) {
    struct hd_copy k = {.rank = y->rank, .size = (int)hd_dtype_bytes(y->dtype)};
    memcpy(k.dim, y->dim, sizeof y->dim);
    row_major(y, k.dst);
    return k;
}

static hd_status plan_slice(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = tensor(p, n->in[0]), *y = tensor(p, n->out[0]);
    int64_t starts[HD_MAX_RANK], axes[HD_MAX_RANK], steps[HD_MAX_RANK], stride[HD_MAX_RANK];
    int count = hd_cpu_const_ints(p, n->in[1], starts, HD_MAX_RANK), in;
    int n_axes = n->n_in > 3 ? hd_cpu_const_ints(p, n->in[3], axes, HD_MAX_RANK) : 0;
    int n_steps = n->n_in > 4 ? hd_cpu_const_ints(p, n->in[4], steps, HD_MAX_RANK) : 0;
    if (!fixed(p, n) || count < 0 || n_axes < 0 || n_steps < 0 || !hd_tensor_elems(y)) return HD_OK;
    struct hd_copy k = copy_to(y);
    int64_t at = 0;
    row_major(x, stride);
    memcpy(k.src, stride, sizeof stride);
    for (int i = 0; i < count; i++) {
        int64_t d = n_axes ? axes[i] : i, step = n_steps ? steps[i] : 1;
        if (d < 0) d += x->rank;
        at += hd_slice_start(starts[i], step, x->dim[d]) * stride[d];
        k.src[d] = stride[d] * step;
    }
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in));
    plan_copy(p, node, in, n->out[0], &k, (size_t)(at * k.size));
    *out_taken = true;
    return HD_OK;
}

static hd_status plan_split(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = tensor(p, n->in[0]);
    int64_t axis = hd_attr_int(n, "axis", 0), at = 0, stride[HD_MAX_RANK];
    int in;
    if (axis < 0) axis += x->rank;
    for (int i = 0; i < n->n_out; i++) /* sizes of parts that nobody wants are not in the graph */
        if (n->out[i] < 0) return HD_OK;
    if (!fixed(p, n) || !hd_tensor_elems(x)) return HD_OK;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in));
    row_major(x, stride);
    for (int i = 0; i < n->n_out; i++) {
        struct hd_copy k = copy_to(tensor(p, n->out[i]));
        memcpy(k.src, stride, sizeof stride);
        plan_copy(p, node, in, n->out[i], &k, (size_t)(at * stride[axis] * k.size));
        at += tensor(p, n->out[i])->dim[axis]; /* not k's: plan_copy joins dimensions */
    }
    *out_taken = true;
    return HD_OK;
}

static hd_status plan_expand(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = tensor(p, n->in[0]), *y = tensor(p, n->out[0]);
    int64_t stride[HD_MAX_RANK];
    int in;
    if (!fixed(p, n) || !hd_tensor_elems(y)) return HD_OK;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in));
    struct hd_copy k = copy_to(y);
    row_major(x, stride);
    for (int d = 0; d < y->rank; d++) {
        int from = d - (y->rank - x->rank);
        k.src[d] = from < 0 || x->dim[from] == 1 ? 0 : stride[from];
    }
    plan_copy(p, node, in, n->out[0], &k, 0);
    *out_taken = true;
    return HD_OK;
}

/* [N,C,H,W] as [N,b,b,C',H,W] (DCR) or [N,C',b,b,H,W] (CRD) -> [N,C',H,b,W,b].
 * Source: ONNX DepthToSpace-13. */
static hd_status plan_depth(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = tensor(p, n->in[0]), *y = tensor(p, n->out[0]);
    int64_t b = hd_attr_int(n, "blocksize", 1), c = y->dim[1], plane = x->dim[2] * x->dim[3];
    bool crd = !strcmp(hd_attr_string(n, "mode", "DCR"), "CRD");
    int in;
    if (!hd_tensor_elems(y)) return HD_OK;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in));
    int64_t block = crd ? plane : c * plane; /* from one column of a block to the next */
    struct hd_copy k = {
        .rank = 6,
        .size = (int)hd_dtype_bytes(x->dtype),
        .dim = {x->dim[0], c, x->dim[2], b, x->dim[3], b},
        .src = {x->dim[1] * plane, crd ? b * b * plane : plane, x->dim[3], b * block, 1, block}};
    int64_t step = 1;
    for (int d = 5; d >= 0; d--) k.dst[d] = step, step *= k.dim[d];
    plan_copy(p, node, in, n->out[0], &k, 0);
    *out_taken = true;
    return HD_OK;
}

struct pad {
    struct hd_copy copy;
    size_t at, bytes; /* first element of the operand in the result; bytes of the result */
    int size;
    unsigned char value[8];
};

static hd_status run_pad(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct pad *k = s->state;
    char *y = r->at[s->out[0]];
    bool zero = true;
    for (int i = 0; i < k->size; i++) zero = zero && !k->value[i];
    if (zero)
        memset(y, 0, k->bytes);
    else
        for (size_t i = 0; i < k->bytes; i += (size_t)k->size)
            memcpy(y + i, k->value, (size_t)k->size);
    hd_copy_run(&k->copy, y + k->at, r->at[s->in[0]]);
    return HD_OK;
}

static hd_status plan_pad(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = tensor(p, n->in[0]), *y = tensor(p, n->out[0]);
    int64_t list[2 * HD_MAX_RANK], axes[HD_MAX_RANK], pads[2 * HD_MAX_RANK];
    int count = hd_cpu_const_ints(p, n->in[1], list, 2 * HD_MAX_RANK), in;
    int n_axes = n->n_in > 3 ? hd_cpu_const_ints(p, n->in[3], axes, HD_MAX_RANK) : 0;
    if (!fixed(p, n) || count < 0 || n_axes < 0 || !hd_tensor_elems(x) || !hd_tensor_elems(y) ||
        strcmp(hd_attr_string(n, "mode", "constant"), "constant"))
        return HD_OK;
    hd_pads_spread(x->rank, list, n_axes, axes, pads);
    struct pad *k = hd_new(p->arena, struct pad);
    k->size = (int)hd_dtype_bytes(x->dtype);
    k->bytes = hd_tensor_bytes(y);
    k->copy = (struct hd_copy){.rank = x->rank, .size = k->size};
    row_major(x, k->copy.src);
    row_major(y, k->copy.dst);
    for (int d = 0; d < x->rank; d++) {
        if (pads[d] < 0 || pads[d + x->rank] < 0) return HD_OK; /* crops */
        k->copy.dim[d] = x->dim[d];
        k->at += (size_t)(pads[d] * k->copy.dst[d] * k->size);
    }
    if (n->n_in > 2 && n->in[2] >= 0) memcpy(k->value, hd_cpu_const(p, n->in[2]), (size_t)k->size);
    hd_copy_simplify(&k->copy);
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in));
    int out = hd_cpu_make(p, n->out[0], hd_cpu_dense, 0);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "copy", 1, &in, 1, &out);
    s->run = run_pad;
    s->state = k;
    *out_taken = true;
    return HD_OK;
}

/* Each element of x repeated `factor` times along each dimension: false = another rule. */
static bool repeats(struct hd_cpu_plan *p, const struct hd_node *n, int64_t *factor,
                    hd_status *out_status) {
    const struct hd_tensor *x = tensor(p, n->in[0]), *y = tensor(p, n->out[0]);
    const void *list[4] = {NULL};
    int64_t size[4] = {0};
    const int64_t *place[HD_MAX_RANK];
    for (int i = 2; i < n->n_in && i < 4; i++)
        if (n->in[i] >= 0)
            list[i] = hd_cpu_const(p, n->in[i]), size[i] = hd_tensor_elems(tensor(p, n->in[i]));
    if (strcmp(hd_attr_string(n, "mode", "nearest"), "nearest") || !hd_tensor_elems(x) ||
        !hd_tensor_elems(y) ||
        !strcmp(hd_attr_string(n, "coordinate_transformation_mode", ""), "tf_crop_and_resize"))
        return false;
    *out_status =
        hd_resize_places(p->ctx, p->arena, n, x, list[2], size[2], list[3], size[3], place);
    for (int d = 0; *out_status == HD_OK && d < x->rank; d++) {
        if (y->dim[d] % x->dim[d]) return false;
        factor[d] = y->dim[d] / x->dim[d];
        for (int64_t o = 0; o < y->dim[d]; o++)
            if (place[d][o] * factor[d] + o % factor[d] != o) return false;
    }
    return *out_status == HD_OK;
}

/* Nearest neighbours by whole factors: strided copies from strides of 0. */
static hd_status plan_resize(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = tensor(p, n->in[0]), *y = tensor(p, n->out[0]);
    int64_t factor[HD_MAX_RANK], to = 1, from = 1;
    hd_status s = HD_OK;
    int in, out, at = HD_MAX_RANK + 2;
    if (x->rank > 5 || !fixed(p, n) || !repeats(p, n, factor, &s)) return s;
    bool last = x->rank >= 3 && !hd_cpu_has(p, n->in[0], HD_CPU_DENSE) &&
                hd_cpu_has(p, n->in[0], HD_CPU_LAST);
    struct hd_cpu_form form = last ? hd_cpu_last : hd_cpu_dense;
    TRY(hd_cpu_need(p, n->in[0], form, &in));
    struct hd_copy all = {.rank = 0}, k = {.size = (int)hd_dtype_bytes(x->dtype)};
    for (int i = 0; i < x->rank; i++) { /* from the innermost outwards */
        int d = !last ? x->rank - 1 - i : i == 0 ? 1 : i == x->rank - 1 ? 0 : x->rank - i;
        all.dim[--at] = x->dim[d], all.dst[at] = to * factor[d], all.src[at] = from;
        if (factor[d] > 1) all.dim[--at] = factor[d], all.dst[at] = to, all.src[at] = 0;
        to *= y->dim[d], from *= x->dim[d];
    }
    for (; at < HD_MAX_RANK + 2; at++, k.rank++)
        k.dim[k.rank] = all.dim[at], k.dst[k.rank] = all.dst[at], k.src[k.rank] = all.src[at];
    hd_copy_simplify(&k);
    out = hd_cpu_make(p, n->out[0], form, 0);
    struct copies *c = new_copies(p, 1);
    c->copy[0] = k;
    struct hd_cpu_step *step = hd_cpu_step(p, node, "copy", 1, &in, 1, &out);
    step->run = run_copies;
    step->state = c;
    *out_taken = true;
    return HD_OK;
}

/* Indexes that ascend or descend by one step, as one does: a strided copy, or a view. */
static hd_status plan_gather(struct hd_cpu_plan *p, int node, bool *out_taken) {
    enum { MOST = 256 };
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = tensor(p, n->in[0]), *y = tensor(p, n->out[0]);
    int64_t axis = hd_attr_int(n, "axis", 0), index[MOST], stride[HD_MAX_RANK], outer = 1;
    int count = hd_cpu_const_ints(p, n->in[1], index, MOST), in;
    if (axis < 0) axis += x->rank;
    bool even = count > 0 && hd_tensor_elems(y) > 0;
    for (int i = 0; even && i < count; i++) {
        even = index[i] >= -x->dim[axis] && index[i] < x->dim[axis];
        if (index[i] < 0) index[i] += x->dim[axis];
        if (i > 1) even = even && index[i] - index[i - 1] == index[1] - index[0];
    }
    if (!even) return hd_cpu_gather(p, node, out_taken);
    row_major(x, stride);
    for (int64_t d = 0; d < axis; d++) outer *= x->dim[d];
    int64_t inner = stride[axis], step = count > 1 ? index[1] - index[0] : 1;
    struct hd_copy k = {.rank = 3,
                        .size = (int)hd_dtype_bytes(x->dtype),
                        .dim = {outer, count, inner},
                        .dst = {count * inner, inner, 1},
                        .src = {x->dim[axis] * inner, step * inner, 1}};
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in));
    plan_copy(p, node, in, n->out[0], &k, (size_t)(index[0] * inner * k.size));
    *out_taken = true;
    return HD_OK;
}

hd_status hd_cpu_move(struct hd_cpu_plan *p, int node, bool *out_taken) {
    switch (p->g->nodes[node].op) {
    case HD_IR_identity:
    case HD_IR_reshape:
    case HD_IR_squeeze:
    case HD_IR_unsqueeze:
    case HD_IR_flatten:
        return plan_alias(p, node, out_taken);
    case HD_IR_transpose:
        return plan_transpose(p, node, out_taken);
    case HD_IR_concat:
        return plan_concat(p, node, out_taken);
    case HD_IR_slice:
        return plan_slice(p, node, out_taken);
    case HD_IR_split:
        return plan_split(p, node, out_taken);
    case HD_IR_expand:
        return plan_expand(p, node, out_taken);
    case HD_IR_depthtospace:
        return plan_depth(p, node, out_taken);
    case HD_IR_pad:
        return plan_pad(p, node, out_taken);
    case HD_IR_resize:
        return plan_resize(p, node, out_taken);
    case HD_IR_gather:
        return plan_gather(p, node, out_taken);
    case HD_IR_gathernd:
    case HD_IR_scatternd:
        return hd_cpu_gather(p, node, out_taken);
    default:
        return HD_OK;
    }
}
