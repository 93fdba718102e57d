/* Concats of channels that do not fill words, for the machine: their readers become products, of
 * which each operand may begin with a word of its own.
 *
 *   slice(concat(a, b, ..)) of channels   ->   an operand, where it is one; else qconv by 0 and 1
 *   f(concat(a, b, ..))                   ->   f(qconv(concat(a, b, ..))), one for all such f; also
 *                                              of products, where lanes between cost them more
 *
 * needs: shapes, integers of 8 bits. gives: the same values. destroys: nodes that nothing reads
 *
 * Where only products read a concat of images, its operands are written into it, with lanes between
 * them that belong to no channel (compiler/partition/share.c). Else each pixel of each operand is a
 * run of the load unit, and each slice that begins within a word again.
 */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "runtime/base/num.h"

enum {
    LANES = 16,
    RUN_CYCLES = 4, /* of the load unit for a short run */
    CHANNELS_MOST = 256,
    OPERANDS_MOST = 16,
    USERS_MOST = 16
};

struct gaps {
    hd_graph *g;
    int y; /* the result of the concat */
    int64_t lane[CHANNELS_MOST];
    int64_t lanes;  /* of all operands */
    int64_t copies; /* words of a pixel that the vector unit copies */
    int user[USERS_MOST];
    size_t users;
};

static bool is_bytes(const struct hd_tensor *t) {
    return t->known && !t->data && (t->dtype == HD_I8 || t->dtype == HD_U8);
}

/* An image that is made larger by its nearest pixels. */
static bool is_enlarged(const hd_graph *g, int t) {
    int maker = g->tensors[t].producer;
    return maker >= 0 && g->nodes[maker].op == HD_IR_resize && is_bytes(&g->tensors[t]);
}

/* A layer that can write between others' lanes makes t, and nothing else joins it. */
static bool may_join(const hd_graph *g, int t, int concat) {
    int user[USERS_MOST], maker = g->tensors[t].producer;
    size_t n = hd_graph_users(g, t, user, USERS_MOST);
    if (maker < 0 || n > USERS_MOST || hd_channels_of(g, t) != 1) return false;
    for (size_t i = 0; i < n; i++)
        if (user[i] != concat && g->nodes[user[i]].op == HD_IR_concat) return false;
    switch (g->nodes[maker].op) {
    case HD_IR_qconv:
    case HD_IR_qconvtranspose:
    case HD_IR_qadd:
    case HD_IR_qmul:
    case HD_IR_qavgpool:
    case HD_IR_qmaxpool:
    case HD_IR_qtable:
    case HD_IR_qrescale:
        return true;
    default:
        return false;
    }
}

/* Lanes of the channels; false: there are no gaps, or no layers that would leave them. */
static bool find_lanes(struct gaps *s, int node) {
    const hd_graph *g = s->g;
    const struct hd_node *n = &g->nodes[node];
    const struct hd_tensor *y = &g->tensors[s->y];
    bool gaps = false;
    int64_t c = 0;
    if (n->n_in > OPERANDS_MOST || y->rank != 4 || !is_bytes(y) || y->dim[1] > CHANNELS_MOST ||
        hd_attr_int(n, "axis", 0) != 1 || hd_graph_is_output(g, s->y))
        return false;
    for (int i = 0; i < n->n_in; i++) {
        const struct hd_tensor *x = &g->tensors[n->in[i]];
        bool copied = is_enlarged(g, n->in[i]);
        if (!is_bytes(x) || !(copied || may_join(g, n->in[i], node))) return false;
        s->copies += copied ? hd_ceil_div(x->dim[1], LANES) : 0;
        for (int k = 0; k < i; k++)
            if (n->in[k] == n->in[i]) return false;
        for (int64_t k = 0; k < x->dim[1]; k++) s->lane[c++] = s->lanes + k;
        gaps = gaps || (i + 1 < n->n_in && x->dim[1] % LANES);
        s->lanes += hd_round_up(x->dim[1], LANES);
    }
    s->users = hd_graph_users(g, s->y, s->user, USERS_MOST);
    return gaps && s->users && s->users <= USERS_MOST;
}

/* A slice of channels, from *at on. */
static bool cuts(const hd_graph *g, const struct hd_node *n, int64_t *at) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    int64_t v[3] = {0, 0, 1}; /* first, axis, step */
    if (n->op != HD_IR_slice || n->n_in < 4 || y->dim[1] == x->dim[1]) return false;
    for (int i = 0; i < 3 && i + (i > 0) + 1 < n->n_in; i++) {
        int from = n->in[(int[]){1, 3, 4}[i]];
        const struct hd_tensor *t = from < 0 ? NULL : &g->tensors[from];
        if (!t || !t->data || t->dtype != HD_I64 || hd_tensor_elems(t) != 1) return false;
        v[i] = *(const int64_t *)t->data;
    }
    *at = v[0] < 0 ? v[0] + x->dim[1] : v[0];
    return v[1] == 1 && v[2] == 1 && *at >= 0 && *at + y->dim[1] <= x->dim[1];
}

/* By constant weights, of all channels. */
static bool is_product(const hd_graph *g, const struct hd_node *n, int y) {
    return n->op == HD_IR_qconv && n->in[0] == y && g->tensors[n->in[1]].data &&
           hd_attr_int(n, "group", 1) == 1;
}

/* Words of channels [at, at + c) of the result, for each LANES channels of what reads them. */
static int64_t words(const struct gaps *s, int64_t at, int64_t c) {
    return s->lane[at + c - 1] / LANES - s->lane[at] / LANES + 1;
}

/* Cycles of a pixel by products, less those by moves. close: products read it closed, too. */
static double cost(const struct gaps *s, const struct hd_node *n, bool close) {
    const hd_graph *g = s->g;
    int64_t c = g->tensors[s->y].dim[1], at;
    double cycles = (double)(s->copies - RUN_CYCLES * n->n_in);
    bool all = false;
    for (size_t i = 0; i < s->users; i++) {
        const struct hd_node *r = &g->nodes[s->user[i]];
        const struct hd_tensor *w = &g->tensors[r->in[r->n_in > 1]], *t = &g->tensors[r->out[0]];
        if (!close && is_product(g, r, s->y))
            cycles += (double)((s->lanes / LANES - hd_ceil_div(c, LANES)) *
                               hd_ceil_div(w->dim[0], LANES) *
                               (hd_tensor_elems(w) / w->dim[0] / w->dim[1])) *
                      hd_pixels_left(g, s->y, r->out[0]);
        else if (cuts(g, r, &at))
            cycles += (double)(words(s, at, t->dim[1]) * hd_ceil_div(t->dim[1], LANES) -
                               RUN_CYCLES * (at % LANES != 0));
        else
            all = true;
    }
    return cycles + (double)(all * (s->lanes / LANES) * hd_ceil_div(c, LANES));
}

/* Channels from `at` on of the result, into tensor t. */
static void product(struct gaps *s, const char *name, int64_t at, int t) {
    int64_t from[CHANNELS_MOST], c = s->g->tensors[t].dim[1];
    for (int64_t k = 0; k < c; k++) from[k] = at + k;
    hd_move_channels(s->g, name, s->y, from, t);
}

/* The operand that is channels [at, at + c) of the result; -1 = none is. */
static int operand_at(const hd_graph *g, const struct hd_node *n, int64_t at, int64_t c) {
    int64_t from = 0;
    for (int i = 0; i < n->n_in; from += g->tensors[n->in[i++]].dim[1])
        if (from == at && g->tensors[n->in[i]].dim[1] == c) return n->in[i];
    return -1;
}

/* What only moves is copied by a layer, which can write between others' lanes. */
static bool copy_enlarged(hd_graph *g, int node) {
    bool any = false;
    for (int i = 0; i < g->nodes[node].n_in; i++) {
        int x = g->nodes[node].in[i];
        if (!is_enlarged(g, x)) continue;
        const struct hd_tensor t = g->tensors[x];
        int y = hd_qdq_tensor_like(g, x, t.dtype, "copy");
        int id = hd_graph_node(g, HD_IR_qrescale, g->tensors[y].name, 1, &x, 1, &y);
        hd_attr_set_string(g, id, "to", t.dtype == HD_I8 ? "i8" : "u8");
        g->nodes[node].in[i] = y;
        any = true;
    }
    return any;
}

static bool close_gaps(hd_graph *g, int node) {
    struct gaps s = {.g = g, .y = g->nodes[node].out[0]};
    if (g->nodes[node].op != HD_IR_concat || !find_lanes(&s, node)) return false;
    double open = cost(&s, &g->nodes[node], false), shut = cost(&s, &g->nodes[node], true);
    if (open >= 0 && shut >= 0) return false;
    int closed = -1;
    bool any = copy_enlarged(g, node);
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor y = g->tensors[s.y];
    for (size_t i = 0; i < s.users; i++) {
        const struct hd_node r = g->nodes[s.user[i]];
        int64_t at;
        if (open <= shut && is_product(g, &r, s.y)) continue;
        any = true;
        if (!cuts(g, &r, &at)) {
            if (closed < 0) closed = hd_graph_tensor(g, y.name, y.dtype, y.rank, y.dim);
            for (int k = 0; k < r.n_in; k++)
                if (r.in[k] == s.y) g->nodes[s.user[i]].in[k] = closed;
            continue;
        }
        const struct hd_tensor t = g->tensors[r.out[0]];
        int same = operand_at(g, &n, at, t.dim[1]);
        if (same >= 0 && !hd_graph_is_output(g, r.out[0])) {
            hd_graph_replace(g, r.out[0], same);
            continue;
        }
        hd_graph_kill(g, s.user[i]);
        product(&s, r.name, at, r.out[0]);
    }
    if (closed >= 0) product(&s, hd_sprintf(g->arena, "%s.closed", n.name), 0, closed);
    return any;
}

hd_status hd_pass_gaps(hd_ctx *ctx, hd_graph *g) {
    bool any = false;
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead) any = close_gaps(g, (int)i) || any;
    if (!any) return HD_OK;
    hd_pass_dce(g);
    return hd_graph_infer(ctx, g);
}
