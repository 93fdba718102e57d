// hd_vx_transpose, N = 4: random blocks with gaps, the next one on its heels.
#include <deque>

#include "test/mutate/mutants.h"

bool run(Dut &d) {
    constexpr int kN = 4;
    Vunit &top = d.top;
    top.rst_ni = 0, top.valid_i = 0;
    for (int i = 0; i < 3; i++) d.clock();
    top.rst_ni = 1;
    std::deque<uint32_t> due;
    uint32_t block[kN];
    int filled = 0, busy = 100, quiet = 0;
    for (int t = 0; t < 6000; t++) {
        if (t % 50 == 0) busy = int(pick(1, 3)) * 33 + 1;
        top.valid_i = chance(busy);
        top.x_i = uint32_t(rng());
        if (chance(1)) { // a reset drops what is inside
            top.rst_ni = 0;
            d.clock();
            top.rst_ni = 1;
            due.clear(), filled = 0;
            if (top.valid_o) return false;
            continue;
        }
        if (top.valid_i) block[filled++] = top.x_i;
        d.clock();
        if (top.valid_o) {
            if (due.empty() || top.y_o != due.front()) return false;
            due.pop_front();
        }
        quiet = top.valid_o ? 0 : quiet + 1;
        if (!due.empty() && quiet > 2) return false; // one a cycle, from the second cycle on
        if (filled == kN) {
            for (int c = 0; c < kN; c++) {
                uint32_t v = 0;
                for (int i = 0; i < kN; i++) v |= (block[i] >> 8 * c & 255) << 8 * i;
                due.push_back(v);
            }
            filled = 0;
        }
    }
    return true;
}
