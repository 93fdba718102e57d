/* Schedules: steps that do not fit, with their messages; steps that do. */
#include "compiler/loop/loop.h"
#include "test/unit/expr/expr_util.h"

/* The loops of an expression under a schedule, or the message. */
static const char *result(hd_arena *a, const char *expression, const char *schedule) {
    hd_ctx *ctx = hd_ctx_create();
    struct hd_expr *f, *b;
    struct hd_schedule *s;
    struct hd_nest *n;
    assert_int_equal(hd_expr_parse(ctx, a, expression, &f), HD_OK);
    assert_int_equal(hd_expr_bind(ctx, a, f, NULL, &b), HD_OK);
    bool ok = hd_schedule_parse(ctx, a, schedule, &s) == HD_OK &&
              hd_loop_lower(ctx, a, b, s, &n) == HD_OK;
    const char *out = ok ? hd_loop_text(a, n) : hd_strdup(a, hd_message(ctx));
    hd_ctx_destroy(ctx);
    return out;
}

static void refused(void **state) {
    static const char *const cases[][2] = {
#include "test/unit/loop/refused.def"
    };
    static const char text[] = "(x: i8[3,32], w: i8[40,32], i: i64[3]) -> y, z\n"
                               "t[a,b] = x[a,b] * 2\n"
                               "y[m,n] += i32(t[m,k]) * i32(w[n,k]) + i32(pad(x[m,k+1], 0))\n"
                               "z[m,n] = select(m == 0, x[m,n], x[i[m],n])\n";
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hd_arena *a = hd_arena_create();
        const char *message = result(a, text, cases[i][0]);
        if (!strstr(message, cases[i][1])) printf("%s\n%s\n", cases[i][0], message);
        assert_non_null(strstr(message, cases[i][1]));
        assert_non_null(strstr(message, "schedule, line"));
        hd_arena_destroy(a);
    }
}

static void tensorizes(void **state) {
    static const char *const cases[][2] = {
        {"(x: u8[5,8], w: i8[32,8]) -> y\ny[m,n] += i32(x[m,k]) * i32(w[n,k])",
         "for ni < 16 intrinsic vnni\n"},
        {"(x: i8[5,8], w: i8[32,8]) -> y\ny[m,n] += i32(w[n,k]) * i32(u8(i16(x[m,k]) + 128))",
         "for ni < 16 intrinsic vnni\n"}, /* the second of its expressions */
        {"(x: i8[5,8], w: i8[32,8]) -> y\ny[m,n] += i32(u8(i16(x[m,k]) + 127)) * i32(w[n,k])",
         "the value is not that of the intrinsic"},
        {"(x: u8[5,32,8], w: i8[32,8]) -> y\ny[m,n] += i32(x[m,n,k]) * i32(w[n,k])",
         "the value is not that of the intrinsic"}, /* vnni's first operand is the same for all n */
        {"(x: i8[5,8], w: i8[32,8]) -> y\ny[m,n] += i32(x[m,k]) * i32(w[n,k])",
         "the value is not that of the intrinsic"},
        {"(x: u8[5,8], w: i8[30,8]) -> y\ny[m,n] += i32(x[m,k]) * i32(w[n,k])",
         "loop 'ni' has a ragged edge"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hd_arena *a = hd_arena_create();
        const char *text = result(a, cases[i][0],
                                  "split y n 16 no ni; split y k 4 ko ki\n"
                                  "reorder y m no ko ni ki # blocks of 16\ntensorize y ni vnni");
        if (!strstr(text, cases[i][1])) printf("%s\n%s\n", cases[i][0], text);
        assert_non_null(strstr(text, cases[i][1]));
        hd_arena_destroy(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused), cmocka_unit_test(tensorizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
