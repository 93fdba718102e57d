/* Dependences and semaphores.
 *
 * needs: operations in a legal sequential order, with the memory each touches
 * gives: wait and signal masks
 * destroys: nothing
 *
 * For each granule of each memory we keep, per unit, the last operation that wrote and read it. A
 * new operation depends on the last conflicting operation of every other unit (its own unit works
 * in order). One semaphore per ordered pair of units is enough: both units work in order, and a
 * wait is left out when it is implied by what the unit already knows, so the k-th wait of a pair
 * always meets its k-th signal. `knows` is a vector clock: what is complete when an operation
 * starts.
 */
#include "compiler/machine_ops/machine_ops.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/base/num.h"

/* Bytes that dependences tell apart. Where rows share one, the next waits for this one. */
enum { XM_GRANULE = 16, ARENA_GRANULE = 64 };

enum {
    TOKENS_EARLY = 96, /* from here on the next operation takes a token early */
    TOKENS_MAX = 192   /* here a nop does; the rest of HD_SEM_MAX is for operations in queues */
};

void hd_ops_init(struct hd_ops *s, struct hd_lowering *lo, hd_arena *arena) {
    *s = (struct hd_ops){.lo = lo, .arena = arena};
    const struct hd_machine *m = lo->m;
    int64_t size[HD_SPACES] = {m->xm_bytes,  hd_wm_words(m), hd_pm_words(m),
                               HD_TM_TABLES, hd_am_words(m), (int64_t)lo->plan->arena_bytes};
    int64_t granule[HD_SPACES] = {XM_GRANULE, 1, 1, 1, 1, ARENA_GRANULE};
    for (int k = 0; k < HD_SPACES; k++) {
        s->granule[k] = granule[k];
        s->n_granules[k] = hd_ceil_div(size[k], granule[k]) + 1;
    }
    memset(s->semaphore, -1, sizeof s->semaphore);
}

static struct hd_slot_op *current(struct hd_ops *s) {
    return &s->ops[s->n_ops - 1];
}

void hd_ops_begin(struct hd_ops *s, enum hd_unit unit, unsigned code, int tag) {
    struct hd_slot_op *op = hd_push(s->arena, s->ops, s->n_ops, s->cap_ops);
    op->unit = (uint8_t)unit;
    op->code = (uint8_t)code;
    op->tag = (uint16_t)tag;
    if (unit != HD_UNIT_seq) op->words[HD_TAG_WORD] = op->tag;
    op->number = ++s->count[unit];
    size_t n = (size_t)op->number - 1;
    *hd_push(s->arena, s->by_number[unit], n, s->cap_by_number[unit]) = (int)s->n_ops - 1;
    memset(s->needs, 0, sizeof s->needs);
    if (op->number > 1) {
        const struct hd_slot_op *before = &s->ops[s->by_number[unit][op->number - 2]];
        memcpy(op->knows, before->knows, sizeof op->knows);
    }
}

static int latest(const int *of, int64_t n, int most) {
    for (int64_t i = 0; i < n; i++) most = of[i] > most ? of[i] : most;
    return most;
}

void hd_ops_misfit(struct hd_ops *s, struct hd_misfit what) {
    HD_ASSERT(s->lo->opt->plan.text); /* a plan that was made fits */
    what.any = true;
    if (!s->misfit.any) s->misfit = what;
}

static hd_status misfit(const struct hd_ops *s) {
    static const char *const memory[HD_SPACES] = {"bytes of XM", "words of WM",
                                                  "words of PM", "words of TM",
                                                  "words of AM", "bytes of the arena"};
    const struct hd_misfit *m = &s->misfit;
    if (m->of_field)
        return hd_fail(s->lo->ctx, HD_INVALID, "the plan fits no operation: %s would be %" PRId64,
                       hd_isa_fields[m->field].name, m->needs);
    return hd_fail(s->lo->ctx, HD_INVALID,
                   "the plan has no room: it needs %" PRId64 " %s at a time, there are %" PRId64,
                   m->needs, memory[m->space], m->has);
}

void hd_ops_set(struct hd_ops *s, enum hd_field f, int64_t v) {
    if (hd_field_fits(f, v))
        hd_field_set(current(s)->words, f, v);
    else
        hd_ops_misfit(s, (struct hd_misfit){.of_field = true, .field = f, .needs = v});
}

void hd_ops_touch(struct hd_ops *s, enum hd_space space, int64_t lo, int64_t hi, bool write) {
    const struct hd_slot_op *op = current(s);
    int64_t first = lo / s->granule[space], last = (hi - 1) / s->granule[space];
    int64_t n = last - first + 1;
    if (lo < 0 || hi <= lo || last >= s->n_granules[space]) {
        bool behind = lo >= 0 && hi > lo; /* else it comes from room that is not there */
        hd_ops_misfit(s, (struct hd_misfit){
                             .space = space,
                             .needs = behind ? hi : hd_max(1, hi - lo),
                             .has = behind ? (s->n_granules[space] - 1) * s->granule[space] : 0});
        return;
    }
    for (int u = 0; u < HD_UNITS; u++) {
        if (u == op->unit) continue;
        int need = (int)s->needs[u];
        if (s->wrote[space][u]) need = latest(s->wrote[space][u] + first, n, need);
        if (write && s->read[space][u]) need = latest(s->read[space][u] + first, n, need);
        s->needs[u] = (uint32_t)need;
    }
    if (space == HD_SPACE_XM) {
        int64_t bank = s->lo->m->xm_bytes / s->lo->m->xm_banks;
        uint32_t *banks = write ? &current(s)->writes_banks : &current(s)->reads_banks;
        for (int64_t b = lo / bank; b <= (hi - 1) / bank; b++) *banks |= UINT32_C(1) << b;
    }
    int **mine = write ? &s->wrote[space][op->unit] : &s->read[space][op->unit];
    if (!*mine) *mine = hd_new_array(s->arena, int, (size_t)s->n_granules[space]);
    for (int64_t i = first; i <= last; i++) (*mine)[i] = op->number;
}

static struct hd_slot_op *numbered(struct hd_ops *s, int unit, uint32_t number) {
    return &s->ops[s->by_number[unit][number - 1]];
}

/* Waiting for operation `a` of unit ua makes waiting for number `b` of unit ub needless. */
static bool implies(struct hd_ops *s, int ua, uint32_t a, int ub, uint32_t b) {
    return (uint32_t)numbered(s, ua, a)->knows[ub] >= b;
}

static hd_status add_wait(struct hd_ops *s, struct hd_slot_op *op, int unit, uint32_t number) {
    int *sem = &s->semaphore[unit][op->unit];
    if (*sem < 0) *sem = s->n_semaphores++;
    HD_ASSERT(*sem < HD_SEMAPHORES); /* 5 units make 20 pairs */
    struct hd_slot_op *from = numbered(s, unit, number);
    from->signal |= UINT32_C(1) << *sem;
    op->wait |= UINT32_C(1) << *sem;
    op->after[unit] = (int)number;
    return HD_OK;
}

/* Turns the needs of the operation into the fewest waits and updates what its unit knows. */
hd_status hd_ops_end(struct hd_ops *s) {
    static const uint32_t at_start[HD_PARAM_WORDS];
    if (s->misfit.any) return misfit(s);
    struct hd_slot_op *op = current(s);
    bool first = op->number == 1;
    hd_op_fill_dont_cares(op->unit, op->code, op->words,
                          first ? at_start
                                : numbered(s, op->unit, (uint32_t)op->number - 1)->words);
    if (!s->lo->opt
             ->latency_hiding) /* one after the other: wait for the operation before this one */
        for (int u = 0; u < HD_UNITS; u++)
            if (u != op->unit) s->needs[u] = (uint32_t)s->count[u];
    bool wanted[HD_UNITS];
    for (int u = 0; u < HD_UNITS; u++) wanted[u] = s->needs[u] > (uint32_t)op->knows[u];
    for (int u = 0; u < HD_UNITS; u++)
        for (int v = 0; wanted[u] && v < HD_UNITS; v++)
            if (v != u && wanted[v] && implies(s, v, s->needs[v], u, s->needs[u]))
                wanted[u] = false;
    for (int u = 0; u < HD_UNITS; u++) {
        if (!wanted[u]) continue;
        TRY(add_wait(s, op, u, s->needs[u]));
        const struct hd_slot_op *from = numbered(s, u, s->needs[u]);
        for (int v = 0; v < HD_UNITS; v++)
            op->knows[v] =
                (int)hd_max(op->knows[v], v == u ? (int64_t)s->needs[u] : from->knows[v]);
    }
    return HD_OK;
}

/* ---- bound on tokens ---- */

static void insert_nop(struct hd_ops *s, struct hd_slot_op **out, size_t *n, size_t *cap, int unit,
                       int sem) {
    struct hd_slot_op *nop = hd_push(s->arena, *out, *n, *cap);
    nop->unit = (uint8_t)unit;
    nop->code = 0;
    nop->wait = UINT32_C(1) << sem;
    nop->number = -1; /* carries no parameter words */
}

void hd_ops_bound_tokens(struct hd_ops *s) {
    struct hd_slot_op *out = NULL;
    size_t n = 0, cap = 0;
    int level[HD_SEMAPHORES] = {0}, owed[HD_SEMAPHORES] = {0}, to[HD_SEMAPHORES] = {0};
    for (int u = 0; u < HD_UNITS; u++)
        for (int v = 0; v < HD_UNITS; v++)
            if (s->semaphore[u][v] >= 0) to[s->semaphore[u][v]] = v;
    for (size_t i = 0; i < s->n_ops; i++) {
        struct hd_slot_op *op = hd_push(s->arena, out, n, cap);
        *op = s->ops[i];
        for (int k = 0; k < s->n_semaphores; k++) {
            uint32_t bit = UINT32_C(1) << k;
            if ((op->wait & bit) && owed[k] > 0) owed[k]--, op->wait &= ~bit; /* taken earlier */
            if (op->wait & bit) level[k]--;
            if (to[k] != op->unit || (op->wait & bit) || level[k] <= TOKENS_EARLY) continue;
            op->wait |= bit;
            level[k]--;
            owed[k]++;
        }
        uint32_t signal = op->signal;
        for (int k = 0; k < s->n_semaphores; k++) {
            if (!(signal >> k & 1)) continue;
            if (++level[k] <= TOKENS_MAX) continue;
            insert_nop(s, &out, &n, &cap, to[k], k);
            level[k]--;
            owed[k]++;
        }
    }
    s->ops = out;
    s->n_ops = n;
    s->cap_ops = cap;
}
