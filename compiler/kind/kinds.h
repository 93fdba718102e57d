/* What the files of the kinds of layers share. */
#ifndef HD_COMPILER_KINDS_H
#define HD_COMPILER_KINDS_H

#include "compiler/layer/kind.h"
#include "compiler/machine_ops/machine_ops.h"

/* Vectors of the result, once; once for each tap of a window. */
int64_t hd_vectors_once(const struct hd_lowering *lo, const struct hd_layer *l);
int64_t hd_vectors_of_windows(const struct hd_lowering *lo, const struct hd_layer *l);

/* recurrent.c: machine shape of a binary32 state, [D,B,H]. */
bool hd_state_shape(const struct hd_lowering *lo, int tensor, struct hd_mtensor *out);
/* bmm_operands.c. *strides: transposes and reshapes that become addressing of products around them.
 */
void hd_bmm_views(struct hd_lowering *lo, const bool *machine, bool *strides);
/* move_transfers.c. A node that only moves elements, whatever its name. */
bool hd_is_move(const hd_graph *g, const struct hd_node *n);
/* Marks moves whose result only another move reads: the two are one. machine: nodes on it. */
void hd_chain_moves(struct hd_lowering *lo, const bool *machine);
/* join.c. Marks functions of one byte that are part of the layer in front; the tensor that such a
 * layer makes in place of its node's result; their table for that layer, or one of its own. */
void hd_choose_joined(struct hd_lowering *lo, const bool *machine);
int hd_joined_result(const struct hd_lowering *lo, int tensor);
void hd_join(struct hd_lowering *lo, struct hd_layer *l, int tensor);
void hd_set_table(struct hd_lowering *lo, struct hd_layer *l, const uint8_t *table);
/* kinds.c. Why a machine without functions of VX cannot take a node that needs them; NULL: it can.
 */
const char *hd_lacks_functions(const struct hd_lowering *lo, const char **out_hint);
/* matmul.c. lw.load of n1 runs of words of the image into WM, PM or TM; hd_ops_end is the caller's.
 */
void hd_lower_load_words(struct hd_lowerer *w, int mem, size_t src, int64_t dst, int64_t count,
                         int n1, int64_t s1, int64_t d1);
/* Loop i of mx.gemm: n iterations; steps of operand, weights and sums. */
void hd_lower_loop(struct hd_lowerer *w, int i, int64_t n, int64_t xs, int64_t ws, int64_t as);
/* The kind of layer that a node of the graph becomes (machine_ops.def); NULL: none. */
const struct hd_kind *hd_kind_of(const hd_graph *g, const struct hd_node *n);
/* Constants may be among its operands; machine shape of operand i, constants included then. */
bool hd_takes_constants(const hd_graph *g, const struct hd_node *n);
bool hd_operand_shape(const struct hd_lowering *lo, const struct hd_node *n, int i,
                      struct hd_mtensor *out);
#endif
