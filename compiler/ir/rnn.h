/* What lstm, gru and rnn share: sizes and activation functions, read once and checked. */
#ifndef HD_IR_RNN_H
#define HD_IR_RNN_H

#include "compiler/ir/ir.h"

/* name, value of x; default alpha and beta (ONNX: those of the operation of that name) */
#define HD_RNN_ACT_LIST(X)                                                                         \
    X(Relu, x > 0 ? x : 0, 0, 0)                                                                   \
    X(Tanh, tanh(x), 0, 0)                                                                         \
    X(Sigmoid, 1 / (1 + exp(-x)), 0, 0)                                                            \
    X(Affine, alpha *x + beta, 1, 0)                                                               \
    X(LeakyRelu, x >= 0 ? x : alpha * x, 0.01f, 0)                                                 \
    X(ThresholdedRelu, x >= alpha ? x : 0, 1, 0)                                                   \
    X(ScaledTanh, alpha *tanh(beta *x), 1, 1)                                                      \
    X(HardSigmoid, fmin(fmax(alpha *x + beta, 0), 1), 0.2f, 0.5f)                                  \
    X(Elu, x >= 0 ? x : alpha * (exp(x) - 1), 1, 0)                                                \
    X(Softsign, x / (1 + fabs(x)), 0, 0)                                                           \
    X(Softplus, x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)), 0, 0)

enum hd_rnn_act {
#define X(name, ...) HD_RNN_##name,
    HD_RNN_ACT_LIST(X)
#undef X
        HD_RNN_ACTS
};

struct hd_rnn_fn {
    enum hd_rnn_act act;
    float alpha, beta;
};

struct hd_rnn {
    int gates;      /* 4 lstm, 3 gru, 1 rnn */
    int directions; /* 1, 2 */
    bool reverse;   /* the only direction, when there is one */
    bool batch_first;
    int64_t steps, batch, input, hidden;
    float clip;                 /* of what f and g get; 0 = none */
    struct hd_rnn_fn fn[2 * 3]; /* [direction][f, g, h]: lstm 3, gru 2, rnn 1 of each direction */
};

/* in: shapes of operands x, w, r, b?, sequence_lens?, initial_h?, then for lstm initial_c?, p?;
 * NULL = left out. Attributes: hidden_size direction layout clip activations activation_alpha
 * activation_beta. `activations` is a list of names with commas. Checks shapes, too. */
hd_status hd_rnn_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *const *in,
                     struct hd_rnn *out);

/* qlstm, qgru, qrnn: integers outside, gates in binary32 (docs/numerics.md). */
struct hd_qrnn {
    int gates;      /* 4 qlstm, 3 qgru, 1 qrnn */
    int directions; /* 1, 2 */
    bool reverse;   /* the only direction, when there is one */
    bool linear_before_reset, no_tanh;
    int64_t steps, batch, input, hidden;
    bool x_signed, y_signed;
    int32_t x_zp, y_zp, lo, hi;
    float scale; /* 1 / step of y and of what the recurrence reads */
};

/* t: operands, NULL = left out. Checks types and shapes. */
hd_status hd_qrnn_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *const *t,
                      struct hd_qrnn *out);

#endif
