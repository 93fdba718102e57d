/* Lowering: layers of one step become slot operations.
 *
 * needs: tiles (tiling.c) and addresses (mem/plan.c)
 * gives: operations in issue order, with semaphores; the program in the image
 * destroys: nothing
 *
 * Buffers that rotate (streamed tiles in the XM ring, weight chunks in WM, parameters in PM,
 * accumulators in the halves of AM) are taken from simple rings. Reuse waits by the same
 * dependences as data does, so double or deeper buffering comes from the size of the rings alone.
 */
#include <string.h>

#include "compiler/sched/sched.h"
#include "runtime/base/num.h"

/* A rectangle of pixels in XM: byte address of its first pixel, bytes between rows and pixels. */
struct view {
    uint32_t at;
    int pitch, cp;
    int rows, cols;
    int y, x; /* coordinates of its first pixel in the tensor */
};

struct tile {
    int img, y, x, th, tw;
    struct view in[2];
};

struct ring {
    int64_t first, size, next;
};

struct lowerer {
    struct hd_sched s;
    struct hd_lowering *lo;
    const struct hd_machine *m;
    const struct hd_layer *l; /* in work */
    struct ring xm, wm, pm, am[2];
    int am_half;
    bool *ready;   /* per mtensor: resident, and its loads or padding have been issued */
    struct chunk { /* of weights: where it lies, -1 = not loaded */
        int64_t wm, pm;
    } * chunks;
    int64_t stay_wm, stay_pm; /* where the weights of a layer that keeps them begin */
};

static int64_t ring_take(struct ring *r, int64_t size) {
    HD_ASSERT(size <= r->size);
    if (r->next + size > r->size) r->next = 0;
    int64_t at = r->first + r->next;
    r->next += size;
    return at;
}

static const struct hd_mtensor *tensor(const struct lowerer *w, int id) {
    return &w->lo->tensors[id];
}

static void set(struct lowerer *w, enum hd_field f, int64_t v) {
    hd_sched_set(&w->s, f, v);
}

static void begin(struct lowerer *w, enum hd_unit unit, enum hd_opcode op) {
    hd_sched_begin(&w->s, unit, hd_isa_ops[op].code, w->l->tag);
}

/* ---- XM views ----------------------------------------------------------------------------------
 */

static int row_pitch(const struct hd_mtensor *t) {
    return (t->w + t->pl + t->pr) * t->cp;
}

static uint32_t resident_at(const struct hd_mtensor *t, int img, int y, int x) {
    int rows = t->h + t->pt + t->pb;
    return t->xm + (uint32_t)((img * rows + y + t->pt) * row_pitch(t) + (x + t->pl) * t->cp);
}

static struct view resident_view(const struct hd_mtensor *t, int img, int y, int x, int rows,
                                 int cols) {
    return (struct view){resident_at(t, img, y, x), row_pitch(t), t->cp, rows, cols, y, x};
}

static void touch_view(struct lowerer *w, const struct view *v, bool write) {
    int64_t end = v->at + (int64_t)(v->rows - 1) * v->pitch + (int64_t)v->cols * v->cp;
    hd_sched_touch(&w->s, HD_SPACE_XM, v->at, end, write);
}

/* ---- loads and stores --------------------------------------------------------------------------
 */

static void touch_rows(struct lowerer *w, const struct hd_mtensor *t, int img, int y0, int y1,
                       bool write) {
    int64_t row = (int64_t)t->w * t->cp, at = (int64_t)t->arena + img * t->h * row;
    y0 = (int)hd_max(y0, 0), y1 = (int)hd_min(y1, t->h);
    if (y1 > y0) hd_sched_touch(&w->s, HD_SPACE_ARENA, at + y0 * row, at + y1 * row, write);
}

/* Loads a rectangle of a tensor in the arena; what lies outside the tensor gets the pad value. */
static hd_status load_view(struct lowerer *w, const struct hd_mtensor *t, int img,
                           const struct view *v) {
    int64_t row = (int64_t)t->w * t->cp;
    int64_t src = (int64_t)t->arena + img * t->h * row + v->y * row + (int64_t)v->x * t->cp;
    bool edge = v->y < 0 || v->x < 0 || v->y + v->rows > t->h || v->x + v->cols > t->w;
    bool one_run = !edge && v->cols == t->w && v->pitch == row;
    begin(w, HD_UNIT_lx, HD_OP_lx_load);
    set(w, HD_F_lx_seg, 1);
    set(w, HD_F_lx_edge, edge);
    set(w, HD_F_lx_pad, (t->resident ? t->pad_value : w->l->pad_value) & 0xff);
    set(w, HD_F_lx_src, src & 0xffffffff);
    set(w, HD_F_lx_dst, v->at);
    set(w, HD_F_lx_run, (int64_t)v->cols * v->cp * (one_run ? v->rows : 1));
    set(w, HD_F_lx_n1, 1);
    set(w, HD_F_lx_n2, one_run ? 1 : v->rows);
    set(w, HD_F_lx_n3, 1);
    set(w, HD_F_lx_ys, 1);
    set(w, HD_F_lx_s2, row);
    set(w, HD_F_lx_d2, v->pitch);
    set(w, HD_F_lx_x0, (int64_t)v->x * t->cp);
    set(w, HD_F_lx_row_bytes, row);
    set(w, HD_F_lx_y0, v->y);
    set(w, HD_F_lx_rows, t->h);
    touch_rows(w, t, img, v->y, v->y + v->rows, false);
    touch_view(w, v, true);
    return hd_sched_end(&w->s);
}

/* n runs of `run` bytes, `step` apart, take the pad value. */
static hd_status fill(struct lowerer *w, const struct hd_mtensor *t, uint32_t at, int64_t run,
                      int n, int64_t step) {
    if (run <= 0 || n <= 0) return HD_OK;
    begin(w, HD_UNIT_lx, HD_OP_lx_load);
    set(w, HD_F_lx_seg, 1);
    set(w, HD_F_lx_edge, 1);
    set(w, HD_F_lx_pad, t->pad_value & 0xff);
    set(w, HD_F_lx_dst, at);
    set(w, HD_F_lx_run, run);
    set(w, HD_F_lx_n1, n);
    set(w, HD_F_lx_n2, 1);
    set(w, HD_F_lx_n3, 1);
    set(w, HD_F_lx_d1, step);
    hd_sched_touch(&w->s, HD_SPACE_XM, at, at + (n - 1) * step + run, true);
    return hd_sched_end(&w->s);
}

/* The ring of padding around each image of a resident tensor that a layer is about to write. */
static hd_status fill_padding(struct lowerer *w, const struct hd_mtensor *t) {
    int64_t pitch = row_pitch(t), side = (int64_t)(t->pl + t->pr) * t->cp;
    for (int img = 0; img < t->n; img++) {
        uint32_t first = resident_at(t, img, -t->pt, -t->pl);
        TRY(fill(w, t, first, t->pt * pitch + (int64_t)t->pl * t->cp, 1, 0));
        TRY(fill(w, t, resident_at(t, img, 0, t->w), side, t->h - 1, pitch));
        TRY(fill(w, t, resident_at(t, img, t->h - 1, t->w), t->pb * pitch + (int64_t)t->pr * t->cp,
                 1, 0));
    }
    return HD_OK;
}

/* A resident tensor that comes from outside: its loads are issued once, in bands, padding included.
 */
static hd_status load_resident(struct lowerer *w, int id) {
    const struct hd_mtensor *t = tensor(w, id);
    int rows = t->h + t->pt + t->pb, band = (int)hd_max(1, hd_ceil_div(rows, 4));
    if (w->ready[id]) return HD_OK;
    w->ready[id] = true;
    for (int img = 0; img < t->n; img++)
        for (int y = -t->pt; y < t->h + t->pb; y += band) {
            int n = (int)hd_min(band, t->h + t->pb - y);
            struct view v = resident_view(t, img, y, -t->pl, n, t->w + t->pl + t->pr);
            TRY(load_view(w, t, img, &v));
        }
    return HD_OK;
}

/* The rectangle [y, y+rows) x [x, x+cols) of operand i, in XM; loaded if it streams. */
static hd_status input_view(struct lowerer *w, int i, int img, int y, int x, int rows, int cols,
                            struct view *out) {
    const struct hd_mtensor *t = tensor(w, w->l->in[i]);
    if (t->resident) {
        if (t->comes_in) TRY(load_resident(w, w->l->in[i]));
        *out = resident_view(t, img, y, x, rows, cols);
        return HD_OK;
    }
    int64_t bytes = hd_round_up((int64_t)rows * cols * t->cp, 64);
    *out = (struct view){(uint32_t)ring_take(&w->xm, bytes), cols * t->cp, t->cp, rows, cols, y, x};
    return load_view(w, t, img, out);
}

/* Where a tile of the output goes; channels [c, c + bytes) of it when streamed. */
static struct view output_view(struct lowerer *w, int img, int y, int x, int rows, int cols,
                               int bytes) {
    const struct hd_mtensor *t = tensor(w, w->l->out);
    if (t->resident) return resident_view(t, img, y, x, rows, cols);
    int64_t size = hd_round_up((int64_t)rows * cols * bytes, 64);
    return (struct view){(uint32_t)ring_take(&w->xm, size), cols * bytes, bytes, rows, cols, y, x};
}

/* Stores channels [c, c + bytes) of a tile. v: the whole pixel when resident, those bytes when not.
 */
static hd_status store_view(struct lowerer *w, int img, const struct view *v, int c, int bytes) {
    const struct hd_mtensor *t = tensor(w, w->l->out);
    if (!t->in_arena) return HD_OK;
    int64_t row = (int64_t)t->w * t->cp;
    bool whole = bytes == t->cp;
    begin(w, HD_UNIT_st, HD_OP_st_store);
    set(w, HD_F_st_seg, 1);
    set(w, HD_F_st_dst,
        (int64_t)t->arena + img * t->h * row + v->y * row + (int64_t)v->x * t->cp + c);
    set(w, HD_F_st_src, v->at + (t->resident ? c : 0));
    set(w, HD_F_st_run, whole ? (int64_t)v->cols * t->cp : bytes);
    set(w, HD_F_st_n1, whole ? 1 : v->cols);
    set(w, HD_F_st_n2, v->rows);
    set(w, HD_F_st_n3, 1);
    set(w, HD_F_st_d1, t->cp);
    set(w, HD_F_st_d2, row);
    set(w, HD_F_st_s1, v->cp);
    set(w, HD_F_st_s2, v->pitch);
    touch_view(w, v, false);
    touch_rows(w, t, img, v->y, v->y + v->rows, true);
    return hd_sched_end(&w->s);
}

/* ---- matrix layers -----------------------------------------------------------------------------
 */

static void load_words(struct lowerer *w, int mem, size_t src, int64_t dst, int64_t count, int n1,
                       int64_t s1, int64_t d1) {
    begin(w, HD_UNIT_lw, HD_OP_lw_load);
    set(w, HD_F_lw_mem, mem);
    set(w, HD_F_lw_src, (int64_t)src);
    set(w, HD_F_lw_dst, dst);
    set(w, HD_F_lw_count, count);
    set(w, HD_F_lw_n1, n1);
    set(w, HD_F_lw_s1, s1);
    set(w, HD_F_lw_d1, d1);
    hd_sched_touch(&w->s, mem ? HD_SPACE_PM : HD_SPACE_WM, dst, dst + (n1 - 1) * d1 + count, true);
}

static hd_status load_params(struct lowerer *w, int nt, int n, int64_t *out) {
    *out = w->l->weights_stay ? w->stay_pm + nt : ring_take(&w->pm, n);
    size_t src = w->l->p_offset + (size_t)nt * hd_pm_word_bytes(w->m);
    load_words(w, 1, src, *out, n, 1, 0, 0);
    return hd_sched_end(&w->s);
}

/* Weights of n output tiles from nt, words [c, c + cw) of each tap. */
static hd_status load_weights(struct lowerer *w, int nt, int n, int c, int cw, int64_t *out) {
    const struct hd_layer *l = w->l;
    int taps = l->kh * l->kw, words = cw == l->cw ? l->red : taps * cw;
    size_t word = hd_wm_word_bytes(w->m);
    size_t src = l->w_offset + ((size_t)nt * (size_t)l->red + (size_t)c) * word;
    *out =
        l->weights_stay ? w->stay_wm + (int64_t)nt * l->red : ring_take(&w->wm, (int64_t)n * words);
    if (cw == l->cw)
        load_words(w, 0, src, *out, (int64_t)n * l->red, 1, 0, 0);
    else
        load_words(w, 0, src, *out, cw, taps, (int64_t)(l->cw * (int)word), cw);
    return hd_sched_end(&w->s);
}

struct matmul {
    struct view in;
    int nt, n; /* output tiles of the operation */
    int c, cw; /* words of each tap */
    int64_t wm, am;
    int am_nt; /* accumulators between output tiles */
    int th, tw;
};

static void set_loop(struct lowerer *w, int i, int64_t n, int64_t xs, int64_t ws, int64_t as) {
    static const enum hd_field first[] = {HD_F_mx_n0, HD_F_mx_n1, HD_F_mx_n2,
                                          HD_F_mx_n3, HD_F_mx_n4, HD_F_mx_n5};
    set(w, first[i], n); /* the four fields of a loop follow each other in isa.def */
    set(w, (enum hd_field)(first[i] + 1), xs);
    set(w, (enum hd_field)(first[i] + 2), ws);
    set(w, (enum hd_field)(first[i] + 3), as);
}

static hd_status matrix_op(struct lowerer *w, const struct matmul *q) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = tensor(w, l->in[0]);
    int k = (int)w->m->k, taps = l->kh * l->kw, pixel = q->in.cp / k, pitch = q->in.pitch / k;
    begin(w, HD_UNIT_mx, HD_OP_mx_gemm);
    set(w, HD_F_mx_nred, 3);
    set(w, HD_F_mx_accumulate, q->c > 0);
    set(w, HD_F_mx_x_unsigned, x->is_unsigned);
    set(w, HD_F_mx_x, (int64_t)q->in.at / k + hd_layer_x_word(l, x, w->m, q->nt) + q->c);
    set(w, HD_F_mx_w, q->wm);
    set(w, HD_F_mx_a, q->am);
    set_loop(w, 0, q->cw, 1, 1, 0);
    set_loop(w, 1, l->kw, l->dx * pixel, q->cw, 0);
    set_loop(w, 2, l->kh, l->dy * pitch, l->kw * q->cw, 0);
    set_loop(w, 3, q->tw, l->sx * pixel, 0, 1);
    set_loop(w, 4, q->th, l->sy * pitch, 0, q->tw);
    set_loop(w, 5, q->n, q->n > 1 ? l->x_step : 0, q->n > 1 ? taps * q->cw : 0,
             q->n > 1 ? q->am_nt : 0);
    touch_view(w, &q->in, false);
    hd_sched_touch(&w->s, HD_SPACE_WM, q->wm, q->wm + (int64_t)q->n * taps * q->cw, false);
    hd_sched_touch(&w->s, HD_SPACE_AM, q->am, q->am + (int64_t)q->n * q->am_nt, true);
    return hd_sched_end(&w->s);
}

/* Packed pixels: output columns phase, phase + P, ... of the tile. */
static hd_status phase_op(struct lowerer *w, const struct matmul *q, const struct tile *t,
                          int phase) {
    const struct hd_layer *l = w->l;
    int k = (int)w->m->k, phases = hd_layer_phases(l), pitch = q->in.pitch / k;
    struct hd_phase f = hd_layer_phase(l, phase);
    int column =
        (t->x + phase) * l->sx - l->pl - f.off - q->in.x; /* pixels from the view's first */
    int words = hd_layer_phase_words(l, phase);
    begin(w, HD_UNIT_mx, HD_OP_mx_gemm);
    set(w, HD_F_mx_nred, 2);
    set(w, HD_F_mx_x_unsigned, tensor(w, l->in[0])->is_unsigned);
    set(w, HD_F_mx_x, (int64_t)q->in.at / k + column / l->ppw);
    set(w, HD_F_mx_w, q->wm + words);
    set(w, HD_F_mx_a, q->am + phase);
    set_loop(w, 0, f.words, 1, 1, 0);
    set_loop(w, 1, l->kh, l->dy * pitch, f.words, 0);
    set_loop(w, 2, hd_ceil_div(q->tw - phase, phases), phases * l->sx / l->ppw, 0, phases);
    set_loop(w, 3, q->th, l->sy * pitch, 0, q->tw);
    set_loop(w, 4, q->n, 0, q->n > 1 ? l->red : 0, q->n > 1 ? q->am_nt : 0);
    set_loop(w, 5, 1, 0, 0, 0);
    touch_view(w, &q->in, false);
    hd_sched_touch(&w->s, HD_SPACE_WM, q->wm, q->wm + (int64_t)q->n * l->red, false);
    hd_sched_touch(&w->s, HD_SPACE_AM, q->am, q->am + (int64_t)q->n * q->am_nt, true);
    return hd_sched_end(&w->s);
}

/* One operation for a run of output tiles whose input words are evenly spaced, else one for each.
 */
static hd_status matrix_ops(struct lowerer *w, struct matmul q, const struct tile *t) {
    int n = q.n, taps = w->l->kh * w->l->kw;
    for (int f = 0; w->l->ppw > 1 && f < hd_layer_phases(w->l) && f < q.tw; f++)
        TRY(phase_op(w, &q, t, f));
    if (w->l->ppw > 1) return HD_OK;
    if (w->l->x_step_uniform) return matrix_op(w, &q);
    q.n = 1;
    for (int i = 0; i < n; i++, q.nt++, q.wm += taps * q.cw, q.am += q.am_nt) TRY(matrix_op(w, &q));
    return HD_OK;
}

static void set_requant(struct lowerer *w) {
    set(w, HD_F_vx_lo, w->l->lo);
    set(w, HD_F_vx_hi, w->l->hi);
    set(w, HD_F_vx_zp, w->l->zp);
}

static int64_t f32_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* Accumulators -> bytes of the output tile, bias, scale and clamp in one pass. */
static hd_status requantise(struct lowerer *w, const struct matmul *q, int64_t pm,
                            const struct view *out, int c) {
    int n = (int)w->m->n;
    begin(w, HD_UNIT_vx, HD_OP_vx_map);
    set(w, HD_F_vx_a_kind, 0);
    set(w, HD_F_vx_b_kind, 4);
    set(w, HD_F_vx_use_bias, 1);
    set(w, HD_F_vx_scale_pm, 1);
    set(w, HD_F_vx_a, q->am);
    set(w, HD_F_vx_d, (int64_t)(out->at + (uint32_t)c) / n);
    set(w, HD_F_vx_p, pm);
    set(w, HD_F_vx_n0, q->tw), set(w, HD_F_vx_as0, 1), set(w, HD_F_vx_ds0, out->cp / n);
    set(w, HD_F_vx_n1, q->th), set(w, HD_F_vx_as1, q->tw), set(w, HD_F_vx_ds1, out->pitch / n);
    set(w, HD_F_vx_n2, q->n), set(w, HD_F_vx_as2, q->n > 1 ? q->am_nt : 0);
    set(w, HD_F_vx_ds2, 1), set(w, HD_F_vx_ps2, 1);
    set(w, HD_F_vx_n3, 1);
    set_requant(w);
    hd_sched_touch(&w->s, HD_SPACE_AM, q->am, q->am + (int64_t)q->n * q->am_nt, false);
    hd_sched_touch(&w->s, HD_SPACE_PM, pm, pm + q->n, false);
    touch_view(w, out, true);
    return hd_sched_end(&w->s);
}

static int64_t take_accumulators(struct lowerer *w, int64_t words) {
    w->am_half = !w->am_half;
    return ring_take(&w->am[w->am_half], words);
}

static hd_status tile_inputs(struct lowerer *w, struct tile *t) {
    const struct hd_layer *l = w->l;
    int rows = (t->th - 1) * l->sy + (l->kh - 1) * l->dy + 1;
    int cols = (t->tw - 1) * l->sx + (l->kw - 1) * l->dx + 1;
    int x = t->x * l->sx - l->pl;
    if (l->ppw > 1) { /* whole words */
        int first = (int)hd_floor_to(x, l->ppw);
        cols = (int)hd_round_up(x + cols - first, l->ppw);
        x = first;
    }
    for (int i = 0; i < 2 && l->in[i] >= 0; i++)
        TRY(input_view(w, i, t->img, t->y * l->sy - l->pt, x, rows, cols, &t->in[i]));
    return HD_OK;
}

/* One weight chunk over one pixel tile: reduction blocks, then one vector pass. */
static hd_status chunk_on_tile(struct lowerer *w, const struct tile *t, int nt,
                               const struct view *out, int c) {
    const struct hd_layer *l = w->l;
    struct chunk *ch = &w->chunks[nt / l->nb], once = {-1, -1};
    if (!l->weights_stay && !l->chunk_outer) ch = &once;
    int n = (int)hd_min(l->nb, l->nts - nt);
    struct matmul q = {
        .in = t->in[0], .nt = nt, .n = n, .th = t->th, .tw = t->tw, .am_nt = t->th * t->tw};
    if (ch->pm < 0) TRY(load_params(w, nt, n, &ch->pm));
    q.am = take_accumulators(w, (int64_t)n * q.am_nt);
    for (q.c = 0; q.c < l->cw; q.c += l->cwb) {
        q.cw = (int)hd_min(l->cwb, l->cw - q.c);
        if (ch->wm < 0 || l->cwb < l->cw) TRY(load_weights(w, nt, n, q.c, q.cw, &ch->wm));
        q.wm = ch->wm;
        TRY(matrix_ops(w, q, t));
    }
    return requantise(w, &q, ch->pm, out, c);
}

static int chunk_bytes(const struct lowerer *w, int nt) {
    int n = (int)w->m->n, last = (int)hd_min(nt + w->l->nb, w->l->nts);
    int cp = tensor(w, w->l->out)->cp;
    return last == w->l->nts ? cp - nt * n
                             : (last - nt) * n; /* the last chunk stores the padding, too */
}

static hd_status matmul_tile(struct lowerer *w, struct tile *t, int only_nt) {
    const struct hd_layer *l = w->l;
    int n = (int)w->m->n, cp = tensor(w, l->out)->cp;
    TRY(tile_inputs(w, t));
    if (only_nt >= 0) {
        int bytes = chunk_bytes(w, only_nt);
        bool resident = tensor(w, l->out)->resident;
        struct view out = output_view(w, t->img, t->y, t->x, t->th, t->tw, bytes);
        TRY(chunk_on_tile(w, t, only_nt, &out, resident ? only_nt * n : 0));
        return store_view(w, t->img, &out, only_nt * n, bytes);
    }
    struct view out = output_view(w, t->img, t->y, t->x, t->th, t->tw, cp);
    for (int nt = 0; nt < l->nts; nt += l->nb) TRY(chunk_on_tile(w, t, nt, &out, nt * n));
    return store_view(w, t->img, &out, 0, cp);
}

/* ---- vector layers -----------------------------------------------------------------------------
 */

static void set_operand_a(struct lowerer *w) {
    const struct hd_layer *l = w->l;
    set(w, HD_F_vx_a_kind, tensor(w, l->in[0])->is_unsigned ? 3 : 2);
    set(w, HD_F_vx_b_kind, 4);
    set(w, HD_F_vx_a_imm, l->a_imm);
    set(w, HD_F_vx_a_scale, f32_bits(l->a_scale));
    set_requant(w);
}

/* Residual add and rescale: whole rows of channels at once. */
static hd_status elementwise_tile(struct lowerer *w, struct tile *t) {
    const struct hd_layer *l = w->l;
    int n = (int)w->m->n, cp = tensor(w, l->out)->cp;
    TRY(tile_inputs(w, t));
    struct view out = output_view(w, t->img, t->y, t->x, t->th, t->tw, cp);
    begin(w, HD_UNIT_vx, HD_OP_vx_map);
    set_operand_a(w);
    set(w, HD_F_vx_a, t->in[0].at / (uint32_t)n);
    set(w, HD_F_vx_d, out.at / (uint32_t)n);
    set(w, HD_F_vx_n0, cp / n), set(w, HD_F_vx_as0, 1), set(w, HD_F_vx_ds0, 1);
    set(w, HD_F_vx_n1, t->tw), set(w, HD_F_vx_as1, cp / n), set(w, HD_F_vx_ds1, cp / n);
    set(w, HD_F_vx_n2, t->th);
    set(w, HD_F_vx_as2, t->in[0].pitch / n), set(w, HD_F_vx_ds2, out.pitch / n);
    set(w, HD_F_vx_n3, 1);
    touch_view(w, &t->in[0], false);
    if (l->in[1] >= 0) {
        set(w, HD_F_vx_alu, 1);
        set(w, HD_F_vx_b_kind, tensor(w, l->in[1])->is_unsigned ? 3 : 2);
        set(w, HD_F_vx_b, t->in[1].at / (uint32_t)n);
        set(w, HD_F_vx_b_imm, l->b_imm);
        set(w, HD_F_vx_b_scale, f32_bits(l->b_scale));
        set(w, HD_F_vx_bs0, 1), set(w, HD_F_vx_bs1, cp / n),
            set(w, HD_F_vx_bs2, t->in[1].pitch / n);
        touch_view(w, &t->in[1], false);
    }
    touch_view(w, &out, true);
    TRY(hd_sched_end(&w->s));
    return store_view(w, t->img, &out, 0, cp);
}

/* Pooling of output pixels [x, x + n) of row y, whose windows all have the same clipped shape. */
static hd_status pool_run(struct lowerer *w, const struct view *in, const struct view *out, int y,
                          int x, int n_x, const int win[4]) {
    const struct hd_layer *l = w->l;
    int n = (int)w->m->n, vectors = in->cp / n;
    int iy = y * l->sy - l->pt + win[0] * l->dy, ix = x * l->sx - l->pl + win[2] * l->dx;
    struct view src = {in->at + (uint32_t)((iy - in->y) * in->pitch + (ix - in->x) * in->cp),
                       in->pitch,
                       in->cp,
                       (win[1] - win[0] - 1) * l->dy + 1,
                       (win[3] - win[2] - 1) * l->dx + 1 + (n_x - 1) * l->sx,
                       iy,
                       ix};
    struct view dst = {out->at + (uint32_t)((y - out->y) * out->pitch + (x - out->x) * out->cp),
                       out->pitch,
                       out->cp,
                       1,
                       n_x,
                       y,
                       x};
    begin(w, HD_UNIT_vx, HD_OP_vx_map);
    set_operand_a(w);
    set(w, HD_F_vx_red, l->max_pool ? 2 : 1);
    set(w, HD_F_vx_nred, 2);
    set(w, HD_F_vx_a, src.at / (uint32_t)n);
    set(w, HD_F_vx_d, dst.at / (uint32_t)n);
    set(w, HD_F_vx_n0, win[3] - win[2]), set(w, HD_F_vx_as0, l->dx * vectors);
    set(w, HD_F_vx_n1, win[1] - win[0]), set(w, HD_F_vx_as1, l->dy * in->pitch / n);
    set(w, HD_F_vx_n2, n_x), set(w, HD_F_vx_as2, l->sx * vectors), set(w, HD_F_vx_ds2, vectors);
    set(w, HD_F_vx_n3, vectors), set(w, HD_F_vx_as3, 1), set(w, HD_F_vx_ds3, 1);
    touch_view(w, &src, false);
    touch_view(w, &dst, true);
    return hd_sched_end(&w->s);
}

/* Taps [out[0], out[1]) of a window that starts at `start` lie inside [0, size). */
static void clip_window(int start, int taps, int step, int size, int out[2]) {
    out[0] = start < 0 ? (int)hd_ceil_div(-start, step) : 0;
    out[1] = (int)hd_min(taps, hd_ceil_div(size - start, step));
}

static hd_status pool_tile(struct lowerer *w, struct tile *t) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = tensor(w, l->in[0]);
    int y0 = (int)hd_max(0, t->y * l->sy - l->pt), x0 = (int)hd_max(0, t->x * l->sx - l->pl);
    int y1 = (int)hd_min(x->h, (t->y + t->th - 1) * l->sy - l->pt + (l->kh - 1) * l->dy + 1);
    int x1 = (int)hd_min(x->w, (t->x + t->tw - 1) * l->sx - l->pl + (l->kw - 1) * l->dx + 1);
    TRY(input_view(w, 0, t->img, y0, x0, y1 - y0, x1 - x0, &t->in[0]));
    struct view out = output_view(w, t->img, t->y, t->x, t->th, t->tw, tensor(w, l->out)->cp);
    for (int y = t->y; y < t->y + t->th; y++)
        for (int ox = t->x, n; ox < t->x + t->tw; ox += n) {
            int win[4], other[2];
            clip_window(y * l->sy - l->pt, l->kh, l->dy, x->h, win);
            clip_window(ox * l->sx - l->pl, l->kw, l->dx, x->w, win + 2);
            for (n = 1; ox + n < t->x + t->tw; n++) {
                clip_window((ox + n) * l->sx - l->pl, l->kw, l->dx, x->w, other);
                if (other[0] != win[2] || other[1] != win[3]) break;
            }
            TRY(pool_run(w, &t->in[0], &out, y, ox, n, win));
        }
    return store_view(w, t->img, &out, 0, tensor(w, l->out)->cp);
}

/* ---- mean of an image ---------------------------------------------------------------------------
 */

enum { LANES = 4 }; /* partial sums, docs/numerics.md */

/* partial[at ..] (+)= (x - x_zp) * x_scale over n_taps neighbouring pixels and nv vectors of
 * channels. */
static hd_status mean_taps(struct lowerer *w, const struct view *px, int n_taps, int v0, int nv,
                           int64_t partial, bool first) {
    int n = (int)w->m->n;
    begin(w, HD_UNIT_vx, HD_OP_vx_map);
    set_operand_a(w);
    set(w, HD_F_vx_a, (int64_t)px->at / n + v0);
    set(w, HD_F_vx_d_kind, 1);
    set(w, HD_F_vx_d, partial);
    if (!first) set(w, HD_F_vx_alu, 1), set(w, HD_F_vx_b_kind, 1), set(w, HD_F_vx_b, partial);
    set(w, HD_F_vx_b_scale, f32_bits(1));
    set(w, HD_F_vx_n0, nv), set(w, HD_F_vx_as0, 1), set(w, HD_F_vx_bs0, 1), set(w, HD_F_vx_ds0, 1);
    set(w, HD_F_vx_n1, n_taps), set(w, HD_F_vx_as1, px->cp / n), set(w, HD_F_vx_bs1, nv),
        set(w, HD_F_vx_ds1, nv);
    set(w, HD_F_vx_n2, 1), set(w, HD_F_vx_n3, 1);
    touch_view(w, px, false);
    hd_sched_touch(&w->s, HD_SPACE_AM, partial, partial + (int64_t)n_taps * nv, true);
    return hd_sched_end(&w->s);
}

/* sums[0, n) = sums[0, n) + sums[n, 2n), all binary32 in AM. */
static hd_status mean_fold(struct lowerer *w, int64_t sums, int n) {
    begin(w, HD_UNIT_vx, HD_OP_vx_map);
    set(w, HD_F_vx_a_kind, 1), set(w, HD_F_vx_a, sums), set(w, HD_F_vx_a_scale, f32_bits(1));
    set(w, HD_F_vx_b_kind, 1), set(w, HD_F_vx_b, sums + n), set(w, HD_F_vx_b_scale, f32_bits(1));
    set(w, HD_F_vx_alu, 1);
    set(w, HD_F_vx_d_kind, 1), set(w, HD_F_vx_d, sums);
    set(w, HD_F_vx_n0, n), set(w, HD_F_vx_as0, 1), set(w, HD_F_vx_bs0, 1), set(w, HD_F_vx_ds0, 1);
    set(w, HD_F_vx_n1, 1), set(w, HD_F_vx_n2, 1), set(w, HD_F_vx_n3, 1);
    hd_sched_touch(&w->s, HD_SPACE_AM, sums, sums + 2 * n, true);
    return hd_sched_end(&w->s);
}

static hd_status mean_requantise(struct lowerer *w, int64_t sums, int nv, const struct view *out,
                                 int v0) {
    begin(w, HD_UNIT_vx, HD_OP_vx_map);
    set(w, HD_F_vx_a_kind, 1), set(w, HD_F_vx_a, sums),
        set(w, HD_F_vx_a_scale, f32_bits(w->l->b_scale));
    set(w, HD_F_vx_b_kind, 4);
    set(w, HD_F_vx_d, (int64_t)out->at / (int)w->m->n + v0);
    set(w, HD_F_vx_n0, nv), set(w, HD_F_vx_as0, 1), set(w, HD_F_vx_ds0, 1);
    set(w, HD_F_vx_n1, 1), set(w, HD_F_vx_n2, 1), set(w, HD_F_vx_n3, 1);
    set_requant(w);
    hd_sched_touch(&w->s, HD_SPACE_AM, sums, sums + nv, false);
    touch_view(w, out, true);
    return hd_sched_end(&w->s);
}

static hd_status mean_fold_lanes(struct lowerer *w, int64_t sums, int nv) {
    TRY(mean_fold(w, sums, 2 * nv));
    return mean_fold(w, sums, nv);
}

/* Channels [v0, v0 + nv) in vectors: neighbouring pixels go to the four partial sums in turn. */
static hd_status mean_channels(struct lowerer *w, const struct view *in, const struct view *out,
                               int v0, int nv) {
    int count = in->rows * in->cols, main_count = count / LANES * LANES;
    int64_t sums = take_accumulators(w, (int64_t)LANES * nv);
    for (int i = 0, n; i < count; i += n) {
        int y = i / in->cols, x = i % in->cols, lane = i < main_count ? i % LANES : 0;
        n = i < main_count ? (int)hd_min(LANES - lane, hd_min(in->cols - x, main_count - i)) : 1;
        struct view px = {
            in->at + (uint32_t)(y * in->pitch + x * in->cp), in->pitch, in->cp, 1, n, y, x};
        bool first = main_count ? i < LANES : i == 0;
        if (i == main_count && i > 0) TRY(mean_fold_lanes(w, sums, nv));
        TRY(mean_taps(w, &px, n, v0, nv, sums + (int64_t)lane * nv, first));
    }
    if (main_count == count) TRY(mean_fold_lanes(w, sums, nv));
    return mean_requantise(w, sums, nv, out, v0);
}

static hd_status mean_tile(struct lowerer *w, struct tile *t) {
    const struct hd_layer *l = w->l;
    int vectors = tensor(w, l->out)->cp / (int)w->m->n, most = (int)hd_am_words(w->m) / 2 / LANES;
    TRY(input_view(w, 0, t->img, 0, 0, l->kh, l->kw, &t->in[0]));
    struct view out = output_view(w, t->img, 0, 0, 1, 1, tensor(w, l->out)->cp);
    for (int v = 0; v < vectors; v += most)
        TRY(mean_channels(w, &t->in[0], &out, v, (int)hd_min(most, vectors - v)));
    return store_view(w, t->img, &out, 0, tensor(w, l->out)->cp);
}

/* ---- layers ------------------------------------------------------------------------------------
 */

static hd_status layer_tiles(struct lowerer *w, int only_nt) {
    const struct hd_layer *l = w->l;
    for (int img = 0; img < tensor(w, l->out)->n; img++)
        for (int y = 0; y < l->oh; y += l->th)
            for (int x = 0; x < l->ow; x += l->tw) {
                struct tile t = {.img = img, .y = y, .x = x};
                t.th = (int)hd_min(l->th, l->oh - y), t.tw = (int)hd_min(l->tw, l->ow - x);
                if (l->kind == HD_LAYER_MATMUL)
                    TRY(matmul_tile(w, &t, only_nt));
                else if (l->kind == HD_LAYER_POOL)
                    TRY(pool_tile(w, &t));
                else if (l->kind == HD_LAYER_MEAN)
                    TRY(mean_tile(w, &t));
                else
                    TRY(elementwise_tile(w, &t));
            }
    return HD_OK;
}

static hd_status lower_layer(struct lowerer *w, const struct hd_layer *l) {
    w->l = l;
    const struct hd_mtensor *y = tensor(w, l->out);
    if (y->resident) TRY(fill_padding(w, y));
    if (l->kind != HD_LAYER_MATMUL) return layer_tiles(w, -1);
    int n = (int)hd_ceil_div(l->nts, l->nb);
    w->chunks = hd_new_array(w->s.arena, struct chunk, (size_t)n);
    for (int i = 0; i < n; i++) w->chunks[i] = (struct chunk){-1, -1};
    if (l->weights_stay) {
        w->stay_wm = ring_take(&w->wm, (int64_t)l->nts * l->red);
        w->stay_pm = ring_take(&w->pm, l->nts);
    }
    if (!l->chunk_outer) return layer_tiles(w, -1);
    for (int nt = 0; nt < l->nts; nt += l->nb) TRY(layer_tiles(w, nt));
    return HD_OK;
}

static void init_rings(struct lowerer *w) {
    const struct hd_machine *m = w->m;
    int64_t half = hd_am_words(m) / 2;
    w->xm = (struct ring){w->lo->xm_ring, w->lo->xm_ring_bytes, 0};
    w->wm = (struct ring){0, hd_wm_words(m), 0};
    w->pm = (struct ring){0, hd_pm_words(m), 0};
    for (int i = 0; i < 2; i++) w->am[i] = (struct ring){i * half, half, 0};
}

/* needs / gives / destroys: see the head of this file. */
hd_status hd_schedule_step(struct hd_lowering *lo, int step) {
    hd_arena *scratch = hd_arena_create();
    struct lowerer *w = hd_new(scratch, struct lowerer);
    hd_status st = HD_OK;
    w->lo = lo;
    w->m = lo->m;
    w->ready = hd_new_array(scratch, bool, lo->n_tensors ? lo->n_tensors : 1);
    hd_sched_init(&w->s, lo, scratch);
    init_rings(w);
    for (size_t i = 0; st == HD_OK && i < lo->n_layers; i++)
        if (lo->layers[i].step == step)
            st = hd_note(lo->ctx, lower_layer(w, &lo->layers[i]), "while lowering %s",
                         lo->g->nodes[lo->layers[i].node].name);
    size_t offset = 0, bytes = 0;
    int64_t bundles = 0;
    if (st == HD_OK) {
        hd_sched_bound_tokens(&w->s);
        st = hd_sched_encode(&w->s, &offset, &bytes, &bundles);
    }
    struct hd_step *s = &lo->model->steps[step];
    s->code_offset = (uint32_t)offset;
    s->code_bytes = (uint32_t)bytes;
    lo->model->n_ops += (int64_t)w->s.n_ops;
    lo->model->n_bundles += bundles;
    hd_arena_destroy(scratch);
    return st;
}
