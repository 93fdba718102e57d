/* Shapes of every operation, and the messages of wrong ones. Written in the text form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/ir/ir.h"

struct sample {
    const char *inputs, *node; /* node: what stands behind "y ? = " */
    const char *want;          /* type of y, or a part of the message */
};

static const struct sample good[] = {
    {"x f32[1,3,8,8] input w f32[4,3,3,3]", "conv(x, w) strides=[2,2] pads=[0,0,1,1]",
     "f32[1,4,4,4]"},
    {"x f32[1,3,8] input w f32[4,3,3]", "conv(x, w) dilations=[2]", "f32[1,4,4]"},
    {"x f32[1,4,5,5] input w f32[8,1,3,3] input b f32[8]", "conv(x, w, b) group=4", "f32[1,8,3,3]"},
    {"a f32[3,2] input b f32[5,3] input c f32[1,5]", "gemm(a, b, c) transA=1 transB=1", "f32[2,5]"},
    {"a f32[4,1,2,3] input b f32[6,3,5]", "matmul(a, b)", "f32[4,6,2,5]"},
    {"a f32[3] input b f32[3,5]", "matmul(a, b)", "f32[5]"},
    {"a f32[2,1,4] input b f32[3,1]", "add(a, b)", "f32[2,3,4]"},
    {"a i64[2] input b i64[]", "mul(a, b)", "i64[2]"},
    {"x f32[2,3]", "softmax(x) axis=1", "f32[2,3]"},
    {"x f32[2,3] input s f32[3] input b f32[3] input m f32[3] input v f32[3]",
     "batchnorm(x, s, b, m, v)", "f32[2,3]"},
    {"x f32[1,2,7,7]", "maxpool(x) kernel_shape=[2,2] strides=[2,2]", "f32[1,2,3,3]"},
    {"x f32[1,2,7,7]", "maxpool(x) kernel_shape=[2,2] strides=[2,2] ceil_mode=1", "f32[1,2,4,4]"},
    {"x f32[1,1,3,3]", "maxpool(x) kernel_shape=[1,1] strides=[3,3] ceil_mode=1", "f32[1,1,1,1]"},
    {"x f32[1,2,7,5]", "avgpool(x) kernel_shape=[7,5]", "f32[1,2,1,1]"},
    {"x f32[2,6]", "reshape(x) shape=[3,4]", "f32[3,4]"},
    {"x i8[2,3,4]", "transpose(x) perm=[2,0,1]", "i8[4,2,3]"},
    {"a u8[2,3] input b u8[2,5]", "concat(a, b) axis=1", "u8[2,8]"},
#include "test/unit/ir/samples_good.def"
    {"x f32[2]", "cast(x) to=\"i32\"", "i32[2]"},
    {"x f32[2,3] input s f32[3] input z i8[3]", "quantize(x, s, z) axis=1", "i8[2,3]"},
    {"x u8[2,3] input s f32[] input z u8[]", "dequantize(x, s, z)", "f32[2,3]"},
    {"x u8[1,3,8,8] input w i8[4,3,3,3] input b i32[4] input s f32[4]",
     "qconv(x, w, b, s) to=\"i8\"", "i8[1,4,6,6]"},
    {"x u8[1,4,8,8] input w i8[6,2,3,3] input b i32[6] input s f32[1]",
     "qconvtranspose(x, w, b, s) group=2 strides=[2,3] pads=[1,0,1,2] output_padding=[1,0]",
     "u8[1,6,16,22]"},
    {"x i8[2,8] input w i8[3,8] input b i32[3] input s f32[1]", "qgemm(x, w, b, s)", "i8[2,3]"},
    {"a i8[2,2] input b u8[2,2]", "qadd(a, b) to=\"u8\"", "u8[2,2]"},
    {"a i8[2,2] input b u8[2,2]", "qmul(a, b) to=\"u8\"", "u8[2,2]"},
    {"a i8[2,2] input b u8[1,2]", "qdiv(a, b) to=\"u8\"", "u8[2,2]"},
    {"x i8[1,4,3]\n const r i32[1] = {0}\n const a f32[1,2] = {1,0}\n const c i32[2] = {0,2}\n"
     " const b f32[2,2] = {1,0,1,0}",
     "qresize(x, r, a, c, b)", "i8[1,4,2]"},
    {"x i8[1,4,4,4]", "qavgpool(x) kernel_shape=[4,4] x_zp=-128", "i8[1,4,1,1]"},
    {"x f16[1,3,9,7,5] input w f16[6,3,3,2,1]", "conv(x, w) strides=[2,1,3]", "f16[1,6,4,6,2]"},
    {"x f32[1,2,7,5] input w f32[4,2,3,3]", "conv(x, w) auto_pad=\"SAME_UPPER\" strides=[2,2]",
     "f32[1,4,4,3]"},
    {"x f64[1,2,7,5] input w f64[2,3,3,3]", "convtranspose(x, w) strides=[2,2] group=2",
     "f64[1,6,15,11]"},
    {"x f32[1,2,7,5] input w f32[2,3,3,3]",
     "convtranspose(x, w) strides=[2,2] output_padding=[1,0] pads=[1,1,0,0]", "f32[1,3,15,10]"},
    {"x f32[1,2,7,5] input w f32[2,3,3,3]",
     "convtranspose(x, w) strides=[2,2] auto_pad=\"SAME_LOWER\"", "f32[1,3,14,10]"},
    {"a i8[4,1,2,3] input b u8[5,3,7]", "matmulinteger(a, b)", "i32[4,5,2,7]"},
    {"x u8[1,2,9] input w i8[4,2,3]", "convinteger(x, w) pads=[1,1]", "i32[1,4,9]"},
    {"x f32[1,2,7,5]", "lppool(x) global=1", "f32[1,2,1,1]"},
    {"x f32[2,4,3] input w f32[2,24,3] input r f32[2,24,6]",
     "lstm(x, w, r) layout=1 direction=\"bidirectional\"", "f32[2,4,2,6]"},
    {"x f32[2,4,3] input w f32[1,18,3] input r f32[1,18,6]", "gru(x, w, r)", "f32[2,1,4,6]"},
    {"x f32[2,3,4,5,6] input g f32[2,7,8,9,3]", "gridsample(x, g)", "f32[2,3,7,8,9]"},
    {"x i8[1,4,4,4]", "qmean(x) x_zp=-128 to=\"u8\"", "u8[1,4,1,1]"},
    {"x u8[1,4,4,4]", "qmaxpool(x) kernel_shape=[2,2] strides=[2,2]", "u8[1,4,2,2]"},
    {"x u8[5] input t i8[256]", "qtable(x, t)", "i8[5]"},
    {"x u8[5]", "qrescale(x) to=\"i8\" lo=0 hi=127", "i8[5]"},
    {"x i16[5]", "qrescale(x) lo=-32768 x_zp=300", "i16[5]"},
    {"a u8[4,1,2,3] input b i8[5,3,7]", "qmatmul(a, b) to=\"i8\"", "i8[4,5,2,7]"},
    {"x i8[2,5]", "qsoftmax(x) to=\"u8\"", "u8[2,5]"},
    {"x i8[2,5] input s f32[5] input b f32[5]", "qlayernorm(x, s, b)", "i8[2,5]"},
};

static const struct sample wrong[] = {
    {"x f32[1,3,8,8] input w f32[4,2,3,3]", "conv(x, w)", "do not fit weights"},
    {"x f32[1,3,8,8] input w f32[4,3,3,3]", "conv(x, w) strides=[0,1]", "strides[0] is 0"},
    {"x f32[1,3,8,8] input w f32[4,3,3,3]", "conv(x, w) kernel_shape=[5,3]", "weights have 3"},
    {"x f32[1,3,2,8] input w f32[4,3,3,3]", "conv(x, w)", "exceeds the padded input"},
    {"x f32[1,3] input w f32[4,3]", "conv(x, w)", "rank 2"},
    {"x f32[1,3,2,2,2] input w f32[4,3,1,1,3]", "conv(x, w)", "exceeds the padded input"},
    {"x i8[1,3,8,8] input w f32[4,3,3,3]", "conv(x, w)", "is i8, allowed f32"},
    {"x f32[1,3,8] input w f64[4,3,3]", "conv(x, w)", "is f64, allowed f32"},
    {"x f32[1,3,8] input w f32[4,3,3]", "conv(x, w) auto_pad=\"SAME\"", "auto_pad 'SAME', allowed"},
    {"x f32[1,3,8] input w f32[4,2,3]", "convtranspose(x, w)", "do not fit weights [4,2,..]"},
    {"x u8[1,4,8] input w i8[6,4,3] input b i32[6] input s f32[1]",
     "qconvtranspose(x, w, b, s) group=2", "do not fit weights [6,4,..]"},
    {"x f32[1,3,2] input w f32[3,2,1]", "convtranspose(x, w) pads=[1,1]", "leave an output of 0"},
    {"a i32[2,3] input b i32[3,2]", "gemm(a, b) alpha=0x1.8p+0", "want whole numbers"},
    {"a u8[2,3] input b i8[3,2] input z u8[3]", "matmulinteger(a, b, z)", "each of the 2 rows"},
    {"x u8[1,3,8] input w u8[4,3,3] input z u8[2]", "convinteger(x, w, z)", "2 values, want 1"},
    {"x f32[1,3,8]", "lppool(x) kernel_shape=[2] p=0", "p is 0"},
    {"x f32[1,1,2] input i i64[1,1,3]", "maxunpool(x, i) kernel_shape=[2]", "different shapes"},
    {"x f32[2,6] input s f32[4]", "groupnorm(x, s, s) num_groups=4", "does not divide 6"},
    {"x f32[2,6] input s f32[3]", "layernorm(x, s)", "does not broadcast"},
    {"x f32[2,6]", "lpnorm(x) p=3", "p is 3, allowed 1 and 2"},
    {"x f32[2,6]", "lrn(x)", "size is 0"},
    {"x f32[2,6]", "mvn(x) axes=[2]", "axis 2"},
    {"x f32[5,2,3] input w f32[1,16,3] input r f32[1,16,4]", "lstm(x, w, r) hidden_size=3",
     "hidden_size 3, 'r' has 4"},
    {"x f32[5,2,3] input w f32[1,12,3] input r f32[1,16,4]", "lstm(x, w, r)",
     "'w' is [1,12,3], want [1,16,3]"},
    {"x f32[5,2,3] input w f32[1,4,3] input r f32[1,4,4]", "rnn(x, w, r) activations=\"Frob\"",
     "want 1 of Relu"},
    {"x f32[5,2,3] input w f32[1,4,3] input r f32[1,4,4]", "rnn(x, w, r) direction=\"up\"",
     "direction 'up', allowed"},
    {"x f32[1,1,4,4] input g f32[1,2,2,3]", "gridsample(x, g)", "[N,..,2]"},
    {"x f32[1,1,4,4] input g f32[1,2,2,2]", "gridsample(x, g) mode=\"bilinear\"",
     "mode 'bilinear', allowed linear,nearest,cubic"},
    {"x f32[1,1,4,4] input r f32[2,5] input b i64[2]", "roialign(x, r, b)", "5 columns, want 4"},
    {"x f32[1,1,4,4] input r f32[2,5]", "maxroipool(x, r)", "pooled_shape"},
    {"b f32[1,6,4] input s f32[1,2,5]", "nonmaxsuppression(b, s)", "want [B,N,4] and [B,C,N]"},
    {"e f32[1,6,4] input s f32[1,6,5] input a f32[5,4]", "detections(e, s, a)", "and [N,4]"},
    {"e f32[1,6,4] input s f32[1,6,5] input a f32[6,4]", "detections(e, s, a) num_classes=3",
     "want as many, or one more"},
    {"x f32[1,1,4]", "resize(x)", "either scales or sizes"},
    {"a f32[3,2] input b f32[5,3]", "gemm(a, b)", "inner sizes are 2 and 5"},
    {"a f32[2,3] input b f32[4,3]", "add(a, b)", "do not broadcast"},
    {"x f32[2,3]", "softmax(x) axis=2", "axis 2, allowed -2..1"},
    {"x f32[2,3]", "relu(x, x)", "2 inputs"},
    {"x f32[2,3]", "relu(-)", "left out"},
    {"x f32[2,6]", "reshape(x) shape=[5]", "cannot reshape"},
    {"x f32[2,6]", "reshape(x) shape=[1099511627776,12]", "limit"},
    {"x f32[2,3]", "transpose(x) perm=[0,0]", "each of 0..1 once"},
    {"x f32[2,3]", "cast(x) to=\"f8\"", "want the name of a type"},
    {"x u8[5] input t i8[255]", "qtable(x, t)", "255"},
    {"x i8[5]", "qrescale(x) lo=-129", "lo -129"},
    {"x i8[5]", "qrescale(x) x_zp=300", "x_zp is 300"},
    {"x i16[5]", "qrescale(x) x_zp=40000", "allowed -32768..32767"},
    {"x i16[5]", "qsoftmax(x)", "allowed u8 and i8"},
    {"x u16[5]", "qrescale(x) to=\"i8\"", "allowed u8, i8 and i16"},
    {"a i8[2,3] input b i8[4,7]", "qmatmul(a, b)", "inner sizes are 3 and 4"},
    {"a i8[2,3] input b i8[3,7]", "qmatmul(a, b) a_zp=-129", "a_zp is -129"},
    {"x i8[5]", "qsoftmax(x) axis=1", "axis"},
    {"x i8[1,4,3]\n const r i32[1] = {0}\n const a f32[1,2] = {1,0}\n const c i32[2] = {0,3}\n"
     " const b f32[2,2] = {1,0,1,0}",
     "qresize(x, r, a, c, b)", "want ascending places of 0..2"},
    {"x i8[2,5] input s f32[5] input b f32[2]", "qlayernorm(x, s, b)", "5"},
    {"a i8[2,2] input b i8[3]", "qadd(a, b)", "do not broadcast"},
    {"a i8[2,2] input b i8[1,3]", "qmul(a, b)", "2 against 3 in dimension 1"},
    {"x f32[1,1,4,4]", "maxpool(x) kernel_shape=[2,2] pads=[2,0,0,0]",
     "reach the size of the window"},
#include "test/unit/ir/samples_wrong.def"
};

static hd_status parse(hd_ctx *ctx, const struct sample *s, hd_graph **g) {
    char text[512];
    snprintf(text, sizeof text, "graph g { input %s\n y ? = %s\n output y }", s->inputs, s->node);
    return hd_graph_parse(ctx, text, "test", g);
}

static void shapes(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        hd_graph *g;
        char got[128];
        hd_clear(ctx);
        hd_status s = parse(ctx, &good[i], &g);
        assert_string_equal(hd_message(ctx), "");
        assert_int_equal(s, HD_OK);
        const struct hd_tensor *y = &g->tensors[g->outputs[0]];
        size_t n = (size_t)snprintf(got, sizeof got, "%s[", hd_dtype_name(y->dtype));
        for (int d = 0; d < y->rank; d++)
            n += (size_t)snprintf(got + n, sizeof got - n, "%s%d", d ? "," : "", (int)y->dim[d]);
        snprintf(got + n, sizeof got - n, "]");
        assert_string_equal(got, good[i].want);
        hd_graph_destroy(g);
    }
    hd_ctx_destroy(ctx);
}

static void messages(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        hd_graph *g;
        assert_int_not_equal(parse(ctx, &wrong[i], &g), HD_OK);
        if (!strstr(hd_message(ctx), wrong[i].want))
            fail_msg("%s: got \"%s\"", wrong[i].node, hd_message(ctx));
    }
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes), cmocka_unit_test(messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
