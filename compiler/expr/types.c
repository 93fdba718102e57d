/* Binding: the type of each node, from the leaves up. Numbers take the type of what stands beside
 * them. No type changes without a cast, but for indexes: integers become i64. */
#include "compiler/expr/expr_int.h"

struct typer {
    hd_ctx *ctx;
    struct hd_expr *f;
};

static hd_status infer(struct typer *t, int node, bool index);

static const char *type_name(int type) {
    return type < 0 ? "a number" : hd_dtype_name((hd_dtype)type);
}

static hd_status check_op(struct typer *t, const struct hd_expr_node *k, int type) {
    const struct hd_expr_info *info = &hd_expr_infos[k->op];
    static const char *const sets[] = {"",     "floats",         "integers",          "numbers",
                                       "bool", "floats or bool", "integers and bool", "any type"};
    if (info->form == HD_FORM_OTHER || (info->types & hd_expr_type_set(type))) return HD_OK;
    return hd_expr_fail(t->ctx, t->f, k->at, "%s takes %s, got %s; convert it, as in f32(x)",
                        info->text, sets[info->types], type_name(type));
}

static hd_status check_int(struct typer *t, const struct hd_expr_node *k, int type) {
    int64_t lo, hi;
    if (!(hd_expr_type_set(type) & HD_SET_INT)) return HD_OK;
    hd_scalar_limits(type, &lo, &hi);
    if (type == HD_U64) hi = INT64_MAX;
    if (k->i >= lo && k->i <= hi) return HD_OK;
    return hd_expr_fail(t->ctx, t->f, k->at, "%lld does not fit %s, allowed %lld to %lld",
                        (long long)k->i, type_name(type), (long long)lo, (long long)hi);
}

/* Gives open numbers below `node` a type. */
static hd_status set_type(struct typer *t, int node, int type) {
    struct hd_expr_node *k = &t->f->node[node];
    if (k->type >= 0) return HD_OK;
    k->type = type;
    if (k->op == HD_EXPR_INT) {
        k->f = (double)k->i;
        return check_int(t, k, type);
    }
    if (k->op == HD_EXPR_FLOAT) {
        if (hd_expr_type_set(type) == HD_SET_FLT) return HD_OK;
        return hd_expr_fail(t->ctx, t->f, k->at, "%g beside %s; convert, as in f32(x)", k->f,
                            type_name(type));
    }
    TRY(check_op(t, k, type));
    for (int i = k->op == HD_EXPR_SELECT; i < k->n; i++) TRY(set_type(t, k->arg[i], type));
    return HD_OK;
}

static bool has_float(const struct hd_expr *f, int node) {
    const struct hd_expr_node *k = &f->node[node];
    for (int i = 0; i < k->n; i++)
        if (has_float(f, k->arg[i])) return true;
    return k->op == HD_EXPR_FLOAT;
}

/* Open numbers that nothing decides. */
static hd_status settle(struct typer *t, int node) {
    return set_type(t, node, has_float(t->f, node) ? HD_F64 : HD_I64);
}

/* One type for operands a and b of node: *out, -1 = open. */
static hd_status unify(struct typer *t, int node, int a, int b, int *out) {
    int x = t->f->node[a].type, y = t->f->node[b].type;
    if (x >= 0 && y < 0) TRY(set_type(t, b, x));
    if (y >= 0 && x < 0) TRY(set_type(t, a, y));
    if (x >= 0 && y >= 0 && x != y)
        return hd_expr_fail(t->ctx, t->f, t->f->node[node].at,
                            "%s and %s; convert one, as in %s(x)", type_name(x), type_name(y),
                            type_name(x));
    *out = x >= 0 ? x : y;
    return HD_OK;
}

static hd_status infer_index(struct typer *t, int node) {
    TRY(infer(t, node, true));
    TRY(set_type(t, node, HD_I64));
    const struct hd_expr_node *k = &t->f->node[node];
    if (k->type == HD_I64) return HD_OK;
    return hd_expr_fail(t->ctx, t->f, k->at, "an index of type %s, allowed an integer",
                        type_name(k->type));
}

/* An integer element in an index: as i64. */
static void widen(struct typer *t, int node) {
    int copy = hd_expr_new_node(t->f, HD_EXPR_ACCESS, t->f->node[node].at);
    t->f->node[copy] = t->f->node[node];
    t->f->node[node] = (struct hd_expr_node){
        .op = HD_EXPR_CAST, .type = HD_I64, .n = 1, .arg = {copy}, .at = t->f->node[copy].at};
}

static hd_status infer_other(struct typer *t, int node, bool index) {
    const struct hd_expr_node k = t->f->node[node]; /* nodes may move */
    int type = k.type;
    switch (k.op) {
    case HD_EXPR_VAR:
        t->f->node[node].type = HD_I64;
        return HD_OK;
    case HD_EXPR_ACCESS:
        type = t->f->tensor[k.i].type;
        t->f->node[node].type = type;
        for (int i = 0; i < k.n; i++) TRY(infer_index(t, k.arg[i]));
        if (index && type != HD_I64 && hd_expr_type_set(type) == HD_SET_INT) widen(t, node);
        return HD_OK;
    case HD_EXPR_CAST:
        TRY(infer(t, k.arg[0], false));
        return settle(t, k.arg[0]);
    case HD_EXPR_SELECT:
        TRY(infer(t, k.arg[0], index));
        if (t->f->node[k.arg[0]].type != HD_BOOL)
            return hd_expr_fail(t->ctx, t->f, k.at, "the condition of select is %s, allowed bool",
                                type_name(t->f->node[k.arg[0]].type));
        TRY(infer(t, k.arg[1], index));
        TRY(infer(t, k.arg[2], index));
        TRY(unify(t, node, k.arg[1], k.arg[2], &type));
        t->f->node[node].type = type;
        return HD_OK;
    case HD_EXPR_PAD: /* what pad stands before stays an access: no widening */
        TRY(infer(t, k.arg[0], false));
        TRY(infer(t, k.arg[1], false));
        TRY(unify(t, node, k.arg[0], k.arg[1], &type));
        t->f->node[node].type = type;
        return HD_OK;
    default:
        return HD_OK; /* numbers */
    }
}

static hd_status infer(struct typer *t, int node, bool index) {
    const struct hd_expr_node k = t->f->node[node];
    const struct hd_expr_info *info = &hd_expr_infos[k.op];
    if (info->form == HD_FORM_OTHER) return infer_other(t, node, index);
    int type;
    for (int i = 0; i < k.n; i++) TRY(infer(t, k.arg[i], index));
    type = t->f->node[k.arg[0]].type;
    if (k.n == 2) TRY(unify(t, node, k.arg[0], k.arg[1], &type));
    if (type < 0 && info->truth) {
        bool is_float = has_float(t->f, k.arg[0]) || has_float(t->f, k.arg[1]);
        type = is_float ? HD_F64 : HD_I64;
        TRY(set_type(t, k.arg[0], type));
        TRY(set_type(t, k.arg[1], type));
    }
    if (type >= 0) TRY(check_op(t, &k, type));
    t->f->node[node].type = info->truth ? HD_BOOL : type;
    return HD_OK;
}

hd_status hd_expr_types(hd_ctx *ctx, struct hd_expr *f, struct hd_expr_stmt *s) {
    struct typer t = {ctx, f};
    TRY(infer(&t, s->value, false));
    struct hd_expr_tensor *y = &f->tensor[s->tensor];
    const struct hd_expr_node *k = &f->node[s->value];
    bool arg = s->reduce >= HD_REDUCE_ARGMAX;
    if (k->type < 0 && y->type >= 0 && !arg) TRY(set_type(&t, s->value, y->type));
    if (f->node[s->value].type < 0)
        return hd_expr_fail(ctx, f, k->at, "the type of this is open; say it, as in f32(1)");
    int type = arg ? HD_I64 : k->type;
    if (s->reduce != HD_REDUCE_NONE && k->type == HD_BOOL)
        return hd_expr_fail(ctx, f, k->at, "%s of bool; convert it, as in i32(x)",
                            hd_reduce_text[s->reduce]);
    if (y->type >= 0 && y->type != type)
        return hd_expr_fail(ctx, f, k->at, "'%s' is %s, its value is %s; convert it, as in %s(x)",
                            y->name, type_name(y->type), type_name(type), type_name(y->type));
    y->type = type;
    return HD_OK;
}
