/* Convolutions to few channels make several neighbours of a row at once, for the machine: the last
 * ones, and those whose pixels are moved anyway.
 *
 *   qconv to M channels   ->   qconv to f*M channels, stride f along the row, of a window that is
 *   f - 1 columns wider; its channels become pixels behind it
 *
 * needs: shapes, integers. gives: the same values. destroys: nothing
 *
 * The array makes LANES channels at a time, used or not. f pixels take kw + f - 1 columns of words
 * in place of f * kw. The host puts pixels in their order where it reads them anyway.
 */
#include <string.h>

#include "compiler/ir/window.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "runtime/base/num.h"

enum {
    LANES = 16,
    CHANNELS_LEAST = 8, /* of the operand: else its pixels are packed */
    RUN_CYCLES = 4,     /* of the load unit for a short run */
    TAPS_MOST = 200     /* of a window; the machine refuses more than a quarter of WM holds */
};

/* Only what makes floats for the caller reads it, or the caller; *moves: or what moves it. */
static bool leaves(const hd_graph *g, int t, bool *moves) {
    enum { USERS = 4 };
    int user[USERS];
    size_t n = hd_graph_users(g, t, user, USERS);
    *moves = false;
    if (n > USERS) return false;
    for (size_t i = 0; i < n; i++) {
        enum hd_ir_op op = g->nodes[user[i]].op;
        if (op != HD_IR_dequantize && op != HD_IR_reshape && op != HD_IR_transpose) return false;
        *moves = *moves || op != HD_IR_dequantize;
    }
    return n > 0 || hd_graph_is_output(g, t);
}

static bool takes(const hd_graph *g, const struct hd_node *n, const struct hd_window *v) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *w = &g->tensors[n->in[1]];
    int maker = x->producer;
    return x->known && x->rank == 4 && maker >= 0 && g->nodes[maker].op != HD_IR_quantize &&
           w->data && w->dtype == HD_I8 && hd_attr_int(n, "group", 1) == 1 &&
           !hd_attr_int(n, "moves", 0) && x->dim[1] >= CHANNELS_LEAST && v->sx == 1 && v->dx == 1 &&
           v->kw > 1 && g->tensors[n->in[2]].data && g->tensors[n->in[3]].data;
}

/* How many at once; 1: it does not pay. Moves are of f bytes each then. */
static int64_t at_once(const hd_graph *g, const struct hd_node *n, const struct hd_window *v) {
    int64_t f = 1, channels = g->tensors[n->out[0]].dim[1];
    bool moves;
    if (!leaves(g, n->out[0], &moves)) return 1;
    while (2 * f * channels <= LANES && 2 * f <= v->ow) f *= 2;
    int64_t saved = v->kh * (f * v->kw - (v->kw + f - 1)) * hd_ceil_div(v->c, LANES);
    bool pays = !moves || saved >= 2 * RUN_CYCLES * channels;
    return pays && v->kh * (v->kw + f - 1) <= TAPS_MOST ? f : 1;
}

static int wide_weights(hd_graph *g, int t, int64_t f) {
    const struct hd_tensor w = g->tensors[t];
    int64_t kw = w.dim[3], rows = w.dim[1] * w.dim[2],
            dim[4] = {f * w.dim[0], w.dim[1], w.dim[2], kw + f - 1};
    int8_t *v = hd_new_array(g->arena, int8_t, (size_t)(dim[0] * rows * dim[3]));
    for (int64_t m = 0; m < dim[0]; m++)
        for (int64_t r = 0; r < rows; r++)
            memcpy(v + (m * rows + r) * dim[3] + m % f,
                   (const int8_t *)w.data + (m / f * rows + r) * kw, (size_t)kw);
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.wide", w.name), HD_I8, 4, dim, v);
}

/* y [N,M,H,W] of [N,M*f,H,columns]. */
static void spread(hd_graph *g, int x, int64_t f, int y) {
    const struct hd_tensor t = g->tensors[x], to = g->tensors[y];
    int64_t m = to.dim[1], n = t.dim[0], h = t.dim[2], columns = t.dim[3],
            apart[5] = {n, m, f, h, columns}, perm[5] = {0, 1, 3, 4, 2},
            turned[5] = {n, m, h, columns, f}, wide[4] = {n, m, h, columns * f};
    bool whole = columns * f == to.dim[3];
    x = hd_moved(g, HD_IR_reshape, x, 5, apart, "shape", apart, -1);
    x = hd_moved(g, HD_IR_transpose, x, 5, turned, "perm", perm, -1);
    x = hd_moved(g, HD_IR_reshape, x, 4, wide, "shape", wide, whole ? y : -1);
    if (whole) return;
    int64_t one = 1, zero = 0, axis = 3;
    int in[4] = {x, hd_graph_const(g, "from", HD_I64, 1, &one, &zero),
                 hd_graph_const(g, "to", HD_I64, 1, &one, &to.dim[3]),
                 hd_graph_const(g, "axis", HD_I64, 1, &one, &axis)};
    hd_graph_node(g, HD_IR_slice, to.name, 4, in, 1, &y);
}

static hd_status narrow(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    struct hd_window v;
    TRY(hd_window_get(ctx, &n, &g->tensors[n.in[0]], &g->tensors[n.in[1]].dim[2], &v));
    if (!takes(g, &n, &v)) return HD_OK;
    const struct hd_tensor x = g->tensors[n.in[0]], y = g->tensors[n.out[0]];
    int64_t f = at_once(g, &n, &v), columns = hd_ceil_div(v.ow, f);
    if (f < 2) return HD_OK;
    int64_t kernel[2] = {v.kh, v.kw + f - 1}, strides[2] = {v.sy, f}, macs = hd_node_macs(g, &n),
            pads[4] = {v.pt, v.pl, v.pb, columns * f + v.kw - 1 - x.dim[3] - v.pl},
            dim[4] = {y.dim[0], f * y.dim[1], y.dim[2], columns};
    int in[4] = {n.in[0], wide_weights(g, n.in[1], f), hd_channel_copies(g, n.in[2], f),
                 hd_channel_copies(g, n.in[3], f)};
    int made = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.columns", y.name), y.dtype, 4, dim);
    hd_graph_kill(g, node);
    int id = hd_graph_node(g, HD_IR_qconv, n.name, 4, in, 1, &made);
    hd_qdq_copy_attrs(g, id, node, false);
    hd_attr_set_ints(g, id, "kernel_shape", 2, kernel);
    hd_attr_set_ints(g, id, "strides", 2, strides);
    hd_attr_set_ints(g, id, "pads", 4, pads);
    hd_attr_set_int(g, id, "macs", macs);
    hd_graph_swap_names(g, id, node);
    spread(g, made, f, n.out[0]);
    return HD_OK;
}

hd_status hd_pass_narrow(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead && g->nodes[i].op == HD_IR_qconv &&
            g->tensors[g->nodes[i].in[0]].rank == 4)
            TRY(narrow(ctx, g, (int)i));
    return hd_graph_infer(ctx, g);
}
