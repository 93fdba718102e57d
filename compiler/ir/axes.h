/* Named axes. An axis has identity, not position: whatever dimension carries it, in whatever
 * tensor, has its name and its length. Names are optional; a dimension without one is checked by
 * size alone.
 *
 *   - a tensor has an axis at most once
 *   - where operations meet by position, two names in one place must be the same axis
 *   - a product sums over one axis: the last of a and the one that it meets in b
 *   - by="name" on an elementwise operation broadcasts by name: the result has a's axes, then those
 *     of b that a lacks; on matmul it sums over every axis that both have. The pass "axes"
 *     (hd_axes_lower) turns such nodes into positional ones with transposes and reshapes.
 */
#ifndef HD_IR_AXES_H
#define HD_IR_AXES_H

#include "compiler/ir/infer_int.h"

/* Names of c->out's dimensions, whose sizes are known. Errors: two axes in one place. */
hd_status hd_axes_outputs(struct infer *c);
hd_status hd_axes_of_expression(struct infer *c);
/* Shape and names of a node with by="name". */
hd_status hd_axes_by_name(struct infer *c);
/* Lengths and duplicates of one tensor. */
hd_status hd_axes_check(hd_ctx *ctx, const hd_graph *g, const struct hd_tensor *t);

static inline bool hd_axes_is_by_name(const struct hd_node *n) {
    return hd_attr_get(n, "by") != NULL;
}

#endif
