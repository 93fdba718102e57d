/* Text of structs: what is printed comes back; what is wrong is named with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/base/fields.h"
#include "runtime/base/num.h"

struct sample {
    int i, list[2];
    uint32_t u;
    int64_t l;
    bool b;
    float f;
    struct {
        uint64_t n;
    } inner;
};
static const struct hd_member members[] = {
    HD_MEMBER(struct sample, int, i),           HD_MEMBER(struct sample, int, list[1]),
    HD_MEMBER(struct sample, uint32_t, u),      HD_MEMBER(struct sample, int64_t, l),
    HD_MEMBER(struct sample, bool, b),          HD_MEMBER(struct sample, float, f),
    HD_MEMBER(struct sample, uint64_t, inner.n)};
enum { N = sizeof members / sizeof *members };

static void comes_back(void **state) {
    (void)state;
    const struct sample s = {-7, {0, INT32_MIN}, UINT32_MAX, INT64_MIN, true, 0.1f, {1}};
    struct sample t = {0};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    hd_members_print(f, members, N, &s);
    fclose(f);
    assert_string_equal(text, " i=-7 list[1]=-2147483648 u=4294967295 l=-9223372036854775808 b=1 "
                              "f=0x1.99999ap-4 inner.n=1");
    hd_ctx *ctx = hd_ctx_create();
    struct hd_lines r = {ctx, text, "t", 1};
    assert_int_equal(hd_lines_members(&r, members, N, &t), HD_OK);
    assert_true(hd_members_equal(members, N, &s, &t));
    assert_int_equal(hd_members_hash(HD_HASH_INIT, members, N, &s),
                     hd_members_hash(HD_HASH_INIT, members, N, &t));
    t.inner.n++;
    assert_false(hd_members_equal(members, N, &s, &t));
    assert_int_not_equal(hd_members_hash(HD_HASH_INIT, members, N, &s),
                         hd_members_hash(HD_HASH_INIT, members, N, &t));
    hd_ctx_destroy(ctx);
    free(text);
}

static void wrong_text_is_refused(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"\n# x\ni=2147483648", "t:3: got '2147483648', want a whole number"},
        {"b=2", "t:1: got '2', want a whole number, 0 to 1"},
        {"u=-1", "t:1: got '-1', want a whole number, 0 to 4294967295"},
        {"i=", "t:1: got '', want a whole number"},
        {"i=3x", "t:1: got '3x', want a whole number"},
        {"f=big", "t:1: got 'big', want a number"},
        {"j=1", "t:1: got 'j=1', want a member: i=, list[1]="},
        {"i 1", "t:1: got 'i', want a member"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        hd_ctx *ctx = hd_ctx_create();
        struct hd_lines r = {ctx, wrong[i][0], "t", 0};
        struct sample t = {0};
        assert_true(hd_lines_next(&r));
        assert_int_equal(hd_lines_members(&r, members, N, &t), HD_INVALID);
        if (!strstr(hd_message(ctx), wrong[i][1])) fail_msg("%s", hd_message(ctx));
        hd_ctx_destroy(ctx);
    }
}

/* Any name is one word. */
static void names_come_back(void **state) {
    (void)state;
    static const char *const names[] = {"conv1", "a b", "100%#\n", "res/x_1.y-2", "\x80\xff"};
    for (int i = 0; i < 5; i++) {
        char *text = NULL;
        size_t n = 0;
        FILE *f = open_memstream(&text, &n);
        hd_word_print(f, names[i]);
        fclose(f);
        assert_null(strpbrk(text, " #\n"));
        hd_ctx *ctx = hd_ctx_create();
        hd_arena *a = hd_arena_create();
        struct hd_lines r = {ctx, text, "t", 1};
        const char *name;
        assert_int_equal(hd_lines_name(&r, a, &name), HD_OK);
        assert_string_equal(name, names[i]);
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back),
                                       cmocka_unit_test(wrong_text_is_refused),
                                       cmocka_unit_test(names_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
