/* What the tests of expressions share: arguments as text, values as text. */
#ifndef HD_TEST_EXPR_UTIL_H
#define HD_TEST_EXPR_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/expr/expr.h"
#include "runtime/base/element.h"

static inline void *expr_room(hd_arena *a, const struct hd_expr_tensor *t) {
    return hd_alloc(a, (size_t)hd_expr_elems(t) * hd_dtype_bytes((hd_dtype)t->type) + 1);
}

static inline const char *expr_values(hd_arena *a, const struct hd_expr_tensor *t,
                                      const void *data) {
    const char *text = "";
    for (int64_t i = 0; i < hd_expr_elems(t); i++)
        text = hd_sprintf(a, "%s%s%g", text, i ? " " : "", hd_k_f64(data, (hd_dtype)t->type, i));
    return text;
}

/* Element i of a parameter that tests fill: small numbers of both signs. */
static inline void expr_fill(const struct hd_expr_tensor *t, void *data, uint32_t seed) {
    for (int64_t i = 0; i < hd_expr_elems(t); i++) {
        seed = seed * 1664525u + 1013904223u;
        hd_k_put_i64(data, (hd_dtype)t->type, i,
                     t->type == HD_BOOL ? (int64_t)(seed >> 31) : (int64_t)(seed >> 24) - 128);
    }
}

#endif
