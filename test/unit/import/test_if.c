/* An If of which one branch does not fit the shapes: what counts is the branch that is taken. */
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

enum { F32 = 1, I64 = 7, BOOL = 9 };

static struct msg named(const char *op, const char *name, const char *a, const char *b,
                        const char *y) {
    struct msg n = {.n = 0};
    put_str(&n, 1, a);
    if (b) put_str(&n, 1, b);
    put_str(&n, 2, y);
    put_str(&n, 3, name);
    put_str(&n, 4, op);
    return n;
}

/* y = op(x, b) as a branch. */
static void attr_branch(struct msg *node, const char *name, const char *op, const char *b) {
    struct msg a = {.n = 0}, g = {.n = 0}, n = named(op, name, "x", b, name);
    put_msg(&g, 1, &n);
    put_str(&g, 2, name);
    put_value(&g, 12, name, F32, 0, NULL);
    put_str(&a, 1, name);
    put_msg(&a, 6, &g);
    put_int(&a, 20, 5);
    put_msg(node, 5, &a);
}

/* x f32[2,3], c bool[1] -> y = cond ? squeeze(x, [0]) : relu(x). cond: c, or whether any
 * of 100 constants is above 0 (too many to be computed while a node is imported). */
static struct msg model(bool constant) {
    static const float many[100] = {1};
    struct msg g = {.n = 0}, n = named("If", "if", constant ? "above" : "c", NULL, "y");
    struct msg t = tensor_msg("many", F32, 1, (int64_t[]){100}, many, sizeof many);
    attr_branch(&n, "else_branch", "Squeeze", "zero");
    attr_branch(&n, "then_branch", "Relu", NULL);
    put_str(&g, 2, "net");
    put_msg(&g, 5, &t);
    t = tensor_msg("zero", I64, 1, (int64_t[]){1}, (int64_t[]){0}, 8);
    put_msg(&g, 5, &t);
    t = tensor_msg("nought", F32, 0, NULL, (float[]){0}, 4);
    put_msg(&g, 5, &t);
    if (constant) {
        struct msg e = named("Relu", "positive", "many", NULL, "positive");
        put_msg(&g, 1, &e);
        e = named("ReduceMax", "most", "positive", NULL, "most");
        put_msg(&g, 1, &e);
        e = named("Greater", "above", "most", "nought", "above");
        put_msg(&g, 1, &e);
    }
    put_msg(&g, 1, &n);
    put_value(&g, 11, "x", F32, 2, (int64_t[]){2, 3});
    put_value(&g, 11, "c", BOOL, 1, (int64_t[]){1});
    put_value(&g, 12, "y", F32, 0, NULL);
    return model_msg(&g, 18);
}

static void holds(hd_ctx *ctx, hd_graph *g, const char *want) {
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(hd_graph_print(ctx, g, false, f), HD_OK);
    fclose(f);
    if (!strstr(text, want)) fail_msg("want %s, got\n%s", want, text);
    free(text);
    hd_graph_destroy(g);
}

static void by_constants(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct msg m = model(true);
    hd_graph *g = NULL;
    if (hd_import_memory(ctx, m.b, m.n, "m.onnx", &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    assert_false(g->specialised);
    holds(ctx, g, "= relu(x)");
    hd_ctx_destroy(ctx);
}

/* The condition is an input: a run may take either. */
static void unknown_condition(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct msg m = model(false);
    hd_graph *g = NULL;
    assert_int_equal(hd_import_memory(ctx, m.b, m.n, "m.onnx", &g), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "in the else_branch of node 'if' (If), whose condition "
                                            "only a run knows"));
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_constants),
                                       cmocka_unit_test(unknown_condition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
