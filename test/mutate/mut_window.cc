// hd_vx_window, one lane: windows of 1..3 columns and 1..4 rows against plain sums.
#include "test/mutate/mutants.h"

namespace {

struct Due {
    bool sum;
    unsigned tag;
    int32_t dot;
};

struct Bench {
    Dut &d;
    Due pipe[3] = {};
    uint64_t pm_now = 0;
    bool pm_known = false;

    // One cycle: what was given 2 cycles ago is announced, 3 cycles ago is the sum.
    bool step(Due due) {
        Vunit &top = d.top;
        d.clock();
        pipe[2] = pipe[1], pipe[1] = pipe[0], pipe[0] = due;
        if (bool(top.valid_o) != pipe[1].sum) return false;
        if (pipe[1].sum && top.tag_o != pipe[1].tag) return false;
        if (pm_known && top.pm_o != pm_now) return false;
        if (pipe[2].sum && int32_t(top.dot_o) != pipe[2].dot) return false;
        top.load_lo_i = top.load_hi_i = top.load_pm_i = 0;
        top.in_valid_i = 0;
        top.in_sum_i = unsigned(rng() & 1);
        top.width_i = unsigned(rng() & 3);
        top.in_pairs_i = unsigned(rng() & 1);
        top.x_i = unsigned(rng() & 255), top.before_i = unsigned(rng() & 255);
        top.pm_i = rng() << 32 ^ rng();
        return true;
    }
};

} // namespace

bool run(Dut &d) {
    Vunit &top = d.top;
    Bench b{d};
    top.rst_ni = 0;
    for (int i = 0; i < 4; i++) d.clock();
    top.rst_ni = 1;
    for (int op = 0; op < 400; op++) {
        int cols = int(pick(1, 3)), rows = int(pick(1, 4)), width = int(pick(cols, 12));
        bool uns = chance(50), wide = cols * rows > 8;
        int imm = int(chance(10) ? (chance(50) ? -255 : 255) : pick(-255, 255));
        int8_t taps[12] = {};
        uint64_t lo = 0, hi = 0;
        for (int i = 0; i < 12; i++) {
            taps[i] = pick(0, 3) ? int8_t(rng()) : int8_t(-128);
            *(i < 8 ? &lo : &hi) |= uint64_t(uint8_t(taps[i])) << 8 * (i % 8);
        }
        b.pm_known = false;
        top.pm_i = b.pm_now = rng() << 32 ^ rng();
        top.load_pm_i = 1;
        if (!b.step({})) return false;
        b.pm_known = true;
        top.load_lo_i = 1;
        top.width_i = unsigned(cols);
        top.pm_i = lo;
        if (!b.step({})) return false;
        if (wide) { // the second word of taps is read only where there is one
            top.load_hi_i = 1;
            top.pm_i = hi | rng() << 32;
            if (!b.step({})) return false;
        }
        const bool pairs = chance(50); // an input is one column, or two
        int x[4][16];
        for (int c = pairs; c < width; c += 1 + pairs)
            for (int r = 0; r < rows; r++) {
                uint8_t byte[2];
                for (int i = 0; i <= pairs; i++) {
                    byte[i] = chance(20) ? uint8_t(chance(50) ? 255 : 128) : uint8_t(rng());
                    x[r][c - i] = (uns ? byte[i] : int8_t(byte[i])) + imm;
                }
                Due due = {c >= cols - 1 && pick(0, 3) != 0, unsigned(rng() & 31), 0};
                for (int k = 0; due.sum && k < cols; k++)
                    due.dot += x[r][c - cols + 1 + k] * taps[r * cols + k];
                top.in_valid_i = 1;
                top.in_sum_i = due.sum;
                top.in_row_i = unsigned(r);
                top.in_unsigned_i = uns;
                top.in_imm_i = unsigned(imm) & 0x3ff;
                top.in_tag_i = due.tag;
                top.x_i = byte[0];
                top.in_pairs_i = pairs;
                if (pairs) top.before_i = byte[1];
                if (!b.step(due)) return false;
                if (pick(0, 4) == 0 && !b.step({})) return false;
            }
        if (chance(10)) { // a reset drops what is under way
            top.rst_ni = 0;
            top.in_valid_i = top.in_sum_i = 1;
            for (Due &p : b.pipe) p.sum = false;
            if (!b.step({})) return false;
            top.rst_ni = 1;
        }
        for (int i = 0; i < 3; i++)
            if (!b.step({})) return false;
    }
    return true;
}
