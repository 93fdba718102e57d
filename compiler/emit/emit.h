/* Last stage of the compiler: tables of the model. */
#ifndef HD_COMPILER_EMIT_H
#define HD_COMPILER_EMIT_H

#include "compiler/machine_ops/machine_ops.h"

void hd_emit_model(struct hd_lowering *lo);

/* Program words, header first: appends them to the image and returns their offset. */
hd_status hd_ops_encode(struct hd_ops *s, size_t *out_offset, size_t *out_bytes,
                        int64_t *out_bundles);
hd_status hd_schedule_step(struct hd_lowering *lo, int step);
#endif
