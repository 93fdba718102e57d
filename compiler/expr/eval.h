/* Evaluates value nodes of a bound expression: what both interpreters share. */
#ifndef HD_EXPR_EVAL_H
#define HD_EXPR_EVAL_H

#include "compiler/expr/scalar.h"

struct hd_eval {
    const struct hd_expr *f;
    const void **data;  /* of each tensor */
    const int64_t *var; /* values of the statement's variables */
    const char *bad;    /* set when a gather went outside: the name of its tensor */
    int64_t bad_index, bad_size;
};

union hd_scalar hd_eval_node(struct hd_eval *e, int node);

#endif
