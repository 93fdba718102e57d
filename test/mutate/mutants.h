// What the benches of mutated units share: the loop over mutants.
//
// A bench defines run(): drives a new unit and returns false at the first difference from its
// oracle, also when the unit does not answer. It draws the same vectors for every mutant.
#ifndef HD_TEST_MUTATE_MUTANTS_H
#define HD_TEST_MUTATE_MUTANTS_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "Vunit.h"
#include "verilated.h"

static uint64_t rng_state;

static inline uint64_t rng() {
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state * 0x2545f4914f6cdd1dull >> 16;
}

static inline int64_t pick(int64_t lo, int64_t hi) {
    return lo + int64_t(rng() % uint64_t(hi - lo + 1));
}

static inline bool chance(int percent) {
    return pick(0, 99) < percent;
}

// The unit; a clock edge.
struct Dut {
    VerilatedContext ctx;
    Vunit top{&ctx};
    explicit Dut(unsigned sel) { top.mutsel = sel; }
    void low() {
        top.clk_i = 0;
        top.eval();
    }
    void clock() {
        low();
        top.clk_i = 1;
        top.eval();
    }
};

// A part_t and a word_t of hd_bus_pkg.
enum Memory { kWmPart = 4, kPmPart = 2, kTmPart = 1, kNoPart = 0 };
static inline uint64_t part_bits(Memory memory, uint64_t addr, unsigned part, bool col = false,
                                 unsigned k = 0) {
    return uint64_t(memory) << 40 | uint64_t(col) << 39 | uint64_t(k) << 33 | addr << 9 | part;
}
static inline bool word_req(uint32_t word) {
    return word >> 24;
}
static inline uint32_t word_addr(uint32_t word) {
    return word & 0xffffff;
}

bool run(Dut &d);

// Prints the mutants that survive; 1 when the unit itself does not pass.
int main(int argc, char **argv) {
    unsigned mutants = argc > 1 ? unsigned(atoi(argv[1])) : 0;
    for (unsigned sel = 0; sel <= mutants; sel++) {
        rng_state = 0x9e3779b97f4a7c15ull;
        Dut d(sel);
        bool passed = run(d);
        if (sel == 0 && !passed) return 1;
        if (sel && passed) printf("survived %u\n", sel);
    }
    return 0;
}

#endif
