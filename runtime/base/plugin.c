/* Plug-ins: see plugin.h. */
#include "runtime/base/plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/io.h"

enum { UP = 4 }; /* folders above the program: build/<mode>/test/unit/<folder> */

const char *hd_plugin_find(hd_arena *a, const char *file) {
    const char *folder = getenv("HEDDLE_PLUGINS");
    if (folder) {
        const char *named = hd_sprintf(a, "%s/%s", folder, file);
        return access(named, R_OK) == 0 ? named : NULL;
    }
    char path[4096];
    if (hd_library_folder(path, sizeof path)) {
        const char *beside = hd_sprintf(a, "%s/%s", path, file);
        if (access(beside, R_OK) == 0) return beside;
        const char *installed = hd_sprintf(a, "%s/heddle/%s", path, file);
        if (access(installed, R_OK) == 0) return installed;
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

void *hd_plugin_open(const char *file, enum hd_plugin_scope scope) {
    hd_arena *a = hd_arena_create();
    const char *path = hd_plugin_find(a, file);
    void *lib =
        path ? dlopen(path, RTLD_NOW | (scope == HD_PLUGIN_GLOBAL ? RTLD_GLOBAL : RTLD_LOCAL))
             : NULL;
    hd_arena_destroy(a);
    return lib;
}
