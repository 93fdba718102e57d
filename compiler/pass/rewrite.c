/* Rewrites that keep values: see rewrite.h. */
#include "compiler/pass/rewrite.h"

#include <string.h>

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
