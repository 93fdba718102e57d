/* Text of every stage, read back, gives the same programs. */
#ifndef HD_TEST_STAGES_ROUND_TRIP_H
#define HD_TEST_STAGES_ROUND_TRIP_H

#include "compiler/compiler.h"

/* HD_OK: the model that each text leads to is that of the graph byte for byte, image and arena.
 * g: prepared (hd_prepare). */
hd_status round_trip(hd_ctx *ctx, hd_graph *g, const struct hd_compile_options *opt);

#endif
