/* Elementwise functions of one tensor: a cone of float nodes with one variable at its tip. */
#ifndef HD_PASS_CONE_H
#define HD_PASS_CONE_H

#include "compiler/ir/ir.h"

/* The tensor that t is an elementwise function of: every other operand on the way is a constant of
 * one element, and all shapes are that of t; t, the tensor and what is between are f32, comparisons
 * bool. t itself when it is no such function.
 * The search ends at tensors with stop[id] set (NULL: none), and after a few operations. */
int hd_cone_root(const hd_graph *g, int t, const bool *stop);

/* y[0..n-1] = the function of x[0..n-1] that makes t of root, by golden's kernels.
 * Errors: those of a kernel. */
hd_status hd_cone_eval(hd_ctx *ctx, const hd_graph *g, int t, int root, const float *x, int n,
                       float *y);

#endif
