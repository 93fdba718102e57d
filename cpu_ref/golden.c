/* Walks nodes in topological order and calls each one's kernel. */
#include "cpu_ref/golden.h"

#include "cpu_ref/kernels.h"

static hd_status (*const kernels[HD_IR_OPS])(const struct hd_kernel *) = {
#define OP(name, ...) [HD_IR_##name] = k_##name,
#include "compiler/ir/ops.def"
};

static hd_status run_node(hd_ctx *ctx, const hd_graph *g, int id, void **data, hd_arena *arena) {
    const struct hd_node *n = &g->nodes[id];
    struct hd_kernel k = {.ctx = ctx, .g = g, .n = n, .arena = arena};
    k.in = hd_new_array(arena, const void *, (size_t)n->n_in + 1);
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] < 0) continue;
        const struct hd_tensor *t = &g->tensors[n->in[i]];
        k.in[i] = data[n->in[i]] ? data[n->in[i]] : t->data;
        if (!k.in[i])
            return hd_fail(ctx, HD_INVALID, "node '%s' (%s): operand '%s' has no value", n->name,
                           hd_ir_ops[n->op].name, t->name);
    }
    k.out = hd_alloc(arena, hd_tensor_bytes(&g->tensors[n->out[0]]));
    TRY(hd_note(ctx, kernels[n->op](&k), "in node '%s' (%s)", n->name, hd_ir_ops[n->op].name));
    data[n->out[0]] = k.out;
    return HD_OK;
}

hd_status hd_golden_run(hd_ctx *ctx, const hd_graph *g, const int *nodes, size_t n, void **data,
                        hd_arena *arena) {
    int *order = hd_new_array(arena, int, g->n_nodes + 1);
    bool *wanted = hd_new_array(arena, bool, g->n_nodes + 1);
    for (size_t i = 0; i < n; i++) wanted[nodes[i]] = true;
    size_t n_order = hd_graph_order(g, order);
    for (size_t i = 0; i < n_order; i++)
        if (n == 0 || wanted[order[i]]) TRY(run_node(ctx, g, order[i], data, arena));
    return HD_OK;
}
