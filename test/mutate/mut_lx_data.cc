// hd_lx_data, 8 bytes wide: runs of any shift, length and padding from random beats, with stalls on
// all sides, against a copy byte by byte of each chunk; then errors of records and of beats, a
// stop, a reset, in the middle.
#include <deque>

#include "test/mutate/mutants.h"

namespace {

constexpr uint32_t kAxi = 8;
enum {
#define ERR(name, code, doc) kErr_##name = code,
#include "isa/regs.def"
};

struct Run {
    uint32_t loc, run, lo, hi, offset;
    uint8_t pad, err;
    bool last, am;
    uint64_t base, beats; // number of its first beat, how many
    uint64_t chunks() const { return (uint64_t(loc % kAxi) + run + kAxi - 1) / kAxi; }
    bool primes() const { return hi > lo && (loc + lo) % kAxi < offset; }
};

// The beats, by their number.
uint64_t beat(uint64_t n) {
    n = (n + 1) * 0x9e3779b97f4a7c15ull;
    n = (n ^ n >> 29) * 0xbf58476d1ce4e5b9ull;
    return n ^ n >> 32;
}

struct Bench {
    Dut &d;
    Vunit &top = d.top;
    std::deque<Run> todo, work;   // not taken; taken and not written to their ends
    uint64_t chunk = 0;           // of work.front(), the next to be written
    uint64_t made = 0, taken = 0; // beats
    uint64_t bad = ~0ull;         // the beat that comes with an error
    bool done_due = false, err_seen = false, err_may = false;
    unsigned code = 0;           // of the error that must come
    uint64_t stopped_writes = 0; // since stop_i

    void drive_record(const Run &r) {
        // {to AM, last, err 5, pad 8, offset 6, hi 24, lo 24, run 24, loc 28}
        unsigned __int128 v = r.am * 2u + r.last;
        auto add = [&](uint64_t x, int bits) { v = v << bits | x; };
        add(r.err, 5), add(r.pad, 8), add(r.offset, 6), add(r.hi, 24), add(r.lo, 24),
            add(r.run, 24);
        add(r.loc, 28);
        for (int i = 0; i < 4; i++) top.rec_i[i] = uint32_t(v >> 32 * i);
    }

    // A run of at most `most` bytes.
    Run draw(uint32_t most) {
        Run r{};
        r.run = uint32_t(pick(1, most));
        r.loc = uint32_t(pick(0, 0xfffffff - int64_t(r.run)));
        r.lo = 0, r.hi = r.run;
        if (chance(60)) {
            r.lo = uint32_t(pick(0, r.run)), r.hi = uint32_t(pick(r.lo, r.run));
            if (r.lo == r.hi) r.lo = r.hi = r.run;
        }
        r.pad = uint8_t(rng());
        r.offset = uint32_t(pick(0, kAxi - 1));
        r.last = chance(60);
        r.am = chance(40);
        return r;
    }

    void add(Run r) {
        uint64_t n = r.hi - r.lo;
        r.base = made;
        r.beats = n ? (n + r.offset + kAxi - 1) / kAxi : 0;
        made += r.beats;
        todo.push_back(r);
    }

    // What must be written next: false when nothing may be, for want of work or behind an error.
    bool expected(uint32_t *addr, uint64_t *data, unsigned *be) const {
        if (work.empty() || work.front().err) return false;
        const Run &r = work.front();
        const int64_t at = int64_t(chunk * kAxi) - r.loc % kAxi; // in the run
        *addr = r.loc / kAxi * kAxi + uint32_t(chunk * kAxi), *data = 0, *be = 0;
        for (int b = 0; b < int(kAxi); b++) {
            const int64_t p = at + b;
            if (p < 0 || p >= r.run) continue;
            uint8_t byte = r.pad;
            if (p >= r.lo && p < r.hi) {
                const uint64_t from = uint64_t(p) - r.lo + r.offset;
                if (r.base + from / kAxi >= bad) return false;
                byte = uint8_t(beat(r.base + from / kAxi) >> 8 * (from % kAxi));
            }
            *be |= 1u << b, *data |= uint64_t(byte) << 8 * b;
        }
        return true;
    }

    // One clock; percentages of a record, a beat and a grant.
    bool step(int records, int beats, int grants) {
        const bool offer = !todo.empty() && chance(records);
        drive_record(offer ? todo.front() : draw(0xffffff));
        top.rec_valid_i = offer;
        const bool beat_valid = taken < made && chance(beats);
        top.r_data_i = beat_valid ? beat(taken) : rng();
        const bool beat_err = beat_valid ? taken == bad : rng() & 1;
        top.r_i = unsigned(beat_valid) << 2 | unsigned(beat_err) << 1;
        if (beat_valid && taken >= bad) top.r_data_i = rng();
        top.chunk_gnt_i = 0;
        d.low();
        const bool xm = top.chunk_o >> 29 & 1, am = top.chunk_o >> 28 & 1, req = xm || am;
        if (xm && am) return false;
        const bool xm_gnt = xm && chance(grants), am_gnt = am && chance(grants);
        top.chunk_gnt_i = unsigned(xm_gnt) << 1 | unsigned(am_gnt);
        d.low();
        const bool done = top.res_o >> 6 & 1, err = top.res_o >> 5 & 1;
        const bool quiet = top.stop_i || err_seen || err;
        if (req) {
            uint32_t addr;
            uint64_t data, mask = 0;
            unsigned be;
            if (!expected(&addr, &data, &be) || am != work.front().am) return false;
            for (int b = 0; b < int(kAxi); b++) mask |= be >> b & 1 ? 0xffull << 8 * b : 0;
            if ((top.chunk_o & 0xfffffff) != addr || top.be_o != be ||
                ((top.wdata_o ^ data) & mask))
                return false;
        }
        if (done != done_due) return false;
        if (err && (!err_may || err_seen || req || (top.res_o & 31) != code)) return false;
        err_seen |= err;
        if (bool(top.busy_o) != (!work.empty() || done_due || err)) return false;
        if (quiet ? !top.r_ready_o || top.rec_ready_o || top.wait_mem_o
                  : bool(top.wait_mem_o) != (top.r_ready_o && !beat_valid))
            return false;
        if (beat_valid && top.r_ready_o && !quiet && (work.empty() || taken > bad)) return false;
        const bool took = offer && top.rec_ready_o, write = xm_gnt || am_gnt;
        taken += beat_valid && top.r_ready_o;
        done_due = false;
        if (write) {
            stopped_writes += top.stop_i;
            if (++chunk == work.front().chunks()) {
                done_due = work.front().last;
                work.pop_front();
                chunk = 0;
            }
        }
        if (took) {
            if (todo.front().err) err_may = true, code = todo.front().err;
            work.push_back(todo.front());
            todo.pop_front();
        }
        d.clock();
        return true;
    }

    // Until all is written, and a few cycles more.
    bool drain(int records, int beats, int grants) {
        uint64_t guard = 1000;
        for (const Run &r : todo) guard += 20 * (r.chunks() + 3);
        for (const Run &r : work) guard += 20 * (r.chunks() + 3);
        while (!todo.empty() || !work.empty())
            if (!guard-- || !step(records, beats, grants)) return false;
        for (int i = 0; i < 3; i++)
            if (!step(records, beats, grants)) return false;
        return taken == made;
    }

    void reset() {
        top.rst_ni = 0;
        top.rec_valid_i = unsigned(rng() & 1), top.stop_i = 0;
        d.clock();
        top.rst_ni = 1;
        todo.clear(), work.clear();
        chunk = stopped_writes = 0;
        taken = made, bad = ~0ull;
        done_due = err_seen = err_may = false;
    }
};

int percent() {
    static const int some[] = {30, 60, 90, 100, 100};
    return some[pick(0, 4)];
}

} // namespace

bool run(Dut &d) {
    Bench b{d};
    b.reset();
    for (int t = 0; t < 300; t++) {
        for (int n = int(pick(1, 6)); n > 0; n--) b.add(b.draw(chance(80) ? 40 : 300));
        if (!b.drain(percent(), percent(), percent())) return false;
    }
    for (int t = 0; t < 60;
         t++) { // a chunk a cycle, two more for the first, one more where two beats must be at hand
        uint64_t cycles = 2;
        for (int n = int(pick(1, 6)); n > 0; n--) {
            b.add(b.draw(60));
            cycles += b.todo.back().chunks() + b.todo.back().primes();
        }
        for (; cycles; cycles--)
            if ((b.todo.empty() && b.work.empty()) || !b.step(100, 100, 100)) return false;
        if (!b.todo.empty() || !b.work.empty() || !b.drain(100, 100, 100)) return false;
    }
    for (int t = 0; t < 200; t++) { // an end in the middle
        const int way = t % 4;      // error of a record, error of a beat, stop, reset
        for (int n = int(pick(1, 5)); n > 0; n--) b.add(b.draw(100));
        if (way == 0) {
            Run r = b.draw(60);
            r.err = uint8_t(pick(1, 31));
            b.add(r);
            b.made -= b.todo.back().beats; // hd_lx_gen asks for none
            b.add(b.draw(60));
        }
        if (way == 1 && b.made > b.taken) {
            b.bad = uint64_t(pick(int64_t(b.taken), int64_t(b.made) - 1));
            b.err_may = true, b.code = kErr_axi;
        }
        const int r = percent(), p = percent(), g = percent();
        for (int i = way < 2 ? 0 : int(pick(1, 40)); i > 0; i--)
            if (!b.step(r, p, g)) return false;
        if (way == 2) b.top.stop_i = 1;
        for (int i = 0; way < 3 && i < 3000; i++) {
            if (!b.step(r, p, g)) return false;
            if (b.taken == b.made && (way == 2    ? i > 20
                                      : b.err_may ? b.err_seen && i % 16 == 15
                                                  : b.work.empty()))
                break;
        }
        if (b.err_may && !b.err_seen) return false;
        if (way == 2 && (b.stopped_writes > 1 || b.taken != b.made)) return false;
        uint32_t addr;
        uint64_t data;
        unsigned be;
        if (way < 2 && b.err_seen && b.expected(&addr, &data, &be))
            return false; // what came before is written
        b.reset();
    }
    for (int t = 0; t < 24; t++) { // long runs, at last, because they take long
        Run r = b.draw(1u << pick(12, 20));
        if (t >= 22) {
            r = {0x5000003, 0xffffff, 0, 0xffffff, 7, 0xa5, 0, true, false, 0, 0};
            if (t == 23) r.lo = 0xc00005, r.hi = 0xfffff0;
        }
        b.add(r);
        if (!b.drain(100, 100, 100)) return false;
    }
    return true;
}
