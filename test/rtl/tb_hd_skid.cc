// hd_skid against a queue of two, with random stalls on both sides. usage: tb_hd_skid [cycles] [seed]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "Vhd_skid.h"
#include "verilated.h"

int main(int argc, char **argv) {
    long cycles = argc > 1 ? atol(argv[1]) : 200000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 0) : 1, rng = seed * 0x9e3779b97f4a7c15ull;
    Vhd_skid top;
    std::deque<uint32_t> model;
    size_t full = 0, empty = 0;
    const size_t depth = 2;
    unsigned push_share = 4, pop_share = 4;
    top.clk_i = 0;
    top.rst_ni = 0;
    for (long c = 0; c < cycles; c++) {
        rng ^= rng << 13, rng ^= rng >> 7, rng ^= rng << 17;
        if (c % 100 == 0) push_share = rng >> 20 & 7, pop_share = rng >> 24 & 7; // bursts of each kind
        top.rst_ni = c > 2;
        top.valid_i = c > 2 && (rng >> 40 & 7) <= push_share;
        top.ready_i = (rng >> 44 & 7) <= pop_share;
        top.data_i = static_cast<uint32_t>(rng >> 8);
        top.eval();
        if (c > 2) {
            bool bad = top.valid_o != !model.empty() || top.ready_o != (model.size() < depth) ||
                       (!model.empty() && top.data_o != model.front());
            if (bad) {
                printf("tb_hd_skid: cycle %ld, seed %llu: valid %d ready %d data %08x, model holds %zu\n", c,
                       static_cast<unsigned long long>(seed), top.valid_o, top.ready_o, top.data_o,
                       model.size());
                return 1;
            }
            full += !top.ready_o;
            empty += !top.valid_o;
            bool push = top.valid_i && top.ready_o, pop = top.valid_o && top.ready_i;
            if (pop) model.pop_front();
            if (push) model.push_back(top.data_i);
        }
        top.clk_i = 1;
        top.eval();
        top.clk_i = 0;
        top.eval();
    }
    top.final();
    printf("tb_hd_skid: %ld cycles, full in %zu, empty in %zu\n", cycles, full, empty);
    return full && empty ? 0 : 1;
}
