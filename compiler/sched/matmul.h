/* Matrix layers: what their whole tiles (matmul.c) and their beginning (head.c) are made of. */
#ifndef HD_COMPILER_MATMUL_H
#define HD_COMPILER_MATMUL_H

#include "compiler/sched/lower.h"

/* A product over a part of a layer. */
struct hd_matmul {
    struct hd_view in;
    int nt, n; /* output tiles of the operation */
    int c, cw; /* words of each tap; c > 0 adds to the sums that are there */
    int tap;   /* words between taps in WM */
    int64_t wm, am;
    int am_px, am_nt; /* accumulators between pixels, between output tiles */
    int th, tw;
    int row; /* of the tile, first to be requantised */
};

/* Weights of n output tiles from nt, words [c, c + cw) of each tap. Those that stay come to the
 * places that they have among all words: *out is that of the first word of nt. */
hd_status hd_mm_load_weights(struct hd_lowerer *w, int nt, int n, int c, int cw, int64_t *out);
/* One operation for a run of output tiles whose input words are evenly spaced, else one for each;
 * of all sub-windows or phases of the tile. */
hd_status hd_mm_ops(struct hd_lowerer *w, struct hd_matmul q, const struct hd_tile *t);
/* Accumulators -> bytes of channels [c, ..) of the view. */
hd_status hd_mm_requantise(struct hd_lowerer *w, const struct hd_matmul *q, int64_t pm,
                           const struct hd_view *out, int c);

#endif
