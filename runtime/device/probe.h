/* What a simulated machine tells about a run while it runs: every operation, DRAM traffic, and the
 * memories at the end. For traces, and for finding where two machines part.
 *
 * Given to a device in hd_device_options; devices that know no more than counters ignore it. */
#ifndef HD_DEVICE_PROBE_H
#define HD_DEVICE_PROBE_H

#include "isa/isa.h"

/* One operation. Cycles count from the start of the run.
 *
 * A unit works on several operations at once; the oldest is the one that counts as busy. So
 * [oldest, end) of the operations of one unit do not overlap, and add up to its counter. SEQ has
 * one operation at a time, and its counter counts words. */
struct hd_op_record {
    uint8_t unit;
    uint16_t tag;
    uint32_t pc;     /* program word */
    uint64_t take;   /* taken out of the queue */
    uint64_t start;  /* handed to the engine, semaphores taken */
    uint64_t oldest; /* the operations before it have ended; nop: = end */
    uint64_t end;    /* first cycle in which the unit is not busy with it */
    /* cycles it waited for a semaphore while nothing else ran, then for DRAM and for a bank */
    uint64_t stall_sem, stall_mem, stall_bank;
};

enum hd_probe_memory {
    HD_PROBE_XM,
    HD_PROBE_AM,
    HD_PROBE_WM,
    HD_PROBE_PM,
    HD_PROBE_ARENA,
    HD_PROBE_MEMORIES
};

/* Contents during or at the end of a run, as the ISS keeps them; NULL where the device cannot show
 * it. Valid during the call. */
struct hd_probe_state {
    const uint8_t *memory[HD_PROBE_MEMORIES];
    size_t bytes[HD_PROBE_MEMORIES];
};

/* Shows the memories as they are now, from within op(); false: no memory to do so. */
struct hd_probe_eye {
    void *device;
    bool (*look)(void *device, struct hd_probe_state *out);
};

struct hd_probe { /* every function may be NULL */
    void *user;
    /* `step` of the model begins. Program and eye stay valid until the end. */
    void (*begin)(void *user, int step, const uint32_t *program, size_t n_words,
                  const struct hd_probe_eye *eye);
    void (*op)(void *user, const struct hd_op_record *r); /* it ended; in order within its unit */
    /* An operation of VX has written its results and has not ended; the next may have begun when it
     * ends, and write where they are. A device that sees no difference does not call it. */
    void (*wrote)(void *user, uint16_t tag, uint32_t pc);
    void (*dram)(void *user, uint64_t cycle, bool write, uint32_t bytes);
    void (*end)(void *user, uint64_t cycles, const struct hd_probe_state *state);
    bool looks; /* op() or end() read the memories. Else end's may be empty, and looking may fail */
};

#endif
