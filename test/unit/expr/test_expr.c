/* Tensor expressions: normal forms, binding, every kind of refusal, results. */
#include "compiler/expr/rewrite.h"
#include "test/unit/expr/expr_util.h"

/* The bound form of text, its results on data 0, 1, 2, .. in each parameter, or the message. */
static const char *result(hd_arena *a, const char *text, bool values) {
    hd_ctx *ctx = hd_ctx_create();
    struct hd_expr *f, *b;
    const char *out = NULL;
    if (hd_expr_parse(ctx, a, text, &f) != HD_OK || hd_expr_bind(ctx, a, f, NULL, &b) != HD_OK) {
        out = hd_strdup(a, hd_message(ctx));
    } else if (hd_expr_verify(ctx, b) != HD_OK) {
        out = hd_strdup(a, hd_message(ctx));
    } else if (!values) {
        out = hd_expr_text(a, b);
    } else {
        const void **in = hd_new_array(a, const void *, 64);
        void **to = hd_new_array(a, void *, 64);
        for (int i = 0; i < b->n_params; i++) {
            void *data = expr_room(a, &b->tensor[i]);
            for (int64_t k = 0; k < hd_expr_elems(&b->tensor[i]); k++)
                hd_k_put_i64(data, (hd_dtype)b->tensor[i].type, k, k);
            in[i] = data;
        }
        for (size_t i = 0; i < b->n_results; i++) to[i] = expr_room(a, &b->tensor[b->result[i]]);
        out = "";
        if (hd_expr_run(ctx, b, in, to, a) != HD_OK) out = hd_strdup(a, hd_message(ctx));
        for (size_t i = 0; !*hd_message(ctx) && i < b->n_results; i++)
            out = hd_sprintf(a, "%s%s%s", out, i ? " | " : "",
                             expr_values(a, &b->tensor[b->result[i]], to[i]));
    }
    hd_ctx_destroy(ctx);
    return out;
}

static void normal_form(void **state) {
    static const char *const cases[][2] = {
        {"y[n,m,i,j] += x[n,c,2*i+p,2*j+q] * w[m,c,p,q]",
         "(x, w) -> y\ny[n,m,i,j] += x[n,c,2*i + p,2*j + q]*w[m,c,p,q]\n"},
        {"(x: f32[N,...], a = 1, b: float = 2, c: [M] = 0) -> y, z\n"
         "y[...]=x[...]*a+b#twice\nz[i]=c[i] where i<M+1;",
         "(x: f32[N,...], c: [M] = 0.0, a: int = 1, b: float = 2.0) -> y, z\n"
         "y[...] = x[...]*a + b\nz[i] = c[i] where i < M + 1\n"},
        {"y[i] = (a[i] - (b[i] - c[i])) * -d[i] / (1 / e[i])",
         "(a, b, c, d, e) -> y\ny[i] = (a[i] - (b[i] - c[i]))*-d[i]/(1/e[i])\n"},
        {"y[i] = a[i] < 3 & !(b[i] | c[i] == d[i])",
         "(a, b, c, d) -> y\ny[i] = a[i] < 3 & !(b[i] | c[i] == d[i])\n"},
        {"t[i] = clamp(x[i], -1, 0.5) s[i] max= i8.even.sat(t[i])",
         "(x) -> s\nt[i] = min(max(x[i], -1), 0.5)\ns[i] max= i8.even.sat(t[i])\n"},
        {"y[i] = select(x[i] >= 1e-3, pad(x[i+1], -inf), nan)",
         "(x) -> y\ny[i] = select(x[i] >= 0.001, pad(x[i + 1], -inf), nan)\n"},
        {"y[i] = -(-x[i]) << ~(3)", "(x) -> y\ny[i] = --x[i] << ~(3)\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hd_arena *a = hd_arena_create();
        hd_ctx *ctx = hd_ctx_create();
        struct hd_expr *f, *again;
        hd_status s = hd_expr_parse(ctx, a, cases[i][0], &f);
        assert_string_equal(hd_message(ctx), "");
        assert_int_equal(s, HD_OK);
        assert_string_equal(hd_expr_text(a, f), cases[i][1]);
        s = hd_expr_parse(ctx, a, cases[i][1], &again);
        assert_int_equal(s, HD_OK);
        assert_string_equal(hd_expr_text(a, again), cases[i][1]);
        hd_ctx_destroy(ctx);
        hd_arena_destroy(a);
    }
}

static void binds(void **state) {
    static const char *const cases[][2] = {
        {"(x: i8[1,3,9,8], w: i8[4,3,3,2]) -> y\n"
         "y[n,m,i,j] += i32(x[n,c,2*i+p,2*j+q]) * i32(w[m,c,p,q])",
         "(x: i8[1,3,9,8], w: i8[4,3,3,2]) -> y: i32[1,4,4,4]\n"
         "y[n,m,i,j] += i32(x[n,c,2*i + p,2*j + q])*i32(w[m,c,p,q]) where n < 1, m < 4, i < 4, "
         "j < 4, c < 3, p < 3, q < 2\n"},
        {"(a: f32[2,1,3], b: f32[4,1]) -> y\ny[...] = a[...] + b[...]",
         "(a: f32[2,1,3], b: f32[4,1]) -> y: f32[2,4,3]\n"
         "y[_0,_1,_2] = a[_0,0,_2] + b[_1,0] where _0 < 2, _1 < 4, _2 < 3\n"},
        {"(x: f32[2,3,5], w: f32[5,4]) -> y\ny[...,j] += x[...,k] * w[k,j]",
         "(x: f32[2,3,5], w: f32[5,4]) -> y: f32[2,3,4]\n"
         "y[_0,_1,j] += x[_0,_1,k]*w[k,j] where _0 < 2, _1 < 3, j < 4, k < 5\n"},
        {"(x: f32[N3,4]) -> y\ny[i] = x[0,i]", /* a name is open without arguments */
         "expression, line 1, column 2 ('x: f32[N3,4]) -> y'): type and shape of 'x' are open; "
         "write them, as f32[2,3]"},
        {"(x: f32[7]) -> y\ny[i] = x[6 - i]",
         "(x: f32[7]) -> y: f32[7]\ny[i] = x[6 - i] where i < 7\n"},
        {"(x: u8[4], i: i32[3]) -> y: u8[3]\ny[k] = x[i[k] + 1]",
         "(x: u8[4], i: i32[3]) -> y: u8[3]\ny[k] = x[i64(i[k]) + 1] where k < 3\n"},
        {"(x: f32[2,3]) -> y\ny[] += x[...]",
         "(x: f32[2,3]) -> y: f32[]\ny[] += x[_0,_1] where _0 < 2, _1 < 3\n"},
        {"(x: f32[4], s = 2) -> y: f32[8]\ny[i] = x[i / s] * s",
         "(x: f32[4]) -> y: f32[8]\ny[i] = x[i/2]*2 where i < 8\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hd_arena *a = hd_arena_create();
        const char *text = result(a, cases[i][0], false);
        assert_string_equal(text, cases[i][1]);
        if (*text == '(') assert_string_equal(result(a, text, false), text);
        hd_arena_destroy(a);
    }
}

static void refused(void **state) {
    static const char *const cases[][2] = {
#include "test/unit/expr/refused.def"
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hd_arena *a = hd_arena_create();
        const char *message = result(a, cases[i][0], true);
        if (!strstr(message, cases[i][1])) printf("%s\n%s\n", cases[i][0], message);
        assert_non_null(strstr(message, cases[i][1]));
        assert_non_null(strstr(message, "expression"));
        hd_arena_destroy(a);
    }
}

static void computes(void **state) {
    static const char *const cases[][2] = {
        {"(x: f32[4]) -> y\ny[i] = x[i] * 2 + 0.5", "0.5 2.5 4.5 6.5"},
        {"(x: i8[4], w: i8[2]) -> y\ny[i] += i32(x[i+k]) * i32(w[k])", "1 2 3"},
        {"(x: i32[2,3]) -> s, p, m, n\ns[i] += x[i,j]; p[i] *= x[i,j]; m[i] max= x[i,j]; n[i] min= "
         "-x[i,j]",
         "3 12 | 0 60 | 2 5 | -2 -5"},
        {"(x: f32[6]) -> y, z\ny[] argmax= -abs(x[i] - 3)\nz[] argmin= min(x[i], 2)", "3 | 0"},
        {"(x: i16[5]) -> y\ny[i] = i8.sat(x[i] * 100 - 150)", "-128 -50 50 127 127"},
        {"(x: i16[5]) -> y\ny[i] = i8(x[i] * 100)", "0 100 -56 44 -112"},
        {"(x: f32[4]) -> a, b, c, d, e\na[i] = i32.even(x[i] - 1.5); b[i] = i32.away(x[i] - 1.5); "
         "c[i] = i32(x[i] - 1.5); d[i] = i32.floor(x[i] - 1.5); e[i] = i32.ceil(x[i] - 1.5)",
         "-2 0 0 2 | -2 -1 1 2 | -1 0 0 1 | -2 -1 0 1 | -1 0 1 2"},
        {"(x: f32[3]) -> y\ny[i] = select(x[i] == 1, -7, x[i])", "0 -7 2"},
        {"(x: f32[3]) -> y\ny[i] = pad(x[i-1], 9) where i < 5", "9 0 1 2 9"},
        {"(x: f32[3], i: i64[2,2]) -> y\ny[a,b] = x[i[a,b] % 3]", "0 1 2 0"},
        {"(x: u8[3]) -> y\ny[i] = x[i] - 1", "255 0 1"},
        {"(x: u64[3]) -> y\ny[i] = f32(x[i] - 1 > 5)", "1 0 0"},
        {"(x: f32[2]) -> y\ny[i,j] = f32(i == j) where i < 2, j < 3", "1 0 0 0 1 0"},
        {"(x: f32[0]) -> y, z\ny[] += x[i]\nz[] max= x[i]", "0 | -inf"},
        {"(x: f32[3]) -> y\nm[] max= x[i]\ne[i] = exp(x[i] - m[])\ns[] += e[i]\ny[i] = e[i]/s[]",
         "0.0900306 0.244728 0.665241"},
        {"(x: f16[2]) -> y\ny[i] = (x[i] + 2048) + 1", "2048 2048"},
        {"(x: f32[2]) -> y\ny[i] = 0.1 + f64(x[i])", "0.1 1.1"},
        {"(x: i32[3]) -> y\ny[i] = (x[i] - 1) / 2 + (x[i] - 3) % 2 << 1", "-2 0 -2"},
        {"(x: i32[2]) -> y\ny[i] = x[i] << 31 >> 31", "0 -1"},
        {"(x: bool[3]) -> y\ny[i] = !x[i] | i == 2", "1 0 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hd_arena *a = hd_arena_create();
        assert_string_equal(result(a, cases[i][0], true), cases[i][1]);
        hd_arena_destroy(a);
    }
}

/* Arguments from outside: names of sizes, scalars, parameters that are left out. */
static void arguments(void **state) {
    (void)state;
    hd_arena *a = hd_arena_create();
    hd_ctx *ctx = hd_ctx_create();
    struct hd_expr *f, *b;
    const char *text =
        "(x: i8[N,C], w: [C,M], b: i32[M] = 0, k: int, s: float = 1.5) -> y: f32[N,M]\n"
        "t[n,m] += i32(x[n,c]) * i32(w[c,m])\n"
        "y[n,m] = f32(t[n,m] + b[m] * k) * s";
    struct hd_expr_arg arg[3] = {{.type = HD_I8, .rank = 2, .dim = {2, 3}},
                                 {.type = HD_U8, .rank = 2, .dim = {3, 4}},
                                 {.absent = true}};
    struct hd_expr_scalar scalar[2] = {{.name = "k", .i = 5},
                                       {.name = "s", .is_float = true, .f = 2}};
    struct hd_expr_args args = {3, arg, 2, scalar};
    assert_int_equal(hd_expr_parse(ctx, a, text, &f), HD_OK);
    assert_int_equal(hd_expr_bind(ctx, a, f, &args, &b), HD_OK);
    assert_int_equal(hd_expr_verify(ctx, b), HD_OK);
    assert_string_equal(hd_expr_text(a, b),
                        "(x: i8[2,3], w: u8[3,4], b: i32[0] = 0.0) -> y: f32[2,4]\n"
                        "t[n,m] += i32(x[n,c])*i32(w[c,m]) where n < 2, m < 4, c < 3\n"
                        "y[n,m] = f32(t[n,m] + 0*5)*2.0 where n < 2, m < 4\n");
    static const struct {
        int param;
        struct hd_expr_arg arg;
        const char *message;
    } bad[] = {
        {1, {.type = HD_U8, .rank = 2, .dim = {4, 4}}, "dimension 0 of 'w' (C) is 4, allowed 3"},
        {0, {.type = HD_U8, .rank = 2, .dim = {2, 3}}, "'x' is u8, allowed i8"},
        {0, {.type = HD_I8, .rank = 3, .dim = {2, 3, 1}}, "'x' has 3 dimensions, allowed 2"},
        {1, {.type = HD_I4, .rank = 2, .dim = {3, 4}}, "'w' is i4, which expressions do not know"},
        {0, {.absent = true}, "'x' is left out; only a parameter with = may be"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hd_expr_arg with[3] = {arg[0], arg[1], arg[2]};
        with[bad[i].param] = bad[i].arg;
        args.arg = with;
        assert_int_equal(hd_expr_bind(ctx, a, f, &args, &b), HD_INVALID);
        assert_non_null(strstr(hd_message(ctx), bad[i].message));
        hd_clear(ctx);
    }
    args = (struct hd_expr_args){3, arg, 0, NULL};
    assert_int_equal(hd_expr_bind(ctx, a, f, &args, &b), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "the scalar 'k' has no value"));
    hd_ctx_destroy(ctx);
    hd_arena_destroy(a);
}

/* Channels last: parameters, results, and what is on the way. */
static void permuted(void **state) {
    static const int last[] = {0, 2, 1}, back[] = {1, 0};
    hd_arena *a = hd_arena_create();
    hd_ctx *ctx = hd_ctx_create();
    struct hd_expr *f, *b;
    (void)state;
    const char *text = "(x: i8[2,3,5], w: i8[4,3]) -> y\n"
                       "s[n,m,i] += i32(pad(x[n,c,i-1], 7))*i32(w[m,c]) where i < 5\n"
                       "y[n,m,i] = s[n,m,i] + i32(m)";
    assert_int_equal(hd_expr_parse(ctx, a, text, &f), HD_OK);
    if (hd_expr_bind(ctx, a, f, NULL, &b) != HD_OK) fail_msg("%s", hd_message(ctx));
    hd_expr_permute(b, 0, last);
    hd_expr_permute(b, 1, back);
    hd_expr_permute(b, 2, last);
    hd_expr_permute(b, 3, last);
    assert_int_equal(hd_expr_verify(ctx, b), HD_OK);
    assert_string_equal(hd_expr_text(a, b),
                        "(x: i8[2,5,3], w: i8[3,4]) -> y: i32[2,5,4]\n"
                        "s[n,i,m] += i32(pad(x[n,i - 1,c], 7))*i32(w[c,m]) where n < 2, i < 5, m < "
                        "4, c < 3\n"
                        "y[n,i,m] = s[n,i,m] + i32(m) where n < 2, i < 5, m < 4\n");
    hd_ctx_destroy(ctx);
    hd_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(permuted), cmocka_unit_test(normal_form),
                                       cmocka_unit_test(binds),    cmocka_unit_test(refused),
                                       cmocka_unit_test(computes), cmocka_unit_test(arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
