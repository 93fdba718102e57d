/* Shapes that depend on values: what is imported so far is run on golden with the values that are
 * given, as far as the shape in question needs it. */
#include "compiler/import/onnx/resolve.h"

#include <string.h>

#include "cpu_ref/golden.h"

struct hd_run {
    hd_arena *arena;
    struct hd_tensor *t; /* per tensor of the graph; data = computed or given */
    size_t n, cap;
};

struct hd_run *hd_run_create(hd_arena *a) {
    struct hd_run *r = hd_new(a, struct hd_run);
    r->arena = a;
    return r;
}

/* The graph has grown, and shapes have been inferred, since the last run. */
static void refresh(struct hd_run *r, const hd_graph *g) {
    while (r->n < g->n_tensors) hd_push(r->arena, r->t, r->n, r->cap);
    for (size_t i = 0; i < g->n_tensors; i++)
        if (!r->t[i].data) r->t[i] = g->tensors[i];
}

void hd_run_give(struct hd_importer *m, int tensor, const void *data) {
    refresh(m->run, m->g);
    m->run->t[tensor].data = data;
}

/* Nodes that `id` needs and that have not been run, and it, in `list`. */
static size_t needed(const struct hd_importer *m, int id, int *list, bool *seen) {
    const hd_graph *g = m->g;
    size_t n = 0;
    list[n++] = id;
    seen[id] = true;
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *nd = &g->nodes[list[i]];
        for (int k = 0; k < nd->n_in; k++) {
            int p =
                nd->in[k] < 0 || m->run->t[nd->in[k]].data ? -1 : g->tensors[nd->in[k]].producer;
            if (p < 0 || seen[p]) continue;
            seen[p] = true;
            list[n++] = p;
        }
    }
    return n;
}

hd_status hd_onnx_resolve(struct hd_importer *m, int id) {
    hd_graph *g = m->g;
    const struct hd_node *nd = &g->nodes[id];
    refresh(m->run, g);
    hd_arena *a = hd_arena_create();
    int *list = hd_new_array(a, int, g->n_nodes + 1);
    bool *seen = hd_new_array(a, bool, g->n_nodes + 1);
    size_t n = needed(m, id, list, seen);
    hd_status s = hd_golden_eval(m->ctx, g, list, n, m->run->t, m->run->arena);
    hd_arena_destroy(a);
    if (s != HD_OK)
        return hd_note(m->ctx, s, "while looking for the shape of node '%s' (%s)", nd->name,
                       hd_ir_ops[nd->op].name);
    for (int i = 0; i < nd->n_out; i++) {
        if (nd->out[i] < 0) continue;
        struct hd_tensor *y = &g->tensors[nd->out[i]];
        const struct hd_tensor *t = &m->run->t[nd->out[i]];
        y->dtype = t->dtype;
        y->rank = t->rank;
        memcpy(y->dim, t->dim, sizeof y->dim);
        y->known = true;
    }
    g->specialised = true;
    return HD_OK;
}

hd_status hd_onnx_value(struct hd_importer *m, int tensor, const void **out) {
    *out = m->g->tensors[tensor].data;
    if (*out || !m->run) return HD_OK;
    refresh(m->run, m->g);
    int producer = m->g->tensors[tensor].producer;
    if (!m->run->t[tensor].data && producer >= 0) TRY(hd_onnx_resolve(m, producer));
    *out = m->run->t[tensor].data;
    if (*out) m->g->specialised = true;
    return HD_OK;
}
