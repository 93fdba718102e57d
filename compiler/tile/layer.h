/* Machine layers: what the back end works on. A layer is one graph node (with the reshapes around
 * it folded away) as a loop nest over tensors in the machine's layout.
 *
 *   meet.c        movement of data between layouts that meet
 *   layout.c      which dimension of a tensor its channels are
 *   partition.c   graph nodes -> machine layers and host nodes, and the steps that alternate them
 *   tensorize.c   node -> layer: geometry of the nest, packed weights
 *   transposed.c  transposed convolution -> sub-windows
 *   cost.c        what nodes cost on the host, what a program must save
 *   share.c       concat and split that move nothing
 *   strided.c     views of storage through transposes and reshapes
 *   bmm.c         product of two activations -> where its operands lie
 *   rows.c        softmax and layer norm
 *   recurrent.c   qlstm, qgru, qrnn -> gates, weights, what fits where
 *   move.c        node that only moves data -> the transfers of each row of its result
 *   tiling.c      layer -> tile sizes and loop order
 *   mem/plan.c    which tensors stay on chip, and where everything lives
 *   mem/place.c   where tensors lie in XM and in the arena
 *   sched/        layers -> slot operations, semaphores, bundles
 */
#ifndef HD_COMPILER_LAYER_H
#define HD_COMPILER_LAYER_H

#include "compiler/ir/ir.h"
#include "compiler/options/options.h"
#include "runtime/device/model.h"

/* Bytes of the arena that dependences tell apart (sched/deps.c), so tensors begin at multiples of
 * it (mem/plan.c): else a store to the end of one would hold up loads of the next. And of XM. */
enum { HD_ARENA_GRANULE = 256, HD_XM_GRANULE = 64 };

/* A tensor in machine layout: [n][h][w][cp] bytes, cp = channels rounded up to whole words and
 * vectors. Several graph tensors (reshapes of each other) may share one. */
struct hd_mtensor {
    int tensor; /* graph id of the first of them */
    int n, h, w, c, cp;
    int bytes; /* of a pixel that are its own: cp, but of a part of another tensor */
    /* A part of tensor `base` (-1: none), which is none itself: from channel at_c, row at_row and
     * image at_img of it. cp and padding are the whole's (share.c) */
    int base, at_c, at_row, at_img;
    bool has_parts;
    bool kept; /* hd_is_kept, of it or of a part */
    bool rows; /* [..,C]: n = w = 1, h = rows; else [N,C,..]: the last dimension is w */
    bool is_unsigned;
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
    int overrun;             /* rows that a reader goes on behind its last one */
    int word_rows;           /* > 0: it is also stored as words of WM, in groups of so many rows */
    bool words_by_reader;    /* its maker cannot do that, so its first reader does */
};

struct hd_placement;
/* Bytes between rows of a resident tensor. Rows of a rolling one are granules of their own
 * (sched/deps.c), else reading one would wait for writing the next. */
int hd_mtensor_pitch(const struct hd_placement *tp);
/* Its rows on chip: padding included, slots and those written twice. */
int64_t hd_mtensor_rows(const struct hd_placement *tp);
/* Of a rolling tensor: the slot of row y, which may be padding above the image. */
int hd_mtensor_slot(const struct hd_placement *tp, int y);

struct hd_layer;
struct hd_kind; /* kind.h */

enum { HD_LAYER_INPUTS = 16 };

/* One transfer into a row of the result of a MOVE: `run` bytes, n1 times. */
struct hd_transfer {
    int input;
    int64_t src, s1; /* bytes in the input's arena form */
    int32_t dst, d1; /* bytes from the row's first pixel */
    int32_t run, n1;
};
struct hd_move_rows {
    struct hd_transfer *list;
    size_t n, cap;
    size_t *first; /* [images * rows + 1]: transfers of row r are first[r] .. first[r + 1] - 1 */
    bool fills;    /* some bytes of a pixel come from no input: they are pad_value */
    /* > 0: turned. What comes from neighbours in the inputs is no neighbour in the result, but
     * neighbours of it belong to one channel of neighbouring pixels. So bands of so many rows, and
     * of them slices of so many channels, are loaded as [channels][columns], and VX turns blocks of
     * N x N bytes. Transfers of slice s of the band that begins with row r: first[r * slices + s].
     * holes: bytes of a channel come from no input. */
    int band, slice, slices;
    bool holes;
};
/* Columns of a turned band of n pixels: whole blocks, of which the last one ends at the last pixel
 * and so repeats some, if there are N. */
int hd_turned_columns(const struct hd_machine *m, int n);

/* RECURRENT: qlstm, qgru, qrnn (recurrent.c). Gates in the order in which the machine takes them.
 */
struct hd_recurrent {
    int gates, directions, steps, batch;
    bool reverse, linear_before_reset, no_tanh;
    bool together; /* products are so short that gates come together rather than one by one */
    float scale;   /* of a result before it is rounded: 1 / step */
    /* Initial integers (not of a gru) and binary32 state: indexes in hd_layer.in, -1 = none; or
     * constants, at these offsets of the image, -1 = none. */
    int in_h, in_state;
    int64_t h_offset, state_offset;
    int vectors;                /* of a state: nh */
    int cwx, cwh;               /* words of a row of x and of h */
    struct hd_recurrent_image { /* of a direction, in the image */
        size_t w, r, p;         /* WM words [gate][nh][cw]; PM words: of w [gate][nh], of r */
    } image[2];
};

enum hd_order { HD_ORDER_ANY, HD_ORDER_CHUNK_OUTER, HD_ORDER_TILE_OUTER, HD_ORDER_WAVE };

/* A product of two activations: where each batch of a, of the second operand and of the result
 * begins, as row and first channel of the tensor (of the second operand: of the whole that it is
 * part of). */
struct hd_bmm {
    int batches;
    bool columns; /* of the second operand k lies along rows, not along channels */
    bool pads;    /* lanes behind the last k get a's zero point when it is loaded */
    int depth;    /* k */
    int32_t a_zp, w_zp;
    int *a_row, *a_channel, *w_row, *w_channel, *y_row, *y_channel;
    int32_t part[2][2]; /* bytes whose sum is minus the zero point, of a and of the second */
    int parts[2];
};

struct hd_layer {
    const struct hd_kind *kind;
    int node;
    int step;
    int tag;                          /* index in the model's layers */
    int in[HD_LAYER_INPUTS], out;     /* indexes of mtensors; -1 behind the last input */
    int state;                        /* mtensor of a second result, the last state; -1 = none */
    int result;                       /* graph id of the output that it makes */
    struct hd_move_rows move, turned; /* two ways to do the same */
    struct hd_recurrent rnn;
    struct hd_bmm *bmm;

    /* window and output */
    int kh, kw, sy, sx, dy, dx, pt, pl;
    int oh, ow, oc;
    /* A transposed convolution makes blocks of uy x ux output pixels, and kh, kw, pt, pl are the
     * window of a block; elsewhere 1. Each pixel of a block is a sub-window (transposed.c) */
    int uy, ux;
    struct hd_transposed {
        int k, s, d, p; /* kernel, stride, dilation and pad in front, as the node says */
    } up[2];            /* rows, columns */
    int planes; /* of its weights: bytes whose sum each weight is, 1 unless it has 9 bits (planes.c)
                 */
    int taps;   /* of all sub-windows and planes: WM words of an output tile are taps * cw */
    bool max_pool;
    bool centred;  /* NORM: the mean is taken off */
    int counts[4]; /* of an average pool: rows [0], to [1], columns [2] to [3] whose taps count */
    bool product;  /* ADD that multiplies */
    int *
        row_of[2]; /* ADD: per row of an image of the result that of operand i, when it broadcasts
                      along some of the dimensions that are rows; NULL: the same, or its only one */
    /* RESIZE: results lie between rows at[0][i] and the one behind it, by[0][2i] and [2i + 1] of
     * each; columns likewise */
    const int32_t *at[2];
    const float *by[2];
    int table_words; /* 1: bytes pass through the table at t_offset of the image */
    size_t t_offset;
    int pad_value; /* what pixels outside the input count as: its zero point */

    /* MATMUL: out tile nt reads cw words per tap, from word x_word(nt) of the pixel */
    int groups, cw, nts,
        red;    /* red = taps*cw words per output vector; all phases when pixels are packed */
    int ppw;    /* pixels per word, 1 unless packed (pixels.c) */
    int shift;  /* > 0: packed pixels come twice, the second time in words that begin so many pixels
                   later: windows that need fewer of those read them */
    int im2col; /* bytes of a window as LX gathers it, whole words; 0 = windows are read in place */
    bool x_step_uniform;
    int x_step;   /* words between output tiles when uniform (0: dense) */
    int pm_words; /* per output tile: 1 (bias, scale), and the taps of a depthwise layer */
    int pm_cut;   /* AXI words of the last of them that the image does not have (lw.cut) */
    size_t w_offset, p_offset; /* in the image: packed WM words, PM words */

    /* requantisation, docs/numerics.md */
    int32_t a_imm, b_imm, zp, lo, hi;
    float a_scale, b_scale;

    int64_t macs, weight_bytes;
};

struct hd_lowering;
/* What was chosen for a recurrent layer. */
struct hd_recurrent_tiling {
    const struct hd_recurrent *r;
#define RECURRENT(type, name, ...) type name;
#include "compiler/mem/tiling.def"
};

/* The choice of a plan for one layer: requests of the search, and what tiling made of them. */
struct hd_tiling {
    const struct hd_layer *l;
#define TILING(type, name, ...) type name;
#include "compiler/mem/tiling.def"
    struct hd_recurrent_tiling rnn;
};

/* The choice of a plan for one tensor: where it lies, and from when to when. */
struct hd_placement {
    const struct hd_mtensor *t;
#define PLACE(type, name, ...) type name;
#include "compiler/mem/place.def"
};

/* A plan is a value: a copy of it is another plan. Tilings are by hd_layer.tag, placements by index
 * of the tensor. */
struct hd_plan {
    struct hd_tiling *tilings;
    struct hd_placement *places;
    size_t n_tilings, n_places;
    uint32_t xm_ring_bytes; /* part of XM for streamed tiles, of layers that do not roll */
    uint64_t arena_bytes;
};
/* A plan of lo's layers and tensors in which nothing is chosen; a copy of one. Owned by the arena.
 */
struct hd_plan hd_plan_create(const struct hd_lowering *lo, hd_arena *a);
struct hd_plan hd_plan_copy(const struct hd_plan *p, hd_arena *a);
/* out, which has the same layers and tensors, becomes p. */
void hd_plan_assign(struct hd_plan *out, const struct hd_plan *p);

/* The first word of a pixel that output tile nt touches; that it reads, as many as others do. */
int hd_layer_first_word(const struct hd_layer *l, const struct hd_mtensor *x,
                        const struct hd_machine *m, int nt);
int hd_layer_x_word(const struct hd_layer *l, const struct hd_mtensor *x,
                    const struct hd_machine *m, int nt);

/* First input row (column) of the windows of output row y; y begins a block. */
int hd_layer_row(const struct hd_layer *l, int y);
int hd_layer_col(const struct hd_layer *l, int x);
/* Input rows (columns) that the windows of n output rows cover, from the beginning of a block. */
int hd_layer_rows(const struct hd_layer *l, int n);
int hd_layer_cols(const struct hd_layer *l, int n);

/* What one mx.gemm computes of every block: pixel (y, x) of it, from kh x kw taps that begin at
 * (row, col) of the block's window. A plain convolution has one, which is its window. */
struct hd_sub {
    int y, x;
    int kh, kw, dy, dx, row, col;
    int tap; /* its first tap among the taps of an output tile */
};
int hd_layer_subs(const struct hd_layer *l);
struct hd_sub hd_layer_sub(const struct hd_layer *l, int i);
/* Of a transposed convolution: geometry of its blocks, from l->up. */
void hd_transposed_window(struct hd_layer *l);
struct hd_lowering;
/* Its weights i8 [planes,M,C/group,kh,kw] as WM words, and PM words with a bias for each pixel of a
 * block */
void hd_transposed_pack(struct hd_lowering *lo, struct hd_layer *l, const int8_t *w,
                        const int32_t *bias, const float *scale, int64_t n_scale);

/* Bytes that add up to a weight of tensor w, i8 or i16: 1 to 3; more than 3 where it is of no use
 * to the machine. */
enum { HD_PLANES = 3 };
int hd_weight_planes(const struct hd_tensor *w);
/* Those bytes, plane by plane, each in the order of w; of one plane the tensor's own. Owned by the
 * lowering's arena or by the tensor. */
const int8_t *hd_weight_bytes(const struct hd_lowering *lo, const struct hd_tensor *w, int planes);

enum { HD_DW_TAPS_PER_WORD = 8 }; /* isa.def, vx.dw */

/* Part i of the window of a depthwise layer: kh x kw taps from (row, col), columns `step` apart, of
 * one plane of the weights, in the PM words behind word pm of an output tile. One part is the whole
 * window; each of several goes on from the sums of those before it (tile/depthwise.c). */
struct hd_dw_part {
    int row, col, kh, kw, step, plane, pm;
};
int hd_layer_dw_parts(const struct hd_layer *l);
struct hd_dw_part hd_layer_dw_part(const struct hd_layer *l, int i);
/* Vectors that VX reads for `pixels` neighbours in a row of the result, of one output tile. */
int64_t hd_dw_row_vectors(const struct hd_layer *l, int pixels);
/* The same for a pixel in a long row. */
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

struct hd_strided { /* a tensor as distances, in bytes, in storage of pixels of `pixel` bytes */
    int rank;
    int64_t size[HD_MAX_RANK], step[HD_MAX_RANK], pixel;
};

struct hd_lowering { /* everything between the stages of one hd_lower call */
    hd_ctx *ctx;
    hd_arena *arena;
    const hd_graph *g;
    const struct hd_compile_options *opt;
    const struct hd_machine *m;
    hd_model *model;
    struct hd_mtensor *tensors;
    size_t n_tensors, cap_tensors;
    int *tensor_of;         /* graph tensor -> mtensor, -1 */
    struct hd_share *share; /* per graph tensor */
    bool *shares;           /* per node: it moves nothing, its tensors share storage */
    bool *strides;          /* per node: only addressing, of products around it (bmm.c) */
    bool *chained;          /* per node: a move that is part of the move behind it (move.c) */
    bool *rows;             /* per graph tensor: hd_mtensor.rows */
    const char *
        *too_big; /* per node: why it does not fit this machine, NULL = as far as known it does */
    hd_arena *too_big_arena; /* outlives the attempts */
    struct hd_layer *layers;
    size_t n_layers, cap_layers;
    struct hd_plan plan; /* the one in work */
    size_t most_ops;     /* of what was estimated */
    uint8_t *image;
    size_t image_bytes, cap_image;
};

/* Appends zeroed bytes to the image at a multiple of HD_CODE_ALIGN; returns the offset. */
size_t hd_image_reserve(struct hd_lowering *lo, size_t bytes);

/* Passes, in order. Each one's needs / gives / destroys stand with it. */
hd_status hd_choose_layouts(struct hd_lowering *lo);
/* The layout that a node needs its operands and result in; false: it does not care. */
bool hd_wants_layout(const struct hd_lowering *lo, int node, bool *out_rows);
/* Puts movement of data between layouts that meet, where that pays (meet.c). */
hd_status hd_meet_layouts(hd_ctx *ctx, hd_graph *g, bool always);
/* Machine shape of a tensor; false when it has none: not i8 or u8, constant, dimensions beyond
 * 65535 (rows of [..,C] counted together). */
bool hd_machine_shape(const struct hd_lowering *lo, int tensor, struct hd_mtensor *out);
/* The same of a constant that is an operand like any other (hd_takes_constants). */
bool hd_constant_shape(const struct hd_lowering *lo, int tensor, struct hd_mtensor *out);
bool hd_takes_constants(enum hd_ir_op op);
/* The same of a binary32 state of a recurrent layer, [D,B,H]. */
bool hd_state_shape(const struct hd_lowering *lo, int tensor, struct hd_mtensor *out);
hd_status hd_partition(struct hd_lowering *lo);
/* Time that golden takes for a node, about (cost.c). */
double hd_host_ns(const hd_graph *g, int node);
/* The nodes of one step on the machine, with start and transfers of its values, and on the host.
 * steps: per node, -1 for none. */
struct hd_segment_cost {
    double machine_ns, host_ns;
};
struct hd_segment_cost hd_segment_cost(const struct hd_lowering *lo, const int *steps, int step);
/* Tries to make a concat, split or slice one that moves nothing; steps: per node, in which program
 * it will be (share.c). */
bool hd_share_node(struct hd_lowering *lo, int node, const int *steps);
/* The tensor whose storage it is. */
struct hd_mtensor *hd_mtensor_root(struct hd_lowering *lo, struct hd_mtensor *t);
/* What happens to parts happens to the whole: after partition. */
void hd_share_uses(struct hd_lowering *lo);
/* Where the whole lies, its parts lie: after every placing. */
void hd_share_places(struct hd_lowering *lo);
/* Views of storage. false: the tensor has no rows of channels. */
bool hd_strided_of(const struct hd_lowering *lo, int tensor, struct hd_strided *out);
/* A node that hd_strided_through() may know. */
bool hd_strides_through(const struct hd_node *n);
/* From the view of its operand to that of its result, or back; false when there is none. */
bool hd_strided_through(const hd_graph *g, const struct hd_node *n, bool back,
                        struct hd_strided *v);
/* Products of two activations (bmm.c). *fold: transposes and reshapes that become addressing. */
void hd_bmm_views(struct hd_lowering *lo, const bool *machine, bool *fold);
enum hd_bmm_role { HD_BMM_A, HD_BMM_W, HD_BMM_Y };
int hd_bmm_tensor(const struct hd_lowering *lo, int node,
                  enum hd_bmm_role role); /* that it reads */
/* Its second operand comes in and has to be stored as words before it. */
bool hd_bmm_stages(const struct hd_lowering *lo, const struct hd_layer *l);
/* The layer that makes output `out` of the node. */
hd_status hd_tensorize(struct hd_lowering *lo, int node, int out, struct hd_layer *l);
bool hd_is_recurrent(const struct hd_node *n);
/* A node that only moves elements, whatever its name: which elements is found by running golden on
 * indexes. NULL, or why the machine does not take it. */
bool hd_is_move(const hd_graph *g, const struct hd_node *n);
const char *hd_move_refuses(const struct hd_lowering *lo, int node, const char **out_hint);
/* Of a turned move: bytes of XM of a slice of a band as it is loaded. */
int64_t hd_turned_bytes(const struct hd_lowering *lo, const struct hd_layer *l);
/* Marks moves whose result only another move reads: the two are one. machine: nodes on it. */
void hd_chain_moves(struct hd_lowering *lo, const bool *machine);
/* Tensors whose elements a move moves, through those that are part of it; returns how many, at most
 * HD_LAYER_INPUTS. */
int hd_move_operands(const struct hd_lowering *lo, int node, int out[HD_LAYER_INPUTS]);
int hd_pixel_bytes(const struct hd_lowering *lo, int tensor, const int *users, size_t n_users,
                   int whole, bool *out_gathered);
/* NULL when the machine can run this node, else the reason; *out_hint says what would change it. */
const char *hd_machine_refuses(const struct hd_lowering *lo, int node, const char **out_hint);
/* HD_UNSUPPORTED when the layer fits no way: the reason is then in lo->too_big and the caller
 * starts again without that node. */
hd_status hd_choose_tiles(struct hd_lowering *lo, struct hd_tiling *lt);
/* Bytes of XM that one buffered tile of this layer's streamed operands takes, with its current
 * tiling. */
int hd_layer_block_words(
    const struct hd_tiling *lt); /* WM words of one output tile in one reduction block */
/* Bytes of the image behind the PM words of one output tile. */
size_t hd_layer_pm_bytes(const struct hd_layer *l, const struct hd_machine *m);
int64_t hd_layer_weight_bytes(const struct hd_lowering *lo,
                              const struct hd_layer *l); /* as packed */
struct hd_tile_bytes {
    int64_t in, out;
    int64_t pair; /* of `in`, one of the two views when columns come in pairs */
};
/* Tiles of input i are loaded into the ring; a move takes its inputs from the arena directly. */
bool hd_layer_streams(const struct hd_lowering *lo, const struct hd_layer *l, int i);
struct hd_tile_bytes hd_layer_tile_bytes(const struct hd_lowering *lo, const struct hd_tiling *lt);
/* Of an operand from DRAM only the channels of a chunk are loaded with it: depthwise. */
bool hd_layer_slices(const struct hd_lowering *lo, const struct hd_tiling *lt);
/* The bytes for tiles of a layer's operands in the ring, from byte *first of it on. */
int64_t hd_layer_ring_in(const struct hd_tiling *lt, int64_t *first);
/* Stride 2, depthwise: windows that can read two columns a cycle. */
bool hd_layer_by_pairs(const struct hd_layer *l);
/* Such, streamed: VX reads two columns a cycle, from two views in two parts of the
 * ring for inputs, the first of this many bytes. Not where LX would take longer to pick every
 * second pixel than VX saves. */
bool hd_layer_pairs(const struct hd_lowering *lo, const struct hd_tiling *lt);
/* Its operand comes as two views: those pairs, or packed pixels that are shifted. */
bool hd_layer_two_views(const struct hd_lowering *lo, const struct hd_tiling *lt);
int64_t hd_layer_half_ring(const struct hd_lowering *lo, const struct hd_tiling *lt);
/* Bytes between rows of a streamed tile, of `bytes` each. Rows that the next tile reads, too, do
 * not share granules (sched/deps.c) with those that are loaded for it. */
int hd_layer_pitch(const struct hd_layer *l, int bytes);
/* Of a streamed operand only the pixels that are read are loaded: 1x1 windows with stride. */
bool hd_layer_decimates(const struct hd_lowering *lo, const struct hd_layer *l);
/* MEAN: partial sums, docs/numerics.md; it takes so many pixels at a time at least. */
enum { HD_MEAN_LANES = 4 };
/* ---- tiling.c, for kinds ---- */
/* AM words of one half: MX writes one while VX reads the other. */
static inline int hd_half_am(const struct hd_machine *m) {
    return (int)hd_am_words(m) / 2;
}
/* Shrinks a tile of at most pixels_max results until AM holds it and two of it fit in the ring;
 * false: none does. */
bool hd_fit_tile(const struct hd_lowering *lo, struct hd_tiling *lt, int64_t pixels_max);
/* Enough tiles for overlap, of even height. */
void hd_split_for_overlap(struct hd_tiling *lt);
/* Weight chunks of a product; the most pixels whose sums AM holds; with room in WM for its words.
 */
void hd_choose_weight_chunks(const struct hd_lowering *lo, struct hd_tiling *lt);
int64_t hd_accumulated_pixels(const struct hd_lowering *lo, const struct hd_tiling *lt);
int64_t hd_weight_pixels(const struct hd_lowering *lo, const struct hd_tiling *lt,
                         const char **out_why);
const char *hd_pixel_too_large(const struct hd_lowering *lo, const struct hd_tiling *lt);

/* Bands of tiles down an image. */
int hd_layer_bands(const struct hd_tiling *lt);
void hd_choose_chunks(const struct hd_lowering *lo, struct hd_tiling *lt);
enum hd_chains { HD_CHAINS_NONE, HD_CHAINS_WHOLE, HD_CHAINS_ROLLING };
void hd_choose_chains(struct hd_lowering *lo, enum hd_chains kind);
/* Rings of all layers for a plan; their parts, when it is known what stays on chip (mem/rings.c).
 */
void hd_choose_rings(struct hd_lowering *lo);
void hd_part_rings(struct hd_lowering *lo);
/* The result of a layer is also stored in DRAM, for the caller to see. */
bool hd_is_kept(const struct hd_lowering *lo, const struct hd_mtensor *t);
hd_status hd_plan_memory(struct hd_lowering *lo);
/* The model's figures of activation memory, by the plan. */
void hd_plan_report(struct hd_lowering *lo);
/* Cost of layers [first, end), which are whole chains of one step: cycles, and those that the
 * program takes from the bus; INT64_MAX when they do not fit. */
int64_t hd_estimate_layers(struct hd_lowering *lo, size_t first, size_t end);
/* Behind the last layer of the step of layer i. */
size_t hd_step_end(const struct hd_lowering *lo, size_t i);
/* Asks tiling for better tiles, chunks, orders and rings, by estimates. */
hd_status hd_refine_tiles(struct hd_lowering *lo);
hd_status hd_schedule_step(struct hd_lowering *lo, int step);

#endif
