/* Rewrites where the elements of a tensor lie: see rewrite.h. */
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "compiler/expr/rewrite.h"

/* A copy in which variable v is var[v]. */
static int renamed(struct hd_expr *f, int node, const int *var) {
    struct hd_expr_node k = f->node[node];
    for (int i = 0; i < k.n; i++) k.arg[i] = renamed(f, k.arg[i], var);
    if (k.op == HD_EXPR_VAR) k.i = var[k.i];
    int to = hd_expr_new_node(f, k.op, k.at);
    f->node[to] = k;
    return to;
}

/* The variables of the left side stand first, in its order. */
static void permute_left(struct hd_expr *f, struct hd_expr_stmt *s, const int *order) {
    const struct hd_expr_stmt was = *s;
    int var[HD_EXPR_VARS], n = 0;
    for (int v = 0; v < was.n_vars; v++) var[v] = -1;
    for (int d = 0; d < was.rank; d++) var[was.lhs[order[d]]] = n++;
    for (int v = 0; v < was.n_vars; v++)
        if (var[v] < 0) var[v] = n++;
    for (int v = 0; v < was.n_vars; v++) s->var[var[v]] = was.var[v];
    for (int d = 0; d < was.rank; d++) s->lhs[d] = d;
    s->value = renamed(f, was.value, var);
}

void hd_expr_permute(struct hd_expr *f, int tensor, const int *order) {
    struct hd_expr_tensor *t = &f->tensor[tensor];
    const struct hd_expr_tensor was = *t;
    for (int d = 0; d < was.rank; d++) t->dim[d] = was.dim[order[d]];
    for (size_t i = 0; i < f->n_nodes; i++) {
        struct hd_expr_node *k = &f->node[i], old = *k;
        if (k->op != HD_EXPR_ACCESS || k->i != tensor) continue;
        for (int d = 0; d < old.n; d++) k->arg[d] = old.arg[order[d]];
    }
    for (size_t i = 0; i < f->n_stmts; i++)
        if (f->stmt[i].tensor == tensor) permute_left(f, &f->stmt[i], order);
}
