/* LSTM and GRU of device cpu, f32, with the usual activations. Sizes: S steps, B batch, I input,
 * H hidden; Hp = H rounded up to HD_RNN_PAD. Gates lie Hp apart. */
#ifndef HD_CPU_REF_CPU_RNN_H
#define HD_CPU_REF_CPU_RNN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HD_RNN_PAD = 16 };

struct hd_cpu_rnn {
    int gates;                                   /* 4: lstm (i, o, f, c), 3: gru (z, r, h) */
    int directions;                              /* 1, 2 */
    bool reverse;                                /* the only direction, when there is one */
    bool reset_after;                            /* gru: linear_before_reset */
    int64_t steps, batch, input, hidden, padded; /* padded: Hp */
    /* per direction, packed: wt [I][gates * Hp], rt [H][gates * Hp], bias [gates * Hp] for x, and
     * rb [gates * Hp] that is added to the recurrent part */
    const float *wt[2], *rt[2], *bias[2], *rb[2];
    size_t scratch_bytes;
};

/* x [S][B][I]; h0, c0 [directions][B][H] or NULL = 0; y [S][directions][B][H], yh, yc
 * [directions][B][H] or NULL. scratch: scratch_bytes, 64-byte aligned. */
void hd_cpu_rnn_run(const struct hd_cpu_rnn *r, const float *x, const float *h0, const float *c0,
                    float *y, float *yh, float *yc, void *scratch);
size_t hd_cpu_rnn_scratch(const struct hd_cpu_rnn *r);

#endif
