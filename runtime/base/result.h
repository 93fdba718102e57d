/* Results of calls and the context that carries messages: what users of libheddle_rt see of
 * runtime/base. status.h has the other half, for code of the project. */
#ifndef HD_BASE_RESULT_H
#define HD_BASE_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_API __attribute__((visibility("default"))) /* exported by the shared library */

/* Result of every fallible call; the comment says what a caller can do. The text is in the context.
 */
#define HD_STATUS_LIST(X)                                                                          \
    X(OK, "ok")                                                                                    \
    X(INVALID, "invalid input")                /* correct the file, flag or argument */            \
    X(UNSUPPORTED, "not supported")            /* valid, but not by this device or compiler */     \
    X(NOMEM, "out of memory")                  /* free something, or use a smaller model */        \
    X(IO, "input/output error")                /* check path and permissions */                    \
    X(DEVICE, "device error")                  /* timeout, fault, deadlock: see the message */     \
    X(MISMATCH, "version or machine mismatch") /* recompile for this machine */                    \
    X(CANCELLED, "cancelled")                  /* nothing is wrong: hd_cancel was called */

typedef enum hd_status {
#define X(name, text) HD_##name,
    HD_STATUS_LIST(X)
#undef X
        HD_STATUS_COUNT
} hd_status;

HD_API const char *hd_status_text(hd_status s);

/* One per thread of use. Holds the pending message and nothing global. */
typedef struct hd_ctx hd_ctx;
HD_API hd_ctx *hd_ctx_create(void); /* aborts when out of memory */
HD_API void hd_ctx_destroy(hd_ctx *ctx);

/* The pending message: one line per level, innermost first. "" when there is none. */
HD_API const char *hd_message(const hd_ctx *ctx);
HD_API void hd_clear(hd_ctx *ctx);
/* The node that the pending message blames, without its end when it is longer than `bytes`; "" when
 * it blames none. Messages name one as: node 'conv1' (conv). */
HD_API void hd_error_node(const hd_ctx *ctx, char *out, size_t bytes);
/* What is worth knowing though nothing failed; lines, each once, "" when there are none. */
HD_API const char *hd_warnings(const hd_ctx *ctx);

/* Ends what runs with ctx, and what begins later, with HD_CANCELLED: compiling, quantising, and
 * runs on the host and on simulators, within a fraction of a second. From any thread, also from a
 * signal handler. */
HD_API void hd_cancel(hd_ctx *ctx);
/* Long work calls stop(user) about 20 times a second, in the thread that called hd_on_wait, and
 * ends with HD_CANCELLED when it says true. NULL: nobody is asked. */
HD_API void hd_on_wait(hd_ctx *ctx, bool (*stop)(void *user), void *user);

#ifdef __cplusplus
}
#endif

#endif
