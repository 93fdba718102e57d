/* Tiles that come through the rings of XM: what they share with the tile above, and padding. */
#include "compiler/machine_ops/machine_ops.h"

#include <string.h>

#include "runtime/base/num.h"

/* vx.map over the bytes of a view: `from`, or where it is NULL the padding value in all of them.
 * behind: a view whose load is waited for, or NULL. */
static hd_status map_rows(struct hd_lowerer *w, const struct hd_view *from,
                          const struct hd_view *to, const struct hd_view *behind,
                          bool is_unsigned) {
    int n = (int)w->m->n;
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set(w, HD_F_vx_a_kind,
                 !from         ? HD_V_vx_kind_zero
                 : is_unsigned ? HD_V_vx_kind_xm_uint8
                               : HD_V_vx_kind_xm_int8);
    hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_zero);
    hd_lower_set(w, HD_F_vx_a_imm, from ? 0 : w->l->pad_value);
    hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(1));
    hd_lower_set(w, HD_F_vx_lo, is_unsigned ? 0 : -128);
    hd_lower_set(w, HD_F_vx_hi, is_unsigned ? 255 : 127);
    hd_lower_set(w, HD_F_vx_d, to->at / (uint32_t)n);
    hd_lower_map_loop(w, 0, to->cols * to->cp / n, from != NULL, 0, 1);
    hd_lower_map_loop(w, 1, to->rows, from ? from->pitch / n : 0, 0, to->pitch / n);
    for (int i = 2; i < 4; i++) hd_lower_map_loop(w, i, 1, 0, 0, 0);
    if (from) {
        hd_lower_set(w, HD_F_vx_a, from->at / (uint32_t)n);
        hd_lower_touch(w, from, false);
    }
    if (behind) hd_lower_touch(w, behind, false);
    hd_lower_touch(w, to, true);
    return hd_ops_end(&w->s);
}

/* Columns of a view that lie in the tensor; the padding on its sides outlives the rows between,
 * since the next rows in this place have theirs there, too. */
static struct hd_view without_sides(const struct hd_mtensor *t, struct hd_view v) {
    int xs = v.alternate ? 2 : 1;
    int left = v.x < 0 ? (int)hd_min(v.cols - 1, hd_ceil_div(-v.x, xs)) : 0;
    int end = (int)hd_max(left + 1, hd_min(v.cols, hd_ceil_div(t->w - v.x, xs)));
    v.at += (uint32_t)(left * v.cp), v.x += left * xs, v.cols = end - left;
    return v;
}

/* What VX writes into a ring: padding above a tile and on its sides, rows of the tile above. */
struct writes {
    struct hd_view from[3], to[3]; /* from.rows 0: padding */
    int n;
};

static void add_padding(struct writes *p, const struct hd_view *from, uint32_t at, int rows,
                        int cols) {
    if (rows < 1 || cols < 1) return;
    struct hd_view *v = &p->to[p->n];
    p->from[p->n++].rows = 0;
    *v = *from;
    v->at += at, v->rows = rows, v->cols = cols;
}

/* The columns beside v in n rows of its place and those behind it. */
static void add_sides(struct writes *p, const struct hd_mtensor *t, const struct hd_view *v,
                      int n) {
    struct hd_view inner = without_sides(t, *v);
    uint32_t left = inner.at - v->at, right = left + (uint32_t)(inner.cols * v->cp);
    add_padding(p, v, 0, n, (int)left / v->cp);
    add_padding(p, v, right, n, v->cols - (int)right / v->cp);
}

/* Nothing beside v shares a granule (machine_ops/deps.c) with its pixels. */
static bool sides_apart(const struct hd_mtensor *t, const struct hd_view *v) {
    struct hd_view inner = without_sides(t, *v);
    return (inner.at - v->at) % 64 == 0 && inner.cols * v->cp % 64 == 0;
}

/* Loads v, whose place is still to be found, into a ring. Rows that the tile above has loaded too
 * are taken from it where the rest fits behind them. Where LX is what the layer waits for, VX
 * copies them if the rest does not fit, and is left with the padding, which p gets if it is not
 * there yet. */
static hd_status stream(struct hd_lowerer *w, int view, int operand, int img, struct hd_view *v,
                        struct writes *p) {
    const struct hd_mtensor *t = hd_lower_tensor(w, w->l->in[operand]);
    const struct hd_placement *tp = hd_lower_place(w, w->l->in[operand]);
    struct hd_ring *r = &w->xm_in[(int)w->in + view];
    struct hd_last_tile *last = &w->last[(int)w->in + view];
    struct hd_view *above = &last->v, rest = *v;
    int shared = above->y + above->rows - v->y;
    bool same = last->l == w->l && last->operand == operand && last->img == img &&
                last->next == r->next && above->x == v->x && above->cols == v->cols &&
                above->c == v->c && above->cp == v->cp && !v->decimated;
    same = same && v->y >= above->y && shared > 0 && shared < v->rows;
    bool fits = r->next + hd_round_up((int64_t)(v->rows - shared) * v->pitch, 64) <= r->size;
    bool copies = same && !fits && v->alternate;
    if (same && (fits || copies)) rest.y += shared, rest.rows -= shared;
    bool as_before = last->l == w->l && above->x == v->x && above->cols == v->cols &&
                     above->cp == v->cp && above->pitch == v->pitch && w->l->ppw == 1;
    int by_vx = v->alternate && rest.y < 0 ? (int)hd_min(-rest.y, rest.rows - 1) : 0;
    int64_t size = hd_round_up((int64_t)(copies ? v->rows : rest.rows) * v->pitch, 64);
    if (by_vx && as_before && last->above[0] == r->first && r->next >= 2 * size) r->next = 0;
    v->at = rest.at = (uint32_t)hd_ring_take(w, r, size);
    const int64_t fill[2] = {v->at, (int64_t)v->at + by_vx * v->pitch};
    bool there = as_before && last->above[0] == fill[0] && last->above[1] >= fill[1];
    bool stays = as_before && (last->above[1] <= v->at || last->above[0] >= v->at + size);
    if (copies) {
        struct hd_view from = *above;
        from.at += (uint32_t)((v->y - above->y) * v->pitch), from.y = v->y;
        rest.at += (uint32_t)(shared * v->pitch);
        from.rows = shared;
        p->from[p->n] = from, p->to[p->n] = *v, p->to[p->n++].rows = shared;
    } else if (same && fits) {
        v->at = above->at + (uint32_t)((v->y - above->y) * v->pitch);
    }
    int64_t row = (rest.at - r->first) / v->pitch;
    bool in_rows = (rest.at - r->first) % v->pitch == 0;
    int padded = as_before ? last->padded : 0;
    if (!there) add_padding(p, &rest, 0, by_vx, rest.cols);
    if (in_rows && row + rest.rows <= padded) {
        rest = without_sides(t, rest);
    } else if (in_rows && row <= padded) {
        bool vx = v->alternate && row == padded && sides_apart(t, v);
        padded = (int)row + rest.rows;
        if (vx) { /* of the rows to come, too: as many as the image has */
            padded = (int)hd_max(padded, hd_min(row + w->l->pt + t->h, r->size / v->pitch));
            add_sides(p, t, &rest, padded - (int)row);
            rest = without_sides(t, rest);
        }
    } else {
        padded = 0;
    }
    struct hd_last_tile now = {w->l, operand, img, *v, r->next, padded, {0}};
    if (by_vx || stays) memcpy(now.above, by_vx ? fill : last->above, sizeof fill);
    *last = now;
    rest.at += (uint32_t)(by_vx * rest.pitch), rest.y += by_vx, rest.rows -= by_vx;
    w->to_load[view] = rest;
    return hd_lower_load_view(w, tp, img, &rest);
}

hd_status hd_lower_stream(struct hd_lowerer *w, int view, int operand, int img, struct hd_view *v) {
    struct writes none = {0};
    TRY(stream(w, view, operand, img, v, &none));
    HD_ASSERT(!none.n); /* only into views of alternate columns */
    return HD_OK;
}

int hd_lower_pair_columns(const struct hd_layer *l, int tw, int i, int *out_first) {
    bool even = l->kw % 2 == 0; /* the last column of a window is one of the first view */
    *out_first = i == 0 ? even : !even;
    return tw + (i == 0 && !even);
}

/* LX waits where VX writes the same bank. So it begins with the second view, while VX writes into
 * the first, and VX writes into the second behind it. */
hd_status hd_lower_load_pairs(struct hd_lowerer *w, struct hd_tile *t, int rows, int x) {
    const struct hd_mtensor *in = hd_lower_tensor(w, w->l->in[0]);
    int cp = t->channels ? t->channels : in->bytes;
    struct writes p[2] = {0};
    for (int k = 0; k < 2; k++) {
        int i = t->y ? k : !k, first, cols = hd_lower_pair_columns(w->l, t->tw, i, &first);
        t->in[i] = hd_view_at(0, hd_layer_pitch(w->l, cols * cp), cp, rows, cols,
                              t->y * w->l->sy - w->l->pt, x + first);
        t->in[i].c = t->c, t->in[i].alternate = true;
        TRY(stream(w, i, 0, t->img, &t->in[i], &p[i]));
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < p[i].n; k++)
            TRY(map_rows(w, p[i].from[k].rows ? &p[i].from[k] : NULL, &p[i].to[k],
                         i || t->y ? &w->to_load[i] : NULL, in->is_unsigned));
    return HD_OK;
}
