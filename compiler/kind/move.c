/* Movement of data: nodes whose result is elements of their operands in another order, with pad
 * values between them: concat, split, slice, pad, transpose, reshape, nearest resize and others.
 *
 * needs: a node that hd_is_move() accepts, mtensors of its operands and result; moves in front of
 *        it that nothing else reads are part of it
 * gives: for each row of the result the transfers that LX makes into it; where these are of a few
 *        bytes each, for bands of rows the transfers of the transposed band, which VX transposes
 *        back
 * destroys: nothing
 */
#include "compiler/kind/move.h"

static const struct hd_move *own_of(const struct hd_layer *l) {
    return l->own;
}

static hd_status load(struct hd_lowerer *w, const struct hd_transfer *t, int64_t row_step, int rows,
                      uint32_t to, const struct hd_view *out) {
    const struct hd_mtensor *x = hd_lower_tensor(w, w->l->in[t->input]);
    const struct hd_placement *xp = hd_lower_place(w, w->l->in[t->input]);
    hd_lower_begin_load(w, x->constant ? HD_V_seg_image : HD_V_seg_arena,
                        (int64_t)xp->arena + t->src, to + (uint32_t)t->dst, t->run);
    hd_lower_runs(w, 1, t->n1, t->s1, t->d1);
    hd_lower_runs(w, 2, rows, row_step, out->pitch);
    int64_t a = t->src, b = t->src, ways[2] = {(t->n1 - 1) * t->s1, (rows - 1) * row_step};
    for (int i = 0; i < 2; i++) *(ways[i] < 0 ? &a : &b) += ways[i];
    if (!x->constant)
        hd_ops_touch(&w->s, HD_SPACE_ARENA, (int64_t)xp->arena + a, (int64_t)xp->arena + b + t->run,
                     false);
    hd_lower_touch(w, out, true);
    return hd_ops_end(&w->s);
}

/* Loops of a VX operation that copies bytes: iterations, steps of A and of the result. */
static hd_status copy(struct hd_lowerer *w, const struct hd_view *from, const struct hd_view *to,
                      int d_kind, const int loops[4][3]) {
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_operand_a(w);
    hd_lower_set(w, HD_F_vx_d_kind, d_kind);
    hd_lower_set(w, HD_F_vx_a, from->at / w->m->n), hd_lower_set(w, HD_F_vx_d, to->at / w->m->n);
    for (int i = 0; i < 4; i++) hd_lower_map_loop(w, i, loops[i][0], loops[i][1], 0, loops[i][2]);
    hd_lower_touch(w, from, false);
    hd_lower_touch(w, to, true);
    return hd_ops_end(&w->s);
}

/* VX transposes blocks [first, first + blocks) of a slice of a band into pixels from `pixel` on, cp
 * bytes each. */
static hd_status transpose_blocks(struct hd_lowerer *w, const struct hd_view *slice, int first,
                                  int blocks, const struct hd_view *to, int pixel) {
    int n = (int)w->m->n, vectors = slice->rows / n;
    struct hd_view from = *slice, pixels = *to;
    from.at += (uint32_t)(first * n), from.cols = blocks * n;
    pixels.at += (uint32_t)(pixel * to->cp), pixels.rows = 1, pixels.cols = blocks * n;
    return copy(w, &from, &pixels, 3,
                (const int[4][3]){{n, slice->pitch / n, to->cp / n},
                                  {vectors, slice->pitch, 1},
                                  {blocks, 1, to->cp},
                                  {1, 0, 0}});
}

/* Channels of slice s of rows [row, row + rows) of the result, to `out`. */
static hd_status transposed_slice(struct hd_lowerer *w, int row, int rows, int s,
                                  const struct hd_view *out) {
    const struct hd_move *own = own_of(w->l);
    const struct hd_transfers *m = &own->transposed;
    int n = (int)w->m->n, pixels = rows * own->w, columns = hd_move_columns(w->m, pixels);
    int c = s * own->slice, high = (int)hd_min(own->slice, own->cp - c);
    int64_t size = (int64_t)own->slice * columns;
    const uint32_t at = (uint32_t)hd_ring_take(w, &w->xm_in[HD_RING_MX], size);
    struct hd_view slice = hd_view_at(at, columns, 1, high, columns, 0, 0);
    int from = m->holes ? 0 : (int)hd_max(0, own->c - c); /* channels that come from nowhere */
    if (from < high)
        TRY(hd_lower_fill(w, w->l->pad_value, slice.at + (uint32_t)(from * columns), columns,
                          high - from, columns));
    const size_t *first = &m->first[row * own->slices + s];
    for (size_t i = first[0]; i < first[1]; i++) TRY(load(w, &m->list[i], 0, 1, slice.at, &slice));
    bool dense = pixels >= n && !own->step && (rows == 1 || out->pitch == own->w * own->cp);
    struct hd_view to = *out, apart;
    to.at += (uint32_t)c, to.cols = own->w, to.cp = own->cp, to.channels = high;
    apart = to;
    if (!dense) {
        apart.at = (uint32_t)hd_ring_take(w, &w->xm_in[HD_RING_MX], size);
        apart.pitch = own->w * high, apart.cp = high, apart.channels = 0;
    }
    int tail = pixels > n ? pixels % n : 0;
    TRY(transpose_blocks(w, &slice, 0, (columns - (tail ? n : 0)) / n, &apart, 0));
    if (tail) TRY(transpose_blocks(w, &slice, columns / n - 1, 1, &apart, pixels - n));
    if (dense) return HD_OK;
    const int v = high / n, step = own->step ? own->step : rows, steps = rows / step;
    const int next = own->step ? steps * v : v; /* pixel of a row, in the order of columns */
    return copy(w, &apart, &to, 0,
                (const int[4][3]){{v, 1, 1},
                                  {own->w, next, to.cp / n},
                                  {step, own->w * next, out->pitch / n},
                                  {steps, v, step * out->pitch / n}});
}

static hd_status transposed_tile(struct hd_lowerer *w, const struct hd_tile *t,
                                 const struct hd_view *out) {
    for (int r = 0, n; r < t->th; r += n) {
        struct hd_view to = *out;
        n = (int)hd_min(own_of(w->l)->band, t->th - r);
        to.at += (uint32_t)(r * out->pitch), to.y += r, to.rows = n;
        for (int s = 0; s < own_of(w->l)->slices; s++)
            TRY(transposed_slice(w, t->img * w->l->oh + t->y + r, n, s, &to));
    }
    return HD_OK;
}

static hd_status plain_tile(struct hd_lowerer *w, const struct hd_tile *t,
                            const struct hd_view *out) {
    const struct hd_layer *l = w->l;
    const struct hd_move *own = l->own;
    if (own->fills)
        TRY(hd_lower_fill(w, l->pad_value, out->at, (int64_t)l->ow * out->cp, t->th, out->pitch));
    for (int r = 0, n; r < t->th; r += n) {
        int row = t->img * l->oh + t->y + r;
        size_t first = own->plain.first[row], count = own->plain.first[row + 1] - first;
        n = hd_move_alike(&own->plain, row, t->th - r);
        for (size_t i = 0; i < count; i++) {
            const struct hd_transfer *one = &own->plain.list[first + i];
            TRY(load(w, one, n > 1 ? one[count].src - one->src : 0, n,
                     out->at + (uint32_t)(r * out->pitch), out));
        }
    }
    return HD_OK;
}

/* Rows of the layer, which are parts of one where that is long. */
static hd_status lower(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_mtensor *y = hd_lower_tensor(w, w->l->out);
    const int wide = w->l->ow, cut = wide < y->w;
    struct hd_view out = hd_lower_output(w, t->img, cut ? 0 : t->y, cut ? t->y * wide : 0,
                                         cut ? 1 : t->th, cut ? t->th * wide : wide, y->cp);
    struct hd_view rows = out;
    if (cut) rows.rows = t->th, rows.cols = wide, rows.pitch = wide * y->cp;
    TRY((w->lt->transposed ? transposed_tile : plain_tile)(w, t, &rows));
    return hd_lower_store(w, t->img, &out, 0, y->cp);
}

/* ---- the kind ---- */

/* Turned in whole bands, if they fit. */
static bool fit_transposed(const struct hd_lowering *lo, struct hd_tiling *lt) {
    lt->transposed = own_of(lt->l)->band > 0;
    lt->transposed = lt->transposed && hd_fit_tile(lo, lt, INT32_MAX) && lt->tw == lt->l->ow;
    return lt->transposed;
}

static struct hd_refusal choose_tiles(const struct hd_lowering *lo, struct hd_tiling *lt) {
    if (!fit_transposed(lo, lt) && !own_of(lt->l)->plain.first) return HD_REFUSE(result_band);
    if (!lt->transposed && !hd_fit_tile(lo, lt, INT32_MAX)) return hd_pixel_too_large(lo, lt);
    if (lt->tw < lt->l->ow) return HD_REFUSE(result_row);
    hd_split_for_overlap(lo, lt);
    return (struct hd_refusal){.why = HD_FITS};
}

static bool streams(const struct hd_lowering *lo, const struct hd_layer *l, int i) {
    return (void)lo, (void)l, (void)i, false; /* LX takes each transfer from the arena directly */
}

static struct hd_tile_bytes tile_bytes(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    struct hd_tile_bytes bytes = {0};
    const struct hd_move *own = own_of(lt->l);
    if (lt->transposed) /* a slice as it is loaded, two times */
        bytes.in = (int64_t)2 * own->slice * hd_move_columns(lo->m, own->band * own->w);
    if (!lo->plan->places[lt->l->out].resident)
        bytes.out = hd_round_up((int64_t)lt->th * lt->tw * lo->tensors[lt->l->out].bytes, 64);
    return bytes;
}

static bool takes_constants(const struct hd_node *n) {
    return n->op == HD_IR_concat;
}

static int block_rows(const struct hd_tiling *lt) {
    return lt->transposed ? own_of(lt->l)->band : 1;
}

static bool takes_ring(const struct hd_layer *l) {
    return own_of(l)->band > 0;
}

static int64_t pixel_cycles(const struct hd_layer *l) {
    return l->nts;
}

const struct hd_kind hd_kind_move = {
    .name = "move",
    .operations = "lx.load",
    .expression = "x at another place",
    .memories = "DRAM -> XM",
    .takes_parts = true,
    .refuses = hd_move_refuses,
    .takes_constants = takes_constants,
    .operands = hd_move_operands,
    .make = hd_move_make,
    .block_rows = block_rows,
    .takes_ring = takes_ring,
    .pixel_cycles = pixel_cycles,
    .streams = streams,
    .tile_bytes = tile_bytes,
    .choose_tiles = choose_tiles,
    .lower = lower,
};
