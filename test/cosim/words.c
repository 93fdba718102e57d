/* Order of a random program's operations, and its words. */
#include "test/cosim/gen.h"

#include <string.h>

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
 * for its k-th wait. */
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
            if (from->dropped || from->unit == op->unit || seen[from->unit]) continue;
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
    struct hd_op_word o = {.unit = op->unit, .code = op->code, .wait = wait, .signal = signal};
    for (int i = 0; op->unit && i < hd_isa_units[op->unit].n_words; i++) {
        if (!op->code && i != HD_TAG_WORD) continue;
        uint32_t v = i == HD_TAG_WORD ? tag : op->words[i];
        if (unit->words[i] == v && !(op->set_bits >> i & 1)) continue;
        o.set |= UINT32_C(1) << i;
        o.lit[i] = unit->words[i] = v;
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
        n += (size_t)encode(op, wait[i], signal[i], (uint16_t)i, &sticky[op->unit], out + n);
        uint32_t slots = hd_bundle_slots(out[bundle]) | UINT32_C(1) << op->unit;
        out[bundle] = hd_bundle_head(slots);
        last_unit = op->unit;
    }
    return n;
}

size_t program_emit(const struct program *p, uint32_t *out) {
    uint32_t wait[MAX_OPS], signal[MAX_OPS];
    struct hd_sticky sticky[HD_UNITS] = {{{0}}};
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
