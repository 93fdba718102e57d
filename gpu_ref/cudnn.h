/* Float convolutions by NVIDIA's cuDNN, which is optional: opened by dlopen, its symbols stay its
 * own. Calls need the GPU's context to be current. cuda_gpu.c has what the rest sees. */
#ifndef HD_GPU_REF_CUDNN_H
#define HD_GPU_REF_CUDNN_H

#include "gpu_ref/gpu.h"

struct hd_dnn;      /* the library's handle, for one stream */
struct hd_dnn_call; /* a convolution of certain sizes, and the plan that was chosen for it */

/* NULL: the library is here. Else the reason. HEDDLE_CUDA_LIBRARIES may leave it out. */
const char *hd_dnn_why_not(void);
hd_status hd_dnn_open(hd_ctx *ctx, void *stream, struct hd_dnn **out);
void hd_dnn_close(struct hd_dnn *d); /* NULL is fine */
/* HD_UNSUPPORTED: no engine of the library fits. fp16 is as tf32: the library has no engine that
 * rounds tensors of f32 to it. */
hd_status hd_dnn_make(hd_ctx *ctx, struct hd_dnn *d, const struct hd_gpu_convolution *of,
                      struct hd_gpu_library_facts *out_facts, struct hd_dnn_call **out);
void hd_dnn_drop(struct hd_dnn_call *c);
/* Enqueues. at: where x, w, y, the bias, the residual and the workspace lie, as far as there are
 * such. */
hd_status hd_dnn_run(hd_ctx *ctx, struct hd_dnn *d, struct hd_dnn_call *c, const uint64_t *at);

#endif
