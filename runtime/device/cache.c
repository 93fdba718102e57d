/* Files heddle/remote/SHA256.hdl and heddle/compiled/SHA256.hdl in $XDG_CACHE_HOME; their times say
 * when they were used. */
#define _GNU_SOURCE /* futimens */
#include "runtime/device/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/io.h"

enum { PATH_BYTES = 1024, NAME_BYTES = 2 * HD_SHA256_BYTES + 5 };

static bool folder_path(enum hd_cache of, char *out) {
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool has_xdg = xdg && *xdg == '/'; /* the XDG rules: a relative one does not count */
    if (!has_xdg && !(home && *home == '/')) return false;
    int n = snprintf(out, PATH_BYTES - NAME_BYTES, "%s%s/heddle/%s", has_xdg ? xdg : home,
                     has_xdg ? "" : "/.cache", of == HD_CACHE_SENT ? "remote" : "compiled");
    return n > 0 && n < PATH_BYTES - NAME_BYTES;
}

static bool model_path(enum hd_cache of, const unsigned char key[HD_SHA256_BYTES], char *out) {
    if (!folder_path(of, out)) return false;
    char *p = out + strlen(out);
    *p++ = '/';
    for (int i = 0; i < HD_SHA256_BYTES; i++, p += 2) snprintf(p, 3, "%02x", key[i]);
    strcpy(p, ".hdl");
    return true;
}

hd_model *hd_cache_get(enum hd_cache of, const unsigned char key[HD_SHA256_BYTES]) {
    char path[PATH_BYTES];
    unsigned char is[HD_SHA256_BYTES];
    void *data = NULL;
    size_t bytes;
    hd_model *m = NULL;
    if (!model_path(of, key, path) || access(path, R_OK)) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    if (hd_file_read(ctx, path, &data, &bytes) == HD_OK) {
        hd_sha256(data, bytes, is);
        bool whole = of != HD_CACHE_SENT || !memcmp(is, key, sizeof is);
        if (!whole || hd_model_load_memory(ctx, data, bytes, path, &m))
            unlink(path);
        else
            utimensat(AT_FDCWD, path, NULL, 0);
    }
    free(data);
    hd_ctx_destroy(ctx);
    return m;
}

/* Removes the file that was used least lately; gives the bytes that all have. */
static uint64_t look(const char *folder, bool remove_oldest) {
    char path[PATH_BYTES + 256], oldest[PATH_BYTES + 256] = "";
    struct timespec when = {0};
    uint64_t sum = 0, its = 0;
    DIR *dir = opendir(folder);
    if (!dir) return 0;
    for (struct dirent *e; (e = readdir(dir));) {
        struct stat st;
        size_t n = strlen(e->d_name);
        if (n != NAME_BYTES - 1 || strcmp(e->d_name + n - 4, ".hdl")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (stat(path, &st)) continue;
        sum += (uint64_t)st.st_size;
        bool older = st.st_mtim.tv_sec < when.tv_sec ||
                     (st.st_mtim.tv_sec == when.tv_sec && st.st_mtim.tv_nsec < when.tv_nsec);
        if (*oldest && !older) continue;
        strcpy(oldest, path);
        when = st.st_mtim;
        its = (uint64_t)st.st_size;
    }
    closedir(dir);
    if (remove_oldest && *oldest && unlink(oldest) == 0) sum -= its;
    return sum;
}

void hd_cache_put(enum hd_cache of, const unsigned char key[HD_SHA256_BYTES], const void *data,
                  size_t bytes, int mib) {
    char path[PATH_BYTES], folder[PATH_BYTES];
    const uint64_t most = (uint64_t)mib << 20;
    if (bytes > most || !model_path(of, key, path) || !folder_path(of, folder)) return;
    hd_ctx *ctx = hd_ctx_create();
    if (hd_file_prepare(ctx, path) == HD_OK) {
        uint64_t have = look(folder, false);
        for (int i = 0; i < 1000 && have + bytes > most; i++) have = look(folder, true);
        hd_file_write(ctx, path, data, bytes);
    }
    hd_ctx_destroy(ctx);
}
