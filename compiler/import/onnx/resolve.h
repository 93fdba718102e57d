/* Private to compiler/import/onnx: values of the run that shapes are taken from. */
#ifndef HD_IMPORT_RESOLVE_H
#define HD_IMPORT_RESOLVE_H

#include "compiler/import/onnx/onnx.h"

struct hd_run *hd_run_create(hd_arena *a);
/* The value of a graph input, dense; it must outlive the import. */
void hd_run_give(struct hd_importer *m, int tensor, const void *data);

#endif
