/* The step tensorize: a statement's innermost loops are an intrinsic, found by its expression. */
#include <stdio.h>
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "compiler/loop/loop_int.h"

static const struct {
    const char *name, *expression;
} intrinsics[] = {
#define INTRINSIC(name, expression, meaning) {#name, expression},
#include "compiler/loop/intrinsics.def"
};

struct match {
    struct hd_lowering *l;
    const struct hd_expr *want; /* the intrinsic, bound */
    const struct hd_expr_stmt *s;
    const int *loop; /* for each variable of s */
};

static bool uses(const struct hd_expr *f, int node, int var) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_VAR && k->i == var) return true;
    for (int i = 0; i < k->n; i++)
        if (uses(f, k->arg[i], var)) return true;
    return false;
}

static bool same(const struct match *m, int got, int want);

static bool same_operands(const struct match *m, const struct hd_expr_node *x,
                          const struct hd_expr_node *y, bool swapped) {
    for (int i = 0; i < x->n; i++)
        if (!same(m, x->arg[swapped ? x->n - 1 - i : i], y->arg[i])) return false;
    return true;
}

/* The same operators and types; elements that move with the same loops; factors in either order. */
static bool same(const struct match *m, int got, int want) {
    const struct hd_expr_node *x = &m->l->f->node[got], *y = &m->want->node[want];
    if (x->op != y->op || x->type != y->type) return false;
    if (x->op == HD_EXPR_ACCESS) {
        for (int v = 0; v < m->s->n_vars; v++)
            if (uses(m->l->f, got, m->loop[v]) != uses(m->want, want, v)) return false;
        return true;
    }
    if (x->n != y->n || x->round != y->round || x->saturate != y->saturate) return false;
    if (!same_operands(m, x, y, false) && !(x->op == HD_EXPR_mul && same_operands(m, x, y, true)))
        return false;
    return x->op != HD_EXPR_INT || x->i == y->i;
}

/* ---- ragged edges --------------------------------------------------------------------------- */

static const struct hd_buffer *copy_of(const struct hd_stage *g, int tensor) {
    for (int i = 0; i < g->n_buffers; i++)
        if (!g->buffer[i].computed && g->buffer[i].buffer == tensor) return &g->buffer[i];
    return NULL;
}

/* Every access is to a copy, which has elements behind the edge, too. */
static bool reads_copies(const struct hd_lowering *l, const struct hd_stage *g, int node) {
    const struct hd_expr_node *k = &l->f->node[node];
    if (k->op == HD_EXPR_ACCESS) return copy_of(g, (int)k->i) != NULL;
    for (int i = 0; i < k->n; i++)
        if (!reads_copies(l, g, k->arg[i])) return false;
    return true;
}

/* A factor of the statement's value that is 0 behind the end of the reduced variable v: a copy of a
 * tensor that ends there, with zeros outside. */
static bool zero_behind(const struct hd_lowering *l, const struct hd_stage *g, int node, int v) {
    const struct hd_expr_node *k = &l->f->node[node];
    if (k->op == HD_EXPR_mul)
        return zero_behind(l, g, k->arg[0], v) || zero_behind(l, g, k->arg[1], v);
    if (k->op == HD_EXPR_CAST) return zero_behind(l, g, k->arg[0], v);
    if (k->op != HD_EXPR_ACCESS) return false;
    for (int d = 0; d < k->n; d++) {
        const struct hd_expr_node *i = &l->f->node[k->arg[d]];
        if (i->op == HD_EXPR_VAR && i->i == v &&
            l->f->tensor[k->i].dim[d].value == g->s->var[v].extent)
            return true;
    }
    return false;
}

static bool zeros_behind_edges(const struct hd_lowering *l, const struct hd_stage *g) {
    for (int v = 0; v < g->s->n_vars; v++) { /* one of a single step has no edge */
        bool edge = g->s->var[v].reduced && g->s->var[v].extent > 1;
        if (edge && !zero_behind(l, g, g->value, v)) return false;
    }
    return true;
}

/* Guards of elements that are computed for nobody, or that add nothing, go. */
static void drop_guards(struct hd_lowering *l, struct hd_stage *g) {
    int value = g->value_expanded, kept = 0;
    if (value < 0 || g->home < 0 || !reads_copies(l, g, value)) return;
    for (int i = 0; i < g->n_guards; i++) {
        if (!g->guard_reduced[i] || zeros_behind_edges(l, g)) continue;
        g->guard_reduced[kept] = g->guard_reduced[i];
        g->guard[kept++] = g->guard[i];
    }
    g->n_guards = kept;
}

/* ---- the step ------------------------------------------------------------------------------- */

static hd_status compare(struct match *m, struct hd_stage *g, int at) {
    struct hd_lowering *l = m->l;
    if (g->n_loops - at != m->s->n_vars)
        return hd_step_fail(l, "%d loops from here on, allowed %d", g->n_loops - at, m->s->n_vars);
    drop_guards(l, g);
    m->loop = &g->loop[at];
    for (int v = 0; v < m->s->n_vars; v++) {
        const struct hd_loop *x = &l->nest->loop[m->loop[v]];
        if (x->extent != m->s->var[v].extent || x->reduced != m->s->var[v].reduced || x->mark)
            return hd_step_fail(l, "loop '%s' of %lld iterations, allowed %s one of %lld", x->name,
                                (long long)x->extent,
                                m->s->var[v].reduced ? "a reduced" : "an outer",
                                (long long)m->s->var[v].extent);
        for (int i = 0; i < g->n_guards; i++)
            if (uses(l->f, hd_node_expand(l, NULL, g->guard[i]), m->loop[v]))
                return hd_step_fail(l, "loop '%s' has a ragged edge; pad the tensor", x->name);
    }
    int value = g->value_expanded >= 0 ? hd_node_expand(l, NULL, g->value_expanded)
                                       : hd_node_expand(l, g, g->value);
    if (g->s->reduce != m->s->reduce || !same(m, value, m->s->value))
        return hd_step_fail(l, "the value is not that of the intrinsic:\n%s",
                            hd_expr_text(l->a, m->want));
    return HD_OK;
}

enum { N = sizeof intrinsics / sizeof intrinsics[0] };

static hd_status fit(struct hd_lowering *l, struct hd_stage *g, int at, size_t row) {
    struct hd_expr *f, *want;
    TRY(hd_expr_parse(l->ctx, l->a, intrinsics[row].expression, &f));
    TRY(hd_expr_bind(l->ctx, l->a, f, NULL, &want));
    struct match m = {l, want, &want->stmt[0], NULL};
    TRY(compare(&m, g, at));
    l->nest->loop[g->loop[at]].intrinsic = intrinsics[row].name;
    g->fixed = true;
    return HD_OK;
}

static bool named(size_t row, const char *name) {
    return row < N && !strcmp(intrinsics[row].name, name);
}

hd_status hd_step_tensorize(struct hd_lowering *l, struct hd_stage *g, int at, const char *name) {
    for (size_t i = 0; i < N; i++) {
        if (!named(i, name)) continue;
        hd_status s = fit(l, g, at, i);
        if (s == HD_OK || s == HD_NOMEM || !named(i + 1, name)) return s;
        hd_clear(l->ctx); /* the next row of that name */
    }
    char have[200] = "";
    for (size_t i = 0, n = 0; i < N; i++, n = strlen(have))
        if (!named(i + 1, intrinsics[i].name))
            snprintf(have + n, sizeof have - n, "%s%s", n ? ", " : "", intrinsics[i].name);
    return hd_step_fail(l, "there is no intrinsic '%.40s', only %s", name, have);
}
