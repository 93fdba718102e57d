/* Any text: is refused with a message, or is an expression. Its normal form must read back as the
 * same expression; what binds must verify, read back and run. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_STEPS = 1 << 16 };

static void must(int ok) {
    if (!ok) abort();
}

static const char *again(hd_ctx *ctx, hd_arena *a, const char *text, struct hd_expr **out) {
    if (strlen(text) > HD_EXPR_BYTES) return text; /* spaces made it too long */
    must(hd_expr_parse(ctx, a, text, out) == HD_OK);
    return hd_expr_text(a, *out);
}

static bool is_small(const struct hd_expr *f) {
    for (size_t i = 0; i < f->n_tensors; i++)
        if (hd_expr_elems(&f->tensor[i]) > MOST_STEPS) return false;
    for (size_t i = 0; i < f->n_stmts; i++) {
        double steps = 1;
        for (int v = 0; v < f->stmt[i].n_vars; v++) steps *= (double)f->stmt[i].var[v].extent;
        if (steps > MOST_STEPS) return false;
    }
    return true;
}

static void run(hd_ctx *ctx, hd_arena *a, const struct hd_expr *b) {
    const void *in[HD_EXPR_TENSORS];
    void *out[HD_EXPR_TENSORS];
    for (int i = 0; i < b->n_params; i++)
        in[i] = hd_alloc(a, 8 * (size_t)hd_expr_elems(&b->tensor[i]) + 1);
    for (size_t i = 0; i < b->n_results; i++)
        out[i] = hd_alloc(a, 8 * (size_t)hd_expr_elems(&b->tensor[b->result[i]]) + 1);
    if (hd_expr_run(ctx, b, in, out, a) != HD_OK) must(*hd_message(ctx));
}

static void round_trip(hd_ctx *ctx, hd_arena *a, const char *text) {
    struct hd_expr *f, *g, *b;
    if (hd_expr_parse(ctx, a, text, &f) != HD_OK) {
        must(*hd_message(ctx));
        return;
    }
    const char *normal = hd_expr_text(a, f);
    must(!strcmp(again(ctx, a, normal, &g), normal));
    if (hd_expr_bind(ctx, a, f, NULL, &b) != HD_OK) {
        must(*hd_message(ctx));
        return;
    }
    must(hd_expr_verify(ctx, b) == HD_OK);
    const char *bound = hd_expr_text(a, b);
    if (strlen(bound) > HD_EXPR_BYTES) return;
    must(hd_expr_parse(ctx, a, bound, &g) == HD_OK);
    must(hd_expr_bind(ctx, a, g, NULL, &g) == HD_OK);
    must(!strcmp(hd_expr_text(a, g), bound));
    if (is_small(b)) run(ctx, a, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    round_trip(ctx, a, hd_strndup(a, (const char *)data, size));
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
    return 0;
}
