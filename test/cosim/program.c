/* Random programs from the ISA tables, and their words. */
#include "test/cosim/program.h"

#include <string.h>

enum { DW_PERCENT = 15 }; /* share of vx.dw among operations of VX */

enum { N_WM = 64, N_PM = 32, TRIES = 200, VIEWS = 4 };

struct gen {
    struct program *p;
    const struct hd_machine *m;
    struct op *op;
    uint64_t s;
};

static uint32_t next(struct gen *g) { /* splitmix64 */
    uint64_t z = (g->s += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 16);
}
static int64_t pick(struct gen *g, int64_t lo, int64_t hi) {
    return hi <= lo ? lo : lo + (int64_t)(next(g) % (uint64_t)(hi - lo + 1));
}
static bool chance(struct gen *g, int percent) {
    return pick(g, 0, 99) < percent;
}

/* The same with the values about zero more often, where they are in the range. */
static int64_t near_zero(struct gen *g, int64_t lo, int64_t hi) {
    int64_t v = pick(g, lo, hi), small = pick(g, -1, 1);
    return chance(g, 10) && small >= lo && small <= hi ? small : v;
}

static void set(struct gen *g, enum hd_field f, int64_t v) {
    hd_field_set(g->op->words, f, v);
}

static void touch(struct gen *g, enum space space, int64_t lo, int64_t hi, bool write) {
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
    if (chance(g, 3) && to - b.hi > from - b.lo) return from - b.lo + 1;
    return chance(g, 5)   ? from - b.lo /* the corners */
           : chance(g, 5) ? to - b.hi
                          : pick(g, from - b.lo, to - b.hi);
}

/* Steps that never reach an item twice: each loop moves beyond all that is inside it. */
static void apart(struct gen *g, int n_loops, const int64_t *n, int64_t run, int64_t gap,
                  int64_t *step) {
    int64_t inner = run;
    for (int l = 0; l < n_loops; l++) {
        step[l] = inner + (chance(g, 40) ? 0 : pick(g, 0, gap));
        inner = step[l] * (n[l] - 1) + inner;
        if (chance(g, 15)) step[l] = -step[l];
    }
}

/* Bytes of XM, or of AM, whose words count as a whole. */
static void touch_chip(struct gen *g, bool am, int64_t lo, int64_t hi, bool write) {
    int64_t word = am ? hd_am_word_bytes(g->m) : 1;
    touch(g, am ? SPACE_AM : SPACE_XM, lo / word, (hi + word - 1) / word, write);
}
static bool may_use_am(struct gen *g) {
    return hd_am_word_bytes(g->m) >= hd_axi_bytes(g->m) && chance(g, 25);
}

static void dma_shape(struct gen *g, int64_t *run, int64_t *n) {
    *run = chance(g, 10) ? pick(g, 1, 1200) : pick(g, 1, 70);
    for (int l = 0; l < 3; l++) n[l] = chance(g, 40) ? 1 : pick(g, 1, 4);
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
    if (!am && n[2] == 1 && run % 4 == 1) d[2] = -1; /* of no loop: not used */
    for (int l = 0; l < 3; l++) s[l] = chance(g, 25) ? d[l] : near_zero(g, -200, 900);
    struct box chip = box_of(3, n, d, run);
    int64_t dst = place(g, chip, 0, size), seg = !chance(g, 10), src;
    if (dst > 0) dst -= dst % unit;
    int64_t window = seg ? SHARED_BYTES : IMAGE_DATA_BYTES;
    bool edge = chance(g, 50);
    if (edge) { /* a tensor of `rows` rows of row_bytes; the operation hangs over its edges */
        int64_t rows = pick(g, 0, 6), row = pick(g, 1, 200), pitch = row + pick(g, 0, 30);
        int64_t ys = pick(g, 1, 3), x0 = pick(g, -60, 100), y0 = pick(g, -3, 4);
        s[0] = pick(g, 0, 60), s[1] = pitch * ys, s[2] = pick(g, 0, 300);
        struct box b = {0, (rows + 1) * pitch + (n[2] - 1) * s[2]};
        int64_t at = place(g, b, 0, window);
        if (at < 0) return false;
        if (seg && rows) touch(g, SPACE_DRAM, at, at + b.hi, false);
        src = (at + y0 * pitch + x0) & UINT32_MAX;
        set(g, HD_F_lx_x0, x0), set(g, HD_F_lx_y0, y0), set(g, HD_F_lx_ys, ys);
        set(g, HD_F_lx_rows, rows), set(g, HD_F_lx_row_bytes, row);
    } else {
        struct box b = box_of(3, n, s, run);
        src = place(g, b, 0, window);
        if (src >= 0 && seg) touch(g, SPACE_DRAM, src + b.lo, src + b.hi, false);
    }
    if (dst < 0 || src < 0) return false;
    if (dst + chip.lo < 0) return false;
    touch_chip(g, am, dst + chip.lo, dst + chip.hi, true);
    set(g, HD_F_lx_mem, am), set(g, HD_F_lx_seg, seg), set(g, HD_F_lx_edge, edge),
        set(g, HD_F_lx_pad, pick(g, 0, 255));
    set(g, HD_F_lx_src, src), set(g, HD_F_lx_dst, dst), set(g, HD_F_lx_run, run);
    set(g, HD_F_lx_n1, n[0]), set(g, HD_F_lx_n2, n[1]), set(g, HD_F_lx_n3, n[2]);
    set(g, HD_F_lx_s1, s[0]), set(g, HD_F_lx_s2, s[1]), set(g, HD_F_lx_s3, s[2]);
    set(g, HD_F_lx_d1, d[0]), set(g, HD_F_lx_d2, d[1]), set(g, HD_F_lx_d3, d[2]);
    return true;
}

static bool random_lw(struct gen *g) {
    static const enum space spaces[] = {SPACE_WM, SPACE_PM, SPACE_TM};
    static const int64_t near_words[] = {N_WM, N_PM, HD_TM_TABLES};
    int mem = chance(g, 60) ? 0 : (int)pick(g, 1, 2);
    int64_t axi = hd_axi_bytes(g->m), bytes = hd_lw_word_bytes(g->m, mem);
    int64_t all = hd_lw_words(g->m, mem);
    int64_t n = pick(g, 1, mem == 2 ? 2 : 3), count = pick(g, 1, mem == 2 ? 2 : 6), s, d;
    apart(g, 1, &n, count, 4, &d);
    s = chance(g, 40) ? count * bytes : pick(g, -20, 60) * axi;
    bool col = !mem && chance(g, 30);
    int64_t rows[2] = {g->m->k, n}, steps[2];
    if (col) {
        if (axi > g->m->n) axi = g->m->n;
        count = pick(g, 1, 3), s = pick(g, -20, 60) * axi;
        steps[0] = pick(g, -6, 12) * axi, steps[1] = s;
        set(g, HD_F_lw_col, 1), set(g, HD_F_lw_s2, steps[0]);
    }
    struct box dram =
        col ? box_of(2, rows, steps, count * g->m->n) : box_of(1, &n, &s, count * bytes);
    if (col) apart(g, 1, &n, count, 4, &d);
    struct box chip = box_of(1, &n, &d, count);
    int64_t near = near_words[mem];
    int64_t dst = place(g, chip, 0, chance(g, 85) && near < all ? near : all);
    int64_t src = place(g, dram, 0, READ_BYTES) / axi * axi;
    if (dst < 0 || src + dram.lo < 0) return false;
    touch(g, SPACE_DRAM, src + dram.lo, src + dram.hi, false);
    touch(g, spaces[mem], dst + chip.lo, dst + chip.hi, true);
    set(g, HD_F_lw_seg, 1), set(g, HD_F_lw_mem, mem), set(g, HD_F_lw_src, src);
    set(g, HD_F_lw_dst, dst), set(g, HD_F_lw_count, count), set(g, HD_F_lw_n1, n);
    set(g, HD_F_lw_s1, s), set(g, HD_F_lw_d1, d);
    return true;
}

static bool random_mx(struct gen *g) {
#define LOOP(l)                                                                                    \
    { HD_F_mx_n##l, HD_F_mx_xs##l, HD_F_mx_ws##l, HD_F_mx_as##l }
    static const enum hd_field f[6][4] = {LOOP(0), LOOP(1), LOOP(2), LOOP(3), LOOP(4), LOOP(5)};
#undef LOOP
    int64_t n[6], xs[6], ws[6], as[6] = {0}, nred = pick(g, 0, 6), total = 1;
    for (int l = 0; l < 6; l++) {
        n[l] = chance(g, 55) ? 1 : pick(g, 1, 4);
        if (total * n[l] > 300) n[l] = 1;
        total *= n[l];
        xs[l] = pick(g, -3, 9), ws[l] = pick(g, -2, 5);
    }
    apart(g, 6 - (int)nred, n + nred, 1, 2, as + nred);
    int64_t k = g->m->k, am = hd_am_words(g->m);
    struct box bx = box_of(6, n, xs, 1), bw = box_of(6, n, ws, 1);
    struct box ba = box_of(6 - (int)nred, n + nred, as + nred, 1);
    int64_t x = place(g, bx, 0, g->m->xm_bytes / k);
    int64_t w = place(g, bw, 0, chance(g, 85) ? N_WM : hd_wm_words(g->m));
    int64_t a = place(g, ba, 0, am);
    if (x < 0 || w < 0 || a < 0) return false;
    touch(g, SPACE_XM, (x + bx.lo) * k, (x + bx.hi) * k, false);
    touch(g, SPACE_WM, w + bw.lo, w + bw.hi, false);
    touch(g, SPACE_AM, a + ba.lo, a + ba.hi, true);
    for (int l = 0; l < 6; l++)
        set(g, f[l][0], n[l]), set(g, f[l][1], xs[l]), set(g, f[l][2], ws[l]),
            set(g, f[l][3], as[l]);
    set(g, HD_F_mx_nred, nred), set(g, HD_F_mx_accumulate, chance(g, 40));
    set(g, HD_F_mx_x_unsigned, chance(g, 50));
    set(g, HD_F_mx_x, x), set(g, HD_F_mx_w, w), set(g, HD_F_mx_a, a);
    return true;
}

static int64_t random_scale(struct gen *g) {
    static const uint32_t special[] = {0,          0x80000000, 1,          0x007fffff, 0x00800000,
                                       0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000};
    if (chance(g, 8)) return (int32_t)special[pick(g, 0, 9)];
    if (chance(g, 4)) return (int32_t)next(g);
    /* exponent 2^-20 .. 2^3, any mantissa, either sign */
    uint32_t bits = (uint32_t)pick(g, 107, 130) << 23 | (next(g) & 0x7fffff);
    if (chance(g, 30)) bits &= 0xff800000; /* powers of two make ties */
    return (int32_t)(bits | (chance(g, 30) ? 0x80000000u : 0));
}

static void set_float(struct gen *g, enum hd_field f) {
    set(g, f, (uint32_t)random_scale(g));
}

static bool overlap(int64_t lo, int64_t hi, int64_t lo2, int64_t hi2) {
    return lo < hi2 && lo2 < hi;
}

/* One operand or the result: places it and notes what it touches. Bytes of XM, words of AM. */
static int64_t place_operand(struct gen *g, int kind_is_xm, struct box b, bool write) {
    int64_t n = g->m->n, size = kind_is_xm ? g->m->xm_bytes / n : hd_am_words(g->m);
    int64_t at = place(g, b, 0, size), unit = kind_is_xm ? n : 1;
    if (at >= 0)
        touch(g, kind_is_xm ? SPACE_XM : SPACE_AM, (at + b.lo) * unit, (at + b.hi) * unit, write);
    return at;
}

/* What happens to a result of map and dw. */
static void set_result(struct gen *g, int64_t lut) {
    set(g, HD_F_vx_fn, chance(g, 40) ? pick(g, 1, 7) : 0), set(g, HD_F_vx_lut, lut);
    set(g, HD_F_vx_tail, chance(g, 30) ? pick(g, 1, g->m->n) : 0);
    set(g, HD_F_vx_q, chance(g, 30) ? near_zero(g, -32, 31) : 0);
}

static bool random_vx(struct gen *g) {
#define LOOP(l)                                                                                    \
    { HD_F_vx_n##l, HD_F_vx_as##l, HD_F_vx_bs##l, HD_F_vx_ds##l, HD_F_vx_ps##l }
    static const enum hd_field f[4][5] = {LOOP(0), LOOP(1), LOOP(2), LOOP(3)};
#undef LOOP
    int64_t n[4], as[4], bs[4], ds[4] = {0}, ps[4];
    int64_t a_kind = pick(g, 0, 6), b_kind = pick(g, 0, 6), alu = pick(g, 0, 5);
    bool a_f32 = a_kind == 1 || a_kind == 6, turned = chance(g, 10);
    int64_t red = a_f32 ? pick(g, 0, 1) * 2 : pick(g, 0, 2);
    int64_t nred = red && a_kind < 5 && !turned ? pick(g, 0, 4) : 0;
    bool bias = chance(g, 40), scale_pm = chance(g, 40), to_am = !turned && chance(g, 40);
    for (int l = 0; l < 4; l++) {
        n[l] = chance(g, 30) ? 1 : pick(g, 1, 5);
        as[l] = pick(g, -2, 4), bs[l] = pick(g, -2, 4), ps[l] = pick(g, 0, 1);
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
        if (p >= 0) touch(g, SPACE_PM, p + pb.lo, p + pb.hi, false);
    }
    int64_t d = place_operand(g, !to_am, box_of(outer, n + nred, ds + nred, 1), true);
    if (a < 0 || b < 0 || p < 0 || d < 0) return false;
    int64_t lut = !to_am && chance(g, 25) ? pick(g, 1, HD_TM_TABLES) : 0;
    set_result(g, lut);
    const struct touch *r = &g->op->touch[g->op->n_touch - 1];
    for (const struct touch *t = g->op->touch; t < r; t++) /* it must not read what it writes */
        if (t->space == r->space && overlap(t->lo, t->hi, r->lo, r->hi)) return false;
    if (lut) touch(g, SPACE_TM, lut - 1, lut, false);
    for (int l = 0; l < 4; l++)
        set(g, f[l][0], n[l]), set(g, f[l][1], as[l]), set(g, f[l][2], bs[l]),
            set(g, f[l][3], ds[l]), set(g, f[l][4], ps[l]);
    set(g, HD_F_vx_a_kind, a_kind), set(g, HD_F_vx_b_kind, b_kind), set(g, HD_F_vx_alu, alu);
    set(g, HD_F_vx_use_bias, bias), set(g, HD_F_vx_scale_pm, scale_pm), set(g, HD_F_vx_red, red);
    set(g, HD_F_vx_nred, nred);
    set(g, HD_F_vx_d_kind, turned ? 3 : to_am ? pick(g, 1, 2) : 0);
    set(g, HD_F_vx_lanes, red && chance(g, 40));
    set(g, HD_F_vx_a, a), set(g, HD_F_vx_b, b), set(g, HD_F_vx_d, d), set(g, HD_F_vx_p, p);
    set(g, HD_F_vx_a_imm, chance(g, 10) ? (int32_t)next(g) : near_zero(g, -300, 300));
    set(g, HD_F_vx_b_imm, chance(g, 10) ? (int32_t)next(g) : near_zero(g, -300, 300));
    set_float(g, HD_F_vx_a_scale), set_float(g, HD_F_vx_b_scale);
    int64_t lo = chance(g, 60) ? -128 : near_zero(g, -300, 100);
    set(g, HD_F_vx_lo, lo), set(g, HD_F_vx_hi, chance(g, 60) ? lo + 255 : near_zero(g, lo, 32767));
    set(g, HD_F_vx_zp, chance(g, 5) ? pick(g, -32768, 32767) : near_zero(g, -128, 255));
    return true;
}

static bool random_dw(struct gen *g) {
    int64_t n0 = pick(g, 1, 3), n1 = pick(g, 1, 6), n2 = pick(g, 1, 4), n3 = pick(g, 1, 3);
    int64_t sx = pick(g, 1, 3), as0 = pick(g, -2, 3), as2 = pick(g, -3, 8), as3 = pick(g, -4, 9);
    bool pairs = sx == 2 && n0 >= 2 && chance(g, 60);
    int64_t in[3] = {pairs ? n1 + n0 - 2 : (n1 - 1) * sx + n0, n2, n3}, as[3] = {as0, as2, as3};
    int64_t in_b[3] = {n1, n2, n3}, b = 0;
    int64_t bs[3] = {pick(g, -2, 3), pick(g, -3, 8), pick(g, -4, 9)};
    int64_t out[2] = {n1, n3}, ds[2], words = 2 + (n0 * n2 > 8), ps3 = pick(g, -1, 4);
    bool to_am = chance(g, 30);
    apart(g, 2, out, 1, 2, ds);
    struct box pb = box_of(1, &n3, &ps3, words);
    int64_t a = place_operand(g, 1, box_of(3, in, as, 1), false), p = place(g, pb, 0, N_PM);
    if (p >= 0) touch(g, SPACE_PM, p + pb.lo, p + pb.hi, false);
    if (pairs) b = place_operand(g, 1, box_of(3, in_b, bs, 1), false);
    int64_t d = place_operand(g, !to_am, box_of(2, out, ds, 1), true);
    if (a < 0 || b < 0 || p < 0 || d < 0) return false;
    const struct touch *r = &g->op->touch[g->op->n_touch - 1];
    for (const struct touch *t = g->op->touch; t < r; t++) /* it must not read what it writes */
        if (t->space == r->space && overlap(t->lo, t->hi, r->lo, r->hi)) return false;
    int64_t lut = !to_am && chance(g, 25) ? pick(g, 1, HD_TM_TABLES) : 0;
    if (lut) touch(g, SPACE_TM, lut - 1, lut, false);
    int64_t kind = pick(g, 2, 3);
    set(g, HD_F_vx_a_kind, kind), set(g, HD_F_vx_b_kind, pairs ? kind : 4);
    set(g, HD_F_vx_b, b), set(g, HD_F_vx_bs0, bs[0]), set(g, HD_F_vx_bs2, bs[1]);
    set(g, HD_F_vx_bs3, bs[2]);
    set(g, HD_F_vx_use_bias, chance(g, 60)), set(g, HD_F_vx_scale_pm, chance(g, 60));
    set(g, HD_F_vx_d_kind, to_am ? pick(g, 1, 2) : 0), set(g, HD_F_vx_sx, sx);
    set_result(g, lut);
    set(g, HD_F_vx_n0, n0), set(g, HD_F_vx_n1, n1), set(g, HD_F_vx_n2, n2), set(g, HD_F_vx_n3, n3);
    set(g, HD_F_vx_as0, as0), set(g, HD_F_vx_as2, as2), set(g, HD_F_vx_as3, as3);
    set(g, HD_F_vx_ds1, ds[0]), set(g, HD_F_vx_ds3, ds[1]), set(g, HD_F_vx_ps3, ps3);
    set(g, HD_F_vx_a, a), set(g, HD_F_vx_d, d), set(g, HD_F_vx_p, p);
    set(g, HD_F_vx_a_imm, near_zero(g, -255, 255));
    set_float(g, HD_F_vx_a_scale);
    int64_t lo = chance(g, 60) ? -128 : near_zero(g, -300, 100);
    set(g, HD_F_vx_lo, lo), set(g, HD_F_vx_hi, chance(g, 60) ? lo + 255 : near_zero(g, lo, 32767));
    set(g, HD_F_vx_zp, chance(g, 5) ? pick(g, -32768, 32767) : near_zero(g, -128, 255));
    return true;
}

static bool random_st(struct gen *g) {
    int64_t run, n[3], d[3], s[3];
    dma_shape(g, &run, n);
    bool am = may_use_am(g);
    int64_t sat = am && chance(g, 50) ? pick(g, 1, 3) : 0, grow = !sat ? 1 : sat == 3 ? 2 : 4;
    if (sat == 3) run += run % 2;
    apart(g, 3, n, run, 90, d);
    for (int l = 0; l < 3; l++) {
        s[l] = chance(g, 30) ? d[l] * grow : pick(g, -90, 200);
        if (sat) s[l] -= s[l] % 4;
    }
    struct box chip = box_of(3, n, s, run * grow), dram = box_of(3, n, d, run);
    int64_t size = am ? g->m->am_bytes : g->m->xm_bytes;
    int64_t src = place(g, chip, 0, size), dst = place(g, dram, READ_BYTES, SHARED_BYTES);
    if (src < 0 || dst < 0) return false;
    if (sat) src -= src % 4;
    if (src + chip.lo < 0) return false;
    set(g, HD_F_st_sat, sat);
    touch_chip(g, am, src + chip.lo, src + chip.hi, false), set(g, HD_F_st_mem, am);
    touch(g, SPACE_DRAM, dst + dram.lo, dst + dram.hi, true);
    set(g, HD_F_st_seg, 1), set(g, HD_F_st_src, src), set(g, HD_F_st_dst, dst);
    set(g, HD_F_st_run, run), set(g, HD_F_st_n1, n[0]), set(g, HD_F_st_n2, n[1]);
    set(g, HD_F_st_n3, n[2]), set(g, HD_F_st_d1, d[0]), set(g, HD_F_st_d2, d[1]);
    set(g, HD_F_st_d3, d[2]), set(g, HD_F_st_s1, s[0]), set(g, HD_F_st_s2, s[1]);
    set(g, HD_F_st_s3, s[2]);
    return true;
}

static struct op *begin(struct gen *g, int unit, int code) {
    g->op = &g->p->op[g->p->n++];
    *g->op = (struct op){.unit = (uint8_t)unit, .code = (uint8_t)code, .after = -1};
    g->op->opens_bundle = chance(g, 60);
    g->op->set_bits = chance(g, 20) ? next(g) & next(g) : 0;
    g->op->add_bits = chance(g, 40) ? next(g) : 0;
    return g->op;
}

static void random_op(struct gen *g, int unit) {
    static bool (*const make[HD_UNITS])(struct gen *) = {NULL,      random_lx, random_lw,
                                                         random_mx, random_vx, random_st};
    struct op *op = begin(g, unit, 1);
    for (int i = 0; i < TRIES; i++) {
        memset(op->words, 0, sizeof op->words);
        op->n_touch = 0;
        bool dw = unit == HD_UNIT_vx && chance(g, DW_PERCENT);
        op->code = dw ? 2 : 1;
        if (dw ? random_dw(g) : make[unit](g)) return;
    }
    op->code = 0; /* nop */
    op->n_touch = 0;
}

/* ---- whole programs -------------------------------------------------------------------------- */

static void prologue(struct gen *g) { /* random data in XM, WM, PM and TM */
    begin(g, HD_UNIT_lx, 1);
    set(g, HD_F_lx_seg, 1), set(g, HD_F_lx_run, g->m->xm_bytes), set(g, HD_F_lx_n1, 1);
    set(g, HD_F_lx_n2, 1), set(g, HD_F_lx_n3, 1);
    if (g->m->xm_bytes > SHARED_BYTES) set(g, HD_F_lx_run, SHARED_BYTES);
    touch(g, SPACE_DRAM, 0, SHARED_BYTES, false), touch(g, SPACE_XM, 0, g->m->xm_bytes, true);
    static const enum space spaces[] = {SPACE_WM, SPACE_PM, SPACE_TM};
    static const int64_t counts[] = {16, N_PM, HD_TM_TABLES}, from[] = {8192, 0, 1024};
    for (int mem = 0; mem < 3; mem++) {
        begin(g, HD_UNIT_lw, 1);
        set(g, HD_F_lw_seg, 1), set(g, HD_F_lw_mem, mem), set(g, HD_F_lw_n1, 1);
        set(g, HD_F_lw_count, counts[mem]), set(g, HD_F_lw_src, from[mem]);
        touch(g, SPACE_DRAM, 0, READ_BYTES, false);
        touch(g, spaces[mem], 0, N_WM, true);
    }
}

static void store_all(struct gen *g, int64_t dst, int64_t bytes) {
    begin(g, HD_UNIT_seq, 2)->opens_bundle = true;
    begin(g, HD_UNIT_st, 1)->opens_bundle = true;
    set(g, HD_F_st_seg, 1), set(g, HD_F_st_run, bytes), set(g, HD_F_st_n1, 1);
    set(g, HD_F_st_n2, 1), set(g, HD_F_st_n3, 1), set(g, HD_F_st_dst, dst);
}

/* XM, then AM as bytes of its value, of its value / 2^8, 2^16 and 2^24. */
static void epilogue(struct gen *g) {
    int64_t am = hd_am_words(g->m), at = SHARED_BYTES;
    store_all(g, at, g->m->xm_bytes);
    at += g->m->xm_bytes;
    for (int v = 0; v < VIEWS; v++, at += am * g->m->n) {
        begin(g, HD_UNIT_seq, 2)->opens_bundle = true;
        begin(g, HD_UNIT_vx, 1)->opens_bundle = true;
        set(g, HD_F_vx_b_kind, 4), set(g, HD_F_vx_n0, am), set(g, HD_F_vx_n1, 1);
        set(g, HD_F_vx_n2, 1), set(g, HD_F_vx_n3, 1), set(g, HD_F_vx_as0, 1);
        set(g, HD_F_vx_ds0, 1), set(g, HD_F_vx_lo, -32768), set(g, HD_F_vx_hi, 32767);
        set(g, HD_F_vx_a_scale, (int64_t)(127 - 8 * v) << 23);
        store_all(g, at, am * g->m->n);
    }
    begin(g, HD_UNIT_seq, 1)->opens_bundle = true;
}

/* One operand becomes illegal. */
static void spoil(struct gen *g, struct op *op) {
    static const struct {
        enum hd_field loop, chip, dram;
    } f[HD_UNITS] = {{0, 0, 0},
                     {HD_F_lx_n2, HD_F_lx_dst, HD_F_lx_src},
                     {HD_F_lw_n1, HD_F_lw_dst, HD_F_lw_src},
                     {HD_F_mx_n4, HD_F_mx_x, HD_F_mx_w},
                     {HD_F_vx_n2, HD_F_vx_d, HD_F_vx_d},
                     {HD_F_st_n3, HD_F_st_src, HD_F_st_dst}};
    int how = (int)pick(g, 0, 2);
    g->op = op;
    if (how == 0) {
        set(g, f[op->unit].loop, 0);
    } else if (how == 1 || (op->unit == HD_UNIT_lx && hd_field_get(op->words, HD_F_lx_edge))) {
        enum hd_field c = f[op->unit].chip;
        set(g, c, (INT64_C(1) << hd_isa_fields[c].width) - 1);
    } else {
        enum hd_field d = f[op->unit].dram;
        set(g, d, hd_isa_fields[d].width == 32 ? 0xffff0000 : (INT64_C(1) << 24) - 1);
    }
}

void program_random(struct program *p, const struct hd_machine *m, uint64_t seed, enum kind kind) {
    *p = (struct program){.m = m, .cut = {-1, -1, 0}};
    struct gen g = {p, m, NULL, seed * UINT64_C(0x2545f4914f6cdd1d) + 1};
    prologue(&g);
    int n = (int)pick(&g, 1, MAX_OPS - 24), first = p->n;
    while (p->n < first + n) {
        if (chance(&g, 4)) {
            begin(&g, HD_UNIT_seq, 2);
        } else if (chance(&g, 6)) {
            begin(&g, (int)pick(&g, 0, HD_UNITS - 1), 0);
            p->op[p->n - 1].after = (int)pick(&g, 0, p->n - 2);
        } else {
            int unit = (int)pick(&g, 1, HD_UNITS - 1);
            int repeat = chance(&g, 20) ? (int)pick(&g, 2, 12) : 1;
            while (repeat-- > 0 && p->n < first + n) random_op(&g, unit);
        }
    }
    int victim = (int)pick(&g, first, p->n - 1);
    while (victim > 0 && (!p->op[victim].code || !p->op[victim].unit)) victim--;
    if (kind == KIND_ILLEGAL) spoil(&g, &p->op[victim]);
    if (kind == KIND_DEADLOCK) p->op[victim].extra = UINT32_C(1) << 31;
    p->n_body = p->n;
    epilogue(&g);
    p->rounds = kind == KIND_LEGAL && chance(&g, 25) ? (int)pick(&g, 2, MAX_ROUNDS) : 1;
}

size_t program_arena_bytes(const struct hd_machine *m) {
    return (size_t)SHARED_BYTES + m->xm_bytes + (size_t)VIEWS * hd_am_words(m) * m->n;
}

/* ---- words ----------------------------------------------------------------------------------- */

static bool conflict(const struct op *a, const struct op *b) {
    for (int i = 0; i < a->n_touch; i++)
        for (int j = 0; j < b->n_touch; j++) {
            const struct touch *s = &a->touch[i], *t = &b->touch[j];
            if (s->space == t->space && (s->write || t->write) &&
                overlap(s->lo, s->hi, t->lo, t->hi))
                return true;
        }
    return false;
}

/* An operation waits for the last one of every other unit that it conflicts with, unless its unit
 * has waited for that or a later one. One semaphore per ordered pair of units: its k-th signal is
 * for its k-th wait. */
static void order(const struct program *p, uint32_t *wait, uint32_t *signal) {
    int waited[HD_UNITS][HD_UNITS];
    memset(waited, -1, sizeof waited);
    for (int i = 0; i < p->n; i++) {
        const struct op *op = &p->op[i];
        bool seen[HD_UNITS] = {0};
        wait[i] = op->extra;
        signal[i] = 0;
        for (int j = i - 1; j >= 0 && !op->dropped; j--) {
            const struct op *from = &p->op[j];
            if (from->dropped || from->unit == op->unit || seen[from->unit]) continue;
            if (op->after != j && !conflict(op, from)) continue;
            seen[from->unit] = true;
            if (j <= waited[op->unit][from->unit]) continue;
            waited[op->unit][from->unit] = j;
            int to = op->unit - (op->unit > from->unit); /* 0..4 */
            uint32_t s = UINT32_C(1) << (from->unit * (HD_UNITS - 1) + to);
            wait[i] |= s;
            signal[j] |= s;
        }
    }
}

int program_edges(const struct program *p, struct edge out[MAX_EDGES]) {
    uint32_t wait[MAX_OPS], signal[MAX_OPS];
    int n = 0, from[32] = {0};
    order(p, wait, signal);
    for (int i = 0; i < p->n; i++)
        for (int s = 0; s < 32; s++) {
            if (!(wait[i] >> s & 1)) continue;
            while (!(signal[from[s]] >> s & 1)) from[s]++;
            out[n++] = (struct edge){from[s]++, i, UINT32_C(1) << s};
        }
    return n;
}

static int encode(const struct op *op, uint32_t wait, uint32_t signal, uint16_t tag,
                  uint32_t sticky[HD_PARAM_WORDS], uint32_t *out) {
    struct hd_op_word o = {
        .unit = op->unit, .code = op->code, .tag = tag, .wait = wait, .signal = signal};
    for (int i = 0; op->code && op->unit && i < hd_isa_units[op->unit].n_words; i++) {
        if (sticky[i] == op->words[i] && !(op->set_bits >> i & 1)) continue;
        bool add = op->add_bits >> i & 1;
        *(add ? &o.add : &o.set) |= UINT32_C(1) << i;
        o.lit[i] = add ? op->words[i] - sticky[i] : op->words[i];
        sticky[i] = op->words[i];
    }
    return hd_op_encode(&o, out);
}

/* Words of operations [first, end), behind the n words in out. */
static size_t emit_ops(const struct program *p, int first, int end, const uint32_t *wait,
                       const uint32_t *signal, uint32_t sticky[HD_UNITS][HD_PARAM_WORDS],
                       uint32_t *out, size_t n) {
    size_t bundle = 0;
    int last_unit = HD_UNITS;
    for (int i = first; i < end; i++) {
        const struct op *op = &p->op[i];
        if (op->dropped) continue;
        if (op->opens_bundle || op->unit <= last_unit || !bundle) {
            bundle = n++;
            out[bundle] = (uint32_t)HD_BUNDLE_MARK << 24;
        }
        n += (size_t)encode(op, wait[i], signal[i], (uint16_t)i, sticky[op->unit], out + n);
        out[bundle] =
            (out[bundle] & 0xff0000ff) | UINT32_C(1) << op->unit | (uint32_t)(n - bundle) << 8;
        last_unit = op->unit;
    }
    return n;
}

size_t program_emit(const struct program *p, uint32_t *out) {
    uint32_t wait[MAX_OPS], signal[MAX_OPS], sticky[HD_UNITS][HD_PARAM_WORDS] = {{0}};
    size_t n = HD_PROG_HEADER_WORDS;
    order(p, wait, signal);
    if (p->cut.to >= 0) wait[p->cut.to] &= ~p->cut.semaphore;
    if (p->cut.from >= 0) signal[p->cut.from] &= ~p->cut.semaphore;
    for (int r = 1; r < p->rounds; r++) { /* the last operation is halt */
        n = emit_ops(p, 0, p->n - 1, wait, signal, sticky, out, n);
        out[n++] = (uint32_t)HD_BUNDLE_MARK << 24 | 2 << 8 | 1u << HD_UNIT_seq;
        out[n++] = hd_isa_ops[HD_OP_seq_barrier].code;
    }
    n = emit_ops(p, 0, p->n, wait, signal, sticky, out, n);
    out[0] = HD_PROG_MAGIC;
    out[1] = hd_isa_hash();
    out[2] = hd_machine_hash(p->m);
    out[3] = (uint32_t)n;
    return n;
}

/* ---- packed at random ------------------------------------------------------------------------ */

static uint32_t again_from(const uint32_t *w, size_t at, size_t n, size_t back) {
    uint32_t run = 0;
    while (at + run < n && run < HD_LOOP_AGAIN_MAX && w[at + run] == w[at + run - back]) run++;
    return run;
}

/* A loop at word `at`: the distance is random, the length all of it, one word, or between. */
static void random_loop(struct gen *g, const uint32_t *w, size_t at, size_t n, struct hd_loop *l) {
    int64_t most = (int64_t)at - HD_PROG_HEADER_WORDS;
    if (most > HD_LOOP_WINDOW - 1) most = HD_LOOP_WINDOW - 1;
    for (int i = 0; i < TRIES && most >= HD_LOOP_MIN; i++) {
        int64_t back = chance(g, 5)    ? most
                       : chance(g, 20) ? HD_LOOP_MIN
                                       : pick(g, HD_LOOP_MIN, most);
        uint32_t run = again_from(w, at, n, (size_t)back);
        if (run <= l->again) continue;
        l->back = (uint32_t)back;
        l->again = run;
    }
    if (l->again && chance(g, 30)) l->again = (uint32_t)pick(g, 1, l->again);
}

size_t program_pack(const uint32_t *words, size_t n, uint64_t seed, uint32_t *out) {
    struct gen g = {.s = seed};
    size_t at = HD_PROG_HEADER_WORDS, to = HD_PROG_HEADER_WORDS + 1;
    int64_t most = chance(&g, 50) ? HD_LOOP_FRESH_MAX : 12;
    memcpy(out, words, HD_PROG_HEADER_WORDS * sizeof *out);
    while (at < n) {
        struct hd_loop l = {0};
        l.fresh = (uint32_t)pick(&g, 0, n - at < (size_t)most ? (int64_t)(n - at) : most);
        random_loop(&g, words, at + l.fresh, n, &l);
        if (!l.fresh && !l.again) l.fresh = 1;
        out[to++] = l.fresh << HD_LOOP_fresh_LSB | l.back << HD_LOOP_back_LSB |
                    l.again << HD_LOOP_again_LSB;
        memcpy(out + to, words + at, l.fresh * sizeof *out);
        to += l.fresh;
        at += l.fresh + l.again;
    }
    out[0] = HD_PROG_MAGIC_PACKED;
    out[3] = (uint32_t)to;
    out[HD_PROG_HEADER_WORDS] = (uint32_t)n;
    return to;
}
