/* Opens CUDA's driver and NVRTC. Their symbols stay out of the program's (RTLD_LOCAL). What stands
 * in for them in tests is in the process already. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "gpu_ref/cuda_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cuda_api cuda;
static struct nvrtc_api nvrtc;
static bool has_cuda, has_nvrtc;

static void *open_in(const char *folder, const char *soname) {
    char path[1024];
    snprintf(path, sizeof path, "%s/lib64/%s", folder, soname);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* In the toolkit's folder HEDDLE_CUDA; else in the loader's paths, where cuDNN and NCCL often are,
 * then in the toolkit's usual place. */
static void *open_one(const char *soname) {
    const char *root = getenv("HEDDLE_CUDA");
    void *lib = root ? open_in(root, soname) : NULL;
    if (!lib) lib = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    return lib || root ? lib : open_in("/usr/local/cuda", soname);
}

bool hd_cuda_library(const char *symbol, const char *const *soname, int n, void **out) {
    *out = RTLD_DEFAULT;
    if (dlsym(RTLD_DEFAULT, symbol)) return true;
    void *lib = NULL;
    for (int i = 0; i < n && !lib; i++) lib = open_one(soname[i]);
    if (lib) *out = lib;
    return lib != NULL;
}

const char *hd_cuda_library_off(const char *name) {
    const char *wanted = getenv("HEDDLE_CUDA_LIBRARIES");
    size_t n = strlen(name);
    if (!wanted) return NULL;
    for (const char *p = wanted; *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == n && !strncmp(p, name, n)) return NULL;
    return "HEDDLE_CUDA_LIBRARIES leaves it out";
}

#define FIND(name, symbol, args)                                                                   \
    if (here) {                                                                                    \
        *(void **)&table->name = dlsym(lib, #symbol);                                              \
        here = table->name != NULL;                                                                \
    }

static void open_cuda(void) {
    struct cuda_api *table = &cuda;
    bool there = dlsym(RTLD_DEFAULT, "cuInit") != NULL;
    void *lib = there ? RTLD_DEFAULT : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    bool here = there || lib;
    CU_CALLS(FIND)
    has_cuda = here;
}

static void open_nvrtc(void) {
    static const char *const name[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    struct nvrtc_api *table = &nvrtc;
    void *lib;
    bool here = hd_cuda_library("nvrtcVersion", name, 3, &lib);
    NVRTC_CALLS(FIND)
    has_nvrtc = here;
}

const struct cuda_api *hd_cuda_api(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_cuda);
    return has_cuda ? &cuda : NULL;
}

const struct nvrtc_api *hd_nvrtc_api(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_nvrtc);
    return has_nvrtc ? &nvrtc : NULL;
}
