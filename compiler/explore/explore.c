/* heddle explore and heddle sweep.
 *
 * Candidates are looked at in one order, in rounds. What is over a limit, or beaten by the front
 * even at its bound, is left out; the others of a round are priced, and the front is made anew. So
 * what is priced does not depend on which worker was sooner, nor on a kill in between.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/explore/explore.h"

enum { ROUND = 32 };

struct search {
    struct hd_answer x;
    struct hd_journal *journal;
    struct hd_point **order;
    size_t at, priced_here; /* looked at; priced by this process */
    double start;
};

/* ---- order ---------------------------------------------------------------------------------- */

static double memory_of(const struct hd_machine *m) {
    return log2(m->xm_bytes) + log2(m->wm_bytes) + log2(m->am_bytes) + log2(m->pm_bytes);
}

/* Machines of the same array and port together, most memory first, ... */
static int by_array(const void *x, const void *y) {
    const struct hd_machine *a = &(*(struct hd_point *const *)x)->m,
                            *b = &(*(struct hd_point *const *)y)->m;
    if (a->k != b->k) return a->k < b->k ? 1 : -1;
    if (a->n != b->n) return a->n < b->n ? 1 : -1;
    if (a->axi_bits != b->axi_bits) return a->axi_bits < b->axi_bits ? 1 : -1;
    double p = memory_of(a), q = memory_of(b);
    if (p != q) return p < q ? 1 : -1;
    return x < y ? -1 : 1;
}

static bool same_array(const struct hd_point *p, const struct hd_point *q) {
    return p->m.k == q->m.k && p->m.n == q->m.n && p->m.axi_bits == q->m.axi_bits;
}

struct ranked {
    struct hd_point *p;
    size_t rank; /* among those of its array */
};

static int by_rank(const void *x, const void *y) {
    const struct ranked *a = x, *b = y;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    double p = a->p->least * a->p->area.lut, q = b->p->least * b->p->area.lut;
    if (p != q) return p < q ? -1 : 1;
    return a->p < b->p ? -1 : a->p > b->p;
}

/* ... and then one of each array in turn: what is large at first tells most. */
static void put_in_order(struct search *s, bool as_is) {
    struct hd_space *space = &s->x.space;
    hd_arena *a = s->x.a;
    struct ranked *list = hd_new_array(a, struct ranked, space->n + 1);
    s->order = hd_new_array(a, struct hd_point *, space->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < space->n; i++) {
        struct hd_point *p = &space->at[i];
        p->why = as_is ? NULL : hd_point_hopeless(a, p, s->x.nets, &s->x.goal);
        if (p->why)
            s->x.hopeless++;
        else
            s->order[n++] = p;
    }
    s->x.left = n;
    if (as_is) return;
    qsort(s->order, n, sizeof *s->order, by_array);
    for (size_t i = 0; i < n; i++) {
        bool next = i && same_array(s->order[i], s->order[i - 1]);
        list[i] = (struct ranked){s->order[i], next ? list[i - 1].rank + 1 : 0};
    }
    qsort(list, n, sizeof *list, by_rank);
    for (size_t i = 0; i < n; i++) s->order[i] = list[i].p;
}

/* ---- rounds --------------------------------------------------------------------------------- */

static void show_progress(const struct search *s, const char *what, double done, double all) {
    double spent = hd_seconds() - s->start;
    double left = done > 0 ? spent / done * (all - done) : 0;
    hd_cmd_progress(s->x.c, "%s %.0f of at most %.0f, about %.0f min left", what, done, all,
                    ceil(left / 60));
}

static void priced(void *user, struct hd_point *p) {
    struct search *s = user;
    double all = fmin(s->x.goal.limits.machines, (double)(s->x.left + s->x.priced));
    hd_journal_add(s->journal, p);
    s->priced_here++;
    show_progress(s, "priced", (double)s->priced_here, all);
}

/* The next candidates that are worth a price; out has room for ROUND. */
static size_t next_round(struct search *s, size_t n, struct hd_point **out, bool as_is) {
    size_t k = 0;
    for (; s->at < n && k < ROUND; s->at++) {
        struct hd_point *p = s->order[s->at];
        s->x.left--;
        p->removed = !as_is && hd_front_beats(&s->x.space, p, s->x.nets, &s->x.goal);
        if (p->removed)
            s->x.beaten++;
        else if ((double)(s->x.priced + k) >= s->x.goal.limits.machines)
            break;
        else
            out[k++] = p;
    }
    s->x.left += s->at < n && k < ROUND; /* of the one that broke off */
    return k;
}

static bool run_rounds(struct search *s, bool as_is) {
    struct hd_point *round[ROUND], *todo[ROUND];
    size_t n = s->x.left, k;
    double most = s->x.goal.limits.seconds;
    while ((k = next_round(s, n, round, as_is)) > 0) {
        struct hd_work_list w = {.c = s->x.c,
                                 .nets = s->x.nets,
                                 .jobs = s->x.c->opt.explore.jobs,
                                 .points = todo,
                                 .done = priced,
                                 .user = s,
                                 .until = isfinite(most) ? s->start + most : 0};
        for (size_t i = 0; i < k; i++)
            if (!round[i]->priced) todo[w.n++] = round[i];
        bool all = !w.n || hd_work_all(&w);
        for (size_t i = 0; i < k; i++) {
            if (!round[i]->priced) continue;
            hd_point_judge(s->x.a, round[i], s->x.nets, &s->x.goal);
            s->x.priced++;
        }
        hd_front_mark(&s->x.space, &s->x.goal);
        if (!all) return false;
    }
    return true;
}

/* ---- the answer ----------------------------------------------------------------------------- */

static void confirmed(void *user, struct hd_point *p) {
    struct search *s = user;
    (void)p;
    hd_cmd_progress(s->x.c, "front on %s: %zu machines", s->x.device, ++s->at);
}

static void confirm(struct search *s, bool all) {
    const char *device = s->x.c->opt.explore.confirm ? s->x.c->opt.explore.confirm
                         : all                       ? "none"
                                                     : "iss";
    struct hd_work_list w = {.c = s->x.c,
                             .nets = s->x.nets,
                             .jobs = s->x.c->opt.explore.jobs,
                             .folder = s->x.folder,
                             .done = confirmed,
                             .user = s};
    if (!strcmp(device, "none") || hd_interrupted()) return;
    w.points = hd_points(s->x.a, &s->x.space, all, &w.n);
    w.device = s->x.device = device;
    s->at = 0;
    hd_work_all(&w);
}

static void print_summary(const struct hd_answer *x, FILE *out) {
    size_t n;
    hd_points(x->a, &x->space, false, &n);
    fprintf(out,
            "\n%zu machines on the front%s%s; of %zu candidates %zu were priced in %.0f s, %zu are "
            "over a limit, %zu are beaten by their bounds, %zu were not looked at\n",
            n, x->goal.board.name ? ", board " : "", x->goal.board.name ? x->goal.board.name : "",
            x->space.n, x->priced, x->seconds, x->hopeless, x->beaten, x->left);
    if (x->left && !hd_interrupted())
        fprintf(out, "so the front is of what was priced: --limit machines=N prices more\n");
    if (hd_interrupted())
        fprintf(out, "interrupted; the same command goes on from %s/%s\n", x->folder,
                HD_EXPLORE_JOURNAL);
    fprintf(out, "energy is an estimate from counts (docs/explore.md); no board was measured\n");
}

/* The best by the first objective for a port of at most so many GB/s. */
static const struct hd_point *best_below(const struct hd_answer *x, double gbs) {
    const struct hd_point *best = NULL;
    for (size_t i = 0; i < x->space.n; i++) {
        const struct hd_point *p = &x->space.at[i];
        double asks = hd_axi_bytes(&p->m) * (double)p->m.clock_mhz * 1e-3;
        if (p->priced && !p->why && asks <= gbs && (!best || p->value[0] < best->value[0]))
            best = p;
    }
    return best;
}

static void print_bandwidth(const struct hd_answer *x, FILE *out) {
    double gbs = x->goal.limits.gbs, times = x->goal.limits.gbs_times;
    if (!times) return;
    const struct hd_point *now = best_below(x, gbs), *then = best_below(x, gbs * times);
    if (!now || !then) return;
    fprintf(out, "%g GB/s: %.4g ms with %.0f LUT; %g GB/s: %.4g ms with %.0f LUT, %+.1f %%\n", gbs,
            hd_point_seconds(now, x->nets) * 1e3, now->area.lut, gbs * times,
            hd_point_seconds(then, x->nets) * 1e3, then->area.lut,
            100 * (hd_point_seconds(then, x->nets) / hd_point_seconds(now, x->nets) - 1));
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

static hd_status search(struct search *s, bool all, struct hd_nets *nets) {
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
    s->start = hd_seconds();
    put_in_order(s, all);
    run_rounds(s, all);
    s->x.seconds = hd_seconds() - s->start;
    confirm(s, all);
    hd_cmd_progress_end(c);
    return write_files(s, all);
}

static int run(struct hd_cmd *c, bool all) {
    struct search s = {.x = {.c = c, .a = hd_arena_create()}};
    struct hd_nets nets = {.n = 0};
    s.x.folder = c->opt.out ? c->opt.out : all ? "sweep.out" : "explore.out";
    if (!c->opt.explore.jobs) c->opt.explore.jobs = 2;
    hd_status ok = search(&s, all, &nets);
    int status = ok == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    FILE *out = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    if (ok == HD_OK) {
        hd_answer_print(&s.x, all, out);
        print_summary(&s.x, out);
        print_bandwidth(&s.x, out);
        if (c->opt.json) status = hd_cmd_write_json(c, hd_answer_json(&s.x, all));
    }
    if (ok == HD_OK && hd_interrupted()) status = HD_EXIT_FAILED;
    hd_journal_close(s.journal);
    hd_nets_close(&nets);
    hd_arena_destroy(s.x.a);
    return status;
}

int hd_explore(struct hd_cmd *c) {
    return run(c, false);
}

int hd_sweep(struct hd_cmd *c) {
    return run(c, true);
}
