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

enum {
    BLOCK = 16,
    TILE = 6,
    STRIP_BYTES = 128 << 10,          /* dense: rows in and out, beside the weights in L2 */
    DEPTHWISE_STRIP_BYTES = 24 << 10, /* rows in, in L1 */
    STRIP_PIXELS = 96,                /* at least, or the weights are read too often */
    PARALLEL_MIN = 400000             /* products that are worth a second thread */
};

struct hd_q_conv {
    struct hd_q_conv_desc d;
    int threads;
    bool small; /* all scales are below 1/2: no sum can leave the range that q_round clamps to */
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
    int64_t row_bytes = c->wp * c->c_row * 2, fit;
    if (c->depthwise) {
        fit = (hd_max(DEPTHWISE_STRIP_BYTES / row_bytes, reach) - reach) / step + 1;
        fit = hd_max(fit, 4); /* rows that neighbouring strips both widen stay the smaller part */
    } else {
        fit = STRIP_BYTES / (row_bytes * step + v->ow * c->d.m_all);
        fit = hd_max(fit, hd_ceil_div(STRIP_PIXELS, v->ow));
    }
    c->strip = hd_min(fit, v->oh);
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
    int64_t products = v->n * v->oh * v->ow * d->m_all * (v->c / d->group) * v->kh * v->kw;
    c->threads = products < PARALLEL_MIN ? 1 : threads;
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
    c->small = true;
    for (int64_t m = 0; m < d->m_all; m++)
        c->small = c->small && d->scale[m] > -0.5f && d->scale[m] < 0.5f;
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

/* Few elements, most often: a call of memset would cost more than it does. */
Q_INLINE void zero(int16_t *p, int64_t n) {
    for (; n >= 16; n -= 16, p += 16) _mm256_storeu_si256((__m256i *)p, _mm256_setzero_si256());
    for (; n > 0; n--) *p++ = 0;
}

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
        zero(s, left * c->c_row);
        if (!c->depthwise)
            q_widen(s + left * v->c, row, n * v->c, c->d.x_zp, c->d.x_signed);
        else
            for (int64_t ix = 0; ix < n; ix++)
                q_widen_block(s + (left + ix) * BLOCK, row + ix * v->c, n_c, c->d.x_zp,
                              c->d.x_signed);
        memset(s + (left + n) * c->c_row, 0, (size_t)((c->wp - left - n) * c->c_row) * sizeof *s);
    }
}

/* What turns the sums of a block into bytes, in registers: stores of bytes may alias anything, so
 * what is read through a pointer would be read again for every pixel. */
struct tail {
    __m256 s0, s1;
    __m256i zp, lo, hi;
    bool small, is_signed;
    int64_t n; /* channels of the block */
};

static struct tail tail_of(const hd_q_conv *c, int64_t block, int64_t n) {
    const struct hd_q_out *o = &c->d.out;
    const float *scale = c->scale + block * BLOCK;
    return (struct tail){.s0 = _mm256_load_ps(scale),
                         .s1 = _mm256_load_ps(scale + 8),
                         .zp = _mm256_set1_epi16((int16_t)o->zp),
                         .lo = _mm256_set1_epi16((int16_t)o->lo),
                         .hi = _mm256_set1_epi16((int16_t)o->hi),
                         .small = c->small,
                         .is_signed = c->d.has_sum ? c->d.sum.out.is_signed : o->is_signed,
                         .n = n};
}

/* 16 sums as int32 -> bytes at y. */
Q_INLINE void finish(const hd_q_conv *c, const struct tail *t, __m256i a0, __m256i a1,
                     const uint8_t *other, uint8_t *y) {
    __m256 f0 = _mm256_mul_ps(_mm256_cvtepi32_ps(a0), t->s0);
    __m256 f1 = _mm256_mul_ps(_mm256_cvtepi32_ps(a1), t->s1);
    __m256i i0, i1;
    if (t->small)
        i0 = _mm256_cvtps_epi32(f0), i1 = _mm256_cvtps_epi32(f1);
    else
        i0 = q_round(f0), i1 = q_round(f1);
    __m256i q = _mm256_adds_epi16(_mm256_packs_epi32(i0, i1), t->zp); /* as in q_finish */
    q = _mm256_min_epi16(_mm256_max_epi16(q, t->lo), t->hi);
    if (other) q = q_add(q, q_load_n(other, t->n, c->d.sum.b_signed), &c->d.sum);
    q_store_n(y, q, t->is_signed, t->n);
}

/* n_pixels (constant after inlining) x 16 channels. */
Q_INLINE void dense_tile(const hd_q_conv *c, const struct tail *t, const int n_pixels,
                         const int16_t *const *px, int64_t block, const uint8_t *other,
                         uint8_t *y) {
    const int16_t *w = c->w + block * c->n_runs * c->pairs * 32;
    int64_t step = c->d.m_all;
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
        finish(c, t, acc[p][0], acc[p][1], other ? other + p * step : NULL, y + p * step);
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
    int64_t right = sx * c->c_row, down = sy * c->wp * c->c_row - v->ow * right;
    for (int64_t b = first; b < last; b++) {
        int64_t g = b / c->blocks, o = b % c->blocks * BLOCK, n = hd_min(BLOCK, c->mg - o);
        int64_t at = y0 + g * c->mg + o;
        struct tail t = tail_of(c, b, n);
        const int16_t *from = s + g * c->cg;
        uint8_t *to = u->y + at;
        int64_t ox = 0;
        for (int64_t p = 0; p < n_px; p += TILE) {
            const int16_t *px[TILE];
            uint8_t *y = to;
            int count = (int)hd_min(TILE, n_px - p);
            for (int i = 0; i < count; i++) {
                px[i] = from;
                from += right;
                if (++ox == v->ow) ox = 0, from += down;
            }
            to += count * c->d.m_all;
            const uint8_t *other = u->other ? u->other + (y - u->y) : NULL;
            switch (count) {
            case 6:
                dense_tile(c, &t, 6, px, b, other, y);
                break;
            case 5:
                dense_tile(c, &t, 5, px, b, other, y);
                break;
            case 4:
                dense_tile(c, &t, 4, px, b, other, y);
                break;
            case 3:
                dense_tile(c, &t, 3, px, b, other, y);
                break;
            case 2:
                dense_tile(c, &t, 2, px, b, other, y);
                break;
            default:
                dense_tile(c, &t, 1, px, b, other, y);
            }
        }
    }
}

/* n_pixels (constant after inlining) neighbours of a row, 16 channels each. */
Q_INLINE void depthwise_tile(const hd_q_conv *c, const struct tail *t, const int n_pixels,
                             const int16_t *x, int64_t step, int64_t block, const uint8_t *other,
                             uint8_t *y) {
    const int16_t *w = c->w + block * c->pairs * 32;
    int64_t out = c->d.m_all;
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
        finish(c, t, acc[p][0], acc[p][1], other ? other + p * out : NULL, y + p * out);
}

static void depthwise_unit(const struct unit *u, int64_t image, int64_t strip, int64_t block,
                           int16_t *s) {
    const hd_q_conv *c = u->c;
    const struct hd_window *v = &c->d.v;
    int64_t oy0 = strip * c->strip, n_rows = hd_min(c->strip, v->oh - oy0);
    int64_t n = hd_min(BLOCK, v->c - block * BLOCK), step = v->sx * BLOCK;
    struct tail t = tail_of(c, block, n);
    widen_strip(c, u->x + image * v->h * v->w * v->c, oy0, block * BLOCK, n, s);
    for (int64_t oy = 0; oy < n_rows; oy++) {
        int64_t at = ((image * v->oh + oy0 + oy) * v->ow) * v->c + block * BLOCK;
        uint8_t *y = u->y + at;
        const uint8_t *other = u->other ? u->other + at : NULL;
        const int16_t *x = s + oy * v->sy * c->wp * BLOCK;
        int64_t ox = 0;
        for (; ox + 4 <= v->ow; ox += 4)
            depthwise_tile(c, &t, 4, x + ox * step, step, block, other ? other + ox * v->c : NULL,
                           y + ox * v->c);
        for (; ox < v->ow; ox++)
            depthwise_tile(c, &t, 1, x + ox * step, step, block, other ? other + ox * v->c : NULL,
                           y + ox * v->c);
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
