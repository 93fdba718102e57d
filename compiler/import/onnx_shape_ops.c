/* ONNX data movement. Shapes are resolved here, so the IR's reshape carries its result. */
#include <string.h>

#include "compiler/import/onnx_ops.h"
#include "compiler/import/tensor_pb.h"

hd_status import_Cast(struct hd_importer *m, const struct hd_onnx_node *n) {
    int x = hd_onnx_in(m, n, 0), t = hd_dtype_from_onnx((int)hd_onnx_int(n, "to", 0));
    if (t < 0)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "to is ONNX data type %lld, allowed 1..7 and 9..13",
                           (long long)hd_onnx_int(n, "to", 0));
    int id = hd_onnx_emit(m, n, HD_IR_cast, 1, &x);
    hd_attr_set_string(m->g, id, "to", hd_dtype_name((hd_dtype)t));
    return hd_onnx_done(m, id);
}

static hd_status reshape(struct hd_importer *m, const struct hd_onnx_node *n, int rank,
                         const int64_t *dim) {
    int x = hd_onnx_in(m, n, 0), id = hd_onnx_emit(m, n, HD_IR_reshape, 1, &x);
    hd_attr_set_ints(m->g, id, "shape", rank, dim);
    return hd_onnx_done(m, id);
}

hd_status import_Reshape(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_tensor *x = hd_onnx_tensor(m, n, 0);
    int64_t dim[HD_MAX_RANK], known = 1, total = hd_tensor_elems(x);
    int rank, open = -1;
    TRY(hd_onnx_int_list(m, n, "shape", 1, dim, HD_MAX_RANK, &rank));
    for (int i = 0; i < rank; i++) {
        if (dim[i] == 0 && !hd_onnx_int(n, "allowzero", 0)) {
            if (i >= x->rank)
                return hd_onnx_bad(m, n, HD_INVALID, "shape[%d] is 0, but '%s' has rank %d", i,
                                   x->name, x->rank);
            dim[i] = x->dim[i];
        }
        if (dim[i] < -1 || (dim[i] == -1 && open >= 0))
            return hd_onnx_bad(m, n, HD_INVALID, "shape[%d] is %lld, want 0 or more, or one -1", i,
                               (long long)dim[i]);
        if (dim[i] == -1)
            open = i;
        else if (__builtin_mul_overflow(known, dim[i], &known))
            return hd_onnx_bad(m, n, HD_UNSUPPORTED, "shape[%d] is %lld: too large", i,
                               (long long)dim[i]);
    }
    if (open >= 0 && (known == 0 || total % known))
        return hd_onnx_bad(m, n, HD_INVALID,
                           "cannot reshape %lld values: the other dimensions make %lld",
                           (long long)total, (long long)known);
    if (open >= 0) dim[open] = total / known;
    return reshape(m, n, rank, dim);
}

hd_status import_Flatten(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_tensor *x = hd_onnx_tensor(m, n, 0);
    int64_t axis = hd_onnx_int(n, "axis", 1), dim[2] = {1, 1};
    if (axis != x->rank) TRY(hd_onnx_axis(m, n, axis, x->rank, &axis)); /* axis = rank is allowed */
    for (int i = 0; i < x->rank; i++) dim[i >= axis] *= x->dim[i];
    return reshape(m, n, 2, dim);
}

/* Normalised axes as a bit set; *out_n = -1 when none are given. */
static hd_status axes(struct hd_importer *m, const struct hd_onnx_node *n, int rank, unsigned *out,
                      int *out_n) {
    int64_t list[HD_MAX_RANK], axis;
    TRY(hd_onnx_int_list(m, n, "axes", m->opset < 13 ? -1 : 1, list, HD_MAX_RANK, out_n));
    *out = 0;
    for (int i = 0; i < *out_n; i++) {
        TRY(hd_onnx_axis(m, n, list[i], rank, &axis));
        if (*out >> axis & 1)
            return hd_onnx_bad(m, n, HD_INVALID, "axis %lld appears twice", (long long)axis);
        *out |= 1u << axis;
    }
    return HD_OK;
}

hd_status import_Squeeze(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_tensor *x = hd_onnx_tensor(m, n, 0);
    int64_t dim[HD_MAX_RANK];
    unsigned set;
    int given, rank = 0;
    TRY(axes(m, n, x->rank, &set, &given));
    for (int i = 0; i < x->rank; i++) {
        bool drop = given < 0 ? x->dim[i] == 1 : (set >> i & 1) != 0;
        if (drop && x->dim[i] != 1)
            return hd_onnx_bad(m, n, HD_INVALID,
                               "dimension %d of '%s' is %lld, only 1 can be squeezed", i, x->name,
                               (long long)x->dim[i]);
        if (!drop) dim[rank++] = x->dim[i];
    }
    return reshape(m, n, rank, dim);
}

hd_status import_Unsqueeze(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_tensor *x = hd_onnx_tensor(m, n, 0);
    int64_t dim[HD_MAX_RANK], list[HD_MAX_RANK];
    unsigned set;
    int given, from = 0;
    TRY(hd_onnx_int_list(m, n, "axes", m->opset < 13 ? -1 : 1, list, HD_MAX_RANK, &given));
    if (given < 0) return hd_onnx_bad(m, n, HD_INVALID, "axes are missing");
    if (x->rank + given > HD_MAX_RANK)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "rank %d, at most %d", x->rank + given,
                           HD_MAX_RANK);
    TRY(axes(m, n, x->rank + given, &set, &given));
    for (int i = 0; i < x->rank + given; i++) dim[i] = set >> i & 1 ? 1 : x->dim[from++];
    return reshape(m, n, x->rank + given, dim);
}

/* ---- constants ---- */

/* The output becomes a constant. */
static void set_const(struct hd_importer *m, const struct hd_onnx_node *n, hd_dtype t, int rank,
                      const int64_t *dim, const void *data) {
    struct hd_tensor *y = &m->g->tensors[hd_tensor_by_name(m->g, n->out[0])];
    y->dtype = t;
    y->rank = rank;
    for (int i = 0; i < rank; i++) y->dim[i] = dim[i];
    y->known = true;
    y->data = data;
}

hd_status import_Shape(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_tensor *x = hd_onnx_tensor(m, n, 0);
    int64_t from = hd_onnx_int(n, "start", 0), to = hd_onnx_int(n, "end", x->rank);
    from = from < 0 ? from + x->rank : from;
    to = to < 0 ? to + x->rank : to;
    from = from < 0 ? 0 : from > x->rank ? x->rank : from;
    to = to < from ? from : to > x->rank ? x->rank : to;
    set_const(m, n, HD_I64, 1, (int64_t[]){to - from},
              hd_dup(m->g->arena, x->dim + from, (size_t)(to - from) * 8));
    return HD_OK;
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
