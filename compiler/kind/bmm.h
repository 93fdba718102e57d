/* What the files of products of two activations share: bmm_operands.c finds where the operands lie,
 * bmm.c lowers. */
#ifndef HD_COMPILER_BMM_H
#define HD_COMPILER_BMM_H

#include "compiler/kind/kinds.h"

/* hd_layer.own: where each batch of a, of the second operand and of the result begins, as row and
 * first channel of the tensor (of the second operand: of the whole that it is part of). */
struct hd_bmm {
    int batches;
    bool columns; /* of the second operand k lies along rows, not along channels */
    bool pads;    /* lanes behind the last k get a's zero point when it is loaded */
    int depth;    /* k */
    int32_t a_zp, w_zp;
    int *a_row, *a_channel, *w_row, *w_channel, *y_row, *y_channel;
    int32_t part[2][2]; /* bytes whose sum is minus the zero point, of a and of the second */
    int zp_words[2];
    size_t w_offset; /* of constant words in the image */
};
const char *hd_bmm_refuses(const struct hd_lowering *lo, int node, const char **out_hint);
hd_status hd_bmm_make(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l);
/* The tensor in whose storage the result lies. */
int hd_bmm_result(const struct hd_lowering *lo, int node);
/* Its second operand comes in and has to be stored as words before it. */
bool hd_bmm_stages(const struct hd_lowering *lo, const struct hd_layer *l);
#endif
