// The Verilated hd_top as a table of C functions: clock, registers, memory, accounting per tag.
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "verilated.h"
#if VM_COVERAGE
#include <cstdlib>
#include <string>
#include <unistd.h>

#include "verilated_cov.h"
#endif

#ifndef __clang__
#define _Noreturn [[noreturn]] // C headers say it in C11
#endif
extern "C" {
#include "sim/rtl_model.h"
}
#include "sim/rtl_guide.h"
#include "sim/rtl_memory.h"
#if VM_TRACE
#include "sim/rtl_wave.h"
#endif

namespace {

constexpr int kLx = HD_UNIT_lx, kLw = HD_UNIT_lw, kMx = HD_UNIT_mx, kVx = HD_UNIT_vx,
              kSt = HD_UNIT_st;
constexpr uint32_t kIdle = 0, kClear = 2; // hd_csr: state_q

// Packed signals of up to 64 bits are integers, wider ones arrays of words.
template <size_t n> void put_bytes(VlWide<n> &to, const uint8_t *from) {
    memcpy(to.data(), from, sizeof(EData) * n);
}
void put_bytes(QData &to, const uint8_t *from) {
    memcpy(&to, from, sizeof to);
}
template <size_t n> void get_bytes(uint8_t *to, const VlWide<n> &from) {
    memcpy(to, from.data(), sizeof(EData) * n);
}
void get_bytes(uint8_t *to, const QData &from) {
    memcpy(to, &from, sizeof from);
}
constexpr uint32_t kAxiBytes = sizeof(Vhd_sim::m_axi_gmem_rdata);

Vhd_sim *make_top(VerilatedContext *context) {
#if VM_TRACE
    context->traceEverOn(true);
#endif
    return new Vhd_sim{context};
}

} // namespace

struct hd_rtl {
    std::unique_ptr<VerilatedContext> context{new VerilatedContext};
    std::unique_ptr<Vhd_sim> top{make_top(context.get())};
    hd_rtl_memory memory{};
    hd_axi_in in{};
    hd_axi_out out{};
    uint64_t clocks = 0;

    hd_rtl_hook hook = nullptr;
    void *user = nullptr;
#if VM_TRACE
    std::unique_ptr<hd_waves> waves;
#endif

    std::vector<hd_layer_counters> layers;
    uint64_t cycle = 0;      // of the run
    uint64_t unassigned = 0; // cycles before the first tag
    int last_tag = -1;

    std::unique_ptr<hd_guide> guide; // of this run, or the next; null: it begins at its beginning
};

namespace {

void drive(hd_rtl *m) {
    Vhd_sim *t = m->top.get();
    const hd_axi_in &in = m->in;
    t->m_axi_gmem_arready = in.arready;
    t->m_axi_gmem_awready = in.awready;
    t->m_axi_gmem_wready = in.wready;
    t->m_axi_gmem_bvalid = in.bvalid;
    t->m_axi_gmem_bresp = in.bresp & 3;
    t->m_axi_gmem_bid = in.bid & 3;
    t->m_axi_gmem_rvalid = in.rvalid;
    if (in.rvalid) {
        t->m_axi_gmem_rlast = in.rlast;
        t->m_axi_gmem_rresp = in.rresp & 3;
        t->m_axi_gmem_rid = in.rid & 3;
        put_bytes(t->m_axi_gmem_rdata, in.rdata);
    }
}

void sample(hd_rtl *m) {
    const Vhd_sim *t = m->top.get();
    hd_axi_out &o = m->out;
    o.arvalid = t->m_axi_gmem_arvalid;
    if (o.arvalid) {
        o.araddr = t->m_axi_gmem_araddr;
        o.arlen = t->m_axi_gmem_arlen;
        o.arsize = t->m_axi_gmem_arsize;
        o.arburst = t->m_axi_gmem_arburst;
        o.arid = t->m_axi_gmem_arid;
    }
    o.rready = t->m_axi_gmem_rready;
    o.awvalid = t->m_axi_gmem_awvalid;
    if (o.awvalid) {
        o.awaddr = t->m_axi_gmem_awaddr;
        o.awlen = t->m_axi_gmem_awlen;
        o.awsize = t->m_axi_gmem_awsize;
        o.awburst = t->m_axi_gmem_awburst;
        o.awid = t->m_axi_gmem_awid;
    }
    o.wvalid = t->m_axi_gmem_wvalid;
    if (o.wvalid) {
        o.wlast = t->m_axi_gmem_wlast;
        o.wstrb = t->m_axi_gmem_wstrb;
        get_bytes(o.wdata, t->m_axi_gmem_wdata);
    }
    o.bready = t->m_axi_gmem_bready;
}

uint16_t tag_of(const hd_rtl *m, int unit) {
    const auto &tags = m->top->rootp->HD_TOP(tag);
    return static_cast<uint16_t>(tags[unit / 2] >> 16 * (unit % 2));
}

hd_layer_counters &layer(hd_rtl *m, uint16_t tag) {
    if (tag >= m->layers.size()) m->layers.resize(tag + 1u);
    return m->layers[tag];
}

// Books the cycle that is about to end; see docs/hw.md, accounting.
void account(hd_rtl *m) {
    const Vhd_sim___024root *r = m->top->rootp;
    uint32_t active = r->HD_TOP(active);
    uint32_t busy = r->HD_TOP(busy); // VX stays active a cycle longer
    int mx = active >> kMx & 1 ? tag_of(m, kMx) : -1;
    int vx = active >> kVx & 1 ? tag_of(m, kVx) : -1;
    int tag = mx >= 0 ? mx : vx >= 0 ? vx : m->last_tag;
    if (tag < 0) {
        m->unassigned++;
    } else {
        hd_layer_counters &l = layer(m, static_cast<uint16_t>(tag));
        l.cycles += 1 + m->unassigned;
        m->unassigned = 0;
        m->last_tag = tag;
    }
    if (mx >= 0 && busy >> kMx & 1) layer(m, static_cast<uint16_t>(mx)).mx_busy++;
    if (vx >= 0 && busy >> kVx & 1) layer(m, static_cast<uint16_t>(vx)).vx_busy++;
    if (m->in.rvalid && m->out.rready && m->in.rid)
        layer(m, tag_of(m, m->in.rid == 1 ? kLx : kLw)).read_bytes += kAxiBytes;
    if (r->HD_TOP(wr_bytes)) layer(m, tag_of(m, kSt)).write_bytes += r->HD_TOP(wr_bytes);
}

hd_rtl_cycle look(const hd_rtl *m) {
    const Vhd_sim___024root *r = m->top->rootp;
    hd_rtl_cycle c{};
    c.cycle = m->cycle;
    c.busy = r->HD_TOP(busy);
    c.stall_sem = r->HD_TOP(stall_sem);
    c.stall_mem = r->HD_TOP(stall_mem);
    c.stall_bank = r->HD_TOP(stall_bank);
    c.active = r->HD_TOP(active);
    for (int u = 0; u < HD_UNITS; u++) c.tag[u] = tag_of(m, u);
    c.taken_pc[HD_UNIT_seq] = r->HD_CORE(u_issue__DOT__pc_q);
#define FRONT(u, number)                                                                           \
    static_assert(HD_UNIT_##u == number, "the generate block of hd_core");                         \
    c.taken[HD_UNIT_##u] = r->HD_FRONT_OF(number, taken_q);                                        \
    c.taken_pc[HD_UNIT_##u] = r->HD_FRONT_OF(number, pc_q);                                        \
    c.done_pc[HD_UNIT_##u] = r->HD_FRONT_OF(number, done_pc_q);
    HD_FRONTS(FRONT)
#undef FRONT
    c.read_bytes = m->in.rvalid && m->out.rready ? kAxiBytes : 0;
    c.write_bytes = r->HD_TOP(wr_bytes);
    return c;
}

// Everyone who watches the run sees the cycle that is about to end.
void show(hd_rtl *m) {
    bool watched = m->hook;
#if VM_TRACE
    watched = watched || m->waves;
#endif
    if (!watched) return;
    hd_rtl_cycle c = look(m);
    if (m->hook) m->hook(m->user, &c);
#if VM_TRACE
    if (m->waves) m->waves->cycle(c);
#endif
}

uint32_t state(const hd_rtl *m) {
    return m->top->rootp->HD_TOP(u_csr__DOT__state_q);
}
bool idle(const hd_rtl *m) {
    return state(m) == kIdle;
}

// One clock. The inputs of the cycle that begins are driven before its edge: hd_sim has registers
// for them. Leaves the model evaluated, the clock low again.
void clock(hd_rtl *m) {
    Vhd_sim *t = m->top.get();
    if (state(m) == kClear) { // a run begins: so do time and jitter of the memory
        m->cycle = m->guide ? m->guide->first_cycle() : 0;
        m->memory.reset(m->memory.mem, &m->in);
    }
    sample(m);
    if (!idle(m)) {
        account(m);
        show(m);
        m->cycle++;
    }
    m->memory.step(m->memory.mem, &m->out, &m->in);
    drive(m);
    bool begins = m->guide && state(m) == kClear;
    t->ap_clk = 1;
    t->eval();
    if (begins)
        m->guide->begin(t->rootp);
    else if (m->guide && !idle(m))
        m->guide->step(t->rootp, m->cycle);
    t->ap_clk = 0;
    t->eval();
    m->clocks++;
}

void start_run(hd_rtl *m) {
    m->layers.clear();
    m->cycle = m->unassigned = 0;
    m->last_tag = -1;
}

hd_rtl *create(const hd_rtl_memory *memory) {
    hd_rtl *m = nullptr;
    try {
        m = new hd_rtl;
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
    m->memory = *memory;
    m->memory.reset(m->memory.mem, &m->in);
    Vhd_sim *t = m->top.get();
    t->ap_rst_n = 0;
    drive(m);
    t->eval();
    for (int i = 0; i < 4; i++) {
        t->ap_clk = 1;
        t->eval();
        t->ap_clk = 0;
        t->eval();
    }
    t->ap_rst_n = 1;
    return m;
}

void destroy(hd_rtl *m) {
#if VM_COVERAGE // a model that counts coverage (build/rtl-cov) adds a file to the folder
    static int n = 0;
    if (const char *folder = getenv("HEDDLE_RTL_COVERAGE"))
        m->context->coveragep()->write((std::string(folder) + "/" + std::to_string(getpid()) + "-" +
                                        std::to_string(n++) + ".dat")
                                           .c_str());
#endif
    Verilated::threadContextp(m->context.get()); /* the model ends in it, not in another model's */
    delete m;
}

void reg_write(hd_rtl *m, uint32_t offset, uint32_t value) {
    Vhd_sim *t = m->top.get();
    if (offset == HD_REG_ap_ctrl && (value & 1) && idle(m)) start_run(m);
    t->s_axi_control_awvalid = 1;
    t->s_axi_control_awaddr = offset & 0xfff;
    t->s_axi_control_wvalid = 1;
    t->s_axi_control_wdata = value;
    t->s_axi_control_wstrb = 15;
    t->s_axi_control_bready = 1;
    do clock(m);
    while (!t->s_axi_control_awready);
    t->s_axi_control_awvalid = 0;
    t->s_axi_control_wvalid = 0;
    do clock(m);
    while (!t->s_axi_control_bvalid);
    t->s_axi_control_bready = 0;
    clock(m);
}

uint32_t reg_read(hd_rtl *m, uint32_t offset) {
    Vhd_sim *t = m->top.get();
    t->s_axi_control_arvalid = 1;
    t->s_axi_control_araddr = offset & 0xfff;
    t->s_axi_control_rready = 1;
    do clock(m);
    while (!t->s_axi_control_arready);
    t->s_axi_control_arvalid = 0;
    do clock(m);
    while (!t->s_axi_control_rvalid);
    uint32_t value = t->s_axi_control_rdata;
    t->s_axi_control_rready = 0;
    clock(m);
    return value;
}

void pins(hd_rtl *m, hd_rtl_pins *io) {
    Vhd_sim *t = m->top.get();
    t->ap_rst_n = io->rst_n;
    t->s_axi_control_awvalid = io->awvalid;
    t->s_axi_control_awaddr = io->awaddr & 0xfff;
    t->s_axi_control_wvalid = io->wvalid;
    t->s_axi_control_wdata = io->wdata;
    t->s_axi_control_wstrb = io->wstrb & 15;
    t->s_axi_control_bready = io->bready;
    t->s_axi_control_arvalid = io->arvalid;
    t->s_axi_control_araddr = io->araddr & 0xfff;
    t->s_axi_control_rready = io->rready;
    clock(m);
    io->awready = t->s_axi_control_awready;
    io->wready = t->s_axi_control_wready;
    io->bvalid = t->s_axi_control_bvalid;
    io->bresp = t->s_axi_control_bresp;
    io->arready = t->s_axi_control_arready;
    io->rvalid = t->s_axi_control_rvalid;
    io->rresp = t->s_axi_control_rresp;
    io->rdata = t->s_axi_control_rdata;
    io->interrupt = t->__SYM__interrupt; // Verilator renames what C++ might mean otherwise
}

bool run(hd_rtl *m, uint64_t max_cycles) {
    while (!idle(m)) {
        if (max_cycles && m->cycle >= max_cycles) return false;
        clock(m);
    }
    return true;
}

void set_hook(hd_rtl *m, hd_rtl_hook hook, void *user) {
    m->hook = hook;
    m->user = user;
}

const hd_layer_counters *layers(hd_rtl *m, int *out_n) {
    *out_n = static_cast<int>(m->layers.size());
    return m->layers.data();
}

uint64_t clocks(const hd_rtl *m) {
    return m->clocks;
}

uint64_t cycles(const hd_rtl *m) {
    return m->cycle;
}

// ---- runs in parts ---------------------------------------------------------------------------

size_t memory(const hd_rtl *m, hd_probe_memory which, uint8_t *out) {
    return rtl_memory::move_all(m->top->rootp, which, out, false);
}

bool resume(hd_rtl *m, const hd_rtl_resume *r) {
    Vhd_sim___024root *root = m->top->rootp;
    for (int i = 0; i < HD_RTL_MEMORIES; i++) {
        if (rtl_memory::move_all(root, i, nullptr, false) != r->bytes[i]) return false;
        rtl_memory::move_all(root, i, const_cast<uint8_t *>(r->memory[i]), true);
    }
    m->guide.reset(new (std::nothrow) hd_guide{*r});
    return m->guide != nullptr;
}

void snapshot(const hd_rtl *m, hd_rtl_snapshot *out) {
    const Vhd_sim___024root *r = m->top->rootp;
#define CSR(signal) r->HD_TOP(u_csr__DOT__##signal)
    *out = hd_rtl_snapshot{};
    out->cycles = CSR(cycles_q);
    out->read_bytes = CSR(read_q);
    out->write_bytes = CSR(write_q);
    out->code_bytes = CSR(code_q);
    auto count = [r](int place) { // kind * 8 + unit: its word, once written, and what came since
        return (CSR(clean_q) >> place & 1 ? 0 : CSR(sums)[place]) + CSR(few)[place];
    };
    for (int u = 0; u < HD_UNITS; u++)
        out->unit[u] = {count(u), count(8 + u), count(16 + u), count(24 + u)};
#undef CSR
    out->unassigned = m->unassigned;
    out->last_tag = m->last_tag;
    out->control = hd_guide::control(r);
}

#if VM_TRACE
bool wave_open(hd_rtl *m, const hd_wave *w) {
    m->waves.reset(new hd_waves{m->top.get(), w});
    return m->waves->open();
}
void wave_begin(hd_rtl *m, const uint32_t *program, size_t n_words) {
    m->waves->begin(m->cycle, program, n_words);
}
void wave_close(hd_rtl *m) {
    m->waves->close(m->cycle);
    m->waves.reset();
}
const hd_rtl_wave_api kWave{wave_open, wave_begin, wave_close};
const hd_rtl_wave_api *const wave_api = &kWave;
#else
const hd_rtl_wave_api *const wave_api = nullptr;
#endif

} // namespace

extern "C" __attribute__((visibility("default"))) const struct hd_rtl_api hd_rtl_api;
const struct hd_rtl_api hd_rtl_api = {HD_RTL_ABI, kAxiBytes, create,   destroy, reg_write, reg_read,
                                      run,        pins,      set_hook, layers,  clocks,    cycles,
                                      memory,     resume,    snapshot, wave_api};
