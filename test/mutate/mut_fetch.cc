// hd_fetch, 8 bytes wide: random programs, with everything that can be wrong with a header, where
// they lie and what the memory answers; every output in every cycle.
#include <deque>
#include <vector>

#include "test/mutate/mutants.h"

#define _Noreturn [[noreturn]]
extern "C" {
#include "isa/isa.h"
}

#define STRING(x) #x
#define NAME(x)   STRING(x)

enum { AXI = 8, CHUNK = 256, CHUNKS = 2, HEADER = 4, SKID = 2 };

struct Place { // of a program in memory
    uint64_t image;
    uint32_t image_bytes, offset;
    std::vector<uint32_t> words; // from the offset on
};

static uint32_t hashes[2];

struct FetchModel {
    const Place *p;
    bool begun = false, known = false;
    uint64_t at = 0, limit = 0;
    uint32_t reserved = 0, open = 0, next = 0, words = 0, pc = HEADER, err = 0;
    std::deque<uint64_t> beats;
    std::deque<uint32_t> skid;

    uint64_t addr() const { return p->image + at; }
    uint32_t want() const {
        uint64_t room = CHUNK - addr() % CHUNK;
        return uint32_t(limit - at < room ? limit - at : room);
    }
    uint32_t burst() const { return (want() + AXI - 1) / AXI; }
    bool asks(bool stop) const {
        return begun && !stop && !err && at < limit && reserved + burst() <= CHUNKS * CHUNK / AXI;
    }
    bool valid() const { return !skid.empty() && !err; }
    bool end() const { return known && pc == words; }

    uint32_t header_error(uint32_t low, uint32_t high) const {
        if (next == 0) {
            if (low != HD_PROG_MAGIC) return uint32_t(HD_ERR_magic);
            return high != hashes[0] ? uint32_t(HD_ERR_isa) : 0;
        }
        if (low != hashes[1]) return uint32_t(HD_ERR_machine);
        if (p->offset + 4 * uint64_t(high) > p->image_bytes) return uint32_t(HD_ERR_window);
        return high < HEADER ? uint32_t(HD_ERR_encoding) : 0;
    }

    void clock(const Vunit &in) {
        bool ask = asks(in.stop_i) && in.ar_ready_i, here = !beats.empty() && !err;
        bool header = next < HEADER, more = here && !header && next != words;
        uint32_t low = here ? uint32_t(beats[0]) : 0, high = here ? uint32_t(beats[0] >> 32) : 0;
        bool room = skid.size() < SKID, take = here && (header || (more && room));
        uint32_t n = header ? 2 : 1, error = 0;
        if (valid() && in.word_ready_i) skid.pop_front(), pc++;
        if (more && room) skid.push_back(next % 2 ? high : low);
        if (in.run_i && !begun) {
            if (p->offset + uint64_t(16) > p->image_bytes)
                error = uint32_t(HD_ERR_window);
            else if ((p->image | p->offset) % 64)
                error = uint32_t(HD_ERR_range);
        } else if (in.r_valid_i && in.r_err_i) {
            error = uint32_t(HD_ERR_axi);
        } else if (take && header) {
            error = header_error(low, high);
        }
        if (in.run_i && !begun) {
            uint64_t first = uint64_t(p->offset) / CHUNK * CHUNK + CHUNKS * CHUNK;
            begun = true, at = p->offset;
            limit = first < p->image_bytes ? first : p->image_bytes;
        } else {
            uint32_t bytes_asked = want(), beats_asked = burst();
            if (take && header && next) {
                words = high, known = true;
                limit = p->offset + 4 * uint64_t(high);
            }
            if (ask) at += bytes_asked, reserved += beats_asked, open++;
        }
        if (take) next += n;
        if (take && next % 2 == 0) beats.pop_front(), reserved--;
        if (in.r_valid_i) beats.push_back(in.r_data_i);
        open -= in.r_valid_i && in.r_last_i;
        if (!err) err = error;
    }
};

// A program of n words behind its header, and where it lies; faults: its header, or that place, may
// be wrong.
static Place random_place(uint32_t n, bool faults) {
    Place x;
    x.offset = uint32_t(chance(10) ? pick(0, 1 << 26) * 64 : pick(0, 40) * 64);
    if (faults && chance(3)) x.offset += uint32_t(pick(1, 63));
    x.image = (rng() << 32 ^ rng() << 6) & ~uint64_t(63);
    if (faults && chance(3)) x.image += uint64_t(pick(1, 63));
    x.words = {uint32_t(HD_PROG_MAGIC), hashes[0], hashes[1], HEADER + n};
    while (x.words.size() < HEADER + n) x.words.push_back(uint32_t(rng()));
    n += HEADER;
    x.image_bytes = x.offset + 4 * n + uint32_t(chance(50) ? 0 : pick(0, 2000));
    if (!faults) return x;
    if (chance(4)) x.image_bytes = x.offset + 4 * n - uint32_t(pick(1, 4));
    if (chance(4)) x.image_bytes = x.offset + uint32_t(pick(0, 16));
    if (chance(4)) x.words[3] = uint32_t(chance(50) ? pick(0, HEADER) : pick(1, 3) << 30);
    return x;
}

static uint64_t beat_at(const Place &p, uint64_t addr) {
    uint64_t from = addr - p.image - p.offset, beat = 0;
    for (unsigned i = 0; i < 2; i++)
        beat |= uint64_t(from / 4 + i < p.words.size() ? p.words[from / 4 + i] : 0x5a5a5a5a)
                << 32 * i;
    return beat;
}

static bool same(const Vunit &top, const FetchModel &m) {
    if (bool(top.ar_valid_o) != m.asks(top.stop_i)) return false;
    if (top.ar_valid_o && (top.ar_addr_o != m.addr() || top.ar_len_o != m.burst() - 1))
        return false;
    if (bool(top.drained_o) != !m.open || bool(top.word_valid_o) != m.valid()) return false;
    if (m.valid() && top.word_o != m.skid.front()) return false;
    if (top.pc_o != m.pc || bool(top.end_o) != m.end()) return false;
    return bool(top.err_o) == (m.err != 0) && top.err_code_o == m.err;
}

static bool one(Dut &d, const Place &p, bool faults) {
    struct Burst {
        uint64_t addr, beats;
        int wait;
    };
    Vunit &top = d.top;
    FetchModel m;
    m.p = &p;
    std::deque<Burst> open;
    int slow = int(pick(0, 20)), go = int(pick(20, 100)), ar = int(pick(20, 100)), idle = 0;
    int stop = faults && chance(10) ? int(pick(5, 200)) : -1,
        fault = faults && chance(4) ? int(pick(5, 100)) : -1;
    top.rst_ni = 0, top.run_i = 0, top.stop_i = 0, top.ar_ready_i = 0, top.word_ready_i = 0;
    top.r_valid_i = 0, top.r_err_i = 0, top.r_last_i = 0;
    top.image_ptr_i = p.image, top.image_bytes_i = p.image_bytes, top.code_offset_i = p.offset;
    for (int i = 0; i < 2; i++) d.clock();
    top.rst_ni = 1;
    for (int t = 0; idle < 40 && t < 60000; t++) {
        top.run_i = t > 2, top.stop_i = stop >= 0 && t >= stop;
        top.ar_ready_i = chance(ar), top.word_ready_i = chance(go);
        bool comes = !open.empty() && open[0].wait <= 0 && chance(80);
        top.r_valid_i = comes, top.r_data_i = comes ? beat_at(p, open[0].addr) : rng();
        top.r_last_i = comes ? open[0].beats == 1 : chance(50);
        top.r_err_i = comes ? fault >= 0 && t > fault : chance(50);
        d.low();
        if (!same(top, m)) return false;
        for (auto &b : open) b.wait--;
        if (comes) open[0].addr += AXI, open[0].beats--;
        if (comes && !open[0].beats) open.pop_front();
        bool asked = top.ar_valid_o && top.ar_ready_i;
        if (asked) open.push_back({top.ar_addr_o, uint64_t(top.ar_len_o) + 1, int(pick(0, slow))});
        idle = comes || asked || (top.word_valid_o && top.word_ready_i) ? 0 : idle + 1;
        m.clock(top);
        d.clock();
    }
    return true;
}

bool run(Dut &d) {
    hd_ctx *ctx = hd_ctx_create();
    struct hd_machine machine;
    if (hd_machine_load(ctx, NAME(MACHINE), &machine) != HD_OK) return false;
    hashes[0] = hd_isa_hash(), hashes[1] = hd_machine_hash(&machine);
    hd_ctx_destroy(ctx);
    for (uint32_t i = 0; i < 4 * 32; i++) { // one bit of the header
        uint32_t word = i / 32;
        Place x = random_place(uint32_t(pick(0, 8)), false);
        x.words[word] ^= 1u << i % 32;
        if (word == 3) x.image_bytes = UINT32_MAX;
        if (!one(d, x, false)) return false;
    }
    for (int i = 0; i < 12; i++) { // off its line
        Place x = random_place(uint32_t(pick(0, 8)), false);
        if (i % 2)
            x.offset += 1u << i / 2;
        else
            x.image += 1u << i / 2;
        if (!one(d, x, false)) return false;
    }
    for (int i = 0; i < 400; i++) {
        uint32_t n = uint32_t(i < 100 ? pick(0, 12) : pick(0, 600));
        if (!one(d, random_place(n, true), true)) return false;
    }
    for (int i = 0; i < 2; i++) // places of more bits, last because they take long
        if (!one(d, random_place(uint32_t(pick(8192, 9000)), false), false)) return false;
    return true;
}
