/* ONNX data movement whose import takes more than a row of the table. */
#include <string.h>

#include "compiler/import/onnx/onnx_ops.h"

/* Without perm the dimensions are reversed. */
hd_status import_Transpose(struct hd_importer *m, const struct hd_onnx_node *n) {
    int x = hd_onnx_in(m, n, 0), id = hd_onnx_emit(m, n, HD_IR_transpose, 1, &x);
    const struct hd_tensor *t = &m->g->tensors[x];
    int64_t perm[HD_MAX_RANK];
    for (int d = 0; t->known && d < t->rank; d++) perm[d] = t->rank - 1 - d;
    if (t->known) hd_attr_set_ints(m->g, id, "perm", t->rank, perm);
    hd_onnx_copy_attrs(m, n, id, NULL);
    return hd_onnx_done(m, id);
}

hd_status import_Concat(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, "axis");
    if (!a || !a->has_i) return hd_onnx_bad(m, n, HD_INVALID, "axis is missing");
    int *in = hd_new_array(m->arena, int, n->n_in);
    for (size_t i = 0; i < n->n_in; i++) {
        in[i] = hd_onnx_in(m, n, i);
        if (in[i] < 0) return hd_onnx_bad(m, n, HD_INVALID, "input %zu is left out", i);
    }
    int id = hd_onnx_emit(m, n, HD_IR_concat, (int)n->n_in, in);
    hd_attr_set_int(m->g, id, "axis", a->i);
    return hd_onnx_done(m, id);
}

hd_status import_Split(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[2] = {hd_onnx_in(m, n, 0), hd_onnx_ints_in(m, n, 1, "split")};
    int64_t parts = hd_onnx_int(n, "num_outputs", (int64_t)n->n_out);
    if (parts != (int64_t)n->n_out)
        return hd_onnx_bad(m, n, HD_INVALID, "num_outputs is %lld, it has %zu outputs",
                           (long long)parts, n->n_out);
    int id = hd_onnx_emit(m, n, HD_IR_split, 2, in);
    hd_attr_set_int(m->g, id, "axis", hd_onnx_int(n, "axis", 0));
    return hd_onnx_done(m, id);
}

/* Attributes below opset 10. */
hd_status import_Slice(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[5] = {hd_onnx_in(m, n, 0), hd_onnx_ints_in(m, n, 1, "starts"),
                 hd_onnx_ints_in(m, n, 2, "ends"), hd_onnx_ints_in(m, n, 3, "axes"),
                 hd_onnx_in(m, n, 4)};
    if (in[1] < 0 || in[2] < 0) return hd_onnx_bad(m, n, HD_INVALID, "starts or ends are missing");
    return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_slice, 5, in));
}

/* Attributes below opset 11; in opset 1 pads were paddings. */
hd_status import_Pad(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const char *const attrs[] = {"mode", NULL};
    int in[4] = {hd_onnx_in(m, n, 0), hd_onnx_ints_in(m, n, 1, "pads"), hd_onnx_in(m, n, 2),
                 hd_onnx_in(m, n, 3)};
    double value = (double)hd_onnx_float(n, "value", 0);
    if (in[1] < 0) in[1] = hd_onnx_ints_in(m, n, 1, "paddings");
    if (in[1] < 0) return hd_onnx_bad(m, n, HD_INVALID, "pads are missing");
    if (in[2] < 0 && value != 0) TRY(hd_onnx_const_like(m, n, "value", value, in[0], &in[2]));
    int id = hd_onnx_emit(m, n, HD_IR_pad, 4, in);
    hd_onnx_copy_attrs(m, n, id, attrs);
    return hd_onnx_done(m, id);
}

hd_status import_EyeLike(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, "dtype");
    int x = hd_onnx_in(m, n, 0), t = a ? hd_dtype_from_onnx((int)a->i) : -1;
    if (a && t < 0)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "dtype is ONNX data type %lld, allowed 1..7, 9..13 and 16..26",
                           (long long)a->i);
    int id = hd_onnx_emit(m, n, HD_IR_eyelike, 1, &x);
    hd_attr_set_int(m->g, id, "k", hd_onnx_int(n, "k", 0));
    if (a) hd_attr_set_string(m->g, id, "to", hd_dtype_name((hd_dtype)t));
    return hd_onnx_done(m, id);
}

/* The depth may have any type of number. */
hd_status import_OneHot(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const char *const attrs[] = {"axis", NULL};
    int in[3] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1), hd_onnx_in(m, n, 2)};
    const struct hd_tensor *depth = &m->g->tensors[in[1]];
    if (!depth->known || depth->dtype != HD_I64) {
        int cast = hd_onnx_emit_inner(m, n, HD_IR_cast, "depth", 1, &in[1], &in[1]);
        hd_attr_set_string(m->g, cast, "to", "i64");
        TRY(hd_onnx_done(m, cast));
    }
    int id = hd_onnx_emit(m, n, HD_IR_onehot, 3, in);
    hd_onnx_copy_attrs(m, n, id, attrs);
    return hd_onnx_done(m, id);
}
