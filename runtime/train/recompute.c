/* Recomputation: see recompute.h.
 *
 * Round by round, at the step where most memory is in use: of the blocks that nothing touches then,
 * one is given up until its next reader, and what makes its values is repeated in front of that.
 * The choice is the block that frees most, over all steps beyond the limit, for what it costs.
 * Small values that the repeated nodes read are kept longer; large ones are repeated, too. A round
 * counts when less of the plan is beyond the limit than before; else its block stays. Source: Chen
 * et al., arXiv:1604.06174; Kirisame et al., arXiv:2006.09616. */
#include "runtime/train/recompute.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"
#include "compiler/grad/build.h"
#include "compiler/ir/memory.h"

enum { DEPTH = 24, CHAIN = 64, SMALL = 8, REJECTED = 100 };

struct work {
    hd_ctx *ctx;
    hd_graph *g;
    hd_arena *keep, *a; /* of all rounds; of one */
    size_t goal, limit; /* a little less where blocks do not pack to their bound */
    bool *stays;        /* per tensor: giving it up did not help */
    size_t cap_stays;
    int rejected;
    struct hd_mem_plan p;
    int *pos;      /* per node: its place in the order, -1 = none */
    int *made;     /* per tensor: of its maker, -1 = none */
    int *last;     /* per tensor: of its last reader, -1 = none */
    size_t *live;  /* per place: bytes */
    double beyond; /* bytes over the limit, summed over places */
};

struct choice { /* a block that is given up between two places */
    int block, from, at, to;
    int node[CHAIN], n; /* that are repeated, each behind what it reads */
    double cost, gain;
};

/* A multiplication costs a sixteenth of an element that is read or written, as on cpu. */
static double cost_of(const hd_graph *g, const struct hd_node *n) {
    double elements = 1000; /* a node that does nothing */
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) elements += (double)hd_tensor_elems(&g->tensors[n->in[i]]);
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] >= 0) elements += (double)hd_tensor_elems(&g->tensors[n->out[i]]);
    return elements + (double)hd_node_macs(g, n) / 16;
}

/* ---- the plan as it is ---------------------------------------------------------------------- */

static void take_places(struct work *w) {
    const hd_graph *g = w->g;
    w->pos = hd_new_array(w->a, int, g->n_nodes + 1);
    w->made = hd_new_array(w->a, int, g->n_tensors + 1);
    w->last = hd_new_array(w->a, int, g->n_tensors + 1);
    for (size_t i = 0; i < g->n_nodes; i++) w->pos[i] = -1;
    for (size_t t = 0; t < g->n_tensors; t++) w->made[t] = w->last[t] = -1;
    for (size_t i = 0; i < w->p.n_order; i++) {
        const struct hd_node *n = &g->nodes[w->p.order[i]];
        w->pos[w->p.order[i]] = (int)i;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0) w->last[n->in[k]] = (int)i;
        for (int k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0) w->made[n->out[k]] = (int)i;
    }
}

static void take_plan(struct work *w) {
    hd_mem_order_graph(w->g, w->a, &w->p);
    take_places(w);
    w->live = hd_new_array(w->a, size_t, w->p.n_order + 1);
    for (size_t b = 0; b < w->p.n_blocks; b++)
        for (int i = w->p.blocks[b].first; i <= w->p.blocks[b].last; i++)
            w->live[i] += w->p.blocks[b].bytes;
    w->beyond = 0;
    for (size_t i = 0; i < w->p.n_order; i++)
        if (w->live[i] > w->limit) w->beyond += (double)(w->live[i] - w->limit);
}

/* ---- choices -------------------------------------------------------------------------------- */

static bool listed(const struct choice *c, int node) {
    for (int i = 0; i < c->n; i++)
        if (c->node[i] == node) return true;
    return false;
}

static bool repeatable(const struct hd_node *n) {
    for (int i = 0; i < n->n_attrs; i++)
        if (n->attrs[i].kind == HD_ATTR_GRAPH) return false;
    return !n->n_after && n->op != HD_IR_assign;
}

/* The value of t is there at place c->to: kept, or repeated. False: too long a way. */
static bool reach(const struct work *w, struct choice *c, int t, int depth) {
    int b = t < 0 ? -1 : w->p.block_of[t];
    if (b < 0) return true; /* it lies elsewhere */
    int node = w->g->tensors[t].producer;
    if (b != c->block && (w->last[t] >= c->to || listed(c, node))) return true;
    size_t bytes = hd_tensor_bytes(&w->g->tensors[t]);
    if (b != c->block && bytes * SMALL <= w->p.blocks[c->block].bytes) {
        c->gain -= (double)bytes * (c->to - c->from);
        return true;
    }
    if (listed(c, node)) return true;
    const struct hd_node *n = &w->g->nodes[node];
    if (!depth || !repeatable(n)) return false;
    for (int i = 0; i < n->n_in; i++)
        if (!reach(w, c, n->in[i], depth - 1)) return false;
    if (c->n == CHAIN) return false;
    c->node[c->n++] = node;
    c->cost += cost_of(w->g, n);
    return true;
}

/* Of every block: the places around `at` where it is written or read; `to` is behind the order
 * where nothing reads it there. */
static void find_gaps(const struct work *w, int at, int *from, int *to) {
    for (size_t b = 0; b < w->p.n_blocks; b++) from[b] = -1, to[b] = (int)w->p.n_order;
    for (size_t i = 0; i < w->p.n_order; i++) {
        const struct hd_node *n = &w->g->nodes[w->p.order[i]];
        for (int k = 0; k < n->n_in + n->n_out; k++) {
            int t = k < n->n_in ? n->in[k] : n->out[k - n->n_in], b = t < 0 ? -1 : w->p.block_of[t];
            if (b < 0) continue;
            if ((int)i <= at) from[b] = (int)i;
            if ((int)i > at && (int)i < to[b]) to[b] = (int)i;
        }
    }
}

/* Bytes beyond the limit that a block takes while nothing touches it. */
static double freed(const struct work *w, const struct choice *c) {
    double sum = 0;
    size_t bytes = w->p.blocks[c->block].bytes;
    for (int i = c->from + 1; i < c->to; i++) {
        size_t over = w->live[i] > w->limit ? w->live[i] - w->limit : 0;
        sum += (double)(over < bytes ? over : bytes);
    }
    return sum;
}

static bool choose(const struct work *w, int at, const bool *stays, struct choice *out) {
    double best = 0;
    int *from = hd_new_array(w->a, int, w->p.n_blocks + 1);
    int *to = hd_new_array(w->a, int, w->p.n_blocks + 1);
    find_gaps(w, at, from, to);
    for (size_t b = 0; b < w->p.n_blocks; b++) {
        struct choice c = {.block = (int)b, .from = from[b], .at = at, .to = to[b]};
        if (c.from < 0 || c.from == at || c.to == (int)w->p.n_order) continue;
        c.gain = freed(w, &c);
        bool is = c.gain > 0;
        for (size_t t = 0; t < w->g->n_tensors && is; t++)
            if (w->p.block_of[t] == (int)b && w->last[t] > at)
                is = !stays[t] && reach(w, &c, (int)t, DEPTH);
        if (!is || !c.n || c.gain <= best * c.cost) continue;
        best = c.gain / c.cost;
        *out = c;
    }
    return best > 0;
}

/* ---- doing and undoing ---------------------------------------------------------------------- */

struct change {
    int node, operand, was;
};

struct done {
    int *again; /* per tensor: its repeated value; -1 = none */
    int first;  /* node of the copies */
    struct change *change;
    size_t n, cap;
};

static void repeat(struct work *w, const struct choice *c, struct done *d) {
    hd_graph *g = w->g;
    size_t n_tensors = g->n_tensors, n_nodes = g->n_nodes;
    struct hd_back b = {.ctx = w->ctx, .g = g, .arena = w->a, .prefix = "again"};
    *d = (struct done){.again = hd_new_array(w->a, int, n_tensors + 1), .first = (int)n_nodes};
    for (size_t t = 0; t < n_tensors; t++) d->again[t] = -1;
    for (int i = 0; i < c->n; i++) {
        const struct hd_node n = g->nodes[c->node[i]];
        int *in = hd_new_array(w->a, int, (size_t)n.n_in + 1);
        int *out = hd_new_array(w->a, int, (size_t)n.n_out + 1);
        for (int k = 0; k < n.n_in; k++)
            in[k] = n.in[k] >= 0 && d->again[n.in[k]] >= 0 ? d->again[n.in[k]] : n.in[k];
        for (int k = 0; k < n.n_out; k++) {
            const struct hd_tensor t = g->tensors[n.out[k] < 0 ? 0 : n.out[k]];
            const char *name = hd_sprintf(w->a, "%s.again", t.name);
            out[k] = n.out[k] < 0 ? -1 : hd_graph_tensor(g, name, t.dtype, t.rank, t.dim);
            if (out[k] >= 0) d->again[n.out[k]] = out[k];
        }
        int id =
            hd_graph_node(g, n.op, hd_sprintf(w->a, "%s.again", n.name), n.n_in, in, n.n_out, out);
        hd_b_copy(&b, id, &n);
    }
    for (size_t i = 0; i < n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in && w->pos[i] > c->at; k++) {
            int t = n->in[k];
            if (t < 0 || w->p.block_of[t] != c->block || d->again[t] < 0) continue;
            *hd_push(w->a, d->change, d->n, d->cap) = (struct change){(int)i, k, t};
            n->in[k] = d->again[t];
        }
    }
}

static void undo(struct work *w, const struct done *d) {
    for (size_t i = 0; i < d->n; i++)
        w->g->nodes[d->change[i].node].in[d->change[i].operand] = d->change[i].was;
    for (size_t i = (size_t)d->first; i < w->g->n_nodes; i++) hd_graph_kill(w->g, (int)i);
}

static int largest(const struct work *w) {
    int at = 0;
    for (size_t i = 1; i < w->p.n_order; i++)
        if (w->live[i] > w->live[at]) at = (int)i;
    return at;
}

static void count(const hd_graph *g, const struct choice *c, struct hd_recomputed *out) {
    out->again += c->cost;
    for (int i = 0; i < c->n; i++) {
        const struct hd_node *n = &g->nodes[c->node[i]];
        out->op[n->op].nodes++;
        out->op[n->op].cost += cost_of(g, n);
        for (int k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0) out->op[n->op].bytes += hd_tensor_bytes(&g->tensors[n->out[k]]);
    }
}

/* One block less, or one more that stays. False: the plan fits, or there is no choice left. */
static bool turn(struct work *w, struct hd_recomputed *out) {
    struct work then;
    struct choice c = {.n = 0};
    struct done d;
    w->a = hd_arena_create();
    take_plan(w);
    size_t had = w->cap_stays;
    w->stays = hd_grow(w->keep, w->stays, &w->cap_stays, w->g->n_tensors, sizeof *w->stays);
    memset(w->stays + had, 0, (w->cap_stays - had) * sizeof *w->stays);
    out->bytes = w->p.bound_bytes;
    if (w->beyond == 0) {
        out->bytes = hd_mem_pack(w->p.blocks, w->p.n_blocks);
        w->limit -= w->limit / 64; /* where packing takes more */
    }
    bool goes_on = out->bytes > w->goal && w->rejected < REJECTED;
    if (goes_on && w->beyond > 0 && (goes_on = choose(w, largest(w), w->stays, &c))) {
        repeat(w, &c, &d);
        then = *w;
        take_plan(&then);
        if (then.beyond < w->beyond) {
            count(w->g, &c, out);
        } else {
            undo(w, &d);
            w->rejected++;
            for (size_t i = 0; i < d.n; i++) w->stays[d.change[i].was] = true;
        }
    }
    hd_arena_destroy(w->a);
    return goes_on;
}

hd_status hd_recompute(hd_ctx *ctx, hd_graph *g, const struct hd_memory_limit *limit,
                       struct hd_recomputed *out) {
    struct work w = {.ctx = ctx, .g = g, .keep = hd_arena_create(), .a = hd_arena_create()};
    *out = (struct hd_recomputed){0};
    hd_mem_plan_graph(g, w.a, &w.p);
    out->alone_bytes = w.p.planned_bytes;
    hd_graph_arrange(g, w.p.order, w.p.n_order); /* copies come just in front of their readers */
    for (size_t i = 0; i < w.p.n_order; i++) out->cost += cost_of(g, &g->nodes[i]);
    hd_arena_destroy(w.a);
    w.limit = w.goal =
        (size_t)(limit->share > 0 ? limit->share * (double)out->alone_bytes : limit->bytes);
    while (turn(&w, out)) {
    }
    hd_arena_destroy(w.keep);
    if (out->bytes <= w.goal) return hd_opt_pass(ctx, g, "dce");
    return hd_fail(ctx, HD_UNSUPPORTED,
                   "%s: a step needs %zu bytes for temporaries where all are kept, and %zu with "
                   "what recomputation finds; the limit is %zu",
                   g->name, out->alone_bytes, out->bytes, w.goal);
}

hd_status hd_memory_limit_parse(hd_ctx *ctx, const char *text, struct hd_memory_limit *out) {
    char *end = NULL;
    double v = strtod(text, &end);
    bool share = end != text && !strcmp(end, "%");
    if (end == text || (*end && !share) || !(v >= 1) || (share && v > 100) || v > 1e15)
        return hd_fail(ctx, HD_INVALID, "--memory %s: want bytes, or 1%% to 100%%", text);
    *out = (struct hd_memory_limit){.bytes = share ? 0 : v, .share = share ? v / 100 : 0};
    return HD_OK;
}
