/* Selectors: every part of the language on a small network with scopes, normal forms, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/query/query.h"

/* Scopes s, s/t; s/t/c1 -> r -> s/c2 -> add (reads c1, too) -> out */
enum { S, T, C1, R, C2, ADD, OUT, N };
static struct hd_item_attr of_c1[] = {
    {"utilization", NULL, 0.25}, {"dtype", "i8", 0}, {"kernel", "3,3", 0}};
static struct hd_item_attr of_c2[] = {{"utilization", NULL, 0.75}, {"dtype", "u8", 0}};
static const char *const machine[] = {"machine", "slow"};
static const struct hd_item net[N] = {
    [S] = {.type = "scope", .name = "/s", .scope = -1, .is_scope = true},
    [T] = {.type = "scope", .name = "/s/t", .scope = S, .is_scope = true},
    [C1] = {"qconv", "/s/t/c1", machine, 2, of_c1, 3, NULL, 0, T, false},
    [R] = {"relu", "r", NULL, 0, NULL, 0, (int[]){C1}, 1, -1, false},
    [C2] = {"qconv", "/s/c2", machine, 1, of_c2, 2, (int[]){R}, 1, S, false},
    [ADD] = {"qadd", "add", machine, 1, NULL, 0, (int[]){C2, C1}, 2, -1, false},
    [OUT] = {"softmax", "a:b", NULL, 0, NULL, 0, (int[]){ADD}, 1, -1, false},
};
static const struct hd_items items = {net, N, (const char *[]){"cycles"}, 1};

/* Names of what a selector means, in order, with spaces between. */
static const char *matches(hd_arena *a, const char *text) {
    hd_ctx *ctx = hd_ctx_create();
    const struct hd_query *q;
    bool hit[N];
    const char *out = "";
    if (hd_query_parse(ctx, a, text, &q) != HD_OK || hd_query_match(ctx, q, &items, hit) != HD_OK)
        out = hd_strdup(a, hd_message(ctx));
    else
        for (int i = 0; i < N; i++)
            if (hit[i]) out = hd_sprintf(a, "%s%s%s", out, *out ? " " : "", net[i].name);
    hd_ctx_destroy(ctx);
    return out;
}

static void selects(void **state) {
    static const char *const cases[][2] = {
        {"*", "/s/t/c1 r /s/c2 add a:b"},
        {"conv", "/s/t/c1 /s/c2"},
        {"qconv", "/s/t/c1 /s/c2"},
        {"relu, softmax", "r a:b"},
        {"#r", "r"},
        {"#\"a:b\"", "a:b"},
        {"#'a:b'", "a:b"},
        {"#s/c2", "/s/c2"},
        {".machine", "/s/t/c1 /s/c2 add"},
        {".machine.slow", "/s/t/c1"},
        {"[utilization]", "/s/t/c1 /s/c2"},
        {"[utilization<0.5]", "/s/t/c1"},
        {"[utilization <= 25%]", "/s/t/c1"},
        {"[utilization > 0.25]", "/s/c2"},
        {"[utilization >= 0.25]", "/s/t/c1 /s/c2"},
        {"[utilization = 0.75]", "/s/c2"},
        {"[utilization != 0.75]", "/s/t/c1"},
        {"[dtype=i8]", "/s/t/c1"},
        {"[dtype!=i8]", "/s/c2"},
        {"[dtype$=8][dtype^=u]", "/s/c2"},
        {"[kernel='3,3']", "/s/t/c1"},
        {"[kernel*=',']", "/s/t/c1"},
        {"[cycles>1]", ""}, /* known, though nothing ran */
        {"conv > relu", "r"},
        {"conv > conv", ""},
        {"conv conv", "/s/c2"},
        {"conv[utilization<0.5] > relu", "r"},
        {"conv[utilization>0.5] > relu", ""},
        {"relu > conv > add > softmax", "a:b"},
        {"#s", "/s/t/c1 /s/c2"},
        {"#t", "/s/t/c1"},
        {"scope", "/s/t/c1 /s/c2"},
        {"#s conv", "/s/t/c1 /s/c2"},
        {"#s > conv", "/s/c2"},
        {"#s #t conv", "/s/t/c1"},
        {"#s softmax", ""}, /* reads what a member gives, but is not within */
        {":not(conv)", "r add a:b"},
        {".machine:not(conv, .slow)", "add"},
        {":not(conv > *)", "/s/t/c1 /s/c2 a:b"},
        {":not(:not(relu))", "r"},
    };
    hd_arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(matches(a, cases[i][0]), cases[i][1]))
            fail_msg("%s: got '%s', want '%s'", cases[i][0], matches(a, cases[i][0]), cases[i][1]);
}

static void refuses(void **state) {
    static const char *const cases[][2] = {
        {"", "column 1"},
        {"conv >", "column 7"},
        {"conv,", "column 6"},
        {"> conv", "column 1"},
        {"conv)", "column 5"},
        {"[utilization", "column 13"},
        {"[utilization<]", "column 14"},
        {"[utilization<high]", "a number"},
        {"[utilization~3]", "a comparison"},
        {"#", "a name"},
        {"#'open", "the quote"},
        {":first", "not("},
        {":not(conv", "want )"},
        {"conv$", "column 5"},
        {"[nonsense=1]", "no operation has an attribute 'nonsense'"},
        {"[dtype<3]", "is text"},
    };
    hd_arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (!strstr(matches(a, cases[i][0]), cases[i][1]))
            fail_msg("%s: got '%s', want '%s'", cases[i][0], matches(a, cases[i][0]), cases[i][1]);
    char nested[200] = "*";
    for (int i = 0; i <= HD_QUERY_NESTING; i++)
        snprintf(nested, sizeof nested, "%s", hd_sprintf(a, ":not(%s)", nested));
    assert_non_null(strstr(matches(a, nested), "at most 16"));
}

static void prints(void **state) {
    static const char *const cases[][2] = {
        {" conv[ utilization <50% ]>relu ", "conv[utilization<0.5] > relu"},
        {"*.a#'b',x  y", ".a#b, x y"},
        {"*", "*"},
        {":not( a,b )[k]", ":not(a, b)[k]"},
        {"[k='3']", "[k=\"3\"]"}, /* text, not a number */
        {"#'q\"\\\\'", "#\"q\\\"\\\\\""},
    };
    hd_arena *a = *state;
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct hd_query *q;
        assert_int_equal(hd_query_parse(ctx, a, cases[i][0], &q), HD_OK);
        assert_string_equal(hd_query_text(a, q), cases[i][1]);
    }
    const struct hd_query *q;
    int n;
    assert_int_equal(hd_query_parse(ctx, a, "[x][y=1] > [x]:not([z])", &q), HD_OK);
    const char *const *names = hd_query_attrs(a, q, &n);
    assert_int_equal(n, 3);
    assert_string_equal(names[0], "x");
    assert_string_equal(names[1], "y");
    assert_string_equal(names[2], "z");
    hd_ctx_destroy(ctx);
}

static int setup(void **state) {
    *state = hd_arena_create();
    return 0;
}

static int teardown(void **state) {
    hd_arena_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selects),
        cmocka_unit_test(refuses),
        cmocka_unit_test(prints),
    };
    return cmocka_run_group_tests_name("query", tests, setup, teardown);
}
