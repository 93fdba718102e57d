/* The worked examples of docs/numerics.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cpu_ref/golden.h"
#include "runtime/base/num.h"

static void requantise(void **state) {
    (void)state;
    assert_int_equal(hd_requant(0.5f, 0, -128, 127), 0);
    assert_int_equal(hd_requant(1.5f, 0, -128, 127), 2);
    assert_int_equal(hd_requant(2.5f, 0, -128, 127), 2);
    assert_int_equal(hd_requant(-0.5f, 0, -128, 127), 0);
    assert_int_equal(hd_requant(-1.5f, 3, -128, 127), 1);
    assert_int_equal(hd_requant(127.5f, 0, -128, 127), 127);
    assert_int_equal(hd_requant(1e30f, -128, -128, 127), 127);
    assert_int_equal(hd_requant(-1e30f, 5, 5, 127), 5);
    assert_int_equal(hd_requant(NAN, 7, 0, 255), 7);
    assert_int_equal(hd_requant(INFINITY, 0, -128, 127), 127);
    assert_int_equal(hd_requant(0.49999997f, 0, -128, 127), 0);
}

/* Rows long enough for vectors, and one scale for each of two rows: the numbers of hd_requant(). */
static void rows_of_bytes(void **state) {
    (void)state;
    enum { N = 77 };
    static const float edge[] = {NAN,   INFINITY, -INFINITY, 1e30f,       -1e30f, 0.5f, 1.5f, -0.5f,
                                 -1.5f, 127.5f,   255.5f,    0.49999997f, -0.0f,  2.5f, 3e9f};
    float x[2][N], scale[2] = {1, 0.3f};
    uint8_t zp[2] = {7, 200};
    for (int i = 0; i < N; i++) {
        x[0][i] = edge[i % 15];
        x[1][i] = (float)(i - 40) * 0.77f;
    }
    hd_graph *g;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    const char *text = "graph g {\n input x f32[2,77]\n input s f32[2]\n input z u8[2]\n"
                       " y ? = quantize(x, s, z) axis=0\n r ? = dequantize(y, s, z) axis=0\n"
                       " output y\n output r\n}";
    if (hd_graph_parse(ctx, text, "test", &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    void **data = calloc(g->n_tensors, sizeof *data);
    data[g->inputs[0]] = x;
    data[g->inputs[1]] = scale;
    data[g->inputs[2]] = zp;
    if (hd_golden_run(ctx, g, NULL, 0, data, a) != HD_OK) fail_msg("%s", hd_message(ctx));
    const uint8_t *y = data[g->outputs[0]];
    const float *r = data[g->outputs[1]];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N; i++) {
            assert_int_equal(y[k * N + i], hd_requant(x[k][i] / scale[k], zp[k], 0, 255));
            assert_true(r[k * N + i] == (float)(y[k * N + i] - zp[k]) * scale[k]);
        }
    free(data);
    hd_arena_destroy(a);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* Runs "y = node" over constants; the first value. */
static int first(const char *consts, const char *node) {
    char text[512];
    hd_graph *g;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    snprintf(text, sizeof text, "graph g {\n%s\n y ? = %s\n output y\n}", consts, node);
    if (hd_graph_parse(ctx, text, "test", &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    void **data = calloc(g->n_tensors, sizeof *data);
    if (hd_golden_run(ctx, g, NULL, 0, data, a) != HD_OK) fail_msg("%s", hd_message(ctx));
    int y = g->outputs[0], v;
    v = g->tensors[y].dtype == HD_U8 ? *(uint8_t *)data[y] : *(int8_t *)data[y];
    free(data);
    hd_arena_destroy(a);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
    return v;
}

static void examples(void **state) {
    (void)state;
    assert_int_equal(first("const x i8[1,1] = {10}\nconst w i8[1,1] = {5}\nconst b i32[1] = {1}\n"
                           "const s f32[1] = {0.0625}",
                           "qgemm(x, w, b, s) x_zp=3 y_zp=-1"),
                     1);
    assert_int_equal(
        first("const x i8[1,1] = {1}\nconst w i8[1,1] = {1}\nconst b i32[1] = {16777216}\n"
              "const s f32[1] = {0x1p-24}",
              "qgemm(x, w, b, s)"),
        1);
    assert_int_equal(
        first("const x i8[1,1] = {1}\nconst w i8[1,1] = {1}\nconst b i32[1] = {2147483647}\n"
              "const s f32[1] = {0x1p-25}",
              "qgemm(x, w, b, s)"),
        -64); /* the accumulator wraps to -2^31 */
    assert_int_equal(first("const a i8[1] = {3}\nconst b i8[1] = {2}",
                           "qadd(a, b) a_scale=0x1p-1 b_scale=0x1p-1"),
                     2);
    assert_int_equal(
        first("const x i8[1,1,2,2] = {1,2,3,4}", "qavgpool(x) kernel_shape=[2,2] scale=0x1p-2"), 2);
    assert_int_equal(first("const x i8[1,1,2,2] = {1,2,3,5}",
                           "qavgpool(x) kernel_shape=[2,2] pads=[1,0,0,0] scale=0x1p-2"),
                     2); /* 1.5: two taps count */
    assert_int_equal(
        first("const x i8[1,1,2,2] = {1,2,3,5}",
              "qavgpool(x) kernel_shape=[2,2] pads=[1,0,0,0] count_include_pad=1 scale=0x1p-2"),
        1); /* 0.75 */
    assert_int_equal(first("const x i8[1,1,2] = {4,0}\nconst r i32[1] = {0}\n"
                           "const a f32[1,2] = {1,0}\nconst c i32[1] = {0}\n"
                           "const b f32[1,2] = {0.25,0.75}",
                           "qresize(x, r, a, c, b) y_zp=5"),
                     6);
    assert_int_equal(
        first("const x i8[1,1,1,7] = {1,2,3,4,5,6,7}", "qmean(x) x_scale=0x1p+0 scale=0x1p-2"), 7);
    assert_int_equal(first("const x f32[1] = {1000}\nconst s f32[] = {1}\nconst z i8[] = {0}",
                           "quantize(x, s, z)"),
                     127);
    assert_int_equal(first("const x f32[1] = {0.75}\nconst s f32[] = {0.5}\nconst z u8[] = {0}",
                           "quantize(x, s, z)"),
                     2);
    assert_int_equal(first("const a i8[1,2] = {3,4}\nconst b i8[2,1] = {5,7}",
                           "qmatmul(a, b) a_zp=1 b_zp=-1 scale=0x1p-4 y_zp=-1"),
                     1);
    assert_int_equal(
        first("const x i8[2] = {0,-2}", "qsoftmax(x) x_scale=0x1p-1 scale=100.0 to=\"u8\""), 73);
    assert_int_equal(first("const x i8[4] = {-1,1,3,5}\nconst s f32[4] = {6,6,6,6}\n"
                           "const b f32[4] = {0,0,0,0}",
                           "qlayernorm(x, s, b) epsilon=4.0 y_zp=1"),
                     -5);
    assert_int_equal(first("const x i8[4] = {0,2,4,6}\nconst s f32[4] = {8,6,6,6}\n"
                           "const b f32[4] = {0,0,0,0}",
                           "qlayernorm(x, s, b) centred=0 x_zp=1 epsilon=7.0 y_zp=1"),
                     -1); /* squares 1, 1, 9, 25: 9 + 7, 1/4 */
    const char *over_zero = "const a i8[1] = {1}\nconst b i8[1] = {0}";
    assert_int_equal(first(over_zero, "qdiv(a, b) scale=0x1p-126 y_zp=3"), 127);
    assert_int_equal(first(over_zero, "qdiv(a, b) scale=0x1p-130 y_zp=3"), 3); /* 0 / 0 */
}

/* docs/numerics.md: what is subnormal becomes zero, with its sign; all else stays. */
static void flushed(void **state) {
    (void)state;
    static const float tiny[] = {0x1p-127F, 0x1.fffffcp-127F, 0x1p-149F, 0};
    for (int i = 0; i < 4; i++) {
        float minus = hd_flush(-tiny[i]);
        assert_true(hd_flush(tiny[i]) == 0 && !signbit(hd_flush(tiny[i])));
        assert_true(minus == 0 && signbit(minus));
    }
    static const float kept[] = {0x1p-126F, -0x1p-126F, 1, INFINITY, -INFINITY};
    for (int i = 0; i < 5; i++) assert_true(hd_flush(kept[i]) == kept[i]);
    assert_true(isnan(hd_flush(NAN)));
    assert_true(hd_flush(0x1p-126F * 0.5F + 0 * 1.0F) == 0); /* the state of an lstm */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(requantise),
                                       cmocka_unit_test(rows_of_bytes), cmocka_unit_test(examples),
                                       cmocka_unit_test(flushed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
