/* Finds a plan: cuts of XM, chains, tiles, by the price of their machine operations. */
#ifndef HD_COMPILER_SEARCH_H
#define HD_COMPILER_SEARCH_H

#include "compiler/cost/cost.h"

hd_status hd_plan_memory(struct hd_lowering *lo);
/* The model's figures of activation memory, by the plan. */
void hd_plan_report(struct hd_lowering *lo);
/* Behind the last layer of the step of layer i. */
size_t hd_step_end(const struct hd_lowering *lo, size_t i);
/* The chain [first, end) of a layer, and the layers [from, to) that are estimated for it: what
 * overlaps, its neighbours in the step. */
struct hd_window {
    size_t first, end, from, to;
};
struct hd_window hd_chain_window(const struct hd_lowering *lo, size_t i);
/* Asks tiling for better tiles, chunks, orders and rings, by estimates. */
hd_status hd_refine_tiles(struct hd_lowering *lo);

#endif
