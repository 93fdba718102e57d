/* Table functions: the argument becomes a row and a position t in it, the row's quadratic gives y
 * in units of 2^-27, and y * 2^scale is rounded to binary32. */
#include "runtime/base/fn.h"

#include <stdbool.h>
#include <string.h>

struct row {
    int32_t c0, c1, c2;
};
static const struct row rows[] = {
#define ROW(c0, c1, c2) {c0, c1, c2},
#include "runtime/base/fn.def"
};
enum { /* first row of each table */
#define TABLE(name, n) AT_##name, END_##name = AT_##name + (n)-1,
#include "runtime/base/fn.def"
};

enum { ONE = 1 << 27, T_BITS = 18 };
#define F32_NAN UINT32_C(0x7fc00000)
#define F32_INF UINT32_C(0x7f800000)
#define F32_ONE UINT32_C(0x3f800000)
#define LOG2E   INT64_C(6196328019) /* log2(e) * 2^32 */

/* y of row r at t / 2^18. */
static int32_t value(int r, int32_t t) {
    int64_t slope = rows[r].c1 + (((int64_t)rows[r].c2 * t) >> T_BITS);
    return rows[r].c0 + (int32_t)((slope * t + (1 << (T_BITS - 1))) >> T_BITS);
}

/* y * 2^(scale - 27), y in [0, 2^28], with a sign; to nearest even. */
static uint32_t pack(uint32_t sign, int32_t y, int scale) {
    if (y == 0) return sign;
    if (y == 2 * ONE) y = ONE, scale++;
    while (!(y & ONE)) y <<= 1, scale--;
    uint32_t low = (uint32_t)y & 15, m = (uint32_t)y >> 4; /* 24 bits */
    m += low > 8 || (low == 8 && (m & 1));
    int e = scale + 127;
    if (m >> 24) m >>= 1, e++;
    if (e < 1) return sign;
    if (e > 254) return sign | F32_INF;
    return sign | (uint32_t)e << 23 | (m & 0x7fffff);
}

static uint32_t exp_bits(bool minus, int e, uint32_t m) { /* |x| = m * 2^(e-23) */
    if (e >= 7) return minus ? 0 : F32_INF;
    int64_t v = 0; /* x * log2(e) * 2^24 */
    if (e >= -26) v = (m * LOG2E + (INT64_C(1) << (30 - e))) >> (31 - e);
    if (minus) v = -v;
    int64_t n = v >> 24;
    int32_t f = (int32_t)(v & 0xffffff);
    return pack(0, value(AT_exp + (f >> T_BITS), f & 0x3ffff), (int)n);
}

static uint32_t rcp_bits(uint32_t sign, int e, uint32_t m) {
    uint32_t f = m & 0x7fffff;
    return pack(sign, value(AT_rcp + (int)(f >> 16), (int32_t)(f & 0xffff) << 2), -e);
}

static uint32_t rsqrt_bits(int e, uint32_t m) {
    uint32_t f = m & 0x7fffff;
    int odd = e & 1;
    return pack(0, value(AT_rsq + odd * 64 + (int)(f >> 17), (int32_t)(f & 0x1ffff) << 1),
                -((e - odd) / 2));
}

/* tanh or erf of x * 2^-24, x >= 0, at most 1: tables of [0, 2), [2, 4) and, of tanh, [4, 8). */
static int32_t curve(bool erf, int64_t x) {
    int at = erf ? AT_erf : AT_tanh;
    if (x >= INT64_C(1) << (erf ? 26 : 27)) return ONE;
    int32_t v = (int32_t)x;
    if (v >= 1 << 26) return value(at + 192 + ((v >> 20) & 63), (v & 0xfffff) >> 2);
    if (v >= 1 << 25) return value(at + 128 + ((v >> 19) & 63), (v & 0x7ffff) >> 1);
    return value(at + (v >> T_BITS), v & 0x3ffff);
}

static uint32_t curve_bits(enum hd_fn fn, bool minus, int e, uint32_t m) {
    bool erf = fn == HD_FN_ERF || fn == HD_FN_PHI, half = fn == HD_FN_SIGMOID || fn == HD_FN_PHI;
    if (fn == HD_FN_SIGMOID) e--; /* (1 + tanh(x / 2)) / 2 */
    int64_t x = 0;                /* |x| * 2^24, to nearest, halves up */
    if (e >= 3)
        x = INT64_C(1) << 27;
    else if (e >= -1)
        x = (int64_t)m << (e + 1);
    else if (e >= -25)
        x = (m + (UINT32_C(1) << (-2 - e))) >> (-1 - e);
    int32_t y = curve(erf, x);
    if (half) return pack(0, minus ? ONE - y : ONE + y, -1);
    return pack(minus ? UINT32_C(1) << 31 : 0, y, 0);
}

uint32_t hd_fn_bits(enum hd_fn fn, uint32_t x) {
    uint32_t sign = x & UINT32_C(1) << 31, low = x ^ sign;
    int e = (int)(low >> 23) - 127;
    uint32_t m = (low & 0x7fffff) | 0x800000;
    bool minus = sign != 0, zero = low < 0x800000;
    if (fn == HD_FN_NONE) return x;
    if (low > F32_INF) return F32_NAN;
    if (zero) m = 0, e = -127;
    switch (fn) {
    case HD_FN_EXP:
        return exp_bits(minus, e, m);
    case HD_FN_RCP:
        if (zero) return sign | F32_INF;
        return low == F32_INF ? sign : rcp_bits(sign, e, m);
    case HD_FN_RSQRT:
        if (zero) return F32_INF;
        if (minus) return F32_NAN;
        return low == F32_INF ? 0 : rsqrt_bits(e, m);
    default:
        return curve_bits(fn, minus, e, m);
    }
}

float hd_fn(enum hd_fn fn, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = hd_fn_bits(fn, bits);
    memcpy(&x, &bits, sizeof x);
    return x;
}
