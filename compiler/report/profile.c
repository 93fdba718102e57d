/* Profile of a run, collected by a probe; and several probes as one. */
#include "compiler/report/profile.h"

#include <string.h>

/* ---- DRAM over time ------------------------------------------------------------------------- */

void hd_bins_clear(struct hd_bins *b) {
    memset(b, 0, sizeof *b);
    b->cycles = 1;
}

void hd_bins_add(struct hd_bins *b, uint64_t cycle, bool write, uint32_t bytes) {
    while (cycle / b->cycles >= HD_BINS) { /* twice as wide */
        for (size_t i = 0; i < HD_BINS; i++)
            for (int k = 0; k < 2; k++)
                b->bytes[i][k] = i < HD_BINS / 2 ? b->bytes[2 * i][k] + b->bytes[2 * i + 1][k] : 0;
        b->cycles *= 2;
        b->n = (b->n + 1) / 2;
    }
    size_t i = (size_t)(cycle / b->cycles);
    b->bytes[i][write] += bytes;
    if (i >= b->n) b->n = i + 1;
}

/* ---- the probe ------------------------------------------------------------------------------ */

static void begin(void *user, int step, const uint32_t *program, size_t n_words,
                  const struct hd_probe_eye *eye) {
    struct hd_profile *p = user;
    (void)program, (void)n_words, (void)eye;
    if (step <= p->step) { /* another run */
        memset(p->layers, 0, (size_t)p->m->n_layers * sizeof *p->layers);
        hd_bins_clear(&p->dram);
        p->n_ops = p->n_dropped = 0;
        p->base = 0;
    }
    p->step = step;
}

static void op_ended(void *user, const struct hd_op_record *r) {
    struct hd_profile *p = user;
    if (r->unit == HD_UNIT_seq || r->tag >= p->m->n_layers) return;
    struct hd_layer_profile *l = &p->layers[r->tag];
    uint64_t from = p->base + r->oldest, to = p->base + r->end;
    if (!l->n_ops++ || from < l->begin) l->begin = from;
    if (to > l->end) l->end = to;
    struct hd_unit_counters *u = &l->unit[r->unit];
    u->busy += r->end - r->oldest;
    u->stall_sem += r->stall_sem;
    u->stall_mem += r->stall_mem;
    u->stall_bank += r->stall_bank;
    if (p->n_ops >= HD_OPS_MAX) {
        p->n_dropped++;
        return;
    }
    *hd_push(p->a, p->ops, p->n_ops, p->cap_ops) = (struct hd_profile_op){
        r->unit, r->tag, p->step, r->pc, from, to, r->stall_sem, r->stall_mem, r->stall_bank};
}

static void dram(void *user, uint64_t cycle, bool write, uint32_t bytes) {
    struct hd_profile *p = user;
    hd_bins_add(&p->dram, p->base + cycle, write, bytes);
}

static void end(void *user, uint64_t cycles, const struct hd_probe_state *state) {
    struct hd_profile *p = user;
    (void)state;
    p->base += cycles;
}

struct hd_profile *hd_profile_create(hd_arena *a, const hd_model *m) {
    struct hd_profile *p = hd_new(a, struct hd_profile);
    p->probe =
        (struct hd_probe){.user = p, .begin = begin, .op = op_ended, .dram = dram, .end = end};
    p->a = a;
    p->m = m;
    p->step = -1;
    p->layers = hd_new_array(a, struct hd_layer_profile, (size_t)m->n_layers + 1);
    hd_bins_clear(&p->dram);
    return p;
}

/* ---- several probes ------------------------------------------------------------------------- */

enum { JOIN_MAX = 4 };

struct joined {
    struct hd_probe probe;
    const struct hd_probe *part[JOIN_MAX];
    int n;
};

static void join_begin(void *user, int step, const uint32_t *program, size_t n_words,
                       const struct hd_probe_eye *eye) {
    const struct joined *j = user;
    for (int i = 0; i < j->n; i++)
        if (j->part[i]->begin) j->part[i]->begin(j->part[i]->user, step, program, n_words, eye);
}

static void join_op(void *user, const struct hd_op_record *r) {
    const struct joined *j = user;
    for (int i = 0; i < j->n; i++)
        if (j->part[i]->op) j->part[i]->op(j->part[i]->user, r);
}

static void join_wrote(void *user, uint16_t tag, uint32_t pc) {
    const struct joined *j = user;
    for (int i = 0; i < j->n; i++)
        if (j->part[i]->wrote) j->part[i]->wrote(j->part[i]->user, tag, pc);
}

static void join_dram(void *user, uint64_t cycle, bool write, uint32_t bytes) {
    const struct joined *j = user;
    for (int i = 0; i < j->n; i++)
        if (j->part[i]->dram) j->part[i]->dram(j->part[i]->user, cycle, write, bytes);
}

static void join_end(void *user, uint64_t cycles, const struct hd_probe_state *state) {
    const struct joined *j = user;
    for (int i = 0; i < j->n; i++)
        if (j->part[i]->end) j->part[i]->end(j->part[i]->user, cycles, state);
}

const struct hd_probe *hd_probe_join(hd_arena *a, const struct hd_probe *const *probes, int n) {
    struct joined *j = hd_new(a, struct joined);
    for (int i = 0; i < n; i++)
        if (probes[i]) {
            HD_ASSERT(j->n < JOIN_MAX);
            j->part[j->n++] = probes[i];
        }
    if (j->n < 2) return j->n ? j->part[0] : NULL;
    j->probe = (struct hd_probe){j, join_begin, join_op, join_wrote, join_dram, join_end, false};
    for (int i = 0; i < j->n; i++) j->probe.looks = j->probe.looks || j->part[i]->looks;
    return &j->probe;
}
