/* Quantised recurrent networks: qlstm, qgru, qrnn. docs/numerics.md is the contract; every float
 * step below rounds to binary32, in the order written.
 *
 *   x i8|u8 [S,B,I]  w i8 [D,G*H,I]  r i8 [D,G*H,H]  bias i32 [D,2,G*H]  scale f32 [D,2,G*H]
 *   y i8|u8 [S,D,B,H]  states [D,B,H]; gates in ONNX's order: i o f c, z r h
 * What the recurrence reads is y of the step before, integers; c of an lstm and h of a gru stay in
 * binary32.
 * Source: ONNX LSTM-14, GRU-14, RNN-14 on integers; runtime/base/fn.c for the functions. */
#include <string.h>

#include "compiler/ir/rnn.h"
#include "cpu_ref/kernels.h"
#include "runtime/base/fn.h"
#include "runtime/base/num.h"

struct cell { /* of one direction */
    struct hd_qrnn s;
    const int8_t *w, *r;
    const int32_t *bias; /* [2][G*H]: of w, of r */
    const float *scale;
    float *zw, *zr;   /* [G*H] */
    float *state;     /* [H]: c or h */
    uint8_t *last;    /* [H]: y of the step before */
    uint8_t *y;       /* [H]: of this step */
    int16_t *centred; /* room for an operand without its zero point */
};

static int32_t byte_at(const uint8_t *p, bool is_signed, int64_t i) {
    return is_signed ? (int8_t)p[i] : p[i];
}

/* z = float(bias + sum (v - zp) * m) * scale, rows [from, to); v has n elements. */
static void products(const struct cell *c, int part, const uint8_t *v, int64_t from, int64_t to,
                     float *z) {
    const struct hd_qrnn *s = &c->s;
    int64_t n = part ? s->hidden : s->input, gh = s->gates * s->hidden;
    bool is_signed = part ? s->y_signed : s->x_signed;
    int32_t zp = part ? s->y_zp : s->x_zp;
    const int8_t *m = part ? c->r : c->w;
    for (int64_t k = 0; k < n; k++) c->centred[k] = (int16_t)(byte_at(v, is_signed, k) - zp);
    for (int64_t i = from; i < to; i++) {
        uint32_t sum = (uint32_t)c->bias[part * gh + i];
        const int8_t *row = m + i * n;
        for (int64_t k = 0; k < n; k++) sum += (uint32_t)(c->centred[k] * row[k]);
        z[i] = hd_flush((float)(int32_t)sum * hd_flush(c->scale[part * gh + i]));
    }
}

static uint8_t requant(const struct cell *c, float v) {
    return (uint8_t)hd_requant(v, c->s.y_zp, c->s.lo, c->s.hi);
}

/* A step of the machine's binary32: no subnormal numbers, so that zeros have its signs. */
static float sum_of(float a, float b) {
    return hd_flush(a + b);
}

static float product_of(float a, float b) {
    return hd_flush(a * b);
}

static float sigmoid(float x) {
    return hd_fn(HD_FN_SIGMOID, x);
}

static void lstm_step(struct cell *c) {
    int64_t n = c->s.hidden;
    const float *zr = c->zr, *zw = c->zw;
    products(c, 1, c->last, 0, 4 * n, c->zr);
    for (int64_t j = 0; j < n; j++) {
        float i = sigmoid(sum_of(zr[j], zw[j])), o = sigmoid(sum_of(zr[n + j], zw[n + j]));
        float f = sigmoid(sum_of(zr[2 * n + j], zw[2 * n + j]));
        float g = hd_fn(HD_FN_TANH, sum_of(zr[3 * n + j], zw[3 * n + j]));
        c->state[j] = sum_of(product_of(f, c->state[j]), product_of(g, i));
        float out = o * c->s.scale;
        c->y[j] = requant(c, hd_fn(HD_FN_TANH, c->state[j]) * out);
    }
}

static void gru_step(struct cell *c) {
    int64_t n = c->s.hidden;
    bool before = c->s.linear_before_reset;
    float *zr = c->zr;
    const float *zw = c->zw;
    products(c, 1, c->last, 0, before ? 3 * n : 2 * n, zr);
    for (int64_t j = 0; j < n; j++) zr[n + j] = sigmoid(sum_of(zr[n + j], zw[n + j]));
    for (int64_t j = 0; j < n && !before; j++) {
        float h = c->state[j] * c->s.scale;
        c->y[j] = requant(c, zr[n + j] * h);
    }
    if (!before) products(c, 1, c->y, 2 * n, 3 * n, zr);
    for (int64_t j = 0; j < n; j++) {
        float part = before ? product_of(zr[2 * n + j], zr[n + j]) : zr[2 * n + j];
        float in = hd_fn(HD_FN_TANH, sum_of(part, zw[2 * n + j]));
        float kept = product_of(sum_of(c->state[j], -in), sigmoid(sum_of(zr[j], zw[j])));
        c->state[j] = sum_of(kept, in);
        c->y[j] = requant(c, c->state[j] * c->s.scale);
    }
}

static void rnn_step(struct cell *c) {
    products(c, 1, c->last, 0, c->s.hidden, c->zr);
    for (int64_t j = 0; j < c->s.hidden; j++) {
        float z = sum_of(c->zr[j], c->zw[j]), h = c->s.no_tanh ? z : hd_fn(HD_FN_TANH, z);
        c->y[j] = requant(c, h * c->s.scale);
    }
}

/* The initial state of one sequence: integers for the products, binary32 for the rest; 0 when it
 * is left out. */
static void begin(const struct hd_kernel *k, struct cell *c, int64_t at) {
    const struct hd_qrnn *s = &c->s;
    const float *state = hd_k_in_data(k, s->gates == 4 ? 6 : 5);
    const uint8_t *h = hd_k_in_data(k, 5);
    for (int64_t j = 0; j < s->hidden; j++) {
        c->state[j] = s->gates > 1 && state ? hd_flush(state[at + j]) : 0;
        c->last[j] = s->gates == 3 && state ? requant(c, c->state[j] * s->scale)
                     : s->gates != 3 && h   ? h[at + j]
                                            : (uint8_t)s->y_zp;
    }
}

static hd_status recur(const struct hd_kernel *k, void (*step)(struct cell *c)) {
    const struct hd_tensor *t[7];
    struct cell c;
    for (int i = 0; i < 7; i++) t[i] = hd_k_in(k, i);
    TRY(hd_qrnn_get(k->ctx, k->n, t, &c.s));
    const struct hd_qrnn *s = &c.s;
    int64_t h = s->hidden, gh = s->gates * h, step_bytes = s->directions * s->batch * h;
    c.zw = hd_new_array(k->arena, float, (size_t)gh);
    c.zr = hd_new_array(k->arena, float, (size_t)gh);
    c.state = hd_new_array(k->arena, float, (size_t)h);
    c.last = hd_new_array(k->arena, uint8_t, (size_t)h);
    c.y = hd_new_array(k->arena, uint8_t, (size_t)h);
    c.centred = hd_new_array(k->arena, int16_t, (size_t)hd_max(h, s->input));
    const uint8_t *x = k->in[0];
    uint8_t *y = k->outs[0];
    float *states = hd_k_out_data(k, 1);
    for (int64_t q = 0; q < s->directions * s->batch; q++) {
        int64_t d = q / s->batch, b = q % s->batch;
        bool backwards = s->reverse || d == 1;
        c.w = (const int8_t *)k->in[1] + d * gh * s->input;
        c.r = (const int8_t *)k->in[2] + d * gh * h;
        c.bias = (const int32_t *)k->in[3] + d * 2 * gh;
        c.scale = (const float *)k->in[4] + d * 2 * gh;
        begin(k, &c, q * h);
        for (int64_t i = 0; i < s->steps; i++) {
            int64_t at = backwards ? s->steps - 1 - i : i;
            products(&c, 0, x + (at * s->batch + b) * s->input, 0, gh, c.zw);
            step(&c);
            memcpy(c.last, c.y, (size_t)h);
            if (y) memcpy(y + at * step_bytes + q * h, c.y, (size_t)h);
        }
        if (states) memcpy(states + q * h, c.state, (size_t)h * sizeof(float));
    }
    return HD_OK;
}

hd_status k_qlstm(const struct hd_kernel *k) {
    return recur(k, lstm_step);
}
hd_status k_qgru(const struct hd_kernel *k) {
    return recur(k, gru_step);
}
hd_status k_qrnn(const struct hd_kernel *k) {
    return recur(k, rnn_step);
}
