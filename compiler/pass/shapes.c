/* Arithmetic on shapes.
 *
 * needs: shapes, as far as they are known
 * gives: a shape that is known, and what is computed from it by gathering, joining and reshaping,
 * is a constant; a reshape by a list of which all but one entry are constants, or dimensions that
 * the operand has in the same place, is a reshape by constants (0 copies, -1 is what is left); the
 *        shape of an elementwise result is that of its operand, so that nothing is computed for it
 * destroys: what only served to compute shapes
 *
 * In a specialised graph (docs/ir.md) all dimensions count as unknown.
 */
#include <string.h>

#include "compiler/ir/memory.h"
#include "compiler/pass/pass.h"
#include "runtime/base/num.h"

struct entry { /* of a list of integers */
    int of;    /* -1: `value`; else dimension `value` of this tensor */
    int64_t value;
};

struct list {  /* what is known of a tensor */
    int n;     /* entries, -1 = nothing is known; of a scalar 1 */
    int whole; /* n < 0: it is the shape of this tensor, -1 = it is not */
    bool scalar;
    hd_dtype type;
    struct entry entry[HD_MAX_RANK];
};

struct shapes {
    hd_graph *g;
    struct list *list; /* per tensor */
};

/* The tensor up the graph that has the shape of t for certain. */
static int source(const hd_graph *g, int t) {
    for (;;) {
        int p = g->tensors[t].producer;
        if (p < 0) return t;
        const struct hd_node *n = &g->nodes[p];
        bool same = hd_is_elementwise(n->op) && (n->n_in == 1 || n->op == HD_IR_clip);
        if ((!same && n->op != HD_IR_identity && n->op != HD_IR_softmax) || n->in[0] < 0) return t;
        t = n->in[0];
    }
}

static bool dims_known(const hd_graph *g, int t) {
    return g->tensors[t].known && !g->specialised;
}

static bool read_constant(const struct hd_tensor *t, struct list *out) {
    int64_t n = t->data && t->rank <= 1 ? hd_tensor_elems(t) : HD_MAX_RANK + 1;
    if (n > HD_MAX_RANK || (t->dtype != HD_I64 && t->dtype != HD_I32)) return false;
    *out = (struct list){.n = (int)n, .whole = -1, .scalar = t->rank == 0, .type = t->dtype};
    for (int64_t i = 0; i < n; i++)
        out->entry[i] = (struct entry){-1, t->dtype == HD_I64 ? ((const int64_t *)t->data)[i]
                                                              : ((const int32_t *)t->data)[i]};
    return true;
}

/* ---- operations ----------------------------------------------------------------------------- */

static void shape_of(const hd_graph *g, const struct hd_node *n, struct list *out) {
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    if (!dims_known(g, n->in[0])) {
        if (!hd_attr_get(n, "start") && !hd_attr_get(n, "end")) out->whole = source(g, n->in[0]);
        return;
    }
    int64_t from = hd_attr_int(n, "start", 0), to = hd_attr_int(n, "end", x->rank);
    from = hd_min(hd_max(from < 0 ? from + x->rank : from, 0), x->rank);
    to = hd_min(hd_max(to < 0 ? to + x->rank : to, from), x->rank);
    out->n = (int)(to - from);
    for (int64_t i = from; i < to; i++) out->entry[i - from] = (struct entry){-1, x->dim[i]};
}

static void size_of(const hd_graph *g, const struct hd_node *n, struct list *out) {
    if (!dims_known(g, n->in[0])) return;
    out->n = 1, out->scalar = true;
    out->entry[0] = (struct entry){-1, hd_tensor_elems(&g->tensors[n->in[0]])};
}

static void gathered(const struct list *x, const struct list *index, struct list *out) {
    if (index->n < 0 || (x->n < 0 && x->whole < 0) || (x->n >= 0 && x->scalar)) return;
    for (int i = 0; i < index->n; i++) {
        int64_t at = index->entry[i].value;
        if (index->entry[i].of >= 0) return;
        if (x->n >= 0 && at < 0) at += x->n;
        if (at < 0 || at >= (x->n >= 0 ? x->n : HD_MAX_RANK)) return;
        out->entry[i] = x->n >= 0 ? x->entry[at] : (struct entry){x->whole, at};
    }
    out->n = index->n, out->scalar = index->scalar, out->type = x->type;
}

static void joined(const struct shapes *s, const struct hd_node *n, struct list *out) {
    int count = 0;
    out->type = s->list[n->in[0]].type;
    for (int i = 0; i < n->n_in; i++) {
        const struct list *x = &s->list[n->in[i]];
        if (x->n < 0 || x->scalar || count + x->n > HD_MAX_RANK) return;
        memcpy(&out->entry[count], x->entry, (size_t)x->n * sizeof *x->entry);
        count += x->n;
    }
    out->n = count;
}

/* A list of one becomes a scalar or the other way round. */
static void reshaped(const hd_graph *g, const struct list *x, const struct hd_node *n,
                     struct list *out) {
    const struct hd_tensor *y = &g->tensors[n->out[0]];
    if (x->n != 1 && (!y->known || y->rank != 1)) return;
    if (n->op == HD_IR_reshape && (!y->known || y->rank > 1)) return;
    if (n->op == HD_IR_unsqueeze && (x->n != 1 || !x->scalar)) return;
    *out = *x;
    out->scalar = n->op == HD_IR_squeeze ? true : n->op == HD_IR_reshape && y->rank == 0;
    if (n->op == HD_IR_squeeze && x->n != 1) out->scalar = false;
}

static void converted(const struct list *x, const struct hd_node *n, struct list *out) {
    int to = hd_dtype_by_name(hd_attr_string(n, "to", ""));
    if (to != HD_I64 && to != HD_I32) return;
    for (int i = 0; i < x->n; i++) /* what does not fit i32 would change */
        if (x->entry[i].of < 0 && x->entry[i].value != (int32_t)x->entry[i].value) return;
    *out = *x;
    out->type = (hd_dtype)to;
}

static void look_at(struct shapes *s, const struct hd_node *n) {
    const hd_graph *g = s->g;
    struct list y = {.n = -1, .whole = -1, .type = HD_I64};
    const struct list *x = n->n_in && n->in[0] >= 0 ? &s->list[n->in[0]] : NULL;
    if (!x || n->out[0] < 0) return;
    if (n->op == HD_IR_shape) shape_of(g, n, &y);
    if (n->op == HD_IR_size) size_of(g, n, &y);
    if (n->op == HD_IR_gather && hd_attr_int(n, "axis", 0) == 0)
        gathered(x, &s->list[n->in[1]], &y);
    if (n->op == HD_IR_concat && hd_attr_int(n, "axis", 0) == 0) joined(s, n, &y);
    if (x->n >= 0 && (n->op == HD_IR_reshape || n->op == HD_IR_unsqueeze || n->op == HD_IR_squeeze))
        reshaped(g, x, n, &y);
    if (n->op == HD_IR_identity) y = *x;
    if (n->op == HD_IR_cast) converted(x, n, &y);
    s->list[n->out[0]] = y;
}

/* ---- rewrites ------------------------------------------------------------------------------- */

static int constant(hd_graph *g, const char *name, const struct list *v) {
    int64_t wide[HD_MAX_RANK], n = v->n;
    int32_t narrow[HD_MAX_RANK];
    for (int i = 0; i < v->n; i++)
        wide[i] = v->entry[i].value, narrow[i] = (int32_t)v->entry[i].value;
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.known", name), v->type, v->scalar ? 0 : 1, &n,
                          v->type == HD_I64 ? (const void *)wide : narrow);
}

static bool all_known(const struct list *v) {
    bool known = v->n >= 0;
    for (int i = 0; i < v->n; i++) known = known && v->entry[i].of < 0;
    return known;
}

/* Readers of the result read a constant. */
static void replace_known(struct shapes *s, int node) {
    const struct hd_node *n = &s->g->nodes[node];
    int t = n->out[0];
    if (n->n_out != 1 || t < 0 || n->n_after || hd_graph_is_output(s->g, t) ||
        !all_known(&s->list[t]))
        return;
    hd_graph_replace(s->g, t, constant(s->g, s->g->tensors[t].name, &s->list[t]));
}

/* reshape(x, [dimension 0 of x, 12, something]) -> reshape(x, [0, 12, -1]) */
static void plain_reshape(struct shapes *s, int node) {
    hd_graph *g = s->g;
    const struct hd_node *n = &g->nodes[node];
    if (n->n_in < 2 || n->in[1] < 0 || g->tensors[n->in[1]].data || hd_attr_int(n, "allowzero", 0))
        return;
    struct list v = s->list[n->in[1]];
    int from = source(g, n->in[0]), open = 0, zeros = 0, unknown = 0;
    if (v.n < 0 || v.scalar || v.type != HD_I64) return;
    for (int i = 0; i < v.n; i++) {
        struct entry *e = &v.entry[i];
        open += e->of < 0 && e->value == -1;
        if (e->of == from && e->value == i) *e = (struct entry){-1, 0};
        zeros += e->of < 0 && e->value == 0;
        if (e->of < 0) continue;
        *e = (struct entry){-1, -1};
        unknown++;
    }
    /* where a dimension is 0, nothing says what is left: -1 may not be new beside a copy */
    if (unknown && (unknown + open > 1 || zeros)) return;
    int c = constant(g, g->tensors[n->in[1]].name, &v);
    g->nodes[node].in[1] = c;
}

hd_status hd_pass_shapes(hd_ctx *ctx, hd_graph *g) {
    hd_arena *a = hd_arena_create();
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    struct shapes s = {g, hd_new_array(a, struct list, g->n_tensors + 1)};
    for (size_t t = 0; t < g->n_tensors; t++)
        if (!read_constant(&g->tensors[t], &s.list[t]))
            s.list[t] = (struct list){.n = -1, .whole = -1};
    for (size_t i = 0; i < n; i++) look_at(&s, &g->nodes[order[i]]);
    for (size_t i = 0; i < n; i++) {
        struct hd_node *nd = &g->nodes[order[i]];
        if (nd->op == HD_IR_reshape) plain_reshape(&s, order[i]);
        nd = &g->nodes[order[i]];
        if (nd->op == HD_IR_shape || nd->op == HD_IR_size) nd->in[0] = source(g, nd->in[0]);
        replace_known(&s, order[i]);
    }
    hd_arena_destroy(a);
    hd_pass_dce(g);
    return hd_graph_infer(ctx, g);
}
