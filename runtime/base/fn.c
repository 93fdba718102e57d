/* The functions of the vector unit: see fn.h. Their code is fn_code.def. */
#include "runtime/base/fn.h"

#include <stdbool.h>
#include <string.h>

struct row {
    int32_t c0, c1, c2;
};
static const struct row rows[] = {
#define ROW(c0, c1, c2) {c0, c1, c2},
#include "runtime/base/fn.def"
};
enum { /* first row of each table */
#define TABLE(name, n) AT_##name, END_##name = AT_##name + (n)-1,
#include "runtime/base/fn.def"
};

#define FN_STATIC    static
#define FN_CODE(...) __VA_ARGS__
#include "runtime/base/fn_code.def"

uint32_t hd_fn_bits(enum hd_fn fn, uint32_t x) {
    return fn_bits(fn, x);
}

float hd_fn(enum hd_fn fn, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = fn_bits(fn, bits);
    memcpy(&x, &bits, sizeof x);
    return x;
}

const int32_t *hd_fn_tanh_rows(void) {
    return &rows[AT_tanh].c0;
}
