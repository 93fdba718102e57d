/* Operations of the RTL, found from what its fronts show in every cycle.
 *
 * A front has an operation from the cycle after it took its last word from the queue to that of the
 * hand-over; done_pc changes in the cycle after the oldest operation ended. A place names one
 * operation. */
#include "sim/trace.h"

#include <stdlib.h>
#include <string.h>

enum { OPEN_OPS = 16 }; /* 8 in flight and one in the front */

struct unit {
    struct hd_op_record op[OPEN_OPS];
    unsigned head, n;
    bool in_front; /* the newest is not handed over yet */
    bool counted;  /* the oldest was seen active */
    bool taken;
    uint32_t done_pc;
    uint64_t busy_end; /* cycle after the last one in which the unit counted as busy */
};

struct hd_trace {
    const struct hd_probe *probe;
    struct unit unit[HD_UNITS];
};

struct hd_trace *hd_trace_create(const struct hd_probe *probe) {
    struct hd_trace *t = calloc(1, sizeof *t);
    if (t) t->probe = probe;
    return t;
}

void hd_trace_destroy(struct hd_trace *t) {
    free(t);
}

static struct hd_op_record *oldest(struct unit *u) {
    return &u->op[u->head];
}
static struct hd_op_record *newest(struct unit *u) {
    return &u->op[(u->head + u->n - 1) % OPEN_OPS];
}

static void begin_op(struct unit *u, unsigned unit, uint32_t pc, uint64_t cycle) {
    if (u->n == OPEN_OPS) return;
    u->n++;
    *newest(u) = (struct hd_op_record){.unit = (uint8_t)unit, .pc = pc, .take = cycle};
}

static void end_op(struct hd_trace *t, struct unit *u, uint64_t cycle) {
    if (!u->n) return;
    struct hd_op_record *r = oldest(u);
    r->end = u->counted && u->busy_end < cycle ? u->busy_end : cycle;
    if (!u->counted) r->oldest = cycle; /* nop */
    if (!r->start) r->start = r->oldest;
    if (t->probe->op) t->probe->op(t->probe->user, r);
    u->head = (u->head + 1) % OPEN_OPS;
    u->n--;
    u->counted = false;
}

/* SEQ: an operation is in work, or none. */
static void seq_cycle(struct hd_trace *t, const struct hd_rtl_cycle *c) {
    struct unit *u = &t->unit[HD_UNIT_seq];
    bool active = c->active >> HD_UNIT_seq & 1;
    if (u->n && (!active || oldest(u)->pc != c->taken_pc[HD_UNIT_seq])) end_op(t, u, c->cycle);
    if (!active) return;
    if (!u->n) {
        begin_op(u, HD_UNIT_seq, c->taken_pc[HD_UNIT_seq], c->cycle);
        oldest(u)->start = oldest(u)->oldest = c->cycle;
        oldest(u)->tag = c->tag[HD_UNIT_seq];
        u->counted = true;
    }
    u->busy_end = c->cycle + 1;
    oldest(u)->stall_sem += c->stall_sem >> HD_UNIT_seq & 1;
}

static void unit_cycle(struct hd_trace *t, const struct hd_rtl_cycle *c, unsigned unit) {
    struct unit *u = &t->unit[unit];
    bool taken = c->taken[unit];
    if (c->done_pc[unit] != u->done_pc) end_op(t, u, c->cycle);
    u->done_pc = c->done_pc[unit];
    if (taken && !u->taken) {
        begin_op(u, unit, c->taken_pc[unit], c->cycle - 1);
        u->in_front = true;
    }
    if (!taken && u->in_front) {
        if (u->n) newest(u)->start = c->cycle;
        u->in_front = false;
    }
    u->taken = taken;
    if (!u->n) return;
    if (c->stall_sem >> unit & 1) newest(u)->stall_sem++;
    if (!(c->active >> unit & 1)) return;
    struct hd_op_record *r = oldest(u);
    if (!u->counted) {
        u->counted = true;
        r->oldest = c->cycle;
        r->tag = c->tag[unit];
    }
    if (c->busy >> unit & 1) u->busy_end = c->cycle + 1; /* VX ends a cycle before it says so */
    r->stall_mem += c->stall_mem >> unit & 1;
    r->stall_bank += c->stall_bank >> unit & 1;
}

void hd_trace_cycle(void *user, const struct hd_rtl_cycle *c) {
    struct hd_trace *t = user;
    if (c->cycle == 0) {
        memset(t->unit, 0, sizeof t->unit);
        for (int u = 0; u < HD_UNITS; u++) t->unit[u].done_pc = c->done_pc[u];
    }
    seq_cycle(t, c);
    for (unsigned u = HD_UNIT_lx; u < HD_UNITS; u++) unit_cycle(t, c, u);
    if (!t->probe->dram) return;
    if (c->read_bytes) t->probe->dram(t->probe->user, c->cycle, false, c->read_bytes);
    if (c->write_bytes) t->probe->dram(t->probe->user, c->cycle, true, c->write_bytes);
}

void hd_trace_end(struct hd_trace *t, uint64_t cycles) {
    for (int u = 0; u < HD_UNITS; u++)
        while (t->unit[u].n) end_op(t, &t->unit[u], cycles);
}
