/* Wire format of XRT's hardware emulation: calls and answers over a stream socket, as protocol
 * buffers. Strictly one call, one answer; see docs/driver.md. */
#ifndef HD_DRIVER_EMU_WIRE_H
#define HD_DRIVER_EMU_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/io.h"

enum hd_emu_api {
    HD_EMU_CLOSE = 1,
    HD_EMU_TO_DEVICE = 6,   /* 3 address, 4 data, 6 offset */
    HD_EMU_FROM_DEVICE = 7, /* 4 address, 5 bytes, 6 offset */
    HD_EMU_WRITE_RAM = 8,
    HD_EMU_WRITE_REG = 9, /* 2 address, 4 data */
    HD_EMU_READ_RAM = 10,
    HD_EMU_READ_REG = 11, /* 2 address, 3 bytes */
    HD_EMU_DEBUG_MESSAGES = 19
};
enum { HD_EMU_MAX_CALL_MIB = 256, HD_EMU_FIELDS = 16 };

struct hd_emu_call { /* zeroed to begin */
    uint32_t api;
    size_t bytes;
    unsigned char *data; /* grows; hd_emu_call_free */
    size_t cap;
};
void hd_emu_call_free(struct hd_emu_call *c);

struct hd_emu_field { /* a field that is absent is all zeros */
    uint64_t v;
    const unsigned char *data; /* in the call */
    size_t n;
};
/* The last value of each field below HD_EMU_FIELDS; false when the message is damaged. */
bool hd_emu_fields(const void *data, size_t bytes, struct hd_emu_field out[HD_EMU_FIELDS]);

/* Appends a field to an answer; hd_emu_put_room returns its zeroed bytes, valid until the next put.
 */
void hd_emu_put(struct hd_buf *b, unsigned field, uint64_t v);
unsigned char *hd_emu_put_room(struct hd_buf *b, unsigned field, size_t n);

/* A number of bytes that the host asks for, cut to what a message may hold. */
size_t hd_emu_asked(uint64_t n);
/* Replaces *out by the answer of a device that is gone: success and zeros, and `done` and `idle`
 * from every register, so that whoever polls for the end of a run sees one. */
void hd_emu_answer_dead(const struct hd_emu_call *c, struct hd_buf *out);

enum hd_emu_io { HD_EMU_OK, HD_EMU_END, HD_EMU_TIMEOUT, HD_EMU_BAD };
/* timeout_ms is for each wait for the peer; < 0 = none. */
enum hd_emu_io hd_emu_read(int fd, void *out, size_t bytes, int timeout_ms);
enum hd_emu_io hd_emu_write(int fd, const void *data, size_t bytes, int timeout_ms);
enum hd_emu_io hd_emu_get_call(int fd, struct hd_emu_call *out, int timeout_ms);
enum hd_emu_io hd_emu_put_call(int fd, const struct hd_emu_call *c, int timeout_ms);
/* Replaces what is in *out. */
enum hd_emu_io hd_emu_get_answer(int fd, struct hd_buf *out, int timeout_ms);
enum hd_emu_io hd_emu_put_answer(int fd, const struct hd_buf *b, int timeout_ms);

#endif
