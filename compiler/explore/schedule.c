/* Which machine is priced next.
 *
 * Candidates are looked at in one order, in rounds. What is over a limit, or beaten by the front
 * even at its bound, is left out; the others of a round are priced, and then the front decides the
 * next round. So what counts does not depend on who was sooner, nor on a kill in between. Nobody
 * waits for the end of a round: whoever is free prices ahead what the front does not beat as yet.
 * Of these only those count that a round takes up later. Candidates that differ in cores alone are
 * one here, the first of them (struct hd_point): it is left out when all of them are.
 */
#include <math.h>
#include <stdlib.h>

#include "compiler/explore/explore.h"

enum { ROUND = 32 };

struct hd_schedule {
    hd_arena *a;
    struct hd_space *space;
    const struct hd_nets *nets;
    const struct hd_goal *goal;
    struct hd_point **order, *round[ROUND];
    size_t n, at, n_round, asked, missing; /* looked at; of the round: all, asked for, to come */
    size_t ahead_at, ahead;                /* looked at ahead; priced ahead that no round took up */
    bool all;                              /* as is: nothing is left out */
    struct hd_scheduled count;
};

static const struct hd_point *space_end(const struct hd_schedule *s) {
    return s->space->at + s->space->n;
}

/* ---- order ---------------------------------------------------------------------------------- */

static double memory_of(const struct hd_machine *m) {
    return log2(m->xm_bytes) + log2(m->wm_bytes) + log2(m->am_bytes) + log2(m->pm_bytes);
}

/* Machines of the same array, port and VX together, most memory first, ... */
static int by_array(const void *x, const void *y) {
    const struct hd_machine *a = &(*(struct hd_point *const *)x)->m,
                            *b = &(*(struct hd_point *const *)y)->m;
    if (a->k != b->k) return a->k < b->k ? 1 : -1;
    if (a->n != b->n) return a->n < b->n ? 1 : -1;
    if (a->axi_bits != b->axi_bits) return a->axi_bits < b->axi_bits ? 1 : -1;
    if (a->vx_cycles != b->vx_cycles) return a->vx_cycles < b->vx_cycles ? -1 : 1;
    double p = memory_of(a), q = memory_of(b);
    if (p != q) return p < q ? 1 : -1;
    return x < y ? -1 : 1;
}

static bool same_array(const struct hd_point *p, const struct hd_point *q) {
    return p->m.k == q->m.k && p->m.n == q->m.n && p->m.axi_bits == q->m.axi_bits &&
           p->m.vx_cycles == q->m.vx_cycles;
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

/* Over the limits with any number of cores. */
static bool hopeless(struct hd_schedule *s, struct hd_point *first) {
    bool all = true;
    for (struct hd_point *p = first; p < space_end(s) && p->first == first; p++) {
        p->why = s->all ? NULL : hd_point_hopeless(s->a, p, s->nets, s->goal);
        all = all && p->why;
    }
    return all;
}

/* ... and then one of each array in turn: what is large at first tells most. */
static void put_in_order(struct hd_schedule *s) {
    struct ranked *list = hd_new_array(s->a, struct ranked, s->space->n + 1);
    s->order = hd_new_array(s->a, struct hd_point *, s->space->n + 1);
    for (size_t i = 0; i < s->space->n; i++) {
        struct hd_point *p = &s->space->at[i];
        if (p->first != p) continue;
        if (hopeless(s, p))
            s->count.hopeless++;
        else
            s->order[s->n++] = p;
    }
    s->count.left = s->n;
    if (s->all) return;
    qsort(s->order, s->n, sizeof *s->order, by_array);
    for (size_t i = 0; i < s->n; i++) {
        bool next = i && same_array(s->order[i], s->order[i - 1]);
        list[i] = (struct ranked){s->order[i], next ? list[i - 1].rank + 1 : 0};
    }
    qsort(list, s->n, sizeof *list, by_rank);
    for (size_t i = 0; i < s->n; i++) s->order[i] = list[i].p;
}

struct hd_schedule *hd_schedule_make(hd_arena *a, struct hd_space *space,
                                     const struct hd_nets *nets, const struct hd_goal *goal,
                                     bool all) {
    struct hd_schedule *s = hd_new(a, struct hd_schedule);
    *s = (struct hd_schedule){.a = a, .space = space, .nets = nets, .goal = goal, .all = all};
    put_in_order(s);
    return s;
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* A price of the round is known: it decides the next one. */
static void count(struct hd_schedule *s, struct hd_point *first) {
    for (struct hd_point *p = first; p < space_end(s) && p->first == first; p++) {
        p->priced = true;
        if (p->why) continue; /* with so many cores it is over a limit */
        p->in_round = true;
        hd_point_judge(s->a, p, s->nets, s->goal);
        hd_front_add(s->space, p, s->goal);
    }
    s->count.priced++;
    s->missing--;
}

/* With any number of cores. */
static bool beaten(const struct hd_schedule *s, const struct hd_point *first) {
    bool all = !s->all;
    for (const struct hd_point *p = first; all && p < space_end(s) && p->first == first; p++)
        all = p->why || hd_front_beats(s->space, p, s->goal);
    return all;
}

/* The next candidates that are worth a price, by the front of the rounds before. */
static void next_round(struct hd_schedule *s) {
    s->n_round = s->asked = 0;
    for (; s->at < s->n && s->n_round < ROUND; s->at++) {
        struct hd_point *p = s->order[s->at];
        p->removed = beaten(s, p);
        if (!p->removed && (double)(s->count.priced + s->n_round) >= s->goal->limits.machines)
            break;
        s->count.left--;
        s->ahead -= p->ahead;
        p->ahead = false;
        if (p->removed)
            s->count.beaten++;
        else
            s->round[s->n_round++] = p, p->in_round = true;
    }
    s->missing = s->n_round;
    for (size_t i = 0; i < s->n_round; i++)
        if (s->round[i]->priced) count(s, s->round[i]);
    if (s->ahead_at < s->at) s->ahead_at = s->at;
}

/* What a later round may take up, as far as is known. */
static struct hd_point *ahead(struct hd_schedule *s) {
    double most = s->goal->limits.machines - (double)(s->count.priced + s->missing);
    for (; s->ahead_at < s->n && (double)s->ahead < most; s->ahead_at++) {
        struct hd_point *p = s->order[s->ahead_at];
        if (p->priced || p->asked || beaten(s, p)) continue;
        p->ahead = true;
        s->ahead++;
        return p;
    }
    return NULL;
}

struct hd_point *hd_schedule_next(struct hd_schedule *s) {
    struct hd_point *p = NULL;
    while (!s->missing && s->at < s->n) {
        next_round(s);
        if (!s->n_round) break;
    }
    while (!p && s->asked < s->n_round) {
        p = s->round[s->asked++];
        if (p->priced || p->asked) p = NULL;
    }
    if (!p && s->missing) p = ahead(s);
    if (p) p->asked = true;
    return p;
}

void hd_schedule_done(struct hd_schedule *s, struct hd_point *p) {
    if (p->in_round) count(s, p);
}

struct hd_scheduled hd_schedule_count(const struct hd_schedule *s) {
    return s->count;
}
