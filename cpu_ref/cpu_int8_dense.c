/* Dense and grouped convolutions and products of device cpu: see cpu_int8_int.h. For AVX2.
 *
 * Bytes: a tile is 8 pixels x 8 channels, one vector of int32 sums a pixel. It walks the block's
 * list of quads: four activations of a pixel are broadcast, multiplied with the weights of 8
 * channels (vpmaddubsw), a group's products are added in int16, widened (vpmaddwd with ones) and
 * added to the sum: 2.25 to 3 operations for 32 products.
 * Words: activations are widened to int16 less their zero point; a tile is 6 pixels x 16 channels,
 * pairs are multiplied and added in int32 (vpmaddwd): 4 operations for 32 products, but whatever
 * the weights are.
 */
#include "cpu_ref/cpu_int8_int.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

#if defined __x86_64__ && defined __AVX2__
#include "cpu_ref/cpu_avx2.h"

enum {
    TILE = 8,
    WORDS_TILE = 6,
    WORDS_COST = 4,        /* vector operations for 8 channels, 4 activations */
    TRY_BLOCKS = 8,        /* with so many blocks packed it shows whether words are better */
    CHUNK_BYTES = 16 << 10 /* weights of the blocks that a tile of pixels meets: half of L1 */
};

/* ---- packing -------------------------------------------------------------------------------- */

static bool alloc_tables(hd_q_conv *c) {
    c->blocks = hd_ceil_div(c->mg, c->block);
    int64_t n_blocks = c->blocks * c->d.group;
    c->part = hd_q_grab((size_t)n_blocks, sizeof *c->part);
    c->bias = hd_q_grab((size_t)(n_blocks * c->block), sizeof *c->bias);
    c->scale = hd_q_grab((size_t)(n_blocks * c->block), sizeof *c->scale);
    for (int64_t b = 0; c->part && b < n_blocks; b++) {
        int64_t o = b % c->blocks * c->block, g = b / c->blocks;
        c->part[b] = (struct hd_q_part){g * c->mg + o, hd_min(c->block, c->mg - o), g};
    }
    return c->part && c->bias && c->scale;
}

/* Weights as quads; *out_good = they are few enough. */
static bool pack_bytes(hd_q_conv *c, bool *out_good) {
    const struct hd_q_conv_desc *d = &c->d;
    c->method = HD_Q_BYTES;
    c->block = c->pack.width = HD_Q_BYTES_BLOCK;
    int64_t per_run = hd_ceil_div(c->run_len, 4), n = c->n_runs * per_run, words_cost = 0;
    int64_t all = c->n_runs * c->run_len;
    struct hd_q_quad *quads = malloc((size_t)n * sizeof *quads);
    int16_t *w = malloc((size_t)all * sizeof *w); /* of one channel */
    bool ok = alloc_tables(c) && quads && w;
    *out_good = true;
    for (int64_t b = 0; ok && b < c->blocks * d->group; b++) {
        int64_t m0 = c->part[b].first, n_m = c->part[b].n;
        for (int64_t i = 0; i < n; i++) {
            int64_t at = c->run_at[i / per_run] + i % per_run * 4 + c->part[b].group * c->cg;
            memset(&quads[i], 0, sizeof *quads);
            quads[i].at = (int32_t)at;
            for (int j = 0; j < 4; j++) quads[i].rows[j] = (uint8_t)j;
        }
        for (int64_t o = 0; o < n_m; o++) {
            uint32_t sum = 0;
            hd_q_weights(c, m0 + o, w);
            for (int64_t i = 0; i < n; i++) {
                int64_t k = i % per_run * 4, n_k = hd_min(4, c->run_len - k);
                const int16_t *from = w + i / per_run * c->run_len + k;
                for (int64_t j = 0; j < n_k; j++) {
                    quads[i].left[o][j] = from[j];
                    sum += (uint32_t)from[j];
                }
            }
            c->bias[b * c->block + o] =
                (int32_t)((uint32_t)d->bias[m0 + o] - (uint32_t)c->zero * sum);
            c->scale[b * c->block + o] = d->scale[m0 + o];
        }
        ok = hd_q_pack_block(&c->pack, quads, n, true);
        words_cost += WORDS_COST * n;
        *out_good = 8 * c->pack.cost <= 7 * words_cost;
        if (!*out_good && b >= TRY_BLOCKS) break;
    }
    free(quads);
    free(w);
    return ok;
}

static bool pack_words(hd_q_conv *c) {
    const struct hd_q_conv_desc *d = &c->d;
    hd_q_pack_free(&c->pack);
    free(c->bias);
    free(c->scale);
    free(c->part);
    memset(&c->pack, 0, sizeof c->pack);
    c->method = HD_Q_WORDS;
    c->block = HD_Q_WORDS_BLOCK;
    if (!alloc_tables(c)) return false;
    int64_t pairs = hd_ceil_div(c->run_len, 2);
    c->w = hd_q_grab((size_t)(c->blocks * d->group * c->n_runs * pairs * 32), sizeof *c->w);
    int16_t *w = malloc((size_t)(c->n_runs * c->run_len) * sizeof *w); /* of one channel */
    for (int64_t b = 0; c->w && w && b < c->blocks * d->group; b++)
        for (int64_t o = 0; o < c->part[b].n; o++) {
            int slot = q_slot((int)o);
            int16_t *to = c->w + b * c->n_runs * pairs * 32 + slot * 2;
            hd_q_weights(c, c->part[b].first + o, w);
            c->bias[b * c->block + slot] = d->bias[c->part[b].first + o];
            c->scale[b * c->block + slot] = d->scale[c->part[b].first + o];
            for (int64_t r = 0; r < c->n_runs; r++, to += pairs * 32)
                for (int64_t k = 0; k < c->run_len; k++)
                    to[k / 2 * 32 + k % 2] = w[r * c->run_len + k];
        }
    bool ok = c->w && w;
    free(w);
    return ok;
}

bool hd_q_runs(hd_q_conv *c) {
    const struct hd_window *v = &c->d.v;
    bool rows = (v->dx == 1 || v->kw == 1) && c->d.group == 1;
    c->n_runs = rows ? v->kh : v->kh * v->kw;
    c->run_len = rows ? v->kw * v->c : c->cg;
    c->run_at = hd_q_grab((size_t)c->n_runs, sizeof *c->run_at);
    if (!c->run_at) return false;
    for (int64_t r = 0; r < c->n_runs; r++)
        c->run_at[r] = rows ? r * v->dy * c->wp * v->c
                            : (r / v->kw * v->dy * c->wp + r % v->kw * v->dx) * v->c;
    return true;
}

bool hd_q_dense_pack(hd_q_conv *c) {
    bool good = false;
    if (!hd_q_runs(c)) return false;
    if (!pack_bytes(c, &good) || (!good && !pack_words(c))) return false;
    int64_t n_blocks = c->blocks * c->d.group;
    int64_t bytes = good ? hd_ceil_div(c->pack.n_quads * 32, n_blocks)
                         : c->n_runs * hd_ceil_div(c->run_len, 2) * 64;
    c->chunk = hd_max(1, CHUNK_BYTES / hd_max(bytes, 1));
    return true;
}

/* ---- the strip ------------------------------------------------------------------------------ */

/* n activations into scratch at element `at`, as bytes or as int16. */
static void copy(const hd_q_conv *c, uint8_t *s, int64_t at, const uint8_t *from, int64_t n) {
    if (c->method == HD_Q_WORDS)
        q_widen((int16_t *)s + at, from, n, c->d.x_zp, c->d.x_signed);
    else
        q_flip(s + at, from, n, c->flip);
}

static void pad(const hd_q_conv *c, uint8_t *s, int64_t at, int64_t n) {
    if (c->method == HD_Q_WORDS)
        memset((int16_t *)s + at, 0, (size_t)n * sizeof(int16_t));
    else
        memset(s + at, c->zero, (size_t)n);
}

void hd_q_copy_strip(const hd_q_conv *c, const uint8_t *image, int64_t oy0, uint8_t *s) {
    const struct hd_window *v = &c->d.v;
    int64_t row_len = c->wp * v->c, at = 0;
    for (int64_t r = 0; r < c->rows; r++, at += row_len) {
        int64_t iy = c->gather ? (oy0 + r) * v->sy - v->pt : oy0 * v->sy + r - v->pt;
        const uint8_t *row = image + iy * v->w * v->c;
        if (iy < 0 || iy >= v->h) {
            pad(c, s, at, row_len);
        } else if (c->gather && (v->sx != 1 || v->pl || v->ow != v->w)) {
            for (int64_t ox = 0; ox < v->ow; ox++) {
                int64_t ix = ox * v->sx - v->pl;
                if (ix < 0 || ix >= v->w)
                    pad(c, s, at + ox * v->c, v->c);
                else
                    copy(c, s, at + ox * v->c, row + ix * v->c, v->c);
            }
        } else {
            int64_t left = c->gather ? 0 : v->pl, n = hd_min(v->w, c->wp - left);
            pad(c, s, at, left * v->c);
            copy(c, s, at + left * v->c, row, n * v->c);
            pad(c, s, at + (left + n) * v->c, (c->wp - left - n) * v->c);
        }
    }
}

/* ---- bytes ---------------------------------------------------------------------------------- */

struct place {        /* of a tile: neighbours in a row */
    const uint8_t *x; /* in scratch */
    int64_t right;    /* bytes from a pixel to the next, there */
    const uint8_t *other;
    uint8_t *y;          /* channel 0 */
    int64_t step;        /* bytes between pixels of y */
    int64_t first, last; /* blocks */
};

/* Adds n groups of `size` quads to the sums of n_px pixels; both constant after inlining. */
Q_INLINE void add_groups(const int n_px, const int size, int32_t n, const int32_t *at,
                         const int8_t *w, const uint8_t *px, int64_t right, __m256i *acc) {
    const __m256i ones = _mm256_set1_epi16(1);
    const int64_t r3 = 3 * right, r5 = 5 * right, r7 = 7 * right;
    for (; n > 0; n--, at += size, w += size * 32) {
        __m256i wv[4];
        const uint8_t *x[4];
#pragma GCC unroll 4
        for (int j = 0; j < size; j++) {
            wv[j] = _mm256_load_si256((const __m256i *)(w + 32 * j));
            x[j] = px + at[j];
        }
#define PIXEL(p, step, scale)                                                                      \
    if (n_px > p) {                                                                                \
        __m256i sum = q_quad(x[0], step, scale, wv[0]);                                            \
        _Pragma("GCC unroll 4") for (int j = 1; j < size; j++) sum =                               \
            _mm256_add_epi16(sum, q_quad(x[j], step, scale, wv[j]));                               \
        acc[p] = _mm256_add_epi32(acc[p], _mm256_madd_epi16(sum, ones));                           \
    }
        PIXEL(0, 0, 1)
        PIXEL(1, right, 1)
        PIXEL(2, right, 2)
        PIXEL(3, r3, 1)
        PIXEL(4, right, 4)
        PIXEL(5, r5, 1)
        PIXEL(6, r3, 2)
        PIXEL(7, r7, 1)
#undef PIXEL
    }
}

/* The bytes of 4 pixels x 8 channels, a pixel after the other. */
Q_INLINE __m256i four_pixels(const struct q_tail *t, const __m256i v[4]) {
    __m256i bytes = q_tail_bytes(t, q_tail_words(t, v[0], v[1]), q_tail_words(t, v[2], v[3]));
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* A whole tile of 8 channels. */
Q_INLINE void finish_whole(const struct q_tail *t, __m256 scale, const __m256i acc[TILE],
                           const uint8_t *other, uint8_t *y, int64_t step) {
#pragma GCC unroll 2
    for (int p = 0; p < TILE; p += 4, y += 4 * step) {
        __m256i v[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            v[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc[p + i]), scale));
            if (other)
                v[i] = q_tail_sum(t, v[i], q_load_8(other + (p + i) * step, 8, t->sum->b_signed));
        }
        __m256i bytes = four_pixels(t, v);
        __m128i lo = _mm256_castsi256_si128(bytes), hi = _mm256_extracti128_si256(bytes, 1);
        _mm_storel_epi64((__m128i *)y, lo);
        _mm_storeh_pi((__m64 *)(y + step), _mm_castsi128_ps(lo));
        _mm_storel_epi64((__m128i *)(y + 2 * step), hi);
        _mm_storeh_pi((__m64 *)(y + 3 * step), _mm_castsi128_ps(hi));
    }
}

/* Any other: n_px pixels, n_ch channels. acc has room for four at a time. */
static void finish(const struct q_tail *t, int n_px, int64_t n_ch, __m256 scale, const __m256i *acc,
                   const uint8_t *other, uint8_t *y, int64_t step) {
    for (int p = 0; p < n_px; p += 4) {
        uint8_t bytes[32];
        __m256i v[4];
        for (int i = 0; i < 4; i++) v[i] = q_tail_round(t, acc[p + i], scale);
        for (int i = 0; other && i < 4 && p + i < n_px; i++)
            v[i] = q_tail_sum(t, v[i], q_load_8(other + (p + i) * step, n_ch, t->sum->b_signed));
        _mm256_storeu_si256((__m256i *)bytes, four_pixels(t, v));
        for (int i = 0; i < 4 && p + i < n_px; i++)
            q_store_8(y + (p + i) * step, _mm_loadl_epi64((const __m128i *)(bytes + 8 * i)), n_ch);
    }
}

Q_INLINE void bytes_tile(const hd_q_conv *c, const struct q_tail *t, const int n_px,
                         const struct place *at) {
    const struct hd_q_list *l = &c->pack.list[at->first];
    const int32_t *to = c->pack.at + l->first;
    const int8_t *w = c->pack.w + l->first * 32;
    const uint8_t *x = at->x;
    const int64_t right = at->right;
    for (int64_t b = at->first; b < at->last; b++, l++) { /* a list follows the one before it */
        __m256i acc[TILE], bias = _mm256_load_si256((const __m256i *)(c->bias + b * 8));
        __m256 scale = _mm256_load_ps(c->scale + b * 8);
#pragma GCC unroll 8
        for (int p = 0; p < n_px; p++) acc[p] = bias;
        add_groups(n_px, 4, l->n[0], to, w, x, right, acc);
        to += 4 * (int64_t)l->n[0], w += 4 * 32 * (int64_t)l->n[0];
        add_groups(n_px, 2, l->n[1], to, w, x, right, acc);
        to += 2 * (int64_t)l->n[1], w += 2 * 32 * (int64_t)l->n[1];
        add_groups(n_px, 1, l->n[2], to, w, x, right, acc);
        to += l->n[2], w += 32 * (int64_t)l->n[2];
        int64_t ch = c->part[b].first, n_ch = c->part[b].n;
        bool whole = n_px == TILE && t->small && n_ch == 8;
        if (whole && !at->other) {
            finish_whole(t, scale, acc, NULL, at->y + ch, at->step);
        } else if (whole) {
            finish_whole(t, scale, acc, at->other + ch, at->y + ch, at->step);
        } else {
            __m256i sums[TILE] = {bias, bias, bias, bias, bias, bias, bias, bias};
            memcpy(sums, acc, (size_t)n_px * sizeof *acc);
            finish(t, n_px, n_ch, scale, sums, at->other ? at->other + ch : NULL, at->y + ch,
                   at->step);
        }
    }
}

static void bytes_tiles(const hd_q_conv *c, const struct q_tail *t, const int n_px,
                        const struct place *at) {
    switch (n_px) {
#define TILE_OF(n)                                                                                 \
    case n:                                                                                        \
        bytes_tile(c, t, n, at);                                                                   \
        break;
        TILE_OF(1)
        TILE_OF(2)
        TILE_OF(3)
        TILE_OF(4)
        TILE_OF(5)
        TILE_OF(6)
        TILE_OF(7)
        TILE_OF(8)
#undef TILE_OF
    default:
        break;
    }
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Sums of 16 channels in slots -> bytes. */
Q_INLINE void finish_words(const struct q_tail *t, __m256i v0, __m256i v1, int64_t n,
                           const uint8_t *other, uint8_t *y) {
    if (other) {
        __m256i o0, o1;
        q_split(q_load_n(other, n, t->sum->b_signed), &o0, &o1);
        v0 = q_tail_sum(t, v0, o0), v1 = q_tail_sum(t, v1, o1);
    }
    q_store_n(y, q_tail_clamp(t, q_tail_words(t, v0, v1)), t->is_signed, n);
}

Q_INLINE void words_tile(const hd_q_conv *c, const struct q_tail *t, const int n_px,
                         const struct place *at, int64_t block) {
    int64_t pairs = hd_ceil_div(c->run_len, 2), group = c->part[block].group * c->cg;
    const int16_t *w = c->w + block * c->n_runs * pairs * 32;
    __m256i acc[WORDS_TILE][2];
    __m256i b0 = _mm256_load_si256((const __m256i *)(c->bias + block * 16));
    __m256i b1 = _mm256_load_si256((const __m256i *)(c->bias + block * 16 + 8));
#pragma GCC unroll 8
    for (int p = 0; p < n_px; p++) acc[p][0] = b0, acc[p][1] = b1;
    for (int64_t r = 0; r < c->n_runs; r++) {
        const int16_t *x[WORDS_TILE];
#pragma GCC unroll 8
        for (int p = 0; p < n_px; p++)
            x[p] = (const int16_t *)(at->x + p * at->right) + c->run_at[r] + group;
        for (int64_t k = 0; k < pairs; k++, w += 32) {
            __m256i w0 = _mm256_load_si256((const __m256i *)w);
            __m256i w1 = _mm256_load_si256((const __m256i *)(w + 16));
#pragma GCC unroll 8
            for (int p = 0; p < n_px; p++) {
                __m256i xx = q_four((const uint8_t *)(x[p] + 2 * k));
                acc[p][0] = _mm256_add_epi32(acc[p][0], _mm256_madd_epi16(xx, w0));
                acc[p][1] = _mm256_add_epi32(acc[p][1], _mm256_madd_epi16(xx, w1));
            }
        }
    }
    __m256 s0 = _mm256_load_ps(c->scale + block * 16),
           s1 = _mm256_load_ps(c->scale + block * 16 + 8);
    int64_t ch = c->part[block].first;
    if (t->small && !at->other && c->part[block].n == HD_Q_WORDS_BLOCK) {
        const struct q_tail plain = *t;
#pragma GCC unroll 8
        for (int p = 0; p < n_px; p++) {
            __m256i v0 = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc[p][0]), s0));
            __m256i v1 = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc[p][1]), s1));
            __m256i words = q_tail_clamp(&plain, q_tail_words(&plain, v0, v1));
            q_store_n(at->y + ch + p * at->step, words, plain.is_signed, HD_Q_WORDS_BLOCK);
        }
        return;
    }
#pragma GCC unroll 8
    for (int p = 0; p < n_px; p++)
        finish_words(t, q_tail_round(t, acc[p][0], s0), q_tail_round(t, acc[p][1], s1),
                     c->part[block].n, at->other ? at->other + ch + p * at->step : NULL,
                     at->y + ch + p * at->step);
}

static void words_tiles(const hd_q_conv *c, const struct q_tail *t, const int n_px,
                        const struct place *at) {
    for (int64_t b = at->first; b < at->last; b++) switch (n_px) {
#define TILE_OF(n)                                                                                 \
    case n:                                                                                        \
        words_tile(c, t, n, at, b);                                                                \
        break;
            TILE_OF(1)
            TILE_OF(2)
            TILE_OF(3)
            TILE_OF(4)
            TILE_OF(5)
            TILE_OF(6)
#undef TILE_OF
        default:
            break;
        }
}

/* ---- a unit --------------------------------------------------------------------------------- */

void hd_q_dense_unit(const struct hd_q_unit *u, int64_t image, int64_t strip, int64_t split,
                     uint8_t *s) {
    const hd_q_conv *c = u->c;
    const struct hd_window *v = &c->d.v;
    int64_t oy0 = strip * c->strip, n_rows = hd_min(c->strip, v->oh - oy0);
    int64_t all = c->blocks * c->d.group, n_px = v->ow;
    int64_t first = all * split / c->n_splits, last = all * (split + 1) / c->n_splits;
    bool words = c->method == HD_Q_WORDS;
    int64_t size = words ? 2 : 1, tile = words ? WORDS_TILE : TILE;
    int64_t right = (c->gather ? 1 : v->sx) * v->c * size, down = v->sy * c->wp * v->c * size;
    if (c->gather) n_px *= n_rows, n_rows = 1; /* rows follow each other like pixels */
    hd_q_copy_strip(c, u->x + image * v->h * v->w * v->c, oy0, s);
    int64_t y0 = (image * v->oh + oy0) * v->ow * c->d.m_all;
    struct q_tail t = q_tail_of(c->d.out, c->d.has_sum ? &c->d.sum : NULL, c->small);
    int64_t n_tiles = hd_ceil_div(n_px, tile);
    if (words) tile = 0; /* of like sizes: a small one costs words more a pixel */
    for (int64_t b = first; b < last; b += c->chunk)
        for (int64_t row = 0; row < n_rows; row++)
            for (int64_t i = 0; i < n_tiles; i++) {
                int64_t p = tile ? i * tile : i * n_px / n_tiles;
                int64_t end = tile ? hd_min(n_px, p + tile) : (i + 1) * n_px / n_tiles;
                int64_t at = y0 + (row * n_px + p) * c->d.m_all;
                struct place to = {.x = s + row * down + p * right,
                                   .right = right,
                                   .y = u->y + at,
                                   .other = u->other ? u->other + at : NULL,
                                   .step = c->d.m_all,
                                   .first = b,
                                   .last = hd_min(last, b + c->chunk)};
                (words ? words_tiles : bytes_tiles)(c, &t, (int)(end - p), &to);
            }
}
#endif
