/* How far an output may be off, from how the graph makes it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compare/tolerance.h"

static struct hd_tolerance of(hd_arena *a, const char *text) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    struct hd_tolerance t;
    if (hd_graph_parse(ctx, text, "net", &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    if (hd_graph_infer(ctx, g) != HD_OK) fail_msg("%s", hd_message(ctx));
    hd_output_tolerance(a, g, g->outputs[0], &t);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
    return t;
}

#define QUANTISED                                                                                  \
    "graph g {\ninput x f32[1,4]\ninput z f32[1,4]\nconst s f32[] = {0.5}\nconst o i8[] = {0}\n"   \
    "q ? = quantize(x, s, o)\nd ? = dequantize(q, s, o)\n"

static void near(double got, double want) {
    if (!(fabs(got - want) < 5e-6 + 1e-5 * want)) fail_msg("got %g, want %g", got, want);
}

/* A step of the scale, and what float operations make of it; a sum does not hide it. */
static void steps_pass_through(void **state) {
    (void)state;
    hd_arena *a = hd_arena_create();
    near(of(a, QUANTISED "output d\n}").absolute, 0.5);
    near(of(a, QUANTISED "y ? = add(d, z)\noutput y\n}").absolute, 0.5);
    near(of(a, QUANTISED "y ? = add(d, d)\noutput y\n}").absolute, 1);
    near(of(a, QUANTISED "y ? = sigmoid(d)\noutput y\n}").absolute, 0.125);
    near(of(a, QUANTISED "y ? = softmax(d)\noutput y\n}").absolute, tanh(0.5) / 2);
    near(of(a, QUANTISED "const c f32[] = {-4}\ny ? = mul(d, c)\noutput y\n}").absolute, 2);
    near(of(a, QUANTISED "const w f32[4,1] = {3,0,4,0}\ny ? = matmul(d, w)\noutput y\n}").absolute,
         2.5);
    near(of(a, QUANTISED "y ? = exp(d)\noutput y\n}").of_largest, 1.0 / 255);
    near(of(a, QUANTISED "y ? = relu(z)\noutput y\n}").of_largest, 0); /* not behind it */
    near(of(a, QUANTISED "output q\n}").absolute, 1);
    hd_arena_destroy(a);
}

/* Scales of the run: equal operands have equal integers, others may round the other way. */
static void scales_of_the_run(void **state) {
    (void)state;
    hd_arena *a = hd_arena_create();
    static const char *const head = "graph g {\ninput x f32[1,4]\n";
    const char *tail = "q ?, s ?, o ? = dynamicquantize(e)\ny ? = dequantize(q, s, o)\noutput y\n}";
    near(of(a, hd_sprintf(a, "%se ? = add(x, x)\n%s", head, tail)).of_largest, 0);
    near(of(a, hd_sprintf(a, "%se ? = tanh(x)\n%s", head, tail)).of_largest, 0.5 / 255);
    hd_arena_destroy(a);
}

/* 32 units of the largest value, or a step for each of the terms of all sums, as a random walk. */
static void sums_that_follow_each_other(void **state) {
    (void)state;
    hd_arena *a = hd_arena_create();
    static const struct {
        const char *nodes;
        double units;
    } row[] = {
        {"y ? = matmul(x, v)\n", 40}, /* of 1600 */
        {"y ? = matmul(z, u)\n", 32}, /* of 900 */
        {"a ? = matmul(x, v)\ny ? = matmul(a, u)\n", 50},
        {"a ? = matmul(x, v)\ny ? = reducesum(a) axes=[1]\n", 50},
        {"a ? = matmul(x, v)\nb ? = relu(a)\ny ? = identity(b)\n", 40}, /* no sums */
        {"a ? = matmul(x, v)\nb ? = quantize(a, s, o)\nc ? = dequantize(b, s, o)\n"
         "y ? = reducemean(c) axes=[1]\n",
         32}, /* integers begin anew */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *text = hd_sprintf(
            a,
            "graph g {\ninput x f32[1,1600]\ninput z f32[1,900]\ninput v f32[1600,900]\n"
            "input u f32[900,4]\nconst s f32[] = {0.5}\nconst o i8[] = {0}\n%soutput y\n}",
            row[i].nodes);
        double got = of(a, text).of_largest * 0x1p23;
        if (got != row[i].units) fail_msg("case %zu: got %g, want %g", i, got, row[i].units);
    }
    hd_arena_destroy(a);
}

static void types(void **state) {
    (void)state;
    hd_arena *a = hd_arena_create();
    struct hd_tolerance t = of(a, "graph g {\ninput x f16[2]\ny ? = exp(x)\noutput y\n}");
    near(t.relative, 2.0 / 1024);
    t = of(a, "graph g {\ninput x bf16[2]\ny ? = exp(x)\noutput y\n}");
    near(t.relative, 1.0 / 128);
    t = of(a, "graph g {\ninput x i64[2]\ny ? = add(x, x)\noutput y\n}");
    assert_string_equal(t.text, "exact");
    assert_true(t.absolute == 0 && t.relative == 0);
    hd_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_pass_through), cmocka_unit_test(scales_of_the_run),
        cmocka_unit_test(sums_that_follow_each_other), cmocka_unit_test(types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
