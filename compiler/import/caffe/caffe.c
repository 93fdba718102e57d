/* Caffe: deploy.prototxt with a caffemodel beside it -> graph as written, in phase TEST. Without a
 * caffemodel the weights are made up, which serves for shapes and cycles. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/import/caffe/caffe.h"

/* Sizes of --shape or of a tensor that is given, else those of the file: Caffe's networks take
 * inputs of any size. */
static hd_status add_input(struct hd_caffe *m, const char *name, int rank, int64_t *dim) {
    const struct hd_bind *b = m->from->bind;
    size_t position = m->g->n_inputs;
    const struct hd_tensor *t = b && position < b->n_inputs ? &b->inputs[position] : NULL;
    for (size_t i = 0; b && i < b->n_inputs; i++)
        if (b->inputs[i].name && !strcmp(b->inputs[i].name, name)) t = &b->inputs[i];
    if (t && t->rank == rank) memcpy(dim, t->dim, (size_t)rank * sizeof *dim);
    for (size_t i = 0; b && i < b->n_shapes; i++) {
        if (strcmp(b->shapes[i].name, name)) continue;
        if (b->shapes[i].rank != rank)
            return hd_fail(m->ctx, HD_INVALID, "--shape %s has %d dimensions, the input has %d",
                           name, b->shapes[i].rank, rank);
        memcpy(dim, b->shapes[i].dim, (size_t)rank * sizeof *dim);
    }
    TRY(hd_shape_check(m->ctx, name, HD_F32, rank, dim));
    int x = hd_graph_tensor(m->g, name, HD_F32, rank, dim);
    hd_graph_input(m->g, x);
    *hd_push(m->arena, m->blobs, m->n_blobs, m->cap_blobs) =
        (struct hd_caffe_blob){.name = name, .tensor = x};
    return HD_OK;
}

/* Dimensions of the i-th input: a shape, or four of the list. */
static hd_status input_shape(struct hd_caffe *m, const struct hd_txt *message, const char *field,
                             int i, const char *name, int64_t *dim, int *rank) {
    const struct hd_txt *s = hd_txt_next(message, NULL, field);
    const struct hd_txt *only = s;
    for (int k = 0; s && k < i; k++) s = hd_txt_next(message, s, field);
    if (!s) s = only; /* one for all tops of a layer Input */
    if (s) {
        *rank = hd_txt_ints(s, "dim", dim, HD_MAX_RANK);
        if (*rank <= HD_MAX_RANK) return HD_OK;
        return hd_fail(m->ctx, HD_UNSUPPORTED, "input '%s': rank %d, at most %d", name, *rank,
                       HD_MAX_RANK);
    }
    int64_t flat[4 * 16];
    int n = hd_txt_ints(message, "input_dim", flat, 4 * 16);
    if (n < 4 * (i + 1) || i >= 16)
        return hd_fail(m->ctx, HD_INVALID, "input '%s' has no shape", name);
    memcpy(dim, flat + 4 * i, 4 * sizeof *dim);
    *rank = 4;
    return HD_OK;
}

hd_status hd_caffe_input(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "input_param");
    int64_t dim[HD_MAX_RANK];
    int i = 0, rank;
    for (const struct hd_txt *t = NULL; (t = hd_txt_next(m->layer, t, "top")); i++) {
        if (!t->value) return hd_caffe_bad(m, HD_INVALID, "a top without a name");
        TRY(input_shape(m, p, "shape", i, t->value, dim, &rank));
        TRY(add_input(m, t->value, rank, dim));
    }
    return HD_OK;
}

static hd_status add_inputs(struct hd_caffe *m) {
    int64_t dim[HD_MAX_RANK];
    int i = 0, rank;
    for (const struct hd_txt *t = NULL; (t = hd_txt_next(&m->net, t, "input")); i++) {
        if (!t->value)
            return hd_fail(m->ctx, HD_INVALID, "line %d: an input without a name", t->line);
        TRY(input_shape(m, &m->net, "input_shape", i, t->value, dim, &rank));
        TRY(add_input(m, t->value, rank, dim));
    }
    return HD_OK;
}

/* ---- layers ---- */

static bool names_phase(const struct hd_txt *layer, const char *rule, const char *phase,
                        const char *number, bool *any) {
    bool found = false;
    for (const struct hd_txt *f = NULL; (f = hd_txt_next(layer, f, rule));) {
        const char *p = hd_txt_string(f, "phase", "");
        *any = true;
        found = found || !*p || !strcmp(p, phase) || !strcmp(p, number);
    }
    return found;
}

/* Rules of layers that say in which phase they are. */
static bool in_test(const struct hd_txt *layer) {
    bool included = false, excluded = false;
    bool in = names_phase(layer, "include", "TEST", "1", &included),
         out = names_phase(layer, "exclude", "TEST", "1", &excluded);
    return (!included || in) && !out;
}

static hd_status read_layers(struct hd_caffe *m, const char *field) {
    for (const struct hd_txt *l = NULL; (l = hd_txt_next(&m->net, l, field));) {
        if (l->value) return hd_fail(m->ctx, HD_INVALID, "line %d: a layer is no message", l->line);
        if (!in_test(l)) continue;
        m->layer = l;
        m->name = hd_txt_string(l, "name", "layer");
        m->type = hd_txt_string(l, "type", "");
        TRY(hd_caffe_layer(m));
    }
    return HD_OK;
}

/* Blobs that no layer reads, in the order of their layers; each once, under its own name. */
static hd_status add_outputs(struct hd_caffe *m) {
    for (size_t i = 0; i < m->n_blobs; i++) {
        const struct hd_caffe_blob *b = &m->blobs[i];
        bool later = false;
        for (size_t k = i + 1; k < m->n_blobs; k++)
            later = later || !strcmp(m->blobs[k].name, b->name);
        if (b->read || later) continue;
        if (!strcmp(m->g->tensors[b->tensor].name, b->name) &&
            !hd_graph_is_input(m->g, b->tensor)) {
            hd_graph_output(m->g, b->tensor);
            continue;
        }
        int y = hd_graph_tensor(m->g, b->name, HD_F32, 0, NULL);
        int id = hd_graph_node(m->g, HD_IR_identity, b->name, 1, &b->tensor, 1, &y);
        TRY(hd_graph_infer_node(m->ctx, m->g, id));
        hd_graph_output(m->g, y);
    }
    return m->g->n_outputs ? HD_OK : hd_fail(m->ctx, HD_INVALID, "the network has no outputs");
}

/* ---- the weights' file ---- */

/* NAME.caffemodel, or model.caffemodel, beside NAME.prototxt; NULL = none. */
static const char *weights_path(struct hd_caffe *m) {
    const char *path = m->from->path, *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    const char *list[] = {
        hd_sprintf(m->arena, "%.*s.caffemodel", (int)(dot ? dot - path : folder), path),
        hd_sprintf(m->arena, "%.*smodel.caffemodel", folder, path)};
    for (size_t i = 0; i < 2; i++)
        if (access(list[i], R_OK) == 0) return list[i];
    return NULL;
}

/* From memory, the caffemodel may follow the text behind a zero byte. */
static hd_status read_weights(struct hd_caffe *m) {
    const char *text = m->from->data, *zero = memchr(text, 0, m->from->bytes);
    if (zero && m->from->path)
        return hd_fail(m->ctx, HD_INVALID, "zero bytes, want text; name the .prototxt");
    if (zero) return hd_caffe_read_weights(m, zero + 1, m->from->bytes - (size_t)(zero + 1 - text));
    const char *path = m->from->path ? weights_path(m) : NULL;
    struct hd_mapping *file;
    if (!path) return HD_OK;
    TRY(hd_mapping_open(m->ctx, path, &file));
    file->next = *m->from->files;
    *m->from->files = file;
    return hd_note(m->ctx, hd_caffe_read_weights(m, file->data, file->bytes), "in %s", path);
}

static hd_status import(struct hd_caffe *m) {
    TRY(hd_txt_parse(m->ctx, m->arena, hd_strndup(m->arena, m->from->data, m->from->bytes),
                     &m->net));
    TRY(read_weights(m));
    m->g->name = hd_strdup(m->g->arena, hd_txt_string(&m->net, "name", "network"));
    TRY(add_inputs(m));
    TRY(read_layers(m, "layer"));
    TRY(read_layers(m, "layers"));
    TRY(add_outputs(m));
    return hd_graph_verify(m->ctx, m->g);
}

hd_status hd_read_caffe(hd_ctx *ctx, hd_graph *g, const struct hd_source *from) {
    hd_arena *a = hd_arena_create();
    struct hd_caffe m = {.ctx = ctx, .g = g, .arena = a, .from = from};
    hd_status s = import(&m);
    hd_arena_destroy(a);
    return s;
}
