/* Files and byte strings. */
#include "runtime/base/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/memory.h"
#include "runtime/base/num.h"

static hd_status read_open(hd_ctx *ctx, FILE *f, const char *path, void **out, size_t *out_bytes) {
    struct stat st;
    if (fstat(fileno(f), &st) != 0)
        return hd_fail(ctx, HD_IO, "%s: cannot read: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode)) return hd_fail(ctx, HD_IO, "%s: is a folder, want a file", path);
    if (st.st_size < 0 || (uint64_t)st.st_size > (uint64_t)HD_FILE_MAX_MIB << 20)
        return hd_fail(ctx, HD_INVALID, "%s: %lld bytes, at most %d MiB", path,
                       (long long)st.st_size, HD_FILE_MAX_MIB);
    size_t n = (size_t)st.st_size;
    unsigned char *data = malloc(n + 1);
    if (!data) return hd_fail(ctx, HD_NOMEM, "%s: no memory for %zu bytes", path, n);
    size_t got = fread(data, 1, n, f);
    if (got != n) {
        free(data);
        return hd_fail(ctx, HD_IO, "%s: read %zu of %zu bytes", path, got, n);
    }
    data[n] = 0;
    *out = data;
    *out_bytes = n;
    return HD_OK;
}

hd_status hd_file_read(hd_ctx *ctx, const char *path, void **out, size_t *out_bytes) {
    FILE *f = fopen(path, "rb");
    if (!f) return hd_fail(ctx, HD_IO, "%s: cannot open: %s", path, strerror(errno));
    hd_status s = read_open(ctx, f, path, out, out_bytes);
    fclose(f);
    return s;
}

/* A file of its own beside path, with the rights that path has. */
static FILE *open_beside(struct hd_out *out, const struct stat *old) {
    size_t room = strlen(out->path) + 32;
    out->tmp = malloc(room);
    if (!out->tmp) return NULL;
    snprintf(out->tmp, room, "%s.tmp.%ld", out->path, (long)getpid());
    FILE *f = fopen(out->tmp, "wb");
    if (f && old) (void)!fchmod(fileno(f), old->st_mode & 07777); /* else it has the usual ones */
    return f;
}

static hd_status out_failed(hd_ctx *ctx, struct hd_out *out, int why) {
    hd_status s = hd_fail(ctx, HD_IO, "%s: cannot write: %s", out->path, strerror(why));
    free(out->path);
    free(out->tmp);
    *out = (struct hd_out){0};
    return s;
}

hd_status hd_out_open(hd_ctx *ctx, const char *path, struct hd_out *out) {
    struct stat st;
    bool is_stdout = !strcmp(path, "-"), exists = !is_stdout && stat(path, &st) == 0;
    char *real = exists ? realpath(path, NULL) : NULL; /* a link keeps pointing there */
    *out = (struct hd_out){.path = real ? real : strdup(is_stdout ? "standard output" : path)};
    if (!out->path) return hd_fail(ctx, HD_NOMEM, "%s: no memory for its name", path);
    if (is_stdout)
        out->f = stdout;
    else if (exists && !S_ISREG(st.st_mode)) /* a device or pipe stays what it is */
        out->f = fopen(path, "wb");
    else
        out->f = open_beside(out, exists ? &st : NULL);
    return out->f ? HD_OK : out_failed(ctx, out, errno);
}

hd_status hd_out_close(hd_ctx *ctx, struct hd_out *out, hd_status s) {
    if (!out->f) return s;
    bool failed = ferror(out->f) != 0;
    int why = out->why ? out->why : EIO;
    if (fflush(out->f) != 0) failed = true, why = errno;
    if (!failed && out->tmp && fsync(fileno(out->f)) != 0) failed = true, why = errno;
    if (out->f != stdout && fclose(out->f) != 0 && !failed) failed = true, why = errno;
    if (out->tmp && s == HD_OK && !failed && rename(out->tmp, out->path) != 0)
        failed = true, why = errno;
    if (out->tmp && (s != HD_OK || failed)) remove(out->tmp);
    if (s == HD_OK && failed) return out_failed(ctx, out, why);
    free(out->path);
    free(out->tmp);
    *out = (struct hd_out){0};
    return s;
}

hd_status hd_file_write(hd_ctx *ctx, const char *path, const void *data, size_t bytes) {
    struct hd_out out;
    TRY(hd_out_open(ctx, path, &out));
    if (bytes && fwrite(data, 1, bytes, out.f) != bytes) out.why = errno;
    return hd_out_close(ctx, &out, HD_OK);
}

hd_status hd_file_writable(hd_ctx *ctx, const char *path) {
    char folder[4096];
    struct stat st;
    const char *slash = strrchr(path, '/');
    size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (n >= sizeof folder)
        return hd_fail(ctx, HD_INVALID, "%s: the path has %zu bytes, at most %zu", path,
                       strlen(path), sizeof folder - 1);
    memcpy(folder, path, n);
    folder[n] = 0;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return hd_fail(ctx, HD_IO, "%s: is a folder, want a file", path);
    bool is_file = stat(path, &st) != 0 || S_ISREG(st.st_mode);
    if (access(!is_file ? path : n ? folder : ".", is_file ? W_OK | X_OK : W_OK) != 0)
        return hd_fail(ctx, HD_IO, "%s: cannot write: %s", path, strerror(errno));
    return HD_OK;
}

hd_status hd_file_prepare(hd_ctx *ctx, const char *path) {
    char folder[4096];
    size_t n = strlen(path);
    if (n >= sizeof folder)
        return hd_fail(ctx, HD_INVALID, "%s: the path has %zu bytes, at most %zu", path, n,
                       sizeof folder - 1);
    for (size_t i = 1; i < n; i++) {
        if (path[i] != '/') continue;
        memcpy(folder, path, i);
        folder[i] = 0;
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return hd_fail(ctx, HD_IO, "%s: cannot make the folder: %s", folder, strerror(errno));
    }
    return hd_file_writable(ctx, path);
}

const void *hd_cursor_take(struct hd_cursor *c, uint64_t bytes) {
    if (c->bad || bytes > c->n - c->at) {
        c->bad = true;
        return NULL;
    }
    const void *p = c->data + c->at;
    c->at += (size_t)bytes;
    return p;
}

uint32_t hd_cursor_u32(struct hd_cursor *c) {
    const unsigned char *p = hd_cursor_take(c, 4);
    return p ? p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24 : 0;
}

uint64_t hd_cursor_u64(struct hd_cursor *c) {
    uint64_t lo = hd_cursor_u32(c);
    return lo | (uint64_t)hd_cursor_u32(c) << 32;
}

const char *hd_cursor_str(struct hd_cursor *c, hd_arena *a) {
    uint32_t n = hd_cursor_u32(c);
    const char *p = hd_cursor_take(c, n);
    if (!p) return "";
    if (memchr(p, 0, n)) {
        c->bad = true;
        return "";
    }
    return hd_strndup(a, p, n);
}

int hd_cursor_count(struct hd_cursor *c, size_t item_bytes) {
    uint32_t n = hd_cursor_u32(c);
    if (n > INT32_MAX || (uint64_t)n * item_bytes > c->n - c->at) c->bad = true;
    return c->bad ? 0 : (int)n;
}

void hd_buf_put(struct hd_buf *b, const void *data, size_t bytes) {
    if (bytes == 0) return;
    if (b->cap - b->n < bytes) {
        size_t cap = b->cap ? b->cap : 256;
        while (cap - b->n < bytes) HD_ASSERT(hd_size_mul(cap, 2, &cap));
        b->data = realloc(b->data, cap);
        HD_MEMORY(b->data);
        b->cap = cap;
    }
    memcpy(b->data + b->n, data, bytes);
    b->n += bytes;
}

void hd_buf_u32(struct hd_buf *b, uint32_t v) {
    unsigned char p[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                          (unsigned char)(v >> 24)};
    hd_buf_put(b, p, 4);
}

void hd_buf_u64(struct hd_buf *b, uint64_t v) {
    hd_buf_u32(b, (uint32_t)v);
    hd_buf_u32(b, (uint32_t)(v >> 32));
}

void hd_buf_str(struct hd_buf *b, const char *s) {
    size_t n = s ? strlen(s) : 0;
    hd_buf_u32(b, (uint32_t)n);
    hd_buf_put(b, s, n);
}

void hd_buf_free(struct hd_buf *b) {
    free(b->data);
    *b = (struct hd_buf){0};
}
