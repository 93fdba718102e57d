/* Depth to space as memory has it, for the machine.
 *
 *   depthtospace(x) mode="CRD", or reshape, transpose, reshape that do it   ->
 *   the same of mode "DCR", of x with its channels in another order
 *
 *   f(move(x)) that leaves the machine, f of single bytes   ->   move(f(x)), which the host does
 *
 * needs: shapes, integers of 8 bits. gives: the same values. destroys: nodes that nothing reads
 *
 * Channels lie side by side, so the C of one pixel of the result are a run of memory if the block
 * is the outer part of a channel's number (DCR), and single bytes if it is the inner one (CRD, as
 * PyTorch has it). The convolution in front makes its channels in that order; where there is none,
 * a product by 0 and 1 does.
 */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "runtime/base/num.h"

enum { CHANNELS_MOST = 1024 };

struct blocks {
    int x, y; /* images [N,C*ry*rx,H,W] and [N,C,H*ry,W*rx]; or without rows */
    int64_t c, ry, rx;
};

static const struct hd_node *maker(const hd_graph *g, int t) {
    return g->tensors[t].producer < 0 ? NULL : &g->nodes[g->tensors[t].producer];
}

static bool is_bytes(const struct hd_tensor *t) {
    return t->known && !t->data && (t->rank == 3 || t->rank == 4) &&
           (t->dtype == HD_I8 || t->dtype == HD_U8);
}

/* Written out: [N,C,ry,rx,H,W], dimensions 0 1 4 2 5 3; or [N,C,rx,W], 0 1 3 2. */
static bool written_out(const hd_graph *g, const struct hd_node *n, struct blocks *b) {
    static const int64_t order[2][6] = {{0, 1, 3, 2}, {0, 1, 4, 2, 5, 3}};
    const struct hd_node *turn = n->op == HD_IR_reshape ? maker(g, n->in[0]) : NULL;
    const struct hd_attr *perm =
        turn && turn->op == HD_IR_transpose ? hd_attr_get(turn, "perm") : NULL;
    const struct hd_node *apart = perm ? maker(g, turn->in[0]) : NULL;
    if (!apart || apart->op != HD_IR_reshape || (perm->n != 4 && perm->n != 6) ||
        memcmp(perm->ints, order[perm->n == 6], (size_t)perm->n * sizeof **order))
        return false;
    int dims = perm->n / 2 - 1; /* of the image */
    const int64_t *d = g->tensors[turn->in[0]].dim;
    *b = (struct blocks){apart->in[0], n->out[0], d[1], dims == 2 ? d[2] : 1, d[dims + 1]};
    const struct hd_tensor *x = &g->tensors[b->x], *y = &g->tensors[b->y];
    bool is = is_bytes(x) && is_bytes(y) && y->rank == dims + 2 && x->dim[0] == d[0] &&
              x->dim[1] == d[1] * b->ry * b->rx && y->dim[0] == d[0] && y->dim[1] == d[1];
    for (int i = 0; i < dims && is; i++) is = y->dim[2 + i] == d[2 + i] * d[2 + dims + i];
    return is;
}

static bool find(const hd_graph *g, const struct hd_node *n, struct blocks *b) {
    if (n->op != HD_IR_depthtospace) return written_out(g, n, b);
    int64_t r = hd_attr_int(n, "blocksize", 1);
    const struct hd_tensor *y = &g->tensors[n->out[0]];
    *b = (struct blocks){n->in[0], n->out[0], y->rank == 4 ? y->dim[1] : 0, r, r};
    return is_bytes(&g->tensors[b->x]) && is_bytes(y) && y->rank == 4 &&
           !strcmp(hd_attr_string(n, "mode", "DCR"), "CRD");
}

static bool leaves(const hd_graph *g, int t) {
    enum { USERS = 16 };
    int user[USERS];
    size_t n = hd_graph_users(g, t, user, USERS);
    for (size_t i = 0; i < n && i < USERS; i++)
        if (g->nodes[user[i]].op == HD_IR_dequantize) return true;
    return hd_graph_is_output(g, t);
}

/* The convolution that makes x, perhaps through functions of single bytes; -1: others read it. */
static int convolution(const hd_graph *g, int x) {
    for (;;) {
        const struct hd_node *m = maker(g, x);
        int user[2];
        if (!m || hd_graph_is_output(g, x) || hd_graph_users(g, x, user, 2) != 1) return -1;
        if (m->op == HD_IR_qconv)
            return g->tensors[m->in[1]].data && g->tensors[m->in[2]].data &&
                           g->tensors[m->in[3]].data && hd_attr_int(m, "group", 1) == 1
                       ? (int)(m - g->nodes)
                       : -1;
        const struct hd_tensor *y = &g->tensors[x], *of = &g->tensors[m->in[0]];
        bool image = m->op == HD_IR_reshape && y->rank > 2 && of->rank > 2 &&
                     y->dim[0] == of->dim[0] && y->dim[1] == of->dim[1];
        if (m->op != HD_IR_qtable && m->op != HD_IR_qrescale && !image) return -1;
        x = m->in[0];
    }
}

/* Constant t whose first dimension is channels, in another order; one for all stays as it is. */
static int ordered(hd_graph *g, int t, const int64_t *from, int64_t channels) {
    const struct hd_tensor x = g->tensors[t];
    size_t row = hd_tensor_bytes(&x) / (size_t)channels;
    if (hd_tensor_elems(&x) == 1 && channels > 1) return t;
    char *v = hd_alloc(g->arena, hd_tensor_bytes(&x));
    for (int64_t k = 0; k < channels; k++)
        memcpy(v + (size_t)k * row, (const char *)x.data + (size_t)from[k] * row, row);
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.blocks", x.name), x.dtype, x.rank, x.dim, v);
}

/* y of x, whose channels are [ry,rx,C]. */
static int from_blocks(hd_graph *g, const char *name, const struct blocks *b, int x) {
    const struct hd_tensor t = g->tensors[x], to = g->tensors[b->y];
    int64_t n = to.dim[0], ry = b->ry, rx = b->rx, c = b->c, h = to.dim[2] / ry,
            w = to.dim[to.rank - 1] / rx;
    bool rows = to.rank == 4;
    int y = b->y, id, rank = rows ? 6 : 4;
    if (rows && ry == rx && t.rank == 4 && t.dim[2] == h) {
        id = hd_graph_node(g, HD_IR_depthtospace, name, 1, &x, 1, &y);
        hd_attr_set_int(g, id, "blocksize", b->rx);
        hd_attr_set_string(g, id, "mode", "DCR");
        return id;
    }
    const int64_t *apart = rows ? (int64_t[]){n, ry, rx, c, h, w} : (int64_t[]){n, rx, c, w};
    const int64_t *perm = rows ? (int64_t[]){0, 3, 4, 1, 5, 2} : (int64_t[]){0, 2, 3, 1};
    const int64_t *turned = rows ? (int64_t[]){n, c, h, ry, w, rx} : (int64_t[]){n, c, w, rx};
    int p = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.apart", name), t.dtype, rank, apart);
    int q = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.turned", name), t.dtype, rank, turned);
    id = hd_graph_node(g, HD_IR_reshape, g->tensors[p].name, 1, &x, 1, &p);
    hd_attr_set_ints(g, id, "shape", rank, apart);
    id = hd_graph_node(g, HD_IR_transpose, g->tensors[q].name, 1, &p, 1, &q);
    hd_attr_set_ints(g, id, "perm", rank, perm);
    id = hd_graph_node(g, HD_IR_reshape, name, 1, &q, 1, &y);
    hd_attr_set_ints(g, id, "shape", to.rank, to.dim);
    return id;
}

static bool as_in_memory(hd_graph *g, int node) {
    struct blocks b;
    int64_t from[CHANNELS_MOST];
    const struct hd_node n = g->nodes[node];
    if (!find(g, &n, &b) || b.ry * b.rx < 2 || b.c < 2 || b.c * b.ry * b.rx > CHANNELS_MOST)
        return false;
    int64_t block = b.ry * b.rx, channels = b.c * block;
    for (int64_t k = 0; k < channels; k++) from[k] = k % b.c * block + k / b.c;
    const struct hd_node *apart = n.op == HD_IR_reshape ? maker(g, maker(g, n.in[0])->in[0]) : NULL;
    bool alone = !apart ||
                 (hd_graph_only_user(g, apart->out[0]) >= 0 && hd_graph_only_user(g, n.in[0]) >= 0);
    int conv = alone ? convolution(g, b.x) : -1, x = b.x;
    const struct hd_tensor t = g->tensors[x];
    if (conv < 0 && (leaves(g, b.y) || t.rank != 4 || hd_channels_of(g, x) != 1)) return false;
    for (int k = 1; k < 4 && conv >= 0; k++)
        g->nodes[conv].in[k] = ordered(g, g->nodes[conv].in[k], from, channels);
    if (conv < 0) {
        const char *name = hd_sprintf(g->arena, "%s.blocks", t.name);
        x = hd_graph_tensor(g, name, t.dtype, t.rank, t.dim);
        hd_move_channels(g, name, b.x, from, x);
    }
    hd_graph_kill(g, node);
    hd_graph_swap_names(g, from_blocks(g, n.name, &b, x), node);
    return true;
}

/* A function of single bytes behind moves that leave: in front of them, so that the host moves. */
static bool function_first(hd_graph *g, int node, bool last) {
    const struct hd_node n = g->nodes[node], *m = maker(g, n.in[0]);
    if ((n.op != HD_IR_qtable && n.op != HD_IR_qrescale) || !m || !last ||
        (m->op != HD_IR_depthtospace && m->op != HD_IR_reshape && m->op != HD_IR_transpose) ||
        hd_graph_only_user(g, n.in[0]) < 0 || hd_graph_is_output(g, n.in[0]))
        return false;
    const struct hd_node move = *m;
    int at = (int)(m - g->nodes), y = n.out[0], in[2] = {move.in[0], n.n_in > 1 ? n.in[1] : -1};
    const struct hd_tensor x = g->tensors[in[0]];
    int made = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.before", g->tensors[y].name),
                               g->tensors[y].dtype, x.rank, x.dim);
    hd_graph_kill(g, node), hd_graph_kill(g, at);
    int id = hd_graph_node(g, n.op, n.name, n.n_in, in, 1, &made);
    hd_qdq_copy_attrs(g, id, node, false);
    hd_graph_swap_names(g, id, node);
    in[0] = made;
    for (int i = 1; i < move.n_in && i < 2; i++) in[i] = move.in[i];
    int moved = hd_graph_node(g, move.op, move.name, move.n_in, in, 1, &y);
    hd_qdq_copy_attrs(g, moved, at, false);
    hd_graph_swap_names(g, moved, at);
    return function_first(g, id, true) || true;
}

hd_status hd_pass_blocks(hd_ctx *ctx, hd_graph *g) {
    bool any = false;
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead && g->nodes[i].n_in > 0 && g->nodes[i].in[0] >= 0 &&
            g->nodes[i].out[0] >= 0)
            any = function_first(g, (int)i, leaves(g, g->nodes[i].out[0])) || any;
    for (size_t i = 0, n = g->n_nodes; i < n; i++) {
        const struct hd_node *nd = &g->nodes[i];
        if (!nd->dead && (nd->op == HD_IR_depthtospace || nd->op == HD_IR_reshape) &&
            nd->in[0] >= 0)
            any = as_in_memory(g, (int)i) || any;
    }
    if (!any) return HD_OK;
    hd_pass_dce(g);
    return hd_graph_infer(ctx, g);
}
