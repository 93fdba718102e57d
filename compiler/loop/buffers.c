/* The steps of a schedule that give a statement buffers to read: compute_at, cache, pack. */
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "compiler/loop/loop_int.h"

static bool reads(const struct hd_expr *f, int node, int tensor) {
    const struct hd_expr_node *k = &f->node[node];
    for (int i = 0; i < k->n; i++)
        if (reads(f, k->arg[i], tensor)) return true;
    return k->op == HD_EXPR_ACCESS && k->i == tensor;
}

/* What `g` reads of `tensor` inside loop number `at`; shared: in all threads of the block. */
static hd_status region_at(struct hd_lowering *l, const struct hd_stage *g, int at, int tensor,
                           bool shared, struct hd_region *out) {
    bool inner[HD_LOOP_MAX] = {0};
    for (int i = 0; i < l->nest->n_loops; i++)
        inner[i] = shared && l->nest->loop[i].mark >= HD_LOOP_THREAD_X;
    for (int i = at + 1; i < g->n_loops; i++) inner[g->loop[i]] = true;
    return hd_region_find(l, hd_node_expand(l, g, g->value), tensor, inner, out);
}

static hd_status new_use(struct hd_lowering *l, struct hd_stage *g, int tensor,
                         struct hd_buffer **out) {
    const char *name = l->f->tensor[tensor].name;
    if (g->n_buffers == 8) return hd_step_fail(l, "more than 8 buffers for one statement");
    for (int i = 0; i < g->n_buffers; i++)
        if (g->buffer[i].tensor == tensor)
            return hd_step_fail(l, "'%s' is read from a buffer already", name);
    if (!reads(l->f, g->value, tensor))
        return hd_step_fail(l, "'%s' is not read by '%s'", name, l->f->tensor[g->s->tensor].name);
    *out = &g->buffer[g->n_buffers];
    return HD_OK;
}

/* The loops of a statement that nothing was done to run over the region alone. */
static void narrow(struct hd_lowering *l, struct hd_stage *p, const struct hd_region *r) {
    struct hd_expr_tensor *t = &l->f->tensor[p->s->tensor];
    for (int d = 0; d < t->rank; d++) {
        int v = p->s->lhs[d], loop = (int)l->f->node[p->var[v]].i;
        int64_t size = t->dim[d].value, part = r->hi[d] - r->lo[d] + 1, least, most;
        int at = hd_node_of(l, HD_EXPR_add, hd_node_loop(l, loop), hd_node_int(l, r->lo[d]));
        if (r->base[d] >= 0) at = hd_node_of(l, HD_EXPR_add, r->base[d], at);
        l->nest->loop[loop].extent = part;
        t->dim[d].value = part;
        p->place[d] = hd_node_loop(l, loop);
        p->var[v] = at;
        bool known = hd_node_range(l, at, &least, &most);
        if (!known || least < 0)
            p->guard[p->n_guards++] = hd_node_of(l, HD_EXPR_ge, at, hd_node_int(l, 0));
        if (!known || most >= size)
            p->guard[p->n_guards++] = hd_node_of(l, HD_EXPR_lt, at, hd_node_int(l, size));
    }
}

hd_status hd_step_compute_at(struct hd_lowering *l, const struct hd_schedule_step *k) {
    int producer, consumer, at, readers = 0;
    TRY(hd_find_stage(l, k->word[0], &producer));
    TRY(hd_find_stage(l, k->word[1], &consumer));
    struct hd_stage *p = &l->stage[producer], *c = &l->stage[consumer];
    TRY(hd_find_loop(l, c, k->word[2], &at));
    if (p->touched || p->fixed || p->n_buffers || p->home >= 0)
        return hd_step_fail(l, "'%s' has been changed; compute_at comes first", k->word[0]);
    if (l->f->tensor[p->s->tensor].result)
        return hd_step_fail(l, "'%s' is a result, which is needed whole", k->word[0]);
    for (int i = 0; i < l->n_stages; i++) readers += reads(l->f, l->stage[i].value, p->s->tensor);
    for (int i = 0; i < l->n_stages; i++)
        for (int b = 0; b < l->stage[i].n_buffers; b++)
            if (l->stage[i].buffer[b].tensor == p->s->tensor)
                return hd_step_fail(l, "'%s' is copied to a buffer", k->word[0]);
    if (readers != 1 || !reads(l->f, c->value, p->s->tensor))
        return hd_step_fail(l, "'%s' is not the only reader of '%s'", k->word[1], k->word[0]);
    struct hd_buffer *b;
    TRY(new_use(l, c, p->s->tensor, &b));
    struct hd_buffer use = {.tensor = p->s->tensor,
                            .buffer = p->s->tensor,
                            .loop = c->loop[at],
                            .computed = true,
                            .last = -1,
                            .outside = -1};
    TRY(region_at(l, c, at, use.tensor, false, &use.region));
    /* accesses under pad compare with the size of before: redirect now, as the tensor shrinks */
    use.region.n_reads = 0;
    *b = use;
    c->n_buffers++;
    c->fixed = true;
    c->value_expanded = hd_node_redirect(
        l, b, c->value_expanded >= 0 ? c->value_expanded : hd_node_expand(l, c, c->value));
    narrow(l, p, &use.region);
    p->home = consumer;
    p->home_loop = c->loop[at];
    p->touched = true;
    l->nest->scope[p->s->tensor] = p->home_loop;
    return HD_OK;
}

hd_status hd_step_cache(struct hd_lowering *l, const struct hd_schedule_step *k) {
    int stage, tensor, at;
    int64_t dim[HD_EXPR_RANK];
    TRY(hd_find_stage(l, k->word[0], &stage));
    TRY(hd_find_tensor(l, k->word[1], &tensor));
    struct hd_stage *g = &l->stage[stage];
    TRY(hd_find_loop(l, g, k->word[2], &at));
    struct hd_buffer *b, use = {.tensor = tensor, .loop = g->loop[at], .last = -1};
    bool lies_last = k->step == HD_STEP_share_last;
    use.shared = k->step == HD_STEP_share || lies_last;
    use.outside = hd_node_padding(l->f, g->value, tensor);
    TRY(new_use(l, g, tensor, &b));
    TRY(region_at(l, g, at, tensor, use.shared, &use.region));
    int rank = l->f->tensor[tensor].rank, order[HD_EXPR_RANK];
    if (lies_last) use.last = (int)k->number[3];
    if (use.last >= rank)
        return hd_step_fail(l, "dimension %d of '%s', which has %d", use.last, k->word[1], rank);
    for (int d = 0; d < rank; d++) order[d] = d;
    hd_buffer_order(&use, rank, order);
    for (int d = 0; d < rank; d++) dim[d] = use.region.hi[order[d]] - use.region.lo[order[d]] + 1;
    TRY(hd_new_buffer(l, k->word[lies_last ? 4 : 3], l->f->tensor[tensor].type, rank, dim,
                      &use.buffer));
    *b = use;
    g->n_buffers++;
    g->fixed = true;
    g->value_expanded = hd_node_redirect(
        l, b, g->value_expanded >= 0 ? g->value_expanded : hd_node_expand(l, g, g->value));
    l->nest->scope[use.buffer] = use.loop;
    l->nest->shared[use.buffer] = use.shared;
    return HD_OK;
}

/* Nothing may stand between its tensor and the whole of it at the start. */
static hd_status packable(struct hd_lowering *l, int node, int tensor) {
    const struct hd_expr_node *k = &l->f->node[node];
    for (int i = 0; i < k->n; i++) TRY(packable(l, k->arg[i], tensor));
    const struct hd_expr_node *x = k->op == HD_EXPR_PAD ? &l->f->node[k->arg[0]] : k;
    if (x->op != HD_EXPR_ACCESS || x->i != tensor) return HD_OK;
    const char *name = l->f->tensor[tensor].name;
    if (k->op == HD_EXPR_PAD) return hd_step_fail(l, "'%s' is read with pad", name);
    return x->checked ? hd_step_fail(l, "'%s' is read through an index tensor", name) : HD_OK;
}

hd_status hd_step_pack(struct hd_lowering *l, const struct hd_schedule_step *k) {
    int stage, tensor;
    int64_t dim[HD_EXPR_RANK], d = k->number[2], n = k->number[3];
    TRY(hd_find_stage(l, k->word[0], &stage));
    TRY(hd_find_tensor(l, k->word[1], &tensor));
    struct hd_stage *g = &l->stage[stage];
    struct hd_buffer *b,
        use = {.tensor = tensor, .loop = -1, .dim = (int)d, .block = n, .last = -1, .outside = -1};
    int rank = l->f->tensor[tensor].rank;
    if (rank == HD_EXPR_RANK || d >= rank)
        return hd_step_fail(l, "dimension %lld of '%s', which has %d (at most %d to pack)",
                            (long long)d, k->word[1], rank, HD_EXPR_RANK - 1);
    if (n < 1 || n > 1 << 20)
        return hd_step_fail(l, "blocks of %lld, allowed 1 to %d", (long long)n, 1 << 20);
    for (int i = 0; i < l->n_stages; i++)
        if (l->stage[i].s->tensor == tensor && l->stage[i].home >= 0)
            return hd_step_fail(l, "'%s' is computed in parts", k->word[1]);
    TRY(new_use(l, g, tensor, &b));
    TRY(packable(l, g->value, tensor));
    for (int i = 0; i < rank; i++) dim[i] = l->f->tensor[tensor].dim[i].value;
    dim[rank] = n;
    dim[d] = (dim[d] + n - 1) / n;
    TRY(hd_new_buffer(l, k->word[4], l->f->tensor[tensor].type, rank + 1, dim, &use.buffer));
    *b = use;
    g->n_buffers++;
    g->value = hd_node_redirect(l, b, g->value);
    return HD_OK;
}
