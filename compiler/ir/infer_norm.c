/* Shapes of normalisation: all keep the shape of their operand. */
#include <string.h>

#include "compiler/ir/infer_int.h"

/* Operands 0 .. last are of one float type; output 0 is like operand 0. */
static hd_status float_like(struct infer *c, int last) {
    const struct hd_tensor *x = in(c, 0);
    TRY(hd_infer_want_types(c, 0, HD_T_FLOAT));
    for (int i = 1; i <= last; i++) TRY(hd_infer_want_type(c, i, x->dtype));
    hd_infer_like(c, 0, x);
    return HD_OK;
}

/* Dimension 1 is there. */
static hd_status want_channels(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    if (x->rank >= 2) return HD_OK;
    return BAD(c, "operand '%s' has rank %d, want at least 2", x->name, x->rank);
}

hd_status hd_infer_batchnorm(struct infer *c) {
    TRY(want_channels(c));
    for (int i = 1; i < 5; i++) { /* from opset 14 and 15 on they have types of their own */
        TRY(hd_infer_want_types(c, i, HD_T_FLOAT));
        TRY(hd_infer_want_vector(c, i, in(c, 0)->dim[1]));
    }
    return float_like(c, 0);
}

hd_status hd_infer_instancenorm(struct infer *c) {
    TRY(want_channels(c));
    for (int i = 1; i < 3; i++) TRY(hd_infer_want_vector(c, i, in(c, 0)->dim[1]));
    return float_like(c, 2);
}

hd_status hd_infer_groupnorm(struct infer *c) {
    TRY(want_channels(c));
    int64_t groups = hd_attr_int(c->n, "num_groups", 1), channels = in(c, 0)->dim[1];
    if (groups < 1 || channels % groups)
        return BAD(c, "num_groups %lld does not divide %lld channels", (long long)groups,
                   (long long)channels);
    bool per_channel = in(c, 1)->rank == 1 && in(c, 1)->dim[0] == channels;
    for (int i = 1; i < 3; i++) TRY(hd_infer_want_vector(c, i, per_channel ? channels : groups));
    return float_like(c, 2);
}

hd_status hd_infer_layernorm(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t axis = 0, dim[HD_MAX_RANK];
    TRY(hd_infer_axis(c, "axis", -1, x->rank, &axis));
    TRY(float_like(c, 2));
    for (int i = 1; i < 3; i++) {
        const struct hd_tensor *t = in(c, i);
        bool ok = !t || t->rank <= x->rank;
        for (int d = 0; ok && t && d < t->rank; d++)
            ok = t->dim[d] == 1 || t->dim[d] == x->dim[x->rank - t->rank + d];
        if (!ok)
            return BAD(c, "operand '%s' does not broadcast to the shape of '%s'", t->name, x->name);
    }
    for (int d = 0; d < x->rank; d++) dim[d] = d < axis ? x->dim[d] : 1;
    for (int o = 1; o < 3; o++)
        hd_infer_set(c, o, x->dtype == HD_F64 ? HD_F64 : HD_F32, x->rank, dim);
    return HD_OK;
}

hd_status hd_infer_lpnorm(struct infer *c) {
    int64_t axis = 0, p = hd_attr_int(c->n, "p", 2);
    TRY(hd_infer_axis(c, "axis", -1, in(c, 0)->rank, &axis));
    if (p != 1 && p != 2) return BAD(c, "p is %lld, allowed 1 and 2", (long long)p);
    return float_like(c, 0);
}

hd_status hd_infer_lrn(struct infer *c) {
    TRY(want_channels(c));
    if (hd_attr_int(c->n, "size", 0) < 1)
        return BAD(c, "size is %lld, want 1 or more", (long long)hd_attr_int(c->n, "size", 0));
    return float_like(c, 0);
}

hd_status hd_infer_mvn(struct infer *c) {
    int64_t axes[HD_MAX_RANK], axis = 0;
    int n = hd_attr_ints(c->n, "axes", axes, HD_MAX_RANK, 0);
    if (n > HD_MAX_RANK) return BAD(c, "%d axes, at most %d", n, HD_MAX_RANK);
    for (int i = 0; i < n; i++) TRY(hd_infer_norm_axis(c, axes[i], in(c, 0)->rank, &axis));
    return float_like(c, 0);
}
