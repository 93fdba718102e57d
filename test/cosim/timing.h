/* Cycles of the ISS beside those of the RTL, by kind of operation.
 *
 * Of every random program each operation runs alone, the operations of each unit run as a chain,
 * and the whole runs without its epilogue. Errors are kept per kind of operation and printed as a
 * table. */
#ifndef HD_TEST_COSIM_TIMING_H
#define HD_TEST_COSIM_TIMING_H

#include <stdbool.h>

#include "test/cosim/program.h"

/* Cycles of p, on the ISS and on the RTL; false when it fails. */
typedef bool timing_run(void *user, const struct program *p, uint64_t out[2]);

void timing_program(struct program *p, uint64_t seed, timing_run *run, void *user);
/* False when an error is above what the table allows. */
bool timing_print(const char *machine, uint64_t n_programs);

#endif
