/* What each name of a parsed expression means: tensors, sizes, scalars, index variables. An
 * expression without a header gets one: what it reads and does not define are its parameters in
 * order of appearance, what it defines and does not read are its results. */
#include <string.h>

#include "compiler/expr/expr_int.h"

struct resolver {
    hd_ctx *ctx;
    struct hd_expr *f;
    struct hd_expr_stmt *s;
    size_t i_stmt;
    bool limit; /* inside a limit: no variables, no tensors */
};

/* ---- expressions without a header ----------------------------------------------------------- */

static void find_params(struct hd_expr *f, int node, struct hd_expr_tensor *params) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_ACCESS && hd_expr_tensor_by_name(f, k->name) < 0) {
        for (int i = 0; i < f->n_params; i++)
            if (!strcmp(params[i].name, k->name)) return;
        if ((size_t)f->n_params + f->n_tensors < HD_EXPR_TENSORS)
            params[f->n_params++] = (struct hd_expr_tensor){
                .name = k->name, .type = -1, .rank = -1, .param = true, .at = k->at};
    }
    for (int i = 0; i < k->n; i++) find_params(f, k->arg[i], params);
}

static bool reads(const struct hd_expr *f, int node, const char *name) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_ACCESS && !strcmp(k->name, name)) return true;
    for (int i = 0; i < k->n; i++)
        if (reads(f, k->arg[i], name)) return true;
    return false;
}

/* Tensors so far are the definitions, in order. */
static void make_header(struct hd_expr *f) {
    struct hd_expr_tensor *all = hd_new_array(f->arena, struct hd_expr_tensor, HD_EXPR_TENSORS);
    size_t defined = f->n_tensors;
    for (size_t i = 0; i < f->n_stmts; i++) find_params(f, f->stmt[i].value, all);
    for (size_t i = 0; i < defined; i++) {
        struct hd_expr_tensor *t = &all[(size_t)f->n_params + i];
        *t = f->tensor[i];
        t->result = true;
        for (size_t s = 0; s < f->n_stmts && t->result; s++)
            t->result = !reads(f, f->stmt[s].value, t->name);
        if (t->result)
            *hd_push(f->arena, f->result, f->n_results, f->cap_results) = f->n_params + (int)i;
    }
    for (size_t s = 0; s < f->n_stmts; s++) f->stmt[s].tensor += f->n_params;
    f->tensor = all;
    f->n_tensors = defined + (size_t)f->n_params;
    f->cap_tensors = HD_EXPR_TENSORS;
}

/* ---- names ---------------------------------------------------------------------------------- */

static hd_status resolve_access(struct resolver *r, struct hd_expr_node *k) {
    int t = hd_expr_tensor_by_name(r->f, k->name);
    if (r->limit)
        return hd_expr_fail(r->ctx, r->f, k->at, "a limit is made of numbers, sizes and scalars");
    if (t < 0)
        return hd_expr_fail(r->ctx, r->f, k->at,
                            "there is no tensor '%s'; the header names the parameters", k->name);
    bool defined = r->f->tensor[t].param;
    for (size_t i = 0; i < r->i_stmt && !defined; i++) defined = r->f->stmt[i].tensor == t;
    if (!defined)
        return hd_expr_fail(r->ctx, r->f, k->at,
                            "'%s' is read before it is defined; order the statements", k->name);
    k->i = t;
    int rest = 0;
    for (int i = 0; i < k->n; i++) rest += r->f->node[k->arg[i]].op == HD_EXPR_REST;
    if (rest > 1) return hd_expr_fail(r->ctx, r->f, k->at, "more than one ... in an access");
    return HD_OK;
}

static hd_status resolve_name(struct resolver *r, struct hd_expr_node *k) {
    struct hd_expr_stmt *s = r->s;
    if (hd_expr_scalar_by_name(r->f, k->name) >= 0 || hd_expr_is_size(r->f, k->name)) return HD_OK;
    if (r->limit)
        return hd_expr_fail(r->ctx, r->f, k->at, "'%s' is no size of a parameter and no scalar",
                            k->name);
    if (hd_expr_tensor_by_name(r->f, k->name) >= 0)
        return hd_expr_fail(r->ctx, r->f, k->at, "'%s' is a tensor: write %s[...]", k->name,
                            k->name);
    int v = 0;
    while (v < s->n_vars && strcmp(s->var[v].name, k->name)) v++;
    if (v == HD_EXPR_VARS)
        return hd_expr_fail(r->ctx, r->f, k->at, "at most %d index variables", HD_EXPR_VARS);
    if (v == s->n_vars)
        s->var[s->n_vars++] =
            (struct hd_expr_var){.name = k->name, .extent = -1, .where = -1, .reduced = true};
    k->op = HD_EXPR_VAR;
    k->i = v;
    return HD_OK;
}

static hd_status resolve(struct resolver *r, int node) {
    struct hd_expr_node *k = &r->f->node[node];
    if (k->op == HD_EXPR_ACCESS) TRY(resolve_access(r, k));
    if (k->op == HD_EXPR_NAME) TRY(resolve_name(r, k));
    for (int i = 0; i < k->n; i++) TRY(resolve(r, k->arg[i]));
    return HD_OK;
}

static hd_status check_vars(struct resolver *r) {
    struct hd_expr_stmt *s = r->s;
    int reduced = 0, rest = 0;
    for (int d = 0; d < s->rank; d++) rest += s->lhs[d] < 0;
    if (rest > 1) return hd_expr_fail(r->ctx, r->f, s->at, "more than one ... on the left side");
    for (int v = 0; v < s->n_vars; v++) {
        const struct hd_expr_var *x = &s->var[v];
        if (hd_expr_scalar_by_name(r->f, x->name) >= 0 || hd_expr_is_size(r->f, x->name) ||
            hd_expr_tensor_by_name(r->f, x->name) >= 0)
            return hd_expr_fail(r->ctx, r->f, s->at,
                                "'%s' is an index variable here, and something else in the header",
                                x->name);
        if (!x->reduced) continue;
        reduced++;
        if (!hd_expr_uses(r->f, s->value, v))
            return hd_expr_fail(r->ctx, r->f, s->at, "'%s' has a limit, and nothing reads it",
                                x->name);
        if (s->reduce == HD_REDUCE_NONE)
            return hd_expr_fail(r->ctx, r->f, s->at,
                                "'%s' is not on the left side; write += to sum over it", x->name);
    }
    if (s->reduce >= HD_REDUCE_ARGMAX && reduced != 1)
        return hd_expr_fail(r->ctx, r->f, s->at, "%s runs over one variable, here over %d",
                            hd_reduce_text[s->reduce], reduced);
    return HD_OK;
}

static void order_of(const struct hd_expr *f, int node, int *order, int *n) {
    const struct hd_expr_node *k = &f->node[node];
    bool is_new = k->op == HD_EXPR_VAR;
    for (int i = 0; i < *n && is_new; i++) is_new = order[i] != k->i;
    if (is_new) order[(*n)++] = (int)k->i;
    for (int i = 0; i < k->n; i++) order_of(f, k->arg[i], order, n);
}

static void renumber(struct hd_expr *f, int node, const int *to) {
    struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_VAR) k->i = to[k->i];
    for (int i = 0; i < k->n; i++) renumber(f, k->arg[i], to);
}

void hd_expr_order_vars(struct hd_expr *f, struct hd_expr_stmt *s) {
    struct hd_expr_var old[HD_EXPR_VARS];
    int order[HD_EXPR_VARS], to[HD_EXPR_VARS] = {0}, n = 0;
    for (int d = 0; d < s->rank; d++)
        if (s->lhs[d] >= 0) order[n++] = s->lhs[d];
    order_of(f, s->value, order, &n);
    memcpy(old, s->var, sizeof old);
    for (int i = 0; i < n; i++) {
        s->var[i] = old[order[i]];
        to[order[i]] = i;
    }
    s->n_vars = n;
    for (int d = 0; d < s->rank; d++)
        if (s->lhs[d] >= 0) s->lhs[d] = to[s->lhs[d]];
    renumber(f, s->value, to);
}

hd_status hd_expr_resolve(hd_ctx *ctx, struct hd_expr *f) {
    if (!f->n_results) make_header(f);
    if (f->n_tensors >= HD_EXPR_TENSORS)
        return hd_expr_fail(ctx, f, 0, "at most %d tensors", HD_EXPR_TENSORS - 1);
    for (size_t i = 0; i < f->n_stmts; i++) {
        struct resolver r = {ctx, f, &f->stmt[i], i, false};
        TRY(resolve(&r, r.s->value));
        r.limit = true;
        for (int v = 0; v < r.s->n_vars; v++)
            if (r.s->var[v].where >= 0) TRY(resolve(&r, r.s->var[v].where));
        TRY(check_vars(&r));
        hd_expr_order_vars(f, r.s);
    }
    for (size_t i = 0; i < f->n_results; i++) {
        bool defined = false;
        for (size_t s = 0; s < f->n_stmts; s++)
            defined = defined || f->stmt[s].tensor == f->result[i];
        if (!defined)
            return hd_expr_fail(ctx, f, f->tensor[f->result[i]].at, "no statement defines it");
    }
    return HD_OK;
}
