/* Lowering: layers of one step become slot operations.
 *
 * needs: tiles (tiling.c) and addresses (search/search.c)
 * gives: operations in issue order, with semaphores; the program in the image
 * destroys: nothing
 *
 * Buffers that rotate (streamed tiles in the XM ring, weight chunks in WM, parameters in PM,
 * accumulators in the halves of AM) are taken from simple rings. Reuse waits by the same
 * dependences as data does, so double or deeper buffering comes from the size of the rings alone.
 */
#include "compiler/layer/kind.h"
#include "compiler/machine_ops/machine_ops.h"
#include "compiler/machine_ops/ops_text.h"

#include <string.h>

#include "runtime/base/num.h"

/* ---- layers ---- */

/* Rows of a layer of a chain, batches one behind the other. */
static int rows_of(const struct hd_layer *l) {
    return l->kind->rows ? (int)hd_max(l->kind->rows(l, false), l->kind->rows(l, true)) : l->oh;
}

static struct hd_tile sized(const struct hd_tiling *lt, struct hd_tile t) {
    const struct hd_layer *l = lt->l;
    t.th = (int)hd_min(lt->th, rows_of(l) - t.y);
    t.tw = (int)hd_min(lt->tw, l->ow - t.x);
    return t;
}

static hd_status one_tile(struct hd_lowerer *w, struct hd_tile t, int only_nt) {
    t = sized(w->lt, t), t.only_nt = only_nt;
    return w->l->kind->lower(w, &t);
}

/* Tile `index` of the layer, images and columns included; chunk: of weights, -1 = all. Tiles go row
 * by row; but down one column behind the other where each shares rows that it loads with the one
 * above. */
static hd_status numbered_tile(struct hd_lowerer *w, int index, int chunk) {
    const struct hd_tiling *lt = w->lt;
    int across = (int)hd_ceil_div(lt->l->ow, lt->tw), down = hd_layer_bands(lt);
    int i = index % (across * down);
    bool columns = hd_layer_streams(w->lo, lt->l, 0) && hd_layer_shares_rows(lt->l);
    struct hd_tile t = {.img = index / (across * down),
                        .y = (columns ? i % down : i / across) * lt->th,
                        .x = (columns ? i / down : i % across) * lt->tw};
    return one_tile(w, t, chunk < 0 ? -1 : chunk * lt->nb);
}

static int64_t tiles_of(const struct hd_lowerer *w, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    return hd_lower_tensor(w, l->out)->n * hd_layer_bands(lt) * hd_ceil_div(l->ow, lt->tw);
}

static hd_status layer_tiles(struct hd_lowerer *w, int chunk) {
    for (int64_t i = 0, n = tiles_of(w, w->lt); i < n; i++) TRY(numbered_tile(w, (int)i, chunk));
    return HD_OK;
}

struct wave {
    int tiles, chunks; /* in all */
    int t, c;          /* of them in work or done */
};

/* Whether a tile comes next, not a chunk: what brings more products for the time that it takes to
 * load. A chunk comes at half the rate of the bus, because the tiles behind it come beside it.
 * Tiles that a layer before makes come at its pace, so then both sides grow alike. */
static bool tile_is_next(const struct hd_lowerer *w, const struct wave *v) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_lower_tensor(w, l->in[0]);
    if (v->t == v->tiles || v->c == v->chunks) return v->t < v->tiles;
    if (x->def >= 0) return v->t < v->c;
    int64_t tile_bytes = (int64_t)x->n * x->h * x->w * x->bytes / v->tiles;
    int64_t chunk_bytes = hd_layer_weight_bytes(w->lo, l) / v->chunks;
    return v->c * 2 * chunk_bytes >= v->t * tile_bytes; /* products: c of a tile, t of a chunk */
}

/* Tiles and chunks in the order in which a rectangle grows from its corner: work can begin with the
 * first tile and the first chunk, and each one more, of either, brings more of it. */
static hd_status layer_wave(struct hd_lowerer *w) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    int chunks = (int)hd_ceil_div(l->nts, lt->nb);
    int tiles = (int)tiles_of(w, lt);
    struct wave v = {tiles, chunks, 1, 1};
    TRY(numbered_tile(w, 0, 0));
    while (v.t < tiles || v.c < chunks) {
        if (tile_is_next(w, &v)) {
            for (int c = 0; c < v.c; c++) TRY(numbered_tile(w, v.t, c));
            v.t++;
        } else {
            for (int t = 0; t < v.t; t++) TRY(numbered_tile(w, t, v.c));
            v.c++;
        }
    }
    return HD_OK;
}

struct layer_state { /* of a layer whose tiles are being issued */
    const struct hd_layer *l;
    const struct hd_tiling *lt;
    struct hd_chunk *chunks;
    int64_t stay_wm, stay_pm, table;
    int img, next_y;
    int below; /* row behind the padding below its rolling operand that is there; 0 = none is */
};

/* A ring begins anew where it moves. */
static bool place_ring(struct hd_ring *r, int64_t at, int64_t size) {
    bool same = r->first == at && r->size == size;
    if (!same) *r = (struct hd_ring){.first = at, .size = size, .space = HD_SPACE_XM};
    return !same;
}

static void place_ring_in(struct hd_lowerer *w, enum hd_ring_in i, int64_t at, int64_t size) {
    if (place_ring(&w->xm_in[i], at, size)) w->last[i].l = NULL;
    for (int k = 0; k < HD_RINGS_IN; k++) { /* what another ring has there will be gone */
        const struct hd_ring *r = &w->xm_in[k];
        if (k != (int)i && r->first < at + size && at < r->first + r->size) w->last[k].l = NULL;
    }
}

/* The ring for streamed tiles, in its parts. */
static void part_ring(struct hd_lowerer *w, const struct hd_tiling *lt) {
    int64_t first, in = hd_layer_ring_in(lt, &first), half = hd_layer_half_ring(w->lo, lt);
    int64_t out = lt->ring_bytes - lt->ring_in, end = w->m->xm_bytes;
    int64_t at = end - lt->ring_bytes + first;
    place_ring(&w->xm_out, end - out, out);
    w->in = hd_layer_two_views(w->lo, lt) ? HD_RING_PAIRS : first ? HD_RING_VX : HD_RING_MX;
    if (w->in != HD_RING_PAIRS) {
        place_ring_in(w, w->in, at, in);
        return;
    }
    place_ring_in(w, HD_RING_PAIRS, at, half);
    place_ring_in(w, HD_RING_PAIRS_B, at + half, in - half);
}

static void enter(struct hd_lowerer *w, struct layer_state *s) {
    w->l = s->l, w->lt = s->lt;
    part_ring(w, s->lt);
    w->chunks = s->chunks;
    w->slice_c = -1;
    w->stay_wm = s->stay_wm;
    w->stay_pm = s->stay_pm;
    w->table = s->table;
}

/* Padding that layer l's result keeps around it. */
static hd_status fill_padding(struct hd_lowerer *w, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    const struct hd_mtensor *y = hd_lower_whole(w, l->out);
    const struct hd_placement *yp = hd_lower_whole_place(w, l->out);
    bool pads = y->pt || y->pb || y->pl || y->pr;
    w->l = l, w->lt = lt;
    return pads && yp->resident && y->def == l->tag ? hd_lower_fill_padding(w, yp) : HD_OK;
}

static hd_status load_table(struct hd_lowerer *w, const struct hd_layer *l, int64_t *out) {
    *out = hd_ring_take(w, &w->tm, 1);
    w->l = l;
    hd_lower_begin(w, HD_UNIT_lw, HD_OP_lw_load);
    hd_lower_set(w, HD_F_lw_mem, HD_V_lw_mem_tm);
    hd_lower_set(w, HD_F_lw_src, (int64_t)l->y.table_at);
    hd_lower_set(w, HD_F_lw_dst, *out);
    hd_lower_set(w, HD_F_lw_count, 1), hd_lower_set(w, HD_F_lw_n1, 1);
    hd_ops_touch(&w->s, HD_SPACE_TM, *out, *out + 1, true);
    return hd_ops_end(&w->s);
}

/* Padding, weight bookkeeping, and room for weights that stay: of all n layers together, because a
 * ring must not come round to a layer that is still in work. */
static hd_status prepare(struct hd_lowerer *w, const struct hd_tiling *lt, size_t n,
                         struct layer_state *out) {
    const struct hd_layer *l = lt->l;
    int64_t wm = 0, pm = 0;
    for (size_t i = 0; i < n; i++) {
        int chunks = lt[i].nb > 0 ? (int)hd_ceil_div(l[i].nts, lt[i].nb) : 1;
        out[i] = (struct layer_state){.l = &l[i], .lt = &lt[i], .stay_wm = wm, .stay_pm = pm};
        out[i].chunks = hd_new_array(w->s.arena, struct hd_chunk, (size_t)chunks);
        for (int k = 0; k < chunks; k++) out[i].chunks[k] = (struct hd_chunk){-1, -1, -1};
        if (!lt[i].weights_stay) continue;
        wm += (int64_t)l[i].nts * l[i].red; /* depthwise: 0 words */
        pm += (int64_t)l[i].nts * l[i].pm_words;
    }
    w->l = l, w->lt = lt;
    int64_t wm_at = hd_ring_take(w, &w->wm, wm), pm_at = hd_ring_take(w, &w->pm, pm);
    for (size_t i = 0; i < n; i++) {
        out[i].stay_wm += wm_at, out[i].stay_pm += pm_at;
        enter(w, &out[i]);
    }
    for (size_t i = 0; i < n; i++) {
        TRY(fill_padding(w, &lt[i]));
        if (l[i].y.table) TRY(load_table(w, &l[i], &out[i].table));
    }
    return HD_OK;
}

/* Issues tiles of layer k of a chain until its first `rows` output rows are there, and before each
 * of them the rows of the layer before that it reads. */
static hd_status issue_rows(struct hd_lowerer *w, struct layer_state *s, size_t k, int rows) {
    const struct hd_layer *l = s[k].l;
    const struct hd_tiling *lt = s[k].lt;
    while (s[k].next_y < rows) {
        int y = s[k].next_y, th = (int)hd_min(lt->th, rows_of(l) - y);
        int last = hd_layer_row(l, y) + hd_layer_rows(l, th);
        int above = k > 0 ? (int)hd_min(last + s[k - 1].lt->th, rows_of(s[k - 1].l)) : 0;
        if (k > 0) TRY(issue_rows(w, s, k - 1, above));
        enter(w, &s[k]);
        const struct hd_mtensor *x = hd_lower_tensor(w, l->in[0]);
        const struct hd_placement *xp = hd_lower_place(w, l->in[0]);
        if (xp->roll && last > x->h) { /* not before: they take the place of rows */
            int from = (int)hd_max(s[k].below, x->h);
            s[k].below = (int)hd_min(last, x->h + x->pb);
            TRY(hd_lower_fill_rows(w, xp, from, s[k].below));
        }
        TRY(one_tile(w, (struct hd_tile){.img = s[k].img, .y = y}, -1));
        s[k].next_y = y + th;
    }
    return HD_OK;
}

/* All tiles of a chain of n layers, image by image. Padding above an image stands where the last
 * one had rows. */
static hd_status issue_images(struct hd_lowerer *w, struct layer_state *s, size_t n) {
    const int images = hd_lower_tensor(w, s->l->out)->n;
    for (int img = 0; img < images; img++) {
        for (size_t i = 0; i < n; i++) {
            const struct hd_placement *yp = hd_lower_place(w, s[i].l->out);
            s[i].img = img, s[i].next_y = s[i].below = 0;
            enter(w, &s[i]);
            if (img && yp->roll) TRY(hd_lower_fill_rows(w, yp, -yp->t->pt, 0));
        }
        for (size_t i = n; i-- > 0;) /* the last first; then rows that nothing there reads */
            TRY(issue_rows(w, s, i, rows_of(s[i].l)));
    }
    return HD_OK;
}

/* Tiles of two layers that do not read each other, such a part of each at a time. */
static hd_status issue_beside(struct hd_lowerer *w, struct layer_state *s) {
    const int64_t n[2] = {tiles_of(w, s[0].lt), tiles_of(w, s[1].lt)};
    for (int64_t done[2] = {0}; done[0] < n[0] || done[1] < n[1];) {
        int k = done[0] * n[1] <= done[1] * n[0] && done[0] < n[0] ? 0 : 1;
        enter(w, &s[k]);
        TRY(numbered_tile(w, (int)done[k]++, -1));
    }
    return HD_OK;
}

/* Layers first .. first + n - 1, which are one chain. */
static hd_status lower_chain(struct hd_lowerer *w, const struct hd_tiling *firstt, size_t n) {
    const struct hd_layer *first = firstt->l;
    struct layer_state *s = hd_new_array(w->s.arena, struct layer_state, n);
    bool by_rows = n > 1 && !firstt->beside;
    for (size_t i = 0; i < n; i++)
        by_rows =
            by_rows && firstt[i].tw == first[i].ow && !firstt[i].chunk_outer && !firstt[i].wave;
    TRY(prepare(w, firstt, n, s));
    if (by_rows) return issue_images(w, s, n);
    if (firstt->beside) return issue_beside(w, s);
    for (size_t i = 0; i < n; i++) {
        enter(w, &s[i]);
        if (first[i].kind->lower_layer) {
            TRY(first[i].kind->lower_layer(w));
            continue;
        }
        if (firstt[i].wave) {
            TRY(layer_wave(w));
            continue;
        }
        if (!firstt[i].chunk_outer) TRY(layer_tiles(w, -1));
        for (int c = 0; firstt[i].chunk_outer && c * firstt[i].nb < first[i].nts; c++)
            TRY(layer_tiles(w, c));
    }
    return HD_OK;
}

static void init_rings(struct hd_lowerer *w) {
    const struct hd_machine *m = w->m;
    w->wm = (struct hd_ring){.size = hd_wm_words(m), .space = HD_SPACE_WM};
    w->pm = (struct hd_ring){.size = hd_pm_words(m), .space = HD_SPACE_PM};
    w->tm = (struct hd_ring){.size = HD_TM_TABLES, .space = HD_SPACE_TM};
    w->am = (struct hd_ring){.size = hd_am_words(m), .space = HD_SPACE_AM};
    w->am_next[1] = hd_am_words(m) / 2;
}

/* Operations of the chains of `step` among layers [first, end). */
hd_status hd_lower_layers(struct hd_lowering *lo, hd_arena *scratch, int step, size_t first,
                          size_t end, struct hd_lowerer **out) {
    struct hd_lowerer *w = *out = hd_new(scratch, struct hd_lowerer);
    w->lo = lo;
    w->m = lo->m;
    w->loaded = hd_new_array(scratch, int, lo->n_tensors ? lo->n_tensors : 1);
    w->staged = hd_new_array(scratch, bool, lo->n_tensors + 1);
    hd_ops_init(&w->s, lo, scratch);
    init_rings(w);
    for (size_t i = first, n; i < end; i += n) {
        const struct hd_layer *l = &lo->layers[i];
        const struct hd_tiling *lt = &lo->plan->tilings[i];
        n = (size_t)(lt->chain_last - lt->chain_first + 1);
        if (lo->limit_ops && w->s.n_ops > lo->limit_ops) return HD_UNSUPPORTED;
        if (l->step == step)
            TRY(hd_note(lo->ctx, lower_chain(w, lt, n), "while lowering %s",
                        lo->g->nodes[l->node].name));
    }
    return HD_OK;
}
