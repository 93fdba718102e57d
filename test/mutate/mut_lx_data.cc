// hd_lx_data, 8 bytes wide: runs with any shift, length and padding from random beats, with stalls on
// both sides, against a copy byte by byte; then records with an error, beats with an error, a stop.
#include <cstring>
#include <deque>
#include <vector>

#include "test/mutate/mutants.h"

namespace {

constexpr int kAxi = 8, kBytes = 4096;
enum {
#define ERR(name, code, doc) kErr_##name = code,
#include "isa/regs.def"
};

struct Run {
    uint32_t loc, run, lo, hi, offset;
    uint8_t pad, err;
    bool last, am;
};

struct Bench {
    Dut &d;
    Vunit &top = d.top;
    uint8_t mem[2][kBytes + 64] = {}, want[2][kBytes + 64] = {}; // XM, AM
    std::deque<uint64_t> beats;
    long dones = 0, errs = 0;
    unsigned code = 0;
    bool good = true;

    void drive_record(const Run &r) {
        // {to AM, last, err 5, pad 8, offset 3, hi 24, lo 24, run 24, loc 28}
        unsigned __int128 v = r.am * 2u + r.last;
        auto add = [&](uint64_t x, int bits) { v = v << bits | x; };
        add(r.err, 5), add(r.pad, 8), add(r.offset, 3), add(r.hi, 24), add(r.lo, 24), add(r.run, 24);
        add(r.loc, 28);
        for (int i = 0; i < 4; i++) top.rec_i[i] = uint32_t(v >> 32 * i);
    }

    // One clock; returns whether the record was taken.
    bool step(bool offer, bool beat_ok, bool grant) {
        top.rec_valid_i = offer;
        top.r_valid_i = beat_ok && !beats.empty();
        top.r_data_i = top.r_valid_i ? beats.front() : rng();
        top.xm_gnt_i = top.am_gnt_i = 0;
        top.clk_i = 0;
        top.eval();
        if (top.xm_req_o && top.am_req_o) good = false;
        top.xm_gnt_i = grant && top.xm_req_o;
        top.am_gnt_i = grant && top.am_req_o;
        top.eval();
        bool taken = offer && top.rec_ready_o;
        if (top.xm_gnt_i || top.am_gnt_i)
            for (unsigned b = 0; b < kAxi; b++)
                if (top.xm_be_o >> b & 1) {
                    if (top.xm_addr_o % kAxi || top.xm_addr_o + b >= sizeof mem[0]) good = false;
                    else mem[top.am_gnt_i][top.xm_addr_o + b] = uint8_t(top.xm_wdata_o >> 8 * b);
                }
        if (top.r_valid_i && top.r_ready_o) beats.pop_front();
        top.clk_i = 1;
        top.eval();
        dones += top.op_done_o;
        errs += top.op_err_o;
        if (top.op_err_o) code = top.op_err_code_o;
        return taken;
    }

    void reset() {
        top.rst_ni = 0;
        top.stop_i = 0;
        top.r_err_i = 0;
        for (int i = 0; i < 3; i++) step(false, false, false);
        top.rst_ni = 1;
        beats.clear();
    }

    // Draws a run and its beats, and does its work on `want`.
    Run draw(bool last) {
        Run r{};
        r.run = uint32_t(pick(0, 5) ? pick(1, 40) : pick(1, 300));
        r.loc = uint32_t(pick(0, kBytes - int(r.run)));
        r.lo = 0, r.hi = r.run;
        if (pick(0, 1)) {
            r.lo = uint32_t(pick(0, r.run)), r.hi = uint32_t(pick(r.lo, r.run));
            if (r.lo == r.hi) r.lo = r.hi = r.run;
        }
        r.pad = uint8_t(rng());
        r.offset = uint32_t(pick(0, kAxi - 1));
        r.last = last;
        r.am = chance(25);
        uint8_t *to = want[r.am];
        memset(to + r.loc, r.pad, r.run);
        uint32_t n = r.hi - r.lo, count = n ? (n + r.offset + kAxi - 1) / kAxi : 0;
        std::vector<uint8_t> bytes(count * kAxi);
        for (auto &b : bytes) b = uint8_t(rng());
        if (n) memcpy(to + r.loc + r.lo, &bytes[r.offset], n);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t v;
            memcpy(&v, &bytes[i * kAxi], kAxi);
            beats.push_back(v);
        }
        return r;
    }

    bool same() const { return good && !memcmp(mem, want, sizeof mem); }
};

} // namespace

bool run(Dut &d) {
    Bench bench{d}, *b = &bench;
    b->reset();
    long ops = 0;
    for (int t = 0; t < 600; t++) {
        bool last = pick(0, 2) != 0;
        Run r = b->draw(last);
        b->drive_record(r);
        ops += last;
        int busy = int(pick(0, 2)), guard = 0;
        while (!b->step(true, busy ? pick(0, busy) != 0 : true, busy ? pick(0, busy) != 0 : true))
            if (++guard > 2000) return false;
        if (pick(0, 3) == 0) // the run must end by itself, before the next one
            for (int i = 0; i < 700 && !(b->beats.empty() && i > 80); i++) b->step(false, true, true);
    }
    for (int i = 0; i < 300; i++) b->step(false, true, true);
    if (!b->same() || b->dones != ops || b->errs || !b->beats.empty()) return false;
    for (int t = 0; t < 24; t++) { // errors: of the record, of a beat; nothing is written after them
        b->reset();
        b->dones = b->errs = 0;
        Run r = b->draw(true);
        if (r.lo == r.hi) r.lo = 0, r.hi = r.run, b->beats.assign(60, rng());
        if (t % 2) r.err = kErr_range;
        memcpy(b->want, b->mem, sizeof b->mem);
        b->drive_record(r);
        b->top.r_err_i = !(t % 2);
        for (int guard = 0; !b->step(true, false, true);)
            if (++guard > 2000) return false;
        for (int i = 0; i < 80; i++) b->step(i % 3 == 0, true, true);
        if (b->errs != 1 || b->dones || b->code != (t % 2 ? unsigned(kErr_range) : unsigned(kErr_axi))) return false;
        // padding before the bad beat may be there, data not: look behind the first data byte
        if (t % 2 && memcmp(b->want, b->mem, sizeof b->mem)) return false;
        memcpy(b->want, b->mem, sizeof b->mem);
    }
    b->reset(); // a stop drops what comes
    b->draw(true);
    b->beats.assign(20, 0);
    b->top.stop_i = 1;
    memcpy(b->want, b->mem, sizeof b->mem);
    for (int i = 0; i < 60; i++) b->step(true, true, true);
    return b->same() && b->beats.empty();
}
