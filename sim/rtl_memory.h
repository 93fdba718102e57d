// The on-chip memories of a model: copied from and into the form in which the ISS keeps them.
#ifndef HD_SIM_RTL_MEMORY_H
#define HD_SIM_RTL_MEMORY_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "sim/rtl_top.h"

extern "C" {
#include "sim/rtl_model.h"
}

namespace rtl_memory {

struct ram {
    uint8_t *data;
    size_t row_bytes, rows;
};

// The RAMs of a memory that this machine has: a lambda that names a member which is absent does
// not compile, and the other overload is taken.
template <class T, size_t n> ram ram_of(VlUnpacked<T, n> &mem) {
    return {reinterpret_cast<uint8_t *>(&mem[0]), sizeof(T), n};
}
template <class Root, class F>
auto find_ram(std::vector<ram> &to, Root *r, F f, int) -> decltype(f(r), void()) {
    to.push_back(ram_of(f(r)));
}
template <class Root, class F> void find_ram(std::vector<ram> &, Root *, F, long) {}

// clang-format off
#define RAM_OF(path, i)                                                                            \
    HD_CORE(u_compute__DOT__##path##__BRA__##i##__KET____DOT__u_ram__DOT__mem)
#define FIND_RAM(path, i)                                                                          \
    find_ram(to, r, [](auto *p) -> decltype((p->RAM_OF(path, i))) { return p->RAM_OF(path, i); }, 0);
#define FIND_RAMS(path) \
    FIND_RAM(path, 0) FIND_RAM(path, 1) FIND_RAM(path, 2) FIND_RAM(path, 3) \
    FIND_RAM(path, 4) FIND_RAM(path, 5) FIND_RAM(path, 6) FIND_RAM(path, 7) \
    FIND_RAM(path, 8) FIND_RAM(path, 9) FIND_RAM(path, 10) FIND_RAM(path, 11) \
    FIND_RAM(path, 12) FIND_RAM(path, 13) FIND_RAM(path, 14) FIND_RAM(path, 15) \
    FIND_RAM(path, 16) FIND_RAM(path, 17) FIND_RAM(path, 18) FIND_RAM(path, 19) \
    FIND_RAM(path, 20) FIND_RAM(path, 21) FIND_RAM(path, 22) FIND_RAM(path, 23) \
    FIND_RAM(path, 24) FIND_RAM(path, 25) FIND_RAM(path, 26) FIND_RAM(path, 27) \
    FIND_RAM(path, 28) FIND_RAM(path, 29) FIND_RAM(path, 30) FIND_RAM(path, 31)
// clang-format on

template <class Root> std::vector<ram> rams_of(Root *r, int which) {
    std::vector<ram> to;
    if (which == HD_PROBE_XM) {
        FIND_RAMS(u_xm__DOT__gen_bank)
    } else if (which == HD_PROBE_AM) {
        FIND_RAMS(u_am__DOT__gen_bank)
    } else if (which == HD_PROBE_PM) {
        FIND_RAMS(u_pm__DOT__gen_part)
    } else if (which == HD_RTL_TM) {
        to.push_back(
            ram_of(r->HD_CORE(u_compute__DOT__u_vx__DOT__u_lanes__DOT__u_result__DOT__tm)));
    }
    if (to.empty()) { // a path above is not the RTL's any more
        fprintf(stderr, "rtl: the model has no memory %d\n", which);
        abort();
    }
    return to;
}

inline void move(uint8_t *ours, uint8_t *theirs, size_t bytes, bool load) {
    memcpy(load ? theirs : ours, load ? ours : theirs, bytes);
}

// WM is [word][k][n] in the model; a word in DRAM is [n][k].
template <class Root> size_t move_wm(Root *r, uint8_t *ours, bool load) {
    auto &wm = r->HD_CORE(u_compute__DOT__u_mx__DOT__u_array__DOT__wm);
    constexpr size_t k = sizeof wm[0] / sizeof wm[0][0], n = sizeof wm[0][0];
    size_t words = sizeof wm / sizeof wm[0];
    for (size_t w = 0; ours && w < words; w++)
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < n; j++) {
                uint8_t *at = ours + (w * n + j) * k + i;
                if (load)
                    wm[w][i][j] = static_cast<CData>(*at);
                else
                    *at = static_cast<uint8_t>(wm[w][i][j]);
            }
    return sizeof wm;
}

// Moves memory `which` (hd_probe_memory or HD_RTL_TM) from the model, or loads it, and gives its
// size; ours null = the size alone.
template <class Root> size_t move_all(Root *r, int which, uint8_t *ours, bool load) {
    if (which == HD_PROBE_WM) return move_wm(r, ours, load);
    std::vector<ram> rams = rams_of(r, which);
    size_t bytes = 0;
    for (const ram &m : rams) {
        bool parts = which == HD_PROBE_PM; // RAMs side by side; banks follow each other
        size_t step = parts ? m.row_bytes * rams.size() : m.row_bytes;
        uint8_t *at = ours + (parts ? bytes / m.rows : bytes);
        for (size_t i = 0; ours && i < m.rows; i++)
            move(at + i * step, m.data + i * m.row_bytes, m.row_bytes, load);
        bytes += m.row_bytes * m.rows;
    }
    return bytes;
}

} // namespace rtl_memory

#endif
