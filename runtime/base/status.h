/* Status codes, the context that carries messages, and the macros that pass errors up. */
#ifndef HD_BASE_STATUS_H
#define HD_BASE_STATUS_H

#include "runtime/base/result.h"

/* Records a message in ctx and returns `code`. A message says what, where, got, allowed, what to
 * do: return hd_fail(ctx, HD_INVALID, "%s: kernel %dx%d, at most %d", name, kh, kw, max); */
hd_status hd_fail(hd_ctx *ctx, hd_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds an outer line ("while importing node conv_3") to the pending message unless s is HD_OK;
 * returns s. */
hd_status hd_note(hd_ctx *ctx, hd_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Something to know that stops nothing: a line that is kept, once, for the program to print. */
void hd_warn(hd_ctx *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* For loops that may take long: HD_CANCELLED after hd_cancel, or when hd_on_wait's function says
 * so. */
hd_status hd_continue(hd_ctx *ctx);
/* A context for a thread of its own that is cancelled with `parent`, which outlives it. */
hd_ctx *hd_ctx_for_thread(hd_ctx *parent);

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        hd_status try_status_ = (expr);                                                            \
        if (try_status_ != HD_OK) return try_status_;                                              \
    } while (0)

/* Our own bug: prints and aborts, in every build mode. */
#define HD_ASSERT(cond) ((cond) ? (void)0 : hd_assert_fail(#cond, __FILE__, __LINE__))
_Noreturn void hd_assert_fail(const char *cond, const char *file, int line);

#endif
