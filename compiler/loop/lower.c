/* From a bound expression and a schedule to the loop IR. A statement with a reduction becomes two
 * nests: first values, in front of its outermost reduced loop, and updates. */
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "compiler/loop/loop_int.h"

static struct hd_loop_stmt *new_stmt(struct hd_lowering *l, enum hd_loop_kind kind) {
    struct hd_loop_stmt *s = hd_new(l->a, struct hd_loop_stmt);
    s->kind = kind;
    s->best = s->position = -1;
    return s;
}

static void append(struct hd_loop_stmt **list, struct hd_loop_stmt *s) {
    while (*list) list = &(*list)->next;
    *list = s;
}

static struct hd_loop_stmt *in_loop(struct hd_lowering *l, int loop, struct hd_loop_stmt *body) {
    struct hd_loop_stmt *s = new_stmt(l, HD_LOOP_FOR);
    s->loop = loop;
    s->body = body;
    return s;
}

static struct hd_loop_stmt *guarded(struct hd_lowering *l, const struct hd_stage *g, bool first,
                                    struct hd_loop_stmt *body) {
    int all = -1;
    for (int i = 0; i < g->n_guards; i++) {
        if (first && g->guard_reduced[i]) continue;
        int one = hd_node_expand(l, NULL, g->guard[i]);
        all = all < 0 ? one : hd_node_of(l, HD_EXPR_and, all, one);
    }
    if (all < 0) return body;
    struct hd_loop_stmt *s = new_stmt(l, HD_LOOP_IF);
    s->value = all;
    s->body = body;
    return s;
}

/* ---- leaves --------------------------------------------------------------------------------- */

static int first_value(struct hd_lowering *l, const struct hd_stage *g, int type) {
    union hd_scalar v = hd_scalar_initial(g->s->reduce, type);
    bool is_float = hd_scalar_is_float(type);
    int k = hd_expr_new_node(l->f, is_float ? HD_EXPR_FLOAT : HD_EXPR_INT, 0);
    l->f->node[k].type = type;
    l->f->node[k].i = is_float ? 0 : v.i;
    l->f->node[k].f = is_float ? v.f : (double)v.i;
    if (g->s->reduce >= HD_REDUCE_ARGMAX) l->f->node[k].i = -1; /* nothing is best yet */
    return k;
}

/* Elements are written at their variables, in a buffer of a part at the loops of the part. */
static void destination(struct hd_lowering *l, const struct hd_stage *g, struct hd_loop_stmt *s) {
    const struct hd_expr_stmt *e = g->s;
    s->tensor = e->tensor;
    s->n_index = e->rank;
    for (int d = 0; d < e->rank; d++)
        s->index[d] = hd_node_expand(l, NULL, g->home >= 0 ? g->place[d] : g->var[e->lhs[d]]);
}

static struct hd_loop_stmt *leaf(struct hd_lowering *l, const struct hd_stage *g, bool first) {
    const struct hd_expr_stmt *e = g->s;
    struct hd_loop_stmt *s =
        new_stmt(l, first || e->reduce == HD_REDUCE_NONE ? HD_LOOP_SET : HD_LOOP_UPDATE);
    s->reduce = e->reduce;
    destination(l, g, s);
    if (first) {
        s->value = first_value(l, g, l->f->tensor[e->tensor].type);
        return s;
    }
    s->value = g->value_expanded >= 0 ? hd_node_expand(l, NULL, g->value_expanded)
                                      : hd_node_expand(l, g, g->value);
    for (int v = 0; v < e->n_vars && e->reduce >= HD_REDUCE_ARGMAX; v++)
        if (e->var[v].reduced) s->position = hd_node_expand(l, NULL, g->var[v]);
    s->best = g->best;
    return s;
}

/* ---- nests ---------------------------------------------------------------------------------- */

static struct hd_loop_stmt *emit(struct hd_lowering *l, int stage);

/* Loops over the elements of a buffer in the order of the tensor, from outside; for a shared one a
 * single loop that the threads of a block deal out. index: where in the part of the tensor. */
static int copy_loops(struct hd_lowering *l, const struct hd_buffer *b, int *loop, int *index) {
    const struct hd_expr_tensor t = l->f->tensor[b->buffer];
    const char *name = l->f->tensor[b->buffer].name;
    int64_t size[HD_EXPR_RANK];
    for (int d = 0; d < t.rank; d++)
        size[d] = b->loop < 0 ? t.dim[d].value : b->region.hi[d] - b->region.lo[d] + 1;
    if (b->shared) {
        int64_t n = hd_expr_elems(&t);
        if (hd_new_loop(l, hd_sprintf(l->a, "%s_all", name), n, false, &loop[0]) != HD_OK) return 0;
        l->nest->loop[loop[0]].mark = HD_LOOP_THREADS;
        for (int d = 0; d < t.rank; d++) {
            int64_t step = 1;
            for (int k = d + 1; k < t.rank; k++) step *= size[k];
            int part = hd_node_of(l, HD_EXPR_div, hd_node_loop(l, loop[0]), hd_node_int(l, step));
            index[d] = d ? hd_node_of(l, HD_EXPR_mod, part, hd_node_int(l, size[d])) : part;
        }
        return 1;
    }
    for (int d = 0; d < t.rank; d++) {
        const char *one = hd_sprintf(l->a, "%s_%d", name, d);
        if (hd_new_loop(l, one, size[d], false, &loop[d]) != HD_OK) return 0;
        index[d] = hd_node_loop(l, loop[d]);
    }
    return t.rank;
}

/* What stands outside of the tensor: pad's value, else 0. */
static int outside(struct hd_lowering *l, const struct hd_buffer *b) {
    if (b->outside >= 0) return b->outside;
    int zero = hd_node_int(l, 0), type = l->f->tensor[b->tensor].type;
    if (hd_scalar_is_float(type)) l->f->node[zero].op = HD_EXPR_FLOAT;
    l->f->node[zero].type = type;
    return zero;
}

/* for each element of the buffer: buffer[..] = tensor[..], where there is one. */
static struct hd_loop_stmt *emit_copy(struct hd_lowering *l, const struct hd_buffer *b) {
    const int rank = l->f->tensor[b->buffer].rank;
    int loop[HD_EXPR_RANK] = {0}, index[HD_EXPR_RANK] = {0}, from[HD_EXPR_RANK], n = rank;
    int n_loops = copy_loops(l, b, loop, index);
    if (rank && !n_loops) return NULL;
    for (int d = 0; d < rank; d++) {
        from[d] = index[d];
        if (b->loop < 0) continue;
        from[d] = hd_node_of(l, HD_EXPR_add, from[d], hd_node_int(l, b->region.lo[d]));
        if (b->region.base[d] >= 0)
            from[d] = hd_node_of(l, HD_EXPR_add, b->region.base[d], from[d]);
    }
    if (b->loop < 0) {
        from[b->dim] = hd_node_of(
            l, HD_EXPR_add, hd_node_of(l, HD_EXPR_mul, from[b->dim], hd_node_int(l, b->block)),
            from[rank - 1]);
        n = rank - 1;
    }
    int pad = hd_node_access(l, b->tensor, n, from);
    pad = hd_node_of(l, HD_EXPR_PAD, pad, outside(l, b));
    l->f->node[pad].type = l->f->tensor[b->tensor].type;
    struct hd_loop_stmt *s = new_stmt(l, HD_LOOP_SET);
    s->tensor = b->buffer;
    s->n_index = rank;
    hd_buffer_order(b, rank, index);
    memcpy(s->index, index, sizeof index);
    s->value = hd_node_expand(l, NULL, pad);
    for (int d = n_loops - 1; d >= 0; d--) s = in_loop(l, loop[d], s);
    return s;
}

/* A part that several threads of a block compute is theirs together; its reader waits for them. */
static void barrier(struct hd_lowering *l, const struct hd_stage *g, struct hd_loop_stmt **list) {
    bool threads = false;
    for (int i = 0; i < g->n_loops; i++) {
        const struct hd_loop *x = &l->nest->loop[g->loop[i]];
        threads = threads || x->mark >= HD_LOOP_THREAD_X || x->parts;
    }
    if (!threads) return;
    struct hd_loop_stmt *s = new_stmt(l, HD_LOOP_BARRIER);
    s->tensor = g->s->tensor;
    l->nest->shared[s->tensor] = true;
    append(list, s);
}

/* What is computed or copied in a loop of the stage, in front of the rest of its body. */
static void attach(struct hd_lowering *l, int stage, int loop, struct hd_loop_stmt **list) {
    for (int i = 0; i < l->n_stages; i++)
        if (l->stage[i].home == stage && l->stage[i].home_loop == loop) {
            append(list, emit(l, i));
            barrier(l, &l->stage[i], list);
        }
    for (int i = 0; i < l->stage[stage].n_buffers; i++) {
        const struct hd_buffer *b = &l->stage[stage].buffer[i];
        if (b->loop == loop && !b->computed) append(list, emit_copy(l, b));
    }
}

static struct hd_loop_stmt *first_nest(struct hd_lowering *l, const struct hd_stage *g, int at) {
    struct hd_loop_stmt *s = guarded(l, g, true, leaf(l, g, true));
    for (int i = g->n_loops - 1; i >= at; i--)
        if (!l->nest->loop[g->loop[i]].reduced) s = in_loop(l, g->loop[i], s);
    return s;
}

static struct hd_loop_stmt *emit_from(struct hd_lowering *l, int stage, int at, bool first_done) {
    const struct hd_stage *g = &l->stage[stage];
    bool reduces = g->s->reduce != HD_REDUCE_NONE && !first_done;
    struct hd_loop_stmt *list = NULL;
    if (reduces && (at == g->n_loops || l->nest->loop[g->loop[at]].reduced)) {
        append(&list, first_nest(l, g, at));
        append(&list, emit_from(l, stage, at, true));
        return list;
    }
    if (at == g->n_loops) return guarded(l, g, false, leaf(l, g, false));
    attach(l, stage, g->loop[at], &list);
    append(&list, emit_from(l, stage, at + 1, first_done));
    return in_loop(l, g->loop[at], list);
}

static struct hd_loop_stmt *emit(struct hd_lowering *l, int stage) {
    return emit_from(l, stage, 0, false);
}

static int root_of(const struct hd_lowering *l, int stage) {
    while (l->stage[stage].home >= 0) stage = l->stage[stage].home;
    return stage;
}

static void emit_packs(struct hd_lowering *l, int root, struct hd_loop_stmt **list) {
    for (int i = 0; i < l->n_stages; i++)
        for (int b = 0; b < l->stage[i].n_buffers && root_of(l, i) == root; b++)
            if (l->stage[i].buffer[b].loop < 0) append(list, emit_copy(l, &l->stage[i].buffer[b]));
}

/* ---- start ---------------------------------------------------------------------------------- */

static hd_status make_stage(struct hd_lowering *l, int i) {
    struct hd_stage *g = &l->stage[i];
    const struct hd_expr_stmt *s = g->s = &l->f->stmt[i];
    g->value = s->value;
    g->value_expanded = g->home = g->home_loop = g->best = -1;
    for (int v = 0; v < s->n_vars; v++) {
        TRY(hd_new_loop(l, s->var[v].name, s->var[v].extent, s->var[v].reduced, &g->loop[v]));
        g->var[v] = hd_node_loop(l, g->loop[v]);
    }
    g->n_loops = s->n_vars;
    return HD_OK;
}

/* The best values so far of an arg reduction, beside the positions. */
static hd_status make_best(struct hd_lowering *l, struct hd_stage *g) {
    const struct hd_expr_tensor t = l->f->tensor[g->s->tensor];
    int64_t dim[HD_EXPR_RANK];
    if (g->s->reduce < HD_REDUCE_ARGMAX) return HD_OK;
    for (int d = 0; d < t.rank; d++) dim[d] = t.dim[d].value;
    TRY(hd_new_buffer(l, hd_sprintf(l->a, "%s_best", t.name), l->f->node[g->value].type, t.rank,
                      dim, &g->best));
    l->nest->scope[g->best] = g->home_loop;
    return HD_OK;
}

static struct hd_expr *copy(hd_arena *a, const struct hd_expr *f) {
    struct hd_expr *b = hd_new(a, struct hd_expr);
    *b = *f;
    b->arena = a;
    b->node = hd_dup(a, f->node, f->n_nodes * sizeof *f->node);
    b->cap_nodes = f->n_nodes;
    b->tensor = hd_dup(a, f->tensor, f->n_tensors * sizeof *f->tensor);
    b->cap_tensors = f->n_tensors;
    return b;
}

enum { SCOPES = 10 * HD_EXPR_TENSORS }; /* eight buffers and a best value for each statement */

hd_status hd_loop_lower(hd_ctx *ctx, hd_arena *a, const struct hd_expr *bound,
                        const struct hd_schedule *s, struct hd_nest **out) {
    static const struct hd_schedule_step none = {.step = HD_STEP_split};
    HD_ASSERT(bound->bound);
    struct hd_lowering l = {.ctx = ctx, .a = a, .nest = hd_new(a, struct hd_nest), .step = &none};
    l.f = l.nest->f = copy(a, bound);
    l.n_stages = (int)l.f->n_stmts;
    l.stage = hd_new_array(a, struct hd_stage, (size_t)l.n_stages);
    l.nest->scope = hd_new_array(a, int, SCOPES);
    l.nest->shared = hd_new_array(a, bool, SCOPES);
    for (int i = 0; i < SCOPES; i++) l.nest->scope[i] = -1;
    for (int i = 0; i < l.n_stages; i++) TRY(make_stage(&l, i));
    for (size_t i = 0; s && i < s->n; i++) TRY(hd_step_apply(&l, &s->step[i]));
    for (int i = 0; i < l.n_stages; i++) TRY(make_best(&l, &l.stage[i]));
    int buffers = l.nest->n_loops;
    for (int i = 0; i < l.n_stages; i++)
        for (int b = 0; b < l.stage[i].n_buffers; b++) buffers += HD_EXPR_RANK;
    if (buffers > HD_LOOP_MAX)
        return hd_fail(ctx, HD_INVALID, "schedule: more than %d loops", HD_LOOP_MAX);
    for (int i = 0; i < l.n_stages; i++) {
        if (l.stage[i].home >= 0) continue;
        emit_packs(&l, i, &l.nest->body);
        append(&l.nest->body, emit(&l, i));
    }
    *out = l.nest;
    return HD_OK;
}
