/* Golden: plain C reference of every operation of the graph IR. The oracle that devices are held
 * to. */
#ifndef HD_CPU_REF_GOLDEN_H
#define HD_CPU_REF_GOLDEN_H

#include "compiler/ir/ir.h"

/* Runs nodes in topological order.
 *   nodes, n    ids to run, any order; n = 0 runs every live node
 *   data        per tensor id, n_tensors entries: in: what the nodes read and none of them makes
 *               (constants may be NULL, the graph's are used); out: every result, from `arena`
 * Shapes are those of g. Errors: HD_INVALID when an operand has no data, or when a result has
 * another shape than g says; HD_UNSUPPORTED for a type that an operation lacks. */
hd_status hd_golden_run(hd_ctx *ctx, const hd_graph *g, const int *nodes, size_t n, void **data,
                        hd_arena *arena);

/* The tensors of a run: a copy of g->tensors that hd_golden_eval reads and fills. */
struct hd_tensor *hd_golden_tensors(const hd_graph *g, hd_arena *arena);

/* The same for graphs with unknown shapes.
 *   t   hd_golden_tensors(): in: known, dtype, rank, dim, data of what the nodes read and none of
 *       them makes; out: the same of every result, data from `arena` */
hd_status hd_golden_eval(hd_ctx *ctx, const hd_graph *g, const int *nodes, size_t n,
                         struct hd_tensor *t, hd_arena *arena);

#endif
