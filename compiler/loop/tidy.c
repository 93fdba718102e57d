/* What the ranges of loops make plain: guards that always hold, loops of one iteration, parts of
 * indexes that are known. */
#include "compiler/expr/rewrite.h"
#include "compiler/loop/loop_int.h"

struct tidier {
    struct hd_nest *n;
    int64_t extent[HD_LOOP_MAX];
};

static int tidy_node(struct tidier *t, int node) {
    return hd_expr_simplify_node(t->n->f, node, t->extent);
}

static bool is_true(const struct tidier *t, int node) {
    return t->n->f->node[node].op == HD_EXPR_INT && t->n->f->node[node].i;
}

/* The list without what is plain. */
static struct hd_loop_stmt *tidy(struct tidier *t, struct hd_loop_stmt *s) {
    if (!s) return NULL;
    s->next = tidy(t, s->next);
    s->body = tidy(t, s->body);
    if (s->kind == HD_LOOP_BARRIER) return s;
    if (s->kind != HD_LOOP_FOR) s->value = tidy_node(t, s->value);
    if (s->kind == HD_LOOP_SET || s->kind == HD_LOOP_UPDATE) {
        for (int d = 0; d < s->n_index; d++) s->index[d] = tidy_node(t, s->index[d]);
        if (s->position >= 0) s->position = tidy_node(t, s->position);
        return s;
    }
    const struct hd_loop *l = s->kind == HD_LOOP_FOR ? &t->n->loop[s->loop] : NULL;
    bool plain =
        l ? l->extent == 1 && l->mark == HD_LOOP_SERIAL && !l->intrinsic : is_true(t, s->value);
    if (!plain) return s;
    struct hd_loop_stmt **end = &s->body;
    while (*end) end = &(*end)->next;
    *end = s->next;
    return s->body;
}

void hd_loop_tidy(hd_arena *a, struct hd_nest *n) {
    struct tidier *t = hd_new(a, struct tidier);
    t->n = n;
    for (int i = 0; i < n->n_loops; i++) t->extent[i] = n->loop[i].extent;
    n->body = tidy(t, n->body);
}
