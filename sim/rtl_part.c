/* A part of a run of the RTL: its state from the ISS, its operations beside those of the ISS, what
 * it counted. */
#include "sim/rtl_part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/num.h"
#include "sim/trace.h"

enum {
    QUIET_TRIES = 128,  /* places of a cut where LX or LW works, before one of them will do */
    PAST_STEP = 1024,   /* cycles between looks whether all of before the cut has ended */
    HELD_CYCLES = 4096, /* after that operations wait for their time so long, */
    FREE_CYCLES = 4096, /* and then run free so long before the join */
    BEHIND_JOIN = 64,   /* cycles of the ISS that complete the records of a join */
    ALIGN = HD_N_limit_unit,
    IMAGE,
    ARENA,
    CODE
};

/* ---- where the run is cut ------------------------------------------------------------------- */

bool hd_cut_next(const struct hd_cutter *c, uint64_t join, struct hd_iss_cut *out) {
    uint64_t t = join + c->part_cycles;
    if (t < c->lead_cycles) t = c->lead_cycles;
    for (int i = 0;; i++) {
        t = t / ALIGN * ALIGN + ALIGN;
        if (hd_iss_run(c->iss, t)) return false;
        if (i < QUIET_TRIES && !hd_iss_cut_is_quiet(c->iss)) continue;
        if (hd_iss_cut_take(c->iss, t, out)) return true;
    }
}

static bool past(const struct hd_cutter *c, uint64_t cut, uint64_t *out) {
    for (uint64_t t = cut + PAST_STEP;; t += PAST_STEP) {
        if (hd_iss_run(c->iss, t)) return false;
        *out = t;
        if (hd_iss_cut_is_past(c->iss, cut)) return true;
    }
}

bool hd_cut_join(const struct hd_cutter *c, uint64_t cut, uint64_t *out) {
    uint64_t t;
    if (!past(c, cut, &t)) return false;
    *out = t + HELD_CYCLES + FREE_CYCLES;
    return !hd_iss_run(c->iss, *out);
}

/* ---- what the ISS did ------------------------------------------------------------------------ */

struct records {
    struct hd_op_record *r;
    size_t n, cap;
};

struct part {
    const struct hd_part_job *job;
    struct records iss[HD_UNITS]; /* from the cut on, operations in flight there included */
    size_t seen[HD_UNITS];        /* of the RTL */
    uint64_t begin;               /* the join */
    uint64_t end;                 /* the next one, or the end of the run */
    bool last;
    uint8_t *arena, *memory[HD_RTL_MEMORIES];
    size_t arena_bytes, bytes[HD_RTL_MEMORIES];
    uint64_t *release[HD_UNITS];
    struct hd_trace *trace;
    struct hd_part_report report;
};

static void *need(void *p) {
    if (!p) _exit(HD_NOMEM);
    return p;
}

static void keep_record(void *user, const struct hd_op_record *r) {
    struct records *l = &((struct part *)user)->iss[r->unit];
    if (l->n == l->cap) {
        l->cap = l->cap * 2 + 256;
        l->r = need(realloc(l->r, l->cap * sizeof *l->r));
    }
    l->r[l->n++] = *r;
}

/* The ISS goes on to the next join, or to the end. */
static void run_iss(struct part *p) {
    struct hd_iss_cut cut = {0};
    p->last = !hd_cut_next(&p->job->cutter, p->begin, &cut);
    if (!p->last) p->last = !hd_cut_join(&p->job->cutter, cut.cycle, &p->end);
    hd_iss_cut_free(&cut);
    hd_iss *iss = p->job->cutter.iss;
    if (p->last)
        p->end = hd_iss_reg_read(iss, HD_REG_cycles) |
                 (uint64_t)hd_iss_reg_read(iss, HD_REG_cycles + 4) << 32;
    else
        hd_iss_run(iss, p->end + BEHIND_JOIN);
}

/* ---- the RTL beside it ----------------------------------------------------------------------- */

static const char *const names[HD_RTL_MEMORIES + 1] = {"XM", "AM", "WM", "PM", "TM"};

static void differ(struct part *p, const char *what, const struct hd_op_record *rtl,
                   const struct hd_op_record *iss) {
    if (p->report.differs[0]) return;
    const struct hd_op_record *r = iss ? iss : rtl;
    int n =
        snprintf(p->report.differs, sizeof p->report.differs,
                 "%s: unit %s, word %" PRIu32 " of the program, layer number %u; taken, begun, "
                 "ended in cycles %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                 what, hd_isa_units[r->unit].name, r->pc, r->tag, rtl->take, rtl->start, rtl->end);
    if (iss)
        snprintf(p->report.differs + n, sizeof p->report.differs - (size_t)n,
                 "; on the ISS in %" PRIu64 ", %" PRIu64 ", %" PRIu64, iss->take, iss->start,
                 iss->end);
}

/* Of what began before the join the end alone counts. Stalls are not compared: the cycle in which
 * an operation ends may count for it or for the next. */
static bool same(const struct part *p, const struct hd_op_record *a, const struct hd_op_record *b) {
    if (a->tag != b->tag || a->end != b->end) return false;
    if (a->take < p->begin && b->take < p->begin) return true;
    return a->take == b->take && a->start == b->start && a->oldest == b->oldest;
}

static bool same_place(const struct part *p, uint32_t rtl, uint32_t iss) {
    const struct hd_iss_cut *c = p->job->cut;
    return !c || rtl < c->rest || rtl - c->rest + c->rest_of == iss;
}

static void compare_record(void *user, const struct hd_op_record *r) {
    struct part *p = user;
    const struct hd_iss_cut *cut = p->job->cut;
    const struct records *l = &p->iss[r->unit];
    size_t i = p->seen[r->unit]++, first = cut && r->unit != HD_UNIT_seq; /* the nop */
    if (i < first) return;
    i += (cut ? cut->in_flight[r->unit] : 0) - first;
    const struct hd_op_record *iss = i < l->n ? &l->r[i] : NULL;
    if (r->end <= p->begin && (!iss || iss->end <= p->begin)) return;
    if (!iss)
        differ(p, "an operation that the ISS does not end", r, NULL);
    else if (!same_place(p, r->pc, iss->pc) || !same(p, r, iss))
        differ(p, "an operation at another time", r, iss);
}

/* Before `until` no operation is handed over sooner than on the ISS. */
static void set_release(struct part *p, struct hd_rtl_resume *to) {
    const struct hd_iss_cut *cut = p->job->cut;
    for (int u = HD_UNIT_lx; cut && u < HD_UNITS; u++) {
        const struct records *l = &p->iss[u];
        size_t n = 1;
        uint64_t start;
        p->release[u] = need(calloc(l->n + HD_N_ops_in_flight + 1, sizeof *p->release[u]));
        for (size_t i = cut->in_flight[u]; i < l->n; i++) p->release[u][n++] = l->r[i].start - 1;
        for (uint32_t i = 0; (start = hd_iss_flying(p->job->cutter.iss, (enum hd_unit)u, i)); i++)
            p->release[u][n++] = start - 1;
        to->release[u] = p->release[u];
        to->n_release[u] = n;
    }
}

static void copy_memories(struct part *p) {
    static const enum hd_iss_memory of[] = {HD_ISS_XM, HD_ISS_AM, HD_ISS_WM, HD_ISS_PM, HD_ISS_TM};
    for (int i = 0; i < HD_RTL_MEMORIES; i++) {
        const void *from = hd_iss_memory(p->job->cutter.iss, of[i], &p->bytes[i]);
        p->memory[i] = need(malloc(p->bytes[i]));
        memcpy(p->memory[i], from, p->bytes[i]);
    }
}

static uint64_t read64(const struct part *p, uint32_t offset) {
    uint64_t low = hd_iss_reg_read(p->job->cutter.iss, offset);
    return low | (uint64_t)hd_iss_reg_read(p->job->cutter.iss, offset + 4) << 32;
}

/* The RTL's DRAM: the image, a copy of the arena, and the part's program behind the image. Writes
 * the registers of the run. */
static void set_up_run(struct part *p) {
    const struct hd_part_job *j = p->job;
    hd_iss *iss = j->cutter.iss;
    uint64_t image = read64(p, HD_REG_image_ptr), arena = read64(p, HD_REG_arena_ptr);
    uint32_t image_bytes = hd_iss_reg_read(iss, HD_REG_image_bytes), code = 0;
    hd_axi_mem_region(j->mem, 0, image, hd_axi_mem_at(j->iss_mem, image, image_bytes), image_bytes);
    hd_axi_mem_region(j->mem, 1, arena, p->arena, p->arena_bytes);
    static const uint32_t as_they_are[] = {
        HD_REG_image_ptr,   HD_REG_image_ptr + 4, HD_REG_arena_ptr,   HD_REG_arena_ptr + 4,
        HD_REG_image_bytes, HD_REG_arena_bytes,   HD_REG_code_offset, HD_REG_watchdog};
    for (size_t i = 0; i < sizeof as_they_are / sizeof *as_they_are; i++)
        j->api->reg_write(j->rtl, as_they_are[i], hd_iss_reg_read(iss, as_they_are[i]));
    uint32_t limit = hd_iss_reg_read(iss, HD_REG_cycle_limit);
    if (j->cut) {
        code = (image_bytes + 8191) / 4096 * 4096;
        size_t bytes = j->cut->n_words * sizeof *j->cut->words;
        hd_axi_mem_region(j->mem, 2, image + code, j->cut->words, bytes);
        j->api->reg_write(j->rtl, HD_REG_code_offset, code);
        j->api->reg_write(j->rtl, HD_REG_image_bytes, code + (uint32_t)bytes);
        limit = limit ? limit - (uint32_t)((j->cut->cycle - j->cutter.lead_cycles) / ALIGN) : 0;
    }
    j->api->reg_write(j->rtl, HD_REG_cycle_limit, limit);
}

static bool begin_rtl(struct part *p, uint64_t until) {
    const struct hd_part_job *j = p->job;
    struct hd_rtl_resume from = {.until = until, .free_sem = j->free_sem};
    if (j->cut) {
        from.cycle = j->cut->cycle - j->cutter.lead_cycles;
        memcpy(from.sem, j->cut->sem, sizeof from.sem);
    }
    for (int i = 0; i < HD_RTL_MEMORIES; i++) {
        from.memory[i] = p->memory[i];
        from.bytes[i] = p->bytes[i];
    }
    set_release(p, &from);
    hd_axi_mem_begin_at(j->mem, from.cycle);
    set_up_run(p);
    if (!j->api->resume(j->rtl, &from)) return false;
    j->api->reg_write(j->rtl, HD_REG_ap_ctrl, 1);
    return true;
}

/* ---- results ----------------------------------------------------------------------------------
 */

static void look(struct part *p, struct hd_part_side *out) {
    const struct hd_part_job *j = p->job;
    *out = (struct hd_part_side){.cycle = j->api->cycles(j->rtl)};
    j->api->snapshot(j->rtl, &out->s);
    out->s.control = hd_hash(out->s.control, (uint32_t[]){hd_axi_mem_hash(j->mem)}, 4);
    for (int i = 0; i < HD_PROBE_ARENA; i++) {
        j->api->memory(j->rtl, (enum hd_probe_memory)i, p->memory[i]);
        out->memory[i] = hd_hash(HD_HASH_INIT, p->memory[i], p->bytes[i]);
    }
    out->memory[HD_PROBE_ARENA] = hd_hash(HD_HASH_INIT, p->arena, p->arena_bytes);
}

static void compare_memory(struct part *p, const char *name, const uint8_t *rtl, const uint8_t *iss,
                           size_t bytes) {
    for (size_t i = 0; i < bytes && !p->report.differs[0]; i++)
        if (rtl[i] != iss[i])
            snprintf(p->report.differs, sizeof p->report.differs,
                     "%s byte 0x%zx at the end, not before cycle %" PRIu64 ": rtl %u, iss %u", name,
                     i, p->begin, rtl[i], iss[i]);
}

/* The whole run is over. */
static void compare_ends(struct part *p) {
    static const enum hd_iss_memory of[] = {HD_ISS_XM, HD_ISS_AM, HD_ISS_WM, HD_ISS_PM};
    const struct hd_part_job *j = p->job;
    hd_iss *iss = j->cutter.iss;
    char *text = p->report.differs;
    const char *bus = hd_axi_mem_error(j->mem);
    uint32_t error = hd_iss_reg_read(iss, HD_REG_error);
    if (bus && !text[0]) snprintf(text, sizeof p->report.differs, "%s", bus);
    bool timed_out = error == HD_ERR_watchdog || error == HD_ERR_limit; /* wherever issue stands */
    for (uint32_t r = HD_REG_error; r <= HD_REG_error_pc && !text[0]; r += 4) {
        uint32_t a = j->api->reg_read(j->rtl, r), b = hd_iss_reg_read(iss, r);
        if (r == HD_REG_error_pc && timed_out) continue;
        if (r == HD_REG_error_pc && j->cut && a >= j->cut->rest)
            a += j->cut->rest_of - j->cut->rest;
        if (a != b)
            snprintf(text, sizeof p->report.differs,
                     "the run ends with %" PRIu32 " in register 0x%" PRIx32
                     ", on the ISS with %" PRIu32,
                     a, r, b);
    }
    if (error) return; /* its operation may have done a first part */
    if (p->report.end.cycle != p->end && !text[0])
        snprintf(text, sizeof p->report.differs,
                 "the run ends in cycle %" PRIu64 ", on the ISS in %" PRIu64, p->report.end.cycle,
                 p->end);
    for (int i = 0; i < HD_PROBE_ARENA; i++) {
        size_t bytes;
        const uint8_t *theirs = hd_iss_memory(iss, of[i], &bytes);
        compare_memory(p, names[i], p->memory[i], theirs, bytes);
    }
    uint64_t arena = read64(p, HD_REG_arena_ptr);
    compare_memory(p, "arena", p->arena, hd_axi_mem_at(j->iss_mem, arena, p->arena_bytes),
                   p->arena_bytes);
}

static void send_all(int fd, const void *data, size_t bytes) {
    for (const char *at = data; bytes;) {
        ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);
        if (n <= 0) _exit(0); /* nobody waits any more */
        at += n, bytes -= (size_t)n;
    }
}

static void send_report(struct part *p, const struct hd_layer_counters *begin) {
    const struct hd_part_job *j = p->job;
    const struct hd_layer_counters *end = j->api->layers(j->rtl, &p->report.n_end);
    send_all(j->fd, &p->report, sizeof p->report);
    send_all(j->fd, begin, (size_t)p->report.n_begin * sizeof *begin);
    send_all(j->fd, end, (size_t)p->report.n_end * sizeof *end);
}

/* The RTL from where it is to the end of the part. */
static void run_rtl(struct part *p) {
    const struct hd_part_job *j = p->job;
    enum { SLACK = 1000000 }; /* cycles after which it is said not to end */
    bool done = j->api->run(j->rtl, p->last ? p->end + SLACK : p->end);
    bool whole = !hd_iss_reg_read(j->cutter.iss, HD_REG_error); /* no operation was cut off */
    if (done && whole) hd_trace_end(p->trace, j->api->cycles(j->rtl));
    look(p, &p->report.end);
    p->report.last = p->last;
    if (done != p->last && !p->report.differs[0])
        snprintf(p->report.differs, sizeof p->report.differs,
                 "the run %s in cycle %" PRIu64 ", that of the ISS %s",
                 done ? "ends" : "does not end", p->report.end.cycle, done ? "does not" : "does");
    if (p->last) compare_ends(p);
}

static _Noreturn void cannot(struct part *p, const char *why) {
    p->report.cannot = true;
    snprintf(p->report.differs, sizeof p->report.differs, "%s", why);
    send_report(p, NULL);
    _exit(0);
}

_Noreturn void hd_part_main(const struct hd_part_job *job) {
    struct part p = {.job = job};
    const struct hd_probe records = {.user = &p, .op = keep_record};
    const struct hd_probe beside = {.user = &p, .op = compare_record};
    hd_iss *iss = job->cutter.iss;
    p.arena_bytes = hd_iss_reg_read(iss, HD_REG_arena_bytes);
    p.arena = need(malloc(p.arena_bytes ? p.arena_bytes : 1));
    memcpy(p.arena, hd_axi_mem_at(job->iss_mem, read64(&p, HD_REG_arena_ptr), p.arena_bytes),
           p.arena_bytes);
    copy_memories(&p);
    hd_iss_set_probe(iss, &records);
    uint64_t until = 0;
    if (job->cut && !hd_cut_join(&job->cutter, job->cut->cycle, &p.begin))
        cannot(&p, "the run ends before the part begins");
    if (job->cut) until = p.begin - FREE_CYCLES;
    run_iss(&p);
    p.trace = need(hd_trace_create(&beside));
    job->api->set_hook(job->rtl, hd_trace_cycle, p.trace);
    if (!begin_rtl(&p, until)) cannot(&p, "the model of this machine does not show its memories");
    if (p.begin && job->api->run(job->rtl, p.begin)) cannot(&p, "the part ends before its join");
    if (p.begin) look(&p, &p.report.begin);
    const struct hd_layer_counters *now = job->api->layers(job->rtl, &p.report.n_begin);
    size_t bytes = (size_t)p.report.n_begin * sizeof *now;
    struct hd_layer_counters *begin = need(malloc(bytes + 1));
    if (bytes) memcpy(begin, now, bytes);
    if (!p.begin) p.report.n_begin = 0;
    for (;;) {
        char go;
        run_rtl(&p);
        send_report(&p, begin);
        if (p.last || recv(job->fd, &go, 1, 0) != 1) _exit(0);
        uint64_t joined = p.begin;
        p.begin = p.end; /* where run_iss goes on */
        run_iss(&p);
        p.begin = joined;
    }
}
