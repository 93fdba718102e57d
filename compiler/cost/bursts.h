/* What a load or store moves: runs, beats of the bus, cycles for which it holds the channel. */
#ifndef HD_COMPILER_SCHED_BURSTS_H
#define HD_COMPILER_SCHED_BURSTS_H

#include "compiler/cost/cost.h"

/* Runs that go on in DRAM and on chip are one, but where a load is cut to a tensor or comes
 * column-wise. */
struct hd_bursts {
    int64_t runs, beats, bursts;     /* 0 of a load of padding alone */
    int64_t padding, padding_chunks; /* whole runs of padding; chunks of each */
    double held;                     /* cycles of the data channel, at least as many as beats */
    double gap;                      /* chunks of padding that LX writes behind a burst, mean */
    int64_t tail;                    /* chunks of padding behind the last run's data */
};

/* Of an operation of LX, LW or ST. */
struct hd_bursts hd_bursts_of(const struct hd_machine *m, const struct hd_slot_op *op);

#endif
