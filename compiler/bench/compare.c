/* heddle bench compare: networks on every device that is here, in one table: latency, throughput,
 * agreement with the first device, memory.
 *
 * A machine's latency is its cycles at its stated clock; that of other devices is the median by the
 * clock of this computer, after a warm-up. Devices come from the device table. */
#include <stdlib.h>
#include <string.h>

#include "compiler/bench/bench.h"
#include "compiler/command/table.h"
#include "compiler/compare/compare.h"
#include "compiler/report/html.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "isa/isa.h"
#include "runtime/base/io.h"
#include "runtime/runtime.h"

enum { DEVICES_MAX = 16, RUNS_MAX = 1000, RTL_CYCLES_MAX = 200000 };
#define BUDGET_SECONDS 1.0 /* of repeated runs on one device, when --repeat does not say */

struct bench {
    struct hd_cmd *c;
    hd_arena *a;
    const char *device[DEVICES_MAX];
    int n_devices;
    bool named; /* --devices: then every one must work */
    json_object *rows;
    int n_bad;
};

struct result {
    const char *model, *device, *agreement, *note;
    double latency_ms;
    bool has_cycles, differs, failed;
    uint64_t cycles;
    int64_t memory_bytes;
    double max_abs_diff;
};

static hd_status choose_devices(struct bench *b) {
    struct hd_cmd *c = b->c;
    b->named = c->opt.devices != NULL;
    char *list = b->named ? hd_strdup(b->a, c->opt.devices) : NULL, *save = NULL;
    for (char *p = list ? strtok_r(list, ",", &save) : NULL; p; p = strtok_r(NULL, ",", &save)) {
        if (b->n_devices == DEVICES_MAX)
            return hd_fail(c->ctx, HD_INVALID, "--devices: more than %d devices", DEVICES_MAX);
        b->device[b->n_devices++] = p;
    }
    struct hd_device_options o = {0};
    TRY(hd_cmd_machine(c, &o.machine));
    for (int i = 0; !b->named && hd_devices[i] && b->n_devices < DEVICES_MAX; i++) {
        struct hd_device_info info = {.available = true};
        if (hd_devices[i]->probe && hd_devices[i]->probe(c->ctx, &o, &info) != HD_OK) {
            info.available = false;
            hd_clear(c->ctx);
        }
        if (info.available) b->device[b->n_devices++] = hd_devices[i]->scheme;
    }
    return HD_OK;
}

/* Bytes that a device must hold: image and arena of a machine; constants and tensors of a graph. */
static hd_status memory_of(struct bench *b, const hd_model *m, bool machine, int64_t *out) {
    hd_graph *g;
    *out = (int64_t)m->image_bytes + (int64_t)m->arena_bytes;
    if (machine) return HD_OK;
    TRY(hd_graph_load(b->c->ctx, m->graph, m->graph_bytes, &g));
    *out = 0;
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].known) *out += (int64_t)hd_tensor_bytes(&g->tensors[i]);
    hd_graph_destroy(g);
    return HD_OK;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static hd_status measure(struct bench *b, const hd_model *m, hd_session *s, const void *const *in,
                         void *const *out, struct result *r) {
    struct hd_cmd *c = b->c;
    double times[RUNS_MAX], begin = hd_seconds();
    int n = 0, most = c->opt.repeat > 1 ? c->opt.repeat : RUNS_MAX;
    TRY(hd_session_run(c->ctx, s, in, out)); /* warms up; all that a machine needs */
    if (r->has_cycles) {
        struct hd_counters k;
        TRY(hd_session_counters(c->ctx, s, &k));
        r->cycles = k.cycles;
        r->latency_ms = (double)k.cycles / (1000.0 * m->machine.clock_mhz);
        return HD_OK;
    }
    while (n < most && n < RUNS_MAX &&
           (n < 3 || c->opt.repeat > 1 || hd_seconds() - begin < BUDGET_SECONDS)) {
        double start = hd_seconds();
        TRY(hd_session_run(c->ctx, s, in, out));
        times[n++] = hd_seconds() - start;
    }
    qsort(times, (size_t)n, sizeof *times, by_value);
    r->latency_ms = 1000 * times[n / 2];
    return HD_OK;
}

/* Against the outputs of the first device. */
static void agree(struct bench *b, const hd_model *m, void *const *ref, void *const *got,
                  bool rounds, struct result *r) {
    enum hd_verdict worst = HD_SAME;
    for (int i = 0; i < m->n_outputs; i++) {
        const struct hd_value_info *v = &m->values[m->outputs[i]];
        struct hd_value_error e = hd_value_error_of(v, ref[i], got[i]);
        enum hd_verdict verdict = hd_value_error_verdict(&e, v, rounds);
        if (verdict > worst) worst = verdict;
        if (e.max > r->max_abs_diff || e.max != e.max) r->max_abs_diff = e.max;
    }
    r->differs = worst == HD_DIFFERS;
    r->agreement = worst == HD_SAME ? "bit-equal"
                                    : hd_sprintf(b->a, "%s, max|diff| %.3g",
                                                 r->differs ? "differs" : "close", r->max_abs_diff);
}

static hd_status run_one(struct bench *b, const char *path, void ***ref, bool *ref_rounds,
                         struct result *r) {
    struct hd_cmd *c = b->c;
    hd_model *m = NULL;
    hd_session *s = NULL;
    const void **in;
    const char *what;
    bool rounds = hd_is_graph_device(r->device);
    r->has_cycles = !rounds;
    hd_status ok = hd_open_model(c, path, rounds, &m);
    if (ok == HD_OK) ok = hd_cmd_inputs(c, b->a, m, path, &in, &what);
    if (ok == HD_OK) ok = memory_of(b, m, r->has_cycles, &r->memory_bytes);
    if (ok == HD_OK) ok = hd_open_session(c, m, r->device, &s);
    void **out = ok == HD_OK ? hd_output_buffers(b->a, m) : NULL;
    if (ok == HD_OK) ok = measure(b, m, s, in, out, r);
    if (ok == HD_OK && *ref) agree(b, m, *ref, out, rounds && *ref_rounds, r);
    if (ok == HD_OK && !*ref) {
        *ref = out;
        *ref_rounds = rounds;
        r->agreement = "reference";
    }
    if (ok == HD_OK && r->has_cycles && m->n_host_ops)
        r->note = r->cycles ? hd_sprintf(b->a, "without %d operations on the host", m->n_host_ops)
                            : "nothing runs on the machine, all stays on the host";
    hd_session_close(s);
    hd_model_destroy(m);
    return ok;
}

static void cell_if(struct hd_table *t, bool known, const char *format, double v) {
    char text[64] = "";
    if (known) snprintf(text, sizeof text, format, v);
    hd_table_cell(t, "%s", text);
}

static void add_row(struct bench *b, const struct result *r, struct hd_table *t) {
    json_object *o = json_object_new_object();
    hd_json_str(o, "model", r->model);
    hd_json_str(o, "device", r->device);
    hd_table_cells(t, (const char *[]){r->model, r->device}, 2);
    if (r->failed) {
        hd_table_cells(t, (const char *[]){"", "", "", "failed", "", r->note}, 6);
        hd_json_str(o, "agreement", "failed");
    } else {
        cell_if(t, r->latency_ms > 0, "%.4g", r->latency_ms);
        cell_if(t, r->latency_ms > 0, "%.4g", 1000 / r->latency_ms);
        cell_if(t, r->has_cycles, "%.0f", (double)r->cycles);
        hd_table_cell(t, "%s", r->agreement);
        hd_table_cell(t, "%.1f", (double)r->memory_bytes / 1024);
        hd_table_cell(t, "%s", r->note ? r->note : "");
        if (r->latency_ms > 0) hd_json_num(o, "latency_ms", r->latency_ms);
        if (r->latency_ms > 0) hd_json_num(o, "throughput", 1000 / r->latency_ms);
        json_object_object_add(o, "cycles",
                               r->has_cycles ? json_object_new_int64((int64_t)r->cycles) : NULL);
        hd_json_str(o, "agreement", r->agreement);
        hd_json_num(o, "max_abs_diff", r->max_abs_diff);
        hd_json_int(o, "memory_bytes", r->memory_bytes);
    }
    hd_json_str(o, "note", r->note);
    json_object_array_add(b->rows, o);
}

static hd_status bench_model(struct bench *b, const char *arg, struct hd_table *t) {
    struct hd_cmd *c = b->c;
    const char *path;
    void **ref = NULL;
    bool ref_rounds = false;
    uint64_t cycles = 0; /* on another machine */
    TRY(hd_model_path(c, b->a, arg, &path));
    for (int i = 0; i < b->n_devices; i++) {
        struct result r = {.model = hd_short_name(b->a, arg), .device = b->device[i]};
        if (!b->named && !strcmp(r.device, "rtl") && cycles > RTL_CYCLES_MAX) continue;
        hd_cmd_progress(c, "%s on %s", r.model, r.device);
        if (run_one(b, path, &ref, &ref_rounds, &r) != HD_OK) {
            r.failed = true;
            r.note = hd_strdup(b->a, hd_message(c->ctx));
            for (char *p = (char *)(uintptr_t)r.note; *p; p++)
                if (*p == '\n') *p = ' ';
            hd_clear(c->ctx);
        }
        if (r.has_cycles) cycles = r.cycles;
        b->n_bad += r.differs || (r.failed && (b->named || !ref));
        add_row(b, &r, t);
    }
    hd_cmd_progress_end(c);
    return HD_OK;
}

static void put_csv_text(FILE *f, const char *text) {
    fputc('"', f);
    for (; text && *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static hd_status write_csv(struct bench *b, const char *path) {
    static const char *const key[] = {"model",        "device",       "latency_ms",
                                      "throughput",   "cycles",       "agreement",
                                      "max_abs_diff", "memory_bytes", "note"};
    struct hd_out out;
    TRY(hd_out_open(b->c->ctx, path, &out));
    FILE *f = out.f;
    for (size_t k = 0; k < sizeof key / sizeof key[0]; k++)
        fprintf(f, "%s%s", k ? "," : "", key[k]);
    fputc('\n', f);
    for (size_t i = 0; i < json_object_array_length(b->rows); i++)
        for (size_t k = 0; k < sizeof key / sizeof key[0]; k++) {
            json_object *v = NULL;
            json_object_object_get_ex(json_object_array_get_idx(b->rows, i), key[k], &v);
            if (k) fputc(',', f);
            if (json_object_is_type(v, json_type_string))
                put_csv_text(f, json_object_get_string(v));
            else if (v)
                fputs(json_object_to_json_string(v), f);
            if (k + 1 == sizeof key / sizeof key[0]) fputc('\n', f);
        }
    return hd_out_close(b->c->ctx, &out, HD_OK);
}

static hd_status write_page(struct bench *b, const char *path) {
    json_object *o = json_object_new_object();
    struct hd_machine m;
    TRY(hd_cmd_machine(b->c, &m));
    hd_json_str(o, "title", "Networks on devices");
    hd_json_str(o, "subtitle",
                hd_sprintf(b->a, "machine %s at %u MHz%s; agreement is with %s", m.name,
                           m.clock_mhz, hd_machine_clock_note(&m),
                           b->n_devices ? b->device[0] : "nothing"));
    json_object_object_add(o, "compare", json_object_get(b->rows));
    return hd_report_write(b->c, o, path);
}

int hd_bench_compare(struct hd_cmd *c, char **models, int n) {
    struct bench b = {.c = c, .a = hd_arena_create(), .rows = json_object_new_array()};
    struct hd_table t;
    bool quiet = hd_cmd_json_on_stdout(c) || (c->opt.csv && !strcmp(c->opt.csv, "-"));
    hd_table_init(&t, "llrrrlrl");
    hd_table_cells(&t,
                   (const char *[]){"network", "device", "latency ms", "per second", "cycles",
                                    "agreement", "memory KiB", "note"},
                   8);
    hd_status s = choose_devices(&b);
    for (int i = 0; s == HD_OK && i < n; i++) s = bench_model(&b, models[i], &t);
    hd_table_print(&t, quiet ? stderr : stdout);
    if (s == HD_OK && c->opt.csv) s = write_csv(&b, c->opt.csv);
    if (s == HD_OK && c->opt.report) s = write_page(&b, c->opt.report);
    int status = s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    if (status == HD_EXIT_DONE && c->opt.json) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "schema", "heddle.bench-compare/1");
        json_object_object_add(o, "rows", json_object_get(b.rows));
        status = hd_cmd_write_json(c, o);
    }
    json_object_put(b.rows);
    hd_arena_destroy(b.a);
    return status != HD_EXIT_DONE ? status : b.n_bad ? HD_EXIT_FAILED : HD_EXIT_DONE;
}
