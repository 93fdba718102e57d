/* The ISS: creation, registers, accounting, and the loop that runs events in order of simulated
 * time. */
#include "sim/iss.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/memory.h"
#include "sim/iss_int.h"

enum { CTRL_START = 1, CTRL_DONE = 2, CTRL_IDLE = 4, CTRL_READY = 8 };

static int log2_of(uint32_t v) {
    int n = 0;
    while (v >>= 1) n++;
    return n;
}

hd_iss *hd_iss_create(const struct hd_machine *machine, hd_axi_mem *mem) {
    hd_iss *iss = calloc(1, sizeof *iss);
    if (!iss) return NULL;
    iss->m = *machine;
    iss->mem = mem;
    iss->xm = calloc(1, machine->xm_bytes);
    iss->wm = calloc(1, machine->wm_bytes);
    iss->am = calloc(1, machine->am_bytes);
    iss->pm = calloc(1, machine->pm_bytes);
    iss->tm = calloc(HD_TM_TABLES, HD_TM_WORD_BYTES);
    iss->tags.last_tag = -1;
    iss->axi = hd_axi_bytes(machine);
    iss->xm_shift = log2_of(machine->xm_bytes / machine->xm_banks);
    iss->am_shift = log2_of(machine->am_bytes / 2);
    if (iss->xm && iss->wm && iss->am && iss->pm && iss->tm) return iss;
    hd_iss_destroy(iss);
    return NULL;
}

void hd_iss_destroy(hd_iss *iss) {
    if (!iss) return;
    free(iss->xm);
    free(iss->wm);
    free(iss->am);
    free(iss->pm);
    free(iss->tm);
    free(iss->tags.layers);
    hd_iss_time_free(iss);
    free(iss);
}

void hd_iss_set_probe(hd_iss *iss, const struct hd_probe *probe) {
    iss->probe = probe;
}

void hd_iss_set_free_issue(hd_iss *iss, bool on) {
    iss->free_issue = on;
}

void hd_iss_set_functional(hd_iss *iss, bool functional) {
    iss->functional = functional;
    iss->free_issue |= functional;
}

void hd_iss_tell_dram(const hd_iss *iss, uint64_t cycle, bool write, uint32_t bytes) {
    if (iss->probe && iss->probe->dram) iss->probe->dram(iss->probe->user, cycle, write, bytes);
}

void *hd_iss_memory(hd_iss *iss, enum hd_iss_memory which, size_t *out_bytes) {
    switch (which) {
    case HD_ISS_XM:
        *out_bytes = iss->m.xm_bytes;
        return iss->xm;
    case HD_ISS_WM:
        *out_bytes = iss->m.wm_bytes;
        return iss->wm;
    case HD_ISS_AM:
        *out_bytes = iss->m.am_bytes;
        return iss->am;
    case HD_ISS_TM:
        *out_bytes = (size_t)HD_TM_TABLES * HD_TM_WORD_BYTES;
        return iss->tm;
    default:
        *out_bytes = iss->m.pm_bytes;
        return iss->pm;
    }
}

const struct hd_layer_counters *hd_iss_layers(const hd_iss *iss, int *out_n) {
    *out_n = iss->tags.n_layers;
    return iss->tags.layers;
}

/* ---- registers ------------------------------------------------------------------------------ */

static void set_half(uint64_t *v, int high, uint32_t half) {
    *v = high ? (*v & UINT32_MAX) | (uint64_t)half << 32 : (*v >> 32 << 32) | half;
}

static void finish(hd_iss *iss) { /* done, and its interrupt bits */
    iss->started = false;
    iss->reg.ctrl = CTRL_DONE | CTRL_IDLE | CTRL_READY;
    iss->reg.isr |= iss->reg.ier & 3;
}

/* In mid-run nothing changes of what the run was told. */
static bool refused(hd_iss *iss, uint32_t offset, uint32_t value) {
    bool starts = offset == HD_REG_ap_ctrl && value & CTRL_START;
    if (starts && iss->reg.ctrl != CTRL_START) iss->reg.refused = 0;
    bool no = iss->reg.ctrl == CTRL_START &&
              (starts || (offset >= HD_REG_image_ptr && offset <= HD_REG_cycle_limit));
    iss->reg.refused += no;
    return no;
}

void hd_iss_reg_write(hd_iss *iss, uint32_t offset, uint32_t value) {
    if (refused(iss, offset, value)) return;
    switch (offset) {
    case HD_REG_ap_ctrl:
        if (value & CTRL_START) iss->reg.ctrl = CTRL_START;
        break;
    case HD_REG_gie:
        iss->reg.gie = value & 1;
        break;
    case HD_REG_ier:
        iss->reg.ier = value & 3;
        break;
    case HD_REG_isr:
        iss->reg.isr ^= value & 3;
        break;
    case HD_REG_image_ptr:
    case HD_REG_image_ptr + 4:
        set_half(&iss->reg.image_ptr, offset != HD_REG_image_ptr, value);
        break;
    case HD_REG_arena_ptr:
    case HD_REG_arena_ptr + 4:
        set_half(&iss->reg.arena_ptr, offset != HD_REG_arena_ptr, value);
        break;
    case HD_REG_image_bytes:
        iss->reg.image_bytes = value;
        break;
    case HD_REG_arena_bytes:
        iss->reg.arena_bytes = value;
        break;
    case HD_REG_code_offset:
        iss->reg.code_offset = value;
        break;
    case HD_REG_watchdog:
        iss->reg.watchdog = value;
        break;
    case HD_REG_cycle_limit:
        iss->reg.cycle_limit = value;
        break;
    case HD_REG_soft_reset:
        if (value & 1) {
            iss->running = iss->started = false;
            iss->reg.ctrl = CTRL_IDLE;
        }
        break;
    default:
        break;
    }
}

static uint32_t half(uint64_t v, uint32_t offset, uint32_t reg) {
    return (uint32_t)(offset == reg ? v : v >> 32);
}

/* A half of a counter: the low one keeps the high one for the next read. */
static uint32_t counter_half(hd_iss *iss, uint64_t v, bool high) {
    if (high) return iss->reg.high;
    iss->reg.high = (uint32_t)(v >> 32);
    return (uint32_t)v;
}

static uint32_t read_unit_counter(hd_iss *iss, uint32_t offset) {
    static const uint32_t first[] = {HD_REG_busy, HD_REG_stall_sem, HD_REG_stall_mem,
                                     HD_REG_stall_bank};
    for (int i = 0; i < 4; i++) {
        if (offset < first[i] || offset >= first[i] + 8 * HD_UNITS) continue;
        const struct hd_unit_counters *c = &iss->total.count[(offset - first[i]) / 8];
        const uint64_t v[] = {c->busy, c->stall_sem, c->stall_mem, c->stall_bank};
        return counter_half(iss, v[i], offset & 4);
    }
    return 0;
}

/* Head of a unit's work: the SEQ operation, the operation taken, or the oldest in the queue. */
static uint32_t unit_state(const hd_iss *iss, uint32_t reg, int u) {
    const struct front *f = &iss->front[u];
    const struct issue *s = &iss->issue;
    if (u == HD_UNIT_seq) {
        bool work = s->decoded && s->at < s->n;
        if (reg == HD_REG_next_pc) return work ? s->bundle + (uint32_t)s->offset[s->at] : s->pc;
        if (reg == HD_REG_wait_mask) return s->seq == SEQ_SEM ? s->ops[s->at].wait : 0;
        if (reg == HD_REG_tag && s->seq != SEQ_NONE) return UINT32_C(1) << 31;
        return 0;
    }
    bool in_sem = f->state == FRONT_SEM && f->ready <= iss->now;
    if (reg == HD_REG_queue) return f->q_n;
    if (reg == HD_REG_wait_mask) return in_sem ? f->cur.op.wait : 0;
    if (reg == HD_REG_next_pc)
        return f->state == FRONT_IDLE && f->q_n ? f->queue[f->q_head].pc : f->cur.pc;
    const struct flying_op *fly = &f->fly[f->f_head];
    return f->f_n && !fly->nop ? fly->tag | UINT32_C(1) << 31 : 0;
}

static uint32_t read_state(hd_iss *iss, uint32_t offset) {
    static const uint32_t first[] = {HD_REG_queue, HD_REG_wait_mask, HD_REG_next_pc, HD_REG_tag};
    for (int i = 0; i < 4; i++)
        if (offset >= first[i] && offset < first[i] + 4 * HD_UNITS)
            return unit_state(iss, first[i], (int)(offset - first[i]) / 4);
    return read_unit_counter(iss, offset);
}

static uint32_t sem_nonzero(const hd_iss *iss) {
    uint32_t bits = 0;
    for (int i = 0; i < HD_SEMAPHORES; i++) bits |= (uint32_t)(iss->sem[i] > 0) << i;
    return bits;
}

uint32_t hd_iss_reg_read(hd_iss *iss, uint32_t offset) {
    uint32_t v;
#define CASE64(in, name)                                                                           \
    case HD_REG_##name:                                                                            \
    case HD_REG_##name + 4:                                                                        \
        return half(iss->in.name, offset, HD_REG_##name)
#define COUNTER(name)                                                                              \
    case HD_REG_##name:                                                                            \
    case HD_REG_##name + 4:                                                                        \
        return counter_half(iss, iss->total.name, offset != HD_REG_##name)
#define CASE32(name)                                                                               \
    case HD_REG_##name:                                                                            \
        return iss->reg.name
    switch (offset) {
    case HD_REG_ap_ctrl:
        v = iss->reg.ctrl ? iss->reg.ctrl : CTRL_IDLE;
        if (!iss->running) iss->reg.ctrl &= ~(uint32_t)(CTRL_DONE | CTRL_READY);
        return v;
        CASE64(reg, image_ptr);
        CASE64(reg, arena_ptr);
        COUNTER(cycles);
        COUNTER(read_bytes);
        COUNTER(write_bytes);
        COUNTER(code_bytes);
        CASE32(gie);
        CASE32(ier);
        CASE32(isr);
        CASE32(image_bytes);
        CASE32(arena_bytes);
        CASE32(code_offset);
        CASE32(watchdog);
        CASE32(cycle_limit);
        CASE32(refused);
        CASE32(error);
        CASE32(error_unit);
        CASE32(error_pc);
    case HD_REG_isa_version:
        return HD_ISA_VERSION;
    case HD_REG_isa_hash:
        return hd_isa_hash();
    case HD_REG_machine_hash:
        return hd_machine_hash(&iss->m);
    case HD_REG_sem_nonzero:
        return sem_nonzero(iss);
    default:
        return read_state(iss, offset);
    }
#undef CASE32
#undef CASE64
#undef COUNTER
}

/* ---- accounting ----------------------------------------------------------------------------- */

struct hd_layer_counters *hd_iss_layer(hd_iss *iss, uint16_t tag) {
    if (tag >= iss->tags.cap_layers) {
        int cap = tag * 2 + 64;
        struct hd_layer_counters *p = realloc(iss->tags.layers, (size_t)cap * sizeof *p);
        HD_MEMORY(p);
        memset(p + iss->tags.cap_layers, 0, (size_t)(cap - iss->tags.cap_layers) * sizeof *p);
        iss->tags.layers = p;
        iss->tags.cap_layers = cap;
    }
    if (tag >= iss->tags.n_layers) iss->tags.n_layers = tag + 1;
    return &iss->tags.layers[tag];
}

/* Tag of the oldest operation in the unit's engine in cycle t, or -1. */
static int tag_in_work(const hd_iss *iss, enum hd_unit u, uint64_t t) {
    const struct front *f = &iss->front[u];
    const struct flying_op *o = &f->fly[f->f_head];
    return f->f_n && !o->nop && o->start <= t ? o->tag : -1;
}

/* VX has done its last operation: it counts as busy no more in the cycle in which it says so. */
static bool vx_is_done(const hd_iss *iss, uint64_t t) {
    const struct front *f = &iss->front[HD_UNIT_vx];
    return f->f_n == 1 && f->fly[f->f_head].done == t;
}

/* The first cycle behind t in which some unit begins or ends to count, at most `end`. */
static uint64_t next_change(const hd_iss *iss, uint64_t t, uint64_t end) {
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) {
        const struct front *f = &iss->front[u];
        const struct flying_op *o = &f->fly[f->f_head];
        if (f->f_n && o->start > t && o->start < end) end = o->start;
        if (u == HD_UNIT_vx && f->f_n == 1 && o->done > t && o->done < end) end = o->done;
    }
    return end;
}

/* Counts the cycles up to t, in which nothing changed. */
static void count_cycles(hd_iss *iss, uint64_t t) {
    uint64_t n = t - iss->tags.counted_to, at = iss->tags.counted_to;
    int mx = tag_in_work(iss, HD_UNIT_mx, at), vx = tag_in_work(iss, HD_UNIT_vx, at);
    int tag = mx >= 0 ? mx : vx >= 0 ? vx : iss->tags.last_tag;
    if (tag < 0)
        iss->tags.no_tag_cycles += n;
    else {
        if (iss->tags.last_tag < 0)
            hd_iss_layer(iss, (uint16_t)tag)->cycles += iss->tags.no_tag_cycles;
        iss->tags.last_tag = tag;
        hd_iss_layer(iss, (uint16_t)tag)->cycles += n;
    }
    if (mx >= 0) hd_iss_layer(iss, (uint16_t)mx)->mx_busy += n;
    bool vx_done = vx_is_done(iss, at);
    if (vx >= 0 && !vx_done) hd_iss_layer(iss, (uint16_t)vx)->vx_busy += n;
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) {
        const struct front *f = &iss->front[u];
        if (tag_in_work(iss, (enum hd_unit)u, at) >= 0)
            iss->total.count[u].busy += u == HD_UNIT_vx && vx_done ? 0 : n;
        else if (f->state == FRONT_SEM && f->ready < t)
            iss->total.count[u].stall_sem += t - (f->ready > at ? f->ready : at);
    }
    uint64_t seq =
        iss->issue.seq_start > at ? iss->issue.seq_start : at; /* its last word is there */
    if (iss->issue.seq == SEQ_SEM && seq < t) iss->total.count[HD_UNIT_seq].stall_sem += t - seq;
    iss->tags.counted_to = t;
}

static void account(hd_iss *iss, uint64_t t) {
    while (iss->tags.counted_to < t && !iss->functional)
        count_cycles(iss, next_change(iss, iss->tags.counted_to, t));
}

void hd_iss_error(hd_iss *iss, unsigned code, enum hd_unit unit, uint32_t pc) {
    if (!iss->running) return;
    iss->reg.error = code;
    iss->reg.error_unit = (uint32_t)unit;
    iss->reg.error_pc = pc;
    iss->running = false;
}

static void fails(hd_iss *iss, struct iss_failure f) {
    struct iss_failure *first = &iss->failure;
    if (iss->functional)
        hd_iss_error(iss, f.code, f.unit, f.of_oldest ? iss->front[f.unit].cur.pc : f.pc);
    else if (!first->is || f.at < first->at || (f.at == first->at && f.rank < first->rank))
        *first = f;
}

void hd_iss_issue_fails(hd_iss *iss, uint64_t t, enum hd_unit unit, uint32_t pc) {
    fails(iss, (struct iss_failure){true, false, t, HD_ERR_encoding, 0, unit, pc});
}
void hd_iss_unit_fails(hd_iss *iss, uint64_t t, unsigned code, enum hd_unit u) {
    fails(iss, (struct iss_failure){true, true, t, code, 2 * (int)u, u, 0});
}
void hd_iss_overflows(hd_iss *iss, uint64_t t, enum hd_unit u, uint32_t pc) {
    fails(iss, (struct iss_failure){true, false, t, HD_ERR_semaphore, 2 * (int)u + 1, u, pc});
}

/* The first error shows before the next event, in cycle t: the run ends. */
static bool has_failed(hd_iss *iss, uint64_t t) {
    const struct iss_failure *f = &iss->failure;
    if (!f->is || t <= f->at) return false;
    const struct front *front = &iss->front[f->unit];
    iss->now = f->at;
    hd_iss_error(iss, f->code, f->unit, f->of_oldest ? front->fly[front->f_head].pc : f->pc);
    return true;
}

/* ---- the run -------------------------------------------------------------------------------- */

void hd_iss_set_next(uint64_t *next, uint64_t t) {
    if (t < *next) *next = t;
}

void hd_iss_wake(hd_iss *iss) {
    hd_iss_set_next(&iss->issue.next, iss->now);
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) hd_iss_set_next(&iss->front[u].next, iss->now);
}

static void clear_run(hd_iss *iss) {
    struct hd_axi_in unused;
    hd_axi_mem_reset(iss->mem, &unused);
    memset(iss->sem, 0, sizeof iss->sem);
    memset(iss->front, 0, sizeof iss->front);
    memset(iss->load, 0, sizeof iss->load);
    memset(&iss->store, 0, sizeof iss->store);
    memset(&iss->bus, 0, sizeof iss->bus);
    memset(&iss->vx, 0, sizeof iss->vx);
    memset(&iss->axi_out, 0, sizeof iss->axi_out);
    memset(&iss->fetch, 0, sizeof iss->fetch);
    memset(&iss->words, 0, sizeof iss->words);
    memset(&iss->issue, 0, sizeof iss->issue);
    memset(iss->total.count, 0, sizeof iss->total.count);
    if (iss->tags.layers)
        memset(iss->tags.layers, 0, (size_t)iss->tags.cap_layers * sizeof *iss->tags.layers);
    iss->tags.n_layers = 0;
    iss->tags.last_tag = -1;
    iss->reg.error = iss->reg.error_unit = iss->reg.error_pc = 0;
    iss->failure.is = false;
    iss->moves_to = 0;
    iss->now = iss->total.cycles = iss->total.read_bytes = iss->total.write_bytes =
        iss->total.code_bytes = 0;
    iss->tags.counted_to = iss->tags.no_tag_cycles = iss->ticked = iss->mx.end = 0;
    iss->mx.n_op = 0;
    memset(iss->mx.wrote, 0, sizeof iss->mx.wrote);
    iss->code_words = 0;
    for (int u = 0; u < HD_UNITS; u++) iss->front[u].next = HD_NEVER;
}

/* Finds the program; an error here stops the run at once. */
static void start(hd_iss *iss) {
    bool owed = hd_axi_mem_is_silent(iss->mem); /* bursts of the run before, which it waits for */
    clear_run(iss);
    iss->running = iss->started = true;
    if (owed) hd_iss_error(iss, HD_ERR_watchdog, HD_UNIT_seq, 0);
    uint64_t begin = (uint64_t)iss->reg.code_offset + 4 * HD_PROG_HEADER_WORDS;
    if (begin > iss->reg.image_bytes)
        hd_iss_error(iss, HD_ERR_window, HD_UNIT_seq, 0);
    else if ((iss->reg.image_ptr | iss->reg.code_offset) % HD_CODE_ALIGN)
        hd_iss_error(iss, HD_ERR_range, HD_UNIT_seq, 0);
    else {
        iss->code = hd_axi_mem_at(iss->mem, iss->reg.image_ptr + iss->reg.code_offset,
                                  iss->reg.image_bytes - iss->reg.code_offset);
        if (!iss->code) hd_iss_error(iss, HD_ERR_axi, HD_UNIT_seq, 0);
    }
    struct fetch *f = &iss->fetch;
    f->at = iss->reg.code_offset;
    f->first = (f->at / HD_N_fetch_chunk + HD_N_fetch_chunks) * HD_N_fetch_chunk;
    if (f->first > iss->reg.image_bytes) f->first = iss->reg.image_bytes;
    f->known = f->stop = HD_NEVER;
    iss->tick = iss->functional ? HD_NEVER : 0;
    iss->issue.next = iss->free_issue ? HD_T_fetch_request : HD_NEVER;
}

/* A run that does not end. As in the hardware the sequencer reports it, at the operation it is at.
 */
static void give_up(hd_iss *iss, unsigned code, uint64_t cycle) {
    iss->now = cycle;
    account(iss, cycle);
    hd_iss_error(iss, code, HD_UNIT_seq, unit_state(iss, HD_REG_next_pc, HD_UNIT_seq));
}

/* The last cycle in which the run may end. */
static uint64_t last_cycle(const hd_iss *iss) {
    return iss->reg.cycle_limit && !iss->functional
               ? (uint64_t)iss->reg.cycle_limit * HD_N_limit_unit + HD_T_limit
               : HD_NEVER;
}

/* Cycles that are left to the run. */
static uint64_t budget(const hd_iss *iss) {
    uint64_t last = last_cycle(iss);
    if (last > HD_ISS_MAX_CYCLES) last = HD_ISS_MAX_CYCLES;
    return last > iss->now ? last - iss->now : 0;
}

/* The next event comes in cycle t: too late? Then the run ends. */
static bool too_late(hd_iss *iss, uint64_t t) {
    uint64_t moved = iss->moves_to > iss->now ? iss->moves_to : iss->now, last = last_cycle(iss);
    bool watched = iss->reg.watchdog && !iss->functional;
    uint64_t still = watched ? moved + iss->reg.watchdog : HD_NEVER - 1;
    if (t <= still && t <= last) return false;
    if (last < still)
        give_up(iss, HD_ERR_limit, last);
    else /* with the watchdog off, too: a simulator must not hang */
        give_up(iss, HD_ERR_watchdog, watched ? still : iss->now);
    return true;
}

/* Cycle of the earliest event; in the order in which events of one cycle run. */
static uint64_t earliest(const hd_iss *iss) {
    uint64_t t = iss->issue.next < iss->tick ? iss->issue.next : iss->tick;
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) {
        const struct front *f = &iss->front[u];
        if (f->f_n && f->fly[f->f_head].done != HD_NEVER && f->fly[f->f_head].done + 1 < t)
            t = f->fly[f->f_head].done + 1;
        if (f->next < t) t = f->next;
    }
    return t;
}

static void run_cycle(hd_iss *iss) {
    for (int u = HD_UNIT_lx; u < HD_UNITS && iss->running; u++) {
        const struct front *f = &iss->front[u];
        if (f->f_n && f->fly[f->f_head].done < iss->now) hd_iss_complete(iss, (enum hd_unit)u);
    }
    if (iss->running && iss->tick <= iss->now) hd_iss_tick(iss);
    for (int u = HD_UNIT_lx; u < HD_UNITS && iss->running; u++)
        if (iss->front[u].next <= iss->now) hd_iss_front_step(iss, (enum hd_unit)u);
    if (iss->running && iss->issue.next <= iss->now) hd_iss_issue_step(iss);
}

/* The program has ended: bursts of fetch that are open in its last cycle but one end, too. */
static void drain(hd_iss *iss) {
    uint64_t end = iss->now;
    iss->fetch.stop = end - 1;
    while (iss->fetch.open && iss->tick != HD_NEVER) {
        iss->now = iss->tick;
        hd_iss_tick(iss);
        if (iss->now + HD_T_halt - 1 > end) end = iss->now + HD_T_halt - 1;
    }
    iss->now = end;
    account(iss, end);
}

bool hd_iss_run(hd_iss *iss, uint64_t max_cycles) {
    if (iss->reg.ctrl != CTRL_START) return true;
    if (!iss->started) start(iss);
    uint64_t limit = max_cycles ? max_cycles : HD_NEVER - 1;
    while (iss->running) {
        uint64_t t = earliest(iss);
        if (has_failed(iss, t) || too_late(iss, t)) break;
        if (t > limit || t > HD_ISS_MAX_CYCLES) {
            iss->total.cycles = limit;
            return false;
        }
        account(iss, t);
        iss->now = t;
        iss->budget = budget(iss);
        run_cycle(iss);
    }
    account(iss, iss->now);
    if (iss->now > last_cycle(iss) && !iss->reg.error) {
        iss->reg.error = HD_ERR_limit;
        iss->reg.error_pc = unit_state(iss, HD_REG_next_pc, HD_UNIT_seq);
    }
    if (!iss->reg.error) drain(iss);
    iss->total.cycles = iss->functional ? 0 : iss->now;
    finish(iss);
    return true;
}
