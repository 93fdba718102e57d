/* The end of TensorFlow Lite's object detectors, one custom operation. */
#include "compiler/import/tflite/flexbuffer.h"
#include "compiler/import/tflite/tflite.h"

/* Operands: encodings of boxes [1,N,4..], scores [1,N,C], anchors [N,4]; bytes are dequantised.
 * Results: boxes, classes, scores, and how many there are. */
hd_status hd_tfl_detections(struct hd_tfl *m) {
    static const struct {
        const char *name;
        bool real, must;
    } option[] = {
        {"max_detections", false, true},
        {"max_classes_per_detection", false, true},
        {"num_classes", false, true},
        {"nms_score_threshold", true, true},
        {"nms_iou_threshold", true, true},
        {"y_scale", true, true},
        {"x_scale", true, true},
        {"h_scale", true, true},
        {"w_scale", true, true},
        {"use_regular_nms", false, false},
        {"detections_per_class", false, false},
    };
    const struct hd_fb_vector *v = &m->op->custom;
    int in[3], out[4];
    for (uint32_t i = 0; i < 3; i++) TRY(hd_tfl_real(m, hd_tfl_in(m, i), &in[i]));
    for (uint32_t o = 0; o < 4; o++)
        out[o] = hd_graph_tensor(m->g, hd_tfl_out(m, o) ? hd_tfl_out(m, o)->name : "unused", HD_F32,
                                 0, NULL);
    int id = hd_graph_node(m->g, HD_IR_detections, m->op->node, 3, in, 4, out);
    for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
        double x;
        if (!hd_flex_number(v->data, v->n, option[i].name, &x)) {
            if (!option[i].must) continue;
            return hd_tfl_bad(m, HD_INVALID, "its options have no number '%s'", option[i].name);
        }
        if (!option[i].real && !(x >= -0x1p31 && x < 0x1p31))
            return hd_tfl_bad(m, HD_INVALID, "%s is %g", option[i].name, x);
        if (option[i].real)
            hd_attr_set_float(m->g, id, option[i].name, (float)x);
        else
            hd_attr_set_int(m->g, id, option[i].name, (int64_t)x);
    }
    TRY(hd_tfl_done(m, id));
    for (uint32_t o = 0; o < 4; o++)
        if (hd_tfl_out(m, o)) TRY(hd_tfl_set_real(m, hd_tfl_out(m, o), out[o]));
    return HD_OK;
}
