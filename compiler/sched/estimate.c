/* Estimate: how many cycles a list of slot operations takes, before it is encoded.
 *
 * needs: operations with what they wait for (deps.c)
 * gives: cycles from start to halt
 * destroys: nothing
 *
 * A simulation of events: an operation starts when it is issued, its unit is free and what it waits
 * for is done. Durations are those of docs/hw.md: one iteration a cycle on MX and VX, one beat a
 * cycle on each direction of the bus. Reads go burst by burst: fetch, LX and LW ask for one a
 * cycle, in turn, no more than HD_OPEN_BURSTS are open, and data come in the order in which they
 * were asked for. Of bank conflicts those of the operands of VX are modelled, and of stores behind
 * MX and of loads beside VX, roughly. How close it comes to the ISS: `heddle bench machine`.
 */
#include <string.h>

#include "compiler/sched/sched.h"
#include "runtime/base/num.h"

enum {
    /* cycles, docs/hw.md */
    FETCH = 5,     /* start to the first request, data to the last word of the header */
    TAKE = 5,      /* last word issued to the operation that the unit's front offers */
    BEGIN = 3,     /* start to the first request */
    CHUNK = 256,   /* bytes of a burst of the program; */
    CHUNKS = 2,    /* that many of them are asked for ahead */
    SIGNAL = 1,    /* done of one unit to start of another */
    MX_DONE = 9,   /* last iteration to done */
    VX_DONE = 19,  /* likewise */
    DMA_FIRST = 6, /* accepted to the first address */
    DMA_DONE = 4,
    HALT = 4,
    IN_FLIGHT = 8 /* operations of a unit */
};
static const double NEVER = 1e18;
static const double WORD_BYTES = 2.4; /* of the packed program, for each word that adds to it */

struct load { /* of LX or LW, whose addresses go out */
    int number;
    int64_t bursts; /* that are still to be asked for */
    double at;      /* the first, at the earliest; then the next */
    double beats;   /* of each */
};

struct reads {                  /* the read channel */
    double end[HD_OPEN_BURSTS]; /* of the data of the last bursts */
    int next;                   /* the oldest of them */
    double asked, data;         /* the last burst was asked for, its data end */
    int turn;                   /* of the loaders, which asks first */
};

struct timing {
    const struct hd_sched *s;
    int64_t axi, latency;
    double *done[HD_UNITS], *start[HD_UNITS],
        *issued[HD_UNITS]; /* per operation; < 0 = not known yet */
    double
        free[HD_UNITS]; /* when the unit takes its next operation; < 0 = when its load has asked */
    int next[HD_UNITS]; /* operations started */
    const int *length;  /* words of each operation */
    struct load load[HD_UNITS];
    double filled[HD_UNITS]; /* when LX (LW) has written what it took on last */
    struct reads reads;
    double write_free, now;
    double burst_free[HD_OPEN_BURSTS]; /* when the bursts sent last are acknowledged */
    int burst;                         /* the oldest of them */
    double vx_written[2];              /* when the last result of VX is in XM, in AM */
};

static int64_t field(const struct hd_slot_op *op, enum hd_field f) {
    return hd_field_get(op->words, f);
}

/* Runs and beats of a load or store. Runs that go on in DRAM and on chip are one, but where a load
 * is cut to a tensor or comes column-wise. */
static void transfer(const struct timing *t, const struct hd_slot_op *op, int64_t *out_runs,
                     int64_t *out_beats) {
    const struct hd_machine *m = t->s->lo->m;
    static const enum hd_field lx[] = {HD_F_lx_n1, HD_F_lx_n2, HD_F_lx_n3, HD_F_lx_s1, HD_F_lx_s2,
                                       HD_F_lx_s3, HD_F_lx_d1, HD_F_lx_d2, HD_F_lx_d3},
                               st[] = {HD_F_st_n1, HD_F_st_n2, HD_F_st_n3, HD_F_st_d1, HD_F_st_d2,
                                       HD_F_st_d3, HD_F_st_s1, HD_F_st_s2, HD_F_st_s3};
    int64_t run, n[3] = {1, 1, 1}, step[3] = {0}, chip[3] = {0};
    bool apart = false;
    if (op->unit == HD_UNIT_lw) {
        int64_t word = hd_lw_word_bytes(m, field(op, HD_F_lw_mem)),
                count = field(op, HD_F_lw_count);
        run = count * word - field(op, HD_F_lw_cut) * t->axi;
        n[0] = field(op, HD_F_lw_n1);
        step[0] = field(op, HD_F_lw_s1), chip[0] = field(op, HD_F_lw_d1) * word;
        apart = field(op, HD_F_lw_col);
        if (apart) { /* K rows for each, of words or, where the port is wider, of a word */
            bool split = m->n < t->axi;
            run = split ? m->n : count * m->n;
            n[1] = m->k, n[2] = split ? count : 1;
        }
    } else {
        const enum hd_field *f = op->unit == HD_UNIT_lx ? lx : st;
        run = field(op, op->unit == HD_UNIT_lx ? HD_F_lx_run : HD_F_st_run);
        for (int i = 0; i < 3; i++)
            n[i] = field(op, f[i]), step[i] = field(op, f[3 + i]), chip[i] = field(op, f[6 + i]);
        apart = op->unit == HD_UNIT_lx && field(op, HD_F_lx_edge);
        if (apart && !field(op, HD_F_lx_rows)) { /* padding alone: no DRAM */
            *out_runs = n[0] * n[1] * n[2] * hd_ceil_div(run, t->axi);
            *out_beats = 0;
            return;
        }
    }
    for (int i = 0; i < 3 && !apart; i++) {
        if (n[i] > 1 && (step[i] != run || chip[i] != run)) break;
        run *= n[i], n[i] = 1;
    }
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

static bool xm_kind(int64_t kind) {
    return kind == 2 || kind == 3;
}

/* Cycles that a map takes more because its operands lie in one bank, of XM or of AM: one for each
 * time that B is read. Where they begin and end decides. */
static int64_t one_bank(const struct timing *t, const struct hd_slot_op *op) {
    static const enum hd_field n[] = {HD_F_vx_n0, HD_F_vx_n1, HD_F_vx_n2, HD_F_vx_n3},
                               as[] = {HD_F_vx_as0, HD_F_vx_as1, HD_F_vx_as2, HD_F_vx_as3},
                               bs[] = {HD_F_vx_bs0, HD_F_vx_bs1, HD_F_vx_bs2, HD_F_vx_bs3};
    const struct hd_machine *m = t->s->lo->m;
    int64_t kind_a = field(op, HD_F_vx_a_kind), kind_b = field(op, HD_F_vx_b_kind);
    bool map = op->code == hd_isa_ops[HD_OP_vx_map].code && field(op, HD_F_vx_alu);
    if (!map || kind_a > 3 || kind_b > 3 || xm_kind(kind_a) != xm_kind(kind_b)) return 0;
    int64_t bank = xm_kind(kind_a) ? m->xm_bytes / m->xm_banks / m->n : hd_am_words(m) / 2;
    int64_t a = field(op, HD_F_vx_a), b = field(op, HD_F_vx_b), reads = 1;
    bool begin = a / bank == b / bank;
    for (int i = 0; i < 4; i++) {
        int64_t last = field(op, n[i]) - 1;
        a += last * field(op, as[i]);
        if (i < field(op, HD_F_vx_nred)) continue;
        b += last * field(op, bs[i]), reads *= last + 1;
    }
    return reads * (begin + (a / bank == b / bank)) / 2;
}

/* Last iteration of a vector operation to done. */
static int64_t vector_done(const struct timing *t, const struct hd_slot_op *op) {
    if (op->code == hd_isa_ops[HD_OP_vx_dw].code) return VX_DONE + 2;
    int64_t done = VX_DONE + field(op, HD_F_vx_lanes) + 8 * (field(op, HD_F_vx_fn) != 0) +
                   (field(op, HD_F_vx_lut) != 0);
    return field(op, HD_F_vx_d_kind) == 3 ? done + t->s->lo->m->n + 1 : done;
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
    const struct hd_sched *s = t->s;
    int k = t->next[HD_UNIT_lx], first = k;
    while (first > 0 && first > k - IN_FLIGHT &&
           (t->done[HD_UNIT_lx][first - 1] < 0 || t->done[HD_UNIT_lx][first - 1] > t->now))
        first--;
    if (first == k) return;
    uint32_t fills = s->ops[s->by_number[HD_UNIT_lx][first]].writes_banks;
    uint32_t both = fills & vx->writes_banks;
    if (!both) return;
    double wait = (double)iterations(vx) / 2 * __builtin_popcount(both) / __builtin_popcount(fills);
    for (; first < k; first++)
        if (t->done[HD_UNIT_lx][first] > 0) t->done[HD_UNIT_lx][first] += wait;
    if (t->reads.data > t->now) t->reads.data += wait;
    t->filled[HD_UNIT_lx] += wait;
}

/* Bursts of a store, the first from `at` on. One more waits until the oldest of HD_OPEN_BURSTS is
 * acknowledged, whichever operation that belongs to. */
static void send(struct timing *t, double at, int64_t runs, int64_t beats) {
    int64_t longest = hd_burst_beats(t->s->lo->m);
    double bursts = (double)(runs * hd_ceil_div(beats, runs * longest));
    double each = (double)beats / bursts;
    int many = bursts < 2 * HD_OPEN_BURSTS ? (int)bursts : 2 * HD_OPEN_BURSTS;
    for (int i = 0; i < many; i++, t->burst = (t->burst + 1) % HD_OPEN_BURSTS) {
        double *free = &t->burst_free[t->burst];
        at = (at > *free ? at : *free) + each;
        *free = at + (double)t->latency + 2;
    }
    double round = HD_OPEN_BURSTS * each, acknowledged = each + (double)t->latency + 2;
    double rest = (bursts - many) / HD_OPEN_BURSTS * (round > acknowledged ? round : acknowledged);
    for (int i = 0; i < HD_OPEN_BURSTS; i++) t->burst_free[i] += rest;
    t->write_free = at + rest;
}

/* Unit u has asked for all data of operation k by `at`: the next ones may go ahead. */
static void takes_next(struct timing *t, int u, int k, double at) {
    double done = k + 1 >= IN_FLIGHT ? t->done[u][k + 1 - IN_FLIGHT] : 0;
    t->free[u] = at > done ? at : done;
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
        t->free[u] = begin + (double)(iterations(op) + (u == HD_UNIT_vx ? one_bank(t, op) : 0));
        done = t->free[u] + (double)(u == HD_UNIT_mx ? MX_DONE : vector_done(t, op));
        if (u == HD_UNIT_vx) hold_load(t, op);
        if (u == HD_UNIT_vx)
            t->vx_written[field(op, HD_F_vx_d_kind) == 1 || field(op, HD_F_vx_d_kind) == 2] = done;
    } else if (op->code && u != HD_UNIT_seq) {
        int64_t runs, beats;
        double first = start + DMA_FIRST;
        transfer(t, op, &runs, &beats);
        if (u == HD_UNIT_st) {
            double data = first > t->write_free ? first : t->write_free;
            send(t, data + bank_wait(t, op), runs, beats);
            done = t->write_free + t->latency + DMA_DONE;
            double next = t->write_free - (double)t->latency - 32;
            takes_next(t, u, k, next > start + (double)runs ? next : start + (double)runs);
        } else if (beats) {
            int64_t run = beats / runs, longest = hd_burst_beats(t->s->lo->m);
            int64_t bursts = runs * hd_ceil_div(run, longest);
            t->load[u] = (struct load){.number = k,
                                       .bursts = bursts,
                                       .at = first - 1,
                                       .beats = (double)beats / (double)bursts};
            t->free[u] = done = -1;
        } else { /* padding */
            double from = t->filled[u] > first ? t->filled[u] : first;
            t->filled[u] = from + (double)runs;
            done = t->filled[u] + DMA_DONE;
            takes_next(t, u, k, start + 1);
        }
    }
    if (done >= 0 && k > 0 && done < t->done[u][k - 1]) done = t->done[u][k - 1];
    t->done[u][k] = done;
}

static const int loaders[] = {HD_UNIT_lx, HD_UNIT_lw};

/* A burst is asked for: when its data end. */
static double ask(struct timing *t, double at, double beats, double not_before) {
    struct reads *r = &t->reads;
    double data = at + (double)t->latency + 1;
    if (r->data > data) data = r->data;
    if (not_before > data) data = not_before;
    r->asked = at;
    r->data = r->end[r->next] = data + beats;
    r->next = (r->next + 1) % HD_OPEN_BURSTS;
    return r->data;
}

/* When unit u asks for its next burst. */
static double asks(const struct timing *t, int u) {
    const struct load *l = &t->load[u];
    const struct reads *r = &t->reads;
    if (!l->bursts) return NEVER;
    double at = l->at > r->asked + 1 ? l->at : r->asked + 1;
    double open = r->end[r->next] + 1; /* one is done */
    return at > open ? at : open;
}

/* The loader that asks next, at *out_at; -1 = none. */
static int asker(const struct timing *t, double *out_at) {
    double at[2] = {asks(t, loaders[0]), asks(t, loaders[1])};
    int i = at[0] < at[1] ? 0 : at[1] < at[0] ? 1 : t->reads.turn;
    *out_at = at[i];
    return at[i] < NEVER ? i : -1;
}

/* Loader i asks for one burst; true: for the last of its load. */
static bool next_burst(struct timing *t, int i, double at) {
    int u = loaders[i];
    struct load *l = &t->load[u];
    t->filled[u] = ask(t, at, l->beats, t->filled[u]);
    t->reads.turn = !i;
    l->at = at + 1;
    if (--l->bursts) return false;
    t->done[u][l->number] = t->filled[u] + DMA_DONE;
    takes_next(t, u, l->number, at + 1);
    return true;
}

/* When the next operation of unit u can start; NEVER while that is not known. */
static double can_start(const struct timing *t, int u) {
    const struct hd_sched *s = t->s;
    if (t->next[u] >= s->count[u] || t->free[u] < 0) return NEVER;
    double at = t->issued[u][t->next[u]];
    if (at < 0) return NEVER;
    const struct hd_slot_op *op = &s->ops[s->by_number[u][t->next[u]]];
    double taken = t->next[u] ? t->start[u][t->next[u] - 1] : 0;
    taken += t->length[op - s->ops]; /* word by word, the last as it comes */
    at = at + TAKE > taken ? at + TAKE : taken;
    if (t->free[u] > at) at = t->free[u];
    for (int v = 0; v < HD_UNITS; v++) {
        if (!op->after[v]) continue;
        double done = t->done[v][op->after[v] - 1];
        if (done < 0) return NEVER;
        if (done + SIGNAL > at) at = done + SIGNAL;
    }
    return at > t->now ? at : t->now;
}

enum { FORMS = 512, SHORT = 70000 /* cycles of a program whose loops are looked for */ };

struct program { /* as issue.c sees it, and roughly as pack.c will leave it */
    uint32_t held[HD_UNITS][HD_OP_SETS][HD_PARAM_WORDS];
    /* operations that came before, also together with the one before each; those that change the
     * same words, and by how much the last did */
    uint64_t seen[FORMS], pair[FORMS], last;
    struct form {
        uint64_t key;
        uint32_t by[HD_PARAM_WORDS];
    } form[FORMS];
    uint32_t mask; /* units of the bundle */
};

static uint64_t mixed(uint64_t h, uint64_t v) {
    return (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
}

static bool seen(uint64_t *table, uint64_t what) {
    uint64_t *at = &table[what >> 40 & (FORMS - 1)];
    bool is = *at == what;
    *at = what;
    return is;
}

/* Words of the operation that issue, with that of its bundle when it begins one; *out_stream: what
 * it adds to the stream. One word by word like an earlier one is in a loop, or begins it where it
 * stands behind another one than then; of one that changes the same words others are new. */
static int64_t words(struct program *p, const struct hd_slot_op *op, int64_t *out_stream) {
    uint32_t *held = p->held[op->unit][hd_op_set(op->code)], by[HD_PARAM_WORDS] = {0};
    bool bundle = !p->mask || p->mask >> op->unit;
    int64_t n = 2 + (op->wait != 0) + (op->signal != 0) + bundle, differ = 0;
    uint64_t key = mixed(mixed(op->unit + 1u, op->code), (uint64_t)op->wait << 32 | op->signal);
    uint64_t form = key;
    int n_words = hd_isa_units[op->unit].n_words;
    for (int i = 0; i < n_words; i++) {
        if (op->words[i] == held[i]) continue;
        by[i] = op->words[i] - held[i];
        key = mixed(key, (uint64_t)i), form = mixed(form, (uint64_t)i << 32 | by[i]);
        held[i] = op->words[i], n++;
    }
    struct form *f = &p->form[key >> 40 & (FORMS - 1)];
    for (int i = 0; i < n_words && f->key == key; i++) differ += f->by[i] != by[i];
    int64_t fresh = f->key == key ? hd_min(n, 2 * differ) : n;
    bool again = seen(p->pair, mixed(form, p->last)), before = seen(p->seen, form);
    *out_stream = again ? 0 : before ? hd_min(2, fresh) : fresh;
    f->key = key;
    memcpy(f->by, by, sizeof by);
    p->last = form;
    p->mask = (bundle ? 0 : p->mask) | UINT32_C(1) << op->unit;
    return n;
}

struct issue {
    const struct timing *t;
    bool begins;         /* the operations are a program from its beginning */
    double issued;       /* the last word */
    double stream;       /* bytes that were fetched for it */
    double gone[CHUNKS]; /* when the chunks before were issued */
};

/* n words more issue, `stream` of them new ones. Of the program as many chunks as the buffer of
 * fetch holds are asked for at once, each of the others when one of those has issued. */
static double issue(struct issue *q, double n, double stream) {
    int before = (int)(q->stream / CHUNK), chunk;
    q->stream += stream * WORD_BYTES, chunk = (int)(q->stream / CHUNK);
    for (int i = before; i < chunk; i++) q->gone[i % CHUNKS] = q->issued;
    if (q->begins && chunk) {
        double asked = chunk < CHUNKS ? BEGIN : q->gone[chunk % CHUNKS]; /* its place is free */
        double ahead = chunk < CHUNKS ? 0 : chunk * CHUNK;
        double there = asked + (double)q->t->latency + 5 + (q->stream - ahead) / (double)q->t->axi;
        if (there > q->issued) q->issued = there;
    }
    return q->issued += n;
}

/* The program words of all operations, and of the stream. */
struct lengths {
    int *of, *stream;
    int64_t words, packed;
};

static struct lengths program_words(hd_arena *a, const struct hd_sched *s) {
    struct program *p = hd_new(a, struct program);
    struct lengths l = {hd_new_array(a, int, s->n_ops + 1), hd_new_array(a, int, s->n_ops + 1), 0,
                        0};
    for (size_t i = 0; i < s->n_ops; i++) {
        int64_t stream, n = words(p, &s->ops[i], &stream);
        l.of[i] = (int)n, l.stream[i] = (int)stream;
        l.words += n, l.packed += stream;
    }
    return l;
}

int64_t hd_sched_estimate(const struct hd_sched *s, bool begins, int64_t *out_words) {
    hd_arena *a = hd_arena_create();
    struct timing t = {
        .s = s, .axi = hd_axi_bytes(s->lo->m), .latency = hd_compile_latency(s->lo->opt)};
    struct lengths l = program_words(a, s);
    struct issue q = {.t = &t, .begins = begins, .issued = FETCH + (double)t.latency, .stream = 20};
    double end = 0;
    int queue = (int)s->lo->m->queue_ops;
    t.reads.asked = -1;
    for (int i = 0; begins && i < CHUNKS && i * CHUNK < (double)l.packed * WORD_BYTES; i++)
        ask(&t, BEGIN + i, CHUNK / (double)t.axi, 0);
    t.length = l.of;
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
            issue(&q, l.of[i], l.stream[i]);
            if (op->number > queue && t.start[op->unit][op->number - 1 - queue] > q.issued)
                q.issued = t.start[op->unit][op->number - 1 - queue];
            t.issued[op->unit][op->number - 1] = q.issued;
        }
        double at = NEVER, asks_at;
        int unit = -1, loader;
        for (int u = 0; u < HD_UNITS; u++) {
            double ready = can_start(&t, u);
            if (ready < at) at = ready, unit = u;
        }
        bool same = true; /* while no load is complete, nothing else can start sooner */
        while (same && (loader = asker(&t, &asks_at)) >= 0 && asks_at < at) {
            if (asks_at > t.now) t.now = asks_at;
            same = !next_burst(&t, loader, asks_at);
        }
        if (!same) continue;
        if (at >= NEVER) break;
        t.now = at;
        start_op(&t, &s->ops[s->by_number[unit][t.next[unit]]]);
    }
    for (int u = 0; u < HD_UNITS; u++)
        if (s->count[u] && t.done[u][s->count[u] - 1] > end) end = t.done[u][s->count[u] - 1];
    /* Of two long programs that are estimated alike the one with fewer operations is better. */
    *out_words = end >= SHORT ? l.words : begins ? 0 : l.packed;
    hd_arena_destroy(a);
    return (int64_t)(end > q.issued ? end : q.issued) + HALT;
}
