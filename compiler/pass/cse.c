/* Common subexpressions: two nodes of the same operation, operands and attributes make the same.
 *
 *   concat(.., a, b, ..) where there is concat(a, b)   ->   concat(.., concat(a, b), ..)
 *   concat(.., a, b, ..) where a, b = split(x)         ->   concat(.., x, ..)
 *
 * needs: nothing
 * gives: no two nodes that compute the same; small constants with the same values count as one;
 *        concats of concats, as in dense blocks, whose storage can then be one (partition/share.c)
 * destroys: the later of two, unless it makes an output of the graph
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/pass/pass.h"
#include "runtime/base/memory.h"
#include "runtime/base/num.h"

enum { CONST_BYTES = 4096 }; /* larger constants are not compared */

static bool same_attr(const struct hd_attr *a, const struct hd_attr *b) {
    if (a->kind != b->kind || a->kind == HD_ATTR_GRAPH || a->n != b->n) return false;
    if (a->kind == HD_ATTR_STRING) return !strcmp(a->s, b->s);
    if (a->kind == HD_ATTR_INTS) return !memcmp(a->ints, b->ints, (size_t)a->n * sizeof *a->ints);
    if (a->kind == HD_ATTR_FLOATS)
        return !memcmp(a->floats, b->floats, (size_t)a->n * sizeof *a->floats);
    return a->i == b->i && !memcmp(&a->f, &b->f, sizeof a->f);
}

static int operand(const struct hd_node *n, const int *to, int i) {
    return n->in[i] < 0 ? -1 : to[n->in[i]];
}

static bool same_node(const struct hd_node *a, const struct hd_node *b, const int *to) {
    if (a->op != b->op || a->n_in != b->n_in || a->n_out != b->n_out || a->n_attrs != b->n_attrs)
        return false;
    for (int i = 0; i < a->n_in; i++)
        if (operand(a, to, i) != operand(b, to, i)) return false;
    for (int i = 0; i < a->n_out; i++)
        if ((a->out[i] < 0) != (b->out[i] < 0)) return false;
    for (int i = 0; i < a->n_attrs; i++) {
        const struct hd_attr *other = hd_attr_get(b, a->attrs[i].name);
        if (!other || !same_attr(&a->attrs[i], other)) return false;
    }
    return true;
}

/* Operands and attributes say all there is: no variable, no control dependency, no output. */
static bool may_go(const hd_graph *g, const struct hd_node *n) {
    if (n->op == HD_IR_assign || n->n_after) return false;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && g->tensors[n->in[i]].initial) return false;
    return true;
}

static uint32_t hash_node(const struct hd_node *n, const int *to) {
    uint32_t h = hd_hash(HD_HASH_INIT, &n->op, sizeof n->op);
    for (int i = 0; i < n->n_in; i++) {
        int t = operand(n, to, i);
        h = hd_hash(h, &t, sizeof t);
    }
    return h;
}

static bool same_const(const struct hd_tensor *a, const struct hd_tensor *b) {
    return a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) &&
           !memcmp(a->axis, b->axis, (size_t)a->rank * sizeof *a->axis) &&
           !memcmp(a->data, b->data, hd_tensor_bytes(a));
}

/* Slot for a key with hash h: open addressing, id + 1; the caller compares. */
struct table {
    int *slot;
    size_t cap;
};

static struct table table_create(size_t n) {
    struct table t = {NULL, 64};
    while (t.cap < 2 * n + 1) t.cap *= 2;
    t.slot = calloc(t.cap, sizeof *t.slot);
    HD_MEMORY(t.slot);
    return t;
}

/* Per tensor: the first constant that is the same; itself when there is none. */
static int *alike(const hd_graph *g) {
    struct table t = table_create(g->n_tensors);
    int *to = malloc((g->n_tensors + 1) * sizeof *to);
    HD_MEMORY(to);
    for (size_t i = 0; i < g->n_tensors; i++) {
        const struct hd_tensor *x = &g->tensors[i];
        to[i] = (int)i;
        if (!x->data || hd_tensor_bytes(x) > CONST_BYTES) continue;
        size_t k = hd_hash(HD_HASH_INIT, x->data, hd_tensor_bytes(x)) & (t.cap - 1);
        while (t.slot[k] && !same_const(&g->tensors[t.slot[k] - 1], x)) k = (k + 1) & (t.cap - 1);
        if (t.slot[k])
            to[i] = t.slot[k] - 1;
        else
            t.slot[k] = (int)i + 1;
    }
    free(t.slot);
    return to;
}

/* Tensors side by side along an axis, and all of them as one. */
struct row {
    const int *part;
    int n, all;
    int64_t axis;
};

/* Of a concat, or of a split; n 0: the node is neither. */
static struct row row_of(const hd_graph *g, const struct hd_node *n) {
    bool splits = n->op == HD_IR_split, joins = n->op == HD_IR_concat;
    if (n->dead || (!splits && !joins)) return (struct row){0};
    struct row r = {.part = joins ? n->in : n->out,
                    .n = joins ? n->n_in : n->n_out,
                    .all = joins ? n->out[0] : n->in[0],
                    .axis = hd_attr_int(n, "axis", 0)};
    if (r.axis < 0) r.axis += g->tensors[r.all].rank;
    return r;
}

/* Where a stands in b, of which there are more or which is something else; -1: nowhere. */
static int stands_in(const struct row *a, const struct row *b) {
    if (a->axis != b->axis || a->n < 2) return -1;
    for (int at = 0; at + a->n <= b->n; at++)
        if (!memcmp(&b->part[at], a->part, (size_t)a->n * sizeof *a->part)) return at;
    return -1;
}

/* Each concat takes what there is of its operands as one, the longest first. */
static void nest_concats(hd_graph *g, const int *order, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct hd_node *b = &g->nodes[order[i]];
        for (bool found = b->op == HD_IR_concat; found;) {
            struct row all = row_of(g, b), most = {0};
            for (size_t k = 0; k < i; k++) {
                struct row r = row_of(g, &g->nodes[order[k]]);
                if (r.n > most.n && stands_in(&r, &all) >= 0) most = r;
            }
            found = most.n > 0;
            if (!found) break;
            int at = stands_in(&most, &all), end = at + most.n;
            b->in[at] = most.all;
            memmove(&b->in[at + 1], &b->in[end], (size_t)(b->n_in - end) * sizeof *b->in);
            b->n_in -= most.n - 1;
        }
    }
}

void hd_pass_cse(hd_graph *g) {
    int *to = alike(g);
    struct table t = table_create(g->n_nodes);
    int *order = malloc((g->n_nodes + 1) * sizeof *order);
    HD_MEMORY(order);
    size_t n = hd_graph_order(g, order);
    for (size_t i = 0; i < n; i++) {
        struct hd_node *nd = &g->nodes[order[i]];
        bool output = false;
        if (!may_go(g, nd)) continue;
        size_t k = hash_node(nd, to) & (t.cap - 1);
        while (t.slot[k] && !same_node(&g->nodes[t.slot[k] - 1], nd, to)) k = (k + 1) & (t.cap - 1);
        for (int j = 0; j < nd->n_out; j++)
            output = output || (nd->out[j] >= 0 && hd_graph_is_output(g, nd->out[j]));
        if (!t.slot[k]) {
            t.slot[k] = order[i] + 1;
        } else if (!output) {
            const struct hd_node *first = &g->nodes[t.slot[k] - 1];
            hd_graph_kill(g, order[i]);
            for (int j = 0; j < nd->n_out; j++)
                if (nd->out[j] >= 0) hd_graph_replace(g, nd->out[j], first->out[j]);
            for (size_t j = 0; j < g->n_nodes; j++) /* who ran after it runs after the first */
                for (int d = 0; d < g->nodes[j].n_after; d++)
                    if (g->nodes[j].after[d] == order[i]) g->nodes[j].after[d] = t.slot[k] - 1;
        }
    }
    nest_concats(g, order, n);
    free(order);
    free(t.slot);
    free(to);
}
