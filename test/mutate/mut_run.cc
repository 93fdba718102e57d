// hd_run_nest (-DUNIT_run_nest) and hd_run_join (-DUNIT_run_join): the addresses of every byte of a
// strided transfer, and that joining runs leaves them as they are.
#include "test/mutate/mutants.h"

namespace {

constexpr uint32_t kLocMask = 0xfffffff;
struct Nest {
    uint32_t run, n[3], ext[3], loc[3]; // counts, steps
    uint32_t from_ext, from_loc;
};

// A runs_t of hd_bus_pkg, from its lowest bit on.
struct Runs {
    enum {
        kRun = 0,
        kLoc = 24,
        kExt = 52,
        kLocStep = 84,
        kExtStep = 168,
        kCount = 264,
        kBits = 312
    };
    uint32_t word[(kBits + 31) / 32] = {};

    void put(unsigned lsb, unsigned bits, uint32_t v) {
        for (unsigned i = 0; i < bits; i++) word[(lsb + i) / 32] |= (v >> i & 1) << (lsb + i) % 32;
    }
    explicit Runs(const Nest &s) {
        put(kRun, 24, s.run), put(kLoc, 28, s.from_loc), put(kExt, 32, s.from_ext);
        for (unsigned l = 0; l < 3; l++) {
            put(kCount + 16 * l, 16, s.n[l]);
            put(kExtStep + 32 * l, 32, s.ext[l]), put(kLocStep + 28 * l, 28, s.loc[l]);
        }
    }
    template <typename T> void to(T &port) const {
        for (unsigned i = 0; i < sizeof word / sizeof word[0]; i++) port[i] = word[i];
    }
    template <typename T> bool same(const T &port) const {
        bool all = true;
        for (unsigned i = 0; i < sizeof word / sizeof word[0]; i++) all = all && port[i] == word[i];
        return all;
    }
};

} // namespace

#if defined UNIT_run_nest
// What the runs of `s` must be, one after the other; the unit waits at random, `patience` percent
// of the cycles it moves.
bool nest(Dut &d, const Nest &s, int patience) {
    Vunit &top = d.top;
    const uint32_t ext = s.from_ext, loc = s.from_loc;
    top.load_i = 1, top.adv_i = unsigned(rng() & 1); // a load comes first
    Runs(s).to(top.runs_i);
    d.clock();
    top.load_i = 0;
    for (uint32_t c = 0; c < s.n[2]; c++)
        for (uint32_t b = 0; b < s.n[1]; b++)
            for (uint32_t a = 0; a < s.n[0];) {
                unsigned level = a + 1 < s.n[0] ? 0 : b + 1 < s.n[1] ? 1 : 2;
                bool last = level == 2 && c + 1 == s.n[2];
                top.adv_i = chance(patience);
                for (int i = 0; i < Runs::kBits / 32; i++) top.runs_i[i] = uint32_t(rng());
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
        s.from_ext = uint32_t(rng()), s.from_loc = uint32_t(rng()) & kLocMask;
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
            if (chance(12)) s.loc[l] ^= 1u << rng() % 28;
            if (chance(12)) s.ext[l] ^= 1u << rng() % 32;
            if (chance(5)) s.n[l] = 0; // op_bad refuses it; it may not be joined
            inner = inner * (s.n[l] ? s.n[l] : 1);
        }
        if (op % 8 == 0) { // one bit of the product is set, often above the run's 24
            join = true;
            s = {1u << pick(0, 23), {1u << pick(0, 15), 1u << pick(0, 15), 1}, {}, {}, 0, 0};
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
        s.from_ext = uint32_t(rng()), s.from_loc = uint32_t(rng()) & kLocMask;
        top.load_i = 1, top.join_i = join, top.scale_i = scale;
        Runs(s).to(top.runs_i);
        d.clock();
        top.load_i = 0;
        for (int i = 0; i <= steps + 2; i++) {
            top.join_i = unsigned(rng() & 1);
            for (int w = 0; w < Runs::kBits / 32; w++) top.runs_i[w] = uint32_t(rng());
            d.low();
            if (over && i >= steps) {
                if ((top.runs_o[0] & 0xffffff) != 0xffffff || (i == steps + 2 && !top.ready_o))
                    return false;
            } else if (bool(top.ready_o) != (i >= steps)) {
                return false;
            } else if (i >= steps) {
                Nest joined = s;
                joined.run = uint32_t(run);
                for (int l = 0; l < 3; l++) joined.n[l] = n[l];
                if (!Runs(joined).same(top.runs_o)) return false;
            }
            d.clock();
        }
    }
    return true;
}
#endif
