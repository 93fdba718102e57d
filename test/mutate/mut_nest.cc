// hd_nest, 3 loops, two streams: addresses and first / last flags of random nests, with stalls; in
// one nest of two a stream stays at random iterations.
#include "test/mutate/mutants.h"

bool run(Dut &d) {
    constexpr int kLoops = 3, kStreams = 2;
    Vunit &top = d.top;
    for (int op = 0; op < 557; op++) {
        const bool deep =
            op >=
            500; // each bit of a count, twice over where it can be; last because they take long
        int n[kLoops], step[kStreams][kLoops];
        uint32_t at[kStreams][kLoops]; // address at which the iteration of a loop began
        uint64_t ns = 0, steps[2] = {};
        uint64_t base = rng() & 0xffffffffffff;
        bool may_stay = op & 1;
        for (int l = 0; l < kLoops; l++) {
            n[l] = int(pick(0, 3) ? pick(1, 3) : op % 40 == 0 && l == op / 40 % 3 ? 3000 : 1);
            const int bit = (op - 500) / kLoops;
            if (deep)
                n[l] = l == op % kLoops ? op < 548 ? (1 << bit) + 1 : int(pick(16385, 65535))
                       : l == (op + 1) % kLoops ? 2
                                                : 1;
            ns |= uint64_t(n[l]) << 16 * l;
            for (int s = 0; s < kStreams; s++) {
                int bit = 16 * (s * kLoops + l);
                step[s][l] = int(pick(-32768, 32767));
                at[s][l] = uint32_t(base >> 24 * s) & 0xffffff;
                steps[bit / 64] |= uint64_t(uint16_t(step[s][l])) << bit % 64;
            }
        }
        auto drive = [&](uint64_t a, const uint64_t *b, uint64_t c) {
            top.n_i = a;
            top.step_i[0] = uint32_t(b[0]), top.step_i[1] = uint32_t(b[0] >> 32),
            top.step_i[2] = uint32_t(b[1]);
            top.base_i = c & 0xffffffffffff;
        };
        top.take_i = top.load_i = 1;
        top.adv_i = unsigned(pick(0, 1));
        top.stay_i = unsigned(rng()) & 3;
        drive(ns, steps, base);
        d.clock();
        top.take_i = top.load_i = 0;
        int i[kLoops] = {};
        for (bool more = true; more;) {
            unsigned first = 0, last = 0;
            for (int l = 0; l < kLoops; l++) {
                first |= unsigned(i[l] == 0) << l;
                last |= unsigned(i[l] == n[l] - 1) << l;
            }
            top.adv_i = deep || pick(0, 2) != 0;
            top.stay_i = may_stay ? unsigned(rng()) & 3 : 0;
            if (!deep || i[0] % 64 == 0) { // what a nest is loaded with may change
                const uint64_t junk[2] = {rng() << 32 ^ rng(), rng()};
                drive(rng(), junk, rng());
            }
            d.low();
            for (int s = 0; s < kStreams; s++)
                if ((top.addr_o >> 24 * s & 0xffffff) != at[s][0]) return false;
            if (top.first_o != first || top.last_o != last) return false;
            if (top.adv_i) {
                int level = 0;
                while (level < kLoops && i[level] == n[level] - 1) i[level++] = 0;
                more = level < kLoops;
                if (!more) break;
                i[level]++;
                for (int s = 0; s < kStreams; s++) {
                    uint32_t next =
                        at[s][level] + (top.stay_i >> s & 1 ? 0 : uint32_t(step[s][level]));
                    for (int l = 0; l <= level; l++) at[s][l] = next & 0xffffff;
                }
            }
            d.clock();
        }
    }
    return true;
}
