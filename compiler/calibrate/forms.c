/* heddle quantize: the network for the shapes of each data set.
 *
 * A network with open dimensions is imported again for sets of other shapes. The same passes make
 * the same nodes of it; what they make of shapes may differ, weights may not.
 */
#include <string.h>

#include "compiler/calibrate/job.h"
#include "compiler/import/network.h"
#include "compiler/session/session.h"

static hd_status import(struct job *j, const struct hd_bind *bind, hd_graph **out) {
    hd_ctx *ctx = j->c->ctx;
    hd_graph *g = NULL;
    TRY(hd_import(ctx, j->path, bind, &g));
    if (g->closed && !j->closed) {
        j->closed = hd_strdup(j->a, g->closed);
        j->open = hd_dup(j->a, g->open, (size_t)g->n_open * sizeof *g->open);
        j->n_open = g->n_open;
    }
    hd_status s = hd_note(ctx, hd_quant_prepare(ctx, g), "in %s", j->path);
    if (s == HD_OK) s = hd_graph_copy(ctx, g, out); /* ids of clones agree */
    hd_graph_destroy(g);
    return s;
}

hd_status prepared(struct job *j, int i, hd_graph **out) {
    struct hd_bind bind = {0};
    const struct hd_data_set *set = hd_calibration_set(&j->data, i);
    hd_arena *a = hd_arena_create();
    hd_status s = hd_cmd_bind(j->c, a, set ? set->t : NULL, set ? set->n : 0, &bind);
    if (s == HD_OK) s = import(j, &bind, out);
    hd_arena_destroy(a);
    return s;
}

static bool same_node(const struct hd_node *x, const struct hd_node *y) {
    return x->op == y->op && x->dead == y->dead && x->n_in == y->n_in && x->n_out == y->n_out &&
           !strcmp(x->name, y->name) && !memcmp(x->in, y->in, (size_t)x->n_in * sizeof *x->in) &&
           !memcmp(x->out, y->out, (size_t)x->n_out * sizeof *x->out);
}

/* The first node in which two graphs differ; -1 = in none. */
static int differs(const hd_graph *x, const hd_graph *y) {
    for (size_t i = 0; i < x->n_nodes && i < y->n_nodes; i++)
        if (!same_node(&x->nodes[i], &y->nodes[i])) return (int)i;
    return x->n_nodes == y->n_nodes && x->n_tensors == y->n_tensors ? -1 : 0;
}

/* Constants of the same shape are those of ref, whose weights may have been evened out since. */
static void share_constants(const hd_graph *ref, hd_graph *g) {
    for (size_t i = 0; i < g->n_tensors; i++) {
        const struct hd_tensor *r = &ref->tensors[i];
        struct hd_tensor *t = &g->tensors[i];
        if (r->data && t->data && r->dtype == t->dtype && r->dtype == HD_F32 &&
            r->rank == t->rank && !memcmp(r->dim, t->dim, (size_t)r->rank * sizeof *r->dim))
            t->data = r->data;
    }
}

hd_status prepared_like_ref(struct job *j, int i, hd_graph **out) {
    TRY(prepared(j, i, out));
    int at = differs(j->ref, *out);
    if (at < 0) {
        share_constants(j->ref, *out);
        return HD_OK;
    }
    hd_status s = hd_fail(j->c->ctx, HD_UNSUPPORTED,
                          "%s: node '%s' is another one for the shapes of data set %d of %s; "
                          "calibrate with sets of one shape",
                          j->path, j->ref->nodes[at].name, i, j->data.what);
    hd_graph_destroy(*out);
    return s;
}

hd_graph *prepared_wider(struct job *j) {
    hd_graph *g = NULL;
    if (!j->n_open) return NULL;
    hd_arena *a = hd_arena_create();
    struct hd_shape_bind *shapes = hd_new_array(a, struct hd_shape_bind, j->ref->n_inputs + 1);
    for (size_t i = 0; i < j->ref->n_inputs; i++) {
        const struct hd_tensor *t = &j->ref->tensors[j->ref->inputs[i]];
        shapes[i] = (struct hd_shape_bind){.name = t->name, .rank = t->rank};
        memcpy(shapes[i].dim, t->dim, sizeof shapes[i].dim);
    }
    for (int k = 0; k < j->n_open; k++)
        shapes[j->open[k] / HD_MAX_RANK].dim[j->open[k] % HD_MAX_RANK] *= 2;
    struct hd_bind bind = {.shapes = shapes, .n_shapes = j->ref->n_inputs};
    if (import(j, &bind, &g) != HD_OK) hd_clear(j->c->ctx);
    if (g && differs(j->ref, g) >= 0) {
        hd_graph_destroy(g);
        g = NULL;
    }
    if (g) share_constants(j->ref, g);
    hd_arena_destroy(a);
    return g;
}
