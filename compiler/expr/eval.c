/* The interpreter of tensor expressions: one element of the result after the other, reductions in
 * the order of their variables, the last one fastest. The definition of what an expression means.
 */
#include "compiler/expr/eval.h"

#include "compiler/expr/expr_int.h"

int64_t hd_eval_position(struct hd_eval *e, int tensor, int n, const int *index, bool must) {
    const struct hd_expr_tensor *t = &e->f->tensor[tensor];
    int64_t at = 0;
    bool out = false;
    for (int d = 0; d < n; d++) {
        const struct hd_expr_node *x = &e->f->node[index[d]];
        int64_t i = x->op == HD_EXPR_VAR ? e->var[x->i] : hd_eval_node(e, index[d]).i;
        if (i < 0 || i >= t->dim[d].value) {
            out = true;
            if (must && !e->bad) {
                e->bad = t->name;
                e->bad_index = i;
                e->bad_size = t->dim[d].value;
            }
            i = 0;
        }
        at = at * t->dim[d].value + i;
    }
    return out ? -1 : at;
}

/* Of an access; what is not a gather was found to be inside. */
static int64_t position(struct hd_eval *e, const struct hd_expr_node *k, bool padded) {
    return hd_eval_position(e, (int)k->i, k->n, k->arg, !padded && (k->checked || e->strict));
}

static union hd_scalar literal(const struct hd_expr_node *k) {
    union hd_scalar v = {.i = k->i};
    if (!hd_scalar_is_float(k->type)) return v;
    v.f = k->f;
    return hd_scalar_cast(v, HD_F64, k->type, HD_ROUND_TRUNC, false);
}

union hd_scalar hd_eval_node(struct hd_eval *e, int node) {
    const struct hd_expr_node *k = &e->f->node[node];
    union hd_scalar v = {.i = 0};
    int64_t at;
    switch (k->op) {
    case HD_EXPR_INT:
    case HD_EXPR_FLOAT:
        return literal(k);
    case HD_EXPR_VAR:
        v.i = e->var[k->i];
        return v;
    case HD_EXPR_ACCESS:
        at = position(e, k, false);
        if (at >= 0) return hd_scalar_load(e->data[k->i], k->type, at);
        if (hd_scalar_is_float(k->type)) v.f = 0;
        return v;
    case HD_EXPR_PAD:
        at = position(e, &e->f->node[k->arg[0]], true);
        if (at < 0) return hd_eval_node(e, k->arg[1]);
        return hd_scalar_load(e->data[e->f->node[k->arg[0]].i], k->type, at);
    case HD_EXPR_CAST:
        v = hd_eval_node(e, k->arg[0]);
        return hd_scalar_cast(v, e->f->node[k->arg[0]].type, k->type, k->round, k->saturate);
    case HD_EXPR_SELECT:
        return hd_eval_node(e, k->arg[hd_eval_node(e, k->arg[0]).i ? 1 : 2]);
    default:
        v = hd_eval_node(e, k->arg[0]);
        return hd_scalar_apply(k->op, e->f->node[k->arg[0]].type, v,
                               k->n > 1 ? hd_eval_node(e, k->arg[1]) : v);
    }
}

/* The next point of the variables in list; false when there is none. */
static bool next(const struct hd_expr_stmt *s, int n, const int *list, int64_t *var) {
    for (int i = n - 1; i >= 0; i--) {
        if (++var[list[i]] < s->var[list[i]].extent) return true;
        var[list[i]] = 0;
    }
    return false;
}

static union hd_scalar reduced(struct hd_eval *e, const struct hd_expr_stmt *s, int n,
                               const int *list, int64_t *var) {
    int type = e->f->node[s->value].type;
    union hd_scalar acc = hd_scalar_initial(s->reduce, type), best = {.i = 0};
    bool arg = s->reduce >= HD_REDUCE_ARGMAX, first = true;
    for (int i = 0; i < n; i++)
        if (!s->var[list[i]].extent) return acc;
    do {
        union hd_scalar v = hd_eval_node(e, s->value);
        if (!arg) {
            acc = hd_scalar_reduce(s->reduce, type, acc, v);
        } else if (first || hd_scalar_better(s->reduce, type, v, best)) {
            best = v;
            acc.i = var[list[0]];
        }
        first = false;
    } while (next(s, n, list, var));
    return acc;
}

static void run_stmt(struct hd_eval *e, const struct hd_expr_stmt *s, void *out) {
    int64_t var[HD_EXPR_VARS] = {0}, n = hd_expr_elems(&e->f->tensor[s->tensor]);
    int list[HD_EXPR_VARS], n_list = 0;
    for (int v = 0; v < s->n_vars; v++)
        if (s->var[v].reduced) list[n_list++] = v;
    struct hd_eval at = *e; /* with the variables of this statement */
    at.var = var;
    for (int64_t i = 0; i < n && !at.bad; i++) {
        union hd_scalar v = s->reduce == HD_REDUCE_NONE ? hd_eval_node(&at, s->value)
                                                        : reduced(&at, s, n_list, list, var);
        hd_scalar_store(out, e->f->tensor[s->tensor].type, i, v);
        next(s, s->rank, s->lhs, var);
    }
    at.var = NULL;
    *e = at;
}

hd_status hd_expr_run(hd_ctx *ctx, const struct hd_expr *f, const void *const *in, void *const *out,
                      hd_arena *a) {
    HD_ASSERT(f->bound);
    struct hd_eval e = {.f = f, .data = hd_new_array(a, const void *, f->n_tensors)};
    for (int i = 0; i < f->n_params; i++) e.data[i] = in[i];
    for (size_t i = 0; i < f->n_stmts; i++) {
        const struct hd_expr_stmt *s = &f->stmt[i];
        const struct hd_expr_tensor *t = &f->tensor[s->tensor];
        void *data = NULL;
        for (size_t r = 0; r < f->n_results; r++)
            if (f->result[r] == s->tensor) data = out[r];
        if (!data)
            data = hd_alloc(a, (size_t)hd_expr_elems(t) * hd_dtype_bytes((hd_dtype)t->type) + 1);
        run_stmt(&e, s, data);
        if (e.bad)
            return hd_expr_fail(ctx, f, s->at, "index %lld of '%s', allowed 0 to %lld",
                                (long long)e.bad_index, e.bad, (long long)e.bad_size - 1);
        e.data[s->tensor] = data;
    }
    return HD_OK;
}
