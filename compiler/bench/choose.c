/* heddle bench choose: networks in every way that heddle choose knows, measured and kept; then what
 * its choices would have cost on each network, if its model had not seen that one. */
#include <math.h>
#include <string.h>

#include "compiler/bench/bench.h"
#include "compiler/choose/choose.h"
#include "compiler/command/table.h"

static const double CLOSE = 1.1; /* of the best: a good choice */
enum { WAYS_LEAST = 3 };         /* a network that was measured in fewer is no test */

struct tested {
    const char *network;
    const struct hd_run_row *best, *chosen, *confirmed; /* by the model; once some were measured */
    int ways;
};
struct score {
    hd_arena *a;
    const struct hd_run_row *rows;
    size_t n;
    struct tested *of;
    size_t n_of, cap_of;
};

static double a_sample(const struct hd_run_row *r) {
    return r->seconds / r->samples;
}

static double times(const struct hd_run_row *r, const struct hd_run_row *best) {
    return a_sample(r) / a_sample(best);
}

/* The way that is expected to take least; NULL: nothing is known of any. */
static const struct hd_run_row *fastest(const struct hd_run_row *rows, const struct hd_expected *of,
                                        int n) {
    double least = INFINITY;
    const struct hd_run_row *best = NULL;
    for (int i = 0; i < n; i++) {
        double seconds = hd_expected_seconds(of, n, i);
        if (seconds < least) least = seconds, best = &rows[i];
    }
    return best;
}

/* Rows first.. of one network: the best, the one that the model without them takes for it, and the
 * choice once `most` that may be the best were measured. */
static void test_network(struct score *s, size_t first, size_t end, int most) {
    const struct hd_run_row *rows = &s->rows[first];
    struct tested t = {.network = rows->network, .ways = (int)(end - first)};
    struct hd_expected *of = hd_new_array(s->a, struct hd_expected, end - first);
    struct hd_rates fit = {.rows = 0};
    for (int i = 0; i < t.ways; i++) {
        double facts[HD_FACTS];
        if (!i || strcmp(rows[i].kind, rows[i - 1].kind))
            fit = hd_rates_fit(s->rows, s->n, rows[i].kind, t.network);
        if (!t.best || a_sample(&rows[i]) < a_sample(t.best)) t.best = &rows[i];
        of[i] = (struct hd_expected){hd_way_family(s->a, rows[i].kind), INFINITY, fit.error, 0};
        if (fit.rows && hd_facts_read(rows[i].facts, facts))
            of[i].model = hd_rates_seconds(&fit, facts) / rows[i].samples;
    }
    t.chosen = fastest(rows, of, t.ways);
    for (int k = 0, i; k < most && (i = hd_next_to_measure(of, t.ways)) >= 0; k++)
        of[i].measured = a_sample(&rows[i]);
    t.confirmed = fastest(rows, of, t.ways);
    if (t.ways >= WAYS_LEAST && t.chosen) *hd_push(s->a, s->of, s->n_of, s->cap_of) = t;
}

static const char *way_text(hd_arena *a, const struct hd_run_row *r) {
    return hd_sprintf(a, "%s %s", r->kind, r->variant);
}

static bool same_way(const struct hd_run_row *x, const struct hd_run_row *y) {
    return !strcmp(x->kind, y->kind) && !strcmp(x->variant, y->variant);
}

/* The row of a network for a way; NULL: it cannot run so. */
static const struct hd_run_row *find(const struct score *s, const char *network,
                                     const struct hd_run_row *way) {
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->rows[i].network, network) && same_way(&s->rows[i], way)) return &s->rows[i];
    return NULL;
}

struct answers { /* of one answer for each network */
    int close;
    double logs, worst;
};

static void add_answer(const struct score *s, struct answers *x, double off) {
    x->close += off <= CLOSE;
    x->logs += log(off) / (double)s->n_of;
    x->worst = fmax(x->worst, off);
}

/* What a network cannot run counts as its worst way. */
static struct answers constant(const struct score *s, const struct hd_run_row *way) {
    struct answers x = {0, 0, 1};
    for (size_t i = 0; i < s->n_of; i++) {
        const struct tested *t = &s->of[i];
        const struct hd_run_row *r = find(s, t->network, way);
        double off = r ? times(r, t->best) : 1;
        for (size_t k = 0; !r && k < s->n; k++)
            if (!strcmp(s->rows[k].network, t->network))
                off = fmax(off, times(&s->rows[k], t->best));
        add_answer(s, &x, off);
    }
    return x;
}

/* The way that is close to the best on most networks, and ways that are the best of some. */
static const struct hd_run_row *best_constant(const struct score *s, struct answers *out,
                                              int *out_winners, int *out_ways) {
    const struct hd_run_row *best = NULL;
    *out = (struct answers){-1, 0, 1};
    *out_winners = *out_ways = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t k = 0;
        bool wins = false;
        while (k < i && !same_way(&s->rows[k], &s->rows[i])) k++;
        if (k < i) continue;
        struct answers x = constant(s, &s->rows[i]);
        for (size_t t = 0; t < s->n_of; t++) wins = wins || same_way(s->of[t].best, &s->rows[i]);
        *out_winners += wins;
        ++*out_ways;
        if (x.close < out->close || (x.close == out->close && x.logs >= out->logs)) continue;
        *out = x;
        best = &s->rows[i];
    }
    return best;
}

static void put_summary(json_object *o, const char *key, const struct answers *x, const char *way) {
    json_object *j = json_object_new_object();
    hd_json_str(j, "way", way);
    hd_json_int(j, "close", x->close);
    hd_json_num(j, "mean", exp(x->logs));
    hd_json_num(j, "worst", x->worst);
    json_object_object_add(o, key, j);
}

static void print_networks(const struct score *s, struct answers *model, struct answers *confirmed,
                           FILE *out, json_object *list) {
    struct hd_table t;
    hd_table_init(&t, "lrlrlrlr");
    hd_table_cells(&t,
                   (const char *[]){"network", "ways", "best", "ms a sample", "by the model", "off",
                                    "measured", "off"},
                   8);
    for (size_t i = 0; i < s->n_of; i++) {
        const struct tested *x = &s->of[i];
        double off = times(x->chosen, x->best), then = times(x->confirmed, x->best);
        json_object *j = json_object_new_object();
        add_answer(s, model, off);
        add_answer(s, confirmed, then);
        hd_table_cell(&t, "%s", x->network);
        hd_table_cell(&t, "%d", x->ways);
        hd_table_cell(&t, "%s", way_text(s->a, x->best));
        hd_table_cell(&t, "%.4g", 1e3 * a_sample(x->best));
        hd_table_cell(&t, "%s", off > 1 ? way_text(s->a, x->chosen) : "the same");
        hd_table_cell(&t, "%+.0f %%", 100 * (off - 1));
        hd_table_cell(&t, "%s", then > 1 ? way_text(s->a, x->confirmed) : "the same");
        hd_table_cell(&t, "%+.0f %%", 100 * (then - 1));
        hd_json_str(j, "network", x->network);
        hd_json_int(j, "ways", x->ways);
        hd_json_str(j, "best", way_text(s->a, x->best));
        hd_json_str(j, "choice", way_text(s->a, x->chosen));
        hd_json_num(j, "ms", 1e3 * a_sample(x->best));
        hd_json_num(j, "off", off - 1);
        hd_json_str(j, "measured_choice", way_text(s->a, x->confirmed));
        hd_json_num(j, "measured_off", then - 1);
        json_object_array_add(list, j);
    }
    hd_table_print(&t, out);
}

static void print_answers(FILE *out, const char *what, const struct answers *x) {
    fprintf(out, "%s: %d; on average %.1f %% off, at most %.0f %%\n", what, x->close,
            100 * (exp(x->logs) - 1), 100 * (x->worst - 1));
}

/* most: ways that are measured. */
static void print_score(struct score *s, int most, FILE *out, json_object *o) {
    struct answers model = {0, 0, 1}, confirmed = model, same;
    int winners, ways;
    json_object *list = json_object_new_array();
    for (size_t i = 0, end; i < s->n; i = end) {
        for (end = i; end < s->n && !strcmp(s->rows[end].network, s->rows[i].network);) end++;
        test_network(s, i, end, most);
    }
    json_object_object_add(o, "networks", list);
    if (!s->n_of) {
        fprintf(out, "no network was measured in %d ways, so there is nothing to test\n",
                WAYS_LEAST);
        return;
    }
    print_networks(s, &model, &confirmed, out, list);
    const struct hd_run_row *always = best_constant(s, &same, &winners, &ways);
    fprintf(out, "\n%zu networks, %d ways, %d of them the best of some; within %.0f %% of it:\n",
            s->n_of, ways, winners, 100 * (CLOSE - 1));
    print_answers(out, "choices of the model", &model);
    print_answers(out, hd_sprintf(s->a, "choices with %d ways measured", most), &confirmed);
    print_answers(out, hd_sprintf(s->a, "always %s", way_text(s->a, always)), &same);
    hd_json_int(o, "ways", ways);
    hd_json_int(o, "winners", winners);
    hd_json_int(o, "measured_ways", most);
    put_summary(o, "choices", &model, NULL);
    put_summary(o, "measured_choices", &confirmed, NULL);
    put_summary(o, "constant", &same, way_text(s->a, always));
}

hd_status hd_bench_keep(struct hd_cmd *c, const char *const *models, int n) {
    hd_arena *a = hd_arena_create();
    struct hd_schedules *db = NULL;
    hd_status s = hd_schedules_open(c->ctx, c->opt.run.db, true, &db);
    if (s == HD_OK) s = hd_choices_keep(c, a, models, n, db);
    hd_schedules_close(db);
    hd_arena_destroy(a);
    return s;
}

hd_status hd_bench_keep_layer(struct hd_cmd *c, const char *name, hd_graph *g) {
    hd_arena *a = hd_arena_create();
    struct hd_way *ways = hd_new_array(a, struct hd_way, HD_WAYS);
    struct hd_schedules *db = NULL;
    int n = 0;
    hd_status s = hd_schedules_open(c->ctx, c->opt.run.db, true, &db);
    if (s == HD_OK) s = hd_ways_list(c, a, ways, &n);
    for (int i = 0; s == HD_OK && i < n; i++) {
        hd_model *m = NULL;
        if (!ways[i].int8 || ways[i].batch > 1) continue;
        s = hd_way_lower(c, g, &ways[i], &m);
        if (s == HD_OK) s = hd_run_keep(c, a, name, m, "", &ways[i], db, NULL);
        hd_model_destroy(m);
    }
    hd_schedules_close(db);
    hd_arena_destroy(a);
    return s;
}

int hd_bench_choose(struct hd_cmd *c, char **models, int n) {
    if (!c->opt.run.db) return hd_cmd_usage(c, "bench choose wants --db FILE, which keeps runs");
    hd_arena *a = hd_arena_create();
    struct score score = {.a = a};
    struct hd_run_row *rows = NULL;
    struct hd_schedules *db = NULL;
    hd_status s = hd_bench_keep(c, (const char *const *)models, n);
    if (s == HD_OK) s = hd_schedules_open(c->ctx, c->opt.run.db, false, &db);
    if (s == HD_OK) s = hd_runs_of(c->ctx, a, db, hd_this_computer(a), &rows, &score.n);
    score.rows = rows;
    hd_schedules_close(db);
    int status = s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    json_object *o = json_object_new_object();
    hd_json_str(o, "schema", "heddle.bench.choose/1");
    if (s == HD_OK)
        print_score(&score, c->opt.run.measure, hd_cmd_json_on_stdout(c) ? stderr : stdout, o);
    if (s == HD_OK && c->opt.json)
        status = hd_cmd_write_json(c, o);
    else
        json_object_put(o);
    hd_arena_destroy(a);
    return status;
}
