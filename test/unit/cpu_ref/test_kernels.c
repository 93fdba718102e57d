/* Each kernel on a case small enough to compute by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_ref/golden.h"
#include "cpu_ref/kernels.h"
#include "test/unit/cpu_ref/meaning_check.h"

struct sample {
    const char *consts; /* lines of the text form; the samples of a family are in samples_*.def */
    const char *node;
    int n;
    double want[12];
};

#define TABLE_256 /* (7 i + 3) mod 100 */                                                          \
    "3,10,17,24,31,38,45,52,59,66,73,80,87,94,1,8,15,22,29,36,43,50,57,64,"                        \
    "71,78,85,92,99,6,13,20,27,34,41,48,55,62,69,76,83,90,97,4,11,18,25,32,"                       \
    "39,46,53,60,67,74,81,88,95,2,9,16,23,30,37,44,51,58,65,72,79,86,93,0,"                        \
    "7,14,21,28,35,42,49,56,63,70,77,84,91,98,5,12,19,26,33,40,47,54,61,68,"                       \
    "75,82,89,96,3,10,17,24,31,38,45,52,59,66,73,80,87,94,1,8,15,22,29,36,"                        \
    "43,50,57,64,71,78,85,92,99,6,13,20,27,34,41,48,55,62,69,76,83,90,97,4,"                       \
    "11,18,25,32,39,46,53,60,67,74,81,88,95,2,9,16,23,30,37,44,51,58,65,72,"                       \
    "79,86,93,0,7,14,21,28,35,42,49,56,63,70,77,84,91,98,5,12,19,26,33,40,"                        \
    "47,54,61,68,75,82,89,96,3,10,17,24,31,38,45,52,59,66,73,80,87,94,1,8,"                        \
    "15,22,29,36,43,50,57,64,71,78,85,92,99,6,13,20,27,34,41,48,55,62,69,76,"                      \
    "83,90,97,4,11,18,25,32,39,46,53,60,67,74,81,88"

static const struct sample samples[] = {
    /* 1 2 3 / 4 5 6 / 7 8 9 under a 2x2 window of 1 0 / 0 1, plus bias */
    {"const x f32[1,1,3,3] = {1,2,3,4,5,6,7,8,9}\nconst w f32[1,1,2,2] = {1,0,0,1}\nconst b f32[1] "
     "= {0.5}",
     "conv(x, w, b)",
     4,
     {6.5, 8.5, 12.5, 14.5}},
    {"const x f32[1,1,3,3] = {1,2,3,4,5,6,7,8,9}\nconst w f32[1,1,2,2] = {1,0,0,1}",
     "conv(x, w) pads=[1,1,0,0] strides=[2,2]",
     4,
     {1, 3, 7, 14}},
    {"const x f32[1,2,1,2] = {1,2,3,4}\nconst w f32[2,1,1,1] = {10,100}",
     "conv(x, w) group=2",
     4,
     {10, 20, 300, 400}},
    {"const x f32[1,1,5] = {1,2,3,4,5}\nconst w f32[1,1,2] = {1,1}",
     "conv(x, w) dilations=[2]",
     3,
     {4, 6, 8}},
    {"const a f32[2,2] = {1,2,3,4}\nconst b f32[2,2] = {1,0,1,1}\nconst c f32[2] = {10,20}",
     "gemm(a, b, c) alpha=0x1p+1 beta=0x1p-1",
     4,
     {11, 14, 19, 18}},
    {"const a f32[2,3] = {1,2,3,4,5,6}\nconst b f32[1,2] = {1,10}",
     "gemm(a, b) transA=1 transB=1",
     3,
     {41, 52, 63}},
    {"const a f32[2,2] = {1,2,3,4}\nconst b f32[2,2] = {1,1,0,1}",
     "gemm(a, b) transA=1 transB=1",
     4,
     {4, 3, 6, 4}},
    {"const a f32[2,1,2] = {1,2,3,4}\nconst b f32[2,1] = {1,10}", "matmul(a, b)", 2, {21, 43}},
    {"const a f32[2] = {1,2}\nconst b f32[2] = {3,4}", "matmul(a, b)", 1, {11}},
    {"const x f32[1,2,2] = {1,2,3,4}\nconst s f32[2] = {2,1}\nconst b f32[2] = {0,10}\nconst m "
     "f32[2] = {1,3}\n"
     "const v f32[2] = {4,1}",
     "batchnorm(x, s, b, m, v) epsilon=0x0p+0",
     4,
     {0, 1, 10, 11}},
    {"const x f32[1,1,2,2] = {-4,-3,-2,-1}",
     "maxpool(x) kernel_shape=[2,2] pads=[1,1,1,1]",
     9,
     {-4, -3, -3, -2, -1, -1, -2, -1, -1}},
    {"const x f32[1,1,2,2] = {1,2,3,6}",
     "avgpool(x) kernel_shape=[2,2] pads=[1,0,0,0]",
     2,
     {1.5, 3}},
    {"const x f32[1,1,2,2] = {1,2,3,6}",
     "avgpool(x) kernel_shape=[2,2] pads=[1,0,0,0] count_include_pad=1",
     2,
     {0.75, 3}},
    {"const x i8[2] = {1,-2}", "identity(x)", 2, {1, -2}},
    {"const x f32[4] = {1.75,-1.75,300,0}", "cast(x) to=\"i32\"", 4, {1, -1, 300, 0}},
    {"const x i64[2] = {-7,70000}", "cast(x) to=\"i32\"", 2, {-7, 70000}},
    {"const x f32[3] = {0,-2,0.5}", "cast(x) to=\"bool\"", 3, {0, 1, 1}},
    {"const x i8[2,3] = {1,2,3,4,5,6}", "reshape(x) shape=[6]", 6, {1, 2, 3, 4, 5, 6}},
    {"const x f32[5] = {0.5,1.5,-0.5,1000,-1000}\nconst s f32[] = {1}\nconst z i8[] = {0}",
     "quantize(x, s, z)",
     5,
     {0, 2, 0, 127, -128}},
    {"const x f32[2,2] = {1,1,2,2}\nconst s f32[2] = {1,0.5}\nconst z u8[2] = {0,10}",
     "quantize(x, s, z) axis=0",
     4,
     {1, 1, 14, 14}},
    {"const x u8[2] = {0,255}\nconst s f32[] = {0.5}\nconst z u8[] = {128}",
     "dequantize(x, s, z)",
     2,
     {-64, 63.5}},
    {"const x i8[1,1,2,2] = {1,2,3,4}\nconst w i8[1,1,3,3] = {1,1,1,1,1,1,1,1,1}\nconst b i32[1] = "
     "{1}\n"
     "const s f32[1] = {0.5}",
     "qconv(x, w, b, s) pads=[1,1,1,1] x_zp=1",
     4,
     {4, 4, 4, 4}}, /* (0+1+2+3+1)/2 = 3.5 -> 4 */
    {"const x u8[1,2,1,1] = {10,20}\nconst w i16[2,1,1,1] = {-200,200}\nconst b i32[2] = "
     "{0,0}\nconst s f32[2] = {1,1}",
     "qconv(x, w, b, s) group=2 x_zp=20 to=\"i8\"",
     2,
     {127, 0}},
    {"const x i16[1,2,1,2] = {32767,-32768,1,3}\nconst w i8[1,2,1,1] = {2,-1}\nconst b i32[1] = "
     "{9}\nconst s f32[1] = {0.25}",
     "qconv(x, w, b, s)",
     2,
     {16386, -16382}}, /* (65534 - 1 + 9)/4 = 16385.5; (-65536 - 3 + 9)/4 = -16382.5 */
    {"const x i8[1,1,1,2] = {100,-100}\nconst w i8[1,1,1,1] = {127}\nconst b i32[1] = "
     "{1}\nconst s f32[1] = {2}",
     "qconv(x, w, b, s) to=\"i16\" lo=-25000",
     2,
     {25402, -25000}},
    {"const x i16[1,2] = {300,-400}\nconst w i8[2,2] = {1,1,2,0}\nconst b i32[2] = {0,10}\nconst "
     "s f32[2] = {1,0.25}",
     "qgemm(x, w, b, s) to=\"i8\"",
     2,
     {-100, 127}},
    {"const a i16[3] = {1000,-2,32767}\nconst b u8[3] = {1,1,255}",
     "qadd(a, b) a_scale=0x1p+0 b_scale=0x1p-1 b_zp=0",
     3,
     {1000, -2, 32767}}, /* 1000.5 and -1.5: even */
    {"const x i16[1,1,2,2] = {-32768,-32768,-32768,-32767}",
     "qavgpool(x) kernel_shape=[2,2] scale=0x1p-2 y_zp=5",
     1,
     {-32763}},
    {"const x i16[3] = {-32768,255,32767}",
     "qrescale(x) scale=0x1p-8 to=\"i8\"",
     3,
     {-128, 1, 127}},
    {"const x i8[1,1,2] = {1,3}\nconst w i8[1,1,2] = {2,10}\nconst b i32[1] = {1}\nconst s f32[1] "
     "= {0.5}",
     "qconvtranspose(x, w, b, s) strides=[2] x_zp=1",
     4,
     {0, 0, 2, 10}}, /* 0.5, 0.5, 2.5, 10.5 */
    {"const x i8[1,2,1] = {1,2}\nconst w i8[4,1,1] = {1,10,20,30}\nconst b i32[4] = {0,0,0,1}\n"
     "const s f32[1] = {1}",
     "qconvtranspose(x, w, b, s) group=2",
     4,
     {1, 10, 40, 61}},
    {"const x i8[1,2] = {3,-4}\nconst w i8[2,2] = {1,1,2,0}\nconst b i32[2] = {0,10}\nconst s "
     "f32[2] = {1,0.25}",
     "qgemm(x, w, b, s) y_zp=-3 lo=-3 hi=100",
     2,
     {-3, 1}},
    {"const a i8[2,1] = {1,2}\nconst b u8[1,2] = {3,5}",
     "qmul(a, b) a_zp=0 b_zp=1",
     4,
     {2, 4, 4, 8}},
    {"const a i8[3] = {1,2,127}\nconst b u8[3] = {1,1,255}",
     "qadd(a, b) a_scale=0x1p+0 b_scale=0x1p-1 b_zp=0 y_zp=1",
     3,
     {3, 3, 127}}, /* 1.5 -> 2, 2.5 -> 2 */
    {"const a i8[3] = {1,-3,127}\nconst b u8[3] = {5,6,255}",
     "qmul(a, b) a_zp=-2 b_zp=0 scale=0x1p-1 y_zp=-1",
     3,
     {7, -4, 127}}, /* 7.5 -> 8, -3, saturated */
    {"const a i8[6] = {6,-3,5,1,2,2}\nconst b u8[6] = {8,6,4,4,0,4}",
     "qdiv(a, b) a_zp=2 b_zp=4 scale=0x1p+1 y_zp=-1",
     6,
     {1, -6, 127, -128, -1, -1}}, /* 8 / 4; -10 / 2; 6 / 0; -2 / 0; 0 / -4; 0 / 0 */
    {"const x i8[1,1,2,2] = {-128,-127,-126,-125}",
     "qavgpool(x) kernel_shape=[2,2] x_zp=-128 scale=0x1p-2 y_zp=5",
     1,
     {7}},
    {"const x i8[1,1,2,2] = {1,5,3,7}\nconst r i32[1] = {0}\nconst a f32[1,2] = {0.5,0.5}\n"
     "const c i32[2] = {0,1}\nconst b f32[2,2] = {0.5,0.5,1,0}",
     "qresize(x, r, a, c, b) x_zp=1 y_zp=1",
     2,
     {4, 6}}, /* rows 1, 5; 3, 5 */
    /* (1+5) + (2+6) + 3 + 4 + 7 over 7 elements, scale 1/4: 28/4 = 7 */
    {"const x i8[1,1,1,7] = {1,2,3,4,5,6,7}",
     "qmean(x) x_scale=0x1p+0 scale=0x1p-2 y_zp=-1",
     1,
     {6}},
    {"const x u8[1,1,1,3] = {1,200,3}",
     "qmaxpool(x) kernel_shape=[1,2] pads=[0,1,0,0]",
     3,
     {1, 200, 200}},
    {"const x i8[3] = {0,2,-1}\nconst t u8[256] = {" TABLE_256 "}", "qtable(x, t)", 3, {3, 17, 88}},
    {"const x i8[3] = {-128,0,127}",
     "qrescale(x) x_zp=-128 scale=0x1p-1 y_zp=0 to=\"u8\"",
     3,
     {0, 64, 128}},
    /* 2 * 6 + 3 * 8 = 36; the second batch of b is 1 1: 2 * 2 + 3 * 2 = 10 */
    {"const a i8[1,2] = {3,4}\nconst b i8[2,2,1] = {5,7,1,1}",
     "qmatmul(a, b) a_zp=1 b_zp=-1 scale=0x1p-4 y_zp=-1",
     2,
     {1, 0}},
    {"const a u8[1,2] = {255,0}\nconst b u8[2,2] = {255,0,1,1}",
     "qmatmul(a, b) a_zp=128 b_zp=255 scale=-0x1p-10 to=\"u8\" y_zp=10",
     2,
     {0, 10}}, /* 32512 / -1024 and -254 * .. */
    /* e 1 and exp(-1) = 0.367879: 0.731059 and 0.268941 of the sum */
    {"const x i8[2,2,1] = {0,-2,7,5}",
     "qsoftmax(x) axis=1 x_scale=0x1p-1 scale=0x1.9p+6 to=\"u8\"",
     4,
     {73, 27, 73, 27}},
    {"const x u8[2] = {255,255}", "qsoftmax(x) scale=0x1p+8 y_zp=-128", 2, {0, 0}},
    /* mean 2, variance 5, with epsilon 9: (x - 2) / 3 */
    {"const x i8[4] = {-1,1,3,5}\nconst s f32[4] = {6,6,6,12}\nconst b f32[4] = {0,0,1,2.5}",
     "qlayernorm(x, s, b) epsilon=0x1p+2 y_zp=1",
     4,
     {-5, -1, 4, 15}},
#include "test/unit/cpu_ref/samples_elem.def"
#include "test/unit/cpu_ref/samples_flow.def"
#include "test/unit/cpu_ref/samples_move.def"
#include "test/unit/cpu_ref/samples_nn.def"
#include "test/unit/cpu_ref/samples_reduce.def"
};

static void run(hd_ctx *ctx, const struct sample *s, struct meaning_count *c) {
    hd_graph *g;
    char text[1024];
    snprintf(text, sizeof text, "graph g {\n%s\n y ? = %s\n output y\n}", s->consts, s->node);
    hd_status st = hd_graph_parse(ctx, text, "test", &g);
    if (st != HD_OK) fail_msg("%s: %s", s->node, hd_message(ctx));
    hd_arena *a = hd_arena_create();
    struct hd_tensor *t = hd_golden_tensors(g, a);
    st = hd_golden_eval(ctx, g, NULL, 0, t, a);
    if (st != HD_OK) fail_msg("%s: %s", s->node, hd_message(ctx));
    const struct hd_tensor *y = &t[g->outputs[0]];
    if (hd_tensor_elems(y) != s->n)
        fail_msg("%s: %d values, want %d", s->node, (int)hd_tensor_elems(y), s->n);
    for (int i = 0; i < s->n; i++) {
        double got = hd_k_f64(y->data, y->dtype, i);
        if (fabs(got - s->want[i]) > 1e-6)
            fail_msg("%s [%d]: got %g, want %g", s->node, i, got, s->want[i]);
    }
    for (size_t i = 0; c && i < g->n_nodes; i++) meaning_check(ctx, g, (int)i, t, c);
    hd_arena_destroy(a);
    hd_graph_destroy(g);
}

static void kernels(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) run(ctx, &samples[i], NULL);
    hd_ctx_destroy(ctx);
}

/* Samples of operations that meaning.def has: each row's operation computes what it says. */
static void expressions_agree(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static struct meaning_count c;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) run(ctx, &samples[i], &c);
    hd_ctx_destroy(ctx);
    assert_int_equal(c.failed, 0);
#define MEANS(op, when, text)                                                                      \
    if (!c.nodes[HD_IR_##op]) fail_msg("no sample of %s has its expression", #op);
#include "compiler/ir/meaning.def"
}

/* Each operation has an expression, or the reason why not. */
static void every_op_means_something(void **state) {
    (void)state;
    static bool means[HD_IR_OPS], without[HD_IR_OPS];
    int n = 0;
#define MEANS(op, when, text)  means[HD_IR_##op] = true;
#define NO_MEANING(op, reason) without[HD_IR_##op] = true;
#include "compiler/ir/meaning.def"
    for (int op = 0; op < HD_IR_OPS; op++) {
        n += means[op];
        if (means[op] == without[op])
            fail_msg("%s: want rows MEANS or one NO_MEANING in meaning.def", hd_ir_ops[op].name);
    }
    printf("%d of %d operations have an expression\n", n, (int)HD_IR_OPS);
}

static void every_op_has_a_sample(void **state) {
    (void)state;
    for (int op = 0; op < HD_IR_OPS; op++) {
        bool found = false;
        size_t n = strlen(hd_ir_ops[op].name);
        for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
            found = found ||
                    (!strncmp(samples[i].node, hd_ir_ops[op].name, n) && samples[i].node[n] == '(');
        if (!found) fail_msg("no sample for %s", hd_ir_ops[op].name);
    }
}

static void missing_input_is_named(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g;
    hd_arena *a = hd_arena_create();
    void *data[2] = {NULL, NULL};
    assert_int_equal(
        hd_graph_parse(ctx, "graph g {\n input x f32[1]\n y ? = relu(x)\n output y\n}", "t", &g),
        HD_OK);
    assert_int_equal(hd_golden_run(ctx, g, NULL, 0, data, a), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "'x'"));
    hd_arena_destroy(a);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels), cmocka_unit_test(expressions_agree),
        cmocka_unit_test(every_op_means_something), cmocka_unit_test(every_op_has_a_sample),
        cmocka_unit_test(missing_input_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
