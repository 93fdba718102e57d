/* Channels: when loads ask for what, and when data come and go; see channels.h. */
#include "compiler/cost/channels.h"

#include "runtime/base/num.h"

enum {                 /* cycles; what one module decides is in isa/timing.def */
       OP_FREE = 2,    /* offered to the next that is offered */
       LX_DONE = 1,    /* last beat taken to done; of LW none */
       STORE_DATA = 5, /* AW to its first beat on W */
       STORE_NEXT = 2, /* acknowledged to one more AW */
       STORE_FREE = 5, /* AW to the next store, where one run waits behind that */
       BURST_DONE = 2  /* its last beat to one more AR of its engine */
};
static const double NEVER = 1e18;

/* One more burst waits until the oldest of HD_N_open_bursts is acknowledged, whichever operation
 * that belongs to. Of many bursts, whole rounds of so many take as long as each other. The unit
 * takes the next store when of those before this one at most a run waits for its address. */
double hd_channels_store(struct hd_channels *c, const struct hd_bursts *r, double start) {
    enum { ROUND = HD_N_open_bursts, FIRST = 2 * ROUND };
    struct hd_writes *w = &c->writes;
    const double each = (double)r->held / (double)r->bursts;
    const double answer = each + c->latency - 1 + STORE_NEXT + STORE_DATA;
    int64_t rounds = hd_max(0, r->bursts - FIRST) / ROUND, last = r->bursts / r->runs;
    double at = start + HD_T_st_address, before = w->sent;
    for (int64_t left = r->bursts - rounds * ROUND; left > 0; left--) {
        if (left == last) before = w->sent;
        double *oldest = &w->acknowledged[w->next++ % ROUND];
        at = w->sent = hd_later(hd_later(at, w->sent + 1), *oldest + STORE_NEXT);
        w->data = hd_later(at + STORE_DATA, w->data) + each;
        *oldest = w->data - 1 + c->latency;
    }
    const double more = (double)rounds * hd_later(ROUND * each, answer);
    w->sent += more, w->data += more;
    for (int i = 0; i < ROUND; i++) w->acknowledged[i] += more;
    c->free[HD_UNIT_st] = hd_later(start + OP_FREE, w->before + STORE_FREE);
    w->before = r->runs > 1 ? before + more : before;
    return w->data + c->latency;
}

static void ends(struct hd_ends *e, int n, double at) {
    e->of[e->next] = at;
    e->next = (e->next + 1) % n;
}

static struct hd_load *first_load(struct hd_channels *c, int u) {
    return &c->loads[u].of[c->loads[u].first];
}

/* The unit takes one more operation when the last has its address registers to itself: before it
 * there are only runs that wait in registers behind those. */
static void free_loader(struct hd_channels *c, int u, double at) {
    const struct hd_loads *q = &c->loads[u];
    const int64_t room = u == HD_UNIT_lx ? 2 : 1;
    int64_t runs = 0;
    for (int i = q->n - 2; i >= 0 && runs <= room; i--)
        runs += q->of[(q->first + i) % HD_N_ops_in_flight].r.left;
    c->free[u] = runs <= room ? at : -1;
}

/* LX writes runs of padding that come next; it asks for nothing. */
static void pad(struct hd_channels *c, struct hd_load *l) {
    double *filled = &c->filled[HD_UNIT_lx];
    for (; l->r.left && !l->r.beats; hd_walk_next(&l->r), l->at++) {
        l->at = hd_later(l->at, c->records.of[c->records.next]);
        *filled = hd_later(*filled, l->at - HD_T_read_address) + (double)l->r.pads;
        ends(&c->records, HD_LOAD_RUNS, *filled);
    }
}

/* The unit's first load goes on from then. If it has asked for all it ends when so much is written.
 * Those of padding alone behind it end, too. */
static void end_loads(struct hd_channels *c, int u, double at) {
    struct hd_loads *q = &c->loads[u];
    for (; q->n; q->n--, q->first = (q->first + 1) % HD_N_ops_in_flight) {
        struct hd_load *l = first_load(c, u);
        l->at = hd_later(l->at, at);
        pad(c, l);
        if (l->r.left) break;
        double done = c->filled[u] + (u == HD_UNIT_lx ? LX_DONE : 0);
        double before = l->number ? c->done[u][l->number - 1] : 0;
        c->done[u][l->number] = done > before ? done : before;
        at = l->at;
    }
}

void hd_channels_load(struct hd_channels *c, int u, int k, const struct hd_walk *r, double start) {
    struct hd_loads *q = &c->loads[u];
    const double request = u == HD_UNIT_lx ? HD_T_lx_request : HD_T_lw_request;
    c->done[u][k] = -1;
    q->of[(q->first + q->n++) % HD_N_ops_in_flight] =
        (struct hd_load){k, *r, start + request + HD_T_read_address};
    if (q->n == 1) end_loads(c, u, start);
    free_loader(c, u, start + OP_FREE);
}

double hd_channels_wait(const struct hd_writer *w, uint64_t fills, double from, double to) {
    const uint64_t both = fills & w->banks;
    const double begin = hd_later(from, w->from), left = w->to - begin;
    if (!both || left <= 0 || to <= begin) return 0;
    double part = w->part * __builtin_popcountll(both) / __builtin_popcountll(fills);
    double wait = part < 1 ? (hd_sooner(to, w->to) - begin) * part / (1 - part) : left;
    return hd_sooner(wait, left * part);
}

/* The burst waits in the register of the arbiter until memory has room. */
double hd_channels_ask(struct hd_channels *c, int u, double at, double cycles) {
    struct hd_reads *r = &c->reads;
    r->accepted = hd_later(at, r->all.of[r->all.next] - 1); /* as one is done */
    double from = hd_later(hd_later(r->accepted + c->latency + 1, r->data), c->filled[u]);
    r->data = from + cycles;
    for (int i = 0; i < 2 && u == HD_UNIT_lx; i++)
        r->data += hd_channels_wait(&c->writer[i], first_load(c, u)->r.op->writes_banks, from,
                                    from + cycles);
    ends(&r->all, HD_N_open_bursts, r->data), ends(&r->of[u], HD_N_open_bursts, r->data);
    return r->data;
}

/* When unit u asks for its next burst: the register is free, one of its own bursts is done. */
static double asks(const struct hd_channels *c, int u) {
    const struct hd_load *l = &c->loads[u].of[c->loads[u].first];
    const struct hd_reads *r = &c->reads;
    if (!c->loads[u].n) return NEVER;
    double done = r->of[u].of[r->of[u].next] + BURST_DONE;
    if (u == HD_UNIT_lx) done = hd_later(done, c->records.of[c->records.next]);
    return hd_later(hd_later(l->at, r->accepted + 1), done);
}

int hd_channels_asker(const struct hd_channels *c, double *out_at) {
    double lx = asks(c, HD_UNIT_lx), lw = asks(c, HD_UNIT_lw);
    *out_at = hd_sooner(lx, lw);
    if (*out_at >= NEVER) return -1;
    if (lx != lw) return lx < lw ? HD_UNIT_lx : HD_UNIT_lw;
    int64_t beats = hd_walk_burst(&c->loads[HD_UNIT_lx].of[c->loads[HD_UNIT_lx].first].r);
    return c->reads.credit < (double)(beats + HD_N_burst_cost) ? HD_UNIT_lw : HD_UNIT_lx;
}

bool hd_channels_next(struct hd_channels *c, int u, double at) {
    struct hd_load *l = first_load(c, u);
    const int64_t beats = hd_walk_burst(&l->r), loads = c->loads[u].n;
    double cost = (double)(beats + HD_N_burst_cost), *credit = &c->reads.credit;
    const bool was_free = c->free[u] >= 0, run_ends = beats == l->r.beats;
    if (u == HD_UNIT_lx)
        *credit = *credit > cost ? *credit - cost : 0;
    else
        *credit = cost + (asks(c, HD_UNIT_lx) <= at ? *credit : 0);
    c->filled[u] = hd_channels_ask(c, u, at, (double)(beats + (run_ends ? l->r.more : 0)));
    l->r.beat += beats, l->r.beats -= beats, l->at = at + 1;
    if (run_ends) {
        c->filled[u] += (double)l->r.pads;
        if (u == HD_UNIT_lx) ends(&c->records, HD_LOAD_RUNS, c->filled[u]);
        hd_walk_next(&l->r);
        end_loads(c, u, at + 1);
    }
    if (!was_free) free_loader(c, u, at - 1);
    return c->loads[u].n < loads || was_free != (c->free[u] >= 0);
}
