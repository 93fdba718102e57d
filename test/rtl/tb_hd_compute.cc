// Memories, matrix unit and vector unit together against plain loops (compute_oracle.h): random
// operations of both units at the same time, loads and stores on the side, then operations that
// fail. usage: tb_hd_compute [rounds] [seed]
//        tb_hd_compute speed [cycles]       simulation speed: MX alone, VX alone, both always busy
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <memory>

#include "Vtb_hd_compute.h"
#include "test/rtl/compute_random.h"
#include "verilated.h"

using namespace oracle;

namespace {

struct Given {
    uint32_t words[32];
    uint8_t code;
    int result; // ok or error code
};

struct Unit {
    std::deque<Given> ops;   // to be accepted
    std::deque<int> results; // to be signalled
    bool valid = false;
};

struct Bench {
    VerilatedContext ctx;
    std::unique_ptr<Vtb_hd_compute> top{new Vtb_hd_compute(&ctx)};
    State model;
    Unit mx, vx;
    uint64_t cycle = 0;
    uint64_t first_accept = 0, last_done = 0; // cycles
    long bad = 0, n_ops = 0, n_errors = 0, n_st = 0;
    // A store read is checked 2 cycles after its grant.
    struct Read {
        bool on;
        uint8_t want[kAxi];
    } read[2] = {};
    bool st_on = false, lx_on = false;
    int idle_percent = 0;
    bool interrupted = false; // this round ends in a reset
    int64_t side_quarter = 0; // quarter of XM that no operation writes

    void fail(const char *what) {
        if (bad++ < 20) fprintf(stderr, "tb_hd_compute: cycle %" PRIu64 ": %s\n", cycle, what);
    }

    void reset() {
        top->rst_ni = 0;
        for (int i = 0; i < 4; i++) edge();
        top->rst_ni = 1;
    }
    void edge() {
        top->clk_i = 0;
        top->eval();
        top->clk_i = 1;
        top->eval();
        cycle++;
    }

    void drive(Unit &u, uint8_t &valid, uint8_t &code, void *params, size_t bytes) {
        if (!u.valid && !u.ops.empty() && !chance(idle_percent)) u.valid = true;
        valid = u.valid;
        if (!u.valid) return;
        code = u.ops.front().code;
        memcpy(params, u.ops.front().words, bytes);
    }
    void accept(Unit &u, bool ready) {
        if (!u.valid || !ready) return;
        if (!first_accept) first_accept = cycle;
        u.results.push_back(u.ops.front().result);
        u.ops.pop_front();
        u.valid = false;
    }
    void completion(Unit &u, const char *name, bool done, bool err, int code) {
        if (!done && !err) return;
        last_done = cycle;
        if (u.results.empty()) return fail(name);
        int want = u.results.front();
        u.results.pop_front();
        if (done != (want == ok) || err != (want != ok) || (err && code != want)) {
            char text[100];
            snprintf(text, sizeof text, "%s: done %d error %d code %d, want %d", name, done, err,
                     code, want);
            fail(text);
        }
    }

    // The last eighth of every quarter of XM belongs to LX and ST.
    int64_t side_address() {
        int64_t q = kXmBytes / 4, at = pick(0, 3) * q + pick(q * 7 / 8, q - 1);
        return at / kAxi * kAxi;
    }
    void drive_side() {
        if (!lx_on && chance(30)) {
            lx_on = true;
            top->lx_addr_i = uint32_t(side_address());
            uint8_t data[kAxi];
            for (auto &b : data) b = uint8_t(rng());
            memcpy(&top->lx_wdata_i, data, kAxi);
            uint64_t be = chance(50) ? ~uint64_t(0) : rng() ^ rng() << 40;
            if (kAxi < 64) be &= (uint64_t(1) << (kAxi % 64)) - 1;
            top->lx_be_i = be;
        }
        if (!st_on && chance(50)) {
            st_on = true;
            int64_t q = kXmBytes / 4;
            top->st_addr_i = uint32_t(
                chance(30) ? side_address() : (side_quarter * q + pick(0, q - 1)) / kAxi * kAxi);
        }
        top->lx_req_i = lx_on;
        top->st_req_i = st_on;
    }
    void take_side() {
        read[0].on = st_on && top->st_gnt_o;
        if (read[0].on) {
            memcpy(read[0].want, &model.xm[top->st_addr_i], kAxi);
            st_on = false;
        }
        if (lx_on && top->lx_gnt_o) {
            const uint8_t *data = reinterpret_cast<const uint8_t *>(&top->lx_wdata_i);
            for (int j = 0; j < kAxi; j++)
                if (uint64_t(top->lx_be_i) >> j & 1)
                    model.xm[top->lx_addr_i + uint32_t(j)] = data[j];
            lx_on = false;
        }
    }

    void clock(bool side) {
        drive(mx, top->mx_op_valid_i, top->mx_op_code_i, &top->mx_op_params_i,
              sizeof top->mx_op_params_i);
        drive(vx, top->vx_op_valid_i, top->vx_op_code_i, &top->vx_op_params_i,
              sizeof top->vx_op_params_i);
        if (side)
            drive_side();
        else
            top->lx_req_i = top->st_req_i = 0;
        top->clk_i = 0;
        top->eval();
        accept(mx, top->mx_op_ready_o);
        accept(vx, top->vx_op_ready_o);
        Read due = read[1];
        read[1] = read[0];
        read[0].on = false;
        if (side) take_side();
        completion(mx, "mx", top->mx_op_done_o, top->mx_op_err_o, top->mx_op_err_code_o);
        completion(vx, "vx", top->vx_op_done_o, top->vx_op_err_o, top->vx_op_err_code_o);
        if (due.on) {
            n_st++;
            if (memcmp(&top->st_rdata_o, due.want, kAxi)) fail("store read");
        }
        top->clk_i = 1;
        top->eval();
        cycle++;
    }

    // One cycle of reset in the middle of work: nothing of it may come out later.
    void interrupt() {
        for (int64_t i = pick(0, 60); i > 0; i--) clock(true);
        top->rst_ni = 0;
        top->lx_req_i = top->st_req_i = top->mx_op_valid_i = top->vx_op_valid_i = 0;
        edge();
        top->rst_ni = 1;
        mx = vx = Unit();
        lx_on = st_on = read[0].on = read[1].on = false;
        for (int i = 0; i < 40; i++) clock(false);
        compare_am(true);
        compare_xm(true);
    }

    bool run(bool side) {
        uint64_t limit = cycle + 1000000;
        while (!mx.ops.empty() || !mx.results.empty() || !vx.ops.empty() || !vx.results.empty()) {
            clock(side);
            if (cycle > limit) {
                fail("does not end");
                return false;
            }
            if (bad >= 20) return false;
        }
        // Requests in progress end before the ports may be silent.
        for (int i = 0; side && i < 1000 && (lx_on || st_on); i++) {
            top->clk_i = 0;
            top->eval();
            take_side();
            read[0].on = read[1].on = false;
            top->clk_i = 1;
            top->eval();
            cycle++;
            top->lx_req_i = lx_on;
            top->st_req_i = st_on;
        }
        for (int i = 0; i < 3; i++) clock(false);
        return true;
    }

    void give(const Op &op, bool is_vx) {
        Given g;
        encode(op, is_vx, g.words);
        g.code = uint8_t(is_vx && op.dw ? 2 : 1);
        g.result = is_vx ? run_vx(model, op) : run_mx(model, op);
        n_ops++;
        n_errors += g.result != ok;
        (is_vx ? vx : mx).ops.push_back(g);
    }

    void load_memories() {
        for (int64_t at = 0; at < kXmBytes; at += kAxi) {
            for (int j = 0; j < kAxi; j++) model.xm[size_t(at + j)] = uint8_t(rng());
            top->lx_req_i = 1;
            top->lx_addr_i = uint32_t(at);
            top->lx_be_i = ~uint64_t(0) >> (64 - kAxi);
            memcpy(&top->lx_wdata_i, &model.xm[size_t(at)], kAxi);
            edge();
        }
        top->lx_req_i = 0;
        for (int64_t at = 0; at < int64_t(p_wm_bytes); at += kAxi) {
            for (int j = 0; j < kAxi; j++) model.wm[size_t(at + j)] = uint8_t(rng());
            top->wm_we_i = 1;
            top->wm_addr_i = uint32_t(at / (N * K));
            top->wm_part_i = uint16_t(at % (N * K) / kAxi);
            memcpy(&top->wm_wdata_i, &model.wm[size_t(at)], kAxi);
            edge();
        }
        top->wm_we_i = 0;
        for (int64_t lane = 0; lane < int64_t(p_pm_bytes) / 8; lane++) {
            uint32_t bias = uint32_t(rng()) >> rng() % 32,
                     scale = as_bits(1.0f / float(1 << rng() % 24));
            scale += uint32_t(rng()) & 0x7fffff;
            if (chance(5)) scale = uint32_t(rng());
            memcpy(&model.pm[size_t(lane * 8)], &bias, 4);
            memcpy(&model.pm[size_t(lane * 8 + 4)], &scale, 4);
        }
        for (int64_t at = 0; at < int64_t(p_pm_bytes); at += kAxi) {
            top->pm_we_i = 1;
            top->pm_addr_i = uint32_t(at / (N * 8));
            top->pm_part_i = uint16_t(at % (N * 8) / kAxi);
            memcpy(&top->pm_wdata_i, &model.pm[size_t(at)], kAxi);
            edge();
        }
        top->pm_we_i = 0;
        // AM: the vector unit writes zeros.
        Op zero;
        zero.vx_a_kind = zero.vx_b_kind = 4;
        zero.vx_d_kind = 1;
        zero.vx_n0 = kAmWords;
        zero.vx_ds0 = zero.vx_n1 = zero.vx_n2 = zero.vx_n3 = 1;
        give(zero, true);
        run(false);
    }

    // With adopt, the model takes what the memories hold.
    void compare_am(bool adopt) {
        for (int64_t w = 0; w < kAmWords && bad < 20; w++) {
            top->peek_addr_i = uint32_t(w);
            top->eval();
            const uint32_t *got = reinterpret_cast<const uint32_t *>(&top->peek_o);
            for (int n = 0; n < N && bad < 20; n++)
                if (adopt) {
                    model.am[size_t(w * N + n)] = got[n];
                } else if (got[n] != model.am[size_t(w * N + n)]) {
                    char text[100];
                    snprintf(text, sizeof text, "AM[%d].%d = %08x, want %08x", int(w), n, got[n],
                             model.am[size_t(w * N + n)]);
                    fail(text);
                }
        }
    }
    void compare_xm(bool adopt) {
        for (int64_t at = 0; at < kXmBytes + 2 * kAxi && bad < 20; at += kAxi) {
            top->st_req_i = at < kXmBytes;
            top->st_addr_i = uint32_t(at);
            top->clk_i = 0;
            top->eval();
            if (at >= 2 * kAxi) {
                const uint8_t *got = reinterpret_cast<const uint8_t *>(&top->st_rdata_o);
                for (int j = 0; j < kAxi; j++)
                    if (adopt) {
                        model.xm[size_t(at - 2 * kAxi + j)] = got[j];
                    } else if (got[j] != model.xm[size_t(at - 2 * kAxi + j)]) {
                        char text[100];
                        snprintf(text, sizeof text, "XM[%d] = %02x, want %02x",
                                 int(at - 2 * kAxi + j), got[j],
                                 model.xm[size_t(at - 2 * kAxi + j)]);
                        fail(text);
                        break;
                    }
            }
            top->clk_i = 1;
            top->eval();
            cycle++;
        }
        top->st_req_i = 0;
    }
};

// Quarter q of a memory of n, without its last eighth (which LX and ST use in XM).
Range quarter(int64_t n, int64_t q) {
    return {n / 4 * q, n / 4 * 7 / 8};
}

void random_round(Bench &b) {
    int64_t xq[4] = {0, 1, 2, 3}, aq[4] = {0, 1, 2, 3};
    for (int i = 3; i > 0; i--) std::swap(xq[i], xq[pick(0, i)]), std::swap(aq[i], aq[pick(0, i)]);
    b.side_quarter = xq[2];
    b.idle_percent = chance(50) ? 0 : int(pick(0, 95));
    const int64_t vecs = kXmBytes / N, words = kXmBytes / K;
    for (int64_t i = pick(0, 6); i > 0; i--)
        b.give(random_mx(quarter(words, xq[pick(2, 3)]), quarter(kAmWords, aq[pick(2, 3)])), false);
    // Short operations that accumulate into the same few words, as close as they can follow.
    Range near = {quarter(kAmWords, aq[2]).lo + pick(0, 9), 2};
    for (int64_t i = chance(50) ? pick(2, 12) : 0; i > 0; i--) {
        Op o = random_mx(quarter(words, xq[2]), near);
        o.mx_accumulate = chance(80);
        o.mx_nred = 6;
        o.mx_n0 = pick(1, 3);
        o.mx_n1 = o.mx_n2 = o.mx_n3 = o.mx_n4 = o.mx_n5 = 1;
        o.mx_a = near.lo + pick(0, 1);
        b.give(o, false);
    }
    for (int64_t i = pick(0, chance(20) ? 20 : 5); i > 0; i--) {
        int64_t xd = pick(0, 1), ad = pick(0, 1); // quarters 0 and 1 are the vector unit's
        int64_t xs = chance(50) ? 1 - xd : pick(2, 3);
        b.give(random_vx(quarter(vecs, xq[xs]), quarter(kAmWords, aq[1 - ad]),
                         quarter(vecs, xq[xd]), quarter(kAmWords, aq[ad])),
               true);
    }
    b.interrupted ? b.interrupt() : void(b.run(true));
}

// One operand of a vx.dw illegal, or close to the limit of what is legal.
void spoil_dw(Op &o) {
    switch (pick(0, 8)) {
    case 0:
        o.vx_n0 = pick(0, 5);
        break;
    case 1:
        o.vx_n2 = chance(80) ? pick(3, 6) : 65535;
        break;
    case 2:
        o.vx_sx = 0;
        break;
    case 3:
        o.vx_a_kind = pick(0, 7);
        break;
    case 4:
        o.vx_b_kind = pick(0, 7);
        break;
    case 5:
        o.vx_alu = pick(0, 1), o.vx_d_kind = pick(1, 3);
        break;
    case 6:
        o.vx_red = pick(0, 2), o.vx_nred = pick(0, 1);
        break;
    case 7:
        o.vx_a_imm = (chance(50) ? 1 : -1) * pick(254, 257) + (chance(20) ? 1 << 20 : 0);
        break;
    default:
        o.vx_p = kPmWords - pick(1, 4), o.vx_ps3 = pick(-1, 1);
        break;
    }
}

// One unit alone, operands that leave the memories or are illegal.
void error_round(Bench &b) {
    b.idle_percent = int(pick(0, 50));
    bool is_vx = chance(50);
    for (int64_t i = pick(1, 4); i > 0; i--) {
        const int64_t vecs = kXmBytes / N, half_x = kXmBytes / K / 2;
        Op o = is_vx ? random_vx({vecs / 2, vecs / 2}, {kAmWords / 2, kAmWords / 2}, {0, vecs / 2},
                                 {0, kAmWords / 2})
                     : random_mx({half_x, half_x}, {0, kAmWords});
        int64_t far = chance(80) ? pick(-20, 20) : pick(0, 1 << 20);
        switch (pick(0, 9)) {
        case 0:
            o.mx_x = hd_max(0, kXmBytes / K + far), o.vx_a = hd_max(0, vecs + far);
            break;
        case 1:
            o.mx_w = hd_max(0, kWmWords + far), o.vx_p = hd_max(0, kPmWords + far);
            break;
        case 2:
            o.mx_a = hd_max(0, kAmWords + far), o.vx_a = hd_max(0, kAmWords + far);
            break;
        case 3:
            o.vx_b = hd_max(0, (o.vx_b_kind < 2 ? kAmWords : vecs) + far), o.mx_x = pick(0, 20);
            break;
        case 4:
            o.vx_d = hd_max(0, (to_am(o) ? kAmWords : vecs) + far), o.mx_a = pick(0, 9);
            break;
        case 5:
            o.mx_n3 = o.vx_n3 = 0;
            break;
        case 6:
            o.mx_n0 = o.vx_n0 = 0;
            break;
        case 7:
            o.mx_nred = 7, o.vx_nred = pick(5, 7);
            break;
        case 8:
            o.vx_alu = pick(0, 7), o.vx_red = pick(0, 3), o.mx_xs5 = 32767, o.mx_n5 = 3;
            break;
        default:
            o.vx_a_kind = pick(0, 7), o.mx_ws4 = -32768, o.mx_n4 = 2;
            break;
        }
        if (o.dw && chance(50)) spoil_dw(o);
        // A source that the operation also writes would depend on time.
        if (is_vx &&
            (to_am(o) ? o.vx_a_kind < 2 || o.vx_b_kind < 2 : o.vx_a_kind > 1 || o.vx_b_kind > 1))
            o.vx_b_kind = 4, o.vx_a_kind = o.vx_a_kind > 6 ? 7 : to_am(o) ? 2 : 0;
        if (is_vx && o.vx_d_kind == 3) o.vx_n0 = N == 8 ? 9 : 8; // refused
        if (o.dw && in(o.vx_a_kind - 2, 2) && !to_am(o)) continue;
        b.give(o, is_vx);
    }
    b.run(false);
}

// Back-to-back operations lose no cycle, and latencies are those of the modules' headers.
void check_timing(Bench &b, bool is_vx, bool reduce, uint64_t want_latency) {
    Op o;
    o.mx_nred = o.vx_nred = o.vx_red = reduce;
    o.mx_n0 = o.vx_n0 = 7;
    o.mx_n1 = o.vx_n1 = 20;
    o.mx_n2 = o.mx_n3 = o.mx_n4 = o.mx_n5 = o.vx_n2 = o.vx_n3 = 1;
    o.mx_xs0 = o.mx_ws1 = o.mx_as1 = o.vx_as0 = o.vx_ds1 = 1;
    o.mx_accumulate = 1;
    o.vx_as1 = 7;
    b.idle_percent = 0;
    b.first_accept = 0;
    for (int i = 0; i < 3; i++) b.give(o, is_vx);
    b.run(false);
    uint64_t got = b.last_done - b.first_accept - 3 * 7 * 20;
    char text[100];
    snprintf(text, sizeof text, "%s latency %d, want %d", is_vx ? "vx" : "mx", int(got),
             int(want_latency));
    if (got != want_latency) b.fail(text);
}

// The same of vx.dw, three operations: n2 * ((n1-1)*sx + n0) cycles for each i3, one more where the
// window is 1 x 1. The last size does not fit 16 bits.
void check_dw_timing(Bench &b) {
    const struct {
        int64_t n0, n1, n2, n3, sx, extra;
    } cases[] = {{3, 7, 3, 4, 1, 0}, {3, 7, 4, 2, 2, 0}, {2, 1, 1, 9, 3, 0},    {1, 1, 2, 9, 1, 0},
                 {1, 5, 1, 6, 3, 6}, {1, 1, 1, 9, 1, 9}, {3, 65535, 1, 1, 3, 0}};
    for (const auto &c : cases) {
        Op o;
        o.dw = true;
        o.vx_n0 = c.n0, o.vx_n1 = c.n1, o.vx_n2 = c.n2, o.vx_n3 = c.n3, o.vx_sx = c.sx;
        o.vx_a_kind = 2, o.vx_b_kind = 4, o.vx_d_kind = o.vx_scale_pm = 1;
        o.vx_as2 = o.vx_as3 = 3, o.vx_ps3 = 2;
        b.idle_percent = 0;
        b.first_accept = 0;
        for (int i = 0; i < 3; i++) {
            o.vx_d = i;
            b.give(o, true);
        }
        b.run(false);
        int64_t want = 3 * (c.n3 * c.n2 * dw_columns(o) + c.extra) + 22;
        int64_t got = int64_t(b.last_done - b.first_accept);
        char text[100];
        snprintf(text, sizeof text, "vx.dw: case %d, %d cycles, want %d", int(&c - cases), int(got),
                 int(want));
        if (got != want) b.fail(text);
    }
}

// Both sides of every limit on the operands of vx.dw.
void check_dw_operands(Bench &b) {
    const struct {
        int64_t Op::*field;
        int64_t value;
    } cases[] = {{&Op::vx_n0, 0},      {&Op::vx_n0, 3},       {&Op::vx_n0, 4},
                 {&Op::vx_n1, 0},      {&Op::vx_n2, 0},       {&Op::vx_n2, 4},
                 {&Op::vx_n2, 5},      {&Op::vx_n3, 0},       {&Op::vx_sx, 0},
                 {&Op::vx_sx, 3},      {&Op::vx_a_kind, 1},   {&Op::vx_a_kind, 3},
                 {&Op::vx_a_kind, 4},  {&Op::vx_b_kind, 3},   {&Op::vx_b_kind, 5},
                 {&Op::vx_alu, 1},     {&Op::vx_red, 1},      {&Op::vx_nred, 1},
                 {&Op::vx_d_kind, 3},  {&Op::vx_a_imm, -256}, {&Op::vx_a_imm, -255},
                 {&Op::vx_a_imm, 255}, {&Op::vx_a_imm, 256},  {&Op::vx_p, kPmWords - 1},
                 {&Op::vx_p, 0xffffff}};
    for (const auto &c : cases) {
        Op o;
        o.dw = true;
        o.vx_n0 = o.vx_n1 = o.vx_n2 = o.vx_n3 = 2;
        o.vx_a_kind = 2;
        o.vx_b_kind = 4;
        o.vx_sx = o.vx_d_kind = o.vx_as0 = o.vx_ds1 = 1;
        o.vx_as2 = 9;
        o.vx_ds3 = 2;
        o.*c.field = c.value;
        b.give(o, true);
    }
    b.run(false);
}

void measure(Bench &b, uint64_t cycles, bool mx, bool vx, const char *name) {
    b.top->mx_op_valid_i = mx;
    b.top->vx_op_valid_i = vx;
    double best = 0;
    for (int window = 0; window < 4; window++) {
        clock_t t0 = ::clock();
        for (uint64_t i = 0; i < cycles / 4; i++) b.edge();
        double rate = double(cycles / 4) / (double(::clock() - t0) / CLOCKS_PER_SEC);
        if (rate > best) best = rate;
    }
    printf("tb_hd_compute: K %d N %d, %s: %.2f M cycles/s\n", K, N, name, best / 1e6);
}

// MX: 64 sums of 64 words. VX: requantises 64 words with bias and per-lane scale. dw: 3 x 3
// windows.
void speed(Bench &b, uint64_t cycles) {
    Op o;
    o.mx_nred = 1;
    o.mx_n0 = o.mx_n1 = 64;
    o.mx_xs0 = o.mx_ws0 = o.mx_as1 = 1;
    o.mx_n2 = o.mx_n3 = o.mx_n4 = o.mx_n5 = 1;
    uint32_t words[32];
    encode(o, false, words);
    memcpy(&b.top->mx_op_params_i, words, sizeof b.top->mx_op_params_i);
    o.vx_use_bias = o.vx_scale_pm = o.vx_as0 = o.vx_ds0 = 1;
    o.vx_n0 = 64;
    o.vx_n1 = o.vx_n2 = o.vx_n3 = 1;
    o.vx_d = kXmBytes / N / 2;
    o.vx_lo = -128;
    o.vx_hi = 127;
    encode(o, true, words);
    memcpy(&b.top->vx_op_params_i, words, sizeof b.top->vx_op_params_i);
    b.top->mx_op_code_i = b.top->vx_op_code_i = 1;
    measure(b, cycles, false, false, "idle");
    measure(b, cycles, true, false, "MX");
    measure(b, cycles, false, true, "VX");
    measure(b, cycles, true, true, "MX VX");
    o.vx_n0 = o.vx_n2 = 3;
    o.vx_n1 = o.vx_as2 = 62;
    o.vx_a_kind = 2;
    o.vx_b_kind = 4;
    o.vx_sx = o.vx_ds1 = 1;
    encode(o, true, words);
    memcpy(&b.top->vx_op_params_i, words, sizeof b.top->vx_op_params_i);
    b.top->vx_op_code_i = 2;
    measure(b, cycles, false, true, "dw");
}

} // namespace

int main(int argc, char **argv) {
    bool timing = argc > 1 && !strcmp(argv[1], "speed");
    long rounds = argc > 1 && !timing ? atol(argv[1]) : 60;
    uint64_t seed = argc > 2 && !timing ? strtoull(argv[2], nullptr, 0) : 1;
    rng_state = seed * 0x9e3779b97f4a7c15ull | 1;
    auto b = std::make_unique<Bench>();
    b->reset();
    b->load_memories();
    if (timing) return speed(*b, argc > 2 ? strtoull(argv[2], nullptr, 0) : 2000000), 0;
    check_timing(*b, false, true, 9);
    check_timing(*b, true, false, 20);
    check_timing(*b, true, true, 20);
    check_dw_timing(*b);
    check_dw_operands(*b);
    for (long r = 0; r < rounds && b->bad < 20; r++) {
        b->interrupted = chance(10);
        b->interrupted || chance(70) ? random_round(*b) : error_round(*b);
        b->compare_am(false);
        b->compare_xm(false);
        if (b->bad) {
            fprintf(stderr, "tb_hd_compute: round %ld\n", r);
            break;
        }
    }
    printf("tb_hd_compute: %s, K %d N %d, seed %" PRIu64
           ", %ld operations (%ld that fail), %ld store reads, "
           "%" PRIu64 " cycles\n",
           b->bad ? "FAIL" : "ok", K, N, seed, b->n_ops, b->n_errors, b->n_st, b->cycle);
    return b->bad != 0;
}
