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
#include "compiler/tile/layer.h"
#include "runtime/base/num.h"

enum {
    TILES_WANTED = 4,    /* per layer, so that the units overlap */
    MIN_OP_CYCLES = 512, /* do not split below this for overlap alone */
};

bool hd_layer_decimates(const struct hd_lowering *lo, const struct hd_layer *l) {
    return l->kind == HD_LAYER_MATMUL && l->kh == 1 && l->kw == 1 && l->ppw == 1 && !l->im2col &&
           (l->sx > 1 || l->sy > 1) && !lo->tensors[l->in[0]].resident;
}

bool hd_layer_slices(const struct hd_lowering *lo, const struct hd_layer *l) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    return l->kind == HD_LAYER_DEPTHWISE && l->chunk_outer && (!x->resident || x->comes_in);
}

/* Bytes of a streamed pixel that a tile needs at once: a mean may take its channels in parts. */
static int least_bytes(const struct hd_lowering *lo, const struct hd_layer *l, int i) {
    if (hd_layer_slices(lo, l)) { /* the last of them with what fills its word, where K > N */
        int n = (int)lo->m->n;
        return l->nb * n + (int)hd_max(0, lo->tensors[l->out].bytes - l->nts * n);
    }
    if (l->parts) return l->cwb * (int)lo->m->k;
    return l->kind == HD_LAYER_MEAN ? (int)lo->m->n : lo->tensors[l->in[i]].bytes;
}

bool hd_layer_by_pairs(const struct hd_layer *l) {
    return l->kind == HD_LAYER_DEPTHWISE && l->sx == 2 && l->kw > 1 && hd_layer_dw_parts(l) == 1;
}

bool hd_layer_pairs(const struct hd_lowering *lo, const struct hd_layer *l) {
    if (!hd_layer_by_pairs(l) || lo->tensors[l->in[0]].resident) return false;
    /* cycles of LX and VX for a pixel of the result, whose input is sy x 2 pixels */
    int bytes = least_bytes(lo, l, 0), n = (int)hd_ceil_div(bytes, lo->m->n);
    double pixels = 2.0 * l->sy, picked = pixels * hd_run_cycles(lo, bytes);
    double rows = hd_layer_slices(lo, l) ? picked : pixels * bytes / (double)hd_axi_bytes(lo->m);
    return hd_max(picked, (double)l->kh * n) <= hd_max(rows, 2.0 * l->kh * n);
}

int64_t hd_layer_ring_in(const struct hd_layer *l, int64_t *first) {
    bool vx = l->ring_vx && l->kind != HD_LAYER_MATMUL;
    *first = vx ? (int64_t)l->ring_in - l->ring_vx : 0;
    return vx ? l->ring_vx : (int64_t)l->ring_in - l->ring_vx;
}

bool hd_layer_two_views(const struct hd_lowering *lo, const struct hd_layer *l) {
    return l->shift || hd_layer_pairs(lo, l);
}

int64_t hd_layer_half_ring(const struct hd_lowering *lo, const struct hd_layer *l) {
    int64_t bank = lo->m->xm_bytes / lo->m->xm_banks; /* one or more between the two views */
    int64_t first, in = hd_layer_ring_in(l, &first);
    return hd_floor_to(in / 2, in < 2 * bank || in > 3 * bank ? 64 : bank);
}

bool hd_layer_streams(const struct hd_lowering *lo, const struct hd_layer *l, int i) {
    if (l->kind == HD_LAYER_RECURRENT && i > 0) return false; /* initial states have their place */
    if (l->kind == HD_LAYER_BMM && i == 1) return hd_bmm_stages(lo, l);
    return l->kind != HD_LAYER_MOVE && !lo->tensors[l->in[i]].resident;
}

int hd_layer_pitch(const struct hd_layer *l, int bytes) {
    bool shares = (l->kh - 1) * l->dy + 1 > l->sy || l->kind == HD_LAYER_RESIZE || l->row_of[0] ||
                  l->row_of[1];
    return shares ? (int)hd_round_up(bytes, 64) : bytes;
}

/* Of a product of two activations: words of rows, a block of the second operand that comes in,
 * constant words. */
static struct hd_tile_bytes bmm_bytes(const struct hd_lowering *lo, const struct hd_layer *l) {
    struct hd_tile_bytes bytes = {0};
    if (hd_layer_streams(lo, l, 0)) bytes.in = hd_round_up((int64_t)l->th * l->cw * lo->m->k, 64);
    if (hd_bmm_stages(lo, l))
        bytes.in += hd_round_up((int64_t)lo->m->n * lo->tensors[l->in[1]].cp, 64);
    if (l->bmm->parts[0]) bytes.in += hd_round_up(2 * lo->m->k, 64);
    if (!lo->tensors[l->out].resident)
        bytes.out = hd_round_up((int64_t)l->th * l->nb * lo->m->n, 64);
    return bytes;
}

struct hd_tile_bytes hd_layer_tile_bytes(const struct hd_lowering *lo, const struct hd_layer *l) {
    struct hd_tile_bytes bytes = {0};
    if (l->kind == HD_LAYER_BMM) return bmm_bytes(lo, l);
    int rows = hd_layer_rows(l, l->th), cols = hd_layer_cols(l, l->tw);
    if (hd_layer_decimates(lo, l)) rows = l->th, cols = l->tw;
    if (l->kind == HD_LAYER_RESIZE) {
        rows = hd_resize_span(l, 0, lo->tensors[l->in[0]].h, l->th);
        cols = hd_resize_span(l, 1, lo->tensors[l->in[0]].w, l->tw);
    }
    if (hd_layer_pairs(lo, l)) {
        bytes.pair = (int64_t)rows * hd_layer_pitch(l, (l->tw + 1) * least_bytes(lo, l, 0));
        bytes.pair = hd_round_up(bytes.pair, 64);
        cols = 2 * (l->tw + 1);
    }
    if (l->kind == HD_LAYER_MEAN && hd_layer_streams(lo, l, 0))
        rows = 1, cols = HD_MEAN_LANES, bytes.in = 64;
    if (l->ppw > 1) cols += 2 * l->ppw; /* from the word before to the word behind */
    if (l->shift)
        bytes.pair =
            hd_round_up((int64_t)rows * hd_layer_pitch(l, cols * least_bytes(lo, l, 0)), 64);
    if (l->turns) bytes.in = 2 * hd_turned_bytes(lo, l);
    if (l->im2col) bytes.in = hd_round_up((int64_t)l->th * l->tw * l->im2col, 64);
    for (int i = 0; i < HD_LAYER_INPUTS && l->in[i] >= 0 && !l->im2col; i++)
        if (hd_layer_streams(lo, l, i))
            bytes.in +=
                hd_round_up((int64_t)rows * hd_layer_pitch(l, cols * least_bytes(lo, l, i)), 64);
    if (bytes.pair) bytes.in = 2 * bytes.pair;
    const struct hd_mtensor *y = &lo->tensors[l->out];
    int64_t pixel = y->bytes; /* of one chunk: the last stores the padding, too */
    if (l->parts) pixel = hd_min(pixel, l->nb * (int)lo->m->n + y->bytes - l->nts * (int)lo->m->n);
    if (!y->resident) bytes.out = hd_round_up((int64_t)l->th * l->tw * pixel, 64);
    return bytes;
}

int hd_layer_block_words(const struct hd_layer *l) {
    return l->cwb == l->cw ? l->red : l->taps * l->cwb;
}

/* Halves of the accumulator memory alternate between MX and VX. */
static int accumulators(const struct hd_machine *m) {
    return (int)hd_am_words(m) / 2;
}

/* A window has so many words that not even those of one output tile are in WM twice: blocks of the
 * reduction, one behind the other. Each of more output tiles is shorter, but the operand's part of
 * it serves them all. */
static void choose_block(const struct hd_lowering *lo, struct hd_layer *l, int most) {
    enum { RUN = 128 }; /* bytes of a pixel that are worth a run of LX */
    int words = (int)hd_wm_words(lo->m) / 4 / l->taps; /* of a tap of all output tiles */
    int nb = l->ask_nb ? l->ask_nb : words / (int)hd_ceil_div(RUN, lo->m->k);
    l->nb = l->parts ? (int)hd_max(1, hd_min(hd_min(nb, words), hd_min(most, l->nts))) : 1;
    l->nb = (int)hd_ceil_div(l->nts, hd_ceil_div(l->nts, l->nb));
    l->cwb = (int)hd_max(1, words / l->nb);
    if (l->parts) { /* the windows of a block of pixels fit in the ring twice, too */
        int64_t first, pixels = (int64_t)hd_layer_rows(l, l->uy) * hd_layer_cols(l, l->ux);
        int64_t room = hd_layer_ring_in(l, &first) / 2 / (pixels * lo->m->k);
        l->cwb = (int)hd_max(1, hd_min(hd_min(l->cwb, l->cw), room));
        l->cwb = (int)hd_ceil_div(l->cw, hd_ceil_div(l->cw, l->cwb));
    }
    l->weights_stay = false;
}

static void choose_chunk(const struct hd_lowering *lo, struct hd_layer *l) {
    int words = (int)hd_wm_words(lo->m), pm = (int)hd_pm_words(lo->m), red = l->red;
    int most = accumulators(lo->m) / (l->uy * l->ux); /* at least a block of pixels */
    most = (int)hd_min(most, pm / 4 / l->pm_words);
    l->cwb = l->cw;
    if (l->parts || (l->ppw == 1 && !l->im2col && red > words / 2)) {
        choose_block(lo, l, most);
        return;
    }
    l->weights_stay = (int64_t)l->nts * red <= words / 4 * 3 && l->nts * l->pm_words <= pm / 2;
    int nb = (int)hd_max(1, words / 8 / red);
    if (l->ask_nb) nb = (int)hd_min(l->ask_nb, words / 2 / red);
    nb = (int)hd_max(1, hd_min(hd_min(nb, most), l->nts));
    l->nb = (int)hd_ceil_div(l->nts, hd_ceil_div(l->nts, nb)); /* even chunks */
}

/* Two tiles of each streamed operand fit in their parts of the ring. */
static bool fits_twice(const struct hd_lowering *lo, const struct hd_layer *l) {
    struct hd_tile_bytes b = hd_layer_tile_bytes(lo, l);
    if (l->kind == HD_LAYER_RESIZE && hd_resize_words(lo, l, l->th, l->tw) > accumulators(lo->m))
        return false;
    if (b.pair && 2 * b.pair > hd_layer_half_ring(lo, l)) return false;
    int64_t first;
    return 2 * b.in <= hd_layer_ring_in(l, &first) && 2 * b.out <= l->ring_bytes - l->ring_in;
}

/* n output rows (columns) as whole blocks, at least one; all of them need not be whole. */
static int blocks(int n, int block, int all) {
    return n >= all ? all : (int)hd_min(all, hd_max(block, hd_floor_to(n, block)));
}

/* Columns of a tile: sums of a row's windows of several parts are in accumulators at a time. */
static int columns_max(const struct hd_lowering *lo, const struct hd_layer *l) {
    int parts = l->kind == HD_LAYER_DEPTHWISE ? hd_layer_dw_parts(l) : 1;
    return parts > 1 ? (int)hd_min(l->ow, accumulators(lo->m)) : l->ow;
}

/* Shrinks a tile until accumulators hold it and two of it fit in the ring. */
static bool fit_tile(const struct hd_lowering *lo, struct hd_layer *l, int64_t pixels_max) {
    l->tw =
        blocks((int)hd_min(columns_max(lo, l), pixels_max / hd_min(l->uy, l->oh)), l->ux, l->ow);
    l->th = blocks((int)hd_min(l->oh, pixels_max / l->tw), l->uy, l->oh);
    while (!fits_twice(lo, l)) {
        if (l->th > l->uy)
            l->th = blocks(l->th - (int)hd_max(1, l->th / 8), l->uy, l->oh);
        else if (l->tw > l->ux)
            l->tw = blocks(l->tw - (int)hd_max(1, l->tw / 8), l->ux, l->ow);
        else
            return false;
    }
    return true;
}

/* The same; a depthwise layer takes fewer channels at a time where that helps. */
static bool fit_channels(const struct hd_lowering *lo, struct hd_layer *l, int64_t pixels_max) {
    bool fits = fit_tile(lo, l, pixels_max);
    while (!fits && l->kind == HD_LAYER_DEPTHWISE && !l->roll_th && l->nb > 1) {
        l->nb = (int)hd_ceil_div(l->nb, 2);
        l->chunk_outer = true;
        fits = fit_tile(lo, l, pixels_max);
    }
    return fits;
}

/* One of n equal parts of `all`, in whole blocks. */
static int even(int all, int64_t n, int block) {
    return (int)hd_min(all, hd_round_up(hd_ceil_div(all, n), block));
}

int hd_layer_band(const struct hd_layer *l, int i) {
    return i ? l->first_th + (i - 1) * l->th : 0;
}

int hd_layer_bands(const struct hd_layer *l) {
    return 1 + (int)hd_ceil_div(hd_max(0, l->oh - l->first_th), l->th);
}

/* Enough tiles for overlap, of even height; an image of too few rows (one that is a sequence) is
 * cut across. */
static void split_for_overlap(struct hd_layer *l, int64_t cycles_per_pixel) {
    int64_t layer_cycles = (int64_t)l->oh * l->ow * cycles_per_pixel;
    int64_t wanted = hd_max(1, hd_min(TILES_WANTED, layer_cycles / MIN_OP_CYCLES));
    bool each = l->kind == HD_LAYER_MATMUL && (l->parts || l->cwb < l->cw);
    if (each) wanted = 1; /* weights come for each tile */
    if (l->ask_tiles) wanted = l->ask_tiles;
    int most = l->th;
    if (l->tw == l->ow) l->th = (int)hd_min(l->th, even(l->oh, wanted, l->uy));
    if (l->own_ring && !l->ask_tiles) l->th = (int)hd_min(l->th, l->chain_th);
    int64_t bands = hd_ceil_div(l->oh, l->th);
    l->th = even(l->oh, bands, l->uy);
    int ends = l->ask_first + l->ask_rest, n = (l->ask_first > 0) + (l->ask_rest > 0);
    bool uneven = ends && ends < l->oh && bands > n && l->uy == 1; /* those between are even */
    int64_t between = hd_max(bands, hd_min(wanted, l->oh)) - n;
    if (uneven && even(l->oh - ends, between, 1) <= most) l->th = even(l->oh - ends, between, 1);
    l->first_th = uneven && l->ask_first ? (int)hd_min(l->ask_first, l->th) : l->th;
    int64_t across = l->oh < TILES_WANTED ? hd_ceil_div(wanted, hd_layer_bands(l)) : 1;
    l->tw = even(l->ow, hd_max(across, hd_ceil_div(l->ow, l->tw)), l->ux);
    if (l->ppw > 1 && l->tw < l->ow)
        l->tw = (int)hd_max(1, l->tw / hd_layer_phases(l)) * hd_layer_phases(l);
}

size_t hd_layer_pm_bytes(const struct hd_layer *l, const struct hd_machine *m) {
    return (size_t)l->pm_words * hd_pm_word_bytes(m) - (size_t)l->pm_cut * hd_axi_bytes(m);
}

int64_t hd_layer_weight_bytes(const struct hd_lowering *lo, const struct hd_layer *l) {
    if (l->kind == HD_LAYER_DEPTHWISE) return l->nts * (int64_t)hd_layer_pm_bytes(l, lo->m);
    return l->kind == HD_LAYER_MATMUL ? (int64_t)l->nts * l->red * hd_wm_word_bytes(lo->m) : 0;
}

/* Taps of a depthwise layer live in PM, beside bias and scale. */
static void choose_depthwise_chunk(const struct hd_lowering *lo, struct hd_layer *l) {
    int words = (int)hd_pm_words(lo->m);
    l->weights_stay = l->nts * l->pm_words <= words / 4 * 3;
    int nb = l->weights_stay ? l->nts : (int)hd_max(1, words / 4 / l->pm_words);
    if (l->ask_nb) nb = (int)hd_min(l->ask_nb, nb);
    l->nb = (int)hd_ceil_div(l->nts, hd_ceil_div(l->nts, nb));
    l->chunk_outer =
        !l->roll_th && l->nb < l->nts &&
        (l->ask_order == HD_ORDER_ANY ? !l->weights_stay : l->ask_order == HD_ORDER_CHUNK_OUTER);
}

/* Output tiles whose words of the second operand are in WM at a time. */
static void choose_bmm_chunk(const struct hd_lowering *lo, struct hd_layer *l) {
    int words = (int)hd_wm_words(lo->m);
    int nb = (int)hd_max(1, hd_min(words / 4 / l->cw, accumulators(lo->m)));
    if (l->ask_nb) nb = (int)hd_min(l->ask_nb, nb);
    l->nb = (int)hd_ceil_div(l->nts, hd_ceil_div(l->nts, nb));
}

/* Weight chunks: of matrix and depthwise layers; nothing for others. */
static void choose_chunks(const struct hd_lowering *lo, struct hd_layer *l) {
    if (l->kind == HD_LAYER_MATMUL) choose_chunk(lo, l);
    if (l->kind == HD_LAYER_DEPTHWISE) choose_depthwise_chunk(lo, l);
    if (l->kind == HD_LAYER_BMM) choose_bmm_chunk(lo, l);
}

void hd_choose_chunks(const struct hd_lowering *lo, struct hd_layer *l) {
    l->parts = false; /* of an earlier plan */
    choose_chunks(lo, l);
}

/* The head of a wave, if that is asked for: windows of rows that share none, and accumulators that
 * are all there at a time. */
static void choose_head(const struct hd_lowering *lo, struct hd_layer *l) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]], *y = &lo->tensors[l->out];
    const struct hd_head *h = &l->ask_head;
    bool plain = l->ppw == 1 && !l->im2col && l->uy * l->ux == 1 && l->groups == 1 &&
                 (l->kh - 1) * l->dy + 1 <= l->sy;
    bool whole =
        l->tw == l->ow && x->n == 1 && x->base < 0 && !x->has_parts && x->comes_in && y->resident;
    bool fits = (int64_t)l->oh * l->tw * l->nts <= accumulators(lo->m) && h->words < l->cw &&
                h->first + h->body <= l->oh;
    l->head = l->wave && plain && whole && fits ? *h : (struct hd_head){0};
}

static void choose_order(const struct hd_lowering *lo, struct hd_layer *l) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    int64_t tiles = hd_layer_bands(l) * hd_ceil_div(l->ow, l->tw) * x->n;
    int64_t chunks = hd_ceil_div(l->nts, l->nb);
    int64_t weights = hd_layer_weight_bytes(lo, l);
    int64_t input = x->resident ? 0 : (int64_t)x->n * x->h * x->w * x->bytes;
    bool split = l->cwb < l->cw; /* then a chunk is loaded anew for each tile anyway */
    l->chunk_outer =
        !l->weights_stay && !split && weights + input * chunks <= weights * tiles + input;
    if (l->ask_order != HD_ORDER_ANY && !split && !l->weights_stay)
        l->chunk_outer = l->ask_order == HD_ORDER_CHUNK_OUTER;
    if (l->parts) l->chunk_outer = true; /* a tile of all results need not fit */
    l->wave = l->ask_order == HD_ORDER_WAVE && l->weights_stay && x->resident;
    choose_head(lo, l);
}

static hd_status does_not_fit(struct hd_lowering *lo, const struct hd_layer *l, const char *why);

/* The tile of a layer in a rolling chain: whole rows, as many as the chain says. */
static hd_status roll_tile(struct hd_lowering *lo, struct hd_layer *l) {
    l->tw = l->ow, l->first_th = l->th = (int)hd_min(l->roll_th, l->oh);
    int64_t pixels = (int64_t)l->tw * l->th;
    if (l->kind == HD_LAYER_MATMUL) {
        if (pixels > accumulators(lo->m)) return does_not_fit(lo, l, "rows of a chain");
        l->nb = (int)hd_min(l->nb, accumulators(lo->m) / pixels);
    }
    l->chunk_outer = l->wave = false;
    if (l->tw > columns_max(lo, l)) return does_not_fit(lo, l, "rows of a chain");
    bool stays = l->weights_stay || l->kind == HD_LAYER_POOL;
    if (!stays || !fits_twice(lo, l)) return does_not_fit(lo, l, "rows of a chain");
    return HD_OK;
}

static hd_status does_not_fit(struct hd_lowering *lo, const struct hd_layer *l, const char *why) {
    lo->too_big[l->node] = why;
    return hd_fail(lo->ctx, HD_UNSUPPORTED, "%s: %s", lo->g->nodes[l->node].name, why);
}

/* Turned in whole bands, if they fit. */
static bool fit_turned(const struct hd_lowering *lo, struct hd_layer *l) {
    l->turns = l->turned.band > 0;
    l->uy = l->turns ? l->turned.band : 1;
    if (l->turns && fit_tile(lo, l, INT32_MAX) && l->tw == l->ow) return true;
    l->turns = false;
    l->uy = 1;
    return false;
}

static hd_status choose_tiles(struct hd_lowering *lo, struct hd_layer *l) {
    int64_t pixels_max = INT32_MAX;
    const char *why;
    if (l->kind == HD_LAYER_RECURRENT)
        return hd_choose_recurrent(lo, l, &why) ? HD_OK : does_not_fit(lo, l, why);
    choose_chunks(lo, l);
    if (l->kind == HD_LAYER_MATMUL) {
        int64_t words = hd_layer_block_words(l);
        if (words > hd_wm_words(lo->m) / 2)
            return does_not_fit(
                lo, l,
                hd_sprintf(lo->too_big_arena,
                           "a window of %dx%d needs %lld words of weight memory twice, there "
                           "are %u",
                           l->kh, l->kw, (long long)words, hd_wm_words(lo->m)));
        pixels_max = hd_min(accumulators(lo->m) / l->nb, 65535);
    } else if (l->kind == HD_LAYER_DEPTHWISE) {
        pixels_max = 65535;
    }
    if (l->kind == HD_LAYER_BMM) {
        pixels_max = hd_min(accumulators(lo->m) / l->nb, 65535);
        if ((int64_t)l->cw + 2 > hd_wm_words(lo->m) / 2)
            return does_not_fit(lo, l, "words of one column need half of weight memory");
    }
    if (l->kind == HD_LAYER_SOFTMAX || l->kind == HD_LAYER_NORM) {
        pixels_max = accumulators(lo->m) / hd_rows_words(lo, l);
        bool fits = pixels_max && (uint32_t)hd_rows_words(lo, l) <= hd_pm_words(lo->m) / 2;
        if (!fits) return does_not_fit(lo, l, "a row does not fit in half of accumulator memory");
    }
    bool turned = l->kind == HD_LAYER_MOVE && fit_turned(lo, l);
    if (!turned && l->kind == HD_LAYER_MOVE && !l->move.first)
        return does_not_fit(lo, l, "a band of the result does not fit in activation memory twice");
    if (!turned && !fit_channels(lo, l, pixels_max))
        return does_not_fit(
            lo, l,
            hd_sprintf(lo->too_big_arena,
                       "one output pixel needs %lld bytes of activation memory twice, %u are "
                       "there for streaming",
                       (long long)(hd_layer_tile_bytes(lo, l).in + hd_layer_tile_bytes(lo, l).out),
                       l->ring_bytes));
    if (l->kind == HD_LAYER_MOVE && l->tw < l->ow)
        return does_not_fit(lo, l, "a row of the result does not fit in activation memory twice");
    if (l->roll_th) return roll_tile(lo, l);
    split_for_overlap(l, hd_intrinsics[l->kind].pixel_cycles(l));
    if (l->kind == HD_LAYER_MATMUL) choose_order(lo, l);
    return HD_OK;
}

/* DRAM bytes of weights and operand: by parts the operand comes for each chunk of output tiles. */
static int64_t traffic(const struct hd_lowering *lo, const struct hd_layer *l) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    int64_t tiles = hd_layer_bands(l) * hd_ceil_div(l->ow, l->tw) * x->n;
    int64_t input = (int64_t)hd_layer_rows(l, l->th) * hd_layer_cols(l, l->tw) * x->bytes * tiles;
    bool once = l->weights_stay || (l->chunk_outer && !l->parts);
    return hd_layer_weight_bytes(lo, l) * (once ? 1 : tiles) +
           input * (l->chunk_outer ? hd_ceil_div(l->nts, l->nb) : 1);
}

/* The layer waits for memory rather than for MX. */
static bool waits_for_memory(const struct hd_lowering *lo, const struct hd_layer *l) {
    int64_t products = (int64_t)lo->tensors[l->out].n * l->oh * l->ow * l->nts * l->red;
    return traffic(lo, l) / hd_axi_bytes(lo->m) > products;
}

/* The operand may come by parts of the reduction, in tiles of more pixels. */
static bool takes_parts(const struct hd_lowering *lo, const struct hd_layer *l) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    return l->kind == HD_LAYER_MATMUL && l->groups == 1 && l->ppw == 1 && !l->im2col &&
           !l->roll_th && !x->resident && x->bytes == l->cw * (int)lo->m->k;
}

/* needs / gives / destroys: see the head of this file. */
hd_status hd_choose_tiles(struct hd_lowering *lo, struct hd_layer *l) {
    l->parts = false;
    hd_status s = choose_tiles(lo, l);
    if (!takes_parts(lo, l)) return s;
    bool split = l->cwb < l->cw;
    if (s == HD_OK && !split && (l->weights_stay || !waits_for_memory(lo, l))) return s;
    const struct hd_layer whole = *l;
    const char *why = lo->too_big[l->node];
    l->parts = true;
    if (choose_tiles(lo, l) == HD_OK && (s != HD_OK || traffic(lo, l) < traffic(lo, &whole))) {
        lo->too_big[l->node] = NULL; /* only like the other way */
        hd_clear(lo->ctx);
        return HD_OK;
    }
    if (s == HD_OK) hd_clear(lo->ctx);
    lo->too_big[l->node] = why;
    *l = whole;
    return s;
}
