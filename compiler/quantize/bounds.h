/* Ranges without data, for networks that give scales to some tensors only (bounds.c). */
#ifndef HD_QUANTIZE_BOUNDS_H
#define HD_QUANTIZE_BOUNDS_H

#include "compiler/quantize/quantize.h"

/* stats[t], as hd_quant_observe leaves it, for every tensor of g: from what makes and reads it.
 * not_finite = 1: nothing bounds it closely. */
void hd_quant_bounds(hd_ctx *ctx, const hd_graph *g, const struct hd_quant_plan *plan,
                     struct hd_quant_stats *stats);

#endif
