/* Any text: is refused as a schedule, or reads back; what lowers gives the results that the
 * expression has. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/loop/loop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char expression[] = "(x: i8[3,7], w: i8[5,7], i: i64[3]) -> y, z\n"
                                 "t[a,b] = x[a,b] * 2\n"
                                 "y[m,n] += i32(t[m,k]) * i32(w[n,k]) + i32(pad(t[m,k+1], 3))\n"
                                 "z[m,n] argmax= x[i[m],k] + w[n,k]";
enum { MOST_ITERATIONS = 1 << 12 };

static void must(int ok) {
    if (!ok) abort();
}

static bool is_small(const struct hd_nest *n) {
    for (int i = 0; i < n->n_loops; i++)
        if (n->loop[i].extent > MOST_ITERATIONS) return false;
    for (size_t i = 0; i < n->f->n_tensors; i++)
        if (hd_expr_elems(&n->f->tensor[i]) > MOST_ITERATIONS) return false;
    return true;
}

static void compare(hd_ctx *ctx, hd_arena *a, const struct hd_expr *b, const struct hd_nest *n) {
    int8_t x[3 * 7], w[5 * 7];
    int64_t i[3] = {2, 0, 1};
    for (int k = 0; k < 21; k++) x[k] = (int8_t)(k * 37);
    for (int k = 0; k < 35; k++) w[k] = (int8_t)(k * 91);
    int32_t y[2][15];
    int64_t z[2][15];
    const void *in[] = {x, w, i};
    must(hd_expr_run(ctx, b, in, (void *[]){y[0], z[0]}, a) == HD_OK);
    must(hd_loop_run(ctx, n, in, (void *[]){y[1], z[1]}, a) == HD_OK);
    must(!memcmp(y[0], y[1], sizeof y[0]) && !memcmp(z[0], z[1], sizeof z[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_expr *f, *b;
    struct hd_schedule *s, *again;
    struct hd_nest *n;
    must(hd_expr_parse(ctx, a, expression, &f) == HD_OK);
    must(hd_expr_bind(ctx, a, f, NULL, &b) == HD_OK);
    if (hd_schedule_parse(ctx, a, hd_strndup(a, (const char *)data, size), &s) == HD_OK) {
        const char *text = hd_schedule_text(a, s);
        must(hd_schedule_parse(ctx, a, text, &again) == HD_OK);
        must(!strcmp(hd_schedule_text(a, again), text));
        if (hd_loop_lower(ctx, a, b, s, &n) == HD_OK) {
            must(*hd_loop_text(a, n));
            if (is_small(n)) compare(ctx, a, b, n);
        }
    }
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
    return 0;
}
