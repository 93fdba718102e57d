/* Vector layers: residual add, rescale, pooling. */
#include "compiler/sched/lower.h"
#include "runtime/base/num.h"

/* Vectors between pixels (rows) of operand i; 0 when it has one for all of the tile's. */
static int column_step(const struct hd_tile *t, int i, int n) {
    return t->in[i].cols == t->tw ? t->in[i].cp / n : 0;
}

static int row_step(const struct hd_tile *t, int i, int n) {
    return t->in[i].rows == t->th ? t->in[i].pitch / n : 0;
}

/* The rows from y on, at most `rows`, for which each operand has either a row of its own, one
 * behind the other, or the same. */
static int alike(const struct hd_layer *l, int y, int rows) {
    for (int i = 0; i < 2; i++) {
        const int *of = l->row_of[i];
        int n = 1;
        if (!of || rows < 2) continue;
        int step = of[y + 1] - of[y];
        if (step == 0 || step == 1)
            while (n < rows && of[y + n] == of[y] + n * step) n++;
        rows = n;
    }
    return rows;
}

/* Operands of rows that are alike: what has one image, row or column is read again for all. */
static hd_status operands(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    for (int i = 0; i < 2 && l->in[i] >= 0; i++) {
        const struct hd_mtensor *x = hd_low_tensor(w, l->in[i]);
        const int *of = l->row_of[i];
        bool wide = x->n == hd_low_tensor(w, l->out)->n, high = x->h > 1;
        int y = of ? of[t->y] : high ? t->y : 0, rows = high ? t->th : 1;
        if (of && t->th > 1 && of[t->y + 1] == y) rows = 1;
        TRY(hd_low_input(w, i, wide ? t->img : 0, y, x->w == 1 ? 0 : t->x, rows,
                         x->w == 1 ? 1 : t->tw, &t->in[i]));
    }
    return HD_OK;
}

/* Rows of channels whose operands are in XM; out: where they go. Loops as those of requantisation
 * (matmul.c), so that fewer words change between them. */
static hd_status map_rows(struct hd_lowerer *w, const struct hd_tile *t,
                          const struct hd_view *out) {
    const struct hd_layer *l = w->l;
    int n = (int)w->m->n, cp = hd_low_tensor(w, l->out)->bytes;
    hd_low_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_low_operand_a(w);
    if (l->table_words) {
        hd_low_set(w, HD_F_vx_lut, w->chunks[0].pm + 1);
        hd_sched_touch(&w->s, HD_SPACE_TM, w->chunks[0].pm, w->chunks[0].pm + 1, false);
    }
    hd_low_set(w, HD_F_vx_a, t->in[0].at / (uint32_t)n);
    hd_low_set(w, HD_F_vx_d, out->at / (uint32_t)n);
    hd_low_set(w, HD_F_vx_n0, t->tw), hd_low_set(w, HD_F_vx_as0, column_step(t, 0, n)),
        hd_low_set(w, HD_F_vx_ds0, out->cp / n);
    hd_low_set(w, HD_F_vx_n1, t->th), hd_low_set(w, HD_F_vx_as1, row_step(t, 0, n)),
        hd_low_set(w, HD_F_vx_ds1, out->pitch / n);
    hd_low_set(w, HD_F_vx_n2, cp / n), hd_low_set(w, HD_F_vx_as2, 1), hd_low_set(w, HD_F_vx_ds2, 1);
    hd_low_set(w, HD_F_vx_n3, 1);
    hd_low_touch(w, &t->in[0], false);
    if (l->in[1] >= 0) {
        hd_low_set(w, HD_F_vx_alu, l->product ? HD_V_vx_alu_mul : HD_V_vx_alu_add);
        hd_low_set(w, HD_F_vx_b_kind, hd_low_byte_kind(w, 1));
        hd_low_set(w, HD_F_vx_b, t->in[1].at / (uint32_t)n);
        hd_low_set(w, HD_F_vx_b_imm, l->b_imm);
        hd_low_set(w, HD_F_vx_b_scale, hd_low_f32_bits(l->b_scale));
        hd_low_set(w, HD_F_vx_bs0, column_step(t, 1, n)),
            hd_low_set(w, HD_F_vx_bs1, row_step(t, 1, n)), hd_low_set(w, HD_F_vx_bs2, 1);
        hd_low_touch(w, &t->in[1], false);
    }
    hd_low_touch(w, out, true);
    return hd_sched_end(&w->s);
}

/* Add, multiply, rescale, table: whole rows of channels at once. */
hd_status hd_low_elementwise(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    int cp = hd_low_tensor(w, l->out)->bytes;
    struct hd_view out = {0};
    for (int y = 0, rows; y < t->th; y += rows) {
        struct hd_tile part = *t;
        part.y += y;
        part.th = rows = alike(l, part.y, t->th - y);
        TRY(operands(w, &part));
        if (!y) out = hd_low_output(w, t->img, t->y, t->x, t->th, t->tw, cp);
        if (l->table_words && w->chunks[0].pm < 0) { /* before the first tile */
            w->chunks[0].pm = hd_ring_take(&w->tm, 1);
            hd_low_load_words(w, HD_V_lw_mem_tm, l->t_offset, w->chunks[0].pm, 1, 1, 0, 0);
            TRY(hd_sched_end(&w->s));
        }
        struct hd_view to = out;
        to.at += (uint32_t)(y * out.pitch), to.y += y, to.rows = rows;
        TRY(map_rows(w, &part, &to));
    }
    return hd_low_store(w, t->img, &out, 0, cp);
}

/* Pooling of output pixels [x, x + n) of row y, whose windows all have the same clipped shape. */
static hd_status pool_run(struct hd_lowerer *w, const struct hd_tile *t, const struct hd_view *out,
                          int y, int x, int n_x, const int win[4], int count) {
    const struct hd_layer *l = w->l;
    const struct hd_placement *fromp = hd_low_place(w, l->in[0]);
    const struct hd_view *in = &t->in[0];
    int n = (int)w->m->n, pixel = in->cp / n, vectors = hd_low_tensor(w, l->out)->bytes / n;
    int iy = y * l->sy - l->pt + win[0] * l->dy, ix = x * l->sx - l->pl + win[2] * l->dx;
    struct hd_view src = {.at =
                              in->at + (uint32_t)((iy - in->y) * in->pitch + (ix - in->x) * in->cp),
                          .pitch = in->pitch,
                          .cp = in->cp,
                          .rows = (win[1] - win[0] - 1) * l->dy + 1,
                          .cols = (win[3] - win[2] - 1) * l->dx + 1 + (n_x - 1) * l->sx,
                          .y = iy,
                          .x = ix};
    if (fromp->roll) /* contiguous for one row of windows, not for all */
        src = hd_low_resident(fromp, t->img, iy, ix, src.rows, src.cols);
    struct hd_view dst = {.at = out->at +
                                (uint32_t)((y - out->y) * out->pitch + (x - out->x) * out->cp),
                          .pitch = out->pitch,
                          .cp = out->cp,
                          .rows = 1,
                          .cols = n_x,
                          .y = y,
                          .x = x};
    hd_low_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_low_operand_a(w);
    if (!l->max_pool) {
        float scale = hd_pool_scale(l->a_scale, (int64_t)l->kh * l->kw, count);
        hd_low_set(w, HD_F_vx_a_scale, hd_low_f32_bits(scale));
    }
    hd_low_set(w, HD_F_vx_red, l->max_pool ? HD_V_vx_red_max : HD_V_vx_red_sum);
    hd_low_set(w, HD_F_vx_nred, 2);
    hd_low_set(w, HD_F_vx_a, src.at / (uint32_t)n);
    hd_low_set(w, HD_F_vx_d, dst.at / (uint32_t)n);
    hd_low_set(w, HD_F_vx_n0, win[3] - win[2]), hd_low_set(w, HD_F_vx_as0, l->dx * pixel);
    hd_low_set(w, HD_F_vx_n1, win[1] - win[0]), hd_low_set(w, HD_F_vx_as1, l->dy * in->pitch / n);
    hd_low_set(w, HD_F_vx_n2, n_x), hd_low_set(w, HD_F_vx_as2, l->sx * pixel),
        hd_low_set(w, HD_F_vx_ds2, out->cp / n);
    hd_low_set(w, HD_F_vx_n3, vectors), hd_low_set(w, HD_F_vx_as3, 1),
        hd_low_set(w, HD_F_vx_ds3, 1);
    hd_low_touch(w, &src, false);
    hd_low_touch(w, &dst, true);
    return hd_sched_end(&w->s);
}

/* Taps [out[0], out[1]) of a window that starts at `start` lie inside [0, size). */
static void clip_window(int start, int taps, int step, int size, int out[2]) {
    out[0] = start < 0 ? (int)hd_ceil_div(-start, step) : 0;
    out[1] = (int)hd_min(taps, hd_ceil_div(size - start, step));
}

/* Taps of a window's rows (columns: way 1) that an average counts. */
static int counted(const struct hd_layer *l, int way, int start) {
    int win[2], from = l->counts[2 * way], to = l->counts[2 * way + 1];
    clip_window(start - from, way ? l->kw : l->kh, way ? l->dx : l->dy, to - from, win);
    return win[1] - win[0];
}

hd_status hd_low_pool(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_low_tensor(w, l->in[0]);
    int y0 = (int)hd_max(0, t->y * l->sy - l->pt), x0 = (int)hd_max(0, t->x * l->sx - l->pl);
    int y1 = (int)hd_min(x->h, (t->y + t->th - 1) * l->sy - l->pt + (l->kh - 1) * l->dy + 1);
    int x1 = (int)hd_min(x->w, (t->x + t->tw - 1) * l->sx - l->pl + (l->kw - 1) * l->dx + 1);
    TRY(hd_low_input(w, 0, t->img, y0, x0, y1 - y0, x1 - x0, &t->in[0]));
    struct hd_view out =
        hd_low_output(w, t->img, t->y, t->x, t->th, t->tw, hd_low_tensor(w, l->out)->bytes);
    for (int y = t->y; y < t->y + t->th; y++)
        for (int ox = t->x, n; ox < t->x + t->tw; ox += n) {
            int win[4], other[2], across = counted(l, 1, ox * l->sx - l->pl);
            clip_window(y * l->sy - l->pt, l->kh, l->dy, x->h, win);
            clip_window(ox * l->sx - l->pl, l->kw, l->dx, x->w, win + 2);
            for (n = 1; ox + n < t->x + t->tw; n++) {
                int start = (ox + n) * l->sx - l->pl;
                clip_window(start, l->kw, l->dx, x->w, other);
                if (other[0] != win[2] || other[1] != win[3] || counted(l, 1, start) != across)
                    break;
            }
            TRY(pool_run(w, t, &out, y, ox, n, win, counted(l, 0, y * l->sy - l->pt) * across));
        }
    return hd_low_store(w, t->img, &out, 0, hd_low_tensor(w, l->out)->bytes);
}
