/* One random operation of each unit: fields in their legal ranges, and the memory that it touches.
 */
#include "test/cosim/gen.h"

#include <string.h>

enum { DW_PERCENT = 15 }; /* share of vx.dw among operations of VX */
enum { TRIES = 200 };

int64_t gen_pick(struct gen *g, int64_t lo, int64_t hi) {
    return hi <= lo ? lo : rng_range(&g->r, lo, hi);
}
bool gen_chance(struct gen *g, int percent) {
    return gen_pick(g, 0, 99) < percent;
}

/* The same with the values about zero more often, where they are in the range. */
static int64_t near_zero(struct gen *g, int64_t lo, int64_t hi) {
    int64_t v = gen_pick(g, lo, hi), small = gen_pick(g, -1, 1);
    return gen_chance(g, 10) && small >= lo && small <= hi ? small : v;
}

void gen_set(struct gen *g, enum hd_field f, int64_t v) {
    hd_field_set(g->op->words, f, v);
}

void gen_touch(struct gen *g, enum space space, int64_t lo, int64_t hi, bool write) {
    g->op->touch[g->op->n_touch++] = (struct touch){space, lo, hi, write};
}

/* ---- boxes: the range of an affine nest ------------------------------------------------------ */

struct box {
    int64_t lo, hi; /* offsets of first and behind the last item, relative to the base */
};

static struct box box_of(int n_loops, const int64_t *n, const int64_t *step, int64_t run) {
    struct box b = {0, run};
    for (int l = 0; l < n_loops; l++) {
        int64_t d = (n[l] - 1) * step[l];
        if (d < 0)
            b.lo += d;
        else
            b.hi += d;
    }
    return b;
}

/* A base that keeps the box inside [from, to), or -1. */
static int64_t place(struct gen *g, struct box b, int64_t from, int64_t to) {
    if (b.hi - b.lo > to - from) return -1;
    if (gen_chance(g, 3) && to - b.hi > from - b.lo) return from - b.lo + 1;
    return gen_chance(g, 5)   ? from - b.lo /* the corners */
           : gen_chance(g, 5) ? to - b.hi
                              : gen_pick(g, from - b.lo, to - b.hi);
}

/* Steps that never reach an item twice: each loop moves beyond all that is inside it. */
static void apart(struct gen *g, int n_loops, const int64_t *n, int64_t run, int64_t gap,
                  int64_t *step) {
    int64_t inner = run;
    for (int l = 0; l < n_loops; l++) {
        step[l] = inner + (gen_chance(g, 40) ? 0 : gen_pick(g, 0, gap));
        inner = step[l] * (n[l] - 1) + inner;
        if (gen_chance(g, 15)) step[l] = -step[l];
    }
}

/* Bytes of XM, or of AM, whose words count as a whole. */
static void touch_chip(struct gen *g, bool am, int64_t lo, int64_t hi, bool write) {
    int64_t word = am ? hd_am_word_bytes(g->m) : 1;
    gen_touch(g, am ? SPACE_AM : SPACE_XM, lo / word, (hi + word - 1) / word, write);
}
static bool may_use_am(struct gen *g) {
    return hd_am_word_bytes(g->m) >= hd_axi_bytes(g->m) && gen_chance(g, 25);
}

static void dma_shape(struct gen *g, int64_t *run, int64_t *n) {
    *run = gen_chance(g, 10) ? gen_pick(g, 1, 1200) : gen_pick(g, 1, 70);
    for (int l = 0; l < 3; l++) n[l] = gen_chance(g, 40) ? 1 : gen_pick(g, 1, 4);
}

/* ---- one operation of each unit; false: try again -------------------------------------------- */

static bool random_lx(struct gen *g) {
    int64_t run, n[3], d[3], s[3];
    dma_shape(g, &run, n);
    bool am = may_use_am(g);
    int64_t unit = am ? 4 : 1, size = am ? g->m->am_bytes : g->m->xm_bytes;
    apart(g, 3, n, run, 40, d);
    run *= unit;
    for (int l = 0; l < 3; l++) d[l] *= unit;
    for (int l = 0; l < 3 && !am; l++)
        if (n[l] == 1 && run % 4 == 1 + l) d[l] = -1; /* of no loop: not used */
    for (int l = 0; l < 3; l++) s[l] = gen_chance(g, 25) ? d[l] : near_zero(g, -200, 900);
    struct box chip = box_of(3, n, d, run);
    int64_t dst = place(g, chip, 0, size), seg = !gen_chance(g, 10), src;
    if (dst > 0) dst -= dst % unit;
    int64_t window = seg ? SHARED_BYTES : IMAGE_DATA_BYTES;
    bool edge = gen_chance(g, 50);
    if (edge) { /* a tensor of `rows` rows of row_bytes; the operation hangs over its edges */
        int64_t rows = gen_pick(g, 0, 6), row = gen_pick(g, 1, 200),
                pitch = row + gen_pick(g, 0, 30);
        int64_t ys = gen_pick(g, 1, 3), x0 = gen_pick(g, -60, 100), y0 = gen_pick(g, -3, 4);
        s[0] = gen_pick(g, 0, 60), s[1] = pitch * ys, s[2] = gen_pick(g, 0, 300);
        struct box b = {0, (rows + 1) * pitch + (n[2] - 1) * s[2]};
        int64_t at = place(g, b, 0, window);
        if (at < 0) return false;
        if (seg && rows) gen_touch(g, SPACE_DRAM, at, at + b.hi, false);
        src = (at + y0 * pitch + x0) & UINT32_MAX;
        gen_set(g, HD_F_lx_x0, x0), gen_set(g, HD_F_lx_y0, y0), gen_set(g, HD_F_lx_ys, ys);
        gen_set(g, HD_F_lx_rows, rows), gen_set(g, HD_F_lx_row_bytes, row);
    } else {
        struct box b = box_of(3, n, s, run);
        src = place(g, b, 0, window);
        if (src >= 0 && seg) gen_touch(g, SPACE_DRAM, src + b.lo, src + b.hi, false);
    }
    if (dst < 0 || src < 0) return false;
    if (dst + chip.lo < 0) return false;
    touch_chip(g, am, dst + chip.lo, dst + chip.hi, true);
    gen_set(g, HD_F_lx_mem, am), gen_set(g, HD_F_lx_seg, seg), gen_set(g, HD_F_lx_edge, edge),
        gen_set(g, HD_F_lx_pad, gen_pick(g, 0, 255));
    gen_set(g, HD_F_lx_src, src), gen_set(g, HD_F_lx_dst, dst), gen_set(g, HD_F_lx_run, run);
    gen_set(g, HD_F_lx_n1, n[0]), gen_set(g, HD_F_lx_n2, n[1]), gen_set(g, HD_F_lx_n3, n[2]);
    gen_set(g, HD_F_lx_s1, s[0]), gen_set(g, HD_F_lx_s2, s[1]), gen_set(g, HD_F_lx_s3, s[2]);
    gen_set(g, HD_F_lx_d1, d[0]), gen_set(g, HD_F_lx_d2, d[1]), gen_set(g, HD_F_lx_d3, d[2]);
    return true;
}

static bool random_lw(struct gen *g) {
    static const enum space spaces[] = {SPACE_WM, SPACE_PM, SPACE_TM};
    static const int64_t near_words[] = {N_WM, N_PM, HD_TM_TABLES};
    int mem = gen_chance(g, 60) ? 0 : (int)gen_pick(g, 1, 2);
    int64_t axi = hd_axi_bytes(g->m), bytes = hd_lw_word_bytes(g->m, mem);
    int64_t all = hd_lw_words(g->m, mem);
    int64_t n = gen_pick(g, 1, mem == 2 ? 2 : 3), count = gen_pick(g, 1, mem == 2 ? 2 : 6), s, d;
    int64_t cut = mem == 1 && gen_chance(g, 50) ? gen_pick(g, 0, bytes / axi - 1) : 0;
    int64_t run = count * bytes - cut * axi;
    apart(g, 1, &n, count, 4, &d);
    s = gen_chance(g, 40) ? run : gen_pick(g, -20, 60) * axi;
    bool col = !mem && g->m->functions && gen_chance(g, 30);
    int64_t rows[2] = {g->m->k, n}, steps[2];
    if (col) {
        if (axi > g->m->n) axi = g->m->n;
        count = gen_pick(g, 1, 3), s = gen_pick(g, -20, 60) * axi;
        steps[0] = gen_pick(g, -6, 12) * axi, steps[1] = s;
        gen_set(g, HD_F_lw_col, 1), gen_set(g, HD_F_lw_s2, steps[0]);
    }
    struct box dram = col ? box_of(2, rows, steps, count * g->m->n) : box_of(1, &n, &s, run);
    if (col) apart(g, 1, &n, count, 4, &d);
    struct box chip = box_of(1, &n, &d, count);
    int64_t near = near_words[mem];
    int64_t dst = place(g, chip, 0, gen_chance(g, 85) && near < all ? near : all);
    int64_t seg = !gen_chance(g, 10);
    int64_t src = place(g, dram, 0, seg ? READ_BYTES : IMAGE_DATA_BYTES);
    if (dst < 0 || src < 0) return false; /* where words are big, segment 0 has no room for some */
    src = src / axi * axi;
    if (src + dram.lo < 0) return false;
    if (seg) gen_touch(g, SPACE_DRAM, src + dram.lo, src + dram.hi, false);
    gen_touch(g, spaces[mem], dst + chip.lo, dst + chip.hi, true);
    gen_set(g, HD_F_lw_seg, seg), gen_set(g, HD_F_lw_mem, mem), gen_set(g, HD_F_lw_src, src);
    gen_set(g, HD_F_lw_dst, dst), gen_set(g, HD_F_lw_count, count), gen_set(g, HD_F_lw_n1, n);
    gen_set(g, HD_F_lw_s1, s), gen_set(g, HD_F_lw_d1, d), gen_set(g, HD_F_lw_cut, cut);
    return true;
}

static bool random_mx(struct gen *g) {
#define LOOP(l)                                                                                    \
    { HD_F_mx_n##l, HD_F_mx_xs##l, HD_F_mx_ws##l, HD_F_mx_as##l }
    static const enum hd_field f[6][4] = {LOOP(0), LOOP(1), LOOP(2), LOOP(3), LOOP(4), LOOP(5)};
#undef LOOP
    int64_t n[6], xs[6], ws[6], as[6] = {0}, nred = gen_pick(g, 0, 6), total = 1;
    for (int l = 0; l < 6; l++) {
        n[l] = gen_chance(g, 55) ? 1 : gen_pick(g, 1, 4);
        if (total * n[l] > 300) n[l] = 1;
        total *= n[l];
        xs[l] = gen_pick(g, -3, 9), ws[l] = gen_pick(g, -2, 5);
    }
    apart(g, 6 - (int)nred, n + nred, 1, 2, as + nred);
    int64_t k = g->m->k, am = hd_am_words(g->m);
    struct box bx = box_of(6, n, xs, 1), bw = box_of(6, n, ws, 1);
    struct box ba = box_of(6 - (int)nred, n + nred, as + nred, 1);
    int64_t x = place(g, bx, 0, g->m->xm_bytes / k);
    int64_t w = place(g, bw, 0, gen_chance(g, 85) ? N_WM : hd_wm_words(g->m));
    int64_t a = place(g, ba, 0, am);
    if (x < 0 || w < 0 || a < 0) return false;
    gen_touch(g, SPACE_XM, (x + bx.lo) * k, (x + bx.hi) * k, false);
    gen_touch(g, SPACE_WM, w + bw.lo, w + bw.hi, false);
    gen_touch(g, SPACE_AM, a + ba.lo, a + ba.hi, true);
    for (int l = 0; l < 6; l++)
        gen_set(g, f[l][0], n[l]), gen_set(g, f[l][1], xs[l]), gen_set(g, f[l][2], ws[l]),
            gen_set(g, f[l][3], as[l]);
    gen_set(g, HD_F_mx_nred, nred), gen_set(g, HD_F_mx_accumulate, gen_chance(g, 40));
    gen_set(g, HD_F_mx_x_unsigned, gen_chance(g, 50));
    gen_set(g, HD_F_mx_x, x), gen_set(g, HD_F_mx_w, w), gen_set(g, HD_F_mx_a, a);
    return true;
}

static int64_t random_scale(struct gen *g) {
    static const uint32_t special[] = {0,          0x80000000, 1,          0x007fffff, 0x00800000,
                                       0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000};
    if (gen_chance(g, 8)) return (int32_t)special[gen_pick(g, 0, 9)];
    if (gen_chance(g, 4)) return (int32_t)rng_next(&g->r);
    /* exponent 2^-20 .. 2^3, any mantissa, either sign */
    uint32_t bits = (uint32_t)gen_pick(g, 107, 130) << 23 | (rng_next(&g->r) & 0x7fffff);
    if (gen_chance(g, 30)) bits &= 0xff800000; /* powers of two make ties */
    return (int32_t)(bits | (gen_chance(g, 30) ? 0x80000000u : 0));
}

static void set_float(struct gen *g, enum hd_field f) {
    gen_set(g, f, (uint32_t)random_scale(g));
}

bool ranges_overlap(int64_t lo, int64_t hi, int64_t lo2, int64_t hi2) {
    return lo < hi2 && lo2 < hi;
}

/* One operand or the result: places it and notes what it touches. Bytes of XM, words of AM. */
static int64_t place_operand(struct gen *g, int kind_is_xm, struct box b, bool write) {
    int64_t n = g->m->n, size = kind_is_xm ? g->m->xm_bytes / n : hd_am_words(g->m);
    int64_t at = place(g, b, 0, size), unit = kind_is_xm ? n : 1;
    if (at >= 0)
        gen_touch(g, kind_is_xm ? SPACE_XM : SPACE_AM, (at + b.lo) * unit, (at + b.hi) * unit,
                  write);
    return at;
}

/* What happens to a result of map and dw. */
static void set_result(struct gen *g, int64_t lut) {
    gen_set(g, HD_F_vx_fn,
            g->m->functions && gen_chance(g, 40) ? gen_pick(g, 1, HD_V_vx_fn_sigmoid) : 0),
        gen_set(g, HD_F_vx_lut, lut);
    gen_set(g, HD_F_vx_tail, g->m->functions && gen_chance(g, 30) ? gen_pick(g, 1, g->m->n) : 0);
    gen_set(g, HD_F_vx_q, gen_chance(g, 30) ? near_zero(g, -32, 31) : 0);
}

static int64_t random_imm(struct gen *g) {
    if (!g->m->functions) return near_zero(g, -255, 255);
    return gen_chance(g, 10) ? (int32_t)rng_next(&g->r) : near_zero(g, -300, 300);
}

static bool random_vx(struct gen *g) {
#define LOOP(l)                                                                                    \
    { HD_F_vx_n##l, HD_F_vx_as##l, HD_F_vx_bs##l, HD_F_vx_ds##l, HD_F_vx_ps##l }
    static const enum hd_field f[4][5] = {LOOP(0), LOOP(1), LOOP(2), LOOP(3)};
#undef LOOP
    int64_t n[4], as[4], bs[4], ds[4] = {0}, ps[4];
    const bool full = g->m->functions; /* others lack some operands and operations */
    int64_t a_kind = gen_pick(g, 0, full ? 6 : 4), b_kind = gen_pick(g, !full, full ? 6 : 4);
    int64_t alu = gen_pick(g, 0, full ? 5 : 2);
    bool a_f32 = a_kind == 1 || a_kind == 6, turned = gen_chance(g, 10);
    int64_t red = a_f32 ? gen_pick(g, 0, full) * 2 : gen_pick(g, 0, 2);
    int64_t nred = red && a_kind < 5 && !turned ? gen_pick(g, 0, 4) : 0;
    bool bias = gen_chance(g, 40), scale_pm = gen_chance(g, 40),
         to_am = !turned && gen_chance(g, 40);
    for (int l = 0; l < 4; l++) {
        n[l] = gen_chance(g, 30) ? 1 : gen_pick(g, 1, 5);
        as[l] = gen_pick(g, -2, 4), bs[l] = gen_pick(g, -2, 4), ps[l] = gen_pick(g, 0, 1);
    }
    if (turned) n[0] = g->m->n, n[3] = 1, ps[0] = 0;
    int outer = 4 - (int)nred;
    apart(g, outer, n + nred, 1, 2, ds + nred);
    int64_t a = 0, b = 0, p = 0;
    if (a_kind < 4) a = place_operand(g, a_kind >= 2, box_of(4, n, as, 1), false);
    if (alu && b_kind < 4)
        b = place_operand(g, b_kind >= 2, box_of(outer, n + nred, bs + nred, 1), false);
    struct box pb = box_of(outer, n + nred, ps + nred, 1);
    if (bias || scale_pm || a_kind > 4 || (alu && b_kind > 4)) {
        p = place(g, pb, 0, N_PM);
        if (p >= 0) gen_touch(g, SPACE_PM, p + pb.lo, p + pb.hi, false);
    }
    int64_t d = place_operand(g, !to_am, box_of(outer, n + nred, ds + nred, 1), true);
    if (a < 0 || b < 0 || p < 0 || d < 0) return false;
    int64_t lut = !to_am && gen_chance(g, 25) ? gen_pick(g, 1, HD_TM_TABLES) : 0;
    set_result(g, lut);
    const struct touch *r = &g->op->touch[g->op->n_touch - 1];
    for (const struct touch *t = g->op->touch; t < r; t++) /* it must not read what it writes */
        if (t->space == r->space && ranges_overlap(t->lo, t->hi, r->lo, r->hi)) return false;
    if (lut) gen_touch(g, SPACE_TM, lut - 1, lut, false);
    for (int l = 0; l < 4; l++)
        gen_set(g, f[l][0], n[l]), gen_set(g, f[l][1], as[l]), gen_set(g, f[l][2], bs[l]),
            gen_set(g, f[l][3], ds[l]), gen_set(g, f[l][4], ps[l]);
    gen_set(g, HD_F_vx_a_kind, a_kind), gen_set(g, HD_F_vx_b_kind, b_kind),
        gen_set(g, HD_F_vx_alu, alu);
    gen_set(g, HD_F_vx_use_bias, bias), gen_set(g, HD_F_vx_scale_pm, scale_pm),
        gen_set(g, HD_F_vx_red, red);
    gen_set(g, HD_F_vx_nred, nred);
    gen_set(g, HD_F_vx_d_kind, turned ? 3 : to_am ? gen_pick(g, 1, 2) : 0);
    gen_set(g, HD_F_vx_lanes, full && red && gen_chance(g, 40));
    gen_set(g, HD_F_vx_a, a), gen_set(g, HD_F_vx_b, b), gen_set(g, HD_F_vx_d, d),
        gen_set(g, HD_F_vx_p, p);
    gen_set(g, HD_F_vx_a_imm, full || a_kind ? random_imm(g) : 0);
    gen_set(g, HD_F_vx_b_imm, random_imm(g));
    set_float(g, HD_F_vx_a_scale), set_float(g, HD_F_vx_b_scale);
    int64_t lo = gen_chance(g, 60) ? -128 : near_zero(g, -300, 100);
    gen_set(g, HD_F_vx_lo, lo),
        gen_set(g, HD_F_vx_hi, gen_chance(g, 60) ? lo + 255 : near_zero(g, lo, 32767));
    gen_set(g, HD_F_vx_zp, gen_chance(g, 5) ? gen_pick(g, -32768, 32767) : near_zero(g, -128, 255));
    return true;
}

static bool random_dw(struct gen *g) {
    int64_t n0 = gen_pick(g, 1, 3), n1 = gen_pick(g, 1, 6), n2 = gen_pick(g, 1, 4),
            n3 = gen_pick(g, 1, 3);
    int64_t sx = gen_pick(g, 1, 3), as0 = gen_pick(g, -2, 3), as2 = gen_pick(g, -3, 8),
            as3 = gen_pick(g, -4, 9);
    bool pairs = sx == 2 && n0 >= 2 && gen_chance(g, 60);
    int64_t in[3] = {pairs ? n1 + n0 - 2 : (n1 - 1) * sx + n0, n2, n3}, as[3] = {as0, as2, as3};
    int64_t in_b[3] = {n1, n2, n3}, b = 0;
    int64_t bs[3] = {gen_pick(g, -2, 3), gen_pick(g, -3, 8), gen_pick(g, -4, 9)};
    int64_t sum_at[2] = {gen_pick(g, -2, 3), gen_pick(g, -4, 9)};
    int64_t out[2] = {n1, n3}, ds[2], words = 2 + (n0 * n2 > 8), ps3 = gen_pick(g, -1, 4);
    bool to_am = gen_chance(g, 30), sums = !pairs && gen_chance(g, 40);
    apart(g, 2, out, 1, 2, ds);
    struct box pb = box_of(1, &n3, &ps3, words);
    int64_t a = place_operand(g, 1, box_of(3, in, as, 1), false), p = place(g, pb, 0, N_PM);
    if (p >= 0) gen_touch(g, SPACE_PM, p + pb.lo, p + pb.hi, false);
    if (pairs) b = place_operand(g, 1, box_of(3, in_b, bs, 1), false);
    if (sums) b = place_operand(g, 0, box_of(2, out, sum_at, 1), false);
    int64_t d = place_operand(g, !to_am, box_of(2, out, ds, 1), true);
    if (a < 0 || b < 0 || p < 0 || d < 0) return false;
    const struct touch *r = &g->op->touch[g->op->n_touch - 1];
    for (const struct touch *t = g->op->touch; t < r; t++) /* it must not read what it writes */
        if (t->space == r->space && ranges_overlap(t->lo, t->hi, r->lo, r->hi)) return false;
    int64_t lut = !to_am && gen_chance(g, 25) ? gen_pick(g, 1, HD_TM_TABLES) : 0;
    if (lut) gen_touch(g, SPACE_TM, lut - 1, lut, false);
    int64_t kind = gen_pick(g, 2, 3);
    gen_set(g, HD_F_vx_a_kind, kind), gen_set(g, HD_F_vx_b_kind, pairs ? kind : sums ? 0 : 4);
    gen_set(g, HD_F_vx_b, b), gen_set(g, HD_F_vx_bs0, bs[0]), gen_set(g, HD_F_vx_bs2, bs[1]);
    gen_set(g, HD_F_vx_bs1, sum_at[0]), gen_set(g, HD_F_vx_bs3, sums ? sum_at[1] : bs[2]);
    gen_set(g, HD_F_vx_use_bias, gen_chance(g, 60)),
        gen_set(g, HD_F_vx_scale_pm, gen_chance(g, 60));
    gen_set(g, HD_F_vx_d_kind, to_am ? gen_pick(g, 1, 2) : 0), gen_set(g, HD_F_vx_sx, sx);
    set_result(g, lut);
    gen_set(g, HD_F_vx_n0, n0), gen_set(g, HD_F_vx_n1, n1), gen_set(g, HD_F_vx_n2, n2),
        gen_set(g, HD_F_vx_n3, n3);
    gen_set(g, HD_F_vx_as0, as0), gen_set(g, HD_F_vx_as2, as2), gen_set(g, HD_F_vx_as3, as3);
    gen_set(g, HD_F_vx_ds1, ds[0]), gen_set(g, HD_F_vx_ds3, ds[1]), gen_set(g, HD_F_vx_ps3, ps3);
    gen_set(g, HD_F_vx_a, a), gen_set(g, HD_F_vx_d, d), gen_set(g, HD_F_vx_p, p);
    gen_set(g, HD_F_vx_a_imm, near_zero(g, -255, 255));
    set_float(g, HD_F_vx_a_scale);
    int64_t lo = gen_chance(g, 60) ? -128 : near_zero(g, -300, 100);
    gen_set(g, HD_F_vx_lo, lo),
        gen_set(g, HD_F_vx_hi, gen_chance(g, 60) ? lo + 255 : near_zero(g, lo, 32767));
    gen_set(g, HD_F_vx_zp, gen_chance(g, 5) ? gen_pick(g, -32768, 32767) : near_zero(g, -128, 255));
    return true;
}

static bool random_st(struct gen *g) {
    int64_t run, n[3], d[3], s[3];
    dma_shape(g, &run, n);
    bool am = may_use_am(g);
    int64_t sat = am && gen_chance(g, 50) ? gen_pick(g, 1, 3) : 0, grow = !sat       ? 1
                                                                          : sat == 3 ? 2
                                                                                     : 4;
    if (sat == 3) run += run % 2;
    apart(g, 3, n, run, 90, d);
    for (int l = 0; l < 3; l++) {
        if (n[l] == 1 && run % 8 == 1 + l) d[l] = -1; /* of no loop: not used */
        s[l] = gen_chance(g, 30) ? d[l] * grow : gen_pick(g, -90, 200);
        if (sat) s[l] -= s[l] % 4;
    }
    struct box chip = box_of(3, n, s, run * grow), dram = box_of(3, n, d, run);
    int64_t size = am ? g->m->am_bytes : g->m->xm_bytes;
    int64_t src = place(g, chip, 0, size), dst = place(g, dram, READ_BYTES, SHARED_BYTES);
    if (src < 0 || dst < 0) return false;
    if (sat) src -= src % 4;
    if (src + chip.lo < 0) return false;
    gen_set(g, HD_F_st_sat, sat);
    touch_chip(g, am, src + chip.lo, src + chip.hi, false), gen_set(g, HD_F_st_mem, am);
    gen_touch(g, SPACE_DRAM, dst + dram.lo, dst + dram.hi, true);
    gen_set(g, HD_F_st_seg, 1), gen_set(g, HD_F_st_src, src), gen_set(g, HD_F_st_dst, dst);
    gen_set(g, HD_F_st_run, run), gen_set(g, HD_F_st_n1, n[0]), gen_set(g, HD_F_st_n2, n[1]);
    gen_set(g, HD_F_st_n3, n[2]), gen_set(g, HD_F_st_d1, d[0]), gen_set(g, HD_F_st_d2, d[1]);
    gen_set(g, HD_F_st_d3, d[2]), gen_set(g, HD_F_st_s1, s[0]), gen_set(g, HD_F_st_s2, s[1]);
    gen_set(g, HD_F_st_s3, s[2]);
    return true;
}

struct op *gen_begin(struct gen *g, int unit, int code) {
    g->op = &g->p->op[g->p->n++];
    *g->op = (struct op){.unit = (uint8_t)unit, .code = (uint8_t)code, .after = -1};
    g->op->opens_bundle = gen_chance(g, 60);
    g->op->set_bits = gen_chance(g, 20) ? rng_next(&g->r) & rng_next(&g->r) : 0;
    return g->op;
}

void gen_random_op(struct gen *g, int unit) {
    static bool (*const make[HD_UNITS])(struct gen *) = {NULL,      random_lx, random_lw,
                                                         random_mx, random_vx, random_st};
    struct op *op = gen_begin(g, unit, 1);
    for (int i = 0; i < TRIES; i++) {
        memset(op->words, 0, sizeof op->words);
        op->n_touch = 0;
        bool dw = unit == HD_UNIT_vx && gen_chance(g, DW_PERCENT);
        op->code = dw ? 2 : 1;
        if (dw ? random_dw(g) : make[unit](g)) return;
    }
    op->code = 0; /* nop */
    op->n_touch = 0;
}
