/* Bridges between layouts: where a node cannot read an operand as it lies, a node that moves it.
 *
 * A convolution makes pixels of channels; a softmax along the width, a product of activations, a
 * norm read rows of the last dimension. Without a bridge such a node ran on the host, and so did
 * the convolution behind it.
 *
 * needs: a graph in front of partition. gives: the same values.
 */
#include "compiler/compiler.h"
#include "compiler/partition/partition.h"

static int bridge(hd_graph *g, int x) {
    const struct hd_tensor t = g->tensors[x];
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.turned", t.name), t.dtype, t.rank, t.dim);
    hd_graph_node(g, HD_IR_identity, g->tensors[y].name, 1, &x, 1, &y);
    return y;
}

void hd_bridge_layouts(hd_graph *g) {
    hd_arena *a = hd_arena_create();
    size_t n_nodes = g->n_nodes;
    bool *rows = hd_new_array(a, bool, g->n_tensors + 1);
    int *across = hd_new_array(a, int, g->n_tensors + 1); /* per tensor: its bridge, 0 = none */
    hd_find_rows(g, a, rows);
    for (size_t i = 0; i < n_nodes; i++)
        for (int k = 0; !g->nodes[i].dead && k < g->nodes[i].n_in; k++) {
            int x = g->nodes[i].in[k];
            if (!hd_layouts_clash(g, &g->nodes[i], k, rows)) continue;
            if (!across[x]) across[x] = bridge(g, x);
            g->nodes[i].in[k] = across[x];
        }
    hd_arena_destroy(a);
}
