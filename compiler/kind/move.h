/* What the files of movement of data share: move_transfers.c finds what goes where, move.c lowers.
 */
#ifndef HD_COMPILER_MOVE_H
#define HD_COMPILER_MOVE_H

#include "compiler/kind/kinds.h"
#include "runtime/base/num.h"

/* One transfer into a row of the result: `run` bytes, n1 times. */
struct hd_transfer {
    int input;
    int64_t src, s1; /* bytes in the input's arena form */
    int32_t dst, d1; /* bytes from the row's first pixel */
    int32_t run, n1;
};

struct hd_transfers {
    struct hd_transfer *list;
    size_t n, cap;
    size_t neighbours; /* as many as there would be if only neighbours were joined */
    size_t *first; /* [images * rows + 1]: transfers of row r are first[r] .. first[r + 1] - 1 */
    bool holes;    /* some bytes come from no input: they are pad_value */
};

/* hd_layer.own: two ways to do the same. */
struct hd_move {
    struct hd_transfers plain;
    bool fills; /* some bytes of a pixel come from no input */
    /* band > 0: transposed. What comes from neighbours in the inputs is no neighbour in the result,
     * but neighbours of it belong to one channel of neighbouring pixels. So bands of so many rows,
     * and of them slices of so many channels, are loaded as [channels][columns], and VX transposes
     * blocks of N x N bytes. Transfers of slice s of the band that begins with row r: first[r *
     * slices + s]. A row is cut into w pixels of c channels, cp with padding: those of the result,
     * or, where the channels of a pixel are several of the inputs' over their pixels, as a group's
     * are, one for each of those. Neighbours in the inputs are pixels `step` rows apart, where an
     * image's channels become rows; 0: pixels side by side.
     */
    struct hd_transfers transposed;
    int band, slice, slices, w, c, cp, step;
};

/* Columns of a transposed band of n pixels: whole blocks, of which the last one ends at the last
 * pixel and so repeats some, if there are N. */
static inline int hd_move_columns(const struct hd_machine *m, int n) {
    return (int)hd_round_up(n, m->n);
}

const char *hd_move_refuses(const struct hd_lowering *lo, int node, const char **out_hint);
/* Tensors in front of a node and of the moves that are part of it; returns how many. */
int hd_move_operands(const struct hd_lowering *lo, int node, int out[HD_LAYER_INPUTS]);
/* How many rows from `row` on have the same transfers, each a constant distance further. */
int hd_move_alike(const struct hd_transfers *m, int row, int most);
hd_status hd_move_make(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l);

#endif
