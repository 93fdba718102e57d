/* Hardware emulation, host side: starts the emulated device as a process of its own and stands
 * between it and XRT. XRT waits for ever for a device that died; the relay answers in its place. */
#ifndef HD_DRIVER_EMU_HOST_H
#define HD_DRIVER_EMU_HOST_H

#include "runtime/device/hal.h"

typedef struct hd_emu_host hd_emu_host;

/* Starts the device for opt->machine and opt->mem and makes a private folder for XRT. Sets USER,
 * EMULATION_SOCKETID, XILINX_XRT and SDACCEL_EM_RUN_DIR of this process until hd_emu_host_stop,
 * since XRT reads them; so there is one at a time in a process. `shim` is the file
 * libxrt_hwemu.so.2. */
hd_status hd_emu_host_start(hd_ctx *ctx, const struct hd_device_options *opt, const char *shim,
                            hd_emu_host **out);
/* Call it after XRT closed the device. Ends the process, removes the folder. stay: XRT has not
 * closed it and will do so when the process ends; the relay answers until then. */
void hd_emu_host_stop(hd_emu_host *h, bool stay);
/* XRT's first wait sleeps ten times as long as asked for: has it now, for 0. `handle`: XRT's. */
void hd_emu_host_first_wait(void *handle);
/* The host gave a run up: until the next start, XRT reads of ap_ctrl that it is done, so that its
 * threads, which poll without pause, let others at the registers. */
void hd_emu_host_release(hd_emu_host *h, int core);
const char *hd_emu_host_xclbin(const hd_emu_host *h); /* path of the file to load */
/* NULL while the device answers; else what became of it. */
const char *hd_emu_host_fault(const hd_emu_host *h);

#endif
