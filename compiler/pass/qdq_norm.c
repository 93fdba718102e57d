/* Batch norms behind products of quantised weights go into the scales of those and the bias.
 *
 *   batchnorm(conv(x, dequantize(w), b))  ->  conv(x, dequantize(w'), b'),  gemm, matmul
 *
 * with f = scale / sqrt(var + epsilon) of each channel: the scale of its weights times |f|, its
 * weights negated where f < 0, all zero where f = 0; b' = bias + f (b - mean). The same up to
 * rounding. Networks that were trained with few bits have them.
 */
#include <math.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"

enum { GAMMA = 1, BETA, MEAN, VAR };

struct product {
    const struct hd_node *dq; /* of the weights */
    int node, axis, bias;     /* of channels in the weights; tensor, -1 = none */
    int64_t n, inner;         /* channels; weights between those of one and of the next */
};

static const float *floats(const hd_graph *g, int t, int64_t n) {
    const struct hd_tensor *x = &g->tensors[t];
    return x->data && x->dtype == HD_F32 && hd_tensor_elems(x) == n ? x->data : NULL;
}

/* The product that makes x for its one reader; false: it is none, or its weights are none of bytes.
 */
static bool find(const hd_graph *g, int x, struct product *p) {
    p->node = g->tensors[x].producer;
    if (p->node < 0 || hd_graph_only_user(g, x) < 0) return false;
    const struct hd_node *y = &g->nodes[p->node];
    bool gemm = y->op == HD_IR_gemm, rows = y->op == HD_IR_matmul;
    if (y->op != HD_IR_conv && !gemm && !rows) return false;
    if (gemm && (hd_attr_float(y, "alpha", 1) != 1 || hd_attr_float(y, "beta", 1) != 1))
        return false;
    p->dq = hd_qdq_constant(g, y->in[1]);
    if (!p->dq) return false;
    const struct hd_tensor *w = &g->tensors[p->dq->in[0]];
    if ((w->dtype != HD_I8 && w->dtype != HD_U8) || ((gemm || rows) && w->rank != 2) ||
        g->tensors[y->out[0]].rank < 2 || (rows && g->tensors[y->out[0]].rank != 2))
        return false;
    p->axis = rows || (gemm && !hd_attr_int(y, "transB", 0));
    p->n = w->dim[p->axis], p->inner = 1, p->bias = y->n_in > 2 ? y->in[2] : -1;
    for (int d = p->axis + 1; d < w->rank; d++) p->inner *= w->dim[d];
    return p->bias < 0 || floats(g, p->bias, p->n);
}

/* Scale or zero point of a channel. */
static int64_t entry(const struct hd_tensor *t, int64_t channel) {
    return hd_tensor_elems(t) == 1 ? 0 : channel;
}

/* Weights with those of some channels negated around their zero point, or made zero; NULL: a
 * negative one is no byte. */
static uint8_t *weights(hd_graph *g, const struct product *p, const double *f) {
    const struct hd_tensor *w = &g->tensors[p->dq->in[0]], *z = &g->tensors[p->dq->in[2]];
    int64_t elems = hd_tensor_elems(w);
    uint8_t *to = hd_alloc(g->arena, (size_t)elems + 1);
    for (int64_t i = 0; i < elems; i++) {
        int64_t c = i / p->inner % p->n;
        int zero = hd_qdq_int_at(z, entry(z, c)), v = hd_qdq_int_at(w, i);
        v = f[c] > 0 ? v : f[c] < 0 ? 2 * zero - v : zero;
        if (v < hd_dtype_least(w->dtype) || v > hd_dtype_most(w->dtype)) return NULL;
        to[i] = (uint8_t)v;
    }
    return to;
}

/* What the norm multiplies by; false: parameters are no constants, or scales not one or one for
 * each channel. */
static bool factors(const hd_graph *g, const struct hd_node *bn, const struct product *p,
                    double *f) {
    const float *gamma = floats(g, bn->in[GAMMA], p->n), *var = floats(g, bn->in[VAR], p->n);
    const struct hd_tensor *s = &g->tensors[p->dq->in[1]], *z = &g->tensors[p->dq->in[2]];
    bool each = hd_tensor_elems(s) > 1 || hd_tensor_elems(z) > 1;
    if (!gamma || !var || !floats(g, bn->in[BETA], p->n) || !floats(g, bn->in[MEAN], p->n) ||
        !floats(g, p->dq->in[1], hd_tensor_elems(s)) ||
        (each && hd_attr_int(p->dq, "axis", 1) != p->axis))
        return false;
    for (int64_t c = 0; c < p->n; c++) {
        f[c] = gamma[c] / sqrt((double)var[c] + (double)hd_attr_float(bn, "epsilon", 1e-5f));
        if (!isfinite(f[c])) return false;
    }
    return true;
}

static void fold(hd_graph *g, int id) {
    const struct hd_node bn = g->nodes[id];
    struct product p;
    if (!find(g, bn.in[0], &p)) return;
    double *f = hd_new_array(g->arena, double, (size_t)p.n);
    if (!factors(g, &bn, &p, f)) return;
    const struct hd_tensor w = g->tensors[p.dq->in[0]], s = g->tensors[p.dq->in[1]],
                           z = g->tensors[p.dq->in[2]];
    const float *beta = g->tensors[bn.in[BETA]].data, *mean = g->tensors[bn.in[MEAN]].data,
                *old = p.bias < 0 ? NULL : g->tensors[p.bias].data;
    float *scale = hd_new_array(g->arena, float, (size_t)p.n),
          *bias = hd_new_array(g->arena, float, (size_t)p.n);
    uint8_t *zero = hd_alloc(g->arena, (size_t)p.n), *bytes = weights(g, &p, f);
    if (!bytes) return;
    for (int64_t c = 0; c < p.n; c++) {
        double of = (double)((const float *)s.data)[entry(&s, c)];
        scale[c] = (float)(f[c] != 0 ? of * fabs(f[c]) : of);
        zero[c] = (uint8_t)hd_qdq_int_at(&z, entry(&z, c));
        bias[c] = (float)((double)beta[c] + f[c] * ((old ? (double)old[c] : 0) - (double)mean[c]));
    }
    int in[3] = {hd_graph_const(g, w.name, w.dtype, w.rank, w.dim, bytes),
                 hd_graph_const_f32(g, "norm.scale", (int)p.n, scale),
                 hd_graph_const(g, "norm.zero", w.dtype, 1, &p.n, zero)};
    int to = hd_graph_tensor(g, w.name, HD_F32, w.rank, w.dim), y = bn.out[0];
    int dq = hd_graph_node(g, HD_IR_dequantize, w.name, 3, in, 1, &to);
    hd_attr_set_int(g, dq, "axis", p.axis);
    const struct hd_node was = g->nodes[p.node];
    bool rows = was.op == HD_IR_matmul;
    in[0] = was.in[0], in[1] = to;
    in[2] = hd_graph_const_f32(g, "norm.bias", (int)p.n, bias);
    hd_graph_kill(g, id);
    int made = hd_graph_node(g, rows ? HD_IR_gemm : was.op, was.name, 3, in, 1, &y);
    if (!rows) hd_qdq_copy_attrs(g, made, p.node, false);
}

void hd_qdq_fold_norms(hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead && g->nodes[i].op == HD_IR_batchnorm) fold(g, (int)i);
    hd_pass_dce(g);
}
