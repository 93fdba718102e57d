/* heddle bench: networks in one table, each beside its roofline. */
#include "compiler/bench/bench.h"
#include "compiler/command/table.h"
#include "compiler/report/report.h"

static hd_status bench_one(struct hd_cmd *c, hd_arena *a, const char *arg, struct hd_table *t,
                           json_object *list) {
    hd_model *m = NULL;
    hd_session *s = NULL;
    const void **in;
    struct hd_run_facts r = {.device = c->opt.device,
                             .has_cycles = !hd_is_graph_device(c->opt.device)};
    hd_status ok = hd_model_path(c, a, arg, &r.path);
    if (ok == HD_OK) ok = hd_open_model(c, r.path, !r.has_cycles, &m);
    if (ok == HD_OK) ok = hd_cmd_inputs(c, a, m, r.path, &in, &r.inputs);
    if (ok == HD_OK) ok = hd_open_session(c, m, c->opt.device, &s);
    r.model = m;
    double start = hd_seconds();
    if (ok == HD_OK) ok = hd_session_run(c->ctx, s, in, hd_output_buffers(a, m));
    r.wall_seconds = hd_seconds() - start;
    if (ok == HD_OK) ok = hd_session_counters(c->ctx, s, &r.counters);
    if (ok == HD_OK) {
        struct hd_totals x = hd_run_totals(c, &r);
        hd_table_cell(t, "%s", arg);
        hd_table_cell(t, "%lld", (long long)x.macs);
        hd_table_cell(t, "%llu", (unsigned long long)r.counters.cycles);
        hd_table_cell(t, "%.1f %%", 100 * x.utilization);
        hd_table_cell(t, "%lld", (long long)x.roofline_cycles);
        hd_table_cell(t, "%.1f %%", 100 * x.efficiency);
        hd_table_cell(t, "%llu",
                      (unsigned long long)(r.counters.read_bytes + r.counters.write_bytes));
        hd_table_cell(t, "%.3f", r.wall_seconds);
        hd_table_cell(t, "%.0f",
                      r.wall_seconds > 0 ? (double)r.counters.cycles / r.wall_seconds : 0);
        json_object_array_add(list, hd_run_json(c, &r));
    }
    hd_session_close(s);
    hd_model_destroy(m);
    return hd_note(c->ctx, ok, "in benchmark %s", arg);
}

int hd_bench_networks(struct hd_cmd *c, char **models, int n) {
    hd_arena *a = hd_arena_create();
    json_object *list = json_object_new_array();
    struct hd_table t;
    int failed = 0;
    hd_table_init(&t, "lrrrrrrrr");
    hd_table_cells(&t,
                   (const char *[]){"network", "MACs", "cycles", "MAC util", "roofline",
                                    "efficiency", "DRAM bytes", "seconds", "cycles/s"},
                   9);
    for (int i = 0; i < n; i++) {
        hd_cmd_progress(c, "%d of %d: %s", i + 1, n, models[i]);
        if (bench_one(c, a, models[i], &t, list) != HD_OK) {
            hd_cmd_fail(c);
            hd_clear(c->ctx);
            failed++;
        }
    }
    hd_cmd_progress_end(c);
    hd_table_print(&t, hd_cmd_json_on_stdout(c) ? stderr : stdout);
    int status = HD_EXIT_DONE;
    if (c->opt.json) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "schema", "heddle.bench/1");
        json_object_object_add(o, "runs", list);
        status = hd_cmd_write_json(c, o);
    } else {
        json_object_put(list);
    }
    hd_arena_destroy(a);
    return failed ? HD_EXIT_FAILED : status;
}
