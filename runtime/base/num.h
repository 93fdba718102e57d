/* Checked sizes, rounding up, hashes, and *the* requantisation that docs/numerics.md defines. */
#ifndef HD_BASE_NUM_H
#define HD_BASE_NUM_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* *out = a * b; false (out untouched) on overflow. */
static inline bool hd_size_mul(size_t a, size_t b, size_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

static inline int64_t hd_ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}
static inline int64_t hd_round_up(int64_t a, int64_t b) {
    return hd_ceil_div(a, b) * b;
}
/* Largest multiple of b not above a, for negative a, too. */
static inline int64_t hd_floor_to(int64_t a, int64_t b) {
    return a - ((a % b) + b) % b;
}
static inline int64_t hd_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static inline int64_t hd_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t hd_gcd(int64_t a, int64_t b) {
    return b ? hd_gcd(b, a % b) : a;
}

/* Rounds to the nearest integer, ties to even, saturating at +-2^30 (far beyond any 16-bit range
 * that follows); NaN gives 0. The first half of requantisation. */
static inline int32_t hd_round_f32(float v) {
    if (!(v == v)) return 0;
    if (v >= 1073741824.0f) return 1 << 30;
    if (v <= -1073741824.0f) return -(1 << 30);
    return (int32_t)rintf(v); /* the host rounds to nearest even */
}

/* The same of v * 2^q. */
static inline int32_t hd_round_scaled(float v, int q) {
    double s = ldexp((double)v, q); /* exact */
    if (!(v == v)) return 0;
    if (s >= 1073741824.0) return 1 << 30;
    if (s <= -1073741824.0) return -(1 << 30);
    return (int32_t)rint(s);
}

/* A subnormal number becomes zero, with its sign: every operand and every result of the machine's
 * binary32 arithmetic. docs/numerics.md says where that shows. */
static inline float hd_flush(float v) {
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    if (!(u & UINT32_C(0x7f800000))) u &= UINT32_C(0x80000000);
    memcpy(&v, &u, sizeof v);
    return v;
}

/* y = clamp(rint(v) + zero_point, lo, hi). v is already scaled, in binary32. */
static inline int32_t hd_requant(float v, int32_t zero_point, int32_t lo, int32_t hi) {
    int32_t q = hd_round_f32(v) + zero_point;
    return q < lo ? lo : q > hi ? hi : q;
}

/* Rows of n numbers whose sums are formed in int32 (docs/numerics.md, qsoftmax and qlayernorm): the
 * fraction bits that their terms have. */
static inline int hd_log2_up(int64_t n) {
    int bits = 0;
    while (bits < 62 && (INT64_C(1) << bits) < n) bits++;
    return bits;
}
static inline int hd_softmax_bits(int64_t n) {
    int over = hd_log2_up(n) - 10;
    return over > 0 ? 20 - over : 20;
}
static inline int hd_norm_bits(int64_t n) {
    int bits = 16 - hd_log2_up(n);
    return bits > 14 ? 14 : bits;
}

/* FNV-1a, 32 bit: fingerprints of tables. Start with h = HD_HASH_INIT. */
#define HD_HASH_INIT UINT32_C(2166136261)
static inline uint32_t hd_hash(uint32_t h, const void *data, size_t bytes) {
    const unsigned char *p = (const unsigned char *)data; /* C++ benches read this */
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * UINT32_C(16777619);
    return h;
}

/* Scale of an average over `count` of the `taps` values of a window, whose own scale is for all of
 * them. docs/numerics.md, qavgpool */
static inline float hd_pool_scale(float scale, int64_t taps, int64_t count) {
    return count == taps ? scale : scale * ((float)taps / (float)count);
}

#endif
