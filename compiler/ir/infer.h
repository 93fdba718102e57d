/* Private to compiler/ir: what infer.c says about a node's output, for verify.c to compare. */
#ifndef HD_IR_INFER_H
#define HD_IR_INFER_H

#include "compiler/ir/ir.h"

/* Fills dtype, rank and dim of *out. Checks arity and operands; changes nothing in g. */
hd_status hd_infer_output(hd_ctx *ctx, const hd_graph *g, const struct hd_node *n,
                          struct hd_tensor *out);

#endif
