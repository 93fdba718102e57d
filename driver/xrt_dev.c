/* Device "xrt": a board, or hardware emulation, through the native C interface of XRT. The driver's
 * sequence is sim/mach_dev.c, the one of the simulators; this file gives it registers and memory.
 *
 *   board       XILINX_XRT from XRT's setup.sh, HEDDLE_XCLBIN = the file to load
 *   emulation   XCL_EMULATION_MODE=hw_emu; HEDDLE_EMU_DEVICE = rtl (default) or iss
 *
 * A run is started and awaited in one of two ways (HEDDLE_XRT_START = run or registers): as a run
 * of XRT, whose end is an interrupt on a board; or by writing and polling registers, which is what
 * emulation is quick with, and has no interrupts for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver/xrt_host.h"

enum { TO_DEVICE = 0, FROM_DEVICE = 1 };
enum {
    SPIN_POLLS = 200, /* of ap_ctrl without sleep: short runs end there */
    SLICE_MS = 50,    /* one call of run(): mach_dev looks at the clock between them */
    RESET_MS = 1000
};
/* ert_cmd_state of ert.h */
enum { RUN_COMPLETED = 4, RUN_ERROR = 5, RUN_ABORT = 6, RUN_TIMEOUT = 8, RUN_NORESPONSE = 9 };

struct board {
    struct hd_xrt x; /* first: registers take it */
    void *device;
    void *run;      /* of XRT; NULL: registers */
    uint32_t group; /* memory group of image and arena */
};

static hd_status probe(hd_ctx *ctx, const struct hd_device_options *opt,
                       struct hd_device_info *out) {
    (void)ctx;
    (void)opt;
    *out = (struct hd_device_info){.description = "a board, or XRT's hardware emulation"};
    out->why_not = hd_xrt_why_not();
    out->available = !out->why_not;
    return HD_OK;
}

/* ---- open ----------------------------------------------------------------------------------- */

static hd_status open_run(hd_ctx *ctx, struct board *b) {
    const char *how = getenv("HEDDLE_XRT_START");
    if (how && *how && strcmp(how, "run") && strcmp(how, "registers"))
        return hd_fail(ctx, HD_INVALID, "xrt: HEDDLE_XRT_START is '%s', want run or registers",
                       how);
    if (how && *how ? strcmp(how, "run") : b->x.emu != NULL) return HD_OK;
    b->run = b->x.api.xrtRunOpen(b->x.kernel);
    if (b->run) return HD_OK;
    return hd_fail(ctx, HD_DEVICE, "xrt: XRT opens no run of %s; try HEDDLE_XRT_START=registers",
                   b->x.unit);
}

static hd_status open_board(hd_ctx *ctx, struct board *b) {
    const struct hd_xrt_api *api = &b->x.api;
    b->device = api->xrtDeviceOpen(0);
    if (!b->device)
        return hd_fail(ctx, HD_DEVICE,
                       "xrt: XRT opens no device 0; is the board there (lspci -d 10ee:) and its "
                       "driver xocl loaded?");
    if (b->x.emu) hd_emu_host_first_wait(api->xrtDeviceToXclDevice(b->device));
    if (api->xrtDeviceLoadXclbinFile(b->device, b->x.path))
        return hd_fail(ctx, HD_DEVICE,
                       "xrt: XRT does not load %s; it must be made for this board (heddle xclbin "
                       "info shows the platform), and no other process may use another file",
                       b->x.path);
    return HD_OK;
}

static hd_status open_kernel(hd_ctx *ctx, struct board *b) {
    const struct hd_xrt_api *api = &b->x.api;
    unsigned char uuid[16];
    if (b->x.first)
        b->device = ((struct board *)b->x.first)->device;
    else
        TRY(open_board(ctx, b));
    if (hd_xrt_fault(b)) return hd_fail(ctx, HD_DEVICE, "xrt: %s", hd_xrt_fault(b));
    if (api->xrtDeviceGetXclbinUUID(b->device, uuid))
        return hd_fail(ctx, HD_DEVICE, "xrt: XRT gives no uuid of %s; load it again", b->x.path);
    b->x.kernel = api->xrtPLKernelOpenExclusive(b->device, uuid, b->x.unit);
    if (!b->x.kernel)
        return hd_fail(ctx, HD_DEVICE,
                       "xrt: compute unit %s is not to be had alone; end the process that uses it",
                       b->x.unit);
    int group[2] = {api->xrtKernelArgGroupId(b->x.kernel, 0),
                    api->xrtKernelArgGroupId(b->x.kernel, 1)};
    if (group[0] < 0 || group[0] != group[1])
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "xrt: image_ptr is in memory group %d, arena_ptr in %d; link both to the "
                       "same bank",
                       group[0], group[1]);
    b->group = (uint32_t)group[0];
    return open_run(ctx, b);
}

static void destroy(void *self) {
    struct board *b = self;
    hd_xrt_enter(&b->x);
    if (b->run) b->x.api.xrtRunClose(b->run);
    if (b->x.kernel) b->x.api.xrtKernelClose(b->x.kernel);
    if (b->device && !b->x.first) b->x.api.xrtDeviceClose(b->device);
    hd_xrt_leave(&b->x);
    hd_xrt_close(&b->x);
    free(b);
}

static hd_status create(hd_ctx *ctx, const struct hd_device_options *opt, hd_axi_mem *mem,
                        void **out) {
    (void)mem;
    *out = NULL;
    struct board *b = calloc(1, sizeof *b);
    if (!b) return hd_fail(ctx, HD_NOMEM, "xrt: no memory for the device");
    struct hd_xrt *first = opt->beside ? hd_mach_self(opt->beside) : NULL;
    hd_status s = hd_xrt_open(ctx, &b->x, "xrt", first, opt);
    if (s == HD_OK) {
        struct hd_xrt_quiet quiet;
        hd_xrt_enter(&b->x);
        hd_xrt_quiet(&quiet);
        s = open_kernel(ctx, b);
        hd_xrt_loud(&quiet);
        hd_xrt_leave(&b->x);
    }
    if (s == HD_OK) s = hd_xrt_check_kernel(ctx, &b->x, &opt->machine);
    if (s)
        destroy(b);
    else
        *out = b;
    return s;
}

/* ---- run ------------------------------------------------------------------------------------ */

/* Hands the arguments, which were written to registers, to XRT, and starts its run. */
static void start_run(struct board *b) {
    struct hd_kernel_arg args[HD_KERNEL_ARGS_MAX];
    int n = hd_kernel_args(args), bad = 0;
    hd_xrt_enter(&b->x);
    for (int i = 0; i < n && !bad; i++) {
        void *buffer = args[i].bits == 64 ? hd_xrt_arg_buffer(&b->x, &args[i]) : NULL;
        bad = args[i].bits == 64
                  ? !buffer || b->x.api.xrtRunSetArg(b->run, i, buffer)
                  : b->x.api.xrtRunSetArg(b->run, i, hd_xrt_arg_word(&b->x, &args[i]));
    }
    bad = bad || b->x.api.xrtRunStart(b->run);
    hd_xrt_leave(&b->x);
    if (bad)
        b->x.fault = "XRT does not start the run; reset the board (xbutil reset) and open it again";
    b->x.in_run = !b->x.fault;
}

static void reg_write(void *self, uint32_t offset, uint32_t v) {
    struct board *b = self;
    bool is_arg = offset >= HD_REG_image_ptr && offset < HD_REG_cycle_limit + 4;
    if (is_arg) b->x.args[offset / 4] = v;
    if (b->run && is_arg) return;
    if (b->run && offset == HD_REG_ap_ctrl && (v & 1)) {
        if (!hd_xrt_fault(b)) start_run(b);
        return;
    }
    hd_xrt_reg_write(b, offset, v);
}

/* One look: is the machine done? On a board with runs this waits for the interrupt. */
static bool done(struct board *b, bool wait) {
    if (!b->run) return hd_xrt_reg_read(b, HD_REG_ap_ctrl) & 6;
    if (!b->x.in_run) return true;
    /* Emulation has no interrupts, and its wait takes no notice of the time. */
    hd_xrt_enter(&b->x);
    int state =
        b->x.emu || !wait ? b->x.api.xrtRunState(b->run) : b->x.api.xrtRunWaitFor(b->run, SLICE_MS);
    hd_xrt_leave(&b->x);
    if (state == RUN_ERROR || state == RUN_ABORT || state == RUN_NORESPONSE)
        b->x.fault =
            "XRT gave the run up; see dmesg, reset the board (xbutil reset), open it again";
    if (state == RUN_COMPLETED) b->x.in_run = false;
    return !b->x.in_run;
}

/* Waits a slice for done or idle. A board does not count for us, so max_cycles only tells a run
 * from the wait after a soft reset (0). */
static bool run(void *self, uint64_t max_cycles) {
    struct board *b = self;
    uint64_t end = hd_xrt_now_ms() + (max_cycles ? SLICE_MS : RESET_MS);
    for (int polls = 0;; polls++) {
        if (done(b, max_cycles != 0) || hd_xrt_fault(b)) return true;
        if (hd_xrt_now_ms() >= end) break;
        if (polls > SPIN_POLLS || b->run) nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    if (max_cycles && hd_xrt_stands_still(&b->x))
        b->x.fault = "the machine is not done and its clock stands still; is the kernel held in "
                     "reset? Load the file again, then xbutil reset (docs/bringup.md)";
    return hd_xrt_fault(b) != NULL;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void block_free(void *self, struct hd_mach_block *k) {
    struct board *b = self;
    hd_xrt_forget(&b->x, k->handle);
    hd_xrt_enter(&b->x);
    b->x.api.xrtBOFree(k->handle);
    hd_xrt_leave(&b->x);
}

static hd_status block_alloc(hd_ctx *ctx, void *self, struct hd_mach_block *k) {
    struct board *b = self;
    size_t bytes = k->bytes ? k->bytes : 1;
    if (hd_xrt_fault(b)) return hd_fail(ctx, HD_DEVICE, "xrt: %s", hd_xrt_fault(b));
    hd_xrt_enter(&b->x);
    k->handle = b->x.api.xrtBOAlloc(b->device, bytes, 0, b->group);
    k->data = k->handle ? b->x.api.xrtBOMap(k->handle) : NULL;
    if (k->data) k->address = b->x.api.xrtBOAddress(k->handle);
    bool ok = k->data && hd_xrt_remember(&b->x, k->address, k->handle);
    if (!ok && k->handle) b->x.api.xrtBOFree(k->handle);
    hd_xrt_leave(&b->x);
    if (!ok) {
        *k = (struct hd_mach_block){.bytes = k->bytes};
        return hd_xrt_no_memory(ctx, &b->x, bytes);
    }
    memset(k->data, 0, bytes);
    return HD_OK;
}

static hd_status block_sync(hd_ctx *ctx, void *self, struct hd_mach_block *k, size_t off,
                            size_t bytes, bool to_machine) {
    struct board *b = self;
    if (hd_xrt_fault(b)) return hd_fail(ctx, HD_DEVICE, "xrt: %s", hd_xrt_fault(b));
    hd_xrt_enter(&b->x);
    int bad = b->x.api.xrtBOSync(k->handle, to_machine ? TO_DEVICE : FROM_DEVICE, bytes, off);
    hd_xrt_leave(&b->x);
    if (hd_xrt_fault(b)) return hd_fail(ctx, HD_DEVICE, "xrt: %s", hd_xrt_fault(b));
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
                                               .reg_read = hd_xrt_reg_read,
                                               .run = run,
                                               .layers = hd_xrt_layers,
                                               .memory = &memory,
                                               .fault = hd_xrt_fault};

static hd_status open_xrt(hd_ctx *ctx, const struct hd_device_options *opt, hd_device **out) {
    return hd_mach_open(ctx, &backend, opt, out);
}

extern const struct hd_device_ops hd_device_xrt;
const struct hd_device_ops hd_device_xrt = {
    .scheme = "xrt",
    .doc = "a board through XRT, or the simulators behind XRT's hardware emulation",
    .sections = HD_RUNS_PROG,
    .cores = true,
    .is_board = true,
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
