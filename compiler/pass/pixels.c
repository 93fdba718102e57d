/* Images that are made of rows, in the order in which memory has them, for the machine.
 *
 *   image(f(product(x, w)))   ->   transpose(reshape(f(product(x, w'))))
 *
 * image: reshapes and transposes, to [N,C,H,W]; f: functions of single bytes, between them, too. A
 * feature of a row is a channel at a place in the image. The rows of w', with bias and scale, are
 * those of w with channels last, so the product makes whole pixels.
 *
 * needs: shapes, integers. gives: the same values. destroys: nodes that nothing reads
 *
 * Decoders of images and of spectra begin so. In any other order each byte is moved for itself.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"

enum { CHAIN_MOST = 12, IMAGE = 4, ELEMENTS_MOST = 1 << 22 };

struct chain {
    int node[CHAIN_MOST], n; /* behind the product */
    int last;                /* what they make */
};

static bool is_function(const struct hd_node *n) {
    return n->op == HD_IR_qtable || n->op == HD_IR_qrescale;
}

static bool reads_image(const hd_graph *g, const struct hd_node *n) {
    switch (n->op) {
    case HD_IR_qconv:
    case HD_IR_qconvtranspose:
    case HD_IR_qresize:
    case HD_IR_qmaxpool:
    case HD_IR_qavgpool:
        return true;
    case HD_IR_concat: {
        int next = hd_graph_only_user(g, n->out[0]);
        return next >= 0 && g->nodes[next].op != HD_IR_concat && reads_image(g, &g->nodes[next]);
    }
    default:
        return false;
    }
}

/* What reads the product's result, as far as it only moves or is a function. */
static bool find_chain(const hd_graph *g, int t, struct chain *c) {
    int next;
    for (c->n = 0; (next = hd_graph_only_user(g, t)) >= 0; t = g->nodes[next].out[0]) {
        const struct hd_node *n = &g->nodes[next];
        bool moves = (n->op == HD_IR_reshape || n->op == HD_IR_transpose) && !hd_attr_get(n, "by");
        if ((!moves && !is_function(n)) || hd_graph_is_output(g, t)) break;
        if (c->n == CHAIN_MOST) return false;
        c->node[c->n++] = next;
    }
    const struct hd_tensor *z = &g->tensors[t];
    c->last = t;
    return next >= 0 && z->known && z->rank == IMAGE && z->dim[1] > 1 &&
           hd_tensor_elems(z) <= ELEMENTS_MOST && reads_image(g, &g->nodes[next]);
}

/* of[e]: which element of the operand is element e of the result. */
static void turn(const struct hd_tensor *x, const struct hd_node *n, const int32_t *x_of,
                 int32_t *of) {
    int64_t perm[HD_MAX_RANK], step[HD_MAX_RANK] = {0}, count = hd_tensor_elems(x), of_x = 1;
    for (int d = x->rank - 1; d >= 0; of_x *= x->dim[d--]) step[d] = of_x;
    if (!hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0))
        for (int d = 0; d < x->rank; d++) perm[d] = x->rank - 1 - d;
    for (int64_t e = 0; e < count; e++) {
        int64_t rest = e, at = 0;
        for (int d = x->rank - 1; d >= 0; rest /= x->dim[perm[d]], d--)
            at += rest % x->dim[perm[d]] * step[perm[d]];
        of[e] = x_of[at];
    }
}

/* to[f]: where feature f of each row lies, with channels last; false: rows are torn apart, or in
 * that order already. */
static bool places(const hd_graph *g, const struct chain *c, int64_t features, int32_t *to) {
    const struct hd_tensor *z = &g->tensors[c->last];
    int64_t count = hd_tensor_elems(z), pixels = z->dim[2] * z->dim[3];
    int32_t *of = malloc((size_t)count * sizeof *of), *next = malloc((size_t)count * sizeof *of);
    HD_ASSERT(of && next);
    for (int64_t e = 0; e < count; e++) of[e] = (int32_t)e;
    for (int i = 0; i < c->n; i++) {
        const struct hd_node *n = &g->nodes[c->node[i]];
        if (n->op != HD_IR_transpose) continue;
        turn(&g->tensors[n->in[0]], n, of, next);
        int32_t *was = of;
        of = next, next = was;
    }
    bool whole = true, same = true;
    for (int64_t f = 0; f < features; f++) to[f] = -1;
    for (int64_t e = 0; e < count && whole; e++) {
        int64_t pixel = e / pixels / z->dim[1] * pixels + e % pixels,
                at = pixel * z->dim[1] + e / pixels % z->dim[1], f = of[e] % features;
        if (to[f] < 0) to[f] = (int32_t)(at % features);
        whole = at / features == of[e] / features && to[f] == at % features;
        same = same && to[f] == f;
    }
    free(of), free(next);
    return whole && !same;
}

/* Constant t of one row for each feature, in the order of the image; of one element as it is. */
static int ordered(hd_graph *g, int t, int64_t features, const int32_t *to) {
    const struct hd_tensor c = g->tensors[t];
    size_t row = hd_tensor_bytes(&c) / (size_t)features;
    if (hd_tensor_elems(&c) == 1 && features > 1) return t;
    char *v = hd_alloc(g->arena, hd_tensor_bytes(&c));
    for (int64_t f = 0; f < features; f++)
        memcpy(v + (size_t)to[f] * row, (const char *)c.data + (size_t)f * row, row);
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.pixels", c.name), c.dtype, c.rank, c.dim, v);
}

/* Node `node` of these operands, in place of it; its result, which has these dimensions. */
static int again(hd_graph *g, int node, int n_in, const int *in, int rank, const int64_t *dim) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor y = g->tensors[n.out[0]];
    int made = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.pixels", y.name), y.dtype, rank, dim);
    hd_qdq_instead(g, node, n.op, n_in, in, made);
    return made;
}

static void look_at(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    struct chain c;
    if (n.dead || n.op != HD_IR_qgemm || n.n_in != 4) return;
    for (int k = 1; k < 4; k++)
        if (!g->tensors[n.in[k]].data) return;
    const struct hd_tensor y = g->tensors[n.out[0]];
    if (!y.known || y.rank != 2 || !find_chain(g, n.out[0], &c)) return;
    int32_t *to = hd_new_array(g->arena, int32_t, (size_t)y.dim[1] + 1);
    if (!places(g, &c, y.dim[1], to)) return;
    int in[4] = {n.in[0]};
    for (int k = 1; k < 4; k++) in[k] = ordered(g, n.in[k], y.dim[1], to);
    int made = again(g, node, 4, in, y.rank, y.dim);
    for (int i = 0; i < c.n; i++) {
        const struct hd_node f = g->nodes[c.node[i]];
        int of[2] = {made, f.n_in > 1 ? f.in[1] : -1};
        if (is_function(&f))
            made = again(g, c.node[i], f.n_in, of, y.rank, y.dim);
        else
            hd_graph_kill(g, c.node[i]);
    }
    const struct hd_tensor z = g->tensors[c.last];
    int64_t last[IMAGE] = {z.dim[0], z.dim[2], z.dim[3], z.dim[1]}, perm[IMAGE] = {0, 3, 1, 2};
    made = hd_moved(g, HD_IR_reshape, made, IMAGE, last, "shape", last, -1);
    hd_moved(g, HD_IR_transpose, made, IMAGE, z.dim, "perm", perm, c.last);
}

hd_status hd_pass_pixels(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++) look_at(g, (int)i);
    hd_pass_dce(g);
    return hd_graph_infer(ctx, g);
}
