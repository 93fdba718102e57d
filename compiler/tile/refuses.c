/* Which nodes the machine cannot run, why, and what would change it: the text that users read.
 *
 * needs: a legalised, verified graph
 * gives: NULL for a node that the machine can run, else the reason and a hint
 * destroys: nothing
 */
#include "compiler/ir/window.h"
#include "compiler/tile/layer.h"
#include "runtime/base/num.h"

static bool is_byte(const struct hd_tensor *t) {
    return t->dtype == HD_I8 || t->dtype == HD_U8;
}

static const char *refuses_matmul(const hd_graph *g, const struct hd_node *n, const char **hint) {
    const struct hd_tensor *w = &g->tensors[n->in[1]];
    if (!w->data || !g->tensors[n->in[2]].data || !g->tensors[n->in[3]].data) {
        *hint = "export the network with constant weights";
        return "weights, bias or scale are not constant";
    }
    if (hd_weight_planes(w) > HD_PLANES) {
        *hint = "quantise weights to int8";
        return "weights have more than 9 bits";
    }
    if (n->op != HD_IR_qgemm && g->tensors[n->in[0]].rank > 4) {
        *hint = "split it into 2-D convolutions";
        return "convolution has more than two dimensions";
    }
    return NULL;
}

/* Every pixel of a block has a PM word of its own, and a chunk takes at most a quarter of PM. */
static const char *refuses_transposed(const struct hd_lowering *lo, const struct hd_node *n,
                                      const char **hint) {
    int64_t stride[2] = {1, 1};
    hd_attr_ints(n, "strides", stride, lo->g->tensors[n->in[0]].rank - 2, 1);
    if (n->op != HD_IR_qconvtranspose || stride[0] * stride[1] <= hd_pm_words(lo->m) / 4)
        return NULL;
    *hint = "split the upsampling into two layers, or use a machine with a larger pm_bytes";
    return "strides need more than a quarter of the parameter memory";
}

/* Some window has no tap inside the image, which dilated ones can. */
static bool misses_image(const struct hd_lowering *lo, const struct hd_node *n) {
    struct hd_window v;
    if (hd_window_get(lo->ctx, n, &lo->g->tensors[n->in[0]], NULL, &v) != HD_OK) return true;
    for (int way = 0; way < 2; way++) {
        int64_t stride = way ? v.sx : v.sy, step = way ? v.dx : v.dy, size = way ? v.w : v.h;
        for (int64_t o = 0; o < (way ? v.ow : v.oh); o++) {
            int64_t start = o * stride - (way ? v.pl : v.pt);
            int64_t first = start < 0 ? hd_ceil_div(-start, step) : 0;
            if (first >= (way ? v.kw : v.kh) || start + first * step >= size) return true;
        }
    }
    return false;
}

/* An operand of a sum or product is read again for each image, row or column that it lacks. */
static const char *refuses_broadcast(const struct hd_lowering *lo, int in, int out,
                                     const struct hd_mtensor *x) {
    struct hd_mtensor y;
    if (!hd_machine_shape(lo, out, &y)) return NULL; /* has its own message */
    if (x->c != y.c) return "an operand broadcasts along channels";
    bool same = lo->g->tensors[in].rank == lo->g->tensors[out].rank;
    return same || (x->n == y.n && x->h == y.h && x->w == y.w) ? NULL : "operands differ in rank";
}

static bool operand_shape(const struct hd_lowering *lo, const struct hd_node *n, int i,
                          struct hd_mtensor *out) {
    return hd_machine_shape(lo, n->in[i], out) ||
           (hd_takes_constants(n->op) && hd_constant_shape(lo, n->in[i], out));
}

const char *hd_machine_refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
    const hd_graph *g = lo->g;
    const struct hd_node *n = &g->nodes[node];
    struct hd_mtensor a = {0}, b = {0}, first = {0};
    *out_hint = "use a machine with larger memories (--machine, --set)";
    if (lo->too_big[node]) return lo->too_big[node];
    *out_hint = "";
    if (hd_is_recurrent(n)) return hd_recurrent_refuses(lo, n, out_hint);
    switch (n->op) {
    case HD_IR_qconv:
    case HD_IR_qconvtranspose:
    case HD_IR_qgemm: {
        const char *why = refuses_matmul(g, n, out_hint);
        if (!why) why = refuses_transposed(lo, n, out_hint);
        if (why) return why;
        break;
    }
    case HD_IR_qavgpool:
    case HD_IR_qmaxpool:
        if (g->tensors[n->in[0]].rank > 4) return "window has more than two dimensions";
        if (misses_image(lo, n)) return "a window lies beside the image";
        break;
    case HD_IR_qtable:
        if (!g->tensors[n->in[1]].data) return "the table is not constant";
        break;
    case HD_IR_qresize:
        for (int i = 1; i < 5; i++)
            if (!g->tensors[n->in[i]].data) return "where it reads is known in the run only";
        break;
    case HD_IR_qsoftmax:
    case HD_IR_qlayernorm: {
        const char *why = hd_rows_refuses(lo, n, out_hint);
        if (why) return why;
        break;
    }
    case HD_IR_qmatmul: {
        const char *why = hd_bmm_refuses(lo, n, out_hint);
        if (why) return why;
        break;
    }
    case HD_IR_qadd:
    case HD_IR_qmul:
    case HD_IR_qrescale:
    case HD_IR_qmean:
        break;
    case HD_IR_dynamicquantize:
    case HD_IR_convinteger:
    case HD_IR_matmulinteger:
        *out_hint = "make its scales constant: heddle quantize";
        return n->op == HD_IR_dynamicquantize ? "its scale is known in the run only"
                                              : "its sums are not quantised by constant scales";
    default:
        if (hd_is_move(g, n)) {
            const char *why = hd_move_refuses(lo, node, out_hint);
            if (why) return why;
            break;
        }
        if (n->out[0] >= 0 && is_byte(&g->tensors[n->out[0]])) {
            *out_hint = n->op == HD_IR_quantize ? "feed integers to the network" : "";
            return n->op == HD_IR_quantize ? "reads float at the border of the network"
                                           : "the back end has no lowering of this operation";
        }
        *out_hint =
            "quantise the node (heddle quantize, or QDQ around it), or leave it at the border of "
            "the network";
        return "computes in float; the machine works on int8";
    }
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] < 0) continue;
        if (g->tensors[n->in[i]].data && i > 0 && !hd_takes_constants(n->op)) continue;
        if (!operand_shape(lo, n, i, &a)) {
            *out_hint = "int8 or uint8 tensors, not constant, with dimensions up to 65535";
            return "operand has no machine layout";
        }
        if (i == 0) first = a;
        if (n->op == HD_IR_qadd || n->op == HD_IR_qmul) {
            if (a.rows != first.rows) return "operands have different layouts";
            const char *why = refuses_broadcast(lo, n->in[i], n->out[0], &a);
            if (why) return why;
        }
    }
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] >= 0 && !hd_machine_shape(lo, n->out[i], &b)) {
            *out_hint = "int8 or uint8 tensors with dimensions up to 65535";
            return "result has no machine layout";
        }
    if (!hd_is_move(g, n) && b.rows != first.rows)
        return "operand and result have different layouts";
    return NULL;
}
