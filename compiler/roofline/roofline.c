/* Bounds of MX, of VX and of recurrences, node by node. */
#include "compiler/roofline/roofline.h"

#include <string.h>

#include "isa/isa.h"
#include "runtime/base/num.h"

/* Taps of a lane that the sliding window multiplies in a cycle: the columns of vx.dw. */
enum { TAPS_A_CYCLE = 3 };

struct sides { /* of a window, of its image and of what it makes; one dimension: rows of 1 */
    int64_t kh, kw, h, w, oh, ow;
};

static struct sides sides_of(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    int64_t k[2] = {1, 1};
    bool rows = x->rank > 3;
    hd_attr_ints(n, "kernel_shape", rows ? k : k + 1, rows ? 2 : 1, 1);
    return (struct sides){k[0],
                          k[1],
                          rows ? x->dim[2] : 1,
                          x->dim[x->rank - 1],
                          rows ? y->dim[2] : 1,
                          y->dim[y->rank - 1]};
}

/* A window of each channel alone, by whichever side it slides along. */
static int64_t sliding_lanes(const hd_graph *g, const struct hd_node *n, int64_t results) {
    struct sides s = sides_of(g, n);
    return results *
           hd_min(s.kh * hd_ceil_div(s.kw, TAPS_A_CYCLE), s.kw * hd_ceil_div(s.kh, TAPS_A_CYCLE));
}

/* Windows are as wide as the array; their sums pass the lanes in so many cycles. */
static int64_t conv_lanes(const hd_graph *g, const struct hd_node *n, int64_t results,
                          int64_t cycles) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *w = &g->tensors[n->in[1]];
    int64_t group = hd_attr_int(n, "group", 1);
    if (group == 1 || group != x->dim[1]) return results;
    if (n->op == HD_IR_qconv && x->rank > 2 && w->dim[1] == 1)
        return hd_max(results, sliding_lanes(g, n, results / cycles));
    return hd_max(results, hd_node_macs(g, n) / TAPS_A_CYCLE);
}

/* A window that reduces at once, or first its rows or its columns. */
static int64_t pool_lanes(const hd_graph *g, const struct hd_node *n, int64_t results) {
    struct sides s = sides_of(g, n);
    int64_t out = s.oh * s.ow, rows_first = s.kh * s.oh * s.w + s.kw * out,
            columns_first = s.kw * s.h * s.ow + s.kh * out;
    if (!out) return 0;
    return results / out * hd_min(s.kh * s.kw * out, hd_min(rows_first, columns_first));
}

/* Between two neighbours of a row, then of a column, or the other way round. */
static int64_t resize_lanes(const hd_graph *g, const struct hd_node *n, int64_t results) {
    struct sides s = sides_of(g, n);
    int64_t out = s.oh * s.ow;
    bool rows = s.oh != s.h, columns = s.ow != s.w;
    if (!out || !rows || !columns) return results;
    return results / out *
           (out + hd_min(hd_min(s.h, 2 * s.oh) * s.ow, hd_min(s.w, 2 * s.ow) * s.oh));
}

/* A machine's work: integers of a byte come in or go out. */
static bool has_bounds(const hd_graph *g, const struct hd_node *n) {
    if (n->dead || n->n_in < 1 || n->n_out < 1 || n->in[0] < 0 || n->out[0] < 0) return false;
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    return x->known && y->known && !x->data && !hd_attr_int(n, "moves", 0);
}

/* A function of one byte joins the operation that makes its operand, where nothing else reads it:
 * that one's node, or -1. */
static int joins_maker(const hd_graph *g, const struct hd_node *n) {
    if (n->op != HD_IR_qtable && n->op != HD_IR_qrescale) return -1;
    for (int t = n->in[0]; hd_graph_only_user(g, t) >= 0;
         t = g->nodes[g->tensors[t].producer].in[0]) {
        int maker = g->tensors[t].producer;
        if (maker < 0) return -1;
        if (g->nodes[maker].op == HD_IR_quantize || !hd_roofline_moves(&g->nodes[maker]))
            return maker;
    }
    return -1;
}

/* Its table and what it stores are its maker's then, which has a layer in any case. */
static void join_traffic(const hd_graph *g, struct hd_bounds *b) {
    for (size_t i = g->n_nodes; i-- > 0;) {
        int maker = has_bounds(g, &g->nodes[i]) ? joins_maker(g, &g->nodes[i]) : -1;
        if (maker < 0 || g->nodes[maker].op == HD_IR_quantize) continue;
        b[maker].read_bytes += b[i].read_bytes, b[maker].write_bytes += b[i].write_bytes;
        b[i].read_bytes = b[i].write_bytes = 0;
    }
}

static int64_t rows_of(const struct hd_tensor *t, const struct hd_node *n) {
    int64_t axis = n->op == HD_IR_qsoftmax ? hd_attr_int(n, "axis", -1) : -1;
    int64_t length = t->rank ? t->dim[axis < 0 ? axis + t->rank : axis] : 1;
    return length ? hd_tensor_elems(t) / length : 0;
}

/* Results, elements of windows and function evaluations, each times the cycles of a vector. */
static int64_t lanes_of(const hd_graph *g, const struct hd_node *n, int64_t cycles) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    int64_t results = cycles * hd_tensor_elems(y);
    switch (n->op) {
    case HD_IR_qconv:
    case HD_IR_qconvtranspose:
        return conv_lanes(g, n, results, cycles);
    case HD_IR_qmaxpool:
    case HD_IR_qavgpool:
        return pool_lanes(g, n, results);
    case HD_IR_qmean:
        return hd_max(cycles * hd_tensor_elems(x), results);
    case HD_IR_qresize:
        return resize_lanes(g, n, results);
    case HD_IR_qtable:
    case HD_IR_qrescale:
        return joins_maker(g, n) < 0 ? results : 0;
    case HD_IR_qsoftmax: /* exp of each, their product with 1/sum of the row */
        return 2 * results + cycles * rows_of(y, n);
    case HD_IR_qlayernorm: /* sums of x and of its squares, results, 1/sqrt of the row */
        return (hd_attr_int(n, "centred", 1) ? 3 : 2) * results + cycles * rows_of(y, n);
    case HD_IR_qlstm: /* four gates, f*c + i*g, tanh(c) * o */
        return 6 * results;
    case HD_IR_qgru: /* three gates, the mean of two */
        return 4 * results;
    case HD_IR_qgemm:
    case HD_IR_qmatmul:
#define QPAIR(name, ...) case HD_IR_##name:
#include "compiler/ir/qpair.def"
    case HD_IR_qrnn:
    case HD_IR_quantize:
    case HD_IR_dequantize:
        return results;
    default:
        return 0;
    }
}

/* What one step waits for, one behind the other: passes of MX, of VX, functions of VX. */
static int64_t chain_of(const hd_graph *g, const struct hd_node *n, const struct hd_machine *m) {
    int products = 1, passes, functions;
    if (n->op == HD_IR_qlstm) { /* g, i*g, f*c + i*g, tanh(c)*o */
        passes = 4, functions = 2;
    } else if (n->op == HD_IR_qgru) { /* r, r*h, n, (1 - z)*n, (1 - z)*n + z*h */
        passes = 5, functions = 2;
        if (!hd_attr_int(n, "linear_before_reset", 0)) products = 2; /* r*h through the array */
    } else if (n->op == HD_IR_qrnn) {
        passes = 1, functions = strcmp(hd_attr_string(n, "activation", "tanh"), "none") != 0;
    } else {
        return 0;
    }
    int64_t steps = g->tensors[n->in[0]].dim[0], units = g->tensors[n->in[2]].dim[2];
    return steps * (products * (HD_T_mx_done + hd_ceil_div(units, m->k)) +
                    passes * (HD_T_vx_write + m->vx_cycles) + functions * HD_T_vx_fn);
}

struct hd_bounds *hd_roofline(hd_arena *a, const hd_graph *g, const struct hd_machine *m) {
    struct hd_bounds *b = hd_new_array(a, struct hd_bounds, g->n_nodes + 1);
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        int64_t lanes = has_bounds(g, n) ? lanes_of(g, n, m->vx_cycles) : 0;
        bool integer = !strncmp(hd_ir_ops[n->op].name, "q", 1);
        if (!has_bounds(g, n)) continue;
        b[i].vx_cycles = hd_ceil_div(lanes, m->n);
        if (integer) b[i].mx_cycles = hd_ceil_div(hd_node_macs(g, n), (int64_t)m->k * m->n);
        b[i].chain_cycles = chain_of(g, n, m);
    }
    hd_roofline_traffic(g, m, b);
    join_traffic(g, b);
    return b;
}

int64_t hd_bound_cycles(const struct hd_bounds *b, int64_t bytes_per_cycle,
                        const char **out_which) {
    int64_t port = hd_ceil_div(hd_max(b->read_bytes, b->write_bytes), bytes_per_cycle);
    int64_t most = hd_max(hd_max(b->mx_cycles, b->vx_cycles), hd_max(port, b->chain_cycles));
    if (out_which)
        *out_which = most == 0              ? "none"
                     : most == b->mx_cycles ? "compute"
                     : most == b->vx_cycles ? "vector"
                     : most == port         ? "memory"
                                            : "chain";
    return most;
}
