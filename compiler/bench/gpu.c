/* heddle bench gpu: each step of a network on opencl and cuda beside its roofline: the time that
 * its products take at the device's peak, or that its bytes take to move, whichever is longer.
 *
 * Where cuda has no GPU the plan is made on paper for a card of the table (gpu_peaks.def), and
 * there are bounds alone. Peaks that no table has come from the device's queries, and bytes a
 * second from a copy that is timed. */
#include <stdlib.h>
#include <string.h>

#include "compiler/bench/bench.h"
#include "compiler/command/table.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "gpu_ref/gpu_peaks.h"
#include "gpu_ref/gpu_plan.h"
#include "runtime/runtime.h"

enum { RUNS = 5, COPY_BYTES = 64 << 20, COPIES = 4 };

struct bench {
    struct hd_cmd *c;
    hd_arena *a;
    const struct hd_gpu_api *api;
    struct hd_gpu_peaks peak;
    bool on_paper;
    json_object *rows, *launches;
};

/* ---- peaks ---------------------------------------------------------------------------------- */

static hd_status copy_speed(struct bench *b, hd_gpu *gpu) {
    hd_ctx *ctx = b->c->ctx;
    hd_gpu_mem *m[2] = {NULL, NULL};
    double best = 0;
    hd_status s = HD_OK;
    for (int i = 0; i < 2 && s == HD_OK; i++) s = b->api->alloc(ctx, gpu, COPY_BYTES, &m[i]);
    for (int i = 0; i < COPIES && s == HD_OK; i++) {
        double start = hd_seconds();
        s = b->api->copy(ctx, gpu, m[0], m[1], COPY_BYTES);
        if (s == HD_OK) s = b->api->finish(ctx, gpu);
        double rate = 2.0 * COPY_BYTES / (hd_seconds() - start);
        if (rate > best) best = rate;
    }
    for (int i = 0; i < 2; i++)
        if (m[i]) b->api->free(gpu, m[i]);
    b->peak.bytes = best;
    b->peak.source = hd_sprintf(b->a, "%s; bytes by a copy", b->peak.source);
    return s;
}

static hd_status find_peaks(struct bench *b) {
    hd_gpu *gpu;
    if (b->on_paper) {
        hd_gpu_peaks_of_card(NULL, &b->peak);
        return HD_OK;
    }
    TRY(b->api->open(b->c->ctx, &gpu));
    const struct hd_gpu_limits *l = b->api->limits(gpu);
    hd_status s = HD_OK;
    if (!hd_gpu_peaks_of_card(l->name, &b->peak)) {
        b->peak = hd_gpu_peaks_of_limits(l);
        b->peak.card = hd_strdup(b->a, l->name);
        s = copy_speed(b, gpu);
    }
    b->api->close(gpu);
    return s;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The shortest time of the step; 0 = not known. */
static double bound(const struct bench *b, const struct hd_exec_step *s, const char **out_by) {
    double ops = s->bytewise && b->peak.int8 > 0 ? b->peak.int8 : b->peak.f32;
    double products = ops > 0 ? 2.0 * (double)s->macs / ops : 0;
    double moves = b->peak.bytes > 0 ? (double)s->bytes / b->peak.bytes : 0;
    *out_by = products > moves ? "compute" : "memory";
    return products > moves ? products : moves;
}

static void add_row(struct bench *b, const char *model, const struct hd_exec_step *s,
                    double bound_s, const char *by, struct hd_table *t) {
    json_object *o = json_object_new_object();
    hd_json_str(o, "model", model);
    hd_json_str(o, "device", b->api->scheme);
    hd_json_str(o, "step", s->node);
    hd_json_str(o, "op", s->op);
    hd_json_str(o, "how", s->how);
    hd_json_int(o, "nodes", s->n_nodes);
    hd_json_int(o, "macs", s->macs);
    hd_json_int(o, "bytes", s->bytes);
    hd_json_num(o, "bound_us", 1e6 * bound_s);
    hd_json_str(o, "by", by);
    hd_table_cells(t, (const char *[]){s->node, s->op}, 2);
    hd_table_cell(t, "%d", s->n_nodes);
    hd_table_cell(t, "%lld", (long long)s->macs);
    hd_table_cell(t, "%lld", (long long)s->bytes);
    hd_table_cell(t, "%.3f", 1e6 * bound_s);
    hd_table_cell(t, "%s", by);
    if (s->seconds > 0) {
        hd_table_cell(t, "%.3f", 1e6 * s->seconds);
        hd_table_cell(t, "%.1f %%", 100 * bound_s / s->seconds);
        hd_json_num(o, "us", 1e6 * s->seconds);
        hd_json_num(o, "share", bound_s / s->seconds);
    } else {
        hd_table_cells(t, (const char *[]){"", ""}, 2);
        json_object_object_add(o, "us", NULL);
        json_object_object_add(o, "share", NULL);
    }
    hd_table_cell(t, "%s", s->how ? s->how : "");
    json_object_array_add(b->rows, o);
}

static void add_rows(struct bench *b, const char *model, const struct hd_exec_step *steps, int n) {
    struct hd_table t;
    struct hd_exec_step all = {.node = "total", .op = ""};
    double all_bound = 0;
    const char *by;
    hd_table_init(&t, "llrrrrlrrl");
    hd_table_cells(&t,
                   (const char *[]){"step", "op", "nodes", "MACs", "bytes", "bound us", "by", "us",
                                    "share", "how"},
                   10);
    for (int i = 0; i < n; i++) {
        double s = bound(b, &steps[i], &by);
        add_row(b, model, &steps[i], s, by, &t);
        all_bound += s;
        all.n_nodes += steps[i].n_nodes;
        all.macs += steps[i].macs;
        all.bytes += steps[i].bytes;
        all.seconds += steps[i].seconds;
    }
    add_row(b, model, &all, all_bound, "", &t);
    FILE *out = hd_cmd_json_on_stdout(b->c) ? stderr : stdout;
    fprintf(out, "%s on %s, bounds of %s (%s)\n", model, b->api->scheme, b->peak.card,
            b->peak.source);
    if (b->on_paper)
        fprintf(out, "no GPU is here (%s): bounds from the plan, and no times\n",
                b->api->why_not());
    hd_table_print(&t, out);
}

/* The whole network as one run, beside the sum of its steps. */
static void add_launch(struct bench *b, const char *model, double seconds) {
    json_object *o = json_object_new_object();
    hd_json_str(o, "model", model);
    hd_json_str(o, "device", b->api->scheme);
    hd_json_num(o, "us", 1e6 * seconds);
    json_object_array_add(b->launches, o);
    fprintf(hd_cmd_json_on_stdout(b->c) ? stderr : stdout,
            "%s: %.1f us for a run%s, inputs and outputs in the device's memory\n", model,
            1e6 * seconds, b->api->record ? " in one launch" : "");
}

/* ---- networks ------------------------------------------------------------------------------- */

static hd_status on_paper(struct bench *b, const char *name, const hd_model *m) {
    struct hd_gpu_limits card = {.name = b->peak.card,
                                 .f64 = true,
                                 .exact_divide = true,
                                 .mma = true,
                                 .dot8 = true,
                                 .local_bytes = 48 << 10,
                                 .max_threads = 1024,
                                 .max_blocks_yz = 65535,
                                 .align = 256,
                                 .memory_bytes = SIZE_MAX,
                                 .max_bytes = SIZE_MAX};
    struct hd_gpu_plan *p = NULL;
    hd_ctx *ctx = b->c->ctx;
    hd_graph *g;
    TRY(hd_graph_load(ctx, m->graph, m->graph_bytes, &g));
    hd_status s = hd_gpu_plan_on_paper(ctx, b->api, &card, g, m, NULL, &p);
    if (s == HD_OK) {
        struct hd_exec_step *steps = hd_new_array(b->a, struct hd_exec_step, p->n_steps + 1);
        for (size_t i = 0; i < p->n_steps; i++) steps[i] = hd_gpu_step_facts(p, &p->steps[i]);
        add_rows(b, name, steps, (int)p->n_steps);
    }
    hd_gpu_plan_destroy(p);
    hd_graph_destroy(g);
    return s;
}

/* ---- one launch ----------------------------------------------------------------------------- */

struct alone { /* a plan with buffers of its own */
    hd_gpu *gpu;
    hd_graph *g;
    struct hd_gpu_plan *plan;
    struct hd_gpu_tuning tuning;
    hd_gpu_mem **buffer;
    int n;
};

static hd_status open_alone(struct bench *b, const hd_model *m, const void *const *in,
                            struct alone *x) {
    hd_ctx *ctx = b->c->ctx;
    const struct hd_machine none = {0};
    struct hd_device_options o;
    hd_cmd_device_options(b->c, &none, &o);
    TRY(b->api->open(ctx, &x->gpu));
    if (o.db) TRY(hd_schedules_open(ctx, o.db, false, &x->tuning.db));
    TRY(hd_graph_load(ctx, m->graph, m->graph_bytes, &x->g));
    TRY(hd_gpu_plan_create(ctx, b->api, x->gpu, x->g, m, NULL, NULL, 0, &o, &x->tuning, &x->plan));
    const struct hd_host_io *io = &x->plan->io;
    x->buffer = hd_new_array(b->a, hd_gpu_mem *, (size_t)(io->n_in + io->n_out) + 1);
    for (; x->n < io->n_in + io->n_out; x->n++) {
        int value = x->n < io->n_in ? io->in[x->n] : io->out[x->n - io->n_in];
        size_t bytes = hd_value_dense_bytes(&m->values[value]);
        TRY(b->api->alloc(ctx, x->gpu, bytes, &x->buffer[x->n]));
        if (x->n < io->n_in && bytes)
            TRY(b->api->write(ctx, x->gpu, x->buffer[x->n], 0, in[x->n], bytes));
    }
    return HD_OK;
}

static void close_alone(struct bench *b, struct alone *x) {
    hd_gpu_plan_destroy(x->plan);
    for (int i = 0; i <= x->n && x->buffer; i++)
        if (x->buffer[i]) b->api->free(x->gpu, x->buffer[i]);
    if (x->g) hd_graph_destroy(x->g);
    hd_schedules_close(x->tuning.db);
    if (x->gpu) b->api->close(x->gpu);
}

/* From asking for a run to its end, with inputs and outputs in the device's memory: the best of
 * some, behind a first one, which makes the recording. */
static hd_status launch_time(struct bench *b, const hd_model *m, const void *const *in, int runs,
                             double *out_seconds) {
    struct alone x = {0};
    hd_status s = open_alone(b, m, in, &x);
    for (int i = 0; i <= runs && s == HD_OK; i++) {
        double start = hd_seconds();
        s = hd_gpu_plan_run(b->c->ctx, x.plan, x.buffer, false);
        double t = hd_seconds() - start;
        if (i && (i == 1 || t < *out_seconds)) *out_seconds = t;
    }
    close_alone(b, &x);
    return s;
}

static hd_status measured(struct bench *b, const char *name, const char *path, const hd_model *m) {
    struct hd_cmd *c = b->c;
    hd_session *s = NULL;
    const void **in;
    const char *what;
    const struct hd_exec_step *steps;
    TRY(hd_cmd_inputs(c, b->a, m, path, &in, &what));
    c->timed = true;
    hd_status ok = hd_open_session(c, m, b->api->scheme, &s);
    void **out = ok == HD_OK ? hd_output_buffers(b->a, m) : NULL;
    int runs = c->opt.repeat > 1 ? c->opt.repeat : RUNS;
    for (int i = 0; i < runs && ok == HD_OK; i++) ok = hd_session_run(c->ctx, s, in, out);
    if (ok == HD_OK) {
        int n = hd_session_steps(s, &steps);
        add_rows(b, name, steps, n);
    }
    hd_session_close(s);
    double launch = 0;
    if (ok == HD_OK) ok = launch_time(b, m, in, runs, &launch);
    if (ok == HD_OK) add_launch(b, name, launch);
    return ok;
}

static hd_status one(struct bench *b, const char *arg) {
    const char *path, *name = hd_short_name(b->a, arg);
    hd_model *m = NULL;
    TRY(hd_model_path(b->c, b->a, arg, &path));
    TRY(hd_open_model(b->c, path, true, &m));
    hd_status s = b->on_paper ? on_paper(b, name, m) : measured(b, name, path, m);
    hd_model_destroy(m);
    return s;
}

static hd_status on_device(struct bench *b, char **models, int n) {
    b->on_paper = b->api == &hd_gpu_cuda && b->api->why_not();
    TRY(find_peaks(b));
    for (int i = 0; i < n; i++) TRY(one(b, models[i]));
    return HD_OK;
}

int hd_bench_gpu(struct hd_cmd *c, char **models, int n) {
    static const struct hd_gpu_api *const all[] = {&hd_gpu_opencl, &hd_gpu_cuda};
    struct bench b = {.c = c,
                      .a = hd_arena_create(),
                      .rows = json_object_new_array(),
                      .launches = json_object_new_array()};
    hd_status s = HD_OK;
    /* iss is what bench takes when no device is named */
    const char *want = c->opt.device && strcmp(c->opt.device, "iss") ? c->opt.device : NULL;
    bool any = false;
    for (size_t i = 0; i < sizeof all / sizeof *all && s == HD_OK; i++) {
        if (want && strcmp(want, all[i]->scheme)) continue;
        if (!want && all[i] == &hd_gpu_opencl && all[i]->why_not()) continue;
        b.api = all[i];
        any = true;
        s = on_device(&b, models, n);
    }
    int status = s != HD_OK ? hd_cmd_fail(c)
                 : any      ? HD_EXIT_DONE
                            : hd_cmd_usage(c, "bench gpu takes --device opencl or cuda");
    if (status == HD_EXIT_DONE && c->opt.json) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "schema", "heddle.bench.gpu/1");
        json_object_object_add(o, "rows", json_object_get(b.rows));
        json_object_object_add(o, "launches", json_object_get(b.launches));
        status = hd_cmd_write_json(c, o);
    }
    json_object_put(b.rows);
    json_object_put(b.launches);
    hd_arena_destroy(b.a);
    return status;
}
