/* What holds for every bound expression, looked at without the code that binds. */
#include "compiler/expr/expr_int.h"

struct verifier {
    hd_ctx *ctx;
    const struct hd_expr *f;
    const struct hd_expr_stmt *s;
    const bool *defined;
    bool *seen; /* nodes: each has one user */
};

#define WRONG(v, at, ...) hd_expr_fail((v)->ctx, (v)->f, at, "unsound: " __VA_ARGS__)

static hd_status access(struct verifier *v, const struct hd_expr_node *k) {
    if (k->i < 0 || (size_t)k->i >= v->f->n_tensors || !v->defined[k->i])
        return WRONG(v, k->at, "tensor %lld is not defined", (long long)k->i);
    const struct hd_expr_tensor *t = &v->f->tensor[k->i];
    if (k->n != t->rank || k->type != t->type)
        return WRONG(v, k->at, "%d indexes of '%s' of %d dimensions", k->n, t->name, t->rank);
    for (int d = 0; d < k->n; d++)
        if (v->f->node[k->arg[d]].type != HD_I64)
            return WRONG(v, k->at, "index %d of '%s' is no i64", d, t->name);
    return HD_OK;
}

static hd_status operands(struct verifier *v, const struct hd_expr_node *k) {
    const struct hd_expr_info *info = &hd_expr_infos[k->op];
    int first = v->f->node[k->arg[0]].type;
    if (info->form == HD_FORM_OTHER) return HD_OK;
    for (int i = 0; i < k->n; i++)
        if (v->f->node[k->arg[i]].type != first) return WRONG(v, k->at, "operands of two types");
    bool fits = (info->types & hd_expr_type_set(first)) && k->n == info->n_args &&
                k->type == (info->truth ? HD_BOOL : first);
    return fits ? HD_OK : WRONG(v, k->at, "%s of %s", info->text, hd_dtype_name((hd_dtype)first));
}

static hd_status node(struct verifier *v, int id) {
    if (id < 0 || (size_t)id >= v->f->n_nodes || v->seen[id])
        return WRONG(v, v->s->at, "node %d", id);
    v->seen[id] = true;
    const struct hd_expr_node *k = &v->f->node[id];
    if (k->op == HD_EXPR_NAME || k->op == HD_EXPR_REST || !hd_expr_type_set(k->type))
        return WRONG(v, k->at, "an open node");
    if (k->op == HD_EXPR_VAR && (k->i < 0 || k->i >= v->s->n_vars))
        return WRONG(v, k->at, "variable %lld", (long long)k->i);
    for (int i = 0; i < k->n; i++) TRY(node(v, k->arg[i]));
    if (k->op == HD_EXPR_ACCESS) return access(v, k);
    if (k->op == HD_EXPR_PAD && (k->n != 2 || v->f->node[k->arg[0]].op != HD_EXPR_ACCESS))
        return WRONG(v, k->at, "pad without an access");
    if (k->op == HD_EXPR_SELECT && (k->n != 3 || v->f->node[k->arg[0]].type != HD_BOOL))
        return WRONG(v, k->at, "select without a condition");
    return k->n ? operands(v, k) : HD_OK;
}

static hd_status stmt(struct verifier *v) {
    const struct hd_expr_stmt *s = v->s;
    const struct hd_expr_tensor *t = &v->f->tensor[s->tensor];
    if (v->defined[s->tensor] || t->param) return WRONG(v, s->at, "'%s' again", t->name);
    if (t->rank != s->rank) return WRONG(v, s->at, "rank of '%s'", t->name);
    for (int i = 0; i < s->n_vars; i++)
        if (s->var[i].extent < 0) return WRONG(v, s->at, "range of '%s'", s->var[i].name);
    for (int d = 0; d < s->rank; d++)
        if (s->lhs[d] < 0 || s->lhs[d] >= s->n_vars || s->var[s->lhs[d]].reduced ||
            s->var[s->lhs[d]].extent != t->dim[d].value)
            return WRONG(v, s->at, "dimension %d of '%s'", d, t->name);
    TRY(node(v, s->value));
    int type = v->f->node[s->value].type;
    if (t->type != (s->reduce >= HD_REDUCE_ARGMAX ? (int)HD_I64 : type))
        return WRONG(v, s->at, "type of '%s'", t->name);
    return HD_OK;
}

hd_status hd_expr_verify(hd_ctx *ctx, const struct hd_expr *f) {
    hd_arena *a = hd_arena_create();
    bool *defined = hd_new_array(a, bool, f->n_tensors + 1);
    struct verifier v = {ctx, f, NULL, defined, hd_new_array(a, bool, f->n_nodes + 1)};
    hd_status s = f->bound ? HD_OK : hd_fail(ctx, HD_INVALID, "expression: not bound");
    for (int i = 0; i < f->n_params; i++) defined[i] = true;
    for (size_t i = 0; i < f->n_stmts && s == HD_OK; i++) {
        v.s = &f->stmt[i];
        s = stmt(&v);
        defined[v.s->tensor] = true;
    }
    hd_arena_destroy(a);
    return s;
}
