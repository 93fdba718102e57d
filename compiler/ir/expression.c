/* Binds tensor expressions to nodes, and infers the results of operation `expression`. */
#include "compiler/ir/expression.h"

#include <string.h>

#include "compiler/ir/axes.h"

_Static_assert((int)HD_MAX_RANK == (int)HD_EXPR_RANK, "shapes of expressions and of tensors");

static struct hd_expr_scalar *scalars_of(hd_arena *a, const struct hd_node *n, int *out_n) {
    size_t count = 0, cap = 0;
    struct hd_expr_scalar *v = NULL;
    for (int i = 0; i < n->n_attrs; i++) {
        const struct hd_attr *t = &n->attrs[i];
        bool is_float = t->kind == HD_ATTR_FLOAT || t->kind == HD_ATTR_FLOATS;
        bool list = t->kind == HD_ATTR_INTS || t->kind == HD_ATTR_FLOATS;
        if (!is_float && !list && t->kind != HD_ATTR_INT) continue;
        for (int k = 0; k < (list ? t->n : 1); k++)
            *hd_push(a, v, count, cap) =
                (struct hd_expr_scalar){.name = list ? hd_sprintf(a, "%s%d", t->name, k) : t->name,
                                        .is_float = is_float,
                                        .known = true,
                                        .i = is_float ? 0
                                             : list   ? t->ints[k]
                                                      : t->i,
                                        .f = !is_float ? 0
                                             : list    ? (double)t->floats[k]
                                                       : (double)t->f};
    }
    *out_n = (int)count;
    return v;
}

hd_status hd_expression_bind(hd_ctx *ctx, hd_arena *a, const struct hd_node *n, const char *text,
                             int n_in, const struct hd_tensor *const *in, struct hd_expr **out) {
    struct hd_expr_arg *arg = hd_new_array(a, struct hd_expr_arg, (size_t)n_in + 1);
    struct hd_expr_args args = {.n = n_in, .arg = arg};
    struct hd_expr *f;
    for (int i = 0; i < n_in; i++) {
        arg[i].absent = !in[i];
        if (!in[i]) continue;
        arg[i].type = in[i]->dtype;
        arg[i].rank = in[i]->rank;
        memcpy(arg[i].dim, in[i]->dim, sizeof arg[i].dim);
    }
    args.scalar = scalars_of(a, n, &args.n_scalars);
    TRY(hd_note(ctx, hd_expr_parse(ctx, a, text, &f), "in node '%s' (%s)", n->name,
                hd_ir_ops[n->op].name));
    return hd_note(ctx, hd_expr_bind(ctx, a, f, &args, out), "in node '%s' (%s)", n->name,
                   hd_ir_ops[n->op].name);
}

static hd_status bind(struct infer *c, hd_arena *a, struct hd_expr **out) {
    const char *text = hd_attr_string(c->n, "expression", NULL);
    if (!text) return BAD(c, "no attribute %s, want a tensor expression", "expression");
    const struct hd_tensor **x = hd_new_array(a, const struct hd_tensor *, (size_t)c->n->n_in + 1);
    for (int i = 0; i < c->n->n_in; i++) x[i] = in(c, i);
    TRY(hd_expression_bind(c->ctx, a, c->n, text, c->n->n_in, x, out));
    if ((size_t)c->n->n_out > (*out)->n_results)
        return BAD(c, "%d outputs, its expression has %zu results", c->n->n_out, (*out)->n_results);
    return HD_OK;
}

hd_status hd_infer_expression(struct infer *c) {
    hd_arena *a = hd_arena_create();
    struct hd_expr *f;
    hd_status s = bind(c, a, &f);
    for (int i = 0; s == HD_OK && i < c->n->n_out; i++) {
        const struct hd_expr_tensor *t = &f->tensor[f->result[i]];
        int64_t dim[HD_MAX_RANK];
        for (int d = 0; d < t->rank; d++) dim[d] = t->dim[d].value;
        hd_infer_set(c, i, (hd_dtype)t->type, t->rank, dim);
    }
    hd_arena_destroy(a);
    return s;
}

/* ---- names of axes -------------------------------------------------------------------------- */

/* The axis of an operand's dimension that variable v indexes alone; 0 = none. */
static int axis_of(const struct infer *c, const struct hd_expr *f, int node, int v) {
    const struct hd_expr_node *k = &f->node[node];
    int found = 0;
    for (int i = 0; i < k->n && !found; i++) {
        const struct hd_expr_node *x = &f->node[k->arg[i]];
        bool alone = k->op == HD_EXPR_ACCESS && x->op == HD_EXPR_VAR && x->i == v;
        if (alone && k->i < f->n_params && in(c, (int)k->i)) {
            const struct hd_tensor *t = in(c, (int)k->i);
            if (t->dim[i] == f->tensor[k->i].dim[i].value) found = t->axis[i];
        }
        if (!found) found = axis_of(c, f, k->arg[i], v);
    }
    return found;
}

/* A dimension has the name of the axis that its variable runs over, whole. */
hd_status hd_axes_of_expression(struct infer *c) {
    hd_arena *a = hd_arena_create();
    struct hd_expr *f;
    hd_status s = bind(c, a, &f);
    for (size_t i = 0; s == HD_OK && i < f->n_stmts; i++)
        for (int r = 0; r < c->n->n_out; r++) {
            const struct hd_expr_stmt *e = &f->stmt[i];
            for (int d = 0; d < e->rank && f->result[r] == e->tensor; d++) {
                int axis = axis_of(c, f, e->value, e->lhs[d]);
                bool whole = axis && c->g->axes[axis - 1].length == e->var[e->lhs[d]].extent;
                for (int k = 0; k < d && whole; k++) whole = c->out[r].axis[k] != axis;
                if (whole) c->out[r].axis[d] = axis;
            }
        }
    hd_arena_destroy(a);
    return s;
}
