/* vx.dw on the ISS against plain loops, over all window sizes and steps; its cycles; its errors. */
#include "test/unit/sim/rig.h"

#include <math.h>

enum { ROUNDS = 20 };

struct dw {
    int a_kind, d_kind, use_bias, scale_pm, n0, n2, sx;
    bool sums; /* go on from those in AM at b */
    int64_t a, b, d, p, n1, n3, as0, as2, as3, bs1, bs3, ds1, ds3, ps3;
    int32_t a_imm, lo, hi, zp;
    float a_scale;
};

static struct dw random_dw(struct rig *r, int n0, int n2, int sx) {
    struct dw o = {.n0 = n0, .n2 = n2, .sx = sx, .a_kind = (int)rig_between(r, 2, 3)};
    o.d_kind = rig_random(r) % 4 == 0, o.use_bias = rig_random(r) & 1,
    o.scale_pm = rig_random(r) & 1;
    o.n1 = rig_between(r, 1, 9), o.n3 = rig_between(r, 1, 3);
    o.as0 = rig_between(r, -4, 4), o.as2 = rig_between(r, -40, 40), o.as3 = rig_between(r, -3, 3);
    o.a = 300, o.d = 600, o.ds1 = rig_random(r) & 1 ? 3 : -3, o.ds3 = rig_random(r) & 1 ? 1 : 27;
    if (o.d_kind) o.d = 100;
    o.sums = rig_random(r) % 3 == 0, o.b = 400;
    o.bs1 = rig_between(r, -5, 5), o.bs3 = rig_between(r, -40, 40);
    o.p = 10, o.ps3 = rig_between(r, -3, 3);
    o.a_imm = (int32_t)rig_between(r, -255, 255), o.zp = (int32_t)rig_between(r, -128, 255);
    o.lo = rig_random(r) & 1 ? -128 : 0, o.hi = o.lo + 255;
    o.a_scale = (float)rig_between(r, -1000, 1000) * 0x1p-18f;
    return o;
}

static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static void dw_words(const struct dw *o, uint32_t *p) {
    RIG_SET(p, vx, a_kind, o->a_kind), RIG_SET(p, vx, b_kind, o->sums ? 0 : 4);
    RIG_SET(p, vx, b, o->b), RIG_SET(p, vx, bs1, o->bs1), RIG_SET(p, vx, bs3, o->bs3);
    RIG_SET(p, vx, d_kind, o->d_kind), RIG_SET(p, vx, use_bias, o->use_bias);
    RIG_SET(p, vx, scale_pm, o->scale_pm), RIG_SET(p, vx, sx, o->sx);
    RIG_SET(p, vx, a, o->a), RIG_SET(p, vx, d, o->d), RIG_SET(p, vx, p, o->p);
    RIG_SET(p, vx, n0, o->n0), RIG_SET(p, vx, n1, o->n1), RIG_SET(p, vx, n2, o->n2);
    RIG_SET(p, vx, n3, o->n3), RIG_SET(p, vx, as0, o->as0), RIG_SET(p, vx, as2, o->as2);
    RIG_SET(p, vx, as3, o->as3), RIG_SET(p, vx, ds1, o->ds1), RIG_SET(p, vx, ds3, o->ds3);
    RIG_SET(p, vx, ps3, o->ps3), RIG_SET(p, vx, a_imm, o->a_imm), RIG_SET(p, vx, lo, o->lo);
    RIG_SET(p, vx, hi, o->hi), RIG_SET(p, vx, zp, o->zp),
        RIG_SET(p, vx, a_scale, bits_of(o->a_scale));
    RIG_SET(p, vx, bs0, 78), RIG_SET(p, vx, bs2, 79);
    RIG_SET(p, vx, as1, 77), RIG_SET(p, vx, ds0, 99), RIG_SET(p, vx, ps1, 5); /* not used */
}

static float dw_lane(const struct rig *r, const struct dw *o, int64_t x, int64_t i3, int64_t lane,
                     const uint8_t *xm, const float *am, const uint8_t *pm) {
    int64_t lanes = r->m->n, p = o->p + i3 * o->ps3;
    int32_t t = 0, bias;
    float scale = o->a_scale;
    if (o->sums) memcpy(&t, &am[(o->b + x * o->bs1 + i3 * o->bs3) * lanes + lane], 4);
    for (int ky = 0; ky < o->n2; ky++)
        for (int kx = 0; kx < o->n0; kx++) {
            int64_t at = o->a + (x * o->sx + kx) * o->as0 + ky * o->as2 + i3 * o->as3;
            uint8_t byte = xm[at * lanes + lane];
            int tap = ky * o->n0 + kx;
            int8_t w = (int8_t)pm[((p + 1) * 8 + tap) * lanes + lane];
            int32_t one = ((o->a_kind == 2 ? (int8_t)byte : byte) + o->a_imm) * w;
            t = (int32_t)((uint32_t)t + (uint32_t)one);
        }
    memcpy(&bias, pm + (p * lanes + lane) * 8, 4);
    if (o->use_bias) t = (int32_t)((uint32_t)t + (uint32_t)bias);
    if (o->scale_pm) memcpy(&scale, pm + (p * lanes + lane) * 8 + 4, 4);
    return (float)t * scale;
}

static void dw_oracle(const struct rig *r, const struct dw *o, uint8_t *xm, float *am,
                      const uint8_t *pm) {
    for (int64_t i3 = 0; i3 < o->n3; i3++)
        for (int64_t x = 0; x < o->n1; x++)
            for (int64_t lane = 0; lane < r->m->n; lane++) {
                int64_t d = (o->d + x * o->ds1 + i3 * o->ds3) * r->m->n + lane;
                float v = dw_lane(r, o, x, i3, lane, xm, am, pm);
                double q = nearbyint((double)v) + o->zp;
                q = q < o->lo ? o->lo : q > o->hi ? o->hi : q;
                if (o->d_kind)
                    am[d] = v;
                else
                    xm[d] = (uint8_t)(int)q;
            }
}

static void fill_pm(struct rig *r) {
    size_t bytes;
    uint8_t *pm = hd_iss_memory(r->iss, HD_ISS_PM, &bytes);
    rig_fill(r, HD_ISS_PM);
    for (int word = 4; word <= 16; word++) /* those that random_dw takes as first words */
        for (size_t i = 0; i < r->m->n; i++) {
            float f = (float)rig_between(r, -5000, 5000) * 0x1p-20f;
            memcpy(pm + ((size_t)word * r->m->n + i) * 8 + 4, &f, 4);
        }
}

static void against_loops(int machine, int n0, int n2, int sx) {
    struct rig r = rig_open(machine, 0);
    size_t xm_bytes, am_bytes;
    uint8_t *xm = hd_iss_memory(r.iss, HD_ISS_XM, &xm_bytes);
    float *am = hd_iss_memory(r.iss, HD_ISS_AM, &am_bytes);
    uint8_t *want_xm = malloc(xm_bytes);
    float *want_am = malloc(am_bytes);
    r.rng += (uint64_t)(n0 * 100 + n2 * 10 + sx);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t p[HD_PARAM_WORDS] = {0};
        struct dw o = random_dw(&r, n0, n2, sx);
        rig_fill(&r, HD_ISS_XM), rig_fill(&r, HD_ISS_AM), fill_pm(&r);
        memcpy(want_xm, xm, xm_bytes), memcpy(want_am, am, am_bytes);
        dw_oracle(&r, &o, want_xm, want_am, rig_memory(&r, HD_ISS_PM));
        dw_words(&o, p);
        rig_op(&r, HD_OP_vx_dw, 0, 0, p);
        rig_go(&r);
        assert_memory_equal(xm, want_xm, xm_bytes);
        assert_memory_equal(am, want_am, am_bytes);
    }
    free(want_xm), free(want_am);
    rig_close(&r);
}

static void windows(void **state) {
    (void)state;
    for (int n0 = 1; n0 <= 3; n0++)
        for (int n2 = 1; n2 <= 4; n2++)
            for (int sx = 1; sx <= 3; sx++)
                for (int machine = 0; machine < 3; machine++) against_loops(machine, n0, n2, sx);
}

/* The smallest legal operation, as words. */
static void plain(uint32_t *p) {
    struct dw o = {.n0 = 3, .n2 = 3, .sx = 1, .a_kind = 2, .n1 = 10, .n3 = 2, .as0 = 1, .as2 = 12};
    o.as3 = 36, o.d = 500, o.ds1 = 1, o.ds3 = 10, o.ps3 = 3, o.lo = -128, o.hi = 127;
    dw_words(&o, p);
}

/* One input vector a cycle, on top of what an operation takes for itself. */
static void cycles(void **state) {
    (void)state;
    const int t[][5] = {/* n0, n1, n2, n3, sx */
                        {2, 1, 1, 1, 1},
                        {3, 10, 3, 2, 1},
                        {3, 10, 3, 2, 2},
                        {2, 100, 4, 1, 3}};
    uint32_t first = 0;
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct rig r = rig_open(1, 0);
        uint32_t p[HD_PARAM_WORDS] = {0};
        plain(p);
        RIG_SET(p, vx, n0, t[i][0]), RIG_SET(p, vx, n1, t[i][1]), RIG_SET(p, vx, n2, t[i][2]);
        RIG_SET(p, vx, n3, t[i][3]), RIG_SET(p, vx, sx, t[i][4]);
        rig_op(&r, HD_OP_vx_dw, 0, 0, p);
        rig_go(&r);
        uint32_t busy = hd_iss_reg_read(r.iss, HD_REG_busy + 8 * HD_UNIT_vx);
        uint32_t reads = (uint32_t)(t[i][3] * t[i][2] * ((t[i][1] - 1) * t[i][4] + t[i][0]));
        if (i == 0) first = busy - 2;
        assert_int_equal(busy, first + reads);
        rig_close(&r);
    }
}

static void errors(void **state) {
    (void)state;
    const struct {
        enum hd_field field;
        int64_t value;
        unsigned want;
    } t[] = {
        {HD_F_vx_n0, 0, HD_ERR_operand},       {HD_F_vx_n0, 4, HD_ERR_operand},
        {HD_F_vx_n1, 0, HD_ERR_operand},       {HD_F_vx_n2, 0, HD_ERR_operand},
        {HD_F_vx_n2, 4, HD_ERR_none},          {HD_F_vx_n2, 5, HD_ERR_operand},
        {HD_F_vx_n3, 0, HD_ERR_operand},       {HD_F_vx_sx, 0, HD_ERR_operand},
        {HD_F_vx_sx, 3, HD_ERR_none},          {HD_F_vx_a_kind, 0, HD_ERR_operand},
        {HD_F_vx_a_kind, 4, HD_ERR_operand},   {HD_F_vx_a_kind, 3, HD_ERR_none},
        {HD_F_vx_b_kind, 0, HD_ERR_none},      {HD_F_vx_b_kind, 1, HD_ERR_operand},
        {HD_F_vx_b_kind, 2, HD_ERR_operand},   {HD_F_vx_b_kind, 5, HD_ERR_operand},
        {HD_F_vx_alu, 1, HD_ERR_operand},      {HD_F_vx_red, 1, HD_ERR_operand},
        {HD_F_vx_nred, 1, HD_ERR_operand},     {HD_F_vx_d_kind, 3, HD_ERR_operand},
        {HD_F_vx_a_imm, 255, HD_ERR_none},     {HD_F_vx_a_imm, 256, HD_ERR_operand},
        {HD_F_vx_a_imm, -256, HD_ERR_operand}, {HD_F_vx_a, 8192 - 72, HD_ERR_none},
        {HD_F_vx_a, 8192 - 71, HD_ERR_range},  {HD_F_vx_as0, -1, HD_ERR_range},
        {HD_F_vx_d, 8192 - 20, HD_ERR_none},   {HD_F_vx_d, 8192 - 19, HD_ERR_range},
        {HD_F_vx_ds3, -600, HD_ERR_range},     {HD_F_vx_p, 256 - 6, HD_ERR_none},
        {HD_F_vx_p, 256 - 5, HD_ERR_range},    {HD_F_vx_ps3, -1, HD_ERR_range},
    };
    assert_int_equal(hd_machines[1].xm_bytes / hd_machines[1].n, 8192);
    assert_int_equal(hd_pm_words(&hd_machines[1]), 256);
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct rig r = rig_open(1, 0);
        uint32_t p[HD_PARAM_WORDS] = {0};
        plain(p);
        hd_field_set(p, t[i].field, t[i].value);
        uint32_t pc = rig_op(&r, HD_OP_vx_dw, 0, 0, p);
        rig_end(&r);
        assert_int_equal(rig_run(&r), t[i].want);
        if (t[i].want) {
            assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_error_unit), HD_UNIT_vx);
            assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_error_pc), pc);
        }
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows),
        cmocka_unit_test(cycles),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
