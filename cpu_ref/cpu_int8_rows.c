/* Kernels of device cpu on rows of bytes: see cpu_int8_rows.h. Compiled for AVX2. */
#include "cpu_ref/cpu_int8_rows.h"

#include "runtime/base/fn.h"
#include "runtime/base/num.h"

#if defined __x86_64__ && defined __AVX2__
#include "cpu_ref/cpu_avx2.h"

/* 16 numbers at p, in slots. */
Q_INLINE void load_slots(const float *p, __m256 *v0, __m256 *v1) {
    __m256 lo = _mm256_loadu_ps(p), hi = _mm256_loadu_ps(p + 8);
    *v0 = _mm256_permute2f128_ps(lo, hi, 0x20);
    *v1 = _mm256_permute2f128_ps(lo, hi, 0x31);
}

Q_INLINE void load_ints(const int32_t *p, __m256 *v0, __m256 *v1) {
    __m256i lo = _mm256_loadu_si256((const __m256i *)p),
            hi = _mm256_loadu_si256((const __m256i *)(p + 8));
    *v0 = _mm256_cvtepi32_ps(_mm256_permute2x128_si256(lo, hi, 0x20));
    *v1 = _mm256_cvtepi32_ps(_mm256_permute2x128_si256(lo, hi, 0x31));
}

Q_INLINE int32_t sum_of(__m256i v) {
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
}

/* NaN becomes 0, as in hd_requant. */
Q_INLINE __m256 number(__m256 v) {
    return _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
}

/* ---- softmax -------------------------------------------------------------------------------- */

/* Bytes as unsigned numbers in their order. */
static uint8_t flip_of(bool is_signed) {
    return is_signed ? 0x80 : 0;
}

static const int32_t *exps_of(const int32_t *exps, int max) {
    return exps + max * (max + 1) / 2;
}

void hd_q_softmax_exps(const struct hd_q_softmax *p, int32_t *exps) {
    const int bits = hd_softmax_bits(p->n), least = p->x_signed ? -128 : 0;
    for (int max = 0; max < 256; max++) {
        float top = (float)(max + least) * p->x_scale;
        for (int x = 0; x <= max; x++) {
            float v = (float)(x + least) * p->x_scale;
            *exps++ = hd_round_scaled(hd_fn(HD_FN_EXP, v - top), bits);
        }
    }
}

static int max_of(const uint8_t *x, int64_t n, uint8_t flip) {
    uint8_t max = 0;
    for (int64_t i = 0; i < n; i++) {
        uint8_t v = x[i] ^ flip;
        max = v > max ? v : max;
    }
    return max;
}

/* e of each element, and their sum. */
static int32_t look_up(const int32_t *exps, const uint8_t *x, int64_t n, uint8_t flip, int32_t *e) {
    const __m256i f = _mm256_set1_epi32(flip);
    __m256i sums = _mm256_setzero_si256();
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i at = _mm256_xor_si256(q_load_8(x + i, 8, false), f);
        __m256i v = _mm256_i32gather_epi32(exps, at, 4);
        _mm256_storeu_si256((__m256i *)(e + i), v);
        sums = _mm256_add_epi32(sums, v);
    }
    int32_t sum = sum_of(sums);
    for (; i < n; i++) sum += e[i] = exps[x[i] ^ flip];
    return sum;
}

void hd_q_softmax_run(const struct hd_q_softmax *p, int64_t rows, const void *x, void *y,
                      int32_t *scratch) {
    const float step = ldexpf(1, -hd_softmax_bits(p->n));
    const __m256 e_scale = _mm256_set1_ps(step * p->scale);
    const uint8_t flip = flip_of(p->x_signed), *from = x;
    uint8_t *to = y;
    memset(scratch + p->n, 0, 16 * sizeof *scratch);
    for (int64_t r = 0; r < rows; r++, from += p->n, to += p->n) {
        const int32_t *exps = exps_of(p->exps, max_of(from, p->n, flip));
        int32_t sum = look_up(exps, from, p->n, flip, scratch);
        const __m256 over = _mm256_set1_ps(hd_fn(HD_FN_RCP, (float)sum * step));
        for (int64_t i = 0; i < p->n; i += 16) {
            __m256 e0, e1;
            load_ints(scratch + i, &e0, &e1);
            e0 = _mm256_mul_ps(over, _mm256_mul_ps(e0, e_scale));
            e1 = _mm256_mul_ps(over, _mm256_mul_ps(e1, e_scale));
            q_store_n(to + i, q_requant(number(e0), number(e1), &p->out), p->out.is_signed,
                      p->n - i);
        }
    }
}

/* ---- layer normalisation -------------------------------------------------------------------- */

static int32_t sum_row(const uint8_t *x, int64_t n, bool is_signed) {
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sums = _mm256_setzero_si256();
    for (int64_t i = 0; i < n; i += 16)
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(q_load_n(x + i, n - i, is_signed), ones));
    return sum_of(sums);
}

/* d = x - mean, and the sum of its squares in steps of 2^-bits. */
static int32_t deviations(const struct hd_q_norm *p, const uint8_t *x, float mean, float *d) {
    const __m256 from = _mm256_set1_ps(mean);
    const __m256 steps = _mm256_set1_ps(ldexpf(1, hd_norm_bits(p->n)));
    const __m256i left = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i sums = _mm256_setzero_si256();
    for (int64_t i = 0; i < p->n; i += 8) {
        int64_t n = hd_min(p->n - i, 8);
        __m256 v = _mm256_cvtepi32_ps(q_load_8(x + i, n, p->x_signed));
        v = _mm256_sub_ps(v, from);
        __m256i q = q_round(_mm256_mul_ps(_mm256_mul_ps(v, v), steps));
        q = _mm256_and_si256(q, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), left));
        sums = _mm256_add_epi32(sums, q);
        _mm256_storeu_ps(d + i, v);
    }
    return sum_of(sums);
}

void hd_q_norm_run(const struct hd_q_norm *p, int64_t rows, const void *x, const float *scale,
                   const float *bias, void *y, float *scratch) {
    const float per = 1.0f / (float)p->n, per_square = ldexpf(per, -hd_norm_bits(p->n));
    const int64_t whole = p->n / 16 * 16;
    const uint8_t *from = x;
    uint8_t *to = y;
    float s_end[16] = {0}, b_end[16] = {0};
    memcpy(s_end, scale + whole, (size_t)(p->n - whole) * sizeof *scale);
    memcpy(b_end, bias + whole, (size_t)(p->n - whole) * sizeof *bias);
    memset(scratch + p->n, 0, 16 * sizeof *scratch);
    for (int64_t r = 0; r < rows; r++, from += p->n, to += p->n) {
        float mean = p->centred ? (float)sum_row(from, p->n, p->x_signed) * per : (float)p->x_zp;
        float var = (float)deviations(p, from, mean, scratch) * per_square;
        const __m256 over = _mm256_set1_ps(hd_fn(HD_FN_RSQRT, var + p->epsilon));
        for (int64_t i = 0; i < p->n; i += 16) {
            __m256 d0, d1, s0, s1, b0, b1;
            load_slots(scratch + i, &d0, &d1);
            load_slots(i < whole ? scale + i : s_end, &s0, &s1);
            load_slots(i < whole ? bias + i : b_end, &b0, &b1);
            d0 = _mm256_add_ps(_mm256_mul_ps(_mm256_mul_ps(d0, s0), over), b0);
            d1 = _mm256_add_ps(_mm256_mul_ps(_mm256_mul_ps(d1, s1), over), b1);
            q_store_n(to + i, q_requant(number(d0), number(d1), &p->out), p->out.is_signed,
                      p->n - i);
        }
    }
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* 16 of an operand; one that does not step is all the same. */
Q_INLINE __m256i load_pair(const uint8_t *p, bool steps, int64_t i, int64_t left, bool is_signed) {
    if (steps) return q_load_n(p + i, left, is_signed);
    return _mm256_set1_epi16((int16_t)(is_signed ? (int8_t)*p : *p));
}

Q_INLINE void pair(const bool product, const struct hd_q_sum *s, const uint8_t *a, bool a_steps,
                   const uint8_t *b, bool b_steps, uint8_t *y, int64_t n) {
    for (int64_t i = 0; i < n; i += 16) {
        __m256i qa = load_pair(a, a_steps, i, n - i, s->a_signed);
        __m256i qb = load_pair(b, b_steps, i, n - i, s->b_signed), q;
        __m256 a0, a1, b0, b1;
        q_dequant(qa, s->a_zp, s->a_scale, &a0, &a1);
        q_dequant(qb, s->b_zp, s->b_scale, &b0, &b1);
        q = product ? q_requant(_mm256_mul_ps(a0, b0), _mm256_mul_ps(a1, b1), &s->out)
                    : q_requant(_mm256_add_ps(a0, b0), _mm256_add_ps(a1, b1), &s->out);
        q_store_n(y + i, q, s->out.is_signed, n - i);
    }
}

void hd_q_pair_run(const struct hd_q_pair *p, const uint8_t *a, bool a_steps, const uint8_t *b,
                   bool b_steps, uint8_t *y, int64_t n) {
    if (p->product)
        pair(true, &p->of, a, a_steps, b, b_steps, y, n);
    else
        pair(false, &p->of, a, a_steps, b, b_steps, y, n);
}

#endif
