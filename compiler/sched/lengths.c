/* Lengths: the program words that operations take, before they are encoded.
 *
 * needs: operations with waits and signals
 * gives: words of each that issue, and roughly those that it adds to the stream once loops are
 * found destroys: nothing
 */
#include <string.h>

#include "compiler/sched/sched.h"
#include "runtime/base/num.h"

enum { FORMS = 512 };

struct program { /* as issue.c sees it, and roughly as pack.c will leave it */
    uint32_t held[HD_UNITS][HD_OP_SETS][HD_PARAM_WORDS];
    /* operations that came before, also together with the one before each; those that change the
     * same words, and by how much the last did */
    uint64_t seen[FORMS], pair[FORMS], last;
    struct form {
        uint64_t key;
        uint32_t by[HD_PARAM_WORDS];
    } form[FORMS];
    uint32_t mask; /* units of the bundle */
};

static uint64_t mixed(uint64_t h, uint64_t v) {
    return (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
}

static bool seen(uint64_t *table, uint64_t what) {
    uint64_t *at = &table[what >> 40 & (FORMS - 1)];
    bool is = *at == what;
    *at = what;
    return is;
}

/* Words of the operation that issue, with that of its bundle when it begins one; *out_stream: what
 * it adds to the stream. One word by word like an earlier one is in a loop, or begins it where it
 * stands behind another one than then; of one that changes the same words others are new. */
static int64_t words(struct program *p, const struct hd_slot_op *op, int64_t *out_stream,
                     bool *out_bundle) {
    uint32_t *held = p->held[op->unit][hd_op_set(op->code)], by[HD_PARAM_WORDS] = {0};
    bool bundle = !p->mask || p->mask >> op->unit;
    hd_turn_step(held);
    int64_t n = 2 + (op->wait != 0) + (op->signal != 0) + bundle, differ = 0;
    uint64_t key = mixed(mixed(op->unit + 1u, op->code), (uint64_t)op->wait << 32 | op->signal);
    uint64_t form = key;
    int n_words = hd_isa_units[op->unit].n_words;
    for (int i = 0; i < n_words; i++) {
        if (op->words[i] == held[i]) continue;
        by[i] = op->words[i] - held[i];
        key = mixed(key, (uint64_t)i), form = mixed(form, (uint64_t)i << 32 | by[i]);
        held[i] = op->words[i], n++;
    }
    struct form *f = &p->form[key >> 40 & (FORMS - 1)];
    for (int i = 0; i < n_words && f->key == key; i++) differ += f->by[i] != by[i];
    int64_t fresh = f->key == key ? hd_min(n, 2 * differ) : n;
    bool again = seen(p->pair, mixed(form, p->last)), before = seen(p->seen, form);
    *out_stream = again ? 0 : before ? hd_min(2, fresh) : fresh;
    f->key = key;
    memcpy(f->by, by, sizeof by);
    p->last = form;
    *out_bundle = bundle;
    p->mask = (bundle ? 0 : p->mask) | UINT32_C(1) << op->unit;
    return n;
}

struct hd_op_lengths hd_sched_lengths(const struct hd_sched *s, hd_arena *a) {
    struct program *p = hd_new(a, struct program);
    struct hd_op_lengths l = {.of = hd_new_array(a, int, s->n_ops + 1),
                              .own = hd_new_array(a, int, s->n_ops + 1),
                              .stream = hd_new_array(a, int, s->n_ops + 1)};
    for (size_t i = 0; i < s->n_ops; i++) {
        bool bundle;
        int64_t stream, n = words(p, &s->ops[i], &stream, &bundle);
        l.of[i] = (int)n, l.own[i] = (int)n - bundle, l.stream[i] = (int)stream;
        l.words += n, l.packed += stream;
    }
    return l;
}
