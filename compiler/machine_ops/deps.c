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

/* Logarithm of the bytes (words) that dependences tell apart: 16 of XM, 64 of the arena. Where rows
 * share one, the next waits for this one. */
static const int granule_shift[HD_SPACES] = {[HD_SPACE_XM] = 4, [HD_SPACE_ARENA] = 6};
enum {
    BLOCK = 128,   /* granules that are looked at together, where all of them are touched */
    MANY = 1 << 18 /* operations that there is room for: to grow leaves what was there behind */
};

void hd_ops_init(struct hd_ops *s, struct hd_lowering *lo, hd_arena *arena) {
    *s = (struct hd_ops){.lo = lo, .arena = arena};
    const size_t room = (size_t)hd_max(MANY, 2 * (int64_t)lo->most_ops);
    s->ops = hd_grow(arena, NULL, &s->cap_ops, room, sizeof *s->ops);
    const struct hd_machine *m = lo->m;
    int64_t size[HD_SPACES] = {m->xm_bytes,  hd_wm_words(m), hd_pm_words(m),
                               HD_TM_TABLES, hd_am_words(m), (int64_t)lo->plan->arena_bytes};
    for (int k = 0; k < HD_SPACES; k++)
        s->n_granules[k] = hd_ceil_div(size[k], INT64_C(1) << granule_shift[k]) + 1;
    s->bank_shift = __builtin_ctz(m->xm_bytes / m->xm_banks);
    memset(s->semaphore, -1, sizeof s->semaphore);
}

void hd_ops_begin(struct hd_ops *s, enum hd_unit unit, unsigned code, int tag) {
    struct hd_slot_op *op = s->op = hd_push(s->arena, s->ops, s->n_ops, s->cap_ops);
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

/* The latest operation of those that touched granules [first, end), and `most`. */
static int latest(const struct hd_block *of, int64_t first, int64_t end, int most) {
    for (int64_t i = first / BLOCK; i <= (end - 1) / BLOCK; i++) {
        const struct hd_block *b = &of[i];
        int64_t from = hd_max(first - i * BLOCK, 0), to = hd_min(end - i * BLOCK, BLOCK);
        if (b->most <= most) continue;
        bool all = to - from == BLOCK || !b->one;
        most = all ? b->most : (int)hd_max(most, b->whole);
        for (int64_t k = all ? to : from; k < to; k++) most = b->one[k] > most ? b->one[k] : most;
    }
    return most;
}

static void mark(struct hd_ops *s, struct hd_block **of, int64_t n, int64_t first, int64_t end,
                 int number) {
    if (!*of) *of = hd_new_array(s->arena, struct hd_block, (size_t)hd_ceil_div(n, BLOCK));
    for (int64_t i = first / BLOCK; i <= (end - 1) / BLOCK; i++) {
        struct hd_block *b = &(*of)[i];
        int64_t from = hd_max(first - i * BLOCK, 0), to = hd_min(end - i * BLOCK, BLOCK);
        bool all = to - from == BLOCK;
        b->most = number;
        if (all) b->whole = number;
        if (!all && !b->one) b->one = hd_new_array(s->arena, int, BLOCK);
        for (int64_t k = all ? to : from; k < to; k++) b->one[k] = number;
    }
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

void hd_ops_touch(struct hd_ops *s, enum hd_space space, int64_t lo, int64_t hi, bool write) {
    struct hd_slot_op *op = s->op;
    int64_t first = lo >> granule_shift[space], last = (hi - 1) >> granule_shift[space];
    if (lo < 0 || hi <= lo || last >= s->n_granules[space]) {
        bool behind = lo >= 0 && hi > lo; /* else it comes from room that is not there */
        hd_ops_misfit(s,
                      (struct hd_misfit){
                          .space = space,
                          .needs = behind ? hi : hd_max(1, hi - lo),
                          .has = behind ? (s->n_granules[space] - 1) << granule_shift[space] : 0});
        return;
    }
    for (int u = 0; u < HD_UNITS; u++) {
        if (u == op->unit) continue;
        int need = (int)hd_max((int64_t)s->needs[u], op->knows[u]); /* what it knows is done */
        if (s->wrote[space][u]) need = latest(s->wrote[space][u], first, last + 1, need);
        if (write && s->read[space][u]) need = latest(s->read[space][u], first, last + 1, need);
        s->needs[u] = (uint32_t)need;
    }
    if (space == HD_SPACE_XM) {
        uint64_t banks =
            (UINT64_C(2) << ((hi - 1) >> s->bank_shift)) - (UINT64_C(1) << (lo >> s->bank_shift));
        if (write)
            op->writes_banks |= banks;
        else
            op->reads_banks |= (uint32_t)banks;
    } else if (space == HD_SPACE_AM && write) {
        const int64_t bank = hd_am_words(s->lo->m) / HD_AM_BANKS;
        op->writes_banks |= ((UINT64_C(2) << (hi - 1) / bank) - (UINT64_C(1) << lo / bank))
                            << HD_BANK_AM;
    }
    mark(s, write ? &s->wrote[space][op->unit] : &s->read[space][op->unit], s->n_granules[space],
         first, last + 1, op->number);
}

static struct hd_slot_op *numbered(struct hd_ops *s, int unit, uint32_t number) {
    return &s->ops[s->by_number[unit][number - 1]];
}

/* Waiting for operation `a` of unit ua makes waiting for number `b` of unit ub needless. */
static bool implies(struct hd_ops *s, int ua, uint32_t a, int ub, uint32_t b) {
    return (uint32_t)numbered(s, ua, a)->knows[ub] >= b;
}

static void add_wait(struct hd_ops *s, struct hd_slot_op *op, int unit, uint32_t number) {
    int *sem = &s->semaphore[unit][op->unit];
    if (*sem < 0) *sem = s->n_semaphores++;
    HD_ASSERT(*sem < HD_SEMAPHORES); /* 5 units make 20 pairs */
    struct hd_slot_op *from = numbered(s, unit, number);
    from->signal |= UINT32_C(1) << *sem;
    op->wait |= UINT32_C(1) << *sem;
    op->after[unit] = (int)number;
}

/* Turns the needs of the operation into the fewest waits and updates what its unit knows. */
hd_status hd_ops_end(struct hd_ops *s) {
    if (s->misfit.any) return misfit(s);
    struct hd_slot_op *op = s->op;
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
        add_wait(s, op, u, s->needs[u]);
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
    if (*out == s->ops) *out = hd_dup(s->arena, s->ops, *cap * sizeof **out);
    struct hd_slot_op *nop = hd_push(s->arena, *out, *n, *cap);
    nop->unit = (uint8_t)unit;
    nop->code = 0;
    nop->wait = UINT32_C(1) << sem;
    nop->number = -1; /* carries no parameter words */
}

void hd_ops_bound_tokens(struct hd_ops *s) {
    struct hd_slot_op *out = s->ops; /* in place, until there is one more */
    size_t n = 0, cap = s->n_ops;
    int level[HD_SEMAPHORES] = {0}, owed[HD_SEMAPHORES] = {0}, to[HD_SEMAPHORES] = {0};
    for (int u = 0; u < HD_UNITS; u++)
        for (int v = 0; v < HD_UNITS; v++)
            if (s->semaphore[u][v] >= 0) to[s->semaphore[u][v]] = v;
    for (size_t i = 0; i < s->n_ops; i++) {
        struct hd_slot_op *op = out == s->ops ? &out[n++] : hd_push(s->arena, out, n, cap);
        *op = s->ops[i];
        for (int k = 0; k < s->n_semaphores; k++) {
            uint32_t bit = UINT32_C(1) << k;
            if ((op->wait & bit) && owed[k] > 0) owed[k]--, op->wait &= ~bit; /* taken earlier */
            if (op->wait & bit) level[k]--;
            if (to[k] != op->unit || (op->wait & bit) || level[k] <= hd_knob(s->lo)->tokens_early)
                continue;
            op->wait |= bit;
            level[k]--;
            owed[k]++;
        }
        uint32_t signal = op->signal;
        for (int k = 0; k < s->n_semaphores; k++) {
            if (!(signal >> k & 1)) continue;
            if (++level[k] <= hd_knob(s->lo)->tokens_most) continue;
            insert_nop(s, &out, &n, &cap, to[k], k);
            level[k]--;
            owed[k]++;
        }
    }
    s->ops = out;
    s->n_ops = n;
    s->cap_ops = cap;
}
