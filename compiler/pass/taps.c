/* Convolutions without taps that meet nothing.
 *
 *   conv or qconv, whose first or last rows or columns of taps lie in the padding, whatever the
 *   window   ->   the same without them
 *
 * needs: shapes, weights constant. gives: the same values. destroys: nothing
 *
 * So are windows on images of few pixels, and of large dilation: atrous pyramids (Chen and others,
 * arXiv:1706.05587), late layers on small inputs. Padding counts as 0.
 */
#include <string.h>

#include "compiler/ir/window.h"
#include "compiler/pass/pass.h"
#include "runtime/base/num.h"

/* Whether tap k along dimension d meets an element of x in some window. */
static bool meets(const struct hd_window_nd *v, int d, int64_t k) {
    int64_t first = k * v->dilation[d] - v->before[d],
            last = first + (v->out[d] - 1) * v->stride[d];
    if (last < 0 || first >= v->in[d]) return false;
    /* that of the first window in which it is not in front of x */
    int64_t i = first < 0 ? hd_ceil_div(-first, v->stride[d]) : 0;
    return first + i * v->stride[d] < v->in[d];
}

/* Takes such taps off v, but for one; padding stays at least 0. How many were in front. */
static int64_t take_off(struct hd_window_nd *v, int d) {
    int64_t first = 0, step = v->dilation[d];
    for (; v->kernel[d] > 1 && v->before[d] >= step && !meets(v, d, 0); first++)
        v->kernel[d]--, v->before[d] -= step;
    for (; v->kernel[d] > 1 && v->after[d] >= step && !meets(v, d, v->kernel[d] - 1);)
        v->kernel[d]--, v->after[d] -= step;
    return first;
}

/* The weights from tap `first` on, as many as v has. */
static int weights(hd_graph *g, int t, const struct hd_window_nd *v, const int64_t *first) {
    const struct hd_tensor w = g->tensors[t];
    struct hd_tensor to = w;
    size_t size = hd_dtype_bytes(w.dtype);
    for (int d = 0; d < v->sp; d++) to.dim[2 + d] = v->kernel[d];
    int64_t n = hd_tensor_elems(&to);
    char *made = hd_alloc(g->arena, (size_t)n * size + 1);
    for (int64_t e = 0; e < n; e++) {
        int64_t rest = e, at = 0, step = 1;
        for (int d = w.rank - 1; d >= 0; rest /= to.dim[d], step *= w.dim[d], d--)
            at += (rest % to.dim[d] + (d < 2 ? 0 : first[d - 2])) * step;
        memcpy(made + (size_t)e * size, (const char *)w.data + (size_t)at * size, size);
    }
    return hd_graph_const(g, w.name, w.dtype, w.rank, to.dim, made);
}

static hd_status look_at(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    const struct hd_tensor *x = &g->tensors[n->in[0]], *w = &g->tensors[n->in[1]];
    struct hd_window_nd v;
    int64_t first[HD_MAX_SPATIAL], pads[2 * HD_MAX_SPATIAL], kernel[HD_MAX_SPATIAL];
    if (!x->known || !w->data || w->rank != x->rank || w->rank < 3) return HD_OK;
    TRY(hd_window_nd_get(ctx, n, x, w->dim + 2, &v));
    memcpy(kernel, v.kernel, sizeof kernel);
    for (int d = 0; d < v.sp; d++) first[d] = take_off(&v, d);
    if (!memcmp(kernel, v.kernel, (size_t)v.sp * sizeof *kernel)) return HD_OK;
    TRY(hd_window_resolve(ctx, g, node)); /* auto_pad */
    int made = weights(g, n->in[1], &v, first);
    for (int d = 0; d < v.sp; d++) pads[d] = v.before[d], pads[v.sp + d] = v.after[d];
    g->nodes[node].in[1] = made;
    hd_attr_set_ints(g, node, "kernel_shape", v.sp, v.kernel);
    hd_attr_set_ints(g, node, "pads", 2 * v.sp, pads);
    return HD_OK;
}

hd_status hd_pass_taps(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead && (g->nodes[i].op == HD_IR_conv || g->nodes[i].op == HD_IR_qconv))
            TRY(look_at(ctx, g, (int)i));
    return hd_graph_infer(ctx, g);
}
