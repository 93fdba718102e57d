/* Recurrent layers: one step of lstm, gru and rnn. */
#include "compiler/kind/recurrent.h"

/* ---- steps ---- */

/* c = f * c + i * g: f and i are neighbours, c and g too. */
static hd_status lstm_state(struct hd_cell *c, int64_t f) {
    TRY(hd_cell_map(c, (struct hd_cell_map){.alu = HD_V_vx_alu_mul,
                                            .a_kind = HD_V_vx_kind_am_f32,
                                            .a = f,
                                            .b = c->state,
                                            .d = f,
                                            .tiles = 2 * c->r->vectors}));
    return hd_cell_combine(c, HD_V_vx_alu_add, HD_FN_NONE, f, f + c->q, c->state);
}

/* Products of a few cycles: what counts is how often the vector unit begins. */
static hd_status lstm_short_step(struct hd_cell *c, int i) { /* f, i, o, c */
    TRY(hd_cell_gate_products(c, 0, 4, c->before));
    TRY(hd_cell_filler(c, i));
    TRY(hd_cell_gates(c, i, 0, 3, HD_FN_SIGMOID, c->sums));
    TRY(hd_cell_gate(c, i, 3, HD_FN_TANH, c->tmp));
    TRY(lstm_state(c, c->sums));
    return hd_cell_mul_to_y(c, HD_FN_TANH, c->state, c->sums + 2 * c->q);
}

static hd_status lstm_step(struct hd_cell *c, int i) { /* f, i, c, o */
    int64_t f = c->sums, g = c->sums + 2 * c->q, o = c->sums + 3 * c->q;
    TRY(hd_cell_gate_product(c, 0, c->before));
    TRY(hd_cell_gate(c, i, 0, HD_FN_SIGMOID, f));
    TRY(hd_cell_combine(c, HD_V_vx_alu_mul, HD_FN_NONE, f, c->state, f));
    TRY(hd_cell_gate_product(c, 1, c->before));
    TRY(hd_cell_gate(c, i, 1, HD_FN_SIGMOID, c->tmp));
    TRY(hd_cell_gate_product(c, 2, c->before));
    TRY(hd_cell_gate(c, i, 2, HD_FN_TANH, g));
    TRY(hd_cell_combine(c, HD_V_vx_alu_mul, HD_FN_NONE, g, c->tmp, c->tmp));
    TRY(hd_cell_combine(c, HD_V_vx_alu_add, HD_FN_NONE, f, c->tmp, c->state));
    TRY(hd_cell_gate_product(c, 3, c->before));
    TRY(hd_cell_filler(c, i));
    TRY(hd_cell_gate(c, i, 3, HD_FN_SIGMOID, o));
    return hd_cell_mul_to_y(c, HD_FN_TANH, c->state, o);
}

/* state = (state - in) * update + in, and y of it. */
static hd_status gru_end(struct hd_cell *c, int64_t in, int64_t update) {
    TRY(hd_cell_combine(c, HD_V_vx_alu_mul, HD_FN_NONE, c->tmp, update, c->tmp));
    TRY(hd_cell_combine(c, HD_V_vx_alu_add, HD_FN_NONE, c->tmp, in, c->state));
    return hd_cell_to_y(c, c->state);
}

/* tmp = state - h, where h = tanh(h * r + products of x). */
static hd_status gru_reset(struct hd_cell *c, int i, int gate, int64_t r) {
    int64_t h = c->sums + gate * c->q, pm;
    TRY(hd_cell_params(c, OF_H, gate, &pm));
    TRY(hd_cell_map(c, (struct hd_cell_map){.alu = HD_V_vx_alu_mul,
                                            .a_kind = HD_V_vx_kind_am_int32,
                                            .a = h,
                                            .pm = pm + 1,
                                            .b = r,
                                            .d = h}));
    TRY(hd_cell_combine(c, HD_V_vx_alu_add, HD_FN_TANH, h, hd_cell_slot(c, i) + gate * c->q, h));
    return hd_cell_combine(c, HD_V_vx_alu_sub, HD_FN_NONE, c->state, h, c->tmp);
}

static hd_status gru_short_step(struct hd_cell *c, int i) { /* r, z, h */
    int64_t r = c->sums, z = r + c->q, h = r + 2 * c->q;
    TRY(hd_cell_gate_products(c, 0, 3, c->before));
    TRY(hd_cell_filler(c, i));
    TRY(hd_cell_gates(c, i, 0, 2, HD_FN_SIGMOID, r));
    TRY(gru_reset(c, i, 2, r));
    return gru_end(c, h, z);
}

static hd_status gru_before_step(struct hd_cell *c, int i) { /* r, h, z */
    int64_t h = c->sums + c->q, z = c->sums + 2 * c->q;
    TRY(hd_cell_gate_product(c, 0, c->before));
    TRY(hd_cell_gate(c, i, 0, HD_FN_SIGMOID, c->tmp));
    TRY(hd_cell_gate_product(c, 1, c->before));
    TRY(gru_reset(c, i, 1, c->tmp));
    TRY(hd_cell_gate_product(c, 2, c->before));
    TRY(hd_cell_filler(c, i));
    TRY(hd_cell_gate(c, i, 2, HD_FN_SIGMOID, z));
    return gru_end(c, h, z);
}

static hd_status gru_after_step(struct hd_cell *c, int i) { /* r, z, h */
    int64_t r = c->sums, z = c->sums + c->q, h = c->sums + 2 * c->q;
    TRY(hd_cell_gate_product(c, 0, c->before));
    TRY(hd_cell_gate_product(c, 1, c->before)); /* reads the row that r * h is about to take */
    TRY(hd_cell_gates(c, i, 0, c->r->together ? 2 : 1, HD_FN_SIGMOID, r));
    TRY(hd_cell_mul_to_y(c, HD_FN_NONE, r, c->state));
    if (!c->r->together) TRY(hd_cell_gate(c, i, 1, HD_FN_SIGMOID, z));
    TRY(hd_cell_gate_product(c, 2, c->now));
    TRY(hd_cell_filler(c, i));
    TRY(hd_cell_gate(c, i, 2, HD_FN_TANH, h));
    TRY(hd_cell_combine(c, HD_V_vx_alu_sub, HD_FN_NONE, c->state, h, c->tmp));
    return gru_end(c, h, z);
}

static hd_status rnn_step(struct hd_cell *c, int i) {
    TRY(hd_cell_gate_product(c, 0, c->before));
    TRY(hd_cell_filler(c, i));
    TRY(hd_cell_gate(c, i, 0, c->r->no_tanh ? HD_FN_NONE : HD_FN_TANH, c->sums));
    return hd_cell_to_y(c, c->sums);
}

hd_status hd_cell_step(struct hd_cell *c, int i) {
    bool together = c->r->together;
    if (c->r->gates == 4) return together ? lstm_short_step(c, i) : lstm_step(c, i);
    if (c->r->gates == 1) return rnn_step(c, i);
    if (!c->r->linear_before_reset) return gru_after_step(c, i);
    return together ? gru_short_step(c, i) : gru_before_step(c, i);
}
