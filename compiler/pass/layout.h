/* Private to pass layout (layout.c, layout_apply.c). */
#ifndef HD_PASS_LAYOUT_H
#define HD_PASS_LAYOUT_H

#include "compiler/pass/layout_ops.h"

enum role { FIXED, AGNOSTIC, MAKES, READS }; /* MAKES, READS: a transpose, moved forms */

struct layout {
    hd_graph *g;
    struct hd_perm p;
    int first; /* of a permutation that is its own inverse: the first transpose 0 makes, 1 reads */
    size_t n_nodes, n_tensors; /* before anything is added */
    int *order;
    size_t n_order;
    enum role *role; /* per node */
    int *end;        /* per node: its node of the cut */
    bool *permuted;  /* per node: it works on moved forms */
    int *moved;      /* per tensor: its moved form, -1 = it has none yet */
    hd_arena *a;
};

bool hd_layout_may_move(const struct layout *l, int t);        /* has a form that may be chosen */
bool hd_layout_is_single(const struct hd_tensor *t, int rank); /* broadcast from one element */
/* Whether result k, operand i, of an agnostic node are in moved form when the node is permuted. */
bool hd_layout_result_moves(const struct layout *l, const struct hd_node *n, int k);
bool hd_layout_operand_moves(const struct layout *l, const struct hd_node *n, int i);

/* Makes permuted nodes work on moved forms; drops nothing. The first thing that changes the graph.
 */
void hd_layout_rewrite(struct layout *l);

#endif
