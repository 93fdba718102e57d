// A run of the model that begins in the middle of a program (struct hd_rtl_resume): semaphores are
// set at its start, and for a while no operation begins before its time. Both are written into
// registers between two edges; then all that hangs on them is evaluated anew.
#ifndef HD_SIM_RTL_GUIDE_H
#define HD_SIM_RTL_GUIDE_H

#include <cstdint>

#include "sim/rtl_top.h"

extern "C" {
#include "runtime/base/num.h"
#include "sim/rtl_model.h"
}

void Vhd_sim___024root___eval_settle(Vhd_sim___024root *); // Verilator's

#define HD_FRONT_OF(number, signal)                                                                \
    HD_CORE(gen_front__BRA__##number##__KET____DOT__u_front__DOT__##signal)
// Number of a front in hd_core, by unit.
#define HD_FRONTS(F)                                                                               \
    F(lx, 1)                                                                                       \
    F(lw, 2)                                                                                       \
    F(mx, 3)                                                                                       \
    F(vx, 4)                                                                                       \
    F(st, 5)

class hd_guide {
  public:
    explicit hd_guide(const hd_rtl_resume &r) : from_{r} {}

    uint64_t first_cycle() const { return from_.cycle; }

    // The core is out of reset; nothing has been issued.
    void begin(Vhd_sim___024root *r) {
        r->HD_CORE(u_sem__DOT__nonzero_q) = 0;
        for (int i = 0; i < HD_SEMAPHORES; i++) {
            r->HD_CORE(u_sem__DOT__count_q)[i] = from_.sem[i];
            if (from_.sem[i]) r->HD_CORE(u_sem__DOT__nonzero_q) |= UINT32_C(1) << i;
        }
        guides_ = from_.until > from_.cycle;
        Vhd_sim___024root___eval_settle(r);
    }

    // The cycle begins: its registers are there, the clock is still high.
    void step(Vhd_sim___024root *r, uint64_t cycle) {
        if (!guides_) return;
        bool changed = false;
        guides_ = cycle < from_.until;
#define FRONT(u, number)                                                                           \
    changed |=                                                                                     \
        hold(HD_UNIT_##u, r->HD_FRONT_OF(number, state_q), r->HD_FRONT_OF(number, wait_q), cycle);
        HD_FRONTS(FRONT)
#undef FRONT
        if (changed) Vhd_sim___024root___eval_settle(r);
    }

    // Hash of what decides when things happen, places in the program left out.
    static uint32_t control(const Vhd_sim___024root *r) {
        uint32_t h = HD_HASH_INIT;
        auto add = [&h](const auto &v) { h = hd_hash(h, &v, sizeof v); };
#define FIFO(of, number, name)                                                                     \
    words_in(r->of(number, name##__DOT__mem), r->of(number, name##__DOT__wr_q),                    \
             r->of(number, name##__DOT__rd_q), r->of(number, name##__DOT__full_q))
#define FETCH(number, signal) HD_CORE(u_fetch__DOT__##signal)
#define FRONT(u, number)                                                                           \
    add(r->HD_FRONT_OF(number, state_q));                                                          \
    add(r->HD_FRONT_OF(number, taken_q));                                                          \
    add(r->HD_FRONT_OF(number, enter_q));                                                          \
    add(r->HD_FRONT_OF(number, params_q));                                                         \
    add(FIFO(HD_FRONT_OF, number, u_words));                                                       \
    add(FIFO(HD_FRONT_OF, number, u_pcs));                                                         \
    add(FIFO(HD_FRONT_OF, number, u_flight));
        HD_FRONTS(FRONT)
#undef FRONT
        add(r->HD_CORE(u_sem__DOT__count_q));
        add(r->HD_CORE(u_issue__DOT__state_q));
        add(r->HD_CORE(u_fetch__DOT__reserved_q));
        add(r->HD_CORE(u_fetch__DOT__open_q));
        add(FIFO(FETCH, 0, u_beats));
        add(r->HD_CORE(u_rd_arb__DOT__valid_q));
        add(r->HD_CORE(u_rd_arb__DOT__credit_q));
#undef FIFO
#undef FETCH
        return h;
    }

  private:
    // Words in a FIFO of this memory, by its pointers.
    template <class Word, size_t Depth>
    static uint32_t words_in(const VlUnpacked<Word, Depth> &, uint32_t wr, uint32_t rd, bool full) {
        return full ? Depth : (wr - rd) % Depth;
    }

    static constexpr int kSem = 4; // hd_front: state_q while it waits for its semaphores

    // The semaphore that nobody signals in the mask of an operation whose time has not come. True:
    // the mask has changed.
    template <class State> bool hold(int unit, const State &state, uint32_t &mask, uint64_t cycle) {
        bool waits = state == kSem;
        if (waits && !waited_[unit]) arrived_[unit]++;
        waited_[unit] = waits;
        if (!waits) return false;
        size_t i = arrived_[unit] - 1;
        bool held = guides_ && i < from_.n_release[unit] && cycle < from_.release[unit][i];
        uint32_t bit = UINT32_C(1) << from_.free_sem, was = mask;
        mask = held ? mask | bit : mask & ~bit;
        return mask != was;
    }

    hd_rtl_resume from_;
    bool guides_ = false;
    bool waited_[HD_UNITS]{};
    size_t arrived_[HD_UNITS]{};
};

#endif
