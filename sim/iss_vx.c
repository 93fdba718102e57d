/* vx.map and vx.dw: operand checks, the lanes in plain binary32 C, and the cycles that its
 * operands' banks cost. */
#include <string.h>

#include "runtime/base/fn.h"
#include "runtime/base/num.h"
#include "sim/iss_int.h"

enum { LOOPS = 4, LANES = 64 };
enum { DW_COLS = 3, DW_ROWS = 4, DW_IMM = 255, TAPS_PER_WORD = 8 };

struct map {
    int64_t n[LOOPS], as[LOOPS], bs[LOOPS], ds[LOOPS], ps[LOOPS];
    int64_t a, b, d, p;
    int a_kind, b_kind, alu, red, nred, d_kind, sx, fn, lut, tail, q;
    bool use_bias, scale_pm, use_pm, lanes;
    uint32_t a_imm, b_imm;
    float a_scale, b_scale;
    int32_t lo, hi, zp;
};

static float float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static bool is_f32(int kind) {
    return kind == HD_V_vx_kind_am_f32 || kind == HD_V_vx_kind_pm_f32;
}

static void map_of(const uint32_t *words, struct map *o) {
#define GET(f) hd_field_get(words, HD_F_vx_##f)
#define LOOP(l)                                                                                    \
    o->n[l] = GET(n##l), o->as[l] = GET(as##l), o->bs[l] = GET(bs##l), o->ds[l] = GET(ds##l),      \
    o->ps[l] = GET(ps##l)
    LOOP(0);
    LOOP(1);
    LOOP(2);
    LOOP(3);
    o->a = GET(a), o->b = GET(b), o->d = GET(d), o->p = GET(p);
    o->a_kind = (int)GET(a_kind), o->b_kind = (int)GET(b_kind), o->d_kind = (int)GET(d_kind);
    o->alu = (int)GET(alu), o->red = (int)GET(red), o->nred = (int)GET(nred);
    o->sx = (int)GET(sx);
    o->fn = (int)GET(fn), o->lut = (int)GET(lut), o->tail = (int)GET(tail), o->q = (int)GET(q);
    o->lanes = GET(lanes) != 0;
    o->use_bias = GET(use_bias) != 0, o->scale_pm = GET(scale_pm) != 0;
    o->use_pm = o->use_bias || o->scale_pm || o->a_kind > HD_V_vx_kind_zero ||
                (o->alu != HD_V_vx_alu_a && o->b_kind > HD_V_vx_kind_zero);
    if (is_f32(o->a_kind)) o->use_bias = false;
    o->a_imm = (uint32_t)GET(a_imm), o->b_imm = (uint32_t)GET(b_imm);
    o->a_scale = float_of((uint32_t)GET(a_scale)), o->b_scale = float_of((uint32_t)GET(b_scale));
    o->lo = (int32_t)GET(lo), o->hi = (int32_t)GET(hi), o->zp = (int32_t)GET(zp);
#undef LOOP
#undef GET
}

static bool in_xm(int kind) {
    return kind == HD_V_vx_kind_xm_int8 || kind == HD_V_vx_kind_xm_uint8;
}
static bool in_am(int kind) {
    return kind == HD_V_vx_kind_am_int32 || kind == HD_V_vx_kind_am_f32;
}

static bool inside(int64_t at, const int64_t *n, const int64_t *step, int from, int64_t size) {
    int64_t lo = at, hi = at;
    for (int l = from; l < LOOPS; l++) {
        int64_t d = (n[l] - 1) * step[l];
        if (d < 0)
            lo += d;
        else
            hi += d;
    }
    return lo >= 0 && hi < size;
}

static bool to_am(const struct map *o) {
    return o->d_kind == HD_V_vx_dest_am_f32 || o->d_kind == HD_V_vx_dest_am_int32;
}

static bool is_small(uint32_t imm) {
    return (int32_t)imm >= -DW_IMM && (int32_t)imm <= DW_IMM;
}

/* What VX without functions has. */
static bool is_plain(const struct map *o) {
    bool two = o->alu != HD_V_vx_alu_a;
    if (o->fn || o->lanes || o->tail || o->alu > HD_V_vx_alu_sub || o->a_kind > HD_V_vx_kind_zero)
        return false;
    if (is_f32(o->a_kind) && o->red == HD_V_vx_red_max) return false;
    if (!is_small(o->a_imm) || (o->a_kind == HD_V_vx_kind_am_int32 && o->a_imm)) return false;
    return !two || (is_small(o->b_imm) && o->b_kind != HD_V_vx_kind_am_int32 &&
                    o->b_kind <= HD_V_vx_kind_zero);
}

/* Operands that map and dw share. */
static bool common_legal(const hd_iss *iss, const struct map *o) {
    return o->tail <= (int)iss->m.n && o->lut <= HD_TM_TABLES && !(o->lut && to_am(o)) &&
           (iss->m.functions ? o->fn <= HD_V_vx_fn_sigmoid : is_plain(o));
}

static bool map_legal(const hd_iss *iss, const struct map *o) {
    if (!common_legal(iss, o) || o->nred > LOOPS || o->a_kind > HD_V_vx_kind_pm_f32 ||
        o->b_kind > HD_V_vx_kind_pm_f32 || o->alu > HD_V_vx_alu_min || o->red > HD_V_vx_red_max)
        return false;
    if (o->red == HD_V_vx_red_none && (o->nred || o->lanes)) return false;
    if (o->red == HD_V_vx_red_sum && is_f32(o->a_kind)) return false;
    if (o->nred && o->a_kind > HD_V_vx_kind_zero) return false;
    return o->d_kind != HD_V_vx_dest_xm_transposed || (!o->nred && o->n[0] == (int64_t)iss->m.n);
}

static unsigned check(const hd_iss *iss, const struct map *o) {
    if (!map_legal(iss, o)) return HD_ERR_operand;
    for (int l = 0; l < LOOPS; l++)
        if (o->n[l] == 0) return HD_ERR_operand;
    int64_t xm = iss->m.xm_bytes / iss->m.n, am = hd_am_words(&iss->m), pm = hd_pm_words(&iss->m);
    if ((in_xm(o->a_kind) && !inside(o->a, o->n, o->as, 0, xm)) ||
        (in_am(o->a_kind) && !inside(o->a, o->n, o->as, 0, am)) ||
        (o->alu != HD_V_vx_alu_a && in_xm(o->b_kind) && !inside(o->b, o->n, o->bs, o->nred, xm)) ||
        (o->alu != HD_V_vx_alu_a && in_am(o->b_kind) && !inside(o->b, o->n, o->bs, o->nred, am)) ||
        !inside(o->d, o->n, o->ds, o->nred, to_am(o) ? am : xm) ||
        (o->use_pm && !inside(o->p, o->n, o->ps, o->nred, pm)))
        return HD_ERR_range;
    return HD_ERR_none;
}

/* The integers (or binary32 bits) of one operand vector; those of PM lie at p_at. */
static void load(const hd_iss *iss, int kind, int64_t at, int64_t p_at, uint32_t imm,
                 uint32_t *out) {
    if (kind > HD_V_vx_kind_zero) {
        for (int i = 0; i < (int)iss->m.n; i++) {
            memcpy(&out[i], iss->pm + (p_at * iss->m.n + i) * 8, 4);
            if (kind == HD_V_vx_kind_pm_int32) out[i] += imm;
        }
        return;
    }
    int n = (int)iss->m.n;
    const int32_t *am = iss->am + at * n;
    const uint8_t *xm = iss->xm + at * n;
    switch (kind) {
    case HD_V_vx_kind_am_int32:
        for (int i = 0; i < n; i++) out[i] = (uint32_t)am[i] + imm;
        break;
    case HD_V_vx_kind_am_f32:
        memcpy(out, am, (size_t)n * 4);
        break;
    case HD_V_vx_kind_xm_int8:
        for (int i = 0; i < n; i++) out[i] = (uint32_t)(int32_t)(int8_t)xm[i] + imm;
        break;
    case HD_V_vx_kind_xm_uint8:
        for (int i = 0; i < n; i++) out[i] = xm[i] + imm;
        break;
    default:
        for (int i = 0; i < n; i++) out[i] = imm;
    }
}

static void reduce(int red, int n, bool first, const uint32_t *t, uint32_t *acc) {
    if (first)
        memcpy(acc, t, (size_t)n * 4);
    else if (red == HD_V_vx_red_max)
        for (int i = 0; i < n; i++) acc[i] = (int32_t)t[i] > (int32_t)acc[i] ? t[i] : acc[i];
    else
        for (int i = 0; i < n; i++) acc[i] += t[i];
}

/* Binary32 in an order of integers, -NaN < -inf < ... < -0 < +0 < ... < NaN, and back. */
static void reorder(int n, uint32_t *t) {
    for (int i = 0; i < n; i++)
        if (t[i] >> 31) t[i] ^= INT32_MAX;
}

/* The reduction goes on across the lanes; all get its result. */
static void across(int red, int n, uint32_t *acc) {
    for (int i = 1; i < n; i++) reduce(red, 1, false, &acc[i], acc);
    for (int i = 1; i < n; i++) acc[i] = acc[0];
}

/* Lanes that do not count take the value that changes nothing. */
static void cut_tail(const struct map *o, int n, uint32_t *t) {
    for (int i = o->tail; i < n; i++) t[i] = o->red == HD_V_vx_red_max ? UINT32_C(1) << 31 : 0;
}

static bool is_nan(float v) {
    return !(v == v);
}
/* Arithmetic results that are NaN have one bit pattern, whatever the host makes of them. */
static float plain(float v) {
    return is_nan(v) ? float_of(0x7fc00000) : v;
}

static void to_float(int kind, int n, const uint32_t *t, float *out) {
    if (is_f32(kind))
        for (int i = 0; i < n; i++) out[i] = hd_flush(float_of(t[i]));
    else
        for (int i = 0; i < n; i++) out[i] = (float)(int32_t)t[i];
}

static float pick(int alu, float a, float b) { /* a NaN gives the other operand */
    if (is_nan(b)) return a;
    if (is_nan(a)) return b;
    return (alu == HD_V_vx_alu_max ? a > b : a < b) ? a : b;
}

static void combine(int alu, int n, const float *a, const float *b, float *r) {
    switch (alu) {
    case HD_V_vx_alu_add:
        for (int i = 0; i < n; i++) r[i] = hd_flush(plain(a[i] + b[i]));
        break;
    case HD_V_vx_alu_sub:
        for (int i = 0; i < n; i++) r[i] = hd_flush(plain(a[i] - b[i]));
        break;
    case HD_V_vx_alu_mul:
        for (int i = 0; i < n; i++) r[i] = hd_flush(plain(a[i] * b[i]));
        break;
    case HD_V_vx_alu_max:
    case HD_V_vx_alu_min:
        for (int i = 0; i < n; i++) r[i] = pick(alu, a[i], b[i]);
        break;
    default:
        memcpy(r, a, (size_t)n * 4);
    }
}

/* Byte results of one vector; one that is to be transposed waits for the rest of its block. */
static void to_bytes(hd_iss *iss, const struct map *o, const float *r, int64_t d_at) {
    int n = (int)iss->m.n;
    uint8_t y[LANES];
    if (o->q)
        for (int i = 0; i < n; i++) {
            int64_t v = (int64_t)hd_round_scaled(r[i], o->q) + o->zp;
            y[i] = (uint8_t)(v < o->lo ? o->lo : v > o->hi ? o->hi : v);
        }
    else
        for (int i = 0; i < n; i++) y[i] = (uint8_t)hd_requant(r[i], o->zp, o->lo, o->hi);
    if (o->lut)
        for (int i = 0; i < n; i++) y[i] = iss->tm[(o->lut - 1) * HD_TM_WORD_BYTES + y[i]];
    if (o->d_kind == HD_V_vx_dest_xm) {
        memcpy(iss->xm + d_at * n, y, (size_t)n);
        return;
    }
    memcpy(iss->vx_block + iss->vx_turn * n, y, (size_t)n);
    iss->vx_turn = (iss->vx_turn + 1) % n;
}

/* The block is complete: its columns, to where its vectors would go. */
static void turn(hd_iss *iss, const struct map *o, int64_t d_at) {
    int64_t n = iss->m.n;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            iss->xm[(d_at + j * o->ds[0]) * n + i] = iss->vx_block[i * n + j];
}

/* Everything after the reduction, for one vector. */
static void finish(hd_iss *iss, const struct map *o, uint32_t *t, int64_t b_at, int64_t d_at,
                   int64_t p_at) {
    int n = (int)iss->m.n;
    float fa[LANES], fb[LANES], r[LANES], scale[LANES];
    for (int i = 0; i < n; i++) scale[i] = o->a_scale;
    if (o->use_bias || o->scale_pm) {
        const uint8_t *pm = iss->pm + p_at * n * 8;
        for (int i = 0; i < n; i++) {
            uint32_t bias;
            memcpy(&bias, pm + i * 8, 4);
            if (o->use_bias) t[i] += bias;
            if (o->scale_pm) memcpy(&scale[i], pm + i * 8 + 4, 4);
        }
    }
    to_float(o->a_kind, n, t, fa);
    for (int i = 0; i < n; i++) fa[i] = hd_flush(plain(fa[i] * hd_flush(scale[i])));
    if (o->alu != HD_V_vx_alu_a) {
        uint32_t b[LANES];
        load(iss, o->b_kind, b_at, p_at, o->b_imm, b);
        to_float(o->b_kind, n, b, fb);
        for (int i = 0; i < n; i++) fb[i] = hd_flush(plain(fb[i] * hd_flush(o->b_scale)));
    }
    if (o->fn && o->alu == HD_V_vx_alu_mul)
        for (int i = 0; i < n; i++) fa[i] = hd_fn((enum hd_fn)o->fn, fa[i]);
    combine(o->alu, n, fa, fb, r);
    if (o->fn && o->alu != HD_V_vx_alu_mul)
        for (int i = 0; i < n; i++) r[i] = hd_fn((enum hd_fn)o->fn, r[i]);
    if (o->d_kind == HD_V_vx_dest_am_f32)
        memcpy(iss->am + d_at * n, r, (size_t)n * 4);
    else if (o->d_kind == HD_V_vx_dest_am_int32)
        for (int i = 0; i < n; i++) iss->am[d_at * n + i] = hd_round_scaled(r[i], o->q);
    else
        to_bytes(iss, o, r, d_at);
}

/* Two operands in the same bank of the same memory take turns. */
static bool clash(const hd_iss *iss, const struct map *o, int64_t a_at, int64_t b_at) {
    int64_t am_half = hd_am_words(&iss->m) / 2;
    int64_t xm_bank = iss->m.xm_bytes / iss->m.xm_banks / iss->m.n;
    if (in_xm(o->a_kind) && in_xm(o->b_kind)) return a_at / xm_bank == b_at / xm_bank;
    if (in_am(o->a_kind) && in_am(o->b_kind)) return a_at / am_half == b_at / am_half;
    return false;
}

static unsigned run_map(hd_iss *iss, const uint32_t *words, uint64_t *out_cycles) {
    struct map o;
    map_of(words, &o);
    unsigned err = check(iss, &o);
    if (err) return err;
    int64_t i[LOOPS] = {0};
    uint64_t inner = 1, outer = 1;
    for (int l = 0; l < LOOPS; l++) *(l < o.nred ? &inner : &outer) *= (uint64_t)o.n[l];
    if (__builtin_mul_overflow(inner, outer, out_cycles)) *out_cycles = HD_NEVER / 2;
    if (*out_cycles > iss->budget) return HD_ERR_none;
    uint64_t cycles = 0;
    bool total = o.red == HD_V_vx_red_max && is_f32(o.a_kind);
    iss->vx_turn = 0;
    for (uint64_t v = 0; v < outer; v++) {
        uint32_t acc[LANES], t[LANES];
        int64_t at[4] = {o.a, o.b, o.d, o.p}, a_at = 0;
        for (int l = o.nred; l < LOOPS; l++) {
            at[0] += i[l] * o.as[l], at[1] += i[l] * o.bs[l];
            at[2] += i[l] * o.ds[l], at[3] += i[l] * o.ps[l];
        }
        for (uint64_t r = 0; r < inner; r++) {
            a_at = at[0];
            for (int l = 0; l < o.nred; l++) a_at += i[l] * o.as[l];
            load(iss, o.a_kind, a_at, at[3], o.a_imm, t);
            if (total) reorder((int)iss->m.n, t);
            if (o.red != HD_V_vx_red_none && o.tail && i[0] == o.n[0] - 1)
                cut_tail(&o, (int)iss->m.n, t);
            reduce(o.red, (int)iss->m.n, r == 0, t, acc);
            for (int l = 0; l < o.nred && ++i[l] == o.n[l]; l++) i[l] = 0;
        }
        cycles += inner + (o.alu != HD_V_vx_alu_a && clash(iss, &o, a_at, at[1]));
        if (o.lanes) across(o.red, (int)iss->m.n, acc);
        if (total) reorder((int)iss->m.n, acc);
        finish(iss, &o, acc, at[1], at[2], at[3]);
        if (o.d_kind == HD_V_vx_dest_xm_transposed && i[0] == o.n[0] - 1)
            turn(iss, &o, at[2] - i[0] * o.ds[0]);
        for (int l = o.nred; l < LOOPS && ++i[l] == o.n[l]; l++) i[l] = 0;
    }
    *out_cycles = cycles;
    return HD_ERR_none;
}

/* ---- dw ------------------------------------------------------------------------------------- */

static bool pairs(const struct map *o) { /* every second column comes from B */
    return in_xm(o->b_kind);
}

static bool sums(const struct map *o) { /* windows add to B */
    return o->b_kind == HD_V_vx_kind_am_int32;
}

static int64_t dw_columns(const struct map *o) { /* vectors of A in a row of outputs */
    return pairs(o) ? o->n[1] + o->n[0] - 2 : (o->n[1] - 1) * o->sx + o->n[0];
}

static unsigned check_dw(const hd_iss *iss, const struct map *o) {
    int32_t imm = (int32_t)o->a_imm;
    if (!common_legal(iss, o) || o->lanes) return HD_ERR_operand;
    for (int l = 0; l < LOOPS; l++)
        if (o->n[l] == 0) return HD_ERR_operand;
    if (o->n[0] > DW_COLS || o->n[2] > DW_ROWS || o->sx == 0 || !in_xm(o->a_kind) ||
        (o->b_kind != HD_V_vx_kind_zero && !sums(o) &&
         (o->b_kind != o->a_kind || o->sx != 2 || o->n[0] < 2)) ||
        o->alu != HD_V_vx_alu_a || o->red != HD_V_vx_red_none || o->nred != 0 ||
        o->d_kind == HD_V_vx_dest_xm_transposed || imm < -DW_IMM || imm > DW_IMM)
        return HD_ERR_operand;
    int64_t xm = iss->m.xm_bytes / iss->m.n, am = hd_am_words(&iss->m), pm = hd_pm_words(&iss->m);
    int64_t tap_words = (o->n[0] * o->n[2] + TAPS_PER_WORD - 1) / TAPS_PER_WORD;
    const int64_t a_n[LOOPS] = {dw_columns(o), 1, o->n[2], o->n[3]};
    const int64_t b_n[LOOPS] = {o->n[1], 1, o->n[2], o->n[3]};
    const int64_t d_n[LOOPS] = {1, o->n[1], 1, o->n[3]}, p_n[LOOPS] = {1, 1, 1, o->n[3]};
    if (!inside(o->a, a_n, o->as, 0, xm) || (pairs(o) && !inside(o->b, b_n, o->bs, 0, xm)) ||
        (sums(o) && !inside(o->b, d_n, o->bs, 0, am)) ||
        !inside(o->d, d_n, o->ds, 0, to_am(o) ? am : xm) ||
        !inside(o->p, p_n, o->ps, 0, pm - tap_words))
        return HD_ERR_range;
    return HD_ERR_none;
}

/* Taps of one PM row as integers, tap by tap. */
static void load_taps(const hd_iss *iss, int64_t p_at, int taps, int32_t w[][LANES]) {
    int n = (int)iss->m.n;
    for (int t = 0; t < taps; t++) {
        const uint8_t *pm = iss->pm + ((p_at + 1) * TAPS_PER_WORD + t) * n;
        for (int i = 0; i < n; i++) w[t][i] = (int8_t)pm[i];
    }
}

/* Where column kx of window x lies. */
static int64_t column(const struct map *o, int64_t x, int64_t kx, int64_t ky, int64_t i3) {
    int64_t back = o->n[0] - 1 - kx; /* columns to the end of the window */
    if (!pairs(o)) return o->a + (x * o->sx + kx) * o->as[0] + ky * o->as[2] + i3 * o->as[3];
    if (back == 1) return o->b + x * o->bs[0] + ky * o->bs[2] + i3 * o->bs[3];
    return o->a + (x + (kx == 2)) * o->as[0] + ky * o->as[2] + i3 * o->as[3];
}

/* t[i] = sum over window x, and what it adds to. */
static void window_sum(const hd_iss *iss, const struct map *o, int64_t x, int64_t i3,
                       int32_t w[][LANES], uint32_t *t) {
    int n = (int)iss->m.n;
    uint32_t a[LANES];
    if (sums(o))
        load(iss, o->b_kind, o->b + x * o->bs[1] + i3 * o->bs[3], 0, 0, t);
    else
        memset(t, 0, (size_t)n * 4);
    for (int64_t ky = 0; ky < o->n[2]; ky++)
        for (int64_t kx = 0; kx < o->n[0]; kx++) {
            const int32_t *tap = w[ky * o->n[0] + kx];
            load(iss, o->a_kind, column(o, x, kx, ky, i3), 0, o->a_imm, a);
            for (int i = 0; i < n; i++) t[i] += a[i] * (uint32_t)tap[i];
        }
}

static unsigned run_dw(hd_iss *iss, const uint32_t *words, uint64_t *out_cycles) {
    struct map o;
    map_of(words, &o);
    unsigned err = check_dw(iss, &o);
    if (err) return err;
    /* a result in the first iteration: its taps are not read beside inputs */
    int64_t lead = o.n[0] == 1 + pairs(&o) && o.n[2] == 1;
    *out_cycles = (uint64_t)(o.n[3] * (o.n[2] * dw_columns(&o) + lead));
    if (*out_cycles > iss->budget) return HD_ERR_none;
    int32_t w[DW_COLS * DW_ROWS][LANES];
    uint32_t t[LANES];
    for (int64_t i3 = 0; i3 < o.n[3]; i3++) {
        int64_t p_at = o.p + i3 * o.ps[3];
        load_taps(iss, p_at, (int)(o.n[0] * o.n[2]), w);
        for (int64_t x = 0; x < o.n[1]; x++) {
            window_sum(iss, &o, x, i3, w, t);
            finish(iss, &o, t, 0, o.d + x * o.ds[1] + i3 * o.ds[3], p_at);
        }
    }
    return HD_ERR_none;
}

unsigned hd_iss_vx(hd_iss *iss, unsigned code, const uint32_t *words, uint64_t *out_cycles) {
    return code == hd_isa_ops[HD_OP_vx_dw].code ? run_dw(iss, words, out_cycles)
                                                : run_map(iss, words, out_cycles);
}
