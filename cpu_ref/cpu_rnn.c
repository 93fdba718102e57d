/* Step maker for LSTM and GRU: weights turned and padded once. What cpu_rnn.h does not cover
 * (other activations, clipping, peepholes, sequence lengths, batch first) is left to golden. */
#include "cpu_ref/cpu_rnn.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/ir/rnn.h"
#include "cpu_ref/cpu_int8.h"
#include "cpu_ref/cpu_plan.h"
#include "runtime/base/num.h"

struct state {
    struct hd_cpu_rnn r;
    bool has_h, has_c;
    int y[3]; /* which of the step's outputs each result is, -1 = nobody wants it */
};

static hd_status run(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct state *st = s->state;
    const float *x = r->at[s->in[0]], *h0 = st->has_h ? r->at[s->in[1]] : NULL,
                *c0 = st->has_c ? r->at[s->in[1 + st->has_h]] : NULL;
    float *y[3];
    for (int i = 0; i < 3; i++) y[i] = st->y[i] < 0 ? NULL : r->at[s->out[st->y[i]]];
    hd_cpu_rnn_run(&st->r, x, h0, c0, y[0], y[1], y[2], r->scratch);
    return HD_OK;
}

/* m [gates * H][k] -> [k][gates * Hp] */
static float *turn(struct hd_cpu_plan *p, const struct hd_cpu_rnn *r, const float *m, int64_t k,
                   int64_t room) {
    int64_t n = r->gates * r->padded;
    float *t = hd_new_array(p->arena, float, (size_t)(k * n + room));
    for (int g = 0; g < r->gates; g++)
        for (int64_t h = 0; h < r->hidden; h++)
            for (int64_t i = 0; i < k; i++)
                t[i * n + g * r->padded + h] = m[(g * r->hidden + h) * k + i];
    return t;
}

/* The gate bias of x and of h. LSTM, and gates of GRU that only add both: all with x. */
static void biases(struct hd_cpu_plan *p, struct hd_cpu_rnn *r, int dir, const float *b) {
    int64_t n = r->gates * r->padded, all = r->gates * r->hidden;
    float *x = hd_new_array(p->arena, float, (size_t)n),
          *h = hd_new_array(p->arena, float, (size_t)n);
    for (int g = 0; g < r->gates && b; g++)
        for (int64_t j = 0; j < r->hidden; j++) {
            float bx = b[g * r->hidden + j], bh = b[all + g * r->hidden + j];
            bool apart = r->gates == 3 && g == 2;
            x[g * r->padded + j] = apart ? bx : bx + bh;
            h[g * r->padded + j] = apart ? bh : 0;
        }
    r->bias[dir] = x;
    r->rb[dir] = h;
}

static bool usual(const struct hd_rnn *s) {
    for (int d = 0; d < s->directions; d++) {
        const struct hd_rnn_fn *f = s->fn + 3 * d;
        if (f[0].act != HD_RNN_Sigmoid || f[1].act != HD_RNN_Tanh ||
            (s->gates == 4 && f[2].act != HD_RNN_Tanh))
            return false;
    }
    return s->clip == 0 && !s->batch_first && s->steps > 0 && s->batch > 0;
}

static bool has(const struct hd_node *n, int i) {
    return i < n->n_in && n->in[i] >= 0;
}

hd_status hd_cpu_recurrent(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    if (n->op != HD_IR_lstm && n->op != HD_IR_gru) return HD_OK;
#ifdef __x86_64__
    if (!hd_q_available()) return HD_OK; /* cpu_rnn_run.c is compiled for AVX2 */
#endif
    const struct hd_tensor *in[8];
    struct hd_rnn s;
    for (int i = 0; i < 8; i++) in[i] = has(n, i) ? &p->g->tensors[n->in[i]] : NULL;
    TRY(hd_rnn_get(p->ctx, n, in, &s));
    const float *w = hd_cpu_const(p, n->in[1]), *rw = hd_cpu_const(p, n->in[2]),
                *b = has(n, 3) ? hd_cpu_const(p, n->in[3]) : NULL;
    if (!usual(&s) || in[0]->dtype != HD_F32 || !w || !rw || (has(n, 3) && !b) || has(n, 4) ||
        has(n, 7) || hd_attr_int(n, "input_forget", 0))
        return HD_OK;
    struct state *st = hd_new(p->arena, struct state);
    struct hd_cpu_rnn *r = &st->r;
    *r = (struct hd_cpu_rnn){.gates = s.gates,
                             .directions = s.directions,
                             .reverse = s.reverse,
                             .reset_after = hd_attr_int(n, "linear_before_reset", 0) != 0,
                             .steps = s.steps,
                             .batch = s.batch,
                             .input = s.input,
                             .hidden = s.hidden,
                             .padded = hd_round_up(s.hidden, HD_RNN_PAD)};
    int64_t gh = s.gates * s.hidden, last = s.gates == 3 ? s.hidden * r->padded : 0;
    for (int d = 0; d < s.directions; d++) {
        float *rt = turn(p, r, rw + d * gh * s.hidden, s.hidden, last);
        for (int64_t i = 0; i < s.hidden && last; i++) /* the last gate once more, on its own */
            memcpy(rt + s.hidden * 3 * r->padded + i * r->padded,
                   rt + i * 3 * r->padded + 2 * r->padded, (size_t)r->padded * sizeof *rt);
        r->rt[d] = rt;
        r->wt[d] = turn(p, r, w + d * gh * s.input, s.input, 0);
        biases(p, r, d, b ? b + d * 2 * gh : NULL);
    }
    int view[3], out[3], n_in = 0, n_out = 0;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &view[n_in++]));
    st->has_h = has(n, 5), st->has_c = s.gates == 4 && has(n, 6);
    if (st->has_h) TRY(hd_cpu_need(p, n->in[5], hd_cpu_dense, &view[n_in++]));
    if (st->has_c) TRY(hd_cpu_need(p, n->in[6], hd_cpu_dense, &view[n_in++]));
    for (int i = 0; i < 3; i++) {
        st->y[i] = i < n->n_out && n->out[i] >= 0 ? n_out : -1;
        if (st->y[i] >= 0) out[n_out++] = hd_cpu_make(p, n->out[i], hd_cpu_dense, 0);
    }
    hd_cpu_scratch(p, hd_cpu_rnn_scratch(r));
    struct hd_cpu_step *step = hd_cpu_step(p, node, "recurrent", n_in, view, n_out, out);
    step->run = run;
    step->state = st;
    *out_taken = true;
    return HD_OK;
}
