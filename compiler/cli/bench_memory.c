/* heddle bench memory: temporaries of whole graphs, as golden and cpu get them: each with memory of
 * its own, as planned, and the least that their lifetimes allow. */
#include "compiler/cli/cli.h"

#include <string.h>

static double ratio(int64_t a, int64_t b) {
    return b ? (double)a / (double)b : 1;
}

static void add_row(const char *name, const hd_model *m, struct cli_table *t, json_object *list) {
    json_object *o = json_object_new_object();
    cli_cell(t, "%s", name);
    cli_cell(t, "%lld", (long long)m->naive_bytes);
    cli_cell(t, "%lld", (long long)m->planned_bytes);
    cli_cell(t, "%lld", (long long)m->lower_bound_bytes);
    cli_cell(t, "%.3f", ratio(m->planned_bytes, m->lower_bound_bytes));
    cli_cell(t, "%.2f", ratio(m->naive_bytes, m->planned_bytes));
    cli_add_str(o, "model", name);
    cli_add_int(o, "naive_bytes", m->naive_bytes);
    cli_add_int(o, "planned_bytes", m->planned_bytes);
    cli_add_int(o, "lower_bound_bytes", m->lower_bound_bytes);
    cli_add_num(o, "over_bound", ratio(m->planned_bytes, m->lower_bound_bytes));
    cli_add_num(o, "under_naive", ratio(m->naive_bytes, m->planned_bytes));
    json_object_array_add(list, o);
}

int cli_bench_memory(struct cli *c, char **models, int n) {
    hd_arena *a = hd_arena_create();
    json_object *list = json_object_new_array();
    struct cli_table t;
    int failed = 0;
    cli_table_init(&t, "lrrrrr");
    cli_cells(
        &t,
        (const char *[]){"network", "naive bytes", "planned", "bound", "over bound", "under naive"},
        6);
    for (int i = 0; i < n; i++) {
        hd_model *m = NULL;
        const char *path = NULL;
        cli_progress(c, "%d of %d: %s", i + 1, n, models[i]);
        hd_status s = cli_model_path(c, a, models[i], &path);
        if (s == HD_OK) s = cli_open_model(c, path, true, &m);
        if (s == HD_OK) {
            add_row(cli_short_name(a, path), m, &t, list);
        } else {
            hd_note(c->ctx, s, "in benchmark %s", models[i]);
            cli_fail(c);
            hd_clear(c->ctx);
            failed++;
        }
        hd_model_destroy(m);
    }
    cli_progress_end(c);
    cli_table_print(&t, cli_json_on_stdout(c) ? stderr : stdout);
    int status = CLI_DONE;
    if (c->opt.json) {
        json_object *o = json_object_new_object();
        cli_add_str(o, "schema", "heddle.bench.memory/1");
        json_object_object_add(o, "networks", list);
        status = cli_write_json(c, o);
    } else {
        json_object_put(list);
    }
    hd_arena_destroy(a);
    return failed ? CLI_FAILED : status;
}
