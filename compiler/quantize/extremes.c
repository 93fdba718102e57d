/* The larger of two tensors as a max pool over both, which moves values: it is exact on integers of
 * one scale. The smaller one is the larger one of both negated.
 *
 *   max(a, b) = reshape(maxpool(concat(a as [N,C,1,rest], b as that), kernel [2,1]))
 *
 * C is the dimension that the machine has as channels: the last one of rows.
 *
 * Where one repeats along the other: max(a, b) = relu(a - b) + b, min(a, b) = b - relu(b - a). */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "compiler/quantize/quantize.h"

static int like(hd_graph *g, int y, const char *suffix, int rank, const int64_t *dim) {
    const char *name = hd_sprintf(g->arena, "%s.%s", g->tensors[y].name, suffix);
    return hd_graph_tensor(g, name, HD_F32, rank, dim);
}

static int made(hd_graph *g, enum hd_ir_op op, int n_in, const int *in, int out) {
    hd_graph_node(g, op, g->tensors[out].name, n_in, in, 1, &out);
    return (int)g->n_nodes - 1;
}

static int negated(hd_graph *g, int x, const char *suffix) {
    const struct hd_tensor t = g->tensors[x];
    int y = like(g, x, suffix, t.rank, t.dim);
    made(g, HD_IR_neg, 1, &x, y);
    return y;
}

static bool is_float(const struct hd_tensor *x) {
    return x->known && x->dtype == HD_F32;
}

/* One has the shape of the result, the other repeats along it: a constant, or another tensor. */
static bool repeated(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor y = g->tensors[n.out[0]];
    bool max = n.op == HD_IR_max;
    for (int i = 0; i < 2; i++) {
        const struct hd_tensor *a = &g->tensors[n.in[i]], *b = &g->tensors[n.in[1 - i]];
        int64_t elems = is_float(b) ? hd_tensor_elems(b) : 0;
        if (!is_float(a) || !is_float(&y) || a->data || !hd_same_shape(a, &y) ||
            elems < (b->data ? 2 : 1) || elems == hd_tensor_elems(&y))
            continue;
        int from = n.in[max ? i : 1 - i], take = n.in[max ? 1 - i : i], out = n.out[0];
        int apart = like(g, out, "apart", y.rank, y.dim),
            part = like(g, out, "part", y.rank, y.dim);
        int by = n.in[1 - i];
        hd_graph_kill(g, node);
        made(g, HD_IR_sub, 2, (int[]){from, take}, apart);
        made(g, HD_IR_relu, 1, &apart, part);
        int last[2] = {max ? part : by, max ? by : part};
        hd_graph_swap_names(g, made(g, max ? HD_IR_add : HD_IR_sub, 2, last, out), node);
        return true;
    }
    return false;
}

/* All of x as [1,high,wide], turned to [1,wide,high]. */
static int turned(hd_graph *g, int x, int64_t high, int64_t wide) {
    int64_t flat[3] = {1, high, wide}, dim[3] = {1, wide, high}, perm[3] = {0, 2, 1};
    x = hd_moved(g, HD_IR_reshape, x, 3, flat, "shape", flat, -1);
    return hd_moved(g, HD_IR_transpose, x, 3, dim, "perm", perm, -1);
}

bool hd_quant_extreme(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    if ((n.op != HD_IR_max && n.op != HD_IR_min) || n.n_in != 2 || n.in[0] == n.in[1]) return false;
    const struct hd_tensor t = g->tensors[n.out[0]];
    for (int i = 0; i < 2; i++) {
        const struct hd_tensor *x = &g->tensors[n.in[i]];
        if (!is_float(x) || x->data || !t.known || !hd_same_shape(x, &t)) return repeated(g, node);
    }
    int64_t elems = hd_tensor_elems(&t), window[2] = {2, 1};
    if (elems < 1) return false;
    bool rows = t.rank > 1 && hd_in_rows(g, n.in[0]) && hd_in_rows(g, n.in[1]);
    int64_t first = t.rank > 1 && !rows ? t.dim[0] : 1, channels = rows         ? t.dim[t.rank - 1]
                                                                   : t.rank > 1 ? t.dim[1]
                                                                                : 1;
    int64_t dim[4] = {first, channels, 1, elems / first / channels},
            two[4] = {first, channels, 2, dim[3]};
    bool min = n.op == HD_IR_min;
    int y = n.out[0], part[2];
    hd_graph_kill(g, node);
    for (int i = 0; i < 2; i++) {
        int x = min ? negated(g, n.in[i], i ? "minus.b" : "minus.a") : n.in[i];
        part[i] = like(g, y, i ? "b" : "a", 4, dim);
        if (rows) x = turned(g, x, dim[3], channels);
        hd_attr_set_ints(g, made(g, HD_IR_reshape, 1, &x, part[i]), "shape", 4, dim);
    }
    int both = like(g, y, "both", 4, two), larger = like(g, y, "larger", 4, dim);
    hd_attr_set_int(g, made(g, HD_IR_concat, 2, part, both), "axis", 2);
    int pool = hd_graph_node(g, HD_IR_maxpool, n.name, 1, &both, 1, &larger);
    hd_attr_set_ints(g, pool, "kernel_shape", 2, window);
    hd_graph_swap_names(g, pool, node);
    int shaped = min ? like(g, y, "shaped", t.rank, t.dim) : y;
    if (rows) larger = turned(g, larger, channels, dim[3]);
    hd_attr_set_ints(g, made(g, HD_IR_reshape, 1, &larger, shaped), "shape", t.rank, t.dim);
    if (min) made(g, HD_IR_neg, 1, &shaped, y);
    return true;
}
