/* Finds and opens the plugins of device cpu. They lie beside the program, in a folder above it
 * (tests), or in the folder that HEDDLE_PLUGINS names; HEDDLE_PLUGINS=none runs without. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu_ref/cpu_plan.h"
#include "cpu_ref/dnnl_api.h"
#include "cpu_ref/jit_api.h"

enum { UP = 4 }; /* folders above the program: build/<mode>/test/unit/<folder> */

static void *open_plugin(hd_arena *a, const char *file) {
    const char *folder = getenv("HEDDLE_PLUGINS");
    if (folder && !strcmp(folder, "none")) return NULL;
    if (folder) return dlopen(hd_sprintf(a, "%s/%s", folder, file), RTLD_NOW | RTLD_LOCAL);
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) return NULL;
    path[n] = 0;
    for (int i = 0; i < UP; i++) {
        char *slash = strrchr(path, '/');
        if (!slash) return NULL;
        *slash = 0;
        const char *candidate = hd_sprintf(a, "%s/%s", path, file);
        if (access(candidate, R_OK) == 0) return dlopen(candidate, RTLD_NOW | RTLD_LOCAL);
    }
    return NULL;
}

static void limit_spinning(void) {
    setenv("GOMP_SPINCOUNT", "20000", 0); /* read when libgomp is loaded */
}

void hd_cpu_open_plugins(struct hd_cpu_plan *p) {
    /* OpenMP's threads spin before they sleep; long spinning is lost time when cores are shared */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, limit_spinning);
    void *lib = open_plugin(p->arena, "libhd_dnnl.so"); /* stays open: threads live in it */
    const struct hd_dnnl_api *api = lib ? dlsym(lib, HD_DNNL_ENTRY) : NULL;
    if (api && api->version == HD_DNNL_API) {
        p->dnnl_engine = api->open(p->threads);
        p->dnnl = p->dnnl_engine ? api : NULL;
    }
}

/* LLVM, when the first loop asks for it: it is 50 MB. False = not on this machine. */
bool hd_cpu_need_jit(struct hd_cpu_plan *p) {
    if (p->jit || p->jit_failed) return p->jit;
    void *lib = open_plugin(p->arena, "libhd_jit.so");
    const struct hd_jit_api *api = lib ? dlsym(lib, HD_JIT_ENTRY) : NULL;
    if (api && api->version == HD_JIT_API) p->jit_engine = api->open();
    p->jit = p->jit_engine ? api : NULL;
    p->jit_failed = !p->jit;
    return p->jit;
}

void hd_cpu_close_plugins(struct hd_cpu_plan *p) {
    if (p->dnnl) p->dnnl->close(p->dnnl_engine);
    if (p->jit) p->jit->close(p->jit_engine);
}
