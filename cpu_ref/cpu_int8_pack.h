/* Weights as lists of quads, for products of bytes that cannot saturate.
 *
 * vpmaddubsw multiplies unsigned bytes (activations) with signed ones (weights) and adds pairs of
 * products in int16, saturating. A lane of int16 sums is exact whatever the activations are when
 * the positive weights added into it sum to at most 128, and the negative ones to at least -128:
 * 255 * 128 = 32640. Weights are known when a plan is made, so this is arranged then:
 * - A *quad* is four consecutive activations and, for each channel of a block, four weights in two
 *   lanes. Weights beyond the bound go into one more quad of the same activations.
 * - Quads whose lanes stay within the bound together form a *group* of 2 or 4, which is added in
 *   int16 and widened once. Sums in int32 wrap, so they may be formed in any order, and any two
 *   quads of a block may meet.
 * Quads without weights are dropped.
 */
#ifndef HD_CPU_REF_CPU_INT8_PACK_H
#define HD_CPU_REF_CPU_INT8_PACK_H

#include <stdbool.h>
#include <stdint.h>

enum { HD_Q_WIDTH_MAX = 32 };

struct hd_q_list { /* a block's quads, from `first`: groups of 4, then groups of 2, then single */
    int64_t first;
    int32_t n[3]; /* groups */
};

struct hd_q_pack {
    int width; /* channels of a block: 8 or 32; set before the first block */
    struct hd_q_list *list;
    int64_t n_lists;
    int32_t *at; /* of each quad: its activations, as an offset in bytes from the pixel */
    int8_t *w;   /* of each quad [width][4]; 64-byte aligned */
    int64_t n_quads, room;
    int64_t cost; /* vector operations for 8 channels, summed over them all, a pixel */
};

/* A quad of a block before packing. Bytes that no weight meets have a `left` of 0. */
struct hd_q_quad {
    int32_t at;
    uint8_t rows[4];                 /* which of a channel's weights each byte meets */
    int16_t left[HD_Q_WIDTH_MAX][4]; /* weights, of magnitude 255 at most; used up by packing */
};

/* Appends a block. `group`: its quads may be added in int16. False when memory ran out. */
bool hd_q_pack_block(struct hd_q_pack *p, struct hd_q_quad *quads, int64_t n, bool group);
void hd_q_pack_free(struct hd_q_pack *p);

#endif
