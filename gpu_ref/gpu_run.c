/* Running plans: see gpu_plan.h. */
#include <string.h>
#include <time.h>

#include "cpu_ref/golden.h"
#include "gpu_ref/gpu_layout.h"
#include "gpu_ref/gpu_plan.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static hd_gpu_mem *memory_of(const struct hd_gpu_plan *p, int view, hd_gpu_mem *const *buffers) {
    const struct hd_gpu_view *v = &p->views[view];
    if (v->root >= 0) v = &p->views[v->root];
    return v->io >= 0 ? buffers[v->io] : v->mem;
}

static hd_status run_kernels(hd_ctx *ctx, struct hd_gpu_plan *p, struct hd_gpu_step *s,
                             hd_gpu_mem *const *buffers, bool timed, bool once) {
    for (int i = 0; i < s->n_calls; i++) {
        struct hd_gpu_call *c = &s->call[i];
        if (c->once != once) continue;
        for (int k = 0; k < c->n_args; k++) c->mem[k] = memory_of(p, c->arg[k], buffers);
        int timer = timed ? c->timer : -1;
        if (c->library) {
            TRY(p->api->compute(ctx, p->gpu, c->library, c->mem, c->n_args, timer));
            continue;
        }
        struct hd_gpu_launch l = {.kernel = p->kernel[c->kernel],
                                  .grid = {c->grid[0], c->grid[1], c->grid[2]},
                                  .block = {c->block[0], c->block[1], c->block[2]},
                                  .n_args = c->n_args,
                                  .arg = c->mem};
        TRY(p->api->launch(ctx, p->gpu, &l, timer));
    }
    return HD_OK;
}

hd_status hd_gpu_plan_once(hd_ctx *ctx, struct hd_gpu_plan *p) {
    bool any = false;
    for (size_t i = 0; i < p->n_steps; i++)
        for (int k = 0; k < p->steps[i].n_calls; k++) any = any || p->steps[i].call[k].once;
    for (size_t i = 0; i < p->n_steps && any; i++)
        TRY(run_kernels(ctx, p, &p->steps[i], NULL, false, true));
    return any ? p->api->finish(ctx, p->gpu) : HD_OK;
}

/* An operand of the host as ONNX says, and a result as it lies on the device. */
static hd_status read_operand(hd_ctx *ctx, struct hd_gpu_plan *p, const struct hd_gpu_step *s,
                              int i, hd_gpu_mem *m) {
    const struct hd_gpu_view *v = &p->views[s->in[i]];
    bool moved = p->channels_last[v->tensor];
    TRY(p->api->read(ctx, p->gpu, m, 0, moved ? s->moved : s->host_in[i], v->bytes));
    if (moved) hd_gpu_reorder(&p->g->tensors[v->tensor], 1, true, s->moved, s->host_in[i]);
    return HD_OK;
}

static hd_status write_result(hd_ctx *ctx, struct hd_gpu_plan *p, const struct hd_gpu_step *s,
                              const struct hd_gpu_view *v, hd_gpu_mem *m) {
    const void *data = p->golden[v->tensor].data;
    if (p->channels_last[v->tensor]) {
        hd_gpu_reorder(&p->g->tensors[v->tensor], 1, false, data, s->moved);
        data = s->moved;
    }
    return p->api->write(ctx, p->gpu, m, 0, data, v->bytes);
}

static hd_status run_host(hd_ctx *ctx, struct hd_gpu_plan *p, struct hd_gpu_step *s,
                          hd_gpu_mem *const *buffers) {
    const struct hd_node *n = &p->g->nodes[s->node];
    hd_arena_reset(p->golden_results); /* with the room of the runs before: no allocation */
    for (int i = 0; i < s->n_in; i++) {
        if (s->in[i] < 0) continue;
        const struct hd_gpu_view *v = &p->views[s->in[i]];
        if (!v->constant && v->bytes)
            TRY(read_operand(ctx, p, s, i, memory_of(p, s->in[i], buffers)));
        p->golden[n->in[i]].data = s->host_in[i];
    }
    TRY(hd_golden_node(ctx, p->g, s->node, p->golden, !p->g->specialised, p->golden_results,
                       p->golden_scratch));
    for (int i = 0; i < s->n_out; i++) {
        const struct hd_gpu_view *v = s->out[i] < 0 ? NULL : &p->views[s->out[i]];
        if (v && v->bytes) TRY(write_result(ctx, p, s, v, memory_of(p, s->out[i], buffers)));
    }
    return HD_OK;
}

static hd_status run_outputs(hd_ctx *ctx, struct hd_gpu_plan *p, hd_gpu_mem *const *buffers) {
    for (int i = 0; i < p->io.n_out; i++) {
        const struct hd_gpu_view *v = &p->views[p->out_view[i]];
        hd_gpu_mem *to = buffers[p->io.n_in + i], *from = memory_of(p, p->out_view[i], buffers);
        if (v->bytes && from != to) TRY(p->api->copy(ctx, p->gpu, from, to, v->bytes));
    }
    return HD_OK;
}

/* What gathers have reported, and that it is taken note of. */
static hd_status check_fault(hd_ctx *ctx, struct hd_gpu_plan *p) {
    int32_t fault = 0;
    hd_gpu_mem *m = p->views[p->fault].mem;
    TRY(p->api->read(ctx, p->gpu, m, 0, &fault, sizeof fault));
    if (!fault) return HD_OK;
    fault = 0;
    TRY(p->api->write(ctx, p->gpu, m, 0, &fault, sizeof fault));
    return hd_fail(ctx, HD_INVALID,
                   "%s: an index that %s reads from a tensor is outside of what it indexes; device "
                   "golden names it",
                   p->api->scheme, p->model->name);
}

static void read_times(struct hd_gpu_plan *p) {
    for (size_t i = 0; i < p->n_steps; i++) {
        struct hd_gpu_step *s = &p->steps[i];
        double took = 0;
        for (int k = 0; k < s->n_calls; k++) took += p->api->seconds(p->gpu, s->call[k].timer);
        if (s->n_calls && (s->seconds == 0 || took < s->seconds)) s->seconds = took;
    }
}

/* ---- recordings ----------------------------------------------------------------------------- */

void hd_gpu_forget(struct hd_gpu_plan *p) {
    for (size_t i = 0; i < p->n_segments; i++) {
        if (p->segments[i].recording) p->api->forget(p->gpu, p->segments[i].recording);
        p->segments[i].recording = NULL;
    }
}

/* A recording names memory: other buffers need another one. */
static void check_buffers(struct hd_gpu_plan *p, hd_gpu_mem *const *buffers) {
    bool same = true;
    for (int i = 0; i < p->io.n_in + p->io.n_out; i++) {
        uint64_t at = p->api->where(buffers[i]);
        same = same && at == p->recorded[i];
        p->recorded[i] = at;
    }
    if (!same) hd_gpu_forget(p);
}

/* The segment that begins with step i, in one launch; *i is its end. False: there is none. */
static bool run_segment(hd_ctx *ctx, struct hd_gpu_plan *p, hd_gpu_mem *const *buffers, size_t *i,
                        hd_status *out) {
    struct hd_gpu_segment *g = NULL;
    for (size_t k = 0; k < p->n_segments; k++)
        if (p->segments[k].first == *i) g = &p->segments[k];
    if (!g) return false;
    *i = g->end;
    if (!g->recording) {
        *out = p->api->record(ctx, p->gpu);
        if (*out != HD_OK) return true;
        hd_status s = HD_OK;
        for (size_t k = g->first; k < g->end && s == HD_OK; k++)
            s = run_kernels(ctx, p, &p->steps[k], buffers, false, false);
        *out = p->api->recorded(ctx, p->gpu, s, &g->recording);
        if (*out != HD_OK) return true;
    }
    *out = p->api->replay(ctx, p->gpu, g->recording);
    return true;
}

hd_status hd_gpu_plan_run(hd_ctx *ctx, struct hd_gpu_plan *p, hd_gpu_mem *const *buffers,
                          bool timed) {
    if (!timed && p->n_segments) check_buffers(p, buffers);
    for (size_t i = 0; i < p->n_steps;) {
        hd_status done = HD_OK;
        TRY(hd_continue(ctx));
        bool whole = !timed && run_segment(ctx, p, buffers, &i, &done);
        TRY(done);
        if (whole) continue;
        struct hd_gpu_step *s = &p->steps[i++];
        if (s->kind == HD_GPU_KERNELS) {
            TRY(run_kernels(ctx, p, s, buffers, timed, false));
            continue;
        }
        double start = timed ? now() : 0;
        TRY(run_host(ctx, p, s, buffers));
        double took = timed ? now() - start : 0;
        if (timed && (s->seconds == 0 || took < s->seconds)) s->seconds = took;
    }
    TRY(run_outputs(ctx, p, buffers));
    TRY(p->api->finish(ctx, p->gpu));
    if (timed) read_times(p);
    return p->fault < 0 ? HD_OK : check_fault(ctx, p);
}
