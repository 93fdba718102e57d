/* What the files of products by packed weights share: matmul.c lowers them, matmul_pack.c makes
 * them, transposed.c knows those that are transposed, depthwise.c those that VX takes. */
#ifndef HD_COMPILER_MATMUL_H
#define HD_COMPILER_MATMUL_H

#include "compiler/kind/kinds.h"

/* hd_layer.own of kinds matmul and depthwise. */
struct hd_packed {
    struct hd_transposed {
        int k, s, d, p; /* kernel, stride, dilation and pad in front, as the node says */
    } up[2];            /* rows, columns of a transposed convolution; k = 0: it is none */
    const int *first;   /* per output tile: word of a pixel with which what it reads begins */
    int gap;            /* from there to as many words again that it reads; 0 = there are none */
    bool even;          /* it is as far from each output tile's to the next one's */
    const bool *live;   /* of several planes: per WM word, of windows per output tile: planes behind
                           the first one have more than zeros there; NULL: there is one plane */
    bool sparse;        /* of those planes only live words are loaded */
    size_t w_offset, p_offset; /* in the image: packed WM words, PM words */
};
static inline const struct hd_packed *hd_packed_of(const struct hd_layer *l) {
    return l->own;
}
struct hd_weights {
    const int8_t *w; /* [planes, M, C/group, kh, kw] */
    int64_t taps;    /* kh * kw, as the node says */
    const int32_t *bias;
    const float *scale;
    int64_t n_scale;
};
/* What one mx.gemm computes of every block: pixel (y, x) of it, from kh x kw taps that begin at
 * (row, col) of the block's window. A plain convolution has one, which is its window. */
struct hd_sub {
    int y, x;
    int kh, kw, dy, dx, row, col;
    int tap; /* its first tap among the taps of an output tile */
};
int hd_layer_subs(const struct hd_layer *l);
struct hd_sub hd_layer_sub(const struct hd_layer *l, int i);
/* Of a transposed convolution: geometry of its blocks, from `up`. */
void hd_transposed_window(struct hd_layer *l);
/* One plane of its weights of output channel oc at pixel i of a block, [C/group, kh, kw], into its
 * column of WM words; returns their sum, mod 2^32. */
uint32_t hd_transposed_pack(struct hd_lowering *lo, const struct hd_layer *l, const int8_t *row,
                            int oc, int i, int plane);
/* In the image: the byte of a lane of a word of output channel oc; lanes from the first word that
 * its tile reads to its group. */
uint8_t *hd_packed_byte(struct hd_lowering *lo, const struct hd_layer *l, int oc, int plane,
                        int word, int lane);
int hd_group_lane(const struct hd_lowering *lo, const struct hd_layer *l, int oc);
/* A convolution that VX takes as windows; it becomes one, C/group being 1. */
bool hd_takes_windows(const struct hd_lowering *lo, const struct hd_layer *product);
void hd_pack_windows(struct hd_lowering *lo, struct hd_layer *l, const struct hd_weights *w,
                     struct hd_packed *own);
/* PM words of n output tiles from nt; bytes of a pixel of the chunk that begins there. */
hd_status hd_lower_params(struct hd_lowerer *w, int nt, int n, int64_t *out);
int hd_lower_chunk_bytes(const struct hd_lowerer *w, int nt);
/* Depthwise: sliding windows over n vectors of channels of a tile. */
hd_status hd_lower_depthwise(struct hd_lowerer *w, const struct hd_tile *t, int nt, int n,
                             int64_t pm, const struct hd_view *out, int c);
/* Passes of VX from sums to bytes: joins those of the planes of an int16 operand, scales, splits an
 * int16 result (wide.c). Sets all but places and loops. */
enum hd_pass { HD_PASS_JOIN, HD_PASS_SCALE, HD_PASS_HIGH, HD_PASS_LOW };
void hd_lower_set_pass(struct hd_lowerer *w, enum hd_pass pass);
int64_t hd_matmul_pixel_cycles(const struct hd_layer *l);
/* One tile of a layer with weights. */
hd_status hd_lower_matmul(struct hd_lowerer *w, struct hd_tile *t);
hd_status hd_matmul_make(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l);
const char *hd_matmul_refuses(const struct hd_lowering *lo, int node, const char **out_hint);
enum hd_wish hd_matmul_wish(const struct hd_node *n);
bool hd_matmul_packs_pixels(const struct hd_node *n);
enum hd_flat hd_matmul_flat(const struct hd_lowering *lo, const struct hd_node *n);
#endif
