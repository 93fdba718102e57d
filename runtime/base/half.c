/* IEEE binary16 and bfloat16, in integers: the same on every processor. */
#include "runtime/base/half.h"

#include <string.h>

float hd_f16_to_f32(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = h >> 10 & 31, frac = h & 1023, bits;
    if (exp == 31)
        bits = sign | 0x7f800000 | frac << 13;
    else if (exp)
        bits = sign | (exp + 112) << 23 | frac << 13;
    else { /* zero or subnormal: frac * 2^-24 is exact in binary32 */
        float f = (float)frac * 0x1p-24f;
        memcpy(&bits, &f, sizeof bits);
        bits |= sign;
    }
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

uint16_t hd_f32_to_f16(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, mag = bits & 0x7fffffff;
    if (mag > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (mag >> 13 & 0x3ff));
    if (mag >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* 65520 and more */
    if (mag < 0x33000001) return (uint16_t)sign;             /* at most half of the smallest */
    int exp = (int)(mag >> 23), shift = exp >= 113 ? 13 : 126 - exp;
    uint32_t frac = (mag & 0x7fffff) | 0x800000, rest = frac & ((1u << shift) - 1);
    uint32_t half = 1u << (shift - 1), h = frac >> shift;
    if (rest > half || (rest == half && (h & 1))) h++;
    if (exp >= 113) h += (uint32_t)(exp - 113) << 10; /* the leading one adds the last step */
    return (uint16_t)(sign | h);
}

float hd_bf16_to_f32(uint16_t h) {
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

uint16_t hd_f32_to_bf16(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40); /* stays NaN */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
