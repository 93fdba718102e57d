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

struct tuner {
    struct hd_cmd *c;
    hd_arena *a;
    const struct hd_tune_device *d;
    void *device;
    struct hd_schedules *db;
    struct hd_tune_list list;
    int threads;
    double end; /* of the time that there is */
    struct hd_table table;
    json_object *rows;
    double log_ratio, log_best; /* of speeds over the peer: schedules; the better of them and it */
    double other_s, best_s;     /* of all works, as often as they are there */
    int n_ratio, n_best, n_faster, measured, known;
};

static void show(struct tuner *t, size_t i, int k, int n, double ratio) {
    char bar[BAR + 1];
    size_t done = t->list.n ? BAR * i / t->list.n : 0;
    for (size_t b = 0; b < BAR; b++) bar[b] = b < done ? '#' : '.';
    bar[BAR] = 0;
    double left = t->end - hd_seconds();
    hd_cmd_progress(t->c, "[%s] %zu of %zu, candidate %d of %d, %.2f of the other's speed, %.0f s",
                    bar, i + 1, t->list.n, k + 1, n, ratio, left > 0 ? left : 0);
}

/* The time of a row, from the database or measured now. */
static hd_status time_of(struct tuner *t, void *trial, const struct hd_candidate *s,
                         struct hd_schedule_row *row) {
    bool found;
    TRY(hd_schedules_get(t->c->ctx, t->db, row, &found));
    t->known += found;
    if (found) return HD_OK;
    row->seconds = 0; /* should it end the process, the next one passes it over */
    TRY(hd_schedules_put(t->c->ctx, t->db, row));
    TRY(t->d->schedule(trial, s, &row->seconds));
    t->measured++;
    return hd_schedules_put(t->c->ctx, t->db, row);
}

/* What else computes a work: the device by itself, and on cpu oneDNN. They are the same for floats.
 */
struct others {
    double own, onednn;
    const char *how;
};

static double speed(double other, double seconds) {
    return seconds > 0 ? other / seconds : 0;
}

static void report(struct tuner *t, const struct hd_tune_work *w, const struct hd_candidate *best,
                   double seconds, const struct others *than, int tried) {
    double peer = than->onednn > 0 ? than->onednn : than->own, ratio = speed(peer, seconds);
    double least = seconds > 0 && seconds < than->own ? seconds : than->own;
    json_object *o = json_object_new_object();
    hd_json_str(o, "work", w->label);
    hd_json_int(o, "times", w->times);
    hd_json_num(o, "seconds", seconds);
    hd_json_num(o, "other_seconds", than->own);
    hd_json_str(o, "other", than->how);
    hd_json_num(o, "onednn_seconds", than->onednn);
    hd_json_int(o, "candidates", tried);
    hd_json_str(o, "schedule", best ? best->schedule : NULL);
    json_object_array_add(t->rows, o);
    hd_table_cell(&t->table, "%s", w->label);
    hd_table_cell(&t->table, "%d", w->times);
    hd_table_cell(&t->table, "%d", tried);
    hd_table_cell(&t->table, "%.3f", 1e3 * seconds);
    hd_table_cell(&t->table, "%.1f", speed(w->macs * 1e-9, seconds));
    hd_table_cell(&t->table, "%.3f", 1e3 * than->own);
    hd_table_cell(&t->table, "%s", than->how);
    if (t->d->onednn) hd_table_cell(&t->table, "%.3f", 1e3 * than->onednn);
    hd_table_cell(&t->table, "%.2f", ratio);
    if (!t->d->onednn) hd_table_cell(&t->table, "%s", best ? best->schedule : "");
    t->other_s += w->times * than->own;
    t->best_s += w->times * least;
    if (least > 0) t->log_best += log(peer / least), t->n_best++, t->n_faster += peer > least;
    if (ratio > 0) t->log_ratio += log(ratio), t->n_ratio++;
}

static hd_status tune_work(struct tuner *t, size_t i) {
    struct hd_tune_work *w = &t->list.work[i];
    struct hd_candidate *list = NULL, *best = NULL;
    struct others than = {.how = "?"};
    double least = 0;
    void *trial = NULL;
    TRY(hd_note(t->c->ctx, t->d->open(t->device, w, &trial), "while tuning %s", w->label));
    const char *key = t->d->key(trial);
    int n = t->d->space(trial, t->a, &list), tried = 0;
    if (n > CANDIDATES) n = CANDIDATES;
    hd_status s = t->d->other(trial, &than.own, &than.how);
    struct hd_schedule_row row = {key, w->name, "", than.own};
    if (!strcmp(than.how, "onednn")) than.onednn = than.own;
    if (s == HD_OK && w->w.bytes && t->d->onednn) s = t->d->onednn(trial, &than.onednn);
    if (s == HD_OK) s = hd_schedules_put(t->c->ctx, t->db, &row);
    double start = hd_seconds(), share = (t->end - start) / (double)(t->list.n - i);
    for (int k = 0; k < n && s == HD_OK; k++) {
        if (tried && hd_seconds() - start > share) break;
        show(t, i, k, n, speed(than.own, least));
        row = (struct hd_schedule_row){key, w->name, list[k].schedule, 0};
        s = hd_continue(t->c->ctx);
        if (s == HD_OK) s = time_of(t, trial, &list[k], &row);
        tried++;
        if (s != HD_OK || row.seconds <= 0 || (least > 0 && row.seconds >= least)) continue;
        least = row.seconds;
        best = &list[k];
    }
    if (s == HD_OK) report(t, w, best, least, &than, tried);
    t->d->close(trial);
    return hd_note(t->c->ctx, s, "while tuning %s", w->label);
}

static hd_status tune(struct tuner *t) {
    TRY(t->d->start(t->c, t->threads, &t->device));
    for (int i = 0; i < t->c->n_args; i++)
        TRY(t->d->find(t->device, t->a, t->c->args[i], &t->list));
    if (!t->list.n) return hd_fail(t->c->ctx, HD_INVALID, "%s: no %s", t->c->args[0], t->d->works);
    TRY(hd_schedules_open(t->c->ctx, t->c->opt.run.db, true, &t->db));
    for (size_t i = 0; i < t->list.n; i++) TRY(tune_work(t, i));
    return HD_OK;
}

static void print_sum(const struct tuner *t, double mean, double best) {
    if (t->d->onednn)
        printf(
            "\n%zu works, %d threads, instruction sets at most %s: schedules have %.2f of oneDNN's "
            "speed (geometric mean), with what cpu has by itself %.2f, faster on %d; %d schedules "
            "measured, %d known before\n",
            t->list.n, t->threads, getenv("DNNL_MAX_CPU_ISA"), mean, best, t->n_faster, t->measured,
            t->known);
    else
        printf("\n%zu works: schedules have %.2f of the speed of what %s has by itself (geometric "
               "mean), the better of both %.2f, faster on %d; all works together %.3f ms instead "
               "of %.3f; %d schedules measured, %d known before\n",
               t->list.n, mean, t->d->scheme, best, t->n_faster, 1e3 * t->best_s, 1e3 * t->other_s,
               t->measured, t->known);
}

static int finish(struct tuner *t) {
    double mean = t->n_ratio ? exp(t->log_ratio / t->n_ratio) : 0;
    double best = t->n_best ? exp(t->log_best / t->n_best) : 0;
    if (!hd_cmd_json_on_stdout(t->c)) {
        hd_table_print(&t->table, stdout);
        print_sum(t, mean, best);
    }
    if (!t->c->opt.json) return HD_EXIT_DONE;
    json_object *o = json_object_new_object();
    hd_json_str(o, "schema", "heddle.tune/1");
    hd_json_str(o, "device", t->d->scheme);
    hd_json_int(o, "threads", t->threads);
    hd_json_str(o, "isa", t->d->onednn ? getenv("DNNL_MAX_CPU_ISA") : NULL);
    hd_json_num(o, "mean_speed", mean);
    hd_json_num(o, "best_speed", best);
    hd_json_int(o, "faster", t->n_faster);
    json_object_object_add(o, "works", json_object_get(t->rows));
    return hd_cmd_write_json(t->c, o);
}

static void head(struct tuner *t) {
    static const char *const of_cpu[] = {"work",   "times",  "tried",     "ms",   "GMAC/s",
                                         "cpu ms", "cpu is", "oneDNN ms", "speed"};
    static const char *const of_gpu[] = {"work",   "times",  "tried", "ms",      "GMAC/s",
                                         "own ms", "own is", "speed", "schedule"};
    hd_table_init(&t->table, t->d->onednn ? "lrrrrrlrr" : "lrrrrrlrl");
    hd_table_cells(&t->table, t->d->onednn ? of_cpu : of_gpu, 9);
}

int hd_tune(struct hd_cmd *c) {
    static const struct hd_tune_device *const all[] = {&hd_tune_cpu, &hd_tune_opencl,
                                                       &hd_tune_cuda};
    struct tuner t = {.c = c,
                      .threads = c->opt.threads ? c->opt.threads : 1,
                      .end = hd_seconds() + (c->opt.run.seconds ? c->opt.run.seconds : 1200)};
    if (!c->opt.run.db) return hd_cmd_usage(c, "--db FILE is missing: where schedules are kept");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i]->scheme, c->opt.device)) t.d = all[i];
    if (!t.d)
        return hd_cmd_usage(c, "device %s takes no schedules; cpu, opencl and cuda do",
                            c->opt.device);
    t.a = hd_arena_create();
    t.rows = json_object_new_array();
    if (!hd_threads_open(t.threads)) t.threads = 1;
    head(&t);
    hd_status s = tune(&t);
    hd_cmd_progress_end(c);
    int status = s == HD_OK ? finish(&t) : hd_cmd_fail(c);
    json_object_put(t.rows);
    hd_schedules_close(t.db);
    if (t.device) t.d->end(t.device);
    hd_arena_destroy(t.a);
    return status;
}
