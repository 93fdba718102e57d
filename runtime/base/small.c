/* Floats of one byte and less: the same on every processor. */
#include "runtime/base/small.h"

#include <math.h>

static const struct form {
    int exponent, fraction, bias; /* bits, bits, and what is taken from the exponent */
    bool inf, nan, fnuz;
} forms[] = {[HD_SMALL_E4M3FN] = {4, 3, 7, false, true, false},
             [HD_SMALL_E4M3FNUZ] = {4, 3, 8, false, true, true},
             [HD_SMALL_E5M2] = {5, 2, 15, true, true, false},
             [HD_SMALL_E5M2FNUZ] = {5, 2, 16, false, true, true},
             [HD_SMALL_E2M1] = {2, 1, 1, false, false, false},
             [HD_SMALL_E4M3] = {4, 3, 7, true, true, false},
             [HD_SMALL_E3M4] = {3, 4, 3, true, true, false},
             [HD_SMALL_E4M3B11FNUZ] = {4, 3, 11, false, true, true},
             [HD_SMALL_E2M3] = {2, 3, 1, false, false, false},
             [HD_SMALL_E3M2] = {3, 2, 3, false, false, false}};

enum { POWER_BIAS = 127, POWER_NAN = 255 };

static uint8_t sign_bit(const struct form *f) {
    return (uint8_t)(1u << (f->exponent + f->fraction));
}

/* Bits of the largest finite number: all ones, less what stands for NaN and infinity. */
static uint8_t largest(const struct form *f) {
    unsigned all = sign_bit(f) - 1u;
    if (f->inf) return (uint8_t)(all - (1u << f->fraction));
    return (uint8_t)(f->nan && !f->fnuz ? all - 1 : all);
}

static uint8_t nan_bits(const struct form *f, bool negative) {
    if (f->fnuz) return sign_bit(f);
    return f->nan ? (uint8_t)((sign_bit(f) - 1u) | (negative ? sign_bit(f) : 0u)) : 0;
}

double hd_small_value(enum hd_small t, uint8_t bits) {
    if (t == HD_SMALL_E8M0) return bits == POWER_NAN ? (double)NAN : ldexp(1, bits - POWER_BIAS);
    const struct form *f = &forms[t];
    unsigned sign = sign_bit(f), mag = bits & (sign - 1u), e = mag >> f->fraction,
             frac = mag & ((1u << f->fraction) - 1u);
    bool negative = (bits & sign) != 0;
    if (f->fnuz && negative && !mag) return (double)NAN;
    if (mag > largest(f) && f->nan)
        return f->inf && !frac ? (negative ? -(double)INFINITY : (double)INFINITY) : (double)NAN;
    double v = e ? ldexp((double)(frac + (1u << f->fraction)), (int)e - f->bias - f->fraction)
                 : ldexp((double)frac, 1 - f->bias - f->fraction);
    return negative ? -v : v;
}

uint8_t hd_small_power(double v, int dir, bool saturate) {
    int e = 0;
    if (v != v) return POWER_NAN;
    if (isinf(v)) return saturate && v > 0 ? POWER_NAN - 1 : POWER_NAN;
    if (v <= 0) return saturate ? 0 : POWER_NAN;
    double f = frexp(v, &e) * 2; /* 1 <= f < 2, v = f * 2^(e - 1) */
    e -= 1;
    if (dir > 0 ? f > 1 : dir < 0 ? false : f >= 1.5) e++;
    e += POWER_BIAS;
    if (e < 0) return saturate ? 0 : POWER_NAN;
    return (uint8_t)(e < POWER_NAN ? e : saturate ? POWER_NAN - 1 : POWER_NAN);
}

uint8_t hd_small_bits(enum hd_small t, double v, bool saturate) {
    if (t == HD_SMALL_E8M0) return hd_small_power(v, 1, saturate);
    const struct form *f = &forms[t];
    bool negative = signbit(v) != 0;
    uint8_t sign = negative ? sign_bit(f) : 0, top = largest(f);
    if (v != v) return nan_bits(f, negative);
    double mag = fabs(v);
    int e = 0, least = 1 - f->bias;
    if (!isinf(mag)) frexp(mag, &e);
    e = mag == 0 || e - 1 < least ? least : e - 1;
    double step = ldexp(1, e - f->fraction), n = isinf(mag) ? mag : rint(mag / step);
    if (n * step > hd_small_value(t, top)) {
        if (saturate || !f->nan) return sign | top;
        return f->inf ? (uint8_t)(sign | (top + 1)) : nan_bits(f, negative);
    }
    /* n has the leading one of a normal number, which adds 1 to the exponent below; a carry, too */
    unsigned bits = (unsigned)n + ((unsigned)(e - least) << f->fraction);
    return (uint8_t)(f->fnuz && !bits ? 0 : sign | bits);
}
