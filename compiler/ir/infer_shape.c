/* Shapes of operations that move data or compute with shapes. */
#include <math.h>
#include <string.h>

#include "compiler/ir/infer_int.h"
#include "runtime/base/half.h"

/* ---- data movement ---- */

hd_status hd_infer_identity(struct infer *c) {
    hd_infer_like(c, 0, in(c, 0));
    return HD_OK;
}

hd_status hd_infer_cast(struct infer *c) {
    const struct hd_attr *a = hd_attr_get(c->n, "to");
    int t = a && a->kind == HD_ATTR_STRING ? hd_dtype_by_name(a->s) : -1;
    if (t < 0)
        return BAD(c, "attribute to is '%s', want the name of a type", a && a->s ? a->s : "absent");
    hd_infer_like(c, 0, in(c, 0));
    c->out->dtype = (hd_dtype)t;
    return HD_OK;
}

hd_status hd_infer_bitcast(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int t = hd_dtype_by_name(hd_attr_string(c->n, "to", ""));
    if (t < 0 || hd_dtype_bits((hd_dtype)t) != hd_dtype_bits(x->dtype))
        return BAD(c, "to is '%s', want a type of %d bits like %s of '%s'",
                   hd_attr_string(c->n, "to", ""), hd_dtype_bits(x->dtype), hd_dtype_name(x->dtype),
                   x->name);
    hd_infer_like(c, 0, x);
    c->out->dtype = (hd_dtype)t;
    return HD_OK;
}

/* Zeros and the one -1 of a wanted shape, resolved by that of operand 0. Source: ONNX Reshape-14.
 */
static hd_status resolve_shape(struct infer *c, int64_t *dim, int rank) {
    const struct hd_tensor *x = in(c, 0);
    bool zero = hd_attr_int(c->n, "allowzero", 0) != 0;
    int64_t known = 1, total = hd_tensor_elems(x);
    int open = -1;
    for (int i = 0; i < rank; i++) {
        if (dim[i] == 0 && !zero) {
            if (i >= x->rank)
                return BAD(c, "shape[%d] is 0, but '%s' has rank %d", i, x->name, x->rank);
            dim[i] = x->dim[i];
        }
        if (dim[i] < -1 || (dim[i] == -1 && open >= 0))
            return BAD(c, "shape[%d] is %lld, want 0 or more, or one -1", i, (long long)dim[i]);
        if (dim[i] == -1)
            open = i;
        else if (__builtin_mul_overflow(known, dim[i], &known))
            return BAD(c, "shape[%d] is %lld: too large", i, (long long)dim[i]);
    }
    if (open < 0) return HD_OK;
    if (known == 0 || total % known)
        return BAD(c, "cannot reshape %lld values: the other dimensions make %lld",
                   (long long)total, (long long)known);
    dim[open] = total / known;
    return HD_OK;
}

hd_status hd_infer_reshape(struct infer *c) {
    int64_t dim[HD_MAX_RANK];
    const struct hd_tensor *x = in(c, 0);
    int rank;
    if (in(c, 1)) {
        TRY(hd_infer_int_list(c, 1, dim, HD_MAX_RANK, &rank));
        if (rank < 0) return hd_infer_later(c);
        TRY(resolve_shape(c, dim, rank));
    } else {
        rank = hd_attr_ints(c->n, "shape", dim, HD_MAX_RANK, 0);
        if (rank > HD_MAX_RANK) return BAD(c, "shape has rank %d, at most %d", rank, HD_MAX_RANK);
    }
    TRY(hd_shape_check(c->ctx, c->n->name, x->dtype, rank, dim));
    hd_infer_set(c, 0, x->dtype, rank, dim);
    if (hd_tensor_elems(c->out) == hd_tensor_elems(x)) return HD_OK;
    char from[128], to[128];
    hd_infer_shape_text(x, from, sizeof from);
    hd_infer_shape_text(c->out, to, sizeof to);
    return BAD(c, "cannot reshape '%s' [%s] (%lld values) to [%s] (%lld values)", x->name, from,
               (long long)hd_tensor_elems(x), to, (long long)hd_tensor_elems(c->out));
}

/* Operand 1 as a set of axes of a tensor of this rank; *out_n = -1 when its values are not known.
 */
static hd_status axis_set(struct infer *c, int rank, unsigned *out, int *out_n) {
    int64_t list[HD_MAX_RANK], axis;
    TRY(hd_infer_int_list(c, 1, list, HD_MAX_RANK, out_n));
    *out = 0;
    for (int i = 0; i < *out_n; i++) {
        TRY(hd_infer_norm_axis(c, list[i], rank, &axis));
        if (*out >> axis & 1) return BAD(c, "axis %lld appears twice", (long long)axis);
        *out |= 1u << axis;
    }
    return HD_OK;
}

/* Source: ONNX Squeeze-13; without axes, every dimension of size 1. */
hd_status hd_infer_squeeze(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t dim[HD_MAX_RANK];
    unsigned set;
    int given, rank = 0;
    TRY(axis_set(c, x->rank, &set, &given));
    if (given < 0) return hd_infer_later(c);
    for (int i = 0; i < x->rank; i++) {
        bool drop = in(c, 1) ? (set >> i & 1) != 0 : x->dim[i] == 1;
        if (drop && x->dim[i] != 1)
            return BAD(c, "dimension %d of '%s' is %lld, only 1 can be squeezed", i, x->name,
                       (long long)x->dim[i]);
        if (!drop) dim[rank++] = x->dim[i];
    }
    hd_infer_set(c, 0, x->dtype, rank, dim);
    return HD_OK;
}

/* Source: ONNX Unsqueeze-13. */
hd_status hd_infer_unsqueeze(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *axes = in(c, 1);
    int64_t dim[HD_MAX_RANK], more = hd_tensor_elems(axes);
    unsigned set;
    int given, from = 0;
    if (more > HD_MAX_RANK - x->rank)
        return BAD(c, "rank %lld, at most %d", (long long)(x->rank + more), HD_MAX_RANK);
    TRY(axis_set(c, x->rank + (int)more, &set, &given));
    if (given < 0) return hd_infer_later(c);
    for (int i = 0; i < x->rank + given; i++) dim[i] = set >> i & 1 ? 1 : x->dim[from++];
    hd_infer_set(c, 0, x->dtype, x->rank + given, dim);
    return HD_OK;
}

/* Source: ONNX Flatten-13; axis = rank is allowed. */
hd_status hd_infer_flatten(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t axis = hd_attr_int(c->n, "axis", 1), dim[2] = {1, 1};
    if (axis != x->rank) TRY(hd_infer_norm_axis(c, axis, x->rank, &axis));
    for (int i = 0; i < x->rank; i++) dim[i >= axis] *= x->dim[i];
    hd_infer_set(c, 0, x->dtype, 2, dim);
    return HD_OK;
}

/* Operand 0 is a variable; what is assigned has its type and shape. */
hd_status hd_infer_assign(struct infer *c) {
    const struct hd_tensor *v = in(c, 0), *x = in(c, 1);
    char text[2][HD_SHAPE_TEXT];
    if (!v->initial) return BAD(c, "operand 0 ('%s') is no variable", v->name);
    bool same = v->dtype == x->dtype && v->rank == x->rank &&
                !memcmp(v->dim, x->dim, (size_t)v->rank * sizeof *v->dim);
    if (!same)
        return BAD(c, "variable '%s' is %s, the value %s", v->name, hd_shape_text(v, text[0]),
                   hd_shape_text(x, text[1]));
    hd_infer_like(c, 0, v);
    return HD_OK;
}

/* ---- shapes as values ---- */

hd_status hd_infer_shape(struct infer *c) {
    int64_t n = 0, rank = in(c, 0)->rank;
    int64_t from = hd_attr_int(c->n, "start", 0), to = hd_attr_int(c->n, "end", rank);
    for (int64_t i = 0; i < rank; i++)
        n += i >= (from < 0 ? from + rank : from) && i < (to < 0 ? to + rank : to);
    hd_infer_set(c, 0, HD_I64, 1, &n);
    return HD_OK;
}

hd_status hd_infer_size(struct infer *c) {
    hd_infer_set(c, 0, HD_I64, 0, NULL);
    return HD_OK;
}

hd_status hd_infer_fill(struct infer *c) {
    int64_t dim[HD_MAX_RANK];
    int rank;
    if (hd_tensor_elems(in(c, 1)) != 1)
        return BAD(c, "value '%s' has %lld elements, want 1", in(c, 1)->name,
                   (long long)hd_tensor_elems(in(c, 1)));
    TRY(hd_infer_int_list(c, 0, dim, HD_MAX_RANK, &rank));
    if (rank < 0) return hd_infer_later(c);
    hd_infer_set(c, 0, in(c, 1)->dtype, rank, dim);
    return HD_OK;
}

static double scalar(hd_dtype t, const void *p) {
    switch (t) {
    case HD_F32:
        return (double)*(const float *)p;
    case HD_F64:
        return *(const double *)p;
    case HD_F16:
        return (double)hd_f16_to_f32(*(const uint16_t *)p);
    case HD_BF16:
        return (double)hd_bf16_to_f32(*(const uint16_t *)p);
    case HD_I16:
        return *(const int16_t *)p;
    case HD_I32:
        return *(const int32_t *)p;
    default:
        return (double)*(const int64_t *)p;
    }
}

/* Source: ONNX Range-11: max(ceil((limit - start) / delta), 0) values. */
hd_status hd_infer_range(struct infer *c) {
    const struct hd_tensor *s = in(c, 0);
    double v[3];
    for (int i = 0; i < 3; i++) {
        TRY(hd_infer_want_types(c, i, HD_T_FLOAT | 1u << HD_I16 | 1u << HD_I32 | 1u << HD_I64));
        TRY(hd_infer_want_type(c, i, s->dtype));
        if (hd_tensor_elems(in(c, i)) != 1)
            return BAD(c, "operand '%s' has %lld values, want 1", in(c, i)->name,
                       (long long)hd_tensor_elems(in(c, i)));
        if (!hd_infer_value(c, i)) return hd_infer_later(c);
        v[i] = scalar(s->dtype, hd_infer_value(c, i));
    }
    double n = ceil((v[1] - v[0]) / v[2]);
    if (v[2] == 0 || !(n <= (double)HD_MAX_TENSOR_BYTES))
        return BAD(c, "from %g to %g by %g is no range of a size that fits", v[0], v[1], v[2]);
    int64_t count = n > 0 ? (int64_t)n : 0;
    hd_infer_set(c, 0, s->dtype, 1, &count);
    return HD_OK;
}
