/* Products in the form that devices know: a matmul with the weights on its right.
 *
 * An einsum of two operands: labels of both operands and the result are the batch of the matmul,
 * labels of both alone its reduction, the others rows and columns.
 *
 *   bhid,bhjd->bhij   batch bh, rows i, columns j, reduction d
 *
 * Source: ONNX Einsum-12. */
#include <string.h>

#include "compiler/ir/einsum.h"
#include "compiler/pass/qdq.h"
#include "compiler/pass/rewrite.h"

enum part { BATCH, ROWS, COLUMNS, SUM, PARTS };

struct labels {
    int n;
    int64_t id[HD_MAX_RANK], size;
};

struct einsum {
    hd_ctx *ctx;
    struct hd_match *m;
    struct hd_einsum e;
    const struct hd_tensor *x[2];
    struct labels part[PARTS];
};

/* A constant, or one that is dequantised. */
static bool is_weights(const hd_graph *g, int t) {
    return g->tensors[t].data || hd_qdq_constant(g, t);
}

/* The dimension of operand i that has the label; -1: none, -2: several, or one that broadcasts. */
static int position(const struct einsum *s, int i, int label) {
    int found = -1;
    for (int d = 0; d < s->x[i]->rank; d++) {
        if (s->e.label[i][d] != label) continue;
        if (found >= 0 || s->x[i]->dim[d] != s->e.size[label]) return -2;
        found = d;
    }
    return found;
}

/* Sorts the labels into parts, a and b the operands on the left and right of the product. */
static bool sort_labels(struct einsum *s, int a, int b) {
    for (int p = 0; p < PARTS; p++) s->part[p] = (struct labels){.size = 1};
    for (int l = 0; l < s->e.n_labels; l++) {
        int left = position(s, a, l), right = position(s, b, l);
        bool result = l < s->e.n_out;
        if (left < -1 || right < -1 || (!result && (left < 0 || right < 0))) return false;
        struct labels *p = &s->part[left >= 0 && right >= 0 ? (result ? BATCH : SUM)
                                    : left >= 0             ? ROWS
                                                            : COLUMNS];
        p->id[p->n++] = l;
        p->size *= s->e.size[l];
    }
    return s->part[SUM].n > 0;
}

static int moved(struct einsum *s, int x, int rank, const int64_t *perm) {
    bool moves = false;
    for (int d = 0; d < rank; d++) moves = moves || perm[d] != d;
    return moves ? hd_match_emit(s->ctx, s->m, HD_IR_transpose, 1, &x, "perm", rank, perm) : x;
}

static int shaped(struct einsum *s, int x, int rank, const int64_t *dim) {
    const struct hd_tensor *t = &s->m->g->tensors[x];
    if (t->rank == rank && !memcmp(t->dim, dim, (size_t)rank * sizeof *dim)) return x;
    return hd_match_emit(s->ctx, s->m, HD_IR_reshape, 1, &x, "shape", rank, dim);
}

/* Operand i as [batch.., first, second]: labels of a part side by side, and then as one. */
static int operand(struct einsum *s, int i, int x, enum part first, enum part second) {
    const enum part order[3] = {BATCH, first, second};
    int64_t perm[HD_MAX_RANK], dim[HD_MAX_RANK];
    int n = 0, rank = 0;
    for (int p = 0; p < 3; p++)
        for (int k = 0; k < s->part[order[p]].n; k++)
            perm[n++] = position(s, i, (int)s->part[order[p]].id[k]);
    for (; rank < s->part[BATCH].n; rank++) dim[rank] = s->e.size[s->part[BATCH].id[rank]];
    dim[rank++] = s->part[first].size;
    dim[rank++] = s->part[second].size;
    x = moved(s, x, n, perm);
    return x < 0 ? -1 : shaped(s, x, rank, dim);
}

/* The result of the product, [batch.., rows, columns], in the order of the equation. */
static int result(struct einsum *s, int y) {
    int64_t perm[HD_MAX_RANK], dim[HD_MAX_RANK];
    int n = 0;
    for (int p = 0; p < SUM; p++)
        for (int k = 0; k < s->part[p].n; k++) {
            perm[s->part[p].id[k]] = n;
            dim[n++] = s->e.size[s->part[p].id[k]];
        }
    y = shaped(s, y, n, dim);
    return y < 0 ? -1 : moved(s, y, n, perm);
}

int hd_rw_einsum(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    const struct hd_node n = g->nodes[m->root];
    struct einsum s = {.ctx = ctx, .m = m};
    bool known = n.n_in == 2 && !g->specialised;
    for (int i = 0; known && i < 2; i++)
        known = g->tensors[n.in[i]].known && g->tensors[n.in[i]].dtype == HD_F32;
    if (!known) return -1;
    const struct hd_tensor x[2] = {g->tensors[n.in[0]], g->tensors[n.in[1]]};
    s.x[0] = &x[0], s.x[1] = &x[1];
    if (hd_einsum_parse(ctx, hd_attr_string(&n, "equation", ""), 2, s.x, &s.e) != HD_OK) {
        hd_clear(ctx);
        return -1;
    }
    int a = is_weights(g, n.in[0]) && !is_weights(g, n.in[1]), b = 1 - a; /* weights on the right */
    if (!sort_labels(&s, a, b) || s.part[BATCH].n + 2 > HD_MAX_RANK) return -1;
    int left = operand(&s, a, n.in[a], ROWS, SUM);
    int right = left < 0 ? -1 : operand(&s, b, n.in[b], SUM, COLUMNS);
    if (right < 0) return -1;
    int y = hd_match_emit(ctx, m, HD_IR_matmul, 2, (int[]){left, right}, NULL, 0, NULL);
    if (y < 0) return -1;
    hd_graph_swap_names(g, m->made, m->root); /* it does the work that reports speak of */
    return result(&s, y);
}

/* The last two dimensions of t change places. */
static int turned(hd_ctx *ctx, struct hd_match *m, int t) {
    int rank = t < 0 ? 0 : m->g->tensors[t].rank;
    int64_t perm[HD_MAX_RANK];
    if (rank < 2) return -1;
    for (int d = 0; d < rank; d++) perm[d] = d;
    perm[rank - 2] = rank - 1, perm[rank - 1] = rank - 2;
    return hd_match_emit(ctx, m, HD_IR_transpose, 1, &t, "perm", rank, perm);
}

/* Weights of one batch, [1,..,k,n], as a matrix, where x has their rank at least; else w. */
static int as_matrix(hd_graph *g, int w, const struct hd_tensor *x) {
    const struct hd_tensor t = g->tensors[w];
    int64_t batches = 1;
    if (!t.data || t.rank < 3 || !x->known || x->rank < t.rank) return w;
    for (int d = 0; d < t.rank - 2; d++) batches *= t.dim[d];
    if (batches != 1) return w;
    const char *name = hd_sprintf(g->arena, "%s.flat", t.name);
    return hd_graph_const(g, name, t.dtype, 2, t.dim + t.rank - 2, t.data);
}

int hd_rw_weights_right(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    int w = hd_match_get(m, "w"), x = hd_match_get(m, "x");
    if (!is_weights(g, w) || is_weights(g, x)) return -1;
    w = as_matrix(g, w, &g->tensors[x]);
    const struct hd_tensor *tw = &g->tensors[w], *tx = &g->tensors[x];
    if (!tw->known || !tx->known || tw->dtype != HD_F32 || tw->rank != 2) return -1;
    int in[2] = {turned(ctx, m, x), turned(ctx, m, w)};
    if (in[0] < 0 || in[1] < 0) return -1;
    int y = hd_match_emit(ctx, m, HD_IR_matmul, 2, in, NULL, 0, NULL);
    if (y < 0) return -1;
    hd_graph_swap_names(g, m->made, m->root); /* it does the work that reports speak of */
    return turned(ctx, m, y);
}

int hd_rw_weights_flat(hd_ctx *ctx, struct hd_match *m) {
    int x = hd_match_get(m, "x"), w = hd_match_get(m, "w");
    int in[2] = {x, as_matrix(m->g, w, &m->g->tensors[x])};
    return in[1] == w ? -1 : hd_match_emit(ctx, m, HD_IR_matmul, 2, in, NULL, 0, NULL);
}
