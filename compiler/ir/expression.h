/* The tensor expressions of nodes: operation `expression`, and what operations mean. */
#ifndef HD_IR_EXPRESSION_H
#define HD_IR_EXPRESSION_H

#include "compiler/expr/expr.h"
#include "compiler/ir/ir.h"

/* Expression `text` with the operands of node n; in[i] NULL = left out. Attributes that are numbers
 * give the scalars of their names; element k of a list gives the scalar <name><k>. Errors name the
 * node. */
hd_status hd_expression_bind(hd_ctx *ctx, hd_arena *a, const struct hd_node *n, const char *text,
                             int n_in, const struct hd_tensor *const *in, struct hd_expr **out);

#endif
