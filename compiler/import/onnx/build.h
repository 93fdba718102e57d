/* Builds what one ONNX operation becomes when that is several of the IR's. Tensors are ids; after
 * the first error everything gives -1 and does nothing.
 *
 *   struct hd_onnx_build b = {m, n, HD_OK};
 *   int gate = hd_build(&b, HD_IR_sigmoid, "gate", 1, (int[]){x});
 *   return hd_build_end(&b, 0, hd_build(&b, HD_IR_mul, "y", 2, (int[]){x, gate}));
 */
#ifndef HD_IMPORT_ONNX_BUILD_H
#define HD_IMPORT_ONNX_BUILD_H

#include "compiler/import/onnx/onnx_ops.h"

struct hd_onnx_build {
    struct hd_importer *m;
    const struct hd_onnx_node *n;
    hd_status s;
};

/* Result of a node without attributes; its name is that of n and the suffix. */
int hd_build(struct hd_onnx_build *b, enum hd_ir_op op, const char *suffix, int n_in,
             const int *in);
int hd_build_two(struct hd_onnx_build *b, enum hd_ir_op op, const char *suffix, int x, int y);
int hd_build_cast(struct hd_onnx_build *b, const char *suffix, int x, hd_dtype t); /* x itself */
int hd_build_reshape(struct hd_onnx_build *b, const char *suffix, int x, int rank,
                     const int64_t *dim);
int hd_build_transpose(struct hd_onnx_build *b, const char *suffix, int x, int rank,
                       const int64_t *perm);
/* Along one axis. */
int hd_build_slice(struct hd_onnx_build *b, const char *suffix, int x, int64_t axis, int64_t from,
                   int64_t to, int64_t step);
int hd_build_concat(struct hd_onnx_build *b, const char *suffix, int64_t axis, int n,
                    const int *in);
/* A scalar of type t. */
int hd_build_scalar(struct hd_onnx_build *b, const char *suffix, hd_dtype t, double v);
/* A constant as f32 is converted, another tensor cast. */
int hd_build_f32(struct hd_onnx_build *b, const char *suffix, int x);
/* Output i of n is `value`, when it is wanted; the status so far. */
hd_status hd_build_end(struct hd_onnx_build *b, size_t i, int value);

#endif
