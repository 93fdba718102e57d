/* Work that schedules are searched for: convolutions and products with constant weights, of floats
 * or of bytes (qconv, qgemm: docs/numerics.md). A work has a name, which is its key in a database
 * of schedules, an expression, and schedules that follow from a few numbers. */
#ifndef HD_LOOP_TUNABLE_H
#define HD_LOOP_TUNABLE_H

#include "compiler/loop/loop.h"

struct hd_tunable {
    bool product; /* y[h,m] = x[h,c] w: h rows, c summed up, m columns; else a convolution */
    bool rows;    /* product: w is [m,c], else [c,m] */
    bool bias, relu;
    bool bytes; /* x: bytes, channels last; w int8; sums in int32, which are requantised */
    bool fours; /* bytes: x unsigned, in fours (intrinsic vnni), else less x_zp, in pairs (madd) */
    bool x_signed, y_signed;
    int32_t x_zp, y_zp, lo, hi; /* not in the name: they change no speed */
    int64_t n, g, m, c, h, w;   /* of each of g groups: m results, c operands */
    int64_t kh, kw, sy, sx, dy, dx, pt, pl, pb, pr, oh, ow;
};

/* A 1x1 convolution that skips nothing is one row of pixels. */
void hd_tunable_simplify(struct hd_tunable *w);
const char *hd_tunable_name(hd_arena *a, const struct hd_tunable *w);
int64_t hd_tunable_macs(const struct hd_tunable *w);
/* The work as a schedule has it: a schedule of bytes says whether they are multiplied in fours. */
struct hd_tunable hd_tunable_under(const struct hd_tunable *w, const char *schedule);
/* Bound; parameters x, w and, with a bias, b. Of bytes: x, w, b, s, where w lies as
 * hd_tunable_weights has it, and b is of hd_tunable_bias. */
hd_status hd_tunable_expr(hd_ctx *ctx, hd_arena *a, const struct hd_tunable *w,
                          struct hd_expr **out);

/* Weights of bytes, [M][C][kh][kw], in the order of the expression: neighbours in a row of pixels
 * lie together, a number of them that pairs or fours divide. Their number; to: NULL = only count.
 */
size_t hd_tunable_weights(const struct hd_tunable *w, const int8_t *from, int8_t *to);
/* The bias of bytes, [M]: in fours it takes the zero point back that x keeps. weights: as `from`
 * above. Sums wrap, so the results are those of x less its zero point. */
void hd_tunable_bias(const struct hd_tunable *w, const int8_t *weights, const int32_t *from,
                     int32_t *to);

enum hd_dot {                /* what multiplies bytes: sums in a register, neighbours for each */
              HD_DOT_MADD,   /* 8 of 2, AVX2 */
              HD_DOT_VNNI_8, /* 8 of 4 */
              HD_DOT_VNNI    /* 16 of 4 */
};

/* A tile of sums that stays in registers, and the order of what is around it. */
struct hd_tile {
    bool along;          /* lanes are pixels, else results (m) */
    int lanes;           /* elements of the tile along its vectors */
    int across;          /* pixels, rows or results in its other direction */
    int unroll;          /* steps of c in one round; 1 = no copies */
    bool taps;           /* the window's columns are copies, too */
    bool pixels_outside; /* the loop over rows stands outside that over results */
    enum hd_dot dot;
};
/* The widest of VNNI's forms in a schedule: its sums in a register; 0 = none is. */
int hd_tunable_vnni(const char *schedule);
/* The schedule of a tile; NULL = it does not fit the work. */
const char *hd_tunable_schedule(hd_arena *a, const struct hd_tunable *w, const struct hd_tile *t);

#endif
