/* Matrix layers: weight chunks into WM and PM, mx.gemm over a tile, requantisation by vx.map.
 *
 * The loops of mx.gemm are (channel word, kx, ky | column, row, output tile), the first three the
 * reduction; with packed pixels (layer/pixels.c) there is one operation per phase. */
#include "compiler/kind/matmul.h"

#include <string.h>

#include "runtime/base/num.h"

/* A product over a part of a layer. */
enum { SPARSE_OP = 12 }; /* cycles that an operation more costs, about */

struct product {
    struct hd_view in;
    int nt, n; /* output tiles of the operation */
    int c, cw; /* words of each tap; c > 0 adds to the sums that are there */
    int64_t wm, am;
    int am_px, am_nt; /* accumulators between pixels, between output tiles */
    int th, tw;
    int ky, kh;       /* rows of taps from ky on; kh 0: all */
    int row;          /* of the tile, first to be requantised */
    bool low;         /* of the low bytes of an operand of int16 */
    int64_t low_sums; /* words from the sums of the high bytes to theirs; 0: it is none */
};

/* n runs of `count` words, `step` apart. */
static void touch_words(struct hd_lowerer *w, enum hd_space space, int64_t at, int64_t count,
                        int64_t n, int64_t step, bool write) {
    if (step == count) count *= n, n = 1;
    for (int64_t i = 0; i < n; i++)
        hd_ops_touch(&w->s, space, at + i * step, at + i * step + count, write);
}

/* Sums of `pixels` pixels of all output tiles, from number `first` on. */
static void touch_sums(struct hd_lowerer *w, const struct product *q, int first, int pixels,
                       bool write) {
    int64_t at = q->am + (int64_t)first * q->am_px;
    if (q->am_px > 1)
        touch_words(w, HD_SPACE_AM, at, q->n, pixels, q->am_px, write);
    else
        touch_words(w, HD_SPACE_AM, at, pixels, q->n, q->am_nt, write);
}

void hd_lower_load_words(struct hd_lowerer *w, int mem, size_t src, int64_t dst, int64_t count,
                         int n1, int64_t s1, int64_t d1) {
    static const enum hd_space space[] = {[HD_V_lw_mem_wm] = HD_SPACE_WM,
                                          [HD_V_lw_mem_pm] = HD_SPACE_PM,
                                          [HD_V_lw_mem_tm] = HD_SPACE_TM};
    hd_lower_begin(w, HD_UNIT_lw, HD_OP_lw_load);
    hd_lower_set(w, HD_F_lw_mem, mem);
    hd_lower_set(w, HD_F_lw_src, (int64_t)src);
    hd_lower_set(w, HD_F_lw_dst, dst);
    hd_lower_set(w, HD_F_lw_count, count);
    hd_lower_set(w, HD_F_lw_n1, n1);
    hd_lower_set(w, HD_F_lw_s1, n1 == 1 ? 0 : s1);
    hd_lower_set(w, HD_F_lw_d1, d1);
    touch_words(w, space[mem], dst, count, n1, d1, true);
}

hd_status hd_lower_params(struct hd_lowerer *w, int nt, int n, int64_t *out) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    int words = l->pm_words;
    size_t bytes = hd_layer_pm_bytes(l, w->m), src = hd_packed_of(l)->p_offset + (size_t)nt * bytes;
    *out = lt->weights_stay ? w->stay_pm + nt * words : hd_ring_take(w, &w->pm, n * words);
    if (l->pm_cut)
        hd_lower_load_words(w, HD_V_lw_mem_pm, src, *out, words, n, (int64_t)bytes, words);
    else
        hd_lower_load_words(w, HD_V_lw_mem_pm, src, *out, n * words, 1, 0, 0);
    hd_lower_set(w, HD_F_lw_cut, l->pm_cut);
    return hd_ops_end(&w->s);
}

/* Of several planes: the first one of n output tiles, and live words of the others. Words c.. of
 * each tap, cw of them, else whole planes. */
static hd_status load_sparse(struct hd_lowerer *w, size_t src, int nt, int n, int c, int cw,
                             int64_t at) {
    const struct hd_layer *l = w->l;
    const int plane = l->red / l->planes, word = (int)hd_wm_word_bytes(w->m);
    const int rows = cw == l->cw ? 1 : l->taps / l->planes, run = cw == l->cw ? plane : cw;
    const int pitch = cw == l->cw ? plane : l->cw, tile = l->planes * rows * run;
    for (int i = 0; i < (rows > 1 ? n : 1); i++) {
        size_t from = src + (size_t)i * (size_t)l->red * (size_t)word;
        hd_lower_load_words(w, HD_V_lw_mem_wm, from, at + (int64_t)i * tile, run,
                            rows > 1 ? rows : n, (int64_t)(rows > 1 ? pitch : l->red) * word,
                            rows > 1 ? run : tile);
        TRY(hd_ops_end(&w->s));
    }
    for (int i = 0; i < n * (l->planes - 1) * rows; i++) {
        int of = i / ((l->planes - 1) * rows), row = rows + i % ((l->planes - 1) * rows);
        int64_t first = (int64_t)of * l->red + (int64_t)row * pitch;
        const bool *live = hd_packed_of(l)->live + (int64_t)nt * l->red + c + first;
        for (int k = 0, some; k < run; k += some) {
            for (some = 1; k + some < run && live[k + some] == live[k];) some++;
            if (!live[k]) continue;
            hd_lower_load_words(w, HD_V_lw_mem_wm, src + (size_t)((first + k) * word),
                                at + (int64_t)of * tile + row * run + k, some, 1, 0, 0);
            TRY(hd_ops_end(&w->s));
        }
    }
    return HD_OK;
}

static hd_status load_weights(struct hd_lowerer *w, int nt, int n, int c, int cw, int64_t *out) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    int taps = l->taps, words = cw == l->cw ? l->red : taps * cw;
    size_t word = hd_wm_word_bytes(w->m);
    size_t src = hd_packed_of(l)->w_offset + ((size_t)nt * (size_t)l->red + (size_t)c) * word;
    *out = lt->weights_stay ? w->stay_wm + (int64_t)nt * l->red
                            : hd_ring_take(w, &w->wm, (int64_t)n * words);
    if (hd_packed_of(l)->sparse) return load_sparse(w, src, nt, n, c, cw, *out);
    if (cw == l->cw)
        hd_lower_load_words(w, HD_V_lw_mem_wm, src, *out, (int64_t)n * l->red, 1, 0, 0);
    else
        hd_lower_load_words(w, HD_V_lw_mem_wm, src, *out, cw, n * taps,
                            (int64_t)(l->cw * (int)word), cw);
    return hd_ops_end(&w->s);
}

void hd_lower_loop(struct hd_lowerer *w, int i, int64_t n, int64_t xs, int64_t ws, int64_t as) {
    static const enum hd_field first[] = {HD_F_mx_n0, HD_F_mx_n1, HD_F_mx_n2,
                                          HD_F_mx_n3, HD_F_mx_n4, HD_F_mx_n5};
    const int64_t v[] = {n, n > 1 ? xs : 0, n > 1 ? ws : 0, n > 1 ? as : 0};
    for (int f = 0; f < 4; f++) /* they follow each other in isa.def */
        hd_lower_set(w, (enum hd_field)(first[i] + f), v[f]);
}

/* Rows (columns) of sub-window s in a tile of n. */
static int sub_size(int n, int first, int block) {
    return n > first ? (n - first + block - 1) / block : 0;
}

/* Columns of taps of a sub-window, as operations take them. */
static int window_columns(const struct hd_layer *l, const struct hd_sub *s) {
    return l->im2col ? 1 : hd_packed_of(l)->gap ? 2 : s->kw;
}

/* Taps of an output tile, of all planes. */
static int operand_taps(const struct hd_layer *l) {
    return l->im2col ? l->planes : l->taps;
}

/* What one operation takes of a sub-window: taps from (ky, kx), words from c, output tiles from i
 * on. */
struct block {
    int ky, kx, c, i;
    int kh, kw, cw, n;
};

/* A block of a sub-window over the tile by one plane of the weights; the sub-window's accumulators
 * begin at `am`. */
static hd_status matrix_op(struct hd_lowerer *w, const struct product *q, const struct hd_sub *s,
                           int plane, int64_t am, const struct block *b) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    const struct hd_mtensor *x = hd_lower_tensor(w, l->in[0]);
    const struct hd_packed *own = hd_packed_of(l);
    int k = (int)w->m->k, taps = operand_taps(l), pixel = q->in.cp / k, pitch = q->in.pitch / k;
    int sx = q->in.decimated ? 1 : l->sx, sy = q->in.decimated ? 1 : l->sy;
    int tw = sub_size(q->tw, s->x, l->ux), th = sub_size(q->th, s->y, l->uy);
    int right = own->gap ? own->gap : s->dx * pixel, down = s->dy * pitch;
    int tap = plane * (taps / l->planes) + s->tap + b->ky * window_columns(l, s) + b->kx;
    int64_t at = (int64_t)q->in.at / k + s->row * pitch + s->col * pixel + (q->low ? pixel / 2 : 0);
    at += (b->ky - q->ky) * down + b->kx * right + b->c + own->first[q->nt + b->i];
    hd_lower_begin(w, HD_UNIT_mx, HD_OP_mx_gemm);
    hd_lower_set(w, HD_F_mx_nred, 3);
    hd_lower_set(w, HD_F_mx_accumulate, q->c > 0 || plane > 0 || q->ky > 0);
    hd_lower_set(w, HD_F_mx_x_unsigned, q->low || x->is_unsigned);
    hd_lower_set(w, HD_F_mx_x, at + (lt->split_k ? 0 : q->c));
    hd_lower_set(w, HD_F_mx_w, q->wm + ((int64_t)b->i * taps + tap) * q->cw + b->c);
    hd_lower_set(w, HD_F_mx_a, am + (int64_t)b->i * q->am_nt);
    hd_lower_loop(w, 0, b->cw, 1, 1, 0);
    hd_lower_loop(w, 1, b->kw, right, q->cw, 0);
    hd_lower_loop(w, 2, b->kh, down, window_columns(l, s) * q->cw, 0);
    hd_lower_loop(w, 3, tw, sx * pixel, 0, q->am_px);
    hd_lower_loop(w, 4, th, sy * pitch, 0, tw * q->am_px);
    hd_lower_loop(w, 5, b->n, l->nts > 1 ? own->first[1] - own->first[0] : 0, taps * q->cw,
                  q->am_nt);
    hd_lower_touch(w, &q->in, false);
    touch_words(w, HD_SPACE_WM, q->wm, q->cw, (int64_t)q->n * taps, q->cw, false);
    touch_sums(w, q, 0, q->th * q->tw, true);
    return hd_ops_end(&w->s);
}

/* A plane behind the first: only words that are not all zeros, unless those are too many. */
static hd_status sparse_ops(struct hd_lowerer *w, const struct product *q, const struct hd_sub *s,
                            int plane, int64_t am, const struct block *all) {
    const struct hd_layer *l = w->l;
    const struct hd_packed *own = hd_packed_of(l);
    int first = (plane * (operand_taps(l) / l->planes) + s->tap + all->ky * all->kw) * l->cw + q->c;
    int pixels = sub_size(q->th, s->y, l->uy) * sub_size(q->tw, s->x, l->ux);
    int64_t cycles = 0, whole = (int64_t)all->n * all->kh * all->kw * all->cw * pixels;
    for (int emit = 0; emit < 2; emit++) {
        for (int i = 0; i < all->n; i++)
            for (int tap = 0; tap < all->kh * all->kw; tap++) {
                const bool *live = own->live + (int64_t)(q->nt + i) * l->red + first + tap * l->cw;
                for (int c = 0, run; c < all->cw; c += run) {
                    for (run = 1; c + run < all->cw && live[c + run] == live[c];) run++;
                    struct block b = {all->ky + tap / all->kw, tap % all->kw, c, i, 1, 1, run, 1};
                    if (!live[c]) continue;
                    cycles += (int64_t)run * pixels + SPARSE_OP;
                    if (emit) TRY(matrix_op(w, q, s, plane, am, &b));
                }
            }
        if (!emit && !own->sparse && cycles >= whole) return matrix_op(w, q, s, plane, am, all);
    }
    return HD_OK;
}

/* All sub-windows, their accumulators one behind the other. */
static hd_status sub_windows(struct hd_lowerer *w, const struct product *q) {
    const struct hd_layer *l = w->l;
    int64_t am = q->am;
    for (int i = 0; i < hd_layer_subs(l); i++) {
        struct hd_sub s = hd_layer_sub(l, i);
        int pixels = sub_size(q->th, s.y, l->uy) * sub_size(q->tw, s.x, l->ux);
        int kh = q->kh ? q->kh : l->im2col ? 1 : s.kh;
        struct block b = {q->ky, 0, 0, 0, kh, window_columns(l, &s), q->cw, q->n};
        if (pixels) TRY(matrix_op(w, q, &s, 0, am, &b));
        for (int plane = 1; pixels && plane < l->planes; plane++)
            TRY(sparse_ops(w, q, &s, plane, am, &b));
        am += (int64_t)pixels * q->am_px;
    }
    return HD_OK;
}

/* Packed pixels: output columns phase, phase + P, ... of the tile, by the rows of taps of a block
 * and one plane of the weights. */
static hd_status phase_op(struct hd_lowerer *w, const struct product *q, const struct hd_tile *t,
                          int phase, int plane, const struct block *b) {
    const struct hd_layer *l = w->l;
    struct hd_phase f = hd_layer_phase(l, phase);
    const struct hd_view *in = f.shifted ? &t->in[1] : &q->in;
    int k = (int)w->m->k, phases = hd_layer_phases(l), pitch = in->pitch / k;
    int column = (t->x + phase) * l->sx - l->pl - f.off - in->x; /* pixels from the view's first */
    int words = plane * (l->red / l->planes) + hd_layer_phase_words(l, phase) + b->ky * f.words;
    int64_t row = (int64_t)b->ky * l->dy * pitch;
    hd_lower_begin(w, HD_UNIT_mx, HD_OP_mx_gemm);
    hd_lower_set(w, HD_F_mx_nred, 2);
    hd_lower_set(w, HD_F_mx_accumulate, plane > 0);
    hd_lower_set(w, HD_F_mx_x_unsigned, hd_lower_tensor(w, l->in[0])->is_unsigned);
    hd_lower_set(w, HD_F_mx_x, (int64_t)in->at / k + row + column / l->ppw);
    hd_lower_set(w, HD_F_mx_w, q->wm + (int64_t)b->i * l->red + words);
    hd_lower_set(w, HD_F_mx_a, q->am + (int64_t)b->i * q->am_nt + (int64_t)phase * q->am_px);
    hd_lower_loop(w, 0, f.words, 1, 1, 0);
    hd_lower_loop(w, 1, b->kh, l->dy * pitch, f.words, 0);
    hd_lower_loop(w, 2, hd_ceil_div(q->tw - phase, phases), phases * l->sx / l->ppw, 0,
                  phases * q->am_px);
    hd_lower_loop(w, 3, q->th, l->sy * pitch, 0, q->tw * q->am_px);
    hd_lower_loop(w, 4, b->n, 0, l->red, q->am_nt);
    hd_lower_loop(w, 5, 1, 0, 0, 0);
    hd_lower_touch(w, in, false);
    hd_ops_touch(&w->s, HD_SPACE_WM, q->wm, q->wm + (int64_t)q->n * l->red, false);
    touch_sums(w, q, 0, q->th * q->tw, true);
    return hd_ops_end(&w->s);
}

/* A plane behind the first: of each output tile the rows of taps that are not all zeros. */
static hd_status sparse_rows(struct hd_lowerer *w, const struct product *q, const struct hd_tile *t,
                             int phase, int plane) {
    const struct hd_layer *l = w->l;
    int words = hd_layer_phase(l, phase).words;
    int from = plane * (l->red / l->planes) + hd_layer_phase_words(l, phase);
    for (int i = 0; i < q->n; i++) {
        const bool *live = hd_packed_of(l)->live + (int64_t)(q->nt + i) * l->red + from;
        int first = -1, last = -1;
        for (int k = 0; k < l->kh * words; k++)
            if (live[k]) first = first < 0 ? k / words : first, last = k / words;
        struct block b = {.ky = first, .kh = last - first + 1, .i = i, .n = 1};
        if (last >= 0) TRY(phase_op(w, q, t, phase, plane, &b));
    }
    return HD_OK;
}

static hd_status products(struct hd_lowerer *w, struct product q, const struct hd_tile *t) {
    int n = q.n, taps = operand_taps(w->l);
    for (int f = 0; w->l->ppw > 1 && f < hd_layer_phases(w->l) && f < q.tw; f++) {
        struct block all = {.kh = w->l->kh, .n = n};
        TRY(phase_op(w, &q, t, f, 0, &all));
        for (int plane = 1; plane < w->l->planes; plane++) TRY(sparse_rows(w, &q, t, f, plane));
    }
    if (w->l->ppw > 1) return HD_OK;
    if (q.low_sums && !q.low) {
        struct product low = q;
        low.low = true, low.am += q.low_sums;
        TRY(products(w, low, t));
    }
    if (hd_packed_of(w->l)->even) return sub_windows(w, &q);
    q.n = 1;
    for (int i = 0; i < n; i++, q.nt++, q.wm += taps * q.cw, q.am += q.am_nt)
        TRY(sub_windows(w, &q));
    return HD_OK;
}

/* The same of a tile whose operand rolls. Windows that begin in one slot and end in a later one go
 * together; those that end in a slot before it are two products, the second of which adds. */
static hd_status rolling_products(struct hd_lowerer *w, const struct product *all,
                                  const struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    const struct hd_placement *xp = hd_lower_place(w, l->in[0]);
    int here = hd_mtensor_slot(xp, all->in.y), reach = (l->kh - 1) * l->dy;
    for (int row = 0, n; row < all->th; row += n) {
        int slot = hd_mtensor_slot(xp, all->in.y + row * l->sy);
        int whole = (int)hd_ceil_div(xp->roll - reach - slot, l->sy); /* rows of windows */
        n = (int)hd_max(1, hd_min(all->th - row, whole));
        struct product q = *all;
        q.th = n, q.am += (int64_t)row * all->tw * all->am_px;
        for (q.ky = 0; q.ky < l->kh; q.ky += q.kh) {
            int first = slot + q.ky * l->dy, back = first >= xp->roll ? xp->roll : 0;
            q.kh = whole > 0 ? l->kh : (int)hd_ceil_div(xp->roll - first + back, l->dy);
            q.kh = (int)hd_min(q.kh, l->kh - q.ky);
            q.in.at = all->in.at + (uint32_t)((first - here - back) * all->in.pitch);
            q.in.rows = (n - 1) * l->sy + (q.kh - 1) * l->dy + 1;
            TRY(products(w, q, t));
        }
    }
    return HD_OK;
}

/* One pass over accumulators of sub-window i, from `am`, to bytes of the output tile, or to
 * accumulators; columns first, first + step, .. of it. Of a view whose columns are apart two of
 * those at once, if both have as many. */
static hd_status requantise_columns(struct hd_lowerer *w, const struct product *q,
                                    enum hd_pass pass, int i, int64_t am, int64_t pm,
                                    const struct hd_view *out, int c, int first, int step) {
    const struct hd_layer *l = w->l;
    struct hd_sub s = hd_layer_sub(l, i);
    struct product low = *q;
    int n = (int)w->m->n, pixel = out->cp / n, pitch = out->pitch / n;
    int tw = sub_size(q->tw, s.x, l->ux), th = sub_size(q->th, s.y, l->uy);
    int both = step > 1 && tw % 2 == 0 ? 2 : 1, cols = (tw - first + step - 1) / step;
    int64_t at = out->at + (uint32_t)(c + (first ? out->other : 0));
    bool dense = l->uy * l->ux == 1 && step == 1 && out->pitch == tw * out->cp;
    bool join = pass == HD_PASS_JOIN, split = pass == HD_PASS_LOW;
    bool to_am = join || (pass == HD_PASS_SCALE && hd_lower_tensor(w, l->out)->wide);
    if (dense && cols * th <= UINT16_MAX) cols *= th, th = 1; /* rows go on in both memories */
    const int64_t count[] = {cols, th, q->n, both};
    const int64_t a[] = {step * q->am_px, tw * q->am_px, q->n > 1 ? q->am_nt : 0,
                         both > 1 ? q->am_px : 0};
    const int64_t d[] = {l->ux * pixel, th > 1 ? l->uy * pitch : 0, 1,
                         both > 1 ? out->other / n : 0};
    am += (int64_t)(q->row * tw + first) * q->am_px;
    at = at / n + s.y * pitch + s.x * pixel;
    low.am += q->low_sums;
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set_pass(w, pass);
    hd_lower_set(w, HD_F_vx_a, am + (join ? q->low_sums : 0));
    hd_lower_set(w, HD_F_vx_b, join ? am : split ? at : 0);
    hd_lower_set(w, HD_F_vx_d, to_am ? am : at + (split ? pixel / 2 : 0));
    for (int k = 0; k < 4; k++) {
        int64_t of_b = join ? a[k] : split ? d[k] : 0;
        hd_lower_map_loop(w, k, count[k], a[k], of_b, to_am ? a[k] : d[k]);
    }
    touch_sums(w, q, q->row * q->tw, q->th * q->tw, to_am);
    if (join) touch_sums(w, &low, q->row * q->tw, q->th * q->tw, false);
    if (split) hd_lower_touch(w, out, false);
    if (!to_am) hd_lower_touch(w, out, true);
    if (pass > HD_PASS_SCALE) return hd_ops_end(&w->s);
    hd_lower_set(w, HD_F_vx_p, pm + i), hd_lower_set(w, HD_F_vx_ps2, l->pm_words);
    hd_ops_touch(&w->s, HD_SPACE_PM, pm, pm + q->n * l->pm_words, false);
    return hd_ops_end(&w->s);
}

static hd_status requantise_sub(struct hd_lowerer *w, const struct product *q, int i, int64_t am,
                                int64_t pm, const struct hd_view *out, int c) {
    int step = out->other ? 2 : 1, n = q->tw % 2 ? hd_min(step, q->tw) : 1;
    enum hd_pass pass = q->low_sums ? HD_PASS_JOIN : HD_PASS_SCALE,
                 last = hd_lower_tensor(w, w->l->out)->wide ? HD_PASS_LOW : HD_PASS_SCALE;
    for (; pass <= last; pass++)
        for (int first = 0; first < n; first++)
            TRY(requantise_columns(w, q, pass, i, am, pm, out, c, first, step));
    return HD_OK;
}

static hd_status requantise(struct hd_lowerer *w, const struct product *q, int64_t pm,
                            const struct hd_view *out, int c) {
    const struct hd_layer *l = w->l;
    int64_t am = q->am;
    for (int i = 0; i < hd_layer_subs(l); i++) {
        struct hd_sub s = hd_layer_sub(l, i);
        int pixels = sub_size(q->th, s.y, l->uy) * sub_size(q->tw, s.x, l->ux);
        if (pixels) TRY(requantise_sub(w, q, i, am, pm, out, c));
        am += (int64_t)pixels * q->am_px;
    }
    return HD_OK;
}

/* Where rows [first, first + n) of a tile go, `slots` rows further on: to their place; of a rolling
 * tensor those in its first slots behind its last slot, too, and those of a tile that ends there in
 * the first slots. */
struct copy {
    int first, n, slots;
};
enum { COPIES = 3 };

static struct hd_view copied(const struct hd_view *out, const struct copy *c) {
    struct hd_view at = *out;
    at.at += (uint32_t)((c->first + c->slots) * out->pitch), at.rows = c->n;
    return at;
}

static void copies(const struct hd_placement *yp, const struct hd_view *out,
                   struct copy c[COPIES]) {
    int slot = yp->roll ? hd_mtensor_slot(yp, out->y) : 0, in = yp->roll - slot;
    c[0] = (struct copy){0, out->rows, 0};
    c[1] = (struct copy){0, (int)hd_min(out->rows, yp->mirror - slot), yp->roll};
    c[2] = (struct copy){in, yp->roll ? out->rows - in : 0, -yp->roll};
}

static hd_status results(struct hd_lowerer *w, const struct product *q, int64_t pm,
                         const struct hd_view *out, int c) {
    struct copy list[COPIES];
    copies(hd_lower_place(w, w->l->out), out, list);
    for (int i = 0; i < COPIES; i++) {
        struct product part = *q;
        struct hd_view at = copied(out, &list[i]);
        part.row = list[i].first, part.th = list[i].n;
        if (part.th > 0) TRY(requantise(w, &part, pm, &at, c));
    }
    return HD_OK;
}

/* Lanes of each pixel that no channel has. */
static hd_status fill_lanes(struct hd_lowerer *w, const struct hd_view *out, int from, int to) {
    struct copy list[COPIES];
    copies(hd_lower_place(w, w->l->out), out, list);
    for (int i = 0; i < COPIES; i++) {
        struct hd_view at = copied(out, &list[i]);
        if (at.rows > 0) TRY(hd_lower_fill_lanes(w, &at, from, to));
    }
    return HD_OK;
}

/* One weight chunk over one pixel tile: reduction blocks, then one vector pass. */
static hd_status chunk_on_tile(struct hd_lowerer *w, const struct hd_tile *t, int nt,
                               const struct hd_view *out, int c) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    struct hd_chunk *ch = &w->chunks[nt / lt->nb], once = {-1, -1, -1};
    if (!lt->weights_stay && !lt->chunk_outer) ch = &once;
    int n = (int)hd_min(lt->nb, l->nts - nt);
    struct product q = {.in = t->in[0],
                        .nt = nt,
                        .n = n,
                        .th = t->th,
                        .tw = t->tw,
                        .am_px = 1,
                        .am_nt = t->th * t->tw};
    if (l->kind->slides) {
        if (ch->pm < 0) TRY(hd_lower_params(w, nt, n, &ch->pm));
        return hd_lower_depthwise(w, t, nt, n, ch->pm, out, c);
    }
    int64_t words = (int64_t)n * t->th * t->tw;
    /* Sums to which MX adds wait where VX reads their bank. Else halves in turn are better but for
     * rolling chains: EfficientNet 3 % faster, MobileNetV2 1 % slower. */
    bool halves = !lt->roll_th || l->planes > 1 || lt->deep;
    if (hd_lower_tensor(w, l->in[0])->wide) q.low_sums = words, words *= 2;
    q.am = halves ? hd_lower_accumulators(w, words) : hd_ring_take(w, &w->am, words);
    for (q.c = 0; q.c < l->cw; q.c += lt->cwb) {
        q.cw = (int)hd_min(lt->cwb, l->cw - q.c);
        if (lt->split_k) { /* the words of pixels that the block reads */
            struct hd_tile part = *t;
            part.c = q.c * (int)w->m->k, part.channels = q.cw * (int)w->m->k;
            TRY(hd_lower_inputs(w, &part));
            q.in = part.in[0];
        }
        if (ch->wm < 0 || lt->cwb < l->cw) TRY(load_weights(w, nt, n, q.c, q.cw, &ch->wm));
        q.wm = ch->wm;
        TRY(hd_lower_place(w, l->in[0])->roll ? rolling_products(w, &q, t) : products(w, q, t));
    }
    if (ch->pm < 0) TRY(hd_lower_params(w, nt, n, &ch->pm)); /* needed last */
    if (!nt) TRY(hd_lower_ahead(w, t));
    return results(w, &q, ch->pm, out, c);
}

int hd_lower_chunk_bytes(const struct hd_lowerer *w, int nt) {
    int n = (int)w->m->n, last = (int)hd_min(nt + w->lt->nb, w->l->nts);
    int cp = hd_lower_tensor(w, w->l->out)->bytes;
    return last == w->l->nts ? cp - nt * n
                             : (last - nt) * n; /* the last chunk stores the padding, too */
}

hd_status hd_lower_matmul(struct hd_lowerer *w, struct hd_tile *t) {
    const int only_nt = t->only_nt;
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    int n = (int)w->m->n, cp = hd_lower_tensor(w, l->out)->bytes;
    if (only_nt >= 0 && hd_layer_slices(w->lo, lt)) {
        t->c = only_nt * n;
        t->channels = hd_lower_chunk_bytes(w, only_nt);
    }
    if (!lt->split_k) TRY(hd_lower_inputs(w, t));
    if (only_nt >= 0) {
        int bytes = hd_lower_chunk_bytes(w, only_nt);
        bool resident = hd_lower_place(w, l->out)->resident;
        struct hd_view out = hd_lower_output(w, t->img, t->y, t->x, t->th, t->tw, bytes);
        if (only_nt + lt->nb >= l->nts)
            TRY(hd_lower_fill_lanes(w, &out, (l->nts - (resident ? 0 : only_nt)) * n,
                                    resident ? cp : bytes));
        TRY(chunk_on_tile(w, t, only_nt, &out, resident ? only_nt * n : 0));
        return hd_lower_store(w, t->img, &out, only_nt * n, bytes);
    }
    struct hd_view out = hd_lower_output(w, t->img, t->y, t->x, t->th, t->tw, cp);
    bool wide = hd_lower_tensor(w, l->out)->wide; /* two planes of lanes */
    TRY(fill_lanes(w, &out, l->nts * n, wide ? cp / 2 : cp));
    if (wide) TRY(fill_lanes(w, &out, cp / 2 + l->nts * n, cp));
    for (int nt = 0; nt < l->nts; nt += lt->nb) TRY(chunk_on_tile(w, t, nt, &out, nt * n));
    return hd_lower_store(w, t->img, &out, 0, cp);
}

int64_t hd_matmul_pixel_cycles(const struct hd_layer *l) {
    int per = l->ppw > 1 ? hd_layer_phases(l) : l->uy * l->ux;
    return hd_max(1, (int64_t)l->nts * l->red / per);
}

const struct hd_kind hd_kind_matmul = {
    .name = "matmul",
    .operations = "mx.gemm vx.map",
    .expression = "sum over p, q, c of w[m,p,q,c] * x[i*sy + p*dy - pt, j*sx + q*dx - pl, c]",
    .memories = "XM WM -> AM, AM PM -> XM",
    .joins = true,
    .product = true,
    .weights = true,
    .chains = true,
    .takes_parts = true,
    .refuses = hd_matmul_refuses,
    .wish_of = hd_matmul_wish,
    .packs_pixels = hd_matmul_packs_pixels,
    .flat = hd_matmul_flat,
    .make = hd_matmul_make,
    .pixel_cycles = hd_matmul_pixel_cycles,
    .vector_ops = hd_vectors_once,
    .choose_chunks = hd_choose_weight_chunks,
    .most_pixels = hd_weight_pixels,
    .lower = hd_lower_matmul,
};
