/* Random programs of the vector unit, on the ISS and on the Verilated RTL: memory must come out bit
 * for bit the same, cycles close.
 *
 *   random_vx [--seed S] [--count N] [--machine NAME] [--latency L]
 *
 * A program fills XM and PM from the image, runs vector operations, mostly vx.dw, each on the
 * results of those before and under sums of the matrix unit, and stores all of XM. Models are
 * looked for in $HEDDLE_RTL_DIR, else in build/rtl. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/iss.h"
#include "sim/rtl_model.h"
#include "test/rng.h"

enum { CODE_WORDS = 16384, DATA = CODE_WORDS * 4, OPS = 12 };
#define IMAGE_AT UINT64_C(0x123456000)
#define ARENA_AT UINT64_C(0x9abcde000)

struct prog {
    const struct hd_machine *m;
    struct rng rng;
    uint32_t image_bytes, arena_bytes, n;
    uint32_t *code; /* the image: program, then data */
    bool used[HD_UNITS];
};

static int64_t between(struct prog *p, int64_t lo, int64_t hi) {
    return rng_range(&p->rng, lo, hi);
}

/* ---- programs ------------------------------------------------------------------------------- */

static void put(struct prog *p, enum hd_opcode o, const uint32_t *words) {
    struct hd_op_word op = {.unit = (uint8_t)hd_isa_ops[o].unit,
                            .code = (uint8_t)hd_isa_ops[o].code};
    if (words) {
        op.set = (UINT32_C(1) << hd_isa_units[op.unit].n_words) - 1;
        memcpy(op.lit, words, sizeof op.lit);
    }
    int len = hd_op_encode(&op, p->code + p->n + 1);
    p->code[p->n] = hd_bundle_head(1u << op.unit);
    p->n += (uint32_t)len + 1;
}

#define SET(unit, field, value) hd_field_set(w, HD_F_##unit##_##field, (value))

static void fill(struct prog *p) {
    uint32_t w[HD_PARAM_WORDS] = {0};
    SET(lx, src, DATA), SET(lx, run, p->m->xm_bytes);
    SET(lx, n1, 1), SET(lx, n2, 1), SET(lx, n3, 1);
    put(p, HD_OP_lx_load, w);
    memset(w, 0, sizeof w);
    SET(lw, mem, 1), SET(lw, src, DATA + p->m->xm_bytes), SET(lw, count, hd_pm_words(p->m));
    SET(lw, n1, 1);
    put(p, HD_OP_lw_load, w);
    put(p, HD_OP_seq_barrier, NULL);
}

static void drain(struct prog *p) {
    uint32_t w[HD_PARAM_WORDS] = {0};
    put(p, HD_OP_seq_barrier, NULL);
    SET(st, seg, 1), SET(st, run, p->m->xm_bytes);
    SET(st, n1, 1), SET(st, n2, 1), SET(st, n3, 1);
    put(p, HD_OP_st_store, w);
    put(p, HD_OP_seq_halt, NULL);
    p->code[0] = HD_PROG_MAGIC;
    p->code[1] = hd_isa_hash();
    p->code[2] = hd_machine_hash(p->m);
    p->code[3] = p->n;
}

static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* Scale, zero point and clamp of a result. */
static void requant(struct prog *p, uint32_t *w) {
    SET(vx, use_bias, rng_next(&p->rng) & 1), SET(vx, scale_pm, rng_next(&p->rng) & 1);
    SET(vx, a_scale, bits_of((float)between(p, -1000, 1000) * 0x1p-18f));
    bool u = rng_next(&p->rng) & 1;
    SET(vx, lo, u ? 0 : -128), SET(vx, hi, u ? 255 : 127);
    SET(vx, zp, between(p, -128, 255));
}

/* First of `span` vectors in one half of XM (so that a result is never an input), in an order that
 * step says. */
static int64_t place(struct prog *p, int half, int64_t size, int64_t down, int64_t up) {
    return between(p, half * size + down, (half + 1) * size - 1 - up);
}

static int64_t up_of(int64_t n, int64_t step) {
    return step > 0 ? (n - 1) * step : 0;
}
static int64_t down_of(int64_t n, int64_t step) {
    return step < 0 ? (1 - n) * step : 0;
}

static void dw(struct prog *p) {
    uint32_t w[HD_PARAM_WORDS] = {0};
    int64_t xm = p->m->xm_bytes / p->m->n / 2, pm = hd_pm_words(p->m);
    int64_t n0 = between(p, 1, 3), n2 = between(p, 1, 4), sx = between(p, 1, 3);
    int64_t n1 = rng_next(&p->rng) % 4 ? between(p, 1, 12) : between(p, 1, 60),
            n3 = between(p, 1, 4);
    bool pairs = sx == 2 && n0 >= 2 && rng_next(&p->rng) % 4;
    int64_t cols = pairs ? n1 + n0 - 2 : (n1 - 1) * sx + n0, words = 1 + (n0 * n2 + 7) / 8;
    int64_t as0 = between(p, -3, 3), as2 = between(p, -90, 90), as3 = between(p, -8, 8);
    int64_t ds3 = rng_next(&p->rng) & 1 ? 1 : n1 * 2, ds1 = ds3 == 1 ? 5 : 2,
            ps3 = between(p, -4, 4);
    int64_t down = down_of(cols, as0) + down_of(n2, as2) + down_of(n3, as3);
    int64_t up = up_of(cols, as0) + up_of(n2, as2) + up_of(n3, as3);
    int half = (int)(rng_next(&p->rng) & 1);
    bool am = rng_next(&p->rng) % 8 == 0;
    requant(p, w);
    SET(vx, a_kind, between(p, 2, 3)), SET(vx, b_kind, 4), SET(vx, sx, sx);
    SET(vx, a, place(p, half, xm, down, up)), SET(vx, d_kind, am);
    SET(vx, d, am ? between(p, 0, 200) : place(p, !half, xm, 0, (n1 - 1) * ds1 + (n3 - 1) * ds3));
    SET(vx, p, place(p, 0, pm, down_of(n3, ps3), up_of(n3, ps3) + words - 1));
    SET(vx, n0, n0), SET(vx, n1, n1), SET(vx, n2, n2), SET(vx, n3, n3);
    SET(vx, as0, as0), SET(vx, as2, as2), SET(vx, as3, as3), SET(vx, as1, 99);
    SET(vx, ds1, ds1), SET(vx, ds3, ds3), SET(vx, ps3, ps3), SET(vx, ps0, 3);
    SET(vx, a_imm, between(p, -255, 255));
    if (pairs) { /* B: like A, so that both fit there; by chance in its bank or in another */
        SET(vx, b_kind, hd_field_get(w, HD_F_vx_a_kind));
        SET(vx, b, place(p, half, xm, down, up));
        SET(vx, bs0, as0), SET(vx, bs2, as2), SET(vx, bs3, as3);
    }
    if (!pairs && rng_next(&p->rng) % 2) { /* go on from sums, in place where the result is in AM */
        int64_t at = between(p, 0, 200);
        SET(vx, b_kind, 0), SET(vx, b, am ? hd_field_get(w, HD_F_vx_d) : at);
        SET(vx, bs0, 7), SET(vx, bs1, ds1), SET(vx, bs2, 9), SET(vx, bs3, ds3);
    }
    put(p, HD_OP_vx_dw, w);
}

/* A map from XM or AM, with or without a second operand and a reduction. */
static void map(struct prog *p) {
    uint32_t w[HD_PARAM_WORDS] = {0};
    int64_t size = p->m->xm_bytes / p->m->n / 2, a_kind = between(p, 0, 3);
    int64_t n0 = between(p, 1, 9), n1 = between(p, 1, 9), red = a_kind == 1 ? 0 : between(p, 0, 2);
    int half = (int)(rng_next(&p->rng) & 1);
    requant(p, w);
    SET(vx, a_kind, a_kind), SET(vx, b_kind, 4), SET(vx, red, red), SET(vx, nred, red ? 1 : 0);
    if (rng_next(&p->rng) & 1) {
        SET(vx, b_kind, 2), SET(vx, alu, between(p, 1, 5)), SET(vx, b_imm, between(p, -128, 127));
        SET(vx, b, place(p, half, size, 0, 200)), SET(vx, b_scale, bits_of(0.25f));
        SET(vx, bs0, 1), SET(vx, bs1, between(p, 0, 9));
    }
    SET(vx, a, a_kind < 2 ? between(p, 0, 200) : place(p, half, size, 0, 200));
    SET(vx, d, place(p, !half, size, 0, 200)), SET(vx, p, between(p, 0, 20));
    SET(vx, n0, n0), SET(vx, n1, n1), SET(vx, n2, 1), SET(vx, n3, 1);
    SET(vx, as0, 1), SET(vx, as1, n0), SET(vx, ds0, red ? 0 : 1), SET(vx, ds1, n0);
    put(p, HD_OP_vx_map, w);
}

/* A sum that nobody looks at: it takes banks of XM from the vector unit meanwhile. */
static void gemm(struct prog *p) {
    uint32_t w[HD_PARAM_WORDS] = {0};
    int64_t words = p->m->xm_bytes / p->m->k, n0 = between(p, 1, 30), n1 = between(p, 1, 40);
    SET(mx, nred, 6), SET(mx, a, 1000), SET(mx, x, between(p, 0, words - 1200));
    SET(mx, n0, n0), SET(mx, xs0, 1), SET(mx, n1, n1), SET(mx, xs1, between(p, 0, 29));
    SET(mx, n2, 1), SET(mx, n3, 1), SET(mx, n4, 1), SET(mx, n5, 1);
    put(p, HD_OP_mx_gemm, w);
}

/* Data: bytes, and in PM floats of a useful size beside them (the same bytes serve as taps). */
static void random_data(struct prog *p) {
    uint8_t *data = (uint8_t *)p->code + DATA;
    for (uint32_t i = 0; i < p->m->xm_bytes + p->m->pm_bytes; i++)
        data[i] = (uint8_t)rng_next(&p->rng);
    for (uint32_t i = p->m->xm_bytes; i < p->m->xm_bytes + p->m->pm_bytes; i += 8) {
        uint32_t scale = bits_of((float)between(p, -2047, 2047) * 0x1.5p-22f);
        int32_t bias = (int32_t)between(p, -20000, 20000);
        memcpy(data + i + 4, &scale, 4);
        if (rng_next(&p->rng) & 1) memcpy(data + i, &bias, 4);
    }
}

static void random_program(struct prog *p) {
    p->n = HD_PROG_HEADER_WORDS;
    random_data(p);
    fill(p);
    for (int i = 0; i < OPS; i++) {
        if (rng_next(&p->rng) & 1) gemm(p);
        if (rng_next(&p->rng) % 4)
            dw(p);
        else
            map(p);
    }
    drain(p);
}

/* ---- machines ------------------------------------------------------------------------------- */

struct result {
    uint32_t error, error_pc;
    uint64_t cycles, busy;
    uint8_t *arena;
};

struct iss_or_rtl {
    hd_iss *iss;
    struct hd_rtl *rtl;
    const struct hd_rtl_api *api;
};

static void reg_write(struct iss_or_rtl *d, uint32_t offset, uint32_t v) {
    if (d->iss)
        hd_iss_reg_write(d->iss, offset, v);
    else
        d->api->reg_write(d->rtl, offset, v);
}
static uint32_t reg_read(struct iss_or_rtl *d, uint32_t offset) {
    return d->iss ? hd_iss_reg_read(d->iss, offset) : d->api->reg_read(d->rtl, offset);
}

/* Runs the program; false when it cannot be run at all. */
static bool run(const struct prog *p, const struct hd_rtl_api *api, uint32_t latency,
                struct result *r) {
    struct hd_mem_config cfg = {latency, hd_axi_bytes(p->m), HD_DEFAULT_mem_outstanding, 0};
    hd_axi_mem *mem = hd_axi_mem_create(hd_axi_bytes(p->m), &cfg);
    const struct hd_rtl_memory port = {mem, hd_axi_mem_reset, hd_axi_mem_step};
    struct iss_or_rtl d = {.api = api};
    if (!mem) return false;
    if (api)
        d.rtl = api->create(&port);
    else
        d.iss = hd_iss_create(p->m, mem);
    if (!d.rtl && !d.iss) return false;
    r->arena = calloc(1, p->arena_bytes);
    hd_axi_mem_region(mem, 0, IMAGE_AT, p->code, p->image_bytes);
    hd_axi_mem_region(mem, 1, ARENA_AT, r->arena, p->arena_bytes);
    const uint32_t regs[][2] = {
        {HD_REG_image_ptr, (uint32_t)IMAGE_AT},
        {HD_REG_image_ptr + 4, IMAGE_AT >> 32},
        {HD_REG_arena_ptr, (uint32_t)ARENA_AT},
        {HD_REG_arena_ptr + 4, ARENA_AT >> 32},
        {HD_REG_image_bytes, p->image_bytes},
        {HD_REG_arena_bytes, p->arena_bytes},
        {HD_REG_watchdog, 100000},
        {HD_REG_ap_ctrl, 1},
    };
    for (size_t i = 0; i < sizeof regs / sizeof regs[0]; i++) reg_write(&d, regs[i][0], regs[i][1]);
    if (api)
        api->run(d.rtl, 0);
    else
        hd_iss_run(d.iss, 0);
    r->error = reg_read(&d, HD_REG_error), r->error_pc = reg_read(&d, HD_REG_error_pc);
    r->cycles = reg_read(&d, HD_REG_cycles);
    r->busy = reg_read(&d, HD_REG_busy + 8 * HD_UNIT_vx);
    if (api)
        api->destroy(d.rtl);
    else
        hd_iss_destroy(d.iss);
    hd_axi_mem_destroy(mem);
    return true;
}

static void differ(const struct prog *p, const struct result *iss, const struct result *rtl,
                   uint64_t seed) {
    uint32_t i = 0;
    while (i < p->arena_bytes && iss->arena[i] == rtl->arena[i]) i++;
    printf("seed %" PRIu64 ": iss error %u at %u, rtl error %u at %u", seed, iss->error,
           iss->error_pc, rtl->error, rtl->error_pc);
    if (i < p->arena_bytes)
        printf("; XM byte %u (vector %u): iss %u, rtl %u", i, i / p->m->n, iss->arena[i],
               rtl->arena[i]);
    char *text;
    hd_ctx *ctx = hd_ctx_create();
    if (hd_disasm(ctx, p->code, p->n, &text) == HD_OK) {
        printf("\n%s", text);
        free(text);
    }
    hd_ctx_destroy(ctx);
}

static const struct hd_rtl_api *load(const struct hd_machine *m) {
    const char *dir = getenv("HEDDLE_RTL_DIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/libhd_rtl_%s.so", dir && *dir ? dir : "build/rtl", m->name);
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct hd_rtl_api *api = lib ? dlsym(lib, "hd_rtl_api") : NULL;
    if (api && api->abi == HD_RTL_ABI && api->axi_bytes == hd_axi_bytes(m)) return api;
    printf("no model %s of this version; run 'make rtl-%s'\n", path, m->name);
    return NULL;
}

struct worst {
    double busy, cycles;
};

static void keep_worst(double *worst, uint64_t iss, uint64_t rtl) {
    double e = 100 * ((double)iss / (double)rtl - 1);
    if (e * e > *worst * *worst) *worst = e;
}

static int compare(struct prog *p, const struct hd_rtl_api *api, uint32_t latency, uint64_t seed,
                   struct worst *worst) {
    struct result iss, rtl;
    p->rng.s = seed;
    random_program(p);
    if (!run(p, NULL, latency, &iss) || !run(p, api, latency, &rtl)) return 2;
    bool same = !iss.error && !rtl.error && !memcmp(iss.arena, rtl.arena, p->arena_bytes);
    if (!same) differ(p, &iss, &rtl, seed);
    keep_worst(&worst->cycles, iss.cycles, rtl.cycles);
    keep_worst(&worst->busy, iss.busy, rtl.busy);
    free(iss.arena), free(rtl.arena);
    return same ? 0 : 1;
}

int main(int argc, char **argv) {
    uint64_t seed = 1, count = 20;
    uint32_t latency = HD_DEFAULT_mem_latency;
    const char *machine = "tiny";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--seed")) seed = strtoull(argv[i + 1], NULL, 0);
        if (!strcmp(argv[i], "--count")) count = strtoull(argv[i + 1], NULL, 0);
        if (!strcmp(argv[i], "--latency")) latency = (uint32_t)strtoul(argv[i + 1], NULL, 0);
        if (!strcmp(argv[i], "--machine")) machine = argv[i + 1];
    }
    struct prog p = {0};
    for (int i = 0; i < hd_n_machines; i++)
        if (!strcmp(hd_machines[i].name, machine)) p.m = &hd_machines[i];
    const struct hd_rtl_api *api = p.m ? load(p.m) : NULL;
    if (!api) return 2;
    p.arena_bytes = p.m->xm_bytes;
    p.image_bytes = DATA + p.m->xm_bytes + p.m->pm_bytes;
    p.code = calloc(1, p.image_bytes);
    struct worst worst = {0, 0};
    int bad = 0;
    for (uint64_t i = 0; i < count && !bad; i++) bad = compare(&p, api, latency, seed + i, &worst);
    printf("%s: %" PRIu64 " programs from seed %" PRIu64 " on %s: VX busy off by %.2f %% at most, "
           "cycles by %.2f %%\n",
           bad ? "FAILED" : "ok", count, seed, machine, worst.busy, worst.cycles);
    free(p.code);
    return bad;
}
