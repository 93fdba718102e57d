/* What a load or store moves, run by run, as its engine walks over runs of contiguous bytes: beats
 * of the bus, cycles for which it holds the data channel. */
#ifndef HD_COMPILER_COST_BURSTS_H
#define HD_COMPILER_COST_BURSTS_H

#include "compiler/cost/cost.h"

/* Runs that go on in DRAM and on chip are one, but where a load is cut to a tensor or comes
 * column-wise. DRAM addresses are offsets in a segment, which begins at a page. */
struct hd_walk {
    const struct hd_slot_op *op;
    int64_t longest;                /* beats of a burst, at most */
    int axi;                        /* log2 of bytes of a beat */
    int64_t run, at, chip_at;       /* bytes of each run; where the first begins */
    int64_t n[3], step[3], chip[3]; /* how many, how far apart */
    bool edge, apart;               /* cut to a tensor; not joined */
    int64_t i[3], left;             /* the run at hand, and how many with it are left */
    /* The run at hand: */
    int64_t beat, beats; /* its next beat in DRAM, how many are left; 0: padding alone */
    int64_t more, pads;  /* cycles of the data channel beside beats; chunks of padding */
};

void hd_walk_begin(const struct hd_machine *m, const struct hd_slot_op *op, struct hd_walk *r);
/* The next run is at hand; none while r->left is 0. */
void hd_walk_next(struct hd_walk *r);
/* Beats of the next burst: it ends where the run or a page does. */
int64_t hd_walk_burst(const struct hd_walk *r);

struct hd_bursts {              /* of a store */
    int64_t runs, bursts, held; /* held: cycles of the data channel */
};
struct hd_bursts hd_bursts_of(const struct hd_machine *m, const struct hd_slot_op *op);
/* Bytes of DRAM that an operation of any unit moves; what a load cuts off at a border counts. */
int64_t hd_dram_bytes(const struct hd_machine *m, const struct hd_slot_op *op);

#endif
