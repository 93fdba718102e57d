/* Evaluates value nodes of a bound expression: what both interpreters share. */
#ifndef HD_EXPR_EVAL_H
#define HD_EXPR_EVAL_H

#include "compiler/expr/scalar.h"

struct hd_eval {
    const struct hd_expr *f;
    const void **data;  /* of each tensor */
    const int64_t *var; /* values of the variables */
    bool strict;        /* every access is looked at, not only gathers */
    const char *bad;    /* set when a gather went outside: the name of its tensor */
    int64_t bad_index, bad_size;
};

union hd_scalar hd_eval_node(struct hd_eval *e, int node);
/* Position in tensor of the element at n indexes, nodes; -1 = outside, and then bad is set when
 * `must` is. */
int64_t hd_eval_position(struct hd_eval *e, int tensor, int n, const int *index, bool must);

#endif
