/* Rewrites that keep values: see rewrite.h. */
#include "compiler/pass/rewrite.h"

#include <string.h>

#include "compiler/ir/move.h"
#include "compiler/ir/window.h"
#include "compiler/pass/qdq.h"

void hd_pass_copy_attrs(hd_graph *g, int to, int from) {
    hd_qdq_copy_attrs(g, to, from, false);
}

static int result(const struct hd_match *m) {
    return m->g->nodes[m->root].out[0];
}

/* Shapes of a specialised graph are those of one run: nothing may be built on them. */
static bool moves_by_shape(enum hd_ir_op op) {
    return op == HD_IR_reshape || op == HD_IR_flatten || op == HD_IR_squeeze ||
           op == HD_IR_unsqueeze || op == HD_IR_expand || op == HD_IR_tile || op == HD_IR_slice;
}

int hd_rw_operand(hd_ctx *ctx, struct hd_match *m) {
    (void)ctx; /* the caller compares type and shape */
    if (m->g->specialised && moves_by_shape(m->g->nodes[m->root].op)) return -1;
    return hd_match_get(m, "x");
}

int hd_rw_square(hd_ctx *ctx, struct hd_match *m) {
    int x = hd_match_get(m, "x");
    hd_dtype t = m->g->tensors[x].dtype;
    if (t != HD_F32 && t != HD_F64) return -1;
    return hd_match_emit(ctx, m, HD_IR_mul, 2, (int[]){x, x}, NULL, 0, NULL);
}

/* Integers below 2^bits, with a sign or not; floats have 0 < bits of mantissa. */
static bool holds(hd_dtype wide, hd_dtype t) {
    static const struct {
        int bits;
        bool sign, real;
    } of[HD_DTYPES] = {
        [HD_F32] = {24, true, true},   [HD_U8] = {8, false, false},   [HD_I8] = {7, true, false},
        [HD_U16] = {16, false, false}, [HD_I16] = {15, true, false},  [HD_I32] = {31, true, false},
        [HD_I64] = {63, true, false},  [HD_BOOL] = {1, false, false}, [HD_F16] = {11, true, true},
        [HD_F64] = {53, true, true},   [HD_U32] = {32, false, false}, [HD_U64] = {64, false, false},
        [HD_BF16] = {8, true, true}};
    if (of[t].real && !of[wide].real) return false;
    if (wide == HD_F16 && t == HD_BF16) return false; /* its exponents */
    if (wide == HD_F16 && !of[t].real) return of[t].bits <= 11;
    return of[wide].bits >= of[t].bits && (of[wide].sign || !of[t].sign) && wide != HD_BOOL;
}

int hd_rw_cast_cast(hd_ctx *ctx, struct hd_match *m) {
    int x = hd_match_get(m, "x");
    const struct hd_tensor *t = &m->g->tensors[x], *mid = &m->g->tensors[hd_match_get(m, "m")];
    if (!t->known || !mid->known || !holds(mid->dtype, t->dtype)) return -1;
    if (t->dtype == m->g->tensors[result(m)].dtype) return x;
    return hd_match_emit(ctx, m, HD_IR_cast, 1, &x, NULL, 0, NULL);
}

int hd_rw_reshape(hd_ctx *ctx, struct hd_match *m) {
    const struct hd_tensor y = m->g->tensors[result(m)];
    if (!y.known || m->g->specialised) return -1;
    return hd_match_emit(ctx, m, HD_IR_reshape, 1, (int[]){hd_match_get(m, "x")}, "shape", y.rank,
                         y.dim);
}

/* The permutation of a transpose node; false when the rank is not known. */
static bool perm_of(const hd_graph *g, int node, int64_t *perm, int *rank) {
    const struct hd_node *n = &g->nodes[node];
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    *rank = x->rank;
    if (n->op != HD_IR_transpose || !x->known) return false;
    if (!hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0))
        for (int d = 0; d < x->rank; d++) perm[d] = x->rank - 1 - d;
    return true;
}

int hd_rw_transpose_twice(hd_ctx *ctx, struct hd_match *m) {
    int64_t a[HD_MAX_RANK], b[HD_MAX_RANK], c[HD_MAX_RANK];
    int rank = 0, x = hd_match_get(m, "x");
    bool moves = false;
    if (!perm_of(m->g, m->g->tensors[hd_match_get(m, "t")].producer, a, &rank) ||
        !perm_of(m->g, m->root, b, &rank))
        return -1;
    for (int d = 0; d < rank; d++) {
        c[d] = a[b[d]];
        moves = moves || c[d] != d;
    }
    return moves ? hd_match_emit(ctx, m, HD_IR_transpose, 1, &x, "perm", rank, c) : x;
}

int hd_rw_transpose_ones(hd_ctx *ctx, struct hd_match *m) {
    int64_t perm[HD_MAX_RANK], last = -1;
    int rank = 0, x = hd_match_get(m, "x");
    if (!perm_of(m->g, m->root, perm, &rank)) return -1;
    const struct hd_tensor *t = &m->g->tensors[x];
    bool moves = false;
    for (int d = 0; d < rank; d++) {
        moves = moves || perm[d] != d;
        if (t->dim[perm[d]] == 1) continue;
        if (perm[d] < last) return -1;
        last = perm[d];
    }
    return moves ? hd_rw_reshape(ctx, m) : x;
}

/* Operand i of a node, a list of numbers or absent. */
static int list_of(const hd_graph *g, const struct hd_node *n, int i, int64_t *out, int max) {
    return i < n->n_in && n->in[i] >= 0 ? hd_const_list(&g->tensors[n->in[i]], out, max) : 0;
}

/* What node p puts around its operand is what the window of node n takes for its own padding. */
static bool is_padding(const hd_graph *g, const struct hd_node *p, const struct hd_node *n) {
    static const int lowest[HD_DTYPES] = {[HD_I8] = INT8_MIN, [HD_I16] = INT16_MIN};
    double zero = n->op != HD_IR_qmaxpool ? (double)hd_attr_int(n, "x_zp", 0)
                                          : lowest[g->tensors[p->in[0]].dtype];
    int value = p->n_in > 2 ? p->in[2] : -1;
    return !strcmp(hd_attr_string(p, "mode", "constant"), "constant") &&
           !hd_attr_int(n, "ceil_mode", 0) &&
           (value < 0 ? zero == 0 : hd_const_is(g, value, zero, false));
}

int hd_rw_padded(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    int t = hd_match_get(m, "p"), x = hd_match_get(m, "x");
    const struct hd_node n = g->nodes[m->root], p = g->nodes[g->tensors[t].producer];
    int64_t list[2 * HD_MAX_RANK], axes[HD_MAX_RANK], around[2 * HD_MAX_RANK];
    int64_t pads[2 * HD_MAX_SPATIAL];
    int n_axes = list_of(g, &p, 3, axes, HD_MAX_RANK), in[4];
    struct hd_window_nd v;
    if (n.in[0] != t || n.n_in > 4 || g->specialised || !g->tensors[t].known || n_axes < 0 ||
        list_of(g, &p, 1, list, 2 * HD_MAX_RANK) <= 0 || !is_padding(g, &p, &n))
        return -1;
    const int64_t *kernel = n.n_in > 1 ? g->tensors[n.in[1]].dim + 2 : NULL;
    if (hd_window_nd_get(ctx, &n, &g->tensors[t], kernel, &v) != HD_OK) return hd_clear(ctx), -1;
    hd_pads_spread(v.sp + 2, list, n_axes, axes, around);
    for (int d = 0; d < v.sp + 2; d++) {
        int64_t before = around[d], after = around[d + v.sp + 2];
        if (before < 0 || after < 0 || (d < 2 && before + after)) return -1;
        if (d < 2) continue;
        pads[d - 2] = v.before[d - 2] + before, pads[v.sp + d - 2] = v.after[d - 2] + after;
        int64_t taps = (v.kernel[d - 2] - 1) * v.dilation[d - 2];
        if (pads[d - 2] > taps || pads[v.sp + d - 2] > taps) return -1; /* windows of padding */
    }
    const struct hd_tensor y = g->tensors[n.out[0]];
    memcpy(in, n.in, (size_t)n.n_in * sizeof *in);
    in[0] = x;
    int out = hd_graph_tensor(g, y.name, y.dtype, y.rank, y.dim);
    m->made = hd_graph_node(g, n.op, n.name, n.n_in, in, 1, &out);
    g->nodes[m->made].source = n.source;
    hd_pass_copy_attrs(g, m->made, m->root);
    hd_attr_remove(g, m->made, "auto_pad");
    hd_attr_set_ints(g, m->made, "pads", 2 * v.sp, pads);
    return out;
}

int hd_rw_turned_pad(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    int t = hd_match_get(m, "p"), x = hd_match_get(m, "x");
    const struct hd_tensor *from = &g->tensors[t], *to = &g->tensors[result(m)];
    const struct hd_node p = g->nodes[from->producer];
    int64_t list[2 * HD_MAX_RANK], axes[HD_MAX_RANK], around[2 * HD_MAX_RANK], dim[4], turned[8];
    int n_axes = list_of(g, &p, 3, axes, HD_MAX_RANK);
    if (from->rank != 4 || g->specialised || n_axes < 0 ||
        list_of(g, &p, 1, list, 2 * HD_MAX_RANK) <= 0)
        return -1;
    bool first = hd_reshape_moves(from, to, 3, 1); /* channels, else last */
    if (!first && !hd_reshape_moves(from, to, 1, 3)) return -1;
    hd_pads_spread(4, list, n_axes, axes, around);
    for (int d = 0; d < 4; d++) {
        int of = hd_moved_dim(first ? 3 : 1, first ? 1 : 3, d);
        dim[d] = g->tensors[x].dim[of];
        turned[d] = around[of], turned[d + 4] = around[of + 4];
    }
    int in[3] = {hd_match_emit(ctx, m, HD_IR_reshape, 1, &x, "shape", 4, dim), -1,
                 p.n_in > 2 ? p.in[2] : -1};
    if (in[0] < 0) return -1;
    int64_t eight = 8;
    in[1] = hd_graph_const(g, hd_sprintf(g->arena, "%s.pads", g->tensors[t].name), HD_I64, 1,
                           &eight, hd_dup(g->arena, turned, sizeof turned));
    int out = hd_match_emit(ctx, m, HD_IR_pad, p.n_in > 2 ? 3 : 2, in, NULL, 0, NULL);
    if (out < 0) return -1;
    hd_pass_copy_attrs(g, m->made, g->tensors[t].producer);
    return out;
}

/* The moving node in front of the root reads the root's operation instead. */
int hd_rw_sink(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    int t = hd_match_get(m, "t"), u = hd_match_get(m, "u"), c = hd_match_get(m, "c"), rank = 0;
    int x = hd_match_get(m, "x"), y = hd_match_get(m, "y"), mover = g->tensors[t].producer;
    int64_t perm[HD_MAX_RANK], other[HD_MAX_RANK];
    bool swaps = g->nodes[mover].op == HD_IR_transpose;
    if (swaps ? !perm_of(g, mover, perm, &rank) : g->specialised) return -1;
    if (u >= 0 && (!perm_of(g, g->tensors[u].producer, other, &rank) ||
                   g->tensors[x].rank != g->tensors[y].rank ||
                   memcmp(perm, other, (size_t)rank * sizeof *perm)))
        return -1;
    if (c >= 0 && (hd_tensor_elems(&g->tensors[c]) != 1 || g->tensors[c].rank > g->tensors[x].rank))
        return -1;
    const struct hd_node *root = &g->nodes[m->root];
    int in[2] = {root->in[0], root->n_in > 1 ? root->in[1] : -1};
    for (int i = 0; i < 2; i++) in[i] = in[i] == t ? x : in[i] == u ? y : in[i];
    const struct hd_tensor shape = g->tensors[result(m)];
    int mapped = hd_match_emit(ctx, m, root->op, root->n_in, in, NULL, 0, NULL);
    if (mapped < 0) return -1;
    hd_graph_swap_names(g, m->made, m->root); /* it does the work that reports speak of */
    return swaps ? hd_match_emit(ctx, m, HD_IR_transpose, 1, &mapped, "perm", rank, perm)
                 : hd_match_emit(ctx, m, HD_IR_reshape, 1, &mapped, "shape", shape.rank, shape.dim);
}
