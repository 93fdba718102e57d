/* Device cuda. */
#include "gpu_ref/gpu_dev.h"

HD_GPU_DEVICE(cuda, "kernels on a GPU, by CUDA");
