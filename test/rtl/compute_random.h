// Random operations of the matrix and vector units, for tb_hd_compute.cc: the generator of numbers
// and operands that stay inside the memories.
#ifndef HD_TEST_RTL_COMPUTE_RANDOM_H
#define HD_TEST_RTL_COMPUTE_RANDOM_H

#include "test/rtl/compute_oracle.h"

namespace oracle {

inline uint64_t rng_state;

inline uint64_t rng() {
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state * 0x2545f4914f6cdd1dull >> 16;
}
inline int64_t pick(int64_t lo, int64_t hi) {
    return lo + int64_t(rng() % uint64_t(hi - lo + 1));
}
inline bool chance(int percent) {
    return pick(1, 100) <= percent;
}

// Steps of a stream over loops n[0..loops), zero below `outer`, and a base such that every address
// lies in [lo, lo + size). Small strides, either sign; distinct: no address twice.
inline int64_t place(const int64_t *n, int loops, int outer, bool distinct, int64_t lo,
                     int64_t size, int64_t *step) {
    for (int shrink = 0;; shrink++) {
        int64_t least = 0, most = 0, stride = 1;
        for (int l = 0; l < loops; l++) {
            step[l] = 0;
            if (l < outer || shrink > 20) continue;
            int64_t s =
                distinct ? stride * (shrink > 6 ? 1 : pick(1, 2)) : pick(-3, 3) * pick(0, 4);
            if (distinct) stride = s * n[l];
            if (distinct && chance(20)) s = -s;
            step[l] = s;
            (s < 0 ? least : most) += s * (n[l] - 1);
        }
        if (most - least < size) return lo - least + pick(0, size - 1 - (most - least));
    }
}

inline void loops_of(int64_t *n, int loops, int64_t most) {
    int64_t total = 1;
    for (int l = 0; l < loops; l++) {
        n[l] = chance(40) ? 1 : pick(1, chance(20) ? 40 : 5);
        if (total * n[l] > most) n[l] = 1;
        total *= n[l];
    }
}

struct Range {
    int64_t lo, size;
};

inline Op random_mx(Range x, Range a) {
    Op o;
    int64_t n[6], xs[6], ws[6], as[6];
    loops_of(n, 6, chance(10) ? 2000 : 150);
    o.mx_nred = pick(0, 6);
    o.mx_accumulate = chance(50);
    o.mx_x_unsigned = chance(50);
    int64_t outputs = 1;
    for (int l = int(o.mx_nred); l < 6; l++) outputs *= n[l];
    if (outputs >= a.size / 4) o.mx_nred = 6;
    o.mx_x = place(n, 6, 0, false, x.lo, x.size, xs);
    o.mx_w = place(n, 6, 0, false, 0, kWmWords, ws);
    o.mx_a =
        place(n, 6, int(o.mx_nred), true, a.lo, chance(30) ? hd_max(2, 2 * outputs) : a.size, as);
    if (!in(o.mx_a - a.lo, a.size)) o.mx_a = a.lo;
#define LOOP(l) o.mx_n##l = n[l], o.mx_xs##l = xs[l], o.mx_ws##l = ws[l], o.mx_as##l = as[l]
    LOOP(0), LOOP(1), LOOP(2), LOOP(3), LOOP(4), LOOP(5);
#undef LOOP
    // Steps of reduction loops do not move the sum; they may hold anything.
    if (o.mx_nred > 0) o.mx_as0 = pick(-100, 100);
    return o;
}

inline int64_t random_scale() {
    if (chance(10)) return uint32_t(rng());
    return as_bits((chance(20) ? -1.0f : 1.0f) * (1.0f + float(rng() % 1000) / 1000) /
                   float(1 << rng() % 22));
}

// Scales, clamp and zero point.
inline void random_result(Op &o) {
    o.vx_a_scale = random_scale();
    o.vx_b_scale = random_scale();
    bool u = chance(50);
    o.vx_lo = chance(90) ? (u ? 0 : -128) : int16_t(rng());
    o.vx_hi = chance(90) ? (u ? 255 : 127) : int16_t(rng());
    o.vx_zp = chance(90) ? pick(-128, 255) : int16_t(rng());
}

// src: where XM and AM operands may lie, dst: where the result may.
inline Op random_map(Range xm_src, Range am_src, Range xm_dst, Range am_dst) {
    Op o;
    int64_t n[4], as[4], bs[4], ds[4], ps[4];
    loops_of(n, 4, chance(10) ? 400 : 60);
    o.vx_a_kind = pick(0, 6);
    o.vx_b_kind = pick(0, 6);
    o.vx_red = chance(50) ? 0 : is_f32(o.vx_a_kind) ? 2 : pick(1, 2);
    o.vx_nred = o.vx_red && o.vx_a_kind <= 4 ? pick(0, 4) : 0;
    o.vx_alu = pick(0, 5);
    o.vx_d_kind = pick(0, 2);
    o.vx_fn = chance(30) ? pick(1, HD_FN_SIGMOID) : 0;
    o.vx_q = o.vx_d_kind == 2 ? pick(-32, 31) : 0;
    o.vx_use_bias = chance(50);
    o.vx_scale_pm = chance(50);
    Range a = o.vx_a_kind < 2 ? am_src : xm_src, b = o.vx_b_kind < 2 ? am_src : xm_src;
    Range d = o.vx_d_kind ? am_dst : xm_dst;
    o.vx_a = place(n, 4, 0, false, a.lo, a.size, as);
    o.vx_b = place(n, 4, int(o.vx_nred), false, b.lo, b.size, bs);
    o.vx_d = place(n, 4, int(o.vx_nred), true, d.lo, d.size, ds);
    o.vx_p = place(n, 4, int(o.vx_nred), false, 0, kPmWords, ps);
#define LOOP(l)                                                                                    \
    o.vx_n##l = n[l], o.vx_as##l = as[l], o.vx_bs##l = bs[l], o.vx_ds##l = ds[l], o.vx_ps##l = ps[l]
    LOOP(0), LOOP(1), LOOP(2), LOOP(3);
#undef LOOP
    o.vx_a_imm = chance(50) ? pick(-255, 255) : chance(50) ? 0 : int32_t(rng());
    o.vx_b_imm = chance(50) ? pick(-255, 255) : chance(50) ? 0 : int32_t(rng());
    random_result(o);
    return o;
}

inline Op random_dw(Range src, Range am_src, Range xm_dst, Range am_dst) {
    Op o;
    int64_t as[4], bs[4], ds[4], ps[4];
    o.dw = true;
    o.vx_n0 = pick(1, 3);
    o.vx_n1 = chance(30) ? 1 : pick(1, chance(20) ? 30 : 7);
    o.vx_n2 = pick(1, 4);
    o.vx_n3 = chance(50) ? 1 : pick(2, 5);
    o.vx_sx = pick(1, 3);
    o.vx_a_kind = pick(2, 3);
    o.vx_b_kind = chance(50) ? 4 : 0; // 0: sums go on
    o.vx_d_kind = pick(0, 2);
    o.vx_fn = chance(30) ? pick(1, HD_FN_SIGMOID) : 0;
    o.vx_q = o.vx_d_kind == 2 ? pick(-32, 31) : 0;
    o.vx_use_bias = chance(50);
    o.vx_scale_pm = chance(50);
    Range d = o.vx_d_kind ? am_dst : xm_dst;
    const int64_t a_n[4] = {dw_columns(o), 1, o.vx_n2, o.vx_n3}, d_n[4] = {1, o.vx_n1, 1, o.vx_n3},
                  p_n[4] = {1, 1, 1, o.vx_n3};
    o.vx_a = place(a_n, 4, 0, false, src.lo, src.size, as);
    o.vx_b = place(d_n, 4, 1, false, am_src.lo, am_src.size, bs);
    o.vx_d = place(d_n, 4, 1, true, d.lo, d.size, ds);
    o.vx_p = place(p_n, 4, 3, false, 0, kPmWords - dw_tap_words(o), ps);
    o.vx_as0 = as[0], o.vx_as2 = as[2], o.vx_as3 = as[3];
    o.vx_ds1 = ds[1], o.vx_ds3 = ds[3], o.vx_ps3 = ps[3];
    o.vx_bs1 = bs[1], o.vx_bs3 = bs[3];
    // Steps that have no loop may hold anything.
    o.vx_as1 = pick(-9, 9), o.vx_ds0 = pick(-9, 9), o.vx_ds2 = pick(-9, 9);
    o.vx_ps0 = pick(-9, 9), o.vx_ps1 = pick(-9, 9), o.vx_ps2 = pick(-9, 9);
    o.vx_a_imm = chance(20) ? (chance(50) ? -255 : 255) : pick(-255, 255);
    random_result(o);
    return o;
}

inline Op random_vx(Range xm_src, Range am_src, Range xm_dst, Range am_dst) {
    return chance(50) ? random_dw(xm_src, am_src, xm_dst, am_dst)
                      : random_map(xm_src, am_src, xm_dst, am_dst);
}

} // namespace oracle

#endif
