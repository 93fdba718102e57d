/* lstm, gru and rnn between dequantize and quantize -> qlstm, qgru, qrnn.
 *
 *   x, w, r dequantised, w and r constant int8 with a scale or one per gate and unit (axis 1), the
 *   bias constant; y, or y_h, goes to a quantize, through data movement at most: its parameters are
 *   those of h inside, too. States that come in: h is quantised so, c stays f32.
 *
 * What the rest of the graph reads as float is dequantize of the bytes of y: it was the same to
 * half a step, and the passes around turn it into integers where it is quantised again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/rnn.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "cpu_ref/golden.h"
#include "runtime/base/num.h"

enum { X, W, R, B, LENS, H, C, P, OPERANDS };
enum { SEARCH_DEPTH = 8 };

static int operand(const struct hd_node *n, int i) {
    return i < n->n_in ? n->in[i] : -1;
}
static int result(const struct hd_node *n, int i) {
    return i < n->n_out ? n->out[i] : -1;
}

static bool is_relu(const struct hd_node *n) {
    const char *a = hd_attr_string(n, "activations", "");
    return n->op == HD_IR_rnn && (!strcmp(a, "Relu") || !strcmp(a, "Relu,Relu"));
}

const char *hd_qdq_recurrent_refuses(const hd_graph *g, const struct hd_node *n) {
    if (operand(n, LENS) >= 0) return "its sequences have lengths of their own";
    if (n->op == HD_IR_lstm && operand(n, P) >= 0) return "its gates look at the state (peepholes)";
    if (hd_attr_get(n, "activations") && !is_relu(n))
        return "its activations are none of sigmoid and tanh as usual";
    if (hd_attr_float(n, "clip", 0) != 0) return "its gates are clipped";
    if (hd_attr_int(n, "input_forget", 0)) return "its input and forget gates are one";
    if (hd_attr_int(n, "layout", 0)) return "its batch comes before its steps";
    if (!g->tensors[n->in[X]].known) return "its shape is known in the run only";
    if (result(n, 0) < 0 && result(n, 1) < 0) return "nobody reads its results but the last c";
    return NULL;
}

/* ---- parameters of y ---- */

struct found {
    int scale, zero; /* constants */
    struct hd_qparam p;
};

/* The quantize that reads t, or t moved. */
static bool find_quantize(const hd_graph *g, int t, int depth, struct found *out) {
    int user[16];
    size_t n = t < 0 || !depth ? 0 : hd_graph_users(g, t, user, 16);
    for (int moved = 0; moved < 2; moved++) /* the nearest first */
        for (size_t i = 0; i < n && i < 16; i++) {
            const struct hd_node *u = &g->nodes[user[i]];
            if (!moved && u->op == HD_IR_quantize && hd_qdq_param(g, u, &out->p)) {
                out->scale = u->in[1], out->zero = u->in[2];
                return true;
            }
            bool moves = u->op != HD_IR_maxpool && u->op != HD_IR_concat && u->op != HD_IR_pad &&
                         hd_qdq_moved_operands(u) == 1;
            for (int o = 0; moved && moves && o < u->n_out; o++)
                if (find_quantize(g, u->out[o], depth - 1, out)) return true;
        }
    return false;
}

static bool only_quantised(const hd_graph *g, int t) {
    int user[16];
    size_t n = hd_graph_users(g, t, user, 16);
    if (!n || n > 16 || hd_graph_is_output(g, t)) return false;
    for (size_t i = 0; i < n; i++)
        if (g->nodes[user[i]].op != HD_IR_quantize) return false;
    return true;
}

/* ---- constants ---- */

/* The bias as floats: constant, or dequantised from a constant; false when it is neither. */
static bool float_bias(hd_ctx *ctx, hd_graph *g, int t, const float **out) {
    *out = NULL;
    if (t < 0) return true;
    int maker = g->tensors[t].producer;
    if (!g->tensors[t].data && maker >= 0 && g->nodes[maker].op == HD_IR_dequantize &&
        g->tensors[g->nodes[maker].in[0]].data && hd_fold_node(ctx, g, maker) != HD_OK)
        hd_clear(ctx);
    *out = g->tensors[t].dtype == HD_F32 ? g->tensors[t].data : NULL;
    return *out != NULL;
}

/* Scale x_scale * w_scale and the bias in its steps, for w (part 0) or r of every direction. */
static bool fill(const struct hd_qweights *w, float x_scale, int part, int directions,
                 const float *bias, int32_t *out_bias, float *out_scale) {
    for (int d = 0; d < directions; d++)
        for (int64_t c = 0; c < w->n; c++) {
            int64_t at = (d * 2 + part) * w->n + c;
            float s = x_scale * w->scale[w->n_scale == 1 ? 0 : c];
            double b = bias ? rint((double)bias[at] / (double)s) : 0;
            if (!isfinite(s) || !(s >= 1e-37f) || !(fabs(b) <= 2147483647.0)) return false;
            out_scale[at] = s;
            out_bias[at] = (int32_t)b;
        }
    return true;
}

static bool constants(hd_ctx *ctx, hd_graph *g, const struct hd_node *n, struct hd_qparam x,
                      struct hd_qparam y, int directions, int in[OPERANDS]) {
    struct hd_qweights w, r;
    const float *bias;
    if (!hd_qdq_weights(g, n->in[W], 1, false, &w) || !hd_qdq_weights(g, n->in[R], 1, false, &r) ||
        g->tensors[w.tensor].dtype != HD_I8 || g->tensors[r.tensor].dtype != HD_I8 ||
        !float_bias(ctx, g, operand(n, B), &bias))
        return false;
    int64_t dim[3] = {directions, 2, w.n}, all = 2 * directions * w.n;
    int32_t *b = hd_new_array(g->arena, int32_t, (size_t)all);
    float *s = hd_new_array(g->arena, float, (size_t)all);
    if (!fill(&w, x.scale, 0, directions, bias, b, s) ||
        !fill(&r, y.scale, 1, directions, bias, b, s))
        return false;
    in[1] = w.tensor, in[2] = r.tensor;
    in[3] = hd_graph_const(g, hd_sprintf(g->arena, "%s.bias", n->name), HD_I32, 3, dim, b);
    in[4] = hd_graph_const(g, hd_sprintf(g->arena, "%s.scale", n->name), HD_F32, 3, dim, s);
    return true;
}

/* ---- rewrite ---- */

static int ints(hd_graph *g, const char *name, int64_t a, int64_t b, int n) {
    int64_t v[2] = {a, b}, count = n;
    return hd_graph_const(g, name, HD_I64, 1, &count, v);
}

/* Step t of direction d (-1 = of all) of y [S,D,B,H], as [D or 1, B, H]. */
static int step_of(hd_graph *g, const char *name, int y, int64_t t, int64_t d) {
    struct hd_tensor s = g->tensors[y];
    int n = d < 0 ? 1 : 2;
    int in[4] = {y, ints(g, "starts", t, d, n), ints(g, "ends", t + 1, d + 1, n),
                 ints(g, "axes", 0, 1, n)};
    s.dim[0] = 1;
    if (d >= 0) s.dim[1] = 1;
    int part = hd_graph_tensor(g, name, s.dtype, 4, s.dim);
    int last = hd_graph_tensor(g, name, s.dtype, 3, s.dim + 1);
    hd_graph_node(g, HD_IR_slice, name, 4, in, 1, &part);
    int id = hd_graph_node(g, HD_IR_reshape, name, 1, &part, 1, &last);
    hd_attr_set_ints(g, id, "shape", 3, s.dim + 1);
    return last;
}

/* The last step of each direction: y_h. */
static int last_steps(hd_graph *g, const char *name, int y, const char *direction) {
    struct hd_tensor s = g->tensors[y];
    int64_t end = s.dim[0] - 1;
    if (s.dim[1] == 1) return step_of(g, name, y, strcmp(direction, "reverse") ? end : 0, -1);
    int in[2] = {step_of(g, name, y, end, 0), step_of(g, name, y, 0, 1)};
    int both = hd_graph_tensor(g, name, s.dtype, 3, s.dim + 1);
    int id = hd_graph_node(g, HD_IR_concat, name, 2, in, 1, &both);
    hd_attr_set_int(g, id, "axis", 0);
    return both;
}

static void dequantise(hd_graph *g, const char *name, int from, const struct found *q, int to) {
    int in[3] = {from, q->scale, q->zero};
    hd_graph_node(g, HD_IR_dequantize, name, 3, in, 1, &to);
}

/* Operands that are states: h in steps of y, but the whole state of a gru is binary32. */
static int states(hd_graph *g, const struct hd_node *n, const struct found *q, int *in) {
    int h = operand(n, H), c = n->op == HD_IR_lstm ? operand(n, C) : -1;
    in[5] = h, in[6] = c;
    if (h >= 0 && n->op != HD_IR_gru) {
        int from[3] = {h, q->scale, q->zero};
        in[5] = hd_qdq_tensor_like(g, h, q->p.type, "q");
        hd_graph_node(g, HD_IR_quantize, g->tensors[in[5]].name, 3, from, 1, &in[5]);
    }
    return c >= 0 ? 7 : h >= 0 ? 6 : 5;
}

static void attributes(hd_graph *g, int id, const struct hd_node *n, struct hd_qparam x,
                       struct hd_qparam y) {
    int lo = y.type == HD_I8 ? -128 : 0;
    const char *direction = hd_attr_string(n, "direction", "forward");
    if (strcmp(direction, "forward")) hd_attr_set_string(g, id, "direction", direction);
    if (n->op == HD_IR_gru && hd_attr_int(n, "linear_before_reset", 0))
        hd_attr_set_int(g, id, "linear_before_reset", 1);
    if (is_relu(n)) hd_attr_set_string(g, id, "activation", "none");
    hd_attr_set_string(g, id, "to", hd_dtype_name(y.type));
    hd_attr_set_int(g, id, "x_zp", x.zp);
    hd_attr_set_int(g, id, "y_zp", y.zp);
    hd_attr_set_int(g, id, "lo", is_relu(n) ? y.zp : lo);
    hd_attr_set_int(g, id, "hi", lo + 255);
    hd_attr_set_float(g, id, "scale", 1.0f / y.scale);
}

bool hd_qdq_recurrent(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    struct hd_qparam x;
    struct found q;
    struct hd_rnn s;
    const struct hd_tensor *t[OPERANDS] = {NULL};
    int in[OPERANDS], out[2] = {-1, -1}, y = result(&n, 0), h = result(&n, 1);
    if (hd_qdq_recurrent_refuses(g, &n) || !hd_qdq_dequantized(g, n.in[X], &in[0], &x) ||
        (!find_quantize(g, y, SEARCH_DEPTH, &q) && !find_quantize(g, h, SEARCH_DEPTH, &q)))
        return false;
    for (int i = 0; i < OPERANDS && i < n.n_in; i++)
        if (n.in[i] >= 0) t[i] = &g->tensors[n.in[i]];
    hd_status st = hd_rnn_get(ctx, &n, t, &s);
    HD_ASSERT(st == HD_OK); /* verified */
    if (!isfinite(1.0f / q.p.scale) || !constants(ctx, g, &n, x, q.p, s.directions, in))
        return false;
    enum hd_ir_op op = n.op == HD_IR_lstm  ? HD_IR_qlstm
                       : n.op == HD_IR_gru ? HD_IR_qgru
                                           : HD_IR_qrnn;
    int n_in = states(g, &n, &q, in);
    bool last = h >= 0 && (n.op != HD_IR_gru || only_quantised(g, h));
    int64_t dim[4] = {s.steps, s.directions, s.batch, s.hidden};
    out[0] = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.q", n.name), q.p.type, 4, dim);
    if (n.op == HD_IR_lstm) out[1] = result(&n, 2);
    if (n.op == HD_IR_gru && h >= 0 && !last) out[1] = h;
    const char *direction = hd_attr_string(&n, "direction", "forward");
    hd_graph_kill(g, node);
    int id = hd_graph_node(g, op, n.name, n_in, in, out[1] < 0 ? 1 : 2, out);
    hd_graph_swap_names(g, id, node);
    attributes(g, id, &n, x, q.p);
    if (y >= 0) dequantise(g, n.name, out[0], &q, y);
    if (last) dequantise(g, n.name, last_steps(g, n.name, out[0], direction), &q, h);
    return true;
}
