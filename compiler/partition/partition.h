/* Which node runs where, and the layers of those that the machine runs. */
#ifndef HD_COMPILER_PARTITION_H
#define HD_COMPILER_PARTITION_H

#include "compiler/kind/kinds.h"
#include "compiler/place/place.h"

/* Passes, in order. Each one's needs / gives / destroys stand with it. */
hd_status hd_choose_layouts(struct hd_lowering *lo);
/* rows[t]: the channels of tensor t are its last dimension, else dimension 1; of any graph. */
void hd_find_rows(const hd_graph *g, hd_arena *a, bool *rows);
/* Node n of the machine cannot read its operand i as it lies. */
bool hd_layouts_clash(const hd_graph *g, const struct hd_node *n, int i, const bool *rows);
hd_status hd_partition(struct hd_lowering *lo);
/* Of attention, what makes the values before the scores (attention.c). */
void hd_values_first(const struct hd_lowering *lo, int *order, size_t n_order);
/* Time that golden takes for a node, about (cost.c). */
double hd_host_ns(const hd_graph *g, int node);
/* The same on the machine, at best. */
double hd_machine_ns(const struct hd_lowering *lo, int node);
/* The nodes of one step on the machine, with start and transfers of its values, and on the host.
 * steps: per node, -1 for none. */
struct hd_segment_cost {
    double machine_ns, host_ns;
};
struct hd_segment_cost hd_segment_cost(const struct hd_lowering *lo, const int *steps, int step);
/* Tries to make a concat, split or slice one that moves nothing; steps: per node, in which program
 * it will be (share.c). */
bool hd_share_node(struct hd_lowering *lo, int node, const int *steps);
/* A reshape whose result is its operand under another name: it has no layer. */
bool hd_renames(const struct hd_lowering *lo, const struct hd_node *n);
/* What happens to parts happens to the whole: after partition. */
void hd_share_uses(struct hd_lowering *lo);
/* The layer that makes output `out` of the node. */
hd_status hd_tensorize(struct hd_lowering *lo, int node, int out, int step, struct hd_layer *l);
/* NULL when the machine can run this node, else the reason; *out_hint says what would change it. */
const char *hd_machine_refuses(const struct hd_lowering *lo, int node, const char **out_hint);

#endif
