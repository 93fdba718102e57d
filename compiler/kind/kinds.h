/* What the files of the kinds of layers share. */
#ifndef HD_COMPILER_KINDS_H
#define HD_COMPILER_KINDS_H

#include "compiler/tile/kind.h"

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
#endif
