/* Device golden: walks the legalised graph with the reference kernels, one node at a time.
 *
 * It is the oracle, so it is as plain as it can be: tensors of a run live in an arena that is
 * emptied before the next one, so that later runs allocate nothing. Buffers are host memory.
 */
#include <stdlib.h>

#include "cpu_ref/golden.h"
#include "cpu_ref/host.h"
#include "runtime/device/hal.h"

struct hd_device {
    struct hd_host_mem mem;
    hd_fence fences;
};

struct hd_exec {
    hd_arena *arena;
    const hd_model *model;
    hd_graph *graph;
    const int *nodes; /* NULL = all */
    size_t n_nodes;
    struct hd_host_io io;
    int *order; /* nodes as they run */
    size_t n_order;
    struct hd_tensor *tensors; /* of a run */
    int *touched;              /* those that the nodes read or write */
    size_t n_touched;
    hd_arena *results, *scratch; /* of a run */
};

static hd_status golden_open(hd_ctx *ctx, const struct hd_device_options *opt, hd_device **out) {
    (void)opt;
    hd_device *d = calloc(1, sizeof *d);
    if (!d) return hd_fail(ctx, HD_NOMEM, "golden: no memory for the device");
    d->mem.device = "golden";
    *out = d;
    return HD_OK;
}

static void golden_close(hd_device *d) {
    hd_host_free_all(&d->mem);
    free(d);
}

static hd_status golden_alloc(hd_ctx *ctx, hd_device *d, size_t bytes, hd_buffer *out) {
    return hd_host_alloc(ctx, &d->mem, bytes, out);
}

static hd_status golden_lend(hd_ctx *ctx, hd_device *d, void *data, size_t bytes, hd_buffer *out) {
    return hd_host_lend(ctx, &d->mem, data, bytes, out);
}

static void golden_free(hd_device *d, hd_buffer b) {
    hd_host_free(&d->mem, b);
}

static hd_status golden_write(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, const void *src,
                              size_t bytes) {
    return hd_host_write(ctx, &d->mem, b, off, src, bytes);
}

static hd_status golden_read(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, void *dst,
                             size_t bytes) {
    return hd_host_read(ctx, &d->mem, b, off, dst, bytes);
}

static void golden_unload(hd_device *d, hd_exec *x) {
    (void)d;
    hd_graph_destroy(x->graph);
    hd_arena_destroy(x->arena);
    hd_arena_destroy(x->results);
    hd_arena_destroy(x->scratch);
    free(x);
}

/* A step of a large graph touches few of its tensors; a run sets up no others. */
static void list_touched(hd_exec *x) {
    const hd_graph *g = x->graph;
    bool *seen = hd_new_array(x->arena, bool, g->n_tensors + 1);
    x->tensors = hd_golden_tensors(g, x->arena);
    x->touched = hd_new_array(x->arena, int, g->n_tensors + 1);
    for (size_t i = 0; i < x->n_order; i++) {
        const struct hd_node *n = &g->nodes[x->order[i]];
        for (int k = 0; k < n->n_in + n->n_out; k++) {
            int id = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
            if (id < 0 || seen[id]) continue;
            seen[id] = true;
            x->touched[x->n_touched++] = id;
        }
    }
}

/* The order of the nodes, and for a step the memory of its runs. A whole graph takes it when it
 * runs: it is the oracle's way, and may be large. */
static hd_status plan_run(hd_ctx *ctx, hd_exec *x, int step) {
    size_t n = x->graph->n_nodes + 1, results, scratch;
    x->order = hd_new_array(x->arena, int, n);
    if (step < 0 || x->n_nodes)
        x->n_order = hd_golden_order(x->graph, x->nodes, x->n_nodes, x->order,
                                     hd_new_array(x->arena, bool, n));
    list_touched(x);
    hd_golden_bytes(x->graph, x->order, x->n_order, &results, &scratch);
    x->results = hd_arena_create();
    x->scratch = hd_arena_create();
    if (step < 0 ||
        (hd_arena_reserve(x->results, results) && hd_arena_reserve(x->scratch, scratch)))
        return HD_OK;
    return hd_fail(ctx, HD_NOMEM, "golden: no memory to run step %d of %s", step, x->model->name);
}

static hd_status golden_load(hd_ctx *ctx, hd_device *d, const hd_model *m, int step,
                             hd_exec **out) {
    if (step >= m->n_steps || (step >= 0 && m->steps[step].kind != HD_STEP_HOST))
        return hd_fail(ctx, HD_UNSUPPORTED, "%s: golden runs graphs, step %d is not a host step",
                       m->name, step);
    hd_exec *x = calloc(1, sizeof *x);
    if (!x) return hd_fail(ctx, HD_NOMEM, "golden: no memory to load %s", m->name);
    x->model = m;
    x->arena = hd_arena_create();
    hd_status s = hd_note(ctx, hd_graph_load(ctx, m->graph, m->graph_bytes, &x->graph),
                          "while loading %s", m->name);
    if (s == HD_OK) s = hd_host_choose_io(ctx, x->arena, m, step, x->graph, &x->io);
    if (s == HD_OK && step >= 0) {
        x->nodes = m->steps[step].nodes;
        x->n_nodes = (size_t)m->steps[step].n_nodes;
    }
    if (s == HD_OK) s = plan_run(ctx, x, step);
    if (s == HD_OK)
        *out = x;
    else
        golden_unload(d, x);
    return s;
}

static hd_status run(hd_ctx *ctx, hd_device *d, hd_exec *x, const hd_buffer *io) {
    const hd_model *m = x->model;
    hd_arena_reset(x->results);
    struct hd_tensor *t = x->tensors;
    for (size_t i = 0; i < x->n_touched; i++) t[x->touched[i]] = x->graph->tensors[x->touched[i]];
    for (int i = 0; i < x->io.n_in; i++) {
        const struct hd_value_info *v = &m->values[x->io.in[i]];
        unsigned char *p = NULL;
        TRY(hd_host_find(ctx, &d->mem, io[i], 0, hd_value_dense_bytes(v), &p));
        t[v->tensor].data = p;
    }
    TRY(hd_golden_eval_order(ctx, x->graph, x->order, x->n_order, t, x->results, x->scratch));
    for (int i = 0; i < x->io.n_out; i++) {
        const struct hd_value_info *v = &m->values[x->io.out[i]];
        const void *src = t[v->tensor].data;
        if (!src)
            return hd_fail(ctx, HD_INVALID, "%s: nothing computes %s; compile again", m->name,
                           v->name);
        TRY(golden_write(ctx, d, io[x->io.n_in + i], 0, src, hd_value_dense_bytes(v)));
    }
    return HD_OK;
}

static hd_status golden_submit(hd_ctx *ctx, hd_device *d, hd_exec *x, const hd_buffer *io,
                               hd_fence *out) {
    *out = ++d->fences;
    return run(ctx, d, x, io);
}

static hd_status golden_wait(hd_ctx *ctx, hd_device *d, hd_fence fence, uint64_t timeout_ns) {
    (void)timeout_ns; /* submit has done the work */
    if (fence > d->fences)
        return hd_fail(ctx, HD_INVALID, "golden: fence %llu was never given",
                       (unsigned long long)fence);
    return HD_OK;
}

extern const struct hd_device_ops hd_device_golden;
const struct hd_device_ops hd_device_golden = {
    .scheme = "golden",
    .doc = "plain C reference of every graph operation, on the host",
    .sections = HD_RUNS_GRAPH,
    .open = golden_open,
    .close = golden_close,
    .alloc = golden_alloc,
    .free = golden_free,
    .lend = golden_lend,
    .write = golden_write,
    .read = golden_read,
    .load = golden_load,
    .unload = golden_unload,
    .submit = golden_submit,
    .wait = golden_wait,
};
