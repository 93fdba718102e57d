/* Where two machines part. */
#ifndef HD_COMPARE_FIRST_DIFF_H
#define HD_COMPARE_FIRST_DIFF_H

#include "compiler/session/session.h"

/* The first operation of m's programs after which the memories of two machines differ, as text and
 * in *out (NULL: none does). The inputs are those of a run. */
hd_status hd_first_difference(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                              const char *const device[2], const void *const *in, FILE *text,
                              json_object **out);

#endif
