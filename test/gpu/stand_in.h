/* A GPU's driver that computes nothing: it takes note of every call, holds memory on the host, and
 * fails where it is told to. For tests without a GPU: order, sizes, lifetimes, errors. */
#ifndef HD_TEST_GPU_STAND_IN_H
#define HD_TEST_GPU_STAND_IN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_ref/gpu.h"

struct hd_gpu_mem {
    char *data;
    size_t bytes;
    struct hd_gpu_mem *whole; /* of a part */
    int parts;
};
struct hd_gpu_kernel {
    char name[16];
};
struct hd_gpu_program {
    struct hd_gpu_kernel kernel[512];
    int n;
};
struct hd_gpu {
    struct hd_gpu_limits limits;
    int live, calls,
        fail_at; /* things that are not freed; calls so far; the one that fails, 0 = none */
    int launches, copies, allocations;
    bool running; /* allocations in a run are an error */
    size_t bytes, most_bytes;
    const char *wrong; /* the first thing that a driver would refuse */
};

static struct hd_gpu stand_in = {.limits = {.name = "stand-in",
                                            .f64 = true,
                                            .exact_divide = true,
                                            .local_bytes = 48 << 10,
                                            .max_threads = 1024,
                                            .align = 256,
                                            .memory_bytes = (size_t)8 << 30,
                                            .max_bytes = (size_t)4 << 30}};

static hd_status call(hd_ctx *ctx, hd_gpu *g, const char *name) {
    if (++g->calls != g->fail_at) return HD_OK;
    return hd_fail(ctx, HD_DEVICE, "stand-in: %s fails", name);
}
static void wrong(hd_gpu *g, const char *what) {
    if (!g->wrong) g->wrong = what;
}
static hd_status stand_in_open(hd_ctx *ctx, hd_gpu **out) {
    *out = &stand_in;
    return call(ctx, &stand_in, "open");
}
static void stand_in_close(hd_gpu *g) {
    if (g->live) wrong(g, "something is not freed when the device is closed");
}
static const struct hd_gpu_limits *stand_in_limits(const hd_gpu *g) {
    return &g->limits;
}
static hd_status stand_in_alloc(hd_ctx *ctx, hd_gpu *g, size_t bytes, hd_gpu_mem **out) {
    TRY(call(ctx, g, "alloc"));
    if (g->running) wrong(g, "an allocation in a run");
    hd_gpu_mem *m = calloc(1, sizeof *m);
    m->bytes = bytes;
    m->data = calloc(1, bytes + 1);
    g->live++;
    g->allocations++;
    g->bytes += bytes;
    if (g->bytes > g->most_bytes) g->most_bytes = g->bytes;
    *out = m;
    return HD_OK;
}
static hd_status stand_in_part(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *m, size_t at, size_t bytes,
                               hd_gpu_mem **out) {
    TRY(call(ctx, g, "part"));
    if (at % g->limits.align) wrong(g, "a part that is not aligned");
    if (at + bytes > m->bytes || m->whole) wrong(g, "a part that is outside");
    hd_gpu_mem *p = calloc(1, sizeof *p);
    *p = (hd_gpu_mem){m->data + at, bytes, m, 0};
    m->parts++;
    g->live++;
    *out = p;
    return HD_OK;
}
static void stand_in_free(hd_gpu *g, hd_gpu_mem *m) {
    if (m->parts) wrong(g, "memory is freed before its parts");
    if (m->whole) {
        m->whole->parts--;
    } else {
        free(m->data);
        g->bytes -= m->bytes;
    }
    g->live--;
    free(m);
}
static hd_status stand_in_write(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *m, size_t at, const void *src,
                                size_t bytes) {
    TRY(call(ctx, g, "write"));
    if (at + bytes > m->bytes)
        wrong(g, "a write outside");
    else
        memcpy(m->data + at, src, bytes);
    return HD_OK;
}
static hd_status stand_in_read(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *m, size_t at, void *dst,
                               size_t bytes) {
    TRY(call(ctx, g, "read"));
    if (at + bytes > m->bytes)
        wrong(g, "a read outside");
    else
        memcpy(dst, m->data + at, bytes);
    return HD_OK;
}
static hd_status stand_in_copy(hd_ctx *ctx, hd_gpu *g, hd_gpu_mem *from, hd_gpu_mem *to,
                               size_t bytes) {
    TRY(call(ctx, g, "copy"));
    if (bytes > from->bytes || bytes > to->bytes)
        wrong(g, "a copy outside");
    else
        memcpy(to->data, from->data, bytes);
    g->copies++;
    return HD_OK;
}
static hd_status stand_in_build(hd_ctx *ctx, hd_gpu *g, const char *source, hd_gpu_program **out) {
    TRY(call(ctx, g, "build"));
    if (!strstr(source, "void k0(")) wrong(g, "a program without kernels");
    *out = calloc(1, sizeof **out);
    g->live++;
    return HD_OK;
}
static void stand_in_unbuild(hd_gpu *g, hd_gpu_program *p) {
    g->live--;
    free(p);
}
static hd_status stand_in_kernel(hd_ctx *ctx, hd_gpu *g, hd_gpu_program *p, const char *name,
                                 hd_gpu_kernel **out) {
    TRY(call(ctx, g, "kernel"));
    if (p->n == 512) wrong(g, "more than 512 kernels");
    *out = &p->kernel[p->n < 511 ? p->n++ : 511];
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    return HD_OK;
}
static hd_status stand_in_launch(hd_ctx *ctx, hd_gpu *g, const struct hd_gpu_launch *l, int timer) {
    (void)timer;
    TRY(call(ctx, g, "launch"));
    if (l->block[0] * l->block[1] * l->block[2] > g->limits.max_threads)
        wrong(g, "more threads than a block may have");
    if (!l->grid[0] || !l->grid[1] || !l->grid[2]) wrong(g, "a launch of no block");
    for (int i = 0; i < l->n_args; i++)
        if (!l->arg[i]) wrong(g, "an argument without memory");
    g->launches++;
    return HD_OK;
}
static hd_status stand_in_finish(hd_ctx *ctx, hd_gpu *g) {
    return call(ctx, g, "finish");
}
static hd_status stand_in_timers(hd_ctx *ctx, hd_gpu *g, int n) {
    (void)n;
    return call(ctx, g, "timers");
}
static double stand_in_seconds(hd_gpu *g, int timer) {
    (void)g, (void)timer;
    return 1e-6;
}
static const char *stand_in_why_not(void) {
    return NULL;
}
static const char *stand_in_describe(void) {
    return "computes nothing";
}

__attribute__((unused)) static const struct hd_gpu_api stand_in_api = {
    .scheme = "stand-in",
    .dialect = &hd_dialect_opencl,
    .why_not = stand_in_why_not,
    .describe = stand_in_describe,
    .open = stand_in_open,
    .close = stand_in_close,
    .limits = stand_in_limits,
    .alloc = stand_in_alloc,
    .part = stand_in_part,
    .free = stand_in_free,
    .write = stand_in_write,
    .read = stand_in_read,
    .copy = stand_in_copy,
    .build = stand_in_build,
    .unbuild = stand_in_unbuild,
    .kernel = stand_in_kernel,
    .launch = stand_in_launch,
    .finish = stand_in_finish,
    .timers = stand_in_timers,
    .seconds = stand_in_seconds};

#endif
