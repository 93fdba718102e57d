/* Importing ONNX from memory; hd_import_onnx() for files is in compiler/compiler.h. */
#ifndef HD_IMPORT_IMPORT_H
#define HD_IMPORT_IMPORT_H

#include "compiler/ir/ir.h"

/* `data` is only needed during the call; `name` stands in messages. Open dimensions are a batch of
 * 1, data in other files is refused. */
hd_status hd_import_onnx_memory(hd_ctx *ctx, const void *data, size_t bytes, const char *name,
                                hd_graph **out);

#endif
