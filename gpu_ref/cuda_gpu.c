/* CUDA as a GPU's driver (gpu.h): kernels by NVRTC, launches by the driver. */
#include <stdlib.h>
#include <string.h>

#include "gpu_ref/cublaslt.h"
#include "gpu_ref/cuda_api.h"
#include "gpu_ref/cudnn.h"
#include "gpu_ref/gpu.h"
#include "gpu_ref/nccl.h"
#include "gpu_ref/nvrtc.h"

enum { NAME = 256, ALIGN = 256, MOST_BLOCKS_YZ = 65535 };

struct hd_gpu_mem {
    uint64_t at; /* of the device */
    bool part;
};

struct hd_gpu_kernel {
    void *function;
    struct hd_gpu_kernel *next; /* of the program */
};

struct hd_gpu_program {
    void *module;
    struct hd_gpu_kernel *kernels;
};

struct timer {
    void *start, *end; /* events */
    bool ran;
};

struct hd_gpu {
    const struct cuda_api *cu;
    int device, arch;
    void *context, *stream;
    struct hd_gpu_limits limits;
    char name[NAME], driver[16];
    struct timer *timer;
    int n_timers;
    struct hd_blas *blas;  /* when the first product asks for it */
    struct hd_dnn *dnn;    /* when the first convolution does */
    struct hd_nccl *peers; /* NULL = it has not joined others */
};

struct hd_gpu_library { /* one of them; the other one is NULL */
    struct hd_blas_call *product;
    struct hd_dnn_call *convolution;
};

struct hd_gpu_recording {
    void *exec;
};

/* ---- errors --------------------------------------------------------------------------------- */

static hd_status failed(hd_ctx *ctx, const struct cuda_api *cu, const char *call, int error) {
    const char *name = NULL;
    if (cu->cuGetErrorName(error, &name) || !name) name = "unknown";
    if (error == CU_OUT_OF_MEMORY)
        return hd_fail(ctx, HD_NOMEM, "cuda: %s: error %d (%s)", call, error, name);
    return hd_fail(ctx, HD_DEVICE,
                   "cuda: %s: error %d (%s); if it stays, the GPU is lost to this process: start "
                   "it again, and see what the driver's log says",
                   call, error, name);
}
#define CU(ctx, g, call, args)                                                                     \
    do {                                                                                           \
        int error_ = (g)->cu->call args;                                                           \
        if (error_) return failed((ctx), (g)->cu, #call, error_);                                  \
    } while (0)

/* The program that uses the library may have a context of its own: it is put back by leave. */
static hd_status enter(hd_ctx *ctx, const hd_gpu *g) {
    CU(ctx, g, cuCtxPushCurrent, (g->context));
    return HD_OK;
}

static hd_status leave(const hd_gpu *g, hd_status s) {
    void *context;
    g->cu->cuCtxPopCurrent(&context);
    return s;
}

/* Runs the call between enter and leave. */
#define IN_CONTEXT(ctx, g, call)                                                                   \
    do {                                                                                           \
        TRY(enter((ctx), (g)));                                                                    \
        return leave((g), (call));                                                                 \
    } while (0)

/* ---- what is here --------------------------------------------------------------------------- */

static const char *cuda_why_not(void) {
    const struct cuda_api *cu = hd_cuda_api();
    int n = 0;
    if (!cu)
        return "libcuda.so.1 is not here, which comes with the driver of an NVIDIA GPU: install "
               "the driver; without such a GPU use device opencl or cpu";
    if (cu->cuInit(0) || cu->cuDeviceGetCount(&n) || n < 1)
        return "the driver finds no NVIDIA GPU: see nvidia-smi, and CUDA_VISIBLE_DEVICES";
    return hd_nvrtc_why_not();
}

static const char *cuda_describe(void) {
    return "kernels of tensor expressions, by the driver of NVIDIA GPUs";
}

/* ---- open ----------------------------------------------------------------------------------- */

static int attribute(const hd_gpu *g, int what) {
    int v = 0;
    g->cu->cuDeviceGetAttribute(&v, what, g->device);
    return v;
}

static void find_limits(hd_gpu *g) {
    struct hd_gpu_limits *l = &g->limits;
    g->cu->cuDeviceGetName(g->name, NAME - 1, g->device);
    g->arch = 10 * attribute(g, CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
              attribute(g, CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    int version = 0;
    g->cu->cuDriverGetVersion(&version);
    snprintf(g->driver, sizeof g->driver, "%d", version);
    *l = (struct hd_gpu_limits){
        .name = g->name, .driver = g->driver, .f64 = true, .exact_divide = true, .align = ALIGN};
    l->dot8 = g->arch >= 61;
    l->mma = g->arch >= 80;
    l->local_bytes = (size_t)attribute(g, CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    l->max_threads = attribute(g, CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    l->max_blocks_yz = MOST_BLOCKS_YZ;
    g->cu->cuDeviceTotalMem(&l->memory_bytes, g->device);
    l->max_bytes = l->memory_bytes;
    l->units = attribute(g, CU_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    l->clock_mhz = attribute(g, CU_ATTRIBUTE_CLOCK_RATE) / 1000;
    l->lanes = g->arch == 60 || g->arch == 70 || g->arch == 75 || g->arch == 80 ? 64 : 128;
}

static void cuda_close(hd_gpu *g) {
    if (g->context && g->cu->cuCtxPushCurrent(g->context) == 0) {
        for (int i = 0; i < g->n_timers; i++) {
            g->cu->cuEventDestroy(g->timer[i].start);
            g->cu->cuEventDestroy(g->timer[i].end);
        }
        hd_blas_close(g->blas);
        hd_dnn_close(g->dnn);
        hd_nccl_close(g->peers);
        if (g->stream) g->cu->cuStreamDestroy(g->stream);
        leave(g, HD_OK);
    }
    if (g->context) g->cu->cuDevicePrimaryCtxRelease(g->device);
    free(g->timer);
    free(g);
}

/* Processes that mpirun started on one computer share its GPUs out: Open MPI, MPICH, Slurm. */
static hd_status choose_gpu(hd_ctx *ctx, hd_gpu *g) {
    static const char *const name[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                       "SLURM_LOCALID"};
    const char *local = NULL;
    int n = 1;
    for (int i = 0; i < 3 && !local; i++) local = getenv(name[i]);
    CU(ctx, g, cuDeviceGetCount, (&n));
    int rank = local ? atoi(local) : 0;
    CU(ctx, g, cuDeviceGet, (&g->device, rank > 0 && n > 0 ? rank % n : 0));
    return HD_OK;
}

static hd_status start(hd_ctx *ctx, hd_gpu *g) {
    TRY(choose_gpu(ctx, g));
    CU(ctx, g, cuDevicePrimaryCtxRetain, (&g->context, g->device));
    find_limits(g);
    TRY(enter(ctx, g));
    int error = g->cu->cuStreamCreate(&g->stream, CU_STREAM_NON_BLOCKING);
    return leave(g, error ? failed(ctx, g->cu, "cuStreamCreate", error) : HD_OK);
}

static hd_status cuda_open(hd_ctx *ctx, hd_gpu **out) {
    const char *why = cuda_why_not();
    if (why) return hd_fail(ctx, HD_DEVICE, "device cuda: not available: %s", why);
    hd_gpu *g = calloc(1, sizeof *g);
    if (!g) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for the device");
    g->cu = hd_cuda_api();
    hd_status s = start(ctx, g);
    if (s == HD_OK)
        *out = g;
    else
        cuda_close(g);
    return s;
}

static const struct hd_gpu_limits *cuda_limits(const hd_gpu *g) {
    return &g->limits;
}

/* ---- memory --------------------------------------------------------------------------------- */

static hd_status alloc(hd_ctx *ctx, hd_gpu *g, size_t bytes, hd_gpu_mem *m) {
    CU(ctx, g, cuMemAlloc, (&m->at, bytes ? bytes : 1));
    return HD_OK;
}

static hd_status cuda_alloc(hd_ctx *ctx, hd_gpu *g, size_t bytes, hd_gpu_mem **out) {
    hd_gpu_mem *m = calloc(1, sizeof *m);
    if (!m) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for a buffer");
    hd_status s = enter(ctx, g);
    if (s == HD_OK) s = leave(g, alloc(ctx, g, bytes, m));
    if (s == HD_OK)
        *out = m;
    else
        free(m);
    return s;
}

static hd_status cuda_part(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *m, size_t at, size_t bytes,
                           hd_gpu_mem **out) {
    (void)g, (void)bytes;
    hd_gpu_mem *part = calloc(1, sizeof *part);
    if (!part) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for a part of a buffer");
    *part = (hd_gpu_mem){m->at + at, true};
    *out = part;
    return HD_OK;
}

static void cuda_free(hd_gpu *g, hd_gpu_mem *m) {
    if (!m->part && g->cu->cuCtxPushCurrent(g->context) == 0) {
        g->cu->cuMemFree(m->at);
        leave(g, HD_OK);
    }
    free(m);
}

static hd_status sync(hd_ctx *ctx, hd_gpu *g) {
    CU(ctx, g, cuStreamSynchronize, (g->stream));
    return HD_OK;
}

static hd_status write_it(hd_ctx *ctx, hd_gpu *g, uint64_t at, const void *src, size_t bytes) {
    CU(ctx, g, cuMemcpyHtoDAsync, (at, src, bytes, g->stream));
    return sync(ctx, g);
}

static hd_status cuda_write(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *m, size_t at, const void *src,
                            size_t bytes) {
    IN_CONTEXT(ctx, g, write_it(ctx, g, m->at + at, src, bytes));
}

static hd_status read_it(hd_ctx *ctx, hd_gpu *g, uint64_t at, void *dst, size_t bytes) {
    CU(ctx, g, cuMemcpyDtoHAsync, (dst, at, bytes, g->stream));
    return sync(ctx, g);
}

static hd_status cuda_read(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *m, size_t at, void *dst,
                           size_t bytes) {
    IN_CONTEXT(ctx, g, read_it(ctx, g, m->at + at, dst, bytes));
}

static hd_status copy_it(hd_ctx *ctx, hd_gpu *g, uint64_t from, uint64_t to, size_t bytes) {
    CU(ctx, g, cuMemcpyDtoDAsync, (to, from, bytes, g->stream));
    return HD_OK;
}

static hd_status cuda_copy(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *from, hd_gpu_mem *to, size_t bytes) {
    IN_CONTEXT(ctx, g, copy_it(ctx, g, from->at, to->at, bytes));
}

/* ---- programs ------------------------------------------------------------------------------- */

static void cuda_unbuild(hd_gpu *g, hd_gpu_program *p) {
    while (p->kernels) {
        struct hd_gpu_kernel *k = p->kernels;
        p->kernels = k->next;
        free(k);
    }
    if (p->module && g->cu->cuCtxPushCurrent(g->context) == 0) {
        g->cu->cuModuleUnload(p->module);
        leave(g, HD_OK);
    }
    free(p);
}

static hd_status load(hd_ctx *ctx, hd_gpu *g, const char *code, hd_gpu_program *p) {
    CU(ctx, g, cuModuleLoadData, (&p->module, code));
    return HD_OK;
}

static hd_status cuda_build(hd_ctx *ctx, hd_gpu *g, const char *source, hd_gpu_program **out) {
    char *code = NULL;
    size_t bytes = 0;
    TRY(hd_nvrtc_compile(ctx, source, g->arch, true, &code, &bytes));
    hd_gpu_program *p = calloc(1, sizeof *p);
    hd_status s = p ? enter(ctx, g) : hd_fail(ctx, HD_NOMEM, "cuda: no memory for a program");
    if (s == HD_OK) s = leave(g, load(ctx, g, code, p));
    free(code);
    if (s == HD_OK)
        *out = p;
    else if (p)
        cuda_unbuild(g, p);
    return s;
}

static hd_status function(hd_ctx *ctx, hd_gpu *g, hd_gpu_program *p, const char *name,
                          hd_gpu_kernel *k) {
    CU(ctx, g, cuModuleGetFunction, (&k->function, p->module, name));
    return HD_OK;
}

static hd_status cuda_kernel(hd_ctx *ctx, hd_gpu *g, hd_gpu_program *p, const char *name,
                             hd_gpu_kernel **out) {
    hd_gpu_kernel *k = calloc(1, sizeof *k);
    if (!k) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for a kernel");
    k->next = p->kernels;
    p->kernels = k;
    TRY(enter(ctx, g));
    TRY(leave(g, function(ctx, g, p, name, k)));
    *out = k;
    return HD_OK;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static hd_status more_timers(hd_ctx *ctx, hd_gpu *g, int n) {
    for (; g->n_timers < n; g->n_timers++) {
        struct timer *t = &g->timer[g->n_timers];
        *t = (struct timer){0};
        CU(ctx, g, cuEventCreate, (&t->start, 0));
        int error = g->cu->cuEventCreate(&t->end, 0);
        if (!error) continue;
        g->cu->cuEventDestroy(t->start);
        return failed(ctx, g->cu, "cuEventCreate", error);
    }
    return HD_OK;
}

static hd_status cuda_timers(hd_ctx *ctx, hd_gpu *g, int n) {
    if (n <= g->n_timers) return HD_OK;
    struct timer *more = realloc(g->timer, (size_t)n * sizeof *more);
    if (!more) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for %d events", n);
    g->timer = more;
    IN_CONTEXT(ctx, g, more_timers(ctx, g, n));
}

static hd_status launch_it(hd_ctx *ctx, hd_gpu *g, const struct hd_gpu_launch *l,
                           struct timer *timer) {
    void *arg[HD_GPU_MAX_ARGS];
    for (int i = 0; i < l->n_args; i++) arg[i] = &l->arg[i]->at;
    if (timer) CU(ctx, g, cuEventRecord, (timer->start, g->stream));
    CU(ctx, g, cuLaunchKernel,
       (l->kernel->function, (unsigned)l->grid[0], (unsigned)l->grid[1], (unsigned)l->grid[2],
        (unsigned)l->block[0], (unsigned)l->block[1], (unsigned)l->block[2], 0, g->stream, arg,
        NULL));
    if (timer) CU(ctx, g, cuEventRecord, (timer->end, g->stream));
    if (timer) timer->ran = true;
    return HD_OK;
}

static hd_status cuda_launch(hd_ctx *ctx, hd_gpu *g, const struct hd_gpu_launch *l, int timer) {
    IN_CONTEXT(ctx, g, launch_it(ctx, g, l, timer < 0 ? NULL : &g->timer[timer]));
}

static hd_status cuda_finish(hd_ctx *ctx, hd_gpu *g) {
    IN_CONTEXT(ctx, g, sync(ctx, g));
}

static double cuda_seconds(hd_gpu *g, int timer) {
    float ms = 0;
    const struct timer *t = &g->timer[timer];
    if (!t->ran || g->cu->cuEventElapsedTime(&ms, t->start, t->end)) return 0;
    return (double)ms * 1e-3;
}

/* ---- libraries ------------------------------------------------------------------------------ */

static hd_status product(hd_ctx *ctx, hd_gpu *g, const void *of,
                         struct hd_gpu_library_facts *out_facts, hd_gpu_library *out) {
    const struct hd_gpu_product *p = of;
    if (!g->blas) TRY(hd_blas_open(ctx, &g->blas));
    out_facts->rounded = p->precision;
    return hd_blas_make(ctx, g->blas, p, &out_facts->workspace_bytes, &out->product);
}

static hd_status convolution(hd_ctx *ctx, hd_gpu *g, const void *of,
                             struct hd_gpu_library_facts *out_facts, hd_gpu_library *out) {
    if (!g->dnn) TRY(hd_dnn_open(ctx, g->stream, &g->dnn));
    return hd_dnn_make(ctx, g->dnn, of, out_facts, &out->convolution);
}

static hd_status new_library(hd_ctx *ctx, hd_gpu *g,
                             hd_status (*make)(hd_ctx *, hd_gpu *, const void *,
                                               struct hd_gpu_library_facts *, hd_gpu_library *),
                             const void *of, struct hd_gpu_library_facts *out_facts,
                             hd_gpu_library **out) {
    hd_gpu_library *l = calloc(1, sizeof *l);
    if (!l) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for the call of a library");
    hd_status s = enter(ctx, g);
    if (s == HD_OK) s = leave(g, make(ctx, g, of, out_facts, l));
    if (s == HD_OK)
        *out = l;
    else
        free(l);
    return s;
}

static hd_status cuda_product(hd_ctx *ctx, hd_gpu *g, const struct hd_gpu_product *p,
                              struct hd_gpu_library_facts *out_facts, hd_gpu_library **out) {
    return new_library(ctx, g, product, p, out_facts, out);
}

static hd_status cuda_convolution(hd_ctx *ctx, hd_gpu *g, const struct hd_gpu_convolution *c,
                                  struct hd_gpu_library_facts *out_facts, hd_gpu_library **out) {
    return new_library(ctx, g, convolution, c, out_facts, out);
}

static void cuda_drop(hd_gpu *g, hd_gpu_library *l) {
    if (g->cu->cuCtxPushCurrent(g->context) == 0) {
        if (l->product) hd_blas_drop(l->product);
        if (l->convolution) hd_dnn_drop(l->convolution);
        leave(g, HD_OK);
    }
    free(l);
}

static hd_status compute(hd_ctx *ctx, hd_gpu *g, hd_gpu_library *l, hd_gpu_mem *const *arg,
                         int n_args, struct timer *timer) {
    uint64_t at[6] = {0};
    for (int i = 0; i < n_args; i++) at[i] = arg[i]->at;
    if (timer) CU(ctx, g, cuEventRecord, (timer->start, g->stream));
    if (l->product)
        TRY(hd_blas_run(ctx, g->blas, l->product, at, g->stream));
    else
        TRY(hd_dnn_run(ctx, g->dnn, l->convolution, at));
    if (timer) CU(ctx, g, cuEventRecord, (timer->end, g->stream));
    if (timer) timer->ran = true;
    return HD_OK;
}

static hd_status cuda_compute(hd_ctx *ctx, hd_gpu *g, hd_gpu_library *l, hd_gpu_mem *const *arg,
                              int n_args, int timer) {
    IN_CONTEXT(ctx, g, compute(ctx, g, l, arg, n_args, timer < 0 ? NULL : &g->timer[timer]));
}

/* ---- recordings ----------------------------------------------------------------------------- */

static hd_status cuda_record(hd_ctx *ctx, hd_gpu *g) {
    TRY(enter(ctx, g));
    int error = g->cu->cuStreamBeginCapture(g->stream, CU_CAPTURE_RELAXED);
    return leave(g, error ? failed(ctx, g->cu, "cuStreamBeginCapture", error) : HD_OK);
}

static hd_status end(hd_ctx *ctx, hd_gpu *g, hd_status s, struct hd_gpu_recording *r) {
    void *graph = NULL;
    int error = g->cu->cuStreamEndCapture(g->stream, &graph);
    if (s == HD_OK && error) s = failed(ctx, g->cu, "cuStreamEndCapture", error);
    if (s == HD_OK && (error = g->cu->cuGraphInstantiate(&r->exec, graph, 0)))
        s = failed(ctx, g->cu, "cuGraphInstantiate", error);
    if (graph) g->cu->cuGraphDestroy(graph);
    return s;
}

static hd_status cuda_recorded(hd_ctx *ctx, hd_gpu *g, hd_status s, hd_gpu_recording **out) {
    struct hd_gpu_recording *r = calloc(1, sizeof *r);
    if (!r && s == HD_OK) s = hd_fail(ctx, HD_NOMEM, "cuda: no memory for a recording");
    struct hd_gpu_recording none = {0};
    int error = g->cu->cuCtxPushCurrent(g->context);
    if (!error) s = leave(g, end(ctx, g, s, r ? r : &none));
    if (error && s == HD_OK) s = failed(ctx, g->cu, "cuCtxPushCurrent", error);
    if (s == HD_OK)
        *out = r;
    else
        free(r);
    return s;
}

static uint64_t cuda_where(const hd_gpu_mem *m) {
    return m->at;
}

static hd_status replay_it(hd_ctx *ctx, hd_gpu *g, const struct hd_gpu_recording *r) {
    CU(ctx, g, cuGraphLaunch, (r->exec, g->stream));
    return HD_OK;
}

static hd_status cuda_replay(hd_ctx *ctx, hd_gpu *g, hd_gpu_recording *r) {
    IN_CONTEXT(ctx, g, replay_it(ctx, g, r));
}

static void cuda_forget(hd_gpu *g, hd_gpu_recording *r) {
    if (g->cu->cuCtxPushCurrent(g->context) == 0) {
        g->cu->cuGraphExecDestroy(r->exec);
        leave(g, HD_OK);
    }
    free(r);
}

/* ---- other processes ------------------------------------------------------------------------ */

static hd_status cuda_join(hd_ctx *ctx, hd_gpu *g, const void *id, int me, int n) {
    if (g->peers) return hd_fail(ctx, HD_INVALID, "cuda: this device has joined others already");
    IN_CONTEXT(ctx, g, hd_nccl_open(ctx, id, me, n, &g->peers));
}

static hd_status gather(hd_ctx *ctx, hd_gpu *g, const struct hd_nccl_move *move, int n) {
    TRY(hd_nccl_gather(ctx, g->peers, move, n, g->stream));
    hd_status s = sync(ctx, g);
    if (s != HD_OK) hd_nccl_break(g->peers);
    return s;
}

static hd_status cuda_gather(hd_ctx *ctx, hd_gpu *g, const struct hd_gpu_gather *of, int n) {
    if (!g->peers) return hd_fail(ctx, HD_INVALID, "cuda: this device has not joined others");
    struct hd_nccl_move *move = calloc((size_t)n + 1, sizeof *move);
    if (!move) return hd_fail(ctx, HD_NOMEM, "cuda: no memory to gather");
    for (int i = 0; i < n; i++)
        move[i] = (struct hd_nccl_move){of[i].from->at, of[i].to->at + of[i].at, of[i].bytes};
    hd_status s = enter(ctx, g);
    if (s == HD_OK) s = leave(g, gather(ctx, g, move, n));
    free(move);
    return s;
}

const struct hd_gpu_api hd_gpu_cuda = {
    .scheme = "cuda",
    .dialect = &hd_dialect_cuda,
    .why_not = cuda_why_not,
    .describe = cuda_describe,
    .open = cuda_open,
    .close = cuda_close,
    .limits = cuda_limits,
    .alloc = cuda_alloc,
    .part = cuda_part,
    .free = cuda_free,
    .write = cuda_write,
    .read = cuda_read,
    .copy = cuda_copy,
    .build = cuda_build,
    .unbuild = cuda_unbuild,
    .kernel = cuda_kernel,
    .launch = cuda_launch,
    .finish = cuda_finish,
    .timers = cuda_timers,
    .seconds = cuda_seconds,
    .no_products = hd_blas_why_not,
    .product = cuda_product,
    .no_convolutions = hd_dnn_why_not,
    .convolution = cuda_convolution,
    .drop = cuda_drop,
    .compute = cuda_compute,
    .where = cuda_where,
    .record = cuda_record,
    .recorded = cuda_recorded,
    .replay = cuda_replay,
    .forget = cuda_forget,
    .no_peers = hd_nccl_why_not,
    .peers_id = hd_nccl_id,
    .join = cuda_join,
    .gather = cuda_gather,
};
