/* Random legal programs for cosim: a list of operations that emit.c style code turns into words.
 *
 * Operations are kept with all their parameter words and the memory that they touch. Order between
 * units is not stored: hd_prog_emit derives waits and signals from the touched ranges, so that any
 * subset of the operations is a legal program again, which is what shrinking needs. */
#ifndef HD_TEST_COSIM_PROGRAM_H
#define HD_TEST_COSIM_PROGRAM_H

#include "isa/isa.h"

enum {
    MAX_OPS = 96,
    MAX_TOUCH = 5,
    MAX_EDGES = MAX_OPS * HD_UNITS,
    MAX_ROUNDS = 4,
    MAX_WORDS = MAX_ROUNDS * MAX_OPS * (HD_OP_MAX_WORDS + 1)
};
enum space { SPACE_XM, SPACE_WM, SPACE_PM, SPACE_TM, SPACE_AM, SPACE_DRAM };
enum { READ_BYTES = 65536, SHARED_BYTES = 131072, IMAGE_DATA_BYTES = 4096 };

struct touch {
    enum space space;
    int64_t lo, hi;
    bool write;
};

struct op {
    uint8_t unit, code;
    uint32_t words[HD_PARAM_WORDS];
    struct touch touch[MAX_TOUCH];
    int n_touch;
    int after;         /* also waits for this operation, -1 = none */
    uint32_t extra;    /* waits on these semaphores, too: a deadlock */
    uint32_t set_bits; /* words that go as set though they do not change */
    bool opens_bundle; /* else it joins the bundle before where the order of slots allows */
    bool dropped;
};

struct edge { /* operation `to` waits for operation `from` */
    int from, to;
    uint32_t semaphore; /* mask */
};

struct program {
    const struct hd_machine *m;
    struct op op[MAX_OPS];
    int n, n_body;   /* n_body: those before the epilogue, which stores all memories */
    int rounds;      /* all of it so often, a barrier between */
    struct edge cut; /* this wait and this signal are left out; to, from -1 = none */
};

enum kind { KIND_LEGAL, KIND_ILLEGAL, KIND_DEADLOCK };

/* Same machine, seed: same program. */
void program_random(struct program *p, const struct hd_machine *m, uint64_t seed, enum kind kind);
/* The waits of a legal program, each with the signal that meets it; returns their number. */
int program_edges(const struct program *p, struct edge out[MAX_EDGES]);
/* Bytes of the arena: shared part, then XM, then AM in four views. */
size_t program_arena_bytes(const struct hd_machine *m);
/* Words, header included; returns their number. */
size_t program_emit(const struct program *p, uint32_t *out);

#endif
