/* Recurrent networks of bytes on device cpu: qlstm, qgru, qrnn. Bit-equal to golden
 * (docs/numerics.md) on every processor that hd_q_available(). Nothing here allocates. */
#ifndef HD_CPU_REF_CPU_INT8_RNN_H
#define HD_CPU_REF_CPU_INT8_RNN_H

#include "compiler/ir/rnn.h"

enum { HD_Q_RNN_DEPTH = 16, HD_Q_RNN_ROWS = 8 }; /* that rows, their elements are padded to */

/* Of each direction, of x and of h: weights [rows][depth], padded by 0; bias and scale [rows]. */
struct hd_q_rnn {
    struct hd_qrnn of;
    const int8_t *m[2][2];
    const int32_t *bias[2][2];
    const float *scale[2][2]; /* flushed */
};
/* hd_fn of TANH or SIGMOID; n is a multiple of 8. */
void hd_q_fn_run(bool sigmoid, const float *x, float *y, int64_t n);
/* Of one sequence; a multiple of 64. */
size_t hd_q_rnn_scratch(const struct hd_q_rnn *k);
/* Sequence q of directions * batch. x [S,B,I]; h0, c0 [D,B,H] or NULL: bytes, for a gru and c0
 * binary32; y [S,D,B,H], states [D,B,H] or NULL. scratch: 64-byte aligned. */
void hd_q_rnn_run(const struct hd_q_rnn *k, int64_t q, const uint8_t *x, const void *h0,
                  const float *c0, uint8_t *y, float *states, void *scratch);

#endif
