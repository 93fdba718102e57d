/* Moving elements: strided copies and transposes of 1, 2, 4 or 8 byte elements. */
#ifndef HD_CPU_REF_CPU_COPY_H
#define HD_CPU_REF_CPU_COPY_H

#include <stdint.h>

#include "compiler/ir/ir.h"

/* dst [cols][rows] = transpose of src [rows][cols]. */
void hd_copy_transpose(void *dst, const void *src, int64_t rows, int64_t cols, int size);

/* A strided copy: element index i_0 .. i_{rank-1}, strides in elements, 0 allowed in src. */
struct hd_copy {
    int rank, size;
    int64_t dim[HD_MAX_RANK + 2], dst[HD_MAX_RANK + 2], src[HD_MAX_RANK + 2];
};

/* Merges and drops dimensions where that changes nothing; call it once, before hd_copy_run. */
void hd_copy_simplify(struct hd_copy *c);
void hd_copy_run(const struct hd_copy *c, void *dst, const void *src);

#endif
