/* Shapes of quantisation and of the elementwise q operations. */
#include <string.h>

#include "compiler/ir/infer_int.h"

/* ---- quantisation ---- */

/* scale and zero point: one value, or one per index of the axis. */
static hd_status qparams(struct infer *c, hd_dtype zp_type) {
    const struct hd_tensor *x = in(c, 0), *s = in(c, 1), *z = in(c, 2);
    TRY(hd_infer_want_type(c, 1, HD_F32));
    TRY(hd_infer_want_type(c, 2, zp_type));
    int64_t n = hd_tensor_elems(s);
    if (hd_tensor_elems(z) != n)
        return BAD(c, "%lld scales and %lld zero points, want equal", (long long)n,
                   (long long)hd_tensor_elems(z));
    if (n == 1 && s->rank <= 1) return HD_OK;
    int64_t axis = hd_attr_int(c->n, "axis", 1);
    if (s->rank != 1 || axis < 0 || axis >= x->rank || x->dim[axis] != n)
        return BAD(c, "%lld scales do not fit axis %lld of '%s'", (long long)n, (long long)axis,
                   x->name);
    return HD_OK;
}

hd_status hd_infer_quantize(struct infer *c) {
    const struct hd_tensor *z = in(c, 2);
    TRY(hd_infer_want_types(c, 0, HD_T_FLOAT | 1u << HD_I32));
    if (z->dtype != HD_I8 && z->dtype != HD_U8 && z->dtype != HD_I16 && z->dtype != HD_U16)
        return BAD(c, "zero point '%s' is %s, allowed i8, u8, i16 and u16", z->name,
                   hd_dtype_name(z->dtype));
    TRY(qparams(c, z->dtype));
    hd_infer_like(c, 0, in(c, 0));
    c->out->dtype = z->dtype;
    return HD_OK;
}

hd_status hd_infer_dequantize(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    if (x->dtype != HD_I8 && x->dtype != HD_U8 && x->dtype != HD_I16 && x->dtype != HD_U16 &&
        x->dtype != HD_I32)
        return BAD(c, "operand '%s' is %s, allowed i8, u8, i16, u16 and i32", x->name,
                   hd_dtype_name(x->dtype));
    TRY(qparams(c, x->dtype));
    hd_infer_like(c, 0, x);
    c->out->dtype = HD_F32;
    return HD_OK;
}

hd_status hd_infer_dynamicquantize(struct infer *c) {
    TRY(hd_infer_want_type(c, 0, HD_F32));
    hd_infer_set(c, 0, HD_U8, in(c, 0)->rank, in(c, 0)->dim);
    hd_infer_set(c, 1, HD_F32, 0, NULL);
    hd_infer_set(c, 2, HD_U8, 0, NULL);
    return HD_OK;
}

/* Two byte tensors that broadcast. */
static hd_status infer_pair(struct infer *c) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1);
    TRY(hd_infer_want_byte(c, 0));
    TRY(hd_infer_want_byte(c, 1));
    hd_infer_like(c, 0, a);
    TRY(hd_infer_q_type(c));
    return hd_infer_broadcast(c, a->dim, a->rank, b->dim, b->rank);
}

#define QPAIR(name, attributes, a_scale, b_scale, y, stream, alu, fn)                              \
    hd_status hd_infer_##name(struct infer *c) {                                                   \
        return infer_pair(c);                                                                      \
    }
#include "compiler/ir/qpair.def"

hd_status hd_infer_qrescale(struct infer *c) {
    TRY(hd_infer_want_byte(c, 0));
    hd_infer_like(c, 0, in(c, 0));
    return hd_infer_q_type(c);
}

hd_status hd_infer_qsoftmax(struct infer *c) {
    int64_t axis = 0;
    TRY(hd_infer_want_byte(c, 0));
    TRY(hd_infer_axis(c, "axis", -1, in(c, 0)->rank, &axis));
    hd_infer_like(c, 0, in(c, 0));
    return hd_infer_q_type(c);
}

hd_status hd_infer_qlayernorm(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    TRY(hd_infer_want_byte(c, 0));
    if (!x->rank) return BAD(c, "operand '%s' is a scalar", x->name);
    for (int i = 1; i < 3; i++) {
        TRY(hd_infer_want_type(c, i, HD_F32));
        TRY(hd_infer_want_vector(c, i, x->dim[x->rank - 1]));
    }
    hd_infer_like(c, 0, x);
    return hd_infer_q_type(c);
}

hd_status hd_infer_qtable(struct infer *c) {
    TRY(hd_infer_want_byte(c, 0));
    TRY(hd_infer_want_byte(c, 1));
    TRY(hd_infer_want_vector(c, 1, 256));
    hd_infer_like(c, 0, in(c, 0));
    c->out->dtype = in(c, 1)->dtype;
    return HD_OK;
}

/* Places of results and two weights for each: ascending, inside a dimension of size `in`. */
static hd_status resize_axis(struct infer *c, int i, int64_t size, int64_t *out) {
    const struct hd_tensor *at = in(c, i), *by = in(c, i + 1);
    TRY(hd_infer_want_type(c, i, HD_I32));
    TRY(hd_infer_want_type(c, i + 1, HD_F32));
    if (at->rank != 1 || by->rank != 2 || by->dim[0] != at->dim[0] || by->dim[1] != 2)
        return BAD(c, "operands %d and %d: want places [n] and weights [n,2]", i, i + 1);
    const int32_t *v = at->data;
    for (int64_t k = 0; v && k < at->dim[0]; k++)
        if (v[k] < 0 || v[k] >= size || (k && v[k] < v[k - 1]))
            return BAD(c, "'%s'[%lld] is %d, want ascending places of 0..%lld", at->name,
                       (long long)k, v[k], (long long)size - 1);
    *out = at->dim[0];
    return HD_OK;
}

hd_status hd_infer_qresize(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t dim[HD_MAX_RANK], one;
    TRY(hd_infer_want_byte(c, 0));
    if (x->rank != 3 && x->rank != 4)
        return BAD(c, "operand '%s' has rank %d, allowed 3 and 4", x->name, x->rank);
    bool flat = x->rank == 3;
    hd_infer_like(c, 0, x);
    for (int i = 0; i < x->rank; i++) dim[i] = x->dim[i];
    TRY(resize_axis(c, 1, flat ? 1 : x->dim[2], flat ? &one : &dim[2]));
    TRY(resize_axis(c, 3, x->dim[x->rank - 1], &dim[x->rank - 1]));
    if (flat && one != 1) return BAD(c, "%lld rows of one dimension", (long long)one);
    hd_infer_set(c, 0, c->out->dtype, x->rank, dim);
    return hd_infer_q_type(c);
}
