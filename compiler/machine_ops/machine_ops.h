/* Machine operations: what layers and plan become, in issue order, with their dependences.
 *
 *   lower.c    the loop over layers and tiles
 *   views.c    views of tensors in XM, loads, padding, stores
 *   stream.c   tiles of streamed tensors in their rings
 *   words.c    stores as words of WM
 *   deps.c     touched memory -> which operation waits for which -> semaphores
 *
 * Operations are appended in an order in which they could run one after the other. Everything that
 * may overlap then does, because only real hazards wait. A program cannot deadlock, because each
 * operation waits only for earlier ones, whatever the depth of the queues.
 */
#ifndef HD_COMPILER_MACHINE_OPS_H
#define HD_COMPILER_MACHINE_OPS_H

#include "compiler/plan/plan.h"
#include "isa/isa.h"

enum hd_space {
    HD_SPACE_XM,
    HD_SPACE_WM,
    HD_SPACE_PM,
    HD_SPACE_TM,
    HD_SPACE_AM,
    HD_SPACE_ARENA,
    HD_SPACES
};
enum { HD_PAIRS = HD_UNITS * HD_UNITS, HD_BANK_AM = 32, HD_AM_BANKS = 2 };
struct hd_slot_op {
    uint8_t unit, code;
    uint16_t tag;
    int number;            /* among the operations of its unit, from 1 */
    uint32_t wait, signal; /* masks */
    uint32_t reads_banks;  /* of XM */
    uint64_t writes_banks; /* bit b: bank b of XM; HD_BANK_AM + b: of AM */
    int after[HD_UNITS];   /* number of the operation of each unit that it waits for, 0 = none */
    int knows[HD_UNITS];   /* operations of each unit that are complete when this one starts */
    uint32_t words[HD_PARAM_WORDS];
};
/* A plan that was read may want room that is not there, or a loop that no field holds: the first
 * such case; the next hd_ops_end fails. */
struct hd_misfit {
    bool any, of_field;
    enum hd_field field; /* and `needs` is its value; else: */
    enum hd_space space;
    int64_t needs, has; /* bytes or words, as hd_ops_touch */
};
/* The last operation of a unit that wrote, or read, each granule of a block of a memory. Numbers
 * only grow, so that of a granule is the larger of its own and its block's. */
struct hd_block {
    int most;  /* the largest of all of these */
    int whole; /* it was touched as a whole */
    int *one;  /* of a granule, touched with a part of its block; NULL: none was */
};
struct hd_ops {
    struct hd_lowering *lo;
    hd_arena *arena;
    struct hd_slot_op *ops, *op; /* op: the one being built */
    size_t n_ops, cap_ops;
    int count[HD_UNITS];      /* operations so far */
    int *by_number[HD_UNITS]; /* number - 1 -> index in ops */
    size_t cap_by_number[HD_UNITS];
    uint32_t needs[HD_UNITS]; /* of the operation being built: number waited for, per unit */
    struct hd_block *wrote[HD_SPACES][HD_UNITS], *read[HD_SPACES][HD_UNITS]; /* NULL: none did */
    int64_t n_granules[HD_SPACES];
    int bank_shift;                    /* logarithm of the bytes of a bank of XM */
    int semaphore[HD_UNITS][HD_UNITS]; /* from unit, to unit; -1 = not in use */
    int n_semaphores;
    struct hd_misfit misfit;
};
void hd_ops_init(struct hd_ops *s, struct hd_lowering *lo, hd_arena *arena);
/* Starts an operation; fields and touched memory follow; hd_ops_end closes it. */
void hd_ops_begin(struct hd_ops *s, enum hd_unit unit, unsigned code, int tag);
/* [lo, hi) in units of the space: bytes for XM and ARENA, words for the others. */
void hd_ops_touch(struct hd_ops *s, enum hd_space space, int64_t lo, int64_t hi, bool write);
void hd_ops_misfit(struct hd_ops *s, struct hd_misfit what);
static inline void hd_ops_set(struct hd_ops *s, enum hd_field f, int64_t v) {
    if (!hd_field_try_set(s->op->words, f, v))
        hd_ops_misfit(s, (struct hd_misfit){.of_field = true, .field = f, .needs = v});
}
hd_status hd_ops_end(struct hd_ops *s);
/* Keeps every semaphore's count in range whatever the timing: waits move earlier where tokens pile
 * up. */
void hd_ops_bound_tokens(struct hd_ops *s);
/* A rectangle of pixels in XM: byte address of its first pixel, bytes between rows and pixels. */
struct hd_view {
    uint32_t at;
    int pitch, cp;
    int rows, cols;
    int y, x;       /* coordinates of its first pixel in the tensor */
    bool decimated; /* neighbours are the layer's stride apart in the tensor */
    int c;          /* first channel: a streamed view may hold cp of the tensor's channels */
    int channels;   /* of cp that an operation touches; 0 = all */
    bool alternate; /* every second column of the tensor */
    int other;      /* bytes from its first pixel to the next, where columns are apart; else 0 */
};
static inline struct hd_view hd_view_at(uint32_t at, int pitch, int cp, int rows, int cols, int y,
                                        int x) {
    return (struct hd_view){
        .at = at, .pitch = pitch, .cp = cp, .rows = rows, .cols = cols, .y = y, .x = x};
}
/* Its pixels from (y, x) of the tensor on. */
static inline struct hd_view hd_view_part(const struct hd_view *v, int y, int x, int rows,
                                          int cols) {
    struct hd_view part = *v;
    part.at += (uint32_t)((y - v->y) * v->pitch + (x - v->x) * v->cp);
    part.y = y, part.x = x, part.rows = rows, part.cols = cols;
    return part;
}
struct hd_tile {
    int img, y, x, th, tw;
    int only_nt;     /* the weight chunk when chunks are the outer loop, else -1 */
    int c, channels; /* that are read, when the layer slices; else 0 */
    struct hd_view in[2];
};
struct hd_ring {
    int64_t first, size, next;
    enum hd_space space;
    int64_t most;    /* that was ever taken, from the first on */
    bool came_round; /* it began anew */
};
/* The tile that a ring took last, while nothing is behind it: the next may begin with its rows. */
struct hd_last_tile {
    const struct hd_layer *l;
    int operand, img;
    struct hd_view v;
    int64_t next;     /* of the ring */
    int padded;       /* rows at the beginning of the ring whose padding on either side is there */
    int64_t above[2]; /* where VX wrote rows of padding above a tile that nothing replaced: begin,
                         end */
};
/* Rings for operands: what MX reads, and all else outside a chain that keeps apart what VX reads;
 * that; two views (hd_layer_two_views), in place of the first or the second. */
enum hd_ring_in { HD_RING_MX, HD_RING_VX, HD_RING_PAIRS, HD_RING_PAIRS_B, HD_RINGS_IN };
struct hd_lowerer {
    struct hd_ops s;
    struct hd_lowering *lo;
    const struct hd_machine *m;
    const struct hd_layer *l; /* in work */
    const struct hd_tiling *lt;
    struct hd_ring xm_in[HD_RINGS_IN], xm_out, wm, pm, tm, am;
    enum hd_ring_in in;                    /* of the layer in work: of its first view */
    struct hd_last_tile last[HD_RINGS_IN]; /* of xm_in */
    struct hd_view to_load[2];             /* what is loaded of each view of the tile */
    int64_t am_next[2];                    /* of AM, in each of its halves */
    int *loaded;  /* per mtensor: rows, padding included, of a resident one from outside that are
                     loaded */
    bool *staged; /* per mtensor: stored as words by its reader */
    struct hd_view ahead; /* windows of the next tile of layer ahead_of, turned by VX */
    const struct hd_layer *ahead_of;
    int slice_c, slice_loaded; /* the same of its channels from slice_c, of the layer in work */
    struct hd_chunk {          /* of weights: where it lies, -1 = not loaded */
        int64_t wm, pm;
        int batch; /* of a product of activations: whose words these are */
    } * chunks;
    int64_t stay_wm, stay_pm; /* where the weights of a layer that keeps them begin */
    int64_t table;            /* word of TM of a layer that has one */
};
/* The next `size` of a ring. */
int64_t hd_ring_take(struct hd_lowerer *w, struct hd_ring *r, int64_t size);
const struct hd_mtensor *hd_lower_tensor(const struct hd_lowerer *w, int id);
const struct hd_placement *hd_lower_place(const struct hd_lowerer *w, int id);
/* a_kind or b_kind of the bytes of operand i of the layer. */
static inline int hd_lower_byte_kind(const struct hd_lowerer *w, int i) {
    return hd_lower_tensor(w, w->l->in[i])->is_unsigned ? HD_V_vx_kind_xm_uint8
                                                        : HD_V_vx_kind_xm_int8;
}
/* One operation of the layer in work: begin, set fields, touch memory, hd_ops_end. */
void hd_lower_begin(struct hd_lowerer *w, enum hd_unit unit, enum hd_opcode op);
static inline void hd_lower_set(struct hd_lowerer *w, enum hd_field f, int64_t v) {
    hd_ops_set(&w->s, f, v);
}
/* Begin a load, or a store to the arena, of one run of bytes, which n1 to n3 make more. */
void hd_lower_begin_load(struct hd_lowerer *w, int seg, int64_t src, int64_t dst, int64_t run);
void hd_lower_begin_store(struct hd_lowerer *w, int64_t dst, int64_t src, int64_t run);
/* Its loop i, 1 to 3: n times, `dram` and `chip` bytes apart. */
void hd_lower_runs(struct hd_lowerer *w, int i, int64_t n, int64_t dram, int64_t chip);
/* Loop i of vx.map: n iterations; steps of A, of B and of the result. */
void hd_lower_map_loop(struct hd_lowerer *w, int i, int64_t n, int64_t as, int64_t bs, int64_t ds);
void hd_lower_touch(struct hd_lowerer *w, const struct hd_view *v, bool write);
/* A view of columns that are apart as one of every second column from the first on and one of the
 * others; of other views the view itself. Returns how many. */
int hd_lower_parts(const struct hd_view *v, struct hd_view out[2]);
/* Of what windows that read pairs take from view i: its columns for tw results and, from the first
 * of the windows, the first of them. */
int hd_lower_pair_columns(const struct hd_layer *l, int tw, int i, int *out_first);
int64_t hd_lower_f32_bits(float f);
/* The rectangle [y, y+rows) x [x, x+cols) of operand i, in XM; loaded if it streams. */
hd_status hd_lower_input(struct hd_lowerer *w, int i, int img, int y, int x, int rows, int cols,
                         struct hd_view *out);
/* The same, where x and y are of the view and its place in XM is known (load_view) or is one that
 * its ring gives (stream); what lies outside the tensor gets the pad value. */
hd_status hd_lower_load_view(struct hd_lowerer *w, const struct hd_placement *tp, int img,
                             const struct hd_view *v);
hd_status hd_lower_stream(struct hd_lowerer *w, int view, int operand, int img, struct hd_view *v);
/* Two views of the columns of a tile, in banks of their own: the last of each window and every
 * second before it, and the others. */
hd_status hd_lower_load_pairs(struct hd_lowerer *w, struct hd_tile *t, int rows, int x);
/* Views of every operand that a tile's windows cover. */
hd_status hd_lower_inputs(struct hd_lowerer *w, struct hd_tile *t);
/* Has VX turn the windows of the tile behind this one, before it waits for the sums of this one. */
hd_status hd_lower_ahead(struct hd_lowerer *w, const struct hd_tile *t);
struct hd_view hd_lower_resident(const struct hd_placement *tp, int img, int y, int x, int rows,
                                 int cols);
/* Where a tile of the output goes; `bytes` of each pixel when it streams. */
struct hd_view hd_lower_output(struct hd_lowerer *w, int img, int y, int x, int rows, int cols,
                               int bytes);
/* n runs of `run` bytes of XM, `step` apart, take the value. */
hd_status hd_lower_fill(struct hd_lowerer *w, int value, uint32_t at, int64_t run, int n,
                        int64_t step);
/* Bytes [from, to) of each pixel of a view take zeros: lanes of its last word that no output tile
 * has (K > N). They meet weights of zero, but nobody may read what nobody wrote. */
hd_status hd_lower_fill_lanes(struct hd_lowerer *w, const struct hd_view *v, int from, int to);
/* The padding that a resident tensor keeps around it; of a rolling one, what is there from the
 * beginning. */
hd_status hd_lower_fill_padding(struct hd_lowerer *w, const struct hd_placement *tp);
/* Rows [y, end) of padding above or below a rolling tensor, with their mirror images. */
hd_status hd_lower_fill_rows(struct hd_lowerer *w, const struct hd_placement *tp, int y, int end);
/* Stores channels [c, c + bytes) of a tile, if the tensor has a place in DRAM. */
hd_status hd_lower_store(struct hd_lowerer *w, int img, const struct hd_view *v, int c, int bytes);
/* Stores rows [y, y + rows), channels [c, c + bytes) of a whole tensor, that lie at `from`, also as
 * words of WM (bmm.c). */
hd_status hd_lower_store_words(struct hd_lowerer *w, const struct hd_placement *tp, uint32_t from,
                               int pitch, int y, int rows, int c, int bytes);
/* The tensor, or the one that it is part of. */
const struct hd_mtensor *hd_lower_whole(const struct hd_lowerer *w, int id);
const struct hd_placement *hd_lower_whole_place(const struct hd_lowerer *w, int id);
/* AM words of a tile, in the two banks in turn: of one whose operations read what they have
 * written. Sums that are complete when they are written take the ring `am` as it comes. */
int64_t hd_lower_accumulators(struct hd_lowerer *w, int64_t words);
/* vx.map: clamp, zero point and table of the result; operand A as the layer's first input. */
void hd_lower_set_requant(struct hd_lowerer *w);
void hd_lower_operand_a(struct hd_lowerer *w);
/* Operations of the chains of `step` among layers [first, end), in `scratch`. *out also when it
 * fails. */
hd_status hd_lower_layers(struct hd_lowering *lo, hd_arena *scratch, int step, size_t first,
                          size_t end, struct hd_lowerer **out);

#endif
