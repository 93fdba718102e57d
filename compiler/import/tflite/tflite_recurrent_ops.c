/* TFLite layers with state: SVDF and UNIDIRECTIONAL_SEQUENCE_LSTM. Their steps are written out:
 * cells of integers round where TFLite's do, which no layer of the graph does. */
#include <math.h>
#include <string.h>

#include "compiler/import/tflite/tflite_nn.h"
#include "compiler/import/tflite/tflite_ops.h"

enum { STEPS_MAX = 1024 };

static hd_status product(struct hd_tfl *m, int x, int w, int *out) {
    int id = hd_tfl_node(m, HD_IR_gemm, 2, (int[]){x, w}, out);
    hd_attr_set_int(m->g, id, "transB", 1);
    return hd_tfl_done(m, id);
}

/* x w' of floats; with integer weights alone x is rounded first. */
static hd_status weighted(struct hd_tfl *m, const struct hd_tfl_tensor *t, int x, uint32_t operand,
                          int *out) {
    int w, scale = -1;
    if (!hd_tfl_in(m, operand)) return hd_tfl_bad(m, HD_INVALID, "operand %u is left out", operand);
    TRY(hd_tfl_weights(m, operand, 2, NULL, 0, &w));
    if (hd_tfl_hybrid(t, hd_tfl_in(m, operand)))
        TRY(hd_tfl_rounded_rows(m, x, 1, (int64_t[]){1}, &x, &scale));
    TRY(product(m, x, w, out));
    return scale >= 0 ? hd_tfl_binary(m, HD_IR_mul, *out, scale, out) : HD_OK;
}

/* Rounded to int16 steps of `scale`, when the layer is of integers. */
static hd_status in_steps(struct hd_tfl *m, bool integers, float scale, int x, int *out) {
    int16_t zero = 0;
    *out = x;
    if (!integers) return HD_OK;
    int s = hd_tfl_float_const(m, scale), z = hd_tfl_const(m, HD_I16, 0, NULL, &zero);
    TRY(hd_tfl_emit(m, HD_IR_quantize, 3, (int[]){x, s, z}, out));
    return hd_tfl_emit(m, HD_IR_dequantize, 3, (int[]){*out, s, z}, out);
}

/* ---- SVDF ---- */

/* x, weights of features [F,I], weights of time [F,T], bias?, state [B,F*T] */
hd_status hd_tfl_svdf(struct hd_tfl *m) {
    struct hd_tfl_tensor *x = hd_tfl_in(m, 0), *w = hd_tfl_in(m, 2), *state = hd_tfl_in(m, 4);
    int64_t rank = hd_tfl_option(m, 0, 4, 0);
    int v, feature, wt, s, raw, bias = -1, y;
    TRY(hd_tfl_want(m, 0, 2));
    TRY(hd_tfl_want(m, 1, 2));
    TRY(hd_tfl_want(m, 2, 2));
    if (!state || !state->variable) return hd_tfl_bad(m, HD_INVALID, "operand 4 is no variable");
    TRY(hd_tfl_real(m, x, &v));
    int64_t b = m->g->tensors[v].dim[0], f = w->dim[0], t = w->dim[1];
    if (rank < 1 || f % rank || t < 1 || state->rank != 2 || state->dim[0] != b ||
        state->dim[1] != f * t)
        return hd_tfl_bad(m, HD_INVALID,
                          "%lld filters of %lld steps do not fit rank %lld and state", (long long)f,
                          (long long)t, (long long)rank);
    TRY(weighted(m, x, v, 1, &feature));
    TRY(hd_tfl_reshape(m, feature, 3, (int64_t[]){b, f, 1}, &feature));
    TRY(hd_tfl_state_read(m, hd_tfl_variable(m, state), state, &raw));
    state->raw = raw, state->real = -1;
    TRY(hd_tfl_real(m, state, &s));
    TRY(hd_tfl_reshape(m, s, 3, (int64_t[]){b, f, t}, &s));
    int cut[4] = {s, hd_tfl_ints(m, 1, (int64_t[]){1}), hd_tfl_ints(m, 1, &t),
                  hd_tfl_ints(m, 1, (int64_t[]){2})};
    TRY(hd_tfl_emit(m, HD_IR_slice, 4, cut, &s));
    int id = hd_tfl_node(m, HD_IR_concat, 2, (int[]){s, feature}, &s);
    hd_attr_set_int(m->g, id, "axis", 2);
    TRY(hd_tfl_done(m, id));
    TRY(hd_tfl_reshape(m, s, 2, (int64_t[]){b, f * t}, &s));
    TRY(hd_tfl_set_real(m, state, s));
    TRY(hd_tfl_raw(m, state, &raw));
    TRY(hd_tfl_state_write(m, hd_tfl_variable(m, state), state, raw));
    TRY(hd_tfl_real(m, state, &s)); /* as it is kept */
    TRY(hd_tfl_reshape(m, s, 3, (int64_t[]){b, f, t}, &s));
    TRY(hd_tfl_weights(m, 2, 2, NULL, 0, &wt));
    TRY(hd_tfl_reshape(m, wt, 3, (int64_t[]){1, f, t}, &wt));
    TRY(hd_tfl_binary(m, HD_IR_mul, s, wt, &y));
    TRY(hd_tfl_reshape(m, y, 3, (int64_t[]){b, f / rank, rank * t}, &y));
    id = hd_tfl_node(m, HD_IR_reducesum, 2, (int[]){y, hd_tfl_ints(m, 1, (int64_t[]){2})}, &y);
    hd_attr_set_int(m->g, id, "keepdims", 0);
    TRY(hd_tfl_done(m, id));
    TRY(hd_tfl_bias(m, 3, state, w, &bias));
    if (bias >= 0) TRY(hd_tfl_binary(m, HD_IR_add, y, bias, &y));
    return hd_tfl_set_activated(m, hd_tfl_out(m, 0), y, hd_tfl_option(m, 1, 1, 0));
}

/* ---- LSTM ---- */

enum { INPUT, FORGET, CELL, OUTPUT, GATES };

struct cell {
    bool integers;
    int w[GATES], r[GATES], b[GATES]; /* -1 = none */
    bool hybrid;
    float clip, cell_scale;
    struct hd_tfl_tensor *x, *state;
    int h, c; /* as stored (h), as float (c) */
};

static hd_status gate(struct hd_tfl *m, struct cell *k, int g, int x, int h, int *out) {
    int a, b;
    if (k->hybrid) {
        TRY(weighted(m, k->x, x, 1 + (uint32_t)g, &a));
        TRY(weighted(m, k->x, h, 5 + (uint32_t)g, &b));
    } else {
        TRY(product(m, x, k->w[g], &a));
        TRY(product(m, h, k->r[g], &b));
    }
    TRY(hd_tfl_binary(m, HD_IR_add, a, b, &a));
    if (k->b[g] >= 0) TRY(hd_tfl_binary(m, HD_IR_add, a, k->b[g], &a));
    TRY(in_steps(m, k->integers, 0x1p-12f, a, &a));
    TRY(hd_tfl_emit(m, g == CELL ? HD_IR_tanh : HD_IR_sigmoid, 1, &a, &a));
    return in_steps(m, k->integers, 0x1p-15f, a, out);
}

/* One step of x [B,I]: *out is the output as stored. */
static hd_status step(struct hd_tfl *m, struct cell *k, int x, int *out) {
    int g[GATES], h = k->h, a, b;
    if (k->integers) TRY(hd_tfl_dequantize(m, k->state, k->h, 0, &h));
    for (int i = 0; i < GATES; i++) TRY(gate(m, k, i, x, h, &g[i]));
    TRY(hd_tfl_binary(m, HD_IR_mul, g[FORGET], k->c, &a));
    TRY(hd_tfl_binary(m, HD_IR_mul, g[INPUT], g[CELL], &b));
    TRY(hd_tfl_binary(m, HD_IR_add, a, b, &k->c));
    if (k->clip > 0) TRY(hd_tfl_clip(m, k->c, -k->clip, k->clip, &k->c));
    TRY(in_steps(m, k->integers, k->cell_scale, k->c, &k->c));
    TRY(hd_tfl_emit(m, HD_IR_tanh, 1, &k->c, &a));
    TRY(in_steps(m, k->integers, 0x1p-15f, a, &a));
    TRY(hd_tfl_binary(m, HD_IR_mul, g[OUTPUT], a, &k->h));
    if (k->integers) {
        /* TFLite takes the zero point away where it should add it, and readers of the result do not
         * know: what is stored means another value than the one computed. */
        struct hd_tfl_tensor stored = *k->state;
        int64_t zero = -k->state->zero[0];
        stored.zero = &zero;
        TRY(hd_tfl_quantize(m, &stored, k->h, &k->h));
    }
    *out = k->h;
    return HD_OK;
}

static hd_status open_cell(struct hd_tfl *m, struct cell *k) {
    struct hd_tfl_tensor *c = hd_tfl_in(m, 19);
    int raw;
    k->x = hd_tfl_in(m, 0), k->state = hd_tfl_in(m, 18);
    for (uint32_t i = 9; i < m->op->n_in; i++)
        if ((i < 12 || i == 16 || i == 17 || i > 19) && hd_tfl_in(m, i))
            return hd_tfl_bad(m, HD_UNSUPPORTED, "peepholes, projection or layer norm");
    if (!k->state || !c || !k->state->variable || !c->variable)
        return hd_tfl_bad(m, HD_INVALID, "operands 18 and 19 must be variables");
    k->integers = hd_tfl_quantised(k->x);
    if (k->integers && (!hd_tfl_quantised(k->state) || !hd_tfl_quantised(c)))
        return hd_tfl_bad(m, HD_INVALID, "its states have no scale");
    k->cell_scale = k->integers ? c->scale[0] : 0;
    k->hybrid = hd_tfl_in(m, 2) && hd_tfl_hybrid(k->x, hd_tfl_in(m, 2));
    k->clip = hd_fb_float(&m->fb, &m->op->options, 1, 0);
    if (hd_tfl_option(m, 0, 1, 0) != 4)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "an activation other than tanh");
    for (int g = 0; g < GATES; g++) {
        uint32_t i = (uint32_t)g;
        TRY(hd_tfl_want(m, 1 + i, 2));
        TRY(hd_tfl_want(m, 5 + i, 2));
        if (!k->hybrid) {
            TRY(hd_tfl_weights(m, 1 + i, 2, NULL, 0, &k->w[g]));
            TRY(hd_tfl_weights(m, 5 + i, 2, NULL, 0, &k->r[g]));
        }
        TRY(hd_tfl_bias(m, 12 + i, k->x, hd_tfl_in(m, 1 + i), &k->b[g]));
    }
    TRY(hd_tfl_state_read(m, hd_tfl_variable(m, k->state), k->state, &k->h));
    TRY(hd_tfl_state_read(m, hd_tfl_variable(m, c), c, &raw));
    c->raw = raw, c->real = -1;
    return hd_tfl_real(m, c, &k->c);
}

static hd_status close_cell(struct hd_tfl *m, struct cell *k) {
    struct hd_tfl_tensor *c = hd_tfl_in(m, 19);
    int raw;
    TRY(hd_tfl_set_real(m, c, k->c));
    TRY(hd_tfl_raw(m, c, &raw));
    TRY(hd_tfl_state_write(m, hd_tfl_variable(m, c), c, raw));
    return hd_tfl_state_write(m, hd_tfl_variable(m, k->state), k->state, k->h);
}

hd_status hd_tfl_lstm(struct hd_tfl *m) {
    struct cell k = {0};
    struct hd_tfl_tensor *y = hd_tfl_out(m, 0);
    int all, x;
    TRY(hd_tfl_want(m, 0, 3));
    TRY(open_cell(m, &k));
    TRY(hd_tfl_real(m, k.x, &all));
    const struct hd_tensor t = m->g->tensors[all];
    int64_t time = hd_tfl_option(m, 3, 1, 0) ? 0 : 1, n = t.dim[time], batch = t.dim[1 - time];
    if (n < 1 || n > STEPS_MAX)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "%lld steps, allowed 1..%d", (long long)n, STEPS_MAX);
    int *out = hd_new_array(m->arena, int, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        int in[4] = {all, hd_tfl_ints(m, 1, &i), hd_tfl_ints(m, 1, (int64_t[]){i + 1}),
                     hd_tfl_ints(m, 1, &time)};
        TRY(hd_tfl_emit(m, HD_IR_slice, 4, in, &x));
        TRY(hd_tfl_reshape(m, x, 2, (int64_t[]){batch, t.dim[2]}, &x));
        TRY(step(m, &k, x, &out[i]));
        int64_t size = m->g->tensors[out[i]].dim[1];
        TRY(hd_tfl_reshape(m, out[i], 3, (int64_t[]){time ? batch : 1, time ? 1 : batch, size},
                           &out[i]));
    }
    TRY(close_cell(m, &k));
    int id = hd_tfl_node(m, HD_IR_concat, (int)n, out, &x);
    hd_attr_set_int(m->g, id, "axis", time);
    TRY(hd_tfl_done(m, id));
    hd_tfl_set_raw(m, y, x);
    return HD_OK;
}
