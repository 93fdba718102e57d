/* The plug-ins of device cpu. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "cpu_ref/cpu_plan.h"
#include "cpu_ref/dnnl_api.h"
#include "cpu_ref/jit_api.h"
#include "runtime/base/plugin.h"

#define DNNL_FILE "libhd_dnnl.so"
#define JIT_FILE  "libhd_jit.so"

const char *hd_cpu_describe(void) {
    static const char *const text[2][2] = {
        {"without oneDNN and LLVM plugins: golden's kernels compute floats, slowly",
         "LLVM; without oneDNN plugin: golden's kernels compute convolutions, slowly"},
        {"oneDNN; without LLVM plugin: golden's kernels compute elementwise chains, slowly",
         "our own, oneDNN's and LLVM's"}};
    hd_arena *a = hd_arena_create();
    bool dnnl = hd_plugin_find(a, DNNL_FILE), jit = hd_plugin_find(a, JIT_FILE);
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
    void *lib = hd_plugin_open(DNNL_FILE, HD_PLUGIN_LOCAL); /* stays open: threads live in it */
    const struct hd_dnnl_api *api = lib ? dlsym(lib, HD_DNNL_ENTRY) : NULL;
    if (api && api->version == HD_DNNL_API) {
        p->dnnl_engine = api->open(p->threads);
        p->dnnl = p->dnnl_engine ? api : NULL;
    }
}

/* LLVM, when the first loop asks for it: it is 50 MB. False = not on this machine. */
bool hd_cpu_need_jit(struct hd_cpu_plan *p) {
    if (p->jit || p->jit_failed) return p->jit;
    void *lib = hd_plugin_open(JIT_FILE, HD_PLUGIN_LOCAL);
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
