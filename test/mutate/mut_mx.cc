// hd_mx, K = 8, N = 2: random nests one behind the other, XM granted or not, operations that fail,
// a reset on the way, against plain loops.
#include <deque>

#include "test/mutate/mutants.h"

namespace {

constexpr int kK = 8, kN = 2, kXm = 64, kAm = 32, kWm = 16, kLoops = 6;
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

    uint64_t am_word(unsigned a) { return am[a % kAm][0] | uint64_t(am[a % kAm][1]) << 32; }

    // One cycle; true when the operation was taken.
    bool clock(bool offer, bool grant, int result = -1) {
        Vunit &top = d.top;
        top.op_valid_i = offer;
        top.xm_rdata_i = x_read[1], top.am_rdata_i = a_read[1];
        d.low();
        top.xm_gnt_i = grant && top.xm_req_o;
        d.low();
        bool taken = offer && top.op_ready_o && top.rst_ni;
        if (bool(top.busy_o) != !results.empty()) good = false;
        if (taken && !results.empty() && results.back() >= 0)
            good = false; // nothing is taken before the error is told
        x_read[1] = x_read[0], a_read[1] = a_read[0];
        x_read[0] = rng() << 32 ^ rng(), a_read[0] = rng() << 32 ^ rng();
        if (top.xm_gnt_i) {
            if (top.xm_addr_o >= kXm)
                good = false;
            else
                memcpy(&x_read[0], xm[top.xm_addr_o], kK);
        }
        if (bool(top.stall_bank_o) != (top.xm_req_o && !top.xm_gnt_i)) good = false;
        if (top.am_re_o) a_read[0] = am_word(top.am_raddr_o);
        if (top.am_we_o) {
            if (top.am_waddr_o >= kAm)
                good = false;
            else
                am[top.am_waddr_o][0] = uint32_t(top.am_wdata_o),
                am[top.am_waddr_o][1] = uint32_t(top.am_wdata_o >> 32);
        }
        if (top.op_done_o || top.op_err_o) {
            if (results.empty() || (top.op_done_o && top.op_err_o) ||
                bool(top.op_done_o) != (results.front() < 0) ||
                (top.op_err_o && int(top.op_err_code_o) != results.front()))
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
    uint32_t p[16] = {};
    p[0] = uint32_t(o.nred) | uint32_t(o.accumulate) << 3 | uint32_t(o.uns) << 4;
    p[1] = uint32_t(o.x) & 0xffffff, p[2] = uint32_t(o.w) & 0xffffff,
    p[3] = uint32_t(o.a) & 0xffffff;
    for (int l = 0; l < kLoops; l++) {
        p[4 + 2 * l] = uint32_t(o.n[l]) | uint32_t(o.xs[l]) << 16;
        p[5 + 2 * l] = (uint32_t(o.ws[l]) & 0xffff) | uint32_t(o.as[l]) << 16;
    }
    for (int i = 0; i < 16; i++) top.op_params_i[i] = p[i];
    top.op_code_i = o.code;
}

} // namespace

bool run(Dut &d) {
    Vunit &top = d.top;
    Bench b{d};
    top.rst_ni = 0, top.op_valid_i = 0, top.wm_we_i = 0;
    for (int i = 0; i < 12; i++) d.clock();
    b.reset();
    for (auto &word : b.xm)
        for (uint8_t &v : word) v = uint8_t(rng());
    for (int i = 0; i < kWm * kN; i++) {
        uint64_t v = 0;
        for (int k = 0; k < kK; k++)
            v |= uint64_t(uint8_t(b.wm[i / kN][i % kN][k] = int8_t(rng()))) << 8 * k;
        top.wm_we_i = 1, top.wm_addr_i = unsigned(i / kN), top.wm_part_i = unsigned(i % kN),
        top.wm_wdata_i = v;
        b.clock(false, false);
    }
    for (int k = 0; k < kK; k++) { // word 0 again, column by column
        top.wm_col_i = 1, top.wm_k_i = unsigned(k), top.wm_addr_i = 0, top.wm_part_i = 0,
        top.wm_wdata_i = 0;
        for (int n = 0; n < kN; n++)
            top.wm_wdata_i |= uint64_t(uint8_t(b.wm[0][n][k] = int8_t(rng()))) << 8 * n;
        b.clock(false, false);
    }
    top.wm_we_i = top.wm_col_i = 0;
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
        cut();
    }
    return b.good;
}
