/* Device opencl. */
#include "gpu_ref/gpu_dev.h"

HD_GPU_DEVICE(opencl, "kernels on a GPU, by OpenCL", NULL);
