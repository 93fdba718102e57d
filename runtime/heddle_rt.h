/* heddle_rt: loads a compiled model (.hdl, made by `heddle compile`) and runs it on a device.
 *
 * A whole program (cc digits.c $(pkg-config --cflags --libs heddle_rt)):
 *
 *   #include <heddle_rt.h>
 *   #include <stdio.h>
 *
 *   int main(void) {
 *       float image[64] = {0}, logits[10];
 *       hd_ctx *ctx = hd_ctx_create();
 *       hd_model *model = NULL;
 *       hd_session *session = NULL;
 *       hd_status s = hd_model_load(ctx, "digits.hdl", &model);
 *       if (!s) s = hd_session_open(ctx, model, "iss", NULL, &session);
 *       if (!s) s = hd_session_run(ctx, session, (const void *[]){image}, (void *[]){logits});
 *       if (s) fprintf(stderr, "%s\n", hd_message(ctx));
 *       hd_session_close(session);
 *       hd_model_destroy(model);
 *       hd_ctx_destroy(ctx);
 *       return s != HD_OK;
 *   }
 *
 * Devices: "xrt" and "xrt-opencl" (a board, or XRT's hardware emulation) are in this library.
 * "golden" (the host, plain C) is in libheddle_host.so, the simulators "iss" and "rtl" are in
 * libheddle_sim.so; they are loaded when they are first asked for, beside this library first. A
 * model needs libheddle_host when the compiler left something to the host, be it only quantize.
 *
 * Memory: loading and opening allocate, running does not (on xrt: XRT's own bookkeeping excepted).
 * Inputs and outputs are dense row-major arrays, the caller's. Numbers are in the host's byte
 * order.
 *
 * Threads: a context and a session each belong to one thread at a time; there is no global state,
 * so sessions of different devices run in different threads. A model is read only once loaded, and
 * may be shared. Submit and wait of one session may be called from several threads, each with its
 * own context.
 *
 * Errors: every call that can fail returns a status (HD_OK is 0), and leaves what, where, got,
 * allowed and what to do in the context: hd_message(). The library neither prints nor exits, except
 * that it aborts when there is no memory for a few small records.
 */
#ifndef HEDDLE_RT_H
#define HEDDLE_RT_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the library that runs; the installed header has its own as HD_RT_VERSION. */
HD_API const char *hd_rt_version(void);

/* ---- models --------------------------------------------------------------------------------- */

typedef struct hd_model hd_model;

/* Errors: HD_IO, HD_INVALID (cut short, damaged, out of bounds), HD_MISMATCH (other format or
 * instruction set). */
HD_API hd_status hd_model_load(hd_ctx *ctx, const char *path, hd_model **out);
/* The same from memory, which is not needed afterwards; `name` is for messages. */
HD_API hd_status hd_model_load_memory(hd_ctx *ctx, const void *data, size_t bytes, const char *name,
                                      hd_model **out);
/* NULL is fine. The model outlives its sessions. */
HD_API void hd_model_destroy(hd_model *m);

enum { HD_IO_RANK = 8 };
struct hd_io_info {
    const char *name; /* the model's */
    int dtype;        /* ONNX TensorProto.DataType: 1 float, 2 uint8, 3 int8, 6 int32, ... */
    int rank;
    int64_t dim[HD_IO_RANK];
    size_t bytes; /* of the dense array */
};
HD_API int hd_model_n_inputs(const hd_model *m);
HD_API int hd_model_n_outputs(const hd_model *m);
/* States: the last inputs, which a session keeps; what they are in the next run is the outputs of
 * the same places from the end. */
HD_API int hd_model_n_states(const hd_model *m);
/* i is in 0..n-1, else *out is all zero. */
HD_API void hd_model_input(const hd_model *m, int i, struct hd_io_info *out);
HD_API void hd_model_output(const hd_model *m, int i, struct hd_io_info *out);

/* ---- devices -------------------------------------------------------------------------------- */

/* Name of device i, NULL behind the last. */
HD_API const char *hd_device_name(int i);
/* HD_OK when the device can be used here, now; else the reason and what to do. */
HD_API hd_status hd_device_check(hd_ctx *ctx, const char *device);

/* ---- running -------------------------------------------------------------------------------- */

typedef struct hd_session hd_session;
struct hd_device_options; /* of the source tree: runtime/device/hal.h */

/* Opens the device, loads the model into it and allocates all that running needs. Programs run on
 * `device`; what the compiler left to the host runs on "golden". Several names with commas between
 * them, as "iss,cuda,cpu": programs run on the one that can (at most one), each other step on the
 * device that it was compiled for, else on the first that runs graphs. opt: NULL, or what the tools
 * of the source tree set. Errors: HD_UNSUPPORTED no such device, HD_DEVICE not usable, HD_MISMATCH
 * the model is for another machine, HD_NOMEM. */
HD_API hd_status hd_session_open(hd_ctx *ctx, const hd_model *m, const char *device,
                                 const struct hd_device_options *opt, hd_session **out);
/* NULL is fine. Requests in flight are given up: what runs is waited for, the rest does not run. */
HD_API void hd_session_close(hd_session *s);

/* Runs once. inputs[i], outputs[i]: in the model's order. Of a state inputs[i] may be NULL: then it
 * is what the last run left, and in the first one its initial value. Its outputs[i] may be NULL:
 * then it is not copied out. After an error the session stays usable, unless the message says that
 * the device has to be opened again; states that it keeps have to be reset. */
HD_API hd_status hd_session_run(hd_ctx *ctx, hd_session *s, const void *const *inputs,
                                void *const *outputs);
/* Machine cycles of the last finished run, from the machine's own counter; 0: none, or no machine.
 */
HD_API uint64_t hd_session_cycles(const hd_session *s);

/* ---- state ---------------------------------------------------------------------------------- */

/* States are as before the first run. */
HD_API hd_status hd_session_reset(hd_ctx *ctx, hd_session *s);
/* What the next run would begin with, as bytes that any session of the same network takes, also on
 * another device; of the same network compiled again, too. */
HD_API size_t hd_session_state_bytes(const hd_session *s);
HD_API hd_status hd_session_state_save(hd_ctx *ctx, hd_session *s, void *out);
/* HD_MISMATCH: of another network. HD_INVALID: cut short, damaged. Then the states stay. */
HD_API hd_status hd_session_state_load(hd_ctx *ctx, hd_session *s, const void *data, size_t bytes);

/* ---- several requests in flight ------------------------------------------------------------- */

/* Prepares for up to n (1..64) requests at once: their buffers, and threads that run them. Host
 * steps of one overlap machine steps of another. A machine of several cores runs as many of them at
 * once, on devices iss, rtl and xrt. Once per session. */
HD_API hd_status hd_session_queue(hd_ctx *ctx, hd_session *s, int n);
/* Takes a request and returns; it is given all states, since requests are not in order. The arrays
 * that inputs[] and outputs[] point to are borrowed until it has been waited for. HD_INVALID: n are
 * in flight already. */
HD_API hd_status hd_session_submit(hd_ctx *ctx, hd_session *s, const void *const *inputs,
                                   void *const *outputs, uint64_t *out_request);
/* Waits, at most timeout_ns (UINT64_MAX: for ever), and gives the request's own status. When time
 * runs out: HD_DEVICE; the request stays in flight and can be waited for again. The same holds of
 * HD_CANCELLED, of the waiting. */
HD_API hd_status hd_session_wait(hd_ctx *ctx, hd_session *s, uint64_t request, uint64_t timeout_ns);

/* Whether it has not been waited for to its end. */
HD_API bool hd_session_in_flight(hd_session *s, uint64_t request);

/* What ran when, for the last 1024 steps of requests: their overlap is what the queue is for. */
struct hd_span {
    uint64_t request;
    int step;                  /* of the model */
    int on_machine;            /* else a host step */
    uint64_t start_ns, end_ns; /* since hd_session_queue */
};
/* Copies up to max spans, oldest first; returns how many. */
HD_API int hd_session_timeline(hd_session *s, struct hd_span *out, int max);

#ifdef __cplusplus
}
#endif

#endif
