/* Operations of the RTL, found from what its fronts show in every cycle. */
#ifndef HD_SIM_TRACE_H
#define HD_SIM_TRACE_H

#include "runtime/device/probe.h"
#include "sim/rtl_model.h"

struct hd_trace;

/* NULL when out of memory. The probe outlives it. */
struct hd_trace *hd_trace_create(const struct hd_probe *probe);
void hd_trace_destroy(struct hd_trace *t); /* NULL is fine */
/* A hd_rtl_hook; user is the hd_trace. Cycle 0 begins a run. */
void hd_trace_cycle(void *user, const struct hd_rtl_cycle *c);
/* The run ended after `cycles`: what is still open ends there. */
void hd_trace_end(struct hd_trace *t, uint64_t cycles);

#endif
