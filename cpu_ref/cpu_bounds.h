/* Error bounds of device cpu against golden: the table cpu_bounds.def. */
#ifndef HD_CPU_REF_CPU_BOUNDS_H
#define HD_CPU_REF_CPU_BOUNDS_H

#include "compiler/ir/ir.h"
#include "runtime/device/hal.h"

#define HD_BOUND_RELATIVE   1e-6
#define HD_BOUND_OF_LARGEST 1e-6

struct hd_cpu_bound {
    double relative;   /* of the value */
    double of_largest; /* of the largest value of its tensor */
};

struct hd_cpu_bound hd_cpu_bound_of(enum hd_ir_op op);
/* Of a product whose operands are rounded first. */
struct hd_cpu_bound hd_cpu_bound_in(enum hd_ir_op op, enum hd_precision precision);
/* Of everything that tensor t is computed from: the sum. */
struct hd_cpu_bound hd_cpu_bound_to(const hd_graph *g, int t);

#endif
