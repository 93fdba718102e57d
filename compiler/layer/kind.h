/* What a kind of layer is: one row, one file. No other file asks which kind a layer is: it asks for
 * a property or calls a function of the row.
 *
 * `lo` is the lowering in work, `l` a layer, `lt` its tiling. A function that a kind does not need
 * is NULL. */
#ifndef HD_COMPILER_KIND_H
#define HD_COMPILER_KIND_H

#include "compiler/layer/layer.h"

struct hd_lowerer;
struct hd_tiling;
struct hd_tile;

/* Whether a flatten of an image in front of a node folds into it: it may, or without that it is
 * none for the machine. */
enum hd_flat { HD_FLAT_NONE, HD_FLAT_MAY, HD_FLAT_MUST };
/* The layout that a node needs its operands and result in. */
enum hd_wish { HD_WISH_NONE, HD_WISH_IMAGE, HD_WISH_ROWS, HD_WISH_AS_RESULT };

struct hd_kind {
    const char *name;       /* in dumps */
    const char *operations; /* that it is lowered to, isa/isa.def */
    const char *expression; /* of output (m, i, j), in the names of struct hd_layer */
    const char *memories;   /* that its operations read -> write */

    bool product;     /* MX multiplies its operand by packed weights */
    bool slides;      /* VX slides windows over its operand (vx.dw) */
    bool weights;     /* packed weights, and PM words of bias and scale: chunks of output tiles */
    bool chains;      /* its tiles may be issued in turn with those of its neighbours */
    bool only_vx;     /* works long on VX alone: a product may go beside it */
    bool own_params;  /* takes room in WM or PM that is not that of weights */
    bool joins;       /* the table of a node behind it may become part of it: hd_lower_set_requant
                         stands in what makes its bytes only */
    bool own_stores;  /* stores its results in its own way, not tile by tile */
    bool takes_parts; /* of other tensors may be its operands: it steps by cp, touches `bytes` of a
                       * pixel
                       */
    bool all_results; /* one layer makes all results of a node, and `refuses` judges their layouts
                       * and those of the operands */
    bool wishes_all;  /* `wish` is of all operands and results, not of the first ones only */

    /* ---- partition ---- */
    /* NULL: the machine takes this node, as far as its kind knows; else the reason. *out_hint: what
     * would change that. */
    const char *(*refuses)(const struct hd_lowering *lo, int node, const char **out_hint);
    enum hd_wish wish; /* where it is the same for all nodes; else: */
    enum hd_wish (*wish_of)(const struct hd_node *n);
    /* Constants may be among its operands. NULL: none may. */
    bool (*takes_constants)(const struct hd_node *n);
    /* Pixels of its operand may share words (layer/pixels.c). NULL: they may not. */
    bool (*packs_pixels)(const struct hd_node *n);
    /* NULL: HD_FLAT_NONE. */
    enum hd_flat (*flat)(const struct hd_lowering *lo, const struct hd_node *n);
    /* Tensors that it reads; how many. The one in whose storage the result lies. NULL: the node's.
     */
    int (*operands)(const struct hd_lowering *lo, int node, int operand[HD_LAYER_INPUTS]);
    int (*result)(const struct hd_lowering *lo, int node);
    /* Fills l, of which operands, result and requantisation are there. HD_UNSUPPORTED: it turned
     * out not to fit, lo->too_big says why, and there is no message. */
    hd_status (*make)(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l);

    /* ---- plan ---- */
    /* Cycles of its unit for one output pixel, all channels. */
    int64_t (*pixel_cycles)(const struct hd_layer *l);
    /* Vectors that VX works on, of the whole layer, for its roofline. NULL: none. */
    int64_t (*vector_ops)(const struct hd_lowering *lo, const struct hd_layer *l);
    /* Whether tiles of operand i come through the ring. NULL: if it is not resident. */
    bool (*streams)(const struct hd_lowering *lo, const struct hd_layer *l, int i);
    /* Bytes of XM for a tile of its streamed operands. NULL: the windows of the tile. */
    struct hd_tile_bytes (*tile_bytes)(const struct hd_lowering *lo, const struct hd_tiling *lt);
    /* Rows and columns of the operand that a tile reads. NULL: those of its windows. */
    void (*reads)(const struct hd_lowering *lo, const struct hd_tiling *lt, int *rows, int *cols);
    /* Rows that a tile takes as a whole. NULL: those of a block. */
    int (*block_rows)(const struct hd_tiling *lt);
    /* A tile reads rows that the next one reads, too. NULL: as its windows do. */
    bool (*overlaps)(const struct hd_layer *l);
    /* Rows of all batches, which lie one behind the other as results, or as first operand; 0: they
     * do not. NULL: there are no batches. */
    int (*rows)(const struct hd_layer *l, bool results);
    /* Takes room of the ring although no operand streams. NULL: it does not. */
    bool (*takes_ring)(const struct hd_layer *l);
    /* How many output tiles have their weights on chip at a time: lt->nb. */
    void (*choose_chunks)(const struct hd_lowering *lo, struct hd_tiling *lt);
    /* Output pixels of a tile, at most; *out_why: not one fits. */
    int64_t (*most_pixels)(const struct hd_lowering *lo, const struct hd_tiling *lt,
                           struct hd_refusal *out_why);
    /* Words of AM that a tile of th x tw results takes while it is made. */
    int64_t (*am_words)(const struct hd_lowering *lo, const struct hd_layer *l, int th, int tw);
    /* Tiles of its own, in place of bands of rows. */
    struct hd_refusal (*choose_tiles)(const struct hd_lowering *lo, struct hd_tiling *lt);
    /* The plan in words, for people. NULL: the tile. */
    const char *(*plan_text)(hd_arena *a, const struct hd_tiling *lt);

    /* ---- machine operations: of one tile, or of the whole layer ---- */
    hd_status (*lower)(struct hd_lowerer *w, struct hd_tile *t);
    hd_status (*lower_layer)(struct hd_lowerer *w);
};

extern const struct hd_kind hd_kind_matmul, hd_kind_wide, hd_kind_depthwise, hd_kind_add,
    hd_kind_pool, hd_kind_mean, hd_kind_resize, hd_kind_rescale, hd_kind_softmax, hd_kind_norm,
    hd_kind_recurrent, hd_kind_bmm, hd_kind_move;

#endif
