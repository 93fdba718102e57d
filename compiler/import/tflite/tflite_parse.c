/* The FlatBuffer of a TFLite model (schema TFL3, version 3) -> tensors and operations in tables. */
#include <string.h>

#include "compiler/import/tflite/tflite.h"
#include "runtime/base/num.h"

enum { MODEL_VERSION = 3, OPERATORS_MAX = 1 << 20, NAME_MAX_BYTES = 200 };

static const char *text(struct hd_tfl *m, const struct hd_fb_table *t, int field) {
    struct hd_fb_vector v = hd_fb_vector(&m->fb, t, field, 1);
    return hd_strndup(m->arena, v.n ? (const char *)v.data : "",
                      v.n < NAME_MAX_BYTES ? v.n : NAME_MAX_BYTES);
}

/* Offsets may share a vector; all items that are copied take no more than the file would. */
static struct hd_fb_vector spend(struct hd_tfl *m, struct hd_fb_vector v) {
    m->items += v.n;
    if (m->items <= m->fb.bytes) return v;
    if (!m->fb.bad) m->fb.bad = "its lists are longer than the file: tables share them";
    v.n = 0;
    return v;
}

static const int *int_list(struct hd_tfl *m, const struct hd_fb_table *t, int field, uint32_t *n) {
    struct hd_fb_vector v = spend(m, hd_fb_vector(&m->fb, t, field, 4));
    int *list = hd_new_array(m->arena, int, (size_t)v.n + 1);
    for (uint32_t i = 0; i < v.n; i++) list[i] = (int)hd_fb_item(&v, i);
    *n = v.n;
    return list;
}

static int ir_type(int type) {
    switch (type) {
#define T(id)                                                                                      \
    case HD_TFL_##id:                                                                              \
        return HD_##id;
        T(F32)
        T(F16)
        T(I32)
        T(U8)
        T(I64)
        T(BOOL)
        T(I16)
        T(I8)
        T(F64)
        T(U64)
        T(U32)
        T(U16)
        T(BF16)
#undef T
    case HD_TFL_I4: /* two to a byte in the file, a byte each in the graph */
        return HD_I8;
    default:
        return -1;
    }
}

/* ---- tensors ---- */

static hd_status parse_quantisation(struct hd_tfl *m, const struct hd_fb_table *table,
                                    struct hd_tfl_tensor *t) {
    struct hd_fb_table q = hd_fb_table(&m->fb, table, 4);
    struct hd_fb_vector scale = spend(m, hd_fb_vector(&m->fb, &q, 2, 4)),
                        zero = hd_fb_vector(&m->fb, &q, 3, 8);
    if (hd_fb_int(&m->fb, &q, 4, 1, 0))
        return hd_fail(m->ctx, HD_UNSUPPORTED,
                       "tensor '%s': quantisation by custom or blockwise details; allowed: scales "
                       "and zero points of the tensor or of one axis",
                       t->name);
    if (zero.n && zero.n != scale.n && zero.n != 1)
        return hd_fail(m->ctx, HD_INVALID, "tensor '%s': %u scales and %u zero points, want equal",
                       t->name, scale.n, zero.n);
    t->n_scales = scale.n;
    t->axis = (int)hd_fb_int(&m->fb, &q, 6, 4, 0);
    t->scale = hd_new_array(m->arena, float, (size_t)scale.n + 1);
    t->zero = hd_new_array(m->arena, int64_t, (size_t)scale.n + 1);
    for (uint32_t i = 0; i < scale.n; i++) {
        t->scale[i] = hd_fb_item_float(&scale, i);
        t->zero[i] = zero.n ? hd_fb_item(&zero, zero.n == 1 ? 0 : i) : 0;
        if (!(t->scale[i] >= 0) || t->scale[i] > 1e30f)
            return hd_fail(m->ctx, HD_INVALID, "tensor '%s': scale %u is %g, want 0 to 1e30",
                           t->name, i, (double)t->scale[i]);
        if (t->zero[i] < INT32_MIN || t->zero[i] > INT32_MAX)
            return hd_fail(m->ctx, HD_INVALID, "tensor '%s': zero point %u is %lld", t->name, i,
                           (long long)t->zero[i]);
    }
    if (scale.n && t->scale[0] == 0) t->n_scales = 0; /* converters write 0 for "none" */
    if (t->rank == 1) t->axis = 0; /* converters write that of the weights with a bias */
    if (t->n_scales > 1 &&
        (t->axis < 0 || t->axis >= t->rank || t->dim[t->axis] != (int64_t)t->n_scales))
        return hd_fail(m->ctx, HD_INVALID, "tensor '%s': %u scales do not fit its axis %d", t->name,
                       t->n_scales, t->axis);
    return HD_OK;
}

static hd_status parse_data(struct hd_tfl *m, const struct hd_fb_table *table,
                            const struct hd_fb_vector *buffers, struct hd_tfl_tensor *t) {
    uint32_t buffer = (uint32_t)hd_fb_int(&m->fb, table, 2, 4, 0);
    if (buffer >= buffers->n && (buffer || buffers->n))
        return hd_fail(m->ctx, HD_INVALID, "tensor '%s': buffer %u, the file has %u", t->name,
                       buffer, buffers->n);
    if (!buffer) return HD_OK;
    struct hd_fb_table b = hd_fb_element(&m->fb, buffers, buffer);
    struct hd_fb_vector data = hd_fb_vector(&m->fb, &b, 0, 1);
    uint64_t offset = (uint64_t)hd_fb_int(&m->fb, &b, 1, 8, 0),
             size = (uint64_t)hd_fb_int(&m->fb, &b, 2, 8, 0);
    t->data = data.data;
    t->bytes = data.n;
    if (offset <= 1) return HD_OK;
    if (offset > m->fb.bytes || size > m->fb.bytes - offset)
        return hd_fail(m->ctx, HD_INVALID, "tensor '%s': its data leaves the file", t->name);
    t->data = size ? m->fb.data + offset : NULL;
    t->bytes = (size_t)size;
    return HD_OK;
}

static hd_status parse_tensor(struct hd_tfl *m, const struct hd_fb_table *table,
                              const struct hd_fb_vector *buffers, struct hd_tfl_tensor *t) {
    struct hd_fb_vector shape = hd_fb_vector(&m->fb, table, 0, 4),
                        open = hd_fb_vector(&m->fb, table, 7, 4);
    t->name = text(m, table, 3);
    t->type = (int)hd_fb_int(&m->fb, table, 1, 1, 0);
    t->ir = ir_type(t->type);
    t->variable = hd_fb_int(&m->fb, table, 5, 1, 0) != 0;
    t->sparse = hd_fb_table(&m->fb, table, 6).at != 0;
    t->raw = t->real = -1;
    if (shape.n > HD_MAX_RANK)
        return hd_fail(m->ctx, HD_UNSUPPORTED, "tensor '%s': rank %u, at most %d", t->name, shape.n,
                       HD_MAX_RANK);
    t->rank = (int)shape.n;
    for (uint32_t i = 0; i < shape.n; i++) {
        t->dim[i] = hd_fb_item(&shape, i);
        t->open[i] = t->dim[i] < 0 || (open.n == shape.n && hd_fb_item(&open, i) < 0);
        if (t->dim[i] < 0) t->dim[i] = 1;
    }
    if (t->ir >= 0) TRY(hd_shape_check(m->ctx, t->name, (hd_dtype)t->ir, t->rank, t->dim));
    TRY(parse_quantisation(m, table, t));
    return parse_data(m, table, buffers, t);
}

/* ---- operations ---- */

static hd_status check_tensors(struct hd_tfl *m, const struct hd_tfl_graph *g, const char *what,
                               const int *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] < -1 || list[i] >= (int64_t)g->n_tensors)
            return hd_fail(m->ctx, HD_INVALID, "%s: tensor %d, the graph has %u", what, list[i],
                           g->n_tensors);
    return HD_OK;
}

static hd_status parse_op(struct hd_tfl *m, const struct hd_fb_table *table,
                          const struct hd_fb_vector *codes, const struct hd_tfl_graph *g,
                          struct hd_tfl_op *op) {
    uint32_t index = (uint32_t)hd_fb_int(&m->fb, table, 0, 4, 0);
    if (index >= codes->n)
        return hd_fail(m->ctx, HD_INVALID, "operator code %u, the file has %u", index, codes->n);
    struct hd_fb_table code = hd_fb_element(&m->fb, codes, index);
    int64_t old = hd_fb_int(&m->fb, &code, 0, 1, 0), new = hd_fb_int(&m->fb, &code, 3, 4, 0);
    op->code = (int)hd_max(old, new);
    op->name = text(m, &code, 1);
    op->in = int_list(m, table, 1, &op->n_in);
    op->out = int_list(m, table, 2, &op->n_out);
    op->options = hd_fb_table(&m->fb, table, 4);
    op->custom = hd_fb_vector(&m->fb, table, 5, 1);
    TRY(check_tensors(m, g, "an operand", op->in, op->n_in));
    return check_tensors(m, g, "a result", op->out, op->n_out);
}

static hd_status parse_graph(struct hd_tfl *m, const struct hd_fb_table *table,
                             const struct hd_fb_vector *codes, const struct hd_fb_vector *buffers,
                             struct hd_tfl_graph *g) {
    struct hd_fb_vector tensors = hd_fb_vector(&m->fb, table, 0, 4),
                        ops = hd_fb_vector(&m->fb, table, 3, 4);
    g->name = text(m, table, 4);
    g->n_tensors = tensors.n;
    g->tensors = hd_new_array(m->arena, struct hd_tfl_tensor, (size_t)tensors.n + 1);
    for (uint32_t i = 0; i < tensors.n && !m->fb.bad; i++) {
        struct hd_fb_table t = hd_fb_element(&m->fb, &tensors, i);
        TRY(parse_tensor(m, &t, buffers, &g->tensors[i]));
    }
    g->inputs = int_list(m, table, 1, &g->n_inputs);
    g->outputs = int_list(m, table, 2, &g->n_outputs);
    TRY(check_tensors(m, g, "a graph input", g->inputs, g->n_inputs));
    TRY(check_tensors(m, g, "a graph output", g->outputs, g->n_outputs));
    g->n_ops = ops.n;
    if (ops.n > OPERATORS_MAX)
        return hd_fail(m->ctx, HD_UNSUPPORTED, "%u operations, at most %d", ops.n, OPERATORS_MAX);
    g->ops = hd_new_array(m->arena, struct hd_tfl_op, (size_t)ops.n + 1);
    for (uint32_t i = 0; i < ops.n && !m->fb.bad; i++) {
        struct hd_fb_table t = hd_fb_element(&m->fb, &ops, i);
        TRY(parse_op(m, &t, codes, g, &g->ops[i]));
    }
    return HD_OK;
}

hd_status hd_tfl_parse(struct hd_tfl *m) {
    struct hd_fb_table model = hd_fb_root(&m->fb);
    if (m->fb.bad || m->fb.bytes < 8 || memcmp(m->fb.data + 4, "TFL3", 4))
        return hd_fail(m->ctx, HD_INVALID, "not a TFLite model (TFL3), or cut short");
    int64_t version = hd_fb_int(&m->fb, &model, 0, 4, 0);
    if (version != MODEL_VERSION)
        return hd_fail(m->ctx, HD_UNSUPPORTED, "version %lld of the schema, allowed %d",
                       (long long)version, MODEL_VERSION);
    struct hd_fb_vector codes = hd_fb_vector(&m->fb, &model, 1, 4),
                        graphs = hd_fb_vector(&m->fb, &model, 2, 4),
                        buffers = hd_fb_vector(&m->fb, &model, 4, 4);
    m->n_graphs = graphs.n;
    m->graphs = hd_new_array(m->arena, struct hd_tfl_graph, (size_t)graphs.n + 1);
    for (uint32_t i = 0; i < graphs.n && !m->fb.bad; i++) {
        struct hd_fb_table t = hd_fb_element(&m->fb, &graphs, i);
        TRY(parse_graph(m, &t, &codes, &buffers, &m->graphs[i]));
    }
    if (m->fb.bad) return hd_fail(m->ctx, HD_INVALID, "damaged: %s", m->fb.bad);
    if (!graphs.n) return hd_fail(m->ctx, HD_INVALID, "the model has no graph");
    return HD_OK;
}
