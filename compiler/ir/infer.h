/* Private to compiler/ir, and golden's: what shape inference says about a node's outputs. */
#ifndef HD_IR_INFER_H
#define HD_IR_INFER_H

#include "compiler/ir/ir.h"

/* Fills out[0 .. n->n_out): dtype, rank, dim, known. Checks arity and operands.
 *   t    the tensors that n's ids refer to: g->tensors, or a copy whose shapes and data are those
 *        of a run (golden)
 * An output stays unknown when an operand is unknown, when its shape depends on a value that t
 * lacks, and when only the kernel can tell it (nonzero). */
hd_status hd_infer_outputs(hd_ctx *ctx, const hd_graph *g, const struct hd_tensor *t,
                           const struct hd_node *n, struct hd_tensor *out);

#endif
