/* Where the code that runs lies. */
#define _GNU_SOURCE /* dladdr */
#include "runtime/base/io.h"

#include <dlfcn.h>
#include <string.h>

bool hd_library_folder(char *out, size_t bytes) {
    Dl_info us;
    if (!dladdr((const void *)hd_status_text(HD_OK), &us) || !us.dli_fname) return false;
    const char *slash = strrchr(us.dli_fname, '/');
    if (!slash || !strstr(slash, ".so")) return false;
    int n = snprintf(out, bytes, "%.*s", (int)(slash - us.dli_fname), us.dli_fname);
    if (n <= 0 || (size_t)n >= bytes) return false;
    char *hwcaps = strstr(out, "/glibc-hwcaps/"); /* the same library for some processors only */
    if (hwcaps) *hwcaps = 0;
    return true;
}
