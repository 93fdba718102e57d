/* Sixteen quantised values at a time: pieces that cpu_int8.c and cpu_int8_map.c share. AVX2.
 *
 * Sixteen int32 lie in two vectors so that _mm256_packs_epi32(v0, v1) puts them in order: slot s
 * (vector s / 8, lane half s % 8 / 4) holds channel q_channel(s).
 */
#ifndef HD_CPU_REF_CPU_AVX2_H
#define HD_CPU_REF_CPU_AVX2_H

#include "cpu_ref/cpu_int8_int.h" /* also where there is no AVX2: a header is never empty */

#if defined __x86_64__ && defined __AVX2__
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#define Q_INLINE static inline __attribute__((always_inline))

/* Slot of channel ch of 16. */
Q_INLINE int q_slot(int ch) {
    return ch / 4 % 2 * 8 + ch / 8 * 4 + ch % 4;
}

/* Zeroed memory of n elements, 64-byte aligned; free() frees it. */
static inline void *hd_q_grab(size_t n, size_t size) {
    size_t bytes = (n * size + 127) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

/* Four bytes at p, in every lane. */
Q_INLINE __m256i q_four(const uint8_t *p) {
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm256_set1_epi32(four);
}

/* Products, in pairs, of the four unsigned bytes at p + step * scale (constant: 1, 2, 4 or 8) with
 * eight channels' signed ones. Written out, as compilers load ahead until the sums no longer fit
 * the registers, and compute addresses that cost nothing as part of the load. */
Q_INLINE __m256i q_quad(const uint8_t *p, int64_t step, const int scale, __m256i w) {
    __m256i v;
    __asm__ volatile("vpbroadcastd (%1,%2,%c3), %0\n\tvpmaddubsw %4, %0, %0"
                     : "=&x"(v)
                     : "r"(p), "r"(step), "i"(scale), "x"(w), "m"(*(const uint8_t(*)[1 << 20]) p));
    return v;
}

/* hd_round_f32 for numbers that are not NaN. */
Q_INLINE __m256i q_round(__m256 v) {
    const __m256 most = _mm256_set1_ps(1073741824.0f), least = _mm256_set1_ps(-1073741824.0f);
    return _mm256_cvtps_epi32(_mm256_max_ps(_mm256_min_ps(v, most), least));
}

/* Rounded values in slots -> 16 int16 in order, zero point added, clamped. Saturating to int16
 * before the sum changes nothing: lo and hi are those of a byte, and zp is small. */
Q_INLINE __m256i q_finish(__m256i i0, __m256i i1, const struct hd_q_out *o) {
    __m256i q = _mm256_packs_epi32(i0, i1);
    q = _mm256_adds_epi16(q, _mm256_set1_epi16((int16_t)o->zp));
    q = _mm256_max_epi16(q, _mm256_set1_epi16((int16_t)o->lo));
    return _mm256_min_epi16(q, _mm256_set1_epi16((int16_t)o->hi));
}

/* Two vectors of slots -> 16 int16 in order: hd_requant. */
Q_INLINE __m256i q_requant(__m256 v0, __m256 v1, const struct hd_q_out *o) {
    return q_finish(q_round(v0), q_round(v1), o);
}

/* 16 int16 -> two vectors of slots. */
Q_INLINE void q_split(__m256i q, __m256i *v0, __m256i *v1) {
    __m256i sign = _mm256_srai_epi16(q, 15);
    *v0 = _mm256_unpacklo_epi16(q, sign);
    *v1 = _mm256_unpackhi_epi16(q, sign);
}

Q_INLINE __m256i q_widen16(__m128i b, bool is_signed) {
    return is_signed ? _mm256_cvtepi8_epi16(b) : _mm256_cvtepu8_epi16(b);
}

/* n <= 16 bytes, widened; the rest is zero. */
Q_INLINE __m256i q_load_n(const uint8_t *p, int64_t n, bool is_signed) {
    if (n >= 16) return q_widen16(_mm_loadu_si128((const __m128i *)p), is_signed);
    uint8_t t[16] = {0};
    memcpy(t, p, (size_t)n);
    return q_widen16(_mm_loadu_si128((const __m128i *)t), is_signed);
}

Q_INLINE void q_store_n(uint8_t *p, __m256i q, bool is_signed, int64_t n) {
    __m128i lo = _mm256_castsi256_si128(q), hi = _mm256_extracti128_si256(q, 1);
    __m128i b = is_signed ? _mm_packs_epi16(lo, hi) : _mm_packus_epi16(lo, hi);
    if (n >= 16) {
        _mm_storeu_si128((__m128i *)p, b);
        return;
    }
    uint8_t t[16];
    _mm_storeu_si128((__m128i *)t, b);
    memcpy(p, t, (size_t)n);
}

/* (q - zp) * scale for 16 int16, in slots. */
Q_INLINE void q_dequant(__m256i q, int32_t zp, float scale, __m256 *f0, __m256 *f1) {
    __m256i v0, v1, z = _mm256_set1_epi32(zp);
    __m256 s = _mm256_set1_ps(scale);
    q_split(q, &v0, &v1);
    *f0 = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(v0, z)), s);
    *f1 = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(v1, z)), s);
}

/* The sum of docs/numerics.md, qadd, for 16 int16 each. */
Q_INLINE __m256i q_add(__m256i a, __m256i b, const struct hd_q_sum *s) {
    __m256 a0, a1, b0, b1;
    q_dequant(a, s->a_zp, s->a_scale, &a0, &a1);
    q_dequant(b, s->b_zp, s->b_scale, &b0, &b1);
    return q_requant(_mm256_add_ps(a0, b0), _mm256_add_ps(a1, b1), &s->out);
}

/* n bytes -> int16 less zp. */
Q_INLINE void q_widen(int16_t *dst, const uint8_t *src, int64_t n, int32_t zp, bool is_signed) {
    __m256i z = _mm256_set1_epi16((int16_t)zp);
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i b = _mm_loadu_si128((const __m128i *)(src + i));
        _mm256_storeu_si256((__m256i *)(dst + i), _mm256_sub_epi16(q_widen16(b, is_signed), z));
    }
    for (; i < n; i++) dst[i] = (int16_t)((is_signed ? (int)(int8_t)src[i] : (int)src[i]) - zp);
}

/* n bytes, xor flip. */
Q_INLINE void q_flip(uint8_t *dst, const uint8_t *src, int64_t n, uint8_t flip) {
    if (!flip) {
        memcpy(dst, src, (size_t)n);
        return;
    }
    __m256i f = _mm256_set1_epi8((char)flip);
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i b = _mm256_loadu_si256((const __m256i *)(src + i));
        _mm256_storeu_si256((__m256i *)(dst + i), _mm256_xor_si256(b, f));
    }
    for (; i < n; i++) dst[i] = src[i] ^ flip;
}

/* n <= 8 bytes as int32; the rest is zero. */
Q_INLINE __m256i q_load_8(const uint8_t *p, int64_t n, bool is_signed) {
    uint64_t v = 0;
    memcpy(&v, p, n >= 8 ? 8 : (size_t)n);
    __m128i b = _mm_cvtsi64_si128((long long)v);
    return is_signed ? _mm256_cvtepi8_epi32(b) : _mm256_cvtepu8_epi32(b);
}

/* The low n <= 8 bytes. */
Q_INLINE void q_store_8(uint8_t *p, __m128i b, int64_t n) {
    if (n >= 8) {
        _mm_storel_epi64((__m128i *)p, b);
        return;
    }
    uint64_t v = (uint64_t)_mm_cvtsi128_si64(b);
    for (; n > 0; n--, v >>= 8) *p++ = (uint8_t)v;
}

/* The first n <= 32 bytes. */
Q_INLINE void q_store_32(uint8_t *p, __m256i b, int64_t n) {
    if (n >= 32) {
        _mm256_storeu_si256((__m256i *)p, b);
        return;
    }
    __m128i part = _mm256_castsi256_si128(b);
    if (n >= 16) {
        _mm_storeu_si128((__m128i *)p, part);
        p += 16, n -= 16;
        part = _mm256_extracti128_si256(b, 1);
    }
    if (n >= 8) {
        _mm_storel_epi64((__m128i *)p, part);
        p += 8, n -= 8;
        part = _mm_unpackhi_epi64(part, part);
    }
    q_store_8(p, part, n);
}

/* ---- sums of products into bytes ------------------------------------------------------------ */

/* What turns int32 sums into bytes, in registers: stores of bytes may alias anything, so that what
 * is read through a pointer would be read again for every pixel. */
struct q_tail {
    const struct hd_q_sum *sum; /* a residual sum behind, or NULL */
    __m256i zp, lo, hi;         /* int16, of what is stored */
    __m256i lo8, hi8;
    __m256i a_zp, a_lo, a_hi; /* int32, in front of the sum: less the zero point; what is missing */
    bool small, small_sum, is_signed; /* small: nothing reaches 2^30 */
};

/* `small`: no sum times its scale reaches 2^30. */
Q_INLINE struct q_tail q_tail_of(struct hd_q_out out, const struct hd_q_sum *sum, bool small) {
    struct q_tail t = {.sum = sum, .small = small};
    if (sum) {
        t.a_zp = _mm256_set1_epi32(out.zp - sum->a_zp);
        t.a_lo = _mm256_set1_epi32(out.lo - out.zp);
        t.a_hi = _mm256_set1_epi32(out.hi - out.zp);
        t.small_sum = hd_q_is_small(sum->a_scale) && hd_q_is_small(sum->b_scale);
        out = sum->out;
    }
    t.zp = _mm256_set1_epi16((int16_t)out.zp);
    t.lo = _mm256_set1_epi16((int16_t)out.lo);
    t.hi = _mm256_set1_epi16((int16_t)out.hi);
    t.lo8 = _mm256_set1_epi8((char)out.lo);
    t.hi8 = _mm256_set1_epi8((char)out.hi);
    t.is_signed = out.is_signed;
    return t;
}

Q_INLINE __m256i q_tail_round(const struct q_tail *t, __m256i acc, __m256 scale) {
    __m256 f = _mm256_mul_ps(_mm256_cvtepi32_ps(acc), scale);
    return t->small ? _mm256_cvtps_epi32(f) : q_round(f);
}

/* A rounded value made a byte, plus `other`, rounded again: docs/numerics.md, qadd. */
Q_INLINE __m256i q_tail_sum(const struct q_tail *t, __m256i v, __m256i other) {
    const struct hd_q_sum *s = t->sum;
    v = _mm256_min_epi32(_mm256_max_epi32(v, t->a_lo), t->a_hi);
    v = _mm256_add_epi32(v, t->a_zp);
    other = _mm256_sub_epi32(other, _mm256_set1_epi32(s->b_zp));
    __m256 a = _mm256_mul_ps(_mm256_cvtepi32_ps(v), _mm256_set1_ps(s->a_scale));
    __m256 b = _mm256_mul_ps(_mm256_cvtepi32_ps(other), _mm256_set1_ps(s->b_scale));
    __m256 f = _mm256_add_ps(a, b);
    return t->small_sum ? _mm256_cvtps_epi32(f) : q_round(f);
}

/* Rounded values -> int16 with the zero point; not clamped yet. */
Q_INLINE __m256i q_tail_words(const struct q_tail *t, __m256i v0, __m256i v1) {
    return _mm256_adds_epi16(_mm256_packs_epi32(v0, v1), t->zp); /* as in q_finish */
}

Q_INLINE __m256i q_tail_clamp(const struct q_tail *t, __m256i words) {
    return _mm256_min_epi16(_mm256_max_epi16(words, t->lo), t->hi);
}

/* Two vectors of int16 -> 32 bytes, clamped. lo and hi are those of the type or tighter, so that
 * saturating to it first changes nothing. */
Q_INLINE __m256i q_tail_bytes(const struct q_tail *t, __m256i w0, __m256i w1) {
    if (t->is_signed)
        return _mm256_min_epi8(_mm256_max_epi8(_mm256_packs_epi16(w0, w1), t->lo8), t->hi8);
    return _mm256_min_epu8(_mm256_max_epu8(_mm256_packus_epi16(w0, w1), t->lo8), t->hi8);
}

#endif
#endif
