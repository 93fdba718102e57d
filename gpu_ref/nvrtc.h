/* CUDA source to code of a GPU by NVRTC, kept on disk by its content. */
#ifndef HD_GPU_REF_NVRTC_H
#define HD_GPU_REF_NVRTC_H

#include "runtime/base/status.h"

/* NULL: NVRTC is here. Else the reason and what to do. */
const char *hd_nvrtc_why_not(void);
/* arch: 10 * major + minor of the compute capability. *out is malloc'd and ends with a zero byte: a
 * cubin, or PTX where NVRTC is older than the GPU. cached: look for it in, and put it into,
 * $XDG_CACHE_HOME/heddle/cubin. HD_DEVICE with the compiler's log. */
hd_status hd_nvrtc_compile(hd_ctx *ctx, const char *source, int arch, bool cached, char **out,
                           size_t *out_bytes);

#endif
