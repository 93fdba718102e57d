/* OpenCL as a GPU's driver (gpu.h): any vendor through the ICD loader. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_ref/gpu.h"
#include "gpu_ref/ocl_api.h"

enum { PLATFORMS = 16, DEVICES = 64, NAME = 256 };

struct hd_gpu_mem {
    void *buffer;
};

struct hd_gpu_kernel {
    void *kernel;
    struct hd_gpu_kernel *next; /* of the program */
};

struct hd_gpu_program {
    void *program;
    struct hd_gpu_kernel *kernels;
};

struct hd_gpu {
    const struct ocl_api *cl;
    void *device, *context, *queue;
    struct hd_gpu_limits limits;
    char name[NAME], driver[NAME];
    void **event; /* of each timer, NULL = it did not run */
    int n_events;
};

/* ---- what is here --------------------------------------------------------------------------- */

/* The device that HEDDLE_OPENCL names by a part of its name, else the first GPU, else the first. */
static void *choose(const struct ocl_api *cl) {
    void *platform[PLATFORMS], *device[DEVICES], *best = NULL;
    uint32_t n_platforms = 0, n = 0;
    const char *want = getenv("HEDDLE_OPENCL");
    int rank = 0;
    if (!cl || cl->clGetPlatformIDs(PLATFORMS, platform, &n_platforms)) return NULL;
    for (uint32_t p = 0; p < n_platforms && p < PLATFORMS; p++) {
        if (cl->clGetDeviceIDs(platform[p], CL_DEVICE_TYPE_ALL, DEVICES, device, &n)) continue;
        for (uint32_t d = 0; d < n && d < DEVICES; d++) {
            uint64_t type = 0;
            uint32_t compiler = 0, little = 0;
            char name[NAME] = "";
            cl->clGetDeviceInfo(device[d], CL_DEVICE_TYPE, sizeof type, &type, NULL);
            cl->clGetDeviceInfo(device[d], CL_DEVICE_COMPILER_AVAILABLE, 4, &compiler, NULL);
            cl->clGetDeviceInfo(device[d], CL_DEVICE_ENDIAN_LITTLE, 4, &little, NULL);
            cl->clGetDeviceInfo(device[d], CL_DEVICE_NAME, sizeof name - 1, name, NULL);
            int mine = !compiler || !little          ? 0
                       : want && !strstr(name, want) ? 0
                       : type & CL_DEVICE_TYPE_GPU   ? 2
                                                     : 1;
            if (mine > rank) best = device[d], rank = mine;
        }
    }
    return best;
}

static const char *ocl_why_not(void) {
    if (!hd_ocl_api())
        return "libOpenCL.so.1 is not installed: run 'scripts/deps.sh gpu' (ocl-icd-libopencl1)";
    if (choose(hd_ocl_api())) return NULL;
    if (getenv("HEDDLE_OPENCL"))
        return "no device has the name that HEDDLE_OPENCL gives; clinfo -l lists them";
    return "the ICD loader finds no device: install the driver of the GPU, or for the processor "
           "run "
           "'scripts/deps.sh gpu' (pocl-opencl-icd)";
}

static const char *ocl_describe(void) {
    return "kernels of tensor expressions, by the OpenCL driver of any vendor";
}

/* ---- open ----------------------------------------------------------------------------------- */

static uint64_t number(const hd_gpu *g, uint32_t what, size_t bytes) {
    uint64_t v = 0;
    uint32_t small = 0;
    if (bytes == 4) {
        g->cl->clGetDeviceInfo(g->device, what, 4, &small, NULL);
        return small;
    }
    g->cl->clGetDeviceInfo(g->device, what, bytes, &v, NULL);
    return v;
}

static bool has_extension(const hd_gpu *g, const char *name) {
    size_t bytes = 0;
    g->cl->clGetDeviceInfo(g->device, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes);
    char *all = calloc(1, bytes + 1);
    if (!all) return false;
    g->cl->clGetDeviceInfo(g->device, CL_DEVICE_EXTENSIONS, bytes, all, NULL);
    bool found = strstr(all, name) != NULL;
    free(all);
    return found;
}

static void find_limits(hd_gpu *g) {
    struct hd_gpu_limits *l = &g->limits;
    g->cl->clGetDeviceInfo(g->device, CL_DEVICE_NAME, sizeof g->name - 1, g->name, NULL);
    g->cl->clGetDeviceInfo(g->device, CL_DRIVER_VERSION, sizeof g->driver - 1, g->driver, NULL);
    l->name = g->name;
    l->driver = g->driver;
    l->is_cpu = number(g, CL_DEVICE_TYPE, 8) & CL_DEVICE_TYPE_CPU;
    const char *tiles = getenv("HEDDLE_GPU_TILES");
    if (tiles) l->is_cpu = !strcmp(tiles, "cpu");
    l->mma = tiles && !strcmp(tiles, "mma");
    l->f64 = number(g, CL_DEVICE_DOUBLE_FP_CONFIG, 8) != 0;
    l->exact_divide =
        number(g, CL_DEVICE_SINGLE_FP_CONFIG, 8) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    l->dot8 = l->mma || has_extension(g, "cl_khr_integer_dot_product");
    l->local_bytes = number(g, CL_DEVICE_LOCAL_MEM_SIZE, 8);
    uint64_t threads = number(g, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
    l->max_threads = threads > 4096 ? 4096 : (int)threads;
    size_t align = number(g, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4) / 8;
    for (l->align = 64; l->align < align;) l->align *= 2;
    l->memory_bytes = number(g, CL_DEVICE_GLOBAL_MEM_SIZE, 8);
    l->max_bytes = number(g, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8);
    l->units = (int)number(g, CL_DEVICE_MAX_COMPUTE_UNITS, 4);
    l->clock_mhz = (int)number(g, CL_DEVICE_MAX_CLOCK_FREQUENCY, 4);
    /* A processor has two vectors a cycle. What a unit of a GPU has, OpenCL does not say. */
    if (number(g, CL_DEVICE_TYPE, 8) & CL_DEVICE_TYPE_CPU)
        l->lanes = 2 * (int)number(g, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4);
}

static hd_status failed(hd_ctx *ctx, const char *call, int32_t error) {
    bool memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
                  error == CL_OUT_OF_HOST_MEMORY;
    return hd_fail(ctx, memory ? HD_NOMEM : HD_DEVICE, "opencl: %s: error %d (%s)", call,
                   (int)error, hd_ocl_error(error));
}
#define CL(ctx, g, call, args)                                                                     \
    do {                                                                                           \
        int32_t error_ = (g)->cl->call args;                                                       \
        if (error_) return failed((ctx), #call, error_);                                           \
    } while (0)

static void ocl_close(hd_gpu *g) {
    for (int i = 0; i < g->n_events; i++)
        if (g->event[i]) g->cl->clReleaseEvent(g->event[i]);
    if (g->queue) g->cl->clReleaseCommandQueue(g->queue);
    if (g->context) g->cl->clReleaseContext(g->context);
    free(g->event);
    free(g);
}

static hd_status ocl_open(hd_ctx *ctx, hd_gpu **out) {
    const char *why = ocl_why_not();
    if (why) return hd_fail(ctx, HD_DEVICE, "device opencl: not available: %s", why);
    hd_gpu *g = calloc(1, sizeof *g);
    if (!g) return hd_fail(ctx, HD_NOMEM, "opencl: no memory for the device");
    int32_t error = 0;
    g->cl = hd_ocl_api();
    g->device = choose(g->cl);
    find_limits(g);
    g->context = g->cl->clCreateContext(NULL, 1, &g->device, NULL, NULL, &error);
    if (!error)
        g->queue =
            g->cl->clCreateCommandQueue(g->context, g->device, CL_QUEUE_PROFILING_ENABLE, &error);
    if (!error) {
        *out = g;
        return HD_OK;
    }
    ocl_close(g);
    return failed(ctx, "clCreateContext", error);
}

static const struct hd_gpu_limits *ocl_limits(const hd_gpu *g) {
    return &g->limits;
}

/* ---- memory --------------------------------------------------------------------------------- */

static hd_status wrap(hd_ctx *ctx, hd_gpu *g, void *buffer, int32_t error, const char *call,
                      hd_gpu_mem **out) {
    if (error) return failed(ctx, call, error);
    hd_gpu_mem *m = calloc(1, sizeof *m);
    if (!m) {
        g->cl->clReleaseMemObject(buffer);
        return hd_fail(ctx, HD_NOMEM, "opencl: no memory for a buffer");
    }
    m->buffer = buffer;
    *out = m;
    return HD_OK;
}

static hd_status ocl_alloc(hd_ctx *ctx, hd_gpu *g, size_t bytes, hd_gpu_mem **out) {
    int32_t error = 0;
    void *b = g->cl->clCreateBuffer(g->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &error);
    return wrap(ctx, g, b, error, "clCreateBuffer", out);
}

static hd_status ocl_part(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *m, size_t at, size_t bytes,
                          hd_gpu_mem **out) {
    size_t region[2] = {at, bytes};
    int32_t error = 0;
    void *b = g->cl->clCreateSubBuffer(m->buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                       region, &error);
    return wrap(ctx, g, b, error, "clCreateSubBuffer", out);
}

static void ocl_free(hd_gpu *g, hd_gpu_mem *m) {
    g->cl->clReleaseMemObject(m->buffer);
    free(m);
}

static hd_status ocl_write(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *m, size_t at, const void *src,
                           size_t bytes) {
    CL(ctx, g, clEnqueueWriteBuffer, (g->queue, m->buffer, CL_TRUE, at, bytes, src, 0, NULL, NULL));
    return HD_OK;
}

static hd_status ocl_read(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *m, size_t at, void *dst,
                          size_t bytes) {
    CL(ctx, g, clEnqueueReadBuffer, (g->queue, m->buffer, CL_TRUE, at, bytes, dst, 0, NULL, NULL));
    return HD_OK;
}

static hd_status ocl_copy(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *from, hd_gpu_mem *to, size_t bytes) {
    CL(ctx, g, clEnqueueCopyBuffer,
       (g->queue, from->buffer, to->buffer, 0, 0, bytes, 0, NULL, NULL));
    return HD_OK;
}

/* ---- programs ------------------------------------------------------------------------------- */

static hd_status build_failed(hd_ctx *ctx, hd_gpu *g, void *program, int32_t error) {
    size_t bytes = 0;
    g->cl->clGetProgramBuildInfo(program, g->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *log = calloc(1, bytes + 1);
    if (log)
        g->cl->clGetProgramBuildInfo(program, g->device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    hd_status s =
        hd_fail(ctx, HD_DEVICE, "opencl: %s does not build the kernels: error %d (%s)\n%.1500s",
                g->name, (int)error, hd_ocl_error(error), log ? log : "");
    free(log);
    return s;
}

static void ocl_unbuild(hd_gpu *g, hd_gpu_program *p) {
    while (p->kernels) {
        struct hd_gpu_kernel *k = p->kernels;
        p->kernels = k->next;
        g->cl->clReleaseKernel(k->kernel);
        free(k);
    }
    g->cl->clReleaseProgram(p->program);
    free(p);
}

static hd_status ocl_build(hd_ctx *ctx, hd_gpu *g, const char *source, hd_gpu_program **out) {
    hd_gpu_program *p = calloc(1, sizeof *p);
    if (!p) return hd_fail(ctx, HD_NOMEM, "opencl: no memory for a program");
    int32_t error = 0;
    const char *options = g->limits.exact_divide
                              ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
                              : "-cl-std=CL1.2";
    p->program = g->cl->clCreateProgramWithSource(g->context, 1, &source, NULL, &error);
    if (error) {
        free(p);
        return failed(ctx, "clCreateProgramWithSource", error);
    }
    error = g->cl->clBuildProgram(p->program, 1, &g->device, options, NULL, NULL);
    if (!error) {
        *out = p;
        return HD_OK;
    }
    hd_status s = build_failed(ctx, g, p->program, error);
    ocl_unbuild(g, p);
    return s;
}

static hd_status ocl_kernel(hd_ctx *ctx, hd_gpu *g, hd_gpu_program *p, const char *name,
                            hd_gpu_kernel **out) {
    hd_gpu_kernel *k = calloc(1, sizeof *k);
    if (!k) return hd_fail(ctx, HD_NOMEM, "opencl: no memory for a kernel");
    int32_t error = 0;
    k->kernel = g->cl->clCreateKernel(p->program, name, &error);
    if (error) {
        free(k);
        return failed(ctx, "clCreateKernel", error);
    }
    k->next = p->kernels;
    p->kernels = k;
    *out = k;
    return HD_OK;
}

static hd_status ocl_timers(hd_ctx *ctx, hd_gpu *g, int n) {
    if (n <= g->n_events) return HD_OK;
    void **more = realloc(g->event, (size_t)n * sizeof *more);
    if (!more) return hd_fail(ctx, HD_NOMEM, "opencl: no memory for %d events", n);
    memset(more + g->n_events, 0, (size_t)(n - g->n_events) * sizeof *more);
    g->event = more;
    g->n_events = n;
    return HD_OK;
}

static hd_status ocl_launch(hd_ctx *ctx, hd_gpu *g, const struct hd_gpu_launch *l, int timer) {
    size_t global[3], local[3];
    void *event = NULL;
    for (int i = 0; i < l->n_args; i++)
        CL(ctx, g, clSetKernelArg,
           (l->kernel->kernel, (uint32_t)i, sizeof(void *), &l->arg[i]->buffer));
    for (int d = 0; d < 3; d++) {
        local[d] = (size_t)l->block[d];
        global[d] = l->grid[d] * local[d];
    }
    CL(ctx, g, clEnqueueNDRangeKernel,
       (g->queue, l->kernel->kernel, 3, NULL, global, local, 0, NULL, timer < 0 ? NULL : &event));
    if (timer < 0) return HD_OK;
    if (g->event[timer]) g->cl->clReleaseEvent(g->event[timer]);
    g->event[timer] = event;
    return HD_OK;
}

static hd_status ocl_finish(hd_ctx *ctx, hd_gpu *g) {
    CL(ctx, g, clFinish, (g->queue));
    return HD_OK;
}

static double ocl_seconds(hd_gpu *g, int timer) {
    uint64_t start = 0, end = 0;
    if (!g->event[timer]) return 0;
    g->cl->clGetEventProfilingInfo(g->event[timer], CL_PROFILING_COMMAND_START, sizeof start,
                                   &start, NULL);
    g->cl->clGetEventProfilingInfo(g->event[timer], CL_PROFILING_COMMAND_END, sizeof end, &end,
                                   NULL);
    return end > start ? (double)(end - start) * 1e-9 : 0;
}

const struct hd_gpu_api hd_gpu_opencl = {
    .scheme = "opencl",
    .dialect = &hd_dialect_opencl,
    .why_not = ocl_why_not,
    .describe = ocl_describe,
    .open = ocl_open,
    .close = ocl_close,
    .limits = ocl_limits,
    .alloc = ocl_alloc,
    .part = ocl_part,
    .free = ocl_free,
    .write = ocl_write,
    .read = ocl_read,
    .copy = ocl_copy,
    .build = ocl_build,
    .unbuild = ocl_unbuild,
    .kernel = ocl_kernel,
    .launch = ocl_launch,
    .finish = ocl_finish,
    .timers = ocl_timers,
    .seconds = ocl_seconds,
};
