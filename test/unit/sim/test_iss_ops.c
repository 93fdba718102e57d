/* Each operation on the ISS against plain loops, with random operands. */
#include "test/unit/sim/rig.h"

#include <math.h>

enum { ROUNDS = 60 };

/* ---- lx, st --------------------------------------------------------------------------------- */

struct walk {
    int64_t run, n[3], s[3], d[3], src, dst, x0, y0, row_bytes, rows, ys;
    bool edge;
    uint8_t pad;
};

static void lx_words(const struct walk *w, uint32_t *p) {
    RIG_SET(p, lx, seg, 0), RIG_SET(p, lx, edge, w->edge), RIG_SET(p, lx, pad, w->pad);
    RIG_SET(p, lx, src, (uint32_t)w->src), RIG_SET(p, lx, dst, w->dst), RIG_SET(p, lx, run, w->run);
    RIG_SET(p, lx, n1, w->n[0]), RIG_SET(p, lx, n2, w->n[1]), RIG_SET(p, lx, n3, w->n[2]);
    RIG_SET(p, lx, s1, w->s[0]), RIG_SET(p, lx, s2, w->s[1]), RIG_SET(p, lx, s3, w->s[2]);
    RIG_SET(p, lx, d1, w->d[0]), RIG_SET(p, lx, d2, w->d[1]), RIG_SET(p, lx, d3, w->d[2]);
    RIG_SET(p, lx, x0, w->x0), RIG_SET(p, lx, row_bytes, w->row_bytes);
    RIG_SET(p, lx, y0, w->y0), RIG_SET(p, lx, rows, w->rows), RIG_SET(p, lx, ys, w->ys);
}

/* A tile of a padded image, rows of row_bytes, planes of rows, with a step along the row. */
static struct walk random_tile(struct rig *r) {
    struct walk w = {.edge = rig_random(r) % 4 != 0, .pad = (uint8_t)rig_random(r)};
    int64_t pixel = rig_between(r, 1, 20);
    w.row_bytes = pixel * rig_between(r, 1, 12), w.rows = rig_between(r, 1, 9);
    w.run = pixel * rig_between(r, 1, 4), w.ys = rig_between(r, 1, 2);
    w.n[0] = rig_between(r, 1, 5), w.n[1] = rig_between(r, 1, 5), w.n[2] = rig_between(r, 1, 3);
    w.s[0] = pixel * rig_between(r, 1, 2), w.s[1] = w.ys * w.row_bytes,
    w.s[2] = w.row_bytes * w.rows;
    w.x0 = pixel * rig_between(r, -3, 3), w.y0 = rig_between(r, -2, 3);
    w.src = RIG_DATA + (w.edge ? w.x0 + w.y0 * w.row_bytes : 5000);
    w.d[0] = w.run + rig_between(r, 0, 9), w.d[1] = w.d[0] * w.n[0] + rig_between(r, 0, 5);
    w.d[2] = w.d[1] * w.n[1], w.dst = rig_between(r, 0, 100);
    return w;
}

static void load(void **state) {
    (void)state;
    struct rig r = rig_open(0, 0);
    uint8_t *xm = rig_memory(&r, HD_ISS_XM);
    static uint8_t want[32768];
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t p[HD_PARAM_WORDS] = {0};
        struct walk w = random_tile(&r);
        lx_words(&w, p);
        rig_fill(&r, HD_ISS_XM);
        memcpy(want, xm, sizeof want);
        for (int64_t i3 = 0; i3 < w.n[2]; i3++)
            for (int64_t i2 = 0; i2 < w.n[1]; i2++)
                for (int64_t i1 = 0; i1 < w.n[0]; i1++)
                    for (int64_t j = 0; j < w.run; j++) {
                        int64_t x = w.x0 + i1 * w.s[0] + j, y = w.y0 + i2 * w.ys;
                        bool valid = !w.edge || (x >= 0 && x < w.row_bytes && y >= 0 && y < w.rows);
                        want[w.dst + i1 * w.d[0] + i2 * w.d[1] + i3 * w.d[2] + j] =
                            valid ? r.image[w.src + i1 * w.s[0] + i2 * w.s[1] + i3 * w.s[2] + j]
                                  : w.pad;
                    }
        rig_op(&r, HD_OP_lx_load, 0, 0, p);
        rig_go(&r);
        assert_memory_equal(xm, want, sizeof want);
    }
    rig_close(&r);
}

static void store(void **state) {
    (void)state;
    struct rig r = rig_open(1, 0);
    uint8_t *xm = rig_memory(&r, HD_ISS_XM);
    uint8_t *want = calloc(1, RIG_DRAM);
    rig_fill(&r, HD_ISS_XM);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t p[HD_PARAM_WORDS] = {0};
        int64_t run = rig_between(&r, 1, 300), n1 = rig_between(&r, 1, 4),
                n2 = rig_between(&r, 1, 3);
        int64_t n3 = rig_between(&r, 1, 3), src = rig_between(&r, 0, 99),
                dst = rig_between(&r, 0, 99);
        int64_t s[3] = {run + 3, 2 * run + 1, 5}, d[3] = {run, run * n1 + 7, (run * n1 + 7) * n2};
        RIG_SET(p, st, seg, 1), RIG_SET(p, st, dst, dst), RIG_SET(p, st, src, src),
            RIG_SET(p, st, run, run);
        RIG_SET(p, st, n1, n1), RIG_SET(p, st, n2, n2), RIG_SET(p, st, n3, n3);
        RIG_SET(p, st, d1, d[0]), RIG_SET(p, st, d2, d[1]), RIG_SET(p, st, d3, d[2]);
        RIG_SET(p, st, s1, s[0]), RIG_SET(p, st, s2, s[1]), RIG_SET(p, st, s3, s[2]);
        memcpy(want, r.arena, RIG_DRAM);
        for (int64_t i3 = 0; i3 < n3; i3++)
            for (int64_t i2 = 0; i2 < n2; i2++)
                for (int64_t i1 = 0; i1 < n1; i1++)
                    memcpy(want + dst + i1 * d[0] + i2 * d[1] + i3 * d[2],
                           xm + src + i1 * s[0] + i2 * s[1] + i3 * s[2], (size_t)run);
        rig_op(&r, HD_OP_st_store, 0, 0, p);
        rig_go(&r);
        assert_memory_equal(r.arena, want, RIG_DRAM);
        assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_write_bytes), run * n1 * n2 * n3);
    }
    free(want);
    rig_close(&r);
}

static void weights(void **state) {
    (void)state;
    for (int machine = 0; machine < 3; machine++) {
        struct rig r = rig_open(machine, 0);
        int64_t axi = hd_axi_bytes(r.m), bytes = hd_wm_word_bytes(r.m),
                pm_bytes = hd_pm_word_bytes(r.m);
        uint32_t p[HD_PARAM_WORDS] = {0};
        RIG_SET(p, lw, src, RIG_DATA + axi * 3), RIG_SET(p, lw, dst, 9), RIG_SET(p, lw, count, 5);
        RIG_SET(p, lw, n1, 3), RIG_SET(p, lw, s1, axi * 7), RIG_SET(p, lw, d1, 6);
        rig_op(&r, HD_OP_lw_load, 0, 0, p);
        RIG_SET(p, lw, mem, 1);
        rig_op(&r, HD_OP_lw_load, 0, 0, p);
        rig_go(&r);
        const uint8_t *wm = rig_memory(&r, HD_ISS_WM), *pm = rig_memory(&r, HD_ISS_PM);
        for (int i = 0; i < 3; i++) {
            const uint8_t *src = r.image + RIG_DATA + axi * 3 + i * axi * 7;
            assert_memory_equal(wm + (9 + 6 * i) * bytes, src, (size_t)(5 * bytes));
            assert_memory_equal(pm + (9 + 6 * i) * pm_bytes, src, (size_t)(5 * pm_bytes));
        }
        rig_close(&r);
    }
}

/* ---- mx ------------------------------------------------------------------------------------- */

struct gemm {
    int64_t x, w, a, n[6], xs[6], ws[6], as[6];
    int nred;
    bool accumulate, x_unsigned;
};

static struct gemm random_gemm(struct rig *r) {
    struct gemm g = {.nred = (int)rig_between(r, 0, 6),
                     .accumulate = rig_random(r) & 1,
                     .x_unsigned = rig_random(r) & 1};
    int64_t a_step = 1;
    g.x = rig_between(r, 100, 300), g.w = rig_between(r, 60, 90), g.a = 3;
    for (int l = 0; l < 6; l++) {
        g.n[l] = rig_between(r, 1, 3);
        g.xs[l] = rig_between(r, -5, 9), g.ws[l] = rig_between(r, -2, 3);
        g.as[l] = l < g.nred ? rig_between(r, -9, 9) : a_step; /* not used by the reduction */
        if (l >= g.nred) a_step *= g.n[l];
    }
    return g;
}

static void gemm_words(const struct gemm *g, uint32_t *p) {
    RIG_SET(p, mx, nred, g->nred), RIG_SET(p, mx, accumulate, g->accumulate);
    RIG_SET(p, mx, x_unsigned, g->x_unsigned);
    RIG_SET(p, mx, x, g->x), RIG_SET(p, mx, w, g->w), RIG_SET(p, mx, a, g->a);
    for (int l = 0; l < 6; l++) {
        hd_field_set(p, (enum hd_field)(HD_F_mx_n0 + 4 * l), g->n[l]);
        hd_field_set(p, (enum hd_field)(HD_F_mx_xs0 + 4 * l), g->xs[l]);
        hd_field_set(p, (enum hd_field)(HD_F_mx_ws0 + 4 * l), g->ws[l]);
        hd_field_set(p, (enum hd_field)(HD_F_mx_as0 + 4 * l), g->as[l]);
    }
}

static void gemm_oracle(const struct rig *r, const struct gemm *g, const uint8_t *xm,
                        const int8_t *wm, uint32_t *am) {
    int64_t i[6], k = r->m->k, n = r->m->n;
    for (i[5] = 0; i[5] < g->n[5]; i[5]++)
        for (i[4] = 0; i[4] < g->n[4]; i[4]++)
            for (i[3] = 0; i[3] < g->n[3]; i[3]++)
                for (i[2] = 0; i[2] < g->n[2]; i[2]++)
                    for (i[1] = 0; i[1] < g->n[1]; i[1]++)
                        for (i[0] = 0; i[0] < g->n[0]; i[0]++) {
                            int64_t x = g->x, w = g->w, a = g->a;
                            bool first = true;
                            for (int l = 0; l < 6; l++) {
                                x += i[l] * g->xs[l], w += i[l] * g->ws[l];
                                if (l >= g->nred)
                                    a += i[l] * g->as[l];
                                else if (i[l])
                                    first = false;
                            }
                            for (int64_t c = 0; c < n; c++) {
                                uint32_t *acc = &am[a * n + c];
                                if (first && !g->accumulate) *acc = 0;
                                for (int64_t j = 0; j < k; j++) {
                                    int xv = g->x_unsigned ? xm[x * k + j] : (int8_t)xm[x * k + j];
                                    *acc += (uint32_t)(xv * wm[(w * n + c) * k + j]);
                                }
                            }
                        }
}

static void matrix(void **state) {
    (void)state;
    for (int machine = 0; machine < 3; machine++) {
        struct rig r = rig_open(machine, 0);
        size_t am_bytes;
        uint32_t *am = hd_iss_memory(r.iss, HD_ISS_AM, &am_bytes);
        uint32_t *want = malloc(am_bytes);
        rig_fill(&r, HD_ISS_XM);
        rig_fill(&r, HD_ISS_WM);
        rig_fill(&r, HD_ISS_AM);
        for (int round = 0; round < ROUNDS; round++) {
            uint32_t p[HD_PARAM_WORDS] = {0};
            struct gemm g = random_gemm(&r);
            gemm_words(&g, p);
            memcpy(want, am, am_bytes);
            gemm_oracle(&r, &g, rig_memory(&r, HD_ISS_XM), rig_memory(&r, HD_ISS_WM), want);
            rig_op(&r, HD_OP_mx_gemm, 0, 0, p);
            rig_go(&r);
            assert_memory_equal(am, want, am_bytes);
        }
        free(want);
        rig_close(&r);
    }
}

/* Extremes: 255 * -128 and -128 * -128 in every product. */
static void matrix_extremes(void **state) {
    (void)state;
    struct rig r = rig_open(1, 0);
    uint8_t *xm = rig_memory(&r, HD_ISS_XM);
    int8_t *wm = rig_memory(&r, HD_ISS_WM);
    int32_t *am = rig_memory(&r, HD_ISS_AM);
    for (int u = 0; u < 2; u++) {
        struct gemm g = {.nred = 1, .x_unsigned = u, .n = {100, 1, 1, 1, 1, 1}};
        uint32_t p[HD_PARAM_WORDS] = {0};
        memset(xm, u ? 255 : 128, 64), memset(wm, -128, 1024);
        gemm_words(&g, p);
        rig_op(&r, HD_OP_mx_gemm, 0, 0, p);
        rig_go(&r);
        for (int n = 0; n < 16; n++) assert_int_equal(am[n], 1600 * (u ? 255 * -128 : 128 * 128));
    }
    rig_close(&r);
}

/* ---- vx ------------------------------------------------------------------------------------- */

/* One result of a plain map: accumulator `acc`, scale, zero point and clamp. */
static int requant(struct rig *r, int32_t acc, float scale, int zp, int lo, int hi) {
    uint32_t p[HD_PARAM_WORDS] = {0}, bits;
    int32_t *am = rig_memory(r, HD_ISS_AM);
    uint8_t *xm = rig_memory(r, HD_ISS_XM);
    memcpy(&bits, &scale, 4);
    am[0] = acc;
    RIG_SET(p, vx, b_kind, 4), RIG_SET(p, vx, n0, 1), RIG_SET(p, vx, n1, 1), RIG_SET(p, vx, n2, 1);
    RIG_SET(p, vx, n3, 1), RIG_SET(p, vx, a_scale, bits), RIG_SET(p, vx, zp, zp),
        RIG_SET(p, vx, lo, lo);
    RIG_SET(p, vx, hi, hi), RIG_SET(p, vx, d, 7);
    rig_op(r, HD_OP_vx_map, 0, 0, p);
    rig_go(r);
    uint8_t b = xm[7 * r->m->n];
    return lo < 0 ? (int8_t)b : b;
}

static void requantisation(void **state) {
    (void)state;
    struct rig r = rig_open(0, 0);
    const struct {
        int32_t acc;
        float scale;
        int zp, lo, hi, want;
    } t[] = {
        {1, 0.5f, 0, -128, 127, 0},        {3, 0.5f, 0, -128, 127, 2},
        {5, 0.5f, 0, -128, 127, 2},        {-1, 0.5f, 0, -128, 127, 0},
        {-3, 0.5f, 0, -128, 127, -2},      {-5, 0.5f, 0, -128, 127, -2},
        {3, 0.5f, 10, -128, 127, 12},      {1000, 1.0f, 0, -128, 127, 127},
        {-1000, 1.0f, 0, -128, 127, -128}, {1000, 1.0f, 128, 0, 255, 255},
        {-1000, 1.0f, 128, 0, 255, 0},     {-5, 0.5f, 128, 0, 255, 126},
        {-40, 1.0f, 3, 3, 127, 3},         {INT32_MAX, 1e30f, 0, -128, 127, 127},
        {INT32_MIN, 1e30f, 0, 0, 255, 0},  {16777217, 1.0f / 16777216, 0, -128, 127, 1},
        {5, NAN, 4, -128, 127, 4},         {100, 0.0049999999f, 0, -128, 127, 0},
    };
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
        assert_int_equal(requant(&r, t[i].acc, t[i].scale, t[i].zp, t[i].lo, t[i].hi), t[i].want);
    rig_close(&r);
}

struct vmap {
    int a_kind, b_kind, alu, red, nred, d_kind, use_bias, scale_pm;
    int64_t a, b, d, p, n[4], as[4], bs[4], ds[4], ps[4];
    int32_t a_imm, b_imm, lo, hi, zp;
    float a_scale, b_scale;
};

static struct vmap random_map(struct rig *r) {
    struct vmap m = {.a_kind = (int)rig_between(r, 0, 4), .b_kind = (int)rig_between(r, 0, 4)};
    m.alu = (int)rig_between(r, 0, 5), m.d_kind = (int)rig_between(r, 0, 1);
    m.red = m.a_kind == 1 ? 0 : (int)rig_between(r, 0, 2);
    m.nred = m.red ? (int)rig_between(r, 0, 4) : 0;
    m.use_bias = rig_random(r) & 1, m.scale_pm = rig_random(r) & 1;
    m.a = 200, m.b = 240, m.d = 400, m.p = 20;
    int64_t step = 1;
    for (int l = 0; l < 4; l++) {
        m.n[l] = rig_between(r, 1, 4);
        m.as[l] = rig_between(r, -9, 9), m.bs[l] = rig_between(r, -9, 9),
        m.ps[l] = rig_between(r, 0, 2);
        m.ds[l] = step;
        if (l >= m.nred) step *= m.n[l];
    }
    m.a_imm = (int32_t)rig_random(r) >> (int)rig_between(r, 0, 30);
    m.b_imm = -(int32_t)rig_between(r, -300, 300);
    m.zp = (int32_t)rig_between(r, -128, 255), m.lo = -128, m.hi = 127;
    m.a_scale = (float)rig_between(r, -1000, 1000) * 0x1p-16f;
    m.b_scale = (float)rig_between(r, -1000, 1000) * 0x1p-13f;
    return m;
}

static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static float float_of(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static void map_words(const struct vmap *m, uint32_t *p) {
    RIG_SET(p, vx, a_kind, m->a_kind), RIG_SET(p, vx, b_kind, m->b_kind),
        RIG_SET(p, vx, alu, m->alu);
    RIG_SET(p, vx, red, m->red), RIG_SET(p, vx, nred, m->nred), RIG_SET(p, vx, d_kind, m->d_kind);
    RIG_SET(p, vx, use_bias, m->use_bias), RIG_SET(p, vx, scale_pm, m->scale_pm);
    RIG_SET(p, vx, a, m->a), RIG_SET(p, vx, b, m->b), RIG_SET(p, vx, d, m->d),
        RIG_SET(p, vx, p, m->p);
    for (int l = 0; l < 4; l++) {
        hd_field_set(p, (enum hd_field)(HD_F_vx_n0 + l), m->n[l]);
        hd_field_set(p, (enum hd_field)(HD_F_vx_as0 + l), m->as[l]);
        hd_field_set(p, (enum hd_field)(HD_F_vx_bs0 + l), m->bs[l]);
        hd_field_set(p, (enum hd_field)(HD_F_vx_ds0 + l), m->ds[l]);
        hd_field_set(p, (enum hd_field)(HD_F_vx_ps0 + l), m->ps[l]);
    }
    RIG_SET(p, vx, a_imm, m->a_imm), RIG_SET(p, vx, b_imm, m->b_imm);
    RIG_SET(p, vx, a_scale, bits_of(m->a_scale)), RIG_SET(p, vx, b_scale, bits_of(m->b_scale));
    RIG_SET(p, vx, lo, m->lo), RIG_SET(p, vx, hi, m->hi), RIG_SET(p, vx, zp, m->zp);
}

static uint32_t operand(const struct rig *r, int kind, int64_t at, int lane, int32_t imm,
                        const uint8_t *xm, const uint32_t *am) {
    int64_t i = at * r->m->n + lane;
    switch (kind) {
    case 0:
        return am[i] + (uint32_t)imm;
    case 1:
        return am[i];
    case 2:
        return (uint32_t)(int32_t)(int8_t)xm[i] + (uint32_t)imm;
    case 3:
        return xm[i] + (uint32_t)imm;
    default:
        return (uint32_t)imm;
    }
}

static float map_lane(const struct rig *r, const struct vmap *m, const int64_t *o, int lane,
                      const uint8_t *xm, const uint32_t *am, const uint8_t *pm) {
    uint32_t t = 0;
    int64_t i[4], b = m->b, p = m->p, a0 = m->a;
    bool first = true;
    for (int l = m->nred; l < 4; l++)
        b += o[l] * m->bs[l], p += o[l] * m->ps[l], a0 += o[l] * m->as[l];
    int64_t n[4];
    for (int l = 0; l < 4; l++) n[l] = l < m->nred ? m->n[l] : 1;
    for (i[3] = 0; i[3] < n[3]; i[3]++)
        for (i[2] = 0; i[2] < n[2]; i[2]++)
            for (i[1] = 0; i[1] < n[1]; i[1]++)
                for (i[0] = 0; i[0] < n[0]; i[0]++) {
                    int64_t a = a0;
                    for (int l = 0; l < m->nred; l++) a += i[l] * m->as[l];
                    uint32_t v = operand(r, m->a_kind, a, lane, m->a_imm, xm, am);
                    if (first)
                        t = v;
                    else if (m->red == 1)
                        t += v;
                    else if ((int32_t)v > (int32_t)t)
                        t = v;
                    first = false;
                }
    uint32_t bias, scale;
    memcpy(&bias, pm + p * r->m->n * 8 + lane * 8, 4);
    memcpy(&scale, pm + p * r->m->n * 8 + lane * 8 + 4, 4);
    if (m->use_bias && m->a_kind != 1) t += bias;
    float fa = (m->a_kind == 1 ? float_of(t) : (float)(int32_t)t) *
               (m->scale_pm ? float_of(scale) : m->a_scale);
    uint32_t bv = operand(r, m->b_kind, b, lane, m->b_imm, xm, am);
    float fb = (m->b_kind == 1 ? float_of(bv) : (float)(int32_t)bv) * m->b_scale;
    switch (m->alu) {
    case 1:
        return fa + fb;
    case 2:
        return fa - fb;
    case 3:
        return fa * fb;
    case 4:
        return fa > fb ? fa : fb;
    case 5:
        return fa < fb ? fa : fb;
    default:
        return fa;
    }
}

static void map_oracle(const struct rig *r, const struct vmap *m, uint8_t *xm, uint32_t *am,
                       const uint8_t *pm) {
    int64_t o[4], from[4];
    for (int l = 0; l < 4; l++) from[l] = l < m->nred ? 1 : m->n[l];
    for (o[3] = 0; o[3] < from[3]; o[3]++)
        for (o[2] = 0; o[2] < from[2]; o[2]++)
            for (o[1] = 0; o[1] < from[1]; o[1]++)
                for (o[0] = 0; o[0] < from[0]; o[0]++)
                    for (int lane = 0; lane < (int)r->m->n; lane++) {
                        float v = map_lane(r, m, o, lane, xm, am, pm);
                        int64_t d = m->d;
                        for (int l = m->nred; l < 4; l++) d += o[l] * m->ds[l];
                        double q = nearbyint((double)v) + m->zp;
                        q = q < m->lo ? m->lo : q > m->hi ? m->hi : q;
                        if (m->d_kind)
                            am[d * r->m->n + lane] = bits_of(v);
                        else
                            xm[d * r->m->n + lane] = (uint8_t)(int)q;
                    }
}

/* Finite floats in AM and PM, so that the oracle need not say which NaN. */
static void fill_floats(struct rig *r, uint8_t *p, size_t bytes, size_t step) {
    for (size_t i = 0; i + 4 <= bytes; i += step) {
        float f = (float)rig_between(r, -5000, 5000) * 0x1p-10f;
        memcpy(p + i, &f, 4);
    }
}

static void vector(void **state) {
    (void)state;
    for (int machine = 0; machine < 3; machine++) {
        struct rig r = rig_open(machine, 0);
        size_t xm_bytes, am_bytes, pm_bytes;
        uint8_t *xm = hd_iss_memory(r.iss, HD_ISS_XM, &xm_bytes),
                *pm = hd_iss_memory(r.iss, HD_ISS_PM, &pm_bytes);
        uint32_t *am = hd_iss_memory(r.iss, HD_ISS_AM, &am_bytes);
        uint8_t *want_xm = malloc(xm_bytes);
        uint32_t *want_am = malloc(am_bytes);
        for (int round = 0; round < 4 * ROUNDS; round++) {
            uint32_t p[HD_PARAM_WORDS] = {0};
            struct vmap m = random_map(&r);
            rig_fill(&r, HD_ISS_XM), rig_fill(&r, HD_ISS_PM), rig_fill(&r, HD_ISS_AM);
            if (m.a_kind == 1 || m.b_kind == 1) fill_floats(&r, (uint8_t *)am, am_bytes, 4);
            fill_floats(&r, pm + 4, pm_bytes - 4, 8);
            memcpy(want_xm, xm, xm_bytes), memcpy(want_am, am, am_bytes);
            map_oracle(&r, &m, want_xm, want_am, pm);
            map_words(&m, p);
            rig_op(&r, HD_OP_vx_map, 0, 0, p);
            rig_go(&r);
            assert_memory_equal(xm, want_xm, xm_bytes);
            assert_memory_equal(am, want_am, am_bytes);
        }
        free(want_xm), free(want_am);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load),
        cmocka_unit_test(store),
        cmocka_unit_test(weights),
        cmocka_unit_test(matrix),
        cmocka_unit_test(matrix_extremes),
        cmocka_unit_test(requantisation),
        cmocka_unit_test(vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
