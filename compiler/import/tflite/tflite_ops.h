/* Private to compiler/import/tflite: one function for each row TFL_OP and TFL_CUSTOM of
 * tflite_ops.def. */
#ifndef HD_IMPORT_TFLITE_OPS_H
#define HD_IMPORT_TFLITE_OPS_H

#include "compiler/import/tflite/tflite.h"

#define TFL_OP(code, name, min_in, max_in, function) hd_status hd_tfl_##function(struct hd_tfl *m);
#define TFL_CUSTOM(name, min_in, max_in, function)   hd_status hd_tfl_##function(struct hd_tfl *m);
#include "compiler/import/tflite/tflite_ops.def"

hd_status hd_tfl_unary(struct hd_tfl *m, enum hd_ir_op op);
hd_status hd_tfl_pair(struct hd_tfl *m, enum hd_ir_op op);
hd_status hd_tfl_reduce(struct hd_tfl *m, enum hd_ir_op op);

#endif
