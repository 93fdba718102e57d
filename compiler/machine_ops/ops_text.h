/* Machine operations as text. Grammar: docs/ir.md. */
#ifndef HD_COMPILER_OPS_TEXT_H
#define HD_COMPILER_OPS_TEXT_H

#include "compiler/machine_ops/machine_ops.h"

/* The operations of a step as they are encoded, one a line; only of layers that --select means. */
void hd_ops_print(const struct hd_ops *s, int step, int64_t estimate, FILE *out);
/* Those of a step, in a text of all steps; known units, operations and fields, values that fit. */
hd_status hd_ops_parse(struct hd_ops *s, int step, const char *text, const char *file,
                       int64_t *out_estimate);

#endif
