// hd_vx_lanes, N = 4: iterations of vx.map and vx.dw with random operands and parameters,
// against the arithmetic of docs/numerics.md. Operations of one latency follow each other at once,
// in other slots; before the next kind the unit runs empty, as its user promises. Transposed
// blocks: mut_result.cc.
#include <deque>

#include "test/mutate/mutants.h"
#include "test/rtl/compute_oracle.h"

namespace {

using oracle::as_bits;
using oracle::as_float;
using oracle::is_f32;

constexpr int kN = 4, kSlots = 8, kTables = 4;
uint8_t tables[kTables][256];
constexpr int64_t kSum = 1, kMax = 2, kMul = 3;
struct Out {
    uint32_t lane[kN], mask;
};
struct Operands {
    uint32_t a_am[kN], b_am[kN], bias[kN], scale[kN];
    uint8_t a_xm[kN], b_xm[kN];
};

struct Bench {
    Dut &d;
    std::deque<Out> due;

    bool clock() {
        Vunit &top = d.top;
        d.clock();
        top.p_we_i = top.d_valid_i = top.d_load_i = 0;
        top.d_slot_i = unsigned(rng() & (kSlots - 1));
        top.d_last_i = top.d_first_i = top.d_tail_i = unsigned(rng() & 1);
        if (!top.res_valid_o) return true;
        if (due.empty() || !top.res_part_o) return false; // there is one group of lanes
        Out o = due.front();
        due.pop_front();
        for (int n = 0; n < kN; n++) {
            uint32_t got = o.mask == 0xff ? top.res_o[0] >> 8 * n : top.res_o[n];
            if ((got ^ o.lane[n]) & o.mask) return false;
        }
        return true;
    }
    bool idle(int cycles) {
        for (int i = 0; i < cycles; i++)
            if (!clock()) return false;
        return true;
    }
};

uint32_t random_f32() {
    return chance(12) ? uint32_t(rng())
                      : uint32_t(rng() & 0x807fffff) | uint32_t(pick(118, 140)) << 23;
}
uint32_t random_word(bool f32) {
    return f32          ? random_f32()
           : chance(20) ? uint32_t(rng())
                        : uint32_t(int32_t(rng()) >> pick(8, 31));
}

bool compares(const oracle::Op &o) {
    return o.vx_alu == 4 || o.vx_alu == 5;
}

oracle::Op draw(const oracle::Op &like, bool first) {
    oracle::Op o;
    o.dw = first ? chance(20) : like.dw;
    o.vx_fn = first        ? (chance(35) ? pick(HD_FN_EXP, HD_FN_SIGMOID) : 0)
              : like.vx_fn ? pick(HD_FN_EXP, HD_FN_SIGMOID)
                           : 0;
    o.vx_a_kind = o.dw ? pick(2, 3) : pick(0, 6);
    o.vx_b_kind = !o.dw ? pick(0, 6) : chance(50) ? 4 : 0; // 0: sums go on
    o.vx_alu = o.dw ? 0 : pick(0, 5);
    if (!first && like.vx_fn)
        o.vx_alu = like.vx_alu == kMul ? kMul : pick(0, 1) * pick(1, 2); // behind or before
    if (!first && like.dw) o.vx_alu = 0;
    o.vx_lanes = first ? chance(40) : like.vx_lanes;
    o.vx_red = o.dw                  ? 0
               : is_f32(o.vx_a_kind) ? (o.vx_lanes || chance(40) ? kMax : 0)
               : o.vx_lanes          ? pick(1, 2)
                                     : pick(0, 2);
    if (o.dw) o.vx_lanes = 0;
    o.vx_tail = chance(40) ? pick(1, kN) : 0;
    o.vx_d_kind = pick(0, 2);
    o.vx_q = chance(50) ? 0 : pick(-32, 31);
    o.vx_use_bias = chance(50), o.vx_scale_pm = chance(50);
    o.vx_a_imm = o.dw ? pick(-255, 255) : random_word(false), o.vx_b_imm = random_word(false);
    o.vx_a_scale = random_f32(), o.vx_b_scale = random_f32();
    o.vx_lo = chance(60) ? -128 : pick(-300, 100),
    o.vx_hi = chance(60) ? o.vx_lo + 255 : pick(o.vx_lo, 400);
    o.vx_zp = chance(90) ? pick(-128, 255) : int16_t(rng());
    o.vx_n0 = pick(1, 3), o.vx_n2 = pick(1, 4);
    o.vx_lut = first ? (chance(15) ? pick(1, kTables) : 0) : like.vx_lut ? pick(1, kTables) : 0;
    if (o.vx_lut) o.vx_d_kind = 0;
    if (compares(o) && !o.vx_red && chance(70)) { // of values that differ little, see operands()
        o.vx_a_kind = o.vx_b_kind = 1, o.vx_scale_pm = 0;
        o.vx_a_scale = o.vx_b_scale = 0x3f800000;
        o.vx_d_kind = o.vx_lut ? 0 : 1;
    }
    return o;
}

uint32_t fetch(int64_t kind, int64_t imm, uint32_t am, uint8_t xm, uint32_t pm) {
    uint32_t i = uint32_t(imm);
    return kind == 0   ? am + i
           : kind == 1 ? am
           : kind == 2 ? uint32_t(int8_t(xm)) + i
           : kind == 3 ? xm + i
           : kind == 4 ? i
           : kind == 5 ? pm + i
                       : pm;
}

// From the reduced value on, as oracle::vx_lane but from operands at hand.
uint32_t finish(const oracle::Op &o, int lane, uint32_t t, const Operands &v) {
    if (o.vx_use_bias && !is_f32(o.vx_a_kind)) t += v.bias[lane];
    auto scaled = [](int64_t kind, uint32_t x, uint32_t by) {
        return oracle::vx_alu(kMul, is_f32(kind) ? hd_flush(as_float(x)) : float(int32_t(x)),
                              hd_flush(as_float(by)));
    };
    float a = scaled(o.vx_a_kind, t, o.vx_scale_pm ? v.scale[lane] : uint32_t(o.vx_a_scale));
    uint32_t w = fetch(o.vx_b_kind, o.vx_b_imm, v.b_am[lane], v.b_xm[lane], v.bias[lane]);
    float b = scaled(o.vx_b_kind, w, uint32_t(o.vx_b_scale));
    const enum hd_fn fn = (enum hd_fn)o.vx_fn;
    float r =
        oracle::vx_alu(o.vx_alu, fn && o.vx_alu == kMul ? hd_fn(fn, as_float(as_bits(a))) : a, b);
    if (fn && o.vx_alu != kMul) r = hd_fn(fn, as_float(as_bits(r)));
    if (o.vx_d_kind == 1) return as_bits(r);
    int32_t whole = hd_round_scaled(r, int(o.vx_q));
    if (o.vx_d_kind == 2) return uint32_t(whole);
    int64_t y = int64_t(whole) + o.vx_zp;
    const uint8_t byte = uint8_t(y < o.vx_lo ? o.vx_lo : y > o.vx_hi ? o.vx_hi : y);
    return o.vx_lut ? tables[o.vx_lut - 1][byte] : byte;
}

void give(Vunit &top, const Operands &v) {
    top.a_xm_i = top.b_xm_i = 0;
    for (int n = 0; n < kN; n++) {
        top.a_am_i[n] = v.a_am[n], top.b_am_i[n] = v.b_am[n];
        top.a_xm_i |= unsigned(v.a_xm[n]) << 8 * n, top.b_xm_i |= unsigned(v.b_xm[n]) << 8 * n;
        top.pm_i[2 * n] = v.bias[n], top.pm_i[2 * n + 1] = v.scale[n];
    }
}

Operands operands(const oracle::Op &o) {
    Operands v;
    for (int n = 0; n < kN; n++) {
        v.a_am[n] = random_word(o.vx_a_kind == 1), v.b_am[n] = random_word(o.vx_b_kind == 1);
        v.a_xm[n] = uint8_t(rng()), v.b_xm[n] = uint8_t(rng());
        if (compares(o) && chance(70)) {
            const uint32_t odd[] = {0,          0,          1u << pick(0, 22), 0x7f7fffff,
                                    0x7f800000, 0x7fc00000, 0x3f800000,        0x00800000};
            const uint32_t sign = uint32_t(rng() & 1) << 31;
            if (chance(50)) v.a_am[n] = odd[pick(0, 7)] | sign;
            v.b_am[n] = chance(40)   ? odd[pick(0, 7)] | uint32_t(rng() & 1) << 31
                        : chance(15) ? v.a_am[n] ^ 1u << 31
                                     : v.a_am[n] ^ (chance(90) ? 1u << pick(0, 31) : 0);
        }
        v.bias[n] = random_word(o.vx_a_kind == 6 || o.vx_b_kind == 6), v.scale[n] = random_f32();
    }
    return v;
}

void result(Bench &b, const oracle::Op &o, const uint32_t *t, const Operands &v) {
    Out out = {{}, o.vx_d_kind ? ~0u : 0xffu};
    for (int n = 0; n < kN; n++) out.lane[n] = finish(o, n, t[n], v);
    b.due.push_back(out);
}

bool map(Bench &b, const oracle::Op &o, unsigned slot) {
    for (int i = int(pick(1, 4)); i > 0; i--) {
        const int steps = o.vx_red && o.vx_a_kind < 5 ? int(pick(1, 4)) : 1;
        const bool total = is_f32(o.vx_a_kind) && o.vx_red == kMax;
        uint32_t t[kN];
        Operands v = {};
        for (int s = 0; s < steps; s++) {
            bool tail = chance(50);
            v = operands(o);
            for (int n = 0; n < kN; n++) {
                uint32_t w = fetch(o.vx_a_kind, o.vx_a_imm, v.a_am[n], v.a_xm[n], v.bias[n]);
                if (total) w = uint32_t(oracle::order(w));
                if (o.vx_red && tail && o.vx_tail && n >= o.vx_tail)
                    w = o.vx_red == kMax ? 0x80000000u : 0;
                t[n] = !s ? w : o.vx_red == kSum ? t[n] + w : int32_t(w) > int32_t(t[n]) ? w : t[n];
            }
            give(b.d.top, v);
            b.d.top.d_valid_i = 1, b.d.top.d_slot_i = slot, b.d.top.d_tail_i = tail;
            b.d.top.d_first_i = s == 0, b.d.top.d_last_i = s == steps - 1;
            if (s == steps - 1) {
                for (int n = 1; o.vx_lanes && n < kN; n++)
                    t[0] = o.vx_red == kSum                ? t[0] + t[n]
                           : int32_t(t[n]) > int32_t(t[0]) ? t[n]
                                                           : t[0];
                for (int n = 0; n < kN; n++) {
                    if (o.vx_lanes) t[n] = t[0];
                    if (total && !n)
                        for (uint32_t &w : t) w = uint32_t(oracle::order(w));
                    if (o.vx_lanes) t[n] = t[0];
                }
                result(b, o, t, v);
            }
            if (!b.clock()) return false;
            if (chance(20) && !b.clock()) return false;
        }
    }
    return true;
}

bool dw(Bench &b, const oracle::Op &o, unsigned slot) {
    Vunit &top = b.d.top;
    const int cols = int(o.vx_n0), rows = int(o.vx_n2), words = cols * rows > 8 ? 2 : 1;
    Operands pm = operands(o), taps[2] = {operands(o), operands(o)};
    for (int i = 0; i < words; i++) {
        give(top, taps[i]);
        top.d_load_i = 1u << i, top.d_slot_i = slot;
        if (!b.clock()) return false;
    }
    give(top, pm);
    top.d_load_i = 4, top.d_slot_i = slot;
    if (!b.clock()) return false;
    auto tap = [&](int n, int i) {
        const Operands &w = taps[i / 8];
        int at = i % 8 * kN + n; // byte of the word: 8 a lane, bias before scale
        return int32_t(int8_t((at % 8 < 4 ? w.bias[at / 8] : w.scale[at / 8]) >> 8 * (at % 4)));
    };
    int32_t x[4][12][kN];
    uint32_t from[kN] = {}; // what a window adds to
    for (int c = 0; c < cols + 4; c++)
        for (int r = 0; r < rows; r++) {
            Operands v = operands(o);
            bool window = c >= cols - 1;
            for (int n = 0; n < kN; n++)
                x[r][c][n] =
                    (o.vx_a_kind == 3 ? int(v.a_xm[n]) : int(int8_t(v.a_xm[n]))) + int(o.vx_a_imm);
            give(top, v);
            top.d_valid_i = 1, top.d_slot_i = slot, top.d_row_i = unsigned(r),
            top.d_window_i = window;
            top.d_first_i = r == 0, top.d_last_i = r == rows - 1 && window;
            for (int n = 0; n < kN && window && r == 0 && !o.vx_b_kind; n++) from[n] = v.b_am[n];
            if (window && r == rows - 1) {
                uint32_t t[kN];
                memcpy(t, from, sizeof t);
                for (int n = 0; n < kN; n++)
                    for (int ky = 0; ky < rows; ky++)
                        for (int kx = 0; kx < cols; kx++)
                            t[n] += uint32_t(x[ky][c - cols + 1 + kx][n] * tap(n, ky * cols + kx));
                result(b, o, t, pm);
            }
            if (!b.clock()) return false;
            if (chance(15) && !b.clock()) return false;
        }
    return b.idle(4); // the window's bias and scale stay until its last sum
}

} // namespace

bool run(Dut &d) {
    Vunit &top = d.top;
    Bench b{d, {}};
    top.rst_ni = 0, top.part_i = 0;
    if (!b.idle(30)) return false;
    top.rst_ni = 1;
    for (int part = 0; part < kTables * 32; part++) {
        uint64_t v = 0;
        for (int i = 0; i < 8; i++)
            v |= uint64_t(tables[part / 32][8 * (part % 32) + i] = uint8_t(rng())) << 8 * i;
        top.part_wdata_i = v;
        top.part_i = part_bits(kTmPart, unsigned(part / 32), unsigned(part % 32));
        if (!b.idle(1)) return false;
    }
    top.part_i = 0;
    const unsigned n_words = sizeof top.p_i / sizeof top.p_i[0];
    unsigned slot = 0;
    oracle::Op o;
    for (int batch = 0; batch < 700; batch++) {
        for (int i = 0, ops = int(pick(1, 3)); i < ops; i++, slot = (slot + 1) % kSlots) {
            o = draw(o, i == 0);
            uint32_t words[32];
            oracle::encode(o, true, words);
            for (unsigned w = 0; w < n_words; w++) top.p_i[w] = words[w];
            top.p_we_i = 1, top.p_slot_i = slot, top.p_dw_i = o.dw;
            if (!b.clock()) return false;
            for (unsigned w = 0; w < n_words; w++) top.p_i[w] = uint32_t(rng());
            if (!(o.dw ? dw(b, o, slot) : map(b, o, slot))) return false;
        }
        if (chance(3)) { // a reset drops what is under way
            top.rst_ni = 0;
            d.clock();
            top.rst_ni = 1;
            b.due.clear();
        }
        if (!b.idle(40) || !b.due.empty()) return false;
    }
    return true;
}
