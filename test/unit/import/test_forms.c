/* Older and richer forms of ONNX operations: what they become in the one form that the IR has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/import/import.h"
#include "test/unit/import/build.h"

enum { F32 = 1, I64 = 7, F16 = 10, BF16 = 16, F8 = 17, U4 = 21, I4 = 22, I2 = 26 };

/* x f32[2,3,4], h f16[2], t i64[2,4], q f32[1,4,2,8], kv f32[1,2,3,8] and the constants k i64[1] =
 * {2}, c f32[3], s f16[3], b f32[2,2,4], i4[3], i2[3], f8[3] -> node -> y */
static hd_status import(hd_ctx *ctx, const struct msg *node, int64_t opset, hd_graph **g) {
    static const float c[3] = {1, 2, 3};
    struct msg graph = {.n = 0}, k = tensor_msg("k", I64, 1, (int64_t[]){1}, (int64_t[]){2}, 8);
    put_msg(&graph, 1, node);
    put_str(&graph, 2, "net");
    put_msg(&graph, 5, &k);
    k = tensor_msg("c", F32, 1, (int64_t[]){3}, c, sizeof c);
    put_msg(&graph, 5, &k);
    k = tensor_msg("s", F16, 1, (int64_t[]){3}, (uint16_t[]){0x3c00, 0x4000, 0x3800}, 6);
    put_msg(&graph, 5, &k);
    k = tensor_msg("b", F32, 3, (int64_t[]){2, 2, 4}, (float[16]){1}, 64);
    put_msg(&graph, 5, &k);
    k = tensor_msg("i4", I4, 1, (int64_t[]){3}, (uint8_t[]){0x7f, 0x08}, 2);
    put_msg(&graph, 5, &k);
    k = tensor_msg("i2", I2, 1, (int64_t[]){3}, (uint8_t[]){0x2d}, 1);
    put_msg(&graph, 5, &k);
    k = tensor_msg("f8", F8, 1, (int64_t[]){3}, (uint8_t[]){0x38, 0, 0}, 3);
    put_msg(&graph, 5, &k);
    put_value(&graph, 11, "q", F32, 4, (int64_t[]){1, 4, 2, 8});
    put_value(&graph, 11, "kv", F32, 4, (int64_t[]){1, 2, 3, 8});
    put_value(&graph, 11, "x", F32, 3, (int64_t[]){2, 3, 4});
    put_value(&graph, 11, "h", F16, 1, (int64_t[]){2});
    put_value(&graph, 11, "t", I64, 2, (int64_t[]){2, 4});
    put_value(&graph, 12, "y", 0, 0, NULL);
    struct msg m = model_msg(&graph, opset);
    hd_clear(ctx);
    return hd_import_memory(ctx, m.b, m.n, "test", g);
}

/* The printed graph holds each of the lines. */
static void becomes(const struct msg *node, int64_t opset, int n, const char *const *want) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    char *text = NULL;
    size_t bytes = 0;
    if (import(ctx, node, opset, &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    FILE *f = open_memstream(&text, &bytes);
    assert_int_equal(hd_graph_print(ctx, g, false, f), HD_OK);
    fclose(f);
    for (int i = 0; i < n; i++)
        if (!strstr(text, want[i])) fail_msg("want %s, got\n%s", want[i], text);
    free(text);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

static void refused(const struct msg *node, int64_t opset, const char *want) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    assert_int_not_equal(import(ctx, node, opset, &g), HD_OK);
    if (!strstr(hd_message(ctx), want)) fail_msg("want %s, got %s", want, hd_message(ctx));
    hd_ctx_destroy(ctx);
}

#define BECOMES(node, opset, ...)                                                                  \
    do {                                                                                           \
        const char *const lines_[] = {__VA_ARGS__};                                                \
        becomes(node, opset, (int)(sizeof lines_ / sizeof *lines_), lines_);                       \
    } while (0)

static void attributes_become_operands(void **state) {
    (void)state;
    struct msg n = node_msg("Slice", "x", NULL, NULL, "y");
    attr_ints(&n, "starts", 1, (int64_t[]){-2});
    attr_ints(&n, "ends", 1, (int64_t[]){INT64_MAX});
    attr_ints(&n, "axes", 1, (int64_t[]){2});
    BECOMES(&n, 9, "const node.starts i64[1] = {-2}",
            "y f32[2,3,2] = slice(x, node.starts, node.ends, node.axes) @node");
    n = node_msg("ReduceSum", "x", NULL, NULL, "y");
    attr_ints(&n, "axes", 2, (int64_t[]){0, -1});
    attr_int(&n, "keepdims", 0);
    BECOMES(&n, 11, "const node.axes i64[2] = {0, -1}",
            "y f32[3] = reducesum(x, node.axes) @node keepdims=0");
    n = node_msg("ReduceSum", "x", "k", NULL, "y");
    BECOMES(&n, 13, "y f32[2,3,1] = reducesum(x, k) @node");
    n = node_msg("TopK", "x", NULL, NULL, "y");
    attr_int(&n, "k", 2);
    BECOMES(&n, 9, "const node.k i64[] = {2}", "y f32[2,3,2] = topk(x, node.k) @node");
    n = node_msg("Split", "x", NULL, NULL, "y");
    put_str(&n, 2, "z");
    attr_ints(&n, "split", 2, (int64_t[]){2, 1});
    attr_int(&n, "axis", 1);
    BECOMES(&n, 11, "y f32[2,2,4], z f32[2,1,4] = split(x, node.split) @node axis=1");
    n = node_msg("Pad", "x", NULL, NULL, "y");
    attr_ints(&n, "pads", 6, (int64_t[]){0, 0, 1, 0, 0, 1});
    attr_str(&n, "mode", "edge");
    BECOMES(&n, 10, "y f32[2,3,6] = pad(x, node.pads) @node mode=\"edge\"");
}

static void one_form(void **state) {
    (void)state;
    struct msg n = node_msg("Sum", "x", "x", "x", "y");
    BECOMES(&n, 13, "node.part f32[2,3,4] = add(x, x)", "y f32[2,3,4] = add(node.part, x) @node");
    n = node_msg("Max", "x", NULL, NULL, "y");
    BECOMES(&n, 13, "y f32[2,3,4] = identity(x) @node");
    n = node_msg("Mean", "h", "h", NULL, "y"); /* f16 is summed in f32 and rounded once */
    BECOMES(&n, 13, "const node.count f32[] = {0x1p+1}", "= add(node.wide, ", "= div(node.part, ",
            "y f16[2] = cast(node.mean) @node to=\"f16\"");
    n = node_msg("Softmax", "x", NULL, NULL, "y");
    BECOMES(&n, 13, "y f32[2,3,4] = softmax(x) @node axis=2");
    BECOMES(&n, 11, "node.flat f32[2,12] = reshape(x) shape=[2,12]",
            "node.soft f32[2,12] = softmax(node.flat) axis=1",
            "y f32[2,3,4] = reshape(node.soft) @node shape=[2,3,4]");
    n = node_msg("SoftmaxCrossEntropyLoss", "x", "t", "c", "y");
    attr_str(&n, "reduction", "none");
    BECOMES(&n, 13, "node.log_prob f32[2,3,4] = logsoftmax(x) axis=1",
            "y f32[2,4] = nllloss(node.log_prob, t, c) @node reduction=\"none\"");
    n = node_msg("Dropout", "x", NULL, NULL, "y");
    BECOMES(&n, 13, "y f32[2,3,4] = identity(x) @node");
    n = node_msg("Scatter", "t", "t", "t", "y");
    BECOMES(&n, 9, "y i64[2,4] = scatterelements(t, t, t) @node");
    n = node_msg("OneHot", "t", "c", "c", "y");
    refused(&n, 11, "want [2]");
    n = node_msg("Concat", "x", "x", NULL, "y");
    refused(&n, 13, "axis is missing");
    n = node_msg("EyeLike", "t", NULL, NULL, "y");
    attr_int(&n, "dtype", 8);
    refused(&n, 9, "dtype is ONNX data type 8");
}

/* Types that quantize and dequantize of the IR lack: by the operations that it has. */
static void quantisation(void **state) {
    (void)state;
    struct msg n = node_msg("DequantizeLinear", "i4", "s", NULL, "y");
    attr_int(&n, "axis", 0);
    BECOMES(&n, 21, "const node.x i8[3] = {-1, 7, -8}",
            "const node.scale f32[3] = {0x1p+0, 0x1p+1, 0x1p-1}",
            "node.wide f32[3] = dequantize(node.x, node.scale, node.zero_point) axis=0",
            "node.typed f16[3] = cast(node.wide) to=\"f16\"");
    n = node_msg("DequantizeLinear", "i2", "c", NULL, "y");
    attr_int(&n, "axis", 0);
    BECOMES(&n, 25, "const node.x i8[3] = {1, -1, -2}", "y f32[3] = dequantize(node.x, c,");
    n = node_msg("DequantizeLinear", "f8", "c", NULL, "y");
    attr_int(&n, "axis", 0);
    BECOMES(&n, 19, "const y f32[3] = {0x1p+0, 0x0p+0, 0x0p+0}");
    n = node_msg("QuantizeLinear", "x", "b", NULL, "y"); /* blocks of 2 of 3 rows */
    attr_int(&n, "axis", 1);
    attr_int(&n, "block_size", 2);
    attr_int(&n, "output_dtype", U4);
    BECOMES(&n, 21, "const node.scale f32[2,3,4] = #", "node.steps f32[2,3,4] = div(x, node.scale)",
            "node.clipped f32[2,3,4] = clip(node.rounded, node.lo, node.hi)",
            "y u4[2,3,4] = cast(node.clipped) @node to=\"u4\"");
    n = node_msg("QuantizeLinear", "x", "b", NULL, "y");
    attr_int(&n, "axis", 1);
    attr_int(&n, "block_size", 3);
    refused(&n, 21, "do not fit axis 1 of 'x' in blocks of 3");
}

/* Attention is products and a softmax; two query heads that share keys are rows of one product. */
static void transformers(void **state) {
    (void)state;
    struct msg n = node_msg("Attention", "q", "kv", "kv", "y");
    attr_int(&n, "is_causal", 1);
    BECOMES(&n, 23, "node.scores f32[1,2,4,8] = reshape(node.scaled) shape=[1,2,4,8]",
            "node.causal f32[2,3] = ", "node.weights f32[1,4,2,3] = softmax(node.biased)",
            "y f32[1,4,2,8] = identity(");
    n = node_msg("Attention", "q", "q", "kv", "y");
    refused(&n, 23, "the sizes and lengths must be equal");
    n = node_msg("Attention", "x", "x", "x", "y");
    refused(&n, 23, "q_num_heads and kv_num_heads");
    n = node_msg("RMSNormalization", "x", "c", NULL, "y");
    attr_int(&n, "axis", 1);
    refused(&n, 23, "does not broadcast");
    n = node_msg("Swish", "x", NULL, NULL, "y");
    attr_float(&n, "alpha", 2);
    BECOMES(&n, 24, "node.scaled f32[2,3,4] = mul(x, node.alpha)",
            "node.gate f32[2,3,4] = sigmoid(node.scaled)", "node.y f32[2,3,4] = mul(x, node.gate)");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(attributes_become_operands),
                                       cmocka_unit_test(one_form), cmocka_unit_test(quantisation),
                                       cmocka_unit_test(transformers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
