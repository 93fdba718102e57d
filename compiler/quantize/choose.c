/* Which nodes become integer operations, and which tensors carry integers.
 *
 * In the order of the graph: a layer (convolution, product by constant weights) always does, and
 * takes its operand as integers whatever made it. A sum, a pool, a function or a movement of values
 * does when its operands are integers already; so a part of the network that has no layer stays
 * float. What moves values shares scale and zero point with them. A state is taken to be integers
 * when it comes in; where what it becomes is not, all is decided again with that state in float.
 */
#include <string.h>

#include "compiler/ir/window.h"
#include "compiler/pass/cone.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "compiler/quantize/affine.h"

enum {
    LITTLE = 8
}; /* elements of a result for one of an operand that is worth to have as integers */

struct chooser {
    hd_ctx *ctx; /* for questions whose answer may be no */
    const hd_graph *g;
    const char *const *keep;
    struct hd_quant_plan *p;
    bool *logs;        /* per node: a logarithm is behind it */
    const bool *ahead; /* per tensor: a layer is behind it */
};

static bool constant_f32(const hd_graph *g, int t) {
    return t >= 0 && g->tensors[t].data && g->tensors[t].dtype == HD_F32;
}

static bool variable_f32(const hd_graph *g, int t) {
    const struct hd_tensor *x = t < 0 ? NULL : &g->tensors[t];
    return x && !x->data && x->known && x->dtype == HD_F32;
}

int hd_quant_weights(const hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    bool product = n->op == HD_IR_gemm || n->op == HD_IR_matmul;
    bool conv = n->op == HD_IR_conv || n->op == HD_IR_convtranspose;
    if ((!product && !conv) || !constant_f32(g, n->in[1]) || !variable_f32(g, n->in[0])) return -1;
    const struct hd_tensor *w = &g->tensors[n->in[1]];
    if (n->n_in > 2 && n->in[2] >= 0 && !constant_f32(g, n->in[2])) return -1;
    if (n->op == HD_IR_conv) return w->rank <= 5 ? 0 : -1;
    if (n->op == HD_IR_convtranspose) return w->rank <= 4 || hd_volume_spreads(n) ? 1 : -1;
    if (w->rank != 2 || g->tensors[n->in[0]].rank < 2) return -1;
    if (n->op == HD_IR_matmul) return 1;
    if (hd_attr_float(n, "alpha", 1) != 1.0f || hd_attr_float(n, "beta", 1) != 1.0f) return -1;
    int axis = hd_attr_int(n, "transB", 0) ? 0 : 1;
    const struct hd_tensor *b = n->n_in > 2 && n->in[2] >= 0 ? &g->tensors[n->in[2]] : NULL;
    int64_t elems = b ? hd_tensor_elems(b) : 1;
    return elems == 1 || (elems == w->dim[axis] && b->dim[b->rank - 1] == elems) ? axis : -1;
}

int hd_quant_bias_add(const hd_graph *g, int node, int *out_bias) {
    const struct hd_node *n = &g->nodes[node];
    bool product = n->op == HD_IR_gemm || n->op == HD_IR_matmul;
    if (!product || (n->n_in > 2 && n->in[2] >= 0)) return -1;
    int add = hd_graph_only_user(g, n->out[0]);
    if (add < 0 || g->nodes[add].op != HD_IR_add) return -1;
    const struct hd_tensor *y = &g->tensors[n->out[0]], *sum = &g->tensors[g->nodes[add].out[0]];
    int b = g->nodes[add].in[g->nodes[add].in[0] == n->out[0] ? 1 : 0];
    if (!constant_f32(g, b) || sum->rank != y->rank) return -1;
    int64_t elems = hd_tensor_elems(&g->tensors[b]);
    if (elems != y->dim[y->rank - 1] || g->tensors[b].rank < 1 ||
        g->tensors[b].dim[g->tensors[b].rank - 1] != elems)
        return -1;
    *out_bias = b;
    return add;
}

/* ---- groups ---- */

static int leader(int *group, int t) {
    while (group[t] != t) t = group[t] = group[group[t]];
    return t;
}

static void share(struct chooser *c, int a, int b) {
    c->p->group[leader(c->p->group, a)] = leader(c->p->group, b);
}

/* ---- results ---- */

static bool plain_clip(const hd_graph *g, const struct hd_node *n) {
    for (int i = 1; i < n->n_in; i++)
        if (n->in[i] >= 0 && !constant_f32(g, n->in[i])) return false;
    return true;
}

/* The tensor behind the activations that are fused into the maker of t. */
static int behind_activations(struct chooser *c, int t) {
    for (int u; (u = hd_graph_only_user(c->g, t)) >= 0;) {
        const struct hd_node *n = &c->g->nodes[u];
        bool act = n->op == HD_IR_relu || (n->op == HD_IR_clip && plain_clip(c->g, n));
        if (!act || n->in[0] != t || (c->keep && c->keep[u])) break;
        c->p->why[u] = NULL;
        t = n->out[0];
    }
    return t;
}

static void make(struct chooser *c, int node, int t) {
    c->p->layer[node] = true;
    c->p->why[node] = NULL;
    c->p->result[node] = t;
    c->p->made[t] = true;
}

/* quantize with one scale reads t. */
static int quantised(const hd_graph *g, int t) {
    struct hd_qparam p, best = {0};
    int user[16], found = -1;
    size_t n = hd_graph_users(g, t, user, 16);
    for (size_t i = 0; i < n && i < 16; i++) {
        const struct hd_node *u = &g->nodes[user[i]];
        if (u->op != HD_IR_quantize || u->in[0] != t || !hd_qdq_param(g, u, &p)) continue;
        if (found < 0 || p.scale > best.scale) best = p, found = user[i];
    }
    return found;
}

/* ---- kinds of nodes ---- */

/* Integers beside the float tensor for those that want them. */
static void want(struct chooser *c, int t) {
    if (!c->p->made[t]) c->p->side[t] = true;
}

static void layer(struct chooser *c, int node) {
    const struct hd_node *n = &c->g->nodes[node];
    int bias, add = hd_quant_bias_add(c->g, node, &bias), t = n->out[0];
    if (add >= 0 && !(c->keep && c->keep[add])) {
        c->p->why[add] = NULL;
        t = c->g->nodes[add].out[0];
    }
    want(c, n->in[0]);
    make(c, node, behind_activations(c, t));
}

/* Weights and bias as constants; y and y_h are one tensor at different times. */
static const char *recurrent(struct chooser *c, int node) {
    const struct hd_node *n = &c->g->nodes[node];
    const char *why = hd_qdq_recurrent_refuses(c->g, n);
    if (why) return why;
    for (int i = 1; i < 4 && i < n->n_in; i++)
        if (n->in[i] >= 0 && !constant_f32(c->g, n->in[i])) return "its weights are not constant";
    if (!variable_f32(c->g, n->in[0])) return "its operand is not f32";
    int y = n->out[0] >= 0 ? n->out[0] : n->out[1];
    want(c, n->in[0]);
    make(c, node, y);
    bool state = n->op == HD_IR_gru; /* goes on in binary32 */
    if (!state && n->n_out > 1 && n->out[1] >= 0 && n->out[1] != y) {
        c->p->made[n->out[1]] = true;
        share(c, n->out[1], y);
    }
    if (n->n_in > 5 && variable_f32(c->g, n->in[5])) { /* the first h is in y's range */
        c->p->observe[n->in[5]] = true;
        share(c, n->in[5], y);
    }
    return NULL;
}

/* A product of two activations, with constant factors behind it, which go into its scale. Like a
 * layer it takes its operands as integers whatever made them: an input, a cache, a constant. */
static const char *weighted(struct chooser *c, int node) {
    const struct hd_node *n = &c->g->nodes[node];
    int t = n->out[0];
    if (n->n_in > 2 && n->in[2] >= 0) return "a gemm by weights that are not constant";
    for (int i = 0; i < 2; i++) {
        const struct hd_tensor *x = &c->g->tensors[n->in[i]];
        if (!x->known || x->dtype != HD_F32) return "an operand is not f32, or of unknown shape";
        if (x->rank < 2) return "an operand is a vector";
        const struct hd_node *maker = x->producer < 0 ? NULL : &c->g->nodes[x->producer];
        if (n->op == HD_IR_gemm && maker && maker->op == HD_IR_dequantize &&
            c->g->tensors[maker->in[0]].data)
            return "it has factors beside weights that are integers: they would be rounded twice";
    }
    for (int i = 0; i < 2; i++) {
        want(c, n->in[i]);
        c->p->centred[n->in[i]] = true; /* else it costs a product more */
    }
    for (int u; (u = hd_graph_only_user(c->g, t)) >= 0 && !(c->keep && c->keep[u]);) {
        const struct hd_node *f = &c->g->nodes[u];
        if (f->op != HD_IR_mul && f->op != HD_IR_div) break;
        int by = f->in[f->in[0] == t ? 1 : 0];
        if (!constant_f32(c->g, by) || hd_tensor_elems(&c->g->tensors[by]) != 1 ||
            (f->op == HD_IR_div && f->in[0] != t) || c->g->tensors[by].rank > c->g->tensors[t].rank)
            break;
        c->p->why[u] = NULL;
        t = f->out[0];
    }
    make(c, node, behind_activations(c, t));
    return NULL;
}

static const char *softmax(struct chooser *c, int node) {
    const struct hd_node *n = &c->g->nodes[node];
    if (!c->p->made[n->in[0]]) return "its operand is float";
    make(c, node, n->out[0]);
    return NULL;
}

/* Over the last dimension, by constants. */
static const char *layer_norm(struct chooser *c, int node) {
    const struct hd_node *n = &c->g->nodes[node];
    const struct hd_tensor *x = &c->g->tensors[n->in[0]];
    int64_t axis = hd_attr_int(n, "axis", -1);
    if (!variable_f32(c->g, n->in[0])) return "its operand is not f32";
    if (axis != -1 && axis != x->rank - 1) return "it normalises several dimensions";
    if (n->n_out != 1) return "its mean or deviation is read, too";
    for (int i = 1; i < n->n_in; i++)
        if (n->in[i] >= 0 && (!constant_f32(c->g, n->in[i]) ||
                              hd_tensor_elems(&c->g->tensors[n->in[i]]) != x->dim[x->rank - 1]))
            return "its scale or bias is not constant";
    want(c, n->in[0]);
    make(c, node, n->out[0]);
    return NULL;
}

/* A layer norm reads the sum: then it is worth to have the other operand as integers, too. */
static bool meets_norm(const struct chooser *c, const struct hd_node *n) {
    int user[8];
    size_t users = hd_graph_users(c->g, n->out[0], user, 8);
    for (size_t i = 0; i < users && i < 8; i++)
        if (c->g->nodes[user[i]].op == HD_IR_layernorm)
            return variable_f32(c->g, n->in[0]) && variable_f32(c->g, n->in[1]);
    return false;
}

/* Only softmax reads t. */
static bool only_softmax(const struct chooser *c, int t) {
    for (int u; (u = hd_graph_only_user(c->g, t)) >= 0 && !(c->keep && c->keep[u]);) {
        if (c->g->nodes[u].op == HD_IR_softmax) return true;
        if (c->g->nodes[u].op != HD_IR_reshape) return false;
        t = c->g->nodes[u].out[0];
    }
    return false;
}

/* Powers and roots of x that 8 bits do not hold: what matters of them is a ratio. */
static bool spans_magnitudes(const struct hd_node *n) {
    return n->op == HD_IR_exp || n->op == HD_IR_log || n->op == HD_IR_pow || n->op == HD_IR_sqrt ||
           n->op == HD_IR_reciprocal || (n->op == HD_IR_mul && n->in[0] == n->in[1]);
}

/* Float, but little beside the result y, such as a factor for each channel: integers cost less of
 * it than floats of the rest. Not where 8 bits do not hold it. */
static bool is_little(const struct chooser *c, int t, int y) {
    int p = variable_f32(c->g, t) ? c->g->tensors[t].producer : -1;
    if (p < 0 || !c->g->tensors[y].known) return false;
    const struct hd_node *n = &c->g->nodes[p];
    bool inverse = n->op == HD_IR_div && constant_f32(c->g, n->in[0]);
    return !spans_magnitudes(n) && !inverse &&
           LITTLE * hd_tensor_elems(&c->g->tensors[t]) <= hd_tensor_elems(&c->g->tensors[y]);
}

/* Sums, differences, products and quotients of two tensors, or of one and a constant. A softmax
 * reads scores and their mask: then the mask is worth to have as integers, whatever made it. What a
 * layer reads as integers is such beside its float values, and an input of the network may be. */
static const char *sum(struct chooser *c, int node) {
    const struct hd_node *n = &c->g->nodes[node];
    bool made[2], good[2], masks = n->op == HD_IR_add && only_softmax(c, n->out[0]);
    bool moves = n->op == HD_IR_add || n->op == HD_IR_sub;
    bool hides = moves && !masks && hd_quant_meets_softmax(c->g, n->out[0], 3);
    for (int i = 0; i < 2; i++) {
        bool given = variable_f32(c->g, n->in[i]) && hd_graph_is_input(c->g, n->in[i]);
        made[i] = c->p->made[n->in[i]];
        good[i] = made[i] || c->p->side[n->in[i]] ||
                  (constant_f32(c->g, n->in[i]) && !(hides && hd_quant_is_far(c->g, n->in[i]))) ||
                  (!hides && (given || is_little(c, n->in[i], n->out[0]))) ||
                  (variable_f32(c->g, n->in[i]) && (masks || meets_norm(c, n)));
    }
    if (!(made[0] || made[1]) || !good[0] || !good[1]) return "an operand is float";
    if (masks && !(made[0] && made[1])) c->p->mask[node] = n->in[made[0] ? 1 : 0];
    if (n->op == HD_IR_div) {
        c->p->doubt[node] = "8 bits hold too little of what it divides by";
        if (!c->ahead[n->out[0]]) return c->p->doubt[node];
    }
    want(c, n->in[0]), want(c, n->in[1]);
    make(c, node, behind_activations(c, n->out[0]));
    return NULL;
}

/* As compiler/pass/qdq.c. */
static const char *average(struct chooser *c, int node) {
    const struct hd_node *n = &c->g->nodes[node];
    struct hd_window v;
    if (!c->p->made[n->in[0]]) return "its operand is float";
    if (!hd_volume_pool(c->g, node) &&
        hd_window_get(c->ctx, n, &c->g->tensors[n->in[0]], NULL, &v) != HD_OK) {
        hd_clear(c->ctx);
        return "a pool of three dimensions, and not of all of them";
    }
    make(c, node, behind_activations(c, n->out[0]));
    return NULL;
}

/* As a product by ones (compiler/pass/reduce.c). */
static const char *reduction(struct chooser *c, int node) {
    const struct hd_node *n = &c->g->nodes[node];
    if (!c->p->made[n->in[0]]) return "its operand is float";
    if (!hd_reduce_fits(c->g, node)) return "it reduces neither rows nor images";
    make(c, node, behind_activations(c, n->out[0]));
    return NULL;
}

static const char *linear_resize(struct chooser *c, int node) {
    if (!c->p->made[c->g->nodes[node].in[0]]) return "its operand is float";
    make(c, node, behind_activations(c, c->g->nodes[node].out[0]));
    return NULL;
}

/* t is state, or moved from such. */
static bool is_state(const struct chooser *c, int t) {
    int p = c->g->tensors[t].producer;
    if (p < 0) return c->p->made[t];
    bool moves = hd_qdq_moved_operands(&c->g->nodes[p]) > 0;
    return moves && c->p->made[t] && is_state(c, c->g->nodes[p].in[0]);
}

/* All that becomes of t, moved, is read by layers, or goes on as state. */
static bool only_layers(const struct chooser *c, int t) {
    int user[16];
    size_t n = hd_graph_users(c->g, t, user, 16);
    if (n > 16 || (hd_graph_is_output(c->g, t) && hd_graph_state_before(c->g, t) < 0)) return false;
    for (size_t i = 0; i < n; i++) {
        if (c->keep && c->keep[user[i]]) return false;
        if (hd_quant_weights(c->g, user[i]) >= 0) continue;
        if (!hd_qdq_moved_operands(&c->g->nodes[user[i]]) ||
            !only_layers(c, c->g->nodes[user[i]].out[0]))
            return false;
    }
    return n || hd_graph_is_output(c->g, t);
}

/* A state in front of new values: then these become integers, too, when layers read both. */
static bool goes_on_with(const struct chooser *c, const struct hd_node *n, int n_moved) {
    bool state = false, good = n->n_out == 1;
    for (int i = 0; i < n_moved; i++) {
        state = state || is_state(c, n->in[i]);
        good = good && (c->p->made[n->in[i]] || c->g->tensors[n->in[i]].dtype == HD_F32);
    }
    return state && good && only_layers(c, n->out[0]);
}

static const char *movement(struct chooser *c, int node, int n_moved) {
    const struct hd_node *n = &c->g->nodes[node];
    bool rows = n->op == HD_IR_gather && constant_f32(c->g, n->in[0]) &&
                hd_quant_is_embedding(c->g, n->out[0]),
         any = rows, all = rows || goes_on_with(c, n, n_moved);
    for (int i = 0; i < n_moved; i++) {
        any = any || c->p->made[n->in[i]];
        if (!all && !c->p->made[n->in[i]] && !constant_f32(c->g, n->in[i]))
            return "it moves float values";
    }
    if (!any) return "it moves float values";
    for (int i = 0; i < n_moved; i++)
        c->p->side[n->in[i]] = !c->p->made[n->in[i]] || c->p->given[n->in[i]];
    for (int i = n_moved; i < n->n_in; i++)
        if (n->in[i] >= 0 && !c->g->tensors[n->in[i]].data && !rows)
            return "where to is known in the run only";
    for (int o = 0; o < n->n_out; o++) {
        if (n->out[o] < 0) continue;
        if (!c->g->tensors[n->out[o]].known) return "its shape is known in the run only";
        c->p->made[n->out[o]] = true;
        for (int i = 0; i < n_moved; i++) share(c, n->in[i], n->out[o]);
    }
    return NULL;
}

/* All readers of t go on with the function of the same tensor. */
static bool goes_on(struct chooser *c, int t, int root) {
    int user[16];
    size_t n = hd_graph_users(c->g, t, user, 16);
    if (!n || n > 16 || hd_graph_is_output(c->g, t)) return false;
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *u = &c->g->nodes[user[i]];
        if ((c->keep && c->keep[user[i]]) || u->n_out != 1 ||
            hd_cone_root(c->g, u->out[0], c->p->made) != root)
            return false;
    }
    return true;
}

/* The log of sums of exp(x), as in log(1 + exp(x)), reads no values that are far smaller than
 * others which count. */
static bool soft_log(const hd_graph *g, int t, int depth) {
    int p = depth && t >= 0 ? g->tensors[t].producer : -1;
    if (p < 0) return false;
    const struct hd_node *n = &g->nodes[p];
    if (n->op == HD_IR_exp) return true;
    bool sum = n->op == HD_IR_add || n->op == HD_IR_mul || n->op == HD_IR_avgpool ||
               n->op == HD_IR_reducemean || n->op == HD_IR_reducesum;
    return sum &&
           (soft_log(g, n->in[0], depth - 1) || (n->n_in > 1 && soft_log(g, n->in[1], depth - 1)));
}

/* Nothing in front of it is a spectrum: a layer that was trained, or values of one magnitude. */
static bool ends_spectra(const hd_graph *g, const struct hd_node *n) {
    int bias = n->op == HD_IR_conv || n->op == HD_IR_gemm ? (n->n_in > 2 ? n->in[2] : -1) : -1;
    const float *v = constant_f32(g, bias) ? g->tensors[bias].data : NULL;
    bool any = n->op == HD_IR_softmax || n->op == HD_IR_sigmoid || n->op == HD_IR_layernorm;
    for (int64_t i = 0; v && !any && i < hd_tensor_elems(&g->tensors[bias]); i++) any = v[i] != 0;
    return any;
}

/* Marks what a logarithm reads: spectra and the like, where small values count as much as large. */
static void mark_logs(struct chooser *c, const int *order, size_t n) {
    const hd_graph *g = c->g;
    while (n--) {
        const struct hd_node *nd = &g->nodes[order[n]];
        if (nd->op == HD_IR_log) c->logs[order[n]] = !soft_log(g, nd->in[0], 4);
        if (c->logs[order[n]] && ends_spectra(g, nd)) c->logs[order[n]] = false;
        for (int i = 0; c->logs[order[n]] && i < nd->n_in; i++)
            if (nd->in[i] >= 0 && g->tensors[nd->in[i]].producer >= 0)
                c->logs[g->tensors[nd->in[i]].producer] = true;
    }
}

/* Only layers read t: sums, to which small values add little beside large ones. */
static bool only_summed(const struct chooser *c, int t) {
    int user[16];
    size_t n = hd_graph_users(c->g, t, user, 16);
    if (!n || n > 16 || hd_graph_is_output(c->g, t)) return false;
    for (size_t i = 0; i < n; i++)
        if (hd_quant_weights(c->g, user[i]) < 0 || (c->keep && c->keep[user[i]])) return false;
    return true;
}

static const char *function(struct chooser *c, int node) {
    const struct hd_node *n = &c->g->nodes[node];
    int t = n->out[0], root = n->n_out == 1 ? hd_cone_root(c->g, t, c->p->made) : t;
    if (root == t || !c->p->made[root]) return root == t ? "" : "its operand is float";
    if (goes_on(c, t, root)) return NULL;
    if (c->g->tensors[t].dtype != HD_F32) return "it has no integer form";
    if (spans_magnitudes(n) && !only_summed(c, t) && quantised(c->g, t) < 0) {
        c->p->doubt[node] = "its results span too many magnitudes for 8 bits";
        if (!c->ahead[t]) return c->p->doubt[node];
    }
    make(c, node, t);
    return NULL;
}

/* An integer operation reads t whatever made it, or what is moved from t. */
static bool is_wanted(const struct chooser *c, int t) {
    int user[16];
    size_t n = hd_graph_users(c->g, t, user, 16);
    for (size_t i = 0; i < n && i < 16; i++) {
        const struct hd_node *u = &c->g->nodes[user[i]];
        if (c->keep && c->keep[user[i]]) continue;
        if (hd_quant_weights(c->g, user[i]) >= 0 || hd_quant_ready(c->g, user[i]) >= 0 ||
            u->op == HD_IR_layernorm || u->op == HD_IR_lstm || u->op == HD_IR_gru ||
            u->op == HD_IR_rnn)
            return true;
        if (hd_qdq_moved_operands(u) && u->n_out == 1 && is_wanted(c, u->out[0])) return true;
    }
    return false;
}

/* A factor and summand of an input (entry.c): the last of a chain makes integers, by the
 * quantisation of the input. False: node is none of these. */
static bool enters(struct chooser *c, hd_arena *a, int node) {
    const hd_graph *g = c->g;
    const struct hd_node *n = &g->nodes[node];
    struct hd_entry e;
    if (n->n_out != 1 || !hd_quant_entry(g, a, n->out[0], &e)) return false;
    for (int i = 0; i < n->n_in; i++) {
        int p = n->in[i] < 0 ? -1 : g->tensors[n->in[i]].producer;
        if (p >= 0 && c->p->why[p]) return false; /* kept in float */
    }
    int end = n->out[0];
    for (int u; (u = hd_graph_only_user(g, end)) >= 0 && !(c->keep && c->keep[u]);) {
        if (g->nodes[u].n_out != 1 || !hd_quant_entry(g, a, g->nodes[u].out[0], &e)) break;
        end = g->nodes[u].out[0];
    }
    if (hd_graph_is_output(g, end) || !is_wanted(c, end)) return false;
    c->p->why[node] = NULL;
    if (end == n->out[0]) {
        make(c, node, end);
        c->p->entry[end] = true;
    }
    return true;
}

/* Integers that the file has already. */
static const char *dequantised(struct chooser *c, int node) {
    struct hd_qparam p;
    int t = c->g->nodes[node].out[0], x;
    if (hd_qdq_dequantized(c->g, t, &x, &p) && !c->g->tensors[x].data)
        c->p->made[t] = c->p->given[t] = true;
    return NULL;
}

static const char *choose(struct chooser *c, hd_arena *a, int node) {
    const struct hd_node *n = &c->g->nodes[node];
    int n_moved = hd_qdq_moved_operands(n);
    bool product = n->op == HD_IR_conv || n->op == HD_IR_convtranspose || n->op == HD_IR_gemm ||
                   n->op == HD_IR_matmul;
    if (n->op == HD_IR_quantize) return NULL;
    if (n->op == HD_IR_dequantize) return dequantised(c, node);
    if (c->keep && c->keep[node]) return c->keep[node];
    if (c->logs[node]) return "a logarithm reads it, and needs more than 8 bits";
    if (enters(c, a, node)) return NULL;
    bool weighs = hd_quant_weights(c->g, node) >= 0 || hd_quant_ready(c->g, node) >= 0;
    if (weighs && c->g->tensors[n->out[0]].known) {
        layer(c, node);
        return NULL;
    }
    bool batches = n->op == HD_IR_matmul && constant_f32(c->g, n->in[1]) &&
                   variable_f32(c->g, n->in[0]) && c->g->tensors[n->in[1]].rank > 2;
    if (batches || ((n->op == HD_IR_matmul || n->op == HD_IR_gemm) && variable_f32(c->g, n->in[1])))
        return weighted(c, node);
    if (product) return "its weights are not constant, or have no integer form";
    if (n->op == HD_IR_softmax) return softmax(c, node);
    if (n->op == HD_IR_layernorm) return layer_norm(c, node);
    if (n->op == HD_IR_avgpool) return average(c, node);
    if (n->op == HD_IR_reducesum || n->op == HD_IR_reducemean) return reduction(c, node);
    if (n->op == HD_IR_lstm || n->op == HD_IR_gru || n->op == HD_IR_rnn) return recurrent(c, node);
    if (hd_qdq_is_linear_resize(c->g, node)) return linear_resize(c, node);
    if (n_moved) return movement(c, node, n_moved);
    const char *why = function(c, node);
    if (!why || *why) return why;
    if (n->op == HD_IR_add || n->op == HD_IR_sub || n->op == HD_IR_mul || n->op == HD_IR_div)
        return sum(c, node);
    return "it has no integer form";
}

/* The plan, with those states as integers that are not in `floats`. */
static void plan_once(hd_arena *a, const hd_graph *g, const char *const *keep, const bool *floats,
                      struct hd_quant_plan *out) {
    struct hd_quant_plan p = {.n_nodes = g->n_nodes,
                              .n_tensors = g->n_tensors,
                              .why = hd_new_array(a, const char *, g->n_nodes + 1),
                              .layer = hd_new_array(a, bool, g->n_nodes + 1),
                              .result = hd_new_array(a, int, g->n_nodes + 1),
                              .doubt = hd_new_array(a, const char *, g->n_nodes + 1),
                              .made = hd_new_array(a, bool, g->n_tensors + 1),
                              .side = hd_new_array(a, bool, g->n_tensors + 1),
                              .group = hd_new_array(a, int, g->n_tensors + 1),
                              .given = hd_new_array(a, bool, g->n_tensors + 1),
                              .entry = hd_new_array(a, bool, g->n_tensors + 1),
                              .like = hd_new_array(a, int, g->n_tensors + 1),
                              .centred = hd_new_array(a, bool, g->n_tensors + 1),
                              .may_be_wide = hd_new_array(a, bool, g->n_tensors + 1),
                              .observe = hd_new_array(a, bool, g->n_tensors + 1),
                              .mask = hd_new_array(a, int, g->n_nodes + 1)};
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    struct chooser c = {hd_ctx_create(),
                        g,
                        keep,
                        &p,
                        hd_new_array(a, bool, g->n_nodes + 1),
                        hd_quant_ahead_of_layers(g, a, order, n)};
    const char *undecided = "";
    for (size_t i = 0; i < g->n_tensors; i++) p.group[i] = (int)i, p.like[i] = -1;
    for (size_t i = 0; i < g->n_nodes; i++) p.why[i] = undecided, p.mask[i] = -1;
    mark_logs(&c, order, n);
    for (size_t i = 1, n_states = hd_graph_n_states(g); i <= n_states; i++) {
        int x = g->inputs[g->n_inputs - i];
        p.made[x] = !floats[x];
        if (p.made[x]) share(&c, x, g->outputs[g->n_outputs - i]);
    }
    for (size_t i = 0; i < n; i++)
        if (p.why[order[i]] == undecided) p.why[order[i]] = choose(&c, a, order[i]);
    for (size_t i = 0; i < g->n_nodes; i++)
        if (p.why[i]) p.doubt[i] = NULL;
    for (size_t i = 0; i < g->n_tensors; i++) {
        p.group[i] = leader(p.group, (int)i);
        p.observe[i] = (p.observe[i] || p.made[i] || p.side[i]) && !g->tensors[i].data;
        int q = p.observe[i] ? quantised(g, (int)i) : -1;
        if (q >= 0) p.like[p.group[i]] = q;
    }
    hd_quant_find_wide(g, &p);
    hd_ctx_destroy(c.ctx);
    *out = p;
}

void hd_quant_choose(hd_arena *a, const hd_graph *g, const char *const *keep,
                     struct hd_quant_plan *out) {
    bool *floats = hd_new_array(a, bool, g->n_tensors + 1), again = true;
    size_t n = hd_graph_n_states(g);
    for (size_t i = 0; i < n; i++) {
        const struct hd_tensor *x = &g->tensors[g->inputs[g->n_inputs - n + i]];
        floats[g->inputs[g->n_inputs - n + i]] = x->dtype != HD_F32;
    }
    while (again) {
        plan_once(a, g, keep, floats, out);
        again = false;
        for (size_t i = 1; i <= n; i++) {
            int x = g->inputs[g->n_inputs - i], y = g->outputs[g->n_outputs - i];
            bool made = out->made[y] && !out->given[y] && g->tensors[y].producer >= 0;
            again = again || (!made && !floats[x]);
            floats[x] = floats[x] || !made;
        }
    }
}
