/* Memory of a graph: an order of its nodes, which tensors share a block, how long blocks live. */
#include "compiler/ir/memory.h"

#include <string.h>

#include "runtime/base/num.h"

struct work {
    const hd_graph *g;
    hd_arena *a;
    bool *outside; /* per tensor: input, constant, output, or unknown */
    int *root;     /* per tensor: the one whose block it shares; itself when it has one */
    int *pos;      /* per node: its place in the order */
    int *last;     /* per tensor: place of its last reader, or of its maker */
    int *busy;     /* per root: the last reader of any tensor in the block */
    int *holder;   /* per root: the tensor that was last to join */
    int *part_of;  /* per root: the result of concat that it is a part of; -1 = none */
    size_t *part_at;
    bool parts;   /* concats may have their operands as parts */
    int **reader; /* per tensor: nodes that read it, each once */
    int *n_reader;
};

static bool temporary(const struct work *w, int t) {
    return t >= 0 && !w->outside[t];
}

static bool is_view(enum hd_ir_op op) {
    return op == HD_IR_reshape || op == HD_IR_flatten || op == HD_IR_squeeze ||
           op == HD_IR_unsqueeze || op == HD_IR_identity;
}

bool hd_is_elementwise(enum hd_ir_op op) {
    switch (op) {
#define ACTIVATION(name, ...)                                                                      \
    case HD_IR_##name:                                                                             \
        return true;
#define NUMBER(name, ...)                                                                          \
    case HD_IR_##name:                                                                             \
        return true;
#define INTEGER(name, ...)                                                                         \
    case HD_IR_##name:                                                                             \
        return true;
#define BINARY(name, ...)                                                                          \
    case HD_IR_##name:                                                                             \
        return true;
#define BINARY_INTEGER(name, ...)                                                                  \
    case HD_IR_##name:                                                                             \
        return true;
#include "compiler/ir/elem.def"
    case HD_IR_gelu:
    case HD_IR_isnan:
    case HD_IR_isinf:
    case HD_IR_pow:
    case HD_IR_mod:
    case HD_IR_bitshift:
    case HD_IR_clip:
    case HD_IR_where:
    case HD_IR_cast:
    case HD_IR_batchnorm:
    case HD_IR_quantize:
    case HD_IR_dequantize:
#define QPAIR(name, ...) case HD_IR_##name:
#include "compiler/ir/qpair.def"
    case HD_IR_qtable:
    case HD_IR_qrescale:
        return true;
    default:
        return false;
    }
}

/* Each vector of the result is a function of the same vector of operand 0, and of small operands:
 * one vector is all that has to be kept aside. */
static bool is_vectorwise(enum hd_ir_op op) {
    switch (op) {
    case HD_IR_softmax:
    case HD_IR_logsoftmax:
    case HD_IR_hardmax:
    case HD_IR_lrn:
    case HD_IR_layernorm:
    case HD_IR_instancenorm:
    case HD_IR_mvn:
        return true;
    default:
        return false;
    }
}

static void find_readers(struct work *w) {
    const hd_graph *g = w->g;
    for (int fill = 0; fill < 2; fill++) {
        for (size_t t = 0; fill && t < g->n_tensors; t++) {
            w->reader[t] = hd_new_array(w->a, int, (size_t)w->n_reader[t] + 1);
            w->n_reader[t] = 0;
        }
        for (size_t i = 0; i < g->n_nodes; i++)
            for (int k = 0; !g->nodes[i].dead && k < g->nodes[i].n_in; k++) {
                int t = g->nodes[i].in[k], n = t < 0 ? 0 : w->n_reader[t];
                if (t < 0 || (fill && n && w->reader[t][n - 1] == (int)i)) continue;
                if (fill) w->reader[t][n] = (int)i;
                w->n_reader[t]++;
            }
    }
}

/* ---- sharing -------------------------------------------------------------------------------- */

/* The operand whose block node n may write its result y over: it has y's shape and bytes, and
 * nothing in the block is read after n or by n in another way. -1 = none. */
static int overwritten(const struct work *w, int node) {
    const struct hd_node *n = &w->g->nodes[node];
    const struct hd_tensor *y = &w->g->tensors[n->out[0]];
    int operands = hd_is_elementwise(n->op) ? n->n_in : is_vectorwise(n->op) ? 1 : 0;
    for (int i = 0; n->n_out == 1 && i < operands; i++) {
        int t = n->in[i];
        if (!temporary(w, t) || w->last[t] != w->pos[node]) continue;
        const struct hd_tensor *x = &w->g->tensors[t];
        int r = w->root[t];
        bool same = x->rank == y->rank && !memcmp(x->dim, y->dim, (size_t)x->rank * sizeof *x->dim);
        bool alone = w->holder[r] == t && w->busy[r] < w->pos[node];
        if (same && alone && hd_dtype_bytes(x->dtype) == hd_dtype_bytes(y->dtype)) return t;
    }
    return -1;
}

/* busy[r] is the last reader of the tensors in block r other than its holder. */
static void join(struct work *w, int t, int r) {
    int before = w->holder[r];
    w->root[t] = r;
    w->busy[r] = (int)hd_max(w->busy[r], w->last[before]);
    w->holder[r] = t;
}

/* Operands of a concat along the outermost dimension are made where its result is to be, when they
 * fill their blocks and nothing else is in those any more. */
static void share_parts(struct work *w, int node) {
    const struct hd_node *n = &w->g->nodes[node];
    int y = n->out[0], axis = (int)hd_attr_int(n, "axis", 0);
    const struct hd_tensor *whole = &w->g->tensors[y];
    size_t at = 0;
    for (int d = 0; d < (axis < 0 ? axis + whole->rank : axis); d++)
        if (whole->dim[d] != 1) return;
    for (int i = 0; i < n->n_in; i++) {
        int t = n->in[i], r = w->root[t];
        size_t bytes = hd_tensor_bytes(&w->g->tensors[t]);
        bool fills = temporary(w, t) && hd_tensor_bytes(&w->g->tensors[r]) == bytes;
        if (fills && w->part_of[r] < 0 && w->holder[r] == t && w->busy[r] < w->pos[node]) {
            w->part_of[r] = y;
            w->part_at[r] = at;
            w->busy[y] = (int)hd_max(w->busy[y], w->last[t]);
        }
        at += bytes;
    }
}

static void share(struct work *w, const int *order, size_t n) {
    for (size_t t = 0; t < w->g->n_tensors; t++) {
        w->root[t] = w->holder[t] = (int)t;
        w->busy[t] = w->part_of[t] = -1;
        const struct hd_tensor *x = &w->g->tensors[t];
        w->last[t] = x->producer < 0 ? -1 : w->pos[x->producer];
        for (int i = 0; i < w->n_reader[t]; i++)
            w->last[t] = (int)hd_max(w->last[t], w->pos[w->reader[t][i]]);
    }
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *nd = &w->g->nodes[order[i]];
        int y = nd->out[0];
        if (!temporary(w, y)) continue;
        int x = is_view(nd->op) && temporary(w, nd->in[0]) ? nd->in[0] : overwritten(w, order[i]);
        if (x >= 0) join(w, y, w->root[x]);
        if (w->parts && nd->op == HD_IR_concat) share_parts(w, order[i]);
    }
}

/* Blocks for this order. */
static void make_blocks(struct work *w, const int *order, size_t n, struct hd_mem_plan *p) {
    const hd_graph *g = w->g;
    for (size_t i = 0; i < n; i++) w->pos[order[i]] = (int)i;
    share(w, order, n);
    p->n_blocks = 0;
    for (size_t t = 0; t < g->n_tensors; t++) p->block_of[t] = -1, p->at[t] = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < g->nodes[order[i]].n_out; k++) {
            int t = g->nodes[order[i]].out[k], r = t < 0 ? -1 : w->root[t];
            if (!temporary(w, t)) continue;
            for (; w->part_of[r] >= 0; r = w->root[w->part_of[r]]) p->at[t] += w->part_at[r];
            if (p->block_of[r] < 0) {
                p->block_of[r] = (int)p->n_blocks;
                p->blocks[p->n_blocks++] =
                    (struct hd_mem_block){hd_tensor_bytes(&g->tensors[r]), (int)i, (int)i, 0};
            }
            struct hd_mem_block *b = &p->blocks[p->block_of[t] = p->block_of[r]];
            b->last = (int)hd_max(b->last, w->last[t]);
        }
    p->bound_bytes = hd_mem_bound(p->blocks, p->n_blocks);
}

/* ---- order ---------------------------------------------------------------------------------- */

/* Of the nodes that may run, always the one that leaves the least memory in use behind it; the
 * first in `base` among equals. */
static void greedy(struct work *w, const int *base, size_t n, int *order) {
    const hd_graph *g = w->g;
    int *waits = hd_new_array(w->a, int, g->n_nodes + 1);
    int *left = hd_new_array(w->a, int, g->n_tensors + 1); /* readers to come */
    int *ready = hd_new_array(w->a, int, n + 1);           /* places in base, ascending */
    int *place = hd_new_array(w->a, int, g->n_nodes + 1);
    size_t n_ready = 0, done = 0;
    for (size_t i = 0; i < n; i++) place[base[i]] = (int)i;
    for (size_t t = 0; t < g->n_tensors; t++) {
        left[t] = w->n_reader[t];
        int p = g->tensors[t].producer;
        for (int i = 0; p >= 0 && !g->nodes[p].dead && i < w->n_reader[t]; i++)
            waits[w->reader[t][i]]++;
    }
    for (size_t i = 0; i < n; i++)
        if (!waits[base[i]]) ready[n_ready++] = (int)i;
    while (n_ready) {
        size_t best = 0;
        int64_t best_cost = INT64_MAX;
        for (size_t i = 0; i < n_ready; i++) {
            const struct hd_node *nd = &g->nodes[base[ready[i]]];
            int64_t cost = 0;
            for (int k = 0; k < nd->n_out; k++)
                if (temporary(w, nd->out[k]))
                    cost += (int64_t)hd_tensor_bytes(&g->tensors[nd->out[k]]);
            for (int k = 0; k < nd->n_in; k++)
                if (temporary(w, nd->in[k]) && left[nd->in[k]] == 1)
                    cost -= (int64_t)hd_tensor_bytes(&g->tensors[nd->in[k]]);
            if (cost < best_cost) best = i, best_cost = cost;
        }
        int node = base[ready[best]];
        memmove(&ready[best], &ready[best + 1], (--n_ready - best) * sizeof *ready);
        order[done++] = node;
        for (int k = 0; k < g->nodes[node].n_in; k++)
            if (g->nodes[node].in[k] >= 0) left[g->nodes[node].in[k]]--;
        for (int k = 0; k < g->nodes[node].n_out; k++) {
            int t = g->nodes[node].out[k];
            for (int i = 0; t >= 0 && i < w->n_reader[t]; i++) {
                if (--waits[w->reader[t][i]]) continue;
                size_t at = n_ready++;
                for (; at && ready[at - 1] > place[w->reader[t][i]]; at--)
                    ready[at] = ready[at - 1];
                ready[at] = place[w->reader[t][i]];
            }
        }
    }
}

/* Order of the file or greedy, concats of parts or of copies: what has the lowest peak. Greedy only
 * when nothing else says what runs first. */
static void choose_order(struct work *w, struct hd_mem_plan *p) {
    const hd_graph *g = w->g;
    int *order[2] = {hd_new_array(w->a, int, g->n_nodes + 1),
                     hd_new_array(w->a, int, g->n_nodes + 1)};
    int n_orders = 2;
    p->n_order = hd_graph_order(g, order[0]);
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!g->nodes[i].dead && (g->nodes[i].n_after || g->nodes[i].op == HD_IR_assign))
            n_orders = 1;
    if (n_orders > 1) greedy(w, order[0], p->n_order, order[1]);
    size_t least = SIZE_MAX;
    bool parts = false;
    for (int k = 0; k < 2 * n_orders; k++) {
        w->parts = k % 2;
        make_blocks(w, order[k / 2], p->n_order, p);
        if (p->bound_bytes < least)
            least = p->bound_bytes, p->order = order[k / 2], parts = w->parts;
    }
    w->parts = parts;
}

/* What nodes make of constants only is constant, too: computed once, like weights. */
static void find_constants(const hd_graph *g, hd_arena *a, bool *outside) {
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    bool *constant = hd_new_array(a, bool, g->n_tensors + 1);
    for (size_t t = 0; t < g->n_tensors; t++) constant[t] = g->tensors[t].data != NULL;
    for (size_t i = 0, n = hd_graph_order(g, order); i < n; i++) {
        const struct hd_node *nd = &g->nodes[order[i]];
        bool all = true;
        for (int k = 0; k < nd->n_in; k++) all = all && (nd->in[k] < 0 || constant[nd->in[k]]);
        for (int k = 0; all && k < nd->n_out; k++)
            if (nd->out[k] >= 0) constant[nd->out[k]] = outside[nd->out[k]] = true;
    }
}

void hd_mem_order_graph(const hd_graph *g, hd_arena *a, struct hd_mem_plan *out) {
    size_t n = g->n_tensors + 1;
    struct work w = {.g = g,
                     .a = a,
                     .outside = hd_new_array(a, bool, n),
                     .root = hd_new_array(a, int, n),
                     .pos = hd_new_array(a, int, g->n_nodes + 1),
                     .last = hd_new_array(a, int, n),
                     .busy = hd_new_array(a, int, n),
                     .holder = hd_new_array(a, int, n),
                     .part_of = hd_new_array(a, int, n),
                     .part_at = hd_new_array(a, size_t, n),
                     .reader = hd_new_array(a, int *, n),
                     .n_reader = hd_new_array(a, int, n)};
    *out = (struct hd_mem_plan){.block_of = hd_new_array(a, int, n),
                                .at = hd_new_array(a, size_t, n),
                                .blocks = hd_new_array(a, struct hd_mem_block, n)};
    for (size_t t = 0; t < g->n_tensors; t++)
        w.outside[t] = g->tensors[t].producer < 0 || !g->tensors[t].known;
    for (size_t i = 0; i < g->n_outputs; i++) w.outside[g->outputs[i]] = true;
    find_constants(g, a, w.outside);
    for (size_t t = 0; t < g->n_tensors; t++)
        if (!w.outside[t]) out->naive_bytes += hd_tensor_bytes(&g->tensors[t]);
    find_readers(&w);
    choose_order(&w, out);
    make_blocks(&w, out->order, out->n_order, out);
}

void hd_mem_plan_graph(const hd_graph *g, hd_arena *a, struct hd_mem_plan *out) {
    hd_mem_order_graph(g, a, out);
    out->planned_bytes = hd_mem_pack(out->blocks, out->n_blocks);
}
