/* Operations that a model defines itself (FunctionProto): the body takes the place of each call.
 * Names of the body get the name of the call in front. */
#include <string.h>

#include "compiler/import/onnx/onnx_ops.h"

enum { INLINED = 1 << 17 }; /* nodes: functions that call each other grow exponentially */

static const char *plain(const char *domain) {
    return !strcmp(domain, "ai.onnx") ? "" : domain;
}

const struct hd_onnx_function *hd_onnx_function(const struct hd_importer *m,
                                                const struct hd_onnx_node *n) {
    for (size_t i = 0; i < m->model->n_functions; i++) {
        const struct hd_onnx_function *f = &m->model->functions[i];
        if (!strcmp(f->name, n->op) && !strcmp(plain(f->domain), plain(n->domain)) &&
            !strcmp(f->overload, n->overload))
            return f;
    }
    return NULL;
}

static hd_status bind_inputs(struct hd_importer *inner, struct hd_importer *m,
                             const struct hd_onnx_node *n, const struct hd_onnx_function *f,
                             struct hd_onnx_graph *body) {
    if (n->n_in > f->n_in || n->n_out > f->n_out)
        return hd_onnx_bad(m, n, HD_INVALID,
                           "%zu inputs and %zu outputs, the function has %zu and %zu", n->n_in,
                           n->n_out, f->n_in, f->n_out);
    for (size_t i = 0; i < f->n_in; i++) {
        int t = hd_onnx_in(m, n, i);
        if (t >= 0) hd_scope_bind(inner, f->in[i], t);
        if (t >= 0) continue;
        for (size_t k = 0; k < body->n_nodes; k++) /* left out here, left out there */
            for (size_t q = 0; q < body->nodes[k].n_in; q++)
                if (!strcmp(body->nodes[k].in[q], f->in[i])) body->nodes[k].in[q] = "";
    }
    return HD_OK;
}

hd_status hd_onnx_call_function(struct hd_importer *m, const struct hd_onnx_node *n,
                                const struct hd_onnx_function *f) {
    struct hd_importer inner = *m;
    struct hd_onnx_call call = {f, n};
    struct hd_onnx_graph body;
    int *outputs;
    inner.call = &call;
    inner.outer = NULL;
    inner.depth++;
    inner.opset = f->opset ? f->opset : m->opset;
    inner.scope = hd_scope_create(m->arena, NULL);
    inner.prefix = hd_sprintf(m->arena, "%s/", n->name);
    if (inner.depth >= HD_MAX_NESTING)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "functions nested deeper than %d", HD_MAX_NESTING);
    TRY(hd_note(m->ctx, hd_onnx_parse_body(&inner, f, &body), "in function '%s'", f->name));
    if ((*m->model->inlined += body.n_nodes) > INLINED)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "bodies of functions add over %d nodes", INLINED);
    TRY(bind_inputs(&inner, m, n, f, &body));
    TRY(hd_note(m->ctx, hd_onnx_import_body(&inner, &body, &outputs),
                "in function '%s' of node '%s'", f->name, n->name));
    for (size_t i = 0; i < n->n_out; i++) {
        int to = hd_onnx_out(m, n, i);
        if (to < 0) continue;
        int id = hd_graph_node(m->g, HD_IR_identity, n->name, 1, &outputs[i], 1, &to);
        TRY(hd_onnx_done(m, id));
    }
    return HD_OK;
}
