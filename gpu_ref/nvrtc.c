/* NVRTC: see nvrtc.h. */
#include "gpu_ref/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu_ref/cuda_api.h"
#include "runtime/base/io.h"
#include "runtime/base/sha256.h"

enum { PATH_BYTES = 1024, ARCHS = 64 };

const char *hd_nvrtc_why_not(void) {
    return hd_nvrtc_api() ? NULL
                          : "libnvrtc is not here, which compiles kernels: install the CUDA "
                            "toolkit 12 or later, or set HEDDLE_CUDA to its folder";
}

/* ---- cache ---------------------------------------------------------------------------------- */

/* Source, compiler and architecture are the name. False: there is no place for a cache. */
static bool path_of(const char *key, char *out) {
    unsigned char hash[HD_SHA256_BYTES];
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool has_xdg = xdg && *xdg == '/'; /* the XDG rules: a relative one does not count */
    if (!has_xdg && !(home && *home == '/')) return false;
    int n = snprintf(out, PATH_BYTES, "%s%s/heddle/cubin/", has_xdg ? xdg : home,
                     has_xdg ? "" : "/.cache");
    if (n < 0 || n > PATH_BYTES - 2 * HD_SHA256_BYTES - 8) return false;
    hd_sha256(key, strlen(key), hash);
    for (int i = 0; i < HD_SHA256_BYTES; i++) snprintf(out + n + 2 * i, 3, "%02x", hash[i]);
    strcat(out, ".cubin");
    return true;
}

/* A cache that cannot be read or written costs time, and no result. */
static bool get(const char *path, char **out, size_t *out_bytes) {
    hd_ctx *ctx = hd_ctx_create();
    void *data = NULL;
    bool there =
        access(path, R_OK) == 0 && hd_file_read(ctx, path, &data, out_bytes) == HD_OK && *out_bytes;
    hd_ctx_destroy(ctx);
    if (there)
        *out = data;
    else
        free(data);
    return there;
}

static void put(const char *path, const char *data, size_t bytes) {
    hd_ctx *ctx = hd_ctx_create();
    if (hd_file_prepare(ctx, path) == HD_OK) (void)hd_file_write(ctx, path, data, bytes);
    hd_ctx_destroy(ctx);
}

/* ---- compiler ------------------------------------------------------------------------------- */

/* The newest architecture that NVRTC knows, at most `arch`. */
static int known(const struct nvrtc_api *n, int arch) {
    int all[ARCHS], count = 0, best = 0;
    if (n->nvrtcGetNumSupportedArchs(&count) || count < 1 || count > ARCHS ||
        n->nvrtcGetSupportedArchs(all))
        return arch;
    for (int i = 0; i < count; i++)
        if (all[i] <= arch && all[i] > best) best = all[i];
    return best;
}

static hd_status failed(hd_ctx *ctx, const struct nvrtc_api *n, void *program, int error) {
    size_t bytes = 0;
    n->nvrtcGetProgramLogSize(program, &bytes);
    char *log = calloc(1, bytes + 1);
    if (log && bytes) n->nvrtcGetProgramLog(program, log);
    hd_status s =
        hd_fail(ctx, HD_DEVICE, "cuda: NVRTC does not build the kernels: error %d\n%.1500s", error,
                log ? log : "");
    free(log);
    return s;
}

static hd_status code_of(hd_ctx *ctx, const struct nvrtc_api *n, void *program, bool ptx,
                         char **out, size_t *out_bytes) {
    size_t bytes = 0;
    int error = ptx ? n->nvrtcGetPTXSize(program, &bytes) : n->nvrtcGetCUBINSize(program, &bytes);
    if (error) return hd_fail(ctx, HD_DEVICE, "cuda: NVRTC has no code: error %d", error);
    char *code = calloc(1, bytes + 1);
    if (!code) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for %zu bytes of code", bytes);
    error = ptx ? n->nvrtcGetPTX(program, code) : n->nvrtcGetCUBIN(program, code);
    if (error) {
        free(code);
        return hd_fail(ctx, HD_DEVICE, "cuda: NVRTC gives no code: error %d", error);
    }
    *out = code;
    *out_bytes = bytes;
    return HD_OK;
}

/* No contraction, no fast mathematics: results are golden's. */
static hd_status compile(hd_ctx *ctx, const struct nvrtc_api *n, const char *source,
                         const char *arch, bool ptx, char **out, size_t *out_bytes) {
    const char *const option[] = {arch, "--fmad=false", "--ftz=false", "--prec-div=true",
                                  "--prec-sqrt=true"};
    void *program = NULL;
    int error = n->nvrtcCreateProgram(&program, source, "heddle.cu", 0, NULL, NULL);
    if (error) return hd_fail(ctx, HD_DEVICE, "cuda: nvrtcCreateProgram: error %d", error);
    error = n->nvrtcCompileProgram(program, 5, option);
    hd_status s =
        error ? failed(ctx, n, program, error) : code_of(ctx, n, program, ptx, out, out_bytes);
    n->nvrtcDestroyProgram(&program);
    return s;
}

hd_status hd_nvrtc_compile(hd_ctx *ctx, const char *source, int arch, bool cached, char **out,
                           size_t *out_bytes) {
    const struct nvrtc_api *n = hd_nvrtc_api();
    if (!n) return hd_fail(ctx, HD_DEVICE, "cuda: %s", hd_nvrtc_why_not());
    int best = known(n, arch), version[2] = {0, 0};
    if (!best)
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "cuda: the GPU has compute capability %d.%d, for which this NVRTC has no "
                       "code; use the toolkit that came with it",
                       arch / 10, arch % 10);
    char option[64], path[PATH_BYTES], *key = NULL;
    snprintf(option, sizeof option, "--gpu-architecture=%s_%d", best < arch ? "compute" : "sm",
             best);
    n->nvrtcVersion(&version[0], &version[1]);
    size_t bytes;
    FILE *f = open_memstream(&key, &bytes);
    HD_ASSERT(f);
    fprintf(f, "%d.%d %s\n%s", version[0], version[1], option, source);
    fclose(f);
    cached = cached && path_of(key, path);
    free(key);
    if (cached && get(path, out, out_bytes)) return HD_OK;
    TRY(compile(ctx, n, source, option, best < arch, out, out_bytes));
    if (cached) put(path, *out, *out_bytes);
    return HD_OK;
}
