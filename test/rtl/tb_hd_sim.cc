// The whole chip against the ISS: random programs of every unit, memory with and without jitter.
// Compares the arena (which at the end holds all of XM), errors and cycles.
// usage: tb_hd_sim [programs] [first seed] [v = print every program's cycles]
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "sim/rtl_model.cc"
extern "C" {
#include "sim/iss.h"
}

namespace {

constexpr uint64_t kImageBase = 0x100000000, kArenaBase = 0x240000000;
constexpr uint32_t kArenaBytes = 1 << 20, kImageBytes = 1 << 18, kDataOffset = 1 << 16;

uint64_t rng_state;
uint64_t rng() {
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state * 0x2545f4914f6cdd1dull >> 20;
}
int64_t pick(int64_t lo, int64_t hi) {
    return hi <= lo ? lo : lo + static_cast<int64_t>(rng() % static_cast<uint64_t>(hi - lo + 1));
}
bool chance(int percent) { return pick(0, 99) < percent; }

struct Program {
    hd_machine m;
    std::vector<uint32_t> words;
    hd_sticky sticky[HD_UNITS] = {};
    uint32_t next[HD_UNITS][HD_PARAM_WORDS] = {};
    uint16_t tag = 0;

    void set(hd_field f, int64_t v) { hd_field_set(next[hd_isa_fields[f].unit], f, v); }

    std::vector<uint32_t> op(hd_unit unit, unsigned code, uint32_t wait, uint32_t signal) {
        hd_op_word o = {};
        o.unit = static_cast<uint8_t>(unit);
        o.code = static_cast<uint8_t>(code);
        if (unit != HD_UNIT_seq) next[unit][HD_TAG_WORD] = tag;
        o.wait = wait;
        o.signal = signal;
        for (int i = 0; i < hd_isa_units[unit].n_words; i++) {
            uint32_t want = next[unit][i];
            if (sticky[unit].words[i] == want && !chance(10)) continue;
            o.set |= 1u << i;
            o.lit[i] = sticky[unit].words[i] = want;
        }
        uint32_t buf[HD_OP_MAX_WORDS];
        int n = hd_op_encode(&o, buf);
        return std::vector<uint32_t>(buf, buf + n);
    }
    // Ops in rising order of unit.
    void bundle(uint32_t slots, const std::vector<std::vector<uint32_t>> &ops) {
        words.push_back(hd_bundle_head(slots));
        for (auto &o : ops) words.insert(words.end(), o.begin(), o.end());
    }
    void single(hd_unit unit, unsigned code, uint32_t wait, uint32_t signal) {
        bundle(1u << unit, {op(unit, code, wait, signal)});
    }
    void barrier() { single(HD_UNIT_seq, 2, 0, 0); }
};

// ---- random operands ----------------------------------------------------------------------------

void random_lx(Program &p, int64_t xm_lo, int64_t xm_hi) {
    bool edge = chance(50);
    int64_t run = chance(20) ? pick(1, 1500) : pick(1, 80), n1 = pick(1, 5), n2 = pick(1, 4), n3 = pick(1, 3);
    if (chance(20)) n1 = n2 = n3 = 1;
    int64_t d1 = run + pick(0, 40), d2 = d1 * n1 + pick(0, 20), d3 = d2 * n2 + pick(0, 9);
    while (d3 * n3 > xm_hi - xm_lo) {
        n3 = 1;
        if (n2 > 1) n2--;
        else if (n1 > 1) n1--;
        else run = pick(1, 64);
        d1 = run + pick(0, 8), d2 = d1 * n1, d3 = d2 * n2;
    }
    int64_t s1 = chance(30) ? run : pick(0, 200), s2, s3;
    if (chance(20)) d1 = run;
    p.set(HD_F_lx_seg, 1);
    p.set(HD_F_lx_edge, edge);
    p.set(HD_F_lx_pad, pick(0, 255));
    p.set(HD_F_lx_run, run);
    p.set(HD_F_lx_n1, n1);
    p.set(HD_F_lx_n2, n2);
    p.set(HD_F_lx_n3, n3);
    p.set(HD_F_lx_d1, d1);
    p.set(HD_F_lx_d2, d2);
    p.set(HD_F_lx_d3, d3);
    p.set(HD_F_lx_dst, xm_lo + pick(0, xm_hi - xm_lo - d3 * n3));
    if (edge) { // a tensor of `rows` rows; the operation hangs over its edges
        int64_t rows = pick(0, 6), row_bytes = pick(1, 300), pitch = row_bytes + pick(0, 30), ys = pick(1, 3);
        int64_t x0 = pick(-60, 100), y0 = pick(-3, 4), base = pick(30000, 60000);
        s2 = pitch * ys;
        s3 = pick(0, 5000);
        p.set(HD_F_lx_x0, x0);
        p.set(HD_F_lx_y0, y0);
        p.set(HD_F_lx_rows, rows);
        p.set(HD_F_lx_row_bytes, row_bytes);
        p.set(HD_F_lx_ys, ys);
        p.set(HD_F_lx_src, base + y0 * pitch + x0);
    } else {
        s2 = chance(30) ? s1 * n1 : pick(-100, 3000);
        s3 = pick(-500, 5000);
        p.set(HD_F_lx_src, pick(30000, 60000));
    }
    p.set(HD_F_lx_s1, s1);
    p.set(HD_F_lx_s2, s2);
    p.set(HD_F_lx_s3, s3);
}

void random_st(Program &p, int64_t lo, int64_t hi) { // stores to arena [lo, hi)
    int64_t run = chance(20) ? pick(1, 2000) : pick(1, 80), n1 = pick(1, 5), n2 = pick(1, 4), n3 = pick(1, 3);
    if (chance(20)) n1 = n2 = n3 = 1;
    int64_t d1 = chance(40) ? run : run + pick(0, 70), d2 = d1 * n1 + pick(0, 90), d3 = d2 * n2 + pick(0, 9);
    int64_t xm = p.m.xm_bytes;
    p.set(HD_F_st_seg, 1);
    p.set(HD_F_st_run, run);
    p.set(HD_F_st_n1, n1);
    p.set(HD_F_st_n2, n2);
    p.set(HD_F_st_n3, n3);
    p.set(HD_F_st_d1, d1);
    p.set(HD_F_st_d2, d2);
    p.set(HD_F_st_d3, d3);
    p.set(HD_F_st_dst, lo + pick(0, hi - lo - d3 * n3));
    p.set(HD_F_st_s1, chance(40) ? run : pick(-90, 90));
    p.set(HD_F_st_s2, pick(-300, 300));
    p.set(HD_F_st_s3, pick(-300, 300));
    p.set(HD_F_st_src, pick(2500, xm - 5000));
}

void random_lw(Program &p) {
    bool pm = chance(30);
    const hd_machine *m = &p.m;
    int64_t words = pm ? hd_pm_words(m) : hd_wm_words(m), bytes = pm ? hd_pm_word_bytes(m) : hd_wm_word_bytes(m);
    int64_t count = pick(1, 6), n1 = pick(1, 3), d1 = pick(0, 5), axi = hd_axi_bytes(m);
    p.set(HD_F_lw_seg, 0);
    p.set(HD_F_lw_mem, pm);
    p.set(HD_F_lw_count, count);
    p.set(HD_F_lw_n1, n1);
    p.set(HD_F_lw_d1, d1);
    p.set(HD_F_lw_dst, pick(0, words - count - d1 * n1));
    p.set(HD_F_lw_s1, chance(50) ? count * bytes : pick(0, 100) * axi);
    p.set(HD_F_lw_src, kDataOffset + pick(0, 100) * axi);
}

void random_mx(Program &p) {
    static const hd_field n[] = {HD_F_mx_n0, HD_F_mx_n1, HD_F_mx_n2, HD_F_mx_n3, HD_F_mx_n4, HD_F_mx_n5};
    static const hd_field xs[] = {HD_F_mx_xs0, HD_F_mx_xs1, HD_F_mx_xs2, HD_F_mx_xs3, HD_F_mx_xs4, HD_F_mx_xs5};
    static const hd_field ws[] = {HD_F_mx_ws0, HD_F_mx_ws1, HD_F_mx_ws2, HD_F_mx_ws3, HD_F_mx_ws4, HD_F_mx_ws5};
    static const hd_field as[] = {HD_F_mx_as0, HD_F_mx_as1, HD_F_mx_as2, HD_F_mx_as3, HD_F_mx_as4, HD_F_mx_as5};
    int64_t nred = pick(0, 6), xmax = p.m.xm_bytes / p.m.k, span = 1;
    for (int l = 0; l < 6; l++) {
        int64_t it = chance(50) ? 1 : pick(1, 4);
        p.set(n[l], it);
        p.set(xs[l], pick(0, 9));
        p.set(ws[l], pick(0, 5));
        p.set(as[l], l < nred ? 0 : span);
        if (l >= nred) span *= it;
    }
    p.set(HD_F_mx_nred, nred);
    p.set(HD_F_mx_accumulate, chance(40));
    p.set(HD_F_mx_x_unsigned, chance(50));
    p.set(HD_F_mx_x, pick(0, xmax - 200));
    p.set(HD_F_mx_w, pick(0, hd_wm_words(&p.m) - 100));
    p.set(HD_F_mx_a, chance(50) ? 0 : pick(0, hd_am_words(&p.m) - span));
}

int64_t float_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

void random_vx(Program &p) {
    int64_t n[4], nvec = 1, vec = p.m.xm_bytes / p.m.n, am = hd_am_words(&p.m);
    static const hd_field nf[] = {HD_F_vx_n0, HD_F_vx_n1, HD_F_vx_n2, HD_F_vx_n3};
    static const hd_field as[] = {HD_F_vx_as0, HD_F_vx_as1, HD_F_vx_as2, HD_F_vx_as3};
    static const hd_field bs[] = {HD_F_vx_bs0, HD_F_vx_bs1, HD_F_vx_bs2, HD_F_vx_bs3};
    static const hd_field ds[] = {HD_F_vx_ds0, HD_F_vx_ds1, HD_F_vx_ds2, HD_F_vx_ds3};
    static const hd_field ps[] = {HD_F_vx_ps0, HD_F_vx_ps1, HD_F_vx_ps2, HD_F_vx_ps3};
    int64_t a_kind = chance(20) ? 4 : 2 * pick(0, 1) + (chance(50) ? pick(0, 1) : 0);
    if (a_kind == 1) a_kind = 0; // AM holds int32 of MX: as binary32 it would be arbitrary bits
    int64_t b_kind = chance(50) ? 4 : pick(2, 3), red = a_kind == 4 ? 0 : pick(0, 2), nred = red ? pick(0, 4) : 0;
    bool to_am = chance(20);
    int64_t span = 1;
    for (int l = 0; l < 4; l++) {
        n[l] = pick(1, 5);
        p.set(nf[l], n[l]);
        p.set(as[l], pick(0, 3));
        p.set(bs[l], pick(0, 3));
        p.set(ds[l], l < nred ? 0 : span);
        p.set(ps[l], l < nred ? 0 : pick(0, 1));
        if (l >= nred) span *= n[l];
        nvec *= n[l];
    }
    p.set(HD_F_vx_a_kind, a_kind);
    p.set(HD_F_vx_b_kind, b_kind);
    p.set(HD_F_vx_use_bias, 0);
    p.set(HD_F_vx_scale_pm, 0);
    p.set(HD_F_vx_alu, pick(0, 5));
    p.set(HD_F_vx_red, red);
    p.set(HD_F_vx_nred, nred);
    p.set(HD_F_vx_d_kind, to_am);
    // An operation must not read what it writes: one half for operands, the other for results.
    int64_t half = pick(0, 1), a_words = (a_kind >= 2 ? vec : am) / 2, d_words = (to_am ? am : vec) / 2;
    p.set(HD_F_vx_a, half * a_words + pick(0, a_words - 100));
    p.set(HD_F_vx_b, half * vec / 2 + pick(0, vec / 2 - 100));
    p.set(HD_F_vx_d, (1 - half) * d_words + pick(0, d_words - span));
    p.set(HD_F_vx_p, pick(0, hd_pm_words(&p.m) - 20));
    p.set(HD_F_vx_a_imm, pick(-200, 200));
    p.set(HD_F_vx_b_imm, pick(-200, 200));
    p.set(HD_F_vx_a_scale, float_bits(static_cast<float>(pick(1, 1000)) / 4096.f));
    p.set(HD_F_vx_b_scale, float_bits(static_cast<float>(pick(1, 1000)) / 512.f));
    p.set(HD_F_vx_lo, -128);
    p.set(HD_F_vx_hi, pick(0, 255));
    p.set(HD_F_vx_zp, pick(-128, 128));
}

// ---- programs -----------------------------------------------------------------------------------

void random_op(Program &p, hd_unit u, int64_t xm_lo, int64_t xm_hi) {
    if (u == HD_UNIT_lx) random_lx(p, xm_lo, xm_hi);
    if (u == HD_UNIT_lw) random_lw(p);
    if (u == HD_UNIT_mx) random_mx(p);
    if (u == HD_UNIT_vx) random_vx(p);
    if (u == HD_UNIT_st) random_st(p, 100000, 400000);
}

Program random_program(const hd_machine &m) {
    Program p;
    p.m = m;
    p.words = {HD_PROG_MAGIC, hd_isa_hash(), hd_machine_hash(&m), 0};
    int n = static_cast<int>(pick(1, 30));
    bool dma_only = chance(30);
    for (int i = 0; i < n; i++) {
        p.tag = static_cast<uint16_t>(i / 4);
        hd_unit u = static_cast<hd_unit>(pick(1, 5));
        if (dma_only && (u == HD_UNIT_mx || u == HD_UNIT_vx)) u = HD_UNIT_lx;
        int repeat = chance(30) ? static_cast<int>(pick(2, 20)) : 1; // of one unit: overlap in it
        for (int r = 0; r < repeat; r++) {
            random_op(p, u, 0, m.xm_bytes);
            p.single(u, 1, 0, 0);
        }
        if (chance(50)) { // the next waits on a semaphore instead of a barrier
            uint32_t s = 1u << pick(0, 31);
            p.single(u, 0, 0, s);
            p.single(HD_UNIT_seq, 0, s, 0);
        } else {
            p.barrier();
        }
    }
    p.set(HD_F_st_seg, 1);
    p.set(HD_F_st_run, m.xm_bytes);
    p.set(HD_F_st_n1, 1);
    p.set(HD_F_st_n2, 1);
    p.set(HD_F_st_n3, 1);
    p.set(HD_F_st_dst, kArenaBytes - m.xm_bytes);
    p.set(HD_F_st_src, 0);
    p.single(HD_UNIT_st, 1, 0, 0);
    p.single(HD_UNIT_seq, 1, 0, 0);
    p.words[3] = static_cast<uint32_t>(p.words.size());
    return p;
}

// ---- running ------------------------------------------------------------------------------------

struct Result {
    std::vector<uint8_t> arena;
    uint64_t cycles, read, written;
    uint32_t error, unit, pc, state[HD_UNITS], queue[HD_UNITS];
};

template <typename W, typename R, typename Run> Result drive_registers(W write, R read, Run run) {
    Result r;
    write(HD_REG_image_ptr, static_cast<uint32_t>(kImageBase));
    write(HD_REG_image_ptr + 4, kImageBase >> 32);
    write(HD_REG_arena_ptr, static_cast<uint32_t>(kArenaBase));
    write(HD_REG_arena_ptr + 4, kArenaBase >> 32);
    write(HD_REG_image_bytes, kImageBytes);
    write(HD_REG_arena_bytes, kArenaBytes);
    write(HD_REG_code_offset, 64);
    write(HD_REG_watchdog, 20000);
    write(HD_REG_ap_ctrl, 1);
    run();
    uint32_t ctrl = read(HD_REG_ap_ctrl);
    if (ctrl != 14) printf("ap_ctrl 0x%x after a run, want 0xe\n", ctrl), exit(1);
    r.cycles = read(HD_REG_cycles);
    r.cycles |= static_cast<uint64_t>(read(HD_REG_cycles + 4)) << 32;
    r.read = read(HD_REG_read_bytes);
    r.written = read(HD_REG_write_bytes);
    r.error = read(HD_REG_error);
    r.unit = read(HD_REG_error_unit);
    r.pc = read(HD_REG_error_pc);
    for (unsigned u = 0; u < HD_UNITS; u++) {
        r.state[u] = read(HD_REG_tag + 4 * u);
        r.queue[u] = read(HD_REG_queue + 4 * u);
    }
    return r;
}

struct Machine { // both simulators, each with its memory
    hd_axi_mem *mem[2];
    std::vector<uint8_t> image, arena[2];
    hd_iss *iss;
    hd_rtl *rtl;

    Machine(const hd_machine &m, const hd_mem_config &cfg) : image(kImageBytes) {
        for (int i = 0; i < 2; i++) {
            arena[i].resize(kArenaBytes);
            mem[i] = hd_axi_mem_create(hd_axi_bytes(&m), &cfg);
            hd_axi_mem_region(mem[i], 0, kImageBase, image.data(), image.size());
            hd_axi_mem_region(mem[i], 1, kArenaBase, arena[i].data(), arena[i].size());
        }
        iss = hd_iss_create(&m, mem[0]);
        hd_rtl_memory rm = {mem[1], hd_axi_mem_reset, hd_axi_mem_step};
        rtl = hd_rtl_api.create(&rm);
    }
    ~Machine() {
        hd_iss_destroy(iss);
        hd_rtl_api.destroy(rtl);
        for (auto *x : mem) hd_axi_mem_destroy(x);
    }
    Result run(int which) {
        if (!which) {
            auto done = [&] { hd_iss_run(iss, 0); };
            return drive_registers([&](uint32_t o, uint32_t v) { hd_iss_reg_write(iss, o, v); },
                                   [&](uint32_t o) { return hd_iss_reg_read(iss, o); }, done);
        }
        auto done = [&] { hd_rtl_api.run(rtl, 0); };
        return drive_registers([&](uint32_t o, uint32_t v) { hd_rtl_api.reg_write(rtl, o, v); },
                               [&](uint32_t o) { return hd_rtl_api.reg_read(rtl, o); }, done);
    }
};

// The named machine that the model was built for.
const hd_machine *model_machine() {
    hd_mem_config cfg = {64, kAxiBytes, 16, 0};
    hd_axi_mem *mem = hd_axi_mem_create(kAxiBytes, &cfg);
    hd_rtl_memory rm = {mem, hd_axi_mem_reset, hd_axi_mem_step};
    hd_rtl *rtl = hd_rtl_api.create(&rm);
    uint32_t hash = hd_rtl_api.reg_read(rtl, HD_REG_machine_hash);
    hd_rtl_api.destroy(rtl);
    hd_axi_mem_destroy(mem);
    for (int k = 0; k < hd_n_machines; k++)
        if (hd_machine_hash(&hd_machines[k]) == hash) return &hd_machines[k];
    printf("the model is of no named machine: hash %08x\n", hash);
    exit(1);
}

bool run_program(Machine &mach, const Program &p, uint64_t seed, bool verbose, double *ratio) {
    for (auto &b : mach.image) b = static_cast<uint8_t>(rng());
    memcpy(mach.image.data() + 64, p.words.data(), p.words.size() * 4);
    for (auto &b : mach.arena[0]) b = static_cast<uint8_t>(rng());
    mach.arena[1] = mach.arena[0];
    Result r[2];
    for (int i = 0; i < 2; i++) r[i] = mach.run(i);
    const char *axi = hd_axi_mem_error(mach.mem[1]);
    bool ok = !axi && r[0].error == r[1].error;
    if (r[0].error) ok = ok && r[0].unit == r[1].unit && r[0].pc == r[1].pc;
    else ok = ok && mach.arena[0] == mach.arena[1] && r[0].read == r[1].read && r[0].written == r[1].written;
    *ratio = static_cast<double>(r[0].cycles) / static_cast<double>(r[1].cycles);
    if (verbose || !ok)
        for (int i = 0; i < 2; i++)
            printf("seed %" PRIu64 " %s: error %u unit %u pc %u, %" PRIu64 " cycles, read %" PRIu64
                   ", written %" PRIu64 "\n",
                   seed, i ? "rtl" : "iss", r[i].error, r[i].unit, r[i].pc, r[i].cycles, r[i].read, r[i].written);
    if (ok) return true;
    if (axi) printf("AXI: %s\n", axi);
    for (int i = 0; i < 2; i++)
        for (int u = 0; u < HD_UNITS; u++)
            printf("%s %s: queue %u, tag register 0x%x\n", i ? "rtl" : "iss", hd_isa_units[u].name, r[i].queue[u],
                   r[i].state[u]);
    size_t at = 0;
    while (at < kArenaBytes && mach.arena[0][at] == mach.arena[1][at]) at++;
    if (at < kArenaBytes)
        printf("arena + %zu (XM %zd): iss %02x rtl %02x\n", at,
               static_cast<ptrdiff_t>(at) - static_cast<ptrdiff_t>(kArenaBytes - p.m.xm_bytes), mach.arena[0][at],
               mach.arena[1][at]);
    hd_ctx *ctx = hd_ctx_create();
    char *text = nullptr;
    if (hd_disasm(ctx, p.words.data(), p.words.size(), &text) == HD_OK) puts(text);
    free(text);
    hd_ctx_destroy(ctx);
    return false;
}

// ---- errors -------------------------------------------------------------------------------------

struct Fault {
    const char *text;  // program
    int word;          // then: word at this place, -1 = none, gets these bits flipped
    uint32_t flip;
    uint32_t error, unit, pc; // what both must report
};

const Fault kFaults[] = {
    {"seq.halt", -1, 0, HD_ERR_none, 0, 0},
    {"seq.halt", 0, 1, HD_ERR_magic, 0, 0},
    {"seq.halt", 1, 1, HD_ERR_isa, 0, 0},
    {"seq.halt", 2, 1, HD_ERR_machine, 0, 0},
    {"seq.halt", 3, 1u << 20, HD_ERR_window, 0, 0},
    {"seq.halt", 4, 1u << 31, HD_ERR_encoding, 0, 4},
    {"seq.halt", 4, 1u << 14, HD_ERR_encoding, 0, 4},
    {"seq.halt", 4, 1u << HD_BUNDLE_slots_BITS, HD_ERR_encoding, 0, 4},
    {"seq.halt", 5, 8u << HD_HEAD_code_LSB, HD_ERR_encoding, 0, 5},
    {"seq.halt", 5, 2u << HD_HEAD_code_LSB, HD_ERR_encoding, 0, 5},
    {"seq.halt", 5, 1u << HD_HEAD_code_LSB, HD_ERR_encoding, 0, 6}, // nop: the program ends
    {"seq.halt", 5, 1u << 31, HD_ERR_encoding, 0, 5},               // a word that SEQ lacks
    {"seq.halt", 3, 6 ^ 5, HD_ERR_encoding, 0, 5},                  // words of the program: it ends in a bundle,
    {"mx.gemm n0=1\nseq.halt", 3, 9 ^ 6, HD_ERR_encoding, 0, 6},    // in an operation
    {"mx.nop\nseq.halt", 3, 8 ^ 6, HD_ERR_encoding, 0, 6},          // and behind one
    {"mx.nop\nseq.halt", 4, 1u << HD_UNIT_st, HD_ERR_encoding, 0, 8}, // one more in the bundle
    {"seq.nop\nseq.nop", -1, 0, HD_ERR_encoding, 0, 8},
    {"mx.gemm n0=1\nseq.halt", 5, 1u << (HD_HEAD_set_LSB + 23), HD_ERR_encoding, 3, 5},
    {"seq.halt wait=3", -1, 0, HD_ERR_watchdog, 0, 5},
    {"lx.nop wait=3\nseq.barrier\nseq.halt", -1, 0, HD_ERR_watchdog, 0, 8},
    {"mx.gemm\nseq.halt", -1, 0, HD_ERR_operand, 3, 5},
    {"mx.gemm n0=1 n1=1 n2=1 n3=1 n4=1 n5=1 x=0xffffff\nseq.halt", -1, 0, HD_ERR_range, 3, 5},
    {"vx.map\nseq.halt", -1, 0, HD_ERR_operand, 4, 5},
    {"lx.load\nseq.halt", -1, 0, HD_ERR_operand, 1, 5},
    {"lx.load run=1 n1=1 n2=1 n3=1 seg=2\nseq.halt", -1, 0, HD_ERR_operand, 1, 5},
    {"lx.load run=1 n1=1 n2=1 n3=1 seg=1 src=0xffffffff\nseq.halt", -1, 0, HD_ERR_window, 1, 5},
    {"lx.load run=2 n1=1 n2=1 n3=1 seg=1 src=0xfffff\nseq.halt", -1, 0, HD_ERR_window, 1, 5},
    {"lx.load run=1 n1=1 n2=1 n3=1 dst=0xffffff\nseq.halt", -1, 0, HD_ERR_range, 1, 5},
    {"lx.nop\nlx.load run=9 n1=1 n2=1 n3=1 seg=1\nlx.load src=0xffffffff\nseq.halt", -1, 0, HD_ERR_window, 1, 13},
    {"lw.load count=1 n1=1 src=1\nseq.halt", -1, 0, HD_ERR_range, 2, 5},
    {"lw.load count=1 n1=1 dst=0xffffff\nseq.halt", -1, 0, HD_ERR_range, 2, 5},
    {"lw.load count=1 n1=0\nseq.halt", -1, 0, HD_ERR_operand, 2, 5},
    {"lw.load count=1 n1=1 src=0xfffff000\nseq.halt", -1, 0, HD_ERR_window, 2, 5},
    {"st.store run=1 n1=1 n2=1 n3=1\nseq.halt", -1, 0, HD_ERR_window, 5, 5},
    {"st.store run=1 n1=1 n2=1 n3=1 seg=1 dst=0xffffffff\nseq.halt", -1, 0, HD_ERR_window, 5, 5},
    {"st.store run=1 n1=1 n2=1 n3=1 seg=1 src=0xffffff\nseq.halt", -1, 0, HD_ERR_range, 5, 5},
};

bool run_fault(const hd_machine &m, const Fault &f) {
    hd_mem_config cfg = {20, kAxiBytes, 16, 0};
    Machine mach(m, cfg);
    hd_ctx *ctx = hd_ctx_create();
    uint32_t *words = nullptr;
    size_t n = 0;
    if (hd_asm(ctx, &m, f.text, "fault", &words, &n) != HD_OK) return puts(hd_message(ctx)), false;
    if (f.word >= 0) words[f.word] ^= f.flip;
    memcpy(mach.image.data() + 64, words, n * 4);
    free(words);
    hd_ctx_destroy(ctx);
    bool ok = true;
    for (int i = 0; i < 4; i++) { // twice each: an error leaves nothing behind
        Result r = mach.run(i & 1);
        if (r.error == f.error && (!f.error || (r.unit == f.unit && r.pc == f.pc))) continue;
        printf("%s, word %d ^ 0x%x: %s gives error %u unit %u pc %u, want %u %u %u\n", f.text, f.word, f.flip,
               i & 1 ? "rtl" : "iss", r.error, r.unit, r.pc, f.error, f.unit, f.pc);
        ok = false;
    }
    return ok;
}

// Stops a program in its middle by soft_reset: idle soon, no done; then it runs as from the first.
bool run_soft_reset(const hd_machine &m) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rng_state = seed * 77;
        Machine mach(m, {static_cast<uint32_t>(pick(1, 90)), kAxiBytes, 16, seed & 1 ? rng() : 0});
        Program p = random_program(m);
        memcpy(mach.image.data() + 64, p.words.data(), p.words.size() * 4);
        std::vector<uint8_t> before = mach.arena[1];
        if (mach.run(1).error) continue;
        hd_rtl_api.reg_write(mach.rtl, HD_REG_ap_ctrl, 1);
        if (hd_rtl_api.run(mach.rtl, static_cast<uint64_t>(pick(1, 4000)))) continue;
        hd_rtl_api.reg_write(mach.rtl, HD_REG_soft_reset, 1);
        uint64_t from = hd_rtl_api.clocks(mach.rtl);
        hd_rtl_api.run(mach.rtl, 0);
        uint64_t took = hd_rtl_api.clocks(mach.rtl) - from;
        uint32_t ctrl = hd_rtl_api.reg_read(mach.rtl, HD_REG_ap_ctrl);
        if (took > 40000 || ctrl != 4 || hd_axi_mem_error(mach.mem[1]))
            return printf("soft reset: %" PRIu64 " cycles, ap_ctrl 0x%x\n", took, ctrl), false;
        // On-chip memories keep what they hold, so the program runs twice from the same arena.
        for (int i = 0; i < 2; i++) {
            mach.arena[1] = before;
            hd_axi_mem_region(mach.mem[1], 1, kArenaBase, mach.arena[1].data(), kArenaBytes);
            Result r = mach.run(1);
            if (r.error) return printf("after soft reset: error %u\n", r.error), false;
        }
    }
    return true;
}

} // namespace

int main(int argc, char **argv) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    int n = argc > 1 ? atoi(argv[1]) : 60;
    uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 0) : 1;
    bool verbose = argc > 3;
    const hd_machine *m = model_machine();
    int bad = 0;
    for (const Fault &f : kFaults)
        if (!run_fault(*m, f)) bad++;
    if (bad || !run_soft_reset(*m)) return 1;
    double lo = 9, hi = 0;
    for (int i = 0; i < n; i++, seed++) {
        rng_state = seed * 0x9e3779b97f4a7c15ull + 1;
        hd_mem_config cfg = {64, kAxiBytes, 16, 0};
        if (chance(50)) cfg = {static_cast<uint32_t>(pick(1, 100)), static_cast<uint32_t>(pick(4, 80)),
                               static_cast<uint32_t>(pick(1, 20)), rng() | 1};
        Machine mach(*m, cfg);
        int runs = static_cast<int>(pick(1, 2)); // a second program after a first
        for (int k = 0; k < runs; k++) {
            double ratio;
            Program p = random_program(*m);
            if (!run_program(mach, p, seed, verbose, &ratio)) return 1;
            if (!cfg.jitter_seed) {
                lo = ratio < lo ? ratio : lo;
                hi = ratio > hi ? ratio : hi;
            }
        }
    }
    printf("tb_hd_sim: %d seeds, ISS cycles / RTL cycles from %.3f to %.3f without jitter\n", n, lo, hi);
    return 0;
}
