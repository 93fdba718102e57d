/* The whole chip between its pins: an AXI4-Lite master that stalls and sends parts of words, and a
 * hostile memory. */
#ifndef HD_TEST_BENCH_H
#define HD_TEST_BENCH_H

#include "isa/isa.h"
#include "sim/rtl_model.h"
#include "test/chip/hostile_mem.h"

struct bench {
    const struct hd_machine *m;
    const struct hd_rtl_api *api;
    struct hd_rtl *rtl;
    struct hd_rtl_pins pins;
    struct hostile_mem mem;
    struct rng r;
    bool wild; /* the master stalls, and reads while it writes */
    char why[300];
};

/* The first thing that is wrong is kept. */
void bench_wrong(struct bench *b, const char *what, uint64_t got, uint64_t want);
/* So many clocks in which the master is silent. */
void bench_clocks(struct bench *b, int n);
/* Reset from outside; the memory forgets its bursts. */
void bench_reset(struct bench *b);

/* An address is taken in this clock; nobody waits for the answer. */
void bench_ask(struct bench *b, uint32_t offset);
uint32_t bench_read(struct bench *b, uint32_t offset);
void bench_write(struct bench *b, uint32_t offset, uint32_t value, unsigned strobes);
/* A register that keeps what is written: in pieces, with noise in the bytes that are not meant, and
 * read back. */
void bench_set(struct bench *b, uint32_t offset, uint32_t value);

#endif
