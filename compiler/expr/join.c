/* Expressions that become one: see rewrite.h. */
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "compiler/expr/rewrite.h"

enum { MOST_NODES = 600 }; /* of a joined one: values that are read twice are computed twice */

/* ---- join ----------------------------------------------------------------------------------- */

struct joint {
    struct hd_expr *y;
    int tensor[HD_EXPR_TENSORS]; /* of the expression that is being copied: its tensors in y */
    int node0;                   /* its first node in y */
};

static int push_tensor(struct joint *j, const struct hd_expr_tensor *t) {
    struct hd_expr *y = j->y;
    struct hd_expr_tensor *to = hd_push(y->arena, y->tensor, y->n_tensors, y->cap_tensors);
    *to = *t; /* names are those of loops and steps: each has its own */
    to->name = hd_sprintf(y->arena, "hd_j%zu", y->n_tensors - 1);
    return (int)y->n_tensors - 1;
}

static void copy_code(struct joint *j, const struct hd_expr *f) {
    struct hd_expr *y = j->y;
    j->node0 = (int)y->n_nodes;
    for (size_t i = 0; i < f->n_nodes; i++) {
        struct hd_expr_node *k = hd_push(y->arena, y->node, y->n_nodes, y->cap_nodes);
        *k = f->node[i];
        for (int a = 0; a < k->n; a++) k->arg[a] += j->node0;
        if (k->op == HD_EXPR_ACCESS) k->i = j->tensor[k->i];
    }
    for (size_t i = 0; i < f->n_stmts; i++) {
        struct hd_expr_stmt *s = hd_push(y->arena, y->stmt, y->n_stmts, y->cap_stmts);
        *s = f->stmt[i];
        s->tensor = j->tensor[s->tensor];
        s->value += j->node0;
        for (int v = 0; v < s->n_vars; v++) s->var[v].where = -1; /* ranges are known */
    }
}

struct hd_expr *hd_expr_join(hd_arena *a, const struct hd_expr *f, const struct hd_expr *g,
                             const int *from) {
    int n_new = 0;
    struct joint jf = {hd_new(a, struct hd_expr), {0}, 0}, jg = {jf.y, {0}, 0};
    for (int i = 0; i < g->n_params; i++) n_new += from[i] < 0;
    if (f->n_tensors + g->n_tensors >= HD_EXPR_TENSORS) return NULL;
    *jf.y =
        (struct hd_expr){.arena = a, .text = "", .bound = true, .n_params = f->n_params + n_new};
    for (int i = 0; i < f->n_params; i++) jf.tensor[i] = push_tensor(&jf, &f->tensor[i]);
    for (int i = 0; i < g->n_params; i++)
        if (from[i] < 0) jg.tensor[i] = push_tensor(&jg, &g->tensor[i]);
    for (size_t i = (size_t)f->n_params; i < f->n_tensors; i++) {
        jf.tensor[i] = push_tensor(&jf, &f->tensor[i]);
        jf.y->tensor[jf.tensor[i]].result = false;
    }
    for (int i = 0; i < g->n_params; i++)
        if (from[i] >= 0) jg.tensor[i] = jf.tensor[from[i]];
    for (size_t i = (size_t)g->n_params; i < g->n_tensors; i++)
        jg.tensor[i] = push_tensor(&jg, &g->tensor[i]);
    copy_code(&jf, f);
    copy_code(&jg, g);
    for (size_t i = 0; i < g->n_results; i++)
        *hd_push(a, jf.y->result, jf.y->n_results, jf.y->cap_results) = jg.tensor[g->result[i]];
    return jf.y;
}

/* ---- inline --------------------------------------------------------------------------------- */

/* The access is the reader's own element. */
static bool own(const struct hd_expr *f, const struct hd_expr_stmt *r, int access) {
    const struct hd_expr_node *k = &f->node[access];
    if (k->checked || k->n != r->rank) return false;
    for (int d = 0; d < k->n; d++) {
        const struct hd_expr_node *x = &f->node[k->arg[d]];
        bool same = x->op == HD_EXPR_VAR && x->i == r->lhs[d];
        bool one = x->op == HD_EXPR_INT && x->i == 0 && r->var[r->lhs[d]].extent == 1;
        if (!same && !one) return false;
        if (f->tensor[k->i].dim[d].value != r->var[r->lhs[d]].extent) return false;
    }
    return true;
}

/* Reads of the tensor below the node, -1 when one is not of the reader's own element. */
static int own_reads(const struct hd_expr *f, const struct hd_expr_stmt *r, int node, int tensor) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_ACCESS && k->i == tensor) return own(f, r, node) ? 1 : -1;
    int n = 0;
    for (int i = 0; i < k->n; i++) {
        int more = own_reads(f, r, k->arg[i], tensor);
        bool padded = k->op == HD_EXPR_PAD && i == 0 && more;
        if (more < 0 || padded) return -1;
        n += more;
    }
    return n;
}

/* A copy of a value for another statement: variable v is node to[v]. */
static int copy(struct hd_expr *f, int node, const int *to) {
    struct hd_expr_node k = f->node[node];
    if (k.op == HD_EXPR_VAR) return to[k.i];
    for (int i = 0; i < k.n; i++) {
        int arg = copy(f, k.arg[i], to);
        k.arg[i] = arg;
    }
    int id = hd_expr_new_node(f, k.op, k.at);
    f->node[id] = k;
    return id;
}

static int replace(struct hd_expr *f, int node, const struct hd_expr_stmt *s) {
    struct hd_expr_node k = f->node[node];
    if (k.op == HD_EXPR_ACCESS && k.i == s->tensor) {
        int to[HD_EXPR_VARS] = {0};
        for (int d = 0; d < s->rank; d++) to[s->lhs[d]] = k.arg[d];
        return copy(f, s->value, to);
    }
    for (int i = 0; i < k.n; i++) {
        int arg = replace(f, k.arg[i], s);
        f->node[node].arg[i] = arg;
    }
    return node;
}

bool hd_expr_inline(struct hd_expr *f, int tensor) {
    int maker = -1, reader = -1;
    for (size_t i = 0; i < f->n_stmts; i++) {
        if (f->stmt[i].tensor == tensor) maker = (int)i;
        int n = own_reads(f, &f->stmt[i], f->stmt[i].value, tensor);
        if (n < 0 || (n && reader >= 0)) return false;
        if (n) reader = (int)i;
    }
    if (maker < 0 || reader < 0 || f->stmt[reader].reduce != HD_REDUCE_NONE) return false;
    if (f->stmt[maker].reduce != HD_REDUCE_NONE) return true; /* hd_expr_reader finds it */
    const struct hd_expr_stmt s = f->stmt[maker];
    int value = replace(f, f->stmt[reader].value, &s);
    f->stmt[reader].value = value;
    for (size_t i = (size_t)maker; i + 1 < f->n_stmts; i++) f->stmt[i] = f->stmt[i + 1];
    f->n_stmts--;
    return f->n_nodes <= MOST_NODES;
}

bool hd_expr_pointwise(const struct hd_expr *g, int param) {
    int last = (int)g->n_stmts - 1;
    if (g->n_results != 1 || last < 0 || g->stmt[last].tensor != g->result[0] ||
        g->stmt[last].reduce != HD_REDUCE_NONE)
        return false;
    for (int i = 0; i < last; i++)
        if (own_reads(g, &g->stmt[i], g->stmt[i].value, param) != 0) return false;
    return own_reads(g, &g->stmt[last], g->stmt[last].value, param) > 0;
}
