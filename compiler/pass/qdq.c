/* Legalisation of quantised networks: dequantize .. float operation .. quantize -> q operation.
 *
 * needs: shapes; fold before it, so that scales and zero points are constants
 * gives: q operations wherever a pattern below matches; the rest stays float, and correct
 * destroys: matched quantize nodes; float nodes that nothing reads any more are left to dce
 *
 *   move(dequantize(x)..) -> dequantize(move(x)..), of values that stay as they are (qdq_move.c)
 *   quantize(move(v..))   -> move(quantize(v)..)
 *   argmax(dequantize(x)) -> argmax(x), argmin
 *
 *   quantize([act](dequantize(x)))                         -> qrescale, or x itself
 *   quantize([act](conv(dequantize(x), w, b)))             -> qconv
 *   the same of convtranspose                              -> qconvtranspose
 *   quantize([act](gemm | matmul [+ b]))                  -> qgemm
 *   quantize([act](add(dequantize(a), dequantize(b))))    -> qadd; mul: qmul; div: qdiv
 *   quantize([act](avgpool(dequantize(x))))               -> qavgpool; qmean over the whole image
 *   quantize([act](matmul(dequantize(a), dequantize(b)))) -> qmatmul; softmax: qsoftmax;
 *                                                            layernorm: qlayernorm (qdq_rows.c)
 *   quantize([act](resize(dequantize(x)))), linear        -> qresize (qdq_resize.c)
 *   quantize(lstm(dequantize(x), ..)), gru, rnn            -> qlstm, qgru, qrnn
 *   quantize(f(dequantize(x)))                             -> qtable, f any elementwise function
 *   move(dequantize(constant))                             -> dequantize(constant) (qdq_constant.c)
 *   dequantize(quantize(dequantize(x))), x an input        -> dequantize(x), u8 for i8
 *                                                             (qdq_bytes.c)
 *   batchnorm(conv(x, dequantize(w), b)), gemm, matmul     -> the product (qdq_norm.c)
 *   clip(quantize(x))                                      -> quantize(clip(x)); clips of other
 *                                                             integers: qrescale (qdq_clip.c)
 *
 * act = any chain of relu and clip, which narrows lo..hi. The first two rewrites move dequantize
 * down and quantize up until they meet something else; each makes one float node fewer, so they
 * end.
 */
#include "compiler/pass/qdq.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/window.h"
#include "compiler/pass/pass.h"
#include "runtime/base/memory.h"
#include "runtime/base/num.h"

/* ---- new nodes ---- */

int hd_qdq_emit_to(struct hd_qmatch *m, enum hd_ir_op op, int named, int n_in, const int *in,
                   int out) {
    int id = hd_graph_node(m->g, op, m->g->nodes[named].name, n_in, in, 1, &out);
    hd_graph_swap_names(m->g, id, named);
    hd_attr_set_string(m->g, id, "to", hd_dtype_name(m->y.type));
    hd_attr_set_int(m->g, id, "y_zp", m->y.zp);
    hd_attr_set_int(m->g, id, "lo", m->lo);
    hd_attr_set_int(m->g, id, "hi", m->hi);
    return id;
}

int hd_qdq_emit(struct hd_qmatch *m, enum hd_ir_op op, int named, int n_in, const int *in) {
    int out = m->g->nodes[m->q].out[0];
    hd_graph_kill(m->g, m->q);
    return hd_qdq_emit_to(m, op, named, n_in, in, out);
}

/* A reshape or transpose in front of or behind a q operation. */
static int move_node(hd_graph *g, enum hd_ir_op op, int from, int to, const char *attr, int n,
                     const int64_t *v) {
    int id = hd_graph_node(g, op, g->tensors[to].name, 1, &from, 1, &to);
    hd_attr_set_ints(g, id, attr, n, v);
    return id;
}

/* ---- activations ---- */

/* The bounds of a relu or clip; false when it is neither, or its bounds are not plain constants. */
static bool act_bounds(const hd_graph *g, const struct hd_node *n, float *lo, float *hi) {
    *lo = -INFINITY, *hi = INFINITY;
    if (n->op == HD_IR_relu) {
        *lo = 0.0f;
        return true;
    }
    for (int i = 1; n->op == HD_IR_clip && i < n->n_in; i++) {
        if (n->in[i] < 0) continue;
        const float *v = g->tensors[n->in[i]].data;
        if (!v || isnan(*v)) return false;
        *(i == 1 ? lo : hi) = *v;
    }
    if (*lo > *hi) *lo = *hi; /* min(max(x, lo), hi) */
    return n->op == HD_IR_clip;
}

static float clamp(float v, float lo, float hi) {
    return v < lo ? lo : v > hi ? hi : v;
}

/* Walks up over activations and sets value, lo, hi. */
static bool open_match(hd_ctx *ctx, hd_graph *g, int q, struct hd_qmatch *m) {
    float lo = -INFINITY, hi = INFINITY, l, h;
    *m = (struct hd_qmatch){.ctx = ctx, .g = g, .q = q, .value = g->nodes[q].in[0]};
    if (!hd_qdq_param_any(g, &g->nodes[q], &m->y)) return false;
    for (const struct hd_node *n; (n = hd_qdq_maker(g, m->value)) && act_bounds(g, n, &l, &h);) {
        l = clamp(l, lo, hi), h = clamp(h, lo, hi);
        lo = l, hi = h;
        m->value = n->in[0];
    }
    int min = hd_dtype_least(m->y.type), max = hd_dtype_most(m->y.type);
    m->lo = hd_requant(lo / m->y.scale, m->y.zp, min, max);
    m->hi = hd_requant(hi / m->y.scale, m->y.zp, min, max);
    return true;
}

/* ---- patterns ---- */

/* Readers of quantize's output read x; a graph output stays behind a qrescale by 1. */
static bool match_rescale(struct hd_qmatch *m) {
    struct hd_qparam p;
    int x, y = m->g->nodes[m->q].out[0];
    if (!hd_qdq_dequantized_any(m->g, m->value, &x, &p)) return false;
    bool same = p.scale == m->y.scale && p.zp == m->y.zp && p.type == m->y.type &&
                m->lo == hd_dtype_least(p.type) && m->hi == hd_dtype_most(p.type);
    if (same && !hd_graph_is_output(m->g, y)) {
        hd_graph_kill(m->g, m->q);
        hd_graph_replace(m->g, y, x);
        return true;
    }
    int id = hd_qdq_emit(m, HD_IR_qrescale, m->q, 1, &x);
    hd_attr_set_int(m->g, id, "x_zp", p.zp);
    hd_attr_set_float(m->g, id, "scale", p.scale / m->y.scale);
    return true;
}

static bool match_conv(struct hd_qmatch *m, int node) {
    const struct hd_node n = m->g->nodes[node];
    struct hd_qparam x;
    struct hd_qweights w;
    int in[4];
    if (!hd_qdq_dequantized_any(m->g, n.in[0], &in[0], &x) ||
        !hd_qdq_weights(m->g, n.in[1], 0, false, &w))
        return false;
    in[1] = w.tensor;
    if (!hd_qdq_bias(m->g, n.n_in > 2 ? n.in[2] : -1, &w, x.scale, &in[2]) ||
        !hd_qdq_sums_fit(m->g, &w, in[2], &x))
        return false;
    if (!hd_qdq_scale(m->g, &w, x.scale, m->y.scale, &in[3])) return false;
    int id = hd_qdq_emit(m, HD_IR_qconv, node, 4, in);
    hd_qdq_copy_attrs(m->g, id, node, true);
    hd_attr_set_int(m->g, id, "x_zp", x.zp);
    return true;
}

/* The window as pads and output_padding, whatever form it came in. */
static void set_transposed_window(struct hd_qmatch *m, int id, int node, const struct hd_tensor *x,
                                  const struct hd_tensor *w) {
    struct hd_window_nd v;
    int64_t pads[2 * HD_MAX_SPATIAL], extra[HD_MAX_SPATIAL];
    hd_status s = hd_window_transposed_get(m->ctx, &m->g->nodes[node], x, w->dim + 2, &v);
    HD_ASSERT(s == HD_OK); /* verified */
    for (int i = 0; i < v.sp; i++) {
        int64_t after = (v.in[i] - 1) * v.stride[i] + (v.kernel[i] - 1) * v.dilation[i] + 1 -
                        v.before[i] - v.out[i];
        pads[i] = v.before[i];
        pads[v.sp + i] = hd_max(after, 0);
        extra[i] = hd_max(-after, 0);
    }
    hd_attr_set_ints(m->g, id, "kernel_shape", v.sp, v.kernel);
    hd_attr_set_ints(m->g, id, "strides", v.sp, v.stride);
    hd_attr_set_ints(m->g, id, "dilations", v.sp, v.dilation);
    hd_attr_set_ints(m->g, id, "pads", 2 * v.sp, pads);
    hd_attr_set_ints(m->g, id, "output_padding", v.sp, extra);
}

static bool match_convtranspose(struct hd_qmatch *m, int node) {
    const struct hd_node n = m->g->nodes[node];
    const struct hd_tensor shape = m->g->tensors[n.in[1]];
    int64_t group = hd_attr_int(&n, "group", 1);
    struct hd_qparam x;
    struct hd_qweights w;
    int in[4];
    if (!hd_qdq_dequantized_any(m->g, n.in[0], &in[0], &x) ||
        !hd_qdq_weights(m->g, n.in[1], 1, false, &w))
        return false;
    hd_qdq_transpose_weights(m->g, group, &w);
    in[1] = w.tensor;
    if (!hd_qdq_bias(m->g, n.n_in > 2 ? n.in[2] : -1, &w, x.scale, &in[2]) ||
        !hd_qdq_sums_fit(m->g, &w, in[2], &x))
        return false;
    if (!hd_qdq_scale(m->g, &w, x.scale, m->y.scale, &in[3])) return false;
    const struct hd_tensor xt = m->g->tensors[in[0]];
    int id = hd_qdq_emit(m, HD_IR_qconvtranspose, node, 4, in);
    set_transposed_window(m, id, node, &xt, &shape);
    hd_attr_set_int(m->g, id, "group", group);
    hd_attr_set_int(m->g, id, "x_zp", x.zp);
    return true;
}

/* x is brought to [rows, K]: by a transpose when it comes as [K, rows], by a reshape when it has
 * other ranks. */
static int gemm_operand(hd_graph *g, int x, bool transposed) {
    struct hd_tensor t = g->tensors[x];
    if (transposed) {
        int64_t dim[2] = {t.dim[1], t.dim[0]}, perm[2] = {1, 0};
        int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.t", t.name), t.dtype, 2, dim);
        move_node(g, HD_IR_transpose, x, y, "perm", 2, perm);
        return y;
    }
    if (t.rank == 2) return x;
    int64_t k = t.dim[t.rank - 1], dim[2] = {k ? hd_tensor_elems(&t) / k : 0, k};
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.rows", t.name), t.dtype, 2, dim);
    move_node(g, HD_IR_reshape, x, y, "shape", 2, dim);
    return y;
}

/* gemm, or matmul by constant [K,N]; bias: tensor id or -1. */
static bool match_gemm(struct hd_qmatch *m, int node, int bias) {
    const struct hd_node n = m->g->nodes[node];
    bool is_gemm = n.op == HD_IR_gemm, ta = is_gemm && hd_attr_int(&n, "transA", 0) != 0;
    bool swap = !is_gemm || !hd_attr_int(&n, "transB", 0);
    struct hd_qparam x;
    struct hd_qweights w;
    int in[4];
    if (is_gemm && (hd_attr_float(&n, "alpha", 1) != 1.0f || hd_attr_float(&n, "beta", 1) != 1.0f))
        return false;
    if (m->g->tensors[n.in[1]].rank != 2 || !hd_qdq_dequantized_any(m->g, n.in[0], &in[0], &x))
        return false;
    if (!hd_qdq_weights(m->g, n.in[1], swap ? 1 : 0, swap, &w)) return false;
    in[1] = w.tensor;
    if (!hd_qdq_bias(m->g, bias, &w, x.scale, &in[2]) || !hd_qdq_sums_fit(m->g, &w, in[2], &x))
        return false;
    if (!hd_qdq_scale(m->g, &w, x.scale, m->y.scale, &in[3])) return false;
    in[0] = gemm_operand(m->g, in[0], ta);
    int y = m->g->nodes[m->q].out[0], rows = y;
    const struct hd_tensor yt = m->g->tensors[y];
    if (yt.rank != 2) {
        int64_t dim[2] = {m->g->tensors[in[0]].dim[0], w.n};
        rows =
            hd_graph_tensor(m->g, hd_sprintf(m->g->arena, "%s.rows", yt.name), m->y.type, 2, dim);
    }
    hd_graph_kill(m->g, m->q);
    int id = hd_qdq_emit_to(m, HD_IR_qgemm, node, 4, in, rows);
    hd_attr_set_int(m->g, id, "x_zp", x.zp);
    if (rows != y) {
        int back = move_node(m->g, HD_IR_reshape, rows, y, "shape", yt.rank, yt.dim);
        hd_graph_swap_names(m->g, back, m->q);
    }
    return true;
}

/* add(gemm | matmul, bias), either way round. */
static bool match_gemm_bias(struct hd_qmatch *m, int node) {
    for (int side = 0; side < 2; side++) {
        const struct hd_node *add = &m->g->nodes[node];
        const struct hd_node *p = hd_qdq_maker(m->g, add->in[side]);
        bool product =
            p && (p->op == HD_IR_matmul || (p->op == HD_IR_gemm && (p->n_in < 3 || p->in[2] < 0)));
        if (!product || m->g->tensors[add->in[side]].rank != m->g->tensors[add->out[0]].rank)
            continue;
        if (match_gemm(m, m->g->tensors[add->in[side]].producer, add->in[1 - side])) return true;
    }
    return false;
}

/* Sums and differences. */
static bool match_add(struct hd_qmatch *m, int node) {
    const struct hd_node n = m->g->nodes[node];
    struct hd_qparam p[2];
    int in[2];
    if (!hd_qdq_pair(m, node, in, p)) return n.op == HD_IR_add && match_gemm_bias(m, node);
    float sign = n.op == HD_IR_sub ? -1.0f : 1.0f;
    int id = hd_qdq_emit_pair(m, HD_IR_qadd, node, in);
    hd_attr_set_int(m->g, id, "a_zp", p[0].zp);
    hd_attr_set_int(m->g, id, "b_zp", p[1].zp);
    hd_attr_set_float(m->g, id, "a_scale", p[0].scale / m->y.scale);
    hd_attr_set_float(m->g, id, "b_scale", sign * (p[1].scale / m->y.scale));
    return true;
}

/* Products and quotients. */
static bool match_mul(struct hd_qmatch *m, int node) {
    struct hd_qparam p[2];
    int in[2];
    if (!hd_qdq_pair(m, node, in, p)) return false;
    bool div = m->g->nodes[node].op == HD_IR_div;
    float scale = div ? p[0].scale / p[1].scale : p[0].scale * p[1].scale;
    int id = hd_qdq_emit_pair(m, div ? HD_IR_qdiv : HD_IR_qmul, node, in);
    hd_attr_set_int(m->g, id, "a_zp", p[0].zp);
    hd_attr_set_int(m->g, id, "b_zp", p[1].zp);
    hd_attr_set_float(m->g, id, "scale", scale / m->y.scale);
    return true;
}

/* A mean of n integers of scale x may be half a step of y: of a sum S, S x / (n y) = k + 1/2. With
 * x / y = p / q in lowest terms the odd part of q divides S. Of many values few means are that. */
static bool may_tie(float x, float y, int64_t n) {
    enum { MANY = 1024, LARGEST = 255, DIGITS = 24 };
    int64_t p = (int64_t)ldexpf(frexpf(fabsf(x), &(int){0}), DIGITS),
            q = (int64_t)ldexpf(frexpf(fabsf(y), &(int){0}), DIGITS);
    if (p < 1 || q < 1) return true;
    for (q /= hd_gcd(p, q); q % 2 == 0;) q /= 2;
    return n < MANY && q <= LARGEST * n;
}

/* The mean of the whole image x; a signal [N,C,L] is one of one row. */
static bool emit_mean(struct hd_qmatch *m, int node, int x, struct hd_qparam p, float n) {
    hd_graph *g = m->g;
    const struct hd_tensor t = g->tensors[x];
    bool ties = t.dtype == HD_I16 || may_tie(p.scale, m->y.scale, (int64_t)n);
    int mean;
    if (t.rank == 4) {
        mean = hd_qdq_emit(m, HD_IR_qmean, node, 1, &x);
    } else {
        int y = g->nodes[m->q].out[0];
        int64_t image[4] = {t.dim[0], t.dim[1], 1, t.dim[2]}, one[4] = {t.dim[0], t.dim[1], 1, 1};
        int made = hd_graph_tensor(g, g->tensors[y].name, m->y.type, 4, one);
        x = hd_moved(g, HD_IR_reshape, x, 4, image, "shape", image, -1);
        hd_graph_kill(g, m->q);
        mean = hd_qdq_emit_to(m, HD_IR_qmean, node, 1, &x, made);
        hd_moved(g, HD_IR_reshape, made, 3, one, "shape", one, y);
    }
    hd_attr_set_int(g, mean, "x_zp", p.zp);
    hd_attr_set_float(g, mean, "x_scale", ties ? p.scale : 1);
    hd_attr_set_float(g, mean, "scale", (ties ? 1 : p.scale) / (n * m->y.scale));
    return true;
}

static bool match_avgpool(struct hd_qmatch *m, int node) {
    struct hd_qparam p;
    struct hd_window v;
    int x;
    if (!hd_qdq_dequantized_any(m->g, m->g->nodes[node].in[0], &x, &p)) return false;
    if (hd_window_get(m->ctx, &m->g->nodes[node], &m->g->tensors[x], NULL, &v) != HD_OK) {
        hd_clear(m->ctx); /* three dimensions */
        return false;
    }
    if (v.kh == v.h && v.kw == v.w && v.dy == 1 && v.dx == 1 && hd_window_inside(&v))
        return emit_mean(m, node, x, p, (float)(v.h * v.w));
    int id = hd_qdq_emit(m, HD_IR_qavgpool, node, 1, &x);
    hd_qdq_copy_attrs(m->g, id, node, true);
    if (hd_attr_int(&m->g->nodes[node], "count_include_pad", 0))
        hd_attr_set_int(m->g, id, "count_include_pad", 1);
    hd_attr_set_int(m->g, id, "x_zp", p.zp);
    float divisor = m->y.scale * (float)(v.kh * v.kw);
    hd_attr_set_float(m->g, id, "scale", p.scale / divisor);
    return true;
}

/* A reduction of a quantised tensor that is quantised again. */
static bool reduction(hd_graph *g, int node) {
    struct hd_qparam p;
    int x;
    enum hd_ir_op op = g->nodes[node].op;
    if (op != HD_IR_reducemean && op != HD_IR_reducesum && op != HD_IR_reducemax) return false;
    if (!hd_qdq_dequantized(g, g->nodes[node].in[0], &x, &p)) return false;
    for (int n = node; (n = hd_graph_only_user(g, g->nodes[n].out[0])) >= 0;) {
        const struct hd_node *u = &g->nodes[n];
        if (u->op == HD_IR_quantize) return hd_reduce_as_window(g, node, false);
        if (u->op != HD_IR_relu && u->op != HD_IR_clip && u->op != HD_IR_reshape) return false;
    }
    return false;
}

/* A function of one tensor, though a product. */
static bool is_square(const struct hd_node *n) {
    return n->op == HD_IR_mul && n->in[0] == n->in[1];
}

static bool match_quantize(hd_ctx *ctx, hd_graph *g, int q) {
    struct hd_qmatch m;
    if (!open_match(ctx, g, q, &m)) return false;
    int node = g->tensors[m.value].producer;
    if (node < 0) return false;
    if (is_square(&g->nodes[node]) && hd_qdq_table(ctx, g, q)) return true;
    switch (g->nodes[node].op) {
    case HD_IR_dequantize:
        return match_rescale(&m);
    case HD_IR_conv:
        return match_conv(&m, node);
    case HD_IR_convtranspose:
        return match_convtranspose(&m, node);
    case HD_IR_matmul:
        return match_gemm(&m, node, -1) || hd_qdq_product(&m);
    case HD_IR_gemm:
        return match_gemm(&m, node, g->nodes[node].n_in > 2 ? g->nodes[node].in[2] : -1) ||
               hd_qdq_product(&m);
    case HD_IR_softmax:
        return m.y.type != HD_I16 && hd_qdq_softmax(&m, node);
    case HD_IR_layernorm:
        return m.y.type != HD_I16 && hd_qdq_layernorm(&m, node);
    case HD_IR_add:
    case HD_IR_sub:
        return match_add(&m, node);
    case HD_IR_mul:
    case HD_IR_div:
        return match_mul(&m, node) || hd_qdq_product(&m);
    case HD_IR_avgpool:
        return match_avgpool(&m, node);
    case HD_IR_resize:
        return m.y.type != HD_I16 && hd_qdq_resize(&m, node);
    default:
        return false;
    }
}

hd_status hd_pass_qdq(hd_ctx *ctx, hd_graph *g) {
    TRY(hd_qdq_move_constants(ctx, g));
    for (size_t i = 0, n = g->n_nodes; i < n; i++) hd_qdq_clip(g, (int)i);
    hd_qdq_same_bytes(g);
    hd_qdq_fold_norms(g);
    for (bool changed = true; changed;) {
        changed = false;
        size_t n = g->n_nodes; /* new nodes wait for the next round */
        int *order = malloc((n + 1) * sizeof *order);
        HD_MEMORY(order);
        n = hd_graph_order(g, order);
        for (size_t i = 0; i < n; i++) {
            const struct hd_node *nd = &g->nodes[order[i]];
            if (nd->dead) continue;
            if (reduction(g, order[i]) || hd_qdq_push_down(g, order[i]) ||
                hd_qdq_position(g, order[i]))
                changed = true;
            else if (nd->op == HD_IR_lstm || nd->op == HD_IR_gru || nd->op == HD_IR_rnn)
                changed = hd_qdq_recurrent(ctx, g, order[i]) || changed;
            else if (nd->op == HD_IR_quantize)
                changed = match_quantize(ctx, g, order[i]) || hd_qdq_table(ctx, g, order[i]) ||
                          hd_qdq_pull_up(g, order[i]) || changed;
        }
        free(order);
        hd_pass_dce(g);
    }
    hd_qdq_turn_products(g);
    hd_pass_dce(g);
    hd_qdq_unsigned_weights(g);
    return HD_OK;
}
