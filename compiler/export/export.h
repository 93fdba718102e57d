/* Graph -> standard ONNX file. */
#ifndef HD_EXPORT_EXPORT_H
#define HD_EXPORT_EXPORT_H

#include "compiler/ir/ir.h"

/* Writes g as an ONNX model: opset 17, or the first later one that has all operations of g. Shapes
 * are those of g, so open dimensions have the sizes that they were given at import. Names of
 * tensors and nodes are kept. Errors: HD_UNSUPPORTED for an operation that ONNX does not have, and
 * for control flow; HD_IO. */
hd_status hd_export_onnx(hd_ctx *ctx, const hd_graph *g, const char *path);
/* The same with open dimensions: those of inputs and outputs in which `other` differs, which is the
 * same network with the same ids for other sizes. */
hd_status hd_export_onnx_open(hd_ctx *ctx, const hd_graph *g, const hd_graph *other,
                              const char *path);
/* NULL: that can be written. Else the name of a node or tensor that depends on the sizes. */
const char *hd_export_closes(const hd_graph *g, const hd_graph *other);

#endif
