/* Networks that run with the weights of a trainer: see eval.h. */
#include "runtime/train/eval.h"

#include <string.h>

#include "runtime/runtime.h"
#include "runtime/train/graph.h"

struct hd_eval {
    hd_arena *arena;
    const hd_trainer *t;
    hd_model *m;
    hd_session *s;
    const char **name; /* of weights, which are the last inputs */
    void **kept;       /* NULL: not kept yet */
    size_t *bytes;
    int n_in, n_out, n;
    bool keeps;
    const void **in;
};

/* Constants that the trainer has become inputs. */
static hd_status open_weights(hd_ctx *ctx, hd_eval *e, hd_graph *g) {
    size_t bytes = 0;
    e->n_in = (int)g->n_inputs, e->n_out = (int)g->n_outputs;
    e->name = hd_new_array(e->arena, const char *, g->n_tensors + 1);
    e->kept = hd_new_array(e->arena, void *, g->n_tensors + 1);
    e->bytes = hd_new_array(e->arena, size_t, g->n_tensors + 1);
    for (size_t i = 0; i < g->n_tensors; i++) {
        struct hd_tensor *t = &g->tensors[i];
        if (!t->data || !hd_trainer_weight(e->t, t->name, &bytes)) continue;
        if (bytes != hd_tensor_bytes(t))
            return hd_fail(ctx, HD_INVALID, "weights '%s': %zu bytes, the trainer has %zu", t->name,
                           hd_tensor_bytes(t), bytes);
        t->data = NULL;
        e->bytes[e->n] = bytes;
        e->name[e->n++] = hd_strdup(e->arena, t->name);
        hd_graph_input(g, (int)i);
    }
    e->in = hd_new_array(e->arena, const void *, g->n_inputs + 1);
    return e->n ? HD_OK : hd_fail(ctx, HD_INVALID, "%s: none of its constants is trained", g->name);
}

hd_status hd_eval_open(hd_ctx *ctx, const hd_graph *g, const struct hd_train_options *o,
                       const hd_trainer *t, hd_eval **out) {
    hd_arena *arena = hd_arena_create();
    hd_eval *e = hd_new(arena, hd_eval);
    hd_graph *own = NULL;
    e->arena = arena, e->t = t;
    hd_status s = hd_graph_copy(ctx, g, &own);
    if (s == HD_OK) s = open_weights(ctx, e, own);
    if (s == HD_OK) s = hd_train_compile(ctx, own, o, &e->m, &e->s);
    if (own) hd_graph_destroy(own);
    if (s == HD_OK)
        *out = e;
    else
        hd_eval_close(e);
    return s;
}

hd_status hd_eval_run(hd_ctx *ctx, hd_eval *e, const void *const *in, void *const *out) {
    size_t bytes = 0;
    for (int i = 0; i < e->n_in; i++) e->in[i] = in[i];
    for (int i = 0; i < e->n; i++)
        e->in[e->n_in + i] =
            e->keeps ? e->kept[i] : (const void *)hd_trainer_weight(e->t, e->name[i], &bytes);
    return hd_session_run(ctx, e->s, e->in, out);
}

void hd_eval_keep(hd_eval *e) {
    size_t bytes = 0;
    e->keeps = true;
    for (int i = 0; i < e->n; i++) {
        if (!e->kept[i]) e->kept[i] = hd_alloc(e->arena, e->bytes[i] + 1);
        memcpy(e->kept[i], hd_trainer_weight(e->t, e->name[i], &bytes), e->bytes[i]);
    }
}

void hd_eval_close(hd_eval *e) {
    if (!e) return;
    hd_session_close(e->s);
    hd_model_destroy(e->m);
    hd_arena_destroy(e->arena);
}
