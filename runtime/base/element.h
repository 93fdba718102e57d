/* Elements of any type, read and written through double or int64. */
#ifndef HD_BASE_ELEMENT_H
#define HD_BASE_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/dtype.h"

/* Element i of dense data as double, or as an integer (float types truncate, NaN gives 0; u64 by
 * its bits). */
double hd_k_f64(const void *p, hd_dtype t, int64_t i);
int64_t hd_k_i64(const void *p, hd_dtype t, int64_t i);
/* Stores with a conversion: float to integer truncates and saturates, NaN gives 0, bool is v != 0;
 * integers wrap, and all that is put into types below a byte; floats of one byte and less saturate.
 */
void hd_k_put_f64(void *p, hd_dtype t, int64_t i, double v);
void hd_k_put_i64(void *p, hd_dtype t, int64_t i, int64_t v);
bool hd_k_is_float(hd_dtype t);
/* Which float of one byte or less t is, -1 = none (enum hd_small). */
int hd_k_small(hd_dtype t);

#endif
