/* Geometry of resize: size and scale of every dimension, from operands and attributes. */
#ifndef HD_IR_RESIZE_H
#define HD_IR_RESIZE_H

#include "compiler/ir/ir.h"

struct hd_resize {
    int rank, n_axes, axes[HD_MAX_RANK]; /* the dimensions that scales, sizes and roi speak of */
    int64_t in[HD_MAX_RANK], out[HD_MAX_RANK];
    float scale[HD_MAX_RANK];  /* as given, or out / in; 1 for other dimensions */
    float length[HD_MAX_RANK]; /* of the result, before it was rounded: scale * in, or out */
};

/* scales [n_scales], sizes [n_sizes]: values of operands 2 and 3; exactly one of them is not empty.
 * Attributes: axes, keep_aspect_ratio_policy. */
hd_status hd_resize_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *x,
                        const float *scales, int64_t n_scales, const int64_t *sizes,
                        int64_t n_sizes, struct hd_resize *out);

#endif
