/* A node of constants, computed in place. */
#include "cpu_ref/golden.h"
#include "runtime/base/memory.h"

#include <stdlib.h>

/* The tensors of a run, of which only the node's are filled in: pages of the others are never
 * touched, so that folding a graph node by node takes time in proportion to it. */
static struct hd_tensor *tensors_of(const hd_graph *g, const struct hd_node *n) {
    struct hd_tensor *t = calloc(g->n_tensors + 1, sizeof *t);
    HD_MEMORY(t);
    for (int i = 0; i < n->n_in + n->n_out; i++) {
        int id = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
        if (id >= 0) t[id] = g->tensors[id];
    }
    return t;
}

static hd_status compute(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    hd_arena *a = hd_arena_create(), *scratch = hd_arena_create();
    struct hd_tensor *t = tensors_of(g, &n);
    hd_status s = hd_golden_node(ctx, g, node, t, !g->specialised, a, scratch);
    for (int i = 0; s == HD_OK && i < n.n_out; i++) {
        if (n.out[i] < 0) continue;
        struct hd_tensor *y = &g->tensors[n.out[i]];
        *y = t[n.out[i]];
        y->data = hd_dup(g->arena, y->data, hd_tensor_bytes(y));
    }
    if (s == HD_OK) hd_graph_kill(g, node);
    free(t);
    hd_arena_destroy(scratch);
    hd_arena_destroy(a);
    return s;
}

hd_status hd_fold_node(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && !g->tensors[n->in[i]].data) return HD_OK;
    return compute(ctx, g, node);
}
