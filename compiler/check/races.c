/* Race check: each access against the accesses of the other units to the same places.
 *
 * An operation starts when its unit's operation before it has, when the sequencer has got past the
 * operations issued before it, and when its tokens are there. A token says that the operation that
 * signalled it, and all before that in its unit, are complete. So every operation has a vector
 * clock: of each unit, how many operations are complete for certain when it starts. Two operations
 * of different units that touch one place, one of them to write it, race unless one's clock covers
 * the other. A unit keeps its own operations in order.
 *
 * The last writer and the last reader of each place are enough, since a clock that covers them
 * covers the ones before. Places between which no run of the program begins or ends are one: a row
 * of a thousand bytes, say, of a tensor of millions.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/check/check.h"

enum { GROUP_MAX = 64 };

struct clock {
    uint32_t n[HD_UNITS]; /* operations of each unit that are complete */
};

struct tokens {                                              /* of one semaphore */
    size_t *from[HD_UNITS], n[HD_UNITS], cap[HD_UNITS], all; /* the operations that signal it */
    size_t taken;
};

struct shadow {       /* of a memory */
    int64_t group;    /* what divides every address of the program there */
    uint64_t *edge;   /* bit g: a run begins or ends with group g */
    uint32_t *before; /* edges before each 64 groups: the numbers of places */
    size_t n_words;   /* of the two */
    /* per place, last operation of each unit, from 1; NULL: no such access in the program */
    uint32_t *wrote[HD_UNITS], *read[HD_UNITS];
};

struct races {
    struct hd_check *k;
    struct clock *clock;    /* of each operation */
    uint32_t *number;       /* of each operation among those of its unit, from 1 */
    size_t *list[HD_UNITS]; /* number - 1 -> operation */
    struct tokens sem[HD_SEMAPHORES];
    struct shadow shadow[HD_CHECK_SPACES];
};

static const char *const space_names[HD_CHECK_SPACES] = {"XM bytes", "WM words", "PM words",
                                                         "AM words", "TM words", "arena bytes"};

/* ---- clocks ---------------------------------------------------------------------------------- */

static void join(struct clock *c, const struct clock *other) {
    for (int u = 0; u < HD_UNITS; u++)
        if (other->n[u] > c->n[u]) c->n[u] = other->n[u];
}

static void join_complete(struct races *r, struct clock *c, size_t op) {
    int u = r->k->ops[op].unit;
    join(c, &r->clock[op]);
    if (r->number[op] > c->n[u]) c->n[u] = r->number[op];
}

/* The next token of a semaphore. Where several units signal it, a unit has given at least what the
 * others cannot have. */
static void take(struct races *r, struct clock *c, struct tokens *s) {
    size_t tokens = ++s->taken;
    for (int u = 0; u < HD_UNITS; u++) {
        size_t others = s->all - s->n[u];
        if (s->n[u] && tokens > others) join_complete(r, c, s->from[u][tokens - others - 1]);
    }
}

static void number_operations(struct races *r) {
    struct hd_check *k = r->k;
    uint32_t count[HD_UNITS] = {0};
    for (int u = 0; u < HD_UNITS; u++) r->list[u] = hd_new_array(k->arena, size_t, k->n_ops + 1);
    for (size_t i = 0; i < k->n_ops; i++) {
        const struct hd_check_op *op = &k->ops[i];
        r->list[op->unit][count[op->unit]++] = i;
        r->number[i] = count[op->unit];
        for (int b = 0; b < HD_SEMAPHORES; b++) {
            if (!(op->signal >> b & 1)) continue;
            struct tokens *s = &r->sem[b];
            *hd_push(k->arena, s->from[op->unit], s->n[op->unit], s->cap[op->unit]) = i;
            s->all++;
        }
    }
}

/* ---- places ---------------------------------------------------------------------------------- */

static int64_t common(int64_t a, int64_t b) {
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* Number of the place that begins at an edge. */
static size_t place_at(const struct shadow *s, int64_t at) {
    size_t g = (size_t)(at / s->group);
    uint64_t below = (UINT64_C(1) << g % 64) - 1;
    return s->before[g / 64] + (size_t)__builtin_popcountll(s->edge[g / 64] & below);
}

/* Where it begins. */
static int64_t place_begin(const struct shadow *s, size_t place) {
    size_t low = 0, high = s->n_words; /* the last word with no more edges before it */
    while (high - low > 1) {
        size_t mid = (low + high) / 2;
        *(s->before[mid] <= place ? &low : &high) = mid;
    }
    uint64_t edges = s->edge[low];
    for (size_t n = place - s->before[low]; n > 0; n--) edges &= edges - 1;
    return ((int64_t)low * 64 + __builtin_ctzll(edges)) * s->group;
}

/* Calls each run of an access; false when a call does. */
static bool each_run(const struct hd_access *a, bool (*call)(void *user, int64_t at, int64_t n),
                     void *user) {
    int64_t i[HD_CHECK_LOOPS] = {0}, at = a->at;
    for (;;) {
        if (!call(user, at, a->run)) return false;
        int l = 0;
        for (; l < a->n_loops; l++) {
            at += a->step[l];
            if (++i[l] < a->n[l]) break;
            at -= a->step[l] * a->n[l];
            i[l] = 0;
        }
        if (l == a->n_loops) return true;
    }
}

static bool set_edges(void *user, int64_t at, int64_t n) {
    struct shadow *s = user;
    for (int end = 0; end < 2; end++) {
        size_t g = (size_t)((at + end * n) / s->group);
        s->edge[g / 64] |= UINT64_C(1) << g % 64;
    }
    return true;
}

static void prepare_shadows(struct races *r) {
    struct hd_check *k = r->k;
    int64_t end[HD_CHECK_SPACES] = {0};
    bool used[HD_CHECK_SPACES][HD_UNITS][2] = {{{false}}};
    for (int m = 0; m < HD_CHECK_SPACES; m++) r->shadow[m].group = GROUP_MAX;
    for (size_t i = 0; i < k->n_ops; i++)
        for (struct hd_access *a = k->ops[i].access; a; a = a->next) {
            hd_access_normalise(a);
            int64_t g = common(common(r->shadow[a->space].group, a->at), a->run), last = a->at;
            for (int l = 0; l < a->n_loops; l++) {
                g = common(g, a->step[l]);
                last += a->step[l] * (a->n[l] - 1);
            }
            r->shadow[a->space].group = g;
            if (last + a->run > end[a->space]) end[a->space] = last + a->run;
            used[a->space][k->ops[i].unit][a->write] = true;
        }
    for (int m = 0; m < HD_CHECK_SPACES; m++) {
        struct shadow *s = &r->shadow[m];
        s->n_words = (size_t)(end[m] / s->group) / 64 + 1;
        s->edge = hd_new_array(k->arena, uint64_t, s->n_words);
        s->before = hd_new_array(k->arena, uint32_t, s->n_words);
    }
    for (size_t i = 0; i < k->n_ops; i++)
        for (struct hd_access *a = k->ops[i].access; a; a = a->next)
            each_run(a, set_edges, &r->shadow[a->space]);
    for (int m = 0; m < HD_CHECK_SPACES; m++) {
        struct shadow *s = &r->shadow[m];
        size_t n = 0;
        for (size_t w = 0; w < s->n_words; w++) {
            s->before[w] = (uint32_t)n;
            n += (size_t)__builtin_popcountll(s->edge[w]);
        }
        for (int u = 0; u < HD_UNITS; u++) {
            if (used[m][u][true]) s->wrote[u] = hd_new_array(k->arena, uint32_t, n);
            if (used[m][u][false]) s->read[u] = hd_new_array(k->arena, uint32_t, n);
        }
        size_t places = (size_t)hd_check_places(k->m, (enum hd_check_space)m);
        if (places && !k->written[m]) k->written[m] = hd_new_array(k->arena, uint8_t, places);
    }
}

/* ---- one access ------------------------------------------------------------------------------ */

struct look {
    struct races *r;
    const struct shadow *s;
    const uint32_t *last; /* of another unit */
    uint32_t *mine;
    uint32_t most, number; /* the other unit's latest operation here; this operation */
    int64_t at;            /* where that is */
    uint8_t *written;
};

static bool find_latest(void *user, int64_t at, int64_t n) {
    struct look *k = user;
    size_t i = place_at(k->s, at), end = place_at(k->s, at + n);
    uint32_t most = 0;
    for (size_t p = i; p < end; p++) most = k->last[p] > most ? k->last[p] : most;
    if (most <= k->most) return true;
    while (k->last[i] != most) i++;
    k->most = most;
    k->at = place_begin(k->s, i);
    return true;
}

static bool set_mine(void *user, int64_t at, int64_t n) {
    struct look *k = user;
    size_t end = place_at(k->s, at + n);
    for (size_t p = place_at(k->s, at); p < end; p++) k->mine[p] = k->number;
    return true;
}

static bool set_written(void *user, int64_t at, int64_t n) {
    memset(((struct look *)user)->written + at, 1, (size_t)n);
    return true;
}

static bool all_written(void *user, int64_t at, int64_t n) {
    struct look *k = user;
    const uint8_t *hole = memchr(k->written + at, 0, (size_t)n);
    if (hole) k->at = hole - k->written;
    return !hole;
}

static void report(struct races *r, size_t i, size_t j, const struct hd_access *a, bool j_writes,
                   int64_t at) {
    struct hd_check *k = r->k;
    size_t first = i < j ? i : j, second = i < j ? j : i;
    bool first_writes = first == i ? a->write : j_writes,
         second_writes = second == i ? a->write : j_writes;
    const struct hd_check_op *p = &k->ops[first];
    char where[64] = "";
    int64_t group = r->shadow[a->space].group;
    if (group > 1) snprintf(where, sizeof where, " to %lld", (long long)(at + group - 1));
    hd_check_add(k, true, &k->ops[second],
                 "race, %s after %s: %s %s %s %lld%s, which %s.%s of bundle %d, word %zu, %s; no "
                 "semaphore puts them in order",
                 second_writes ? "write" : "read", first_writes ? "write" : "read",
                 hd_isa_units[k->ops[second].unit].name, second_writes ? "writes" : "reads",
                 space_names[a->space], (long long)at, where, hd_isa_units[p->unit].name,
                 hd_isa_ops[hd_op_by_code((enum hd_unit)p->unit, p->code)].name, p->bundle, p->word,
                 first_writes ? "writes" : "reads");
}

/* Against the last writes, and the last reads of what this operation writes, of other units. */
static void against_others(struct races *r, size_t i, const struct hd_access *a) {
    const struct shadow *s = &r->shadow[a->space];
    for (int u = 0; u < HD_UNITS; u++) {
        if (u == r->k->ops[i].unit) continue;
        for (int writes = 1; writes >= (a->write ? 0 : 1); writes--) {
            struct look look = {.r = r, .s = s, .last = writes ? s->wrote[u] : s->read[u]};
            if (!look.last) continue;
            each_run(a, find_latest, &look);
            if (look.most > r->clock[i].n[u])
                report(r, i, r->list[u][look.most - 1], a, writes, look.at);
        }
    }
}

static void check_access(struct races *r, size_t i, const struct hd_access *a) {
    struct hd_check *k = r->k;
    const struct shadow *s = &r->shadow[a->space];
    int u = k->ops[i].unit;
    struct look look = {.r = r,
                        .s = s,
                        .mine = a->write ? s->wrote[u] : s->read[u],
                        .number = r->number[i],
                        .written = k->written[a->space]};
    against_others(r, i, a);
    each_run(a, set_mine, &look);
    if (!look.written) return;
    if (a->write) {
        each_run(a, set_written, &look);
    } else if (!k->memory_is_set && !each_run(a, all_written, &look)) {
        hd_check_add(k, true, &k->ops[i],
                     "%s reads %s %lld, which nothing has written; memory on the chip is undefined "
                     "at power-up",
                     hd_isa_units[u].name, space_names[a->space], (long long)look.at);
    }
}

void hd_check_races(struct hd_check *k, const size_t *order) {
    struct races r = {.k = k,
                      .clock = hd_new_array(k->arena, struct clock, k->n_ops + 1),
                      .number = hd_new_array(k->arena, uint32_t, k->n_ops + 1)};
    size_t *before_seq = hd_new_array(k->arena, size_t, k->n_ops + 1), seq = k->n_ops;
    struct clock issued = {{0}}, *at_barrier = hd_new_array(k->arena, struct clock, k->n_ops + 1);
    number_operations(&r);
    prepare_shadows(&r);
    for (size_t i = 0; i < k->n_ops; i++) { /* in the order of issue */
        int u = k->ops[i].unit;
        before_seq[i] = seq;
        if (u == HD_UNIT_seq) {
            seq = i;
            if (k->ops[i].code != 0) at_barrier[i] = issued;
        }
        issued.n[u] = r.number[i];
    }
    for (size_t t = 0; t < k->n_ops; t++) { /* in an order in which they can run */
        size_t i = order[t];
        const struct hd_check_op *op = &k->ops[i];
        struct clock *c = &r.clock[i];
        if (r.number[i] > 1) join(c, &r.clock[r.list[op->unit][r.number[i] - 2]]);
        if (before_seq[i] != k->n_ops) join_complete(&r, c, before_seq[i]);
        join(c, &at_barrier[i]);
        for (int b = 0; b < HD_SEMAPHORES; b++)
            if (op->wait >> b & 1) take(&r, c, &r.sem[b]);
        for (const struct hd_access *a = op->access; a; a = a->next)
            if (!a->write) check_access(&r, i, a);
        for (const struct hd_access *a = op->access; a; a = a->next)
            if (a->write) check_access(&r, i, a);
    }
}
