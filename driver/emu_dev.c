/* The emulated device: registers, DRAM, a simulator, and the calls that reach them. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "driver/emu_dev.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "driver/xclbin.h"
#include "runtime/base/socket.h"

enum {
    REGISTER_BYTES = 0x1000,
    HOLD_MS = 20,          /* a held answer, at most about this long */
    HOLD_CYCLES = 1 << 14, /* between looks at the clock */
    DIAL_MS = 30000,
    LISTEN_MS = 300000,
    D2X_MS = 2000
};

struct core {
    void *self;
    hd_axi_mem *mem; /* its port to the DRAM that all share */
    bool running;
    uint64_t cycles; /* the run may go this far */
};

struct hd_emu {
    const struct hd_mach_backend *backend;
    struct core core[HD_MOST_cores];
    uint32_t n_cores;
    unsigned char *dram;
    bool closed; /* the host said so */
};

/* ---- life ----------------------------------------------------------------------------------- */

static hd_status with_machine(hd_ctx *ctx, const struct hd_device_options *opt, hd_emu *e) {
    struct hd_mem_config cfg;
    TRY(hd_mach_mem_config(ctx, e->backend->scheme, opt, &cfg));
    e->dram = mmap(NULL, HD_EMU_DRAM_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (e->dram == MAP_FAILED) {
        e->dram = NULL;
        return hd_fail(ctx, HD_NOMEM,
                       "emu-device: no address space for %" PRIu64
                       " MiB of DRAM: %s; raise ulimit -v",
                       HD_EMU_DRAM_BYTES >> 20, strerror(errno));
    }
    HD_ASSERT(opt->machine.cores <= HD_MOST_cores);
    while (e->n_cores < opt->machine.cores) {
        struct core *k = &e->core[e->n_cores++];
        k->mem = hd_axi_mem_create(hd_axi_bytes(&opt->machine), &cfg);
        if (!k->mem) return hd_fail(ctx, HD_NOMEM, "emu-device: no memory for the AXI port");
        hd_axi_mem_region(k->mem, 0, HD_EMU_DRAM_BASE, e->dram, HD_EMU_DRAM_BYTES);
        TRY(e->backend->create(ctx, opt, k->mem, &k->self));
    }
    return HD_OK;
}

hd_status hd_emu_create(hd_ctx *ctx, const char *scheme, const struct hd_device_options *opt,
                        hd_emu **out) {
    *out = NULL;
    const struct hd_mach_backend *b = !strcmp(scheme, hd_mach_iss.scheme)   ? &hd_mach_iss
                                      : !strcmp(scheme, hd_mach_rtl.scheme) ? &hd_mach_rtl
                                                                            : NULL;
    if (!b) return hd_fail(ctx, HD_INVALID, "emu-device: got device '%s', want iss or rtl", scheme);
    hd_emu *e = calloc(1, sizeof *e);
    if (!e) return hd_fail(ctx, HD_NOMEM, "emu-device: no memory for the device");
    e->backend = b;
    hd_status s = with_machine(ctx, opt, e);
    if (s)
        hd_emu_destroy(e);
    else
        *out = e;
    return s;
}

void hd_emu_destroy(hd_emu *e) {
    if (!e) return;
    for (uint32_t i = 0; i < e->n_cores; i++) {
        if (e->core[i].self) e->backend->destroy(e->core[i].self);
        hd_axi_mem_destroy(e->core[i].mem);
    }
    if (e->dram) munmap(e->dram, HD_EMU_DRAM_BYTES);
    free(e);
}

/* ---- registers ------------------------------------------------------------------------------ */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void hold(const hd_emu *e, struct core *k) {
    double end = seconds() + HOLD_MS / 1000.0;
    do {
        k->cycles += HOLD_CYCLES;
        k->running = !e->backend->run(k->self, k->cycles);
    } while (k->running && seconds() < end);
}

/* The core that has a register at `address`, and the register's offset; NULL = none has. */
static struct core *core_at(hd_emu *e, uint64_t address, uint32_t *out_offset) {
    uint64_t at = address - HD_EMU_CU_BASE, core = at / HD_EMU_CU_STRIDE;
    *out_offset = (uint32_t)(at % HD_EMU_CU_STRIDE);
    return core < e->n_cores && *out_offset < REGISTER_BYTES ? &e->core[core] : NULL;
}

static uint32_t reg_read(hd_emu *e, uint64_t address) {
    uint32_t offset;
    struct core *k = core_at(e, address, &offset);
    if (!k) return 0;
    if (k->running && (offset == HD_REG_ap_ctrl || offset == HD_REG_isr)) hold(e, k);
    return e->backend->reg_read(k->self, offset);
}

static void reg_write(hd_emu *e, uint64_t address, uint32_t v) {
    uint32_t offset;
    struct core *k = core_at(e, address, &offset);
    if (!k) return;
    e->backend->reg_write(k->self, offset, v);
    if (offset == HD_REG_ap_ctrl && (v & 1) && !k->running) {
        k->running = true;
        k->cycles = 0;
    }
    if (offset == HD_REG_soft_reset && (v & 1)) {
        e->backend->run(k->self, 0);
        k->running = false;
    }
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* `bytes` at a DRAM address, or NULL. */
static unsigned char *dram_at(hd_emu *e, uint64_t address, uint64_t bytes) {
    uint64_t at = address - HD_EMU_DRAM_BASE;
    return at <= HD_EMU_DRAM_BYTES && bytes <= HD_EMU_DRAM_BYTES - at ? e->dram + at : NULL;
}

static uint32_t word(const unsigned char *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void to_dram(hd_emu *e, uint64_t address, const struct hd_emu_field *data,
                    struct hd_buf *out, uint64_t ok) {
    unsigned char *p = dram_at(e, address, data->n);
    if (p && data->n) memcpy(p, data->data, data->n);
    hd_emu_put(out, 1, p ? ok : 0);
}

static void from_dram(hd_emu *e, uint64_t address, uint64_t bytes, struct hd_buf *out,
                      uint64_t ok) {
    size_t n = hd_emu_asked(bytes);
    const unsigned char *p = dram_at(e, address, n);
    hd_emu_put(out, 1, p ? ok : 0);
    unsigned char *room = hd_emu_put_room(out, 2, n);
    if (p && n) memcpy(room, p, n);
}

static void read_registers(hd_emu *e, uint64_t address, size_t n, struct hd_buf *out) {
    hd_emu_put(out, 1, 1);
    unsigned char *room = hd_emu_put_room(out, 2, n);
    for (size_t i = 0; i + 4 <= n; i += 4) {
        uint32_t v = reg_read(e, address + i);
        for (int k = 0; k < 4; k++) room[i + (size_t)k] = (unsigned char)(v >> 8 * k);
    }
}

bool hd_emu_answer(hd_emu *e, const struct hd_emu_call *c, struct hd_buf *out) {
    struct hd_emu_field f[HD_EMU_FIELDS];
    out->n = 0;
    if (!hd_emu_fields(c->data, c->bytes, f)) {
        hd_emu_put(out, 1, 0);
        return true;
    }
    switch (c->api) {
    case HD_EMU_TO_DEVICE: /* the offset is for the device to add */
        to_dram(e, f[3].v + f[6].v, &f[4], out, f[4].n);
        break;
    case HD_EMU_FROM_DEVICE:
        from_dram(e, f[4].v + f[6].v, f[5].v, out, f[5].v);
        break;
    case HD_EMU_WRITE_RAM:
        to_dram(e, f[2].v, &f[4], out, 1);
        break;
    case HD_EMU_READ_RAM:
        from_dram(e, f[2].v, f[3].v, out, 1);
        break;
    case HD_EMU_WRITE_REG:
        for (size_t i = 0; i + 4 <= f[4].n; i += 4) reg_write(e, f[2].v + i, word(f[4].data + i));
        hd_emu_put(out, 1, 1);
        break;
    case HD_EMU_READ_REG:
        read_registers(e, f[2].v, f[3].v < REGISTER_BYTES ? (size_t)f[3].v : REGISTER_BYTES, out);
        break;
    case HD_EMU_DEBUG_MESSAGES: /* all fields are optional */
        break;
    default: /* allocation, environment, ...: the host keeps these books itself */
        hd_emu_put(out, 1, 1);
        break;
    }
    return c->api != HD_EMU_CLOSE;
}

bool hd_emu_was_closed(const hd_emu *e) {
    return e->closed;
}

/* ---- serving -------------------------------------------------------------------------------- */

hd_status hd_emu_serve(hd_ctx *ctx, hd_emu *e, int fd, int fd_d2x) {
    struct hd_emu_call call = {0};
    struct hd_buf answer = {0};
    enum hd_emu_io io;
    bool more = true;
    do {
        io = hd_emu_get_call(fd, &call, -1);
        if (io) break;
        more = hd_emu_answer(e, &call, &answer);
        io = hd_emu_put_answer(fd, &answer, -1);
    } while (!io && more);
    e->closed = !more;
    if (fd_d2x >= 0) hd_emu_put_call(fd_d2x, &(struct hd_emu_call){.api = HD_EMU_CLOSE}, D2X_MS);
    uint32_t api = call.api;
    hd_emu_call_free(&call);
    hd_buf_free(&answer);
    if (io == HD_EMU_BAD)
        return hd_fail(ctx, HD_DEVICE,
                       "emu-device: after call %" PRIu32
                       " the host sent what is no call; XRT 2022.1 to 2026.1 is understood",
                       api);
    for (uint32_t i = 0; i < e->n_cores; i++)
        if (hd_axi_mem_error(e->core[i].mem))
            return hd_fail(ctx, HD_DEVICE, "emu-device: core %" PRIu32 ": %s", i + 1,
                           hd_axi_mem_error(e->core[i].mem));
    return HD_OK;
}

hd_status hd_emu_serve_xrt(hd_ctx *ctx, hd_emu *e) {
    const char *user = getenv("USER"), *id = getenv("EMULATION_SOCKETID");
    char path[300], d2x[300];
    if (!user || !*user || !id || !*id)
        return hd_fail(ctx, HD_INVALID,
                       "emu-device: USER or EMULATION_SOCKETID is not set; XRT sets them when it "
                       "starts the device; to start it first, name a socket to listen at");
    snprintf(path, sizeof path, "/tmp/%s/%s", user, id);
    snprintf(d2x, sizeof d2x, "/tmp/%s/D2X_unix_sock_%s", user, id);
    int fd = hd_socket_dial(path, DIAL_MS);
    if (fd < 0)
        return hd_fail(ctx, HD_IO, "emu-device: no host at %s: %s; it is XRT that listens there",
                       path, strerror(errno));
    int fd_d2x = hd_socket_dial(d2x, D2X_MS);
    hd_status s = hd_emu_serve(ctx, e, fd, fd_d2x);
    if (fd_d2x >= 0) close(fd_d2x);
    close(fd);
    return s;
}

hd_status hd_emu_serve_at(hd_ctx *ctx, hd_emu *e, const char *path) {
    char d2x[300];
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    snprintf(d2x, sizeof d2x, "%.*sD2X_unix_sock_%s", folder, path, path + folder);
    int l = hd_socket_listen(path), l_d2x = l < 0 ? -1 : hd_socket_listen(d2x), fd = -1,
        fd_d2x = -1;
    hd_status s = HD_OK;
    if (l < 0 || l_d2x < 0)
        s = hd_fail(ctx, HD_IO, "emu-device: cannot listen at %s: %s; remove it if it is left over",
                    l < 0 ? path : d2x, strerror(errno));
    if (!s && (fd = hd_socket_accept(l, LISTEN_MS)) < 0)
        s = hd_fail(ctx, HD_IO, "emu-device: no host came to %s in %d s", path, LISTEN_MS / 1000);
    if (!s) fd_d2x = hd_socket_accept(l_d2x, D2X_MS);
    if (!s) s = hd_emu_serve(ctx, e, fd, fd_d2x);
    if (fd_d2x >= 0) close(fd_d2x);
    if (fd >= 0) close(fd);
    if (l_d2x >= 0) {
        close(l_d2x);
        unlink(d2x);
    }
    if (l >= 0) {
        close(l);
        unlink(path);
    }
    return s;
}
