/* Layouts: which dimension of a tensor becomes the channels of the machine's pixels.
 *
 * The first wish that reaches a tensor wins, so nodes come in the graph's order: what it is does
 * not depend on how they are stored.
 *
 * needs: a legalised graph
 * gives: lo->rows; hd_find_rows: the same for a graph that is not yet lowered
 * destroys: nothing
 *
 * Images are [N,C,..], so convolutions and pools want dimension 1; everything that works along the
 * last dimension (dense layers, and what feeds them) wants that one. Operations that do not care
 * take over what their neighbours want, so that no data moves between them; where both meet, only
 * a node that moves data can stand between, and it does (move.c).
 */
#include "compiler/partition/partition.h"
#include "runtime/base/num.h"

static enum hd_wish wish_of(const hd_graph *g, const struct hd_node *n) {
    const struct hd_kind *k = hd_kind_of(g, n);
    return !k ? HD_WISH_NONE : k->wish_of ? k->wish_of(n) : k->wish;
}

static bool set(char *want, int tensor, enum hd_wish w) {
    if (w == HD_WISH_NONE || w == HD_WISH_AS_RESULT || tensor < 0 || want[tensor]) return false;
    want[tensor] = (char)w;
    return true;
}

/* Two tensors whose layouts may well be the same: hands a wish from one to the other. A transpose
 * that moves the dimension hands none over, whatever the sizes. */
static bool hand_over(const hd_graph *g, char *want, const struct hd_node *n, int a, int b) {
    const struct hd_tensor *x = &g->tensors[a], *y = &g->tensors[b];
    int64_t perm[HD_MAX_RANK] = {0, 1}, end = x->rank - 1;
    bool turns = n->op == HD_IR_transpose && hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0);
    enum hd_ir_op op = n->op;
    bool parts = op == HD_IR_concat || op == HD_IR_slice || op == HD_IR_split || op == HD_IR_pad;
    bool last = x->rank && y->rank && x->dim[end] == y->dim[y->rank - 1], any = false;
    bool first = x->rank > 2 && y->rank > 2 && x->dim[0] == y->dim[0] && x->dim[1] == y->dim[1];
    last = last && (!turns || perm[end] == end), first = first && perm[1] == 1;
    for (int way = 0; way < 2; way++) {
        enum hd_wish w = (enum hd_wish)want[way ? b : a];
        if (parts || (w == HD_WISH_ROWS ? last : first)) any = set(want, way ? a : b, w) || any;
    }
    return any;
}

static bool spread(const hd_graph *g, const int *order, size_t n_order, char *want, bool moves) {
    bool any = false;
    for (size_t i = 0; i < n_order; i++) {
        const struct hd_node *n = &g->nodes[order[i]];
        bool cares = wish_of(g, n) != HD_WISH_AS_RESULT && !(moves && hd_is_move(g, n));
        if (n->out[0] < 0 || cares) continue;
        for (int k = 0; k < n->n_in; k++)
            for (int o = 0; o < n->n_out; o++)
                if (n->in[k] >= 0 && !g->tensors[n->in[k]].data && n->out[o] >= 0)
                    any = hand_over(g, want, n, n->in[k], n->out[o]) || any;
    }
    return any;
}

/* Lanes that stay empty are fewer of the last dimension than of dimension 1. */
static bool narrower_rows(const struct hd_tensor *t) {
    enum { LANES = 16 };
    if (t->rank < 4 || hd_tensor_elems(t) <= 0) return false;
    int64_t c = t->dim[1], w = t->dim[t->rank - 1];
    return hd_round_up(w, LANES) * c < hd_round_up(c, LANES) * w;
}

void hd_find_rows(const hd_graph *g, hd_arena *a, bool *rows) {
    char *want = hd_new_array(a, char, g->n_tensors + 1);
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    size_t n_order = hd_graph_order(g, order);
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].rank < 3) want[i] = HD_WISH_ROWS;
    for (size_t i = 0; i < n_order; i++) {
        const struct hd_node *n = &g->nodes[order[i]];
        const struct hd_kind *kind = hd_kind_of(g, n);
        bool all = kind && kind->wishes_all;
        for (int k = 0; k < (all ? n->n_in : 1); k++) set(want, n->in[k], wish_of(g, n));
        for (int k = 0; k < (all ? n->n_out : 1); k++) set(want, n->out[k], wish_of(g, n));
    }
    while (spread(g, order, n_order, want, false)) continue;
    while (spread(g, order, n_order, want, true) || spread(g, order, n_order, want, false))
        continue;
    for (size_t i = 0; i < n_order; i++) {
        int t = g->nodes[order[i]].out[0];
        if (t < 0 || want[t] != HD_WISH_NONE || !narrower_rows(&g->tensors[t])) continue;
        want[t] = HD_WISH_ROWS;
        while (spread(g, order, n_order, want, true)) continue;
    }
    for (size_t i = 0; i < g->n_tensors; i++)
        rows[i] = want[i] == HD_WISH_ROWS || (want[i] == HD_WISH_NONE && g->tensors[i].rank == 3);
}

bool hd_layouts_clash(const hd_graph *g, const struct hd_node *n, int i, const bool *rows) {
    enum hd_wish w = wish_of(g, n);
    const struct hd_tensor *x = n->in[i] < 0 ? NULL : &g->tensors[n->in[i]];
    if (!x || x->data || x->rank < 3 || w == HD_WISH_NONE) return false;
    if (w != HD_WISH_AS_RESULT)
        return (!i || hd_kind_of(g, n)->wishes_all) && rows[n->in[i]] != (w == HD_WISH_ROWS);
    return g->tensors[n->out[0]].rank == x->rank && rows[n->in[i]] != rows[n->out[0]];
}

/* needs / gives / destroys: see the head of this file. */
hd_status hd_choose_layouts(struct hd_lowering *lo) {
    const hd_graph *g = lo->g;
    lo->rows = hd_new_array(lo->arena, bool, g->n_tensors + 1);
    hd_find_rows(g, lo->arena, lo->rows);
    for (size_t i = 0; i < g->n_nodes; i++) { /* constants: as what is made with them */
        const struct hd_node *n = &g->nodes[i];
        for (int k = 0; !n->dead && hd_takes_constants(g, n) && k < n->n_in; k++)
            if (g->tensors[n->in[k]].data) lo->rows[n->in[k]] = lo->rows[n->out[0]];
    }
    return HD_OK;
}
