/* ONNX resizing, sampling and regions of interest: older forms become the newest opset's. */
#include <string.h>

#include "compiler/import/onnx/build.h"
#include "runtime/base/num.h"

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

/* Place i of n along an axis from -1 to 1: the centre of a pixel, or with `corners` from end to
 * end. */
static double place(int64_t i, int64_t n, bool corners) {
    if (corners) return n > 1 ? -1 + 2 * (double)i / (double)(n - 1) : -1;
    return -1 + (2 * (double)i + 1) / (double)n;
}

/* theta [N,d,d+1] times the places of all pixels, of which x comes first, and 1.
 * Source: ONNX AffineGrid-20. */
hd_status import_AffineGrid(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct hd_onnx_build b = {m, n, HD_OK};
    struct hd_tensor theta = *hd_onnx_tensor(m, n, 0);
    bool corners = hd_onnx_int(n, "align_corners", 0) != 0;
    int64_t size[HD_MAX_RANK], pixels = 1, out[HD_MAX_RANK];
    int rank = 0;
    TRY(hd_onnx_int_list(m, n, "size", 1, size, HD_MAX_RANK, &rank));
    int sp = rank - 2;
    bool fits = (sp == 2 || sp == 3) && theta.rank == 3 && theta.dim[0] == size[0] &&
                theta.dim[1] == sp && theta.dim[2] == sp + 1;
    for (int d = 0; fits && d < sp; d++)
        fits = size[2 + d] > 0 && !__builtin_mul_overflow(pixels, size[2 + d], &pixels);
    if (!fits || pixels > HD_MAX_TENSOR_BYTES / 16)
        return hd_onnx_bad(m, n, HD_INVALID,
                           "a size of %d values for '%s' of rank %d, want [N,C,H,W] for [N,2,3], "
                           "or [N,C,D,H,W] for [N,3,4]",
                           rank, theta.name, theta.rank);
    float *grid = hd_new_array(m->arena, float, (size_t)(pixels * (sp + 1)));
    for (int64_t p = 0; p < pixels; p++) {
        int64_t rest = p;
        for (int d = 0; d < sp; d++) { /* the last dimension first */
            int64_t length = size[rank - 1 - d];
            grid[d * pixels + p] = (float)place(rest % length, length, corners);
            rest /= length;
        }
        grid[sp * pixels + p] = 1;
    }
    int places = hd_onnx_const(m, n, "places", HD_F32, 2, (int64_t[]){sp + 1, pixels}, grid);
    int y = hd_build_two(&b, HD_IR_matmul, "moved", hd_onnx_in(m, n, 0),
                         hd_build_cast(&b, "places", places, theta.dtype));
    y = hd_build_transpose(&b, "pixels", y, 3, (int64_t[]){0, 2, 1});
    out[0] = size[0];
    for (int d = 0; d < sp; d++) out[1 + d] = size[2 + d];
    out[1 + sp] = sp;
    return hd_build_end(&b, 0, hd_build_reshape(&b, "grid", y, sp + 2, out));
}
