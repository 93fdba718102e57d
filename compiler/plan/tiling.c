/* Tiling: how much of a layer one operation covers, and in which order the loops run.
 *
 * needs: geometry (tensorize), residency of the operands and the size of the XM ring (mem/plan)
 * gives: th, tw, nb, cwb, chunk_outer, weights_stay
 * destroys: an earlier choice
 *
 * Loop orders of a matmul layer (chunk = nb output tiles of weights; tile = th x tw output pixels):
 *   weights stay     for tile: for chunk        every chunk is loaded once and kept
 *   chunk outer      for chunk: for tile        weights once, streamed input once per chunk
 *   tile outer       for tile: for chunk        input once, weights once per tile
 *   wave             tiles and chunks in turn   both once; where both stay on chip and begin off
 * chip The last two are chosen by DRAM bytes. Tiles are rows of pixels as a rule: then the first
 * tile of the next layer needs only the first tiles of this one, and layers overlap.
 */
#include "compiler/layer/kind.h"
#include "compiler/plan/plan.h"
#include "runtime/base/num.h"

bool hd_layer_decimates(const struct hd_lowering *lo, const struct hd_layer *l) {
    return l->kind->product && l->kh == 1 && l->kw == 1 && l->ppw == 1 && !l->im2col &&
           (l->sx > 1 || l->sy > 1) && !lo->plan->places[l->in[0]].resident;
}

bool hd_layer_slices(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    const struct hd_placement *xp = &lo->plan->places[l->in[0]];
    return l->kind->slides && lt->chunk_outer && (!xp->resident || x->comes_in);
}

/* Bytes of a streamed pixel that a tile needs at once. */
static int least_bytes(const struct hd_lowering *lo, const struct hd_tiling *lt, int i) {
    const struct hd_layer *l = lt->l;
    if (hd_layer_slices(lo, lt)) { /* the last of them with what fills its word, where K > N */
        int n = (int)lo->m->n;
        return lt->nb * n + (int)hd_max(0, lo->tensors[l->out].bytes - l->nts * n);
    }
    if (lt->split_k) return lt->cwb * (int)lo->m->k;
    return lo->tensors[l->in[i]].bytes;
}

bool hd_layer_by_pairs(const struct hd_layer *l) {
    return l->kind->slides && l->sx == 2 && l->kw > 1 && hd_layer_dw_parts(l) == 1;
}

bool hd_layer_pairs(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    if (!hd_layer_by_pairs(l) || lo->plan->places[l->in[0]].resident) return false;
    /* cycles of LX and VX for a pixel of the result, whose input is sy x 2 pixels */
    int bytes = least_bytes(lo, lt, 0), n = (int)hd_ceil_div(bytes, lo->m->n);
    double pixels = 2.0 * l->sy, picked = pixels * hd_run_cycles(lo, bytes);
    double rows = hd_layer_slices(lo, lt) ? picked : pixels * bytes / (double)hd_axi_bytes(lo->m);
    return hd_max(picked, (double)l->kh * n) <= hd_max(rows, 2.0 * l->kh * n);
}

int64_t hd_layer_ring_in(const struct hd_tiling *lt, int64_t *first) {
    const struct hd_layer *l = lt->l;
    bool vx = lt->ring_vx && !l->kind->product;
    *first = vx ? (int64_t)lt->ring_in - lt->ring_vx : 0;
    return vx ? lt->ring_vx : (int64_t)lt->ring_in - lt->ring_vx;
}

bool hd_layer_two_views(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    return l->shift || l->turned || hd_layer_pairs(lo, lt);
}

int64_t hd_layer_half_ring(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    int64_t bank = lo->m->xm_bytes / lo->m->xm_banks; /* one or more between the two views */
    int64_t first, in = hd_layer_ring_in(lt, &first);
    return hd_floor_to(in / 2, in < 2 * bank || in > 3 * bank ? 64 : bank);
}

bool hd_layer_streams(const struct hd_lowering *lo, const struct hd_layer *l, int i) {
    return l->kind->streams ? l->kind->streams(lo, l, i) : !lo->plan->places[l->in[i]].resident;
}

bool hd_layer_shares_rows(const struct hd_layer *l) {
    return (l->kh - 1) * l->dy + 1 > l->sy || (l->kind->overlaps && l->kind->overlaps(l));
}

int hd_layer_pitch(const struct hd_layer *l, int bytes) {
    return hd_layer_shares_rows(l) ? (int)hd_round_up(bytes, 64) : bytes;
}

/* Of rows x cols pixels of streamed operand i. */
static int64_t bytes_of(const struct hd_lowering *lo, const struct hd_tiling *lt, int i, int rows,
                        int cols) {
    int64_t row = hd_layer_pitch(lt->l, cols * least_bytes(lo, lt, i));
    return hd_round_up(rows * row, 64);
}

struct hd_tile_bytes hd_layer_tile_bytes(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    struct hd_tile_bytes bytes = {0};
    if (l->kind->tile_bytes) return l->kind->tile_bytes(lo, lt);
    int rows = hd_layer_rows(l, lt->th), cols = hd_layer_cols(l, lt->tw);
    if (hd_layer_decimates(lo, l)) rows = lt->th, cols = lt->tw;
    if (l->kind->reads) l->kind->reads(lo, lt, &rows, &cols);
    if (l->ppw > 1) cols += 2 * l->ppw; /* from the word before to the word behind */
    if (hd_layer_pairs(lo, lt)) cols = lt->tw + 1;
    if (hd_layer_two_views(lo, lt)) bytes.pair = bytes_of(lo, lt, 0, rows, cols);
    if (l->im2col) bytes.in = hd_windows_bytes(l, lo->m, lt->th, lt->tw);
    if (l->turned) bytes.pair = bytes.in;
    for (int i = 0; i < HD_LAYER_INPUTS && l->in[i] >= 0 && !l->im2col; i++)
        if (hd_layer_streams(lo, l, i)) bytes.in += bytes_of(lo, lt, i, rows, cols);
    if (bytes.pair) bytes.in = 2 * bytes.pair;
    const struct hd_mtensor *y = &lo->tensors[l->out];
    const struct hd_placement *yp = &lo->plan->places[l->out];
    int64_t pixel = y->bytes; /* of one chunk: the last stores the padding, too */
    if (lt->split_k)
        pixel = hd_min(pixel, lt->nb * (int)lo->m->n + y->bytes - l->nts * (int)lo->m->n);
    if (!yp->resident) bytes.out = hd_round_up((int64_t)lt->th * lt->tw * pixel, 64);
    return bytes;
}

int hd_layer_block_words(const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    return lt->cwb == l->cw ? l->red : l->taps * lt->cwb;
}

/* A window has so many words that not even those of one output tile are in WM twice: blocks of the
 * reduction, one behind the other. Each of more output tiles is shorter, but the operand's part of
 * it serves them all. */
static void choose_block(const struct hd_lowering *lo, struct hd_tiling *lt, int most) {
    const struct hd_layer *l = lt->l;
    int words = (int)hd_eighths(hd_wm_words(lo->m), hd_knob(lo)->block) /
                l->taps; /* of a tap of all output tiles */
    int nb = lt->ask_nb ? lt->ask_nb : words / (int)hd_ceil_div(hd_knob(lo)->run, lo->m->k);
    lt->nb = lt->split_k ? (int)hd_max(1, hd_min(hd_min(nb, words), hd_min(most, l->nts))) : 1;
    lt->nb = (int)hd_ceil_div(l->nts, hd_ceil_div(l->nts, lt->nb));
    lt->cwb = (int)hd_max(1, words / lt->nb);
    if (lt->split_k) { /* the windows of a block of pixels fit in the ring twice, too */
        int64_t first, pixels = (int64_t)hd_layer_rows(l, l->uy) * hd_layer_cols(l, l->ux);
        int64_t room = hd_layer_ring_in(lt, &first) / 2 / (pixels * lo->m->k);
        lt->cwb = (int)hd_max(1, hd_min(hd_min(lt->cwb, l->cw), room));
        lt->cwb = (int)hd_ceil_div(l->cw, hd_ceil_div(l->cw, lt->cwb));
    }
    lt->weights_stay = false;
}

void hd_choose_weight_chunks(const struct hd_lowering *lo, struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    int words = (int)hd_wm_words(lo->m), pm = (int)hd_pm_words(lo->m), red = l->red;
    int most = hd_half_am(lo->m) / (l->uy * l->ux); /* at least a block of pixels */
    most = (int)hd_min(most, hd_eighths(pm, hd_knob(lo)->block) / l->pm_words);
    lt->cwb = l->cw;
    if (lt->split_k || (l->ppw == 1 && !l->im2col && red > words / 2)) {
        choose_block(lo, lt, most);
        return;
    }
    lt->weights_stay = (int64_t)l->nts * red <= hd_eighths(words, hd_knob(lo)->stay) &&
                       l->nts * l->pm_words <= pm / 2;
    int nb = (int)hd_max(1, hd_eighths(words, hd_knob(lo)->chunk) / red);
    if (lt->ask_nb) nb = (int)hd_min(lt->ask_nb, words / 2 / red);
    nb = (int)hd_max(1, hd_min(hd_min(nb, most), l->nts));
    lt->nb = (int)hd_ceil_div(l->nts, hd_ceil_div(l->nts, nb)); /* even chunks */
}

/* Two tiles of each streamed operand fit in their parts of the ring. */
static bool fits_twice(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    struct hd_tile_bytes b = hd_layer_tile_bytes(lo, lt);
    if (l->kind->am_words && l->kind->am_words(lo, l, lt->th, lt->tw) > hd_half_am(lo->m))
        return false;
    if (b.pair && 2 * b.pair > hd_layer_half_ring(lo, lt)) return false;
    int64_t first;
    return 2 * b.in <= hd_layer_ring_in(lt, &first) && 2 * b.out <= lt->ring_bytes - lt->ring_in;
}

/* n output rows (columns) as whole blocks, at least one; all of them need not be whole. */
static int blocks(int n, int block, int all) {
    return n >= all ? all : (int)hd_min(all, hd_max(block, hd_floor_to(n, block)));
}

/* Pixels of a tile along a way, of `all`: a loop counts 16 bits; where windows slide, the sums of
 * several parts of them are in accumulators at a time. */
static int along_max(const struct hd_lowering *lo, const struct hd_layer *l, bool down, int all) {
    bool parts = l->kind->slides && l->down == down && hd_layer_dw_parts(l) > 1;
    return (int)hd_min(all, parts ? hd_half_am(lo->m) : UINT16_MAX);
}

static int block_rows(const struct hd_tiling *lt) {
    return lt->l->kind->block_rows ? lt->l->kind->block_rows(lt) : lt->l->uy;
}

/* Shrinks a tile until accumulators hold it and two of it fit in the ring. */
bool hd_fit_tile(const struct hd_lowering *lo, struct hd_tiling *lt, int64_t pixels_max) {
    const struct hd_layer *l = lt->l;
    lt->tw = blocks(
        (int)hd_min(along_max(lo, l, false, l->ow), pixels_max / hd_min(block_rows(lt), l->oh)),
        l->ux, l->ow);
    lt->th = blocks((int)hd_min(along_max(lo, l, true, l->oh), pixels_max / lt->tw), block_rows(lt),
                    l->oh);
    while (!fits_twice(lo, lt)) {
        if (lt->th > block_rows(lt))
            lt->th = blocks(lt->th - (int)hd_max(1, lt->th / hd_knob(lo)->shrink), block_rows(lt),
                            l->oh);
        else if (lt->tw > l->ux)
            lt->tw = blocks(lt->tw - (int)hd_max(1, lt->tw / hd_knob(lo)->shrink), l->ux, l->ow);
        else
            return false;
    }
    return true;
}

/* The same; a depthwise layer takes fewer channels at a time where that helps. */
static bool fit_channels(const struct hd_lowering *lo, struct hd_tiling *lt, int64_t pixels_max) {
    const struct hd_layer *l = lt->l;
    bool fits = hd_fit_tile(lo, lt, pixels_max);
    while (!fits && l->kind->slides && !lt->roll_th && lt->nb > 1) {
        lt->nb = (int)hd_ceil_div(lt->nb, 2);
        lt->chunk_outer = true;
        fits = hd_fit_tile(lo, lt, pixels_max);
    }
    return fits;
}

/* One of n equal parts of `all`, in whole blocks. */
static int even(int all, int64_t n, int block) {
    return (int)hd_min(all, hd_round_up(hd_ceil_div(all, n), block));
}

int hd_layer_bands(const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    return (int)hd_ceil_div(l->oh, lt->th);
}

/* Enough tiles for overlap, of even height; an image of too few rows (one that is a sequence) is
 * cut across. */
void hd_split_for_overlap(const struct hd_lowering *lo, struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    int64_t layer_cycles = (int64_t)l->oh * l->ow * l->kind->pixel_cycles(l);
    int64_t wanted = hd_max(1, hd_min(hd_knob(lo)->bands, layer_cycles / hd_knob(lo)->short_tile));
    bool each = l->kind->product && (lt->split_k || lt->cwb < l->cw);
    if (each) wanted = 1; /* weights come for each tile */
    if (lt->ask_tiles) wanted = lt->ask_tiles;
    if (lt->tw == l->ow) lt->th = (int)hd_min(lt->th, even(l->oh, wanted, block_rows(lt)));
    if (lt->own_ring && !lt->ask_tiles) lt->th = (int)hd_min(lt->th, lt->chain_th);
    lt->th = even(l->oh, hd_layer_bands(lt), block_rows(lt));
    int64_t across = l->oh < hd_knob(lo)->bands ? hd_ceil_div(wanted, hd_layer_bands(lt)) : 1;
    lt->tw = even(l->ow, hd_max(across, hd_ceil_div(l->ow, lt->tw)), l->ux);
    if (l->ppw > 1 && lt->tw < l->ow)
        lt->tw = (int)hd_max(1, lt->tw / hd_layer_phases(l)) * hd_layer_phases(l);
}

size_t hd_layer_pm_bytes(const struct hd_layer *l, const struct hd_machine *m) {
    return (size_t)l->pm_words * hd_pm_word_bytes(m) - (size_t)l->pm_cut * hd_axi_bytes(m);
}

int64_t hd_layer_weight_bytes(const struct hd_lowering *lo, const struct hd_layer *l) {
    if (l->kind->slides) return l->nts * (int64_t)hd_layer_pm_bytes(l, lo->m);
    return l->kind->weights ? (int64_t)l->nts * l->red * hd_wm_word_bytes(lo->m) : 0;
}

static void choose_chunks(const struct hd_lowering *lo, struct hd_tiling *lt) {
    if (lt->l->kind->choose_chunks) lt->l->kind->choose_chunks(lo, lt);
}

void hd_choose_chunks(const struct hd_lowering *lo, struct hd_tiling *lt) {
    lt->split_k = false; /* of an earlier plan */
    choose_chunks(lo, lt);
}

static void choose_order(const struct hd_lowering *lo, struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    const struct hd_placement *xp = &lo->plan->places[l->in[0]];
    int64_t tiles = hd_layer_bands(lt) * hd_ceil_div(l->ow, lt->tw) * x->n;
    int64_t chunks = hd_ceil_div(l->nts, lt->nb);
    int64_t weights = hd_layer_weight_bytes(lo, l);
    int64_t input = xp->resident ? 0 : (int64_t)x->n * x->h * x->w * x->bytes;
    bool split = lt->cwb < l->cw; /* then a chunk is loaded anew for each tile anyway */
    lt->chunk_outer =
        !lt->weights_stay && !split && weights + input * chunks <= weights * tiles + input;
    if (lt->ask_order != HD_ORDER_ANY && !split && !lt->weights_stay)
        lt->chunk_outer = lt->ask_order == HD_ORDER_CHUNK_OUTER;
    if (lt->split_k) lt->chunk_outer = true; /* a tile of all results need not fit */
    lt->wave = lt->ask_order == HD_ORDER_WAVE && lt->weights_stay && xp->resident;
}

/* The tile of a layer in a rolling chain: whole rows, as many as the chain says. */
static struct hd_refusal roll_tile(const struct hd_lowering *lo, struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    lt->tw = l->ow, lt->th = (int)hd_min(lt->roll_th, l->oh);
    int64_t pixels = (int64_t)lt->tw * lt->th;
    if (l->kind->product || l->kind->rows) {
        if (pixels > hd_half_am(lo->m)) return HD_REFUSE(chain_rows);
        lt->nb = (int)hd_min(lt->nb, hd_half_am(lo->m) / pixels);
    }
    lt->chunk_outer = lt->wave = false;
    if (lt->tw > along_max(lo, l, false, l->ow) || lt->th > along_max(lo, l, true, l->oh))
        return HD_REFUSE(chain_rows);
    struct hd_refusal why = {.why = HD_FITS};
    if (l->kind->only_vx && pixels > l->kind->most_pixels(lo, lt, &why))
        return HD_REFUSE(chain_rows);
    bool stays = lt->weights_stay || !l->kind->weights;
    if (!stays || !fits_twice(lo, lt)) return HD_REFUSE(chain_rows);
    return (struct hd_refusal){.why = HD_FITS};
}

int64_t hd_accumulated_pixels(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    return hd_min(hd_half_am(lo->m) / lt->nb, 65535);
}

int64_t hd_weight_pixels(const struct hd_lowering *lo, const struct hd_tiling *lt,
                         struct hd_refusal *out_why) {
    const struct hd_layer *l = lt->l;
    int64_t words = hd_layer_block_words(lt);
    if (words > hd_wm_words(lo->m) / 2)
        *out_why = HD_REFUSE_N(window_words, l->kh, l->kw, words, hd_wm_words(lo->m));
    return hd_accumulated_pixels(lo, lt);
}

struct hd_refusal hd_pixel_too_large(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    struct hd_tile_bytes b = hd_layer_tile_bytes(lo, lt);
    return HD_REFUSE_N(pixel_bytes, b.in + b.out, lt->ring_bytes);
}

static struct hd_refusal choose_tiles(const struct hd_lowering *lo, struct hd_tiling *lt) {
    const struct hd_kind *k = lt->l->kind;
    struct hd_refusal why = {.why = HD_FITS};
    if (k->choose_tiles) return k->choose_tiles(lo, lt);
    choose_chunks(lo, lt);
    int64_t most = k->most_pixels ? k->most_pixels(lo, lt, &why) : INT32_MAX;
    if (why.why) return why;
    if (!fit_channels(lo, lt, most)) return hd_pixel_too_large(lo, lt);
    if (lt->roll_th) return roll_tile(lo, lt);
    hd_split_for_overlap(lo, lt);
    if (k->product) choose_order(lo, lt);
    return why;
}

/* DRAM bytes of weights and operand: by parts the operand comes for each chunk of output tiles. */
static int64_t traffic(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    int64_t tiles = hd_layer_bands(lt) * hd_ceil_div(l->ow, lt->tw) * x->n;
    int64_t input = (int64_t)hd_layer_rows(l, lt->th) * hd_layer_cols(l, lt->tw) * x->bytes * tiles;
    bool once = lt->weights_stay || (lt->chunk_outer && !lt->split_k);
    return hd_layer_weight_bytes(lo, l) * (once ? 1 : tiles) +
           input * (lt->chunk_outer ? hd_ceil_div(l->nts, lt->nb) : 1);
}

/* The layer waits for memory rather than for MX. */
static bool waits_for_memory(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    int64_t products = (int64_t)lo->tensors[l->out].n * l->oh * l->ow * l->nts * l->red;
    return traffic(lo, lt) / hd_axi_bytes(lo->m) > products;
}

/* The operand may come by parts of the reduction, in tiles of more pixels. */
static bool takes_parts(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    const struct hd_placement *xp = &lo->plan->places[l->in[0]];
    return l->kind->product && l->groups == 1 && l->ppw == 1 && !l->im2col && !lt->roll_th &&
           !xp->resident && x->bytes == l->cw * (int)lo->m->k;
}

/* needs / gives / destroys: see the head of this file. */
struct hd_refusal hd_choose_tiles(const struct hd_lowering *lo, struct hd_tiling *lt) {
    lt->split_k = false;
    const struct hd_refusal why = choose_tiles(lo, lt), fits = {.why = HD_FITS};
    if (!takes_parts(lo, lt)) return why;
    bool split = lt->cwb < lt->l->cw;
    if (!why.why && !split && (lt->weights_stay || !waits_for_memory(lo, lt))) return why;
    const struct hd_tiling whole = *lt;
    lt->split_k = true;
    if (!choose_tiles(lo, lt).why && (why.why || traffic(lo, lt) < traffic(lo, &whole)))
        return fits;
    *lt = whole;
    return why;
}
