// hd_bytes: random words in, random numbers of bytes out.
#include "test/mutate/stream.h"

bool run(Dut &d) {
    Vunit &top = d.top;
    BytesModel m;
    top.rst_ni = 0, top.valid_i = 0, top.drop_i = 0;
    for (int i = 0; i < 2; i++) d.clock();
    for (int t = 0, fill = 50, empty = 50; t < 20000; t++) {
        if (t % 64 == 0) fill = int(pick(10, 100)), empty = int(pick(10, 100));
        top.rst_ni = !chance(t % 512 < 500 ? 0 : 10);
        top.valid_i = chance(fill), top.data_i = uint32_t(rng() << 16 ^ rng());
        unsigned drop = chance(empty) ? unsigned(pick(0, m.have())) : 0;
        top.drop_i = drop;
        d.low();
        uint64_t mask = (uint64_t(1) << 8 * m.have()) - 1;
        if (top.have_o != m.have() || bool(top.ready_o) != m.ready() ||
            (uint64_t(top.bytes_o) & mask) != m.shown())
            return false;
        m.clock(top.valid_i && m.ready(), top.data_i, drop);
        if (!top.rst_ni) m = BytesModel();
        d.clock();
    }
    return true;
}
