/* Private to the importer of quantisation. */
#ifndef HD_IMPORT_ONNX_QUANT_H
#define HD_IMPORT_ONNX_QUANT_H

#include "compiler/import/onnx/build.h"

/* i4 and i2 as i8, u4 and u2 as u8, others as they are. */
int hd_onnx_whole_bytes(struct hd_onnx_build *b, const char *suffix, int v);
/* QuantizeLinear to t and DequantizeLinear to t as elementwise operations. */
hd_status hd_onnx_quantize_wide(struct hd_importer *m, const struct hd_onnx_node *n, hd_dtype t);
hd_status hd_onnx_dequantize_wide(struct hd_importer *m, const struct hd_onnx_node *n, hd_dtype t);

#endif
