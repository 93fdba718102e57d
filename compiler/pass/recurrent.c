/* One form of lstm, gru and rnn.
 *
 * needs: shapes
 * gives: layout 0 (time first) with transposes around it; no bias, initial state or peepholes that
 *        are zero, no sequence_lens that say the whole sequence, no attribute that says its default
 * destroys: nothing; the node keeps its place and name
 */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/pattern.h"

enum { X, W, R, B, LENS, H, C, P, OPERANDS };

static void drop_operands(hd_graph *g, struct hd_node *n) {
    for (int i = B; i < n->n_in && i < OPERANDS; i++) {
        const struct hd_tensor *x = &g->tensors[n->in[X]];
        bool time_second = hd_attr_int(n, "layout", 0) == 1;
        double no_effect = i == LENS && x->known ? (double)x->dim[time_second ? 1 : 0] : 0;
        if (i == LENS && (!x->known || g->specialised)) continue;
        if (n->in[i] >= 0 && hd_const_is(g, n->in[i], no_effect, false)) n->in[i] = -1;
    }
    while (n->n_in > R + 1 && n->in[n->n_in - 1] < 0) n->n_in--;
}

static void drop_attributes(hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    static const char *const zero[] = {"clip", "input_forget", "linear_before_reset", NULL};
    const char *usual[3] = {"Tanh", "Sigmoid,Tanh", "Sigmoid,Tanh,Tanh"};
    int kind = n->op == HD_IR_rnn ? 0 : n->op == HD_IR_gru ? 1 : 2;
    bool both = !strcmp(hd_attr_string(n, "direction", "forward"), "bidirectional");
    const char *list = hd_attr_string(n, "activations", ""), *one = usual[kind];
    size_t len = strlen(one);
    bool same = !strcmp(list, one);
    if (both) same = !strncmp(list, one, len) && list[len] == ',' && !strcmp(list + len + 1, one);
    if (same) hd_attr_remove(g, node, "activations");
    if (!strcmp(hd_attr_string(n, "direction", ""), "forward"))
        hd_attr_remove(g, node, "direction");
    for (int i = 0; zero[i]; i++) {
        const struct hd_attr *a = hd_attr_get(n, zero[i]);
        if (a && a->i == 0 && a->f == 0) hd_attr_remove(g, node, zero[i]);
    }
}

/* `from` in another order of dimensions, as `to`. */
static void transpose(hd_graph *g, const char *name, int from, int to, int rank,
                      const int64_t *perm) {
    int id = hd_graph_node(g, HD_IR_transpose, name, 1, &from, 1, &to);
    hd_attr_set_ints(g, id, "perm", rank, perm);
}

static int fresh(hd_graph *g, int like) {
    const struct hd_tensor t = g->tensors[like];
    return hd_graph_tensor(g, t.name, t.dtype, 0, NULL);
}

/* Batch first: x [B,S,I], y [B,S,D,H], states [B,D,H], instead of [S,B,I], [S,D,B,H], [D,B,H]. */
static void time_first(hd_graph *g, int node) {
    static const int64_t swap[3] = {1, 0, 2}, back[4] = {2, 0, 1, 3};
    const char *name = g->nodes[node].name;
    for (int i = 0; i < g->nodes[node].n_in; i++) {
        int old = g->nodes[node].in[i];
        if (old < 0 || (i != X && i != H && i != C)) continue;
        int t = fresh(g, old);
        transpose(g, name, old, t, 3, swap);
        g->nodes[node].in[i] = t;
    }
    for (int i = 0; i < g->nodes[node].n_out; i++) {
        int old = g->nodes[node].out[i];
        if (old < 0) continue;
        int t = fresh(g, old);
        g->nodes[node].out[i] = t;
        g->tensors[t].producer = node;
        transpose(g, name, t, old, i ? 3 : 4, i ? swap : back);
    }
    hd_attr_remove(g, node, "layout");
}

hd_status hd_pass_recurrent(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++) {
        enum hd_ir_op op = g->nodes[i].op;
        if (g->nodes[i].dead || (op != HD_IR_lstm && op != HD_IR_gru && op != HD_IR_rnn)) continue;
        drop_operands(g, &g->nodes[i]);
        drop_attributes(g, (int)i);
        if (hd_attr_int(&g->nodes[i], "layout", 0) == 1) time_first(g, (int)i);
        hd_attr_remove(g, (int)i, "layout");
    }
    return hd_graph_infer(ctx, g);
}
