/* ONNX signal processing. */
#include "compiler/import/onnx/onnx_ops.h"

/* Attribute output_datatype becomes `to`. */
static hd_status typed(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op,
                       const char *kind) {
    int in[5], t = hd_dtype_from_onnx((int)hd_onnx_int(n, "output_datatype", 1));
    for (size_t i = 0; i < 5; i++) in[i] = hd_onnx_in(m, n, i);
    if (t < 0)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "output_datatype is %lld, allowed 1..7, 9..13 and 16..26",
                           (long long)hd_onnx_int(n, "output_datatype", 1));
    int id = hd_onnx_emit(m, n, op, (int)n->n_in, in);
    if (kind) {
        hd_attr_set_string(m->g, id, "kind", kind);
        hd_attr_set_int(m->g, id, "periodic", hd_onnx_int(n, "periodic", 1) != 0);
    }
    hd_attr_set_string(m->g, id, "to", hd_dtype_name((hd_dtype)t));
    return hd_onnx_done(m, id);
}

hd_status import_HannWindow(struct hd_importer *m, const struct hd_onnx_node *n) {
    return typed(m, n, HD_IR_window, "hann");
}
hd_status import_HammingWindow(struct hd_importer *m, const struct hd_onnx_node *n) {
    return typed(m, n, HD_IR_window, "hamming");
}
hd_status import_BlackmanWindow(struct hd_importer *m, const struct hd_onnx_node *n) {
    return typed(m, n, HD_IR_window, "blackman");
}
hd_status import_MelWeightMatrix(struct hd_importer *m, const struct hd_onnx_node *n) {
    return typed(m, n, HD_IR_melweights, NULL);
}

/* From opset 20 on the axis is an operand. */
hd_status import_DFT(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[2] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1)}, given = -1;
    int64_t axis = hd_onnx_int(n, "axis", m->opset < 20 ? 1 : -2);
    if (m->opset >= 20) TRY(hd_onnx_int_list(m, n, "axis", 2, &axis, 1, &given));
    int id = hd_onnx_emit(m, n, HD_IR_dft, 2, in);
    hd_attr_set_int(m->g, id, "axis", axis);
    hd_onnx_copy_attrs(m, n, id, (const char *const[]){"inverse", "onesided", NULL});
    return hd_onnx_done(m, id);
}
