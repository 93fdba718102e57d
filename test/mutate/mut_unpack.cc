// hd_unpack: random programs, whose bytes come and whose words are taken with stalls.
#include "test/mutate/stream.h"

static bool one(Dut &d, const Program &p) {
    Vunit &top = d.top;
    UnpackModel m = {p.packed, p.total};
    size_t at = 0, here = 0;
    int come = int(pick(20, 100)), go = int(pick(20, 100)), idle = 0;
    top.rst_ni = 0, top.ready_i = 0, top.have_i = 0, top.end_i = 0;
    top.packed_i = p.packed, top.total_i = p.total;
    for (int i = 0; i < 2; i++) d.clock();
    top.rst_ni = 1;
    while (idle < 40) { // at its end nothing moves
        while (here < p.bytes.size() && here - at < 12 && chance(come)) here += 4;
        uint64_t v = rng() << 32 ^ rng();
        unsigned have = here - at < 5 ? unsigned(here - at) : 5;
        for (unsigned i = 0; i < have; i++)
            v = (v & ~(uint64_t(255) << 8 * i)) | uint64_t(p.bytes[at + i]) << 8 * i;
        bool ready = chance(go), end = here == p.bytes.size();
        top.bytes_i = v & 0xffffffffff, top.have_i = have, top.end_i = end, top.ready_i = ready;
        d.low();
        if (bool(top.valid_o) != m.valid() || bool(top.bad_o) != m.bad_o()) return false;
        if (m.valid() && top.word_o != m.sent.front()) return false;
        bool moves = m.valid() || m.held;
        unsigned took = m.cycle(v, have, end, ready);
        if (top.drop_o != took) return false;
        idle = moves || took || m.held ? 0 : idle + 1;
        at += took;
        d.clock();
    }
    return true;
}

bool run(Dut &d) {
    for (int i = 0; i < 400; i++)
        if (!one(d, random_program(int(i < 100 ? pick(1, 4) : pick(1, 60))))) return false;
    return true;
}
