/* What layers cannot read as it stands: concats of too many operands, and operands in another
 * layout. In front of the second stands a bridge, a node that moves data.
 *
 * A convolution makes pixels of channels; a softmax along the width, a product of activations, a
 * norm read rows of the last dimension. Without a bridge such a node ran on the host, and so did
 * the convolution behind it.
 *
 * needs: a graph in front of partition. gives: the same values.
 */
#include "compiler/compiler.h"
#include "compiler/partition/partition.h"
#include "runtime/base/num.h"

/* Groups of operands are joined first. */
static void join_in_groups(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor y = g->tensors[n.out[0]];
    int64_t axis = hd_attr_int(&n, "axis", 0), made = 0;
    if (axis < 0) axis += y.rank;
    for (int i = 0; i < n.n_in; i += HD_LAYER_INPUTS) {
        int part = (int)hd_min(HD_LAYER_INPUTS, n.n_in - i);
        struct hd_tensor t = y;
        t.dim[axis] = 0;
        for (int k = 0; k < part; k++) t.dim[axis] += g->tensors[n.in[i + k]].dim[axis];
        const char *name = hd_sprintf(g->arena, "%s.%d", y.name, i / HD_LAYER_INPUTS);
        int x = hd_graph_tensor(g, name, y.dtype, y.rank, t.dim);
        int id = hd_graph_node(g, HD_IR_concat, name, part, n.in + i, 1, &x);
        hd_attr_set_int(g, id, "axis", axis);
        g->nodes[node].in[made++] = x;
    }
    g->nodes[node].n_in = (int)made;
}

void hd_group_concats(hd_graph *g) {
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        const struct hd_tensor *y = n->dead ? NULL : &g->tensors[n->out[0]];
        while (y && n->op == HD_IR_concat && n->n_in > HD_LAYER_INPUTS && y->known &&
               (y->dtype == HD_I8 || y->dtype == HD_U8 || y->dtype == HD_I16)) {
            join_in_groups(g, (int)i);
            n = &g->nodes[i], y = &g->tensors[n->out[0]];
        }
    }
}

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
