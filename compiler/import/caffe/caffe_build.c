/* Building blocks of the Caffe reader. */
#include <stdarg.h>
#include <string.h>

#include "compiler/import/caffe/caffe.h"

hd_status hd_caffe_bad(struct hd_caffe *m, hd_status code, const char *fmt, ...) {
    va_list ap;
    char text[400];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return hd_fail(m->ctx, code, "layer '%s' (%s, line %d): %s", m->name, m->type, m->layer->line,
                   text);
}

static const struct hd_txt *nth(const struct hd_txt *layer, const char *name, int i) {
    const struct hd_txt *f = hd_txt_next(layer, NULL, name);
    for (; f && i; i--) f = hd_txt_next(layer, f, name);
    return f;
}

static int count(const struct hd_txt *layer, const char *name) {
    return hd_txt_ints(layer, name, NULL, 0);
}

int hd_caffe_bottoms(const struct hd_caffe *m) {
    return count(m->layer, "bottom");
}

int hd_caffe_tops(const struct hd_caffe *m) {
    return count(m->layer, "top");
}

hd_status hd_caffe_bottom(struct hd_caffe *m, int i, int *out) {
    const struct hd_txt *f = nth(m->layer, "bottom", i);
    if (!f || !f->value) return hd_caffe_bad(m, HD_INVALID, "it has no bottom %d", i);
    for (size_t k = m->n_blobs; k-- > 0;) {
        if (strcmp(m->blobs[k].name, f->value)) continue;
        m->blobs[k].read = true;
        *out = m->blobs[k].tensor;
        return HD_OK;
    }
    return hd_caffe_bad(m, HD_INVALID, "bottom '%s' is no input and no earlier layer's top",
                        f->value);
}

/* A later blob of the same name takes the place of an earlier one: a layer in place. */
hd_status hd_caffe_top(struct hd_caffe *m, int i, int tensor) {
    const struct hd_txt *f = nth(m->layer, "top", i);
    if (!f || !f->value) return i ? HD_OK : hd_caffe_bad(m, HD_INVALID, "it has no top");
    *hd_push(m->arena, m->blobs, m->n_blobs, m->cap_blobs) =
        (struct hd_caffe_blob){.name = f->value, .tensor = tensor};
    return HD_OK;
}

int hd_caffe_node(struct hd_caffe *m, enum hd_ir_op op, int n_in, const int *in, int *out) {
    int y = hd_graph_tensor(m->g, m->name, HD_F32, 0, NULL);
    int id = hd_graph_node(m->g, op, m->name, n_in, in, 1, &y);
    *out = y;
    return id;
}

hd_status hd_caffe_done(struct hd_caffe *m, int node) {
    return hd_import_done(m->ctx, m->g, node);
}

hd_status hd_caffe_emit(struct hd_caffe *m, enum hd_ir_op op, int n_in, const int *in, int *out) {
    return hd_caffe_done(m, hd_caffe_node(m, op, n_in, in, out));
}

int hd_caffe_ints(struct hd_caffe *m, int n, const int64_t *v) {
    return hd_graph_const(m->g, hd_sprintf(m->arena, "%s.c", m->name), HD_I64, 1, (int64_t[]){n},
                          v);
}

int hd_caffe_float(struct hd_caffe *m, float v) {
    return hd_graph_const(m->g, hd_sprintf(m->arena, "%s.c", m->name), HD_F32, 0, NULL, &v);
}

hd_status hd_caffe_reshape(struct hd_caffe *m, int x, int rank, const int64_t *dim, int *out) {
    int id = hd_caffe_node(m, HD_IR_reshape, 1, &x, out);
    hd_attr_set_ints(m->g, id, "shape", rank, dim);
    return hd_caffe_done(m, id);
}

hd_status hd_caffe_axis(struct hd_caffe *m, int64_t axis, int rank, int64_t *out) {
    if (axis < -rank || axis >= rank)
        return hd_caffe_bad(m, HD_INVALID, "axis %lld, allowed %d..%d", (long long)axis, -rank,
                            rank - 1);
    *out = axis < 0 ? axis + rank : axis;
    return HD_OK;
}
