/* Float products by NVIDIA's cuBLASLt, which is optional: opened by dlopen, its symbols stay its
 * own. Calls need the GPU's context to be current. cuda_gpu.c has what the rest sees. */
#ifndef HD_GPU_REF_CUBLASLT_H
#define HD_GPU_REF_CUBLASLT_H

#include "gpu_ref/gpu.h"

struct hd_blas;      /* the library's handle */
struct hd_blas_call; /* a product of certain sizes, and the algorithm that was chosen for it */

/* NULL: the library is here. Else the reason. HEDDLE_CUDA_LIBRARIES may leave it out. */
const char *hd_blas_why_not(void);
hd_status hd_blas_open(hd_ctx *ctx, struct hd_blas **out);
void hd_blas_close(struct hd_blas *b); /* NULL is fine */
/* HD_UNSUPPORTED: no algorithm of the library fits. */
hd_status hd_blas_make(hd_ctx *ctx, struct hd_blas *b, const struct hd_gpu_product *p,
                       size_t *out_workspace_bytes, struct hd_blas_call **out);
void hd_blas_drop(struct hd_blas_call *c);
/* Enqueues. at: where a, b, y, the bias if there is one, and the workspace if one is wanted, lie.
 */
hd_status hd_blas_run(hd_ctx *ctx, struct hd_blas *b, struct hd_blas_call *c, const uint64_t *at,
                      void *stream);

#endif
