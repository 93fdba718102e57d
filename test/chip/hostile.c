/* Programs, good and bad, on the whole chip between a hostile memory and a hostile host: no byte
 * outside the windows is read or written, every run ends, a good program gives what the ISS gives,
 * one that was broken off writes nothing but what it would have written, and the run after each is
 * exact, to the byte and to the cycle.
 *
 *   hostile [--seed S] [--count N] [--machine NAME] */
#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/hal.h"
#include "sim/iss.h"
#include "test/chip/bench.h"
#include "test/cosim/program.h"

enum {
    CODE_OFFSET = 8192,
    GUARD = 4096,
    IMAGE_BYTES = 3 * GUARD + CODE_OFFSET + 4 * MAX_WORDS,
    WATCHDOG = 4000,
    GOOD_LIMIT = 8000, /* times 256 cycles */
    BAD_LIMIT = 80,
    LATENCY = 40,
    REFERENCE_SEED = 5
};
static const uint64_t image_at = UINT64_C(0x7654321000), arena_at = UINT64_C(0xabcdef0000);

struct plan { /* what is done to one run */
    bool bad_program, hard_reset, soft_reset, meddles, interrupts;
    struct hostile_config mem;
    int reset_after; /* clocks */
    uint32_t watchdog, limit;
};

struct hostile {
    struct bench b;
    hd_ctx *ctx;
    struct hd_machine m;
    struct program program;
    uint32_t words[MAX_WORDS];
    size_t n_words, arena_bytes;
    uint8_t *image, *arena, *start, *expected;
    uint32_t image_off; /* of the window in its memory */
    uint64_t reference_cycles;
    struct plan plan;
    uint32_t refused;
    bool again; /* the host began another run, by chance */
    bool was_reset;
    struct {
        unsigned bad, errors, resets, refused, silent;
    } seen; /* runs */
};

/* ---- programs -------------------------------------------------------------------------------- */

static void random_bytes(struct rng *r, uint8_t *to, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = (uint8_t)rng_next(r);
    for (size_t i = 4; i < n; i += 16) /* half of what may be scales are ordinary numbers */
        to[i + 3 < n ? i + 3 : i] = (uint8_t)(0x3b + (to[i] & 3)), to[i - 1] &= 3;
}

/* On-chip memory is as the run before left it. */
static void copy_memories(struct hostile *h, hd_iss *iss) {
    static const enum hd_iss_memory to[] = {[HD_PROBE_XM] = HD_ISS_XM,
                                            [HD_PROBE_AM] = HD_ISS_AM,
                                            [HD_PROBE_WM] = HD_ISS_WM,
                                            [HD_PROBE_PM] = HD_ISS_PM};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        size_t bytes, has = h->b.api->memory(h->b.rtl, (enum hd_probe_memory)i, NULL);
        uint8_t *data = hd_iss_memory(iss, to[i], &bytes);
        if (bytes == has)
            h->b.api->memory(h->b.rtl, (enum hd_probe_memory)i, data);
        else
            bench_wrong(&h->b, "bytes of an on-chip memory", has, bytes);
    }
}

/* What the ISS makes of the program: the arena at the end. */
static void expect(struct hostile *h) {
    uint8_t *out = h->expected;
    uint32_t axi = hd_axi_bytes(&h->m);
    struct hd_mem_config cfg = {LATENCY, axi, 16, 0};
    hd_axi_mem *mem = hd_axi_mem_create(axi, &cfg);
    hd_iss *iss = hd_iss_create(&h->m, mem);
    if (!mem || !iss) exit(2);
    memcpy(out, h->start, h->arena_bytes);
    hd_axi_mem_region(mem, 0, image_at, h->image, IMAGE_BYTES);
    hd_axi_mem_region(mem, 1, arena_at, out, h->arena_bytes);
    hd_iss_set_functional(iss, true);
    copy_memories(h, iss);
    uint64_t at[2] = {image_at + h->image_off, arena_at};
    for (uint32_t i = 0; i < 2; i++) {
        hd_iss_reg_write(iss, HD_REG_image_ptr + 4 * i, (uint32_t)(at[0] >> 32 * i));
        hd_iss_reg_write(iss, HD_REG_arena_ptr + 4 * i, (uint32_t)(at[1] >> 32 * i));
    }
    hd_iss_reg_write(iss, HD_REG_image_bytes, CODE_OFFSET + 4 * (uint32_t)h->n_words);
    hd_iss_reg_write(iss, HD_REG_arena_bytes, (uint32_t)h->arena_bytes);
    hd_iss_reg_write(iss, HD_REG_code_offset, CODE_OFFSET);
    hd_iss_reg_write(iss, HD_REG_ap_ctrl, 1);
    hd_iss_run(iss, 0);
    uint32_t error = hd_iss_reg_read(iss, HD_REG_error);
    if (error) bench_wrong(&h->b, "error of the ISS", error, 0);
    hd_iss_destroy(iss);
    hd_axi_mem_destroy(mem);
}

/* Some words change; what the machine does then is its own affair within its windows. */
static void spoil_words(struct hostile *h) {
    struct rng *r = &h->b.r;
    int n = (int)rng_range(r, 1, 12);
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)rng_range(r, rng_next(r) % 16 ? HD_PROG_HEADER_WORDS : 2,
                                      (int64_t)h->n_words - 1);
        uint32_t how = rng_next(r) % 4;
        h->words[at] = how == 0   ? rng_next(r)
                       : how == 1 ? UINT32_MAX
                                  : h->words[at] ^ UINT32_C(1) << rng_next(r) % 32;
    }
}

/* Image and arena at their start, with the program, in windows at any line of the memory. */
static void place(struct hostile *h, uint64_t seed) {
    struct bench *b = &h->b;
    struct rng data = {seed};
    h->image_off = 64 * (uint32_t)rng_range(&data, 1, 63);
    random_bytes(&data, h->image, CODE_OFFSET + GUARD);
    random_bytes(&data, h->start, h->arena_bytes);
    memcpy(h->image + h->image_off + CODE_OFFSET, h->words, 4 * h->n_words);
    memcpy(h->arena, h->start, h->arena_bytes);
    b->mem.window[0] = (struct hostile_window){
        image_at + h->image_off, CODE_OFFSET + 4 * h->n_words, false, h->image + h->image_off};
    b->mem.window[1] = (struct hostile_window){arena_at, h->arena_bytes, true, h->arena};
}

static void make_program(struct hostile *h, uint64_t seed, bool spoiled) {
    program_random(&h->program, &h->m, seed, KIND_LEGAL);
    h->program.rounds = 1;
    h->n_words = program_emit(&h->program, h->words);
    if (spoiled) spoil_words(h);
    place(h, seed);
    if (!spoiled) expect(h);
}

/* ---- one run --------------------------------------------------------------------------------- */

static void tell(struct hostile *h) {
    struct bench *b = &h->b;
    uint64_t image = image_at + h->image_off;
    for (uint32_t i = 0; i < 2; i++) {
        bench_set(b, HD_REG_image_ptr + 4 * i, (uint32_t)(image >> 32 * i));
        bench_set(b, HD_REG_arena_ptr + 4 * i, (uint32_t)(arena_at >> 32 * i));
    }
    bench_set(b, HD_REG_image_bytes, CODE_OFFSET + 4 * (uint32_t)h->n_words);
    bench_set(b, HD_REG_arena_bytes, (uint32_t)h->arena_bytes);
    bench_set(b, HD_REG_code_offset, CODE_OFFSET);
    bench_set(b, HD_REG_watchdog, h->plan.watchdog);
    bench_set(b, HD_REG_cycle_limit, h->plan.limit);
}

/* The host writes what it must not, and what says nothing. */
static void meddle(struct hostile *h) {
    static const uint32_t args[] = {HD_REG_image_ptr,     HD_REG_image_ptr + 4, HD_REG_arena_ptr,
                                    HD_REG_arena_ptr + 4, HD_REG_image_bytes,   HD_REG_arena_bytes,
                                    HD_REG_code_offset,   HD_REG_watchdog,      HD_REG_cycle_limit};
    struct bench *b = &h->b;
    uint32_t how = rng_next(&b->r) % 4, noise = rng_next(&b->r);
    if (how == 0) {
        bench_write(b, HD_REG_ap_ctrl, noise | 1, 14); /* the byte of the bit is not meant */
        bench_write(b, HD_REG_soft_reset, noise | 1, 14);
    } else if (how == 1) {
        uint32_t low = bench_read(b, HD_REG_cycles), high = bench_read(b, HD_REG_cycles + 4);
        if (high || low > UINT32_MAX / 2) bench_wrong(b, "cycles", high, 0);
    } else {
        if (how == 2)
            bench_write(b, HD_REG_ap_ctrl, 1, 15);
        else
            bench_write(b, args[noise % (sizeof args / sizeof *args)], rng_next(&b->r), 15);
        uint32_t refused = bench_read(b, HD_REG_refused);
        if (refused == h->refused + 1)
            h->refused++;
        else /* the run was over */
            h->again = true;
    }
}

static bool is_idle(struct hostile *h) {
    return bench_read(&h->b, HD_REG_ap_ctrl) & 4;
}

/* Until it is idle, and what happens meanwhile. */
static void watch(struct hostile *h) {
    struct bench *b = &h->b;
    const struct plan *p = &h->plan;
    uint64_t begin = b->mem.cycle, most = 256 * (uint64_t)p->limit + UINT64_C(20) * WATCHDOG;
    bool done = false;
    while (!done && !*b->why && !*b->mem.error) {
        bench_clocks(b, (int)rng_range(&b->r, 1, 300));
        uint64_t clocks = b->mem.cycle - begin;
        if ((p->soft_reset || p->hard_reset) && clocks > (uint64_t)p->reset_after &&
            !h->was_reset) {
            h->was_reset = true;
            if (p->hard_reset)
                bench_reset(b);
            else
                bench_write(b, HD_REG_soft_reset, 1, 15);
            if (!p->hard_reset && rng_next(&b->r) % 3 == 0)
                bench_write(b, HD_REG_soft_reset, 1, 1); /* at once */
        }
        done = is_idle(h);
        if (!done && p->meddles && !h->again && rng_next(&b->r) % 4 == 0) meddle(h);
        if (clocks > most) bench_wrong(b, "clocks of a run that does not end", clocks, most);
    }
}

/* Runs what make_program made. */
static void run(struct hostile *h) {
    struct bench *b = &h->b;
    h->again = h->was_reset = false;
    h->refused = 0;
    tell(h);
    bench_set(b, HD_REG_gie, h->plan.interrupts);
    bench_set(b, HD_REG_ier, h->plan.interrupts);
    if (b->wild) {
        bench_write(b, HD_REG_ap_ctrl, 1, 14);
        if (!is_idle(h)) bench_wrong(b, "idle after a start without its byte", 0, 1);
    }
    b->mem.cfg.answers = 0; /* what the run before is owed comes behind the start */
    bench_write(b, HD_REG_ap_ctrl, 1, b->wild ? 1 : 15);
    b->mem.cfg.answers = h->plan.mem.answers;
    watch(h);
    bench_clocks(b, 1);
    if (!h->was_reset && !h->again && b->pins.interrupt != h->plan.interrupts)
        bench_wrong(b, "interrupt", b->pins.interrupt, h->plan.interrupts);
    if (!b->pins.interrupt) return;
    bench_write(b, HD_REG_isr, 1, 14);
    if (!b->pins.interrupt) bench_wrong(b, "interrupt, its byte not written", 0, 1);
    bench_write(b, HD_REG_isr, 1, 1);
    if (b->pins.interrupt) bench_wrong(b, "interrupt when it is cleared", 1, 0);
}

/* ---- what must have come of it --------------------------------------------------------------- */

static void bytes_equal(struct hostile *h, const char *what, const uint8_t *want) {
    for (size_t i = 0; i < h->arena_bytes && !*h->b.why; i++)
        if (h->arena[i] != want[i]) {
            char text[100];
            snprintf(text, sizeof text, "%s, byte 0x%zx", what, i);
            bench_wrong(&h->b, text, h->arena[i], want[i]);
        }
}

/* A legal program that was broken off. Behind the shared part it writes each byte once. */
static void bytes_legal(struct hostile *h) {
    for (size_t i = SHARED_BYTES; i < h->arena_bytes && !*h->b.why; i++)
        if (h->arena[i] != h->start[i] && h->arena[i] != h->expected[i]) {
            char text[100];
            snprintf(text, sizeof text, "a byte that nobody would write, 0x%zx", i);
            bench_wrong(&h->b, text, h->arena[i], h->expected[i]);
        }
}

/* The memory owes an answer that will not come. */
static bool is_silent(const struct hostile *h) {
    return !h->b.mem.cfg.answers && hostile_open(&h->b.mem);
}

/* Of a run that ended by itself, all bursts too: what was counted. */
static void counters_equal(struct hostile *h) {
    struct bench *b = &h->b;
    uint64_t read = bench_read(b, HD_REG_read_bytes), written = bench_read(b, HD_REG_write_bytes);
    if (read != b->mem.read_bytes) bench_wrong(b, "read_bytes", read, b->mem.read_bytes);
    if (written != b->mem.written_bytes)
        bench_wrong(b, "write_bytes", written, b->mem.written_bytes);
}

static void judge(struct hostile *h) {
    static const uint32_t unit_of[] = {HD_UNIT_seq, HD_UNIT_lx, HD_UNIT_lw, HD_UNIT_st};
    struct bench *b = &h->b;
    if (!h->again && !h->was_reset && !is_silent(h)) counters_equal(h);
    if (h->plan.bad_program) return;
    bytes_legal(h);
    if (h->again || h->was_reset) return;
    uint32_t error = bench_read(b, HD_REG_error), unit = bench_read(b, HD_REG_error_unit);
    uint32_t refused = bench_read(b, HD_REG_refused);
    if (refused != h->refused) bench_wrong(b, "refused writes", refused, h->refused);
    const struct hostile_mem *m = &b->mem;
    bool silent = is_silent(h);
    if (silent && error == HD_ERR_watchdog && !m->n_bad) return;
    if (m->n_bad && error == HD_ERR_axi) {
        if (m->n_bad == 1 && unit != unit_of[m->first_bad])
            bench_wrong(b, "unit of an answer that is an error", unit, unit_of[m->first_bad]);
        return;
    }
    if (m->n_bad || silent) bench_wrong(b, "error", error, silent ? HD_ERR_watchdog : HD_ERR_axi);
    if (error) bench_wrong(b, "error", error, HD_ERR_none);
    bytes_equal(h, "a good program", h->expected);
}

/* ---- plans ----------------------------------------------------------------------------------- */

static bool chance(struct hostile *h, int percent) {
    return rng_range(&h->b.r, 1, 100) <= percent;
}

static void make_plan(struct hostile *h) {
    struct rng *r = &h->b.r;
    struct plan *p = &h->plan;
    *p = (struct plan){.bad_program = chance(h, 50),
                       .hard_reset = chance(h, 10),
                       .soft_reset = chance(h, 20),
                       .meddles = chance(h, 30),
                       .interrupts = chance(h, 50),
                       .reset_after = (int)rng_range(r, 1, chance(h, 40) ? 2000 : 30000),
                       .watchdog = WATCHDOG};
    p->limit = p->bad_program ? BAD_LIMIT : GOOD_LIMIT;
    p->mem = (struct hostile_config){.latency = (uint32_t)rng_range(r, 1, 60),
                                     .spread = (uint32_t)rng_range(r, 0, 120),
                                     .pace = (uint32_t)rng_range(r, 0, 2),
                                     .shuffle = chance(h, 80),
                                     .answers = UINT64_MAX};
    if (chance(h, 40)) {
        p->mem.bad = chance(h, 50) ? 20 : 2000;
        p->mem.most_bad = chance(h, 70) ? 1 : UINT32_MAX;
    } else if (chance(h, 15)) {
        p->mem.answers = (uint64_t)rng_range(r, 0, 300);
    }
}

static const struct hostile_config tame = {.latency = LATENCY, .answers = UINT64_MAX};

/* The reference program, whose cycles are known once `first` has run. */
static void run_reference(struct hostile *h, bool first) {
    struct bench *b = &h->b;
    b->wild = false;
    h->plan = (struct plan){.mem = tame, .watchdog = WATCHDOG, .limit = GOOD_LIMIT};
    hostile_configure(&b->mem, &tame, 1);
    b->mem.cfg.answers = 0;
    bench_clocks(b, 64); /* what the run before still asks for lies in the windows of then */
    make_program(h, REFERENCE_SEED, false);
    run(h);
    uint64_t cycles = bench_read(b, HD_REG_cycles);
    if (first) h->reference_cycles = cycles;
    uint32_t error = bench_read(b, HD_REG_error);
    if (error) bench_wrong(b, "error of the next run", error, 0);
    bytes_equal(h, "the next run", h->expected);
    if (cycles != h->reference_cycles)
        bench_wrong(b, "cycles of the next run", cycles, h->reference_cycles);
}

static void assemble(struct hostile *h, const char *text) {
    uint32_t *words;
    if (hd_asm(h->ctx, &h->m, text, "program", &words, &h->n_words)) {
        fprintf(stderr, "hostile: %s\n", hd_message(h->ctx));
        exit(2);
    }
    memcpy(h->words, words, 4 * h->n_words);
    free(words);
}

/* A copy under h->plan; what is written lies behind the shared part. */
static void run_copy(struct hostile *h, uint64_t seed) {
    static const char copy[] = "lx.load sig=0 seg=1 src=3 dst=0 run=2048 n1=1 n2=1 n3=1\n"
                               "lw.load wait=0 sig=1 seg=1 src=0 dst=0 count=16 n1=1\n"
                               "st.store wait=1 seg=1 dst=0x20005 src=0 run=2048 n1=1 n2=1 n3=1\n"
                               "seq.halt\n";
    assemble(h, copy);
    hostile_configure(&h->b.mem, &h->plan.mem, seed);
    place(h, 1);
    expect(h);
    run(h);
    judge(h);
}

/* Memories so slow that each handshake must count as progress; resets at any point of a store; an
 * error of each kind. */
static void run_copies(struct hostile *h) {
    static const struct hostile_config slow = {
        .latency = 1, .pace = 150, .shuffle = true, .answers = UINT64_MAX};
    h->plan = (struct plan){.mem = slow, .watchdog = 400, .limit = GOOD_LIMIT};
    run_copy(h, 1);
    for (int i = 0; i < 24; i++) {
        h->plan = (struct plan){.mem = slow, .watchdog = WATCHDOG, .limit = GOOD_LIMIT};
        h->plan.mem.pace = 5;
        h->plan.soft_reset = i < 12;
        h->plan.reset_after = 150 * i;
        if (i >= 12) {
            h->plan.mem.bad = 65536 >> (i / 4 - 3);
            h->plan.mem.most_bad = 1;
            h->plan.mem.good = 15 & ~(1u << i % 4);
        }
        run_copy(h, (uint64_t)i);
        if (i >= 12 && i < 16 && !h->b.mem.n_bad) bench_wrong(&h->b, "no error came, id", i % 4, 0);
        run_reference(h, false);
    }
}

/* After a reset from outside nothing is left of the run. */
static void expect_clean(struct bench *b) {
    static const uint32_t zero[] = {HD_REG_gie,           HD_REG_ier,           HD_REG_isr,
                                    HD_REG_image_ptr,     HD_REG_image_ptr + 4, HD_REG_arena_ptr,
                                    HD_REG_arena_ptr + 4, HD_REG_image_bytes,   HD_REG_arena_bytes,
                                    HD_REG_code_offset,   HD_REG_watchdog,      HD_REG_cycle_limit,
                                    HD_REG_refused,       HD_REG_error};
    if (b->pins.interrupt) bench_wrong(b, "interrupt after a reset", 1, 0);
    uint32_t ctrl = bench_read(b, HD_REG_ap_ctrl);
    if (ctrl != 4) bench_wrong(b, "ap_ctrl after a reset", ctrl, 4);
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) {
        uint32_t got = bench_read(b, zero[i]);
        if (got) bench_wrong(b, "a register after a reset", got, 0);
    }
}

/* Starts what is loaded, with all interrupts. */
static void start(struct hostile *h) {
    struct bench *b = &h->b;
    tell(h);
    bench_write(b, HD_REG_gie, 1, 15);
    bench_write(b, HD_REG_ier, 3, 15);
    bench_write(b, HD_REG_ap_ctrl, 1, 15);
}

/* Reset from outside in every clock of short programs, a good one and those that end in errors,
 * while the host asks for a register. The program that follows is exact. */
static void run_resets(struct hostile *h) {
    static const char all[] =
        "lx.load sig=0 seg=1 src=3 dst=0 run=256 n1=1 n2=1 n3=1\n"
        "lw.load sig=1 seg=1 src=0 dst=0 count=4 n1=1\n"
        "mx.gemm wait=0,1 sig=2 n0=8 n1=2 n2=1 n3=1 n4=1 n5=1 xs0=1 ws1=1 as0=1 nred=1\n"
        "vx.map wait=2 sig=3 a_kind=2 b_kind=4 d=512 n0=16 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=2 "
        "lo=-128 hi=127\n"
        "st.store wait=3 seg=1 dst=0x20005 src=0x1000 run=128 n1=1 n2=1 n3=1\nseq.halt\n";
    static const char *const bad[] = {
        "st.store seg=1 dst=5 src=0 run=64 n1=200 n2=1 n3=1 d1=0x7000\nseq.halt\n",
        "lx.load seg=1 src=0 dst=0 run=64 n1=200 n2=1 n3=1 s1=0x7000\nseq.halt\n",
        "lw.load seg=1 src=0 dst=0 count=1 n1=200 s1=0x7000\nseq.halt\n",
        "{ mx.gemm x=0xffff n0=9 n1=1 n2=1 n3=1 n4=1 n5=1 ; vx.map n0=0 }\nseq.halt\n",
    };
    enum { N_BAD = sizeof bad / sizeof *bad };
    struct bench *b = &h->b;
    uint64_t cycles = 0;
    h->plan = (struct plan){.mem = tame, .watchdog = WATCHDOG, .limit = GOOD_LIMIT};
    h->plan.mem.latency = 4;
    hostile_configure(&b->mem, &h->plan.mem, 1);
    for (int which = -1; which < N_BAD; which++) {
        bool over = false;
        for (int at = 1; !over && !*b->why && !*b->mem.error; at += which < 0 ? 1 : 2) {
            assemble(h, which < 0 ? all : bad[which]);
            place(h, 1);
            start(h);
            bench_clocks(b, at);
            over = b->pins.interrupt;
            bench_ask(b, HD_REG_ap_ctrl);
            bench_reset(b);
            expect_clean(b);
            assemble(h, all);
            place(h, 1);
            if (!cycles) expect(h);
            run(h);
            uint64_t now = bench_read(b, HD_REG_cycles);
            if (!cycles) cycles = now;
            if (now != cycles) bench_wrong(b, "cycles after a reset", now, cycles);
            bytes_equal(h, "the run after a reset", h->expected);
        }
    }
}

static const char *what_is_wrong(const struct hostile *h) {
    return *h->b.why ? h->b.why : h->b.mem.error;
}

static bool one(struct hostile *h, uint64_t seed) {
    struct bench *b = &h->b;
    b->r.s = seed * UINT64_C(0x9e3779b97f4a7c15);
    make_plan(h);
    make_program(h, seed, h->plan.bad_program);
    hostile_configure(&b->mem, &h->plan.mem, seed);
    b->wild = true;
    run(h);
    h->seen.bad += h->plan.bad_program;
    h->seen.errors += b->mem.n_bad > 0;
    h->seen.resets += h->was_reset;
    h->seen.refused += h->refused > 0;
    h->seen.silent += is_silent(h);
    if (!*b->why && !*b->mem.error) judge(h);
    if (!*b->why && !*b->mem.error) run_reference(h, false);
    if (!*b->why && !*b->mem.error) return true;
    printf("hostile: seed %llu: %s\n  a %s program%s%s%s\n", (unsigned long long)seed,
           what_is_wrong(h), h->plan.bad_program ? "bad" : "good",
           h->plan.hard_reset ? ", reset" : "", h->plan.soft_reset ? ", soft reset" : "",
           h->plan.meddles ? ", writes in mid-run" : "");
    return false;
}

/* ---- start ----------------------------------------------------------------------------------- */

static void open_chip(struct hostile *h, const char *machine) {
    const char *dir = getenv("HEDDLE_RTL_DIR");
    char path[1024];
    h->ctx = hd_ctx_create();
    if (hd_machine_load(h->ctx, machine, &h->m)) exit(2);
    snprintf(path, sizeof path, "%s/libhd_rtl_%s.so", dir ? dir : "build/rtl", machine);
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    struct bench *b = &h->b;
    b->m = &h->m;
    b->api = lib ? dlsym(lib, "hd_rtl_api") : NULL;
    if (!b->api || b->api->abi != HD_RTL_ABI) {
        fprintf(stderr, "hostile: no model at %s: run make rtl-%s\n", path, machine);
        exit(2);
    }
    hostile_init(&b->mem, b->api->axi_bytes);
    const struct hd_rtl_memory memory = {(hd_axi_mem *)(void *)&b->mem, hostile_run_begins,
                                         hostile_step};
    b->pins.rst_n = true;
    b->rtl = b->api->create(&memory);
    h->arena_bytes = program_arena_bytes(&h->m);
    uint8_t **const bytes[] = {&h->arena, &h->start, &h->expected};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) *bytes[i] = calloc(1, h->arena_bytes);
    h->image = calloc(1, IMAGE_BYTES);
    if (!b->rtl || !h->image || !h->arena || !h->start || !h->expected) exit(2);
}

static void close_chip(struct hostile *h) {
    h->b.api->destroy(h->b.rtl);
    free(h->image);
    free(h->arena);
    free(h->start);
    free(h->expected);
    hd_ctx_destroy(h->ctx);
    free(h);
}

int main(int argc, char **argv) {
    static const struct option longs[] = {
        {"seed", 1, NULL, 's'}, {"count", 1, NULL, 'n'}, {"machine", 1, NULL, 'm'}, {0}};
    uint64_t seed = 1, count = 50;
    const char *machine = "tiny";
    for (int k; (k = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (k == 's')
            seed = strtoull(optarg, NULL, 0);
        else if (k == 'n')
            count = strtoull(optarg, NULL, 0);
        else if (k == 'm')
            machine = optarg;
        else
            return 2;
    }
    struct hostile *h = calloc(1, sizeof *h);
    if (!h) return 2;
    open_chip(h, machine);
    run_reference(h, true);
    run_copies(h);
    run_resets(h);
    bool good = !*h->b.why && !*h->b.mem.error;
    if (!good) printf("hostile: the first runs: %s\n", what_is_wrong(h));
    for (uint64_t i = 0; good && i < count; i++) good = one(h, seed + i);
    if (good)
        printf("hostile: machine %s, seed %llu: nothing outside the windows, every next run exact\n"
               "hostile: %llu programs, %u bad; runs with errors of the memory %u, silence %u, "
               "resets %u, writes refused %u; %llu clocks\n",
               machine, (unsigned long long)seed, (unsigned long long)count, h->seen.bad,
               h->seen.errors, h->seen.silent, h->seen.resets, h->seen.refused,
               (unsigned long long)h->b.mem.cycle);
    else
        printf("reproduce: hostile --machine %s --seed %llu\n", machine, (unsigned long long)seed);
    close_chip(h);
    return !good;
}
