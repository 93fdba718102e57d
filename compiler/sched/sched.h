/* Scheduling: slot operations in the order in which they issue, their dependences, semaphores,
 * bundles.
 *
 *   lower.c     layers -> slot operations (loads, matrix, vector, store) with the memory each
 * touches deps.c      touched memory -> which operation waits for which -> semaphores encode.c slot
 * operations -> bundles -> program words
 *
 * Operations are appended in an order in which they could run one after the other. Everything that
 * may overlap then does, because only real hazards wait; and a program cannot deadlock, because
 * each operation waits only for earlier ones, whatever the depth of the queues.
 */
#ifndef HD_COMPILER_SCHED_H
#define HD_COMPILER_SCHED_H

#include "compiler/tile/layer.h"
#include "isa/isa.h"

enum hd_space {
    HD_SPACE_XM,
    HD_SPACE_WM,
    HD_SPACE_PM,
    HD_SPACE_TM,
    HD_SPACE_AM,
    HD_SPACE_ARENA,
    HD_SPACES
};

enum { HD_PAIRS = HD_UNITS * HD_UNITS };

struct hd_slot_op {
    uint8_t unit, code;
    uint16_t tag;
    int number;            /* among the operations of its unit, from 1 */
    uint32_t wait, signal; /* masks */
    uint32_t reads_banks;  /* of XM */
    uint32_t writes_banks; /* of XM that it writes */
    int after[HD_UNITS];   /* number of the operation of each unit that it waits for, 0 = none */
    int knows[HD_UNITS];   /* operations of each unit that are complete when this one starts */
    uint32_t words[HD_PARAM_WORDS];
};

struct hd_sched {
    struct hd_lowering *lo;
    hd_arena *arena;
    struct hd_slot_op *ops;
    size_t n_ops, cap_ops;
    int count[HD_UNITS];      /* operations so far */
    int *by_number[HD_UNITS]; /* number - 1 -> index in ops */
    size_t cap_by_number[HD_UNITS];
    uint32_t needs[HD_UNITS]; /* of the operation being built: number waited for, per unit */
    /* last operation of each unit that wrote or read each granule of each memory; NULL: none did */
    int *wrote[HD_SPACES][HD_UNITS], *read[HD_SPACES][HD_UNITS];
    int64_t granule[HD_SPACES], n_granules[HD_SPACES];
    int semaphore[HD_UNITS][HD_UNITS]; /* from unit, to unit; -1 = not in use */
    int n_semaphores;
};

void hd_sched_init(struct hd_sched *s, struct hd_lowering *lo, hd_arena *arena);

/* Starts an operation; fields and touched memory follow; hd_sched_end closes it. */
void hd_sched_begin(struct hd_sched *s, enum hd_unit unit, unsigned code, int tag);
void hd_sched_set(struct hd_sched *s, enum hd_field f, int64_t v);
/* [lo, hi) in units of the space: bytes for XM and ARENA, words for the others. */
void hd_sched_touch(struct hd_sched *s, enum hd_space space, int64_t lo, int64_t hi, bool write);
hd_status hd_sched_end(struct hd_sched *s);
/* Fields of w that the operation does not look at (idle.def) become those of `held`, what its unit
 * holds before it. */
void hd_op_settle(int unit, unsigned code, uint32_t w[HD_PARAM_WORDS],
                  const uint32_t held[HD_PARAM_WORDS]);

/* Keeps every semaphore's count in range whatever the timing: waits move earlier where tokens pile
 * up. */
void hd_sched_bound_tokens(struct hd_sched *s);

/* Cycles that the operations take, by the model of estimate.c, with fetch when they are a program
 * from its beginning. Before hd_sched_bound_tokens. */
int64_t hd_sched_estimate(const struct hd_sched *s, bool begins);

/* Program words of each operation; of them without the bundle's that it begins; their sum. */
struct hd_op_lengths {
    int *of, *own;
    int64_t words;
};
struct hd_op_lengths hd_sched_lengths(const struct hd_sched *s, hd_arena *a);

/* Program words, header first: appends them to the image and returns their offset. */
hd_status hd_sched_encode(struct hd_sched *s, size_t *out_offset, size_t *out_bytes,
                          int64_t *out_bundles);

#endif
