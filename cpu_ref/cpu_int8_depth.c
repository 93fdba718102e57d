/* Depthwise convolutions of device cpu: see cpu_int8_int.h. For AVX2.
 *
 * 32 channels at a time. For each output row the four rows of a window that a quad takes are
 * interleaved in scratch, so that the four bytes of a channel lie side by side: [quad row][column]
 * [channel][4]. A window is then a few quads, one a column, and the sums are those of
 * cpu_int8_dense.c with a load in place of the broadcast. A window of 3 rows leaves one byte of
 * four free: it repeats a row, so that three large weights still fit the lanes.
 */
#include "cpu_ref/cpu_int8_int.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

#if defined __x86_64__ && defined __AVX2__
#include "cpu_ref/cpu_avx2.h"

enum {
    BLOCK = HD_Q_DEPTH_BLOCK,
    COLUMN = 4 * BLOCK, /* bytes */
    TILE = 2
};

/* Rows that the bytes of a quad take when n rows are left. */
static const uint8_t rows_of[4][4] = {{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 2, 1, 0}, {0, 1, 2, 3}};

static const uint8_t *quad_rows(int64_t kh, int64_t quad) {
    return rows_of[hd_min(4, kh - 4 * quad) - 1];
}

/* Where unpacking bytes, then int16, of 32 channels in order puts channel ch. */
static int slot(int64_t ch) {
    return (int)(ch % 16 / 4 * 8 + ch / 16 * 4 + ch % 4);
}

bool hd_q_depth_pack(hd_q_conv *c) {
    const struct hd_window *v = &c->d.v;
    c->method = HD_Q_DEPTH;
    c->block = c->pack.width = BLOCK;
    c->blocks = hd_ceil_div(v->c, BLOCK);
    c->n_runs = hd_ceil_div(v->kh, 4);
    c->bias = hd_q_grab((size_t)(c->blocks * BLOCK), sizeof *c->bias);
    c->scale = hd_q_grab((size_t)(c->blocks * BLOCK), sizeof *c->scale);
    int64_t n = c->n_runs * v->kw;
    struct hd_q_quad *quads = malloc((size_t)n * sizeof *quads);
    int64_t taps = v->kh * v->kw;
    int16_t *w = malloc((size_t)(BLOCK * taps) * sizeof *w);
    bool ok = c->bias && c->scale && quads && w;
    for (int64_t b = 0; ok && b < c->blocks; b++) {
        uint32_t sum[BLOCK] = {0};
        int64_t n_ch = hd_min(BLOCK, v->c - b * BLOCK);
        for (int64_t ch = 0; ch < n_ch; ch++) hd_q_weights(c, b * BLOCK + ch, w + ch * taps);
        for (int64_t i = 0; i < n; i++) {
            int64_t quad = i / v->kw, kx = i % v->kw;
            quads[i] = (struct hd_q_quad){.at = (int32_t)((quad * c->wp + kx * v->dx) * COLUMN)};
            memcpy(quads[i].rows, quad_rows(v->kh, quad), 4);
            for (int64_t ch = 0; ch < n_ch; ch++)
                for (int64_t r = 0; r < 4 && 4 * quad + r < v->kh; r++) {
                    int16_t weight = w[ch * taps + (4 * quad + r) * v->kw + kx];
                    quads[i].left[slot(ch)][r] = weight;
                    sum[ch] += (uint32_t)weight;
                }
        }
        for (int64_t ch = 0; ch < n_ch; ch++) {
            int64_t m = b * BLOCK + ch, at = b * BLOCK + slot(ch);
            c->bias[at] = (int32_t)((uint32_t)c->d.bias[m] - (uint32_t)c->zero * sum[ch]);
            c->scale[at] = c->d.scale[m];
        }
        ok = hd_q_pack_block(&c->pack, quads, n, true);
    }
    free(quads);
    free(w);
    return ok;
}

/* ---- interleaving --------------------------------------------------------------------------- */

Q_INLINE void interleave(const __m256i r[4], uint8_t *s) {
    __m256i a = _mm256_unpacklo_epi8(r[0], r[1]), b = _mm256_unpackhi_epi8(r[0], r[1]);
    __m256i c = _mm256_unpacklo_epi8(r[2], r[3]), d = _mm256_unpackhi_epi8(r[2], r[3]);
    _mm256_store_si256((__m256i *)s, _mm256_unpacklo_epi16(a, c));
    _mm256_store_si256((__m256i *)(s + 32), _mm256_unpackhi_epi16(a, c));
    _mm256_store_si256((__m256i *)(s + 64), _mm256_unpacklo_epi16(b, d));
    _mm256_store_si256((__m256i *)(s + 96), _mm256_unpackhi_epi16(b, d));
}

/* Columns ix0 .. ix1 of four rows, `step` bytes apart, of which n <= 32 are channels of ours. */
Q_INLINE void columns(const uint8_t *const from[4], const int64_t step[4], int64_t ix0, int64_t ix1,
                      int64_t n, __m256i flip, uint8_t *s) {
    for (int64_t ix = ix0; ix < ix1; ix++) {
        __m256i r[4];
        for (int j = 0; j < 4; j++) {
            const uint8_t *p = from[j] + ix * step[j];
            uint8_t t[BLOCK];
            if (n < BLOCK) p = memcpy(t, p, (size_t)n);
            r[j] = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)p), flip);
        }
        interleave(r, s + ix * COLUMN);
    }
}

/* The columns that output row oy needs of channels c0 .. c0 + n; `end` is that of the tensor. */
static void interleave_row(const hd_q_conv *c, const uint8_t *image, const uint8_t *end, int64_t oy,
                           int64_t c0, int64_t n, uint8_t *s) {
    const struct hd_window *v = &c->d.v;
    const __m256i flip = _mm256_set1_epi8((char)c->flip);
    const __m256i zero = _mm256_set1_epi8((char)c->zero);
    uint8_t padding[BLOCK];
    memset(padding, c->d.x_zp, sizeof padding);
    int64_t left = hd_min(v->pl, c->wp), right = hd_max(left, hd_min(c->wp, v->pl + v->w));
    for (int64_t quad = 0; quad < c->n_runs; quad++, s += c->wp * COLUMN) {
        const uint8_t *from[4], *rows = quad_rows(v->kh, quad);
        int64_t step[4], whole = right; /* columns up to `whole` can be read as 32 bytes */
        for (int j = 0; j < 4; j++) {
            int64_t iy = oy * v->sy - v->pt + (4 * quad + rows[j]) * v->dy;
            bool inside = iy >= 0 && iy < v->h;
            from[j] = inside ? image + (iy * v->w - v->pl) * v->c + c0 : padding;
            step[j] = inside ? v->c : 0;
            if (inside && right > left && end - (from[j] + (right - 1) * v->c) < BLOCK)
                whole = hd_min(whole, right - hd_ceil_div(BLOCK, v->c));
        }
        whole = hd_max(whole, left);
        for (int64_t i = 0; i < left * COLUMN; i += 32)
            _mm256_store_si256((__m256i *)(s + i), zero);
        columns(from, step, left, whole, BLOCK, flip, s);
        columns(from, step, whole, right, n, flip, s);
        for (int64_t i = right * COLUMN; i < c->wp * COLUMN; i += 32)
            _mm256_store_si256((__m256i *)(s + i), zero);
    }
}

/* ---- sums ----------------------------------------------------------------------------------- */

Q_INLINE void add_groups(const int n_px, const int size, int32_t n, const int32_t *at,
                         const int8_t *w, const uint8_t *x, int64_t step, __m256i acc[TILE][4]) {
    const __m256i ones = _mm256_set1_epi16(1);
    for (; n > 0; n--, at += size, w += size * COLUMN)
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
#pragma GCC unroll 4
            for (int p = 0; p < n_px; p++) {
                __m256i sum = _mm256_setzero_si256();
#pragma GCC unroll 4
                for (int j = 0; j < size; j++) {
                    __m256i wv = _mm256_load_si256((const __m256i *)(w + j * COLUMN + i * 32));
                    __m256i xv =
                        _mm256_load_si256((const __m256i *)(x + p * step + at[j] + i * 32));
                    __m256i product = _mm256_maddubs_epi16(xv, wv);
                    sum = j ? _mm256_add_epi16(sum, product) : product;
                }
                acc[p][i] = _mm256_add_epi32(acc[p][i], _mm256_madd_epi16(sum, ones));
            }
}

/* 32 bytes as int32, in slots. */
Q_INLINE void split_32(__m256i b, bool is_signed, __m256i v[4]) {
    __m256i none = _mm256_setzero_si256();
    __m256i sign = is_signed ? _mm256_cmpgt_epi8(none, b) : none;
    q_split(_mm256_unpacklo_epi8(b, sign), &v[0], &v[1]);
    q_split(_mm256_unpackhi_epi8(b, sign), &v[2], &v[3]);
}

struct place {        /* pixels of a row, 32 channels */
    const uint8_t *x; /* in scratch */
    int64_t right;    /* bytes from a pixel to the next, there */
    const uint8_t *other;
    uint8_t *y;
    int64_t step, n_ch; /* bytes between pixels of y; channels of the block */
};

/* n_px neighbours, from pixel ox of the row. `plain`: no sum behind, small, 32 channels. */
Q_INLINE void tile(const hd_q_conv *c, const struct q_tail *t, const int n_px, const bool plain,
                   const struct place *p, int64_t ox, int64_t block) {
    const struct hd_q_list *l = &c->pack.list[block];
    const int32_t *at = c->pack.at + l->first;
    const int8_t *w = c->pack.w + l->first * COLUMN;
    const uint8_t *x = p->x + ox * p->right;
    __m256i acc[TILE][4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
#pragma GCC unroll 4
        for (int k = 0; k < n_px; k++)
            acc[k][i] = _mm256_load_si256((const __m256i *)(c->bias + block * BLOCK + 8 * i));
    add_groups(n_px, 4, l->n[0], at, w, x, p->right, acc);
    at += 4 * (int64_t)l->n[0], w += 4 * COLUMN * (int64_t)l->n[0];
    add_groups(n_px, 2, l->n[1], at, w, x, p->right, acc);
    at += 2 * (int64_t)l->n[1], w += 2 * COLUMN * (int64_t)l->n[1];
    add_groups(n_px, 1, l->n[2], at, w, x, p->right, acc);
#pragma GCC unroll 4
    for (int k = 0; k < n_px; k++) {
        __m256i v[4], o[4];
        const uint8_t *other = plain || !p->other ? NULL : p->other + (ox + k) * p->step;
        if (other) {
            uint8_t b[BLOCK] = {0};
            memcpy(b, other, (size_t)p->n_ch);
            split_32(_mm256_loadu_si256((const __m256i *)b), t->sum->b_signed, o);
        }
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            __m256 scale = _mm256_load_ps(c->scale + block * BLOCK + 8 * i);
            if (plain)
                v[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc[k][i]), scale));
            else
                v[i] = q_tail_round(t, acc[k][i], scale);
            if (other) v[i] = q_tail_sum(t, v[i], o[i]);
        }
        __m256i bytes = q_tail_bytes(t, q_tail_words(t, v[0], v[1]), q_tail_words(t, v[2], v[3]));
        uint8_t *y = p->y + (ox + k) * p->step;
        if (plain)
            _mm256_storeu_si256((__m256i *)y, bytes);
        else
            q_store_32(y, bytes, p->n_ch);
    }
}

Q_INLINE void row(const hd_q_conv *c, const struct q_tail *t, const bool plain,
                  const struct place *p, int64_t block) {
    int64_t ox = 0, ow = c->d.v.ow;
    for (; ox + TILE <= ow; ox += TILE) tile(c, t, TILE, plain, p, ox, block);
    for (; ox < ow; ox++) tile(c, t, 1, plain, p, ox, block);
}

void hd_q_depth_unit(const struct hd_q_unit *u, int64_t image, int64_t strip, int64_t split,
                     uint8_t *s) {
    const hd_q_conv *c = u->c;
    const struct hd_window *v = &c->d.v;
    int64_t image_bytes = v->h * v->w * v->c;
    int64_t oy1 = hd_min(v->oh, (strip + 1) * c->strip);
    int64_t b0 = c->blocks * split / c->n_splits, b1 = c->blocks * (split + 1) / c->n_splits;
    struct q_tail t = q_tail_of(c->d.out, c->d.has_sum ? &c->d.sum : NULL, c->small);
    for (int64_t oy = strip * c->strip; oy < oy1; oy++)
        for (int64_t b = b0; b < b1; b++) {
            int64_t at = (image * v->oh + oy) * v->ow * v->c + b * BLOCK;
            struct place p = {.x = s,
                              .right = v->sx * COLUMN,
                              .other = u->other ? u->other + at : NULL,
                              .y = u->y + at,
                              .step = v->c,
                              .n_ch = hd_min(BLOCK, v->c - b * BLOCK)};
            interleave_row(c, u->x + image * image_bytes, u->x + v->n * image_bytes, oy, b * BLOCK,
                           p.n_ch, s);
            if (t.small && !p.other && p.n_ch == BLOCK)
                row(c, &t, true, &p, b);
            else
                row(c, &t, false, &p, b);
        }
}
#endif
