/* Cycles of an estimate by layer. */
#ifndef HD_COMPILER_COST_BY_LAYER_H
#define HD_COMPILER_COST_BY_LAYER_H

#include "compiler/machine_ops/machine_ops.h"

/* Adds to out[tag] the cycles up to `end` in which operations of the layer were at work, as devices
 * count them (docs/profiling.md). Of each unit's operations: when they start, when they are done.
 */
void hd_cycles_by_layer(const struct hd_ops *s, double *const start[HD_UNITS],
                        double *const done[HD_UNITS], double end, int64_t *out);

#endif
