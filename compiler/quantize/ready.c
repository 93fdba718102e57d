/* Layers whose weights are integers already: convolutions and products by dequantised constants, of
 * networks that give scales to weights and operands but not to every result. */
#include <math.h>
#include <string.h>

#include "compiler/pass/pattern.h"
#include "compiler/pass/qdq.h"
#include "compiler/quantize/affine.h"

int hd_quant_ready(const hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    bool product = n->op == HD_IR_gemm || n->op == HD_IR_matmul;
    if (!product && n->op != HD_IR_conv && n->op != HD_IR_convtranspose) return -1;
    const struct hd_node *d = hd_qdq_constant(g, n->in[1]);
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    if (!d || x->data || !x->known || x->dtype != HD_F32) return -1;
    const struct hd_tensor *w = &g->tensors[d->in[0]];
    int axis = n->op == HD_IR_convtranspose || n->op == HD_IR_matmul ? 1 : 0;
    if (n->op == HD_IR_gemm) axis = hd_attr_int(n, "transB", 0) ? 0 : 1;
    int64_t scales = hd_tensor_elems(&g->tensors[d->in[1]]);
    bool bytes = w->dtype == HD_I8 || w->dtype == HD_U8;
    bool images = w->rank <= 4 || (w->rank == 5 && (n->op == HD_IR_conv || hd_volume_spreads(n))),
         fits = product ? w->rank == 2 && x->rank >= 2 : images;
    if (!bytes || !fits || (scales != 1 && hd_attr_int(d, "axis", 1) != axis)) return -1;
    if (hd_attr_float(n, "alpha", 1) != 1.0f || hd_attr_float(n, "beta", 1) != 1.0f) return -1;
    int bias = n->n_in > 2 ? n->in[2] : -1;
    if (bias < 0 || g->tensors[bias].data) return axis;
    d = hd_qdq_constant(g, bias);
    return d && g->tensors[d->in[0]].dtype == HD_I32 ? axis : -1;
}

/* ---- factors and summands behind them ---- */

/* Bias of each channel as float: a constant, or one that is dequantised; NULL = neither. */
static const double *bias_values(const hd_graph *g, hd_arena *a, int t, int64_t n) {
    double *out = hd_new_array(a, double, (size_t)n + 1);
    if (t < 0) return out;
    const struct hd_node *d = hd_qdq_constant(g, t);
    const struct hd_tensor *x = &g->tensors[d ? d->in[0] : t];
    int64_t elems = hd_tensor_elems(x), scales = d ? hd_tensor_elems(&g->tensors[d->in[1]]) : 1;
    bool zero = !d || hd_const_is(g, d->in[2], 0, false);
    if (!x->data || x->dtype != (d ? HD_I32 : HD_F32) || !zero || (elems != 1 && elems != n) ||
        (scales != 1 && scales != elems))
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = elems == 1 ? 0 : i;
        out[i] = d ? (double)((const int32_t *)x->data)[at] *
                         (double)((const float *)g->tensors[d->in[1]].data)[scales == 1 ? 0 : at]
                   : (double)((const float *)x->data)[at];
    }
    return out;
}

struct turned { /* weights times a factor for each channel */
    int64_t n, inner;
    int8_t *w, *zero;
    float *scale;
};

/* Integers of channels with a negative factor change their sign. False: they have no such value. */
static bool turn(const hd_graph *g, hd_arena *a, const struct hd_node *d, int axis,
                 const double *factor, struct turned *v) {
    const struct hd_tensor *w = &g->tensors[d->in[0]], *s = &g->tensors[d->in[1]],
                           *z = &g->tensors[d->in[2]];
    int64_t elems = hd_tensor_elems(w);
    size_t n = (size_t)w->dim[axis];
    *v = (struct turned){(int64_t)n, 1, hd_alloc(a, (size_t)elems + 1), hd_alloc(a, n + 1),
                         hd_new_array(a, float, n + 1)};
    for (int i = axis + 1; i < w->rank; i++) v->inner *= w->dim[i];
    for (int64_t c = 0; c < v->n; c++) {
        float one = ((const float *)s->data)[hd_tensor_elems(s) == 1 ? 0 : c];
        v->zero[c] = ((const int8_t *)z->data)[hd_tensor_elems(z) == 1 ? 0 : c];
        v->scale[c] = factor[c] == 0.0 ? one : (float)((double)one * fabs(factor[c]));
        if (!isfinite(v->scale[c]) || !(v->scale[c] > 0)) return false;
        bool signs = factor[c] < 0;
        if (signs && (w->dtype != HD_I8 || v->zero[c] == -128)) return false;
        if (signs) v->zero[c] = (int8_t)-v->zero[c];
    }
    for (int64_t i = 0; i < elems; i++) {
        int64_t c = i / v->inner % v->n;
        int8_t q = ((const int8_t *)w->data)[i];
        if (factor[c] < 0 && q == -128) return false;
        v->w[i] = factor[c] == 0.0 ? v->zero[c] : factor[c] < 0 ? (int8_t)-q : q;
    }
    return true;
}

bool hd_quant_ready_absorb(hd_graph *g, hd_arena *a, int node, int next) {
    const struct hd_node n = g->nodes[node], by = g->nodes[next];
    int axis = hd_quant_ready(g, node), y = by.out[0], rank = g->tensors[n.out[0]].rank;
    bool transposed = n.op == HD_IR_convtranspose;
    if (axis < 0 || n.op == HD_IR_matmul || by.n_out != 1 ||
        (transposed && hd_attr_int(&n, "group", 1) != 1))
        return false;
    const struct hd_node d = *hd_qdq_constant(g, n.in[1]);
    const struct hd_tensor w = g->tensors[d.in[0]], *before = &g->tensors[n.out[0]];
    struct hd_affine f = hd_affine_new(a, w.dim[axis]);
    struct turned v;
    int at = n.op == HD_IR_gemm ? rank - 1 : 1;
    if (!g->tensors[y].known || g->tensors[y].rank != rank ||
        hd_tensor_elems(&g->tensors[y]) != hd_tensor_elems(before) ||
        !hd_affine_of(g, &by, n.out[0], at, &f))
        return false;
    const double *old = bias_values(g, a, n.n_in > 2 ? n.in[2] : -1, f.n);
    if (!old || !turn(g, a, &d, axis, f.a, &v)) return false;
    float *bias = hd_new_array(a, float, (size_t)f.n + 1);
    for (int64_t c = 0; c < f.n; c++) {
        bias[c] = (float)(old[c] * f.a[c] + f.b[c]);
        if (!isfinite(bias[c])) return false;
    }
    const char *name = w.name;
    int64_t channels = f.n;
    int in[3] = {
        hd_graph_const(g, name, w.dtype, w.rank, w.dim, v.w),
        hd_graph_const_f32(g, hd_sprintf(g->arena, "%s.scale", name), (int)f.n, v.scale),
        hd_graph_const(g, hd_sprintf(g->arena, "%s.zero", name), w.dtype, 1, &channels, v.zero)};
    int wf = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.folded", name), HD_F32, w.rank, w.dim);
    hd_attr_set_int(g, hd_graph_node(g, HD_IR_dequantize, g->tensors[wf].name, 3, in, 1, &wf),
                    "axis", axis);
    int to[3] = {n.in[0], wf,
                 hd_graph_const_f32(g, hd_sprintf(g->arena, "%s.bias", n.name), (int)f.n, bias)};
    hd_graph_kill(g, node);
    hd_graph_kill(g, next);
    int id = hd_graph_node(g, n.op, n.name, 3, to, 1, &y);
    hd_graph_swap_names(g, id, node);
    hd_qdq_copy_attrs(g, id, node, false);
    return true;
}
