/* The command: works in turn, candidates of each in the model's order, as long as time remains.
 * What was measured is in the database at once, so that a run that was stopped goes on. */
#include "compiler/tune/tune_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/command/table.h"
#include "compiler/schedules/schedules.h"
#include "runtime/base/parallel.h"

enum { CANDIDATES = 24, BAR = 20 };
#define ISA "AVX512_CORE_VNNI" /* the widest of oneDNN below AMX */

struct tuner {
    struct hd_cmd *c;
    hd_arena *a;
    struct hd_schedules *db;
    struct hd_tune_work *work;
    size_t n, cap;
    int threads;
    double end; /* of the time that there is */
    struct hd_table table;
    json_object *rows;
    double log_ratio, log_best; /* of speeds over oneDNN: schedules; the better of them and cpu */
    int n_ratio, n_best, n_faster, measured, known;
};

static void show(struct tuner *t, size_t i, int k, int n, double ratio) {
    char bar[BAR + 1];
    size_t done = t->n ? BAR * i / t->n : 0;
    for (size_t b = 0; b < BAR; b++) bar[b] = b < done ? '#' : '.';
    bar[BAR] = 0;
    double left = t->end - hd_seconds();
    hd_cmd_progress(t->c, "[%s] %zu of %zu, candidate %d of %d, %.2f of the other's speed, %.0f s",
                    bar, i + 1, t->n, k + 1, n, ratio, left > 0 ? left : 0);
}

/* The time of a row, from the database or measured now. */
static hd_status time_of(struct tuner *t, struct hd_trial *r, struct hd_schedule_row *row) {
    bool found;
    TRY(hd_schedules_get(t->c->ctx, t->db, row, &found));
    t->known += found;
    if (found) return HD_OK;
    TRY(hd_trial_schedule(r, row->schedule, &row->seconds));
    t->measured++;
    return hd_schedules_put(t->c->ctx, t->db, row);
}

/* What else computes a work: cpu by itself, and oneDNN. They are the same for floats. */
struct others {
    double cpu, onednn;
    const char *how;
};

static double speed(double other, double seconds) {
    return seconds > 0 ? other / seconds : 0;
}

static void report(struct tuner *t, const struct hd_tune_work *w, const struct hd_candidate *best,
                   double seconds, const struct others *than, int tried) {
    double peer = than->onednn > 0 ? than->onednn : than->cpu, ratio = speed(peer, seconds);
    double least = seconds > 0 && seconds < than->cpu ? seconds : than->cpu;
    json_object *o = json_object_new_object();
    hd_json_str(o, "work", w->name);
    hd_json_int(o, "times", w->times);
    hd_json_num(o, "seconds", seconds);
    hd_json_num(o, "other_seconds", than->cpu);
    hd_json_str(o, "other", than->how);
    hd_json_num(o, "onednn_seconds", than->onednn);
    hd_json_int(o, "candidates", tried);
    hd_json_str(o, "schedule", best ? best->schedule : NULL);
    json_object_array_add(t->rows, o);
    hd_table_cell(&t->table, "%s", w->name);
    hd_table_cell(&t->table, "%d", w->times);
    hd_table_cell(&t->table, "%d", tried);
    hd_table_cell(&t->table, "%.3f", 1e3 * seconds);
    hd_table_cell(&t->table, "%.1f", speed((double)hd_tunable_macs(&w->w) * 1e-9, seconds));
    hd_table_cell(&t->table, "%.3f", 1e3 * than->cpu);
    hd_table_cell(&t->table, "%s", than->how);
    hd_table_cell(&t->table, "%.3f", 1e3 * than->onednn);
    hd_table_cell(&t->table, "%.2f", ratio);
    if (least > 0) t->log_best += log(peer / least), t->n_best++, t->n_faster += peer > least;
    if (ratio > 0) t->log_ratio += log(ratio), t->n_ratio++;
}

static hd_status tune_work(struct tuner *t, size_t i) {
    struct hd_tune_work *w = &t->work[i];
    struct hd_trial *r = NULL;
    struct hd_candidate *list = NULL, *best = NULL;
    struct others than = {.how = "?"};
    double least = 0;
    TRY(hd_trial_open(t->c, &w->w, t->threads, &r));
    const char *key = hd_trial_key(r);
    int n = hd_tune_space(t->a, &w->w, hd_trial_lanes(r), &list), tried = 0;
    if (n > CANDIDATES) n = CANDIDATES;
    hd_status s = hd_trial_other(r, &than.cpu, &than.how);
    struct hd_schedule_row row = {key, w->name, "", than.cpu};
    if (!strcmp(than.how, "onednn")) than.onednn = than.cpu;
    if (s == HD_OK && w->w.bytes) s = hd_trial_onednn(r, &than.onednn);
    if (s == HD_OK) s = hd_schedules_put(t->c->ctx, t->db, &row);
    double start = hd_seconds(), share = (t->end - start) / (double)(t->n - i);
    for (int k = 0; k < n && s == HD_OK; k++) {
        if (tried && hd_seconds() - start > share) break;
        show(t, i, k, n, speed(than.cpu, least));
        row = (struct hd_schedule_row){key, w->name, list[k].schedule, 0};
        s = hd_continue(t->c->ctx);
        if (s == HD_OK) s = time_of(t, r, &row);
        tried++;
        if (s != HD_OK || row.seconds <= 0 || (least > 0 && row.seconds >= least)) continue;
        least = row.seconds;
        best = &list[k];
    }
    if (s == HD_OK) report(t, w, best, least, &than, tried);
    hd_trial_close(r);
    return hd_note(t->c->ctx, s, "while tuning %s", w->name);
}

static hd_status tune(struct tuner *t) {
    for (int i = 0; i < t->c->n_args; i++)
        TRY(hd_tune_network(t->c, t->a, t->c->args[i], &t->work, &t->n, &t->cap));
    if (!t->n)
        return hd_fail(t->c->ctx, HD_INVALID, "%s: no convolution or product with constant weights",
                       t->c->args[0]);
    TRY(hd_schedules_open(t->c->ctx, t->c->opt.run.db, true, &t->db));
    for (size_t i = 0; i < t->n; i++) TRY(tune_work(t, i));
    return HD_OK;
}

static int finish(struct tuner *t) {
    double mean = t->n_ratio ? exp(t->log_ratio / t->n_ratio) : 0;
    double best = t->n_best ? exp(t->log_best / t->n_best) : 0;
    if (!hd_cmd_json_on_stdout(t->c)) {
        hd_table_print(&t->table, stdout);
        printf(
            "\n%zu works, %d threads, instruction sets at most %s: schedules have %.2f of oneDNN's "
            "speed (geometric mean), with what cpu has by itself %.2f, faster on %d; %d schedules "
            "measured, %d known before\n",
            t->n, t->threads, getenv("DNNL_MAX_CPU_ISA"), mean, best, t->n_faster, t->measured,
            t->known);
    }
    if (!t->c->opt.json) return HD_EXIT_DONE;
    json_object *o = json_object_new_object();
    hd_json_str(o, "schema", "heddle.tune/1");
    hd_json_int(o, "threads", t->threads);
    hd_json_str(o, "isa", getenv("DNNL_MAX_CPU_ISA"));
    hd_json_num(o, "mean_speed", mean);
    hd_json_num(o, "best_speed", best);
    hd_json_int(o, "faster", t->n_faster);
    json_object_object_add(o, "works", json_object_get(t->rows));
    return hd_cmd_write_json(t->c, o);
}

int hd_tune(struct hd_cmd *c) {
    if (!c->opt.run.db) return hd_cmd_usage(c, "--db FILE is missing: where schedules are kept");
    setenv("DNNL_MAX_CPU_ISA", ISA, 0); /* before oneDNN is opened */
    struct tuner t = {.c = c,
                      .a = hd_arena_create(),
                      .threads = c->opt.threads ? c->opt.threads : 1,
                      .end = hd_seconds() + (c->opt.run.seconds ? c->opt.run.seconds : 1200),
                      .rows = json_object_new_array()};
    if (!hd_threads_open(t.threads)) t.threads = 1;
    hd_table_init(&t.table, "lrrrrrlrr");
    hd_table_cells(&t.table,
                   (const char *[]){"work", "times", "tried", "ms", "GMAC/s", "cpu ms", "cpu is",
                                    "oneDNN ms", "speed"},
                   9);
    hd_status s = tune(&t);
    hd_cmd_progress_end(c);
    int status = s == HD_OK ? finish(&t) : hd_cmd_fail(c);
    json_object_put(t.rows);
    hd_schedules_close(t.db);
    hd_arena_destroy(t.a);
    return status;
}
