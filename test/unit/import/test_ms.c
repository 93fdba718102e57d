/* Operations of com.microsoft: each imported on constants, and what golden computes of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/import/import.h"
#include "cpu_ref/golden.h"
#include "cpu_ref/kernels.h"
#include "test/unit/import/build.h"

enum { F32 = 1, U8 = 2, I8 = 3, I32 = 6, BOOL = 9 };

/* Every graph has these. q is 0, 1, 2, 6 at scale 1/2 and zero point 128; ab is 1, 2. */
static void constants(struct msg *g) {
    static const float scales[] = {0.5f, 1, 2, 1.0f / 256}, ws[] = {0.5f, 1}, fs[] = {1, 2, 3, 4};
    static const float wide[] = {0, 255}, pair[] = {1, -2}, gamma[] = {2, 2}, beta[] = {10, 20};
    const int64_t d22[] = {1, 1, 2, 2}, d2[] = {2, 2}, d1[] = {2}, row[] = {1, 2},
                  image[] = {1, 1, 1, 2};
    const struct msg c[] = {
        tensor_msg("half", F32, 0, NULL, &scales[0], 4),
        tensor_msg("one", F32, 0, NULL, &scales[1], 4),
        tensor_msg("two", F32, 0, NULL, &scales[2], 4),
        tensor_msg("fine", F32, 0, NULL, &scales[3], 4),
        tensor_msg("z128", U8, 0, NULL, "\x80", 1),
        tensor_msg("z132", U8, 0, NULL, "\x84", 1),
        tensor_msg("q", U8, 4, d22, "\x80\x82\x84\x8c", 4),
        tensor_msg("cond", BOOL, 4, d22, "\x01\x00\x01\x00", 4),
        tensor_msg("ab", U8, 2, row, "\x82\x84", 2),
        tensor_msg("b", I8, 2, d2, "\x01\x02\x03\x04", 4),
        tensor_msg("ws", F32, 1, d1, ws, 8),
        tensor_msg("bias", I32, 1, d1, (int32_t[]){4, -2}, 8),
        tensor_msg("ones", F32, 1, d1, gamma, 8),
        tensor_msg("f", F32, 2, d2, fs, 16),
        tensor_msg("wide", F32, 2, row, wide, 8),
        tensor_msg("image", F32, 4, image, pair, 8),
        tensor_msg("w", F32, 4, (int64_t[]){1, 1, 1, 1}, &scales[2], 4),
        tensor_msg("beta", F32, 1, d1, beta, 8),
        tensor_msg("x", F32, 2, row, fs, 8),
        tensor_msg("skip", F32, 2, row, (const float[]){0, 1}, 8),
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) put_msg(g, 5, &c[i]);
}

struct attr {
    const char *name;
    enum { INT = 1, FLOAT, STRING, INTS } kind;
    int64_t i, more;
    float f;
    const char *s;
};

struct sample {
    const char *op, *in; /* inputs, with blanks; "-" = left out */
    struct attr attr[4];
    int n;
    double want[8];
};

#define NONE                                                                                       \
    {                                                                                              \
        { NULL, INT, 0, 0, 0, NULL }                                                               \
    }
#define AN_INT(name, v)                                                                            \
    { name, INT, v, 0, 0, NULL }
#define INTS2(name, a, b)                                                                          \
    { name, INTS, a, b, 0, NULL }
#define A_FLOAT(name, v)                                                                           \
    { name, FLOAT, 0, 0, v, NULL }
#define A_STRING(name, v)                                                                          \
    { name, STRING, 0, 0, 0, v }

static const struct sample samples[] = {
    {"QLinearAdd", "q half z128 q half z128 one z128", NONE, 4, {128, 130, 132, 140}},
    {"QLinearAdd", "q half - q half z128 one z128", NONE, 4, {192, 194, 196, 204}},
    /* 0, 1/2, 2, 18: a tie goes to even */
    {"QLinearMul", "q half z128 q half z128 two", NONE, 4, {0, 0, 2, 18}},
    {"QLinearSigmoid", "q half z128 fine", NONE, 4, {128, 187, 225, 255}},
    {"QLinearLeakyRelu",
     "q half z132 half z128",
     {A_FLOAT("alpha", 0.5f)},
     4,
     {126, 127, 128, 136}}, /* -1, -1/2, 0, 4 */
    {"QLinearSoftmax",
     "q half z128 fine -",
     {AN_INT("axis", -1), AN_INT("opset", 13)},
     4,
     {69, 187, 5, 251}},
    {"QLinearAveragePool",
     "q half z128 half z128",
     {INTS2("kernel_shape", 2, 1)},
     2,
     {130, 135}},                                                          /* 1, 3.5 */
    {"QLinearGlobalAveragePool", "q half z128 half z128", NONE, 1, {132}}, /* 2.25 is 4.5 steps */
    {"QLinearReduceMean",
     "q half z128 half z128",
     {INTS2("axes", 2, 3), AN_INT("keepdims", 0)},
     1,
     {132}},
    {"QLinearConcat",
     "one z128 q half z128 q one z128",
     {AN_INT("axis", 2)},
     8,
     {128, 129, 130, 134, 128, 130, 132, 140}},
    {"QLinearWhere", "cond q half z128 q one z128 one z128", NONE, 4, {128, 130, 130, 140}},
    /* [1, 2] by [1/2, 2; 3/2, 4] plus [4 / 4, -2 / 2] */
    {"QGemm", "ab half z128 b ws - bias", NONE, 2, {4.5, 9}},
    {"QGemm", "ab half z128 b ws - bias", {A_FLOAT("alpha", 2)}, 2, {9, 18}},
    {"QGemm", "ab half z128 b ws - bias one z128", NONE, 2, {132, 137}},
    {"QGemm", "ab half z128 b half -", {AN_INT("transB", 1)}, 2, {2.5, 5.5}},
    {"MatMulIntegerToFloat", "ab b half ws z128 - ones", NONE, 2, {5.5, 12}},
    {"DynamicQuantizeMatMul", "wide b ws", NONE, 2, {382.5, 1020}},
    {"DynamicQuantizeMatMul", "wide b ws - ones", NONE, 2, {384.5, 1022}},
    {"FusedMatMul", "f f", {AN_INT("transB", 1), A_FLOAT("alpha", 0.5f)}, 4, {2.5, 5.5, 5.5, 12.5}},
    {"FusedMatMul", "f f", {AN_INT("transA", 1)}, 4, {10, 14, 14, 20}},
    {"FusedConv", "image w - image", {A_STRING("activation", "Relu")}, 2, {3, 0}},
    {"FusedConv", "image w", {A_STRING("activation", "Sigmoid")}, 2, {0.8807970780, 0.0179862100}},
    {"FusedGemm",
     "x f ones",
     {A_STRING("activation", "LeakyRelu"), A_FLOAT("alpha", -1), A_FLOAT("activation_alpha", 0.5f)},
     2,
     {-2.5, -4}},
    {"SkipLayerNormalization", "x skip ones beta", {A_FLOAT("epsilon", 0)}, 2, {8, 22}},
};

static struct msg model_of(const struct sample *s) {
    struct msg graph = {.n = 0}, node = {.n = 0};
    char ins[128], *save = NULL;
    snprintf(ins, sizeof ins, "%s", s->in);
    for (char *p = strtok_r(ins, " ", &save); p; p = strtok_r(NULL, " ", &save))
        put_str(&node, 1, strcmp(p, "-") ? p : "");
    put_str(&node, 2, "y");
    put_str(&node, 4, s->op);
    put_str(&node, 7, "com.microsoft");
    for (int i = 0; i < 4 && s->attr[i].name; i++) {
        const struct attr *a = &s->attr[i];
        if (a->kind == INT) attr_int(&node, a->name, a->i);
        if (a->kind == FLOAT) attr_float(&node, a->name, a->f);
        if (a->kind == STRING) attr_str(&node, a->name, a->s);
        if (a->kind == INTS) attr_ints(&node, a->name, 2, (int64_t[]){a->i, a->more});
    }
    put_msg(&graph, 1, &node);
    constants(&graph);
    put_value(&graph, 12, "y", 0, 0, NULL);
    return model_msg(&graph, 13);
}

static void values(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *s = &samples[i];
        hd_ctx *ctx = hd_ctx_create();
        hd_arena *a = hd_arena_create();
        struct msg m = model_of(s);
        hd_graph *g;
        if (hd_import_memory(ctx, m.b, m.n, "test", &g) != HD_OK)
            fail_msg("%s: %s", s->op, hd_message(ctx));
        struct hd_tensor *t = hd_golden_tensors(g, a);
        if (hd_golden_eval(ctx, g, NULL, 0, t, a) != HD_OK)
            fail_msg("%s: %s", s->op, hd_message(ctx));
        const struct hd_tensor *y = &t[g->outputs[0]];
        if (hd_tensor_elems(y) != s->n)
            fail_msg("%s: %d values, want %d", s->op, (int)hd_tensor_elems(y), s->n);
        for (int k = 0; k < s->n; k++) {
            double got = hd_k_f64(y->data, y->dtype, k);
            if (fabs(got - s->want[k]) > 1e-6)
                fail_msg("%s (sample %zu) [%d]: got %g, want %g", s->op, i, k, got, s->want[k]);
        }
        hd_graph_destroy(g);
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
    }
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        struct sample s;
        const char *want;
    } bad[] = {
        {{"QLinearAdd", "q half z128 q", NONE, 0, {0}}, "input 4 is left out"},
        {{"QLinearAdd", "q half z128 q half z128", NONE, 0, {0}}, "input 6 is left out"},
        {{"QLinearConcat", "one z128 q half", NONE, 0, {0}}, "4 inputs, want 2 and 3 for each"},
        {{"QLinearAveragePool", "q half z128 half z128", {AN_INT("channels_last", 1)}, 0, {0}},
         "channels_last=1"},
        {{"QLinearSoftmax", "q half - fine -", {AN_INT("axis", 1), AN_INT("opset", 11)}, 0, {0}},
         "opset 11 with axis 1"},
        {{"FusedMatMul", "f f", {AN_INT("transBatchA", 1)}, 0, {0}}, "transBatchA"},
        {{"FusedConv", "image w", {A_STRING("activation", "Frob")}, 0, {0}}, "activation 'Frob'"},
        {{"QLinearFrob", "q", NONE, 0, {0}}, "QLinearFrob of domain 'com.microsoft'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hd_ctx *ctx = hd_ctx_create();
        struct msg m = model_of(&bad[i].s);
        hd_graph *g;
        assert_int_not_equal(hd_import_memory(ctx, m.b, m.n, "test", &g), HD_OK);
        if (!strstr(hd_message(ctx), bad[i].want))
            fail_msg("want %s, got %s", bad[i].want, hd_message(ctx));
        hd_ctx_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
