/* Functional coverage of random programs: for every operation of the ISA its uses, and of each
 * of its fields the values (up to 3 bits) or the kinds of values that it had. cover.def says which
 * cannot be, and why. */
#ifndef HD_TEST_COSIM_COVER_H
#define HD_TEST_COSIM_COVER_H

#include "isa/isa.h"

/* Counts the operations of a program, header first. */
void cover_program(const uint32_t *words, size_t n);
/* Prints a line for each operation and what was missed; returns the bins missed without a reason.
 */
int cover_print(const struct hd_machine *m);

#endif
