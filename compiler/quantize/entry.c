/* What a network does with its inputs in front of the first layer: casts of bytes, a factor and a
 * summand for each channel (mean and deviation of images), channels in another order.
 *
 *   y = a[c] * x + b[c],  integer y = round(x / (scale / a[c])) + (zero + b[c] / scale)
 *
 * so the quantisation of the input does it: one step for each channel where the input is float.
 * Bytes are integers already, of step a. Order of channels goes into the weights that read them.
 *
 * hd_quant_entry_moves makes it stand so: casts, factors and summands first, then what moves. */
#include <math.h>
#include <string.h>

#include "compiler/ir/move.h"
#include "compiler/pass/qdq.h"
#include "compiler/quantize/affine.h"

static bool is_bytes(const struct hd_tensor *t) {
    return t->known && !t->data && (t->dtype == HD_U8 || t->dtype == HD_I8);
}

/* An input that is no state. */
static bool is_plain_input(const hd_graph *g, int t) {
    size_t n = g->n_inputs - hd_graph_n_states(g);
    for (size_t i = 0; i < n; i++)
        if (g->inputs[i] == t) return g->tensors[t].known;
    return false;
}

static bool is_cast(const hd_graph *g, const struct hd_node *n) {
    return n->op == HD_IR_cast && is_bytes(&g->tensors[n->in[0]]) &&
           g->tensors[n->out[0]].dtype == HD_F32;
}

static bool same_shape(const struct hd_tensor *x, const struct hd_tensor *y) {
    return x->known && y->known && hd_same_shape(x, y);
}

/* The operand of a cast, factor or summand that is no constant; -1: it is none of these. *out_axis:
 * of a constant for each of *out_n channels; -1 and 1 where it is one number. */
static int variable_of(const hd_graph *g, const struct hd_node *n, int *out_axis, int64_t *out_n) {
    *out_axis = -1, *out_n = 1;
    if (n->n_out != 1) return -1;
    if (is_cast(g, n)) return n->in[0];
    bool sum = n->op == HD_IR_add || n->op == HD_IR_sub || n->op == HD_IR_mul || n->op == HD_IR_div;
    if (n->op == HD_IR_batchnorm) {
        const struct hd_tensor *x = &g->tensors[n->in[0]];
        *out_axis = 1, *out_n = x->known && x->rank > 1 ? x->dim[1] : 0;
        return *out_n > 0 ? n->in[0] : -1;
    }
    if (!sum) return -1;
    int x = g->tensors[n->in[0]].data ? n->in[1] : n->in[0];
    const struct hd_tensor *t = &g->tensors[x], *c = &g->tensors[n->in[n->in[0] == x ? 1 : 0]];
    if (t->data || !c->data || t->dtype != HD_F32 || !same_shape(t, &g->tensors[n->out[0]]))
        return -1;
    for (int d = 0; d < c->rank; d++) {
        if (c->dim[d] == 1) continue;
        if (*out_axis >= 0) return -1;
        *out_axis = d + t->rank - c->rank, *out_n = c->dim[d];
    }
    return x;
}

/* y = a * (of.a * x + of.b) + b, where either may be one number for all channels. */
static struct hd_affine composed(hd_arena *arena, struct hd_affine f, struct hd_affine of) {
    struct hd_affine y = hd_affine_new(arena, f.n > of.n ? f.n : of.n);
    for (int64_t c = 0; c < y.n; c++) {
        int64_t i = f.n > 1 ? c : 0, k = of.n > 1 ? c : 0;
        y.a[c] = f.a[i] * of.a[k];
        y.b[c] = f.a[i] * of.b[k] + f.b[i];
    }
    return y;
}

bool hd_quant_entry(const hd_graph *g, hd_arena *a, int t, struct hd_entry *out) {
    struct hd_entry e = {.x = t, .axis = -1, .f = hd_affine_new(a, 1)};
    e.f.a[0] = 1;
    while (!is_plain_input(g, e.x)) {
        int p = g->tensors[e.x].producer, axis, x;
        const struct hd_node *n = p < 0 ? NULL : &g->nodes[p];
        int64_t channels;
        if (!n || (x = variable_of(g, n, &axis, &channels)) < 0) return false;
        if (axis >= 0 && e.axis >= 0 && axis != e.axis) return false;
        if (e.x != t && hd_graph_only_user(g, e.x) < 0) return false;
        if (axis >= 0) e.axis = axis;
        if (!is_cast(g, n)) {
            struct hd_affine f = hd_affine_new(a, channels);
            if (!hd_affine_of(g, n, x, axis < 0 ? 0 : axis, &f)) return false;
            e.f = composed(a, e.f, f);
        }
        e.x = x;
    }
    const struct hd_tensor *x = &g->tensors[e.x];
    if (e.x == t || !(is_bytes(x) || x->dtype == HD_F32)) return false;
    for (int64_t c = 0; c < e.f.n; c++)
        if (!(e.f.a[c] > 0) || !isfinite(e.f.a[c]) || !isfinite(e.f.b[c])) return false;
    *out = e;
    return true;
}

/* ---- order ---- */

static bool is_plain_move(const struct hd_node *n) {
    return n->op == HD_IR_transpose || n->op == HD_IR_reshape || n->op == HD_IR_flatten ||
           n->op == HD_IR_squeeze || n->op == HD_IR_unsqueeze || n->op == HD_IR_slice ||
           n->op == HD_IR_gather;
}

/* Nothing but casts, factors, summands and moves by constants is between an input and t. */
static bool from_input(const hd_graph *g, int t) {
    while (!is_plain_input(g, t)) {
        int p = g->tensors[t].producer, axis;
        int64_t n;
        if (p < 0) return false;
        const struct hd_node *nd = &g->nodes[p];
        bool moves = is_plain_move(nd);
        for (int i = 1; moves && i < nd->n_in; i++)
            if (nd->in[i] >= 0 && !g->tensors[nd->in[i]].data) return false;
        t = moves ? nd->in[0] : variable_of(g, nd, &axis, &n);
        if (t < 0) return false;
    }
    return true;
}

/* The indices of a gather by a constant list; 0 = it is none. *axis: of what it reads. */
static int64_t picks(const hd_graph *g, const struct hd_node *n, int *out_axis,
                     const int64_t **out_index) {
    if (n->op != HD_IR_gather) return 0;
    const struct hd_tensor *x = &g->tensors[n->in[0]], *i = &g->tensors[n->in[1]];
    int64_t axis = hd_attr_int(n, "axis", 0);
    if (!x->known || !i->data || i->dtype != HD_I64 || i->rank != 1) return 0;
    *out_axis = (int)(axis < 0 ? axis + x->rank : axis);
    *out_index = i->data;
    return i->dim[0];
}

/* Dimension `axis` of what move n makes, in what it reads; -1: it is not one there. */
static int axis_before(const hd_graph *g, const struct hd_node *n, int axis) {
    int64_t perm[HD_MAX_RANK];
    int rank = g->tensors[n->in[0]].rank, at;
    const int64_t *index;
    if (n->op == HD_IR_transpose)
        return hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0) == rank ? (int)perm[axis] : -1;
    return picks(g, n, &at, &index) ? axis : -1;
}

/* Constant c for axis `to` of a tensor of this rank, n channels; -1: for all of it. */
static int turned(hd_graph *g, int c, int64_t n, int to, int rank) {
    struct hd_tensor t = g->tensors[c];
    int64_t dim[HD_MAX_RANK];
    for (int d = 0; d < rank; d++) dim[d] = d == to ? n : 1;
    return hd_graph_const(g, t.name, HD_F32, to < 0 ? 0 : rank, dim, t.data);
}

/* Constant c, of n channels, as it is in front of gather m of the same axis; -1: a channel is left
 * out, or there twice. Where m gathers along another axis, c. */
static int ungathered(hd_graph *g, hd_arena *a, int m, int c, int axis, int64_t n) {
    int at;
    const int64_t *index;
    if (!picks(g, &g->nodes[m], &at, &index) || at != axis) return c;
    const struct hd_tensor t = g->tensors[c];
    if (g->tensors[g->nodes[m].in[0]].dim[axis] != n) return -1;
    float *v = hd_new_array(a, float, (size_t)n + 1);
    bool *set = hd_new_array(a, bool, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t to = index[i] < 0 ? index[i] + n : index[i];
        if (set[to]) return -1;
        set[to] = true;
        v[to] = ((const float *)t.data)[i];
    }
    return hd_graph_const(g, t.name, HD_F32, t.rank, t.dim, v);
}

/* Node `like` anew, with other first operand x, and second c where c >= 0, swapped where the first
 * is the constant; the result is y. */
static void again(hd_graph *g, int like, int x, int c, int y) {
    const struct hd_node n = g->nodes[like];
    int *in = hd_dup(g->arena, n.in, (size_t)n.n_in * sizeof *in);
    int slot = c >= 0 && g->tensors[n.in[0]].data ? 1 : 0;
    in[slot] = x;
    if (c >= 0) in[1 - slot] = c;
    hd_graph_kill(g, like);
    int id = hd_graph_node(g, n.op, n.name, n.n_in, in, 1, &y);
    hd_qdq_copy_attrs(g, id, like, false);
    hd_graph_swap_names(g, id, like);
}

static int new_tensor(hd_graph *g, int y, hd_dtype type, int like) {
    const struct hd_tensor t = g->tensors[like];
    return hd_graph_tensor(g, hd_sprintf(g->arena, "%s.first", g->tensors[y].name), type, t.rank,
                           t.dim);
}

/* The constant operand of a factor or summand; -1 = a cast has none. */
static int constant_of(const hd_graph *g, const struct hd_node *n) {
    return n->n_in < 2 ? -1 : n->in[g->tensors[n->in[0]].data ? 0 : 1];
}

/* Bytes come in, so a factor for each channel is an operation of its own. */
static bool starts_as_bytes(const hd_graph *g, int t) {
    while (g->tensors[t].producer >= 0) {
        const struct hd_node *n = &g->nodes[g->tensors[t].producer];
        t = n->in[n->n_in > 1 && g->tensors[n->in[0]].data ? 1 : 0];
    }
    return is_bytes(&g->tensors[t]);
}

/* f(move(u)) -> move(f(u)) */
static bool hoist(hd_graph *g, hd_arena *a, int f) {
    int axis, to = -1;
    int64_t channels;
    const struct hd_node n = g->nodes[f];
    int v = n.op == HD_IR_batchnorm ? -1 : variable_of(g, &n, &axis, &channels);
    int m = v < 0 || hd_graph_only_user(g, v) < 0 ? -1 : g->tensors[v].producer;
    if (m < 0 || !is_plain_move(&g->nodes[m])) return false;
    int u = g->nodes[m].in[0], y = n.out[0];
    int c = constant_of(g, &n);
    if (axis >= 0) {
        to = starts_as_bytes(g, u) ? -1 : axis_before(g, &g->nodes[m], axis);
        if (to < 0 || (c = ungathered(g, a, m, c, axis, channels)) < 0) return false;
    }
    int mid = new_tensor(g, y, HD_F32, u);
    if (c >= 0) c = turned(g, c, channels, to, g->tensors[u].rank);
    again(g, f, u, c, mid);
    again(g, m, mid, -1, y);
    return true;
}

/* transpose(f(u)) -> f(transpose(u)) of bytes, where that brings channels to axis 1. */
static bool sink(hd_graph *g, int m) {
    int axis, y = g->nodes[m].out[0], f = g->tensors[g->nodes[m].in[0]].producer;
    int64_t channels, perm[HD_MAX_RANK];
    if (f < 0 || g->nodes[m].op != HD_IR_transpose || g->nodes[f].op == HD_IR_batchnorm ||
        hd_graph_only_user(g, g->nodes[m].in[0]) < 0)
        return false;
    const struct hd_node n = g->nodes[f];
    int u = variable_of(g, &n, &axis, &channels), rank = g->tensors[y].rank;
    if (u < 0 || axis < 0 || axis == 1 || !starts_as_bytes(g, u) || rank < 3 || rank > 4 ||
        hd_attr_ints(&g->nodes[m], "perm", perm, HD_MAX_RANK, 0) != rank || perm[1] != axis)
        return false;
    int c = turned(g, constant_of(g, &n), channels, 1, rank), mid = new_tensor(g, y, HD_F32, y);
    again(g, m, u, -1, mid);
    again(g, f, mid, c, y);
    return true;
}

/* ---- channels in another order ---- */

struct slice {
    int64_t start, end, axis, step;
};

/* A slice along one axis by constants. */
static bool slice_of(const hd_graph *g, const struct hd_node *n, struct slice *s) {
    *s = (struct slice){.step = 1};
    int64_t *const v[] = {&s->start, &s->end, &s->axis, &s->step};
    if (n->op != HD_IR_slice || n->n_in < 4) return false;
    for (int i = 1; i < n->n_in; i++)
        if (n->in[i] >= 0 && hd_const_list(&g->tensors[n->in[i]], v[i - 1], 1) != 1) return false;
    if (s->axis < 0) s->axis += g->tensors[n->in[0]].rank;
    return n->in[3] >= 0;
}

/* Where piece t of a split or slice along an axis lies in *x; the count, 0 = it is no such. */
static int64_t piece(const hd_graph *g, int t, int axis, int *x, int64_t *first, int64_t *step) {
    int p = g->tensors[t].producer;
    const struct hd_node *n = p < 0 ? NULL : &g->nodes[p];
    struct slice s;
    *step = 1;
    if (!n || !g->tensors[t].known) return 0;
    if (n->op == HD_IR_split) {
        int64_t along = hd_attr_int(n, "axis", 0);
        *x = n->in[0], *first = 0;
        if ((along < 0 ? along + g->tensors[t].rank : along) != axis) return 0;
        for (int i = 0; n->out[i] != t; i++) {
            if (n->out[i] < 0) return 0;
            *first += g->tensors[n->out[i]].dim[axis];
        }
        return g->tensors[t].dim[axis];
    }
    if (!slice_of(g, n, &s) || s.axis != axis || !g->tensors[n->in[0]].known) return 0;
    *x = n->in[0], *step = s.step;
    *first = hd_slice_start(s.start, s.step, g->tensors[*x].dim[axis]);
    return g->tensors[t].dim[axis];
}

/* concat(pieces of x), or a slice backwards, as gather(x). */
static bool as_gather(hd_graph *g, hd_arena *a, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor y = g->tensors[n.out[0]];
    struct slice s;
    bool joins = n.op == HD_IR_concat, backwards = slice_of(g, &n, &s) && s.step == -1;
    int from = -1;
    if (!(joins || backwards) || !y.known) return false;
    int axis = (int)(joins ? hd_attr_int(&n, "axis", 0) : s.axis);
    axis += axis < 0 ? y.rank : 0;
    int64_t *index = hd_new_array(a, int64_t, (size_t)y.dim[axis] + 1), count = 0;
    for (int i = 0; i < (joins ? n.n_in : 1); i++) {
        int x = -1;
        int64_t first, step, k = piece(g, joins ? n.in[i] : n.out[0], axis, &x, &first, &step);
        if (!k || (from >= 0 && x != from)) return false;
        from = x;
        for (int64_t c = 0; c < k; c++) index[count++] = first + c * step;
    }
    if (count != g->tensors[from].dim[axis] || !from_input(g, from)) return false;
    int in[2] = {from, hd_graph_const(g, "channels", HD_I64, 1, &count, index)}, out = n.out[0];
    hd_graph_kill(g, node);
    int id = hd_graph_node(g, HD_IR_gather, n.name, 2, in, 1, &out);
    hd_attr_set_int(g, id, "axis", axis);
    hd_graph_swap_names(g, id, node);
    return true;
}

/* transpose(gather(x)) -> gather(transpose(x)) */
static bool turn_gather(hd_graph *g, int m) {
    int p = g->tensors[g->nodes[m].in[0]].producer, y = g->nodes[m].out[0], axis, to = -1;
    const int64_t *index;
    int64_t perm[HD_MAX_RANK];
    int rank = g->tensors[y].rank;
    if (p < 0 || g->nodes[m].op != HD_IR_transpose || !picks(g, &g->nodes[p], &axis, &index) ||
        hd_graph_only_user(g, g->nodes[m].in[0]) < 0 || !from_input(g, g->nodes[p].in[0]) ||
        hd_attr_ints(&g->nodes[m], "perm", perm, HD_MAX_RANK, 0) != rank)
        return false;
    const struct hd_node pick = g->nodes[p];
    const struct hd_tensor *x = &g->tensors[pick.in[0]];
    if (x->dim[axis] != g->tensors[pick.out[0]].dim[axis]) return false;
    for (int d = 0; d < rank; d++)
        if (perm[d] == axis) to = d;
    int mid = new_tensor(g, y, x->dtype, y);
    again(g, m, pick.in[0], -1, mid);
    again(g, p, mid, -1, y);
    hd_attr_set_int(g, (int)g->n_nodes - 1, "axis", to);
    return true;
}

/* conv(gather(x)), of channels: its weights in the order of x. */
static bool absorb_gather(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    int p = n.op == HD_IR_conv ? g->tensors[n.in[0]].producer : -1, axis;
    const int64_t *index;
    if (p < 0 || hd_quant_weights(g, node) < 0 || hd_attr_int(&n, "group", 1) != 1 ||
        hd_graph_only_user(g, n.in[0]) < 0)
        return false;
    int64_t count = picks(g, &g->nodes[p], &axis, &index), inner = 1;
    const struct hd_tensor w = g->tensors[n.in[1]];
    if (!count) return false;
    int x = g->nodes[p].in[0];
    if (axis != 1 || count != g->tensors[x].dim[1] || !from_input(g, x)) return false;
    for (int d = 2; d < w.rank; d++) inner *= w.dim[d];
    const float *v = w.data;
    float *out = hd_new_array(g->arena, float, (size_t)hd_tensor_elems(&w) + 1);
    for (int64_t o = 0; o < w.dim[0]; o++)
        for (int64_t c = 0; c < count; c++)
            for (int64_t i = 0; i < inner; i++) {
                int64_t to = index[c] < 0 ? index[c] + count : index[c];
                out[(o * count + to) * inner + i] += v[(o * count + c) * inner + i];
            }
    g->nodes[node].in[0] = x;
    g->nodes[node].in[1] =
        hd_graph_const(g, hd_sprintf(g->arena, "%s.ordered", w.name), HD_F32, w.rank, w.dim, out);
    return true;
}

/* A factor or summand for each channel of bytes: a convolution (canonical.c). */
static bool of_bytes(hd_graph *g, hd_arena *a, int node) {
    int axis;
    int64_t channels;
    const struct hd_node *n = &g->nodes[node];
    int x = variable_of(g, n, &axis, &channels);
    if (x < 0 || axis != 1 || is_cast(g, n) || !starts_as_bytes(g, x)) return false;
    bool *wanted = hd_new_array(a, bool, g->n_nodes + 1);
    wanted[node] = true;
    return hd_quant_canonical(g, a, wanted);
}

bool hd_quant_entry_moves(hd_graph *g, hd_arena *a, int node) {
    const struct hd_node *n = &g->nodes[node];
    if (n->n_out != 1 || n->out[0] < 0) return false;
    if (absorb_gather(g, node) || as_gather(g, a, node)) return true;
    return from_input(g, n->out[0]) &&
           (hoist(g, a, node) || sink(g, node) || turn_gather(g, node) || of_bytes(g, a, node));
}
