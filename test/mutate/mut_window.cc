// hd_vx_window, one lane: windows of 1..3 columns and 1..4 rows against plain sums.
#include "test/mutate/mutants.h"

namespace {

struct Due { // of a vector; last: it ends a window
    bool last;
    unsigned slot;
    int32_t sum;
};

struct Bench {
    Dut &d;
    Due pipe[4] = {};
    uint64_t pm_now = 0;
    bool pm_known = false;

    // One cycle: what was given 2 cycles ago is announced, 4 cycles ago is the sum.
    bool step(Due due) {
        Vunit &top = d.top;
        d.clock();
        pipe[3] = pipe[2], pipe[2] = pipe[1], pipe[1] = pipe[0], pipe[0] = due;
        if (bool(top.valid_o) != pipe[1].last) return false;
        if (pipe[1].last && top.slot_o != pipe[1].slot) return false;
        if (pm_known && top.pm_o != pm_now) return false;
        if (pipe[3].last && int32_t(top.sum_o) != pipe[3].sum) return false;
        top.load_lo_i = top.load_hi_i = top.load_pm_i = 0;
        top.in_valid_i = 0;
        top.in_sum_i = unsigned(rng() & 1);
        top.in_first_i = unsigned(rng() & 1), top.in_last_i = unsigned(rng() & 1);
        top.in_adds_i = unsigned(rng() & 1), top.base_i = uint32_t(rng());
        top.in_slot_i = unsigned(rng() & 31);
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
        for (int c = pairs; c < width; c += 1 + pairs) {
            const bool ends = c >= cols - 1 && pick(0, 3) != 0, adds = chance(50);
            uint32_t sum = 0;
            for (int r = 0; r < rows; r++) {
                uint8_t byte[2];
                for (int i = 0; i <= pairs; i++) {
                    byte[i] = chance(20) ? uint8_t(chance(50) ? 255 : 128) : uint8_t(rng());
                    x[r][c - i] = (uns ? byte[i] : int8_t(byte[i])) + imm;
                }
                top.in_valid_i = 1;
                top.in_sum_i = ends;
                top.in_first_i = r == 0, top.in_last_i = r == rows - 1;
                top.in_adds_i = adds;
                if (r == 0 && adds) sum = top.base_i;
                for (int k = 0; ends && k < cols; k++)
                    sum += uint32_t(x[r][c - cols + 1 + k] * taps[r * cols + k]);
                Due due = {ends && r == rows - 1, unsigned(rng() & 31), int32_t(sum)};
                top.in_row_i = unsigned(r);
                top.in_unsigned_i = uns;
                top.in_imm_i = unsigned(imm) & 0x3ff;
                top.in_slot_i = due.slot;
                top.x_i = byte[0];
                top.in_pairs_i = pairs;
                if (pairs) top.before_i = byte[1];
                if (!b.step(due)) return false;
                if (pick(0, 4) == 0 && !b.step({})) return false;
            }
        }
        if (chance(10)) { // a reset drops what is under way
            top.rst_ni = 0;
            top.in_valid_i = top.in_sum_i = 1;
            for (Due &p : b.pipe) p.last = false;
            if (!b.step({})) return false;
            top.rst_ni = 1;
        }
        for (int i = 0; i < 3; i++)
            if (!b.step({})) return false;
    }
    return true;
}
