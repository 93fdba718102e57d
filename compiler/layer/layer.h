/* What is computed: layers and tensors of the machine. Nothing here changes once it is made. */
#ifndef HD_COMPILER_LAYER_H
#define HD_COMPILER_LAYER_H

#include "compiler/ir/ir.h"
#include "compiler/layer/refusal.h"
#include "compiler/options/options.h"
#include "runtime/device/model.h"

/* Tensors begin at multiples of so many bytes, of the arena and of XM: multiples of what
 * dependences tell apart (machine_ops/deps.c), else a store to the end of one would hold up loads
 * of the next.
 */
enum { HD_ARENA_ALIGN = 256, HD_XM_ALIGN = 64 };
/* A tensor in machine layout: [n][h][w][cp] bytes, cp = channels rounded up to whole words and
 * vectors. Several graph tensors (reshapes of each other) may share one. */
struct hd_mtensor {
    int tensor; /* graph id of the first of them */
    int n, h, w, c, cp;
    int bytes;       /* of a pixel that are its own: cp, but of a part of another tensor */
    const int *lane; /* of each channel; NULL: they lie side by side (share.c) */
    /* A part of tensor `base` (-1: none), which is none itself: from channel at_c, row at_row and
     * image at_img of it. cp and padding are the whole's (share.c) */
    int base, at_c, at_row, at_img;
    bool has_parts;
    bool kept; /* hd_is_kept, of it or of a part */
    bool rows; /* [..,C]: n = w = 1, h = rows; else [N,C,..]: the last dimension is w */
    bool is_unsigned;
    bool wide;     /* int16: high bytes in the first half of cp, low bytes, unsigned, behind them */
    bool constant; /* lies in the image, image_at bytes from its beginning */
    uint64_t image_at;
    bool f32; /* state of a recurrent layer: rows of c / 4 binary32 numbers, in DRAM and AM only */
    int pad_value;      /* byte that padding holds: the zero point its consumers use */
    bool pads_agree;    /* every consumer that pads uses that value */
    int pt, pb, pl, pr; /* ring of padding kept around each image when it is resident */
    int made;           /* index of the last layer that writes it: def, but of one with parts */
    int def, last; /* index of the layer that makes it (-1: comes in), and of its last reader */
    bool comes_in, goes_out; /* crosses the border of its step */
    bool gathered;           /* read as im2col windows only: pixels of c bytes, never resident */
    bool read_from_dram;     /* by a move: it is stored even when it is resident */
    bool never_resident;     /* a reader needs it from DRAM */
    int overrun;             /* pixels that a reader goes on behind its last one */
    int word_rows;           /* > 0: it is also stored as words of WM, in groups of so many rows */
    bool words_by_reader;    /* its maker cannot do that, so its first reader does */
};
/* Pixels of all images: rows of it, where it is read as a matrix. */
static inline int hd_mtensor_pixels(const struct hd_mtensor *t) {
    return t->n * t->h * t->w;
}
/* Lane of a channel, or of the first lane behind all of them. */
static inline int hd_lane(const struct hd_mtensor *t, int c) {
    return !t->lane ? c : c < t->c ? t->lane[c] : t->lane[t->c - 1] + 1;
}
/* Channels that lie in the first so many lanes. */
int hd_channels_in(const struct hd_mtensor *t, int lanes);
struct hd_layer;
struct hd_kind; /* kind.h */
enum { HD_LAYER_INPUTS = 16 };
/* Bytes of a result: clamp, zero point, then the table at table_at of the image, of this node or of
 * those behind it that are part of it (kind/join.c). */
struct hd_bytes {
    int32_t zp, lo, hi;
    bool table;
    size_t table_at;
};
/* What one layer computes. It does not change once it is made (kind.h, make). */
struct hd_layer {
    const struct hd_kind *kind;
    const void *own; /* what only its kind knows; NULL: nothing */
    int node;
    int step;
    int tag;                      /* index in the model's layers */
    int in[HD_LAYER_INPUTS], out; /* indexes of mtensors; -1 behind the last input */
    int state;                    /* mtensor of a second result, the last state; -1 = none */
    int result;                   /* graph id of the output that it makes */

    /* window and output */
    int kh, kw, sy, sx, dy, dx, pt, pl;
    int oh, ow, oc;
    int uy, ux;    /* output pixels of a block, which a window makes at once (kind/transposed.c) */
    int planes;    /* of its weights: bytes whose sum each weight is (planes.c) */
    int taps;      /* of all windows of a block and planes: WM words of an output tile per cw */
    int pad_value; /* what pixels outside the input count as: its zero point */

    /* products: an output tile reads cw words per tap */
    int groups, cw, nts, red; /* red: words per output vector; of packed pixels of all phases */
    int ppw;                  /* pixels per word, 1 unless packed (pixels.c) */
    int shift;  /* > 0: packed pixels come twice, the second time in words that begin so many
                   pixels later: windows that need fewer of those read them */
    int im2col; /* bytes of a window as LX gathers it, whole words; 0 = windows are read in place */
    bool turned;  /* LX loads rows of pixels, and VX makes those windows of them (pixels.c) */
    bool down;    /* windows of one column on VX, which slide down (depthwise.c) */
    int pm_words; /* per output tile: bias and scale, and the taps of a depthwise layer */
    int pm_cut;   /* AXI words of the last of them that the image does not have (lw.cut) */

    /* requantisation, docs/numerics.md */
    int32_t a_imm;
    float a_scale;
    struct hd_bytes y;

    int64_t weight_bytes; /* that the network has */
};
struct hd_lowering;
/* First input row (column) of the windows of output row y; y begins a block. */
int hd_layer_row(const struct hd_layer *l, int y);
int hd_layer_col(const struct hd_layer *l, int x);
/* Input rows (columns) that the windows of n output rows cover, from the beginning of a block. */
int hd_layer_rows(const struct hd_layer *l, int n);
int hd_layer_cols(const struct hd_layer *l, int n);
/* Bytes that add up to a weight of tensor w, i8 or i16: 1 to 3; more than 3 where it is of no use
 * to the machine. */
enum { HD_PLANES = 3 };
int hd_weight_planes(const struct hd_tensor *w);
/* Those bytes, plane by plane, each in the order of w; of one plane the tensor's own. Owned by the
 * lowering's arena or by the tensor. */
const int8_t *hd_weight_bytes(const struct hd_lowering *lo, const struct hd_tensor *w, int planes);
enum { HD_DW_TAPS_PER_WORD = 8 }; /* isa.def, vx.dw */
/* Part i of the window of a depthwise layer: kh x kw taps from (row, col), columns `step` apart
 * (where it slides down, columns are its rows), of one plane of the weights, in the PM words behind
 * word pm of an output tile. One part is the whole window; each of several goes on from the sums of
 * those before it (layer/depthwise.c). */
struct hd_dw_part {
    int row, col, kh, kw, step, plane, pm;
};
int hd_layer_dw_parts(const struct hd_layer *l);
struct hd_dw_part hd_layer_dw_part(const struct hd_layer *l, int i);
/* Taps, stride and dilation along the way that windows slide, and across it. */
struct hd_dw_side {
    int k, s, d;
};
struct hd_dw_side hd_dw_along(const struct hd_layer *l);
struct hd_dw_side hd_dw_across(const struct hd_layer *l);
/* Vectors that VX reads for rows x cols pixels of the result, of one output tile. */
int64_t hd_dw_vectors(const struct hd_layer *l, int rows, int cols);
/* The same for a pixel of many. */
int64_t hd_dw_pixel_vectors(const struct hd_layer *l);
/* Packed pixels: output columns f, f + P, ... start `off` pixels into a word and span `words` per
 * row. */
struct hd_phase {
    int off, words;
    bool shifted; /* of the words that begin later */
};
/* Kernel, stride, dilation, padding and output of a window node. */
void hd_window_attrs(struct hd_layer *l, const struct hd_node *n, const hd_graph *g);
/* Cycles that LX takes for each of many runs of so many bytes, one burst each: latency is hidden
 * only as far as bursts are open at a time. */
double hd_run_cycles(const struct hd_lowering *lo, int64_t bytes);
int hd_im2col_bytes(const struct hd_layer *l, int channels, const struct hd_machine *m);
/* Windows turned by VX: whether they cost less than gathered ones; columns of tw results, whole
 * vectors; rows of the image that th rows of results read, with those that only weights of zero
 * meet; bytes of XM for the windows of a tile, turned ones: or for its rows, which lie apart. */
bool hd_turns_windows(const struct hd_lowering *lo, const struct hd_layer *l);
int hd_turned_columns(const struct hd_layer *l, const struct hd_machine *m, int tw);
int hd_turned_rows(const struct hd_layer *l, int th);
int64_t hd_windows_bytes(const struct hd_layer *l, const struct hd_machine *m, int th, int tw);
int hd_layer_phases(const struct hd_layer *l);
struct hd_phase hd_layer_phase(const struct hd_layer *l, int phase);
/* hd_layer.shift that pays for a layer of packed pixels, of cp bytes each; 0 = none does. */
int hd_pixel_shift(const struct hd_lowering *lo, const struct hd_layer *l, int images, int h, int w,
                   int cp);
int hd_layer_phase_words(const struct hd_layer *l,
                         int phases); /* of the first `phases`, per output tile */
struct hd_share { /* of a graph tensor: it lies in `base` (-1: in none), which may lie in another */
    int base, c, row, img;
};
struct hd_pixels { /* of a tensor: bytes of each in DRAM; 0 = not said */
    int cp;
    bool gathered;
};
struct hd_strided { /* a tensor as distances, in bytes, in storage of pixels of `pixel` bytes */
    int rank;
    int64_t size[HD_MAX_RANK], step[HD_MAX_RANK], pixel;
};
struct hd_price_memo;
struct hd_lowering { /* everything between the stages of one hd_lower call */
    hd_ctx *ctx;
    hd_arena *arena;
    const hd_graph *g;
    const struct hd_compile_options *opt;
    const struct hd_machine *m;
    hd_model *model;
    struct hd_mtensor *tensors;
    size_t n_tensors, cap_tensors;
    int *tensor_of;           /* graph tensor -> mtensor, -1 */
    struct hd_share *share;   /* per graph tensor */
    const int **lanes;        /* per graph tensor: hd_mtensor.lane */
    bool *shares;             /* per node: it moves nothing, its tensors share storage */
    bool *strides;            /* per node: only addressing, of products around it (bmm.c) */
    bool *turns;              /* per node: a transpose at the border that moves nothing */
    bool *chained;            /* per node: a move that is part of the move behind it (move.c) */
    bool *joined;             /* per node: a table that is part of the layer in front (join.c) */
    bool *rows;               /* per graph tensor: hd_mtensor.rows */
    const char **left;        /* per node: why it is left to the host although the machine could */
    struct hd_pixels *pixels; /* per graph tensor: as the text of the layers says */
    struct hd_refusal *too_big; /* per node: why it does not fit, as far as known; over attempts */
    const struct hd_layer *layers;
    size_t n_layers;
    struct hd_plan *plan;         /* the one in work */
    size_t most_ops;              /* of what was estimated */
    size_t limit_ops;             /* of a plan that is worth a price; 0 = any */
    bool ordered;                 /* a change is judged in the order of issue (cost/reissue.c) */
    hd_arena *scratch;            /* for one estimate; NULL = each has its own */
    struct hd_price_memo *prices; /* found before (cost/memo.c); NULL = none are kept */
    uint64_t prices_of;           /* what of their keys a search does not change */
    const char *layers_text;      /* where prices of other machines are looked at, else NULL */
    int64_t *layer_cycles;        /* estimated, of each layer of the plan that was taken */
    uint8_t *image;
    size_t image_bytes, cap_image;
};
static inline const struct hd_knobs *hd_knob(const struct hd_lowering *lo) {
    return hd_compile_knobs(lo->opt);
}
/* Views of storage. false: the tensor has no rows of channels. */
bool hd_strided_of(const struct hd_lowering *lo, int tensor, struct hd_strided *out);
/* A node that hd_strided_through() may know. */
bool hd_strides_through(const struct hd_node *n);
/* From the view of its operand to that of its result, or back; false when there is none. */
bool hd_strided_through(const hd_graph *g, const struct hd_node *n, bool back,
                        struct hd_strided *v);
/* The last of the transposes and reshapes that begin with a node, one reading the other alone,
 * whose result lies byte for byte as the node's operand does; -1: none. */
int hd_same_bytes(const struct hd_lowering *lo, int node);
struct hd_pixels hd_pixel_form(const struct hd_lowering *lo, int tensor, const int *users,
                               size_t n_users, int whole, struct hd_pixels asked);
struct hd_tile_bytes {
    int64_t in, out;
    int64_t pair; /* of `in`, one of the two views when columns come in pairs */
};
/* MEAN: partial sums, docs/numerics.md; it takes so many pixels at a time at least. */
enum { HD_MEAN_LANES = 4 };
/* Appends zeroed bytes to the image at a multiple of HD_CODE_ALIGN; returns the offset. */
size_t hd_image_reserve(struct hd_lowering *lo, size_t bytes);
/* Machine shape of a tensor; false when it has none: not integers of 8 or 16 bits, constant, images
 * or channels with dimensions beyond 65535, 2 GiB or more. */
bool hd_machine_shape(const struct hd_lowering *lo, int tensor, struct hd_mtensor *out);
/* The same, or that of a constant as an operand like any other (kind.h, takes_constants). */
bool hd_stored_shape(const struct hd_lowering *lo, int tensor, struct hd_mtensor *out);
/* Names of all layers (those of their nodes) and of all tensors. */
const char **hd_layer_names(const struct hd_lowering *lo, hd_arena *a);
const char **hd_mtensor_names(const struct hd_lowering *lo, hd_arena *a);
/* The tensor whose storage it is. */
struct hd_mtensor *hd_mtensor_root(struct hd_lowering *lo, struct hd_mtensor *t);

#endif
