/* Depthwise convolutions with a multiplier as plain ones of repeated channels, for the machine.
 *
 *   qconv of groups of 1 channel to m   ->   qconv 1x1 that repeats each channel m times, qconv of
 *                                            groups of 1 to 1
 *
 * needs: shapes, integers of 8 bits. gives: the same values: the weights that repeat are 1, their
 * scale is 1. destroys: nothing; the node keeps place and name as the second of the two.
 *
 * Results of the vector unit stand in the lanes of what it reads, so channels that become m have to
 * be repeated for it; the matrix unit takes a window tap by tap, nearly all of its weights zeros.
 */
#include "compiler/ir/window.h"
#include "compiler/pass/pass.h"

/* Vectors that a unit reads: MX one for each tap; VX one for each column of up to three taps, or as
 * many as windows are apart. The image that is repeated is written, too. */
static bool pays(const struct hd_window *v) {
    int64_t out = v->oh * v->ow, columns = v->kw > 3 ? (v->kw + 2) / 3 : 1;
    return v->h * v->w + v->kh * columns * out <= v->kh * v->kw * out * 4 / 5;
}

static hd_status of_groups(hd_ctx *ctx, hd_graph *g, int node) {
    struct hd_node *n = &g->nodes[node];
    const struct hd_tensor *x = &g->tensors[n->in[0]], *w = &g->tensors[n->in[1]];
    struct hd_window v;
    bool bytes = x->dtype == HD_I8 || x->dtype == HD_U8;
    if (!bytes || !x->known || x->rank < 3 || x->rank > 4 || x->data || !w->data) return HD_OK;
    int64_t c = x->dim[1], oc = w->dim[0];
    if (c == 1 || oc == c || hd_attr_int(n, "group", 1) != c) return HD_OK;
    TRY(hd_window_get(ctx, n, x, w->dim + 2, &v));
    if (!pays(&v)) return HD_OK;
    const char *name = hd_sprintf(g->arena, "%s.repeat", n->name);
    int64_t dim[4] = {x->dim[0], oc, x->dim[2], x->rank > 3 ? x->dim[3] : 1};
    int8_t *ones = hd_new_array(g->arena, int8_t, (size_t)oc);
    for (int64_t o = 0; o < oc; o++) ones[o] = 1;
    int from = n->in[0], y = hd_graph_tensor(g, name, x->dtype, x->rank, dim);
    hd_channels_conv(g, name, from, c, oc, ones, y);
    g->nodes[node].in[0] = y;
    hd_attr_set_int(g, node, "group", oc);
    return HD_OK;
}

hd_status hd_pass_repeat(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead && g->nodes[i].op == HD_IR_qconv) TRY(of_groups(ctx, g, (int)i));
    return hd_graph_infer(ctx, g);
}
