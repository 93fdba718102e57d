/* Plans as text (plan_text.c) and their check (plan_verify.c). Grammar: docs/ir.md. */
#ifndef HD_COMPILER_PLAN_TEXT_H
#define HD_COMPILER_PLAN_TEXT_H

#include "compiler/plan/plan.h"

bool hd_plans_equal(const struct hd_plan *a, const struct hd_plan *b);
uint32_t hd_plan_hash(const struct hd_plan *p);
/* Only layers that --select means, when there are such. */
void hd_plan_print(const struct hd_lowering *lo, FILE *out);
/* The other way, behind partition: lo->plan; verified. */
hd_status hd_plan_parse(struct hd_lowering *lo, const char *text, const char *file);
/* Before partition: nodes that a plan's text leaves to the host. */
hd_status hd_plan_parse_host(struct hd_lowering *lo, const char *text, const char *file);
/* Every member in its range; chains are whole; what lives at one time has places of its own, in
 * memory that is there. */
hd_status hd_plan_verify(const struct hd_lowering *lo);

#endif
