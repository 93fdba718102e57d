/* State of a session: what a run leaves for the next one.
 *
 * On a device of graphs the buffers of a state's output and input change places before the next
 * run. A machine reads and writes states in the arena: where both have one place there, nothing
 * moves at all; where they have the same form, its bytes do. Only what a HOST step reads or makes
 * passes through dense memory of the host.
 */
#include <string.h>

#include "runtime/device/states.h"
#include "runtime/session.h"

static size_t bytes_of(const hd_model *m, int value) {
    return hd_value_dense_bytes(&m->values[value]);
}

hd_status hd_slot_fetch(hd_ctx *ctx, hd_session *s, struct hd_slot *t, int value) {
    const struct hd_value_info *v = &s->model->values[value];
    const struct hd_runner *r = hd_slot_runner(s, t, 0);
    TRY(r->ops->read(ctx, r->dev, t->arena, (size_t)v->arena_offset, t->packed,
                     hd_value_arena_bytes(v)));
    hd_value_unpack(v, t->packed, t->dense[value]);
    t->in_arena[value] = false;
    return HD_OK;
}

/* ---- the values that are the states now ----------------------------------------------------- */

static hd_buffer *graph_in(const hd_session *s, struct hd_slot *t, int i) {
    const hd_model *m = s->model;
    return &t->graph_io[m->n_inputs - m->n_states + i];
}

static hd_buffer *graph_out(const hd_session *s, struct hd_slot *t, int i) {
    const hd_model *m = s->model;
    return &t->graph_io[m->n_inputs + m->n_outputs - m->n_states + i];
}

/* from: the state's, dense. */
static hd_status write_one(hd_ctx *ctx, hd_session *s, struct hd_slot *t, int i, const void *from) {
    const struct hd_runner *r = &s->runner[0];
    int v = hd_state_in(s->model, i);
    if (s->whole_graph)
        return r->ops->write(ctx, r->dev, *graph_in(s, t, i), 0, from, bytes_of(s->model, v));
    memcpy(t->dense[v], from, bytes_of(s->model, v));
    t->in_arena[v] = false;
    return HD_OK;
}

static hd_status read_all(hd_ctx *ctx, hd_session *s, struct hd_slot *t, unsigned char *out) {
    const hd_model *m = s->model;
    const struct hd_runner *r = &s->runner[0];
    bool after = t->state == HD_STATE_OUT;
    for (int i = 0; i < m->n_states; i++) {
        int v = after ? hd_state_out(m, i) : hd_state_in(m, i);
        if (s->whole_graph) {
            TRY(r->ops->read(ctx, r->dev, after ? *graph_out(s, t, i) : *graph_in(s, t, i), 0, out,
                             bytes_of(m, v)));
        } else {
            if (t->in_arena[v]) TRY(hd_slot_fetch(ctx, s, t, v));
            memcpy(out, t->dense[v], bytes_of(m, v));
        }
        out += bytes_of(m, v);
    }
    return HD_OK;
}

/* ---- from run to run ------------------------------------------------------------------------ */

static bool on_list(const int *list, int n, int v) {
    for (int i = 0; i < n; i++)
        if (list[i] == v) return true;
    return false;
}

/* Somebody reads it in dense memory: a HOST step, or it is an output itself. */
static bool read_dense(const hd_model *m, int v) {
    for (int i = 0; i < m->n_steps; i++)
        if (m->steps[i].kind == HD_STEP_HOST &&
            on_list(m->steps[i].inputs, m->steps[i].n_inputs, v))
            return true;
    return false;
}

/* A program makes it, and what it is in the next run has its form: bytes of the arena. */
static bool same_form(const hd_model *m, int i) {
    const struct hd_value_info *in = &m->values[hd_state_in(m, i)],
                               *out = &m->values[hd_state_out(m, i)];
    bool made = false;
    for (int k = 0; k < m->n_steps && !made; k++)
        made = m->steps[k].kind == HD_STEP_PROG &&
               on_list(m->steps[k].outputs, m->steps[k].n_outputs, hd_state_out(m, i));
    return made && in->in_arena && out->in_arena && in->layout == out->layout &&
           in->c_pad == out->c_pad;
}

/* Whether state i may move as bytes of the arena: nobody wants its dense form, and its output is
 * nothing else. */
static bool stays(const hd_session *s, int i) {
    const hd_model *m = s->model;
    int in = hd_state_in(m, i), out = hd_state_out(m, i), uses = 0;
    for (int k = 0; k < m->n_outputs; k++) uses += m->outputs[k] == out;
    return same_form(m, i) && uses == 1 && !on_list(m->inputs, m->n_inputs, out) &&
           !on_list(m->outputs, m->n_outputs, in) && !read_dense(m, in) && !read_dense(m, out);
}

static hd_status move_in_arena(hd_ctx *ctx, hd_session *s, struct hd_slot *t, int i) {
    const hd_model *m = s->model;
    const struct hd_runner *r = hd_slot_runner(s, t, 0);
    const struct hd_value_info *in = &m->values[hd_state_in(m, i)],
                               *out = &m->values[hd_state_out(m, i)];
    t->in_arena[hd_state_in(m, i)] = true;
    if (hd_state_stays(m, i)) return HD_OK;
    TRY(r->ops->read(ctx, r->dev, t->arena, (size_t)out->arena_offset, t->packed,
                     hd_value_arena_bytes(out)));
    return r->ops->write(ctx, r->dev, t->arena, (size_t)in->arena_offset, t->packed,
                         hd_value_arena_bytes(in));
}

/* The outputs become the inputs, all at once: an output may be an input itself. */
static hd_status advance(hd_ctx *ctx, hd_session *s, struct hd_slot *t) {
    const hd_model *m = s->model;
    size_t at = 0;
    for (int i = 0; i < m->n_states && s->whole_graph; i++) {
        hd_buffer was = *graph_in(s, t, i);
        *graph_in(s, t, i) = *graph_out(s, t, i);
        *graph_out(s, t, i) = was;
    }
    if (s->whole_graph) return HD_OK;
    for (int i = 0; i < m->n_states; i++) {
        int out = hd_state_out(m, i);
        if (stays(s, i)) continue;
        if (t->in_arena[out]) TRY(hd_slot_fetch(ctx, s, t, out));
        memcpy(t->moved + at, t->dense[out], bytes_of(m, out));
        at += bytes_of(m, out);
    }
    at = 0;
    for (int i = 0; i < m->n_states; i++) {
        int in = hd_state_in(m, i);
        if (stays(s, i)) {
            TRY(move_in_arena(ctx, s, t, i));
            continue;
        }
        memcpy(t->dense[in], t->moved + at, bytes_of(m, in));
        t->in_arena[in] = false;
        at += bytes_of(m, in);
    }
    return HD_OK;
}

hd_status hd_state_begin(hd_ctx *ctx, hd_session *s, struct hd_slot *t) {
    t->state = HD_STATE_LOST;
    for (int i = 0; i < s->model->n_states; i++) TRY(write_one(ctx, s, t, i, s->model->initial[i]));
    t->state = HD_STATE_IN;
    return HD_OK;
}

static hd_status lost(hd_ctx *ctx, const hd_session *s) {
    return hd_fail(ctx, HD_INVALID,
                   "%s: the last run failed and left no state; reset the session, load a state, or "
                   "give the states to the run",
                   s->model->name);
}

hd_status hd_state_before_run(hd_ctx *ctx, hd_session *s, struct hd_slot *t,
                              const void *const *inputs, void *const *outputs) {
    const hd_model *m = s->model;
    bool all_given = true;
    for (int i = m->n_inputs - m->n_states; i < m->n_inputs; i++)
        all_given = all_given && inputs[i];
    if (!all_given && t->state == HD_STATE_LOST) return lost(ctx, s);
    if (!all_given && t->state == HD_STATE_OUT) TRY(advance(ctx, s, t));
    for (int i = 0; i < m->n_states; i++) {
        void *out = outputs[m->n_outputs - m->n_states + i];
        t->leave[hd_state_out(m, i)] = !s->whole_graph && !out && stays(s, i);
    }
    t->state = HD_STATE_LOST; /* until the run has ended well */
    return HD_OK;
}

void hd_state_after_run(hd_session *s, struct hd_slot *t) {
    for (int i = 0; i < s->model->n_states; i++) { /* its place has the next one by now */
        int in = hd_state_in(s->model, i);
        if (t->in_arena[in] && hd_state_stays(s->model, i)) t->known[in] = false;
    }
    t->state = HD_STATE_OUT;
}

/* ---- public --------------------------------------------------------------------------------- */

static hd_status check_kept(hd_ctx *ctx, const hd_session *s) {
    if (!s) return hd_fail(ctx, HD_INVALID, "no session: got NULL, want one of hd_session_open");
    if (!s->queue && !s->in_place) return HD_OK;
    return hd_fail(ctx, HD_INVALID, "%s: a %s keeps no state; give it to each request",
                   s->model->name, s->queue ? "queue" : "session whose runs work in place");
}

hd_status hd_session_reset(hd_ctx *ctx, hd_session *s) {
    TRY(check_kept(ctx, s));
    return hd_state_begin(ctx, s, s->last);
}

size_t hd_session_state_bytes(const hd_session *s) {
    return hd_states_bytes(s->model);
}

hd_status hd_session_state_save(hd_ctx *ctx, hd_session *s, void *out) {
    TRY(check_kept(ctx, s));
    if (s->last->state == HD_STATE_LOST) return lost(ctx, s);
    TRY(read_all(ctx, s, s->last, (unsigned char *)out + HD_STATE_HEAD));
    hd_states_seal(s->model, out);
    return HD_OK;
}

hd_status hd_session_state_load(hd_ctx *ctx, hd_session *s, const void *data, size_t bytes) {
    TRY(check_kept(ctx, s));
    TRY(hd_states_check(ctx, s->model, data, bytes));
    const unsigned char *from = (const unsigned char *)data + HD_STATE_HEAD;
    s->last->state = HD_STATE_LOST;
    for (int i = 0; i < s->model->n_states; i++) {
        TRY(write_one(ctx, s, s->last, i, from));
        from += bytes_of(s->model, hd_state_in(s->model, i));
    }
    s->last->state = HD_STATE_IN;
    return HD_OK;
}
