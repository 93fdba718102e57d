/* vx.map and vx.dw: operand checks, the lanes in plain binary32 C, and the cycles that its
 * operands' banks cost. */
#include <string.h>

#include "runtime/base/num.h"
#include "sim/iss_int.h"

enum { LOOPS = 4, LANES = 64 };
enum { DW_COLS = 3, DW_ROWS = 4, DW_IMM = 255, TAPS_PER_WORD = 8 };
enum { KIND_AM_INT, KIND_AM_F32, KIND_XM_S8, KIND_XM_U8, KIND_ZERO };
enum { ALU_A, ALU_ADD, ALU_SUB, ALU_MUL, ALU_MAX, ALU_MIN };
enum { RED_NONE, RED_SUM, RED_MAX };

struct map {
    int64_t n[LOOPS], as[LOOPS], bs[LOOPS], ds[LOOPS], ps[LOOPS];
    int64_t a, b, d, p;
    int a_kind, b_kind, alu, red, nred, d_kind, sx;
    bool use_bias, scale_pm;
    uint32_t a_imm, b_imm;
    float a_scale, b_scale;
    int32_t lo, hi, zp;
};

static float float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
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
    o->use_bias = GET(use_bias) != 0 && o->a_kind != KIND_AM_F32, o->scale_pm = GET(scale_pm) != 0;
    o->a_imm = (uint32_t)GET(a_imm), o->b_imm = (uint32_t)GET(b_imm);
    o->a_scale = float_of((uint32_t)GET(a_scale)), o->b_scale = float_of((uint32_t)GET(b_scale));
    o->lo = (int32_t)GET(lo), o->hi = (int32_t)GET(hi), o->zp = (int32_t)GET(zp);
#undef LOOP
#undef GET
}

static bool in_xm(int kind) {
    return kind == KIND_XM_S8 || kind == KIND_XM_U8;
}
static bool in_am(int kind) {
    return kind == KIND_AM_INT || kind == KIND_AM_F32;
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

static unsigned check(const hd_iss *iss, const uint32_t *words, const struct map *o) {
    if (o->nred > LOOPS || o->a_kind > KIND_ZERO || o->b_kind > KIND_ZERO || o->alu > ALU_MIN ||
        o->red > RED_MAX || o->d_kind > 1 || (o->red == RED_NONE && o->nred != 0) ||
        (o->red != RED_NONE && o->a_kind == KIND_AM_F32))
        return HD_ERR_operand;
    for (int l = 0; l < LOOPS; l++)
        if (o->n[l] == 0) return HD_ERR_operand;
    int64_t xm = iss->m.xm_bytes / iss->m.n, am = hd_am_words(&iss->m), pm = hd_pm_words(&iss->m);
    bool use_pm = o->scale_pm || hd_field_get(words, HD_F_vx_use_bias);
    if ((in_xm(o->a_kind) && !inside(o->a, o->n, o->as, 0, xm)) ||
        (in_am(o->a_kind) && !inside(o->a, o->n, o->as, 0, am)) ||
        (o->alu != ALU_A && in_xm(o->b_kind) && !inside(o->b, o->n, o->bs, o->nred, xm)) ||
        (o->alu != ALU_A && in_am(o->b_kind) && !inside(o->b, o->n, o->bs, o->nred, am)) ||
        !inside(o->d, o->n, o->ds, o->nred, o->d_kind ? am : xm) ||
        (use_pm && !inside(o->p, o->n, o->ps, o->nred, pm)))
        return HD_ERR_range;
    return HD_ERR_none;
}

/* The integers (or binary32 bits) of one operand vector. */
static void load(const hd_iss *iss, int kind, int64_t at, uint32_t imm, uint32_t *out) {
    int n = (int)iss->m.n;
    const int32_t *am = iss->am + at * n;
    const uint8_t *xm = iss->xm + at * n;
    switch (kind) {
    case KIND_AM_INT:
        for (int i = 0; i < n; i++) out[i] = (uint32_t)am[i] + imm;
        break;
    case KIND_AM_F32:
        memcpy(out, am, (size_t)n * 4);
        break;
    case KIND_XM_S8:
        for (int i = 0; i < n; i++) out[i] = (uint32_t)(int32_t)(int8_t)xm[i] + imm;
        break;
    case KIND_XM_U8:
        for (int i = 0; i < n; i++) out[i] = xm[i] + imm;
        break;
    default:
        for (int i = 0; i < n; i++) out[i] = imm;
    }
}

static void reduce(int red, int n, bool first, const uint32_t *t, uint32_t *acc) {
    if (first)
        memcpy(acc, t, (size_t)n * 4);
    else if (red == RED_MAX)
        for (int i = 0; i < n; i++) acc[i] = (int32_t)t[i] > (int32_t)acc[i] ? t[i] : acc[i];
    else
        for (int i = 0; i < n; i++) acc[i] += t[i];
}

static bool is_nan(float v) {
    return !(v == v);
}
/* Arithmetic results that are NaN have one bit pattern, whatever the host makes of them. */
static float plain(float v) {
    return is_nan(v) ? float_of(0x7fc00000) : v;
}

static void to_float(int kind, int n, const uint32_t *t, float *out) {
    if (kind == KIND_AM_F32)
        memcpy(out, t, (size_t)n * 4);
    else
        for (int i = 0; i < n; i++) out[i] = (float)(int32_t)t[i];
}

static float pick(int alu, float a, float b) { /* a NaN gives the other operand */
    if (is_nan(b)) return a;
    if (is_nan(a)) return b;
    return (alu == ALU_MAX ? a > b : a < b) ? a : b;
}

static void combine(int alu, int n, const float *a, const float *b, float *r) {
    switch (alu) {
    case ALU_ADD:
        for (int i = 0; i < n; i++) r[i] = plain(a[i] + b[i]);
        break;
    case ALU_SUB:
        for (int i = 0; i < n; i++) r[i] = plain(a[i] - b[i]);
        break;
    case ALU_MUL:
        for (int i = 0; i < n; i++) r[i] = plain(a[i] * b[i]);
        break;
    case ALU_MAX:
    case ALU_MIN:
        for (int i = 0; i < n; i++) r[i] = pick(alu, a[i], b[i]);
        break;
    default:
        memcpy(r, a, (size_t)n * 4);
    }
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
    for (int i = 0; i < n; i++) fa[i] = plain(fa[i] * scale[i]);
    if (o->alu != ALU_A) {
        uint32_t b[LANES];
        load(iss, o->b_kind, b_at, o->b_imm, b);
        to_float(o->b_kind, n, b, fb);
        for (int i = 0; i < n; i++) fb[i] = plain(fb[i] * o->b_scale);
    }
    combine(o->alu, n, fa, fb, r);
    if (o->d_kind)
        memcpy(iss->am + d_at * n, r, (size_t)n * 4);
    else {
        uint8_t *d = iss->xm + d_at * n;
        for (int i = 0; i < n; i++) d[i] = (uint8_t)hd_requant(r[i], o->zp, o->lo, o->hi);
    }
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
    unsigned err = check(iss, words, &o);
    if (err) return err;
    int64_t i[LOOPS] = {0};
    uint64_t inner = 1, outer = 1;
    for (int l = 0; l < LOOPS; l++) *(l < o.nred ? &inner : &outer) *= (uint64_t)o.n[l];
    if (__builtin_mul_overflow(inner, outer, out_cycles)) *out_cycles = HD_NEVER / 2;
    if (*out_cycles > iss->budget) return HD_ERR_none;
    uint64_t cycles = 0;
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
            load(iss, o.a_kind, a_at, o.a_imm, t);
            reduce(o.red, (int)iss->m.n, r == 0, t, acc);
            for (int l = 0; l < o.nred && ++i[l] == o.n[l]; l++) i[l] = 0;
        }
        cycles += inner + (o.alu != ALU_A && clash(iss, &o, a_at, at[1]));
        finish(iss, &o, acc, at[1], at[2], at[3]);
        for (int l = o.nred; l < LOOPS && ++i[l] == o.n[l]; l++) i[l] = 0;
    }
    *out_cycles = cycles;
    return HD_ERR_none;
}

/* ---- dw ------------------------------------------------------------------------------------- */

static int64_t dw_columns(const struct map *o) { /* input vectors of a row of outputs */
    return (o->n[1] - 1) * o->sx + o->n[0];
}

static unsigned check_dw(const hd_iss *iss, const struct map *o) {
    int32_t imm = (int32_t)o->a_imm;
    for (int l = 0; l < LOOPS; l++)
        if (o->n[l] == 0) return HD_ERR_operand;
    if (o->n[0] > DW_COLS || o->n[2] > DW_ROWS || o->sx == 0 || !in_xm(o->a_kind) ||
        o->b_kind != KIND_ZERO || o->alu != ALU_A || o->red != RED_NONE || o->nred != 0 ||
        o->d_kind > 1 || imm < -DW_IMM || imm > DW_IMM)
        return HD_ERR_operand;
    int64_t xm = iss->m.xm_bytes / iss->m.n, am = hd_am_words(&iss->m), pm = hd_pm_words(&iss->m);
    int64_t tap_words = (o->n[0] * o->n[2] + TAPS_PER_WORD - 1) / TAPS_PER_WORD;
    const int64_t a_n[LOOPS] = {dw_columns(o), 1, o->n[2], o->n[3]};
    const int64_t d_n[LOOPS] = {1, o->n[1], 1, o->n[3]}, p_n[LOOPS] = {1, 1, 1, o->n[3]};
    if (!inside(o->a, a_n, o->as, 0, xm) || !inside(o->d, d_n, o->ds, 0, o->d_kind ? am : xm) ||
        !inside(o->p, p_n, o->ps, 0, pm - tap_words))
        return HD_ERR_range;
    return HD_ERR_none;
}

/* Taps of one PM row as integers, tap by tap. */
static void load_taps(const hd_iss *iss, int64_t p_at, int taps, int32_t w[][LANES]) {
    int n = (int)iss->m.n;
    for (int t = 0; t < taps; t++) {
        const uint8_t *pm = iss->pm + (p_at + 1 + t / TAPS_PER_WORD) * n * 8 + t % TAPS_PER_WORD;
        for (int i = 0; i < n; i++) w[t][i] = (int8_t)pm[i * 8];
    }
}

/* t[i] = sum over the window at `at`. */
static void window_sum(const hd_iss *iss, const struct map *o, int64_t at, int32_t w[][LANES],
                       uint32_t *t) {
    int n = (int)iss->m.n;
    uint32_t a[LANES];
    memset(t, 0, (size_t)n * 4);
    for (int64_t ky = 0; ky < o->n[2]; ky++)
        for (int64_t kx = 0; kx < o->n[0]; kx++) {
            const int32_t *tap = w[ky * o->n[0] + kx];
            load(iss, o->a_kind, at + kx * o->as[0] + ky * o->as[2], o->a_imm, a);
            for (int i = 0; i < n; i++) t[i] += a[i] * (uint32_t)tap[i];
        }
}

static unsigned run_dw(hd_iss *iss, const uint32_t *words, uint64_t *out_cycles) {
    struct map o;
    map_of(words, &o);
    unsigned err = check_dw(iss, &o);
    if (err) return err;
    int64_t lead = o.n[0] == 1 && o.n[2] == 1; /* its taps are not read beside inputs */
    *out_cycles = (uint64_t)(o.n[3] * (o.n[2] * dw_columns(&o) + lead));
    if (*out_cycles > iss->budget) return HD_ERR_none;
    int32_t w[DW_COLS * DW_ROWS][LANES];
    uint32_t t[LANES];
    for (int64_t i3 = 0; i3 < o.n[3]; i3++) {
        int64_t p_at = o.p + i3 * o.ps[3];
        load_taps(iss, p_at, (int)(o.n[0] * o.n[2]), w);
        for (int64_t x = 0; x < o.n[1]; x++) {
            window_sum(iss, &o, o.a + x * o.sx * o.as[0] + i3 * o.as[3], w, t);
            finish(iss, &o, t, 0, o.d + x * o.ds[1] + i3 * o.ds[3], p_at);
        }
    }
    return HD_ERR_none;
}

unsigned hd_iss_vx(hd_iss *iss, unsigned code, const uint32_t *words, uint64_t *out_cycles) {
    return code == hd_isa_ops[HD_OP_vx_dw].code ? run_dw(iss, words, out_cycles)
                                                : run_map(iss, words, out_cycles);
}
