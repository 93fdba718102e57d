/* Dense and grouped convolutions and products by vpdpbusd: the text of cpu_int8_dot16.c and
 * cpu_int8_dot8.c. See cpu_int8_dot.h for how weights lie.
 *
 * A tile is up to 8 pixels x 1 to 4 vectors of channels, a panel's, with its sums in registers over
 * the whole reduction: four activations of a pixel are broadcast and meet the panel's weights. Then
 * the sums lie in memory for a moment and become bytes four vectors at a time.
 */
#ifndef HD_CPU_REF_CPU_DOT_DENSE_H
#define HD_CPU_REF_CPU_DOT_DENSE_H

#include "cpu_ref/cpu_dot_vec.h"

#ifdef HD_LANES
#include "cpu_ref/cpu_int8_dot.h"
#include "runtime/base/num.h"

enum { TILE = HD_Q_DOT_TILE, ACROSS = 4 }; /* pixels of a tile and vectors of a panel, at most */

/* Sums of n_px pixels x n_b vectors, both constant after inlining, from the panel's bias on. px: of
 * each pixel, in scratch or where the operand lies. */
D_INLINE void d_sums(const hd_q_conv *c, const struct hd_q_panel *p, const int n_px, const int n_b,
                     const uint8_t *const *px, vec *to) {
    vec acc[TILE][ACROSS];
    const int8_t *w = c->w8 + p->weights;
    const int64_t end = hd_round_up(c->run_len, 4);
#pragma GCC unroll 8
    for (int i = 0; i < n_px; i++)
#pragma GCC unroll 4
        for (int b = 0; b < n_b; b++) acc[i][b] = d_load(c->bias + p->at + b * LANES);
    for (int64_t r = 0; r < c->n_runs; r++) {
        const uint8_t *x[TILE];
        const int64_t from = c->run_at[r] + p->from;
#pragma GCC unroll 8
        for (int i = 0; i < n_px; i++) x[i] = px[i] + from;
        for (int64_t k = 0; k < end; k += 4, w += n_b * FULL) {
            vec wv[ACROSS];
#pragma GCC unroll 4
            for (int b = 0; b < n_b; b++) wv[b] = d_load(w + b * FULL);
#pragma GCC unroll 8
            for (int i = 0; i < n_px; i++) {
                vec four = d_four(x[i] + k);
#pragma GCC unroll 4
                for (int b = 0; b < n_b; b++) acc[i][b] = d_dot(acc[i][b], four, wv[b]);
            }
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < n_px; i++)
#pragma GCC unroll 4
        for (int b = 0; b < n_b; b++) to[i * n_b + b] = acc[i][b];
}

/* What is known of a tile when it becomes bytes. */
enum d_kind {
    D_ANY,
    D_ADDED, /* the panel has all channels that its vectors have room for, all is small ... */
    D_PLAIN, /* ... and no residual sum is behind */
    D_KINDS
};

static enum d_kind d_kind_of(const struct d_tail *t, const struct hd_q_panel *p) {
    if (!t->small || p->n != p->n_b * LANES) return D_ANY;
    return !t->sum ? D_PLAIN : t->small_sum ? D_ADDED : D_ANY;
}

/* Bytes of a tile; a vector of them is 4, 2 or 1 pixels. n_b and kind are constant after inlining.
 * other, y: channel 0 of the panel. */
D_INLINE void d_finish(const hd_q_conv *c, const struct d_tail *tail, const struct hd_q_panel *p,
                       const int n_b, const enum d_kind kind, int n_px, const uint8_t *other,
                       uint8_t *y, const vec *sum) {
    const int per = ACROSS / n_b, n_ch = (int)p->n; /* per: pixels */
    const int64_t step = c->d.m_all;
    struct d_tail t = *tail;
    vecf scale[ACROSS];
    if (kind != D_ANY) t.small = t.small_sum = true;
#pragma GCC unroll 4
    for (int b = 0; b < n_b; b++) scale[b] = D(loadu_ps)(c->scale + p->at + b * LANES);
    for (int i = 0; i < n_px; i += per, y += per * step, sum += per * n_b) {
        vec v[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) { /* what is beyond the tile is a pixel of it once more */
            int px = per > 1 && i + j / n_b >= n_px ? 0 : j / n_b % per, b = j % n_b;
            v[j] = d_scaled(&t, sum[px * n_b + b], scale[b]);
            if (kind == D_PLAIN || (kind == D_ANY && !other)) continue;
            int n = kind == D_ANY ? (int)hd_min(LANES, n_ch - b * LANES) : LANES;
            v[j] = d_add(&t, v[j], d_load_lanes(other + (i + px) * step + b * LANES, n));
        }
        vec bytes = d_order(d_bytes(&t, v));
        uint8_t part[FULL];
        if (kind == D_ANY) d_store(part, bytes);
#pragma GCC unroll 4
        for (int j = 0; j < per; j++) {
            if (i + j >= n_px) break;
            if (kind == D_ANY)
                d_copy_n(y + j * step, part + j * n_b * LANES, n_ch);
            else
                d_put(y + j * step, bytes, n_b, j);
        }
    }
}

/* ---- one function for each size: compilers lose track of registers in larger ones ------------ */

typedef void d_sums_fn(const hd_q_conv *c, const struct hd_q_panel *p, const uint8_t *const *px,
                       vec *to);
typedef void d_finish_fn(const hd_q_conv *c, const struct d_tail *t, const struct hd_q_panel *p,
                         int n_px, const uint8_t *other, uint8_t *y, const vec *sum);

#define ALONE static __attribute__((noinline)) void
#define SUMS_OF(n_b, n_px)                                                                         \
    ALONE d_sums_##n_b##_##n_px(const hd_q_conv *c, const struct hd_q_panel *p,                    \
                                const uint8_t *const *px, vec *to) {                               \
        d_sums(c, p, n_px, n_b, px, to);                                                           \
    }
#define FINISH_OF(n_b, kind)                                                                       \
    ALONE d_finish_##n_b##_##kind(const hd_q_conv *c, const struct d_tail *t,                      \
                                  const struct hd_q_panel *p, int n_px, const uint8_t *other,      \
                                  uint8_t *y, const vec *sum) {                                    \
        d_finish(c, t, p, n_b, kind, n_px, other, y, sum);                                         \
    }
#define ALL_SUMS(OF, n_b)                                                                          \
    OF(n_b, 1) OF(n_b, 2) OF(n_b, 3) OF(n_b, 4) OF(n_b, 5) OF(n_b, 6) OF(n_b, 7) OF(n_b, 8)
#define ALL_KINDS(OF, n_b)     OF(n_b, D_ANY) OF(n_b, D_ADDED) OF(n_b, D_PLAIN)
#define SUMS_NAME(n_b, n_px)   d_sums_##n_b##_##n_px,
#define FINISH_NAME(n_b, kind) d_finish_##n_b##_##kind,
#if HD_LANES == 16
#define ALL_SIZES(ALL, OF)                                                                         \
    {ALL(OF, 1)}, {ALL(OF, 2)}, {ALL(OF, 3)}, {                                                    \
        ALL(OF, 4)                                                                                 \
    }
ALL_SUMS(SUMS_OF, 3)
ALL_SUMS(SUMS_OF, 4)
ALL_KINDS(FINISH_OF, 3)
ALL_KINDS(FINISH_OF, 4)
#else
#define ALL_SIZES(ALL, OF)                                                                         \
    {ALL(OF, 1)}, {                                                                                \
        ALL(OF, 2)                                                                                 \
    }
#endif
ALL_SUMS(SUMS_OF, 1)
ALL_SUMS(SUMS_OF, 2)
ALL_KINDS(FINISH_OF, 1)
ALL_KINDS(FINISH_OF, 2)
static d_sums_fn *const d_sums_of[][TILE] = {ALL_SIZES(ALL_SUMS, SUMS_NAME)};
static d_finish_fn *const d_finish_of[][D_KINDS] = {ALL_SIZES(ALL_KINDS, FINISH_NAME)};

/* Sums as they are, or as floats: the other thing that may come of them. */
static void d_put_sums(const hd_q_conv *c, const struct hd_q_panel *p, int n_px, uint8_t *y,
                       const vec *sum) {
    for (int i = 0; i < n_px; i++, y += 4 * c->d.m_all)
        for (int64_t b = 0; b < p->n_b; b++) {
            vec v = *sum++;
            vecf f = D(cvtepi32_ps)(v);
            uint8_t part[FULL];
            d_store(part, v);
            if (c->d.result == HD_Q_FLOAT) memcpy(part, &f, sizeof f);
            d_copy_n(y + b * FULL, part, 4 * hd_min(LANES, p->n - b * LANES));
        }
}

static void d_dense_unit(const struct hd_q_unit *u, int64_t image, int64_t strip, int64_t split,
                         uint8_t *s) {
    const hd_q_conv *c = u->c;
    const struct hd_window *v = &c->d.v;
    int64_t oy0 = strip * c->strip, n_rows = hd_min(c->strip, v->oh - oy0), width = v->ow;
    int64_t all = c->blocks * c->d.group, n_px = v->ow * n_rows;
    int64_t first = all * split / c->n_splits, last = all * (split + 1) / c->n_splits;
    int64_t right = (c->gather ? 1 : v->sx) * v->c, down = v->sy * c->wp * v->c;
    int64_t y0 = (image * v->oh + oy0) * v->ow * c->d.m_all;
    const uint8_t *x = u->x + image * v->h * v->w * v->c;
    if (c->direct) {
        right = v->sx * v->c, down = v->sy * v->w * v->c;
        x += oy0 * down;
    } else {
        if (c->gather) width = n_px; /* rows follow each other like pixels */
        hd_q_copy_strip(c, x, oy0, s);
        x = s;
    }
    const struct d_tail t = d_tail_of(c);
    for (const struct hd_q_panel *p = c->panel + first; p < c->panel + last; p++) {
        int64_t tile = hd_q_dot_tile(LANES, (int)p->n_b), n_tiles = hd_ceil_div(n_px, tile);
        const uint8_t *row = x, *next = x, *px[TILE];
        d_finish_fn *finish = d_finish_of[p->n_b - 1][d_kind_of(&t, p)];
        vec sum[TILE * ACROSS];
        const int64_t each = n_px / n_tiles, rest = n_px % n_tiles; /* pixels of a tile */
        int64_t out = y0 + p->first, ox = 0, n;
        for (int64_t i = 0; i < n_tiles; i++, out += n * c->d.m_all) {
            n = each + (i < rest);
            for (int64_t k = 0; k < n; k++) {
                px[k] = next;
                next += right;
                if (++ox == width) ox = 0, next = row += down;
            }
            d_sums_of[p->n_b - 1][n - 1](c, p, px, sum);
            if (c->d.result != HD_Q_REQUANT)
                d_put_sums(c, p, (int)n, u->y + 4 * out, sum);
            else
                finish(c, &t, p, (int)n, u->other ? u->other + out : NULL, u->y + out, sum);
        }
    }
}

#endif
#endif
