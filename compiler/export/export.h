/* Graph -> standard ONNX file. */
#ifndef HD_EXPORT_EXPORT_H
#define HD_EXPORT_EXPORT_H

#include "compiler/ir/ir.h"

/* Writes g as an ONNX model: opset 17, or the first later one that has all operations of g. Shapes
 * are those of g, so open dimensions have the sizes that they were given at import. Names of
 * tensors and nodes are kept. Errors: HD_UNSUPPORTED for an operation that ONNX does not have, and
 * for control flow; HD_IO. */
hd_status hd_export_onnx(hd_ctx *ctx, const hd_graph *g, const char *path);

#endif
