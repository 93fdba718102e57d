/* How close an output must be to a stored one, from how the graph makes it. */
#ifndef HD_COMPARE_TOLERANCE_H
#define HD_COMPARE_TOLERANCE_H

#include "compiler/ir/ir.h"

struct hd_tolerance {
    double absolute, relative;
    double of_largest; /* of the largest magnitude among the stored values, added to absolute */
    const char *text;  /* for reports */
};

/* Walks back from the graph output `tensor`: quantised tensors allow steps of the output's scale.
 */
void hd_output_tolerance(hd_arena *a, const hd_graph *g, int tensor, struct hd_tolerance *out);

#endif
