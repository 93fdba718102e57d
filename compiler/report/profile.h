/* What a simulated run did, kept while it runs: every operation, cycles and stalls of every layer
 * and unit, DRAM traffic over time. Reports and queries read it. */
#ifndef HD_REPORT_PROFILE_H
#define HD_REPORT_PROFILE_H

#include "runtime/device/probe.h"
#include "runtime/runtime.h"

enum { HD_BINS = 4096, HD_OPS_MAX = 1000000 };

struct hd_bins {     /* bytes read and written over time; bins double when the run outgrows them */
    uint64_t cycles; /* width of one */
    uint64_t bytes[HD_BINS][2];
    size_t n;
};
void hd_bins_clear(struct hd_bins *b);
void hd_bins_add(struct hd_bins *b, uint64_t cycle, bool write, uint32_t bytes);

struct hd_profile_op { /* cycles count from the start of the first program */
    uint8_t unit;
    uint16_t layer;
    int step;
    uint32_t pc;
    uint64_t begin, end; /* as the oldest of its unit: what the counters call busy */
    uint64_t stall_sem;  /* before it began */
    uint64_t stall_mem, stall_bank;
};

struct hd_layer_profile {
    uint64_t begin, end; /* of its first and last operation; end 0 = it has none */
    uint64_t n_ops;
    struct hd_unit_counters unit[HD_UNITS];
};

struct hd_profile {
    struct hd_probe probe; /* give it to the device */
    hd_arena *a;
    const hd_model *m;
    struct hd_layer_profile *layers;  /* as in the model */
    struct hd_profile_op *ops;        /* in the order in which they ended; without SEQ's */
    size_t n_ops, cap_ops, n_dropped; /* those above HD_OPS_MAX are counted, not kept */
    struct hd_bins dram;
    uint64_t base; /* cycles of the programs that ended */
    int step;
};

/* The model outlives it; the memory is the arena's. With several runs the last one counts. */
struct hd_profile *hd_profile_create(hd_arena *a, const hd_model *m);

/* One probe that calls all of them; those that are NULL are left out. */
const struct hd_probe *hd_probe_join(hd_arena *a, const struct hd_probe *const *probes, int n);

#endif
