// hd_mac_array, K = 8, N = 2, 4 words: random weights, row-wise and column-wise, steps with gaps,
// sums of any length, a reset on the way.
#include "test/mutate/mutants.h"

bool run(Dut &d) {
    constexpr int kK = 8, kN = 2, kWords = 4, kDelay = 7;
    Vunit &top = d.top;
    int8_t w[kWords][kN][kK];
    uint32_t acc[kN] = {}, out[kN] = {};
    struct Step {
        bool on, first;
        uint32_t sum[kN];
    } pipe[kDelay] = {};
    uint64_t x_later[3] = {};
    bool started = false;
    top.rst_ni = 0;
    for (int i = 0; i < 8; i++) d.clock();
    top.rst_ni = 1;
    auto byte = [] { return pick(0, 3) ? int8_t(rng()) : int8_t(pick(0, 1) ? -128 : 127); };
    auto write_row = [&](int word, int n) {
        uint64_t v = 0;
        for (int k = 0; k < kK; k++) v |= uint64_t(uint8_t(w[word][n][k] = byte())) << 8 * k;
        top.part_i = part_bits(kWmPart, unsigned(word), unsigned(n), false, unsigned(rng()) & 63);
        top.wdata_i = v;
    };
    auto write_column = [&](int word, int k) {
        uint64_t v = rng() << 32;
        for (int n = 0; n < kN; n++) {
            v &= ~(uint64_t(255) << 8 * n);
            v |= uint64_t(uint8_t(w[word][n][k] = byte())) << 8 * n;
        }
        top.part_i = part_bits(kWmPart, unsigned(word), 0, true, unsigned(k));
        top.wdata_i = v;
    };
    // A part or a column that WM does not have: nothing is written.
    auto write_nowhere = [&](int word) {
        const unsigned far = 1u << pick(1, 8), k = unsigned(rng()) & 7;
        if (chance(50))
            top.part_i = part_bits(kWmPart, unsigned(word), far | (unsigned(rng()) & 1));
        else if (chance(50))
            top.part_i = part_bits(kWmPart, unsigned(word), far, true, k);
        else
            top.part_i = part_bits(kWmPart, unsigned(word), 0, true, k | 1u << pick(3, 5));
    };
    for (int i = 0; i < kWords * kN; i++) {
        write_row(i / kN, i % kN);
        d.clock();
    }
    for (int t = 0; t < 5000; t++) {
        const bool column = pick(0, 1);
        top.wdata_i = rng();
        top.part_i = part_bits(kNoPart, unsigned(pick(0, kWords - 1)), 0, column);
        int written = -1;
        if (chance(12)) {
            written = int(pick(0, kWords - 1));
            if (chance(50))
                write_row(written, int(pick(0, kN - 1)));
            else
                write_column(written, int(pick(0, kK - 1)));
        } else if (chance(20)) {
            write_nowhere(int(pick(0, kWords - 1)));
        }
        Step s = {pick(0, 3) != 0, !started || pick(0, 5) == 0, {}};
        int word = int(pick(0, kWords - 1));
        if (word == written) s.on = false; // old or new: not this unit's promise
        bool uns = chance(50);
        uint64_t x = pick(0, 2) ? rng() << 32 ^ rng() : pick(0, 1) ? ~0ull : 0x8080808080808080ull;
        top.rst_ni = !chance(1);
        top.en_i = s.on;
        top.first_i = s.first;
        top.x_unsigned_i = uns;
        top.addr_i = unsigned(word);
        x_later[2] = x_later[1], x_later[1] = x_later[0], x_later[0] = x;
        top.x_i = x_later[2];
        for (int n = 0; s.on && n < kN; n++)
            for (int k = 0; k < kK; k++) {
                int b = uint8_t(x >> 8 * k);
                s.sum[n] += uint32_t((uns ? b : int8_t(b)) * w[word][n][k]);
            }
        started = started || (s.on && top.rst_ni);
        d.clock();
        for (int i = kDelay - 1; i > 0; i--) pipe[i] = pipe[i - 1];
        pipe[0] = s;
        const Step &done = pipe[kDelay - 1];
        for (int n = 0; done.on && n < kN; n++)
            out[n] = acc[n] = (done.first ? 0 : acc[n]) + done.sum[n];
        if (!top.rst_ni) { // drops what is under way; the next sum starts anew
            for (int i = 0; i < kDelay - 1; i++) pipe[i].on = false;
            started = false;
        }
        if (t > 20)
            for (int n = 0; n < kN; n++)
                if (uint32_t(top.acc_o >> 32 * n) != out[n]) return false;
    }
    return true;
}
