/* Types and shapes of reductions, of operations along one axis, and of sorting. */
#include <string.h>

#include "compiler/ir/infer_int.h"
#include "compiler/ir/move.h"

/* x, axes?: dimensions that are reduced become 1, or go without keepdims. */
static hd_status reduce(struct infer *c, unsigned types) {
    const struct hd_tensor *x = in(c, 0);
    int64_t axes[HD_MAX_RANK], at = 0;
    int n = 0;
    TRY(hd_infer_want_types(c, 0, types));
    TRY(hd_infer_int_list(c, 1, axes, HD_MAX_RANK, &n));
    if (n < 0) return hd_infer_later(c);
    for (int i = 0; i < n; i++) {
        TRY(hd_infer_norm_axis(c, axes[i], x->rank, &at));
        if (hd_axes_set(x->rank, i, axes) >> at & 1)
            return BAD(c, "axis %lld appears twice", (long long)axes[i]);
    }
    unsigned set = n                                              ? hd_axes_set(x->rank, n, axes)
                   : hd_attr_int(c->n, "noop_with_empty_axes", 0) ? 0
                                                                  : ~0u;
    bool keep = hd_attr_int(c->n, "keepdims", 1) != 0;
    c->out->dtype = x->dtype;
    for (int d = 0; d < x->rank; d++)
        if (!(set >> d & 1))
            c->out->dim[c->out->rank++] = x->dim[d];
        else if (keep)
            c->out->dim[c->out->rank++] = 1;
    return HD_OK;
}

#define REDUCE(name, types)                                                                        \
    hd_status hd_infer_##name(struct infer *c) {                                                   \
        return reduce(c, types);                                                                   \
    }
REDUCE(reducesum, HD_T_NUMBER)
REDUCE(reducemean, HD_T_NUMBER)
REDUCE(reducemax, HD_T_ANY)
REDUCE(reducemin, HD_T_ANY)
REDUCE(reduceprod, HD_T_NUMBER)
REDUCE(reducel1, HD_T_NUMBER)
REDUCE(reducel2, HD_T_NUMBER)
REDUCE(reducelogsum, HD_T_NUMBER)
REDUCE(reducelogsumexp, HD_T_NUMBER)
REDUCE(reducesumsquare, HD_T_NUMBER)

static hd_status arg(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t axis = 0, dim[HD_MAX_RANK];
    int rank = 0;
    TRY(hd_infer_want_types(c, 0, HD_T_NUMBER));
    TRY(hd_infer_axis(c, "axis", 0, x->rank, &axis));
    for (int d = 0; d < x->rank; d++)
        if (d != axis)
            dim[rank++] = x->dim[d];
        else if (hd_attr_int(c->n, "keepdims", 1))
            dim[rank++] = 1;
    hd_infer_set(c, 0, HD_I64, rank, dim);
    if (x->dim[axis] || !hd_tensor_elems(c->out)) return HD_OK;
    return BAD(c, "axis %lld of '%s' is empty", (long long)axis, x->name);
}
hd_status hd_infer_argmax(struct infer *c) {
    return arg(c);
}
hd_status hd_infer_argmin(struct infer *c) {
    return arg(c);
}

/* x of numbers, and an axis of it in attribute "axis". */
static hd_status along_axis(struct infer *c, unsigned types, int64_t def) {
    int64_t axis = 0;
    TRY(hd_infer_want_types(c, 0, types));
    TRY(hd_infer_axis(c, "axis", def, in(c, 0)->rank, &axis));
    hd_infer_like(c, 0, in(c, 0));
    return HD_OK;
}
hd_status hd_infer_softmax(struct infer *c) {
    return along_axis(c, HD_T_FLOAT, -1);
}
hd_status hd_infer_logsoftmax(struct infer *c) {
    return along_axis(c, HD_T_FLOAT, -1);
}
hd_status hd_infer_hardmax(struct infer *c) {
    return along_axis(c, HD_T_FLOAT, -1);
}

static hd_status cumulate(struct infer *c) {
    int64_t axis = 0;
    int n = 0;
    TRY(hd_infer_want_types(c, 0, HD_T_NUMBER));
    TRY(hd_infer_int_list(c, 1, &axis, 1, &n));
    if (n == 0) return BAD(c, "axis '%s' is empty", in(c, 1)->name);
    if (n == 1) TRY(hd_infer_norm_axis(c, axis, in(c, 0)->rank, &axis));
    if (n < 0) return hd_infer_later(c); /* the axis must be checked before the kernel trusts it */
    hd_infer_like(c, 0, in(c, 0));
    return HD_OK;
}

hd_status hd_infer_cumsum(struct infer *c) {
    return cumulate(c);
}
hd_status hd_infer_cumprod(struct infer *c) {
    return cumulate(c);
}

hd_status hd_infer_topk(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t k = 0, axis = 0, dim[HD_MAX_RANK];
    int n = 0;
    TRY(hd_infer_want_types(c, 0, HD_T_NUMBER));
    TRY(hd_infer_axis(c, "axis", -1, x->rank, &axis));
    TRY(hd_infer_int_list(c, 1, &k, 1, &n));
    if (n < 0) return hd_infer_later(c);
    if (n != 1 || k < 0 || k > x->dim[axis])
        return BAD(c, "k ('%s') is %lld, allowed 0..%lld, the size of axis %lld", in(c, 1)->name,
                   (long long)k, (long long)x->dim[axis], (long long)axis);
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = k;
    hd_infer_set(c, 0, x->dtype, x->rank, dim);
    hd_infer_set(c, 1, HD_I64, x->rank, dim);
    return HD_OK;
}

/* Only the kernel knows how many there are. */
hd_status hd_infer_unique(struct infer *c) {
    int64_t axis = 0;
    if (hd_attr_get(c->n, "axis")) TRY(hd_infer_axis(c, "axis", 0, in(c, 0)->rank, &axis));
    return hd_infer_later(c);
}
