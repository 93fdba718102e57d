/* What of a network depends on the sizes of its open dimensions: found by comparing two graphs. */
#include "compiler/export/open.h"

#include <string.h>

#include "compiler/export/export.h"

bool hd_open_reshape(const hd_graph *g, const hd_graph *other, int node, int64_t *out) {
    const struct hd_node *n = &g->nodes[node], *m = &other->nodes[node];
    const struct hd_attr *a = hd_attr_get(n, "shape"), *b = hd_attr_get(m, "shape");
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &other->tensors[m->in[0]];
    int left = 0;
    if (!a || !b || a->n != b->n || a->n > HD_MAX_RANK) return false;
    for (int d = 0; d < a->n; d++) {
        bool same = a->ints[d] == b->ints[d],
             copied = d < x->rank && x->dim[d] == a->ints[d] && y->dim[d] == b->ints[d];
        out[d] = same ? a->ints[d] : copied ? 0 : -1;
        left += out[d] == -1;
        if (same && a->ints[d] == 0) return false;
    }
    return left <= 1;
}

static bool same_attr(const struct hd_attr *a, const struct hd_attr *b) {
    if (strcmp(a->name, b->name) || a->kind != b->kind || a->n != b->n) return false;
    switch (a->kind) {
    case HD_ATTR_INT:
        return a->i == b->i;
    case HD_ATTR_FLOAT:
        return !memcmp(&a->f, &b->f, sizeof a->f);
    case HD_ATTR_INTS:
        return !memcmp(a->ints, b->ints, (size_t)a->n * sizeof *a->ints);
    case HD_ATTR_FLOATS:
        return !memcmp(a->floats, b->floats, (size_t)a->n * sizeof *a->floats);
    case HD_ATTR_STRING:
        return !strcmp(a->s, b->s);
    default:
        return false; /* graphs are not written at all */
    }
}

static bool same_attrs(const hd_graph *g, const hd_graph *other, int node) {
    const struct hd_node *n = &g->nodes[node], *m = &other->nodes[node];
    int64_t shape[HD_MAX_RANK];
    if (n->op != m->op || n->n_attrs != m->n_attrs || n->n_in != m->n_in || n->n_out != m->n_out ||
        memcmp(n->in, m->in, (size_t)n->n_in * sizeof *n->in) ||
        memcmp(n->out, m->out, (size_t)n->n_out * sizeof *n->out))
        return false;
    if (n->op == HD_IR_reshape && n->n_in == 1) return hd_open_reshape(g, other, node, shape);
    for (int i = 0; i < n->n_attrs; i++)
        if (!same_attr(&n->attrs[i], &m->attrs[i])) return false;
    return true;
}

const char *hd_export_closes(const hd_graph *g, const hd_graph *other) {
    if (g->n_nodes != other->n_nodes || g->n_tensors != other->n_tensors) return g->name;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!g->nodes[i].dead && !same_attrs(g, other, (int)i)) return g->nodes[i].name;
    for (size_t i = 0; i < g->n_tensors; i++) {
        const struct hd_tensor *t = &g->tensors[i], *u = &other->tensors[i];
        if (!t->data && !u->data) continue;
        bool same = t->data && u->data && t->dtype == u->dtype &&
                    hd_tensor_bytes(t) == hd_tensor_bytes(u) &&
                    (t->data == u->data || !memcmp(t->data, u->data, hd_tensor_bytes(t)));
        if (!same) return t->name;
    }
    return NULL;
}
