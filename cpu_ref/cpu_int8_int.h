/* What the quantised convolution of device cpu is made of: cpu_int8.c plans and runs units,
 * cpu_int8_dense.c and cpu_int8_depth.c compute one. See cpu_int8.h. */
#ifndef HD_CPU_REF_CPU_INT8_INT_H
#define HD_CPU_REF_CPU_INT8_INT_H

#include "cpu_ref/cpu_int8.h"
#include "cpu_ref/cpu_int8_pack.h"

enum {
    HD_Q_WORDS_BLOCK = 16, /* channels of a block by method */
    HD_Q_BYTES_BLOCK = 8,
    HD_Q_DEPTH_BLOCK = 32
};

enum hd_q_method {
    HD_Q_BYTES, /* vpmaddubsw on lists of quads */
    HD_Q_WORDS, /* bytes widened to int16, vpmaddwd: for weights that make many quads */
    HD_Q_DEPTH, /* depthwise: lists of quads, channels side by side */
    HD_Q_DOT,   /* vpdpbusd (cpu_int8_dot.h) */
    HD_Q_DOT_DEPTH
};

struct hd_q_part { /* a block's channels of y */
    int64_t first, n, group;
};

struct hd_q_conv {
    struct hd_q_conv_desc d;
    enum hd_q_method method;
    int threads;
    bool small;   /* all scales are below 1/2: no sum can leave the range that q_round clamps to */
    bool gather;  /* 1x1 window, only the pixels it reads are in scratch */
    bool direct;  /* ... or none: they are read where they lie */
    uint8_t flip; /* 0x80 where activations are signed: they become unsigned */
    int32_t zero; /* the zero point, flipped likewise: what padding holds */
    int64_t cg, mg;        /* channels of a group, in and out */
    int64_t block, blocks; /* channels of a block; blocks of a group (depthwise: in
                              all), or panels */
    int64_t chunk;         /* dense: blocks that a tile of pixels meets before the next tile */
    int64_t wp, rows;      /* scratch: pixels a row, rows of a strip */
    int64_t strip, n_strips, n_splits; /* output rows of a strip */
    int64_t n_runs, run_len;    /* neighbouring activations of a window: runs, their length */
    int64_t *run_at;            /* offset of each from a pixel, in activations */
    struct hd_q_part *part;     /* dense: of each block */
    struct hd_q_pack pack;      /* bytes, depthwise */
    int16_t *w;                 /* words: [group][block][run][pair][16][2] */
    const struct hd_q_dot *dot; /* NULL = AVX2 */
    struct hd_q_panel *panel;   /* dot: of each group */
    int8_t *w8;                 /* dot */
    int64_t n_bias;             /* dot: elements */
    int32_t *bias; /* [group][block][channel]: less the zero point's part where bytes are used */
    float *scale;
    size_t scratch_bytes; /* of one thread */
};

struct hd_q_unit {
    const hd_q_conv *c;
    const uint8_t *x, *other;
    uint8_t *y, *scratch;
};

/* Bytes less a zero point, times such a scale, stay far below 2^30. */
static inline bool hd_q_is_small(float scale) {
    return scale > -65536.0f && scale < 65536.0f;
}

/* Weights of output channel m, [ky][kx][channel of the group]: in the order of a run. */
void hd_q_weights(const hd_q_conv *c, int64_t m, int16_t *to);

bool hd_q_runs(hd_q_conv *c);       /* of a dense window, in scratch; false = no memory */
bool hd_q_dense_pack(hd_q_conv *c); /* chooses bytes or words; false = no memory */
bool hd_q_depth_pack(hd_q_conv *c);
/* What a strip of output rows from oy0 on reads, padded, into scratch. */
void hd_q_copy_strip(const hd_q_conv *c, const uint8_t *image, int64_t oy0, uint8_t *scratch);
/* Output rows of a strip, channel blocks of split `split`. */
void hd_q_dense_unit(const struct hd_q_unit *u, int64_t image, int64_t strip, int64_t split,
                     uint8_t *scratch);
void hd_q_depth_unit(const struct hd_q_unit *u, int64_t image, int64_t strip, int64_t split,
                     uint8_t *scratch);

#endif
