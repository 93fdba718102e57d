/* What the devices behind XRT share, "xrt" (native interface) and "xrt-opencl": finding the library
 * and the file, hardware emulation, registers of the compute unit, arguments of a run. */
#ifndef HD_DRIVER_XRT_HOST_H
#define HD_DRIVER_XRT_HOST_H

#include <pthread.h>

#include "driver/emu_host.h"
#include "sim/mach_dev.h"

/* From xrt_device.h, xrt_bo.h, xrt_kernel.h, xrt_ini.h; handles are pointers. */
#define HD_XRT_CALLS(X)                                                                            \
    X(void *, xrtDeviceOpen, (unsigned index))                                                     \
    X(void *, xrtDeviceOpenFromXcl, (void *handle))                                                \
    X(int, xrtDeviceClose, (void *device))                                                         \
    X(int, xrtDeviceLoadXclbinFile, (void *device, const char *path))                              \
    X(int, xrtDeviceGetXclbinUUID, (void *device, unsigned char *out))                             \
    X(void *, xrtDeviceToXclDevice, (void *device))                                                \
    X(void *, xrtPLKernelOpen, (void *device, const unsigned char *uuid, const char *name))        \
    X(void *, xrtPLKernelOpenExclusive,                                                            \
      (void *device, const unsigned char *uuid, const char *name))                                 \
    X(int, xrtKernelClose, (void *kernel))                                                         \
    X(int, xrtKernelArgGroupId, (void *kernel, int arg))                                           \
    X(int, xrtKernelReadRegister, (void *kernel, uint32_t offset, uint32_t *out))                  \
    X(int, xrtKernelWriteRegister, (void *kernel, uint32_t offset, uint32_t value))                \
    X(void *, xrtRunOpen, (void *kernel))                                                          \
    X(int, xrtRunSetArg, (void *run, int arg, ...))                                                \
    X(int, xrtRunStart, (void *run))                                                               \
    X(int, xrtRunState, (void *run))                                                               \
    X(int, xrtRunWaitFor, (void *run, unsigned milliseconds))                                      \
    X(int, xrtRunClose, (void *run))                                                               \
    X(void *, xrtBOAlloc, (void *device, size_t bytes, uint64_t flags, uint32_t group))            \
    X(int, xrtBOFree, (void *buffer))                                                              \
    X(void *, xrtBOMap, (void *buffer))                                                            \
    X(uint64_t, xrtBOAddress, (void *buffer))                                                      \
    X(int, xrtBOSync, (void *buffer, int direction, size_t bytes, size_t offset))                  \
    X(int, xrtIniStringSet, (const char *key, const char *value))

struct hd_xrt_api {
#define X(result, name, args) result(*name) args;
    HD_XRT_CALLS(X)
#undef X
};

struct hd_xrt_buffer {
    uint64_t address; /* on the machine's bus */
    void *handle;
};

enum { HD_XRT_NAME = 160, HD_XRT_BANK = 96 };
struct hd_xrt { /* zeroed to begin */
    const char *scheme;
    struct hd_xrt_api api;
    struct hd_xrt *first;  /* of a core but the first: it has the library, emulation and board */
    int core;              /* compute unit of the file, from 0 */
    hd_emu_host *emu;      /* NULL: a board */
    pthread_mutex_t calls; /* of the first, for all cores: XRT's emulation takes one call at once */
    const char *path;      /* of the xclbin */
    char unit[HD_XRT_NAME]; /* "hd_kernel:{hd_kernel_1}" */
    char bank[HD_XRT_BANK]; /* memory of the buffers, for messages: "bank DDR[1], 16384 MiB" */
    void *kernel;           /* registers */
    const char *fault;      /* the machine cannot be reached any more; NULL = it can */
    struct hd_xrt_buffer *buffers;
    size_t n_buffers, cap_buffers;
    uint32_t args[HD_KERNEL_RANGE / 4]; /* words of arguments as written, by offset / 4 */
    bool keeps_device;                  /* XRT closes it when the process ends, not before */
    bool in_run;                        /* XRT has a run in work, and polls it in emulation */
    uint32_t last_cycles;
    int still; /* slices in which the machine's cycles did not move */
};

/* NULL, or why no device behind XRT can be opened here, and what to do. */
const char *hd_xrt_why_not(void);
bool hd_xrt_emulates(void);

/* Library, xclbin (checked: the compute unit, its memory), and in emulation the device process and
 * XRT's settings. first: NULL, or that of the first core, which has these and is closed later. On
 * error, too, hd_xrt_close ends what was begun. */
hd_status hd_xrt_open(hd_ctx *ctx, struct hd_xrt *x, const char *scheme, struct hd_xrt *first,
                      const struct hd_device_options *opt);
void hd_xrt_close(struct hd_xrt *x);
/* Around calls of XRT where several cores may be at work. */
void hd_xrt_enter(struct hd_xrt *x);
void hd_xrt_leave(struct hd_xrt *x);
/* In emulation XRT talks on standard output and catches signals; between these two what it says
 * goes to standard error, and its signal handlers are taken back. */
struct hd_xrt_quiet {
    int out;
    void *handlers;
};
void hd_xrt_quiet(struct hd_xrt_quiet *q);
void hd_xrt_loud(struct hd_xrt_quiet *q);

/* The fingerprints in the kernel are those of m and of this program. */
hd_status hd_xrt_check_kernel(hd_ctx *ctx, struct hd_xrt *x, const struct hd_machine *m);
hd_status hd_xrt_no_memory(hd_ctx *ctx, const struct hd_xrt *x, size_t bytes);

/* Registers: as a hd_mach_backend's, `self` begins with the struct hd_xrt. */
const char *hd_xrt_fault(void *self);
uint32_t hd_xrt_reg_read(void *self, uint32_t offset);
void hd_xrt_reg_write(void *self, uint32_t offset, uint32_t v);
const struct hd_layer_counters *hd_xrt_layers(void *self, int *out_n);
/* Called once in a slice of waiting: true when the machine's clock stands still for a second. */
bool hd_xrt_stands_still(struct hd_xrt *x);
uint64_t hd_xrt_now_ms(void);

/* Buffers by address, for the arguments of a run. False: no memory. */
bool hd_xrt_remember(struct hd_xrt *x, uint64_t address, void *handle);
void hd_xrt_forget(struct hd_xrt *x, void *handle);
/* Argument `a` as written: its buffer (64 bits; NULL = none there) or its word. */
void *hd_xrt_arg_buffer(const struct hd_xrt *x, const struct hd_kernel_arg *a);
uint32_t hd_xrt_arg_word(const struct hd_xrt *x, const struct hd_kernel_arg *a);

#endif
