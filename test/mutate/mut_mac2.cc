// hd_mac2, first and last of its chain: two products of one activation, corners and random
// operands, with gaps.
#include "test/mutate/mutants.h"

bool run(Dut &d) {
    auto weight = [] { return int(chance(30) ? (chance(50) ? -128 : 127) : int8_t(rng())); };
    int w[2] = {}, taken[2] = {};
    int known = 0; // products, sums
    int64_t p[2] = {}, sum[2] = {};
    for (int t = 0; t < 20000; t++) {
        bool we = t == 0 || chance(60), en = t > 0 && chance(70), take = known > 0 && chance(70);
        int x = int(chance(30) ? (chance(50) ? -512 : 511) : pick(-512, 511));
        for (int &v : w) v = weight();
        d.top.we_i = we;
        d.top.w0_i = uint8_t(w[0]);
        d.top.w1_i = uint8_t(w[1]);
        d.top.en_i = en;
        d.top.x_i = unsigned(x) & 1023;
        d.top.sum_i = take;
        d.top.p_i = rng() & 0xffffffffffff; // of a first link not looked at
        d.clock();
        for (int i = 0; take && i < 2; i++) sum[i] = p[i];
        for (int i = 0; en && i < 2; i++) p[i] = x * taken[i]; // by the weights taken before
        known = take ? 2 : en && !known ? 1 : known;
        for (int i = 0; we && i < 2; i++) taken[i] = w[i];
        uint64_t all = (uint64_t(sum[1]) << 18) + uint64_t(sum[0]) + 0x20000;
        if (known == 2 && d.top.p_o != (all & 0xffffffffffff)) return false;
    }
    return true;
}
