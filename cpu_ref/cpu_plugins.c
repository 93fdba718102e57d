/* Finds and opens the plugins of device cpu. They lie beside libheddle.so or the program, in a
 * folder above it (tests), in lib/heddle there (installed), or in the folder that HEDDLE_PLUGINS
 * names; HEDDLE_PLUGINS=none runs without. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu_ref/cpu_plan.h"
#include "cpu_ref/dnnl_api.h"
#include "cpu_ref/jit_api.h"
#include "runtime/base/io.h"

#define DNNL_FILE "libhd_dnnl.so"
#define JIT_FILE  "libhd_jit.so"
enum { UP = 4 }; /* folders above the program: build/<mode>/test/unit/<folder> */

/* Path of the plugin, the arena's; NULL = there is none. */
static const char *find_plugin(hd_arena *a, const char *file) {
    const char *folder = getenv("HEDDLE_PLUGINS");
    if (folder) {
        const char *named = hd_sprintf(a, "%s/%s", folder, file);
        return access(named, R_OK) == 0 ? named : NULL;
    }
    char path[4096];
    if (hd_library_folder(path, sizeof path)) {
        const char *beside = hd_sprintf(a, "%s/%s", path, file);
        if (access(beside, R_OK) == 0) return beside;
    }
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) return NULL;
    path[n] = 0;
    for (int i = 0; i < UP; i++) {
        char *slash = strrchr(path, '/');
        if (!slash) return NULL;
        *slash = 0;
        static const char *const below[] = {"", "/lib/heddle"};
        for (size_t k = 0; k < sizeof below / sizeof *below; k++) {
            const char *candidate = hd_sprintf(a, "%s%s/%s", path, below[k], file);
            if (access(candidate, R_OK) == 0) return candidate;
        }
    }
    return NULL;
}

static void *open_plugin(hd_arena *a, const char *file) {
    const char *path = find_plugin(a, file);
    return path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

const char *hd_cpu_describe(void) {
    static const char *const text[2][2] = {
        {"without oneDNN and LLVM plugins: golden's kernels compute floats, slowly",
         "LLVM; without oneDNN plugin: golden's kernels compute convolutions, slowly"},
        {"oneDNN; without LLVM plugin: golden's kernels compute elementwise chains, slowly",
         "our own, oneDNN's and LLVM's"}};
    hd_arena *a = hd_arena_create();
    bool dnnl = find_plugin(a, DNNL_FILE), jit = find_plugin(a, JIT_FILE);
    hd_arena_destroy(a);
    return text[dnnl][jit];
}

/* OpenMP's threads spin before they sleep. A thread that spins beside another process has used up
 * its share of the processor when it is waited for, and then waits for it: 300 rounds, some 15 us,
 * last from one layer to the next, and no longer. Read when libgomp is loaded. */
static void limit_spinning(void) {
    if (!getenv("OMP_WAIT_POLICY")) setenv("GOMP_SPINCOUNT", "300", 0);
}

void hd_cpu_open_plugins(struct hd_cpu_plan *p) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, limit_spinning);
    void *lib = open_plugin(p->arena, DNNL_FILE); /* stays open: threads live in it */
    const struct hd_dnnl_api *api = lib ? dlsym(lib, HD_DNNL_ENTRY) : NULL;
    if (api && api->version == HD_DNNL_API) {
        p->dnnl_engine = api->open(p->threads);
        p->dnnl = p->dnnl_engine ? api : NULL;
    }
}

/* LLVM, when the first loop asks for it: it is 50 MB. False = not on this machine. */
bool hd_cpu_need_jit(struct hd_cpu_plan *p) {
    if (p->jit || p->jit_failed) return p->jit;
    void *lib = open_plugin(p->arena, JIT_FILE);
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
