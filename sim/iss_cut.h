/* Where a run can be cut: the state of the ISS between two cycles, as what another simulator needs
 * to go on from there.
 *
 * Operations that have been handed to their engines count as done: memories have their effects, and
 * the semaphores their signals. The others, and the rest of the program, stand in a program of
 * their own. */
#ifndef HD_SIM_ISS_CUT_H
#define HD_SIM_ISS_CUT_H

#include "sim/iss.h"

struct hd_iss_cut {
    uint64_t cycle; /* all of it and of those before has happened */
    uint8_t sem[HD_SEMAPHORES];
    uint32_t in_flight[HD_UNITS]; /* operations of the unit that count as done and will still end */
    /* The program: an operation `nop` of each unit but SEQ that sets its parameter words, then what
     * was issued and waits, then from word `rest` on that of the run from its word `rest_of` on. */
    uint32_t *words;
    size_t n_words;
    uint32_t rest, rest_of;
};

/* The state after hd_iss_run(iss, cycle) that was false. False: it cannot be cut there, or there is
 * no memory. */
bool hd_iss_cut_take(const hd_iss *iss, uint64_t cycle, struct hd_iss_cut *out);
void hd_iss_cut_free(struct hd_iss_cut *cut);

/* LX and LW have nothing in flight: no transfer that the next ones wait behind is left out. */
bool hd_iss_cut_is_quiet(const hd_iss *iss);
/* Every operation in flight was handed over after that cycle. */
bool hd_iss_cut_is_past(const hd_iss *iss, uint64_t cycle);
/* A semaphore that no operation of the program names; -1 = none. */
int hd_iss_free_semaphore(const hd_iss *iss);
/* Operations in flight of a unit, oldest first: the cycle in which number i was handed over, + 1;
 * 0: there are fewer. */
uint64_t hd_iss_flying(const hd_iss *iss, enum hd_unit u, uint32_t i);

#endif
