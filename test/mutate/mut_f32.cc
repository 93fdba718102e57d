// One of the binary32 cells (-DUNIT_add and so on), one lane, against the host's arithmetic: corner
// operands, then random ones. The result stays until the next one; a reset drops what is under way.
#include <cmath>

#include "test/mutate/mutants.h"
extern "C" {
#include "runtime/base/fn.h"
#include "runtime/base/num.h"
}

namespace {

const uint32_t kCorner[] = {0,          1,          2,          0x007fffff, 0x00800000, 0x00800001,
                            0x0c000000, 0x1f800000, 0x33800000, 0x3effffff, 0x3f000000, 0x3f000001,
                            0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40200000, 0x4affffff,
                            0x4b000001, 0x4b800000, 0x4e7fffff, 0x4e800000, 0x4f000000, 0x5f000000,
                            0x7effffff, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000};
constexpr int kCorners = sizeof kCorner / sizeof kCorner[0];

float as_float(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}

uint32_t as_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return f == f ? u : 0x7fc00000u;
}

uint32_t operand(uint32_t near) {
    uint32_t u = uint32_t(rng());
    switch (rng() % 10) {
    case 0:
        return kCorner[rng() % kCorners] ^ (u & 0x80000000u);
    case 1:
        return (u & 0x807fffffu) | uint32_t(rng() % 3) << 23;
    case 2:
        return (u & 0x807fffffu) | uint32_t(100 + rng() % 60) << 23;
    case 3:
        return (u & 0x80000000u) | uint32_t(rng() >> 20 >> rng() % 32);
    case 4:
        return near ^ 0x80000000u ^ (u & ((1u << rng() % 28) - 1));
    case 5:
        return as_bits(float(int32_t(u) >> rng() % 32) * 0.5f);
    case 6:
        return (near & 0xff800000u) + (uint32_t(rng() % 50) << 23) + (u & 0x7fffff);
    case 7: // a product with `near` about the smallest numbers
        return (u & 0x807fffffu) | ((127 - (near >> 23 & 0xff) + uint32_t(rng() % 36) - 30) & 0xff)
                                       << 23;
    case 8: // the same, and a mantissa of few bits
        return (u & 0x80000000u) |
               ((127 - (near >> 23 & 0xff) + uint32_t(rng() % 36) - 30) & 0xff) << 23 |
               ((1u << rng() % 24 | 1u << rng() % 24) & 0x7fffff);
    default:
        return u;
    }
}

// The unit's other operands and its result. Bits of y_o outside the mask are free.
#if defined UNIT_from_int
constexpr int kDelay = 2;
uint32_t drive(Vunit &top, uint32_t a, uint32_t, uint32_t *) {
    top.raw_i = chance(20);
    return top.raw_i ? a : as_bits(float(int32_t(a)));
}
#elif defined UNIT_mul
constexpr int kDelay = 4;
uint32_t drive(Vunit &top, uint32_t a, uint32_t b, uint32_t *) {
    top.b_i = b;
    return as_bits(hd_flush(hd_flush(as_float(a)) * hd_flush(as_float(b))));
}
#elif defined UNIT_add
constexpr int kDelay = 4;
uint32_t drive(Vunit &top, uint32_t a, uint32_t b, uint32_t *) {
    top.b_i = b;
    top.sub_i = chance(50);
    const float x = hd_flush(as_float(a)), y = hd_flush(as_float(b));
    return as_bits(hd_flush(top.sub_i ? x - y : x + y));
}
#elif defined UNIT_to_int
constexpr int kDelay = 3;
uint32_t drive(Vunit &top, uint32_t a, uint32_t, uint32_t *mask) {
    int q = chance(60) ? 0 : int(pick(-32, 31));
    int zp = chance(75) ? int(pick(-128, 127)) : int16_t(rng()), lo = -128, hi = 127;
    if (chance(25)) lo = int16_t(rng()), hi = int16_t(rng());
    top.raw_i = chance(15);
    top.word_i = chance(30);
    top.q_i = unsigned(q) & 63;
    top.zp_i = uint16_t(zp), top.lo_i = uint16_t(lo), top.hi_i = uint16_t(hi);
    if (top.raw_i) return a;
    if (top.word_i) return uint32_t(hd_round_scaled(as_float(a), q));
    *mask = 0xff;
    int y = hd_round_scaled(as_float(a), q) + zp;
    return uint8_t(y < lo ? lo : y > hi ? hi : y);
}
#elif defined UNIT_fn
constexpr int kDelay = 8;
#define RANDOM 200000 // low bits of its products show seldom
uint32_t drive(Vunit &top, uint32_t a, uint32_t, uint32_t *) {
    top.fn_i = unsigned(pick(HD_FN_EXP, HD_FN_SIGMOID));
    if (chance(75)) a = (a & 0x807fffff) | uint32_t(pick(98, 134)) << 23; // where functions bend
    top.a_i = a;
    return as_bits(hd_fn((enum hd_fn)top.fn_i, as_float(as_bits(as_float(a)))));
}
#endif

#ifndef RANDOM
#define RANDOM 30000
#endif

struct Result {
    bool on;
    uint32_t y, mask;
};

} // namespace

bool run(Dut &d) {
    Vunit &top = d.top;
    Result pipe[kDelay] = {}, held = {};
    top.rst_ni = 0;
    for (int i = 0; i < 12; i++) d.clock();
    top.rst_ni = 1;
    constexpr int kFirst = 4 * kCorners * kCorners;
    for (int t = 0; t < kFirst + RANDOM; t++) {
        uint32_t a = operand(0), b = operand(a);
        if (t < kFirst) {
            a = kCorner[t / 4 % kCorners] | uint32_t(t & 1) << 31;
            b = kCorner[t / 4 / kCorners] | uint32_t(t >> 1 & 1) << 31;
        }
        Result r = {t < kFirst || pick(0, 15) != 0, 0, ~0u};
        top.en_i = r.on;
        top.a_i = a;
        r.y = drive(top, a, b, &r.mask);
        top.rst_ni = t < kFirst || pick(0, 99) != 0;
        d.clock();
        for (int i = kDelay - 1; i > 0; i--) pipe[i] = pipe[i - 1];
        pipe[0] = r;
        if (pipe[kDelay - 1].on) held = pipe[kDelay - 1];
        for (int i = 0; i < kDelay - 1 && !top.rst_ni; i++) pipe[i].on = false;
        if ((top.y_o ^ held.y) & held.mask) return false;
    }
    return true;
}
