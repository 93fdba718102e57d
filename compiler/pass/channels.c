/* Sets of channels: see channels.h. */
#include "compiler/pass/channels.h"

#include <string.h>

static bool same_shape(const struct hd_tensor *x, const struct hd_tensor *y) {
    return x->known && y->known && x->rank == y->rank &&
           !memcmp(x->dim, y->dim, (size_t)x->rank * sizeof *x->dim);
}

/* Convolutions and products. */
static enum hd_channel_role product(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *w = &g->tensors[n->in[1]];
    bool ranks = x->known && w->known && x->rank >= 2;
    if (n->op == HD_IR_conv || n->op == HD_IR_qconv) {
        int64_t group = hd_attr_int(n, "group", 1);
        if (!ranks || x->rank != w->rank) return HD_CHANNEL_OTHER;
        if (group == 1) return HD_CHANNEL_MIXES;
        return group == x->dim[1] && w->dim[0] == group ? HD_CHANNEL_KEEPS : HD_CHANNEL_OTHER;
    }
    bool plain = !hd_attr_int(n, "transA", 0) && ranks && x->rank == 2 && w->rank == 2;
    return plain ? HD_CHANNEL_MIXES : HD_CHANNEL_OTHER;
}

static bool one_value(const hd_graph *g, const struct hd_node *n) {
    for (int i = 1; i < n->n_in; i++)
        if (n->in[i] >= 0 && hd_tensor_elems(&g->tensors[n->in[i]]) != 1) return false;
    return true;
}

static enum hd_channel_role flat(const struct hd_tensor *x, const struct hd_tensor *y) {
    bool is = x->known && y->known && x->rank >= 2 && y->rank == 2 && x->dim[0] == y->dim[0];
    return is ? HD_CHANNEL_KEEPS : HD_CHANNEL_OTHER;
}

enum hd_channel_role hd_channel_role(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = n->n_in && n->in[0] >= 0 ? &g->tensors[n->in[0]] : NULL;
    const struct hd_tensor *y = n->n_out == 1 && n->out[0] >= 0 ? &g->tensors[n->out[0]] : NULL;
    if (!x || !y) return HD_CHANNEL_OTHER;
    switch (n->op) {
    case HD_IR_conv:
    case HD_IR_qconv:
    case HD_IR_gemm:
    case HD_IR_qgemm:
    case HD_IR_matmul:
        return product(g, n);
    case HD_IR_quantize:
    case HD_IR_dequantize:
    case HD_IR_clip:
        return one_value(g, n) ? HD_CHANNEL_KEEPS : HD_CHANNEL_OTHER;
    case HD_IR_relu:
    case HD_IR_maxpool:
    case HD_IR_avgpool:
    case HD_IR_qmaxpool:
    case HD_IR_qavgpool:
    case HD_IR_qmean:
    case HD_IR_qtable:
        return HD_CHANNEL_KEEPS;
    case HD_IR_add:
    case HD_IR_qadd:
        return same_shape(x, y) && same_shape(&g->tensors[n->in[1]], y) ? HD_CHANNEL_KEEPS
                                                                        : HD_CHANNEL_OTHER;
    case HD_IR_reshape:
    case HD_IR_flatten:
        return n->n_in == 1 ? flat(x, y) : HD_CHANNEL_OTHER;
    default:
        return HD_CHANNEL_OTHER;
    }
}

bool hd_is_depthwise(const hd_graph *g, const struct hd_node *n) {
    return (n->op == HD_IR_conv || n->op == HD_IR_qconv) &&
           hd_channel_role(g, n) == HD_CHANNEL_KEEPS;
}

int hd_channel_axis(const struct hd_node *n) {
    if (n->op == HD_IR_matmul) return 0;
    return n->op == HD_IR_gemm && !hd_attr_int(n, "transB", 0) ? 0 : 1;
}

/* ---- sets ----------------------------------------------------------------------------------- */

struct find {
    const hd_graph *g;
    int *parent;
    bool *fixed;
    int64_t *per;
};

static int root(const struct find *f, int t) {
    while (f->parent[t] != t) t = f->parent[t];
    return t;
}

static bool constant(const hd_graph *g, int t) {
    return t < 0 || (g->tensors[t].data && g->tensors[t].producer < 0);
}

static void fix(struct find *f, int t) {
    if (t >= 0) f->fixed[t] = true;
}

/* The result has the channels of its operands. */
static void keep(struct find *f, const struct hd_node *n) {
    const struct hd_tensor *x = &f->g->tensors[n->in[0]], *y = &f->g->tensors[n->out[0]];
    bool sum = n->op == HD_IR_add || n->op == HD_IR_qadd;
    int64_t per = f->per[n->in[0]];
    if (y->rank == 2)
        for (int d = 2; d < x->rank; d++) per *= x->dim[d];
    if (x->rank < 2 || y->rank < 2 || x->dim[1] * per != y->dim[1] * f->per[n->in[0]])
        fix(f, n->in[0]), fix(f, n->out[0]);
    f->per[n->out[0]] = per;
    for (int i = 0; i < (sum ? 2 : 1); i++) {
        if (f->per[n->in[i]] != f->per[n->in[0]]) fix(f, n->out[0]);
        f->parent[root(f, n->in[i])] = root(f, n->out[0]);
    }
}

static void add_node(struct find *f, const struct hd_node *n) {
    bool constants = true;
    for (int i = 0; i < n->n_in; i++) constants = constants && constant(f->g, n->in[i]);
    if (constants && n->op == HD_IR_dequantize) return; /* weights */
    enum hd_channel_role role = hd_channel_role(f->g, n);
    bool sum = n->op == HD_IR_add || n->op == HD_IR_qadd;
    if (sum && (constant(f->g, n->in[0]) || constant(f->g, n->in[1]))) role = HD_CHANNEL_OTHER;
    if (role == HD_CHANNEL_KEEPS) keep(f, n);
    for (int i = 0; i < n->n_in && role == HD_CHANNEL_OTHER; i++) fix(f, n->in[i]);
    for (int i = 0; i < n->n_out && role == HD_CHANNEL_OTHER; i++) fix(f, n->out[i]);
}

struct hd_channels hd_channels_find(const hd_graph *g, hd_arena *a) {
    size_t n = g->n_tensors + 1;
    struct find f = {g, hd_new_array(a, int, n), hd_new_array(a, bool, n),
                     hd_new_array(a, int64_t, n)};
    struct hd_channels c = {.of = hd_new_array(a, int, n), .per = f.per};
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    size_t n_order = hd_graph_order(g, order);
    for (size_t t = 0; t < g->n_tensors; t++) f.parent[t] = (int)t, f.per[t] = 1, c.of[t] = -1;
    for (size_t i = 0; i < n_order; i++) add_node(&f, &g->nodes[order[i]]);
    for (size_t i = 0; i < g->n_inputs; i++) fix(&f, g->inputs[i]);
    for (size_t i = 0; i < g->n_outputs; i++) fix(&f, g->outputs[i]);
    for (size_t t = 0; t < g->n_tensors; t++)
        if (f.fixed[t]) f.fixed[root(&f, (int)t)] = true;
    c.set = hd_new_array(a, struct hd_channel_set, n);
    for (size_t i = 0; i < n_order; i++)
        for (int k = 0; k < g->nodes[order[i]].n_out; k++) {
            int t = g->nodes[order[i]].out[k], r = t < 0 ? -1 : root(&f, t);
            const struct hd_tensor *x = t < 0 ? NULL : &g->tensors[t];
            if (!x || !x->known || x->rank < 2) continue;
            if (c.of[r] < 0) {
                c.set[c.n] = (struct hd_channel_set){f.fixed[r], x->dim[1] / f.per[t]};
                c.of[r] = c.n++;
            }
            c.of[t] = c.of[r];
            if (c.set[c.of[t]].n * f.per[t] != x->dim[1]) c.set[c.of[t]].fixed = true;
        }
    return c;
}
