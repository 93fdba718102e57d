/* Graphs of int8 convolutions and pools, for tests of what the compiler makes of their shapes. */
#ifndef HD_TEST_UNIT_TILE_CONVOLUTION_H
#define HD_TEST_UNIT_TILE_CONVOLUTION_H

#include "test/unit/plan/golden_iss.h"

struct conv_shape { /* rows first */
    int64_t c, h, w, kernel[2], stride[2], pad[2];
    int64_t dilation[2]; /* 0: 1 */
    int64_t oc;          /* 0: depthwise */
    int zero;            /* > 0: weights are uint8 with that zero point, so they take 9 bits */
    int few;             /* > 0: of those only every so many-th may be more than a byte */
    int ups;             /* 1: transposed */
    bool unsaid;         /* no kernel_shape: the weights tell */
};

/* One more convolution, of tensor x; weights of all of them begin alike. */
static inline int add_convolution(hd_graph *g, int x, const struct conv_shape *s,
                                  const char *name) {
    enum { MOST_TAPS = 1 << 20, MOST_CHANNELS = 1024 };
    static int8_t w[MOST_TAPS];
    static int16_t wide[MOST_TAPS];
    static int32_t bias[MOST_CHANNELS];
    int64_t oc = s->oc ? s->oc : s->c, taps = s->kernel[0] * s->kernel[1] * (s->oc ? s->c : 1);
    int64_t one = 1, wd[4] = {oc, s->oc ? s->c : 1, s->kernel[0], s->kernel[1]},
            pads[4] = {s->pad[0], s->pad[1], s->pad[0], s->pad[1]},
            dilations[2] = {s->dilation[0] ? s->dilation[0] : 1,
                            s->dilation[1] ? s->dilation[1] : 1};
    float scale = 1.0f / (float)(16 * taps);
    assert_true(oc * taps <= MOST_TAPS && oc <= MOST_CHANNELS);
    for (int i = 0; i < oc * taps; i++) w[i] = (int8_t)(i * 37 + i / 7);
    for (int i = 0; i < oc * taps; i++) {
        int v = (uint8_t)w[i] - s->zero, byte = v < -128 ? -128 : v > 127 ? 127 : v;
        wide[i] = (int16_t)(s->few && i % s->few ? byte : v);
    }
    for (int i = 0; i < oc; i++) bias[i] = i * 11 - 300;
    int in[4] = {x}, y = hd_graph_tensor(g, name, HD_I8, 0, NULL);
    in[1] = s->zero ? hd_graph_const(g, "w", HD_I16, 4, wd, wide)
                    : hd_graph_const(g, "w", HD_I8, 4, wd, w);
    in[2] = hd_graph_const(g, "bias", HD_I32, 1, &oc, bias);
    in[3] = hd_graph_const(g, "scale", HD_F32, 1, &one, &scale);
    int node = hd_graph_node(g, s->ups ? HD_IR_qconvtranspose : HD_IR_qconv, name, 4, in, 1, &y);
    if (!s->unsaid) hd_attr_set_ints(g, node, "kernel_shape", 2, s->kernel);
    hd_attr_set_ints(g, node, "strides", 2, s->stride);
    hd_attr_set_ints(g, node, "dilations", 2, dilations);
    hd_attr_set_ints(g, node, "pads", 4, pads);
    hd_attr_set_int(g, node, "group", s->oc ? 1 : s->c);
    hd_attr_set_int(g, node, "x_zp", 5);
    return y;
}

static inline int add_pool(hd_graph *g, int x, const int64_t *kernel, const int64_t *stride,
                           int64_t pad) {
    int64_t pads[4] = {pad, pad, pad, pad};
    int y = hd_graph_tensor(g, "pool", HD_I8, 0, NULL);
    int node = hd_graph_node(g, HD_IR_qmaxpool, "pool", 1, &x, 1, &y);
    hd_attr_set_ints(g, node, "kernel_shape", 2, kernel);
    hd_attr_set_ints(g, node, "strides", 2, stride);
    hd_attr_set_ints(g, node, "pads", 4, pads);
    return y;
}

static inline int add_images(hd_graph *g, int64_t n, int64_t c, int64_t h, int64_t w) {
    int x = hd_graph_tensor(g, "x", HD_I8, 4, (int64_t[]){n, c, h, w});
    hd_graph_input(g, x);
    return x;
}

static inline int add_input(hd_graph *g, int64_t c, int64_t h, int64_t w) {
    return add_images(g, 1, c, h, w);
}

static inline hd_graph *ends_with(hd_ctx *ctx, hd_graph *g, int y) {
    hd_graph_output(g, y);
    if (hd_graph_infer(ctx, g) != HD_OK) fail_msg("%s", hd_message(ctx));
    return g;
}

static inline hd_graph *convolution(hd_ctx *ctx, const struct conv_shape *s) {
    hd_graph *g = hd_graph_create();
    return ends_with(ctx, g, add_convolution(g, add_input(g, s->c, s->h, s->w), s, "layer"));
}

#endif
