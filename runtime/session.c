/* Sessions: a model opened on a device, its steps run in order.
 *
 * A GRAPH device gets the whole graph as one exec. A machine gets its PROG steps; HOST steps run on
 * golden. Between steps every value lies in host memory, dense; a PROG step's inputs are packed
 * into the arena before it and its outputs unpacked behind it. Everything is allocated when the
 * session opens.
 */
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

struct step_exec {
    hd_exec *exec;
    hd_buffer *io; /* HOST: a buffer per input and output of the step */
};

struct hd_session {
    const hd_model *model;
    const struct hd_device_ops *dev_ops, *host_ops;
    hd_device *dev,
        *host; /* host: golden, when the device does not run graphs and there are HOST steps */
    bool whole_graph;
    hd_exec *graph;    /* whole graph */
    int *graph_values; /* ... and its io: values, inputs first */
    hd_buffer *graph_io;
    int n_graph_io;
    struct step_exec *steps;
    hd_buffer arena;
    void **dense; /* per value */
    bool *known;  /* per value: dense holds what the last run gave */
    void *packed; /* one value in arena form */
    struct hd_layer_counters *layers;
    struct hd_counters total;
};

static hd_status no_memory(hd_ctx *ctx, const hd_model *m) {
    return hd_fail(ctx, HD_NOMEM, "%s: no memory for its values; use a smaller model", m->name);
}

static bool in_list(const int *list, int n, int v) {
    for (int i = 0; i < n; i++)
        if (list[i] == v) return true;
    return false;
}

static hd_status alloc_values(hd_ctx *ctx, hd_session *s) {
    const hd_model *m = s->model;
    size_t n = (size_t)m->n_values + 1, most = 1;
    s->dense = calloc(n, sizeof *s->dense);
    s->known = calloc(n, sizeof *s->known);
    s->layers = calloc((size_t)m->n_layers + 1, sizeof *s->layers);
    s->steps = calloc((size_t)m->n_steps + 1, sizeof *s->steps);
    if (!s->dense || !s->known || !s->layers || !s->steps) return no_memory(ctx, m);
    for (int i = 0; i < m->n_values; i++) {
        size_t bytes = hd_value_dense_bytes(&m->values[i]);
        s->dense[i] = calloc(1, bytes ? bytes : 1);
        if (!s->dense[i]) return no_memory(ctx, m);
        if (m->values[i].in_arena)
            most = (size_t)hd_max((int64_t)most, (int64_t)hd_value_arena_bytes(&m->values[i]));
    }
    s->packed = malloc(most);
    return s->packed ? HD_OK : no_memory(ctx, m);
}

/* ---- whole graph -------------------------------------------------------------------------- */

static hd_status open_graph(hd_ctx *ctx, hd_session *s) {
    const hd_model *m = s->model;
    size_t most = (size_t)m->n_inputs + (size_t)m->n_outputs + (size_t)m->n_values + 1;
    s->graph_values = calloc(most, sizeof *s->graph_values);
    s->graph_io = calloc(most, sizeof *s->graph_io);
    if (!s->graph_values || !s->graph_io) return no_memory(ctx, m);
    int n = 0;
    for (int i = 0; i < m->n_inputs; i++) s->graph_values[n++] = m->inputs[i];
    for (int i = 0; i < m->n_outputs; i++) s->graph_values[n++] = m->outputs[i];
    for (int i = 0; i < m->n_values; i++)
        if (!in_list(m->inputs, m->n_inputs, i) && !in_list(m->outputs, m->n_outputs, i))
            s->graph_values[n++] = i;
    s->n_graph_io = n;
    for (int i = 0; i < n; i++)
        TRY(s->dev_ops->alloc(ctx, s->dev, hd_value_dense_bytes(&m->values[s->graph_values[i]]),
                              &s->graph_io[i]));
    return s->dev_ops->load(ctx, s->dev, m, -1, &s->graph);
}

static hd_status run_graph(hd_ctx *ctx, hd_session *s) {
    const hd_model *m = s->model;
    hd_fence fence;
    for (int i = 0; i < m->n_inputs; i++) {
        int v = m->inputs[i];
        TRY(s->dev_ops->write(ctx, s->dev, s->graph_io[i], 0, s->dense[v],
                              hd_value_dense_bytes(&m->values[v])));
    }
    TRY(s->dev_ops->submit(ctx, s->dev, s->graph, s->graph_io, &fence));
    TRY(s->dev_ops->wait(ctx, s->dev, fence, UINT64_MAX));
    for (int i = m->n_inputs; i < s->n_graph_io; i++) {
        int v = s->graph_values[i];
        TRY(s->dev_ops->read(ctx, s->dev, s->graph_io[i], 0, s->dense[v],
                             hd_value_dense_bytes(&m->values[v])));
        s->known[v] = true;
    }
    return HD_OK;
}

/* ---- steps -------------------------------------------------------------------------------- */

static hd_status open_host(hd_ctx *ctx, hd_session *s, const struct hd_device_options *opt) {
    if (s->host) return HD_OK;
    s->host_ops = hd_device_by_scheme("golden");
    if (!s->host_ops)
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "%s: has host steps, and this program is built without device golden",
                       s->model->name);
    return s->host_ops->open(ctx, opt, &s->host);
}

static int step_value(const struct hd_step *st, int i) {
    return i < st->n_inputs ? st->inputs[i] : st->outputs[i - st->n_inputs];
}

static hd_status open_host_step(hd_ctx *ctx, hd_session *s, int step) {
    const struct hd_step *st = &s->model->steps[step];
    struct step_exec *x = &s->steps[step];
    int n = st->n_inputs + st->n_outputs;
    x->io = calloc((size_t)n + 1, sizeof *x->io);
    if (!x->io) return no_memory(ctx, s->model);
    for (int i = 0; i < n; i++)
        TRY(s->host_ops->alloc(
            ctx, s->host, hd_value_dense_bytes(&s->model->values[step_value(st, i)]), &x->io[i]));
    return s->host_ops->load(ctx, s->host, s->model, step, &x->exec);
}

static hd_status open_steps(hd_ctx *ctx, hd_session *s, const struct hd_device_options *opt) {
    const hd_model *m = s->model;
    TRY(s->dev_ops->alloc(ctx, s->dev, m->arena_bytes ? (size_t)m->arena_bytes : 1, &s->arena));
    for (int i = 0; i < m->n_steps; i++) {
        if (m->steps[i].kind == HD_STEP_PROG) {
            for (int k = 0; k < m->steps[i].n_inputs + m->steps[i].n_outputs; k++) {
                const struct hd_value_info *v = &m->values[step_value(&m->steps[i], k)];
                if (!v->in_arena)
                    return hd_fail(ctx, HD_INVALID,
                                   "%s: step %d exchanges %s, which has no place in the arena",
                                   m->name, i, v->name);
            }
            TRY(s->dev_ops->load(ctx, s->dev, m, i, &s->steps[i].exec));
        } else {
            TRY(open_host(ctx, s, opt));
            TRY(open_host_step(ctx, s, i));
        }
    }
    return HD_OK;
}

static hd_status run_host_step(hd_ctx *ctx, hd_session *s, int step) {
    const hd_model *m = s->model;
    const struct hd_step *st = &m->steps[step];
    struct step_exec *x = &s->steps[step];
    hd_fence fence;
    for (int i = 0; i < st->n_inputs; i++) {
        int v = st->inputs[i];
        TRY(s->host_ops->write(ctx, s->host, x->io[i], 0, s->dense[v],
                               hd_value_dense_bytes(&m->values[v])));
    }
    TRY(s->host_ops->submit(ctx, s->host, x->exec, x->io, &fence));
    TRY(s->host_ops->wait(ctx, s->host, fence, UINT64_MAX));
    for (int i = 0; i < st->n_outputs; i++) {
        int v = st->outputs[i];
        TRY(s->host_ops->read(ctx, s->host, x->io[st->n_inputs + i], 0, s->dense[v],
                              hd_value_dense_bytes(&m->values[v])));
        s->known[v] = true;
    }
    return HD_OK;
}

static void add_counters(hd_session *s, const struct hd_counters *c) {
    struct hd_counters *t = &s->total;
    t->cycles += c->cycles;
    t->read_bytes += c->read_bytes;
    t->write_bytes += c->write_bytes;
    t->code_bytes += c->code_bytes;
    for (int u = 0; u < HD_UNITS; u++) {
        t->unit[u].busy += c->unit[u].busy;
        t->unit[u].stall_sem += c->unit[u].stall_sem;
        t->unit[u].stall_mem += c->unit[u].stall_mem;
        t->unit[u].stall_bank += c->unit[u].stall_bank;
    }
    if (c->layers) t->layers = s->layers;
    for (int i = 0; c->layers && i < c->n_layers && i < s->model->n_layers; i++) {
        s->layers[i].cycles += c->layers[i].cycles;
        s->layers[i].mx_busy += c->layers[i].mx_busy;
        s->layers[i].vx_busy += c->layers[i].vx_busy;
        s->layers[i].read_bytes += c->layers[i].read_bytes;
        s->layers[i].write_bytes += c->layers[i].write_bytes;
    }
}

static hd_status run_prog_step(hd_ctx *ctx, hd_session *s, int step) {
    const hd_model *m = s->model;
    const struct hd_step *st = &m->steps[step];
    hd_fence fence;
    for (int i = 0; i < st->n_inputs; i++) {
        const struct hd_value_info *v = &m->values[st->inputs[i]];
        hd_value_pack(v, s->dense[st->inputs[i]], s->packed);
        TRY(s->dev_ops->write(ctx, s->dev, s->arena, (size_t)v->arena_offset, s->packed,
                              hd_value_arena_bytes(v)));
    }
    TRY(s->dev_ops->submit(ctx, s->dev, s->steps[step].exec, &s->arena, &fence));
    TRY(s->dev_ops->wait(ctx, s->dev, fence, UINT64_MAX));
    for (int i = 0; i < st->n_outputs; i++) {
        const struct hd_value_info *v = &m->values[st->outputs[i]];
        TRY(s->dev_ops->read(ctx, s->dev, s->arena, (size_t)v->arena_offset, s->packed,
                             hd_value_arena_bytes(v)));
        hd_value_unpack(v, s->packed, s->dense[st->outputs[i]]);
        s->known[st->outputs[i]] = true;
    }
    if (!s->dev_ops->counters) return HD_OK;
    struct hd_counters c = {0};
    TRY(s->dev_ops->counters(ctx, s->dev, &c));
    add_counters(s, &c);
    return HD_OK;
}

/* ---- public ------------------------------------------------------------------------------- */

static hd_status find_device(hd_ctx *ctx, const char *scheme, const struct hd_device_options *opt,
                             const struct hd_device_ops **out) {
    char have[256] = "";
    for (int i = 0; hd_devices[i]; i++) {
        size_t n = strlen(have);
        if (n + strlen(hd_devices[i]->scheme) + 3 < sizeof have) {
            if (n) strcat(have, ", ");
            strcat(have, hd_devices[i]->scheme);
        }
    }
    const struct hd_device_ops *d = hd_device_by_scheme(scheme);
    if (!d)
        return hd_fail(ctx, HD_UNSUPPORTED, "device %s: unknown, this program has %s", scheme,
                       have);
    struct hd_device_info info = {.available = true};
    if (d->probe) TRY(d->probe(ctx, opt, &info));
    if (!info.available)
        return hd_fail(ctx, HD_DEVICE, "device %s: not available: %s", scheme,
                       info.why_not ? info.why_not : "");
    *out = d;
    return HD_OK;
}

static hd_status open_all(hd_ctx *ctx, hd_session *s, const char *scheme,
                          const struct hd_device_options *opt) {
    const hd_model *m = s->model;
    TRY(find_device(ctx, scheme, opt, &s->dev_ops));
    s->whole_graph = !(s->dev_ops->sections & HD_RUNS_PROG);
    if (!s->whole_graph && hd_machine_hash(&opt->machine) != m->machine_hash)
        return hd_fail(ctx, HD_MISMATCH,
                       "%s: compiled for machine %s (fingerprint 0x%08x), the device is %s "
                       "(0x%08x); compile it for "
                       "that machine",
                       m->name, m->machine.name, m->machine_hash, opt->machine.name,
                       hd_machine_hash(&opt->machine));
    TRY(alloc_values(ctx, s));
    TRY(s->dev_ops->open(ctx, opt, &s->dev));
    return s->whole_graph ? open_graph(ctx, s) : open_steps(ctx, s, opt);
}

hd_status hd_session_open(hd_ctx *ctx, const hd_model *m, const char *scheme,
                          const struct hd_device_options *opt, hd_session **out) {
    hd_session *s = calloc(1, sizeof *s);
    if (!s) return no_memory(ctx, m);
    struct hd_device_options def = {.machine = m->machine};
    s->model = m;
    hd_status r = open_all(ctx, s, scheme, opt ? opt : &def);
    if (r == HD_OK)
        *out = s;
    else
        hd_session_close(s);
    return r;
}

static void free_io(const struct hd_device_ops *ops, hd_device *dev, hd_buffer *io, int n) {
    for (int i = 0; io && i < n; i++)
        if (io[i].id) ops->free(dev, io[i]);
    free(io);
}

void hd_session_close(hd_session *s) {
    if (!s) return;
    const hd_model *m = s->model;
    for (int i = 0; s->steps && i < m->n_steps; i++) {
        bool host = m->steps[i].kind == HD_STEP_HOST;
        if (s->steps[i].exec) {
            if (host)
                s->host_ops->unload(s->host, s->steps[i].exec);
            else
                s->dev_ops->unload(s->dev, s->steps[i].exec);
        }
        free_io(s->host_ops, s->host, s->steps[i].io, m->steps[i].n_inputs + m->steps[i].n_outputs);
    }
    if (s->graph) s->dev_ops->unload(s->dev, s->graph);
    free_io(s->dev_ops, s->dev, s->graph_io, s->n_graph_io);
    if (s->arena.id) s->dev_ops->free(s->dev, s->arena);
    if (s->host) s->host_ops->close(s->host);
    if (s->dev) s->dev_ops->close(s->dev);
    for (int i = 0; s->dense && i < m->n_values; i++) free(s->dense[i]);
    free(s->graph_values);
    free(s->dense);
    free(s->known);
    free(s->layers);
    free(s->steps);
    free(s->packed);
    free(s);
}

hd_status hd_session_run(hd_ctx *ctx, hd_session *s, const void *const *inputs,
                         void *const *outputs) {
    const hd_model *m = s->model;
    memset(s->known, 0, (size_t)m->n_values * sizeof *s->known);
    memset(s->layers, 0, (size_t)m->n_layers * sizeof *s->layers);
    s->total = (struct hd_counters){0};
    for (int i = 0; i < m->n_inputs; i++) {
        memcpy(s->dense[m->inputs[i]], inputs[i], hd_value_dense_bytes(&m->values[m->inputs[i]]));
        s->known[m->inputs[i]] = true;
    }
    if (s->whole_graph) TRY(run_graph(ctx, s));
    for (int i = 0; !s->whole_graph && i < m->n_steps; i++)
        TRY(hd_note(ctx,
                    m->steps[i].kind == HD_STEP_HOST ? run_host_step(ctx, s, i)
                                                     : run_prog_step(ctx, s, i),
                    "in step %d of %d of %s", i, m->n_steps, m->name));
    for (int i = 0; i < m->n_outputs; i++) {
        int v = m->outputs[i];
        if (!s->known[v])
            return hd_fail(ctx, HD_INVALID, "%s: no step makes output %s; compile the model again",
                           m->name, m->values[v].name);
        memcpy(outputs[i], s->dense[v], hd_value_dense_bytes(&m->values[v]));
    }
    return HD_OK;
}

hd_status hd_session_value(hd_ctx *ctx, hd_session *s, int value, void *out) {
    const hd_model *m = s->model;
    if (value < 0 || value >= m->n_values)
        return hd_fail(ctx, HD_INVALID, "%s: value %d, it has %d", m->name, value, m->n_values);
    if (!s->known[value])
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "%s: %s stayed on chip, or nothing ran yet; compile with keep_all", m->name,
                       m->values[value].name);
    memcpy(out, s->dense[value], hd_value_dense_bytes(&m->values[value]));
    return HD_OK;
}

hd_status hd_session_counters(hd_ctx *ctx, hd_session *s, struct hd_counters *out) {
    (void)ctx;
    *out = s->total;
    out->n_layers = out->layers ? s->model->n_layers : 0;
    return HD_OK;
}
