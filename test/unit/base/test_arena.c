/* Arenas: what is zeroed, what stays where it was, what a reset keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/base/arena.h"

enum { N = 3000 };

/* Memory that was used before. */
static hd_arena *used(void) {
    hd_arena *a = hd_arena_create();
    memset(hd_alloc(a, 1 << 20), 0xff, 1 << 20);
    hd_arena_reset(a);
    return a;
}

static void zeroed(void **state) {
    (void)state;
    hd_arena *a = used();
    for (size_t bytes = 0; bytes < 300; bytes += 7) {
        const unsigned char *p = hd_alloc(a, bytes);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t i = 0; i < bytes; i++) assert_int_equal(p[i], 0);
    }
    hd_arena_destroy(a);
}

/* An item comes zeroed, and those before it keep what they have. */
static void pushed(void **state) {
    struct item {
        int a[5];
    } *item = NULL;
    (void)state;
    hd_arena *a = used();
    size_t n = 0, cap = 0;
    for (int i = 0; i < N; i++) {
        struct item *p = hd_push(a, item, n, cap);
        for (int k = 0; k < 5; k++) assert_int_equal(p->a[k], 0);
        p->a[i % 5] = i + 1;
    }
    assert_int_equal(n, N);
    for (int i = 0; i < N; i++) assert_int_equal(item[i].a[i % 5], i + 1);
    hd_arena_destroy(a);
}

/* asan sees whether it is freed, and freed once. */
static void owned(void **state) {
    (void)state;
    hd_arena *a = hd_arena_create();
    char *first = malloc(10), *text = hd_strdup(a, "before");
    strcpy(first, "owned");
    hd_arena_own(a, first);
    hd_arena_own(a, malloc(1 << 20));
    char *behind = hd_strdup(a, "behind");
    assert_string_equal(text, "before");
    assert_string_equal(first, "owned");
    assert_string_equal(behind, "behind");
    hd_arena_reset(a);
    hd_arena_own(a, malloc(10));
    hd_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed),
        cmocka_unit_test(pushed),
        cmocka_unit_test(owned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
