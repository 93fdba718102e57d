/* heddle bench memory: temporaries of whole graphs, as golden and cpu get them: each with memory of
 * its own, as planned, and the least that their lifetimes allow. */
#include "compiler/bench/bench.h"
#include "compiler/command/table.h"
#include "compiler/session/session.h"

#include <string.h>

static double ratio(int64_t a, int64_t b) {
    return b ? (double)a / (double)b : 1;
}

static void add_row(const char *name, const hd_model *m, struct hd_table *t, json_object *list) {
    json_object *o = json_object_new_object();
    hd_table_cell(t, "%s", name);
    hd_table_cell(t, "%lld", (long long)m->naive_bytes);
    hd_table_cell(t, "%lld", (long long)m->planned_bytes);
    hd_table_cell(t, "%lld", (long long)m->lower_bound_bytes);
    hd_table_cell(t, "%.3f", ratio(m->planned_bytes, m->lower_bound_bytes));
    hd_table_cell(t, "%.2f", ratio(m->naive_bytes, m->planned_bytes));
    hd_json_str(o, "model", name);
    hd_json_int(o, "naive_bytes", m->naive_bytes);
    hd_json_int(o, "planned_bytes", m->planned_bytes);
    hd_json_int(o, "lower_bound_bytes", m->lower_bound_bytes);
    hd_json_num(o, "over_bound", ratio(m->planned_bytes, m->lower_bound_bytes));
    hd_json_num(o, "under_naive", ratio(m->naive_bytes, m->planned_bytes));
    json_object_array_add(list, o);
}

int hd_bench_memory(struct hd_cmd *c, char **models, int n) {
    hd_arena *a = hd_arena_create();
    json_object *list = json_object_new_array();
    struct hd_table t;
    int failed = 0;
    hd_table_init(&t, "lrrrrr");
    hd_table_cells(
        &t,
        (const char *[]){"network", "naive bytes", "planned", "bound", "over bound", "under naive"},
        6);
    for (int i = 0; i < n; i++) {
        hd_model *m = NULL;
        const char *path = NULL;
        hd_cmd_progress(c, "%d of %d: %s", i + 1, n, models[i]);
        hd_status s = hd_model_path(c, a, models[i], &path);
        if (s == HD_OK) s = hd_open_model(c, path, true, &m);
        if (s == HD_OK) {
            add_row(hd_short_name(a, path), m, &t, list);
        } else {
            hd_note(c->ctx, s, "in benchmark %s", models[i]);
            hd_cmd_fail(c);
            hd_clear(c->ctx);
            failed++;
        }
        hd_model_destroy(m);
    }
    hd_cmd_progress_end(c);
    hd_table_print(&t, hd_cmd_json_on_stdout(c) ? stderr : stdout);
    int status = HD_EXIT_DONE;
    if (c->opt.json) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "schema", "heddle.bench.memory/1");
        json_object_object_add(o, "networks", list);
        status = hd_cmd_write_json(c, o);
    } else {
        json_object_put(list);
    }
    hd_arena_destroy(a);
    return failed ? HD_EXIT_FAILED : status;
}
