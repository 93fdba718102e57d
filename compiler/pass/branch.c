/* Control flow whose decision is known: part of fold (pass.h).
 *
 * needs: shapes
 * gives: no if whose condition is constant: the nodes of its branch stand in its place, under names
 *        of their own when theirs are taken; constants that the graph of an if, loop or scan takes
 *        from around it are constants in there, so that conditions inside become constant, too
 * destroys: nothing
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/pass/pass.h"

/* The first operand of a node that its graphs only read, and the input of the graphs that this is;
 * false when the node has no graphs. */
static bool captures(const struct hd_node *n, int *operand, int *input) {
    int64_t first = n->op == HD_IR_if     ? 1
                    : n->op == HD_IR_loop ? 2 + hd_attr_int(n, "n_carried", 0)
                    : n->op == HD_IR_scan
                        ? hd_attr_int(n, "n_states", 0) + hd_attr_int(n, "n_scanned", 1)
                        : -1;
    *operand = (int)first;
    *input = n->op == HD_IR_if ? 0 : (int)first;
    return first >= 0;
}

static void drop_input(hd_graph *g, int at) {
    memmove(&g->inputs[at], &g->inputs[at + 1], (g->n_inputs - (size_t)at - 1) * sizeof *g->inputs);
    g->n_inputs--;
}

/* Inputs of the graph of an attribute, all read from the same constant of the graph around it. */
static void give_constant(hd_graph *body, int at, const struct hd_tensor *from) {
    struct hd_tensor *t = &body->tensors[body->inputs[at]];
    t->dtype = from->dtype;
    t->rank = from->rank;
    memcpy(t->dim, from->dim, sizeof t->dim);
    t->known = true;
    t->data = from->data; /* lives as long as the graph around this one */
    drop_input(body, at);
}

static hd_status give_constants(hd_ctx *ctx, hd_graph *g, int node) {
    struct hd_node *n = &g->nodes[node];
    int first, input, kept;
    if (n->dead || !captures(n, &first, &input)) return HD_OK;
    kept = first;
    for (int i = first; i < n->n_in; i++) {
        if (n->in[i] < 0 || !g->tensors[n->in[i]].data) {
            n->in[kept++] = n->in[i];
            continue;
        }
        for (int k = 0; k < n->n_attrs; k++)
            if (n->attrs[k].kind == HD_ATTR_GRAPH)
                give_constant(n->attrs[k].graph, input + kept - first, &g->tensors[n->in[i]]);
    }
    if (kept == n->n_in) return HD_OK;
    n->n_in = kept;
    for (int k = 0; k < n->n_attrs; k++)
        if (n->attrs[k].kind == HD_ATTR_GRAPH)
            TRY(hd_note(ctx, hd_graph_infer(ctx, n->attrs[k].graph), "in %s of node '%s'",
                        n->attrs[k].name, n->name));
    return HD_OK;
}

/* It can stand in g: variables have their place, and an axis may have another length here. */
static bool can_stand(hd_graph *g, const hd_graph *b) {
    for (size_t i = 0; i < b->n_tensors; i++)
        if (b->tensors[i].initial) return false;
    for (size_t i = 0; i < b->n_axes; i++)
        if (hd_graph_axis(g, b->axes[i].name, b->axes[i].length) < 0) return false;
    return true;
}

/* The branch that is taken always, NULL = it is for the run to tell, or it cannot stand outside. */
static const hd_graph *settled(hd_graph *g, const struct hd_node *n) {
    if (n->dead || n->op != HD_IR_if) return NULL;
    const struct hd_tensor *cond = &g->tensors[n->in[0]];
    if (!cond->data || cond->dtype != HD_BOOL || hd_tensor_elems(cond) != 1) return NULL;
    const hd_graph *b = hd_attr_graph(n, *(const uint8_t *)cond->data ? "then" : "else");
    return can_stand(g, b) ? b : NULL;
}

static int *mapped(hd_arena *a, const int *id, int n, const int *map) {
    int *out = hd_new_array(a, int, (size_t)n + 1);
    for (int i = 0; i < n; i++) out[i] = id[i] < 0 ? -1 : map[id[i]];
    return out;
}

/* Tensors of the branch in g: its inputs are the operands. */
static int *map_tensors(hd_graph *g, const hd_graph *b, const struct hd_node *n, hd_arena *a) {
    int *map = hd_new_array(a, int, b->n_tensors + 1);
    for (size_t i = 0; i < b->n_tensors; i++) map[i] = -1;
    for (size_t i = 0; i < b->n_inputs; i++) map[b->inputs[i]] = n->in[1 + i];
    for (size_t i = 0; i < b->n_tensors; i++) {
        const struct hd_tensor *t = &b->tensors[i];
        if (map[i] >= 0) continue;
        map[i] = hd_graph_tensor(g, t->name, t->dtype, t->rank, t->known ? t->dim : NULL);
        struct hd_tensor *y = &g->tensors[map[i]];
        y->data = t->data; /* the branch stays with g, and with it what it holds */
        for (int d = 0; d < t->rank; d++)
            if (t->axis[d])
                y->axis[d] = 1 + hd_graph_axis(g, b->axes[t->axis[d] - 1].name,
                                               b->axes[t->axis[d] - 1].length);
    }
    return map;
}

/* What waited for the if waits for all that stands in its place. */
static void wait_for(hd_graph *g, int node, const int *made, size_t n_made) {
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int k = 0, n = g->nodes[i].n_after; k < n; k++)
            for (size_t j = 0; g->nodes[i].after[k] == node && j < n_made; j++)
                hd_graph_after(g, (int)i, made[j]);
}

struct placed { /* nodes that stand for an if */
    hd_arena *a;
    int *node;
    size_t n, cap;
};

/* The nodes of a branch of n in g; the tensors of g that its tensors are. */
static int *place(hd_graph *g, const struct hd_node *n, const hd_graph *b, struct placed *made) {
    hd_arena *a = made->a;
    int *map = map_tensors(g, b, n, a), *order = hd_new_array(a, int, b->n_nodes + 1);
    int *to = hd_new_array(a, int, b->n_nodes + 1);
    size_t n_order = hd_graph_order(b, order);
    for (size_t i = 0; i < n_order; i++) {
        const struct hd_node *from = &b->nodes[order[i]];
        int id =
            hd_graph_node(g, from->op, from->name, from->n_in, mapped(a, from->in, from->n_in, map),
                          from->n_out, mapped(a, from->out, from->n_out, map));
        g->nodes[id].attrs =
            hd_dup(g->arena, from->attrs, (size_t)from->n_attrs * sizeof *from->attrs);
        g->nodes[id].n_attrs = from->n_attrs;
        for (int k = 0; k < from->n_after; k++)
            if (!b->nodes[from->after[k]].dead) hd_graph_after(g, id, to[from->after[k]]);
        to[order[i]] = *hd_push(a, made->node, made->n, made->cap) = id;
    }
    g->specialised = g->specialised || b->specialised;
    return map;
}

/* What the if waited for, and what waited for it. */
static void keep_order(hd_graph *g, int node, const struct hd_node *n, const struct placed *made) {
    for (size_t i = 0; i < made->n; i++)
        for (int k = 0; k < n->n_after; k++) hd_graph_after(g, made->node[i], n->after[k]);
    wait_for(g, node, made->node, made->n);
}

static void in_place(hd_graph *g, int node, const hd_graph *b, hd_arena *a) {
    const struct hd_node n = g->nodes[node];
    struct placed made = {.a = a};
    hd_graph_kill(g, node);
    const int *map = place(g, &n, b, &made);
    for (int i = 0; i < n.n_out; i++)
        if (n.out[i] >= 0)
            *hd_push(a, made.node, made.n, made.cap) =
                hd_graph_node(g, HD_IR_identity, n.name, 1, &map[b->outputs[i]], 1, &n.out[i]);
    keep_order(g, node, &n, &made);
}

/* Results of both branches have one known type and shape. */
static bool alike(const hd_graph *x, const hd_graph *y, int n) {
    for (int i = 0; i < n; i++) {
        const struct hd_tensor *a = &x->tensors[x->outputs[i]], *b = &y->tensors[y->outputs[i]];
        if (!a->known || !b->known || a->dtype != b->dtype || a->rank != b->rank ||
            memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim))
            return false;
    }
    return true;
}

bool hd_branches_in_place(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    hd_graph *b[2] = {hd_attr_graph(&n, "then"), hd_attr_graph(&n, "else")};
    if (n.dead || n.op != HD_IR_if || !alike(b[0], b[1], n.n_out) || !can_stand(g, b[0]) ||
        !can_stand(g, b[1]))
        return false;
    hd_arena *a = hd_arena_create();
    struct placed made = {.a = a};
    const int *map[2];
    int cond = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.condition", n.name), HD_BOOL, 0, NULL);
    g->tensors[cond].known = true;
    hd_graph_kill(g, node);
    for (int i = 0; i < 2; i++) map[i] = place(g, &n, b[i], &made);
    int id = hd_graph_node(g, HD_IR_reshape, g->tensors[cond].name, 1, n.in, 1, &cond);
    hd_attr_set_ints(g, id, "shape", 0, NULL);
    for (int i = 0; i < n.n_out; i++) {
        if (n.out[i] < 0) continue;
        int in[3] = {cond, map[0][b[0]->outputs[i]], map[1][b[1]->outputs[i]]};
        id = hd_graph_node(g, HD_IR_where, n.name, 3, in, 1, &n.out[i]);
        hd_graph_swap_names(g, id, node);
        *hd_push(a, made.node, made.n, made.cap) = id;
    }
    keep_order(g, node, &n, &made);
    hd_arena_destroy(a);
    return true;
}

hd_status hd_fold_flow(hd_ctx *ctx, hd_graph *g, bool *out_changed) {
    *out_changed = false;
    for (size_t i = 0, n = g->n_nodes; i < n; i++) { /* new ones are for the next time */
        TRY(give_constants(ctx, g, (int)i));
        const hd_graph *b = settled(g, &g->nodes[i]);
        if (!b) continue;
        hd_arena *a = hd_arena_create();
        in_place(g, (int)i, b, a);
        hd_arena_destroy(a);
        *out_changed = true;
    }
    return *out_changed ? hd_graph_infer(ctx, g) : HD_OK;
}

size_t hd_count_ifs(const hd_graph *g) {
    size_t count = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (n->dead) continue;
        count += n->op == HD_IR_if;
        for (int k = 0; k < n->n_attrs; k++)
            if (n->attrs[k].kind == HD_ATTR_GRAPH) count += hd_count_ifs(n->attrs[k].graph);
    }
    return count;
}
