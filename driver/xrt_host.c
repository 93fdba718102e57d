/* XRT's library, hardware emulation, registers. libxrt_coreutil.so.2 is opened at run time and
 * never closed: XRT leaves threads behind. */
#define _GNU_SOURCE /* dladdr */
#include "driver/xrt_host.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver/xclbin.h"

enum { PATH_BYTES = 1024, SLICES_STILL = 20 /* of 50 ms */ };
enum { PACKET_BYTES = 256 << 10, PAD_BYTES = PACKET_BYTES + 511 };

/* ---- what is here --------------------------------------------------------------------------- */

bool hd_xrt_emulates(void) {
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
    const char *name = hd_xrt_emulates() ? "libxrt_hwemu.so.2" : "libxrt_core.so.2";
    if (root && *root && snprintf(out, PATH_BYTES, "%s/lib/%s", root, name) < PATH_BYTES &&
        access(out, R_OK) == 0)
        return true;
    Dl_info info;
    void *symbol = dlsym(lib, "xrtDeviceOpen");
    if (!hd_xrt_emulates() || !symbol || !dladdr(symbol, &info) || !info.dli_fname) return false;
    const char *slash = strrchr(info.dli_fname, '/');
    int n = slash ? (int)(slash + 1 - info.dli_fname) : 0;
    return snprintf(out, PATH_BYTES, "%.*s%s", n, info.dli_fname, name) < PATH_BYTES &&
           access(out, R_OK) == 0;
}

const char *hd_xrt_why_not(void) {
    char shim[PATH_BYTES];
    const char *mode = getenv("XCL_EMULATION_MODE"), *file = getenv("HEDDLE_XCLBIN");
    if (mode && !hd_xrt_emulates())
        return "XCL_EMULATION_MODE is not hw_emu, the one emulation that works; set it to hw_emu";
    void *lib = open_library();
    if (!lib)
        return "libxrt_coreutil.so.2 is not installed; run 'scripts/deps.sh xrt' for emulation, "
               "install AMD's XRT package for a board";
    if (!hd_xrt_emulates() && (!file || !*file))
        return "no board is named; set XCL_EMULATION_MODE=hw_emu for emulation, or HEDDLE_XCLBIN "
               "to the xclbin of a board";
    if (!find_shim(lib, shim))
        return hd_xrt_emulates()
                   ? "libxrt_hwemu.so.2 is missing; run 'scripts/deps.sh xrt'"
                   : "no libxrt_core.so.2 in $XILINX_XRT/lib; source setup.sh of XRT first";
    if (!hd_xrt_emulates() && access(file, R_OK) != 0)
        return "the file that HEDDLE_XCLBIN names cannot be read; correct it";
    return NULL;
}

/* ---- open ----------------------------------------------------------------------------------- */

static hd_status load_calls(hd_ctx *ctx, const char *scheme, void *lib, struct hd_xrt_api *out) {
    void *symbol;
#define X(result, name, args)                                                                      \
    symbol = dlsym(lib, #name);                                                                    \
    if (!symbol)                                                                                   \
        return hd_fail(ctx, HD_MISMATCH,                                                           \
                       "%s: libxrt_coreutil.so.2 has no " #name "; want XRT 2022.1 or later",      \
                       scheme);                                                                    \
    memcpy(&out->name, &symbol, sizeof symbol);
    HD_XRT_CALLS(X)
#undef X
    return HD_OK;
}

/* Settings of the emulation. The pad makes the first message the longest: Debian's library loses
 * its buffer when a later one needs more. XRT takes settings before its first use only, which is
 * when it loads the shim; they are the same every time. */
static hd_status set_up_emulation(hd_ctx *ctx, struct hd_xrt *x) {
    if (dlsym(RTLD_DEFAULT, "xclExecWait")) return HD_OK;
    char number[16], *pad = malloc(PAD_BYTES + 1);
    if (!pad) return hd_fail(ctx, HD_NOMEM, "%s: no memory for the settings", x->scheme);
    memset(pad, 'x', PAD_BYTES);
    pad[PAD_BYTES] = 0;
    snprintf(number, sizeof number, "%d", PACKET_BYTES);
    const char *const set[][2] = {{"Emulation.packet_size", number},
                                  {"Emulation.dont_run", "true"},
                                  {"Emulation.system_dpa", "false"},
                                  {"Emulation.print_infos_in_console", "false"},
                                  {"Emulation.print_warnings_in_console", "false"},
                                  {"Emulation.keep_run_dir", "false"},
                                  {"Runtime.rw_shared", "true"},
                                  {"Debug.pad", pad}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        x->api.xrtIniStringSet(set[i][0], set[i][1]);
    free(pad);
    return HD_OK;
}

/* The bank that holds argument `arg` of compute unit `ip`; NULL = the file does not say. */
static const struct hd_xclbin_bank *bank_of(const struct hd_xclbin *x, int ip, uint32_t arg) {
    for (int i = 0; i < x->n_links; i++)
        if (x->links[i].ip == (uint32_t)ip && x->links[i].arg == arg &&
            x->links[i].bank < (uint32_t)x->n_banks)
            return &x->banks[x->links[i].bank];
    return NULL;
}

/* The compute unit's name for XRT, "hd_kernel:{hd_kernel_1}", and the memory of its buffers,
 * checked against the file before XRT sees it. Core i is unit i of the kernel in the file. */
static hd_status read_file(hd_ctx *ctx, struct hd_xrt *out, hd_arena *a) {
    static const char prefix[] = HD_XCLBIN_KERNEL ":";
    struct hd_xclbin x;
    TRY(hd_xclbin_read(ctx, a, out->path, &x));
    int ip = 0, units = 0;
    for (; ip < x.n_ips; ip++)
        if (strncmp(x.ips[ip].name, prefix, strlen(prefix)) == 0 && units++ == out->core) break;
    if (ip == x.n_ips && units)
        return hd_fail(ctx, HD_MISMATCH,
                       "%s: %s has %d compute units of kernel " HD_XCLBIN_KERNEL
                       ", core %d is asked for; give the machine as many cores, or link as many "
                       "(make xclbin)",
                       out->scheme, out->path, units, out->core + 1);
    if (ip == x.n_ips || (size_t)snprintf(out->unit, sizeof out->unit, "%s{%s}", prefix,
                                          x.ips[ip].name + strlen(prefix)) >= sizeof out->unit)
        return hd_fail(ctx, HD_INVALID,
                       "%s: %s has no compute unit of kernel " HD_XCLBIN_KERNEL
                       "; see what it has: heddle xclbin info %s",
                       out->scheme, out->path, out->path);
    const struct hd_xclbin_bank *b[2] = {bank_of(&x, ip, 0), bank_of(&x, ip, 1)};
    if (!b[0] || !b[1] || !b[0]->used)
        return hd_fail(ctx, HD_INVALID,
                       "%s: %s puts argument %d of %s in no memory bank; link the kernel with "
                       "[connectivity] sp= (hw/xrt/board.sh)",
                       out->scheme, out->path, b[0] ? 1 : 0, out->unit);
    if (b[0] != b[1])
        return hd_fail(
            ctx, HD_UNSUPPORTED,
            "%s: %s has image_ptr in bank %s, arena_ptr in %s; link both to the same bank",
            out->scheme, out->path, b[0]->tag, b[1]->tag);
    snprintf(out->bank, sizeof out->bank, "bank %.32s, %" PRIu64 " MiB", b[0]->tag,
             b[0]->bytes >> 20);
    return HD_OK;
}

static hd_status open_first(hd_ctx *ctx, struct hd_xrt *x, const struct hd_device_options *opt) {
    char shim[PATH_BYTES];
    const char *why = hd_xrt_why_not(), *scheme = x->scheme;
    if (why) return hd_fail(ctx, HD_DEVICE, "%s: %s", scheme, why);
    void *lib = open_library();
    TRY(load_calls(ctx, scheme, lib, &x->api));
    x->path = getenv("HEDDLE_XCLBIN");
    if (hd_xrt_emulates()) {
        if (!find_shim(lib, shim)) return hd_fail(ctx, HD_DEVICE, "%s: the shim went away", scheme);
        TRY(hd_emu_host_start(ctx, opt, shim, &x->emu));
        TRY(set_up_emulation(ctx, x));
        x->path = hd_emu_host_xclbin(x->emu);
    }
    return HD_OK;
}

hd_status hd_xrt_open(hd_ctx *ctx, struct hd_xrt *x, const char *scheme, struct hd_xrt *first,
                      const struct hd_device_options *opt) {
    x->scheme = scheme;
    x->first = first;
    x->core = opt->core;
    pthread_mutex_init(&x->calls, NULL);
    if (first)
        x->api = first->api, x->emu = first->emu, x->path = first->path;
    else
        TRY(open_first(ctx, x, opt));
    hd_arena *a = hd_arena_create();
    hd_status s = read_file(ctx, x, a);
    hd_arena_destroy(a);
    return s;
}

void hd_xrt_close(struct hd_xrt *x) {
    if (!x->first) hd_emu_host_stop(x->emu, x->keeps_device);
    pthread_mutex_destroy(&x->calls);
    free(x->buffers);
}

void hd_xrt_enter(struct hd_xrt *x) {
    if (x->emu) pthread_mutex_lock(&(x->first ? x->first : x)->calls);
}

void hd_xrt_leave(struct hd_xrt *x) {
    if (x->emu) pthread_mutex_unlock(&(x->first ? x->first : x)->calls);
}

/* ---- XRT's manners -------------------------------------------------------------------------- */

static const int caught[] = {SIGSEGV, SIGFPE, SIGABRT};
enum { N_CAUGHT = sizeof caught / sizeof *caught };

void hd_xrt_quiet(struct hd_xrt_quiet *q) {
    struct sigaction *was = calloc(N_CAUGHT, sizeof *was);
    for (int i = 0; was && i < N_CAUGHT; i++) sigaction(caught[i], NULL, &was[i]);
    q->handlers = was;
    fflush(stdout);
    q->out = dup(STDOUT_FILENO);
    if (q->out >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
}

void hd_xrt_loud(struct hd_xrt_quiet *q) {
    struct sigaction *was = q->handlers;
    fflush(stdout);
    if (q->out >= 0) {
        dup2(q->out, STDOUT_FILENO);
        close(q->out);
    }
    for (int i = 0; was && i < N_CAUGHT; i++) sigaction(caught[i], &was[i], NULL);
    free(was);
}

/* ---- registers ------------------------------------------------------------------------------ */

const char *hd_xrt_fault(void *self) {
    struct hd_xrt *x = self;
    const char *emu = x->emu ? hd_emu_host_fault(x->emu) : NULL;
    return emu ? emu : x->fault;
}

void hd_xrt_reg_write(void *self, uint32_t offset, uint32_t v) {
    struct hd_xrt *x = self;
    if (hd_xrt_fault(x)) return;
    if (x->emu && x->in_run) hd_emu_host_release(x->emu, x->core); /* as below */
    hd_xrt_enter(x);
    int bad = x->api.xrtKernelWriteRegister(x->kernel, offset, v);
    hd_xrt_leave(x);
    if (bad)
        x->fault = "XRT cannot write the kernel's registers any more; reset the board (xbutil "
                   "reset) and open it again";
}

uint32_t hd_xrt_reg_read(void *self, uint32_t offset) {
    struct hd_xrt *x = self;
    uint32_t v = 0;
    if (hd_xrt_fault(x)) return 0;
    /* nobody looks while it is wanted */
    if (x->emu && x->in_run) hd_emu_host_release(x->emu, x->core);
    hd_xrt_enter(x);
    int bad = x->api.xrtKernelReadRegister(x->kernel, offset, &v);
    hd_xrt_leave(x);
    if (bad)
        x->fault = "XRT cannot read the kernel's registers any more; reset the board (xbutil "
                   "reset) and open it again";
    return v;
}

const struct hd_layer_counters *hd_xrt_layers(void *self, int *out_n) {
    (void)self;
    *out_n = 0; /* the registers count units, not layers */
    return NULL;
}

hd_status hd_xrt_check_kernel(hd_ctx *ctx, struct hd_xrt *x, const struct hd_machine *m) {
    uint32_t isa = hd_xrt_reg_read(x, HD_REG_isa_hash);
    uint32_t machine = hd_xrt_reg_read(x, HD_REG_machine_hash);
    if (hd_xrt_fault(x)) return hd_fail(ctx, HD_DEVICE, "%s: %s", x->scheme, hd_xrt_fault(x));
    if (isa == hd_isa_hash() && machine == hd_machine_hash(m)) return HD_OK;
    return hd_fail(ctx, HD_MISMATCH,
                   "%s: the kernel has machine 0x%08" PRIx32 " and instruction set 0x%08" PRIx32
                   ", %s is 0x%08" PRIx32 " and 0x%08" PRIx32
                   "; name the kernel's machine with --machine, or build the kernel again",
                   x->scheme, machine, isa, m->name, hd_machine_hash(m), hd_isa_hash());
}

hd_status hd_xrt_no_memory(hd_ctx *ctx, const struct hd_xrt *x, size_t bytes) {
    return hd_fail(
        ctx, HD_NOMEM,
        "%s: no buffer of %zu bytes in the device's memory (%s); use a smaller model, or "
        "a larger bank",
        x->scheme, bytes, x->bank);
}

uint64_t hd_xrt_now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool hd_xrt_stands_still(struct hd_xrt *x) {
    if (x->emu) return false; /* its clock runs when XRT looks */
    uint32_t cycles = hd_xrt_reg_read(x, HD_REG_cycles);
    x->still = cycles == x->last_cycles ? x->still + 1 : 0;
    x->last_cycles = cycles;
    if (x->still < SLICES_STILL) return false;
    x->still = 0;
    return true;
}

/* ---- arguments of a run --------------------------------------------------------------------- */

bool hd_xrt_remember(struct hd_xrt *x, uint64_t address, void *handle) {
    if (x->n_buffers == x->cap_buffers) {
        size_t cap = x->cap_buffers ? 2 * x->cap_buffers : 8;
        struct hd_xrt_buffer *b = realloc(x->buffers, cap * sizeof *b);
        if (!b) return false;
        x->buffers = b;
        x->cap_buffers = cap;
    }
    x->buffers[x->n_buffers++] = (struct hd_xrt_buffer){address, handle};
    return true;
}

void hd_xrt_forget(struct hd_xrt *x, void *handle) {
    for (size_t i = 0; i < x->n_buffers; i++)
        if (x->buffers[i].handle == handle) x->buffers[i--] = x->buffers[--x->n_buffers];
}

void *hd_xrt_arg_buffer(const struct hd_xrt *x, const struct hd_kernel_arg *a) {
    uint64_t address = x->args[a->offset / 4] | (uint64_t)x->args[a->offset / 4 + 1] << 32;
    for (size_t i = 0; i < x->n_buffers; i++)
        if (x->buffers[i].address == address) return x->buffers[i].handle;
    return NULL;
}

uint32_t hd_xrt_arg_word(const struct hd_xrt *x, const struct hd_kernel_arg *a) {
    return x->args[a->offset / 4];
}
