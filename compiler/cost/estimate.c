/* Estimate: how many cycles a list of slot operations takes, before it is encoded.
 *
 * needs: operations with what they wait for (deps.c)
 * gives: cycles from start to halt
 * destroys: nothing
 *
 * A simulation of events: an operation starts when it is issued, its unit is free and what it waits
 * for is done. Durations are those of docs/hw.md: one iteration a cycle on MX and VX, one beat a
 * cycle on each direction of the bus. Reads go burst by burst: fetch, LX and LW ask for one a
 * cycle, in turn, no more than HD_N_open_bursts are open, and data come in the order in which they
 * were asked for (what a load asks for: bursts.c). VX waits for banks of XM that MX reads and for
 * its own operands (banks.c), stores for both, loads for results of VX. How long words take to
 * issue: lengths.c. How close it comes to the ISS: `heddle bench machine`.
 */
#include "compiler/cost/banks.h"
#include "compiler/cost/by_layer.h"
#include "compiler/cost/channels.h"
#include "compiler/cost/cost.h"
#include "runtime/base/num.h"

enum { /* cycles; what one module decides is in isa/timing.def */
       ASK = HD_T_fetch_request + HD_T_read_address,   /* start to the first AR */
       FETCH = ASK + HD_T_read_data + HD_T_fetch_word, /* and what the header adds to latency */
       CHUNK_WORDS = HD_N_fetch_chunk / 4,
       CHUNK_FIRST = HD_T_fetch_word, /* its first beat at fetch to the issue of its first word */
       TAKE = 2,       /* last word issued to the operation that the unit's front offers */
       SIGNAL = 1,     /* done of one unit to start of another */
       VX_DONE = 1,    /* last result written to done */
       STORE_READ = 5, /* read of a chunk to the end of its beat on W */
       HALT = HD_T_halt + 1
};
static const double NEVER = 1e18;

struct timing {
    const struct hd_ops *s;
    int64_t axi;
    double *start[HD_UNITS], *issued[HD_UNITS]; /* per operation; < 0 = not known yet */
    int next[HD_UNITS];                         /* operations started */
    int queue;                                  /* operations that wait in a unit's queue */
    const int *length;                          /* words of each operation */
    struct hd_channels c;
    double now;
    double left[HD_UNITS]; /* cycles that MX and VX take for what they have not begun, at least */
    double vx_written[2];  /* when the last result of VX is in XM, in AM */
    double vx_turned;      /* the same of one that it transposes */
    struct hd_vx_reads vx; /* the operation that VX is at, */
    struct hd_vx_place vx_at;
    double vx_begins; /* its first iteration */
    double vx_drains; /* its last iteration to done */
    int64_t vx_late;
    struct hd_bank_user mx;   /* that MX is at, as VX sees it */
    struct hd_bank_user user; /* of the operation of MX with this number */
    int user_of;
    struct hd_am_writers mx_writes;
};

/* Iterations of a matrix or vector operation. */
static int64_t iterations(const struct hd_slot_op *op) {
    if (op->unit == HD_UNIT_mx)
        return hd_op_field(op, HD_F_mx_n0) * hd_op_field(op, HD_F_mx_n1) *
               hd_op_field(op, HD_F_mx_n2) * hd_op_field(op, HD_F_mx_n3) *
               hd_op_field(op, HD_F_mx_n4) * hd_op_field(op, HD_F_mx_n5);
    int64_t n0 = hd_op_field(op, HD_F_vx_n0), n1 = hd_op_field(op, HD_F_vx_n1);
    int64_t outer = hd_op_field(op, HD_F_vx_n2) * hd_op_field(op, HD_F_vx_n3);
    if (op->code == hd_isa_ops[HD_OP_vx_dw].code)
        return outer * (hd_op_field(op, HD_F_vx_b_kind) == hd_op_field(op, HD_F_vx_a_kind)
                            ? n1 + n0 - 2 /* two columns a cycle */
                            : (n1 - 1) * hd_op_field(op, HD_F_vx_sx) + n0);
    return outer * n0 * n1;
}

/* Of an operation of MX or VX; 0 of others. */
static double least_cycles(const struct timing *t, const struct hd_slot_op *op) {
    if (!op->code || (op->unit != HD_UNIT_mx && op->unit != HD_UNIT_vx)) return 0;
    const int64_t n = iterations(op);
    return (double)n * (op->unit == HD_UNIT_vx ? hd_vx_least_cycles(t->s->lo->m, op, n) : 1);
}

static bool xm_kind(int64_t kind) {
    return kind == HD_V_vx_kind_xm_int8 || kind == HD_V_vx_kind_xm_uint8;
}

/* By so much an iteration of a vector operation takes longer than of the simplest; one of the next
 * does not overtake it. */
static int64_t vector_late(const struct timing *t, const struct hd_slot_op *op) {
    if (op->code == hd_isa_ops[HD_OP_vx_dw].code) return HD_T_vx_dw;
    int64_t lanes = HD_T_vx_lanes + t->s->lo->m->vx_cycles - 1;
    return lanes * hd_op_field(op, HD_F_vx_lanes) +
           HD_T_vx_fn * (hd_op_field(op, HD_F_vx_fn) != 0) +
           HD_T_vx_lut * (hd_op_field(op, HD_F_vx_lut) != 0);
}

static bool turns(const struct hd_slot_op *op) {
    return op->code != hd_isa_ops[HD_OP_vx_dw].code &&
           hd_op_field(op, HD_F_vx_d_kind) == HD_V_vx_dest_xm_transposed;
}

/* Last iteration of a vector operation to done. */
static int64_t vector_done(const struct timing *t, const struct hd_slot_op *op) {
    return HD_T_vx_write + vector_late(t, op) + t->s->lo->m->vx_cycles - 1 +
           (turns(op) ? t->s->lo->m->n + HD_T_vx_transpose - 1 : 0);
}

/* A vector operation that reads XM begins when the one before that writes XM has drained; so with
 * AM, and one that transposes nothing behind one that does. */
static double drained(const struct timing *t, const struct hd_slot_op *op) {
    int64_t a = hd_op_field(op, HD_F_vx_a_kind), b = hd_op_field(op, HD_F_vx_b_kind);
    if (op->code != hd_isa_ops[HD_OP_vx_dw].code && !hd_op_field(op, HD_F_vx_alu)) b = a;
    double xm = xm_kind(a) || xm_kind(b) ? t->vx_written[0] : 0;
    double am = a < 2 || b < 2 ? t->vx_written[1] : 0;
    return hd_later(hd_later(xm, am), turns(op) ? 0 : t->vx_turned);
}

/* Stores [first, next) are on their way and wait where units that come first read their banks. */
static void hold_stores(struct timing *t, int first, const struct hd_bank_user *by) {
    const struct hd_ops *s = t->s;
    const double behind = t->c.latency + STORE_READ;
    double *done = t->c.done[HD_UNIT_st], from = t->now, was = t->now, later = 0;
    for (int k = first; k < t->next[HD_UNIT_st]; k++) {
        double read = done[k] - behind;
        struct hd_vx_reads st = {.each = 1, .operand = {{.n_runs = 1}, {.n_runs = 1}}};
        if (read <= was) continue;
        const struct hd_slot_op *op = &s->ops[s->by_number[HD_UNIT_st][k]];
        double beats = (double)hd_bursts_of(s->lo->m, op).held,
               idle = hd_later(0, read - was - beats);
        struct hd_vx_place p = {.at = from + idle, .left = read - was - idle};
        st.operand[0].run[0] = (struct hd_bank_run){p.left, op->reads_banks};
        st.operand[1].run[0] = (struct hd_bank_run){p.left, 0};
        hd_vx_go_on(&st, &p, by, NULL, NEVER);
        was = read, from = p.at, later = p.at - read;
        done[k] += later;
    }
    if (later <= 0) return;
    t->c.writes.data += later;
    for (int i = 0; i < HD_N_open_bursts; i++)
        if (t->c.writes.acknowledged[i] > t->now) t->c.writes.acknowledged[i] += later;
}

/* As stores see it: one word of A, or of B where A is none of XM, in each iteration. */
static void hold_for_vx(struct timing *t, int first) {
    static const uint64_t XM = (UINT64_C(1) << HD_BANK_AM) - 1;
    const struct hd_slot_op *op = &t->s->ops[t->s->by_number[HD_UNIT_vx][t->next[HD_UNIT_vx] - 1]];
    const double end = t->c.free[HD_UNIT_vx], n = (double)iterations(op);
    struct hd_bank_user by = {
        .any = true, .start = t->vx_begins, .end = end, .part = 1 / t->vx.each};
    by.xm = t->vx.operand[!(t->vx.operand[0].run[0].banks & XM)];
    for (int i = 0; i < by.xm.n_runs; i++)
        by.xm.run[i].n *= (end - by.start) / n, by.xm.run[i].banks &= XM;
    hold_stores(t, first, &by);
}

/* The first store on its way that reads one of the banks; -1: none does. */
static int first_store(const struct timing *t, uint32_t banks) {
    const struct hd_ops *s = t->s;
    const double behind = t->c.latency + STORE_READ;
    int k = t->next[HD_UNIT_st];
    uint32_t read = 0;
    while (k > 0 && t->c.done[HD_UNIT_st][k - 1] - behind > t->now)
        read |= s->ops[s->by_number[HD_UNIT_st][--k]].reads_banks;
    return read & banks ? k : -1;
}

/* The operation of MX (VX) that is not through; NULL = none. */
static const struct hd_slot_op *at_work(const struct timing *t, int u) {
    int k = t->next[u];
    if (!k || t->c.free[u] <= t->now) return NULL;
    const struct hd_slot_op *op = &t->s->ops[t->s->by_number[u][k - 1]];
    return op->code ? op : NULL;
}

/* What MX, which is at this operation, does to banks. */
static const struct hd_bank_user *mx_user(struct timing *t, const struct hd_slot_op *mx) {
    if (t->user_of != mx->number)
        hd_bank_user_of_mx(t->s->lo->m, mx, t->start[HD_UNIT_mx][mx->number - 1],
                           t->c.free[HD_UNIT_mx], &t->user);
    t->user_of = mx->number;
    return &t->user;
}

static void hold_for_mx(struct timing *t, int first, const struct hd_slot_op *mx) {
    hold_stores(t, first, mx_user(t, mx));
}

/* What MX does may concern VX. */
static void see_mx(struct timing *t, const struct hd_slot_op *mx) {
    bool adds = hd_op_field(mx, HD_F_mx_accumulate) && t->vx.banks >> HD_BANK_AM;
    if (adds || (mx->reads_banks & t->vx.banks)) t->mx = *mx_user(t, mx);
}

/* The operation that VX is at ends as far as what MX does now is known. */
static void end_vx(struct timing *t) {
    int k = t->next[HD_UNIT_vx] - 1;
    const struct hd_slot_op *op = &t->s->ops[t->s->by_number[HD_UNIT_vx][k]];
    struct hd_vx_place p = t->vx_at;
    hd_vx_go_on(&t->vx, &p, &t->mx, &t->mx_writes, NEVER);
    if (t->vx_at.left > 0) t->c.free[HD_UNIT_vx] = p.at;
    double done = p.at + t->vx_drains + VX_DONE;
    if (t->vx.writes) hd_vx_drain(&t->vx, &p, &t->mx_writes, NEVER), done = p.at + VX_DONE;
    if (k > 0 && done < t->c.done[HD_UNIT_vx][k - 1]) done = t->c.done[HD_UNIT_vx][k - 1];
    t->c.done[HD_UNIT_vx][k] = done;
    const int64_t dest = hd_op_field(op, HD_F_vx_d_kind);
    t->vx_written[dest == HD_V_vx_dest_am_f32 || dest == HD_V_vx_dest_am_int32] = done - VX_DONE;
    if (turns(op)) t->vx_turned = done - VX_DONE;
}

static void begin_vx(struct timing *t, const struct hd_slot_op *op, double begin) {
    int64_t n = iterations(op);
    if (t->vx.writes) hd_vx_drain(&t->vx, &t->vx_at, &t->mx_writes, begin);
    hd_vx_reads_of(t->s->lo->m, op, n, &t->vx);
    if (!t->vx.writes) t->vx_at = (struct hd_vx_place){0};
    t->vx_drains = (double)vector_done(t, op), t->vx_late = vector_late(t, op);
    t->vx.late = (int)t->vx_drains;
    t->vx_begins = t->vx_at.at = begin, t->vx_at.left = (double)n;
    t->vx_at.done[0] = t->vx_at.done[1] = 0, t->vx_at.run[0] = t->vx_at.run[1] = 0;
    t->mx.any = false;
    const struct hd_slot_op *mx = at_work(t, HD_UNIT_mx);
    if (mx) see_mx(t, mx);
    end_vx(t);
    int store = first_store(t, op->reads_banks);
    if (store >= 0) hold_for_vx(t, store);
}

/* LX waits a cycle for each of so many words that MX (VX) writes to the bank that it fills, and the
 * channel with it if its data are under way: not for padding. VX writes a word so long after it has
 * read it that its last words meet the load behind. */
static void hold_load(struct timing *t, const struct hd_slot_op *by, double words) {
    const double took = t->c.free[by->unit] - t->now;
    const double from = t->now + (by->unit == HD_UNIT_vx ? t->vx_drains : 0);
    struct hd_writer *w = &t->c.writer[by->unit == HD_UNIT_vx];
    double *done = t->c.done[HD_UNIT_lx], *filled = &t->c.filled[HD_UNIT_lx], wait = 0;
    int k = t->next[HD_UNIT_lx] - 1;
    *w = (struct hd_writer){from, from + took, words / took, by->writes_banks};
    if (*filled <= t->now) return;
    while (k > 0 && (done[k - 1] < 0 || done[k - 1] > t->now)) k--;       /* whose data come now */
    for (double at = t->now, to; k < t->next[HD_UNIT_lx]; k++, at = to) { /* ... and behind it */
        to = done[k] > 0 ? done[k] : *filled;
        wait += hd_channels_wait(w, t->s->ops[t->s->by_number[HD_UNIT_lx][k]].writes_banks,
                                 at + wait, to + wait);
        if (done[k] > 0) done[k] += wait;
    }
    const struct hd_ends *asked = &t->c.reads.of[HD_UNIT_lx];
    if (asked->of[(asked->next + HD_N_open_bursts - 1) % HD_N_open_bursts] > t->now)
        t->c.reads.data += wait;
    *filled += wait;
}

static void begin_mx(struct timing *t, const struct hd_slot_op *op) {
    int store = first_store(t, op->reads_banks);
    if (store >= 0) hold_for_mx(t, store, op);
    hold_load(t, op, hd_am_writers_add(&t->mx_writes, op, t->now, t->c.free[HD_UNIT_mx]));
    bool drains = t->vx.writes && t->c.done[HD_UNIT_vx][t->next[HD_UNIT_vx] - 1] > t->now;
    if (!drains && !at_work(t, HD_UNIT_vx)) return;
    hd_vx_go_on(&t->vx, &t->vx_at, &t->mx, &t->mx_writes, t->now);
    if (t->vx.writes) hd_vx_drain(&t->vx, &t->vx_at, &t->mx_writes, t->now);
    t->mx.any = false;
    see_mx(t, op);
    end_vx(t);
}

/* The store that began last, beside MX and VX. */
static void begin_store(struct timing *t, const struct hd_slot_op *op) {
    const struct hd_slot_op *mx = at_work(t, HD_UNIT_mx), *vx = at_work(t, HD_UNIT_vx);
    int k = t->next[HD_UNIT_st] - 1;
    if (mx && mx->reads_banks & op->reads_banks) hold_for_mx(t, k, mx);
    if (vx && vx->reads_banks & op->reads_banks) hold_for_vx(t, k);
}

/* When the front of unit u offers its next operation; NEVER while that is not known. */
static double when_offered(const struct timing *t, int u) {
    const struct hd_ops *s = t->s;
    if (t->next[u] >= s->count[u]) return NEVER;
    double at = t->issued[u][t->next[u]];
    if (at < 0) return NEVER;
    const struct hd_slot_op *op = &s->ops[s->by_number[u][t->next[u]]];
    double taken = t->next[u] ? t->start[u][t->next[u] - 1] + 1 : 0;
    taken += t->length[op - s->ops]; /* word by word, the last as it comes */
    at = at + TAKE > taken ? at + TAKE : taken;
    for (int v = 0; v < HD_UNITS; v++) {
        int after = op->after[v];
        if (v == u && op->number - HD_N_ops_in_flight > after)
            after = op->number - HD_N_ops_in_flight; /* one more of a unit is not in flight */
        if (after <= 0) continue;
        double done = t->c.done[v][after - 1];
        if (done < 0) return NEVER;
        if (done + SIGNAL > at) at = done + SIGNAL;
    }
    return at;
}

/* When it can start. */
static double can_start(const struct timing *t, int u) {
    double at = t->c.free[u] < 0 ? NEVER : when_offered(t, u);
    return hd_later(hd_later(at, t->c.free[u]), t->now);
}

/* The operation starts now. */
static void start_op(struct timing *t, const struct hd_slot_op *op) {
    int u = op->unit, k = op->number - 1;
    bool active = op->code;
    double start = t->now, done = start + 1, vx_free = t->c.free[HD_UNIT_vx];
    t->start[u][k] = start, t->left[u] -= least_cycles(t, op);
    t->next[u]++;
    t->c.free[u] = start;
    if (active && (u == HD_UNIT_mx || u == HD_UNIT_vx)) {
        if (u == HD_UNIT_vx) {
            double behind = vx_free + (double)(t->vx_late - vector_late(t, op));
            begin_vx(t, op, hd_later(hd_later(start, behind), drained(t, op)));
            hold_load(t, op, t->vx.results * (double)iterations(op));
            return;
        }
        t->c.free[u] = start + (double)iterations(op);
        done = t->c.free[u] + HD_T_mx_done;
        begin_mx(t, op);
    } else if (active && u != HD_UNIT_seq) {
        if (u != HD_UNIT_st) {
            struct hd_walk r;
            hd_walk_begin(t->s->lo->m, op, &r);
            hd_channels_load(&t->c, u, k, &r, start);
            return;
        }
        const struct hd_bursts r = hd_bursts_of(t->s->lo->m, op);
        t->c.done[u][k] = hd_channels_store(&t->c, &r, start);
        begin_store(t, op);
        done = t->c.done[u][k];
    }
    t->c.done[u][k] = k > 0 ? hd_later(done, t->c.done[u][k - 1]) : done;
}

/* That are known: those with room in the buffer, and the one whose last words wait for issue. */
enum { CHUNKS = HD_N_fetch_chunks + 1 };

struct issue {
    struct timing *t;
    bool begins;            /* the operations are a program from its beginning */
    double issued;          /* the last word */
    int64_t words, n;       /* of the program that have issued, header included; in all */
    int64_t left;           /* words of the operation that is to issue */
    double there[CHUNKS];   /* when the first word of the next chunks can issue, */
    double asked[CHUNKS];   /* when they are asked for, at the earliest */
    int64_t chunks, to_ask; /* whose place is free; of them not yet asked for */
};

/* Another chunk has a place from `at` on. */
static void free_chunk(struct issue *q, double at) {
    int place = (int)(q->chunks % CHUNKS);
    q->there[place] = 0;
    if (!q->begins || q->chunks * CHUNK_WORDS >= q->n) return;
    q->there[place] = NEVER, q->asked[place] = at;
    q->chunks++, q->to_ask++;
}

/* When fetch asks for its next chunk. */
static double fetch_asks(const struct issue *q) {
    if (!q->to_ask) return NEVER;
    return hd_later(q->asked[(q->chunks - q->to_ask) % CHUNKS], q->t->c.reads.accepted + 1);
}

static void ask_chunk(struct issue *q, double at) {
    double beats = HD_N_fetch_chunk / (double)q->t->axi;
    int64_t chunk = q->chunks - q->to_ask--;
    q->there[chunk % CHUNKS] =
        hd_channels_ask(&q->t->c, HD_UNIT_seq, at, beats) - beats + CHUNK_FIRST;
}

/* Words of the operation issue, one a cycle; false: the next is in a chunk that is still to be
 * asked for. The place of a chunk is another's when its last words have left the buffer: as many as
 * wait for issue have then still to issue. */
static bool issue(struct issue *q) {
    while (q->left > 0) {
        const int64_t gone = CHUNK_WORDS - HD_N_issue_words, at = q->words % CHUNK_WORDS;
        int64_t stop = at < gone ? gone : CHUNK_WORDS, k = hd_min(q->left, stop - at);
        double there = q->there[q->words / CHUNK_WORDS % CHUNKS];
        if (there >= NEVER) return false;
        q->issued = (there > q->issued ? there : q->issued) + (double)k;
        q->words += k, q->left -= k;
        if (at + k == gone) free_chunk(q, q->issued + HD_N_issue_words + HD_T_read_address);
    }
    return true;
}

/* Operations from *next on issue, as far as queues have room and their words are known to come. A
 * queue has room when an earlier operation has left it. */
static void issue_ops(struct issue *q, const struct hd_op_lengths *l, size_t *next) {
    struct timing *t = q->t;
    int queue = t->queue + 1; /* one more is at the front */
    for (; *next < t->s->n_ops; ++*next) {
        const struct hd_slot_op *op = &t->s->ops[*next];
        if (op->number > queue && t->next[op->unit] < op->number - queue) return;
        double room = op->number > queue ? t->start[op->unit][op->number - 1 - queue] + 2 : 0;
        if (!q->left) q->left = l->of[*next];
        if (room > q->issued) q->issued = room;
        if (!issue(q)) return;
        t->issued[op->unit][op->number - 1] = q->issued;
    }
}

/* Fetch, LX and LW ask for bursts until `at`, or until an operation may start sooner: a load is
 * complete, or a chunk is known to come. true: that is so. */
static bool ask_until(struct timing *t, struct issue *q, double at) {
    for (;;) {
        double asks_at, fetch = fetch_asks(q);
        int loader = hd_channels_asker(&t->c, &asks_at);
        if (fetch < at && fetch <= asks_at) {
            ask_chunk(q, fetch);
            return true;
        }
        if (loader < 0 || asks_at >= at) return false;
        if (asks_at > t->now) t->now = asks_at;
        if (hd_channels_next(&t->c, loader, asks_at)) return true;
    }
}

/* The unit whose next operation starts first, at *out_at; -1: none does. */
static int first_to_start(const struct timing *t, double *out_at) {
    int unit = -1;
    *out_at = NEVER;
    for (int u = 0; u < HD_UNITS; u++) {
        double ready = can_start(t, u);
        if (ready < *out_at) *out_at = ready, unit = u;
    }
    return unit;
}

/* What is left takes until then, at least. */
static double at_least(const struct timing *t) {
    return hd_later(hd_later(t->now, t->c.free[HD_UNIT_mx]) + t->left[HD_UNIT_mx],
                    hd_later(t->now, t->c.free[HD_UNIT_vx]) + t->left[HD_UNIT_vx]);
}

/* Cycles from start to halt; starts: of each operation, NULL = not wanted. */
static int64_t simulate(const struct hd_ops *s, bool begins, int64_t most, int queue,
                        int64_t *by_layer, double *starts) {
    hd_arena *a = hd_arena_create();
    struct timing t = {.s = s,
                       .queue = queue,
                       .axi = hd_axi_bytes(s->lo->m),
                       .c.latency = hd_compile_latency(s->lo->opt)};
    struct hd_op_lengths l = hd_ops_lengths(s, a);
    struct issue q = {.t = &t,
                      .begins = begins,
                      .issued = FETCH + t.c.latency +
                                hd_ceil_div(4 * HD_PROG_HEADER_WORDS, hd_axi_bytes(s->lo->m)),
                      .words = HD_PROG_HEADER_WORDS,
                      .n = HD_PROG_HEADER_WORDS + l.words};
    double end = 0, at;
    t.c.reads.accepted = -1;
    for (int64_t i = 0; i < HD_N_fetch_chunks; i++) free_chunk(&q, (double)(ASK + i));
    t.length = l.own;
    for (int u = 0; u < HD_UNITS; u++) {
        double **lists[] = {&t.c.done[u], &t.start[u], &t.issued[u]};
        for (int i = 0; i < 3; i++) {
            *lists[i] = hd_new_array(a, double, (size_t)s->count[u] + 1);
            for (int k = 0; k < s->count[u]; k++) (*lists[i])[k] = -1;
        }
    }
    for (size_t i = 0; i < s->n_ops; i++) t.left[s->ops[i].unit] += least_cycles(&t, &s->ops[i]);
    for (size_t next = 0;;) {
        issue_ops(&q, &l, &next);
        int unit = first_to_start(&t, &at);
        if (ask_until(&t, &q, at)) continue;
        if (unit < 0) break;
        t.now = at;
        end = at_least(&t);
        if (end >= (double)most) break;
        start_op(&t, &s->ops[s->by_number[unit][t.next[unit]]]);
    }
    for (int u = 0; u < HD_UNITS; u++)
        if (s->count[u] && t.c.done[u][s->count[u] - 1] > end) end = t.c.done[u][s->count[u] - 1];
    end = (end > q.issued ? end : q.issued) + HALT;
    if (by_layer) hd_cycles_by_layer(s, t.start, t.c.done, end, by_layer);
    for (size_t i = 0; starts && i < s->n_ops; i++)
        starts[i] = t.start[s->ops[i].unit][s->ops[i].number - 1];
    hd_arena_destroy(a);
    return end > (double)most ? INT64_MAX : (int64_t)end;
}

int64_t hd_ops_estimate(const struct hd_ops *s, bool begins, int64_t most, int64_t *by_layer) {
    return simulate(s, begins, most, (int)s->lo->m->queue_ops, by_layer, NULL);
}

int64_t hd_ops_starts(const struct hd_ops *s, int queue, double *out) {
    return simulate(s, true, INT64_MAX, queue, NULL, out);
}
