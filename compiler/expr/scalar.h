/* One element: values of the types of tensor expressions and what operators make of them. The
 * interpreters of expressions and of loops both call this. */
#ifndef HD_EXPR_SCALAR_H
#define HD_EXPR_SCALAR_H

#include "compiler/expr/expr.h"

union hd_scalar { /* u64 by its bits */
    int64_t i;
    double f;
};

bool hd_scalar_is_float(int type);
union hd_scalar hd_scalar_load(const void *data, int type, int64_t i);
void hd_scalar_store(void *data, int type, int64_t i, union hd_scalar v);
/* An operator of expr.def on operands of `type`; a truth value is an integer. */
union hd_scalar hd_scalar_apply(enum hd_expr_op op, int type, union hd_scalar a, union hd_scalar b);
/* Float to integer: rounded as said, saturating, NaN gives 0. Integer to integer: saturating or
 * wrapping. To float: nearest, ties to even. To bool: v != 0. */
union hd_scalar hd_scalar_cast(union hd_scalar v, int from, int to, enum hd_expr_round how,
                               bool saturate);
/* What a reduction starts with, and one step of it (not the arg ones). */
union hd_scalar hd_scalar_initial(enum hd_expr_reduce r, int type);
union hd_scalar hd_scalar_reduce(enum hd_expr_reduce r, int type, union hd_scalar acc,
                                 union hd_scalar v);
/* True when an arg reduction takes v instead of the best so far: NaN is taken, and stays. */
bool hd_scalar_better(enum hd_expr_reduce r, int type, union hd_scalar v, union hd_scalar best);
/* Least and largest value of an integer type (u64: largest is -1, by its bits). */
void hd_scalar_limits(int type, int64_t *lo, int64_t *hi);

#endif
