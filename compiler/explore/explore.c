/* heddle explore and heddle sweep. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/explore/explore.h"

struct search {
    struct hd_answer x;
    struct hd_journal *journal;
    struct hd_schedule *schedule;
    struct hd_far *far;
    size_t here; /* priced, or confirmed, by this process and its ranks */
    double start;
};

/* ---- prices --------------------------------------------------------------------------------- */

static void show_progress(const struct search *s, double done, double all) {
    double spent = hd_seconds() - s->start;
    double left = done > 0 ? spent / done * (all - done) : 0;
    hd_cmd_progress(s->x.c, "priced %.0f of at most %.0f, about %.0f min left", done, all,
                    ceil(left / 60));
}

static struct hd_point *next(void *user, bool *more) {
    struct search *s = user;
    *more = false;
    return hd_schedule_next(s->schedule);
}

static void priced(void *user, struct hd_point *p) {
    struct search *s = user;
    struct hd_scheduled n = hd_schedule_count(s->schedule);
    double all = fmin(s->x.goal.limits.machines, (double)(n.left + n.priced));
    hd_journal_add(s->journal, p);
    hd_schedule_done(s->schedule, p);
    s->here++;
    show_progress(s, (double)s->here, all);
}

static void price_all(struct search *s) {
    double most = s->x.goal.limits.seconds;
    struct hd_work_list w = {.c = s->x.c,
                             .nets = s->x.nets,
                             .jobs = s->x.c->opt.explore.jobs,
                             .next = next,
                             .done = priced,
                             .user = s,
                             .far = s->far,
                             .until = isfinite(most) ? s->start + most : 0};
    hd_work_all(&w);
    s->x.count = hd_schedule_count(s->schedule);
    s->x.seconds = hd_seconds() - s->start;
}

/* ---- the answer ----------------------------------------------------------------------------- */

static void confirmed(void *user, struct hd_point *p) {
    struct search *s = user;
    (void)p;
    hd_cmd_progress(s->x.c, "front on %s: %zu machines", s->x.device, ++s->here);
}

static void confirm(struct search *s, bool all) {
    const char *device = s->x.c->opt.explore.confirm ? s->x.c->opt.explore.confirm
                         : all                       ? "none"
                                                     : "iss";
    if (!strcmp(device, "none") || hd_interrupted()) return;
    struct hd_work_list w = {.c = s->x.c,
                             .nets = s->x.nets,
                             .jobs = s->x.c->opt.explore.jobs,
                             .device = device,
                             .folder = s->x.folder,
                             .done = confirmed,
                             .user = s};
    size_t n;
    struct hd_point **list = w.points = hd_points(s->x.a, &s->x.space, all, &n);
    for (size_t i = 0; i < n; i++) { /* once for any number of cores */
        if (list[i]->first->confirmed) continue;
        list[i]->first->confirmed = true;
        list[w.n++] = list[i];
    }
    s->x.device = device;
    s->here = 0;
    hd_work_all(&w);
}

static void print_summary(const struct hd_answer *x, FILE *out) {
    size_t n;
    hd_points(x->a, &x->space, false, &n);
    fprintf(out,
            "\n%zu machines on the front%s%s; of %zu candidates %zu were priced in %.0f s, %zu are "
            "over a limit, %zu are beaten by their bounds, %zu were not looked at\n",
            n, x->goal.board.name ? ", board " : "", x->goal.board.name ? x->goal.board.name : "",
            x->space.n_prices, x->count.priced, x->seconds, x->count.hopeless, x->count.beaten,
            x->count.left);
    if (!n && x->count.hopeless && !x->count.left)
        fprintf(out, "no machine keeps all limits: loosen a --limit, or name a larger --board\n");
    if (x->count.left && !hd_interrupted())
        fprintf(out, "so the front is of what was priced: --limit machines=N prices more\n");
    if (hd_interrupted())
        fprintf(out, "interrupted; the same command goes on from %s/%s\n", x->folder,
                HD_EXPLORE_JOURNAL);
    fprintf(out, "energy is an estimate from counts (docs/explore.md); no board was measured\n");
}

/* The best by the first objective with so many times the board's bandwidth. */
static const struct hd_point *best_with(const struct hd_answer *x, double times) {
    const struct hd_point *best = NULL;
    for (size_t i = 0; i < x->space.n; i++) {
        const struct hd_point *p = &x->space.at[i];
        if (p->in_round && !p->why && !hd_point_port_over(x->a, p, &x->goal.limits, times) &&
            (!best || p->value[0] < best->value[0]))
            best = p;
    }
    return best;
}

static void print_bandwidth(const struct hd_answer *x, FILE *out) {
    double gbs = x->goal.limits.gbs, times = x->goal.limits.gbs_times;
    if (!times) return;
    const struct hd_point *now = best_with(x, 1), *then = best_with(x, times);
    if (!now || !then) return;
    double before = hd_point_interval(now, x->nets), after = hd_point_interval(then, x->nets);
    fprintf(out, "%g GB/s: %.4g fps with %.0f LUT; %g GB/s: %.4g fps with %.0f LUT, %+.1f %%\n",
            gbs, 1 / before, now->area.lut, gbs * times, 1 / after, then->area.lut,
            100 * (before / after - 1));
}

static hd_status write_files(struct search *s, bool all) {
    struct hd_cmd *c = s->x.c;
    const char *page = c->opt.report;
    if (!page && !all) page = hd_sprintf(s->x.a, "%s/front.html", s->x.folder);
    if (!all) TRY(hd_answer_machines(&s->x));
    if (page) TRY(hd_answer_page(&s->x, page));
    if (c->opt.csv) TRY(hd_answer_csv(&s->x, c->opt.csv));
    if (all) return HD_OK;
    json_object *o = hd_answer_json(&s->x, false);
    int flags = json_object_to_file_ext(hd_sprintf(s->x.a, "%s/front.json", s->x.folder), o,
                                        JSON_C_TO_STRING_PRETTY);
    json_object_put(o);
    return flags ? hd_fail(c->ctx, HD_IO, "%s/front.json: cannot write", s->x.folder) : HD_OK;
}

static hd_status prepare(struct search *s, bool all, hd_ranks *ranks, struct hd_nets *nets) {
    struct hd_cmd *c = s->x.c;
    hd_arena *a = s->x.a;
    TRY(hd_goal_make(c, a, &s->x.goal));
    TRY(hd_space_make(c, a, !all, &s->x.space));
    if (all) s->x.goal.limits.machines = INFINITY;
    if (mkdir(s->x.folder, 0777) && errno != EEXIST)
        return hd_fail(c->ctx, HD_IO, "%s: cannot make this folder: %s", s->x.folder,
                       strerror(errno));
    TRY(hd_nets_open(c, a, s->x.folder, nets));
    s->x.nets = nets;
    TRY(hd_journal_open(c, a, hd_sprintf(a, "%s/%s", s->x.folder, HD_EXPLORE_JOURNAL), nets,
                        &s->x.space, &s->journal));
    return hd_far_open(c, a, ranks, nets, &s->far);
}

static hd_status search(struct search *s, bool all) {
    s->start = hd_seconds();
    s->schedule = hd_schedule_make(s->x.a, &s->x.space, s->x.nets, &s->x.goal, all);
    price_all(s);
    confirm(s, all);
    TRY(hd_far_close(s->far));
    hd_cmd_progress_end(s->x.c);
    return write_files(s, all);
}

/* What rank 0 does, or a process that is alone. */
static int run_first(struct hd_cmd *c, bool all, hd_ranks *ranks) {
    struct search s = {.x = {.c = c, .a = hd_arena_create()}};
    struct hd_nets nets = {.n = 0};
    s.x.folder = c->opt.out ? c->opt.out : all ? "sweep.out" : "explore.out";
    hd_status ok = prepare(&s, all, ranks, &nets);
    if (ok == HD_OK)
        ok = search(&s, all);
    else
        hd_far_nothing(c->ctx, ranks);
    ok = hd_journal_close(c, s.journal, ok);
    int status = ok == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    FILE *out = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    if (ok == HD_OK) {
        hd_answer_print(&s.x, all, out);
        print_summary(&s.x, out);
        print_bandwidth(&s.x, out);
        if (c->opt.json) status = hd_cmd_write_json(c, hd_answer_json(&s.x, all));
    }
    if (ok == HD_OK && hd_interrupted()) status = HD_EXIT_FAILED;
    hd_nets_close(&nets);
    hd_arena_destroy(s.x.a);
    return status;
}

static int run(struct hd_cmd *c, bool all) {
    hd_ranks *ranks = NULL;
    int status;
    if (hd_ranks_open(c->ctx, &ranks) != HD_OK) return hd_cmd_fail(c);
    if (!c->opt.explore.jobs) c->opt.explore.jobs = hd_ranks_n(ranks) > 1 ? 1 : 2;
    if (hd_ranks_me(ranks))
        status = hd_far_serve(c, ranks) == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    else
        status = run_first(c, all, ranks);
    hd_ranks_close(ranks);
    return status;
}

int hd_explore(struct hd_cmd *c) {
    return run(c, false);
}

int hd_sweep(struct hd_cmd *c) {
    return run(c, true);
}
