/* Rewrites of bound expressions, in place. What they compute stays the same, but for the rounding
 * of floats where that is said. */
#ifndef HD_EXPR_REWRITE_H
#define HD_EXPR_REWRITE_H

#include "compiler/expr/expr.h"

/* What is known of indexes when variable v runs from 0 to extent[v] - 1: c + 0, c * 1, c / n of a
 * variable below n, comparisons and pads that always hold, selects of such. Returns the node that
 * stands for `node`; nodes are changed in place. */
int hd_expr_simplify_node(struct hd_expr *f, int node, const int64_t *extent);
void hd_expr_simplify(struct hd_expr *f); /* of all statements */
/* f64 inside of it becomes f32; parameters and results keep their types. For devices on which f64
 * is slow or absent, where the bound of the operation allows it. */
void hd_expr_narrow(struct hd_expr *f);
/* Sums of products (i32(x) - a)*(i32(w) - b) of bytes become sums of i32(x)*i32(w), what processors
 * have an instruction for; their reader subtracts a times the sum of w, and b times that of x.
 * Integers wrap, so nothing changes. */
void hd_expr_split_offsets(struct hd_expr *f);
/* Every reduction is read by one statement, element by element over the same variables, and is no
 * result; else it is copied to what was defined. So it can be computed inside its reader. */
void hd_expr_split_sums(struct hd_expr *f);
/* The statement that alone reads statement `s`, a reduction, at its own variables; -1 = none. */
int hd_expr_reader(const struct hd_expr *f, int s);

/* Dimension d of the tensor is what was dimension order[d]. Whoever gives or takes the tensor has
 * to follow, when it is a parameter or a result. */
void hd_expr_permute(struct hd_expr *f, int tensor, const int *order);

/* f, then g, bound both: parameter k of g is tensor from[k] of f, or a further parameter when that
 * is -1. The results are g's. NULL: too many tensors. */
struct hd_expr *hd_expr_join(hd_arena *a, const struct hd_expr *f, const struct hd_expr *g,
                             const int *from);
/* The statement that makes the tensor becomes part of the only one that reads it, which does so at
 * its own elements alone. A reduction stays, for hd_expr_reader. False: it cannot, f is of no use
 * any more. */
bool hd_expr_inline(struct hd_expr *f, int tensor);
/* The last statement of g, which makes its only result, reads the parameter at its own elements;
 * nothing else reads it. */
bool hd_expr_pointwise(const struct hd_expr *g, int param);

#endif
