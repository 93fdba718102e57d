/* Private to compiler/import/onnx: sizes of the network's open dimensions. */
#ifndef HD_IMPORT_BIND_H
#define HD_IMPORT_BIND_H

#include "compiler/import/onnx/onnx.h"

/* Closes every dimension of the inputs v[0..n). bind may be NULL. Errors name input and option. */
hd_status hd_bind_inputs(struct hd_importer *m, const struct hd_bind *bind, struct hd_onnx_value *v,
                         size_t n);
/* The tensor that is given for an input, NULL = none. */
const struct hd_tensor *hd_bind_given(const struct hd_bind *b, const char *name, size_t position);

#endif
