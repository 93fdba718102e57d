/* The real cuDNN on a computer without a GPU, for tests: the handle is none, and what needs one
 * gets the properties of an H100 instead, which the library takes for heuristics and plans
 * since 9.8. Nothing runs. hd_dnn_why_not finds these symbols in the program. Numbers:
 * cudnn_graph.h. */
#ifndef HD_TEST_GPU_CUDNN_ON_PAPER_H
#define HD_TEST_GPU_CUDNN_ON_PAPER_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char paper_h100[] =
    "{\"maxGridSize\":[2147483647,65535,65535],\"maxBlockSize\":[1024,1024,64],"
    "\"regsPerBlock\":65536,\"multiProcessorCount\":132,\"warpSize\":32,"
    "\"maxSharedMemoryPerBlock\":49152,\"maxSharedMemoryPerBlockOptin\":232448,"
    "\"reservedSharedMemoryPerBlock\":1024,\"maxRegistersPerSM\":65536,\"maxCtasPerSM\":32,"
    "\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":2048,\"pciDeviceId\":0,\"isTccDriver\":0,"
    "\"supportCoopLaunch\":1,\"totalGlobalMem\":85000000000,\"smClockRateKHz\":1980000,"
    "\"memClockRateKHz\":2619000,\"l2CacheSize\":52428800,\"cudaDeviceId\":0,\"deviceVer\":900,"
    "\"driverVer\":13000,\"deviceName\":\"NVIDIA H100 80GB HBM3\"}";

#define PAPER_CALLS(CALL)                                                                          \
    CALL(int, cudnnBackendCreateDescriptor, (int type, void **out))                                \
    CALL(int, cudnnBackendDestroyDescriptor, (void *d))                                            \
    CALL(int, cudnnBackendFinalize, (void *d))                                                     \
    CALL(int, cudnnBackendSetAttribute, (void *d, int what, int type, int64_t n, const void *v))   \
    CALL(int, cudnnBackendGetAttribute,                                                            \
         (void *d, int what, int type, int64_t most, int64_t *out_n, void *out))                   \
    CALL(const char *, cudnnGetErrorString, (int status))                                          \
    CALL(size_t, cudnnGetVersion, (void))

static struct {
#define CALL(result, name, args) result(*name) args;
    PAPER_CALLS(CALL)
#undef CALL
    void *device, *heuristics[8]; /* its properties; those that are not yet finalised */
    int live, runs, refused;      /* descriptors; calls that the library was not to refuse */
    unsigned notes;               /* of the engine that was last looked at, a bit of each */
} paper;

/* The library leaks where there is no GPU, which LeakSanitizer would report: paper.live is ours. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
    return 1;
}

/* NULL: the real library is here, and takes properties of a device. Else why not. */
static const char *paper_open(void) {
    const char *root = getenv("HEDDLE_CUDA");
    char path[1024];
    snprintf(path, sizeof path, "%s/lib64/libcudnn.so.9", root ? root : "/usr/local/cuda");
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib) lib = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
    if (!lib) return "libcudnn.so.9 is not here";
#define CALL(result, name, args)                                                                   \
    *(void **)&paper.name = dlsym(lib, #name);                                                     \
    if (!paper.name) return "it lacks " #name;
    PAPER_CALLS(CALL)
#undef CALL
    if (paper.cudnnGetVersion() < 90800) return "it is older than 9.8";
    int64_t n = (int64_t)strlen(paper_h100);
    if (paper.cudnnBackendCreateDescriptor(38, &paper.device) ||
        paper.cudnnBackendSetAttribute(paper.device, 2702, 24, n, paper_h100) ||
        paper.cudnnBackendFinalize(paper.device))
        return "it does not take the properties of an H100";
    return NULL;
}

int cudnnCreate(void **out);
int cudnnCreate(void **out) {
    *out = &paper;
    return 0;
}
int cudnnDestroy(void *handle);
int cudnnDestroy(void *handle) {
    return handle == &paper ? 0 : 2000;
}
int cudnnSetStream(void *handle, void *stream);
int cudnnSetStream(void *handle, void *stream) {
    return handle == &paper && stream ? 0 : 2000;
}
const char *cudnnGetErrorString(int status);
const char *cudnnGetErrorString(int status) {
    return paper.cudnnGetErrorString(status);
}
int cudnnBackendCreateDescriptor(int type, void **out);
int cudnnBackendCreateDescriptor(int type, void **out) {
    int status = paper.cudnnBackendCreateDescriptor(type, out), i = 0;
    paper.live += !status;
    while (i < 7 && paper.heuristics[i]) i++;
    if (type == 4) paper.heuristics[i] = *out;
    return status;
}
int cudnnBackendDestroyDescriptor(void *d);
int cudnnBackendDestroyDescriptor(void *d) {
    paper.live--;
    return paper.cudnnBackendDestroyDescriptor(d);
}
int cudnnBackendFinalize(void *d);
int cudnnBackendFinalize(void *d) {
    for (int i = 0; i < 8; i++) {
        if (paper.heuristics[i] != d) continue;
        paper.heuristics[i] = NULL;
        paper.refused += paper.cudnnBackendSetAttribute(d, 204, 15, 1, &paper.device) != 0;
    }
    return paper.cudnnBackendFinalize(d);
}
int cudnnBackendSetAttribute(void *d, int what, int type, int64_t n, const void *v);
int cudnnBackendSetAttribute(void *d, int what, int type, int64_t n, const void *v) {
    bool handle = what == 400 || what == 800; /* of a plan, and of a graph of operations */
    if (handle && (type || n != 1 || *(void *const *)v != &paper)) return 2000;
    if (what == 800) return 0;
    if (what == 400) return paper.cudnnBackendSetAttribute(d, 407, 15, 1, &paper.device);
    int status = paper.cudnnBackendSetAttribute(d, what, type, n, v);
    paper.refused += status != 0;
    return status;
}
int cudnnBackendGetAttribute(void *d, int what, int type, int64_t most, int64_t *out_n, void *out);
int cudnnBackendGetAttribute(void *d, int what, int type, int64_t most, int64_t *out_n, void *out) {
    int status = paper.cudnnBackendGetAttribute(d, what, type, most, out_n, out);
    paper.refused += status != 0;
    if (what != 1303) return status;
    paper.notes = 0;
    for (int64_t i = 0; i < *out_n; i++) paper.notes |= 1u << ((int *)out)[i];
    return status;
}
int cudnnBackendExecute(void *handle, void *plan, void *pack);
int cudnnBackendExecute(void *handle, void *plan, void *pack) {
    paper.runs++;
    return handle == &paper && plan && pack ? 0 : 2000;
}

#endif
