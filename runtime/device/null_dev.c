/* The device to copy: it takes every call, checks what a device must check, and computes nothing
 * (outputs are zero). To make a device NAME: copy this file to its folder, replace null by NAME,
 * write submit, add the file to the folder's rules.mk and DEVICE(NAME) to runtime/devices.def, and
 * pass test/device.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/device/hal.h"

struct block {
    void *data;
    size_t bytes;
};

struct hd_device { /* all state of the device; nothing is global */
    struct block *blocks;
    size_t n_blocks;
    hd_fence fences;
};

struct hd_exec { /* what load prepares so that submit allocates nothing */
    const hd_model *model;
    int step;
};

/* Fills *out without opening: is there a driver, a board, a library? */
static hd_status null_probe(hd_ctx *ctx, const struct hd_device_options *opt,
                            struct hd_device_info *out) {
    (void)ctx, (void)opt;
    *out = (struct hd_device_info){.description = "computes nothing", .available = true};
    return HD_OK;
}

/* Opens the device for opt->machine; fails with HD_MISMATCH when the hardware is another machine.
 */
static hd_status null_open(hd_ctx *ctx, const struct hd_device_options *opt, hd_device **out) {
    (void)opt;
    hd_device *d = calloc(1, sizeof *d);
    if (!d) return hd_fail(ctx, HD_NOMEM, "null: no memory for the device");
    *out = d;
    return HD_OK;
}

/* Frees everything that is still allocated. */
static void null_close(hd_device *d) {
    for (size_t i = 0; i < d->n_blocks; i++) free(d->blocks[i].data);
    free(d->blocks);
    free(d);
}

/* Device memory; ids start at 1 because 0 means none. */
static hd_status null_alloc(hd_ctx *ctx, hd_device *d, size_t bytes, hd_buffer *out) {
    struct block *blocks = realloc(d->blocks, (d->n_blocks + 1) * sizeof *blocks);
    if (!blocks) return hd_fail(ctx, HD_NOMEM, "null: no memory for buffer %zu", d->n_blocks + 1);
    d->blocks = blocks;
    struct block b = {calloc(1, bytes ? bytes : 1), bytes};
    if (!b.data) return hd_fail(ctx, HD_NOMEM, "null: no memory for %zu bytes", bytes);
    blocks[d->n_blocks++] = b;
    out->id = d->n_blocks;
    return HD_OK;
}

static void null_free(hd_device *d, hd_buffer b) {
    if (b.id == 0 || b.id > d->n_blocks) return;
    free(d->blocks[b.id - 1].data);
    d->blocks[b.id - 1] = (struct block){0};
}

/* A transfer is checked against the buffer before it starts. */
static hd_status check(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, size_t bytes) {
    if (b.id == 0 || b.id > d->n_blocks || !d->blocks[b.id - 1].data)
        return hd_fail(ctx, HD_INVALID, "null: no buffer %llu", (unsigned long long)b.id);
    size_t have = d->blocks[b.id - 1].bytes;
    if (off > have || bytes > have - off)
        return hd_fail(ctx, HD_INVALID, "null: bytes %zu to %zu of a buffer of %zu", off,
                       off + bytes, have);
    return HD_OK;
}

static hd_status null_write(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, const void *src,
                            size_t bytes) {
    TRY(check(ctx, d, b, off, bytes));
    if (bytes) memcpy((char *)d->blocks[b.id - 1].data + off, src, bytes);
    return HD_OK;
}

static hd_status null_read(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, void *dst,
                           size_t bytes) {
    TRY(check(ctx, d, b, off, bytes));
    if (bytes) memcpy(dst, (char *)d->blocks[b.id - 1].data + off, bytes);
    return HD_OK;
}

/* Prepares one step; the model outlives the exec. Refuses what the device cannot run, with the
 * reason. */
static hd_status null_load(hd_ctx *ctx, hd_device *d, const hd_model *m, int step, hd_exec **out) {
    (void)d;
    if (step >= m->n_steps)
        return hd_fail(ctx, HD_INVALID, "null: step %d, %s has %d", step, m->name, m->n_steps);
    hd_exec *x = calloc(1, sizeof *x);
    if (!x) return hd_fail(ctx, HD_NOMEM, "null: no memory for step %d of %s", step, m->name);
    *x = (hd_exec){m, step};
    *out = x;
    return HD_OK;
}

static void null_unload(hd_device *d, hd_exec *x) {
    (void)d;
    free(x);
}

/* Starts the work. io: GRAPH inputs then outputs (dense); PROG io[0] = the arena. May return before
 * it is done. */
static hd_status null_submit(hd_ctx *ctx, hd_device *d, hd_exec *x, const hd_buffer *io,
                             hd_fence *out) {
    (void)ctx, (void)x, (void)io;
    *out = ++d->fences;
    return HD_OK;
}

/* Blocks until the fence has passed; HD_DEVICE with the device's own words when it failed or timed
 * out. */
static hd_status null_wait(hd_ctx *ctx, hd_device *d, hd_fence fence, uint64_t timeout_ns) {
    (void)timeout_ns;
    if (fence > d->fences)
        return hd_fail(ctx, HD_INVALID, "null: fence %llu was never given",
                       (unsigned long long)fence);
    return HD_OK;
}

extern const struct hd_device_ops hd_device_null;
const struct hd_device_ops hd_device_null = {
    .scheme = "null",
    .doc = "computes nothing; the skeleton for new devices",
    .sections = HD_RUNS_GRAPH,
    .probe = null_probe,
    .open = null_open,
    .close = null_close,
    .alloc = null_alloc,
    .free = null_free,
    .write = null_write,
    .read = null_read,
    .load = null_load,
    .unload = null_unload,
    .submit = null_submit,
    .wait = null_wait,
    .counters = NULL,
};
