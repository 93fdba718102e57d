/* What the files of the kinds of layers share. */
#ifndef HD_COMPILER_KINDS_H
#define HD_COMPILER_KINDS_H

#include "compiler/layer/kind.h"
#include "compiler/machine_ops/machine_ops.h"

enum hd_wish hd_wish_image(const struct hd_node *n);
/* Vectors of the result, once; once for each tap of a window. */
int64_t hd_vectors_once(const struct hd_lowering *lo, const struct hd_layer *l);
int64_t hd_vectors_of_windows(const struct hd_lowering *lo, const struct hd_layer *l);

/* matmul_pack.c: weights of a window that VX takes become those of a depthwise layer. */
hd_status hd_matmul_make(struct hd_lowering *lo, const struct hd_node *n, int out,
                         struct hd_layer *l);
const char *hd_matmul_refuses(const struct hd_lowering *lo, int node, const char **out_hint);
enum hd_wish hd_matmul_wish(const struct hd_node *n);
/* depthwise.c. A convolution that VX takes as windows; it becomes one, with weights i8
 * [planes,M,1,kh,kw]. */
bool hd_takes_windows(const struct hd_lowering *lo, const struct hd_layer *l);
void hd_pack_windows(struct hd_lowering *lo, struct hd_layer *l, const int8_t *w,
                     const int32_t *bias, const float *scale, int64_t n_scale);

/* bmm_operands.c: where the operands of a product of two activations lie. */
const char *hd_bmm_refuses(const struct hd_lowering *lo, int node, const char **out_hint);
hd_status hd_bmm_make(struct hd_lowering *lo, const struct hd_node *n, int out, struct hd_layer *l);
/* recurrent_sequence.c: the whole of a recurrent layer. */
hd_status hd_recurrent_lower(struct hd_lowerer *w);
/* Columns of a turned band of n pixels: whole blocks, of which the last one ends at the last pixel
 * and so repeats some, if there are N. */
int hd_turned_columns(const struct hd_machine *m, int n);
/* The same of a binary32 state of a recurrent layer, [D,B,H]. */
bool hd_state_shape(const struct hd_lowering *lo, int tensor, struct hd_mtensor *out);
/* Products of two activations (bmm.c). *fold: transposes and reshapes that become addressing. */
void hd_bmm_views(struct hd_lowering *lo, const bool *machine, bool *fold);
int hd_bmm_tensor(const struct hd_lowering *lo, int node,
                  enum hd_bmm_role role); /* that it reads */
/* Its second operand comes in and has to be stored as words before it. */
bool hd_bmm_stages(const struct hd_lowering *lo, const struct hd_layer *l);
bool hd_is_recurrent(const struct hd_node *n);
/* A node that only moves elements, whatever its name: which elements is found by running golden on
 * indexes. NULL, or why the machine does not take it. */
bool hd_is_move(const hd_graph *g, const struct hd_node *n);
const char *hd_move_refuses(const struct hd_lowering *lo, int node, const char **out_hint);
/* Of a turned move: bytes of XM of a slice of a band as it is loaded. */
int64_t hd_turned_bytes(const struct hd_lowering *lo, const struct hd_layer *l);
/* Marks moves whose result only another move reads: the two are one. machine: nodes on it. */
void hd_chain_moves(struct hd_lowering *lo, const bool *machine);
/* Tensors whose elements a move moves, through those that are part of it; returns how many, at most
 * HD_LAYER_INPUTS. */
int hd_move_operands(const struct hd_lowering *lo, int node, int out[HD_LAYER_INPUTS]);
/* lw.load of n1 runs of words of the image into WM, PM or TM; hd_ops_end is the caller's. */
void hd_lower_load_words(struct hd_lowerer *w, int mem, size_t src, int64_t dst, int64_t count,
                         int n1, int64_t s1, int64_t d1);
/* PM words of n output tiles from nt; bytes of a pixel of the chunk that begins there. */
hd_status hd_lower_params(struct hd_lowerer *w, int nt, int n, int64_t *out);
int hd_lower_chunk_bytes(const struct hd_lowerer *w, int nt);
/* Depthwise: sliding windows over n vectors of channels of a tile. */
hd_status hd_lower_depthwise(struct hd_lowerer *w, const struct hd_tile *t, int nt, int n,
                             int64_t pm, const struct hd_view *out, int c);
/* One tile of a layer with weights. */
hd_status hd_lower_matmul(struct hd_lowerer *w, struct hd_tile *t);

/* The kind of layer that a node of the graph becomes (machine_ops.def); NULL: none. */
const struct hd_kind *hd_kind_of(const hd_graph *g, const struct hd_node *n);
#endif
