/* Private to compiler/pass: operations on permuted operands (layout.def). */
#ifndef HD_PASS_LAYOUT_OPS_H
#define HD_PASS_LAYOUT_OPS_H

#include "compiler/ir/ir.h"

/* Dimension d of a tensor is dimension perm[d] of its moved form: perm makes the tensor of it. */
struct hd_perm {
    int rank;
    int64_t perm[HD_MAX_RANK], back[HD_MAX_RANK]; /* back[perm[d]] = d */
};

/* What a node says in place of itself where its data are in moved form. */
struct hd_remap {
    int data;      /* the first operands, and all results of this rank, are in moved form */
    bool keeps;    /* the result is the same as before, not in moved form */
    bool has_axis; /* it has another attribute axis */
    int64_t axis;
    int at, n; /* operand `at` is these n numbers; 0 = it has no list */
    int64_t list[2 * HD_MAX_RANK];
    int n_in; /* operands that remain, at most; the list comes on top */
};

/* Values do not change, to the bit: sums keep their order. False where the node cannot. Needs the
 * shapes of the node's operands and results. */
bool hd_layout_remap(const hd_graph *g, const struct hd_node *n, const struct hd_perm *p,
                     struct hd_remap *out);

#endif
