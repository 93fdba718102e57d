// What hd_compute must do, in plain loops over plain arrays: the oracle of tb_hd_compute.cc.
// Sizes come from isa/machine.def for -DMACHINE=tiny|base|big, operands from isa/isa.def.
#ifndef HD_TEST_RTL_COMPUTE_ORACLE_H
#define HD_TEST_RTL_COMPUTE_ORACLE_H

#include <cstdint>
#include <cstring>
#include <vector>
extern "C" {
#include "isa/clock.h"
#include "runtime/base/fn.h"
#include "runtime/base/num.h"
}

namespace oracle {

enum : uint32_t { tiny = 0, base = 1, big = 2 };
#define PARAM(name, t, b, g, ...)                                                                  \
    constexpr uint32_t p_##name = MACHINE == tiny ? t : MACHINE == base ? b : g;
#include "isa/machine.def"
enum { ok = -1 };
#define ERR(name, code, doc) constexpr int err_##name = code;
#include "isa/regs.def"

constexpr int K = p_k, N = p_n, kAxi = p_axi_bits / 8;
constexpr int64_t kXmBytes = p_xm_bytes, kWmWords = p_wm_bytes / (N * K),
                  kAmWords = p_am_bytes / (4 * N), kPmWords = p_pm_bytes / (8 * N);

// Operands by name; the encoder below places them as isa.def says.
struct Op {
#define UNIT(...)
#define FIELD(unit, f, word, lsb, width, kind, doc) int64_t unit##_##f = 0;
#include "isa/isa.def"
    bool dw = false; // vx.dw, not vx.map
};

inline void encode(const Op &op, bool vx, uint32_t words[32]) {
    memset(words, 0, 32 * sizeof words[0]);
    const bool lx = false, lw = false, st = false, mx = !vx;
#define FIELD(unit, f, word, lsb, width, kind, doc)                                                \
    if (unit)                                                                                      \
        words[word] |= uint32_t(uint64_t(op.unit##_##f) & ((uint64_t(1) << width) - 1)) << lsb;
#include "isa/isa.def"
}

struct State {
    std::vector<uint8_t> xm = std::vector<uint8_t>(kXmBytes), wm = std::vector<uint8_t>(p_wm_bytes),
                         pm = std::vector<uint8_t>(p_pm_bytes);
    std::vector<uint32_t> am = std::vector<uint32_t>(kAmWords * N);
};

inline float as_float(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}
inline uint32_t as_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return f == f ? u : 0x7fc00000u;
}
inline bool in(int64_t v, int64_t n) {
    return v >= 0 && v < n;
}

// Runs mx.gemm: `ok` or the error code at which it stopped.
inline int run_mx(State &s, const Op &o) {
    const int64_t n[6] = {o.mx_n0, o.mx_n1, o.mx_n2, o.mx_n3, o.mx_n4, o.mx_n5};
    const int64_t xs[6] = {o.mx_xs0, o.mx_xs1, o.mx_xs2, o.mx_xs3, o.mx_xs4, o.mx_xs5};
    const int64_t ws[6] = {o.mx_ws0, o.mx_ws1, o.mx_ws2, o.mx_ws3, o.mx_ws4, o.mx_ws5};
    const int64_t as[6] = {o.mx_as0, o.mx_as1, o.mx_as2, o.mx_as3, o.mx_as4, o.mx_as5};
    if (o.mx_nred > 6) return err_operand;
    for (int l = 0; l < 6; l++)
        if (n[l] == 0) return err_operand;
    int64_t i[6] = {};
    uint32_t acc[N] = {};
    for (;;) {
        int64_t x = o.mx_x, w = o.mx_w, a = o.mx_a;
        bool begin = true, end = true, last = true;
        for (int l = 0; l < 6; l++) {
            x += i[l] * xs[l];
            w += i[l] * ws[l];
            if (l >= o.mx_nred) a += i[l] * as[l];
            if (l < o.mx_nred) begin = begin && i[l] == 0, end = end && i[l] == n[l] - 1;
            last = last && i[l] == n[l] - 1;
        }
        if (!in(x, kXmBytes / K) || !in(w, kWmWords) || (end && !in(a, kAmWords))) return err_range;
        for (int c = 0; c < N; c++) {
            if (begin) acc[c] = 0;
            for (int k = 0; k < K; k++) {
                uint8_t xb = s.xm[x * K + k];
                acc[c] += uint32_t((o.mx_x_unsigned ? int(xb) : int(int8_t(xb))) *
                                   int(int8_t(s.wm[(w * N + c) * K + k])));
            }
            if (end) s.am[a * N + c] = acc[c] + (o.mx_accumulate ? s.am[a * N + c] : 0);
        }
        if (last) return ok;
        for (int l = 0; ++i[l] == n[l]; l++) i[l] = 0;
    }
}

inline uint32_t vx_fetch(const State &s, int64_t kind, int64_t at, int lane, int64_t p_at = 0) {
    if (kind > 4) {
        uint32_t v;
        memcpy(&v, &s.pm[(p_at * N + lane) * 8], 4);
        return v;
    }
    if (kind < 2) return s.am[at * N + lane];
    uint8_t b = kind == 4 ? 0 : s.xm[at * N + lane];
    return kind == 2 ? uint32_t(int8_t(b)) : b;
}
inline bool vx_in(int64_t kind, int64_t at) {
    return kind >= 4 || in(at, kind < 2 ? kAmWords : kXmBytes / N);
}

inline float vx_alu(int64_t alu, float a, float b) { // without subnormal results
    switch (alu) {
    case 1:
        return hd_flush(a + b);
    case 2:
        return hd_flush(a - b);
    case 3:
        return hd_flush(a * b);
    case 4:
        return a > b || b != b ? a : b;
    case 5:
        return a < b || b != b ? a : b;
    default:
        return a;
    }
}

inline bool is_f32(int64_t kind) {
    return kind == 1 || kind == 6;
}
inline bool to_am(const Op &o) {
    return o.vx_d_kind == 1 || o.vx_d_kind == 2;
}
inline bool uses_pm(const Op &o) {
    return o.vx_use_bias || o.vx_scale_pm || o.vx_a_kind > 4 || (o.vx_alu && o.vx_b_kind > 4);
}

// One lane after the reduction: t is the integer or, for a binary32 operand, the bits.
inline void vx_lane(State &s, const Op &o, int lane, uint32_t t, int64_t b_at, int64_t d_at,
                    int64_t p_at) {
    uint32_t bias = 0, scale = uint32_t(o.vx_a_scale);
    if (o.vx_use_bias || o.vx_scale_pm) {
        memcpy(&bias, &s.pm[(p_at * N + lane) * 8], 4);
        if (o.vx_scale_pm) memcpy(&scale, &s.pm[(p_at * N + lane) * 8 + 4], 4);
    }
    if (o.vx_use_bias && !is_f32(o.vx_a_kind)) t += bias;
    auto scaled = [](int64_t kind, uint32_t v, uint32_t by) {
        return vx_alu(3, is_f32(kind) ? hd_flush(as_float(v)) : float(int32_t(v)),
                      hd_flush(as_float(by)));
    };
    float a = scaled(o.vx_a_kind, t, scale), b = 0;
    if (o.vx_alu) {
        uint32_t v = vx_fetch(s, o.vx_b_kind, b_at, lane, p_at);
        if (!is_f32(o.vx_b_kind)) v += uint32_t(o.vx_b_imm);
        b = scaled(o.vx_b_kind, v, uint32_t(o.vx_b_scale));
    }
    const enum hd_fn fn = (enum hd_fn)o.vx_fn;
    float r = vx_alu(o.vx_alu, fn && o.vx_alu == 3 ? hd_fn(fn, as_float(as_bits(a))) : a, b);
    if (fn && o.vx_alu != 3) r = hd_fn(fn, as_float(as_bits(r)));
    if (o.vx_d_kind == 1)
        s.am[d_at * N + lane] = as_bits(r);
    else if (o.vx_d_kind == 2)
        s.am[d_at * N + lane] = uint32_t(hd_round_scaled(r, int(o.vx_q)));
    else
        s.xm[d_at * N + lane] = uint8_t(hd_requant(r, int(o.vx_zp), int(o.vx_lo), int(o.vx_hi)));
}

inline bool vx_legal(const Op &o) {
    return o.vx_nred <= 4 && o.vx_n0 && o.vx_n1 && o.vx_n2 && o.vx_n3 && o.vx_a_kind <= 6 &&
           o.vx_b_kind <= 6 && o.vx_alu <= 5 && o.vx_red <= 2 &&
           (o.vx_red != 0 || o.vx_nred == 0) && (o.vx_red != 1 || !is_f32(o.vx_a_kind)) &&
           (o.vx_nred == 0 || o.vx_a_kind <= 4) &&
           (o.vx_d_kind != 3 || (o.vx_nred == 0 && o.vx_n0 == N));
}

// Of vx.dw: input vectors of a row of outputs, and PM words of taps.
inline int64_t dw_columns(const Op &o) {
    return (o.vx_n1 - 1) * o.vx_sx + o.vx_n0;
}
inline int64_t dw_tap_words(const Op &o) {
    return (o.vx_n0 * o.vx_n2 + 7) / 8;
}

inline bool dw_legal(const Op &o) {
    return o.vx_n0 >= 1 && o.vx_n0 <= 3 && o.vx_n1 && o.vx_n2 >= 1 && o.vx_n2 <= 4 && o.vx_n3 &&
           o.vx_sx && (o.vx_a_kind == 2 || o.vx_a_kind == 3) &&
           (o.vx_b_kind == 4 || !o.vx_b_kind) && !o.vx_alu && !o.vx_red && !o.vx_nred &&
           o.vx_d_kind <= 2 && o.vx_a_imm >= -255 && o.vx_a_imm <= 255;
}

// Sum over the window whose first input is `at`, for one lane; it goes on from `t`.
inline uint32_t dw_sum(const State &s, const Op &o, int64_t at, int64_t p, int lane, uint32_t t) {
    for (int64_t ky = 0; ky < o.vx_n2; ky++)
        for (int64_t kx = 0; kx < o.vx_n0; kx++) {
            int64_t a = at + kx * o.vx_as0 + ky * o.vx_as2, tap = ky * o.vx_n0 + kx;
            t += (vx_fetch(s, o.vx_a_kind, a, lane) + uint32_t(o.vx_a_imm)) *
                 uint32_t(int8_t(s.pm[((p + 1) * 8 + tap) * N + lane]));
        }
    return t;
}

// Runs vx.dw: `ok` or the error code at which it stopped, column by column, rows innermost.
inline int run_dw(State &s, const Op &o) {
    if (!dw_legal(o)) return err_operand;
    for (int64_t i3 = 0; i3 < o.vx_n3; i3++) {
        int64_t p = o.vx_p + i3 * o.vx_ps3, row = o.vx_a + i3 * o.vx_as3;
        if (!in(p, kPmWords) || !in(p + dw_tap_words(o), kPmWords)) return err_range;
        for (int64_t column = 0; column < dw_columns(o); column++) {
            int64_t first = column - (o.vx_n0 - 1), d = o.vx_d + i3 * o.vx_ds3;
            bool end = first >= 0 && first % o.vx_sx == 0;
            int64_t b = o.vx_b + first / o.vx_sx * o.vx_bs1 + i3 * o.vx_bs3;
            if (end) d += first / o.vx_sx * o.vx_ds1;
            for (int64_t ky = 0; ky < o.vx_n2; ky++) {
                if (!vx_in(o.vx_a_kind, row + column * o.vx_as0 + ky * o.vx_as2)) return err_range;
                if (end && !ky && !o.vx_b_kind && !vx_in(0, b)) return err_range;
                if (!end || ky < o.vx_n2 - 1) continue;
                if (!vx_in(to_am(o) ? 0 : 2, d)) return err_range;
                for (int lane = 0; lane < N; lane++)
                    vx_lane(s, o, lane,
                            dw_sum(s, o, row + first * o.vx_as0, p, lane,
                                   o.vx_b_kind ? 0 : vx_fetch(s, 0, b, lane)),
                            0, d, p);
            }
        }
    }
    return ok;
}

// Where binary32 stands in its total order.
inline int32_t order(uint32_t v) {
    return int32_t(v >> 31 ? v ^ 0x7fffffffu : v);
}

// Runs vx.map: `ok` or the error code at which it stopped.
inline int run_map(State &s, const Op &o) {
    const int64_t n[4] = {o.vx_n0, o.vx_n1, o.vx_n2, o.vx_n3};
    const int64_t as[4] = {o.vx_as0, o.vx_as1, o.vx_as2, o.vx_as3};
    const int64_t bs[4] = {o.vx_bs0, o.vx_bs1, o.vx_bs2, o.vx_bs3};
    const int64_t ds[4] = {o.vx_ds0, o.vx_ds1, o.vx_ds2, o.vx_ds3};
    const int64_t ps[4] = {o.vx_ps0, o.vx_ps1, o.vx_ps2, o.vx_ps3};
    if (!vx_legal(o)) return err_operand;
    int64_t i[4] = {};
    uint32_t t[N] = {};
    for (;;) {
        int64_t a = o.vx_a, b = o.vx_b, d = o.vx_d, p = o.vx_p;
        bool begin = true, end = true, last = true;
        for (int l = 0; l < 4; l++) {
            a += i[l] * as[l];
            if (l >= o.vx_nred) b += i[l] * bs[l], d += i[l] * ds[l], p += i[l] * ps[l];
            if (l < o.vx_nred) begin = begin && i[l] == 0, end = end && i[l] == n[l] - 1;
            last = last && i[l] == n[l] - 1;
        }
        if (!vx_in(o.vx_a_kind, a)) return err_range;
        if (end && ((o.vx_alu && !vx_in(o.vx_b_kind, b)) || !vx_in(to_am(o) ? 0 : 2, d) ||
                    (uses_pm(o) && !in(p, kPmWords))))
            return err_range;
        for (int lane = 0; lane < N; lane++) {
            uint32_t v = vx_fetch(s, o.vx_a_kind, a, lane, p) +
                         (is_f32(o.vx_a_kind) ? 0 : uint32_t(o.vx_a_imm));
            if (begin)
                t[lane] = v;
            else if (o.vx_red == 2 && is_f32(o.vx_a_kind))
                t[lane] = order(v) > order(t[lane]) ? v : t[lane];
            else if (o.vx_red == 2)
                t[lane] = int32_t(v) > int32_t(t[lane]) ? v : t[lane];
            else
                t[lane] += v;
            if (end) vx_lane(s, o, lane, t[lane], b, d, p);
        }
        if (last) return ok;
        for (int l = 0; ++i[l] == n[l]; l++) i[l] = 0;
    }
}

inline int run_vx(State &s, const Op &o) {
    return o.dw ? run_dw(s, o) : run_map(s, o);
}

} // namespace oracle

#endif
