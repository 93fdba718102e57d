/* Text and binary forms: graph -> text -> graph -> text and graph -> bytes -> graph are exact. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/ir/ir.h"

static char *print(hd_ctx *ctx, const hd_graph *g, bool full) {
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(hd_graph_print(ctx, g, full, f), HD_OK);
    fclose(f);
    return text;
}

/* One constant of every type, every kind of attribute, names that need quotes, a left-out input. */
static hd_graph *rich(void) {
    hd_graph *g = hd_graph_create();
    const float f[4] = {0.1f, -0.0f, -INFINITY, NAN};
    const double d[2] = {1.0 / 3.0, NAN};
    const int64_t i64[2] = {INT64_MIN, INT64_MAX};
    const uint64_t u64[1] = {UINT64_MAX};
    const unsigned char raw[40] = {1, 0, 255, 128, 7};
    int64_t two[1] = {2}, four[1] = {4}, many[1] = {40};
    int x = hd_graph_tensor(g, "input", HD_F32, 1, four),
        y = hd_graph_tensor(g, "a \"b\"\\\n\xc3\xa9", HD_F32, 0, NULL);
    int z = hd_graph_tensor(g, "onnx::Add_1", HD_F32, 0, NULL);
    int keep[HD_DTYPES + 4], n = 0;
    keep[n++] = hd_graph_const(g, "f32", HD_F32, 1, four, f);
    keep[n++] = hd_graph_const(g, "f64", HD_F64, 1, two, d);
    keep[n++] = hd_graph_const(g, "i64", HD_I64, 1, two, i64);
    keep[n++] = hd_graph_const(g, "u64", HD_U64, 0, NULL, u64);
    for (int t = 0; t < HD_DTYPES; t++) /* f16 and bool as bits */
        if (t != HD_F32 && t != HD_F64)
            keep[n++] = hd_graph_const(g, "raw", (hd_dtype)t, 1, two, raw);
    keep[n++] = hd_graph_const(g, "bytes", HD_I8, 1, many, raw);
    int clip[3] = {x, -1, hd_graph_const(g, "max", HD_F32, 0, NULL, f)};
    int id = hd_graph_node(g, HD_IR_clip, "node name", 3, clip, 1, &y);
    hd_attr_set_int(g, id, "i", -5);
    hd_attr_set_float(g, id, "f", 3.0f);
    hd_attr_set_float(g, id, "inf", -INFINITY);
    hd_attr_set_ints(g, id, "ints", 3, (int64_t[]){1, -2, INT64_MIN});
    hd_attr_set_ints(g, id, "none", 0, i64);
    hd_attr_set_floats(g, id, "floats", 4, f);
    hd_attr_set_string(g, id, "s", "say \"hi\"\n");
    hd_graph_node(g, HD_IR_add, "onnx::Add_1", 2, (int[]){y, keep[0]}, 1, &z);
    hd_graph_input(g, x);
    hd_graph_output(g, z);
    for (int i = 0; i < n; i++) hd_graph_output(g, keep[i]);
    return g;
}

static void text_round_trip_is_exact(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = rich(), *h;
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    char *a = print(ctx, g, true);
    hd_status s = hd_graph_parse(ctx, a, "rich", &h);
    assert_string_equal(hd_message(ctx), "");
    assert_int_equal(s, HD_OK);
    char *b = print(ctx, h, true);
    assert_string_equal(a, b);
    for (size_t i = 0; i < g->n_tensors; i++) {
        int id = hd_tensor_by_name(h, g->tensors[i].name);
        assert_true(id >= 0);
        if (g->tensors[i].data)
            assert_memory_equal(g->tensors[i].data, h->tensors[id].data,
                                hd_tensor_bytes(&g->tensors[i]));
    }
    free(a);
    free(b);
    hd_graph_destroy(g);
    hd_graph_destroy(h);
    hd_ctx_destroy(ctx);
}

static void binary_round_trip_is_exact(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = rich(), *h;
    void *bytes;
    size_t n;
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    assert_int_equal(hd_graph_save(ctx, g, &bytes, &n), HD_OK);
    hd_status s = hd_graph_load(ctx, bytes, n, &h);
    assert_string_equal(hd_message(ctx), "");
    assert_int_equal(s, HD_OK);
    char *a = print(ctx, g, true), *b = print(ctx, h, true);
    assert_string_equal(a, b);
    hd_graph_destroy(h);
    for (size_t cut = 0; cut < n; cut++) { /* cut short anywhere: refused, with a message */
        void *part = malloc(cut ? cut : 1);
        memcpy(part, bytes, cut);
        hd_clear(ctx);
        assert_int_not_equal(hd_graph_load(ctx, part, cut, &h), HD_OK);
        assert_true(hd_message(ctx)[0] != 0);
        free(part);
    }
    free(a);
    free(b);
    free(bytes);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

static void printed_text_is_stable(void **state) {
    (void)state;
    const char *text = "graph g {\n"
                       "  input x f32[1,2]\n"
                       "  const c f32[2] = {0x1p-1, -0x1.8p+1}\n"
                       "  sum f32[1,2] = add(x, c)\n"
                       "  y f32[1,2] = clip(sum, -, -) @act note=\"n\" k=[1,2]\n"
                       "  output y\n"
                       "}\n";
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g;
    assert_int_equal(hd_graph_parse(ctx, text, "g", &g), HD_OK);
    char *again = print(ctx, g, false);
    assert_string_equal(again, text);
    free(again);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* Several results, one left out; axes, a variable, a control dependency; graphs in attributes. */
static const char everything[] =
    "graph net specialised {\n"
    "  input x f32[N=2,C=3]\n"
    "  input c bool[]\n"
    "  const k i64[1] = {1}\n"
    "  variable v f32[N=2,C=3] = {0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0}\n"
    "  seen f32[N=2,C=3] = add(v, x)\n"
    "  set f32[N=2,C=3] = assign(v, x) after(seen)\n"
    "  -, at i64[N=2,1] = topk(seen, k) @top\n"
    "  y f32[N=2,C=3] = if(c, seen) then=graph a {\n"
    "    input x f32[2,3]\n"
    "    y f32[2,3] = relu(x)\n"
    "    output y\n"
    "  } else=graph b {\n"
    "    input x f32[2,3]\n"
    "    output x\n"
    "  }\n"
    "  w ? = nonzero(y)\n"
    "  output at\n"
    "  output y\n"
    "  output w\n"
    "}\n";

static void whole_graph_through_text_and_bytes(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g, *h;
    void *bytes;
    size_t n;
    if (hd_graph_parse(ctx, everything, "t", &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    char *a = print(ctx, g, true);
    assert_string_equal(a, everything);
    assert_int_equal(hd_graph_save(ctx, g, &bytes, &n), HD_OK);
    if (hd_graph_load(ctx, bytes, n, &h) != HD_OK) fail_msg("%s", hd_message(ctx));
    char *b = print(ctx, h, true);
    assert_string_equal(b, everything);
    hd_graph_destroy(h);
    for (size_t cut = 0; cut < n; cut++) {
        hd_clear(ctx);
        assert_int_not_equal(hd_graph_load(ctx, bytes, cut, &h), HD_OK);
        assert_true(hd_message(ctx)[0] != 0);
    }
    for (size_t at = 0; at < n; at++) { /* any byte changed: a status, never a crash */
        ((unsigned char *)bytes)[at] ^= 0x41;
        hd_clear(ctx);
        if (hd_graph_load(ctx, bytes, n, &h) == HD_OK) hd_graph_destroy(h);
        ((unsigned char *)bytes)[at] ^= 0x41;
    }
    free(a);
    free(b);
    free(bytes);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

static const char *const refused[][2] = {
    {"", "t:1: got '', want 'graph'"},
    {"graph g {\n input x q8[1]\n}", "t:2: got 'q8[1]', want the name of a type"},
    {"graph g {\n input x f32[1]\n input x f32[1]\n}", "t:3: tensor 'x' exists already"},
    {"graph g {\n y ? = noop(x)\n}", "t:2: unknown operation 'noop'"},
    {"graph g {\n const c i8[2] = {1}\n}", "t:2: got '}', want ','"},
    {"graph g {\n const c i8[40] = #12345678\n}", "print it in full"},
    {"graph g {\n const c i8[4000000] = {1}\n}", "one value per element"},
    {"graph g {\n input x f32[-1]\n}", "dimension 0 is -1"},
    {"graph g {\n input x f32[2]\n y ? = relu(z)\n output y\n}",
     "input 0 ('z') is no constant, no graph input and no node's output"},
    {"graph g {\n input x f32[2]\n y i8[2] = relu(x)\n output y\n}", "inferred f32"},
    {"graph g {\n y f32[2] = relu(y)\n output y\n}", "cycle"},
    {"graph g {\n input \"x f32[2]\n}", "'\"' at the end of the string"},
    {"graph g {\n output z\n}", "t:2: no tensor 'z'"},
    {"graph g {\n} more", "the end of the text"},
    {"graph g {\n input x f32[N=2,N=2]\n y ? = relu(x)\n output y\n}",
     "tensor 'x': axis N is in dimensions 0 and 1"},
    {"graph g {\n input x f32[N=2]\n input z f32[N=3]\n}", "t:3: axis N has another length"},
    {"graph g {\n input x f32[N=2]\n input z f32[C=2]\n y ? = add(x, z)\n output y\n}",
     "axes N and C meet in dimension 0"},
    {"graph g {\n input a f32[M=2,K=3]\n input b f32[J=3,N=4]\n y ? = matmul(a, b)\n output y\n}",
     "sums over axis K of one operand and J of the other"},
    {"graph g {\n input x f32[N=2,C=2]\n y f32[N=2,C=2] = transpose(x) perm=[1,0]\n output y\n}",
     "dimension 0 of output 'y' is axis N; inferred C"},
    {"graph g {\n input x f32[2]\n y ? = relu(x) after(z)\n output y\n}", "t:3: no node 'z'"},
    {"graph g {\n input x f32[2]\n y ? = relu(x) after(z)\n z ? = relu(y)\n output z\n}", "cycle"},
    {"graph g {\n input x f32[2]\n y ? = assign(x, x)\n output y\n}", "'x') is no variable"},
    {"graph g {\n variable v f32[2] = {1, 2}\n const x f32[1] = {1}\n y ? = assign(v, x)\n output "
     "y\n}",
     "variable 'v' is f32[2], the value f32[1]"},
};

static void wrong_text_is_refused_with_its_line(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        hd_graph *g;
        assert_int_not_equal(hd_graph_parse(ctx, refused[i][0], "t", &g), HD_OK);
        if (!strstr(hd_message(ctx), refused[i][1]))
            fail_msg("want \"%s\", got \"%s\"", refused[i][1], hd_message(ctx));
    }
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_round_trip_is_exact),
        cmocka_unit_test(binary_round_trip_is_exact),
        cmocka_unit_test(printed_text_is_stable),
        cmocka_unit_test(whole_graph_through_text_and_bytes),
        cmocka_unit_test(wrong_text_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
