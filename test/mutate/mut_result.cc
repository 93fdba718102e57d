// hd_vx_result, N = 4: every kind of result, tables that change, transposed blocks. Results of one
// kind follow each other at once; before the next kind the unit runs empty, as its user promises.
#include <deque>

#include "test/mutate/mutants.h"
extern "C" {
#include "runtime/base/num.h"
}

namespace {

constexpr int kN = 4, kTables = 4;
enum { Byte, AmF32, AmInt, Transposed };
struct Out {
    uint32_t lane[kN];
    uint32_t mask;
};
struct Bench {
    Dut &d;
    uint8_t tm[kTables][256];
    std::deque<Out> due;

    bool clock() {
        Vunit &top = d.top;
        d.clock();
        top.part_i = 0;
        if (!top.valid_o) return true;
        if (due.empty()) return false;
        Out o = due.front();
        due.pop_front();
        for (int n = 0; n < kN; n++) {
            uint32_t got = o.mask == 0xff ? top.y_o[n / 4] >> 8 * (n % 4) : top.y_o[n];
            if ((got ^ o.lane[n]) & o.mask) return false;
        }
        return true;
    }
    bool write_table(int table, int part) {
        uint64_t v = 0;
        for (int i = 0; i < 8; i++)
            v |= uint64_t(tm[table][8 * part + i] = uint8_t(rng())) << 8 * i;
        d.top.part_i = part_bits(kTmPart, unsigned(table), unsigned(part));
        d.top.part_wdata_i = v;
        return clock();
    }
};

float as_float(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}

} // namespace

bool run(Dut &d) {
    Vunit &top = d.top;
    Bench b{d, {}, {}};
    top.rst_ni = 0, top.valid_i = 0;
    for (int i = 0; i < 5; i++) d.clock();
    top.rst_ni = 1;
    for (int i = 0; i < kTables * 32; i++)
        if (!b.write_table(i / 32, i % 32)) return false;
    for (int op = 0; op < 500; op++) {
        int kind = int(pick(0, 3)), lut = kind == Byte || kind == Transposed ? int(pick(0, 4)) : 0,
            q = chance(50) ? 0 : int(pick(-32, 31));
        int zp = chance(80) ? int(pick(-128, 127)) : int16_t(rng()), lo = -128, hi = 127;
        if (chance(25)) lo = int(pick(-300, 100)), hi = int(pick(lo, 400));
        int count = kind == Transposed ? kN * int(pick(1, 3)) : int(pick(1, 9)),
            late = chance(5) ? int(pick(1, count)) : 99;
        Out block[kN];
        for (int i = 0; i < count; i++) {
            Out o = {{}, kind == AmF32 || kind == AmInt ? ~0u : 0xffu};
            top.d_kind_i = unsigned(kind), top.lut_i = unsigned(lut), top.q_i = unsigned(q) & 63;
            top.zp_i = uint16_t(zp), top.lo_i = uint16_t(lo), top.hi_i = uint16_t(hi);
            for (int n = 0; n < kN; n++) {
                uint32_t a = chance(10)
                                 ? uint32_t(rng())
                                 : uint32_t(rng() & 0x807fffff) | uint32_t(pick(120, 136)) << 23;
                int32_t whole = hd_round_scaled(as_float(a), q), y = whole + zp;
                top.a_i[n] = a;
                y = y < lo ? lo : y > hi ? hi : y;
                o.lane[n] = kind == AmF32 ? a : kind == AmInt ? uint32_t(whole) : uint8_t(y);
                if (lut) o.lane[n] = b.tm[lut - 1][o.lane[n]];
            }
            block[i % kN] = o;
            if (kind != Transposed) b.due.push_back(o);
            for (int c = 0; kind == Transposed && i % kN == kN - 1 && c < kN; c++) {
                Out turned = {{}, 0xff};
                for (int n = 0; n < kN; n++) turned.lane[n] = block[n].lane[c];
                b.due.push_back(turned);
            }
            top.valid_i = 1;
            if (!b.clock()) return false;
            top.valid_i = 0;
            top.d_kind_i = unsigned(rng() & 3), top.lut_i = unsigned(rng() & 7);
            if (chance(30) && !b.clock()) return false;
            if (i == late && kind != Transposed) { // a reset drops what is under way
                top.rst_ni = 0;
                top.valid_i = 1;
                d.clock();
                top.rst_ni = 1, top.valid_i = 0;
                if (top.valid_o) return false;
                b.due.clear();
                for (int t = 0; t < 6; t++)
                    if (!b.clock()) return false;
            }
        }
        for (int t = 0; t < 2 * kN + 5; t++)
            if (!b.clock()) return false;
        if (!b.due.empty()) return false;
        if (chance(30) && !b.write_table(int(pick(0, kTables - 1)), int(pick(0, 31)))) return false;
    }
    return true;
}
