/* Step maker for qlstm, qgru and qrnn: weights padded once. What has no constant weights is left to
 * golden. */
#include <string.h>

#include "cpu_ref/cpu_int8_rnn.h"
#include "cpu_ref/cpu_quant.h"
#include "runtime/base/num.h"
#include "runtime/base/parallel.h"

#ifdef __x86_64__

enum { PARALLEL_PRODUCTS = 400000 }; /* that are worth a second thread */

struct recurrent {
    struct hd_q_rnn of;
    int threads, h0, c0, y, states; /* which inputs and outputs these are, -1 = left out */
    size_t scratch;                 /* of a thread */
};

static void *at(const struct hd_cpu_run *r, const int *views, int i) {
    return i < 0 ? NULL : r->at[views[i]];
}

static void sequence(void *arg, int64_t q, int thread) {
    const struct hd_cpu_share *h = arg;
    const struct recurrent *k = h->s->state;
    const int *in = h->s->in, *out = h->s->out;
    hd_q_rnn_run(&k->of, q, at(h->r, in, 0), at(h->r, in, k->h0), at(h->r, in, k->c0),
                 at(h->r, out, k->y), at(h->r, out, k->states),
                 (uint8_t *)h->r->scratch + (size_t)thread * k->scratch);
}

static hd_status run(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct recurrent *k = s->state;
    struct hd_cpu_share h = {r, s};
    hd_parallel(k->threads, k->of.of.directions * k->of.of.batch, sequence, &h);
    return HD_OK;
}

/* [rows][n] to rows and elements that are padded by zeros. */
static const int8_t *pad(struct hd_cpu_plan *p, const int8_t *m, int64_t rows, int64_t n) {
    int64_t depth = hd_round_up(n, HD_Q_RNN_DEPTH);
    int8_t *to = hd_new_array(p->arena, int8_t, (size_t)((rows + HD_Q_RNN_ROWS) * depth));
    memset(to, 0, (size_t)((rows + HD_Q_RNN_ROWS) * depth));
    for (int64_t i = 0; i < rows; i++) memcpy(to + i * depth, m + i * n, (size_t)n);
    return to;
}

/* Constants of a direction's part: 0 of x, 1 of h. False: not all are constant. */
static bool take_constants(struct hd_cpu_plan *p, const struct hd_node *n, struct hd_q_rnn *k) {
    const int64_t rows = k->of.gates * k->of.hidden, room = rows + HD_Q_RNN_ROWS;
    const int8_t *m[2] = {hd_cpu_const(p, n->in[1]), hd_cpu_const(p, n->in[2])};
    const int32_t *bias = hd_cpu_const(p, n->in[3]);
    const float *scale = hd_cpu_const(p, n->in[4]);
    if (!m[0] || !m[1] || !bias || !scale) return false;
    for (int d = 0; d < k->of.directions; d++)
        for (int part = 0; part < 2; part++, bias += rows, scale += rows) {
            int64_t depth = part ? k->of.hidden : k->of.input;
            int32_t *b = hd_new_array(p->arena, int32_t, (size_t)room);
            float *s = hd_new_array(p->arena, float, (size_t)room);
            for (int64_t i = 0; i < room; i++) b[i] = i < rows ? bias[i] : 0;
            for (int64_t i = 0; i < room; i++) s[i] = i < rows ? hd_flush(scale[i]) : 0;
            k->m[d][part] = pad(p, m[part] + d * rows * depth, rows, depth);
            k->bias[d][part] = b;
            k->scale[d][part] = s;
        }
    return true;
}

static bool given(const struct hd_node *n, int i) {
    return i < n->n_in && n->in[i] >= 0;
}

hd_status hd_cpu_q_recurrent(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *t[7];
    struct recurrent k = {.h0 = -1, .c0 = -1, .y = -1, .states = -1};
    int in[3], out[2], n_in = 0, n_out = 0;
    for (int i = 0; i < 7; i++) t[i] = given(n, i) ? hd_cpu_tensor(p, n->in[i]) : NULL;
    TRY(hd_qrnn_get(p->ctx, n, t, &k.of.of));
    const struct hd_qrnn *s = &k.of.of;
    const int64_t sequences = s->directions * s->batch;
    if (!hd_cpu_small_zp(s->x_zp) || !hd_cpu_small_zp(s->y_zp) || !s->steps || !sequences ||
        !s->hidden || !s->input || !take_constants(p, n, &k.of))
        return HD_OK;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in[n_in++]));
    for (int i = 5; i < 7; i++) {
        if (!given(n, i)) continue;
        *(i == 5 ? &k.h0 : &k.c0) = n_in;
        TRY(hd_cpu_need(p, n->in[i], hd_cpu_dense, &in[n_in++]));
    }
    for (int i = 0; i < n->n_out && i < 2; i++) {
        if (n->out[i] < 0) continue;
        *(i ? &k.states : &k.y) = n_out;
        out[n_out++] = hd_cpu_make(p, n->out[i], hd_cpu_dense, 0);
    }
    int64_t products = s->gates * s->hidden * (s->hidden + s->input) * s->steps * sequences;
    k.threads = products < PARALLEL_PRODUCTS ? 1 : (int)hd_min(p->threads, sequences);
    k.scratch = hd_q_rnn_scratch(&k.of);
    hd_cpu_scratch(p, k.scratch * (size_t)k.threads);
    struct hd_cpu_step *step = hd_cpu_step(p, node, "int8", n_in, in, n_out, out);
    step->run = run;
    step->state = hd_dup(p->arena, &k, sizeof k);
    *out_taken = true;
    return HD_OK;
}

#endif
