/* Files beside the model that hold the data of large tensors. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/import/onnx/onnx.h"

/* The file that a location names, without symbolic links, when it lies in the model's folder. */
static hd_status safe_path(struct hd_importer *m, const char *what, const char *location,
                           char *out) {
    char folder[PATH_MAX];
    const char *in = m->model->folder;
    if (!in)
        return hd_fail(m->ctx, HD_UNSUPPORTED,
                       "tensor '%s': its data is in another file, and the model comes from memory",
                       what);
    if (!realpath(in, folder)) return hd_fail(m->ctx, HD_IO, "%s: %s", in, strerror(errno));
    const char *path = hd_sprintf(m->arena, "%s/%s", folder, location);
    size_t n = strlen(folder);
    if (location[0] == '/')
        return hd_fail(m->ctx, HD_INVALID,
                       "tensor '%s': its data is in '%s', an absolute path; want a file in the "
                       "model's folder",
                       what, location);
    if (!realpath(path, out))
        return hd_fail(m->ctx, HD_IO, "tensor '%s': its data is in '%s' of folder %s: %s", what,
                       location, in, strerror(errno));
    if (strncmp(out, folder, n) || (out[n] != '/' && n > 1))
        return hd_fail(m->ctx, HD_INVALID,
                       "tensor '%s': its data is in '%s', which leaves the model's folder %s; put "
                       "the file there",
                       what, location, in);
    return HD_OK;
}

static hd_status mapped(struct hd_importer *m, const char *path, struct hd_mapping **out) {
    struct hd_mapping **list = m->model->files;
    for (*out = *list; *out; *out = (*out)->next)
        if ((*out)->path && !strcmp((*out)->path, path)) return HD_OK;
    TRY(hd_mapping_open(m->ctx, path, out));
    (*out)->path = hd_strdup(m->g->arena, path);
    (*out)->next = *list;
    *list = *out;
    return HD_OK;
}

hd_status hd_onnx_external(struct hd_importer *m, const char *what, struct hd_tensor_pb *t) {
    char path[PATH_MAX];
    struct hd_mapping *file = NULL;
    size_t elem = hd_dtype_bytes(t->dtype), bytes = hd_tensor_pb_file_bytes(t);
    if (t->has_length && t->length != bytes)
        return hd_fail(m->ctx, HD_INVALID,
                       "tensor '%s': %llu bytes of data in '%s', its shape wants %zu", what,
                       (unsigned long long)t->length, t->location, bytes);
    t->data = hd_alloc(m->g->arena, 1);
    if (!t->bytes) return HD_OK;
    TRY(safe_path(m, what, t->location, path));
    TRY(mapped(m, path, &file));
    if (t->offset > file->bytes || bytes > file->bytes - t->offset)
        return hd_fail(m->ctx, HD_INVALID, "tensor '%s': %zu bytes at %llu of '%s', which has %zu",
                       what, bytes, (unsigned long long)t->offset, t->location, file->bytes);
    const char *data = (const char *)file->data + t->offset;
    if (hd_dtype_bits(t->dtype) < 8)
        t->data = hd_tensor_pb_unpack(t->dtype, (const uint8_t *)data, t->bytes, m->g->arena);
    else
        t->data = (uintptr_t)data % elem ? hd_dup(m->g->arena, data, t->bytes) : data;
    return HD_OK;
}
