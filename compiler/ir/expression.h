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

/* What node n computes, as an expression of its operands (compiler/ir/meaning.def): text for
 * hd_expression_bind, from the arena; NULL = it has none. in[i] NULL = left out; the values of
 * operands that are axes or shapes are looked at when they are there. out: result 0. */
const char *hd_expression_of(hd_arena *a, const struct hd_node *n, int n_in,
                             const struct hd_tensor *const *in, const struct hd_tensor *out);

#endif
