/* Operand check: legal values, and the first and last address of every nest against its memory.
 * What a legal operation touches is kept for races.c. */
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

/* The items that a nest over loops first.. reaches, each with the run - 1 behind it, must lie
 * inside the space; an item is `places` places of the space. */
static void touch(struct hd_check *k, struct hd_check_op *op, const char *what,
                  enum hd_check_space space, int64_t places, int64_t base, const struct nest *nest,
                  const int64_t *step, int first, int64_t run, bool write) {
    struct span s = reach(base, nest, step, first);
    int64_t size = hd_check_places(k->m, space) / places;
    s.hi += run - 1;
    if (s.lo < 0 || s.hi >= size) {
        hd_check_add(k, true, op, "%s from %lld to %lld, the memory has 0 to %lld", what,
                     (long long)s.lo, (long long)s.hi, (long long)size - 1);
        return;
    }
    struct hd_access *a = hd_new(k->arena, struct hd_access);
    *a = (struct hd_access){.next = op->access,
                            .space = (uint8_t)space,
                            .write = write,
                            .n_loops = nest->n_loops - first,
                            .at = base * places,
                            .run = run * places};
    for (int i = first; i < nest->n_loops; i++) {
        a->n[i - first] = nest->n[i];
        a->step[i - first] = step[i] * places;
    }
    op->access = a;
}

static bool loops_run(struct hd_check *k, const struct hd_check_op *op, const struct nest *nest,
                      int first) {
    for (int i = 0; i < nest->n_loops; i++)
        if (nest->n[i] < 1) {
            hd_check_add(k, true, op, "n%d is 0; a loop runs at least once", first + i);
            return false;
        }
    return true;
}

static void at_most(struct hd_check *k, const struct hd_check_op *op, const char *what, int64_t got,
                    int64_t max) {
    if (got > max)
        hd_check_add(k, true, op, "%s is %lld, at most %lld", what, (long long)got, (long long)max);
}

/* The same in DRAM, in bytes. Offsets are 32 bit and may wrap into the window. Only the arena is
 * kept: nothing writes the image. */
static void touch_dram(struct hd_check *k, struct hd_check_op *op, int64_t seg, int64_t base,
                       const struct nest *nest, const int64_t *step, int64_t run, bool write,
                       const struct hd_check_windows *windows) {
    if (seg >= HD_SEGMENTS) return;
    struct span s = reach(base, nest, step, 0);
    s.hi += run - 1;
    int64_t wrap = INT64_C(1) << 32, move = hd_floor_to(s.lo, wrap);
    s.lo -= move, s.hi -= move;
    if (windows && s.hi >= (int64_t)windows->bytes[seg]) {
        hd_check_add(
            k, true, op, "DRAM bytes from %lld to %lld of segment %lld, its window has %lld bytes",
            (long long)s.lo, (long long)s.hi, (long long)seg, (long long)windows->bytes[seg]);
        return;
    }
    if (seg != 1 || s.hi >= wrap) return;
    struct hd_access *a = hd_new(k->arena, struct hd_access);
    *a = (struct hd_access){.next = op->access,
                            .space = HD_CHECK_ARENA,
                            .write = write,
                            .n_loops = nest->n_loops,
                            .at = base - move,
                            .run = run};
    for (int i = 0; i < nest->n_loops; i++) a->n[i] = nest->n[i], a->step[i] = step[i];
    op->access = a;
}

static void check_am_word(struct hd_check *k, struct hd_check_op *op, int64_t mem) {
    if (mem && hd_am_word_bytes(k->m) < hd_axi_bytes(k->m))
        hd_check_add(k, true, op,
                     "a word of AM has %u bytes, less than the %u of the port: mem wants 0",
                     hd_am_word_bytes(k->m), hd_axi_bytes(k->m));
}

/* Bytes of XM, or of AM, whose words count as a whole: exact where runs and steps are words. */
static void touch_chip(struct hd_check *k, struct hd_check_op *op, int64_t mem, int64_t at,
                       const struct nest *nest, const int64_t *step, int64_t run, bool write) {
    if (!mem) {
        touch(k, op, "XM bytes", HD_CHECK_XM, 1, at, nest, step, 0, run, write);
        return;
    }
    int64_t word = hd_am_word_bytes(k->m), words[3];
    bool whole = at % word == 0;
    for (int l = 0; l < nest->n_loops; l++) {
        whole = whole && step[l] % word == 0;
        words[l] = step[l] / word;
    }
    if (whole) {
        touch(k, op, "AM words", HD_CHECK_AM, 1, at / word, nest, words, 0, hd_ceil_div(run, word),
              write);
        return;
    }
    struct span s = reach(at, nest, step, 0);
    const struct nest one = {1, {1}};
    const int64_t none[1] = {0};
    int64_t lo = hd_floor_to(s.lo, word) / word;
    touch(k, op, "AM words", HD_CHECK_AM, 1, lo, &one, none, 0, (s.hi + run - 1) / word - lo + 1,
          write);
}

static void check_lx(struct hd_check *k, struct hd_check_op *op, const uint32_t *w,
                     const struct hd_check_windows *windows) {
    struct nest nest = {3, {GET(lx_n1), GET(lx_n2), GET(lx_n3)}};
    int64_t run = GET(lx_run), d[3] = {GET(lx_d1), GET(lx_d2), GET(lx_d3)};
    at_most(k, op, "seg", GET(lx_seg), HD_SEGMENTS - 1);
    if (run < 1) hd_check_add(k, true, op, "run is 0, at least 1");
    if (run < 1 || !loops_run(k, op, &nest, 1)) return;
    check_am_word(k, op, GET(lx_mem));
    if (GET(lx_mem) && (run | GET(lx_dst) | d[0] | d[1] | d[2]) % 4)
        hd_check_add(k, true, op,
                     "run, dst and steps of a load to AM must be multiples of 4 bytes");
    touch_chip(k, op, GET(lx_mem), GET(lx_dst), &nest, d, run, true);
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
    struct nest fetched = {2, {row.hi - row.lo + 1, nest.n[2]}};
    int64_t step[2] = {s2, s3};
    if (!GET(lx_edge)) { /* the runs themselves; of cut ones, what is between them, too */
        int64_t all[3] = {s1, s2, s3};
        touch_dram(k, op, GET(lx_seg), GET(lx_src), &nest, all, run, false, windows);
        return;
    }
    touch_dram(k, op, GET(lx_seg), GET(lx_src) + x.lo + s2 * row.lo, &fetched, step,
               x.hi - x.lo + 1, false, windows);
}

static void check_lw(struct hd_check *k, struct hd_check_op *op, const uint32_t *w,
                     const struct hd_check_windows *windows) {
    struct nest nest = {1, {GET(lw_n1)}};
    static const char *const names[] = {"WM words", "PM words", "TM words"};
    static const enum hd_check_space spaces[] = {HD_CHECK_WM, HD_CHECK_PM, HD_CHECK_TM};
    int64_t mem = GET(lw_mem);
    int64_t count = GET(lw_count), axi = hd_axi_bytes(k->m), d1[1] = {GET(lw_d1)},
            s1[1] = {GET(lw_s1)};
    int64_t word = hd_lw_word_bytes(k->m, mem);
    at_most(k, op, "mem", mem, 2);
    at_most(k, op, "seg", GET(lw_seg), HD_SEGMENTS - 1);
    if (count < 1) hd_check_add(k, true, op, "count is 0, at least 1");
    if (mem > 2 || count < 1 || !loops_run(k, op, &nest, 1)) return;
    int64_t cut = GET(lw_cut) * axi;
    if (cut && mem != 1) hd_check_add(k, true, op, "cut is for PM, mem is %lld", (long long)mem);
    if (mem == 1) at_most(k, op, "cut", GET(lw_cut), word / axi - 1);
    if (mem != 1 || cut >= word) cut = 0;
    if (GET(lw_col)) axi = hd_min(axi, k->m->n);
    if (GET(lw_src) % axi || s1[0] % axi || (GET(lw_col) && GET(lw_s2) % axi))
        hd_check_add(k, true, op, "src %lld and %s %lld must be multiples of %lld bytes",
                     (long long)GET(lw_src), s1[0] % axi ? "s1" : "s2",
                     (long long)(s1[0] % axi ? s1[0] : GET(lw_s2)), (long long)axi);
    if (GET(lw_col)) {
        struct nest rows = {2, {k->m->k, GET(lw_n1)}};
        const int64_t step[2] = {GET(lw_s2), s1[0]};
        at_most(k, op, "count", count, UINT16_MAX);
        if (mem) hd_check_add(k, true, op, "col is for WM, mem is %lld", (long long)mem);
        if (!k->m->functions)
            hd_check_add(k, true, op,
                         "col is 1, a machine without functions (functions = 0) has none");
        if (mem) return;
        touch(k, op, names[0], spaces[0], 1, GET(lw_dst), &nest, d1, 0, count, true);
        touch_dram(k, op, GET(lw_seg), GET(lw_src), &rows, step, count * k->m->n, false, windows);
        return;
    }
    touch(k, op, names[mem], spaces[mem], 1, GET(lw_dst), &nest, d1, 0, count, true);
    touch_dram(k, op, GET(lw_seg), GET(lw_src), &nest, s1, count * word - cut, false, windows);
}

static void check_mx(struct hd_check *k, struct hd_check_op *op, const uint32_t *w) {
    struct nest nest = {6,
                        {GET(mx_n0), GET(mx_n1), GET(mx_n2), GET(mx_n3), GET(mx_n4), GET(mx_n5)}};
    int64_t xs[6] = {GET(mx_xs0), GET(mx_xs1), GET(mx_xs2), GET(mx_xs3), GET(mx_xs4), GET(mx_xs5)};
    int64_t ws[6] = {GET(mx_ws0), GET(mx_ws1), GET(mx_ws2), GET(mx_ws3), GET(mx_ws4), GET(mx_ws5)};
    int64_t as[6] = {GET(mx_as0), GET(mx_as1), GET(mx_as2), GET(mx_as3), GET(mx_as4), GET(mx_as5)};
    int64_t nred = GET(mx_nred);
    at_most(k, op, "nred", nred, 6);
    if (nred > 6 || !loops_run(k, op, &nest, 0)) return;
    int first = (int)nred;
    touch(k, op, "XM words", HD_CHECK_XM, k->m->k, GET(mx_x), &nest, xs, 0, 1, false);
    touch(k, op, "WM words", HD_CHECK_WM, 1, GET(mx_w), &nest, ws, 0, 1, false);
    if (GET(mx_accumulate))
        touch(k, op, "AM words", HD_CHECK_AM, 1, GET(mx_a), &nest, as, first, 1, false);
    touch(k, op, "AM words", HD_CHECK_AM, 1, GET(mx_a), &nest, as, first, 1, true);
}

/* An operand of VX or its result: words of AM for kinds 0 and 1, else vectors of XM. */
static void touch_vx(struct hd_check *k, struct hd_check_op *op, const char *what, int64_t kind,
                     int64_t base, const struct nest *nest, const int64_t *step, int first,
                     bool write) {
    bool am = kind <= HD_V_vx_kind_am_f32;
    touch(k, op, what, am ? HD_CHECK_AM : HD_CHECK_XM, am ? 1 : k->m->n, base, nest, step, first, 1,
          write);
}

/* Kind of operand that lies where a result of this d_kind goes. */
static int64_t vx_place(int64_t d_kind) {
    return d_kind == HD_V_vx_dest_am_f32 || d_kind == HD_V_vx_dest_am_int32 ? HD_V_vx_kind_am_f32
                                                                            : HD_V_vx_kind_xm_int8;
}

/* Operands of what happens to a result, of map and dw. */
/* What VX lacks beside functions on a machine without them. */
static void check_plain(struct hd_check *k, struct hd_check_op *op, const uint32_t *w) {
    enum { IMM = 255 };
    int64_t a = GET(vx_a_kind), b = GET(vx_b_kind), alu = GET(vx_alu), imm = GET(vx_a_imm);
    bool two = alu != HD_V_vx_alu_a;
    bool sums = a == HD_V_vx_kind_am_int32, max = GET(vx_red) == HD_V_vx_red_max;
    if (k->m->functions) return;
    if (alu > HD_V_vx_alu_sub || GET(vx_lanes) || GET(vx_tail) || a > HD_V_vx_kind_zero ||
        (a == HD_V_vx_kind_am_f32 && max) ||
        (two && (b == HD_V_vx_kind_am_int32 || b > HD_V_vx_kind_zero)))
        hd_check_add(
            k, true, op,
            "alu %lld, a_kind %lld, b_kind %lld, lanes %lld, tail %lld: a machine without "
            "functions has alu 0 to 2, a_kind 0 to 4 (1 without a maximum), b_kind 1 to 4, "
            "neither lanes nor tail",
            (long long)alu, (long long)a, (long long)b, (long long)GET(vx_lanes),
            (long long)GET(vx_tail));
    if (imm < (sums ? 0 : -IMM) || imm > (sums ? 0 : IMM))
        hd_check_add(k, true, op,
                     "a_imm is %lld, without functions -255 to 255, with a_kind 0 it is 0",
                     (long long)imm);
    if (two && (GET(vx_b_imm) < -IMM || GET(vx_b_imm) > IMM))
        hd_check_add(k, true, op, "b_imm is %lld, without functions -255 to 255",
                     (long long)GET(vx_b_imm));
}

static void check_result(struct hd_check *k, struct hd_check_op *op, const uint32_t *w) {
    check_plain(k, op, w);
    at_most(k, op, "tail", GET(vx_tail), k->m->n);
    at_most(k, op, "lut", GET(vx_lut), HD_TM_TABLES);
    at_most(k, op, "fn", GET(vx_fn), hd_value_max(HD_F_vx_fn));
    if (GET(vx_fn) && !k->m->functions)
        hd_check_add(k, true, op, "fn is %lld, the machine has no functions (functions = 0)",
                     (long long)GET(vx_fn));
    if (GET(vx_lut) && vx_place(GET(vx_d_kind)) == HD_V_vx_kind_am_f32)
        hd_check_add(k, true, op, "lut is %lld, a table is for bytes and the result goes to AM",
                     (long long)GET(vx_lut));
}

static void touch_table(struct hd_check *k, struct hd_check_op *op, int64_t lut) {
    struct nest one = {1, {1}};
    const int64_t step[1] = {0};
    touch(k, op, "TM words", HD_CHECK_TM, 1, lut - 1, &one, step, 0, 1, false);
}

static void check_vx(struct hd_check *k, struct hd_check_op *op, const uint32_t *w) {
    struct nest nest = {4, {GET(vx_n0), GET(vx_n1), GET(vx_n2), GET(vx_n3)}};
    int64_t as[4] = {GET(vx_as0), GET(vx_as1), GET(vx_as2), GET(vx_as3)};
    int64_t bs[4] = {GET(vx_bs0), GET(vx_bs1), GET(vx_bs2), GET(vx_bs3)};
    int64_t ds[4] = {GET(vx_ds0), GET(vx_ds1), GET(vx_ds2), GET(vx_ds3)};
    int64_t ps[4] = {GET(vx_ps0), GET(vx_ps1), GET(vx_ps2), GET(vx_ps3)};
    int64_t nred = GET(vx_nred), a = GET(vx_a_kind), b = GET(vx_b_kind), d = GET(vx_d_kind);
    static const enum hd_field choices[] = {HD_F_vx_a_kind, HD_F_vx_b_kind, HD_F_vx_alu,
                                            HD_F_vx_red};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        at_most(k, op, hd_isa_fields[choices[i]].name, hd_field_get(w, choices[i]),
                hd_value_max(choices[i]));
    at_most(k, op, "nred", nred, 4);
    check_result(k, op, w);
    if (GET(vx_red) == 0 && (nred != 0 || GET(vx_lanes)))
        hd_check_add(k, true, op, "nred is %lld and lanes %lld, red none wants 0", (long long)nred,
                     (long long)GET(vx_lanes));
    if (GET(vx_red) == HD_V_vx_red_sum && (a == HD_V_vx_kind_am_f32 || a == HD_V_vx_kind_pm_f32))
        hd_check_add(k, true, op, "a sum works on integers, a_kind is binary32");
    if (nred && a > HD_V_vx_kind_zero)
        hd_check_add(k, true, op, "nred is %lld, an operand A from PM wants 0", (long long)nred);
    if (d == HD_V_vx_dest_xm_transposed && (nred || nest.n[0] != (int64_t)k->m->n))
        hd_check_add(k, true, op, "n0 is %lld and nred %lld, a transposed block wants %lld and 0",
                     (long long)nest.n[0], (long long)nred, (long long)k->m->n);
    if (nred > 4 || a > HD_V_vx_kind_pm_f32 || b > HD_V_vx_kind_pm_f32 ||
        !loops_run(k, op, &nest, 0))
        return;
    bool two = GET(vx_alu) != HD_V_vx_alu_a;
    int first = (int)nred;
    if (a < HD_V_vx_kind_zero) touch_vx(k, op, "operand A", a, GET(vx_a), &nest, as, 0, false);
    if (b < HD_V_vx_kind_zero && two)
        touch_vx(k, op, "operand B", b, GET(vx_b), &nest, bs, first, false);
    touch_vx(k, op, "destination", vx_place(d), GET(vx_d), &nest, ds, first, true);
    if (GET(vx_lut) && GET(vx_lut) <= HD_TM_TABLES) touch_table(k, op, GET(vx_lut));
    if (GET(vx_use_bias) || GET(vx_scale_pm) || a > HD_V_vx_kind_zero ||
        (two && b > HD_V_vx_kind_zero))
        touch(k, op, "PM words", HD_CHECK_PM, 1, GET(vx_p), &nest, ps, first, 1, false);
}

/* vx.dw: taps lie in the PM words behind the one of bias and scale, 8 a word. */
static void check_dw(struct hd_check *k, struct hd_check_op *op, const uint32_t *w) {
    enum { COLS = 3, ROWS = 4, IMM = 255, TAPS = 8 };
    int64_t n0 = GET(vx_n0), n1 = GET(vx_n1), n2 = GET(vx_n2), n3 = GET(vx_n3), sx = GET(vx_sx);
    int64_t a = GET(vx_a_kind), d = GET(vx_d_kind), imm = GET(vx_a_imm);
    struct nest all = {4, {n0, n1, n2, n3}};
    at_most(k, op, "n0", n0, COLS);
    at_most(k, op, "n2", n2, ROWS);
    at_most(k, op, "d_kind", d, HD_V_vx_dest_am_int32);
    check_result(k, op, w);
    if (sx < 1) hd_check_add(k, true, op, "sx is 0, 1 to 3");
    if (a != HD_V_vx_kind_xm_int8 && a != HD_V_vx_kind_xm_uint8)
        hd_check_add(k, true, op, "a_kind is %lld, 2 or 3 (bytes of XM)", (long long)a);
    if (GET(vx_alu) || GET(vx_red) || GET(vx_nred) || GET(vx_lanes))
        hd_check_add(k, true, op, "alu, red, nred and lanes must be 0");
    bool sums = GET(vx_b_kind) == HD_V_vx_kind_am_int32,
         pairs = GET(vx_b_kind) != HD_V_vx_kind_zero && !sums;
    if (pairs && (GET(vx_b_kind) != a || sx != 2 || n0 < 2))
        hd_check_add(k, true, op,
                     "b_kind is %lld: 4, 0 for sums that go on, or for pairs of columns as a_kind, "
                     "with sx 2 and n0 2 or 3",
                     (long long)GET(vx_b_kind));
    if (imm < -IMM || imm > IMM)
        hd_check_add(k, true, op, "a_imm is %lld, -255 to 255", (long long)imm);
    if (!loops_run(k, op, &all, 0) || sx < 1) return;
    struct nest in = {3, {pairs ? n1 + n0 - 2 : (n1 - 1) * sx + n0, n2, n3}}, out = {2, {n1, n3}},
                par = {1, {n3}};
    int64_t as[3] = {GET(vx_as0), GET(vx_as2), GET(vx_as3)}, ps[1] = {GET(vx_ps3)};
    int64_t bs[3] = {GET(vx_bs0), GET(vx_bs2), GET(vx_bs3)};
    int64_t ds[2] = {GET(vx_ds1), GET(vx_ds3)}, sum[2] = {GET(vx_bs1), GET(vx_bs3)};
    touch_vx(k, op, "operand A", HD_V_vx_kind_xm_int8, GET(vx_a), &in, as, 0, false);
    in.n[0] = n1;
    if (pairs) touch_vx(k, op, "operand B", HD_V_vx_kind_xm_int8, GET(vx_b), &in, bs, 0, false);
    if (sums) touch_vx(k, op, "operand B", HD_V_vx_kind_am_int32, GET(vx_b), &out, sum, 0, false);
    touch_vx(k, op, "destination", vx_place(d), GET(vx_d), &out, ds, 0, true);
    if (GET(vx_lut) && GET(vx_lut) <= HD_TM_TABLES) touch_table(k, op, GET(vx_lut));
    touch(k, op, "PM words", HD_CHECK_PM, 1, GET(vx_p), &par, ps, 0, 1 + hd_ceil_div(n0 * n2, TAPS),
          false);
}

static void check_st(struct hd_check *k, struct hd_check_op *op, const uint32_t *w,
                     const struct hd_check_windows *windows) {
    struct nest nest = {3, {GET(st_n1), GET(st_n2), GET(st_n3)}};
    int64_t run = GET(st_run), seg = GET(st_seg);
    int64_t s[3] = {GET(st_s1), GET(st_s2), GET(st_s3)},
            d[3] = {GET(st_d1), GET(st_d2), GET(st_d3)};
    if (seg != 1)
        hd_check_add(k, true, op, "seg is %lld, only 1 (arena) may be written", (long long)seg);
    if (run < 1) hd_check_add(k, true, op, "run is 0, at least 1");
    if (run < 1 || !loops_run(k, op, &nest, 1)) return;
    check_am_word(k, op, GET(st_mem));
    int64_t sat = GET(st_sat), grow = !sat ? 1 : sat == 3 ? 2 : 4;
    if (sat && !GET(st_mem))
        hd_check_add(k, true, op, "sat is %lld with mem 0, only int32 of AM (mem=1) saturate",
                     (long long)sat);
    if (sat && (GET(st_src) | s[0] | s[1] | s[2]) % 4)
        hd_check_add(k, true, op,
                     "src, s1, s2, s3 are %lld, %lld, %lld, %lld; with sat multiples of 4",
                     (long long)GET(st_src), (long long)s[0], (long long)s[1], (long long)s[2]);
    if (sat == 3 && run % 2)
        hd_check_add(k, true, op, "run is %lld, with sat=3 (int16) an even number", (long long)run);
    touch_chip(k, op, GET(st_mem), GET(st_src), &nest, s, run * grow, false);
    touch_dram(k, op, seg, GET(st_dst), &nest, d, run, true, windows);
}

void hd_check_operands(struct hd_check *k, struct hd_check_op *op,
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
