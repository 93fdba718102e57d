/* Private to compiler/pass: what qdq.c and qdq_weights.c share. */
#ifndef HD_PASS_QDQ_H
#define HD_PASS_QDQ_H

#include "compiler/ir/ir.h"

/* One scale and zero point for a whole i8, u8 or i16 tensor. */
struct hd_qparam {
    hd_dtype type;
    float scale;
    int32_t zp;
};

/* Constant weights with the zero point taken off, and one scale or one per output channel. */
struct hd_qweights {
    int tensor;      /* constant i8 (or i16) */
    int64_t n;       /* output channels */
    int64_t n_scale; /* 1 or n */
    const float *scale;
};

/* A quantize node with what stands in front of it. */
struct hd_qmatch {
    hd_ctx *ctx;
    hd_graph *g;
    int q;              /* the quantize node */
    struct hd_qparam y; /* its parameters */
    int value;          /* float tensor before the activations */
    int lo, hi;
    int block_rank; /* of a pair of rows that hd_qdq_pair brings into these dimensions; 0 = none */
    int64_t block[3];
};

/* Replaces the quantize node by a q operation named after the float node `named`; _to: with this
 * result instead of quantize's, which is killed already. The node. */
int hd_qdq_emit(struct hd_qmatch *m, enum hd_ir_op op, int named, int n_in, const int *in);
int hd_qdq_emit_to(struct hd_qmatch *m, enum hd_ir_op op, int named, int n_in, const int *in,
                   int out);

/* Attention (qdq_rows.c): the value is a product of two quantised tensors, softmax or layer norm of
 * one. False when it is not. */
bool hd_qdq_product(struct hd_qmatch *m);
bool hd_qdq_softmax(struct hd_qmatch *m, int node);
bool hd_qdq_layernorm(struct hd_qmatch *m, int node);
/* a p' with p' transposed probabilities, which have a zero point, where a has none, becomes (p
 * a')': what MX reads as weights has none then. With one it takes three products. */
void hd_qdq_turn_products(hd_graph *g);
/* Probabilities that only products read get the zero point 0, as unsigned bytes. */
void hd_qdq_unsigned_weights(hd_graph *g);

/* Both operands of an elementwise node are dequantised tensors: these, of the rank of the result,
 * and not broadcast along channels (copies of those are made by a convolution or product). */
bool hd_qdq_pair(struct hd_qmatch *m, int node, int in[2], struct hd_qparam p[2]);
/* hd_qdq_emit for these. */
int hd_qdq_emit_pair(struct hd_qmatch *m, enum hd_ir_op op, int named, const int in[2]);

/* The node whose only output it is; NULL = none. */
const struct hd_node *hd_qdq_maker(const hd_graph *g, int tensor);
/* Scale and zero point of a quantize or dequantize node; false unless constant, per tensor, i8 or
 * u8; _any: or i16. */
bool hd_qdq_param(const hd_graph *g, const struct hd_node *n, struct hd_qparam *out);
bool hd_qdq_param_any(const hd_graph *g, const struct hd_node *n, struct hd_qparam *out);

/* t = dequantize(x) with one scale, x i8 or u8; _any: or i16. */
bool hd_qdq_dequantized(const hd_graph *g, int t, int *x, struct hd_qparam *p);
bool hd_qdq_dequantized_any(const hd_graph *g, int t, int *x, struct hd_qparam *p);

/* Element i of a constant of integers. */
int32_t hd_qdq_int_at(const struct hd_tensor *t, int64_t i);

/* The dequantize node that makes t of constants; NULL = none. */
const struct hd_node *hd_qdq_constant(const hd_graph *g, int t);

/* Image y of bytes, whose channel c is channel from[c] of image x: by a convolution of one tap. The
 * node. */
int hd_move_channels(hd_graph *g, const char *name, int x, const int64_t *from, int y);
/* The same by weights w of shape dim, 0 and 1; op: qconv or qconvtranspose; stride: of columns. */
int hd_move_product(hd_graph *g, enum hd_ir_op op, const char *name, int x, const int64_t dim[4],
                    const int8_t *w, int64_t stride, int y);
/* Constant t of four bytes an output channel, each f times; t itself where it is one scale. */
int hd_channel_copies(hd_graph *g, int t, int64_t f);
/* y = x by a reshape or a transpose, whose attribute `what` is list; y < 0: a new tensor of dim.
 * The tensor. */
int hd_moved(hd_graph *g, enum hd_ir_op op, int x, int rank, const int64_t *dim, const char *what,
             const int64_t *list, int y);

/* A new tensor of the type and shape of `like`, with another element type. */
int hd_qdq_tensor_like(hd_graph *g, int like, hd_dtype type, const char *suffix);
/* Attributes of node `from` for node `to`; window_only: those of windows, and group. */
void hd_qdq_copy_attrs(hd_graph *g, int to, int from, bool window_only);
/* In place of `node`, which is killed: op of these operands makes `made`, with its name and
 * attributes. The new node. */
int hd_qdq_instead(hd_graph *g, int node, enum hd_ir_op op, int n_in, const int *in, int made);
/* Image y is the first rows and columns of image x. */
void hd_first_pixels(hd_graph *g, int x, int y);

/* Linear resize of images (qdq_resize.c): the same. */
bool hd_qdq_resize(struct hd_qmatch *m, int node);
/* What a float node resizes linearly, by constants: an image; of a volume each image, its depth
 * alone, or both, which has no integer form. */
enum hd_resize_kind {
    HD_RESIZE_OTHER,
    HD_RESIZE_IMAGE,
    HD_RESIZE_IMAGES,
    HD_RESIZE_DEPTH,
    HD_RESIZE_VOLUME
};
enum hd_resize_kind hd_qdq_linear_resize(const hd_graph *g, int node);
bool hd_qdq_is_linear_resize(const hd_graph *g, int node); /* with an integer form */

/* An average pool of a volume that is one of an image: over all of it, over each of its images, or
 * along its whole depth alone (volume_pool.c). */
bool hd_volume_pool(const hd_graph *g, int node);
/* A transposed convolution of a volume that becomes such of images (volume_conv.c). */
bool hd_volume_spreads(const struct hd_node *n);

/* How many leading operands hold the values that a node moves, 0 = it computes. The others say
 * where to. */
int hd_qdq_moved_operands(const struct hd_node *n);

/* Weights moved after they are dequantised are moved constants (qdq_constant.c). Errors: of
 * kernels. */
hd_status hd_qdq_move_constants(hd_ctx *ctx, hd_graph *g);

/* The tensor that t is, moved by operations of one such operand. */
int hd_qdq_behind_moves(const hd_graph *g, int t);

/* An input of u8 that becomes i8 at once is read as it is (qdq_bytes.c). */
void hd_qdq_same_bytes(hd_graph *g);

/* Batch norms behind products of quantised weights (qdq_norm.c). */
void hd_qdq_fold_norms(hd_graph *g);

/* Rewrites of one node; false when it does not match. See qdq.c. */
bool hd_qdq_clip(hd_graph *g, int node);
bool hd_qdq_push_down(hd_graph *g, int node);
/* An argmax or argmin of what is dequantised goes to the integers; false: it is none. */
bool hd_qdq_position(hd_graph *g, int node);
bool hd_qdq_pull_up(hd_graph *g, int q);
bool hd_qdq_table(hd_ctx *ctx, hd_graph *g, int q);

/* lstm, gru, rnn (qdq_recurrent.c): the same; and why one never does, whatever is around it, NULL =
 * it may. */
bool hd_qdq_recurrent(hd_ctx *ctx, hd_graph *g, int node);
const char *hd_qdq_recurrent_refuses(const hd_graph *g, const struct hd_node *n);

/* t = dequantize(constant i8|u8), per tensor or per channel on `axis`; swap: the constant is [K,N],
 * wanted is [N,K]. False when t is something else. */
bool hd_qdq_weights(hd_graph *g, int t, int axis, bool swap, struct hd_qweights *out);
/* Those of a transposed convolution, [C,M/group,..] with scales along axis 1, as [M,C/group,..]
 * with a scale per output channel. */
void hd_qdq_transpose_weights(hd_graph *g, int64_t group, struct hd_qweights *w);

/* The i32 bias for accumulators of scale x_scale * w_scale: from a constant (float, or
 * dequantised), NULL tensor id -1 = zeros. *out = new constant [n]. False when it is not constant
 * or does not fit. */
bool hd_qdq_bias(hd_graph *g, int t, const struct hd_qweights *w, float x_scale, int *out);

/* No sum of activations of i16 by these weights leaves int32; true of bytes. */
bool hd_qdq_sums_fit(const hd_graph *g, const struct hd_qweights *w, int bias,
                     const struct hd_qparam *x);

/* The requantisation scales (x_scale * w_scale) / y_scale, as a new constant; false when not
 * finite, > 0. */
bool hd_qdq_scale(hd_graph *g, const struct hd_qweights *w, float x_scale, float y_scale, int *out);

#endif
