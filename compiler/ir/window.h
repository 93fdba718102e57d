/* Geometry of a sliding window (conv, pools), read once from a node's attributes and checked. */
#ifndef HD_IR_WINDOW_H
#define HD_IR_WINDOW_H

#include "compiler/ir/ir.h"

enum { HD_MAX_SPATIAL = HD_MAX_RANK - 2 };

/* Spatial dimensions in the tensor's order; x is [N,C,in..], the result [N,?,out..].
 *   reads:  y[o] covers x[o * stride + k * dilation - before], k in 0 .. kernel - 1
 *   a transposed convolution: x[i] adds to y[i * stride + k * dilation - before] */
struct hd_window_nd {
    int sp; /* 1 .. HD_MAX_SPATIAL */
    int64_t n, c;
    int64_t in[HD_MAX_SPATIAL], out[HD_MAX_SPATIAL], kernel[HD_MAX_SPATIAL], stride[HD_MAX_SPATIAL],
        dilation[HD_MAX_SPATIAL], before[HD_MAX_SPATIAL], after[HD_MAX_SPATIAL];
};

/* x: the operand, rank 3 or more; kernel: spatial kernel dims when the attribute may be absent
 * (conv: from the weights), else NULL. Attributes: kernel_shape, strides, dilations, pads,
 * ceil_mode; auto_pad (SAME_UPPER, SAME_LOWER) instead of pads; global=1: the kernel is the whole
 * image. Checks every attribute and that the output is not empty. */
hd_status hd_window_nd_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *x,
                           const int64_t *kernel, struct hd_window_nd *out);

/* The same for a transposed convolution; attributes also output_padding and output_shape. */
hd_status hd_window_transposed_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *x,
                                   const int64_t *kernel, struct hd_window_nd *out);

/* Replaces auto_pad and global by the pads and kernel_shape that they mean for the operand's shape,
 * which is known; a kernel_shape that is missing comes from the weights. */
hd_status hd_window_resolve(hd_ctx *ctx, hd_graph *g, int node);

struct hd_window { /* one or two dimensions: a 1-D window is a 2-D one of height 1 */
    int64_t n, c, h, w, oh, ow;
    int64_t kh, kw, sy, sx, dy, dx, pt, pl, pb, pr;
};

/* As hd_window_nd_get, of a convtranspose as hd_window_transposed_get; HD_UNSUPPORTED for more than
 * two dimensions. */
hd_status hd_window_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *x,
                        const int64_t *kernel, struct hd_window *out);

/* Every tap of every window lies inside the image. */
bool hd_window_inside(const struct hd_window *v);

#endif
