/* Conversions between layouts are made explicit, before anything is lowered.
 *
 * needs: a legalised graph
 * gives: the same values. Where a node wants its operand or result as rows and its neighbours have
 *        it as an image, or the other way round, an identity stands between the two (move.c runs
 *        it); a softmax over a dimension that is neither stands between transposes
 * destroys: nothing
 *
 * Only where that pays, or where `always` says so: else the node is left to the host, with its
 * reason.
 */
#include "compiler/partition/partition.h"
#include "runtime/base/num.h"

/* Bytes that are transposed (move.c), small tensors not so well as big ones; a program more has a
 * start.
 */
static const double MOVED_BYTE_NS = 4, START_NS = 10000;

struct relayout {
    hd_graph *g;
    const bool *rows; /* per tensor, of before */
    bool always;      /* whatever it costs */
};

static bool pays(const struct relayout *s, int node, const int *tensors, int n) {
    const hd_graph *g = s->g;
    double bytes = 0;
    for (int i = 0; i < n; i++) bytes += (double)hd_tensor_elems(&g->tensors[tensors[i]]);
    return s->always || bytes * MOVED_BYTE_NS < hd_host_ns(g, node) + START_NS;
}

static int like(hd_graph *g, int tensor, const char *suffix) {
    const struct hd_tensor t = g->tensors[tensor];
    return hd_graph_tensor(g, hd_sprintf(g->arena, "%s.%s", t.name, suffix), t.dtype, t.rank,
                           t.dim);
}

static int identity(hd_graph *g, int from, int to) {
    return hd_graph_node(g, HD_IR_identity, g->tensors[to].name, 1, &from, 1, &to);
}

/* The result gets a maker behind the node, which makes a tensor in front of it. */
static int before_result(hd_graph *g, int node, int o, const char *suffix) {
    int y = g->nodes[node].out[o], made = like(g, y, suffix);
    g->nodes[node].out[o] = made;
    g->tensors[made].producer = node;
    g->tensors[y].producer = -1;
    return made;
}

/* Operands and results of the node that are not as it wants them, which is `rows`. */
static void convert(struct relayout *s, int node, bool rows) {
    hd_graph *g = s->g;
    int in[HD_LAYER_INPUTS], moved[HD_LAYER_INPUTS + 2], n_in = 0, n = 0;
    for (int k = 0; k < g->nodes[node].n_in && k < HD_LAYER_INPUTS; k++) {
        int t = g->nodes[node].in[k];
        bool byte = t >= 0 && (g->tensors[t].dtype == HD_I8 || g->tensors[t].dtype == HD_U8);
        if (!byte || g->tensors[t].data || g->tensors[t].rank < 3 || s->rows[t] == rows) continue;
        moved[n++] = t, in[n_in++] = k;
    }
    int y = g->nodes[node].out[0];
    bool result = y >= 0 && g->tensors[y].rank > 2 && s->rows[y] != rows;
    if (result) moved[n++] = y;
    if (!n || !pays(s, node, moved, n)) return;
    for (int i = 0; i < n_in; i++) {
        int t = g->nodes[node].in[in[i]], turned = like(g, t, rows ? "rows" : "image");
        identity(g, t, turned);
        g->nodes[node].in[in[i]] = turned;
    }
    if (result) identity(g, before_result(g, node, 0, rows ? "rows" : "image"), y);
}

static int swapped(hd_graph *g, int from, int to, int64_t axis) {
    int64_t perm[HD_MAX_RANK];
    int rank = g->tensors[from].rank;
    for (int i = 0; i < rank; i++) perm[i] = i;
    perm[axis] = rank - 1, perm[rank - 1] = axis;
    if (to < 0) {
        to = like(g, from, "turned");
        for (int i = 0; i < rank; i++) g->tensors[to].dim[i] = g->tensors[from].dim[perm[i]];
    }
    int id = hd_graph_node(g, HD_IR_transpose, g->tensors[to].name, 1, &from, 1, &to);
    hd_attr_set_ints(g, id, "perm", rank, perm);
    return to;
}

/* A node that works along neither dimension 1 nor the last. */
static void transpose(struct relayout *s, int node) {
    hd_graph *g = s->g;
    const struct hd_node *n = &g->nodes[node];
    const struct hd_kind *k = hd_kind_of(g, n);
    if (!k || !k->axis) return;
    int x = n->in[0], y = n->out[0], rank = g->tensors[x].rank;
    int64_t axis = k->axis(g, n);
    bool image = axis == 1 && rank > 2;
    if (image || axis == rank - 1 || !pays(s, node, (int[]){x, y}, 2)) return;
    int turned = swapped(g, x, -1, axis), made = before_result(g, node, 0, "turned");
    g->nodes[node].in[0] = turned;
    for (int i = 0; i < rank; i++) g->tensors[made].dim[i] = g->tensors[turned].dim[i];
    hd_attr_set_int(g, node, "axis", rank - 1);
    swapped(g, made, y, axis);
}

/* needs / gives / destroys: see the head of this file. */
hd_status hd_relayout(hd_ctx *ctx, hd_graph *g, bool always) {
    hd_arena *a = hd_arena_create();
    struct hd_lowering lo = {.ctx = ctx, .arena = a, .g = g};
    struct relayout s = {.g = g, .always = always};
    size_t n = g->n_nodes;
    for (size_t i = 0; i < n; i++)
        if (!g->nodes[i].dead) transpose(&s, (int)i);
    hd_status st = hd_choose_layouts(&lo);
    s.rows = lo.rows;
    n = g->n_nodes;
    for (size_t i = 0; st == HD_OK && i < n; i++) {
        bool rows;
        if (!g->nodes[i].dead && hd_wants_layout(&lo, (int)i, &rows)) convert(&s, (int)i, rows);
    }
    hd_arena_destroy(a);
    return st;
}
