// hd_run_nest (-DUNIT_run_nest) and hd_run_join (-DUNIT_run_join): the addresses of every byte of a strided
// transfer, and that joining runs leaves them as they are.
#include <vector>

#include "test/mutate/mutants.h"

namespace {

constexpr uint32_t kLocMask = 0xffffff;
struct Nest {
    uint32_t run, n[3], ext[3], loc[3];
};

template <typename T> void put_loc(T &port, const uint32_t *v) { // 3 * 24 bits
    uint64_t low = v[0] | uint64_t(v[1]) << 24 | uint64_t(v[2]) << 48;
    port[0] = uint32_t(low), port[1] = uint32_t(low >> 32), port[2] = v[2] >> 16;
}

// Every run: DRAM offset, on-chip address.
struct At {
    uint32_t ext, loc;
    unsigned level; // the loop that steps behind it
};
[[maybe_unused]] std::vector<At> runs(const Nest &s) {
    std::vector<At> all;
    for (uint32_t c = 0; c < s.n[2]; c++)
        for (uint32_t b = 0; b < s.n[1]; b++)
            for (uint32_t a = 0; a < s.n[0]; a++)
                all.push_back({a * s.ext[0] + b * s.ext[1] + c * s.ext[2],
                               (a * s.loc[0] + b * s.loc[1] + c * s.loc[2]) & kLocMask,
                               a + 1 < s.n[0] ? 0u : b + 1 < s.n[1] ? 1u : 2u});
    return all;
}

} // namespace

#if defined UNIT_run_nest
bool run(Dut &d) {
    Vunit &top = d.top;
    for (int op = 0; op < 400; op++) {
        Nest s = {};
        for (int l = 0; l < 3; l++) {
            s.n[l] = uint32_t(op % 50 == 0 && l == op / 50 % 3 ? pick(200, 70000 / 20) : pick(1, 4));
            s.ext[l] = uint32_t(rng()), s.loc[l] = uint32_t(rng()) & kLocMask;
        }
        uint32_t ext = uint32_t(rng()), loc = uint32_t(rng()) & kLocMask;
        top.load_i = 1, top.adv_i = unsigned(rng() & 1);
        top.n_i = s.n[0] | uint64_t(s.n[1]) << 16 | uint64_t(s.n[2]) << 32;
        top.ext_i = ext, top.loc_i = loc;
        for (int l = 0; l < 3; l++) top.ext_step_i[l] = s.ext[l];
        put_loc(top.loc_step_i, s.loc);
        d.clock();
        top.load_i = 0;
        std::vector<At> all = runs(s);
        for (size_t i = 0; i < all.size();) {
            bool last = i + 1 == all.size();
            top.adv_i = chance(70);
            top.n_i = rng() & 0xffffffffffff, top.ext_i = uint32_t(rng()), top.loc_i = uint32_t(rng()) & kLocMask;
            for (int l = 0; l < 3; l++) top.ext_step_i[l] = uint32_t(rng());
            d.low();
            if (top.ext_o != ext + all[i].ext || top.loc_o != ((loc + all[i].loc) & kLocMask)) return false;
            if (bool(top.last_o) != last || (!last && top.level_o != all[i].level)) return false;
            if (last && top.adv_i) break; // the next load_i comes with it
            i += top.adv_i;
            d.clock();
        }
    }
    return true;
}
#elif defined UNIT_run_join
bool run(Dut &d) {
    Vunit &top = d.top;
    for (int op = 0; op < 3000; op++) {
        Nest s = {};
        bool join = chance(85);
        uint32_t scale = chance(50) ? 0 : uint32_t(pick(1, 12));
        s.run = uint32_t(chance(10) ? pick(1, 0xffffff) : pick(1, 300));
        // Loops that continue what is inside them, or nearly.
        uint64_t inner = s.run;
        for (int l = 0; l < 3; l++) {
            s.n[l] = uint32_t(chance(40) ? 1 : chance(10) ? pick(1, 65535) : pick(1, 5));
            s.loc[l] = uint32_t(inner) & kLocMask, s.ext[l] = uint32_t(inner << scale);
            if (chance(20)) s.loc[l] ^= 1u << rng() % 24;
            if (chance(20)) s.ext[l] ^= 1u << rng() % 32;
            if (chance(5)) s.n[l] = 0; // op_bad refuses it; it may not be joined
            inner = inner * (s.n[l] ? s.n[l] : 1) > 0xffffff ? 0xffffff : inner * (s.n[l] ? s.n[l] : 1);
        }
        // Joined from inside: the innermost loop of more than one iteration, as long as it continues the run.
        uint64_t run = s.run;
        uint32_t n[3] = {s.n[0], s.n[1], s.n[2]};
        int steps = 0;
        while (join) {
            int l = n[0] != 1 ? 0 : n[1] != 1 ? 1 : 2;
            if (n[l] < 2 || s.loc[l] != run || uint64_t(s.ext[l]) != run << scale) break;
            run = run * n[l] > 0xffffff ? 0xffffff : run * n[l];
            n[l] = 1;
            steps++;
        }
        top.load_i = 1, top.join_i = join, top.scale_i = scale, top.run_i = s.run;
        top.n_i = s.n[0] | uint64_t(s.n[1]) << 16 | uint64_t(s.n[2]) << 32;
        for (int l = 0; l < 3; l++) top.ext_step_i[l] = s.ext[l];
        put_loc(top.loc_step_i, s.loc);
        d.clock();
        top.load_i = 0, top.join_i = unsigned(rng() & 1);
        top.run_i = uint32_t(rng()) & 0xffffff, top.n_i = rng() & 0xffffffffffff;
        for (int i = 0; i <= steps + 2; i++) {
            d.low();
            if (bool(top.ready_o) != (i >= steps)) return false;
            if (i >= steps && (top.run_o != run || top.n_o != (n[0] | uint64_t(n[1]) << 16 | uint64_t(n[2]) << 32)))
                return false;
            d.clock();
        }
    }
    return true;
}
#endif
