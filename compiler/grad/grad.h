/* Gradients: the backward graph of a result, added to the graph it comes from.
 *
 *   int w[2] = {weights, bias}, dw[2];
 *   TRY(hd_grad(ctx, g, loss, w, 2, dw));        // dw[i]: tensors of the shapes of w[i]
 *
 * Reverse mode: one walk from the result back. The backward graph is made of the operations of the
 * IR, so every device runs it, every pass may change it, and hd_grad may be called again on it. The
 * table of adjoints is grad.def. */
#ifndef HD_GRAD_GRAD_H
#define HD_GRAD_GRAD_H

#include "compiler/ir/ir.h"

/* The gradient goes straight through: what arrives at `value` goes to `shadow` instead, which has
 * its shape and a float type. So a value that integers compute has the derivative of the float
 * computation beside it. */
struct hd_grad_through {
    int value, shadow;
};

/* Tensors out[i] with the derivative of `loss` by wrt[i], of its type and shape; zeros where the
 * loss does not depend on it. A loss of more than one element counts as their sum. Needs shapes,
 * and floats of one type. Errors name the node and the reason: HD_UNSUPPORTED, an operation on the
 * way has no derivative here; HD_INVALID. After an error the graph has nodes that no output needs.
 */
hd_status hd_grad(hd_ctx *ctx, hd_graph *g, int loss, const int *wrt, int n_wrt, int *out);
/* The same with values that are passed straight through. */
hd_status hd_grad_straight(hd_ctx *ctx, hd_graph *g, int loss, const int *wrt, int n_wrt,
                           const struct hd_grad_through *through, int n_through, int *out);

/* The same as hd_grad; and what reads an operation that is made of others for its derivative reads
 * their value, so that it is not computed twice. Its bits may differ by rounding. */
hd_status hd_grad_in_place(hd_ctx *ctx, hd_graph *g, int loss, const int *wrt, int n_wrt, int *out);

/* Whether an operation has an adjoint; *out_why = the reason where it has none. */
bool hd_grad_has(enum hd_ir_op op, const char **out_why);

#endif
