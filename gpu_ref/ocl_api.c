/* Opens the ICD loader: libOpenCL.so.1 and whatever drivers it finds stay out of the program's
 * symbols (RTLD_LOCAL), since drivers bring compilers of their own. Tools that stand in for the
 * loader (oclgrind) are in the process already. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "gpu_ref/ocl_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

static struct ocl_api api;
static bool here;

static void open_loader(void) {
    bool preloaded = dlsym(RTLD_DEFAULT, "clGetPlatformIDs") != NULL;
    void *lib = preloaded ? RTLD_DEFAULT : dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    here = preloaded || lib;
#define X(result, name, args)                                                                      \
    if (here) {                                                                                    \
        *(void **)&api.name = dlsym(lib, #name);                                                   \
        here = api.name != NULL;                                                                   \
    }
    OCL_CALLS(X)
#undef X
}

const struct ocl_api *hd_ocl_api(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_loader);
    return here ? &api : 0;
}

const char *hd_ocl_error(int32_t code) {
    static const char *const word[] = {"success",
                                       "device not found",
                                       "device not available",
                                       "compiler not available",
                                       "no memory for a buffer",
                                       "out of resources",
                                       "out of host memory",
                                       "no times of events",
                                       "copies overlap",
                                       "image formats differ",
                                       "image format unknown",
                                       "the program does not build",
                                       "map failure",
                                       "misaligned part of a buffer"};
    int n = (int)(sizeof word / sizeof *word);
    if (code <= 0 && code > -n) return word[-code];
    return code == -54 ? "invalid work-group size" : "see CL/cl.h";
}
