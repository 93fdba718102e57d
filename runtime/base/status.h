/* Status codes, the context that carries messages, and the macros that pass errors up. */
#ifndef HD_BASE_STATUS_H
#define HD_BASE_STATUS_H

#include <stddef.h>

/* Result of every fallible call; the comment says what a caller can do. The text is in the context.
 */
#define HD_STATUS_LIST(X)                                                                          \
    X(OK, "ok")                                                                                    \
    X(INVALID, "invalid input")                /* correct the file, flag or argument */            \
    X(UNSUPPORTED, "not supported")            /* valid, but not by this device or compiler */     \
    X(NOMEM, "out of memory")                  /* free something, or use a smaller model */        \
    X(IO, "input/output error")                /* check path and permissions */                    \
    X(DEVICE, "device error")                  /* timeout, fault, deadlock: see the message */     \
    X(MISMATCH, "version or machine mismatch") /* recompile for this machine */

typedef enum hd_status {
#define X(name, text) HD_##name,
    HD_STATUS_LIST(X)
#undef X
        HD_STATUS_COUNT
} hd_status;

const char *hd_status_text(hd_status s);

/* One per thread of use. Holds the pending message and nothing global. */
typedef struct hd_ctx hd_ctx;
hd_ctx *hd_ctx_create(void); /* aborts when out of memory */
void hd_ctx_destroy(hd_ctx *ctx);

/* The pending message: one line per level, innermost first. "" when there is none. */
const char *hd_message(const hd_ctx *ctx);
void hd_clear(hd_ctx *ctx);

/* Records a message in ctx and returns `code`. A message says what, where, got, allowed, what to
 * do: return hd_fail(ctx, HD_INVALID, "%s: kernel %dx%d, at most %d", name, kh, kw, max); */
hd_status hd_fail(hd_ctx *ctx, hd_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds an outer line ("while importing node conv_3") to the pending message unless s is HD_OK;
 * returns s. */
hd_status hd_note(hd_ctx *ctx, hd_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        hd_status try_status_ = (expr);                                                            \
        if (try_status_ != HD_OK) return try_status_;                                              \
    } while (0)

/* Our own bug: prints and aborts, in every build mode. */
#define HD_ASSERT(cond) ((cond) ? (void)0 : hd_assert_fail(#cond, __FILE__, __LINE__))
_Noreturn void hd_assert_fail(const char *cond, const char *file, int line);

#endif
