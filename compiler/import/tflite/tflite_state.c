/* State: variable tensors and resource variables. Each becomes an input, which has an initial
 * value, and an output of the graph. */
#include <string.h>

#include "compiler/import/tflite/tflite_ops.h"

static struct hd_tfl_state *state_of(struct hd_tfl *m, const char *name) {
    for (size_t i = 0; i < m->n_states; i++)
        if (!strcmp(m->states[i].name, name)) return &m->states[i];
    struct hd_tfl_state *s = hd_push(m->arena, m->states, m->n_states, m->cap_states);
    *s = (struct hd_tfl_state){.name = name, .input = -1, .now = -1, .initial = -1};
    return s;
}

const char *hd_tfl_variable(struct hd_tfl *m, const struct hd_tfl_tensor *t) {
    return hd_sprintf(m->arena, "%s.%d", t->name, (int)(t - m->at->tensors));
}

/* Zero, which is the zero point of a quantised tensor. */
static void *zeros(struct hd_tfl *m, const struct hd_tfl_tensor *t, const struct hd_tensor *like) {
    uint8_t *v = hd_alloc(m->g->arena, hd_tensor_bytes(like) + 1);
    if (t->n_scales && like->dtype == HD_I8) memset(v, (uint8_t)t->zero[0], hd_tensor_bytes(like));
    return v;
}

hd_status hd_tfl_state_read(struct hd_tfl *m, const char *name, const struct hd_tfl_tensor *t,
                            int *out) {
    struct hd_tfl_state *s = state_of(m, name);
    char text[2][HD_SHAPE_TEXT];
    if (m->g != m->network)
        return hd_tfl_bad(
            m, HD_UNSUPPORTED,
            "variable '%s' in a branch or in the body of a loop; allowed: outside of them", name);
    *out = s->now;
    if (s->now >= 0) return HD_OK;
    if (t->ir < 0)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "variable '%s' has type %d of the schema", name,
                          t->type);
    s->now = s->input = *out = hd_graph_tensor(m->g, name, (hd_dtype)t->ir, t->rank, t->dim);
    struct hd_tensor *x = &m->g->tensors[s->input];
    const struct hd_tensor *v = s->initial < 0 ? NULL : &m->g->tensors[s->initial];
    if (v && (v->dtype != x->dtype || hd_tensor_elems(v) != hd_tensor_elems(x)))
        return hd_tfl_bad(m, HD_INVALID, "variable '%s' begins with %s, it is %s", name,
                          hd_shape_text(v, text[0]), hd_shape_text(x, text[1]));
    x->initial = v ? hd_dup(m->g->arena, v->data, hd_tensor_bytes(x)) : zeros(m, t, x);
    return HD_OK;
}

hd_status hd_tfl_state_write(struct hd_tfl *m, const char *name, const struct hd_tfl_tensor *t,
                             int value) {
    int unused;
    TRY(hd_tfl_state_read(m, name, t, &unused)); /* it has an input, whether it is read or not */
    struct hd_tfl_state *s = state_of(m, name);
    const struct hd_tensor *old = &m->g->tensors[s->input], *new = &m->g->tensors[value];
    bool same = old->dtype == new->dtype && old->rank == new->rank;
    for (int i = 0; same && i < old->rank; i++) same = old->dim[i] == new->dim[i];
    if (!same)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "variable '%s' changes its type or shape", name);
    s->now = value;
    return HD_OK;
}

hd_status hd_tfl_state_finish(struct hd_tfl *m) {
    for (size_t i = 0; i < m->n_states; i++)
        if (m->states[i].input >= 0) hd_graph_input(m->g, m->states[i].input);
    for (size_t i = 0; i < m->n_states; i++) {
        const struct hd_tfl_state *s = &m->states[i];
        if (s->input < 0) continue;
        const char *name = hd_sprintf(m->arena, "%s.next", s->name);
        int y = hd_graph_tensor(m->g, name, HD_F32, 0, NULL);
        int id = hd_graph_node(m->g, HD_IR_identity, name, 1, &s->now, 1, &y);
        TRY(hd_graph_infer_node(m->ctx, m->g, id));
        hd_graph_output(m->g, y);
    }
    return HD_OK;
}

/* ---- resource variables ---- */

static const char *shared_name(struct hd_tfl *m, const struct hd_tfl_op *op) {
    struct hd_fb_vector v = hd_fb_vector(&m->fb, &op->options, 1, 1);
    return hd_sprintf(m->arena, "%.*s", (int)(v.n < 200 ? v.n : 200),
                      v.n ? (const char *)v.data : "");
}

/* The variable that a resource tensor of the graph in work names; NULL = none. */
static const char *resource(struct hd_tfl *m, uint32_t operand) {
    const struct hd_tfl_op *now = m->op;
    if (operand >= now->n_in) return NULL;
    for (const struct hd_tfl_op *op = m->at->ops; op < now; op++)
        if (op->code == 142 && op->n_out && op->out[0] == now->in[operand])
            return shared_name(m, op);
    return NULL;
}

hd_status hd_tfl_var_handle(struct hd_tfl *m) {
    (void)m; /* read and assign look it up */
    return HD_OK;
}

hd_status hd_tfl_read_variable(struct hd_tfl *m) {
    struct hd_tfl_tensor *y = hd_tfl_out(m, 0);
    const char *name = resource(m, 0);
    int value;
    if (!name || !y) return hd_tfl_bad(m, HD_UNSUPPORTED, "its operand is no VAR_HANDLE");
    TRY(hd_tfl_state_read(m, name, y, &value));
    hd_tfl_set_raw(m, y, value);
    return HD_OK;
}

hd_status hd_tfl_assign_variable(struct hd_tfl *m) {
    struct hd_tfl_tensor *x = hd_tfl_in(m, 1);
    const char *name = resource(m, 0);
    int value;
    if (!name || !x) return hd_tfl_bad(m, HD_UNSUPPORTED, "its operand 0 is no VAR_HANDLE");
    TRY(hd_tfl_raw(m, x, &value));
    if (!m->once) return hd_tfl_state_write(m, name, x, value);
    struct hd_tfl_state *s = state_of(m, name);
    s->initial = value;
    if (!m->g->tensors[value].data)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "variable '%s' does not begin with a constant", name);
    return HD_OK;
}
