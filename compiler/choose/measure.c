/* A network in one way: its model, what a run takes, what is kept of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler/choose/choose.h"
#include "runtime/base/io.h"
#include "runtime/base/num.h"

enum { RUNS = 100, PASSES = 2 }; /* passes over the networks: what disturbs a run may last longer */
static const double SECONDS = 0.2; /* of measuring one way, once it has run */

const char *hd_this_computer(hd_arena *a) {
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256], name[200] = "unknown processor";
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "model name : %199[^\n]", name) == 1) break;
    if (f) fclose(f);
    return hd_sprintf(a, "%s, %ld", name, sysconf(_SC_NPROCESSORS_ONLN));
}

/* Options of the command as the way has them. */
static void take(struct hd_cmd *c, const struct hd_way *way) {
    c->opt.device = way->device;
    c->opt.threads = way->threads;
    c->opt.machine = way->machine;
    c->opt.sets.n = 0;
    c->opt.run.db = NULL;
}

/* Shapes of the inputs with `batch` samples, where their first dimension is 1. */
static hd_status batch_shapes(struct hd_cmd *c, hd_arena *a, const char *path, int batch) {
    hd_graph *g;
    TRY(hd_cmd_import(c, path, &g));
    for (size_t i = 0; i < g->n_inputs; i++) {
        const struct hd_tensor *t = &g->tensors[g->inputs[i]];
        const char *text = hd_sprintf(a, "%s=%d", t->name, batch);
        if (!t->rank || t->dim[0] != 1 || c->opt.import.shapes.n == HD_OPTION_TIMES) continue;
        for (int d = 1; d < t->rank; d++)
            text = hd_sprintf(a, "%s,%lld", text, (long long)t->dim[d]);
        c->opt.import.shapes.text[c->opt.import.shapes.n++] = text;
    }
    hd_graph_destroy(g);
    return HD_OK;
}

/* Every result has as many samples as were asked for. */
static hd_status check_batch(struct hd_cmd *c, const hd_model *m, int batch) {
    for (int i = 0; i < m->n_outputs; i++) {
        const struct hd_value_info *v = &m->values[m->outputs[i]];
        if (!v->rank || v->dim[0] % batch)
            return hd_fail(c->ctx, HD_UNSUPPORTED, "output %s is not of %d samples", v->name,
                           batch);
    }
    return HD_OK;
}

static hd_status open_model(struct hd_cmd *c, hd_arena *a, const char *path,
                            const struct hd_way *way, hd_model **out) {
    hd_model *m = NULL;
    if (way->batch > 1) TRY(batch_shapes(c, a, path, way->batch));
    TRY(hd_open_model(c, path, hd_is_graph_device(way->device), &m));
    hd_status s = way->batch > 1 ? check_batch(c, m, way->batch) : HD_OK;
    if (s == HD_OK)
        *out = m;
    else
        hd_model_destroy(m);
    return s;
}

hd_status hd_choice_model(struct hd_cmd *c, const struct hd_choice *net, const struct hd_way *way,
                          hd_model **out) {
    const char *path = way->int8 ? net->int8_path : net->float_path;
    struct hd_options saved = c->opt;
    hd_arena *a = hd_arena_create();
    if (!path)
        return hd_fail(c->ctx, HD_UNSUPPORTED, "%s: %s", net->name,
                       way->int8 ? "heddle quantize fails on it, so want --only float"
                                 : "has integers already, so want --only int8");
    take(c, way);
    hd_status s = open_model(c, a, path, way, out);
    c->opt = saved;
    hd_arena_destroy(a);
    return s;
}

hd_status hd_way_lower(struct hd_cmd *c, hd_graph *g, const struct hd_way *way, hd_model **out) {
    struct hd_compile_options opt = {.latency_hiding = true,
                                     .mem_latency = c->opt.mem.latency,
                                     .host_only = hd_is_graph_device(way->device)};
    struct hd_options saved = c->opt;
    hd_arena *a = hd_arena_create();
    take(c, way);
    hd_status s = hd_cmd_machine(c, &opt.machine);
    if (s == HD_OK) s = hd_lower(c->ctx, g, &opt, out);
    c->opt = saved;
    hd_arena_destroy(a);
    return s;
}

/* Of the process, or by the clock. One thread takes processor time, which other programs do not
 * inflate. */
static double now(bool processor) {
    struct timespec t;
    if (!processor) return hd_seconds();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least of several runs. A simulated machine takes its cycles at the clock that its timing
 * supports, and the processor time of the host. */
static hd_status measure(struct hd_cmd *c, hd_arena *a, const hd_model *m, const char *path,
                         hd_session *s, const struct hd_way *way, double *out) {
    const void **in;
    const char *what;
    void **to = hd_output_buffers(a, m);
    bool graph = hd_is_graph_device(way->device);
    hd_status ok = hd_cmd_inputs(c, a, m, path, &in, &what);
    if (ok != HD_OK) { /* data beside the network are of another number of samples */
        hd_clear(c->ctx);
        ok = hd_random_inputs(c->ctx, a, m, c->opt.seed, &in);
    }
    double begin = hd_seconds();
    *out = INFINITY;
    for (int i = 0;
         ok == HD_OK && i < RUNS && (i < (graph ? 2 : 1) || hd_seconds() - begin < SECONDS); i++) {
        struct hd_counters counters = {0};
        double start = now(way->threads == 1), took;
        ok = hd_session_run(c->ctx, s, in, to);
        took = now(way->threads == 1) - start;
        if (ok == HD_OK && !graph) ok = hd_session_counters(c->ctx, s, &counters);
        if (!graph)
            took = (double)counters.cycles * 1e-6 / m->machine.clock_mhz +
                   (double)counters.host_ns * 1e-9;
        *out = fmin(*out, took);
    }
    return ok;
}

static hd_status open_session(struct hd_cmd *c, const hd_model *m, const struct hd_way *way,
                              hd_session **out) {
    struct hd_options saved = c->opt;
    hd_arena *a = hd_arena_create();
    take(c, way);
    hd_status s = hd_open_session(c, m, way->device, out);
    c->opt = saved;
    hd_arena_destroy(a);
    return s;
}

hd_status hd_choice_facts(struct hd_cmd *c, const struct hd_choice *net, const struct hd_way *way,
                          double out[HD_FACTS]) {
    hd_model *m = NULL;
    hd_session *s = NULL;
    hd_status ok = hd_choice_model(c, net, way, &m);
    if (ok == HD_OK && hd_is_graph_device(way->device)) ok = open_session(c, m, way, &s);
    if (ok == HD_OK) ok = hd_facts_of(c->ctx, m, s, out);
    hd_session_close(s);
    hd_model_destroy(m);
    return ok;
}

hd_status hd_run_keep(struct hd_cmd *c, hd_arena *a, const char *network, const hd_model *m,
                      const char *path, const struct hd_way *way, struct hd_schedules *db,
                      double *out_seconds) {
    double seconds = 0, facts[HD_FACTS];
    hd_session *s = NULL;
    hd_status ok = open_session(c, m, way, &s);
    if (ok == HD_OK) ok = hd_facts_of(c->ctx, m, hd_is_graph_device(way->device) ? s : NULL, facts);
    if (ok == HD_OK) ok = measure(c, a, m, path, s, way, &seconds);
    hd_session_close(s);
    TRY(ok);
    const struct hd_run_row row = {.computer = hd_this_computer(a),
                                   .network = network,
                                   .kind = way->kind,
                                   .variant = way->variant,
                                   .facts = hd_facts_text(a, facts),
                                   .samples = way->batch,
                                   .seconds = seconds};
    if (out_seconds) *out_seconds = seconds / way->batch;
    return hd_runs_put(c->ctx, db, &row);
}

hd_status hd_choice_keep(struct hd_cmd *c, hd_arena *a, const struct hd_choice *net,
                         const struct hd_way *way, struct hd_schedules *db, double *out_seconds) {
    hd_model *m = NULL;
    const char *path = way->int8 ? net->int8_path : net->float_path;
    hd_cmd_progress(c, "%s: %s %s", net->name, way->kind, way->variant);
    hd_status s = hd_choice_model(c, net, way, &m);
    if (s == HD_OK) s = hd_run_keep(c, a, net->name, m, path, way, db, out_seconds);
    hd_model_destroy(m);
    return s;
}

static hd_status keep_net(struct hd_cmd *c, hd_arena *a, const struct hd_choice *net,
                          const struct hd_way *ways, int n, struct hd_schedules *db) {
    int ran = 0;
    for (int i = 0; i < n; i++) {
        hd_status s = hd_choice_keep(c, a, net, &ways[i], db, NULL);
        ran += s == HD_OK;
        if (i + 1 == n && !ran) return hd_note(c->ctx, s, "no way runs %s", net->name);
        hd_clear(c->ctx); /* what cannot run that way is no candidate */
    }
    return HD_OK;
}

/* Its short name, and a hash of the file: two networks may have one name. */
static hd_status name_of(struct hd_cmd *c, hd_arena *a, const char *path, const char **out) {
    void *data;
    size_t bytes;
    TRY(hd_file_read(c->ctx, path, &data, &bytes));
    *out = hd_sprintf(a, "%s@%08x", hd_short_name(a, path), hd_hash(HD_HASH_INIT, data, bytes));
    free(data);
    return HD_OK;
}

hd_status hd_choice_open(struct hd_cmd *c, hd_arena *a, const char *arg, const char *folder,
                         struct hd_choice *out) {
    hd_graph *g;
    const char *path;
    TRY(hd_model_path(c, a, arg, &path));
    if (hd_is_hdl(path))
        return hd_fail(c->ctx, HD_INVALID, "%s: is compiled for one machine; name the network",
                       path);
    *out = (struct hd_choice){.int8_path = path};
    TRY(name_of(c, a, path, &out->name));
    TRY(hd_cmd_import(c, path, &g));
    hd_status s = hd_legalize(c->ctx, g);
    bool floats = s == HD_OK && hd_integer_macs(g) <= 0;
    hd_graph_destroy(g);
    if (s != HD_OK || !floats) return s;
    out->float_path = path;
    out->int8_path = hd_sprintf(a, "%s/%s.int8.onnx", folder, out->name);
    if (access(out->int8_path, R_OK)) s = hd_quantise(c, path, out->int8_path);
    if (s == HD_OK) return HD_OK;
    out->int8_path = NULL; /* floats it is */
    hd_clear(c->ctx);
    return HD_OK;
}

hd_status hd_choices_keep(struct hd_cmd *c, hd_arena *a, const char *const *models, int n,
                          struct hd_schedules *db) {
    struct hd_way *ways = hd_new_array(a, struct hd_way, HD_WAYS);
    struct hd_choice *nets = hd_new_array(a, struct hd_choice, (size_t)n + 1);
    const char *folder = NULL;
    int n_ways = 0;
    hd_status s = hd_ways_list(c, a, ways, &n_ways);
    if (s == HD_OK) s = hd_cmd_temp_folder(c, a, &folder);
    for (int i = 0; s == HD_OK && i < PASSES * n; i++) {
        struct hd_choice *net = &nets[i % n];
        if (i < n) s = hd_choice_open(c, a, models[i], folder, net);
        if (s == HD_OK) s = keep_net(c, a, net, ways, n_ways, db);
    }
    hd_cmd_progress_end(c);
    for (int i = 0; i < n; i++)
        if (nets[i].float_path && nets[i].int8_path) remove(nets[i].int8_path);
    if (folder) rmdir(folder);
    return s;
}
