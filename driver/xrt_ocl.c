/* Device "xrt-opencl": the same kernel through OpenCL, for programs that are built around it: the
 * ICD loader (libOpenCL.so.1) and XRT's platform behind it (libxilinxopencl.so.2), opened at run
 * time. Buffers and runs are OpenCL's; fingerprints, errors and counters in the kernel's registers
 * are read through XRT beside it, since OpenCL has no word for them. Emulation and boards as in
 * xrt_dev.c. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "driver/xrt_host.h"
#include "runtime/base/io.h"

enum {
    SLICE_MS = 50,
    RESET_MS = 1000,
    PLATFORMS = 16,
    KERNEL_CTRL = 2,   /* xclAddressSpace of xrt.h */
    ADDRESS_SHIFT = 36 /* buffers have no addresses here, only names: 1, 2, ... << 36 */
};
/* From CL/cl.h. Handles are pointers, cl_int is int32_t, a size is size_t. */
enum {
    CL_SUCCESS = 0,
    CL_COMPLETE = 0,
    CL_TRUE = 1,
    CL_PLATFORM_NAME = 0x0902,
    CL_MEM_READ_WRITE = 1,
    CL_DEVICE_HANDLE = 0x1121, /* of XRT; CL/cl_ext_xilinx.h */
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3
};
#define CL_DEVICE_TYPE_ACCELERATOR UINT64_C(8)

#define CL_CALLS(X)                                                                                \
    X(int32_t, clGetPlatformIDs, (uint32_t n, void **out, uint32_t *out_n))                        \
    X(int32_t, clGetPlatformInfo,                                                                  \
      (void *platform, uint32_t what, size_t bytes, void *out, size_t *out_bytes))                 \
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
    X(void *, clCreateProgramWithBinary,                                                           \
      (void *context, uint32_t n, void *const *devices, const size_t *bytes,                       \
       const unsigned char **data, int32_t *status, int32_t *error))                               \
    X(int32_t, clReleaseProgram, (void *program))                                                  \
    X(void *, clCreateKernel, (void *program, const char *name, int32_t *error))                   \
    X(int32_t, clReleaseKernel, (void *kernel))                                                    \
    X(int32_t, clSetKernelArg, (void *kernel, uint32_t arg, size_t bytes, const void *value))      \
    X(void *, clCreateBuffer,                                                                      \
      (void *context, uint64_t flags, size_t bytes, void *host, int32_t *error))                   \
    X(int32_t, clReleaseMemObject, (void *buffer))                                                 \
    X(int32_t, clEnqueueWriteBuffer,                                                               \
      (void *queue, void *buffer, uint32_t blocking, size_t off, size_t bytes, const void *from,   \
       uint32_t n, void *const *events, void **event))                                             \
    X(int32_t, clEnqueueReadBuffer,                                                                \
      (void *queue, void *buffer, uint32_t blocking, size_t off, size_t bytes, void *to,           \
       uint32_t n, void *const *events, void **event))                                             \
    X(int32_t, clEnqueueTask,                                                                      \
      (void *queue, void *kernel, uint32_t n, void *const *events, void **event))                  \
    X(int32_t, clGetEventInfo,                                                                     \
      (void *event, uint32_t what, size_t bytes, void *out, size_t *out_bytes))                    \
    X(int32_t, clReleaseEvent, (void *event))

struct cl_api {
#define X(result, name, args) result(*name) args;
    CL_CALLS(X)
#undef X
};

struct ocl {
    struct hd_xrt x; /* first: registers take it */
    struct cl_api cl;
    void *platform, *device, *context, *queue, *program, *kernel, *event;
    uint64_t names;   /* of buffers, given so far */
    void *xrt_device; /* the same device, for its registers */
};

/* ---- what is here --------------------------------------------------------------------------- */

static void *open_loader(void) {
    return dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
}

static bool platform_is_here(void) {
    void *lib = dlopen("libxilinxopencl.so.2", RTLD_NOW | RTLD_LOCAL);
    return lib != NULL;
}

static const char *why_not(void) {
    const char *why = hd_xrt_why_not();
    if (why) return why;
    if (!open_loader())
        return "libOpenCL.so.1 is not installed; run 'scripts/deps.sh xrt' (ocl-icd-libopencl1)";
    if (!platform_is_here())
        return "libxilinxopencl.so.2 is not installed; it is part of libxrt1 and of AMD's XRT";
    return NULL;
}

static hd_status probe(hd_ctx *ctx, const struct hd_device_options *opt,
                       struct hd_device_info *out) {
    (void)ctx;
    (void)opt;
    *out =
        (struct hd_device_info){.description = "a board, or XRT's hardware emulation, by OpenCL"};
    out->why_not = why_not();
    out->available = !out->why_not;
    return HD_OK;
}

/* ---- open ----------------------------------------------------------------------------------- */

static hd_status load_calls(hd_ctx *ctx, struct cl_api *out) {
    void *lib = open_loader(), *symbol;
#define X(result, name, args)                                                                      \
    symbol = lib ? dlsym(lib, #name) : NULL;                                                       \
    if (!symbol)                                                                                   \
        return hd_fail(ctx, HD_MISMATCH,                                                           \
                       "xrt-opencl: libOpenCL.so.1 has no " #name "; want OpenCL 1.2 or later");   \
    memcpy(&out->name, &symbol, sizeof symbol);
    CL_CALLS(X)
#undef X
    return HD_OK;
}

static void *xilinx_platform(struct ocl *o) {
    void *platforms[PLATFORMS];
    uint32_t n = 0;
    char name[256];
    if (o->cl.clGetPlatformIDs(PLATFORMS, platforms, &n)) return NULL;
    for (uint32_t i = 0; i < n && i < PLATFORMS; i++)
        if (!o->cl.clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL) &&
            strstr(name, "Xilinx"))
            return platforms[i];
    return NULL;
}

/* The loader reads the list of platforms once in a process; Debian's package has no entry for XRT.
 * So for that first time OCL_ICD_VENDORS names a folder with one, unless somebody set it. */
static void find_platform(struct ocl *o) {
    char folder[] = "/tmp/heddle-icd-XXXXXX", file[64];
    static const char text[] = "libxilinxopencl.so.2\n";
    if (getenv("OCL_ICD_VENDORS") || access("/etc/OpenCL/vendors/xilinx.icd", R_OK) == 0 ||
        !mkdtemp(folder)) {
        o->platform = xilinx_platform(o);
        return;
    }
    snprintf(file, sizeof file, "%s/xilinx.icd", folder);
    FILE *f = fopen(file, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
    setenv("OCL_ICD_VENDORS", folder, 1);
    o->platform = xilinx_platform(o);
    unsetenv("OCL_ICD_VENDORS");
    unlink(file);
    rmdir(folder);
}

static hd_status failed(hd_ctx *ctx, const char *call, int32_t error) {
    return hd_fail(ctx, HD_DEVICE,
                   "xrt-opencl: %s gives %" PRId32
                   "; does device xrt work (heddle devices)? Its messages say more",
                   call, error);
}

static hd_status open_program(hd_ctx *ctx, struct ocl *o) {
    void *data = NULL;
    size_t bytes = 0;
    int32_t status = 0, error = 0;
    TRY(hd_file_read(ctx, o->x.path, &data, &bytes));
    const unsigned char *binary = data;
    o->program = o->cl.clCreateProgramWithBinary(o->context, 1, &o->device, &bytes, &binary,
                                                 &status, &error);
    free(data);
    if (!o->program || status)
        return failed(ctx, "clCreateProgramWithBinary", status ? status : error);
    o->kernel = o->cl.clCreateKernel(o->program, o->x.unit, &error);
    return o->kernel ? HD_OK : failed(ctx, "clCreateKernel", error);
}

/* Registers of the compute unit beside OpenCL, which has it in use: through XRT's native interface
 * on the same handle, shared, not exclusive. */
static hd_status open_registers(hd_ctx *ctx, struct ocl *o, void *handle) {
    unsigned char uuid[16];
    o->xrt_device = o->x.api.xrtDeviceOpenFromXcl(handle);
    if (o->xrt_device && !o->x.api.xrtDeviceGetXclbinUUID(o->xrt_device, uuid))
        o->x.kernel = o->x.api.xrtPLKernelOpen(o->xrt_device, uuid, o->x.unit);
    if (o->x.kernel) return HD_OK;
    return hd_fail(ctx, HD_DEVICE,
                   "xrt-opencl: XRT does not share the registers of %s; end the process that uses "
                   "it, and set rw_shared=true in section Runtime of xrt.ini",
                   o->x.unit);
}

static hd_status open_all(hd_ctx *ctx, struct ocl *o) {
    int32_t error = 0;
    uint32_t n = 0;
    find_platform(o);
    if (!o->platform)
        return hd_fail(
            ctx, HD_DEVICE,
            "xrt-opencl: the OpenCL loader shows no platform of Xilinx; name a folder that "
            "has xilinx.icd in OCL_ICD_VENDORS, or unset it; it reads the list once, so use device "
            "opencl in another process");
    error = o->cl.clGetDeviceIDs(o->platform, CL_DEVICE_TYPE_ACCELERATOR, 1, &o->device, &n);
    if (error || !n)
        return hd_fail(ctx, HD_DEVICE,
                       "xrt-opencl: the platform has no device (%" PRId32
                       "); is the board there (lspci -d 10ee:)?",
                       error);
    o->context = o->cl.clCreateContext(NULL, 1, &o->device, NULL, NULL, &error);
    if (!o->context) return failed(ctx, "clCreateContext", error);
    void *handle = NULL;
    error = o->cl.clGetDeviceInfo(o->device, CL_DEVICE_HANDLE, sizeof handle, &handle, NULL);
    if (error || !handle) return failed(ctx, "clGetDeviceInfo(CL_DEVICE_HANDLE)", error);
    if (o->x.emu) hd_emu_host_first_wait(handle);
    o->queue = o->cl.clCreateCommandQueue(o->context, o->device, 0, &error);
    if (!o->queue) return failed(ctx, "clCreateCommandQueue", error);
    TRY(open_program(ctx, o));
    if (hd_xrt_fault(o)) return hd_fail(ctx, HD_DEVICE, "xrt-opencl: %s", hd_xrt_fault(o));
    return open_registers(ctx, o, handle);
}

static void destroy(void *self) {
    struct ocl *o = self;
    struct hd_xrt_quiet quiet;
    o->x.keeps_device = hd_xrt_fault(o) != NULL; /* its queue never empties */
    hd_xrt_quiet(&quiet);
    if (o->x.kernel) o->x.api.xrtKernelClose(o->x.kernel);
    if (o->xrt_device) o->x.api.xrtDeviceClose(o->xrt_device);
    if (o->event) o->cl.clReleaseEvent(o->event);
    if (o->kernel) o->cl.clReleaseKernel(o->kernel);
    if (o->program) o->cl.clReleaseProgram(o->program);
    if (o->queue) o->cl.clReleaseCommandQueue(o->queue);
    if (o->context) o->cl.clReleaseContext(o->context);
    hd_xrt_loud(&quiet);
    hd_xrt_close(&o->x);
    free(o);
}

static hd_status create(hd_ctx *ctx, const struct hd_device_options *opt, hd_axi_mem *mem,
                        void **out) {
    (void)mem;
    *out = NULL;
    const char *why = why_not();
    if (why) return hd_fail(ctx, HD_DEVICE, "xrt-opencl: %s", why);
    struct ocl *o = calloc(1, sizeof *o);
    if (!o) return hd_fail(ctx, HD_NOMEM, "xrt-opencl: no memory for the device");
    hd_status s = hd_xrt_open(ctx, &o->x, "xrt-opencl", NULL, opt);
    if (s == HD_OK) s = load_calls(ctx, &o->cl);
    if (s == HD_OK) {
        struct hd_xrt_quiet quiet;
        hd_xrt_quiet(&quiet);
        s = open_all(ctx, o);
        hd_xrt_loud(&quiet);
    }
    if (s == HD_OK) s = hd_xrt_check_kernel(ctx, &o->x, &opt->machine);
    if (s)
        destroy(o);
    else
        *out = o;
    return s;
}

/* ---- run ------------------------------------------------------------------------------------ */

static void start(struct ocl *o) {
    struct hd_kernel_arg args[HD_KERNEL_ARGS_MAX];
    int n = hd_kernel_args(args);
    int32_t bad = 0;
    for (int i = 0; i < n && !bad; i++) {
        void *buffer = args[i].bits == 64 ? hd_xrt_arg_buffer(&o->x, &args[i]) : NULL;
        uint32_t word = hd_xrt_arg_word(&o->x, &args[i]);
        bool is_buffer = args[i].bits == 64;
        bad = is_buffer && !buffer
                  ? -1
                  : o->cl.clSetKernelArg(o->kernel, (uint32_t)i,
                                         is_buffer ? sizeof buffer : sizeof word,
                                         is_buffer ? (const void *)&buffer : &word);
    }
    if (o->event) o->cl.clReleaseEvent(o->event);
    o->event = NULL;
    /* It starts at once; clFlush of XRT would wait for its end. */
    if (!bad) bad = o->cl.clEnqueueTask(o->queue, o->kernel, 0, NULL, &o->event);
    o->x.in_run = !bad;
    if (bad) o->x.fault = "OpenCL does not start the kernel; open the device again";
}

static void reg_write(void *self, uint32_t offset, uint32_t v) {
    struct ocl *o = self;
    if (offset >= HD_REG_image_ptr && offset < HD_REG_cycle_limit + 4)
        o->x.args[offset / 4] = v; /* OpenCL writes them when it starts the kernel */
    else if (offset == HD_REG_ap_ctrl && (v & 1)) {
        if (!hd_xrt_fault(o)) start(o);
    } else {
        hd_xrt_reg_write(o, offset, v);
    }
}

/* OpenCL has taken done; the event is what says that a run has ended. */
static bool done(struct ocl *o) {
    int32_t status = CL_COMPLETE;
    if (!o->event) return true;
    if (o->cl.clGetEventInfo(o->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                             NULL) ||
        status < 0)
        o->x.fault = "OpenCL gave the kernel up; open the device again";
    o->x.in_run = status != CL_COMPLETE;
    return !o->x.in_run;
}

static bool run(void *self, uint64_t max_cycles) {
    struct ocl *o = self;
    uint64_t end = hd_xrt_now_ms() + (max_cycles ? SLICE_MS : RESET_MS);
    for (;;) {
        if (done(o) || hd_xrt_fault(o)) return true;
        if (hd_xrt_now_ms() >= end) break;
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    if (max_cycles && hd_xrt_stands_still(&o->x))
        o->x.fault = "the machine is not done and its clock stands still; is the kernel held in "
                     "reset? Load the file again, then xbutil reset (docs/bringup.md)";
    return hd_xrt_fault(o) != NULL;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void block_free(void *self, struct hd_mach_block *k) {
    struct ocl *o = self;
    hd_xrt_forget(&o->x, k->handle);
    o->cl.clReleaseMemObject(k->handle);
    free(k->data);
}

static hd_status block_sync(hd_ctx *ctx, void *self, struct hd_mach_block *k, size_t off,
                            size_t bytes, bool to_machine) {
    struct ocl *o = self;
    if (hd_xrt_fault(o)) return hd_fail(ctx, HD_DEVICE, "xrt-opencl: %s", hd_xrt_fault(o));
    char *p = (char *)k->data + off;
    int32_t bad =
        to_machine
            ? o->cl.clEnqueueWriteBuffer(o->queue, k->handle, CL_TRUE, off, bytes, p, 0, NULL, NULL)
            : o->cl.clEnqueueReadBuffer(o->queue, k->handle, CL_TRUE, off, bytes, p, 0, NULL, NULL);
    if (hd_xrt_fault(o)) return hd_fail(ctx, HD_DEVICE, "xrt-opencl: %s", hd_xrt_fault(o));
    if (!bad) return HD_OK;
    return hd_fail(ctx, HD_DEVICE,
                   "xrt-opencl: transfer of %zu bytes %s the device: OpenCL gives "
                   "%" PRId32 "; see dmesg",
                   bytes, to_machine ? "to" : "from", bad);
}

/* OpenCL puts a buffer in the bank of the argument that it is first given to; both are in one. */
static hd_status block_alloc(hd_ctx *ctx, void *self, struct hd_mach_block *k) {
    struct ocl *o = self;
    size_t bytes = k->bytes ? k->bytes : 1;
    int32_t error = 0;
    if (hd_xrt_fault(o)) return hd_fail(ctx, HD_DEVICE, "xrt-opencl: %s", hd_xrt_fault(o));
    k->address = ++o->names << ADDRESS_SHIFT;
    k->data = calloc(1, bytes);
    if (k->data)
        k->handle = o->cl.clCreateBuffer(o->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    bool ok = k->handle && !o->cl.clSetKernelArg(o->kernel, 0, sizeof k->handle, &k->handle) &&
              hd_xrt_remember(&o->x, k->address, k->handle);
    if (ok) return HD_OK;
    if (k->handle) o->cl.clReleaseMemObject(k->handle);
    free(k->data);
    *k = (struct hd_mach_block){.bytes = k->bytes};
    return hd_xrt_no_memory(ctx, &o->x, bytes);
}

/* ---- device --------------------------------------------------------------------------------- */

static const struct hd_mach_memory memory = {block_alloc, block_free, block_sync};
static const struct hd_mach_backend backend = {.scheme = "xrt-opencl",
                                               .create = create,
                                               .destroy = destroy,
                                               .reg_write = reg_write,
                                               .reg_read = hd_xrt_reg_read,
                                               .run = run,
                                               .layers = hd_xrt_layers,
                                               .memory = &memory,
                                               .fault = hd_xrt_fault};

static hd_status open_ocl(hd_ctx *ctx, const struct hd_device_options *opt, hd_device **out) {
    return hd_mach_open(ctx, &backend, opt, out);
}

extern const struct hd_device_ops hd_device_xrt_opencl;
const struct hd_device_ops hd_device_xrt_opencl = {
    .scheme = "xrt-opencl",
    .doc = "the same through OpenCL (libxilinxopencl)",
    .sections = HD_RUNS_PROG,
    .is_board = true,
    .probe = probe,
    .open = open_ocl,
    .close = hd_mach_close,
    .alloc = hd_mach_alloc,
    .free = hd_mach_free,
    .write = hd_mach_write,
    .read = hd_mach_read,
    .load = hd_mach_load,
    .unload = hd_mach_unload,
    .submit = hd_mach_submit,
    .wait = hd_mach_wait,
    .counters = hd_mach_counters,
};
