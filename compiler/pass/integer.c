/* Products of integers written out with their scale, as floats that are dequantised: the form that
 * quantised networks have otherwise, which qdq (static scales) and heddle quantize (dynamic ones)
 * know. Rows of patterns.def, passes integer and dynamic.
 *
 * needs: shapes, constants folded
 * gives: the products below, as conv or matmul (and add)
 * destroys: the nodes of the match; what else they served is left to dce
 *
 * integer: convinteger(x, w) [+ b] -> float * s [+ c] [-> act] -> quantize, all scales constant
 *   -> conv(dequantize(x, 1), dequantize(w, s), dequantize(b, s) or c), of which qdq makes a qconv
 *      with the same accumulators and the scale s / y_scale
 * dynamic: convinteger(dynamicquantize(x), w) -> float * (x_scale * s)
 *   -> conv(x, (w - w_zp) * s)
 *
 * matmulinteger likewise.
 */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/rewrite.h"
#include "cpu_ref/golden.h"

/* The product, and what the rewrite makes of its operands. */
struct product {
    hd_graph *g;
    struct hd_node node; /* convinteger or matmulinteger */
    bool conv;
    int axis;   /* of w: output channels */
    int64_t n;  /* output channels */
    int result; /* axis of the output channels in the result, from its end */
};

static bool open_product(hd_graph *g, int tensor, struct product *p) {
    *p = (struct product){.g = g, .node = g->nodes[g->tensors[tensor].producer]};
    p->conv = p->node.op == HD_IR_convinteger;
    const struct hd_tensor *w = &g->tensors[p->node.in[1]], *y = &g->tensors[tensor];
    if (!y->known || !w->data || (!p->conv && w->rank != 2) || w->rank < 2) return false;
    p->axis = p->conv ? 0 : 1;
    p->n = w->dim[p->axis];
    p->result = p->conv ? w->rank - 1 : 1;
    return true;
}

/* Constant t has one element, or one for each output channel where it meets the result. */
static bool per_channel(const struct product *p, int t) {
    const struct hd_tensor *x = &p->g->tensors[t];
    if (!x->data) return false;
    for (int d = 0; d < x->rank; d++)
        if (x->dim[d] != 1 && (x->rank - d != p->result || x->dim[d] != p->n)) return false;
    return true;
}

/* The zero point of operand i; -1: none that is a constant of one element, or one for each output
 * channel of w. */
static int zero_point(const struct product *p, int i) {
    const struct hd_node *n = &p->node;
    hd_graph *g = p->g;
    if (n->n_in > 2 + i && n->in[2 + i] >= 0) {
        const struct hd_tensor *z = &g->tensors[n->in[2 + i]];
        int64_t elems = hd_tensor_elems(z);
        return z->data && (elems == 1 || (i == 1 && z->rank == 1 && elems == p->n)) ? n->in[2 + i]
                                                                                    : -1;
    }
    int32_t none = 0;
    return hd_graph_const(g, "zero", g->tensors[n->in[i]].dtype, 0, NULL, &none);
}

/* Constant t, one element or n of 4 bytes, as a vector. */
static int vector(const struct product *p, int t) {
    const struct hd_tensor x = p->g->tensors[t];
    int64_t n = hd_tensor_elems(&x);
    return hd_graph_const(p->g, x.name, x.dtype, n > 1, &n, x.data);
}

/* dequantize(t, scale, zero), constants along `axis`. */
static int dequantized(const struct product *p, int t, int scale, int zero, int axis) {
    hd_graph *g = p->g;
    const struct hd_tensor x = g->tensors[t];
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.f", x.name), HD_F32, x.rank, x.dim);
    int id =
        hd_graph_node(g, HD_IR_dequantize, g->tensors[y].name, 3, (int[]){t, scale, zero}, 1, &y);
    hd_attr_set_int(g, id, "axis", axis);
    return y;
}

/* The weights with scale s, dequantised. */
static int weights(const struct product *p, int s) {
    hd_graph *g = p->g;
    int z = zero_point(p, 1), w = p->node.in[1];
    if (z < 0) return -1;
    int64_t n = hd_tensor_elems(&g->tensors[s]), nz = hd_tensor_elems(&g->tensors[z]), many = p->n;
    if (n != nz) { /* one of them is per channel: so is the other */
        int of = n < nz ? s : z;
        const struct hd_tensor one = g->tensors[of];
        size_t bytes = hd_dtype_bytes(one.dtype);
        char *v = hd_alloc(g->arena, (size_t)many * bytes + 1);
        for (int64_t i = 0; i < many; i++) memcpy(v + (size_t)i * bytes, one.data, bytes);
        *(n < nz ? &s : &z) = hd_graph_const(g, one.name, one.dtype, 1, &many, v);
    }
    return dequantized(p, w, s, z, p->axis);
}

/* The float product of x and w, with bias where it is a convolution and has one. */
static int multiply(hd_ctx *ctx, struct hd_match *m, const struct product *p, int x, int w,
                    int bias) {
    hd_graph *g = p->g;
    const struct hd_tensor y = g->tensors[p->node.out[0]];
    int in[3] = {x, w, bias}, n = p->conv && bias >= 0 ? 3 : 2;
    int out = hd_graph_tensor(g, y.name, HD_F32, y.rank, y.dim);
    m->made = hd_graph_node(g, p->conv ? HD_IR_conv : HD_IR_matmul, p->node.name, n, in, 1, &out);
    if (p->conv) hd_pass_copy_attrs(g, m->made, g->tensors[p->node.out[0]].producer);
    if (!p->conv && bias >= 0)
        out = hd_match_emit(ctx, m, HD_IR_add, 2, (int[]){out, bias}, NULL, 0, NULL);
    hd_graph_swap_names(g, m->root, g->tensors[p->node.out[0]].producer);
    return out;
}

/* Only quantize reads t, behind relu and clip at most. */
static bool is_quantised(const hd_graph *g, int t) {
    for (int n; (n = hd_graph_only_user(g, t)) >= 0; t = g->nodes[n].out[0]) {
        const struct hd_node *u = &g->nodes[n];
        if (u->op == HD_IR_quantize)
            return u->in[0] == t && g->tensors[u->in[1]].data && g->tensors[u->in[2]].data;
        if (u->op != HD_IR_relu && u->op != HD_IR_clip) return false;
    }
    return false;
}

int hd_rw_integer(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    struct product p;
    int s = hd_match_get(m, "s"), b = hd_match_get(m, "b"), c = hd_match_get(m, "c"),
        z = hd_match_get(m, "z");
    if (!open_product(g, hd_match_get(m, "i"), &p) || !is_quantised(g, g->nodes[m->root].out[0]))
        return -1;
    int of[] = {s, b, c};
    for (int i = 0; i < 3; i++)
        if (of[i] >= 0 && !per_channel(&p, of[i])) return -1;
    bool zero = z < 0 || hd_const_is(g, z, 0, false);
    if (!zero || (b >= 0 && c >= 0) || g->tensors[s].dtype != HD_F32) return -1;
    int xz = zero_point(&p, 0);
    if (xz < 0) return -1;
    float one = 1;
    int unit = hd_graph_const(g, "one", HD_F32, 0, NULL, &one);
    s = vector(&p, s);
    int w = weights(&p, s), bias = c < 0 ? -1 : vector(&p, c);
    if (w < 0) return -1;
    if (b >= 0) {
        int64_t n = hd_tensor_elems(&g->tensors[s]);
        int32_t *none = hd_new_array(g->arena, int32_t, (size_t)n + 1);
        int zeros = hd_graph_const(g, "zero", HD_I32, n > 1, &n, none);
        bias = dequantized(&p, vector(&p, b), s, zeros, 0);
    }
    return multiply(ctx, m, &p, dequantized(&p, p.node.in[0], unit, xz, 1), w, bias);
}

int hd_rw_dynamic(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    struct product p;
    int s = hd_match_get(m, "s"), d = hd_match_get(m, "d"), r = hd_match_get(m, "r");
    int q = g->tensors[d].producer, w;
    if (q < 0 || g->nodes[q].op != HD_IR_dynamicquantize ||
        !open_product(g, hd_match_get(m, "i"), &p))
        return -1;
    const struct hd_node by = g->nodes[q];
    if (p.node.in[0] != d || r != by.out[1] || p.node.n_in < 3 || p.node.in[2] != by.out[2])
        return -1;
    if (!per_channel(&p, s) || (w = weights(&p, vector(&p, s))) < 0) return -1;
    if (hd_fold_node(ctx, g, g->tensors[w].producer) != HD_OK) return -1;
    return multiply(ctx, m, &p, by.in[0], w, -1);
}
