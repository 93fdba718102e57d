/* Shapes of elementwise operations. */
#include "compiler/ir/infer_int.h"

/* ---- elementwise ---- */

static hd_status binary(struct infer *c) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1);
    if (a->dtype != HD_F32 && a->dtype != HD_I32 && a->dtype != HD_I64)
        return BAD(c, "operand '%s' is %s, allowed f32, i32 and i64", a->name,
                   hd_dtype_name(a->dtype));
    TRY(hd_infer_want_type(c, 1, a->dtype));
    c->out->dtype = a->dtype;
    return hd_infer_broadcast(c, a->dim, a->rank, b->dim, b->rank);
}
hd_status hd_infer_add(struct infer *c) {
    return binary(c);
}
hd_status hd_infer_sub(struct infer *c) {
    return binary(c);
}
hd_status hd_infer_mul(struct infer *c) {
    return binary(c);
}
hd_status hd_infer_div(struct infer *c) {
    return binary(c);
}

static hd_status unary_f32(struct infer *c) {
    TRY(hd_infer_want_type(c, 0, HD_F32));
    hd_infer_like(c, 0, in(c, 0));
    return HD_OK;
}
hd_status hd_infer_relu(struct infer *c) {
    return unary_f32(c);
}
hd_status hd_infer_sigmoid(struct infer *c) {
    return unary_f32(c);
}
hd_status hd_infer_tanh(struct infer *c) {
    return unary_f32(c);
}

hd_status hd_infer_clip(struct infer *c) {
    for (int i = 1; i < 3; i++) {
        const struct hd_tensor *t = in(c, i);
        TRY(hd_infer_want_type(c, i, HD_F32));
        if (t && hd_tensor_elems(t) != 1)
            return BAD(c, "bound '%s' has %lld values, want 1", t->name,
                       (long long)hd_tensor_elems(t));
    }
    return unary_f32(c);
}

hd_status hd_infer_softmax(struct infer *c) {
    int64_t axis;
    TRY(hd_infer_axis(c, "axis", -1, in(c, 0)->rank, &axis));
    return unary_f32(c);
}

hd_status hd_infer_batchnorm(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    if (x->rank < 2) return BAD(c, "operand '%s' has rank %d, want at least 2", x->name, x->rank);
    for (int i = 1; i < 5; i++) {
        TRY(hd_infer_want_type(c, i, HD_F32));
        TRY(hd_infer_want_vector(c, i, x->dim[1]));
    }
    return unary_f32(c);
}
