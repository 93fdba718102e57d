// hd_run_nest (-DUNIT_run_nest) and hd_run_join (-DUNIT_run_join): the addresses of every byte of a
// strided transfer, and that joining runs leaves them as they are.
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

} // namespace

#if defined UNIT_run_nest
// What the runs of `s` must be, one after the other; the unit waits at random, `patience` percent
// of the cycles it moves.
bool nest(Dut &d, const Nest &s, int patience) {
    Vunit &top = d.top;
    uint32_t ext = uint32_t(rng()), loc = uint32_t(rng()) & kLocMask;
    top.load_i = 1, top.adv_i = unsigned(rng() & 1); // a load comes first
    top.n_i = s.n[0] | uint64_t(s.n[1]) << 16 | uint64_t(s.n[2]) << 32;
    top.ext_i = ext, top.loc_i = loc;
    for (int l = 0; l < 3; l++) top.ext_step_i[l] = s.ext[l];
    put_loc(top.loc_step_i, s.loc);
    d.clock();
    top.load_i = 0;
    for (uint32_t c = 0; c < s.n[2]; c++)
        for (uint32_t b = 0; b < s.n[1]; b++)
            for (uint32_t a = 0; a < s.n[0];) {
                unsigned level = a + 1 < s.n[0] ? 0 : b + 1 < s.n[1] ? 1 : 2;
                bool last = level == 2 && c + 1 == s.n[2];
                top.adv_i = chance(patience);
                top.n_i = rng() & 0xffffffffffff, top.ext_i = uint32_t(rng()),
                top.loc_i = uint32_t(rng()) & kLocMask;
                for (int l = 0; l < 3; l++) top.ext_step_i[l] = uint32_t(top.n_i) + unsigned(l);
                d.low();
                if (top.ext_o != ext + a * s.ext[0] + b * s.ext[1] + c * s.ext[2]) return false;
                if (top.loc_o != ((loc + a * s.loc[0] + b * s.loc[1] + c * s.loc[2]) & kLocMask))
                    return false;
                if (bool(top.last_o) != last || (!last && top.level_o != level)) return false;
                if (last && top.adv_i) return true; // the next load_i comes with it
                a += top.adv_i;
                d.clock();
            }
    return true;
}

bool run(Dut &d) {
    for (int op = 0; op < 418; op++) {
        Nest s = {};
        for (int l = 0; l < 3; l++) {
            s.n[l] = uint32_t(op % 50 == 0 && l == op / 50 % 3 ? pick(200, 3500) : pick(1, 4));
            s.ext[l] = uint32_t(rng()), s.loc[l] = uint32_t(rng()) & kLocMask;
        }
        // Counts of 16 bits, last because they take long: each loop, those inside another twice
        // over.
        if (op >= 400) {
            s.n[op % 3] = uint32_t(op < 403 ? 65535 : pick(32769, 65535));
            s.n[(op + 1) % 3] = 2, s.n[(op + 2) % 3] = 1;
        }
        if (!nest(d, s, op < 400 ? 70 : 97)) return false;
    }
    return true;
}
#elif defined UNIT_run_join
bool run(Dut &d) {
    Vunit &top = d.top;
    for (int op = 0; op < 12000; op++) {
        Nest s = {};
        bool join = chance(85);
        uint32_t scale = chance(50) ? 0 : uint32_t(pick(1, 12));
        s.run = uint32_t(chance(10)   ? pick(1, 0xffffff)
                         : chance(10) ? 1 << pick(0, 23)
                                      : pick(1, 300));
        // Loops that continue what is inside them, or nearly.
        uint64_t inner = s.run;
        for (int l = 0; l < 3; l++) {
            s.n[l] = uint32_t(chance(40)   ? 1
                              : chance(15) ? 1 << pick(0, 15)
                              : chance(10) ? pick(1, 65535)
                                           : pick(1, 5));
            s.loc[l] = uint32_t(inner) & kLocMask, s.ext[l] = uint32_t(inner << scale);
            if (chance(12)) s.loc[l] ^= 1u << rng() % 24;
            if (chance(12)) s.ext[l] ^= 1u << rng() % 32;
            if (chance(5)) s.n[l] = 0; // op_bad refuses it; it may not be joined
            inner = inner * (s.n[l] ? s.n[l] : 1);
        }
        if (op % 8 == 0) { // one bit of the product is set, often above the run's 24
            join = true;
            s = {1u << pick(0, 23), {1u << pick(0, 15), 1u << pick(0, 15), 1}, {}, {}};
            s.loc[0] = s.run, s.ext[0] = s.run << scale;
            s.loc[1] = (s.run * s.n[0]) & kLocMask, s.ext[1] = s.run * s.n[0] << scale;
        }
        // Joined from inside: the innermost loop of more than one iteration, as long as it
        // continues the run.
        uint64_t run = s.run;
        uint32_t n[3] = {s.n[0], s.n[1], s.n[2]};
        int steps = 0;
        while (join && run <= 0xffffff) {
            int l = n[0] != 1 ? 0 : n[1] != 1 ? 1 : 2;
            if (n[l] < 2 || s.loc[l] != run || uint64_t(s.ext[l]) != run << scale) break;
            run *= n[l];
            n[l] = 1;
            steps++;
        }
        const bool over =
            run > 0xffffff; // what comes behind is not defined, it ends in at most 2 steps
        top.load_i = 1, top.join_i = join, top.scale_i = scale, top.run_i = s.run;
        top.n_i = s.n[0] | uint64_t(s.n[1]) << 16 | uint64_t(s.n[2]) << 32;
        for (int l = 0; l < 3; l++) top.ext_step_i[l] = s.ext[l];
        put_loc(top.loc_step_i, s.loc);
        d.clock();
        top.load_i = 0;
        for (int i = 0; i <= steps + 2; i++) {
            top.join_i = unsigned(rng() & 1);
            top.run_i = uint32_t(rng()) & 0xffffff, top.n_i = rng() & 0xffffffffffff;
            d.low();
            if (over && i >= steps) {
                if (top.run_o != 0xffffff || (i == steps + 2 && !top.ready_o)) return false;
            } else if (bool(top.ready_o) != (i >= steps))
                return false;
            else if (i >= steps && (top.run_o != run || top.n_o != (n[0] | uint64_t(n[1]) << 16 |
                                                                    uint64_t(n[2]) << 32)))
                return false;
            d.clock();
        }
    }
    return true;
}
#endif
