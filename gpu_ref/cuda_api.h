/* What is used of CUDA's driver and of NVRTC, declared here so that no header of the toolkit is
 * needed to build: handles are pointers, CUresult and nvrtcResult are int, CUdeviceptr is uint64_t.
 */
#ifndef HD_GPU_REF_CUDA_API_H
#define HD_GPU_REF_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CU_OUT_OF_MEMORY = 2,
    CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_ATTRIBUTE_CLOCK_RATE = 13,
    CU_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_STREAM_NON_BLOCKING = 1,
    CU_CAPTURE_RELAXED = 2, /* libraries load kernels when they first need them */
    NVRTC_COMPILATION = 6
};

/* X(name in this table, symbol, arguments): the symbol's version is that of CUDA 11 and later. */
#define CU_CALLS(X)                                                                                \
    X(cuInit, cuInit, (unsigned flags))                                                            \
    X(cuGetErrorName, cuGetErrorName, (int error, const char **out))                               \
    X(cuDriverGetVersion, cuDriverGetVersion, (int *out))                                          \
    X(cuDeviceGetCount, cuDeviceGetCount, (int *out))                                              \
    X(cuDeviceGet, cuDeviceGet, (int *out, int ordinal))                                           \
    X(cuDeviceGetName, cuDeviceGetName, (char *out, int bytes, int device))                        \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *out, int what, int device))                \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * out, int device))                           \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (void **out, int device))                \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (int device))                       \
    X(cuCtxPushCurrent, cuCtxPushCurrent_v2, (void *context))                                      \
    X(cuCtxPopCurrent, cuCtxPopCurrent_v2, (void **out))                                           \
    X(cuStreamCreate, cuStreamCreate, (void **out, unsigned flags))                                \
    X(cuStreamDestroy, cuStreamDestroy_v2, (void *stream))                                         \
    X(cuStreamSynchronize, cuStreamSynchronize, (void *stream))                                    \
    X(cuMemAlloc, cuMemAlloc_v2, (uint64_t * out, size_t bytes))                                   \
    X(cuMemFree, cuMemFree_v2, (uint64_t at))                                                      \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                     \
      (uint64_t to, const void *from, size_t bytes, void *stream))                                 \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                     \
      (void *to, uint64_t from, size_t bytes, void *stream))                                       \
    X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                                     \
      (uint64_t to, uint64_t from, size_t bytes, void *stream))                                    \
    X(cuModuleLoadData, cuModuleLoadData, (void **out, const void *image))                         \
    X(cuModuleUnload, cuModuleUnload, (void *module))                                              \
    X(cuModuleGetFunction, cuModuleGetFunction, (void **out, void *module, const char *name))      \
    X(cuLaunchKernel, cuLaunchKernel,                                                              \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,        \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **args,       \
       void **extra))                                                                              \
    X(cuEventCreate, cuEventCreate, (void **out, unsigned flags))                                  \
    X(cuEventDestroy, cuEventDestroy_v2, (void *event))                                            \
    X(cuEventRecord, cuEventRecord, (void *event, void *stream))                                   \
    X(cuEventElapsedTime, cuEventElapsedTime, (float *out_ms, void *start, void *end))             \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (void *stream, int mode))                     \
    X(cuStreamEndCapture, cuStreamEndCapture, (void *stream, void **out))                          \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                                             \
      (void **out, void *graph, unsigned long long flags))                                         \
    X(cuGraphDestroy, cuGraphDestroy, (void *graph))                                               \
    X(cuGraphExecDestroy, cuGraphExecDestroy, (void *exec))                                        \
    X(cuGraphLaunch, cuGraphLaunch, (void *exec, void *stream))

#define NVRTC_CALLS(X)                                                                             \
    X(nvrtcVersion, nvrtcVersion, (int *out_major, int *out_minor))                                \
    X(nvrtcGetNumSupportedArchs, nvrtcGetNumSupportedArchs, (int *out))                            \
    X(nvrtcGetSupportedArchs, nvrtcGetSupportedArchs, (int *out))                                  \
    X(nvrtcCreateProgram, nvrtcCreateProgram,                                                      \
      (void **out, const char *text, const char *name, int n_headers, const char *const *headers,  \
       const char *const *header_names))                                                           \
    X(nvrtcCompileProgram, nvrtcCompileProgram,                                                    \
      (void *program, int n, const char *const *options))                                          \
    X(nvrtcGetProgramLogSize, nvrtcGetProgramLogSize, (void *program, size_t *out))                \
    X(nvrtcGetProgramLog, nvrtcGetProgramLog, (void *program, char *out))                          \
    X(nvrtcGetCUBINSize, nvrtcGetCUBINSize, (void *program, size_t *out))                          \
    X(nvrtcGetCUBIN, nvrtcGetCUBIN, (void *program, char *out))                                    \
    X(nvrtcGetPTXSize, nvrtcGetPTXSize, (void *program, size_t *out))                              \
    X(nvrtcGetPTX, nvrtcGetPTX, (void *program, char *out))                                        \
    X(nvrtcDestroyProgram, nvrtcDestroyProgram, (void **program))

#define X(name, symbol, args) int(*name) args;
struct cuda_api {
    CU_CALLS(X)
};
struct nvrtc_api {
    NVRTC_CALLS(X)
};
#undef X

/* Opened once for the process; NULL = not here. */
const struct cuda_api *hd_cuda_api(void);
const struct nvrtc_api *hd_nvrtc_api(void);
/* *out: where dlsym finds the library's symbols: in the process if that has `symbol`, else in the
 * first of n names that opens, in the folders that cuda_api.c names. False = not here. */
bool hd_cuda_library(const char *symbol, const char *const *soname, int n, void **out);
/* NULL: the library may be used. HEDDLE_CUDA_LIBRARIES is a list of those that may
 * (cublaslt,cudnn), or none. */
const char *hd_cuda_library_off(const char *name);

#endif
