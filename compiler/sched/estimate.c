/* Estimate: how many cycles a list of slot operations takes, before it is encoded.
 *
 * needs: operations with what they wait for (deps.c)
 * gives: cycles from start to halt
 * destroys: nothing
 *
 * One pass in issue order, which is possible because an operation waits only for earlier ones. Each
 * unit works in order; an operation starts when it is issued, its unit is free and what it waits
 * for is done. Durations are those of docs/hw.md: one iteration a cycle on MX and VX, one beat a
 * cycle on each direction of the bus, which LX, LW and fetch share. Not modelled: bank conflicts,
 * arbitration within a burst. Against the ISS on single layers: docs/compiler.md, "Estimate".
 */
#include <string.h>

#include "compiler/sched/sched.h"
#include "runtime/base/num.h"

enum {              /* cycles, docs/hw.md */
       FETCH = 8,   /* start to the first request, data to the first word */
       SIGNAL = 3,  /* done of one unit to start of another */
       MX_DONE = 9, /* last iteration to done */
       VX_DONE = 20,
       DMA_FIRST = 6, /* accepted to the first address */
       DMA_DONE = 4,
       RUN = 1, /* of a DMA run, beside its beats */
       HALT = 4,
       LATENCY = 64, /* of the default memory */
       BURST_BEATS = 16,
       OUTSTANDING = 16,
};

struct gap { /* the read channel is free in [from, to) */
    int64_t from, to;
};
enum { GAPS = 64 };

struct timing {
    const struct hd_sched *s;
    int64_t axi;
    int64_t *done[HD_UNITS], *start[HD_UNITS]; /* per operation of a unit */
    int64_t free[HD_UNITS];                    /* when the unit takes its next operation */
    int64_t data_free[HD_UNITS];               /* when its data path is */
    struct gap gap[GAPS];                      /* in order; the last one never ends */
    int n_gaps;
    int64_t write_free;
};

/* Takes `beats` cycles of the read channel from `at` on; returns the end. */
static int64_t take_read(struct timing *t, int64_t at, int64_t beats) {
    int64_t end = at;
    for (int i = 0; i < t->n_gaps && beats > 0; i++) {
        struct gap *g = &t->gap[i];
        if (g->to <= at) continue;
        int64_t from = hd_max(g->from, at), use = hd_min(beats, g->to - from);
        end = from + use;
        beats -= use;
        if (from == g->from) {
            g->from = end;
        } else { /* split: what lies before stays free */
            struct gap rest = {end, g->to};
            if (t->n_gaps == GAPS) { /* forget the oldest */
                memmove(t->gap, t->gap + 1, (GAPS - 1) * sizeof *t->gap);
                t->n_gaps--, i--;
            }
            memmove(&t->gap[i + 2], &t->gap[i + 1], (size_t)(t->n_gaps - i - 1) * sizeof *t->gap);
            t->gap[i].to = from;
            t->gap[i + 1] = rest;
            t->n_gaps++, i++;
        }
    }
    int kept = 0;
    for (int i = 0; i < t->n_gaps; i++)
        if (t->gap[i].to > t->gap[i].from) t->gap[kept++] = t->gap[i];
    t->n_gaps = kept;
    return end;
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
        run = field(op, HD_F_lw_count) *
              (field(op, HD_F_lw_mem) ? hd_pm_word_bytes(m) : hd_wm_word_bytes(m));
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
    for (int i = 0; i < 3; i++) /* runs that continue each other are one */
        if (n[i] > 1 && step[i] == run) run *= n[i], n[i] = 1;
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
        return outer * ((n1 - 1) * field(op, HD_F_vx_sx) + n0);
    return outer * n0 * n1;
}

static void run_op(struct timing *t, const struct hd_slot_op *op, int64_t issued) {
    int u = op->unit, k = op->number - 1;
    int64_t start = hd_max(issued + 2, t->free[u]);
    for (int v = 0; v < HD_UNITS; v++)
        if (op->after[v]) start = hd_max(start, t->done[v][op->after[v] - 1] + SIGNAL);
    int64_t done = start + 1;
    if (u == HD_UNIT_mx || u == HD_UNIT_vx) {
        t->free[u] = start + (op->code ? iterations(op) : 0);
        done = t->free[u] + (u == HD_UNIT_mx ? MX_DONE : VX_DONE);
    } else if (u != HD_UNIT_seq && op->code) {
        int64_t runs, beats, first = start + DMA_FIRST;
        transfer(t, op, &runs, &beats);
        int64_t work = hd_max(beats, runs * RUN);
        if (u == HD_UNIT_st) {
            int64_t data = hd_max(hd_max(first, t->write_free), t->data_free[u]);
            t->write_free = data + beats;
            t->data_free[u] = data + work;
            done = t->data_free[u] + LATENCY + DMA_DONE;
        } else if (beats) {
            /* short bursts: no more than OUTSTANDING of them in a latency */
            work = hd_max(work, runs * (LATENCY + 2) / OUTSTANDING);
            int64_t data = hd_max(first + LATENCY, t->data_free[u]);
            int64_t end = take_read(t, data, beats);
            t->data_free[u] = hd_max(end, data + work);
            done = t->data_free[u] + DMA_DONE;
        } else {
            t->data_free[u] = hd_max(start, t->data_free[u]) + work;
            done = t->data_free[u] + DMA_DONE;
        }
        /* the next operation's addresses go out while this one's last data is under way */
        int64_t ahead = LATENCY + BURST_BEATS * 2;
        t->free[u] = hd_max(start + runs * RUN, t->data_free[u] - ahead);
    }
    t->start[u][k] = start;
    t->done[u][k] = k > 0 ? hd_max(done, t->done[u][k - 1] + 1) : done;
}

/* Words that the operation puts into the program; updates what its unit holds. */
static int64_t words(const struct hd_slot_op *op, uint32_t held[HD_PARAM_WORDS]) {
    int64_t n = 2 + (op->wait != 0) + (op->signal != 0);
    for (int i = 0; i < hd_isa_units[op->unit].n_words; i++)
        if (op->words[i] != held[i]) held[i] = op->words[i], n++;
    return n;
}

int64_t hd_sched_estimate(const struct hd_sched *s, int64_t *out_words) {
    hd_arena *a = hd_arena_create();
    struct timing t = {.s = s, .axi = hd_axi_bytes(s->lo->m), .n_gaps = 1};
    uint32_t held[HD_UNITS][HD_PARAM_WORDS] = {{0}};
    t.gap[0] = (struct gap){0, INT64_MAX};
    for (int u = 0; u < HD_UNITS; u++) {
        t.done[u] = hd_new_array(a, int64_t, (size_t)s->count[u] + 1);
        t.start[u] = hd_new_array(a, int64_t, (size_t)s->count[u] + 1);
    }
    int64_t issued = FETCH + LATENCY, end = 0, n_words = 0;
    int queue = (int)s->lo->m->queue_ops;
    for (size_t i = 0; i < s->n_ops; i++) {
        const struct hd_slot_op *op = &s->ops[i];
        int64_t n = words(op, held[op->unit]);
        issued += n, n_words += n;
        if (op->number > queue) /* the queue has room when an earlier operation has left it */
            issued = hd_max(issued, t.start[op->unit][op->number - 1 - queue]);
        run_op(&t, op, issued);
        end = hd_max(end, t.done[op->unit][op->number - 1]);
    }
    hd_arena_destroy(a);
    *out_words = n_words;
    return hd_max(end, issued) + HALT;
}
