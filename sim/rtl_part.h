/* A part of a run of the RTL, in a process of its own (sim/rtl_jobs.c starts it).
 *
 * The ISS cuts the run. Part i begins at a cut: memories and semaphores are the ISS's, and a
 * program of its own holds what waits there (sim/iss_cut.h). Until all that was in flight at the
 * cut has ended, and a while longer, operations begin not before they do on the ISS. So the RTL
 * comes into the state of the whole run. At its join, the cycle in which part i - 1 ends, both have
 * the same memories and the same state, or part i is thrown away and i - 1 goes on. */
#ifndef HD_SIM_RTL_PART_H
#define HD_SIM_RTL_PART_H

#include "sim/iss_cut.h"
#include "sim/rtl_model.h"

/* ---- where the run is cut: the same in every process ---- */
struct hd_cutter {
    hd_iss *iss;
    uint64_t part_cycles; /* from a join to the next cut, at least */
    uint64_t lead_cycles; /* a part's own cycles before its cut, until its fronts are filled */
};
/* The next cut after cycle `join`; false: the run ends before. */
bool hd_cut_next(const struct hd_cutter *c, uint64_t join, struct hd_iss_cut *out);
/* The join that belongs to the cut in cycle `cut`. */
bool hd_cut_join(const struct hd_cutter *c, uint64_t cut, uint64_t *out);

/* ---- a part ---- */
struct hd_part_side { /* the RTL at a join, or at the end of the run */
    uint64_t cycle;
    struct hd_rtl_snapshot s;
    uint32_t memory[HD_PROBE_MEMORIES]; /* hashes */
};

struct hd_part_report {
    struct hd_part_side begin, end;
    bool last;          /* end is the run's */
    bool cannot;        /* differs says why there is no result at all */
    char differs[400];  /* the first difference between RTL and ISS behind begin; "" = none */
    int n_begin, n_end; /* layers, which follow: those at begin, those at end */
};

struct hd_part_job {
    struct hd_cutter cutter;
    const hd_axi_mem *iss_mem;
    const struct hd_rtl_api *api;
    struct hd_rtl *rtl;           /* fresh */
    hd_axi_mem *mem;              /* the RTL's, without regions */
    const struct hd_iss_cut *cut; /* NULL: the first part */
    int free_sem;
    int fd; /* a socket: reports go out; a byte comes in for each: go on to the next join */
};
/* Never returns. */
_Noreturn void hd_part_main(const struct hd_part_job *job);

#endif
