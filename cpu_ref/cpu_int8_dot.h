/* Kernels of bytes by vpdpbusd: four products of unsigned activations and signed weights are added
 * to each int32 sum. The text of the kernels is cpu_dot_*.h; cpu_int8_dot16.c compiles it for
 * AVX-512 VNNI (16 sums), cpu_int8_dot8.c for AVX-VNNI (8). cpu_int8_dot.c chooses and packs.
 *
 * Dense: channels of a group are cut in *panels* of 1 to 4 vectors (2 where there are 16
 * registers). Weights of a panel: [run][four activations][vector][channel][4].
 * Depthwise: a panel is a vector. Weights: [panel][four rows][column][channel][4].
 */
#ifndef HD_CPU_REF_CPU_INT8_DOT_H
#define HD_CPU_REF_CPU_INT8_DOT_H

#include "cpu_ref/cpu_int8_int.h"

enum { HD_Q_DOT_TILE = 8 }; /* pixels of a tile at most */

struct hd_q_panel {
    int64_t first, n; /* channels of y */
    int64_t n_b;      /* vectors */
    int64_t at;       /* place in bias and scale */
    int64_t from;     /* the group's first channel of x */
    int64_t weights;  /* place in w8 */
};

struct hd_q_dot { /* one width */
    int lanes;
    void (*dense_unit)(const struct hd_q_unit *u, int64_t image, int64_t strip, int64_t split,
                       uint8_t *scratch);
    void (*depth_unit)(const struct hd_q_unit *u, int64_t image, int64_t strip, int64_t split,
                       uint8_t *scratch);
};
extern const struct hd_q_dot hd_q_dot16, hd_q_dot8;

/* Pixels of a tile whose panel has n_b vectors: the sums, a panel's weights and one more vector are
 * in registers, 32 of them or 16. */
static inline int hd_q_dot_tile(int lanes, int n_b) {
    return lanes == 16 ? (n_b == 4 ? 6 : 8) : n_b == 2 ? 6 : 8;
}

/* The widest form of at most `most` sums that this processor has; NULL = none. */
const struct hd_q_dot *hd_q_dot_of(int most);
/* How many sums of int8 its weights are: 1 or 2; 0 = more. */
int hd_q_dot_pieces(const struct hd_q_conv_desc *d);
bool hd_q_dot_pack(hd_q_conv *c); /* c->dot is set; false = no memory */
bool hd_q_dot_depth_pack(hd_q_conv *c);

#endif
