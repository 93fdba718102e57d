/* Sessions: a model opened on a device, its steps run in order.
 *
 * A GRAPH device alone gets the whole graph as one exec. A machine gets its PROG steps. HOST steps
 * run on the device that they name, where the session has it, else on the first that runs graphs,
 * which is golden where none was asked for. Between steps every value lies in host memory, dense; a
 * PROG step's inputs are packed into the arena before it and its outputs unpacked behind it.
 * Everything is allocated when the session opens. What a run writes is in its slot, so that the
 * runs of a queue can be in work side by side; a device is used by one of them at a time. A machine
 * of several cores is a device for each.
 */
#include "runtime/session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/num.h"
#include "runtime/device/states.h"

enum { LINE_BYTES = 64 }; /* bytes of a line of a cache */

static hd_status no_memory(hd_ctx *ctx, const hd_model *m) {
    return hd_fail(ctx, HD_NOMEM, "%s: no memory for its values; use a smaller model", m->name);
}

static bool runs_programs(const struct hd_runner *r) {
    return r->ops->sections & HD_RUNS_PROG;
}

/* ---- slots -------------------------------------------------------------------------------- */

static int step_value(const struct hd_step *st, int i) {
    return i < st->n_inputs ? st->inputs[i] : st->outputs[i - st->n_inputs];
}

static int step_values(const struct hd_step *st) {
    return st->n_inputs + st->n_outputs;
}

static hd_status alloc_values(hd_ctx *ctx, const hd_session *s, struct hd_slot *t) {
    const hd_model *m = s->model;
    size_t n = (size_t)m->n_values + 1, most = 1;
    t->dense = calloc(n, sizeof *t->dense);
    t->known = calloc(n, sizeof *t->known);
    t->in_arena = calloc(n, sizeof *t->in_arena);
    t->leave = calloc(n, sizeof *t->leave);
    t->moved = malloc(hd_states_bytes(m));
    t->layers = calloc((size_t)m->n_layers + 1, sizeof *t->layers);
    t->io = calloc((size_t)m->n_steps + 1, sizeof *t->io);
    t->step_ns = calloc((size_t)m->n_steps + 1, sizeof *t->step_ns);
    if (!t->dense || !t->known || !t->in_arena || !t->leave || !t->moved || !t->layers || !t->io ||
        !t->step_ns)
        return no_memory(ctx, m);
    for (int i = 0; i < m->n_values && !s->whole_graph; i++) {
        size_t bytes = hd_value_dense_bytes(&m->values[i]);
        size_t room = bytes / LINE_BYTES * LINE_BYTES + LINE_BYTES;
        t->dense[i] = aligned_alloc(LINE_BYTES, room);
        if (!t->dense[i]) return no_memory(ctx, m);
        memset(t->dense[i], 0, room);
        if (m->values[i].in_arena)
            most = (size_t)hd_max((int64_t)most, (int64_t)hd_value_arena_bytes(&m->values[i]));
    }
    t->packed = malloc(most);
    return t->packed ? HD_OK : no_memory(ctx, m);
}

/* Buffers of the devices. */
static hd_status alloc_buffers(hd_ctx *ctx, hd_session *s, struct hd_slot *t) {
    const hd_model *m = s->model;
    const struct hd_runner *machine = hd_slot_runner(s, t, 0);
    if (s->whole_graph) return hd_whole_buffers(ctx, s, t);
    if (runs_programs(machine))
        TRY(machine->ops->alloc(ctx, machine->dev, m->arena_bytes ? (size_t)m->arena_bytes : 1,
                                &t->arena));
    for (int i = 0; i < m->n_steps; i++) {
        const struct hd_step *st = &m->steps[i];
        if (st->kind != HD_STEP_HOST) continue;
        const struct hd_runner *r = &s->runner[s->runner_of[i]];
        t->io[i] = calloc((size_t)step_values(st) + 1, sizeof **t->io);
        if (!t->io[i]) return no_memory(ctx, m);
        for (int k = 0; k < step_values(st); k++) {
            int v = step_value(st, k);
            size_t bytes = hd_value_dense_bytes(&m->values[v]);
            TRY(r->ops->lend ? r->ops->lend(ctx, r->dev, t->dense[v], bytes, &t->io[i][k])
                             : r->ops->alloc(ctx, r->dev, bytes, &t->io[i][k]));
        }
    }
    return HD_OK;
}

static void free_io(const struct hd_runner *r, hd_buffer *io, int n) {
    for (int i = 0; io && i < n; i++)
        if (io[i].id) r->ops->free(r->dev, io[i]);
    free(io);
}

static void slot_close(hd_session *s, struct hd_slot *t) {
    const hd_model *m = s->model;
    for (int i = 0; t->io && i < m->n_steps; i++)
        free_io(&s->runner[s->runner_of[i]], t->io[i], step_values(&m->steps[i]));
    free_io(&s->runner[0], t->graph_io, s->n_graph_io);
    const struct hd_runner *machine = hd_slot_runner(s, t, 0);
    if (t->arena.id) machine->ops->free(machine->dev, t->arena);
    for (int i = 0; t->dense && i < m->n_values; i++) free(t->dense[i]);
    free(t->io);
    free(t->dense);
    free(t->known);
    free(t->in_arena);
    free(t->leave);
    free(t->moved);
    free(t->layers);
    free(t->step_ns);
    free(t->packed);
    free(t);
}

struct hd_runner *hd_slot_runner(hd_session *s, const struct hd_slot *t, int runner) {
    return runner == 0 && t->core ? &s->core[t->core - 1] : &s->runner[runner];
}

hd_status hd_slot_open(hd_ctx *ctx, hd_session *s, int core, struct hd_slot **out) {
    struct hd_slot **slots = realloc(s->slots, ((size_t)s->n_slots + 1) * sizeof *slots);
    if (!slots) return no_memory(ctx, s->model);
    s->slots = slots;
    struct hd_slot *t = calloc(1, sizeof *t);
    if (!t) return no_memory(ctx, s->model);
    slots[s->n_slots++] = t;
    t->core = core;
    *out = t;
    TRY(alloc_values(ctx, s, t));
    TRY(alloc_buffers(ctx, s, t));
    return s->in_place ? HD_OK : hd_state_begin(ctx, s, t);
}

/* ---- devices --------------------------------------------------------------------------------- */

static hd_status find_device(hd_ctx *ctx, const char *scheme, const struct hd_device_options *opt,
                             const struct hd_device_ops **out) {
    const struct hd_device_ops *d = NULL;
    struct hd_device_info info = {.available = true};
    TRY(hd_device_find(ctx, scheme, &d));
    if (d->probe) TRY(d->probe(ctx, opt, &info));
    if (!info.available)
        return hd_fail(ctx, HD_DEVICE, "device %s: not available: %s", scheme,
                       info.why_not ? info.why_not : "");
    *out = d;
    return HD_OK;
}

/* To *r, and counts it in *n. */
static hd_status open_device(hd_ctx *ctx, hd_session *s, const struct hd_device_options *opt,
                             struct hd_runner *r, int *n) {
    TRY(r->ops->open(ctx, opt, &r->dev));
    pthread_mutex_init(&r->lock, NULL);
    r->name = opt->name;
    ++*n;
    r->execs = calloc((size_t)s->model->n_steps + 1, sizeof *r->execs);
    return r->execs ? HD_OK : no_memory(ctx, s->model);
}

static hd_status open_runner(hd_ctx *ctx, hd_session *s, const char *name) {
    struct hd_device_options opt = s->opt;
    struct hd_runner *r = &s->runner[s->n_runners];
    opt.name = name;
    if (s->n_runners == HD_RUNNERS)
        return hd_fail(ctx, HD_INVALID, "%s: device %s is one more than %d, which is most",
                       s->model->name, name, HD_RUNNERS);
    TRY(find_device(ctx, name, &opt, &r->ops));
    return open_device(ctx, s, &opt, r, &s->n_runners);
}

static void close_runner(const hd_model *m, struct hd_runner *r) {
    for (int i = 0; r->execs && i < m->n_steps; i++)
        if (r->execs[i]) r->ops->unload(r->dev, r->execs[i]);
    r->ops->close(r->dev);
    pthread_mutex_destroy(&r->lock);
    free(r->execs);
}

/* ---- steps -------------------------------------------------------------------------------- */

/* The runner of a HOST step; golden is opened when there is no other. */
static hd_status find_host(hd_ctx *ctx, hd_session *s, const struct hd_step *st, int *out) {
    int first = -1;
    for (int i = s->n_runners - 1; i >= 0; i--)
        if (s->runner[i].ops->sections & HD_RUNS_GRAPH) first = i;
    for (int i = 0; st->device && i < s->n_runners; i++)
        if (!strcmp(s->runner[i].name, st->device)) first = i;
    if (first < 0) {
        TRY(hd_note(ctx, open_runner(ctx, s, "golden"), "for the host steps of %s",
                    s->model->name));
        first = s->n_runners - 1;
    }
    *out = first;
    return HD_OK;
}

static hd_status open_steps(hd_ctx *ctx, hd_session *s) {
    const hd_model *m = s->model;
    for (int i = 0; i < m->n_steps; i++) {
        const struct hd_step *st = &m->steps[i];
        if (st->kind == HD_STEP_HOST) TRY(find_host(ctx, s, st, &s->runner_of[i]));
        struct hd_runner *r = &s->runner[s->runner_of[i]];
        for (int k = 0; k < step_values(st) && st->kind == HD_STEP_PROG; k++) {
            const struct hd_value_info *v = &m->values[step_value(st, k)];
            if (!v->in_arena)
                return hd_fail(ctx, HD_INVALID,
                               "%s: step %d exchanges %s, which has no place in the arena", m->name,
                               i, v->name);
        }
        TRY(r->ops->load(ctx, r->dev, m, i, &r->execs[i]));
    }
    return HD_OK;
}

static hd_status open_core(hd_ctx *ctx, hd_session *s) {
    const hd_model *m = s->model;
    struct hd_device_options opt = s->opt;
    struct hd_runner *r = &s->core[s->n_cores];
    r->ops = s->runner[0].ops;
    opt.name = s->runner[0].name;
    opt.core = s->n_cores + 1;
    opt.beside = s->runner[0].dev;
    int opened = 0;
    hd_status ok = open_device(ctx, s, &opt, r, &opened);
    for (int i = 0; i < m->n_steps && ok == HD_OK; i++)
        if (m->steps[i].kind == HD_STEP_PROG) ok = r->ops->load(ctx, r->dev, m, i, &r->execs[i]);
    s->n_cores += ok == HD_OK;
    if (ok != HD_OK && opened) close_runner(m, r);
    return ok;
}

/* A probe is told of one machine's run at a time. */
hd_status hd_session_cores(hd_ctx *ctx, hd_session *s, int most) {
    const int cores = (int)hd_min(s->opt.machine.cores, HD_MOST_cores);
    bool one = s->whole_graph || !runs_programs(&s->runner[0]) || !s->runner[0].ops->cores ||
               s->opt.probe || s->opt.wave;
    while (!one && s->n_cores + 1 < hd_min(cores, most))
        TRY(hd_note(ctx, open_core(ctx, s), "opening core %d of %d of machine %s", s->n_cores + 2,
                    cores, s->opt.machine.name));
    return HD_OK;
}

static hd_status run_host_step(hd_ctx *ctx, hd_session *s, struct hd_slot *t, int step) {
    const hd_model *m = s->model;
    const struct hd_step *st = &m->steps[step];
    const struct hd_runner *r = &s->runner[s->runner_of[step]];
    hd_buffer *io = t->io[step];
    hd_fence fence;
    for (int i = 0; i < st->n_inputs && !r->ops->lend; i++) {
        int v = st->inputs[i];
        TRY(r->ops->write(ctx, r->dev, io[i], 0, t->dense[v], hd_value_dense_bytes(&m->values[v])));
    }
    TRY(r->ops->submit(ctx, r->dev, r->execs[step], io, &fence));
    TRY(r->ops->wait(ctx, r->dev, fence, UINT64_MAX));
    for (int i = 0; i < st->n_outputs; i++) {
        int v = st->outputs[i];
        if (!r->ops->lend)
            TRY(r->ops->read(ctx, r->dev, io[st->n_inputs + i], 0, t->dense[v],
                             hd_value_dense_bytes(&m->values[v])));
        t->known[v] = true;
    }
    return HD_OK;
}

static void add_counters(const hd_model *m, struct hd_slot *t, const struct hd_counters *c) {
    struct hd_counters *sum = &t->total;
    sum->n_parts += c->n_parts;
    sum->cycles += c->cycles;
    sum->read_bytes += c->read_bytes;
    sum->write_bytes += c->write_bytes;
    sum->code_bytes += c->code_bytes;
    for (int u = 0; u < HD_UNITS; u++) {
        sum->unit[u].busy += c->unit[u].busy;
        sum->unit[u].stall_sem += c->unit[u].stall_sem;
        sum->unit[u].stall_mem += c->unit[u].stall_mem;
        sum->unit[u].stall_bank += c->unit[u].stall_bank;
    }
    if (c->layers) sum->layers = t->layers;
    for (int i = 0; c->layers && i < c->n_layers && i < m->n_layers; i++) {
        t->layers[i].cycles += c->layers[i].cycles;
        t->layers[i].mx_busy += c->layers[i].mx_busy;
        t->layers[i].vx_busy += c->layers[i].vx_busy;
        t->layers[i].read_bytes += c->layers[i].read_bytes;
        t->layers[i].write_bytes += c->layers[i].write_bytes;
    }
}

static hd_status run_prog_step(hd_ctx *ctx, hd_session *s, struct hd_slot *t, int step) {
    const hd_model *m = s->model;
    const struct hd_step *st = &m->steps[step];
    const struct hd_runner *r = hd_slot_runner(s, t, 0);
    hd_fence fence;
    for (int i = 0; i < st->n_inputs; i++) {
        const struct hd_value_info *v = &m->values[st->inputs[i]];
        if (t->in_arena[st->inputs[i]]) continue;
        hd_value_pack(v, t->dense[st->inputs[i]], t->packed);
        TRY(r->ops->write(ctx, r->dev, t->arena, (size_t)v->arena_offset, t->packed,
                          hd_value_arena_bytes(v)));
    }
    TRY(r->ops->submit(ctx, r->dev, r->execs[step], &t->arena, &fence));
    TRY(r->ops->wait(ctx, r->dev, fence, UINT64_MAX));
    for (int i = 0; i < st->n_outputs; i++) {
        int v = st->outputs[i];
        t->in_arena[v] = t->known[v] = true;
        if (!t->leave[v]) TRY(hd_slot_fetch(ctx, s, t, v));
    }
    if (!r->ops->counters) return HD_OK;
    struct hd_counters c = {0};
    TRY(r->ops->counters(ctx, r->dev, &c));
    add_counters(m, t, &c);
    return HD_OK;
}

static uint64_t read_clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t hd_now_ns(void) {
    return read_clock_ns(CLOCK_MONOTONIC);
}

/* Golden computes in this thread: its clock leaves out what other programs take. A step that is
 * measured goes again, many times between two readings, which cost more than some steps. The first
 * time brings code and memory into the process, some 0.3 ms, and counts only for long steps. */
static hd_status time_host_step(hd_ctx *ctx, hd_session *s, struct hd_slot *t, int step) {
    enum { LONG_NS = 250000, COLD_NS = 30000000 };
    uint64_t start = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    TRY(run_host_step(ctx, s, t, step));
    uint64_t took = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start, n = LONG_NS / (took + 1);
    start += took;
    if (took < COLD_NS && n == 0) n = 1;
    for (uint64_t i = 0; i < n && s->opt.timed; i++) TRY(run_host_step(ctx, s, t, step));
    if (n && s->opt.timed) took = (read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / n;
    t->total.host_ns += took;
    return HD_OK;
}

/* One step with the device that runs it to itself. step -1: the whole graph. */
static hd_status run_step(hd_ctx *ctx, hd_session *s, struct hd_slot *t, int step,
                          const void *const *inputs, void *const *outputs,
                          const struct hd_span_sink *sink) {
    bool host = step >= 0 && s->model->steps[step].kind == HD_STEP_HOST;
    pthread_mutex_t *lock = &hd_slot_runner(s, t, step < 0 ? 0 : s->runner_of[step])->lock;
    pthread_mutex_lock(lock);
    uint64_t start = hd_now_ns();
    hd_status r = step < 0 ? hd_whole_run(ctx, s, t, inputs, outputs)
                  : host   ? time_host_step(ctx, s, t, step)
                           : run_prog_step(ctx, s, t, step);
    uint64_t end = hd_now_ns();
    pthread_mutex_unlock(lock);
    if (step >= 0) t->step_ns[step] = end - start;
    if (sink) sink->span(sink->user, step < 0 ? 0 : step, step >= 0 && !host, start, end);
    if (step < 0) return r;
    return hd_note(ctx, r, "in step %d of %d of %s", step, s->model->n_steps, s->model->name);
}

hd_status hd_slot_run(hd_ctx *ctx, hd_session *s, struct hd_slot *t, const void *const *inputs,
                      void *const *outputs, const struct hd_span_sink *sink) {
    const hd_model *m = s->model;
    memset(t->known, 0, (size_t)m->n_values * sizeof *t->known);
    memset(t->layers, 0, (size_t)m->n_layers * sizeof *t->layers);
    t->total = (struct hd_counters){0};
    TRY(hd_state_before_run(ctx, s, t, inputs, outputs));
    if (s->whole_graph) {
        TRY(run_step(ctx, s, t, -1, inputs, outputs, sink));
        hd_state_after_run(s, t);
        return HD_OK;
    }
    for (int i = 0; i < m->n_inputs; i++) {
        int v = m->inputs[i];
        t->known[v] = true;
        if (!inputs[i]) continue;
        memcpy(t->dense[v], inputs[i], hd_value_dense_bytes(&m->values[v]));
        t->in_arena[v] = false;
    }
    for (int i = 0; i < m->n_steps; i++) TRY(run_step(ctx, s, t, i, NULL, NULL, sink));
    for (int i = 0; i < m->n_outputs; i++) {
        int v = m->outputs[i];
        if (!t->known[v])
            return hd_fail(ctx, HD_INVALID, "%s: no step makes output %s; compile the model again",
                           m->name, m->values[v].name);
        if (outputs[i]) memcpy(outputs[i], t->dense[v], hd_value_dense_bytes(&m->values[v]));
    }
    hd_state_after_run(s, t);
    return HD_OK;
}

/* ---- public ------------------------------------------------------------------------------- */

static hd_status check_machine(hd_ctx *ctx, const hd_model *m, const struct hd_machine *got) {
    if (hd_machine_hash(got) == m->machine_hash) return HD_OK;
    return hd_fail(ctx, HD_MISMATCH,
                   "%s: compiled for machine %s (fingerprint 0x%08x), the device is %s "
                   "(0x%08x); compile it for "
                   "that machine",
                   m->name, m->machine.name, m->machine_hash, got->name, hd_machine_hash(got));
}

/* The names of the list, the one that runs programs in front. */
static hd_status sort_names(hd_ctx *ctx, hd_session *s, const char *name[HD_RUNNERS], int *out_n,
                            bool *out_programs) {
    int n = 0;
    *out_programs = false;
    for (char *p = s->names, *next; p; p = next) {
        const struct hd_device_ops *ops = NULL;
        next = strchr(p, ',');
        if (next) *next++ = '\0';
        TRY(hd_device_find(ctx, p, &ops));
        bool programs = ops->sections & HD_RUNS_PROG;
        if (programs && *out_programs)
            return hd_fail(ctx, HD_UNSUPPORTED,
                           "%s: devices %s and %s both run programs; name one of them",
                           s->model->name, name[0], p);
        for (int i = 0; i < n; i++)
            if (!strcmp(name[i], p))
                return hd_fail(ctx, HD_INVALID, "%s: device %s is named twice", s->model->name, p);
        if (n == HD_RUNNERS - 1) /* golden may come */
            return hd_fail(ctx, HD_INVALID, "%s: device %s is one more than %d, which is most",
                           s->model->name, p, n);
        name[n++] = p;
        for (int i = n - 1; programs && i > 0; i--) name[i] = name[i - 1];
        if (programs) name[0] = p;
        *out_programs = *out_programs || programs;
    }
    *out_n = n;
    return HD_OK;
}

static hd_status open_all(hd_ctx *ctx, hd_session *s) {
    const hd_model *m = s->model;
    const char *name[HD_RUNNERS];
    int n = 0;
    bool programs = false;
    TRY(sort_names(ctx, s, name, &n, &programs));
    s->whole_graph = !programs && n == 1;
    for (int i = 0; i < m->n_steps && !programs && n > 1; i++)
        if (m->steps[i].kind == HD_STEP_PROG)
            return hd_fail(
                ctx, HD_UNSUPPORTED,
                "%s: has programs for machine %s, and none of %d devices runs them; name "
                "one that does (heddle devices), or compile it for these devices",
                m->name, m->machine.name, n);
    if (programs) TRY(check_machine(ctx, m, &s->opt.machine));
    for (int i = 0; i < n; i++) TRY(open_runner(ctx, s, name[i]));
    s->in_place = s->opt.in_place && s->whole_graph && s->runner[0].ops->lend;
    TRY(s->whole_graph ? hd_whole_open(ctx, s) : open_steps(ctx, s));
    return hd_slot_open(ctx, s, 0, &s->last);
}

hd_status hd_session_open(hd_ctx *ctx, const hd_model *m, const char *scheme,
                          const struct hd_device_options *opt, hd_session **out) {
    hd_session *s = calloc(1, sizeof *s);
    if (!s) return no_memory(ctx, m);
    s->model = m;
    s->opt = opt ? *opt : (struct hd_device_options){.machine = m->machine};
    s->names = strdup(scheme);
    s->runner_of = calloc((size_t)m->n_steps + 1, sizeof *s->runner_of);
    hd_status r = s->names && s->runner_of ? open_all(ctx, s) : no_memory(ctx, m);
    if (r == HD_OK)
        *out = s;
    else
        hd_session_close(s);
    return r;
}

const hd_model *hd_session_model(const hd_session *s) {
    return s->model;
}

struct hd_mem_options hd_session_memory(const hd_session *s) {
    return s->opt.mem;
}

const char *hd_session_device(const hd_session *s) {
    return s->runner[0].name;
}

void hd_session_keep(hd_session *s, hd_arena *a, void *data) {
    s->kept_in = a;
    s->kept = data;
}

void *hd_session_kept(const hd_session *s) {
    return s->kept;
}

void hd_session_close(hd_session *s) {
    if (!s) return;
    const hd_model *m = s->model;
    hd_queue_close(s->queue);
    for (int i = 0; i < s->n_slots; i++) slot_close(s, s->slots[i]);
    if (s->graph) s->runner[0].ops->unload(s->runner[0].dev, s->graph);
    for (int i = s->n_cores - 1; i >= 0; i--) close_runner(m, &s->core[i]);
    for (int i = s->n_runners - 1; i >= 0; i--) close_runner(m, &s->runner[i]);
    free(s->runner_of);
    free(s->names);
    free(s->graph_values);
    free(s->slots);
    hd_arena_destroy(s->kept_in);
    free(s);
}

static hd_status check_on_device(hd_ctx *ctx, const hd_session *s, const void *array) {
    if (array != HD_ON_DEVICE || (s->whole_graph && !s->in_place && !s->queue)) return HD_OK;
    return hd_fail(ctx, HD_UNSUPPORTED,
                   "%s: device %s keeps no inputs and outputs from run to run; give arrays",
                   s->model->name, s->names);
}

hd_status hd_check_arrays(hd_ctx *ctx, const hd_session *s, const void *const *inputs,
                          const void *const *outputs) {
    if (!s) return hd_fail(ctx, HD_INVALID, "no session: got NULL, want one of hd_session_open");
    const hd_model *m = s->model;
    for (int i = 0; i < m->n_inputs; i++) {
        const struct hd_value_info *v = &m->values[m->inputs[i]];
        bool kept = i >= m->n_inputs - m->n_states && inputs && !s->queue;
        if (inputs) TRY(check_on_device(ctx, s, inputs[i]));
        if (hd_value_dense_bytes(v) && !kept && (!inputs || !inputs[i]))
            return hd_fail(ctx, HD_INVALID, "%s: input %d (%s) is NULL, want its %zu bytes",
                           m->name, i, v->name, hd_value_dense_bytes(v));
    }
    for (int i = 0; i < m->n_outputs; i++) {
        const struct hd_value_info *v = &m->values[m->outputs[i]];
        bool kept = i >= m->n_outputs - m->n_states && outputs;
        if (outputs) TRY(check_on_device(ctx, s, outputs[i]));
        if (hd_value_dense_bytes(v) && !kept && (!outputs || !outputs[i]))
            return hd_fail(ctx, HD_INVALID, "%s: output %d (%s) is NULL, want room for %zu bytes",
                           m->name, i, v->name, hd_value_dense_bytes(v));
    }
    return HD_OK;
}

hd_status hd_session_run(hd_ctx *ctx, hd_session *s, const void *const *inputs,
                         void *const *outputs) {
    TRY(hd_check_arrays(ctx, s, inputs, (const void *const *)outputs));
    if (!s->queue) return hd_slot_run(ctx, s, s->last, inputs, outputs, NULL);
    uint64_t request = 0;
    TRY(hd_session_submit(ctx, s, inputs, outputs, &request));
    return hd_session_wait(ctx, s, request, UINT64_MAX);
}

hd_status hd_session_value(hd_ctx *ctx, hd_session *s, int value, void *out) {
    const hd_model *m = s->model;
    if (value < 0 || value >= m->n_values)
        return hd_fail(ctx, HD_INVALID, "%s: value %d, it has %d", m->name, value, m->n_values);
    if (!s->last->known[value])
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "%s: %s stayed on chip, or nothing ran yet; compile with keep_all", m->name,
                       m->values[value].name);
    if (s->whole_graph) return hd_whole_value(ctx, s, value, out);
    if (s->last->in_arena[value]) TRY(hd_slot_fetch(ctx, s, s->last, value));
    memcpy(out, s->last->dense[value], hd_value_dense_bytes(&m->values[value]));
    return HD_OK;
}

hd_status hd_session_counters(hd_ctx *ctx, hd_session *s, struct hd_counters *out) {
    (void)ctx;
    *out = s->last->total;
    out->n_layers = out->layers ? s->model->n_layers : 0;
    return HD_OK;
}

int hd_session_steps(hd_session *s, const struct hd_exec_step **out) {
    return s->graph && s->runner[0].ops->steps ? s->runner[0].ops->steps(s->graph, out) : 0;
}

uint64_t hd_session_step_ns(const hd_session *s, int step, const char **out_device) {
    *out_device = s->runner[s->runner_of[step]].name;
    return s->last->step_ns[step];
}

uint64_t hd_session_cycles(const hd_session *s) {
    return s->last->total.cycles;
}
