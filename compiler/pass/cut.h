/* The cheapest way to part a directed graph: minimum cut, exact. Of any size; all in the arena. */
#ifndef HD_PASS_CUT_H
#define HD_PASS_CUT_H

#include <stdint.h>

#include "runtime/base/arena.h"

#define HD_CUT_NEVER (INT64_MAX / 4) /* capacity of an edge that may not be cut */

enum { HD_CUT_SOURCE, HD_CUT_SINK, HD_CUT_FIRST }; /* nodes: the two ends, then those of the user */

struct hd_cut_edge {
    int to, next; /* next edge of the same node, -1 = none; the edge back is at index ^ 1 */
    int64_t room;
};

struct hd_cut {
    hd_arena *arena;
    int *first, *level, *queue; /* per node */
    size_t n_nodes, cap_nodes;
    struct hd_cut_edge *edges;
    size_t n_edges, cap_edges;
};

struct hd_cut *hd_cut_create(hd_arena *a); /* with the two ends */
int hd_cut_node(struct hd_cut *c);
void hd_cut_edge(struct hd_cut *c, int from, int to, int64_t capacity); /* one way */
/* The least sum of capacities of edges from the source's side to the sink's. out_sink: per node,
 * whether it is on the sink's side: of all cheapest cuts the one with the fewest there. The sum of
 * the capacities below HD_CUT_NEVER must stay below it. */
int64_t hd_cut_solve(struct hd_cut *c, bool *out_sink);

#endif
