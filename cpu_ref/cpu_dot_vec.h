/* Vectors of the kernels that multiply bytes by vpdpbusd, in the width that the file is compiled
 * for, HD_LANES: 16 sums with AVX-512 VNNI, 8 with AVX-VNNI. D(op) is the intrinsic `op` of that
 * width.
 *
 * vpdpbusd adds four products of an unsigned and a signed byte to each int32 sum, and does not
 * saturate: sums wrap as golden's do.
 */
#ifndef HD_CPU_REF_CPU_DOT_VEC_H
#define HD_CPU_REF_CPU_DOT_VEC_H

#include "cpu_ref/cpu_int8_int.h" /* also where there is neither: a header is never empty */

#ifdef HD_LANES
#include <immintrin.h>
#include <string.h>

#define D_INLINE static inline __attribute__((always_inline))

enum { LANES = HD_LANES, FULL = 4 * LANES }; /* of a vector: sums, bytes */

#if HD_LANES == 16
typedef __m512i vec;
typedef __m512 vecf;
#define D(op) _mm512_##op

D_INLINE vec d_load(const void *p) {
    return _mm512_loadu_si512(p);
}

D_INLINE void d_store(void *p, vec v) {
    _mm512_storeu_si512(p, v);
}

/* acc + products of the unsigned bytes u and the signed bytes w. */
D_INLINE vec d_dot(vec acc, vec u, vec w) {
    return _mm512_dpbusd_epi32(acc, u, w);
}

/* Dwords of packed bytes: those of four vectors lie in turn in each half, or quarter. */
D_INLINE vec d_order(vec v) {
    return _mm512_permutexvar_epi32(
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
}

/* Part `j` of bytes that are 4 / n_b pixels: n_b * LANES of them. Both constant after inlining. */
D_INLINE void d_put(uint8_t *p, vec v, const int n_b, const int j) {
    __m256i half = j && n_b == 2 ? _mm512_extracti64x4_epi64(v, 1) : _mm512_castsi512_si256(v);
    if (n_b == 4) d_store(p, v);
    if (n_b == 2 || n_b == 3) _mm256_storeu_si256((__m256i *)p, half);
    if (n_b == 3) _mm_storeu_si128((__m128i *)(p + 32), _mm512_extracti32x4_epi32(v, 2));
    if (n_b == 1 && j == 0) _mm_storeu_si128((__m128i *)p, _mm512_castsi512_si128(v));
    if (n_b == 1 && j == 1) _mm_storeu_si128((__m128i *)p, _mm512_extracti32x4_epi32(v, 1));
    if (n_b == 1 && j == 2) _mm_storeu_si128((__m128i *)p, _mm512_extracti32x4_epi32(v, 2));
    if (n_b == 1 && j == 3) _mm_storeu_si128((__m128i *)p, _mm512_extracti32x4_epi32(v, 3));
}

/* n <= FULL bytes, at least 1. */
D_INLINE void d_copy_n(uint8_t *to, const uint8_t *from, int64_t n) {
    const __mmask64 mask = ~0ULL >> (64 - n);
    _mm512_mask_storeu_epi8(to, mask, _mm512_maskz_loadu_epi8(mask, from));
}

/* LANES channels of four neighbouring bytes each, from rows that lie `down` bytes apart; `three`:
 * there is no fourth row. */
D_INLINE vec d_column(const uint8_t *p, int64_t down, const bool three) {
    const __m512i turn =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + down)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + 2 * down)), 2);
    if (!three) v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + 3 * down)), 3);
    return _mm512_shuffle_epi8(d_order(v), turn);
}

/* n <= LANES bytes. */
D_INLINE __m128i d_load_lanes(const uint8_t *p, int64_t n) {
    return _mm_maskz_loadu_epi8((__mmask16)(0xffff >> (LANES - n)), p);
}

#else
typedef __m256i vec;
typedef __m256 vecf;
#define D(op) _mm256_##op

D_INLINE vec d_load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

D_INLINE void d_store(void *p, vec v) {
    _mm256_storeu_si256((__m256i *)p, v);
}

D_INLINE vec d_dot(vec acc, vec u, vec w) {
    return _mm256_dpbusd_avx_epi32(acc, u, w);
}

D_INLINE void d_put(uint8_t *p, vec v, const int n_b, const int j) {
    const __m128i half = j * n_b / 2 ? _mm256_extracti128_si256(v, 1) : _mm256_castsi256_si128(v);
    if (n_b == 2)
        _mm_storeu_si128((__m128i *)p, half);
    else if (j % 2)
        _mm_storeh_pi((__m64 *)p, _mm_castsi128_ps(half));
    else
        _mm_storel_epi64((__m128i *)p, half);
}

D_INLINE void d_copy_n(uint8_t *to, const uint8_t *from, int64_t n) {
    memcpy(to, from, (size_t)n);
}

D_INLINE vec d_column(const uint8_t *p, int64_t down, const bool three) {
    __m128i a = _mm_loadl_epi64((const __m128i *)p), d = _mm_setzero_si128();
    __m128i c = _mm_loadl_epi64((const __m128i *)(p + 2 * down));
    a = _mm_unpacklo_epi8(a, _mm_loadl_epi64((const __m128i *)(p + down)));
    if (!three) d = _mm_loadl_epi64((const __m128i *)(p + 3 * down));
    c = _mm_unpacklo_epi8(c, d);
    return _mm256_set_m128i(_mm_unpackhi_epi16(a, c), _mm_unpacklo_epi16(a, c));
}

D_INLINE __m128i d_load_lanes(const uint8_t *p, int64_t n) {
    uint64_t t = 0;
    memcpy(&t, p, n >= 8 ? 8 : (size_t)n);
    return _mm_cvtsi64_si128((long long)t);
}

D_INLINE vec d_order(vec v) {
    return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
#endif

/* Four bytes at p, in every lane. */
D_INLINE vec d_four(const uint8_t *p) {
    int32_t four;
    memcpy(&four, p, sizeof four);
    return D(set1_epi32)(four);
}

/* ---- sums into bytes ------------------------------------------------------------------------ */

/* What turns int32 sums into bytes, in registers: see q_tail of cpu_avx2.h. */
struct d_tail {
    const struct hd_q_sum *sum; /* a residual sum behind, or NULL */
    vec zp, lo, hi;             /* of what is stored: int16, bytes */
    vec a_zp, a_lo, a_hi, b_zp; /* int32, in front of the sum */
    vecf a_scale, b_scale;
    bool small, small_sum, is_signed; /* small: nothing reaches 2^30 */
};

D_INLINE struct d_tail d_tail_of(const hd_q_conv *c) {
    struct hd_q_out out = c->d.out;
    struct d_tail t = {.small = c->small};
    if (c->d.has_sum) {
        const struct hd_q_sum *s = t.sum = &c->d.sum;
        t.a_zp = D(set1_epi32)(out.zp - s->a_zp);
        t.a_lo = D(set1_epi32)(out.lo - out.zp);
        t.a_hi = D(set1_epi32)(out.hi - out.zp);
        t.b_zp = D(set1_epi32)(s->b_zp);
        t.a_scale = D(set1_ps)(s->a_scale);
        t.b_scale = D(set1_ps)(s->b_scale);
        t.small_sum = hd_q_is_small(s->a_scale) && hd_q_is_small(s->b_scale);
        out = s->out;
    }
    t.zp = D(set1_epi16)((int16_t)out.zp);
    t.lo = D(set1_epi8)((char)out.lo);
    t.hi = D(set1_epi8)((char)out.hi);
    t.is_signed = out.is_signed;
    return t;
}

/* hd_round_f32 for numbers that are not NaN. */
D_INLINE vec d_round(vecf f, bool small) {
    if (!small) f = D(max_ps)(D(min_ps)(f, D(set1_ps)(1073741824.0f)), D(set1_ps)(-1073741824.0f));
    return D(cvtps_epi32)(f);
}

D_INLINE vec d_scaled(const struct d_tail *t, vec sum, vecf scale) {
    return d_round(D(mul_ps)(D(cvtepi32_ps)(sum), scale), t->small);
}

/* A rounded value made a byte, plus `other`, rounded again: docs/numerics.md, qadd. */
D_INLINE vec d_add(const struct d_tail *t, vec v, __m128i other) {
    vec b = t->sum->b_signed ? D(cvtepi8_epi32)(other) : D(cvtepu8_epi32)(other);
    v = D(min_epi32)(D(max_epi32)(v, t->a_lo), t->a_hi);
    vecf a = D(mul_ps)(D(cvtepi32_ps)(D(add_epi32)(v, t->a_zp)), t->a_scale);
    vecf s = D(add_ps)(a, D(mul_ps)(D(cvtepi32_ps)(D(sub_epi32)(b, t->b_zp)), t->b_scale));
    return d_round(s, t->small_sum);
}

/* Four vectors of rounded values -> bytes, zero point added, clamped; in each lane of 128 bits
 * those of the four vectors follow each other. Saturating on the way changes nothing: lo and hi are
 * those of the type or tighter, and the zero point is small. */
D_INLINE vec d_bytes(const struct d_tail *t, const vec v[4]) {
    vec a = D(adds_epi16)(D(packs_epi32)(v[0], v[1]), t->zp);
    vec b = D(adds_epi16)(D(packs_epi32)(v[2], v[3]), t->zp);
    if (t->is_signed) return D(min_epi8)(D(max_epi8)(D(packs_epi16)(a, b), t->lo), t->hi);
    return D(min_epu8)(D(max_epu8)(D(packus_epi16)(a, b), t->lo), t->hi);
}

#endif
#endif
