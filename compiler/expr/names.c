/* Binding, first part: parameters get types and shapes; sizes and scalars become numbers; "..."
 * becomes index variables with numpy's broadcasting. */
#include <math.h>
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "runtime/base/num.h"

/* ---- parameters ----------------------------------------------------------------------------- */

/* The size that `name` has in the parameters that are bound so far; -1 = none. */
static int64_t size_of(const struct hd_expr *f, const struct hd_expr_tensor *declared, int n,
                       const char *name) {
    for (int i = 0; i < n; i++)
        for (int d = 0, at = 0; d < declared[i].rank && !f->tensor[i].absent; d++) {
            const struct hd_expr_size *s = &declared[i].dim[d];
            if (s->rest) {
                at += f->tensor[i].rank - (declared[i].rank - 1);
                continue;
            }
            if (s->name && !strcmp(s->name, name)) return f->tensor[i].dim[at].value;
            at++;
        }
    return -1;
}

static hd_status check_dims(hd_ctx *ctx, const struct hd_expr *f,
                            const struct hd_expr_tensor *declared, int i) {
    const struct hd_expr_tensor *d = &declared[i], *t = &f->tensor[i];
    if (d->rank < 0) return HD_OK;
    int rest = 0;
    for (int k = 0; k < d->rank; k++) rest += d->dim[k].rest;
    if (rest ? t->rank < d->rank - 1 : t->rank != d->rank)
        return hd_expr_fail(ctx, f, d->at, "'%s' has %d dimensions, allowed %s%d", t->name, t->rank,
                            rest ? "at least " : "", d->rank - rest);
    for (int k = 0, at = 0; k < d->rank; k++) {
        if (d->dim[k].rest) {
            at += t->rank - (d->rank - 1);
            continue;
        }
        int64_t got = t->dim[at++].value;
        int64_t want =
            d->dim[k].name ? size_of(f, declared, i + 1, d->dim[k].name) : d->dim[k].value;
        if (got != want)
            return hd_expr_fail(ctx, f, d->at, "dimension %d of '%s' (%s) is %lld, allowed %lld",
                                at - 1, t->name, d->dim[k].name ? d->dim[k].name : "a number",
                                (long long)got, (long long)want);
    }
    return HD_OK;
}

static hd_status bind_param(hd_ctx *ctx, struct hd_expr *f, int i, const struct hd_expr_arg *arg) {
    struct hd_expr_tensor *t = &f->tensor[i];
    if (!arg) { /* as declared */
        bool open = t->type < 0 || t->rank < 0;
        for (int d = 0; d < t->rank; d++) open = open || t->dim[d].name || t->dim[d].rest;
        if (open)
            return hd_expr_fail(
                ctx, f, t->at, "type and shape of '%s' are open; write them, as f32[2,3]", t->name);
        return HD_OK;
    }
    t->absent = arg->absent;
    if (arg->absent) {
        if (!t->optional)
            return hd_expr_fail(ctx, f, t->at, "'%s' is left out; only a parameter with = may be",
                                t->name);
        t->rank = 1;
        t->dim[0] = (struct hd_expr_size){.value = 0};
        if (t->type < 0) t->type = HD_F32;
        return HD_OK;
    }
    if (t->type >= 0 && t->type != (int)arg->type)
        return hd_expr_fail(ctx, f, t->at, "'%s' is %s, allowed %s", t->name,
                            hd_dtype_name(arg->type), hd_dtype_name((hd_dtype)t->type));
    if (!hd_expr_type_set((int)arg->type))
        return hd_expr_fail(ctx, f, t->at, "'%s' is %s, which expressions do not know", t->name,
                            hd_dtype_name(arg->type));
    t->type = (int)arg->type;
    t->rank = arg->rank;
    for (int d = 0; d < t->rank; d++) t->dim[d] = (struct hd_expr_size){.value = arg->dim[d]};
    return HD_OK;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static hd_status bind_scalars(hd_ctx *ctx, struct hd_expr *f, const struct hd_expr_args *args) {
    for (size_t i = 0; i < f->n_scalars; i++) {
        struct hd_expr_scalar *s = &f->scalar[i];
        for (int k = 0; args && k < args->n_scalars; k++) {
            const struct hd_expr_scalar *v = &args->scalar[k];
            if (strcmp(v->name, s->name)) continue;
            if (v->is_float && !s->is_float)
                return hd_expr_fail(ctx, f, 0, "'%s' is %g, allowed an integer; write '%s: float'",
                                    s->name, v->f, s->name);
            s->i = v->i;
            s->f = v->is_float ? v->f : (double)v->i;
            s->known = true;
        }
        if (!s->known) return hd_expr_fail(ctx, f, 0, "the scalar '%s' has no value", s->name);
    }
    return HD_OK;
}

static void make_number(struct hd_expr_node *k, bool is_float, int64_t i, double v) {
    k->op = is_float ? HD_EXPR_FLOAT : HD_EXPR_INT;
    k->n = 0;
    k->i = is_float ? 0 : i;
    k->f = v;
}

static hd_status substitute(hd_ctx *ctx, struct hd_expr *f, const struct hd_expr_tensor *declared,
                            int node) {
    struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_NAME) {
        int s = hd_expr_scalar_by_name(f, k->name);
        if (s >= 0) {
            make_number(k, f->scalar[s].is_float, f->scalar[s].i, f->scalar[s].f);
            return HD_OK;
        }
        int64_t size = size_of(f, declared, f->n_params, k->name);
        if (size < 0)
            return hd_expr_fail(ctx, f, k->at, "the size '%s' is not known: its tensor is left out",
                                k->name);
        make_number(k, false, size, (double)size);
    }
    if (k->op == HD_EXPR_ACCESS && f->tensor[k->i].absent) {
        const struct hd_expr_tensor *t = &f->tensor[k->i];
        double v = t->value;
        bool whole = v == rint(v) && fabs(v) < 0x1p62;
        k->type = declared[k->i].type;
        make_number(k, !whole, whole ? (int64_t)v : 0, v);
        return HD_OK;
    }
    for (int i = 0; i < k->n; i++) TRY(substitute(ctx, f, declared, k->arg[i]));
    if (k->op == HD_EXPR_PAD && f->node[k->arg[0]].op != HD_EXPR_ACCESS) *k = f->node[k->arg[0]];
    return HD_OK;
}

hd_status hd_expr_bind_names(hd_ctx *ctx, struct hd_expr *f, const struct hd_expr_args *args) {
    struct hd_expr_tensor *declared = hd_dup(f->arena, f->tensor, f->n_tensors * sizeof *f->tensor);
    if (args && args->n > f->n_params)
        return hd_expr_fail(ctx, f, 0, "%d operands, allowed %d", args->n, f->n_params);
    static const struct hd_expr_arg none = {.absent = true};
    for (int i = 0; i < f->n_params; i++)
        TRY(bind_param(ctx, f, i, !args ? NULL : i < args->n ? &args->arg[i] : &none));
    for (int i = 0; i < f->n_params; i++)
        if (!f->tensor[i].absent) TRY(check_dims(ctx, f, declared, i));
    TRY(bind_scalars(ctx, f, args));
    for (size_t i = 0; i < f->n_results; i++) {
        struct hd_expr_tensor *t = &f->tensor[f->result[i]];
        for (int d = 0; d < t->rank; d++) {
            if (!t->dim[d].name) continue;
            int64_t size = size_of(f, declared, f->n_params, t->dim[d].name);
            if (size < 0)
                return hd_expr_fail(ctx, f, t->at, "'%s' is no size of a parameter",
                                    t->dim[d].name);
            t->dim[d] = (struct hd_expr_size){.value = size};
        }
    }
    for (size_t i = 0; i < f->n_stmts; i++) {
        struct hd_expr_stmt *s = &f->stmt[i];
        TRY(substitute(ctx, f, declared, s->value));
        for (int v = 0; v < s->n_vars; v++)
            if (s->var[v].where >= 0) TRY(substitute(ctx, f, declared, s->var[v].where));
    }
    return HD_OK;
}

/* ---- "..." ---------------------------------------------------------------------------------- */

struct rest {
    hd_ctx *ctx;
    struct hd_expr *f;
    struct hd_expr_stmt *s;
    int rank; /* dimensions that ... stands for */
    int64_t dim[HD_EXPR_RANK];
    int var[HD_EXPR_RANK];
};

static int rest_of(const struct hd_expr *f, const struct hd_expr_node *k) {
    for (int i = 0; i < k->n; i++)
        if (f->node[k->arg[i]].op == HD_EXPR_REST) return i;
    return -1;
}

/* Number of indexes; dimensions of ... by numpy's rules, aligned at the end. */
static hd_status gather_rest(struct rest *r, int node) {
    const struct hd_expr_node *k = &r->f->node[node];
    for (int i = 0; i < k->n; i++) TRY(gather_rest(r, k->arg[i]));
    if (k->op != HD_EXPR_ACCESS) return HD_OK;
    const struct hd_expr_tensor *t = &r->f->tensor[k->i];
    int at = rest_of(r->f, k);
    if (at < 0 ? k->n != t->rank : k->n - 1 > t->rank)
        return hd_expr_fail(r->ctx, r->f, k->at, "'%s' has %d dimensions, %d indexes are given",
                            t->name, t->rank, k->n - (at >= 0));
    if (at < 0) return HD_OK;
    int rank = t->rank - (k->n - 1);
    for (; r->rank < rank; r->rank++) {
        memmove(r->dim + 1, r->dim, (HD_EXPR_RANK - 1) * sizeof r->dim[0]);
        r->dim[0] = 1;
    }
    for (int d = 0; d < rank; d++) {
        int64_t mine = t->dim[at + d].value, *all = &r->dim[r->rank - rank + d];
        if (*all == 1) *all = mine;
        if (mine != 1 && mine != *all)
            return hd_expr_fail(r->ctx, r->f, k->at,
                                "dimension %d of '%s' is %lld, allowed 1 or %lld beside the others",
                                at + d, t->name, (long long)mine, (long long)*all);
    }
    return HD_OK;
}

static void expand(struct rest *r, int node) {
    for (int i = 0; i < r->f->node[node].n; i++) expand(r, r->f->node[node].arg[i]);
    struct hd_expr_node old = r->f->node[node];
    int at = old.op == HD_EXPR_ACCESS ? rest_of(r->f, &old) : -1;
    if (at < 0) return;
    const struct hd_expr_tensor *t = &r->f->tensor[old.i];
    int rank = t->rank - (old.n - 1), arg[HD_EXPR_RANK] = {0}, n = 0;
    for (int i = 0; i < old.n; i++) {
        if (i != at) arg[n++] = old.arg[i];
        for (int d = 0; i == at && d < rank; d++) {
            int all = r->rank - rank + d;
            bool one = t->dim[at + d].value == 1 && r->dim[all] != 1;
            int k = hd_expr_new_node(r->f, one ? HD_EXPR_INT : HD_EXPR_VAR, old.at);
            r->f->node[k].i = one ? 0 : r->var[all];
            arg[n++] = k;
        }
    }
    r->f->node[node].n = n;
    memcpy(r->f->node[node].arg, arg, (size_t)n * sizeof arg[0]);
}

/* The left side's "..." becomes the variables; without it they are reduced. */
static hd_status expand_left(struct rest *r) {
    struct hd_expr_stmt *s = r->s;
    int at = -1;
    for (int d = 0; d < s->rank; d++)
        if (s->lhs[d] < 0) at = d;
    bool reduced = at < 0;
    if (reduced && r->rank && s->reduce == HD_REDUCE_NONE)
        return hd_expr_fail(r->ctx, r->f, s->at, "... is not on the left side; write += to sum");
    if (reduced && r->rank && s->reduce >= HD_REDUCE_ARGMAX)
        return hd_expr_fail(r->ctx, r->f, s->at, "%s runs over one variable, not over ...",
                            hd_reduce_text[s->reduce]);
    if (s->n_vars + r->rank > HD_EXPR_VARS || s->rank - !reduced + r->rank > HD_EXPR_RANK)
        return hd_expr_fail(r->ctx, r->f, s->at,
                            "... makes more than %d index variables or %d "
                            "dimensions",
                            HD_EXPR_VARS, HD_EXPR_RANK);
    for (int d = 0; d < r->rank; d++) {
        r->var[d] = s->n_vars;
        s->var[s->n_vars++] = (struct hd_expr_var){.name = hd_sprintf(r->f->arena, "_%d", d),
                                                   .extent = r->dim[d],
                                                   .where = -1,
                                                   .reduced = reduced};
    }
    if (reduced) return HD_OK;
    memmove(&s->lhs[at + r->rank], &s->lhs[at + 1], (size_t)(s->rank - at - 1) * sizeof s->lhs[0]);
    for (int d = 0; d < r->rank; d++) s->lhs[at + d] = r->var[d];
    s->rank += r->rank - 1;
    return HD_OK;
}

hd_status hd_expr_bind_rest(hd_ctx *ctx, struct hd_expr *f, struct hd_expr_stmt *s) {
    struct rest r = {.ctx = ctx, .f = f, .s = s};
    TRY(gather_rest(&r, s->value));
    TRY(expand_left(&r));
    expand(&r, s->value);
    hd_expr_order_vars(f, s);
    return HD_OK;
}
