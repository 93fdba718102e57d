/* heddle choose: the ways to run a network by what they are expected to take, the best first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/choose/choose.h"
#include "compiler/command/table.h"

struct offer {
    const struct hd_way *way;
    double facts[HD_FACTS];
    struct hd_expected expected;
    double seconds; /* a sample; infinite: nothing is known */
    int rows;       /* that the model is fitted to */
    const char *why_not;
};

static int by_seconds(const void *a, const void *b) {
    double x = ((const struct offer *)a)->seconds, y = ((const struct offer *)b)->seconds;
    return (x > y) - (x < y);
}

/* The same work: plans of a device do not depend on threads so much. */
static bool same_work(const struct hd_way *a, const struct hd_way *b) {
    return a->int8 == b->int8 && a->batch == b->batch && !strcmp(a->device, b->device) &&
           hd_is_graph_device(a->device);
}

static hd_status facts_of(struct hd_cmd *c, const struct hd_choice *net, struct offer *all, int i) {
    for (int k = 0; k < i; k++)
        if (same_work(all[k].way, all[i].way)) {
            memcpy(all[i].facts, all[k].facts, sizeof all[i].facts);
            all[i].why_not = all[k].why_not;
            return HD_OK;
        }
    hd_cmd_progress(c, "%s %s", all[i].way->kind, all[i].way->variant);
    return hd_choice_facts(c, net, all[i].way, all[i].facts);
}

/* By the model, and as it was measured before in this way. */
static void expect(hd_arena *a, const struct hd_choice *net, const struct hd_run_row *rows,
                   size_t n, struct offer *o) {
    const char *facts = hd_facts_text(a, o->facts);
    o->expected = (struct hd_expected){hd_way_family(a, o->way->kind), INFINITY, 1, 0};
    if (o->why_not) return;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(rows[i].network, net->name) && !strcmp(rows[i].kind, o->way->kind) &&
            !strcmp(rows[i].variant, o->way->variant) && !strcmp(rows[i].facts, facts))
            o->expected.measured = rows[i].seconds / rows[i].samples;
    struct hd_rates fit = hd_rates_fit(rows, n, o->way->kind, NULL);
    if (!fit.rows) return;
    o->expected.model = hd_rates_seconds(&fit, o->facts) / o->way->batch;
    o->expected.factor = fit.error;
    o->rows = fit.rows;
}

/* Runs the ways that may be the fastest, and says what each takes. A way that fails is none, but
 * for a file that cannot be read or written. */
static hd_status measure(struct hd_cmd *c, hd_arena *a, const struct hd_choice *net,
                         struct offer *all, int n) {
    struct hd_expected *of = hd_new_array(a, struct hd_expected, (size_t)n + 1);
    struct hd_schedules *db = NULL;
    for (int i = 0; i < n; i++) of[i] = all[i].expected;
    if (c->opt.run.measure) TRY(hd_schedules_open(c->ctx, c->opt.run.db, true, &db));
    hd_status s = HD_OK;
    for (int k = 0, i; s != HD_IO && k < c->opt.run.measure && (i = hd_next_to_measure(of, n)) >= 0;
         k++) {
        s = hd_choice_keep(c, a, net, all[i].way, db, &of[i].measured);
        if (s == HD_OK || s == HD_IO) continue;
        all[i].why_not = hd_strdup(a, hd_message(c->ctx));
        of[i] = (struct hd_expected){of[i].family, INFINITY, 1, 0};
        hd_clear(c->ctx);
    }
    hd_schedules_close(db);
    if (s == HD_IO)
        return hd_note(c->ctx, s, "while measuring; --measure 0 runs and keeps nothing");
    for (int i = 0; i < n; i++) {
        all[i].expected = of[i];
        all[i].seconds = hd_expected_seconds(of, n, i);
    }
    return HD_OK;
}

/* What makes `heddle run` run it so. */
static const char *options_of(hd_arena *a, const struct hd_way *w) {
    const char *text = hd_sprintf(a, "--device %s", w->device);
    if (w->machine) text = hd_sprintf(a, "%s --machine %s", text, w->machine);
    if (w->threads) text = hd_sprintf(a, "%s --threads %d", text, w->threads);
    return text;
}

static void print_offer(hd_arena *a, const struct offer *o, struct hd_table *t, json_object *list) {
    json_object *j = json_object_new_object();
    bool measured = o->expected.measured > 0;
    const char *by = measured
                         ? "measured"
                         : hd_sprintf(a, "%d runs, a factor of %.2f", o->rows, o->expected.factor);
    hd_table_cell(t, "%s", options_of(a, o->way));
    hd_table_cell(t, "%s", o->way->int8 ? "int8" : "float");
    hd_table_cell(t, "%d", o->way->batch);
    hd_table_cell(t, "%.4g", 1e3 * o->seconds);
    hd_table_cell(t, "%.4g", 1 / o->seconds);
    hd_table_cell(t, "%s", by);
    hd_json_str(j, "options", options_of(a, o->way));
    hd_json_str(j, "device", o->way->device);
    hd_json_str(j, "machine", o->way->machine);
    hd_json_str(j, "precision", o->way->int8 ? "int8" : "float");
    hd_json_int(j, "threads", o->way->threads);
    hd_json_int(j, "batch", o->way->batch);
    hd_json_num(j, "ms", 1e3 * o->seconds);
    hd_json_num(j, "factor", measured ? 1 : o->expected.factor);
    hd_json_int(j, "runs", measured ? 0 : o->rows);
    json_object_array_add(list, j);
}

static hd_status print(struct hd_cmd *c, hd_arena *a, const struct hd_choice *net,
                       struct offer *all, int n, json_object *list) {
    FILE *out = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    struct hd_table t;
    hd_table_init(&t, "llrrrl");
    hd_table_cells(
        &t, (const char *[]){"options", "precision", "samples", "ms a sample", "a second", "by"},
        6);
    qsort(all, (size_t)n, sizeof *all, by_seconds);
    for (int i = 0; i < n && isfinite(all[i].seconds); i++) print_offer(a, &all[i], &t, list);
    bool cannot = n > 0;
    for (int i = 0; i < n; i++) cannot = cannot && all[i].why_not;
    if (cannot) return hd_fail(c->ctx, HD_UNSUPPORTED, "%s", all[0].why_not);
    if (!n || !isfinite(all[0].seconds))
        return hd_fail(c->ctx, HD_UNSUPPORTED,
                       "%s: no runs of these ways are known for this computer; heddle bench choose "
                       "MODEL... --db FILE, bench tiny and bench deepbench measure some",
                       c->opt.run.db);
    const struct hd_way *best = all[0].way;
    fprintf(out, "%s: %s, %s, %d a run\n\n", net->name, options_of(a, best),
            best->int8 ? net->float_path ? "int8 by heddle quantize" : "int8" : "float",
            best->batch);
    hd_table_print(&t, out);
    return HD_OK;
}

/* Runs that the database has of this computer. */
static hd_status read_runs(struct hd_cmd *c, hd_arena *a, struct hd_run_row **out, size_t *out_n) {
    struct hd_schedules *db = NULL;
    TRY(hd_schedules_open(c->ctx, c->opt.run.db, false, &db));
    hd_status s = hd_runs_of(c->ctx, a, db, hd_this_computer(a), out, out_n);
    hd_schedules_close(db);
    return s;
}

static hd_status choose(struct hd_cmd *c, hd_arena *a, const char *folder, struct hd_choice *net,
                        json_object *o) {
    struct hd_way *ways = hd_new_array(a, struct hd_way, HD_WAYS);
    struct hd_run_row *rows = NULL;
    size_t n_rows = 0;
    int n;
    TRY(hd_ways_list(c, a, ways, &n));
    TRY(read_runs(c, a, &rows, &n_rows));
    TRY(hd_choice_open(c, a, c->args[0], folder, net));
    struct offer *all = hd_new_array(a, struct offer, (size_t)n + 1);
    for (int i = 0; i < n; i++) {
        all[i] = (struct offer){.way = &ways[i]};
        if (facts_of(c, net, all, i) != HD_OK) all[i].why_not = hd_strdup(a, hd_message(c->ctx));
        hd_clear(c->ctx);
        expect(a, net, rows, n_rows, &all[i]);
    }
    TRY(measure(c, a, net, all, n));
    hd_cmd_progress_end(c);
    json_object *list = json_object_new_array();
    hd_json_str(o, "model", net->name);
    hd_json_str(o, "computer", hd_this_computer(a));
    json_object_object_add(o, "ways", list);
    return print(c, a, net, all, n, list);
}

int hd_choose(struct hd_cmd *c) {
    if (!c->opt.run.db)
        return hd_cmd_usage(c, "wants --db FILE with measured runs; heddle bench choose makes it");
    hd_arena *a = hd_arena_create();
    const char *folder = NULL;
    struct hd_choice net = {0};
    json_object *o = json_object_new_object();
    hd_json_str(o, "schema", "heddle.choose/1");
    hd_status s = hd_cmd_temp_folder(c, a, &folder);
    if (s == HD_OK) s = choose(c, a, folder, &net, o);
    hd_cmd_progress_end(c);
    int status = s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    if (s == HD_OK && c->opt.json)
        status = hd_cmd_write_json(c, o);
    else
        json_object_put(o);
    if (net.float_path && net.int8_path) remove(net.int8_path);
    if (folder) rmdir(folder);
    hd_arena_destroy(a);
    return status;
}
