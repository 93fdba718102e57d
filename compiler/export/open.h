/* Open dimensions, from two graphs of one network for different sizes. */
#ifndef HD_EXPORT_OPEN_H
#define HD_EXPORT_OPEN_H

#include "compiler/ir/ir.h"

/* The shape of a reshape in ONNX's form for any size: 0 is the dimension of the operand, one -1
 * what is left. False: there is none. */
bool hd_open_reshape(const hd_graph *g, const hd_graph *other, int node, int64_t *out);

#endif
