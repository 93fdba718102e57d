/* Token check: the program's queues and semaphores, run without time.
 *
 * When every semaphore is waited on by one unit only, whether the program ends does not depend on
 * timing, so one order of steps proves it for all. The most tokens that a semaphore can hold are
 * found by a second run in which its consumer moves only when nothing else can.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/check/check.h"

struct machine_state {
    const struct hd_check *k;
    size_t *list[HD_UNITS]; /* operations of each unit, indexes into k->ops */
    size_t issued;          /* next to issue */
    size_t taken[HD_UNITS],
        queued[HD_UNITS]; /* of the unit's list: done or in the unit; waiting in its queue */
    bool busy[HD_UNITS];  /* list[u][taken[u] - 1] waits for its semaphores */
    int level[HD_SEMAPHORES], most[HD_SEMAPHORES];
    uint32_t lazy;          /* operations that wait on these go last */
    size_t *order, n_order; /* NULL: not wanted */
};

static bool tokens_there(const struct machine_state *s, uint32_t wait) {
    for (int i = 0; i < HD_SEMAPHORES; i++)
        if ((wait >> i & 1) && s->level[i] == 0) return false;
    return true;
}

static void run_op(struct machine_state *s, const struct hd_check_op *op) {
    if (s->order) s->order[s->n_order++] = (size_t)(op - s->k->ops);
    for (int i = 0; i < HD_SEMAPHORES; i++) {
        if (op->wait >> i & 1) s->level[i]--;
        if (op->signal >> i & 1) s->level[i]++;
        if (s->level[i] > s->most[i]) s->most[i] = s->level[i];
    }
}

static bool all_idle(const struct machine_state *s) {
    for (int u = 0; u < HD_UNITS; u++)
        if (s->busy[u] || s->queued[u]) return false;
    return true;
}

static bool may_run(const struct machine_state *s, const struct hd_check_op *op, bool lazy_too) {
    return tokens_there(s, op->wait) && (lazy_too || !(op->wait & s->lazy));
}

static bool step_issue(struct machine_state *s, bool lazy_too) {
    if (s->issued == s->k->n_ops) return false;
    const struct hd_check_op *op = &s->k->ops[s->issued];
    if (op->unit == HD_UNIT_seq) {
        if (!may_run(s, op, lazy_too)) return false;
        if (op->code != 0 && !all_idle(s)) return false;
        run_op(s, op);
    } else {
        if (s->queued[op->unit] == s->k->m->queue_ops) return false;
        s->queued[op->unit]++;
    }
    s->issued++;
    return true;
}

static bool step_unit(struct machine_state *s, int u, bool lazy_too) {
    if (!s->busy[u]) {
        if (!s->queued[u]) return false;
        s->queued[u]--;
        s->taken[u]++;
        s->busy[u] = true;
    }
    const struct hd_check_op *op = &s->k->ops[s->list[u][s->taken[u] - 1]];
    if (!may_run(s, op, lazy_too)) return false;
    run_op(s, op);
    s->busy[u] = false;
    return true;
}

static bool step_any(struct machine_state *s, bool lazy_too) {
    bool moved = step_issue(s, lazy_too);
    for (int u = 0; u < HD_UNITS; u++) {
        if (u == HD_UNIT_seq) continue;
        if (lazy_too && moved) return true; /* one lazy step, then the others again */
        moved |= step_unit(s, u, lazy_too);
    }
    return moved;
}

/* Runs to the end or to where nothing moves; true when every operation ran. */
static bool run_program(struct machine_state *s) {
    for (;;) {
        while (step_any(s, false)) continue;
        if (!s->lazy || !step_any(s, true)) break;
    }
    return s->issued == s->k->n_ops && all_idle(s);
}

static void report_deadlock(struct hd_check *k, const struct machine_state *s) {
    for (int u = 0; u < HD_UNITS; u++) {
        if (!s->busy[u]) continue;
        const struct hd_check_op *op = &k->ops[s->list[u][s->taken[u] - 1]];
        char missing[200] = "";
        for (int i = 0; i < HD_SEMAPHORES; i++)
            if ((op->wait >> i & 1) && s->level[i] == 0) {
                size_t n = strlen(missing);
                snprintf(missing + n, sizeof missing - n, "%s%d", n ? ", " : "", i);
            }
        hd_check_add(k, true, op,
                     "deadlock: %s waits for semaphore %s, which no operation that can run "
                     "signals; %zu more in "
                     "its queue",
                     hd_isa_units[u].name, missing, s->queued[u]);
    }
    if (s->issued < k->n_ops) {
        const struct hd_check_op *op = &k->ops[s->issued];
        if (op->unit == HD_UNIT_seq)
            hd_check_add(k, true, op, "deadlock: the sequencer never gets past this operation");
        else
            hd_check_add(k, true, op,
                         "deadlock: issue stands here, the queue of %s is full (%u operations)",
                         hd_isa_units[op->unit].name, k->m->queue_ops);
    }
}

/* Semaphores start at zero, so what is left over means a wait is missing, or met an earlier signal.
 */
static void report_left_over(struct hd_check *k, const struct machine_state *s) {
    for (int i = 0; i < HD_SEMAPHORES; i++)
        if (s->level[i])
            hd_check_add(
                k, true, NULL,
                "semaphore %d holds %d token%s at the end: it is signalled more often than "
                "waited on",
                i, s->level[i], s->level[i] == 1 ? "" : "s");
}

static void reset(struct machine_state *s, uint32_t lazy) {
    struct machine_state fresh = {.k = s->k, .lazy = lazy};
    memcpy(fresh.list, s->list, sizeof fresh.list);
    *s = fresh;
}

bool hd_check_tokens(struct hd_check *k, size_t *order) {
    struct machine_state s = {.k = k, .order = order};
    size_t count[HD_UNITS] = {0};
    int waiter[HD_SEMAPHORES];
    uint32_t shared = 0, used = 0;
    memset(waiter, -1, sizeof waiter);
    for (int u = 0; u < HD_UNITS; u++) s.list[u] = hd_new_array(k->arena, size_t, k->n_ops + 1);
    for (size_t i = 0; i < k->n_ops; i++) {
        const struct hd_check_op *op = &k->ops[i];
        s.list[op->unit][count[op->unit]++] = i;
        used |= op->signal;
        for (int b = 0; b < HD_SEMAPHORES; b++) {
            if (!(op->wait >> b & 1)) continue;
            if (waiter[b] >= 0 && waiter[b] != op->unit && !(shared >> b & 1)) {
                hd_check_add(
                    k, true, op,
                    "race: semaphore %d is waited on by %s and by %s; who gets a token, and "
                    "whether the program ends, depends on timing",
                    b, hd_isa_units[waiter[b]].name, hd_isa_units[op->unit].name);
                shared |= UINT32_C(1) << b;
            }
            waiter[b] = op->unit;
        }
    }
    if (!run_program(&s)) {
        report_deadlock(k, &s);
        return false;
    }
    report_left_over(k, &s);
    for (int b = 0; b < HD_SEMAPHORES; b++) {
        if (!(used >> b & 1)) continue;
        reset(&s, UINT32_C(1) << b);
        run_program(&s);
        k->semaphore_max[b] = s.most[b];
        if (s.most[b] > HD_SEM_MAX)
            hd_check_add(k, true, NULL,
                         "semaphore %d can hold %d tokens when its consumer is slow, at most %d", b,
                         s.most[b], HD_SEM_MAX);
    }
    return !shared;
}
