// Waveforms of a traced model. See sim/rtl_wave.h.
//
// A cycle is drawn as it stands just before the edge that ends it: everything has settled, and
// nothing changes within it but the clock. Clocks behind hd_gate stand still in the file.
#include "sim/rtl_wave.h"
#if VM_TRACE

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "gtkwave/fstapi.h"
#include "sim/rtl_guide.h"

namespace {

enum { SIGNALS = 4, EnumBase = 1 << 20 }; // of a unit; above the numbers of the model's own types
enum state { Idle, Busy, Semaphore, Memory, Bank, States };
const char *const kStates[States] = {"idle", "busy", "semaphore", "memory", "bank"};
constexpr int kTagBits = 16, kCodeBits = 4, kStateBits = 3;
constexpr uint64_t kHalf = 500; // of a cycle, in ps

const char *const kUnits[HD_UNITS] = {
#define UNIT(unit, code, doc) #unit,
#include "isa/isa.def"
};
struct op_name {
    int unit;
    uint8_t code;
    const char *name;
};
const op_name kOps[] = {
#define OP(unit, op, code, doc) {HD_UNIT_##unit, code, #op},
#include "isa/isa.def"
};

// Where the registers of each unit lie below hd_top.u_core.
const char *const kScopes[HD_UNITS][3] = {
    {"u_fetch.", "u_issue.", "u_sem."},
    {"gen_front[1].", "u_lx.", nullptr},
    {"gen_front[2].", "u_lw.", nullptr},
    {"gen_front[3].", "u_compute.u_mx.", nullptr},
    {"gen_front[4].", "u_compute.u_vx.", nullptr},
    {"gen_front[5].", "u_st.", nullptr},
};

std::string bits(uint32_t v, int n) {
    std::string s;
    for (int i = n - 1; i >= 0; i--) s += v >> i & 1 ? '1' : '0';
    return s;
}

// A type whose values have names.
void declare_enum(VerilatedFst *fst, int number, const std::string &name,
                  const std::vector<std::string> &names, const std::vector<uint32_t> &values,
                  int n_bits) {
    std::vector<std::string> text;
    std::vector<const char *> n, v;
    for (uint32_t value : values) text.push_back(bits(value, n_bits));
    for (size_t i = 0; i < values.size(); i++) {
        n.push_back(names[i].c_str());
        v.push_back(text[i].c_str());
    }
    fst->declDTypeEnum(EnumBase + number, name.c_str(), static_cast<uint32_t>(n.size()),
                       static_cast<unsigned>(n_bits), n.data(), v.data());
}

bool starts(const std::string &s, size_t at, const char *with) {
    return s.size() >= at && s.compare(at, strlen(with), with) == 0;
}

} // namespace

// ---- the signals of scope heddle --------------------------------------------------------------

void hd_waves::declare_enums(VerilatedFst *fst) {
    std::vector<std::string> names;
    std::vector<uint32_t> values;
    for (int i = 0; i < want_->n_layers; i++) {
        names.push_back(want_->names[i] && *want_->names[i] ? want_->names[i] : "-");
        values.push_back(static_cast<uint32_t>(i));
    }
    if (want_->n_layers) declare_enum(fst, 1, "layer", names, values, kTagBits);
    names.assign(kStates, kStates + States);
    declare_enum(fst, 2, "state", names, {0, 1, 2, 3, 4}, kStateBits);
    for (int u = 0; u < HD_UNITS; u++) {
        names.clear();
        values.clear();
        for (const op_name &o : kOps)
            if (o.unit == u) names.push_back(o.name), values.push_back(o.code);
        declare_enum(fst, 3 + u, std::string("operation of ") + kUnits[u], names, values,
                     kCodeBits);
    }
}

void hd_waves::declare(void *self, VerilatedFst *fst, uint32_t code) {
    auto *w = static_cast<hd_waves *>(self);
    w->code_ = code;
    w->declare_enums(fst);
    auto bus = [&](uint32_t at, const char *name, int type, int n_bits) {
        fst->declBus(code + at, name, type, FST_VD_IMPLICIT, FST_VT_SV_LOGIC, false, -1, n_bits - 1,
                     0);
    };
    fst->pushNamePrefix("heddle ");
    fst->declBit(code, "recording", -1, FST_VD_IMPLICIT, FST_VT_SV_LOGIC, false, -1);
    for (int u = 0; u < HD_UNITS; u++) {
        uint32_t at = 1 + SIGNALS * static_cast<uint32_t>(u);
        fst->pushNamePrefix(std::string(kUnits[u]) + " ");
        if (u != HD_UNIT_seq) bus(at, "layer", w->want_->n_layers ? EnumBase + 1 : -1, kTagBits);
        bus(at + 1, "operation", EnumBase + 3 + u, kCodeBits);
        bus(at + 2, "state", EnumBase + 2, kStateBits);
        bus(at + 3, "pc", -1, 32);
        fst->popNamePrefix();
    }
    fst->popNamePrefix();
}

void hd_waves::put_all(void *self, VerilatedFst::Buffer *to) {
    auto *w = static_cast<hd_waves *>(self);
    uint32_t *at = to->oldp(w->code_);
    to->fullBit(at++, w->recording_);
    for (int u = 0; u < HD_UNITS; u++, at += SIGNALS) {
        const view &v = w->units_[u];
        if (u != HD_UNIT_seq) to->fullSData(at, v.layer, kTagBits);
        to->fullCData(at + 1, v.code, kCodeBits);
        to->fullCData(at + 2, v.state, kStateBits);
        to->fullIData(at + 3, v.pc, 32);
    }
}

void hd_waves::put_changes(void *self, VerilatedFst::Buffer *to) {
    auto *w = static_cast<hd_waves *>(self);
    uint32_t *at = to->oldp(w->code_);
    to->chgBit(at++, w->recording_);
    for (int u = 0; u < HD_UNITS; u++, at += SIGNALS) {
        const view &v = w->units_[u];
        if (u != HD_UNIT_seq) to->chgSData(at, v.layer, kTagBits);
        to->chgCData(at + 1, v.code, kCodeBits);
        to->chgCData(at + 2, v.state, kStateBits);
        to->chgIData(at + 3, v.pc, 32);
    }
}

// ---- a cycle ----------------------------------------------------------------------------------

uint32_t hd_waves::oldest_pc(const hd_rtl_cycle &c, int unit) const {
    const Vhd_sim___024root *r = top_->rootp;
#define HEAD(number)  r->HD_FRONT_OF(number, head).data()
#define COUNT(number) r->HD_FRONT_OF(number, u_flight__DOT__any_q) != 0
    const uint32_t *head[HD_UNITS] = {nullptr, HEAD(1), HEAD(2), HEAD(3), HEAD(4), HEAD(5)};
    const bool listed[HD_UNITS] = {false, COUNT(1), COUNT(2), COUNT(3), COUNT(4), COUNT(5)};
#undef HEAD
#undef COUNT
    if (!listed[unit]) return c.taken_pc[unit];       // the engine has it, the list will in a cycle
    return head[unit][1] >> 16 | head[unit][2] << 16; // hd_front: head[79:48]
}

hd_waves::view hd_waves::view_of(const hd_rtl_cycle &c, int unit) const {
    view v;
    bool active = c.active >> unit & 1;
    if (active) {
        v.layer = c.tag[unit];
        v.pc = unit == HD_UNIT_seq ? c.taken_pc[unit] : oldest_pc(c, unit);
        if (v.pc < program_.size()) v.code = program_[v.pc] & ((1 << kCodeBits) - 1);
    }
    if (c.stall_sem >> unit & 1)
        v.state = Semaphore;
    else if (c.stall_mem >> unit & 1)
        v.state = Memory;
    else if (c.stall_bank >> unit & 1)
        v.state = Bank;
    else
        v.state = active ? Busy : Idle;
    return v;
}

bool hd_waves::wanted(const hd_rtl_cycle &c) const {
    if (at_ < want_->from || at_ >= want_->to) return false;
    if (!want_->layers) return true;
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++)
        if (c.active >> u & 1 && c.tag[u] < want_->n_layers && want_->layers[c.tag[u]]) return true;
    return false;
}

void hd_waves::dump(uint64_t half) {
    end_ = half;
    file_->dump(half * kHalf);
}

void hd_waves::cycle(const hd_rtl_cycle &c) {
    if (!file_) return;
    at_ = base_ + c.cycle;
    bool want = wanted(c);
    if (!want && !recording_) return;
    recording_ = want; // a cycle that is not wanted ends the last one that was
    for (int u = 0; u < HD_UNITS; u++) units_[u] = view_of(c, u);
    top_->ap_clk = 1;
    dump(2 * at_);
    top_->ap_clk = 0;
    if (!want) return;
    dump(2 * at_ + 1);
    want_->result->cycles++;
}

// ---- files ------------------------------------------------------------------------------------

void hd_waves::fail(const char *what) {
    if (!*want_->result->why)
        snprintf(want_->result->why, sizeof want_->result->why, "%s: %s", what,
                 errno ? strerror(errno) : "the file is not complete");
}

bool hd_waves::open() {
    *want_->result = hd_wave_result{};
    file_.reset(new VerilatedFstC);
    top_->trace(file_.get(), 99);
    file_->spTrace()->addInitCb(declare, this);
    file_->spTrace()->addFullCb(put_all, this);
    file_->spTrace()->addChgCb(put_changes, this);
    file_->set_time_unit("1ps");
    file_->set_time_resolution("1ps");
    errno = 0;
    FILE *probe = fopen(want_->path, "wb"); // the writer of the library does not say why
    if (probe) fclose(probe);
    if (probe) file_->open(want_->path);
    if (probe && file_->isOpen()) return true;
    fail("cannot open");
    file_.reset();
    return false;
}

void hd_waves::begin(uint64_t cycles, const uint32_t *program, size_t n_words) {
    if (begun_) base_ += cycles;
    begun_ = true;
    program_.assign(program, program + n_words);
}

void hd_waves::close(uint64_t cycles) {
    if (!file_) return;
    for (view &v : units_) v = view{};
    bool to_the_end = recording_;
    recording_ = false;
    if (to_the_end) dump(2 * (base_ + cycles));
    errno = 0;
    file_->close();
    file_.reset();
    write_save();
}

// The names of all signals, as GTKWave writes them. Empty: the file is not what was written.
std::vector<std::string> hd_waves::read_names() {
    std::vector<std::string> names;
    void *r = fstReaderOpen(want_->path);
    if (!r) return names;
    std::vector<size_t> lengths;
    std::string scope;
    while (const fstHier *h = fstReaderIterateHier(r)) {
        if (h->htyp == FST_HT_SCOPE) {
            lengths.push_back(scope.size());
            scope += std::string(h->u.scope.name) + ".";
        } else if (h->htyp == FST_HT_UPSCOPE) {
            scope.resize(lengths.back());
            lengths.pop_back();
        } else if (h->htyp == FST_HT_VAR) {
            std::string name = scope;
            for (const char *c = h->u.var.name; *c; c++)
                if (*c != ' ') name += *c;
            names.push_back(name);
        }
    }
    bool whole = !want_->result->cycles || fstReaderGetEndTime(r) == end_ * kHalf;
    fstReaderClose(r);
    if (!whole) names.clear();
    return names;
}

// What a unit does, and behind it, folded, its registers and the fields of its operation.
void hd_waves::write_group(FILE *f, const std::vector<std::string> &names, int unit) const {
    constexpr const char *kNamed = "@100000028", *kHex = "@22";
    std::string scope = std::string("heddle.") + kUnits[unit] + ".";
    fprintf(f, "@800200\n-%s\n", kUnits[unit]);
    for (const std::string &n : names)
        if (starts(n, 0, scope.c_str()))
            fprintf(f, "%s\n%s\n", starts(n, scope.size(), "pc") ? kHex : kNamed, n.c_str());
    fprintf(f, "@c00200\n-registers of %s\n", kUnits[unit]);
    const char *core = "TOP.hd_sim.hd_top.u_core.";
    for (const std::string &n : names) {
        bool here = false;
        for (const char *s : kScopes[unit]) here = here || (s && starts(n, strlen(core), s));
        if (!starts(n, 0, core) || !here) continue;
        bool is_register = n.find("_q[") != std::string::npos ||
                           (n.size() > 2 && n.compare(n.size() - 2, 2, "_q") == 0);
        bool is_state = n.find(".state_q[") != std::string::npos;
        if (is_register || n.find(".p.") != std::string::npos)
            fprintf(f, "%s\n%s\n", is_state ? kNamed : kHex, n.c_str());
    }
    fprintf(f, "@1401200\n-registers of %s\n@1000200\n-%s\n", kUnits[unit], kUnits[unit]);
}

void hd_waves::write_save() {
    std::vector<std::string> names = read_names();
    if (names.empty()) return fail("cannot write");
    errno = 0;
    FILE *f = fopen(want_->save, "wb");
    if (!f) return fail("cannot write the save file");
    fprintf(f, "[dumpfile] \"%s\"\n@28\nTOP.ap_clk\nheddle.recording\n", want_->shown);
    for (int u = 0; u < HD_UNITS; u++) write_group(f, names, u);
    fprintf(f, "@c00200\n-memory port\n");
    for (const std::string &n : names)
        if (starts(n, 0, "TOP.m_axi_gmem_")) fprintf(f, "@22\n%s\n", n.c_str());
    fprintf(f, "@1401200\n-memory port\n");
    bool failed = ferror(f);
    if (fclose(f) != 0 || failed) fail("cannot write the save file");
}
#endif
