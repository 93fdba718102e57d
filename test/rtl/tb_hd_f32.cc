// binary32 cells against the host's floating point unit: corner classes crossed with each other,
// then random operands. usage: tb_hd_f32 [vectors of 8 operands] [seed]
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "Vtb_hd_f32.h"
#include "verilated.h"
extern "C" {
#include "runtime/base/fn.h"
#include "runtime/base/num.h"
}

namespace {

constexpr int kLanes = 8, kDepth = 8;

struct Op {
    uint32_t a[kLanes], b[kLanes];
    int sub, zp, lo, hi, fn, word, q;
};

uint64_t rng_state;

uint64_t rng() {
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state * 0x2545f4914f6cdd1dull >> 16;
}

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

const uint32_t kCorner[] = {
    0,          1,          2,          3,          0x003fffff, 0x00400000, 0x007ffffe, 0x007fffff,
    0x00800000, 0x00800001, 0x00ffffff, 0x01000000, 0x0c000000, 0x1f800000, 0x20000000, 0x33000000,
    0x33800000, 0x34000000, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001,
    0x3fbfffff, 0x3fc00000, 0x3fffffff, 0x40000000, 0x40200000, 0x40600000, 0x42ff0000, 0x43000000,
    0x437f8000, 0x4affffff, 0x4b000000, 0x4b000001, 0x4b7fffff, 0x4b800000, 0x4e7fffff, 0x4e800000,
    0x4effffff, 0x4f000000, 0x5f000000, 0x7e7fffff, 0x7effffff, 0x7f000000, 0x7f7ffffe, 0x7f7fffff,
    0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff};
constexpr int kCorners = sizeof kCorner / sizeof kCorner[0];

uint32_t operand(uint32_t near) {
    uint32_t u = uint32_t(rng());
    switch (rng() % 8) {
    case 0:
        return kCorner[rng() % kCorners] ^ (u & 0x80000000u);
    case 1:
        return (u & 0x807fffffu) | uint32_t(rng() % 3) << 23; // subnormal and smallest
    case 2:
        return (u & 0x807fffffu) | uint32_t(100 + rng() % 60) << 23; // moderate
    case 3:
        return (u & 0x80000000u) | uint32_t(rng() >> 20 >> rng() % 32); // few bits
    case 4:
        return near ^ 0x80000000u ^ (u & ((1u << rng() % 28) - 1)); // cancellation
    case 5:
        return as_bits(float(int32_t(u) >> rng() % 32) * 0.5f); // halves
    default:
        return u;
    }
}

bool check(const char *what, const Op &op, int n, uint32_t got, uint32_t want) {
    if (got == want) return true;
    fprintf(stderr,
            "tb_hd_f32: %s(%08" PRIx32 ", %08" PRIx32
            ") sub %d zp %d lo %d hi %d fn %d word %d q %d: got %08" PRIx32 ", want %08" PRIx32
            "\n",
            what, op.a[n], op.b[n], op.sub, op.zp, op.lo, op.hi, op.fn, op.word, op.q, got, want);
    return false;
}

struct Bench {
    VerilatedContext ctx;
    Vtb_hd_f32 top{&ctx};
    Op pipe[kDepth + 1] = {};
    long cycle = 0, bad = 0;

    void clock() {
        top.clk_i = 0;
        top.eval();
        top.clk_i = 1;
        top.eval();
    }

    // Gives `op` and checks what leaves the cells in this cycle.
    void step(const Op &op) {
        for (int i = kDepth; i > 0; i--) pipe[i] = pipe[i - 1];
        pipe[0] = op;
        top.en_i = 1;
        top.sub_i = op.sub;
        top.fn_i = op.fn;
        top.word_i = op.word;
        top.q_i = uint8_t(op.q & 63);
        top.zp_i = uint16_t(op.zp);
        top.lo_i = uint16_t(op.lo);
        top.hi_i = uint16_t(op.hi);
        for (int n = 0; n < kLanes; n++) {
            top.a_i[n] = op.a[n];
            top.b_i[n] = op.b[n];
        }
        clock();
        if (++cycle < kDepth) return;
        for (int n = 0; n < kLanes && bad < 20; n++) {
            const Op &p1 = pipe[1], &p2 = pipe[2], &p3 = pipe[3];
            bad += !check("from_int", p1, n, top.from_int_o[n], as_bits(float(int32_t(p1.a[n]))));
            float a3 = hd_flush(as_float(p3.a[n])), b3 = hd_flush(as_float(p3.b[n]));
            bad += !check("mul", p3, n, top.mul_o[n], as_bits(hd_flush(a3 * b3)));
            bad +=
                !check("add", p3, n, top.add_o[n], as_bits(hd_flush(p3.sub ? a3 - b3 : a3 + b3)));
            const Op &p7 = pipe[7];
            bad += !check("fn", p7, n, top.fn_o[n], hd_fn_bits((enum hd_fn)p7.fn, p7.a[n]));
            int32_t whole = hd_round_scaled(as_float(p2.a[n]), p2.q);
            int32_t y = int32_t(hd_min(hd_max(whole + p2.zp, p2.lo), p2.hi));
            if (p2.zp + whole < p2.lo) y = p2.lo;
            bad += !check("word", p2, n, top.word_o[n], p2.word ? uint32_t(whole) : p2.a[n]);
            if (!p2.word)
                bad += !check("byte", p2, n, top.byte_o >> 8 * n & 0xff, uint32_t(y) & 0xff);
            // What machines without functions have.
            bad += !check("small int", p1, n, top.small_int_o[n],
                          as_bits(float(int32_t(p1.a[n] << 22) >> 22)));
            bad += !check("alone", p3, n, top.alone_o[n], as_bits(a3));
        }
    }
};

} // namespace

int main(int argc, char **argv) {
    long vectors = argc > 1 ? atol(argv[1]) : 40000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 0) : 1;
    rng_state = seed * 0x9e3779b97f4a7c15ull | 1;
    static Bench b;
    b.top.rst_ni = 0;
    for (int i = 0; i < 4; i++) b.clock();
    b.top.rst_ni = 1;
    // Every corner with every corner, all signs, both operations.
    long total = 0;
    for (int i = 0; i < kCorners; i++)
        for (int j = 0; j < kCorners && b.bad < 20; j++) {
            Op op = {{}, {}, 0, 0, -128, 127, 1 + (i + j) % HD_FN_SIGMOID, 0, 0};
            for (int n = 0; n < kLanes; n++) {
                op.a[n] = kCorner[i] | uint32_t(n & 1) << 31;
                op.b[n] = kCorner[j] | uint32_t(n >> 1 & 1) << 31;
            }
            b.step(op);
            op.sub = 1;
            op.zp = 128;
            op.lo = 0;
            op.hi = 255;
            op.fn = 1 + (i + j + 3) % HD_FN_SIGMOID;
            op.word = 1;
            op.q = int(rng() % 64) - 32;
            b.step(op);
            total += 2;
        }
    for (long v = 0; v < vectors && b.bad < 20; v++, total++) {
        Op op = {{}, {}, int(rng() & 1), 0, 0, 0, int(1 + rng() % HD_FN_SIGMOID), int(rng() & 1),
                 0};
        if (rng() & 1) op.q = int(rng() % 64) - 32;
        bool uns = rng() & 1;
        op.zp = rng() % 16 ? int(rng() % 256) - (uns ? 0 : 128) : int16_t(rng());
        op.lo = rng() % 16 ? (uns ? 0 : -128) : int16_t(rng());
        op.hi = rng() % 16 ? (uns ? 255 : 127) : int16_t(rng());
        for (int n = 0; n < kLanes; n++) {
            op.a[n] = operand(uint32_t(rng()));
            op.b[n] = operand(op.a[n]);
        }
        b.step(op);
    }
    static const char *const cells[] = {"hd_f32_add", "hd_f32_mul", "hd_f32_from_int",
                                        "hd_f32_to_int"};
    long corners = 2L * kCorners * kCorners * kLanes;
    printf("%-16s %16s %16s\n", "cell", "corner operands", "random operands");
    for (const char *cell : cells)
        printf("%-16s %16ld %16ld\n", cell, corners, total * kLanes - corners);
    printf("tb_hd_f32: %s, seed %" PRIu64 ", %ld operand pairs per cell against the host\n",
           b.bad ? "FAIL" : "ok", seed, total * kLanes);
    return b.bad != 0;
}
