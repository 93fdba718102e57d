/* What makes a float graph ready: everything that is a factor and a summand per output channel of a
 * layer goes into its weights and bias. */
#include <math.h>
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "compiler/quantize/affine.h"
#include "cpu_ref/golden.h"

static const float *f32(const hd_graph *g, int t) {
    return t >= 0 && g->tensors[t].data && g->tensors[t].dtype == HD_F32 ? g->tensors[t].data
                                                                         : NULL;
}

bool hd_quant_per_channel(const hd_graph *g, int t, int rank, int axis, int64_t n, double *out) {
    const float *v = f32(g, t);
    if (!v) return false;
    const struct hd_tensor *x = &g->tensors[t];
    if (x->rank > rank) return false;
    for (int d = 0; d < x->rank; d++) {
        int at = d + rank - x->rank;
        if (x->dim[d] != 1 && (at != axis || x->dim[d] != n)) return false;
    }
    int64_t elems = hd_tensor_elems(x);
    for (int64_t i = 0; i < n; i++) out[i] = (double)v[elems == 1 ? 0 : i];
    return true;
}

static bool batchnorm(const hd_graph *g, const struct hd_node *n, struct hd_affine *f) {
    const float *v[5] = {0};
    for (int i = 1; i < 5; i++) {
        v[i] = f32(g, n->in[i]);
        if (!v[i] || hd_tensor_elems(&g->tensors[n->in[i]]) != f->n) return false;
    }
    double eps = (double)hd_attr_float(n, "epsilon", 1e-5f);
    for (int64_t i = 0; i < f->n; i++) {
        f->a[i] = (double)v[1][i] / sqrt((double)v[4][i] + eps);
        f->b[i] = (double)v[2][i] - (double)v[3][i] * f->a[i];
    }
    return true;
}

struct hd_affine hd_affine_new(hd_arena *a, int64_t n) {
    return (struct hd_affine){hd_new_array(a, double, (size_t)n + 1),
                              hd_new_array(a, double, (size_t)n + 1), n};
}

bool hd_affine_of(const hd_graph *g, const struct hd_node *n, int x, int axis,
                  struct hd_affine *f) {
    int rank = g->tensors[x].rank;
    for (int64_t i = 0; i < f->n; i++) f->a[i] = 1, f->b[i] = 0;
    if (n->op == HD_IR_batchnorm) return n->in[0] == x && axis == 1 && batchnorm(g, n, f);
    if (n->n_in != 2 || (n->in[0] == x) == (n->in[1] == x)) return false;
    bool first = n->in[0] == x;
    int other = n->in[first ? 1 : 0];
    switch (n->op) {
    case HD_IR_add:
        return hd_quant_per_channel(g, other, rank, axis, f->n, f->b);
    case HD_IR_mul:
        return hd_quant_per_channel(g, other, rank, axis, f->n, f->a);
    case HD_IR_sub:
        if (!first || !hd_quant_per_channel(g, other, rank, axis, f->n, f->b)) return false;
        for (int64_t i = 0; i < f->n; i++) f->b[i] = -f->b[i];
        return true;
    case HD_IR_div:
        if (!first || !hd_quant_per_channel(g, other, rank, axis, f->n, f->a)) return false;
        for (int64_t i = 0; i < f->n; i++) {
            if (f->a[i] == 0) return false;
            f->a[i] = 1 / f->a[i];
        }
        return true;
    default:
        return false;
    }
}

/* Replaces a layer by one with these weights and bias; the result is tensor y. */
static void replace(hd_graph *g, int node, int w, int bias, int y) {
    const struct hd_node n = g->nodes[node];
    int in[3] = {n.in[0], w, bias};
    hd_graph_kill(g, node);
    int id = hd_graph_node(g, n.op, n.name, bias < 0 ? 2 : 3, in, 1, &y);
    hd_graph_swap_names(g, id, node);
    for (int i = 0; i < n.n_attrs; i++) {
        const struct hd_attr *a = &n.attrs[i];
        if (a->kind == HD_ATTR_INT) hd_attr_set_int(g, id, a->name, a->i);
        if (a->kind == HD_ATTR_INTS) hd_attr_set_ints(g, id, a->name, a->n, a->ints);
        if (a->kind == HD_ATTR_FLOAT) hd_attr_set_float(g, id, a->name, a->f);
        if (a->kind == HD_ATTR_STRING) hd_attr_set_string(g, id, a->name, a->s);
    }
}

/* The weights times a[c]; -1 when a value leaves binary32. */
static int scaled_weights(hd_graph *g, int t, int axis, const double *a) {
    struct hd_tensor w = g->tensors[t];
    const float *v = w.data;
    int64_t elems = hd_tensor_elems(&w), inner = 1;
    float *out = hd_new_array(g->arena, float, (size_t)elems + 1);
    for (int d = axis + 1; d < w.rank; d++) inner *= w.dim[d];
    for (int64_t i = 0; i < elems; i++) {
        out[i] = (float)((double)v[i] * a[i / inner % w.dim[axis]]);
        if (!isfinite(out[i])) return -1;
    }
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.folded", w.name), HD_F32, w.rank, w.dim, out);
}

/* Node `next` into the layer before it. */
static bool absorb(hd_graph *g, hd_arena *a, int node, int next) {
    const struct hd_node n = g->nodes[node];
    int axis_w = hd_quant_weights(g, node), x = n.out[0], rank = g->tensors[x].rank;
    if (n.op == HD_IR_matmul || axis_w < 0 || g->nodes[next].n_out != 1) return false;
    int64_t channels = g->tensors[n.in[1]].dim[axis_w];
    bool transposed = n.op == HD_IR_convtranspose;
    if (transposed && hd_attr_int(&n, "group", 1) != 1)
        return false; /* weights of several channels */
    int axis = n.op == HD_IR_conv || transposed ? 1 : rank - 1, old = n.n_in > 2 ? n.in[2] : -1;
    struct hd_affine f = hd_affine_new(a, channels);
    const struct hd_tensor *y = &g->tensors[g->nodes[next].out[0]];
    if (!y->known || y->rank != rank || hd_tensor_elems(y) != hd_tensor_elems(&g->tensors[x]) ||
        !hd_affine_of(g, &g->nodes[next], x, axis, &f))
        return false;
    float *bias = hd_new_array(a, float, (size_t)channels + 1);
    int64_t stride = old >= 0 && hd_tensor_elems(&g->tensors[old]) > 1;
    for (int64_t i = 0; i < channels; i++) {
        double b = old >= 0 ? (double)f32(g, old)[i * stride] : 0;
        bias[i] = (float)(b * f.a[i] + f.b[i]);
        if (!isfinite(bias[i])) return false;
    }
    int w = scaled_weights(g, n.in[1], axis_w, f.a);
    if (w < 0) return false;
    int b = hd_graph_const_f32(g, hd_sprintf(g->arena, "%s.bias", n.name), (int)channels, bias);
    int out = g->nodes[next].out[0];
    hd_graph_kill(g, next);
    replace(g, node, w, b, out);
    return true;
}

/* The bias of a matmul times a[c], and b[c] more; -1 when a value leaves binary32. */
static int shifted(hd_graph *g, int bias, const struct hd_affine *f) {
    const struct hd_tensor x = g->tensors[bias];
    float *out = hd_new_array(g->arena, float, (size_t)f->n + 1);
    for (int64_t i = 0; i < f->n; i++) {
        out[i] = (float)((double)f32(g, bias)[i] * f->a[i] + f->b[i]);
        if (!isfinite(out[i])) return -1;
    }
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.folded", x.name), HD_F32, x.rank, x.dim, out);
}

/* A factor per channel behind a matmul, with or without the sum of a bias in between; with it a
 * summand, too. */
static bool absorb_factor(hd_graph *g, hd_arena *a, int node) {
    const struct hd_node n = g->nodes[node];
    if (hd_quant_weights(g, node) < 0) return false;
    int bias = -1, add = hd_quant_bias_add(g, node, &bias);
    int x = add < 0 ? n.out[0] : g->nodes[add].out[0], rank = g->tensors[x].rank;
    int factor = hd_graph_only_user(g, x);
    if (factor < 0) return false;
    const struct hd_node by = g->nodes[factor];
    int64_t channels = g->tensors[n.in[1]].dim[1];
    struct hd_affine f = hd_affine_new(a, channels);
    const struct hd_tensor *y = &g->tensors[by.out[0]];
    if (by.n_out != 1 || !y->known || y->rank != rank ||
        hd_tensor_elems(y) != hd_tensor_elems(&g->tensors[x]) ||
        (add < 0 && by.op != HD_IR_mul && by.op != HD_IR_div) ||
        !hd_affine_of(g, &by, x, rank - 1, &f))
        return false;
    int w = scaled_weights(g, n.in[1], 1, f.a), b = -1;
    if (add >= 0) b = shifted(g, bias, &f);
    if (w < 0 || (add >= 0 && b < 0)) return false;
    hd_graph_kill(g, factor);
    if (add < 0) {
        replace(g, node, w, -1, by.out[0]);
        return true;
    }
    const struct hd_node sum = g->nodes[add];
    int in[2] = {n.out[0], b}, out = by.out[0];
    replace(g, node, w, -1, n.out[0]);
    hd_graph_kill(g, add);
    hd_graph_swap_names(g, hd_graph_node(g, HD_IR_add, sum.name, 2, in, 1, &out), add);
    return true;
}

/* alpha and beta of a gemm with constant operands; false: it has none, or stays. */
static bool plain_gemm(hd_graph *g, hd_arena *a, int node) {
    const struct hd_node n = g->nodes[node];
    float alpha = hd_attr_float(&n, "alpha", 1), beta = hd_attr_float(&n, "beta", 1);
    int c = n.n_in > 2 ? n.in[2] : -1;
    if ((alpha == 1.0f && beta == 1.0f) || !f32(g, n.in[1]) || (c >= 0 && !f32(g, c))) return false;
    int64_t rows = g->tensors[n.in[1]].dim[0];
    double *factor = hd_new_array(a, double, (size_t)rows + 1), b = (double)beta;
    for (int64_t i = 0; i < rows; i++) factor[i] = (double)alpha;
    int w = scaled_weights(g, n.in[1], 0, factor);
    if (c >= 0 && beta != 1.0f) {
        int64_t outer = g->tensors[c].rank ? g->tensors[c].dim[0] : 1;
        double *betas = hd_new_array(a, double, (size_t)outer + 1);
        for (int64_t i = 0; i < outer; i++) betas[i] = b;
        if (g->tensors[c].rank) c = scaled_weights(g, c, 0, betas);
    }
    if (w < 0 || (n.n_in > 2 && n.in[2] >= 0 && c < 0)) return false;
    replace(g, node, w, c, n.out[0]);
    int id = (int)g->n_nodes - 1;
    hd_attr_set_float(g, id, "alpha", 1);
    hd_attr_set_float(g, id, "beta", 1);
    return true;
}

/* Layers without a bias get one, which can be shifted. */
static void add_bias(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    int axis = hd_quant_weights(g, node);
    if (axis < 0 || n.op == HD_IR_matmul || (n.n_in > 2 && n.in[2] >= 0)) return;
    int64_t groups = n.op == HD_IR_convtranspose ? hd_attr_int(&n, "group", 1) : 1,
            channels = groups * g->tensors[n.in[1]].dim[axis];
    float *zero = hd_new_array(g->arena, float, (size_t)channels + 1);
    int b = hd_graph_const_f32(g, hd_sprintf(g->arena, "%s.bias", n.name), (int)channels, zero);
    replace(g, node, n.in[1], b, n.out[0]);
}

/* where(c, s, C) -> s + where(c, 0, C), C far below all scores and only softmax reads it: the same
 * weights. */
bool hd_quant_mask_as_sum(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    int y = n.out[0], reader = n.op == HD_IR_where ? hd_graph_only_user(g, y) : -1;
    if (reader < 0 || g->nodes[reader].op != HD_IR_softmax) return false;
    for (int side = 1; side < 3; side++) {
        const float *far = f32(g, n.in[side]);
        int s = n.in[3 - side];
        const struct hd_tensor *t = &g->tensors[s];
        bool fits = far && hd_tensor_elems(&g->tensors[n.in[side]]) == 1 && *far < -1000 &&
                    !t->data && t->dtype == HD_F32 && t->rank == g->tensors[y].rank &&
                    !memcmp(t->dim, g->tensors[y].dim, (size_t)t->rank * sizeof *t->dim);
        if (!fits) continue;
        const struct hd_tensor c = g->tensors[n.in[0]];
        float zero = 0;
        int none = hd_graph_const(g, "mask.none", HD_F32, 0, NULL, &zero);
        int in[3] = {n.in[0], side == 1 ? n.in[1] : none, side == 1 ? none : n.in[2]};
        int m = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.mask", n.name), HD_F32, c.rank, c.dim);
        hd_graph_kill(g, node);
        hd_graph_node(g, HD_IR_where, g->tensors[m].name, 3, in, 1, &m);
        int id = hd_graph_node(g, HD_IR_add, n.name, 2, (int[]){s, m}, 1, &y);
        hd_graph_swap_names(g, id, node);
        return true;
    }
    return false;
}

static hd_status fold_constants(hd_ctx *ctx, hd_graph *g, const int *order, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *nd = &g->nodes[order[i]];
        bool wanted = !nd->dead && nd->op != HD_IR_dequantize && nd->op != HD_IR_quantize;
        if (!wanted || !nd->n_in) continue;
        hd_status s = hd_fold_node(ctx, g, order[i]);
        if (s != HD_OK && s != HD_UNSUPPORTED) return s;
        if (s != HD_OK) hd_clear(ctx);
    }
    return HD_OK;
}

/* A layer of constant weights is in it, or in a branch of an if in it. */
static bool has_layer(const hd_graph *g) {
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (n->dead) continue;
        if (hd_quant_weights(g, (int)i) >= 0) return true;
        if (n->op == HD_IR_if &&
            (has_layer(hd_attr_graph(n, "then")) || has_layer(hd_attr_graph(n, "else"))))
            return true;
    }
    return false;
}

/* Branches with layers stand in the network itself, where they are observed and become integers:
 * both run, and the condition takes one of the results. */
static hd_status open_branches(hd_ctx *ctx, hd_graph *g) {
    bool changed = false;
    for (size_t i = 0; i < g->n_nodes; i++) { /* what is new has branches, too */
        const struct hd_node *n = &g->nodes[i];
        if (n->dead || n->op != HD_IR_if) continue;
        if (has_layer(hd_attr_graph(n, "then")) || has_layer(hd_attr_graph(n, "else")))
            changed = hd_branches_in_place(g, (int)i) || changed;
    }
    return changed ? hd_graph_infer(ctx, g) : HD_OK;
}

/* One of the first n_tensors, for which `of` holds. */
static bool reads(const struct hd_node *n, const bool *of, size_t n_tensors) {
    for (int k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0 && (size_t)n->in[k] < n_tensors && of[n->in[k]]) return true;
    return false;
}

/* What is in front of and behind layers, of a graph before it changes. */
struct around {
    const bool *behind, *ahead; /* per tensor */
    size_t n_tensors;
};

/* Forms without integers as forms that have them; true: a factor or summand went into a layer. New
 * nodes are seen by their number. */
static bool rewrite(hd_graph *g, hd_arena *a, int node, const struct around *r) {
    const struct hd_node *n = &g->nodes[node];
    if (n->op == HD_IR_gemm && plain_gemm(g, a, node)) return true;
    if (hd_quant_mask_as_sum(g, node) || hd_quant_extreme(g, node)) return false;
    if (n->op == HD_IR_lrn && hd_quant_lrn(g, node)) return false;
    if (n->op == HD_IR_resize && hd_quant_volume_resize(g, node)) return false;
    if (n->op == HD_IR_batchnorm && reads(n, r->behind, r->n_tensors) &&
        hd_quant_rows_batchnorm(g, a, node))
        return false;
    bool inside = n->n_out == 1 && (size_t)n->out[0] < r->n_tensors && r->ahead[n->out[0]] &&
                  reads(n, r->behind, r->n_tensors);
    if (inside &&
        (hd_quant_moments(g, node) || hd_quant_dot(g, node) || hd_quant_reduction(g, node) ||
         hd_quant_running_sum(g, node) || hd_quant_large_pool(g, node)))
        return false;
    bool instance = n->op == HD_IR_instancenorm || n->op == HD_IR_groupnorm;
    if (instance && hd_quant_instance(g, node)) return false;
    if (n->op == HD_IR_layernorm && hd_quant_volume_norm(g, node)) return false;
    if (hd_quant_short_sum(g, node) || hd_reduce_as_window(g, node, true)) return false;
    if (n->op == HD_IR_matmul) return absorb_factor(g, a, node);
    if (n->op != HD_IR_conv && n->op != HD_IR_convtranspose && n->op != HD_IR_gemm) return false;
    int next = hd_graph_only_user(g, n->out[0]);
    return next >= 0 && (absorb(g, a, node, next) || hd_quant_ready_absorb(g, a, node, next));
}

hd_status hd_quant_prepare(hd_ctx *ctx, hd_graph *g) {
    TRY(hd_quant_widen(ctx, g));
    TRY(hd_pass_run(ctx, g, "fold"));
    TRY(open_branches(ctx, g));
    TRY(hd_pass_run(ctx, g, "fold"));
    TRY(hd_pass_run(ctx, g, "dynamic"));
    TRY(hd_pass_run(ctx, g, "recurrent"));
    TRY(hd_pass_run(ctx, g, "norm"));
    TRY(hd_qdq_move_constants(ctx, g));
    hd_qdq_fold_norms(g);
    hd_arena *a = hd_arena_create();
    bool changed = true;
    hd_status s = HD_OK;
    while (changed && s == HD_OK) {
        size_t n_nodes = g->n_nodes;
        int *order = hd_new_array(a, int, n_nodes + 1);
        size_t n = hd_graph_order(g, order);
        const struct around r = {hd_quant_behind_layers(g, a, order, n),
                                 hd_quant_ahead_of_layers(g, a, order, n), g->n_tensors};
        bool absorbed = false;
        changed = false;
        s = fold_constants(ctx, g, order, n);
        for (size_t i = 0; i < n && s == HD_OK && !changed; i++)
            changed = !g->nodes[order[i]].dead && hd_quant_entry_moves(g, a, order[i]);
        for (size_t i = 0; i < n && s == HD_OK && !changed; i++)
            if (!g->nodes[order[i]].dead) absorbed = rewrite(g, a, order[i], &r) || absorbed;
        changed = changed || absorbed || g->n_nodes != n_nodes;
        if (!changed && s == HD_OK) changed = hd_quant_canonical(g, a, NULL);
        if (changed && s == HD_OK) s = hd_graph_infer(ctx, g); /* shapes of what is new */
    }
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead) add_bias(g, (int)i);
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead) hd_quant_norm(g, (int)i);
    hd_arena_destroy(a);
    if (s == HD_OK) hd_pass_dce(g);
    if (s == HD_OK) s = hd_graph_infer(ctx, g);
    return s == HD_OK ? hd_graph_verify(ctx, g) : s;
}
