/* Operand check: legal values, and the first and last address of every nest against its memory. */
#include "compiler/check/check.h"

#include "runtime/base/num.h"

struct span {
    int64_t lo, hi; /* both inside */
};

struct nest {
    int n_loops;
    int64_t n[6];
};

#define GET(f) hd_field_get(w, HD_F_##f)

/* Addresses from base on over loops first..n_loops-1. */
static struct span reach(int64_t base, const struct nest *nest, const int64_t *step, int first) {
    struct span s = {base, base};
    for (int i = first; i < nest->n_loops; i++) {
        int64_t far = step[i] * (nest->n[i] - 1);
        if (far < 0)
            s.lo += far;
        else
            s.hi += far;
    }
    return s;
}

static void inside(struct hd_check *k, const struct hd_check_op *op, const char *what,
                   struct span s, int64_t size) {
    if (s.lo < 0 || s.hi >= size)
        hd_check_add(k, true, op, "%s from %lld to %lld, the memory has 0 to %lld", what,
                     (long long)s.lo, (long long)s.hi, (long long)size - 1);
}

static bool loops_run(struct hd_check *k, const struct hd_check_op *op, const struct nest *nest,
                      const char *what) {
    for (int i = 0; i < nest->n_loops; i++)
        if (nest->n[i] < 1) {
            hd_check_add(k, true, op, "%s%d is 0; a loop runs at least once", what, i);
            return false;
        }
    return true;
}

static void at_most(struct hd_check *k, const struct hd_check_op *op, const char *what, int64_t got,
                    int64_t max) {
    if (got > max)
        hd_check_add(k, true, op, "%s is %lld, at most %lld", what, (long long)got, (long long)max);
}

/* DRAM offsets are 32 bit and may wrap into the window. */
static void window(struct hd_check *k, const struct hd_check_op *op, const char *what, int64_t seg,
                   struct span s, const struct hd_check_windows *windows) {
    if (!windows || seg >= HD_SEGMENTS) return;
    int64_t wrap = INT64_C(1) << 32, size = (int64_t)windows->bytes[seg];
    while (s.lo >= wrap) s.lo -= wrap, s.hi -= wrap;
    while (s.hi < 0) s.lo += wrap, s.hi += wrap;
    if (s.lo < 0 || s.hi >= size)
        hd_check_add(k, true, op, "%s from %lld to %lld of segment %lld, its window has %lld bytes",
                     what, (long long)s.lo, (long long)s.hi, (long long)seg, (long long)size);
}

static void check_lx(struct hd_check *k, const struct hd_check_op *op, const uint32_t *w,
                     const struct hd_check_windows *windows) {
    struct nest nest = {3, {GET(lx_n1), GET(lx_n2), GET(lx_n3)}};
    int64_t run = GET(lx_run), d[3] = {GET(lx_d1), GET(lx_d2), GET(lx_d3)};
    at_most(k, op, "seg", GET(lx_seg), HD_SEGMENTS - 1);
    if (run < 1) hd_check_add(k, true, op, "run is 0, at least 1");
    if (run < 1 || !loops_run(k, op, &nest, "n")) return;
    struct span dst = reach(GET(lx_dst), &nest, d, 0);
    dst.hi += run - 1;
    inside(k, op, "XM bytes", dst, k->m->xm_bytes);
    int64_t s1 = GET(lx_s1), s2 = GET(lx_s2), s3 = GET(lx_s3);
    struct span x = {0, run - 1}, row = {0, nest.n[1] - 1};
    if (s1 < 0)
        x.lo += s1 * (nest.n[0] - 1);
    else
        x.hi += s1 * (nest.n[0] - 1);
    if (GET(lx_edge)) { /* only what is inside the tensor's rows is fetched */
        int64_t x0 = GET(lx_x0), y0 = GET(lx_y0), ys = GET(lx_ys), rows = GET(lx_rows);
        x.lo = hd_max(x.lo, -x0);
        x.hi = hd_min(x.hi, GET(lx_row_bytes) - 1 - x0);
        while (row.lo <= row.hi && y0 + row.lo * ys < 0) row.lo++;
        while (row.lo <= row.hi && y0 + row.hi * ys >= rows) row.hi--;
        if (x.lo > x.hi || row.lo > row.hi) return;
    }
    struct span src = {GET(lx_src) + x.lo, GET(lx_src) + x.hi};
    src.lo += hd_min(s2 * row.lo, s2 * row.hi) + hd_min(0, s3 * (nest.n[2] - 1));
    src.hi += hd_max(s2 * row.lo, s2 * row.hi) + hd_max(0, s3 * (nest.n[2] - 1));
    window(k, op, "DRAM bytes", GET(lx_seg), src, windows);
}

static void check_lw(struct hd_check *k, const struct hd_check_op *op, const uint32_t *w,
                     const struct hd_check_windows *windows) {
    struct nest nest = {1, {GET(lw_n1)}};
    bool pm = GET(lw_mem) != 0;
    int64_t count = GET(lw_count), axi = hd_axi_bytes(k->m), d1[1] = {GET(lw_d1)},
            s1[1] = {GET(lw_s1)};
    int64_t word = pm ? hd_pm_word_bytes(k->m) : hd_wm_word_bytes(k->m);
    at_most(k, op, "seg", GET(lw_seg), HD_SEGMENTS - 1);
    if (count < 1) hd_check_add(k, true, op, "count is 0, at least 1");
    if (count < 1 || !loops_run(k, op, &nest, "n")) return;
    if (GET(lw_src) % axi || s1[0] % axi)
        hd_check_add(k, true, op,
                     "src %lld and s1 %lld must be multiples of the %lld bytes of the port",
                     (long long)GET(lw_src), (long long)s1[0], (long long)axi);
    struct span dst = reach(GET(lw_dst), &nest, d1, 0), src = reach(GET(lw_src), &nest, s1, 0);
    dst.hi += count - 1;
    src.hi += count * word - 1;
    inside(k, op, pm ? "PM words" : "WM words", dst, pm ? hd_pm_words(k->m) : hd_wm_words(k->m));
    window(k, op, "DRAM bytes", GET(lw_seg), src, windows);
}

static void check_mx(struct hd_check *k, const struct hd_check_op *op, const uint32_t *w) {
    struct nest nest = {6,
                        {GET(mx_n0), GET(mx_n1), GET(mx_n2), GET(mx_n3), GET(mx_n4), GET(mx_n5)}};
    int64_t xs[6] = {GET(mx_xs0), GET(mx_xs1), GET(mx_xs2), GET(mx_xs3), GET(mx_xs4), GET(mx_xs5)};
    int64_t ws[6] = {GET(mx_ws0), GET(mx_ws1), GET(mx_ws2), GET(mx_ws3), GET(mx_ws4), GET(mx_ws5)};
    int64_t as[6] = {GET(mx_as0), GET(mx_as1), GET(mx_as2), GET(mx_as3), GET(mx_as4), GET(mx_as5)};
    int64_t nred = GET(mx_nred);
    at_most(k, op, "nred", nred, 6);
    if (nred > 6 || !loops_run(k, op, &nest, "n")) return;
    inside(k, op, "XM words", reach(GET(mx_x), &nest, xs, 0), k->m->xm_bytes / k->m->k);
    inside(k, op, "WM words", reach(GET(mx_w), &nest, ws, 0), hd_wm_words(k->m));
    inside(k, op, "AM words", reach(GET(mx_a), &nest, as, (int)nred), hd_am_words(k->m));
}

static int64_t vx_memory(const struct hd_machine *m, int64_t kind) {
    return kind <= 1 ? hd_am_words(m) : m->xm_bytes / m->n;
}

static void check_vx(struct hd_check *k, const struct hd_check_op *op, const uint32_t *w) {
    enum { ZERO = 4 };
    struct nest nest = {4, {GET(vx_n0), GET(vx_n1), GET(vx_n2), GET(vx_n3)}};
    int64_t as[4] = {GET(vx_as0), GET(vx_as1), GET(vx_as2), GET(vx_as3)};
    int64_t bs[4] = {GET(vx_bs0), GET(vx_bs1), GET(vx_bs2), GET(vx_bs3)};
    int64_t ds[4] = {GET(vx_ds0), GET(vx_ds1), GET(vx_ds2), GET(vx_ds3)};
    int64_t ps[4] = {GET(vx_ps0), GET(vx_ps1), GET(vx_ps2), GET(vx_ps3)};
    int64_t nred = GET(vx_nred), a = GET(vx_a_kind), b = GET(vx_b_kind), d = GET(vx_d_kind);
    at_most(k, op, "a_kind", a, ZERO);
    at_most(k, op, "b_kind", b, ZERO);
    at_most(k, op, "d_kind", d, 1);
    at_most(k, op, "alu", GET(vx_alu), 5);
    at_most(k, op, "red", GET(vx_red), 2);
    at_most(k, op, "nred", nred, 4);
    if (GET(vx_red) == 0 && nred != 0)
        hd_check_add(k, true, op, "nred is %lld, red none wants 0", (long long)nred);
    if (GET(vx_red) != 0 && a == 1)
        hd_check_add(k, true, op, "a reduction works on integers, a_kind is binary32");
    if (nred > 4 || a > ZERO || b > ZERO || !loops_run(k, op, &nest, "n")) return;
    if (a != ZERO) inside(k, op, "operand A", reach(GET(vx_a), &nest, as, 0), vx_memory(k->m, a));
    if (b != ZERO && GET(vx_alu) != 0)
        inside(k, op, "operand B", reach(GET(vx_b), &nest, bs, (int)nred), vx_memory(k->m, b));
    inside(k, op, "destination", reach(GET(vx_d), &nest, ds, (int)nred),
           vx_memory(k->m, d == 0 ? 2 : 1));
    if (GET(vx_use_bias) || GET(vx_scale_pm))
        inside(k, op, "PM words", reach(GET(vx_p), &nest, ps, (int)nred), hd_pm_words(k->m));
}

/* vx.dw: taps lie in the PM words behind the one of bias and scale, 8 a word. */
static void check_dw(struct hd_check *k, const struct hd_check_op *op, const uint32_t *w) {
    enum { S8 = 2, U8 = 3, ZERO = 4, COLS = 3, ROWS = 4, IMM = 255, TAPS = 8 };
    int64_t n0 = GET(vx_n0), n1 = GET(vx_n1), n2 = GET(vx_n2), n3 = GET(vx_n3), sx = GET(vx_sx);
    int64_t a = GET(vx_a_kind), d = GET(vx_d_kind), imm = GET(vx_a_imm);
    struct nest all = {4, {n0, n1, n2, n3}};
    at_most(k, op, "n0", n0, COLS);
    at_most(k, op, "n2", n2, ROWS);
    at_most(k, op, "d_kind", d, 1);
    if (sx < 1) hd_check_add(k, true, op, "sx is 0, 1 to 3");
    if (a != S8 && a != U8)
        hd_check_add(k, true, op, "a_kind is %lld, 2 or 3 (bytes of XM)", (long long)a);
    if (GET(vx_b_kind) != ZERO || GET(vx_alu) || GET(vx_red) || GET(vx_nred))
        hd_check_add(k, true, op, "b_kind must be 4, alu, red and nred 0");
    if (imm < -IMM || imm > IMM)
        hd_check_add(k, true, op, "a_imm is %lld, -255 to 255", (long long)imm);
    if (!loops_run(k, op, &all, "n") || sx < 1) return;
    struct nest in = {3, {(n1 - 1) * sx + n0, n2, n3}}, out = {2, {n1, n3}}, par = {1, {n3}};
    int64_t as[3] = {GET(vx_as0), GET(vx_as2), GET(vx_as3)}, ps[1] = {GET(vx_ps3)};
    int64_t ds[2] = {GET(vx_ds1), GET(vx_ds3)};
    struct span pm = reach(GET(vx_p), &par, ps, 0);
    pm.hi += (n0 * n2 + TAPS - 1) / TAPS;
    inside(k, op, "operand A", reach(GET(vx_a), &in, as, 0), vx_memory(k->m, S8));
    inside(k, op, "destination", reach(GET(vx_d), &out, ds, 0), vx_memory(k->m, d == 0 ? S8 : 1));
    inside(k, op, "PM words", pm, hd_pm_words(k->m));
}

static void check_st(struct hd_check *k, const struct hd_check_op *op, const uint32_t *w,
                     const struct hd_check_windows *windows) {
    struct nest nest = {3, {GET(st_n1), GET(st_n2), GET(st_n3)}};
    int64_t run = GET(st_run), seg = GET(st_seg);
    int64_t s[3] = {GET(st_s1), GET(st_s2), GET(st_s3)},
            d[3] = {GET(st_d1), GET(st_d2), GET(st_d3)};
    if (seg != 1)
        hd_check_add(k, true, op, "seg is %lld, only 1 (arena) may be written", (long long)seg);
    if (run < 1) hd_check_add(k, true, op, "run is 0, at least 1");
    if (run < 1 || !loops_run(k, op, &nest, "n")) return;
    struct span src = reach(GET(st_src), &nest, s, 0), dst = reach(GET(st_dst), &nest, d, 0);
    src.hi += run - 1;
    dst.hi += run - 1;
    inside(k, op, "XM bytes", src, k->m->xm_bytes);
    window(k, op, "DRAM bytes", seg, dst, windows);
}

void hd_check_operands(struct hd_check *k, const struct hd_check_op *op,
                       const uint32_t words[HD_PARAM_WORDS],
                       const struct hd_check_windows *windows) {
    switch (hd_op_by_code((enum hd_unit)op->unit, op->code)) {
    case HD_OP_lx_load:
        check_lx(k, op, words, windows);
        break;
    case HD_OP_lw_load:
        check_lw(k, op, words, windows);
        break;
    case HD_OP_mx_gemm:
        check_mx(k, op, words);
        break;
    case HD_OP_vx_map:
        check_vx(k, op, words);
        break;
    case HD_OP_vx_dw:
        check_dw(k, op, words);
        break;
    case HD_OP_st_store:
        check_st(k, op, words, windows);
        break;
    default:
        break; /* nops and the sequencer have no operands */
    }
}
