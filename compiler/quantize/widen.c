/* Networks in float16 and bfloat16 as networks in float32: what the quantiser reads, and what the
 * integers are scaled from. Inputs and outputs keep their types, behind a cast each. */
#include <string.h>

#include "compiler/quantize/quantize.h"
#include "cpu_ref/kernels.h"

static bool is_half(hd_dtype t) {
    return t == HD_F16 || t == HD_BF16;
}

static const float *wide(hd_arena *a, const void *data, const struct hd_tensor *t) {
    int64_t n = hd_tensor_elems(t);
    float *v = hd_new_array(a, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = (float)hd_k_f64(data, t->dtype, i);
    return v;
}

static void widen_tensor(hd_graph *g, struct hd_tensor *t) {
    if (!is_half(t->dtype)) return;
    if (t->data) t->data = wide(g->arena, t->data, t);
    if (t->initial) t->initial = wide(g->arena, t->initial, t);
    t->dtype = HD_F32;
}

/* A cast from one tensor to another. */
static void cast(hd_graph *g, int from, int to) {
    const struct hd_tensor t = g->tensors[to];
    int id = hd_graph_node(g, HD_IR_cast, t.name, 1, &from, 1, &to);
    hd_attr_set_string(g, id, "to", hd_dtype_name(t.dtype));
}

static int like(hd_graph *g, const struct hd_tensor *t, const char *suffix, hd_dtype type) {
    return hd_graph_tensor(g, hd_sprintf(g->arena, "%s.%s", t->name, suffix), type, t->rank,
                           t->dim);
}

static void widen_input(hd_graph *g, int i) {
    int x = g->inputs[i];
    struct hd_tensor t = g->tensors[x];
    int y = like(g, &t, "f32", HD_F32);
    hd_graph_replace(g, x, y);
    g->inputs[i] = x;
    cast(g, x, y);
}

/* Its maker writes a new tensor, which everybody reads; the output is that, narrowed. */
static void narrow_output(hd_graph *g, int i, hd_dtype type) {
    int y = g->outputs[i], maker = g->tensors[y].producer;
    struct hd_tensor t = g->tensors[y];
    int raw = like(g, &t, "f32", HD_F32);
    if (maker < 0) { /* an input or a constant goes straight out */
        int narrow = like(g, &t, "out", type);
        g->outputs[i] = narrow;
        cast(g, y, narrow);
        return;
    }
    for (int k = 0; k < g->nodes[maker].n_out; k++)
        if (g->nodes[maker].out[k] == y) g->nodes[maker].out[k] = raw;
    g->tensors[raw].producer = maker;
    g->tensors[y].producer = -1;
    hd_graph_replace(g, y, raw);
    g->outputs[i] = y;
    g->tensors[y].dtype = type;
    cast(g, raw, y);
}

static void widen_graph(hd_graph *g, bool network) {
    size_t n_tensors = g->n_tensors, n_nodes = g->n_nodes, n_outputs = g->n_outputs;
    hd_dtype *type = hd_new_array(g->arena, hd_dtype, n_outputs + 1);
    bool *input = hd_new_array(g->arena, bool, n_tensors + 1);
    for (size_t i = 0; i < n_outputs; i++) type[i] = g->tensors[g->outputs[i]].dtype;
    for (size_t i = 0; network && i < g->n_inputs; i++) input[g->inputs[i]] = true;
    for (size_t t = 0; t < n_tensors; t++)
        if (!input[t]) widen_tensor(g, &g->tensors[t]);
    for (size_t i = 0; i < n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        int to = hd_dtype_by_name(hd_attr_string(n, "to", ""));
        if (to >= 0 && is_half((hd_dtype)to) && n->op != HD_IR_bitcast)
            hd_attr_set_string(g, (int)i, "to", "f32");
        for (int k = 0; k < n->n_attrs; k++)
            if (n->attrs[k].kind == HD_ATTR_GRAPH) widen_graph(n->attrs[k].graph, false);
    }
    for (size_t i = 0; network && i < g->n_inputs; i++)
        if (is_half(g->tensors[g->inputs[i]].dtype)) widen_input(g, (int)i);
    for (size_t i = 0; network && i < n_outputs; i++)
        if (is_half(type[i])) narrow_output(g, (int)i, type[i]);
}

static bool has_half(const hd_graph *g) {
    for (size_t i = 0; i < g->n_tensors; i++)
        if (is_half(g->tensors[i].dtype)) return true;
    for (size_t i = 0; i < g->n_subgraphs; i++)
        if (has_half(g->subgraphs[i])) return true;
    return false;
}

hd_status hd_quant_widen(hd_ctx *ctx, hd_graph *g) {
    if (!has_half(g)) return HD_OK;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!g->nodes[i].dead && g->nodes[i].op == HD_IR_bitcast) return HD_OK; /* wants the bits */
    widen_graph(g, true);
    return hd_graph_infer(ctx, g);
}
