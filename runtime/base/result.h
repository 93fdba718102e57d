/* Results of calls and the context that carries messages: what users of libheddle_rt see of
 * runtime/base. status.h has the other half, for code of the project. */
#ifndef HD_BASE_RESULT_H
#define HD_BASE_RESULT_H

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
    X(MISMATCH, "version or machine mismatch") /* recompile for this machine */

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

#ifdef __cplusplus
}
#endif

#endif
