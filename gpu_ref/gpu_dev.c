/* Devices over a GPU's driver: buffers in its memory, a plan for each loaded graph (gpu_plan.h). */
#include "gpu_ref/gpu_dev.h"

#include <stdlib.h>

#include "gpu_ref/gpu_plan.h"

struct block {
    hd_gpu_mem *mem; /* NULL = freed */
    size_t bytes;
};

struct hd_device {
    const struct hd_gpu_api *api;
    hd_gpu *gpu;
    struct block *blocks;
    size_t n_blocks, cap_blocks;
    struct hd_device_options asked; /* timed, no_fallback, precision */
    struct hd_gpu_tuning tuning;
    hd_fence fences;
    int peers; /* processes that have joined */
};

struct hd_exec {
    hd_arena *arena;
    const hd_model *model;
    hd_graph *graph;
    struct hd_host_io io;
    struct hd_gpu_plan *plan;
    hd_gpu_mem **buffers;
    struct hd_exec_step *steps; /* for people */
};

hd_status hd_gpu_dev_probe(const struct hd_gpu_api *api, struct hd_device_info *out) {
    const char *why = api->why_not();
    *out =
        (struct hd_device_info){.description = api->describe(), .available = !why, .why_not = why};
    return HD_OK;
}

hd_status hd_gpu_dev_open(hd_ctx *ctx, const struct hd_gpu_api *api,
                          const struct hd_device_options *opt, hd_device **out) {
    hd_device *d = calloc(1, sizeof *d);
    if (!d) return hd_fail(ctx, HD_NOMEM, "%s: no memory for the device", api->scheme);
    d->api = api;
    d->asked = (struct hd_device_options){
        .timed = opt->timed, .no_fallback = opt->no_fallback, .precision = opt->precision};
    hd_status s = opt->db ? hd_schedules_open(ctx, opt->db, false, &d->tuning.db) : HD_OK;
    if (s == HD_OK) s = api->open(ctx, &d->gpu);
    if (s == HD_OK) {
        *out = d;
    } else {
        hd_schedules_close(d->tuning.db);
        free(d);
    }
    return s;
}

void hd_gpu_dev_close(hd_device *d) {
    for (size_t i = 0; i < d->n_blocks; i++)
        if (d->blocks[i].mem) d->api->free(d->gpu, d->blocks[i].mem);
    d->api->close(d->gpu);
    hd_schedules_close(d->tuning.db);
    free(d->blocks);
    free(d);
}

/* ---- buffers -------------------------------------------------------------------------------- */

hd_status hd_gpu_dev_alloc(hd_ctx *ctx, hd_device *d, size_t bytes, hd_buffer *out) {
    if (d->n_blocks == d->cap_blocks) {
        size_t cap = d->cap_blocks ? 2 * d->cap_blocks : 16;
        struct block *blocks = realloc(d->blocks, cap * sizeof *blocks);
        if (!blocks) return hd_fail(ctx, HD_NOMEM, "%s: no memory for a buffer", d->api->scheme);
        d->blocks = blocks;
        d->cap_blocks = cap;
    }
    struct block b = {.bytes = bytes};
    TRY(hd_note(ctx, d->api->alloc(ctx, d->gpu, bytes, &b.mem), "for a buffer of %zu bytes",
                bytes));
    d->blocks[d->n_blocks++] = b;
    out->id = d->n_blocks;
    return HD_OK;
}

void hd_gpu_dev_free(hd_device *d, hd_buffer b) {
    if (b.id == 0 || b.id > d->n_blocks || !d->blocks[b.id - 1].mem) return;
    d->api->free(d->gpu, d->blocks[b.id - 1].mem);
    d->blocks[b.id - 1] = (struct block){0};
}

static hd_status find(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, size_t bytes,
                      hd_gpu_mem **out) {
    if (b.id == 0 || b.id > d->n_blocks || !d->blocks[b.id - 1].mem)
        return hd_fail(ctx, HD_INVALID, "%s: there is no buffer %llu", d->api->scheme,
                       (unsigned long long)b.id);
    const struct block *k = &d->blocks[b.id - 1];
    if (off > k->bytes || bytes > k->bytes - off)
        return hd_fail(ctx, HD_INVALID, "%s: %zu bytes at %zu of buffer %llu, which has %zu",
                       d->api->scheme, bytes, off, (unsigned long long)b.id, k->bytes);
    *out = k->mem;
    return HD_OK;
}

hd_status hd_gpu_dev_write(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, const void *src,
                           size_t bytes) {
    hd_gpu_mem *m = NULL;
    TRY(find(ctx, d, b, off, bytes, &m));
    return bytes ? d->api->write(ctx, d->gpu, m, off, src, bytes) : HD_OK;
}

hd_status hd_gpu_dev_read(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, void *dst,
                          size_t bytes) {
    hd_gpu_mem *m = NULL;
    TRY(find(ctx, d, b, off, bytes, &m));
    return bytes ? d->api->read(ctx, d->gpu, m, off, dst, bytes) : HD_OK;
}

/* ---- other processes ------------------------------------------------------------------------ */

hd_status hd_gpu_dev_join(hd_ctx *ctx, hd_device *d, const void *id, int me, int n) {
    TRY(d->api->join(ctx, d->gpu, id, me, n));
    d->peers = n;
    return HD_OK;
}

static hd_status find_move(hd_ctx *ctx, hd_device *d, hd_device *source,
                           const struct hd_peers_move *m, struct hd_gpu_gather *out) {
    *out = (struct hd_gpu_gather){.at = m->at, .bytes = m->bytes};
    size_t all = m->bytes * (size_t)d->peers;
    TRY(find(ctx, source, m->from, 0, m->bytes, &out->from));
    return find(ctx, d, m->to, m->at, all, &out->to);
}

hd_status hd_gpu_dev_gather(hd_ctx *ctx, hd_device *d, hd_device *source,
                            const struct hd_peers_move *move, int n) {
    struct hd_gpu_gather *g = calloc((size_t)n + 1, sizeof *g);
    hd_status s = g ? HD_OK : hd_fail(ctx, HD_NOMEM, "%s: no memory to gather", d->api->scheme);
    int some = 0;
    for (int i = 0; i < n && s == HD_OK; i++) {
        if (move[i].bytes) s = find_move(ctx, d, source, &move[i], &g[some++]);
    }
    if (s == HD_OK) s = d->api->gather(ctx, d->gpu, g, some);
    free(g);
    return s;
}

/* ---- graphs --------------------------------------------------------------------------------- */

void hd_gpu_dev_unload(hd_device *d, hd_exec *x) {
    (void)d;
    hd_gpu_plan_destroy(x->plan);
    hd_graph_destroy(x->graph);
    hd_arena_destroy(x->arena);
    free(x);
}

hd_status hd_gpu_dev_load(hd_ctx *ctx, hd_device *d, const hd_model *m, int step, hd_exec **out) {
    const char *scheme = d->api->scheme;
    if (step >= m->n_steps || (step >= 0 && m->steps[step].kind != HD_STEP_HOST))
        return hd_fail(ctx, HD_UNSUPPORTED, "%s: %s runs graphs, step %d is not a host step",
                       m->name, scheme, step);
    hd_exec *x = calloc(1, sizeof *x);
    if (!x) return hd_fail(ctx, HD_NOMEM, "%s: no memory to load %s", scheme, m->name);
    x->model = m;
    x->arena = hd_arena_create();
    hd_status s = hd_graph_load(ctx, m->graph, m->graph_bytes, &x->graph);
    if (s == HD_OK) s = hd_host_choose_io(ctx, x->arena, m, step, x->graph, &x->io);
    bool nothing = step >= 0 && !m->steps[step].n_nodes;
    static const int none = 0;
    const int *nodes = step < 0 ? NULL : nothing ? &none : m->steps[step].nodes;
    if (s == HD_OK)
        s = hd_gpu_plan_create(ctx, d->api, d->gpu, x->graph, m, &x->io, nodes,
                               step < 0 ? 0 : (size_t)m->steps[step].n_nodes, &d->asked, &d->tuning,
                               &x->plan);
    if (s != HD_OK) {
        hd_gpu_dev_unload(d, x);
        return hd_note(ctx, s, "while loading %s on device %s", m->name, scheme);
    }
    x->buffers = hd_new_array(x->arena, hd_gpu_mem *, (size_t)x->io.n_in + (size_t)x->io.n_out + 1);
    *out = x;
    return HD_OK;
}

hd_status hd_gpu_dev_submit(hd_ctx *ctx, hd_device *d, hd_exec *x, const hd_buffer *io,
                            hd_fence *out) {
    for (int i = 0; i < x->io.n_in + x->io.n_out; i++) {
        int value = i < x->io.n_in ? x->io.in[i] : x->io.out[i - x->io.n_in];
        TRY(find(ctx, d, io[i], 0, hd_value_dense_bytes(&x->model->values[value]), &x->buffers[i]));
    }
    TRY(hd_gpu_plan_run(ctx, x->plan, x->buffers, d->asked.timed));
    *out = ++d->fences;
    return HD_OK;
}

hd_status hd_gpu_dev_wait(hd_ctx *ctx, hd_device *d, hd_fence fence, uint64_t timeout_ns) {
    (void)timeout_ns; /* submit has done the work */
    if (fence > d->fences)
        return hd_fail(ctx, HD_INVALID, "%s: fence %llu was never given", d->api->scheme,
                       (unsigned long long)fence);
    return HD_OK;
}

int hd_gpu_dev_steps(hd_exec *x, const struct hd_exec_step **out) {
    const struct hd_gpu_plan *p = x->plan;
    if (!x->steps) x->steps = hd_new_array(x->arena, struct hd_exec_step, p->n_steps + 1);
    for (size_t i = 0; i < p->n_steps; i++) x->steps[i] = hd_gpu_step_facts(p, &p->steps[i]);
    *out = x->steps;
    return (int)p->n_steps;
}
