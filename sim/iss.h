/* Instruction set simulator: the whole machine behind its registers, results exact, cycles close to
 * the RTL.
 *
 * Use: write registers, write ap_ctrl start, hd_iss_run, read registers. An operation's effects
 * happen at once when its unit starts it, in order of simulated time; a program whose semaphores
 * are right cannot tell. An operation that fails has no effect at all (the hardware may have done a
 * first part of it); its error comes when the hardware comes to it, so the first of several is the
 * same.
 */
#ifndef HD_SIM_ISS_H
#define HD_SIM_ISS_H

#include "runtime/device/hal.h"
#include "sim/axi_mem.h"

typedef struct hd_iss hd_iss;

/* The memory stays the caller's and outlives the simulator. NULL when out of memory. */
hd_iss *hd_iss_create(const struct hd_machine *machine, hd_axi_mem *mem);
void hd_iss_destroy(hd_iss *iss);

/* Any offset of regs.def, 32 bits at a time; others read 0 and ignore writes. */
void hd_iss_reg_write(hd_iss *iss, uint32_t offset, uint32_t value);
uint32_t hd_iss_reg_read(hd_iss *iss, uint32_t offset);

/* true: later runs give results and errors but no time: cycles, layers, bytes are not counted, and
 * operations run in some order that the semaphores allow. */
void hd_iss_set_functional(hd_iss *iss, bool functional);

/* Runs a started machine until done. False: cycle max_cycles (0 = no limit) came first, or one that
 * no run reaches (2^36); the state registers show where it stands and the next call goes on. A
 * deadlock always ends as HD_ERR_watchdog, after `watchdog` cycles; what takes more cycles than
 * cycle_limit allows as HD_ERR_limit. */
bool hd_iss_run(hd_iss *iss, uint64_t max_cycles);

/* In later runs operations reach their units without fetch, and a bundle a cycle: no machine does
 * that, but cycles without it less these are what fetch and issue cost. */
void hd_iss_set_free_issue(hd_iss *iss, bool on);

/* Calls op and dram of the probe in later runs; NULL = none. */
void hd_iss_set_probe(hd_iss *iss, const struct hd_probe *probe);

/* Per-tag accounting of the last run, valid until the next one. */
const struct hd_layer_counters *hd_iss_layers(const hd_iss *iss, int *out_n);

/* On-chip memories, for tests and debuggers: host bytes, and their number in *out_bytes. */
enum hd_iss_memory { HD_ISS_XM, HD_ISS_WM, HD_ISS_AM, HD_ISS_PM, HD_ISS_TM };
void *hd_iss_memory(hd_iss *iss, enum hd_iss_memory which, size_t *out_bytes);

#endif
