/* Pass volume: golden computes the same bytes before and after, and no window of three dimensions
 * is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/pass/pass.h"
#include "test/unit/pass/golden_bytes.h"

/* x of a volume, dequantised, then `nodes` from d to y, quantised. */
static const char head[] =
    "graph g {\n input x i8[%s]\n const s f32[] = {0.0625}\n"
    " const z i8[] = {%d}\n const o f32[] = {0.25}\n"
    " const up f32[5] = {1,1,1,2,1.5}\n const to i64[5] = {2,3,8,4,6}\n const axis i64[1] = {-4}\n"
    " const i1 i64[1] = {1}\n const i2 i64[1] = {2}\n const i4 i64[1] = {4}"
    "\n const far i64[1] = {-9}\n const back i64[1] = {-2}\n"
    " const sizes i64[3] = {2,1,2}\n const dims i64[4] = {3,0,-4,4}\n"
    " const lo i64[4] = {1,-1,0,0}\n const hi i64[4] = {3,9,4,5}\n"
    " const steps i64[4] = {1,1,1,2}\n"
    " const pi i8[1,4,3,1,1] = {5,-7,9,1,30,-2,8,-60,4,3,-3,71}\n"
    " p ? = dequantize(pi, s, z)\n",
                  tail[] =
                      " d ? = dequantize(x, s, z)\n %s\n q ? = quantize(y, o, z)\n output q\n}";

struct net {
    const char *shape;
    int zero, m, c, kd, kh, kw; /* of weights w, [m,c,kd,kh,kw] */
    const char *nodes;
};

static hd_graph *parsed(hd_ctx *ctx, const struct net *n) {
    char text[1 << 16];
    int at = snprintf(text, sizeof text, head, n->shape, n->zero),
        count = n->m * n->c * n->kd * n->kh * n->kw;
    at += snprintf(text + at, sizeof text - (size_t)at, " const wi i8[%d,%d,%d,%d,%d] = {", n->m,
                   n->c, n->kd, n->kh, n->kw);
    for (int i = 0; i < count; i++)
        at +=
            snprintf(text + at, sizeof text - (size_t)at, "%s%d", i ? "," : "", i * 37 % 101 - 50);
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "}\n const ws f32[] = {0.015625}\n const wz i8[] = {3}\n"
                   " w ? = dequantize(wi, ws, wz)\n");
    snprintf(text + at, sizeof text - (size_t)at, tail, n->nodes);
    hd_graph *g = NULL;
    if (hd_graph_parse(ctx, text, "net", &g) != HD_OK)
        fail_msg("%s: %s", n->nodes, hd_message(ctx));
    return g;
}

static int deep_nodes(const hd_graph *g) {
    int n = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        enum hd_ir_op op = g->nodes[i].op;
        bool window = op == HD_IR_conv || op == HD_IR_convtranspose || op == HD_IR_qconvtranspose ||
                      op == HD_IR_maxpool || op == HD_IR_avgpool || op == HD_IR_concat ||
                      op == HD_IR_resize || op == HD_IR_add || op == HD_IR_reducemean ||
                      op == HD_IR_slice || op == HD_IR_split;
        n += !g->nodes[i].dead && window && g->tensors[g->nodes[i].in[0]].rank > 4;
    }
    return n;
}

static const struct net become[] = {
    {"1,3,4,5,6", 0, 4, 3, 3, 3, 3, "y ? = conv(d, w) pads=[1,1,1,1,1,1]"},
    {"1,3,4,5,6", -7, 4, 3, 3, 3, 3, "y ? = conv(d, w) pads=[1,1,1,1,1,1]"},
    {"2,3,5,5,6", 5, 4, 3, 3, 1, 2, "y ? = conv(d, w) pads=[2,0,0,0,0,1] strides=[2,1,2]"},
    {"2,2,7,4,4", 5, 4, 2, 3, 2, 2, "y ? = conv(d, w) dilations=[2,1,2] pads=[0,1,1,1,0,1]"},
    {"1,4,3,4,4", 5, 6, 2, 2, 3, 1, "y ? = conv(d, w) group=2 pads=[1,1,0,0,1,0]"},
    {"1,4,3,4,4", 5, 4, 1, 3, 3, 3, "y ? = conv(d, w) group=4 pads=[1,1,1,1,1,1]"},
    {"1,32,3,2,3", 5, 32, 2, 3, 2, 1, "y ? = conv(d, w) group=16 pads=[1,0,0,1,1,0]"},
    /* Of images that a layer makes: rows of several layers of them. */
    {"2,16,4,5,3", 5, 16, 16, 3, 3, 2,
     "a ? = conv(d, w) pads=[1,1,1,1,1,0]\n b ? = quantize(a, o, z)\n e ? = dequantize(b, o, z)\n"
     " y ? = conv(e, w) pads=[2,1,0,0,2,1] strides=[1,2,1] dilations=[2,1,2]"},
    {"1,6,4,3,4", 5, 6, 1, 2, 2, 3,
     "a ? = conv(d, w) group=6 pads=[1,1,1,1,1,1]\n b ? = quantize(a, o, z)\n"
     " e ? = dequantize(b, o, z)\n y ? = conv(e, w) group=6 strides=[2,1,1] pads=[0,1,0,1,0,0]"},
    {"1,4,3,4,4", 5, 4, 4, 1, 3, 3, "y ? = conv(d, w) strides=[2,1,1]"},
    {"1,4,3,4,4", 5, 4, 6, 2, 2, 2,
     "y ? = convtranspose(d, w) kernel_shape=[2,2,2] strides=[2,2,2]"},
    /* Beside a constant. */
    {"1,4,3,4,4", 5, 4, 4, 1, 3, 3,
     "a ? = conv(d, w) pads=[0,1,1,0,1,1]\n b ? = quantize(a, o, z)\n"
     " e ? = dequantize(b, o, z)\n y ? = add(e, p)"},
    {"2,4,3,4,4", 5, 4, 4, 1, 3, 3,
     "a ? = conv(d, w) pads=[0,1,1,0,1,1]\n b ? = quantize(a, o, z)\n"
     " e ? = dequantize(b, o, z)\n m ? = reducemean(e, axis)\n y ? = add(e, m)"},
    /* Parts of it, beside each other. */
    {"2,4,5,4,4", 5, 4, 4, 1, 3, 3,
     "a ? = conv(d, w) pads=[0,1,1,0,1,1]\n f ? = slice(a, i1, i4, i2)\n"
     " h ?, j ?, k ? = split(a, sizes) axis=2\n l ? = slice(a, i4, far, i2, back)\n"
     " y ? = concat(j, f, l, h) axis=-3"},
    {"2,4,3,4,5", 5, 4, 4, 1, 3, 3,
     "a ? = conv(d, w) pads=[0,1,1,0,1,1]\n f ? = slice(a, lo, hi, dims, steps)\n"
     " h ?, j ? = split(f) axis=1\n k ? = concat(j, h) axis=4\n y ? = concat(k, k) axis=0"},
    /* A decoder and what is beside it; in front of another convolution. */
    {"2,4,3,4,4", 5, 4, 4, 1, 3, 3,
     "a ? = conv(d, w) pads=[0,1,1,0,1,1]\n b ? = quantize(a, o, z)\n"
     " e ? = dequantize(b, o, z)\n f ? = concat(e, d) axis=1\n y ? = relu(f)"},
    {"2,4,2,3,3", -3, 4, 2, 3, 3, 2,
     "y ? = convtranspose(d, w) kernel_shape=[3,3,2] strides=[3,2,1] pads=[0,1,0,0,0,1] group=2"
     " output_padding=[0,1,0]"},
    /* Windows that overlap along the depth, and are cut off at its ends. */
    {"2,4,3,4,4", 5, 4, 3, 4, 4, 4,
     "y ? = convtranspose(d, w) kernel_shape=[4,4,4] strides=[2,2,2] pads=[1,1,1,1,1,1]"},
    {"1,4,3,3,4", 5, 4, 2, 3, 3, 3,
     "y ? = convtranspose(d, w) kernel_shape=[3,3,3] strides=[2,2,2] pads=[1,1,1,1,1,1] group=2"
     " output_padding=[1,1,1]"},
    {"2,4,4,3,3", -3, 4, 2, 5, 2, 2,
     "y ? = convtranspose(d, w) kernel_shape=[5,2,2] strides=[3,1,1] pads=[2,0,0,1,0,1] "
     "group=2"},
    {"2,4,4,3,3", -3, 4, 2, 3, 2, 2,
     "y ? = convtranspose(d, w) kernel_shape=[3,2,2] dilations=[2,1,1] pads=[0,0,0,1,0,0]"},
    /* Along the depth alone: rows of one image. */
    {"2,4,7,3,5", 5, 6, 2, 3, 1, 1,
     "y ? = conv(d, w) group=2 strides=[2,1,1] dilations=[2,1,1] pads=[1,0,0,2,0,0]"},
    {"1,4,5,3,5", -9, 6, 4, 3, 1, 1, "a ? = conv(d, w) pads=[1,0,0,1,0,0]\n y ? = relu(a)"},
    {"2,3,6,3,4", 5, 1, 1, 1, 1, 1,
     "y ? = maxpool(d) kernel_shape=[3,1,1] strides=[2,1,1] dilations=[2,1,1] pads=[1,0,0,2,0,0]"},
    {"2,3,6,3,4", 5, 1, 1, 1, 1, 1,
     "y ? = avgpool(d) kernel_shape=[3,1,1] strides=[2,1,1] pads=[1,0,0,0,0,0]"},
    {"2,3,5,6,6", 5, 1, 1, 1, 1, 1,
     "y ? = maxpool(d) kernel_shape=[2,2,3] strides=[2,1,2] pads=[1,0,1,0,1,1]"},
    {"2,3,5,6,6", 5, 1, 1, 1, 1, 1,
     "y ? = maxpool(d) kernel_shape=[2,2,1] strides=[1,2,2] dilations=[2,1,1]"},
    {"2,3,5,6,6", 5, 1, 1, 1, 1, 1, "y ? = avgpool(d) kernel_shape=[5,6,6]"},
    {"2,3,5,6,6", 5, 1, 1, 1, 1, 1,
     "y ? = avgpool(d) kernel_shape=[1,3,2] strides=[1,2,1] pads=[0,1,0,0,1,1]"},
    {"2,3,5,6,6", 5, 1, 1, 1, 1, 1, "y ? = avgpool(d) kernel_shape=[5,1,1] count_include_pad=1"},
    /* Each image by scales, the depth by a size. */
    {"2,3,5,4,6", 5, 1, 1, 1, 1, 1, "y ? = resize(d, -, up) mode=\"linear\""},
    {"2,3,5,4,6", 5, 1, 1, 1, 1, 1,
     "y ? = resize(d, -, -, to) mode=\"linear\" "
     "coordinate_transformation_mode=\"align_corners\""},
    {"1,4,3,4,4", 5, 4, 4, 1, 3, 3,
     "a ? = conv(d, w) pads=[0,1,1,0,1,1]\n b ? = quantize(a, o, z)\n"
     " e ? = dequantize(b, o, z)\n f ? = relu(e)\n h ? = add(f, e)\n"
     " m ? = avgpool(h) kernel_shape=[3,4,4]\n y ? = mul(h, m)"},
};

static void same_values(void **state) {
    (void)state;
    int8_t want[4096], got[4096];
    for (size_t i = 0; i < sizeof become / sizeof *become; i++) {
        hd_ctx *ctx = hd_ctx_create();
        hd_graph *g = parsed(ctx, &become[i]);
        size_t n = golden_bytes(ctx, g, want, sizeof want);
        if (hd_pass_run(ctx, g, "volume") != HD_OK)
            fail_msg("%s: %s", become[i].nodes, hd_message(ctx));
        assert_int_equal(golden_bytes(ctx, g, got, sizeof got), n);
        if (memcmp(want, got, n) || deep_nodes(g)) fail_msg("net %zu: %s", i, become[i].nodes);
        hd_graph_destroy(g);
        hd_ctx_destroy(ctx);
    }
}

/* Float ones stay: their sums would be in another order. */
static void float_stays(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct net n = {"1,3,4,5,6", 0, 4, 3, 3, 3, 3, "e ? = sqrt(d)\n y ? = conv(e, w)"};
    hd_graph *g = parsed(ctx, &n);
    if (hd_pass_run(ctx, g, "volume") != HD_OK) fail_msg("%s", hd_message(ctx));
    assert_int_equal(deep_nodes(g), 1);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* A pool over a part of the volume, and transposed windows between which there are gaps, stay three
 * dimensional, between integers, too. */
static void part_stays(void **state) {
    (void)state;
    static const struct net nets[] = {
        {"1,3,4,5,6", 0, 4, 3, 3, 3, 3, "y ? = avgpool(d) kernel_shape=[2,5,6]"},
        {"1,4,3,4,4", 0, 4, 2, 1, 2, 2,
         "y ? = convtranspose(d, w) kernel_shape=[1,2,2] strides=[2,2,2]"},
    };
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        hd_ctx *ctx = hd_ctx_create();
        hd_graph *g = parsed(ctx, &nets[i]);
        if (hd_pass_run(ctx, g, "volume") != HD_OK || hd_pass_run(ctx, g, "qdq") != HD_OK)
            fail_msg("%s", hd_message(ctx));
        assert_int_equal(deep_nodes(g), 1);
        hd_graph_destroy(g);
        hd_ctx_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_values), cmocka_unit_test(float_stays),
                                       cmocka_unit_test(part_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
