/* Shape of a batched matrix product by numpy's rules. Private to cpu_ref. */
#ifndef HD_CPU_REF_K_MATMUL_H
#define HD_CPU_REF_K_MATMUL_H

#include "cpu_ref/kernels.h"

struct hd_matmul { /* batches of [m,depth] x [depth,n]; batch_*: how many leading dims are batch */
    int64_t m, n, depth, batches;
    int batch_a, batch_b, batch_y;
};
/* Of operands 0 and 1, which have rank 1 or more. */
void hd_matmul_shape(const struct hd_kernel *k, struct hd_matmul *out);

/* Which matrix of an operand with `rank` batch dims belongs to batch i of the result. */
int64_t hd_batch_offset(int64_t i, const int64_t *out, int out_rank, const int64_t *dim, int rank);

#endif
