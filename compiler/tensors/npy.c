/* NumPy files: the .npy header (versions 1 to 3, C or Fortran order, little endian) and .npz
 * archives through libzip. */
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "compiler/tensors/tensors.h"
#include "runtime/base/io.h"
#include "runtime/base/num.h"

static const struct {
    const char *descr;
    hd_dtype type;
} kinds[] = {{"u2", HD_BF16}, /* numpy has none: its bits; read, they are u16 */
             {"f4", HD_F32},  {"u1", HD_U8},  {"i1", HD_I8},  {"u2", HD_U16},
             {"i2", HD_I16},  {"i4", HD_I32}, {"i8", HD_I64}, {"b1", HD_BOOL},
             {"f2", HD_F16},  {"f8", HD_F64}, {"u4", HD_U32}, {"u8", HD_U64}};

/* Types that numpy lacks and that take a byte here: as integers, floats by their bits. */
static const char *byte_descr(hd_dtype t) {
    return t == HD_I4 || t == HD_I2 ? "i1" : "u1";
}

static const char *value_of(const char *header, const char *key) {
    const char *p = strstr(header, key);
    if (!p) return NULL;
    p = strchr(p + strlen(key), ':');
    if (!p) return NULL;
    for (p++; *p == ' '; p++) continue;
    return p;
}

static hd_status bad_npy(hd_ctx *ctx, const char *name, const char *what) {
    return hd_fail(ctx, HD_INVALID, "%s: not a .npy array that can be read here: %s", name, what);
}

/* {'descr': '<f4', 'fortran_order': False, 'shape': (1, 8, 8), } */
static hd_status parse_header(hd_ctx *ctx, const char *header, const char *name,
                              struct hd_file_tensor *out, bool *fortran) {
    const char *descr = value_of(header, "'descr'"), *order = value_of(header, "'fortran_order'");
    const char *shape = value_of(header, "'shape'");
    if (!descr || !order || !shape)
        return bad_npy(ctx, name, "its header lacks descr, fortran_order or shape");
    *fortran = strncmp(order, "False", 5) != 0;
    if (*descr++ != '\'') return bad_npy(ctx, name, "structured type; want a plain number type");
    if (*descr == '>') return bad_npy(ctx, name, "big endian; want little endian");
    if (*descr == '<' || *descr == '|' || *descr == '=') descr++;
    out->dtype = -1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(descr, kinds[i].descr, 2) && descr[2] == '\'') out->dtype = (int)kinds[i].type;
    if (out->dtype < 0)
        return bad_npy(ctx, name, "element type; want f2, f4, f8, i1..i8, u1..u8 or b1");
    out->bytes = hd_dtype_bytes((hd_dtype)out->dtype);
    out->dtype = hd_dtype_to_onnx((hd_dtype)out->dtype);
    out->rank = 0;
    if (*shape++ != '(') return bad_npy(ctx, name, "shape is not a tuple");
    for (;;) {
        while (*shape == ' ' || *shape == ',') shape++;
        if (*shape == ')') return HD_OK;
        char *end;
        long long v = strtoll(shape, &end, 10);
        if (end == shape || v < 0) return bad_npy(ctx, name, "shape");
        if (out->rank == HD_VALUE_RANK) return bad_npy(ctx, name, "more than 8 dimensions");
        if (!hd_size_mul(out->bytes, (size_t)v, &out->bytes))
            return bad_npy(ctx, name, "shape too large");
        out->dim[out->rank++] = v;
        shape = end;
    }
}

/* First index fastest -> last index fastest. */
static const void *reordered(hd_arena *a, const struct hd_file_tensor *t, const char *data) {
    char *out = hd_alloc(a, t->bytes + 1);
    size_t elem = hd_dtype_bytes((hd_dtype)hd_dtype_from_onnx(t->dtype)), n = t->bytes / elem;
    int64_t at[HD_VALUE_RANK] = {0};
    for (size_t i = 0; i < n; i++) {
        size_t to = 0;
        for (int d = 0; d < t->rank; d++) to = to * (size_t)t->dim[d] + (size_t)at[d];
        memcpy(out + to * elem, data + i * elem, elem);
        for (int d = 0; d < t->rank && ++at[d] == t->dim[d]; d++) at[d] = 0;
    }
    return out;
}

hd_status hd_load_npy(hd_ctx *ctx, hd_arena *a, const void *data, size_t bytes, const char *name,
                      struct hd_file_tensor *out) {
    struct hd_cursor c = {.data = data, .n = bytes};
    const unsigned char *head = hd_cursor_take(&c, 8);
    if (!head || memcmp(head, "\x93NUMPY", 6))
        return bad_npy(ctx, name, "it does not begin with \\x93NUMPY");
    uint32_t n = 0;
    if (head[6] >= 2) {
        n = hd_cursor_u32(&c);
    } else {
        const unsigned char *p = hd_cursor_take(&c, 2);
        if (p) n = (uint32_t)p[0] | (uint32_t)p[1] << 8;
    }
    const char *text = hd_cursor_take(&c, n);
    if (!text) return bad_npy(ctx, name, "cut short in its header");
    *out = (struct hd_file_tensor){.name = ""};
    bool fortran = false;
    TRY(parse_header(ctx, hd_strndup(a, text, n), name, out, &fortran));
    const void *values = hd_cursor_take(&c, out->bytes);
    if (!values) return bad_npy(ctx, name, "cut short");
    out->data = fortran ? reordered(a, out, values) : hd_dup(a, values, out->bytes);
    return HD_OK;
}

/* What is there of it, whatever size the archive claims: false, it is not as it should be. */
static bool unpack(zip_t *z, zip_int64_t i, uint64_t bytes, struct hd_buf *out) {
    char part[1 << 14];
    zip_file_t *f = zip_fopen_index(z, (zip_uint64_t)i, 0);
    zip_int64_t n = f ? 1 : -1;
    while (n > 0 && out->n <= bytes) {
        n = zip_fread(f, part, sizeof part);
        if (n > 0) hd_buf_put(out, part, (size_t)n);
    }
    if (f) zip_fclose(f);
    return n == 0 && out->n == bytes;
}

static hd_status load_member(hd_ctx *ctx, hd_arena *a, zip_t *z, zip_int64_t i, const char *path,
                             struct hd_file_tensor *out) {
    zip_stat_t st;
    if (zip_stat_index(z, (zip_uint64_t)i, 0, &st) != 0 || !(st.valid & ZIP_STAT_SIZE) ||
        !(st.valid & ZIP_STAT_NAME))
        return hd_fail(ctx, HD_INVALID, "%s: member %lld cannot be read", path, (long long)i);
    if (st.size > (uint64_t)HD_FILE_MAX_MIB << 20)
        return hd_fail(ctx, HD_INVALID, "%s: %s has %llu bytes, at most %d MiB", path, st.name,
                       (unsigned long long)st.size, HD_FILE_MAX_MIB);
    struct hd_buf b = {0};
    const char *what = hd_sprintf(a, "%s: %s", path, st.name);
    hd_status s = unpack(z, i, st.size, &b)
                      ? hd_load_npy(ctx, a, b.data, b.n, what, out)
                      : hd_fail(ctx, HD_INVALID, "%s: cannot be unpacked", what);
    hd_buf_free(&b);
    size_t n = strlen(st.name);
    if (n > 4 && !strcmp(st.name + n - 4, ".npy")) n -= 4;
    out->name = hd_strndup(a, st.name, n);
    return s;
}

hd_status hd_load_npz(hd_ctx *ctx, hd_arena *a, const char *path, struct hd_file_tensor **out,
                      int *out_n) {
    int why = 0;
    zip_t *z = zip_open(path, ZIP_RDONLY, &why);
    if (!z) {
        zip_error_t e;
        zip_error_init_with_code(&e, why);
        hd_status s =
            hd_fail(ctx, HD_IO, "%s: cannot open as .npz: %s", path, zip_error_strerror(&e));
        zip_error_fini(&e);
        return s;
    }
    zip_int64_t n = zip_get_num_entries(z, 0);
    hd_status s =
        n > 1024 ? hd_fail(ctx, HD_INVALID, "%s: %lld arrays, at most 1024", path, (long long)n)
                 : HD_OK;
    *out_n = s == HD_OK ? (int)n : 0;
    *out = hd_new_array(a, struct hd_file_tensor, (size_t)*out_n + 1);
    for (int i = 0; s == HD_OK && i < *out_n; i++) s = load_member(ctx, a, z, i, path, &(*out)[i]);
    zip_discard(z);
    return s;
}

static const char *descr_of(int onnx) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((int)kinds[i].type == hd_dtype_from_onnx(onnx)) return kinds[i].descr;
    return byte_descr((hd_dtype)hd_dtype_from_onnx(onnx));
}

static void npy_bytes(struct hd_buf *b, const struct hd_file_tensor *t) {
    char header[256], shape[200] = "";
    size_t at = 0;
    for (int i = 0; i < t->rank; i++)
        at += (size_t)snprintf(shape + at, sizeof shape - at, "%lld,%s", (long long)t->dim[i],
                               i + 1 < t->rank ? " " : "");
    const char *descr = descr_of(t->dtype);
    int n = snprintf(header, sizeof header,
                     "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
                     descr[1] == '1' ? '|' : '<', descr, shape);
    while ((10 + n + 1) % 64) header[n++] = ' ';
    header[n++] = '\n';
    hd_buf_put(b, "\x93NUMPY\x01\x00", 8);
    hd_buf_put(b, (unsigned char[]){(unsigned char)n, (unsigned char)(n >> 8)}, 2);
    hd_buf_put(b, header, (size_t)n);
    hd_buf_put(b, t->data, t->bytes);
}

static hd_status save_failed(hd_ctx *ctx, const char *path, zip_t *z) {
    hd_status s = hd_fail(ctx, HD_IO, "%s: cannot write: %s", path, zip_strerror(z));
    zip_discard(z);
    return s;
}

hd_status hd_save_npz(hd_ctx *ctx, const char *path, const struct hd_file_tensor *t, int n) {
    int why = 0;
    zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &why);
    if (!z) {
        zip_error_t e;
        zip_error_init_with_code(&e, why);
        hd_status s = hd_fail(ctx, HD_IO, "%s: cannot write: %s", path, zip_error_strerror(&e));
        zip_error_fini(&e);
        return s;
    }
    for (int i = 0; i < n; i++) {
        struct hd_buf b = {0};
        char name[512];
        npy_bytes(&b, &t[i]);
        snprintf(name, sizeof name, "%s.npy", t[i].name);
        for (char *p = name; *p; p++)
            if (*p == '/' || *p == '\\') *p = '_';                /* a name, never a path */
        zip_source_t *src = zip_source_buffer(z, b.data, b.n, 1); /* takes b.data */
        zip_int64_t at = src ? zip_file_add(z, name, src, ZIP_FL_OVERWRITE | ZIP_FL_ENC_UTF_8) : -1;
        if (at < 0) {
            if (src)
                zip_source_free(src);
            else
                hd_buf_free(&b);
            return save_failed(ctx, path, z);
        }
        zip_file_set_mtime(z, (zip_uint64_t)at, 315532800, 0); /* same outputs, same bytes */
    }
    return zip_close(z) == 0 ? HD_OK : save_failed(ctx, path, z);
}
