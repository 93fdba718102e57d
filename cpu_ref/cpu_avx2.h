/* Sixteen quantised values at a time: pieces that cpu_int8.c and cpu_int8_map.c share. AVX2.
 *
 * Sixteen int32 lie in two vectors so that _mm256_packs_epi32(v0, v1) puts them in order: slot s
 * (vector s / 8, lane half s % 8 / 4) holds channel q_channel(s).
 */
#ifndef HD_CPU_REF_CPU_AVX2_H
#define HD_CPU_REF_CPU_AVX2_H

#include "cpu_ref/cpu_int8.h" /* also where there is no AVX2: a header is never empty */

#if defined __x86_64__ && defined __AVX2__
#include <immintrin.h>
#include <string.h>

#define Q_INLINE static inline __attribute__((always_inline))

/* Slot of channel ch of 16. */
Q_INLINE int q_slot(int ch) {
    return ch / 4 % 2 * 8 + ch / 8 * 4 + ch % 4;
}

/* acc + x . w over pairs of int16, wrapping. */
Q_INLINE __m256i q_madd(__m256i acc, __m256i x, __m256i w) {
#if defined __AVX512VNNI__ && defined __AVX512VL__
    return _mm256_dpwssd_epi32(acc, x, w);
#elif defined __AVXVNNI__
    return _mm256_dpwssd_avx_epi32(acc, x, w);
#else
    return _mm256_add_epi32(acc, _mm256_madd_epi16(x, w));
#endif
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

/* n <= 16 bytes -> 16 int16 less zp; what is beyond n is of no channel. */
Q_INLINE void q_widen_block(int16_t *dst, const uint8_t *src, int64_t n, int32_t zp,
                            bool is_signed) {
    __m256i v = _mm256_sub_epi16(q_load_n(src, n, is_signed), _mm256_set1_epi16((int16_t)zp));
    _mm256_storeu_si256((__m256i *)dst, v);
}

#endif
#endif
