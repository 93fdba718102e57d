/* heddle expr: a tensor expression with its types and ranges, or the loops that a schedule makes of
 * it. */
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"
#include "compiler/loop/loop.h"
#include "runtime/base/io.h"

static hd_status print(struct hd_cmd *c, hd_arena *a, const char *text) {
    struct hd_expr *f, *bound;
    struct hd_schedule *s;
    struct hd_nest *n;
    TRY(hd_expr_parse(c->ctx, a, text, &f));
    TRY(hd_expr_bind(c->ctx, a, f, NULL, &bound));
    bool c_source = c->opt.emit && !strcmp(c->opt.emit, "c");
    if (!c->opt.schedule && !c_source) {
        fputs(hd_expr_text(a, bound), stdout);
        return HD_OK;
    }
    TRY(hd_schedule_parse(c->ctx, a, c->opt.schedule ? c->opt.schedule : "", &s));
    TRY(hd_loop_lower(c->ctx, a, bound, s, &n));
    if (!c_source) {
        fputs(hd_loop_text(a, n), stdout);
        return HD_OK;
    }
    const char *body;
    TRY(hd_loop_c(c->ctx, a, n, "expression", &body));
    printf("%s%s", hd_loop_c_prologue(), body);
    return HD_OK;
}

int cmd_expr(struct hd_cmd *c) {
    void *text = NULL;
    size_t bytes;
    hd_status s = hd_file_read(c->ctx, c->args[0], &text, &bytes);
    hd_arena *a = hd_arena_create();
    if (s == HD_OK && memchr(text, 0, bytes))
        s = hd_fail(c->ctx, HD_INVALID, "%s: has zero bytes, want text", c->args[0]);
    if (s == HD_OK) s = print(c, a, text);
    hd_arena_destroy(a);
    free(text);
    return s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
}
