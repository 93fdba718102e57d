/* Loads and stores of an estimate on their way: what asks for the channels, when, and when data
 * come and go. Reads of fetch, LX and LW go burst by burst, one request a cycle; no more than
 * HD_N_open_bursts are open, and data come in the order in which they were asked for. */
#ifndef HD_COMPILER_COST_CHANNELS_H
#define HD_COMPILER_COST_CHANNELS_H

#include "compiler/cost/bursts.h"

struct hd_load { /* of LX or LW */
    int number;
    struct hd_walk r; /* that are still to be asked for */
    double at;        /* the next burst, at the earliest */
};

/* Loads of a unit that have begun; their addresses go out in order. */
struct hd_loads {
    struct hd_load of[HD_N_ops_in_flight];
    int first, n;
};

enum { HD_LOAD_RUNS = HD_N_load_records + 1 }; /* of LX: records, and the run that is written */

struct hd_ends { /* of what was last, in turn */
    double of[HD_LOAD_RUNS];
    int next; /* the oldest of them */
};

struct hd_reads {                     /* the read channel */
    struct hd_ends all, of[HD_UNITS]; /* data of the last HD_N_open_bursts bursts */
    double accepted, data;            /* the last burst by memory; its data end */
    double credit;                    /* beats for which LX asks before LW */
};

struct hd_writes {                         /* the write channel */
    double acknowledged[HD_N_open_bursts]; /* the last bursts */
    int next;                              /* the oldest of them */
    double sent, data;                     /* AW of the last burst; its data end */
    double before; /* AW of the last burst in front of the last store's last run */
};

/* What MX or VX writes on chip while it is at an operation: `part` of its cycles. */
struct hd_writer {
    double from, to, part;
    uint64_t banks;
};

struct hd_channels {
    double latency;
    struct hd_writer writer[2]; /* MX, VX */
    struct hd_loads loads[HD_UNITS];
    double filled[HD_UNITS]; /* when LX (LW) has written what it took on last */
    struct hd_reads reads;
    struct hd_ends records; /* of LX: its last runs, from DRAM or of padding, are written */
    struct hd_writes writes;
    double *done[HD_UNITS]; /* by operation; of loads it is set when they have asked, < 0 before */
    double free[HD_UNITS];  /* when the unit takes its next operation; < 0: not known yet */
};

static inline double hd_later(double a, double b) {
    return a > b ? a : b;
}
static inline double hd_sooner(double a, double b) {
    return a < b ? a : b;
}
/* Load number k of unit u begins. */
void hd_channels_load(struct hd_channels *c, int u, int k, const struct hd_walk *r, double start);
/* A store begins; returns when it is done. */
double hd_channels_store(struct hd_channels *c, const struct hd_bursts *r, double start);

/* LX, which fills these banks in these cycles, waits for so many that the writer takes. */
double hd_channels_wait(const struct hd_writer *w, uint64_t fills, double from, double to);

/* Unit u asks for a burst that holds the data channel for so many cycles: when its data end. */
double hd_channels_ask(struct hd_channels *c, int u, double at, double cycles);
/* LX or LW, whichever asks next, at *out_at; -1 = none. */
int hd_channels_asker(const struct hd_channels *c, double *out_at);
/* It asks; true: an operation may start sooner than was known. */
bool hd_channels_next(struct hd_channels *c, int u, double at);

#endif
