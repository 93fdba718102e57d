/* Device "xrt": a board, or hardware emulation, through the native C interface of XRT. The driver's
 * sequence is sim/mach_dev.c, the one of the simulators; this file gives it registers and memory.
 *
 *   board       XILINX_XRT from XRT's setup.sh, HEDDLE_XCLBIN = the file to load
 *   emulation   XCL_EMULATION_MODE=hw_emu; HEDDLE_EMU_DEVICE = rtl (default) or iss
 *
 * libxrt_coreutil.so.2 is opened at run time and never closed: XRT leaves threads behind. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver/emu_host.h"
#include "driver/xclbin.h"
#include "sim/mach_dev.h"

enum { PATH_BYTES = 1024, TO_DEVICE = 0, FROM_DEVICE = 1 };
enum {
    SPIN_POLLS = 200, /* of ap_ctrl without sleep: short runs end there */
    SLICE_MS = 50,    /* one call of run(): mach_dev looks at the clock between them */
    RESET_MS = 1000
};
enum { PACKET_BYTES = 256 << 10, PAD_BYTES = PACKET_BYTES + 511 };

/* From xrt_device.h, xrt_bo.h, xrt_kernel.h, xrt_ini.h; handles are pointers. */
#define XRT_CALLS(X)                                                                               \
    X(void *, xrtDeviceOpen, (unsigned index))                                                     \
    X(int, xrtDeviceClose, (void *device))                                                         \
    X(int, xrtDeviceLoadXclbinFile, (void *device, const char *path))                              \
    X(int, xrtDeviceGetXclbinUUID, (void *device, unsigned char *out))                             \
    X(void *, xrtPLKernelOpenExclusive,                                                            \
      (void *device, const unsigned char *uuid, const char *name))                                 \
    X(int, xrtKernelClose, (void *kernel))                                                         \
    X(int, xrtKernelArgGroupId, (void *kernel, int arg))                                           \
    X(int, xrtKernelReadRegister, (void *kernel, uint32_t offset, uint32_t *out))                  \
    X(int, xrtKernelWriteRegister, (void *kernel, uint32_t offset, uint32_t value))                \
    X(void *, xrtBOAlloc, (void *device, size_t bytes, uint64_t flags, uint32_t group))            \
    X(int, xrtBOFree, (void *buffer))                                                              \
    X(void *, xrtBOMap, (void *buffer))                                                            \
    X(uint64_t, xrtBOAddress, (void *buffer))                                                      \
    X(int, xrtBOSync, (void *buffer, int direction, size_t bytes, size_t offset))                  \
    X(int, xrtIniStringSet, (const char *key, const char *value))

struct xrt_api {
#define X(result, name, args) result(*name) args;
    XRT_CALLS(X)
#undef X
};

struct board {
    struct xrt_api api;
    hd_emu_host *emu; /* NULL: a board */
    void *device, *kernel;
    uint32_t group[2]; /* memory group of image and arena */
    const char *fault;
};

/* ---- what is here --------------------------------------------------------------------------- */

static bool emulates(void) {
    const char *mode = getenv("XCL_EMULATION_MODE");
    return mode && !strcmp(mode, "hw_emu");
}

static void *open_library(void) {
    return dlopen("libxrt_coreutil.so.2", RTLD_NOW | RTLD_LOCAL);
}

/* The shim: in $XILINX_XRT/lib, where XRT looks, or (emulation) beside libxrt_coreutil, as Debian
 * has it. XRT aborts the process when there is none. */
static bool find_shim(void *lib, char *out) {
    const char *root = getenv("XILINX_XRT");
    const char *name = emulates() ? "libxrt_hwemu.so.2" : "libxrt_core.so.2";
    if (root && *root && snprintf(out, PATH_BYTES, "%s/lib/%s", root, name) < PATH_BYTES &&
        access(out, R_OK) == 0)
        return true;
    Dl_info info;
    void *symbol = dlsym(lib, "xrtDeviceOpen");
    if (!emulates() || !symbol || !dladdr(symbol, &info) || !info.dli_fname) return false;
    const char *slash = strrchr(info.dli_fname, '/');
    int n = slash ? (int)(slash + 1 - info.dli_fname) : 0;
    return snprintf(out, PATH_BYTES, "%.*s%s", n, info.dli_fname, name) < PATH_BYTES &&
           access(out, R_OK) == 0;
}

/* NULL, or why the device cannot be opened here and what to do. */
static const char *why_not(void) {
    char shim[PATH_BYTES];
    const char *mode = getenv("XCL_EMULATION_MODE"), *file = getenv("HEDDLE_XCLBIN");
    if (mode && !emulates())
        return "XCL_EMULATION_MODE is not hw_emu, the one emulation that works; set it to hw_emu";
    void *lib = open_library();
    if (!lib)
        return "libxrt_coreutil.so.2 is not installed; run 'scripts/deps.sh xrt' for emulation, "
               "install AMD's XRT package for a board";
    if (!emulates() && (!file || !*file))
        return "no board is named; set XCL_EMULATION_MODE=hw_emu for emulation, or HEDDLE_XCLBIN "
               "to the xclbin of a board";
    if (!find_shim(lib, shim))
        return emulates() ? "libxrt_hwemu.so.2 is missing; run 'scripts/deps.sh xrt'"
                          : "no libxrt_core.so.2 in $XILINX_XRT/lib; source setup.sh of XRT first";
    if (!emulates() && access(file, R_OK) != 0)
        return "the file that HEDDLE_XCLBIN names cannot be read; correct it";
    return NULL;
}

static hd_status probe(hd_ctx *ctx, const struct hd_device_options *opt,
                       struct hd_device_info *out) {
    (void)ctx;
    (void)opt;
    *out = (struct hd_device_info){.description = "a board, or XRT's hardware emulation"};
    out->why_not = why_not();
    out->available = !out->why_not;
    return HD_OK;
}

/* ---- open ----------------------------------------------------------------------------------- */

static hd_status load_calls(hd_ctx *ctx, void *lib, struct xrt_api *out) {
    void *symbol;
#define X(result, name, args)                                                                      \
    symbol = dlsym(lib, #name);                                                                    \
    if (!symbol)                                                                                   \
        return hd_fail(ctx, HD_MISMATCH,                                                           \
                       "xrt: libxrt_coreutil.so.2 has no " #name "; want XRT 2021.1 or later");    \
    memcpy(&out->name, &symbol, sizeof symbol);
    XRT_CALLS(X)
#undef X
    return HD_OK;
}

/* Settings of the emulation. The pad makes the first message the longest: Debian's library loses
 * its buffer when a later one needs more. XRT refuses a change after its first use; it is the same
 * text every time. */
static hd_status set_up_emulation(hd_ctx *ctx, struct board *b) {
    char number[16], *pad = malloc(PAD_BYTES + 1);
    if (!pad) return hd_fail(ctx, HD_NOMEM, "xrt: no memory for the settings");
    memset(pad, 'x', PAD_BYTES);
    pad[PAD_BYTES] = 0;
    snprintf(number, sizeof number, "%d", PACKET_BYTES);
    const char *const set[][2] = {{"Emulation.packet_size", number},
                                  {"Emulation.dont_run", "true"},
                                  {"Emulation.system_dpa", "false"},
                                  {"Emulation.print_infos_in_console", "false"},
                                  {"Emulation.print_warnings_in_console", "false"},
                                  {"Emulation.keep_run_dir", "false"},
                                  {"Debug.pad", pad}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        b->api.xrtIniStringSet(set[i][0], set[i][1]);
    free(pad);
    return HD_OK;
}

/* The compute unit's name for XRT, "hd_top:{hd_top_1}", checked against the file. */
static hd_status unit_name(hd_ctx *ctx, const char *path, char *out, size_t bytes) {
    struct hd_xclbin x;
    static const char prefix[] = HD_XCLBIN_KERNEL ":";
    hd_arena *a = hd_arena_create();
    hd_status s = hd_xclbin_read(ctx, a, path, &x);
    const char *found = NULL;
    for (int i = 0; !s && i < x.n_ips && !found; i++)
        if (!strncmp(x.ips[i].name, prefix, strlen(prefix))) found = x.ips[i].name + strlen(prefix);
    if (!s && (!found || (size_t)snprintf(out, bytes, "%s{%s}", prefix, found) >= bytes))
        s = hd_fail(ctx, HD_INVALID,
                    "xrt: %s has no compute unit of kernel " HD_XCLBIN_KERNEL
                    "; see what it has: heddle xclbin info %s",
                    path, path);
    hd_arena_destroy(a);
    return s;
}

static hd_status open_kernel(hd_ctx *ctx, struct board *b, const char *path) {
    char unit[160];
    unsigned char uuid[16];
    TRY(unit_name(ctx, path, unit, sizeof unit));
    b->device = b->api.xrtDeviceOpen(0);
    if (!b->device)
        return hd_fail(ctx, HD_DEVICE,
                       "xrt: XRT opens no device 0; is the board there (lspci -d 10ee:) and its "
                       "driver xocl loaded?");
    if (b->emu) { /* XRT's first wait sleeps ten times as long as asked for: have it now, for 0 */
        int (*first_wait)(void *, int);
        void *(*handle)(void *);
        void *symbol = dlsym(RTLD_DEFAULT, "xclExecWait"), *to = NULL;
        memcpy(&first_wait, &symbol, sizeof symbol);
        void *lib = open_library();
        if (lib) to = dlsym(lib, "xrtDeviceToXclDevice");
        memcpy(&handle, &to, sizeof to);
        if (symbol && to) first_wait(handle(b->device), 0);
    }
    if (b->api.xrtDeviceLoadXclbinFile(b->device, path))
        return hd_fail(ctx, HD_DEVICE,
                       "xrt: XRT does not load %s; it must be made for this board (heddle xclbin "
                       "info shows the platform), and no other process may use another file",
                       path);
    if (b->emu && hd_emu_host_fault(b->emu))
        return hd_fail(ctx, HD_DEVICE, "xrt: %s", hd_emu_host_fault(b->emu));
    if (b->api.xrtDeviceGetXclbinUUID(b->device, uuid))
        return hd_fail(ctx, HD_DEVICE, "xrt: XRT gives no uuid of %s; load it again", path);
    b->kernel = b->api.xrtPLKernelOpenExclusive(b->device, uuid, unit);
    if (!b->kernel)
        return hd_fail(ctx, HD_DEVICE,
                       "xrt: compute unit %s is not to be had alone; end the process that uses it",
                       unit);
    for (int i = 0; i < 2; i++) {
        int group = b->api.xrtKernelArgGroupId(b->kernel, i);
        if (group < 0)
            return hd_fail(ctx, HD_DEVICE,
                           "xrt: argument %d of %s is in no memory bank; link the kernel with "
                           "[connectivity] sp=",
                           i, unit);
        b->group[i] = (uint32_t)group;
    }
    return HD_OK;
}

/* ---- registers ------------------------------------------------------------------------------ */

static const char *fault(void *self) {
    struct board *b = self;
    const char *emu = b->emu ? hd_emu_host_fault(b->emu) : NULL;
    return emu ? emu : b->fault;
}

static void reg_write(void *self, uint32_t offset, uint32_t v) {
    struct board *b = self;
    if (fault(b)) return;
    if (b->api.xrtKernelWriteRegister(b->kernel, offset, v))
        b->fault = "XRT cannot write the kernel's registers any more; reset the board (xbutil "
                   "reset) and open it again";
}

static uint32_t reg_read(void *self, uint32_t offset) {
    struct board *b = self;
    uint32_t v = 0;
    if (fault(b)) return 0;
    if (b->api.xrtKernelReadRegister(b->kernel, offset, &v))
        b->fault = "XRT cannot read the kernel's registers any more; reset the board (xbutil "
                   "reset) and open it again";
    return v;
}

static hd_status check_kernel(hd_ctx *ctx, struct board *b, const struct hd_machine *m) {
    uint32_t isa = reg_read(b, HD_REG_isa_hash), machine = reg_read(b, HD_REG_machine_hash);
    if (fault(b)) return hd_fail(ctx, HD_DEVICE, "xrt: %s", fault(b));
    if (isa == hd_isa_hash() && machine == hd_machine_hash(m)) return HD_OK;
    return hd_fail(ctx, HD_MISMATCH,
                   "xrt: the kernel has machine 0x%08" PRIx32 " and instruction set 0x%08" PRIx32
                   ", %s is 0x%08" PRIx32 " and 0x%08" PRIx32
                   "; name the kernel's machine with --machine, or build the kernel again",
                   machine, isa, m->name, hd_machine_hash(m), hd_isa_hash());
}

/* ---- backend -------------------------------------------------------------------------------- */

static void destroy(void *self) {
    struct board *b = self;
    if (b->kernel) b->api.xrtKernelClose(b->kernel);
    if (b->device) b->api.xrtDeviceClose(b->device);
    hd_emu_host_stop(b->emu);
    free(b);
}

static hd_status open_board(hd_ctx *ctx, struct board *b, const struct hd_device_options *opt) {
    static const int caught[] = {SIGSEGV, SIGFPE, SIGABRT};
    enum { N = sizeof caught / sizeof *caught };
    struct sigaction was[N];
    char shim[PATH_BYTES];
    const char *why = why_not();
    if (why) return hd_fail(ctx, HD_DEVICE, "xrt: %s", why);
    void *lib = open_library();
    TRY(load_calls(ctx, lib, &b->api));
    const char *path = getenv("HEDDLE_XCLBIN");
    if (emulates()) {
        if (!find_shim(lib, shim)) return hd_fail(ctx, HD_DEVICE, "xrt: the shim went away");
        TRY(hd_emu_host_start(ctx, opt, shim, &b->emu));
        TRY(set_up_emulation(ctx, b));
        path = hd_emu_host_xclbin(b->emu);
    }
    /* XRT's emulation catches these and signals the whole process group; take them back. */
    for (int i = 0; i < N; i++) sigaction(caught[i], NULL, &was[i]);
    fflush(stdout);
    int out = dup(STDOUT_FILENO); /* XRT talks; what it says is no result of ours */
    if (out >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
    hd_status s = open_kernel(ctx, b, path);
    fflush(stdout);
    if (out >= 0) {
        dup2(out, STDOUT_FILENO);
        close(out);
    }
    for (int i = 0; i < N; i++) sigaction(caught[i], &was[i], NULL);
    return s ? s : check_kernel(ctx, b, &opt->machine);
}

static hd_status create(hd_ctx *ctx, const struct hd_device_options *opt, hd_axi_mem *mem,
                        void **out) {
    (void)mem;
    *out = NULL;
    struct board *b = calloc(1, sizeof *b);
    if (!b) return hd_fail(ctx, HD_NOMEM, "xrt: no memory for the device");
    hd_status s = open_board(ctx, b, opt);
    if (s)
        destroy(b);
    else
        *out = b;
    return s;
}

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Polls for done or idle. A board does not count for us, so max_cycles only tells a run from the
 * wait after a soft reset (0). */
static bool run(void *self, uint64_t max_cycles) {
    uint64_t end = now_ms() + (max_cycles ? SLICE_MS : RESET_MS);
    for (int polls = 0;; polls++) {
        if ((reg_read(self, HD_REG_ap_ctrl) & 6) || fault(self)) return true;
        if (now_ms() >= end) return false;
        if (polls > SPIN_POLLS) nanosleep(&(struct timespec){0, 100000}, NULL);
    }
}

static const struct hd_layer_counters *layers(void *self, int *out_n) {
    (void)self;
    *out_n = 0; /* the registers count units, not layers */
    return NULL;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void block_free(void *self, struct hd_mach_block *k) {
    struct board *b = self;
    b->api.xrtBOFree(k->handle);
}

/* Image and arena are linked to the same bank by link.cfg; where they are not, nothing fits. */
static hd_status block_alloc(hd_ctx *ctx, void *self, struct hd_mach_block *k) {
    struct board *b = self;
    if (fault(b)) return hd_fail(ctx, HD_DEVICE, "xrt: %s", fault(b));
    if (b->group[0] != b->group[1])
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "xrt: image_ptr is in memory group %" PRIu32 ", arena_ptr in %" PRIu32
                       "; link both to the same bank",
                       b->group[0], b->group[1]);
    size_t bytes = k->bytes ? k->bytes : 1;
    k->handle = b->api.xrtBOAlloc(b->device, bytes, 0, b->group[0]);
    k->data = k->handle ? b->api.xrtBOMap(k->handle) : NULL;
    if (!k->data) {
        if (k->handle) b->api.xrtBOFree(k->handle);
        return hd_fail(ctx, HD_NOMEM,
                       "xrt: no buffer of %zu bytes in memory group %" PRIu32
                       " of the device; use a smaller model, or a larger bank",
                       bytes, b->group[0]);
    }
    k->address = b->api.xrtBOAddress(k->handle);
    memset(k->data, 0, bytes);
    return HD_OK;
}

static hd_status block_sync(hd_ctx *ctx, void *self, struct hd_mach_block *k, size_t off,
                            size_t bytes, bool to_machine) {
    struct board *b = self;
    if (fault(b)) return hd_fail(ctx, HD_DEVICE, "xrt: %s", fault(b));
    int bad = b->api.xrtBOSync(k->handle, to_machine ? TO_DEVICE : FROM_DEVICE, bytes, off);
    if (fault(b)) return hd_fail(ctx, HD_DEVICE, "xrt: %s", fault(b));
    if (!bad) return HD_OK;
    return hd_fail(ctx, HD_DEVICE, "xrt: transfer of %zu bytes %s the device failed; see dmesg",
                   bytes, to_machine ? "to" : "from");
}

/* ---- device --------------------------------------------------------------------------------- */

static const struct hd_mach_memory memory = {block_alloc, block_free, block_sync};
static const struct hd_mach_backend backend = {.scheme = "xrt",
                                               .create = create,
                                               .destroy = destroy,
                                               .reg_write = reg_write,
                                               .reg_read = reg_read,
                                               .run = run,
                                               .layers = layers,
                                               .memory = &memory,
                                               .fault = fault};

static hd_status open_xrt(hd_ctx *ctx, const struct hd_device_options *opt, hd_device **out) {
    return hd_mach_open(ctx, &backend, opt, out);
}

extern const struct hd_device_ops hd_device_xrt;
const struct hd_device_ops hd_device_xrt = {
    .scheme = "xrt",
    .doc = "a board through XRT, or the simulators behind XRT's hardware emulation",
    .sections = HD_RUNS_PROG,
    .probe = probe,
    .open = open_xrt,
    .close = hd_mach_close,
    .alloc = hd_mach_alloc,
    .free = hd_mach_free,
    .write = hd_mach_write,
    .read = hd_mach_read,
    .load = hd_mach_load,
    .unload = hd_mach_unload,
    .submit = hd_mach_submit,
    .wait = hd_mach_wait,
    .counters = hd_mach_counters,
};
