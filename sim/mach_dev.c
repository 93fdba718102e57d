/* Device for machines behind registers: buffers, program load, the driver's register sequence,
 * results. */
#include "sim/mach_dev.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/num.h"

#define IMAGE_BASE UINT64_C(0x4000000000) /* bus addresses; above 32 bits on purpose */
#define ARENA_BASE UINT64_C(0x8000000000)
#define SLICE      UINT64_C(100000) /* cycles between looks at the clock */

struct hd_device {
    const struct hd_mach_backend *backend;
    void *self;
    hd_axi_mem *mem;
    struct hd_machine machine;
    uint32_t watchdog, cycle_limit;
    const struct hd_probe *probe; /* NULL = none */
    struct hd_probe_eye eye;
    struct hd_mach_block *blocks;
    size_t n_blocks;
    hd_fence fences;
    const hd_exec *running; /* submitted, not waited for */
    hd_buffer arena;        /* of that run */
    bool counted;           /* a run has finished */
};

struct hd_exec {
    const hd_model *model;
    int step;
    const uint32_t *program; /* in the image */
    size_t n_words;
    struct hd_mach_block image; /* the machine's copy, when it has DRAM of its own */
};

/* ---- open and close ------------------------------------------------------------------------- */

static uint32_t watchdog_of(const struct hd_device_options *opt, uint32_t latency) {
    uint64_t w = opt->watchdog_cycles ? opt->watchdog_cycles : HD_DEFAULT_watchdog;
    if (!opt->watchdog_cycles && w < (uint64_t)latency * 64) w = (uint64_t)latency * 64;
    return w > UINT32_MAX ? UINT32_MAX : (uint32_t)w;
}

static uint32_t cycle_limit_of(const struct hd_device_options *opt) {
    if (!opt->max_cycles) return HD_DEFAULT_cycle_limit;
    uint64_t units = (opt->max_cycles - 1) / HD_N_limit_unit + 1;
    return units > UINT32_MAX ? UINT32_MAX : (uint32_t)units;
}

hd_status hd_mach_mem_config(hd_ctx *ctx, const char *scheme, const struct hd_device_options *opt,
                             struct hd_mem_config *out) {
    uint32_t axi = hd_axi_bytes(&opt->machine);
    const struct hd_mem_options *m = &opt->mem;
    struct hd_mem_config cfg = {m->latency ? m->latency : HD_DEFAULT_mem_latency,
                                m->bytes_per_cycle ? m->bytes_per_cycle : axi,
                                m->outstanding ? m->outstanding : HD_DEFAULT_mem_outstanding, 0};
    if (cfg.outstanding > HD_MEM_MAX_OUTSTANDING)
        return hd_fail(ctx, HD_INVALID, "%s: %" PRIu32 " outstanding bursts, at most %d", scheme,
                       cfg.outstanding, HD_MEM_MAX_OUTSTANDING);
    if (m->jitter) cfg.jitter_seed = m->jitter_seed ? m->jitter_seed : 1;
    *out = cfg;
    return HD_OK;
}

hd_status hd_mach_open(hd_ctx *ctx, const struct hd_mach_backend *backend,
                       const struct hd_device_options *opt, hd_device **out) {
    *out = NULL;
    struct hd_mem_config cfg;
    TRY(hd_machine_check(ctx, &opt->machine));
    TRY(hd_mach_mem_config(ctx, backend->scheme, opt, &cfg));
    if (opt->probe && !backend->set_probe)
        return hd_fail(ctx, HD_UNSUPPORTED, "%s: gives no trace; use device iss or rtl",
                       backend->scheme);
    if (opt->wave && !backend->waves)
        return hd_fail(ctx, HD_UNSUPPORTED, "%s: has no waveforms; use device rtl",
                       backend->scheme);

    hd_device *d = calloc(1, sizeof *d);
    if (!d) return hd_fail(ctx, HD_NOMEM, "%s: no memory for the device", backend->scheme);
    d->backend = backend;
    d->machine = opt->machine;
    d->watchdog = watchdog_of(opt, cfg.latency);
    d->cycle_limit = cycle_limit_of(opt);
    d->probe = opt->probe;
    if (backend->dram) d->mem = backend->dram->create(hd_axi_bytes(&opt->machine), &cfg);
    hd_status s = d->mem || backend->memory
                      ? backend->create(ctx, opt, d->mem, &d->self)
                      : hd_fail(ctx, HD_NOMEM, "%s: no memory for the device", backend->scheme);
    if (s == HD_OK && d->probe && !backend->set_probe(d->self, d->probe))
        s = hd_fail(ctx, HD_NOMEM, "%s: no memory for its trace", backend->scheme);
    if (s)
        hd_mach_close(d);
    else
        *out = d;
    return s;
}

void *hd_mach_self(hd_device *d) {
    return d->self;
}

static hd_status block_alloc(hd_ctx *ctx, hd_device *d, size_t bytes, struct hd_mach_block *out) {
    const struct hd_mach_memory *memory = d->backend->memory;
    *out = (struct hd_mach_block){.bytes = bytes};
    if (memory) return memory->alloc(ctx, d->self, out);
    out->data = calloc(1, bytes ? bytes : 1);
    return out->data
               ? HD_OK
               : hd_fail(ctx, HD_NOMEM, "%s: no memory for %zu bytes", d->backend->scheme, bytes);
}

static void block_free(hd_device *d, struct hd_mach_block *b) {
    if (b->data && d->backend->memory)
        d->backend->memory->free(d->self, b);
    else
        free(b->data);
    *b = (struct hd_mach_block){0};
}

static hd_status block_sync(hd_ctx *ctx, hd_device *d, struct hd_mach_block *b, size_t off,
                            size_t bytes, bool to_machine) {
    const struct hd_mach_memory *memory = d->backend->memory;
    return memory && bytes ? memory->sync(ctx, d->self, b, off, bytes, to_machine) : HD_OK;
}

/* Stops a run that nobody waits for any more, before its memory goes. */
static void give_up(hd_device *d) {
    if (!d->running) return;
    d->running = NULL;
    d->backend->reg_write(d->self, HD_REG_soft_reset, 1);
    d->backend->run(d->self, 0);
}

void hd_mach_close(hd_device *d) {
    if (!d) return;
    if (d->self) give_up(d);
    for (size_t i = 0; i < d->n_blocks; i++) block_free(d, &d->blocks[i]);
    free(d->blocks);
    if (d->self) d->backend->destroy(d->self);
    if (d->mem) d->backend->dram->destroy(d->mem);
    free(d);
}

/* ---- buffers -------------------------------------------------------------------------------- */

hd_status hd_mach_alloc(hd_ctx *ctx, hd_device *d, size_t bytes, hd_buffer *out) {
    struct hd_mach_block *blocks = realloc(d->blocks, (d->n_blocks + 1) * sizeof *blocks);
    if (!blocks)
        return hd_fail(ctx, HD_NOMEM, "%s: no memory for a buffer's record", d->backend->scheme);
    d->blocks = blocks;
    TRY(block_alloc(ctx, d, bytes, &blocks[d->n_blocks]));
    d->n_blocks++;
    out->id = d->n_blocks;
    return HD_OK;
}

static struct hd_mach_block *block_of(hd_device *d, hd_buffer b) {
    return b.id && b.id <= d->n_blocks && d->blocks[b.id - 1].data ? &d->blocks[b.id - 1] : NULL;
}

void hd_mach_free(hd_device *d, hd_buffer b) {
    struct hd_mach_block *k = block_of(d, b);
    if (k) block_free(d, k);
}

static hd_status check(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, size_t bytes) {
    const struct hd_mach_block *k = block_of(d, b);
    if (!k) return hd_fail(ctx, HD_INVALID, "%s: no buffer %" PRIu64, d->backend->scheme, b.id);
    if (off > k->bytes || bytes > k->bytes - off)
        return hd_fail(ctx, HD_INVALID, "%s: bytes %zu..%zu of buffer %" PRIu64 ", it has %zu",
                       d->backend->scheme, off, off + bytes, b.id, k->bytes);
    return HD_OK;
}

hd_status hd_mach_write(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, const void *src,
                        size_t bytes) {
    TRY(check(ctx, d, b, off, bytes));
    if (bytes) memcpy((char *)block_of(d, b)->data + off, src, bytes);
    return block_sync(ctx, d, block_of(d, b), off, bytes, true);
}

hd_status hd_mach_read(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, void *dst,
                       size_t bytes) {
    TRY(check(ctx, d, b, off, bytes));
    TRY(block_sync(ctx, d, block_of(d, b), off, bytes, false));
    if (bytes) memcpy(dst, (char *)block_of(d, b)->data + off, bytes);
    return HD_OK;
}

/* ---- load ----------------------------------------------------------------------------------- */

static hd_status machine_mismatch(hd_ctx *ctx, const hd_device *d, const hd_model *m) {
    for (int i = 0; i < hd_n_machine_params; i++) {
        const struct hd_param_info *p = &hd_machine_params[i];
        uint32_t theirs, ours;
        memcpy(&theirs, (const char *)&m->machine + p->offset, sizeof theirs);
        memcpy(&ours, (const char *)&d->machine + p->offset, sizeof ours);
        if (p->fingerprint && theirs != ours)
            return hd_fail(ctx, HD_MISMATCH,
                           "%s: %s is compiled for machine %s (%s = %" PRIu32
                           "), the device is %s (%s = %" PRIu32 "); compile it for %s",
                           d->backend->scheme, m->name, m->machine.name, p->name, theirs,
                           d->machine.name, p->name, ours, d->machine.name);
    }
    return hd_fail(ctx, HD_MISMATCH,
                   "%s: %s has machine fingerprint 0x%08" PRIx32 ", %s is 0x%08" PRIx32
                   "; compile it again",
                   d->backend->scheme, m->name, m->machine_hash, d->machine.name,
                   hd_machine_hash(&d->machine));
}

/* The image in the machine's own DRAM. */
static hd_status load_image(hd_ctx *ctx, hd_device *d, hd_exec *x) {
    TRY(block_alloc(ctx, d, x->model->image_bytes, &x->image));
    memcpy(x->image.data, x->model->image, x->model->image_bytes);
    return block_sync(ctx, d, &x->image, 0, x->model->image_bytes, true);
}

hd_status hd_mach_load(hd_ctx *ctx, hd_device *d, const hd_model *m, int step, hd_exec **out) {
    const char *scheme = d->backend->scheme;
    *out = NULL;
    if (step < 0 || step >= m->n_steps || m->steps[step].kind != HD_STEP_PROG)
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "%s: step %d of %s is no program; this device runs programs only", scheme,
                       step, m->name);
    if (m->isa_hash != hd_isa_hash())
        return hd_fail(ctx, HD_MISMATCH,
                       "%s: %s is for instruction set %s (0x%08" PRIx32
                       "), this is %s (0x%08" PRIx32 "); compile it again",
                       scheme, m->name, hd_isa_version(m->isa_hash), m->isa_hash,
                       HD_ISA_VERSION_TEXT, hd_isa_hash());
    if (m->machine_hash != hd_machine_hash(&d->machine)) return machine_mismatch(ctx, d, m);
    const struct hd_step *s = &m->steps[step];
    if (m->image_bytes > UINT32_MAX || m->arena_bytes > UINT32_MAX)
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "%s: %s has an image of %zu and an arena of %" PRIu64
                       " bytes, at most 4 GiB - 1 each",
                       scheme, m->name, m->image_bytes, m->arena_bytes);
    if (s->code_offset % HD_CODE_ALIGN || s->code_offset > m->image_bytes ||
        s->code_bytes > m->image_bytes - s->code_offset)
        return hd_fail(ctx, HD_INVALID, "%s: program of step %d of %s lies outside the image",
                       scheme, step, m->name);
    hd_exec *x = calloc(1, sizeof *x);
    if (!x) return hd_fail(ctx, HD_NOMEM, "%s: no memory for step %d of %s", scheme, step, m->name);
    *x = (hd_exec){.model = m, .step = step};
    x->program = (const void *)((const char *)m->image + s->code_offset);
    x->n_words = s->code_bytes / 4;
    hd_status status = d->backend->memory ? load_image(ctx, d, x) : HD_OK;
    if (status) {
        hd_mach_unload(d, x);
        return status;
    }
    *out = x;
    return HD_OK;
}

void hd_mach_unload(hd_device *d, hd_exec *x) {
    if (d->running == x) give_up(d);
    block_free(d, &x->image);
    free(x);
}

/* ---- run ------------------------------------------------------------------------------------ */

static void write64(hd_device *d, uint32_t offset, uint64_t v) {
    d->backend->reg_write(d->self, offset, (uint32_t)v);
    d->backend->reg_write(d->self, offset + 4, (uint32_t)(v >> 32));
}

static uint64_t read64(hd_device *d, uint32_t offset) {
    uint64_t low = d->backend->reg_read(d->self, offset);
    return low | (uint64_t)d->backend->reg_read(d->self, offset + 4) << 32;
}

/* The memories as they are now. */
static bool look(void *device, struct hd_probe_state *out) {
    hd_device *d = device;
    *out = (struct hd_probe_state){0};
    if (!d->backend->state(d->self, out)) return false;
    const struct hd_mach_block *arena = block_of(d, d->arena);
    if (arena) {
        out->memory[HD_PROBE_ARENA] = arena->data;
        out->bytes[HD_PROBE_ARENA] = arena->bytes;
    }
    return true;
}

hd_status hd_mach_submit(hd_ctx *ctx, hd_device *d, hd_exec *x, const hd_buffer *io,
                         hd_fence *out) {
    const struct hd_mach_backend *b = d->backend;
    const hd_model *m = x->model;
    const struct hd_mach_block *arena = block_of(d, io[0]);
    if (d->running)
        return hd_fail(ctx, HD_INVALID, "%s: a run is open; wait for its fence first", b->scheme);
    if (!arena || arena->bytes < m->arena_bytes)
        return hd_fail(ctx, HD_INVALID, "%s: the arena buffer has %zu bytes, %s needs %" PRIu64,
                       b->scheme, arena ? arena->bytes : 0, m->name, m->arena_bytes);
    if (d->mem) {
        b->dram->region(d->mem, 0, IMAGE_BASE, m->image, m->image_bytes);
        b->dram->region(d->mem, 1, ARENA_BASE, arena->data, arena->bytes);
    }
    write64(d, HD_REG_image_ptr, d->mem ? IMAGE_BASE : x->image.address);
    write64(d, HD_REG_arena_ptr, d->mem ? ARENA_BASE : arena->address);
    b->reg_write(d->self, HD_REG_image_bytes, (uint32_t)m->image_bytes);
    b->reg_write(d->self, HD_REG_arena_bytes, (uint32_t)m->arena_bytes);
    b->reg_write(d->self, HD_REG_code_offset, m->steps[x->step].code_offset);
    b->reg_write(d->self, HD_REG_watchdog, d->watchdog);
    b->reg_write(d->self, HD_REG_cycle_limit, d->cycle_limit);
    if (b->begin) b->begin(d->self, x->program, x->n_words);
    b->reg_write(d->self, HD_REG_ap_ctrl, 1);
    d->running = x;
    d->arena = io[0];
    d->eye = (struct hd_probe_eye){d, look};
    if (d->probe && d->probe->begin)
        d->probe->begin(d->probe->user, x->step, x->program, x->n_words, &d->eye);
    *out = ++d->fences;
    return HD_OK;
}

/* Shows the memories at the end of a run to the probe. */
static hd_status tell_end(hd_ctx *ctx, hd_device *d) {
    if (!d->probe || !d->probe->end) return HD_OK;
    struct hd_probe_state state;
    if (!look(d, &state))
        return hd_fail(ctx, HD_NOMEM, "%s: no memory to show the machine's memories",
                       d->backend->scheme);
    d->probe->end(d->probe->user, read64(d, HD_REG_cycles), &state);
    return HD_OK;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Runs until done; false when time or cycles ran out first, or the run was cancelled. */
static bool run(hd_ctx *ctx, hd_device *d, uint64_t timeout_ns, uint64_t *out_cycles) {
    uint64_t start = now_ns();
    for (*out_cycles = SLICE;; *out_cycles += SLICE) {
        if (d->backend->run(d->self, *out_cycles)) return true;
        if (timeout_ns != UINT64_MAX && now_ns() - start >= timeout_ns) return false;
        if (hd_continue(ctx) != HD_OK) return false;
    }
}

/* A run that did not end: says where it stood and stops it. */
static hd_status stopped(hd_ctx *ctx, hd_device *d, const hd_exec *x, uint64_t cycles) {
    char text[3000];
    hd_status cancelled = hd_continue(ctx);
    hd_mach_state(d->backend, d->self, x->program, x->n_words, text, sizeof text);
    d->backend->reg_write(d->self, HD_REG_soft_reset, 1);
    d->backend->run(d->self, 0);
    return hd_fail(ctx, cancelled ? cancelled : HD_DEVICE,
                   "%s: %s, step %d: %snot done after %" PRIu64 " cycles, stopped%s",
                   d->backend->scheme, x->model->name, x->step, cancelled ? "cancelled, " : "",
                   cycles, text);
}

hd_status hd_mach_wait(hd_ctx *ctx, hd_device *d, hd_fence fence, uint64_t timeout_ns) {
    const struct hd_mach_backend *b = d->backend;
    if (fence > d->fences)
        return hd_fail(ctx, HD_INVALID, "%s: fence %" PRIu64 " was never given", b->scheme, fence);
    const hd_exec *x = d->running;
    if (fence < d->fences || !x) return HD_OK;
    uint64_t cycles;
    d->running = NULL;
    d->counted = false;
    bool done = run(ctx, d, timeout_ns, &cycles);
    bool failed = done && b->reg_read(d->self, HD_REG_error) != HD_ERR_none;
    char text[3000];
    if (failed) hd_mach_report(b, d->self, x->program, x->n_words, text, sizeof text);
    const char *fault = b->fault ? b->fault(d->self) : NULL; /* also of what was just read */
    if (fault)
        return hd_fail(ctx, HD_DEVICE, "%s: %s, step %d: %s", b->scheme, x->model->name, x->step,
                       fault);
    if (!done) return stopped(ctx, d, x, b->memory ? read64(d, HD_REG_cycles) : cycles);
    b->reg_read(d->self, HD_REG_ap_ctrl); /* clears done */
    d->counted = true;
    const char *bus = d->mem ? b->dram->error(d->mem) : NULL;
    if (bus)
        return hd_fail(ctx, HD_DEVICE, "%s: %s, step %d: %s", b->scheme, x->model->name, x->step,
                       bus);
    if (!failed) return tell_end(ctx, d);
    return hd_fail(ctx, HD_DEVICE, "%s: %s, step %d: %s", b->scheme, x->model->name, x->step, text);
}

hd_status hd_mach_counters(hd_ctx *ctx, hd_device *d, struct hd_counters *out) {
    *out = (struct hd_counters){0};
    if (!d->counted)
        return hd_fail(ctx, HD_INVALID, "%s: no finished run to count", d->backend->scheme);
    out->cycles = read64(d, HD_REG_cycles);
    out->read_bytes = read64(d, HD_REG_read_bytes);
    out->write_bytes = read64(d, HD_REG_write_bytes);
    out->code_bytes = read64(d, HD_REG_code_bytes);
    for (uint32_t u = 0; u < HD_UNITS; u++)
        out->unit[u] = (struct hd_unit_counters){
            read64(d, HD_REG_busy + 8 * u), read64(d, HD_REG_stall_sem + 8 * u),
            read64(d, HD_REG_stall_mem + 8 * u), read64(d, HD_REG_stall_bank + 8 * u)};
    out->layers = d->backend->layers(d->self, &out->n_layers);
    if (d->backend->parts) out->n_parts = d->backend->parts(d->self);
    return HD_OK;
}
