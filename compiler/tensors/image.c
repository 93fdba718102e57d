/* Decoding of PNG and JPEG by Debian's libraries, loaded at run time: a computer without them loses
 * only this. */
#include "compiler/tensors/image.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/base/io.h"

enum { SIDE_MAX = 32768 };

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), k = strlen(end);
    return n >= k && !strcasecmp(s + n - k, end);
}

bool hd_is_image(const char *path) {
    return ends_with(path, ".png") || ends_with(path, ".jpg") || ends_with(path, ".jpeg");
}

/* Functions of a library by name. It stays loaded: the next image needs it again. */
static hd_status load_library(hd_ctx *ctx, const char *file, const char *package,
                              const char *const *names, void **out, int n) {
    void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < n; i++) {
        out[i] = lib ? dlsym(lib, names[i]) : NULL;
        if (!out[i])
            return hd_fail(ctx, HD_UNSUPPORTED,
                           "no %s to read the image with (%s); install it: apt-get install %s, or "
                           "give the data as .npz",
                           file, dlerror(), package);
    }
    return HD_OK;
}

static hd_status check_size(hd_ctx *ctx, int64_t width, int64_t height) {
    if (width >= 1 && height >= 1 && width <= SIDE_MAX && height <= SIDE_MAX) return HD_OK;
    return hd_fail(ctx, HD_INVALID, "%lld x %lld pixels, want 1 to %d each way", (long long)width,
                   (long long)height, SIDE_MAX);
}

/* ---- PNG: the simplified interface of libpng 1.6 --------------------------------------------- */

struct png_image { /* png_image of png.h */
    void *opaque;
    uint32_t version, width, height, format, flags, colormap_entries, warning_or_error;
    char message[64];
};
enum { PNG_VERSION = 1, PNG_RGB = 2 };

static hd_status load_png(hd_ctx *ctx, hd_arena *a, const void *data, size_t bytes,
                          struct hd_image *out) {
    static const char *const names[] = {"png_image_begin_read_from_memory", "png_image_finish_read",
                                        "png_image_free"};
    void *f[3];
    int (*begin)(struct png_image *, const void *, size_t);
    int (*finish)(struct png_image *, const void *, void *, int32_t, void *);
    void (*drop)(struct png_image *);
    struct png_image image = {.version = PNG_VERSION};
    TRY(load_library(ctx, "libpng16.so.16", "libpng16-16", names, f, 3));
    memcpy(&begin, &f[0], sizeof begin);
    memcpy(&finish, &f[1], sizeof finish);
    memcpy(&drop, &f[2], sizeof drop);
    if (!begin(&image, data, bytes)) return hd_fail(ctx, HD_INVALID, "PNG: %s", image.message);
    hd_status s = check_size(ctx, image.width, image.height);
    if (s == HD_OK) {
        uint8_t *rgb = hd_alloc(a, (size_t)image.width * image.height * 3);
        image.format = PNG_RGB; /* what is transparent shows black */
        memset(rgb, 0, (size_t)image.width * image.height * 3);
        if (!finish(&image, NULL, rgb, 0, NULL))
            s = hd_fail(ctx, HD_INVALID, "PNG: %s", image.message);
        *out = (struct hd_image){(int)image.width, (int)image.height, rgb};
    }
    drop(&image);
    return s;
}

/* ---- JPEG: TurboJPEG ------------------------------------------------------------------------ */

struct jpeg {
    void *(*init)(void);
    int (*header)(void *, const uint8_t *, unsigned long, int *, int *, int *, int *);
    int (*decompress)(void *, const uint8_t *, unsigned long, uint8_t *, int, int, int, int, int);
    char *(*error)(void *);
    int (*destroy)(void *);
};
enum { JPEG_RGB = 0 };

static hd_status decode_jpeg(hd_ctx *ctx, hd_arena *a, const struct jpeg *j, void *handle,
                             const void *data, size_t bytes, struct hd_image *out) {
    int w, h, sampling, space;
    if (j->header(handle, data, (unsigned long)bytes, &w, &h, &sampling, &space))
        return hd_fail(ctx, HD_INVALID, "JPEG: %s", j->error(handle));
    TRY(check_size(ctx, w, h));
    uint8_t *rgb = hd_alloc(a, (size_t)w * (size_t)h * 3);
    if (j->decompress(handle, data, (unsigned long)bytes, rgb, w, 0, h, JPEG_RGB, 0))
        return hd_fail(ctx, HD_INVALID, "JPEG: %s", j->error(handle));
    *out = (struct hd_image){w, h, rgb};
    return HD_OK;
}

static hd_status load_jpeg(hd_ctx *ctx, hd_arena *a, const void *data, size_t bytes,
                           struct hd_image *out) {
    static const char *const names[] = {"tjInitDecompress", "tjDecompressHeader3", "tjDecompress2",
                                        "tjGetErrorStr2", "tjDestroy"};
    void *f[5];
    struct jpeg j;
    TRY(load_library(ctx, "libturbojpeg.so.0", "libturbojpeg0", names, f, 5));
    memcpy(&j.init, &f[0], sizeof j.init);
    memcpy(&j.header, &f[1], sizeof j.header);
    memcpy(&j.decompress, &f[2], sizeof j.decompress);
    memcpy(&j.error, &f[3], sizeof j.error);
    memcpy(&j.destroy, &f[4], sizeof j.destroy);
    void *handle = j.init();
    if (!handle) return hd_fail(ctx, HD_NOMEM, "JPEG: %s", j.error(NULL));
    hd_status s = decode_jpeg(ctx, a, &j, handle, data, bytes, out);
    j.destroy(handle);
    return s;
}

hd_status hd_image_load(hd_ctx *ctx, hd_arena *a, const char *path, struct hd_image *out) {
    void *data;
    size_t bytes;
    TRY(hd_file_read(ctx, path, &data, &bytes));
    hd_status s = ends_with(path, ".png") ? load_png(ctx, a, data, bytes, out)
                                          : load_jpeg(ctx, a, data, bytes, out);
    free(data);
    return hd_note(ctx, s, "in %s", path);
}
