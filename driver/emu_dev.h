/* The emulated device: what stands behind XRT's hardware emulation instead of a board. It has the
 * kernel's registers, DRAM, and a simulator (iss, rtl) for the machine. */
#ifndef HD_DRIVER_EMU_DEV_H
#define HD_DRIVER_EMU_DEV_H

#include "driver/emu_wire.h"
#include "sim/mach_dev.h"

typedef struct hd_emu hd_emu;

/* scheme: iss or rtl. */
hd_status hd_emu_create(hd_ctx *ctx, const char *scheme, const struct hd_device_options *opt,
                        hd_emu **out);
void hd_emu_destroy(hd_emu *e);

/* Does what the call says and replaces *out by the answer. False: the call was the last one. A read
 * of ap_ctrl or isr while the machine runs first lets it run for a while, so that a host that polls
 * without pause costs little. */
bool hd_emu_answer(hd_emu *e, const struct hd_emu_call *c, struct hd_buf *out);

/* Answers calls on `fd` until the host closes or is gone. fd_d2x (-1 = none) is the host's socket
 * for requests of the device: it is told of the end. HD_DEVICE: the host broke the protocol, or the
 * machine broke AXI's rules. */
hd_status hd_emu_serve(hd_ctx *ctx, hd_emu *e, int fd, int fd_d2x);
/* After hd_emu_serve: the host said that it closes; else it just went. */
bool hd_emu_was_closed(const hd_emu *e);
/* As a device that XRT started: dials the sockets that USER and EMULATION_SOCKETID name. */
hd_status hd_emu_serve_xrt(hd_ctx *ctx, hd_emu *e);
/* Listens at `path` (the other socket: D2X_unix_sock_NAME beside it) for one host. */
hd_status hd_emu_serve_at(hd_ctx *ctx, hd_emu *e, const char *path);

#endif
