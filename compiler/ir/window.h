/* Geometry of a sliding window (conv, pools), read once from a node's attributes and checked. */
#ifndef HD_IR_WINDOW_H
#define HD_IR_WINDOW_H

#include "compiler/ir/ir.h"

struct hd_window { /* a 1-D window is a 2-D one of height 1 */
    int64_t n, c, h, w, oh, ow;
    int64_t kh, kw, sy, sx, dy, dx, pt, pl, pb, pr;
};

/* x: the operand [N,C,H,W] or [N,C,W]; kernel: spatial kernel dims when the attribute may be absent
 * (conv: from the weights), else NULL. Checks every attribute and that the output is not empty. */
hd_status hd_window_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *x,
                        const int64_t *kernel, struct hd_window *out);

#endif
