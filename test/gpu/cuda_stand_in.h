/* CUDA's driver and NVRTC on a computer without either, for tests: takes note of every call, fails
 * where it is told to, refuses what a driver would refuse, and runs kernels. A kernel is compiled
 * by g++ behind cuda_shim.hh; the threads of a block are fibers that run from barrier to barrier,
 * one after the other, so that a missing barrier shows. hd_cuda_api finds these symbols in the
 * program. */
#ifndef HD_TEST_GPU_CUDA_STAND_IN_H
#define HD_TEST_GPU_CUDA_STAND_IN_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/gpu/cuda_fibers.h"
#include "test/gpu/emu.h"
#include "test/gpu/nvrtc_stand_in.h"

enum { EMU_OPS = 4096, EMU_MEMORY = 1024 };

/* ---- device, context, stream ---------------------------------------------------------------- */

int cuInit(unsigned flags);
int cuInit(unsigned flags) {
    return flags ? 1 : 0;
}
int cuGetErrorName(int error, const char **out);
int cuGetErrorName(int error, const char **out) {
    *out = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_LAUNCH_FAILED";
    return 0;
}
int cuDriverGetVersion(int *out);
int cuDriverGetVersion(int *out) {
    *out = 12040;
    return 0;
}
int cuDeviceGetCount(int *out);
int cuDeviceGetCount(int *out) {
    *out = emu.devices;
    return 0;
}
int cuDeviceGet(int *out, int ordinal);
int cuDeviceGet(int *out, int ordinal) {
    EMU_CALL();
    emu.ordinal = ordinal;
    if (ordinal < 0 || ordinal >= emu.devices) emu_wrong("a device that there is not");
    *out = 7;
    return 0;
}
int cuDeviceGetName(char *out, int bytes, int device);
int cuDeviceGetName(char *out, int bytes, int device) {
    if (device != 7) emu_wrong("a device that there is not");
    snprintf(out, (size_t)bytes, "stand-in");
    return 0;
}
int cuDeviceGetAttribute(int *out, int what, int device);
int cuDeviceGetAttribute(int *out, int what, int device) {
    if (device != 7) emu_wrong("a device that there is not");
    *out = what == 1    ? 1024
           : what == 8  ? 48 << 10
           : what == 75 ? emu.cc / 10
           : what == 76 ? emu.cc % 10
                        : 0;
    return 0;
}
int cuDeviceTotalMem_v2(size_t *out, int device);
int cuDeviceTotalMem_v2(size_t *out, int device) {
    if (device != 7) emu_wrong("a device that there is not");
    *out = emu.memory_bytes;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **out, int device);
int cuDevicePrimaryCtxRetain(void **out, int device) {
    EMU_CALL();
    if (device != 7) emu_wrong("a device that there is not");
    *out = &emu.contexts;
    emu.contexts++;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxRelease_v2(int device) {
    if (device != 7 || !emu.contexts) emu_wrong("a context that is not held");
    if (--emu.contexts == 0 && emu.live) emu_wrong("something is not freed with the context");
    return 0;
}
int cuCtxPushCurrent_v2(void *context);
int cuCtxPushCurrent_v2(void *context) { /* fails with the GPU alone: giving back needs it */
    if (emu.lost) return 719;
    if (context != &emu.contexts) emu_wrong("a context that there is not");
    emu.current++;
    return 0;
}
int cuCtxPopCurrent_v2(void **out);
int cuCtxPopCurrent_v2(void **out) {
    if (!emu.current) emu_wrong("a context is popped that was not pushed");
    emu.current--;
    *out = &emu.contexts;
    return 0;
}
int cuStreamCreate(void **out, unsigned flags);
int cuStreamCreate(void **out, unsigned flags) {
    EMU_CALL();
    emu_needs_context();
    if (flags != 1) emu_wrong("a stream that waits for others");
    *out = malloc(1);
    emu.live++;
    return 0;
}
int cuStreamDestroy_v2(void *stream);
int cuStreamDestroy_v2(void *stream) {
    emu_needs_context();
    free(stream);
    emu.live--;
    return 0;
}
int cuStreamSynchronize(void *stream);
int cuStreamSynchronize(void *stream) {
    EMU_CALL();
    emu_needs_context();
    if (!stream || emu.capturing) emu_wrong("a wait for a stream that is recorded");
    int (*work)(void) = emu.at_sync;
    emu.at_sync = NULL;
    return work ? work() : 0;
}

/* ---- memory --------------------------------------------------------------------------------- */

static struct emu_memory {
    uint64_t at;
    size_t bytes;
} emu_memory[EMU_MEMORY];

static bool emu_inside(uint64_t at, size_t bytes) {
    for (int i = 0; i < EMU_MEMORY; i++)
        if (emu_memory[i].at && at >= emu_memory[i].at &&
            at + bytes <= emu_memory[i].at + emu_memory[i].bytes)
            return true;
    return false;
}
int cuMemAlloc_v2(uint64_t *out, size_t bytes);
int cuMemAlloc_v2(uint64_t *out, size_t bytes) {
    EMU_CALL();
    emu_needs_context();
    if (!bytes) emu_wrong("an allocation of nothing");
    if (emu.bytes + bytes > emu.memory_bytes) return 2;
    int i = 0;
    while (i < EMU_MEMORY - 1 && emu_memory[i].at) i++;
    *out = (uint64_t)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
    emu_memory[i] = (struct emu_memory){*out, bytes};
    emu.bytes += bytes;
    emu.live++;
    return 0;
}
int cuMemFree_v2(uint64_t at);
int cuMemFree_v2(uint64_t at) {
    emu_needs_context();
    for (int i = 0; i < EMU_MEMORY; i++) {
        if (emu_memory[i].at != at) continue;
        emu.bytes -= emu_memory[i].bytes;
        emu.live--;
        emu_memory[i].at = 0;
        free((void *)(uintptr_t)at);
        return 0;
    }
    emu_wrong("memory is freed that there is not");
    return 1;
}

/* ---- graphs --------------------------------------------------------------------------------- */

struct emu_graph {
    struct emu_op op[EMU_OPS];
    int n;
};
static struct emu_graph *emu_graph;

static int emu_enqueue(const struct emu_op *op) {
    if (!emu.capturing) {
        emu_do(op);
    } else if (emu_graph->n == EMU_OPS) {
        emu_wrong("more launches than the stand-in keeps");
    } else {
        emu_graph->op[emu_graph->n++] = *op;
    }
    return 0;
}
static int emu_copy(uint64_t device, size_t bytes, void *to, const void *from, bool host) {
    EMU_CALL();
    emu_needs_context();
    if (!emu_inside(device, bytes)) emu_wrong("a copy outside of memory");
    if (host && emu.capturing) emu_wrong("a copy of the host's memory in a recording");
    struct emu_op op = {.to = to, .from = from, .bytes = bytes};
    return emu_enqueue(&op);
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    return emu_copy(to, bytes, (void *)(uintptr_t)to, from, true);
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    (void)stream;
    return emu_copy(from, bytes, to, (void *)(uintptr_t)from, true);
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
    (void)stream;
    if (!emu_inside(from, bytes)) emu_wrong("a copy outside of memory");
    return emu_copy(to, bytes, (void *)(uintptr_t)to, (void *)(uintptr_t)from, false);
}
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamBeginCapture_v2(void *stream, int mode) {
    EMU_CALL();
    emu_needs_context();
    if (!stream || mode != 2 || emu.capturing) emu_wrong("a recording that cannot begin");
    emu.capturing = true;
    emu_graph = calloc(1, sizeof *emu_graph);
    emu.live++;
    return 0;
}
int cuStreamEndCapture(void *stream, void **out);
int cuStreamEndCapture(void *stream, void **out) {
    (void)stream;
    if (!emu.capturing) emu_wrong("the end of a recording that did not begin");
    emu.capturing = false;
    *out = emu_graph;
    int error = emu_call();
    if (!error) return 0;
    free(emu_graph);
    emu.live--;
    *out = NULL;
    return error;
}
int cuGraphInstantiateWithFlags(void **out, void *graph, unsigned long long flags);
int cuGraphInstantiateWithFlags(void **out, void *graph, unsigned long long flags) {
    EMU_CALL();
    (void)flags;
    *out = malloc(sizeof(struct emu_graph));
    memcpy(*out, graph, sizeof(struct emu_graph));
    emu.live++;
    return 0;
}
int cuGraphDestroy(void *graph);
int cuGraphDestroy(void *graph) {
    free(graph);
    emu.live--;
    return 0;
}
int cuGraphExecDestroy(void *exec);
int cuGraphExecDestroy(void *exec) {
    free(exec);
    emu.live--;
    return 0;
}
int cuGraphLaunch(void *exec, void *stream);
int cuGraphLaunch(void *exec, void *stream) {
    (void)stream;
    EMU_CALL();
    emu_needs_context();
    emu.graph_launches++;
    const struct emu_graph *g = exec;
    for (int i = 0; i < g->n; i++) emu_do(&g->op[i]);
    return 0;
}

/* ---- modules and launches ------------------------------------------------------------------- */

struct emu_function {
    void *code;
    int n_args;
    unsigned most; /* threads of a block */
};
struct emu_module {
    void *lib;
    char *source;
    struct emu_function function[512];
    int n;
};
int cuModuleLoadData(void **out, const void *image);
int cuModuleLoadData(void **out, const void *image) {
    EMU_CALL();
    emu_needs_context();
    struct emu_module *m = calloc(1, sizeof *m);
    const char *path = image; /* then the source */
    m->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    m->source = strdup(path + strlen(path) + 1);
    if (!m->lib) emu_wrong(dlerror());
    emu.live++;
    *out = m;
    return 0;
}
int cuModuleUnload(void *module);
int cuModuleUnload(void *module) {
    struct emu_module *m = module;
    if (m->lib) dlclose(m->lib);
    free(m->source);
    free(m);
    emu.live--;
    return 0;
}
int cuModuleGetFunction(void **out, void *module, const char *name);
int cuModuleGetFunction(void **out, void *module, const char *name) {
    EMU_CALL();
    struct emu_module *m = module;
    char head[64];
    snprintf(head, sizeof head, " %s(", name);
    const char *at = strstr(m->source, head);
    if (!at || m->n == 512 || !m->lib) return 500;
    struct emu_function *f = &m->function[m->n++];
    f->code = dlsym(m->lib, name);
    for (const char *p = at; *p && *p != ')'; p++) f->n_args += *p == '*';
    const char *line = at;
    while (line > m->source && line[-1] != '\n') line--;
    if (sscanf(line, "extern \"C\" __global__ void __launch_bounds__(%u)", &f->most) != 1)
        f->most = 1024;
    *out = f;
    return f->code ? 0 : 500;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared_bytes, void *stream, void **args, void **extra);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared_bytes, void *stream, void **args, void **extra) {
    EMU_CALL();
    emu_needs_context();
    const struct emu_function *f = function;
    struct emu_op op = {.function = f->code, .grid = {gx, gy, gz}, .block = {bx, by, bz}};
    if (!stream || shared_bytes || extra) emu_wrong("a launch that is not understood");
    if (!gx || gy > 65535 || gz > 65535 || !gy || !gz || bx * by * bz > 1024)
        emu_wrong("a launch beyond the limits");
    if (bx * by * bz > f->most) emu_wrong("more threads than the kernel was compiled for");
    if (f->n_args > EMU_ARGS) emu_wrong("more arguments than the stand-in passes");
    for (int i = 0; i < f->n_args && i < EMU_ARGS; i++) {
        memcpy(&op.arg[i], args[i], sizeof op.arg[i]);
        if (!emu_inside((uint64_t)(uintptr_t)op.arg[i], 1)) emu_wrong("an argument outside memory");
    }
    if (!emu.capturing) emu.launches++;
    return emu_enqueue(&op);
}
int cuEventCreate(void **out, unsigned flags);
int cuEventCreate(void **out, unsigned flags) {
    EMU_CALL();
    *out = calloc(1, sizeof(int));
    emu.live++;
    return (int)flags;
}
int cuEventDestroy_v2(void *event);
int cuEventDestroy_v2(void *event) {
    free(event);
    emu.live--;
    return 0;
}
int cuEventRecord(void *event, void *stream);
int cuEventRecord(void *event, void *stream) {
    EMU_CALL();
    if (!stream || emu.capturing) emu_wrong("an event in a recording");
    *(int *)event = 1;
    return 0;
}
int cuEventElapsedTime(float *out, void *start, void *stop);
int cuEventElapsedTime(float *out, void *start, void *stop) {
    if (!*(int *)start || !*(int *)stop) emu_wrong("an event that was not recorded");
    *out = 0.001f;
    return 0;
}

/* A lost GPU is found again by the next process: nothing is left of this one. */
__attribute__((unused)) static void emu_forget(void) {
    emu.lost = emu.capturing = false;
    emu.wrong = NULL;
    emu.live = emu.current = emu.contexts = 0;
    emu.bytes = 0;
    memset(emu_memory, 0, sizeof emu_memory);
}

/* Removes what was compiled. */
__attribute__((unused)) static void emu_clean(void) {
    char path[80];
    for (int i = 1; i <= emu.compilations; i++) {
        snprintf(path, sizeof path, "/tmp/hd_emu_%d_%d.so", (int)getpid(), i);
        unlink(path);
        strcat(path, ".log");
        unlink(path);
    }
    free(emu_stacks);
    emu_stacks = NULL;
}

#endif
