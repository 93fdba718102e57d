/* heddle bench tiny: the tasks of MLPerf Tiny on devices of this program, beside published entries
 * of its closed division. Simulated devices take their time at the machine's clock, with the
 * compiler's price of what stays on the host; others are measured, the median of --repeat runs.
 * With --db runs in every way are kept for heddle choose. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/bench/bench.h"
#include "compiler/command/table.h"
#include "isa/isa.h"
#include "runtime/runtime.h"

enum task {
#define TASK(name, ...) TASK_##name,
#include "compiler/bench/tiny.def"
    TASKS
};
static const struct {
    const char *name, *folder, *meaning;
} tasks[TASKS] = {
#define TASK(name, folder, meaning) {#name, folder, meaning},
#include "compiler/bench/tiny.def"
};
static const struct entry {
    enum task task;
    double per_second, clock_mhz;
    const char *system, *source;
} entries[] = {
#define ENTRY(task, per_second, clock_mhz, system, source)                                         \
    {TASK_##task, per_second, clock_mhz, system, source},
#include "compiler/bench/tiny.def"
};
enum { ENTRIES = sizeof entries / sizeof *entries, ROWS = ENTRIES + 64, RUNS = 9 };

struct rows {
    struct entry of[ROWS];
    int n;
};

static int by_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of a run: by the clock of the machine, or the median of what was measured. */
static hd_status seconds_of(struct hd_cmd *c, hd_arena *a, const hd_model *m, hd_session *s,
                            const void **in, bool graph, double *out) {
    int n = graph ? c->opt.repeat ? c->opt.repeat : RUNS : 1;
    double *took = hd_new_array(a, double, (size_t)n), host = 0;
    struct hd_counters counters;
    void **to = hd_output_buffers(a, m);
    for (int i = 0; i < n; i++) {
        double start = hd_seconds();
        TRY(hd_session_run(c->ctx, s, in, to));
        took[i] = hd_seconds() - start;
    }
    qsort(took, (size_t)n, sizeof *took, by_double);
    *out = took[n / 2];
    if (graph) return HD_OK;
    TRY(hd_session_counters(c->ctx, s, &counters));
    for (int i = 0; i < m->n_host_ops; i++) host += (double)m->host_ops[i].ns * 1e-9;
    *out = (double)counters.cycles * 1e-6 / m->machine.clock_mhz + host;
    return HD_OK;
}

static const char *path_of(hd_arena *a, enum task task) {
    return hd_stored_model(a, tasks[task].folder);
}

static hd_status run_one(struct hd_cmd *c, hd_arena *a, enum task task, const char *device,
                         struct rows *rows) {
    bool graph = hd_is_graph_device(device);
    const char *path, *what;
    hd_model *m = NULL;
    hd_session *s = NULL;
    const void **in;
    double seconds = 0;
    hd_status ok = hd_model_path(c, a, path_of(a, task), &path);
    if (ok == HD_OK) ok = hd_open_model(c, path, graph, &m);
    if (ok == HD_OK) ok = hd_cmd_inputs(c, a, m, path, &in, &what);
    if (ok == HD_OK) ok = hd_open_session(c, m, device, &s);
    if (ok == HD_OK) ok = seconds_of(c, a, m, s, in, graph, &seconds);
    if (ok == HD_OK && rows->n < ROWS)
        rows->of[rows->n++] = (struct entry){
            task, 1 / seconds, graph ? 0 : m->machine.clock_mhz,
            graph ? hd_sprintf(a, "this computer, device %s", device)
                  : hd_sprintf(a, "Heddle %s, device %s", m->machine.name, device),
            graph ? "measured here"
                  : hd_sprintf(a, "simulated, no board; clock %s",
                               *hd_machine_clock_note(&m->machine) ? "assumed" : "by timing")};
    hd_session_close(s);
    hd_model_destroy(m);
    return hd_note(c->ctx, ok, "in %s on %s", tasks[task].name, device);
}

static int by_rate(const void *x, const void *y) {
    const struct entry *a = x, *b = y;
    if (a->task != b->task) return a->task < b->task ? -1 : 1;
    return (a->per_second < b->per_second) - (a->per_second > b->per_second);
}

static json_object *print_rows(hd_arena *a, struct rows *rows, FILE *out) {
    json_object *list = json_object_new_array();
    struct hd_table t;
    qsort(rows->of, (size_t)rows->n, sizeof *rows->of, by_rate);
    for (enum task k = 0; k < TASKS; k++) {
        fprintf(out, "%s%s, %s\n", k ? "\n" : "", tasks[k].name, tasks[k].meaning);
        hd_table_init(&t, "lrrrl");
        hd_table_cells(&t, (const char *[]){"system", "ms", "a second", "MHz", "source"}, 5);
        for (int i = 0; i < rows->n; i++) {
            const struct entry *e = &rows->of[i];
            if (e->task != k) continue;
            hd_table_cell(&t, "%s", e->system);
            hd_table_cell(&t, "%.3f", 1e3 / e->per_second);
            hd_table_cell(&t, "%.0f", e->per_second);
            if (e->clock_mhz > 0)
                hd_table_cell(&t, "%.0f", e->clock_mhz);
            else
                hd_table_cell(&t, "%s", "");
            hd_table_cell(&t, "%s", e->source);
            json_object *o = json_object_new_object();
            hd_json_str(o, "task", tasks[k].name);
            hd_json_str(o, "system", e->system);
            hd_json_num(o, "per_second", e->per_second);
            hd_json_num(o, "clock_mhz", e->clock_mhz);
            hd_json_str(o, "source", e->source);
            json_object_array_add(list, o);
        }
        hd_table_print(&t, out);
        if (access(path_of(a, k), R_OK))
            fprintf(out, "%s is not here, so nothing ran\n", tasks[k].folder);
    }
    fputs("\npublished: performance mode of the closed division, "
          "github.com/mlcommons/tiny_results_*\n",
          out);
    return list;
}

static hd_status keep_runs(struct hd_cmd *c, hd_arena *a) {
    const char *models[TASKS];
    int n = 0;
    for (enum task k = 0; k < TASKS; k++)
        if (access(path_of(a, k), R_OK) == 0) models[n++] = path_of(a, k);
    return hd_bench_keep(c, models, n);
}

int hd_bench_tiny(struct hd_cmd *c, char **models, int n) {
    hd_arena *a = hd_arena_create();
    struct rows rows = {.n = 0};
    FILE *out = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    int failed = 0;
    (void)models;
    if (n) return hd_cmd_usage(c, "bench tiny takes no models: it has its own");
    memcpy(rows.of, entries, sizeof entries);
    rows.n = ENTRIES;
    const char *db = c->opt.run.db;
    c->opt.run.db = NULL;
    char *rest = hd_strdup(a, c->opt.devices ? c->opt.devices : "iss,cpu"), *device;
    while ((device = strtok_r(rest, ",", &rest)))
        for (enum task k = 0; k < TASKS; k++) {
            hd_cmd_progress(c, "%s on %s", tasks[k].name, device);
            if (access(path_of(a, k), R_OK)) continue;
            if (run_one(c, a, k, device, &rows) == HD_OK) continue;
            hd_cmd_fail(c);
            hd_clear(c->ctx);
            failed++;
        }
    c->opt.run.db = db;
    if (db && keep_runs(c, a) != HD_OK) failed += hd_cmd_fail(c) == HD_EXIT_FAILED;
    hd_cmd_progress_end(c);
    json_object *list = print_rows(a, &rows, out);
    int status = failed ? HD_EXIT_FAILED : HD_EXIT_DONE;
    if (c->opt.json) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "schema", "heddle.bench.tiny/1");
        json_object_object_add(o, "rows", list);
        int wrote = hd_cmd_write_json(c, o);
        if (wrote) status = wrote;
    } else {
        json_object_put(list);
    }
    hd_arena_destroy(a);
    return status;
}
