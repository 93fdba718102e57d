/* Private to compiler/import/tflite: layers that round in fixed point. */
#ifndef HD_IMPORT_TFLITE_FIXED_H
#define HD_IMPORT_TFLITE_FIXED_H

#include "compiler/import/tflite/tflite.h"

enum hd_tfl_rounds {
    HD_TFL_ONCE,   /* (acc * m + half) >> s */
    HD_TFL_TWICE,  /* the high half of the product, then the shift: gemmlowp's way */
    HD_TFL_REDUCED /* once, with a factor of 15 bits: sums of 64 bits */
};

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
/* A node with the sums of stored x and w: `bytes` (an operation with zero points; HD_IR_OPS = none)
 * or `wide`, in binary64. The caller sets its attributes. */
hd_status hd_tfl_integer_product(struct hd_tfl *m, enum hd_ir_op bytes, enum hd_ir_op wide, int x,
                                 int w, const struct hd_tfl_sums *s, int *node, int *out);

#endif
