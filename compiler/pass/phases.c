/* Transposed convolutions to few channels that leave the machine make a block of pixels at once.
 *
 *   qconvtranspose with strides sy, sx to M channels   ->   qconv to M*sy*sx channels, of the
 * window that a block of sy x sx pixels meets; its channels become pixels behind it
 *
 * needs: shapes, integers of 8 bits. gives: the same values. destroys: nothing
 *
 * The array makes LANES channels at a time, used or not; each pixel of a block would be a product
 * of its own. The host puts pixels in their order where it reads them anyway. Functions of single
 * bytes between work on the channels.
 */
#include <string.h>

#include "compiler/ir/window.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "runtime/base/num.h"

enum {
    LANES = 16,
    TAPS_MOST = 200,
    HOST_BYTES = 1 /* that the host moves in a cycle of the machine */
};

/* One dimension: pixel s*j + q of the result meets element j + d, d in first .. first + n - 1. */
struct axis {
    int64_t s, k, pad, in, out; /* stride, taps, pad in front, elements of both */
    int64_t first, n, blocks;   /* of the result */
};

static struct axis axis_of(int64_t s, int64_t k, int64_t pad, int64_t in, int64_t out) {
    struct axis a = {s, k, pad, in, out, 0, 0, hd_ceil_div(out, s)};
    int64_t last = 0;
    for (int64_t q = 0; q < s; q++)
        for (int64_t t = 0; t < k; t++) {
            if ((q + pad - t) % s) continue;
            a.first = hd_min(a.first, (q + pad - t) / s), last = hd_max(last, (q + pad - t) / s);
        }
    a.n = last - a.first + 1;
    return a;
}

/* Padding behind the last element. */
static int64_t behind(const struct axis *a) {
    return a->blocks + a->n - 1 - a->in + a->first;
}

/* As it is, or in another shape. */
static bool leaves(const hd_graph *g, int t) {
    enum { USERS = 4 };
    int user[USERS];
    size_t n = hd_graph_users(g, t, user, USERS);
    for (size_t i = 0; i < n && i < USERS; i++) {
        const struct hd_node *u = &g->nodes[user[i]];
        if (u->op != HD_IR_dequantize && (u->op != HD_IR_reshape || !leaves(g, u->out[0])))
            return false;
    }
    return n <= USERS && (n > 0 || hd_graph_is_output(g, t));
}

/* The function of single bytes that alone reads t; -1: there is none. */
static int function_of(const hd_graph *g, int t) {
    int next = hd_graph_only_user(g, t);
    if (next < 0 || hd_graph_is_output(g, t)) return -1;
    enum hd_ir_op op = g->nodes[next].op;
    return op == HD_IR_qtable || op == HD_IR_qrescale ? next : -1;
}

static bool pays(const hd_graph *g, const struct hd_node *n, const struct axis *a) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *w = &g->tensors[n->in[1]];
    int64_t lanes = w->dim[0] * a[0].s * a[1].s, tiles = hd_ceil_div(lanes, LANES);
    int64_t taps = a[0].k * a[1].k * hd_ceil_div(w->dim[0], LANES) - a[0].n * a[1].n * tiles;
    int64_t saved = taps * hd_ceil_div(w->dim[1], LANES); /* cycles of a block */
    int t = n->out[0];
    for (int f; (f = function_of(g, t)) >= 0;) t = g->nodes[f].out[0];
    return x->producer >= 0 && g->nodes[x->producer].op != HD_IR_quantize && leaves(g, t) &&
           behind(&a[0]) >= 0 && behind(&a[1]) >= 0 && a[0].n * a[1].n <= TAPS_MOST &&
           HOST_BYTES * saved >= lanes;
}

static int weights(hd_graph *g, int t, const struct axis *a) {
    const struct hd_tensor w = g->tensors[t];
    int64_t per = a[0].s * a[1].s, dim[4] = {w.dim[0] * per, w.dim[1], a[0].n, a[1].n};
    int8_t *v = hd_new_array(g->arena, int8_t, (size_t)(dim[0] * dim[1] * dim[2] * dim[3]));
    const int8_t *from = w.data;
    for (int64_t m = 0; m < w.dim[0]; m++)
        for (int64_t c = 0; c < w.dim[1]; c++)
            for (int64_t i = 0; i < a[0].k * a[1].k; i++, from++)
                for (int64_t q = 0; q < per; q++) {
                    int64_t y = q / a[1].s + a[0].pad - i / a[1].k,
                            x = q % a[1].s + a[1].pad - i % a[1].k;
                    if (y % a[0].s || x % a[1].s) continue;
                    int64_t row = y / a[0].s - a[0].first, col = x / a[1].s - a[1].first;
                    v[(((m * per + q) * dim[1] + c) * dim[2] + row) * dim[3] + col] = *from;
                }
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.phases", w.name), HD_I8, 4, dim, v);
}

/* y [N,M,OH,OW] of x [N,M*sy*sx,blocks,blocks]. */
static void spread(hd_graph *g, int x, const struct axis *a, int y) {
    const struct hd_tensor to = g->tensors[y];
    int64_t n = to.dim[0], m = to.dim[1], h = a[0].blocks, w = a[1].blocks,
            apart[6] = {n, m, a[0].s, a[1].s, h, w}, perm[6] = {0, 1, 4, 2, 5, 3},
            turned[6] = {n, m, h, a[0].s, w, a[1].s}, all[4] = {n, m, h * a[0].s, w * a[1].s};
    bool whole = all[2] == a[0].out && all[3] == a[1].out;
    x = hd_moved(g, HD_IR_reshape, x, 6, apart, "shape", apart, -1);
    x = hd_moved(g, HD_IR_transpose, x, 6, turned, "perm", perm, -1);
    x = hd_moved(g, HD_IR_reshape, x, 4, all, "shape", all, whole ? y : -1);
    if (!whole) hd_first_pixels(g, x, y);
}

/* A node like `node` of these operands, whose result has the form of `blocks`. */
static int replace(hd_graph *g, int node, enum hd_ir_op op, int n_in, const int *in,
                   const int64_t *blocks, int *made) {
    const struct hd_tensor y = g->tensors[g->nodes[node].out[0]];
    *made = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.blocks", y.name), y.dtype, 4, blocks);
    return hd_qdq_instead(g, node, op, n_in, in, *made);
}

static hd_status look_at(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor x = g->tensors[n.in[0]], w = g->tensors[n.in[1]],
                           y = g->tensors[n.out[0]];
    struct hd_window v;
    if (n.n_in != 4 || !x.known || x.rank != 4 || !w.data || w.dtype != HD_I8 || w.rank != 4 ||
        hd_dtype_bytes(x.dtype) != 1 || hd_dtype_bytes(y.dtype) != 1 || !g->tensors[n.in[2]].data ||
        !g->tensors[n.in[3]].data || hd_attr_int(&n, "group", 1) != 1)
        return HD_OK;
    TRY(hd_window_get(ctx, &n, &x, &w.dim[2], &v));
    struct axis a[2] = {axis_of(v.sy, v.kh, v.pt, v.h, v.oh), axis_of(v.sx, v.kw, v.pl, v.w, v.ow)};
    if (v.dy != 1 || v.dx != 1 || v.sy * v.sx < 2 || !pays(g, &n, a)) return HD_OK;
    int64_t per = v.sy * v.sx, macs = hd_node_macs(g, &n), ones[2] = {1, 1};
    int64_t dim[4] = {y.dim[0], y.dim[1] * per, a[0].blocks, a[1].blocks};
    int in[4] = {n.in[0], weights(g, n.in[1], a), hd_channel_copies(g, n.in[2], per),
                 hd_channel_copies(g, n.in[3], per)};
    int made, t = n.out[0], id = replace(g, node, HD_IR_qconv, 4, in, dim, &made);
    hd_attr_set_int(g, id, "macs", macs);
    hd_attr_set_ints(g, id, "kernel_shape", 2, (int64_t[]){a[0].n, a[1].n});
    hd_attr_set_ints(g, id, "strides", 2, ones);
    hd_attr_set_ints(g, id, "pads", 4,
                     (int64_t[]){-a[0].first, -a[1].first, behind(&a[0]), behind(&a[1])});
    for (int f; (f = function_of(g, t)) >= 0;) {
        const struct hd_node u = g->nodes[f];
        int of[2] = {made, u.n_in > 1 ? u.in[1] : -1};
        t = u.out[0];
        replace(g, f, u.op, u.n_in, of, dim, &made);
    }
    spread(g, made, a, t);
    return HD_OK;
}

hd_status hd_pass_phases(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead && g->nodes[i].op == HD_IR_qconvtranspose)
            TRY(look_at(ctx, g, (int)i));
    return hd_graph_infer(ctx, g);
}
