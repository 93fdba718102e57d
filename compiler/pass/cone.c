/* Elementwise functions of one tensor: found by walking up, computed by golden on a copy. */
#include "compiler/pass/cone.h"

#include <stdlib.h>
#include <string.h>

#include "cpu_ref/golden.h"

enum { DEPTH = 12 }; /* operations in a row; both operands of each are followed */

/* Elementwise operations on floats, and on what comparing those gives. */
static bool elementwise(enum hd_ir_op op) {
    switch (op) {
#define ACTIVATION(name, ...)                                                                      \
    case HD_IR_##name:                                                                             \
        return true;
#define NUMBER(name, ...)                                                                          \
    case HD_IR_##name:                                                                             \
        return true;
#define BINARY(name, types, result, ...)                                                           \
    case HD_IR_##name:                                                                             \
        return true;
#include "compiler/ir/elem.def"
    case HD_IR_and:
    case HD_IR_or:
    case HD_IR_xor:
    case HD_IR_not:
    case HD_IR_where:
    case HD_IR_cast:
    case HD_IR_clip:
    case HD_IR_gelu:
    case HD_IR_pow:
        return true;
    default:
        return false;
    }
}

static bool is_value(const struct hd_tensor *t) {
    return t->known && (t->dtype == HD_F32 || t->dtype == HD_BOOL);
}

static bool same_shape(const struct hd_tensor *a, const struct hd_tensor *b) {
    return is_value(a) && is_value(b) && a->rank == b->rank &&
           !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

static bool scalar_const(const struct hd_tensor *t) {
    return t->data && is_value(t) && hd_tensor_elems(t) == 1;
}

static int root_of(const hd_graph *g, int t, const bool *stop, int depth) {
    int p = g->tensors[t].producer, root = -1;
    if (p < 0 || !depth || (stop && stop[t])) return t;
    const struct hd_node *n = &g->nodes[p];
    if (!elementwise(n->op) || n->n_out != 1) return t;
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] < 0 || scalar_const(&g->tensors[n->in[i]])) continue;
        if (!same_shape(&g->tensors[n->in[i]], &g->tensors[t])) return t;
        int r = root_of(g, n->in[i], stop, depth - 1);
        if (root >= 0 && r != root) return t;
        root = r;
    }
    return root < 0 ? t : root;
}

int hd_cone_root(const hd_graph *g, int t, const bool *stop) {
    int root = root_of(g, t, stop, DEPTH);
    return g->tensors[root].dtype == HD_F32 ? root : t;
}

/* The tensor of `to` that stands for t: constants become scalars, nodes are copied. */
static int copy(const hd_graph *g, int t, hd_graph *to, int *map) {
    if (map[t] >= 0) return map[t];
    const struct hd_tensor *x = &g->tensors[t];
    if (x->data) return map[t] = hd_graph_const(to, x->name, x->dtype, 0, NULL, x->data);
    const struct hd_node *n = &g->nodes[x->producer];
    int in[4] = {-1, -1, -1, -1};
    HD_ASSERT(n->n_in <= 4);
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) in[i] = copy(g, n->in[i], to, map);
    map[t] = hd_graph_tensor(to, x->name, x->dtype, 0, NULL);
    int id = hd_graph_node(to, n->op, n->name, n->n_in, in, 1, &map[t]);
    for (int i = 0; i < n->n_attrs; i++) {
        const struct hd_attr *a = &n->attrs[i];
        if (a->kind == HD_ATTR_FLOAT) hd_attr_set_float(to, id, a->name, a->f);
        if (a->kind == HD_ATTR_INT) hd_attr_set_int(to, id, a->name, a->i);
        if (a->kind == HD_ATTR_STRING) hd_attr_set_string(to, id, a->name, a->s);
    }
    return map[t];
}

hd_status hd_cone_eval(hd_ctx *ctx, const hd_graph *g, int t, int root, const float *x, int n,
                       float *y) {
    int64_t dim = n;
    hd_graph *f = hd_graph_create();
    hd_arena *a = hd_arena_create();
    int *map = hd_new_array(a, int, g->n_tensors + 1);
    for (size_t i = 0; i < g->n_tensors; i++) map[i] = -1;
    map[root] = hd_graph_tensor(f, "x", HD_F32, 1, &dim);
    hd_graph_input(f, map[root]);
    int out = copy(g, t, f, map);
    hd_graph_output(f, out);
    hd_status s = hd_graph_infer(ctx, f);
    struct hd_tensor *v = hd_golden_tensors(f, a);
    v[map[root]].data = x;
    if (s == HD_OK) s = hd_golden_eval(ctx, f, NULL, 0, v, a);
    if (s == HD_OK) memcpy(y, v[out].data, (size_t)n * sizeof *y);
    hd_arena_destroy(a);
    hd_graph_destroy(f);
    return s;
}
