/* A network whose file closes its batch, for a batch of another size. */
#include <string.h>

#include "runtime/train/train.h"

/* Shapes that begin with the old batch begin with the new one. */
static void reshape(hd_graph *g, int node, int64_t old, int64_t n) {
    const struct hd_node *r = &g->nodes[node];
    int64_t shape[HD_MAX_RANK];
    if (r->n_in == 1) {
        int rank = hd_attr_ints(r, "shape", shape, HD_MAX_RANK, 0);
        if (rank < 1 || shape[0] != old) return;
        shape[0] = n;
        hd_attr_set_ints(g, node, "shape", rank, shape);
        return;
    }
    struct hd_tensor t = g->tensors[r->in[1]];
    if (!t.data || t.dtype != HD_I64 || t.rank != 1 || t.dim[0] < 1 || t.dim[0] > HD_MAX_RANK)
        return;
    memcpy(shape, t.data, (size_t)t.dim[0] * sizeof *shape);
    if (shape[0] != old) return;
    shape[0] = n;
    g->nodes[node].in[1] = hd_graph_const(g, t.name, HD_I64, 1, t.dim, shape);
}

hd_status hd_graph_batch(hd_ctx *ctx, hd_graph *g, int64_t n) {
    struct hd_tensor *x = &g->tensors[g->inputs[0]], *y = &g->tensors[g->outputs[0]];
    int64_t old = x->dim[0];
    x->dim[0] = n;
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (g->nodes[i].dead) continue;
        if (g->nodes[i].op == HD_IR_reshape) reshape(g, (int)i, old, n);
        for (int k = 0; k < g->nodes[i].n_out; k++)
            if (g->nodes[i].out[k] >= 0) g->tensors[g->nodes[i].out[k]].known = false;
    }
    hd_status s = hd_graph_infer(ctx, g);
    y = &g->tensors[g->outputs[0]];
    if (s == HD_OK && (!y->known || y->rank < 1 || y->dim[0] != n))
        s = hd_fail(ctx, HD_UNSUPPORTED, "output '%s' has no batch", y->name);
    return hd_note(ctx, s,
                   "while giving network %s, whose file closes its batch at %lld, batches of %lld",
                   g->name, (long long)old, (long long)n);
}
