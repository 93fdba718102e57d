/* A simulated chip behind its registers, for tests: two regions of DRAM, programs as text. */
#ifndef HD_TEST_CHIP_H
#define HD_TEST_CHIP_H

#include "sim/mach_dev.h"

enum { CHIP_DRAM = 1 << 17, CHIP_WATCHDOG = 3000 };

struct chip {
    hd_ctx *ctx;
    const struct hd_mach_backend *b;
    struct hd_machine m;
    hd_axi_mem *mem;
    void *self;
    uint8_t *image, *arena;
};

/* Latency of the memory in cycles; the port's width a cycle. Exits where there is no such machine.
 */
void chip_open(struct chip *c, const struct hd_mach_backend *b, const char *machine,
               uint32_t latency);
void chip_close(struct chip *c);
/* Puts a program into segment 0, with windows over all of both segments; returns its words. */
uint32_t *chip_program(struct chip *c, const char *text);
/* Starts it and runs to the end; returns the error register. Error, unit and place, and cycles of a
 * run without one, are to be the same on every device. */
uint32_t chip_run(struct chip *c);
uint32_t chip_reg(struct chip *c, uint32_t offset);
uint64_t chip_reg64(struct chip *c, uint32_t offset);
void chip_set(struct chip *c, uint32_t offset, uint32_t value);

/* Checks, counted; a failed one is printed. */
extern int chip_checks, chip_failed;
extern const char *chip_device, *chip_test; /* what is being tested */
void chip_expect(bool ok, const char *what, int64_t got, int64_t low, int64_t high);
void chip_within(const char *what, int64_t got, int64_t low, int64_t high);
void chip_equal(const char *what, int64_t got, int64_t want);

/* Equal on every device that is tested: the first one's values are kept. Calls come in one order.
 */
void chip_same(const char *what, int64_t got);

/* ends.c: runs that do not end by themselves, and what a run is told. */
void chip_ends(struct chip *c);

#endif
