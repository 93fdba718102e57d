/* Product of two matrices of bytes that are both computed: see cpu_int8_rows.h. Compiled for AVX2.
 *
 * Both operands are widened to int16 less their zero points; vpmaddwd adds two products of int16 to
 * each sum, and saturates nothing. Columns of b are packed 16 at a time, two rows side by side. */
#include "cpu_ref/cpu_int8_rows.h"

#include "runtime/base/num.h"

#if defined __x86_64__ && defined __AVX2__
#include "cpu_ref/cpu_avx2.h"

enum { COLUMNS = 16, ROWS = 4 };

/* Rows of b come in pairs; so do the elements of a row of a. */
static int64_t pairs_of(const struct hd_q_matmul *p) {
    return hd_ceil_div(p->depth, 2);
}

static size_t packed_bytes(const struct hd_q_matmul *p) {
    return (size_t)(pairs_of(p) * COLUMNS * 2) * sizeof(int16_t);
}

size_t hd_q_matmul_scratch(const struct hd_q_matmul *p) {
    size_t wide = (size_t)(p->m * pairs_of(p) * 2) * sizeof(int16_t);
    return packed_bytes(p) + (wide + 63) / 64 * 64;
}

static void widen_rows(const struct hd_q_matmul *p, const uint8_t *a, int16_t *to) {
    const int64_t step = 2 * pairs_of(p);
    for (int64_t i = 0; i < p->m; i++, a += p->depth, to += step) {
        q_widen(to, a, p->depth, p->a_zp, p->a_signed);
        if (step > p->depth) to[p->depth] = 0;
    }
}

/* n <= 16 columns from b on; columns lie in slots. */
static void pack(const struct hd_q_matmul *p, const uint8_t *b, int64_t n, int16_t *to) {
    const __m256i zp = _mm256_set1_epi16((int16_t)p->b_zp);
    for (int64_t d = 0; d < p->depth; d += 2, to += 2 * COLUMNS) {
        const uint8_t *row = b + d * p->n;
        __m256i r0 = _mm256_sub_epi16(q_load_n(row, n, p->b_signed), zp), r1 = zp;
        if (d + 1 < p->depth) r1 = q_load_n(row + p->n, n, p->b_signed);
        r1 = _mm256_sub_epi16(r1, zp);
        _mm256_store_si256((__m256i *)to, _mm256_unpacklo_epi16(r0, r1));
        _mm256_store_si256((__m256i *)(to + COLUMNS), _mm256_unpackhi_epi16(r0, r1));
    }
}

/* `rows`, constant after inlining, by n <= 16 columns. */
Q_INLINE void tile(const struct hd_q_matmul *p, const int rows, const int16_t *a, const int16_t *b,
                   uint8_t *y, int64_t n) {
    const int64_t pairs = pairs_of(p);
    const __m256 scale = _mm256_set1_ps(p->scale);
    __m256i sum[ROWS][2];
    for (int r = 0; r < rows; r++) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
    for (int64_t d = 0; d < pairs; d++, b += 2 * COLUMNS) {
        __m256i b0 = _mm256_load_si256((const __m256i *)b);
        __m256i b1 = _mm256_load_si256((const __m256i *)(b + COLUMNS));
        for (int r = 0; r < rows; r++) {
            int32_t two;
            memcpy(&two, a + 2 * (r * pairs + d), sizeof two);
            __m256i v = _mm256_set1_epi32(two);
            sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(v, b0));
            sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(v, b1));
        }
    }
    for (int r = 0; r < rows; r++) {
        __m256 f0 = _mm256_mul_ps(_mm256_cvtepi32_ps(sum[r][0]), scale);
        __m256 f1 = _mm256_mul_ps(_mm256_cvtepi32_ps(sum[r][1]), scale);
        q_store_n(y + r * p->n, q_requant(f0, f1, &p->out), p->out.is_signed, n);
    }
}

void hd_q_matmul_run(const struct hd_q_matmul *p, const void *a, const void *b, void *y,
                     void *scratch) {
    int16_t *packed = scratch, *wide = (int16_t *)((uint8_t *)scratch + packed_bytes(p));
    const int64_t step = 2 * pairs_of(p);
    widen_rows(p, a, wide);
    for (int64_t j = 0; j < p->n; j += COLUMNS) {
        int64_t n = hd_min(p->n - j, COLUMNS), i = 0;
        uint8_t *to = (uint8_t *)y + j;
        pack(p, (const uint8_t *)b + j, n, packed);
        for (; i + ROWS <= p->m; i += ROWS)
            tile(p, ROWS, wide + i * step, packed, to + i * p->n, n);
        for (; i < p->m; i++) tile(p, 1, wide + i * step, packed, to + i * p->n, n);
    }
}

#endif
