// hd_mx, K = 8, N = 2: random nests one behind the other, XM granted or not, operations that fail,
// a reset on the way, against plain loops.
#include <deque>

#define _Noreturn [[noreturn]]
extern "C" {
#include "isa/isa.h"
}
#include "test/mutate/mutants.h"

namespace {

constexpr int kK = 8, kN = 2, kXm = 64, kAm = 32, kWm = 16, kLoops = 6;
const int kWords = hd_isa_units[HD_UNIT_mx].n_words;
enum {
#define ERR(name, code, doc) kErr_##name = code,
#include "isa/regs.def"
};

struct Op {
    int64_t n[kLoops], xs[kLoops], ws[kLoops], as[kLoops], x, w, a, nred;
    bool accumulate, uns;
    unsigned code;
};

struct Bench {
    Dut &d;
    int8_t wm[kWm][kN][kK];
    uint8_t xm[kXm][kK];
    uint32_t am[kAm][kN] = {}, want[kAm][kN] = {};
    std::deque<int> results; // of operations taken: -1: done, else the error
    bool good = true;
    // Reads are answered 2 cycles after their grant.
    uint64_t x_read[2] = {}, a_read[2] = {};
    uint32_t write = 0; // of the next cycle

    uint64_t am_word(unsigned a) { return am[a % kAm][0] | uint64_t(am[a % kAm][1]) << 32; }

    // One cycle; true when the operation was taken.
    bool clock(bool offer, bool grant, int result = -1) {
        Vunit &top = d.top;
        top.op_valid_i = offer;
        top.xm_rdata_i = x_read[1], top.am_rdata_i = a_read[1];
        d.low();
        top.xm_gnt_i = grant && word_req(top.xm_o);
        d.low();
        bool taken = offer && top.op_ready_o && top.rst_ni;
        if (bool(top.busy_o) != !results.empty()) good = false;
        if (taken && !results.empty() && results.back() >= 0)
            good = false; // nothing is taken before the error is told
        x_read[1] = x_read[0], a_read[1] = a_read[0];
        x_read[0] = rng() << 32 ^ rng(), a_read[0] = rng() << 32 ^ rng();
        if (top.xm_gnt_i) {
            if (word_addr(top.xm_o) >= kXm)
                good = false;
            else
                memcpy(&x_read[0], xm[word_addr(top.xm_o)], kK);
        }
        if (bool(top.stall_bank_o) != (word_req(top.xm_o) && !top.xm_gnt_i)) good = false;
        if (word_req(top.am_o)) a_read[0] = am_word(word_addr(top.am_o));
        if (word_req(write)) { // told a cycle before
            const uint32_t at = word_addr(write);
            if (at >= kAm)
                good = false;
            else
                am[at][0] = uint32_t(top.amw_wdata_o), am[at][1] = uint32_t(top.amw_wdata_o >> 32);
        }
        write = top.rst_ni ? unsigned(top.amw_next_o) : 0;
        const bool done = top.res_o >> 6 & 1, err = top.res_o >> 5 & 1;
        if (done || err) {
            if (results.empty() || (done && err) || done != (results.front() < 0) ||
                (err && int(top.res_o & 31) != results.front()))
                good = false;
            if (!results.empty()) results.pop_front();
        }
        if (taken) results.push_back(result);
        d.clock();
        return taken;
    }

    void reset() {
        d.top.rst_ni = 0;
        clock(chance(50), chance(50));
        d.top.rst_ni = 1;
        results.clear();
    }
};

int run_op(Bench &b, const Op &o) {
    if (o.nred > kLoops) return kErr_operand;
    for (int64_t n : o.n)
        if (!n) return kErr_operand;
    int64_t i[kLoops] = {};
    uint32_t acc[kN] = {};
    for (;;) {
        int64_t x = o.x, w = o.w, a = o.a;
        bool begin = true, end = true, last = true;
        for (int l = 0; l < kLoops; l++) {
            x += i[l] * o.xs[l], w += i[l] * o.ws[l];
            if (l >= o.nred) a += i[l] * o.as[l];
            if (l < o.nred) begin = begin && i[l] == 0, end = end && i[l] == o.n[l] - 1;
            last = last && i[l] == o.n[l] - 1;
        }
        if (x < 0 || x >= kXm || w < 0 || w >= kWm || (end && (a < 0 || a >= kAm)))
            return kErr_range;
        for (int c = 0; c < kN; c++) {
            if (begin) acc[c] = 0;
            for (int k = 0; k < kK; k++)
                acc[c] +=
                    uint32_t((o.uns ? int(b.xm[x][k]) : int(int8_t(b.xm[x][k]))) * b.wm[w][c][k]);
            if (end) b.want[a][c] = acc[c] + (o.accumulate ? b.want[a][c] : 0);
        }
        if (last) return -1;
        for (int l = 0; ++i[l] == o.n[l]; l++) i[l] = 0;
    }
}

Op draw() {
    Op o = {};
    int64_t total = 1, a_stride = 1;
    o.nred = pick(0, kLoops);
    o.accumulate = chance(60), o.uns = chance(50), o.code = 1;
    int64_t lo[3] = {}, hi[3] = {};
    for (int l = 0; l < kLoops; l++) {
        o.n[l] = chance(50) || total > 40 ? 1 : pick(1, 4);
        total *= o.n[l];
        int64_t step[3] = {pick(-3, 4), pick(-2, 2), 0};
        if (l >= o.nred && a_stride * o.n[l] <= kAm / 2) {
            step[2] = (chance(20) ? -1 : 1) * a_stride;
            a_stride *= o.n[l];
        } else if (l >= o.nred) {
            o.n[l] = 1;
        } else {
            step[2] = pick(-99, 99); // of a reduction loop: not used
        }
        o.xs[l] = step[0], o.ws[l] = step[1], o.as[l] = step[2];
        for (int s = 0; s < 3; s++)
            if (s < 2 || l >= o.nred) (step[s] < 0 ? lo : hi)[s] += step[s] * (o.n[l] - 1);
    }
    int64_t size[3] = {kXm, kWm, kAm}, base[3];
    for (int s = 0; s < 3; s++)
        base[s] = hi[s] - lo[s] < size[s] ? pick(-lo[s], size[s] - 1 - hi[s]) : 0;
    if (chance(2)) base[pick(0, 2)] += chance(50) ? 1 : 20;
    o.x = base[0], o.w = base[1], o.a = base[2];
    if (chance(2)) o.nred = 7;
    if (chance(3)) o.n[pick(0, kLoops - 1)] = 0;
    return o;
}

void put(Vunit &top, const Op &o) {
    uint32_t p[HD_PARAM_WORDS] = {};
    auto set = [&](int field, int64_t v) {
        const hd_field_place f = hd_field_places[field]; // what does not fit is cut
        p[f.word] |= (uint32_t(v) & hd_field_mask(f)) << f.lsb;
    };
    set(HD_F_mx_nred, o.nred), set(HD_F_mx_accumulate, o.accumulate);
    set(HD_F_mx_x_unsigned, o.uns);
    set(HD_F_mx_x, o.x), set(HD_F_mx_w, o.w), set(HD_F_mx_a, o.a);
    for (int l = 0; l < kLoops; l++) {
        set(HD_F_mx_n0 + 4 * l, o.n[l]), set(HD_F_mx_xs0 + 4 * l, o.xs[l]);
        set(HD_F_mx_ws0 + 4 * l, o.ws[l]), set(HD_F_mx_as0 + 4 * l, o.as[l]);
    }
    for (int i = 0; i < kWords; i++) top.op_i[i] = p[i]; // the code above the words
    top.op_i[kWords] = o.code;
}

} // namespace

bool run(Dut &d) {
    Vunit &top = d.top;
    Bench b{d};
    top.rst_ni = 0, top.part_i = 0, top.op_valid_i = 0;
    for (int i = 0; i <= kWords; i++) top.op_i[i] = 0;
    for (int i = 0; i < 12; i++) d.clock();
    b.reset();
    for (auto &word : b.xm)
        for (uint8_t &v : word) v = uint8_t(rng());
    for (int i = 0; i < kWm * kN; i++) {
        uint64_t v = 0;
        for (int k = 0; k < kK; k++)
            v |= uint64_t(uint8_t(b.wm[i / kN][i % kN][k] = int8_t(rng()))) << 8 * k;
        top.part_i = part_bits(kWmPart, unsigned(i / kN), unsigned(i % kN));
        top.part_wdata_i = v;
        b.clock(false, false);
    }
    for (int k = 0; k < kK; k++) { // word 0 again, column by column
        top.part_i = part_bits(kWmPart, 0, 0, true, unsigned(k));
        top.part_wdata_i = 0;
        for (int n = 0; n < kN; n++)
            top.part_wdata_i |= uint64_t(uint8_t(b.wm[0][n][k] = int8_t(rng()))) << 8 * n;
        b.clock(false, false);
    }
    top.part_i = 0;
    for (auto &word : b.am) // what accumulating operations add to
        for (uint32_t &v : word) v = uint32_t(rng());
    memcpy(b.want, b.am, sizeof b.am);
    // Until all that was taken is done; what it wrote.
    auto drain = [&](int share) {
        for (int guard = 0; !b.results.empty(); b.clock(false, chance(share)))
            if (++guard > 3000) return false;
        b.clock(false, true);
        return !memcmp(b.am, b.want, sizeof b.am);
    };
    auto cut = [&] {
        for (int i = int(pick(0, 12)); i > 0; i--) b.clock(false, true);
        b.reset();
        for (int i = 0; i < 14; i++) b.clock(false, true);
        memcpy(b.want, b.am, sizeof b.am); // what of it was written is not said
    };
    for (int op = 0; op < 700 && b.good; op++) {
        Op o = draw();
        if (chance(2)) o.code = unsigned(chance(50) ? 0 : 2 + rng() % 14);
        int error = o.code == 1 ? run_op(b, o) : int(kErr_encoding);
        put(top, o);
        int share = int(pick(1, 3)) * 33 + 1, guard = 0;
        if (chance(30))
            for (int i = int(pick(1, 15)); i > 0; i--) b.clock(false, chance(share));
        while (!b.clock(true, chance(share), error))
            if (++guard > 3000) return false;
        if (chance(error < 0 ? 10 : 50) && !drain(share)) return false;
        if (chance(3)) cut();
    }
    if (!drain(100)) return false;
    for (int i = 0; i < 16 * kLoops && b.good; i++) { // counts of one bit are none of zero
        Op o = draw();
        for (int l = 0; l < kLoops; l++)
            o.n[l] = l == i % kLoops ? 1 << i / kLoops : 1, o.xs[l] = o.ws[l] = o.as[l] = 0;
        o.x %= kXm, o.w %= kWm, o.a %= kAm, o.nred %= 7;
        put(top, o);
        for (int guard = 0; !b.clock(true, true);)
            if (++guard > 100) return false;
        for (int k = 0; k < 8; k++) b.clock(false, true); // an error would be told
        cut();
    }
    for (int i = 0; i < 3 * 20 && b.good; i++) { // an address beyond memory, by one bit
        Op o = draw();
        for (int64_t &n : o.n) n = 1;
        o.x %= kXm, o.w %= kWm, o.a %= kAm, o.nred %= 7;
        (i % 3 == 0 ? o.x : i % 3 == 1 ? o.w : o.a) |= int64_t(1) << (4 + i / 3);
        int error = run_op(b, o);
        put(top, o);
        for (int guard = 0; !b.clock(true, true, error);)
            if (++guard > 100) return false;
        if (!drain(100)) return false;
    }
    return b.good;
}
