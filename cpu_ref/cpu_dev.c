/* Device cpu: the whole graph planned when it is loaded (cpu_plan.h), run as often as asked.
 * Buffers are host memory. */
#include <stdlib.h>
#include <string.h>

#include "cpu_ref/cpu_int8.h"
#include "cpu_ref/cpu_plan.h"
#include "runtime/base/parallel.h"

struct hd_device {
    struct hd_host_mem mem;
    int threads;
    struct hd_schedules *db; /* NULL = none */
    bool timed;
    const struct hd_made *made; /* NULL = none */
    hd_fence fences;
};

struct hd_exec {
    hd_arena *arena;
    const hd_model *model;
    hd_graph *graph;
    struct hd_host_io io;
    struct hd_cpu_plan *plan;
    void **buffers;
    struct hd_exec_step *steps; /* for people */
};

static hd_status cpu_probe(hd_ctx *ctx, const struct hd_device_options *opt,
                           struct hd_device_info *out) {
    (void)ctx, (void)opt;
    *out = (struct hd_device_info){.description = hd_cpu_describe(), .available = true};
    return HD_OK;
}

static hd_status cpu_open(hd_ctx *ctx, const struct hd_device_options *opt, hd_device **out) {
    hd_device *d = calloc(1, sizeof *d);
    if (!d) return hd_fail(ctx, HD_NOMEM, "cpu: no memory for the device");
    d->mem.device = "cpu";
    d->timed = opt->timed;
    d->made = opt->made;
    d->threads = opt->threads ? opt->threads : hd_cores();
    if (!hd_threads_open(d->threads)) d->threads = 1;
    hd_status s = opt->db ? hd_schedules_open(ctx, opt->db, false, &d->db) : HD_OK;
    if (s == HD_OK)
        *out = d;
    else
        free(d);
    return s;
}

static void cpu_close(hd_device *d) {
    hd_schedules_close(d->db);
    hd_host_free_all(&d->mem);
    free(d);
}

static hd_status cpu_alloc(hd_ctx *ctx, hd_device *d, size_t bytes, hd_buffer *out) {
    return hd_host_alloc(ctx, &d->mem, bytes, out);
}

static hd_status cpu_lend(hd_ctx *ctx, hd_device *d, void *data, size_t bytes, hd_buffer *out) {
    return hd_host_lend(ctx, &d->mem, data, bytes, out);
}

static void cpu_free(hd_device *d, hd_buffer b) {
    hd_host_free(&d->mem, b);
}

static hd_status cpu_write(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, const void *src,
                           size_t bytes) {
    return hd_host_write(ctx, &d->mem, b, off, src, bytes);
}

static hd_status cpu_read(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, void *dst,
                          size_t bytes) {
    return hd_host_read(ctx, &d->mem, b, off, dst, bytes);
}

static void cpu_unload(hd_device *d, hd_exec *x) {
    (void)d;
    hd_cpu_plan_destroy(x->plan);
    hd_graph_destroy(x->graph);
    hd_arena_destroy(x->arena);
    free(x);
}

static hd_status cpu_load(hd_ctx *ctx, hd_device *d, const hd_model *m, int step, hd_exec **out) {
    if (step >= m->n_steps || (step >= 0 && m->steps[step].kind != HD_STEP_HOST))
        return hd_fail(ctx, HD_UNSUPPORTED, "%s: cpu runs graphs, step %d is not a host step",
                       m->name, step);
    hd_exec *x = calloc(1, sizeof *x);
    if (!x) return hd_fail(ctx, HD_NOMEM, "cpu: no memory to load %s", m->name);
    x->model = m;
    x->arena = hd_arena_create();
    hd_status s = hd_graph_load(ctx, m->graph, m->graph_bytes, &x->graph);
    if (s == HD_OK) s = hd_host_choose_io(ctx, x->arena, m, step, x->graph, &x->io);
    bool nothing = step >= 0 && !m->steps[step].n_nodes;
    static const int none = 0;
    const int *nodes = step < 0 ? NULL : nothing ? &none : m->steps[step].nodes;
    if (s == HD_OK)
        s = hd_cpu_plan_create(ctx, x->graph, m, &x->io, nodes,
                               step < 0 ? 0 : (size_t)m->steps[step].n_nodes, d->threads, d->db,
                               &x->plan);
    if (s != HD_OK) {
        cpu_unload(d, x);
        return hd_note(ctx, s, "while loading %s on device cpu", m->name);
    }
    if (step < 0 && d->made) hd_cpu_plan_made(x->plan, d->made);
    x->buffers = hd_new_array(x->arena, void *, (size_t)x->io.n_in + (size_t)x->io.n_out + 1);
    *out = x;
    return HD_OK;
}

static hd_status cpu_submit(hd_ctx *ctx, hd_device *d, hd_exec *x, const hd_buffer *io,
                            hd_fence *out) {
    for (int i = 0; i < x->io.n_in + x->io.n_out; i++) {
        int value = i < x->io.n_in ? x->io.in[i] : x->io.out[i - x->io.n_in];
        unsigned char *p = NULL;
        TRY(hd_host_find(ctx, &d->mem, io[i], 0, hd_value_dense_bytes(&x->model->values[value]),
                         &p));
        x->buffers[i] = p;
    }
    TRY(hd_cpu_plan_run(ctx, x->plan, x->buffers, d->timed));
    *out = ++d->fences;
    return HD_OK;
}

static int cpu_steps(hd_exec *x, const struct hd_exec_step **out) {
    const struct hd_cpu_plan *p = x->plan;
    if (!x->steps) x->steps = hd_new_array(x->arena, struct hd_exec_step, p->n_steps + 1);
    for (size_t i = 0; i < p->n_steps; i++) {
        const struct hd_cpu_step *s = &p->steps[i];
        const struct hd_node *n = s->node < 0 ? NULL : &p->g->nodes[s->node];
        x->steps[i] = (struct hd_exec_step){.node = n ? n->name : NULL,
                                            .op = n ? hd_ir_ops[n->op].name : NULL,
                                            .how = s->how,
                                            .n_nodes = s->n_nodes,
                                            .seconds = s->seconds};
    }
    *out = x->steps;
    return (int)p->n_steps;
}

static hd_status cpu_wait(hd_ctx *ctx, hd_device *d, hd_fence fence, uint64_t timeout_ns) {
    (void)timeout_ns; /* submit has done the work */
    if (fence > d->fences)
        return hd_fail(ctx, HD_INVALID, "cpu: fence %llu was never given",
                       (unsigned long long)fence);
    return HD_OK;
}

extern const struct hd_device_ops hd_device_cpu;
const struct hd_device_ops hd_device_cpu = {
    .scheme = "cpu",
    .doc = "fast kernels on the host",
    .sections = HD_RUNS_GRAPH,
    .probe = cpu_probe,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .lend = cpu_lend,
    .write = cpu_write,
    .read = cpu_read,
    .load = cpu_load,
    .unload = cpu_unload,
    .submit = cpu_submit,
    .wait = cpu_wait,
    .steps = cpu_steps,
};
