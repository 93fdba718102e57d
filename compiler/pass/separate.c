/* Largest of a window as the largest of its rows, then of those, for the machine.
 *
 *   qmaxpool kh x kw   ->   qmaxpool kh x 1, qmaxpool 1 x kw   (or the other way round)
 *   qmaxpool 1 x w     ->   qmaxpool 1 x a, stride a, qmaxpool 1 x w/a, where it is a whole row
 *
 * needs: shapes. gives: the same values. destroys: nothing; the node keeps place and name as the
 * second of the two.
 *
 * The vector unit reads kh * kw vectors for each one of the result; of the two pools the first
 * makes an image of the whole width (or height), each reads one side of the window. With stride 1
 * that is kh + kw; where strides skip most of the first result it does not pay. A window that is
 * too large for activation memory has no other way: rows go first, each by itself.
 */
#include "compiler/ir/window.h"
#include "compiler/pass/pass.h"

enum { LARGE = 16384 }; /* bytes of a window; half of the smallest machine's activation memory */

/* The two cost operations, and the image between them is written, too. */
static bool pays(int64_t whole, int64_t apart) {
    return apart <= whole - whole / 4;
}

/* Of a signal the last of two dimensions. */
static void set_window(hd_graph *g, int node, const struct hd_window *v, bool rows, bool cols) {
    int dims = g->tensors[g->nodes[node].in[0]].rank - 2, from = 2 - dims;
    int64_t kernel[2] = {rows ? v->kh : 1, cols ? v->kw : 1},
            strides[2] = {rows ? v->sy : 1, cols ? v->sx : 1},
            dilations[2] = {rows ? v->dy : 1, cols ? v->dx : 1},
            pads[4] = {rows ? v->pt : 0, cols ? v->pl : 0, rows ? v->pb : 0, cols ? v->pr : 0};
    hd_attr_set_ints(g, node, "kernel_shape", dims, kernel + from);
    hd_attr_set_ints(g, node, "strides", dims, strides + from);
    hd_attr_set_ints(g, node, "dilations", dims, dilations + from);
    if (dims == 1) pads[0] = pads[1], pads[1] = pads[3];
    hd_attr_set_ints(g, node, "pads", 2 * dims, pads);
}

/* Two pools in place of the node, with an image of h x w between them. */
static void in_two(hd_graph *g, int node, int64_t h, int64_t w, const char *what, int out[2]) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor x = g->tensors[n.in[0]];
    int64_t dim[4] = {x.dim[0], x.dim[1], h, w};
    const char *name = hd_sprintf(g->arena, "%s.%s", n.name, what);
    if (x.rank == 3) dim[2] = w;
    int half = hd_graph_tensor(g, name, x.dtype, x.rank, dim), in = n.in[0], y = n.out[0];
    hd_graph_kill(g, node);
    out[0] = hd_graph_node(g, HD_IR_qmaxpool, name, 1, &in, 1, &half);
    out[1] = hd_graph_node(g, HD_IR_qmaxpool, n.name, 1, &half, 1, &y);
    hd_graph_swap_names(g, out[1], node);
}

/* A whole row (column) in parts of the same length. */
static void cut_line(hd_graph *g, int node, const struct hd_window *v) {
    bool row = v->kh == 1;
    int64_t side = row ? v->kw : v->kh, a = 1;
    bool whole = row ? v->ow == 1 && side == v->w : v->oh == 1 && side == v->h;
    struct hd_window part = *v, rest = *v;
    for (int64_t d = 2; d * d <= side; d++)
        if (side % d == 0) a = d;
    if (!whole || v->pt + v->pb + v->pl + v->pr || a == 1) return;
    *(row ? &part.kw : &part.kh) = *(row ? &part.sx : &part.sy) = side / a;
    *(row ? &rest.kw : &rest.kh) = a;
    int pool[2];
    in_two(g, node, row ? v->h : a, row ? a : v->w, "parts", pool);
    set_window(g, pool[0], &part, true, true);
    set_window(g, pool[1], &rest, true, true);
}

static hd_status separate(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    struct hd_tensor x = g->tensors[n.in[0]];
    struct hd_window v;
    if (!x.known || (x.rank != 3 && x.rank != 4)) return HD_OK;
    TRY(hd_window_get(ctx, &n, &x, NULL, &v));
    bool large = v.kh * v.kw * x.dim[1] > LARGE, line = v.kh == 1 || v.kw == 1;
    int64_t out = v.oh * v.ow, rows_first = v.kh * v.oh * v.w + v.kw * out,
            cols_first = v.kw * v.h * v.ow + v.kh * out;
    bool rows = !large && rows_first <= cols_first;
    if (large && line) cut_line(g, node, &v);
    if (line || (!large && !pays(v.kh * v.kw * out, rows ? rows_first : cols_first))) return HD_OK;
    int pool[2];
    in_two(g, node, rows ? v.oh : v.h, rows ? v.w : v.ow, rows ? "rows" : "columns", pool);
    set_window(g, pool[0], &v, rows, !rows);
    set_window(g, pool[1], &v, !rows, rows);
    return HD_OK;
}

hd_status hd_pass_separate(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead && g->nodes[i].op == HD_IR_qmaxpool) TRY(separate(ctx, g, (int)i));
    return hd_graph_infer(ctx, g);
}
