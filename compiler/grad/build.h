/* Private to compiler/grad: nodes added one by one, with an error that stays.
 *
 *   int d = hd_b(b, mul, g, hd_b(b, cos, x));     // -1 after an error, which b->status keeps
 *
 * A function that is given -1 for an operand that is not optional does nothing and gives -1. */
#ifndef HD_GRAD_BUILD_H
#define HD_GRAD_BUILD_H

#include "compiler/ir/ir.h"

enum { HD_B_NONE = -2 }; /* an optional operand that is left out */

struct hd_back {
    hd_ctx *ctx;
    hd_graph *g;
    hd_arena *arena;
    const char *prefix; /* of the names of nodes */
    hd_status status;
};

#define hd_b(b, op, ...)                                                                           \
    hd_b_op(b, HD_IR_##op, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})

int hd_b_op(struct hd_back *b, enum hd_ir_op op, int n, const int *in);
/* With attributes: start, set, end. Ids of nodes; end gives result 0, of n_out in all. */
int hd_b_start(struct hd_back *b, enum hd_ir_op op, int n, const int *in, int n_out);
void hd_b_int(struct hd_back *b, int node, const char *name, int64_t v);
void hd_b_float(struct hd_back *b, int node, const char *name, double v);
void hd_b_ints(struct hd_back *b, int node, const char *name, int n, const int64_t *v);
void hd_b_string(struct hd_back *b, int node, const char *name, const char *v);
void hd_b_copy(struct hd_back *b, int node, const struct hd_node *from); /* its attributes */
int hd_b_end(struct hd_back *b, int node);

struct hd_tensor hd_b_shape(const struct hd_back *b, int t); /* a copy: tensors move */
int hd_b_number(struct hd_back *b, hd_dtype t, double v);    /* a constant, rank 0 */
int hd_b_vector(struct hd_back *b, int n, const int64_t *v); /* i64 [n] */
int hd_b_filled(struct hd_back *b, const struct hd_tensor *like, double v);
int hd_b_reshape(struct hd_back *b, int x, int rank, const int64_t *dim);
int hd_b_like(struct hd_back *b, int x, int t); /* reshape to the shape of t */
int hd_b_transpose(struct hd_back *b, int x, const int64_t *perm);
int hd_b_expand(struct hd_back *b, int x, int rank, const int64_t *dim);
int hd_b_cast(struct hd_back *b, int x, hd_dtype to); /* x itself when it is of the type */
/* Over the n axes; every one when n is 0. */
int hd_b_reduce(struct hd_back *b, enum hd_ir_op op, int x, int n, const int64_t *axes, bool keep);
int hd_b_slice(struct hd_back *b, int x, int axis, int64_t from, int64_t to);
int hd_b_pad(struct hd_back *b, int x, int axis, int64_t before, int64_t after); /* by 0 */
int hd_b_concat(struct hd_back *b, int n, const int *x, int64_t axis);
int hd_b_softmax(struct hd_back *b, int x, int64_t axis);
/* Sums of x over what broadcasting to its shape repeated: the shape of t. */
int hd_b_unbroadcast(struct hd_back *b, int x, const struct hd_tensor *t);
/* Adds g to zeros of shape x along an axis, at places index (any rank): adjoint of gather. */
int hd_b_scatter(struct hd_back *b, int g, int index, const struct hd_tensor *x, int64_t axis);
/* An error of the node, once. Gives -1. */
int hd_b_fail(struct hd_back *b, const struct hd_node *n, const char *why);

#endif
