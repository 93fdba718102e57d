/* Graphs of one int8 convolution, for tests of what the compiler makes of its shape. */
#ifndef HD_TEST_UNIT_TILE_CONVOLUTION_H
#define HD_TEST_UNIT_TILE_CONVOLUTION_H

#include "test/unit/tile/golden_iss.h"

struct conv_shape { /* rows first */
    int64_t c, h, w, kernel[2], stride[2], pad[2];
    int64_t dilation[2]; /* 0: 1 */
    int64_t oc;          /* 0: depthwise */
};

static inline hd_graph *convolution(hd_ctx *ctx, const struct conv_shape *s) {
    enum { MOST_TAPS = 1 << 20, MOST_CHANNELS = 1024 };
    static int8_t w[MOST_TAPS];
    static int32_t bias[MOST_CHANNELS];
    hd_graph *g = hd_graph_create();
    int64_t oc = s->oc ? s->oc : s->c, taps = s->kernel[0] * s->kernel[1] * (s->oc ? s->c : 1);
    int64_t xd[4] = {1, s->c, s->h, s->w}, one = 1,
            wd[4] = {oc, s->oc ? s->c : 1, s->kernel[0], s->kernel[1]},
            pads[4] = {s->pad[0], s->pad[1], s->pad[0], s->pad[1]},
            dilations[2] = {s->dilation[0] ? s->dilation[0] : 1,
                            s->dilation[1] ? s->dilation[1] : 1};
    float scale = 1.0f / (float)(16 * taps);
    assert_true(oc * taps <= MOST_TAPS && oc <= MOST_CHANNELS);
    for (int i = 0; i < oc * taps; i++) w[i] = (int8_t)(i * 37 + i / 7);
    for (int i = 0; i < oc; i++) bias[i] = i * 11 - 300;
    int in[4], y = hd_graph_tensor(g, "y", HD_I8, 0, NULL);
    in[0] = hd_graph_tensor(g, "x", HD_I8, 4, xd);
    in[1] = hd_graph_const(g, "w", HD_I8, 4, wd, w);
    in[2] = hd_graph_const(g, "bias", HD_I32, 1, &oc, bias);
    in[3] = hd_graph_const(g, "scale", HD_F32, 1, &one, &scale);
    int node = hd_graph_node(g, HD_IR_qconv, "layer", 4, in, 1, &y);
    hd_attr_set_ints(g, node, "kernel_shape", 2, s->kernel);
    hd_attr_set_ints(g, node, "strides", 2, s->stride);
    hd_attr_set_ints(g, node, "dilations", 2, dilations);
    hd_attr_set_ints(g, node, "pads", 4, pads);
    hd_attr_set_int(g, node, "group", s->oc ? 1 : s->c);
    hd_attr_set_int(g, node, "x_zp", 5);
    hd_graph_input(g, in[0]);
    hd_graph_output(g, y);
    if (hd_graph_infer(ctx, g) != HD_OK) fail_msg("%s", hd_message(ctx));
    return g;
}

#endif
