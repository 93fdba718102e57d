/* GraphProto -> nodes of a graph, one by one, each behind those that it reads (order.c); what an op
 * becomes is in onnx_*_ops.c. */
#include "compiler/import/onnx/onnx_graph.h"

#include <string.h>

#include "compiler/import/onnx/bind.h"
#include "compiler/import/onnx/resolve.h"
#include "runtime/base/element.h"

static hd_status add_initializer(struct hd_importer *m, struct hd_slice message) {
    struct hd_tensor_pb t;
    TRY(hd_note(
        m->ctx,
        hd_tensor_pb_parse(m->ctx, NULL, message.data, message.bytes, m->borrow, m->g->arena, &t),
        "while reading the initializers"));
    if (!t.name[0] || hd_scope_has(m->scope, t.name))
        return hd_fail(m->ctx, HD_INVALID, "initializer '%s': the name is empty or appears twice",
                       t.name);
    if (t.location) TRY(hd_onnx_external(m, t.name, &t));
    int id = hd_graph_tensor(m->g, t.name, t.dtype, t.rank, t.dim);
    m->g->tensors[id].data = t.data;
    hd_scope_bind(m, t.name, id);
    return HD_OK;
}

/* Names are taken before anything is generated, so that the file's stand in the graph unchanged. */
static hd_status declare_outputs(struct hd_importer *m, const struct hd_onnx_node *n) {
    for (size_t i = 0; i < n->n_out; i++) {
        if (!n->out[i][0]) continue;
        if (hd_scope_has(m->scope, n->out[i]))
            return hd_fail(m->ctx, HD_INVALID,
                           "node '%s' (%s): output '%s' is already an input, a constant or another "
                           "node's output",
                           n->name, n->op, n->out[i]);
        const char *name = n->out[i];
        if (m->prefix[0]) name = hd_sprintf(m->arena, "%s%s", m->prefix, name);
        hd_scope_bind(m, n->out[i], hd_graph_tensor(m->g, name, HD_F32, 0, NULL));
    }
    return HD_OK;
}

/* A constant, an input, or computed by a node that has been imported. */
static bool has_source(const hd_graph *g, int tensor) {
    const struct hd_tensor *t = &g->tensors[tensor];
    return t->data || t->producer >= 0 || hd_graph_is_input(g, tensor);
}

static hd_status check_inputs(struct hd_importer *m, const struct hd_onnx_node *n) {
    for (size_t i = 0; i < n->n_in; i++) {
        int t = n->in[i][0] ? hd_scope_find(m, n->in[i]) : -1;
        if (n->in[i][0] && t < 0)
            return hd_fail(m->ctx, HD_INVALID,
                           "node '%s' (%s): input %zu ('%s') is no graph input, no initializer and "
                           "no node's output",
                           n->name, n->op, i, n->in[i]);
        if (t >= 0 && hd_scope_sequence(m, n->in[i])) {
            if (hd_onnx_takes_sequences(n)) continue;
            return hd_fail(m->ctx, HD_UNSUPPORTED,
                           "node '%s' (%s): input %zu ('%s') is a sequence, not a tensor", n->name,
                           n->op, i, n->in[i]);
        }
        if (t >= 0 && !has_source(m->g, t))
            return hd_fail(
                m->ctx, HD_INVALID,
                "node '%s' (%s): input %zu ('%s') is not computed before: the nodes form a "
                "cycle, or it is an optional output that is not supported",
                n->name, n->op, i, n->in[i]);
    }
    return HD_OK;
}

hd_status hd_onnx_import_body(struct hd_importer *m, const struct hd_onnx_graph *graph,
                              int **outputs) {
    size_t base = m->g->n_tensors;
    for (size_t i = 0; i < graph->n_nodes; i++) TRY(declare_outputs(m, &graph->nodes[i]));
    const size_t *order = hd_onnx_order(m, graph, base);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        struct hd_onnx_node n = graph->nodes[order[i]];
        if (m->prefix[0]) n.name = hd_sprintf(m->arena, "%s%s", m->prefix, n.name);
        TRY(check_inputs(m, &n));
        TRY(hd_onnx_import_node(m, &n));
    }
    *outputs = hd_new_array(m->arena, int, graph->n_outputs + 1);
    for (size_t i = 0; i < graph->n_outputs; i++) {
        int t = hd_scope_find(m, graph->outputs[i].name);
        if (t >= 0 && hd_scope_sequence(m, graph->outputs[i].name))
            return hd_fail(m->ctx, HD_UNSUPPORTED,
                           "graph output '%s' is a sequence; only tensors leave a network",
                           graph->outputs[i].name);
        if (t < 0 || !has_source(m->g, t))
            return hd_fail(m->ctx, HD_INVALID, "graph output '%s' is produced by nothing",
                           graph->outputs[i].name);
        (*outputs)[i] = t;
    }
    return HD_OK;
}

hd_status hd_onnx_add_initializers(struct hd_importer *m, const struct hd_onnx_graph *graph) {
    for (size_t i = 0; i < graph->n_initializers; i++)
        TRY(add_initializer(m, graph->initializers[i]));
    return HD_OK;
}

/* ---- graphs of attributes ---- */

static hd_status add_sub_input(struct hd_importer *m, const struct hd_onnx_value *v,
                               const struct hd_tensor *t) {
    static const int64_t none[1];
    if (hd_scope_has(m->scope, v->name))
        return hd_fail(m->ctx, HD_INVALID, "graph input '%s' appears twice", v->name);
    int id = hd_graph_tensor(m->g, v->name, t->dtype, t->rank,
                             t->known ? t->rank ? t->dim : none : NULL);
    hd_graph_input(m->g, id);
    hd_scope_bind(m, v->name, id);
    return HD_OK;
}

static hd_status fill_subgraph(struct hd_importer *sub, const struct hd_onnx_graph *graph,
                               const struct hd_tensor *inputs, size_t n_inputs) {
    int *outputs;
    if (graph->n_inputs != n_inputs)
        return hd_fail(sub->ctx, HD_INVALID, "graph '%s' has %zu inputs, want %zu", graph->name,
                       graph->n_inputs, n_inputs);
    sub->g->name = hd_strdup(sub->g->arena, graph->name);
    for (size_t i = 0; i < n_inputs; i++) TRY(add_sub_input(sub, &graph->inputs[i], &inputs[i]));
    TRY(hd_onnx_add_initializers(sub, graph));
    TRY(hd_onnx_import_body(sub, graph, &outputs));
    for (size_t i = 0; i < graph->n_outputs; i++) hd_graph_output(sub->g, outputs[i]);
    return HD_OK;
}

hd_status hd_onnx_import_subgraph(struct hd_importer *m, const struct hd_onnx_graph *graph,
                                  const struct hd_tensor *inputs, size_t n_inputs,
                                  struct hd_importer *sub) {
    *sub = *m;
    sub->outer = m;
    sub->run = NULL;
    sub->prefix = "";
    sub->depth = m->depth + 1;
    sub->captures = hd_new(m->arena, struct hd_captures);
    if (sub->depth >= HD_MAX_NESTING)
        return hd_fail(m->ctx, HD_UNSUPPORTED, "graph '%s': nested deeper than %d", graph->name,
                       HD_MAX_NESTING);
    sub->g = hd_graph_create();
    sub->scope = hd_scope_create(m->arena, NULL);
    hd_status s = fill_subgraph(sub, graph, inputs, n_inputs);
    if (s != HD_OK) hd_graph_destroy(sub->g);
    return hd_note(m->ctx, s, "in graph '%s'", graph->name);
}

/* ---- the network ---- */

static hd_status add_input(struct hd_importer *m, const struct hd_onnx_value *v,
                           const struct hd_tensor *value) {
    int t = hd_dtype_from_onnx(v->elem_type);
    if (t < 0)
        return hd_fail(m->ctx, HD_UNSUPPORTED,
                       "graph input '%s': ONNX data type %d, allowed 1..7, 9..13 and 16..26",
                       v->name, v->elem_type);
    TRY(hd_shape_check(m->ctx, v->name, (hd_dtype)t, v->rank, v->dim));
    if (hd_scope_has(m->scope, v->name))
        return hd_fail(m->ctx, HD_INVALID, "graph input '%s' appears twice", v->name);
    int id = hd_graph_tensor(m->g, v->name, (hd_dtype)t, v->rank, v->dim);
    hd_graph_input(m->g, id);
    hd_scope_bind(m, v->name, id);
    const struct hd_tensor *y = &m->g->tensors[id];
    if (m->run && value && value->data && value->dtype == y->dtype &&
        hd_tensor_elems(value) == hd_tensor_elems(y))
        hd_run_give(m, id, value->data);
    return HD_OK;
}

/* All elements of a constant are v; false where its type is an integer that is not v. */
static bool fill(void *data, int64_t n, hd_dtype t, double v) {
    for (int64_t i = 0; i < n; i++) hd_k_put_f64(data, t, i, v);
    return n == 0 || hd_k_is_float(t) || hd_k_f64(data, t, 0) == v;
}

/* Input x as the constant that --value makes it. */
static hd_status add_value(struct hd_importer *m, const struct hd_onnx_value *x, double v) {
    int t = hd_dtype_from_onnx(x->elem_type);
    if (t >= 0) TRY(hd_shape_check(m->ctx, x->name, (hd_dtype)t, x->rank, x->dim));
    struct hd_tensor y = {.dtype = (hd_dtype)t, .rank = x->rank, .known = true};
    memcpy(y.dim, x->dim, sizeof y.dim);
    void *data = t < 0 ? NULL : (void *)hd_new_array(m->g->arena, char, hd_tensor_bytes(&y) + 1);
    if (!data || !fill(data, hd_tensor_elems(&y), y.dtype, v))
        return hd_fail(m->ctx, HD_INVALID, "--value %s: its type does not hold %g", x->name, v);
    hd_scope_bind(m, x->name, hd_graph_const(m->g, x->name, y.dtype, y.rank, y.dim, data));
    return HD_OK;
}

static const struct hd_value_bind *value_of(const struct hd_bind *b, const char *name) {
    for (size_t i = 0; b && i < b->n_values; i++)
        if (!strcmp(b->values[i].name, name)) return &b->values[i];
    return NULL;
}

static hd_status add_inputs(struct hd_importer *m, const struct hd_onnx_graph *graph,
                            const struct hd_bind *bind) {
    struct hd_onnx_value *v = hd_new_array(m->arena, struct hd_onnx_value, graph->n_inputs + 1);
    size_t n = 0;
    for (size_t i = 0; i < graph->n_inputs; i++) /* an initializer is a default that is taken */
        if (!hd_scope_has(m->scope, graph->inputs[i].name)) v[n++] = graph->inputs[i];
    TRY(hd_bind_inputs(m, bind, v, n));
    for (size_t i = 0; i < n; i++) {
        const struct hd_value_bind *value = value_of(bind, v[i].name);
        TRY(value ? add_value(m, &v[i], value->v)
                  : add_input(m, &v[i], hd_bind_given(bind, v[i].name, i)));
    }
    return HD_OK;
}

hd_status hd_onnx_import_network(struct hd_importer *m, const struct hd_onnx_graph *graph,
                                 const struct hd_bind *bind) {
    int *outputs;
    bool values = false;
    if (!graph->n_outputs) return hd_fail(m->ctx, HD_INVALID, "the graph has no outputs");
    for (size_t i = 0; bind && i < bind->n_inputs; i++) values = values || bind->inputs[i].data;
    if (values) m->run = hd_run_create(m->arena);
    m->g->name = hd_strdup(m->g->arena, graph->name);
    TRY(hd_onnx_add_initializers(m, graph));
    TRY(add_inputs(m, graph, bind));
    TRY(hd_onnx_import_body(m, graph, &outputs));
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct hd_onnx_value *v = &graph->outputs[i];
        const struct hd_tensor *t = &m->g->tensors[outputs[i]];
        if (v->elem_type && t->known && hd_dtype_from_onnx(v->elem_type) != (int)t->dtype)
            return hd_fail(m->ctx, HD_INVALID,
                           "graph output '%s': declared as ONNX data type %d, but it is %s",
                           v->name, v->elem_type, hd_dtype_name(t->dtype));
        hd_graph_output(m->g, outputs[i]);
    }
    return HD_OK;
}
