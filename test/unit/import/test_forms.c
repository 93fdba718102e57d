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

enum { F32 = 1, I64 = 7, F16 = 10 };

/* x f32[2,3,4], h f16[2], t i64[2,4] and the constants k i64[1] = {2}, c f32[3] -> node -> y */
static hd_status import(hd_ctx *ctx, const struct msg *node, int64_t opset, hd_graph **g) {
    static const float c[3] = {1, 2, 3};
    struct msg graph = {.n = 0}, k = tensor_msg("k", I64, 1, (int64_t[]){1}, (int64_t[]){2}, 8);
    put_msg(&graph, 1, node);
    put_str(&graph, 2, "net");
    put_msg(&graph, 5, &k);
    k = tensor_msg("c", F32, 1, (int64_t[]){3}, c, sizeof c);
    put_msg(&graph, 5, &k);
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(attributes_become_operands),
                                       cmocka_unit_test(one_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
