/* Status texts, context and messages. */
#include "runtime/base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hd_ctx {
    char msg[4096], warnings[1024];
};

const char *hd_status_text(hd_status s) {
    static const char *const text[] = {
#define X(name, t) t,
        HD_STATUS_LIST(X)
#undef X
    };
    return (unsigned)s < HD_STATUS_COUNT ? text[s] : "unknown status";
}

hd_ctx *hd_ctx_create(void) {
    hd_ctx *ctx = calloc(1, sizeof *ctx);
    HD_ASSERT(ctx != NULL);
    return ctx;
}

void hd_ctx_destroy(hd_ctx *ctx) {
    free(ctx);
}
const char *hd_message(const hd_ctx *ctx) {
    return ctx->msg;
}
void hd_clear(hd_ctx *ctx) {
    ctx->msg[0] = 0;
}

hd_status hd_fail(hd_ctx *ctx, hd_status code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(ctx->msg, sizeof ctx->msg, fmt, ap);
    va_end(ap);
    return code;
}

hd_status hd_note(hd_ctx *ctx, hd_status s, const char *fmt, ...) {
    if (s == HD_OK) return s;
    size_t n = strlen(ctx->msg);
    if (n + 4 >= sizeof ctx->msg) return s;
    memcpy(ctx->msg + n, "\n  ", 4);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(ctx->msg + n + 3, sizeof ctx->msg - n - 3, fmt, ap);
    va_end(ap);
    return s;
}

void hd_warn(hd_ctx *ctx, const char *fmt, ...) {
    char line[256];
    size_t n = strlen(ctx->warnings);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (strstr(ctx->warnings, line) || n + strlen(line) + 2 > sizeof ctx->warnings) return;
    snprintf(ctx->warnings + n, sizeof ctx->warnings - n, "%s\n", line);
}

const char *hd_warnings(const hd_ctx *ctx) {
    return ctx->warnings;
}

void hd_assert_fail(const char *cond, const char *file, int line) {
    fprintf(stderr, "heddle: internal error: %s at %s:%d\n", cond, file, line);
    abort();
}
