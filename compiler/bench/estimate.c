/* heddle bench estimate: the compiler's estimate of networks and of their layers beside what the
 * ISS takes. The bars are those of docs/testing.md; a missed one fails. */
#include <math.h>

#include "compiler/bench/bench.h"
#include "compiler/command/table.h"
#include "compiler/report/report.h"

static const double OF_NETWORK = 1, OF_LAYER = 2; /* bars: percent that it may be off */
static const double LARGE = 5; /* percent of a network's cycles from which a layer has a bar */

struct bars {
    struct hd_table t;
    json_object *list;
    int networks, layers, missed;
    double worst_network, worst_layer; /* percent */
};

static double error_of(int64_t estimate, int64_t cycles) { /* percent */
    return cycles ? 100 * ((double)estimate / (double)cycles - 1) : 0;
}

static bool misses(struct bars *b, double error, double bar, double *worst) {
    if (fabs(error) > fabs(*worst)) *worst = error;
    b->missed += fabs(error) > bar;
    return fabs(error) > bar;
}

static void add_row(struct bars *b, const char *name, const char *layer, double share,
                    int64_t cycles, int64_t estimate, bool misses_bar) {
    hd_table_cells(&b->t, (const char *[]){name, layer}, 2);
    hd_table_cell(&b->t, "%.1f %%", share);
    hd_table_cell(&b->t, "%lld", (long long)cycles);
    hd_table_cell(&b->t, "%lld", (long long)estimate);
    hd_table_cell(&b->t, "%+.2f %%", error_of(estimate, cycles));
    hd_table_cell(&b->t, "%s", misses_bar ? "missed" : "");
}

/* The network's row, and those of its large layers; all layers as JSON. */
static void add_network(struct hd_cmd *c, struct bars *b, const char *name,
                        const struct hd_run_facts *r) {
    int64_t total = (int64_t)r->counters.cycles, estimate = 0;
    for (int i = 0; i < r->model->n_steps; i++) estimate += r->model->steps[i].estimate;
    b->networks++;
    add_row(b, name, "", 100, total, estimate,
            misses(b, error_of(estimate, total), OF_NETWORK, &b->worst_network));
    json_object *o = json_object_new_object(), *layers = json_object_new_array();
    hd_json_str(o, "network", name);
    hd_json_int(o, "cycles", total);
    hd_json_int(o, "estimated_cycles", estimate);
    for (int i = 0; i < r->model->n_layers; i++) {
        struct hd_layer_facts x = hd_layer_facts(c, r, i);
        double share = 100 * (double)x.cycles / (double)total;
        json_object *l = json_object_new_object();
        hd_json_str(l, "layer", x.name);
        hd_json_int(l, "cycles", x.cycles);
        hd_json_int(l, "estimated_cycles", x.estimate);
        json_object_array_add(layers, l);
        if (share <= LARGE) continue;
        b->layers++;
        add_row(b, "", x.name, share, x.cycles, x.estimate,
                misses(b, error_of(x.estimate, x.cycles), OF_LAYER, &b->worst_layer));
    }
    json_object_object_add(o, "layers", layers);
    json_object_array_add(b->list, o);
}

static hd_status measure(struct hd_cmd *c, hd_arena *a, const char *arg, struct bars *b) {
    hd_model *m = NULL;
    hd_session *s = NULL;
    const void **in;
    struct hd_run_facts r = {.device = "iss", .has_cycles = true};
    hd_status ok = hd_model_path(c, a, arg, &r.path);
    if (ok == HD_OK) ok = hd_open_model(c, r.path, false, &m);
    if (ok == HD_OK) ok = hd_cmd_inputs(c, a, m, r.path, &in, &r.inputs);
    if (ok == HD_OK) ok = hd_open_session(c, m, r.device, &s);
    r.model = m;
    if (ok == HD_OK) ok = hd_session_run(c->ctx, s, in, hd_output_buffers(a, m));
    if (ok == HD_OK) ok = hd_session_counters(c->ctx, s, &r.counters);
    if (ok == HD_OK && !m->n_layers)
        ok = hd_fail(c->ctx, HD_UNSUPPORTED,
                     "%s: nothing of it runs on the machine, so there is no estimate: heddle "
                     "quantize makes an int8 network of a float one",
                     r.path);
    if (ok == HD_OK) add_network(c, b, arg, &r);
    hd_session_close(s);
    hd_model_destroy(m);
    return hd_note(c->ctx, ok, "in benchmark %s", arg);
}

int hd_bench_estimate(struct hd_cmd *c, char **models, int n) {
    struct bars b = {.list = json_object_new_array()};
    int failed = 0, status = HD_EXIT_DONE;
    if (!n) return hd_cmd_usage(c, "bench estimate wants networks");
    hd_table_init(&b.t, "llrrrrl");
    hd_table_cells(
        &b.t, (const char *[]){"network", "layer", "share", "cycles", "estimate", "error", "bar"},
        7);
    for (int i = 0; i < n; i++) {
        hd_arena *a = hd_arena_create();
        hd_cmd_progress(c, "%d of %d: %s", i + 1, n, models[i]);
        if (measure(c, a, models[i], &b) != HD_OK) {
            hd_cmd_fail(c);
            hd_clear(c->ctx);
            failed++;
        }
        hd_arena_destroy(a);
    }
    hd_cmd_progress_end(c);
    FILE *out = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    hd_table_print(&b.t, out);
    fprintf(out,
            "%d networks: %+.2f %% off at most, bar %g; %d layers of more than %g %% of their "
            "network: %+.2f %% at most, bar %g; %d missed\n",
            b.networks, b.worst_network, OF_NETWORK, b.layers, LARGE, b.worst_layer, OF_LAYER,
            b.missed);
    if (c->opt.json) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "schema", "heddle.estimate/1");
        json_object_object_add(o, "networks", b.list);
        status = hd_cmd_write_json(c, o);
    } else {
        json_object_put(b.list);
    }
    return failed || b.missed ? HD_EXIT_FAILED : status;
}
