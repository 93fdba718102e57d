/* Estimate: how many cycles a list of slot operations takes, before it is encoded.
 *
 * needs: operations with what they wait for (deps.c)
 * gives: cycles from start to halt
 * destroys: nothing
 *
 * A simulation of events: an operation starts when it is issued, its unit is free and what it waits
 * for is done. Durations are those of docs/hw.md: one iteration a cycle on MX and VX, one beat a
 * cycle on each direction of the bus; LX and LW share the reads evenly. Of bank conflicts only a
 * store behind MX is modelled, roughly; fetch on the bus is not. How close it comes to the ISS:
 * `heddle bench machine`.
 */
#include <string.h>

#include "compiler/sched/sched.h"
#include "runtime/base/num.h"

enum {
    /* cycles, docs/hw.md */
    FETCH = 8,     /* start to the first request, data to the first word */
    SIGNAL = 3,    /* done of one unit to start of another */
    MX_DONE = 9,   /* last iteration to done */
    VX_DONE = 20,  /* likewise */
    DMA_FIRST = 6, /* accepted to the first address */
    DMA_DONE = 4,
    HALT = 4,
    OUTSTANDING = 16
};
static const double NEVER = 1e18;

struct load { /* of LX or LW, its data on the way */
    int number;
    double at;    /* first data, at the earliest */
    double beats; /* that are still to come */
    double rate;  /* beats a cycle at most: short bursts leave gaps */
    double pad;   /* cycles of padding before, without the bus */
};
enum { LOADS = 4 };

struct timing {
    const struct hd_sched *s;
    int64_t axi, latency;
    double *done[HD_UNITS], *start[HD_UNITS],
        *issued[HD_UNITS]; /* per operation; < 0 = not known yet */
    double free[HD_UNITS]; /* when the unit takes its next operation; < 0 = its loads decide */
    int next[HD_UNITS];    /* operations started */
    struct load load[HD_UNITS][LOADS];
    int n_loads[HD_UNITS];
    double write_free, now;
    double burst_free[OUTSTANDING]; /* when the bursts sent last are acknowledged */
    int burst;                      /* the oldest of them */
    double vx_written[2];           /* when the last result of VX is in XM, in AM */
};

/* The next addresses of a unit go out while that many beats are to come. */
static double ahead(const struct timing *t) {
    return (double)(t->latency + 32);
}

static int64_t field(const struct hd_slot_op *op, enum hd_field f) {
    return hd_field_get(op->words, f);
}

/* Runs and beats of a load or store. */
static void transfer(const struct timing *t, const struct hd_slot_op *op, int64_t *out_runs,
                     int64_t *out_beats) {
    const struct hd_machine *m = t->s->lo->m;
    int64_t run, n[3], step[3];
    if (op->unit == HD_UNIT_lw) {
        run = field(op, HD_F_lw_count) * hd_lw_word_bytes(m, field(op, HD_F_lw_mem)) -
              field(op, HD_F_lw_cut) * t->axi;
        n[0] = field(op, HD_F_lw_n1), n[1] = n[2] = 1;
        step[0] = field(op, HD_F_lw_s1), step[1] = step[2] = 0;
    } else if (op->unit == HD_UNIT_lx) {
        run = field(op, HD_F_lx_run);
        n[0] = field(op, HD_F_lx_n1), n[1] = field(op, HD_F_lx_n2), n[2] = field(op, HD_F_lx_n3);
        step[0] = field(op, HD_F_lx_s1), step[1] = field(op, HD_F_lx_s2), step[2] = 0;
        if (field(op, HD_F_lx_edge) && !field(op, HD_F_lx_rows)) { /* padding alone: no DRAM */
            *out_runs = n[0] * n[1] * n[2] * hd_ceil_div(run, t->axi);
            *out_beats = 0;
            return;
        }
    } else {
        run = field(op, HD_F_st_run);
        n[0] = field(op, HD_F_st_n1), n[1] = field(op, HD_F_st_n2), n[2] = field(op, HD_F_st_n3);
        step[0] = field(op, HD_F_st_d1), step[1] = field(op, HD_F_st_d2), step[2] = 0;
    }
    for (int i = 0; i < 3 && (n[i] == 1 || step[i] == run); i++) /* those that go on are one */
        run *= n[i], n[i] = 1;
    *out_runs = n[0] * n[1] * n[2];
    *out_beats = *out_runs * hd_ceil_div(run, t->axi);
}

/* Iterations of a matrix or vector operation. */
static int64_t iterations(const struct hd_slot_op *op) {
    if (op->unit == HD_UNIT_mx)
        return field(op, HD_F_mx_n0) * field(op, HD_F_mx_n1) * field(op, HD_F_mx_n2) *
               field(op, HD_F_mx_n3) * field(op, HD_F_mx_n4) * field(op, HD_F_mx_n5);
    int64_t n0 = field(op, HD_F_vx_n0), n1 = field(op, HD_F_vx_n1);
    int64_t outer = field(op, HD_F_vx_n2) * field(op, HD_F_vx_n3);
    if (op->code == hd_isa_ops[HD_OP_vx_dw].code)
        return outer * (field(op, HD_F_vx_b_kind) == field(op, HD_F_vx_a_kind)
                            ? n1 + n0 - 2 /* two columns a cycle */
                            : (n1 - 1) * field(op, HD_F_vx_sx) + n0);
    return outer * n0 * n1;
}

/* Cycles that a store waits because the matrix unit, which comes first, reads its banks: the rest
 * of this operation, and one more like it. */
static double bank_wait(const struct timing *t, const struct hd_slot_op *st) {
    const struct hd_sched *s = t->s;
    int k = t->next[HD_UNIT_mx];
    if (k == 0 || t->free[HD_UNIT_mx] <= t->now) return 0;
    uint32_t reads = s->ops[s->by_number[HD_UNIT_mx][k - 1]].reads_banks;
    if (!(reads & st->reads_banks)) return 0;
    return (2 * t->free[HD_UNIT_mx] - t->now - t->start[HD_UNIT_mx][k - 1]) *
           __builtin_popcount(reads & st->reads_banks) / __builtin_popcount(reads);
}

static bool xm_kind(int64_t kind) {
    return kind == 2 || kind == 3;
}

/* A vector operation that reads XM begins when the one before that writes XM has drained; so with
 * AM. */
static double drained(const struct timing *t, const struct hd_slot_op *op) {
    int64_t a = field(op, HD_F_vx_a_kind), b = field(op, HD_F_vx_b_kind);
    if (!field(op, HD_F_vx_alu)) b = a;
    double xm = xm_kind(a) || xm_kind(b) ? t->vx_written[0] : 0;
    double am = a < 2 || b < 2 ? t->vx_written[1] : 0;
    return xm > am ? xm : am;
}

/* LX waits where VX writes the bank that it fills: as measured, about half of the time in which
 * both are there. */
static void hold_load(struct timing *t, const struct hd_slot_op *vx) {
    struct load *l = t->load[HD_UNIT_lx];
    if (!t->n_loads[HD_UNIT_lx] || l->beats <= 0) return;
    uint32_t fills = t->s->ops[t->s->by_number[HD_UNIT_lx][l->number - 1]].writes_banks;
    uint32_t both = fills & vx->writes_banks;
    if (both)
        l->beats +=
            (double)iterations(vx) / 2 * __builtin_popcount(both) / __builtin_popcount(fills);
}

/* Bursts of a store, the first from `at` on. One more waits until the oldest of OUTSTANDING is
 * acknowledged, whichever operation that belongs to. */
static void send(struct timing *t, double at, int64_t runs, int64_t beats) {
    int64_t longest = hd_burst_beats(t->s->lo->m);
    double bursts = (double)(runs * hd_ceil_div(beats, runs * longest));
    double each = (double)beats / bursts;
    int many = bursts < 2 * OUTSTANDING ? (int)bursts : 2 * OUTSTANDING;
    for (int i = 0; i < many; i++, t->burst = (t->burst + 1) % OUTSTANDING) {
        double *free = &t->burst_free[t->burst];
        at = (at > *free ? at : *free) + each;
        *free = at + (double)t->latency + 2;
    }
    double round = OUTSTANDING * each, acknowledged = each + (double)t->latency + 2;
    double rest = (bursts - many) / OUTSTANDING * (round > acknowledged ? round : acknowledged);
    for (int i = 0; i < OUTSTANDING; i++) t->burst_free[i] += rest;
    t->write_free = at + rest;
}

/* The operation starts now. */
static void start_op(struct timing *t, const struct hd_slot_op *op) {
    int u = op->unit, k = op->number - 1;
    double start = t->now, done = start + 1;
    t->start[u][k] = start;
    t->next[u]++;
    t->free[u] = start;
    if (op->code && (u == HD_UNIT_mx || u == HD_UNIT_vx)) {
        double begin = start;
        if (u == HD_UNIT_vx && drained(t, op) > begin) begin = drained(t, op);
        t->free[u] = begin + (double)iterations(op);
        done = t->free[u] + (u == HD_UNIT_mx ? MX_DONE : VX_DONE);
        if (u == HD_UNIT_vx) hold_load(t, op);
        if (u == HD_UNIT_vx)
            t->vx_written[field(op, HD_F_vx_d_kind) == 1 || field(op, HD_F_vx_d_kind) == 2] = done;
    } else if (op->code && u != HD_UNIT_seq) {
        int64_t runs, beats;
        double first = start + DMA_FIRST;
        transfer(t, op, &runs, &beats);
        double work = (double)hd_max(beats, runs);
        if (u == HD_UNIT_st) {
            double data = first > t->write_free ? first : t->write_free;
            send(t, data + bank_wait(t, op), runs, beats);
            done = t->write_free + t->latency + DMA_DONE;
            t->free[u] = t->write_free - ahead(t) > start + (double)runs ? t->write_free - ahead(t)
                                                                         : start + (double)runs;
        } else { /* no more than OUTSTANDING short bursts in a latency */
            double burst = runs ? (double)beats / (double)runs : 0;
            double gaps = (double)runs * ((double)t->latency + burst + 3) / OUTSTANDING;
            struct load *l = &t->load[u][t->n_loads[u]++];
            *l = (struct load){.number = op->number,
                               .at = beats ? first + t->latency : first,
                               .beats = (double)beats,
                               .rate = beats && gaps > work ? (double)beats / gaps : 1,
                               .pad = beats ? 0 : work};
            t->free[u] = -1;
            done = -1;
        }
    }
    if (done >= 0 && k > 0 && done < t->done[u][k - 1]) done = t->done[u][k - 1];
    t->done[u][k] = done;
}

static const int loaders[] = {HD_UNIT_lx, HD_UNIT_lw};

static bool on_bus(const struct timing *t, int u) {
    const struct load *l = t->load[u];
    return t->n_loads[u] && l->beats > 0 && l->at <= t->now;
}

static double rate(const struct timing *t, int u) {
    bool shared = on_bus(t, HD_UNIT_lx) && on_bus(t, HD_UNIT_lw);
    double other = shared ? t->load[u == HD_UNIT_lx ? HD_UNIT_lw : HD_UNIT_lx]->rate : 0;
    double fair = !shared ? 1 : other < 0.5 ? 1 - other : 0.5;
    return t->load[u]->rate < fair ? t->load[u]->rate : fair;
}

/* When the oldest load of u ends, begins or lets the next operation in, whichever is next. */
static double load_event(const struct timing *t, int u) {
    const struct load *l = t->load[u];
    if (!t->n_loads[u]) return NEVER;
    if (l->at > t->now) return l->at;
    if (l->beats <= 0) return t->now + l->pad;
    if (t->free[u] < 0 && l->beats > ahead(t) + 1e-6 && t->n_loads[u] == 1)
        return t->now + (l->beats - ahead(t)) / rate(t, u);
    return t->now + l->beats / rate(t, u);
}

/* Time goes on to `to`: beats move. */
static void advance(struct timing *t, double to) {
    double r[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        if (on_bus(t, loaders[i])) r[i] = rate(t, loaders[i]);
    for (int i = 0; i < 2; i++) {
        struct load *l = t->load[loaders[i]];
        if (!t->n_loads[loaders[i]] || l->at > t->now) continue;
        if (l->beats > 0)
            l->beats -= (to - t->now) * r[i];
        else
            l->pad -= to - t->now;
        if (l->beats < 1e-6) l->beats = 0;
    }
    t->now = to;
    for (int i = 0; i < 2; i++) {
        int u = loaders[i];
        struct load *l = t->load[u];
        while (t->n_loads[u] && l->at <= to && l->beats <= 0 && l->pad <= 1e-6) {
            t->done[u][l->number - 1] = to + DMA_DONE;
            memmove(l, l + 1, (LOADS - 1) * sizeof *l);
            t->n_loads[u]--;
        }
        if (t->free[u] < 0 &&
            (!t->n_loads[u] || (t->n_loads[u] < LOADS - 1 && l->beats <= ahead(t) + 1e-6)))
            t->free[u] = to;
    }
}

/* When the next operation of unit u can start; NEVER while that is not known. */
static double can_start(const struct timing *t, int u) {
    const struct hd_sched *s = t->s;
    if (t->next[u] >= s->count[u] || t->free[u] < 0) return NEVER;
    double at = t->issued[u][t->next[u]];
    if (at < 0) return NEVER;
    const struct hd_slot_op *op = &s->ops[s->by_number[u][t->next[u]]];
    at += 2;
    if (t->free[u] > at) at = t->free[u];
    for (int v = 0; v < HD_UNITS; v++) {
        if (!op->after[v]) continue;
        double done = t->done[v][op->after[v] - 1];
        if (done < 0) return NEVER;
        if (done + SIGNAL > at) at = done + SIGNAL;
    }
    return at > t->now ? at : t->now;
}

enum { FORMS = 256, SHORT = 70000 /* cycles of a program whose loops are looked for */ };

struct program { /* as issue.c sees it, and roughly as pack.c will leave it */
    uint32_t held[HD_UNITS][HD_PARAM_WORDS];
    uint64_t seen[FORMS]; /* forms of operations that came before */
    int64_t words, packed;
};

/* Words of the operation that issue. One that is word by word like an earlier one is mostly in a
 * loop; what is counted of it is a part, since some are not. */
static int64_t words(struct program *p, const struct hd_slot_op *op) {
    uint32_t *held = p->held[op->unit];
    int64_t n = 2 + (op->wait != 0) + (op->signal != 0);
    uint64_t form = UINT64_C(0xcbf29ce484222325) ^ op->unit ^ (uint64_t)op->wait << 32 ^ op->signal;
    for (int i = 0; i < hd_isa_units[op->unit].n_words; i++) {
        if (op->words[i] == held[i]) continue;
        form = (form ^ (uint64_t)i << 32 ^ (op->words[i] - held[i])) * UINT64_C(0x100000001b3);
        held[i] = op->words[i], n++;
    }
    uint64_t *seen = &p->seen[(form ^ form >> 24) & (FORMS - 1)];
    p->words += n, p->packed += *seen == form ? 1 + n / 4 : n;
    *seen = form;
    return n;
}

int64_t hd_sched_estimate(const struct hd_sched *s, int64_t *out_words) {
    hd_arena *a = hd_arena_create();
    struct timing t = {
        .s = s, .axi = hd_axi_bytes(s->lo->m), .latency = hd_compile_latency(s->lo->opt)};
    struct program *program = hd_new(a, struct program);
    double issued = FETCH + t.latency, end = 0;
    int queue = (int)s->lo->m->queue_ops;
    for (int u = 0; u < HD_UNITS; u++) {
        double **lists[] = {&t.done[u], &t.start[u], &t.issued[u]};
        for (int i = 0; i < 3; i++) {
            *lists[i] = hd_new_array(a, double, (size_t)s->count[u] + 1);
            for (int k = 0; k < s->count[u]; k++) (*lists[i])[k] = -1;
        }
    }
    for (size_t i = 0;;) {
        for (; i < s->n_ops; i++) { /* the queue has room when an earlier operation has left it */
            const struct hd_slot_op *op = &s->ops[i];
            if (op->number > queue && t.next[op->unit] < op->number - queue) break;
            issued += (double)words(program, op);
            if (op->number > queue && t.start[op->unit][op->number - 1 - queue] > issued)
                issued = t.start[op->unit][op->number - 1 - queue];
            t.issued[op->unit][op->number - 1] = issued;
        }
        double at = NEVER;
        int unit = -1;
        for (int u = 0; u < HD_UNITS; u++) {
            double ready = can_start(&t, u);
            if (ready < at) at = ready, unit = u;
        }
        for (int k = 0; k < 2; k++) {
            double event = load_event(&t, loaders[k]);
            if (event < at) at = event, unit = -1;
        }
        if (at >= NEVER) break;
        advance(&t, at);
        if (unit >= 0) start_op(&t, &s->ops[s->by_number[unit][t.next[unit]]]);
    }
    for (int u = 0; u < HD_UNITS; u++)
        if (s->count[u] && t.done[u][s->count[u] - 1] > end) end = t.done[u][s->count[u] - 1];
    /* Of two long programs that are estimated alike the one with fewer operations is better. */
    *out_words = end < SHORT ? program->packed : program->words;
    hd_arena_destroy(a);
    return (int64_t)(end > issued ? end : issued) + HALT;
}
