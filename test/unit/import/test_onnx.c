/* Importing ONNX: what a model becomes, and that every damaged one is refused with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "compiler/import/import.h"
#include "compiler/import/tensor_pb.h"
#include "test/unit/import/build.h"

enum { F32 = 1, U8 = 2, I8 = 3, I32 = 6, I64 = 7 };

/* x f32[1,3,8,8] -> node -> y; constants: w f32[4,3,3,3], shape i64[2] = {0,-1}, seven f32[] = 7 */
static struct msg graph_of(const struct msg *node, int64_t batch) {
    static const float w[4 * 27], seven = 7;
    struct msg g = {.n = 0};
    struct msg c = tensor_msg("w", F32, 4, (int64_t[]){4, 3, 3, 3}, w, sizeof w);
    put_msg(&g, 1, node);
    put_str(&g, 2, "net");
    put_msg(&g, 5, &c);
    c = tensor_msg("shape", I64, 1, (int64_t[]){2}, (int64_t[]){0, -1}, 16);
    put_msg(&g, 5, &c);
    c = tensor_msg("seven", F32, 0, NULL, &seven, 4);
    put_msg(&g, 5, &c);
    put_value(&g, 11, "x", F32, 4, (int64_t[]){batch, 3, 8, 8});
    put_value(&g, 11, "w", F32, 4,
              (int64_t[]){4, 3, 3, 3}); /* older files list initializers as inputs, too */
    put_value(&g, 12, "y", F32, 0, NULL);
    return g;
}

static hd_status import_node(hd_ctx *ctx, const struct msg *node, int64_t opset, hd_graph **g) {
    struct msg graph = graph_of(node, -1), m = model_msg(&graph, opset);
    hd_clear(ctx);
    return hd_import_memory(ctx, m.b, m.n, "test", g);
}

static char *text_of(hd_ctx *ctx, const hd_graph *g) {
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(hd_graph_print(ctx, g, false, f), HD_OK);
    fclose(f);
    return text;
}

/* The printed graph holds `want`. */
static void becomes(const struct msg *node, int64_t opset, const char *want) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g;
    if (import_node(ctx, node, opset, &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    char *text = text_of(ctx, g);
    if (!strstr(text, want)) fail_msg("want %s, got\n%s", want, text);
    free(text);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

static void refused(const struct msg *node, int64_t opset, hd_status code, const char *want) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g;
    assert_int_equal(import_node(ctx, node, opset, &g), code);
    if (!strstr(hd_message(ctx), want)) fail_msg("want %s, got %s", want, hd_message(ctx));
    hd_ctx_destroy(ctx);
}

static void operations(void **state) {
    (void)state;
    struct msg n = node_msg("Conv", "x", "w", NULL, "y");
    attr_str(&n, "auto_pad", "SAME_UPPER");
    attr_ints(&n, "strides", 2, (int64_t[]){2, 2});
    becomes(&n, 13,
            "y f32[1,4,4,4] = conv(x, w) @node kernel_shape=[3,3] strides=[2,2] group=1 "
            "pads=[0,0,1,1]");
    n = node_msg("Conv", "x", "w", NULL, "y");
    attr_str(&n, "auto_pad", "SAME_LOWER");
    attr_ints(&n, "strides", 2, (int64_t[]){2, 2});
    becomes(&n, 13, "pads=[1,1,0,0]");
    n = node_msg("Reshape", "x", "shape", NULL, "y");
    becomes(&n, 13, "y f32[1,192] = reshape(x) @node shape=[1,192]");
    n = node_msg("Flatten", "x", NULL, NULL, "y");
    attr_int(&n, "axis", -2);
    becomes(&n, 13, "y f32[3,64] = reshape(x)");
    n = node_msg("Transpose", "x", NULL, NULL, "y");
    becomes(&n, 13, "transpose(x) @node perm=[3,2,1,0]");
    n = node_msg("Softmax", "x", NULL, NULL, "y");
    becomes(&n, 13, "softmax(x) @node axis=3");
    becomes(&n, 11, "node.flat f32[1,192] = reshape(x) shape=[1,192]"); /* below 13: over everything
                                                                           from axis 1 on */
    n = node_msg("GlobalAveragePool", "x", NULL, NULL, "y");
    becomes(&n, 13, "avgpool(x) @node kernel_shape=[8,8]");
    n = node_msg("Clip", "x", "", "seven", "y");
    becomes(&n, 13, "clip(x, -, seven)");
    n = node_msg("Unsqueeze", "x", NULL, NULL, "y");
    attr_ints(&n, "axes", 2, (int64_t[]){0, -1});
    becomes(&n, 11, "y f32[1,1,3,8,8,1] = reshape(x)");
}

/* What is known of a newer opset runs, and the program is told. */
static void newer_opsets_warn(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct msg n = node_msg("Relu", "x", NULL, NULL, "y");
    hd_graph *g;
    assert_int_equal(import_node(ctx, &n, 26, &g), HD_OK);
    assert_string_equal(hd_warnings(ctx), "");
    hd_graph_destroy(g);
    for (int i = 0; i < 2; i++) { /* once, however often */
        assert_int_equal(import_node(ctx, &n, 99, &g), HD_OK);
        assert_string_equal(hd_warnings(ctx), "warning: opset 99 is newer than 26: its operations "
                                              "are read as opset 26 has them\n");
        hd_graph_destroy(g);
    }
    hd_ctx_destroy(ctx);
}

static void wrong_models(void **state) {
    (void)state;
    struct msg n = node_msg("Fancy", "x", NULL, NULL, "y");
    refused(&n, 13, HD_UNSUPPORTED,
            "node 'node' (Fancy): operation Fancy of domain 'ai.onnx' (opset 13)");
    put_str(&n, 7, "com.example");
    refused(&n, 13, HD_UNSUPPORTED, "com.example");
    n = node_msg("Relu", "x", NULL, NULL, "y");
    refused(&n, 0, HD_UNSUPPORTED, "no opset of domain ai.onnx");
    n = node_msg("Relu", "nowhere", NULL, NULL, "y");
    refused(&n, 13, HD_INVALID, "input 0 ('nowhere') is no graph input");
    n = node_msg("Relu", "y", NULL, NULL, "y");
    refused(&n, 13, HD_INVALID, "cycle");
    n = node_msg("Relu", "x", NULL, NULL, "x");
    refused(&n, 13, HD_INVALID, "output 'x' is already");
    n = node_msg("Relu", "x", NULL, NULL, "z");
    refused(&n, 13, HD_INVALID, "graph output 'y' is produced by nothing");
    n = node_msg("Add", "x", "shape", NULL, "y");
    refused(&n, 13, HD_INVALID, "is i64, allowed f32");
    n = node_msg("Add", "x", NULL, NULL, "y");
    refused(&n, 13, HD_INVALID, "1 inputs, allowed 2..2");
    n = node_msg("Reshape", "x", "x", NULL, "y");
    refused(&n, 13, HD_INVALID, "operand 1 ('x') is f32, allowed i32 and i64");
    n = node_msg("MaxPool", "x", NULL, NULL, "y");
    attr_ints(&n, "kernel_shape", 2, (int64_t[]){INT64_C(1) << 40, 2});
    refused(&n, 13, HD_INVALID, "kernel_shape[0] is 1099511627776");
}

static void shapes_are_limited_before_allocation(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g;
    struct msg n = node_msg("Relu", "x", NULL, NULL, "y");
    const int64_t dims[] = {INT64_C(1) << 40, -5, INT64_MAX};
    for (int i = 0; i < 3; i++) {
        struct msg graph = graph_of(&n, dims[i]), m = model_msg(&graph, 13);
        assert_int_not_equal(hd_import_memory(ctx, m.b, m.n, "test", &g), HD_OK);
        assert_non_null(strstr(hd_message(ctx), "'x': dimension 0 is"));
    }
    struct msg t = tensor_msg("t", I8, 2, (int64_t[]){1 << 20, 1 << 20}, "", 0);
    struct hd_tensor_pb out;
    hd_arena *a = hd_arena_create();
    assert_int_equal(hd_tensor_pb_parse(ctx, NULL, t.b, t.n, false, a, &out), HD_UNSUPPORTED);
    t = tensor_msg("t", I8, 1, (int64_t[]){1000000}, "abc", 3);
    assert_int_equal(hd_tensor_pb_parse(ctx, NULL, t.b, t.n, false, a, &out), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "3 bytes of data, its shape wants 1000000"));
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

/* QLinearConv and the QDQ form of the same layer legalise to the same operation. */
static void qlinear_becomes_qconv(void **state) {
    (void)state;
    static const char *const ins[] = {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"};
    const float xs = 0.5f, ws[2] = {0.25f, 1}, ys = 2;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g;
    struct msg graph = {.n = 0}, node = {.n = 0};
    for (int i = 0; i < 9; i++) put_str(&node, 1, ins[i]);
    put_str(&node, 2, "y");
    put_str(&node, 3, "layer");
    put_str(&node, 4, "QLinearConv");
    put_msg(&graph, 1, &node);
    const struct msg consts[] = {
        tensor_msg("xs", F32, 0, NULL, &xs, 4),
        tensor_msg("xz", U8, 0, NULL, "\x80", 1),
        tensor_msg("w", I8, 4, (int64_t[]){2, 1, 1, 1}, "\x01\x02", 2),
        tensor_msg("ws", F32, 1, (int64_t[]){2}, ws, 8),
        tensor_msg("wz", I8, 0, NULL, "\x00", 1),
        tensor_msg("ys", F32, 0, NULL, &ys, 4),
        tensor_msg("yz", U8, 0, NULL, "\x03", 1),
        tensor_msg("b", I32, 1, (int64_t[]){2}, (int32_t[]){100, -100}, 8),
    };
    for (int i = 0; i < 8; i++) put_msg(&graph, 5, &consts[i]);
    put_value(&graph, 11, "x", U8, 4, (int64_t[]){1, 1, 2, 2});
    put_value(&graph, 12, "y", U8, 4, (int64_t[]){1, 2, 2, 2});
    struct msg m = model_msg(&graph, 13);
    if (hd_import_memory(ctx, m.b, m.n, "test", &g) != HD_OK || hd_legalize(ctx, g) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    char *text = text_of(ctx, g);
    assert_non_null(strstr(text, "i32[2] = {100, -100}"));
    assert_non_null(strstr(text, "f32[2] = {0x1p-4, 0x1p-2}")); /* (0.5 * ws) / 2 */
    assert_non_null(strstr(
        text, "@layer.conv to=\"u8\" y_zp=3 lo=0 hi=255 kernel_shape=[1,1] group=1 x_zp=128"));
    free(text);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* Cut short at every byte, and with single bytes changed: a status and a message, never a crash. */
static void damage(const void *data, size_t bytes, size_t step) {
    hd_ctx *ctx = hd_ctx_create();
    for (size_t cut = 0; cut < bytes; cut += step) {
        hd_graph *g;
        void *part = malloc(cut ? cut : 1);
        memcpy(part, data, cut);
        hd_clear(ctx);
        if (hd_import_memory(ctx, part, cut, "cut", &g) == HD_OK)
            hd_graph_destroy(g);
        else
            assert_true(hd_message(ctx)[0] != 0);
        free(part);
    }
    for (size_t at = 0; at < bytes; at += step)
        for (int flip = 1; flip < 256; flip <<= 1) {
            hd_graph *g;
            uint8_t *copy = malloc(bytes);
            memcpy(copy, data, bytes);
            copy[at] ^= (uint8_t)flip;
            hd_clear(ctx);
            if (hd_import_memory(ctx, copy, bytes, "flip", &g) == HD_OK) {
                if (hd_legalize(ctx, g) != HD_OK) assert_true(hd_message(ctx)[0] != 0);
                hd_graph_destroy(g);
            } else {
                assert_true(hd_message(ctx)[0] != 0);
            }
            free(copy);
        }
    hd_ctx_destroy(ctx);
}

static void damaged_models(void **state) {
    (void)state;
    struct msg n = node_msg("Conv", "x", "w", NULL, "y");
    attr_ints(&n, "pads", 4, (int64_t[]){1, 1, 1, 1});
    struct msg graph = graph_of(&n, 1), m = model_msg(&graph, 13);
    damage(m.b, m.n, 1);
}

static void tensor_files(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    const float v[3] = {1, -2, 0.5f};
    struct hd_tensor_pb t = {.name = "t",
                             .dtype = HD_F32,
                             .rank = 2,
                             .dim = {3, 1},
                             .data = v,
                             .bytes = sizeof v},
                        back;
    char path[] = "/tmp/heddle_tensor_XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(hd_tensor_pb_write(ctx, path, &t), HD_OK);
    assert_int_equal(hd_tensor_pb_read(ctx, path, a, &back), HD_OK);
    assert_string_equal(back.name, "t");
    assert_true(back.dtype == HD_F32 && back.rank == 2 && back.dim[0] == 3 && back.dim[1] == 1);
    assert_memory_equal(back.data, v, sizeof v);
    remove(path);
    /* typed fields: int8 values in int32_data, packed; and floats one by one */
    struct msg m = {.n = 0};
    put_int(&m, 1, 3);
    put_int(&m, 2, I8);
    put_bytes(&m, 5, "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02", 12);
    assert_int_equal(hd_tensor_pb_parse(ctx, "m", m.b, m.n, false, a, &back), HD_OK);
    assert_memory_equal(back.data, "\x01\xff\x02", 3);
    assert_int_equal(hd_tensor_pb_read(ctx, "/nonexistent/input_0.pb", a, &back), HD_IO);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),
        cmocka_unit_test(newer_opsets_warn),
        cmocka_unit_test(wrong_models),
        cmocka_unit_test(shapes_are_limited_before_allocation),
        cmocka_unit_test(qlinear_becomes_qconv),
        cmocka_unit_test(damaged_models),
        cmocka_unit_test(tensor_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
