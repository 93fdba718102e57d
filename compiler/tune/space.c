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

/* Of bytes two elements of the sum are one step: a product and a sum for each vector of int32, a
 * load that widens weights, and six operations a cycle in all. */
static double pair_cycles(const struct hd_tunable *w, const struct hd_tile *t, int lanes) {
    double vectors = (double)t->lanes / lanes, sums = vectors * t->across;
    double cycles =
        max2(sums / FMAS, (2 * sums + 2 * vectors + t->across + 3.0 / t->unroll) / WIDTH);
    if (sums + vectors + 2 > REGISTERS) cycles *= SPILL;
    double bytes = (double)(w->c * t->lanes) * (double)(w->product ? 1 : w->kh * w->kw);
    if (bytes > L1_BYTES)
        cycles =
            max2(cycles, 2.0 * t->lanes / (bytes > L2_BYTES ? L3_CYCLE_BYTES : L2_CYCLE_BYTES));
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

static double cycles_of(const struct hd_tunable *w, const struct hd_tile *t, int lanes) {
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
    if (w->bytes) return tiles * (depth / 2 * pair_cycles(w, t, lanes) + 4 * epilogue / lanes);
    if (t->along || w->product) epilogue /= lanes;
    return tiles * (depth * step_cycles(w, t, lanes) + epilogue + 10);
}

static int by_cycles(const void *a, const void *b) {
    const struct hd_candidate *x = a, *y = b;
    if (x->cycles != y->cycles) return x->cycles > y->cycles ? 1 : -1;
    return strcmp(x->schedule, y->schedule);
}

static void add(hd_arena *a, const struct hd_tunable *w, struct hd_tile t, int lanes,
                struct hd_candidate *list, int *n) {
    const char *schedule = *n < MOST ? hd_tunable_schedule(a, w, &t) : NULL;
    double vectors = (t.lanes + lanes - 1) / lanes;
    if (!schedule || vectors * t.across > 1.5 * REGISTERS) return;
    list[(*n)++] = (struct hd_candidate){schedule, cycles_of(w, &t, lanes)};
}

/* Tiles with so many lanes, along pixels or along results. */
static void add_lanes(hd_arena *a, const struct hd_tunable *w, bool along, int tile, int lanes,
                      struct hd_candidate *list, int *n) {
    static const int unrolls[] = {1, 2, 4};
    for (int across = 1; across <= 16; across++)
        for (size_t k = 0; k < sizeof unrolls / sizeof *unrolls; k++)
            for (int more = 0; more < 4; more++) {
                struct hd_tile t = {along, tile, across, unrolls[k], more & 1, more >> 1};
                if (w->product && more) continue;
                if (t.taps && w->kw == 1) continue;
                if (t.pixels_outside && (along || w->oh == 1 || w->m <= t.lanes)) continue;
                add(a, w, t, lanes, list, n);
            }
}

int hd_tune_space(hd_arena *a, const struct hd_tunable *w, int lanes, struct hd_candidate **out) {
    static const int units[] = {1, 2, 3, 4, 6, 8};
    struct hd_candidate *list = hd_new_array(a, struct hd_candidate, MOST);
    int n = 0, part = (int)(w->m < 4 * lanes ? w->m : 4 * lanes);
    while (w->m % part) part--; /* for results that are no multiple of a register */
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        add_lanes(a, w, false, units[u] * lanes, lanes, list, &n);
        if (w->ow >= units[u] * lanes || u == 0)
            add_lanes(a, w, true, units[u] * lanes, lanes, list, &n);
    }
    if (part % lanes) add_lanes(a, w, false, part, lanes, list, &n);
    qsort(list, (size_t)n, sizeof *list, by_cycles);
    *out = list;
    return n;
}
