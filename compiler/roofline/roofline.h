/* Cycles that no schedule of a layer alone can beat: from graph and machine.
 *
 * Nothing here knows plans, tiles or operations, so no change of the back end can move it. Never
 * part of a bound: padding of channels, extra passes, weights of 9 bits as two of 8, movement of
 * data, nodes that the host runs. docs/profiling.md has the formulas.
 */
#ifndef HD_ROOFLINE_ROOFLINE_H
#define HD_ROOFLINE_ROOFLINE_H

#include "compiler/ir/ir.h"
#include "runtime/device/model.h"

/* Bounds of every node, by node id, of a legalised graph; those that are no work of a machine have
 * none. The arena's. */
struct hd_bounds *hd_roofline(hd_arena *a, const hd_graph *g, const struct hd_machine *m);

/* Cycles of the largest bound, with a port of so many bytes a cycle each way; *out_which, unless it
 * is NULL, is "compute" (MX), "vector" (VX), "memory" (the port), "chain" (a recurrence) or
 * "none". */
int64_t hd_bound_cycles(const struct hd_bounds *b, int64_t bytes_per_cycle, const char **out_which);

/* In traffic.c: adds read_bytes and write_bytes. */
void hd_roofline_traffic(const hd_graph *g, const struct hd_machine *m, struct hd_bounds *bounds);
/* The node only moves data, or turns it to integers and back. */
bool hd_roofline_moves(const struct hd_node *n);

#endif
