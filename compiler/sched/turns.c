/* Turns: the rounds of a rolling chain are made alike.
 *
 * needs: operations in issue order with wait and signal masks; of which tile of a chain each is
 * gives: the same operations and, where a layer has not begun yet or has ended, such of its own
 * that are not their turn: they change words and do nothing else (docs/isa.md) destroys: nothing
 *
 * A chain is a software pipeline: in its first rounds only its first layers have work, in its last
 * ones only its last layers. So the beginning and the end of it differ from round to round, and
 * loops over bundles find little there. With operations that are left out every round has the same
 * ones, whose words move by the same steps: kernel-only code (Rau, Schlansker, Tirumalai: Code
 * Generation Schema for Modulo Scheduled Loops, MICRO 1992), with turns for its stage predicates.
 * What issues and does something is what it was, in the order in which it was.
 */
#include <string.h>

#include "compiler/sched/sched.h"
#include "runtime/base/num.h"

/* One operation of a round. */
struct slot {
    struct hd_slot_op like; /* unit, code and layer; where it stands in its tile */
    int nth, phase;         /* of those of its unit in the tile; of the tiles of a round */
    int total, seen;        /* operations in the chain; so far */
    size_t n, cap;          /* with those that are left out */
    size_t *at;             /* of each: where it is in the result */
    int begin;              /* the first that is not left out */
};

struct chain {
    struct hd_sched *s;
    hd_arena *arena;
    size_t first, end;      /* its operations */
    int *nth;               /* of each operation */
    int *tiles, *per_round; /* of each layer: tiles, and those of a round */
    struct slot *slots;
    size_t n_slots, cap_slots;
    int layer[HD_UNITS]; /* whose slots a unit has: 1 more than its number; 0 = none, -1 = of
                            several */
    size_t begin, stop;  /* the operations from which the slots are taken */
};

static bool in_rounds(const struct hd_slot_op *op) {
    return op->tile > 0 && op->unit != HD_UNIT_lw; /* weights come once */
}

/* nth[] of the chain's operations, from the last of a tile on, since a first tile may have more of
 * them; tiles of a layer follow each other, so one count for each layer and unit is enough. */
static void count_operations(struct chain *c) {
    struct count {
        int tile[HD_UNITS], n[HD_UNITS];
    } *of = hd_new_array(c->arena, struct count, c->s->lo->n_layers + 1);
    c->nth = hd_new_array(c->arena, int, c->end - c->first);
    c->tiles = hd_new_array(c->arena, int, c->s->lo->n_layers + 1);
    for (size_t i = c->end; i-- > c->first;) {
        const struct hd_slot_op *op = &c->s->ops[i];
        if (!in_rounds(op)) continue;
        struct count *k = &of[op->tag];
        if (k->tile[op->unit] != op->tile) k->tile[op->unit] = op->tile, k->n[op->unit] = 0;
        c->nth[i - c->first] = k->n[op->unit]++;
        c->tiles[op->tag] = (int)hd_max(c->tiles[op->tag], op->tile);
    }
}

/* The fullest round: what comes behind a tile of the last layer, up to the end of its next tile. */
static void find_round(struct chain *c) {
    int last_layer = 0, tile = 0, most = 0, n = 0;
    for (size_t i = c->first; i < c->end; i++)
        if (in_rounds(&c->s->ops[i])) last_layer = (int)hd_max(last_layer, c->s->ops[i].tag);
    size_t from = c->first, to = c->first;
    bool whole = false; /* a tile of the last layer stands before `from` */
    for (size_t i = c->first; i < c->end; i++) {
        const struct hd_slot_op *op = &c->s->ops[i];
        if (!in_rounds(op)) continue;
        if (tile && (op->tag != last_layer || op->tile != tile)) {
            if (whole && n > most) most = n, c->begin = from, c->stop = to;
            from = i, n = 0, tile = 0, whole = true;
        }
        n++, to = i + 1;
        if (op->tag == last_layer) tile = op->tile;
    }
}

static int phase_of(const struct chain *c, const struct hd_slot_op *op) {
    return (op->tile - 1) % c->per_round[op->tag];
}

/* Of the operation at i; NULL: it has none. */
static struct slot *slot_of(struct chain *c, size_t i) {
    const struct hd_slot_op *op = &c->s->ops[i];
    for (size_t k = 0; in_rounds(op) && k < c->n_slots; k++) {
        struct slot *t = &c->slots[k];
        if (t->like.unit == op->unit && t->like.code == op->code && t->like.tag == op->tag &&
            t->nth == c->nth[i - c->first] && t->phase == phase_of(c, op))
            return t;
    }
    return NULL;
}

/* The slots, one for each operation of the round that every tile of its layer has; false: there are
 * layers that have no tile in the round. */
static bool make_slots(struct chain *c) {
    int *tile = hd_new_array(c->arena, int, c->s->lo->n_layers + 1);
    c->per_round = hd_new_array(c->arena, int, c->s->lo->n_layers + 1);
    for (size_t i = c->begin; i < c->stop; i++) {
        const struct hd_slot_op *op = &c->s->ops[i];
        if (!in_rounds(op) || tile[op->tag] == op->tile) continue;
        tile[op->tag] = op->tile, c->per_round[op->tag]++;
    }
    for (size_t i = c->first; i < c->end; i++)
        if (in_rounds(&c->s->ops[i]) && !c->per_round[c->s->ops[i].tag]) return false;
    for (size_t i = c->begin; i < c->stop; i++) {
        const struct hd_slot_op *op = &c->s->ops[i];
        if (!in_rounds(op)) continue;
        struct slot *t = hd_push(c->arena, c->slots, c->n_slots, c->cap_slots);
        *t = (struct slot){.like = *op, .nth = c->nth[i - c->first], .phase = phase_of(c, op)};
    }
    for (size_t i = c->first; i < c->end; i++) {
        struct slot *t = slot_of(c, i);
        if (t) t->total++;
    }
    size_t n = 0;
    for (size_t k = 0; k < c->n_slots; k++) {
        const struct slot *t = &c->slots[k];
        int per = c->per_round[t->like.tag];
        if (t->total == (c->tiles[t->like.tag] - t->phase + per - 1) / per) c->slots[n++] = *t;
    }
    c->n_slots = n;
    for (size_t k = 0; k < n; k++) {
        int *of = &c->layer[c->slots[k].like.unit], tag = c->slots[k].like.tag + 1;
        *of = *of == 0 || *of == tag ? tag : -1;
    }
    return n > 0;
}

struct result {
    struct hd_slot_op *ops;
    size_t n, cap;
};

static struct hd_slot_op *put(struct chain *c, struct result *r, const struct hd_slot_op *op) {
    struct hd_slot_op *to = hd_push(c->arena, r->ops, r->n, r->cap);
    *to = *op;
    return to;
}

/* A unit that works for one layer alone is the same from round to round without turns: it begins
 * with its layer and ends with it. */
static bool has_turns(const struct chain *c, const struct slot *t) {
    return c->layer[t->like.unit] < 0;
}

static void put_slot(struct chain *c, struct result *r, struct slot *t,
                     const struct hd_slot_op *op) {
    if (!op && !has_turns(c, t)) return;
    if (op && !t->seen++) t->begin = (int)t->n;
    *hd_push(c->arena, t->at, t->n, t->cap) = r->n;
    struct hd_slot_op *to = put(c, r, op ? op : &t->like);
    if (op) return;
    to->number = 0; /* given later, as its words are; waits and signals are those of the others */
    memset(to->after, 0, sizeof to->after);
}

/* All operations of the chain with those that are left out; false: rounds are not alike. */
static bool fill_rounds(struct chain *c, struct result *r) {
    size_t next = 0;
    for (size_t i = c->first; i < c->end; i++) {
        const struct hd_slot_op *op = &c->s->ops[i];
        const struct slot *own = slot_of(c, i);
        if (!own) {
            put(c, r, op);
            continue;
        }
        for (;; next = (next + 1) % c->n_slots) {
            struct slot *t = &c->slots[next];
            if (t == own) break;
            if (t->seen > 0 && t->seen < t->total) return false;
            put_slot(c, r, t, NULL);
        }
        put_slot(c, r, &c->slots[next], op);
        next = (next + 1) % c->n_slots;
    }
    return true;
}

/* The step of a word that most operations of the slot have. */
static uint32_t step_of(const struct slot *t, const struct result *r, int word) {
    uint32_t most = 0;
    int votes = 0;
    for (int i = t->begin + 1; i < t->begin + t->total; i++) {
        uint32_t by = r->ops[t->at[i]].words[word] - r->ops[t->at[i - 1]].words[word];
        if (!votes) most = by;
        votes += by == most ? 1 : -1;
    }
    return most;
}

/* Words of what is left out go on as those of the others do; turns count from the first that is
 * not. */
static void set_words(const struct slot *t, int16_t turn_step, struct result *r) {
    int n = (int)t->n, end = t->begin + t->total;
    for (int w = 0; w < hd_isa_units[t->like.unit].n_words; w++) {
        uint32_t by = step_of(t, r, w);
        for (int i = t->begin; i-- > 0;)
            r->ops[t->at[i]].words[w] = r->ops[t->at[i + 1]].words[w] - by;
        for (int i = end; i < n; i++)
            r->ops[t->at[i]].words[w] = r->ops[t->at[i - 1]].words[w] + by;
    }
    for (int i = 0; i < n; i++) {
        uint32_t *words = r->ops[t->at[i]].words;
        words[HD_TURN_WORD] = (uint32_t)(i - t->begin);
        words[HD_TURNS_WORD] = (uint32_t)t->total | (uint32_t)turn_step << 16;
    }
}

/* Turns by which most slots with the same words lie behind the one before; of a slot alone in its
 * set: the next one. */
static int16_t turn_step(const struct chain *c, const struct slot *of) {
    const struct slot *before = NULL;
    int most = 1, votes = 0;
    for (size_t k = 0; k < c->n_slots; k++) {
        const struct slot *t = &c->slots[k];
        if (t->like.unit != of->like.unit || hd_op_set(t->like.code) != hd_op_set(of->like.code))
            continue;
        int by = before ? before->begin - t->begin : 0;
        if (before && !votes) most = by;
        if (before) votes += by == most ? 1 : -1;
        before = t;
    }
    return most >= INT16_MIN && most <= INT16_MAX ? (int16_t)most : 0;
}

static bool make_alike(struct chain *c, struct result *r) {
    enum { TURNS_MAX = UINT16_MAX };
    size_t before = r->n;
    count_operations(c);
    find_round(c);
    if (c->begin == c->stop || !make_slots(c) || !fill_rounds(c, r)) {
        r->n = before;
        return false;
    }
    for (size_t k = 0; k < c->n_slots; k++)
        if (c->slots[k].n > TURNS_MAX) return false;
    for (size_t k = 0; k < c->n_slots; k++) {
        struct slot *t = &c->slots[k];
        if (has_turns(c, t)) set_words(t, turn_step(c, t), r);
    }
    return true;
}

/* Whether operation i and those behind it that are no part of a round run with the turn that their
 * unit holds. */
static bool run_as_held(const struct result *r, size_t i, const uint32_t *held) {
    const struct hd_slot_op *op = &r->ops[i];
    uint32_t words[HD_PARAM_WORDS];
    memcpy(words, held, sizeof words);
    for (; i < r->n; i++) {
        const struct hd_slot_op *k = &r->ops[i];
        if (k->unit != op->unit || hd_op_set(k->code) != hd_op_set(op->code)) continue;
        if (k->words[HD_TURNS_WORD]) break;
        if (!hd_op_runs(words)) return false;
        hd_turn_step(words);
    }
    return true;
}

/* Operations that are no part of a round keep the turn that their unit holds, if they run with it.
 */
static void settle_turns(struct result *r) {
    uint32_t held[HD_UNITS][HD_OP_SETS][HD_PARAM_WORDS] = {{{0}}};
    for (size_t i = 0; i < r->n; i++) {
        struct hd_slot_op *op = &r->ops[i];
        uint32_t *h = held[op->unit][hd_op_set(op->code)];
        if (op->unit == HD_UNIT_seq) continue;
        hd_turn_step(h);
        if (!op->words[HD_TURNS_WORD]) {
            if (op->number < 0) memcpy(op->words, h, sizeof op->words); /* a nop has none */
            op->words[HD_TURN_WORD] = h[HD_TURN_WORD];
            op->words[HD_TURNS_WORD] = run_as_held(r, i, h) ? h[HD_TURNS_WORD] : 0;
        }
        memcpy(h, op->words, sizeof op->words);
    }
}

/* Numbers with those that are left out, which have not got any yet. */
static void number_again(struct hd_sched *s) {
    int *now[HD_UNITS];
    for (int u = 0; u < HD_UNITS; u++) {
        now[u] = hd_new_array(s->arena, int, (size_t)s->count[u] + 1);
        s->by_number[u] = hd_new_array(s->arena, int, s->n_ops + 1);
        s->count[u] = 0, s->cap_by_number[u] = s->n_ops + 1;
    }
    for (size_t i = 0; i < s->n_ops; i++) {
        struct hd_slot_op *op = &s->ops[i];
        int was = op->number;
        s->by_number[op->unit][s->count[op->unit]] = (int)i;
        op->number = ++s->count[op->unit];
        if (was > 0) now[op->unit][was] = op->number;
        for (int u = 0; u < HD_UNITS; u++) op->after[u] = now[u][op->after[u]];
    }
}

bool hd_sched_turns(struct hd_sched *s) {
    struct result r = {0};
    bool any = false;
    for (size_t i = 0; i < s->n_ops;) {
        const struct hd_slot_op *op = &s->ops[i];
        struct chain c = {.s = s, .arena = s->arena, .first = i, .end = i + 1};
        const struct hd_tiling *layerst = s->lo->plan.tilings;
        for (size_t k = i + 1; op->tile && k < s->n_ops; k++)
            if (s->ops[k].tile &&
                layerst[s->ops[k].tag].chain_first == layerst[op->tag].chain_first)
                c.end = k + 1;
        bool alike = op->tile && make_alike(&c, &r);
        for (size_t k = c.first; !alike && k < c.end; k++) put(&c, &r, &s->ops[k]);
        any |= alike;
        i = c.end;
    }
    if (!any) return false;
    settle_turns(&r);
    s->ops = r.ops, s->n_ops = s->cap_ops = r.n;
    number_again(s);
    return true;
}
