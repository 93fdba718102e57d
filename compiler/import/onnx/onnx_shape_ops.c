/* ONNX data movement. Shapes are resolved here, so the IR's reshape carries its result. */
#include <string.h>

#include "compiler/import/onnx/onnx_ops.h"
#include "compiler/import/tensor_pb.h"

static hd_status cast_to(struct hd_importer *m, const struct hd_onnx_node *n, hd_dtype t) {
    static const char *const attrs[] = {"saturate", "round_mode", NULL};
    int x = hd_onnx_in(m, n, 0), id = hd_onnx_emit(m, n, HD_IR_cast, 1, &x);
    hd_attr_set_string(m->g, id, "to", hd_dtype_name(t));
    if (t >= HD_F8E4M3FN) hd_onnx_copy_attrs(m, n, id, attrs);
    return hd_onnx_done(m, id);
}

/* The type's number; below opset 6 its name. */
hd_status import_Cast(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const struct {
        const char *name;
        hd_dtype type;
    } old[] = {{"FLOAT", HD_F32},    {"UINT8", HD_U8},   {"INT8", HD_I8},    {"UINT16", HD_U16},
               {"INT16", HD_I16},    {"INT32", HD_I32},  {"INT64", HD_I64},  {"BOOL", HD_BOOL},
               {"FLOAT16", HD_F16},  {"DOUBLE", HD_F64}, {"UINT32", HD_U32}, {"UINT64", HD_U64},
               {"BFLOAT16", HD_BF16}};
    int t = hd_dtype_from_onnx((int)hd_onnx_int(n, "to", 0));
    const char *name = hd_onnx_string(n, "to", NULL);
    for (size_t i = 0; name && i < sizeof old / sizeof *old; i++)
        if (!strcmp(old[i].name, name)) t = (int)old[i].type;
    if (t < 0)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "to is ONNX data type %lld, allowed 1..7, 9..13 and 16..26",
                           (long long)hd_onnx_int(n, "to", 0));
    return cast_to(m, n, (hd_dtype)t);
}

hd_status import_CastLike(struct hd_importer *m, const struct hd_onnx_node *n) {
    return cast_to(m, n, hd_onnx_tensor(m, n, 1)->dtype);
}

hd_status import_BitCast(struct hd_importer *m, const struct hd_onnx_node *n) {
    int x = hd_onnx_in(m, n, 0), t = hd_dtype_from_onnx((int)hd_onnx_int(n, "to", 0));
    if (t < 0)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "to is ONNX data type %lld, allowed 1..7, 9..13 and 16..26",
                           (long long)hd_onnx_int(n, "to", 0));
    int id = hd_onnx_emit(m, n, HD_IR_bitcast, 1, &x);
    hd_attr_set_string(m->g, id, "to", hd_dtype_name((hd_dtype)t));
    return hd_onnx_done(m, id);
}

/* One IR operation when the shape of x is known, and another that works it out in the run. */
static hd_status shaped(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op,
                        int second, const char *const *attrs) {
    int in[2] = {hd_onnx_in(m, n, 0), second};
    int id = hd_onnx_emit(m, n, op, 2, in);
    hd_onnx_copy_attrs(m, n, id, attrs);
    TRY(hd_graph_infer_node(m->ctx, m->g, id));
    const struct hd_node *nd = &m->g->nodes[id];
    const struct hd_tensor y = m->g->tensors[nd->out[0]];
    bool constant = second < 0 || m->g->tensors[second].data;
    if (!y.known || !constant) return hd_onnx_done(m, id);
    hd_graph_kill(m->g, id);
    int again = hd_onnx_emit(m, n, HD_IR_reshape, 1, in);
    hd_graph_swap_names(m->g, id, again);
    hd_attr_set_ints(m->g, again, "shape", y.rank, y.dim);
    return hd_onnx_done(m, again);
}

hd_status import_Reshape(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const char *const attrs[] = {"allowzero", NULL};
    int shape = hd_onnx_ints_in(m, n, 1, "shape");
    if (shape < 0) return hd_onnx_bad(m, n, HD_INVALID, "shape is missing");
    return shaped(m, n, HD_IR_reshape, shape, attrs);
}

hd_status import_Flatten(struct hd_importer *m, const struct hd_onnx_node *n) {
    return shaped(m, n, HD_IR_flatten, -1, NULL);
}

hd_status import_Squeeze(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const char *const attrs[] = {NULL};
    return shaped(m, n, HD_IR_squeeze, hd_onnx_ints_in(m, n, 1, "axes"), attrs);
}

hd_status import_Unsqueeze(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const char *const attrs[] = {NULL};
    int axes = hd_onnx_ints_in(m, n, 1, "axes");
    if (axes < 0) return hd_onnx_bad(m, n, HD_INVALID, "axes are missing");
    return shaped(m, n, HD_IR_unsqueeze, axes, attrs);
}

/* ---- constants ---- */

/* The output becomes a constant. */
static void set_const(struct hd_importer *m, const struct hd_onnx_node *n, hd_dtype t, int rank,
                      const int64_t *dim, const void *data) {
    int out = hd_onnx_out(m, n, 0);
    if (out < 0) return;
    struct hd_tensor *y = &m->g->tensors[out];
    y->dtype = t;
    y->rank = rank;
    for (int i = 0; i < rank; i++) y->dim[i] = dim[i];
    y->known = true;
    y->data = data;
}

/* A constant wherever the shape is known: the data does not matter. */
hd_status import_Shape(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in = hd_onnx_in(m, n, 0);
    const struct hd_tensor *x = &m->g->tensors[in];
    if (!x->known) {
        int id = hd_onnx_emit(m, n, HD_IR_shape, 1, &in);
        hd_onnx_copy_attrs(m, n, id, NULL);
        return hd_onnx_done(m, id);
    }
    int64_t from = hd_onnx_int(n, "start", 0), to = hd_onnx_int(n, "end", x->rank);
    from = from < 0 ? from + x->rank : from;
    to = to < 0 ? to + x->rank : to;
    from = from < 0 ? 0 : from > x->rank ? x->rank : from;
    to = to < from ? from : to > x->rank ? x->rank : to;
    set_const(m, n, HD_I64, 1, (int64_t[]){to - from},
              hd_dup(m->g->arena, x->dim + from, (size_t)(to - from) * 8));
    return HD_OK;
}

hd_status import_Size(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in = hd_onnx_in(m, n, 0);
    const struct hd_tensor *x = &m->g->tensors[in];
    if (!x->known) return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_size, 1, &in));
    int64_t count = hd_tensor_elems(x);
    set_const(m, n, HD_I64, 0, NULL, hd_dup(m->g->arena, &count, sizeof count));
    return HD_OK;
}

hd_status import_ConstantOfShape(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_onnx_attr *v = hd_onnx_attr(n, "value");
    struct hd_tensor_pb t = {.dtype = HD_F32, .data = &(float){0}};
    if (v && v->has_t)
        TRY(hd_note(
            m->ctx,
            hd_tensor_pb_parse(m->ctx, n->name, v->t.data, v->t.bytes, false, m->g->arena, &t),
            "in node '%s' (ConstantOfShape)", n->name));
    if (t.location) TRY(hd_onnx_external(m, n->name, &t));
    int in[2] = {hd_onnx_in(m, n, 0), hd_onnx_const(m, n, "value", t.dtype, t.rank, t.dim, t.data)};
    return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_fill, 2, in));
}

hd_status import_Constant(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_onnx_attr *v = hd_onnx_attr(n, "value"), *i = hd_onnx_attr(n, "value_int"),
                              *f = hd_onnx_attr(n, "value_float"),
                              *is = hd_onnx_attr(n, "value_ints"),
                              *fs = hd_onnx_attr(n, "value_floats");
    hd_arena *a = m->g->arena;
    if (v && v->has_t) {
        struct hd_tensor_pb t;
        TRY(hd_note(m->ctx,
                    hd_tensor_pb_parse(m->ctx, n->name, v->t.data, v->t.bytes, m->borrow, a, &t),
                    "in node '%s' (Constant)", n->name));
        if (t.location) TRY(hd_onnx_external(m, n->name, &t));
        set_const(m, n, t.dtype, t.rank, t.dim, t.data);
    } else if (i && i->has_i) {
        set_const(m, n, HD_I64, 0, NULL, hd_dup(a, &i->i, sizeof i->i));
    } else if (f && f->has_f) {
        set_const(m, n, HD_F32, 0, NULL, hd_dup(a, &f->f, sizeof f->f));
    } else if (is && is->n_ints) {
        set_const(m, n, HD_I64, 1, (int64_t[]){(int64_t)is->n_ints},
                  hd_dup(a, is->ints, is->n_ints * 8));
    } else if (fs && fs->n_floats) {
        set_const(m, n, HD_F32, 1, (int64_t[]){(int64_t)fs->n_floats},
                  hd_dup(a, fs->floats, fs->n_floats * 4));
    } else {
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "no value, value_int(s) or value_float(s)");
    }
    return HD_OK;
}
