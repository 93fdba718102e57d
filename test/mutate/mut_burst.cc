// hd_burst, 8 bytes wide: the bursts of random runs, with stalls.
#include "test/mutate/mutants.h"

bool run(Dut &d) {
    constexpr uint64_t kAxi = 8, kMost = 64;
    Vunit &top = d.top;
    top.rst_ni = 0, top.valid_i = 0;
    for (int i = 0; i < 2; i++) d.clock();
    top.rst_ni = 1;
    for (int op = 0; op < 4000; op++) {
        uint64_t addr = rng() << 32 ^ rng() << 8 ^ rng();
        if (chance(30)) addr |= 0xf00;
        if (chance(10)) addr |= 0xfffffffff000;
        uint64_t left = uint64_t(chance(40)   ? pick(1, 8)
                                 : chance(97) ? pick(1, 2000)
                                              : pick(1, 1 << pick(14, 18)));
        if (op % 800 == 799) left = 0x1ffffff - uint64_t(pick(0, 1 << 20));
        uint64_t at = addr / kAxi * kAxi;
        const uint64_t room = (4096 - at % 4096) / kAxi, most = room < kMost ? room : kMost;
        top.addr_i = addr, top.beats_i = unsigned(left);
        top.first_i = unsigned(left <= most ? 0x100 | (left - 1) : most - 1);
        if (chance(2)) { // a reset between
            top.rst_ni = 0;
            d.clock();
            top.rst_ni = 1;
        }
        for (bool first = true; left;) {
            uint64_t len = (4096 - at % 4096) / kAxi;
            if (len > kMost) len = kMost;
            if (len > left) len = left;
            bool go = chance(70);
            top.valid_i = go || chance(80), top.ready_i = go;
            d.low();
            if (top.valid_o != top.valid_i) return false;
            if (top.valid_i && (top.addr_o != at || top.len_o != len - 1 ||
                                bool(top.first_o) != first || bool(top.last_o) != (len == left)))
                return false;
            if (first && left > 1 && chance(2)) { // a reset in the first burst: it begins anew
                top.rst_ni = 0;
                d.clock();
                top.rst_ni = 1;
                continue;
            }
            if (go) at += len * kAxi, left -= len, first = false;
            d.clock();
        }
    }
    return true;
}
