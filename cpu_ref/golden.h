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

/* The same for graphs with unknown shapes, and with variables: t[].data of a variable is its value,
 * before and after the run (before the first one it may be NULL).
 *   t   hd_golden_tensors(): in: known, dtype, rank, dim, data of what the nodes read and none of
 *       them makes; out: the same of every result, data from `arena` */
hd_status hd_golden_eval(hd_ctx *ctx, const hd_graph *g, const int *nodes, size_t n,
                         struct hd_tensor *t, hd_arena *arena);

/* The same in parts, for whoever runs more than once: the nodes in the order in which they run (out
 * and wanted have room for n_nodes; returns how many), and a run of them. It takes its memory from
 * the two arenas; emptied by hd_arena_reset, they serve the next one. Control flow, whose graphs
 * run inside, allocates. */
size_t hd_golden_order(const hd_graph *g, const int *nodes, size_t n, int *out, bool *wanted);
hd_status hd_golden_eval_order(hd_ctx *ctx, const hd_graph *g, const int *order, size_t n,
                               struct hd_tensor *t, hd_arena *results, hd_arena *scratch);
/* What a run takes from each, as far as the shapes are known: for
 * hd_arena_reserve. */
void hd_golden_bytes(const hd_graph *g, const int *order, size_t n, size_t *out_results,
                     size_t *out_scratch);

/* One node, for devices that plan the rest themselves: t as in hd_golden_eval, its operands filled
 * in. trust: the graph's shapes are those of the run, so they are not inferred again. Empties
 * scratch. */
hd_status hd_golden_node(hd_ctx *ctx, const hd_graph *g, int id, struct hd_tensor *t, bool trust,
                         hd_arena *results, hd_arena *scratch);

/* When every input of the node is constant: computes it, makes the output a constant, kills the
 * node. */
hd_status hd_fold_node(hd_ctx *ctx, hd_graph *g, int node);

#endif
