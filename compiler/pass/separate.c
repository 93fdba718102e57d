/* Largest of a window as the largest of its rows, then of those, for the machine.
 *
 *   qmaxpool kh x kw   ->   qmaxpool kh x 1, qmaxpool 1 x kw   (or the other way round)
 *
 * needs: shapes. gives: the same values. destroys: nothing; the node keeps place and name as the
 * second of the two.
 *
 * The vector unit reads kh * kw vectors for each one of the result; of the two pools the first
 * makes an image of the whole width (or height), each reads one side of the window. With stride 1
 * that is kh + kw; where strides skip most of the first result it does not pay.
 */
#include "compiler/ir/window.h"
#include "compiler/pass/pass.h"

/* The two cost operations, and the image between them is written, too. */
static bool pays(int64_t whole, int64_t apart) {
    return apart <= whole - whole / 4;
}

static void set_window(hd_graph *g, int node, const struct hd_window *v, bool rows, bool cols) {
    int64_t kernel[2] = {rows ? v->kh : 1, cols ? v->kw : 1},
            strides[2] = {rows ? v->sy : 1, cols ? v->sx : 1},
            dilations[2] = {rows ? v->dy : 1, cols ? v->dx : 1},
            pads[4] = {rows ? v->pt : 0, cols ? v->pl : 0, rows ? v->pb : 0, cols ? v->pr : 0};
    hd_attr_set_ints(g, node, "kernel_shape", 2, kernel);
    hd_attr_set_ints(g, node, "strides", 2, strides);
    hd_attr_set_ints(g, node, "dilations", 2, dilations);
    hd_attr_set_ints(g, node, "pads", 4, pads);
}

static hd_status separate(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    struct hd_tensor x = g->tensors[n.in[0]];
    struct hd_window v;
    if (!x.known || x.rank != 4) return HD_OK;
    TRY(hd_window_get(ctx, &n, &x, NULL, &v));
    int64_t out = v.oh * v.ow, rows_first = v.kh * v.oh * v.w + v.kw * out,
            cols_first = v.kw * v.h * v.ow + v.kh * out;
    bool rows = rows_first <= cols_first;
    if (v.kh == 1 || v.kw == 1 || !pays(v.kh * v.kw * out, rows ? rows_first : cols_first))
        return HD_OK;
    int64_t dim[4] = {x.dim[0], x.dim[1], rows ? v.oh : v.h, rows ? v.w : v.ow};
    const char *name = hd_sprintf(g->arena, "%s.%s", n.name, rows ? "rows" : "columns");
    int half = hd_graph_tensor(g, name, x.dtype, 4, dim), in = n.in[0], y = n.out[0];
    hd_graph_kill(g, node);
    int first = hd_graph_node(g, HD_IR_qmaxpool, name, 1, &in, 1, &half);
    int second = hd_graph_node(g, HD_IR_qmaxpool, n.name, 1, &half, 1, &y);
    set_window(g, first, &v, rows, !rows);
    set_window(g, second, &v, !rows, rows);
    hd_graph_swap_names(g, second, node);
    return HD_OK;
}

hd_status hd_pass_separate(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead && g->nodes[i].op == HD_IR_qmaxpool) TRY(separate(ctx, g, (int)i));
    return hd_graph_infer(ctx, g);
}
