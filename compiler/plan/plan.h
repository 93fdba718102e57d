/* What was chosen: a plan is a value, with a tiling for each layer and a placement for each tensor;
 * and the rules by which choices follow from requests.
 */
#ifndef HD_COMPILER_PLAN_H
#define HD_COMPILER_PLAN_H

#include "compiler/layer/layer.h"

struct hd_placement;
enum hd_order { HD_ORDER_ANY, HD_ORDER_CHUNK_OUTER, HD_ORDER_TILE_OUTER, HD_ORDER_WAVE };

/* Bytes between rows of a resident tensor. Rows of a rolling one are granules of their own
 * (machine_ops/deps.c), else reading one would wait for writing the next. */
int hd_mtensor_pitch(const struct hd_placement *tp);
/* Its rows on chip: padding included, slots and those written twice. */
int64_t hd_mtensor_rows(const struct hd_placement *tp);
/* Of a rolling tensor: the slot of row y, which may be padding above the image. */
int hd_mtensor_slot(const struct hd_placement *tp, int y);
/* What was chosen for a recurrent layer. */
struct hd_recurrent_tiling {
#define RECURRENT(type, name, ...) type name;
#include "compiler/plan/tiling.def"
};
/* The choice of a plan for one layer: requests of the search, and what tiling made of them. */
struct hd_tiling {
    const struct hd_layer *l;
#define TILING(type, name, ...) type name;
#include "compiler/plan/tiling.def"
    struct hd_recurrent_tiling rnn;
};
/* The choice of a plan for one tensor: where it lies, and from when to when. */
struct hd_placement {
    const struct hd_mtensor *t;
    int first_read; /* by this layer; -1: by none */
#define PLACE(type, name, ...) type name;
#include "compiler/plan/place.def"
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
/* Tiles that suit what is asked; or why there are none. */
struct hd_refusal hd_choose_tiles(const struct hd_lowering *lo, struct hd_tiling *lt);
/* Bytes of XM that one buffered tile of this layer's streamed operands takes, with its current
 * tiling. */
int hd_layer_block_words(
    const struct hd_tiling *lt); /* WM words of one output tile in one reduction block */
/* Bytes of the image behind the PM words of one output tile. */
size_t hd_layer_pm_bytes(const struct hd_layer *l, const struct hd_machine *m);
int64_t hd_layer_weight_bytes(const struct hd_lowering *lo,
                              const struct hd_layer *l); /* as packed */
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
/* A tile reads rows that the one above reads, too. */
bool hd_layer_shares_rows(const struct hd_layer *l);
/* Bytes between rows of a streamed tile, of `bytes` each. Rows that the next tile reads, too, do
 * not share granules (machine_ops/deps.c) with those that are loaded for it. */
int hd_layer_pitch(const struct hd_layer *l, int bytes);
/* Of a streamed operand only the pixels that are read are loaded: 1x1 windows with stride. */
bool hd_layer_decimates(const struct hd_lowering *lo, const struct hd_layer *l);
/* ---- tiling.c, for kinds ---- */
/* AM words of one half: MX writes one while VX reads the other. */
static inline int hd_half_am(const struct hd_machine *m) {
    return (int)hd_am_words(m) / 2;
}
/* Shrinks a tile of at most pixels_max results until AM holds it and two of it fit in the ring;
 * false: none does. */
bool hd_fit_tile(const struct hd_lowering *lo, struct hd_tiling *lt, int64_t pixels_max);
/* Enough tiles for overlap, of even height. */
void hd_split_for_overlap(const struct hd_lowering *lo, struct hd_tiling *lt);
/* Weight chunks of a product; the most pixels whose sums AM holds; with room in WM for its words.
 */
void hd_choose_weight_chunks(const struct hd_lowering *lo, struct hd_tiling *lt);
int64_t hd_accumulated_pixels(const struct hd_lowering *lo, const struct hd_tiling *lt);
int64_t hd_weight_pixels(const struct hd_lowering *lo, const struct hd_tiling *lt,
                         struct hd_refusal *out_why);
struct hd_refusal hd_pixel_too_large(const struct hd_lowering *lo, const struct hd_tiling *lt);
/* Bands of tiles down an image. */
int hd_layer_bands(const struct hd_tiling *lt);
void hd_choose_chunks(const struct hd_lowering *lo, struct hd_tiling *lt);
enum hd_chains { HD_CHAINS_NONE, HD_CHAINS_WHOLE, HD_CHAINS_ROLLING, HD_CHAINS_DEEP };
void hd_choose_chains(struct hd_lowering *lo, enum hd_chains kind);
/* Rings of all layers for a plan; their parts, when it is known what stays on chip (plan/rings.c).
 */
void hd_choose_rings(struct hd_lowering *lo);
/* Bytes that a rolling chain's ring wants, in multiples of `unit`: for operands that come from
 * before it, of them for those that VX reads, for its result. */
struct hd_ring_parts {
    int64_t in, vx, out;
};
struct hd_ring_parts hd_rolling_ring(const struct hd_lowering *lo, const struct hd_tiling *firstt,
                                     const struct hd_tiling *lastt, int64_t unit);
void hd_part_rings(struct hd_lowering *lo);
/* The result of a layer is also stored in DRAM, for the caller to see. */
bool hd_is_kept(const struct hd_lowering *lo, const struct hd_mtensor *t);
struct hd_room {
    int64_t at, bytes;
    int from, to; /* layers, inclusive */
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
/* Of a state: the tensor that holds it until tensor i does, which nobody reads by then, so that the
 * two have one place in the arena; -1 = none. */
int hd_state_before(const struct hd_lowering *lo, int i);
/* spans: room for 4 * n_tensors + 1. */
void hd_place_residents(struct hd_lowering *lo, const int *ids, struct hd_room *spans);
void hd_place_arena(struct hd_lowering *lo, const int *ids, struct hd_room *spans);
/* Where the whole lies, its parts lie: after every placing. */
void hd_share_places(struct hd_lowering *lo);

#endif
