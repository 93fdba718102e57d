/* heddle run --steps: runs of which each goes on from the states that the last one left. */
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"
#include "compiler/report/report.h"
#include "compiler/session/session.h"
#include "runtime/base/io.h"
#include "runtime/device/states.h"

/* Inputs of step k. States come from the session, but those that the files have for the first. */
static hd_status step_inputs(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                             const struct hd_file_tensor *t, int n, int k, bool given,
                             const void ***out) {
    const struct hd_file_tensor *now = hd_step_tensors(a, t, n, k, c->opt.run.steps);
    TRY(given ? hd_match_inputs(c->ctx, a, m, now, n, out)
              : hd_random_inputs(c->ctx, a, m, c->opt.seed + (uint64_t)k, out));
    for (int i = m->n_inputs - m->n_states; i < m->n_inputs && (k || c->opt.run.load_state); i++)
        (*out)[i] = NULL;
    return HD_OK;
}

hd_status cli_load_state(struct hd_cmd *c, hd_session *s) {
    void *data;
    size_t bytes;
    if (!c->opt.run.load_state) return HD_OK;
    TRY(hd_file_read(c->ctx, c->opt.run.load_state, &data, &bytes));
    hd_status ok = hd_session_state_load(c->ctx, s, data, bytes);
    free(data);
    return hd_note(c->ctx, ok, "in %s", c->opt.run.load_state);
}

hd_status cli_save_state(struct hd_cmd *c, hd_arena *a, hd_session *s) {
    if (!c->opt.run.save_state) return HD_OK;
    size_t bytes = hd_session_state_bytes(s);
    void *data = hd_alloc(a, bytes);
    TRY(hd_session_state_save(c->ctx, s, data));
    return hd_file_write(c->ctx, c->opt.run.save_state, data, bytes);
}

/* Room for an output of every step, one after another. */
static hd_status stack_of(struct hd_cmd *c, hd_arena *a, const struct hd_value_info *v,
                          struct hd_file_tensor *out) {
    size_t bytes = hd_value_dense_bytes(v);
    if (v->rank == HD_VALUE_RANK)
        return hd_fail(c->ctx, HD_UNSUPPORTED,
                       "output %s: has %d dimensions, --outputs of several steps allows %d",
                       v->name, v->rank, HD_VALUE_RANK - 1);
    *out = (struct hd_file_tensor){v->name, v->dtype, v->rank + 1, {c->opt.run.steps}, NULL, 0};
    memcpy(out->dim + 1, v->dim, (size_t)v->rank * sizeof *v->dim);
    out->bytes = bytes * (size_t)c->opt.run.steps;
    out->data = hd_alloc(a, out->bytes + 1);
    return HD_OK;
}

hd_status cli_run_steps(struct hd_cmd *c, hd_arena *a, hd_session *s, struct hd_run_facts *r,
                        void *const *out) {
    const hd_model *m = r->model;
    struct hd_file_tensor *t = NULL,
                          *all = hd_new_array(a, struct hd_file_tensor, (size_t)m->n_outputs + 1);
    int n = 0;
    TRY(hd_cmd_load_inputs(c, a, r->path, &t, &n, &r->inputs));
    bool given = r->inputs != NULL;
    if (!given)
        r->inputs = hd_sprintf(a, "random, seeds from %llu", (unsigned long long)c->opt.seed);
    for (int i = 0; i < m->n_outputs; i++) TRY(stack_of(c, a, &m->values[m->outputs[i]], &all[i]));
    hd_arena *step = hd_arena_create();
    hd_status ok = HD_OK;
    double start = hd_seconds();
    for (int k = 0; k < c->opt.run.steps && ok == HD_OK; k++) {
        const void **in = NULL;
        hd_cmd_progress(c, "step %d of %d", k + 1, c->opt.run.steps);
        hd_arena_reset(step);
        ok = step_inputs(c, step, m, t, n, k, given, &in);
        if (ok == HD_OK) ok = hd_session_run(c->ctx, s, in, out);
        ok = hd_note(c->ctx, ok, "in step %d", k);
        r->all_cycles += hd_session_cycles(s);
        for (int i = 0; i < m->n_outputs && ok == HD_OK; i++) {
            size_t bytes = hd_value_dense_bytes(&m->values[m->outputs[i]]);
            memcpy((char *)(uintptr_t)all[i].data + (size_t)k * bytes, out[i], bytes);
        }
    }
    hd_cmd_progress_end(c);
    hd_arena_destroy(step);
    TRY(ok);
    r->runs = c->opt.run.steps;
    r->wall_seconds = (hd_seconds() - start) / r->runs;
    r->n_steps = hd_session_steps(s, &r->steps);
    TRY(hd_session_counters(c->ctx, s, &r->counters));
    return c->opt.outputs ? hd_save_npz(c->ctx, c->opt.outputs, all, m->n_outputs) : HD_OK;
}
