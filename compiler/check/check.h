/* Static check of a program, before anything runs: encoding, operands, bounds, deadlock, races
 * between units, reads of memory that nothing has written.
 *
 *   struct hd_check k;
 *   hd_check_init(&k);
 *   hd_check_program(&k, words, n, &machine, &windows);
 *   if (k.n_errors) ... k.findings[0].text ...
 *   hd_check_deinit(&k);
 */
#ifndef HD_COMPILER_CHECK_H
#define HD_COMPILER_CHECK_H

#include "isa/isa.h"
#include "runtime/base/arena.h"

enum { HD_FINDINGS_MAX = 64 }; /* later ones are counted only */

struct hd_finding {
    bool error;     /* else a warning */
    int bundle;     /* from 0; -1 = the program as a whole */
    size_t word;    /* offset in the program */
    const char *op; /* text of the operation, "" = none */
    const char *text;
};

struct hd_check_windows { /* segment sizes in bytes, of image and arena */
    uint64_t bytes[HD_SEGMENTS];
};

enum hd_check_space { /* what operations touch; XM and DRAM in bytes, the others in words */
                      HD_CHECK_XM,
                      HD_CHECK_WM,
                      HD_CHECK_PM,
                      HD_CHECK_AM,
                      HD_CHECK_TM,
                      HD_CHECK_ARENA,
                      HD_CHECK_SPACES
};

enum { HD_CHECK_LOOPS = 6 };

/* Places at + sum of i[l] * step[l], i[l] < n[l], each with the run - 1 places behind it. */
struct hd_access {
    struct hd_access *next;
    uint8_t space;
    bool write;
    int n_loops;
    int64_t at, run, n[HD_CHECK_LOOPS], step[HD_CHECK_LOOPS];
};

struct hd_check_op { /* one operation of the program, in issue order */
    uint8_t unit, code;
    int bundle;
    size_t word;
    uint32_t wait, signal;
    struct hd_access *access; /* a list; NULL when its operands are illegal */
};

struct hd_check {
    hd_arena *arena;
    struct hd_finding *findings;
    int n_findings, n_errors, n_warnings;
    int64_t n_bundles;
    struct hd_check_op *ops;
    size_t n_ops, cap_ops;
    int semaphore_max[HD_SEMAPHORES]; /* most tokens under any timing */
    const uint32_t *words;
    size_t n_words;
    const struct hd_machine *m;
    bool memory_is_set; /* on-chip memory counts as written before the program begins */
    uint8_t
        *written[HD_CHECK_SPACES]; /* 1: some program has written the place; NULL: of the host */
};

void hd_check_init(struct hd_check *k);
void hd_check_deinit(struct hd_check *k);

/* windows NULL: DRAM accesses are not bounded. Adds to what k holds; what a program has written on
 * chip counts as written for the next one. */
void hd_check_program(struct hd_check *k, const uint32_t *words, size_t n,
                      const struct hd_machine *m, const struct hd_check_windows *windows);

/* ---- between the files of this folder ---- */

void hd_check_add(struct hd_check *k, bool error, const struct hd_check_op *op, const char *fmt,
                  ...) __attribute__((format(printf, 4, 5)));
/* operands.c: one operation with its unit's sticky words applied. */
void hd_check_operands(struct hd_check *k, struct hd_check_op *op,
                       const uint32_t words[HD_PARAM_WORDS],
                       const struct hd_check_windows *windows);
/* tokens.c: queues and semaphores without time. Fills order[] with the indexes of the operations in
 * an order in which they can run; false when they cannot all run. */
bool hd_check_tokens(struct hd_check *k, size_t *order);
/* races.c: what is complete when each operation starts, against the memory that it touches. */
void hd_check_races(struct hd_check *k, const size_t *order);
/* access.c */
int64_t hd_check_places(const struct hd_machine *m, enum hd_check_space space); /* 0: no bound */
/* The same places with the fewest runs: loops ascending, steps positive. */
void hd_access_normalise(struct hd_access *a);

#endif
