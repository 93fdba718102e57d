/* Integer kernels of device cpu for attention and for pairs of tensors: products of two operands
 * that are both computed, softmax and layer normalisation of rows, elementwise pairs that
 * broadcast, tables. Bit-equal to golden (docs/numerics.md) on every processor that
 * hd_q_available(). Nothing here allocates. */
#ifndef HD_CPU_REF_CPU_INT8_ROWS_H
#define HD_CPU_REF_CPU_INT8_ROWS_H

#include "cpu_ref/cpu_int8.h"

/* y [m,n] = requant(sum (a [m,depth] - a_zp) * (b [depth,n] - b_zp) * scale) */
struct hd_q_matmul {
    int64_t m, n, depth;
    int32_t a_zp, b_zp; /* each fits int16 beside a byte */
    bool a_signed, b_signed;
    float scale; /* finite */
    struct hd_q_out out;
};
size_t hd_q_matmul_scratch(const struct hd_q_matmul *p); /* bytes; 64-byte aligned */
void hd_q_matmul_run(const struct hd_q_matmul *p, const void *a, const void *b, void *y,
                     void *scratch);

/* Of rows of n bytes that lie side by side. */
struct hd_q_softmax {
    int64_t n;
    bool x_signed;
    float x_scale, scale;
    struct hd_q_out out;
    const int32_t *exps; /* HD_Q_EXPS, of hd_q_softmax_exps */
};
enum { HD_Q_EXPS = 256 * 257 / 2 }; /* of each greatest byte, those up to it */
void hd_q_softmax_exps(const struct hd_q_softmax *p, int32_t *exps);
/* scratch: n + 16 int32 */
void hd_q_softmax_run(const struct hd_q_softmax *p, int64_t rows, const void *x, void *y,
                      int32_t *scratch);

/* y = requant((x - mean) / sqrt(var + epsilon) * scale + bias); not centred: x - x_zp instead. */
struct hd_q_norm {
    int64_t n;
    bool x_signed, centred;
    int32_t x_zp;
    float epsilon;
    struct hd_q_out out;
};
/* scale, bias [n]; scratch: n + 16 float */
void hd_q_norm_run(const struct hd_q_norm *p, int64_t rows, const void *x, const float *scale,
                   const float *bias, void *y, float *scratch);

/* A run of n results: qadd or qmul of operands that lie side by side, or are one byte (step 0). */
struct hd_q_pair {
    bool product;
    struct hd_q_sum of; /* of a product the scale of b is 1 */
};
void hd_q_pair_run(const struct hd_q_pair *p, const uint8_t *a, bool a_steps, const uint8_t *b,
                   bool b_steps, uint8_t *y, int64_t n);

#endif
