/* Strided copies: see cpu_copy.h. */
#include "cpu_ref/cpu_copy.h"

#include <string.h>

#include "runtime/base/num.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { TILE = 32 };

#define TRANSPOSE(type)                                                                            \
    static void transpose_##type(type *restrict d, const type *restrict s, int64_t rows,           \
                                 int64_t cols, int64_t ds, int64_t ss) {                           \
        for (int64_t r0 = 0; r0 < rows; r0 += TILE)                                                \
            for (int64_t c0 = 0; c0 < cols; c0 += TILE) {                                          \
                int64_t r1 = hd_min(rows, r0 + TILE), c1 = hd_min(cols, c0 + TILE);                \
                for (int64_t c = c0; c < c1; c++)                                                  \
                    for (int64_t r = r0; r < r1; r++) d[c * ds + r] = s[r * ss + c];               \
            }                                                                                      \
    }
TRANSPOSE(uint8_t)
TRANSPOSE(uint16_t)
TRANSPOSE(uint32_t)
TRANSPOSE(uint64_t)

#ifdef __SSE2__
static inline __attribute__((always_inline)) void interleave(const __m128i v[16], __m128i w[16]) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        w[2 * i] = _mm_unpacklo_epi8(v[i], v[i + 8]);
        w[2 * i + 1] = _mm_unpackhi_epi8(v[i], v[i + 8]);
    }
}

/* 16 x 16 bytes: four times, vectors i and i + 8 are interleaved. */
static void turn_16(uint8_t *d, const uint8_t *s, int64_t ds, int64_t ss) {
    __m128i v[16], w[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) v[i] = _mm_loadu_si128((const __m128i *)(s + i * ss));
    interleave(v, w);
    interleave(w, v);
    interleave(v, w);
    interleave(w, v);
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) _mm_storeu_si128((__m128i *)(d + i * ds), v[i]);
}

/* At least 16 rows and columns; the last ones of each are turned twice where 16 does not divide. */
static void transpose_bytes(uint8_t *d, const uint8_t *s, int64_t rows, int64_t cols, int64_t ds,
                            int64_t ss) {
    enum { SIDE = 64 };
    for (int64_t r0 = 0; r0 < rows; r0 += SIDE)
        for (int64_t c0 = 0; c0 < cols; c0 += SIDE)
            for (int64_t r = r0; r < hd_min(rows, r0 + SIDE); r += 16)
                for (int64_t c = c0; c < hd_min(cols, c0 + SIDE); c += 16) {
                    int64_t row = hd_min(r, rows - 16), col = hd_min(c, cols - 16);
                    turn_16(d + col * ds + row, s + row * ss + col, ds, ss);
                }
}
#else
#define transpose_bytes transpose_uint8_t
#endif

/* d[c * ds + r] = s[r * ss + c] */
static void transpose(void *d, const void *s, int64_t rows, int64_t cols, int64_t ds, int64_t ss,
                      int size) {
    if (size == 1 && rows >= 16 && cols >= 16)
        transpose_bytes(d, s, rows, cols, ds, ss);
    else if (size == 1)
        transpose_uint8_t(d, s, rows, cols, ds, ss);
    else if (size == 2)
        transpose_uint16_t(d, s, rows, cols, ds, ss);
    else if (size == 4)
        transpose_uint32_t(d, s, rows, cols, ds, ss);
    else
        transpose_uint64_t(d, s, rows, cols, ds, ss);
}

void hd_copy_transpose(void *dst, const void *src, int64_t rows, int64_t cols, int size) {
    transpose(dst, src, rows, cols, rows, cols, size);
}

void hd_copy_simplify(struct hd_copy *c) {
    int n = 0;
    for (int d = 0; d < c->rank; d++) {
        if (c->dim[d] == 1) continue;
        if (n && c->dst[n - 1] == c->dst[d] * c->dim[d] && c->src[n - 1] == c->src[d] * c->dim[d]) {
            c->dim[n - 1] *= c->dim[d];
            c->dst[n - 1] = c->dst[d];
            c->src[n - 1] = c->src[d];
            continue;
        }
        c->dim[n] = c->dim[d];
        c->dst[n] = c->dst[d];
        c->src[n++] = c->src[d];
    }
    if (!n) c->dim[n] = 1, c->dst[n] = c->src[n] = 1, n = 1;
    c->rank = n;
}

#define ROW(type)                                                                                  \
    static void row_##type(type *restrict d, const type *restrict s, int64_t n, int64_t ds,        \
                           int64_t ss) {                                                           \
        for (int64_t i = 0; i < n; i++) d[i * ds] = s[i * ss];                                     \
    }
ROW(uint8_t)
ROW(uint16_t)
ROW(uint32_t)
ROW(uint64_t)

static void row(void *d, const void *s, int64_t n, int64_t ds, int64_t ss, int size) {
    if (ds == 1 && ss == 1)
        memcpy(d, s, (size_t)(n * size));
    else if (size == 1)
        row_uint8_t(d, s, n, ds, ss);
    else if (size == 2)
        row_uint16_t(d, s, n, ds, ss);
    else if (size == 4)
        row_uint32_t(d, s, n, ds, ss);
    else
        row_uint64_t(d, s, n, ds, ss);
}

void hd_copy_run(const struct hd_copy *c, void *dst, const void *src) {
    int64_t at[HD_MAX_RANK + 2] = {0};
    int last = c->rank - 1, other = -1, outer = last;
    for (int d = 0; d < c->rank; d++)
        if (c->dim[d] == 0) return;
    /* A transpose of the last dimension with the one that is adjacent on the other side. */
    for (int d = 0; d < last; d++)
        if ((c->dst[last] == 1 && c->src[d] == 1) || (c->src[last] == 1 && c->dst[d] == 1))
            other = d;
    bool turned = other >= 0 && !(c->dst[last] == 1 && c->src[last] == 1);
    for (;;) {
        int64_t od = 0, os = 0;
        for (int d = 0; d < outer; d++) od += at[d] * c->dst[d], os += at[d] * c->src[d];
        char *to = (char *)dst + od * c->size;
        const char *from = (const char *)src + os * c->size;
        if (!turned)
            row(to, from, c->dim[last], c->dst[last], c->src[last], c->size);
        else if (c->dst[last] == 1)
            transpose(to, from, c->dim[last], c->dim[other], c->dst[other], c->src[last], c->size);
        else
            transpose(to, from, c->dim[other], c->dim[last], c->dst[last], c->src[other], c->size);
        int d = outer - 1;
        for (; d >= 0; d--) {
            if (turned && d == other) continue;
            if (++at[d] < c->dim[d]) break;
            at[d] = 0;
        }
        if (d < 0) return;
    }
}
