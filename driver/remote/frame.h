/* Frames between a client and heddle serve: a header with kind, number, length and checksum, then
 * the payload. docs/remote.md has the bytes. */
#ifndef HD_REMOTE_FRAME_H
#define HD_REMOTE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/io.h"

#define HD_REMOTE_MAGIC UINT32_C(0x4d524448) /* "HDRM" */
enum {
    HD_REMOTE_PROTOCOL = 3,
    HD_FRAME_HEAD = 16,
    HD_FRAME_BYTES = 1 << 18, /* of a payload at most */
    HD_REMOTE_SILENCE_MS = 5000,
    HD_REMOTE_ALIVE_MS = 1000
};

enum hd_frame_kind {
#define FRAME(name, number, ...) HD_FRAME_##name = number,
#include "driver/remote/frames.def"
};
const char *hd_frame_name(uint32_t kind); /* NULL = there is none */

enum hd_wire_io {
    HD_WIRE_OK,
    HD_WIRE_TIMEOUT, /* nothing came */
    HD_WIRE_END,     /* the other side is gone */
    HD_WIRE_BAD,     /* what came is no frame, or stopped in the middle; why says it */
    HD_WIRE_WOKEN    /* something came by the descriptor `wake` */
};

struct hd_frame {
    uint32_t kind, number;
    struct hd_cursor body; /* valid until the next receive */
};

struct hd_wire {
    int in, out, err; /* err: standard error of a command, -1 = none */
    bool serves;      /* this end is the server */
    int silence_ms;   /* a frame takes at most so long, once it has begun */
    unsigned char *buffer;
    char why[320];  /* of HD_WIRE_BAD */
    char said[640]; /* the last of what came by err */
    size_t n_said;
};

int64_t hd_remote_ms(void); /* a clock */
/* HEDDLE_REMOTE_TIMEOUT in milliseconds, or HD_REMOTE_SILENCE_MS. */
int hd_remote_silence_ms(void);

/* The descriptors become the wire's, and do not block any more. False: no memory. */
bool hd_wire_init(struct hd_wire *w, int in, int out, int err, bool serves);
void hd_wire_deinit(struct hd_wire *w);
enum hd_wire_io hd_wire_send(struct hd_wire *w, uint32_t kind, uint32_t number, const void *data,
                             size_t bytes);
/* Waits wait_ms for a frame to begin. wake: another descriptor that ends the wait, -1 = none. */
enum hd_wire_io hd_wire_receive(struct hd_wire *w, int wait_ms, int wake, struct hd_frame *out);

/* A text of a frame as one that can be shown: cut to `room`, no control characters but newlines. */
void hd_wire_text(struct hd_cursor *c, char *out, size_t room);

#endif
