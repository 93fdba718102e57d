/* Sessions whose only device runs graphs: see session.h. Inputs and outputs are copied into and out
 * of buffers of the device; in place, the arrays of the run are these buffers. Other values stay
 * with the device until they are asked for. */
#include <stdlib.h>

#include "runtime/session.h"

const char hd_on_device[1];

static hd_status no_memory(hd_ctx *ctx, const hd_model *m) {
    return hd_fail(ctx, HD_NOMEM, "%s: no memory for a list of its values; use a smaller model",
                   m->name);
}

static bool in_list(const int *list, int n, int v) {
    for (int i = 0; i < n; i++)
        if (list[i] == v) return true;
    return false;
}

/* Of graph_values, the first that has a buffer of its own. */
static int first_kept(const hd_session *s) {
    return s->in_place ? s->model->n_inputs + s->model->n_outputs : 0;
}

hd_status hd_whole_open(hd_ctx *ctx, hd_session *s) {
    const hd_model *m = s->model;
    size_t most = (size_t)m->n_inputs + (size_t)m->n_outputs + (size_t)m->n_values + 1;
    s->graph_values = calloc(most, sizeof *s->graph_values);
    if (!s->graph_values) return no_memory(ctx, m);
    int n = 0;
    for (int i = 0; i < m->n_inputs; i++) s->graph_values[n++] = m->inputs[i];
    for (int i = 0; i < m->n_outputs; i++) s->graph_values[n++] = m->outputs[i];
    for (int i = 0; i < m->n_values; i++)
        if (!in_list(m->inputs, m->n_inputs, i) && !in_list(m->outputs, m->n_outputs, i))
            s->graph_values[n++] = i;
    s->n_graph_io = n;
    return s->runner[0].ops->load(ctx, s->runner[0].dev, m, -1, &s->graph);
}

hd_status hd_whole_buffers(hd_ctx *ctx, const hd_session *s, struct hd_slot *t) {
    const struct hd_runner *r = &s->runner[0];
    t->graph_io = calloc((size_t)s->n_graph_io + 1, sizeof *t->graph_io);
    if (!t->graph_io) return no_memory(ctx, s->model);
    for (int i = first_kept(s); i < s->n_graph_io; i++)
        TRY(r->ops->alloc(ctx, r->dev, hd_value_dense_bytes(&s->model->values[s->graph_values[i]]),
                          &t->graph_io[i]));
    return HD_OK;
}

/* The arrays of a run as buffers, in place of those of the run before. */
static hd_status lend_arrays(hd_ctx *ctx, const hd_session *s, struct hd_slot *t,
                             const void *const *inputs, void *const *outputs) {
    const hd_model *m = s->model;
    const struct hd_runner *r = &s->runner[0];
    for (int i = 0; i < m->n_inputs + m->n_outputs; i++) {
        void *data = i < m->n_inputs ? (void *)(uintptr_t)inputs[i] : outputs[i - m->n_inputs];
        const struct hd_value_info *v = &m->values[s->graph_values[i]];
        size_t bytes = hd_value_dense_bytes(v);
        if (!data && bytes)
            return hd_fail(ctx, HD_INVALID, "%s: %s is NULL, and the session keeps no states",
                           m->name, v->name);
        if (t->graph_io[i].id) r->ops->free(r->dev, t->graph_io[i]);
        TRY(r->ops->lend(ctx, r->dev, bytes ? data : t, bytes, &t->graph_io[i]));
    }
    return HD_OK;
}

hd_status hd_whole_run(hd_ctx *ctx, hd_session *s, struct hd_slot *t, const void *const *inputs,
                       void *const *outputs) {
    const hd_model *m = s->model;
    const struct hd_runner *r = &s->runner[0];
    hd_fence fence;
    if (s->in_place) TRY(lend_arrays(ctx, s, t, inputs, outputs));
    for (int i = 0; i < m->n_inputs && !s->in_place; i++)
        if (inputs[i] && inputs[i] != HD_ON_DEVICE)
            TRY(r->ops->write(ctx, r->dev, t->graph_io[i], 0, inputs[i],
                              hd_value_dense_bytes(&m->values[m->inputs[i]])));
    TRY(r->ops->submit(ctx, r->dev, s->graph, t->graph_io, &fence));
    TRY(r->ops->wait(ctx, r->dev, fence, UINT64_MAX));
    for (int i = 0; i < m->n_outputs && !s->in_place; i++)
        if (outputs[i] && outputs[i] != HD_ON_DEVICE)
            TRY(r->ops->read(ctx, r->dev, t->graph_io[m->n_inputs + i], 0, outputs[i],
                             hd_value_dense_bytes(&m->values[m->outputs[i]])));
    for (int i = first_kept(s); i < s->n_graph_io; i++) t->known[s->graph_values[i]] = true;
    return HD_OK;
}

hd_status hd_whole_value(hd_ctx *ctx, hd_session *s, int value, void *out) {
    const struct hd_runner *r = &s->runner[0];
    int i = 0;
    while (s->graph_values[i] != value) i++; /* it is one of them: known */
    return r->ops->read(ctx, r->dev, s->last->graph_io[i], 0, out,
                        hd_value_dense_bytes(&s->model->values[value]));
}
