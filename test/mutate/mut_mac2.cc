// hd_mac2: two products of one activation, corners and random operands, with gaps.
#include "test/mutate/mutants.h"

bool run(Dut &d) {
    auto weight = [] { return int(chance(30) ? (chance(50) ? -128 : 127) : int8_t(rng())); };
    int w[2] = {}, taken[2] = {};
    bool known = false;
    int64_t p[2] = {};
    for (int t = 0; t < 20000; t++) {
        bool we = t == 0 || chance(60), en = t > 0 && chance(70);
        int x = int(chance(30) ? (chance(50) ? -256 : 255) : pick(-256, 255));
        for (int &v : w) v = weight();
        d.top.we_i = we;
        d.top.w0_i = uint8_t(w[0]);
        d.top.w1_i = uint8_t(w[1]);
        d.top.en_i = en;
        d.top.x_i = unsigned(x) & 511;
        d.clock();
        for (int i = 0; en && i < 2; i++) p[i] = x * taken[i]; // by the weights taken before
        known = known || en;
        for (int i = 0; we && i < 2; i++) taken[i] = w[i];
        if (known &&
            (d.top.p0_o != (uint64_t(p[0]) & 0x3ffff) || d.top.p1_o != (uint64_t(p[1]) & 0x3ffff)))
            return false;
    }
    return true;
}
