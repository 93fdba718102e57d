/* Quantised convolution of device cpu: see cpu_int8.h. Compiled for AVX2 on x86-64 whatever the
 * rest of the program is compiled for (rules.mk), called only behind hd_q_available().
 *
 * A unit of work is a strip of output rows and a range of output channels. The input rows of the
 * strip are widened to int16 once, zero point taken off and padding filled with zeros, so that the
 * inner loop needs no cases: a tile of 6 pixels x 16 channels, two int32 vectors a pixel, walks the
 * window as `runs` of consecutive int16 (a whole window row when its taps are adjacent).
 * Depthwise: 16 channels at a time, taps in pairs.
 */
#include "cpu_ref/cpu_int8.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

#if defined __x86_64__ && defined __AVX2__
#include "cpu_ref/cpu_avx2.h"

enum { BLOCK = 16, TILE = 6, STRIP_BYTES = 160 << 10 };

struct hd_q_conv {
    struct hd_q_conv_desc d;
    int threads;
    bool depthwise, gather; /* gather: 1x1 window, only the pixels it reads are widened */
    int64_t cg, mg;         /* channels of a group, in and out */
    int64_t c_row;          /* int16 of one pixel in scratch */
    int64_t wp, rows;       /* scratch: pixels a row, rows of a strip */
    int64_t strip, n_strips, n_splits, blocks; /* output rows of a strip; blocks of a group */
    int64_t n_runs, run_len, pairs;
    int64_t *run_at; /* int16 offset of each run from a pixel */
    int16_t *w;    /* dense: [group][block][run][pair][16][2]; depthwise: [block][pair][2][8][2] */
    int32_t *bias; /* [group][block][16], in the order of q_channel */
    float *scale;
    size_t scratch_bytes; /* of one thread */
};

bool hd_q_available(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static void *grab(size_t n, size_t size) {
    size_t bytes = (size_t)hd_round_up((int64_t)(n * size) + 64, 64);
    void *p = aligned_alloc(64, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

static int16_t weight(const struct hd_q_conv_desc *d, int64_t at) {
    return d->wide ? ((const int16_t *)d->w)[at] : ((const int8_t *)d->w)[at];
}

static bool alloc_tables(hd_q_conv *c) {
    int64_t n_blocks = c->blocks * (c->depthwise ? 1 : c->d.group);
    int64_t per = c->depthwise ? c->pairs * 32 : c->n_runs * c->pairs * 32;
    c->w = grab((size_t)(n_blocks * per), sizeof *c->w);
    c->bias = grab((size_t)(n_blocks * BLOCK), sizeof *c->bias);
    c->scale = grab((size_t)(n_blocks * BLOCK), sizeof *c->scale);
    c->run_at = grab((size_t)(c->d.v.kh * c->d.v.kw), sizeof *c->run_at);
    return c->w && c->bias && c->scale && c->run_at;
}

static void pack_dense(hd_q_conv *c) {
    const struct hd_q_conv_desc *d = &c->d;
    const struct hd_window *v = &d->v;
    bool rows = c->n_runs != v->kh * v->kw || v->kw == 1; /* a run is a whole row of the window */
    for (int64_t r = 0; r < c->n_runs; r++)
        c->run_at[r] = rows ? r * v->dy * c->wp * c->c_row
                            : (r / v->kw * v->dy * c->wp + r % v->kw * v->dx) * c->c_row;
    for (int64_t g = 0; g < d->group; g++)
        for (int64_t o = 0; o < c->mg; o++) {
            int64_t m = g * c->mg + o, block = g * c->blocks + o / BLOCK;
            int slot = q_slot((int)(o % BLOCK));
            c->bias[block * BLOCK + slot] = d->bias[m];
            c->scale[block * BLOCK + slot] = d->scale[m];
            for (int64_t r = 0; r < c->n_runs; r++)
                for (int64_t k = 0; k < c->run_len; k++) {
                    int64_t ch = k % c->cg, ky = rows ? r : r / v->kw,
                            kx = rows ? k / c->cg : r % v->kw;
                    c->w[((block * c->n_runs + r) * c->pairs + k / 2) * 32 + slot * 2 + k % 2] =
                        weight(d, ((m * c->cg + ch) * v->kh + ky) * v->kw + kx);
                }
        }
}

static void pack_depthwise(hd_q_conv *c) {
    const struct hd_window *v = &c->d.v;
    int64_t taps = v->kh * v->kw;
    for (int64_t t = 0; t < taps; t++)
        c->run_at[t] = (t / v->kw * v->dy * c->wp + t % v->kw * v->dx) * BLOCK;
    for (int64_t m = 0; m < c->d.m_all; m++) {
        int64_t block = m / BLOCK;
        int slot = q_slot((int)(m % BLOCK));
        c->bias[block * BLOCK + slot] = c->d.bias[m];
        c->scale[block * BLOCK + slot] = c->d.scale[m];
        for (int64_t t = 0; t < taps; t++)
            c->w[(block * c->pairs + t / 2) * 32 + slot * 2 + t % 2] = weight(&c->d, m * taps + t);
    }
}

/* Rows of a strip: what fits the budget; more strips when there would be fewer than threads. */
static void choose_strips(hd_q_conv *c) {
    const struct hd_window *v = &c->d.v;
    int64_t reach = c->gather ? 1 : (v->kh - 1) * v->dy + 1, step = c->gather ? 1 : v->sy;
    int64_t row_bytes = c->wp * c->c_row * 2;
    int64_t rows = hd_max(STRIP_BYTES / row_bytes, reach);
    c->strip = hd_min((rows - reach) / step + 1, v->oh);
    if (c->threads > 1 && v->oh >= 8 * c->threads)
        c->strip = hd_min(c->strip, hd_ceil_div(v->oh, c->threads));
    c->n_strips = hd_ceil_div(v->oh, c->strip);
    c->strip = hd_ceil_div(v->oh, c->n_strips);
    c->n_strips = hd_ceil_div(v->oh, c->strip);
    c->rows = (c->strip - 1) * step + reach;
    c->n_splits = 1;
    int64_t all = c->depthwise ? c->blocks : c->blocks * c->d.group;
    if (c->depthwise)
        c->n_splits = all; /* its scratch holds one block */
    else if (c->n_strips * v->n < c->threads)
        c->n_splits = hd_min(all, hd_ceil_div(c->threads, c->n_strips * v->n));
    c->scratch_bytes =
        (size_t)hd_round_up((c->rows * c->wp * c->c_row + 2 * TILE + 32) * 2 + 64, 64);
}

hd_q_conv *hd_q_conv_create(const struct hd_q_conv_desc *d, int threads) {
    hd_q_conv *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    const struct hd_window *v = &d->v;
    c->d = *d;
    c->threads = threads;
    c->cg = v->c / d->group;
    c->mg = d->m_all / d->group;
    c->depthwise = c->cg == 1 && c->mg == 1 && v->c > 1;
    c->gather = v->kh == 1 && v->kw == 1 && !c->depthwise;
    c->c_row = c->depthwise ? BLOCK : v->c;
    c->wp = c->gather ? v->ow : (v->ow - 1) * v->sx + (v->kw - 1) * v->dx + 1;
    if (!c->gather) c->wp = hd_max(c->wp, v->pl + v->w);
    c->blocks = hd_ceil_div(c->depthwise ? v->c : c->mg, BLOCK);
    bool whole_rows = v->dx == 1 && d->group == 1;
    c->n_runs = c->depthwise ? v->kh * v->kw : whole_rows ? v->kh : v->kh * v->kw;
    c->run_len = c->depthwise ? 1 : whole_rows ? v->kw * v->c : c->cg;
    c->pairs = hd_ceil_div(c->depthwise ? c->n_runs : c->run_len, 2);
    choose_strips(c);
    if (!alloc_tables(c)) {
        hd_q_conv_destroy(c);
        return NULL;
    }
    if (c->depthwise)
        pack_depthwise(c);
    else
        pack_dense(c);
    c->d.w = NULL, c->d.bias = NULL, c->d.scale = NULL;
    return c;
}

void hd_q_conv_destroy(hd_q_conv *c) {
    if (!c) return;
    free(c->w);
    free(c->bias);
    free(c->scale);
    free(c->run_at);
    free(c);
}

size_t hd_q_conv_scratch(const hd_q_conv *c) {
    return c->scratch_bytes * (size_t)c->threads;
}

/* ---- one unit ----------------------------------------------------------------------------- */

struct unit {
    const hd_q_conv *c;
    const uint8_t *x, *other;
    uint8_t *y, *scratch;
};

/* The strip's input rows as int16, channels c0 .. c0 + n_c of each pixel. */
static void widen_strip(const hd_q_conv *c, const uint8_t *image, int64_t oy0, int64_t c0,
                        int64_t n_c, int16_t *s) {
    const struct hd_window *v = &c->d.v;
    int64_t row_len = c->wp * c->c_row;
    for (int64_t r = 0; r < c->rows; r++, s += row_len) {
        int64_t iy = c->gather ? (oy0 + r) * v->sy - v->pt : oy0 * v->sy + r - v->pt;
        if (iy < 0 || iy >= v->h) {
            memset(s, 0, (size_t)row_len * sizeof *s);
            continue;
        }
        const uint8_t *row = image + iy * v->w * v->c + c0;
        if (c->gather && (v->sx != 1 || v->pl || v->ow != v->w)) {
            for (int64_t ox = 0; ox < v->ow; ox++) {
                int64_t ix = ox * v->sx - v->pl;
                if (ix < 0 || ix >= v->w)
                    memset(s + ox * v->c, 0, (size_t)v->c * sizeof *s);
                else
                    q_widen(s + ox * v->c, row + ix * v->c, v->c, c->d.x_zp, c->d.x_signed);
            }
            continue;
        }
        int64_t left = c->gather ? 0 : v->pl, n = hd_min(v->w, c->wp - left);
        memset(s, 0, (size_t)(left * c->c_row) * sizeof *s);
        if (!c->depthwise)
            q_widen(s + left * v->c, row, n * v->c, c->d.x_zp, c->d.x_signed);
        else
            for (int64_t ix = 0; ix < n; ix++)
                q_widen_block(s + (left + ix) * BLOCK, row + ix * v->c, n_c, c->d.x_zp,
                              c->d.x_signed);
        memset(s + (left + n) * c->c_row, 0, (size_t)((c->wp - left - n) * c->c_row) * sizeof *s);
    }
}

/* 16 sums as int32 -> bytes at y; n of them are stored. */
Q_INLINE void finish(const hd_q_conv *c, __m256i a0, __m256i a1, const float *scale,
                     const uint8_t *other, uint8_t *y, int64_t n) {
    __m256 f0 = _mm256_mul_ps(_mm256_cvtepi32_ps(a0), _mm256_load_ps(scale));
    __m256 f1 = _mm256_mul_ps(_mm256_cvtepi32_ps(a1), _mm256_load_ps(scale + 8));
    __m256i q = q_requant(f0, f1, &c->d.out);
    const struct hd_q_out *out = &c->d.out;
    if (c->d.has_sum) {
        q = q_add(q, q_load_n(other, n, c->d.sum.b_signed), &c->d.sum);
        out = &c->d.sum.out;
    }
    q_store_n(y, q, out->is_signed, n);
}

/* n_pixels (constant after inlining) x 16 channels. */
Q_INLINE void dense_tile(const hd_q_conv *c, const int n_pixels, const int16_t *const *px,
                         int64_t block, const uint8_t *other, uint8_t *const *y, int64_t n) {
    const int16_t *w = c->w + block * c->n_runs * c->pairs * 32;
    __m256i acc[TILE][2];
    __m256i b0 = _mm256_load_si256((const __m256i *)(c->bias + block * BLOCK));
    __m256i b1 = _mm256_load_si256((const __m256i *)(c->bias + block * BLOCK + 8));
#pragma GCC unroll 8
    for (int p = 0; p < n_pixels; p++) acc[p][0] = b0, acc[p][1] = b1;
    for (int64_t r = 0; r < c->n_runs; r++) {
        int64_t at = c->run_at[r];
        const int16_t *x[TILE];
#pragma GCC unroll 8
        for (int p = 0; p < n_pixels; p++) x[p] = px[p] + at;
        for (int64_t k = 0; k < c->pairs; k++, w += 32) {
            __m256i w0 = _mm256_load_si256((const __m256i *)w);
            __m256i w1 = _mm256_load_si256((const __m256i *)(w + 16));
#pragma GCC unroll 8
            for (int p = 0; p < n_pixels; p++) {
                int32_t pair;
                memcpy(&pair, x[p] + 2 * k, sizeof pair);
                __m256i xx = _mm256_set1_epi32(pair);
                acc[p][0] = q_madd(acc[p][0], xx, w0);
                acc[p][1] = q_madd(acc[p][1], xx, w1);
            }
        }
    }
#pragma GCC unroll 8
    for (int p = 0; p < n_pixels; p++)
        finish(c, acc[p][0], acc[p][1], c->scale + block * BLOCK,
               other ? other + (y[p] - y[0]) : NULL, y[p], n);
}

static void dense_unit(const struct unit *u, int64_t image, int64_t strip, int64_t split,
                       int16_t *s) {
    const hd_q_conv *c = u->c;
    const struct hd_window *v = &c->d.v;
    int64_t oy0 = strip * c->strip, n_rows = hd_min(c->strip, v->oh - oy0);
    int64_t n_px = n_rows * v->ow, all = c->blocks * c->d.group;
    int64_t first = all * split / c->n_splits, last = all * (split + 1) / c->n_splits;
    int64_t sy = c->gather ? 1 : v->sy, sx = c->gather ? 1 : v->sx;
    widen_strip(c, u->x + image * v->h * v->w * v->c, oy0, 0, v->c, s);
    int64_t y0 = (image * v->oh + oy0) * v->ow * c->d.m_all;
    for (int64_t b = first; b < last; b++) {
        int64_t g = b / c->blocks, o = b % c->blocks * BLOCK, n = hd_min(BLOCK, c->mg - o);
        int64_t at = y0 + g * c->mg + o;
        for (int64_t p = 0; p < n_px; p += TILE) {
            const int16_t *px[TILE];
            uint8_t *y[TILE];
            int count = (int)hd_min(TILE, n_px - p);
            int64_t oy = p / v->ow, ox = p % v->ow;
            for (int i = 0; i < count; i++) {
                px[i] = s + (oy * sy * c->wp + ox * sx) * c->c_row + g * c->cg;
                y[i] = u->y + at + (p + i) * c->d.m_all;
                if (++ox == v->ow) ox = 0, oy++;
            }
            const uint8_t *other = u->other ? u->other + (y[0] - u->y) : NULL;
            switch (count) {
            case 6:
                dense_tile(c, 6, px, b, other, y, n);
                break;
            case 5:
                dense_tile(c, 5, px, b, other, y, n);
                break;
            case 4:
                dense_tile(c, 4, px, b, other, y, n);
                break;
            case 3:
                dense_tile(c, 3, px, b, other, y, n);
                break;
            case 2:
                dense_tile(c, 2, px, b, other, y, n);
                break;
            default:
                dense_tile(c, 1, px, b, other, y, n);
            }
        }
    }
}

/* n_pixels (constant after inlining) neighbours of a row, 16 channels each. */
Q_INLINE void depthwise_tile(const hd_q_conv *c, const int n_pixels, const int16_t *x, int64_t step,
                             int64_t block, const uint8_t *other, uint8_t *y, int64_t n) {
    const int16_t *w = c->w + block * c->pairs * 32;
    __m256i acc[4][2];
    __m256i b0 = _mm256_load_si256((const __m256i *)(c->bias + block * BLOCK));
    __m256i b1 = _mm256_load_si256((const __m256i *)(c->bias + block * BLOCK + 8));
#pragma GCC unroll 4
    for (int p = 0; p < n_pixels; p++) acc[p][0] = b0, acc[p][1] = b1;
    for (int64_t k = 0; k < c->pairs; k++, w += 32) {
        int64_t t0 = c->run_at[2 * k], t1 = 2 * k + 1 < c->n_runs ? c->run_at[2 * k + 1] : t0;
        __m256i w0 = _mm256_load_si256((const __m256i *)w);
        __m256i w1 = _mm256_load_si256((const __m256i *)(w + 16));
#pragma GCC unroll 4
        for (int p = 0; p < n_pixels; p++) {
            __m256i a = _mm256_loadu_si256((const __m256i *)(x + p * step + t0));
            __m256i b = _mm256_loadu_si256((const __m256i *)(x + p * step + t1));
            acc[p][0] = q_madd(acc[p][0], _mm256_unpacklo_epi16(a, b), w0);
            acc[p][1] = q_madd(acc[p][1], _mm256_unpackhi_epi16(a, b), w1);
        }
    }
#pragma GCC unroll 4
    for (int p = 0; p < n_pixels; p++)
        finish(c, acc[p][0], acc[p][1], c->scale + block * BLOCK,
               other ? other + p * c->d.m_all : NULL, y + p * c->d.m_all, n);
}

static void depthwise_unit(const struct unit *u, int64_t image, int64_t strip, int64_t block,
                           int16_t *s) {
    const hd_q_conv *c = u->c;
    const struct hd_window *v = &c->d.v;
    int64_t oy0 = strip * c->strip, n_rows = hd_min(c->strip, v->oh - oy0);
    int64_t n = hd_min(BLOCK, v->c - block * BLOCK), step = v->sx * BLOCK;
    widen_strip(c, u->x + image * v->h * v->w * v->c, oy0, block * BLOCK, n, s);
    for (int64_t oy = 0; oy < n_rows; oy++) {
        int64_t at = ((image * v->oh + oy0 + oy) * v->ow) * v->c + block * BLOCK;
        uint8_t *y = u->y + at;
        const uint8_t *other = u->other ? u->other + at : NULL;
        const int16_t *x = s + oy * v->sy * c->wp * BLOCK;
        int64_t ox = 0;
        for (; ox + 4 <= v->ow; ox += 4)
            depthwise_tile(c, 4, x + ox * step, step, block, other ? other + ox * v->c : NULL,
                           y + ox * v->c, n);
        for (; ox < v->ow; ox++)
            depthwise_tile(c, 1, x + ox * step, step, block, other ? other + ox * v->c : NULL,
                           y + ox * v->c, n);
    }
}

static void run_unit(void *arg, int64_t i, int thread) {
    const struct unit *u = arg;
    const hd_q_conv *c = u->c;
    int16_t *s = (int16_t *)(u->scratch + c->scratch_bytes * (size_t)thread);
    int64_t split = i % c->n_splits, rest = i / c->n_splits;
    if (c->depthwise)
        depthwise_unit(u, rest / c->n_strips, rest % c->n_strips, split, s);
    else
        dense_unit(u, rest / c->n_strips, rest % c->n_strips, split, s);
}

void hd_q_conv_run(const hd_q_conv *c, const void *x, const void *other, void *y, void *scratch) {
    struct unit u = {c, x, c->d.has_sum ? other : NULL, y, scratch};
    hd_cpu_parallel(c->threads, c->d.v.n * c->n_strips * c->n_splits, run_unit, &u);
}

#endif
