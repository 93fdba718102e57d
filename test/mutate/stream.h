// What the benches of fetch share: random programs as bytes (docs/isa.md, "Stream"), and hd_bytes
// and hd_unpack in C++, to the cycle.
#ifndef HD_TEST_MUTATE_STREAM_H
#define HD_TEST_MUTATE_STREAM_H

#include <deque>
#include <vector>

#include "test/mutate/mutants.h"

enum { HEADER = 4, BACK_MAX = 767 };

struct Program {
    bool packed;
    uint32_t total;             // words that issue, and the header
    std::vector<uint8_t> bytes; // of the stream, behind its header: whole words
};

// Forms of a new word: bits of its code, the code, bytes, bits of its two numbers.
struct Form {
    unsigned code_bits, code, bytes, low, high;
};
static const Form forms[] = {
#define NEW_WORD(form, ...) {__VA_ARGS__},
#include "isa/isa.def"
};

static int64_t extended(uint64_t v, unsigned bits) {
    return bits ? int64_t(v << (64 - bits)) >> (64 - bits) : 0;
}

static const Form &form_of(uint64_t v) {
    const Form *f = forms;
    while ((v & ((1u << f->code_bits) - 1)) != f->code) f++;
    return *f;
}

static uint32_t word_of(uint64_t v) {
    const Form &f = form_of(v);
    v >>= f.code_bits;
    return uint32_t(extended(v, f.low) + (extended(v >> f.low, f.high) << 16));
}

// In any form that holds it, with a bit above it if it is to be wrong.
static void put_word(std::vector<uint8_t> &out, uint32_t w, bool wrong) {
    for (;;) {
        const Form &f = forms[wrong ? 6 : pick(0, 6)];
        uint32_t high = f.high ? (w - uint32_t(extended(w, 16))) >> 16 : 0;
        uint64_t low = w & ((uint64_t(1) << f.low) - 1), some = (uint64_t(1) << f.high) - 1;
        uint64_t item = (low | (high & some) << f.low) << f.code_bits | f.code;
        if (word_of(item) != w) continue;
        if (wrong) item |= uint64_t(1) << pick(36, 39);
        for (unsigned i = 0; i < f.bytes; i++) out.push_back(uint8_t(item >> 8 * i));
        return;
    }
}

// A word, often one of few bits, or of few bits in each half.
static uint32_t random_word() {
    uint32_t w = uint32_t(rng() << 16 ^ rng());
    int kind = int(pick(0, 9));
    if (kind > 2) w = uint32_t(int32_t(w) >> pick(6, 30));
    if (kind > 6) w += uint32_t(pick(-8192, 8191) >> pick(0, 12)) << 16;
    return w;
}

// last: words of the body of the token before.
static void put_token(std::vector<uint8_t> &out, uint32_t fresh, uint32_t again, uint32_t back,
                      uint32_t &last) {
    bool says = again ? back != last || chance(20) : back != 0, more = fresh > 2,
         many = again == 1 || again > 270 || (again != 0 && chance(10)) || (again == 0 && chance(5)),
         one = !many && again > 14;
    if (says) last = back;
    out.push_back(uint8_t((more ? 3 : fresh) |
                          (many    ? 15
                           : one   ? 14
                           : again ? again - 1
                                   : 0)
                              << 2 |
                          (says ? 1 + (back >> 8) : 0) << 6));
    if (says) out.push_back(uint8_t(back));
    if (more) out.push_back(uint8_t(fresh - 3));
    if (one) out.push_back(uint8_t(again - 15));
    if (many) out.push_back(uint8_t(again)), out.push_back(uint8_t(again >> 8));
}

// `size` tokens or so. One program in four is plain, one packed in four breaks a rule somewhere.
static Program random_program(int size) {
    Program p;
    p.packed = chance(75);
    p.total = HEADER;
    uint32_t last = 0;
    int64_t most = size < 4 ? 6 : 40;
    int bad = p.packed && chance(25) ? int(pick(0, size - 1)) : -1;
    for (int i = 0; i < size; i++) {
        uint32_t fresh = uint32_t(chance(4) ? pick(3, 258) : pick(0, chance(50) ? 3 : most));
        uint32_t again = uint32_t(chance(30) ? 0 : chance(3) ? pick(16, 3000) : pick(1, 20));
        if (!fresh && !again) fresh = 1;
        int64_t before = p.total - HEADER + fresh;
        int64_t far = before < BACK_MAX ? before : BACK_MAX;
        if (far < 2) again = 0;
        uint32_t back = uint32_t(!again ? 0 : chance(20) ? far : chance(20) ? 2 : pick(2, far));
        if (again && last > 1 && chance(40)) back = last;
        int64_t wrong_word = -1;
        if (!p.packed) again = 0;
        if (i == bad) switch (pick(0, 4)) {
            case 0:
                fresh = again = 0, back = chance(50) ? 0 : 2;
                break;
            case 1:
                again = 0, back = uint32_t(1) << pick(0, 9) & BACK_MAX | 1;
                break;
            case 2:
                again = uint32_t(pick(1, 20)), back = uint32_t(pick(0, 1));
                break;
            case 3:
                again = uint32_t(pick(1, 20));
                back = uint32_t(before < BACK_MAX ? before + 1 : 0);
                break;
            default:
                wrong_word = fresh ? pick(0, fresh - 1) : -1;
            }
        if (p.packed) put_token(p.bytes, fresh, again, back, last);
        for (uint32_t k = 0; k < fresh; k++) {
            uint32_t w = random_word();
            if (p.packed)
                put_word(p.bytes, w, wrong_word == k);
            else
                for (int b = 0; b < 4; b++) p.bytes.push_back(uint8_t(w >> 8 * b));
        }
        p.total += fresh + again;
    }
    if (p.packed && chance(10)) p.bytes.resize(size_t(pick(0, int64_t(p.bytes.size()))));
    if (p.packed && chance(10)) p.total = uint32_t(pick(HEADER, p.total + 3));
    while (p.bytes.size() % 4) p.bytes.push_back(0);
    return p;
}

struct BytesModel {
    std::deque<uint8_t> held;
    unsigned first = 0; // bytes of the first word that are gone
    bool ready() const { return held.size() + first < 16; }
    unsigned have() const { return held.size() < 5 ? unsigned(held.size()) : 5; }
    uint64_t shown() const {
        uint64_t v = 0;
        for (unsigned i = 0; i < have(); i++) v |= uint64_t(held[i]) << 8 * i;
        return v;
    }
    void clock(bool push, uint32_t word, unsigned drop) {
        held.erase(held.begin(), held.begin() + drop);
        first = (first + drop) % 4;
        for (int i = 0; push && i < 4; i++) held.push_back(uint8_t(word >> 8 * i));
    }
};

struct UnpackModel {
    bool packed;
    uint32_t total, fresh = 0, again = 0, back = 0;
    std::vector<uint32_t> words; // chosen so far
    std::deque<uint32_t> sent;   // that issue can take
    bool token = false, says = false, bad = false, held = false;

    bool valid() const { return !sent.empty(); }
    bool bad_o() const { return bad && !held && sent.empty(); }

    // One cycle, in which the first `have` bytes of v are there. Returns how many it takes.
    unsigned cycle(uint64_t v, unsigned have, bool end, bool ready) {
        bool space = sent.size() < 4, pop = ready && !sent.empty(), room = !held || space;
        bool wrong = token && (again ? back < 2 || back > words.size() + fresh : !fresh || says);
        unsigned n_token = 1 + ((v >> 6 & 3) != 0) + ((v & 3) == 3) + 2 * ((v >> 2 & 15) == 15);
        unsigned n_word = packed ? form_of(v).bytes : 4;
        bool is_new = !packed || fresh, more = words.size() + HEADER != total,
             here = have >= n_word;
        bad |= wrong, token = false;
        if (held && space) sent.push_back(words.back()), held = false;
        if (pop) sent.pop_front();
        if (bad || !more) return 0;
        if (is_new) {
            bad = here ? n_word == 5 && v >> 36 & 15 : end;
            if (bad || !here || !room) return 0;
            words.push_back(packed ? word_of(v) : uint32_t(v)), held = true, fresh -= packed;
            return n_word;
        }
        bad = !again && have < n_token && end;
        if (again && !room) return 0;
        if (again) words.push_back(words[words.size() - back]), held = true, again--;
        if (again || have < n_token) return 0;
        read(v);
        return n_token;
    }

    void read(uint64_t v) {
        uint32_t far = v >> 6 & 3, at = far ? 16 : 8;
        token = true, says = far != 0;
        if (far) back = (far - 1) << 8 | uint32_t(v >> 8 & 255);
        fresh = uint32_t(v & 3), again = uint32_t(v >> 2 & 15);
        if (fresh == 3) fresh += uint32_t(v >> at & 255), at += 8;
        again = again == 15   ? uint32_t(v >> at & 0xffff)
                : again == 14 ? 15 + uint32_t(v >> at & 255)
                              : again + (again != 0);
    }
};

#endif
