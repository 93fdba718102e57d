/* Products of two activations: the second operand goes through the arena into WM, the first one
 * stays where it is.
 *
 * Stored words: rows of the tensor in blocks of N; of each block, words of K channels one behind
 * the other, each N rows by K bytes, which is a word of WM. Zero points are taken off by products
 * with constant words, accumulated on the same sums. */
#include "compiler/kind/bmm.h"
#include "runtime/base/num.h"

/* A second operand that comes from outside, or from a maker that cannot do it, rows [0, h), before
 * its first reader. */
static hd_status stage(struct hd_lowerer *w, int id) {
    const struct hd_mtensor *t = hd_lower_whole(w, id);
    const struct hd_placement *tp = hd_lower_whole_place(w, id);
    int lanes = (int)w->m->n;
    bool *staged = &w->staged[t - w->lo->tensors];
    if (*staged) return HD_OK;
    *staged = true;
    for (int y = 0, n = hd_mtensor_pixels(t); y < n; y += lanes) {
        int rows = (int)hd_min(lanes, n - y);
        int64_t at = (int64_t)tp->arena + (int64_t)y * t->cp, bytes = (int64_t)rows * t->cp;
        uint32_t to = (uint32_t)hd_ring_take(w, &w->xm_in[HD_RING_MX], hd_round_up(bytes, 64));
        hd_lower_begin_load(w, HD_V_seg_arena, at, to, bytes);
        hd_ops_touch(&w->s, HD_SPACE_ARENA, at, at + bytes, false);
        hd_ops_touch(&w->s, HD_SPACE_XM, to, to + bytes, true);
        TRY(hd_ops_end(&w->s));
        TRY(hd_lower_store_words(w, tp, to, t->cp, y, rows, 0, t->cp));
    }
    return HD_OK;
}

/* ---- operands ---- */

/* Output tiles [nt, nt + n) of the second operand of a batch, all k words; the first WM word. */
static hd_status load_words(struct hd_lowerer *w, int batch, int nt, int n, int64_t *out) {
    const struct hd_layer *l = w->l;
    const struct hd_bmm *p = l->own;
    const struct hd_mtensor *t = hd_lower_whole(w, l->in[1]);
    const struct hd_placement *tp = hd_lower_whole_place(w, l->in[1]);
    int k = (int)w->m->k, lanes = (int)w->m->n, row = p->w_row[batch], c = p->w_channel[batch];
    int64_t word = hd_wm_word_bytes(w->m), at, end;
    *out = hd_ring_take(w, &w->wm, (int64_t)n * l->cw + p->zp_words[1]);
    if (p->zp_words[1]) { /* and behind them the constant ones */
        hd_lower_load_words(w, HD_V_lw_mem_wm, p->w_offset, *out + n * l->cw, p->zp_words[1], 1, 0,
                            0);
        TRY(hd_ops_end(&w->s));
    }
    if (p->columns) { /* WM words [k][nt] */
        at = (int64_t)tp->arena + (int64_t)row * t->cp + c + nt * lanes;
        end = at + (int64_t)(l->cw * k - 1) * t->cp + n * lanes;
        hd_lower_load_words(w, HD_V_lw_mem_wm, 0, *out, n, l->cw, (int64_t)k * t->cp, n);
        hd_lower_set(w, HD_F_lw_col, 1), hd_lower_set(w, HD_F_lw_s2, t->cp);
    } else { /* [nt][k] */
        int64_t of_block = t->cp / k * word;
        int64_t block = row / t->word_rows * hd_ceil_div(t->word_rows, lanes) + nt;
        at = (int64_t)tp->words + block * of_block + c / k * word;
        end = at + (n - 1) * of_block + l->cw * word;
        hd_lower_load_words(w, HD_V_lw_mem_wm, 0, *out, l->cw, n, of_block, l->cw);
    }
    hd_lower_set(w, HD_F_lw_seg, HD_V_seg_arena), hd_lower_set(w, HD_F_lw_src, at);
    hd_ops_touch(&w->s, HD_SPACE_ARENA, at, end, false);
    return hd_ops_end(&w->s);
}

/* Rows [y, y + rows) of the first operand of a batch; *out_at = its first byte in XM. */
static hd_status load_rows(struct hd_lowerer *w, int batch, int y, int rows, struct hd_view *v) {
    const struct hd_layer *l = w->l;
    const struct hd_bmm *p = l->own;
    const struct hd_mtensor *t = hd_lower_tensor(w, l->in[0]);
    const struct hd_placement *tp = hd_lower_place(w, l->in[0]);
    int row = p->a_row[batch] + y, c = p->a_channel[batch], bytes = l->cw * (int)w->m->k;
    if (tp->resident) {
        TRY(hd_lower_input(w, 0, 0, row, 0, rows, 1, v));
        v->at += (uint32_t)c;
        v->channels = bytes;
        return HD_OK;
    }
    int64_t at = (int64_t)tp->arena + (int64_t)row * t->cp + c;
    int64_t size = hd_round_up((int64_t)rows * bytes, 64);
    *v = hd_view_at((uint32_t)hd_ring_take(w, &w->xm_in[HD_RING_MX], size), bytes, bytes, rows, 1,
                    row, 0);
    hd_lower_begin_load(w, HD_V_seg_arena, at, v->at, bytes);
    hd_lower_set(w, HD_F_lx_edge, p->pads), hd_lower_set(w, HD_F_lx_pad, p->a_zp & 0xff);
    hd_lower_runs(w, 2, rows, t->cp, bytes);
    if (p->pads) { /* behind the last k */
        hd_lower_set(w, HD_F_lx_ys, 1), hd_lower_set(w, HD_F_lx_rows, rows);
        hd_lower_set(w, HD_F_lx_row_bytes, p->depth);
    }
    hd_ops_touch(&w->s, HD_SPACE_ARENA, at, at + (int64_t)(rows - 1) * t->cp + bytes, false);
    hd_lower_touch(w, v, true);
    return hd_ops_end(&w->s);
}

/* ---- products ---- */

struct nest { /* reduction over words and those of a zero point, then rows, then output tiles */
    int64_t x, w, am;
    int x_word, x_part, x_row; /* steps in XM */
    int w_word, w_part, w_nt;  /* and in WM */
    int words, rows, n;
    bool is_unsigned, more;
};

static hd_status multiply(struct hd_lowerer *w, const struct nest *q) {
    hd_lower_set(w, HD_F_mx_nred, 2);
    hd_lower_set(w, HD_F_mx_accumulate, q->more);
    hd_lower_set(w, HD_F_mx_x_unsigned, q->is_unsigned);
    hd_lower_set(w, HD_F_mx_x, q->x), hd_lower_set(w, HD_F_mx_w, q->w);
    hd_lower_set(w, HD_F_mx_a, q->am);
    hd_lower_loop(w, 0, w->l->cw, q->x_word, q->w_word, 0);
    hd_lower_loop(w, 1, q->words, q->x_part, q->w_part, 0);
    hd_lower_loop(w, 2, q->rows, q->x_row, 0, 1);
    hd_lower_loop(w, 3, q->n, 0, q->w_nt, q->rows);
    for (int i = 4; i < 6; i++) hd_lower_loop(w, i, 1, 0, 0, 0);
    hd_ops_touch(&w->s, HD_SPACE_AM, q->am, q->am + (int64_t)q->rows * q->n, true);
    return hd_ops_end(&w->s);
}

/* The sums without zero points: products with constant words are added. */
static hd_status sums(struct hd_lowerer *w, const struct hd_view *a, int n, int64_t wm,
                      int64_t am) {
    const struct hd_layer *l = w->l;
    const struct hd_bmm *p = l->own;
    int k = (int)w->m->k;
    struct nest q = {.x = a->at / (uint32_t)k,
                     .w = wm,
                     .am = am,
                     .x_word = 1,
                     .x_row = a->pitch / k,
                     .w_word = p->columns ? n : 1,
                     .w_nt = p->columns ? 1 : l->cw,
                     .words = 1,
                     .rows = a->rows,
                     .n = n,
                     .is_unsigned = hd_lower_tensor(w, l->in[0])->is_unsigned};
    struct nest of_a = q, of_w = q;
    hd_lower_begin(w, HD_UNIT_mx, HD_OP_mx_gemm);
    hd_lower_touch(w, a, false);
    hd_ops_touch(&w->s, HD_SPACE_WM, wm, wm + (int64_t)n * l->cw, false);
    TRY(multiply(w, &q));
    if (p->zp_words[1]) { /* - w_zp * sum of a */
        int64_t word = wm + n * l->cw;
        of_a.more = true, of_a.w = word, of_a.w_word = of_a.w_nt = 0, of_a.w_part = 1;
        of_a.words = p->zp_words[1];
        hd_lower_begin(w, HD_UNIT_mx, HD_OP_mx_gemm);
        hd_lower_touch(w, a, false);
        hd_ops_touch(&w->s, HD_SPACE_WM, word, word + p->zp_words[1], false);
        TRY(multiply(w, &of_a));
    }
    if (!p->zp_words[0]) return HD_OK;
    uint32_t at = (uint32_t)hd_ring_take(w, &w->xm_in[HD_RING_MX],
                                         hd_round_up(2 * k, 64)); /* - a_zp * sum of w */
    for (int i = 0; i < p->zp_words[0]; i++)
        TRY(hd_lower_fill(w, p->part[0][i], at + (uint32_t)(i * k), k, 1, 0));
    of_w.more = true, of_w.is_unsigned = false, of_w.words = p->zp_words[0];
    of_w.x = at / (uint32_t)k, of_w.x_word = of_w.x_row = 0, of_w.x_part = 1;
    hd_lower_begin(w, HD_UNIT_mx, HD_OP_mx_gemm);
    hd_ops_touch(&w->s, HD_SPACE_XM, at, at + p->zp_words[0] * k, false);
    hd_ops_touch(&w->s, HD_SPACE_WM, wm, wm + (int64_t)n * l->cw, false);
    return multiply(w, &of_w);
}

/* Rows [y, y + rows) of a batch, output tiles [nt, nt + n). */
static hd_status tile(struct hd_lowerer *w, int batch, int y, int rows, int nt, int n, int64_t wm) {
    const struct hd_layer *l = w->l;
    const struct hd_bmm *p = l->own;
    const struct hd_mtensor *t = hd_lower_tensor(w, l->out);
    const struct hd_placement *tp = hd_lower_place(w, l->out);
    int lanes = (int)w->m->n, c = p->y_channel[batch] + nt * lanes, bytes = n * lanes;
    int64_t am = hd_lower_accumulators(w, (int64_t)rows * n);
    struct hd_view a;
    TRY(load_rows(w, batch, y, rows, &a));
    TRY(sums(w, &a, n, wm, am));
    struct hd_view out = hd_lower_output(w, 0, p->y_row[batch] + y, 0, rows, 1, bytes);
    struct hd_view part = out; /* that is written */
    if (tp->resident) part.at += (uint32_t)c, part.channels = bytes;
    if (tp->resident && c + bytes >= t->c) /* behind the last vector of the pixel */
        TRY(hd_lower_fill_lanes(w, &out, c + bytes, t->bytes));
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_zero);
    hd_lower_set(w, HD_F_vx_a_imm, l->a_imm);
    hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(l->a_scale));
    hd_lower_set(w, HD_F_vx_a, am), hd_lower_set(w, HD_F_vx_d, part.at / (uint32_t)lanes);
    hd_lower_map_loop(w, 0, rows, 1, 0, out.pitch / lanes);
    hd_lower_map_loop(w, 1, n, rows, 0, 1);
    for (int i = 2; i < 4; i++) hd_lower_map_loop(w, i, 1, 0, 0, 0);
    hd_lower_set_requant(w);
    hd_ops_touch(&w->s, HD_SPACE_AM, am, am + (int64_t)rows * n, false);
    hd_lower_touch(w, &part, true);
    TRY(hd_ops_end(&w->s));
    return hd_lower_store(w, 0, &out, c, bytes);
}

/* Rows of all batches in turn, of a chain: words of the second operand come with the first row of a
 * batch. */
static hd_status lower_rows(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    if (hd_bmm_stages(w->lo, l)) TRY(stage(w, l->in[1]));
    for (int y = t->y, rows; y < t->y + t->th; y += rows) {
        const int batch = y / l->oh, first = y % l->oh;
        rows = (int)hd_min(l->oh - first, t->y + t->th - y);
        for (int nt = 0; nt < l->nts; nt += w->lt->nb) {
            struct hd_chunk *c = &w->chunks[nt / w->lt->nb];
            int n = (int)hd_min(w->lt->nb, l->nts - nt);
            if (c->batch != batch) TRY(load_words(w, batch, nt, n, &c->wm));
            c->batch = batch;
            TRY(tile(w, batch, first, rows, nt, n, c->wm));
        }
    }
    return HD_OK;
}

static int rows_of_all(const struct hd_layer *l, bool results) {
    const struct hd_bmm *p = l->own;
    for (int b = 0; b < p->batches; b++)
        if ((results ? p->y_row[b] : p->a_row[b]) != b * l->oh ||
            (results ? p->y_channel[b] : p->a_channel[b]))
            return 0;
    return p->batches * l->oh;
}

/* Batches, chunks of output tiles, tiles of rows. */
static hd_status lower(struct hd_lowerer *w) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    const struct hd_bmm *p = l->own;
    if (hd_bmm_stages(w->lo, l)) TRY(stage(w, l->in[1]));
    for (int b = 0; b < p->batches; b++)
        for (int nt = 0; nt < l->nts; nt += lt->nb) {
            int n = (int)hd_min(lt->nb, l->nts - nt);
            int64_t wm;
            TRY(load_words(w, b, nt, n, &wm));
            for (int y = 0; y < l->oh; y += lt->th)
                TRY(tile(w, b, y, (int)hd_min(lt->th, l->oh - y), nt, n, wm));
        }
    return HD_OK;
}

/* Of a product of two activations: words of rows, a block of the second operand that comes in,
 * constant words. */
static struct hd_tile_bytes tile_bytes(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    const struct hd_bmm *p = l->own;
    struct hd_tile_bytes bytes = {0};
    if (hd_layer_streams(lo, l, 0)) bytes.in = hd_round_up((int64_t)lt->th * l->cw * lo->m->k, 64);
    if (hd_bmm_stages(lo, l))
        bytes.in += hd_round_up((int64_t)lo->m->n * lo->tensors[l->in[1]].cp, 64);
    if (p->zp_words[0]) bytes.in += hd_round_up(2 * lo->m->k, 64);
    if (!lo->plan->places[l->out].resident)
        bytes.out = hd_round_up((int64_t)lt->th * lt->nb * lo->m->n, 64);
    return bytes;
}

/* Output tiles whose words of the second operand are in WM at a time. */
static void choose_chunks(const struct hd_lowering *lo, struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    int words = (int)hd_wm_words(lo->m);
    int nb =
        (int)hd_max(1, hd_min(hd_eighths(words, hd_knob(lo)->block) / l->cw, hd_half_am(lo->m)));
    if (lt->ask_nb) nb = (int)hd_min(lt->ask_nb, nb);
    lt->nb = (int)hd_ceil_div(l->nts, hd_ceil_div(l->nts, nb));
}

static int64_t most_pixels(const struct hd_lowering *lo, const struct hd_tiling *lt,
                           struct hd_refusal *out_why) {
    if ((int64_t)lt->l->cw + 2 > hd_wm_words(lo->m) / 2) *out_why = HD_REFUSE(column_words);
    return hd_accumulated_pixels(lo, lt);
}

static bool streams(const struct hd_lowering *lo, const struct hd_layer *l, int i) {
    return i == 1 ? hd_bmm_stages(lo, l) : !lo->plan->places[l->in[i]].resident;
}

static bool takes_ring(const struct hd_layer *l) {
    return ((const struct hd_bmm *)l->own)->zp_words[0] > 0;
}

static int64_t pixel_cycles(const struct hd_layer *l) {
    return (int64_t)l->nts * l->cw;
}

const struct hd_kind hd_kind_bmm = {
    .name = "bmm",
    .operations = "st.store lw.load mx.gemm vx.map",
    .expression = "sum over c of a[i,c] * b[c,m], both activations",
    .memories = "XM -> DRAM -> WM, XM WM -> AM, AM PM -> XM",
    .own_params = true,
    .wishes_all = true,
    .refuses = hd_bmm_refuses,
    .wish = HD_WISH_ROWS,
    .result = hd_bmm_result,
    .make = hd_bmm_make,
    .takes_ring = takes_ring,
    .pixel_cycles = pixel_cycles,
    .vector_ops = hd_vectors_once,
    .streams = streams,
    .tile_bytes = tile_bytes,
    .choose_chunks = choose_chunks,
    .most_pixels = most_pixels,
    .rows = rows_of_all,
    .lower = lower_rows,
    .lower_layer = lower,
};
