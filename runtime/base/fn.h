/* The functions of the vector unit in binary32, defined to the bit: integer arithmetic on the rows
 * of fn.def. Golden and ISS call this; the RTL has its own text (hw/rtl/hd_vx_fn.sv).
 *
 *   exp rcp rsqrt   relative error below 2^-22    (rcp 1/x, rsqrt 1/sqrt(x))
 *   tanh sigmoid    absolute error below 2^-22
 *
 * Subnormal arguments count as zero, subnormal results become zero. exp(0), rcp(2^k), rsqrt(4^k),
 * tanh(0) and sigmoid(0) are exact. NaN gives 0x7fc00000, and so does rsqrt of a
 * negative number; rcp(+-0) = +-inf, rcp(+-inf) = +-0, rsqrt(+-0) = inf, rsqrt(inf) = 0.
 * Source: docs/numerics.md, "Functions"; bounds checked by test/unit/base/test_fn.c. */
#ifndef HD_BASE_FN_H
#define HD_BASE_FN_H

#include <stdint.h>

/* Codes of vx.fn. */
enum hd_fn {
#define FUNCTION(NAME, name, code, doc) HD_FN_##NAME = code,
#include "runtime/base/functions.def"
};

/* Bits of fn(x) for the bits of x; HD_FN_NONE gives x. */
uint32_t hd_fn_bits(enum hd_fn fn, uint32_t x);
float hd_fn(enum hd_fn fn, float x);
/* Three numbers of each row that tanh and sigmoid look up, for vectors that do the same. */
const int32_t *hd_fn_tanh_rows(void);

#endif
