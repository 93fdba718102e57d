/* heddle run: one model, one device. */
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Runs --repeat times (a device that is measured by the clock once more, to warm up). */
static hd_status run_repeats(struct cli *c, hd_arena *a, hd_session *s, struct cli_run *r,
                             const void *const *in, void *const *out) {
    int n = c->opt.repeat;
    double *times = hd_new_array(a, double, (size_t)n);
    if (!r->has_cycles && n > 1) TRY(hd_session_run(c->ctx, s, in, out));
    for (int i = 0; i < n; i++) {
        cli_progress(c, "run %d of %d", i + 1, n);
        double start = cli_now();
        TRY(hd_session_run(c->ctx, s, in, out));
        times[i] = cli_now() - start;
    }
    cli_progress_end(c);
    qsort(times, (size_t)n, sizeof *times, by_time);
    r->wall_seconds = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
    return hd_session_counters(c->ctx, s, &r->counters);
}

static hd_status save_outputs(struct cli *c, hd_arena *a, const hd_model *m, void *const *out) {
    struct cli_tensor *t = hd_new_array(a, struct cli_tensor, (size_t)m->n_outputs + 1);
    for (int i = 0; i < m->n_outputs; i++) {
        const struct hd_value_info *v = &m->values[m->outputs[i]];
        t[i] =
            (struct cli_tensor){v->name, v->dtype, v->rank, {0}, out[i], hd_value_dense_bytes(v)};
        memcpy(t[i].dim, v->dim, sizeof t[i].dim);
    }
    return cli_save_npz(c->ctx, c->opt.outputs, t, m->n_outputs);
}

static int report(struct cli *c, const struct cli_run *r) {
    if (!cli_json_on_stdout(c)) cli_print_run(c, r, stdout);
    return c->opt.json ? cli_write_json(c, cli_run_json(c, r)) : CLI_DONE;
}

static hd_status run(struct cli *c, hd_arena *a, struct cli_run *r, hd_model **model,
                     hd_session **s) {
    bool host_only = cli_is_graph_device(c->opt.device);
    TRY(cli_model_path(c, a, c->args[0], &r->path));
    TRY(cli_open_model(c, r->path, false, host_only, model));
    if (host_only) (*model)->n_host_ops = 0; /* nothing stays behind: the device runs all of it */
    r->model = *model;
    const void **in;
    TRY(cli_inputs(c, a, *model, r->path, &in, &r->inputs));
    void **out = cli_output_buffers(a, *model);
    struct cli_trace *trace = NULL;
    if (c->opt.trace) {
        trace = cli_trace_create(a, *model, c->opt.trace_from, c->opt.trace_cycles);
        c->probe = cli_trace_probe(trace);
    }
    TRY(cli_open_session(c, *model, c->opt.device, s));
    TRY(run_repeats(c, a, *s, r, in, out));
    if (trace) TRY(cli_trace_write(c, trace, r, c->opt.trace));
    return c->opt.outputs ? save_outputs(c, a, *model, out) : HD_OK;
}

int cmd_run(struct cli *c) {
    if (c->opt.trace && cli_is_graph_device(c->opt.device))
        return cli_usage(c, "--trace: device %s has no cycles, want iss or rtl", c->opt.device);
    if (!c->opt.trace && (c->opt.trace_from || c->opt.trace_cycles))
        return cli_usage(c, "--trace-from, --trace-cycles: want --trace FILE.json, too");
    hd_arena *a = hd_arena_create();
    hd_model *model = NULL;
    hd_session *s = NULL;
    struct cli_run r = {.device = c->opt.device, .has_cycles = !cli_is_graph_device(c->opt.device)};
    hd_status ok = run(c, a, &r, &model, &s);
    int status = ok == HD_OK ? report(c, &r) : cli_fail(c);
    hd_session_close(s);
    hd_model_destroy(model);
    hd_arena_destroy(a);
    return status;
}
