/* Depthwise convolutions by vpdpbusd: the text of cpu_int8_dot16.c and cpu_int8_dot8.c.
 *
 * A vector of channels at a time, which is a panel. Four rows of a window lie side by side in a
 * vector, so a window is one product for each four rows of each column; a column of a window of 3x3
 * is made once for all neighbours that it is in.
 */
#ifndef HD_CPU_REF_CPU_DOT_DEPTH_H
#define HD_CPU_REF_CPU_DOT_DEPTH_H

#include "cpu_ref/cpu_dot_dense.h"

#ifdef HD_LANES

/* Sums of n_px neighbours of a window of 3x3, sx columns apart: constant after inlining. */
D_INLINE void d_depth_3x3(const hd_q_conv *c, const struct hd_q_panel *p, const int n_px,
                          const int sx, const uint8_t *x, vec *acc) {
    const int64_t right = c->d.v.c, down = c->wp * right * c->d.v.dy;
    vec w[3];
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) w[k] = d_load(c->w8 + p->weights + k * FULL);
#pragma GCC unroll 8
    for (int i = 0; i < n_px; i++) acc[i] = d_load(c->bias + p->at);
#pragma GCC unroll 17
    for (int q = 0; q < (n_px - 1) * sx + 3; q++, x += right) {
        vec column = d_column(x, down, true);
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++)
            if (q >= k && (q - k) % sx == 0 && (q - k) / sx < n_px)
                acc[(q - k) / sx] = d_dot(acc[(q - k) / sx], column, w[k]);
    }
}

/* Of any window. Rows behind it have no weights; scratch has them. */
D_INLINE void d_depth_any(const hd_q_conv *c, const struct hd_q_panel *p, const int n_px,
                          const uint8_t *x, vec *acc) {
    const struct hd_window *v = &c->d.v;
    const int64_t down = c->wp * v->c * v->dy, right = v->sx * v->c;
    const int8_t *w = c->w8 + p->weights;
#pragma GCC unroll 8
    for (int i = 0; i < n_px; i++) acc[i] = d_load(c->bias + p->at);
    for (int64_t r = 0; r < c->n_runs; r++)
        for (int64_t k = 0; k < v->kw; k++, w += FULL) {
            const uint8_t *from = x + c->run_at[r] + k * v->dx * v->c;
            vec wv = d_load(w);
#pragma GCC unroll 8
            for (int i = 0; i < n_px; i++)
                acc[i] = d_dot(acc[i], d_column(from + i * right, down, false), wv);
        }
}

/* n_px pixels; sx: of a window of 3x3 without gaps, 0 = any window. */
D_INLINE void d_depth_tile(const hd_q_conv *c, const struct d_tail *t, const struct hd_q_panel *p,
                           const int n_px, const int sx, const uint8_t *x, const uint8_t *other,
                           uint8_t *y) {
    vec sum[TILE];
    if (sx)
        d_depth_3x3(c, p, n_px, sx, x, sum);
    else
        d_depth_any(c, p, n_px, x, sum);
    if (d_kind_of(t, p) == D_PLAIN) { /* in registers */
        d_finish(c, t, p, 1, D_PLAIN, n_px, NULL, y, sum);
        return;
    }
    vec kept[TILE];
#pragma GCC unroll 8
    for (int i = 0; i < n_px; i++) kept[i] = sum[i];
    d_finish_1_D_ANY(c, t, p, n_px, other, y, kept);
}

typedef void d_depth_fn(const hd_q_conv *c, const struct d_tail *t, const struct hd_q_panel *p,
                        const uint8_t *x, const uint8_t *other, uint8_t *y);
#define DEPTH_OF(n_px, sx)                                                                         \
    ALONE d_depth_##n_px##_##sx(const hd_q_conv *c, const struct d_tail *t,                        \
                                const struct hd_q_panel *p, const uint8_t *x,                      \
                                const uint8_t *other, uint8_t *y) {                                \
        d_depth_tile(c, t, p, n_px, sx, x, other, y);                                              \
    }
#define EIGHT(OF, sx)                                                                              \
    OF(1, sx) OF(2, sx) OF(3, sx) OF(4, sx) OF(5, sx) OF(6, sx) OF(7, sx) OF(8, sx)
EIGHT(DEPTH_OF, 0)
EIGHT(DEPTH_OF, 1)
EIGHT(DEPTH_OF, 2)
#define NAME(n_px, sx) d_depth_##n_px##_##sx,
static d_depth_fn *const d_depth_of[3][TILE] = {
    {EIGHT(NAME, 0)}, {EIGHT(NAME, 1)}, {EIGHT(NAME, 2)}};
#undef NAME
#undef EIGHT
#undef DEPTH_OF

static void d_depth_unit(const struct hd_q_unit *u, int64_t image, int64_t strip, int64_t split,
                         uint8_t *s) {
    const hd_q_conv *c = u->c;
    const struct hd_window *v = &c->d.v;
    int64_t oy0 = strip * c->strip, n_rows = hd_min(c->strip, v->oh - oy0);
    int64_t first = c->blocks * split / c->n_splits, last = c->blocks * (split + 1) / c->n_splits;
    const bool near = c->n_runs == 1 && v->kh == 3 && v->kw == 3 && v->dx == 1 && v->sx <= 2;
    hd_q_copy_strip(c, u->x + image * v->h * v->w * v->c, oy0, s);
    const struct d_tail t = d_tail_of(c);
    const int64_t n_tiles = hd_ceil_div(v->ow, TILE);
    const int64_t each = v->ow / n_tiles, rest = v->ow % n_tiles; /* pixels of a tile */
    for (int64_t row = 0; row < n_rows; row++)
        for (const struct hd_q_panel *p = c->panel + first; p < c->panel + last; p++) {
            int64_t out = (image * v->oh + oy0 + row) * v->ow * v->c + p->first;
            const uint8_t *x = s + row * v->sy * c->wp * v->c + p->first;
            d_depth_fn *const *tile_of = d_depth_of[near ? v->sx : 0];
            for (int64_t i = 0, px = 0, n; i < n_tiles; i++, px += n) {
                int64_t at = out + px * v->c;
                n = each + (i < rest);
                tile_of[n - 1](c, &t, p, x + px * v->sx * v->c, u->other ? u->other + at : NULL,
                               u->y + at);
            }
        }
}

#endif
#endif
