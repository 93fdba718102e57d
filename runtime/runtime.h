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

/* In the place of an array of a run: the input is what lies in the device's memory, the output
 * stays there. For sessions of one GRAPH device, without a queue and not in place: else
 * HD_UNSUPPORTED. */
#define HD_ON_DEVICE ((void *)(uintptr_t)hd_on_device)
extern const char hd_on_device[1];

/* Several processes that train together, each with a device of its own of the same kind (struct
 * hd_peers_ops). What one's session has left in the device's memory goes to all, moved alone.
 * hd_peers_why_not: NULL, or why devices of this name have no way to each other. */
const char *hd_peers_why_not(hd_ctx *ctx, const char *device);
/* HD_PEERS_ID bytes, which one process makes and all hd_session_join with, at once, 0 <= me < n. */
hd_status hd_session_peers_id(hd_ctx *ctx, const hd_session *s, void *out);
hd_status hd_session_join(hd_ctx *ctx, hd_session *s, const void *id, int me, int n);
struct hd_session_move {
    int output, input; /* of the model of the source, of the model of the session that joined */
    size_t at;         /* where the bytes of process 0 go; those of the others follow */
};
/* Outputs that the last run of `source` left (HD_ON_DEVICE), to inputs of s. Both sessions are open
 * on the same device. Returns when they are there. */
hd_status hd_session_gather(hd_ctx *ctx, hd_session *s, hd_session *source,
                            const struct hd_session_move *move, int n);

/* Counters of the last run, PROG steps added up (GRAPH devices: all zero). layers: model->n_layers
 * rows, the session's, valid until the next run. */
hd_status hd_session_counters(hd_ctx *ctx, hd_session *s, struct hd_counters *out);

/* What a GRAPH device made of the graph; 0 for other devices, and those that do not tell. *out is
 * the device's, valid until the next run. */
int hd_session_steps(hd_session *s, const struct hd_exec_step **out);
/* Wall clock that a step of the model took in the last run, and the device that runs it. */
uint64_t hd_session_step_ns(const hd_session *s, int step, const char **out_device);

#endif
