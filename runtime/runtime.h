/* Runtime for code of this tree: the library's face (heddle_rt.h), and what the tools want beyond
 * it: device options, every value that left the chip, counters. */
#ifndef HD_RUNTIME_RUNTIME_H
#define HD_RUNTIME_RUNTIME_H

#include "runtime/device/hal.h"
#include "runtime/device/model.h"
#include "runtime/heddle_rt.h"

/* What the session was opened with. */
const hd_model *hd_session_model(const hd_session *s);
struct hd_mem_options hd_session_memory(const hd_session *s);

/* Name of the device that runs programs, or of the only one. */
const char *hd_session_device(const hd_session *s);

/* Data of whoever opened the session, in an arena that is destroyed when the session has closed: of
 * the probe of its device, say. NULL = none. */
void hd_session_keep(hd_session *s, hd_arena *a, void *data);
void *hd_session_kept(const hd_session *s);

/* Dense copy of any value of the model after a run; HD_UNSUPPORTED if it stayed on chip. */
hd_status hd_session_value(hd_ctx *ctx, hd_session *s, int value, void *out);

/* Counters of the last run, PROG steps added up (GRAPH devices: all zero). layers: model->n_layers
 * rows, the session's, valid until the next run. */
hd_status hd_session_counters(hd_ctx *ctx, hd_session *s, struct hd_counters *out);

/* What a GRAPH device made of the graph; 0 for other devices, and those that do not tell. *out is
 * the device's, valid until the next run. */
int hd_session_steps(hd_session *s, const struct hd_exec_step **out);
/* Wall clock that a step of the model took in the last run, and the device that runs it. */
uint64_t hd_session_step_ns(const hd_session *s, int step, const char **out_device);

#endif
