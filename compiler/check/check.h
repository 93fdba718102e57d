/* Static check of a program, before anything runs: encoding, operands, bounds, deadlock.
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

struct hd_check_op { /* one operation of the program, in issue order */
    uint8_t unit, code;
    int bundle;
    size_t word;
    uint32_t wait, signal;
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
};

void hd_check_init(struct hd_check *k);
void hd_check_deinit(struct hd_check *k);

/* windows NULL: DRAM accesses are not bounded. Adds to what k holds. */
void hd_check_program(struct hd_check *k, const uint32_t *words, size_t n,
                      const struct hd_machine *m, const struct hd_check_windows *windows);

/* ---- between the files of this folder ---- */

void hd_check_add(struct hd_check *k, bool error, const struct hd_check_op *op, const char *fmt,
                  ...) __attribute__((format(printf, 4, 5)));
/* operands.c: one operation with its unit's sticky words applied. */
void hd_check_operands(struct hd_check *k, const struct hd_check_op *op,
                       const uint32_t words[HD_PARAM_WORDS],
                       const struct hd_check_windows *windows);
/* tokens.c: queues and semaphores without time. */
void hd_check_tokens(struct hd_check *k);

#endif
