/* Attention on integers: products of two quantised tensors, softmax, layer normalisation.
 *
 *   quantize(c * matmul|gemm(a * dequantize(x), b * dequantize(y)))   -> qmatmul
 *   quantize(softmax(c * dequantize(x)))                              -> qsoftmax
 *   quantize(layernorm(dequantize(x), scale, bias))                   -> qlayernorm
 *
 * x and y are not constant: products by weights are qgemm. c, a, b: any products and quotients by
 * constants of one element, which go into a scale. */
#include <math.h>
#include <string.h>

#include "compiler/pass/qdq.h"
#include "compiler/pass/rewrite.h"
#include "runtime/base/num.h"

/* t = factor * the tensor returned: products by constants of one element in front of t. */
static int unscaled(const hd_graph *g, int t, float *factor) {
    *factor = 1;
    for (const struct hd_node *n; (n = hd_qdq_maker(g, t)) != NULL;) {
        if (n->op != HD_IR_mul && n->op != HD_IR_div) break;
        int c = n->op == HD_IR_mul && g->tensors[n->in[0]].data ? 0 : 1;
        const struct hd_tensor *v = &g->tensors[n->in[c]], *x = &g->tensors[n->in[1 - c]];
        if (!v->data || v->dtype != HD_F32 || hd_tensor_elems(v) != 1 || v->rank > x->rank) break;
        float f = *(const float *)v->data;
        *factor = n->op == HD_IR_mul ? *factor * f : *factor / f;
        t = n->in[1 - c];
    }
    return t;
}

/* t = factor * dequantize(x). */
static bool operand(const hd_graph *g, int t, int *x, struct hd_qparam *p, float *factor) {
    t = unscaled(g, t, factor);
    return hd_qdq_dequantized(g, t, x, p) && isfinite(*factor) && *factor != 0;
}

/* The last two dimensions change places. */
static int turned(hd_graph *g, int x) {
    const struct hd_tensor t = g->tensors[x];
    int64_t dim[2] = {t.dim[1], t.dim[0]}, perm[2] = {1, 0};
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.t", t.name), t.dtype, 2, dim);
    int id = hd_graph_node(g, HD_IR_transpose, g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_ints(g, id, "perm", 2, perm);
    return y;
}

/* uint8 as int8 of the same values: the matrix unit takes its second operand as int8. */
static int as_signed(hd_graph *g, int x, struct hd_qparam *p) {
    if (p->type == HD_I8) return x;
    int y = hd_qdq_tensor_like(g, x, HD_I8, "i8");
    int id = hd_graph_node(g, HD_IR_qrescale, g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_string(g, id, "to", "i8");
    hd_attr_set_int(g, id, "x_zp", 128);
    p->type = HD_I8, p->zp -= 128;
    return y;
}

bool hd_qdq_product(struct hd_qmatch *m) {
    float f[3];
    int in[2], node = m->g->tensors[unscaled(m->g, m->value, &f[2])].producer;
    struct hd_qparam p[2];
    if (node < 0 || m->y.type == HD_I16) return false;
    const struct hd_node n = m->g->nodes[node];
    bool gemm = n.op == HD_IR_gemm;
    if ((!gemm && n.op != HD_IR_matmul) || (n.n_in > 2 && n.in[2] >= 0)) return false;
    for (int i = 0; i < 2; i++)
        if (!operand(m->g, n.in[i], &in[i], &p[i], &f[i]) || m->g->tensors[in[i]].data ||
            m->g->tensors[in[i]].rank < 2)
            return false;
    float scale = p[0].scale * p[1].scale;
    float by = f[0] * f[1] * f[2] * (gemm ? hd_attr_float(&n, "alpha", 1) : 1);
    scale = scale * by / m->y.scale;
    if (!isfinite(scale) || scale == 0) return false;
    if (gemm && hd_attr_int(&n, "transA", 0)) in[0] = turned(m->g, in[0]);
    in[1] = as_signed(m->g, in[1], &p[1]);
    if (gemm && hd_attr_int(&n, "transB", 0)) in[1] = turned(m->g, in[1]);
    int id = hd_qdq_emit(m, HD_IR_qmatmul, node, 2, in);
    hd_attr_set_int(m->g, id, "a_zp", p[0].zp);
    hd_attr_set_int(m->g, id, "b_zp", p[1].zp);
    hd_attr_set_float(m->g, id, "scale", scale);
    return true;
}

/* Along a dimension that is neither channels nor the last: between two transposes. */
static int turned_softmax(struct hd_qmatch *m, int node, int x, int axis) {
    hd_graph *g = m->g;
    const int y = g->nodes[m->q].out[0];
    const struct hd_tensor t = g->tensors[y];
    int64_t perm[HD_MAX_RANK], dim[HD_MAX_RANK];
    for (int d = 0; d < t.rank; d++) perm[d] = d;
    perm[axis] = t.rank - 1, perm[t.rank - 1] = axis;
    for (int d = 0; d < t.rank; d++) dim[d] = t.dim[perm[d]];
    x = hd_moved(g, HD_IR_transpose, x, t.rank, dim, "perm", perm, -1);
    int made = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.turned", t.name), t.dtype, t.rank, dim);
    hd_graph_kill(g, m->q);
    int id = hd_qdq_emit_to(m, HD_IR_qsoftmax, node, 1, &x, made);
    hd_moved(g, HD_IR_transpose, made, t.rank, t.dim, "perm", perm, y);
    return id;
}

bool hd_qdq_softmax(struct hd_qmatch *m, int node) {
    const struct hd_node n = m->g->nodes[node];
    struct hd_qparam p;
    float factor;
    int x;
    if (!operand(m->g, n.in[0], &x, &p, &factor)) return false;
    float x_scale = p.scale * factor, scale = 1.0f / m->y.scale;
    if (!isfinite(x_scale) || !isfinite(scale) || !(x_scale > 0)) return false;
    int64_t axis = hd_attr_int(&n, "axis", -1), last = m->g->tensors[x].rank - 1;
    if (axis < 0) axis += last + 1;
    bool inside = axis > 1 && axis < last;
    int id = inside ? turned_softmax(m, node, x, (int)axis)
                    : hd_qdq_emit(m, HD_IR_qsoftmax, node, 1, &x);
    hd_attr_set_int(m->g, id, "axis", inside ? last : axis);
    hd_attr_set_float(m->g, id, "x_scale", x_scale);
    hd_attr_set_float(m->g, id, "scale", scale);
    return true;
}

/* Values of a constant f32 vector [n] (NULL: zeros) in steps of the result, as a new constant. */
static bool in_steps(hd_graph *g, int t, int64_t n, float step, int *out) {
    const struct hd_tensor *v = t < 0 ? NULL : &g->tensors[t];
    if (v &&
        (!v->data || v->dtype != HD_F32 || hd_tensor_elems(v) != n || v->dim[v->rank - 1] != n))
        return false;
    float *f = hd_new_array(g->arena, float, (size_t)n + 1);
    for (int64_t i = 0; v && i < n; i++) {
        f[i] = ((const float *)v->data)[i] / step;
        if (!isfinite(f[i])) return false;
    }
    *out = hd_graph_const_f32(g, hd_sprintf(g->arena, "%s.steps", v ? v->name : "bias"), (int)n, f);
    return true;
}

bool hd_qdq_layernorm(struct hd_qmatch *m, int node) {
    const struct hd_node n = m->g->nodes[node];
    struct hd_qparam p;
    int in[3];
    if (n.n_out != 1 || !hd_qdq_dequantized(m->g, n.in[0], &in[0], &p)) return false;
    const struct hd_tensor x = m->g->tensors[in[0]];
    int64_t axis = hd_attr_int(&n, "axis", -1), len = x.dim[x.rank - 1];
    if (axis != -1 && axis != x.rank - 1) return false;
    float eps = hd_attr_float(&n, "epsilon", 1e-5f) / (p.scale * p.scale);
    if (!isfinite(eps)) return false;
    if (!in_steps(m->g, n.in[1], len, m->y.scale, &in[1]) ||
        !in_steps(m->g, n.n_in > 2 ? n.in[2] : -1, len, m->y.scale, &in[2]))
        return false;
    bool centred = hd_attr_int(&n, "centred", 1) != 0;
    int id = hd_qdq_emit(m, HD_IR_qlayernorm, node, 3, in);
    hd_attr_set_float(m->g, id, "epsilon", eps);
    if (!centred) {
        hd_attr_set_int(m->g, id, "centred", 0);
        hd_attr_set_int(m->g, id, "x_zp", p.zp);
    }
    return true;
}

/* Swaps the last two dimensions of t. */
static void swap_last(const struct hd_tensor *t, int64_t out[HD_MAX_RANK]) {
    for (int d = 0; d < t->rank; d++) out[d] = t->dim[d];
    out[t->rank - 2] = t->dim[t->rank - 1], out[t->rank - 1] = t->dim[t->rank - 2];
}

static void emit_transpose(hd_graph *g, const char *name, int from, int to) {
    const int rank = g->tensors[from].rank;
    int64_t perm[HD_MAX_RANK];
    for (int d = 0; d < rank; d++) perm[d] = d;
    perm[rank - 2] = rank - 1, perm[rank - 1] = rank - 2;
    int id = hd_graph_node(g, HD_IR_transpose, name, 1, &from, 1, &to);
    hd_attr_set_ints(g, id, "perm", rank, perm);
}

/* What t is the transposed of, by its last two dimensions; -1: of nothing. */
static int transposed_from(const hd_graph *g, int t) {
    const struct hd_node *n = hd_qdq_maker(g, t);
    const struct hd_tensor *x = n ? &g->tensors[n->in[0]] : NULL;
    int64_t perm[HD_MAX_RANK];
    if (!x || n->op != HD_IR_transpose || !x->known || x->rank < 2) return -1;
    if (hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0) != x->rank) return -1;
    for (int d = 0; d < x->rank; d++) {
        int of = d < x->rank - 2 ? d : 2 * x->rank - 3 - d;
        if (perm[d] != of) return -1;
    }
    return n->in[0];
}

void hd_qdq_turn_products(hd_graph *g) {
    for (size_t i = 0, end = g->n_nodes; i < end; i++) {
        const struct hd_node n = g->nodes[i];
        if (n.dead || n.op != HD_IR_qmatmul || n.n_in != 2 || hd_attr_int(&n, "a_zp", 0) ||
            !hd_attr_int(&n, "b_zp", 0))
            continue;
        int c = transposed_from(g, n.in[1]);
        const struct hd_node *maker = c < 0 ? NULL : hd_qdq_maker(g, c);
        const struct hd_tensor a = g->tensors[n.in[0]], y = g->tensors[n.out[0]];
        if (!maker || maker->op != HD_IR_qsoftmax || !a.known || !y.known || a.dtype != HD_I8 ||
            a.data || a.rank != y.rank || g->tensors[c].rank != y.rank)
            continue;
        int64_t dim[HD_MAX_RANK];
        const char *name = g->tensors[n.in[0]].name;
        swap_last(&a, dim);
        int left =
            hd_graph_tensor(g, hd_sprintf(g->arena, "%s.turned", name), a.dtype, a.rank, dim);
        swap_last(&y, dim);
        int turned =
            hd_graph_tensor(g, hd_sprintf(g->arena, "%s.turned", y.name), y.dtype, y.rank, dim);
        emit_transpose(g, hd_sprintf(g->arena, "%s.turned", n.name), n.in[0], left);
        const int in[2] = {c, left};
        int id = hd_graph_node(g, HD_IR_qmatmul, n.name, 2, in, 1, &turned);
        hd_pass_copy_attrs(g, id, (int)i);
        hd_attr_set_int(g, id, "a_zp", hd_attr_int(&n, "b_zp", 0));
        hd_attr_set_int(g, id, "b_zp", 0);
        hd_graph_kill(g, (int)i);
        hd_graph_swap_names(g, id, (int)i);
        emit_transpose(g, hd_sprintf(g->arena, "%s.back", g->nodes[id].name), turned, n.out[0]);
    }
}

/* The same bytes, in another shape or order. */
static bool reshapes(const struct hd_node *n) {
    return n->op == HD_IR_reshape || n->op == HD_IR_transpose || n->op == HD_IR_squeeze ||
           n->op == HD_IR_unsqueeze || n->op == HD_IR_flatten || n->op == HD_IR_identity;
}

enum { READERS = 8 };

/* Only products read it, as their first operand, in this shape or another. */
static bool only_weighs(const hd_graph *g, int t) {
    int user[READERS];
    size_t n = hd_graph_users(g, t, user, READERS);
    if (!n || n > READERS || hd_graph_is_output(g, t)) return false;
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *u = &g->nodes[user[i]];
        if (u->in[0] != t || (u->op == HD_IR_qmatmul && u->in[1] == t)) return false;
        if (u->op != HD_IR_qmatmul && !(reshapes(u) && only_weighs(g, u->out[0]))) return false;
    }
    return true;
}

/* It becomes the same number as an unsigned byte, for all its readers. */
static void count_from_0(hd_graph *g, int t) {
    int user[READERS];
    size_t n = hd_graph_users(g, t, user, READERS);
    g->tensors[t].dtype = HD_U8;
    for (size_t i = 0; i < n; i++) {
        struct hd_node *u = &g->nodes[user[i]];
        if (u->op == HD_IR_qmatmul)
            hd_attr_set_int(g, user[i], "a_zp", hd_attr_int(u, "a_zp", 0) + 128);
        else
            count_from_0(g, u->out[0]);
    }
}

void hd_qdq_unsigned_weights(hd_graph *g) {
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *s = &g->nodes[i];
        if (s->dead || s->op != HD_IR_qsoftmax || hd_attr_int(s, "y_zp", 0) != -128 ||
            !only_weighs(g, s->out[0]))
            continue;
        hd_attr_set_string(g, (int)i, "to", "u8");
        hd_attr_set_int(g, (int)i, "y_zp", 0);
        hd_attr_set_int(g, (int)i, "lo", hd_attr_int(s, "lo", -128) + 128);
        hd_attr_set_int(g, (int)i, "hi", hd_attr_int(s, "hi", 127) + 128);
        count_from_0(g, s->out[0]);
    }
}
