/* Recurrent networks: lstm, gru, rnn. One step at a time, in double from operands to results.
 *
 *   x [steps,batch,input]  w [dirs,G*H,input]  r [dirs,G*H,H]  b [dirs,2*G*H]?  lens [batch]?
 *   initial_h, initial_c [dirs,batch,H]?  p [dirs,3*H]?  (layout = 1: batch goes first everywhere)
 *   y [steps,dirs,batch,H]  y_h, y_c [dirs,batch,H]
 * Beyond a sequence's length y is 0; the reverse direction begins at its last step. A sequence of
 * length 0 leaves y_h and y_c 0, as in ONNX Runtime.
 * Source: ONNX LSTM-14, GRU-14, RNN-14. */
#include <math.h>
#include <string.h>

#include "compiler/ir/rnn.h"
#include "cpu_ref/k_rows.h"

struct cell { /* of one direction */
    const struct hd_rnn *s;
    const struct hd_rnn_fn *fn;
    const double *w, *r, *b, *p; /* b, p: NULL = 0 */
    bool input_forget, linear_before_reset;
    double *z; /* gates * hidden: what the activations get */
    double *t; /* hidden */
};

/* Activation i of f, g, h. What h gets, the state of the cell, is not clipped, as in ONNX Runtime.
 */
static double activate(const struct cell *c, int i, double x) {
    double alpha = (double)c->fn[i].alpha, beta = (double)c->fn[i].beta, clip = (double)c->s->clip;
    if (clip > 0 && i < 2) x = fmin(fmax(x, -clip), clip);
    switch (c->fn[i].act) {
#define X(name, value, ...)                                                                        \
    case HD_RNN_##name:                                                                            \
        return value;
        HD_RNN_ACT_LIST(X)
#undef X
    default:
        return x;
    }
}

/* z[i] += sum m[i][j] * v[j], rows from .. to - 1 */
static void multiply(const double *m, const double *v, int64_t from, int64_t to, int64_t n,
                     double *z) {
    for (int64_t i = from; i < to; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += m[i * n + j] * v[j];
        z[i] += sum;
    }
}

/* z = W x + the first half of the bias, and with `both` the second half, too, in rows [0, rows). */
static void begin(const struct cell *c, const double *x, int64_t both) {
    int64_t n = c->s->gates * c->s->hidden;
    for (int64_t i = 0; i < n; i++) {
        c->z[i] = c->b ? c->b[i] : 0;
        if (c->b && i < both) c->z[i] += c->b[n + i];
    }
    multiply(c->w, x, 0, n, c->s->input, c->z);
}

/* Gates in the order i, o, f, c. */
static void lstm_step(const struct cell *c, const double *x, double *h, double *state) {
    int64_t n = c->s->hidden;
    const double *p = c->p;
    begin(c, x, 4 * n);
    multiply(c->r, h, 0, 4 * n, n, c->z);
    for (int64_t j = 0; j < n; j++) {
        double *z = c->z + j, old = state[j];
        double i = activate(c, 0, z[0] + (p ? p[j] * old : 0));
        double f =
            c->input_forget ? 1 - i : activate(c, 0, z[2 * n] + (p ? p[2 * n + j] * old : 0));
        state[j] = f * old + i * activate(c, 1, z[3 * n]);
        double o = activate(c, 0, z[n] + (p ? p[n + j] * state[j] : 0));
        c->t[j] = o * activate(c, 2, state[j]);
    }
    memcpy(h, c->t, (size_t)n * sizeof *h);
}

/* Gates in the order z, r, h. */
static void gru_step(const struct cell *c, const double *x, double *h, double *unused) {
    int64_t n = c->s->hidden;
    (void)unused;
    begin(c, x, 2 * n);
    multiply(c->r, h, 0, 2 * n, n, c->z);
    const double *rb = c->b ? c->b + 5 * n : NULL;
    double *t = c->t, *hidden = c->z + 2 * n;
    for (int64_t j = 0; j < n; j++) {
        double reset = activate(c, 0, c->z[n + j]);
        c->z[n + j] = reset;
        t[j] = c->linear_before_reset ? h[j] : reset * h[j];
    }
    double *rh = t + n; /* R t + its bias */
    for (int64_t j = 0; j < n; j++) rh[j] = rb ? rb[j] : 0;
    multiply(c->r + 2 * n * n, t, 0, n, n, rh);
    for (int64_t j = 0; j < n; j++) {
        double update = activate(c, 0, c->z[j]);
        double in = hidden[j] + (c->linear_before_reset ? c->z[n + j] : 1) * rh[j];
        h[j] = (1 - update) * activate(c, 1, in) + update * h[j];
    }
}

static void rnn_step(const struct cell *c, const double *x, double *h, double *unused) {
    int64_t n = c->s->hidden;
    (void)unused;
    begin(c, x, n);
    multiply(c->r, h, 0, n, n, c->z);
    for (int64_t j = 0; j < n; j++) h[j] = activate(c, 0, c->z[j]);
}

typedef void step_fn(const struct cell *c, const double *x, double *h, double *state);

struct sequences {
    struct hd_rnn s;
    const double *x;
    double *y, *h, *c; /* results */
};

/* Where the state of a direction and a batch begins in y_h, initial_h and their like. */
static int64_t state_at(const struct hd_rnn *s, int dir, int64_t b) {
    return (s->batch_first ? b * s->directions + dir : dir * s->batch + b) * s->hidden;
}

static int64_t y_at(const struct hd_rnn *s, int64_t step, int dir, int64_t b) {
    return (s->batch_first ? (b * s->steps + step) * s->directions + dir
                           : (step * s->directions + dir) * s->batch + b) *
           s->hidden;
}

static int64_t x_at(const struct hd_rnn *s, int64_t step, int64_t b) {
    return (s->batch_first ? b * s->steps + step : step * s->batch + b) * s->input;
}

/* One sequence in one direction; h and c hold the initial state and get the last one. */
static void run_sequence(const struct sequences *q, const struct cell *cell, step_fn *step, int dir,
                         int64_t b, int64_t length) {
    const struct hd_rnn *s = &q->s;
    double *h = q->h + state_at(s, dir, b), *c = q->c + state_at(s, dir, b);
    size_t bytes = (size_t)s->hidden * sizeof *h;
    bool backwards = dir == 1 || s->reverse;
    if (!length) {
        memset(h, 0, bytes);
        memset(c, 0, bytes);
    }
    for (int64_t i = 0; i < length; i++) {
        int64_t at = backwards ? length - 1 - i : i;
        step(cell, q->x + x_at(s, at, b), h, c);
        memcpy(q->y + y_at(s, at, dir, b), h, bytes);
    }
}

static hd_status recur(const struct hd_kernel *k, step_fn *step) {
    const struct hd_tensor *in[8], *lens = hd_k_in(k, 4);
    struct sequences q;
    for (int i = 0; i < 8; i++) in[i] = hd_k_in(k, i);
    TRY(hd_rnn_get(k->ctx, k->n, in, &q.s));
    const struct hd_rnn *s = &q.s;
    const double *w = hd_k_doubles(k, 1), *r = hd_k_doubles(k, 2), *b = hd_k_doubles(k, 3);
    const double *p = s->gates == 4 ? hd_k_doubles(k, 7) : NULL;
    int64_t gh = s->gates * s->hidden, states = s->directions * s->batch * s->hidden;
    q.x = hd_k_doubles(k, 0);
    q.y = hd_new_array(k->arena, double, (size_t)(s->steps * states) + 1);
    q.h = hd_k_doubles(k, 5);
    q.c = s->gates == 4 ? hd_k_doubles(k, 6) : NULL;
    if (!q.h) q.h = hd_new_array(k->arena, double, (size_t)states + 1);
    if (!q.c) q.c = hd_new_array(k->arena, double, (size_t)states + 1);
    struct cell cell = {.s = s,
                        .input_forget = hd_attr_int(k->n, "input_forget", 0) != 0,
                        .linear_before_reset = hd_attr_int(k->n, "linear_before_reset", 0) != 0,
                        .z = hd_new_array(k->arena, double, (size_t)gh),
                        .t = hd_new_array(k->arena, double, (size_t)s->hidden * 2)};
    for (int dir = 0; dir < s->directions; dir++) {
        cell.fn = s->fn + dir * 3;
        cell.w = w + dir * gh * s->input;
        cell.r = r + dir * gh * s->hidden;
        cell.b = b ? b + dir * 2 * gh : NULL;
        cell.p = p ? p + dir * 3 * s->hidden : NULL;
        for (int64_t i = 0; i < s->batch; i++) {
            int64_t length = lens ? hd_k_i64(k->in[4], lens->dtype, i) : s->steps;
            if (length < 0 || length > s->steps)
                return hd_fail(k->ctx, HD_INVALID, "sequence_lens[%lld] is %lld, allowed 0..%lld",
                               (long long)i, (long long)length, (long long)s->steps);
            run_sequence(&q, &cell, step, dir, i, length);
        }
    }
    hd_k_store(k, 0, q.y);
    hd_k_store(k, 1, q.h);
    hd_k_store(k, 2, q.c);
    return HD_OK;
}

hd_status k_lstm(const struct hd_kernel *k) {
    return recur(k, lstm_step);
}
hd_status k_gru(const struct hd_kernel *k) {
    return recur(k, gru_step);
}
hd_status k_rnn(const struct hd_kernel *k) {
    return recur(k, rnn_step);
}
