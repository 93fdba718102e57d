/* Ranges of activations: see ranges.h. */
#include "runtime/train/ranges.h"

#include <math.h>
#include <string.h>

static const struct hd_node *maker(const hd_graph *g, int t) {
    int n = t < 0 ? -1 : g->tensors[t].producer;
    return n < 0 || g->nodes[n].dead ? NULL : &g->nodes[n];
}

static bool one_scale(const hd_graph *g, int t) {
    const struct hd_tensor *s = &g->tensors[t];
    return s->data && s->dtype == HD_F32 && hd_tensor_elems(s) == 1;
}

/* Operations that give any scale what they compute. */
static bool free_scale(enum hd_ir_op op) {
    switch (op) {
    case HD_IR_conv:
    case HD_IR_convtranspose:
    case HD_IR_gemm:
    case HD_IR_matmul:
    case HD_IR_add:
    case HD_IR_relu:
    case HD_IR_avgpool:
        return true;
    default:
        return false;
    }
}

static int root(const int *parent, int t) {
    while (parent[t] != t) t = parent[t];
    return t;
}

/* Quantize node q: its scale is one with equal scales of what its maker reads. False: it is fixed.
 */
static bool join(const hd_graph *g, const struct hd_node *q, int *parent) {
    const struct hd_node *p = maker(g, q->in[0]);
    bool alike = false;
    for (int i = 0; p && i < p->n_in; i++) {
        const struct hd_node *d = maker(g, p->in[i]);
        if (!d || d->op != HD_IR_dequantize || !one_scale(g, d->in[1]) || !maker(g, d->in[0]) ||
            memcmp(g->tensors[d->in[1]].data, g->tensors[q->in[1]].data, sizeof(float)) != 0)
            continue;
        parent[root(parent, d->in[1])] = root(parent, q->in[1]);
        alike = true;
    }
    return alike || (p && free_scale(p->op));
}

/* Scale t is read by node n as that of an activation that was quantised with it. */
static bool is_activation(const hd_graph *g, const struct hd_node *n, int operand) {
    if (operand != 1) return false;
    if (n->op == HD_IR_quantize) return true;
    const struct hd_node *q = n->op == HD_IR_dequantize ? maker(g, n->in[0]) : NULL;
    return q && q->op == HD_IR_quantize && q->in[1] == n->in[1];
}

struct hd_ranges hd_ranges_find(const hd_graph *g, hd_arena *a) {
    struct hd_ranges r = {.of = hd_new_array(a, int, g->n_tensors + 1)};
    int *parent = hd_new_array(a, int, g->n_tensors + 1);
    int *number = hd_new_array(a, int, g->n_tensors + 1);
    bool *fixed = hd_new_array(a, bool, g->n_tensors + 1);
    for (size_t t = 0; t < g->n_tensors; t++) parent[t] = (int)t, r.of[t] = number[t] = -1;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in && !n->dead; k++)
            if (n->in[k] >= 0 && !is_activation(g, n, k)) fixed[n->in[k]] = true;
        if (n->dead || n->op != HD_IR_quantize) continue;
        if (!one_scale(g, n->in[1]) || !join(g, n, parent)) fixed[n->in[1]] = true;
    }
    for (size_t t = 0; t < g->n_tensors; t++)
        if (fixed[t]) fixed[root(parent, (int)t)] = true;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (n->dead || n->op != HD_IR_quantize) continue;
        int group = root(parent, n->in[1]);
        if (fixed[group]) continue;
        if (number[group] < 0) number[group] = r.n++;
        r.of[n->in[1]] = number[group];
    }
    return r;
}

/* ---- new scales ----------------------------------------------------------------------------- */

/* The range of what is multiplied in front of the sum that node `user` adds a bias to; -1 = none.
 */
static int range_of_bias(const hd_graph *g, const struct hd_ranges *r, int user, int bias) {
    const struct hd_node *n = user < 0 ? NULL : &g->nodes[user];
    if (n && n->op == HD_IR_add) n = maker(g, n->in[n->in[0] == bias]);
    const struct hd_node *d = n && n->n_in > 1 ? maker(g, n->in[0]) : NULL;
    return d && d->op == HD_IR_dequantize ? r->of[d->in[1]] : -1;
}

/* The tensor gets the file's scale times `by`. */
static void set_scale(hd_graph *g, int t, const struct hd_tensor *file, double by) {
    int64_t n = hd_tensor_elems(file);
    float *v = hd_dup(g->arena, file->data, hd_tensor_bytes(file));
    for (int64_t i = 0; i < n; i++) v[i] = (float)((double)v[i] * by);
    g->tensors[t].data = v;
}

static hd_status no_scale(hd_ctx *ctx, const hd_graph *g, const char *what, const char *name) {
    return hd_fail(ctx, HD_INVALID,
                   "%s: no %s '%s', which the trained network has; want a graph of the same file",
                   g->name, what, name);
}

/* The bias that node d of the file dequantizes: its scale in g, which becomes its own. */
static hd_status set_bias(hd_ctx *ctx, hd_graph *g, const struct hd_node *d,
                          const struct hd_tensor *s, double by) {
    int at = hd_node_by_name(g, d->name);
    if (at < 0 || g->nodes[at].op != d->op) return no_scale(ctx, g, "node", d->name);
    if (g->nodes[at].in[1] == hd_tensor_by_name(g, s->name)) {
        int own = hd_graph_const(g, s->name, s->dtype, s->rank, s->dim, s->data);
        g->nodes[at].in[1] = own;
    }
    set_scale(g, g->nodes[at].in[1], s, by);
    return HD_OK;
}

static hd_status apply(hd_ctx *ctx, hd_graph *g, const hd_graph *file, const struct hd_ranges *r,
                       const float *v, double rate) {
    for (size_t i = 0; i < file->n_nodes; i++) {
        const struct hd_node *d = &file->nodes[i];
        if (d->dead || d->op != HD_IR_dequantize || file->tensors[d->in[0]].dtype != HD_I32)
            continue;
        int of = range_of_bias(file, r, hd_graph_only_user(file, d->out[0]), d->out[0]);
        const struct hd_tensor *s = &file->tensors[d->in[1]];
        if (of >= 0 && s->data) TRY(set_bias(ctx, g, d, s, exp(rate * (double)v[of])));
    }
    for (size_t t = 0; t < file->n_tensors; t++) {
        const struct hd_tensor *s = &file->tensors[t];
        if (r->of[t] < 0) continue;
        int to = hd_tensor_by_name(g, s->name);
        if (to < 0 || hd_tensor_bytes(&g->tensors[to]) != hd_tensor_bytes(s))
            return no_scale(ctx, g, "scale", s->name);
        set_scale(g, to, s, exp(rate * (double)v[r->of[t]]));
    }
    return HD_OK;
}

hd_status hd_ranges_apply(hd_ctx *ctx, hd_graph *g, const hd_graph *file, const float *v,
                          double rate) {
    hd_arena *a = hd_arena_create();
    struct hd_ranges r = hd_ranges_find(file, a);
    hd_status s = apply(ctx, g, file, &r, v, rate);
    hd_arena_destroy(a);
    return s;
}
