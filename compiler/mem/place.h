/* Places of tensors in XM and in the arena (place.c). */
#ifndef HD_COMPILER_PLACE_H
#define HD_COMPILER_PLACE_H

#include "compiler/tile/layer.h"

struct hd_room {
    int64_t at, bytes;
    int from, to; /* layers, inclusive */
    const struct hd_mtensor *of;
    bool apart; /* from the banks of the one that is being placed */
};

/* Layers between which a tensor must keep its place: its first and last use, whole chains. */
int hd_first_use(const struct hd_lowering *lo, const struct hd_mtensor *t);
int hd_last_use(const struct hd_lowering *lo, const struct hd_mtensor *t);
/* Bytes that a tensor takes in XM when it is resident, and in the arena. */
int64_t hd_mtensor_xm_bytes(const struct hd_placement *tp);
int64_t hd_mtensor_dram_bytes(const struct hd_mtensor *t);
/* The second form of second operands of products, words of WM: bytes in the arena. */
int64_t hd_mtensor_word_bytes(const struct hd_lowering *lo, const struct hd_mtensor *t);
/* What the rings of layers [from, to] leave of XM. */
int64_t hd_below_rings(const struct hd_lowering *lo, int from, int to);
/* Tensor ids, largest in XM first. */
int *hd_by_size(struct hd_lowering *lo);

/* spans: room for 2 * n_tensors + 1. Operands of sums lie in banks of their own where there
 * is room, since VX would read a vector of each in two cycles from one. */
void hd_place_residents(struct hd_lowering *lo, const int *ids, struct hd_room *spans);
void hd_place_arena(struct hd_lowering *lo, const int *ids, struct hd_room *spans);

#endif
