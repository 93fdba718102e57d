/* heddle run: one model, one device. */
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"
#include "compiler/report/html.h"
#include "compiler/report/items.h"
#include "compiler/report/report.h"
#include "compiler/report/timeline.h"
#include "compiler/report/waves.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/base/num.h"
#include "runtime/runtime.h"

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const struct hd_part_facts *part_facts(hd_arena *a, const hd_model *m, hd_session *s) {
    struct hd_part_facts *p = hd_new_array(a, struct hd_part_facts, (size_t)m->n_steps + 1);
    for (int i = 0; i < m->n_steps; i++) {
        const char *device = NULL;
        p[i].seconds = (double)hd_session_step_ns(s, i, &device) * 1e-9;
        p[i].device = hd_strdup(a, device);
    }
    return p;
}

/* Runs --repeat times through a queue, so that all cores of the machine are at work; the last run's
 * outputs to out. HD_DEVICE: two runs gave different ones. */
static hd_status run_on_cores(struct hd_cmd *c, hd_arena *a, hd_session *s, struct hd_run_facts *r,
                              const void *const *in, void *const *out) {
    enum { MOST = 32 };
    const hd_model *m = r->model;
    const int n = c->opt.repeat, flights = (int)hd_min(hd_min(2 * m->machine.cores, n), MOST);
    void **got[MOST];
    uint64_t request[MOST];
    for (int i = 0; i < flights; i++) got[i] = hd_output_buffers(a, m);
    TRY(hd_session_queue(c->ctx, s, flights));
    double start = hd_seconds();
    for (int i = 0; i < n + flights; i++) {
        void **of = got[i % flights];
        if (i >= flights) TRY(hd_session_wait(c->ctx, s, request[i % flights], UINT64_MAX));
        for (int k = 0; k < m->n_outputs && i >= flights; k++) {
            size_t bytes = hd_value_dense_bytes(&m->values[m->outputs[k]]);
            if (i == flights) memcpy(out[k], of[k], bytes);
            if (memcmp(out[k], of[k], bytes))
                return hd_fail(c->ctx, HD_DEVICE,
                               "%s: run %d of %d has another output %s than the "
                               "first, on a machine of %u cores",
                               r->path, i - flights + 1, n, m->values[m->outputs[k]].name,
                               m->machine.cores);
        }
        if (i < n) TRY(hd_session_submit(c->ctx, s, in, of, &request[i % flights]));
        hd_cmd_progress(c, "run %d of %d", i + 1, n + flights);
    }
    hd_cmd_progress_end(c);
    r->wall_seconds = (hd_seconds() - start) / n;
    return HD_OK;
}

/* One run after the other; a device that is measured by the clock makes one more, to warm up. */
static hd_status run_in_turn(struct hd_cmd *c, hd_arena *a, hd_session *s, struct hd_run_facts *r,
                             const void *const *in, void *const *out) {
    int n = c->opt.repeat;
    double *times = hd_new_array(a, double, (size_t)n);
    if (!r->has_cycles && n > 1) TRY(hd_session_run(c->ctx, s, in, out));
    for (int i = 0; i < n; i++) {
        hd_cmd_progress(c, "run %d of %d", i + 1, n);
        double start = hd_seconds();
        TRY(hd_session_run(c->ctx, s, in, out));
        times[i] = hd_seconds() - start;
    }
    hd_cmd_progress_end(c);
    qsort(times, (size_t)n, sizeof *times, by_time);
    r->wall_seconds = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
    r->n_steps = hd_session_steps(s, &r->steps);
    return HD_OK;
}

/* Runs --repeat times, on all cores where the device counts cycles. */
static hd_status run_repeats(struct hd_cmd *c, hd_arena *a, hd_session *s, struct hd_run_facts *r,
                             const void *const *in, void *const *out) {
    const hd_model *m = r->model;
    bool beside =
        c->opt.repeat > 1 && r->has_cycles && m->machine.cores > 1 && !m->n_states && !c->probe;
    TRY(beside ? run_on_cores(c, a, s, r, in, out) : run_in_turn(c, a, s, r, in, out));
    if (c->together) r->parts = part_facts(a, m, s);
    return hd_session_counters(c->ctx, s, &r->counters);
}

static struct hd_file_tensor tensor_of(const struct hd_value_info *v, const void *data) {
    struct hd_file_tensor t = {v->name, v->dtype, v->rank, {0}, data, hd_value_dense_bytes(v)};
    memcpy(t.dim, v->dim, sizeof t.dim);
    return t;
}

/* Outputs of the network, then what --keep made visible. */
static hd_status save_outputs(struct hd_cmd *c, hd_arena *a, const hd_model *m, hd_session *s,
                              void *const *out) {
    struct hd_file_tensor *t = hd_new_array(a, struct hd_file_tensor, (size_t)m->n_values + 1);
    bool *saved = hd_new_array(a, bool, (size_t)m->n_values + 1);
    int n = 0;
    for (int i = 0; i < m->n_outputs; i++) {
        t[n++] = tensor_of(&m->values[m->outputs[i]], out[i]);
        saved[m->outputs[i]] = true;
    }
    for (int v = 0; c->opt.keep && v < m->n_values; v++) {
        if (saved[v] || m->values[v].layer < 0) continue;
        void *data = hd_alloc(a, hd_value_dense_bytes(&m->values[v]));
        TRY(hd_session_value(c->ctx, s, v, data));
        t[n++] = tensor_of(&m->values[v], data);
    }
    return hd_save_npz(c->ctx, c->opt.outputs, t, n);
}

static int report(struct hd_cmd *c, const struct hd_run_facts *r) {
    if (!hd_cmd_json_on_stdout(c)) hd_print_run(c, r, stdout);
    return c->opt.json ? hd_cmd_write_json(c, hd_run_json(c, r)) : HD_EXIT_DONE;
}

struct job {
    hd_model *model;
    hd_session *session;
    struct hd_wave_files *waves; /* NULL = none */
};

static hd_status run(struct hd_cmd *c, hd_arena *a, struct hd_run_facts *r, struct job *j) {
    hd_model **model = &j->model;
    hd_session **s = &j->session;
    bool host_only = hd_is_graph_device(c->opt.device);
    TRY(hd_model_path(c, a, c->args[0], &r->path));
    TRY(hd_open_model(c, r->path, host_only, model));
    if (host_only) (*model)->n_host_ops = 0; /* nothing stays behind: the device runs all of it */
    r->model = *model;
    const void **in = NULL;
    if (!c->opt.run.steps) TRY(hd_cmd_inputs(c, a, *model, r->path, &in, &r->inputs));
    void **out = hd_output_buffers(a, *model);
    const struct hd_probe *probes[2] = {NULL, NULL};
    struct hd_timeline *trace = NULL;
    struct hd_profile *profile = NULL;
    bool *layers = NULL;
    if (c->opt.select && (c->opt.trace.path || c->opt.trace.wave.path))
        TRY(hd_select_layers(c, a, c->opt.select, *model, &layers));
    if (c->opt.trace.wave.path) TRY(hd_waves_open(c, a, *model, layers, &j->waves));
    if (c->opt.trace.path) {
        trace = hd_timeline_create(a, *model, &c->opt, layers);
        probes[0] = hd_timeline_probe(trace);
    }
    c->timed = true;
    if (c->opt.report) {
        profile = hd_profile_create(a, *model);
        probes[1] = &profile->probe;
    }
    c->probe = hd_probe_join(a, probes, 2);
    hd_status opened = hd_open_session(c, *model, c->opt.device, s);
    if (opened == HD_UNSUPPORTED && c->probe) { /* a board: it tells counters only */
        c->probe = NULL;
        profile = NULL;
        hd_clear(c->ctx);
        opened = hd_open_session(c, *model, c->opt.device, s);
    }
    TRY(opened);
    TRY(cli_load_state(c, *s));
    TRY(c->opt.run.steps ? cli_run_steps(c, a, *s, r, out) : run_repeats(c, a, *s, r, in, out));
    TRY(cli_save_state(c, a, *s));
    if (trace) TRY(hd_timeline_write(c, trace, r, c->opt.trace.path));
    if (c->opt.report) TRY(hd_report_run(c, r, profile, c->opt.report));
    return c->opt.outputs && !c->opt.run.steps ? save_outputs(c, a, *model, *s, out) : HD_OK;
}

static int check_waves(struct hd_cmd *c) {
    const struct hd_wave_options *w = &c->opt.trace.wave;
    if (!w->path && (w->from || w->cycles))
        return hd_cmd_usage(c, "--wave-from, --wave-cycles: want --wave FILE.fst, too");
    if (w->path && strcmp(c->opt.device, "rtl"))
        return hd_cmd_usage(c, "--wave: device %s has no signals, want --device rtl",
                            c->opt.device);
    if (w->path && c->opt.repeat > 1)
        return hd_cmd_usage(c, "--wave: is of one run; leave out --repeat");
    return HD_EXIT_DONE;
}

static int check_jobs(struct hd_cmd *c) {
    c->jobs = c->opt.explore.jobs;
    bool parts = c->jobs > 1 || c->opt.run.part_cycles;
    if (parts && !c->jobs) return hd_cmd_usage(c, "--part-cycles: wants --jobs N, too");
    if (parts && strcmp(c->opt.device, "rtl"))
        return hd_cmd_usage(c, "--jobs: of a run are processes of the RTL, want --device rtl");
    if (parts && c->opt.trace.wave.path)
        return hd_cmd_usage(c, "--wave: is of one process; leave out --jobs");
    return HD_EXIT_DONE;
}

int cmd_run(struct hd_cmd *c) {
    hd_cmd_together(c);
    const char *slash = strrchr(c->opt.device, '/');
    bool is_iss = !strcmp(slash ? slash + 1 : c->opt.device, "iss"); /* here or on a host */
    if (c->opt.trace.path && hd_is_graph_device(c->opt.device))
        return hd_cmd_usage(c, "--trace: device %s has no cycles, want iss or rtl", c->opt.device);
    if (c->opt.report && hd_is_graph_device(c->opt.device))
        return hd_cmd_usage(c, "--report: device %s has no cycles, want iss or rtl", c->opt.device);
    if (!c->opt.trace.path && (c->opt.trace.from || c->opt.trace.cycles))
        return hd_cmd_usage(c, "--trace-from, --trace-cycles: want --trace FILE.json, too");
    if (c->opt.trace.level && !c->opt.trace.path)
        return hd_cmd_usage(c, "--trace-level: wants --trace FILE.json, too");
    if (c->opt.run.functional && (!is_iss || c->opt.trace.path || c->opt.report))
        return hd_cmd_usage(c,
                            "--functional: gives results without time, on device iss alone; leave "
                            "out --trace and --report");
    if (c->opt.select && !c->opt.trace.path && !c->opt.dump && !c->opt.trace.wave.path)
        return hd_cmd_usage(
            c, "--select: says what --trace, --wave or --dump show; give one of them, too");
    if (c->opt.run.load_state && !c->opt.run.steps) c->opt.run.steps = 1;
    if (c->opt.run.steps && (c->opt.repeat > 1 || c->opt.keep))
        return hd_cmd_usage(c, "--steps: leave out --repeat and --keep");
    int usage = check_waves(c);
    if (usage == HD_EXIT_DONE) usage = check_jobs(c);
    if (usage != HD_EXIT_DONE) return usage;
    hd_arena *a = hd_arena_create();
    struct job j = {0};
    struct hd_run_facts r = {.device = c->opt.device,
                             .has_cycles = !hd_is_graph_device(c->opt.device)};
    hd_status ok = run(c, a, &r, &j);
    int status = ok == HD_OK ? report(c, &r) : HD_EXIT_FAILED;
    hd_session_close(j.session);
    ok = hd_waves_close(c, j.waves, ok);
    if (ok != HD_OK) status = hd_cmd_fail(c);
    hd_model_destroy(j.model);
    hd_arena_destroy(a);
    return status;
}
