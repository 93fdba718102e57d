/* What is used of OpenCL 1.2, declared here so that its headers are not needed to build: handles
 * are pointers, cl_int is int32_t, a size is size_t. */
#ifndef HD_GPU_REF_OCL_API_H
#define HD_GPU_REF_OCL_API_H

#include <stddef.h>
#include <stdint.h>

enum {
    CL_SUCCESS = 0,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_TRUE = 1,
    CL_MEM_READ_WRITE = 1,
    CL_QUEUE_PROFILING_ENABLE = 2,
    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,
    CL_DEVICE_TYPE_CPU = 2,
    CL_DEVICE_TYPE_GPU = 4,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100C,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019,
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_ENDIAN_LITTLE = 0x1026,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102B,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT = 0x103A,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_BUFFER_CREATE_TYPE_REGION = 0x1220,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283
};
#define CL_DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)

#define OCL_CALLS(X)                                                                               \
    X(int32_t, clGetPlatformIDs, (uint32_t n, void **out, uint32_t *out_n))                        \
    X(int32_t, clGetDeviceIDs,                                                                     \
      (void *platform, uint64_t type, uint32_t n, void **out, uint32_t *out_n))                    \
    X(int32_t, clGetDeviceInfo,                                                                    \
      (void *device, uint32_t what, size_t bytes, void *out, size_t *out_bytes))                   \
    X(void *, clCreateContext,                                                                     \
      (const intptr_t *properties, uint32_t n, void *const *devices, void *notify, void *user,     \
       int32_t *error))                                                                            \
    X(int32_t, clReleaseContext, (void *context))                                                  \
    X(void *, clCreateCommandQueue,                                                                \
      (void *context, void *device, uint64_t properties, int32_t *error))                          \
    X(int32_t, clReleaseCommandQueue, (void *queue))                                               \
    X(void *, clCreateProgramWithSource,                                                           \
      (void *context, uint32_t n, const char **text, const size_t *bytes, int32_t *error))         \
    X(int32_t, clBuildProgram,                                                                     \
      (void *program, uint32_t n, void *const *devices, const char *options, void *notify,         \
       void *user))                                                                                \
    X(int32_t, clGetProgramBuildInfo,                                                              \
      (void *program, void *device, uint32_t what, size_t bytes, void *out, size_t *out_bytes))    \
    X(int32_t, clReleaseProgram, (void *program))                                                  \
    X(void *, clCreateKernel, (void *program, const char *name, int32_t *error))                   \
    X(int32_t, clReleaseKernel, (void *kernel))                                                    \
    X(int32_t, clSetKernelArg, (void *kernel, uint32_t arg, size_t bytes, const void *value))      \
    X(void *, clCreateBuffer,                                                                      \
      (void *context, uint64_t flags, size_t bytes, void *host, int32_t *error))                   \
    X(void *, clCreateSubBuffer,                                                                   \
      (void *buffer, uint64_t flags, uint32_t type, const void *region, int32_t *error))           \
    X(int32_t, clReleaseMemObject, (void *buffer))                                                 \
    X(int32_t, clEnqueueWriteBuffer,                                                               \
      (void *queue, void *buffer, uint32_t blocking, size_t off, size_t bytes, const void *from,   \
       uint32_t n, void *const *events, void **event))                                             \
    X(int32_t, clEnqueueReadBuffer,                                                                \
      (void *queue, void *buffer, uint32_t blocking, size_t off, size_t bytes, void *to,           \
       uint32_t n, void *const *events, void **event))                                             \
    X(int32_t, clEnqueueCopyBuffer,                                                                \
      (void *queue, void *from, void *to, size_t from_off, size_t to_off, size_t bytes,            \
       uint32_t n, void *const *events, void **event))                                             \
    X(int32_t, clEnqueueNDRangeKernel,                                                             \
      (void *queue, void *kernel, uint32_t dims, const size_t *offset, const size_t *global,       \
       const size_t *local, uint32_t n, void *const *events, void **event))                        \
    X(int32_t, clFinish, (void *queue))                                                            \
    X(int32_t, clGetEventProfilingInfo,                                                            \
      (void *event, uint32_t what, size_t bytes, void *out, size_t *out_bytes))                    \
    X(int32_t, clReleaseEvent, (void *event))

struct ocl_api {
#define X(result, name, args) result(*name) args;
    OCL_CALLS(X)
#undef X
};

/* The loader, opened once for the process; NULL = it is not here. */
const struct ocl_api *hd_ocl_api(void);
/* The word for an error code of OpenCL. */
const char *hd_ocl_error(int32_t code);

#endif
