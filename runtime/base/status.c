/* Status texts, context and messages. */
#include "runtime/base/status.h"
#include "runtime/base/memory.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ASK_NS = 50000000 }; /* between two questions to `stop` */

struct hd_ctx {
    char msg[4096], warnings[1024];
    hd_ctx *parent; /* NULL = none */
    atomic_bool cancelled;
    bool (*stop)(void *user); /* asked in `asked_in`; NULL = nobody */
    void *user;
    pthread_t asked_in;
    struct timespec last; /* when it was asked */
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
    HD_MEMORY(ctx);
    return ctx;
}

hd_ctx *hd_ctx_for_thread(hd_ctx *parent) {
    hd_ctx *ctx = hd_ctx_create();
    ctx->parent = parent;
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

void hd_error_node(const hd_ctx *ctx, char *out, size_t bytes) {
    static const char begin[] = "node '";
    const char *name = strstr(ctx->msg, begin), *end = NULL;
    if (!bytes) return;
    out[0] = 0;
    if (name) end = strchr(name += strlen(begin), '\'');
    if (end) snprintf(out, bytes, "%.*s", (int)(end - name), name);
}

void hd_cancel(hd_ctx *ctx) {
    atomic_store(&ctx->cancelled, true);
}

void hd_on_wait(hd_ctx *ctx, bool (*stop)(void *user), void *user) {
    ctx->stop = stop;
    ctx->user = user;
    ctx->asked_in = pthread_self();
    clock_gettime(CLOCK_MONOTONIC, &ctx->last);
}

/* Asks `stop` when it is time to. */
static void ask(hd_ctx *ctx) {
    struct timespec now;
    if (!ctx->stop || !pthread_equal(ctx->asked_in, pthread_self())) return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long ns = (now.tv_sec - ctx->last.tv_sec) * 1000000000LL + now.tv_nsec - ctx->last.tv_nsec;
    if (ns < ASK_NS) return;
    ctx->last = now;
    if (ctx->stop(ctx->user)) hd_cancel(ctx);
}

hd_status hd_continue(hd_ctx *ctx) {
    hd_ctx *root = ctx;
    while (root->parent) root = root->parent;
    if (!atomic_load_explicit(&root->cancelled, memory_order_relaxed)) ask(root);
    if (!atomic_load_explicit(&root->cancelled, memory_order_relaxed)) return HD_OK;
    return hd_fail(ctx, HD_CANCELLED, "cancelled");
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

void hd_no_memory(void) {
    fputs("heddle: out of memory; take a smaller network, fewer --threads, or a larger limit\n",
          stderr);
    _Exit(1); /* a file has its name only when it is complete */
}

void hd_assert_fail(const char *cond, const char *file, int line) {
    fprintf(stderr, "heddle: internal error: %s at %s:%d\n", cond, file, line);
    abort();
}
