/* ONNX resizing, sampling and regions of interest: older forms become the newest opset's. */
#include <string.h>

#include "compiler/import/onnx/onnx_ops.h"

static hd_status resize(struct hd_importer *m, const struct hd_onnx_node *n, const int *in) {
    static const char *const names[] = {"cubic_coeff_a",
                                        "exclude_outside",
                                        "extrapolation_value",
                                        "antialias",
                                        "axes",
                                        "keep_aspect_ratio_policy",
                                        NULL};
    bool old = m->opset < 11; /* Upsample, and Resize when it took its place */
    const char *mode = hd_onnx_string(n, "mode", "nearest");
    int id = hd_onnx_emit(m, n, HD_IR_resize, 4, in);
    hd_attr_set_string(m->g, id, "mode", !strcmp(mode, "bilinear") ? "linear" : mode);
    hd_attr_set_string(
        m->g, id, "coordinate_transformation_mode",
        hd_onnx_string(n, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"));
    hd_attr_set_string(m->g, id, "nearest_mode",
                       hd_onnx_string(n, "nearest_mode", old ? "floor" : "round_prefer_floor"));
    hd_onnx_copy_attrs(m, n, id, names);
    return hd_onnx_done(m, id);
}

hd_status import_Resize(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[4] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1), hd_onnx_in(m, n, 2),
                 hd_onnx_in(m, n, 3)};
    const char *mode = hd_onnx_string(n, "coordinate_transformation_mode", "");
    if (m->opset < 11) {
        in[2] = in[1];
        in[1] = -1;
    } else if (strcmp(mode, "tf_crop_and_resize")) {
        in[1] = -1; /* only that mode reads the region of interest */
    }
    for (int i = 2; i < 4; i++) /* an empty list stands for one that is left out */
        if (in[i] >= 0 && m->g->tensors[in[i]].known && hd_tensor_elems(&m->g->tensors[in[i]]) == 0)
            in[i] = -1;
    return resize(m, n, in);
}

hd_status import_Upsample(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, "scales");
    int in[4] = {hd_onnx_in(m, n, 0), -1, hd_onnx_in(m, n, 1), -1};
    if (in[2] < 0 && !(a && a->n_floats))
        return hd_onnx_bad(m, n, HD_INVALID, "scales are missing");
    if (in[2] < 0)
        in[2] =
            hd_onnx_const(m, n, "scales", HD_F32, 1, (int64_t[]){(int64_t)a->n_floats}, a->floats);
    return resize(m, n, in);
}

hd_status import_GridSample(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[2] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1)};
    int id = hd_onnx_emit(m, n, HD_IR_gridsample, 2, in);
    const char *mode = hd_onnx_string(n, "mode", "linear"); /* opset 16 speaks of two dimensions */
    mode = !strcmp(mode, "bilinear") ? "linear" : !strcmp(mode, "bicubic") ? "cubic" : mode;
    hd_onnx_copy_attrs(m, n, id, (const char *const[]){"padding_mode", "align_corners", NULL});
    hd_attr_set_string(m->g, id, "mode", mode);
    return hd_onnx_done(m, id);
}

hd_status import_RoiAlign(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[3] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1), hd_onnx_in(m, n, 2)};
    int id = hd_onnx_emit(m, n, HD_IR_roialign, 3, in);
    hd_onnx_copy_attrs(m, n, id, NULL);
    if (m->opset < 16)
        hd_attr_set_string(m->g, id, "coordinate_transformation_mode", "output_half_pixel");
    return hd_onnx_done(m, id);
}
