/* Order of a random program's operations, and its words, plain and packed. */
#include "test/cosim/gen.h"

#include <string.h>

#include "runtime/base/num.h"

static bool conflict(const struct op *a, const struct op *b) {
    for (int i = 0; i < a->n_touch; i++)
        for (int j = 0; j < b->n_touch; j++) {
            const struct touch *s = &a->touch[i], *t = &b->touch[j];
            if (s->space == t->space && (s->write || t->write) &&
                ranges_overlap(s->lo, s->hi, t->lo, t->hi))
                return true;
        }
    return false;
}

/* An operation waits for the last one of every other unit that it conflicts with, unless its unit
 * has waited for that or a later one. One semaphore per ordered pair of units: its k-th signal is
 * for its k-th wait. Those that are left out touch nothing, and `after` does not mean them. */
static void order(const struct program *p, uint32_t *wait, uint32_t *signal) {
    int waited[HD_UNITS][HD_UNITS];
    memset(waited, -1, sizeof waited);
    for (int i = 0; i < p->n; i++) {
        const struct op *op = &p->op[i];
        bool seen[HD_UNITS] = {0};
        wait[i] = op->extra;
        signal[i] = 0;
        for (int j = i - 1; j >= 0 && !op->dropped; j--) {
            const struct op *from = &p->op[j];
            if (from->dropped || from->left_out || from->unit == op->unit || seen[from->unit])
                continue;
            if (op->after != j && !conflict(op, from)) continue;
            seen[from->unit] = true;
            if (j <= waited[op->unit][from->unit]) continue;
            waited[op->unit][from->unit] = j;
            int to = op->unit - (op->unit > from->unit); /* 0..4 */
            uint32_t s = UINT32_C(1) << (from->unit * (HD_UNITS - 1) + to);
            wait[i] |= s;
            signal[j] |= s;
        }
    }
}

int program_edges(const struct program *p, struct edge out[MAX_EDGES]) {
    uint32_t wait[MAX_OPS], signal[MAX_OPS];
    int n = 0, from[32] = {0};
    order(p, wait, signal);
    for (int i = 0; i < p->n; i++)
        for (int s = 0; s < 32; s++) {
            if (!(wait[i] >> s & 1)) continue;
            while (!(signal[from[s]] >> s & 1)) from[s]++;
            out[n++] = (struct edge){from[s]++, i, UINT32_C(1) << s};
        }
    return n;
}

static int encode(const struct op *op, uint32_t wait, uint32_t signal, uint16_t tag,
                  struct hd_sticky *unit, uint32_t *out) {
    uint32_t *sticky = unit->words[hd_op_set(op->code)];
    struct hd_op_word o = {
        .unit = op->unit, .code = op->code, .tag = tag - unit->tag, .wait = wait, .signal = signal};
    unit->tag = tag;
    hd_turn_step(sticky);
    for (int i = 0; op->unit && i < hd_isa_units[op->unit].n_words; i++) {
        if (!op->code && i != HD_TURN_WORD && i != HD_TURNS_WORD) continue;
        if (sticky[i] == op->words[i] && !(op->set_bits >> i & 1)) continue;
        bool add = op->add_bits >> i & 1;
        *(add ? &o.add : &o.set) |= UINT32_C(1) << i;
        o.lit[i] = add ? op->words[i] - sticky[i] : op->words[i];
        sticky[i] = op->words[i];
    }
    return hd_op_encode(&o, out);
}

/* Words of operations [first, end), behind the n words in out. */
static size_t emit_ops(const struct program *p, int first, int end, const uint32_t *wait,
                       const uint32_t *signal, struct hd_sticky sticky[HD_UNITS], uint32_t *out,
                       size_t n) {
    size_t bundle = 0;
    int last_unit = HD_UNITS;
    for (int i = first; i < end; i++) {
        const struct op *op = &p->op[i];
        if (op->dropped) continue;
        if (op->opens_bundle || op->unit <= last_unit || !bundle) {
            bundle = n++;
            out[bundle] = 0;
        }
        n += (size_t)encode(op, wait[i] | op->idle_wait, signal[i] | op->idle_signal, (uint16_t)i,
                            &sticky[op->unit], out + n);
        uint32_t slots = hd_bundle_slots(out[bundle]) | UINT32_C(1) << op->unit;
        out[bundle] = hd_bundle_head(slots);
        last_unit = op->unit;
    }
    return n;
}

size_t program_emit(const struct program *p, uint32_t *out) {
    uint32_t wait[MAX_OPS], signal[MAX_OPS];
    struct hd_sticky sticky[HD_UNITS] = {{.tag = 0}};
    size_t n = HD_PROG_HEADER_WORDS;
    order(p, wait, signal);
    if (p->cut.to >= 0) wait[p->cut.to] &= ~p->cut.semaphore;
    if (p->cut.from >= 0) signal[p->cut.from] &= ~p->cut.semaphore;
    for (int r = 1; r < p->rounds; r++) { /* the last operation is halt */
        n = emit_ops(p, 0, p->n - 1, wait, signal, sticky, out, n);
        out[n++] = hd_bundle_head(1u << HD_UNIT_seq);
        out[n++] = (uint32_t)hd_isa_ops[HD_OP_seq_barrier].code << HD_HEAD_code_LSB;
    }
    n = emit_ops(p, 0, p->n, wait, signal, sticky, out, n);
    out[0] = HD_PROG_MAGIC;
    out[1] = hd_isa_hash();
    out[2] = hd_machine_hash(p->m);
    out[3] = (uint32_t)n;
    return n;
}

/* ---- packed at random ------------------------------------------------------------------------ */

enum { CUTS = 200 }; /* tries of one loop */

static uint32_t again_from(const uint32_t *w, size_t at, size_t n, size_t back) {
    uint32_t run = 0;
    while (at + run < n && run < HD_LOOP_AGAIN_MAX && w[at + run] == w[at + run - back]) run++;
    return run;
}

/* A loop at word `at`: the distance is random, or that of the one before, the length all of it, one
 * word, or between. */
static void random_loop(struct gen *g, const uint32_t *w, size_t at, size_t n, uint32_t before,
                        struct hd_loop *l) {
    int64_t most = (int64_t)at - HD_PROG_HEADER_WORDS;
    if (most > HD_LOOP_BACK_MAX) most = HD_LOOP_BACK_MAX;
    for (int i = 0; i < CUTS && most >= HD_LOOP_MIN; i++) {
        int64_t back = gen_chance(g, 5)              ? most
                       : gen_chance(g, 20)           ? HD_LOOP_MIN
                       : before && gen_chance(g, 20) ? hd_min(before, most)
                                                     : gen_pick(g, HD_LOOP_MIN, most);
        uint32_t run = again_from(w, at, n, (size_t)back);
        if (run <= l->again) continue;
        l->back = (uint32_t)back;
        l->again = run;
    }
    if (l->again && gen_chance(g, 30)) l->again = (uint32_t)gen_pick(g, 1, l->again);
}

size_t program_pack(const uint32_t *words, size_t n, uint64_t seed, uint32_t *out) {
    struct gen g = {.r = {seed}};
    size_t at = HD_PROG_HEADER_WORDS, to = 4 * (HD_PROG_HEADER_WORDS + 1);
    uint8_t *bytes = (uint8_t *)out;
    int64_t most = gen_chance(&g, 50) ? HD_LOOP_FRESH_MAX : 12;
    bool wide = gen_chance(&g, 30); /* some words in more bytes than they need */
    uint32_t back = 0;
    while (at < n) {
        struct hd_loop l = {0};
        l.fresh = (uint32_t)gen_pick(&g, 0, n - at < (size_t)most ? (int64_t)(n - at) : most);
        random_loop(&g, words, at + l.fresh, n, back, &l);
        if (!l.fresh && !l.again) l.fresh = 1;
        to += (size_t)hd_loop_encode(&l, gen_chance(&g, 30) ? UINT32_MAX : back, bytes + to);
        if (l.again) back = l.back;
        for (uint32_t i = 0; i < l.fresh; i++) {
            int form = wide && gen_chance(&g, 20) ? (int)gen_pick(&g, 0, HD_NEW_WORD_FORMS - 1) : 0;
            to += (size_t)hd_new_word_encode(words[at + i], form, bytes + to);
        }
        at += l.fresh + l.again;
    }
    return hd_prog_packed_header(words, n, to, out);
}
