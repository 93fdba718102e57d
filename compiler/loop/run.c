/* The interpreter of the loop IR. It runs what the loops say, and nothing is assumed of schedules:
 * every access and store is checked, and loops whose iterations are independent run backwards. */
#include "compiler/expr/expr_int.h"
#include "compiler/loop/loop_int.h"

struct run {
    const struct hd_nest *n;
    struct hd_eval e;
    void **data; /* of each tensor */
    int64_t *loop;
};

static void update_best(struct run *r, const struct hd_loop_stmt *s, int64_t at) {
    int type = r->n->f->node[s->value].type;
    int64_t *position = (int64_t *)r->data[s->tensor] + at;
    int64_t here = hd_eval_node(&r->e, s->position).i;
    union hd_scalar v = hd_eval_node(&r->e, s->value);
    if (*position >= 0) {
        union hd_scalar best = hd_scalar_load(r->data[s->best], type, at);
        bool better = hd_scalar_better(s->reduce, type, v, best);
        bool worse = hd_scalar_better(s->reduce, type, best, v);
        if (worse || (!better && here > *position)) return;
    }
    hd_scalar_store(r->data[s->best], type, at, v);
    *position = here;
}

static void store(struct run *r, const struct hd_loop_stmt *s) {
    int type = r->n->f->tensor[s->tensor].type;
    int64_t at = hd_eval_position(&r->e, s->tensor, s->n_index, s->index, true);
    if (at < 0) return;
    if (s->kind == HD_LOOP_UPDATE && s->reduce >= HD_REDUCE_ARGMAX) {
        update_best(r, s, at);
        return;
    }
    union hd_scalar v = hd_eval_node(&r->e, s->value);
    if (s->kind == HD_LOOP_UPDATE)
        v = hd_scalar_reduce(s->reduce, type, hd_scalar_load(r->data[s->tensor], type, at), v);
    hd_scalar_store(r->data[s->tensor], type, at, v);
}

static void run_list(struct run *r, const struct hd_loop_stmt *s) {
    for (; s && !r->e.bad; s = s->next) {
        if (s->kind == HD_LOOP_BARRIER) continue;
        if (s->kind == HD_LOOP_IF) {
            if (hd_eval_node(&r->e, s->value).i) run_list(r, s->body);
            continue;
        }
        if (s->kind != HD_LOOP_FOR) {
            store(r, s);
            continue;
        }
        const struct hd_loop *l = &r->n->loop[s->loop];
        bool backwards = l->mark >= HD_LOOP_VECTOR;
        for (int64_t i = 0; i < l->extent; i++) {
            r->loop[s->loop] = backwards ? l->extent - 1 - i : i;
            run_list(r, s->body);
        }
    }
}

hd_status hd_loop_run(hd_ctx *ctx, const struct hd_nest *n, const void *const *in, void *const *out,
                      hd_arena *a) {
    const struct hd_expr *f = n->f;
    struct run r = {.n = n,
                    .data = hd_new_array(a, void *, f->n_tensors),
                    .loop = hd_new_array(a, int64_t, HD_LOOP_MAX)};
    for (size_t i = 0; i < f->n_tensors; i++) {
        const struct hd_expr_tensor *t = &f->tensor[i];
        r.data[i] = i < (size_t)f->n_params ? (void *)(uintptr_t)in[i] : NULL;
        for (size_t k = 0; k < f->n_results; k++)
            if (f->result[k] == (int)i) r.data[i] = out[k];
        if (!r.data[i])
            r.data[i] =
                hd_alloc(a, (size_t)hd_expr_elems(t) * hd_dtype_bytes((hd_dtype)t->type) + 1);
    }
    r.e = (struct hd_eval){
        .f = f, .data = (const void **)(void *)r.data, .var = r.loop, .strict = true};
    run_list(&r, n->body);
    if (!r.e.bad) return HD_OK;
    return hd_fail(ctx, HD_INVALID, "loops: index %lld of '%s', allowed 0 to %lld",
                   (long long)r.e.bad_index, r.e.bad, (long long)r.e.bad_size - 1);
}
