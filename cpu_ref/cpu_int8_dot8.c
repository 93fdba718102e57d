/* The kernels of cpu_int8_dot.h for AVX-VNNI, 8 sums a vector. Compiled for it whatever the
 * rest of the program is compiled for (rules.mk), called only where hd_q_dot_of() found it. */
#include "cpu_ref/cpu_int8_dot.h"

#ifdef __AVXVNNI__
#define HD_LANES 8
#include "cpu_ref/cpu_dot_dense.h"
#include "cpu_ref/cpu_dot_depth.h"

const struct hd_q_dot hd_q_dot8 = {LANES, d_dense_unit, d_depth_unit};
#endif
