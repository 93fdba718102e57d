/* Private to compiler/import/onnx: helpers of the import_<Op> functions, and their prototypes. */
#ifndef HD_IMPORT_ONNX_OPS_H
#define HD_IMPORT_ONNX_OPS_H

#include "compiler/import/onnx/onnx.h"

#define ONNX_OP(name, ...)                                                                         \
    hd_status import_##name(struct hd_importer *m, const struct hd_onnx_node *n);
#define ONNX_ANY(name, ...)                                                                        \
    hd_status import_##name(struct hd_importer *m, const struct hd_onnx_node *n);
#define ONNX_MS(name, ...)                                                                         \
    hd_status import_ms_##name(struct hd_importer *m, const struct hd_onnx_node *n);
#define ONNX_TRAINING(name, ...)                                                                   \
    hd_status import_training_##name(struct hd_importer *m, const struct hd_onnx_node *n);
#define ONNX_QONNX(name, ...)                                                                      \
    hd_status import_qonnx_##name(struct hd_importer *m, const struct hd_onnx_node *n);
#include "compiler/import/onnx/onnx_ops.def"

hd_status hd_onnx_bad(struct hd_importer *m, const struct hd_onnx_node *n, hd_status code,
                      const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Tensor id of input i, -1 when left out. */
int hd_onnx_in(const struct hd_importer *m, const struct hd_onnx_node *n, size_t i);
const struct hd_tensor *hd_onnx_tensor(const struct hd_importer *m, const struct hd_onnx_node *n,
                                       size_t i);

const struct hd_onnx_attr *hd_onnx_attr(const struct hd_onnx_node *n, const char *name);
int64_t hd_onnx_int(const struct hd_onnx_node *n, const char *name, int64_t def);
float hd_onnx_float(const struct hd_onnx_node *n, const char *name, float def);

/* A list of integers from attribute `name`, or from constant input `i` when the attribute is absent
 * and i >= 0. *out_n = -1 when neither is there. */
hd_status hd_onnx_int_list(struct hd_importer *m, const struct hd_onnx_node *n, const char *name,
                           int i, int64_t *out, int max, int *out_n);
/* axis in -rank..rank-1 (or rank, when end is allowed) -> 0.. */
hd_status hd_onnx_axis(struct hd_importer *m, const struct hd_onnx_node *n, int64_t axis,
                       int64_t rank, int64_t *out);

/* Tensor id of output i, -1 when left out. */
int hd_onnx_out(const struct hd_importer *m, const struct hd_onnx_node *n, size_t i);
const char *hd_onnx_string(const struct hd_onnx_node *n, const char *name, const char *def);
/* A new constant named after n and the suffix, for attributes that became operands. */
int hd_onnx_const(struct hd_importer *m, const struct hd_onnx_node *n, const char *suffix,
                  hd_dtype t, int rank, const int64_t *dim, const void *data);
/* A scalar constant of the type that tensor `like` has, which must be known. */
hd_status hd_onnx_const_like(struct hd_importer *m, const struct hd_onnx_node *n,
                             const char *suffix, double v, int like, int *out);
/* An operand that newer opsets take as input and older ones as attribute `name`: input i, or a new
 * i64 list, or -1. */
int hd_onnx_ints_in(struct hd_importer *m, const struct hd_onnx_node *n, size_t i,
                    const char *name);
/* Copies attributes (integers, floats, lists, strings; a list of strings with commas between) by
 * name to an IR node; NULL = all of n's. */
void hd_onnx_copy_attrs(struct hd_importer *m, const struct hd_onnx_node *n, int node,
                        const char *const *names);

/* Adds an IR node that writes the outputs of n, as many as op can have; the id. Inputs that are -1
 * at the end are dropped. */
int hd_onnx_emit(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op, int n_in,
                 const int *in);
/* The same, with a new tensor as output; *out_tensor is it. */
int hd_onnx_emit_inner(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op,
                       const char *suffix, int n_in, const int *in, int *out_tensor);
/* Window attributes and group of a conv node that was emitted for n, then hd_onnx_done().
 * hd_graph_infer_node() resolves auto_pad when it knows the shapes. */
hd_status hd_onnx_conv_attrs(struct hd_importer *m, const struct hd_onnx_node *n, int node);
/* A quantised operand as float: a dequantize of inputs x, scale, zero (left out = 0); the axis of
 * several scales. */
hd_status hd_onnx_dequantized(struct hd_importer *m, const struct hd_onnx_node *n,
                              const char *suffix, size_t x, size_t scale, size_t zero, int64_t axis,
                              int *out);
/* A bias i32 whose scale is x_scale * w_scale, which are constant; all three are inputs. */
hd_status hd_onnx_quantized_bias(struct hd_importer *m, const struct hd_onnx_node *n,
                                 size_t x_scale, size_t w_scale, size_t bias, int *out);
/* Output 0 of n is `value`, quantised by inputs scale and zero (left out = 0 of this type). */
hd_status hd_onnx_quantized(struct hd_importer *m, const struct hd_onnx_node *n, int value,
                            size_t scale, size_t zero, hd_dtype type);
/* After attributes are set: shapes. Small integer results of constants become constants. */
hd_status hd_onnx_done(struct hd_importer *m, int node);

#endif
