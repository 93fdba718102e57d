/* Private to compiler/import/onnx: the graph of the model. */
#ifndef HD_IMPORT_ONNX_GRAPH_H
#define HD_IMPORT_ONNX_GRAPH_H

#include "compiler/import/onnx/onnx.h"

/* Indices of the nodes, each behind those that it reads; the order of the file where that is one.
 * base: the first tensor that they make; all of them have been made. */
size_t *hd_onnx_order(const struct hd_importer *m, const struct hd_onnx_graph *graph, size_t base);
hd_status hd_onnx_add_initializers(struct hd_importer *m, const struct hd_onnx_graph *graph);
/* Initializers, inputs (sized by bind), nodes, outputs. */
hd_status hd_onnx_import_network(struct hd_importer *m, const struct hd_onnx_graph *graph,
                                 const struct hd_bind *bind);

#endif
