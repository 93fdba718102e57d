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

/* The same operators and types; elements that move with the same loops. */
static bool same(const struct match *m, int got, int want) {
    const struct hd_expr_node *x = &m->l->f->node[got], *y = &m->want->node[want];
    if (x->op != y->op || x->type != y->type) return false;
    if (x->op == HD_EXPR_ACCESS) {
        for (int v = 0; v < m->s->n_vars; v++)
            if (uses(m->l->f, got, m->loop[v]) != uses(m->want, want, v)) return false;
        return true;
    }
    if (x->n != y->n || x->round != y->round || x->saturate != y->saturate) return false;
    for (int i = 0; i < x->n; i++)
        if (!same(m, x->arg[i], y->arg[i])) return false;
    return x->op != HD_EXPR_INT || x->i == y->i;
}

static hd_status compare(struct match *m, struct hd_stage *g, int at) {
    struct hd_lowering *l = m->l;
    if (g->n_loops - at != m->s->n_vars)
        return hd_step_fail(l, "%d loops from here on, allowed %d", g->n_loops - at, m->s->n_vars);
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
    if (g->s->reduce != m->s->reduce || !same(m, hd_node_expand(l, g, g->value), m->s->value))
        return hd_step_fail(l, "the value is not that of the intrinsic:\n%s",
                            hd_expr_text(l->a, m->want));
    return HD_OK;
}

hd_status hd_step_tensorize(struct hd_lowering *l, struct hd_stage *g, int at, const char *name) {
    for (size_t i = 0; i < sizeof intrinsics / sizeof intrinsics[0]; i++) {
        struct hd_expr *f, *want;
        if (strcmp(intrinsics[i].name, name)) continue;
        TRY(hd_expr_parse(l->ctx, l->a, intrinsics[i].expression, &f));
        TRY(hd_expr_bind(l->ctx, l->a, f, NULL, &want));
        struct match m = {l, want, &want->stmt[0], NULL};
        TRY(compare(&m, g, at));
        l->nest->loop[g->loop[at]].intrinsic = intrinsics[i].name;
        g->fixed = true;
        return HD_OK;
    }
    char have[200] = "";
    for (size_t i = 0, n = 0; i < sizeof intrinsics / sizeof intrinsics[0]; i++, n = strlen(have))
        snprintf(have + n, sizeof have - n, "%s%s", i ? ", " : "", intrinsics[i].name);
    return hd_step_fail(l, "there is no intrinsic '%.40s', only %s", name, have);
}
