/* A node of constants, computed in place. */
#include "cpu_ref/golden.h"

static hd_status compute(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    hd_arena *a = hd_arena_create();
    struct hd_tensor *t = hd_golden_tensors(g, a);
    hd_status s = hd_golden_eval(ctx, g, &node, 1, t, a);
    for (int i = 0; s == HD_OK && i < n.n_out; i++) {
        if (n.out[i] < 0) continue;
        struct hd_tensor *y = &g->tensors[n.out[i]];
        *y = t[n.out[i]];
        y->data = hd_dup(g->arena, y->data, hd_tensor_bytes(y));
    }
    if (s == HD_OK) hd_graph_kill(g, node);
    hd_arena_destroy(a);
    return s;
}

hd_status hd_fold_node(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && !g->tensors[n->in[i]].data) return HD_OK;
    return compute(ctx, g, node);
}
