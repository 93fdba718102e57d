/* Tiles of a work and what they cost by a model of one processor: multiplications, loads, the wait
 * for a sum before it is added to, registers, and caches that the weights come from. */
#include <stdlib.h>
#include <string.h>

#include "compiler/tune/tune_int.h"

enum { REGISTERS = 16, FMA_LATENCY = 4, MOST = 512 };
static const double FMAS = 2, LOADS = 2, WIDTH = 6, /* a cycle */
    L1_BYTES = 24 << 10, L2_BYTES = 400 << 10, L2_CYCLE_BYTES = 24, L3_CYCLE_BYTES = 10, SPILL = 2,
                    MASKED = 20, ROUND_CYCLES = 1, STORE_CYCLES = 1.5;

static double max2(double a, double b) {
    return a > b ? a : b;
}

static int lanes_of(enum hd_dot dot) {
    return dot == HD_DOT_VNNI ? 16 : 8;
}

/* Registers of AVX-512 are twice as many. */
static int registers(const struct hd_tune_host *host) {
    return host->lanes > 8 ? 2 * REGISTERS : REGISTERS;
}

/* Of bytes a few elements of the sum are one step. In pairs it is a product and a sum for each
 * vector of int32, and a load that widens weights; in fours, one operation, and loads of whole
 * vectors. Six operations a cycle in all. */
static double dot_cycles(const struct hd_tunable *w, const struct hd_tile *t,
                         const struct hd_tune_host *host) {
    bool fours = t->dot != HD_DOT_MADD;
    double vectors = (double)t->lanes / lanes_of(t->dot), sums = vectors * t->across;
    double loads = vectors + t->across, rest = t->across + 3.0 / t->unroll;
    double cycles =
        max2(sums / FMAS, ((fours ? sums + vectors : 2 * sums + 2 * vectors) + rest) / WIDTH);
    if (fours) cycles = max2(max2(cycles, loads / LOADS), FMA_LATENCY);
    if (sums + vectors + 2 > registers(host)) cycles *= SPILL;
    double bytes = (double)(w->c * t->lanes) * (double)(w->product ? 1 : w->kh * w->kw);
    double weights = (fours ? 4.0 : 2.0) * t->lanes;
    if (bytes > L1_BYTES)
        cycles = max2(cycles, weights / (bytes > L2_BYTES ? L3_CYCLE_BYTES : L2_CYCLE_BYTES));
    return cycles;
}

/* Cycles for one step of the reduction of one tile. */
static double step_cycles(const struct hd_tunable *w, const struct hd_tile *t, int lanes) {
    double vectors = (t->lanes + lanes - 1) / lanes, sums = vectors * t->across;
    double loads = vectors + t->across, bytes;
    if (t->along && w->sx > 1) loads += 2.0 * t->lanes; /* elements one by one */
    double cycles = max2(sums / FMAS, loads / LOADS);
    cycles = max2(cycles, FMA_LATENCY);
    double live = sums + (t->along ? 1 : vectors) + 1;
    if (live > REGISTERS) cycles *= SPILL;
    double depth = (double)w->c * (double)(w->product ? 1 : w->kh * w->kw);
    bytes = 4 * depth * (t->along ? t->across : t->lanes);
    if (bytes > L1_BYTES) /* the weights of a tile come from further away for each of its pixels */
        cycles = max2(cycles, 4.0 * (t->along ? t->across : t->lanes) /
                                  (bytes > L2_BYTES ? L3_CYCLE_BYTES : L2_CYCLE_BYTES));
    int copies = t->unroll * (t->taps ? (int)w->kw : 1);
    return cycles + ROUND_CYCLES / copies;
}

static double cycles_of(const struct hd_tunable *w, const struct hd_tile *t,
                        const struct hd_tune_host *host) {
    int lanes = w->bytes ? lanes_of(t->dot) : host->lanes;
    double depth = (double)w->c * (double)(w->product ? 1 : w->kh * w->kw);
    double pixels = w->product ? (double)w->h : (double)(w->n * w->oh * w->ow);
    double results = (double)(w->g * w->m), along, across;
    double row = w->product ? (double)w->h : (double)w->ow;
    if (t->along) {
        along = (double)((w->ow + t->lanes - 1) / t->lanes) * (double)(w->n * w->oh);
        across = results / t->across;
    } else {
        along = results / t->lanes;
        across = pixels / row * ((row + t->across - 1) / t->across);
    }
    bool masked = t->along && w->ow % t->lanes; /* sums under a mask do not stay in registers */
    double tiles = along * across * (masked ? MASKED : 1),
           epilogue = STORE_CYCLES * t->lanes * t->across;
    if (w->bytes)
        return tiles * (depth / (t->dot == HD_DOT_MADD ? 2 : 4) * dot_cycles(w, t, host) +
                        4 * epilogue / lanes);
    if (t->along || w->product) epilogue /= lanes;
    return tiles * (depth * step_cycles(w, t, lanes) + epilogue + 10);
}

static int by_cycles(const void *a, const void *b) {
    const struct hd_candidate *x = a, *y = b;
    if (x->cycles != y->cycles) return x->cycles > y->cycles ? 1 : -1;
    return strcmp(x->schedule, y->schedule);
}

struct space { /* of a work, in the making */
    hd_arena *a;
    const struct hd_tunable *w;
    const struct hd_tune_host *host;
    struct hd_candidate *list;
    int n;
};

static void add(struct space *s, struct hd_tile t, int lanes) {
    const char *schedule = s->n < MOST ? hd_tunable_schedule(s->a, s->w, &t) : NULL;
    double vectors = (t.lanes + lanes - 1) / lanes;
    if (!schedule || vectors * t.across > 1.5 * registers(s->host)) return;
    s->list[s->n++] = (struct hd_candidate){schedule, cycles_of(s->w, &t, s->host)};
}

/* Tiles with so many lanes, along pixels or along results. */
static void add_lanes(struct space *s, bool along, int tile, int lanes, enum hd_dot dot) {
    static const int unrolls[] = {1, 2, 4};
    const struct hd_tunable *w = s->w;
    for (int across = 1; across <= (dot == HD_DOT_MADD ? 16 : 28); across++)
        for (size_t k = 0; k < sizeof unrolls / sizeof *unrolls; k++)
            for (int more = 0; more < 4; more++) {
                struct hd_tile t = {along, tile, across, unrolls[k], more & 1, more >> 1, dot};
                if (w->product && more) continue;
                if (t.taps && w->kw == 1) continue;
                if (t.pixels_outside && (along || w->oh == 1 || w->m <= t.lanes)) continue;
                add(s, t, lanes);
            }
}

static const int units[] = {1, 2, 3, 4, 6, 8};
enum { UNITS = sizeof units / sizeof *units };

static void add_dot(struct space *s, enum hd_dot dot) {
    int lanes = lanes_of(dot);
    for (int u = 0; u < UNITS; u++) add_lanes(s, false, units[u] * lanes, lanes, dot);
}

/* The narrower form of VNNI is for results that the wider one does not divide. */
static void of_bytes(struct space *s) {
    int vnni = s->host->vnni;
    if (vnni == 16 && s->w->m % 16 == 0)
        add_dot(s, HD_DOT_VNNI);
    else if (vnni)
        add_dot(s, HD_DOT_VNNI_8);
    add_dot(s, HD_DOT_MADD);
}

static void of_floats(struct space *s) {
    const struct hd_tunable *w = s->w;
    int lanes = s->host->lanes, part = (int)(w->m < 4 * lanes ? w->m : 4 * lanes);
    while (w->m % part) part--; /* for results that are no multiple of a register */
    for (int u = 0; u < UNITS; u++) {
        add_lanes(s, false, units[u] * lanes, lanes, HD_DOT_MADD);
        if (w->ow >= units[u] * lanes || u == 0)
            add_lanes(s, true, units[u] * lanes, lanes, HD_DOT_MADD);
    }
    if (part % lanes) add_lanes(s, false, part, lanes, HD_DOT_MADD);
}

int hd_tune_space(hd_arena *a, const struct hd_tunable *w, const struct hd_tune_host *host,
                  struct hd_candidate **out) {
    struct space s = {a, w, host, hd_new_array(a, struct hd_candidate, MOST), 0};
    if (w->bytes)
        of_bytes(&s);
    else
        of_floats(&s);
    qsort(s.list, (size_t)s.n, sizeof *s.list, by_cycles);
    *out = s.list;
    return s.n;
}
