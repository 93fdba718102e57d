/* The equation of an einsum, resolved against its operands: "ij,jk->ik", with "..." for leading
 * dimensions that broadcast, and without "->" the labels that appear once, in alphabetical order.
 */
#ifndef HD_IR_EINSUM_H
#define HD_IR_EINSUM_H

#include "compiler/ir/ir.h"

enum { HD_EINSUM_OPERANDS = 8, HD_EINSUM_LABELS = 16 };

/* Labels 0 .. n_out-1 are the dimensions of the result, the others are summed over. */
struct hd_einsum {
    int n_labels, n_out;
    int64_t size[HD_EINSUM_LABELS];
    int label[HD_EINSUM_OPERANDS][HD_MAX_RANK]; /* of each dimension of each operand */
};

/* x: the n operands. Errors say what is wrong with the equation; the caller adds where. */
hd_status hd_einsum_parse(hd_ctx *ctx, const char *equation, int n,
                          const struct hd_tensor *const *x, struct hd_einsum *out);

#endif
