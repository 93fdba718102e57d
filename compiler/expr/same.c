/* Whether two bound expressions compute the same: the same operators on the same elements, in any
 * order of operands that does not matter. Floats may be rounded in other places: casts between
 * float types count for nothing, and neither do statements that only copy. */
#include "compiler/expr/expr_int.h"

struct pair {
    const struct hd_expr *a, *b;
    int to[HD_EXPR_TENSORS]; /* tensor of b for each one of a */
};

static bool is_float(int type) {
    return hd_expr_type_set(type) == HD_SET_FLT;
}

/* Without casts between floats. */
static int plain(const struct hd_expr *f, int node) {
    const struct hd_expr_node *k = &f->node[node];
    while (k->op == HD_EXPR_CAST && is_float(k->type) && is_float(f->node[k->arg[0]].type)) {
        node = k->arg[0];
        k = &f->node[node];
    }
    return node;
}

static bool commutes(enum hd_expr_op op) {
    return op == HD_EXPR_add || op == HD_EXPR_mul || op == HD_EXPR_and || op == HD_EXPR_or ||
           op == HD_EXPR_xor || op == HD_EXPR_eq || op == HD_EXPR_ne;
}

static bool same_node(const struct pair *p, int x, int y) {
    x = plain(p->a, x);
    y = plain(p->b, y);
    const struct hd_expr_node *k = &p->a->node[x], *l = &p->b->node[y];
    bool types = k->type == l->type || (is_float(k->type) && is_float(l->type));
    bool numbers = (k->op == HD_EXPR_INT || k->op == HD_EXPR_FLOAT) &&
                   (l->op == HD_EXPR_INT || l->op == HD_EXPR_FLOAT);
    if (!types) return false;
    if (numbers) return k->f == l->f && (k->op != HD_EXPR_INT || l->op != k->op || k->i == l->i);
    if (k->op != l->op || k->n != l->n || k->round != l->round || k->saturate != l->saturate)
        return false;
    if (k->op == HD_EXPR_VAR && k->i != l->i) return false;
    if (k->op == HD_EXPR_ACCESS && p->to[k->i] != l->i) return false;
    bool same = true;
    for (int i = 0; i < k->n && same; i++) same = same_node(p, k->arg[i], l->arg[i]);
    if (same || !commutes(k->op)) return same;
    return same_node(p, k->arg[0], l->arg[1]) && same_node(p, k->arg[1], l->arg[0]);
}

/* The tensor that a statement copies as it is, -1 = it does more. */
static int copied(const struct hd_expr *f, const struct hd_expr_stmt *s) {
    const struct hd_expr_node *k = &f->node[plain(f, s->value)];
    if (s->reduce || k->op != HD_EXPR_ACCESS || k->n != s->rank) return -1;
    if (k->i < f->n_params || f->tensor[k->i].result) return -1;
    for (int d = 0; d < s->rank; d++) {
        const struct hd_expr_node *x = &f->node[k->arg[d]];
        if (x->op != HD_EXPR_VAR || x->i != s->lhs[d] ||
            f->tensor[k->i].dim[d].value != s->var[s->lhs[d]].extent)
            return -1;
    }
    return (int)k->i;
}

static bool same_stmt(struct pair *p, const struct hd_expr_stmt *s, const struct hd_expr_stmt *t) {
    if (s->reduce != t->reduce || s->rank != t->rank || s->n_vars != t->n_vars) return false;
    for (int v = 0; v < s->n_vars; v++)
        if (s->var[v].extent != t->var[v].extent || s->var[v].reduced != t->var[v].reduced)
            return false;
    for (int d = 0; d < s->rank; d++)
        if (s->lhs[d] != t->lhs[d]) return false;
    p->to[s->tensor] = t->tensor;
    return same_node(p, s->value, t->value);
}

/* The statement behind a copy, and what the copy defines, too. */
static const struct hd_expr_stmt *next(const struct hd_expr *f, size_t *at) {
    while (*at < f->n_stmts && copied(f, &f->stmt[*at]) >= 0) ++*at;
    return *at < f->n_stmts ? &f->stmt[(*at)++] : NULL;
}

static int source(const struct hd_expr *f, int tensor) {
    for (size_t i = f->n_stmts; i-- > 0;)
        if (f->stmt[i].tensor == tensor && copied(f, &f->stmt[i]) >= 0)
            tensor = copied(f, &f->stmt[i]);
    return tensor;
}

bool hd_expr_same(const struct hd_expr *a, const struct hd_expr *b) {
    struct pair p = {.a = a, .b = b};
    const struct hd_expr_stmt *s, *t;
    size_t i = 0, k = 0;
    if (a->n_params != b->n_params || a->n_results != b->n_results) return false;
    for (int x = 0; x < (int)a->n_tensors; x++) p.to[x] = x < a->n_params ? x : -1;
    do {
        s = next(a, &i);
        t = next(b, &k);
        if (s && t && !same_stmt(&p, s, t)) return false;
    } while (s && t);
    if (s || t) return false;
    for (size_t r = 0; r < a->n_results; r++) {
        if (a->tensor[a->result[r]].type != b->tensor[b->result[r]].type) return false;
        if (p.to[source(a, a->result[r])] != source(b, b->result[r])) return false;
    }
    return true;
}
