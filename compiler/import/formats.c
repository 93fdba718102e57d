/* The table of formats, and importing by it. */
#include <string.h>

#include "compiler/import/import.h"
#include "cpu_ref/golden.h"

static const struct format {
    const char *name, *extension, *magic;
    size_t magic_at;
    hd_status (*read)(hd_ctx *ctx, hd_graph *g, const struct hd_source *s);
} formats[] = {
#define FORMAT(name, extension, file, at, magic, what)                                             \
    {#name, extension, magic, at, hd_read_##name},
#include "compiler/import/formats.def"
};
enum { FORMATS = sizeof formats / sizeof *formats };

const char *const hd_model_files[] = {
#define FORMAT(name, extension, file, at, magic, what) file,
#include "compiler/import/formats.def"
    NULL};

static const struct format *by_extension(const char *path) {
    for (size_t i = 0, n = strlen(path); i < FORMATS; i++) {
        size_t k = strlen(formats[i].extension);
        if (n > k && !strcmp(path + n - k, formats[i].extension)) return &formats[i];
    }
    return NULL;
}

bool hd_is_network(const char *path) {
    return by_extension(path) != NULL;
}

const char *hd_short_name(hd_arena *a, const char *path) {
    size_t n = strlen(path);
    for (int i = 0; hd_model_files[i]; i++) {
        size_t k = strlen(hd_model_files[i]);
        if (n <= k + 1 || path[n - k - 1] != '/' || strcmp(path + n - k, hd_model_files[i]))
            continue;
        n -= k + 1;
        break;
    }
    while (n > 1 && path[n - 1] == '/') n--;
    size_t from = n;
    while (from && path[from - 1] != '/') from--;
    return hd_sprintf(a, "%.*s", (int)(n - from), path + from);
}

static const struct format *format_of(const char *path, const void *data, size_t bytes) {
    for (size_t i = 0; i < FORMATS; i++) {
        size_t n = strlen(formats[i].magic), at = formats[i].magic_at;
        if (n && bytes >= at + n && !memcmp((const char *)data + at, formats[i].magic, n))
            return &formats[i];
    }
    const struct format *f = by_extension(path);
    return f ? f : formats;
}

static hd_status finish(hd_ctx *ctx, hd_status s, const char *name, hd_graph *g, hd_graph **out) {
    if (s == HD_OK)
        *out = g;
    else
        hd_graph_destroy(g);
    return hd_note(ctx, s, "while importing %s", name);
}

hd_status hd_import_memory(hd_ctx *ctx, const void *data, size_t bytes, const char *name,
                           hd_graph **out) {
    hd_graph *g = hd_graph_create();
    struct hd_source from = {.data = data, .bytes = bytes};
    return finish(ctx, format_of(name, data, bytes)->read(ctx, g, &from), name, g, out);
}

/* --value has found its input. */
static hd_status check_value(hd_ctx *ctx, const hd_graph *g, const char *name) {
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].data && !strcmp(g->tensors[i].name, name)) return HD_OK;
    return hd_fail(ctx, HD_INVALID,
                   "--value %s: the network has no input of that name, or is no ONNX file%s%s",
                   name, g->n_inputs ? "; its first input is " : "",
                   g->n_inputs ? g->tensors[g->inputs[0]].name : "");
}

hd_status hd_import(hd_ctx *ctx, const char *path, const struct hd_bind *bind, hd_graph **out) {
    struct hd_mapping *files = NULL;
    TRY(hd_mapping_open(ctx, path, &files));
    hd_graph *g = hd_graph_create();
    g->file_free = hd_mapping_close_all;
    struct hd_source from = {files->data, files->bytes, path, bind, &files};
    hd_status s = format_of(path, from.data, from.bytes)->read(ctx, g, &from);
    g->file = files; /* the list has grown by files with data */
    for (size_t i = 0; s == HD_OK && bind && i < bind->n_values; i++)
        s = check_value(ctx, g, bind->values[i].name);
    if (s == HD_OK) s = hd_import_states(ctx, g, bind);
    return finish(ctx, s, path, g, out);
}

void hd_import_rest(const hd_graph *g) {
    if (g->file_free == hd_mapping_close_all) hd_mapping_rest_all(g->file);
}

hd_status hd_import_done(hd_ctx *ctx, hd_graph *g, int node) {
    enum { SHAPE_VALUES = 64 }; /* shape arithmetic is never larger */
    const struct hd_node *nd = &g->nodes[node];
    TRY(hd_graph_infer_node(ctx, g, node));
    if (nd->op == HD_IR_dequantize || nd->op == HD_IR_quantize) return HD_OK; /* legalisation's */
    for (int i = 0; i < nd->n_out; i++) {
        const struct hd_tensor *y = nd->out[i] < 0 ? NULL : &g->tensors[nd->out[i]];
        if (y && (!y->known || hd_tensor_elems(y) > SHAPE_VALUES)) return HD_OK;
    }
    return hd_fold_node(ctx, g, node);
}
