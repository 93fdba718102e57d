/* Clocks of the named machines, in MHz: what timing supports with likely delays (clock.def).
 * Machines that `make synth` has not timed are assumed to be as fast as base. */
#ifndef HD_ISA_CLOCK_H
#define HD_ISA_CLOCK_H

enum {
#define CLOCK(machine, least, likely, most) HD_MHZ_##machine = likely,
#include "isa/clock.def"
    HD_MHZ_big = HD_MHZ_base,
};

#endif
