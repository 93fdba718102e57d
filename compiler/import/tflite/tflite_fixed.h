/* Private to compiler/import/tflite: layers that round in fixed point. */
#ifndef HD_IMPORT_TFLITE_FIXED_H
#define HD_IMPORT_TFLITE_FIXED_H

#include "compiler/import/tflite/tflite.h"

enum hd_tfl_rounds {
    HD_TFL_ONCE,   /* (acc * m + half) >> s */
    HD_TFL_TWICE,  /* the high half of the product, then the shift: gemmlowp's way */
    HD_TFL_REDUCED /* once, with a factor of 15 bits: sums of 64 bits */
};

/* scale = multiplier * 2^(shift - 31), multiplier of 31 bits; false: kernels have no such shift. */
struct hd_tfl_factor {
    int64_t multiplier;
    int shift;
};
bool hd_tfl_factor_of(double scale, struct hd_tfl_factor *out);

/* Of expressions: the high half of a doubled product, halves away from zero; and a shift to the
 * right, rounded alike (k: its mask). */
#define HD_TFL_HIGH(p) "(" p " + select(" p " >= 0, 1073741824, -1073741823))/2147483648\n"
#define HD_TFL_SHIFTED(h, s, k)                                                                    \
    "(" h " >> " s ") + select((" h " & " k ") > (" k " >> 1) + select(" h " < 0, 1, 0), 1, 0)"
/* A node of an expression for result 0; %s in text is its type. Its parameters zp, lo, hi are set.
 */
hd_status hd_tfl_fixed_expression(struct hd_tfl *m, const char *text, int64_t activation, int n_in,
                                  const int *in, int *node, int *out);

struct hd_tfl_sums { /* products of integers, channels last */
    const struct hd_tfl_tensor *x, *w;
    struct hd_tfl_tensor *bias; /* NULL = none */
    int64_t n;                  /* channels */
    int64_t activation;
    enum hd_tfl_rounds rounds;
};

/* Whether the operation in work, of these operands (w NULL: none), is to round in fixed point. */
bool hd_tfl_is_fixed(struct hd_tfl *m, const struct hd_tfl_tensor *x, const struct hd_tfl_tensor *w,
                     int64_t activation);
/* How kernels of products of x round: int8 gemm once, depthwise ones and uint8 twice. */
enum hd_tfl_rounds hd_tfl_rounds_of(const struct hd_tfl_tensor *x, bool depthwise);
/* Result 0 of the operation from its sums x. */
hd_status hd_tfl_scaled(struct hd_tfl *m, const struct hd_tfl_sums *s, int x);
/* Sum or difference of operands 0 and 1. */
hd_status hd_tfl_fixed_sum(struct hd_tfl *m, bool minus, int64_t activation);
/* Average pool of operand 0, whose scale is that of the result. */
hd_status hd_tfl_fixed_average(struct hd_tfl *m, int64_t activation);
/* Product of operands 0 and 1; alpha > 0; mean of n values, whose sums are given. */
hd_status hd_tfl_fixed_product(struct hd_tfl *m, int64_t activation);
hd_status hd_tfl_fixed_leaky(struct hd_tfl *m, float alpha);
hd_status hd_tfl_fixed_mean(struct hd_tfl *m, int sums, int64_t n);
/* A node with the sums of stored x and w: `bytes` (an operation with zero points; HD_IR_OPS = none)
 * or `wide`, in binary64. The caller sets its attributes. */
hd_status hd_tfl_integer_product(struct hd_tfl *m, enum hd_ir_op bytes, enum hd_ir_op wide, int x,
                                 int w, const struct hd_tfl_sums *s, int *node, int *out);

#endif
