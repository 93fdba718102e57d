/* Random legal programs on two machines, iss and rtl, under random memory timing: the arena, all of
 * XM and AM must be equal at the end, and of programs with one illegal operand or a deadlock the
 * whole report. A program that differs is shrunk to the fewest operations that still do.
 *
 *   cosim [--seed S] [--count N] [--machine NAME] [--print] [--coverage]
 *         [--timing [--latency L] [--bytes B]] [--bad]
 *
 * --coverage ends in a table of operations and modes; of COVERED_BY programs or more it fails when
 * one is missed without a reason. --timing compares cycles instead: see timing.h.
 * --bad puts random words into programs: both must report the same error, with unit and place.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/check/check.h"
#include "compiler/search/search.h"
#include "runtime/device/hal.h"
#include "test/cosim/cover.h"
#include "test/cosim/program.h"
#include "test/cosim/timing.h"
#include "test/rng.h"

enum { COVERED_BY = 1000 };
/* Random programs take the same cycles on both, see docs/hw.md; under jitter one cycle less would
 * draw other delays from there on. */
#define CYCLES_OFF_MAX 0.001
#define CYCLES_FREE    4

enum { CODE_OFFSET = 8192, WATCHDOG = 20000, MAX_CYCLES = 1 << 20, TEXT_BYTES = 4096 };

struct cosim {
    hd_ctx *ctx;
    struct hd_machine m;
    uint64_t seed;
    uint32_t words[MAX_WORDS];
    uint8_t *start, *got[2]; /* arenas */
    size_t arena_bytes;
    char text[2][TEXT_BYTES]; /* "" or the device's report */
    uint64_t cycles[2];
    struct hd_counters counted[2]; /* without layers */
    uint64_t written[2][MAX_OPS];  /* bytes, by layer: each operation is one */
    uint64_t told[2][HD_UNITS];    /* hash of the operations that the probe was told */
    bool steady;                   /* memory without jitter, as `mem` has it */
    struct hd_mem_options mem;
    char why[TEXT_BYTES];
};

static const char *const devices[2] = {"iss", "rtl"};
enum { BUSY, STALL_SEM, STALL_MEM, STALL_BANK, COUNTERS };
static const char *const counter_names[COUNTERS] = {"busy", "stall_sem", "stall_mem", "stall_bank"};

static void fatal(struct cosim *x, const char *what) {
    fprintf(stderr, "cosim: %s: %s\n", what, hd_message(x->ctx));
    exit(2);
}

static uint32_t mix(uint64_t s) {
    s = (s ^ (s >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    s = (s ^ (s >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(s >> 32);
}

/* ---- one run --------------------------------------------------------------------------------- */

static hd_model *make_model(struct cosim *x, const uint32_t *words, size_t n) {
    hd_model *m = hd_model_create();
    m->name = "random";
    m->machine = x->m;
    m->isa_hash = hd_isa_hash();
    m->machine_hash = hd_machine_hash(&x->m);
    m->image_bytes = CODE_OFFSET + n * 4;
    m->image = hd_alloc(m->arena, m->image_bytes);
    for (size_t i = 0; i < CODE_OFFSET; i++) ((uint8_t *)m->image)[i] = (uint8_t)mix(i + x->seed);
    memcpy((uint8_t *)m->image + CODE_OFFSET, words, n * 4);
    m->arena_bytes = x->arena_bytes;
    m->n_steps = 1;
    m->steps = hd_new(m->arena, struct hd_step);
    m->steps[0].kind = HD_STEP_PROG;
    m->steps[0].code_offset = CODE_OFFSET;
    m->steps[0].code_bytes = (uint32_t)n * 4;
    return m;
}

/* The report without what may differ: name of the device, cycle. */
static void report(struct cosim *x, int d) {
    const char *from = hd_message(x->ctx), *colon = strstr(from, "step 0: ");
    snprintf(x->text[d], TEXT_BYTES, "%s", colon ? colon : from);
    char *cycle = strstr(x->text[d], ", cycle ");
    if (!cycle) return;
    char *end = cycle + strlen(", cycle ");
    end += strspn(end, "0123456789");
    memmove(cycle, end, strlen(end) + 1);
}

/* A layer is not looked at: of a nop the RTL does not show it. */
static void tell(void *user, const struct hd_op_record *r) {
    const uint64_t all[] = {r->pc, r->take, r->start, r->oldest, r->end};
    uint64_t *h = (uint64_t *)user + r->unit;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *h = (*h ^ all[i]) * UINT64_C(0x9e3779b97f4a7c15);
}

static void run_device(struct cosim *x, const hd_model *m, int d) {
    const struct hd_device_ops *ops = hd_device_by_scheme(devices[d]);
    struct hd_device_options o = {
        .machine = x->m, .watchdog_cycles = WATCHDOG, .max_cycles = MAX_CYCLES};
    const struct hd_probe probe = {.user = x->told[d], .op = tell};
    memset(x->told[d], 0, sizeof x->told[d]);
    if (mix(x->seed + 31) % 8 == 0) o.probe = &probe;
    uint32_t r = mix(x->seed * 3 + 1);
    if (x->steady) {
        o.mem = x->mem;
    } else if (r % 3) { /* else the default memory */
        o.mem.latency = 1 + r / 3 % 90;
        o.mem.outstanding = 1 + r / 300 % 20;
        o.mem.bytes_per_cycle = 4 + r / 6000 % 64;
        o.mem.jitter = true;
        o.mem.jitter_seed = r;
    }
    hd_device *dev;
    hd_exec *e;
    hd_buffer arena;
    hd_fence fence = 0;
    struct hd_counters k;
    if (ops->open(x->ctx, &o, &dev) || ops->alloc(x->ctx, dev, x->arena_bytes, &arena) ||
        ops->write(x->ctx, dev, arena, 0, x->start, x->arena_bytes) ||
        ops->load(x->ctx, dev, m, 0, &e) || ops->submit(x->ctx, dev, e, &arena, &fence))
        fatal(x, devices[d]);
    x->text[d][0] = 0;
    if (ops->wait(x->ctx, dev, fence, UINT64_MAX) != HD_OK) report(x, d);
    hd_clear(x->ctx);
    if (ops->counters(x->ctx, dev, &k) ||
        ops->read(x->ctx, dev, arena, 0, x->got[d], x->arena_bytes))
        fatal(x, devices[d]);
    x->cycles[d] = k.cycles;
    x->counted[d] = k;
    x->counted[d].layers = NULL;
    for (int i = 0; i < MAX_OPS; i++)
        x->written[d][i] = i < k.n_layers ? k.layers[i].write_bytes : 0;
    ops->unload(dev, e);
    ops->close(dev);
}

static void where_differs(struct cosim *x) {
    size_t at = 0;
    while (x->got[0][at] == x->got[1][at]) at++;
    size_t xm = SHARED_BYTES, am = xm + x->m.xm_bytes;
    snprintf(x->why, sizeof x->why, "%s byte 0x%zx: iss 0x%02x, rtl 0x%02x",
             at < xm   ? "arena"
             : at < am ? "XM"
                       : "AM view",
             at < xm   ? at
             : at < am ? at - xm
                       : at - am,
             x->got[0][at], x->got[1][at]);
}

/* How far apart the cycles are, as a share; a few at the ends of short programs are none. */
static double cycles_off(const struct cosim *x) {
    double iss = (double)x->cycles[0], rtl = (double)x->cycles[1];
    return fmax(fabs(iss - rtl) - CYCLES_FREE, 0) / rtl;
}

/* The ISS counts of SEQ stall_sem alone, and a cycle more now and then while VX ends. */
static bool is_exact(int unit, int counter) {
    if (unit == HD_UNIT_seq) return counter == STALL_SEM;
    return unit != HD_UNIT_vx || counter != BUSY;
}

/* What the registers count, where the cycles are the same. */
static void compare_counters(struct cosim *x) {
    const struct hd_counters *a = &x->counted[0], *b = &x->counted[1];
    if (a->read_bytes != b->read_bytes || a->write_bytes != b->write_bytes ||
        a->code_bytes != b->code_bytes)
        snprintf(x->why, sizeof x->why,
                 "bytes differ: iss %llu read, %llu written, %llu of code; "
                 "rtl %llu, %llu, %llu",
                 (unsigned long long)a->read_bytes, (unsigned long long)a->write_bytes,
                 (unsigned long long)a->code_bytes, (unsigned long long)b->read_bytes,
                 (unsigned long long)b->write_bytes, (unsigned long long)b->code_bytes);
    for (int u = 0; u < HD_UNITS; u++) {
        const uint64_t v[2][COUNTERS] = {
            {a->unit[u].busy, a->unit[u].stall_sem, a->unit[u].stall_mem, a->unit[u].stall_bank},
            {b->unit[u].busy, b->unit[u].stall_sem, b->unit[u].stall_mem, b->unit[u].stall_bank}};
        for (int i = 0; i < COUNTERS; i++)
            if (v[0][i] != v[1][i] && is_exact(u, i))
                snprintf(x->why, sizeof x->why, "counter %s of %s: iss %llu, rtl %llu",
                         counter_names[i], hd_isa_units[u].name, (unsigned long long)v[0][i],
                         (unsigned long long)v[1][i]);
    }
}

/* True when both machines did the same, and what this kind of program must do. */
static bool same(struct cosim *x, const struct program *p, enum kind kind) {
    size_t n = program_emit(p, x->words);
    hd_model *m = make_model(x, x->words, n);
    for (int d = 0; d < 2; d++) run_device(x, m, d);
    hd_model_destroy(m);
    x->why[0] = 0;
    if (strcmp(x->text[0], x->text[1]))
        snprintf(x->why, sizeof x->why, "reports differ:\niss: %.1900s\nrtl: %.1900s", x->text[0],
                 x->text[1]);
    else if (kind == KIND_LEGAL && *x->text[0])
        snprintf(x->why, sizeof x->why, "a legal program fails on both: %.3000s", x->text[0]);
    else if (!*x->text[0] && memcmp(x->got[0], x->got[1], x->arena_bytes))
        where_differs(x);
    else if (!*x->text[0] && memcmp(x->written[0], x->written[1], sizeof x->written[0]))
        snprintf(x->why, sizeof x->why, "bytes written belong to other layers");
    else if (!*x->text[0] && x->cycles[0] == x->cycles[1] &&
             memcmp(x->told[0], x->told[1], sizeof x->told[0]))
        snprintf(x->why, sizeof x->why, "records of operations differ");
    else if (!*x->text[0] && cycles_off(x) > CYCLES_OFF_MAX)
        snprintf(x->why, sizeof x->why, "cycles: iss %llu, rtl %llu, more than %g %% apart",
                 (unsigned long long)x->cycles[0], (unsigned long long)x->cycles[1],
                 100 * CYCLES_OFF_MAX);
    if (!x->why[0] && !*x->text[0] && x->cycles[0] == x->cycles[1]) compare_counters(x);
    return !x->why[0];
}

/* The static check must accept what is legal and refuse what deadlocks. */
static bool checked(struct cosim *x, const struct program *p, enum kind kind) {
    struct hd_check k;
    size_t n = program_emit(p, x->words);
    struct hd_check_windows w = {{CODE_OFFSET + n * 4, x->arena_bytes}};
    hd_check_init(&k);
    k.memory_is_set = true; /* AM is looked at as a whole */
    hd_check_program(&k, x->words, n, &x->m, &w);
    bool ok = kind == KIND_LEGAL ? !k.n_errors : kind == KIND_DEADLOCK ? k.n_errors > 0 : true;
    if (!ok)
        snprintf(x->why, sizeof x->why, "heddle check: %s",
                 k.n_errors ? k.findings[0].text : "no error in a program that deadlocks");
    hd_check_deinit(&k);
    return ok;
}

/* ---- failures -------------------------------------------------------------------------------- */

static void shrink(struct cosim *x, struct program *p, enum kind kind) {
    for (bool less = true; less;) {
        less = false;
        for (int i = p->n - 2; i >= 0; i--) {
            if (p->op[i].dropped) continue;
            p->op[i].dropped = true;
            if (!same(x, p, kind) && *x->why)
                less = true;
            else
                p->op[i].dropped = false;
        }
    }
    same(x, p, kind);
}

static void show(struct cosim *x, const struct program *p) {
    char *text = NULL;
    size_t n = program_emit(p, x->words);
    if (hd_disasm(x->ctx, x->words, n, &text) == HD_OK) fputs(text, stdout);
    free(text);
}

static bool one(struct cosim *x, struct program *p, bool print) {
    uint32_t r = mix(x->seed + 77) % 10;
    enum kind kind = r == 0 ? KIND_ILLEGAL : r == 1 ? KIND_DEADLOCK : KIND_LEGAL;
    program_random(p, &x->m, x->seed, kind);
    for (size_t i = 0; i < x->arena_bytes; i++) x->start[i] = (uint8_t)mix(i * 31 + x->seed);
    for (size_t i = 4; i < 4096; i += 16) /* PM words: half the scales are ordinary numbers */
        x->start[i + 3] = (uint8_t)(0x3b + (x->start[i] & 3)), x->start[i - 1] &= 3;
    if (print) show(x, p);
    if (!checked(x, p, kind)) {
        printf("seed %llu: %s\n", (unsigned long long)x->seed, x->why);
        show(x, p);
        return false;
    }
    if (same(x, p, kind)) {
        if (kind == KIND_LEGAL) cover_program(x->words, program_emit(p, x->words));
        return true;
    }
    printf("seed %llu differs: %s\n", (unsigned long long)x->seed, x->why);
    shrink(x, p, kind);
    printf("the fewest operations: %s\n", x->why);
    show(x, p);
    printf("reproduce: cosim --machine %s --seed %llu --count 1\n", x->m.name,
           (unsigned long long)x->seed);
    return false;
}

/* Cycles of a program on both; false when one reports an error. */
static bool cycles_of(void *user, const struct program *p, uint64_t out[2]) {
    struct cosim *x = user;
    size_t n = program_emit(p, x->words);
    hd_model *m = make_model(x, x->words, n);
    for (int d = 0; d < 2; d++) run_device(x, m, d);
    hd_model_destroy(m);
    out[0] = x->cycles[0], out[1] = x->cycles[1];
    return !*x->text[0] && !*x->text[1];
}

/* ---- bad programs ---------------------------------------------------------------------------- */

/* Some words of the program change, here and there. */
static void spoil_words(struct cosim *x, size_t n) {
    struct rng r = {x->seed * UINT64_C(0xda942042e4dd58b5)};
    for (int left = (int)rng_range(&r, 1, 10); left; left--) {
        size_t at = (size_t)rng_range(&r, HD_PROG_HEADER_WORDS, (int64_t)n - 1);
        uint32_t how = rng_next(&r) % 8;
        x->words[at] = how == 0   ? rng_next(&r)
                       : how == 1 ? UINT32_MAX
                                  : x->words[at] ^ UINT32_C(1) << rng_next(&r) % 32;
    }
}

/* Some operations use what a machine without functions lacks. */
static void spoil_fields(const struct cosim *x, struct program *p) {
    static const struct {
        enum hd_field field;
        int64_t value;
    } lacks[] = {{HD_F_vx_alu, HD_V_vx_alu_mul},
                 {HD_F_vx_alu, HD_V_vx_alu_max},
                 {HD_F_vx_lanes, 1},
                 {HD_F_vx_tail, 3},
                 {HD_F_vx_a_kind, HD_V_vx_kind_pm_f32},
                 {HD_F_vx_b_kind, HD_V_vx_kind_pm_int32},
                 {HD_F_vx_b_kind, 0},
                 {HD_F_vx_a_imm, 256},
                 {HD_F_vx_a_imm, 1},
                 {HD_F_vx_b_imm, -256},
                 {HD_F_vx_red, HD_V_vx_red_max},
                 {HD_F_lw_col, 1}};
    enum { N_LACKS = sizeof lacks / sizeof *lacks };
    struct rng r = {x->seed * UINT64_C(0x9e3779b97f4a7c15)};
    const int i = (int)(x->seed % N_LACKS);
    for (int k = 0; k < p->n_body; k++)
        if (p->op[k].unit == hd_isa_fields[lacks[i].field].unit && rng_next(&r) % 4 == 0)
            hd_field_set(p->op[k].words, lacks[i].field, lacks[i].value);
}

/* Random words in a random program: both report the same, be it the first of many errors. */
static bool bad_agrees(struct cosim *x, struct program *p, bool print) {
    program_random(p, &x->m, x->seed, KIND_LEGAL);
    for (size_t i = 0; i < x->arena_bytes; i++) x->start[i] = (uint8_t)mix(i * 31 + x->seed);
    const bool fields = !x->m.functions && x->seed % 3;
    if (fields) spoil_fields(x, p);
    size_t n = program_emit(p, x->words);
    if (!fields) spoil_words(x, n);
    hd_model *m = make_model(x, x->words, n);
    for (int d = 0; d < 2; d++) run_device(x, m, d);
    hd_model_destroy(m);
    if (print) printf("%s\n", x->text[1]);
    if (!strcmp(x->text[0], x->text[1])) return true;
    printf("seed %llu: reports of a bad program differ:\niss: %s\nrtl: %s\n"
           "reproduce: cosim --bad --machine %s --seed %llu --count 1\n",
           (unsigned long long)x->seed, x->text[0], x->text[1], x->m.name,
           (unsigned long long)x->seed);
    return false;
}

struct arguments {
    uint64_t seed, count;
    const char *machine;
    bool print, coverage, timing, bad;
};

/* False: an option that is not known. The memory's go to x. */
static bool read_arguments(int argc, char **argv, struct cosim *x, struct arguments *a) {
    static const struct option longs[] = {{"seed", 1, NULL, 's'},     {"count", 1, NULL, 'n'},
                                          {"machine", 1, NULL, 'm'},  {"print", 0, NULL, 'p'},
                                          {"coverage", 0, NULL, 'c'}, {"timing", 0, NULL, 't'},
                                          {"latency", 1, NULL, 'l'},  {"bytes", 1, NULL, 'b'},
                                          {"bad", 0, NULL, 'w'},      {NULL, 0, NULL, 0}};
    *a = (struct arguments){.seed = 1, .count = 100, .machine = "tiny"};
    for (int k; (k = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (k == 's')
            a->seed = strtoull(optarg, NULL, 0);
        else if (k == 'n')
            a->count = strtoull(optarg, NULL, 0);
        else if (k == 'm')
            a->machine = optarg;
        else if (k == 'p')
            a->print = true;
        else if (k == 'c')
            a->coverage = true;
        else if (k == 't')
            a->timing = true;
        else if (k == 'w')
            a->bad = true;
        else if (k == 'l')
            x->mem.latency = (uint32_t)strtoul(optarg, NULL, 0);
        else if (k == 'b')
            x->mem.bytes_per_cycle = (uint32_t)strtoul(optarg, NULL, 0);
        else
            return false;
    }
    return true;
}

/* Random programs on both. False: one failed. */
static bool run_programs(struct cosim *x, struct program *p, const struct arguments *a) {
    uint64_t cycles = 0, unequal = 0;
    int ops = 0;
    for (uint64_t i = 0; i < a->count; i++) {
        x->seed = a->seed + i;
        if (!one(x, p, a->print)) return false;
        ops += p->n;
        cycles += x->cycles[1];
        unequal += !*x->text[0] && x->cycles[0] != x->cycles[1];
    }
    printf("cosim: machine %s, %llu programs from seed %llu, %d operations, %llu RTL cycles: "
           "iss and rtl agree\n",
           a->machine, (unsigned long long)a->count, (unsigned long long)a->seed, ops,
           (unsigned long long)cycles);
    if (unequal)
        printf("cosim: %llu of them take other cycles, each within %g %%\n",
               (unsigned long long)unequal, 100 * CYCLES_OFF_MAX);
    return !a->coverage || cover_print(&x->m) == 0 || a->count < COVERED_BY;
}

/* Bad programs. False: the reports of one differ. */
static bool run_bad(struct cosim *x, struct program *p, const struct arguments *a) {
    uint64_t unequal = 0, failed = 0;
    for (uint64_t i = 0; i < a->count; i++) {
        x->seed = a->seed + i;
        unequal += !bad_agrees(x, p, a->print);
        failed += *x->text[1] != 0;
    }
    printf("cosim: machine %s, %llu bad programs from seed %llu, %llu with an error: %llu reports "
           "differ\n",
           a->machine, (unsigned long long)a->count, (unsigned long long)a->seed,
           (unsigned long long)failed, (unsigned long long)unequal);
    return !unequal;
}

/* How programs spend their time on both. False: the two differ by too much. */
static bool run_timing(struct cosim *x, struct program *p, const struct arguments *a) {
    x->steady = true;
    for (uint64_t i = 0; i < a->count; i++) {
        x->seed = a->seed + i;
        program_random(p, &x->m, x->seed, KIND_LEGAL);
        p->rounds = 1;
        timing_program(p, x->seed, cycles_of, x);
    }
    return timing_print(a->machine, a->count);
}

int main(int argc, char **argv) {
    struct cosim *x = calloc(1, sizeof *x);
    struct program *p = calloc(1, sizeof *p);
    struct arguments a;
    if (!x || !p || !read_arguments(argc, argv, x, &a)) return 2;
    x->ctx = hd_ctx_create();
    if (hd_machine_load(x->ctx, a.machine, &x->m)) fatal(x, a.machine);
    x->arena_bytes = program_arena_bytes(&x->m);
    x->start = malloc(x->arena_bytes);
    for (int d = 0; d < 2; d++) x->got[d] = malloc(x->arena_bytes);
    bool good = a.timing ? run_timing(x, p, &a)
                : a.bad  ? run_bad(x, p, &a)
                         : run_programs(x, p, &a);
    for (int d = 0; d < 2; d++) free(x->got[d]);
    free(x->start);
    hd_ctx_destroy(x->ctx);
    free(x);
    free(p);
    return !good;
}
