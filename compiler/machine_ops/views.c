/* Tiles in XM: views of tensors, loads into the rings and into tensors that stay, padding, stores;
 * and what the files that lower one kind of layer share for setting fields. */
#include "compiler/machine_ops/machine_ops.h"

#include <string.h>

#include "runtime/base/num.h"

int64_t hd_ring_take(struct hd_lowerer *w, struct hd_ring *r, int64_t size) {
    if (size > r->size) {
        hd_ops_misfit(&w->s, (struct hd_misfit){.space = r->space, .needs = size, .has = r->size});
        return r->first;
    }
    if (r->next + size > r->size) r->next = 0, r->came_round = true;
    int64_t at = r->first + r->next;
    r->next += size;
    r->most = hd_max(r->most, r->next);
    return at;
}

const struct hd_mtensor *hd_lower_tensor(const struct hd_lowerer *w, int id) {
    return &w->lo->tensors[id];
}

const struct hd_placement *hd_lower_place(const struct hd_lowerer *w, int id) {
    return &w->lo->plan->places[id];
}

const struct hd_placement *hd_lower_whole_place(const struct hd_lowerer *w, int id) {
    int base = w->lo->tensors[id].base;
    return hd_lower_place(w, base < 0 ? id : base);
}

const struct hd_mtensor *hd_lower_whole(const struct hd_lowerer *w, int id) {
    return hd_mtensor_root(w->lo, &w->lo->tensors[id]);
}

void hd_lower_begin(struct hd_lowerer *w, enum hd_unit unit, enum hd_opcode op) {
    hd_ops_begin(&w->s, unit, hd_isa_ops[op].code, w->l->tag);
}

void hd_lower_begin_load(struct hd_lowerer *w, int seg, int64_t src, int64_t dst, int64_t run) {
    hd_lower_begin(w, HD_UNIT_lx, HD_OP_lx_load);
    hd_lower_set(w, HD_F_lx_seg, seg), hd_lower_set(w, HD_F_lx_src, src & 0xffffffff);
    hd_lower_set(w, HD_F_lx_dst, dst), hd_lower_set(w, HD_F_lx_run, run);
    hd_lower_set(w, HD_F_lx_n1, 1), hd_lower_set(w, HD_F_lx_n2, 1), hd_lower_set(w, HD_F_lx_n3, 1);
}

void hd_lower_begin_store(struct hd_lowerer *w, int64_t dst, int64_t src, int64_t run) {
    hd_lower_begin(w, HD_UNIT_st, HD_OP_st_store);
    hd_lower_set(w, HD_F_st_seg, HD_V_seg_arena), hd_lower_set(w, HD_F_st_dst, dst);
    hd_lower_set(w, HD_F_st_src, src), hd_lower_set(w, HD_F_st_run, run);
    hd_lower_set(w, HD_F_st_n1, 1), hd_lower_set(w, HD_F_st_n2, 1), hd_lower_set(w, HD_F_st_n3, 1);
}

/* Fields of loops follow each other in isa.def. */
void hd_lower_runs(struct hd_lowerer *w, int i, int64_t n, int64_t dram, int64_t chip) {
    bool load = w->s.op->unit == HD_UNIT_lx;
    hd_lower_set(w, (load ? HD_F_lx_n1 : HD_F_st_n1) + (unsigned)i - 1, n);
    hd_lower_set(w, (load ? HD_F_lx_s1 : HD_F_st_d1) + (unsigned)i - 1, dram);
    hd_lower_set(w, (load ? HD_F_lx_d1 : HD_F_st_s1) + (unsigned)i - 1, chip);
}

void hd_lower_map_loop(struct hd_lowerer *w, int i, int64_t n, int64_t as, int64_t bs, int64_t ds) {
    hd_lower_set(w, HD_F_vx_n0 + (unsigned)i, n);
    hd_lower_set(w, HD_F_vx_as0 + (unsigned)i, as);
    hd_lower_set(w, HD_F_vx_bs0 + (unsigned)i, bs);
    hd_lower_set(w, HD_F_vx_ds0 + (unsigned)i, ds);
}

/* ---- XM views ---- */

static uint32_t resident_at(const struct hd_placement *tp, int img, int y, int x) {
    const struct hd_mtensor *t = tp->t;
    int row = img * (t->h + t->pt + t->pb) + y + t->pt, col = x + t->pl;
    if (tp->roll) row = hd_mtensor_slot(tp, y); /* negative rows are padding above the image */
    int at = tp->apart ? col % 2 * tp->apart + col / 2 * t->cp : col * t->cp;
    return tp->xm + (uint32_t)(row * hd_mtensor_pitch(tp) + at);
}

struct hd_view hd_lower_resident(const struct hd_placement *tp, int img, int y, int x, int rows,
                                 int cols) {
    const struct hd_mtensor *t = tp->t;
    struct hd_view v =
        hd_view_at(resident_at(tp, img, y, x), hd_mtensor_pitch(tp), t->cp, rows, cols, y, x);
    v.other = !tp->apart ? 0 : (x + t->pl) % 2 ? t->cp - tp->apart : tp->apart;
    return v;
}

int hd_lower_parts(const struct hd_view *v, struct hd_view out[2]) {
    out[0] = out[1] = *v;
    if (!v->other) return 1;
    out[1].at += (uint32_t)v->other, out[1].x++;
    out[0].cols = (v->cols + 1) / 2, out[1].cols = v->cols / 2;
    out[0].other = out[1].other = 0, out[0].alternate = out[1].alternate = true;
    return out[1].cols ? 2 : 1;
}

void hd_lower_touch(struct hd_lowerer *w, const struct hd_view *v, bool write) {
    struct hd_view part[2];
    for (int i = 0, n = v->other ? hd_lower_parts(v, part) : 0; i < n; i++)
        hd_lower_touch(w, &part[i], write);
    if (v->other) return;
    for (int i = 0; v->channels && i < v->rows * v->cols; i++) {
        int64_t at = v->at + (int64_t)(i / v->cols) * v->pitch + (int64_t)(i % v->cols) * v->cp;
        hd_ops_touch(&w->s, HD_SPACE_XM, at, at + v->channels, write);
    }
    if (v->channels) return;
    for (int i = 0; v->alternate && i < v->rows; i++) { /* beside it may be padding by VX */
        int64_t at = v->at + (int64_t)i * v->pitch;
        hd_ops_touch(&w->s, HD_SPACE_XM, at, at + (int64_t)v->cols * v->cp, write);
    }
    if (v->alternate) return;
    int64_t end = v->at + (int64_t)(v->rows - 1) * v->pitch + (int64_t)v->cols * v->cp;
    end = hd_min(end, w->m->xm_bytes); /* of a part of pixels that end sooner */
    hd_ops_touch(&w->s, HD_SPACE_XM, v->at, end, write);
}

/* ---- loads and stores ---- */

/* Rows [y0, y1) of an image in the arena; of a row alone, columns [x0, x1). */
static void touch_rows(struct hd_lowerer *w, const struct hd_placement *tp, int img, int y0, int y1,
                       int x0, int x1, bool write) {
    const struct hd_mtensor *t = tp->t;
    int64_t row = (int64_t)t->w * t->cp, at = (int64_t)tp->arena + img * t->h * row;
    y0 = (int)hd_max(y0, 0), y1 = (int)hd_min(y1, t->h);
    bool part = y1 - y0 == 1;
    x0 = part ? (int)hd_max(x0, 0) : 0, x1 = part ? (int)hd_min(x1, t->w) : t->w;
    if (y1 > y0 && x1 > x0 && !t->constant)
        hd_ops_touch(&w->s, HD_SPACE_ARENA, at + y0 * row + (int64_t)x0 * t->cp,
                     at + (y1 - 1) * row + (int64_t)x1 * t->cp, write);
}

/* The pixels of a 1x1 window with stride, or some channels of each pixel: a run each. */
static void load_pixels(struct hd_lowerer *w, const struct hd_mtensor *t, const struct hd_view *v,
                        int ys, int xs) {
    hd_lower_set(w, HD_F_lx_run, v->channels ? v->channels : v->cp);
    hd_lower_runs(w, 1, v->cols, (int64_t)xs * t->cp, v->cp);
    hd_lower_runs(w, 2, v->rows, (int64_t)ys * t->w * t->cp, v->pitch);
    hd_lower_set(w, HD_F_lx_ys, ys);
}

hd_status hd_lower_load_view(struct hd_lowerer *w, const struct hd_placement *tp, int img,
                             const struct hd_view *v) {
    const struct hd_mtensor *t = tp->t;
    int64_t row = (int64_t)t->w * t->cp;
    int64_t src = (int64_t)tp->arena + img * t->h * row + v->y * row + (int64_t)v->x * t->cp + v->c;
    int ys = v->decimated ? w->l->sy : 1, xs = v->decimated ? w->l->sx : v->alternate ? 2 : 1;
    int end_y = v->y + (v->rows - 1) * ys + 1, end_x = v->x + (v->cols - 1) * xs + 1;
    bool edge = v->y < 0 || v->x < 0 || end_y > t->h || end_x > t->w;
    bool by_pixels = xs > 1 || v->decimated || v->channels || v->cp != t->cp;
    bool one_run = !edge && !by_pixels && v->cols == t->w && v->pitch == row;
    hd_lower_begin_load(w, t->constant ? HD_V_seg_image : HD_V_seg_arena, src, v->at,
                        (int64_t)v->cols * v->cp * (one_run ? v->rows : 1));
    hd_lower_set(w, HD_F_lx_edge, edge);
    hd_lower_set(w, HD_F_lx_pad, (tp->resident ? t->pad_value : w->l->pad_value) & 0xff);
    hd_lower_runs(w, 2, one_run ? 1 : v->rows, row, v->pitch);
    hd_lower_set(w, HD_F_lx_ys, 1);
    hd_lower_set(w, HD_F_lx_x0, (int64_t)v->x * t->cp + v->c);
    hd_lower_set(w, HD_F_lx_row_bytes, row);
    hd_lower_set(w, HD_F_lx_y0, edge ? v->y : 0);
    hd_lower_set(w, HD_F_lx_rows, edge ? t->h : hd_min(t->h, UINT16_MAX));
    if (by_pixels) load_pixels(w, t, v, ys, xs);
    touch_rows(w, tp, img, v->y, end_y, v->x, end_x, false);
    hd_lower_touch(w, v, true);
    return hd_ops_end(&w->s);
}

/* Windows of one row of outputs (im2col): rows [first, first + n) of each, `run` bytes of a row. */
static hd_status gather_rows(struct hd_lowerer *w, const struct hd_placement *tp,
                             const struct hd_tile *tile, int row_out, const struct hd_view *v,
                             int first, int n, int run) {
    const struct hd_mtensor *t = tp->t;
    const struct hd_layer *l = w->l;
    int64_t row = (int64_t)t->w * t->cp;
    int y = (tile->y + row_out) * l->sy - l->pt + first * l->dy, x = tile->x * l->sx - l->pl;
    int64_t src = (int64_t)tp->arena + tile->img * t->h * row + y * row + (int64_t)x * t->cp;
    uint32_t dst = v->at + (uint32_t)(row_out * v->pitch + first * l->kw * t->cp);
    hd_lower_begin_load(w, HD_V_seg_arena, src, dst, run);
    hd_lower_set(w, HD_F_lx_edge, 1);
    hd_lower_set(w, HD_F_lx_pad, l->pad_value & 0xff);
    hd_lower_runs(w, 1, tile->tw, (int64_t)l->sx * t->cp, l->im2col);
    hd_lower_runs(w, 2, n, l->dy * row, (int64_t)l->kw * t->cp);
    hd_lower_set(w, HD_F_lx_ys, l->dy);
    hd_lower_set(w, HD_F_lx_x0, (int64_t)x * t->cp);
    hd_lower_set(w, HD_F_lx_row_bytes, row);
    hd_lower_set(w, HD_F_lx_y0, y);
    hd_lower_set(w, HD_F_lx_rows, t->h);
    int end_x = x + (tile->tw - 1) * l->sx + (int)hd_ceil_div(run, t->cp);
    touch_rows(w, tp, tile->img, y, y + (n - 1) * l->dy + 1, x, end_x, false);
    struct hd_view part = *v;
    part.at += (uint32_t)(row_out * v->pitch), part.rows = 1;
    hd_lower_touch(w, &part, true);
    return hd_ops_end(&w->s);
}

/* Rows of the image, kw times each from one column to the next, so that the taps of a window are
 * vectors at even distances, row by row. Those behind the last tap meet weights of zero. */
static hd_status load_taps(struct hd_lowerer *w, const struct hd_tile *t, uint32_t at,
                           int columns) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_lower_tensor(w, l->in[0]);
    const struct hd_placement *xp = hd_lower_place(w, l->in[0]);
    int rows = hd_turned_rows(l, t->th), y = hd_layer_row(l, t->y), from = hd_layer_col(l, t->x);
    hd_lower_begin_load(w, HD_V_seg_arena,
                        (int64_t)xp->arena + ((int64_t)t->img * x->h + y) * x->w + from, at,
                        columns);
    hd_lower_set(w, HD_F_lx_edge, 1);
    hd_lower_set(w, HD_F_lx_pad, l->pad_value & 0xff);
    hd_lower_runs(w, 1, l->kw, 1, columns);
    hd_lower_runs(w, 2, rows, x->w, l->kw * columns);
    hd_lower_set(w, HD_F_lx_ys, 1);
    hd_lower_set(w, HD_F_lx_x0, from);
    hd_lower_set(w, HD_F_lx_row_bytes, x->w);
    hd_lower_set(w, HD_F_lx_y0, y);
    hd_lower_set(w, HD_F_lx_rows, x->h);
    touch_rows(w, xp, t->img, y, y + rows, from, from + l->kw + columns, false);
    hd_ops_touch(&w->s, HD_SPACE_XM, at, at + (int64_t)rows * l->kw * columns, true);
    return hd_ops_end(&w->s);
}

/* The windows of a tile, made by VX: blocks of N taps of N columns, transposed. */
static hd_status turn(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    int n = (int)w->m->n, columns = hd_turned_columns(l, w->m, t->tw), window = l->im2col / n;
    int64_t taps = (int64_t)hd_turned_rows(l, t->th) * l->kw * columns;
    bool u8 = hd_lower_tensor(w, l->in[0])->is_unsigned;
    uint32_t at = (uint32_t)hd_ring_take(w, &w->xm_in[HD_RING_PAIRS_B], hd_round_up(taps, 64));
    TRY(load_taps(w, t, at, columns));
    int64_t bytes = hd_round_up((int64_t)t->th * columns * l->im2col, 64);
    t->in[0] =
        hd_view_at((uint32_t)hd_ring_take(w, &w->xm_in[HD_RING_PAIRS], bytes), columns * l->im2col,
                   l->sx * l->im2col, t->th, columns / l->sx, t->y, t->x);
    t->in[0].decimated = true;
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set(w, HD_F_vx_a_kind, hd_lower_byte_kind(w, 0));
    hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_zero);
    hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(1));
    hd_lower_set(w, HD_F_vx_lo, u8 ? 0 : -128), hd_lower_set(w, HD_F_vx_hi, u8 ? 255 : 127);
    hd_lower_set(w, HD_F_vx_d_kind, HD_V_vx_dest_xm_transposed);
    hd_lower_set(w, HD_F_vx_a, at / (uint32_t)n);
    hd_lower_set(w, HD_F_vx_d, t->in[0].at / (uint32_t)n);
    hd_lower_map_loop(w, 0, n, columns / n, 0, window);
    hd_lower_map_loop(w, 1, columns / n, 1, 0, n * window);
    hd_lower_map_loop(w, 2, t->th, l->sy * l->kw * columns / n, 0, columns * window);
    hd_lower_map_loop(w, 3, window, columns, 0, 1);
    hd_ops_touch(&w->s, HD_SPACE_XM, at, at + taps, false);
    hd_ops_touch(&w->s, HD_SPACE_XM, t->in[0].at, t->in[0].at + bytes, true);
    return hd_ops_end(&w->s);
}

/* The windows of a tile. MX must not read what nobody wrote, so where a window does not fill its
 * words, its last row goes on to their end; those bytes meet weights of zero. */
static hd_status gather(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_lower_tensor(w, l->in[0]);
    const struct hd_placement *xp = hd_lower_place(w, l->in[0]);
    w->last[HD_RING_MX].l = NULL; /* of another layer of the chain */
    int run = l->kw * x->cp, rest = l->im2col - (l->kh - 1) * run;
    struct hd_ring *ring = &w->xm_in[HD_RING_MX];
    int64_t bytes = hd_round_up((int64_t)t->th * t->tw * l->im2col, 64);
    t->in[0] = hd_view_at((uint32_t)hd_ring_take(w, ring, bytes), t->tw * l->im2col, l->im2col,
                          t->th, t->tw, t->y, t->x);
    t->in[0].decimated = true;
    for (int r = 0; r < t->th; r++) {
        if (rest == run) {
            TRY(gather_rows(w, xp, t, r, &t->in[0], 0, l->kh, run));
            continue;
        }
        if (l->kh > 1) TRY(gather_rows(w, xp, t, r, &t->in[0], 0, l->kh - 1, run));
        TRY(gather_rows(w, xp, t, r, &t->in[0], l->kh - 1, 1, rest));
    }
    return HD_OK;
}

hd_status hd_lower_fill(struct hd_lowerer *w, int value, uint32_t at, int64_t run, int n,
                        int64_t step) {
    if (run <= 0 || n <= 0) return HD_OK;
    hd_lower_begin_load(w, HD_V_seg_arena, 0, at, run);
    hd_lower_set(w, HD_F_lx_edge, 1);
    hd_lower_set(w, HD_F_lx_pad, value & 0xff);
    hd_lower_runs(w, 1, n, 0, step);
    hd_ops_touch(&w->s, HD_SPACE_XM, at, at + (n - 1) * step + run, true);
    return hd_ops_end(&w->s);
}

hd_status hd_lower_fill_lanes(struct hd_lowerer *w, const struct hd_view *v, int from, int to) {
    struct hd_view part[2];
    if (from >= to) return HD_OK;
    for (int i = 0, n = v->other ? hd_lower_parts(v, part) : 0; i < n; i++)
        TRY(hd_lower_fill_lanes(w, &part[i], from, to));
    if (v->other) return HD_OK;
    bool dense = v->pitch == v->cols * v->cp && v->rows * v->cols <= 65535;
    int n = dense ? v->rows * v->cols : v->cols;
    for (int r = 0; r < (dense ? 1 : v->rows); r++)
        TRY(hd_lower_fill(w, 0, v->at + (uint32_t)(r * v->pitch + from), to - from, n, v->cp));
    return HD_OK;
}

/* Whole rows of padding of a rolling tensor, with their mirror images. */
hd_status hd_lower_fill_rows(struct hd_lowerer *w, const struct hd_placement *tp, int y, int end) {
    const struct hd_mtensor *t = tp->t;
    int64_t pitch = hd_mtensor_pitch(tp);
    for (; y < end; y++) {
        uint32_t at = resident_at(tp, 0, y, -t->pl);
        int n = 1 + (tp->apart > 0); /* of even and of odd columns */
        TRY(hd_lower_fill(w, t->pad_value, at, pitch, n, tp->apart));
        if (at < tp->xm + (uint32_t)(tp->mirror * pitch))
            TRY(hd_lower_fill(w, t->pad_value, at + (uint32_t)(tp->roll * pitch), pitch, n,
                              tp->apart));
    }
    return HD_OK;
}

/* `rows` rows from `at` on, each behind `left` columns of padding: those, what lies behind `cols`
 * columns, `right` of it in the last row, and whole rows above and below. */
static hd_status fill_around(struct hd_lowerer *w, const struct hd_placement *tp, uint32_t at,
                             const int rows[3], const int cols[3]) {
    const struct hd_mtensor *t = tp->t;
    int64_t pitch = hd_mtensor_pitch(tp), inner = (int64_t)cols[1] * t->cp,
            left = (int64_t)cols[0] * t->cp, right = (int64_t)cols[2] * t->cp;
    int64_t above = rows[0] * pitch + left, below = rows[2] * pitch + right;
    uint32_t side = at + (uint32_t)(above + inner);
    uint32_t last = side + (uint32_t)((rows[1] - 1) * pitch);
    bool alike = above == below;
    TRY(hd_lower_fill(w, t->pad_value, at, above, alike ? 2 : 1, last - at));
    if (left + right > 0)
        TRY(hd_lower_fill(w, t->pad_value, side, pitch - inner, rows[1] - 1, pitch));
    return hd_lower_fill(w, t->pad_value, last, alike ? 0 : below, 1, 0);
}

/* The padding that is there from the beginning: around each image of a tensor that a layer is about
 * to write, of a rolling one on the sides of all slots and in the rows above the image. Where
 * columns are apart, even and odd ones are images of their own. */
hd_status hd_lower_fill_padding(struct hd_lowerer *w, const struct hd_placement *tp) {
    const struct hd_mtensor *t = tp->t;
    int all = t->pl + t->w + t->pr, end = t->pl + t->w, step = tp->apart ? 2 : 1;
    int rows[3] = {t->pt, t->h, t->pb}, slots[3] = {0, (int)hd_mtensor_rows(tp), 0};
    for (int i = 0; i < t->n * step; i++) {
        int part = i % step; /* columns part, part + step, .. */
        int cols[3] = {(t->pl - part + step - 1) / step, (end - part + step - 1) / step,
                       (all - part + step - 1) / step};
        cols[2] -= cols[1], cols[1] -= cols[0];
        uint32_t at = tp->roll ? tp->xm : resident_at(tp, i / step, -t->pt, -t->pl);
        TRY(fill_around(w, tp, at + (uint32_t)(part * tp->apart), tp->roll ? slots : rows, cols));
    }
    return tp->roll ? hd_lower_fill_rows(w, tp, -t->pt, 0) : HD_OK;
}

/* A resident tensor that comes from outside is loaded as far as it is needed, padding included: up
 * to row `end` of image `img`, `channels` of it from c (0: all of them). */
static hd_status load_resident(struct hd_lowerer *w, int id, int img, int end, int c,
                               int channels) {
    const struct hd_mtensor *t = hd_lower_tensor(w, id);
    const struct hd_placement *tp = hd_lower_place(w, id);
    int rows = t->h + t->pt + t->pb;
    int need = img * rows + (int)hd_min(end + t->pt, rows);
    bool slice = channels && channels < t->cp;
    if (slice && c != w->slice_c) w->slice_c = c, w->slice_loaded = w->loaded[id];
    int *loaded = slice ? &w->slice_loaded : &w->loaded[id];
    while (*loaded < need) {
        int at = *loaded, y = at % rows, n = (int)hd_min(need - at, rows - y);
        struct hd_view v =
            hd_lower_resident(tp, at / rows, y - t->pt, -t->pl, n, t->w + t->pl + t->pr);
        if (slice) v.c = c, v.channels = channels, v.at += (uint32_t)c;
        TRY(hd_lower_load_view(w, tp, at / rows, &v));
        *loaded += n;
    }
    if (slice && c + channels == t->cp) w->loaded[id] = w->slice_loaded;
    return HD_OK;
}

/* hd_lower_input of `channels` channels from c when it streams. */
static hd_status input_slice(struct hd_lowerer *w, int i, int img, int y, int x, int rows, int cols,
                             int c, int channels, struct hd_view *out) {
    const struct hd_mtensor *t = hd_lower_tensor(w, w->l->in[i]);
    const struct hd_placement *tp = hd_lower_place(w, w->l->in[i]);
    if (tp->resident) {
        if (t->comes_in) TRY(load_resident(w, w->l->in[i], img, y + rows, c, channels));
        *out = hd_lower_resident(tp, img, y, x, rows, cols);
        return HD_OK;
    }
    bool decimated = hd_layer_decimates(w->lo, w->l);
    if (decimated) rows = (rows - 1) / w->l->sy + 1, cols = (cols - 1) / w->l->sx + 1;
    *out = hd_view_at(0, hd_layer_pitch(w->l, cols * channels), channels, rows, cols, y, x);
    out->decimated = decimated, out->c = c;
    return hd_lower_stream(w, 0, i, img, out);
}

hd_status hd_lower_input(struct hd_lowerer *w, int i, int img, int y, int x, int rows, int cols,
                         struct hd_view *out) {
    return input_slice(w, i, img, y, x, rows, cols, 0, hd_lower_tensor(w, w->l->in[i])->bytes, out);
}

/* Where a tile of the output goes; channels [c, c + bytes) of it when streamed. */
struct hd_view hd_lower_output(struct hd_lowerer *w, int img, int y, int x, int rows, int cols,
                               int bytes) {
    const struct hd_placement *tp = hd_lower_place(w, w->l->out);
    if (tp->resident) return hd_lower_resident(tp, img, y, x, rows, cols);
    int64_t size = hd_round_up((int64_t)rows * cols * bytes, 64);
    return hd_view_at((uint32_t)hd_ring_take(w, &w->xm_out, size), cols * bytes, bytes, rows, cols,
                      y, x);
}

/* Stores channels [c, c + bytes) of a tile. v: the whole pixel when resident, those bytes when not
 * or when it is of some channels only. */
hd_status hd_lower_store(struct hd_lowerer *w, int img, const struct hd_view *v, int c, int bytes) {
    const struct hd_mtensor *t = hd_lower_tensor(w, w->l->out);
    const struct hd_placement *tp = hd_lower_place(w, w->l->out);
    const struct hd_mtensor *all = hd_lower_whole(w, w->l->out);
    const struct hd_placement *allp = hd_lower_whole_place(w, w->l->out);
    uint32_t src = v->at + (uint32_t)(tp->resident && !v->channels ? c : 0);
    struct hd_view part[2];
    for (int i = 0, n = v->other ? hd_lower_parts(v, part) : 0; i < n; i++)
        TRY(hd_lower_store(w, img, &part[i], c, bytes));
    if (v->other) return HD_OK;
    if (all->word_rows && !all->comes_in && !all->words_by_reader)
        TRY(hd_lower_store_words(w, allp, src, v->pitch, v->y + t->at_row, v->rows, c + t->at_c,
                                 bytes));
    if (!tp->in_arena) return HD_OK;
    int64_t row = (int64_t)t->w * t->cp;
    int xs = v->alternate ? 2 : 1;
    bool whole = bytes == t->cp && xs == 1;
    bool one_run = whole && v->cols == t->w && v->pitch == row;
    hd_lower_begin_store(
        w, (int64_t)tp->arena + img * t->h * row + v->y * row + (int64_t)v->x * t->cp + c, src,
        one_run ? v->rows * row
        : whole ? (int64_t)v->cols * t->cp
                : bytes);
    hd_lower_runs(w, 1, whole ? 1 : v->cols, (int64_t)xs * t->cp, v->cp);
    hd_lower_runs(w, 2, one_run ? 1 : v->rows, row, v->pitch);
    hd_lower_touch(w, v, false);
    touch_rows(w, tp, img, v->y, v->y + v->rows, v->x, v->x + (v->cols - 1) * xs + 1, true);
    return hd_ops_end(&w->s);
}

int64_t hd_lower_accumulators(struct hd_lowerer *w, int64_t words) {
    struct hd_ring *all = &w->am, half = *all;
    half.size /= 2;
    bool second = all->next > half.size; /* the last place ends there */
    if (!second) half.first = half.size;
    int64_t at = w->am_next[!second];
    if (at + words > half.first + half.size) at = half.first;
    w->am_next[!second] = all->next = at + words;
    return at;
}

/* Two views of a tile of packed pixels, whole words of each. */
static hd_status shifted(struct hd_lowerer *w, struct hd_tile *t, int rows, int x, int cols) {
    const struct hd_layer *l = w->l;
    int cp = hd_lower_tensor(w, l->in[0])->cp;
    for (int i = 0; i < 2; i++) {
        int shift = i ? l->shift : 0, first = (int)hd_floor_to(x - shift, l->ppw) + shift;
        int n = (int)hd_round_up(x + cols - first, l->ppw);
        t->in[i] =
            hd_view_at(0, hd_layer_pitch(l, n * cp), cp, rows, n, hd_layer_row(l, t->y), first);
        TRY(hd_lower_stream(w, i, 0, t->img, &t->in[i]));
    }
    return HD_OK;
}

/* The first `rows` rows that the windows of a tile cover. */
static hd_status window_rows(struct hd_lowerer *w, struct hd_tile *t, int rows) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    int cols = hd_layer_cols(l, t->tw), x = hd_layer_col(l, t->x);
    if (hd_layer_pairs(w->lo, lt)) return hd_lower_load_pairs(w, t, rows, x);
    if (l->shift) return shifted(w, t, rows, x, cols);
    if (l->ppw > 1) { /* whole words */
        int first = (int)hd_floor_to(x, l->ppw);
        cols = (int)hd_round_up(x + cols - first, l->ppw);
        x = first;
    }
    for (int i = 0; i < 2 && l->in[i] >= 0; i++) {
        int channels = t->channels ? t->channels : hd_lower_tensor(w, l->in[i])->bytes;
        TRY(input_slice(w, i, t->img, hd_layer_row(l, t->y), x, rows, cols, t->c, channels,
                        &t->in[i]));
    }
    return HD_OK;
}

hd_status hd_lower_inputs(struct hd_lowerer *w, struct hd_tile *t) {
    if (w->l->turned && w->ahead_of == w->l) {
        t->in[0] = w->ahead;
        w->ahead_of = NULL;
        return HD_OK;
    }
    if (w->l->im2col) return w->l->turned ? turn(w, t) : gather(w, t);
    return window_rows(w, t, hd_layer_rows(w->l, t->th));
}

hd_status hd_lower_ahead(struct hd_lowerer *w, const struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    bool last = t->y + t->th == l->oh;
    if (!l->turned || t->tw < l->ow || t->only_nt >= 0 ||
        (last && t->img + 1 == hd_lower_tensor(w, l->out)->n))
        return HD_OK;
    for (int i = w->lt->chain_first; i <= w->lt->chain_last; i++) /* they have the same rings */
        for (int k = 0; i != l->tag && k < HD_LAYER_INPUTS && w->lo->layers[i].in[k] >= 0; k++)
            if (hd_layer_streams(w->lo, &w->lo->layers[i], k)) return HD_OK;
    struct hd_tile next = {.img = t->img + last, .y = last ? 0 : t->y + t->th, .tw = t->tw};
    next.th = (int)hd_min(w->lt->th, l->oh - next.y);
    TRY(turn(w, &next));
    w->ahead = next.in[0], w->ahead_of = l;
    return HD_OK;
}

void hd_lower_set_requant(struct hd_lowerer *w) {
    hd_lower_set(w, HD_F_vx_lo, w->l->y.lo);
    hd_lower_set(w, HD_F_vx_hi, w->l->y.hi);
    hd_lower_set(w, HD_F_vx_zp, w->l->y.zp);
    if (!w->l->y.table) return;
    hd_lower_set(w, HD_F_vx_lut, w->table + 1);
    hd_ops_touch(&w->s, HD_SPACE_TM, w->table, w->table + 1, false);
}

void hd_lower_operand_a(struct hd_lowerer *w) {
    const struct hd_layer *l = w->l;
    hd_lower_set(w, HD_F_vx_a_kind, hd_lower_byte_kind(w, 0));
    hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_zero);
    hd_lower_set(w, HD_F_vx_a_imm, l->a_imm);
    hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(l->a_scale));
    hd_lower_set_requant(w);
}

int64_t hd_lower_f32_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
