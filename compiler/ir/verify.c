/* Is the graph well formed? Everything later stages take for granted is checked here. */
#include "compiler/ir/axes.h"

static hd_status check_tensors(hd_ctx *ctx, const hd_graph *g, const int *writers) {
    for (size_t i = 0; i < g->n_tensors; i++) {
        const struct hd_tensor *t = &g->tensors[i];
        if (writers[i] > 1)
            return hd_fail(ctx, HD_INVALID, "tensor '%s' is produced by %d nodes, want 1", t->name,
                           writers[i]);
        if (writers[i] && t->data)
            return hd_fail(ctx, HD_INVALID, "tensor '%s' is a constant and the output of a node",
                           t->name);
        if (t->initial && (writers[i] || t->data || !t->known))
            return hd_fail(
                ctx, HD_INVALID,
                "variable '%s' is also a constant or the output of a node, or has no shape",
                t->name);
        if (t->data && !t->known)
            return hd_fail(ctx, HD_INVALID, "constant '%s' has no shape", t->name);
        TRY(hd_axes_check(ctx, g, t));
        if (t->known) TRY(hd_shape_check(ctx, t->name, t->dtype, t->rank, t->dim));
    }
    return HD_OK;
}

static hd_status check_ids(hd_ctx *ctx, const hd_graph *g, const struct hd_node *n) {
    for (int k = 0; k < n->n_in + n->n_out; k++) {
        int t = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
        if (t < -1 || t >= (int)g->n_tensors)
            return hd_fail(ctx, HD_INVALID, "node '%s' (%s): tensor id %d, allowed below %zu",
                           n->name, hd_ir_ops[n->op].name, t, g->n_tensors);
    }
    for (int k = 0; k < n->n_after; k++)
        if (n->after[k] < 0 || n->after[k] >= (int)g->n_nodes)
            return hd_fail(ctx, HD_INVALID,
                           "node '%s' (%s): runs after node id %d, allowed below %zu", n->name,
                           hd_ir_ops[n->op].name, n->after[k], g->n_nodes);
    return HD_OK;
}

/* Every tensor that is read has a source: a node, data, or the graph's inputs. */
static hd_status check_sources(hd_ctx *ctx, const hd_graph *g, const bool *has_source) {
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        for (int k = 0; !n->dead && k < n->n_in; k++)
            if (n->in[k] >= 0 && !has_source[n->in[k]])
                return hd_fail(
                    ctx, HD_INVALID,
                    "node '%s' (%s): input %d ('%s') is no constant, no graph input and no node's "
                    "output",
                    n->name, hd_ir_ops[n->op].name, k, g->tensors[n->in[k]].name);
    }
    for (size_t i = 0; i < g->n_outputs; i++)
        if (!has_source[g->outputs[i]])
            return hd_fail(ctx, HD_INVALID, "graph output '%s' is produced by nothing",
                           g->tensors[g->outputs[i]].name);
    return HD_OK;
}

static hd_status check_shape(hd_ctx *ctx, const hd_graph *g, const struct hd_node *n,
                             const struct hd_tensor *got, const struct hd_tensor *want) {
    if (!want->known && (!got->known || g->specialised)) return HD_OK;
    bool same = got->known && want->known && got->dtype == want->dtype && got->rank == want->rank;
    for (int i = 0; same && i < want->rank; i++) same = got->dim[i] == want->dim[i];
    for (int i = 0; same && i < want->rank; i++)
        if (got->axis[i] && want->axis[i] && got->axis[i] != want->axis[i])
            return hd_fail(ctx, HD_INVALID,
                           "node '%s' (%s): dimension %d of output '%s' is axis %s; inferred %s",
                           n->name, hd_ir_ops[n->op].name, i, got->name,
                           g->axes[got->axis[i] - 1].name, g->axes[want->axis[i] - 1].name);
    if (same) return HD_OK;
    return hd_fail(ctx, HD_INVALID,
                   "node '%s' (%s): output '%s' is %s, rank %d; inferred %s, rank %d%s", n->name,
                   hd_ir_ops[n->op].name, got->name,
                   got->known ? hd_dtype_name(got->dtype) : "unknown", got->rank,
                   want->known ? hd_dtype_name(want->dtype) : "unknown", want->rank,
                   got->known && got->rank == want->rank ? ", other dimensions" : "");
}

static hd_status check_shapes(hd_ctx *ctx, const hd_graph *g, const struct hd_node *n,
                              struct hd_tensor *want) {
    TRY(hd_infer_outputs(ctx, g, g->tensors, n, want));
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] >= 0) TRY(check_shape(ctx, g, n, &g->tensors[n->out[i]], &want[i]));
    return HD_OK;
}

static hd_status verify(hd_ctx *ctx, const hd_graph *g, int depth);

static hd_status check_attrs(hd_ctx *ctx, const struct hd_node *n, int depth) {
    for (int i = 0; i < n->n_attrs; i++)
        if (n->attrs[i].kind == HD_ATTR_GRAPH)
            TRY(hd_note(ctx, verify(ctx, n->attrs[i].graph, depth + 1), "in %s of node '%s' (%s)",
                        n->attrs[i].name, n->name, hd_ir_ops[n->op].name));
    return HD_OK;
}

static hd_status check_writers(hd_ctx *ctx, const hd_graph *g, int node, int *writers) {
    const struct hd_node *n = &g->nodes[node];
    for (int k = 0; k < n->n_out; k++) {
        if (n->out[k] < 0) continue;
        writers[n->out[k]]++;
        if (g->tensors[n->out[k]].producer != node)
            return hd_fail(ctx, HD_INVALID, "tensor '%s' does not name node '%s' as its producer",
                           g->tensors[n->out[k]].name, n->name);
    }
    return HD_OK;
}

static hd_status check_all(hd_ctx *ctx, const hd_graph *g, hd_arena *a, int depth) {
    int *writers = hd_new_array(a, int, g->n_tensors + 1);
    bool *has_source = hd_new_array(a, bool, g->n_tensors + 1);
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    size_t live = 0;
    for (size_t i = 0; i < g->n_inputs + g->n_outputs; i++) {
        int t = i < g->n_inputs ? g->inputs[i] : g->outputs[i - g->n_inputs];
        if (t < 0 || t >= (int)g->n_tensors)
            return hd_fail(ctx, HD_INVALID, "graph input or output has tensor id %d", t);
    }
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (n->dead) continue;
        live++;
        if ((unsigned)n->op >= HD_IR_OPS)
            return hd_fail(ctx, HD_INVALID, "node '%s': unknown op", n->name);
        TRY(check_ids(ctx, g, n));
        if (n->n_out < 1 || n->n_out > HD_MAX_OPERANDS)
            return hd_fail(ctx, HD_INVALID, "node '%s' (%s): %d outputs, want 1..%d", n->name,
                           hd_ir_ops[n->op].name, n->n_out, hd_ir_ops[n->op].max_out);
        TRY(check_writers(ctx, g, (int)i, writers));
        TRY(check_attrs(ctx, n, depth));
    }
    TRY(check_tensors(ctx, g, writers));
    for (size_t i = 0; i < g->n_tensors; i++) has_source[i] = writers[i] || g->tensors[i].data;
    for (size_t i = 0; i < g->n_inputs; i++) {
        const struct hd_tensor *t = &g->tensors[g->inputs[i]];
        if (has_source[g->inputs[i]])
            return hd_fail(ctx, HD_INVALID, "graph input '%s' is also %s", t->name,
                           t->data ? "a constant" : "the output of a node, or listed twice");
        if (!t->known && depth == 0)
            return hd_fail(ctx, HD_INVALID, "graph input '%s' has no shape", t->name);
        has_source[g->inputs[i]] = true;
    }
    for (size_t i = 0; i < g->n_tensors; i++)
        has_source[i] = has_source[i] || g->tensors[i].initial;
    TRY(check_sources(ctx, g, has_source));
    if (hd_graph_order(g, order) != live)
        return hd_fail(ctx, HD_INVALID, "graph '%s' has a cycle", g->name);
    struct hd_tensor *want = hd_new_array(a, struct hd_tensor, HD_MAX_OPERANDS);
    for (size_t i = 0; i < live; i++) TRY(check_shapes(ctx, g, &g->nodes[order[i]], want));
    return HD_OK;
}

static hd_status verify(hd_ctx *ctx, const hd_graph *g, int depth) {
    if (depth > HD_MAX_NESTING)
        return hd_fail(ctx, HD_UNSUPPORTED, "graph '%s': nested deeper than %d", g->name,
                       HD_MAX_NESTING);
    hd_arena *a = hd_arena_create();
    hd_status s = check_all(ctx, g, a, depth);
    hd_arena_destroy(a);
    return s;
}

hd_status hd_graph_verify(hd_ctx *ctx, const hd_graph *g) {
    return verify(ctx, g, 0);
}
