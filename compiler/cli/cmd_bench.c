/* heddle bench: networks in one table, each beside its roofline. */
#include "compiler/cli/cli.h"

#include <string.h>

static hd_status bench_one(struct cli *c, hd_arena *a, const char *arg, struct cli_table *t,
                           json_object *list) {
    hd_model *m = NULL;
    hd_session *s = NULL;
    const void **in;
    struct cli_run r = {.device = c->opt.device, .has_cycles = !cli_is_graph_device(c->opt.device)};
    hd_status ok = cli_model_path(c, a, arg, &r.path);
    if (ok == HD_OK) ok = cli_open_model(c, r.path, !r.has_cycles, &m);
    if (ok == HD_OK) ok = cli_inputs(c, a, m, r.path, &in, &r.inputs);
    if (ok == HD_OK) ok = cli_open_session(c, m, c->opt.device, &s);
    r.model = m;
    double start = cli_now();
    if (ok == HD_OK) ok = hd_session_run(c->ctx, s, in, cli_output_buffers(a, m));
    r.wall_seconds = cli_now() - start;
    if (ok == HD_OK) ok = hd_session_counters(c->ctx, s, &r.counters);
    if (ok == HD_OK) {
        struct cli_totals x = cli_run_totals(c, &r);
        cli_cell(t, "%s", arg);
        cli_cell(t, "%lld", (long long)x.macs);
        cli_cell(t, "%llu", (unsigned long long)r.counters.cycles);
        cli_cell(t, "%.1f %%", 100 * x.utilization);
        cli_cell(t, "%lld", (long long)x.roofline_cycles);
        cli_cell(t, "%.1f %%", 100 * x.efficiency);
        cli_cell(t, "%llu", (unsigned long long)(r.counters.read_bytes + r.counters.write_bytes));
        cli_cell(t, "%.3f", r.wall_seconds);
        cli_cell(t, "%.0f", r.wall_seconds > 0 ? (double)r.counters.cycles / r.wall_seconds : 0);
        json_object_array_add(list, cli_run_json(c, &r));
    }
    hd_session_close(s);
    hd_model_destroy(m);
    return hd_note(c->ctx, ok, "in benchmark %s", arg);
}

int cmd_bench(struct cli *c) {
    hd_arena *a = hd_arena_create();
    json_object *list = json_object_new_array();
    struct cli_table t;
    int failed = 0;
    char *own[] = {"test/models/digits"};
    if (c->n_args && !strcmp(c->args[0], "iss-vs-rtl")) {
        hd_arena_destroy(a);
        json_object_put(list);
        return cli_bench_iss(c, c->args + 1, c->n_args - 1);
    }
    if (c->n_args == 1 && !strcmp(c->args[0], "sim-speed")) {
        hd_arena_destroy(a);
        json_object_put(list);
        return cli_bench_speed(c);
    }
    if (c->n_args == 1 && cli_bench_has_set(c->args[0])) {
        hd_arena_destroy(a);
        json_object_put(list);
        return cli_bench_machine(c, c->args[0]);
    }
    if (c->n_args && !strcmp(c->args[0], "cpu")) {
        hd_arena_destroy(a);
        json_object_put(list);
        return cli_bench_cpu(c, c->args + 1, c->n_args - 1);
    }
    if (c->n_args && !strcmp(c->args[0], "memory")) {
        bool named = c->n_args > 1;
        hd_arena_destroy(a);
        json_object_put(list);
        return cli_bench_memory(c, named ? c->args + 1 : own, named ? c->n_args - 1 : 1);
    }
    if (c->n_args && !strcmp(c->args[0], "compare")) {
        bool named = c->n_args > 1;
        hd_arena_destroy(a);
        json_object_put(list);
        return cli_bench_compare(c, named ? c->args + 1 : own, named ? c->n_args - 1 : 1);
    }
    if (c->opt.devices || c->opt.csv || c->opt.report) {
        hd_arena_destroy(a);
        json_object_put(list);
        return cli_usage(c, "--devices, --csv and --report belong to bench compare");
    }
    if (!c->n_args) c->args = own, c->n_args = 1;
    cli_table_init(&t, "lrrrrrrrr");
    cli_cells(&t,
              (const char *[]){"network", "MACs", "cycles", "MAC util", "roofline", "efficiency",
                               "DRAM bytes", "seconds", "cycles/s"},
              9);
    for (int i = 0; i < c->n_args; i++) {
        cli_progress(c, "%d of %d: %s", i + 1, c->n_args, c->args[i]);
        if (bench_one(c, a, c->args[i], &t, list) != HD_OK) {
            cli_fail(c);
            hd_clear(c->ctx);
            failed++;
        }
    }
    cli_progress_end(c);
    cli_table_print(&t, cli_json_on_stdout(c) ? stderr : stdout);
    int status = CLI_DONE;
    if (c->opt.json) {
        json_object *o = json_object_new_object();
        cli_add_str(o, "schema", "heddle.bench/1");
        json_object_object_add(o, "runs", list);
        status = cli_write_json(c, o);
    } else {
        json_object_put(list);
    }
    hd_arena_destroy(a);
    return failed ? CLI_FAILED : status;
}
