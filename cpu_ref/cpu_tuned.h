/* Tuned works of device cpu: what a node's work is, and the device's name in a database. */
#ifndef HD_CPU_REF_CPU_TUNED_H
#define HD_CPU_REF_CPU_TUNED_H

#include "compiler/loop/tunable.h"
#include "cpu_ref/cpu_plan.h"
#include "cpu_ref/jit_api.h"

/* The node alone, without what may be fused behind it. False = it is none. */
bool hd_cpu_work_of(hd_ctx *ctx, const hd_graph *g, int node, struct hd_tunable *out);
const char *hd_cpu_device_key(hd_arena *a, const struct hd_jit_api *jit, void *engine, int threads);

#endif
