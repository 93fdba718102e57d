/* Kernels of tensor expressions for step makers: expression, schedule, loops, kernels. */
#ifndef HD_GPU_REF_GPU_EXPRESS_H
#define HD_GPU_REF_GPU_EXPRESS_H

#include "compiler/expr/expr.h"
#include "gpu_ref/gpu_plan.h"

struct hd_gpu_nest { /* one expression's kernels */
    struct hd_nest *nest;
    struct hd_kernel_call *call;
    int n_calls;
    const int *operand;      /* the graph's tensor of each parameter; -1 = left out */
    const int *last;         /* of constants: the dimension that lies last (gpu_layout.h); NULL */
    const struct hd_expr *f; /* that it was lowered from */
};

struct hd_gpu_group { /* nodes that become one expression */
    struct hd_expr *f;
    int n, node[HD_GPU_GROUP], made[HD_GPU_GROUP]; /* what each computes: a tensor of the graph */
    int id[HD_GPU_GROUP];                          /* the same in f, while it is being made */
    int n_operands, operand[HD_EXPR_TENSORS];
};

/* The node's expression, bound; NULL = it has none. */
hd_status hd_gpu_expression(struct hd_gpu_plan *p, const struct hd_node *n, struct hd_expr **out);
/* The node, whose expression is f, and elementwise nodes behind it. *out_any false: there are none.
 */
hd_status hd_gpu_group(struct hd_gpu_plan *p, int node, struct hd_expr *f, bool *out_any,
                       struct hd_gpu_group *out);

/* Of an expression of the node's first n_in operands; sums of products are formed in f32. */
hd_status hd_gpu_nest_make(struct hd_gpu_plan *p, const struct hd_node *n, const char *text,
                           int n_in, struct hd_gpu_nest *out);
/* Its launches, behind those of the last step. results: views of the first n_results results; -1
 * becomes a temporary of the step. */
hd_status hd_gpu_nest_call(struct hd_gpu_plan *p, const struct hd_gpu_nest *k, int n_results,
                           int *results);

#endif
