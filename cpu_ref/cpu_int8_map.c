/* Elementwise and pooling kernels of device cpu on bytes: see cpu_int8.h. Compiled for AVX2. */
#include "cpu_ref/cpu_int8.h"

#include "runtime/base/num.h"

#if defined __x86_64__ && defined __AVX2__
#include "cpu_ref/cpu_avx2.h"

void hd_q_sum_run(const struct hd_q_sum *s, const void *a, const void *b, void *y, int64_t n) {
    const uint8_t *pa = a, *pb = b;
    for (int64_t i = 0; i < n; i += 16) {
        __m256i q =
            q_add(q_load_n(pa + i, n - i, s->a_signed), q_load_n(pb + i, n - i, s->b_signed), s);
        q_store_n((uint8_t *)y + i, q, s->out.is_signed, n - i);
    }
}

void hd_q_rescale_run(const void *x, bool x_signed, int32_t x_zp, float scale, struct hd_q_out out,
                      void *y, int64_t n) {
    const uint8_t *p = x;
    for (int64_t i = 0; i < n; i += 16) {
        __m256 f0, f1;
        q_dequant(q_load_n(p + i, n - i, x_signed), x_zp, scale, &f0, &f1);
        q_store_n((uint8_t *)y + i, q_requant(f0, f1, &out), out.is_signed, n - i);
    }
}

struct clipped { /* a window's taps inside the image */
    int64_t y0, y1, x0, x1;
};

static struct clipped clip(const struct hd_window *v, int64_t oy, int64_t ox) {
    int64_t iy = oy * v->sy - v->pt, ix = ox * v->sx - v->pl;
    struct clipped k = {iy < 0 ? hd_ceil_div(-iy, v->dy) : 0, v->kh,
                        ix < 0 ? hd_ceil_div(-ix, v->dx) : 0, v->kw};
    if (iy + (v->kh - 1) * v->dy >= v->h) k.y1 = hd_ceil_div(v->h - iy, v->dy);
    if (ix + (v->kw - 1) * v->dx >= v->w) k.x1 = hd_ceil_div(v->w - ix, v->dx);
    return k;
}

/* `width` bytes at p, constant after inlining: 32, 16 or 8; the rest is zero. 0: n, fewer than 8.
 */
Q_INLINE __m256i load_bytes(const uint8_t *p, const int width, int64_t n) {
    if (width == 32) return _mm256_loadu_si256((const __m256i *)p);
    if (width == 16) return _mm256_zextsi128_si256(_mm_loadu_si128((const __m128i *)p));
    uint64_t v = 0;
    memcpy(&v, p, width ? 8 : (size_t)n);
    return _mm256_zextsi128_si256(_mm_cvtsi64_si128((long long)v));
}

/* Channels c .. of a window's maximum, at least `width` of them. Signed bytes are compared with
 * their top bit flipped. */
Q_INLINE void max_of(const struct hd_window *v, const struct clipped *k, const uint8_t *from,
                     const int width, int64_t n, __m256i flip, uint8_t *y) {
    __m256i m = _mm256_setzero_si256();
    for (int64_t ky = k->y0; ky < k->y1; ky++)
        for (int64_t kx = k->x0; kx < k->x1; kx++) {
            const uint8_t *p = from + (ky * v->dy * v->w + kx * v->dx) * v->c;
            m = _mm256_max_epu8(m, _mm256_xor_si256(load_bytes(p, width, n), flip));
        }
    bool any = k->y0 < k->y1 && k->x0 < k->x1;
    if (any) m = _mm256_xor_si256(m, flip);
    q_store_32(y, m, width ? width : n);
}

void hd_q_maxpool_run(const struct hd_window *v, bool is_signed, const void *x, void *y) {
    const __m256i flip = _mm256_set1_epi8(is_signed ? -128 : 0);
    uint8_t *out = y;
    for (int64_t n = 0; n < v->n; n++)
        for (int64_t oy = 0; oy < v->oh; oy++)
            for (int64_t ox = 0; ox < v->ow; ox++, out += v->c) {
                struct clipped k = clip(v, oy, ox);
                const uint8_t *from = (const uint8_t *)x + n * v->h * v->w * v->c +
                                      ((oy * v->sy - v->pt) * v->w + ox * v->sx - v->pl) * v->c;
                int64_t c = 0;
                for (; c + 32 <= v->c; c += 32) max_of(v, &k, from + c, 32, 32, flip, out + c);
                if (c + 16 <= v->c) max_of(v, &k, from + c, 16, 16, flip, out + c), c += 16;
                if (c + 8 <= v->c) max_of(v, &k, from + c, 8, 8, flip, out + c), c += 8;
                if (c < v->c) max_of(v, &k, from + c, 0, v->c - c, flip, out + c);
            }
}

/* Taps of the kernel that meet image or padding, from place `at` of the padded image on. */
static int64_t taps_of(int64_t padded, int64_t at, int64_t kernel, int64_t dilation) {
    return hd_min(kernel, hd_ceil_div(padded - at, dilation));
}

/* Values that the mean of a window is of; 0 counts as 1: their sum is 0. */
static int64_t count_of(const struct hd_window *v, const struct clipped *k, bool with_pads,
                        int64_t oy, int64_t ox) {
    if (!with_pads) return hd_max((k->y1 - k->y0) * (k->x1 - k->x0), 1);
    return hd_max(taps_of(v->pt + v->h + v->pb, oy * v->sy, v->kh, v->dy) *
                      taps_of(v->pl + v->w + v->pr, ox * v->sx, v->kw, v->dx),
                  1);
}

void hd_q_avgpool_run(const struct hd_window *v, bool with_pads, bool x_signed, int32_t x_zp,
                      float scale, struct hd_q_out o, const void *x, void *y) {
    uint8_t *out = y;
    for (int64_t n = 0; n < v->n; n++)
        for (int64_t oy = 0; oy < v->oh; oy++)
            for (int64_t ox = 0; ox < v->ow; ox++, out += v->c) {
                struct clipped k = clip(v, oy, ox);
                const uint8_t *image = (const uint8_t *)x + n * v->h * v->w * v->c;
                int64_t count = count_of(v, &k, with_pads, oy, ox);
                __m256 s = _mm256_set1_ps(hd_pool_scale(scale, v->kh * v->kw, count));
                for (int64_t c = 0; c < v->c; c += 16) {
                    int64_t left = v->c - c;
                    __m256i a0 = _mm256_setzero_si256(), a1 = a0, z = _mm256_set1_epi32(x_zp);
                    for (int64_t ky = k.y0; ky < k.y1; ky++)
                        for (int64_t kx = k.x0; kx < k.x1; kx++) {
                            int64_t iy = oy * v->sy + ky * v->dy - v->pt,
                                    ix = ox * v->sx + kx * v->dx - v->pl;
                            __m256i v0, v1;
                            q_split(q_load_n(image + (iy * v->w + ix) * v->c + c, left, x_signed),
                                    &v0, &v1);
                            a0 = _mm256_add_epi32(a0, _mm256_sub_epi32(v0, z));
                            a1 = _mm256_add_epi32(a1, _mm256_sub_epi32(v1, z));
                        }
                    __m256 f0 = _mm256_mul_ps(_mm256_cvtepi32_ps(a0), s);
                    __m256 f1 = _mm256_mul_ps(_mm256_cvtepi32_ps(a1), s);
                    q_store_n(out + c, q_requant(f0, f1, &o), o.is_signed, left);
                }
            }
}

void hd_q_mean_run(int64_t n, int64_t pixels, int64_t c, bool x_signed, int32_t x_zp, float x_scale,
                   float scale, struct hd_q_out o, const void *x, void *y) {
    __m256 s = _mm256_set1_ps(scale);
    int64_t main_count = pixels / 4 * 4;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < c; k += 16) {
            const uint8_t *p = (const uint8_t *)x + i * pixels * c + k;
            __m256 part[4][2], f0, f1;
            for (int j = 0; j < 4; j++) part[j][0] = part[j][1] = _mm256_setzero_ps();
            for (int64_t q = 0; q < main_count; q++) {
                q_dequant(q_load_n(p + q * c, c - k, x_signed), x_zp, x_scale, &f0, &f1);
                part[q % 4][0] = _mm256_add_ps(part[q % 4][0], f0);
                part[q % 4][1] = _mm256_add_ps(part[q % 4][1], f1);
            }
            __m256 s0 = _mm256_add_ps(_mm256_add_ps(part[0][0], part[2][0]),
                                      _mm256_add_ps(part[1][0], part[3][0]));
            __m256 s1 = _mm256_add_ps(_mm256_add_ps(part[0][1], part[2][1]),
                                      _mm256_add_ps(part[1][1], part[3][1]));
            for (int64_t q = main_count; q < pixels; q++) {
                q_dequant(q_load_n(p + q * c, c - k, x_signed), x_zp, x_scale, &f0, &f1);
                s0 = _mm256_add_ps(s0, f0);
                s1 = _mm256_add_ps(s1, f1);
            }
            q_store_n((uint8_t *)y + i * c + k,
                      q_requant(_mm256_mul_ps(s0, s), _mm256_mul_ps(s1, s), &o), o.is_signed,
                      c - k);
        }
}

/* NaN quantises to the zero point: such lanes are made 0. */
Q_INLINE __m256 no_nan(__m256 v) {
    return _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
}

/* n <= 16 floats as int16 in order. */
Q_INLINE __m256i quantized(const float *p, int64_t n, __m256 scale, const struct hd_q_out *o) {
    float t[16] = {0};
    if (n < 16) p = memcpy(t, p, (size_t)n * sizeof *t);
    /* slots: channels 0-3 and 8-11 in the first vector */
    __m256 a = _mm256_loadu_ps(p), b = _mm256_loadu_ps(p + 8);
    __m256 f0 = no_nan(_mm256_div_ps(_mm256_permute2f128_ps(a, b, 0x20), scale));
    __m256 f1 = no_nan(_mm256_div_ps(_mm256_permute2f128_ps(a, b, 0x31), scale));
    return q_requant(f0, f1, o);
}

/* Images: three planes -> [pixels][3]. turn: where each of 48 bytes comes from in each plane. */
static void quantize_3(int64_t pixels, const float *x, __m256 scale, const struct hd_q_out *o,
                       const __m128i turn[9], uint8_t *y) {
    for (int64_t i = 0; i < pixels; i += 16, y += 48) {
        int64_t left = hd_min(16, pixels - i);
        __m128i plane[3], part[3];
        for (int ch = 0; ch < 3; ch++) {
            __m256i q = quantized(x + ch * pixels + i, left, scale, o);
            __m128i lo = _mm256_castsi256_si128(q), hi = _mm256_extracti128_si256(q, 1);
            plane[ch] = o->is_signed ? _mm_packs_epi16(lo, hi) : _mm_packus_epi16(lo, hi);
        }
        for (int k = 0; k < 3; k++) {
            part[k] = _mm_setzero_si128();
            for (int ch = 0; ch < 3; ch++) {
                __m128i from = _mm_shuffle_epi8(plane[ch], turn[3 * k + ch]);
                part[k] = _mm_or_si128(part[k], from);
            }
        }
        memcpy(y, part, (size_t)left * 3);
    }
}

static void quantize_images(int64_t n, int64_t pixels, const float *x, __m256 scale,
                            const struct hd_q_out *o, uint8_t *y) {
    uint8_t bytes[9][16];
    __m128i turn[9];
    memset(bytes, 0x80, sizeof bytes); /* makes 0 */
    for (uint8_t k = 0; k < 48; k++) bytes[k / 16 * 3 + k % 3][k % 16] = k / 3;
    memcpy(turn, bytes, sizeof turn);
    for (; n > 0; n--, x += 3 * pixels, y += 3 * pixels) quantize_3(pixels, x, scale, o, turn, y);
}

void hd_q_quantize_run(int64_t n, int64_t c, int64_t pixels, const float *x, float scale,
                       struct hd_q_out o, void *y) {
    __m256 s = _mm256_set1_ps(scale);
    if (c == 3) {
        quantize_images(n, pixels, x, s, &o, y);
        return;
    }
    for (int64_t plane = 0; plane < n * c; plane++) {
        const float *p = x + plane * pixels;
        uint8_t *q = (uint8_t *)y + plane / c * pixels * c + plane % c;
        for (int64_t i = 0; i < pixels; i += 16) {
            int64_t left = hd_min(16, pixels - i);
            __m256i v = quantized(p + i, left, s, &o);
            if (c == 1) {
                q_store_n(q + i, v, o.is_signed, left);
            } else {
                uint8_t bytes[16];
                q_store_n(bytes, v, o.is_signed, 16);
                for (int64_t k = 0; k < left; k++) q[(i + k) * c] = bytes[k];
            }
        }
    }
}

void hd_q_dynamic_run(const float *x, int64_t n, uint8_t *y, float *scale, uint8_t *zp) {
    __m256 least = _mm256_setzero_ps(), most = least;
    float lo[8], hi[8], min = 0, max = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) { /* of a NaN the second operand is taken */
        __m256 v = _mm256_loadu_ps(x + i);
        least = _mm256_min_ps(v, least);
        most = _mm256_max_ps(v, most);
    }
    _mm256_storeu_ps(lo, least);
    _mm256_storeu_ps(hi, most);
    for (int k = 0; k < 8; k++) min = lo[k] < min ? lo[k] : min, max = hi[k] > max ? hi[k] : max;
    for (; i < n; i++) min = x[i] < min ? x[i] : min, max = x[i] > max ? x[i] : max;
    float s = max == min ? 1.0f : (max - min) / 255.0f;
    struct hd_q_out o = {hd_requant(0.0f - min / s, 0, 0, 255), 0, 255, false};
    for (i = 0; i < n; i += 16) {
        int64_t left = hd_min(16, n - i);
        q_store_n(y + i, quantized(x + i, left, _mm256_set1_ps(s), &o), false, left);
    }
    *scale = s;
    *zp = (uint8_t)o.zp;
}

void hd_q_dequantize_run(const void *x, bool x_signed, int32_t zp, float scale, float *y,
                         int64_t n) {
    const uint8_t *p = x;
    for (int64_t i = 0; i < n; i += 16) {
        int64_t left = hd_min(16, n - i);
        __m256 f0, f1;
        float t[16] = {0};
        q_dequant(q_load_n(p + i, left, x_signed), zp, scale, &f0, &f1);
        float *to = left < 16 ? t : y + i;
        _mm256_storeu_ps(to, _mm256_permute2f128_ps(f0, f1, 0x20));
        _mm256_storeu_ps(to + 8, _mm256_permute2f128_ps(f0, f1, 0x31));
        if (left < 16) memcpy(y + i, t, (size_t)left * sizeof *t);
    }
}
/* v = (a - zp) * left + (b - zp) * right for 16 int16 each, in slots. */
Q_INLINE void mix(__m256i a, __m256i b, const struct hd_q_resize *r, const float *by, __m256 *v0,
                  __m256 *v1) {
    __m256 f0, f1, g0, g1;
    q_dequant(a, r->x_zp, by[0], &f0, &f1);
    q_dequant(b, r->x_zp, by[1], &g0, &g1);
    *v0 = _mm256_add_ps(f0, g0);
    *v1 = _mm256_add_ps(f1, g1);
}

void hd_q_resize_run(const struct hd_q_resize *r, const void *x, void *y) {
    const int64_t row_bytes = r->w * r->c;
    uint8_t *out = y;
    for (int64_t n = 0; n < r->n; n++)
        for (int64_t i = 0; i < r->oh; i++) {
            const uint8_t *image = (const uint8_t *)x + n * r->h * row_bytes;
            const uint8_t *top = image + r->row[i] * row_bytes;
            const uint8_t *low = image + hd_min(r->row[i] + 1, r->h - 1) * row_bytes;
            for (int64_t j = 0; j < r->ow; j++, out += r->c) {
                const int64_t p = r->col[j] * r->c, q = hd_min(r->col[j] + 1, r->w - 1) * r->c;
                const __m256 b0 = _mm256_set1_ps(r->b[2 * j]), b1 = _mm256_set1_ps(r->b[2 * j + 1]);
                for (int64_t c = 0; c < r->c; c += 16) {
                    const int64_t left = r->c - c;
                    __m256 u0, u1, v0, v1;
                    mix(q_load_n(top + p + c, left, r->x_signed),
                        q_load_n(low + p + c, left, r->x_signed), r, r->a + 2 * i, &u0, &u1);
                    mix(q_load_n(top + q + c, left, r->x_signed),
                        q_load_n(low + q + c, left, r->x_signed), r, r->a + 2 * i, &v0, &v1);
                    u0 = _mm256_add_ps(_mm256_mul_ps(u0, b0), _mm256_mul_ps(v0, b1));
                    u1 = _mm256_add_ps(_mm256_mul_ps(u1, b0), _mm256_mul_ps(v1, b1));
                    q_store_n(out + c, q_requant(u0, u1, &r->out), r->out.is_signed, left);
                }
            }
        }
}

#endif
