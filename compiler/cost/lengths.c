/* Lengths: the program words that operations take, before they are encoded.
 *
 * needs: operations with waits and signals
 * gives: words of each, and their sum
 * destroys: nothing
 */
#include <string.h>

#include "compiler/cost/cost.h"

struct hd_op_lengths hd_ops_lengths(const struct hd_ops *s, hd_arena *a) {
    static const uint32_t at_start[HD_PARAM_WORDS];
    const uint32_t *held[HD_UNITS];
    struct hd_op_lengths l = {.of = hd_new_array(a, int, s->n_ops + 1),
                              .own = hd_new_array(a, int, s->n_ops + 1)};
    uint32_t bundle = 0; /* its units so far */
    for (int u = 0; u < HD_UNITS; u++) held[u] = at_start;
    for (size_t i = 0; i < s->n_ops; i++) {
        const struct hd_slot_op *op = &s->ops[i];
        bool begins = !bundle || bundle >> op->unit;
        int n = 1 + (op->wait != 0) + (op->signal != 0);
        for (int k = 0; k < hd_isa_units[op->unit].n_words; k++)
            n += op->words[k] != held[op->unit][k];
        held[op->unit] = op->words;
        bundle = (begins ? 0 : bundle) | UINT32_C(1) << op->unit;
        l.own[i] = n, l.of[i] = n + begins;
        l.words += l.of[i];
    }
    return l;
}
