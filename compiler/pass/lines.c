/* Signals as images of one row, for the machine: what is known of images holds for them, too.
 *
 *   f(x), x [N,C,L]   ->   reshape(f(reshape(x))),   of [N,C,1,L]
 *
 *   f: convolutions, pools, elementwise operations, functions and concats beside each other, where
 *   one of them has few channels or is transposed, or channels are taken apart for a product
 *
 * needs: shapes, integers of 8 bits. gives: the same values. destroys: nodes that nothing reads
 *
 * Both shapes lie in memory alike, so a reshape between them moves nothing. The passes that follow
 * know images of four dimensions.
 */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "runtime/base/num.h"

enum { SIGNAL = 3, IMAGE = 4, OPERANDS_MOST = 16, LANES = 16 };

struct lines {
    hd_graph *g;
    int *image; /* per tensor that was there: as an image; -1 = not made */
    bool *marked;
    size_t n;
};

static bool is_signal(const struct hd_tensor *t) {
    return t->known && t->rank == SIGNAL && (t->dtype == HD_I8 || t->dtype == HD_U8);
}

/* Shape of t with a dimension of one in front of the last; false: there is none. */
static bool with_row(const struct hd_tensor *t, int64_t dim[HD_MAX_RANK]) {
    if (t->rank < 2 || t->rank > SIGNAL) return false;
    memcpy(dim, t->dim, sizeof t->dim);
    dim[t->rank] = dim[t->rank - 1], dim[t->rank - 1] = 1;
    return true;
}

/* The same tensor, or constant, as an image; of one dimension or none as it is. */
static int image_of(struct lines *s, int t) {
    const struct hd_tensor x = s->g->tensors[t];
    int64_t dim[HD_MAX_RANK];
    if (!with_row(&x, dim)) return t;
    const char *name = hd_sprintf(s->g->arena, "%s.line", x.name);
    if (x.data) return hd_graph_const(s->g, name, x.dtype, x.rank + 1, dim, x.data);
    if ((size_t)t < s->n && s->image[t] >= 0) return s->image[t];
    int y = hd_moved(s->g, HD_IR_reshape, t, x.rank + 1, dim, "shape", dim, -1);
    if ((size_t)t < s->n) s->image[t] = y;
    return y;
}

static bool is_window(const struct hd_node *n) {
    return n->op == HD_IR_qconv || n->op == HD_IR_qconvtranspose || n->op == HD_IR_qavgpool ||
           n->op == HD_IR_qmaxpool;
}

/* Operands that become images where the result does; 0: none can. */
static int operands(const hd_graph *g, const struct hd_node *n) {
    bool pair = hd_is_pair(n->op), concat = n->op == HD_IR_concat;
    int count = concat ? n->n_in : pair ? 2 : 1;
    if (!is_window(n) && !pair && !concat && n->op != HD_IR_qtable && n->op != HD_IR_qrescale)
        return 0;
    if (n->dead || n->n_out != 1 || count > OPERANDS_MOST || !is_signal(&g->tensors[n->out[0]]))
        return 0;
    for (int k = 0; k < count; k++)
        if (!g->tensors[n->in[k]].known || (!pair && !is_signal(&g->tensors[n->in[k]]))) return 0;
    return count;
}

/* Passes that know images may do it otherwise: few channels, or transposed. */
static bool may_gain(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    if (n->op == HD_IR_qconvtranspose) return true;
    if (n->op != HD_IR_qconv || hd_attr_int(n, "group", 1) != 1) return false;
    const struct hd_tensor *w = &g->tensors[n->in[1]];
    return w->data && w->dim[w->rank - 1] > 1 && hd_min(x->dim[1], w->dim[0]) < LANES;
}

/* Channels that are taken apart for an operation on two tensors; pass images knows those of images:
 * masks of several sources. */
static bool taken_apart(const hd_graph *g, const struct hd_node *n) {
    enum { USERS = 4 };
    int user[USERS];
    if (n->dead || n->op != HD_IR_reshape || !is_signal(&g->tensors[n->in[0]])) return false;
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    size_t users = hd_graph_users(g, n->out[0], user, USERS);
    if (!y->known || y->rank != IMAGE || y->dim[0] != x->dim[0] || y->dim[1] == x->dim[1] ||
        y->dim[IMAGE - 1] != x->dim[SIGNAL - 1])
        return false;
    for (size_t i = 0; i < users && i < USERS; i++)
        if (hd_is_pair(g->nodes[user[i]].op)) return true;
    return false;
}

/* Signals that such a node makes or reads, and those that are elementwise from or to these. */
static void mark(struct lines *s) {
    const hd_graph *g = s->g;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (taken_apart(g, &g->nodes[i])) s->marked[g->nodes[i].in[0]] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < g->n_nodes; i++) {
            const struct hd_node *n = &g->nodes[i];
            int count = operands(g, n);
            bool any = count && ((is_window(n) && may_gain(g, n)) || s->marked[n->out[0]]);
            for (int k = 0; k < count && !any; k++) any = s->marked[n->in[k]];
            for (int k = 0; any && k <= count; k++) {
                int t = k < count ? n->in[k] : n->out[0];
                bool now = is_signal(&g->tensors[t]) && !g->tensors[t].data;
                more = more || (now && !s->marked[t]);
                s->marked[t] = s->marked[t] || now;
            }
        }
    }
}

/* Numbers of a window's dimension beside those of a row; pads: before and after. */
static void widen(hd_graph *g, int id, const char *name, int64_t row) {
    const struct hd_attr *a = hd_attr_get(&g->nodes[id], name);
    if (!a) return;
    int64_t one[2] = {row, a->ints[0]}, pads[4] = {0, a->ints[0], 0, a->n > 1 ? a->ints[1] : 0};
    bool both = !strcmp(name, "pads");
    hd_attr_set_ints(g, id, name, both ? 4 : 2, both ? pads : one);
}

static void replace(struct lines *s, int node, int count) {
    hd_graph *g = s->g;
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor y = g->tensors[n.out[0]];
    int in[OPERANDS_MOST];
    int64_t dim[HD_MAX_RANK];
    for (int k = 0; k < n.n_in; k++) in[k] = k < count ? image_of(s, n.in[k]) : n.in[k];
    with_row(&y, dim);
    if (n.op == HD_IR_qconv || n.op == HD_IR_qconvtranspose) {
        const struct hd_tensor w = g->tensors[n.in[1]];
        int64_t of[4] = {w.dim[0], w.dim[1], 1, w.dim[2]};
        in[1] = hd_graph_const(g, w.name, w.dtype, IMAGE, of, w.data);
    }
    int made = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.line", y.name), y.dtype, IMAGE, dim);
    int id = hd_qdq_instead(g, node, n.op, n.n_in, in, made);
    if (is_window(&n)) {
        static const char *const names[] = {"kernel_shape", "strides", "dilations", "pads"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) widen(g, id, names[i], 1);
        if (hd_attr_get(&g->nodes[id], "output_padding")) widen(g, id, "output_padding", 0);
    }
    if (n.op == HD_IR_concat) {
        int64_t axis = hd_attr_int(&n, "axis", 0);
        if (axis < 0) axis += SIGNAL;
        hd_attr_set_int(g, id, "axis", axis + (axis == SIGNAL - 1));
    }
    hd_moved(g, HD_IR_reshape, made, SIGNAL, y.dim, "shape", y.dim, n.out[0]);
    s->image[n.out[0]] = made;
}

/* Readers that took a signal for such an image before read the one that was made. */
static void join_views(const struct lines *s) {
    hd_graph *g = s->g;
    for (size_t i = 0, n = g->n_nodes; i < n; i++) {
        const struct hd_node *nd = &g->nodes[i];
        if (nd->dead || nd->op != HD_IR_reshape || (size_t)nd->in[0] >= s->n) continue;
        int image = s->image[nd->in[0]], y = nd->out[0];
        if (image < 0 || y == image || hd_graph_is_output(g, y) ||
            !hd_same_shape(&g->tensors[y], &g->tensors[image]))
            continue;
        hd_graph_kill(g, (int)i);
        hd_graph_replace(g, y, image);
    }
}

hd_status hd_pass_lines(hd_ctx *ctx, hd_graph *g) {
    struct lines s = {.g = g, .n = g->n_tensors};
    int *order = hd_new_array(g->arena, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    s.image = hd_new_array(g->arena, int, s.n + 1);
    for (size_t i = 0; i < s.n; i++) s.image[i] = -1;
    s.marked = hd_new_array(g->arena, bool, s.n + 1);
    mark(&s);
    for (size_t i = 0; i < n; i++) {
        int count = operands(g, &g->nodes[order[i]]);
        if (count && s.marked[g->nodes[order[i]].out[0]]) replace(&s, order[i], count);
    }
    join_views(&s);
    hd_pass_dce(g);
    return hd_graph_infer(ctx, g);
}
