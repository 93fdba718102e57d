/* Rows of tables that a model and a session both give. */
#ifndef HD_API_ROWS_H
#define HD_API_ROWS_H

#include "compiler/api/heddle.h"
#include "compiler/report/report.h"

/* Layer i, which is there. */
void hd_layer_row_of(const struct hd_cmd *c, const struct hd_run_facts *r, int i,
                     struct hd_layer_row *out);

#endif
