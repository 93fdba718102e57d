/* Rows of values as doubles: what float kernels compute in. Private to cpu_ref. */
#ifndef HD_CPU_REF_K_ROWS_H
#define HD_CPU_REF_K_ROWS_H

#include "cpu_ref/kernels.h"

/* Values first .. first + count - 1 of dense data of type t. Any type but f16; i64 and u64 are
 * rounded. */
void hd_k_widen(const void *data, hd_dtype t, int64_t first, int64_t count, double *out);
/* The reverse: rounds to float types; integers are truncated and saturated, NaN gives 0. */
void hd_k_narrow(void *data, hd_dtype t, int64_t first, int64_t count, const double *v);

/* The whole of operand i as doubles, from the arena of the call; NULL when it is left out. */
double *hd_k_doubles(const struct hd_kernel *k, int i);
/* Stores a whole result. Nothing happens when output i is not wanted. */
void hd_k_store(const struct hd_kernel *k, int i, const double *v);

#endif
