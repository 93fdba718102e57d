/* Device golden: walks the legalised graph with the reference kernels, one node at a time.
 *
 * It is the oracle, so it is as plain as it can be: tensors of a run live in an arena that is made
 * for the run and dropped behind it. Buffers are host memory.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/ir.h"
#include "cpu_ref/golden.h"
#include "runtime/hal.h"

struct block {
    void *data;
    size_t bytes;
};

struct hd_device {
    struct block *blocks; /* id - 1; data NULL = freed */
    size_t n_blocks, cap_blocks;
    hd_fence fences;
};

struct hd_exec {
    const hd_model *model;
    hd_graph *graph;
    const int *nodes; /* NULL = all */
    size_t n_nodes;
    int *in, *out; /* values */
    int n_in, n_out;
    void **data; /* per tensor */
};

static hd_status golden_open(hd_ctx *ctx, const struct hd_device_options *opt, hd_device **out) {
    (void)opt;
    *out = calloc(1, sizeof **out);
    return *out ? HD_OK : hd_fail(ctx, HD_NOMEM, "golden: no memory for the device");
}

static void golden_close(hd_device *d) {
    for (size_t i = 0; i < d->n_blocks; i++) free(d->blocks[i].data);
    free(d->blocks);
    free(d);
}

static hd_status golden_alloc(hd_ctx *ctx, hd_device *d, size_t bytes, hd_buffer *out) {
    if (d->n_blocks == d->cap_blocks) {
        size_t cap = d->cap_blocks ? 2 * d->cap_blocks : 16;
        struct block *blocks = realloc(d->blocks, cap * sizeof *blocks);
        if (!blocks)
            return hd_fail(ctx, HD_NOMEM, "golden: no memory for buffer %zu", d->n_blocks + 1);
        d->blocks = blocks;
        d->cap_blocks = cap;
    }
    struct block b = {calloc(1, bytes ? bytes : 1), bytes};
    if (!b.data)
        return hd_fail(ctx, HD_NOMEM, "golden: no memory for a buffer of %zu bytes", bytes);
    d->blocks[d->n_blocks++] = b;
    out->id = d->n_blocks;
    return HD_OK;
}

static void golden_free(hd_device *d, hd_buffer b) {
    if (b.id == 0 || b.id > d->n_blocks) return;
    free(d->blocks[b.id - 1].data);
    d->blocks[b.id - 1] = (struct block){0};
}

static hd_status find_block(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, size_t bytes,
                            unsigned char **out) {
    if (b.id == 0 || b.id > d->n_blocks || !d->blocks[b.id - 1].data)
        return hd_fail(ctx, HD_INVALID, "golden: there is no buffer %llu",
                       (unsigned long long)b.id);
    const struct block *k = &d->blocks[b.id - 1];
    if (off > k->bytes || bytes > k->bytes - off)
        return hd_fail(ctx, HD_INVALID, "golden: %zu bytes at %zu of buffer %llu, which has %zu",
                       bytes, off, (unsigned long long)b.id, k->bytes);
    *out = (unsigned char *)k->data + off;
    return HD_OK;
}

static hd_status golden_write(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, const void *src,
                              size_t bytes) {
    unsigned char *p = NULL;
    TRY(find_block(ctx, d, b, off, bytes, &p));
    if (bytes) memcpy(p, src, bytes);
    return HD_OK;
}

static hd_status golden_read(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, void *dst,
                             size_t bytes) {
    unsigned char *p = NULL;
    TRY(find_block(ctx, d, b, off, bytes, &p));
    if (bytes) memcpy(dst, p, bytes);
    return HD_OK;
}

static void golden_unload(hd_device *d, hd_exec *x) {
    (void)d;
    hd_graph_destroy(x->graph);
    free(x->in);
    free(x->out);
    free(x->data);
    free(x);
}

static bool in_list(const int *list, int n, int v) {
    for (int i = 0; i < n; i++)
        if (list[i] == v) return true;
    return false;
}

/* The values that the exec exchanges, in the order of the contract in hal.h. */
static void choose_io(hd_exec *x, const hd_model *m, int step) {
    const int *in = step < 0 ? m->inputs : m->steps[step].inputs;
    const int *out = step < 0 ? m->outputs : m->steps[step].outputs;
    x->n_in = step < 0 ? m->n_inputs : m->steps[step].n_inputs;
    x->n_out = step < 0 ? m->n_outputs : m->steps[step].n_outputs;
    memcpy(x->in, in, (size_t)x->n_in * sizeof *in);
    memcpy(x->out, out, (size_t)x->n_out * sizeof *out);
    int n_outputs = x->n_out;
    for (int i = 0; step < 0 && i < m->n_values; i++)
        if (!in_list(in, x->n_in, i) && !in_list(out, n_outputs, i)) x->out[x->n_out++] = i;
}

/* Values and nodes of the model name tensors and nodes of its graph, of the same size. */
static hd_status check_ids(hd_ctx *ctx, const hd_exec *x, const hd_model *m) {
    const hd_graph *g = x->graph;
    for (int i = 0; i < x->n_in + x->n_out; i++) {
        const struct hd_value_info *v = &m->values[i < x->n_in ? x->in[i] : x->out[i - x->n_in]];
        if (v->tensor < 0 || (size_t)v->tensor >= g->n_tensors ||
            hd_tensor_bytes(&g->tensors[v->tensor]) != hd_value_dense_bytes(v))
            return hd_fail(ctx, HD_INVALID,
                           "%s: value %s is not a tensor of its graph; compile the model again",
                           m->name, v->name);
    }
    for (size_t i = 0; i < x->n_nodes; i++)
        if ((size_t)x->nodes[i] >= g->n_nodes)
            return hd_fail(ctx, HD_INVALID,
                           "%s: a host step names node %d, the graph has %zu; compile again",
                           m->name, x->nodes[i], g->n_nodes);
    return HD_OK;
}

static hd_status golden_load(hd_ctx *ctx, hd_device *d, const hd_model *m, int step,
                             hd_exec **out) {
    if (step >= m->n_steps || (step >= 0 && m->steps[step].kind != HD_STEP_HOST))
        return hd_fail(ctx, HD_UNSUPPORTED, "%s: golden runs graphs, step %d is not a host step",
                       m->name, step);
    hd_exec *x = calloc(1, sizeof *x);
    if (!x) return hd_fail(ctx, HD_NOMEM, "golden: no memory to load %s", m->name);
    x->model = m;
    hd_status s = hd_note(ctx, hd_graph_load(ctx, m->graph, m->graph_bytes, &x->graph),
                          "while loading %s", m->name);
    if (s != HD_OK) {
        free(x);
        return s;
    }
    if (step >= 0) {
        x->nodes = m->steps[step].nodes;
        x->n_nodes = (size_t)m->steps[step].n_nodes;
    }
    size_t most = (size_t)m->n_values + (size_t)m->n_inputs + (size_t)m->n_outputs + 1;
    if (step >= 0) most += (size_t)m->steps[step].n_inputs + (size_t)m->steps[step].n_outputs;
    x->in = calloc(most, sizeof *x->in);
    x->out = calloc(most, sizeof *x->out);
    x->data = calloc(x->graph->n_tensors + 1, sizeof *x->data);
    if (!x->in || !x->out || !x->data)
        s = hd_fail(ctx, HD_NOMEM, "golden: no memory to load %s", m->name);
    if (s == HD_OK) {
        choose_io(x, m, step);
        s = check_ids(ctx, x, m);
    }
    if (s == HD_OK)
        *out = x;
    else
        golden_unload(d, x);
    return s;
}

static hd_status run(hd_ctx *ctx, hd_device *d, hd_exec *x, const hd_buffer *io, hd_arena *a) {
    const hd_model *m = x->model;
    memset(x->data, 0, x->graph->n_tensors * sizeof *x->data);
    for (int i = 0; i < x->n_in; i++) {
        const struct hd_value_info *v = &m->values[x->in[i]];
        unsigned char *p = NULL;
        TRY(find_block(ctx, d, io[i], 0, hd_value_dense_bytes(v), &p));
        x->data[v->tensor] = p;
    }
    if (!x->nodes || x->n_nodes)
        TRY(hd_golden_run(ctx, x->graph, x->nodes, x->n_nodes, x->data, a));
    for (int i = 0; i < x->n_out; i++) {
        const struct hd_value_info *v = &m->values[x->out[i]];
        const void *src =
            x->data[v->tensor] ? x->data[v->tensor] : x->graph->tensors[v->tensor].data;
        if (!src)
            return hd_fail(ctx, HD_INVALID, "%s: nothing computes %s; compile again", m->name,
                           v->name);
        TRY(golden_write(ctx, d, io[x->n_in + i], 0, src, hd_value_dense_bytes(v)));
    }
    return HD_OK;
}

static hd_status golden_submit(hd_ctx *ctx, hd_device *d, hd_exec *x, const hd_buffer *io,
                               hd_fence *out) {
    hd_arena *a = hd_arena_create();
    hd_status s = run(ctx, d, x, io, a);
    hd_arena_destroy(a);
    *out = ++d->fences;
    return s;
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
    .write = golden_write,
    .read = golden_read,
    .load = golden_load,
    .unload = golden_unload,
    .submit = golden_submit,
    .wait = golden_wait,
};
