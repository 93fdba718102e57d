/* Completion: networks that give scales to some tensors only become integers throughout.
 *
 * Files for TensorRT and the like quantise what a layer reads and leave float what it makes, since
 * there an activation or a sum is fused into the layer. Others quantise around operations that have
 * no integer form by themselves. What lies between dequantize and quantize gets forms that have
 * one, and scales: those of a quantize that reads the tensor, else of the range that bounds.c finds
 * around it. Values then differ from those of the file by the rounding of tensors that it keeps in
 * float; heddle quantize gives them scales by data instead.
 *
 * needs: shapes; qdq before it, so that float nodes are those that have no integer form yet
 * gives: quantize and dequantize around them, as heddle quantize places them (choose.c), for qdq
 * destroys: float nodes inside that get other forms
 *
 * Stays float: layers with float weights (their author left them so), what is in front of the first
 * quantize or behind the last dequantize, what makes an output of the network, and what nothing
 * bounds or 8 bits do not hold. */
#include "compiler/quantize/affine.h"
#include "compiler/quantize/bounds.h"

#include <math.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "cpu_ref/golden.h"

/* Softmax tells apart what differs by a part of this. */
static const float SOFTMAX_STEP = 0.5f;

/* ---- where ---- */

static bool is_layer(enum hd_ir_op op) {
    return op == HD_IR_conv || op == HD_IR_convtranspose || op == HD_IR_gemm || op == HD_IR_matmul;
}

static bool is_float(const hd_graph *g, int t) {
    return t >= 0 && g->tensors[t].known && g->tensors[t].dtype == HD_F32;
}

/* Per node: float, with a dequantized tensor in front of it and a quantize behind it. */
static bool *inside(const hd_graph *g, hd_arena *a, const int *order, size_t n, bool *out_any) {
    bool *is = hd_new_array(a, bool, g->n_nodes + 1),
         *below = hd_new_array(a, bool, g->n_tensors + 1),
         *above = hd_new_array(a, bool, g->n_tensors + 1);
    struct hd_qparam p;
    int x;
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *nd = &g->nodes[order[i]];
        bool is_below = false;
        if (nd->op == HD_IR_dequantize)
            is_below = hd_qdq_dequantized(g, nd->out[0], &x, &p) && !g->tensors[x].data;
        else if (nd->op != HD_IR_quantize)
            for (int k = 0; k < nd->n_in; k++)
                is_below = is_below || (is_float(g, nd->in[k]) && below[nd->in[k]]);
        for (int k = 0; k < nd->n_out; k++)
            if (is_float(g, nd->out[k])) below[nd->out[k]] = is_below;
    }
    *out_any = false;
    while (n--) {
        const struct hd_node *nd = &g->nodes[order[n]];
        bool is_above = nd->op == HD_IR_quantize && hd_qdq_param(g, nd, &p), out = false;
        for (int k = 0; k < nd->n_out; k++)
            if (is_float(g, nd->out[k])) {
                is_above = is_above || above[nd->out[k]];
                out = out || below[nd->out[k]];
            }
        if (nd->op == HD_IR_dequantize) continue;
        for (int k = 0; k < nd->n_in && is_above; k++)
            if (is_float(g, nd->in[k])) above[nd->in[k]] = true;
        is[order[n]] = is_above && out && nd->op != HD_IR_quantize;
        *out_any = *out_any || is[order[n]];
    }
    return is;
}

/* ---- forms ---- */

/* Dequantised constants of what is no layer are constants. */
static hd_status fold_operands(hd_ctx *ctx, hd_graph *g, int node, bool *out_changed) {
    const struct hd_node *n = &g->nodes[node];
    for (int i = 0; !is_layer(n->op) && i < n->n_in; i++) {
        if (!hd_qdq_constant(g, n->in[i])) continue;
        hd_status s = hd_fold_node(ctx, g, g->tensors[n->in[i]].producer);
        if (s != HD_OK && s != HD_UNSUPPORTED) return s;
        if (s != HD_OK) hd_clear(ctx); /* a type without a kernel: it stays */
        *out_changed = *out_changed || s == HD_OK;
    }
    return HD_OK;
}

/* One node gets a form that has integers; the graph's node array may move. */
static bool reform(hd_graph *g, hd_arena *a, int node) {
    const struct hd_node n = g->nodes[node];
    if (hd_quant_mask_as_sum(g, node) || hd_quant_lrn(g, node) || hd_quant_extreme(g, node))
        return true;
    if ((n.op == HD_IR_instancenorm || n.op == HD_IR_groupnorm) && hd_quant_instance(g, node))
        return true;
    if (n.op == HD_IR_resize && hd_quant_volume_resize(g, node)) return true;
    if (hd_reduce_as_window(g, node, false)) return true;
    int next = hd_graph_only_user(g, n.out[0]);
    return next >= 0 && is_layer(n.op) && hd_quant_ready_absorb(g, a, node, next);
}

/* Until nothing changes. *out_inside = the nodes then, *out_old: those that are the file's. */
static hd_status reform_all(hd_ctx *ctx, hd_graph *g, hd_arena *a, bool **out_inside,
                            size_t *out_old) {
    bool changed = true, any = true;
    *out_old = g->n_nodes;
    while (changed) {
        int *order = hd_new_array(a, int, g->n_nodes + 1);
        size_t n = hd_graph_order(g, order);
        bool *is = inside(g, a, order, n, &any);
        *out_inside = any ? is : NULL;
        if (!any) return HD_OK;
        changed = false;
        for (size_t i = 0; i < n; i++) {
            if (!is[order[i]] || g->nodes[order[i]].dead) continue;
            TRY(fold_operands(ctx, g, order[i], &changed));
            changed = reform(g, a, order[i]) || changed;
        }
        if (!changed) changed = hd_quant_canonical(g, a, is);
        if (changed) TRY(hd_graph_infer(ctx, g));
    }
    return HD_OK;
}

/* ---- what ---- */

/* Why nodes stay as they are; those from `old` on are made here. */
static const char **kept(const hd_graph *g, hd_arena *a, const bool *is, size_t old) {
    const char **keep = hd_new_array(a, const char *, g->n_nodes + 1);
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (n->dead || n->op == HD_IR_quantize || n->op == HD_IR_dequantize) continue;
        if (!is[i]) keep[i] = "not between integers";
        if (i < old && hd_quant_weights(g, (int)i) >= 0) keep[i] = "its weights are float";
        if (i < old && (n->op == HD_IR_lstm || n->op == HD_IR_gru || n->op == HD_IR_rnn))
            keep[i] = "its weights are float";
        for (int k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0 && hd_graph_is_output(g, n->out[k])) keep[i] = "an output";
    }
    return keep;
}

/* The scores that softmax reads, or those in the sum of them and a mask, where steps of theirs are
 * too large for it; -1: they are not. */
static int coarse_scores(const hd_graph *g, const struct hd_quant_plan *p,
                         const struct hd_quant_stats *stats, int node) {
    if (g->nodes[node].op != HD_IR_softmax || !p->layer[node]) return -1;
    int t = hd_qdq_behind_moves(g, g->nodes[node].in[0]), maker = g->tensors[t].producer;
    if (maker >= 0 && p->mask[maker] >= 0)
        t = hd_qdq_behind_moves(
            g, g->nodes[maker].in[g->nodes[maker].in[0] == p->mask[maker] ? 1 : 0]);
    bool found = !p->given[t] && p->like[p->group[t]] < 0;
    return found && (stats[t].hi - stats[t].lo) / 255 > SOFTMAX_STEP ? t : -1;
}

/* The layer that makes t; -1 = none. */
static int layer_of(const struct hd_quant_plan *p, int t) {
    for (size_t i = 0; t >= 0 && i < p->n_nodes; i++)
        if (p->layer[i] && p->result[i] == t) return (int)i;
    return -1;
}

/* Integers with a scale of their own, which nothing bounds. */
static bool is_unbounded(const struct hd_quant_plan *p, const struct hd_quant_stats *stats, int t) {
    return t >= 0 && p->observe[t] && !p->given[t] && p->like[p->group[t]] < 0 &&
           stats[t].not_finite;
}

/* Nodes whose results or operands have no range that is worth it, each the first on its way. True:
 * there are some, which are kept now. */
static bool keep_unbounded(const hd_graph *g, const struct hd_quant_plan *p,
                           const struct hd_quant_stats *stats, const char **keep) {
    bool found = false;
    for (size_t i = 0; i < p->n_nodes; i++) {
        if (g->nodes[i].dead || keep[i]) continue;
        const struct hd_node *n = &g->nodes[i];
        int scores = layer_of(p, coarse_scores(g, p, stats, (int)i));
        bool result = false, side = false, made = false;
        if (p->why[i]) continue;
        for (int k = 0; k < n->n_out; k++) result = result || is_unbounded(p, stats, n->out[k]);
        for (int k = 0; k < n->n_in; k++) {
            bool is = is_unbounded(p, stats, n->in[k]);
            side = side || (is && !p->made[n->in[k]]);
            made = made || (is && p->made[n->in[k]]); /* its maker goes first */
        }
        if (scores >= 0)
            keep[scores] = "softmax needs smaller steps than its range has", found = true;
        if (made || (!result && !side)) continue;
        keep[i] = "nothing bounds its values closely";
        found = true;
    }
    return found;
}

/* There are no data to measure by. True: there are some, which are kept now. */
static bool keep_doubtful(const struct hd_quant_plan *p, const char **keep) {
    bool found = false;
    for (size_t i = 0; i < p->n_nodes; i++)
        if (p->doubt[i]) keep[i] = p->doubt[i], found = true;
    return found;
}

static int count_scales(const struct hd_quant_plan *p) {
    int found = 0;
    for (size_t t = 0; t < p->n_tensors; t++)
        found += p->observe[t] && !p->given[t] && p->like[p->group[t]] < 0;
    return found;
}

hd_status hd_quant_complete(hd_ctx *ctx, hd_graph *g, bool *out_changed) {
    hd_arena *a = hd_arena_create();
    bool *is = NULL;
    size_t old = 0;
    *out_changed = false;
    /* shapes that are those of one run may not be built on */
    hd_status s = g->specialised ? HD_OK : reform_all(ctx, g, a, &is, &old);
    if (s == HD_OK && is) {
        struct hd_quant_options o = {.range = HD_RANGE_MINMAX, .type = HD_I8};
        struct hd_quant_stats *stats = hd_new_array(a, struct hd_quant_stats, g->n_tensors + 1);
        struct hd_quant_plan plan;
        const char **keep = kept(g, a, is, old);
        do {
            do hd_quant_choose(a, g, keep, &plan);
            while (keep_doubtful(&plan, keep));
            hd_quant_bounds(ctx, g, &plan, stats);
        } while (keep_unbounded(g, &plan, stats, keep));
        g->scales_found += count_scales(&plan);
        s = hd_quant_apply(ctx, g, &plan, stats, &o);
        *out_changed = true;
    }
    hd_arena_destroy(a);
    return s;
}
