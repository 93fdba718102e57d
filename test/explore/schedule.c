/* heddle explore on many ranks, simulated: the schedule is the real one (compiler/explore), the
 * time of a price is drawn from a journal, and the clock of rank 0 goes on by what the schedule
 * takes.
 *
 * usage: schedule JOURNAL ROWS RANKS,RANKS.. MODEL...     the models of the journal, in its order
 *
 * ROWS: of the space, evenly; 0 = all. A price is the machine's bound times the factor that a
 * machine of the journal is above its own. Exit 1: the front depends on the number of ranks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/explore/explore.h"
#include "runtime/base/num.h"

enum { LINES = 100000, LOOK_US = 2000, MESSAGE_US = 20 };

struct measured {                       /* a line of the journal */
    double us, factor[HD_EXPLORE_NETS]; /* time of the price; cycles by what no plan beats */
};
struct task {
    double end;
    struct hd_point *p;
};
struct simulated {
    struct hd_cmd *c;
    struct hd_nets nets;
    struct measured *lines;
    size_t n_lines;
};

static int64_t number(json_object *o, const char *key) {
    json_object *v = NULL;
    return json_object_object_get_ex(o, key, &v) ? json_object_get_int64(v) : 0;
}

static double least_cycles(const struct hd_net *net, const struct hd_machine *m) {
    struct hd_least l = hd_net_least(net, m);
    return fmax(fmax(l.mx, l.chain), l.bytes / hd_axi_bytes(m));
}

/* A line; false: it is none of a price. */
static bool measure(struct simulated *s, const char *line, struct measured *out) {
    json_object *o = json_tokener_parse(line), *nets = NULL, *machine = NULL;
    struct hd_machine m = hd_machines[0];
    *out = (struct measured){0};
    bool ok = o && json_object_object_get_ex(o, "networks", &nets) &&
              json_object_object_get_ex(o, "machine", &machine) &&
              json_object_array_length(nets) == (size_t)s->nets.n;
    char *rest = ok ? strdup(json_object_get_string(machine)) : NULL, *all = rest;
    for (char *one; ok && (one = strtok_r(rest, " ", &rest));)
        ok = hd_machine_set(s->c->ctx, &m, one) == HD_OK;
    for (int i = 0; ok && i < s->nets.n; i++) {
        json_object *x = json_object_array_get_idx(nets, (size_t)i);
        out->us += (double)number(x, "price_us");
        out->factor[i] = (double)number(x, "cycles") / least_cycles(&s->nets.of[i], &m);
        ok = out->factor[i] > 0;
    }
    free(all);
    json_object_put(o);
    return ok && out->us > 0;
}

static void read_journal(struct simulated *s, hd_arena *a, const char *path) {
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    if (!f) perror(path), exit(2);
    s->lines = hd_new_array(a, struct measured, LINES);
    while (s->n_lines < LINES && getline(&line, &room, f) > 0)
        s->n_lines += measure(s, line, &s->lines[s->n_lines]);
    free(line);
    fclose(f);
    if (!s->n_lines) fprintf(stderr, "%s: has no prices with their times\n", path), exit(2);
}

static const struct measured *line_of(const struct simulated *s, const struct hd_point *p) {
    return &s->lines[hd_machine_hash(&p->m) % s->n_lines];
}

/* ---- a heap of tasks, the one that ends first on top ---------------------------------------- */

static void sift(struct task *t, size_t n, size_t i) {
    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        if (k + 1 < n && t[k + 1].end < t[k].end) k++;
        if (t[i].end <= t[k].end) return;
        struct task x = t[i];
        t[i] = t[k], t[k] = x;
    }
}

static void rise(struct task *t, size_t i) {
    for (; i && t[i].end < t[(i - 1) / 2].end; i = (i - 1) / 2) {
        struct task x = t[i];
        t[i] = t[(i - 1) / 2], t[(i - 1) / 2] = x;
    }
}

/* ---- a search ------------------------------------------------------------------------------- */

static struct hd_space space_of(struct simulated *s, hd_arena *a, size_t rows) {
    struct hd_space space;
    if (hd_space_make(s->c, a, true, &space) != HD_OK)
        fprintf(stderr, "%s\n", hd_message(s->c->ctx)), exit(1);
    size_t prices = 0, kept = 0;
    for (size_t i = 0; rows && rows < space.n_prices && i < space.n; i++) { /* of prices, evenly */
        if (space.at[i].first != &space.at[i]) continue;
        if (prices++ * rows / space.n_prices < kept) continue;
        space.at[kept] = space.at[i], space.at[kept].first = &space.at[kept];
        kept++;
    }
    if (kept) space.n = space.n_prices = kept;
    return space;
}

struct clock { /* of rank 0, in seconds */
    double now, own;
    double work, longest; /* of prices */
    size_t begun;
};

static void give(struct simulated *s, struct clock *t, struct hd_point *p, struct task *heap,
                 size_t n) {
    const struct measured *m = line_of(s, p);
    double seconds = m->us * 1e-6;
    for (int i = 0; i < s->nets.n; i++)
        p->net[i] = (struct hd_priced){
            .cycles = (int64_t)(least_cycles(&s->nets.of[i], &p->m) * m->factor[i])};
    t->now += MESSAGE_US * 1e-6;
    heap[n] = (struct task){t->now + LOOK_US * 1e-6 / 2 + seconds, p};
    rise(heap, n);
    t->work += seconds, t->longest = fmax(t->longest, seconds);
    t->begun++;
}

static struct clock run(struct simulated *s, struct hd_schedule *q, size_t ranks) {
    struct task *heap = calloc(ranks + 1, sizeof *heap);
    struct clock t = {0};
    struct hd_point *p;
    size_t n = 0;
    HD_ASSERT(heap != NULL);
    do {
        double start = hd_seconds();
        if (n) { /* an answer, which rank 0 looks for now and then */
            struct task first = heap[0];
            heap[0] = heap[--n];
            sift(heap, n, 0);
            t.now = fmax(t.now, first.end + LOOK_US * 1e-6 / 2) + MESSAGE_US * 1e-6;
            first.p->priced = true;
            hd_schedule_done(q, first.p);
        }
        while (n < ranks && (p = hd_schedule_next(q))) {
            t.now += hd_seconds() - start, t.own += hd_seconds() - start;
            give(s, &t, p, heap, n++);
            start = hd_seconds();
        }
        t.now += hd_seconds() - start, t.own += hd_seconds() - start;
    } while (n);
    free(heap);
    return t;
}

/* Prints how a search goes; the values of its front, as a hash. */
static uint32_t search(struct simulated *s, size_t rows, size_t ranks) {
    hd_arena *a = hd_arena_create();
    struct hd_space space = space_of(s, a, rows);
    struct hd_goal goal;
    if (hd_goal_make(s->c, a, &goal) != HD_OK)
        fprintf(stderr, "%s\n", hd_message(s->c->ctx)), exit(2);
    goal.limits.machines = INFINITY;
    struct hd_schedule *q = hd_schedule_make(a, &space, &s->nets, &goal, false);
    struct clock t = run(s, q, ranks);
    struct hd_scheduled k = hd_schedule_count(q);
    uint32_t hash = HD_HASH_INIT;
    double counted = 0;
    size_t front = 0;
    for (size_t i = 0; i < space.n; i++) {
        if (space.at[i].in_round && space.at[i].first == &space.at[i])
            counted += line_of(s, &space.at[i])->us * 1e-6;
        if (!space.at[i].in_front) continue;
        hash = hd_hash(hash, space.at[i].value, (size_t)goal.n * sizeof space.at[i].value[0]);
        front++;
    }
    double whole = t.now * (double)ranks / 100;
    printf("%6zu ranks: %8.1f s, busy %5.1f %%, with what counts %5.1f %%; %zu priced, %zu count, "
           "front of %zu; rank 0 %.2f s; longest price %.1f s\n",
           ranks, t.now, t.work / whole, counted / whole, t.begun, k.priced, front, t.own,
           t.longest);
    hd_arena_destroy(a);
    return hash;
}

int main(int argc, char **argv) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    if (argc < 5)
        return fprintf(stderr, "usage: schedule JOURNAL ROWS RANKS,RANKS.. MODEL...\n"), 2;
    struct hd_cmd c = {.ctx = ctx, .name = "schedule", .args = argv + 4, .n_args = argc - 4};
    struct simulated s = {.c = &c};
    uint32_t first = 0;
    if (hd_nets_open(&c, a, "/tmp", &s.nets) != HD_OK)
        return fprintf(stderr, "%s\n", hd_message(ctx)), 2;
    read_journal(&s, a, argv[1]);
    int status = 0;
    char *rest = argv[3];
    for (char *one; (one = strtok_r(rest, ",", &rest));) {
        uint32_t front = search(&s, strtoul(argv[2], NULL, 10), strtoul(one, NULL, 10));
        if (!first) first = front;
        if (front != first) status = 1;
    }
    if (status) fprintf(stderr, "schedule: the front depends on the number of ranks\n");
    hd_nets_close(&s.nets);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
    return status;
}
