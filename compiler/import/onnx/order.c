/* The order of the nodes of a graph: that of the file, but none stands in front of one that it
 * reads. ONNX asks for such an order; files that tools have edited do not always have it. */
#include "compiler/import/onnx/onnx_graph.h"

enum { NEW, OPEN, DONE };

struct walk {
    const struct hd_importer *m;
    const struct hd_onnx_graph *graph;
    size_t base; /* the first tensor that a node of this graph makes */
    int *maker;  /* per tensor from there: its node, -1 = none */
    char *state;
    size_t *next; /* per node: its operand to look at */
    size_t *stack, depth;
};

static void enter(struct walk *w, size_t node) {
    w->state[node] = OPEN;
    w->stack[w->depth++] = node;
}

/* The next node that the one on top of the stack has to wait for; false when there is none. */
static bool waits(struct walk *w, size_t node) {
    const struct hd_onnx_node *n = &w->graph->nodes[node];
    while (w->next[node] < n->n_in) {
        const char *name = n->in[w->next[node]++];
        bool here = name[0] && hd_scope_has(w->m->scope, name);
        int tensor = here ? hd_scope_find(w->m, name) : -1;
        int maker = tensor >= (int)w->base ? w->maker[tensor - (int)w->base] : -1;
        if (maker < 0 || w->state[maker] != NEW) continue; /* an open one: a cycle */
        enter(w, (size_t)maker);
        return true;
    }
    return false;
}

size_t *hd_onnx_order(const struct hd_importer *m, const struct hd_onnx_graph *graph, size_t base) {
    struct walk w = {.m = m, .graph = graph, .base = base};
    size_t n = graph->n_nodes, n_order = 0, made = m->g->n_tensors - base;
    size_t *order = hd_new_array(m->arena, size_t, n + 1);
    w.maker = hd_new_array(m->arena, int, made + 1);
    w.state = hd_new_array(m->arena, char, n + 1);
    w.next = hd_new_array(m->arena, size_t, n + 1);
    w.stack = hd_new_array(m->arena, size_t, n + 1);
    for (size_t t = 0; t < made; t++) w.maker[t] = -1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < graph->nodes[i].n_out; k++)
            if (graph->nodes[i].out[k][0])
                w.maker[hd_scope_find(m, graph->nodes[i].out[k]) - (int)base] = (int)i;
    for (size_t i = 0; i < n; i++) {
        if (w.state[i] == NEW) enter(&w, i);
        while (w.depth) {
            size_t top = w.stack[w.depth - 1];
            if (waits(&w, top)) continue;
            w.state[top] = DONE;
            order[n_order++] = top;
            w.depth--;
        }
    }
    return order;
}
